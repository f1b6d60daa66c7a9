//! Cuts a text into sentences and keeps the line of each.

/// A sentence as it stands in its text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sentence<'t> {
    pub(super) text: &'t str,
    /// How many line breaks stand before it.
    pub(super) line: usize,
}

/// What ends with a full stop and does not end a sentence, in lower case.
const ABBREVIATIONS: [&str; 30] = [
    "approx", "art", "av", "bkz", "ca", "cf", "dr", "doç", "e.g", "eg", "fig", "i.e", "ie", "incl", "inc", "ltd", "mr",
    "mrs", "ms", "no", "nr", "örn", "p", "prof", "sn", "st", "şti", "vb", "vs", "yrd",
];

/// The sentences of a text. A blank line, a heading, a list item and a table row also end one.
pub(super) fn sentences(text: &str) -> Vec<Sentence<'_>> {
    let mut found = Vec::new();
    let mut open: Option<(usize, usize)> = None;
    let mut start = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let end = start + line.len();
        if open.is_some() && (line.trim().is_empty() || starts_block(line)) {
            close(text, &mut open, start, &mut found);
        }
        let mut from = start;
        for cut in ends(line).map(|at| start + at) {
            open.get_or_insert((from, number));
            close(text, &mut open, cut, &mut found);
            from = cut;
        }
        if !text[from..end].trim().is_empty() {
            open.get_or_insert((from, number));
        }
        start = end;
        // A sentence goes on in the next line, unless that line begins something new, or this was a heading.
        if line.starts_with('#') {
            close(text, &mut open, start, &mut found);
        }
    }
    close(text, &mut open, text.len(), &mut found);
    found
}

fn close<'t>(text: &'t str, open: &mut Option<(usize, usize)>, end: usize, found: &mut Vec<Sentence<'t>>) {
    if let Some((from, line)) = open.take() {
        let text = text[from..end].trim();
        if !text.is_empty() {
            found.push(Sentence { text, line });
        }
    }
}

/// Whether a line begins a heading, a list item or a table row.
fn starts_block(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|first: char| first.is_ascii_digit());
    let numbered = rest.len() < line.len() && (rest.starts_with(". ") || rest.starts_with(") "));
    numbered || line.starts_with(['#', '|']) || ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
}

/// Where sentences end within a line: behind the sign and whatever closes with it.
fn ends(line: &str) -> impl Iterator<Item = usize> {
    line.char_indices().filter_map(move |(at, sign)| {
        if !matches!(sign, '.' | '!' | '?' | '…') {
            return None;
        }
        let behind = &line[at + sign.len_utf8()..];
        let closed = behind.trim_start_matches(['"', '\'', ')', ']', '”', '’', '»', '*', '_']);
        let next = closed.trim_start();
        // "3.5", "support@example.com" and "?!" go on at once; "(bkz. ek)" goes on in lower case, and so does "3. günde".
        let goes_on = !closed.starts_with(char::is_whitespace) && !closed.is_empty();
        if goes_on || next.starts_with(char::is_lowercase) || (sign == '.' && abbreviated(&line[..at])) {
            return None;
        }
        Some(line.len() - closed.len())
    })
}

/// Whether a full stop behind this belongs to an abbreviation, an initial or the number of a list item.
fn abbreviated(before: &str) -> bool {
    let word = before.rsplit(|sign: char| sign.is_whitespace() || sign == '(').next().unwrap_or("");
    let initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    let item = word.len() < 4 && word.chars().all(|digit| digit.is_ascii_digit()) && before.trim() == word;
    initial || item || ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(usize, &str)]) {
        let found: Vec<(usize, &str)> = sentences(text).iter().map(|sentence| (sentence.line, sentence.text)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_sentence_to_a_line_or_several_or_one_over_two() {
        check("One.\nTwo.\n", &[(0, "One."), (1, "Two.")]);
        check("One. Two! \"Three?\" Four", &[(0, "One."), (0, "Two!"), (0, "\"Three?\""), (0, "Four")]);
        check("One goes\non here. Two.\n\nThree", &[(0, "One goes\non here."), (1, "Two."), (3, "Three")]);
    }

    #[test]
    fn full_stops_that_end_nothing() {
        check("It takes 3.5 days, e.g. by post.", &[(0, "It takes 3.5 days, e.g. by post.")]);
        check("Bkz. Ek 3. Bu süre 3. günde biter.", &[(0, "Bkz. Ek 3."), (0, "Bu süre 3. günde biter.")]);
        check(
            "Ask J. Smith. Or write to a.b@example.com now.",
            &[(0, "Ask J. Smith."), (0, "Or write to a.b@example.com now.")],
        );
    }

    #[test]
    fn markdown_blocks() {
        check(
            "# Title\nText\n- one\n- two\n  more\n1. First. Then.\n| a | b |\n",
            &[
                (0, "# Title"),
                (1, "Text"),
                (2, "- one"),
                (3, "- two\n  more"),
                (5, "1. First."),
                (5, "Then."),
                (6, "| a | b |"),
            ],
        );
        check("", &[]);
        check("\n \n", &[]);
    }

    proptest::proptest! {
        /// Whatever the text, nothing of it is lost but white space, and each sentence knows its line.
        #[test]
        fn all_of_the_text_is_in_some_sentence(text in "[a-cA-Cç0-9.!?…\"()#|\\-\n ]{0,80}") {
            let solid = |text: &str| text.split_whitespace().collect::<String>();
            let found = sentences(&text);
            let all: String = found.iter().map(|sentence| solid(sentence.text)).collect();
            proptest::prop_assert_eq!(all, solid(&text));
            let lines: Vec<&str> = text.split('\n').collect();
            for sentence in found {
                let first = sentence.text.split('\n').next().unwrap();
                proptest::prop_assert!(lines[sentence.line].contains(first));
            }
        }
    }
}
