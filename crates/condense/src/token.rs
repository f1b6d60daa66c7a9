//! Words with their places in the text, and lower case by the rules of each language.

use std::borrow::Cow;

use crate::Language;

/// A word or a punctuation mark.
#[derive(Debug, Clone)]
pub(crate) struct Token<'t> {
    /// First byte in the text.
    pub(crate) start: usize,
    /// One past the last byte.
    pub(crate) end: usize,
    /// The word as written.
    pub(crate) text: &'t str,
    /// The word in lower case.
    pub(crate) lower: Cow<'t, str>,
    /// Whether it is a word (and not punctuation).
    pub(crate) word: bool,
    /// The number of the sentence it stands in, from 0.
    pub(crate) sentence: u16,
}

impl Token<'_> {
    /// Whether the first letter is a capital.
    pub(crate) fn capitalised(&self) -> bool {
        self.text.chars().next().is_some_and(char::is_uppercase)
    }

    /// Whether the form alone marks a name or a code: `NASA`, `E42`, `iPhone`, `IC18`.
    pub(crate) fn marked(&self) -> bool {
        // Nearly all words are small letters of the two languages; Unicode's tables are for the rest.
        if self.text.chars().skip(1).all(|c| matches!(c, 'a'..='z' | 'ç' | 'ğ' | 'ı' | 'ö' | 'ş' | 'ü')) {
            return false;
        }
        let mut chars = self.text.chars();
        let first_is_letter = chars.next().is_some_and(char::is_alphabetic);
        let stem = self.text.split(['\'', '’']).next().unwrap_or(self.text);
        let later_capital = stem.chars().skip(1).any(char::is_uppercase);
        let digit = stem.chars().any(char::is_numeric);
        later_capital || (first_is_letter && digit)
    }

    /// Whether it is made of digits.
    pub(crate) fn number(&self) -> bool {
        self.text.chars().next().is_some_and(|c| c.is_ascii_digit() || (!c.is_alphabetic() && c.is_numeric()))
    }
}

/// Lower case by the language's own rules. In Turkish `I` is the capital of `ı` and `İ` of `i`; Unicode's general
/// mapping would give `i` and an `i` with a combining dot.
pub(crate) fn lower(text: &str, language: Language) -> Cow<'_, str> {
    if !text.chars().any(|c| c.is_uppercase() || c == '\u{307}') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match (language, c) {
            (Language::Turkish, 'I') => out.push('ı'),
            (_, 'İ') => out.push('i'),
            // An İ that was written in two characters.
            (_, '\u{307}') if out.ends_with(['i', 'ı']) => {
                out.pop();
                out.push('i');
            }
            _ => out.extend(c.to_lowercase()),
        }
    }
    Cow::Owned(out)
}

/// Upper case of a first letter, and lower case, by the language's own rules.
pub(crate) fn decapitalise(text: &str, language: Language) -> String {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return String::new() };
    let rest = chars.as_str();
    format!("{}{rest}", lower(first.encode_utf8(&mut [0; 4]), language))
}

/// Whether a text holds a word or phrase as whole words.
pub(crate) fn contains_words(text: &str, words: &str) -> bool {
    if words.is_empty() {
        return false;
    }
    let mut from = 0;
    while let Some(at) = text[from..].find(words) {
        let start = from + at;
        let end = start + words.len();
        let open = text[..start].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
        let closed = text[end..].chars().next().is_none_or(|c| !c.is_alphanumeric());
        if open && closed {
            return true;
        }
        from = start + text[start..].chars().next().map_or(1, char::len_utf8);
    }
    false
}

/// English endings that are words of their own: `that's`, `they're`. The possessive is cut off too.
const ENGLISH_CLITICS: [&str; 6] = ["s", "re", "ll", "d", "ve", "m"];

fn word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c.is_alphabetic() || c.is_numeric() || c == '_' || ('\u{300}'..='\u{36f}').contains(&c)
}

/// Splits a text into words and marks. Cost is linear in the text.
pub(crate) fn tokenize(text: &str, language: Language) -> Vec<Token<'_>> {
    let mut tokens = Vec::with_capacity(text.len() / 5 + 4);
    let mut sentence: u16 = 0;
    let mut chars = text.char_indices().peekable();
    let mut push = |start: usize, end: usize, word: bool, sentence: u16| {
        let piece = &text[start..end];
        tokens.push(Token { start, end, text: piece, lower: lower(piece, language), word, sentence });
    };
    while let Some((start, c)) = chars.next() {
        if c.is_whitespace() || c == '\0' {
            if c == '\n' {
                sentence = sentence.saturating_add(1);
            }
            continue;
        }
        let mut end = start + c.len_utf8();
        if !word_char(c) {
            push(start, end, false, sentence);
            if matches!(c, '.' | '!' | '?' | '…') {
                sentence = sentence.saturating_add(1);
            }
            continue;
        }
        let mut apostrophe = None;
        while let Some(&(at, next)) = chars.peek() {
            let after = at + next.len_utf8();
            let inner = matches!(next, '\'' | '’' | '-' | '.' | ',' | '/' | '+' | '#')
                && text[after..].chars().next().is_some_and(word_char)
                && joins(next, &text[start..at], &text[after..]);
            if word_char(next) || inner {
                if matches!(next, '\'' | '’') && apostrophe.is_none() {
                    apostrophe = Some((at, after));
                }
                end = after;
                chars.next();
            } else {
                break;
            }
        }
        if language == Language::English
            && let Some((at, after)) = apostrophe
            && ENGLISH_CLITICS.contains(&lower(&text[after..end], language).as_ref())
        {
            push(start, at, true, sentence);
            push(at, end, true, sentence);
        } else {
            push(start, end, true, sentence);
        }
    }
    tokens
}

/// Whether a mark between two word characters belongs to the word. A stop or comma does between digits ("3.5", "5,054")
/// and a stop inside a name ("node.js"), but not where a space was forgotten before a capital.
fn joins(mark: char, before: &str, after: &str) -> bool {
    let digit_before = before.chars().next_back().is_some_and(char::is_numeric);
    let next = after.chars().next();
    match mark {
        ',' => digit_before && next.is_some_and(char::is_numeric),
        '.' => next.is_some_and(|c| c.is_numeric() || c.is_lowercase()),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turkish_lower_case_keeps_the_two_letters_apart() {
        assert_eq!(lower("ISIRGAN İĞNE", Language::Turkish), "ısırgan iğne");
        assert_eq!(lower("INFO", Language::English), "info");
        assert_eq!(lower("I\u{307}ade", Language::Turkish), "iade");
    }

    #[test]
    fn words_and_marks() {
        let words = |text, language| tokenize(text, language).iter().map(|t| t.text).collect::<Vec<_>>().join("|");
        assert_eq!(
            words("What's the e-mail of node.js 3.5?", Language::English),
            "What|'s|the|e-mail|of|node.js|3.5|?"
        );
        assert_eq!(words("Norveç'e 5.054 metre.", Language::Turkish), "Norveç'e|5.054|metre|.");
        assert_eq!(words("a,b don't", Language::English), "a|,|b|don't");
    }
}
