//! From a path to a checked plan, with problems printed on the way.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use hatir_pipeline::{
    BuildError, BuildOptions, Compiled, Environment, Options, Plan, Registry, Report, Runner, Source, compile,
};

use crate::args::Format;
use crate::exit::{Exit, Failure};

/// The environment as the pipeline may see it: it picks what its file declares.
pub(crate) fn environment() -> Environment {
    let readable =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Environment::Known(readable.collect::<BTreeMap<_, _>>())
}

/// Reads and compiles a file. Warnings and errors are in the report; there is a plan when there are no errors.
pub(crate) fn compile_file(path: &Path, set: &[String], environment: Environment) -> Compiled {
    match Source::read(path) {
        Ok(source) => compile(source, &Registry::standard(), &Options { environment, set: set.to_vec() }),
        Err(report) => Compiled { plan: None, report },
    }
}

/// Reads and compiles a file, prints what is wrong with it on standard error, and returns the plan if there is one.
pub(crate) fn load(path: &Path, set: &[String], environment: Environment) -> Result<Arc<Plan>, Exit> {
    let compiled = compile_file(path, set, environment);
    print_report(&compiled.report);
    compiled.plan.map(Arc::new).ok_or(Exit::Wrong)
}

/// Prints problems on standard error.
pub(crate) fn print_report(report: &Report) {
    if !report.is_empty() {
        let mut stderr = anstream::stderr().lock();
        // Nothing can be done about a standard error that cannot be written to.
        let _ = stderr.write_all(report.render(colour()).as_bytes());
    }
}

/// Whether standard error shows colours.
pub(crate) fn colour() -> bool {
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}

/// Builds a plan, or prints why that cannot be done.
pub(crate) fn build(plan: &Arc<Plan>, options: &BuildOptions) -> anyhow::Result<Result<Runner, Exit>> {
    match Runner::build(plan.clone(), options) {
        Ok(runner) => Ok(Ok(runner)),
        Err(BuildError::Stages(failures)) => {
            print_report(&plan.report_build_failures(&failures));
            Ok(Err(Exit::Failed))
        }
        Err(other) => Err(Failure::wrong(other.to_string()).into()),
    }
}

/// Prints a JSON document for scripts: on one line for `jsonl`, over several for `json`.
pub(crate) fn print_json(format: Format, json: &serde_json::Value) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    if format == Format::Jsonl {
        serde_json::to_writer(&mut stdout, json)?;
    } else {
        serde_json::to_writer_pretty(&mut stdout, json)?;
    }
    writeln!(stdout)?;
    Ok(())
}
