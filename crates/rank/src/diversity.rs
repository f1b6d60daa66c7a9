//! Keeps a list from saying the same thing twice.

use std::collections::BTreeSet;

use crate::analysis::query_words;
use crate::document::{Document, Language};

/// The words of a document, by which it is told from others.
pub(crate) struct Fingerprint {
    words: BTreeSet<String>,
    language: Option<Language>,
}

impl Fingerprint {
    pub(crate) fn of(document: &Document, language: Option<Language>) -> Self {
        Self { words: query_words(&document.text).into_iter().collect(), language }
    }

    /// Shared words over all words of both (Jaccard), 0 to 1.
    pub(crate) fn likeness(&self, other: &Self) -> f64 {
        let shared = self.words.intersection(&other.words).count();
        let all = self.words.len() + other.words.len() - shared;
        if all == 0 { 0.0 } else { shared as f64 / all as f64 }
    }

    pub(crate) fn same_language(&self, other: &Self) -> bool {
        self.language == other.language
    }
}

/// The order of maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998): each time the one of the highest
/// `relevance − (1 − λ) / λ · likeness to the likest one chosen`, which is the order of `λ · relevance − (1 − λ) ·
/// likeness`. `relevance` is given best first and is scaled to 0 … 1 for it, so that likeness (0 to 1) weighs the same
/// whatever the scale of the scores. Gives the positions in their new order, and for each what was taken off, on the
/// scale of `relevance`.
///
/// Cost: `count` times the number of candidates, each with one likeness.
pub(crate) fn diversify(
    relevance: &[f64],
    lambda: f64,
    count: usize,
    likeness: &dyn Fn(usize, usize) -> f64,
) -> Vec<(usize, f64)> {
    let (Some(most), Some(least)) = (relevance.first(), relevance.last()) else { return Vec::new() };
    let range = most - least;
    let share = (1.0 - lambda) / lambda;
    if share <= 0.0 || range <= 0.0 {
        return (0..relevance.len().min(count)).map(|at| (at, 0.0)).collect();
    }
    let mut penalty = vec![0.0_f64; relevance.len()];
    let mut left: Vec<usize> = (0..relevance.len()).collect();
    let mut chosen = Vec::with_capacity(count.min(relevance.len()));
    while chosen.len() < count && !left.is_empty() {
        let mut best = 0;
        for at in 1..left.len() {
            if relevance[left[at]] - penalty[left[at]] > relevance[left[best]] - penalty[left[best]] {
                best = at;
            }
        }
        let picked = left.remove(best);
        chosen.push((picked, penalty[picked]));
        for other in &left {
            let taken = share * range * likeness(picked, *other).clamp(0.0, 1.0);
            penalty[*other] = penalty[*other].max(taken);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repetition_gives_way_to_something_new() {
        let alike = |left: usize, right: usize| if left + right == 1 { 1.0 } else { 0.0 };
        let order: Vec<usize> = diversify(&[1.0, 0.95, 0.9, 0.0], 0.85, 4, &alike).iter().map(|(at, _)| *at).collect();
        assert_eq!(order, [0, 2, 1, 3]);
        let plain: Vec<(usize, f64)> = diversify(&[1.0, 0.95, 0.9, 0.0], 1.0, 3, &alike);
        assert_eq!(plain, [(0, 0.0), (1, 0.0), (2, 0.0)]);
    }

    #[test]
    fn scores_of_any_scale_give_the_same_order() {
        let alike = |left: usize, right: usize| 1.0 / (1.0 + left.abs_diff(right) as f64);
        let scores = [1.0, 0.9, 0.85, 0.5, 0.45, 0.1];
        let scaled: Vec<f64> = scores.iter().map(|score| score / 100.0 - 3.0).collect();
        let order = |scores: &[f64]| diversify(scores, 0.7, 6, &alike).iter().map(|(at, _)| *at).collect::<Vec<_>>();
        assert_eq!(order(&scores), order(&scaled));
    }

    #[test]
    fn nothing_and_equal_scores_are_fine() {
        assert!(diversify(&[], 0.85, 5, &|_, _| 1.0).is_empty());
        assert_eq!(diversify(&[0.5, 0.5], 0.85, 5, &|_, _| 1.0).len(), 2);
        assert!(diversify(&[0.5], 0.85, 0, &|_, _| 1.0).is_empty());
    }
}
