//! Character 4-grams of folded words: what is left of a word that is mistyped, inflected, or written without its
//! accents.

/// How many characters a gram has.
const SIZE: usize = 4;

/// Calls `each` for the 4-grams of a folded word, which is framed by `_` so that beginnings and ends count: `refund`
/// gives `_ref`, `refu`, `efun`, `fund`, `und_`. A word of one letter is one gram of three characters.
pub(crate) fn grams(folded: &str, mut each: impl FnMut(&str)) {
    let mut framed = String::with_capacity(folded.len() + 2);
    framed.push('_');
    framed.push_str(folded);
    framed.push('_');
    if framed.is_ascii() {
        if framed.len() <= SIZE {
            each(&framed);
            return;
        }
        for start in 0..=framed.len() - SIZE {
            each(&framed[start..start + SIZE]);
        }
        return;
    }
    let bounds: Vec<usize> = framed.char_indices().map(|(at, _)| at).chain([framed.len()]).collect();
    if bounds.len() <= SIZE + 1 {
        each(&framed);
        return;
    }
    for window in bounds.windows(SIZE + 1) {
        each(&framed[window[0]..window[SIZE]]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, expected: &[&str]) {
        let mut found = Vec::new();
        grams(word, |gram| found.push(gram.to_owned()));
        assert_eq!(found, expected, "{word:?}");
    }

    #[test]
    fn grams_are_framed() {
        check("refund", &["_ref", "refu", "efun", "fund", "und_"]);
        check("as", &["_as_"]);
        check("a", &["_a_"]);
        check("the", &["_the", "the_"]);
        check("", &["__"]);
        check("улица", &["_ули", "улиц", "лица", "ица_"]);
        check("返金", &["_返金_"]);
    }
}
