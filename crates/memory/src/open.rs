//! From a path to a connection whose schema is the one this crate knows.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use crate::Error;

/// `Hatr` in ASCII: the mark by which a file is known to be ours.
pub(crate) const APPLICATION_ID: i32 = 0x4861_7472;

/// The schema, one step per version; step *n* brings version *n* to *n + 1*. A step that was released is never edited.
pub(crate) const MIGRATIONS: &[&str] = &[include_str!("../migrations/0001_facts.sql")];

/// How [`Store::open_with`](crate::Store::open_with) opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenOptions {
    /// How long to wait for another writer before [`Error::Busy`]; ten seconds by default. A write takes about a
    /// millisecond, so only a stuck process makes anybody wait that long.
    pub busy_timeout: Duration,
}

impl Default for OpenOptions {
    fn default() -> Self {
        OpenOptions { busy_timeout: Duration::from_secs(10) }
    }
}

/// Where a store is and how long to wait for it; what an error needs to know.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) busy_timeout: Duration,
}

impl Place {
    pub(crate) fn error(&self, error: &rusqlite::Error) -> Error {
        Error::from_sqlite(&self.path, self.busy_timeout, error)
    }

    fn cannot_open(&self, reason: impl Into<String>) -> Error {
        Error::CannotOpen { path: self.path.clone(), reason: reason.into() }
    }
}

/// Opens or creates the file, and refuses what is not ours before a byte of it is changed.
pub(crate) fn open_file(place: &Place, migrations: &[&str]) -> Result<Connection, Error> {
    if place.path.is_dir() {
        return Err(place.cannot_open("it is a folder; expected a file"));
    }
    if let Some(folder) = place.path.parent()
        && !folder.as_os_str().is_empty()
        && !folder.is_dir()
    {
        return Err(place.cannot_open(format!("there is no folder {}; create it first", folder.display())));
    }
    // Without the URI flag a path that begins with `file:` is a path like any other.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&place.path, flags).map_err(|error| place.error(&error))?;
    connection.busy_timeout(place.busy_timeout).map_err(|error| place.error(&error))?;
    version(&connection, place, migrations.len())?;
    write_ahead(&connection, place)?;
    prepare(connection, place, migrations)
}

/// A store that lives as long as its connection.
pub(crate) fn open_memory(place: &Place) -> Result<Connection, Error> {
    let connection = Connection::open_in_memory().map_err(|error| place.error(&error))?;
    prepare(connection, place, MIGRATIONS)
}

fn prepare(connection: Connection, place: &Place, migrations: &[&str]) -> Result<Connection, Error> {
    let settings = "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;";
    connection.execute_batch(settings).map_err(|error| place.error(&error))?;
    migrate(&connection, place, migrations)?;
    Ok(connection)
}

/// The schema version of the file: 0 for a new one.
///
/// The numbers are read in one transaction: another process may be turning an empty file into a store.
fn version(connection: &Connection, place: &Place, newest: usize) -> Result<i32, Error> {
    let header = || {
        let _snapshot = connection.is_autocommit().then(|| connection.unchecked_transaction()).transpose()?;
        let read = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i32>(0));
        let application_id = read("PRAGMA application_id")?;
        let version = read("PRAGMA user_version")?;
        let objects = read("SELECT count(*) FROM sqlite_schema")?;
        Ok((application_id, version, objects))
    };
    let (application_id, version, objects) = header().map_err(|error| place.error(&error))?;
    if (application_id, version, objects) == (0, 0, 0) {
        return Ok(0);
    }
    if application_id != APPLICATION_ID {
        return Err(Error::OtherApplication { path: place.path.clone(), application_id });
    }
    if version < 1 {
        let reason = format!("its schema version is {version}; expected 1 or more");
        return Err(Error::Corrupt { path: place.path.clone(), reason });
    }
    if version as usize > newest {
        return Err(Error::NewerSchema { path: place.path.clone(), found: version, newest: newest as i32 });
    }
    Ok(version)
}

/// Turns the write-ahead log on, which stays on for good: readers then never wait for a writer, nor it for them.
///
/// SQLite does not wait its busy timeout out when several connections do this to a new file at once, so we do.
fn write_ahead(connection: &Connection, place: &Place) -> Result<(), Error> {
    const STEP: Duration = Duration::from_millis(5);
    let mut waited = Duration::ZERO;
    loop {
        match connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0)) {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => return Err(place.cannot_open(format!("its journal mode stays `{mode}`; expected `wal`"))),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && waited < place.busy_timeout => {
                std::thread::sleep(STEP);
                waited += STEP;
            }
            Err(error) => return Err(place.error(&error)),
        }
    }
}

/// Takes the missing steps in one transaction, after a copy of a store that had any.
fn migrate(connection: &Connection, place: &Place, migrations: &[&str]) -> Result<(), Error> {
    if version(connection, place, migrations.len())? as usize == migrations.len() {
        return Ok(());
    }
    let transaction =
        Transaction::new_unchecked(connection, TransactionBehavior::Immediate).map_err(|error| place.error(&error))?;
    // Another process may have done it while we waited for the lock.
    let from = version(&transaction, place, migrations.len())?;
    let failed = |to: i32, reason: String| Error::Migration { path: place.path.clone(), from, to, reason };
    if from > 0 && (from as usize) < migrations.len() {
        back_up(place, from).map_err(|reason| failed(from + 1, reason))?;
    }
    for (step, sql) in migrations.iter().enumerate().skip(from as usize) {
        let to = step as i32 + 1;
        take_step(&transaction, sql, to).map_err(|error| match place.error(&error) {
            Error::Database { reason, .. } => failed(to, reason),
            other => other,
        })?;
    }
    transaction.commit().map_err(|error| place.error(&error))
}

fn take_step(transaction: &Transaction<'_>, sql: &str, to: i32) -> Result<(), rusqlite::Error> {
    transaction.execute_batch(sql)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", to)
}

/// Copies the store to `<path>.v<version>.bak`, complete or not at all, and returns the path.
///
/// The caller holds the write lock; the copy is read by a connection of its own, which the write-ahead log lets in.
fn back_up(place: &Place, version: i32) -> Result<PathBuf, String> {
    let copy = with_suffix(&place.path, &format!(".v{version}.bak"));
    let unfinished = with_suffix(&copy, ".part");
    let write = || -> Result<(), Box<dyn std::error::Error>> {
        if unfinished.exists() {
            std::fs::remove_file(&unfinished)?;
        }
        let target = unfinished.to_str().ok_or("its path is not UTF-8")?;
        let reader = Connection::open_with_flags(&place.path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        reader.busy_timeout(place.busy_timeout)?;
        reader.execute("VACUUM INTO ?1", [target])?;
        File::open(&unfinished)?.sync_all()?;
        std::fs::rename(&unfinished, &copy)?;
        Ok(())
    };
    write().map_err(|error| format!("the copy {} could not be made: {error}", copy.display()))?;
    Ok(copy)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::{FactQuery, Moment, NewFact, Store};

    /// What a later version might add.
    const SECOND: &str = "ALTER TABLE fact ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey';
                          CREATE INDEX fact_by_colour ON fact (colour);";
    const NOW: Moment = Moment::from_micros(1_000);

    fn two() -> Vec<&'static str> {
        vec![MIGRATIONS[0], SECOND]
    }

    /// A store of version 1 as its SQL file makes it, with one fact put in by hand.
    fn first_version(path: &Path) {
        let connection = Connection::open(path).unwrap();
        connection.execute_batch("PRAGMA journal_mode = WAL;").unwrap();
        connection.execute_batch(MIGRATIONS[0]).unwrap();
        connection
            .execute_batch(
                "INSERT INTO fact (seq, id, domain, topic, content, statement_key, veracity, recorded_at, holds_from,
                                   confidence)
                 VALUES (1, '0197b4c2-7e00-7000-8000-000000000001', 'a', 'b', 'Old.', 7, 'stated', 1, 1, 0.5);
                 INSERT INTO change (fact, kind, at, confidence, mentions)
                 VALUES ('0197b4c2-7e00-7000-8000-000000000001', 'recorded', 1, 0.5, 1);
                 PRAGMA application_id = 1214346354;
                 PRAGMA user_version = 1;",
            )
            .unwrap();
    }

    fn open(path: &Path, migrations: &[&str]) -> Result<Store, Error> {
        Store::open_migrated(path, &OpenOptions::default(), migrations)
    }

    fn colours(path: &Path) -> rusqlite::Result<Vec<String>> {
        Connection::open(path)?.prepare("SELECT colour FROM fact")?.query_map([], |row| row.get(0))?.collect()
    }

    #[test]
    fn a_store_of_the_first_version_opens_today() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        first_version(&path);
        let store = Store::open(&path).unwrap();
        let facts = store.facts(&FactQuery::default(), NOW).unwrap();
        assert_eq!(facts[0].content, "Old.");
        store.record(NewFact::new("a", "b", "New."), NOW).unwrap();
        assert_eq!(store.position().unwrap(), 2);
        store.check_integrity().unwrap();
    }

    #[test]
    fn an_older_store_is_copied_and_brought_up_to_date() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        first_version(&path);
        let store = open(&path, &two()).unwrap();
        assert_eq!(store.facts(&FactQuery::default(), NOW).unwrap().len(), 1);
        assert_eq!(colours(&path).unwrap(), ["grey"]);

        // The copy is a whole store of the old version.
        let copy = folder.path().join("memory.db.v1.bak");
        assert!(colours(&copy).is_err());
        let copy = open(&copy, MIGRATIONS).unwrap();
        copy.check_integrity().unwrap();
        assert_eq!(copy.facts(&FactQuery::default(), NOW).unwrap()[0].content, "Old.");
        assert!(!folder.path().join("memory.db.v1.bak.part").exists());
    }

    #[test]
    fn a_new_store_takes_all_steps_and_needs_no_copy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        open(&path, &two()).unwrap().record(NewFact::new("a", "b", "c"), NOW).unwrap();
        assert_eq!(colours(&path).unwrap(), ["grey"]);
        assert!(!folder.path().join("memory.db.v0.bak").exists());
        drop(open(&path, &two()).unwrap());
        assert!(!folder.path().join("memory.db.v2.bak").exists());
        assert!(matches!(open(&path, MIGRATIONS), Err(Error::NewerSchema { found: 2, newest: 1, .. })));
    }

    #[test]
    fn a_step_that_fails_leaves_the_store_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        first_version(&path);
        let broken = [MIGRATIONS[0], "ALTER TABLE fact ADD COLUMN colour TEXT; INSERT INTO nowhere VALUES (1);"];
        let error = open(&path, &broken).unwrap_err();
        assert!(matches!(error, Error::Migration { from: 1, to: 2, .. }), "{error:?}");
        assert!(error.to_string().contains("no such table: nowhere"), "{error}");
        let store = open(&path, MIGRATIONS).unwrap();
        assert_eq!(store.facts(&FactQuery::default(), NOW).unwrap()[0].content, "Old.");
        assert!(colours(&path).is_err());
        drop(store);
        // The next attempt, with a step that works, replaces the copy of the first.
        open(&path, &two()).unwrap();
        assert_eq!(colours(&path).unwrap(), ["grey"]);
    }

    #[test]
    fn a_copy_that_cannot_be_made_stops_the_migration() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        first_version(&path);
        std::fs::create_dir(folder.path().join("memory.db.v1.bak")).unwrap();
        let error = open(&path, &two()).unwrap_err();
        assert!(error.to_string().contains("memory.db.v1.bak could not be made"), "{error}");
        assert!(colours(&path).is_err());
    }

    #[test]
    fn processes_that_migrate_at_once_do_it_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        first_version(&path);
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| drop(open(&path, &two()).unwrap()));
            }
        });
        assert_eq!(colours(&path).unwrap(), ["grey"]);
    }
}
