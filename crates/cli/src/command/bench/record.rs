//! From a line of a corpus to a document of the index.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use hatir_rank::{Document, Language, Turn};
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use serde_json::Value as Json;

use super::files::{Entry, Place, kind, read_objects, scalar};
use crate::exit::Failure;

/// A line of a corpus, read by the conventions of `docs/bench.md`.
#[derive(Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) place: Place,
    pub(crate) id: String,
    pub(crate) text: String,
    /// `meta.title`, and other names of what it is about: `meta.canonical_name` and `meta.aliases`.
    pub(crate) title: Option<String>,
    /// `meta.lang`, when it is a language that has a stemmer here.
    pub(crate) language: Option<Language>,
    /// Where it stands in a conversation.
    pub(crate) turn: Option<RecordTurn>,
    /// `meta.created_at` or `meta.date_time`.
    pub(crate) created_at: Option<Timestamp>,
    /// The value under the key that stores are made by.
    pub(crate) group: Option<String>,
    /// The rest of `meta`, as far as it is no list and no object.
    pub(crate) fields: BTreeMap<String, String>,
}

/// Where a record stands in a conversation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RecordTurn {
    /// Names the session: `meta.group` and `meta.session`.
    pub(crate) session: String,
    /// Its place in the session from 0: `meta.turn`, else its order among the records of the session.
    pub(crate) position: u64,
    /// `meta.speaker`.
    pub(crate) speaker: Option<String>,
}

/// The keys of `meta` that do not become fields.
const NOT_FIELDS: [&str; 8] =
    ["title", "canonical_name", "lang", "session", "turn", "speaker", "created_at", "date_time"];

/// Reads corpora into one list, in their order. Ids are unique over all of them.
pub(crate) fn read(paths: &[impl AsRef<Path>], group: Option<&str>, no_context: bool) -> Result<Vec<Record>, Failure> {
    let mut records: Vec<Record> = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut lengths: HashMap<String, u64> = HashMap::new();
    for path in paths {
        for entry in read_objects(path.as_ref(), "documents")? {
            let record = record(&entry, group, no_context, &mut lengths)?;
            if let Some(first) = seen.get(&record.id) {
                let first = &records[*first].place;
                return Err(record.place.wrong(format!("the id {:?} was used already, in {first}", record.id)));
            }
            seen.insert(record.id.clone(), records.len());
            records.push(record);
        }
    }
    Ok(records)
}

fn record(
    entry: &Entry,
    group: Option<&str>,
    no_context: bool,
    lengths: &mut HashMap<String, u64>,
) -> Result<Record, Failure> {
    let turn = match entry.scalar("meta.session") {
        None => None,
        Some(session) => {
            let session = match entry.scalar("meta.group") {
                Some(group) => format!("{group}/{session}"),
                None => session,
            };
            let length = lengths.entry(session.clone()).or_default();
            let position = match entry.get("meta.turn") {
                None => *length,
                Some(turn) => turn.as_u64().ok_or_else(|| {
                    entry.place.wrong(format!("`meta.turn` is {turn}, expected a whole number from 0"))
                })?,
            };
            *length += 1;
            Some(RecordTurn { session, position, speaker: entry.text("meta.speaker")? })
        }
    };
    let created_at = match entry.text("meta.created_at")?.or(entry.text("meta.date_time")?) {
        None => None,
        Some(text) => Some(moment(&text).ok_or_else(|| {
            let problem = format!("{text:?} is no date that is understood");
            entry.place.wrong(problem).hint("dates are as 2023-05-08T13:56:00Z, 2023-05-08 or 1:56 pm on 8 May, 2023")
        })?),
    };
    let group = match group {
        None => None,
        Some(path) => Some(
            entry
                .scalar(path)
                .ok_or_else(|| entry.place.wrong(format!("`{path}` is missing, and --group makes stores by it")))?,
        ),
    };
    let fields = entry
        .members("meta")
        .filter(|(name, _)| !NOT_FIELDS.contains(&name.as_str()))
        .filter_map(|(name, value)| Some((name.clone(), scalar(value)?)));
    Ok(Record {
        place: entry.place.clone(),
        id: entry.id()?,
        text: entry.required_text("text")?,
        title: if no_context { None } else { title(entry)? },
        language: entry.get("meta.lang").and_then(Json::as_str).and_then(language),
        turn,
        created_at,
        group,
        fields: fields.collect(),
    })
}

/// The title, and the names by which the thing is known.
fn title(entry: &Entry) -> Result<Option<String>, Failure> {
    let mut names: Vec<String> = entry.text("meta.title")?.into_iter().collect();
    names.extend(entry.text("meta.canonical_name")?);
    match entry.get("meta.aliases") {
        None => {}
        Some(Json::Array(aliases)) => {
            for alias in aliases {
                let alias = alias.as_str().ok_or_else(|| entry.place.wrong("`meta.aliases` holds no texts"))?;
                names.push(alias.to_owned());
            }
        }
        Some(other) => {
            return Err(entry.place.wrong(format!("`meta.aliases` is {}, expected a list of texts", kind(other))));
        }
    }
    Ok((!names.is_empty()).then(|| names.join(", ")))
}

/// The document that is indexed for a record.
pub(crate) fn to_document(record: &Record) -> Document {
    Document {
        title: record.title.clone(),
        language: record.language,
        fields: record.fields.clone(),
        created_at: record.created_at,
        turn: record.turn.as_ref().map(|turn| Turn {
            session: turn.session.clone(),
            position: turn.position,
            speaker: turn.speaker.clone(),
        }),
        ..Document::new(&record.id, &record.text)
    }
}

pub(crate) fn language(code: &str) -> Option<Language> {
    [Language::English, Language::Turkish].into_iter().find(|language| language.code() == code)
}

/// A moment in ISO 8601, or in the form `1:56 pm on 8 May, 2023`, as UTC when it names no zone.
pub(crate) fn moment(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment);
    }
    let civil = text
        .parse::<DateTime>()
        .ok()
        .or_else(|| Some(text.parse::<Date>().ok()?.to_datetime(jiff::civil::Time::midnight())))
        .or_else(|| strtime::parse("%I:%M %p on %d %B, %Y", text).ok()?.to_datetime().ok())?;
    TimeZone::UTC.to_timestamp(civil).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_utc() {
        for (text, expected) in [
            ("1:56 pm on 8 May, 2023", "2023-05-08T13:56:00Z"),
            ("12:09 am on 13 September, 2023", "2023-09-13T00:09:00Z"),
            ("10:00 am on 1 January, 2024", "2024-01-01T10:00:00Z"),
            ("2026-09-01T00:00:00Z", "2026-09-01T00:00:00Z"),
            ("2026-09-01T02:30:00+03:00", "2026-08-31T23:30:00Z"),
            ("2026-09-01 07:08", "2026-09-01T07:08:00Z"),
            ("2026-09-01", "2026-09-01T00:00:00Z"),
        ] {
            assert_eq!(moment(text).map(|moment| moment.to_string()).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "yesterday", "25:00 pm on 8 May, 2023", "30 February, 2023"] {
            assert_eq!(moment(text), None, "{text}");
        }
    }
}
