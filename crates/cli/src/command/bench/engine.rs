//! The searching itself: one store for each group, behind the few calls that measuring needs.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hatir_rank::model::ModelStore;
use hatir_rank::{
    Config, Embedder, Error, Grade, Index, OnnxEmbedder, OnnxOptions, Query, Silence, Vector, VoiceReport,
};
use jiff::tz::TimeZone;

use super::args::{EngineArgs, VoiceName};
use super::question::Question;
use super::record::{Record, language, to_document};
use super::settings;
use crate::exit::Failure;
use crate::models::cache_dir;

/// How the stores are made and asked.
pub(crate) struct Engine {
    config: Config,
    mode: hatir_rank::Mode,
    /// The voices that take part, in their order.
    pub(crate) voices: Vec<VoiceName>,
    threads: usize,
    embedder: Option<Arc<dyn Embedder>>,
    folder: Option<PathBuf>,
}

/// What a store answered.
pub(crate) struct Found {
    /// Ids with their scores, best first.
    pub(crate) ranked: Vec<(String, f64)>,
    /// Whether that is an answer.
    pub(crate) grade: Grade,
    /// What the grade was read from.
    pub(crate) evidence: f64,
    pub(crate) voices: Vec<VoiceReport>,
    pub(crate) silences: Vec<Silence>,
    /// How long the search took, the embedding of the query left out.
    pub(crate) took: Duration,
}

/// The stores, by group; one without a name when there are no groups.
pub(crate) struct Stores(BTreeMap<Option<String>, Index>);

impl Engine {
    pub(crate) fn new(args: &EngineArgs) -> Result<Self, Failure> {
        let of_mode = args.mode.voices();
        for voice in &args.voices {
            if !of_mode.contains(voice) {
                let failure = Failure::wrong(format!("--voices: the mode has no {voice} voice"));
                return Err(failure.hint("--mode hybrid has all of them"));
            }
        }
        let wanted = |voice: &VoiceName| args.voices.is_empty() || args.voices.contains(voice);
        let voices: Vec<VoiceName> = of_mode.iter().copied().filter(wanted).collect();
        let config = settings::apply(&Config::default(), &args.set)?;
        let threads = usize::from(args.threads);
        let embedder = if args.model != "none" && voices.contains(&VoiceName::Semantic) {
            Some(open(&args.model, &args.models.folder(), threads)?)
        } else {
            None
        };
        Ok(Self { config, mode: args.mode.into(), voices, threads, embedder, folder: args.index.clone() })
    }

    /// The name of the model that takes part.
    pub(crate) fn model(&self) -> Option<&str> {
        self.embedder.as_ref().map(|embedder| embedder.model().name.as_str())
    }

    /// Indexes the records, in memory or in the folder.
    pub(crate) fn build(&self, records: &[Record]) -> Result<Stores, Failure> {
        let mut groups: BTreeMap<Option<String>, Vec<&Record>> = BTreeMap::new();
        for record in records {
            groups.entry(record.group.clone()).or_default().push(record);
        }
        let build = |(group, records): (Option<String>, Vec<&Record>)| {
            let index = self.store(group.as_deref())?;
            if let Some(embedder) = &self.embedder {
                index.use_embedder(Arc::clone(embedder));
            }
            index.replace_all(records.into_iter().map(to_document))?;
            Ok((group, index))
        };
        groups.into_iter().map(build).collect::<hatir_rank::Result<_>>().map(Stores).map_err(|error| refused(&error))
    }

    fn store(&self, group: Option<&str>) -> hatir_rank::Result<Index> {
        let Some(folder) = &self.folder else { return Index::in_memory(&self.config) };
        let folder = folder.join(group.map_or_else(|| "store".to_owned(), folder_name));
        match Index::open_or_create(&folder, &self.config) {
            // What an earlier version wrote, or a broken disk, costs time and no more.
            Err(Error::Incompatible { .. } | Error::Corrupt { .. }) => Index::rebuild(&folder, &self.config),
            other => other,
        }
    }

    /// Asks every question; the answers are in the questions' order. `depth` says how many documents each wants.
    pub(crate) fn ask(
        &self,
        stores: &Stores,
        questions: &[Question],
        depth: impl Fn(&Question) -> usize + Sync,
    ) -> Result<Vec<Found>, Failure> {
        let next = AtomicUsize::new(0);
        let answers: Mutex<Vec<(usize, Result<Found, Failure>)>> = Mutex::new(Vec::with_capacity(questions.len()));
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(question) = questions.get(at) else { return };
                let found = match stores.0.get(&question.group) {
                    Some(index) => self.search(index, question, depth(question)).map_err(|error| refused(&error)),
                    None => Err(question.place.wrong("there is no document in the store of this query")),
                };
                answers.lock().unwrap_or_else(PoisonError::into_inner).push((at, found));
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.threads {
                scope.spawn(work);
            }
            work();
        });
        let mut answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
        answers.sort_by_key(|(at, _)| *at);
        answers.into_iter().map(|(_, found)| found).collect()
    }

    fn search(&self, index: &Index, question: &Question, depth: usize) -> hatir_rank::Result<Found> {
        // The nearest are measured whatever they are worth; the grade beside them says what that is.
        let mut query = Query::new(&question.text).by(self.mode).never_silent();
        query.language = question.language.as_deref().and_then(language);
        query = query.by_voices(self.voices.iter().map(ToString::to_string));
        if let Some(now) = question.now {
            query = query.asked_at(now, TimeZone::UTC);
        }
        if let Some(vector) = self.vector(&query.text)? {
            query = query.with_vector(vector);
        }
        let begun = Instant::now();
        let ranking = index.search(&query, depth)?;
        let took = begun.elapsed();
        Ok(Found {
            ranked: ranking.hits.into_iter().map(|hit| (hit.id, hit.score)).collect(),
            grade: ranking.grade,
            evidence: ranking.evidence,
            voices: ranking.voices,
            silences: ranking.silent_because,
            took,
        })
    }

    fn vector(&self, text: &str) -> hatir_rank::Result<Option<Vector>> {
        let embedder = self.embedder.as_ref().filter(|_| !text.trim().is_empty());
        embedder.map(|embedder| embedder.embed_query(text)).transpose()
    }
}

impl Stores {
    /// The names of the stores.
    pub(crate) fn names(&self) -> impl Iterator<Item = Option<&str>> {
        self.0.keys().map(Option::as_deref)
    }

    /// How much the stores' files take, in MB (10⁶ bytes); nothing when they are in memory.
    pub(crate) fn disk_mb(&self) -> Option<f64> {
        let sizes: Option<Vec<u64>> = self.0.values().map(|index| index.folder().map(bytes)).collect();
        Some(sizes?.into_iter().sum::<u64>() as f64 / 1e6)
    }
}

/// The bytes of all files of a folder.
fn bytes(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => bytes(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}

/// A name for a group's folder that any file system takes, and that no other group has.
fn folder_name(group: &str) -> String {
    let mut name = "group-".to_owned();
    for byte in group.bytes() {
        if byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' {
            name.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(name, "_{byte:02x}");
        }
    }
    name
}

/// A model by its name among those that are installed, or by its folder.
fn open(name: &str, models: &Path, threads: usize) -> Result<Arc<dyn Embedder>, Failure> {
    let failed = |error: &Error| {
        Failure::wrong(format!("--model {name}: {error}"))
            .hint("`hatir model list` shows what is installed; --model none goes without the semantic voice")
    };
    let options = OnnxOptions { threads, cache: cache_dir(), ..OnnxOptions::default() };
    let folder = if name.contains(std::path::MAIN_SEPARATOR) || Path::new(name).join("hatir-model.toml").is_file() {
        PathBuf::from(name)
    } else {
        ModelStore::new(models).open(name).map_err(|error| failed(&error))?.path
    };
    // A model in a folder of its own is run by the library of those that are installed.
    let options = OnnxOptions { runtime_folders: vec![models.join("onnxruntime")], ..options };
    Ok(Arc::new(OnnxEmbedder::open(&folder, &options).map_err(|error| failed(&error))?))
}

/// A setting or a document that the index does not take is the caller's, anything else ours.
fn refused(error: &Error) -> Failure {
    match error {
        Error::InvalidConfig { .. } | Error::InvalidDocument { .. } | Error::NotAnIndex { .. } => {
            Failure::wrong(error.to_string())
        }
        _ => Failure::failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_groups_are_told_apart() {
        let names = ["a/b", "a_b", "A", "a", "ç", "..", "a_2fb"].map(folder_name);
        let distinct: std::collections::BTreeSet<&String> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
        assert_eq!(names[0], "group-a_2fb");
        assert!(names.iter().all(|name| !name.contains(['/', '.'])), "{names:?}");
    }
}
