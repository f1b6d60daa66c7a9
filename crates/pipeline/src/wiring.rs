//! Checks who feeds whom: names, ports, types, circles; and finds the order.

use std::collections::{HashMap, VecDeque};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::codes::Code;
use crate::diagnostic::{Problem, Span};
use crate::file::{File, OutputText, Reference, StageText, Wire};
use crate::names::{list, nearest, quote};
use crate::plan::{Binding, Condition, ConditionTest, Feed, Output};
use crate::stage::{Port, Ports, Registry};
use crate::value::Type;

/// What is known of a stage when its feeds are looked at.
pub(crate) struct Known {
    /// The ports; missing when the kind is unknown.
    pub(crate) ports: Option<Ports>,
    /// Whether the configuration was readable; without it, ports are those of the kind in general, and types may differ.
    pub(crate) exact: bool,
}

/// An edge with where it is written.
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) port: String,
    pub(crate) span: Span,
}

pub(crate) struct Wiring<'run> {
    file: &'run File,
    stages: &'run [Known],
    registry: &'run Registry,
    by_name: HashMap<&'run str, usize>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) problems: Vec<Problem>,
}

const INPUT: &str = "$input.";

impl<'run> Wiring<'run> {
    pub(crate) fn new(file: &'run File, stages: &'run [Known], registry: &'run Registry) -> Self {
        let by_name = file.stages.iter().enumerate().map(|(at, stage)| (stage.name.as_str(), at)).collect();
        Wiring { file, stages, registry, by_name, edges: Vec::new(), problems: Vec::new() }
    }

    pub(crate) fn stage(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// What feeds the stage, checked against its ports.
    pub(crate) fn bindings(&mut self, at: usize) -> Vec<Binding> {
        let file = self.file;
        let stage = &file.stages[at];
        let bindings: Vec<Binding> = stage.wires.iter().filter_map(|wire| self.binding(at, stage, wire)).collect();
        // An input with a wrong name is most often the one that is missing.
        let known = |ports: &&Ports| {
            let is_named = |wire: &Wire| ports.inputs.iter().any(|port| port.name == wire.port);
            stage.wired && (ports.open.is_some() || stage.wires.iter().all(is_named))
        };
        let ports = self.stages[at].ports.as_ref().filter(known);
        let missing = ports.into_iter().flat_map(|ports| &ports.inputs).filter(|port| port.required);
        for port in missing.filter(|port| !stage.wires.iter().any(|wire| wire.port == port.name)) {
            self.missing(stage, port, stage.span);
        }
        bindings
    }

    fn binding(&mut self, at: usize, stage: &StageText, wire: &Wire) -> Option<Binding> {
        let feeds: Vec<(Feed, Span)> = wire
            .sources
            .iter()
            .filter_map(|source| Some((self.feed(source, &format!("`in.{}`", wire.port))?, source.span)))
            .collect();
        for (feed, span) in &feeds {
            if let Feed::Stage(from) = feed {
                self.edges.push(Edge { from: *from, to: at, port: wire.port.clone(), span: *span });
            }
        }
        let ports = self.stages[at].ports.as_ref()?;
        let named = ports.inputs.iter().find(|port| port.name == wire.port);
        let (accepts, required, many) = match (named, ports.open) {
            (Some(port), _) => (port.accepts, port.required, port.many),
            (None, Some(accepts)) => (accepts, false, false),
            (None, None) => {
                self.unknown_port(stage, wire, ports);
                return None;
            }
        };
        if wire.sources.len() > 1 && !many {
            let message = format!("`in.{}` of the stage \"{}\" takes one source", wire.port, stage.name);
            let problem = Problem::new(Code::TOO_MANY_SOURCES, message).at(wire.sources[1].span);
            self.problems.push(
                problem
                    .label("one too many")
                    .found(format!("{} sources", wire.sources.len()), "one source")
                    .help("a stage of the kind \"merge\" makes one of several"),
            );
        } else if wire.sources.is_empty()
            && wire.sound
            && let Some(port) = named.filter(|port| port.required)
        {
            self.missing(stage, port, wire.span);
        }
        if self.stages[at].exact {
            for (feed, span) in &feeds {
                self.fits(stage, wire, accepts, feed, *span);
            }
        }
        let feeds = feeds.into_iter().map(|(feed, _)| feed).collect();
        Some(Binding { port: wire.port.clone(), accepts, required, many, feeds })
    }

    fn missing(&mut self, stage: &StageText, port: &Port, span: Span) {
        let kind = stage.kind.as_ref().map_or("", |kind| kind.text.as_str());
        let message = format!("the stage \"{}\" needs `in.{}`, and nothing feeds it", stage.name, port.name);
        let problem = Problem::new(Code::MISSING_INPUT, message).at(span);
        let stages = self.file.stages.iter().zip(self.stages);
        let mut candidates: Vec<String> = self
            .file
            .inputs
            .iter()
            .filter(|(_, (spec, _))| port.accepts.accepts(spec.kind))
            .map(|(name, _)| format!("{INPUT}{name}"))
            .collect();
        candidates.extend(
            stages
                .filter(|(other, known)| {
                    other.name != stage.name
                        && known.ports.as_ref().is_some_and(|ports| port.accepts.accepts(ports.output))
                })
                .map(|(other, _)| other.name.clone()),
        );
        let fitting = if candidates.is_empty() {
            self.givers(port.accepts)
        } else {
            format!("here, {} would fit", list(candidates.iter().map(String::as_str)))
        };
        self.problems.push(
            problem
                .label(format!("`in.{}` is missing", port.name))
                .found("nothing", format!("a value of type {}", port.accepts))
                .help(format!("{} (\"{kind}\": {}); {fitting}", port.name, port.about.trim_end_matches('.'))),
        );
    }

    fn unknown_port(&mut self, stage: &StageText, wire: &Wire, ports: &Ports) {
        let names = || ports.inputs.iter().map(|port| port.name.as_str());
        let kind = stage.kind.as_ref().map_or("", |kind| kind.text.as_str());
        let message = format!("a stage of the kind \"{kind}\" has no input {}", quote(&wire.port));
        let help = if ports.inputs.is_empty() {
            format!("\"{kind}\" takes no inputs")
        } else {
            format!("its inputs are {}", list(names()).replace(" or ", " and "))
        };
        self.problems.push(
            Problem::new(Code::UNKNOWN_PORT, message)
                .at(wire.span)
                .label("no such input")
                .found(quote(&wire.port), list(names()))
                .suggest(nearest(&wire.port, names()))
                .help(help),
        );
    }

    fn fits(&mut self, stage: &StageText, wire: &Wire, accepts: Type, feed: &Feed, span: Span) {
        let (giver, offered, made) = match feed {
            Feed::Input(name) => {
                let Some((spec, declared)) = self.file.inputs.get(name) else { return };
                (format!("the input \"{name}\""), spec.kind, *declared)
            }
            Feed::Stage(from) => {
                let known = &self.stages[*from];
                let Some(ports) = known.ports.as_ref().filter(|_| known.exact) else { return };
                let from = &self.file.stages[*from];
                (format!("the stage \"{}\"", from.name), ports.output, from.span)
            }
        };
        if accepts.accepts(offered) {
            return;
        }
        let message =
            format!("{giver} gives {offered}, but `in.{}` of the stage \"{}\" takes {accepts}", wire.port, stage.name);
        self.problems.push(
            Problem::new(Code::TYPE_MISMATCH, message)
                .at(span)
                .label(format!("{offered} does not fit {accepts}"))
                .also(made, format!("gives {offered}"))
                .found(offered.as_str(), accepts.as_str())
                .help(self.givers(accepts)),
        );
    }

    /// Where a value of the type could come from.
    fn givers(&self, wanted: Type) -> String {
        let kinds: Vec<&str> =
            self.registry.iter().filter(|kind| wanted.accepts(kind.ports().output)).map(|kind| kind.name).collect();
        match kinds.as_slice() {
            [] if wanted.from_outside() => {
                format!("{wanted} can come from an input: `input = {{ name = \"{wanted}\" }}`")
            }
            [] => format!("no stage kind gives {wanted}"),
            [one] => format!("{wanted} comes from stages of the kind \"{one}\""),
            all => format!("{wanted} comes from stages of the kinds {}", list(all.iter().copied())),
        }
    }

    /// What a name in the file means.
    pub(crate) fn feed(&mut self, reference: &Reference, place: &str) -> Option<Feed> {
        let text = &reference.text;
        if let Some(name) = text.strip_prefix(INPUT) {
            if self.file.inputs.contains_key(name) {
                return Some(Feed::Input(name.to_owned()));
            }
            if !self.file.broken_inputs.iter().any(|broken| broken == name) {
                self.unknown_input(name, reference.span, INPUT);
            }
            return None;
        }
        if let Some(at) = self.stage(text) {
            return Some(Feed::Stage(at));
        }
        if !self.file.broken_stages.contains(text) {
            self.unknown_stage(reference, place);
        }
        None
    }

    pub(crate) fn unknown_input(&mut self, name: &str, span: Span, prefix: &str) {
        let names = || self.file.inputs.keys().map(String::as_str);
        let near = nearest(name, names()).map(|near| format!("{prefix}{near}"));
        let help = if self.file.inputs.is_empty() {
            format!("declare it in `[pipeline]`: `input = {{ {name} = \"text\" }}`")
        } else {
            format!("the inputs of the pipeline are {}", list(names()).replace(" or ", " and "))
        };
        let problem = Problem::new(Code::UNKNOWN_INPUT, format!("the pipeline has no input {}", quote(name)));
        self.problems
            .push(problem.at(span).label("no such input").found(quote(name), list(names())).suggest(near).help(help));
    }

    pub(crate) fn unknown_stage(&mut self, reference: &Reference, place: &str) {
        let text = &reference.text;
        let names = || self.file.stages.iter().map(|stage| stage.name.as_str());
        let meant_input = self.file.inputs.contains_key(text.trim_start_matches('$'));
        // The search for a near name is worth it for people's files; a generated one may have thousands of wrong names.
        let near = match meant_input {
            true => Some(format!("{INPUT}{}", text.trim_start_matches('$'))),
            false if self.problems.len() > 200 => None,
            false => nearest(text, names()).map(str::to_owned),
        };
        let help = match meant_input {
            true => format!("inputs of the pipeline are written with \"{INPUT}\" in front"),
            false if self.file.stages.is_empty() => "the file has no stages".to_owned(),
            false => format!("the stages are {}", list(names()).replace(" or ", " and ")),
        };
        let message = format!("there is no stage {}, which {place} names", quote(text));
        let problem = Problem::new(Code::UNKNOWN_STAGE, message).at(reference.span).label("no such stage");
        self.problems.push(problem.found(quote(text), list(names())).suggest(near).help(help));
    }

    pub(crate) fn condition(&mut self, at: usize) -> Option<Condition> {
        let file = self.file;
        let (reference, test) = file.stages[at].when.as_ref()?;
        let feed = self.feed(reference, "`when`")?;
        if let Feed::Stage(from) = feed {
            self.edges.push(Edge { from, to: at, port: "when".to_owned(), span: reference.span });
        }
        let offered = match &feed {
            Feed::Input(name) => self.file.inputs.get(name).map(|(spec, _)| spec.kind),
            Feed::Stage(from) => {
                self.stages[*from].ports.as_ref().filter(|_| self.stages[*from].exact).map(|ports| ports.output)
            }
        };
        if let (ConditionTest::Greater(_), Some(Type::Flag)) = (test, offered) {
            let message = "`greater` compares sizes, and true or false has none";
            let problem = Problem::new(Code::WRONG_CONDITION, message).at(reference.span);
            self.problems.push(problem.label("gives flag").help("ask with `equals = true`"));
        }
        Some(Condition { feed, test: test.clone() })
    }

    pub(crate) fn output(&mut self) -> Option<Output> {
        let file = self.file;
        match file.output.as_ref()? {
            OutputText::One(reference) => self.feed(reference, "`output`").map(Output::One),
            OutputText::Many(all) => {
                let feeds: Vec<Option<(String, Feed)>> = all
                    .iter()
                    .map(|(name, reference)| Some((name.clone(), self.feed(reference, "`output`")?)))
                    .collect();
                feeds.into_iter().collect::<Option<_>>().map(Output::Many)
            }
        }
    }

    /// Reports every circle of stages.
    pub(crate) fn loops(&mut self) {
        let mut graph = DiGraph::<(), usize>::with_capacity(self.file.stages.len(), self.edges.len());
        for _ in &self.file.stages {
            graph.add_node(());
        }
        for (at, edge) in self.edges.iter().enumerate() {
            graph.add_edge(NodeIndex::new(edge.from), NodeIndex::new(edge.to), at);
        }
        let mut tangles = kosaraju_scc(&graph);
        for tangle in &mut tangles {
            tangle.sort_unstable();
        }
        tangles.sort();
        for tangle in tangles {
            let first = tangle[0];
            if tangle.len() > 1 || graph.contains_edge(first, first) {
                let circle = shortest_circle(&graph, first);
                self.report_loop(&circle, tangle.len());
            }
        }
    }

    fn report_loop(&mut self, circle: &[usize], tangled: usize) {
        let names: Vec<&str> =
            circle.iter().map(|edge| self.file.stages[self.edges[*edge].from].name.as_str()).collect();
        let first = names.first().copied().unwrap_or_default();
        let message = match names.as_slice() {
            [one] => format!("the stage \"{one}\" waits for itself: {one} -> {one}"),
            all => format!("{} stages wait for each other: {} -> {first}", all.len(), arrows(all)),
        };
        let last = &self.edges[circle[circle.len() - 1]];
        let mut problem = Problem::new(Code::LOOP, message).at(last.span).label(self.waits(last));
        for edge in circle.iter().rev().skip(1).rev() {
            let edge = &self.edges[*edge];
            problem = problem.also(edge.span, self.waits(edge));
        }
        problem.involved = names.iter().map(|name| (*name).to_owned()).collect();
        let more = tangled - names.len();
        let help = "take one of these references out: a stage can only read what was made before it";
        self.problems.push(match more {
            0 => problem.help(help),
            more => problem.help(format!("{help}; {more} more stages are in circles with these")),
        });
    }

    fn waits(&self, edge: &Edge) -> String {
        format!("\"{}\" waits for \"{}\"", self.file.stages[edge.to].name, self.file.stages[edge.from].name)
    }
}

/// `a -> b -> c`; of a long one, the ends.
fn arrows(names: &[&str]) -> String {
    const ENDS: usize = 4;
    if names.len() <= ENDS * 3 {
        return names.join(" -> ");
    }
    let (head, tail) = (&names[..ENDS], &names[names.len() - ENDS..]);
    format!("{} -> … ({} more) … -> {}", head.join(" -> "), names.len() - 2 * ENDS, tail.join(" -> "))
}

/// The edges of a shortest way from a node back to itself.
fn shortest_circle(graph: &DiGraph<(), usize>, start: NodeIndex) -> Vec<usize> {
    use petgraph::visit::EdgeRef;

    let mut reached: Vec<Option<(NodeIndex, usize)>> = vec![None; graph.node_count()];
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        // petgraph gives the newest edge first; the file's order is wanted.
        let mut edges: Vec<_> = graph.edges(node).collect();
        edges.reverse();
        for edge in edges {
            let target = edge.target();
            if reached[target.index()].is_none() {
                reached[target.index()] = Some((node, *edge.weight()));
                queue.push_back(target);
            }
        }
        if reached[start.index()].is_some() {
            break;
        }
    }
    let mut circle = Vec::new();
    let mut at = start;
    while let Some((before, edge)) = reached[at.index()] {
        circle.push(edge);
        at = before;
        if at == start {
            break;
        }
    }
    circle.reverse();
    circle
}
