//! Draws problems with the lines that they are about.

use std::fmt::Write as _;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet, normalize_untrusted_str};

use crate::diagnostic::{Label, Located, Problem, Report, Severity};

/// How many problems are drawn; the rest is counted.
const DRAWN: usize = 100;

/// How many further places of one problem are drawn.
const PLACES: usize = 6;

/// Lines between two places that are still drawn in one piece.
const CLOSE: usize = 6;

/// The bytes of a line that are handed to the drawing; longer lines are cut around what is underlined.
const WIDE: usize = 400;

pub(crate) fn report(report: &Report, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut text = String::new();
    for problem in report.problems().iter().take(DRAWN) {
        text.push_str(&draw(report, problem, &renderer));
        text.push_str("\n\n");
    }
    let more = report.problems().len().saturating_sub(DRAWN) + report.left_out();
    if more > 0 {
        let _ = write!(text, "… and {more} more problems\n\n");
    }
    text
}

fn draw(report: &Report, problem: &Problem, renderer: &Renderer) -> String {
    let level = match problem.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(problem.headline()).id(problem.code.as_str()));
    let mut columns = Vec::new();
    let labels = labels(problem);
    for piece in pieces(report, &labels) {
        let Some(piece) = Piece::cut(report, &piece) else { continue };
        columns.extend(piece.column_fix());
        group = group.element(piece.into_snippet());
    }
    let unseen = problem.labels.len().saturating_sub(PLACES);
    if unseen > 0 {
        group = group
            .element(Level::NOTE.message(format!("{unseen} more places are left out here; the JSON form has all")));
    }
    if let Some(help) = &problem.help {
        group = group.element(Level::HELP.message(normalize_untrusted_str(help)));
    }
    let mut drawn = renderer.render(&[group]);
    for (wrong, right) in columns {
        drawn = drawn.replacen(&wrong, &right, 1);
    }
    drawn
}

/// The places of a problem with their words; the first one is the main place.
fn labels(problem: &Problem) -> Vec<(Label, bool)> {
    let mut labels = Vec::new();
    if let Some(place) = &problem.place {
        let mut place = place.clone();
        if place.text.is_empty()
            && let Some(expected) = &problem.expected
        {
            place.text = match &problem.found {
                Some(found) => format!("found {found}, expected {expected}"),
                None => format!("expected {expected}"),
            };
        }
        labels.push((place, true));
    }
    labels.extend(problem.labels.iter().take(PLACES).map(|label| (label.clone(), false)));
    labels
}

/// Groups places that stand close together, so that they are drawn in one piece. The main place's group comes first.
fn pieces(report: &Report, labels: &[(Label, bool)]) -> Vec<Vec<(Label, bool)>> {
    let line = |label: &Label| report.located(label.span.source).map(|located| located.line_at(label.span.start));
    let mut sorted: Vec<&(Label, bool)> = labels.iter().collect();
    sorted.sort_by_key(|(label, _)| (label.span.source, label.span.start));
    let mut pieces: Vec<Vec<(Label, bool)>> = Vec::new();
    for (label, main) in sorted {
        let near = pieces.last().and_then(|piece| piece.last()).is_some_and(|(before, _)| {
            before.span.source == label.span.source
                && line(label).unwrap_or(0).saturating_sub(line(before).unwrap_or(0)) <= CLOSE
        });
        match pieces.last_mut() {
            Some(piece) if near => piece.push((label.clone(), *main)),
            _ => pieces.push(vec![(label.clone(), *main)]),
        }
    }
    pieces.sort_by_key(|piece| !piece.iter().any(|(_, main)| *main));
    pieces
}

/// A few lines of a source, cut to a readable width, with places relative to them.
struct Piece {
    name: String,
    first_line: usize,
    text: String,
    marks: Vec<(Range<usize>, String, bool)>,
    /// The line and column as cut and as they are, for the place that the head of the piece names.
    head: Option<(usize, usize, usize)>,
}

impl Piece {
    fn cut(report: &Report, labels: &[(Label, bool)]) -> Option<Self> {
        let (first, _) = labels.first()?;
        let (last, _) = labels.last()?;
        let located = report.located(first.span.source)?;
        let lines = located.line_at(first.span.start)..=located.line_at(last.span.start);
        let mut piece = Piece {
            name: located.source.name.clone(),
            first_line: lines.start() + 1,
            text: String::new(),
            marks: Vec::new(),
            head: None,
        };
        // The drawing names the first main place, or the first place when none is the main one.
        let named = labels.iter().position(|(_, main)| *main).unwrap_or(0);
        for line in lines {
            if !piece.text.is_empty() || line + 1 > piece.first_line {
                piece.text.push('\n');
            }
            let here: Vec<(usize, &(Label, bool))> =
                labels.iter().enumerate().filter(|(_, (label, _))| located.line_at(label.span.start) == line).collect();
            piece.add_line(located, line, &here, named);
        }
        Some(piece)
    }

    fn add_line(&mut self, located: &Located, line: usize, labels: &[(usize, &(Label, bool))], named: usize) {
        let whole = located.line_range(line);
        let text = &located.source.text;
        let window = window(text, &whole, labels.iter().map(|(_, (label, _))| label.span.start..label.span.end));
        let mut before = self.text.len();
        if window.start > whole.start {
            self.text.push('…');
            before = self.text.len();
        }
        self.text.push_str(&text[window.clone()]);
        let after = self.text.len();
        if window.end < whole.end {
            self.text.push('…');
        }
        for (at, (label, main)) in labels {
            // A place outside the window is a second far place in one huge line; its words go to the window's end.
            let start = label.span.start.clamp(window.start, window.end) - window.start + before;
            let end = label.span.end.clamp(window.start, window.end) - window.start + before;
            self.marks.push((start.min(after)..end.max(start).min(after), label.text.clone(), *main));
            if *at == named && window.start > whole.start {
                let shown = text[window.start..label.span.start.clamp(window.start, window.end)].chars().count() + 2;
                self.head = Some((line + 1, shown, located.position(label.span.start).column));
            }
        }
    }

    /// What the drawing says about the place, and what it should say: it knows only the part of the line that was cut.
    fn column_fix(&self) -> Option<(String, String)> {
        let (line, shown, column) = self.head?;
        Some((format!("{}:{line}:{shown}", self.name), format!("{}:{line}:{column}", self.name)))
    }

    fn into_snippet(self) -> Snippet<'static, annotate_snippets::Annotation<'static>> {
        let marks = self.marks.into_iter().map(|(range, words, main)| {
            let kind = if main { AnnotationKind::Primary } else { AnnotationKind::Context };
            kind.span(range).label((!words.is_empty()).then_some(words))
        });
        Snippet::source(self.text).path(self.name).line_start(self.first_line).annotations(marks)
    }
}

/// The part of a line that is shown: all of it, or what is around the first place.
fn window(text: &str, line: &Range<usize>, mut places: impl Iterator<Item = Range<usize>>) -> Range<usize> {
    if line.len() <= WIDE {
        return line.clone();
    }
    let place = places.next().unwrap_or(line.start..line.start);
    let start = place.start.clamp(line.start, line.end);
    let from = start.saturating_sub(WIDE / 4).max(line.start);
    let to = (from + WIDE).min(line.end);
    floor(text, from, line.start)..floor(text, to, line.start)
}

fn floor(text: &str, at: usize, lowest: usize) -> usize {
    (lowest..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(lowest)
}
