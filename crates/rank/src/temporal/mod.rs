//! Dates and periods in what people write.
//!
//! [`mentions`] finds them in English and in Turkish, absolute ("5 March 2026", "05.03.2026", "2025'in ikinci çeyreği")
//! and relative ("last week", "üç gün önce", "since Monday"), and says which instants each covers. [`closeness`] says
//! how near something is to them. Nothing here reads the clock: the moment of asking is an argument.
//!
//! ```
//! use hatir_rank::temporal::{PeriodKind, closeness, mentions};
//! use jiff::{Timestamp, tz::TimeZone};
//!
//! let now: Timestamp = "2026-03-18T09:00:00Z".parse()?;
//! let found = mentions("what did we decide last week?", now, &TimeZone::UTC, None);
//! assert_eq!((found[0].kind, found[0].from), (PeriodKind::Week, "2026-03-09T00:00:00Z".parse()?));
//!
//! let found = mentions("geçen hafta ne karar verdik?", now, &TimeZone::UTC, None);
//! assert_eq!(closeness(&found, "2026-03-10T12:00:00Z".parse()?), 1.0);
//! assert_eq!(closeness(&found, "2026-01-10T12:00:00Z".parse()?), 0.0);
//! # Ok::<(), jiff::Error>(())
//! ```
//!
//! How what is said is understood:
//!
//! - Weeks begin on Monday. Days, weeks, months and years begin in the zone that is given, so a day in which clocks
//!   change has 23 or 25 hours.
//! - A month, a day or a quarter without a year is the last one that has begun, and so is a day of the week without
//!   more; "next" and "önümüzdeki" mean the first that has not begun, "last" and "geçen" the last that is over, and
//!   "this" and "bu" the one in this year or week.
//! - "Last week" is the week before this one, Monday to Sunday; "the last week", "the past week" and "son bir hafta" are
//!   the seven days up to now. "Two weeks ago" is the whole week that contains that day.
//! - Dates in digits are read year first, or day first as in Turkey and Europe; month first only with slashes, where
//!   the second number cannot be a month.
//! - Winter begins in December of its year; seasons are those of the northern half of the world.
//! - Versions, prices, times of day, plain numbers, and words that only look like months ("may I", "they march",
//!   "ekim yapmak", "ocakta yemek") are no dates. Four digits are a year only where something says so: "in 2024",
//!   "2024'te", "2024 raporu".

mod calendar;
mod grammar;
mod tokens;
mod vocabulary;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::Language;
use calendar::{Clock, When};
use grammar::{Grammar, Shape};
use tokens::{Gap, Token, tokens};
use vocabulary::{case, english_weekday};

/// Below this much a thing has nothing to do with a period: some three times the period's length away.
const FAINT: f64 = 0.05;

/// The shortest length that distances are measured by, in seconds.
const SHORTEST: f64 = 3_600.0;

/// What distances to a period without an end are measured by, in seconds: a day.
const OPEN: f64 = 86_400.0;

/// What a mention's period is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PeriodKind {
    /// One day, or a part of one.
    Day,
    /// A week from Monday to Sunday.
    Week,
    /// A month of the calendar.
    Month,
    /// A quarter of a year.
    Quarter,
    /// A year.
    Year,
    /// Any other: between two dates, the last so many days, a season, a weekend, a decade.
    Range,
    /// All before an instant: `from` is [`Timestamp::MIN`].
    Before,
    /// All from an instant on: `to` is [`Timestamp::MAX`].
    After,
    /// Lately: the thirty days before the moment of asking.
    Recency,
}

/// A date or a period in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Mention {
    /// Where it begins in the text, in bytes.
    pub start: usize,
    /// Where it ends, in bytes; `&text[start..end]` is what was written.
    pub end: usize,
    /// The first instant of the period.
    pub from: Timestamp,
    /// The first instant after it.
    pub to: Timestamp,
    /// What it is.
    pub kind: PeriodKind,
}

/// A date as far as a text gives it; months are 1 to 12 and days 1 to 31.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calendar {
    /// The month.
    pub month: Option<u8>,
    /// The day of the month, never without a month.
    pub day: Option<u8>,
    /// The year.
    pub year: Option<i32>,
}

/// The dates and periods that a text names, in the order of the text; none overlaps another.
///
/// `now` is the moment of asking and `zone` where it is asked; `language` only settles words that both languages have,
/// and may be wrong or missing. Any text is taken; reading it is linear in its length.
///
/// ```
/// use hatir_rank::temporal::{PeriodKind, mentions};
/// use jiff::{Timestamp, tz::TimeZone};
///
/// let now: Timestamp = "2026-03-18T09:00:00Z".parse()?;
/// let text = "3 Mayıs'tan önceki kararlar";
/// let found = mentions(text, now, &TimeZone::UTC, None);
/// assert_eq!(&text[found[0].start..found[0].end], "3 Mayıs'tan önceki");
/// assert_eq!((found[0].kind, found[0].to), (PeriodKind::Before, "2025-05-03T00:00:00Z".parse()?));
/// # Ok::<(), jiff::Error>(())
/// ```
pub fn mentions(text: &str, now: Timestamp, zone: &TimeZone, language: Option<Language>) -> Vec<Mention> {
    let tokens = tokens(text);
    let clock = Clock::new(now, zone);
    let resolved = |shape| match shape {
        Shape::At(when) => clock.period(when),
        Shape::Until { when, through } => {
            let ((from, to), _) = clock.period(when)?;
            Some(((Timestamp::MIN, if through { to } else { from }), PeriodKind::Before))
        }
        Shape::Since { when, from } => {
            let ((start, end), _) = clock.period(when)?;
            Some(((if from { start } else { end }, Timestamp::MAX), PeriodKind::After))
        }
        Shape::Between(first, second) => Some((clock.between(first, second)?, PeriodKind::Range)),
    };
    Grammar::new(&tokens, language)
        .filter_map(|reading| {
            let ((from, to), kind) = resolved(reading.shape)?;
            let (first, last) = (&tokens[reading.first], &tokens[reading.next - 1]);
            (from < to).then_some(Mention { start: first.start, end: last.end, from, to, kind })
        })
        .collect()
}

/// How near an instant is to the nearest of some periods, 0 to 1; 0 without any.
///
/// Inside a period it is 1. Outside it is `exp(-distance / length)`, where `length` is the period's own (an hour at
/// least; a day for a period without an end), so a day is missed by a day as a year is by a year. What is below 0.05, at
/// three times the length, is 0.
///
/// ```
/// use hatir_rank::temporal::{closeness, mentions};
/// use jiff::{Timestamp, tz::TimeZone};
///
/// let now: Timestamp = "2026-03-18T09:00:00Z".parse()?;
/// let yesterday = mentions("dün", now, &TimeZone::UTC, None);
/// let day_after: Timestamp = "2026-03-19T00:00:00Z".parse()?;
/// assert!((closeness(&yesterday, day_after) - (-1.0_f64).exp()).abs() < 1e-9);
/// # Ok::<(), jiff::Error>(())
/// ```
pub fn closeness(mentions: &[Mention], instant: Timestamp) -> f64 {
    let near = |mention: &Mention| {
        let distance = if instant < mention.from {
            seconds(mention.from.duration_since(instant))
        } else if instant < mention.to {
            return 1.0;
        } else {
            seconds(instant.duration_since(mention.to))
        };
        let length = match mention.kind {
            PeriodKind::Before | PeriodKind::After => OPEN,
            _ => seconds(mention.to.duration_since(mention.from)).max(SHORTEST),
        };
        let near = (-distance / length).exp();
        if near < FAINT { 0.0 } else { near }
    };
    mentions.iter().map(near).fold(0.0, f64::max)
}

fn seconds(duration: SignedDuration) -> f64 {
    duration.as_secs_f64()
}

/// Whether a text asks for a time: "When did …?", "… ne zaman?", "hangi tarihte".
///
/// A clause with "when" in it asks for none ("What happens when it fails?").
///
/// ```
/// use hatir_rank::temporal::asks_when;
///
/// assert!(asks_when("When did Caroline move?", None));
/// assert!(asks_when("Ödeme ne zaman yapıldı?", None));
/// assert!(!asks_when("What happens when the disk is full?", None));
/// ```
pub fn asks_when(text: &str, _language: Option<Language>) -> bool {
    let tokens = tokens(text);
    let words: Vec<&str> = tokens.iter().map(|token| token.word.as_str()).collect();
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    (0..words.len()).any(|at| match words[at] {
        "when" => asks_by_when(&tokens, at),
        "what" | "which" => {
            matches!(word(at + 1), "date" | "dates" | "day" | "month" | "year" | "week" | "weekday")
                || (word(at + 1), word(at + 2)) == ("time", "of")
        }
        "how" => (word(at + 1), word(at + 2)) == ("long", "ago"),
        "ne" => {
            let whenever = at > 0 && words[at - 1] == "her";
            let asked = matches!(word(at + 1), "zaman" | "zamandan" | "zamandir" | "zamanki" | "zamana" | "vakit");
            asked && !whenever && word(at + 2) != "ki"
        }
        "hangi" => ["tarih", "gun", "ay", "yil", "sene", "hafta"]
            .iter()
            .any(|unit| word(at + 1).strip_prefix(unit).is_some_and(|ending| case(ending).is_some())),
        "kac" => {
            ["gun", "hafta", "ay", "yil", "sene"].contains(&word(at + 1)) && word(at + 2) == "once" || {
                matches!(word(at + 1), "yilinda" | "senesinde")
            }
        }
        "kacinda" | "kacinci" => at > 0 && matches!(words[at - 1], "ayin" | "yilin" | "haftanin"),
        _ => false,
    })
}

/// Whether a "when" asks, and is not the beginning of a clause.
fn asks_by_when(tokens: &[Token<'_>], at: usize) -> bool {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.word.as_str());
    let auxiliary = |word: &str| {
        matches!(
            word,
            "did"
                | "do"
                | "does"
                | "is"
                | "are"
                | "was"
                | "were"
                | "will"
                | "has"
                | "have"
                | "had"
                | "can"
                | "should"
                | "would"
                | "must"
                | "s"
                | "exactly"
        )
    };
    let Some(token) = tokens.get(at) else { return false };
    if at > 0 && token.gap == Gap::Space {
        let led = matches!(
            word(at - 1),
            "know"
                | "remember"
                | "recall"
                | "me"
                | "us"
                | "tell"
                | "say"
                | "said"
                | "since"
                | "and"
                | "so"
                | "ok"
                | "but"
                | "exactly"
                | "about"
                | "wonder"
        );
        return led && (auxiliary(word(at + 1)) || !matches!(word(at - 1), "and" | "so" | "but" | "ok"));
    }
    // The beginning of a sentence or of a clause: a question has its verb near, before its subject.
    if token.suffix.as_str() == "s" || tokens.len() == at + 1 {
        return true;
    }
    let subject = matches!(
        word(at + 1),
        "i" | "you"
            | "we"
            | "they"
            | "he"
            | "she"
            | "it"
            | "the"
            | "a"
            | "an"
            | "my"
            | "your"
            | "our"
            | "this"
            | "that"
    );
    !subject
        && (at + 1..at + 5)
            .take_while(|next| tokens.get(*next).is_some_and(|token| token.gap == Gap::Space))
            .any(|next| auxiliary(word(next)))
}

/// Whether a text speaks of a time: it names a date or a period, or how long something lasts ("for three weeks").
///
/// What merely says which of several things is meant ("the latest release") is no time here. Costs one pass over the
/// text, up to the first time in it.
///
/// ```
/// use hatir_rank::temporal::has_time_expression;
///
/// assert!(has_time_expression("We moved here four years back.", None));
/// assert!(has_time_expression("Geçen cuma konuştuk.", None));
/// assert!(!has_time_expression("You may upgrade to 2.0.", None));
/// ```
pub fn has_time_expression(text: &str, language: Option<Language>) -> bool {
    let tokens = tokens(text);
    let lasting = |token: &Token<'_>| {
        let word = token.word.as_str();
        let turkish = ["hafta", "yil", "sene"].iter().any(|unit| {
            let ending = word.strip_prefix(unit).map(|ending| ending.strip_prefix("lar").unwrap_or(ending));
            let ending = ending.map(|ending| ending.strip_prefix("ler").unwrap_or(ending));
            ending.and_then(case).is_some()
        });
        let english =
            matches!(word, "week" | "weeks" | "weekend" | "weekends" | "month" | "months" | "year" | "years" | "ago");
        english
            || english_weekday(word).is_some()
            || matches!(word, "aylarca" | "gunlerce" | "haftalarca" | "yillarca" | "aydir" | "gundur")
            || (turkish && token.number.is_none())
    };
    tokens.iter().any(lasting)
        || Grammar::new(&tokens, language).any(|reading| reading.shape != Shape::At(When::Recent { loose: true }))
}

/// Whether a text names a date or a period, "the latest" included.
pub(crate) fn names_time(text: &str, language: Option<Language>) -> bool {
    Grammar::new(&tokens(text), language).next().is_some()
}

/// The dates that a text gives by the calendar, relative ones left out, in the order of the text.
///
/// ```
/// use hatir_rank::temporal::{Calendar, calendar_mentions};
///
/// let found = calendar_mentions("Between 3 May and June 2023, not last week");
/// assert_eq!(found, [
///     Calendar { month: Some(5), day: Some(3), year: None },
///     Calendar { month: Some(6), day: None, year: Some(2023) },
/// ]);
/// ```
pub fn calendar_mentions(text: &str) -> Vec<Calendar> {
    let calendar = |when| {
        let year = |year: Option<i16>| year.map(i32::from);
        Some(match when {
            When::Day { year: of, month, day, .. } => Calendar { month: Some(month), day: Some(day), year: year(of) },
            When::Month { year: of, month, .. } => Calendar { month: Some(month), day: None, year: year(of) },
            When::Year(of) => Calendar { month: None, day: None, year: Some(i32::from(of)) },
            _ => return None,
        })
    };
    let tokens = tokens(text);
    let readings = Grammar::new(&tokens, None).map(|reading| reading.shape);
    readings
        .flat_map(|shape| match shape {
            Shape::At(when) | Shape::Until { when, .. } | Shape::Since { when, .. } => [Some(when), None],
            Shape::Between(first, second) => [Some(first), Some(second)],
        })
        .flatten()
        .filter_map(calendar)
        .collect()
}
