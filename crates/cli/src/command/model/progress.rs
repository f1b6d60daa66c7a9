//! A bar for the person who waits.

use std::io::IsTerminal;
use std::time::Duration;

use hatir_rank::model::{Event, Progress, Step};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::exit::tell;

/// A bar on standard error when that is a terminal; otherwise only failed attempts are told.
pub(super) struct Bar(ProgressBar);

impl Bar {
    pub(super) fn new() -> Self {
        let target = match std::io::stderr().is_terminal() {
            true => ProgressDrawTarget::stderr_with_hz(10),
            false => ProgressDrawTarget::hidden(),
        };
        Self(ProgressBar::with_draw_target(None, target))
    }

    /// Takes the bar off the screen.
    pub(super) fn clear(&self) {
        self.0.finish_and_clear();
    }

    /// Begins anew, with what is done already.
    pub(super) fn begin(&self, work: &str, file: &str, at: u64, bytes: Option<u64>) {
        let template = match bytes {
            Some(_) => "{msg} {bar:30} {decimal_bytes}/{decimal_total_bytes}, {decimal_bytes_per_sec}, {eta} left",
            None => "{msg} {spinner} {decimal_bytes}, {decimal_bytes_per_sec}",
        };
        self.0.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
        match bytes {
            Some(bytes) => self.0.set_length(bytes),
            None => self.0.unset_length(),
        }
        self.0.set_message(format!("{work} {file}"));
        // What came before says nothing about the speed now.
        self.0.set_position(at);
        self.0.reset_eta();
        if !self.0.is_hidden() {
            self.0.enable_steady_tick(Duration::from_millis(200));
        }
    }

    pub(super) fn advance(&self, bytes: u64) {
        self.0.inc(bytes);
    }
}

impl Progress for Bar {
    fn report(&self, event: &Event<'_>) {
        match event {
            Event::Begin { step, file, at, bytes } => {
                let work = match step {
                    Step::Fetch => "fetching",
                    Step::Copy => "copying",
                    _ => "checking",
                };
                self.begin(work, file, *at, *bytes);
            }
            Event::Advance { bytes } => self.advance(*bytes),
            Event::Retry { file, problem, pause } => {
                let wait = match pause.as_secs() {
                    0 => "trying again".to_owned(),
                    seconds => format!("trying again in {seconds} s"),
                };
                self.0.suspend(|| tell(format_args!("{file}: {problem}; {wait}\n")));
            }
            _ => {}
        }
    }
}
