//! Facts over time in SQLite: recorded, superseded, read back as of any moment.
//!
//! A [`Store`] is one file that threads and processes share. It keeps two time lines apart: *when something was true*
//! (`valid_from`, `valid_until`) and *when we learned it* (`recorded_at`, `superseded_at`). Nothing is edited in place:
//! a fact that no longer holds is superseded, and any past moment can be asked for on either line.
//!
//! ```
//! use hatir_memory::{FactQuery, Moment, NewFact, Store};
//!
//! let store = Store::open_in_memory()?;
//! let (march, june) = (Moment::from_micros(1_772_366_400_000_000), Moment::from_micros(1_780_315_200_000_000));
//!
//! let old = store.record(NewFact::new("shop", "refunds", "Refunds take 14 days."), march)?.fact;
//! let new = store.supersede(&old.id, NewFact::new("shop", "refunds", "Refunds take 30 days."), june)?;
//!
//! // What holds now, and what we thought in March.
//! assert_eq!(store.facts(&FactQuery::default(), june)?, [new]);
//! let in_march = FactQuery { as_of: Some(march), known_at: Some(march), ..FactQuery::default() };
//! assert_eq!(store.facts(&in_march, june)?, [old]);
//! # Ok::<(), hatir_memory::Error>(())
//! ```
//!
//! The crate reads neither the clock nor the environment: every call that depends on the time takes it as an argument,
//! and the same calls at the same moments make the same store. Every change has a position in an append-only log
//! ([`Store::changes`]), by which whoever derives an index from the store can follow it.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod check;
mod error;
mod fact;
mod hash;
mod id;
mod moment;
mod open;
mod read;
mod statement;
mod store;

pub use crate::check::{MAX_CONTENT_BYTES, MAX_NAME_BYTES};
pub use crate::error::Error;
pub use crate::fact::{Change, ChangeKind, Fact, FactQuery, NewFact, Outcome, Recorded, Veracity};
pub use crate::id::FactId;
pub use crate::moment::Moment;
pub use crate::open::OpenOptions;
pub use crate::store::Store;
