//! A voice proposes documents for a query, best first, or says why it is silent.

use crate::error::Result;
use crate::query::Query;

/// One way of ranking documents.
///
/// The lexical voice of this crate ([`Index::lexical`](crate::Index::lexical)) is one; implement the trait to add
/// another and hand it to [`Index::search_with`](crate::Index::search_with). A voice that has nothing to say is
/// [`Heard::Silent`], with a reason for people; an error fails the whole search.
///
/// ```
/// use hatir_rank::{Candidate, Document, Config, Heard, Index, Query, Result, Voice};
///
/// /// Ranks the newest page first, whatever is asked.
/// struct Newest;
///
/// impl Voice for Newest {
///     fn name(&self) -> &str {
///         "newest"
///     }
///
///     fn hear(&self, _query: &Query, _depth: usize) -> Result<Heard> {
///         Ok(Heard::ranked(vec![Candidate::new("b", 2026.0), Candidate::new("a", 2019.0)]))
///     }
/// }
///
/// let index = Index::in_memory(&Config::default())?;
/// index.replace_all([Document::new("a", "Old prices"), Document::new("b", "New opening hours")])?;
/// let ranking = index.search_with(&Query::new("prices"), 10, &[&Newest])?;
/// assert_eq!(ranking.hits[0].id, "a"); // both voices speak for it
/// assert_eq!(ranking.hits[0].explanation.voices.len(), 2);
/// # Ok::<(), hatir_rank::Error>(())
/// ```
pub trait Voice: Send + Sync {
    /// A short name, unique among the voices of one search; weights are looked up by it.
    fn name(&self) -> &str;

    /// At most `depth` documents for the query, best first.
    ///
    /// Ids that the index does not hold are left out of the fusion and counted in the voice's report.
    fn hear(&self, query: &Query, depth: usize) -> Result<Heard>;

    /// What its raw scores say beyond their order; nothing, unless a voice knows better.
    fn scale(&self) -> Scale {
        Scale::Unknown
    }
}

/// What a voice's raw scores say beyond their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scale {
    /// Nothing: only ranks count, and the document at rank r is worth 61 / (60 + r) of the first.
    Unknown,
    /// They are evidence from 0 (none) to 1 (all that one could wish for); what is outside is clipped.
    Unit,
}

/// What a voice answered.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Heard {
    /// Documents, best first; the position is the rank.
    Candidates(Vec<Candidate>),
    /// Nothing, and why, in words for a person.
    Silent(String),
}

impl Heard {
    /// Candidates sorted by raw score, highest first, ties by id; scores that are no finite number are dropped.
    ///
    /// An empty list is a silence ("found nothing").
    pub fn ranked(mut candidates: Vec<Candidate>) -> Self {
        candidates.retain(|candidate| candidate.score.is_finite());
        if candidates.is_empty() {
            return Self::silent("found nothing");
        }
        candidates.sort_by(|left, right| right.score.total_cmp(&left.score).then_with(|| left.id.cmp(&right.id)));
        Self::Candidates(candidates)
    }

    /// Silence with a reason.
    pub fn silent(reason: impl Into<String>) -> Self {
        Self::Silent(reason.into())
    }
}

/// A document that a voice proposes.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The document's id.
    pub id: String,
    /// The voice's own score, on its own scale; higher is better.
    pub score: f64,
    /// Where the score comes from, when the voice can tell; the parts add up to `score`.
    pub fields: Vec<FieldShare>,
}

impl Candidate {
    /// A candidate without parts.
    pub fn new(id: impl Into<String>, score: f64) -> Self {
        Self { id: id.into(), score, fields: Vec::new() }
    }
}

/// The part of a raw score that one searched field gave.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldShare {
    /// The field: for the lexical voice `english`, `turkish` or `other` (stems), `grams`, the same with `context_` for
    /// what was said before, and `coverage`.
    pub field: &'static str,
    /// Its part of the raw score.
    pub score: f64,
    /// The query's terms that matched there, as they stand in the index (folded, stemmed), in alphabetical order.
    pub terms: Vec<String>,
}
