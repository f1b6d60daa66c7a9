//! Cuts a text into lines, paragraphs or Markdown sections, and keeps the line where each begins.

use std::borrow::Cow;

/// A part of a file.
#[derive(Debug, PartialEq)]
pub(super) struct Piece<'t> {
    /// The first line of `text`, counted from 1: what a citation names.
    pub(super) line: usize,
    /// The line that the id names; none for a whole file.
    pub(super) anchor: Option<usize>,
    /// The heading.
    pub(super) title: Option<String>,
    /// The title of the page that the heading stands under.
    pub(super) page: Option<String>,
    /// The text, as it stands in the file.
    pub(super) text: Cow<'t, str>,
}

/// Lines with their numbers and the byte where each begins; without their line breaks.
fn numbered(text: &str) -> impl Iterator<Item = (usize, usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').enumerate().map(move |(at, line)| {
        let begins = start;
        start += line.len();
        (at + 1, begins, line.strip_suffix('\n').unwrap_or(line))
    })
}

pub(super) fn lines(text: &str) -> Vec<Piece<'_>> {
    let pieces = numbered(text).filter(|(_, _, line)| !line.trim().is_empty());
    pieces.map(|(number, _, line)| piece(number, line)).collect()
}

pub(super) fn paragraphs(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut open: Option<(usize, usize)> = None;
    for (number, start, line) in numbered(text) {
        match (open, line.trim().is_empty()) {
            (None, false) => open = Some((number, start)),
            (Some((first, from)), true) => {
                pieces.push(piece(first, text[from..start].trim_end()));
                open = None;
            }
            _ => {}
        }
    }
    if let Some((first, from)) = open {
        pieces.push(piece(first, text[from..].trim_end()));
    }
    pieces
}

fn piece(line: usize, text: &str) -> Piece<'_> {
    Piece { line, anchor: Some(line), title: None, page: None, text: text.into() }
}

/// The sections of a Markdown page: one for each heading `##`, and one for the text below `#` before the first of them.
///
/// Headings underlined with `===` or `---` are not recognised. A heading with nothing below it gives no section.
pub(super) fn sections(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut page: Option<String> = None;
    let mut open = Open::default();
    for (number, start, line) in markdown_lines(text) {
        let Some((level @ 1..=2, heading)) = heading(line) else { continue };
        open.close(&text[open.body..start], page.as_ref(), &mut pieces);
        let title = (!heading.is_empty()).then(|| heading.to_owned());
        if level == 1 {
            page.clone_from(&title);
        }
        let body = text[start..].find('\n').map_or(text.len(), |end| start + end + 1);
        open = Open { anchor: Some(number), title, body, line: number + 1 };
    }
    open.close(&text[open.body..], page.as_ref(), &mut pieces);
    pieces
}

/// A section whose end has not been seen.
struct Open {
    anchor: Option<usize>,
    title: Option<String>,
    body: usize,
    line: usize,
}

impl Default for Open {
    fn default() -> Self {
        Open { anchor: None, title: None, body: 0, line: 1 }
    }
}

impl Open {
    fn close<'t>(&self, body: &'t str, page: Option<&String>, pieces: &mut Vec<Piece<'t>>) {
        // The page's front matter is no text of it.
        let matter = if self.body == 0 { front_matter(body) } else { 0 };
        let mut line = self.line + body[..matter].matches('\n').count();
        let mut text = &body[matter..];
        // Blank lines in front go, but not the indentation of the first line that has something on it.
        while let Some((_, rest)) = text.split_once('\n').filter(|(first, _)| first.trim().is_empty()) {
            line += 1;
            text = rest;
        }
        let text = text.trim_end();
        if !text.is_empty() {
            let anchor = Some(self.anchor.unwrap_or(line));
            pieces.push(Piece { line, anchor, title: self.title.clone(), page: page.cloned(), text: text.into() });
        }
    }
}

/// The title of a Markdown file: its first `#` heading.
pub(super) fn title(path: &str, text: &str) -> Option<String> {
    let markdown = path.rsplit_once('.').is_some_and(|(_, end)| ["md", "markdown"].contains(&end));
    let headings = || markdown_lines(text).filter_map(|(_, _, line)| heading(line));
    markdown.then(|| headings().find(|(level, text)| *level == 1 && !text.is_empty()))?.map(|(_, text)| text.to_owned())
}

/// The lines that may be headings: not those in fenced code, nor in the front matter.
fn markdown_lines(text: &str) -> impl Iterator<Item = (usize, usize, &str)> {
    let matter = front_matter(text);
    let mut fence: Option<(char, usize)> = None;
    numbered(text).filter(move |(_, start, line)| {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let rest = &line[indent..];
        let mark = rest.chars().next().filter(|mark| matches!(mark, '`' | '~'));
        let length = mark.map_or(0, |mark| rest.len() - rest.trim_start_matches(mark).len());
        if *start < matter {
            return false;
        }
        match (fence, mark) {
            (None, Some(mark)) if length >= 3 && indent < 4 => fence = Some((mark, length)),
            // A fence is closed by one at least as long, with nothing after it.
            (Some((opened, least)), Some(mark)) if mark == opened && length >= least => {
                if rest[length..].trim().is_empty() {
                    fence = None;
                }
                return false;
            }
            _ => {}
        }
        fence.is_none()
    })
}

/// The length of the front matter: a first line `---`, up to and with the next such line.
fn front_matter(text: &str) -> usize {
    let mut lines = numbered(text);
    if lines.next().is_none_or(|(_, _, line)| line.trim_end() != "---") {
        return 0;
    }
    let end = lines.find(|(_, _, line)| matches!(line.trim_end(), "---" | "..."));
    end.map_or(0, |(_, start, line)| (start + line.len() + 1).min(text.len()))
}

/// Level and text of a heading (`CommonMark` 0.31, section 4.2).
fn heading(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches(' ');
    if line.len() - rest.len() > 3 {
        return None;
    }
    let text = rest.trim_start_matches('#');
    let level = rest.len() - text.len();
    if !(1..=6).contains(&level) || !(text.is_empty() || text.starts_with([' ', '\t'])) {
        return None;
    }
    let text = text.trim();
    let open = text.trim_end_matches('#');
    // Closing signs count as such only after a space: `## C#` is about C#.
    let text = if open.is_empty() || open.ends_with([' ', '\t']) { open.trim_end() } else { text };
    Some((level, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Told<'p> = (usize, Option<usize>, Option<&'p str>, Option<&'p str>, &'p str);

    fn told<'p>(pieces: &'p [Piece<'_>]) -> Vec<Told<'p>> {
        pieces
            .iter()
            .map(|piece| (piece.line, piece.anchor, piece.title.as_deref(), piece.page.as_deref(), &*piece.text))
            .collect()
    }

    #[test]
    fn sections_of_a_page() {
        let page = "# Refunds\n\nAbout money.\n\n## Window\n\n30 days.\n14 for gifts.\n\n### Gifts\nCash.\n## Empty\n\n## C#\n  no\n";
        assert_eq!(
            told(&sections(page)),
            [
                (3, Some(1), Some("Refunds"), Some("Refunds"), "About money."),
                (7, Some(5), Some("Window"), Some("Refunds"), "30 days.\n14 for gifts.\n\n### Gifts\nCash."),
                (15, Some(14), Some("C#"), Some("Refunds"), "  no"),
            ]
        );
    }

    #[test]
    fn a_page_without_headings_is_one_section_and_an_empty_one_is_none() {
        assert_eq!(told(&sections("\n\ntext\n")), [(3, Some(3), None, None, "text")]);
        assert_eq!(told(&sections("")), []);
        assert_eq!(told(&sections("\n \n")), []);
        assert_eq!(told(&sections("## Heading")), []);
    }

    #[test]
    fn code_and_front_matter_have_no_headings() {
        let page =
            "---\ntitle: x\n## not this\n---\nIntro\n```sh\n## nor this\n```` \n## Yes ##\nbody\n~~~\n```\n# no\n~~~\n";
        assert_eq!(
            told(&sections(page)),
            [
                (5, Some(5), None, None, "Intro\n```sh\n## nor this\n````"),
                (10, Some(9), Some("Yes"), None, "body\n~~~\n```\n# no\n~~~"),
            ]
        );
        assert_eq!(title("a.md", "---\n# no\n---\n```\n# no\n```\n# Yes\n"), Some("Yes".to_owned()));
        assert_eq!(title("a.txt", "# no"), None);
    }

    #[test]
    fn lines_and_paragraphs_know_where_they_stand() {
        let text = "one\ntwo\n\n\n  three\n \nfour";
        assert_eq!(
            told(&paragraphs(text)),
            [
                (1, Some(1), None, None, "one\ntwo"),
                (5, Some(5), None, None, "  three"),
                (7, Some(7), None, None, "four"),
            ]
        );
        let numbers: Vec<usize> = lines(text).iter().map(|piece| piece.line).collect();
        assert_eq!(numbers, [1, 2, 5, 7]);
    }

    #[test]
    fn headings() {
        for (line, expected) in [
            ("## Window", Some((2, "Window"))),
            ("   # A  ##  ", Some((1, "A"))),
            ("    # code", None),
            ("#hash", None),
            ("##", Some((2, ""))),
            ("## ##", Some((2, ""))),
            ("####### seven", None),
            ("text", None),
        ] {
            assert_eq!(heading(line), expected, "{line}");
        }
    }

    proptest::proptest! {
        /// Whatever the text, a piece stands where it says, and the pieces come in order.
        #[test]
        fn pieces_stand_where_they_say(text in "[#\\-\n `~aç.]{0,80}") {
            let lines: Vec<&str> = text.split('\n').collect();
            for pieces in [super::lines(&text), paragraphs(&text), sections(&text)] {
                let mut last = 0;
                for piece in pieces {
                    proptest::prop_assert!(piece.line > last);
                    last = piece.line;
                    let first = piece.text.split('\n').next().unwrap();
                    proptest::prop_assert!(lines[piece.line - 1].starts_with(first));
                    proptest::prop_assert!(!piece.text.trim().is_empty());
                }
            }
        }
    }
}
