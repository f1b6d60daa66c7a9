//! What does a write cost that has reached the disk, and what does a read of a large store?
//!
//! ```sh
//! cargo bench -p hatir-memory
//! ```
//!
//! The store holds 10,000 facts in 40 domains of 25 topics, one in ten superseded. It stands in the system's folder for
//! temporary files, so the figures of writes are those of that folder's disk.
//!
//! FIGURES

use std::sync::atomic::{AtomicUsize, Ordering};

use divan::Bencher;
use hatir_memory::{FactQuery, Moment, NewFact, Store};

const FACTS: usize = 10_000;

fn main() {
    divan::main();
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

/// Writes of the filling are as durable as any; building it takes some seconds.
fn filled(folder: &tempfile::TempDir) -> Store {
    let store = Store::open(folder.path().join("memory.db")).expect("the temporary folder can be written");
    for number in 0..FACTS {
        let fact = store.record(statement(number), moment(number)).expect("a statement of its own").fact;
        if number % 10 == 0 {
            let next = NewFact::new(fact.domain, fact.topic, format!("Service {number} is retired."));
            store.supersede(&fact.id, next, moment(number)).expect("it stands");
        }
    }
    store
}

fn with_store(bencher: Bencher<'_, '_>, work: impl Fn(&Store) + Sync) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = filled(&folder);
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
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(filled(&folder));
    bencher.bench(|| Store::open(folder.path().join("memory.db")).expect("it is there"));
}
