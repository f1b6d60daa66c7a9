//! How long does it take to index 100 and 10,000 documents of 30 words, and to ask the larger index a question?
//!
//! The words are drawn from 20,000, by a rule that makes few of them common and many rare, as in natural text.

use divan::{Bencher, black_box};
use hatir_rank::{Config, Document, Index, Query};

fn main() {
    divan::main();
}

/// A small generator of pseudo-random numbers (xorshift), the same on every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    /// Small numbers are drawn far more often than large ones.
    fn word(&mut self) -> String {
        let spread = 1 + self.below(20_000);
        format!("w{}x", self.below(spread))
    }

    fn text(&mut self, words: usize) -> String {
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

fn documents(count: usize) -> Vec<Document> {
    let mut numbers = Numbers(88_172_645_463_325_252);
    (0..count).map(|at| Document::new(format!("d{at:05}"), numbers.text(30))).collect()
}

#[divan::bench(args = [100, 10_000], sample_count = 10, sample_size = 1)]
fn index_in_memory(bencher: Bencher<'_, '_>, count: usize) {
    bencher.with_inputs(|| documents(count)).bench_values(|documents| {
        let index = Index::in_memory(&Config::default()).expect("an index in memory needs nothing");
        index.replace_all(documents).expect("the documents are valid");
        index
    });
}

#[divan::bench(args = [2, 8])]
fn search_10_000(bencher: Bencher<'_, '_>, words: usize) {
    let index = Index::in_memory(&Config::default()).expect("an index in memory needs nothing");
    index.replace_all(documents(10_000)).expect("the documents are valid");
    let mut numbers = Numbers(2_463_534_242);
    bencher
        .with_inputs(|| Query::new(numbers.text(words)))
        .bench_local_values(|query| black_box(index.search(&query, 10).expect("any text is a valid query")));
}

#[divan::bench]
fn add_and_commit_one(bencher: Bencher<'_, '_>) {
    let index = Index::in_memory(&Config::default()).expect("an index in memory needs nothing");
    index.replace_all(documents(1_000)).expect("the documents are valid");
    let mut at = 0;
    bencher.bench_local(|| {
        at += 1;
        index.add(&Document::new(format!("new{at}"), "one more page about refunds")).expect("the document is valid");
        index.commit().expect("memory is never full here");
    });
}
