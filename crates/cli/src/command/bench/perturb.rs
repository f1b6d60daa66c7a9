//! `hatir bench perturb`: a retrieval set made harder, for `hatir bench retrieve`.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

use hatir_rank::Language;
use serde_json::{Map, Value as Json};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::args::{PerturbArgs, Perturbation};
use super::files::{Entry, read_objects};
use super::judgements;
use super::record::language;
use crate::exit::{Exit, Failure};

/// Words with so many letters or more are mistyped.
const LONG: usize = 6;

/// The keys of a query that are typed by people.
const TYPED: [&str; 2] = ["text", "raw"];

pub(crate) fn run(args: &PerturbArgs) -> anyhow::Result<Exit> {
    let corpora: Vec<Vec<Entry>> =
        args.corpus.iter().map(|path| read_objects(path, "documents")).collect::<Result<_, _>>()?;
    let queries = read_objects(&args.queries, "queries")?;
    let judgements = judgements::read(&args.qrels)?;
    let documents;
    let mut changed: Vec<Map<String, Json>> = queries.into_iter().map(Entry::into_object).collect();
    match args.kind {
        Perturbation::Mixed => {
            if corpora.len() < 2 {
                return Err(Failure::wrong("--kind mixed: one file of documents per language is needed, two at least")
                    .hint("give --corpus once for each language, with the same ids in all")
                    .into());
            }
            documents = mix(corpora, args.seed)?;
            let languages: HashMap<&str, Option<String>> = documents
                .iter()
                .filter_map(|document| Some((document.get("id")?.as_str()?, language_of(document))))
                .collect();
            let mut answers: HashMap<&str, Vec<Option<&str>>> = HashMap::new();
            for judgement in &judgements {
                let language = languages
                    .get(judgement.document.as_str())
                    .ok_or_else(|| judgement.place.wrong(format!("there is no document {:?}", judgement.document)))?;
                answers.entry(&judgement.query).or_default().push(language.as_deref());
            }
            for query in &mut changed {
                let own = language_of(query);
                let answers = query.get("id").and_then(Json::as_str).and_then(|id| answers.get(id));
                let Some(answers) = answers else { continue };
                let same = answers.iter().filter(|language| **language == own.as_deref()).count();
                let category = match same {
                    0 => "other language",
                    _ if same == answers.len() => "own language",
                    _ => "both languages",
                };
                query.insert("category".to_owned(), category.into());
            }
        }
        Perturbation::Typo | Perturbation::NoDiacritics => {
            documents = corpora.into_iter().flatten().map(Entry::into_object).collect();
            for query in &mut changed {
                let id = query.get("id").and_then(Json::as_str).unwrap_or_default().to_owned();
                for key in TYPED {
                    let Some(Json::String(text)) = query.get_mut(key) else { continue };
                    *text = match args.kind {
                        Perturbation::Typo => mistype(text, &mut Chance::new(args.seed, &format!("{id} {key}"))),
                        _ => without_marks(text),
                    };
                }
            }
        }
    }
    fs::create_dir_all(&args.out).map_err(|error| Failure::wrong(format!("--out {}: {error}", args.out.display())))?;
    write_objects(&args.out.join("corpus.jsonl"), &documents)?;
    write_objects(&args.out.join("queries.jsonl"), &changed)?;
    write(&args.out.join("qrels.tsv"), |file| {
        writeln!(file, "query-id\tcorpus-id\tscore")?;
        for judgement in &judgements {
            writeln!(file, "{}\t{}\t{}", judgement.query, judgement.document, judgement.score)?;
        }
        Ok(())
    })?;
    Ok(Exit::Fine)
}

/// Each document in one of its languages; one that is not there in all stays in those it has.
fn mix(corpora: Vec<Vec<Entry>>, seed: u64) -> Result<Vec<Map<String, Json>>, Failure> {
    let mut versions: BTreeMap<String, Vec<Map<String, Json>>> = BTreeMap::new();
    let mut order = Vec::new();
    for entries in corpora {
        for entry in entries {
            let id = entry.id()?;
            let known = versions.entry(id.clone()).or_default();
            if known.is_empty() {
                order.push(id);
            }
            known.push(entry.into_object());
        }
    }
    Ok(order
        .into_iter()
        .filter_map(|id| {
            let mut known = versions.remove(&id)?;
            let chosen = Chance::new(seed, &id).below(known.len());
            Some(known.swap_remove(chosen))
        })
        .collect())
}

/// The language that a document or a query states, or else that its text is in.
fn language_of(object: &Map<String, Json>) -> Option<String> {
    let stated = object.get("lang").or_else(|| object.get("meta")?.get("lang")).and_then(Json::as_str);
    let known = stated.and_then(language);
    let found = known.or_else(|| Language::of(object.get("text")?.as_str()?));
    found.map(|language| language.code().to_owned())
}

/// The text with one letter dropped from each long word.
fn mistype(text: &str, chance: &mut Chance) -> String {
    let mut mistyped = String::with_capacity(text.len());
    let mut word: Vec<char> = Vec::new();
    for character in text.chars().map(Some).chain([None]) {
        if let Some(letter) = character.filter(|character| character.is_alphabetic()) {
            word.push(letter);
            continue;
        }
        if word.len() >= LONG {
            word.remove(chance.below(word.len()));
        }
        mistyped.extend(word.drain(..));
        mistyped.extend(character);
    }
    mistyped
}

/// The text as it is typed on a keyboard without marked letters.
fn without_marks(text: &str) -> String {
    let plain = |letter| if letter == 'ı' { 'i' } else { letter };
    text.nfd().filter(|letter| !is_combining_mark(*letter)).map(plain).nfc().collect()
}

/// Numbers by chance, the same for the same seed and name (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014, the generator `SplitMix64`).
struct Chance(u64);

impl Chance {
    fn new(seed: u64, name: &str) -> Self {
        // FNV-1a (Fowler, Noll and Vo) over the name, so that each has numbers of its own.
        let hash = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        Self(hash ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A number below `limit`, which is not 0.
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }
}

fn write_objects(path: &Path, objects: &[Map<String, Json>]) -> Result<(), Failure> {
    write(path, |file| {
        for object in objects {
            serde_json::to_writer(&mut *file, object)?;
            writeln!(file)?;
        }
        Ok(())
    })
}

/// Writes a new file; one that is there stays as it is.
fn write(path: &Path, fill: impl FnOnce(&mut BufWriter<fs::File>) -> std::io::Result<()>) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::wrong(format!("{}: {error}", path.display()));
    let mut file = BufWriter::new(fs::File::create_new(path).map_err(failed)?);
    fill(&mut file).and_then(|()| file.flush()).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_lose_one_letter_each() {
        let text = "Şirketlerin 2024'teki kârı neydi? ağırlık";
        let mistyped = mistype(text, &mut Chance::new(1, "q"));
        let count = |text: &str| text.chars().count();
        assert_eq!(count(&mistyped), count(text) - 2, "{mistyped}");
        assert!(mistyped.contains(" 2024'teki kârı neydi? "), "{mistyped}");
        assert_eq!(mistyped, mistype(text, &mut Chance::new(1, "q")));
        let others = (2..20).filter(|seed| mistype(text, &mut Chance::new(*seed, "q")) != mistyped).count();
        assert!(others > 10);
    }

    #[test]
    fn marks_go_and_letters_stay() {
        assert_eq!(without_marks("Iğdır'da ŞÜPHELİ çöl âlem, naïve"), "Igdir'da SUPHELI col alem, naive");
    }

    #[test]
    fn chance_is_even() {
        let mut counts = [0_usize; 3];
        for name in 0..3_000 {
            counts[Chance::new(7, &name.to_string()).below(3)] += 1;
        }
        assert!(counts.iter().all(|count| (900..1_100).contains(count)), "{counts:?}");
    }
}
