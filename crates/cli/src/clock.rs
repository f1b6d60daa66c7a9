//! The only place that reads the clock.

use crate::exit::Failure;

/// The moment of a run in microseconds since the Unix epoch: the one that was asked for, or now.
pub(crate) fn moment(asked: Option<&str>) -> anyhow::Result<i64> {
    match asked {
        None => Ok(jiff::Timestamp::now().as_microsecond()),
        Some(text) => match text.parse::<jiff::Timestamp>() {
            Ok(moment) => Ok(moment.as_microsecond()),
            Err(error) => Err(Failure::wrong(format!("--now {text} is no time: {error}"))
                .hint("write it as 2026-03-01T09:00:00Z")
                .into()),
        },
    }
}
