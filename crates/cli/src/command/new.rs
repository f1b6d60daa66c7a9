//! `hatir new`: a file to start from.

use std::io::Write;

use hatir_pipeline::starters;

use crate::args::NewArgs;
use crate::exit::{Exit, Failure, tell};

pub(crate) fn run(args: &NewArgs) -> anyhow::Result<Exit> {
    if args.list {
        let mut stdout = std::io::stdout().lock();
        for starter in starters() {
            writeln!(stdout, "{:12} {}", starter.name, starter.about)?;
        }
        return Ok(Exit::Fine);
    }
    let Some(path) = &args.file else { return Ok(Exit::Wrong) };
    let Some(starter) = starters().iter().find(|starter| starter.name == args.starter) else {
        let known: Vec<&str> = starters().iter().map(|starter| starter.name).collect();
        return Err(Failure::wrong(format!(
            "there is no starter \"{}\"; the starters are {}",
            args.starter,
            known.join(", ")
        ))
        .into());
    };
    // `create_new` makes sure that nobody's file is overwritten.
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .and_then(|mut file| file.write_all(starter.text.as_bytes()));
    match written {
        Ok(()) => {
            tell(format_args!("wrote {}; try `hatir check {0}` and `hatir test {0}`\n", path.display()));
            Ok(Exit::Fine)
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(Failure::wrong(format!("{} exists already", path.display())).hint("choose another name").into())
        }
        Err(error) => Err(Failure::failed(format!("{} could not be written: {error}", path.display())).into()),
    }
}
