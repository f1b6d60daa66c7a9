//! What is asked of the tables.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};

use crate::check::trimmed;
use crate::{Change, ChangeKind, Fact, FactId, FactQuery, Moment, NewFact};

const FACT: &str = "fact.seq, fact.id, fact.domain, fact.topic, fact.content, fact.veracity, fact.author, fact.source,
    fact.recorded_at, fact.valid_from, fact.valid_until, fact.confidence, fact.mentions, fact.superseded_by,
    fact.superseded_at";

/// The facts that hold at `:as_of` by what was known at `:known_at`.
///
/// A fact's state at that time is the last line the log had for it then. The successors are followed as far as they
/// were known; the first to begin ends the fact. When no moment was asked for, facts without a `valid_from` hold even
/// if their clock was ahead of ours.
const FACTS: &str = "
    SELECT fact.seq, fact.id, fact.domain, fact.topic, fact.content, fact.veracity, fact.author, fact.source,
           fact.recorded_at, fact.valid_from, fact.valid_until, state.confidence, state.mentions,
           iif(fact.superseded_at <= :known_at, fact.superseded_by, NULL),
           iif(fact.superseded_at <= :known_at, fact.superseded_at, NULL)
      FROM fact
      JOIN change AS state
        ON state.seq = (SELECT max(seq) FROM change WHERE fact = fact.id AND at <= :known_at)
     WHERE (:domain IS NULL OR fact.domain = :domain)
       AND (:topic IS NULL OR fact.topic = :topic)
       AND fact.recorded_at <= :known_at
       AND (fact.holds_from <= :as_of OR (:now_asked AND fact.valid_from IS NULL))
       AND (fact.valid_until IS NULL OR fact.valid_until > :as_of)
       AND (:include_superseded OR NOT EXISTS (
               WITH RECURSIVE successor (id) AS (
                   SELECT fact.superseded_by WHERE fact.superseded_at <= :known_at
                   UNION
                   SELECT link.superseded_by FROM successor JOIN fact AS link ON link.id = successor.id
                    WHERE link.superseded_at <= :known_at
               )
               SELECT 1 FROM successor JOIN fact AS next ON next.id = successor.id
                WHERE next.holds_from <= :as_of OR (:now_asked AND next.valid_from IS NULL)
           ))
     ORDER BY fact.seq DESC
     LIMIT :limit";

pub(crate) fn facts(connection: &Connection, query: &FactQuery, now: Moment) -> rusqlite::Result<Vec<Fact>> {
    let query = trimmed(query);
    connection
        .prepare_cached(FACTS)?
        .query_map(
            named_params! {
                ":domain": query.domain,
                ":topic": query.topic,
                ":as_of": query.as_of.unwrap_or(now).as_micros(),
                ":now_asked": query.as_of.is_none(),
                ":known_at": query.known_at.unwrap_or(Moment::MAX).as_micros(),
                ":include_superseded": query.include_superseded,
                ":limit": query.limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX)),
            },
            fact_of,
        )?
        .collect()
}

pub(crate) fn fact(connection: &Connection, id: &FactId) -> rusqlite::Result<Option<Fact>> {
    connection
        .prepare_cached(&format!("SELECT {FACT} FROM fact WHERE id = ?1"))?
        .query_row([id.as_str()], fact_of)
        .optional()
}

/// A fact that the same transaction wrote or read.
pub(crate) fn existing(connection: &Connection, id: &FactId) -> rusqlite::Result<Fact> {
    fact(connection, id)?.ok_or(rusqlite::Error::QueryReturnedNoRows)
}

pub(crate) fn history(connection: &Connection, domain: &str, topic: &str) -> rusqlite::Result<Vec<Fact>> {
    connection
        .prepare_cached(&format!("SELECT {FACT} FROM fact WHERE domain = ?1 AND topic = ?2 ORDER BY seq"))?
        .query_map([domain, topic], fact_of)?
        .collect()
}

pub(crate) fn predecessors(connection: &Connection, id: &FactId) -> rusqlite::Result<Vec<Fact>> {
    connection
        .prepare_cached(&format!("SELECT {FACT} FROM fact WHERE superseded_by = ?1 ORDER BY seq"))?
        .query_map([id.as_str()], fact_of)?
        .collect()
}

/// Facts that are not superseded and may say the same as `fact`, the newest first.
pub(crate) fn standing_with_key(connection: &Connection, fact: &NewFact, key: i64) -> rusqlite::Result<Vec<Fact>> {
    connection
        .prepare_cached(&format!(
            "SELECT {FACT} FROM fact
              WHERE domain = ?1 AND topic = ?2 AND statement_key = ?3 AND superseded_by IS NULL
              ORDER BY seq DESC"
        ))?
        .query_map(params![fact.domain, fact.topic, key], fact_of)?
        .collect()
}

pub(crate) fn changes(connection: &Connection, after: i64, limit: usize) -> rusqlite::Result<Vec<Change>> {
    connection
        .prepare_cached("SELECT seq, fact, kind, at FROM change WHERE seq > ?1 ORDER BY seq LIMIT ?2")?
        .query_map(params![after, i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
            Ok(Change {
                seq: row.get(0)?,
                fact: parsed(row, 1, |text| text.parse().ok())?,
                kind: parsed(row, 2, ChangeKind::from_name)?,
                at: Moment::from_micros(row.get(3)?),
            })
        })?
        .collect()
}

/// The last position ever given. SQLite keeps it apart from the rows, so that none is given twice.
pub(crate) fn position(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'change'")?
        .query_row([], |row| row.get(0))
}

pub(crate) fn integrity_problems(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut problems: Vec<String> = connection
        .prepare("PRAGMA integrity_check")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    problems.retain(|line| line != "ok");
    let dangling = connection
        .prepare("PRAGMA foreign_key_check")?
        .query_map([], |row| Ok(format!("a row of `{}` refers to a missing one", row.get::<_, String>(0)?)))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    problems.extend(dangling);
    Ok(problems)
}

fn fact_of(row: &Row<'_>) -> rusqlite::Result<Fact> {
    let moment = |column: usize| -> rusqlite::Result<Option<Moment>> {
        Ok(row.get::<_, Option<i64>>(column)?.map(Moment::from_micros))
    };
    Ok(Fact {
        seq: row.get(0)?,
        id: parsed(row, 1, |text| text.parse().ok())?,
        domain: row.get(2)?,
        topic: row.get(3)?,
        content: row.get(4)?,
        veracity: parsed(row, 5, |text| text.parse().ok())?,
        author: row.get(6)?,
        source: row.get(7)?,
        recorded_at: Moment::from_micros(row.get(8)?),
        valid_from: moment(9)?,
        valid_until: moment(10)?,
        confidence: row.get(11)?,
        mentions: row.get(12)?,
        superseded_by: match row.get_ref(13)? {
            rusqlite::types::ValueRef::Null => None,
            _ => Some(parsed(row, 13, |text| text.parse().ok())?),
        },
        superseded_at: moment(14)?,
    })
}

/// A column whose text has few right values; the table's checks see to it that it has one of them.
fn parsed<T>(row: &Row<'_>, column: usize, parse: impl FnOnce(&str) -> Option<T>) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?;
    parse(text).ok_or_else(|| {
        let unexpected = format!("unexpected value `{text}`");
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, unexpected.into())
    })
}
