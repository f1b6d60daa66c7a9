//! Any text as a pipeline file: no panic, a plan exactly when there is no error, and every way of showing either works.
//!
//! A line `#set KEY=VALUE` is laid over the file as `--set KEY=VALUE` would be.
#![no_main]

use std::sync::LazyLock;

use hatir_pipeline::{Options, Registry, Source, compile};
use libfuzzer_sys::fuzz_target;

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::standard);

fuzz_target!(|text: &str| {
    let set = text.lines().filter_map(|line| line.strip_prefix("#set ")).map(str::to_owned).collect();
    let options = Options { set, ..Options::default() };
    let compiled = compile(Source::new("fuzz.toml", text), &REGISTRY, &options);
    assert_eq!(compiled.plan.is_some(), !compiled.report.has_errors());
    let shown = compiled.report.render(false);
    assert_eq!(shown.is_empty(), compiled.report.is_empty(), "{shown:?}");
    compiled.report.to_json();
    if let Some(plan) = compiled.plan {
        plan.graph_mermaid();
        plan.graph_dot();
        plan.graph_json();
        plan.graph_text();
        plan.explain_text();
        plan.explain_json();
    }
});
