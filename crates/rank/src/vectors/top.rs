//! The best of many.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};

/// A document and its cosine. The better one is greater: the higher cosine, then the lower stamp.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scored {
    pub(super) cosine: f32,
    pub(super) stamp: u64,
}

impl Eq for Scored {}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        self.cosine.total_cmp(&other.cosine).then(other.stamp.cmp(&self.stamp))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Keeps the best `count` of what it is offered.
#[derive(Debug)]
pub(super) struct Top {
    count: usize,
    heap: BinaryHeap<Reverse<Scored>>,
}

impl Top {
    pub(super) fn new(count: usize) -> Self {
        Self { count, heap: BinaryHeap::with_capacity(count.min(1_024) + 1) }
    }

    /// Whether an offer would be kept. Asking is cheaper than finding out whether a document is allowed.
    pub(super) fn takes(&self, offer: Scored) -> bool {
        self.heap.len() < self.count || self.heap.peek().is_some_and(|worst| worst.0 < offer)
    }

    pub(super) fn offer(&mut self, offer: Scored) {
        if self.takes(offer) {
            self.heap.push(Reverse(offer));
            if self.heap.len() > self.count {
                self.heap.pop();
            }
        }
    }

    pub(super) fn into_unsorted(self) -> impl Iterator<Item = Scored> {
        self.heap.into_iter().map(|scored| scored.0)
    }
}

/// The best `count` documents, best first, each once with its best cosine.
pub(super) fn best_of(scored: impl IntoIterator<Item = Scored>, count: usize) -> Vec<(u64, f32)> {
    let mut best: HashMap<u64, f32> = HashMap::new();
    for Scored { cosine, stamp } in scored {
        let known = best.entry(stamp).or_insert(cosine);
        *known = known.max(cosine);
    }
    let mut best: Vec<Scored> = best.into_iter().map(|(stamp, cosine)| Scored { cosine, stamp }).collect();
    best.sort_unstable_by(|left, right| right.cmp(left));
    best.truncate(count);
    best.into_iter().map(|Scored { cosine, stamp }| (stamp, cosine)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_come_first_and_ties_by_age() {
        let offers = [(7, 0.5), (3, 0.9), (9, 0.5), (3, 0.1), (1, 0.2), (5, 0.5)];
        let offers = offers.map(|(stamp, cosine)| Scored { cosine, stamp });
        assert_eq!(best_of(offers, 4), [(3, 0.9), (5, 0.5), (7, 0.5), (9, 0.5)]);
        for count in 0..7 {
            let mut top = Top::new(count);
            offers.into_iter().filter(|offer| *offer != offers[3]).for_each(|offer| top.offer(offer));
            assert_eq!(best_of(top.into_unsorted(), 9), best_of(offers, count), "{count}");
        }
    }
}
