//! `hatir model remove`.

use std::io::Write;

use hatir_rank::model::ModelStore;
use serde_json::json;

use super::args::RemoveArgs;
use super::failure;
use crate::args::Format;
use crate::exit::Exit;

pub(crate) fn run(args: &RemoveArgs) -> anyhow::Result<Exit> {
    let store = ModelStore::new(args.models.folder());
    let mut removed = Vec::new();
    let mut stdout = std::io::stdout().lock();
    for name in &args.names {
        // What was removed before a failure is said, whatever the format: it is gone.
        if let Err(error) = store.remove(name) {
            finish(&mut stdout, &removed, args.format)?;
            return Err(failure(&error).into());
        }
        match args.format {
            Format::Text => writeln!(stdout, "removed {name}")?,
            Format::Jsonl => writeln!(stdout, "{}", json!({ "removed": name }))?,
            Format::Json => removed.push(name),
        }
    }
    finish(&mut stdout, &removed, args.format)?;
    Ok(Exit::Fine)
}

fn finish(stdout: &mut impl Write, removed: &[&String], format: Format) -> std::io::Result<()> {
    match format {
        Format::Json => writeln!(stdout, "{:#}", json!({ "removed": removed })),
        Format::Text | Format::Jsonl => Ok(()),
    }
}
