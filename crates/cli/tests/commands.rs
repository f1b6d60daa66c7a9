//! What each command prints, and where.

#![allow(clippy::unwrap_used, reason = "a test may unwrap")]

mod support;

use serde_json::json;
use support::{COUNT, Folder, repository};

#[test]
fn inputs_come_from_arguments_files_and_standard_input() {
    let folder = Folder::new();
    folder.write("p.toml", COUNT).write("text.txt", "one two three");
    folder.hatir(&["run", "p.toml", "--input", "text=one two three"]).expect(0).prints("3\n");
    folder.hatir(&["run", "p.toml", "--input", "text=@text.txt"]).expect(0).prints("3\n");
    folder.hatir_with_input(&["run", "p.toml", "--input", "text=-"], "one two").expect(0).prints("2\n");
    folder.hatir_with_input(&["run", "p.toml", "--input", "-"], "{\"text\":\"one\"}").expect(0).prints("1\n");
    folder.hatir_with_input(&["run", "p.toml"], "{\"text\":\"one\"}").expect(0).prints("1\n");
    folder.hatir(&["run", "p.toml"]).expect(2).says("the input \"text\" (text) is missing").prints_nothing();
    folder.hatir(&["run", "p.toml", "--input", "txet=a"]).expect(2).says("did you mean \"text\"?");
    folder.hatir(&["run", "p.toml", "--input", "text"]).expect(2).says("NAME=VALUE");
    folder.hatir_with_input(&["run", "p.toml", "--input", "-"], "[1]").expect(2).says("JSON object");
}

#[test]
fn results_go_to_standard_output_and_the_rest_to_standard_error() {
    let folder = Folder::new();
    folder.write("p.toml", COUNT);
    let ran = folder.hatir(&["run", "p.toml", "--input", "text=a b", "--timings", "--trace", "t.jsonl"]).expect(0);
    assert_eq!(ran.stdout, "2\n");
    ran.says("budget.count").says("status");
    let event: serde_json::Value = serde_json::from_str(folder.read("t.jsonl").trim()).unwrap();
    assert_eq!(
        (&event["stage"], &event["inputs"], &event["output"], &event["status"]),
        (&json!("tokens"), &json!({ "text": "a b" }), &json!(2), &json!("done"))
    );
}

#[test]
fn a_value_of_the_file_can_be_set() {
    let folder = Folder::new();
    folder.write("p.toml", COUNT);
    let set = ["run", "p.toml", "--input", "text=a", "--set"];
    folder.hatir(&[&set[..], &["stage.tokens.with.encoding=o200k_base"]].concat()).expect(0).prints("1\n");
    folder
        .hatir(&[&set[..], &["stage.tokens.with.encodin=o200k_base"]].concat())
        .expect(2)
        .says("--set")
        .says("encoding");
    folder.hatir(&[&set[..], &["stage.tokens.with.encoding=latin"]].concat()).expect(2).says("cl100k_base");
}

#[test]
fn a_batch_reads_and_writes_jsonl() {
    let folder = Folder::new();
    folder.write("p.toml", COUNT);
    let input = "{\"id\":\"a\",\"text\":\"one\"}\n{\"text\":5}\n{\"text\":\"one two three\"}\n";
    let ran = folder.hatir_with_input(&["run", "p.toml", "--batch", "-", "--jobs", "2"], input).expect(1);
    let lines: Vec<serde_json::Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0], json!({ "record": 0, "id": "a", "output": 1 }));
    assert_eq!(lines[1]["error"]["code"], "E0307");
    assert_eq!(lines[2], json!({ "record": 2, "output": 3 }));
    ran.says("3 records, 1 failed");

    folder.write("in.jsonl", "{\"text\":\"one\"}\n{\"text\":\"one two three\"}\n");
    let arguments = ["run", "p.toml", "--batch", "in.jsonl", "--out", "out.jsonl", "--summary"];
    folder.hatir(&arguments).expect(0).prints("output   2.0000  (mean of 2)");
    let ran = folder.hatir(&[&arguments[..], &["--format", "json"]].concat()).expect(0);
    assert_eq!(ran.json(), json!({ "records": 2, "failed": 0, "means": { "output": { "mean": 2.0, "records": 2 } } }));
    folder.hatir(&[&arguments[..6], &["--resume"]].concat()).expect(0).says("nothing to resume");
}

#[test]
fn tests_in_the_file_pass_and_fail_with_their_line() {
    let folder = Folder::new();
    let right = format!("{COUNT}\n[[test]]\nname = \"two words\"\ninput.text = \"a b\"\nexpect.tokens = 2\n");
    folder.write("right.toml", &right).write("wrong.toml", right.replace("expect.tokens = 2", "expect.tokens = 3"));
    folder.hatir(&["test", "right.toml"]).expect(0).prints("1 passed, 0 failed");
    let ran = folder.hatir(&["test", "right.toml", "wrong.toml"]).expect(1);
    ran.prints("wrong.toml:14:8").prints("expected: it equals 3").prints("got:      2").prints("1 passed, 1 failed");
    let ran = folder.hatir(&["test", "wrong.toml", "--format", "json"]).expect(1);
    assert_eq!(ran.json()[0]["failures"][0]["line"], 14);
    folder.hatir(&["test", "wrong.toml", "--only", "three"]).expect(1).says("no test has \"three\"");
}

#[test]
fn all_problems_are_reported_at_once() {
    let folder = Folder::new();
    let text = COUNT.replace("budget.count", "budget.cuont").replace("output = \"tokens\"", "output = \"tokns\"")
        + "[stage.other]\nuse = \"budget.fit\"\nwith.limt = 3\ntimeout = \"300\"\n";
    folder.write("p.toml", text);
    let ran = folder.hatir(&["check", "p.toml"]).expect(2).prints_nothing();
    for part in ["budget.count", "\"tokens\"", "\"limit\"", "timeout"] {
        assert!(ran.stderr.contains(part), "no {part} in:\n{}", ran.stderr);
    }
    let ran = folder.hatir(&["check", "p.toml", "--format", "json"]).expect(2);
    let problems = ran.json()[0]["problems"].as_array().unwrap().clone();
    assert!(problems.len() >= 4, "{problems:#?}");
    assert!(problems.iter().all(|problem| problem["line"].is_u64() && problem["code"].is_string()), "{problems:#?}");
}

#[test]
fn every_code_has_its_page() {
    let folder = Folder::new();
    let list = folder.hatir(&["explain", "--code", "all"]).expect(0).stdout;
    assert!(list.lines().count() > 20, "{list}");
    for line in list.lines() {
        let code = line.split_whitespace().next().unwrap();
        folder.hatir(&["explain", "--code", code]).expect(0).prints(code);
    }
    folder.hatir(&["explain", "--code", "E9999"]).expect(2).says("--code all");
}

#[test]
fn starters_are_written_checked_and_tested() {
    let folder = Folder::new();
    let list = folder.hatir(&["new", "--list"]).expect(0).stdout;
    assert!(list.lines().count() >= 4, "{list}");
    for line in list.lines() {
        let name = line.split_whitespace().next().unwrap();
        let file = format!("{name}.toml");
        folder.hatir(&["new", &file, "--starter", name]).expect(0).says("hatir check");
        folder.hatir(&["check", &file]).expect(0);
        let ran = folder.hatir(&["test", &file]).expect(0);
        assert!(!ran.stdout.contains("0 passed"), "{name} has no test:\n{}", ran.stdout);
        folder.hatir(&["new", &file, "--starter", name]).expect(2).says("exists already");
    }
    folder.hatir(&["new", "x.toml", "--starter", "nothing"]).expect(2).says("minimal");
}

#[test]
fn the_schema_that_is_checked_in_is_fresh() {
    let printed = Folder::new().hatir(&["schema"]).expect(0).stdout;
    let path = repository().join("docs/schema/pipeline.v1.json");
    let checked_in = std::fs::read_to_string(&path).unwrap();
    assert!(printed == checked_in, "run `hatir schema > docs/schema/pipeline.v1.json`");
}

#[test]
fn kinds_graphs_and_completions_are_printed() {
    let folder = Folder::new();
    folder.write("p.toml", COUNT);
    let kinds = folder.hatir(&["stages"]).expect(0).stdout;
    for kind in [
        "condense",
        "rank.index",
        "rank.query",
        "memory.record",
        "memory.facts",
        "budget.fit",
        "budget.count",
        "answer.extract",
        "read.file",
        "read.jsonl",
        "write.jsonl",
        "merge",
        "exec",
    ] {
        assert!(kinds.lines().any(|line| line.split_whitespace().next() == Some(kind)), "{kind} is missing:\n{kinds}");
        folder.hatir(&["stages", kind]).expect(0).prints("output:");
    }
    folder.hatir(&["stages", "--format", "json"]).expect(0).prints("further_inputs");
    folder.hatir(&["graph", "p.toml"]).expect(0).prints("tokens");
    folder.hatir(&["graph", "p.toml", "--format", "mermaid"]).expect(0).prints("flowchart");
    folder.hatir(&["graph", "p.toml", "--format", "dot"]).expect(0).prints("digraph");
    folder.hatir(&["graph", "p.toml", "--format", "json"]).expect(0).prints("\"tokens\"");
    folder.hatir(&["explain", "p.toml"]).expect(0).prints("cl100k_base");
    folder.hatir(&["explain", "p.toml", "--format", "json"]).expect(0).prints("\"tokens\"");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        folder.hatir(&["completions", shell]).expect(0).prints("hatir");
    }
}

#[test]
fn a_dry_run_writes_nothing_and_until_stops_early() {
    let folder = Folder::new();
    folder.write(
        "p.toml",
        "version = 1\n[pipeline]\ninput = { text = \"text\" }\noutput = \"lines\"\n[stage.tokens]\nuse = \"budget.count\"\n\
         in.text = \"$input.text\"\n[stage.lines]\nuse = \"write.jsonl\"\nin.items = \"tokens\"\nwith.path = \"out.jsonl\"\n",
    );
    folder.hatir(&["run", "p.toml", "--input", "text=a", "--dry-run", "--timings"]).expect(0).says("would run");
    assert!(!folder.path("out.jsonl").exists());
    folder.hatir(&["run", "p.toml", "--input", "text=a", "--until", "tokens"]).expect(0).prints("1\n");
    assert!(!folder.path("out.jsonl").exists());
    folder.hatir(&["run", "p.toml", "--input", "text=a", "--until", "nothing"]).expect(2).says("tokens, lines");
    folder.hatir(&["run", "p.toml", "--input", "text=a"]).expect(0);
    assert_eq!(folder.read("out.jsonl"), "1\n");
}

#[test]
fn a_dialog_that_is_wrong_is_named_with_its_line() {
    let folder = Folder::new();
    folder.write("p.toml", COUNT).write("d.jsonl", "{\"question\":\"a\"}\n{\"qestion\":\"b\"}\n");
    folder.hatir(&["run", "p.toml", "--dialog", "d.jsonl"]).expect(2).says("d.jsonl:2:");
    folder.write("d.jsonl", "{\"question\":\"a\"}\n");
    folder.hatir(&["run", "p.toml", "--dialog", "d.jsonl"]).expect(2).says("conversation");
}

/// Runs a command line on a terminal of its own (`script` is part of every Debian) and types `answers`.
fn on_a_terminal(folder: &Folder, arguments: &[&str], answers: &str) -> (String, Option<i32>) {
    use std::io::Write;
    let line = [env!("CARGO_BIN_EXE_hatir")].iter().chain(arguments).copied().collect::<Vec<_>>().join(" ");
    let mut child = std::process::Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(folder.path("."))
        .env("XDG_STATE_HOME", folder.path("state"))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // The terminal stays open until the process ends: its end would be read as the end of the answer.
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(answers.as_bytes()).unwrap();
    stdin.flush().unwrap();
    let status = child.wait().unwrap();
    drop(stdin);
    let mut screen = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut screen).unwrap();
    (screen, status.code())
}

#[test]
fn at_a_terminal_an_untrusted_folder_is_asked_about_and_remembered() {
    let folder = Folder::new();
    folder.write(
        "p.toml",
        "version = 1\n[pipeline]\noutput = \"child\"\n[stage.child]\nuse = \"exec\"\nwith.program = \"sh\"\n\
         with.args = [\"-c\", \"echo x >> started; echo 7\"]\n",
    );
    let started = || std::fs::read_to_string(folder.path("started")).map_or(0, |text| text.lines().count());
    let (screen, code) = on_a_terminal(&folder, &["run", "p.toml"], "n\n");
    assert!(screen.contains("starts programs in the stages child"), "{screen}");
    assert_eq!((code, started()), (Some(2), 0));
    let (screen, code) = on_a_terminal(&folder, &["run", "p.toml"], "y\n");
    assert_eq!((code, started()), (Some(0), 1), "{screen}");
    let (screen, code) = on_a_terminal(&folder, &["run", "p.toml"], "a\n");
    assert_eq!((code, started()), (Some(0), 2), "{screen}");
    folder.hatir(&["run", "p.toml"]).expect(0).prints("7");
    assert_eq!(started(), 3, "an answer of `always` holds for scripts too");
}

/// A line break in a folder's name would put a second folder on the list.
#[test]
fn a_folder_with_control_characters_in_its_name_is_not_remembered() {
    let folder = Folder::new();
    folder.write(
        "odd\nname/p.toml",
        "version = 1\n[pipeline]\noutput = \"child\"\n[stage.child]\nuse = \"exec\"\nwith.program = \"sh\"\n\
         with.args = [\"-c\", \"echo 7\"]\n",
    );
    std::os::unix::fs::symlink(folder.path("odd\nname"), folder.path("link")).unwrap();
    let (screen, code) = on_a_terminal(&folder, &["run", "link/p.toml"], "a\n");
    assert!(screen.contains("control characters"), "{screen}");
    assert_eq!(code, Some(2));
    assert!(!folder.path("state/hatir/trusted-folders").exists());
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_record() {
    let folder = Folder::new();
    folder.write("p.toml", COUNT).write("in.jsonl", "\u{feff}{\"text\":\"a\"}\n");
    folder.hatir(&["run", "p.toml", "--batch", "in.jsonl"]).expect(0).prints("\"output\":1");
    folder.hatir_with_input(&["run", "p.toml", "--input", "-"], "\u{feff}{\"text\":\"a\"}").expect(0).prints("1");
}

#[test]
fn at_a_terminal_a_batch_shows_a_bar_and_problems_have_colours() {
    let folder = Folder::new();
    folder.write("p.toml", COUNT).write("in.jsonl", "{\"text\":\"a\"}\n".repeat(20_000)).write("empty.toml", "");
    let (screen, code) = on_a_terminal(&folder, &["run", "p.toml", "--batch", "in.jsonl", "--out", "out.jsonl"], "");
    assert_eq!(code, Some(0));
    assert!(screen.contains("/20000 records"), "{screen:?}");
    let (screen, _) = on_a_terminal(&folder, &["check", "empty.toml"], "");
    assert!(screen.contains("\u{1b}["), "{screen:?}");
}

#[test]
fn the_worked_conversation_goes_as_documented() {
    let folder = Folder::new();
    let root = repository();
    for language in ["en", "tr"] {
        let config = root.join("config/support.toml");
        let dialog = root.join(format!("examples/support/dialog.{language}.jsonl"));
        let ran = folder.hatir(&["run", config.to_str().unwrap(), "--dialog", dialog.to_str().unwrap()]).expect(0);
        insta::assert_snapshot!(format!("worked_conversation_{language}"), ran.stdout);
    }
}
