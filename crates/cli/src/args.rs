//! What can be typed after `hatir`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// A memory that coding agents can trust, and a context window that stays small.
///
/// Exit codes: 0 fine; 1 the work or a test failed; 2 the file or the arguments are wrong; 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "hatir", version, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a pipeline: once, over a JSONL file, or through a dialog
    Run(Box<RunArgs>),
    /// Check pipeline files and report every problem at once
    Check(CheckArgs),
    /// Run the [[test]] tables of pipeline files
    Test(TestArgs),
    /// Draw a pipeline
    Graph(GraphArgs),
    /// Show what a pipeline will do, or what an error code means
    Explain(ExplainArgs),
    /// Print the JSON Schema of pipeline files, for editors
    Schema(SchemaArgs),
    /// List the stage kinds, or describe one
    Stages(StagesArgs),
    /// Write a starter pipeline
    New(NewArgs),
    /// Measure searching on files of questions with known answers
    #[command(subcommand)]
    Bench(crate::command::bench::BenchCommand),
    /// Install, check and remove the models of the semantic voice
    #[command(subcommand)]
    Model(crate::command::model::ModelCommand),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// A file with what is laid over it.
#[derive(Debug, Args)]
pub(crate) struct FileArgs {
    /// The pipeline file
    pub(crate) file: PathBuf,
    /// Replace a value of the file, as stage.found.with.top-k=5
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON document
    Json,
    /// One JSON document per line
    Jsonl,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) file: FileArgs,
    /// An input of the pipeline. NAME=@FILE reads a file, NAME=- reads standard input, and - alone takes an object of all inputs from standard input
    #[arg(short, long = "input", value_name = "NAME=VALUE")]
    pub(crate) inputs: Vec<String>,
    /// Stop after this stage and print its value
    #[arg(long, value_name = "STAGE")]
    pub(crate) until: Option<String>,
    /// Run everything but the stages that write or start something
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print on standard error how long each stage took
    #[arg(long, conflicts_with = "batch")]
    pub(crate) timings: bool,
    /// Write one JSON line per stage to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// Let the pipeline start the programs that it names
    #[arg(long)]
    pub(crate) trust: bool,
    /// The moment of the run (RFC 3339), instead of now
    #[arg(long, value_name = "TIME")]
    pub(crate) now: Option<String>,
    /// Carry the pipeline through the questions of this JSONL file, turn by turn
    #[arg(long, value_name = "FILE", conflicts_with_all = ["inputs", "batch", "until"])]
    pub(crate) dialog: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) batch: BatchArgs,
}

#[derive(Debug, Args)]
pub(crate) struct BatchArgs {
    /// Run once for each line of this JSONL file (- for standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "inputs", help_heading = "Batch")]
    pub(crate) batch: Option<PathBuf>,
    /// Write the results to this file instead of standard output
    #[arg(long, value_name = "FILE", requires = "batch", help_heading = "Batch")]
    pub(crate) out: Option<PathBuf>,
    /// How many records to work on at once (default: the number of processors)
    #[arg(
        long,
        value_name = "N",
        requires = "batch",
        default_value_t = 0,
        hide_default_value = true,
        value_parser = clap::value_parser!(u16).range(0..=1024),
        help_heading = "Batch"
    )]
    pub(crate) jobs: u16,
    /// Go on with the unfinished result of an earlier run
    #[arg(long, requires = "out", help_heading = "Batch")]
    pub(crate) resume: bool,
    /// Throw the unfinished result of an earlier run away
    #[arg(long, requires = "out", conflicts_with = "resume", help_heading = "Batch")]
    pub(crate) restart: bool,
    /// Stop at the first record that fails
    #[arg(long, requires = "batch", help_heading = "Batch")]
    pub(crate) fail_fast: bool,
    /// Print the mean of every number in the results on standard output
    #[arg(long, requires = "out", help_heading = "Batch")]
    pub(crate) summary: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The pipeline files
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Replace a value of each file, as stage.found.with.top-k=5
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Open what the stages need as well: files, stores, indexes
    #[arg(long)]
    pub(crate) open: bool,
    /// With --open: let programs be looked up that the pipeline would start
    #[arg(long, requires = "open")]
    pub(crate) trust: bool,
    /// How to print problems
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// The pipeline files
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Run only the tests whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Option<String>,
    /// How to print the results
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// A drawing for the terminal
    #[default]
    Text,
    /// For Markdown
    Mermaid,
    /// For Graphviz
    Dot,
    /// Nodes and edges
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    pub(crate) file: FileArgs,
    /// The form of the drawing
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: GraphFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The pipeline file
    #[arg(required_unless_present = "code", conflicts_with = "code")]
    pub(crate) file: Option<PathBuf>,
    /// Replace a value of the file, as stage.found.with.top-k=5
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "file")]
    pub(crate) set: Vec<String>,
    /// Print the page about this code, as E0012; `all` lists the codes
    #[arg(long, value_name = "CODE")]
    pub(crate) code: Option<String>,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Print the schema of this stage kind's `with` table only
    pub(crate) kind: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct StagesArgs {
    /// Describe this kind
    pub(crate) kind: Option<String>,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// The file to write; it must not exist
    #[arg(required_unless_present = "list")]
    pub(crate) file: Option<PathBuf>,
    /// What to start from
    #[arg(long, default_value = "minimal", value_name = "NAME")]
    pub(crate) starter: String,
    /// List the starters
    #[arg(long)]
    pub(crate) list: bool,
}
