//! `hatir bench`: the figures of our own code on files of questions with known answers.

mod args;
mod engine;
mod files;
mod judgements;
mod metrics;
mod perturb;
mod question;
mod record;
mod report;
mod retrieve;
mod settings;
mod silence;
mod usage;

pub(crate) use args::BenchCommand;

use crate::exit::Exit;

pub(crate) fn run(command: &BenchCommand) -> anyhow::Result<Exit> {
    match command {
        BenchCommand::Retrieve(args) => retrieve::run(args),
        BenchCommand::Silence(args) => silence::run(args),
        BenchCommand::Perturb(args) => perturb::run(args),
    }
}
