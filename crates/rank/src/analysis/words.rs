//! Cuts text into words.

use std::borrow::Cow;

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Words longer than this many characters are cut there, in documents and queries alike.
pub(crate) const MAX_WORD_CHARS: usize = 64;

/// What follows an apostrophe is a suffix up to this many letters ("Türkiye'dekilerden" has nine).
const MAX_SUFFIX_CHARS: usize = 10;

/// A word as written, without its apostrophe suffix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word<'t> {
    /// The letters, digits and marks as they stand in the (normalised) text.
    pub(crate) text: &'t str,
    /// Whether it was the first part of a contraction with *not*: "don't", "isn't".
    pub(crate) negated: bool,
}

/// The text in Unicode form NFKC, so that composed, decomposed, full-width and ligature spellings meet, and without
/// the invisible characters that stand inside words (soft hyphen, zero-width space and joiners, byte-order mark).
pub(crate) fn normalise(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let visible: Cow<'_, str> = if text.contains(is_invisible) {
        Cow::Owned(text.chars().filter(|c| !is_invisible(*c)).collect())
    } else {
        Cow::Borrowed(text)
    };
    if is_nfkc_quick(visible.chars()) == IsNormalized::Yes { visible } else { Cow::Owned(visible.nfkc().collect()) }
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// The words of a normalised text, in order.
///
/// A word is a run of letters, digits and combining marks. A number keeps its points and commas ("2.0.1"). After an
/// apostrophe the rest is dropped as a suffix ("Ankara'ya", "company's"), unless what stands before it is a single
/// letter ("l'eau", "O'Brien"), when both parts are words. Scripts that set no spaces (Chinese, Japanese, Thai, …)
/// give overlapping pairs of characters.
pub(crate) fn words(text: &str) -> Vec<Word<'_>> {
    let mut found = Vec::with_capacity(text.len() / 6);
    let mut rest = text;
    while let Some(start) = rest.find(is_word_char) {
        rest = &rest[start..];
        let end = run_end(rest);
        let run = &rest[..end];
        rest = &rest[end..];
        let mut negated = false;
        if run.chars().nth(1).is_some() {
            // A suffix belongs to a word of two letters or more; there may be several ("rock'n'roll").
            while let Some((suffix, after)) = apostrophe_suffix(rest) {
                negated |= suffix.eq_ignore_ascii_case("t") && run.ends_with(['n', 'N']);
                rest = after;
            }
        }
        push_run(run, negated, &mut found);
    }
    found
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || (!c.is_ascii() && is_combining_mark(c))
}

/// Where the run of word characters at the start of `text` ends.
fn run_end(text: &str) -> usize {
    let mut numeric = true;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if is_word_char(c) {
            numeric &= c.is_ascii_digit();
        } else if numeric && matches!(c, '.' | ',') && chars.peek().is_some_and(|(_, next)| next.is_ascii_digit()) {
            // A separator inside a number.
        } else {
            return at;
        }
    }
    text.len()
}

/// The suffix behind an apostrophe at the start of `text`, and the text after it.
fn apostrophe_suffix(text: &str) -> Option<(&str, &str)> {
    let tail = text.strip_prefix(['\'', '\u{2019}', '\u{2bc}', '\u{2018}', '\u{b4}', '`'])?;
    let end = tail.find(|c| !is_word_char(c)).unwrap_or(tail.len());
    let suffix = &tail[..end];
    let letters = suffix.chars().all(|c| !c.is_ascii_digit());
    (!suffix.is_empty() && letters && suffix.chars().count() <= MAX_SUFFIX_CHARS).then_some((suffix, &tail[end..]))
}

fn push_run<'t>(run: &'t str, negated: bool, found: &mut Vec<Word<'t>>) {
    if run.is_ascii() || !run.contains(sets_no_spaces) {
        found.push(Word { text: cut(run), negated });
        return;
    }
    let mut rest = run;
    while let Some(first) = rest.chars().next() {
        let unspaced = sets_no_spaces(first);
        let end = rest.find(|c| sets_no_spaces(c) != unspaced).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        rest = after;
        if unspaced {
            push_pairs(part, found);
        } else {
            found.push(Word { text: cut(part), negated: false });
        }
    }
}

fn push_pairs<'t>(part: &'t str, found: &mut Vec<Word<'t>>) {
    let bounds: Vec<usize> = part.char_indices().map(|(at, _)| at).chain([part.len()]).collect();
    if bounds.len() <= 2 {
        found.push(Word { text: part, negated: false });
    }
    for pair in bounds.windows(3) {
        found.push(Word { text: &part[pair[0]..pair[2]], negated: false });
    }
}

/// Scripts written without spaces between words.
fn sets_no_spaces(c: char) -> bool {
    matches!(u32::from(c),
        0x0e00..=0x0eff          // Thai, Lao
        | 0x1000..=0x109f        // Myanmar
        | 0x1780..=0x17ff        // Khmer
        | 0x3040..=0x30ff        // Hiragana, Katakana
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3134f // Han
    )
}

/// The first [`MAX_WORD_CHARS`] characters.
pub(crate) fn cut(word: &str) -> &str {
    if word.len() <= MAX_WORD_CHARS {
        return word;
    }
    word.char_indices().nth(MAX_WORD_CHARS).map_or(word, |(end, _)| &word[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let normalised = normalise(text);
        let found: Vec<&str> = words(&normalised).iter().map(|word| word.text).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        check("", &[]);
        check(" .!? ", &[]);
        check("The quick-brown fox", &["The", "quick", "brown", "fox"]);
        check("snake_case a::b", &["snake", "case", "a", "b"]);
        check("📦 kargo 🚚", &["kargo"]);
        check("hindi: हिन्दी", &["hindi", "हिन्दी"]);
    }

    #[test]
    fn apostrophe_suffixes_are_cut() {
        check("Ankara'ya", &["Ankara"]);
        check("İstanbul’dakilerin hepsi", &["İstanbul", "hepsi"]);
        check("the company's refund", &["the", "company", "refund"]);
        check("rock'n'roll", &["rock"]);
        check("O'Brien l'eau", &["O", "Brien", "l", "eau"]);
        check("5'te 1990'larda", &["5", "te", "1990"]);
        check("say 'hello' now", &["say", "hello", "now"]);
        check("dogs' food", &["dogs", "food"]);
    }

    #[test]
    fn contractions_with_not_are_marked() {
        assert!(words("don't")[0].negated);
        assert!(words("ISN’T")[0].negated);
        assert!(!words("can")[0].negated);
        assert!(!words("it's")[0].negated);
    }

    #[test]
    fn numbers_keep_their_separators() {
        check("2.0.1, then 1,000.50.", &["2.0.1", "then", "1,000.50"]);
        check("end of 2024. Next", &["end", "of", "2024", "Next"]);
        check("v2.5", &["v2", "5"]);
    }

    #[test]
    fn scripts_without_spaces_give_pairs() {
        check("返金期間", &["返金", "金期", "期間"]);
        check("水", &["水"]);
        check("API返金v2", &["API", "返金", "v2"]);
    }

    #[test]
    fn spellings_of_one_word_meet() {
        check("I\u{307}zmir", &["İzmir"]);
        check("s\u{327}eker", &["şeker"]);
        check("ｆｕｌｌ", &["full"]);
        check("ﬁne re\u{ad}fund \u{feff}a", &["fine", "refund", "a"]);
    }

    #[test]
    fn long_words_are_cut_at_a_character() {
        let long = "ş".repeat(10_000);
        assert_eq!(words(&long)[0].text.chars().count(), MAX_WORD_CHARS);
    }
}
