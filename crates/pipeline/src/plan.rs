//! A checked pipeline: what runs, on what, in which order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indexmap::IndexMap;
use petgraph::graph::{DiGraph, NodeIndex};
use serde_json::Value as Json;

use crate::diagnostic::{Report, Span};
use crate::stage::{Configured, Ports};
use crate::tree::Variable;
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
    /// The texts that spans point into, without problems.
    pub(crate) texts: Report,
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
    pub(crate) about: Option<String>,
    /// Where the values below `with` came from, by dotted key; what is not in here is a default of the kind.
    pub(crate) origins: BTreeMap<String, Origin>,
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

/// Where a value of a stage's configuration came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// In the file, or in a `--set` argument.
    pub(crate) span: Span,
    /// The environment variables in it.
    pub(crate) variables: Vec<Variable>,
}

impl Plan {
    /// The path of the pipeline file, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name: that of the file, without its extension.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the file says it is for.
    pub fn about(&self) -> Option<&str> {
        self.about.as_deref()
    }

    /// The inputs, in the order of the file.
    pub fn inputs(&self) -> &IndexMap<String, InputSpec> {
        &self.inputs
    }

    /// The stages, in the order of the file.
    pub fn stages(&self) -> &[PlannedStage] {
        &self.stages
    }

    /// The stage of that name, with its place in [`Plan::stages`].
    pub fn find(&self, name: &str) -> Option<(usize, &PlannedStage)> {
        self.stages.iter().enumerate().find(|(_, stage)| stage.name == name)
    }

    /// An order in which the stages can run one after another, as places in [`Plan::stages`]: a stage comes after
    /// everything it reads, and otherwise where the file has it.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// What comes out.
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// How many stages may run at once; 0 stands for the number of processors.
    pub fn max_parallel(&self) -> usize {
        self.max_parallel
    }

    /// The tests of the file.
    pub fn tests(&self) -> &[TestCase] {
        &self.tests
    }

    /// The texts that the plan was made from, as a report without problems: to tell where a span stands, or to report
    /// further problems ([`Report::with`]).
    pub fn texts(&self) -> &Report {
        &self.texts
    }

    /// The line and the column of a span's first character, counted from 1.
    pub fn position(&self, span: Span) -> (usize, usize) {
        self.texts.position(span).map_or((1, 1), |position| (position.line, position.column))
    }

    /// The line that a span starts in.
    pub fn source_line(&self, span: Span) -> Option<&str> {
        self.texts.line(span)
    }

    /// What feeds a port, in words: `core`, `$input.question`.
    pub fn feed_name(&self, feed: &Feed) -> String {
        match feed {
            Feed::Input(name) => format!("$input.{name}"),
            Feed::Stage(at) => self.stages[*at].name.clone(),
        }
    }
}

impl PlannedStage {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The kind (`use = …`).
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// What the file says it is for.
    pub fn about(&self) -> Option<&str> {
        self.about.as_deref()
    }

    /// The ports of the kind, as configured.
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    /// What feeds the ports, in the order of the file.
    pub fn bindings(&self) -> &[Binding] {
        &self.bindings
    }

    /// The configuration with all defaults.
    pub fn with(&self) -> Json {
        self.config.to_json()
    }

    /// How long one try may take.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// How often it is tried again.
    pub fn retries(&self) -> Retries {
        self.retries
    }

    /// What its failure means to the run.
    pub fn on_error(&self) -> OnError {
        self.on_error
    }

    /// The condition under which it runs.
    pub fn when(&self) -> Option<&Condition> {
        self.when.as_ref()
    }

    /// Whether its result is shared by all records of a batch.
    pub fn is_constant(&self) -> bool {
        self.constant
    }

    /// Whether the output, or a stage with effects, depends on it. Others are not run.
    pub fn is_used(&self) -> bool {
        self.used
    }

    /// Whether it changes something outside the run.
    pub fn has_effects(&self) -> bool {
        self.config.has_effects()
    }

    /// Where its table stands in the file.
    pub fn span(&self) -> Span {
        self.span
    }
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
