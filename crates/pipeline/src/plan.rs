//! A checked pipeline: what runs, on what, in which order.

use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use petgraph::graph::{DiGraph, NodeIndex};
use serde_json::Value as Json;

use crate::diagnostic::Span;
use crate::stage::{Configured, Ports};
use crate::value::Type;

/// A checked pipeline. Made by [`compile`](crate::compile()); nothing has been opened yet.
pub struct Plan {
    pub(crate) path: PathBuf,
    pub(crate) name: String,
    pub(crate) about: Option<String>,
    pub(crate) inputs: IndexMap<String, InputSpec>,
    pub(crate) stages: Vec<PlannedStage>,
    pub(crate) graph: DiGraph<usize, String>,
    pub(crate) order: Vec<usize>,
    pub(crate) output: Output,
    pub(crate) max_parallel: usize,
    pub(crate) tests: Vec<TestCase>,
}

/// An input of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct InputSpec {
    /// What must be given.
    pub kind: Type,
    /// Whether it may be left out (`"text?"` in the file).
    pub optional: bool,
}

/// Where a port gets its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Feed {
    /// An input of the pipeline (`$input.NAME`).
    Input(String),
    /// The output of a stage, by its place in [`Plan::stages`].
    Stage(usize),
}

/// A port with what feeds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The port's name.
    pub port: String,
    /// What the port takes.
    pub accepts: Type,
    /// Whether the stage needs it.
    pub required: bool,
    /// Whether it takes a list.
    pub many: bool,
    /// What feeds it, in the order of the file.
    pub feeds: Vec<Feed>,
}

/// What happens to a run when a stage fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// The run fails.
    #[default]
    Fail,
    /// The stage counts as skipped, and so do the stages that need it.
    Skip,
}

/// How often and how patiently a stage is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// Tries after the first one.
    pub count: u32,
    /// The pause before the first retry; it doubles each time, up to `longest`, and is jittered between half and whole.
    pub pause: Duration,
    /// The longest pause.
    pub longest: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Retries { count: 0, pause: Duration::from_millis(100), longest: Duration::from_secs(10) }
    }
}

/// A small question about one value, asked before a stage runs (`when = { input = "core", is = "empty" }`).
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Whose value is asked about.
    pub feed: Feed,
    /// The question.
    pub test: ConditionTest,
}

/// The question of a [`Condition`].
#[derive(Clone, Debug, PartialEq)]
pub enum ConditionTest {
    /// It was given, or its stage was not skipped.
    Present,
    /// It was not given, its stage was skipped, or there is nothing in it (see [`Value::is_empty`](crate::Value::is_empty)).
    Empty,
    /// There is something in it.
    NotEmpty,
    /// Its JSON form is this.
    Equals(Json),
    /// Its size (see [`Value::size`](crate::Value::size)) is greater than this.
    Greater(f64),
}

/// One stage of a plan.
pub struct PlannedStage {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) ports: Ports,
    pub(crate) bindings: Vec<Binding>,
    pub(crate) config: Box<dyn Configured>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) retries: Retries,
    pub(crate) on_error: OnError,
    pub(crate) when: Option<Condition>,
    /// Whether its result is the same for every record of a batch: nothing above it comes from `$input`, and it has no
    /// effects.
    pub(crate) constant: bool,
    /// Whether the output or an effect depends on it; the others are not run.
    pub(crate) used: bool,
    pub(crate) node: NodeIndex,
    pub(crate) span: Span,
}

/// What a run returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// The value of one feed.
    One(Feed),
    /// An object of several, in the order of the file.
    Many(IndexMap<String, Feed>),
}

/// One `[[test]]` table.
#[derive(Clone, Debug, PartialEq)]
pub struct TestCase {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// Inputs by name, not yet typed.
    pub input: IndexMap<String, Json>,
    /// Stages that are not run: their values by stage name.
    pub stub: IndexMap<String, Json>,
    /// Expectations, in the order of the file.
    pub expect: Vec<Expectation>,
}

/// One line of a test's `expect`.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// The stage it looks at.
    pub stage: String,
    /// The path into the JSON form of the stage's value (`["hits", "0", "id"]`); empty for the value itself.
    pub path: Vec<String>,
    /// What must hold.
    pub check: Check,
    /// Where it stands.
    pub span: Span,
}

/// What an [`Expectation`] asks.
#[derive(Clone, Debug, PartialEq)]
pub enum Check {
    /// The JSON form is exactly this.
    Equals(Json),
    /// Each of these strings occurs in the value: in a text, or in the text of any string below it.
    Contains(Vec<String>),
    /// None of these strings occurs.
    Lacks(Vec<String>),
    /// It has this many elements (or characters, for a text).
    Count(usize),
    /// It has at least this many.
    AtLeast(f64),
    /// It has at most this many.
    AtMost(f64),
    /// There is nothing in it (true), or something (false).
    Empty(bool),
    /// The stage was skipped (true) or not (false).
    Skipped(bool),
    /// The stage failed with a message that contains this.
    Fails(String),
}
