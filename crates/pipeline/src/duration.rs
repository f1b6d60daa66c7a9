//! Durations as people write them: a number and a unit.

use std::time::Duration;

use crate::names::quote;

/// The longest duration that is taken: a year.
const LONGEST: Duration = Duration::from_hours(366 * 24);

/// Why a text is no duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct DurationError {
    /// What was found and what is expected.
    pub message: String,
    /// What was probably meant.
    pub suggestion: Option<String>,
}

/// Reads a duration: a number, not negative, and one of the units `ms`, `s`, `m`, `h`, `d` (`300ms`, `1.5s`, `2m`).
///
/// # Errors
/// When the number or the unit is missing or unknown, or when it is longer than 366 days.
///
/// ```
/// use std::time::Duration;
///
/// use hatir_pipeline::parse_duration;
///
/// assert_eq!(parse_duration("1.5s"), Ok(Duration::from_millis(1500)));
/// assert_eq!(parse_duration("300 sec").unwrap_err().suggestion.as_deref(), Some("300s"));
/// ```
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let wrong = |message: String, suggestion: Option<String>| Err(DurationError { message, suggestion });
    let shown = quote(text);
    let trimmed = text.trim();
    if trimmed.starts_with('-') {
        return wrong(format!("{shown} is negative, expected a duration such as \"300ms\""), None);
    }
    let split = trimmed.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let well_formed = number.len() <= 20 && number.starts_with(|first: char| first.is_ascii_digit());
    let Some(count) = number.parse::<f64>().ok().filter(|_| well_formed && !number.ends_with('.')) else {
        return wrong(format!("{shown} is no duration, expected a number and a unit, such as \"300ms\""), None);
    };
    let unit = unit.trim();
    if unit.is_empty() {
        let message =
            format!("{shown} has no unit, expected one of ms, s, m, h, d, as in \"{number}ms\" or \"{number}s\"");
        return wrong(message, None);
    }
    let Some((canonical, milliseconds)) = unit_of(unit) else {
        return wrong(format!("{shown} has the unknown unit {}, expected one of ms, s, m, h, d", quote(unit)), None);
    };
    let written = format!("{number}{canonical}");
    if written != text {
        let message =
            format!("{shown} is not written as durations are: number, then ms, s, m, h or d, without a space");
        return wrong(message, Some(written));
    }
    let total = count * milliseconds;
    if total > LONGEST.as_millis() as f64 {
        return wrong(format!("{shown} is longer than 366 days"), None);
    }
    Ok(Duration::from_micros((total * 1000.0).round() as u64))
}

/// The unit that is meant, with its length in milliseconds.
fn unit_of(text: &str) -> Option<(&'static str, f64)> {
    let known = match text.to_lowercase().as_str() {
        "ms" | "msec" | "msecs" | "millis" | "millisecond" | "milliseconds" => ("ms", 1.0),
        "s" | "sec" | "secs" | "second" | "seconds" | "sn" | "saniye" => ("s", 1000.0),
        "m" | "min" | "mins" | "minute" | "minutes" | "dk" | "dakika" => ("m", 60_000.0),
        "h" | "hr" | "hrs" | "hour" | "hours" | "saat" => ("h", 3_600_000.0),
        "d" | "day" | "days" | "gün" => ("d", 86_400_000.0),
        _ => return None,
    };
    Some(known)
}

/// A duration as [`parse_duration`] reads it.
pub(crate) fn show(duration: Duration) -> String {
    let milliseconds = duration.as_secs_f64() * 1000.0;
    let units = [(86_400_000.0, "d"), (3_600_000.0, "h"), (60_000.0, "m"), (1000.0, "s")];
    let whole = units.iter().find(|(size, _)| milliseconds >= *size && milliseconds % size == 0.0);
    match whole {
        Some((size, unit)) => format!("{}{unit}", milliseconds / size),
        None => format!("{milliseconds}ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_shown() {
        for (text, milliseconds) in [("300ms", 300), ("5s", 5000), ("2m", 120_000), ("1h", 3_600_000), ("0s", 0)] {
            let duration = parse_duration(text).unwrap();
            assert_eq!(duration, Duration::from_millis(milliseconds));
            if milliseconds > 0 {
                assert_eq!(show(duration), text);
            }
        }
        assert_eq!(parse_duration("0.5ms").unwrap(), Duration::from_micros(500));
        assert_eq!(parse_duration("366d").unwrap(), LONGEST);
    }

    #[test]
    fn wrong_ones_are_explained() {
        let check = |text: &str, part: &str, suggestion: Option<&str>| {
            let error = parse_duration(text).unwrap_err();
            assert!(error.message.contains(part), "{text}: {error}");
            assert_eq!(error.suggestion.as_deref(), suggestion, "{text}");
        };
        check("300", "no unit", None);
        check("300 sec", "without a space", Some("300s"));
        check("5S", "not written", Some("5s"));
        check(" 5s", "not written", Some("5s"));
        check("-5s", "negative", None);
        check("5 apples", "unknown unit", None);
        check("", "no duration", None);
        check("s", "no duration", None);
        check("1.2.3s", "no duration", None);
        check("5.s", "no duration", None);
        check("367d", "longer than", None);
        check("99999999999999999999d", "longer than", None);
        check("999999999999999999999999999d", "no duration", None);
    }
}
