//! Runs a pipeline over the lines of a JSONL file: order kept, memory bounded, resumable.
//!
//! A record is a JSON object whose keys are inputs of the pipeline; other keys are left alone, and `id` comes back with
//! the result. The result is one line per record, in the order of the records: `{"record":0,"id":…,"output":…}`, or
//! `{"record":1,"error":{"code":…,"message":…}}` for one that failed (as everywhere, keys stand in alphabetical order).
//! Nothing in it depends on time or on the number of jobs, so that two runs can be compared byte by byte.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use serde_json::{Map, Value as Json, json};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;

use crate::run::{Ending, GRACE, RunOptions, Runner, Status};
use crate::trace::error_json;

/// The longest record that is read, in bytes. A longer line becomes an error record.
pub const LONGEST_RECORD: usize = 64 * 1024 * 1024;

/// How long a finished line may wait before it is written out.
const FLUSH_AFTER: Duration = Duration::from_millis(200);

/// How a batch runs.
#[derive(Clone, Default)]
pub struct BatchOptions {
    /// How many records are worked on at once; 0 stands for the number of processors. Memory grows with it.
    pub jobs: usize,
    /// Whether the first error record ends the batch.
    pub fail_fast: bool,
    /// How many records at the start of the input are done already.
    pub skip: usize,
    /// Passed on to each run; the record number is set by the batch.
    pub run: RunOptions,
}

/// How a batch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchEnding {
    /// All records were worked on.
    Completed,
    /// An error record ended it, as asked for.
    FailedFast,
    /// Somebody asked to stop.
    Interrupted,
}

/// What became of a batch.
#[derive(Clone, Debug)]
pub struct BatchReport {
    /// How it ended.
    pub ending: BatchEnding,
    /// What the lines written hold together, those of an earlier run included.
    pub tally: Tally,
    /// How many records this run worked on.
    pub worked_on: usize,
    /// How long it took.
    pub elapsed: Duration,
}

/// Counts and means over the lines of a result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Lines in all.
    pub records: usize,
    /// Lines that are errors.
    pub errors: usize,
    /// Sum and count of every number in the outputs, by name; a lone number is called `output`.
    sums: IndexMap<String, (f64, usize)>,
}

impl Tally {
    /// The mean of every number in the outputs, with the number of records that had it, in the order of appearance.
    pub fn means(&self) -> impl Iterator<Item = (&str, f64, usize)> {
        self.sums.iter().map(|(name, (sum, count))| (name.as_str(), sum / *count as f64, *count))
    }

    /// Counts one line of a result.
    pub(crate) fn count(&mut self, line: &Json) {
        self.records += 1;
        if line.get("error").is_some() {
            self.errors += 1;
        }
        match line.get("output") {
            Some(Json::Object(object)) => object.iter().for_each(|(name, value)| self.add(name, value)),
            Some(value) => self.add("output", value),
            None => {}
        }
    }

    fn add(&mut self, name: &str, value: &Json) {
        if let Some(number) = value.as_f64() {
            let (sum, count) = self.sums.entry(name.to_owned()).or_default();
            *sum += number;
            *count += 1;
        }
    }
}

/// Why a batch could not go on. What was written until then stands.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// The input could not be read.
    #[error("the input could not be read after record {after}: {error}")]
    Input {
        /// How many records had been read.
        after: usize,
        /// What the system says.
        error: io::Error,
    },
    /// The output could not be written.
    #[error("the output could not be written after record {after}: {error}")]
    Output {
        /// How many records had been written.
        after: usize,
        /// What the system says.
        error: io::Error,
    },
}

/// A record as it comes from the input.
enum Raw {
    Line(Vec<u8>),
    TooLong,
}

/// Runs `runner` over the records of `input`, writing to `output` in the order of the records.
///
/// `progress` is called after every line written, with the tally so far. At most twice `jobs` records are in memory.
/// Must be called within a multi-threaded tokio runtime.
///
/// # Errors
/// When the input cannot be read or the output cannot be written. A record that is wrong is no error of the batch.
///
/// ```
/// use std::io::Cursor;
/// use std::sync::Arc;
/// use hatir_pipeline::{BatchOptions, BuildOptions, Options, Registry, Runner, Source, Tally, compile, run_batch};
///
/// let file = "version = 1\n[pipeline]\ninput = { text = \"text\" }\noutput = \"tokens\"\n\
///     [stage.tokens]\nuse = \"budget.count\"\nin.text = \"$input.text\"\n";
/// let plan = compile(Source::new("p.toml", file), &Registry::standard(), &Options::default()).plan.unwrap();
/// let runner = Arc::new(Runner::build(Arc::new(plan), &BuildOptions::default()).unwrap());
/// let input = Cursor::new("{\"id\": \"a\", \"text\": \"one two\"}\n{\"text\": 7}\n");
///
/// let mut output = Vec::new();
/// let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
/// let report = runtime.block_on(async {
///     run_batch(&runner, input, &mut output, Tally::default(), &BatchOptions::default(), &mut |_| {}).await
/// });
/// let report = report.unwrap();
/// assert_eq!((report.tally.records, report.tally.errors), (2, 1));
/// assert!(output.starts_with(b"{\"id\":\"a\",\"output\":2,\"record\":0}\n"));
/// ```
pub async fn run_batch(
    runner: &Arc<Runner>,
    input: impl BufRead + Send + 'static,
    output: &mut (dyn Write + Send),
    mut tally: Tally,
    options: &BatchOptions,
    progress: &mut (dyn FnMut(&Tally) + Send),
) -> Result<BatchReport, BatchError> {
    let begun = Instant::now();
    let jobs = match options.jobs {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        jobs => jobs,
    };
    let permits = Arc::new(Semaphore::new(jobs));
    let mut records = read_records(input, options.skip, jobs);
    let mut under_way: VecDeque<JoinHandle<Option<Json>>> = VecDeque::with_capacity(jobs * 2);
    let mut next_record = options.skip;
    let mut worked_on = 0;
    let mut waiting: Option<Raw> = None;
    let mut input_ended = false;
    let mut input_error = None;
    let mut ending = BatchEnding::Completed;
    let cancel = options.run.cancel.clone();
    // Ends the runs under way without ending whatever else listens to the caller's signal.
    let stop = cancel.child();
    let mut flushed = Instant::now();

    loop {
        // Filling the window comes before waiting for the oldest record, so that the workers are never idle.
        let room = !input_ended && under_way.len() < jobs * 2;
        if input_ended && waiting.is_none() && under_way.is_empty() {
            break;
        }
        tokio::select! {
            biased;
            () = cancel.cancelled() => {
                ending = BatchEnding::Interrupted;
                break;
            }
            raw = records.recv(), if room && waiting.is_none() => match raw {
                Some(Ok(raw)) => waiting = Some(raw),
                Some(Err(error)) => {
                    input_error = Some(error);
                    input_ended = true;
                }
                None => input_ended = true,
            },
            // Permits are taken here and not in the tasks, so that records also start in order: with one job, effects
            // happen in the order of the input.
            permit = permits.clone().acquire_owned(), if waiting.is_some() => {
                let (Some(raw), Ok(permit)) = (waiting.take(), permit) else { break };
                let runner = runner.clone();
                let run = RunOptions { cancel: stop.clone(), ..options.run.clone() };
                let number = next_record;
                next_record += 1;
                under_way.push_back(tokio::spawn(async move {
                    let line = work_on(&runner, number, raw, run).await;
                    drop(permit);
                    line
                }));
            }
            line = oldest(&mut under_way), if !under_way.is_empty() => {
                under_way.pop_front();
                let Some(line) = line else {
                    ending = BatchEnding::Interrupted;
                    break;
                };
                let failed = line.get("error").is_some();
                write_line(output, &line).map_err(|error| BatchError::Output { after: tally.records, error })?;
                tally.count(&line);
                worked_on += 1;
                progress(&tally);
                // What is written out survives a kill; slow records are worth more than a write each.
                if flushed.elapsed() > FLUSH_AFTER {
                    output.flush().map_err(|error| BatchError::Output { after: tally.records, error })?;
                    flushed = Instant::now();
                }
                if failed && options.fail_fast {
                    ending = BatchEnding::FailedFast;
                    break;
                }
            }
        }
    }
    stop.cancel();
    let deadline = tokio::time::Instant::now() + GRACE;
    if ending == BatchEnding::Interrupted {
        // What is finished already, in order, is kept.
        while !under_way.is_empty() {
            let Ok(line) = tokio::time::timeout_at(deadline, oldest(&mut under_way)).await else { break };
            under_way.pop_front();
            // Behind a record that was broken off nothing can be written: the order would have a hole.
            let Some(line) = line else { break };
            write_line(output, &line).map_err(|error| BatchError::Output { after: tally.records, error })?;
            tally.count(&line);
            worked_on += 1;
        }
    }
    // The others get their time to end their children; their results are not wanted.
    let _ = tokio::time::timeout_at(deadline, async {
        for task in under_way {
            let _ = task.await;
        }
    })
    .await;
    output.flush().map_err(|error| BatchError::Output { after: tally.records, error })?;
    match input_error {
        Some(error) => Err(BatchError::Input { after: tally.records, error }),
        None => Ok(BatchReport { ending, tally, worked_on, elapsed: begun.elapsed() }),
    }
}

/// The result of the record that was started first. Cancel-safe: the task stays in the queue until it is popped.
async fn oldest(under_way: &mut VecDeque<JoinHandle<Option<Json>>>) -> Option<Json> {
    match under_way.front_mut() {
        // A stage that panics is caught in the run; the join fails only when the task was aborted.
        Some(task) => task.await.ok().flatten(),
        None => std::future::pending().await,
    }
}

fn write_line(output: &mut dyn Write, line: &Json) -> io::Result<()> {
    serde_json::to_writer(&mut *output, line)?;
    output.write_all(b"\n")
}

/// One record, from bytes to its line; nothing when the run was interrupted.
async fn work_on(runner: &Runner, number: usize, raw: Raw, run: RunOptions) -> Option<Json> {
    let wrong = |id: Option<Json>, message: String| {
        line_of(number, id, "error", json!({ "code": "E0307", "message": message }))
    };
    let mut record = match raw {
        Raw::TooLong => return Some(wrong(None, format!("the record is longer than {LONGEST_RECORD} bytes"))),
        Raw::Line(bytes) => match serde_json::from_slice::<IndexMap<String, Json>>(&bytes) {
            Ok(record) => record,
            Err(error) => return Some(wrong(None, format!("the record is no JSON object: {error}"))),
        },
    };
    // An input of the name `id` is still an input.
    let id = record.get("id").cloned();
    if !runner.plan().inputs.contains_key("id") {
        record.shift_remove("id");
    }
    let inputs = match runner.read_inputs(record, true) {
        Ok(inputs) => inputs,
        Err(problems) => return Some(wrong(id, problems.join("; "))),
    };
    let report = runner.run(&inputs, &RunOptions { record: Some(number), ..run }).await;
    match (report.ending, &report.output) {
        (Ending::Completed, Some(output)) => Some(line_of(number, id, "output", output.to_json())),
        (Ending::Failed(at), _) => {
            let stage = &report.stages[at];
            let code = match stage.status {
                Status::TimedOut => "E0302",
                Status::Panicked => "E0303",
                _ => "E0301",
            };
            let mut error = stage.error.as_ref().map_or_else(|| json!({}), error_json);
            if let Some(error) = error.as_object_mut() {
                error.insert("code".into(), json!(code));
                error.insert("stage".into(), json!(&*stage.stage));
                error.insert("kind".into(), json!(&*stage.kind));
            }
            Some(line_of(number, id, "error", error))
        }
        (Ending::Interrupted | Ending::Completed, _) => None,
    }
}

fn line_of(number: usize, id: Option<Json>, key: &str, value: Json) -> Json {
    let mut line = Map::new();
    line.insert("record".into(), json!(number));
    if let Some(id) = id {
        line.insert("id".into(), id);
    }
    line.insert(key.into(), value);
    Json::Object(line)
}

/// Reads records on a thread of its own, since reading may block (a pipe that is slow to fill).
fn read_records(
    mut input: impl BufRead + Send + 'static,
    skip: usize,
    ahead: usize,
) -> mpsc::Receiver<io::Result<Raw>> {
    let (sender, receiver) = mpsc::channel(ahead.max(1));
    std::thread::spawn(move || {
        let mut skipped = 0;
        loop {
            match next_record(&mut input) {
                Ok(None) => return,
                Ok(Some(_)) if skipped < skip => skipped += 1,
                Ok(Some(raw)) => {
                    if sender.blocking_send(Ok(raw)).is_err() {
                        return;
                    }
                }
                Err(error) => {
                    // Nobody listens any more when this fails, so there is nobody to tell.
                    let _ = sender.blocking_send(Err(error));
                    return;
                }
            }
        }
    });
    receiver
}

/// The next line that is not blank.
fn next_record(input: &mut impl BufRead) -> io::Result<Option<Raw>> {
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(LONGEST_RECORD as u64 + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        if line.len() > LONGEST_RECORD && line.last() != Some(&b'\n') {
            input.skip_until(b'\n')?;
            return Ok(Some(Raw::TooLong));
        }
        if !line.trim_ascii().is_empty() {
            return Ok(Some(Raw::Line(line)));
        }
    }
}

impl fmt::Debug for BatchOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("BatchOptions")
            .field("jobs", &self.jobs)
            .field("fail_fast", &self.fail_fast)
            .field("skip", &self.skip)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_are_no_records_and_the_last_line_needs_no_end() {
        let mut input = io::Cursor::new(b"{\"a\":1}\n\n  \r\n{\"a\":2}".to_vec());
        let mut lines = Vec::new();
        while let Some(Raw::Line(line)) = next_record(&mut input).unwrap() {
            lines.push(String::from_utf8(line).unwrap());
        }
        assert_eq!(lines, ["{\"a\":1}\n", "{\"a\":2}"]);
    }

    #[test]
    fn an_endless_line_is_refused_and_the_next_one_is_read() {
        let endless = io::repeat(b'x').take(LONGEST_RECORD as u64 + 10);
        let mut input = io::BufReader::new(endless.chain(&b"\n{}\n"[..]));
        assert!(matches!(next_record(&mut input).unwrap(), Some(Raw::TooLong)));
        assert!(matches!(next_record(&mut input).unwrap(), Some(Raw::Line(line)) if line == b"{}\n"));
        assert!(next_record(&mut input).unwrap().is_none());
    }

    #[test]
    fn means_are_taken_over_the_records_that_have_the_number() {
        let mut tally = Tally::default();
        tally.count(&json!({ "record": 0, "output": { "recall": 1.0, "note": "x" } }));
        tally.count(&json!({ "record": 1, "error": { "message": "no" } }));
        tally.count(&json!({ "record": 2, "output": { "recall": 0.5, "late": 3 } }));
        let means: Vec<_> = tally.means().collect();
        assert_eq!(means, [("recall", 0.75, 2), ("late", 3.0, 1)]);
        assert_eq!((tally.records, tally.errors), (3, 1));
    }
}
