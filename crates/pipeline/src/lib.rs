//! A TOML file becomes a checked graph of typed stages, and a runner executes it.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod cancel;
mod diagnostic;
mod plan;
mod run;
mod stage;
mod stages;
mod value;

pub use cancel::Cancel;
pub use diagnostic::Span;
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
pub use value::{
    Answer, Citation, Document, Fact, Hit, Hits, IndexHandle, Item, Pack, Place, Query, Role, Share, Step, Turn, Type,
    UnknownType, Value, ValueError,
};
