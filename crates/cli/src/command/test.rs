//! `hatir test`: the `[[test]]` tables of pipeline files.

use std::io::Write;

use hatir_pipeline::{Cancel, Plan, RunOptions, TestReport, run_test};
use serde_json::{Value as Json, json};

use crate::args::{Format, TestArgs};
use crate::exit::{Exit, tell};
use crate::{clock, load, show, signals};

pub(crate) fn run(args: &TestArgs) -> anyhow::Result<Exit> {
    let options = RunOptions { now_micros: clock::moment(None)?, cancel: Cancel::new(), ..RunOptions::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut exit = Exit::Fine;
    let (mut passed, mut failed) = (0, 0);
    let mut documents = Vec::new();
    signals::cancel_on_signal(&options.cancel);
    for path in &args.files {
        let plan = match load::load(path, &[], load::environment()) {
            Ok(plan) => plan,
            Err(wrong) => {
                exit = wrong;
                continue;
            }
        };
        let mut reports = Vec::new();
        for test in plan.tests() {
            if args.only.as_ref().is_some_and(|part| !test.name.contains(part.as_str())) {
                continue;
            }
            let report = runtime.block_on(run_test(&plan, test, &options));
            if options.cancel.is_cancelled() {
                return Ok(Exit::Interrupted);
            }
            if report.passed() {
                passed += 1;
            } else {
                failed += 1;
            }
            reports.push(report);
        }
        if args.format == Format::Text {
            let mut stdout = std::io::stdout().lock();
            reports.iter().try_for_each(|report| write!(stdout, "{}", text_of(&plan, report)))?;
        } else {
            documents.extend(reports.iter().map(|report| json_of(&plan, report)));
        }
    }
    runtime.shutdown_background();
    match args.format {
        Format::Text => writeln!(std::io::stdout(), "{passed} passed, {failed} failed")?,
        Format::Json => load::print_json(Format::Json, &documents.into())?,
        Format::Jsonl => documents.iter().try_for_each(|document| load::print_json(Format::Jsonl, document))?,
    }
    if let Some(part) = args.only.as_ref().filter(|_| passed + failed == 0) {
        tell(format_args!("no test has \"{part}\" in its name\n"));
        return Ok(Exit::Failed);
    }
    Ok(if failed > 0 { Exit::Failed } else { exit })
}

fn text_of(plan: &Plan, report: &TestReport) -> String {
    let verdict = if report.passed() { "ok    " } else { "FAILED" };
    let mut text =
        format!("{verdict} {}: {} ({})\n", plan.path().display(), report.name, show::duration(report.elapsed));
    for disappointment in &report.disappointments {
        let (line, column) = plan.position(disappointment.span);
        text.push_str(&format!("    {}:{line}:{column}: {}\n", plan.path().display(), disappointment.subject));
        if let Some(source) = plan.source_line(disappointment.span) {
            text.push_str(&format!("      | {}\n", show::excerpt(source)));
        }
        text.push_str(&format!(
            "      expected: {}\n      got:      {}\n",
            disappointment.expected, disappointment.got
        ));
    }
    text
}

fn json_of(plan: &Plan, report: &TestReport) -> Json {
    let disappointments: Vec<Json> = report
        .disappointments
        .iter()
        .map(|disappointment| {
            let (line, column) = plan.position(disappointment.span);
            json!({
                "subject": disappointment.subject,
                "expected": disappointment.expected,
                "got": disappointment.got,
                "line": line,
                "column": column,
            })
        })
        .collect();
    json!({
        "file": plan.path().display().to_string(),
        "test": report.name,
        "passed": report.passed(),
        "checked": report.checked,
        "failures": disappointments,
    })
}
