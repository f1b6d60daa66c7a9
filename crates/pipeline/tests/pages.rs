//! Every code has a page, and the examples on the pages mean what the pages say.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;

use hatir_pipeline::{Code, Environment, Options, Registry, Severity, Source, compile};

/// A fenced block of TOML: whether it is the wrong example, the rest of its info string, and the text.
fn examples(page: &str) -> Vec<(bool, String, String)> {
    let mut examples = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```toml ") else { continue };
        let (kind, rest) = info.split_once(' ').unwrap_or((info, ""));
        let text: String = lines.by_ref().take_while(|line| *line != "```").flat_map(|line| [line, "\n"]).collect();
        assert!(["wrong", "right"].contains(&kind), "{info}");
        examples.push((kind == "wrong", rest.to_owned(), text));
    }
    examples
}

fn codes_of(text: &str, info: &str) -> Vec<Code> {
    let set = info.strip_prefix("set=\"").and_then(|rest| rest.strip_suffix('"'));
    let environment = match info {
        "environment" => Environment::Known(BTreeMap::new()),
        _ => Environment::Unknown,
    };
    let options = Options { environment, set: set.map(str::to_owned).into_iter().collect() };
    let compiled = compile(Source::new("page.toml", text), &Registry::standard(), &options);
    let codes = compiled.report.problems().iter().map(|problem| problem.code).collect();
    assert_eq!(compiled.plan.is_some(), !compiled.report.has_errors());
    codes
}

#[test]
fn pages_have_the_form_of_pages() {
    for code in Code::all() {
        let page = code.page();
        assert!(page.starts_with(&format!("# {code}: {}\n", code.title())), "{page}");
        assert!(page.contains("**Remedy.**"), "{code}");
        assert_eq!(Code::parse(code.as_str()), Some(code));
    }
    assert_eq!(Code::parse("E9999"), None);
}

#[test]
fn wrong_examples_have_the_problem_and_right_ones_have_none() {
    let (mut without, mut failures) = (Vec::new(), Vec::new());
    for code in Code::all() {
        let examples = examples(code.page());
        if !examples.iter().any(|(wrong, _, _)| *wrong) {
            without.push(code.as_str());
        }
        for (wrong, info, text) in examples {
            let codes = codes_of(&text, &info);
            let expected = if wrong { vec![code] } else { Vec::new() };
            if codes != expected {
                failures.push(format!("{code}: expected {expected:?}, got {codes:?} from\n{text}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    // Files that cannot be read at all are tested in `files.rs`; building and running needs more than a text.
    let expected =
        ["E0001", "E0002", "E0003", "E0201", "E0202", "E0301", "E0302", "E0303", "E0304", "E0305", "E0306", "E0307"];
    assert_eq!(without, expected);
}

#[test]
fn warnings_have_a_w() {
    for code in Code::all() {
        assert_eq!(code.severity() == Severity::Warning, code.as_str().starts_with('W'));
    }
}
