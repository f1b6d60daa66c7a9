//! Runs a pipeline over the lines of a JSONL file: order kept, memory bounded, resumable.
//!
//! A record is a JSON object whose keys are inputs of the pipeline; other keys are left alone, and `id` comes back with
//! the result. The result is one line per record, in the order of the records: `{"record":0,"id":…,"output":…}`, or
//! `{"record":1,"error":{"code":…,"message":…}}` for one that failed.
//! Nothing in it depends on time or on the number of jobs, so that two runs can be compared byte by byte.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Value as Json, json};
use tokio::sync::{Semaphore, mpsc};

use crate::cancel::Cancel;
use crate::run::{Ending, GRACE, OutputValue, RunOptions, Runner, Status};
use crate::trace::error_json;
use crate::value::Value;

/// The longest record that is read, in bytes. A longer line becomes an error record.
pub const LONGEST_RECORD: usize = 64 * 1024 * 1024;

/// The most records that are worked on at once; each takes a thread.
pub const MOST_JOBS: usize = 1024;

/// How many records for each job may be between being read and being written.
const WINDOW: usize = 16;

/// How many finished lines of one job go to the writing thread together, at most: this many, this many bytes, or what
/// was finished within this time.
const TOGETHER: usize = 8;
const TOGETHER_BYTES: usize = 1 << 16;
const TOGETHER_TIME: Duration = Duration::from_millis(5);

/// How long a finished line may wait before it is written out.
const FLUSH_AFTER: Duration = Duration::from_millis(100);

/// How a batch runs.
#[derive(Clone, Default)]
pub struct BatchOptions {
    /// How many records are worked on at once, at most [`MOST_JOBS`]; 0 stands for the number of processors. Memory
    /// grows with it.
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
    sums: BTreeMap<String, (f64, usize)>,
}

impl Tally {
    /// The mean of every number in the outputs, with the number of records that had it, by name.
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
            self.add_number(name, number);
        }
    }

    fn add_number(&mut self, name: &str, number: f64) {
        let (sum, count) = self.sums.entry(name.to_owned()).or_default();
        *sum += number;
        *count += 1;
    }

    /// Counts a line that this run made.
    fn add_line(&mut self, line: &Line) {
        self.records += 1;
        self.errors += usize::from(line.failed);
        for (name, number) in &line.numbers {
            self.add_number(name, *number);
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

/// The input, shared by the threads that work on it.
struct Records {
    input: BufReader<Box<dyn Read + Send>>,
    next: usize,
    skip: usize,
    begun: bool,
    ended: bool,
}

impl Records {
    /// Whether the next record is here already, so that taking it does not wait for the other end of a pipe.
    fn is_at_hand(&self) -> bool {
        self.ended || self.input.buffer().contains(&b'\n')
    }

    /// The next record with its number.
    fn take(&mut self) -> io::Result<Option<(usize, Raw)>> {
        while !self.ended {
            if !self.begun {
                self.begun = true;
                skip_mark(&mut self.input)?;
            }
            match next_record(&mut self.input) {
                Ok(Some(_)) if self.skip > 0 => self.skip -= 1,
                Ok(Some(raw)) => {
                    self.next += 1;
                    return Ok(Some((self.next - 1, raw)));
                }
                Ok(None) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
            }
        }
        Ok(None)
    }
}

/// What a working thread hands over: finished records by number, or why there are no more.
enum Message {
    Lines(Vec<(usize, Line)>),
    InputFailed(io::Error),
}

/// A finished line, with what the tally counts in it.
struct Line {
    bytes: Vec<u8>,
    failed: bool,
    numbers: Vec<(String, f64)>,
}

/// Runs `runner` over the records of `input`, writing to `output` in the order of the records.
///
/// Each of the `jobs` has a thread that takes the next record, works on it and hands the line over; records start in the
/// order of the input, so that with one job effects happen in that order too. `progress` is called after every line
/// written, with the tally so far. At most 16 records for each job are in memory. Must be called within a tokio runtime
/// whose timers run (a multi-threaded one).
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
/// assert!(output.starts_with(b"{\"record\":0,\"id\":\"a\",\"output\":2}\n"));
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
        jobs => jobs.min(MOST_JOBS),
    };
    let cancel = options.run.cancel.clone();
    // Ends the runs under way without ending whatever else listens to the caller's signal.
    let stop = cancel.child();
    let mut messages = start_workers(runner, Box::new(input), jobs, options, &stop);

    let mut early: BTreeMap<usize, Line> = BTreeMap::new();
    let mut next = options.skip;
    let mut worked_on = 0;
    let mut input_error = None;
    let mut ending = BatchEnding::Completed;
    let mut flush_at: Option<tokio::time::Instant> = None;
    let mut deadline = None;
    loop {
        let message = tokio::select! {
            biased;
            () = cancel.cancelled(), if deadline.is_none() => {
                // What is finished, in order, is still taken; the others get their time to end their children.
                ending = BatchEnding::Interrupted;
                deadline = Some(tokio::time::Instant::now() + GRACE);
                messages.window.close();
                continue;
            }
            () = until(deadline) => break,
            // What is written out survives a kill, and a reader behind a pipe sees it.
            () = until(flush_at) => {
                output.flush().map_err(|error| BatchError::Output { after: tally.records, error })?;
                flush_at = None;
                continue;
            }
            message = messages.lines.recv() => message,
        };
        match message {
            // All threads are through.
            None => break,
            Some(Message::InputFailed(error)) => input_error = Some(error),
            Some(Message::Lines(lines)) => early.extend(lines),
        }
        while let Some(line) = early.remove(&next) {
            if ending == BatchEnding::FailedFast {
                break;
            }
            output.write_all(&line.bytes).map_err(|error| BatchError::Output { after: tally.records, error })?;
            tally.add_line(&line);
            next += 1;
            worked_on += 1;
            messages.window.add_permits(1);
            progress(&tally);
            if line.failed && options.fail_fast {
                ending = BatchEnding::FailedFast;
                stop.cancel();
                messages.window.close();
                deadline = Some(tokio::time::Instant::now() + GRACE);
            }
        }
        flush_at = flush_at.or_else(|| Some(tokio::time::Instant::now() + FLUSH_AFTER));
    }
    output.flush().map_err(|error| BatchError::Output { after: tally.records, error })?;
    // Lines behind a record that never came: the result has a hole there and must not pass for a whole one.
    if ending == BatchEnding::Completed && !early.is_empty() {
        ending = BatchEnding::Interrupted;
    }
    if let Some(error) = input_error {
        return Err(BatchError::Input { after: tally.records, error });
    }
    Ok(BatchReport { ending, tally, worked_on, elapsed: begun.elapsed() })
}

async fn until(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Where the lines come from, and the permits for records between being read and being written.
struct Messages {
    lines: mpsc::UnboundedReceiver<Message>,
    window: Arc<Semaphore>,
    stop: Cancel,
}

/// Ends the working threads, and what they started, when the batch ends early for whatever reason, an error of the
/// output included.
impl Drop for Messages {
    fn drop(&mut self) {
        self.window.close();
        self.stop.cancel();
    }
}

fn start_workers(
    runner: &Arc<Runner>,
    input: Box<dyn Read + Send>,
    jobs: usize,
    options: &BatchOptions,
    stop: &Cancel,
) -> Messages {
    let input = BufReader::with_capacity(1 << 16, input);
    let records =
        Arc::new(Mutex::new(Records { input, next: options.skip, skip: options.skip, begun: false, ended: false }));
    let window = Arc::new(Semaphore::new(jobs * WINDOW));
    // Bounded by the window.
    let (sender, lines) = mpsc::unbounded_channel();
    let runtime = tokio::runtime::Handle::current();
    for _ in 0..jobs {
        let worker = Worker {
            runner: runner.clone(),
            records: records.clone(),
            window: window.clone(),
            sender: sender.clone(),
            run: RunOptions { cancel: stop.clone(), own_thread: true, ..options.run.clone() },
        };
        let runtime = runtime.clone();
        std::thread::spawn(move || worker.work(&runtime));
    }
    Messages { lines, window, stop: stop.clone() }
}

/// One of the `jobs`.
struct Worker {
    runner: Arc<Runner>,
    records: Arc<Mutex<Records>>,
    window: Arc<Semaphore>,
    sender: mpsc::UnboundedSender<Message>,
    run: RunOptions,
}

impl Worker {
    fn work(self, runtime: &tokio::runtime::Handle) {
        let mut done = Done { sender: self.sender.clone(), lines: Vec::new(), bytes: 0, since: Instant::now() };
        loop {
            // A place in the window is given back by whoever writes the line, not by this thread.
            let place = match self.window.try_acquire() {
                Ok(place) => place,
                Err(_) => {
                    done.hand_over();
                    match runtime.block_on(self.window.acquire()) {
                        Ok(place) => place,
                        Err(_) => return,
                    }
                }
            };
            place.forget();
            if self.run.cancel.is_cancelled() {
                return;
            }
            let taken = {
                let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
                if !records.is_at_hand() {
                    done.hand_over();
                }
                records.take()
            };
            match taken {
                Ok(Some((number, raw))) => {
                    let run = RunOptions { record: Some(number), ..self.run.clone() };
                    // A stage that panics is caught in the run; an observer from outside may panic as well.
                    let work = AssertUnwindSafe(|| runtime.block_on(work_on(&self.runner, number, raw, run)));
                    match std::panic::catch_unwind(work) {
                        Ok(Some(line)) => done.add(number, line),
                        // The run was interrupted, and what comes behind it cannot be written either.
                        Ok(None) => return,
                        Err(_) => done.add(number, wrong(number, None, "E0303", "working on the record panicked")),
                    }
                }
                Ok(None) => return,
                Err(error) => {
                    // Nobody listens any more when the batch has ended.
                    let _ = self.sender.send(Message::InputFailed(error));
                    return;
                }
            }
        }
    }
}

/// The finished records that a thread has not handed over yet.
///
/// Waking the writing thread costs some microseconds, which quick records would feel; so a few of them go together.
struct Done {
    sender: mpsc::UnboundedSender<Message>,
    lines: Vec<(usize, Line)>,
    bytes: usize,
    since: Instant,
}

impl Done {
    fn add(&mut self, number: usize, line: Line) {
        self.bytes += line.bytes.len();
        self.lines.push((number, line));
        if self.lines.len() >= TOGETHER || self.bytes >= TOGETHER_BYTES || self.since.elapsed() >= TOGETHER_TIME {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        if !self.lines.is_empty() {
            // Nobody listens any more when the batch has ended.
            let _ = self.sender.send(Message::Lines(std::mem::take(&mut self.lines)));
            self.bytes = 0;
        }
        self.since = Instant::now();
    }
}

/// What is finished is handed over however the thread ends.
impl Drop for Done {
    fn drop(&mut self) {
        self.hand_over();
    }
}

/// One record, from bytes to its line; nothing when the run was interrupted.
async fn work_on(runner: &Runner, number: usize, raw: Raw, run: RunOptions) -> Option<Line> {
    let mut record = match raw {
        Raw::TooLong => {
            return Some(wrong(number, None, "E0307", &format!("the record is longer than {LONGEST_RECORD} bytes")));
        }
        Raw::Line(bytes) => match serde_json::from_slice::<IndexMap<String, Json>>(&bytes) {
            Ok(record) => record,
            Err(error) => {
                return Some(wrong(number, None, "E0307", &format!("the record is no JSON object: {error}")));
            }
        },
    };
    // An input of the name `id` is still an input.
    let id = record.get("id").cloned();
    if !runner.plan().inputs.contains_key("id") {
        record.shift_remove("id");
    }
    let inputs = match runner.read_inputs(record, true) {
        Ok(inputs) => inputs,
        Err(problems) => return Some(wrong(number, id, "E0307", &problems.join("; "))),
    };
    let report = runner.run(&inputs, &run).await;
    match (report.ending, &report.output) {
        (Ending::Completed, Some(output)) => {
            Some(line(&Form { record: number, id, output: Some(output), error: None }, false, numbers_of(output)))
        }
        (Ending::Failed(at), _) => {
            let stage = &report.stages[at];
            let code = match stage.status {
                Status::TimedOut => "E0302",
                Status::Panicked => "E0303",
                _ => "E0301",
            };
            let mut error = stage.error.as_ref().map_or_else(|| json!({}), error_json);
            error["code"] = json!(code);
            error["stage"] = json!(&*stage.stage);
            error["kind"] = json!(&*stage.kind);
            Some(line(&Form { record: number, id, output: None, error: Some(error) }, true, Vec::new()))
        }
        (Ending::Interrupted | Ending::Completed, _) => None,
    }
}

/// The form of a line.
#[derive(Serialize)]
struct Form<'output> {
    record: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'output OutputValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Json>,
}

fn line(form: &Form<'_>, failed: bool, numbers: Vec<(String, f64)>) -> Line {
    // Writing JSON into memory cannot fail: all keys are strings.
    let mut bytes = serde_json::to_vec(form).unwrap_or_default();
    bytes.push(b'\n');
    Line { bytes, failed, numbers }
}

fn wrong(number: usize, id: Option<Json>, code: &str, message: &str) -> Line {
    let error = json!({ "code": code, "message": message });
    line(&Form { record: number, id, output: None, error: Some(error) }, true, Vec::new())
}

/// The numbers of an output that a tally counts, the same that it finds in the JSON of a line.
fn numbers_of(output: &OutputValue) -> Vec<(String, f64)> {
    let number = |value: &Value| match value {
        Value::Number(number) => number.is_finite().then_some(*number),
        Value::Json(json) => json.as_f64(),
        _ => None,
    };
    match output {
        OutputValue::One(value) => {
            value.as_ref().and_then(number).map(|number| ("output".to_owned(), number)).into_iter().collect()
        }
        OutputValue::Many(values) => {
            values.iter().filter_map(|(name, value)| Some((name.clone(), number(value.as_ref()?)?))).collect()
        }
    }
}

/// Leaves out a byte order mark, with which some editors begin a file.
fn skip_mark(input: &mut impl BufRead) -> io::Result<()> {
    const MARK: &[u8] = "\u{feff}".as_bytes();
    if input.fill_buf()?.starts_with(MARK) {
        input.consume(MARK.len());
    }
    Ok(())
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
        assert_eq!(means, [("late", 3.0, 1), ("recall", 0.75, 2)]);
        assert_eq!((tally.records, tally.errors), (3, 1));
    }
}
