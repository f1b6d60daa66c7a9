//! Names from code: identifiers, paths, flags, issue and version numbers.

use super::fold::fold;

/// A name longer than this many characters is no name (a data URL, a hash chain).
const MAX_NAME_CHARS: usize = 256;

/// The names of a normalised text, whole and folded. Their parts are words of the text, and come from there; a name
/// that is one word is no name here.
///
/// | written | gives |
/// |---|---|
/// | `snake_case` | `snake_case` |
/// | `src/a/lib.rs` | `src/a/lib.rs`, `lib.rs` |
/// | `std::fs` | `std::fs` |
/// | `--dry-run` | `--dry-run` |
/// | `#140`, `v2.0.1` | themselves |
/// | `parseConfig`, `E0012`, `2.0.1` | nothing: they are words |
pub(crate) fn names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for chunk in text.split(|c: char| !(c.is_alphanumeric() || "_:/\\.-#@$+~".contains(c))) {
        let name = trim(chunk);
        if name.len() >= 2 && name.len() <= 4 * MAX_NAME_CHARS && is_name(name) {
            push_name(name, &mut names);
        }
    }
    names
}

/// Without the punctuation of the sentence around it.
fn trim(chunk: &str) -> &str {
    let name = chunk.trim_end_matches([':', '.', '/', '\\', '-', '+', '@', '$', '~', '#']);
    // `C++`, `C#` and `F#` end in their signs.
    let name = match chunk[name.len()..].chars().next() {
        Some('+') if chunk[name.len()..].starts_with("++") && name.len() <= 2 => &chunk[..name.len() + 2],
        Some('#') if name.len() == 1 => &chunk[..=name.len()],
        _ => name,
    };
    let start = name.find(|c: char| !matches!(c, ':' | '\\' | '+' | '~')).unwrap_or(name.len());
    &name[start..]
}

/// Whether it looks like code and not like a word of a sentence.
fn is_name(name: &str) -> bool {
    let inner = name.trim_start_matches(['-', '#', '@', '$', '.', '/']);
    if !inner.chars().any(char::is_alphanumeric) {
        return false;
    }
    let marked = name.starts_with("--")
        || name.starts_with(['@', '$'])
        || (name.starts_with('.') && inner.chars().all(char::is_alphanumeric))
        || (name.starts_with('/') && inner.contains('/'))
        || name.ends_with(['+', '#']);
    let numbered = name.starts_with('#') && inner.chars().all(|c| c.is_ascii_digit());
    let joined = inner.contains(['_', '/', '\\', '#', '@', '$']) || inner.contains("::");
    let dotted = inner.split('.').filter(|part| !part.is_empty()).count() > 1 && !inner.contains("..");
    let digits = inner.chars().any(|c| c.is_ascii_digit()) && inner.chars().any(char::is_alphabetic);
    marked || numbered || joined || dotted || digits || humps(inner).len() > 1
}

fn push_name(name: &str, names: &mut Vec<String>) {
    let number = name.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ','));
    if number || name.chars().all(char::is_alphanumeric) {
        return;
    }
    names.push(fold(cut_name(name)));
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    if base.len() < name.len() && base.contains('.') {
        names.push(fold(cut_name(base)));
    }
}

fn cut_name(name: &str) -> &str {
    name.char_indices().nth(MAX_NAME_CHARS).map_or(name, |(end, _)| &name[..end])
}

/// The parts of a word in camel case: `HTTPServerError` is `HTTP`, `Server`, `Error`. A plain word is one part.
pub(crate) fn humps(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    for at in 1..chars.len() {
        let (position, here) = chars[at];
        let before = chars[at - 1].1;
        let after = chars.get(at + 1).map(|(_, c)| *c);
        let rises = before.is_lowercase() && here.is_uppercase();
        let acronym_ends = before.is_uppercase() && here.is_uppercase() && after.is_some_and(char::is_lowercase);
        if rises || acronym_ends {
            parts.push(&word[start..position]);
            start = position;
        }
    }
    parts.push(&word[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(names(text), expected, "{text:?}");
    }

    #[test]
    fn names_come_whole() {
        check("convert_to_list(x)", &["convert_to_list"]);
        check("see src/a/lib.rs.", &["src/a/lib.rs", "lib.rs"]);
        check("std::fs::File", &["std::fs::file"]);
        check("pass --dry-run, please", &["--dry-run"]);
        check("closes #140", &["#140"]);
        check("os.path.join", &["os.path.join"]);
        check("C++ and C#", &["c++", "c#"]);
        check("C:\\Users\\me.txt", &["c:\\users\\me.txt", "me.txt"]);
        check("tantivy v2.0.1 is out", &["v2.0.1"]);
    }

    #[test]
    fn a_name_of_one_word_comes_as_a_word() {
        check("call parseConfig() of HTTPServerError, error[E0012], 2.0.1 or 1,000", &[]);
    }

    #[test]
    fn sentences_hold_no_names() {
        check("A well-known fact: refunds take 14 days.", &[]);
        check("Ankara'ya gitti. Sonra döndü...", &[]);
        check("-- - # @ :: / \\ ... ++", &[]);
        check("", &[]);
    }
}
