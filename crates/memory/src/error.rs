use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::ErrorCode;

use crate::FactId;

/// What can go wrong. The first four are the caller's to mend; the others are about the file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value that may not go into the store.
    #[error("{field} is {found}; expected {expected}")]
    Invalid {
        /// Which value.
        field: &'static str,
        /// What it was, shortened when long.
        found: String,
        /// What it may be.
        expected: String,
    },
    /// No fact has this id.
    #[error("there is no fact {id} in this store")]
    UnknownFact {
        /// The id asked for.
        id: FactId,
    },
    /// The fact was superseded before, and a fact has one successor.
    #[error("fact {id} is superseded already, by {by}; supersede that one instead")]
    AlreadySuperseded {
        /// The fact that was to be superseded.
        id: FactId,
        /// Its successor.
        by: FactId,
    },
    /// The new fact says what the old one says, of the same time.
    #[error("fact {id} cannot be superseded by its own statement; record it again to raise its confidence")]
    SameStatement {
        /// The fact that was to be superseded.
        id: FactId,
    },
    /// The file is something else.
    #[error("{} is not an SQLite database; choose another path, or move the file away", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The file is a database of another program.
    #[error(
        "{} is an SQLite database, but not a Hatır memory store (its application_id is {application_id}); \
         choose another path",
        path.display()
    )]
    OtherApplication {
        /// The file.
        path: PathBuf,
        /// The number in its header; 0 when it has none.
        application_id: i32,
    },
    /// A later version of this crate wrote the store.
    #[error(
        "{} has schema version {found}, and this program knows versions up to {newest}; update the program",
        path.display()
    )]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i32,
        /// The newest version known here.
        newest: i32,
    },
    /// A migration failed. The store is as it was.
    #[error("cannot bring {} from schema version {from} to {to}: {reason}; the store is unchanged", path.display())]
    Migration {
        /// The file.
        path: PathBuf,
        /// The version it has.
        from: i32,
        /// The version it was to get.
        to: i32,
        /// What SQLite or the file system said.
        reason: String,
    },
    /// The file cannot be opened or created.
    #[error("cannot open the store {}: {reason}", path.display())]
    CannotOpen {
        /// The file.
        path: PathBuf,
        /// What SQLite or the file system said.
        reason: String,
    },
    /// Others were writing for all of the time that we may wait.
    #[error("the store {} was locked by another writer for {:.1} s; try again", path.display(), waited.as_secs_f64())]
    Busy {
        /// The file.
        path: PathBuf,
        /// How long we waited.
        waited: Duration,
    },
    /// There is no room. Nothing was recorded, and nothing that was is lost.
    #[error("no room left for the store {}; nothing was recorded; free some space and try again", path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// The file or its folder may not be written.
    #[error("the store {} cannot be written: {reason}", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        reason: String,
    },
    /// The file is damaged.
    #[error("the store {} is damaged: {reason}; restore a copy", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Anything else that SQLite reports.
    #[error("the store {} failed: {reason}", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        reason: String,
    },
}

impl Error {
    pub(crate) fn invalid(field: &'static str, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Error::Invalid { field, found: found.into(), expected: expected.into() }
    }

    pub(crate) fn from_sqlite(path: &Path, waited: Duration, error: &rusqlite::Error) -> Self {
        let path = path.to_owned();
        let reason = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Error::NotADatabase { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Busy { path, waited },
            Some(ErrorCode::DiskFull) => Error::DiskFull { path },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Error::ReadOnly { path, reason },
            Some(ErrorCode::DatabaseCorrupt) => Error::Corrupt { path, reason },
            Some(ErrorCode::CannotOpen) => Error::CannotOpen { path, reason },
            _ => Error::Database { path, reason },
        }
    }
}
