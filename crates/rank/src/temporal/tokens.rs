//! Cuts text into words and numbers that a date may be made of.
//!
//! The analyser of the lexical voice would not do: it drops what stands behind an apostrophe, which in Turkish tells
//! *before* from *after*, and it normalises the text, which moves the bytes that mentions are reported by.

use unicode_normalization::char::{decompose_canonical, is_combining_mark};

/// No word that a date is made of is longer.
const LONGEST: usize = 24;

/// A short word in ASCII and lower case, without a place on the heap; empty when it has other letters or is too long.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Word {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Word {
    /// Folds a word, so that `İ`, `I`, `ı` and `i` meet, and `ş` and `s`.
    fn fold(raw: &str) -> Self {
        let mut word = Self::default();
        let mut whole = true;
        for c in raw.chars() {
            match c {
                'ı' | 'İ' => whole &= word.push('i'),
                _ if c.is_ascii() => whole &= word.push(c.to_ascii_lowercase()),
                _ => decompose_canonical(c, |part| {
                    if !is_combining_mark(part) {
                        whole &= part.is_ascii() && word.push(part.to_ascii_lowercase());
                    }
                }),
            }
            if !whole {
                return Self::default();
            }
        }
        word
    }

    fn push(&mut self, c: char) -> bool {
        let fits = self.length < LONGEST;
        if fits {
            self.bytes[self.length] = c as u8;
            self.length += 1;
        }
        fits
    }

    pub(super) fn as_str(&self) -> &str {
        // Only ASCII was pushed, which is UTF-8.
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

/// What stands between a token and the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    Space,
    /// A comma, and spaces perhaps.
    Comma,
    /// A full stop, and spaces perhaps.
    Dot,
    /// A hyphen or a dash, and spaces perhaps.
    Dash,
    Other,
}

/// A word, a number, or numbers with signs between them.
#[derive(Debug, Clone)]
pub(super) struct Token<'t> {
    /// The bytes of it in the text, the apostrophe and the suffix behind it included.
    pub(super) start: usize,
    pub(super) end: usize,
    /// As written, without the suffix.
    pub(super) raw: &'t str,
    /// Folded; of a number what is written right behind its digits ("3rd", "2024te").
    pub(super) word: Word,
    /// What follows an apostrophe, folded.
    pub(super) suffix: Word,
    /// Whether there is an apostrophe with letters behind it.
    pub(super) apostrophe: bool,
    /// The value of plain digits.
    pub(super) number: Option<u32>,
    /// Whether it is digits with signs between them: a date, a version, a time.
    pub(super) compound: bool,
    /// Whether it begins with a capital letter.
    pub(super) capital: bool,
    pub(super) gap: Gap,
}

/// The tokens of a text. What is an amount of money, a percentage, or a part of an identifier has an empty word and no
/// number, so nothing takes it for a date.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found: Vec<Token<'_>> = Vec::with_capacity(text.len() / 6 + 1);
    let mut end = 0;
    while let Some(start) = text[end..].find(is_word_char).map(|at| end + at) {
        let token = token(text, start, &text[end..start]);
        end = token.end;
        found.push(token);
    }
    found
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || (!c.is_ascii() && is_combining_mark(c))
}

fn token<'t>(text: &'t str, start: usize, before: &str) -> Token<'t> {
    let rest = &text[start..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let compound = if digits > 0 { compound_end(rest) } else { 0 };
    let run = if compound > 0 { compound } else { rest.find(|c| !is_word_char(c)).unwrap_or(rest.len()) };
    let raw = &rest[..run];
    let mut token = Token {
        start,
        end: start + run,
        raw,
        word: Word::default(),
        suffix: Word::default(),
        apostrophe: false,
        number: None,
        compound: compound > 0,
        capital: raw.starts_with(char::is_uppercase),
        gap: gap(before),
    };
    if let Some((suffix, length)) = suffix(&rest[run..]) {
        token.suffix = Word::fold(suffix);
        token.apostrophe = true;
        token.end += length;
    }
    let glued =
        before.ends_with(['_', '@', '#', '$', '€', '£', '₺', '\\', '=']) || (digits > 0 && before.ends_with('.'));
    let behind = text[token.end..].trim_start_matches(' ').chars().next();
    let measured = digits > 0 && behind.is_some_and(|c| matches!(c, '%' | '$' | '€' | '£' | '₺'));
    let identifier = text[token.end..].starts_with(['_', '=']) || (text[token.end..].starts_with('(') && run > digits);
    if glued || measured || identifier {
        token.compound = false;
    } else if digits > 0 && !token.compound {
        token.number = raw[..digits].parse().ok().filter(|_| digits <= 4);
        token.word = Word::fold(&raw[digits..]);
    } else if !token.compound {
        token.word = Word::fold(raw);
    }
    token
}

/// Where digits with signs between them end; 0 for plain digits. A time behind an ISO date belongs to it.
fn compound_end(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let run = |mut at: usize, signs: &[u8]| {
        while digit(at) || (bytes.get(at).is_some_and(|sign| signs.contains(sign)) && digit(at + 1)) {
            at += 1;
        }
        at
    };
    let end = run(0, b".,-/:");
    if bytes[..end].iter().all(u8::is_ascii_digit) {
        return 0;
    }
    if bytes.get(end).is_some_and(|c| c.eq_ignore_ascii_case(&b't')) && digit(end + 1) {
        let end = run(end + 1, b":.+-");
        return end + usize::from(bytes.get(end).is_some_and(|c| c.eq_ignore_ascii_case(&b'z')));
    }
    end
}

/// The letters behind an apostrophe, and the bytes of both.
fn suffix(rest: &str) -> Option<(&str, usize)> {
    let apostrophe = rest.chars().next().filter(|c| matches!(c, '\'' | '\u{2019}' | '\u{2bc}' | '\u{b4}' | '`'))?;
    let tail = &rest[apostrophe.len_utf8()..];
    let end = tail.find(|c| !is_word_char(c)).unwrap_or(tail.len());
    let letters = end > 0 && tail[..end].chars().all(|c| !c.is_ascii_digit());
    letters.then(|| (&tail[..end], apostrophe.len_utf8() + end))
}

fn gap(between: &str) -> Gap {
    let sign = between.trim();
    match sign {
        "" if !between.is_empty() => Gap::Space,
        "," => Gap::Comma,
        "." => Gap::Dot,
        "-" | "\u{2010}" | "\u{2011}" | "\u{2013}" | "\u{2014}" => Gap::Dash,
        _ => Gap::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str, &str)]) {
        let tokens = tokens(text);
        let found: Vec<(&str, &str, &str)> =
            tokens.iter().map(|token| (token.raw, token.word.as_str(), token.suffix.as_str())).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn words_are_folded_and_suffixes_kept_apart() {
        check(
            "ŞUBAT, 3 Mayıs’tan İzmir'de",
            &[("ŞUBAT", "subat", ""), ("3", "", ""), ("Mayıs", "mayis", "tan"), ("İzmir", "izmir", "de")],
        );
        check("gec\u{327}en i\u{307}ki", &[("gec\u{327}en", "gecen", ""), ("i\u{307}ki", "iki", "")]);
        check("返金 abcdefghijklmnopqrstuvwxyz", &[("返金", "", ""), ("abcdefghijklmnopqrstuvwxyz", "", "")]);
    }

    #[test]
    fn numbers_keep_their_signs() {
        check("on 05.03.2026.", &[("on", "on", ""), ("05.03.2026", "", "")]);
        check("2026-03-05T10:30:00Z ok", &[("2026-03-05T10:30:00Z", "", ""), ("ok", "ok", "")]);
        check("3rd 2024te 1990s'in", &[("3rd", "rd", ""), ("2024te", "te", ""), ("1990s", "s", "in")]);
    }

    #[test]
    fn amounts_and_identifiers_are_neither_words_nor_numbers() {
        for text in ["$2024", "2024 €", "2024%", "%", "last_week", "may()", "@may", "12345", "v2.2024"] {
            let tokens = tokens(text);
            assert!(tokens.iter().all(|token| token.number.is_none()), "{tokens:?}");
        }
        assert!(tokens("last_week").iter().all(|token| token.word.as_str().is_empty()));
    }

    #[test]
    fn gaps_are_told_apart() {
        let gaps: Vec<Gap> = tokens("a b, c. d - e; f\n\ng").iter().map(|token| token.gap).collect();
        assert_eq!(gaps, [Gap::Other, Gap::Space, Gap::Comma, Gap::Dot, Gap::Dash, Gap::Other, Gap::Space]);
    }
}
