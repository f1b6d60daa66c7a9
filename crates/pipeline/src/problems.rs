//! Builds and runs that went wrong, told like the problems of the file: with a code, and pointing at the stage.

use crate::codes::Code;
use crate::diagnostic::{Problem, Report};
use crate::plan::Plan;
use crate::run::{BuildFailure, RunReport, Status};
use crate::stage::StageError;

/// How much of a program's error output a report shows, in lines.
const DETAIL_LINES: usize = 20;

impl Plan {
    /// The report of stages that could not be built.
    pub fn report_build_failures(&self, failures: &[BuildFailure]) -> Report {
        let problem = |failure: &BuildFailure| {
            let code = if failure.error.untrusted { Code::UNTRUSTED } else { Code::NOT_BUILT };
            let what = format!("the stage \"{}\" ({}) could not be built: ", failure.stage, failure.kind);
            self.problem(code, &failure.stage, &what, &failure.error)
        };
        self.texts.with(failures.iter().map(problem).collect())
    }

    /// The report of stages that could not write out what they held back.
    pub fn report_write_failures(&self, failures: &[BuildFailure]) -> Report {
        let problem = |failure: &BuildFailure| {
            let what = format!("the stage \"{}\" ({}) could not write out its data: ", failure.stage, failure.kind);
            self.problem(Code::NOT_WRITTEN, &failure.stage, &what, &failure.error)
        };
        self.texts.with(failures.iter().map(problem).collect())
    }

    /// The report of inputs that were wrong, one sentence each.
    pub fn report_inputs(&self, problems: &[String]) -> Report {
        let wanted = self.inputs.iter().map(|(name, spec)| {
            format!("{name} ({}{})", spec.kind, if spec.optional { ", may be left out" } else { "" })
        });
        let help = format!("the pipeline takes {}", wanted.collect::<Vec<_>>().join(", "));
        let problem = |sentence: &String| {
            let problem = Problem::new(Code::INPUT_VALUE, sentence.as_str());
            if self.inputs.is_empty() { problem } else { problem.help(help.as_str()) }
        };
        self.texts.with(problems.iter().map(problem).collect())
    }

    /// The report of a run that failed; empty when it did not.
    pub fn report_run_failure(&self, report: &RunReport) -> Report {
        let Some(failed) = report.failure() else { return self.texts.with(Vec::new()) };
        let code = match failed.status {
            Status::TimedOut => Code::STAGE_TIMED_OUT,
            Status::Panicked => Code::STAGE_PANICKED,
            _ => Code::STAGE_FAILED,
        };
        let tries = if failed.attempts > 1 { format!(" after {} tries", failed.attempts) } else { String::new() };
        let what = format!("the stage \"{}\" ({}) failed{tries}: ", failed.stage, failed.kind);
        let unknown = StageError::new("no reason was given");
        self.texts.with(vec![self.problem(code, &failed.stage, &what, failed.error.as_ref().unwrap_or(&unknown))])
    }

    fn problem(&self, code: Code, stage: &str, what: &str, error: &StageError) -> Problem {
        let mut message = format!("{what}{}", error.message);
        if let Some(detail) = &error.detail {
            // The end of what a program said is where the reason stands.
            let lines: Vec<&str> = detail.lines().collect();
            let shown = &lines[lines.len().saturating_sub(DETAIL_LINES)..];
            message.push_str("; its error output ends with:");
            for line in shown {
                message.push_str("\n  ");
                message.push_str(line);
            }
        }
        let mut problem = Problem::new(code, message);
        if let Some(stage) = self.stages.iter().find(|planned| planned.name == stage) {
            problem = problem.at(stage.span);
        }
        match &error.hint {
            Some(hint) => problem.help(hint.as_str()),
            None => problem,
        }
    }
}
