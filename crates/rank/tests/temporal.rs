//! Dates and periods in English and Turkish, and what is none.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use hatir_rank::Language;
use hatir_rank::temporal::{
    Calendar, Mention, PeriodKind, asks_when, calendar_mentions, closeness, has_time_expression, mentions,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;

/// A Wednesday.
const NOW: &str = "2026-03-18T10:00:00+03:00";

fn istanbul() -> TimeZone {
    TimeZone::fixed(jiff::tz::offset(3))
}

fn at(instant: &str) -> Timestamp {
    instant.parse().unwrap()
}

fn found(text: &str) -> Vec<Mention> {
    mentions(text, at(NOW), &istanbul(), None)
}

/// `kind from..to`, without the time of day where it is midnight and without open ends.
fn shown(mention: &Mention) -> String {
    let kind = serde_json::to_value(mention.kind).unwrap();
    let end = |instant: Timestamp| {
        if instant == Timestamp::MIN || instant == Timestamp::MAX {
            return String::new();
        }
        let shown = instant.to_zoned_datetime(istanbul()).strftime("%Y-%m-%dT%H:%M").to_string();
        shown.trim_end_matches("T00:00").to_owned()
    };
    format!("{} {}..{}", kind.as_str().unwrap(), end(mention.from), end(mention.to))
}

/// Each text names exactly the one period, whatever language it is taken for.
fn check(cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(text, expected)| {
            let shown: Vec<String> = found(text).iter().map(shown).collect();
            (shown != [*expected]).then(|| format!("{text:?}: {shown:?}, expected {expected:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn absolute_dates_in_english() {
    check(&[
        ("2026-03-05", "day 2026-03-05..2026-03-06"),
        ("the log of 2026-03-05.", "day 2026-03-05..2026-03-06"),
        ("at 2026-03-05T10:30:00Z it failed", "day 2026-03-05..2026-03-06"),
        ("logs/2026-03-05.txt", "day 2026-03-05..2026-03-06"),
        ("2026/03/05", "day 2026-03-05..2026-03-06"),
        ("05.03.2026", "day 2026-03-05..2026-03-06"),
        ("5.3.2026", "day 2026-03-05..2026-03-06"),
        ("05/03/2026", "day 2026-03-05..2026-03-06"),
        ("05/30/2025", "day 2025-05-30..2025-05-31"),
        ("05-03-2026", "day 2026-03-05..2026-03-06"),
        ("15/03/24", "day 2024-03-15..2024-03-16"),
        ("2026-03", "month 2026-03-01..2026-04-01"),
        ("in 03/2026", "month 2026-03-01..2026-04-01"),
        ("what happened on 5 March 2026?", "day 2026-03-05..2026-03-06"),
        ("5th of March, 2026", "day 2026-03-05..2026-03-06"),
        ("March 5th", "day 2026-03-05..2026-03-06"),
        ("March 5", "day 2026-03-05..2026-03-06"),
        ("March 5, 2024", "day 2024-03-05..2024-03-06"),
        ("march the 5th", "day 2026-03-05..2026-03-06"),
        ("on May 3", "day 2025-05-03..2025-05-04"),
        ("the 3rd of May", "day 2025-05-03..2025-05-04"),
        ("3 may", "day 2025-05-03..2025-05-04"),
        ("Dec 3", "day 2025-12-03..2025-12-04"),
        ("3 Jan 2025", "day 2025-01-03..2025-01-04"),
        ("Sept. 7, 2021", "day 2021-09-07..2021-09-08"),
        ("29 February", "day 2024-02-29..2024-03-01"),
        ("29 February 2020", "day 2020-02-29..2020-03-01"),
        ("Friday, 6 March 2026", "day 2026-03-06..2026-03-07"),
        ("Mon 5 May 2025", "day 2025-05-05..2025-05-06"),
        ("March 2026", "month 2026-03-01..2026-04-01"),
        ("Feb 2025", "month 2025-02-01..2025-03-01"),
        ("May 2024 notes", "month 2024-05-01..2024-06-01"),
        ("January of 2025", "month 2025-01-01..2025-02-01"),
        ("in january", "month 2026-01-01..2026-02-01"),
        ("in March", "month 2026-03-01..2026-04-01"),
        ("in april", "month 2025-04-01..2025-05-01"),
        ("decisions in may", "month 2025-05-01..2025-06-01"),
        ("the May meeting", "month 2025-05-01..2025-06-01"),
        ("mid-August", "month 2025-08-01..2025-09-01"),
        ("December's invoices", "month 2025-12-01..2026-01-01"),
        ("in 2024", "year 2024-01-01..2025-01-01"),
        ("the year 2019", "year 2019-01-01..2020-01-01"),
        ("the 2025 budget", "year 2025-01-01..2026-01-01"),
        ("Q2 2025", "quarter 2025-04-01..2025-07-01"),
        ("2025 Q4", "quarter 2025-10-01..2026-01-01"),
        ("Q1", "quarter 2026-01-01..2026-04-01"),
        ("Q3", "quarter 2025-07-01..2025-10-01"),
        ("the second quarter of 2025", "quarter 2025-04-01..2025-07-01"),
        ("the 3rd quarter of 2024", "quarter 2024-07-01..2024-10-01"),
        ("first half of 2025", "range 2025-01-01..2025-07-01"),
        ("H2 2024", "range 2024-07-01..2025-01-01"),
        ("spring 2025", "range 2025-03-01..2025-06-01"),
        ("in the winter of 2024", "range 2024-12-01..2025-03-01"),
        ("on 12 May 1705", "day 1705-05-12..1705-05-13"),
        ("in October 1803", "month 1803-10-01..1803-11-01"),
        ("the 1990s", "range 1990-01-01..2000-01-01"),
    ]);
}

#[test]
fn absolute_dates_in_turkish() {
    check(&[
        ("5 Mart 2026", "day 2026-03-05..2026-03-06"),
        ("5 mart 2026'da ne oldu", "day 2026-03-05..2026-03-06"),
        ("5 Mart 2026 tarihinde", "day 2026-03-05..2026-03-06"),
        ("3 Mayıs'taki toplantı", "day 2025-05-03..2025-05-04"),
        ("3 mayıstaki toplantı", "day 2025-05-03..2025-05-04"),
        ("3 Mayis", "day 2025-05-03..2025-05-04"),
        ("3 MAYIS 2024", "day 2024-05-03..2024-05-04"),
        ("Mayıs'ın 3'ünde", "day 2025-05-03..2025-05-04"),
        ("mayısın 3ünde", "day 2025-05-03..2025-05-04"),
        ("üç Mayıs'ta", "day 2025-05-03..2025-05-04"),
        ("on beş martta", "day 2026-03-15..2026-03-16"),
        ("29 Şubat'ta", "day 2024-02-29..2024-03-01"),
        ("3 Mayıs günü", "day 2025-05-03..2025-05-04"),
        ("3 Oca 2026", "day 2026-01-03..2026-01-04"),
        ("05.03.2026'da", "day 2026-03-05..2026-03-06"),
        ("6 Mart 2026 Cuma günü", "day 2026-03-06..2026-03-07"),
        ("Mart 2026", "month 2026-03-01..2026-04-01"),
        ("Mart 2026'da", "month 2026-03-01..2026-04-01"),
        ("mart ayındaki karar", "month 2026-03-01..2026-04-01"),
        ("mart ayindaki karar", "month 2026-03-01..2026-04-01"),
        ("marttaki karar", "month 2026-03-01..2026-04-01"),
        ("Mart'ta", "month 2026-03-01..2026-04-01"),
        ("subat toplantisi", "month 2026-02-01..2026-03-01"),
        ("şubatta ne konuştuk", "month 2026-02-01..2026-03-01"),
        ("ŞUBAT AYINDA", "month 2026-02-01..2026-03-01"),
        ("ocak ayında", "month 2026-01-01..2026-02-01"),
        ("Ocak'ta ne karar verdik", "month 2026-01-01..2026-02-01"),
        ("ocakta ne karar verdik", "month 2026-01-01..2026-02-01"),
        ("ekim ayında", "month 2025-10-01..2025-11-01"),
        ("ekimde çıkan sürüm", "month 2025-10-01..2025-11-01"),
        ("aralıkta", "month 2025-12-01..2026-01-01"),
        ("Kasım'daki", "month 2025-11-01..2025-12-01"),
        ("ağustos faturası", "month 2025-08-01..2025-09-01"),
        ("eylül", "month 2025-09-01..2025-10-01"),
        ("2025'in mart ayında", "month 2025-03-01..2025-04-01"),
        ("2025 yılı Mart ayında", "month 2025-03-01..2025-04-01"),
        ("2025 yılında", "year 2025-01-01..2026-01-01"),
        ("2025 yilinda", "year 2025-01-01..2026-01-01"),
        ("2024'te", "year 2024-01-01..2025-01-01"),
        ("2024te ne yaptık", "year 2024-01-01..2025-01-01"),
        ("2024'ün raporu", "year 2024-01-01..2025-01-01"),
        ("2024 bütçesi", "year 2024-01-01..2025-01-01"),
        ("2025'in ikinci çeyreği", "quarter 2025-04-01..2025-07-01"),
        ("2025'in ikinci ceyreginde", "quarter 2025-04-01..2025-07-01"),
        ("2025 yılının son çeyreğinde", "quarter 2025-10-01..2026-01-01"),
        ("2025 üçüncü çeyrek", "quarter 2025-07-01..2025-10-01"),
        ("1. çeyrek", "quarter 2026-01-01..2026-04-01"),
        ("2025'in ilk yarısında", "range 2025-01-01..2025-07-01"),
        ("2024 yazında", "range 2024-06-01..2024-09-01"),
        ("2024 kışı", "range 2024-12-01..2025-03-01"),
        ("1990'larda", "range 1990-01-01..2000-01-01"),
        ("1990'lı yıllarda", "range 1990-01-01..2000-01-01"),
    ]);
}

#[test]
fn relative_times_in_english() {
    check(&[
        ("today", "day 2026-03-18..2026-03-19"),
        ("yesterday", "day 2026-03-17..2026-03-18"),
        ("Yesterday's meeting", "day 2026-03-17..2026-03-18"),
        ("tomorrow", "day 2026-03-19..2026-03-20"),
        ("the day before yesterday", "day 2026-03-16..2026-03-17"),
        ("this morning", "day 2026-03-18T05:00..2026-03-18T12:00"),
        ("yesterday evening", "day 2026-03-17T17:00..2026-03-18"),
        ("last night", "day 2026-03-17T18:00..2026-03-18T06:00"),
        ("three days ago", "day 2026-03-15..2026-03-16"),
        ("3 days ago", "day 2026-03-15..2026-03-16"),
        ("a week ago", "week 2026-03-09..2026-03-16"),
        ("two weeks ago", "week 2026-03-02..2026-03-09"),
        ("two months ago", "month 2026-01-01..2026-02-01"),
        ("a year ago", "year 2025-01-01..2026-01-01"),
        ("a couple of months ago", "month 2026-01-01..2026-02-01"),
        ("a few days ago", "range 2026-03-11..2026-03-17"),
        ("2 hours ago", "range 2026-03-18T07:30..2026-03-18T08:30"),
        ("three days from now", "day 2026-03-21..2026-03-22"),
        ("last week", "week 2026-03-09..2026-03-16"),
        ("this week", "week 2026-03-16..2026-03-23"),
        ("next week", "week 2026-03-23..2026-03-30"),
        ("the week before last", "week 2026-03-02..2026-03-09"),
        ("last weekend", "range 2026-03-14..2026-03-16"),
        ("last month", "month 2026-02-01..2026-03-01"),
        ("this month's invoices", "month 2026-03-01..2026-04-01"),
        ("last quarter", "quarter 2025-10-01..2026-01-01"),
        ("last year", "year 2025-01-01..2026-01-01"),
        ("the past two weeks", "range 2026-03-04..2026-03-18T10:00"),
        ("in the last 3 months", "range 2025-12-18..2026-03-18T10:00"),
        ("over the last few days", "range 2026-03-15..2026-03-18T10:00"),
        ("the past week", "range 2026-03-11..2026-03-18T10:00"),
        ("in the last year", "range 2025-03-18..2026-03-18T10:00"),
        ("the last 24 hours", "range 2026-03-17T10:00..2026-03-18T10:00"),
        ("last Friday", "day 2026-03-13..2026-03-14"),
        ("next Friday", "day 2026-03-20..2026-03-21"),
        ("this Monday", "day 2026-03-16..2026-03-17"),
        ("last wednesday", "day 2026-03-11..2026-03-12"),
        ("Monday", "day 2026-03-16..2026-03-17"),
        ("on Thursday", "day 2026-03-12..2026-03-13"),
        ("Monday last week", "day 2026-03-09..2026-03-10"),
        ("last fri", "day 2026-03-13..2026-03-14"),
        ("last spring", "range 2025-03-01..2025-06-01"),
        ("this summer", "range 2026-06-01..2026-09-01"),
        ("last winter", "range 2025-12-01..2026-03-01"),
        ("last march", "month 2025-03-01..2025-04-01"),
        ("next March", "month 2027-03-01..2027-04-01"),
        ("next april", "month 2026-04-01..2026-05-01"),
        ("last May", "month 2025-05-01..2025-06-01"),
        ("recently", "recency 2026-02-16T10:00..2026-03-18T10:00"),
        ("the latest decision", "recency 2026-02-16T10:00..2026-03-18T10:00"),
    ]);
}

#[test]
fn relative_times_in_turkish() {
    check(&[
        ("bugün", "day 2026-03-18..2026-03-19"),
        ("bugünkü toplantı", "day 2026-03-18..2026-03-19"),
        ("dün", "day 2026-03-17..2026-03-18"),
        ("dünkü karar", "day 2026-03-17..2026-03-18"),
        ("dun ne dedik", "day 2026-03-17..2026-03-18"),
        ("yarın", "day 2026-03-19..2026-03-20"),
        ("evvelsi gün", "day 2026-03-16..2026-03-17"),
        ("önceki gün", "day 2026-03-16..2026-03-17"),
        ("bu sabah", "day 2026-03-18T05:00..2026-03-18T12:00"),
        ("dün gece", "day 2026-03-17T18:00..2026-03-18T06:00"),
        ("üç gün önce", "day 2026-03-15..2026-03-16"),
        ("uc gun once", "day 2026-03-15..2026-03-16"),
        ("3 gün önceki toplantı", "day 2026-03-15..2026-03-16"),
        ("iki hafta önce", "week 2026-03-02..2026-03-09"),
        ("on iki ay önce", "month 2025-03-01..2025-04-01"),
        ("bir yıl önce", "year 2025-01-01..2026-01-01"),
        ("birkaç gün önce", "range 2026-03-11..2026-03-17"),
        ("üç gün sonra", "day 2026-03-21..2026-03-22"),
        ("geçen hafta", "week 2026-03-09..2026-03-16"),
        ("gecen hafta", "week 2026-03-09..2026-03-16"),
        ("geçen haftaki toplantı", "week 2026-03-09..2026-03-16"),
        ("geçtiğimiz hafta", "week 2026-03-09..2026-03-16"),
        ("bu hafta", "week 2026-03-16..2026-03-23"),
        ("haftaya", "week 2026-03-23..2026-03-30"),
        ("geçen hafta sonu", "range 2026-03-14..2026-03-16"),
        ("geçen ay", "month 2026-02-01..2026-03-01"),
        ("bu ay", "month 2026-03-01..2026-04-01"),
        ("bu ayki faturalar", "month 2026-03-01..2026-04-01"),
        ("geçen yıl", "year 2025-01-01..2026-01-01"),
        ("geçen sene", "year 2025-01-01..2026-01-01"),
        ("geçen çeyrek", "quarter 2025-10-01..2026-01-01"),
        ("son iki hafta", "range 2026-03-04..2026-03-18T10:00"),
        ("son 3 ayda", "range 2025-12-18..2026-03-18T10:00"),
        ("son bir yılda", "range 2025-03-18..2026-03-18T10:00"),
        ("iki haftadır bekliyorum", "range 2026-03-04..2026-03-18T10:00"),
        ("önümüzdeki cuma", "day 2026-03-20..2026-03-21"),
        ("geçen cuma", "day 2026-03-13..2026-03-14"),
        ("cuma günü", "day 2026-03-13..2026-03-14"),
        ("pazartesi ne konuştuk", "day 2026-03-16..2026-03-17"),
        ("pazar günü", "day 2026-03-15..2026-03-16"),
        ("salı günkü toplantı", "day 2026-03-17..2026-03-18"),
        ("haftaya cuma", "day 2026-03-27..2026-03-28"),
        ("geçen hafta salı", "day 2026-03-10..2026-03-11"),
        ("geçen bahar", "range 2025-03-01..2025-06-01"),
        ("bu yaz", "range 2026-06-01..2026-09-01"),
        ("geçen mart", "month 2025-03-01..2025-04-01"),
        ("geçen ekim ayında", "month 2025-10-01..2025-11-01"),
        ("önümüzdeki mayıs", "month 2026-05-01..2026-06-01"),
        ("son zamanlarda", "recency 2026-02-16T10:00..2026-03-18T10:00"),
        ("en son karar", "recency 2026-02-16T10:00..2026-03-18T10:00"),
    ]);
}

#[test]
fn what_is_before_after_or_between() {
    check(&[
        ("before 3 May 2025", "before ..2025-05-03"),
        ("before the 2.0 release on 3 May", "before ..2025-05-03"),
        ("after 10 March", "after 2026-03-11.."),
        ("after the launch in January", "after 2026-01-01.."),
        ("since Monday", "after 2026-03-16.."),
        ("since last week", "after 2026-03-09.."),
        ("since 2024", "after 2024-01-01.."),
        ("since march", "after 2026-03-01.."),
        ("until 10 March", "before ..2026-03-11"),
        ("by Friday", "before ..2026-03-14"),
        ("prior to 2024", "before ..2024-01-01"),
        ("later than yesterday", "after 2026-03-18.."),
        ("from March 2024 onwards", "after 2024-03-01.."),
        ("between 3 March and 10 March", "range 2026-03-03..2026-03-11"),
        ("between 3 and 10 March", "range 2026-03-03..2026-03-11"),
        ("between March and May 2025", "range 2025-03-01..2025-06-01"),
        ("between December and February 2025", "range 2024-12-01..2025-03-01"),
        ("between January and March", "range 2026-01-01..2026-04-01"),
        ("between 2023 and 2024", "range 2023-01-01..2025-01-01"),
        ("from 1 to 5 March", "range 2026-03-01..2026-03-06"),
        ("from Q1 2025 to Q2 2025", "range 2025-01-01..2025-07-01"),
        ("2025-01-05 - 2025-01-10", "range 2025-01-05..2025-01-11"),
        ("March 3-5", "range 2026-03-03..2026-03-06"),
        ("3-5 Mayıs", "range 2025-05-03..2025-05-06"),
        ("3 Mayıs'tan önce", "before ..2025-05-03"),
        ("3 mayistan once", "before ..2025-05-03"),
        ("3 Mayıs'tan önceki kararlar", "before ..2025-05-03"),
        ("10 Mart'tan sonra", "after 2026-03-11.."),
        ("2024'ten beri", "after 2024-01-01.."),
        ("2024'ten bu yana", "after 2024-01-01.."),
        ("geçen haftadan beri", "after 2026-03-09.."),
        ("dünden beri", "after 2026-03-17.."),
        ("pazartesiden itibaren", "after 2026-03-16.."),
        ("cumaya kadar", "before ..2026-03-14"),
        ("10 Mart'a kadar", "before ..2026-03-11"),
        ("3 Mayıs öncesi", "before ..2025-05-03"),
        ("3 Mayıs ile 10 Mayıs arasında", "range 2025-05-03..2025-05-11"),
        ("3 ile 10 Mart arasında", "range 2026-03-03..2026-03-11"),
        ("Ocak ve Mart 2025 arasındaki kararlar", "range 2025-01-01..2025-04-01"),
        ("ocaktan marta kadar", "range 2026-01-01..2026-04-01"),
        ("05.03.2026'dan önce", "before ..2026-03-05"),
    ]);
}

#[test]
fn what_is_no_date() {
    let none = [
        "",
        "the 2.0 release",
        "version v1.2.3",
        "upgrade to 10.2.2024.1",
        "it costs 2024 TL",
        "$2024",
        "% 2024",
        "in 2000 files",
        "2000'den fazla satır",
        "error 1999",
        "port 8080",
        "at 10:30",
        "saat 14.30'da",
        "12:05:33",
        "may I see it",
        "you may leave",
        "it may be wrong",
        "they may 3 times",
        "this may fail",
        "maybe",
        "they march on",
        "march forward",
        "an august body",
        "wait a second",
        "the second option",
        "the sun is out",
        "he sat down",
        "we wed",
        "Martin said so",
        "martı uçtu",
        "son",
        "son karar nedir",
        "sonuç",
        "ekim yapmak",
        "buğday ekimi",
        "ocakta yemek var",
        "yemek ocakta pişiyor",
        "ocak söndü",
        "bu aralıkta kal",
        "pazar araştırması",
        "pazara gittik",
        "cuma namazı",
        "dünya",
        "once upon a time",
        "at once",
        "gun control",
        "every Friday",
        "Black Friday",
        "her pazartesi",
        "on Mondays",
        "last-minute change",
        "the last minute",
        "the last time",
        "next time",
        "this time",
        "the last step",
        "son gün",
        "son saat",
        "spring framework",
        "yaz bunu",
        "kış",
        "in 3 weeks of work",
        "a quarter of it",
        "half of it",
        "CVE-2024-1234",
        "2024-1234",
        "192.168.1.1",
        "1/2",
        "3/4 of the files",
        "30 February",
        "31.04.2026",
        "2026-13",
        "99.99.2026",
        "F1",
        "last_week",
        "fn may() {}",
        "kargo ne kadar",
        "ayda bir",
        "günlük",
        "haftalık",
        "10k",
        "100 gün",
        "O'May",
        "mar",
        "dec",
        "sep",
        "refund within 14 days",
        "14 gün içinde",
        "out of 2000",
        "attended by 2000 guests",
        "the Sunday Times",
        "the 5th",
        "from here to there",
        "before we start",
        "after all",
        "since then",
        "between us",
        "by hand",
        "until it works",
    ];
    let wrong: Vec<String> = none
        .iter()
        .flat_map(|text| [None, Some(Language::English), Some(Language::Turkish)].map(|language| (*text, language)))
        .filter_map(|(text, language)| {
            let found = mentions(text, at(NOW), &istanbul(), language);
            (!found.is_empty())
                .then(|| format!("{text:?} ({language:?}): {:?}", found.iter().map(shown).collect::<Vec<_>>()))
        })
        .collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_language_settles_what_both_have() {
    let count = |text: &str, language| mentions(text, at(NOW), &istanbul(), language).len();
    let (english, turkish) = (Some(Language::English), Some(Language::Turkish));
    assert_eq!([None, english, turkish].map(|language| count("mart", language)), [0, 0, 1]);
    assert_eq!([None, english, turkish].map(|language| count("the dun horse", language)), [1, 0, 1]);
    assert_eq!(count("dün", english), 1);
    // A short question is often taken for the wrong one.
    assert_eq!([None, english, turkish].map(|language| count("3 gun once last week", language)), [2, 2, 2]);
}

#[test]
fn a_text_may_name_several_times() {
    let text = "Yesterday we moved the launch from 3 May 2026 to Q3 2026; dün değil, geçen hafta da konuştuk.";
    let shown: Vec<String> =
        found(text).iter().map(|mention| format!("{} {}", &text[mention.start..mention.end], shown(mention))).collect();
    assert_eq!(
        shown,
        [
            "Yesterday day 2026-03-17..2026-03-18",
            "from 3 May 2026 to Q3 2026 range 2026-05-03..2026-10-01",
            "dün day 2026-03-17..2026-03-18",
            "geçen hafta week 2026-03-09..2026-03-16",
        ]
    );
}

#[test]
fn days_begin_where_the_question_is_asked() {
    // Noon in New York on the day before clocks go forward there: the next day has 23 hours.
    let zone = TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").unwrap();
    let now = at("2026-03-07T17:00:00Z");
    let hours = |text: &str| {
        let found = mentions(text, now, &zone, None);
        (found[0].from, found[0].to.duration_since(found[0].from).as_hours())
    };
    assert_eq!(hours("today"), (at("2026-03-07T05:00:00Z"), 24));
    assert_eq!(hours("tomorrow"), (at("2026-03-08T05:00:00Z"), 23));
    assert_eq!(hours("on 1 November 2026"), (at("2026-11-01T04:00:00Z"), 25));
    // Ten at night in London is tomorrow already in Istanbul.
    let now = at("2026-03-18T22:30:00Z");
    assert_eq!(mentions("dün", now, &istanbul(), None)[0].from, at("2026-03-17T21:00:00Z"));
    assert_eq!(mentions("dün", now, &TimeZone::UTC, None)[0].from, at("2026-03-17T00:00:00Z"));
    // Where clocks went forward at midnight, the day began at one.
    let zone = TimeZone::posix("<-03>3<-02>,M11.1.0/0,M2.3.0/0").unwrap();
    let found = mentions("4 November 2018", now, &zone, None);
    assert_eq!((found[0].from, found[0].to), (at("2018-11-04T03:00:00Z"), at("2018-11-05T02:00:00Z")));
}

#[test]
fn weeks_begin_on_monday() {
    for (now, expected) in [
        ("2026-03-16T00:00:00+03:00", "week 2026-03-16..2026-03-23"),
        ("2026-03-22T23:59:59+03:00", "week 2026-03-16..2026-03-23"),
        ("2026-03-23T00:00:00+03:00", "week 2026-03-23..2026-03-30"),
    ] {
        assert_eq!(shown(&mentions("bu hafta", at(now), &istanbul(), None)[0]), expected);
    }
    let new_year = mentions("last month", at("2026-01-10T00:00:00Z"), &istanbul(), None);
    assert_eq!(shown(&new_year[0]), "month 2025-12-01..2026-01-01");
    let short = mentions("the last two months", at("2026-04-30T12:00:00+03:00"), &istanbul(), None);
    assert_eq!(shown(&short[0]), "range 2026-02-28..2026-04-30T12:00");
}

#[test]
fn closeness_falls_off_by_the_length_of_the_period() {
    let near = |text: &str, instant: &str| closeness(&found(text), at(instant));
    let about = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found}, expected {expected}");
    about(near("yesterday", "2026-03-17T12:00:00+03:00"), 1.0);
    about(near("yesterday", "2026-03-17T00:00:00+03:00"), 1.0);
    about(near("yesterday", "2026-03-18T00:00:00+03:00"), 1.0);
    about(near("yesterday", "2026-03-19T00:00:00+03:00"), (-1.0_f64).exp());
    about(near("yesterday", "2026-03-16T00:00:00+03:00"), (-1.0_f64).exp());
    about(near("yesterday", "2026-03-21T00:00:00+03:00"), 0.0);
    about(near("last year", "2026-07-02T12:00:00+03:00"), (-0.5_f64).exp());
    about(near("before 3 May 2025", "1999-01-01T00:00:00Z"), 1.0);
    about(near("before 3 May 2025", "2025-05-04T00:00:00+03:00"), (-1.0_f64).exp());
    about(near("after 10 March", "2030-01-01T00:00:00Z"), 1.0);
    about(near("after 10 March", "2026-03-01T00:00:00Z"), 0.0);
    about(near("yesterday or 3 May 2020", "2020-05-03T12:00:00+03:00"), 1.0);
    about(closeness(&[], at(NOW)), 0.0);
    for edge in [Timestamp::MIN, Timestamp::MAX] {
        assert!((0.0..=1.0).contains(&closeness(&found("before 3 May, after 3 May, in 2024"), edge)));
    }
}

#[test]
fn questions_for_a_time_are_known() {
    for text in [
        "When did Caroline move?",
        "when is the release",
        "And when was that?",
        "Do you remember when we met?",
        "Tell me when the meeting is",
        "What date did we pick?",
        "Which month was it?",
        "how long ago was it",
        "Since when do we use it?",
        "When exactly did it fail?",
        "When and where did they meet?",
        "When?",
        "What day is the launch?",
        "In which year did it open?",
        "Toplantı ne zaman?",
        "ne zaman taşındı",
        "NE ZAMAN?",
        "hangi tarihte çıktı",
        "Hangi gün buluştuk?",
        "ayın kaçında",
        "kaç gün önce",
        "hangi yılda başladık",
        "Ne zamandan beri kullanıyoruz?",
        "hangi ayda",
        "kaç yılında kuruldu",
    ] {
        assert!(asks_when(text, None), "{text:?}");
    }
    for text in [
        "What happens when the disk is full?",
        "When I was young, where did I live?",
        "when the deploy failed, what was the cause",
        "Her ne zaman baksam bozuk",
        "What did she say?",
        "whenever",
        "hangi araç",
        "hangi aygıt",
        "kaç kişi",
        "ne zam oldu",
        "",
        "It works when tested",
        "kaç gün sürer",
    ] {
        assert!(!asks_when(text, None), "{text:?}");
    }
}

#[test]
fn texts_that_speak_of_a_time_are_known() {
    for text in [
        "I went there last Friday",
        "We met two years back",
        "It was on 5 May",
        "yesterday",
        "every Monday",
        "in 2023",
        "for three weeks",
        "2026-03-05",
        "Recently we moved",
        "dün gittik",
        "üç haftadır",
        "Geçen yıl",
        "mayısta",
        "yıllarca",
        "5 haftalar",
        "this weekend",
        "months ago",
    ] {
        assert!(has_time_expression(text, None), "{text:?}");
    }
    for text in [
        "",
        "plastic",
        "the latest release",
        "you may go",
        "version 2.0",
        "I like dogs",
        "köpekleri severim",
        "yılan",
        "son karar",
        "haftalık rapor",
        "haftalik",
    ] {
        assert!(!has_time_expression(text, None), "{text:?}");
    }
}

#[test]
fn dates_of_the_calendar_are_given_as_far_as_they_go() {
    let date = |month, day, year| Calendar { month, day, year };
    for (text, expected) in [
        ("What did she do on 5 May 2023?", vec![date(Some(5), Some(5), Some(2023))]),
        ("in May", vec![date(Some(5), None, None)]),
        ("3 Mayıs'ta", vec![date(Some(5), Some(3), None)]),
        ("July 2023", vec![date(Some(7), None, Some(2023))]),
        ("in 2023", vec![date(None, None, Some(2023))]),
        ("2023-10-13 and on 4 June", vec![date(Some(10), Some(13), Some(2023)), date(Some(6), Some(4), None)]),
        ("between March and May 2023", vec![date(Some(3), None, None), date(Some(5), None, Some(2023))]),
        ("since 4 August", vec![date(Some(8), Some(4), None)]),
        ("last week, yesterday, next March", vec![date(Some(3), None, None)]),
        ("you may go", vec![]),
    ] {
        assert_eq!(calendar_mentions(text), expected, "{text:?}");
    }
}

/// Words that rules look for, so that arbitrary texts reach deep into them.
fn pieces() -> impl Strategy<Value = String> {
    let words = [
        "before",
        "after",
        "between",
        "and",
        "from",
        "to",
        "3",
        "31",
        "29",
        "2024",
        "9999",
        "4294967295",
        "99999999999",
        "March",
        "may",
        "Mayıs'tan",
        "önce",
        "son",
        "iki",
        "on",
        "hafta",
        "years",
        "ago",
        "the",
        "last",
        "of",
        "Q2",
        "2026-03-05",
        "3-5",
        "9999-12-31",
        "0000-01-01",
        "-9999-01-01",
        ",",
        ".",
        "'",
        "\u{307}",
        "İ",
        "geçen",
        "cuma",
        "week",
        "since",
        "yılında",
        "1990s",
        "few",
        "a",
        "ayı",
        "ile",
        "arasında",
        "'ın",
        "ve",
        "_",
        "winter",
        "2100",
    ];
    let piece = prop_oneof![4 => prop::sample::select(words.to_vec()).prop_map(str::to_owned), 1 => ".{0,6}"];
    prop::collection::vec((piece, prop_oneof![6 => Just(" "), 1 => Just(""), 1 => Just("-"), 1 => Just("\n")]), 0..24)
        .prop_map(|pieces| pieces.into_iter().map(|(piece, gap)| piece + gap).collect())
}

fn any_instant() -> impl Strategy<Value = Timestamp> {
    let seconds = Timestamp::MIN.as_second()..=Timestamp::MAX.as_second();
    prop_oneof![
        Just(Timestamp::MIN),
        Just(Timestamp::MAX),
        seconds.prop_map(|second| Timestamp::from_second(second).unwrap()),
        (0_i64..4_000_000_000).prop_map(|second| Timestamp::from_second(second).unwrap()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_text_at_any_time_is_read(text in prop_oneof![pieces(), ".*"], now in any_instant(), made in any_instant(), hours in -12_i8..=14) {
        let zone = TimeZone::fixed(jiff::tz::offset(hours));
        for language in [None, Some(Language::English), Some(Language::Turkish)] {
            let found = mentions(&text, now, &zone, language);
            let mut end = 0;
            for mention in &found {
                prop_assert!(mention.start >= end && mention.start < mention.end && mention.end <= text.len());
                prop_assert!(text.get(mention.start..mention.end).is_some(), "cut within a character");
                prop_assert!(mention.from < mention.to);
                let near = closeness(std::slice::from_ref(mention), made);
                prop_assert!((0.0..=1.0).contains(&near));
                if mention.from <= made && made < mention.to {
                    prop_assert!(near >= 1.0);
                }
                end = mention.end;
            }
            let timed = found.iter().any(|mention| mention.kind != PeriodKind::Recency);
            prop_assert!(!timed || has_time_expression(&text, language));
            asks_when(&text, language);
        }
        for Calendar { month, day, year } in calendar_mentions(&text) {
            prop_assert!(month.is_none_or(|month| (1..=12).contains(&month)));
            prop_assert!(day.is_none_or(|day| month.is_some() && (1..=31).contains(&day)));
            prop_assert!(year.is_none_or(|year| (0..=9_999).contains(&year)));
        }
    }

    #[test]
    fn every_day_is_found_as_it_is_written(days in 0_i32..73_000) {
        let day = jiff::civil::date(1_900, 1, 1).saturating_add(jiff::SignedDuration::from_hours(i64::from(days) * 24));
        let [year, month, number] = [i32::from(day.year()), i32::from(day.month()), i32::from(day.day())];
        let english = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
            "November", "December"][month as usize - 1];
        let turkish = ["Ocak", "Şubat", "Mart", "Nisan", "Mayıs", "Haziran", "Temmuz", "Ağustos", "Eylül", "Ekim",
            "Kasım", "Aralık"][month as usize - 1];
        for text in [
            format!("{year:04}-{month:02}-{number:02}"), format!("{number:02}.{month:02}.{year:04}"), format!("{number} {english} {year}"),
            format!("{english} {number}, {year}"), format!("{number} {turkish} {year}"), format!("{number} {turkish} {year}'de"),
        ] {
            let found = mentions(&text, at(NOW), &TimeZone::UTC, None);
            let from = day.to_zoned_datetime(TimeZone::UTC).unwrap().timestamp();
            prop_assert_eq!(found.len(), 1, "{}", text);
            prop_assert_eq!((found[0].from, found[0].kind, found[0].start), (from, PeriodKind::Day, 0), "{}", text);
        }
    }
}
