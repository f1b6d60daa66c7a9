//! Files, folders, disks, children and pipes that are not as they should be: a clear word, the right code, no hang.

#![allow(clippy::unwrap_used, reason = "a test may unwrap")]

mod support;

use std::fmt::Write as _;
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use support::{COUNT, Folder, finish, ran, wait_for};

#[test]
fn an_empty_file() {
    let folder = Folder::new();
    folder.write("p.toml", "");
    folder.hatir(&["check", "p.toml"]).expect(2).prints_nothing().says("p.toml:1:1").says("version");
    folder.hatir(&["run", "p.toml"]).expect(2).prints_nothing();
}

#[test]
fn a_file_of_50_megabytes() {
    let folder = Folder::new();
    folder.write("p.toml", "# ".to_owned() + &"x".repeat(50 << 20));
    folder.hatir(&["check", "p.toml"]).expect(2).prints_nothing().says("E0003").says("p.toml");
}

#[test]
fn invalid_utf_8() {
    let folder = Folder::new();
    folder.write("p.toml", b"version = 1\nabout = \"\xff\"\n");
    folder.hatir(&["check", "p.toml"]).expect(2).prints_nothing().says("p.toml:2:10");
}

#[test]
fn a_folder_where_a_file_is_meant() {
    let folder = Folder::new();
    folder.write("dir/x", "");
    folder.hatir(&["run", "dir"]).expect(2).prints_nothing().says("dir").says("folder");
    folder.write("p.toml", COUNT);
    folder.hatir(&["run", "p.toml", "--batch", "dir"]).expect(2).says("dir is a folder");
    folder.hatir(&["run", "p.toml", "--batch", "p.toml", "--out", "dir"]).expect(1).says("dir");
    folder.hatir(&["run", "p.toml", "--input", "text=x", "--trace", "dir"]).expect(1).says("dir");
}

#[test]
fn a_missing_file() {
    let folder = Folder::new();
    folder.hatir(&["run", "nowhere.toml"]).expect(2).prints_nothing().says("nowhere.toml");
    folder.write("p.toml", COUNT);
    folder.hatir(&["run", "p.toml", "--batch", "nowhere.jsonl"]).expect(2).says("nowhere.jsonl");
    folder.hatir(&["run", "p.toml", "--input", "text=@nowhere.txt"]).expect(2).says("nowhere.txt");
    folder.write(
        "reads.toml",
        "version = 1\n[pipeline]\noutput = \"records\"\n[stage.records]\nuse = \"read.jsonl\"\nwith.path = \"nowhere.jsonl\"\n",
    );
    folder.hatir(&["check", "reads.toml"]).expect(0).prints("reads.toml: fine");
    for command in [&["run", "reads.toml"][..], &["check", "--open", "reads.toml"]] {
        let ran = folder.hatir(command);
        assert_ne!(ran.code, Some(0));
        ran.says("nowhere.jsonl").says("records");
    }
}

/// A folder that even root cannot write to.
#[test]
fn a_read_only_output_folder() {
    let folder = Folder::new();
    folder.write("p.toml", COUNT).write("in.jsonl", "{\"text\":\"a\"}\n");
    let ran = folder.hatir(&["run", "p.toml", "--batch", "in.jsonl", "--out", "/sys/kernel/out.jsonl"]);
    ran.expect(1).prints_nothing().says("/sys/kernel/out.jsonl");
    folder.hatir(&["new", "/sys/kernel/p.toml"]).expect(1).says("/sys/kernel/p.toml");
}

#[test]
fn a_full_disk() {
    let folder = Folder::new();
    folder.write("p.toml", COUNT).write("in.jsonl", "{\"text\":\"a\"}\n".repeat(10_000));
    let ran = folder.hatir(&["run", "p.toml", "--batch", "in.jsonl", "--out", "/dev/full"]);
    ran.expect(1).says("could not be written").says("No space left");
    folder.hatir(&["run", "p.toml", "--input", "text=a", "--trace", "/dev/full"]).expect(1).says("trace");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let ran = finish(folder.command(&["run", "p.toml", "--input", "text=a"]).stdout(full).stderr(Stdio::piped()));
    ran.expect(1).says("No space left");
}

#[test]
fn a_circle_of_1000_stages() {
    let folder = Folder::new();
    let mut text = String::from("version = 1\n[pipeline]\noutput = \"s0\"\n");
    for at in 0..1000 {
        let _ = write!(text, "[stage.s{at}]\nuse = \"merge\"\nin.items = \"s{}\"\n", (at + 1) % 1000);
    }
    folder.write("p.toml", &text);
    let ran = folder.hatir(&["check", "p.toml"]).expect(2).says("1000 stages").says("s0");
    assert!(ran.stderr.len() < 20_000, "the loop is told readably");
    let ran = folder.hatir(&["check", "--format", "json", "p.toml"]).expect(2);
    let report = ran.json().to_string();
    for at in 0..1000 {
        assert!(report.contains(&format!("\"s{at}\"")), "stage s{at} is not named");
    }
}

fn exec(program: &str, args: &str, more: &str) -> String {
    format!(
        "version = 1\n[pipeline]\noutput = \"child\"\n[stage.child]\nuse = \"exec\"\nwith.program = \"{program}\"\n\
         with.args = {args}\n{more}\n"
    )
}

#[test]
fn a_child_that_never_ends_and_ignores_sigterm() {
    let folder = Folder::new();
    let script = "trap '' TERM; echo $$ > pid; sleep 1000 & echo $! > grandchild; while :; do wait; done";
    folder.write("p.toml", exec("sh", &format!("[\"-c\", \"{script}\"]"), "timeout = \"300ms\""));
    let ran = folder.hatir(&["run", "p.toml", "--trust"]).expect(1).says("E0302").says("child");
    assert!(ran.elapsed < Duration::from_secs(5), "{:?}", ran.elapsed);
    assert_dies(&folder, "pid");
    assert_dies(&folder, "grandchild");
}

/// The process whose number a file holds ends soon.
fn assert_dies(folder: &Folder, file: &str) {
    let pid = folder.read(file).trim().to_owned();
    wait_for(&format!("process {pid} is gone"), || !alive(&pid));
}

fn alive(pid: &str) -> bool {
    // A zombie has ended; nobody has asked how yet.
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn a_child_that_prints_a_gigabyte() {
    let folder = Folder::new();
    folder.write("p.toml", exec("sh", "[\"-c\", \"yes | head -c 1000000000\"]", ""));
    let ran = folder.hatir(&["run", "p.toml", "--trust"]).expect(1).prints_nothing().says("child");
    assert!(ran.stderr.len() < 100_000);
}

#[test]
fn a_child_that_closes_its_input_at_once() {
    let folder = Folder::new();
    let text = exec("sh", "[\"-c\", \"exec <&-; echo '{\\\"ok\\\": true}'\"]", "in.big = \"$input.big\"")
        .replace("[pipeline]", "[pipeline]\ninput = { big = \"text\" }");
    folder.write("p.toml", text).write("big.txt", "x".repeat(10 << 20));
    let ran = folder.hatir(&["run", "p.toml", "--trust", "--input", "big=@big.txt", "--format", "json"]).expect(0);
    assert_eq!(ran.json(), serde_json::json!({ "ok": true }));
}

#[test]
fn a_program_is_not_started_from_a_folder_that_is_not_trusted() {
    let folder = Folder::new();
    folder.write("p.toml", exec("sh", "[\"-c\", \"touch started; echo 1\"]", ""));
    folder.hatir(&["run", "p.toml"]).expect(1).says("--trust").says("sh");
    assert!(!folder.path("started").exists());
    folder.hatir(&["run", "p.toml", "--trust"]).expect(0);
    assert!(folder.path("started").exists());
}

#[test]
fn a_pipe_that_is_closed_by_its_reader() {
    let folder = Folder::new();
    folder.write("p.toml", COUNT).write("in.jsonl", "{\"text\":\"a\"}\n".repeat(100_000));
    let mut child = folder.spawn(&["run", "p.toml", "--batch", "in.jsonl"]);
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let begun = Instant::now();
    ran(&child.wait_with_output().unwrap(), begun).expect(0);
    assert_eq!(&first, b"{\"record\":");
}

#[test]
fn ctrl_c_ends_a_run_at_once_and_its_children_too() {
    let folder = Folder::new();
    folder.write("p.toml", exec("sh", "[\"-c\", \"trap '' TERM; echo $$ > pid; sleep 1000\"]", ""));
    let child = folder.spawn(&["run", "p.toml", "--trust"]);
    wait_for("the child runs", || folder.path("pid").exists() && !folder.read("pid").is_empty());
    let begun = Instant::now();
    interrupt(&child);
    let ran = ran(&child.wait_with_output().unwrap(), begun).expect(130).prints_nothing();
    // 200 ms on a machine of its own; the bound here only tells a prompt end from a hang.
    assert!(ran.elapsed < Duration::from_secs(2), "{:?}", ran.elapsed);
    assert_dies(&folder, "pid");
}

#[test]
fn ctrl_c_ends_a_batch_that_can_be_resumed() {
    let folder = Folder::new();
    let records: String = (0..40_000).fold(String::new(), |mut text, at| {
        let _ = writeln!(text, "{{\"text\":\"record {at}\"}}");
        text
    });
    folder.write("p.toml", COUNT).write("in.jsonl", records);
    let arguments = ["run", "p.toml", "--batch", "in.jsonl", "--out", "out.jsonl"];
    let child = folder.spawn(&arguments);
    let part = folder.path("out.jsonl.part");
    wait_for("something is written", || part.metadata().is_ok_and(|found| found.len() > 0));
    interrupt(&child);
    ran(&child.wait_with_output().unwrap(), Instant::now()).expect(130);
    folder.hatir(&arguments).expect(2).says("--resume");
    folder.hatir(&[&arguments[..], &["--resume"]].concat()).expect(0);
    assert!(!part.exists());
    folder.hatir(&["run", "p.toml", "--batch", "in.jsonl", "--out", "whole.jsonl"]).expect(0);
    assert!(folder.read("out.jsonl") == folder.read("whole.jsonl"), "the two results differ");
}

/// Killed at many moments, the result is in the end the one of an unbroken run.
#[test]
fn a_killed_batch_is_resumed_to_the_same_bytes() {
    #[expect(clippy::disallowed_methods, reason = "the long test asks for more kills")]
    let kills: usize = std::env::var("HATIR_TEST_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(10);
    let folder = Folder::new();
    let records: String = (0..20_000).fold(String::new(), |mut text, at| {
        let _ = writeln!(text, "{{\"id\":{at},\"text\":\"{}\"}}", "word ".repeat(at % 50));
        text
    });
    folder.write("p.toml", COUNT).write("in.jsonl", records);
    folder.hatir(&["run", "p.toml", "--batch", "in.jsonl", "--out", "whole.jsonl"]).expect(0);
    let whole = folder.read("whole.jsonl");
    let arguments = ["run", "p.toml", "--batch", "in.jsonl", "--out", "out.jsonl", "--resume"];
    for kill in 0..kills {
        let mut child = folder.spawn(&arguments);
        std::thread::sleep(Duration::from_millis(5 + (kill as u64 * 37) % 200));
        // It may have ended before; then the next one begins anew.
        let _ = child.kill();
        child.wait().unwrap();
        if folder.path("out.jsonl").exists() {
            assert!(folder.read("out.jsonl") == whole, "kill {kill}");
            std::fs::remove_file(folder.path("out.jsonl")).unwrap();
        }
    }
    folder.hatir(&arguments).expect(0);
    assert!(folder.read("out.jsonl") == whole);
}

fn interrupt(child: &std::process::Child) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
}

/// A stage that was stopped has not failed: nothing false may stand in the result that is resumed.
#[test]
fn ctrl_c_leaves_no_error_records_behind() {
    let folder = Folder::new();
    let text = exec("sh", "[\"-c\", \"sleep 0.05; cat\"]", "in.t = \"$input.t\"")
        .replace("[pipeline]", "[pipeline]\ninput = { t = \"text\" }");
    let records: String = (0..40).fold(String::new(), |mut text, at| {
        let _ = writeln!(text, "{{\"t\":\"{at}\"}}");
        text
    });
    folder.write("p.toml", text).write("in.jsonl", records);
    let arguments = ["run", "p.toml", "--batch", "in.jsonl", "--out", "out.jsonl", "--jobs", "2", "--trust"];
    let child = folder.spawn(&arguments);
    let part = folder.path("out.jsonl.part");
    wait_for("something is written", || part.metadata().is_ok_and(|found| found.len() > 0));
    interrupt(&child);
    ran(&child.wait_with_output().unwrap(), Instant::now()).expect(130);
    assert!(!folder.read("out.jsonl.part").contains("error"), "{}", folder.read("out.jsonl.part"));
    folder.hatir(&[&arguments[..], &["--resume"]].concat()).expect(0);
    folder.hatir(&["run", "p.toml", "--batch", "in.jsonl", "--out", "whole.jsonl", "--trust"]).expect(0);
    assert_eq!(folder.read("out.jsonl"), folder.read("whole.jsonl"));
}

#[test]
fn a_stream_is_read_once() {
    let folder = Folder::new();
    folder.write("p.toml", COUNT);
    let input = "{\"text\":\"a\"}\n{\"text\":\"b c\"}\n";
    let arguments = ["run", "p.toml", "--batch", "/dev/stdin", "--out", "out.jsonl"];
    folder.hatir_with_input(&arguments, input).expect(0).says("2 records, 0 failed");
    assert_eq!(folder.read("out.jsonl").lines().count(), 2);
}

#[test]
fn a_result_is_not_written_over_what_it_is_made_of() {
    let folder = Folder::new();
    folder.write("p.toml", COUNT).write("in.jsonl", "{\"text\":\"a\"}\n");
    for (out, what) in [("in.jsonl", "the input of the batch"), ("p.toml", "the pipeline file")] {
        folder.hatir(&["run", "p.toml", "--batch", "in.jsonl", "--out", out]).expect(2).says(what);
    }
    assert_eq!((folder.read("p.toml").as_str(), folder.read("in.jsonl").as_str()), (COUNT, "{\"text\":\"a\"}\n"));
    std::os::unix::fs::symlink("real.jsonl", folder.path("link.jsonl")).unwrap();
    folder.write("real.jsonl", "old");
    folder.hatir(&["run", "p.toml", "--batch", "in.jsonl", "--out", "link.jsonl"]).expect(0);
    assert!(folder.path("link.jsonl").is_symlink() && folder.read("real.jsonl").contains("\"output\":1"));
    // A killed run leaves its work beside the file that the link leads to, and --resume finds it there.
    folder.write("real.jsonl.part", "{\"record\":0,\"out");
    folder
        .hatir(&["run", "p.toml", "--batch", "in.jsonl", "--out", "link.jsonl", "--resume"])
        .expect(2)
        .says("--restart");
}

#[test]
fn a_file_that_is_written_anew_stays_as_it_was_when_the_work_fails() {
    let folder = Folder::new();
    folder.write("old.jsonl", "old\n").write("bad.txt", b"\xff").write(
        "p.toml",
        "version = 1\n[pipeline]\ninput = { text = \"text\" }\noutput = [\"lines\", \"bad\"]\n[stage.lines]\n\
         use = \"write.jsonl\"\nin.items = \"$input.text\"\nwith.path = \"old.jsonl\"\n[stage.bad]\nuse = \"read.file\"\n\
         with.path = \"bad.txt\"\nwhen = { input = \"lines\", is = \"present\" }\n",
    );
    folder.hatir(&["run", "p.toml", "--input", "text=new"]).expect(1).says("bad.txt");
    assert_eq!(folder.read("old.jsonl"), "old\n");
    folder.write("in.jsonl", "{\"text\":\"a\"}\n");
    let resumed = ["run", "p.toml", "--batch", "in.jsonl", "--out", "out.jsonl", "--resume"];
    folder.hatir(&resumed).expect(2).says("mode=append");
}

#[test]
fn a_standard_error_that_is_gone_changes_no_exit_code() {
    let folder = Folder::new();
    folder.write("p.toml", COUNT).write("in.jsonl", "{\"text\":5}\n");
    for (arguments, code) in
        [(&["run", "p.toml", "--batch", "in.jsonl"][..], 1), (&["run", "p.toml", "--input", "text=a", "--timings"], 0)]
    {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ran = finish(folder.command(arguments).stderr(full).stdout(Stdio::piped()));
        assert!(!ran.stdout.is_empty(), "the result is still printed");
        ran.expect(code);
    }
}

#[test]
fn a_reader_that_has_stopped_reading_does_not_make_the_process_deaf() {
    let folder = Folder::new();
    folder.write("big.txt", "x".repeat(1 << 20)).write(
        "p.toml",
        "version = 1\n[pipeline]\noutput = \"text\"\n[stage.text]\nuse = \"read.file\"\nwith.path = \"big.txt\"\n\
         with.as = \"text\"\n",
    );
    let mut child = folder.spawn(&["run", "p.toml"]);
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 1]).unwrap();
    interrupt(&child);
    let begun = Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[test]
fn a_number_of_jobs_that_no_machine_has_is_refused() {
    let folder = Folder::new();
    folder.write("p.toml", COUNT).write("in.jsonl", "{\"text\":\"a\"}\n");
    folder.hatir(&["run", "p.toml", "--batch", "in.jsonl", "--jobs", "1000000000"]).expect(2).says("1024");
    folder.hatir(&["run", "p.toml", "--batch", "in.jsonl", "--jobs", "1024"]).expect(0);
}
