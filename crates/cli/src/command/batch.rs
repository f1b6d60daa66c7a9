//! `hatir run --batch`: a pipeline over the lines of a JSONL file.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, IsTerminal, Read, Write};
use std::path::Path;
use std::time::Duration;

use hatir_pipeline::{
    BatchEnding, BatchError, BatchFile, BatchFileError, BatchOptions, BatchReport, Earlier, PlannedStage, Tally,
    fingerprint_file, fingerprint_text, run_batch,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::run::{Session, shown};
use crate::args::{BatchArgs, Format, RunArgs};
use crate::exit::{Exit, Failure, tell};
use crate::{load, show, signals};

pub(crate) fn run(args: &RunArgs, session: &Session) -> anyhow::Result<Exit> {
    let batch = &args.batch;
    let Some(input_path) = &batch.batch else { return Ok(Exit::Wrong) };
    let input = open_input(input_path)?;
    let mut out = match &batch.out {
        Some(path) => match open_result(path, input_path, batch, session, args.trace.as_deref())? {
            Some(file) => Some(file),
            None => return Ok(Exit::Fine),
        },
        None => None,
    };
    let before = out.as_ref().map(|file| file.tally().clone()).unwrap_or_default();
    let options = BatchOptions {
        jobs: usize::from(batch.jobs),
        fail_fast: batch.fail_fast,
        skip: before.records,
        run: session.options.clone(),
    };
    let bar = progress_bar(input_path);
    bar.set_position(before.records as u64);
    let mut progress = |tally: &Tally| {
        bar.set_position(tally.records as u64);
        if tally.errors > 0 {
            bar.set_message(format!("{} failed", tally.errors));
        }
    };
    signals::cancel_on_signal(&session.options.cancel);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(async {
        let mut stdout = BufWriter::new(std::io::stdout());
        let output: &mut (dyn Write + Send) = match &mut out {
            Some(file) => file,
            None => &mut stdout,
        };
        run_batch(&session.runner, input, output, before, &options, &mut progress).await
    });
    runtime.shutdown_background();
    bar.finish_and_clear();
    let completed = result.as_ref().is_ok_and(|report| report.ending == BatchEnding::Completed);
    let flushed = session.end(completed)?;
    let report = match result {
        Ok(report) => report,
        Err(error) => return Err(explain_error(error, batch)),
    };
    if let Some(file) = out
        && report.ending == BatchEnding::Completed
    {
        file.finish().map_err(|error| Failure::failed(error.to_string()))?;
    }
    if batch.summary {
        print_summary(&report.tally, args.format)?;
    }
    let exit = conclude(&report, batch);
    Ok(if exit == Exit::Fine { flushed.err().unwrap_or(exit) } else { exit })
}

fn open_input(path: &Path) -> anyhow::Result<Box<dyn BufRead + Send>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(BufReader::new(std::io::stdin())));
    }
    let problem =
        |error: &std::io::Error| Failure::wrong(format!("{}: the batch could not be read: {error}", path.display()));
    let file = File::open(path).map_err(|error| problem(&error))?;
    if file.metadata().is_ok_and(|found| found.is_dir()) {
        return Err(Failure::wrong(format!("{} is a folder; --batch takes a JSONL file", path.display())).into());
    }
    Ok(Box::new(BufReader::with_capacity(1 << 16, file)))
}

/// Opens the result file; nothing when there is nothing left to do.
fn open_result(
    path: &Path,
    input: &Path,
    batch: &BatchArgs,
    session: &Session,
    trace: Option<&Path>,
) -> anyhow::Result<Option<BatchFile>> {
    let read = [(input, "the input of the batch"), (session.plan.path(), "the pipeline file")];
    for (other, what) in read.into_iter().chain(trace.map(|trace| (trace, "the trace"))) {
        if same_file(path, other) {
            return Err(Failure::wrong(format!("--out {} is {what}", path.display())).hint("name another file").into());
        }
    }
    let replacing = |stage: &&PlannedStage| stage.kind() == "write.jsonl" && stage.with()["mode"] == "replace";
    if let Some(stage) = session.plan.stages().iter().find(replacing).filter(|_| batch.resume) {
        let name = stage.name();
        return Err(Failure::wrong(format!(
            "the stage \"{name}\" writes its file anew, so that after --resume it would hold only the rest"
        ))
        .hint(format!("begin anew with --restart, or add to the file: --set stage.{name}.with.mode=append"))
        .into());
    }
    let earlier = match (batch.resume, batch.restart) {
        (true, _) => Earlier::Continue,
        (_, true) => Earlier::Discard,
        _ => Earlier::Refuse,
    };
    // The unfinished result stands beside the file that a link leads to.
    let mut part = path.canonicalize().unwrap_or_else(|_| path.to_owned()).into_os_string();
    part.push(".part");
    if batch.resume && path.is_file() && !Path::new(&part).exists() {
        tell(format_args!("{} is complete; there is nothing to resume\n", path.display()));
        return Ok(None);
    }
    // What a pipeline does is its resolved plan: a variable or a --set that differs makes it another one.
    let pipeline = fingerprint_text(&session.plan.explain_json().to_string());
    // A pipe can be read only once, and not here.
    let input = if input.is_file() { fingerprint_file(input)? } else { "a stream".to_owned() };
    match BatchFile::open(path, &pipeline, &input, earlier) {
        Ok(file) => Ok(Some(file)),
        Err(error) => {
            let message = error.to_string();
            Err(match error {
                BatchFileError::Unfinished { .. } => {
                    Failure::wrong(message).hint("--resume goes on with it, --restart throws it away")
                }
                BatchFileError::Other { .. } | BatchFileError::Damaged { .. } => {
                    Failure::wrong(message).hint("--restart throws it away and begins anew")
                }
                BatchFileError::Busy { .. } => Failure::failed(message).hint("wait for that process, or end it"),
                _ => Failure::failed(message).hint("see that the folder exists, can be written to and has room"),
            }
            .into())
        }
    }
}

/// Whether two paths lead to the same regular file.
fn same_file(one: &Path, other: &Path) -> bool {
    one.is_file() && one.canonicalize().ok().is_some_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

fn explain_error(error: BatchError, batch: &BatchArgs) -> anyhow::Error {
    match error {
        // The reader of our standard output is gone: `main` ends quietly.
        BatchError::Output { error, .. } if batch.out.is_none() => error.into(),
        BatchError::Output { .. } => Failure::failed(error.to_string())
            .hint("what was written is kept: make room, then go on with --resume")
            .into(),
        other => Failure::failed(other.to_string()).into(),
    }
}

/// A bar on standard error when it is a terminal, and nothing otherwise.
fn progress_bar(input: &Path) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    }
    let bar = ProgressBar::with_draw_target(count_lines(input), ProgressDrawTarget::stderr_with_hz(10));
    let template = match bar.length() {
        Some(_) => "{bar:30} {pos}/{len} records, {per_sec}, {eta} left  {msg}",
        None => "{spinner} {pos} records, {per_sec}  {msg}",
    };
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// The number of lines of a file; nothing for a stream, which can be read only once.
#[expect(clippy::naive_bytecount, reason = "it counts for a progress bar; a dependency would be too much")]
fn count_lines(path: &Path) -> Option<u64> {
    let file = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|found| found.is_file()))?;
    let mut reader = BufReader::new(file);
    let mut count = 0;
    let mut block = vec![0; 1 << 16];
    loop {
        match reader.read(&mut block).ok()? {
            0 => return Some(count),
            read => count += block[..read].iter().filter(|byte| **byte == b'\n').count() as u64,
        }
    }
}

fn print_summary(tally: &Tally, format: Format) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    if format == Format::Text {
        let width = tally.means().map(|(name, _, _)| name.chars().count()).max().unwrap_or(0).max(7);
        writeln!(stdout, "{:width$}  {}", "records", tally.records)?;
        writeln!(stdout, "{:width$}  {}", "failed", tally.errors)?;
        for (name, mean, count) in tally.means() {
            writeln!(stdout, "{name:width$}  {mean:.4}  (mean of {count})")?;
        }
        return Ok(());
    }
    let means: serde_json::Map<_, _> = tally
        .means()
        .map(|(name, mean, count)| (name.to_owned(), serde_json::json!({ "mean": mean, "records": count })))
        .collect();
    drop(stdout);
    load::print_json(format, &serde_json::json!({ "records": tally.records, "failed": tally.errors, "means": means }))
}

/// Says on standard error how the batch ended.
fn conclude(report: &BatchReport, batch: &BatchArgs) -> Exit {
    let tally = &report.tally;
    let speed = report.worked_on as f64 / report.elapsed.as_secs_f64().max(1e-9);
    let result = batch.out.as_deref().map(|path| format!(" -> {}", shown(path))).unwrap_or_default();
    match report.ending {
        BatchEnding::Completed => {
            let (records, failed, took) = (tally.records, tally.errors, show::duration(report.elapsed));
            tell(format_args!("{records} records, {failed} failed, in {took} ({speed:.0} a second){result}\n"));
            if tally.errors == 0 { Exit::Fine } else { Exit::Failed }
        }
        BatchEnding::FailedFast => {
            let record = tally.records.saturating_sub(1);
            tell(format_args!("stopped at record {record}, which failed (--fail-fast)\n"));
            Exit::Failed
        }
        BatchEnding::Interrupted => {
            let remedy = if batch.out.is_some() { "; go on with --resume" } else { "" };
            tell(format_args!("interrupted after {} records{remedy}\n", tally.records));
            Exit::Interrupted
        }
    }
}
