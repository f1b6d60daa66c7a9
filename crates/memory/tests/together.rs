//! Several writers and readers at once, and processes that die while they write.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use hatir_memory::{FactId, FactQuery, Moment, NewFact, Outcome, Store};

const NOW: Moment = Moment::from_micros(1_772_366_400_000_000);

fn statement(writer: usize, number: usize) -> NewFact {
    NewFact::new("load", format!("topic {}", number % 7), format!("writer {writer} says {number}"))
}

#[test]
fn eight_writers_never_find_the_store_locked() {
    const WRITERS: usize = 8;
    const EACH: usize = 100;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let path = &path;
            scope.spawn(move || {
                // Each opens its own, so that creating the store is part of the race.
                let store = Store::open(path).unwrap();
                for number in 0..EACH {
                    assert_eq!(store.record(statement(writer, number), NOW).unwrap().outcome, Outcome::Added);
                }
            });
        }
    });
    let store = Store::open(&path).unwrap();
    let facts = store.facts(&FactQuery::default(), NOW).unwrap();
    assert_eq!(facts.len(), WRITERS * EACH);
    let positions: BTreeSet<i64> = facts.iter().map(|fact| fact.seq).collect();
    assert_eq!(positions, (1..=(WRITERS * EACH) as i64).collect());
    store.check_integrity().unwrap();
}

#[test]
fn one_statement_from_many_writers_is_one_fact() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let store = Store::open(&path).unwrap();
                for _ in 0..25 {
                    store.record(NewFact::new("a", "b", "All say the same."), NOW).unwrap();
                }
            });
        }
    });
    let facts = Store::open(&path).unwrap().facts(&FactQuery::default(), NOW).unwrap();
    assert_eq!((facts.len(), facts[0].mentions), (1, 100));
}

#[test]
fn one_of_many_supersedes_and_the_others_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let old = Store::open(&path).unwrap().record(NewFact::new("a", "b", "old"), NOW).unwrap().fact;
    let won: usize = std::thread::scope(|scope| {
        let racers: Vec<_> = (0..6)
            .map(|racer| {
                let (path, old) = (&path, &old);
                scope.spawn(move || {
                    let store = Store::open(path).unwrap();
                    match store.supersede(&old.id, NewFact::new("a", "b", format!("new {racer}")), NOW) {
                        Ok(_) => 1,
                        Err(hatir_memory::Error::AlreadySuperseded { .. }) => 0,
                        Err(error) => panic!("{error}"),
                    }
                })
            })
            .collect();
        racers.into_iter().map(|racer| racer.join().unwrap()).sum()
    });
    assert_eq!(won, 1);
    assert_eq!(Store::open(&path).unwrap().history("a", "b").unwrap().len(), 2);
}

#[test]
fn a_reader_sees_whole_changes_while_others_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let writer = Store::open(&path).unwrap();
    let first = writer.record(NewFact::new("a", "b", "value 0"), NOW).unwrap().fact;
    std::thread::scope(|scope| {
        let writing = scope.spawn(move || {
            let mut last: FactId = first.id;
            for number in 1..200 {
                last = writer.supersede(&last, NewFact::new("a", "b", format!("value {number}")), NOW).unwrap().id;
            }
        });
        let reader = Store::open(&path).unwrap();
        let mut before = 0;
        while !writing.is_finished() {
            // At any moment exactly one value stands, and never an older one than before.
            let facts = reader.facts(&FactQuery::default(), NOW).unwrap();
            assert_eq!(facts.len(), 1);
            assert!(facts[0].seq >= before);
            before = facts[0].seq;
        }
    });
    let log = Store::open(&path).unwrap().changes(0, 1_000).unwrap();
    let positions: Vec<i64> = log.iter().map(|change| change.seq).collect();
    assert_eq!(positions, (1..=399).collect::<Vec<_>>());
}

/// The path that a child of [`killed_writers_lose_nothing`] writes to.
const CHILD: &str = "HATIR_TEST_CHILD_STORE";

/// How many times a writer is killed; ten when not given.
const KILLS: &str = "HATIR_TEST_KILLS";

#[expect(clippy::disallowed_methods, reason = "a test is told by its environment what to be")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The child's part: records and supersedes until it is killed, and prints each fact once the store has answered for
/// it. Does nothing when it runs as a test of its own.
#[test]
fn child_that_writes_until_killed() {
    let Some(path) = variable(CHILD) else { return };
    let store = Store::open(path).unwrap();
    let mut out = std::io::stdout();
    for number in 0.. {
        let fact = store.record(statement(std::process::id() as usize, number), NOW).unwrap().fact;
        writeln!(out, "fact {}", fact.id).and_then(|()| out.flush()).unwrap();
        if number % 3 == 0 {
            let next = NewFact::new("load", "changed", format!("{} changed", fact.content));
            let next = store.supersede(&fact.id, next, NOW).unwrap();
            writeln!(out, "fact {}", next.id).and_then(|()| out.flush()).unwrap();
        }
    }
}

#[test]
fn killed_writers_lose_nothing() {
    let kills: usize = variable(KILLS).map_or(10, |kills| kills.parse().expect("a number of kills"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let mut acknowledged: BTreeSet<FactId> = BTreeSet::new();
    for kill in 0..kills {
        acknowledged.extend(write_and_kill(&path, 1 + kill * 7 % 40));

        let store = Store::open(&path).unwrap();
        store.check_integrity().unwrap();
        let all = FactQuery { include_superseded: true, ..FactQuery::default() };
        let stored: BTreeSet<FactId> = store.facts(&all, NOW).unwrap().into_iter().map(|fact| fact.id).collect();
        let lost: Vec<&FactId> = acknowledged.difference(&stored).collect();
        assert!(lost.is_empty(), "kill {kill} lost {lost:?}");
        // At most the one that was being written when the kill came is there without having been acknowledged.
        assert!(stored.len() <= acknowledged.len() + kill + 1);
    }
    assert!(acknowledged.len() >= kills);
}

/// Runs a writer, kills it after it has acknowledged so many facts, and returns all that it acknowledged.
fn write_and_kill(path: &Path, after: usize) -> Vec<FactId> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_writes_until_killed", "--nocapture"])
        .env(CHILD, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut seen = Vec::new();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in lines.map_while(Result::ok) {
        if let Some(id) = line.split("fact ").nth(1) {
            // A line that the kill cut short does not parse, and acknowledges nothing.
            seen.extend(id.parse::<FactId>());
        }
        if seen.len() == after {
            // SIGKILL on Unix: no destructor runs, no file is closed by us.
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(seen.len() >= after, "the writer ended by itself");
    seen
}
