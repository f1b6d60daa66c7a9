//! A TOML file becomes a checked graph of typed stages, and a runner executes it.
//!
//! Three steps, each with a type of its own: [`compile`] reads a file and reports everything that is wrong with it, with
//! no I/O; [`Runner::build`] opens what the stages of a [`Plan`] need; [`Runner::run`] runs them, any number of times,
//! stages without an edge between them side by side. [`run_batch`] does so for the lines of a JSONL file, [`Dialog`] for
//! the turns of a conversation, [`run_test`] for the `[[test]]` tables of a file.
//!
//! ```
//! use std::sync::Arc;
//! use hatir_pipeline::{BuildOptions, Options, Registry, RunOptions, Runner, Source, compile};
//! use serde_json::json;
//!
//! let file = r#"
//! version = 1
//! [pipeline]
//! input  = { conversation = "conversation", question = "text" }
//! output = { query = "core", tokens = "tokens" }
//!
//! [stage.core]
//! use = "condense"
//! in.conversation = "$input.conversation"
//! in.question = "$input.question"
//!
//! [stage.tokens]
//! use = "budget.count"
//! in.text = "core"
//! "#;
//!
//! let compiled = compile(Source::new("example.toml", file), &Registry::standard(), &Options::default());
//! let plan = compiled.plan.ok_or_else(|| compiled.report.render(false))?;
//! let runner = Runner::build(Arc::new(plan), &BuildOptions::default())?;
//!
//! let given = [
//!     ("conversation".to_owned(), json!([{ "role": "user", "text": "What does Silver cost?" }])),
//!     ("question".to_owned(), json!("What about Gold?")),
//! ];
//! let inputs = runner.read_inputs(given.into_iter().collect(), false).map_err(|problems| problems.join("; "))?;
//! let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! let report = runtime.block_on(runner.run(&inputs, &RunOptions::default()));
//!
//! let output = report.output.expect("nothing here can fail").to_json();
//! assert!(output["query"]["text"].as_str().unwrap_or_default().contains("Gold"));
//! assert!(output["tokens"].as_u64() > Some(2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The file is described in `docs/pipeline.md`. A stage kind of one's own implements [`Kind`] and [`Stage`] and is
//! registered with [`Registry::register`]; `examples/custom_stage.rs` shows a whole one. Nothing here prints, exits, or
//! reads the clock; the environment is handed in, except for the three variables that a child of `exec` inherits.

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
mod wire;
mod wiring;

pub use batch::{BatchEnding, BatchError, BatchOptions, BatchReport, LONGEST_RECORD, MOST_JOBS, Tally, run_batch};
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
pub use value::{IndexHandle, Type, UnknownType, Value, ValueError};
pub use variables::Environment;
pub use wire::{Answer, Citation, Document, Fact, Hit, Hits, Item, Pack, Place, Query, Role, Share, Step, Turn};
