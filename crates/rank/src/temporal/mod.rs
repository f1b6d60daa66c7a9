//! Dates and periods in what people write.
#![allow(missing_docs)]
use crate::Language;
#[derive(Debug, Clone)]
pub struct Mention;
pub struct Calendar {
    pub month: Option<u8>,
    pub day: Option<u8>,
    pub year: Option<i32>,
}
pub fn mentions(_: &str, _: jiff::Timestamp, _: &jiff::tz::TimeZone, _: Option<Language>) -> Vec<Mention> {
    Vec::new()
}
pub fn closeness(_: &[Mention], _: jiff::Timestamp) -> f64 {
    0.0
}
pub fn asks_when(text: &str, _: Option<Language>) -> bool {
    text.to_lowercase().contains("when ")
}
pub fn has_time_expression(text: &str, _: Option<Language>) -> bool {
    let l = text.to_lowercase();
    [
        "yesterday",
        "last",
        "week",
        "month",
        "ago",
        "today",
        "tomorrow",
        "next",
        "year",
        "2022",
        "2023",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "january",
        "february",
        "april",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ]
    .iter()
    .any(|w| l.contains(w))
}
pub fn calendar_mentions(text: &str) -> Vec<Calendar> {
    let l = text.to_lowercase();
    let names = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let words: Vec<&str> = l.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    for (i, w) in words.iter().enumerate() {
        if let Some(m) = names.iter().position(|n| n == w) {
            let num = |j: Option<usize>| {
                j.and_then(|j| words.get(j))
                    .and_then(|w| w.trim_end_matches(|c: char| c.is_alphabetic()).parse::<i32>().ok())
            };
            let mut day = None;
            let mut year = None;
            for j in [i.checked_sub(1), Some(i + 1), Some(i + 2)] {
                match num(j) {
                    Some(n) if n >= 1000 => year = Some(n),
                    Some(n) if n <= 31 => day = day.or(Some(n as u8)),
                    _ => {}
                }
            }
            return vec![Calendar { month: Some(m as u8 + 1), day, year }];
        }
    }
    Vec::new()
}
