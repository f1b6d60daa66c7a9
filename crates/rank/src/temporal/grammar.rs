//! What in a text is a date or a period.
//!
//! Both languages are always read: a short question may be taken for the wrong one, and people mix them. What language
//! a text is in only decides about words that are dates in one and something else in the other.
//!
//! A rule looks at a token and at a bounded number of tokens behind it, so reading is linear in the length of the text.

use super::calendar::{Part, Turn, When};
use super::tokens::{Gap, Token};
use super::vocabulary::{
    Case, Unit, case, english_month, english_month_short, english_number, english_season, english_unit,
    english_weekday, english_weekday_short, follows_modal, is_counted, is_of_the_hearth, is_preposition, is_subject,
    is_yearly, ordinal, turkish_month, turkish_month_short, turkish_number, turkish_season, turkish_unit,
    turkish_weekday,
};
use crate::Language;

/// How many words may stand between "before" and the date of what is meant: "before the 2.0 release on 3 May".
const REACH: usize = 6;

/// What a mention says about its date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    At(When),
    /// Up to it; its end when `through`, else its beginning.
    Until {
        when: When,
        through: bool,
    },
    /// From it on; its beginning when `from`, else its end.
    Since {
        when: When,
        from: bool,
    },
    Between(When, When),
}

/// A date among the tokens.
#[derive(Debug, Clone, Copy)]
struct Found {
    when: When,
    /// The first token behind it.
    next: usize,
    /// The Turkish case that it stands in.
    case: Case,
}

/// A mention among the tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    pub(super) shape: Shape,
    /// The first token, and the one behind the last.
    pub(super) first: usize,
    pub(super) next: usize,
}

/// Reads tokens from front to back.
pub(super) struct Grammar<'t> {
    tokens: &'t [Token<'t>],
    language: Option<Language>,
    at: usize,
}

impl Iterator for Grammar<'_> {
    type Item = Reading;

    fn next(&mut self) -> Option<Reading> {
        while self.at < self.tokens.len() {
            let first = self.at;
            if let Some((shape, next)) = self.mention(first) {
                self.at = next;
                return Some(Reading { shape, first, next });
            }
            self.at += 1;
        }
        None
    }
}

impl<'t> Grammar<'t> {
    pub(super) fn new(tokens: &'t [Token<'t>], language: Option<Language>) -> Self {
        Self { tokens, language, at: 0 }
    }

    fn token(&self, at: usize) -> Option<&Token<'t>> {
        self.tokens.get(at)
    }

    /// The word of a token, empty for numbers and where there is none.
    fn word(&self, at: usize) -> &str {
        self.token(at).filter(|token| token.number.is_none()).map_or("", |token| token.word.as_str())
    }

    /// The word that follows the token before it with only spaces between.
    fn follower(&self, at: usize) -> &str {
        if self.gap(at) == Gap::Space { self.word(at) } else { "" }
    }

    /// The word before a token.
    fn before(&self, at: usize, distance: usize) -> &str {
        at.checked_sub(distance)
            .map_or("", |before| if self.gap(before + 1) == Gap::Space { self.word(before) } else { "" })
    }

    fn gap(&self, at: usize) -> Gap {
        self.token(at).map_or(Gap::Other, |token| token.gap)
    }

    /// The case of a token's apostrophe suffix; `None` when it is no Turkish one.
    fn suffix(&self, at: usize) -> Option<Case> {
        let token = self.token(at)?;
        match token.suffix.as_str() {
            "s" => Some(Case::Bare),
            "" if token.apostrophe => None,
            suffix => case(suffix),
        }
    }

    fn is_turkish(&self) -> bool {
        self.language == Some(Language::Turkish)
    }

    fn is_english(&self) -> bool {
        self.language == Some(Language::English)
    }

    /// A mention at a token, and the token behind it.
    fn mention(&self, at: usize) -> Option<(Shape, usize)> {
        self.led(at).or_else(|| self.day_range(at)).or_else(|| self.followed(at))
    }

    /// "before …", "since …", "between … and …".
    fn led(&self, at: usize) -> Option<(Shape, usize)> {
        let word = self.word(at);
        let (word, inner) = match (word, self.follower(at + 1)) {
            ("prior", "to") => ("before", at + 2),
            ("earlier" | "later", "than") => (if word == "later" { "after" } else { "before" }, at + 2),
            _ => (word, at + 1),
        };
        if !matches!(word, "between" | "from" | "before" | "after" | "since" | "until" | "till" | "by") {
            return None;
        }
        if self.gap(inner) != Gap::Space {
            return None;
        }
        let inner = inner + usize::from(self.word(inner) == "the");
        if matches!(word, "between" | "from") {
            return self.range_led(word, inner);
        }
        if let Some(found) = self.point(inner, true) {
            let when = found.when;
            let shape = match word {
                "before" => Shape::Until { when, through: false },
                "after" => Shape::Since { when, from: false },
                "since" => Shape::Since { when, from: true },
                _ => Shape::Until { when, through: true },
            };
            return Some((shape, found.next));
        }
        if !matches!(word, "before" | "after" | "since") {
            return None;
        }
        for ahead in inner..inner + REACH {
            if ahead > inner && self.gap(ahead) != Gap::Space {
                return None;
            }
            let linked =
                matches!(self.word(ahead), "on" | "in" | "of" | "from" | "dated") && self.gap(ahead + 1) == Gap::Space;
            if !linked {
                continue;
            }
            if let Some(Found { when, next, .. }) = self.point(ahead + 1, true) {
                // What happened on a day is named by the day; within a month or a year it has its own place.
                let exact = matches!(when, When::Day { .. } | When::Weekday { .. });
                let shape = match word {
                    "before" => Shape::Until { when, through: !exact },
                    "after" => Shape::Since { when, from: !exact },
                    _ => Shape::Since { when, from: true },
                };
                return Some((shape, next));
            }
        }
        None
    }

    /// "between X and Y", "from X to Y", "from X on".
    fn range_led(&self, word: &str, inner: usize) -> Option<(Shape, usize)> {
        let joins = |joint: &str| match word {
            "between" => joint == "and",
            _ => matches!(joint, "to" | "until" | "till" | "through"),
        };
        // "between 3 and 10 March", "from 3 to 10 March".
        if let Some(day) = self.day_number(inner)
            && joins(self.follower(inner + 1))
            && let Some(Found { when: second @ When::Day { month, year, turn, .. }, next, .. }) =
                self.point(inner + 2, true)
        {
            return Some((Shape::Between(When::Day { year, month, day, turn }, second), next));
        }
        let first = self.point(inner, true)?;
        if joins(self.follower(first.next)) && self.gap(first.next + 1) == Gap::Space {
            let second = first.next + 1;
            let second = second + usize::from(self.word(second) == "the");
            if let Some(second) = self.point(second, true) {
                return Some((Shape::Between(first.when, second.when), second.next));
            }
            if self.word(second) == "now" || self.word(second) == "today" {
                return Some((Shape::Since { when: first.when, from: true }, second + 1));
            }
        }
        if word == "from" && matches!(self.follower(first.next), "on" | "onward" | "onwards") {
            return Some((Shape::Since { when: first.when, from: true }, first.next + 1));
        }
        // "between" two things of which one is a date says little; "from March" means in it.
        (word == "from").then_some((Shape::At(first.when), first.next))
    }

    /// "3-5 Mayıs", "3 ile 10 Mart arasında", "3 to 10 March", "March 3-5".
    fn day_range(&self, at: usize) -> Option<(Shape, usize)> {
        if let Some((first, second)) = self.two_days(at) {
            let Found { when, next, .. } = self.point_from_day(second, at + 1)?;
            return Some((Shape::Between(with_day(when, first)?, when), next));
        }
        if let Some(month) = english_month(self.word(at)).or_else(|| english_month_short(self.word(at)))
            && self.gap(at + 1) == Gap::Space
            && let Some((first, second)) = self.two_days(at + 1)
        {
            let (year, next) = self.year_behind(at + 2).map_or((None, at + 2), |(year, next, _)| (Some(year), next));
            let day = |day| When::Day { year, month, day, turn: Turn::Latest };
            return Some((Shape::Between(day(first), day(second)), next));
        }
        let day = self.day_number(at)?;
        let dash = self.gap(at + 1) == Gap::Dash;
        let joint = self.follower(at + 1);
        let second = if dash { at + 1 } else { at + 2 };
        if !(dash || matches!(joint, "ile" | "ve" | "to" | "and") && self.gap(second) == Gap::Space) {
            return None;
        }
        let Found { when, next, .. } = self.point(second, true)?;
        let first = with_day(when, day)?;
        let closed = self.follower(next).starts_with("aras");
        (dash || joint == "to" || closed).then_some((Shape::Between(first, when), next + usize::from(closed)))
    }

    /// A date, and what behind it makes a range of it.
    fn followed(&self, at: usize) -> Option<(Shape, usize)> {
        // Words that are months only among dates may still be the first of two: "ocak ve mart arasında".
        let sure = self.point(at, false);
        let Found { when, next, case } = sure.or_else(|| self.point(at, true))?;
        let joint = self.follower(next);
        let dash = self.gap(next) == Gap::Dash;
        if when.is_calendar() {
            let second = if dash { next } else { next + 1 };
            let spaced = dash || self.gap(second) == Gap::Space;
            if spaced
                && (dash || matches!(joint, "to" | "through" | "thru" | "until" | "till" | "ile" | "ve"))
                && let Some(second) = self.point(second, true).filter(|second| second.when.is_calendar())
            {
                let closed = self.follower(second.next).starts_with("aras");
                if closed || (sure.is_some() && !matches!(joint, "ile" | "ve")) {
                    return Some((Shape::Between(when, second.when), second.next + usize::from(closed)));
                }
            }
            // "marttan mayısa kadar".
            if case == Case::From
                && let Some(second) = self.point(next, true).filter(|second| second.case == Case::To)
            {
                let closed = matches!(self.follower(second.next), "kadar" | "dek" | "degin");
                return Some((Shape::Between(when, second.when), second.next + usize::from(closed)));
            }
        }
        sure?;
        let one = next + 1;
        Some(match (case, joint) {
            (Case::From, "once" | "evvel" | "onceki") | (Case::Bare, "oncesi" | "oncesinde" | "oncesindeki") => {
                (Shape::Until { when, through: false }, one)
            }
            (Case::From, "sonra" | "sonraki") | (Case::Bare, "sonrasi" | "sonrasinda" | "sonrasindaki") => {
                (Shape::Since { when, from: false }, one)
            }
            (Case::From, "beri" | "itibaren") | (Case::Bare, "onward" | "onwards") => {
                (Shape::Since { when, from: true }, one)
            }
            (Case::From, "bu") if matches!(self.follower(one), "yana" | "yanaki") => {
                (Shape::Since { when, from: true }, next + 2)
            }
            (Case::To, "kadar" | "dek" | "degin") => (Shape::Until { when, through: true }, one),
            _ => (Shape::At(when), next),
        })
    }

    /// A date or a period that begins at a token. `expected` when what stands before asks for one.
    fn point(&self, at: usize, expected: bool) -> Option<Found> {
        let token = self.token(at)?;
        if token.compound {
            return compound(token.raw).map(|when| Found {
                when,
                next: at + 1,
                case: self.suffix(at).unwrap_or(Case::Bare),
            });
        }
        if token.number.is_some() {
            return self
                .numbered_part(at)
                .or_else(|| self.day_first(at))
                .or_else(|| self.ago(at))
                .or_else(|| self.decade(at))
                .or_else(|| self.year(at, expected));
        }
        if token.word.as_str().is_empty() {
            return None;
        }
        self.relative(at)
            .or_else(|| self.part_of_year(at))
            .or_else(|| self.modified(at))
            .or_else(|| self.weekday(at))
            .or_else(|| self.month(at, expected))
            .or_else(|| self.turkish_day_first(at))
            .or_else(|| self.ago(at))
            .or_else(|| self.recent(at))
    }

    /// A day of a month as a number, written alone or as an English ordinal.
    fn day_number(&self, at: usize) -> Option<u8> {
        let token = self.token(at)?;
        let plain = !token.apostrophe && matches!(token.word.as_str(), "" | "st" | "nd" | "rd" | "th");
        token.number.filter(|number| plain && (1..=31).contains(number)).map(|number| number as u8)
    }

    /// "3-5", two days.
    fn two_days(&self, at: usize) -> Option<(u8, u8)> {
        let (first, second) = self.token(at).filter(|token| token.compound)?.raw.split_once('-')?;
        let day = |text: &str| text.parse().ok().filter(|day| (1..=31).contains(day));
        Some((day(first)?, day(second)?))
    }

    /// A year as four digits that may stand alone, and the case of what is written behind it.
    fn year_number(&self, at: usize) -> Option<(i16, Case)> {
        self.any_year(at).filter(|(year, _)| (1_900..=2_100).contains(year))
    }

    /// A year as four digits, and the case of what is written behind it.
    fn any_year(&self, at: usize) -> Option<(i16, Case)> {
        let token = self.token(at)?;
        let year = token.number.filter(|year| (1_000..=2_999).contains(year))? as i16;
        let glued = case(token.word.as_str()).filter(|case| {
            // Without an apostrophe only what cannot be a unit: "2024te", but not "2024e".
            matches!(case, Case::Bare | Case::In | Case::From | Case::Which)
        })?;
        match self.suffix(at)? {
            Case::Bare => Some((year, glued)),
            case if glued == Case::Bare => Some((year, case)),
            _ => None,
        }
    }

    /// A year that belongs to what stands before it, the token behind it, and its case.
    fn year_behind(&self, at: usize) -> Option<(i16, usize, Case)> {
        let at = at + usize::from(self.follower(at) == "of");
        if !matches!(self.gap(at), Gap::Space | Gap::Comma) {
            return None;
        }
        let (year, case) = self.any_year(at)?;
        if is_counted(self.follower(at + 1)) {
            return None;
        }
        // "Mart 2026 yılında".
        match turkish_unit(self.follower(at + 1)) {
            Some((Unit::Year, case)) => Some((year, at + 2, case)),
            _ => Some((year, at + 1, case)),
        }
    }

    /// "5 March 2026", "5th of March", "5 Mart'ta", "5 Oca 2026".
    fn day_first(&self, at: usize) -> Option<Found> {
        let day = self.day_number(at)?;
        self.point_from_day(day, at + 1)
    }

    /// "üç Mayıs", "on beş martta".
    fn turkish_day_first(&self, at: usize) -> Option<Found> {
        let (day, next) = self.turkish_number(at)?;
        let (month, _) = turkish_month(self.follower(next))?;
        let day = u8::try_from(day).ok()?;
        self.point_from_day(day, next).filter(|_| (1..=31).contains(&day) && month > 0)
    }

    /// The month behind a day, and its year.
    fn point_from_day(&self, day: u8, at: usize) -> Option<Found> {
        let at = at + usize::from(self.follower(at) == "of");
        if !matches!(self.gap(at), Gap::Space | Gap::Dash) {
            return None;
        }
        let word = self.word(at);
        let (month, ending, known) = if let Some(month) = english_month(word) {
            if word == "may" && follows_modal(self.follower(at + 1)) {
                return None;
            }
            (month, Case::Bare, true)
        } else if let Some((month, case)) = turkish_month(word) {
            (month, if case == Case::Bare { self.suffix(at)? } else { case }, true)
        } else if let Some(month) = english_month_short(word) {
            (month, Case::Bare, true)
        } else {
            (turkish_month_short(word)?, Case::Bare, false)
        };
        let year = match ending {
            Case::Bare | Case::Of => self.year_behind(at + 1),
            _ => None,
        };
        if !known && year.is_none() {
            return None;
        }
        // "3 Mayıs günü", "3 Mayıs 2026 Cuma günü".
        let (year, next, mut case) = year.map_or((None, at + 1, ending), |(year, next, case)| (Some(year), next, case));
        let mut end = next;
        if let Some((_, named)) = turkish_weekday(self.follower(end)) {
            (end, case) = (end + 1, named);
        }
        if let Some((Unit::Day, named)) = turkish_unit(self.follower(end)).filter(|(_, case)| *case != Case::Bare) {
            (end, case) = (end + 1, if named == Case::Object { Case::Bare } else { named });
        }
        dated(year, month, day).map(|when| Found { when, next: end, case })
    }

    /// "March 5th, 2026", "March 2026", "mart ayındaki", "mayısın 3'ünde".
    fn month(&self, at: usize, expected: bool) -> Option<Found> {
        let word = self.word(at);
        // A day that the month does not have makes no date of the month alone: "30 February".
        if !expected && self.gap(at) == Gap::Space && at.checked_sub(1).and_then(|day| self.day_number(day)).is_some() {
            return None;
        }
        if let Some(month) = english_month(word) {
            return self.english_month(at, month, expected);
        }
        if let Some(month) = english_month_short(word) {
            let next = at + 1;
            if !matches!(self.gap(next), Gap::Space | Gap::Dot) {
                return None;
            }
            return self.day_behind(month, next).or_else(|| {
                let (year, case) = self.year_number(next)?;
                Some(Found { when: monthly(Some(year), month), next: next + 1, case })
            });
        }
        let (month, glued) = turkish_month(word)?;
        self.turkish_month(at, month, glued, expected)
    }

    fn english_month(&self, at: usize, month: u8, expected: bool) -> Option<Found> {
        let next = at + 1;
        let verb = matches!(month, 3 | 5) && is_subject(self.before(at, 1)) && !expected;
        if !verb && self.gap(next) == Gap::Space {
            let day = next + usize::from(self.word(next) == "the");
            if let Some(found) = self.day_behind(month, day) {
                return Some(found);
            }
        }
        if let Some((year, next, case)) = self.year_behind(next) {
            return Some(Found { when: monthly(Some(year), month), next, case });
        }
        // Turkish has "mart" for it, but people write "May'da" of a person.
        let bare = self.suffix(at) == Some(Case::Bare);
        let alone = bare && (!matches!(month, 3 | 5 | 8) || self.is_month_and_no_verb(at, month, expected));
        alone.then(|| Found { when: monthly(None, month), next, case: Case::Bare })
    }

    /// Whether "may", "march" or "august" is the month.
    fn is_month_and_no_verb(&self, at: usize, month: u8, expected: bool) -> bool {
        let behind = self.follower(at + 1);
        if month == 5 && follows_modal(behind) || month == 3 && matches!(behind, "on" | "against" | "for" | "to") {
            return false;
        }
        let before = match at.checked_sub(1) {
            Some(before) if matches!(self.gap(at), Gap::Space | Gap::Dash) => self.word(before),
            _ => "",
        };
        let capital = self.token(at).is_some_and(|token| token.capital);
        let named = capital && matches!(before, "the" | "our" | "my" | "your" | "its" | "their" | "and" | "or");
        expected || is_preposition(before) || named
    }

    /// A day behind the name of its month, and perhaps the year.
    fn day_behind(&self, month: u8, at: usize) -> Option<Found> {
        let day = self.day_number(at)?;
        // "in May 20 people": what follows tells that it counts something.
        if is_counted(self.follower(at + 1)) {
            return None;
        }
        let (year, next, case) =
            self.year_behind(at + 1).map_or((None, at + 1, Case::Bare), |(year, next, case)| (Some(year), next, case));
        dated(year, month, day).map(|when| Found { when, next, case })
    }

    fn turkish_month(&self, at: usize, month: u8, glued: Case, expected: bool) -> Option<Found> {
        let ending = if glued == Case::Bare { self.suffix(at)? } else { glued };
        let next = at + 1;
        if ending == Case::Bare
            && let Some((year, next, case)) = self.year_behind(next)
        {
            return Some(Found { when: monthly(Some(year), month), next, case });
        }
        // "mayısın 3'ünde", "mayısın 3ü".
        if ending == Case::Of
            && self.gap(next) == Gap::Space
            && let Some(token) = self.token(next)
            && let Some(day) = token.number.filter(|day| (1..=31).contains(day))
            && let Some(case) =
                case(token.word.as_str()).filter(|case| *case != Case::Bare).or_else(|| self.suffix(next))
        {
            return dated(None, month, day as u8).map(|when| Found { when, next: next + 1, case });
        }
        if let Some((Unit::Month, case)) = turkish_unit(self.follower(next)).filter(|_| ending == Case::Bare) {
            let case = if case == Case::Object { Case::Bare } else { case };
            return Some(Found { when: monthly(None, month), next: next + 1, case });
        }
        let apostrophe = self.token(at).is_some_and(|token| token.apostrophe);
        let in_it = matches!(ending, Case::In | Case::Which | Case::From);
        let meant = match month {
            // A stove, or a mine.
            1 => {
                let nearby = (at.saturating_sub(3)..at + 4).any(|near| is_of_the_hearth(self.word(near)));
                apostrophe || expected || (in_it && !nearby)
            }
            // English has marts, and a Martin.
            3 => apostrophe || in_it || expected || (self.is_turkish() && ending == Case::Bare),
            // Sowing.
            10 => apostrophe || in_it || expected,
            // A gap, a range.
            12 => {
                let which =
                    matches!(self.before(at, 1), "bu" | "o" | "su" | "bir" | "genis" | "dar" | "belirli" | "hangi");
                apostrophe || expected || (in_it && !which)
            }
            // An accusative without its apostrophe is rarely a month's: "nisanı".
            _ => ending != Case::Object || apostrophe,
        };
        meant.then(|| Found { when: monthly(None, month), next, case: ending })
    }

    /// "2025 Q2", "2025'in ikinci çeyreği", "2025 yazında", "2025 yılının Mart ayı", "2. çeyrek", "2nd quarter".
    fn numbered_part(&self, at: usize) -> Option<Found> {
        if let Some((year, _)) = self.year_number(at) {
            let mut next = at + 1;
            if matches!(turkish_unit(self.follower(next)), Some((Unit::Year, _))) {
                next += 1;
            }
            if !matches!(self.gap(next), Gap::Space | Gap::Dash) {
                return None;
            }
            if let Some((part, next, case)) = self.numbered(next, true) {
                return Some(Found { when: part.of(Some(year))?, next, case });
            }
            if let Some((season, case)) = turkish_season(self.word(next)).filter(|(_, case)| *case != Case::Bare) {
                let when = When::Season { year: Some(year), season, turn: Turn::Latest };
                return Some(Found { when, next: next + 1, case: possessed(case) });
            }
            let (month, glued) = turkish_month(self.word(next))?;
            let mut case = if glued == Case::Bare { self.suffix(next)? } else { glued };
            next += 1;
            if let Some((Unit::Month, of_month)) = turkish_unit(self.follower(next)) {
                (next, case) = (next + 1, of_month);
            }
            return Some(Found { when: monthly(Some(year), month), next, case: possessed(case) });
        }
        let (part, next, case) = self.numbered(at, false)?;
        let (year, next, case) =
            self.year_behind(next).map_or((None, next, case), |(year, next, case)| (Some(year), next, case));
        Some(Found { when: part.of(year)?, next, case })
    }

    /// "Q2", "H1", "second quarter", "ilk yarısı", "2. çeyrek": which quarter or half, the token behind, and its case.
    /// `of_year` when a year stands before it, which may have a last quarter.
    fn numbered(&self, at: usize, of_year: bool) -> Option<(YearPart, usize, Case)> {
        let token = self.token(at)?;
        let short = match token.word.as_str() {
            "q1" => Some(YearPart::Quarter(1)),
            "q2" => Some(YearPart::Quarter(2)),
            "q3" => Some(YearPart::Quarter(3)),
            "q4" => Some(YearPart::Quarter(4)),
            "h1" => Some(YearPart::Half(1)),
            "h2" => Some(YearPart::Half(2)),
            _ => None,
        };
        if let Some(part) = short {
            return Some((part, at + 1, self.suffix(at)?));
        }
        let (place, next) = if let Some(number) = token.number.filter(|number| (1..=4).contains(number)) {
            let dotted = token.word.as_str().is_empty() && self.gap(at + 1) == Gap::Dot;
            let ordinal = matches!(token.word.as_str(), "st" | "nd" | "rd" | "th");
            (dotted || ordinal).then_some((number as u8, at + 1))?
        } else {
            let last = of_year && token.word.as_str() == "son";
            (if last { 4 } else { ordinal(token.word.as_str())? }, at + 1)
        };
        if !matches!(self.gap(next), Gap::Space | Gap::Dot) {
            return None;
        }
        match self.word(next) {
            "quarter" => Some((YearPart::Quarter(place), next + 1, Case::Bare)),
            "half" => Some((YearPart::Half(place.min(2)), next + 1, Case::Bare)),
            word => {
                if let Some((Unit::Quarter, case)) = turkish_unit(word) {
                    return Some((YearPart::Quarter(place), next + 1, possessed(case)));
                }
                let case = case(word.strip_prefix("yari")?)?;
                Some((YearPart::Half(place.min(2)), next + 1, possessed(case)))
            }
        }
    }

    /// "Q2 2025", "the second quarter of 2025", "spring 2025", "2024 kışı".
    fn part_of_year(&self, at: usize) -> Option<Found> {
        if let Some((part, next, case)) = self.numbered(at, false) {
            let (year, next, case) =
                self.year_behind(next).map_or((None, next, case), |(year, next, case)| (Some(year), next, case));
            return Some(Found { when: part.of(year)?, next, case });
        }
        let season = english_season(self.word(at)).or_else(|| Some(turkish_season(self.word(at))?.0))?;
        let (year, next, case) = self.year_behind(at + 1)?;
        Some(Found { when: When::Season { year: Some(year), season, turn: Turn::Latest }, next, case })
    }

    /// A year alone, which a number is only when something says so.
    fn year(&self, at: usize, expected: bool) -> Option<Found> {
        let (year, case) = self.year_number(at)?;
        let next = at + 1;
        let behind = self.follower(next);
        if is_counted(behind) {
            return None;
        }
        if let Some((Unit::Year, of_year)) = turkish_unit(behind) {
            let case = if of_year == Case::Object { Case::Bare } else { of_year };
            return Some(Found { when: When::Year(year), next: next + 1, case });
        }
        let before = match at.checked_sub(1) {
            Some(before) if matches!(self.gap(at), Gap::Space | Gap::Dash) => self.word(before),
            _ => "",
        };
        // "out of 2000", "by 2000 guests".
        let many = behind.len() > 4 && behind.ends_with('s');
        let counted = match before {
            "of" => self.before(at - 1, 1) == "out",
            "by" | "around" => many,
            _ => false,
        };
        let said = expected || is_preposition(before) || case != Case::Bare || is_yearly(behind);
        (said && !counted).then_some(Found { when: When::Year(year), next, case })
    }

    /// "the 1990s", "1990'larda", "1990'lı yıllar".
    fn decade(&self, at: usize) -> Option<Found> {
        let token = self.token(at)?;
        let year = token.number.filter(|year| (1_900..=2_100).contains(year) && year % 10 == 0)? as i16;
        let many = ["lar", "ler"].iter().find_map(|ending| case(token.suffix.as_str().strip_prefix(ending)?));
        let case = match token.word.as_str() {
            "s" => Some(Case::Bare),
            "" if matches!(token.suffix.as_str(), "li" | "lu") && self.follower(at + 1).starts_with("yillar") => {
                return Some(Found { when: When::Decade(year), next: at + 2, case: Case::Bare });
            }
            "" => many,
            _ => None,
        };
        Some(Found { when: When::Decade(year), next: at + 1, case: case? })
    }

    /// A small Turkish number of one or two words, and the token behind it.
    fn turkish_number(&self, at: usize) -> Option<(u32, usize)> {
        let first = turkish_number(self.word(at))?;
        let second =
            if first >= 10 { turkish_number(self.follower(at + 1)).filter(|second| *second < 10) } else { None };
        Some(second.map_or((first, at + 1), |second| (first + second, at + 2)))
    }

    /// A number in digits or words, and the token behind it.
    fn count(&self, at: usize) -> Option<(u32, usize)> {
        let token = self.token(at)?;
        if let Some(number) = token.number {
            return (token.word.as_str().is_empty() && !token.apostrophe).then_some((number, at + 1));
        }
        if let Some(number) = english_number(self.word(at)) {
            return Some((number, at + 1));
        }
        let couple = if self.word(at) == "a" { at + 1 } else { at };
        if self.word(couple) == "couple" {
            return Some((2, couple + 1 + usize::from(self.follower(couple + 1) == "of")));
        }
        self.turkish_number(at)
    }

    /// "three days ago", "a few weeks ago", "üç gün önce", "iki haftadır".
    fn ago(&self, at: usize) -> Option<Found> {
        let word = self.word(at);
        let few = match (word, self.follower(at + 1)) {
            ("a", "few") | ("bir", "kac") => Some(at + 2),
            ("few" | "several" | "birkac", _) => Some(at + 1),
            _ => None,
        };
        let article = matches!(word, "a" | "an").then_some((1, at + 1));
        let (count, next) = match few {
            Some(next) => (None, next),
            None => self.count(at).or(article).map(|(count, next)| (i32::try_from(count).ok(), next))?,
        };
        let unit = self.follower(next);
        let behind = self.follower(next + 1);
        let found = |when, next| Some(Found { when, next, case: Case::Bare });
        let away = |unit: Unit, sign: i32| match count {
            Some(count) => When::Whole { unit, offset: sign * count },
            None => When::FewAgo(unit),
        };
        if let Some((unit, _)) = english_unit(unit) {
            return match (behind, self.follower(next + 2)) {
                ("ago", _) => found(away(unit, -1), next + 2),
                ("from", "now") => found(When::Whole { unit, offset: count? }, next + 3),
                _ => None,
            };
        }
        let (unit, case) = turkish_unit(unit)?;
        match (case, behind) {
            (Case::Bare, "once" | "evvel" | "onceki" | "evvelki") => found(away(unit, -1), next + 2),
            (Case::Bare, "sonra" | "sonraki" | "sonraya") => found(When::Whole { unit, offset: count? }, next + 2),
            (Case::Lasting, _) if unit != Unit::Minute => {
                found(When::Rolling { unit, count: -count.unwrap_or(3) }, next + 1)
            }
            _ => None,
        }
    }

    /// Words that are a time by themselves.
    fn relative(&self, at: usize) -> Option<Found> {
        let word = self.word(at);
        let next = at + 1;
        let found = |when, next, case| Some(Found { when, next, case });
        let day = |offset| When::Whole { unit: Unit::Day, offset };
        match (word, self.follower(next), self.follower(next + 1)) {
            ("day", "before", "yesterday") => return found(day(-2), next + 2, Case::Bare),
            ("day", "after", "tomorrow") => return found(day(2), next + 2, Case::Bare),
            ("week", "before", "last") => {
                return found(When::Whole { unit: Unit::Week, offset: -2 }, next + 2, Case::Bare);
            }
            ("month", "before", "last") => {
                return found(When::Whole { unit: Unit::Month, offset: -2 }, next + 2, Case::Bare);
            }
            ("year", "before", "last") => {
                return found(When::Whole { unit: Unit::Year, offset: -2 }, next + 2, Case::Bare);
            }
            ("week", "after", "next") => {
                return found(When::Whole { unit: Unit::Week, offset: 2 }, next + 2, Case::Bare);
            }
            _ => {}
        }
        let offset = match word {
            "today" | "todays" => return found(day(0), next, Case::Bare),
            "yesterday" | "yesterdays" => -1,
            "tomorrow" | "tomorrows" => 1,
            "tonight" => return found(When::Part { day: 0, part: Part::Night }, next, Case::Bare),
            "bugun" | "bugunku" | "bugunun" => return found(day(0), next, self.suffix(at)?),
            "bugunden" => return found(day(0), next, Case::From),
            "bugune" => return found(day(0), next, Case::To),
            "bugunlerde" => return found(When::Recent { loose: false }, next, Case::Bare),
            "yarin" | "yarinki" | "yarinin" => return found(day(1), next, self.suffix(at)?),
            "yarindan" => return found(day(1), next, Case::From),
            "yarina" => return found(day(1), next, Case::To),
            "dun" if !self.is_english() || self.token(at).is_some_and(|token| !token.raw.is_ascii()) => {
                if let Some((part, next)) = self.turkish_part(next) {
                    return found(When::Part { day: -1, part }, next, Case::Bare);
                }
                return found(day(-1), next, self.suffix(at)?);
            }
            "dunku" | "dunun" => return found(day(-1), next, Case::Bare),
            "dunden" => return found(day(-1), next, Case::From),
            "dune" if self.follower(next) == "kadar" => return found(day(-1), next, Case::To),
            "haftaya" => {
                if let Some((weekday, case)) = turkish_weekday(self.follower(next)) {
                    return found(When::WeekdayIn { week: 1, weekday }, next + 1, case);
                }
                return found(When::Whole { unit: Unit::Week, offset: 1 }, next, Case::Bare);
            }
            "seneye" => return found(When::Whole { unit: Unit::Year, offset: 1 }, next, Case::Bare),
            _ => return None,
        };
        // "yesterday morning".
        let part = english_part(self.follower(next));
        match part {
            Some(part) => found(When::Part { day: offset, part }, next + 1, Case::Bare),
            None => found(day(offset), next, Case::Bare),
        }
    }

    /// "sabah", "akşam", "gece", "öğleden sonra", and the token behind.
    fn turkish_part(&self, at: usize) -> Option<(Part, usize)> {
        Some(match self.follower(at) {
            "sabah" | "sabahki" | "sabahtan" => (Part::Morning, at + 1),
            "aksam" | "aksamki" | "aksamdan" => (Part::Evening, at + 1),
            "gece" | "geceki" | "geceden" => (Part::Night, at + 1),
            "ogleden" if self.follower(at + 1) == "sonra" => (Part::Afternoon, at + 2),
            _ => return None,
        })
    }

    /// "last week", "the past two weeks", "geçen hafta", "son iki hafta", "next Friday", "last spring".
    fn modified(&self, at: usize) -> Option<Found> {
        match self.word(at) {
            word @ ("last" | "previous" | "past" | "this" | "current" | "next" | "coming" | "upcoming") => {
                self.english_modified(at, word)
            }
            "gecen" | "gectigimiz" | "onceki" | "gecmis" => self.turkish_modified(at, -1),
            "evvelki" | "evvelsi" => self.turkish_modified(at, -2),
            "bu" => self.turkish_modified(at, 0),
            "onumuzdeki" | "gelecek" | "sonraki" => self.turkish_modified(at, 1),
            "obur" => self.turkish_modified(at, 2),
            "son" => self.turkish_rolling(at),
            _ => None,
        }
    }

    fn english_modified(&self, at: usize, word: &str) -> Option<Found> {
        let next = at + 1;
        if self.gap(next) != Gap::Space {
            return None;
        }
        let sign = match word {
            "last" | "previous" | "past" => -1,
            "this" | "current" => 0,
            _ => 1,
        };
        let found = |when, next| Some(Found { when, next, case: Case::Bare });
        let turn = [Turn::Last, Turn::This, Turn::Next][(sign + 1) as usize];
        // "the last two weeks", "the next few days".
        let few = matches!(self.word(next), "few" | "several").then_some((3, next + 1));
        if sign != 0
            && let Some((count, behind)) = few.or_else(|| self.count(next))
            && let Some((unit, _)) = english_unit(self.follower(behind))
        {
            let count = i32::try_from(count).ok().filter(|count| *count > 0)?;
            // "the last two weeks of March" are in March.
            return if self.follower(behind + 1) == "of" {
                None
            } else {
                found(When::Rolling { unit, count: sign * count }, behind + 1)
            };
        }
        let noun = self.word(next);
        if let Some((unit, plural)) = english_unit(noun) {
            let hyphenated = self.gap(next + 1) == Gap::Dash;
            if hyphenated
                || self.follower(next + 1) == "of"
                || (plural && self.token(next).is_some_and(|token| !token.apostrophe))
            {
                return None;
            }
            let rolling = word == "past" || (word == "last" && self.before(at, 1) == "the");
            return match unit {
                Unit::Hour if rolling => found(When::Rolling { unit, count: -1 }, next + 1),
                Unit::Day if word == "past" => found(When::Rolling { unit, count: -1 }, next + 1),
                Unit::Minute | Unit::Hour | Unit::Day => None,
                Unit::Weekend => found(When::Whole { unit, offset: sign }, next + 1),
                _ if rolling => found(When::Rolling { unit, count: -1 }, next + 1),
                _ => {
                    let when = When::Whole { unit, offset: sign };
                    match (unit, english_weekday(self.follower(next + 1))) {
                        (Unit::Week, Some(weekday)) => found(When::WeekdayIn { week: sign, weekday }, next + 2),
                        _ => found(when, next + 1),
                    }
                }
            };
        }
        if noun == "night" && word == "last" {
            return found(When::Part { day: -1, part: Part::Night }, next + 1);
        }
        if let Some(part) = english_part(noun).filter(|_| word == "this") {
            return found(When::Part { day: 0, part }, next + 1);
        }
        let short = english_weekday_short(noun).filter(|weekday| !matches!(weekday, 2 | 5 | 6));
        let weekday = english_weekday(noun).filter(|_| !noun.ends_with("days")).or(short);
        if let Some(weekday) = weekday.filter(|_| self.suffix(next).is_some()) {
            return found(When::Weekday { weekday, turn }, next + 1);
        }
        if let Some(season) = english_season(noun) {
            let behind = self.follower(next + 1);
            if let Some((year, next, _)) = self.year_behind(next + 1) {
                return found(When::Season { year: Some(year), season, turn }, next);
            }
            return (behind != "of").then_some(Found {
                when: When::Season { year: None, season, turn },
                next: next + 1,
                case: Case::Bare,
            });
        }
        let month = english_month(noun)?;
        let behind = self.token(next + 1);
        let ends = behind.is_none_or(|token| token.gap != Gap::Space);
        let capital = self.token(next).is_some_and(|token| token.capital);
        let meant = match noun {
            "may" => !follows_modal(self.follower(next + 1)) && (word != "this" || capital || ends),
            // "the last march against the war".
            "march" => capital || self.before(at, 1) != "the",
            _ => true,
        };
        let year = self.year_behind(next + 1);
        if !meant || year.is_some() || self.day_behind(month, next + 1).is_some() {
            return None;
        }
        found(When::Month { year: None, month, turn }, next + 1)
    }

    fn turkish_modified(&self, at: usize, offset: i32) -> Option<Found> {
        let next = at + 1;
        let noun = self.follower(next);
        let found = |when, next, case| Some(Found { when, next, case });
        let turn = match offset.signum() {
            -1 => Turn::Last,
            0 => Turn::This,
            _ => Turn::Next,
        };
        if offset == 0 {
            if matches!(noun, "aralar" | "siralar" | "gunlerde" | "aralarda") {
                return found(When::Recent { loose: false }, next + 1, Case::Bare);
            }
            if let Some((part, next)) = self.turkish_part(next) {
                return found(When::Part { day: 0, part }, next, Case::Bare);
            }
        }
        if let Some((unit, case)) = turkish_unit(noun) {
            let case = if case == Case::Bare { self.suffix(next)? } else { case };
            return match (unit, self.word(at)) {
                (Unit::Day, "gecen" | "gectigimiz") => found(When::Recent { loose: false }, next + 1, case),
                (Unit::Day, "onceki") => found(When::Whole { unit, offset: -2 }, next + 1, case),
                (Unit::Day, "evvelki" | "evvelsi" | "obur" | "bu") => {
                    found(When::Whole { unit, offset }, next + 1, case)
                }
                (Unit::Minute | Unit::Hour | Unit::Day, _) => None,
                (Unit::Week, _) if case == Case::Bare => self.turkish_week(next, offset),
                _ => found(When::Whole { unit, offset }, next + 1, case),
            };
        }
        if let Some((weekday, case)) = turkish_weekday(noun) {
            let case = if case == Case::Bare { self.suffix(next)? } else { case };
            let (next, case) = self.day_word(next + 1, case);
            return found(When::Weekday { weekday, turn }, next, case);
        }
        if let Some((season, case)) = turkish_season(noun) {
            return found(When::Season { year: None, season, turn }, next + 1, case);
        }
        let (month, case) = turkish_month(noun)?;
        // "bu aralıkta" is "in this interval" as well.
        if self.year_behind(next + 1).is_some() || (offset == 0 && month == 12 && case != Case::Bare) {
            return None;
        }
        let case = if case == Case::Bare { self.suffix(next)? } else { case };
        match turkish_unit(self.follower(next + 1)) {
            Some((Unit::Month, of_month)) if case == Case::Bare => {
                found(When::Month { year: None, month, turn }, next + 2, possessed(of_month))
            }
            _ => found(When::Month { year: None, month, turn }, next + 1, case),
        }
    }

    /// What may follow "geçen hafta": nothing, "sonu", or a day of it.
    fn turkish_week(&self, at: usize, offset: i32) -> Option<Found> {
        let behind = self.follower(at + 1);
        if let Some(case) = behind.strip_prefix("son").filter(|ending| ending.starts_with('u')).and_then(case) {
            let when = When::Whole { unit: Unit::Weekend, offset };
            return Some(Found { when, next: at + 2, case: possessed(case) });
        }
        if let Some((weekday, case)) = turkish_weekday(behind) {
            let (next, case) = self.day_word(at + 2, case);
            return Some(Found { when: When::WeekdayIn { week: offset, weekday }, next, case });
        }
        Some(Found { when: When::Whole { unit: Unit::Week, offset }, next: at + 1, case: self.suffix(at)? })
    }

    /// Passes over "günü", "günkü" behind the name of a day.
    fn day_word(&self, at: usize, case: Case) -> (usize, Case) {
        match self.follower(at) {
            "gunku" => (at + 1, Case::Which),
            word => match turkish_unit(word) {
                Some((Unit::Day, of_day)) => (at + 1, possessed(of_day)),
                _ => (at, case),
            },
        }
    }

    /// "son iki hafta", "son bir yılda", "son hafta", "son günlerde".
    fn turkish_rolling(&self, at: usize) -> Option<Found> {
        let next = at + 1;
        if matches!(
            self.follower(next),
            "zamanlarda" | "gunlerde" | "haftalarda" | "aylarda" | "donemde" | "zamanlardaki"
        ) {
            return Some(Found { when: When::Recent { loose: false }, next: next + 1, case: Case::Bare });
        }
        if self.gap(next) != Gap::Space {
            return None;
        }
        let few = match (self.word(next), self.follower(next + 1)) {
            ("birkac", _) => Some((3, next + 1)),
            ("bir", "kac") => Some((3, next + 2)),
            _ => None,
        };
        let counted = few.or_else(|| self.count(next));
        let (count, behind) = counted.unwrap_or((1, next));
        let (unit, case) = turkish_unit(self.follower(behind))?;
        if case == Case::Lasting || case == Case::To || case == Case::Object {
            return None;
        }
        // "son gün" is a deadline, "son saat" an hour of its own.
        if counted.is_none() && !matches!(unit, Unit::Week | Unit::Month | Unit::Quarter | Unit::Year) {
            return None;
        }
        let count = i32::try_from(count).ok().filter(|count| *count > 0)?;
        Some(Found { when: When::Rolling { unit, count: -count }, next: behind + 1, case: Case::Bare })
    }

    /// "Friday", "Friday, 6 March 2026", "cuma günü", "Monday last week".
    fn weekday(&self, at: usize) -> Option<Found> {
        let word = self.word(at);
        let next = at + 1;
        let turn = Turn::Latest;
        if matches!(self.before(at, 1), "every" | "each" | "her" | "good" | "black" | "cyber" | "most") {
            return None;
        }
        let full = english_weekday(word).filter(|_| !word.ends_with("days"));
        if let Some(weekday) = full.or_else(|| english_weekday_short(word)) {
            if matches!(self.gap(next), Gap::Space | Gap::Comma | Gap::Dot) {
                let date = next + usize::from(self.word(next) == "the");
                let dated = self.day_first(date).or_else(|| self.month(date, false));
                if let Some(found) = dated.filter(|found| matches!(found.when, When::Day { .. })) {
                    return Some(found);
                }
                if let Some(token) = self.token(next).filter(|token| token.compound)
                    && let Some(when @ When::Day { .. }) = compound(token.raw)
                {
                    return Some(Found { when, next: next + 1, case: Case::Bare });
                }
            }
            full?;
            if self.follower(next) == "times" {
                return None;
            }
            let behind = next + usize::from(self.follower(next) == "of");
            if let (Some(week), "week") = (week_offset(self.follower(behind)), self.follower(behind + 1)) {
                return Some(Found { when: When::WeekdayIn { week, weekday }, next: behind + 2, case: Case::Bare });
            }
            return Some(Found { when: When::Weekday { weekday, turn }, next, case: self.suffix(at)? });
        }
        let (weekday, glued) = turkish_weekday(word)?;
        let case = if glued == Case::Bare { self.suffix(at)? } else { glued };
        let (behind, named) = self.day_word(next, case);
        let part = self.turkish_part(next);
        // A market, and the prayer of a Friday.
        let market = weekday == 6 && !word.starts_with("pazartesi") && behind == next && part.is_none();
        let prayer = self.follower(next).starts_with("namaz");
        // English has no "sali", but names do.
        let name = weekday == 1 && self.is_english() && self.token(at).is_some_and(|token| token.raw.is_ascii());
        if market || prayer || (name && behind == next) {
            return None;
        }
        let next = part.map_or(behind, |(_, next)| next);
        Some(Found { when: When::Weekday { weekday, turn }, next, case: named })
    }

    /// "recently", "these days", "the latest", "son zamanlarda", "geçenlerde", "en son".
    fn recent(&self, at: usize) -> Option<Found> {
        let next = at + 1;
        let behind = self.follower(next);
        let (loose, next) = match (self.word(at), behind) {
            ("recently" | "lately" | "nowadays" | "gecenlerde" | "demin", _) => (false, next),
            ("these", "days")
            | ("other", "day")
            | ("just", "now")
            | ("yakin", "zamanda")
            | ("az" | "biraz", "once") => (false, next + 1),
            ("a", "while") if self.follower(next + 1) == "ago" => (false, next + 2),
            ("latest", _) if self.before(at, 2) != "at" => (true, next),
            ("newest" | "recent" | "guncel", _) => (true, next),
            ("en", "son" | "yeni") => (true, next + 1),
            _ => return None,
        };
        Some(Found { when: When::Recent { loose }, next, case: Case::Bare })
    }
}

/// A quarter or a half.
#[derive(Debug, Clone, Copy)]
enum YearPart {
    Quarter(u8),
    Half(u8),
}

impl YearPart {
    /// A half without a year is a half of anything.
    fn of(self, year: Option<i16>) -> Option<When> {
        match self {
            Self::Quarter(quarter) => Some(When::Quarter { year, quarter }),
            Self::Half(half) => Some(When::Half { year: year?, half }),
        }
    }
}

/// The possessed form stands for the bare one: "ikinci çeyreği".
fn possessed(case: Case) -> Case {
    if case == Case::Object { Case::Bare } else { case }
}

fn monthly(year: Option<i16>, month: u8) -> When {
    When::Month { year, month, turn: Turn::Latest }
}

/// A day, if the calendar has it in that year, or in a leap year.
fn dated(year: Option<i16>, month: u8, day: u8) -> Option<When> {
    jiff::civil::Date::new(year.unwrap_or(2_000), month as i8, day as i8).ok()?;
    Some(When::Day { year, month, day, turn: Turn::Latest })
}

fn with_day(when: When, day: u8) -> Option<When> {
    match when {
        When::Day { year, month, turn, .. } => {
            dated(year, month, day)?;
            Some(When::Day { year, month, day, turn })
        }
        _ => None,
    }
}

fn english_part(word: &str) -> Option<Part> {
    Some(match word {
        "morning" => Part::Morning,
        "afternoon" => Part::Afternoon,
        "evening" => Part::Evening,
        "night" => Part::Night,
        _ => return None,
    })
}

fn week_offset(word: &str) -> Option<i32> {
    Some(match word {
        "last" | "previous" => -1,
        "this" => 0,
        "next" => 1,
        _ => return None,
    })
}

/// A date in digits: year first, or day first as Turkey and Europe write it. With slashes the month may come first
/// where the second number cannot be a month.
fn compound(raw: &str) -> Option<When> {
    let raw = raw.split(['T', 't']).next().unwrap_or_default();
    let sign = raw.chars().find(|c| !c.is_ascii_digit())?;
    let parts: Vec<&str> = raw.split(sign).collect();
    let number = |at: usize| parts[at].parse::<i16>().ok();
    let short = |at: usize| (1..=2).contains(&parts[at].len());
    let day = |year: i16, month: i16, day: i16| dated(Some(year), u8::try_from(month).ok()?, u8::try_from(day).ok()?);
    match parts.len() {
        3 if parts[0].len() == 4 && short(1) && short(2) && matches!(sign, '-' | '/' | '.') => {
            day(number(0)?, number(1)?, number(2)?)
        }
        3 if short(0) && short(1) && matches!(sign, '-' | '/' | '.') => {
            let year = match parts[2].len() {
                4 => number(2)?,
                2 if sign == '/' && parts.iter().all(|part| part.len() == 2) => {
                    let year = number(2)?;
                    if year < 70 { 2_000 + year } else { 1_900 + year }
                }
                _ => return None,
            };
            let (first, second) = (number(0)?, number(1)?);
            if second > 12 && sign == '/' { day(year, first, second) } else { day(year, second, first) }
        }
        2 => {
            let (year, month) = if parts[0].len() == 4 && parts[1].len() == 2 && matches!(sign, '-' | '/') {
                (number(0)?, number(1)?)
            } else if parts[1].len() == 4 && parts[0].len() == 2 && matches!(sign, '/' | '.') {
                (number(1)?, number(0)?)
            } else {
                return None;
            };
            let plausible = (1_900..=2_100).contains(&year) && (1..=12).contains(&month);
            plausible.then(|| monthly(Some(year), month as u8))
        }
        _ => None,
    }
}
