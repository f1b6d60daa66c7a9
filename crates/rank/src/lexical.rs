//! The lexical voice: BM25 over several fields.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::postings::{Postings, SegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, TERMINATED, Term};

use crate::analysis::{FieldKind, QueryTerms, query_terms};
use crate::config::Lexical;
use crate::error::{Error, Result};
use crate::index::{SegmentView, Snapshot};
use crate::query::Query;
use crate::voice::{Candidate, FieldShare, Heard, Voice};

/// Ranks documents by the words they share with the query.
///
/// The raw score is the sum over the fields `neutral`, `english`, `turkish` and `identifiers` of the field's boost
/// times BM25: over the query's terms, `occurrences in the query · ln(1 + (N − n + ½) / (n + ½)) · tf / (tf + k1 ·
/// (1 − b + b · length / mean length))`, where N is the number of documents and n of those that hold the term in that
/// field (Robertson and Zaragoza, 2009, without the constant factor k1 + 1). Only live documents are counted, so
/// equal sets of documents give equal scores, however they came in. Its name is `lexical`.
///
/// Cost: it visits every document that holds a term of the query.
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

impl Voice for LexicalVoice {
    fn name(&self) -> &'static str {
        "lexical"
    }

    fn hear(&self, query: &Query, depth: usize) -> Result<Heard> {
        if self.snapshot.documents == 0 {
            return Ok(Heard::silent("the index holds no document"));
        }
        let terms = match query_terms(query) {
            Ok(terms) => terms,
            Err(reason) => return Ok(Heard::silent(reason)),
        };
        if depth == 0 {
            return Ok(Heard::silent("no document was asked for"));
        }
        let found = self.best(&terms, depth).map_err(|error| Error::engine(&self.folder, error))?;
        if found.is_empty() {
            return Ok(Heard::silent("no document holds any of the query's words"));
        }
        Ok(Heard::ranked(found))
    }
}

/// A term that the index holds, and what it weighs.
struct WeightedTerm<'q> {
    field: FieldKind,
    text: &'q str,
    /// Boost · occurrences in the query · inverse document frequency.
    weight: f64,
    /// Where its documents stand, by segment.
    postings: Vec<Option<TermInfo>>,
}

/// A document among the best of its segment.
struct Scored {
    segment: usize,
    document: DocId,
    score: f64,
}

impl LexicalVoice {
    pub(crate) fn new(snapshot: Arc<Snapshot>, settings: &Lexical, folder: &Path) -> Self {
        Self { snapshot, settings: settings.clone(), folder: folder.to_path_buf() }
    }

    fn best(&self, terms: &QueryTerms, depth: usize) -> tantivy::Result<Vec<Candidate>> {
        let weighted = self.weigh(terms)?;
        let mut best = Vec::new();
        for (segment, view) in self.snapshot.segments.iter().enumerate() {
            let scores = self.scores(&weighted, segment, view)?;
            best.extend(best_of_segment(scores, segment, view, depth));
        }
        // Ids are read only for what can still win: everything at or above the score of the last place.
        best.sort_by(|left, right| right.score.total_cmp(&left.score));
        if let Some(last) = best.get(depth - 1).map(|scored| scored.score) {
            best.retain(|scored| scored.score >= last);
        }
        let mut named = Vec::with_capacity(best.len());
        for scored in best {
            named.push((self.snapshot.segments[scored.segment].id_of(scored.document)?, scored));
        }
        named.sort_by(|(id, scored), (other_id, other)| {
            other.score.total_cmp(&scored.score).then_with(|| id.cmp(other_id))
        });
        named.truncate(depth);
        named
            .into_iter()
            .map(|(id, scored)| {
                let fields = self.shares(&weighted, &scored)?;
                Ok(Candidate { id, score: scored.score, fields })
            })
            .collect()
    }

    /// Looks the terms up, in the order in which their scores are added.
    fn weigh<'q>(&self, terms: &'q QueryTerms) -> tantivy::Result<Vec<WeightedTerm<'q>>> {
        let mut weighted = Vec::new();
        for kind in FieldKind::ALL {
            let boost = self.boost(kind);
            if boost <= 0.0 || self.snapshot.average_length[kind as usize] <= 0.0 {
                continue;
            }
            for (text, occurrences) in &terms[kind as usize] {
                let term = Term::from_field_text(self.snapshot.fields.searched[kind as usize], text);
                let mut holders = 0;
                let mut postings = Vec::with_capacity(self.snapshot.segments.len());
                for view in &self.snapshot.segments {
                    let index = &view.searched[kind as usize].terms;
                    let info = index.get_term_info(&term)?;
                    if let Some(info) = &info {
                        holders += match view.reader.alive_bitset() {
                            Some(alive) => u64::from(
                                index
                                    .read_postings_from_terminfo(info, IndexRecordOption::Basic)?
                                    .doc_freq_given_deletes(alive),
                            ),
                            None => u64::from(info.doc_freq),
                        };
                    }
                    postings.push(info);
                }
                if holders > 0 {
                    let weight = boost * f64::from(*occurrences) * self.rarity(holders);
                    weighted.push(WeightedTerm { field: kind, text, weight, postings });
                }
            }
        }
        Ok(weighted)
    }

    fn boost(&self, kind: FieldKind) -> f64 {
        match kind {
            FieldKind::Neutral => self.settings.neutral,
            FieldKind::English => self.settings.english,
            FieldKind::Turkish => self.settings.turkish,
            FieldKind::Identifiers => self.settings.identifiers,
        }
    }

    /// The inverse document frequency of a term that `holders` documents hold; above 0.
    fn rarity(&self, holders: u64) -> f64 {
        let (all, holders) = (self.snapshot.documents as f64, holders as f64);
        ((all - holders + 0.5) / (holders + 0.5)).ln_1p()
    }

    /// The score of every live document of a segment that holds a term, in no order.
    fn scores(
        &self,
        weighted: &[WeightedTerm<'_>],
        segment: usize,
        view: &SegmentView,
    ) -> tantivy::Result<Vec<(DocId, f64)>> {
        let mut sums = vec![0.0_f64; view.reader.max_doc() as usize];
        let mut touched = Vec::new();
        for term in weighted {
            let Some(mut postings) = postings(term, segment, view)? else { continue };
            let saturation = self.saturation(term.field);
            let lengths = &view.searched[term.field as usize].lengths;
            let mut document = postings.doc();
            while document != TERMINATED {
                if !view.reader.is_deleted(document) {
                    let sum = &mut sums[document as usize];
                    if *sum == 0.0 {
                        touched.push(document);
                    }
                    *sum += term.weight * saturation.part(postings.term_freq(), lengths.fieldnorm_id(document));
                }
                document = postings.advance();
            }
        }
        Ok(touched.into_iter().map(|document| (document, sums[document as usize])).collect())
    }

    /// Takes a score apart again, by field, with the terms that matched.
    fn shares(&self, weighted: &[WeightedTerm<'_>], scored: &Scored) -> tantivy::Result<Vec<FieldShare>> {
        let view = &self.snapshot.segments[scored.segment];
        let mut shares: Vec<FieldShare> = Vec::new();
        for term in weighted {
            let Some(mut postings) = postings(term, scored.segment, view)? else { continue };
            if postings.doc() < scored.document {
                postings.seek(scored.document);
            }
            if postings.doc() != scored.document {
                continue;
            }
            let length = view.searched[term.field as usize].lengths.fieldnorm_id(scored.document);
            let part = term.weight * self.saturation(term.field).part(postings.term_freq(), length);
            let field = term.field.name();
            match shares.last_mut().filter(|share| share.field == field) {
                Some(share) => {
                    share.score += part;
                    share.terms.push(term.text.to_owned());
                }
                None => shares.push(FieldShare { field, score: part, terms: vec![term.text.to_owned()] }),
            }
        }
        Ok(shares)
    }

    fn saturation(&self, kind: FieldKind) -> Saturation {
        Saturation {
            k1: self.settings.k1,
            b: self.settings.b,
            average_length: self.snapshot.average_length[kind as usize],
        }
    }
}

fn postings(term: &WeightedTerm<'_>, segment: usize, view: &SegmentView) -> tantivy::Result<Option<SegmentPostings>> {
    let Some(info) = &term.postings[segment] else { return Ok(None) };
    let index = &view.searched[term.field as usize].terms;
    Ok(Some(index.read_postings_from_terminfo(info, IndexRecordOption::WithFreqs)?))
}

/// How repetition and length bend a term's weight.
struct Saturation {
    k1: f64,
    b: f64,
    average_length: f64,
}

impl Saturation {
    /// From 0 to 1; lengths come as the engine keeps them, rounded down above 40 terms.
    fn part(&self, frequency: u32, length_code: u8) -> f64 {
        let frequency = f64::from(frequency);
        let length = f64::from(tantivy::fieldnorm::FieldNormReader::id_to_fieldnorm(length_code));
        frequency / (frequency + self.k1 * (1.0 - self.b + self.b * length / self.average_length))
    }
}

/// The best `depth` of a segment, ties by id.
fn best_of_segment(mut scores: Vec<(DocId, f64)>, segment: usize, view: &SegmentView, depth: usize) -> Vec<Scored> {
    let order = |left: &(DocId, f64), right: &(DocId, f64)| -> Ordering {
        right.1.total_cmp(&left.1).then_with(|| view.id_order(left.0).cmp(&view.id_order(right.0)))
    };
    if scores.len() > depth {
        scores.select_nth_unstable_by(depth - 1, order);
        scores.truncate(depth);
    }
    scores.into_iter().map(|(document, score)| Scored { segment, document, score }).collect()
}
