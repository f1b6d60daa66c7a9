//! From the text of a file to a checked plan. No disk, no network, no clock, no environment but what is passed in.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use indexmap::IndexMap;
use petgraph::graph::{DiGraph, NodeIndex};
use serde_json::Value as Json;

use crate::codes::Code;
use crate::diagnostic::{LARGEST_FILE, Problem, Report, Source, Span};
use crate::file::{self, File, Reference, StageText, TestText};
use crate::names::{list, nearest, quote};
use crate::plan::{Binding, Condition, Feed, Origin, Output, Plan, PlannedStage};
use crate::schema_check;
use crate::source::too_large;
use crate::stage::{Configured, Ports, Registry};
use crate::tree::{self, Entry, Node, Tree};
use crate::value::Value;
use crate::variables::{Environment, Variables};
use crate::wiring::{Edge, Known, Wiring};

/// How a file is compiled.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where references to environment variables get their values.
    pub environment: Environment,
    /// Changes to the file, each `KEY=VALUE` with a dotted key (`stage.found.with.top-k=5`). The value is TOML; what is
    /// not is taken as text. Later ones win.
    pub set: Vec<String>,
}

/// What came of a file.
pub struct Compiled {
    /// The plan, when there are no errors.
    pub plan: Option<Plan>,
    /// All errors and warnings, in the order of the file.
    pub report: Report,
}

/// Checks a pipeline file and makes a plan of it, finding everything that is wrong in one go.
///
/// Touches neither disk nor network. Costs about as much as reading the TOML.
///
/// ```
/// use hatir_pipeline::{Options, Registry, Source, compile};
///
/// let source = Source::new("a.toml", "version = 1\n[pipeline]\noutput = \"a\"\n[stage.a]\nuse = \"rank.qurey\"\n");
/// let compiled = compile(source, &Registry::standard(), &Options::default());
/// assert!(compiled.plan.is_none());
/// assert!(compiled.report.render(false).contains("did you mean \"rank.query\"?"));
/// ```
pub fn compile(source: Source, registry: &Registry, options: &Options) -> Compiled {
    if source.text.len() > LARGEST_FILE {
        return Compiled { plan: None, report: Report::single(too_large(&source.name)) };
    }
    let path = source.path.clone();
    let mut sources = vec![source];
    sources.extend(options.set.iter().map(|argument| crate::set::source(argument)));
    let mut report = Report::new(sources);
    let texts = report.clone();

    let (mut root, syntax) = tree::parse(0, texts.source_text(0));
    // What could not be read is missing further on; complaining about that would hide the cause.
    let broken = !syntax.is_empty();
    let mut problems = syntax;
    for (at, argument) in options.set.iter().enumerate() {
        problems.extend(crate::set::apply(&mut root, at + 1, argument));
    }
    let (file, complaints) = file::read(&root, &texts);
    problems.extend(complaints);

    let mut variables = Variables {
        declared: &file.env,
        environment: &options.environment,
        texts: &texts,
        used: std::collections::HashSet::new(),
        problems: Vec::new(),
    };
    let mut resolved = Vec::with_capacity(file.stages.len());
    for stage in &file.stages {
        let mut resolver = Resolver { registry, variables: &mut variables, problems: &mut problems };
        resolved.push(resolver.resolve(stage));
    }
    let used = std::mem::take(&mut variables.used);
    problems.append(&mut variables.problems);
    for (name, span) in file.env.iter().filter(|(name, _)| !used.contains(*name)) {
        let message = format!("the environment variable \"{name}\" is declared and not used");
        problems.push(
            Problem::new(Code::UNUSED_VARIABLE, message).at(*span).label("not used").help("take it out of `env`"),
        );
    }

    let known: Vec<Known> = resolved.iter().map(Resolved::known).collect();
    let mut wiring = Wiring::new(&file, &known, registry);
    let links: Vec<(Vec<Binding>, Option<Condition>)> =
        (0..file.stages.len()).map(|at| (wiring.bindings(at), wiring.condition(at))).collect();
    let output = wiring.output();
    wiring.loops();
    for test in &file.tests {
        check_test(test, &mut wiring, &file, &known, &links, output.as_ref());
    }
    let Wiring { edges, problems: complaints, .. } = wiring;
    problems.extend(complaints);

    let sound = !problems.iter().any(|problem| problem.severity() == crate::Severity::Error);
    let plan = match output {
        Some(output) if sound => Some(assemble(path, file, resolved, links, &edges, output, texts, &mut problems)),
        _ => None,
    };
    if broken {
        problems.retain(|problem| !follows_from_syntax(problem.code));
    }
    report.extend(problems);
    report.sort();
    Compiled { plan, report }
}

/// Problems that a syntax error somewhere else may have caused.
fn follows_from_syntax(code: Code) -> bool {
    [
        Code::MISSING_VERSION,
        Code::MISSING_KEY,
        Code::NO_STAGES,
        Code::UNKNOWN_STAGE,
        Code::UNKNOWN_INPUT,
        Code::MISSING_INPUT,
        Code::UNDECLARED_VARIABLE,
        Code::UNUSED_VARIABLE,
        Code::TEST_LACKS_INPUT,
    ]
    .contains(&code)
}

/// A stage with its kind looked up and its configuration read.
struct Resolved {
    ports: Option<Ports>,
    config: Option<Box<dyn Configured>>,
    origins: BTreeMap<String, Origin>,
}

impl Resolved {
    fn known(&self) -> Known {
        Known { ports: self.ports.clone(), exact: self.config.is_some() }
    }
}

struct Resolver<'run, 'file> {
    registry: &'run Registry,
    variables: &'run mut Variables<'file>,
    problems: &'run mut Vec<Problem>,
}

impl Resolver<'_, '_> {
    fn resolve(&mut self, stage: &StageText) -> Resolved {
        let place = stage.with.as_ref().map_or(stage.span, |entry| entry.key);
        let mut with = match &stage.with {
            Some(entry) => entry.node.clone(),
            None => Node::new(Tree::Table(tree::Table::new()), stage.span),
        };
        let before = self.variables.problems.len();
        self.variables.fill(&mut with);
        let filled = self.variables.problems.len() == before;
        let nothing = Resolved { ports: None, config: None, origins: BTreeMap::new() };
        let Some(kind) = &stage.kind else { return nothing };
        let Some(entry) = self.registry.get(&kind.text) else {
            self.unknown_kind(kind);
            return nothing;
        };
        let schema = entry.schema().to_value();
        let subject = format!("the stage \"{}\"", stage.name);
        let complaints = schema_check::check(&with, &schema, place, &subject);
        let general = Resolved { ports: Some(entry.ports()), config: None, origins: BTreeMap::new() };
        if !complaints.is_empty() || !filled || has_broken(&with) {
            self.problems.extend(complaints);
            return general;
        }
        match entry.parse(with.to_json()) {
            Ok(config) => {
                let refused = self.refusals(stage, &with, place, config.as_ref());
                let mut origins = BTreeMap::new();
                collect_origins(&with, String::new(), &mut origins);
                if refused { general } else { Resolved { ports: Some(config.ports()), config: Some(config), origins } }
            }
            Err(error) => {
                let problem = Problem::new(Code::REFUSED, format!("`with` of {subject} cannot be read: {error}"));
                let problem = problem.at(place);
                self.problems.push(match open_variables(&with) {
                    Some(names) => problem.help(format!("it may need the environment: {names}")),
                    None => problem,
                });
                general
            }
        }
    }

    /// What the kind itself has to say. Returns whether it refuses.
    fn refusals(&mut self, stage: &StageText, with: &Node, place: Span, config: &dyn Configured) -> bool {
        let mut refused = false;
        for complaint in config.check() {
            let (node, span) = deepest(with, &complaint.key, place);
            // A value that is not known yet cannot be judged.
            if open_variables(node).is_some() {
                continue;
            }
            refused = true;
            let key = complaint.key.join(".");
            let message = if key.is_empty() {
                format!("the stage \"{}\": {}", stage.name, complaint.message)
            } else {
                format!("`{key}` of the stage \"{}\": {}", stage.name, complaint.message)
            };
            let problem = Problem::new(Code::REFUSED, message).at(span);
            self.problems.push(match complaint.help {
                Some(help) => problem.help(help),
                None => problem,
            });
        }
        refused
    }

    fn unknown_kind(&mut self, kind: &Reference) {
        let names = || self.registry.iter().map(|kind| kind.name);
        self.problems.push(
            Problem::new(Code::UNKNOWN_KIND, format!("unknown stage kind {}", quote(&kind.text)))
                .at(kind.span)
                .label("no such kind")
                .found(quote(&kind.text), list(names()))
                .suggest(nearest(&kind.text, names()))
                .help("`hatir stages` lists the kinds"),
        );
    }
}

/// The node that a key leads to, as far as it exists, with the place to name.
fn deepest<'node>(with: &'node Node, key: &[String], place: Span) -> (&'node Node, Span) {
    let (mut node, mut span) = (with, place);
    for part in key {
        let next = match &node.tree {
            Tree::Table(table) => table.get(part).map(|Entry { node, .. }| node),
            Tree::Array(elements) => part.parse::<usize>().ok().and_then(|at| elements.get(at)),
            _ => None,
        };
        let Some(next) = next else { break };
        (node, span) = (next, next.span);
    }
    (node, span)
}

/// Whether something in it could not be read, and has been reported.
fn has_broken(node: &Node) -> bool {
    match &node.tree {
        Tree::Array(elements) => elements.iter().any(has_broken),
        Tree::Table(table) => table.values().any(|entry| has_broken(&entry.node)),
        _ => node.is_broken(),
    }
}

/// The names of variables that nobody knows the value of yet.
fn open_variables(node: &Node) -> Option<String> {
    let mut names = Vec::new();
    let mut nodes = vec![node];
    while let Some(node) = nodes.pop() {
        match &node.tree {
            Tree::Array(elements) => nodes.extend(elements),
            Tree::Table(table) => nodes.extend(table.values().map(|entry| &entry.node)),
            _ if node.is_open() => names.extend(node.variables.iter().map(|variable| variable.name.as_str())),
            _ => {}
        }
    }
    names.sort_unstable();
    names.dedup();
    (!names.is_empty()).then(|| names.join(", "))
}

fn collect_origins(node: &Node, path: String, origins: &mut BTreeMap<String, Origin>) {
    match &node.tree {
        Tree::Table(table) => {
            for (key, entry) in table {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                collect_origins(&entry.node, path, origins);
            }
        }
        Tree::Array(elements) => {
            let variables = elements.iter().flat_map(|element| element.variables.clone()).collect();
            origins.insert(path, Origin { span: node.span, variables });
        }
        _ => {
            origins.insert(path, Origin { span: node.span, variables: node.variables.clone() });
        }
    }
}

fn check_test(
    test: &TestText,
    wiring: &mut Wiring<'_>,
    file: &File,
    known: &[Known],
    links: &[(Vec<Binding>, Option<Condition>)],
    output: Option<&Output>,
) {
    let subject = format!("the test {}", quote(&test.case.name));
    for (name, key, span) in &test.inputs {
        match file.inputs.get(name) {
            Some((spec, _)) => {
                readable(wiring, spec.kind, &test.case.input[name], *span, &format!("the input \"{name}\""));
            }
            None if file.broken_inputs.contains(name) => {}
            None => wiring.unknown_input(name, *key, ""),
        }
    }
    for (name, key, span) in &test.stubs {
        match wiring.stage(name) {
            Some(at) => {
                if let Some(ports) = known[at].ports.as_ref().filter(|_| known[at].exact) {
                    let what = format!("the stub for \"{name}\"");
                    readable(wiring, ports.output, &test.case.stub[name], *span, &what);
                }
            }
            None if file.broken_stages.contains(name) => {}
            None => {
                wiring.unknown_stage(&Reference { text: name.clone(), span: *key }, &format!("`stub` of {subject}"));
            }
        }
    }
    for (name, key) in &test.expected {
        if wiring.stage(name).is_none() && !file.broken_stages.contains(name) {
            let reference = Reference { text: name.clone(), span: *key };
            wiring.unknown_stage(&reference, &format!("`expect` of {subject}"));
        }
    }
    if test.sound {
        missing_inputs(test, wiring, file, links, output, &subject);
    }
}

/// Inputs that the stages without a stub read, and that the test does not give.
fn missing_inputs(
    test: &TestText,
    wiring: &mut Wiring<'_>,
    file: &File,
    links: &[(Vec<Binding>, Option<Condition>)],
    output: Option<&Output>,
    subject: &str,
) {
    let real = file.stages.iter().zip(links).filter(|(stage, _)| !test.case.stub.contains_key(&stage.name));
    let feeds = real.flat_map(|(_, (bindings, when))| {
        bindings.iter().flat_map(|binding| &binding.feeds).chain(when.iter().map(|when| &when.feed))
    });
    let out: Vec<&Feed> = match output {
        Some(Output::One(feed)) => vec![feed],
        Some(Output::Many(all)) => all.values().collect(),
        None => Vec::new(),
    };
    let mut read: Vec<&str> = feeds
        .chain(out)
        .filter_map(|feed| match feed {
            Feed::Input(name) => Some(name.as_str()),
            Feed::Stage(_) => None,
        })
        .collect();
    read.sort_unstable();
    read.dedup();
    for name in read {
        let needed = file.inputs.get(name).is_some_and(|(spec, _)| !spec.optional);
        if needed && !test.case.input.contains_key(name) {
            let message = format!("{subject} does not give the input \"{name}\"");
            let problem = Problem::new(Code::TEST_LACKS_INPUT, message).at(test.case.span);
            wiring.problems.push(problem.label(format!("`input.{name}` is missing")).help(
                "give it in `input` of the test, put a stub in place of the stages that read it, or make it optional with a \
                 `?` behind its type",
            ));
        }
    }
}

fn readable(wiring: &mut Wiring<'_>, kind: crate::Type, json: &Json, span: Span, what: &str) {
    if let Err(error) = Value::from_json(kind, json.clone()) {
        let problem = Problem::new(Code::WRONG_TEST_VALUE, format!("{what} is {error}")).at(span);
        wiring.problems.push(problem.label(format!("expected {kind}")));
    }
}

#[expect(clippy::too_many_arguments, reason = "it joins everything that the steps before it found, once")]
fn assemble(
    path: std::path::PathBuf,
    file: File,
    resolved: Vec<Resolved>,
    links: Vec<(Vec<Binding>, Option<Condition>)>,
    edges: &[Edge],
    output: Output,
    texts: Report,
    problems: &mut Vec<Problem>,
) -> Plan {
    let mut graph = DiGraph::with_capacity(file.stages.len(), edges.len());
    let mut stages = Vec::with_capacity(file.stages.len());
    for ((text, resolved), (bindings, when)) in file.stages.into_iter().zip(resolved).zip(links) {
        let (Some(config), Some(ports)) = (resolved.config, resolved.ports) else { continue };
        let node = graph.add_node(stages.len());
        stages.push(PlannedStage {
            name: text.name,
            kind: text.kind.map(|kind| kind.text).unwrap_or_default(),
            about: text.about,
            origins: resolved.origins,
            ports,
            bindings,
            config,
            timeout: text.timeout,
            retries: text.retries,
            on_error: text.on_error,
            when,
            constant: false,
            used: false,
            node,
            span: text.span,
        });
    }
    for edge in edges {
        graph.add_edge(NodeIndex::new(edge.from), NodeIndex::new(edge.to), edge.port.clone());
    }
    let order = order(&graph);
    mark_constant(&mut stages, &order);
    mark_used(&mut stages, &output);
    report_unused(&stages, &file.inputs, &output, problems);
    let name = path.file_stem().map_or_else(|| "pipeline".to_owned(), |stem| stem.to_string_lossy().into_owned());
    Plan {
        path,
        name,
        about: file.about,
        inputs: file.inputs.into_iter().map(|(name, (spec, _))| (name, spec)).collect(),
        stages,
        graph,
        order,
        output,
        max_parallel: file.max_parallel,
        tests: file.tests.into_iter().map(|test| test.case).collect(),
        texts,
    }
}

/// Everything after what it reads, and otherwise in the order of the file.
fn order(graph: &DiGraph<usize, String>) -> Vec<usize> {
    use petgraph::Direction;

    let mut waiting: Vec<usize> =
        graph.node_indices().map(|node| graph.edges_directed(node, Direction::Incoming).count()).collect();
    let mut ready: BinaryHeap<Reverse<usize>> =
        (0..waiting.len()).filter(|at| waiting[*at] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(waiting.len());
    while let Some(Reverse(at)) = ready.pop() {
        order.push(at);
        for next in graph.neighbors_directed(NodeIndex::new(at), Direction::Outgoing) {
            // Parallel edges come one by one, and were counted so.
            waiting[next.index()] -= 1;
            if waiting[next.index()] == 0 {
                ready.push(Reverse(next.index()));
            }
        }
    }
    order
}

pub(crate) fn feeds_of(stage: &PlannedStage) -> impl Iterator<Item = &Feed> {
    stage.bindings.iter().flat_map(|binding| &binding.feeds).chain(stage.when.iter().map(|when| &when.feed))
}

fn output_feeds(output: &Output) -> Vec<&Feed> {
    match output {
        Output::One(feed) => vec![feed],
        Output::Many(all) => all.values().collect(),
    }
}

fn mark_constant(stages: &mut [PlannedStage], order: &[usize]) {
    for at in order {
        let constant = !stages[*at].config.has_effects()
            && feeds_of(&stages[*at]).all(|feed| match feed {
                Feed::Input(_) => false,
                Feed::Stage(from) => stages[*from].constant,
            });
        stages[*at].constant = constant;
    }
}

fn mark_used(stages: &mut [PlannedStage], output: &Output) {
    let stage_of = |feed: &Feed| match feed {
        Feed::Stage(at) => Some(*at),
        Feed::Input(_) => None,
    };
    let mut open: Vec<usize> = output_feeds(output).into_iter().filter_map(stage_of).collect();
    open.extend((0..stages.len()).filter(|at| stages[*at].config.has_effects()));
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut stages[at].used, true) {
            open.extend(feeds_of(&stages[at]).filter_map(stage_of));
        }
    }
}

fn report_unused(
    stages: &[PlannedStage],
    inputs: &IndexMap<String, (crate::InputSpec, Span)>,
    output: &Output,
    problems: &mut Vec<Problem>,
) {
    for stage in stages.iter().filter(|stage| !stage.used) {
        let message = format!("the stage \"{}\" is not used, and is not run", stage.name);
        problems.push(
            Problem::new(Code::UNUSED_STAGE, message)
                .at(stage.span)
                .label("nothing that comes out depends on it")
                .help("name it in `output` or in the `in` of another stage, or take it out"),
        );
    }
    let mut read: std::collections::HashSet<&str> = std::collections::HashSet::new();
    for feed in stages.iter().flat_map(feeds_of).chain(output_feeds(output)) {
        if let Feed::Input(name) = feed {
            read.insert(name);
        }
    }
    for (name, (_, span)) in inputs.iter().filter(|(name, _)| !read.contains(name.as_str())) {
        let problem = Problem::new(Code::UNUSED_INPUT, format!("the input \"{name}\" is not used")).at(*span);
        problems.push(
            problem
                .label("nothing reads it")
                .help(format!("feed it to a stage, `in.PORT = \"$input.{name}\"`, or take it out")),
        );
    }
}
