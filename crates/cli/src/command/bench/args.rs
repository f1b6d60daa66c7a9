//! What can be typed after `hatir bench`.

use std::fmt;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::models::ModelsArgs;

/// The model that is used when none is named.
pub(crate) const DEFAULT_MODEL: &str = "multilingual-e5-small";

#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Search a corpus for questions with known answers: recall, MRR, nDCG, time
    Retrieve(Box<RetrieveArgs>),
    /// Ask questions that a corpus cannot answer: how many get an answer all the same, at a stated loss of true ones
    Silence(Box<SilenceArgs>),
    /// Write a retrieval set that is harder: mistyped, without diacritics, or in two languages
    Perturb(Box<PerturbArgs>),
}

#[derive(Debug, Args)]
pub(crate) struct SilenceArgs {
    #[command(flatten)]
    pub(crate) set: SetArgs,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    /// Queries of another set, which the corpus cannot answer; given several times, the figures are means over the files
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) foreign: Vec<PathBuf>,
    /// Leave out the queries of this category
    #[arg(long, value_name = "CATEGORY")]
    pub(crate) exclude_category: Vec<String>,
    /// Ask only the first N queries that have an answer, and the first N of each other file
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Write one JSON line per query to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// How to print the figures
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: FiguresFormat,
}

#[derive(Debug, Args)]
pub(crate) struct PerturbArgs {
    /// What is changed
    #[arg(long, value_enum)]
    pub(crate) kind: Perturbation,
    /// Documents; for `mixed` the same documents in each language, one file per language
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) corpus: Vec<PathBuf>,
    /// Queries
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) queries: PathBuf,
    /// Answers; for `mixed` they are kept by the language of the document that answers
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) qrels: PathBuf,
    /// The folder to write corpus.jsonl, queries.jsonl and qrels.tsv into; it is made, and must hold none of them
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// What chance goes by; the same number gives the same files
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Perturbation {
    /// One letter is dropped from each word of six letters or more in the queries
    Typo,
    /// Letters of the queries lose their marks: ığüşöç become igusoc
    NoDiacritics,
    /// Each document is kept in one of its languages, and queries ask across them
    Mixed,
}

#[derive(Debug, Args)]
pub(crate) struct RetrieveArgs {
    #[command(flatten)]
    pub(crate) set: SetArgs,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    /// Leave out the queries of this category
    #[arg(long, value_name = "CATEGORY")]
    pub(crate) exclude_category: Vec<String>,
    /// Take documents out of the ranking whose text a turn of the conversation has shown already
    #[arg(long)]
    pub(crate) exclude_shown: bool,
    /// Ask only the first N queries that have an answer
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// How many documents a ranking holds; figures that look deeper are left out
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = depth)]
    pub(crate) k: usize,
    /// Write one JSON line per query to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// How to print the figures
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: FiguresFormat,
}

/// The files of a retrieval set.
#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// Documents, one {"id", "text", "meta"} per line; several files make one store
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) corpus: Vec<PathBuf>,
    /// Queries, one {"id", "text", "lang", "group", "category", "raw", "turns"} per line
    #[arg(long, value_name = "FILE")]
    pub(crate) queries: PathBuf,
    /// Answers: a header line, then query-id, corpus-id and score between tabs
    #[arg(long, value_name = "FILE")]
    pub(crate) qrels: PathBuf,
    /// Give every value of this key (as meta.group) a store of its own; a query searches the store of its own value
    #[arg(long, value_name = "KEY")]
    pub(crate) group: Option<String>,
    /// Leave titles out: `meta.title` of documents and the `context` turns of conversations
    #[arg(long)]
    pub(crate) no_context: bool,
}

/// What is asked.
#[derive(Debug, Args)]
pub(crate) struct QueryArgs {
    /// Conversations by query id, one {"id", "turns", `follow_up`, "rewrite"} per line
    #[arg(long, value_name = "FILE")]
    pub(crate) conversations: Vec<PathBuf>,
    /// What is asked of each query
    #[arg(long, value_enum, default_value_t)]
    pub(crate) query_from: QueryFrom,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum QueryFrom {
    /// Its `text`, or the follow-up of its conversation when it has none
    #[default]
    Text,
    /// What was typed: its `raw`, or the follow-up of its conversation, or its `text`
    Raw,
    /// The last user turn before it, and what was typed
    #[value(name = "last+raw")]
    LastRaw,
    /// The rewrite that a person made
    Human,
    /// What the condenser makes of it
    Rewrite,
    /// The condenser's weighted terms
    Terms,
}

/// How the stores search.
#[derive(Debug, Args)]
pub(crate) struct EngineArgs {
    /// Which voices take part
    #[arg(long, value_enum, default_value_t)]
    pub(crate) mode: Mode,
    /// Only these of the mode's voices, between commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "VOICE")]
    pub(crate) voices: Vec<VoiceName>,
    /// Set a constant of the ranking, as rank.lexical.k1=1.5
    #[arg(long = "set", value_name = "rank.KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The model of the semantic voice: the name of one that is installed, or a folder; `none` for no semantic voice
    #[arg(long, value_name = "NAME", default_value = DEFAULT_MODEL)]
    pub(crate) model: String,
    #[command(flatten)]
    pub(crate) models: ModelsArgs,
    /// Keep the stores in this folder; a later run makes only the vectors that are not there yet
    #[arg(long, value_name = "DIR")]
    pub(crate) index: Option<PathBuf>,
    /// How many threads search, and make vectors; the times are those of one search each
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: u16,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// Lexical
    Keyword,
    /// Lexical and semantic
    Semantic,
    /// Lexical, semantic, temporal and graph
    #[default]
    Hybrid,
}

impl Mode {
    pub(crate) fn voices(self) -> &'static [VoiceName] {
        match self {
            Self::Keyword => &[VoiceName::Lexical],
            Self::Semantic => &[VoiceName::Lexical, VoiceName::Semantic],
            Self::Hybrid => &[VoiceName::Lexical, VoiceName::Semantic, VoiceName::Temporal, VoiceName::Graph],
        }
    }
}

impl From<Mode> for hatir_rank::Mode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Keyword => Self::Keyword,
            Mode::Semantic => Self::Semantic,
            Mode::Hybrid => Self::Hybrid,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum VoiceName {
    Lexical,
    Semantic,
    Temporal,
    Graph,
}

impl fmt::Display for VoiceName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Lexical => "lexical",
            Self::Semantic => "semantic",
            Self::Temporal => "temporal",
            Self::Graph => "graph",
        })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FiguresFormat {
    /// A table
    #[default]
    Text,
    /// One JSON document
    Json,
}

fn depth(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(depth @ 1..=1000) => Ok(depth),
        _ => Err("a whole number from 1 to 1000 is expected".to_owned()),
    }
}
