//! How good a ranking is.
//!
//! - **recall@k**: the share of a query's relevant documents that stand among the first k.
//! - **mrr@10**: 1 / the place of the first relevant document among the first ten, else 0 (Voorhees, "The TREC-8
//!   question answering track report", 1999).
//! - **ndcg@10**: the sum of score / log2(place + 1) over the relevant documents among the first ten, divided by the
//!   sum of the best order (Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", 2002, with
//!   the discount from the first place on).

use super::judgements::Relevant;

/// The places up to which recall is measured.
pub(crate) const CUTOFFS: [usize; 5] = [1, 3, 5, 10, 20];

/// The figures of one ranking, or the means over many; each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Figures {
    /// One for each of [`CUTOFFS`].
    pub(crate) recall: [f64; CUTOFFS.len()],
    pub(crate) mrr: f64,
    pub(crate) ndcg: f64,
}

impl Figures {
    /// The figures of a ranking, best first, without repetitions; `relevant` is not empty.
    pub(crate) fn of<'id>(ranked: impl Iterator<Item = &'id str>, relevant: &Relevant) -> Self {
        let gains: Vec<f64> = ranked.map(|id| relevant.get(id).copied().unwrap_or(0.0)).collect();
        let found = |k: usize| gains.iter().take(k).filter(|gain| **gain > 0.0).count();
        let first = gains.iter().take(10).position(|gain| *gain > 0.0);
        let mut ideal: Vec<f64> = relevant.values().copied().collect();
        ideal.sort_by(|left, right| right.total_cmp(left));
        Self {
            recall: CUTOFFS.map(|k| found(k) as f64 / relevant.len() as f64),
            mrr: first.map_or(0.0, |place| 1.0 / (place + 1) as f64),
            ndcg: discounted(&gains) / discounted(&ideal),
        }
    }
}

/// The sum over the first ten places.
fn discounted(gains: &[f64]) -> f64 {
    gains.iter().take(10).enumerate().map(|(at, gain)| gain / ((at + 2) as f64).log2()).sum()
}

/// Adds figures up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mean {
    sum: Figures,
    pub(crate) count: usize,
    /// How many of the rankings were empty.
    pub(crate) silent: usize,
}

impl Mean {
    pub(crate) fn add(&mut self, figures: &Figures, silent: bool) {
        for (sum, recall) in self.sum.recall.iter_mut().zip(figures.recall) {
            *sum += recall;
        }
        self.sum.mrr += figures.mrr;
        self.sum.ndcg += figures.ndcg;
        self.count += 1;
        self.silent += usize::from(silent);
    }

    /// The means; all 0 when nothing was added.
    pub(crate) fn figures(&self) -> Figures {
        let count = self.count.max(1) as f64;
        Figures {
            recall: self.sum.recall.map(|sum| sum / count),
            mrr: self.sum.mrr / count,
            ndcg: self.sum.ndcg / count,
        }
    }
}

/// The value below or at which this share of the values lies (the nearest-rank method), 0 of none.
pub(crate) fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = (share * values.len() as f64).ceil() as usize;
    values.get(rank.max(1) - 1).copied().unwrap_or(0.0)
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "these numbers are exact")]
mod tests {
    use super::*;

    fn relevant(pairs: &[(&str, f64)]) -> Relevant {
        pairs.iter().map(|(id, score)| ((*id).to_owned(), *score)).collect()
    }

    fn close(left: f64, right: f64) {
        assert!((left - right).abs() < 1e-12, "{left} is not {right}");
    }

    #[test]
    fn one_answer_in_the_third_place() {
        let figures = Figures::of(["a", "b", "c", "d"].into_iter(), &relevant(&[("c", 1.0)]));
        assert_eq!(figures.recall, [0.0, 1.0, 1.0, 1.0, 1.0]);
        close(figures.mrr, 1.0 / 3.0);
        // 1 / log2(4) = 0.5, the best is 1 / log2(2) = 1.
        close(figures.ndcg, 0.5);
    }

    #[test]
    fn of_several_answers_recall_counts_the_share() {
        let answers = relevant(&[("b", 1.0), ("d", 1.0), ("missing", 1.0), ("gone", 1.0)]);
        let figures = Figures::of(["a", "b", "c", "d"].into_iter(), &answers);
        assert_eq!(figures.recall, [0.0, 0.25, 0.5, 0.5, 0.5]);
        close(figures.mrr, 0.5);
        // (0.630930 + 0.430677) / (1 + 0.630930 + 0.5 + 0.430677), each 1 / log2(place + 1).
        close(figures.ndcg, 1.061_606_311_644_851 / 2.561_606_311_644_851);
    }

    #[test]
    fn a_better_answer_in_a_worse_place_costs() {
        let answers = relevant(&[("a", 1.0), ("b", 3.0)]);
        let figures = Figures::of(["a", "b"].into_iter(), &answers);
        let second = 1.0 / 3_f64.log2();
        close(figures.ndcg, (1.0 + 3.0 * second) / (3.0 + second));
        close(Figures::of(["b", "a"].into_iter(), &answers).ndcg, 1.0);
    }

    #[test]
    fn behind_the_tenth_place_only_recall_counts() {
        let ids: Vec<String> = (1..=20).map(|at| format!("d{at}")).collect();
        let figures = |answer: &str| Figures::of(ids.iter().map(String::as_str), &relevant(&[(answer, 1.0)]));
        let tenth = figures("d10");
        close(tenth.mrr, 0.1);
        close(tenth.ndcg, 1.0 / 11_f64.log2());
        let eleventh = figures("d11");
        assert_eq!((eleventh.mrr, eleventh.ndcg), (0.0, 0.0));
        assert_eq!(eleventh.recall, [0.0, 0.0, 0.0, 0.0, 1.0]);
        assert_eq!(figures("d21"), Figures::default());
    }

    #[test]
    fn more_answers_than_ten_can_still_be_ordered_perfectly() {
        let answers: Relevant = (0..12).map(|at| (format!("d{at:02}"), 1.0)).collect();
        let figures = Figures::of(answers.keys().map(String::as_str), &answers);
        close(figures.ndcg, 1.0);
        close(figures.recall[3], 10.0 / 12.0);
    }

    #[test]
    fn means_are_over_queries() {
        let mut mean = Mean::default();
        assert_eq!(mean.figures(), Figures::default());
        mean.add(&Figures { recall: [1.0; 5], mrr: 1.0, ndcg: 1.0 }, false);
        mean.add(&Figures { recall: [0.0, 0.0, 0.5, 0.5, 1.0], mrr: 0.25, ndcg: 0.5 }, false);
        mean.add(&Figures::default(), true);
        mean.add(&Figures::default(), true);
        let figures = mean.figures();
        assert_eq!(figures.recall, [0.25, 0.25, 0.375, 0.375, 0.5]);
        assert_eq!((figures.mrr, figures.ndcg, mean.count, mean.silent), (0.3125, 0.375, 4, 2));
    }

    #[test]
    fn percentiles_are_values_that_occurred() {
        let mut values = [5.0, 1.0, 4.0, 2.0, 3.0];
        assert_eq!(percentile(&mut values, 0.5), 3.0);
        assert_eq!(percentile(&mut values, 0.95), 5.0);
        assert_eq!(percentile(&mut values, 0.2), 1.0);
        assert_eq!(percentile(&mut [7.0], 0.5), 7.0);
        assert_eq!(percentile(&mut [], 0.5), 0.0);
    }
}
