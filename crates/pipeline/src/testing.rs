//! Runs the `[[test]]` tables of a pipeline file.

use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use serde_json::Value as Json;

use crate::diagnostic::Span;
use crate::plan::{Check, Expectation, Plan, TestCase};
use crate::run::{BuildError, BuildOptions, Ending, RunOptions, RunReport, Runner, StageReport, Status, same_json};
use crate::value::Value;

/// An expectation that did not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Disappointment {
    /// What was looked at, as `core.text`; empty when the test could not be run at all.
    pub subject: String,
    /// What was expected, in words.
    pub expected: String,
    /// What there was, in words or as JSON, cut at a readable length.
    pub got: String,
    /// Where the expectation stands in the file.
    pub span: Span,
}

/// What became of one `[[test]]`.
#[derive(Clone, Debug)]
pub struct TestReport {
    /// The test's name.
    pub name: String,
    /// Where the test stands.
    pub span: Span,
    /// What did not hold; empty when the test passed.
    pub disappointments: Vec<Disappointment>,
    /// How many expectations were looked at.
    pub checked: usize,
    /// How long it took.
    pub elapsed: Duration,
}

impl TestReport {
    /// Whether everything held.
    pub fn passed(&self) -> bool {
        self.disappointments.is_empty()
    }
}

/// Runs one test: stubs in place of stages, nothing with effects is run.
///
/// Stages without a stub run for real, over the files that the pipeline names.
pub async fn run_test(plan: &Arc<Plan>, test: &TestCase, options: &RunOptions) -> TestReport {
    let begun = std::time::Instant::now();
    let failed = |got: String, expected: &str| Disappointment {
        subject: String::new(),
        expected: expected.to_owned(),
        got,
        span: test.span,
    };
    let disappointments = match prepare(plan, test) {
        Err(problem) => vec![failed(problem, "the test can be run")],
        Ok((runner, inputs)) => {
            let report = runner.run(&inputs, options).await;
            let mut all: Vec<Disappointment> =
                test.expect.iter().filter_map(|expectation| judge(&report, expectation)).collect();
            let told = |stage: &StageReport| {
                let expected = |expectation: &Expectation| {
                    expectation.stage == *stage.stage && matches!(expectation.check, Check::Fails(_))
                };
                let reported = |told: &Disappointment| told.subject.split('.').next() == Some(&*stage.stage);
                test.expect.iter().any(expected) || all.iter().any(reported)
            };
            match report.ending {
                Ending::Interrupted => all.push(failed("it was interrupted".into(), "the run completes")),
                // A failure that the test expects, or that an expectation already reported, is not told twice.
                Ending::Failed(at) if !told(&report.stages[at]) => {
                    all.push(failed(how_it_ended(&report.stages[at]), "the run completes"));
                }
                Ending::Failed(_) | Ending::Completed => {}
            }
            all
        }
    };
    TestReport {
        name: test.name.clone(),
        span: test.span,
        disappointments,
        checked: test.expect.len(),
        elapsed: begun.elapsed(),
    }
}

fn prepare(plan: &Arc<Plan>, test: &TestCase) -> Result<(Runner, IndexMap<String, Value>), String> {
    let mut stubs = IndexMap::new();
    for (name, json) in &test.stub {
        let stage = plan.stages.iter().find(|stage| stage.name == *name);
        let stage = stage.ok_or_else(|| format!("there is no stage \"{name}\" to put a stub for"))?;
        let value = Value::from_json(stage.ports.output, json.clone());
        stubs.insert(name.clone(), value.map_err(|error| format!("the stub for \"{name}\" is {error}"))?);
    }
    let options = BuildOptions { dry_run: true, stubs, ..BuildOptions::default() };
    let runner = Runner::build(plan.clone(), &options).map_err(|error| match error {
        BuildError::Stages(failures) => failures.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        other => other.to_string(),
    })?;
    let inputs = runner.read_inputs(test.input.clone(), false).map_err(|problems| problems.join("; "))?;
    Ok((runner, inputs))
}

fn judge(report: &RunReport, expectation: &Expectation) -> Option<Disappointment> {
    let stage = report.stages.iter().find(|stage| *stage.stage == *expectation.stage)?;
    let mut subject = expectation.stage.clone();
    for part in &expectation.path {
        subject.push('.');
        subject.push_str(part);
    }
    let disappointed = |expected: String, got: String| {
        Some(Disappointment { subject: subject.clone(), expected, got, span: expectation.span })
    };

    match &expectation.check {
        Check::Skipped(expected) => {
            let skipped = matches!(stage.status, Status::Skipped | Status::Pretended);
            let wording = if *expected { "it is skipped" } else { "it is not skipped" };
            return if skipped == *expected { None } else { disappointed(wording.into(), how_it_ended(stage)) };
        }
        Check::Fails(part) => {
            let error = stage.error.as_ref().filter(|error| error.message.contains(part));
            return if error.is_some() {
                None
            } else {
                disappointed(format!("it fails with a message that contains {part:?}"), how_it_ended(stage))
            };
        }
        Check::Empty(true) if stage.value.is_none() && expectation.path.is_empty() && stage.error.is_none() => {
            return None;
        }
        _ => {}
    }

    let Some(value) = &stage.value else {
        return disappointed(describe(&expectation.check), how_it_ended(stage));
    };
    let json = value.to_json();
    let Some(found) = walk(&json, &expectation.path) else {
        return disappointed(describe(&expectation.check), format!("nothing at that place in {}", cut(&json)));
    };
    if meets(found, value, expectation) { None } else { disappointed(describe(&expectation.check), cut(found)) }
}

fn walk<'json>(json: &'json Json, path: &[String]) -> Option<&'json Json> {
    path.iter().try_fold(json, |json, part| match json {
        Json::Array(elements) => elements.get(part.parse::<usize>().ok()?),
        other => other.get(part),
    })
}

fn meets(found: &Json, whole: &Value, expectation: &Expectation) -> bool {
    // A whole value knows its own size and emptiness (the hits of a ranking); a part of it is judged as JSON.
    let part = if expectation.path.is_empty() { whole.clone() } else { Value::json(found.clone()) };
    match &expectation.check {
        Check::Equals(expected) => same_json(found, expected),
        Check::Contains(parts) => parts.iter().all(|part| mentions(found, part)),
        Check::Lacks(parts) => !parts.iter().any(|part| mentions(found, part)),
        Check::Count(expected) => part.size().is_some_and(|size| size.fract() == 0.0 && size as usize == *expected),
        Check::AtLeast(bound) => part.size().is_some_and(|size| size >= *bound),
        Check::AtMost(bound) => part.size().is_some_and(|size| size <= *bound),
        Check::Empty(expected) => part.is_empty() == *expected,
        Check::Skipped(_) | Check::Fails(_) => false,
    }
}

fn mentions(json: &Json, part: &str) -> bool {
    match json {
        Json::String(text) => text.contains(part),
        Json::Array(elements) => elements.iter().any(|element| mentions(element, part)),
        Json::Object(object) => object.values().any(|value| mentions(value, part)),
        Json::Number(number) => number.to_string() == part,
        Json::Null | Json::Bool(_) => false,
    }
}

fn describe(check: &Check) -> String {
    let quoted = |parts: &[String]| parts.iter().map(|part| format!("{part:?}")).collect::<Vec<_>>().join(", ");
    match check {
        Check::Equals(json) => format!("it equals {json}"),
        Check::Contains(parts) => format!("it contains {}", quoted(parts)),
        Check::Lacks(parts) => format!("it does not contain {}", quoted(parts)),
        Check::Count(count) => format!("its size is {count}"),
        Check::AtLeast(bound) => format!("its size is at least {bound}"),
        Check::AtMost(bound) => format!("its size is at most {bound}"),
        Check::Empty(true) => "it is empty".into(),
        Check::Empty(false) => "it is not empty".into(),
        Check::Skipped(_) | Check::Fails(_) => String::new(),
    }
}

fn how_it_ended(stage: &StageReport) -> String {
    let why = stage.error.as_ref().map(|error| error.message.clone()).or_else(|| stage.reason.clone());
    match (why, &stage.value) {
        (Some(why), _) => format!("the stage \"{}\" {}: {why}", stage.stage, stage.status.as_str()),
        (None, Some(value)) => format!("the stage \"{}\" returned {}", stage.stage, cut(&value.to_json())),
        (None, None) => format!("the stage \"{}\" {}", stage.stage, stage.status.as_str()),
    }
}

/// JSON for a person's eyes.
fn cut(json: &Json) -> String {
    const READABLE: usize = 300;
    let text = json.to_string();
    match text.char_indices().nth(READABLE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
