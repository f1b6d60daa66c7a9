//! Exact token counts, and text that fits a token budget.
//!
//! A language model reads tokens, and its window is counted in them, so a budget that is kept in characters or words is
//! only a guess. [`TokenCounter`] counts exactly, in the encodings that OpenAI's models use; [`TokenCounter::cut_at`]
//! shortens a text to a number of tokens at a cost that depends on that number and not on the text; [`fit`] joins
//! items, best first, into one text that is never over its limit.
//!
//! ```
//! use hatir_budget::{CountTokens, Encoding, FitOptions, Item, TokenCounter, fit};
//!
//! let counter = TokenCounter::new(Encoding::Cl100kBase);
//! assert_eq!(counter.count("İade süremiz otuz gün."), 9);
//! assert_eq!(counter.cut_at("A refund takes thirty days.", 3), "A refund takes");
//!
//! let items = [
//!     Item::new("refunds.md:12", "A refund takes thirty days."),
//!     Item::new("refunds.md:40", "Damaged items are replaced, or refunded in full."),
//! ];
//! let fitted = fit(&items, 12, &counter, &FitOptions::default());
//! assert_eq!(fitted.text, "A refund takes thirty days.");
//! assert_eq!(fitted.tokens, 6);
//! assert_eq!(fitted.dropped, [1]);
//! ```
//!
//! Nothing here reads a file, the clock or the environment. The tables of an encoding (32 MB in memory for
//! `cl100k_base`, 65 MB for `o200k_base`) are built at its first use and shared by the whole process; making a counter
//! costs nothing.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod counter;
mod cut;
mod encoding;
mod error;
mod fit;
mod seam;

pub use crate::counter::{CountTokens, TokenCounter};
pub use crate::encoding::Encoding;
pub use crate::error::Error;
pub use crate::fit::{FitOptions, Fitted, Item, Kept, fit};
