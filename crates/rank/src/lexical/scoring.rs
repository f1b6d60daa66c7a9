//! Scores of documents for the terms of a query.

use std::cmp::Ordering;

use tantivy::postings::{Postings, SegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, TERMINATED, Term};

use crate::analysis::{FieldKind, QueryTerms};
use crate::config::Lexical;
use crate::index::{Doc, SegmentView, Snapshot};
use crate::voice::FieldShare;

/// The documents that a search may return, by number; `None` stands for all live ones.
pub(crate) type Allowed<'a> = Option<&'a crate::filter::Selection>;

/// The terms of a query that the index holds, with what each is worth.
pub(crate) struct Scoring<'s> {
    snapshot: &'s Snapshot,
    /// In the order in which scores are added up: the term that can give most first.
    terms: Vec<WeightedTerm>,
    /// For each term, what it and all behind it can give together.
    rest: Vec<f32>,
    saturation: [Saturation; crate::analysis::FIELDS],
    context: f32,
    /// What the query can tell of itself.
    pub(crate) query: Strength,
}

/// How much of the query the index knows at all.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Strength {
    /// The share of the query's stems that some document holds, in the language that knows most of them.
    pub(crate) known: f64,
    /// How many different stems the query has.
    pub(crate) stems: usize,
}

/// How much of a query a document holds, each share from 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Coverage {
    /// Of its stems, weighed by rarity.
    pub(crate) stems: f64,
    /// Of its grams, by number.
    pub(crate) grams: f64,
}

impl Coverage {
    /// Whether the document shares a word with the query, or enough pieces of words for a mistyped one.
    pub(crate) fn shares_words(self, settings: &Lexical) -> bool {
        self.stems > 0.0 || self.grams >= settings.floor
    }
}

/// A term, and what it weighs.
struct WeightedTerm {
    field: FieldKind,
    text: String,
    /// What it gives where its saturation is 1.
    weight: f32,
    /// What its mere presence gives.
    presence: f32,
    /// Its share of the query's stems, by rarity, or of its grams, by number; 0 for a context's.
    share: f64,
    /// Where its documents stand, by segment.
    postings: Vec<Option<TermInfo>>,
    /// How many documents of all segments hold it, deleted ones counted.
    entries: u64,
}

/// A document and its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Found {
    pub(crate) doc: Doc,
    pub(crate) score: f32,
}

/// The score of every document of a snapshot, by number; 0 where nothing matched.
pub(crate) struct AllScores {
    pub(crate) scores: Vec<f32>,
}

impl<'s> Scoring<'s> {
    /// Looks the terms up.
    pub(crate) fn new(snapshot: &'s Snapshot, settings: &Lexical, terms: &QueryTerms) -> tantivy::Result<Self> {
        let saturation = std::array::from_fn(|at| Saturation::new(settings, snapshot.average_length[at]));
        let mut scoring = Self {
            snapshot,
            terms: Vec::new(),
            rest: Vec::new(),
            saturation,
            context: settings.context as f32,
            query: Strength::default(),
        };
        for field in FieldKind::ALL {
            if snapshot.holders[field as usize] > 0 && (!field.is_context() || settings.context > 0.0) {
                scoring.weigh(field, settings, terms)?;
            }
        }
        scoring.terms.sort_by(|left, right| {
            let order = right.most().total_cmp(&left.most());
            order.then_with(|| left.field.cmp(&right.field)).then_with(|| left.text.cmp(&right.text))
        });
        let mut rest = 0.0;
        scoring.rest = scoring
            .terms
            .iter()
            .rev()
            .map(|term| {
                rest += term.most();
                rest
            })
            .collect();
        scoring.rest.reverse();
        Ok(scoring)
    }

    fn weigh(&mut self, field: FieldKind, settings: &Lexical, terms: &QueryTerms) -> tantivy::Result<()> {
        let holders_of_field = self.snapshot.holders[field as usize];
        let group = &terms.groups[field.group()];
        let share = if field.is_grams() { settings.grams } else { settings.stems };
        let first = self.terms.len();
        let (mut best, mut all, mut known) = (0.0, 0.0, 0_usize);
        let mut rarities = Vec::with_capacity(group.len());
        for (text, weight) in group {
            let (postings, entries, holders) = self.look_up(field, text)?;
            let rarity = rarity(holders_of_field, holders);
            best += weight * rarity;
            all += rarity;
            if holders > 0 {
                known += 1;
                rarities.push((weight * rarity, rarity));
                let text = text.clone();
                self.terms.push(WeightedTerm {
                    field,
                    text,
                    weight: 0.0,
                    presence: 0.0,
                    share: 0.0,
                    postings,
                    entries,
                });
            }
        }
        if best <= 0.0 {
            return Ok(());
        }
        let coverage = if field.is_grams() || field.is_context() { 0.0 } else { settings.coverage };
        for (term, (weighted, rarity)) in self.terms[first..].iter_mut().zip(rarities) {
            term.weight = (share * weighted / best) as f32;
            term.presence = (coverage * rarity / all) as f32;
            term.share = match (field.is_context(), field.is_grams()) {
                (true, _) => 0.0,
                (_, true) => 1.0 / group.len() as f64,
                _ => rarity / all,
            };
        }
        if !field.is_grams() && !field.is_context() {
            let share = known as f64 / group.len() as f64;
            self.query.known = self.query.known.max(share);
            self.query.stems = self.query.stems.max(group.len());
        }
        Ok(())
    }

    /// Where the documents of a term stand, how many entries that are, and how many of them live.
    fn look_up(&self, field: FieldKind, text: &str) -> tantivy::Result<(Vec<Option<TermInfo>>, u64, u64)> {
        let term = Term::from_field_text(self.snapshot.fields.searched[field as usize], text);
        let (mut entries, mut holders) = (0, 0);
        let mut postings = Vec::with_capacity(self.snapshot.segments.len());
        for view in &self.snapshot.segments {
            let index = &view.searched[field as usize].terms;
            let info = index.get_term_info(&term)?;
            if let Some(info) = &info {
                entries += u64::from(info.doc_freq);
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
        Ok((postings, entries, holders))
    }

    /// The best documents, best first, ties by id; none without a shared term.
    pub(crate) fn best(&self, depth: usize, allowed: Allowed<'_>) -> tantivy::Result<Vec<Found>> {
        let mut best: Vec<(usize, DocId, f32)> = Vec::new();
        for (segment, view) in self.snapshot.segments.iter().enumerate() {
            let scores = match allowed.and_then(|selection| selection.few_in(view)) {
                Some(few) => self.scores_of(segment, &few)?,
                None => self.pruned_scores(segment, depth, allowed)?,
            };
            best.extend(best_of_segment(scores, segment, view, depth));
        }
        // Ids are read only for what can still win: everything at or above the score of the last place.
        best.sort_by(|left, right| right.2.total_cmp(&left.2));
        if let Some(last) = best.get(depth.saturating_sub(1)).map(|scored| scored.2) {
            best.retain(|scored| scored.2 >= last);
        }
        let mut named = Vec::with_capacity(best.len());
        for (segment, document, score) in best {
            let view = &self.snapshot.segments[segment];
            named.push((view.id_of(document)?, Found { doc: view.first + document, score }));
        }
        named.sort_by(|(id, found), (other_id, other)| {
            other.score.total_cmp(&found.score).then_with(|| id.cmp(other_id))
        });
        named.truncate(depth);
        Ok(named.into_iter().map(|(_, found)| found).collect())
    }

    /// The score of every document.
    pub(crate) fn all(&self, allowed: Allowed<'_>) -> tantivy::Result<AllScores> {
        let mut scores = vec![0.0; self.snapshot.numbers as usize];
        for (segment, view) in self.snapshot.segments.iter().enumerate() {
            let mut sums = Sums::new(view);
            for term in &self.terms {
                self.add(term, segment, view, allowed, &mut sums)?;
            }
            for document in 0..view.reader.max_doc() {
                scores[(view.first + document) as usize] = self.total(view, document, &sums);
            }
        }
        Ok(AllScores { scores })
    }

    /// The scores of some documents, in their order; 0 where nothing matched.
    pub(crate) fn of(&self, docs: &[Doc]) -> tantivy::Result<Vec<f32>> {
        let mut order: Vec<usize> = (0..docs.len()).collect();
        order.sort_by_key(|at| docs[*at]);
        let mut scores = vec![0.0; docs.len()];
        let mut at = 0;
        while at < order.len() {
            let (segment, _) = self.snapshot.place(docs[order[at]]);
            let view = &self.snapshot.segments[segment];
            let end = view.first + view.reader.max_doc();
            let here = order[at..].iter().take_while(|place| docs[**place] < end).count();
            let few: Vec<DocId> = order[at..at + here].iter().map(|place| docs[*place] - view.first).collect();
            for (place, score) in order[at..at + here].iter().zip(self.sums_of(segment, &few)?) {
                scores[*place] = score;
            }
            at += here;
        }
        Ok(scores)
    }

    /// The scores of a segment's documents that can be among its best `depth`.
    ///
    /// Terms come in the order of what they can give. Once those that are left cannot lift a document from nothing, or
    /// from where it stands, to the score that `depth` documents have already, they are only looked up in the
    /// documents that they can (after Turtle and Flood, "Query Evaluation: Strategies and Optimizations", 1995).
    fn pruned_scores(&self, segment: usize, depth: usize, allowed: Allowed<'_>) -> tantivy::Result<Vec<(DocId, f32)>> {
        let view = &self.snapshot.segments[segment];
        let mut sums = Sums::new(view);
        let mut next_look = f32::INFINITY;
        for (at, term) in self.terms.iter().enumerate() {
            // A look costs as much as a pass over the documents touched: one for each quarter that the rest falls by.
            if at > 0 && self.rest[at] <= next_look && sums.has_context.is_none() {
                next_look = self.rest[at] * 0.75;
                let entries: u64 = self.terms[at..].iter().map(|term| term.entries).sum();
                let mut hopeful = sums.hopeful(depth, self.rest[at]);
                if !hopeful.is_empty() && (hopeful.len() as u64) * 8 < entries {
                    hopeful.sort_unstable();
                    let mut few: Vec<f32> = hopeful.iter().map(|document| sums.own[*document as usize]).collect();
                    for term in &self.terms[at..] {
                        self.seek(term, segment, view, &hopeful, &mut few)?;
                    }
                    return Ok(hopeful.into_iter().zip(few).collect());
                }
            }
            self.add(term, segment, view, allowed, &mut sums)?;
        }
        let touched = std::mem::take(&mut sums.touched);
        Ok(touched.into_iter().map(|document| (document, self.total(view, document, &sums))).collect())
    }

    /// Adds a term's part to every document that holds it.
    fn add(
        &self,
        term: &WeightedTerm,
        segment: usize,
        view: &SegmentView,
        allowed: Allowed<'_>,
        sums: &mut Sums,
    ) -> tantivy::Result<()> {
        let Some(mut postings) = term.postings(segment, view)? else { return Ok(()) };
        let saturation = &self.saturation[term.field as usize];
        let lengths = &view.searched[term.field as usize].lengths;
        let deletes = view.reader.has_deletes();
        let Sums { own, context, touched, .. } = sums;
        let is_context = term.field.is_context();
        let mut document = postings.doc();
        while document != TERMINATED {
            let wanted = match allowed {
                Some(selection) => selection.has(view.first + document),
                None => !deletes || !view.reader.is_deleted(document),
            };
            if wanted {
                let part =
                    term.presence + term.weight * saturation.part(postings.term_freq(), lengths.fieldnorm_id(document));
                let at = document as usize;
                if own[at] == 0.0 && context.get(at).is_none_or(|sum| *sum == 0.0) {
                    touched.push(document);
                }
                if is_context {
                    if context.is_empty() {
                        context.resize(own.len(), 0.0);
                    }
                    context[at] += part;
                } else {
                    own[at] += part;
                }
            }
            document = postings.advance();
        }
        if is_context {
            sums.has_context = Some(());
        }
        Ok(())
    }

    /// Adds a term's part to a few documents of a segment, given in ascending order.
    fn seek(
        &self,
        term: &WeightedTerm,
        segment: usize,
        view: &SegmentView,
        documents: &[DocId],
        sums: &mut [f32],
    ) -> tantivy::Result<()> {
        let Some(mut postings) = term.postings(segment, view)? else { return Ok(()) };
        let saturation = &self.saturation[term.field as usize];
        let lengths = &view.searched[term.field as usize].lengths;
        for (document, sum) in documents.iter().zip(sums) {
            if postings.doc() < *document {
                postings.seek(*document);
            }
            if postings.doc() == *document {
                *sum += term.presence
                    + term.weight * saturation.part(postings.term_freq(), lengths.fieldnorm_id(*document));
            }
        }
        Ok(())
    }

    /// The scores above 0 of a few documents of a segment, given in ascending order.
    fn scores_of(&self, segment: usize, documents: &[DocId]) -> tantivy::Result<Vec<(DocId, f32)>> {
        let sums = self.sums_of(segment, documents)?;
        Ok(documents.iter().copied().zip(sums).filter(|(_, score)| *score > 0.0).collect())
    }

    fn sums_of(&self, segment: usize, documents: &[DocId]) -> tantivy::Result<Vec<f32>> {
        let view = &self.snapshot.segments[segment];
        let mut own = vec![0.0; documents.len()];
        let mut context = vec![0.0; documents.len()];
        for term in &self.terms {
            let sums = if term.field.is_context() { &mut context } else { &mut own };
            self.seek(term, segment, view, documents, sums)?;
        }
        Ok(documents
            .iter()
            .zip(own.into_iter().zip(context))
            .map(|(document, (own, context))| self.mix(view.first + document, own, context))
            .collect())
    }

    fn total(&self, view: &SegmentView, document: DocId, sums: &Sums) -> f32 {
        let at = document as usize;
        match sums.context.get(at) {
            Some(&context) => self.mix(view.first + document, sums.own[at], context),
            None => sums.own[at],
        }
    }

    /// A record's own score with that of its context: the shorter the record, the more the context says.
    fn mix(&self, doc: Doc, own: f32, context: f32) -> f32 {
        if context == 0.0 && own == 0.0 {
            return 0.0;
        }
        match self.snapshot.turn(doc) {
            None => own,
            Some(_) => {
                let share = self.context * brevity(self.snapshot.words(doc)) as f32;
                own * (1.0 - share) + context * share
            }
        }
    }

    /// Takes a score apart again, by field, with the terms that matched; and the share of the query's stems among them.
    pub(crate) fn shares(&self, doc: Doc) -> tantivy::Result<Vec<FieldShare>> {
        let (segment, document) = self.snapshot.place(doc);
        let view = &self.snapshot.segments[segment];
        let share = match self.snapshot.turn(doc) {
            Some(_) => self.context * brevity(self.snapshot.words(doc)) as f32,
            None => 0.0,
        };
        let mut shares: Vec<FieldShare> = Vec::new();
        let mut coverage = FieldShare { field: "coverage", score: 0.0, terms: Vec::new() };
        for term in &self.terms {
            let Some(mut postings) = term.postings(segment, view)? else { continue };
            if postings.doc() < document {
                postings.seek(document);
            }
            if postings.doc() != document {
                continue;
            }
            let length = view.searched[term.field as usize].lengths.fieldnorm_id(document);
            let mix = if term.field.is_context() { share } else { 1.0 - share };
            let part = mix * term.weight * self.saturation[term.field as usize].part(postings.term_freq(), length);
            coverage.score += f64::from(mix * term.presence);
            let field = term.field.name();
            let at = shares.iter().position(|share| share.field == field).unwrap_or_else(|| {
                shares.push(FieldShare { field, score: 0.0, terms: Vec::new() });
                shares.len() - 1
            });
            shares[at].score += f64::from(part);
            shares[at].terms.push(term.text.clone());
        }
        shares.iter_mut().for_each(|share| share.terms.sort_unstable());
        shares.sort_by_key(|share| share.field);
        if coverage.score > 0.0 {
            shares.push(coverage);
        }
        Ok(shares)
    }

    /// The documents that hold a stem, when so many entries hold it; `None` when fewer or more do.
    pub(crate) fn holders(
        &self,
        field: usize,
        stem: &str,
        entries: &std::ops::RangeInclusive<usize>,
    ) -> tantivy::Result<Option<Vec<Doc>>> {
        let term = Term::from_field_text(self.snapshot.fields.searched[field], stem);
        let mut holders = Vec::new();
        for view in &self.snapshot.segments {
            let index = &view.searched[field].terms;
            let Some(info) = index.get_term_info(&term)? else { continue };
            if info.doc_freq as usize > *entries.end() && !view.reader.has_deletes() {
                return Ok(None);
            }
            let mut postings = index.read_postings_from_terminfo(&info, IndexRecordOption::Basic)?;
            while postings.doc() != TERMINATED && holders.len() <= *entries.end() {
                if !view.reader.is_deleted(postings.doc()) {
                    holders.push(view.first + postings.doc());
                }
                postings.advance();
            }
        }
        Ok(entries.contains(&holders.len()).then_some(holders))
    }

    /// How much of the query each document holds.
    pub(crate) fn coverage(&self, docs: &[Doc]) -> tantivy::Result<Vec<Coverage>> {
        let mut shares = vec![Coverage::default(); docs.len()];
        for term in self.terms.iter().filter(|term| term.share > 0.0) {
            for (at, doc) in docs.iter().enumerate() {
                let (segment, document) = self.snapshot.place(*doc);
                let Some(mut postings) = term.postings(segment, &self.snapshot.segments[segment])? else { continue };
                if postings.doc() < document {
                    postings.seek(document);
                }
                if postings.doc() == document {
                    let share = if term.field.is_grams() { &mut shares[at].grams } else { &mut shares[at].stems };
                    *share += term.share;
                }
            }
        }
        Ok(shares)
    }
}

impl WeightedTerm {
    /// The most that it can give.
    fn most(&self) -> f32 {
        self.weight + self.presence
    }

    fn postings(&self, segment: usize, view: &SegmentView) -> tantivy::Result<Option<SegmentPostings>> {
        let Some(info) = &self.postings[segment] else { return Ok(None) };
        let index = &view.searched[self.field as usize].terms;
        Ok(Some(index.read_postings_from_terminfo(info, IndexRecordOption::WithFreqs)?))
    }
}

/// How short a text is: 1 up to 40 words, less for longer ones.
pub(crate) fn brevity(words: u64) -> f64 {
    40.0 / (words.max(40) as f64)
}

/// The inverse document frequency of a term; above 0.
fn rarity(all: u64, holders: u64) -> f64 {
    // A term may be held by documents whose field is otherwise empty of statistics, never by more than there are.
    let (all, holders) = (all as f64, holders.min(all) as f64);
    ((all - holders + 0.5) / (holders + 0.5)).ln_1p()
}

/// The scores of a segment's documents as they come together.
struct Sums {
    own: Vec<f32>,
    context: Vec<f32>,
    touched: Vec<DocId>,
    has_context: Option<()>,
}

impl Sums {
    fn new(view: &SegmentView) -> Self {
        Self {
            own: vec![0.0; view.reader.max_doc() as usize],
            context: Vec::new(),
            touched: Vec::new(),
            has_context: None,
        }
    }

    /// The documents that can still be among the best `depth` when each can gain at most `rest`; empty when a document
    /// not yet touched can.
    fn hopeful(&self, depth: usize, rest: f32) -> Vec<DocId> {
        if depth == 0 || self.touched.len() < depth {
            return Vec::new();
        }
        let mut scores: Vec<f32> = self.touched.iter().map(|document| self.own[*document as usize]).collect();
        let place = depth - 1;
        scores.select_nth_unstable_by(place, |left, right| right.total_cmp(left));
        let threshold = scores[place];
        if rest >= threshold {
            return Vec::new();
        }
        // Sums are rounded: what stands a hair below may end a hair above.
        let least = threshold - rest - 1e-5;
        self.touched.iter().copied().filter(|document| self.own[*document as usize] >= least).collect()
    }
}

/// How repetition and length bend a term's weight, by the engine's code of a length.
struct Saturation {
    by_length: [f32; 256],
}

impl Saturation {
    fn new(settings: &Lexical, average_length: f64) -> Self {
        let Lexical { k1, b, .. } = *settings;
        let by_length = std::array::from_fn(|code| {
            // Lengths come as the engine keeps them, rounded down above 40 terms.
            let length = f64::from(tantivy::fieldnorm::FieldNormReader::id_to_fieldnorm(code as u8));
            (k1 * (1.0 - b + b * length / average_length.max(1.0))) as f32
        });
        Self { by_length }
    }

    /// From 0 to 1.
    fn part(&self, frequency: u32, length_code: u8) -> f32 {
        let frequency = frequency as f32;
        frequency / (frequency + self.by_length[length_code as usize])
    }
}

/// The best `depth` of a segment, ties by id.
fn best_of_segment(
    mut scores: Vec<(DocId, f32)>,
    segment: usize,
    view: &SegmentView,
    depth: usize,
) -> Vec<(usize, DocId, f32)> {
    scores.retain(|(_, score)| *score > 0.0);
    let order = |left: &(DocId, f32), right: &(DocId, f32)| -> Ordering {
        right.1.total_cmp(&left.1).then_with(|| view.id_order(left.0).cmp(&view.id_order(right.0)))
    };
    if depth == 0 {
        return Vec::new();
    }
    if scores.len() > depth {
        scores.select_nth_unstable_by(depth - 1, order);
        scores.truncate(depth);
    }
    scores.into_iter().map(|(document, score)| (segment, document, score)).collect()
}
