//! `hatir model`: the models that the semantic voice uses.

mod args;
mod install;
mod list;
mod network;
mod progress;
mod remove;
mod verify;

pub(crate) use args::ModelCommand;
use hatir_rank::Error;

use crate::exit::{Exit, Failure};

pub(crate) fn run(command: &ModelCommand) -> anyhow::Result<Exit> {
    match command {
        ModelCommand::List(args) => list::run(args),
        ModelCommand::Install(args) => install::run(args),
        ModelCommand::Verify(args) => verify::run(args),
        ModelCommand::Remove(args) => remove::run(args),
    }
}

/// The name of the runtime library where models are named.
const RUNTIME: &str = "onnxruntime";

/// An error of the store with the exit code it leads to.
fn failure(error: &Error) -> Failure {
    let message = error.to_string();
    match error {
        Error::NoModel { .. } => Failure::wrong(message).hint("`hatir model list` shows what there is"),
        Error::UnknownModel { .. } => Failure::wrong(message)
            .hint("`hatir model list` shows the catalogue; any other model is installed with --from"),
        Error::InvalidConfig { .. } | Error::InvalidSource { .. } | Error::Manifest { .. } => Failure::wrong(message),
        Error::Fetch { .. } => Failure::failed(message)
            .hint("--url takes the address of a mirror; --from installs from a folder, an archive or a wheel"),
        _ => Failure::failed(message),
    }
}

/// A size for people, in decimal units as disks and downloads have them.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1000.0;
    let mut unit = 0;
    // 999.95 would be shown as 1000.0.
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_decimal() {
        for (bytes, shown) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (999_949, "999.9 kB"),
            (999_950, "1.0 MB"),
            (118_308_185, "118.3 MB"),
            (4 << 40, "4.4 TB"),
        ] {
            assert_eq!(size(bytes), shown);
        }
    }
}
