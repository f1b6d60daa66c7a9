//! Runs a child to its end, or ends it: with its whole process group, in bounded memory, without busy waiting.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::cancel::Cancel;

/// How long a child may clear up between SIGTERM and SIGKILL.
const PATIENCE: Duration = Duration::from_millis(100);

/// How long we wait for the system to take a killed child away, or for the last of its output. A process in the middle
/// of an uninterruptible read can outlive even SIGKILL; it is left behind then.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// How much of the error output is kept: its end.
const KEPT_STDERR: usize = 64 * 1024;

/// How a child ended by itself, whatever its code.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// Why there is no result.
pub(super) enum Trouble {
    /// It could not be started.
    Start(io::Error),
    /// The system does not tell how it ended.
    Wait(io::Error),
    /// It was asked to stop. With the end of its error output.
    Stopped(Vec<u8>),
    /// It printed more than allowed. With the end of its error output.
    TooMuch(Vec<u8>),
}

enum Event {
    Stdout(Printed),
    Stderr(Vec<u8>),
    /// The child has ended and waits to be taken away.
    Exited,
    Cancelled,
}

/// What the child printed.
enum Printed {
    /// It may still print.
    Open,
    All(Vec<u8>),
    TooMuch,
}

/// Runs the child to its end.
///
/// Each pipe has a thread of its own, so that a child that prints before it reads, or never reads, cannot block us. None
/// of the threads is joined: a process that left the group may hold the other end of a pipe for ever.
pub(super) fn run(mut command: Command, input: Vec<u8>, max_output: u64, cancel: &Cancel) -> Result<Ended, Trouble> {
    if cancel.is_cancelled() {
        return Err(Trouble::Stopped(Vec::new()));
    }
    command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().map_err(Trouble::Start)?;

    let (sender, events) = channel();
    if let Some(stdin) = child.stdin.take() {
        thread::spawn(move || feed(stdin, &input));
    }
    if let Some(stdout) = child.stdout.take() {
        let sender = sender.clone();
        thread::spawn(move || sender.send(Event::Stdout(read_all(stdout, max_output))));
    }
    if let Some(stderr) = child.stderr.take() {
        let sender = sender.clone();
        thread::spawn(move || sender.send(Event::Stderr(read_end(stderr))));
    }
    let group = Pid::from_child(&child);
    let watch = cancel.child();
    watch_exit(group, sender.clone());
    watch_cancel(watch.clone(), sender);

    let result = Conductor { child, group, events, stdout: Printed::Open, stderr: None, exited: false }.conduct();
    // Ends the thread that waits for it.
    watch.cancel();
    result
}

/// Tells when the child has ended, but leaves its entry in the table of processes: as long as that is there, its number
/// is not given to another process, and a signal to its group cannot hit a stranger.
fn watch_exit(child: Pid, sender: Sender<Event>) {
    thread::spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while waitid(WaitId::Pid(child), options).is_err_and(|error| error == Errno::INTR) {}
        sender.send(Event::Exited)
    });
}

fn watch_cancel(watch: Cancel, sender: Sender<Event>) {
    const LONG: Duration = Duration::from_hours(1);
    thread::spawn(move || {
        while !watch.sleep(LONG) {}
        sender.send(Event::Cancelled)
    });
}

/// A child that closes its input early has read what it wanted: that is no error.
fn feed(mut stdin: ChildStdin, input: &[u8]) {
    let _ = stdin.write_all(input);
}

fn read_all(stdout: impl Read, max: u64) -> Printed {
    let mut bytes = Vec::new();
    // What was read before an error counts: the child's exit code decides whether it is complete.
    let _ = stdout.take(max + 1).read_to_end(&mut bytes);
    if bytes.len() as u64 > max { Printed::TooMuch } else { Printed::All(bytes) }
}

fn read_end(mut stderr: impl Read) -> Vec<u8> {
    let mut kept = VecDeque::new();
    let mut step = [0; 8 * 1024];
    loop {
        match stderr.read(&mut step) {
            Ok(0) => break,
            Ok(read) => {
                kept.extend(&step[..read]);
                kept.drain(..kept.len().saturating_sub(KEPT_STDERR));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    kept.into()
}

struct Conductor {
    child: Child,
    group: Pid,
    events: Receiver<Event>,
    stdout: Printed,
    stderr: Option<Vec<u8>>,
    exited: bool,
}

impl Conductor {
    fn conduct(mut self) -> Result<Ended, Trouble> {
        while !self.exited {
            match self.events.recv() {
                Ok(Event::Cancelled) => {
                    self.end_it();
                    return Err(Trouble::Stopped(self.stderr.unwrap_or_default()));
                }
                Ok(event) => self.note(event),
                // All senders are gone, which only happens when the watching thread has died.
                Err(_) => self.exited = true,
            }
            if matches!(self.stdout, Printed::TooMuch) {
                self.end_it();
                return Err(Trouble::TooMuch(self.stderr.unwrap_or_default()));
            }
        }
        // What the child left behind in its group would keep the pipes open.
        self.signal(Signal::KILL);
        self.collect_output();
        let status = self.child.wait().map_err(Trouble::Wait)?;
        let stderr = self.stderr.unwrap_or_default();
        match self.stdout {
            Printed::All(stdout) => Ok(Ended { status, stdout, stderr }),
            Printed::TooMuch => Err(Trouble::TooMuch(stderr)),
            Printed::Open => {
                let message = "a process that it left behind still holds its standard output";
                Err(Trouble::Wait(io::Error::new(io::ErrorKind::TimedOut, message)))
            }
        }
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Stdout(printed) => self.stdout = printed,
            Event::Stderr(printed) => self.stderr = Some(printed),
            Event::Exited => self.exited = true,
            Event::Cancelled => {}
        }
    }

    /// Notes events until `done` holds or the time is up.
    fn wait_until(&mut self, time: Duration, done: impl Fn(&Self) -> bool) {
        let until = Instant::now() + time;
        while !done(self) {
            match self.events.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(event) => self.note(event),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn collect_output(&mut self) {
        self.wait_until(LAST_WORDS, |this| !matches!(this.stdout, Printed::Open) && this.stderr.is_some());
    }

    /// Asks the group to end, then makes it.
    fn end_it(&mut self) {
        self.signal(Signal::TERM);
        self.wait_until(PATIENCE, |this| this.exited);
        self.signal(Signal::KILL);
        self.wait_until(LAST_WORDS, |this| this.exited && this.stderr.is_some());
        if self.exited {
            // Takes the entry out of the table of processes; how it ended is known.
            let _ = self.child.wait();
        }
    }

    /// A group that is gone already needs no signal.
    fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.group, signal);
    }
}
