//! What does a write cost that has reached the disk, and what does a read of a large store?
//!
//! ```sh
//! cargo bench -p hatir-memory
//! ```
//!
//! The store holds 10,000 facts in 40 domains of 25 topics, one in ten superseded. It stands in the system's folder for
//! temporary files, so the figures of writes are those of that folder's disk.
//!
//! Two shared cores of a virtual machine, busy with other builds, 2026-12:
//!
//! | | fastest | median |
//! |---|---|---|
//! | `record`, synced | 0.16–0.24 ms | 4–6 ms: waiting for the disk and a core |
//! | `facts_of_a_topic` (10 facts) | 0.07 ms | 0.07 ms |
//! | the same, as they were and were known | 0.09 ms | 0.09 ms |
//! | `all_facts` (10,000) | 17 ms | 26 ms |
//! | `open` | 0.11 ms | 0.13 ms |

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use divan::Bencher;
use hatir_memory::{FactQuery, Moment, NewFact, Store};

const FACTS: usize = 10_000;

fn main() {
    LazyLock::force(&FOLDER);
    divan::main();
    // A static is never dropped, and the folder is large.
    std::fs::remove_dir_all(FOLDER.path()).expect("nobody uses it any more");
}

fn moment(number: usize) -> Moment {
    Moment::from_micros(1_772_366_400_000_000 + number as i64 * 1_000)
}

fn statement(number: usize) -> NewFact {
    let (domain, topic) = (number % 40, number / 40 % 25);
    NewFact::new(
        format!("domain {domain}"),
        format!("topic {topic}"),
        format!("Service {number} listens on port {} and is restarted by its owner on weekdays.", number * 7 % 60_000),
    )
}

/// The folder of a store that is filled once; its writes are as durable as any, so that takes some seconds.
static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fill(&Store::open(folder.path().join("memory.db")).expect("the folder can be written"));
    folder
});

fn store() -> Store {
    Store::open(FOLDER.path().join("memory.db")).expect("it is there")
}

fn fill(store: &Store) {
    for number in 0..FACTS {
        let fact = store.record(statement(number), moment(number)).expect("a statement of its own").fact;
        if number % 10 == 0 {
            let next = NewFact::new(fact.domain, fact.topic, format!("Service {number} is retired."));
            store.supersede(&fact.id, next, moment(number)).expect("it stands");
        }
    }
}

fn with_store(bencher: Bencher<'_, '_>, work: impl Fn(&Store) + Sync) {
    let store = store();
    bencher.bench(|| work(&store));
}

#[divan::bench(sample_count = 300)]
fn record(bencher: Bencher<'_, '_>) {
    let next = AtomicUsize::new(FACTS);
    with_store(bencher, |store| {
        let number = next.fetch_add(1, Ordering::Relaxed);
        store.record(statement(number), moment(number)).expect("there is room");
    });
}

#[divan::bench(sample_count = 300)]
fn mention(bencher: Bencher<'_, '_>) {
    with_store(bencher, |store| {
        store.record(statement(77), moment(FACTS)).expect("there is room");
    });
}

#[divan::bench]
fn facts_of_a_topic(bencher: Bencher<'_, '_>) {
    let query =
        FactQuery { domain: Some("domain 7".to_owned()), topic: Some("topic 7".to_owned()), ..FactQuery::default() };
    with_store(bencher, |store| assert!(!store.facts(&query, moment(FACTS)).expect("it can be read").is_empty()));
}

#[divan::bench]
fn facts_of_a_topic_as_they_were(bencher: Bencher<'_, '_>) {
    let query = FactQuery {
        domain: Some("domain 7".to_owned()),
        topic: Some("topic 7".to_owned()),
        as_of: Some(moment(FACTS / 2)),
        known_at: Some(moment(FACTS / 2)),
        ..FactQuery::default()
    };
    with_store(bencher, |store| assert!(!store.facts(&query, moment(FACTS)).expect("it can be read").is_empty()));
}

#[divan::bench(sample_count = 20)]
fn all_facts(bencher: Bencher<'_, '_>) {
    with_store(bencher, |store| {
        assert!(store.facts(&FactQuery::default(), moment(FACTS)).expect("it can be read").len() >= FACTS);
    });
}

#[divan::bench]
fn open(bencher: Bencher<'_, '_>) {
    drop(store());
    bencher.bench(store);
}
