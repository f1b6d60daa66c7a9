//! How long does a walk over 100,000 documents with 1,000,000 links take, and how long does it take to make them ready?
//!
//! Half of the links lead anywhere; the other half lead to few documents, of which the busiest is a hub of 100,000
//! links, since that is what makes walks expensive. Six seeds are what a search starts from. Wanted: a walk below 10 ms.

use divan::{Bencher, black_box};
use hatir_rank::graph::{Graph, GraphBuilder};

fn main() {
    divan::main();
}

const DOCUMENTS: u32 = 100_000;
const LINKS: u32 = 1_000_000;

/// A small generator of pseudo-random numbers (xorshift), the same on every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % u64::from(limit)) as u32
    }
}

fn builder() -> GraphBuilder {
    let mut numbers = Numbers(88_172_645_463_325_252);
    let mut builder = GraphBuilder::new(DOCUMENTS);
    for at in 0..LINKS {
        let from = numbers.below(DOCUMENTS);
        let to = match at % 2 {
            0 => numbers.below(DOCUMENTS),
            _ => {
                let spread = 1 + numbers.below(1_000);
                numbers.below(spread)
            }
        };
        builder.link(from, to, (1 + numbers.below(100)) as f32 / 100.0);
    }
    builder
}

fn graph() -> Graph {
    builder().build()
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn build(bencher: Bencher<'_, '_>) {
    bencher.with_inputs(builder).bench_values(GraphBuilder::build);
}

/// From documents anywhere, and from the busiest six.
#[divan::bench(args = [50_000, 0])]
fn walk(bencher: Bencher<'_, '_>, first: u32) {
    let graph = graph();
    let seeds: Vec<(u32, f64)> = (first..first + 6).map(|seed| (seed, 0.9)).collect();
    bencher.bench(|| graph.walk(black_box(&seeds), &|_| true, 100));
}

/// With a filter that one document in a hundred passes.
#[divan::bench(args = [50_000, 0])]
fn walk_filtered(bencher: Bencher<'_, '_>, first: u32) {
    let graph = graph();
    let seeds: Vec<(u32, f64)> = (first..first + 6).map(|seed| (seed, 0.9)).collect();
    let allowed = |document: u32| document.is_multiple_of(100) || (first..first + 6).contains(&document);
    bencher.bench(|| graph.walk(black_box(&seeds), &allowed, 100));
}
