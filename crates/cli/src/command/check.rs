//! `hatir check`: everything that is wrong with pipeline files, at once.

use std::io::Write;
use std::sync::Arc;

use hatir_pipeline::{BuildError, BuildOptions, Environment, Report, Runner};
use serde_json::json;

use crate::args::{CheckArgs, Format};
use crate::exit::Exit;
use crate::load;

pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<Exit> {
    let mut exit = Exit::Fine;
    let mut documents = Vec::new();
    for path in &args.files {
        // A check needs no environment; opening files does.
        let environment = if args.open { load::environment() } else { Environment::Unknown };
        let compiled = load::compile_file(path, &args.set, environment);
        let mut reports = vec![compiled.report];
        if let Some(plan) = compiled.plan.map(Arc::new).filter(|_| args.open) {
            let options = BuildOptions { trusted: args.trust, dry_run: false, ..BuildOptions::default() };
            if let Err(BuildError::Stages(failures)) = Runner::build(plan.clone(), &options) {
                reports.push(plan.report_build_failures(&failures));
            }
        }
        let fine = !reports.iter().any(Report::has_errors);
        if !fine {
            exit = Exit::Wrong;
        }
        match args.format {
            Format::Text => {
                reports.iter().for_each(load::print_report);
                if fine {
                    writeln!(std::io::stdout(), "{}: fine", path.display())?;
                }
            }
            Format::Json | Format::Jsonl => {
                let problems: Vec<_> = reports
                    .iter()
                    .flat_map(|report| report.to_json().as_array().cloned().unwrap_or_default())
                    .collect();
                documents.push(json!({ "file": path.display().to_string(), "fine": fine, "problems": problems }));
            }
        }
    }
    match args.format {
        Format::Text => {}
        Format::Json => load::print_json(Format::Json, &documents.into())?,
        Format::Jsonl => documents.iter().try_for_each(|document| load::print_json(Format::Jsonl, document))?,
    }
    Ok(exit)
}
