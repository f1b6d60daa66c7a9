//! What is asked of the tables.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use crate::check::trimmed;
use crate::{Change, ChangeKind, Fact, FactId, FactQuery, Moment, NewFact};

const FACT: &str = "fact.seq, fact.id, fact.domain, fact.topic, fact.content, fact.veracity, fact.author, fact.source,
    fact.recorded_at, fact.valid_from, fact.valid_until, fact.confidence, fact.mentions, fact.superseded_by,
    fact.superseded_at";

/// The same as they were known at `:known_at`: confidence and mentions stand in the last line that the log had then.
const FACT_AS_KNOWN: &str = "fact.seq, fact.id, fact.domain, fact.topic, fact.content, fact.veracity, fact.author,
    fact.source, fact.recorded_at, fact.valid_from, fact.valid_until,
    (SELECT confidence FROM change WHERE fact = fact.id AND at <= :known_at ORDER BY seq DESC LIMIT 1),
    (SELECT mentions FROM change WHERE fact = fact.id AND at <= :known_at ORDER BY seq DESC LIMIT 1),
    iif(fact.superseded_at <= :known_at, fact.superseded_by, NULL),
    iif(fact.superseded_at <= :known_at, fact.superseded_at, NULL)";

/// The facts that hold at a moment, by what was known at another.
///
/// Each wish is a condition of its own, and what was not wished for is left out, so that SQLite can choose an index.
pub(crate) fn facts(connection: &Connection, query: &FactQuery, now: Moment) -> rusqlite::Result<Vec<Fact>> {
    let query = trimmed(query);
    let as_of = query.as_of.unwrap_or(now).as_micros();
    let known_at = query.known_at.map(Moment::as_micros);
    let limit = query.limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
    let standing = format!("{} AND (fact.valid_until IS NULL OR fact.valid_until > :as_of)", holds("fact", &query));
    let mut wishes = Wishes { sql: standing, parameters: vec![(":as_of", &as_of)] };
    if let Some(domain) = &query.domain {
        wishes.add(" AND fact.domain = :domain", ":domain", domain);
    }
    if let Some(topic) = &query.topic {
        wishes.add(" AND fact.topic = :topic", ":topic", topic);
    }
    if let Some(known_at) = &known_at {
        wishes.add(" AND fact.recorded_at <= :known_at", ":known_at", known_at);
    }
    if !query.include_superseded {
        wishes.sql.push_str(&not_replaced(&query));
    }
    wishes.sql.push_str(" ORDER BY fact.seq DESC");
    if let Some(limit) = &limit {
        wishes.add(" LIMIT :limit", ":limit", limit);
    }
    let columns = if known_at.is_some() { FACT_AS_KNOWN } else { FACT };
    connection
        .prepare_cached(&format!("SELECT {columns} FROM fact WHERE {}", wishes.sql))?
        .query_map(wishes.parameters.as_slice(), fact_of)?
        .collect()
}

/// A condition that grows, and the values that it speaks of.
struct Wishes<'a> {
    sql: String,
    parameters: Vec<(&'static str, &'a dyn ToSql)>,
}

impl<'a> Wishes<'a> {
    fn add(&mut self, sql: &str, name: &'static str, value: &'a dyn ToSql) {
        self.sql.push_str(sql);
        self.parameters.push((name, value));
    }
}

/// That a fact has begun to hold. When no moment was asked for, one without a `valid_from` has begun even if the clock
/// by which it was recorded was ahead of ours.
fn holds(table: &str, query: &FactQuery) -> String {
    let begun = format!("{table}.holds_from <= :as_of");
    if query.as_of.is_some() { begun } else { format!("({table}.valid_from IS NULL OR {begun})") }
}

/// That none of a fact's successors, as far as they were known, has begun to hold.
fn not_replaced(query: &FactQuery) -> String {
    let known =
        |table: &str| query.known_at.map_or(String::new(), |_| format!(" AND {table}.superseded_at <= :known_at"));
    format!(
        " AND (fact.superseded_by IS NULL OR NOT EXISTS (
               WITH RECURSIVE successor (id) AS (
                   SELECT fact.superseded_by WHERE TRUE{of_fact}
                   UNION
                   SELECT link.superseded_by FROM successor JOIN fact AS link ON link.id = successor.id
                    WHERE link.superseded_by IS NOT NULL{of_link}
               )
               SELECT 1 FROM successor JOIN fact AS next ON next.id = successor.id WHERE {begun}))",
        of_fact = known("fact"),
        of_link = known("link"),
        begun = holds("next", query),
    )
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
