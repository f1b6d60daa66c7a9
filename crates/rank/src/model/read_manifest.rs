//! Reads a manifest and finds everything that is wrong with it.
//!
//! The tables are walked by hand instead of being deserialised: that stops at the first problem, and knows no nearest
//! key.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::hash::is_sha256;
use super::manifest::{
    EvidenceManifest, MANIFEST_VERSION, MODEL_FILE, Manifest, ManifestProblem, Pooling, TOKENIZER_FILE,
};
use super::names::{check_name, nearest};

const KEYS: [&str; 12] = [
    "version",
    "name",
    "dimension",
    "pooling",
    "query-prefix",
    "document-prefix",
    "max-tokens",
    "languages",
    "licence",
    "source",
    "evidence",
    "files",
];
const EVIDENCE_KEYS: [&str; 6] = ["weight", "floor", "across-languages", "coverage", "weak", "good"];

/// The longest prefix in bytes: it is paid for with every text.
const LONGEST_PREFIX: usize = 200;

pub(super) fn parse(text: &str) -> Result<Manifest, Vec<ManifestProblem>> {
    let mut reader = Reader { text, problems: Vec::new() };
    let root = match DeTable::parse(text) {
        Ok(root) => root,
        Err(error) => {
            let place = error.span().unwrap_or(0..0);
            reader.problem(place, "", format!("this is no TOML ({})", error.message()), "TOML");
            return Err(reader.problems);
        }
    };
    let manifest = reader.manifest(&Table { name: "", entries: root.get_ref(), place: root.span() });
    match manifest {
        Some(manifest) if reader.problems.is_empty() => Ok(manifest),
        _ => Err(reader.problems),
    }
}

/// A table of the file; its name is empty for the file itself.
struct Table<'a, 'text> {
    name: &'static str,
    entries: &'a DeTable<'text>,
    place: Range<usize>,
}

impl<'a, 'text> Table<'a, 'text> {
    fn value(&self, key: &str) -> Option<&'a Spanned<DeValue<'text>>> {
        self.entries.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
    }

    fn path(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }
}

struct Reader<'text> {
    text: &'text str,
    problems: Vec<ManifestProblem>,
}

impl Reader<'_> {
    fn problem(&mut self, place: Range<usize>, key: &str, found: impl Into<String>, expected: impl Into<String>) {
        let before = self.text.get(..place.start).unwrap_or(self.text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        self.problems.push(ManifestProblem {
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
            key: key.to_owned(),
            found: found.into(),
            expected: expected.into(),
            nearest: None,
        });
    }

    /// Nothing when a key is missing or wrong; the problem has been noted then.
    fn manifest(&mut self, root: &Table<'_, '_>) -> Option<Manifest> {
        self.unknown_keys(root, &KEYS);
        let version = self.number(root, "version", MANIFEST_VERSION as usize..=MANIFEST_VERSION as usize);
        let name = self.name(root);
        let dimension = self.number(root, "dimension", 1..=8192);
        let pooling = self.pooling(root);
        let query_prefix = self.prefix(root, "query-prefix");
        let document_prefix = self.prefix(root, "document-prefix");
        let max_tokens = self.number(root, "max-tokens", 8..=8192);
        let languages = self.languages(root);
        let licence = self.text(root, "licence", "an SPDX expression, as \"MIT\"", true);
        let source = self.text(root, "source", "a text", false);
        let evidence = self.evidence(root);
        let files = self.files(root);
        Some(Manifest {
            version: version? as u32,
            name: name?,
            dimension: dimension?,
            pooling: pooling?,
            query_prefix: query_prefix?,
            document_prefix: document_prefix?,
            max_tokens: max_tokens?,
            languages: languages?,
            licence: licence?,
            source: source?,
            evidence: evidence?,
            files: files?,
        })
    }

    fn unknown_keys(&mut self, table: &Table<'_, '_>, known: &[&str]) {
        for (key, _) in table.entries {
            let found: &str = key.get_ref();
            if known.contains(&found) {
                continue;
            }
            self.problem(
                key.span(),
                &table.path(found),
                "no key of a manifest",
                format!("one of {}", known.join(", ")),
            );
            if let Some(problem) = self.problems.last_mut() {
                problem.nearest = nearest(found, known.iter().copied()).map(|near| table.path(near));
            }
        }
    }

    /// A value that must be there.
    fn required<'a, 'text>(
        &mut self,
        table: &Table<'a, 'text>,
        key: &str,
        expected: &str,
    ) -> Option<&'a Spanned<DeValue<'text>>> {
        let value = table.value(key);
        if value.is_none() {
            self.problem(table.place.clone(), &table.path(key), "missing", expected);
        }
        value
    }

    fn number(&mut self, table: &Table<'_, '_>, key: &str, range: std::ops::RangeInclusive<usize>) -> Option<usize> {
        let expected = match (range.start(), range.end()) {
            (start, end) if start == end => start.to_string(),
            (start, end) => format!("a whole number from {start} to {end}"),
        };
        let value = self.required(table, key, &expected)?;
        let number = value.get_ref().as_integer().and_then(|integer| {
            usize::from_str_radix(integer.as_str(), integer.radix()).ok().filter(|number| range.contains(number))
        });
        if number.is_none() {
            self.problem(value.span(), &table.path(key), show(value.get_ref()), expected);
        }
        number
    }

    fn float(&mut self, table: &Table<'_, '_>, key: &str, allowed: &Floats) -> Option<f64> {
        let value = match (table.value(key), allowed.default) {
            (None, Some(default)) => return Some(default),
            _ => self.required(table, key, allowed.expected)?,
        };
        let number = match value.get_ref() {
            DeValue::Float(float) => float.as_str().parse::<f64>().ok(),
            DeValue::Integer(integer) => {
                i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|number| number as f64)
            }
            _ => None,
        };
        let number = number.filter(|number| (allowed.least..=allowed.most).contains(number));
        if number.is_none() {
            self.problem(value.span(), &table.path(key), show(value.get_ref()), allowed.expected);
        }
        number
    }

    /// A text; an absent one is empty unless it is required, and then it must not be empty either.
    fn text(&mut self, table: &Table<'_, '_>, key: &str, expected: &str, required: bool) -> Option<String> {
        let value = match table.value(key) {
            None if !required => return Some(String::new()),
            _ => self.required(table, key, expected)?,
        };
        match value.get_ref().as_str() {
            Some(text) if !(required && text.trim().is_empty()) => Some(text.to_owned()),
            _ => {
                self.problem(value.span(), &table.path(key), show(value.get_ref()), expected);
                None
            }
        }
    }

    fn name(&mut self, root: &Table<'_, '_>) -> Option<String> {
        let name = self.text(root, "name", "the model's name, as \"multilingual-e5-small\"", true)?;
        if let Err(expected) = check_name(&name) {
            let place = root.value("name").map_or(0..0, Spanned::span);
            self.problem(place, "name", format!("{name:?}"), expected);
            return None;
        }
        Some(name)
    }

    fn pooling(&mut self, root: &Table<'_, '_>) -> Option<Pooling> {
        let value = self.required(root, "pooling", "\"mean\" or \"cls\"")?;
        match value.get_ref().as_str() {
            Some("mean") => Some(Pooling::Mean),
            Some("cls") => Some(Pooling::Cls),
            _ => {
                self.problem(value.span(), "pooling", show(value.get_ref()), "\"mean\" or \"cls\"");
                None
            }
        }
    }

    fn prefix(&mut self, root: &Table<'_, '_>, key: &str) -> Option<String> {
        let prefix = self.text(root, key, "a text of at most 200 bytes", false)?;
        if prefix.len() > LONGEST_PREFIX {
            let place = root.value(key).map_or(0..0, Spanned::span);
            self.problem(place, key, format!("{} bytes long", prefix.len()), "a text of at most 200 bytes");
            return None;
        }
        Some(prefix)
    }

    fn languages(&mut self, root: &Table<'_, '_>) -> Option<Vec<String>> {
        const EXPECTED: &str = "a list of two-letter codes, as [\"en\", \"tr\"]";
        let Some(value) = root.value("languages") else { return Some(Vec::new()) };
        let Some(list) = value.get_ref().as_array() else {
            self.problem(value.span(), "languages", show(value.get_ref()), EXPECTED);
            return None;
        };
        let mut languages = Vec::new();
        for item in list {
            match item.get_ref().as_str() {
                Some(code) if code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_lowercase()) => {
                    languages.push(code.to_owned());
                }
                _ => self.problem(item.span(), "languages", show(item.get_ref()), EXPECTED),
            }
        }
        Some(languages)
    }

    fn table<'a, 'text>(
        &mut self,
        root: &Table<'a, 'text>,
        name: &'static str,
        expected: &str,
    ) -> Option<Table<'a, 'text>> {
        let value = self.required(root, name, expected)?;
        match value.get_ref().as_table() {
            Some(entries) => Some(Table { name, entries, place: value.span() }),
            None => {
                self.problem(value.span(), name, show(value.get_ref()), expected);
                None
            }
        }
    }

    fn evidence(&mut self, root: &Table<'_, '_>) -> Option<EvidenceManifest> {
        let table = self.table(root, "evidence", "a table of weight, floor, weak and good")?;
        self.unknown_keys(&table, &EVIDENCE_KEYS);
        let weight = self.float(&table, "weight", &Floats::new(0.0, 100.0, "a number from 0 to 100"));
        let floor = self.float(&table, "floor", &Floats::new(-1.0, 1.0, "a cosine, -1 to 1"));
        let across = Floats::new(0.0, 10.0, "a number from 0 to 10").or(1.0);
        let across_languages = self.float(&table, "across-languages", &across);
        let coverage = self.float(&table, "coverage", &Floats::new(0.0, 1.0, "a number from 0 to 1").or(0.0));
        let weak = self.float(&table, "weak", &Floats::new(f64::NEG_INFINITY, 2.0, "a number up to 2, or -inf"));
        let good = self.float(&table, "good", &Floats::new(-1.0, 2.0, "a number from -1 to 2"));
        if let (Some(weak), Some(good), Some(value)) = (weak, good, table.value("weak"))
            && weak > good
        {
            self.problem(value.span(), "evidence.weak", weak.to_string(), format!("at most `evidence.good`, {good}"));
            return None;
        }
        Some(EvidenceManifest {
            weight: weight?,
            floor: floor?,
            across_languages: across_languages?,
            coverage: coverage?,
            weak: weak?,
            good: good?,
        })
    }

    fn files(&mut self, root: &Table<'_, '_>) -> Option<BTreeMap<String, String>> {
        const HASH: &str = "a SHA-256 of 64 hexadecimal digits";
        let table = self.table(root, "files", "a table of file names and their SHA-256")?;
        let mut files = BTreeMap::new();
        for (key, value) in table.entries {
            let name: &str = key.get_ref();
            if !is_file_name(name) {
                let expected = "the name of a file in the same folder, without separators";
                self.problem(key.span(), &table.path(name), format!("named {name:?}"), expected);
            }
            match value.get_ref().as_str() {
                Some(hash) if is_sha256(hash) => {
                    files.insert(name.to_owned(), hash.to_ascii_lowercase());
                }
                _ => self.problem(value.span(), &table.path(name), show(value.get_ref()), HASH),
            }
        }
        for needed in [MODEL_FILE, TOKENIZER_FILE] {
            self.required(&table, needed, HASH);
        }
        Some(files)
    }
}

/// The numbers that a key takes.
struct Floats {
    least: f64,
    most: f64,
    expected: &'static str,
    default: Option<f64>,
}

impl Floats {
    fn new(least: f64, most: f64, expected: &'static str) -> Self {
        Self { least, most, expected, default: None }
    }

    fn or(self, default: f64) -> Self {
        Self { default: Some(default), ..self }
    }
}

/// Whether a name names a file of the folder itself on every system.
pub(super) fn is_file_name(name: &str) -> bool {
    let odd = |character: char| character.is_control() || "/\\:*?\"<>|".contains(character);
    !name.is_empty()
        && name.len() <= 200
        && !name.starts_with('.')
        && !name.ends_with(['.', ' '])
        && !name.contains(odd)
}

/// A value for a message, cut at a readable length.
fn show(value: &DeValue<'_>) -> String {
    let text = match value {
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(integer) => integer.as_str().to_owned(),
        DeValue::Float(float) => float.as_str().to_owned(),
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(items) => format!("a list of {}", items.len()),
        DeValue::Table(_) => "a table".to_owned(),
    };
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::known;

    /// A manifest with every key, and one line of it replaced.
    fn with(line: &str, replacement: &str) -> String {
        let text = known("multilingual-e5-small").unwrap().manifest().to_toml();
        assert_eq!(text.matches(line).count(), 1, "{line} in {text}");
        text.replace(line, replacement)
    }

    fn problems(text: &str) -> Vec<String> {
        parse(text).unwrap_err().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn everything_that_is_wrong_is_listed_with_its_place() {
        let text = with("dimension = 384", "dimension = 0").replace("max-tokens = 512", "max-tokens = \"many\"");
        let text = text.replace("pooling = \"mean\"", "pooling = \"max\"").replace("floor = 0.78", "flor = 0.78");
        assert_eq!(
            problems(&text),
            [
                "4:13: `dimension` is 0, expected a whole number from 1 to 8192",
                "5:11: `pooling` is \"max\", expected \"mean\" or \"cls\"",
                "8:14: `max-tokens` is \"many\", expected a whole number from 8 to 8192",
                "15:1: `evidence.flor` is no key of a manifest, expected one of weight, floor, across-languages, \
                 coverage, weak, good; did you mean `evidence.floor`?",
                "13:1: `evidence.floor` is missing, expected a cosine, -1 to 1",
            ]
        );
    }

    #[test]
    fn each_key_is_checked() {
        let one = |text: String| {
            let found = problems(&text);
            assert_eq!(found.len(), 1, "{found:?}");
            found.into_iter().next().unwrap()
        };
        assert!(one(with("version = 1", "version = 2")).contains("`version` is 2, expected 1"));
        assert!(one(with("version = 1\n", "")).contains("`version` is missing, expected 1"));
        assert!(
            one(with("name = \"multilingual-e5-small\"", "name = \"E5 small\"")).contains("`name` is \"E5 small\"")
        );
        assert!(one(with("max-tokens = 512", "max-tokens = 7")).contains("8 to 8192"));
        assert!(
            one(with("query-prefix = \"query: \"", &format!("query-prefix = {:?}", "q".repeat(201)))).contains("201")
        );
        assert!(one(with("licence = \"MIT\"", "licence = \" \"")).contains("SPDX"));
        assert!(one(with("\"af\"", "\"afr\"")).contains("two-letter codes"));
        assert!(one(with("weight = 2.5", "weight = nan")).contains("`evidence.weight` is nan"));
        assert!(one(with("weak = 0.852", "weak = 0.9")).contains("`evidence.weak` is 0.9, expected at most"));
        assert!(one(with("\"tokenizer.json\" = \"0b", "\"tokenizer.json\" = \"0x")).contains("64 hexadecimal digits"));
        assert!(
            one(with("\"tokenizer.json\"", "\"../tokenizer.json\"")
                + &format!("\"tokenizer.json\" = {:?}", "0".repeat(64)))
            .contains("without separators")
        );
        assert!(one(with("\"tokenizer.json\"", "\"tokeniser.json\"")).contains("`files.tokenizer.json` is missing"));
        assert!(one("version = [".to_owned()).contains("this is no TOML"));
        let found = problems(&with("[evidence]", "[evidense]"));
        assert!(
            found[0].contains("did you mean `evidence`?") && found[1].contains("`evidence` is missing"),
            "{found:?}"
        );
    }

    #[test]
    fn optional_keys_have_the_defaults_that_are_documented() {
        let text = with("across-languages = 1.5\n", "")
            .replace("coverage = 0.08\n", "")
            .replace("weak = 0.852", "weak = -inf");
        let evidence = parse(&text).unwrap().evidence;
        assert_eq!((evidence.across_languages, evidence.coverage, evidence.weak), (1.0, 0.0, f64::NEG_INFINITY));
        let manifest = parse(&with("query-prefix = \"query: \"\n", "")).unwrap();
        assert_eq!(manifest.query_prefix, "");
        let weight = parse(&with("weight = 2.5", "weight = 1_0")).unwrap().evidence.weight;
        assert!((weight - 10.0).abs() < 1e-9, "{weight}");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            dimension in 1_usize..=8192,
            max_tokens in 8_usize..=8192,
            prefix in ".{0,40}",
            source in any::<String>(),
            weight in 0.0..=100.0_f64,
            floor in -1.0..=1.0_f64,
            good in -1.0..=2.0_f64,
        ) {
            let mut manifest = known("multilingual-e5-small").unwrap().manifest();
            (manifest.dimension, manifest.max_tokens) = (dimension, max_tokens);
            (manifest.query_prefix, manifest.source) = (prefix, source);
            (manifest.evidence.weight, manifest.evidence.floor) = (weight, floor);
            (manifest.evidence.weak, manifest.evidence.good) = (f64::NEG_INFINITY, good);
            prop_assert_eq!(parse(&manifest.to_toml()), Ok(manifest));
        }

        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let _ = parse(&text);
        }

        #[test]
        fn no_place_is_outside_the_text(cut in 0_usize..1200) {
            let text = known("multilingual-e5-small").unwrap().manifest().to_toml();
            let text: String = text.chars().take(cut).collect();
            for problem in parse(&text).err().into_iter().flatten() {
                prop_assert!(problem.line <= text.matches('\n').count() + 1, "{}", problem);
            }
        }
    }
}
