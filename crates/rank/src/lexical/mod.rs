//! The lexical voice: stems, character grams and coverage, each against the best that the query could score.

mod scoring;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use scoring::{Found, Scoring, brevity};

use crate::analysis::query_terms;
use crate::config::Lexical;
use crate::error::{Error, Result};
use crate::index::Snapshot;
use crate::query::Query;
use crate::voice::{Candidate, Heard, Scale, Voice};

/// Ranks documents by the words they share with the query.
///
/// The raw score is `0.5 · stems + 0.5 · grams + 0.1 · coverage` ([`Lexical`]), from 0 to 1.1:
///
/// - *stems* is BM25 over the stems of the document's language (folded words where it has none of ours), divided by the
///   best that the query could score, which is the sum of its terms' weights: over the query's terms, `weight in the
///   query · idf · tf / (tf + k1 · (1 − b + b · length / mean length))` divided by `weight in the query · idf`, where
///   `idf = ln(1 + (N − n + ½) / (n + ½))`, N is the number of documents in that language and n of those that hold the
///   term (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, without the constant
///   factor k1 + 1). A term that no document holds counts in the divisor with the largest idf, so that a query whose
///   words are unknown finds little;
/// - *grams* is the same over the 4-grams of all words;
/// - *coverage* is the share of the query's stems that the document holds, weighed by idf.
///
/// A document that shares no stem with the query is found only when it holds enough of its grams ([`Lexical::floor`]).
///
/// Only live documents are counted, so equal sets of documents give equal scores, however they came in. Its name is
/// `lexical`.
///
/// Cost: it visits the documents that hold the query's rarer terms, and looks the commoner ones up in those that can
/// still be among the best.
pub struct LexicalVoice {
    snapshot: Arc<Snapshot>,
    settings: Lexical,
    folder: PathBuf,
}

impl std::fmt::Debug for LexicalVoice {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LexicalVoice").field("documents", &self.snapshot.documents).finish_non_exhaustive()
    }
}

impl LexicalVoice {
    pub(crate) fn new(snapshot: Arc<Snapshot>, settings: &Lexical, folder: &Path) -> Self {
        Self { snapshot, settings: settings.clone(), folder: folder.to_path_buf() }
    }

    fn best(&self, scoring: &Scoring<'_>, depth: usize) -> tantivy::Result<Vec<Candidate>> {
        let mut candidates = Vec::new();
        for found in above_floor(scoring, scoring.best(depth, None)?, &self.settings)? {
            let fields = scoring.shares(found.doc)?;
            candidates.push(Candidate { id: self.snapshot.id_of(found.doc)?, score: f64::from(found.score), fields });
        }
        Ok(candidates)
    }
}

impl Voice for LexicalVoice {
    fn name(&self) -> &'static str {
        "lexical"
    }

    fn hear(&self, query: &Query, depth: usize) -> Result<Heard> {
        let terms = match query_terms(query) {
            _ if self.snapshot.documents == 0 => return Ok(Heard::silent("the index holds no document")),
            _ if depth == 0 => return Ok(Heard::silent("no document was asked for")),
            Ok(terms) => terms,
            Err(reason) => return Ok(Heard::silent(reason)),
        };
        let failed = |error| Error::engine(&self.folder, error);
        let scoring = Scoring::new(&self.snapshot, &self.settings, &terms).map_err(failed)?;
        let found = self.best(&scoring, depth).map_err(failed)?;
        if found.is_empty() {
            return Ok(Heard::silent(NOTHING_SHARED));
        }
        Ok(Heard::ranked(found))
    }

    fn scale(&self) -> Scale {
        Scale::Unit
    }
}

/// Without the documents that share nothing but a few pieces of words with the query.
pub(crate) fn above_floor(
    scoring: &Scoring<'_>,
    mut found: Vec<Found>,
    settings: &Lexical,
) -> tantivy::Result<Vec<Found>> {
    let docs: Vec<_> = found.iter().map(|found| found.doc).collect();
    let mut coverage = scoring.coverage(&docs)?.into_iter();
    found.retain(|_| coverage.next().is_some_and(|coverage| coverage.shares_words(settings)));
    Ok(found)
}

/// What the voice says when it found nothing.
pub(crate) const NOTHING_SHARED: &str = "no document holds any of the query's words";
