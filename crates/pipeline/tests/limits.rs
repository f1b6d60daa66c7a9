//! Files that are missing, huge, circular, or nonsense.

#![allow(clippy::unwrap_used, clippy::format_collect, reason = "a test may panic and need not be quick")]

mod kinds;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use hatir_pipeline::{Code, Options, Report, Source};
use kinds::{compile_with, known, plan, report};
use proptest::prelude::*;

fn only(report: &Report) -> &hatir_pipeline::Problem {
    assert_eq!(report.problems().len(), 1, "{}", report.render(false));
    &report.problems()[0]
}

fn read(path: &std::path::Path) -> Report {
    Source::read(path).err().unwrap()
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let missing = read(&folder.path().join("no.toml"));
    assert_eq!(only(&missing).code, Code::UNREADABLE_FILE);
    assert!(only(&missing).message.contains("there is no file"), "{}", missing.render(false));
    let directory = read(folder.path());
    assert_eq!(only(&directory).code, Code::UNREADABLE_FILE);
    assert!(only(&directory).message.contains("is a folder"), "{}", directory.render(false));
}

#[test]
fn bytes_that_are_no_utf8_are_shown_with_their_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("latin.toml");
    // `ışık` as Windows-1254 writes it.
    std::fs::write(&path, b"version = 1\nabout = \"\xc3\xa7 \xfd\xfe\xfdk\"\nb = 1\n").unwrap();
    let report = read(&path);
    let problem = only(&report);
    assert_eq!(problem.code, Code::NOT_UTF8);
    let position = report.position(problem.place.as_ref().unwrap().span).unwrap();
    assert_eq!((position.line, position.column), (2, 12));
    assert!(report.render(false).contains("0xfd"), "{}", report.render(false));
}

#[test]
fn a_file_of_50_megabytes_is_refused_quickly() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.toml");
    std::fs::write(&path, "a = 1 # fifty\n".repeat(50 * 1024 * 1024 / 14)).unwrap();
    let begun = Instant::now();
    assert_eq!(only(&read(&path)).code, Code::LARGE_FILE);
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    let text = "x".repeat(50 * 1024 * 1024);
    let begun = Instant::now();
    assert_eq!(only(&report(&text)).code, Code::LARGE_FILE);
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

/// Stages in a row, each reading the one before; the first reads what `first` says.
fn chain(length: usize, first: &str) -> String {
    let mut text = format!("version = 1\n[pipeline]\ninput = {{ text = \"text?\" }}\noutput = \"s{}\"\n", length - 1);
    for at in 0..length {
        let source = if at == 0 { first.to_owned() } else { format!("s{}", at - 1) };
        let _ = write!(text, "[stage.s{at}]\nuse = \"test.step\"\nin.text = \"{source}\"\n");
    }
    text
}

#[test]
fn a_loop_of_a_thousand_stages_is_readable_and_complete() {
    let report = report(&chain(1000, "s999"));
    let problem = report.errors().next().unwrap();
    assert_eq!((report.errors().count(), problem.code), (1, Code::LOOP));
    let expected: Vec<String> = (0..1000).map(|at| format!("s{at}")).collect();
    assert_eq!(problem.involved, expected);
    let json = report.to_json();
    let all = json.as_array().unwrap().iter().find(|problem| problem["code"] == "E0066").unwrap();
    assert_eq!((all["involved"].as_array().unwrap().len(), all["labels"].as_array().unwrap().len()), (1000, 999));
    let rendered = report.render(false);
    assert!(
        rendered.contains("1000 stages wait for each other: s0 -> s1 -> s2 -> s3 -> … (992 more) … -> s996"),
        "{rendered}"
    );
    assert!(rendered.lines().count() < 60, "{rendered}");
}

#[test]
fn two_loops_are_two_problems() {
    let text = "version = 1\n[pipeline]\noutput = \"a\"\n\
                [stage.a]\nuse = \"test.join\"\nin.x = \"b\"\nin.y = \"c\"\n[stage.b]\nuse = \"test.step\"\nin.text = \"a\"\n\
                [stage.c]\nuse = \"test.join\"\nin.x = \"d\"\n[stage.d]\nuse = \"test.step\"\nin.text = \"d\"\n";
    let report = report(text);
    let involved: Vec<Vec<String>> = report.errors().map(|problem| problem.involved.clone()).collect();
    assert_eq!(involved, [vec!["a".to_owned(), "b".to_owned()], vec!["d".to_owned()]], "{}", report.render(false));
}

#[test]
fn a_chain_of_ten_thousand_stages_compiles_and_is_drawn() {
    let text = chain(10_000, "$input.text");
    let begun = Instant::now();
    let plan = plan(&text);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert_eq!(plan.order().len(), 10_000);
    assert_eq!(plan.layers().len(), 10_000);
    assert!(plan.graph_text().lines().count() > 30_000);
    assert!(plan.explain_text().contains("s9999"));
}

#[test]
fn a_chain_written_backwards_has_the_same_order() {
    let text = chain(300, "$input.text");
    let (head, stages) = text.split_at(text.find("[stage").unwrap());
    let mut stages: Vec<&str> = stages.split_inclusive("\"\n[").collect();
    stages.reverse();
    let backwards: String = stages
        .iter()
        .map(|stage| format!("[{}\n", stage.trim_start_matches('[').trim_end_matches('[').trim_end()))
        .collect();
    let plan = plan(&format!("{head}{backwards}"));
    let names: Vec<&str> = plan.order().iter().map(|at| plan.stages()[*at].name()).collect();
    assert_eq!(names, (0..300).map(|at| format!("s{at}")).collect::<Vec<_>>());
    assert_eq!(plan.stages()[0].name(), "s299");
}

#[test]
fn nesting_has_an_end() {
    for value in ["[".repeat(200_000), "{a=".repeat(200_000), format!("[{}]", "[[],".repeat(50_000))] {
        let report = report(&kinds::rich(&format!("with.names = {value}")));
        assert!(report.errors().any(|problem| problem.code == Code::NESTED_TOO_DEEP));
        report.render(false);
    }
}

/// Every place of every problem must be one that can be cut out of its text.
fn places_are_sound(text: &str, options: &Options) {
    let compiled = compile_with(text, options);
    let report = &compiled.report;
    for problem in report.problems() {
        for label in problem.place.iter().chain(&problem.labels) {
            assert!(report.text(label.span).is_some(), "{problem:?} in {text:?}");
        }
    }
    report.render(true);
    report.to_json();
    if let Some(plan) = compiled.plan {
        plan.graph_text();
        plan.graph_mermaid();
        plan.graph_dot();
        plan.graph_json();
        plan.explain_text();
        plan.explain_json();
    }
}

/// Pieces from which texts are made that are nearly pipelines.
fn piece() -> impl Strategy<Value = String> {
    let fixed = [
        "version = 1",
        "version = 2",
        "[pipeline]",
        "output = \"a\"",
        "output = [\"a\", \"b\"]",
        "input = { x = \"text\" }",
        "input = { x = \"text?\", ö = \"hits\" }",
        "env = [\"A\", \"B\"]",
        "max-parallel = 3",
        "[stage.a]",
        "[stage.b]",
        "[stage]",
        "use = \"test.rich\"",
        "use = \"test.step\"",
        "use = \"test.join\"",
        "in.text = \"a\"",
        "in.text = \"$input.x\"",
        "in.text = []",
        "in = { extra = [\"b\", 5], é = \"a\" }",
        "with.limit = 5",
        "with.limit = -0x5",
        "with.path = \"${A}\"",
        "with.path = \"\\t${A:-}${\"",
        "with = []",
        "with.names = [\n'''ç\n${B}''', \"\"\"\n${C}\"\"\"]",
        "timeout = \"5 sec\"",
        "retries = { count = 1 }",
        "on-error = \"skip\"",
        "when = { input = \"b\", is = \"empty\" }",
        "when = { input = \"$input.x\", greater = nan }",
        "[[test]]",
        "name = \"n\"",
        "stub.a = 5",
        "expect.a.contains = [\"x\"]",
        "expect.a = { hits.0 = { count = 1 } }",
        "input.x = \"y\"",
        "[[stage]]",
        "[stage.a.with]",
        "\u{feff}",
        "\r\n",
        "a = ",
        "\"",
        "[",
        "= 5",
        "1979-05-27T07:32:00Z",
        "# ş",
        "[stage.\"ğ \"]",
        "\u{0}",
        "with.nested = { depth = 1, inner = { depth = 300 } }",
    ];
    prop_oneof![
        8 => proptest::sample::select(fixed.to_vec()).prop_map(str::to_owned),
        1 => "\\PC{0,12}",
        1 => "[a-z.]{1,8} = [\"'${}a-z0-9]{0,12}",
    ]
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(pieces in proptest::collection::vec(piece(), 0..24), set in proptest::option::of("[a-z.=\"${}\\[ ]{0,24}")) {
        let text = pieces.join("\n");
        let options = Options { environment: known(&[("A", "b")]), set: set.into_iter().collect() };
        places_are_sound(&text, &options);
        places_are_sound(&pieces.concat(), &Options::default());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        places_are_sound(&String::from_utf8_lossy(&bytes), &Options::default());
    }
}

/// Each wrong reference is looked up in its string, which must not make the whole quadratic.
#[test]
fn a_hundred_thousand_wrong_references_in_one_string() {
    for reference in ["${1}", "${NOWHERE}"] {
        let text = format!(
            "version = 1\n[pipeline]\noutput = \"s\"\n[stage.s]\nuse = \"read.file\"\nwith.path = \"{}\"\n",
            reference.repeat(100_000)
        );
        let report = hatir_pipeline::compile(
            hatir_pipeline::Source::new("p.toml", text),
            &hatir_pipeline::Registry::standard(),
            &hatir_pipeline::Options::default(),
        )
        .report;
        assert!(report.problems().len() < 100, "{}", report.problems().len());
        assert!(report.problems().iter().any(|problem| problem.message.contains("99950 more references")));
    }
}

#[test]
fn nesting_that_is_too_deep_is_told_on_its_own_line() {
    let text = format!("version = 1\nx{} = 1\n", ".a".repeat(5_000));
    let report = hatir_pipeline::compile(
        hatir_pipeline::Source::new("p.toml", text),
        &hatir_pipeline::Registry::standard(),
        &hatir_pipeline::Options::default(),
    )
    .report;
    let deep = report.problems().iter().find(|problem| problem.code == Code::NESTED_TOO_DEEP).unwrap();
    assert_eq!(report.position(deep.place.as_ref().unwrap().span).unwrap().line, 2);
}
