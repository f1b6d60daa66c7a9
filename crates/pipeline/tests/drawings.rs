//! Graphs, explanations, the schema of the file, and the starters.

#![allow(clippy::unwrap_used, clippy::format_collect, reason = "a test may panic and need not be quick")]

mod kinds;

use std::collections::BTreeSet;
use std::sync::Arc;

use hatir_pipeline::{
    Environment, Options, Plan, Registry, RunOptions, Source, compile, file_schema, run_test, starters,
};
use kinds::{compile_with, known};
use serde_json::Value as Json;

const FILE: &str = r#"version = 1

[pipeline]
about = """
Finds things,
and writes them away."""
input = { question = "text", things = "items?" }
output = { text = "last", found = "found" }
env = ["PLACE"]
max-parallel = 2

[stage.fixed]
use = "test.rich"
about = "Says the same each time."
with.limit = 20
with.path = "${PLACE}/${KIND:-pages}"
with.weights = { a = 0.5 }
with.names = ["x"]

[stage.found]
use = "test.find"
in.query = "$input.question"
timeout = "300ms"
retries = { count = 3, pause = "50ms" }
on-error = "skip"

[stage.last]
use = "test.step"
in.text = "fixed"
in.extra = ["found", "$input.things"]
when = { input = "found", is = "not-empty" }

[stage.write]
use = "test.write"
in.text = "last"

[stage.spare]
use = "test.text"
with.text = "not read"
"#;

fn plan() -> Plan {
    let set = vec!["stage.fixed.with.mode=very-fast".to_owned()];
    compile_with(FILE, &Options { environment: known(&[("PLACE", "/data")]), set }).plan.unwrap()
}

#[test]
fn graph_for_a_terminal() {
    insta::assert_snapshot!(plan().graph_text());
}

#[test]
fn graph_as_mermaid() {
    insta::assert_snapshot!(plan().graph_mermaid());
}

#[test]
fn names_of_outputs_cannot_break_a_drawing() {
    let text = FILE.replace("found = \"found\" }", "\"a\\u001b\\\"b\" = \"found\" }");
    let plan = compile_with(&text, &Options { environment: known(&[("PLACE", "x")]), set: Vec::new() }).plan.unwrap();
    assert!(plan.graph_mermaid().contains("o1([\"a#quot;b\"])"), "{}", plan.graph_mermaid());
    assert!(!plan.graph_text().contains('\u{1b}') && !plan.explain_text().contains('\u{1b}'));
}

#[test]
fn graph_as_dot() {
    insta::assert_snapshot!(plan().graph_dot());
}

#[test]
fn graph_as_json() {
    insta::assert_json_snapshot!(plan().graph_json());
}

#[test]
fn explanation_for_people() {
    insta::assert_snapshot!(plan().explain_text());
}

#[test]
fn explanation_for_programs() {
    let json = plan().explain_json();
    insta::assert_json_snapshot!(json["stages"][0]);
    assert_eq!(json["steps"], serde_json::json!([["fixed", "found", "spare"], ["last"], ["write"]]));
}

#[test]
fn without_an_environment_the_reference_stays_visible() {
    let plan = compile_with(FILE, &Options { environment: Environment::Unknown, set: Vec::new() }).plan.unwrap();
    let text = plan.explain_text();
    assert!(text.contains(r#"with.path = "${PLACE}/pages""#), "{text}");
    assert!(text.contains("PLACE known when it runs, KIND not set, so its default"), "{text}");
}

#[test]
fn neighbors_are_found_in_both_directions() {
    let plan = plan();
    let at = |name: &str| plan.find(name).unwrap().0;
    assert_eq!(plan.neighbors(at("last")), (vec![at("fixed"), at("found")], vec![at("write")]));
    assert_eq!(plan.neighbors(at("spare")), (vec![], vec![]));
}

/// Walks a JSON value and collects every `$ref`.
fn references<'json>(json: &'json Json, found: &mut BTreeSet<&'json str>) {
    match json {
        Json::Object(object) => {
            found.extend(object.get("$ref").and_then(Json::as_str));
            object.values().for_each(|value| references(value, found));
        }
        Json::Array(elements) => elements.iter().for_each(|element| references(element, found)),
        _ => {}
    }
}

#[test]
fn every_reference_in_the_schema_of_a_file_leads_somewhere() {
    for registry in [Registry::standard(), kinds::registry()] {
        let schema = file_schema(&registry);
        let mut found = BTreeSet::new();
        references(&schema, &mut found);
        assert!(found.len() > 10);
        for reference in found {
            let target = reference.strip_prefix('#').unwrap();
            assert!(schema.pointer(target).is_some(), "{reference}");
        }
    }
}

#[test]
fn the_schema_has_a_branch_for_each_kind() {
    let registry = kinds::registry();
    let schema = file_schema(&registry);
    let branches = schema["$defs"]["stage"]["allOf"].as_array().unwrap();
    assert_eq!(branches.len(), registry.iter().count());
    let step = branches.iter().find(|branch| branch["if"]["properties"]["use"]["const"] == "test.step").unwrap();
    let inputs = &step["then"]["properties"]["in"];
    assert_eq!(inputs["required"], serde_json::json!(["text"]));
    assert_eq!(inputs["additionalProperties"], false);
    assert_eq!(inputs["properties"]["extra"]["$ref"], "#/$defs/feeds");
    assert_eq!(step["then"]["required"], serde_json::json!(["in"]));
    let text = branches.iter().find(|branch| branch["if"]["properties"]["use"]["const"] == "test.text").unwrap();
    assert_eq!(text["then"]["required"], serde_json::json!(["with"]));
    assert_eq!(schema["$defs"]["test.rich"]["properties"]["mode"]["$ref"], "#/$defs/test.rich/$defs/Mode");
}

#[test]
fn the_schema_knows_every_key_that_the_starters_use() {
    let registry = Registry::standard();
    let schema = file_schema(&registry);
    for starter in starters() {
        let file: Json = toml::from_str(starter.text).unwrap();
        for table in ["pipeline"] {
            for key in file[table].as_object().unwrap().keys() {
                assert!(schema["properties"][table]["properties"][key].is_object(), "{table}.{key}");
            }
        }
        for stage in file["stage"].as_object().unwrap().values() {
            for key in stage.as_object().unwrap().keys() {
                assert!(schema["$defs"]["stage"]["properties"][key].is_object(), "{key}");
            }
            let kind = stage["use"].as_str().unwrap();
            for key in stage["with"].as_object().into_iter().flat_map(serde_json::Map::keys) {
                assert!(schema["$defs"][kind]["properties"][key].is_object(), "{kind}: {key}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn starters_have_no_problems_and_their_tests_pass() {
    for starter in starters() {
        let source = Source::new(format!("{}.toml", starter.name), starter.text);
        let compiled = compile(source, &Registry::standard(), &Options::default());
        assert!(compiled.report.is_empty(), "{}", compiled.report.render(false));
        let plan = Arc::new(compiled.plan.unwrap());
        assert!(!plan.tests().is_empty(), "{}", starter.name);
        for test in plan.tests() {
            let report = run_test(&plan, test, &RunOptions::default()).await;
            assert!(report.passed() && report.checked > 0, "{}: {:?}", starter.name, report.disappointments);
        }
    }
}
