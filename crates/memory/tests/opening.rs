//! Which files are opened, and which are refused without being touched.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use hatir_memory::{Error, FactQuery, Moment, NewFact, OpenOptions, Store};
use rusqlite::Connection;

const NOW: Moment = Moment::from_micros(1_000);

#[track_caller]
fn refused_untouched(path: &Path) -> Error {
    let before = fs::read(path).unwrap();
    let error = Store::open(path).unwrap_err();
    assert!(fs::read(path).unwrap() == before, "{} was changed", path.display());
    error
}

#[test]
fn a_store_is_there_again_when_reopened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hafıza file:x?mode=ro.db");
    let fact = Store::open(&path).unwrap().record(NewFact::new("a", "b", "c"), NOW).unwrap().fact;
    assert!(path.exists());
    let store = Store::open(&path).unwrap();
    assert_eq!(store.facts(&FactQuery::default(), NOW).unwrap(), [fact]);
    store.check_integrity().unwrap();
}

#[test]
fn an_empty_file_becomes_a_store() {
    let file = tempfile::NamedTempFile::new().unwrap();
    Store::open(file.path()).unwrap().record(NewFact::new("a", "b", "c"), NOW).unwrap();
    assert_eq!(Store::open(file.path()).unwrap().position().unwrap(), 1);
}

#[test]
fn other_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    for text in ["hello", &"not a database ".repeat(1_000)] {
        fs::write(&path, text).unwrap();
        assert_eq!(refused_untouched(&path), Error::NotADatabase { path: path.clone() });
    }
}

#[test]
fn the_databases_of_other_programs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let marked = folder.path().join("marked.db");
    Connection::open(&marked).unwrap().execute_batch("PRAGMA application_id = 77; CREATE TABLE t (x)").unwrap();
    assert_eq!(refused_untouched(&marked), Error::OtherApplication { path: marked.clone(), application_id: 77 });

    let unmarked = folder.path().join("unmarked.db");
    Connection::open(&unmarked).unwrap().execute_batch("CREATE TABLE fact (x)").unwrap();
    let error = refused_untouched(&unmarked);
    assert_eq!(error, Error::OtherApplication { path: unmarked.clone(), application_id: 0 });
    assert!(error.to_string().contains("not a Hatır memory store"), "{error}");
}

#[test]
fn a_newer_store_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    drop(Store::open(&path).unwrap());
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 999").unwrap();
    let error = refused_untouched(&path);
    assert!(matches!(error, Error::NewerSchema { found: 999, .. }), "{error:?}");
    assert!(error.to_string().ends_with("update the program"), "{error}");
}

#[test]
fn what_cannot_be_opened_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let error = Store::open(folder.path()).unwrap_err();
    assert!(error.to_string().ends_with("it is a folder; expected a file"), "{error}");
    let error = Store::open(folder.path().join("missing/memory.db")).unwrap_err();
    assert!(error.to_string().contains("there is no folder"), "{error}");
}

#[test]
fn a_damaged_store_is_found_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = Store::open(&path).unwrap();
    for number in 0..500 {
        store.record(NewFact::new("a", "b", format!("statement {number}")), NOW).unwrap();
    }
    drop(store);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4096].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let checked = Store::open(&path).and_then(|store| store.check_integrity());
    assert!(matches!(checked, Err(Error::Corrupt { .. })), "{checked:?}");
}

#[test]
fn a_writer_that_never_ends_is_waited_for_only_so_long() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let options = OpenOptions { busy_timeout: Duration::from_millis(50) };
    let store = Store::open_with(&path, &options).unwrap();
    store.record(NewFact::new("a", "b", "before"), NOW).unwrap();

    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.record(NewFact::new("a", "b", "during"), NOW).unwrap_err();
    assert_eq!(error, Error::Busy { path: path.clone(), waited: options.busy_timeout });
    assert_eq!(store.facts(&FactQuery::default(), NOW).unwrap().len(), 1, "reading needs no lock");
    other.execute_batch("ROLLBACK").unwrap();
    store.record(NewFact::new("a", "b", "after"), NOW).unwrap();
    assert_eq!(store.position().unwrap(), 2);
}

#[test]
fn rows_cannot_be_edited_past_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let store = Store::open(&path).unwrap();
    let old = store.record(NewFact::new("a", "b", "old"), NOW).unwrap().fact;
    store.supersede(&old.id, NewFact::new("a", "b", "new"), NOW).unwrap();

    let other = Connection::open(&path).unwrap();
    let refusal = |sql: &str| other.execute_batch(sql).unwrap_err().to_string();
    assert!(refusal("UPDATE fact SET content = 'x'").contains("never edited in place"));
    assert!(refusal("UPDATE fact SET superseded_by = NULL, superseded_at = NULL").contains("superseded already"));
    assert!(refusal("UPDATE change SET at = 0").contains("append only"));
    assert!(refusal("DELETE FROM change").contains("append only"));
    assert!(refusal("UPDATE fact SET confidence = 2").contains("CHECK constraint failed"));
    assert!(refusal("UPDATE fact SET mentions = 'many'").contains("cannot store TEXT value in INTEGER column"));
}
