//! Batches: order, bounded work, errors as records, and going on after an interruption.

#![allow(clippy::unwrap_used, reason = "a test may unwrap")]

mod support;

use std::io::{Cursor, Write};
use std::sync::Arc;

use hatir_pipeline::{
    BatchEnding, BatchError, BatchFile, BatchOptions, Cancel, Earlier, RunOptions, Runner, Tally, run_batch,
};
use serde_json::{Value as Json, json};
use support::build;

const ECHO: &str = r#"
    version = 1
    [pipeline]
    input = { n = "number" }
    output = { echo = "echo", n = "$input.n" }
    [stage.echo]
    use = "test.probe"
    in.need = "$input.n"
"#;

fn records(count: usize) -> Cursor<Vec<u8>> {
    let lines: Vec<String> =
        (0..count).map(|n| json!({ "id": format!("r{n}"), "n": n, "other": true }).to_string()).collect();
    Cursor::new(lines.join("\n").into_bytes())
}

async fn all(
    runner: &Arc<Runner>,
    input: Cursor<Vec<u8>>,
    options: &BatchOptions,
) -> (Vec<Json>, hatir_pipeline::BatchReport) {
    let mut out = Vec::new();
    let report = run_batch(runner, input, &mut out, Tally::default(), options, &mut |_| {}).await.unwrap();
    let lines = String::from_utf8(out).unwrap();
    (lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), report)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_order_is_kept_whatever_the_number_of_jobs() {
    let runner = Arc::new(build(ECHO));
    let mut results = Vec::new();
    for jobs in [1, 2, 7] {
        let (lines, report) = all(&runner, records(200), &BatchOptions { jobs, ..BatchOptions::default() }).await;
        assert_eq!(report.ending, BatchEnding::Completed);
        assert_eq!((report.tally.records, report.tally.errors), (200, 0));
        assert_eq!(report.tally.means().collect::<Vec<_>>(), [("n", 99.5, 200)]);
        assert_eq!(lines[17], json!({ "record": 17, "id": "r17", "output": { "echo": ["echo", [17]], "n": 17 } }));
        results.push(lines);
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_record_is_an_error_record_and_the_rest_goes_on() {
    let runner = Arc::new(build(ECHO));
    let input = b"{\"n\":1}\nnot json\n[1]\n{\"n\":\"two\",\"id\":9}\n{}\n\xff\xfe\n{\"n\":7}\n".to_vec();
    let (lines, report) = all(&runner, Cursor::new(input.clone()), &BatchOptions::default()).await;
    assert_eq!((report.tally.records, report.tally.errors), (7, 5));
    assert_eq!(lines[6]["output"]["n"], 7);
    for line in &lines[1..6] {
        assert_eq!(line["error"]["code"], "E0307", "{line}");
    }
    assert_eq!(lines[3]["id"], 9);
    assert_eq!(
        lines[3]["error"]["message"],
        "the input \"n\" is not a value of type number: found a string, expected a number"
    );

    let fast = BatchOptions { fail_fast: true, jobs: 3, ..BatchOptions::default() };
    let (lines, report) = all(&runner, Cursor::new(input), &fast).await;
    assert_eq!(report.ending, BatchEnding::FailedFast);
    assert_eq!(lines.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_stage_is_named_in_its_record() {
    let text = ECHO.replace("use = \"test.probe\"", "use = \"test.probe\"\nwith.fail = 1");
    let runner = Arc::new(build(&text));
    let (lines, report) = all(&runner, records(3), &BatchOptions { jobs: 1, ..BatchOptions::default() }).await;
    assert_eq!(report.tally.errors, 1);
    assert_eq!(
        lines[0]["error"],
        json!({ "code": "E0301", "stage": "echo", "kind": "test.probe", "message": "asked to fail, try 1" })
    );
    assert_eq!(lines[2]["output"]["n"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_was_broken_off_is_continued_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.jsonl");
    let runner = Arc::new(build(ECHO));
    let mut whole = Vec::new();
    run_batch(&runner, records(100), &mut whole, Tally::default(), &BatchOptions::default(), &mut |_| {})
        .await
        .unwrap();

    // Broken off at every kind of place: at once, between lines, in the middle of one, before the last byte.
    for cut in [0, 1, 57, whole.len() / 2, whole.len() - 1, whole.len()] {
        let mut file = BatchFile::open(&path, "p", "i", Earlier::Discard).unwrap();
        file.write_all(&whole[..cut]).unwrap();
        file.flush().unwrap();
        drop(file);
        let mut file = BatchFile::open(&path, "p", "i", Earlier::Continue).unwrap();
        let tally = file.tally().clone();
        let options = BatchOptions { skip: tally.records, ..BatchOptions::default() };
        let report = run_batch(&runner, records(100), &mut file, tally, &options, &mut |_| {}).await.unwrap();
        file.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), whole, "cut at {cut}");
        assert_eq!(report.tally.means().collect::<Vec<_>>(), [("n", 49.5, 100)]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_batch_keeps_what_it_has() {
    let text = ECHO.replace("use = \"test.probe\"", "use = \"test.probe\"\nwith.work-ms = 5");
    let runner = Arc::new(build(&text));
    let cancel = Cancel::new();
    let options = BatchOptions {
        jobs: 2,
        run: RunOptions { cancel: cancel.clone(), ..RunOptions::default() },
        ..BatchOptions::default()
    };
    let mut out = Vec::new();
    let mut stop_after_ten = |tally: &Tally| {
        if tally.records == 10 {
            cancel.cancel();
        }
    };
    let report =
        run_batch(&runner, records(10_000), &mut out, Tally::default(), &options, &mut stop_after_ten).await.unwrap();
    assert_eq!(report.ending, BatchEnding::Interrupted);
    assert!((10..20).contains(&report.tally.records), "{}", report.tally.records);
    let text = String::from_utf8(out).unwrap();
    for (at, line) in text.lines().enumerate() {
        assert_eq!(serde_json::from_str::<Json>(line).unwrap()["record"], at);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_ends_the_batch_with_a_word() {
    let runner = Arc::new(build(ECHO));
    let mut full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let result =
        run_batch(&runner, records(10), &mut full, Tally::default(), &BatchOptions::default(), &mut |_| {}).await;
    let error = result.err().unwrap();
    assert!(
        matches!(&error, BatchError::Output { error, .. } if error.kind() == std::io::ErrorKind::StorageFull),
        "{error}"
    );
}

/// Counts what is read through it.
struct Counted(Cursor<Vec<u8>>, Arc<std::sync::atomic::AtomicUsize>);

impl std::io::Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.0.read(buffer)?;
        self.1.fetch_add(read, std::sync::atomic::Ordering::SeqCst);
        Ok(read)
    }
}

/// What is read and not yet written stays within 16 records a job and the buffers, however long the input is.
#[tokio::test(flavor = "multi_thread")]
async fn the_input_is_not_read_ahead_of_the_work() {
    const RECORD: usize = 4_000;
    const BUFFERS: usize = 2 << 16;
    let text = ECHO.replace("use = \"test.probe\"", "use = \"test.probe\"\nwith.work-ms = 1");
    let runner = Arc::new(build(&text));
    let line = format!("{{\"n\":1,\"padding\":\"{}\"}}", "x".repeat(RECORD - 24));
    let input = (line + "\n").repeat(1_000);
    let total = input.len();
    let read = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = std::io::BufReader::new(Counted(Cursor::new(input.into_bytes()), read.clone()));
    let (jobs, mut furthest) = (3, 0);
    let mut watch = |tally: &Tally| {
        let ahead = read.load(std::sync::atomic::Ordering::SeqCst).saturating_sub(tally.records * RECORD);
        furthest = furthest.max(ahead);
    };
    let options = BatchOptions { jobs, ..BatchOptions::default() };
    let mut out = Vec::new();
    run_batch(&runner, counted, &mut out, Tally::default(), &options, &mut watch).await.unwrap();
    assert!(furthest <= jobs * 16 * RECORD + BUFFERS + RECORD, "{furthest} bytes ahead");
    assert!(furthest < total / 4, "the bound must be small beside the input to say anything");
}
