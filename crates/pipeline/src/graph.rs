//! Draws a plan: for a terminal, as Mermaid, as DOT, as JSON. All four are the same for the same file.

use std::fmt::Write as _;

use petgraph::Direction;
use petgraph::visit::EdgeRef;
use serde_json::{Value as Json, json};

use crate::plan::{Feed, OnError, Output, Plan, PlannedStage};
use crate::value::Type;

/// A line between two things of a drawing.
struct Line<'plan> {
    from: &'plan Feed,
    to: usize,
    port: &'plan str,
}

impl Plan {
    /// The stages in layers, as places in [`Plan::stages`]: what stands in one layer can run side by side, and reads
    /// from the layers before it only.
    pub fn layers(&self) -> Vec<Vec<usize>> {
        let mut depth = vec![0; self.stages.len()];
        let mut layers: Vec<Vec<usize>> = Vec::new();
        for at in &self.order {
            let before = self.graph.neighbors_directed(self.stages[*at].node, Direction::Incoming);
            depth[*at] = before.map(|node| depth[self.graph[node]] + 1).max().unwrap_or(0);
            if layers.len() <= depth[*at] {
                layers.push(Vec::new());
            }
            layers[depth[*at]].push(*at);
        }
        for layer in &mut layers {
            layer.sort_unstable();
        }
        layers
    }

    /// What the stage reads from, and who reads from it, as places in [`Plan::stages`].
    pub fn neighbors(&self, at: usize) -> (Vec<usize>, Vec<usize>) {
        let all = |direction| {
            let edges = self.graph.edges_directed(self.stages[at].node, direction);
            let mut places: Vec<usize> = edges
                .map(|edge| self.graph[if direction == Direction::Incoming { edge.source() } else { edge.target() }])
                .collect();
            places.sort_unstable();
            places.dedup();
            places
        };
        (all(Direction::Incoming), all(Direction::Outgoing))
    }

    fn lines(&self) -> Vec<Line<'_>> {
        let mut lines = Vec::new();
        for (to, stage) in self.stages.iter().enumerate() {
            for binding in &stage.bindings {
                lines.extend(binding.feeds.iter().map(|from| Line { from, to, port: &binding.port }));
            }
            lines.extend(stage.when.iter().map(|when| Line { from: &when.feed, to, port: "when" }));
        }
        lines
    }

    pub(crate) fn outputs(&self) -> Vec<(Option<&str>, &Feed)> {
        match &self.output {
            Output::One(feed) => vec![(None, feed)],
            Output::Many(all) => all.iter().map(|(name, feed)| (Some(name.as_str()), feed)).collect(),
        }
    }

    pub(crate) fn type_of(&self, feed: &Feed) -> Option<Type> {
        match feed {
            Feed::Input(name) => self.inputs.get(name).map(|spec| spec.kind),
            Feed::Stage(at) => self.stages.get(*at).map(|stage| stage.ports.output),
        }
    }

    /// A drawing for a terminal, in layers from the inputs to the output.
    pub fn graph_text(&self) -> String {
        let mut text = match &self.about {
            Some(about) => format!("{}: {}\n", self.name, one_line(about)),
            None => format!("{}\n", self.name),
        };
        if !self.inputs.is_empty() {
            text.push_str("\ninput\n");
            let entries = self.inputs.iter().map(|(name, spec)| {
                let optional = if spec.optional { " (may be left out)" } else { "" };
                (format!("{name}: {}{optional}", spec.kind), Vec::new())
            });
            branch(&mut text, entries.collect());
        }
        for (number, layer) in self.layers().iter().enumerate() {
            let beside = if layer.len() > 1 { format!(", {} side by side", layer.len()) } else { String::new() };
            let _ = writeln!(text, "\nstep {}{beside}", number + 1);
            branch(&mut text, layer.iter().map(|at| self.stage_entry(&self.stages[*at])).collect());
        }
        text.push_str("\noutput\n");
        let entries = self.outputs().into_iter().map(|(name, feed)| {
            let kind = self.type_of(feed).map_or("", Type::as_str);
            let feed = self.feed_name(feed);
            let line = match name {
                Some(name) if name != feed => format!("{} ← {feed}: {kind}", one_line(name)),
                _ => format!("{feed}: {kind}"),
            };
            (line, Vec::new())
        });
        branch(&mut text, entries.collect());
        text
    }

    fn stage_entry(&self, stage: &PlannedStage) -> (String, Vec<String>) {
        let marks = marks(stage);
        let marks = if marks.is_empty() { String::new() } else { format!("  [{}]", marks.join(", ")) };
        let head = format!("{} ({}) → {}{marks}", stage.name, stage.kind, stage.ports.output);
        let mut below: Vec<String> = stage
            .bindings
            .iter()
            .map(|binding| {
                let feeds: Vec<String> = binding.feeds.iter().map(|feed| self.feed_name(feed)).collect();
                format!("{} ← {}", binding.port, feeds.join(", "))
            })
            .collect();
        below.extend(stage.when.iter().map(|when| format!("when ← {}", self.feed_name(&when.feed))));
        (head, below)
    }

    /// A Mermaid flow chart, as Markdown renderers draw it.
    pub fn graph_mermaid(&self) -> String {
        let mut text = String::from("flowchart TD\n");
        for (at, (name, spec)) in self.inputs.iter().enumerate() {
            let _ = writeln!(text, "    i{at}([\"{name}<br/>{}\"])", spec.kind);
        }
        for (at, stage) in self.stages.iter().enumerate() {
            let (open, close) = if stage.has_effects() { ("[[", "]]") } else { ("[", "]") };
            let _ = writeln!(text, "    s{at}{open}\"{}<br/>{}\"{close}", stage.name, stage.kind);
        }
        let many = self.outputs();
        for (at, (name, _)) in many.iter().enumerate() {
            // Names of outputs are free; a quote would end the label.
            let name = one_line(name.unwrap_or("output")).replace('"', "#quot;");
            let _ = writeln!(text, "    o{at}([\"{name}\"])");
        }
        for line in self.lines() {
            let arrow = if line.port == "when" { "-.->" } else { "-->" };
            let _ = writeln!(text, "    {} {arrow}|{}| s{}", self.identifier(line.from), line.port, line.to);
        }
        for (at, (_, feed)) in many.iter().enumerate() {
            let _ = writeln!(text, "    {} --> o{at}", self.identifier(feed));
        }
        text
    }

    /// A graph for Graphviz (`dot -Tsvg`).
    pub fn graph_dot(&self) -> String {
        let mut text = String::from("digraph pipeline {\n    node [shape=box, fontname=\"sans-serif\"];\n");
        for (at, (name, spec)) in self.inputs.iter().enumerate() {
            let _ = writeln!(text, "    i{at} [shape=oval, label={}];", quoted(&[name, spec.kind.as_str()]));
        }
        for (at, stage) in self.stages.iter().enumerate() {
            let effects = if stage.has_effects() { ", peripheries=2" } else { "" };
            let unused = if stage.used { "" } else { ", style=dashed" };
            let _ = writeln!(text, "    s{at} [label={}{effects}{unused}];", quoted(&[&stage.name, &stage.kind]));
        }
        let many = self.outputs();
        for (at, (name, _)) in many.iter().enumerate() {
            let _ = writeln!(text, "    o{at} [shape=oval, label={}];", quoted(&[name.unwrap_or("output")]));
        }
        for line in self.lines() {
            let style = if line.port == "when" { ", style=dashed" } else { "" };
            let from = self.identifier(line.from);
            let _ = writeln!(text, "    {from} -> s{} [label={}{style}];", line.to, quoted(&[line.port]));
        }
        for (at, (_, feed)) in many.iter().enumerate() {
            let _ = writeln!(text, "    {} -> o{at};", self.identifier(feed));
        }
        text.push_str("}\n");
        text
    }

    fn identifier(&self, feed: &Feed) -> String {
        match feed {
            Feed::Input(name) => format!("i{}", self.inputs.get_index_of(name).unwrap_or_default()),
            Feed::Stage(at) => format!("s{at}"),
        }
    }

    /// The graph for programs: `name`, `about`, `inputs`, `stages` (with their `step`, counted from 1), `edges` and
    /// `outputs`. Feeds are written as in the file (`core`, `$input.question`).
    pub fn graph_json(&self) -> Json {
        let mut steps = vec![0; self.stages.len()];
        for (number, layer) in self.layers().iter().enumerate() {
            for at in layer {
                steps[*at] = number + 1;
            }
        }
        let inputs: Vec<Json> = self
            .inputs
            .iter()
            .map(|(name, spec)| json!({ "name": name, "type": spec.kind.as_str(), "optional": spec.optional }))
            .collect();
        let stages: Vec<Json> = self
            .stages
            .iter()
            .zip(steps)
            .map(|(stage, step)| {
                json!({
                    "name": stage.name, "kind": stage.kind, "about": stage.about, "step": step,
                    "output": stage.ports.output.as_str(), "used": stage.used, "constant": stage.constant,
                    "effects": stage.has_effects(),
                })
            })
            .collect();
        let edges: Vec<Json> = self
            .lines()
            .iter()
            .map(|line| {
                json!({
                    "from": self.feed_name(line.from), "to": self.stages[line.to].name, "port": line.port,
                    "type": self.type_of(line.from).map(Type::as_str),
                })
            })
            .collect();
        let outputs: Vec<Json> = self
            .outputs()
            .iter()
            .map(|(name, feed)| {
                json!({ "name": name, "from": self.feed_name(feed), "type": self.type_of(feed).map(Type::as_str) })
            })
            .collect();
        json!({ "name": self.name, "about": self.about, "inputs": inputs, "stages": stages, "edges": edges,
            "outputs": outputs })
    }
}

/// What sets a stage apart.
pub(crate) fn marks(stage: &PlannedStage) -> Vec<String> {
    let mut marks = Vec::new();
    if !stage.used {
        marks.push("not used".to_owned());
    }
    if stage.constant {
        marks.push("constant".to_owned());
    }
    if stage.has_effects() {
        marks.push("has effects".to_owned());
    }
    marks.extend(stage.timeout.map(|timeout| format!("timeout {}", crate::duration::show(timeout))));
    if stage.retries.count > 0 {
        marks.push(format!("retries {}", stage.retries.count));
    }
    if stage.on_error == OnError::Skip {
        marks.push("skipped on error".to_owned());
    }
    marks
}

/// Entries below a heading, each with lines below itself.
fn branch(text: &mut String, entries: Vec<(String, Vec<String>)>) {
    let last = entries.len().saturating_sub(1);
    for (at, (head, below)) in entries.into_iter().enumerate() {
        let (corner, side) = if at == last { ("└─", "  ") } else { ("├─", "│ ") };
        let _ = writeln!(text, "{corner} {head}");
        for line in below {
            let _ = writeln!(text, "{side}    {line}");
        }
    }
}

/// A text from the file on one line, without control characters.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().filter(|letter| !letter.is_control()).collect()
}

/// A DOT string of several lines.
fn quoted(lines: &[&str]) -> String {
    let escaped: Vec<String> = lines.iter().map(|line| line.replace('\\', "\\\\").replace('"', "\\\"")).collect();
    format!("\"{}\"", escaped.join("\\n"))
}
