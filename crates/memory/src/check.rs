//! What may go into the store.

use crate::statement::normalised;
use crate::{Error, FactQuery, NewFact};

/// The longest content, in bytes of UTF-8: 64 KiB. A fact is a statement; longer text is a document, which belongs to
/// a search index.
pub const MAX_CONTENT_BYTES: usize = 64 * 1024;

/// The longest domain, topic, author or source, in bytes of UTF-8.
pub const MAX_NAME_BYTES: usize = 1024;

/// The fact with its names trimmed, or the first thing that is wrong with it.
pub(crate) fn checked(fact: NewFact) -> Result<NewFact, Error> {
    let fact = NewFact {
        domain: name("domain", &fact.domain)?,
        topic: name("topic", &fact.topic)?,
        author: fact.author.map(|author| name("author", &author)).transpose()?,
        source: fact.source.map(|source| name("source", &source)).transpose()?,
        ..fact
    };
    content(&fact.content)?;
    if let Some(confidence) = fact.confidence
        && !(0.0..=1.0).contains(&confidence)
    {
        return Err(Error::invalid("confidence", confidence.to_string(), "a number from 0 to 1"));
    }
    if let (Some(from), Some(until)) = (fact.valid_from, fact.valid_until)
        && until <= from
    {
        let found = format!("{} µs, with valid_from at {} µs", until.as_micros(), from.as_micros());
        return Err(Error::invalid("valid_until", found, "a moment after valid_from"));
    }
    Ok(fact)
}

/// The query with its names as they are stored.
pub(crate) fn trimmed(query: &FactQuery) -> FactQuery {
    let trim = |name: &Option<String>| name.as_deref().map(|name| name.trim().to_owned());
    FactQuery { domain: trim(&query.domain), topic: trim(&query.topic), ..query.clone() }
}

fn name(field: &'static str, value: &str) -> Result<String, Error> {
    let trimmed = value.trim();
    if trimmed.is_empty() {
        return Err(Error::invalid(field, format!("{value:?}"), "a name that is not empty"));
    }
    too_long(field, trimmed, MAX_NAME_BYTES)?;
    if let Some(control) = trimmed.chars().find(|character| character.is_control()) {
        let found = format!("{:?} in {:?}", control, beginning(trimmed));
        return Err(Error::invalid(field, found, "one line without control characters"));
    }
    Ok(trimmed.to_owned())
}

fn content(value: &str) -> Result<(), Error> {
    too_long("content", value, MAX_CONTENT_BYTES)?;
    if let Some(at) = value.find('\0') {
        let found = format!("a NUL byte at offset {at} in {:?}", beginning(value));
        return Err(Error::invalid("content", found, "text without NUL bytes"));
    }
    if normalised(value).is_empty() {
        return Err(Error::invalid("content", format!("{:?}", beginning(value)), "a statement of at least one word"));
    }
    Ok(())
}

fn too_long(field: &'static str, value: &str, most: usize) -> Result<(), Error> {
    if value.len() <= most {
        return Ok(());
    }
    let found = format!("{} bytes beginning {:?}", value.len(), beginning(value));
    Err(Error::invalid(field, found, format!("at most {most} bytes")))
}

/// Enough of a text to know it again.
fn beginning(text: &str) -> String {
    const SHOWN: usize = 40;
    if text.len() <= SHOWN { text.to_owned() } else { format!("{}…", &text[..text.floor_char_boundary(SHOWN)]) }
}
