//! `hatir run`: one run, and what the batch and the dialog share with it.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Read, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use hatir_pipeline::{BuildOptions, Cancel, Ending, Observer, Plan, RunOptions, RunReport, Runner, Trace, Type};
use indexmap::IndexMap;
use serde_json::Value as Json;

use crate::args::{Format, RunArgs};
use crate::exit::{Exit, Failure, tell};
use crate::{clock, load, show, signals, trust};

/// A plan that is ready to run, with what the command line says about the run.
pub(crate) struct Session {
    pub(crate) plan: Arc<Plan>,
    pub(crate) runner: Arc<Runner>,
    pub(crate) options: RunOptions,
    trace: Option<Arc<Trace<BufWriter<File>>>>,
}

impl Session {
    fn open(args: &RunArgs) -> anyhow::Result<Result<Self, Exit>> {
        let now_micros = clock::moment(args.now.as_deref())?;
        let plan = match load::load(&args.file.file, &args.file.set, load::environment()) {
            Ok(plan) => plan,
            Err(exit) => return Ok(Err(exit)),
        };
        let build = BuildOptions {
            trusted: trust::decide(&plan, args.trust)?,
            dry_run: args.dry_run,
            until: args.until.clone(),
            ..BuildOptions::default()
        };
        let runner = match load::build(&plan, &build)? {
            Ok(runner) => Arc::new(runner),
            Err(exit) => return Ok(Err(exit)),
        };
        let trace = match &args.trace {
            Some(path) => {
                let file =
                    File::create(path).with_context(|| format!("{}: the trace cannot be written", path.display()))?;
                Some(Arc::new(Trace::new(BufWriter::new(file))))
            }
            None => None,
        };
        let observer = trace.clone().map(|trace| trace as Arc<dyn Observer>);
        let options = RunOptions { now_micros, cancel: Cancel::new(), observer, ..RunOptions::default() };
        Ok(Ok(Session { plan, runner, options, trace }))
    }

    /// Writes out what stages and the trace hold back; files that are replaced as a whole stay as they were unless the
    /// work was completed.
    pub(crate) fn end(&self, completed: bool) -> anyhow::Result<Result<(), Exit>> {
        let ended = if completed { self.runner.flush() } else { self.runner.give_up() };
        if let Err(failures) = ended {
            load::print_report(&self.plan.report_write_failures(&failures));
            return Ok(Err(Exit::Failed));
        }
        if let Some(trace) = &self.trace {
            trace.flush().context("the trace could not be written")?;
        }
        Ok(Ok(()))
    }
}

pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    let session = match Session::open(args)? {
        Ok(session) => session,
        Err(exit) => return Ok(exit),
    };
    if args.batch.batch.is_some() {
        return super::batch::run(args, &session);
    }
    if let Some(path) = &args.dialog {
        return super::dialog::run(args, path, &session);
    }
    let given = given_inputs(&session.plan, &args.inputs)?;
    let inputs = match session.runner.read_inputs(given, false) {
        Ok(inputs) => inputs,
        Err(problems) => {
            load::print_report(&session.plan.report_inputs(&problems));
            return Ok(Exit::Wrong);
        }
    };
    // One run needs no worker threads: the conductor lives here, the stages on the blocking pool.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    signals::cancel_on_signal(&session.options.cancel);
    let report = runtime.block_on(session.runner.run(&inputs, &session.options));
    // Stragglers are not joined: dropping the runtime would wait for them.
    runtime.shutdown_background();
    let flushed = session.end(report.ending == Ending::Completed)?;
    let exit = finish(args, &session, &report)?;
    Ok(if exit == Exit::Fine { flushed.err().unwrap_or(exit) } else { exit })
}

fn finish(args: &RunArgs, session: &Session, report: &RunReport) -> anyhow::Result<Exit> {
    if args.timings {
        tell(show::timings(report));
    }
    print_skipped(report);
    match report.ending {
        Ending::Completed => {
            if let Some(output) = &report.output {
                match args.format {
                    Format::Text => write!(std::io::stdout().lock(), "{}", show::output(output))?,
                    format => load::print_json(format, &output.to_json())?,
                }
            }
            Ok(Exit::Fine)
        }
        Ending::Interrupted => {
            tell(format_args!("interrupted\n"));
            Ok(Exit::Interrupted)
        }
        Ending::Failed(_) => {
            load::print_report(&session.plan.report_run_failure(report));
            Ok(Exit::Failed)
        }
    }
}

/// Names the stages that failed and were allowed to: a result that lacks a part should not look whole.
fn print_skipped(report: &RunReport) {
    for stage in &report.stages {
        if let (Some(error), Some(reason), Ending::Completed) = (&stage.error, &stage.reason, report.ending) {
            let _ =
                writeln!(anstream::stderr(), "note: went on without the stage \"{}\": {reason} ({error})", stage.stage);
        }
    }
}

/// The inputs of the command line, with files and standard input read, each in the JSON form of its type.
fn given_inputs(plan: &Plan, arguments: &[String]) -> anyhow::Result<IndexMap<String, Json>> {
    let mut given = IndexMap::new();
    let mut stdin_taken = false;
    let mut take_stdin = || -> anyhow::Result<String> {
        if std::mem::replace(&mut stdin_taken, true) {
            return Err(Failure::wrong("standard input can be given to one --input only").into());
        }
        let mut text = String::new();
        std::io::stdin().lock().read_to_string(&mut text).map_err(|error| {
            Failure::wrong(format!("standard input could not be read: {error}")).hint("it must be UTF-8 text")
        })?;
        Ok(text)
    };
    for argument in arguments {
        if argument == "-" {
            given.extend(object_of(&take_stdin()?)?);
            continue;
        }
        let Some((name, value)) = argument.split_once('=') else {
            return Err(Failure::wrong(format!("--input {argument}: there is no \"=\" in it"))
                .hint("write --input NAME=VALUE, NAME=@FILE or NAME=-")
                .into());
        };
        let text = match value.strip_prefix('@') {
            Some(path) => std::fs::read_to_string(path)
                .map_err(|error| Failure::wrong(format!("--input {name}: {path} could not be read: {error}")))?,
            None if value == "-" => take_stdin()?,
            None => value.to_owned(),
        };
        if given.insert(name.to_owned(), typed(plan, name, text)?).is_some() {
            return Err(Failure::wrong(format!("the input \"{name}\" is given twice")).into());
        }
    }
    // A script that pipes an object in need not say so.
    if arguments.is_empty() && !plan.inputs().is_empty() && !std::io::stdin().is_terminal() {
        let text = take_stdin()?;
        if !text.trim().is_empty() {
            given.extend(object_of(&text)?);
        }
    }
    Ok(given)
}

fn object_of(text: &str) -> anyhow::Result<IndexMap<String, Json>> {
    serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| {
        Failure::wrong(format!("standard input is no JSON object of inputs: {error}"))
            .hint("write {\"NAME\": VALUE, …} with the names of the pipeline's inputs")
            .into()
    })
}

/// Text stays text; for other types the value is read as JSON.
fn typed(plan: &Plan, name: &str, text: String) -> anyhow::Result<Json> {
    let kind = plan.inputs().get(name).map_or(Type::Text, |spec| spec.kind);
    let looks_like_object = text.trim_start().starts_with('{');
    if kind == Type::Text || (kind == Type::Query && !looks_like_object) {
        return Ok(Json::String(text));
    }
    serde_json::from_str(&text).map_err(|error| {
        Failure::wrong(format!("--input {name}: a value of type {kind} is written as JSON: {error}")).into()
    })
}

/// The folder-independent name of a file for messages.
pub(crate) fn shown(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_owned() } else { path.display().to_string() }
}
