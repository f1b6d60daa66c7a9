//! The semantic voice: documents whose vectors are near the query's.

use std::collections::HashSet;

use crate::document::Language;
use crate::embed::{Embedder, ModelInfo, Vector};
use crate::error::Result;
use crate::filter::Selection;
use crate::index::{Doc, Snapshot};
use crate::query::Query;
use crate::vectors::{Probe, TEXT, VectorSet};

/// How many documents' worth of the mean over all languages the mean of one is mixed with, so that a language with
/// two documents does not measure them by themselves.
const PRIOR: f64 = 10.0;

/// The query's vector beside the vectors of a snapshot.
pub(crate) struct Semantic<'s> {
    snapshot: &'s Snapshot,
    set: &'s VectorSet,
    vector: Vector,
    probe: Probe,
    pub(crate) model: ModelInfo,
    language: Option<Language>,
    /// The query's cosine with the mean of each language of a mixed store; empty in a store of one language.
    means: Vec<(Option<Language>, f64)>,
    /// Where cosines of the query's own language lie, in a mixed store.
    reference: f64,
}

/// Why the voice is silent, in words for a person.
pub(crate) type Reason = String;

impl<'s> Semantic<'s> {
    /// Makes the query's vector, or says why there is nothing to compare.
    pub(crate) fn new(
        snapshot: &'s Snapshot,
        query: &Query,
        language: Option<Language>,
        embedder: Option<&dyn Embedder>,
        model: Option<&ModelInfo>,
    ) -> Result<std::result::Result<Self, Reason>> {
        let silent = |reason: String| Ok(Err(reason));
        let Some(model) = embedder.map(Embedder::model).or(model) else {
            return silent("no model is installed".to_owned());
        };
        let Some(set) = snapshot.vectors.get(&model.fingerprint).filter(|set| set.rows() > 0) else {
            let others: Vec<&str> = snapshot
                .payload
                .vectors
                .values()
                .filter(|files| files.files.iter().any(|file| file.rows > 0))
                .map(|files| files.model.as_str())
                .collect();
            return silent(match others.as_slice() {
                [] => format!("no document has a vector of {} yet", model.name),
                _ if others.contains(&model.name.as_str()) => {
                    format!("the vectors are of another version of {}; they must be made again", model.name)
                }
                _ => format!("the vectors are of {}, the query's would be of {}", others.join(", "), model.name),
            });
        };
        if let Some(language) = language.map(Language::code).filter(|language| !model.speaks(language)) {
            return silent(format!("{} does not speak the query's language ({language})", model.name));
        }
        let vector = match (&query.vector, embedder) {
            (Some(vector), _) => vector.clone(),
            (None, Some(_)) if query.text.trim().is_empty() => return silent("the query is empty".to_owned()),
            (None, Some(embedder)) => embedder.embed_query(&query.text)?,
            (None, None) => return silent("the query has no vector, and there is no embedder to make one".to_owned()),
        };
        let probe = match Probe::new(&vector) {
            Some(probe) if Some(probe.dimension()) == set.dimension() => probe,
            Some(_) => {
                let (found, expected) = (vector.len(), set.dimension().unwrap_or_default());
                return silent(format!("the query's vector has {found} numbers, the documents' have {expected}"));
            }
            None => return silent("the query's vector is zero, or holds a number that is not finite".to_owned()),
        };
        let length = vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
        let vector = vector.into_iter().map(|value| (f64::from(value) / length) as f32).collect();
        let mut semantic = Self {
            snapshot,
            set,
            vector,
            probe,
            model: model.clone(),
            language,
            means: Vec::new(),
            reference: model.evidence.floor,
        };
        semantic.centre();
        Ok(Ok(semantic))
    }

    /// In a store of several languages the cosines of each lie around a mean of their own; measured from there they
    /// can be compared.
    fn centre(&mut self) {
        if self.snapshot.languages().len() < 2 {
            return;
        }
        let means = self.snapshot.language_means(&self.model.fingerprint, || self.language_means());
        let cosines: Vec<(Option<Language>, f64, f64)> =
            means.iter().map(|(language, mean, count)| (*language, dot(&self.vector, mean), *count as f64)).collect();
        let count: f64 = cosines.iter().map(|(_, _, count)| count).sum();
        if cosines.len() < 2 || count <= 0.0 {
            return;
        }
        let overall = cosines.iter().map(|(_, cosine, count)| cosine * count).sum::<f64>() / count;
        self.means = cosines
            .into_iter()
            .map(|(language, cosine, count)| (language, (cosine * count + overall * PRIOR) / (count + PRIOR)))
            .collect();
        self.reference = self.mean_of(self.language).unwrap_or(overall);
    }

    fn language_means(&self) -> Vec<(Option<Language>, Vec<f32>, usize)> {
        let keys = self.snapshot.keys();
        let group = |key: u64| {
            let doc = *keys.get(&key)?.first()?;
            // A record with its context counts once, by its text.
            (self.snapshot.content(doc) == Some(key)).then(|| crate::analysis::stem_group(self.snapshot.language(doc)))
        };
        let mut means = self.set.mean(&group);
        means.resize(3, (Vec::new(), 0));
        means
            .into_iter()
            .zip([None, Some(Language::English), Some(Language::Turkish)])
            .filter(|((_, count), _)| *count > 0)
            .map(|((mean, count), language)| (language, mean, count))
            .collect()
    }

    fn mean_of(&self, language: Option<Language>) -> Option<f64> {
        self.means.iter().find(|(known, _)| *known == language).map(|(_, mean)| *mean)
    }

    /// A cosine on the scale of the query's own language.
    fn adjusted(&self, doc: Doc, cosine: f64) -> f64 {
        if self.means.is_empty() {
            return cosine;
        }
        let language = self.snapshot.language(doc);
        let stretch = if language == self.language { 1.0 } else { self.model.evidence.across_languages };
        let mean = self.mean_of(language).unwrap_or(self.reference);
        (cosine - mean) * stretch + self.reference
    }

    /// The cosine with a document's text; `None` where it has no vector (yet), or where the model does not speak its
    /// language.
    pub(crate) fn text(&self, doc: Doc) -> Option<f64> {
        let cosine = self.set.similarity(&self.probe, self.snapshot.content(doc)?)?.text;
        Some(self.adjusted(doc, f64::from(cosine)))
    }

    /// The cosine with a record's text in its context.
    pub(crate) fn in_context(&self, doc: Doc) -> Option<f64> {
        let cosine = self.set.similarity(&self.probe, self.snapshot.in_context(doc)?)?.text;
        Some(self.adjusted(doc, f64::from(cosine)))
    }

    /// The cosines of all documents that have a vector, by number; `None` elsewhere. In a text of several windows the
    /// nearest counts.
    pub(crate) fn all(&self) -> (Vec<Option<f32>>, Vec<Option<f32>>) {
        let keys = self.snapshot.keys();
        let mut texts = vec![None; self.snapshot.numbers as usize];
        let mut contexts = texts.clone();
        self.set.all(&self.probe, &mut |key, _, cosine| {
            for doc in keys.get(&key).into_iter().flatten() {
                let slots = if self.snapshot.content(*doc) == Some(key) { &mut texts } else { &mut contexts };
                let slot: &mut Option<f32> = &mut slots[*doc as usize];
                let adjusted = self.adjusted(*doc, f64::from(cosine)) as f32;
                *slot = Some(slot.map_or(adjusted, |before| before.max(adjusted)));
            }
        });
        (texts, contexts)
    }

    /// The nearest documents, best first; in a store of several languages the nearest of each.
    pub(crate) fn best(&self, depth: usize, selection: Option<&Selection>) -> Vec<(Doc, f64)> {
        let keys = self.snapshot.keys();
        let languages: Vec<Option<Option<Language>>> = if self.means.is_empty() {
            vec![None]
        } else {
            self.means.iter().map(|(language, _)| Some(*language)).collect()
        };
        let mut found: Vec<(Doc, f64)> = Vec::new();
        for language in languages {
            let wanted = |doc: Doc| {
                selection.is_none_or(|selection| selection.has(doc))
                    && language.is_none_or(|language| self.snapshot.language(doc) == language)
            };
            let allowed_keys: Option<HashSet<u64>> =
                selection.filter(|selection| selection.len() <= 4_096).map(|selection| {
                    selection.docs().filter(|doc| wanted(*doc)).filter_map(|doc| self.snapshot.content(doc)).collect()
                });
            let count =
                allowed_keys.as_ref().map_or_else(|| selection.map_or(self.set.rows(), Selection::len), HashSet::len);
            let allowed = |key: u64| match &allowed_keys {
                Some(keys) => keys.contains(&key),
                None => keys.get(&key).is_some_and(|docs| {
                    docs.iter().any(|doc| wanted(*doc) && self.snapshot.content(*doc) == Some(key))
                }),
            };
            for (key, cosine) in self.set.nearest(&self.probe, depth, TEXT, &allowed, count) {
                for doc in keys.get(&key).into_iter().flatten().filter(|doc| wanted(**doc)) {
                    found.push((*doc, self.adjusted(*doc, f64::from(cosine))));
                }
            }
        }
        found.sort_by(|left, right| right.1.total_cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
        found.dedup_by_key(|(doc, _)| *doc);
        found
    }

    /// How alike two documents are in meaning, as a cosine; `None` where one has no vector.
    pub(crate) fn between(&self, left: Doc, right: Doc) -> Option<f64> {
        let probe = Probe::new(&self.set.vector(self.snapshot.content(left)?)?)?;
        Some(f64::from(self.set.similarity(&probe, self.snapshot.content(right)?)?.text))
    }

    /// How much nearer than usual two documents of different languages are: their cosine, less the mean cosine of the
    /// first with the other's language and what the first's own language usually has with the second. `None` in a store
    /// of one language.
    pub(crate) fn translation(&self, left: Doc, right: Doc) -> Option<f64> {
        let means = self.snapshot.language_means(&self.model.fingerprint, || self.language_means());
        let mean = |doc: Doc| means.iter().find(|(language, ..)| *language == self.snapshot.language(doc));
        let vector = |doc: Doc| self.set.vector(self.snapshot.content(doc)?);
        let (left_vector, right_vector) = (vector(left)?, vector(right)?);
        let (left_mean, right_mean) = (&mean(left)?.1, &mean(right)?.1);
        // The cosine of what is left of both once the mean of each language is taken off.
        let less = |vector: &[f32], mean: &[f32]| -> Vec<f32> {
            vector.iter().zip(mean).map(|(value, mean)| value - mean).collect()
        };
        let (left, right) = (less(&left_vector, left_mean), less(&right_vector, right_mean));
        let length = (dot(&left, &left) * dot(&right, &right)).sqrt();
        (length > 0.0).then(|| dot(&left, &right) / length)
    }

    /// Tells when only a part of the documents has vectors.
    pub(crate) fn note(&self) -> String {
        let all = self.snapshot.documents;
        // Rows of other documents, and several windows of one, only make it look fuller: then counting decides.
        let covered = self.snapshot.covered(&self.model.fingerprint, self.set);
        if covered < all { format!("{covered} of {all} documents have a vector yet") } else { String::new() }
    }
}

pub(crate) fn dot(left: &[f32], right: &[f32]) -> f64 {
    left.iter().zip(right).map(|(left, right)| f64::from(left * right)).sum()
}
