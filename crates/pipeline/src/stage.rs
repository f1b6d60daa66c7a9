//! What a stage is: a kind that is declared once, a configuration that is checked, and a stage that runs.
//!
//! One struct per kind holds its `with` table. Its documentation, defaults, schema and checks are derived from that
//! struct, so that they cannot drift apart. Kinds from outside register in the same way as ours.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::cancel::Cancel;
use crate::value::{Type, Value};

/// An input of a stage kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// The name after `in.`.
    pub name: String,
    /// What it takes.
    pub accepts: Type,
    /// Whether the stage can run without it. A stage whose required port is fed by a skipped stage is skipped itself.
    pub required: bool,
    /// Whether it takes a list of sources (`in.items = ["a", "b"]`). A single name is taken as a list of one. Sources
    /// that were skipped are left out of the list.
    pub many: bool,
    /// One sentence for the documentation.
    pub about: String,
}

impl Port {
    /// A port that must be fed.
    pub fn required(name: &str, accepts: Type, about: &str) -> Self {
        Port { name: name.to_owned(), accepts, required: true, many: false, about: about.to_owned() }
    }

    /// A port that may be left open.
    pub fn optional(name: &str, accepts: Type, about: &str) -> Self {
        Port { required: false, ..Port::required(name, accepts, about) }
    }

    /// The same port, taking a list of sources.
    pub fn many(self) -> Self {
        Port { many: true, ..self }
    }
}

/// The inputs and the output of a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ports {
    /// The inputs that have a name of their own, in the order in which documentation lists them.
    pub inputs: Vec<Port>,
    /// Whether further inputs, under any name, are taken as this type.
    pub open: Option<Type>,
    /// What comes out.
    pub output: Type,
}

impl Ports {
    /// Named inputs and an output.
    pub fn new(inputs: Vec<Port>, output: Type) -> Self {
        Ports { inputs, open: None, output }
    }
}

/// A complaint about a configuration that its schema cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The key below `with` that is wrong, as `["limit"]`; empty for the table as a whole.
    pub key: Vec<String>,
    /// What is wrong: what was found, what is expected.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl Complaint {
    /// A complaint about one key.
    pub fn about(key: &str, message: impl Into<String>) -> Self {
        Complaint { key: vec![key.to_owned()], message: message.into(), help: None }
    }

    /// The same complaint with a remedy.
    pub fn help(self, help: impl Into<String>) -> Self {
        Complaint { help: Some(help.into()), ..self }
    }
}

/// A kind of stage, implemented by the struct that holds its `with` table.
///
/// Derive `Serialize`, `Deserialize` and `JsonSchema` for the struct with `#[serde(deny_unknown_fields,
/// rename_all = "kebab-case")]`. Field documentation becomes the documentation of the keys, `#[serde(default)]` makes a
/// key optional, `#[schemars(range(min = 1))]` is checked with file, line and column. Strings whose schema has
/// `#[schemars(extend("format" = "duration"))]` are durations (`300ms`, `5s`, `2m`), those with `"format" = "path"` are
/// paths relative to the pipeline file.
pub trait Kind: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The name after `use =`. Names from outside should have a prefix of their own (`acme.translate`).
    const NAME: &'static str;

    /// One sentence: what the stage does.
    const ABOUT: &'static str;

    /// Inputs and output. The configuration is there when a concrete stage is asked about, and missing when the kind
    /// as such is documented.
    fn ports(config: Option<&Self>) -> Ports;

    /// Checks that the schema cannot express. Must not touch disk or network.
    fn check(&self) -> Vec<Complaint> {
        Vec::new()
    }

    /// Whether the stage changes something outside the run (writes a file, records a fact). Such a stage is run even
    /// when nothing needs its output, is never shared between the records of a batch, and is left out of a dry run.
    fn has_effects(&self) -> bool {
        false
    }

    /// Opens files and makes the stage. This is the first moment at which disk and network may be touched.
    ///
    /// # Errors
    /// Whatever keeps the stage from working: a missing file, an index of another version.
    fn build(&self, context: &BuildContext) -> Result<Box<dyn Stage>, StageError>;
}

/// How a stage runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Microseconds, no I/O: run in place, without a thread of its own.
    Light,
    /// Anything else: run on the blocking pool.
    Blocking,
}

/// A stage that is ready to run. One stage serves all records of a batch, from several threads at once.
pub trait Stage: Send + Sync {
    /// Does the work.
    ///
    /// Long work must look at [`StageContext::cancel`] now and then, and return early when it is set: the runner
    /// abandons a stage that does not, and cannot stop its thread.
    ///
    /// # Errors
    /// Whatever kept the stage from its result.
    fn run(&self, inputs: &Inputs, context: &StageContext) -> Result<Value, StageError>;

    /// How it runs.
    fn weight(&self) -> Weight {
        Weight::Blocking
    }

    /// Whether the runner should give the stage a moment ([`GRACE`](crate::GRACE)) to return after its time is up,
    /// because something outlives it otherwise: a child process. Other stages are abandoned at once.
    fn needs_grace(&self) -> bool {
        false
    }

    /// Called in the place of [`Stage::flush`] when the work was interrupted or failed. A stage that replaces something
    /// as a whole leaves the old in its place; by default what there is is written out.
    ///
    /// # Errors
    /// When the data could not be written.
    fn give_up(&self) -> Result<(), StageError> {
        self.flush()
    }

    /// Writes out what is buffered. Called once after the last run, when all went well.
    ///
    /// # Errors
    /// When the data could not be written.
    fn flush(&self) -> Result<(), StageError> {
        Ok(())
    }
}

/// What a stage is built with.
#[derive(Clone, Debug)]
pub struct BuildContext {
    /// The folder of the pipeline file: relative paths start here.
    pub base: PathBuf,
    /// The name of the stage.
    pub stage: String,
    /// Whether programs named in the file may be started (see the stage kind `exec`).
    pub trusted: bool,
    /// Whether the run only pretends: nothing may be written.
    pub dry_run: bool,
}

impl BuildContext {
    /// A path from the file, made absolute or relative to the folder of the file.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.base.join(path)
    }
}

/// What a stage is told about the run.
#[derive(Clone, Debug)]
pub struct StageContext {
    /// The name of the stage.
    pub stage: Arc<str>,
    /// Set when the stage should stop: its time is up, or the run was interrupted.
    pub cancel: Cancel,
    /// The moment of the run, in microseconds since the Unix epoch, UTC. Stages must not read the clock.
    pub now_micros: i64,
    /// The number of the record in a batch, counted from 0.
    pub record: Option<usize>,
}

/// The values on the ports of a stage.
///
/// ```
/// use hatir_pipeline::{Inputs, Value};
///
/// let mut inputs = Inputs::new();
/// inputs.push("items", Value::text("a"));
/// inputs.push("items", Value::text("b"));
/// assert_eq!(inputs.all("items").len(), 2);
/// assert_eq!(inputs.need("question").unwrap_err().message, "nothing came in on the port \"question\"");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    ports: IndexMap<String, Vec<Value>>,
}

impl Inputs {
    /// No inputs.
    pub fn new() -> Self {
        Inputs::default()
    }

    /// Puts a value on a port, after those already there.
    pub fn push(&mut self, port: impl Into<String>, value: Value) {
        self.ports.entry(port.into()).or_default().push(value);
    }

    /// The value on a port; the first one, when the port takes many.
    pub fn get(&self, port: &str) -> Option<&Value> {
        self.ports.get(port).and_then(|values| values.first())
    }

    /// All values on a port, in the order of the file.
    pub fn all(&self, port: &str) -> &[Value] {
        self.ports.get(port).map_or(&[], Vec::as_slice)
    }

    /// All ports that were fed, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[Value])> {
        self.ports.iter().map(|(port, values)| (port.as_str(), values.as_slice()))
    }

    /// The value on a port that the plan has checked to be there.
    ///
    /// # Errors
    /// When it is missing after all, which is a fault of whoever called the stage.
    pub fn need(&self, port: &str) -> Result<&Value, StageError> {
        self.get(port).ok_or_else(|| StageError::new(format!("nothing came in on the port \"{port}\"")))
    }
}

/// Why a stage has no result.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct StageError {
    /// What happened: the thing, what was found, what was expected.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// More to read: the end of a program's error output.
    pub detail: Option<String>,
    /// Whether trying again may help. Only such errors are retried.
    pub retryable: bool,
    /// Whether the stage would start a program that nobody has trusted (E0202).
    pub untrusted: bool,
}

impl StageError {
    /// An error that trying again may mend.
    pub fn new(message: impl Into<String>) -> Self {
        StageError { message: message.into(), hint: None, detail: None, retryable: true, untrusted: false }
    }

    /// An error that is there to stay: a wrong file, a wrong value.
    pub fn permanent(message: impl Into<String>) -> Self {
        StageError { retryable: false, ..StageError::new(message) }
    }

    /// A program that the pipeline would start, and that nobody has trusted.
    pub fn untrusted(message: impl Into<String>) -> Self {
        StageError { untrusted: true, ..StageError::permanent(message) }
    }

    /// The same error with a remedy.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        StageError { hint: Some(hint.into()), ..self }
    }

    /// The same error with more to read.
    pub fn detail(self, detail: impl Into<String>) -> Self {
        StageError { detail: Some(detail.into()), ..self }
    }
}

/// A configuration whose type is known to its kind only.
pub(crate) trait Configured: Send + Sync {
    fn ports(&self) -> Ports;
    fn check(&self) -> Vec<Complaint>;
    fn has_effects(&self) -> bool;
    fn build(&self, context: &BuildContext) -> Result<Box<dyn Stage>, StageError>;
    fn to_json(&self) -> Json;
}

struct Config<K>(K);

impl<K: Kind> Configured for Config<K> {
    fn ports(&self) -> Ports {
        K::ports(Some(&self.0))
    }

    fn check(&self) -> Vec<Complaint> {
        self.0.check()
    }

    fn has_effects(&self) -> bool {
        self.0.has_effects()
    }

    fn build(&self, context: &BuildContext) -> Result<Box<dyn Stage>, StageError> {
        self.0.build(context)
    }

    fn to_json(&self) -> Json {
        serde_json::to_value(&self.0).unwrap_or(Json::Null)
    }
}

type Parse = fn(Json) -> Result<Box<dyn Configured>, String>;

/// What the registry knows of a kind.
#[derive(Clone)]
pub struct KindEntry {
    /// The name after `use =`.
    pub name: &'static str,
    /// One sentence: what the stage does.
    pub about: &'static str,
    schema: fn() -> Schema,
    ports: fn() -> Ports,
    parse: Parse,
}

impl KindEntry {
    /// The JSON Schema of the kind's `with` table.
    pub fn schema(&self) -> Schema {
        (self.schema)()
    }

    /// Inputs and output of the kind in general.
    pub fn ports(&self) -> Ports {
        (self.ports)()
    }

    /// Reads a `with` table that has been checked against the schema.
    pub(crate) fn parse(&self, with: Json) -> Result<Box<dyn Configured>, String> {
        (self.parse)(with)
    }
}

impl fmt::Debug for KindEntry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("KindEntry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The stage kinds that a pipeline file may use.
///
/// ```
/// let registry = hatir_pipeline::Registry::standard();
/// assert!(registry.get("rank.query").is_some());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Registry {
    kinds: BTreeMap<&'static str, KindEntry>,
}

impl Registry {
    /// No kinds at all.
    pub fn empty() -> Self {
        Registry::default()
    }

    /// The kinds that come with this crate.
    pub fn standard() -> Self {
        let mut registry = Registry::empty();
        crate::stages::register(&mut registry);
        registry
    }

    /// Adds a kind. A kind of the same name is replaced.
    pub fn register<K: Kind>(&mut self) {
        self.kinds.insert(
            K::NAME,
            KindEntry {
                name: K::NAME,
                about: K::ABOUT,
                schema: || schemars::SchemaGenerator::default().into_root_schema_for::<K>(),
                ports: || K::ports(None),
                parse: |with| {
                    serde_json::from_value::<K>(with)
                        .map(|config| Box::new(Config(config)) as Box<dyn Configured>)
                        .map_err(|error| error.to_string())
                },
            },
        );
    }

    /// The kind of that name.
    pub fn get(&self, name: &str) -> Option<&KindEntry> {
        self.kinds.get(name)
    }

    /// All kinds, by name.
    pub fn iter(&self) -> impl Iterator<Item = &KindEntry> {
        self.kinds.values()
    }
}
