//! Batch throughput against calling the crates directly with the same number of threads.
//!
//! Data: the 20 conversations and 440 passages of `examples/mtrag`, the conversations repeated 100 times. Question: how
//! much of the throughput of `condense` and `rank`, called in a plain loop on N threads over the same lines, does a batch
//! over the same two stages reach? Both read JSON lines, and both write the same content for each record: the query and the
//! five best hits, with their texts and what each voice said.
//! The two take turns, and the median of the ratios of neighbouring rounds is printed. We hold ourselves to 0.90.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::io::{Cursor, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hatir_condense::{Condenser, Conversation, Turn};
use hatir_pipeline::{
    BatchOptions, BuildOptions, Environment, Options, Registry, Runner, Source, Tally, compile, run_batch,
};
use hatir_rank::{Config, Document, Index, Query};
use serde_json::Value as Json;

const ROUNDS: usize = 9;
const REPEATS: usize = 100;

const PIPELINE: &str = r#"
version = 1
[pipeline]
input  = { conversation = "conversation", question = "text" }
output = "found"
[stage.core]
use = "condense"
in.conversation = "$input.conversation"
in.question = "$input.question"
[stage.passages]
use = "read.jsonl"
with.path = "passages.jsonl"
[stage.index]
use = "rank.index"
in.documents = "passages"
[stage.found]
use = "rank.query"
in.query = "core"
in.index = "index"
with.top-k = 5
"#;

fn examples() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/mtrag"))
}

/// The whole batch, as `hatir run --batch` does it.
fn through_the_pipeline(runtime: &tokio::runtime::Runtime, runner: &Arc<Runner>, lines: &str, jobs: usize) -> Duration {
    let begun = Instant::now();
    let mut out = Vec::new();
    let options = BatchOptions { jobs, ..BatchOptions::default() };
    let input = Cursor::new(lines.to_owned().into_bytes());
    let report = runtime
        .block_on(run_batch(runner, input, &mut out, Tally::default(), &options, &mut |_| {}))
        .expect("memory can be read and written");
    assert_eq!((report.tally.errors, report.tally.records), (0, lines.lines().count()));
    begun.elapsed()
}

/// The same by hand: threads that take the next line, condense, search, and keep a line of the same content.
fn directly(index: &Index, lines: &str, threads: usize) -> Duration {
    let begun = Instant::now();
    let all: Vec<&str> = lines.lines().collect();
    let next = AtomicUsize::new(0);
    let out = Mutex::new(vec![Vec::new(); all.len()]);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let condenser = Condenser::new();
                let options = hatir_condense::Options::default();
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(line) = all.get(at) else { return };
                    let record: Json = serde_json::from_str(line).expect("our own lines are JSON");
                    let turns = record["conversation"].as_array().expect("turns").iter().map(|turn| {
                        let text = turn["text"].as_str().expect("a text").to_owned();
                        if turn["role"] == "user" { Turn::user(text) } else { Turn::assistant(text) }
                    });
                    let history = Conversation::from(turns.collect::<Vec<_>>());
                    let question = record["question"].as_str().expect("a question");
                    let condensed = condenser.condense(&history, question, &options);
                    let ranking = index.search(&Query::new(condensed.query.as_str()), 5).expect("the index answers");
                    let hits: Vec<Json> = ranking
                        .hits
                        .iter()
                        .map(|hit| {
                            let voices: Vec<Json> = hit
                                .explanation
                                .voices
                                .iter()
                                .map(|share| {
                                    serde_json::json!({
                                        "voice": share.voice,
                                        "rank": share.rank,
                                        "raw_score": share.raw_score,
                                        "weight": share.weight,
                                        "contribution": share.contribution,
                                    })
                                })
                                .collect();
                            serde_json::json!({
                                "id": hit.id,
                                "score": hit.score,
                                "text": hit.document.text,
                                "voices": voices,
                            })
                        })
                        .collect();
                    let output = serde_json::json!({ "query": condensed.query, "hits": hits });
                    let line = serde_json::json!({ "record": at, "id": record["id"], "output": output });
                    let line = serde_json::to_vec(&line).expect("JSON can be written to memory");
                    out.lock().expect("no thread panics")[at] = line;
                }
            });
        }
    });
    let mut joined = Vec::new();
    for line in out.into_inner().expect("no thread panics") {
        joined.write_all(&line).expect("memory can be written");
        joined.push(b'\n');
    }
    std::hint::black_box(joined);
    begun.elapsed()
}

fn main() {
    let queries = std::fs::read_to_string(examples().join("queries.jsonl")).expect("the example data is there");
    let lines = queries.repeat(REPEATS);
    let index = Index::in_memory(&Config::default()).expect("an index in memory");
    let passages = std::fs::read_to_string(examples().join("passages.jsonl")).expect("the example data is there");
    let documents = passages.lines().map(|line| {
        let passage: Json = serde_json::from_str(line).expect("our own lines are JSON");
        Document::new(passage["id"].as_str().expect("an id"), passage["text"].as_str().expect("a text"))
    });
    index.replace_all(documents).expect("documents can be indexed");

    let path = examples().join("bench.toml");
    let source = Source { name: "bench.toml".into(), path, text: PIPELINE.into() };
    let options = Options { environment: Environment::Unknown, ..Options::default() };
    let compiled = compile(source, &Registry::standard(), &options);
    let Some(plan) = compiled.plan else { panic!("{}", compiled.report.render(false)) };
    let runner = Arc::new(Runner::build(Arc::new(plan), &BuildOptions::default()).expect("the pipeline can be built"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");

    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let count = lines.lines().count();
    for threads in [1, cores] {
        let mut ratios = Vec::new();
        let mut speeds = Vec::new();
        // The first round warms both up.
        for round in 0..=ROUNDS {
            let direct = directly(&index, &lines, threads);
            let batch = through_the_pipeline(&runtime, &runner, &lines, threads);
            if round > 0 {
                ratios.push(direct.as_secs_f64() / batch.as_secs_f64());
                speeds.push(count as f64 / batch.as_secs_f64());
            }
        }
        ratios.sort_by(f64::total_cmp);
        speeds.sort_by(f64::total_cmp);
        println!(
            "{threads} threads: batch reaches {:.3} of the direct throughput (rounds {:.3} to {:.3}), {:.0} records a second",
            ratios[ROUNDS / 2],
            ratios[0],
            ratios[ROUNDS - 1],
            speeds[ROUNDS / 2]
        );
    }
}
