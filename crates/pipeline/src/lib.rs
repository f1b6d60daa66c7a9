//! A TOML file becomes a checked graph of typed stages, and a runner executes it.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod batch;
mod batch_file;
mod cancel;
mod diagnostic;
mod dialog;
mod plan;
mod run;
mod stage;
mod stages;
mod testing;
mod trace;
mod value;

pub use batch::{BatchEnding, BatchError, BatchOptions, BatchReport, LONGEST_RECORD, Tally, run_batch};
pub use batch_file::{BatchFile, BatchFileError, Earlier, fingerprint_file, fingerprint_text};
pub use cancel::Cancel;
pub use diagnostic::Span;
pub use dialog::{Dialog, DialogTurn, Line};
pub use plan::{
    Binding, Check, Condition, ConditionTest, Expectation, Feed, InputSpec, OnError, Output, Plan, PlannedStage,
    Retries, TestCase,
};
pub use run::{
    BuildError, BuildFailure, BuildOptions, Ending, GRACE, Observer, OutputValue, RunOptions, RunReport, Runner,
    StageReport, Status,
};
pub use stage::{
    BuildContext, Complaint, Inputs, Kind, KindEntry, Port, Ports, Registry, Stage, StageContext, StageError, Weight,
};
pub use testing::{Disappointment, TestReport, run_test};
pub use trace::Trace;
pub use value::{
    Answer, Citation, Document, Fact, Hit, Hits, IndexHandle, Item, Pack, Place, Query, Role, Share, Step, Turn, Type,
    UnknownType, Value, ValueError,
};
