//! Nearest names and lists of names, for messages.

/// The candidate that was probably meant.
///
/// One slip in a short name and up to four in a long one are forgiven; a name that only begins alike
/// (`rank.query` for `rank.querying`) counts as near, too.
pub(crate) fn nearest<'name>(name: &str, candidates: impl IntoIterator<Item = &'name str>) -> Option<&'name str> {
    let length = name.chars().count();
    if length > 100 {
        return None;
    }
    let lowered = name.to_lowercase().replace('_', "-");
    let slips = match length {
        0 | 1 => return None,
        2..=5 => 1,
        _ => (length / 3).min(4),
    };
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let other = candidate.chars().count();
        if other.abs_diff(length) > slips.max(4) || candidate == name {
            continue;
        }
        let other = candidate.to_lowercase().replace('_', "-");
        let mut distance = strsim::damerau_levenshtein(&lowered, &other);
        if distance > slips && strsim::jaro_winkler(&lowered, &other) > 0.92 {
            distance = slips;
        }
        if distance <= slips && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// `"a", "b" or "c"`; long lists are cut after twenty.
pub(crate) fn list<'name>(names: impl IntoIterator<Item = &'name str>) -> String {
    const SHOWN: usize = 20;
    let names: Vec<&str> = names.into_iter().collect();
    let quoted: Vec<String> = names.iter().take(SHOWN).map(|name| format!("\"{name}\"")).collect();
    match quoted.as_slice() {
        [] => "none".to_owned(),
        [one] => one.clone(),
        all if names.len() > SHOWN => format!("{} and {} more", all.join(", "), names.len() - SHOWN),
        [all @ .., last] => format!("{} or {last}", all.join(", ")),
    }
}

/// A text from the file, quoted and cut at a readable length.
pub(crate) fn quote(text: &str) -> String {
    const READABLE: usize = 60;
    match text.char_indices().nth(READABLE) {
        Some((end, _)) => format!("{:?}", format!("{}…", &text[..end])),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_forgiven_and_other_words_are_not() {
        let kinds = ["rank.query", "rank.index", "memory.facts", "condense"];
        assert_eq!(nearest("rank.qurey", kinds), Some("rank.query"));
        assert_eq!(nearest("condence", kinds), Some("condense"));
        assert_eq!(nearest("top_k", ["top-k", "limit"]), Some("top-k"));
        assert_eq!(nearest("banana", kinds), None);
        assert_eq!(nearest("x", ["a", "b"]), None);
        assert_eq!(nearest("hit", ["hits", "text"]), Some("hits"));
        assert_eq!(nearest("", ["ab"]), None);
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(list([]), "none");
        assert_eq!(list(["a"]), "\"a\"");
        assert_eq!(list(["a", "b", "c"]), "\"a\", \"b\" or \"c\"");
    }
}
