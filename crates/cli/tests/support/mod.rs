//! A folder of its own for each test, and the real binary in it.
#![allow(dead_code, clippy::unwrap_used, reason = "every test file uses its own part of this, and a test may unwrap")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The folder of the repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

pub(crate) struct Folder {
    folder: tempfile::TempDir,
}

/// What a process printed and how it ended.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) elapsed: Duration,
}

impl Ran {
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn says(self, part: &str) -> Self {
        assert!(self.stderr.contains(part), "no {part:?} in standard error:\n{}", self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn prints(self, part: &str) -> Self {
        assert!(self.stdout.contains(part), "no {part:?} in standard output:\n{}", self.stdout);
        self
    }

    #[track_caller]
    pub(crate) fn prints_nothing(self) -> Self {
        assert_eq!(self.stdout, "");
        self
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}:\n{}", self.stdout))
    }
}

impl Folder {
    pub(crate) fn new() -> Self {
        Folder { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hatir"));
        command
            .current_dir(self.folder.path())
            .args(arguments)
            .env("XDG_STATE_HOME", self.path("state"))
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn hatir(&self, arguments: &[&str]) -> Ran {
        finish(self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()))
    }

    pub(crate) fn hatir_with_input(&self, arguments: &[&str], input: &str) -> Ran {
        let begun = Instant::now();
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A process that ends without reading its input is no failure of the test.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        ran(&child.wait_with_output().unwrap(), begun)
    }

    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

pub(crate) fn finish(command: &mut Command) -> Ran {
    let begun = Instant::now();
    ran(&command.output().unwrap(), begun)
}

pub(crate) fn ran(output: &Output, begun: Instant) -> Ran {
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        elapsed: begun.elapsed(),
    }
}

/// Waits until `condition` holds, for a generous while.
#[track_caller]
pub(crate) fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(30), "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A pipeline that counts the tokens of a text: the smallest thing that works.
pub(crate) const COUNT: &str = "\
version = 1

[pipeline]
input  = { text = \"text\" }
output = \"tokens\"

[stage.tokens]
use = \"budget.count\"
in.text = \"$input.text\"
";
