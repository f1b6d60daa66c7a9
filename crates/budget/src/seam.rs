//! Where a text may be taken apart without changing its count.
//!
//! Both encodings first split a text into pieces by a regular expression and then encode each piece on its own. White
//! space stands in a piece only at its beginning, with one exception: signs take the line ends behind them along. And
//! what comes before white space is split without looking past it. So a place with white space after it and none before
//! it is the end of a piece in every context, unless the white space is a line end and what stands before is a sign.

/// The last byte offset at which a piece surely ends; 0 when there is none.
pub(crate) fn last_seam(text: &str) -> usize {
    let mut after: Option<(usize, char)> = None;
    for (at, character) in text.char_indices().rev() {
        if let Some((seam, next)) = after
            && ends_a_piece(character, next)
        {
            return seam;
        }
        after = Some((at, character));
    }
    0
}

/// Before a line end only the letters and digits of ASCII are known not to be signs: `char::is_alphanumeric` also has
/// combining vowel signs and circled letters, which are. A letter missed costs time, never exactness.
fn ends_a_piece(character: char, next: char) -> bool {
    match next {
        '\r' | '\n' => character.is_ascii_alphanumeric(),
        _ => next.is_whitespace() && !character.is_whitespace(),
    }
}

#[cfg(test)]
mod tests {
    use super::last_seam;

    #[test]
    fn a_seam_is_before_white_space() {
        assert_eq!(last_seam(""), 0);
        assert_eq!(last_seam("word"), 0);
        assert_eq!(last_seam("two words"), 3);
        assert_eq!(last_seam("line\n"), 4);
        assert_eq!(last_seam("ağ ve çay."), "ağ ve".len());
        assert_eq!(last_seam("🙂 🙂"), "🙂".len());
    }

    #[test]
    fn signs_and_their_line_ends_are_not_taken_apart() {
        assert_eq!(last_seam("end.\n"), 0);
        assert_eq!(last_seam("an end.\n \n"), "an".len());
        // The enclosing circle is a combining mark, and a sign to one of the encodings.
        assert_eq!(last_seam("a\u{20DD}\n"), 0);
    }
}
