//! The stage kinds as a user meets them: written in a file, checked, built and run.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hatir_pipeline::{
    BuildOptions, Cancel, Ending, Options, Registry, RunOptions, RunReport, Runner, Source, Status, compile,
};
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

fn source(folder: &Path, text: &str) -> Source {
    let mut source = Source::new("test.toml", text);
    source.path = folder.join("test.toml");
    source
}

fn problems(text: &str) -> String {
    compile(source(Path::new(""), text), &Registry::standard(), &Options::default()).report.render(false)
}

fn runner(folder: &Path, text: &str, options: &BuildOptions) -> Result<Runner, String> {
    let compiled = compile(source(folder, text), &Registry::standard(), &Options::default());
    let plan = compiled.plan.ok_or_else(|| compiled.report.render(false))?;
    Runner::build(Arc::new(plan), options).map_err(|error| error.to_string())
}

fn trusted() -> BuildOptions {
    BuildOptions { trusted: true, ..BuildOptions::default() }
}

fn execute(runner: &Runner, inputs: Json, options: &RunOptions) -> RunReport {
    let given: IndexMap<String, Json> = serde_json::from_value(inputs).unwrap();
    let inputs = runner.read_inputs(given, false).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let report = runtime.block_on(runner.run(&inputs, options));
    // As the program does: what an interrupted stage left on its thread is not waited for.
    runtime.shutdown_background();
    runner.flush().unwrap();
    report
}

fn output(runner: &Runner, inputs: Json) -> Json {
    let report = execute(runner, inputs, &RunOptions::default());
    assert_eq!(report.ending, Ending::Completed, "{:?}", report.failure());
    report.output.unwrap().to_json()
}

#[test]
fn the_worked_conversation_is_answered_from_the_support_pages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config");
    let text = fs::read_to_string(folder.join("support.toml")).unwrap();
    let runner = runner(&folder, &text, &BuildOptions::default()).unwrap();
    let ask = |conversation: &[(&str, &str)], question: &str| {
        let turns: Vec<Json> = conversation.iter().map(|(role, text)| json!({ "role": role, "text": text })).collect();
        output(&runner, json!({ "conversation": turns, "question": question }))
    };

    let english = [("user", "What's our refund window?"), ("assistant", "30 days.")];
    let second = ask(&english, "What about damaged items?");
    assert_eq!(second["query"]["text"], "refund policy for damaged items");
    assert_eq!(second["raw"]["hits"][0]["id"], "en/warranty#13", "a miss without condensing");
    assert_eq!(second["condensed"]["hits"][0]["id"], "en/refunds#13", "a hit with it");
    let answer = &second["answer"];
    assert!(answer["text"].as_str().unwrap().contains("within 48 hours"), "{answer}");
    assert_eq!(answer["citations"][0]["place"], json!({ "path": "en/refunds.md", "line": 15 }));
    assert_eq!(answer["citations"][0]["score"], second["condensed"]["hits"][0]["score"]);

    let turkish = [("user", "İade süremiz ne kadar?"), ("assistant", "30 gün.")];
    let third = ask(&turkish, "Peki o iade ne kadar sürer?");
    assert_eq!(third["query"]["text"], "iade ne kadar sürer");
    assert_eq!(third["answer"]["citations"][0]["place"], json!({ "path": "tr/refunds.md", "line": 10 }));
    assert!(third["answer"]["text"].as_str().unwrap().contains("beş iş günü"), "{}", third["answer"]);

    let nothing = ask(&[], "How heavy is a zeppelin?");
    assert_eq!(nothing["answer"], json!({ "text": "", "found": false, "citations": [] }));
}

#[test]
fn wrong_tables_are_told_with_their_places() {
    let report = problems(
        r#"version = 1
[pipeline]
output = "found"
[stage.known]
use = "memory.facts"
with.path = "facts.db"
with.as-of = "yesterday"
[stage.found]
use = "merge"
in.items = ["known"]
with.ordr = "score"
[stage.cut]
use = "budget.fit"
in.items = ["known"]
with.limit = 0
with.encoding = "cl100k"
"#,
    );
    for words in [
        "test.toml:7:",
        "\"yesterday\"",
        "RFC 3339",
        "test.toml:11:",
        "ordr",
        "did you mean",
        "test.toml:15:",
        "test.toml:16:",
        "cl100k_base",
    ] {
        assert!(report.contains(words), "no {words:?} in\n{report}");
    }
}

#[test]
fn records_go_through_an_index_into_a_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pages.jsonl"), "{\"id\":\"a\",\"text\":\"Blue whales sing.\"}\n").unwrap();
    let text = r#"version = 1
[pipeline]
input = { question = "text" }
output = "lines"
[stage.pages]
use = "read.jsonl"
with.path = "pages.jsonl"
[stage.index]
use = "rank.index"
in.documents = "pages"
with.dir = "index"
[stage.found]
use = "rank.query"
in.query = "$input.question"
in.index = "index"
[stage.pack]
use = "budget.fit"
in.items = ["found"]
with.limit = 3
with.minimum-tokens = 1
[stage.lines]
use = "write.jsonl"
in.items = ["found", "pack"]
with.path = "out.jsonl"
"#;
    let made = runner(folder.path(), text, &BuildOptions::default()).unwrap();
    assert_eq!(output(&made, json!({ "question": "whales" })), json!(2));
    let written = fs::read_to_string(folder.path().join("out.jsonl")).unwrap();
    let lines: Vec<Json> = written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["query"], &lines[0]["hits"][0]["id"]), (&json!("whales"), &json!("a")));
    assert_eq!((&lines[1]["limit"], &lines[1]["cut"]), (&json!(3), &json!(["a"])));

    fs::remove_file(folder.path().join("out.jsonl")).unwrap();
    let dry = BuildOptions { dry_run: true, ..BuildOptions::default() };
    let dry = runner(folder.path(), text, &dry).unwrap();
    let report = execute(&dry, json!({ "question": "whales" }), &RunOptions::default());
    assert_eq!(report.stages.last().unwrap().status, Status::Pretended);
    assert!(!folder.path().join("out.jsonl").exists());
}

#[cfg(unix)]
mod exec {
    use super::*;

    fn exec(script: &str, more: &str) -> String {
        format!(
            "version = 1\n[pipeline]\noutput = \"child\"\n[stage.child]\nuse = \"exec\"\n\
             with.program = \"sh\"\nwith.args = [\"-c\", '''{script}''']\n{more}\n"
        )
    }

    #[test]
    fn a_file_that_is_not_trusted_starts_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let text = exec("touch started; echo 1", "");
        let error = runner(folder.path(), &text, &BuildOptions::default()).err().unwrap();
        assert!(error.contains("the program \"sh\" is not started"), "{error}");
        assert!(!folder.path().join("started").exists());
        assert_eq!(output(&runner(folder.path(), &text, &trusted()).unwrap(), json!({})), json!(1));
        assert!(folder.path().join("started").exists());
    }

    #[test]
    fn a_child_whose_time_is_up_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let text = exec("trap '' TERM; echo $$ > pid; while :; do sleep 0.01; done", "timeout = \"300ms\"");
        let made = runner(folder.path(), &text, &trusted()).unwrap();
        let report = execute(&made, json!({}), &RunOptions::default());
        assert_eq!(report.failure().unwrap().status, Status::TimedOut);
        assert!(report.elapsed < Duration::from_secs(1), "{:?}", report.elapsed);
        let pid = fs::read_to_string(folder.path().join("pid")).unwrap();
        let process = Path::new("/proc").join(pid.trim());
        let until = Instant::now() + Duration::from_secs(5);
        while process.exists() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(!process.exists(), "the child still runs");
    }

    #[test]
    fn an_interrupted_run_ends_its_child_within_a_fifth_of_a_second() {
        let folder = tempfile::tempdir().unwrap();
        let made = runner(folder.path(), &exec("trap '' TERM; sleep 600 & wait; sleep 600", ""), &trusted()).unwrap();
        let cancel = Cancel::new();
        let interrupt = cancel.clone();
        let interrupter = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            interrupt.cancel();
            Instant::now()
        });
        let report = execute(&made, json!({}), &RunOptions { cancel, ..RunOptions::default() });
        let took = interrupter.join().unwrap().elapsed();
        assert_eq!(report.ending, Ending::Interrupted);
        assert!(took < Duration::from_millis(200), "{took:?}");
    }

    #[test]
    fn a_failing_child_is_tried_again_and_then_reported_with_its_error_output() {
        let folder = tempfile::tempdir().unwrap();
        let retries = "retries = { count = 2, pause = \"1ms\" }";
        let text = exec("echo x >> tries; [ $(wc -l < tries) -ge 3 ] && echo 1", retries);
        assert_eq!(output(&runner(folder.path(), &text, &trusted()).unwrap(), json!({})), json!(1));
        assert_eq!(fs::read_to_string(folder.path().join("tries")).unwrap(), "x\nx\nx\n");

        let made = runner(folder.path(), &exec("echo why >&2; exit 7", ""), &trusted()).unwrap();
        let report = execute(&made, json!({}), &RunOptions::default());
        let error = report.failure().unwrap().error.as_ref().unwrap();
        assert!(error.message.contains("ended with the code 7"), "{error}");
        assert_eq!(error.detail.as_deref(), Some("why"));
    }
}
