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

    fn cannot_open(&self, reason: impl ToString) -> Error {
        Error::CannotOpen { path: self.path.clone(), reason: reason.to_string() }
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
fn version(connection: &Connection, place: &Place, newest: usize) -> Result<i32, Error> {
    let read = |pragma: &str| -> Result<i32, Error> {
        connection.query_row(pragma, [], |row| row.get(0)).map_err(|error| place.error(&error))
    };
    let application_id = read("PRAGMA application_id")?;
    let version = read("PRAGMA user_version")?;
    if application_id != APPLICATION_ID {
        let empty = application_id == 0 && version == 0 && read("SELECT count(*) FROM sqlite_schema")? == 0;
        return if empty { Ok(0) } else { Err(Error::OtherApplication { path: place.path.clone(), application_id }) };
    }
    if version < 0 || version as usize > newest {
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
