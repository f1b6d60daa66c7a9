//! How the program ends.

use std::fmt;
use std::io;
use std::process::ExitCode;

/// Exit codes, as documented in `hatir --help`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Fine.
    Fine,
    /// The work, or a test, failed.
    Failed,
    /// The file or the arguments are wrong.
    Wrong,
    /// Interrupted by a signal.
    Interrupted,
}

impl Exit {
    pub(crate) fn number(self) -> u8 {
        match self {
            Exit::Fine => 0,
            Exit::Failed => 1,
            Exit::Wrong => 2,
            Exit::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.number())
    }
}

/// An error with the exit code it leads to and, where there is one, a remedy.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Failure {
    /// The arguments, or a file that they name, are wrong.
    pub(crate) fn wrong(message: impl Into<String>) -> Self {
        Failure { exit: Exit::Wrong, message: message.into(), hint: None }
    }

    /// The work failed.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Failure { exit: Exit::Failed, message: message.into(), hint: None }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Failure { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Whether the reader of our output has gone away (`hatir … | head`), which is no error of ours.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe))
}

/// Tells the person something on standard error. Nothing can be done about a standard error that cannot be written to,
/// and it must not change how the work ends.
pub(crate) fn tell(text: impl fmt::Display) {
    use std::io::Write;
    let _ = write!(anstream::stderr(), "{text}");
}
