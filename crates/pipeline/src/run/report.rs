//! What became of a run and its stages.

use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use crate::stage::{Inputs, StageError};
use crate::value::Value;

/// How a stage ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// It has a value.
    Done,
    /// It was not run: its condition did not hold, something that it needs was skipped, or it failed and may.
    Skipped,
    /// It returned an error.
    Failed,
    /// Its time was up.
    TimedOut,
    /// It panicked.
    Panicked,
    /// The run ended before it did.
    Interrupted,
    /// A test gave its value.
    Stubbed,
    /// It has effects and the run was a dry one.
    Pretended,
    /// Nothing asked for it.
    NotNeeded,
}

impl Status {
    /// The word for reports and traces.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Done => "done",
            Status::Skipped => "skipped",
            Status::Failed => "failed",
            Status::TimedOut => "timed out",
            Status::Panicked => "panicked",
            Status::Interrupted => "interrupted",
            Status::Stubbed => "stubbed",
            Status::Pretended => "would run",
            Status::NotNeeded => "not needed",
        }
    }
}

/// What became of one stage.
#[derive(Clone, Debug)]
pub struct StageReport {
    /// The stage's name.
    pub stage: Arc<str>,
    /// Its kind.
    pub kind: Arc<str>,
    /// How it ended.
    pub status: Status,
    /// Why it was skipped.
    pub reason: Option<String>,
    /// Its value, when it has one.
    pub value: Option<Value>,
    /// What went wrong, also when the run went on without it.
    pub error: Option<StageError>,
    /// How often it was tried.
    pub attempts: u32,
    /// When it started, counted from the start of the run.
    pub started: Duration,
    /// How long it took, retries and pauses included.
    pub elapsed: Duration,
    /// Whether the value was made once and is shared by all records of a batch.
    pub shared: bool,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All that was needed ran, or was skipped as the file allows.
    Completed,
    /// The stage at this place in the report failed.
    Failed(usize),
    /// Somebody asked to stop.
    Interrupted,
}

/// The value of a run.
#[derive(Clone, Debug)]
pub enum OutputValue {
    /// One value; none when its stage was skipped.
    One(Option<Value>),
    /// Several, by name.
    Many(IndexMap<String, Option<Value>>),
}

impl Serialize for OutputValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            OutputValue::One(value) => value.serialize(serializer),
            OutputValue::Many(values) => values.serialize(serializer),
        }
    }
}

impl OutputValue {
    /// The JSON form: a skipped stage is null.
    pub fn to_json(&self) -> Json {
        let form = |value: &Option<Value>| value.as_ref().map_or(Json::Null, Value::to_json);
        match self {
            OutputValue::One(value) => form(value),
            OutputValue::Many(values) => {
                Json::Object(values.iter().map(|(name, value)| (name.clone(), form(value))).collect())
            }
        }
    }
}

/// What became of a run.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// How it ended.
    pub ending: Ending,
    /// The output; nothing unless the run completed.
    pub output: Option<OutputValue>,
    /// The stages, in the order of the file.
    pub stages: Vec<StageReport>,
    /// How long the run took.
    pub elapsed: Duration,
}

impl RunReport {
    /// The stage that made the run fail.
    pub fn failure(&self) -> Option<&StageReport> {
        match self.ending {
            Ending::Failed(at) => self.stages.get(at),
            Ending::Completed | Ending::Interrupted => None,
        }
    }
}

/// Is told about every stage as it ends.
pub trait Observer: Send + Sync {
    /// A stage ended. `inputs` is what it was given; nothing when it was not run.
    fn stage_ended(&self, record: Option<usize>, report: &StageReport, inputs: Option<&Inputs>);
}
