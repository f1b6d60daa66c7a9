//! When two texts are the same statement.

use unicode_normalization::UnicodeNormalization;

use crate::hash::Hash64;

/// The content as it is compared: composed (NFC), lower case, white space as single blanks, without the full stop or
/// exclamation mark at its end. A question mark stays: a question is no statement.
///
/// `İ` is `i` here. A plain `I` is too, as everywhere but in Turkish, where it is the capital of `ı`: which one is
/// meant cannot be told from a sentence, and to take `ı` and `i` for the same would make one statement of two.
pub(crate) fn normalised(content: &str) -> String {
    // Lower case of `İ` is `i` with a dot above of its own, which composes with nothing.
    let lower = content.nfc().collect::<String>().to_lowercase().replace("i\u{307}", "i");
    let words: Vec<&str> = lower.split_whitespace().collect();
    words.join(" ").trim_end_matches(['.', '!', '…', ' ']).to_owned()
}

/// What the store looks a statement up by; equal keys are compared in full.
pub(crate) fn key(normalised: &str) -> i64 {
    Hash64::new().write_text(normalised).finish() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_that_does_not_matter_is_ignored() {
        assert_eq!(normalised("  The office\n is in ANKARA. "), "the office is in ankara");
        assert_eq!(normalised("Ofis Çankaya'da!"), normalised("ofis C\u{327}ankaya'da"));
        assert_eq!(normalised("İZMİR"), normalised("izmir"));
        assert_eq!(normalised("İzmir"), normalised("I\u{307}zmir"));
        assert_eq!(normalised("..."), "");
    }

    #[test]
    fn what_matters_is_kept() {
        assert_ne!(normalised("It is open?"), normalised("It is open."));
        assert_ne!(normalised("version 1.2"), normalised("version 12"));
        assert_ne!(normalised("it's"), normalised("its"));
        assert_ne!(normalised("Su ılık."), normalised("Su ilik."));
    }
}
