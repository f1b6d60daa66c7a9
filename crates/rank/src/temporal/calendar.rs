//! From what is meant to the instants that it covers.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::PeriodKind;
use super::vocabulary::Unit;

/// How long "recently" reaches back, in hours.
const RECENT: i64 = 30 * 24;

/// Which of many is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// The last one that has begun: what a name alone means.
    Latest,
    /// The last one that is over.
    Last,
    /// The one in this week or year.
    This,
    /// The first that has not begun.
    Next,
    /// The first that begins on a day or after it.
    From(Date),
}

/// A part of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Morning,
    Afternoon,
    Evening,
    Night,
}

/// A date or a period as it is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Day {
        year: Option<i16>,
        month: u8,
        day: u8,
        turn: Turn,
    },
    Month {
        year: Option<i16>,
        month: u8,
        turn: Turn,
    },
    /// Of the four quarters, 1 to 4.
    Quarter {
        year: Option<i16>,
        quarter: u8,
    },
    Half {
        year: i16,
        half: u8,
    },
    /// Spring is 0; winter begins in December of its year.
    Season {
        year: Option<i16>,
        season: u8,
        turn: Turn,
    },
    Year(i16),
    Decade(i16),
    Weekday {
        weekday: i8,
        turn: Turn,
    },
    /// A day of the week some weeks from this one.
    WeekdayIn {
        week: i32,
        weekday: i8,
    },
    /// A whole day, week, month … so many from the present one.
    Whole {
        unit: Unit,
        offset: i32,
    },
    /// A few of a unit ago.
    FewAgo(Unit),
    /// So many of a unit up to now, or (if positive) from now.
    Rolling {
        unit: Unit,
        count: i32,
    },
    Part {
        day: i32,
        part: Part,
    },
    /// Lately; `loose` when it rather says which of several things is meant ("the latest release").
    Recent {
        loose: bool,
    },
}

impl When {
    /// The same in a year, where it has none of its own.
    fn in_year(self, year: i16) -> Self {
        match self {
            Self::Day { year: None, month, day, turn } => Self::Day { year: Some(year), month, day, turn },
            Self::Month { year: None, month, turn } => Self::Month { year: Some(year), month, turn },
            Self::Quarter { year: None, quarter } => Self::Quarter { year: Some(year), quarter },
            other => other,
        }
    }

    /// The year it names and its place in a year.
    fn place(self) -> (Option<i16>, u8, u8) {
        match self {
            Self::Day { year, month, day, .. } => (year, month, day),
            Self::Month { year, month, .. } => (year, month, 0),
            Self::Quarter { year, quarter } => (year, quarter * 3 - 2, 0),
            Self::Year(year) => (Some(year), 0, 0),
            _ => (None, 0, 0),
        }
    }

    /// Whether it names a part of the calendar, so that a range may begin or end with it.
    pub(super) fn is_calendar(self) -> bool {
        matches!(self, Self::Day { .. } | Self::Month { .. } | Self::Quarter { .. } | Self::Year(_))
    }
}

/// The moment and the place that relative times count from.
pub(super) struct Clock<'z> {
    now: Timestamp,
    today: Date,
    zone: &'z TimeZone,
}

/// From one instant up to another, the second one not included.
pub(super) type Span = (Timestamp, Timestamp);

impl<'z> Clock<'z> {
    pub(super) fn new(now: Timestamp, zone: &'z TimeZone) -> Self {
        Self { now, today: now.to_zoned_datetime(zone.clone()).date(), zone }
    }

    /// `None` where the calendar ends, and for days that no year has.
    pub(super) fn period(&self, when: When) -> Option<(Span, PeriodKind)> {
        let kind = match when {
            When::Day { .. } | When::Weekday { .. } | When::WeekdayIn { .. } | When::Part { .. } => PeriodKind::Day,
            When::Month { .. } => PeriodKind::Month,
            When::Quarter { .. } => PeriodKind::Quarter,
            When::Year(_) => PeriodKind::Year,
            When::Whole { unit, .. } => match unit {
                Unit::Day => PeriodKind::Day,
                Unit::Week => PeriodKind::Week,
                Unit::Month => PeriodKind::Month,
                Unit::Quarter => PeriodKind::Quarter,
                Unit::Year => PeriodKind::Year,
                Unit::Minute | Unit::Hour | Unit::Weekend => PeriodKind::Range,
            },
            When::Recent { .. } => PeriodKind::Recency,
            _ => PeriodKind::Range,
        };
        let span = match when {
            When::Whole { unit, offset } => self.whole(unit, offset)?,
            When::FewAgo(unit) => (self.whole(unit, -7)?.0, self.whole(unit, -2)?.1),
            When::Rolling { unit, count } => self.rolling(unit, count)?,
            When::Part { day, part } => self.part(day, part)?,
            When::Recent { .. } => (self.moved(-RECENT, 3_600), self.now),
            _ => self.instants(self.days(when)?),
        };
        (span.0 < span.1).then_some((span, kind))
    }

    /// From the beginning of one to the end of the other, in whichever order they stand in time.
    pub(super) fn between(&self, first: When, second: When) -> Option<Span> {
        let (first_year, first_month, first_day) = first.place();
        let (second_year, second_month, second_day) = second.place();
        let first = match (first_year, second_year) {
            // "between December and February 2025" begins in the year before.
            (None, Some(year)) => {
                let later = (first_month, first_day) > (second_month, second_day);
                first.in_year(year - i16::from(later && second_month > 0))
            }
            _ => first,
        };
        let (left, _) = self.period(first)?;
        let begins = left.0.to_zoned_datetime(self.zone.clone()).date();
        let second = match second {
            When::Day { year: None, month, day, .. } => When::Day { year: None, month, day, turn: Turn::From(begins) },
            When::Month { year: None, month, .. } => When::Month { year: None, month, turn: Turn::From(begins) },
            When::Quarter { year: None, quarter } => {
                let month = quarter * 3 - 2;
                let (from, _) = self.days(When::Month { year: None, month, turn: Turn::From(begins) })?;
                When::Quarter { year: Some(from.year()), quarter }
            }
            other => other,
        };
        let (right, _) = self.period(second)?;
        Some((left.0.min(right.0), left.1.max(right.1)))
    }

    /// The first day, and the first day after it.
    fn days(&self, when: When) -> Option<(Date, Date)> {
        let months = |year: i16, month: u8, count: i32| {
            let first = Date::new(year, month as i8, 1).ok()?;
            Some((first, months_from(first, count)?))
        };
        match when {
            When::Day { year, month, day, turn } => self.yearly(year, turn, |year| {
                let first = Date::new(year, month as i8, day as i8).ok()?;
                Some((first, days_from(first, 1)?))
            }),
            When::Month { year, month, turn } => self.yearly(year, turn, |year| months(year, month, 1)),
            When::Quarter { year, quarter } => self.yearly(year, Turn::Latest, |year| months(year, quarter * 3 - 2, 3)),
            When::Half { year, half } => months(year, half * 6 - 5, 6),
            When::Season { year, season, turn } => self.yearly(year, turn, |year| months(year, season * 3 + 3, 3)),
            When::Year(year) => months(year, 1, 12),
            When::Decade(year) => months(year, 1, 120),
            When::Weekday { weekday, turn } => {
                let since = (self.weekday() - weekday).rem_euclid(7);
                let until = (weekday - self.weekday()).rem_euclid(7);
                let offset = match turn {
                    Turn::Latest | Turn::From(_) => -since,
                    Turn::Last => -(if since == 0 { 7 } else { since }),
                    Turn::This => weekday - self.weekday(),
                    Turn::Next => {
                        if until == 0 {
                            7
                        } else {
                            until
                        }
                    }
                };
                self.some_days(i32::from(offset), 1)
            }
            When::WeekdayIn { week, weekday } => self.some_days(week * 7 + i32::from(weekday - self.weekday()), 1),
            _ => None,
        }
    }

    /// What comes once a year.
    fn yearly(
        &self,
        year: Option<i16>,
        turn: Turn,
        make: impl Fn(i16) -> Option<(Date, Date)>,
    ) -> Option<(Date, Date)> {
        if let Some(year) = year {
            return make(year);
        }
        let present = match turn {
            Turn::From(day) => day.year(),
            _ => self.today.year(),
        };
        // A 29th of February may be eight years away (1900 and 2100 are no leap years).
        let nine = || -8_i16..=8;
        let mut past = nine().rev().filter_map(|offset| make(present.checked_add(offset)?));
        let mut future = nine().filter_map(|offset| make(present.checked_add(offset)?));
        match turn {
            Turn::Latest => past.find(|(from, _)| *from <= self.today),
            Turn::Last => past.find(|(_, to)| *to <= self.today),
            Turn::This => make(present),
            Turn::Next => future.find(|(from, _)| *from > self.today),
            Turn::From(day) => future.find(|(from, _)| *from >= day),
        }
    }

    /// Monday is 0: weeks begin with it.
    fn weekday(&self) -> i8 {
        self.today.weekday().to_monday_zero_offset()
    }

    fn some_days(&self, offset: i32, count: i32) -> Option<(Date, Date)> {
        let first = days_from(self.today, offset)?;
        Some((first, days_from(first, count)?))
    }

    fn whole(&self, unit: Unit, offset: i32) -> Option<Span> {
        let monday = offset.checked_mul(7)? - i32::from(self.weekday());
        let months = |first: Date, count: i32| {
            let first = months_from(first, offset.checked_mul(count)?)?;
            Some((first, months_from(first, count)?))
        };
        let days = match unit {
            Unit::Minute => return Some(self.about(offset, 60)),
            Unit::Hour => return Some(self.about(offset, 3_600)),
            Unit::Day => self.some_days(offset, 1),
            Unit::Week => self.some_days(monday, 7),
            Unit::Weekend => self.some_days(monday + 5, 2),
            Unit::Month => months(self.today.first_of_month(), 1),
            Unit::Quarter => {
                let month = (self.today.month() - 1) / 3 * 3 + 1;
                months(Date::new(self.today.year(), month, 1).ok()?, 3)
            }
            Unit::Year => months(self.today.first_of_year(), 12),
        };
        days.map(|days| self.instants(days))
    }

    /// Half a unit to both sides of a moment some units from now.
    fn about(&self, offset: i32, seconds: i64) -> Span {
        let middle = i64::from(offset) * 2;
        (self.moved(middle - 1, seconds / 2), self.moved(middle + 1, seconds / 2))
    }

    fn rolling(&self, unit: Unit, count: i32) -> Option<Span> {
        let day = match unit {
            Unit::Minute | Unit::Hour => {
                let seconds = if unit == Unit::Hour { 3_600 } else { 60 };
                let end = self.moved(i64::from(count), seconds);
                return Some((end.min(self.now), end.max(self.now)));
            }
            Unit::Day => days_from(self.today, count),
            Unit::Week | Unit::Weekend => days_from(self.today, count.checked_mul(7)?),
            Unit::Month => months_from(self.today, count),
            Unit::Quarter => months_from(self.today, count.checked_mul(3)?),
            Unit::Year => months_from(self.today, count.checked_mul(12)?),
        }?;
        // Whole days: who says three days does not count hours.
        Some(if count < 0 { (self.instant(day), self.now) } else { (self.now, self.instant(days_from(day, 1)?)) })
    }

    fn part(&self, day: i32, part: Part) -> Option<Span> {
        let (from, to) = match part {
            Part::Morning => (5, 12),
            Part::Afternoon => (12, 18),
            Part::Evening => (17, 24),
            Part::Night => (18, 30),
        };
        let at = |hour: i32| {
            let date = days_from(self.today, day + hour / 24)?;
            Some(date.at((hour % 24) as i8, 0, 0, 0).to_zoned_datetime(self.zone.clone()).ok()?.timestamp())
        };
        Some((at(from)?, at(to)?))
    }

    fn moved(&self, count: i64, seconds: i64) -> Timestamp {
        let duration = SignedDuration::from_secs(count.saturating_mul(seconds));
        let end = if count < 0 { Timestamp::MIN } else { Timestamp::MAX };
        self.now.checked_add(duration).unwrap_or(end)
    }

    fn instants(&self, (from, to): (Date, Date)) -> Span {
        (self.instant(from), self.instant(to))
    }

    /// The first instant of a day in the zone; the ends of what instants there are stand for what lies beyond.
    fn instant(&self, day: Date) -> Timestamp {
        let end = if day.year() > 0 { Timestamp::MAX } else { Timestamp::MIN };
        day.to_zoned_datetime(self.zone.clone()).map_or(end, |start| start.timestamp())
    }
}

fn days_from(day: Date, count: i32) -> Option<Date> {
    day.checked_add(SignedDuration::from_hours(i64::from(count) * 24)).ok()
}

/// The same day so many months from there, or the last one of a shorter month.
fn months_from(day: Date, count: i32) -> Option<Date> {
    let months = i32::from(day.year()) * 12 + i32::from(day.month()) - 1;
    let months = months.checked_add(count)?;
    let first = Date::new(i16::try_from(months.div_euclid(12)).ok()?, months.rem_euclid(12) as i8 + 1, 1).ok()?;
    Date::new(first.year(), first.month(), day.day().min(first.days_in_month())).ok()
}
