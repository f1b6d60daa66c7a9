//! What must hold for any text.

mod common;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use common::history;
use hatir_condense::{CONNECTING_WORDS, Condensed, Condenser, Connector, Conversation, Language, Options, Turn};
use proptest::prelude::*;

const PIECES: &[&str] = &[
    "what",
    "about",
    "how",
    "does",
    "it",
    "the",
    "that",
    "refund",
    "Kestrel",
    "pipeline",
    "cost",
    "?",
    ".",
    ",",
    "and",
    "their",
    "she",
    "there",
    "which",
    "one",
    "second",
    "is",
    "are",
    "of",
    "types",
    "yoga",
    "why",
    "tell",
    "me",
    "more",
    "E42",
    "it's",
    "don't",
    "peki",
    "o",
    "bunu",
    "onun",
    "iade",
    "süresi",
    "İstanbul'da",
    "kaç",
    "neden",
    "mı",
    "da",
    "nasıl",
    "IŞIK",
    "ılık",
    "onlar",
    "orada",
    "hangisi",
    "ve",
    "kitap",
    "🙂",
    "שלום",
    "\0",
    "\u{307}",
    "a\u{300}",
    "''",
    "’",
    "'s",
    "...",
    "\n",
    "日本語",
    "x-y",
    "3.5",
    "ß",
    "ﬁ",
    "I",
    "İ",
];

fn pieces(max: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..max).prop_map(|words| words.join(" "))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![4 => pieces(14), 1 => any::<String>(), 1 => "\\PC{0,40}"]
}

fn conversation() -> impl Strategy<Value = Conversation> {
    prop::collection::vec((0..3_u8, text()), 0..8).prop_map(|turns| {
        turns
            .into_iter()
            .map(|(role, text)| match role {
                0 => Turn::user(text),
                1 => Turn::assistant(text),
                _ => Turn::context(text),
            })
            .collect()
    })
}

fn options() -> impl Strategy<Value = Options> {
    (any::<bool>(), 0..12_usize, 0..3_000_usize, 0..3_u8).prop_map(|(policy, window_turns, window_tokens, language)| {
        Options {
            connector: if policy { Connector::Policy } else { Connector::Plain },
            window_turns,
            window_tokens,
            language: [None, Some(Language::English), Some(Language::Turkish)][usize::from(language)],
            ..Options::default()
        }
    })
}

/// Letters and digits alone, in one case: what is left when spacing, punctuation and capitals do not count.
fn bare(text: &str) -> String {
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .filter(|c| c.is_alphanumeric())
        .collect::<String>()
        .replace('ı', "i")
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(bare)
}

fn applied(follow_up: &str, condensed: &Condensed) -> String {
    let mut text = follow_up.to_owned();
    for step in condensed.steps.iter().rev() {
        text.replace_range(step.range.clone(), &step.replacement);
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn holds_for_any_text(history in conversation(), follow_up in text(), options in options()) {
        let condenser = Condenser::new();
        let condensed = condenser.condense(&history, &follow_up, &options);
        prop_assert!((0.0..=1.0).contains(&condensed.confidence));
        prop_assert!(!condensed.note.is_empty());
        if !condensed.rule.rewrites() {
            prop_assert_eq!(&condensed.query, &follow_up);
            prop_assert!(condensed.steps.is_empty() && condensed.topic.is_none());
        }
        // Steps lie on character boundaries, in order, without overlap, and give the query.
        let mut end = 0;
        for step in &condensed.steps {
            prop_assert!(step.range.start >= end && step.range.start <= step.range.end);
            prop_assert!(follow_up.get(step.range.clone()).is_some());
            prop_assert!(step.turn.is_none_or(|turn| turn < history.turns.len()));
            end = step.range.end;
        }
        if condensed.rule.rewrites() {
            prop_assert_eq!(bare(&applied(&follow_up, &condensed)), bare(&condensed.query));
        }
        // Condensing again changes nothing.
        let language = Some(condensed.language);
        let again = condenser.condense(&history, &condensed.query, &Options { language, ..options.clone() });
        prop_assert_eq!(&again.query, &condensed.query);
        // The same input gives the same bytes.
        prop_assert_eq!(condenser.condense(&history, &follow_up, &options), condensed);
    }

    #[test]
    fn never_invents(history in conversation(), follow_up in pieces(14), options in options()) {
        let condensed = Condenser::new().condense(&history, &follow_up, &Options { language: Some(Language::English), ..options.clone() });
        let known: HashSet<String> = history.turns.iter().flat_map(|t| words(&t.text)).chain(words(&follow_up))
            .chain(CONNECTING_WORDS.iter().map(|w| bare(w))).chain(["s".to_owned()]).collect();
        for word in words(&condensed.query) {
            prop_assert!(known.contains(&word), "{} invented in {:?}", word, condensed.query);
        }
        // In Turkish a suffix may be added or changed: a word begins like a known one.
        let condensed = Condenser::new().condense(&history, &follow_up, &Options { language: Some(Language::Turkish), ..options });
        for word in words(&condensed.query) {
            let stem: String = word.chars().take(word.chars().count().saturating_sub(6).max(1)).collect();
            prop_assert!(known.contains(&word) || word.chars().count() <= 3 || known.iter().any(|k| k.starts_with(&stem)), "{} invented in {:?}", word, condensed.query);
        }
    }
}

#[test]
fn long_and_odd_histories() {
    let long = "How does the Kestrel pipeline work? ".repeat(30_000);
    for text in ["", "\0\0", " \n ", "🙂🙂", "؟ما هو", "?", "'s", "’", long.as_str()] {
        for follow_up in ["", "?", "What about it?", "Peki o?", text] {
            let history: Conversation = vec![Turn::user(text), Turn::assistant(text), Turn::context(text)].into();
            let condensed = Condenser::new().condense(&history, follow_up, &Options::default());
            if !condensed.rule.rewrites() {
                assert_eq!(condensed.query, follow_up);
            }
        }
    }
}

/// A generous bound that only a cost that grows with the square of the input would break.
#[test]
fn cost_is_linear() {
    let started = Instant::now();
    let many: Conversation = (0..100_000).map(|i| Turn::user(format!("What does plan {i} cost?"))).collect();
    let megabyte: Conversation =
        vec![Turn::user("word ".repeat(200_000)), Turn::assistant("a".repeat(1_000_000))].into();
    let prepared = started.elapsed();
    for follow_up in ["What about Gold?", "How long does that pipeline take?", "Why?", "Peki o boru hattı?"] {
        for history in [&many, &megabyte] {
            let _ = Condenser::new().condense(history, follow_up, &Options::default());
        }
    }
    let question = "does it work and ".repeat(60_000);
    let _ = Condenser::new().condense(&many, &question, &Options::default());
    let spent = started.elapsed().checked_sub(prepared).unwrap();
    assert!(spent < Duration::from_secs(5), "{spent:?}");
}

#[test]
fn turn_three_of_two_hundred_when_named_again() {
    let mut turns = vec!["Hello", "Hi.", "How fast is the Kestrel import pipeline?", "Fast."];
    for _ in 0..98 {
        turns.extend(["What is the capital of Peru?", "Lima."]);
    }
    let condensed = Condenser::new().condense(&history(&turns), "Who maintains that pipeline?", &Options::default());
    assert_eq!(condensed.query, "who maintains the Kestrel import pipeline");
    assert_eq!(condensed.steps.iter().find_map(|s| s.turn), Some(2));
    let mut turns = vec!["Merhaba", "Merhaba.", "Gece aktarım hattı ne kadar hızlı?", "Hızlı."];
    for _ in 0..98 {
        turns.extend(["Peru'nun başkenti neresi?", "Lima."]);
    }
    let condensed = Condenser::new().condense(&history(&turns), "Bu hattı kim yönetiyor?", &Options::default());
    assert!(condensed.query.contains("gece aktarım hattı"), "{}", condensed.query);
}

#[test]
fn the_caller_has_a_say() {
    let turns = history(&["Which couriers serve the island?", "Two of them."]);
    let options = Options { topic_words: vec!["Island".into()], ..Options::default() };
    let condensed = Condenser::new().condense(&turns, "How big is it?", &options);
    assert_eq!(condensed.query, "how big is the island");
    let options = Options { standalone_markers: vec!["ticket 7".into()], ..Options::default() };
    let condensed = Condenser::new().condense(&turns, "Is it about Ticket 7?", &options);
    assert_eq!(condensed.query, "Is it about Ticket 7?");
    let none = Options { window_turns: 0, ..Options::default() };
    let condensed = Condenser::new().condense(&history(&["Hm", "Yes."]), "Why?", &none);
    assert_eq!(condensed.note, "no topic in history -- left as-is (would need clarification)");
}
