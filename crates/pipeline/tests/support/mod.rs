//! A stage kind that does as it is told, and short ways to build and run a text that uses it.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use hatir_pipeline::{
    BuildContext, BuildError, BuildOptions, Cancel, Inputs, Kind, Options, Plan, Port, Ports, Registry, RunOptions,
    RunReport, Runner, Source, Stage, StageContext, StageError, StageReport, Type, Value, Weight, compile,
};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// Returns `[name, [what came in…]]`, after whatever its configuration asks for.
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of its own in the file")]
pub(crate) struct Probe {
    /// Sleeps this long without looking at the signal to stop.
    deaf_ms: u64,
    /// Sleeps this long, and wakes up when asked to stop.
    work_ms: u64,
    /// Fails at this many tries, then works.
    fail: u32,
    /// Whether its failures are there to stay.
    permanent: bool,
    /// Whether it panics.
    panic: bool,
    /// Whether it runs on the conductor's thread.
    light: bool,
    /// Whether it returns another type than it declares.
    lie: bool,
    /// Whether it counts as changing something outside.
    effects: bool,
    /// Whether it cannot be built.
    fail_in_build: bool,
    /// Whether building it panics.
    panic_in_build: bool,
}

impl Kind for Probe {
    const NAME: &'static str = "test.probe";
    const ABOUT: &'static str = "Does as it is told.";

    fn ports(_: Option<&Self>) -> Ports {
        let need = Port::optional("need", Type::Json, "What it passes on.").many();
        Ports { open: Some(Type::Json), ..Ports::new(vec![need], Type::Json) }
    }

    fn has_effects(&self) -> bool {
        self.effects
    }

    fn build(&self, _: &BuildContext) -> Result<Box<dyn Stage>, StageError> {
        if self.fail_in_build {
            return Err(StageError::permanent("asked to fail in build"));
        }
        assert!(!self.panic_in_build, "asked to panic in build");
        Ok(Box::new(Running { probe: self.clone(), tries: AtomicU32::new(0) }))
    }
}

/// The same, with a port that must be fed.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Needy {}

impl Kind for Needy {
    const NAME: &'static str = "test.needy";
    const ABOUT: &'static str = "Needs something.";

    fn ports(_: Option<&Self>) -> Ports {
        Ports::new(vec![Port::required("need", Type::Json, "What it passes on.").many()], Type::Json)
    }

    fn build(&self, context: &BuildContext) -> Result<Box<dyn Stage>, StageError> {
        Probe::default().build(context)
    }
}

struct Running {
    probe: Probe,
    tries: AtomicU32,
}

impl Stage for Running {
    fn run(&self, inputs: &Inputs, context: &StageContext) -> Result<Value, StageError> {
        let probe = &self.probe;
        assert!(!probe.panic, "asked to panic");
        std::thread::sleep(Duration::from_millis(probe.deaf_ms));
        if context.cancel.sleep(Duration::from_millis(probe.work_ms)) {
            return Err(StageError::new("asked to stop"));
        }
        let tries = self.tries.fetch_add(1, Ordering::SeqCst) + 1;
        if tries <= probe.fail {
            let message = format!("asked to fail, try {tries}");
            return Err(if probe.permanent { StageError::permanent(message) } else { StageError::new(message) });
        }
        if probe.lie {
            return Ok(Value::text("a lie"));
        }
        let values: Vec<Json> = inputs.iter().flat_map(|(_, values)| values.iter().map(Value::to_json)).collect();
        Ok(Value::json(json!([&*context.stage, values])))
    }

    fn weight(&self) -> Weight {
        if self.probe.light { Weight::Light } else { Weight::Blocking }
    }
}

pub(crate) fn plan(text: &str) -> Arc<Plan> {
    let mut registry = Registry::empty();
    registry.register::<Probe>();
    registry.register::<Needy>();
    let compiled = compile(Source::new("test.toml", text), &registry, &Options::default());
    let rendered = compiled.report.render(false);
    Arc::new(compiled.plan.unwrap_or_else(|| panic!("{rendered}")))
}

pub(crate) fn build(text: &str) -> Runner {
    Runner::build(plan(text), &BuildOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn build_error(text: &str) -> BuildError {
    Runner::build(plan(text), &BuildOptions::default()).err().unwrap()
}

pub(crate) async fn run(text: &str) -> RunReport {
    build(text).run(&no_inputs(), &RunOptions::default()).await
}

pub(crate) fn no_inputs() -> IndexMap<String, Value> {
    IndexMap::new()
}

pub(crate) fn with_cancel(cancel: &Cancel) -> RunOptions {
    RunOptions { cancel: cancel.clone(), ..RunOptions::default() }
}

pub(crate) fn stage<'report>(report: &'report RunReport, name: &str) -> &'report StageReport {
    report.stages.iter().find(|stage| *stage.stage == *name).unwrap()
}
