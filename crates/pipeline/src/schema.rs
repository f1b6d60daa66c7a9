//! The JSON Schema of a pipeline file, for editors.

use serde_json::{Map, Value as Json, json};

use crate::expectations::CHECKS;
use crate::schema_check::first_line;
use crate::stage::{KindEntry, Registry};
use crate::value::Type;

const NAME: &str = "^[a-z0-9_-]+$";
const DURATION: &str = r"^[0-9]+(\.[0-9]+)?(ms|s|m|h|d)$";

/// The JSON Schema (draft 2020-12) of a pipeline file that uses the kinds of `registry`.
///
/// It describes the form: keys, types, ranges, and for each kind its `with` table and its inputs. Who may feed whom is
/// beyond a schema; [`compile`](crate::compile()) checks that.
///
/// ```
/// use hatir_pipeline::{Registry, file_schema};
///
/// let schema = file_schema(&Registry::standard());
/// assert!(schema["$defs"]["budget.fit"]["properties"]["limit"].is_object());
/// ```
pub fn file_schema(registry: &Registry) -> Json {
    let mut definitions = Map::new();
    let mut branches = Vec::new();
    for kind in registry.iter() {
        definitions.insert(kind.name.to_owned(), with_schema(kind));
        branches.push(branch(kind));
    }
    let kinds: Vec<Json> =
        registry.iter().map(|kind| json!({ "const": kind.name, "description": kind.about })).collect();
    definitions.insert("name".to_owned(), json!({ "type": "string", "pattern": NAME }));
    definitions.insert(
        "duration".to_owned(),
        json!({ "type": "string", "pattern": DURATION,
        "description": "A number and a unit: ms, s, m, h or d." }),
    );
    definitions.insert(
        "feed".to_owned(),
        json!({ "type": "string",
        "description": "The name of a stage, or `$input.NAME` for an input of the pipeline." }),
    );
    definitions.insert("feeds".to_owned(), feeds());
    definitions.insert("checks".to_owned(), checks());
    definitions.insert("stage".to_owned(), stage(&kinds, &branches));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Hatır pipeline",
        "description": "A graph of typed stages that `hatir run` executes.",
        "type": "object",
        "required": ["version", "pipeline", "stage"],
        "additionalProperties": false,
        "properties": {
            "version": { "const": 1, "description": "The version of the format." },
            "pipeline": pipeline(),
            "stage": {
                "type": "object",
                "description": "The stages, by name.",
                "minProperties": 1,
                "propertyNames": { "$ref": "#/$defs/name" },
                "additionalProperties": { "$ref": "#/$defs/stage" },
            },
            "test": { "type": "array", "description": "What `hatir test` runs.", "items": test() },
        },
        "$defs": definitions,
    })
}

fn feeds() -> Json {
    json!({ "oneOf": [{ "$ref": "#/$defs/feed" }, { "type": "array", "items": { "$ref": "#/$defs/feed" } }] })
}

fn pipeline() -> Json {
    let types: Vec<String> = Type::ALL
        .into_iter()
        .filter(|kind| kind.from_outside())
        .flat_map(|kind| [kind.to_string(), format!("{kind}?")])
        .collect();
    json!({
        "type": "object",
        "description": "What goes in and what comes out.",
        "required": ["output"],
        "additionalProperties": false,
        "properties": {
            "about": { "type": "string", "description": "What the pipeline is for." },
            "input": {
                "type": "object",
                "description": "The inputs with their types; a `?` behind the type makes one optional.",
                "propertyNames": { "$ref": "#/$defs/name" },
                "additionalProperties": { "enum": types },
            },
            "output": {
                "description": "What comes out: a stage, a list of stages, or a table of names with their stages.",
                "oneOf": [
                    { "$ref": "#/$defs/feeds" },
                    { "type": "object", "additionalProperties": { "$ref": "#/$defs/feed" } },
                ],
            },
            "max-parallel": { "type": "integer", "minimum": 1, "maximum": 256,
                "description": "How many stages may run at once; the number of processors where it is missing." },
            "env": { "type": "array", "items": { "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" },
                "description": "The environment variables that texts below `with` may name as `${NAME}`." },
        },
    })
}

fn stage(kinds: &[Json], branches: &[Json]) -> Json {
    json!({
        "type": "object",
        "required": ["use"],
        "additionalProperties": false,
        "properties": {
            "use": { "description": "The kind of the stage.", "oneOf": kinds },
            "about": { "type": "string", "description": "What the stage is for." },
            "in": { "type": "object", "description": "What feeds the inputs of the stage.",
                "additionalProperties": { "$ref": "#/$defs/feeds" } },
            "with": { "type": "object", "description": "The configuration of the stage." },
            "timeout": { "$ref": "#/$defs/duration", "description": "How long one try may take." },
            "retries": {
                "description": "How often the stage is tried again after an error that may pass.",
                "oneOf": [
                    { "type": "integer", "minimum": 0, "maximum": 100 },
                    { "type": "object", "required": ["count"], "additionalProperties": false, "properties": {
                        "count": { "type": "integer", "minimum": 0, "maximum": 100 },
                        "pause": { "$ref": "#/$defs/duration", "description": "Before the first retry; doubled each time." },
                        "longest": { "$ref": "#/$defs/duration", "description": "The longest pause." },
                    } },
                ],
            },
            "on-error": { "enum": ["fail", "skip"], "description": "What an error of the stage means to the run." },
            "when": {
                "description": "The condition under which the stage runs.",
                "type": "object",
                "required": ["input"],
                "additionalProperties": false,
                "properties": {
                    "input": { "$ref": "#/$defs/feed" },
                    "is": { "enum": ["present", "empty", "not-empty"] },
                    "equals": {},
                    "greater": { "type": "number" },
                },
                "oneOf": [{ "required": ["is"] }, { "required": ["equals"] }, { "required": ["greater"] }],
            },
        },
        "allOf": branches,
    })
}

fn test() -> Json {
    json!({
        "type": "object",
        "required": ["name"],
        "additionalProperties": false,
        "properties": {
            "name": { "type": "string" },
            "input": { "type": "object", "description": "The inputs of the run." },
            "stub": { "type": "object", "description": "Values in place of stages, by name; those stages are not run." },
            "expect": { "type": "object", "description": "What must hold, by stage.",
                "additionalProperties": { "$ref": "#/$defs/checks" } },
        },
    })
}

fn checks() -> Json {
    let texts = json!({ "oneOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] });
    let mut properties = Map::new();
    for check in CHECKS {
        let schema = match check {
            "equals" => json!({}),
            "contains" | "lacks" => texts.clone(),
            "count" => json!({ "type": "integer", "minimum": 0 }),
            "at-least" | "at-most" => json!({ "type": "number" }),
            "empty" | "skipped" => json!({ "type": "boolean" }),
            _ => json!({ "type": "string" }),
        };
        properties.insert(check.to_owned(), schema);
    }
    json!({
        "description": "A value means equality. In a table, these keys are checks, and any other leads into the value.",
        "anyOf": [
            { "not": { "type": "object" } },
            { "type": "object", "properties": properties, "additionalProperties": { "$ref": "#/$defs/checks" } },
        ],
    })
}

/// `if use = KIND then in: …, with: …`.
fn branch(kind: &KindEntry) -> Json {
    let ports = kind.ports();
    let mut inputs = Map::new();
    for port in &ports.inputs {
        let form = if port.many { "#/$defs/feeds" } else { "#/$defs/feed" };
        let about = format!("{} Takes {}.", port.about, port.accepts);
        inputs.insert(port.name.clone(), json!({ "$ref": form, "description": about }));
    }
    let required: Vec<&str> = ports.inputs.iter().filter(|port| port.required).map(|port| port.name.as_str()).collect();
    let further = match ports.open {
        Some(kind) => json!({ "$ref": "#/$defs/feed", "description": format!("Takes {kind}.") }),
        None => json!(false),
    };
    let mut needed = Vec::new();
    if !required.is_empty() {
        needed.push("in");
    }
    if kind.schema().to_value()["required"].as_array().is_some_and(|keys| !keys.is_empty()) {
        needed.push("with");
    }
    json!({
        "if": { "properties": { "use": { "const": kind.name } }, "required": ["use"] },
        "then": {
            "properties": {
                "in": { "type": "object", "properties": inputs, "required": required, "additionalProperties": further },
                "with": { "$ref": format!("#/$defs/{}", kind.name) },
            },
            "required": needed,
        },
    })
}

/// The schema of a kind's `with` table, fit to stand below `$defs` of another one.
fn with_schema(kind: &KindEntry) -> Json {
    let mut schema = kind.schema().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("$schema");
        object.insert("title".to_owned(), json!(kind.name));
        object.insert("description".to_owned(), json!(first_line(kind.about)));
    }
    move_references(&mut schema, kind.name);
    schema
}

/// References into the schema's own definitions must go by way of its new place.
fn move_references(schema: &mut Json, kind: &str) {
    match schema {
        Json::Object(object) => {
            if let Some(Json::String(target)) = object.get_mut("$ref")
                && let Some(rest) = target.strip_prefix('#')
            {
                *target = format!("#/$defs/{kind}{rest}");
            }
            object.values_mut().for_each(|value| move_references(value, kind));
        }
        Json::Array(elements) => elements.iter_mut().for_each(|element| move_references(element, kind)),
        _ => {}
    }
}
