//! Ranks documents for a question by voices that explain themselves.
//!
//! An [`Index`] holds documents, on disk or in memory. Its lexical voice finds them by their words: folded in any
//! language, stemmed in English and Turkish, and names from code whole and in parts. Further voices ([`Voice`]) can
//! take part in a search; weighted reciprocal rank ([`fuse`]) makes one list of theirs. Every [`Hit`] says what each
//! voice and each field gave it, and an empty answer says why it is empty.
//!
//! ```
//! use hatir_rank::{Config, Document, Index, Query};
//!
//! let index = Index::in_memory(&Config::default())?;
//! index.replace_all([
//!     Document::new("en", "Refunds are paid within 14 days."),
//!     Document::new("tr", "İadeler 14 gün içinde ödenir."),
//! ])?;
//!
//! let ranking = index.search(&Query::new("when is my refund paid?"), 5)?;
//! assert_eq!(ranking.hits[0].id, "en");
//!
//! let ranking = index.search(&Query::new("IADE ne zaman?"), 5)?;
//! assert_eq!(ranking.hits[0].id, "tr");
//! # Ok::<(), hatir_rank::Error>(())
//! ```
//!
//! Queries are text, never a query language, and any text is accepted: it is read up to 64 KiB and up to 256
//! different content words. The crate never reads the clock or the environment, and starts no threads that outlive a
//! commit.

#![deny(missing_docs)]
#![deny(unsafe_code)]

mod analysis;
mod config;
mod conversation;
mod decay;
mod diversity;
mod document;
mod embed;
mod error;
mod filter;
mod fusion;
// For the crate's own benchmarks; no part of its interface.
#[doc(hidden)]
pub mod graph;
mod index;
mod intent;
mod lexical;
#[cfg(feature = "model")]
pub mod model;
mod query;
mod ranking;
mod search;
mod semantic;
pub mod temporal;
// For the crate's own benchmarks and examples; no part of its interface.
#[doc(hidden)]
pub mod vectors;
mod voice;

pub use config::{Config, Conversation, Diversity, EvidenceFusion, Fusion, Grading, Lexical};
pub use decay::{Kind, Weibull};
pub use document::{Document, Language, Link, Turn};
pub use embed::{Embedder, Evidence, ModelInfo, Vector};
#[cfg(feature = "onnx")]
pub use embed::{OnnxEmbedder, OnnxOptions, RuntimeSearch};
pub use error::{Error, Result};
pub use filter::Filter;
pub use fusion::{Fused, RANK_CONSTANT, RankedList, VoiceShare, Weights, fuse};
pub use index::{Backfill, Index};
pub use intent::{Intent, Multipliers};
pub use lexical::LexicalVoice;
pub use query::{Mode, Query, QueryTerm};
pub use ranking::{Explanation, Grade, Hit, Ranking, RuleShare, Silence, VoiceReport};
pub use voice::{Candidate, FieldShare, Heard, Scale, Voice};
