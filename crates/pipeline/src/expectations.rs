//! Reads the `[[test]]` tables of a pipeline file.

use indexmap::IndexMap;
use serde_json::Value as Json;

use crate::codes::Code;
use crate::diagnostic::{Problem, Span};
use crate::file::{FileReader, TestText};
use crate::names::{list, nearest, quote};
use crate::plan::{Check, Expectation, TestCase};
use crate::tree::{Entry, Node, Table, Tree};

/// The keys that ask something; any other key is a step into the value.
pub(crate) const CHECKS: [&str; 9] =
    ["equals", "contains", "lacks", "count", "at-least", "at-most", "empty", "skipped", "fails"];

pub(crate) fn read_tests(reader: &mut FileReader<'_>, entry: &Entry) -> Vec<TestText> {
    let Tree::Array(elements) = &entry.node.tree else {
        reader.wrong_type(&entry.node, "`test`", "a table in two pairs of brackets, `[[test]]`, for each test");
        return Vec::new();
    };
    elements.iter().filter_map(|element| read_test(reader, element)).collect()
}

fn read_test(reader: &mut FileReader<'_>, node: &Node) -> Option<TestText> {
    let before = reader.problems.len();
    let Some(table) = node.table() else {
        reader.wrong_type(node, "an element of `test`", "a table");
        return None;
    };
    let name = if let Some(entry) = table.get("name") {
        reader.string(&entry.node, "`name` of a test").unwrap_or_default().to_owned()
    } else {
        let problem = Problem::new(Code::MISSING_KEY, "a test has no name").at(node.span);
        reader
            .problems
            .push(problem.label("`name` is missing").help("as in `name = \"a follow-up finds the clause\"`"));
        String::new()
    };
    let subject = if name.is_empty() { "a test".to_owned() } else { format!("the test {}", quote(&name)) };
    reader.known_keys(table, &["name", "input", "stub", "expect"], &subject);
    let mut test = TestText {
        case: TestCase {
            name,
            span: table.get("name").map_or(node.span, |entry| entry.node.span),
            input: IndexMap::new(),
            stub: IndexMap::new(),
            expect: Vec::new(),
        },
        inputs: Vec::new(),
        stubs: Vec::new(),
        expected: Vec::new(),
        sound: true,
    };
    if let Some(values) = section(reader, table, "input", &subject) {
        (test.case.input, test.inputs) = named_values(values);
    }
    if let Some(values) = section(reader, table, "stub", &subject) {
        (test.case.stub, test.stubs) = named_values(values);
    }
    if let Some(stages) = section(reader, table, "expect", &subject) {
        for (stage, entry) in stages {
            test.expected.push((stage.clone(), entry.key));
            let mut walker = Walker { reader, stage, path: Vec::new(), found: Vec::new() };
            walker.value(entry);
            test.case.expect.append(&mut walker.found);
        }
    }
    test.sound = reader.problems.len() == before;
    Some(test)
}

fn section<'node>(reader: &mut FileReader<'_>, table: &'node Table, key: &str, subject: &str) -> Option<&'node Table> {
    reader.table(table.get(key)?, &format!("`{key}` of {subject}"))
}

type Named = (IndexMap<String, Json>, Vec<(String, Span, Span)>);

fn named_values(table: &Table) -> Named {
    let values = table.iter().map(|(name, entry)| (name.clone(), entry.node.to_json())).collect();
    let places = table.iter().map(|(name, entry)| (name.clone(), entry.key, entry.node.span)).collect();
    (values, places)
}

struct Walker<'run, 'text> {
    reader: &'run mut FileReader<'text>,
    stage: &'run str,
    path: Vec<String>,
    found: Vec<Expectation>,
}

impl Walker<'_, '_> {
    /// A plain value means equality; a table holds checks and steps further in.
    fn value(&mut self, entry: &Entry) {
        match &entry.node.tree {
            Tree::Table(table) if table.is_empty() => {
                let problem =
                    Problem::new(Code::EMPTY_EXPECTATION, format!("nothing is expected of `{}`", self.subject()));
                let problem = problem.at(entry.key).label("no check");
                let help = format!("the checks are {}", list(CHECKS));
                self.reader.problems.push(problem.help(help));
            }
            Tree::Table(table) => {
                for (key, entry) in table {
                    if CHECKS.contains(&key.as_str()) {
                        if let Some(check) = self.check(key, &entry.node) {
                            self.push(check, entry);
                        }
                    } else {
                        self.suspect(key, entry);
                        self.path.push(key.clone());
                        self.value(entry);
                        self.path.pop();
                    }
                }
            }
            Tree::Broken => {}
            _ => self.push(Check::Equals(entry.node.to_json()), entry),
        }
    }

    fn push(&mut self, check: Check, entry: &Entry) {
        let span = if entry.node.span.source == entry.key.source {
            Span { end: entry.node.span.end.max(entry.key.end), ..entry.key }
        } else {
            entry.key
        };
        let expectation = Expectation { stage: self.stage.to_owned(), path: self.path.clone(), check, span };
        self.found.push(expectation);
    }

    fn subject(&self) -> String {
        let mut subject = format!("expect.{}", self.stage);
        for part in &self.path {
            subject.push('.');
            subject.push_str(part);
        }
        subject
    }

    /// A step that is nearly the name of a check was probably meant as one.
    fn suspect(&mut self, key: &str, entry: &Entry) {
        if let Some(check) = nearest(key, CHECKS) {
            let message = format!("`{key}` in `{}` is read as a step into the value, not as a check", self.subject());
            let problem = Problem::new(Code::SUSPICIOUS_STEP, message).at(entry.key).suggest(Some(check));
            self.reader.problems.push(problem.help(format!("the checks are {}", list(CHECKS))));
        }
    }

    fn check(&mut self, key: &str, node: &Node) -> Option<Check> {
        let what = format!("`{}.{key}`", self.subject());
        Some(match key {
            "equals" => Check::Equals(node.to_json()),
            "contains" => Check::Contains(self.texts(node, &what)?),
            "lacks" => Check::Lacks(self.texts(node, &what)?),
            "count" => Check::Count(self.reader.whole_number(node, &what, 0, i64::MAX)? as usize),
            "at-least" => Check::AtLeast(self.reader.number(node, &what)?),
            "at-most" => Check::AtMost(self.reader.number(node, &what)?),
            "empty" => Check::Empty(self.flag(node, &what)?),
            "skipped" => Check::Skipped(self.flag(node, &what)?),
            _ => Check::Fails(self.reader.string(node, &what)?.to_owned()),
        })
    }

    fn texts(&mut self, node: &Node, what: &str) -> Option<Vec<String>> {
        match &node.tree {
            Tree::String(text) => Some(vec![text.clone()]),
            Tree::Array(elements) => {
                elements.iter().map(|element| self.reader.string(element, what).map(str::to_owned)).collect()
            }
            _ => {
                self.reader.wrong_type(node, what, "a text, or a list of texts");
                None
            }
        }
    }

    fn flag(&mut self, node: &Node, what: &str) -> Option<bool> {
        if let Tree::Boolean(flag) = node.tree {
            return Some(flag);
        }
        self.reader.wrong_type(node, what, "true or false");
        None
    }
}
