//! A walk over the links between documents.
//!
//! Documents are numbers, links have a strength, and both ends of a link lead to each other. A [`Graph`] is made once
//! per commit and never changed, so its rows lie in compressed form: eight bytes for each end of a link.
//!
//! What a link is worth: its weight, divided by the root of how far the busier of its ends is above the
//! ordinary number of links. A page that everything leads to says little about any of it, whichever way the
//! link is walked; so the hubs' rows may be cut without much loss, and a walk's work is bounded whatever the graph is.

use std::collections::BTreeMap;

use petgraph::csr::Csr;

/// How much of the strength is left after each hop.
const ATTENUATION: f64 = 0.5;

/// Up to so many links of a document are not held against it: twice what an index proposes per document, since links
/// are walked both ways.
const ORDINARY: f64 = 10.0;

/// The links of one document that are kept: its strongest.
const KEPT: usize = 256;

/// The links of one document that a walk follows: the strongest that lead to documents that may be found. Below
/// [`KEPT`], so that a hub is still left in some direction when a filter forbids most of what is around it.
const FOLLOWED: usize = 64;

/// Collects links, in any order.
#[derive(Debug)]
pub struct GraphBuilder {
    documents: u32,
    /// The lower number, the higher one, and the weight.
    links: Vec<(u32, u32, f32)>,
}

/// Links between documents, ready to be walked.
#[derive(Debug)]
pub struct Graph {
    /// Each row holds the links of a document in the order of where they lead; hubs have only their strongest.
    rows: Csr<(), f32>,
    links: usize,
}

impl GraphBuilder {
    /// For documents with numbers below `documents`.
    pub fn new(documents: u32) -> Self {
        Self { documents, links: Vec::new() }
    }

    /// Adds a link of a weight above 0 and up to 1. Of several links between two documents, whichever their direction,
    /// the strongest counts. A link to itself, to a document that is not there, or of another weight is left out.
    pub fn link(&mut self, from: u32, to: u32, weight: f32) {
        let there = from.max(to) < self.documents;
        // Not a number is no weight either, and fails both comparisons.
        if from != to && there && weight > 0.0 && weight <= 1.0 {
            self.links.push((from.min(to), from.max(to), weight));
        }
    }

    /// Sorts the links. A million of them take 24 bytes each while this goes on.
    pub fn build(self) -> Graph {
        let mut links = self.links;
        links.sort_unstable_by(|left, right| {
            (left.0, left.1).cmp(&(right.0, right.1)).then_with(|| right.2.total_cmp(&left.2))
        });
        links.dedup_by_key(|link| (link.0, link.1));

        let mut degrees = vec![0_u32; self.documents as usize];
        for (low, high, _) in &links {
            degrees[*low as usize] += 1;
            degrees[*high as usize] += 1;
        }
        let count = links.len();
        let mut ends = Vec::with_capacity(count * 2);
        for (low, high, weight) in links {
            let busier = f64::from(degrees[low as usize].max(degrees[high as usize]));
            let worth = f64::from(weight) / (busier / ORDINARY).max(1.0).sqrt();
            ends.extend([(low, high, worth as f32), (high, low, worth as f32)]);
        }
        ends.sort_unstable_by_key(|(from, to, _)| (*from, *to));
        let kept = strongest_of_each(ends);
        let rows =
            Csr::from_sorted_edges(&kept).unwrap_or_else(|_| unreachable!("sorted, and each pair is there once"));
        Graph { rows, links: count }
    }
}

/// Cuts rows to the strongest links; what is left stays in order.
fn strongest_of_each(mut ends: Vec<(u32, u32, f32)>) -> Vec<(u32, u32, f32)> {
    let mut kept = 0;
    let mut start = 0;
    while start < ends.len() {
        let from = ends[start].0;
        let end = start + ends[start..].partition_point(|link| link.0 == from);
        let row = &mut ends[start..end];
        let length = row.len().min(KEPT);
        if row.len() > KEPT {
            row.select_nth_unstable_by(KEPT, |left, right| right.2.total_cmp(&left.2).then(left.1.cmp(&right.1)));
            row[..KEPT].sort_unstable_by_key(|link| link.1);
        }
        ends.copy_within(start..start + length, kept);
        kept += length;
        start = end;
    }
    ends.truncate(kept);
    ends
}

impl Graph {
    /// The number of links, those that were cut from the rows of hubs included.
    pub fn edges(&self) -> usize {
        self.links
    }

    /// The documents that links lead to from some seeds, at most two hops away, strongest first and of equals the lower
    /// number; strengths are above 0 and up to 1.
    ///
    /// A path is worth the seed's strength (0 to 1) times half of what each of its links is worth. For one seed a
    /// document counts its best path; over several seeds these add up as independent evidence does,
    /// `1 - (1 - a)(1 - b)…`. A seed is not reached from itself, only from another one.
    ///
    /// `allowed` tells which documents may be found. Others are neither returned nor passed through, and one that is a
    /// seed is no start: nothing is found by way of a document that may not be seen. (Its links do count among those of
    /// its neighbours, when it is told how busy they are.)
    ///
    /// The work grows with the number of seeds, not with the size of the graph: for each at most 64 links of at most
    /// 65 documents are followed, and 256 of each looked at.
    pub fn walk(&self, seeds: &[(u32, f64)], allowed: &dyn Fn(u32) -> bool, limit: usize) -> Vec<(u32, f64)> {
        // Each seed once, with its greatest strength, in the order of numbers, so that sums are the same every time.
        let mut starts: BTreeMap<u32, f64> = BTreeMap::new();
        for (seed, strength) in seeds.iter().filter(|(seed, strength)| *strength > 0.0 && allowed(*seed)) {
            let start = starts.entry(*seed).or_insert(0.0);
            *start = start.max(strength.min(1.0));
        }
        let mut missed: BTreeMap<u32, f64> = BTreeMap::new();
        for (seed, strength) in starts {
            for (document, worth) in self.reached_from(seed, strength, allowed) {
                *missed.entry(document).or_insert(1.0) *= 1.0 - worth;
            }
        }
        // What is too weak for a float to tell from nothing is nothing.
        let mut found: Vec<(u32, f64)> = missed
            .into_iter()
            .map(|(document, missed)| (document, 1.0 - missed))
            .filter(|(_, strength)| *strength > 0.0)
            .collect();
        found.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        found.truncate(limit);
        found
    }

    /// What is at most two hops from one seed, with the worth of the best path to it.
    fn reached_from(&self, seed: u32, strength: f64, allowed: &dyn Fn(u32) -> bool) -> BTreeMap<u32, f64> {
        let first = self.followed(seed, strength, allowed);
        let mut best: BTreeMap<u32, f64> = first.iter().copied().collect();
        for (document, worth) in first {
            for (next, worth) in self.followed(document, worth, allowed) {
                let known = best.entry(next).or_insert(0.0);
                *known = known.max(worth);
            }
        }
        best.remove(&seed);
        best
    }

    /// Where the strongest links of a document lead, and what is left there of a strength.
    fn followed(&self, from: u32, strength: f64, allowed: &dyn Fn(u32) -> bool) -> Vec<(u32, f64)> {
        if from as usize >= self.rows.node_count() {
            return Vec::new();
        }
        let row = self.rows.neighbors_slice(from).iter().zip(self.rows.edges_slice(from));
        let mut links: Vec<(u32, f64)> = row
            .filter(|(to, _)| allowed(**to))
            .map(|(to, worth)| (*to, strength * ATTENUATION * f64::from(*worth)))
            .collect();
        if links.len() > FOLLOWED {
            links.select_nth_unstable_by(FOLLOWED, |left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
            links.truncate(FOLLOWED);
        }
        links
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use proptest::prelude::*;

    use super::*;

    type Links = Vec<(u32, u32, f32)>;

    fn graph(documents: u32, links: &[(u32, u32, f32)]) -> Graph {
        let mut builder = GraphBuilder::new(documents);
        links.iter().for_each(|(from, to, weight)| builder.link(*from, *to, *weight));
        builder.build()
    }

    fn check(links: &[(u32, u32, f32)], seeds: &[(u32, f64)], expected: &[(u32, f64)]) {
        let found = graph(100, links).walk(seeds, &|_| true, 10);
        let same = found.len() == expected.len()
            && found
                .iter()
                .zip(expected)
                .all(|(found, expected)| found.0 == expected.0 && (found.1 - expected.1).abs() < 1e-6);
        assert!(same, "{found:?}, expected {expected:?}");
    }

    #[test]
    fn each_hop_halves_and_two_are_enough() {
        let chain = [(1, 2, 1.0), (2, 3, 0.8), (3, 4, 1.0)];
        check(&chain, &[(1, 1.0)], &[(2, 0.5), (3, 0.2)]);
        check(&chain, &[(1, 0.5)], &[(2, 0.25), (3, 0.1)]);
        check(&chain, &[(4, 1.0)], &[(3, 0.5), (2, 0.2)]);
        check(&chain, &[(7, 1.0), (99, 1.0), (1_000, 1.0)], &[]);
        check(&chain, &[], &[]);
        check(&[], &[(1, 1.0)], &[]);
    }

    #[test]
    fn seeds_add_up_and_reach_each_other() {
        // 3 is next to both: 1 - 0.5 · 0.5; each seed is two hops from the other.
        check(&[(1, 3, 1.0), (2, 3, 1.0)], &[(1, 1.0), (2, 1.0)], &[(3, 0.75), (1, 0.25), (2, 0.25)]);
        // Named twice, a seed counts once.
        check(&[(1, 3, 1.0)], &[(1, 0.2), (1, 1.0), (1, f64::NAN), (1, -3.0), (1, 7.0)], &[(3, 0.5)]);
    }

    #[test]
    fn the_best_path_counts_whatever_its_length() {
        check(&[(1, 2, 1.0), (2, 3, 1.0), (1, 3, 0.1)], &[(1, 1.0)], &[(2, 0.5), (3, 0.25)]);
    }

    #[test]
    fn doubled_and_impossible_links_count_once_or_not_at_all() {
        let links = [
            (1, 2, 0.3),
            (2, 1, 0.9),
            (1, 2, 0.5),
            (5, 5, 1.0),
            (5, 100, 1.0),
            (5, 6, 0.0),
            (5, 6, -1.0),
            (5, 6, 1.5),
            (5, 6, f32::NAN),
            (5, 6, f32::INFINITY),
        ];
        assert_eq!(graph(100, &links).edges(), 1);
        check(&links, &[(1, 1.0), (5, 1.0)], &[(2, 0.45)]);
    }

    #[test]
    fn a_hub_says_less_than_a_plain_document() {
        let mut links: Links = (10..50).map(|leaf| (1, leaf, 1.0)).collect();
        links.extend([(60, 61, 1.0), (10, 62, 1.0)]);
        let graph = graph(100, &links);
        let strength = |seed: u32, to: u32| {
            let found = graph.walk(&[(seed, 1.0)], &|_| true, 100);
            found.iter().find(|(found, _)| *found == to).map_or(0.0, |found| found.1)
        };
        assert!((strength(60, 61) - 0.5).abs() < 1e-6);
        assert!((strength(1, 11) - 0.25).abs() < 1e-6, "forty links are four times the ordinary number");
        assert!((strength(11, 1) - 0.25).abs() < 1e-6, "whichever way it is walked");
        assert!((strength(11, 12) - 0.25 * 0.25).abs() < 1e-6);
    }

    #[test]
    fn a_filter_leaves_a_hub_in_other_directions() {
        // The strongest hundred links are forbidden, and more links are there than are followed.
        let links: Links = (1..=200).map(|leaf| (0, leaf, 1.0 - leaf as f32 / 1_000.0)).collect();
        let found = graph(201, &links).walk(&[(0, 1.0)], &|document| document == 0 || document > 100, 1_000);
        let expected: Vec<u32> = (101..101 + FOLLOWED as u32).collect();
        assert_eq!(found.iter().map(|(document, _)| *document).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn rows_of_hubs_are_cut_to_the_strongest() {
        let links: Links = (1..2_000).map(|leaf| (0, leaf, (leaf % 1_000 + 1) as f32 / 1_000.0)).collect();
        let graph = graph(2_000, &links);
        assert_eq!((graph.edges(), graph.rows.edge_count()), (1_999, 1_999 + KEPT));
        let found = graph.walk(&[(0, 1.0)], &|_| true, 4);
        assert_eq!(found.iter().map(|(document, _)| *document).collect::<Vec<_>>(), [999, 1_999, 998, 1_998]);
        // A leaf whose link the hub does not keep still leads to the hub.
        assert_eq!(graph.walk(&[(1, 1.0)], &|_| true, 1)[0].0, 0);
    }

    fn some_links() -> impl Strategy<Value = Links> {
        let weight = prop_oneof![9 => 0.0_f32..1.2, 1 => Just(f32::NAN)];
        prop::collection::vec((0_u32..40, 0_u32..40, weight), 0..300)
    }

    fn some_seeds() -> impl Strategy<Value = Vec<(u32, f64)>> {
        prop::collection::vec((0_u32..45, -0.5_f64..2.0), 0..8)
    }

    proptest! {
        #[test]
        fn only_what_is_allowed_is_found_with_a_strength_in_range(
            links in some_links(), seeds in some_seeds(), allowed in prop::collection::vec(any::<bool>(), 50),
            limit in 0_usize..60,
        ) {
            let whole = graph(40, &links);
            let allows = |document: u32| allowed[document as usize];
            let found = whole.walk(&seeds, &allows, limit);
            prop_assert!(found.len() <= limit);
            for (document, strength) in &found {
                prop_assert!(allows(*document));
                prop_assert!(*strength > 0.0 && *strength <= 1.0);
            }
            prop_assert!(found.is_sorted_by_key(|(document, strength)| (Reverse(strength.to_bits()), *document)));

            // Nothing is found by way of a forbidden document: a graph without it gives the same. Its links still count
            // among those of its neighbours, so only graphs without hubs can be compared.
            let known: Links = links.iter().copied().filter(|link| allows(link.0) && allows(link.1)).collect();
            if links.len() <= ORDINARY as usize {
                prop_assert_eq!(&graph(40, &known).walk(&seeds, &allows, limit), &found);
            }
        }

        #[test]
        fn one_seed_never_finds_itself(links in some_links(), seed in 0_u32..40) {
            let found = graph(40, &links).walk(&[(seed, 1.0)], &|_| true, 100);
            prop_assert!(found.iter().all(|(document, _)| *document != seed));
        }

        #[test]
        fn the_order_of_links_and_unconnected_documents_change_nothing(
            links in some_links(), seeds in some_seeds(), more in 0_u32..20, other in 45_u32..60,
        ) {
            let expected = graph(40, &links).walk(&seeds, &|_| true, 100);
            let turned: Links = links.iter().rev().map(|(from, to, weight)| (*to, *from, *weight)).collect();
            let grown = graph(60 + more, &turned);
            prop_assert_eq!(&grown.walk(&seeds, &|_| true, 100), &expected);
            let beside: Vec<(u32, f64)> = seeds.iter().copied().chain([(other, 1.0)]).rev().collect();
            prop_assert_eq!(&grown.walk(&beside, &|_| true, 100), &expected);
        }

        #[test]
        fn a_walk_is_that_of_a_naive_search(links in some_links(), seed in 0_u32..40) {
            let mut weights = vec![vec![0.0_f64; 40]; 40];
            for (from, to, weight) in &links {
                let (from, to) = (*from as usize, *to as usize);
                if from != to && *weight > 0.0 && *weight <= 1.0 {
                    let known = weights[from][to].max(f64::from(*weight));
                    (weights[from][to], weights[to][from]) = (known, known);
                }
            }
            let degree = |at: usize| weights[at].iter().filter(|weight| **weight > 0.0).count() as f64;
            let worth = |left: usize, right: usize| {
                0.5 * weights[left][right] / (degree(left).max(degree(right)) / ORDINARY).max(1.0).sqrt()
            };
            let found = graph(40, &links).walk(&[(seed, 1.0)], &|_| true, 100);
            let seed = seed as usize;
            for to in (0..40).filter(|to| *to != seed) {
                let over = (0..40).filter(|by| *by != seed).map(|by| worth(seed, by) * worth(by, to));
                let expected = over.fold(worth(seed, to), f64::max);
                let found = found.iter().find(|(found, _)| *found as usize == to).map_or(0.0, |found| found.1);
                prop_assert!((found - expected).abs() < 1e-6, "{to}: {found} {expected}");
            }
        }
    }
}
