//! A TOML file becomes a checked graph of typed stages, and a runner executes it.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod batch;
mod batch_file;
mod cancel;
mod codes;
mod compile;
mod diagnostic;
mod dialog;
mod duration;
mod expectations;
mod explain;
mod file;
mod graph;
mod interpolate;
mod names;
mod plan;
mod problems;
mod render;
mod run;
mod schema;
mod schema_check;
mod set;
mod source;
mod stage;
mod stages;
mod starters;
mod testing;
mod trace;
mod tree;
mod value;
mod variables;
mod wiring;

pub use batch::{BatchEnding, BatchError, BatchOptions, BatchReport, LONGEST_RECORD, Tally, run_batch};
pub use batch_file::{BatchFile, BatchFileError, Earlier, fingerprint_file, fingerprint_text};
pub use cancel::Cancel;
pub use codes::Code;
pub use compile::{Compiled, Options, compile};
pub use diagnostic::{Label, Position, Problem, Report, Severity, Source, Span};
pub use dialog::{Dialog, DialogTurn, Line};
pub use duration::{DurationError, parse_duration};
pub use interpolate::{Template, TemplateError, VariableReference};
pub use plan::{
    Binding, Check, Condition, ConditionTest, Expectation, Feed, InputSpec, OnError, Output, Plan, PlannedStage,
    Retries, TestCase,
};
pub use run::{
    BuildError, BuildFailure, BuildOptions, Ending, GRACE, Observer, OutputValue, RunOptions, RunReport, Runner,
    StageReport, Status,
};
pub use schema::file_schema;
pub use stage::{
    BuildContext, Complaint, Inputs, Kind, KindEntry, Port, Ports, Registry, Stage, StageContext, StageError, Weight,
};
pub use starters::{Starter, starters};
pub use testing::{Disappointment, TestReport, run_test};
pub use trace::Trace;
pub use value::{
    Answer, Citation, Document, Fact, Hit, Hits, IndexHandle, Item, Pack, Place, Query, Role, Share, Step, Turn, Type,
    UnknownType, Value, ValueError,
};
pub use variables::Environment;
