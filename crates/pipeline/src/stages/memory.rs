//! `memory.record` and `memory.facts`: what is known, over time.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hatir_memory as leaf;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::files;
use crate::stage::{BuildContext, Complaint, Inputs, Kind, Port, Ports, Stage, StageContext, StageError};
use crate::value::{Type, Value};
use crate::wire::Fact;

/// Records a text as a fact in the memory, and returns the fact.
///
/// A statement that the memory has already is not recorded twice: it counts as one mention more, and its confidence
/// grows. The store is made when the first fact is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct RecordFact {
    /// The file of the store. Its folder must exist.
    #[schemars(extend("format" = "path"))]
    pub(crate) path: PathBuf,
    /// The domain that the fact belongs to; needed unless the port `domain` is fed.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub(crate) domain: Option<String>,
    /// What the fact is about; needed unless the port `topic` is fed.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub(crate) topic: Option<String>,
    /// How the statement came to us.
    #[serde(default)]
    pub(crate) veracity: Veracity,
    /// Who said it.
    #[serde(default)]
    pub(crate) author: Option<String>,
    /// How sure it is, from 0 to 1; half the weight of its veracity where it is missing.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(crate) confidence: Option<f64>,
}

/// How a statement came to us.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Veracity {
    /// Somebody said it.
    Stated,
    /// Nobody knows. Weight 0.8.
    #[default]
    Unknown,
    /// It was concluded from something else.
    Inferred,
    /// It came from another collection.
    Imported,
    /// A program put it out.
    Tool,
}

impl From<Veracity> for leaf::Veracity {
    fn from(veracity: Veracity) -> Self {
        match veracity {
            Veracity::Stated => leaf::Veracity::Stated,
            Veracity::Unknown => leaf::Veracity::Unknown,
            Veracity::Inferred => leaf::Veracity::Inferred,
            Veracity::Imported => leaf::Veracity::Imported,
            Veracity::Tool => leaf::Veracity::Tool,
        }
    }
}

impl Kind for RecordFact {
    const NAME: &'static str = "memory.record";
    const ABOUT: &'static str = "Records a text as a fact in the memory, and returns the fact.";

    fn ports(_: Option<&Self>) -> Ports {
        let inputs = vec![
            Port::required("content", Type::Text, "The statement."),
            Port::optional("domain", Type::Text, "The domain, in place of `with.domain`."),
            Port::optional("topic", Type::Text, "The topic, in place of `with.topic`."),
        ];
        Ports::new(inputs, Type::Facts)
    }

    fn check(&self) -> Vec<Complaint> {
        blank([("domain", self.domain.as_ref()), ("topic", self.topic.as_ref())])
    }

    fn has_effects(&self) -> bool {
        true
    }

    fn build(&self, context: &BuildContext) -> Result<Box<dyn Stage>, StageError> {
        let path = context.path(&self.path);
        let folder = files::folder_of(&path);
        if path.is_dir() {
            return Err(StageError::permanent(format!(
                "{} is a folder, expected a file for the store",
                path.display()
            )));
        }
        if !folder.is_dir() {
            let message = format!("there is no folder {} for the store", folder.display());
            return Err(StageError::permanent(message).hint("make the folder first"));
        }
        // A store that exists is opened now, so that a damaged one is found before the run; a new one is made when
        // there is something to record.
        let store = if path.is_file() { Some(open(&path)?) } else { None };
        Ok(Box::new(Recorder { config: self.clone(), path, store: Mutex::new(store), pretend: context.dry_run }))
    }
}

struct Recorder {
    config: RecordFact,
    path: PathBuf,
    store: Mutex<Option<Arc<leaf::Store>>>,
    pretend: bool,
}

impl Stage for Recorder {
    fn run(&self, inputs: &Inputs, context: &StageContext) -> Result<Value, StageError> {
        let needed = |port: &str, with: Option<&String>| {
            setting(inputs, port, with)?.ok_or_else(|| {
                StageError::permanent(format!("the fact has no {port}"))
                    .hint(format!("set `with.{port}`, or feed `in.{port}`"))
            })
        };
        let fact = leaf::NewFact {
            confidence: self.config.confidence,
            veracity: self.config.veracity.into(),
            author: self.config.author.clone(),
            ..leaf::NewFact::new(
                needed("domain", self.config.domain.as_ref())?,
                needed("topic", self.config.topic.as_ref())?,
                &*super::text(inputs, "content")?,
            )
        };
        let store = if self.pretend {
            Arc::new(leaf::Store::open_in_memory().map_err(|error| memory_error(&error))?)
        } else {
            self.store()?
        };
        let recorded =
            store.record(fact, leaf::Moment::from_micros(context.now_micros)).map_err(|error| memory_error(&error))?;
        Ok(Value::Facts(Arc::new(vec![fact_out(recorded.fact)])))
    }
}

impl Recorder {
    fn store(&self) -> Result<Arc<leaf::Store>, StageError> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        match &*store {
            Some(store) => Ok(store.clone()),
            None => Ok(store.insert(open(&self.path)?).clone()),
        }
    }
}

/// Reads facts from the memory, the newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ReadFacts {
    /// The file of the store.
    #[schemars(extend("format" = "path"))]
    pub(crate) path: PathBuf,
    /// Only facts of this domain; all domains where it is missing.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub(crate) domain: Option<String>,
    /// Only facts about this topic; all topics where it is missing.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub(crate) topic: Option<String>,
    /// Only facts that are true at this moment, in RFC 3339 (`2026-03-01T00:00:00Z`); the moment of the run where it is
    /// missing.
    #[serde(default)]
    #[schemars(extend("format" = "date-time"))]
    pub(crate) as_of: Option<String>,
    /// Only what was known at this moment, in RFC 3339; everything known by now where it is missing.
    #[serde(default)]
    #[schemars(extend("format" = "date-time"))]
    pub(crate) known_at: Option<String>,
    /// How many facts come out at most, the newest; all where it is missing.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(crate) limit: Option<usize>,
}

impl Kind for ReadFacts {
    const NAME: &'static str = "memory.facts";
    const ABOUT: &'static str = "Reads facts from the memory, by domain and topic, as of any moment.";

    fn ports(_: Option<&Self>) -> Ports {
        let inputs = vec![
            Port::optional("domain", Type::Text, "The domain, in place of `with.domain`."),
            Port::optional("topic", Type::Text, "The topic, in place of `with.topic`."),
        ];
        Ports::new(inputs, Type::Facts)
    }

    fn check(&self) -> Vec<Complaint> {
        let mut complaints = blank([("domain", self.domain.as_ref()), ("topic", self.topic.as_ref())]);
        for (key, text) in [("as-of", &self.as_of), ("known-at", &self.known_at)] {
            if let Some(Err(message)) = text.as_deref().map(moment) {
                complaints.push(Complaint::about(key, message).help("write it as in \"2026-03-01T00:00:00Z\""));
            }
        }
        complaints
    }

    fn build(&self, context: &BuildContext) -> Result<Box<dyn Stage>, StageError> {
        let path = context.path(&self.path);
        if !path.exists() {
            let message = format!("there is no store at {}", path.display());
            return Err(StageError::permanent(message)
                .hint("record a fact first, with a stage `memory.record` of the same path"));
        }
        let read = |text: &Option<String>| text.as_deref().map(moment).transpose().map_err(StageError::permanent);
        let (as_of, known_at) = (read(&self.as_of)?, read(&self.known_at)?);
        Ok(Box::new(Reader { config: self.clone(), store: open(&path)?, as_of, known_at }))
    }
}

struct Reader {
    config: ReadFacts,
    store: Arc<leaf::Store>,
    as_of: Option<leaf::Moment>,
    known_at: Option<leaf::Moment>,
}

impl Stage for Reader {
    fn run(&self, inputs: &Inputs, context: &StageContext) -> Result<Value, StageError> {
        let query = leaf::FactQuery {
            domain: setting(inputs, "domain", self.config.domain.as_ref())?,
            topic: setting(inputs, "topic", self.config.topic.as_ref())?,
            as_of: self.as_of,
            known_at: self.known_at,
            limit: self.config.limit,
            ..leaf::FactQuery::default()
        };
        let now = leaf::Moment::from_micros(context.now_micros);
        let facts = self.store.facts(&query, now).map_err(|error| memory_error(&error))?;
        Ok(Value::Facts(Arc::new(facts.into_iter().map(fact_out).collect())))
    }
}

/// The text on a port, or the one in the `with` table.
fn setting(inputs: &Inputs, port: &str, with: Option<&String>) -> Result<Option<String>, StageError> {
    match inputs.get(port) {
        Some(_) => Ok(Some(super::text(inputs, port)?.to_string())),
        None => Ok(with.cloned()),
    }
}

fn blank<const N: usize>(settings: [(&str, Option<&String>); N]) -> Vec<Complaint> {
    let blank = settings.into_iter().filter(|(_, text)| text.is_some_and(|text| text.trim().is_empty()));
    blank
        .map(|(key, _)| Complaint::about(key, "found an empty name").help("write a name, or leave the key out"))
        .collect()
}

fn open(path: &Path) -> Result<Arc<leaf::Store>, StageError> {
    leaf::Store::open(path).map(Arc::new).map_err(|error| memory_error(&error))
}

fn memory_error(error: &leaf::Error) -> StageError {
    // Another writer gives way sooner or later; everything else stays as it is.
    match error {
        leaf::Error::Busy { .. } => StageError::new(error.to_string()),
        _ => StageError::permanent(error.to_string()),
    }
}

fn moment(text: &str) -> Result<leaf::Moment, String> {
    let read = text.trim().parse::<Timestamp>();
    read.map(|timestamp| leaf::Moment::from_micros(timestamp.as_microsecond()))
        .map_err(|error| format!("found \"{text}\", expected a moment in RFC 3339 with its zone: {error}"))
}

/// RFC 3339. Moments outside the years -9999 to 9999, which only a broken clock makes, come out as the nearest that can
/// be written.
fn written(moment: leaf::Moment) -> String {
    let nearest = if moment.as_micros() < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_microsecond(moment.as_micros()).unwrap_or(nearest).to_string()
}

fn fact_out(fact: leaf::Fact) -> Fact {
    Fact {
        id: fact.id.as_str().to_owned(),
        domain: fact.domain,
        topic: fact.topic,
        content: fact.content,
        confidence: fact.confidence,
        veracity: fact.veracity.as_str().to_owned(),
        mentions: fact.mentions,
        recorded_at: written(fact.recorded_at),
        valid_from: fact.valid_from.map(written),
        valid_until: fact.valid_until.map(written),
        superseded_by: fact.superseded_by.map(|id| id.as_str().to_owned()),
    }
}
