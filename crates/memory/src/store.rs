use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::check::checked;
use crate::open::{MIGRATIONS, OpenOptions, Place, open_file, open_memory};
use crate::read;
use crate::statement::{key, normalised};
use crate::{Change, ChangeKind, Error, Fact, FactId, FactQuery, Moment, NewFact, Outcome, Recorded};

/// A workspace's memory in one SQLite file.
///
/// Threads may share a store, and processes a file: reads never wait for writes, and writes wait for each other (see
/// [`OpenOptions::busy_timeout`]). Each write is one short transaction.
///
/// **What a return means.** The file is in write-ahead mode with `synchronous = FULL`: when a write has returned, its
/// data has been synced to the disk and survives the end of the process and the loss of power. `NORMAL` would save the
/// sync, and could forget the last writes when the power fails; a memory is written seldom enough to pay for it.
///
/// ```
/// use hatir_memory::{FactQuery, Moment, NewFact, Store};
///
/// let store = Store::open_in_memory()?;
/// let monday = Moment::from_micros(1_772_366_400_000_000);
/// let friday = Moment::from_micros(1_772_712_000_000_000);
///
/// let ankara = store.record(NewFact::new("team", "office", "The office is in Ankara."), monday)?.fact;
/// store.supersede(&ankara.id, NewFact::new("team", "office", "The office is in İzmir."), friday)?;
///
/// let now = store.facts(&FactQuery::default(), friday)?;
/// assert_eq!(now[0].content, "The office is in İzmir.");
/// let then = store.facts(&FactQuery { as_of: Some(monday), ..FactQuery::default() }, friday)?;
/// assert_eq!(then[0].content, "The office is in Ankara.");
/// # Ok::<(), hatir_memory::Error>(())
/// ```
#[derive(Debug)]
pub struct Store {
    connection: Mutex<Connection>,
    place: Place,
}

impl Store {
    /// Opens the store at `path`, creating it when there is no file (or an empty one), and bringing an older schema up
    /// to date after copying the file to `<path>.v<version>.bak`. Its folder must exist.
    ///
    /// # Errors
    ///
    /// [`Error::NotADatabase`], [`Error::OtherApplication`] and [`Error::NewerSchema`] for files that are left
    /// untouched; [`Error::Migration`]; [`Error::CannotOpen`], [`Error::ReadOnly`] or [`Error::DiskFull`] by the
    /// file system's will; [`Error::Busy`]; [`Error::Corrupt`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Store::open_with(path, &OpenOptions::default())
    }

    /// As [`Store::open`], with options.
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self, Error> {
        Store::open_migrated(path.as_ref(), options, MIGRATIONS)
    }

    pub(crate) fn open_migrated(path: &Path, options: &OpenOptions, migrations: &[&str]) -> Result<Self, Error> {
        let place = Place { path: path.to_owned(), busy_timeout: options.busy_timeout };
        let connection = open_file(&place, migrations)?;
        Ok(Store { connection: Mutex::new(connection), place })
    }

    /// A store that lives in memory and goes with the value.
    pub fn open_in_memory() -> Result<Self, Error> {
        let place = Place { path: ":memory:".into(), busy_timeout: OpenOptions::default().busy_timeout };
        let connection = open_memory(&place)?;
        Ok(Store { connection: Mutex::new(connection), place })
    }

    /// Records a statement, as of `now`.
    ///
    /// A statement that is in the store already is not put in twice: when a fact of the same domain and topic says the
    /// same (but for case, white space, Unicode form and the full stop at the end), is not superseded and has not
    /// ended by `now`, that fact gets one mention more, and its confidence *c* grows by
    /// `(1 − c) × weight × 0.3`, with the weight of the new statement's veracity. A statement that gives limits in
    /// time is the same only when they are the same.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`]; otherwise those of the file: [`Error::Busy`], [`Error::DiskFull`], [`Error::ReadOnly`],
    /// [`Error::Corrupt`]. On any error nothing was recorded.
    ///
    /// ```
    /// use hatir_memory::{Moment, NewFact, Outcome, Store, Veracity};
    ///
    /// let store = Store::open_in_memory()?;
    /// let fact = NewFact { veracity: Veracity::Stated, ..NewFact::new("team", "office", "The office is in Ankara.") };
    /// let first = store.record(fact.clone(), Moment::from_micros(1))?;
    /// assert_eq!(first.fact.confidence, 0.5);
    /// let second = store.record(fact, Moment::from_micros(2))?;
    /// assert_eq!(second.outcome, Outcome::Mentioned);
    /// assert_eq!(second.fact.confidence, 0.65);
    /// # Ok::<(), hatir_memory::Error>(())
    /// ```
    pub fn record(&self, fact: NewFact, now: Moment) -> Result<Recorded, Error> {
        let fact = checked(fact)?;
        self.write(|transaction| {
            let (id, outcome) = record(transaction, &fact, None, now)?;
            Ok(Recorded { fact: read::existing(transaction, &id)?, outcome })
        })
    }

    /// Puts a new fact in the place of `old`, as of `now`, and returns it.
    ///
    /// `old` stays in the store, marked with its successor and the moment; it goes on to be the answer for moments
    /// before the successor begins to hold (see [`FactQuery::as_of`]). When the new statement is in the store already,
    /// as a fact other than `old`, that fact is the successor and gets a mention. Should `now` be before `old` was
    /// recorded, because two clocks disagree, the moment of recording counts instead.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownFact`]; [`Error::AlreadySuperseded`]; [`Error::SameStatement`] when the new fact is the old one,
    /// limits in time included; otherwise as [`Store::record`].
    pub fn supersede(&self, old: &FactId, fact: NewFact, now: Moment) -> Result<Fact, Error> {
        let fact = checked(fact)?;
        self.write(|transaction| {
            let loser = read::fact(transaction, old)?.ok_or_else(|| Error::UnknownFact { id: old.clone() })?;
            if let Some(by) = loser.superseded_by {
                return Err(Error::AlreadySuperseded { id: loser.id, by }.into());
            }
            let now = now.max(loser.recorded_at);
            if says_the_same(&fact, &loser)
                && (loser.valid_from, loser.valid_until) == (fact.valid_from, fact.valid_until)
            {
                return Err(Error::SameStatement { id: loser.id }.into());
            }
            let (winner, _) = record(transaction, &fact, Some(&loser.id), now)?;
            transaction
                .prepare_cached("UPDATE fact SET superseded_by = ?2, superseded_at = ?3 WHERE id = ?1")?
                .execute(params![loser.id.as_str(), winner.as_str(), now.as_micros()])?;
            log(transaction, &loser.id, ChangeKind::Superseded, now)?;
            Ok(read::existing(transaction, &winner)?)
        })
    }

    /// The fact of this id as it is now, superseded or not.
    pub fn get(&self, id: &FactId) -> Result<Option<Fact>, Error> {
        self.read(|connection| read::fact(connection, id))
    }

    /// The facts that the query asks for, the newest (the last recorded) first.
    ///
    /// `now` is the moment at which a fact must hold when the query names none.
    pub fn facts(&self, query: &FactQuery, now: Moment) -> Result<Vec<Fact>, Error> {
        self.read(|connection| read::facts(connection, query, now))
    }

    /// Everything ever recorded about a topic, the oldest first, superseded and ended facts included.
    ///
    /// Each fact that was superseded names its successor, so a chain can be followed forwards from any of them, and
    /// backwards with [`Store::superseded_by`].
    pub fn history(&self, domain: &str, topic: &str) -> Result<Vec<Fact>, Error> {
        self.read(|connection| read::history(connection, domain.trim(), topic.trim()))
    }

    /// The facts whose place this one took, the oldest first; none when it is the first of its chain or unknown.
    pub fn superseded_by(&self, id: &FactId) -> Result<Vec<Fact>, Error> {
        self.read(|connection| read::predecessors(connection, id))
    }

    /// What changed after position `after` (0: from the beginning), in order, at most `limit` lines.
    ///
    /// Whoever keeps an index remembers the last position it has seen and asks for what came after.
    pub fn changes(&self, after: i64, limit: usize) -> Result<Vec<Change>, Error> {
        self.read(|connection| read::changes(connection, after, limit))
    }

    /// The last position of the change log; 0 for an empty store.
    pub fn position(&self) -> Result<i64, Error> {
        self.read(read::position)
    }

    /// Reads the whole file and checks that it is sound: pages, indexes and references. Cost: one pass over the file.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] with what SQLite found.
    pub fn check_integrity(&self) -> Result<(), Error> {
        let problems = self.read(read::integrity_problems)?;
        if problems.is_empty() {
            return Ok(());
        }
        Err(Error::Corrupt { path: self.place.path.clone(), reason: problems.join("; ") })
    }

    fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        work(&self.connection()).map_err(|error| self.place.error(&error))
    }

    /// One transaction that has the write lock from its start, so that what it reads stays true until it commits, and
    /// waiting for another writer happens before any work and never in the middle.
    fn write<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>) -> Result<T, Error> {
        let connection = self.connection();
        let run = || -> Result<T, Failure> {
            let transaction = Transaction::new_unchecked(&connection, TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        run().map_err(|failure| match failure {
            Failure::Ours(error) => error,
            Failure::Sqlite(error) => self.place.error(&error),
        })
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A thread that panicked with the lock left a connection whose transaction was rolled back when it was dropped.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An error before it knows its path.
enum Failure {
    Ours(Error),
    Sqlite(rusqlite::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Ours(error)
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Failure::Sqlite(error)
    }
}

/// Adds the fact, or a mention to the one that says it already. `not` is never taken for that one.
fn record(
    transaction: &Transaction<'_>,
    fact: &NewFact,
    not: Option<&FactId>,
    now: Moment,
) -> rusqlite::Result<(FactId, Outcome)> {
    if let Some(known) = same_statement(transaction, fact, not, now)? {
        mention(transaction, &known, fact, now)?;
        return Ok((known.id, Outcome::Mentioned));
    }
    Ok((add(transaction, fact, now)?, Outcome::Added))
}

/// The fact that says the same and stands; of several, the one with the same limits in time, else the newest.
fn same_statement(
    transaction: &Transaction<'_>,
    fact: &NewFact,
    not: Option<&FactId>,
    now: Moment,
) -> rusqlite::Result<Option<Fact>> {
    let limits = (fact.valid_from, fact.valid_until);
    let mut standing = read::standing_with_key(transaction, fact, key(&normalised(&fact.content)))?;
    standing.retain(|known| {
        Some(&known.id) != not
            && known.valid_until.is_none_or(|until| until > now)
            && (limits == (None, None) || limits == (known.valid_from, known.valid_until))
            && says_the_same(fact, known)
    });
    let exact = standing.iter().position(|known| limits == (known.valid_from, known.valid_until)).unwrap_or(0);
    Ok((!standing.is_empty()).then(|| standing.swap_remove(exact)))
}

fn says_the_same(fact: &NewFact, known: &Fact) -> bool {
    fact.domain == known.domain && fact.topic == known.topic && normalised(&fact.content) == normalised(&known.content)
}

fn mention(transaction: &Transaction<'_>, known: &Fact, fact: &NewFact, now: Moment) -> rusqlite::Result<()> {
    const GAIN: f64 = 0.3;
    let confidence = (known.confidence + (1.0 - known.confidence) * fact.veracity.weight() * GAIN).min(1.0);
    transaction.prepare_cached("UPDATE fact SET confidence = ?2, mentions = ?3 WHERE id = ?1")?.execute(params![
        known.id.as_str(),
        confidence,
        known.mentions.saturating_add(1)
    ])?;
    log(transaction, &known.id, ChangeKind::Mentioned, now.max(known.recorded_at))
}

fn add(transaction: &Transaction<'_>, fact: &NewFact, now: Moment) -> rusqlite::Result<FactId> {
    const FIRST: f64 = 0.5;
    let seq = read::position(transaction)? + 1;
    let id = FactId::new(seq, now, &fact.domain, &fact.topic);
    transaction
        .prepare_cached(
            "INSERT INTO fact (seq, id, domain, topic, content, statement_key, veracity, author, source, recorded_at,
                               valid_from, valid_until, holds_from, confidence)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        )?
        .execute(params![
            seq,
            id.as_str(),
            fact.domain,
            fact.topic,
            fact.content,
            key(&normalised(&fact.content)),
            fact.veracity.as_str(),
            fact.author,
            fact.source,
            now.as_micros(),
            fact.valid_from.map(Moment::as_micros),
            fact.valid_until.map(Moment::as_micros),
            holds_from(fact, now).as_micros(),
            fact.confidence.unwrap_or(fact.veracity.weight() * FIRST),
        ])?;
    log(transaction, &id, ChangeKind::Recorded, now)?;
    Ok(id)
}

/// See [`FactQuery::as_of`].
fn holds_from(fact: &NewFact, now: Moment) -> Moment {
    let ended = fact.valid_until.is_some_and(|until| until <= now);
    fact.valid_from.unwrap_or(if ended { Moment::MIN } else { now })
}

fn log(transaction: &Transaction<'_>, id: &FactId, kind: ChangeKind, at: Moment) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "INSERT INTO change (fact, kind, at, confidence, mentions)
             SELECT id, ?2, ?3, confidence, mentions FROM fact WHERE id = ?1",
        )?
        .execute(params![id.as_str(), kind.as_str(), at.as_micros()])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Moment = Moment::from_micros(1_000);

    fn numbered(number: usize) -> NewFact {
        NewFact::new("a", "b", format!("{number} {}", "word ".repeat(200)))
    }

    #[test]
    fn a_store_without_room_says_so_and_keeps_what_it_has() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let store = Store::open(&path).unwrap();
        // SQLite answers a full disk and a full quota of pages alike; the quota needs no disk of its own.
        store.connection().pragma_update(None, "max_page_count", 40).unwrap();
        let mut recorded = Vec::new();
        let error = loop {
            match store.record(numbered(recorded.len()), NOW) {
                Ok(done) => recorded.push(done.fact),
                Err(error) => break error,
            }
            assert!(recorded.len() < 1_000, "40 pages hold less than a thousand facts of a kilobyte");
        };
        assert_eq!(error, Error::DiskFull { path: path.clone() });
        assert!(recorded.len() > 10);
        let all = |store: &Store| store.history("a", "b").unwrap();
        assert_eq!(all(&store), recorded);
        assert_eq!(store.position().unwrap(), recorded.len() as i64);
        store.check_integrity().unwrap();

        // Reading goes on, and so does writing as soon as there is room.
        store.connection().pragma_update(None, "max_page_count", 1_000).unwrap();
        recorded.push(store.record(numbered(recorded.len()), NOW).unwrap().fact);
        drop(store);
        assert_eq!(all(&Store::open(&path).unwrap()), recorded);
    }

    #[test]
    fn writes_are_synced_and_references_checked() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("memory.db")).unwrap();
        let pragma =
            |name: &str| -> i64 { store.connection().pragma_query_value(None, name, |row| row.get(0)).unwrap() };
        assert_eq!(pragma("synchronous"), 2, "FULL");
        assert_eq!(pragma("foreign_keys"), 1);
        let mode: String = store.connection().pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
    }

    #[test]
    fn a_thread_that_panicked_leaves_the_store_usable() {
        let store = Store::open_in_memory().unwrap();
        std::thread::scope(|scope| {
            let panicked = scope
                .spawn(|| {
                    let _: Result<(), Error> = store.write(|transaction| {
                        add(transaction, &numbered(1), NOW)?;
                        panic!("in the middle of a write");
                    });
                })
                .join();
            assert!(panicked.is_err());
        });
        assert_eq!(store.position().unwrap(), 0, "the write was undone");
        store.record(numbered(2), NOW).unwrap();
        assert_eq!(store.position().unwrap(), 1);
    }
}
