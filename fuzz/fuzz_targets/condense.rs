//! Any conversation, any follow-up: no panic, and what the documentation of `Condensed` promises holds.
//!
//! The input is text, so that seeds can be read and libFuzzer can splice lines: the first line sets options
//! (`policy`, `tr`, `en`, and numbers for the window's turns and tokens), then each line is a turn (`u `, `a `, `c ` for user,
//! assistant, context), and the last is the follow-up.
#![no_main]

use hatir_condense::{Condenser, Connector, Conversation, Language, Options, Turn};
use libfuzzer_sys::fuzz_target;

fn options(line: &str) -> Options {
    let mut options = Options::default();
    let mut numbers = Vec::new();
    for word in line.split_whitespace() {
        match word {
            "policy" => options.connector = Connector::Policy,
            "tr" => options.language = Some(Language::Turkish),
            "en" => options.language = Some(Language::English),
            _ => match word.parse() {
                Ok(number) => numbers.push(number),
                Err(_) => options.topic_words.push(word.to_owned()),
            },
        }
    }
    options.window_turns = numbers.first().copied().unwrap_or(options.window_turns);
    options.window_tokens = numbers.get(1).copied().unwrap_or(options.window_tokens);
    options
}

fn turn(line: &str) -> Turn {
    match line.split_at_checked(2) {
        Some(("a ", text)) => Turn::assistant(text),
        Some(("c ", text)) => Turn::context(text),
        Some(("u ", text)) => Turn::user(text),
        _ => Turn::user(line),
    }
}

fuzz_target!(|input: &str| {
    let mut lines = input.split('\n');
    let options = options(lines.next().unwrap_or_default());
    let follow_up = lines.next_back().unwrap_or_default();
    let history = Conversation::from(lines.map(turn).collect::<Vec<_>>());

    let condenser = Condenser::new();
    let condensed = condenser.condense(&history, follow_up, &options);
    assert!((0.0..=1.0).contains(&condensed.confidence), "confidence {}", condensed.confidence);
    assert!(!condensed.note.contains('\n'), "the note is one line: {:?}", condensed.note);
    if !condensed.rule.rewrites() {
        assert_eq!(condensed.query, follow_up, "{} leaves the text as it is", condensed.rule);
        assert!(condensed.steps.is_empty(), "{} has no steps", condensed.rule);
    }
    let mut end = 0;
    for step in &condensed.steps {
        assert!(follow_up.get(step.range.clone()).is_some(), "{:?} is no range of {follow_up:?}", step.range);
        assert!(step.range.start >= end, "steps overlap or are out of order: {:?}", condensed.steps);
        end = step.range.end;
        assert!(step.turn.is_none_or(|turn| turn < history.turns.len()), "no such turn: {:?}", step.turn);
    }

    let again = condenser.condense(&history, follow_up, &options);
    assert_eq!(condensed, again, "the same input gives the same output");
});
