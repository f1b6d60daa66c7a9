//! The documents that voices proposed, and the list that is made of them.

use std::collections::{BTreeMap, HashMap};

use super::{Evidences, LEXICAL, Search};
use crate::diversity::{Fingerprint, diversify};
use crate::document::Document;
use crate::error::{Error, Result};
use crate::index::Doc;
use crate::ranking::{Explanation, Hit};
use crate::semantic::Semantic;

/// How many documents more than asked for are looked at for repetitions: so many times as many, and at least so many.
const SPARE: (usize, usize) = (3, 30);

/// What one voice makes of one document.
#[derive(Debug, Clone, Copy)]
pub(super) struct Raw {
    /// On the voice's own scale.
    pub(super) score: f64,
    /// For the voices whose evidence is a share, 0 to 1.
    pub(super) worth: f64,
}

/// What each voice makes of each document.
#[derive(Default)]
pub(super) struct Pool {
    raws: BTreeMap<Doc, Vec<(String, Raw)>>,
    /// What each voice proposed, best first.
    proposed: Vec<(String, Vec<(Doc, f64)>)>,
}

/// A document with its evidence.
pub(super) struct Pooled {
    pub(super) doc: Doc,
    pub(super) explanation: Explanation,
}

impl Pool {
    pub(super) fn propose(&mut self, voice: &str, found: impl IntoIterator<Item = (Doc, f64)>) {
        self.propose_own(voice, found.into_iter().map(|(doc, score)| (doc, score, score)));
    }

    /// The same from a voice whose worth is not its score.
    pub(super) fn propose_own(&mut self, voice: &str, found: impl IntoIterator<Item = (Doc, f64, f64)>) {
        let mut list = Vec::new();
        for (doc, score, worth) in found {
            list.push((doc, score));
            self.put(voice, doc, Raw { score, worth });
        }
        self.proposed.push((voice.to_owned(), list));
    }

    /// What a voice makes of documents that others proposed.
    pub(super) fn complete(&mut self, voice: &str, found: impl IntoIterator<Item = (Doc, f64)>) {
        for (doc, score) in found {
            self.put(voice, doc, Raw { score, worth: score });
        }
    }

    fn put(&mut self, voice: &str, doc: Doc, raw: Raw) {
        let raws = self.raws.entry(doc).or_default();
        match raws.iter_mut().find(|(named, _)| named == voice) {
            Some((_, old)) => *old = raw,
            None => raws.push((voice.to_owned(), raw)),
        }
    }

    /// Takes a document in that no voice proposed.
    pub(super) fn add(&mut self, doc: Doc) {
        self.raws.entry(doc).or_default();
    }

    pub(super) fn docs(&self) -> impl Iterator<Item = Doc> + '_ {
        self.raws.keys().copied()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Doc, impl Iterator<Item = (&str, Raw)>)> {
        self.raws.iter().map(|(doc, raws)| (*doc, raws.iter().map(|(voice, raw)| (voice.as_str(), *raw))))
    }

    pub(super) fn count(&self, voice: &str) -> usize {
        self.list(voice).map_or(0, <[_]>::len)
    }

    /// The best that a voice proposed.
    pub(super) fn best(&self, voice: &str, count: usize) -> Vec<(Doc, f64)> {
        self.list(voice).unwrap_or_default().iter().take(count).copied().collect()
    }

    fn list(&self, voice: &str) -> Option<&[(Doc, f64)]> {
        self.proposed.iter().find(|(named, _)| named == voice).map(|(_, list)| list.as_slice())
    }

    pub(super) fn lists(&self) -> Vec<(&str, Vec<(Doc, f64)>)> {
        self.proposed.iter().map(|(voice, list)| (voice.as_str(), list.clone())).collect()
    }

    /// The documents that a voice said nothing of yet.
    pub(super) fn missing(&self, voice: &str) -> Vec<Doc> {
        let said = |raws: &[(String, Raw)]| raws.iter().any(|(named, _)| named == voice);
        self.raws.iter().filter(|(_, raws)| !said(raws)).map(|(doc, _)| *doc).collect()
    }

    /// The place of each document among all of the pool, by each voice's score, from 1.
    pub(super) fn ranks(&self) -> HashMap<(&str, Doc), usize> {
        let mut by_voice: BTreeMap<&str, Vec<(f64, Doc)>> = BTreeMap::new();
        for (doc, raws) in &self.raws {
            for (voice, raw) in raws {
                by_voice.entry(voice).or_default().push((raw.score, *doc));
            }
        }
        let mut ranks = HashMap::new();
        for (voice, mut scores) in by_voice {
            scores.sort_by(|left, right| right.0.total_cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
            let (mut rank, mut last) = (0, f64::NAN);
            for (at, (score, doc)) in scores.into_iter().enumerate() {
                // Equal scores share a place, so that the order in which documents came in does not show.
                if score.total_cmp(&last).is_ne() {
                    (rank, last) = (at + 1, score);
                }
                ranks.insert((voice, doc), rank);
            }
        }
        ranks
    }
}

/// A document on its way to being a hit.
struct Entry {
    doc: Doc,
    id: String,
    document: Document,
    explanation: Explanation,
    words: Fingerprint,
    duplicates: Vec<String>,
}

/// The best `k`, repetitions collapsed and the rest told apart.
pub(super) fn hits(search: &Search<'_>, voices: &Evidences<'_>, mut scored: Vec<Pooled>, k: usize) -> Result<Vec<Hit>> {
    let semantic = voices.semantic.as_ref();
    let failed = |error| Error::engine(search.folder, error);
    let snapshot = search.snapshot;
    scored.sort_by(|left, right| right.explanation.faded().total_cmp(&left.explanation.faded()));
    // Ids are read only for what can still win, and for its equals.
    let wanted = (k.saturating_mul(SPARE.0)).max(SPARE.1);
    if let Some(last) = scored.get(wanted - 1).map(|pooled| pooled.explanation.faded()) {
        scored.retain(|pooled| pooled.explanation.faded() >= last);
    }
    let mut named = Vec::with_capacity(scored.len());
    for pooled in scored {
        named.push((snapshot.id_of(pooled.doc).map_err(failed)?, pooled));
    }
    named.sort_by(|(id, left), (other_id, right)| {
        right.explanation.faded().total_cmp(&left.explanation.faded()).then_with(|| id.cmp(other_id))
    });
    named.truncate(wanted);

    let mut entries: Vec<Entry> = Vec::with_capacity(named.len());
    for (id, Pooled { doc, explanation }) in named {
        let document = snapshot.document(doc).map_err(failed)?;
        let words = Fingerprint::of(&document, snapshot.language(doc));
        let twin = entries.iter_mut().find(|entry| is_repetition(search, semantic, entry, doc, &words));
        match twin {
            Some(twin) => twin.duplicates.push(id),
            None => entries.push(Entry { doc, id, document, explanation, words, duplicates: Vec::new() }),
        }
    }

    let relevance: Vec<f64> = entries.iter().map(|entry| entry.explanation.faded()).collect();
    let likeness = |left: usize, right: usize| {
        let (left, right) = (&entries[left], &entries[right]);
        let near = semantic.and_then(|semantic| {
            let floor = semantic.model.evidence.floor;
            Some((semantic.between(left.doc, right.doc)? - floor) / (1.0 - floor).max(1e-6))
        });
        near.unwrap_or_else(|| left.words.likeness(&right.words))
    };
    let order = diversify(&relevance, search.config.diversity.lambda, k, &likeness);
    let mut entries: Vec<Option<Entry>> = entries.into_iter().map(Some).collect();
    let mut hits = Vec::with_capacity(order.len());
    for (at, diversity) in order {
        // Each position comes once.
        let Some(Entry { doc, id, document, mut explanation, duplicates, .. }) = entries[at].take() else { continue };
        explanation.diversity = diversity;
        if let (Some(scoring), Some(share)) =
            (&voices.scoring, explanation.voices.iter_mut().find(|share| share.voice == LEXICAL))
        {
            share.fields = scoring.shares(doc).map_err(failed)?;
        }
        let score = explanation.total();
        hits.push(Hit { id, score, document, explanation, duplicates });
    }
    Ok(hits)
}

/// Whether a document says what a better one says, in the same words or in another language.
fn is_repetition(
    search: &Search<'_>,
    semantic: Option<&Semantic<'_>>,
    better: &Entry,
    doc: Doc,
    words: &Fingerprint,
) -> bool {
    let diversity = &search.config.diversity;
    if better.words.likeness(words) >= diversity.duplicate {
        return true;
    }
    if better.words.same_language(words) {
        return false;
    }
    semantic
        .and_then(|semantic| semantic.translation(better.doc, doc))
        .is_some_and(|near| near >= diversity.translation)
}
