//! The kinds that keep something: indexes and the memory.

use std::fs;
use std::path::Path;

use hatir_memory::{Moment, NewFact, Store};
use serde_json::{Value as Json, json};

use crate::stage::StageError;
use crate::stages::testing::{Bench, inputs};
use crate::value::{Type, Value};

fn documents() -> Json {
    json!([
        {
            "id": "en/refunds#3", "title": "Refund window", "language": "en",
            "text": "Our refund window is 30 days.", "fields": { "page": "Refunds" },
            "place": { "path": "en/refunds.md", "line": 5 }
        },
        { "id": "tr/refunds#3", "title": "İade süremiz", "language": "tr", "text": "İade süremiz 30 gündür." },
        { "id": "en/app#1", "text": "There is a mobile app for your phone." }
    ])
}

fn index(folder: &Path, with: Json, documents: Json) -> Result<Value, StageError> {
    Bench::new("rank.index", with).within(folder).run(&inputs([("documents", Type::Documents, documents)]))
}

fn search(with: Json, index: Option<&Value>, folder: &Path, query: &str) -> Result<Json, StageError> {
    let mut ports = inputs([("query", Type::Query, json!(query))]);
    if let Some(index) = index {
        ports.push("index", index.clone());
    }
    Bench::new("rank.query", with).within(folder).run(&ports).map(|hits| hits.to_json())
}

#[test]
fn an_index_in_memory_answers_with_places_and_reasons() {
    let here = Path::new(".");
    let made = index(here, json!({}), documents()).unwrap();
    assert_eq!(made.to_json(), json!({ "documents": 3 }));
    let found = search(json!({}), Some(&made), here, "refund window").unwrap();
    assert_eq!(found["query"], "refund window");
    let hit = &found["hits"][0];
    assert_eq!((&hit["id"], &hit["title"]), (&json!("en/refunds#3"), &json!("Refund window")));
    assert_eq!(hit["place"], json!({ "path": "en/refunds.md", "line": 5 }));
    assert_eq!(hit["fields"], json!({ "page": "Refunds" }));
    assert_eq!(hit["voices"][0]["voice"], "lexical");
    assert_eq!(hit["voices"][0]["contribution"], hit["score"]);

    let nothing = search(json!({}), Some(&made), here, "zeppelin").unwrap();
    assert_eq!(nothing["hits"], json!([]));
    assert!(nothing["silent_because"][0].as_str().unwrap().starts_with("lexical: "), "{nothing}");
    let all = search(json!({ "minimum-score": 0.0 }), Some(&made), here, "mobile refund app").unwrap();
    assert_eq!(all["hits"].as_array().unwrap().len(), 2);
    let one = search(json!({ "top-k": 1 }), Some(&made), here, "mobile refund app").unwrap();
    assert_eq!(one["hits"].as_array().unwrap().len(), 1);
    let none = search(json!({ "minimum-score": 9.0 }), Some(&made), here, "refund").unwrap();
    let reasons: Vec<&str> = none["silent_because"].as_array().unwrap().iter().filter_map(|one| one.as_str()).collect();
    assert!(reasons.iter().any(|reason| reason.contains("none of 1 hits reached the score 9")), "{none}");
}

#[test]
fn exactly_one_index() {
    let folder = tempfile::tempdir().unwrap();
    let made = index(folder.path(), json!({ "dir": "index" }), documents()).unwrap();
    let both = search(json!({ "dir": "index" }), Some(&made), folder.path(), "refund").unwrap_err();
    assert!(both.message.contains("two indexes") && !both.retryable, "{both}");
    let none = search(json!({}), None, folder.path(), "refund").unwrap_err();
    assert!(none.message.contains("there is no index") && none.hint.unwrap().contains("rank.index"));
    let missing = search(json!({ "dir": "elsewhere" }), None, folder.path(), "refund").unwrap_err();
    assert!(missing.message.contains("elsewhere") && missing.hint.unwrap().contains("rank.index"));
}

/// The files of a folder with the moment of their last change.
fn state(folder: &Path) -> Vec<(std::ffi::OsString, std::time::SystemTime)> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut state: Vec<_> =
        entries.map(|entry| (entry.file_name(), entry.metadata().unwrap().modified().unwrap())).collect();
    state.sort();
    state
}

#[test]
fn a_folder_is_written_again_only_when_a_document_changed() {
    let folder = tempfile::tempdir().unwrap();
    let make = |documents: Json| index(folder.path(), json!({ "dir": "index" }), documents).unwrap();
    let at = folder.path().join("index");
    make(documents());
    let first = state(&at);
    make(documents());
    assert_eq!(state(&at), first);
    let found = search(json!({ "dir": "index" }), None, folder.path(), "iade süremiz").unwrap();
    assert_eq!(found["hits"][0]["id"], "tr/refunds#3");

    let mut changed = documents();
    changed[2]["text"] = json!("There is a zeppelin.");
    make(changed);
    assert_ne!(state(&at), first);
    let found = search(json!({ "dir": "index" }), None, folder.path(), "zeppelin").unwrap();
    assert_eq!(found["hits"][0]["id"], "en/app#1");
}

#[test]
fn a_damaged_index_is_made_anew_and_a_strange_folder_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    index(folder.path(), json!({ "dir": "index" }), documents()).unwrap();
    fs::write(folder.path().join("index").join("meta.json"), "{").unwrap();
    let made = index(folder.path(), json!({ "dir": "index" }), documents()).unwrap();
    assert_eq!(made.to_json(), json!({ "documents": 3 }));

    fs::create_dir(folder.path().join("photos")).unwrap();
    fs::write(folder.path().join("photos/cat.jpg"), "cat").unwrap();
    let error = index(folder.path(), json!({ "dir": "photos" }), documents()).unwrap_err();
    assert!(error.message.contains("photos") && !error.retryable, "{error}");
    assert!(folder.path().join("photos/cat.jpg").exists());
    let error = index(folder.path(), json!({ "dir": "photos/cat.jpg" }), documents()).unwrap_err();
    assert!(error.message.contains("is a file, expected a folder"), "{error}");
}

#[test]
fn two_documents_with_one_id_are_both_named() {
    let error = index(
        Path::new("."),
        json!({}),
        json!([
            { "id": "a", "text": "x", "place": { "path": "a.md", "line": 1 } },
            { "id": "b", "text": "y" },
            { "id": "a", "text": "z" },
        ]),
    )
    .unwrap_err();
    assert_eq!(error.message, "two documents have the id \"a\": a.md:1 and document 3");
    assert!(!error.retryable);
}

#[test]
fn several_sources_go_into_one_index() {
    let mut ports = inputs([("documents", Type::Documents, documents())]);
    ports.push("documents", Value::from_json(Type::Documents, json!([{ "id": "more", "text": "x" }])).unwrap());
    let made = Bench::new("rank.index", json!({})).run(&ports).unwrap();
    assert_eq!(made.to_json(), json!({ "documents": 4 }));
    assert_eq!(Bench::new("rank.index", json!({})).run(&inputs([])).unwrap().to_json(), json!({ "documents": 0 }));
}

#[test]
fn a_cancelled_indexing_leaves_the_folder_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    index(folder.path(), json!({ "dir": "index" }), documents()).unwrap();
    let bench = Bench::new("rank.index", json!({ "dir": "index" })).within(folder.path());
    bench.cancel.cancel();
    let error = bench.run(&inputs([("documents", Type::Documents, json!([{ "id": "a", "text": "x" }]))])).unwrap_err();
    assert!(error.message.contains("asked to stop"));
    let found = search(json!({ "dir": "index" }), None, folder.path(), "refund window").unwrap();
    assert_eq!(found["hits"][0]["id"], "en/refunds#3");
}

#[test]
fn a_dry_run_indexes_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new("rank.index", json!({ "dir": "index" })).within(folder.path()).dry();
    bench.run(&inputs([("documents", Type::Documents, documents())])).unwrap();
    assert!(!folder.path().join("index").exists());
}

fn record(folder: &Path, with: Json, content: &str) -> Result<Json, StageError> {
    let mut all = json!({ "path": "facts.db", "domain": "shop", "topic": "refunds" });
    all.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
    let ports = inputs([("content", Type::Text, json!(content))]);
    Bench::new("memory.record", all).within(folder).run(&ports).map(|facts| facts.to_json())
}

fn facts(folder: &Path, with: Json) -> Result<Json, StageError> {
    let mut all = json!({ "path": "facts.db" });
    all.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
    Bench::new("memory.facts", all).within(folder).run(&inputs([])).map(|facts| facts.to_json())
}

#[test]
fn a_fact_is_recorded_and_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let stated = json!({ "veracity": "stated", "author": "derya" });
    let first = record(folder.path(), stated.clone(), "Refunds take 14 days.").unwrap();
    assert_eq!(first[0]["content"], "Refunds take 14 days.");
    assert_eq!((&first[0]["confidence"], &first[0]["mentions"]), (&json!(0.5), &json!(1)));
    assert_eq!(first[0]["recorded_at"], "2026-01-02T03:04:05Z");
    let again = record(folder.path(), stated, "Refunds take 14 days.").unwrap();
    assert_eq!((&again[0]["id"], &again[0]["mentions"]), (&first[0]["id"], &json!(2)));
    record(folder.path(), json!({ "confidence": 0.25, "topic": "app" }), "There is an app.").unwrap();

    let all = facts(folder.path(), json!({})).unwrap();
    assert_eq!(all.as_array().unwrap().len(), 2);
    assert_eq!((&all[0]["topic"], &all[0]["confidence"]), (&json!("app"), &json!(0.25)));
    assert_eq!(facts(folder.path(), json!({ "limit": 1 })).unwrap().as_array().unwrap().len(), 1);
    let some = facts(folder.path(), json!({ "domain": "shop", "topic": "refunds" })).unwrap();
    assert_eq!(some, again);
    assert_eq!(facts(folder.path(), json!({ "topic": "Refunds" })).unwrap(), json!([]));
}

#[test]
fn ports_take_the_place_of_settings() {
    let folder = tempfile::tempdir().unwrap();
    let ports = [("content", "It floats."), ("domain", "air"), ("topic", "zeppelin")];
    let ports = inputs(ports.map(|(port, text)| (port, Type::Text, json!(text))));
    let bench = Bench::new("memory.record", json!({ "path": "facts.db", "domain": "sea" })).within(folder.path());
    assert_eq!(bench.run(&ports).unwrap().to_json()[0]["domain"], "air");

    let bench = Bench::new("memory.facts", json!({ "path": "facts.db", "topic": "sea" })).within(folder.path());
    let found = bench.run(&inputs([("topic", Type::Text, json!("zeppelin"))])).unwrap().to_json();
    assert_eq!(found[0]["content"], "It floats.");

    let bench = Bench::new("memory.record", json!({ "path": "facts.db", "domain": "sea" })).within(folder.path());
    let error = bench.run(&inputs([("content", Type::Text, json!("x"))])).unwrap_err();
    assert_eq!(error.message, "the fact has no topic");
    assert_eq!(error.hint.as_deref(), Some("set `with.topic`, or feed `in.topic`"));
}

#[test]
fn any_moment_can_be_asked() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("facts.db")).unwrap();
    let day = |number: i64| Moment::from_micros(1_767_225_600_000_000 + number * 86_400_000_000);
    let old = store.record(NewFact::new("team", "office", "In Ankara."), day(-30)).unwrap().fact;
    store.supersede(&old.id, NewFact::new("team", "office", "In İzmir."), day(-10)).unwrap();
    drop(store);
    let content = |with: Json| facts(folder.path(), with).unwrap()[0]["content"].clone();
    // Day 0 is 2026-01-01; the run is on 2026-01-02.
    assert_eq!(content(json!({})), "In İzmir.");
    assert_eq!(content(json!({ "as-of": "2025-12-10T00:00:00Z" })), "In Ankara.");
    assert_eq!(content(json!({ "as-of": "2025-12-10T03:00:00+03:00" })), "In Ankara.");
    let then = facts(folder.path(), json!({ "known-at": "2025-12-10T00:00:00Z" })).unwrap();
    assert_eq!((&then[0]["content"], &then[0]["superseded_by"]), (&json!("In Ankara."), &Json::Null));
    assert_eq!(facts(folder.path(), json!({ "as-of": "2020-01-01T00:00:00Z" })).unwrap(), json!([]));
}

#[test]
fn moments_and_names_are_checked_with_the_file() {
    let with = json!({ "path": "x", "as-of": "2026-03-01", "known-at": "yesterday", "domain": " " });
    let complaints = Bench::new("memory.facts", with).check();
    let keys: Vec<&str> = complaints.iter().map(|complaint| complaint.key[0].as_str()).collect();
    assert_eq!(keys, ["domain", "as-of", "known-at"]);
    assert!(complaints[2].message.contains("\"yesterday\""));
    let with = json!({ "path": "x", "topic": "" });
    assert_eq!(Bench::new("memory.record", with).check()[0].key, ["topic"]);
}

#[test]
fn a_store_that_is_missing_or_something_else_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = facts(folder.path(), json!({})).unwrap_err();
    assert!(missing.message.contains("there is no store at") && missing.hint.unwrap().contains("memory.record"));
    assert!(!folder.path().join("facts.db").exists(), "looking makes nothing");

    fs::write(folder.path().join("facts.db"), "not a database, by any means, of any kind whatever it is").unwrap();
    for error in [facts(folder.path(), json!({})).unwrap_err(), record(folder.path(), json!({}), "x").unwrap_err()] {
        assert!(error.message.contains("facts.db") && !error.retryable, "{error}");
    }
    let error = record(folder.path(), json!({ "path": "none/facts.db" }), "x").unwrap_err();
    assert!(error.message.contains("there is no folder"), "{error}");
    let error = record(folder.path(), json!({ "path": "." }), "x").unwrap_err();
    assert!(error.message.contains("is a folder"), "{error}");
}

#[test]
fn a_dry_run_records_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let with = json!({ "path": "facts.db", "domain": "a", "topic": "b" });
    let bench = Bench::new("memory.record", with).within(folder.path()).dry();
    bench.run(&inputs([("content", Type::Text, json!("x"))])).unwrap();
    assert!(!folder.path().join("facts.db").exists());
}
