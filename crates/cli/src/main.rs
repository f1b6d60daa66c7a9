//! The binary `hatir`: thin commands that turn their arguments into one library call and print the answer.
//!
//! Standard output carries results only; problems, notes and progress go to standard error.

#![forbid(unsafe_code)]

mod args;
mod clock;
mod command;
mod exit;
mod load;
mod models;
mod show;
mod signals;
mod trust;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::args::{Cli, Command};
use crate::exit::{Exit, Failure, is_broken_pipe};

fn main() -> ExitCode {
    // Problems of the arguments end here with exit code 2, help and version with 0.
    let cli = Cli::parse();
    let exit = match dispatch(&cli.command) {
        Ok(exit) => exit,
        // Whoever read our output has seen enough: `hatir … | head` is no failure.
        Err(error) if is_broken_pipe(&error) => Exit::Fine,
        Err(error) => report(&error),
    };
    exit.into()
}

fn dispatch(command: &Command) -> anyhow::Result<Exit> {
    match command {
        Command::Run(args) => command::run::run(args),
        Command::Check(args) => command::check::run(args),
        Command::Test(args) => command::test::run(args),
        Command::Graph(args) => command::inspect::graph(args),
        Command::Explain(args) => command::inspect::explain(args),
        Command::Schema(args) => command::inspect::schema(args),
        Command::Stages(args) => command::inspect::stages(args),
        Command::New(args) => command::new::run(args),
        Command::Bench(command) => command::bench::run(command),
        Command::Model(command) => command::model::run(command),
        Command::Completions { shell } => {
            // The generator panics when its writer fails, so it writes to memory first.
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "hatir", &mut script);
            std::io::stdout().lock().write_all(&script)?;
            Ok(Exit::Fine)
        }
    }
}

/// Prints an error with its causes and its remedy.
fn report(error: &anyhow::Error) -> Exit {
    let mut stderr = anstream::stderr().lock();
    // Nothing can be done about a standard error that cannot be written to.
    let _ = writeln!(stderr, "error: {error:#}");
    let failure = error.downcast_ref::<Failure>();
    if let Some(hint) = failure.and_then(|failure| failure.hint.as_ref()) {
        let _ = writeln!(stderr, "  help: {hint}");
    }
    failure.map_or(Exit::Failed, |failure| failure.exit)
}
