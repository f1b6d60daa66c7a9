//! Problems with places: what is wrong, where it stands, what to do.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde_json::{Value as Json, json};

use crate::codes::Code;
use crate::render;

/// The largest pipeline file that is read, in bytes.
pub(crate) const LARGEST_FILE: usize = 16 * 1024 * 1024;

/// How many problems a report keeps. Whoever has more has one problem, made by a program.
const MOST_PROBLEMS: usize = 10_000;

/// A range of bytes in one of the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// 0 is the pipeline file; the others are `--set` arguments.
    pub source: usize,
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    pub(crate) fn new(source: usize, range: Range<usize>) -> Self {
        Span { source, start: range.start, end: range.end.max(range.start) }
    }
}

/// A text that spans point into: the pipeline file, or a `--set` argument.
#[derive(Clone, Debug)]
pub struct Source {
    /// What reports call it: the path as it was given, or `--set`.
    pub name: String,
    /// The path, from which relative paths in the file start (at its folder).
    pub path: PathBuf,
    /// The text.
    pub text: String,
}

impl Source {
    /// A text that was never a file. Relative paths in it start at the working folder.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let name = name.into();
        Source { path: PathBuf::from(&name), name, text: text.into() }
    }

    /// Reads a pipeline file.
    ///
    /// # Errors
    /// A report with one problem: the file is missing, is a folder, cannot be read (E0001), is not UTF-8 (E0002, with
    /// the line and column of the first byte that is wrong), or is larger than 16 MiB (E0003).
    pub fn read(path: &Path) -> Result<Self, Report> {
        crate::source::read(path)
    }
}

/// A line and a column, both counted from 1; columns are characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character in it.
    pub column: usize,
}

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It cannot work.
    Error,
    /// It works, and is probably not what was meant.
    Warning,
}

impl Severity {
    /// `error` or `warning`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// A place that belongs to a problem, with a few words about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The words; may be empty.
    pub text: String,
}

/// One thing that is wrong.
///
/// ```
/// use hatir_pipeline::{Code, Problem, Report};
///
/// let problem = Problem::new(Code::INPUT_VALUE, "the input `question` was not given").help("add `--input question=…`");
/// assert!(Report::single(problem).render(false).contains("E0304"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The stable code.
    pub code: Code,
    /// What is wrong, in one sentence, without the suggestion.
    pub message: String,
    /// Where, with the words that stand beside the underline.
    pub place: Option<Label>,
    /// Further places that matter.
    pub labels: Vec<Label>,
    /// What was found, where that can be said.
    pub found: Option<String>,
    /// What was expected, where that can be said.
    pub expected: Option<String>,
    /// What was probably meant, as it would be written.
    pub suggestion: Option<String>,
    /// What to do.
    pub help: Option<String>,
    /// Names of everything that takes part, for a program to read (every stage of a loop, in order).
    pub involved: Vec<String>,
}

impl Problem {
    /// A problem without a place.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Problem {
            code,
            message: message.into(),
            place: None,
            labels: Vec::new(),
            found: None,
            expected: None,
            suggestion: None,
            help: None,
            involved: Vec::new(),
        }
    }

    /// The same problem with its place.
    pub fn at(self, span: Span) -> Self {
        Problem { place: Some(Label { span, text: String::new() }), ..self }
    }

    /// The same problem with words beside the underline. Without any, what was expected stands there.
    pub fn label(mut self, text: impl Into<String>) -> Self {
        if let Some(place) = &mut self.place {
            place.text = text.into();
        }
        self
    }

    /// The same problem with a further place.
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// The same problem with what was found and what was expected.
    pub fn found(self, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Problem { found: Some(found.into()), expected: Some(expected.into()), ..self }
    }

    /// The same problem with what was probably meant.
    pub fn suggest(self, suggestion: Option<impl Into<String>>) -> Self {
        Problem { suggestion: suggestion.map(Into::into), ..self }
    }

    /// The same problem with a remedy.
    pub fn help(self, help: impl Into<String>) -> Self {
        Problem { help: Some(help.into()), ..self }
    }

    /// How bad it is: codes with a `W` are warnings.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// The message with the suggestion: `unknown stage kind "rank.qurey", did you mean "rank.query"?`.
    pub fn headline(&self) -> String {
        match &self.suggestion {
            Some(suggestion) => format!("{}, did you mean \"{suggestion}\"?", self.message),
            None => self.message.clone(),
        }
    }
}

/// All problems of one go, with the texts that they point into.
///
/// Cloning is cheap: the texts are shared.
#[derive(Clone, Debug, Default)]
pub struct Report {
    sources: Arc<Vec<Located>>,
    problems: Vec<Problem>,
    left_out: usize,
}

impl Report {
    /// A report without problems over some texts; the first one is the pipeline file.
    pub fn new(sources: Vec<Source>) -> Self {
        let sources = sources.into_iter().map(Located::new).collect();
        Report { sources: Arc::new(sources), problems: Vec::new(), left_out: 0 }
    }

    /// A report of one problem that points nowhere.
    pub fn single(problem: Problem) -> Self {
        Report { problems: vec![problem], ..Report::default() }
    }

    /// Other problems over the same texts: those of a build or a run that point into the file.
    pub fn with(&self, problems: Vec<Problem>) -> Self {
        let mut report = Report { sources: self.sources.clone(), problems: Vec::new(), left_out: 0 };
        report.extend(problems);
        report
    }

    pub(crate) fn extend(&mut self, problems: impl IntoIterator<Item = Problem>) {
        for problem in problems {
            if self.problems.len() < MOST_PROBLEMS {
                self.problems.push(problem);
            } else {
                self.left_out += 1;
            }
        }
    }

    /// Puts the problems into the order of the sources, those without a place first.
    pub(crate) fn sort(&mut self) {
        self.problems.sort_by_key(|problem| problem.place.as_ref().map(|place| (place.span.source, place.span.start)));
    }

    /// All problems, in the order of the sources.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The problems that keep the pipeline from working.
    pub fn errors(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(|problem| problem.severity() == Severity::Error)
    }

    /// The problems that do not.
    pub fn warnings(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(|problem| problem.severity() == Severity::Warning)
    }

    /// Whether there is an error.
    pub fn has_errors(&self) -> bool {
        self.errors().next().is_some()
    }

    /// Whether there is nothing to report.
    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// How many problems were not kept because there are more than 10,000.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// The name of the text that a span points into.
    pub fn name(&self, span: Span) -> Option<&str> {
        self.sources.get(span.source).map(|located| located.source.name.as_str())
    }

    /// The bytes of a text that a span points at.
    pub fn text(&self, span: Span) -> Option<&str> {
        self.sources.get(span.source)?.source.text.get(span.start..span.end)
    }

    /// The line that a span starts in, without its end.
    pub fn line(&self, span: Span) -> Option<&str> {
        let located = self.sources.get(span.source)?;
        let line = located.line_at(span.start.min(located.source.text.len()));
        located.source.text.get(located.line_range(line))
    }

    /// Where a span starts.
    pub fn position(&self, span: Span) -> Option<Position> {
        self.sources.get(span.source).map(|located| located.position(span.start))
    }

    /// The report for people: each problem with the lines that it is about, at most 100 of them.
    ///
    /// With `color`, ANSI escapes are used. Lines end with `\n`. Text from the file cannot smuggle escapes in.
    pub fn render(&self, color: bool) -> String {
        render::report(self, color)
    }

    /// The report for programs, a list of objects with the keys `code`, `severity`, `message`, `file`, `line`, `column`,
    /// `end_line`, `end_column`, `start`, `end`, `found`, `expected`, `suggestion`, `help`, `labels` (places with a
    /// `text` each) and `involved`.
    ///
    /// Lines and columns count from 1, columns in characters; `start` and `end` are bytes. What does not apply is null.
    pub fn to_json(&self) -> Json {
        self.problems.iter().map(|problem| self.problem_json(problem)).collect()
    }

    fn problem_json(&self, problem: &Problem) -> Json {
        let mut json = self.place_json(problem.place.as_ref().map(|place| place.span));
        let labels: Vec<Json> = problem
            .labels
            .iter()
            .map(|label| {
                let mut json = self.place_json(Some(label.span));
                json["text"] = json!(label.text);
                json
            })
            .collect();
        json["code"] = json!(problem.code.as_str());
        json["severity"] = json!(problem.severity().as_str());
        json["message"] = json!(problem.headline());
        json["found"] = json!(problem.found);
        json["expected"] = json!(problem.expected);
        json["suggestion"] = json!(problem.suggestion);
        json["help"] = json!(problem.help);
        json["labels"] = json!(labels);
        json["involved"] = json!(problem.involved);
        json
    }

    fn place_json(&self, span: Option<Span>) -> Json {
        let found = span.and_then(|span| Some((span, self.sources.get(span.source)?)));
        let Some((span, located)) = found else {
            return json!({ "file": null, "line": null, "column": null, "end_line": null, "end_column": null,
                "start": null, "end": null });
        };
        let (start, end) = (located.position(span.start), located.position(span.end));
        json!({ "file": located.source.name, "line": start.line, "column": start.column, "end_line": end.line,
            "end_column": end.column, "start": span.start, "end": span.end })
    }

    pub(crate) fn located(&self, source: usize) -> Option<&Located> {
        self.sources.get(source)
    }

    pub(crate) fn source_text(&self, source: usize) -> &str {
        self.sources.get(source).map_or("", |located| located.source.text.as_str())
    }
}

/// A source with an index from bytes to lines and columns, made when it is first asked for.
#[derive(Debug)]
pub(crate) struct Located {
    pub(crate) source: Source,
    index: OnceLock<Index>,
}

#[derive(Debug)]
struct Index {
    /// The first byte of each line.
    lines: Vec<usize>,
    /// Characters before every block of [`BLOCK`] bytes, so that a column in a line of megabytes is found quickly.
    characters: Vec<usize>,
}

const BLOCK: usize = 1024;

impl Located {
    fn new(source: Source) -> Self {
        Located { source, index: OnceLock::new() }
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let bytes = self.source.text.as_bytes();
            let mut lines = vec![0];
            lines.extend(bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1));
            let mut characters = Vec::with_capacity(bytes.len() / BLOCK + 1);
            let mut count = 0;
            for block in bytes.chunks(BLOCK) {
                characters.push(count);
                count += starts_of_characters(block);
            }
            characters.push(count);
            Index { lines, characters }
        })
    }

    fn characters_before(&self, at: usize) -> usize {
        let block = at / BLOCK;
        let known = self.index().characters.get(block).copied().unwrap_or_default();
        known + starts_of_characters(&self.source.text.as_bytes()[block * BLOCK..at])
    }

    /// The line (counted from 0) that a byte is in.
    pub(crate) fn line_at(&self, at: usize) -> usize {
        self.index().lines.partition_point(|start| *start <= at).saturating_sub(1)
    }

    /// The bytes of a line (counted from 0), without its end and without a byte order mark.
    pub(crate) fn line_range(&self, line: usize) -> Range<usize> {
        let text = &self.source.text;
        let lines = &self.index().lines;
        let mut start = lines.get(line).copied().unwrap_or(text.len());
        let end = lines.get(line + 1).copied().unwrap_or(text.len());
        if start == 0 && text.starts_with('\u{feff}') {
            start = '\u{feff}'.len_utf8();
        }
        let content = text[start..end.max(start)].trim_end_matches('\n');
        start..start + content.strip_suffix('\r').unwrap_or(content).len()
    }

    pub(crate) fn position(&self, at: usize) -> Position {
        let at = at.min(self.source.text.len());
        let line = self.line_at(at);
        let start = self.line_range(line).start.min(at);
        Position { line: line + 1, column: self.characters_before(at) - self.characters_before(start) + 1 }
    }
}

fn starts_of_characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte as i8) >= -0x40).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_and_skip_the_byte_order_mark() {
        let located = Located::new(Source::new("a", "\u{feff}çay = 1\r\nb = \"ğ\"\n"));
        let at = |text: &str| located.position(located.source.text.find(text).unwrap());
        assert_eq!(at("= 1"), Position { line: 1, column: 5 });
        assert_eq!(at("\"ğ"), Position { line: 2, column: 5 });
        assert_eq!(located.position(0), Position { line: 1, column: 1 });
        assert_eq!(located.position(usize::MAX).line, 3);
        assert_eq!(&located.source.text[located.line_range(0)], "çay = 1");
    }

    #[test]
    fn a_column_far_into_a_line_is_exact() {
        let located = Located::new(Source::new("a", format!("x\n{}!", "ş".repeat(100_000))));
        assert_eq!(located.position(2 + 200_000), Position { line: 2, column: 100_001 });
    }
}
