//! The index on disk: opening what is there, refusing what is not, sharing it between writers, readers and processes.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use hatir_rank::{Config, Document, Error, Index, Query};

fn config() -> Config {
    Config::default()
}

fn named(writer: &str) -> Config {
    Config { writer: writer.to_owned(), ..Config::default() }
}

fn with_one_document(folder: &Path) -> Index {
    let index = Index::create(folder, &config()).unwrap();
    index.replace_all([Document::new("a", "A refund is paid within 14 days.")]).unwrap();
    index
}

fn hits(index: &Index, query: &str) -> Vec<String> {
    index.search(&Query::new(query), 10).unwrap().hits.into_iter().map(|hit| hit.id).collect()
}

#[test]
fn what_was_committed_is_there_after_opening() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("deep").join("index");
    drop(with_one_document(&folder));
    let index = Index::open(&folder, &config()).unwrap();
    assert_eq!(hits(&index, "refunds"), ["a"]);
    index.verify().unwrap();
    assert!(matches!(Index::create(&folder, &config()), Err(Error::AlreadyExists { .. })));
    assert_eq!(Index::open_or_create(&folder, &config()).unwrap().len(), 1);
    assert!(Index::rebuild(&folder, &config()).unwrap().is_empty());
}

#[test]
fn a_fingerprint_lasts_for_the_commit_it_was_set_for() {
    let place = tempfile::tempdir().unwrap();
    let index = with_one_document(place.path());
    assert_eq!(index.fingerprint().unwrap(), None);
    index.set_fingerprint("pages \"1\"");
    assert_eq!(index.fingerprint().unwrap(), None);
    index.commit().unwrap();
    let reader = Index::open(place.path(), &config()).unwrap();
    assert_eq!(reader.fingerprint().unwrap().as_deref(), Some("pages \"1\""));
    index.add(&Document::new("b", "more")).unwrap();
    index.commit().unwrap();
    assert_eq!(reader.fingerprint().unwrap(), None);
}

#[test]
fn many_commits_leave_few_files() {
    let place = tempfile::tempdir().unwrap();
    let index = Index::create(place.path(), &config()).unwrap();
    for number in 0..20 {
        index.add(&Document::new(format!("d{number}"), format!("refund number{number}"))).unwrap();
        index.commit().unwrap();
    }
    assert_eq!(hits(&index, "refund").len(), 10);
    assert_eq!(index.len(), 20);
    let files = fs::read_dir(place.path()).unwrap().count();
    assert!(files < 80, "{files} files after 20 commits");
}

fn open_error(folder: &Path) -> Error {
    Index::open(folder, &config()).unwrap_err()
}

#[test]
fn what_is_no_index_is_named() {
    let place = tempfile::tempdir().unwrap();
    let missing = place.path().join("missing");
    assert!(matches!(open_error(&missing), Error::NotFound { found: "missing", .. }));
    assert!(!missing.exists(), "looking creates nothing");
    assert!(matches!(open_error(place.path()), Error::NotFound { found: "empty", .. }));

    let file = place.path().join("file");
    fs::write(&file, "text").unwrap();
    assert!(matches!(open_error(&file), Error::NotAnIndex { .. }));
    assert!(matches!(Index::open_or_create(&file, &config()), Err(Error::NotAnIndex { .. })));
    let error = Index::open_or_create(place.path(), &config()).unwrap_err();
    assert!(error.to_string().contains("it holds \"file\""), "{error}");
    let error = Index::rebuild(place.path(), &config()).unwrap_err();
    assert!(matches!(error, Error::NotAnIndex { .. }));
    assert_eq!(fs::read_to_string(&file).unwrap(), "text", "nothing was removed");
}

#[test]
fn another_version_is_refused_with_the_remedy() {
    let place = tempfile::tempdir().unwrap();
    drop(with_one_document(place.path()));
    fs::write(place.path().join("hatir-rank.format"), "hatir-rank schema 99").unwrap();
    let error = open_error(place.path());
    assert!(matches!(error, Error::Incompatible { .. }) && error.rebuild_helps());
    assert!(error.to_string().contains("schema 99") && error.to_string().contains("rebuild"), "{error}");
    assert!(matches!(Index::open_or_create(place.path(), &config()), Err(Error::Incompatible { .. })));
    Index::rebuild(place.path(), &config()).unwrap();
    Index::open(place.path(), &config()).unwrap();
}

/// The largest file of the index that is no bookkeeping.
fn largest_file(folder: &Path) -> PathBuf {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|name| name != "json"))
        .max_by_key(|path| path.metadata().unwrap().len())
        .unwrap()
}

#[test]
fn damage_is_named_and_rebuilding_mends_it() {
    type Harm = fn(&Path);
    let harms: [(&str, Harm); 5] = [
        ("garbage in meta.json", |folder| fs::write(folder.join("meta.json"), "{ not json").unwrap()),
        ("empty meta.json", |folder| fs::write(folder.join("meta.json"), "").unwrap()),
        ("no meta.json", |folder| fs::remove_file(folder.join("meta.json")).unwrap()),
        ("a file cut short", |folder| {
            let path = largest_file(folder);
            let bytes = fs::read(&path).unwrap();
            fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        }),
        ("a file missing", |folder| fs::remove_file(largest_file(folder)).unwrap()),
    ];
    for (name, harm) in harms {
        let place = tempfile::tempdir().unwrap();
        drop(with_one_document(place.path()));
        harm(place.path());
        let error = open_error(place.path());
        assert!(error.rebuild_helps(), "{name}: {error:?}");
        let index = Index::rebuild(place.path(), &config()).unwrap();
        assert!(index.is_empty(), "{name}");
    }
}

#[test]
fn a_flipped_byte_is_found_by_verify() {
    let place = tempfile::tempdir().unwrap();
    drop(with_one_document(place.path()));
    let path = largest_file(place.path());
    let mut bytes = fs::read(&path).unwrap();
    bytes[3] ^= 0x10;
    fs::write(&path, bytes).unwrap();
    match Index::open(place.path(), &config()) {
        Ok(index) => assert!(matches!(index.verify(), Err(Error::Corrupt { .. }))),
        Err(error) => assert!(error.rebuild_helps(), "{error:?}"),
    }
}

#[test]
fn a_second_writer_learns_who_is_first() {
    let place = tempfile::tempdir().unwrap();
    drop(with_one_document(place.path()));
    let first = Index::open(place.path(), &named("the first")).unwrap();
    let second = Index::open(place.path(), &named("the second")).unwrap();
    first.add(&Document::new("b", "refund b")).unwrap();
    let holder = format!("the first (process {})", std::process::id());
    for error in [second.add(&Document::new("c", "x")), second.delete("a"), second.replace_all([]).map(drop)] {
        match error {
            Err(Error::Locked { holder: found, .. }) => assert_eq!(found, holder),
            other => panic!("expected the lock to be held: {other:?}"),
        }
    }
    assert!(matches!(Index::rebuild(place.path(), &config()), Err(Error::Locked { .. })));
    assert_eq!(hits(&second, "refund"), ["a"]);
    first.commit().unwrap();
    second.add(&Document::new("c", "refund c")).unwrap();
    second.commit().unwrap();
    assert_eq!(hits(&first, "refund").len(), 3, "the first sees the second's commit");
}

#[test]
fn readers_see_the_old_or_the_new_whole() {
    let place = tempfile::tempdir().unwrap();
    let set =
        |number: usize| (0..20).map(move |at| Document::new(format!("{number}-{at}"), format!("refund item{at}")));
    let writer = Index::create(place.path(), &config()).unwrap();
    writer.replace_all(set(0)).unwrap();
    let reader = Index::open(place.path(), &config()).unwrap();
    thread::scope(|scope| {
        let writing =
            scope.spawn(|| (1..15).for_each(|number| assert_eq!(writer.replace_all(set(number)).unwrap(), 20)));
        while !writing.is_finished() {
            let found = reader.search(&Query::new("refund"), 100).unwrap();
            assert_eq!(found.hits.len(), 20);
            let generation = |id: &str| id.split('-').next().unwrap().to_owned();
            let first = generation(&found.hits[0].id);
            assert!(found.hits.iter().all(|hit| generation(&hit.id) == first));
        }
    });
    assert_eq!(reader.search(&Query::new("refund"), 1).unwrap().hits[0].id, "14-0");
}

/// Set for the second process of the next test: the folder to meet in.
const MEETING_PLACE: &str = "HATIR_RANK_TEST_MEETING_PLACE";

#[test]
fn another_process_writes_what_this_one_reads() {
    if let Some(place) = std::env::var_os(MEETING_PLACE) {
        return write_in_the_second_process(Path::new(&place));
    }
    let place = tempfile::tempdir().unwrap();
    let index = with_one_document(&place.path().join("index"));
    let mut second = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "another_process_writes_what_this_one_reads"])
        .env(MEETING_PLACE, place.path())
        .spawn()
        .unwrap();
    wait_for(&place.path().join("locked"), Some(&mut second));
    match index.add(&Document::new("c", "refund c")) {
        Err(Error::Locked { holder, .. }) => assert_eq!(holder, format!("the second (process {})", second.id())),
        other => panic!("expected the lock to be held: {other:?}"),
    }
    assert_eq!(hits(&index, "refund"), ["a"]);
    fs::write(place.path().join("go"), "").unwrap();
    assert!(second.wait().unwrap().success());
    assert_eq!(hits(&index, "refund"), ["b", "a"]);
}

fn write_in_the_second_process(place: &Path) {
    let index = Index::open(place.join("index"), &named("the second")).unwrap();
    index.add(&Document::new("b", "refund b")).unwrap();
    fs::write(place.join("locked"), "").unwrap();
    wait_for(&place.join("go"), None);
    index.commit().unwrap();
}

fn wait_for(file: &Path, mut process: Option<&mut Child>) {
    for _ in 0..3_000 {
        if file.exists() {
            return;
        }
        if let Some(ended) = process.as_mut().and_then(|process| process.try_wait().unwrap()) {
            panic!("the second process ended early: {ended}");
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("{} never appeared", file.display());
}

#[test]
fn two_handles_create_the_same_index_at_once() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("index");
    thread::scope(|scope| {
        for name in ["x", "y", "z"] {
            let folder = &folder;
            scope.spawn(move || {
                let index = Index::open_or_create(folder, &config()).unwrap();
                // The lock may be another's for a moment.
                while let Err(error) = index.add(&Document::new(name, "refund")) {
                    assert!(matches!(error, Error::Locked { .. }), "{error:?}");
                    thread::sleep(Duration::from_millis(5));
                }
                index.commit().unwrap();
            });
        }
    });
    let index = Index::open(&folder, &config()).unwrap();
    assert_eq!(index.ids().unwrap(), ["x", "y", "z"]);
}

#[cfg(unix)]
#[test]
fn a_folder_that_may_only_be_read_is_read() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = tempfile::tempdir().unwrap();
    drop(with_one_document(place.path()));
    for lock in [".tantivy-meta.lock", ".tantivy-writer.lock"] {
        let _ = fs::remove_file(place.path().join(lock));
    }
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let index = Index::open(place.path(), &config()).unwrap();
    assert_eq!(hits(&index, "refund"), ["a"]);
    // The superuser may write everywhere; for anybody else writing is refused with the folder's name.
    if fs::write(place.path().join("probe"), "").is_err() {
        let error = index.add(&Document::new("b", "refund")).unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{error:?}");
        assert!(error.to_string().contains(&place.path().display().to_string()), "{error}");
    }
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
}
