//! Where a text may be taken apart without changing its count.
//!
//! Both encodings first split a text into pieces by a regular expression and then encode each piece on its own. No
//! piece has a letter or digit followed by white space (the only pieces with white space after something else are
//! signs followed by line ends), and what comes before such a place is split without looking past it. So the place
//! between a letter or digit and white space is the end of a piece in every context.

use std::ops::RangeInclusive;

/// The last byte offset that has a letter or digit before it and white space after it; 0 when there is none.
pub(crate) fn last_seam(text: &str) -> usize {
    let mut after: Option<(usize, char)> = None;
    for (at, character) in text.char_indices().rev() {
        if let Some((seam, next)) = after
            && next.is_whitespace()
            && is_surely_letter_or_digit(character)
        {
            return seam;
        }
        after = Some((at, character));
    }
    0
}

/// Whether the character is of Unicode's category L or N beyond doubt.
///
/// `char::is_alphanumeric` goes further (combining vowel signs, circled letters), and those are signs to `cl100k_base`.
/// A letter that is missing here costs time, never exactness.
fn is_surely_letter_or_digit(character: char) -> bool {
    character.is_ascii_alphanumeric() || LETTERS.iter().any(|range| range.contains(&character))
}

/// Ranges that hold nothing but letters, in order: Latin-1 and Latin Extended-A and -B without the signs × and ÷ (all of
/// Turkish); Greek, Cyrillic, Hebrew and Arabic without their marks and signs; kana; the common Chinese characters;
/// Hangul syllables.
const LETTERS: [RangeInclusive<char>; 11] = [
    '\u{00C0}'..='\u{00D6}',
    '\u{00D8}'..='\u{00F6}',
    '\u{00F8}'..='\u{024F}',
    '\u{03B1}'..='\u{03C9}',
    '\u{0410}'..='\u{044F}',
    '\u{05D0}'..='\u{05EA}',
    '\u{0621}'..='\u{063A}',
    '\u{3041}'..='\u{3096}',
    '\u{30A1}'..='\u{30FA}',
    '\u{4E00}'..='\u{9FA5}',
    '\u{AC00}'..='\u{D7A3}',
];

#[cfg(test)]
mod tests {
    use super::last_seam;

    #[test]
    fn a_seam_is_between_a_letter_and_white_space() {
        assert_eq!(last_seam(""), 0);
        assert_eq!(last_seam("word"), 0);
        assert_eq!(last_seam("two words"), 3);
        assert_eq!(last_seam("ağ ve çay\n\nşu."), "ağ ve çay".len());
        assert_eq!(last_seam("end. \n"), 0);
        // The enclosing circle is a combining mark, and a sign to one of the encodings.
        assert_eq!(last_seam("a\u{20DD} b"), 0);
    }
}
