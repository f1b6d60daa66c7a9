use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::{Builder, Uuid};

use crate::hash::Hash64;
use crate::{Error, Moment};

/// The name of a fact for good: a `UUIDv7` in its hyphenated, lower-case form.
///
/// Ids sort by the moment of recording. The part that RFC 9562 leaves to chance is derived from the fact's position,
/// moment, domain and topic, so that the same records at the same moments get the same ids again. The content takes no
/// part: an id that outlives its fact tells nothing about it.
///
/// ```
/// use hatir_memory::FactId;
///
/// let id: FactId = "0197B4C2-7E00-7000-8000-000000000001".parse()?;
/// assert_eq!(id.as_str(), "0197b4c2-7e00-7000-8000-000000000001");
/// # Ok::<(), hatir_memory::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct FactId(String);

impl FactId {
    /// The id as text, 36 characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn new(seq: i64, now: Moment, domain: &str, topic: &str) -> Self {
        let micros = now.as_micros().max(0);
        let hash = Hash64::new()
            .write(&seq.to_le_bytes())
            .write(&now.as_micros().to_le_bytes())
            .write_text(domain)
            .write_text(topic)
            .finish();
        // Of the ten bytes, twelve bits take the fraction of the millisecond (RFC 9562, section 6.2, method 3) and
        // sixty-two the hash; the builder puts version and variant over the remaining six.
        let fraction = ((micros % 1000) * 4096 / 1000) as u16;
        let mut tail = [0; 10];
        tail[..2].copy_from_slice(&fraction.to_be_bytes());
        tail[2..].copy_from_slice(&hash.to_be_bytes());
        FactId::from(Builder::from_unix_timestamp_millis((micros / 1000) as u64, &tail).into_uuid())
    }
}

impl From<Uuid> for FactId {
    fn from(id: Uuid) -> Self {
        FactId(id.hyphenated().to_string())
    }
}

impl FromStr for FactId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Uuid::try_parse(text)
            .map(FactId::from)
            .map_err(|_| Error::invalid("fact id", format!("`{text}`"), "a UUID such as recording a fact returns"))
    }
}

impl TryFrom<String> for FactId {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<FactId> for String {
    fn from(id: FactId) -> Self {
        id.0
    }
}

impl fmt::Display for FactId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_moment_and_are_version_7() {
        let ids: Vec<FactId> = [0, 1, 999, 1000, 1_772_366_400_000_000, 1_772_366_400_000_001]
            .map(|micros| FactId::new(7, Moment::from_micros(micros), "team", "office"))
            .into();
        assert!(ids.is_sorted());
        for id in ids {
            assert_eq!(Uuid::try_parse(id.as_str()).unwrap().get_version_num(), 7);
        }
    }

    #[test]
    fn ids_differ_by_position_and_repeat_for_the_same_record() {
        let at = Moment::from_micros(5);
        assert_ne!(FactId::new(1, at, "a", "b"), FactId::new(2, at, "a", "b"));
        assert_ne!(FactId::new(1, at, "ab", "c"), FactId::new(1, at, "a", "bc"));
        assert_eq!(FactId::new(1, at, "a", "b"), FactId::new(1, at, "a", "b"));
    }
}
