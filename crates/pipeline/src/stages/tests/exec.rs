//! `exec`, with children that behave and children that do not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::stage::StageError;
use crate::stages::testing::{Bench, inputs};
use crate::value::Type;

fn shell(script: &str) -> Bench {
    shell_with(script, json!({}))
}

fn shell_with(script: &str, with: Json) -> Bench {
    let mut all = json!({ "program": "sh", "args": ["-c", script] });
    all.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
    Bench::new("exec", all)
}

fn run(bench: &Bench) -> Result<Json, StageError> {
    bench.run(&inputs([("value", Type::Json, json!({ "a": [1, "ç"] }))])).map(|value| value.to_json())
}

/// Cancels the stage a moment after it started, and tells how long it took to return.
fn cancelled_after(bench: &Bench, moment: Duration) -> (StageError, Duration) {
    let stage = bench.build().unwrap();
    let context = bench.context();
    let cancel = bench.cancel.clone();
    let canceller = thread::spawn(move || {
        thread::sleep(moment);
        cancel.cancel();
        Instant::now()
    });
    let error = stage.run(&inputs([]), &context).unwrap_err();
    let ended = Instant::now();
    (error, ended.duration_since(canceller.join().unwrap()))
}

/// Waits until a process is gone; a zombie, which nobody has taken away yet, is gone.
fn is_gone(pid: &str) -> bool {
    let until = Instant::now() + Duration::from_secs(5);
    while Instant::now() < until {
        match fs::read_to_string(Path::new("/proc").join(pid).join("stat")) {
            Err(_) => return true,
            Ok(stat) if stat.contains(") Z") => return true,
            Ok(_) => thread::sleep(Duration::from_millis(5)),
        }
    }
    false
}

#[test]
fn json_goes_in_and_comes_out() {
    let echoed = run(&shell("cat")).unwrap();
    assert_eq!(echoed, json!({ "value": { "a": [1, "ç"] } }));
    let mut ports = inputs([("one", Type::Text, json!("a")), ("two", Type::Number, json!(1))]);
    ports.push("two", crate::value::Value::Number(2.0));
    let echoed = shell("cat").run(&ports).unwrap().to_json();
    assert_eq!(echoed, json!({ "one": "a", "two": [1, 2] }));
}

#[test]
fn the_output_has_the_type_that_was_declared() {
    let query = run(&shell_with("echo '\"what is it\"'", json!({ "output": "query" }))).unwrap();
    assert_eq!(query["text"], "what is it");
    let error = run(&shell_with("echo 3", json!({ "output": "text" }))).unwrap_err();
    assert!(error.message.contains("the program \"sh\" printed not a value of type text: found a number"), "{error}");
    let raw = json!({ "output": "text", "raw": true });
    assert_eq!(run(&shell_with("printf 'as it is\\n\\n'", raw)).unwrap(), "as it is\n");
    let nothing = shell_with("cat; echo 1", json!({ "input": "none" }));
    assert_eq!(run(&nothing).unwrap(), json!(1));
}

#[test]
fn what_is_no_json_is_shown() {
    let error = run(&shell("echo warning: low memory; echo why >&2")).unwrap_err();
    assert!(error.message.contains("printed no JSON") && error.message.contains("warning: low memory"), "{error}");
    assert_eq!(error.detail.as_deref(), Some("why"));
    assert!(run(&shell("true")).unwrap_err().message.contains("printed nothing"));
    assert!(run(&shell("printf '\\377'")).unwrap_err().message.contains("no UTF-8: byte 1"));
}

#[test]
fn codes_and_signals() {
    let error = run(&shell("echo '{}'; echo broken >&2; exit 3")).unwrap_err();
    assert!(error.message.contains("ended with the code 3, expected 0"), "{error}");
    assert_eq!(error.detail.as_deref(), Some("broken"));
    assert!(error.retryable);
    assert_eq!(run(&shell_with("echo 1; exit 3", json!({ "ok-codes": [0, 3] }))).unwrap(), json!(1));
    assert!(run(&shell("kill -9 $$")).unwrap_err().message.contains("was ended by the signal 9"));
}

#[test]
fn the_environment_is_small() {
    let script = "env | cut -d= -f1 | sort | tr '\\n' ' '";
    let names = shell_with(script, json!({ "output": "text", "raw": true, "env": { "OURS": "x" } }));
    let names = run(&names).unwrap();
    let names: Vec<&str> = names.as_str().unwrap().split_whitespace().collect();
    assert!(names.contains(&"OURS") && names.contains(&"PATH"), "{names:?}");
    // The shell itself adds the last three.
    let known = ["OURS", "PATH", "HOME", "LANG", "PWD", "SHLVL", "_"];
    assert!(names.iter().all(|name| known.contains(name)), "{names:?}");
}

#[test]
fn it_runs_in_the_folder_of_the_file_or_the_one_it_names() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    fs::create_dir(real.join("below")).unwrap();
    let pwd = |with: Json| run(&shell_with("printf '\"%s\"' \"$(pwd)\"", with).within(folder.path()));
    assert_eq!(pwd(json!({})).unwrap(), real.to_str().unwrap());
    assert_eq!(pwd(json!({ "working-dir": "below" })).unwrap(), real.join("below").to_str().unwrap());
    assert!(pwd(json!({ "working-dir": "none" })).unwrap_err().message.contains("cannot run in"));
}

#[test]
fn programs_are_found_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let tool = folder.path().join("tool");
    fs::write(&tool, "#!/bin/sh\ncat\n").unwrap();
    let build = |program: &str| Bench::new("exec", json!({ "program": program })).within(folder.path()).build();
    let error = build("no-such-program").err().unwrap();
    assert!(error.message.contains("no program \"no-such-program\" in the folders of PATH"), "{error}");
    assert!(build("./none").err().unwrap().message.contains("none: no such file"));
    assert!(build("./tool").err().unwrap().message.contains("tool is not executable"));
    assert!(build("./").err().unwrap().message.contains("is a folder, not a program"));
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    let bench = Bench::new("exec", json!({ "program": "./tool" })).within(folder.path());
    assert_eq!(run(&bench).unwrap(), json!({ "value": { "a": [1, "ç"] } }));
}

#[test]
fn nothing_is_started_from_a_folder_that_is_not_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let error = shell("touch started").within(folder.path()).untrusted().build().err().unwrap();
    assert!(error.message.contains("\"sh\"") && error.message.contains(folder.path().to_str().unwrap()), "{error}");
    assert!(error.hint.unwrap().contains("--trust"));
    assert!(!error.retryable && !folder.path().join("started").exists());
}

#[test]
fn a_child_that_closes_its_input_at_once_is_no_error() {
    let large = json!("x".repeat(1_000_000));
    for script in ["exec <&-; echo 1", "head -c 1 >/dev/null; echo 1"] {
        let value = shell(script).run(&inputs([("value", Type::Json, large.clone())])).unwrap();
        assert_eq!(value.to_json(), json!(1));
    }
}

#[test]
fn a_child_that_never_reads_does_not_block_us() {
    let large = json!("x".repeat(1_000_000));
    let script = "head -c 200000 /dev/zero | tr '\\0' ' '; echo 1";
    let value = shell(script).run(&inputs([("value", Type::Json, large.clone())])).unwrap();
    assert_eq!(value.to_json(), json!(1));
    // It prints while we still write.
    let value = shell("cat").run(&inputs([("value", Type::Json, large.clone())])).unwrap();
    assert_eq!(value.to_json()["value"], large);
}

#[test]
fn a_child_that_never_ends_is_ended() {
    let (error, took) = cancelled_after(&shell("exec sleep 600"), Duration::from_millis(50));
    assert!(error.message.contains("was stopped"), "{error}");
    assert!(took < Duration::from_millis(100), "{took:?}");
}

#[test]
fn a_child_that_ignores_sigterm_is_killed_with_all_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let script = "trap '' TERM; echo $$ > parent; (trap '' TERM; sh -c 'echo $$ > child; while :; do sleep 1; done') & \
                  while :; do sleep 1; done";
    let bench = shell(script).within(folder.path());
    let (error, took) = cancelled_after(&bench, Duration::from_millis(300));
    assert!(error.message.contains("was stopped"), "{error}");
    assert!((Duration::from_millis(90)..Duration::from_millis(250)).contains(&took), "{took:?}");
    for name in ["parent", "child"] {
        let pid = fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(is_gone(pid.trim()), "the {name} still runs");
    }
}

#[test]
fn what_a_child_leaves_behind_is_ended_with_it() {
    let folder = tempfile::tempdir().unwrap();
    // The background process holds our end of the output open.
    let bench = shell("sh -c 'echo $$ > left; exec sleep 600' & while [ ! -s left ]; do :; done; echo 1");
    let begun = Instant::now();
    assert_eq!(run(&bench.within(folder.path())).unwrap(), json!(1));
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert!(is_gone(fs::read_to_string(folder.path().join("left")).unwrap().trim()));
}

#[test]
fn a_child_that_prints_a_gigabyte_is_cut_off() {
    let begun = Instant::now();
    let error =
        run(&shell_with("echo start >&2; yes | head -c 1000000000", json!({ "max-output": 100_000 }))).unwrap_err();
    assert!(error.message.contains("printed more than 100000 bytes"), "{error}");
    assert_eq!(error.detail.as_deref(), Some("start"));
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    assert!(run(&shell("yes")).unwrap_err().message.contains("printed more than 16777216 bytes"));
}

#[test]
fn of_a_long_error_output_the_end_is_kept() {
    let error = run(&shell("yes | head -c 1000000 >&2; echo the end >&2; exit 1")).unwrap_err();
    let detail = error.detail.unwrap();
    assert!(detail.ends_with("the end") && detail.len() <= 64 * 1024, "{}", detail.len());
}

#[test]
fn a_stage_that_was_cancelled_before_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let bench = shell("touch started; echo 1").within(folder.path());
    bench.cancel.cancel();
    assert!(run(&bench).unwrap_err().message.contains("was stopped"));
    assert!(!folder.path().join("started").exists());
}

#[test]
fn many_children_at_once() {
    let bench = shell("cat");
    let stage = bench.build().unwrap();
    thread::scope(|scope| {
        for number in 0..16 {
            let (stage, bench) = (&stage, &bench);
            scope.spawn(move || {
                let ports = inputs([("value", Type::Json, json!(number))]);
                assert_eq!(stage.run(&ports, &bench.context()).unwrap().to_json(), json!({ "value": number }));
            });
        }
    });
}

#[test]
fn a_wrong_table_is_told_before_anything_is_touched() {
    let with = json!({
        "program": " ", "output": "index", "raw": true, "ok-codes": [], "args": ["a\0"],
        "env": { "A=B": "x", "GOOD": "x", "NUL": "\0" }
    });
    let keys: Vec<String> = Bench::new("exec", with).check().iter().map(|complaint| complaint.key.join(".")).collect();
    assert_eq!(keys, ["program", "output", "raw", "ok-codes", "args", "env.A=B", "env.NUL"]);
    assert!(Bench::new("exec", json!({ "program": "jq", "args": ["."] })).check().is_empty());
}
