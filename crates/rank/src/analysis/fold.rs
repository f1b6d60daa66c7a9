//! Folding: to ASCII first, then to lower case, so that `İ`, `I`, `ı` and `i` all meet.

use unicode_normalization::char::decompose_canonical;

/// The word without accents and case; scripts other than Latin keep their letters.
///
/// Lower-casing first would turn `İ` into `i` and a combining dot, and the Turkish `I` into `i`, not `ı`.
pub(crate) fn fold(word: &str) -> String {
    if word.is_ascii() {
        return fold_number(word).unwrap_or_else(|| word.to_ascii_lowercase());
    }
    let mut folded = String::with_capacity(word.len());
    for c in word.chars() {
        if c.is_ascii() {
            folded.push(c.to_ascii_lowercase());
            continue;
        }
        match c {
            'ı' | 'İ' => folded.push('i'),
            'ß' | 'ẞ' => folded.push_str("ss"),
            'æ' | 'Æ' => folded.push_str("ae"),
            'œ' | 'Œ' => folded.push_str("oe"),
            'ø' | 'Ø' => folded.push('o'),
            'ł' | 'Ł' => folded.push('l'),
            'đ' | 'Đ' | 'ð' | 'Ð' => folded.push('d'),
            'þ' | 'Þ' => folded.push_str("th"),
            'ς' => folded.push('σ'),
            _ => decompose_canonical(c, |part| {
                // Only the marks that Latin, Greek and Cyrillic letters wear; elsewhere marks are vowels.
                if !('\u{300}'..='\u{36f}').contains(&part) {
                    folded.extend(part.to_lowercase());
                }
            }),
        }
    }
    folded
}

/// Drops the separators of thousands: `1,000` and `1.000` are `1000`, while `2.0.1` and `3.14` stay.
fn fold_number(word: &str) -> Option<String> {
    let separator = word.chars().find(|c| !c.is_ascii_digit())?;
    if !matches!(separator, '.' | ',') {
        return None;
    }
    let mut groups = word.split(separator);
    let first = groups.next()?;
    let thousands = (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
    let digits = || word.chars().filter(|c| *c != separator);
    (thousands && digits().all(|c| c.is_ascii_digit())).then(|| digits().collect())
}

/// Lower case by the rules of Turkish: `I` becomes `ı` and `İ` becomes `i`.
pub(crate) fn turkish_lower(word: &str) -> String {
    let mut lower = String::with_capacity(word.len());
    for c in word.chars() {
        match c {
            'I' => lower.push('ı'),
            'İ' => lower.push('i'),
            _ => lower.extend(c.to_lowercase()),
        }
    }
    lower
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_turkish_i_meet() {
        for spelling in ["İADE", "IADE", "ıade", "iade", "Iade", "İade"] {
            assert_eq!(fold(spelling), "iade");
        }
    }

    #[test]
    fn accents_and_case_go() {
        for (word, folded) in [
            ("Çağrışım", "cagrisim"),
            ("ĞÜŞÖÇ", "gusoc"),
            ("naïve", "naive"),
            ("STRASSE", "strasse"),
            ("Straße", "strasse"),
            ("Øresund", "oresund"),
            ("Łódź", "lodz"),
            ("Việt", "viet"),
            ("ΟΔΟΣ", "οδοσ"),
            ("οδός", "οδοσ"),
            ("Ёлка", "елка"),
            ("हिन्दी", "हिन्दी"),
        ] {
            assert_eq!(fold(word), folded);
        }
    }

    #[test]
    fn numbers_lose_only_the_separators_of_thousands() {
        for (word, folded) in [
            ("1,000", "1000"),
            ("1.000.000", "1000000"),
            ("2.0.1", "2.0.1"),
            ("3.14", "3.14"),
            ("1,000.50", "1,000.50"),
            ("2024", "2024"),
            ("1234.567", "1234.567"),
        ] {
            assert_eq!(fold(word), folded);
        }
    }

    #[test]
    fn turkish_lower_case_keeps_dotless_i() {
        assert_eq!(turkish_lower("ISPARTA'YI İZLE"), "ısparta'yı izle");
    }
}
