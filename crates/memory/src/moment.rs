use serde::{Deserialize, Serialize};

/// A moment in UTC, in microseconds since 1970-01-01T00:00:00Z; negative before that.
///
/// Reading and writing dates is left to the caller, who has a date library anyway.
///
/// ```
/// use hatir_memory::Moment;
///
/// let noon = Moment::from_micros(1_772_366_400_000_000);
/// assert!(noon < Moment::from_micros(noon.as_micros() + 1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment(i64);

impl Moment {
    /// The earliest moment there is; no time line begins before it.
    pub const MIN: Moment = Moment(i64::MIN);
    /// The last moment there is.
    pub const MAX: Moment = Moment(i64::MAX);

    /// The moment so many microseconds after (before, when negative) the start of 1970 in UTC.
    pub const fn from_micros(micros: i64) -> Self {
        Moment(micros)
    }

    /// Microseconds since the start of 1970 in UTC.
    pub const fn as_micros(self) -> i64 {
        self.0
    }
}
