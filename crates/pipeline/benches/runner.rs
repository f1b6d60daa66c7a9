//! How much a run costs beside the work of its stages.
//!
//! Data: plans of ten stages that return their input unread; a chain, in which each waits for the one before, and a fan,
//! in which none waits for another. Light stages run in place; the others go over the blocking pool, where each costs two
//! changes of thread, except in the records of a batch. Question: what does the runner add to a plan of ten stages? The
//! bound that we hold ourselves to is 100 µs for stages that run in place.

use std::fmt::Write as _;
use std::sync::Arc;

use hatir_pipeline::{
    BuildContext, BuildOptions, Environment, Inputs, Kind, Options, Port, Ports, Registry, RunOptions, Runner, Source,
    Stage, StageContext, StageError, Type, Value, Weight, compile,
};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Empty {
    /// Whether it runs in place.
    light: bool,
}

impl Kind for Empty {
    const NAME: &'static str = "bench.empty";
    const ABOUT: &'static str = "Returns what came in.";

    fn ports(_: Option<&Self>) -> Ports {
        Ports::new(vec![Port::optional("one", Type::Json, "Anything.")], Type::Json)
    }

    fn build(&self, _: &BuildContext) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(self.clone()))
    }
}

impl Stage for Empty {
    fn run(&self, inputs: &Inputs, _: &StageContext) -> Result<Value, StageError> {
        Ok(inputs.get("one").cloned().unwrap_or_else(|| Value::json(serde_json::Value::Null)))
    }

    fn weight(&self) -> Weight {
        if self.light { Weight::Light } else { Weight::Blocking }
    }
}

fn runner(chain: bool, light: bool) -> Runner {
    let mut text = String::from("version = 1\n[pipeline]\ninput = { x = \"json\" }\noutput = [");
    (0..10).for_each(|at| write!(text, "\"s{at}\",").expect("writing to a string cannot fail"));
    text.push_str("]\n");
    for at in 0..10 {
        let feed = if chain && at > 0 { format!("s{}", at - 1) } else { "$input.x".to_owned() };
        write!(text, "[stage.s{at}]\nuse = \"bench.empty\"\nin.one = \"{feed}\"\nwith.light = {light}\n")
            .expect("writing to a string cannot fail");
    }
    let mut registry = Registry::empty();
    registry.register::<Empty>();
    let options = Options { environment: Environment::Unknown, ..Options::default() };
    let compiled = compile(Source::new("bench.toml", text), &registry, &options);
    let Some(plan) = compiled.plan else { panic!("{}", compiled.report.render(false)) };
    Runner::build(Arc::new(plan), &BuildOptions::default()).expect("empty stages can be built")
}

fn bench(bencher: divan::Bencher<'_, '_>, chain: bool, light: bool, own_thread: bool) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let runner = runner(chain, light);
    let inputs = IndexMap::from([("x".to_owned(), Value::json(serde_json::json!({ "a": 1 })))]);
    let options = RunOptions { own_thread, ..RunOptions::default() };
    bencher.bench_local(|| runtime.block_on(runner.run(&inputs, &options)));
}

#[divan::bench]
fn chain_of_ten_light_stages(bencher: divan::Bencher<'_, '_>) {
    bench(bencher, true, true, false);
}

#[divan::bench]
fn fan_of_ten_light_stages(bencher: divan::Bencher<'_, '_>) {
    bench(bencher, false, true, false);
}

#[divan::bench]
fn chain_of_ten_blocking_stages(bencher: divan::Bencher<'_, '_>) {
    bench(bencher, true, false, false);
}

/// As the records of a batch are run, each on a thread of its own.
#[divan::bench]
fn chain_of_ten_blocking_stages_in_a_batch(bencher: divan::Bencher<'_, '_>) {
    bench(bencher, true, false, true);
}

#[divan::bench]
fn fan_of_ten_blocking_stages(bencher: divan::Bencher<'_, '_>) {
    bench(bencher, false, false, false);
}

fn main() {
    divan::main();
}
