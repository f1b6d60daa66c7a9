//! The words of both languages that dates are made of, folded: `ş` is `s`, and `ı` is `i`.

/// A length of time, or a part of a calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Minute,
    Hour,
    Day,
    Week,
    Weekend,
    Month,
    Quarter,
    Year,
}

/// A Turkish ending, as far as it matters to dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Bare,
    /// In, at: "mayısta".
    In,
    /// Which is in, of: "mayıstaki".
    Which,
    /// From, than: "mayıstan".
    From,
    /// To: "mayısa".
    To,
    /// Of: "mayısın".
    Of,
    /// The object, or possessed: "mayısı".
    Object,
    /// For so long: "haftadır".
    Lasting,
    With,
}

/// The case that an ending makes, with or without the possessive before it ("yıl-ı-nda").
pub(super) fn case(ending: &str) -> Option<Case> {
    Some(match ending {
        "" => Case::Bare,
        "da" | "de" | "ta" | "te" | "nda" | "nde" | "inda" | "inde" | "unda" | "unde" | "sinda" | "sinde" => Case::In,
        "daki" | "deki" | "taki" | "teki" | "ndaki" | "ndeki" | "indaki" | "indeki" | "undaki" | "undeki" | "ki" => {
            Case::Which
        }
        "dan" | "den" | "tan" | "ten" | "ndan" | "nden" | "indan" | "inden" | "undan" | "unden" | "sindan"
        | "sinden" => Case::From,
        "a" | "e" | "ya" | "ye" | "na" | "ne" | "ina" | "ine" | "una" | "une" | "sina" | "sine" => Case::To,
        "in" | "un" | "nin" | "nun" | "inin" | "unun" | "sinin" => Case::Of,
        "i" | "u" | "yi" | "yu" | "ni" | "nu" | "si" | "su" | "ini" | "unu" | "sini" => Case::Object,
        "dir" | "dur" | "tir" | "tur" => Case::Lasting,
        "la" | "le" | "yla" | "yle" | "ile" => Case::With,
        _ => return None,
    })
}

/// The word with one of the stems, and the case of its ending.
fn inflected<T: Copy>(word: &str, stems: &[(&str, T)]) -> Option<(T, Case)> {
    // The longest stem first: "pazartesi" is no case of "pazar".
    let fitting = stems.iter().filter_map(|(stem, value)| Some((stem.len(), *value, case(word.strip_prefix(stem)?)?)));
    fitting.max_by_key(|(length, ..)| *length).map(|(_, value, case)| (value, case))
}

/// The month of an English name, 1 to 12.
pub(super) fn english_month(word: &str) -> Option<u8> {
    Some(match word {
        "january" => 1,
        "february" => 2,
        "march" => 3,
        "april" => 4,
        "may" => 5,
        "june" => 6,
        "july" => 7,
        "august" => 8,
        "september" => 9,
        "october" => 10,
        "november" => 11,
        "december" => 12,
        _ => return None,
    })
}

/// The month of an English name cut short; many of these are words of their own.
pub(super) fn english_month_short(word: &str) -> Option<u8> {
    Some(match word {
        "jan" => 1,
        "feb" => 2,
        "mar" => 3,
        "apr" => 4,
        "jun" => 6,
        "jul" => 7,
        "aug" => 8,
        "sep" | "sept" => 9,
        "oct" => 10,
        "nov" => 11,
        "dec" => 12,
        _ => return None,
    })
}

/// The month of a Turkish name and its case.
pub(super) fn turkish_month(word: &str) -> Option<(u8, Case)> {
    inflected(
        word,
        &[
            ("ocak", 1),
            ("ocag", 1),
            ("subat", 2),
            ("mart", 3),
            ("nisan", 4),
            ("mayis", 5),
            ("haziran", 6),
            ("temmuz", 7),
            ("agustos", 8),
            ("eylul", 9),
            ("ekim", 10),
            ("kasim", 11),
            ("aralik", 12),
            ("aralig", 12),
        ],
    )
}

/// The month of a Turkish name cut short; only ever taken between a day and a year.
pub(super) fn turkish_month_short(word: &str) -> Option<u8> {
    Some(match word {
        "oca" => 1,
        "sub" => 2,
        "nis" => 4,
        "haz" => 6,
        "tem" => 7,
        "agu" => 8,
        "eyl" => 9,
        "eki" => 10,
        "kas" => 11,
        "ara" => 12,
        _ => return None,
    })
}

/// The day of the week of an English name, Monday 0.
pub(super) fn english_weekday(word: &str) -> Option<i8> {
    Some(match word {
        "monday" | "mondays" => 0,
        "tuesday" | "tuesdays" => 1,
        "wednesday" | "wednesdays" => 2,
        "thursday" | "thursdays" => 3,
        "friday" | "fridays" => 4,
        "saturday" | "saturdays" => 5,
        "sunday" | "sundays" => 6,
        _ => return None,
    })
}

/// The day of the week of an English name cut short.
pub(super) fn english_weekday_short(word: &str) -> Option<i8> {
    Some(match word {
        "mon" => 0,
        "tue" | "tues" => 1,
        "wed" => 2,
        "thu" | "thur" | "thurs" => 3,
        "fri" => 4,
        "sat" => 5,
        "sun" => 6,
        _ => return None,
    })
}

/// The day of the week of a Turkish name, Monday 0, and its case.
pub(super) fn turkish_weekday(word: &str) -> Option<(i8, Case)> {
    inflected(
        word,
        &[("pazartesi", 0), ("sali", 1), ("carsamba", 2), ("persembe", 3), ("cuma", 4), ("cumartesi", 5), ("pazar", 6)],
    )
}

/// An English unit, and whether it is the plural.
pub(super) fn english_unit(word: &str) -> Option<(Unit, bool)> {
    let singular = word.strip_suffix('s').unwrap_or(word);
    let unit = match singular {
        "minute" => Unit::Minute,
        "hour" => Unit::Hour,
        "day" => Unit::Day,
        "week" => Unit::Week,
        "weekend" => Unit::Weekend,
        "month" => Unit::Month,
        "quarter" => Unit::Quarter,
        "year" => Unit::Year,
        _ => return None,
    };
    Some((unit, singular.len() < word.len()))
}

/// A Turkish unit and its case; two-word ones are put together by the grammar.
pub(super) fn turkish_unit(word: &str) -> Option<(Unit, Case)> {
    inflected(
        word,
        &[
            ("dakika", Unit::Minute),
            ("saat", Unit::Hour),
            ("gun", Unit::Day),
            ("hafta", Unit::Week),
            ("haftasonu", Unit::Weekend),
            ("ay", Unit::Month),
            ("ceyrek", Unit::Quarter),
            ("ceyreg", Unit::Quarter),
            ("yil", Unit::Year),
            ("sene", Unit::Year),
        ],
    )
}

/// The season of an English name: 0 is spring.
pub(super) fn english_season(word: &str) -> Option<u8> {
    Some(match word {
        "spring" => 0,
        "summer" => 1,
        "autumn" | "fall" => 2,
        "winter" => 3,
        _ => return None,
    })
}

/// The season of a Turkish name and its case: 0 is spring.
pub(super) fn turkish_season(word: &str) -> Option<(u8, Case)> {
    inflected(word, &[("ilkbahar", 0), ("bahar", 0), ("yaz", 1), ("sonbahar", 2), ("guz", 2), ("kis", 3)])
}

/// A small number in English words.
pub(super) fn english_number(word: &str) -> Option<u32> {
    Some(match word {
        "one" => 1,
        "two" => 2,
        "three" => 3,
        "four" => 4,
        "five" => 5,
        "six" => 6,
        "seven" => 7,
        "eight" => 8,
        "nine" => 9,
        "ten" => 10,
        "eleven" => 11,
        "twelve" => 12,
        "fifteen" => 15,
        "twenty" => 20,
        "thirty" => 30,
        _ => return None,
    })
}

/// A small number in one Turkish word; "on iki" is put together by the grammar.
pub(super) fn turkish_number(word: &str) -> Option<u32> {
    Some(match word {
        "bir" => 1,
        "iki" => 2,
        "uc" => 3,
        "dort" => 4,
        "bes" => 5,
        "alti" => 6,
        "yedi" => 7,
        "sekiz" => 8,
        "dokuz" => 9,
        "on" => 10,
        "yirmi" => 20,
        "otuz" => 30,
        _ => return None,
    })
}

/// The place that an ordinal of either language names, 1 to 4.
pub(super) fn ordinal(word: &str) -> Option<u8> {
    Some(match word {
        "first" | "ilk" | "birinci" => 1,
        "second" | "ikinci" => 2,
        "third" | "ucuncu" => 3,
        "fourth" | "dorduncu" => 4,
        _ => return None,
    })
}

/// What English sets before a year, or before a month whose name is a word of its own.
pub(super) fn is_preposition(word: &str) -> bool {
    matches!(
        word,
        "in" | "since"
            | "during"
            | "by"
            | "from"
            | "until"
            | "till"
            | "of"
            | "before"
            | "after"
            | "between"
            | "through"
            | "early"
            | "late"
            | "mid"
            | "around"
            | "year"
    )
}

/// What is counted in thousands: "2000 lines" is no year.
pub(super) fn is_counted(word: &str) -> bool {
    matches!(
        word,
        "items"
            | "files"
            | "lines"
            | "tokens"
            | "words"
            | "users"
            | "people"
            | "bytes"
            | "ms"
            | "kb"
            | "mb"
            | "gb"
            | "kg"
            | "km"
            | "m"
            | "rows"
            | "records"
            | "documents"
            | "requests"
            | "times"
            | "seconds"
            | "minutes"
            | "hours"
            | "days"
            | "steps"
            | "characters"
            | "dollars"
            | "euros"
            | "usd"
            | "eur"
            | "tl"
            | "lira"
            | "dolar"
            | "avro"
            | "euro"
            | "kisi"
            | "adet"
            | "tane"
            | "satir"
            | "dosya"
            | "kelime"
            | "gun"
            | "saat"
            | "dakika"
            | "kayit"
            | "fazla"
            | "az"
            | "buyuk"
            | "kucuk"
            | "yakin"
            | "metre"
            | "px"
            | "points"
            | "cores"
            | "or"
            | "x"
    )
}

/// What a year is often the year of: "2025 budget", "2025 raporu".
pub(super) fn is_yearly(word: &str) -> bool {
    const ENDINGS: [&str; 9] = ["rapor", "butce", "plan", "hedef", "strateji", "takvim", "fiyat", "zam", "sezon"];
    matches!(
        word,
        "report"
            | "reports"
            | "budget"
            | "roadmap"
            | "goals"
            | "edition"
            | "season"
            | "strategy"
            | "election"
            | "conference"
            | "release"
            | "results"
            | "pricing"
            | "model"
    ) || ENDINGS.iter().any(|stem| word.strip_prefix(stem).is_some_and(|ending| ending.len() <= 6))
}

/// What follows the modal verb "may", and no month.
pub(super) fn follows_modal(word: &str) -> bool {
    matches!(
        word,
        "be" | "have"
            | "not"
            | "i"
            | "we"
            | "you"
            | "he"
            | "she"
            | "it"
            | "they"
            | "also"
            | "still"
            | "well"
            | "only"
            | "never"
            | "need"
            | "want"
            | "contain"
            | "include"
            | "cause"
            | "or"
            | "differ"
            | "vary"
            | "help"
            | "take"
            | "get"
            | "go"
            | "use"
            | "change"
            | "require"
            | "affect"
            | "fail"
            | "seem"
            | "make"
            | "apply"
            | "the"
            | "as"
            | "even"
            | "just"
            | "add"
            | "see"
            | "do"
            | "occur"
            | "result"
            | "come"
            | "find"
    )
}

/// What goes before the modal verb "may" or the verb "march".
pub(super) fn is_subject(word: &str) -> bool {
    matches!(
        word,
        "i" | "you"
            | "we"
            | "they"
            | "he"
            | "she"
            | "it"
            | "that"
            | "which"
            | "who"
            | "there"
            | "what"
            | "users"
            | "people"
            | "troops"
            | "soldiers"
            | "and"
            | "to"
    )
}

/// What makes "ocakta" a place on the stove or in a mine.
pub(super) fn is_of_the_hearth(word: &str) -> bool {
    const STEMS: [&str; 15] = [
        "yemek", "yemeg", "pis", "tencere", "cay", "kahve", "kayna", "ates", "yanan", "yaniyor", "komur", "maden",
        "mutfak", "corba", "tava",
    ];
    STEMS.iter().any(|stem| word.starts_with(stem))
}
