//! Turns a follow-up into a stand-alone query, by rules that explain themselves. English and Turkish.
//!
//! People ask in the middle of a conversation: "What about damaged items?", "How long does that take?". A search engine
//! that is handed such a text finds nothing, or worse, something. [`Condenser::condense`] looks the missing part up in
//! the history and puts it in, or leaves the text alone when nothing is missing.
//!
//! The rules are a ladder: no history; small talk and instructions; an ellipsis; a pointing word; a question that names
//! no topic; otherwise hands off. Topics are found in the conversation by the form of its sentences; the crate knows no
//! subject matter. It reads no files and no clock, and takes microseconds: the same input gives the same bytes.
//!
//! ```
//! use hatir_condense::{Condenser, Conversation, Options, Rule, Turn};
//!
//! let history = Conversation::from(vec![
//!     Turn::user("How long does the warranty on the coffee grinder last?"),
//!     Turn::assistant("It lasts two years from delivery."),
//! ]);
//! let condensed = Condenser::new().condense(&history, "Does it cover water damage?", &Options::default());
//! assert_eq!(condensed.query, "does the warranty cover water damage");
//! assert_eq!(condensed.rule, Rule::Coreference);
//! assert_eq!(condensed.note, "resolved 'it' -> warranty");
//!
//! // A follow-up that stands by itself comes back byte for byte.
//! let condensed = Condenser::new().condense(&history, "And is there a mobile app?", &Options::default());
//! assert_eq!(condensed.query, "And is there a mobile app?");
//! ```

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod condensed;
mod condenser;
mod conversation;
mod draft;
mod english;
mod language;
mod lexicon;
mod options;
mod token;
mod turkish;
mod window;

pub use condensed::{Condensed, Rule, Step};
pub use condenser::{CONNECTING_WORDS, Condenser};
pub use conversation::{Conversation, Role, Turn};
pub use options::{Connector, Language, Options};
