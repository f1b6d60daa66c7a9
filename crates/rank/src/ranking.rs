//! The answer: hits that explain themselves, and the silences.

use crate::document::Document;
use crate::fusion::VoiceShare;

/// What a search found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ranking {
    /// The documents, best first, ties by id; at most the `k` asked for.
    pub hits: Vec<Hit>,
    /// The voices that had nothing to say, and why. When `hits` is empty, every voice is here.
    pub silent_because: Vec<Silence>,
    /// Every voice that was asked, in the order asked, the lexical one first.
    pub voices: Vec<VoiceReport>,
}

/// A document found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The document's id.
    pub id: String,
    /// The fused score: the sum of the contributions, comparable within one ranking only.
    pub score: f64,
    /// The document as it was indexed.
    pub document: Document,
    /// Where the score comes from.
    pub explanation: Explanation,
}

/// Where a hit's score comes from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Explanation {
    /// What each voice gave; the contributions add up to the hit's score.
    pub voices: Vec<VoiceShare>,
}

/// A voice that had nothing to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Silence {
    /// The voice's name.
    pub voice: String,
    /// Why, in words for a person.
    pub reason: String,
}

/// How one voice took part in a search.
#[derive(Debug, Clone, PartialEq)]
pub struct VoiceReport {
    /// The voice's name.
    pub voice: String,
    /// The weight of its ranks.
    pub weight: f64,
    /// How many documents it proposed and the index holds; at most the depth asked for.
    pub candidates: usize,
    /// How many of its proposals the index does not hold (deleted, or never there).
    pub unknown: usize,
    /// Whether it was silent; the reason stands in [`Ranking::silent_because`].
    pub silent: bool,
}
