//! Tells what a plan will do: order, types, every value with where it came from.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json, json};

use crate::duration::show;
use crate::graph::one_line;
use crate::plan::{Condition, ConditionTest, Feed, OnError, Origin, Plan, PlannedStage};
use crate::tree::Outcome;
use crate::value::Type;

impl Plan {
    /// The resolved plan for people.
    pub fn explain_text(&self) -> String {
        let mut text = format!("pipeline {} ({})\n", self.name, self.path.display());
        if let Some(about) = &self.about {
            let _ = writeln!(text, "  {}", one_line(about));
        }
        let parallel = match self.max_parallel {
            0 => "as many stages at once as there are processors".to_owned(),
            1 => "one stage at a time".to_owned(),
            limit => format!("at most {limit} stages at once"),
        };
        let _ = writeln!(text, "  runs {parallel}");
        for (name, spec) in &self.inputs {
            let need = if spec.optional { "may be left out" } else { "must be given" };
            let _ = writeln!(text, "  input {name}: {}, {need}", spec.kind);
        }
        for (name, feed) in self.outputs() {
            let kind = self.type_of(feed).map_or("", Type::as_str);
            let name = name.map(|name| format!(" {}", one_line(name))).unwrap_or_default();
            let _ = writeln!(text, "  output{name}: {kind} from {}", self.feed_name(feed));
        }
        for (number, layer) in self.layers().iter().enumerate() {
            let names: Vec<&str> = layer.iter().map(|at| self.stages[*at].name.as_str()).collect();
            let beside = match names.as_slice() {
                [_] => String::new(),
                all => format!(": {} run side by side", all.join(", ")),
            };
            let _ = writeln!(text, "\nstep {}{beside}", number + 1);
            for at in layer {
                self.explain_stage(&mut text, &self.stages[*at]);
            }
        }
        text
    }

    fn explain_stage(&self, text: &mut String, stage: &PlannedStage) {
        let (line, _) = self.position(stage.span);
        let _ = writeln!(text, "\n  {} ({}), line {line}", stage.name, stage.kind);
        if let Some(about) = &stage.about {
            let _ = writeln!(text, "    {}", one_line(about));
        }
        for binding in &stage.bindings {
            let feeds: Vec<String> = binding.feeds.iter().map(|feed| self.typed(feed)).collect();
            let _ = writeln!(text, "    in.{}: {} from {}", binding.port, binding.accepts, feeds.join(", "));
        }
        let _ = writeln!(text, "    gives: {}", stage.ports.output);
        let values = self.values(stage);
        let written: Vec<(String, &Value)> =
            values.iter().map(|value| (format!("with.{} = {}", value.key, value.json), value)).collect();
        let width =
            written.iter().map(|(line, _)| line.chars().count()).filter(|width| *width <= 48).max().unwrap_or(0);
        for (line, value) in &written {
            let _ = writeln!(text, "    {line:width$}  # {}", value.from);
        }
        if let Some(timeout) = stage.timeout {
            let _ = writeln!(text, "    timeout: {} for each try", show(timeout));
        }
        if stage.retries.count > 0 {
            let retries = stage.retries;
            let (pause, longest) = (show(retries.pause), show(retries.longest));
            let _ = writeln!(text, "    retries: {}, after {pause}, doubled up to {longest}", retries.count);
        }
        if stage.on_error == OnError::Skip {
            let _ = writeln!(text, "    on error: it counts as skipped, and so do the stages that need it");
        }
        if let Some(when) = &stage.when {
            let _ = writeln!(text, "    runs only when {}", self.condition_text(when));
        }
        if stage.has_effects() {
            let _ = writeln!(text, "    has effects: it is left out of a dry run and of tests");
        }
        if stage.constant {
            let _ = writeln!(text, "    constant: in a batch it runs once, for all records");
        }
        if !stage.used {
            let _ = writeln!(text, "    not used: nothing that comes out depends on it, so it is not run");
        }
    }

    fn typed(&self, feed: &Feed) -> String {
        match self.type_of(feed) {
            Some(kind) => format!("{} ({kind})", self.feed_name(feed)),
            None => self.feed_name(feed),
        }
    }

    fn condition_text(&self, when: &Condition) -> String {
        let name = self.feed_name(&when.feed);
        match &when.test {
            ConditionTest::Present => format!("{name} is present"),
            ConditionTest::Empty => format!("{name} is empty"),
            ConditionTest::NotEmpty => format!("{name} is not empty"),
            ConditionTest::Equals(json) => format!("{name} equals {json}"),
            ConditionTest::Greater(bound) => format!("{name} is greater than {bound}"),
        }
    }

    /// The configuration of a stage, key by key.
    fn values(&self, stage: &PlannedStage) -> Vec<Value> {
        let Json::Object(with) = stage.config.to_json() else { return Vec::new() };
        let values = with.into_iter().filter_map(|(key, json)| {
            let below = format!("{key}.");
            let origin = stage.origins.iter().find(|(path, _)| **path == key || path.starts_with(&below));
            let origin = origin.map(|(_, origin)| origin);
            // A key that is not set and has no default says nothing.
            (origin.is_some() || !json.is_null()).then(|| Value {
                from: self.origin_text(origin),
                origin: origin.cloned(),
                key,
                json,
            })
        });
        values.collect()
    }

    fn origin_text(&self, origin: Option<&Origin>) -> String {
        let Some(origin) = origin else { return "default".to_owned() };
        let mut text = match origin.span.source {
            0 => format!("line {}", self.position(origin.span).0),
            _ => "--set".to_owned(),
        };
        for variable in &origin.variables {
            let outcome = match variable.outcome {
                Outcome::Set => "from the environment",
                Outcome::Default => "not set, so its default",
                Outcome::Open => "known when it runs",
            };
            let _ = write!(text, ", {} {outcome}", variable.name);
        }
        text
    }

    /// The resolved plan for programs: `name`, `file`, `about`, `max_parallel`, `inputs`, `outputs`, `steps` (names of
    /// stages that can run side by side) and `stages` in the order of running, each value with where it came from.
    pub fn explain_json(&self) -> Json {
        let mut json = self.graph_json();
        let stages: Vec<Json> = self.order.iter().map(|at| self.stage_json(&self.stages[*at])).collect();
        let names =
            |layer: &Vec<usize>| -> Vec<&str> { layer.iter().map(|at| self.stages[*at].name.as_str()).collect() };
        let steps: Vec<Vec<&str>> = self.layers().iter().map(names).collect();
        json["file"] = json!(self.path.display().to_string());
        json["max_parallel"] = json!(self.max_parallel);
        json["steps"] = json!(steps);
        json["stages"] = json!(stages);
        json
    }

    fn stage_json(&self, stage: &PlannedStage) -> Json {
        let inputs: Map<String, Json> = stage
            .bindings
            .iter()
            .map(|binding| {
                let from: Vec<Json> = binding
                    .feeds
                    .iter()
                    .map(|feed| json!({ "from": self.feed_name(feed), "type": self.type_of(feed).map(Type::as_str) }))
                    .collect();
                let port = json!({ "type": binding.accepts.as_str(), "required": binding.required, "sources": from });
                (binding.port.clone(), port)
            })
            .collect();
        let with: Map<String, Json> =
            self.values(stage).into_iter().map(|value| (value.key.clone(), self.value_json(&value))).collect();
        let retries = json!({ "count": stage.retries.count, "pause": show(stage.retries.pause),
            "longest": show(stage.retries.longest) });
        json!({
            "name": stage.name,
            "kind": stage.kind,
            "about": stage.about,
            "line": self.position(stage.span).0,
            "in": inputs,
            "output": stage.ports.output.as_str(),
            "with": with,
            "timeout": stage.timeout.map(show),
            "retries": retries,
            "on_error": if stage.on_error == OnError::Skip { "skip" } else { "fail" },
            "when": stage.when.as_ref().map(|when| self.condition_text(when)),
            "effects": stage.has_effects(),
            "constant": stage.constant,
            "used": stage.used,
        })
    }

    fn value_json(&self, value: &Value) -> Json {
        let Some(origin) = &value.origin else { return json!({ "value": value.json, "from": "default" }) };
        let variables: Vec<Json> = origin
            .variables
            .iter()
            .map(|variable| {
                let outcome = match variable.outcome {
                    Outcome::Set => "environment",
                    Outcome::Default => "default",
                    Outcome::Open => "open",
                };
                json!({ "name": variable.name, "value_from": outcome })
            })
            .collect();
        let (from, line) = match origin.span.source {
            0 => ("file", Some(self.position(origin.span).0)),
            _ => ("set", None),
        };
        json!({ "value": value.json, "from": from, "line": line, "variables": variables })
    }
}

/// One key of a configuration.
struct Value {
    key: String,
    json: Json,
    from: String,
    origin: Option<Origin>,
}
