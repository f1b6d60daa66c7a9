//! Names of models, and the nearest one to a misspelt name.

/// The folder of the runtime library; no model may have its name.
pub(super) const RUNTIME_NAME: &str = "onnxruntime";

const PATTERN: &str = "lower-case letters, digits and single hyphens between them, at most 64";
const RESERVED: &str = "another name: `onnxruntime` is the folder of the runtime library";

/// Says what is expected when a name is no name of a model. Such a name is safe as a folder's name everywhere.
pub(super) fn check_name(name: &str) -> Result<(), &'static str> {
    let word =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    if name.len() > 64 || !name.split('-').all(word) {
        return Err(PATTERN);
    }
    if name == RUNTIME_NAME {
        return Err(RESERVED);
    }
    Ok(())
}

/// The candidate that was probably meant: one that begins so, or differs in at most a third of its letters.
pub(super) fn nearest<'name>(name: &str, candidates: impl IntoIterator<Item = &'name str>) -> Option<&'name str> {
    let lowered: String = name.chars().take(100).flat_map(char::to_lowercase).collect::<String>().replace('_', "-");
    candidates
        .into_iter()
        .map(|candidate| match lowered.len() >= 4 && candidate.starts_with(&lowered) {
            true => (0, candidate),
            false => (strsim::damerau_levenshtein(&lowered, candidate), candidate),
        })
        .filter(|(distance, candidate)| *distance <= (candidate.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_safe_as_a_folder() {
        for good in ["e5", "multilingual-e5-small", "all-minilm-l6-v2", &"a".repeat(64)] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        for bad in ["", "-", "a-", "a--b", "A", "a/b", "..", "a.b", "ş", "a b", &"a".repeat(65)] {
            assert_eq!(check_name(bad), Err(PATTERN), "{bad}");
        }
        assert_eq!(check_name("onnxruntime"), Err(RESERVED));
    }

    #[test]
    fn the_nearest_name_is_the_one_that_was_meant() {
        let names = ["multilingual-e5-small", "all-minilm-l6-v2"];
        assert_eq!(nearest("multilingual_e5_small", names), Some("multilingual-e5-small"));
        assert_eq!(nearest("all-MiniLM-L6", names), Some("all-minilm-l6-v2"));
        assert_eq!(nearest("all-minilm", names), Some("all-minilm-l6-v2"));
        assert_eq!(nearest("all", names), None);
        assert_eq!(nearest("bge-m3", names), None);
    }
}
