//! What a pipeline file says: its outer shape, read from the tree and checked on its own, before stage kinds matter.

use std::time::Duration;

use indexmap::IndexMap;

use crate::codes::Code;
use crate::diagnostic::{Problem, Report, Span};
use crate::duration::parse_duration;
use crate::expectations::read_tests;
use crate::interpolate::{is_name, written_range};
use crate::names::{list, nearest, quote};
use crate::plan::{ConditionTest, InputSpec, OnError, Retries, TestCase};
use crate::schema_check::duration_problem;
use crate::tree::{Entry, Node, Table, Tree};
use crate::value::Type;

/// A name in the file that means a stage, or an input as `$input.NAME`.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// The sources of one port, as written.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) port: String,
    pub(crate) span: Span,
    pub(crate) sources: Vec<Reference>,
    /// Whether it was readable; a port with an unreadable source is neither missing nor fed.
    pub(crate) sound: bool,
}

#[derive(Debug)]
pub(crate) struct StageText {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) kind: Option<Reference>,
    pub(crate) about: Option<String>,
    pub(crate) wires: Vec<Wire>,
    /// Whether `in` could be read.
    pub(crate) wired: bool,
    pub(crate) with: Option<Entry>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) retries: Retries,
    pub(crate) on_error: OnError,
    pub(crate) when: Option<(Reference, ConditionTest)>,
}

#[derive(Debug)]
pub(crate) enum OutputText {
    One(Reference),
    Many(Vec<(String, Reference)>),
}

/// A test with the places of what it names.
#[derive(Debug)]
pub(crate) struct TestText {
    pub(crate) case: TestCase,
    pub(crate) inputs: Vec<(String, Span, Span)>,
    pub(crate) stubs: Vec<(String, Span, Span)>,
    pub(crate) expected: Vec<(String, Span)>,
    pub(crate) sound: bool,
}

#[derive(Debug, Default)]
pub(crate) struct File {
    pub(crate) about: Option<String>,
    pub(crate) inputs: IndexMap<String, (InputSpec, Span)>,
    /// Inputs that were declared with a wrong type: known by name, so that references to them are no further error.
    pub(crate) broken_inputs: Vec<String>,
    pub(crate) output: Option<OutputText>,
    pub(crate) max_parallel: usize,
    pub(crate) env: IndexMap<String, Span>,
    pub(crate) stages: Vec<StageText>,
    /// Stages that could not be read at all, known by name for the same reason.
    pub(crate) broken_stages: Vec<String>,
    pub(crate) tests: Vec<TestText>,
}

/// Reads the outer shape. Whatever is wrong is reported, and what is left can still be checked further.
pub(crate) fn read(root: &Node, texts: &Report) -> (File, Vec<Problem>) {
    let mut reader = FileReader { texts, problems: Vec::new() };
    let file = reader.file(root);
    (file, reader.problems)
}

pub(crate) struct FileReader<'text> {
    texts: &'text Report,
    pub(crate) problems: Vec<Problem>,
}

/// The place to name when a file lacks something: its first character.
const TOP: Span = Span { source: 0, start: 0, end: 0 };

impl FileReader<'_> {
    fn file(&mut self, root: &Node) -> File {
        let mut file = File::default();
        let Some(table) = root.table() else { return file };
        if table.is_empty() {
            let problem = Problem::new(Code::MISSING_VERSION, "the file is empty");
            self.problems.push(problem.at(TOP).label("expected `version = 1` and at least one stage").help(
                "a pipeline starts with `version = 1`, then `[pipeline]` and a `[stage.NAME]` table for each stage; \
                 `hatir new` writes one",
            ));
            return file;
        }
        self.known_keys(table, &["version", "pipeline", "stage", "test"], "a pipeline file");
        self.version(table);
        match table.get("pipeline") {
            Some(entry) => self.pipeline(entry, &mut file),
            None => self.problems.push(
                Problem::new(Code::MISSING_KEY, "the file has no table `[pipeline]`")
                    .at(TOP)
                    .label("`[pipeline]` is missing")
                    .help("`[pipeline]` names the inputs and the output, as in `output = \"answer\"`"),
            ),
        }
        if let Some(entry) = table.get("stage") {
            self.stages(entry, &mut file);
        }
        let unread =
            table.get("stage").is_some_and(|entry| !matches!(&entry.node.tree, Tree::Table(table) if table.is_empty()));
        if file.stages.is_empty() && !unread {
            let problem =
                Problem::new(Code::NO_STAGES, "the pipeline has no stages").at(TOP).label("no `[stage.NAME]` table");
            self.problems
                .push(problem.help("`hatir stages` lists the kinds of stages; each stage is a table `[stage.NAME]`"));
        }
        if let Some(entry) = table.get("test") {
            file.tests = read_tests(self, entry);
        }
        file
    }

    fn version(&mut self, table: &Table) {
        match table.get("version") {
            None => self.problems.push(
                Problem::new(
                    Code::MISSING_VERSION,
                    "the file does not say which version of the format it is written in",
                )
                .at(TOP)
                .label("expected `version = 1`")
                .help("put `version = 1` in the first line"),
            ),
            Some(entry) if matches!(entry.node.tree, Tree::Integer(1) | Tree::Broken) => {}
            Some(entry) => self.problems.push(
                Problem::new(Code::UNSUPPORTED_VERSION, "this version of the format is not known")
                    .at(entry.node.span)
                    .found(entry.node.describe(), "the number 1")
                    .help("this program reads `version = 1`; a newer file needs a newer program"),
            ),
        }
    }

    fn pipeline(&mut self, entry: &Entry, file: &mut File) {
        let Some(table) = self.table(entry, "`pipeline`") else { return };
        self.known_keys(table, &["about", "input", "output", "max-parallel", "env"], "`[pipeline]`");
        file.about = self.text(table, "about", "`[pipeline]`");
        if let Some(entry) = table.get("input") {
            self.inputs(entry, file);
        }
        match table.get("output") {
            Some(entry) => file.output = self.output(entry),
            None => self.problems.push(
                Problem::new(Code::MISSING_KEY, "`[pipeline]` does not say what comes out")
                    .at(entry.key)
                    .label("`output` is missing")
                    .help("name a stage: `output = \"answer\"`, or several: `output = [\"found\", \"answer\"]`"),
            ),
        }
        if let Some(entry) = table.get("max-parallel") {
            file.max_parallel = self.whole_number(&entry.node, "`max-parallel`", 1, 256).unwrap_or(0) as usize;
        }
        if let Some(entry) = table.get("env") {
            for node in self.strings(&entry.node, "`env`") {
                let Some(name) = node.string() else { continue };
                if is_name(name) {
                    file.env.entry(name.to_owned()).or_insert(node.span);
                } else {
                    let message = format!("{} is not the name of an environment variable", quote(name));
                    let problem = Problem::new(Code::WRONG_VARIABLE_NAME, message).at(node.span);
                    self.problems.push(problem.found(node.describe(), "letters, digits and \"_\", no digit in front"));
                }
            }
        }
    }

    fn inputs(&mut self, entry: &Entry, file: &mut File) {
        let Some(table) = self.table(entry, "`input`") else { return };
        for (name, entry) in table {
            self.name(name, entry.key, "input");
            let Some(text) = self.string(&entry.node, &format!("the type of the input \"{name}\"")) else {
                file.broken_inputs.push(name.clone());
                continue;
            };
            let (kind, optional) = match text.strip_suffix('?') {
                Some(kind) => (kind, true),
                None => (text, false),
            };
            match kind.parse::<Type>() {
                Ok(kind) if kind.from_outside() => {
                    file.inputs.insert(name.clone(), (InputSpec { kind, optional }, entry.key));
                }
                parsed => {
                    file.broken_inputs.push(name.clone());
                    let names = || Type::ALL.into_iter().filter(|kind| kind.from_outside()).map(Type::as_str);
                    let message = match parsed {
                        Ok(kind) => format!("a value of type \"{kind}\" cannot be given from outside"),
                        Err(_) => format!("there is no type {}", quote(kind)),
                    };
                    let problem = Problem::new(Code::UNKNOWN_TYPE, message).at(entry.node.span);
                    self.problems.push(
                        problem
                            .found(entry.node.describe(), list(names()))
                            .suggest(nearest(kind, names()))
                            .help("a `?` behind the type makes the input optional: `context = \"text?\"`"),
                    );
                }
            }
        }
    }

    fn output(&mut self, entry: &Entry) -> Option<OutputText> {
        match &entry.node.tree {
            Tree::Array(_) => {
                let before = self.problems.len();
                let all = self.references(&entry.node, "`output`");
                let named =
                    all.into_iter().map(|feed| (feed.text.trim_start_matches("$input.").to_owned(), feed)).collect();
                (self.problems.len() == before).then_some(OutputText::Many(named))
            }
            Tree::Table(table) => {
                let before = self.problems.len();
                let mut all = Vec::new();
                for (key, entry) in table {
                    all.extend(self.reference(&entry.node, &format!("`output.{key}`")).map(|feed| (key.clone(), feed)));
                }
                (self.problems.len() == before).then_some(OutputText::Many(all))
            }
            Tree::String(_) => self.reference(&entry.node, "`output`").map(OutputText::One),
            _ => {
                self.wrong_type(&entry.node, "`output`", "the name of a stage, a list of names, or a table of names");
                None
            }
        }
    }

    fn stages(&mut self, entry: &Entry, file: &mut File) {
        if let Tree::Array(_) = entry.node.tree {
            self.wrong_type(
                &entry.node,
                "`stage`",
                "a table for each stage, `[stage.NAME]`, with one pair of brackets",
            );
            return;
        }
        let Some(table) = self.table(entry, "`stage`") else { return };
        for (name, entry) in table {
            self.name(name, entry.key, "stage");
            match self.stage(name, entry) {
                Some(stage) => file.stages.push(stage),
                None => file.broken_stages.push(name.clone()),
            }
        }
    }

    fn stage(&mut self, name: &str, entry: &Entry) -> Option<StageText> {
        let subject = format!("the stage \"{name}\"");
        let table = self.table(entry, &subject)?;
        let known = ["use", "about", "in", "with", "timeout", "retries", "on-error", "when"];
        self.known_keys(table, &known, &subject);
        let kind = if let Some(entry) = table.get("use") {
            self.reference(&entry.node, &format!("`use` of {subject}"))
        } else {
            let problem = Problem::new(Code::MISSING_KEY, format!("{subject} does not say of which kind it is"));
            let problem = problem.at(entry.key).label("`use` is missing");
            self.problems.push(problem.help("name a kind: `use = \"condense\"`; `hatir stages` lists them"));
            None
        };
        let (wires, wired) = match table.get("in") {
            Some(entry) => self.wires(entry, &subject),
            None => (Vec::new(), true),
        };
        let timeout = table.get("timeout").and_then(|entry| self.duration(&entry.node, "timeout"));
        let retries = table.get("retries").map_or_else(Retries::default, |entry| self.retries(&entry.node, &subject));
        let on_error = match table.get("on-error") {
            Some(entry) => match self.choice(&entry.node, &format!("`on-error` of {subject}"), &["fail", "skip"]) {
                Some("skip") => OnError::Skip,
                _ => OnError::Fail,
            },
            None => OnError::Fail,
        };
        Some(StageText {
            name: name.to_owned(),
            span: entry.key,
            kind,
            about: self.text(table, "about", &subject),
            wires,
            wired,
            with: table.get("with").cloned(),
            timeout,
            retries,
            on_error,
            when: table.get("when").and_then(|entry| self.when(entry, &subject)),
        })
    }

    fn wires(&mut self, entry: &Entry, subject: &str) -> (Vec<Wire>, bool) {
        let Some(table) = self.table(entry, &format!("`in` of {subject}")) else { return (Vec::new(), false) };
        let wires = table.iter().map(|(port, entry)| {
            let before = self.problems.len();
            let what = format!("`in.{port}` of {subject}");
            let sources = match &entry.node.tree {
                Tree::String(_) => self.reference(&entry.node, &what).into_iter().collect(),
                Tree::Array(_) => self.references(&entry.node, &what),
                _ => {
                    self.wrong_type(&entry.node, &what, "the name of a stage, `$input.NAME`, or a list of them");
                    Vec::new()
                }
            };
            let sound = self.problems.len() == before && !entry.node.is_broken();
            Wire { port: port.clone(), span: entry.key, sources, sound }
        });
        (wires.collect(), true)
    }

    fn when(&mut self, entry: &Entry, subject: &str) -> Option<(Reference, ConditionTest)> {
        let what = format!("`when` of {subject}");
        let table = self.table(entry, &what)?;
        self.known_keys(table, &["input", "is", "equals", "greater"], &what);
        let tests = ["is", "equals", "greater"].into_iter().filter_map(|key| Some((key, table.get(key)?)));
        let tests: Vec<(&str, &Entry)> = tests.collect();
        let input = if let Some(entry) = table.get("input") {
            self.reference(&entry.node, &format!("`input` in {what}"))
        } else {
            let problem = Problem::new(Code::MISSING_KEY, format!("{what} does not say what it looks at"));
            let problem = problem.at(entry.key).label("`input` is missing");
            self.problems.push(problem.help("as in `when = { input = \"found\", is = \"not-empty\" }`"));
            None
        };
        let [(key, test)] = tests.as_slice() else {
            let (message, place) = match tests.get(1) {
                Some((_, second)) => (format!("{what} asks several questions"), second.key),
                None => (format!("{what} asks nothing"), entry.key),
            };
            let problem = Problem::new(Code::WRONG_CONDITION, message).at(place);
            self.problems.push(
                problem
                    .label("expected exactly one of `is`, `equals` and `greater`")
                    .help("as in `when = { input = \"found\", is = \"not-empty\" }`"),
            );
            return None;
        };
        let test = match *key {
            "is" => match self.choice(&test.node, &format!("`is` in {what}"), &["present", "empty", "not-empty"])? {
                "present" => ConditionTest::Present,
                "empty" => ConditionTest::Empty,
                _ => ConditionTest::NotEmpty,
            },
            "equals" => ConditionTest::Equals(test.node.to_json()),
            _ => ConditionTest::Greater(self.number(&test.node, &format!("`greater` in {what}"))?),
        };
        Some((input?, test))
    }

    fn retries(&mut self, node: &Node, subject: &str) -> Retries {
        let mut retries = Retries::default();
        let what = format!("`retries` of {subject}");
        match &node.tree {
            Tree::Table(table) => {
                self.known_keys(table, &["count", "pause", "longest"], &what);
                match table.get("count") {
                    Some(entry) => {
                        let count = self.whole_number(&entry.node, &format!("`count` in {what}"), 0, 100);
                        retries.count = count.unwrap_or(0) as u32;
                    }
                    None => self.problems.push(
                        Problem::new(Code::MISSING_KEY, format!("{what} does not say how often"))
                            .at(node.span)
                            .label("`count` is missing")
                            .help("as in `retries = { count = 3, pause = \"200ms\" }`"),
                    ),
                }
                if let Some(pause) = table.get("pause").and_then(|entry| self.duration(&entry.node, "pause")) {
                    retries.pause = pause;
                    retries.longest = retries.longest.max(pause);
                }
                if let Some(entry) = table.get("longest")
                    && let Some(longest) = self.duration(&entry.node, "longest")
                {
                    retries.longest = longest;
                    if longest < retries.pause {
                        let problem =
                            Problem::new(Code::OUT_OF_RANGE, format!("`longest` in {what} is shorter than `pause`"));
                        let expected = format!("at least {}", crate::duration::show(retries.pause));
                        self.problems.push(problem.at(entry.node.span).found(entry.node.describe(), expected));
                    }
                }
            }
            Tree::Integer(_) => retries.count = self.whole_number(node, &what, 0, 100).unwrap_or(0) as u32,
            _ => self.wrong_type(node, &what, "a number of retries, or a table with `count`, `pause` and `longest`"),
        }
        retries
    }

    // What follows reads single values and is used by the tests of a file, too.

    pub(crate) fn known_keys(&mut self, table: &Table, known: &[&str], subject: &str) {
        for (key, entry) in table.iter().filter(|(key, _)| !known.contains(&key.as_str())) {
            let problem = Problem::new(Code::UNKNOWN_KEY, format!("unknown key {} in {subject}", quote(key)));
            self.problems.push(
                problem
                    .at(entry.key)
                    .label("no such key")
                    .found(format!("the key {}", quote(key)), list(known.iter().copied()))
                    .suggest(nearest(key, known.iter().copied()))
                    .help(format!("expected {}", list(known.iter().copied()))),
            );
        }
    }

    pub(crate) fn wrong_type(&mut self, node: &Node, what: &str, expected: &str) {
        if !node.is_broken() {
            let problem = Problem::new(Code::WRONG_TYPE, format!("{what} has the wrong type"));
            self.problems.push(problem.at(node.span).found(node.describe(), expected));
        }
    }

    pub(crate) fn table<'node>(&mut self, entry: &'node Entry, what: &str) -> Option<&'node Table> {
        let table = entry.node.table();
        if table.is_none() {
            self.wrong_type(&entry.node, what, "a table");
        }
        table
    }

    pub(crate) fn string<'node>(&mut self, node: &'node Node, what: &str) -> Option<&'node str> {
        let text = node.string();
        if text.is_none() {
            self.wrong_type(node, what, "a text in quotes");
        }
        text
    }

    pub(crate) fn number(&mut self, node: &Node, what: &str) -> Option<f64> {
        match node.tree {
            Tree::Integer(number) => Some(number as f64),
            Tree::Float(number) => Some(number),
            _ => {
                self.wrong_type(node, what, "a number");
                None
            }
        }
    }

    pub(crate) fn whole_number(&mut self, node: &Node, what: &str, least: i64, most: i64) -> Option<i64> {
        match node.tree {
            Tree::Integer(number) if (least..=most).contains(&number) => Some(number),
            Tree::Integer(_) => {
                let expected = match most {
                    i64::MAX => format!("a whole number of at least {least}"),
                    _ => format!("a whole number from {least} to {most}"),
                };
                let problem = Problem::new(Code::OUT_OF_RANGE, format!("{what} is out of range"));
                self.problems.push(problem.at(node.span).found(node.describe(), expected));
                None
            }
            _ => {
                self.wrong_type(node, what, "a whole number");
                None
            }
        }
    }

    fn text(&mut self, table: &Table, key: &str, subject: &str) -> Option<String> {
        let entry = table.get(key)?;
        self.string(&entry.node, &format!("`{key}` of {subject}")).map(str::to_owned)
    }

    fn duration(&mut self, node: &Node, key: &str) -> Option<Duration> {
        if let Some(text) = node.string()
            && !self.no_variable(node, text)
        {
            return None;
        }
        if let Some(problem) = duration_problem(key, node) {
            self.problems.push(problem);
            return None;
        }
        let duration = parse_duration(node.string()?).ok()?;
        if duration.is_zero() {
            let problem = Problem::new(Code::WRONG_DURATION, format!("`{key}` is zero")).at(node.span);
            self.problems.push(problem.found(node.describe(), "a duration longer than zero"));
            return None;
        }
        Some(duration)
    }

    fn choice<'word>(&mut self, node: &Node, what: &str, choices: &[&'word str]) -> Option<&'word str> {
        let text = self.string(node, what)?;
        let found = choices.iter().find(|choice| **choice == text);
        if found.is_none() {
            let problem = Problem::new(Code::WRONG_CHOICE, format!("{what} cannot be {}", quote(text))).at(node.span);
            let problem = problem.found(node.describe(), list(choices.iter().copied()));
            self.problems.push(problem.suggest(nearest(text, choices.iter().copied())));
        }
        found.copied()
    }

    /// The strings of a list; what is no string is reported and left out.
    fn strings<'node>(&mut self, node: &'node Node, what: &str) -> Vec<&'node Node> {
        let Tree::Array(elements) = &node.tree else {
            self.wrong_type(node, what, "a list of texts");
            return Vec::new();
        };
        let mut strings = Vec::with_capacity(elements.len());
        for element in elements {
            if self.string(element, &format!("an element of {what}")).is_some() {
                strings.push(element);
            }
        }
        strings
    }

    fn reference(&mut self, node: &Node, what: &str) -> Option<Reference> {
        let text = self.string(node, what)?;
        self.no_variable(node, text).then(|| Reference { text: text.to_owned(), span: node.span })
    }

    fn references(&mut self, node: &Node, what: &str) -> Vec<Reference> {
        let strings = self.strings(node, what);
        strings.into_iter().filter_map(|node| self.reference(node, what)).collect()
    }

    /// Reports a reference to the environment where none is replaced.
    fn no_variable(&mut self, node: &Node, text: &str) -> bool {
        let Some(start) = text.find("${") else { return true };
        let end = text[start..].find('}').map_or(text.len(), |length| start + length + 1);
        let range = written_range(self.texts.text(node.span).unwrap_or_default(), &(start..end));
        let (start, end) = (node.span.start + range.start, node.span.start + range.end);
        let span = Span { source: node.span.source, start, end };
        let problem = Problem::new(Code::MISPLACED_VARIABLE, "an environment variable cannot be used here").at(span);
        self.problems.push(problem.label("not replaced here").help(
            "environment variables are put into the texts below `with` only, so that the shape of a pipeline never \
             depends on the environment; use `--set` to change other keys",
        ));
        false
    }

    fn name(&mut self, name: &str, span: Span, what: &str) {
        let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '-' | '_');
        if name.is_empty() || !name.chars().all(fits) {
            let message = format!("{} cannot be the name of {} {what}", quote(name), article(what));
            let problem = Problem::new(Code::WRONG_NAME, message).at(span);
            let lowered: String = name.to_lowercase().replace([' ', '.'], "-");
            let suggestion = (lowered != name && !lowered.is_empty() && lowered.chars().all(fits)).then_some(lowered);
            self.problems.push(
                problem
                    .found(format!("the name {}", quote(name)), "small letters a-z, digits, \"-\" and \"_\"")
                    .suggest(suggestion),
            );
        }
    }
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}
