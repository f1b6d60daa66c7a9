//! Weighted reciprocal rank fusion.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::voice::{Candidate, FieldShare};

/// The constant of reciprocal rank fusion, 60 (Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms
/// Condorcet and individual rank learning methods", SIGIR 2009).
pub const RANK_CONSTANT: f64 = 60.0;

/// How much each voice counts, by name; 0 keeps a voice out of the sum.
///
/// The semantic voice counts 0.35, the graph 0.25, the lexical voice 0.25, the temporal one 0.15, and any other 0.25.
///
/// ```
/// use hatir_rank::Weights;
///
/// let weights = Weights::default().with("newest", 0.05);
/// assert_eq!(weights.of("newest"), 0.05);
/// assert_eq!(weights.of("lexical"), 0.25);
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Weights(BTreeMap<String, f64>);

impl Weights {
    /// The weight of a voice of the caller's own that was given none.
    pub const DEFAULT: f64 = 0.25;

    /// The same with the weight of one voice set; finite and not negative.
    #[must_use]
    pub fn with(mut self, voice: impl Into<String>, weight: f64) -> Self {
        self.0.insert(voice.into(), weight);
        self
    }

    /// The weight of a voice.
    pub fn of(&self, voice: &str) -> f64 {
        let default = match voice {
            "semantic" => 0.35,
            "temporal" => 0.15,
            _ => Self::DEFAULT,
        };
        self.0.get(voice).copied().unwrap_or(default)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(voice, weight)| (voice.as_str(), *weight))
    }
}

/// One voice's ranked list, on its way into [`fuse`].
#[derive(Debug, Clone)]
pub struct RankedList {
    /// The voice's name.
    pub voice: String,
    /// Its weight, finite and not negative.
    pub weight: f64,
    /// Its documents, best first. A document named twice counts at its better place, and takes no other.
    pub candidates: Vec<Candidate>,
}

/// A document after fusion.
#[derive(Debug, Clone, PartialEq)]
pub struct Fused {
    /// The document's id.
    pub id: String,
    /// The sum of its shares' contributions, above 0.
    pub score: f64,
    /// What each voice that named it gave, in alphabetical order of the voices.
    pub shares: Vec<VoiceShare>,
}

/// What one voice gave one document.
#[derive(Debug, Clone, PartialEq)]
pub struct VoiceShare {
    /// The voice's name.
    pub voice: String,
    /// The document's place by this voice among all that were looked at, from 1.
    pub rank: usize,
    /// The voice's own score, on its own scale.
    pub raw_score: f64,
    /// The voice's weight.
    pub weight: f64,
    /// What was added to the evidence: in the fusion `evidence` its own measure, in `rrf` `weight / (60 + rank)`.
    pub contribution: f64,
    /// The raw score by searched field, when the voice can tell.
    pub fields: Vec<FieldShare>,
}

/// Adds up `weight / (60 + rank)` over the lists and sorts: best first, ties by id.
///
/// Only places count, not raw scores, so voices of any scale mix. The order of the lists does not matter. A list of
/// weight 0 gives nothing, and a document that only such lists name is left out. Cost: one sort.
///
/// ```
/// use hatir_rank::{Candidate, RankedList, fuse};
///
/// let list = |voice: &str, ids: &[&str]| RankedList {
///     voice: voice.into(),
///     weight: 0.5,
///     candidates: ids.iter().map(|id| Candidate::new(*id, 1.0)).collect(),
/// };
/// let fused = fuse(vec![list("words", &["a", "b"]), list("meaning", &["b", "c"])]);
/// assert_eq!(fused[0].id, "b");
/// assert!((fused[0].score - (0.5 / 62.0 + 0.5 / 61.0)).abs() < 1e-12);
/// ```
pub fn fuse(mut lists: Vec<RankedList>) -> Vec<Fused> {
    // Floating-point sums depend on their order; a fixed order makes the result independent of the caller's.
    lists.sort_by(|left, right| left.voice.cmp(&right.voice));
    let mut fused: Vec<Fused> = Vec::new();
    let mut place: HashMap<String, usize> = HashMap::new();
    for list in lists {
        if !(list.weight.is_finite() && list.weight > 0.0) {
            continue;
        }
        let mut seen = HashSet::with_capacity(list.candidates.len());
        let mut rank = 0;
        for candidate in list.candidates {
            if !seen.insert(candidate.id.clone()) {
                continue;
            }
            rank += 1;
            let contribution = list.weight / (RANK_CONSTANT + rank as f64);
            let share = VoiceShare {
                voice: list.voice.clone(),
                rank,
                raw_score: candidate.score,
                weight: list.weight,
                contribution,
                fields: candidate.fields,
            };
            let at = *place.entry(candidate.id.clone()).or_insert_with(|| {
                fused.push(Fused { id: candidate.id, score: 0.0, shares: Vec::new() });
                fused.len() - 1
            });
            fused[at].score += contribution;
            fused[at].shares.push(share);
        }
    }
    fused.sort_by(|left, right| right.score.total_cmp(&left.score).then_with(|| left.id.cmp(&right.id)));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(voice: &str, weight: f64, ids: &[&str]) -> RankedList {
        let candidates = ids.iter().map(|id| Candidate::new(*id, 1.0)).collect();
        RankedList { voice: voice.to_owned(), weight, candidates }
    }

    fn order(fused: &[Fused]) -> Vec<&str> {
        fused.iter().map(|one| one.id.as_str()).collect()
    }

    #[test]
    fn ties_go_by_id() {
        let fused = fuse(vec![list("one", 1.0, &["b", "a"]), list("two", 1.0, &["a", "b"])]);
        assert_eq!(order(&fused), ["a", "b"]);
    }

    #[test]
    fn a_document_named_twice_counts_once_at_its_better_place() {
        let fused = fuse(vec![list("one", 1.0, &["a", "a", "b"])]);
        assert_eq!(order(&fused), ["a", "b"]);
        assert_eq!(fused[0].shares.len(), 1);
        assert_eq!(fused[1].shares[0].rank, 2, "the repetition takes no place");
    }

    #[test]
    fn a_voice_without_a_usable_weight_gives_nothing() {
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let fused = fuse(vec![list("mute", weight, &["a"]), list("loud", 1.0, &["b"])]);
            assert_eq!(order(&fused), ["b"], "{weight}");
        }
        assert!(fuse(Vec::new()).is_empty());
    }
}
