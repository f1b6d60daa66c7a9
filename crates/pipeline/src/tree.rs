//! The file as a tree that knows where everything stands.

use std::ops::Range;

use indexmap::IndexMap;
use serde_json::{Map, Value as Json};
use toml::de::{DeTable, DeValue};

use crate::codes::Code;
use crate::diagnostic::{Problem, Span};
use crate::names::quote;

/// A value with its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) tree: Tree,
    pub(crate) span: Span,
    /// The environment variables that were put in.
    pub(crate) variables: Vec<Variable>,
}

/// An environment variable that stood in a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) outcome: Outcome,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The environment had a value.
    Set,
    /// It had none, and the default in the file was taken.
    Default,
    /// Nobody knows the environment yet, and the reference was left in.
    Open,
}

#[derive(Clone, Debug)]
pub(crate) enum Tree {
    String(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Datetime(String),
    Array(Vec<Node>),
    Table(Table),
    /// Something that could not be read and has been reported.
    Broken,
}

/// The entries of a table, in the order of the file.
pub(crate) type Table = IndexMap<String, Entry>;

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Span,
    pub(crate) node: Node,
}

impl Node {
    pub(crate) fn new(tree: Tree, span: Span) -> Self {
        Node { tree, span, variables: Vec::new() }
    }

    pub(crate) fn table(&self) -> Option<&Table> {
        match &self.tree {
            Tree::Table(table) => Some(table),
            _ => None,
        }
    }

    pub(crate) fn string(&self) -> Option<&str> {
        match &self.tree {
            Tree::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn is_broken(&self) -> bool {
        matches!(self.tree, Tree::Broken)
    }

    /// Whether a reference to the environment was left in.
    pub(crate) fn is_open(&self) -> bool {
        self.variables.iter().any(|variable| variable.outcome == Outcome::Open)
    }

    /// What it is, for "found …".
    pub(crate) fn describe(&self) -> String {
        match &self.tree {
            Tree::String(text) => format!("the text {}", quote(text)),
            Tree::Integer(number) => format!("the number {number}"),
            Tree::Float(number) => format!("the number {number:?}"),
            Tree::Boolean(flag) => format!("{flag}"),
            Tree::Datetime(text) => format!("the date {text}"),
            Tree::Array(_) => "a list".to_owned(),
            Tree::Table(_) => "a table".to_owned(),
            Tree::Broken => "nothing readable".to_owned(),
        }
    }

    pub(crate) fn to_json(&self) -> Json {
        match &self.tree {
            Tree::String(text) | Tree::Datetime(text) => Json::from(text.as_str()),
            Tree::Integer(number) => Json::from(*number),
            Tree::Float(number) => Json::from(*number),
            Tree::Boolean(flag) => Json::from(*flag),
            Tree::Array(elements) => elements.iter().map(Node::to_json).collect(),
            Tree::Table(table) => Json::Object(
                table.iter().map(|(key, entry)| (key.clone(), entry.node.to_json())).collect::<Map<_, _>>(),
            ),
            Tree::Broken => Json::Null,
        }
    }
}

/// Reads TOML. All syntax errors are reported, and what could be read comes back.
pub(crate) fn parse(source: usize, text: &str) -> (Node, Vec<Problem>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader { source, text, problems: Vec::new() };
    let mut places: Vec<(usize, &toml::de::Error)> = errors
        .iter()
        .map(|error| (error.span().map_or(text.len(), |span| span.start.min(text.len())), error))
        .collect();
    places.sort_by_key(|(start, _)| *start);
    // A syntax error often causes others just behind it; one per line is enough.
    let mut before: Option<usize> = None;
    for (start, error) in places {
        let same_line = before.is_some_and(|before| !text.as_bytes()[before..start].contains(&b'\n'));
        // The keys of a table that is there twice are there twice, too.
        let same_table = before.is_some_and(|before| {
            reader.last_is_a_second_table() && !text[before..start].contains("\n[") && is_duplicate(error)
        });
        if !same_line && !same_table {
            reader.syntax(start, error);
        }
        before = Some(start);
    }
    let root = Node::new(reader.table(table.get_ref()), Span::new(source, table.span()));
    (root, reader.problems)
}

struct Reader<'text> {
    source: usize,
    text: &'text str,
    problems: Vec<Problem>,
}

fn is_duplicate(error: &toml::de::Error) -> bool {
    error.message().contains("duplicate key")
}

impl Reader<'_> {
    fn last_is_a_second_table(&self) -> bool {
        self.problems.last().is_some_and(|problem| problem.code == Code::DUPLICATE_KEY && !problem.labels.is_empty())
    }

    fn syntax(&mut self, start: usize, error: &toml::de::Error) {
        let span = Span::new(self.source, start..error.span().map_or(start, |span| span.end.min(self.text.len())));
        let message = error.message();
        let problem = if is_duplicate(error) {
            let name = self.text.get(span.start..span.end).unwrap_or_default();
            let problem = Problem::new(Code::DUPLICATE_KEY, format!("{} is defined twice", quote(name)))
                .at(span)
                .label("defined again here")
                .help("rename one of the two, or join them");
            match self.first_header(span) {
                Some(first) => problem.also(first, "first defined here"),
                None => problem,
            }
        } else if message.contains("recurs") {
            // The parser gives up behind what was too much, which may be the next line.
            let before = self.text[..span.start].trim_end();
            let last = before.chars().next_back().map_or(0, char::len_utf8);
            let span = Span::new(self.source, before.len() - last..before.len());
            Problem::new(Code::NESTED_TOO_DEEP, "the nesting is too deep")
                .at(span)
                .label("at most 80 levels")
                .help("a pipeline file needs five levels or six; was this one written by a program?")
        } else {
            Problem::new(Code::SYNTAX, format!("not valid TOML: {message}"))
                .at(span)
                .label("here")
                .help("the form of a TOML file is described on https://toml.io")
        };
        self.problems.push(problem);
    }

    /// The first table header that reads as the one around `span` does.
    fn first_header(&self, span: Span) -> Option<Span> {
        let line_start = self.text[..span.start].rfind('\n').map_or(0, |at| at + 1);
        let header = self.text[line_start..].lines().next()?.split('#').next()?.trim();
        if !header.starts_with('[') || header.starts_with("[[") {
            return None;
        }
        let mut at = 0;
        for line in self.text[..line_start].split_inclusive('\n') {
            if line.split('#').next()?.trim() == header {
                let start = at + (line.len() - line.trim_start().len());
                return Some(Span::new(self.source, start..start + header.len()));
            }
            at += line.len();
        }
        None
    }

    fn table(&mut self, table: &DeTable<'_>) -> Tree {
        let mut entries: Vec<(String, Entry)> = table
            .iter()
            .map(|(key, value)| {
                let span = Span::new(self.source, key.span());
                (key.get_ref().to_string(), Entry { key: span, node: self.node(value.get_ref(), value.span()) })
            })
            .collect();
        entries.sort_by_key(|(_, entry)| entry.key.start);
        Tree::Table(entries.into_iter().collect())
    }

    fn node(&mut self, value: &DeValue<'_>, range: Range<usize>) -> Node {
        let span = Span::new(self.source, range);
        let tree = match value {
            // A value without quotes has been reported; it comes as a string all the same.
            DeValue::String(_) if !self.text[span.start..span.end].starts_with(['"', '\'']) => Tree::Broken,
            DeValue::String(text) => Tree::String(text.to_string()),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Tree::Integer(number),
                Err(_) => self.number_out_of_range(span, "an integer of 64 bits"),
            },
            DeValue::Float(number) => match number.as_str().parse::<f64>() {
                // TOML has infinity and not-a-number; no key of a pipeline file has a use for them.
                Ok(number) if number.is_finite() => Tree::Float(number),
                _ => self.number_out_of_range(span, "a finite number of 64 bits"),
            },
            DeValue::Boolean(flag) => Tree::Boolean(*flag),
            DeValue::Datetime(datetime) => Tree::Datetime(datetime.to_string()),
            DeValue::Array(elements) => {
                Tree::Array(elements.iter().map(|element| self.node(element.get_ref(), element.span())).collect())
            }
            DeValue::Table(table) => self.table(table),
        };
        Node::new(tree, span)
    }

    fn number_out_of_range(&mut self, span: Span, expected: &str) -> Tree {
        let found = self.text.get(span.start..span.end).unwrap_or_default();
        // What could not be read at all has been reported as a syntax error on the same line.
        let reported =
            self.problems.iter().any(|problem| problem.place.as_ref().is_some_and(|place| place.span == span));
        if !found.is_empty() && !reported {
            let found: String = found.chars().take(40).collect();
            let message = format!("the number {found} is out of range");
            self.problems.push(Problem::new(Code::OUT_OF_RANGE, message).at(span).found(found, expected));
        }
        Tree::Broken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_keep_the_order_of_the_file_and_their_places() {
        let text = "b = 1\na = \"x\"\n[t]\nz.y = 2\nc = 1979-05-27\n";
        let (root, problems) = parse(0, text);
        assert_eq!(problems, []);
        let table = root.table().unwrap();
        assert_eq!(table.keys().collect::<Vec<_>>(), ["b", "a", "t"]);
        let a = &table["a"];
        assert_eq!((&text[a.key.start..a.key.end], &text[a.node.span.start..a.node.span.end]), ("a", "\"x\""));
        assert_eq!(root.to_json()["t"], serde_json::json!({ "z": { "y": 2 }, "c": "1979-05-27" }));
    }

    #[test]
    fn several_syntax_errors_come_at_once_and_the_rest_is_read() {
        let (root, problems) = parse(0, "a = \nb = 5 5\nc = 1\n[d\ne = 2\n");
        assert_eq!(problems.len(), 3, "{problems:?}");
        assert_eq!(root.to_json()["c"], 1);
    }

    #[test]
    fn a_table_that_is_there_twice_is_shown_twice() {
        let text = "[stage.a]\nx = 1\n\n[stage.a] # again\nx = 2\ny = 2\n";
        let (_, problems) = parse(0, text);
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].code, Code::DUPLICATE_KEY);
        assert_eq!(problems[0].labels[0].span, Span::new(0, 0..9));
    }

    #[test]
    fn numbers_that_do_not_fit_are_reported() {
        let (_, problems) = parse(0, "a = 99999999999999999999\nb = 1e999\nc = nan\nd = inf\n");
        assert_eq!(problems.len(), 4, "{problems:?}");
        assert!(problems.iter().all(|problem| problem.code == Code::OUT_OF_RANGE));
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_stack_overflow() {
        for text in [
            format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000)),
            format!("a = {}", "{b=".repeat(100_000)),
            format!("{}b = 1", "a.".repeat(100_000)),
            format!("[{}b]\nc = 1", "a.".repeat(100_000)),
        ] {
            let (_, problems) = parse(0, &text);
            assert!(problems.iter().any(|problem| problem.code == Code::NESTED_TOO_DEEP), "{:?}", problems.first());
        }
    }
}
