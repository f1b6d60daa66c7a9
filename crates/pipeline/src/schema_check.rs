//! Checks a table of the file against the JSON Schema of a stage kind, and says where it does not fit.
//!
//! Only what schemars writes is understood: types, properties, required and additional properties, enumerations,
//! alternatives, references, items, ranges and lengths, and the formats `duration` and `path`. Anything else in a
//! schema is passed over; serde has the last word when the table is read.

use std::sync::LazyLock;

use serde_json::Value as Json;

use crate::codes::Code;
use crate::diagnostic::{Problem, Span};
use crate::duration::parse_duration;
use crate::names::{list, nearest, quote};
use crate::tree::{Node, Table, Tree};

/// Checks `node` against `schema`. `at` is the place to name when something is missing; `subject` says whose key it is
/// (`the stage "found"`).
pub(crate) fn check(node: &Node, schema: &Json, at: Span, subject: &str) -> Vec<Problem> {
    let mut checker = Checker { root: schema, subject, path: Vec::new(), problems: Vec::new() };
    checker.check(node, schema, at);
    checker.problems
}

/// A wrong duration as a problem.
pub(crate) fn duration_problem(key: &str, node: &Node) -> Option<Problem> {
    let (message, suggestion) = match &node.tree {
        Tree::String(text) => {
            let error = parse_duration(text).err()?;
            (error.message, error.suggestion)
        }
        Tree::Integer(number) => {
            (format!("{number} has no unit, expected a text such as \"{number}ms\" or \"{number}s\""), None)
        }
        Tree::Broken => return None,
        _ => (format!("found {}, expected a text such as \"300ms\"", node.describe()), None),
    };
    let problem = Problem::new(Code::WRONG_DURATION, format!("`{key}`: {message}"))
        .at(node.span)
        .label("expected a number and a unit, as in \"300ms\"")
        .found(node.describe(), "a duration: a number and one of ms, s, m, h, d");
    Some(problem.suggest(suggestion))
}

struct Checker<'run> {
    root: &'run Json,
    subject: &'run str,
    path: Vec<String>,
    problems: Vec<Problem>,
}

impl<'run> Checker<'run> {
    fn check(&mut self, node: &Node, schema: &'run Json, at: Span) {
        let schema = self.resolve(schema);
        if node.is_broken() {
            return;
        }
        if let Some(all) = schema["allOf"].as_array() {
            for part in all {
                self.check(node, part, at);
            }
        }
        if let Some(alternatives) = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
            self.alternatives(node, alternatives, at);
            return;
        }
        if let Some(choices) = choices(schema) {
            self.choice(node, &choices);
            return;
        }
        if schema["format"] == "duration" {
            let key = self.key();
            self.problems.extend(duration_problem(&key, node).filter(|_| !node.is_open()));
            return;
        }
        if !Self::has_type(node, schema) {
            self.wrong_type(node, &expected_type(schema));
            return;
        }
        match &node.tree {
            Tree::Table(table) => self.table(table, schema, at),
            Tree::Array(elements) => self.array(node, elements, schema),
            Tree::String(text) if !node.is_open() => self.text(node, text, schema),
            Tree::Integer(number) => self.range(node, *number as f64, schema),
            Tree::Float(number) => self.range(node, *number, schema),
            _ => {}
        }
    }

    /// Follows references. A schema that refers to nothing but itself ends somewhere in its circle.
    fn resolve(&self, mut schema: &'run Json) -> &'run Json {
        for _ in 0..32 {
            let Some(target) = schema["$ref"].as_str().and_then(|target| target.strip_prefix('#')) else { break };
            let Some(found) = self.root.pointer(target) else { break };
            schema = found;
        }
        schema
    }

    fn key(&self) -> String {
        self.path.join(".")
    }

    fn table(&mut self, table: &Table, schema: &'run Json, at: Span) {
        let properties = schema["properties"].as_object().unwrap_or(&NO_PROPERTIES);
        for (key, entry) in table {
            self.path.push(key.clone());
            if let Some(property) = properties.get(key) {
                self.check(&entry.node, property, entry.key);
            } else {
                match &schema["additionalProperties"] {
                    Json::Bool(false) => self.unknown_key(key, entry.key, properties.keys().map(String::as_str)),
                    other @ Json::Object(_) => self.check(&entry.node, other, entry.key),
                    _ => {}
                }
            }
            self.path.pop();
        }
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str);
        for key in required.filter(|key| !table.contains_key(*key)) {
            self.path.push(key.to_owned());
            let about = properties.get(key).and_then(|property| property["description"].as_str()).map(first_line);
            let message = format!("{} needs the key `{}`", self.subject, self.key());
            let problem = Problem::new(Code::MISSING_KEY, message).at(at).label(format!("`{}` is missing", self.key()));
            self.problems.push(match about {
                Some(about) => problem.help(format!("`{key}`: {about}")),
                None => problem,
            });
            self.path.pop();
        }
    }

    fn unknown_key<'name>(&mut self, key: &str, span: Span, known: impl Iterator<Item = &'name str> + Clone) {
        let expected = list(known.clone());
        let help = match known.clone().count() {
            0 => "it has no keys".to_owned(),
            _ => format!("the keys are {}", expected.replace(" or ", " and ")),
        };
        let message = format!("unknown key \"{}\" for {}", self.key(), self.subject);
        let problem = Problem::new(Code::UNKNOWN_KEY, message)
            .at(span)
            .label("no such key")
            .found(format!("the key \"{key}\""), expected)
            .suggest(nearest(key, known))
            .help(help);
        self.problems.push(problem);
    }

    fn array(&mut self, node: &Node, elements: &[Node], schema: &'run Json) {
        let length = elements.len() as u64;
        let (least, most) = (schema["minItems"].as_u64().unwrap_or(0), schema["maxItems"].as_u64().unwrap_or(u64::MAX));
        if length < least || length > most {
            let expected = match (least, most) {
                (least, most) if least == most => format!("{least} elements"),
                (least, u64::MAX) => format!("at least {least} elements"),
                (0, most) => format!("at most {most} elements"),
                (least, most) => format!("{least} to {most} elements"),
            };
            self.out_of_range(node, format!("a list of {length}"), expected);
        }
        if schema["items"].is_object() {
            for (at, element) in elements.iter().enumerate() {
                self.path.push(at.to_string());
                self.check(element, &schema["items"], element.span);
                self.path.pop();
            }
        }
    }

    fn text(&mut self, node: &Node, text: &str, schema: &Json) {
        if schema["format"] == "path" && (text.is_empty() || text.contains('\0')) {
            self.out_of_range(node, node.describe(), "a path".to_owned());
            return;
        }
        let length = text.chars().count() as u64;
        let (least, most) = (schema["minLength"].as_u64(), schema["maxLength"].as_u64());
        match (least, most) {
            (Some(1), _) if length == 0 => self.out_of_range(node, "an empty text".to_owned(), "a text".to_owned()),
            (Some(least), _) if length < least => {
                self.out_of_range(node, format!("{length} characters"), format!("at least {least} characters"));
            }
            (_, Some(most)) if length > most => {
                self.out_of_range(node, format!("{length} characters"), format!("at most {most} characters"));
            }
            _ => {}
        }
    }

    fn range(&mut self, node: &Node, number: f64, schema: &Json) {
        let format = format_range(schema["format"].as_str().unwrap_or_default());
        let least = schema["minimum"].as_f64().or(format.map(|(least, _)| least));
        let most = schema["maximum"].as_f64().or(format.map(|(_, most)| most));
        let (above, below) = (schema["exclusiveMinimum"].as_f64(), schema["exclusiveMaximum"].as_f64());
        let fits = least.is_none_or(|least| number >= least)
            && most.is_none_or(|most| number <= most)
            && above.is_none_or(|above| number > above)
            && below.is_none_or(|below| number < below);
        if fits {
            return;
        }
        // A bound of the machine's integers says nothing to a person unless it is the one that was crossed.
        let most = most.filter(|most| schema["maximum"].is_number() || number > *most);
        let mut bounds = Vec::new();
        bounds.extend(above.map(|bound| format!("more than {bound}")));
        bounds.extend(least.map(|bound| format!("at least {bound}")));
        bounds.extend(below.map(|bound| format!("less than {bound}")));
        bounds.extend(most.map(|bound| format!("at most {bound}")));
        let expected = match (least, most) {
            (Some(least), Some(most)) if bounds.len() == 2 => format!("a number from {least} to {most}"),
            _ => format!("a number of {}", bounds.join(" and ")),
        };
        self.out_of_range(node, node.describe(), expected);
    }

    fn out_of_range(&mut self, node: &Node, found: String, expected: String) {
        let message = format!("`{}` of {} is out of range", self.key(), self.subject);
        self.problems.push(Problem::new(Code::OUT_OF_RANGE, message).at(node.span).found(found, expected));
    }

    fn wrong_type(&mut self, node: &Node, expected: &str) {
        let subject = if self.path.is_empty() {
            format!("`with` of {}", self.subject)
        } else {
            format!("`{}` of {}", self.key(), self.subject)
        };
        let problem = Problem::new(Code::WRONG_TYPE, format!("{subject} has the wrong type"));
        let problem = problem.at(node.span).found(node.describe(), expected);
        // A number in quotes is the most common slip.
        let unquoted = match &node.tree {
            Tree::String(text) if expected.contains("number") && text.parse::<f64>().is_ok() => Some(text),
            Tree::String(text) if expected.contains("true or false") && text.parse::<bool>().is_ok() => Some(text),
            _ => None,
        };
        self.problems.push(match unquoted {
            Some(text) => problem.help(format!("leave the quotes out: {text}")),
            None => problem,
        });
    }

    fn has_type(node: &Node, schema: &Json) -> bool {
        let fits = |kind: &str| {
            matches!(
                (&node.tree, kind),
                (Tree::String(_) | Tree::Datetime(_), "string")
                    | (Tree::Integer(_), "integer" | "number")
                    | (Tree::Float(_), "number")
                    | (Tree::Boolean(_), "boolean")
                    | (Tree::Array(_), "array")
                    | (Tree::Table(_), "object")
            )
        };
        match &schema["type"] {
            Json::String(kind) => fits(kind),
            Json::Array(kinds) => kinds.iter().filter_map(Json::as_str).any(fits),
            _ => true,
        }
    }

    fn choice(&mut self, node: &Node, choices: &[&Json]) {
        let json = node.to_json();
        if choices.iter().any(|choice| **choice == json) || node.is_open() {
            return;
        }
        let names: Vec<&str> = choices.iter().filter_map(|choice| choice.as_str()).collect();
        let expected = if names.len() == choices.len() {
            list(names.iter().copied())
        } else {
            choices.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
        };
        let Some(text) = node.string() else {
            self.wrong_type(node, &expected);
            return;
        };
        let message = format!("`{}` of {} cannot be {}", self.key(), self.subject, quote(text));
        let problem = Problem::new(Code::WRONG_CHOICE, message).at(node.span).found(node.describe(), expected);
        self.problems.push(problem.suggest(nearest(text, names)));
    }

    /// Finds the alternative that was meant: the one that fits, else the only one of the right type.
    fn alternatives(&mut self, node: &Node, alternatives: &'run [Json], at: Span) {
        let alternatives: Vec<&Json> = alternatives
            .iter()
            .map(|alternative| self.resolve(alternative))
            .filter(|alternative| alternative["type"] != "null")
            .collect();
        let mut all_choices = Vec::new();
        let only_choices = alternatives.iter().all(|alternative| match choices(alternative) {
            Some(choices) => {
                all_choices.extend(choices);
                true
            }
            None => false,
        });
        if only_choices && !alternatives.is_empty() {
            self.choice(node, &all_choices);
            return;
        }
        if let [one] = alternatives.as_slice() {
            self.check(node, one, at);
            return;
        }
        let mut best: Option<Vec<Problem>> = None;
        for alternative in &alternatives {
            let mut attempt =
                Checker { root: self.root, subject: self.subject, path: self.path.clone(), problems: Vec::new() };
            attempt.check(node, alternative, at);
            if attempt.problems.is_empty() {
                return;
            }
            let of_the_type = Self::has_type(node, alternative);
            if of_the_type && best.as_ref().is_none_or(|best| attempt.problems.len() < best.len()) {
                best = Some(attempt.problems);
            }
        }
        if let Some(problems) = best {
            self.problems.extend(problems);
        } else {
            let expected: Vec<String> = alternatives.iter().map(|alternative| expected_type(alternative)).collect();
            self.wrong_type(node, &expected.join(" or "));
        }
    }
}

static NO_PROPERTIES: LazyLock<serde_json::Map<String, Json>> = LazyLock::new(serde_json::Map::new);

fn choices(schema: &Json) -> Option<Vec<&Json>> {
    if let Some(choices) = schema["enum"].as_array() {
        return Some(choices.iter().filter(|choice| !choice.is_null()).collect());
    }
    schema.get("const").map(|choice| vec![choice])
}

/// The type in words.
pub(crate) fn expected_type(schema: &Json) -> String {
    let word = |kind: &str| match kind {
        "string" if schema["format"] == "duration" => "a duration such as \"300ms\"",
        "string" if schema["format"] == "path" => "a path in quotes",
        "string" => "a text in quotes",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "a table",
        _ => "nothing",
    };
    if let Some(choices) = choices(schema) {
        return choices.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
    }
    match &schema["type"] {
        Json::String(kind) => word(kind).to_owned(),
        Json::Array(kinds) => {
            let kinds = kinds.iter().filter_map(Json::as_str).filter(|kind| *kind != "null");
            kinds.map(word).collect::<Vec<_>>().join(" or ")
        }
        _ => "another value".to_owned(),
    }
}

fn format_range(format: &str) -> Option<(f64, f64)> {
    Some(match format {
        "uint8" => (0.0, f64::from(u8::MAX)),
        "uint16" => (0.0, f64::from(u16::MAX)),
        "uint32" => (0.0, f64::from(u32::MAX)),
        "uint" | "uint64" => (0.0, i64::MAX as f64),
        "int8" => (f64::from(i8::MIN), f64::from(i8::MAX)),
        "int16" => (f64::from(i16::MIN), f64::from(i16::MAX)),
        "int32" => (f64::from(i32::MIN), f64::from(i32::MAX)),
        "float" => (f64::from(f32::MIN), f64::from(f32::MAX)),
        _ => return None,
    })
}

pub(crate) fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
