//! The kinds that read and write files.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::stage::StageError;
use crate::stages::testing::{Bench, inputs};
use crate::value::{Type, Value};

fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

fn read(kind: &'static str, folder: &Path, with: Json) -> Result<Json, StageError> {
    Bench::new(kind, with).within(folder).run(&inputs([])).map(|value| value.to_json())
}

fn ids(documents: &Json) -> Vec<&str> {
    documents.as_array().unwrap().iter().map(|document| document["id"].as_str().unwrap()).collect()
}

/// Names what went wrong, where, and that trying again will not help.
fn refused(result: Result<Json, StageError>, words: &[&str]) {
    let error = result.unwrap_err();
    for word in words {
        assert!(error.message.contains(word), "{error} should say {word:?}");
    }
    assert!(!error.retryable, "{error}");
}

#[test]
fn sections_of_the_support_pages() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let with = json!({
        "path": "support", "include": ["en/*.md", "tr/*.md"], "split": "sections", "language": "from-path"
    });
    let documents = read("read.file", &root, with).unwrap();
    assert_eq!(documents.as_array().unwrap().len(), 118);
    let all = documents.as_array().unwrap();
    let damaged = all.iter().find(|document| document["id"] == "en/refunds#13").unwrap();
    assert_eq!(damaged["title"], "Broken or damaged on arrival");
    assert_eq!(damaged["fields"], json!({ "page": "Refunds and returns" }));
    assert_eq!(damaged["place"], json!({ "path": "en/refunds.md", "line": 15 }));
    assert_eq!(damaged["language"], "en");
    let text = damaged["text"].as_str().unwrap();
    assert!(text.starts_with("Our refund policy") && text.ends_with("the shipping fee."), "{text}");
    assert!(all.iter().any(|document| document["id"] == "tr/refunds#13" && document["language"] == "tr"));
}

#[test]
fn a_folder_is_read_in_order_without_what_is_hidden() {
    let files: &[(&str, &[u8])] =
        &[("b.txt", b"B"), ("a/z.md", b"# Zed\nZ"), ("a.md", b"A"), (".git/x.md", b"X"), ("c.rs", b"C")];
    let folder = folder(files);
    let whole = read("read.file", folder.path(), json!({ "path": "." })).unwrap();
    assert_eq!(ids(&whole), ["a/z", "a", "b"]);
    assert_eq!(whole[0]["title"], "Zed");
    assert_eq!(whole[0]["place"], json!({ "path": "a/z.md", "line": 1 }));
    let shallow = read("read.file", folder.path(), json!({ "path": "*.md" })).unwrap();
    assert_eq!(ids(&shallow), ["a"]);
    let text = read("read.file", folder.path(), json!({ "path": ".", "as": "text" })).unwrap();
    assert_eq!(text, "# Zed\nZ\n\nA\n\nB");
    let single = read("read.file", folder.path(), json!({ "path": "a/z.md", "split": "lines", "language": "tr" }));
    let single = single.unwrap();
    assert_eq!(ids(&single), ["z#1", "z#2"]);
    assert_eq!(single[1]["language"], "tr");
}

#[cfg(unix)]
#[test]
fn a_loop_of_links_does_not_catch_the_walk() {
    let folder = folder(&[("a.md", b"A")]);
    std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("a.md"), folder.path().join("linked.md")).unwrap();
    assert_eq!(ids(&read("read.file", folder.path(), json!({ "path": "." })).unwrap()), ["a", "linked"]);
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = folder(&[("bad.md", b"one\ntwo \xc3("), ("empty/.keep", b"")]);
    let file = |path: &str| read("read.file", folder.path(), json!({ "path": path }));
    refused(file("bad.md"), &["bad.md, line 2, byte 5", "0xC3", "UTF-8"]);
    refused(file("none.md"), &["cannot read", "none.md", "no such file"]);
    refused(file("empty"), &["nothing to read in", "empty"]);
    refused(file("*.txt"), &["nothing to read in", "*.txt"]);
    refused(file("/dev/zero"), &["/dev/zero is a pipe or a device"]);
    let lines = |path: &str| read("read.jsonl", folder.path(), json!({ "path": path }));
    refused(lines("empty"), &["empty is a folder, expected a file"]);
    refused(lines("none.jsonl"), &["cannot read", "none.jsonl"]);
}

#[test]
fn a_hundred_megabytes_on_one_line_neither_hang_nor_pass_the_cap() {
    let folder = folder(&[]);
    let path = folder.path().join("long.txt");
    fs::write(&path, vec![b'x'; 100_000_000]).unwrap();
    let begun = Instant::now();
    for split in ["whole", "lines", "paragraphs", "sections"] {
        let with = json!({ "path": "long.txt", "split": split, "max-bytes": 1_000_000 });
        refused(read("read.file", folder.path(), with), &["long.txt goes past what this stage may read"]);
    }
    let whole = Bench::new("read.file", json!({ "path": "long.txt", "split": "sections" })).within(folder.path());
    let Value::Documents(documents) = whole.run(&inputs([])).unwrap() else { panic!("no documents") };
    assert_eq!(documents[0].text.len(), 100_000_000);
    refused(read("read.jsonl", folder.path(), json!({ "path": "long.txt", "max-bytes": 1_000_000 })), &["goes past"]);
    refused(read("read.jsonl", folder.path(), json!({ "path": "long.txt" })), &["long.txt, line 1, column 1"]);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[test]
fn a_text_is_not_split() {
    let complaints =
        Bench::new("read.file", json!({ "path": "a", "as": "text", "split": "lines", "include": [] })).check();
    let keys: Vec<&str> = complaints.iter().map(|complaint| complaint.key[0].as_str()).collect();
    assert_eq!(keys, ["split", "include"]);
    assert!(Bench::new("read.file", json!({ "path": "a" })).check().is_empty());
}

#[test]
fn records_are_read_and_bad_lines_are_named() {
    let good = "\u{feff}{\"id\": \"1\"}\r\n\n  \n{\"id\": \"ç\"}\n{\"id\": \"3\"}".as_bytes();
    let folder = folder(&[
        ("good.jsonl", good),
        ("torn.jsonl", "{\"a\": 1}\n{\"ç\": tru}\n{\"a\": 2}\n".as_bytes()),
        ("list.jsonl", b"{\"a\": 1}\n  [1, 2]\n"),
        ("bytes.jsonl", b"{\"a\": \"\xff\"}\n{\"a\": 2}\n"),
        ("empty.jsonl", b""),
    ]);
    let lines = |with: Json| read("read.jsonl", folder.path(), with);
    assert_eq!(lines(json!({ "path": "good.jsonl" })).unwrap(), json!([{ "id": "1" }, { "id": "ç" }, { "id": "3" }]));
    assert_eq!(lines(json!({ "path": "good.jsonl", "limit": 1 })).unwrap(), json!([{ "id": "1" }]));
    assert_eq!(lines(json!({ "path": "empty.jsonl" })).unwrap(), json!([]));
    refused(lines(json!({ "path": "torn.jsonl" })), &["torn.jsonl, line 2, column 10", "expected ident"]);
    refused(lines(json!({ "path": "list.jsonl" })), &["list.jsonl, line 2, column 3: found an array"]);
    refused(lines(json!({ "path": "bytes.jsonl" })), &["bytes.jsonl, line 1, byte 8", "0xFF"]);
    let skip = |path: &str| lines(json!({ "path": path, "on-bad-line": "skip" })).unwrap();
    assert_eq!(skip("torn.jsonl"), json!([{ "a": 1 }, { "a": 2 }]));
    assert_eq!(skip("bytes.jsonl"), json!([{ "a": 2 }]));
    // What stands behind the limit is not looked at.
    assert_eq!(lines(json!({ "path": "torn.jsonl", "limit": 1 })).unwrap(), json!([{ "a": 1 }]));
}

fn writer(folder: &Path, mode: &str) -> Bench {
    Bench::new("write.jsonl", json!({ "path": "out.jsonl", "mode": mode })).within(folder)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn lists_become_lines_and_the_rest_one_line() {
    let folder = folder(&[]);
    let path = folder.path().join("out.jsonl");
    let mut ports = inputs([("items", Type::Json, json!([1, { "a": "ç\n" }]))]);
    ports.push("items", Value::json(json!({ "b": [2] })));
    let written = writer(folder.path(), "replace").run(&ports).unwrap();
    assert_eq!(written.to_json(), json!(3));
    assert_eq!(fs::read_to_string(&path).unwrap(), "1\n{\"a\":\"ç\\n\"}\n{\"b\":[2]}\n");

    writer(folder.path(), "append").run(&inputs([("items", Type::Json, json!("x"))])).unwrap();
    assert!(fs::read_to_string(&path).unwrap().ends_with("]}\n\"x\"\n"));
    writer(folder.path(), "replace").run(&inputs([("items", Type::Json, json!([]))])).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "");
    assert_eq!(names(folder.path()), ["out.jsonl"]);
}

#[test]
fn an_open_last_line_is_closed_before_ours() {
    let folder = folder(&[("out.jsonl", b"{\"torn\":")]);
    writer(folder.path(), "append").run(&inputs([("items", Type::Json, json!(1))])).unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("out.jsonl")).unwrap(), "{\"torn\":\n1\n");
}

#[test]
fn the_old_file_stays_until_the_end_and_a_killed_run_leaves_it() {
    let folder = folder(&[("out.jsonl", b"old\n")]);
    let path = folder.path().join("out.jsonl");
    let bench = writer(folder.path(), "replace");
    let ports = inputs([("items", Type::Json, json!(vec!["x".repeat(1000); 200]))]);

    let stage = bench.build().unwrap();
    assert_eq!(names(folder.path()), ["out.jsonl"], "building touches nothing");
    stage.run(&ports, &bench.context()).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "old\n");
    drop(stage);
    assert_eq!(fs::read_to_string(&path).unwrap(), "old\n");
    assert_eq!(names(folder.path()), ["out.jsonl"], "the temporary file is gone");

    let stage = bench.build().unwrap();
    stage.flush().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "old\n", "a stage that never ran leaves the file alone");
}

#[cfg(unix)]
#[test]
fn a_replaced_file_keeps_its_permissions_and_a_link_to_it() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder(&[("real.jsonl", b"old\n")]);
    let real = folder.path().join("real.jsonl");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("real.jsonl", folder.path().join("out.jsonl")).unwrap();
    writer(folder.path(), "replace").run(&inputs([("items", Type::Json, json!(1))])).unwrap();
    assert_eq!(fs::read_to_string(&real).unwrap(), "1\n");
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert!(folder.path().join("out.jsonl").is_symlink());
}

#[test]
fn records_that_run_side_by_side_share_the_file_line_by_line() {
    let folder = folder(&[]);
    let bench = writer(folder.path(), "replace");
    let stage = bench.build().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (stage, bench) = (&stage, &bench);
            scope.spawn(move || {
                for record in 0..50 {
                    let pair = json!([[thread, record, "x".repeat(500)], [thread, record, "y".repeat(500)]]);
                    stage.run(&inputs([("items", Type::Json, pair)]), &bench.context()).unwrap();
                }
            });
        }
    });
    stage.flush().unwrap();
    let text = fs::read_to_string(folder.path().join("out.jsonl")).unwrap();
    let lines: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 800);
    for pair in lines.chunks(2) {
        assert_eq!((&pair[0][0], &pair[0][1]), (&pair[1][0], &pair[1][1]), "the lines of a record stay together");
    }
}

#[test]
fn a_dry_run_writes_nothing() {
    let folder = folder(&[]);
    let written = writer(folder.path(), "replace").dry().run(&inputs([("items", Type::Json, json!([1, 2]))])).unwrap();
    assert_eq!(written.to_json(), json!(2));
    assert!(names(folder.path()).is_empty());
}

#[test]
fn where_nothing_can_be_written_is_told_before_the_run() {
    let folder = folder(&[("a-file", b""), ("out.jsonl/x", b"")]);
    let build = |with: Json| Bench::new("write.jsonl", with).within(folder.path()).build().map(|_| Json::Null);
    refused(build(json!({ "path": "out.jsonl" })), &["out.jsonl is a folder"]);
    refused(build(json!({ "path": "none/out.jsonl" })), &["cannot write into the folder", "none", "no such file"]);
    refused(build(json!({ "path": "a-file/out.jsonl" })), &["a-file"]);
}

/// `/proc` refuses new files to everybody, also to a superuser, for whom permissions do not count.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_files_is_named() {
    for mode in ["replace", "append"] {
        let with = json!({ "path": "/proc/hatir-test.jsonl", "mode": mode });
        let result = Bench::new("write.jsonl", with).run(&inputs([("items", Type::Json, json!(1))]));
        refused(result.map(|_| Json::Null), &["cannot write", "/proc"]);
    }
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder(&[]);
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o555)).unwrap();
    let bench = Bench::new("write.jsonl", json!({ "path": "inner/out.jsonl" })).within(folder.path());
    // A superuser may write everywhere; for anybody else the stage must not even be built.
    let superuser = fs::write(inner.join("probe"), "").is_ok();
    match bench.build() {
        Err(error) => assert!(!superuser && error.message.contains("permission denied"), "{error}"),
        Ok(_) => assert!(superuser),
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named() {
    for mode in ["append", "replace"] {
        let bench = Bench::new("write.jsonl", json!({ "path": "/dev/full", "mode": mode }));
        let stage = bench.build().unwrap();
        // Small enough to wait in the buffer: the flush fails. More than that: the run fails, and so do later ones.
        stage.run(&inputs([("items", Type::Json, json!(1))]), &bench.context()).unwrap();
        let error = stage.flush().unwrap_err();
        assert!(error.message.contains("cannot write /dev/full: no space left"), "{error}");
        let much = inputs([("items", Type::Json, json!("x".repeat(100_000)))]);
        assert!(stage.run(&much, &bench.context()).unwrap_err().message.contains("no space left"));
        let after = stage.run(&inputs([("items", Type::Json, json!(1))]), &bench.context()).unwrap_err();
        assert!(after.message.contains("no space left") && after.hint.is_some());
        assert!(stage.flush().is_err(), "what was lost is told once more at the end");
    }
}
