//! What reports look like, to people and to programs.

#![allow(clippy::unwrap_used, clippy::format_collect, reason = "a test may panic and need not be quick")]

mod kinds;

use hatir_pipeline::{Options, Report};

/// Eight different problems and a warning.
const WRONG: &str = r#"version = 1

[pipeline]
about  = "Many things are wrong here."
input  = { question = "text", count = "nubmer" }
output = "pack"
env    = ["WORDS"]

[stage.core]
use = "test.stpe"
in.text = "$input.question"

[stage.found]
use = "test.find"
in.qeury = "core"
timeout = "300"

[stage.rich]
use = "test.rich"
with.limit = 1_000
with.mode = "veryfast"
with.path = "a/${WORD}/çay/${HOME"
on_error = "skip"

[stage.pack]
use = "test.step"
in.text = "found"	# hits are no text
in.extra = ["rihc"]
"#;

#[test]
fn a_report_for_people() {
    insta::assert_snapshot!(kinds::report(WRONG).render(false));
}

#[test]
fn a_report_for_programs() {
    insta::assert_json_snapshot!(kinds::report(WRONG).to_json()[1]);
}

#[test]
fn colours_are_added_only_when_asked_for() {
    let report = kinds::report(WRONG);
    let (plain, coloured) = (report.render(false), report.render(true));
    assert!(!plain.contains('\x1b') && coloured.contains('\x1b'));
}

#[test]
fn a_short_loop_names_every_stage() {
    let text = "version = 1\n[pipeline]\noutput = \"a\"\n[stage.a]\nuse = \"test.step\"\nin.text = \"c\"\n\n[stage.b]\nuse = \
                \"test.step\"\nin.text = \"a\"\n\n[stage.c]\nuse = \"test.step\"\nin.text = \"b\"\n";
    insta::assert_snapshot!(kinds::report(text).render(false));
}

#[test]
fn escapes_in_a_file_do_not_reach_the_terminal() {
    let report =
        kinds::report("version = 1\n[pipeline]\noutput = \"a\"\n[stage.a]\nuse = \"\\u001b[31mred\u{1b}[0m\"\n");
    assert!(!report.render(false).contains('\x1b'), "{:?}", report.render(false));
}

#[test]
fn line_ends_tabs_wide_letters_and_a_byte_order_mark_keep_their_places() {
    let text = "\u{feff}version = 1\r\n[pipeline]\r\noutput = \"a\"\r\n[stage.a]\r\nuse = \"test.rich\"\r\n\twith.names = [\"çay\", \"字\", 5]\r\n";
    let report = kinds::report(text);
    assert_eq!(kinds::problems(&report).iter().map(|(_, place)| *place).collect::<Vec<_>>(), ["5"]);
    let json = report.to_json();
    assert_eq!((&json[0]["line"], &json[0]["column"]), (&6.into(), &28.into()));
    insta::assert_snapshot!(report.render(false));
}

#[test]
fn a_problem_far_into_a_huge_line_is_shown_with_what_is_around_it() {
    let filler = "\"ş\", ".repeat(200_000);
    let text = kinds::rich(&format!("with.names = [{filler}5, {filler}]"));
    let begun = std::time::Instant::now();
    let report = kinds::report(&text);
    let rendered = report.render(false);
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    assert!(rendered.len() < 2_000, "{}", rendered.len());
    let column = 15 + 200_000 * 5;
    assert!(rendered.contains(&format!("test.toml:7:{column}")), "{rendered}");
    assert!(rendered.contains("\"ş\", 5, \"ş\""), "{rendered}");
}

#[test]
fn many_problems_are_counted_and_the_first_hundred_shown() {
    let stages: String = (0..150).map(|at| format!("[stage.s{at}]\nuse = \"none\"\n")).collect();
    let report = kinds::report(&format!("version = 1\n[pipeline]\noutput = \"s0\"\n{stages}"));
    assert_eq!(report.problems().len(), 150);
    assert_eq!(report.to_json().as_array().unwrap().len(), 150);
    let rendered = report.render(false);
    assert_eq!(rendered.matches("error[E0030]").count(), 100);
    assert!(rendered.ends_with("… and 50 more problems\n\n"), "{}", &rendered[rendered.len() - 100..]);
}

#[test]
fn a_problem_in_a_set_argument_points_into_the_argument() {
    let options =
        Options { set: vec!["stage.a.with.limt=5".into(), "stage.a.with.limit=0".into()], ..Options::default() };
    let report: Report = kinds::compile_with(&kinds::rich(""), &options).report;
    insta::assert_snapshot!(report.render(false));
}
