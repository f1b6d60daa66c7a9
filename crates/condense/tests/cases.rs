//! The hand-made cases: how many pass, with a floor.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test file: it reports which cases fail")]

use hatir_condense::{Condenser, Conversation, Language, Options, Turn};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    turns: Vec<Said>,
    follow_up: String,
    must_contain: Vec<String>,
    must_not_contain: Vec<String>,
}

#[derive(Deserialize)]
struct Said {
    role: String,
    text: String,
}

fn lower(text: &str, language: Language) -> String {
    match language {
        Language::Turkish => text.replace('I', "ı").replace('İ', "i").to_lowercase(),
        Language::English => text.to_lowercase(),
    }
}

fn passing(data: &str, language: Language) -> usize {
    let mut passed = 0;
    for line in data.lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        let history: Conversation = case
            .turns
            .iter()
            .map(|t| if t.role == "user" { Turn::user(&t.text) } else { Turn::assistant(&t.text) })
            .collect();
        let condensed = Condenser::new().condense(&history, &case.follow_up, &Options::default());
        let query = lower(&condensed.query, language);
        let holds = case.must_contain.iter().all(|w| query.contains(&lower(w, language)))
            && !case.must_not_contain.iter().any(|w| condensed.query.contains(w));
        if holds {
            passed += 1;
        } else {
            println!("{} -> {} ({}; {})", case.follow_up, condensed.query, condensed.rule, condensed.note);
        }
        assert_eq!(condensed.language, language, "{}", case.follow_up);
    }
    println!("{passed} pass");
    passed
}

#[test]
fn english_cases() {
    assert!(passing(include_str!("data/cases.en.dev.jsonl"), Language::English) >= 20);
}

#[test]
fn turkish_cases() {
    assert!(passing(include_str!("data/cases.tr.dev.jsonl"), Language::Turkish) >= 20);
}
