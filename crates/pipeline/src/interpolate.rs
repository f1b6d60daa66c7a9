//! Environment variables in strings: `${NAME}` and `${NAME:-default}`; `$${` stands for `${` itself.

use std::ops::Range;

/// A string with references to environment variables, taken apart.
///
/// ```
/// use hatir_pipeline::Template;
///
/// let template = Template::parse("${HOME:-/tmp}/index and $${literally}").unwrap();
/// assert_eq!(template.fill(|name, default| default.map(str::to_owned)).unwrap(), "/tmp/index and ${literally}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Reference(VariableReference),
}

/// One reference to a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableReference {
    /// The variable's name.
    pub name: String,
    /// What is taken when the variable is not set or is empty.
    pub default: Option<String>,
    /// The bytes of the string that the reference takes up, braces included.
    pub range: Range<usize>,
}

/// Why a string with `${` in it cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct TemplateError {
    /// What is wrong.
    pub message: String,
    /// The bytes of the string that are wrong.
    pub range: Range<usize>,
}

impl Template {
    /// Takes a string apart. A `$` that is not followed by `{` or `${` stands for itself.
    ///
    /// # Errors
    /// All references that are not closed, have no name, or a name with other characters than `A–Z a–z 0–9 _`, or with
    /// a digit in front.
    pub fn parse(text: &str) -> Result<Self, Vec<TemplateError>> {
        let (template, errors) = Template::take_apart(text);
        if errors.is_empty() { Ok(template) } else { Err(errors) }
    }

    /// What could be read, and what could not.
    pub(crate) fn take_apart(text: &str) -> (Self, Vec<TemplateError>) {
        let mut parts = Vec::new();
        let mut errors = Vec::new();
        let mut plain = String::new();
        let mut at = 0;
        while let Some(found) = text[at..].find('$') {
            let dollar = at + found;
            plain.push_str(&text[at..dollar]);
            if text[dollar..].starts_with("$${") {
                plain.push_str("${");
                at = dollar + 3;
            } else if text[dollar..].starts_with("${") {
                let Some(length) = text[dollar..].find('}') else {
                    let message = "\"${\" is not closed with \"}\"".to_owned();
                    errors.push(TemplateError { message, range: dollar..text.len() });
                    at = text.len();
                    break;
                };
                at = dollar + length + 1;
                match VariableReference::parse(&text[dollar + 2..at - 1], dollar..at) {
                    Ok(reference) => {
                        if !plain.is_empty() {
                            parts.push(Part::Text(std::mem::take(&mut plain)));
                        }
                        parts.push(Part::Reference(reference));
                    }
                    Err(error) => errors.push(error),
                }
            } else {
                plain.push('$');
                at = dollar + 1;
            }
        }
        plain.push_str(&text[at..]);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        (Template { parts }, errors)
    }

    /// The references, in the order of the string.
    pub fn references(&self) -> impl Iterator<Item = &VariableReference> {
        self.parts.iter().filter_map(|part| match part {
            Part::Reference(reference) => Some(reference),
            Part::Text(_) => None,
        })
    }

    /// The string with a value for every reference. `value` is given the name and the default.
    ///
    /// What it returns is put in as it is: a `${` in a value is no reference.
    ///
    /// # Errors
    /// The first reference that has no value.
    pub fn fill(
        &self,
        mut value: impl FnMut(&str, Option<&str>) -> Option<String>,
    ) -> Result<String, &VariableReference> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Reference(reference) => match value(&reference.name, reference.default.as_deref()) {
                    Some(value) => text.push_str(&value),
                    None => return Err(reference),
                },
            }
        }
        Ok(text)
    }

    /// Writes a text so that [`Template::parse`] reads it as itself, without references.
    pub fn escape(text: &str) -> String {
        text.replace("${", "$${")
    }
}

impl VariableReference {
    fn parse(inside: &str, range: Range<usize>) -> Result<Self, TemplateError> {
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default.to_owned())),
            None => (inside, None),
        };
        let name_range = range.start + 2..range.start + 2 + name.len();
        let wrong = |message: String, range: Range<usize>| Err(TemplateError { message, range });
        if name.is_empty() {
            return wrong("a reference has no name of a variable".to_owned(), range);
        }
        if let Some((at, letter)) =
            name.char_indices().find(|(_, letter)| !letter.is_ascii_alphanumeric() && *letter != '_')
        {
            let start = name_range.start + at;
            let message =
                format!("{letter:?} cannot stand in the name of a variable, expected letters, digits and \"_\"");
            return wrong(message, start..start + letter.len_utf8());
        }
        if name.starts_with(|first: char| first.is_ascii_digit()) {
            return wrong(format!("the name of a variable cannot start with a digit: \"{name}\""), name_range);
        }
        Ok(VariableReference { name: name.to_owned(), default, range })
    }
}

/// Whether a text is the name of a variable.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|first: char| first.is_ascii_digit())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// The bytes of a TOML string, as written with quotes and escapes, that became the bytes `wanted` of its value.
///
/// Falls back to the whole string where the two cannot be matched.
pub(crate) fn written_range(written: &str, wanted: &Range<usize>) -> Range<usize> {
    let whole = 0..written.len();
    let (open, escapes) = if written.starts_with("\"\"\"") {
        (3, true)
    } else if written.starts_with("'''") {
        (3, false)
    } else if written.starts_with('"') {
        (1, true)
    } else if written.starts_with('\'') {
        (1, false)
    } else if written.len() >= wanted.end {
        // A value of `--set` without quotes.
        return wanted.clone();
    } else {
        return whole;
    };
    let mut at = open;
    if open == 3 {
        // The line break just behind the opening quotes does not count.
        let rest = &written[at..];
        at += if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) };
    }
    let (mut start, mut decoded) = (None, 0);
    while let Some(letter) = written[at..].chars().next() {
        if decoded >= wanted.start && start.is_none() {
            start = Some(at);
        }
        if let Some(start) = start
            && decoded >= wanted.end
        {
            return start..at;
        }
        if letter == '\\' && escapes {
            let (length, value) = escape(&written[at..]);
            at += length;
            decoded += value;
        } else {
            at += letter.len_utf8();
            decoded += letter.len_utf8();
        }
    }
    whole
}

/// How long an escape is as written, and how many bytes it stands for.
fn escape(written: &str) -> (usize, usize) {
    let digits = match written.as_bytes().get(1) {
        Some(b'x') => 2,
        Some(b'u') => 4,
        Some(b'U') => 8,
        Some(b' ' | b'\t' | b'\r' | b'\n') => {
            let rest = &written[1..];
            return (1 + rest.len() - rest.trim_start().len(), 0);
        }
        Some(_) => return (2, 1),
        None => return (1, 0),
    };
    let code = written.get(2..2 + digits).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let value = code.and_then(char::from_u32).map_or(0, char::len_utf8);
    ((2 + digits).min(written.len()), value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fill(text: &str) -> Result<String, String> {
        let template = Template::parse(text).map_err(|errors| errors[0].message.clone())?;
        template
            .fill(|name, default| match name {
                "A" => Some("${B}".to_owned()),
                "EMPTY" => default.map(str::to_owned).or(Some(String::new())),
                _ => default.map(str::to_owned),
            })
            .map_err(|reference| format!("missing {}", reference.name))
    }

    #[test]
    fn references_are_filled_once() {
        assert_eq!(fill("x${A}y"), Ok("x${B}y".into()));
        assert_eq!(fill("${C:-d e:-f}"), Ok("d e:-f".into()));
        assert_eq!(fill("${C:-}"), Ok(String::new()));
        assert_eq!(fill("$${A} costs 5$ or $5 $$"), Ok("${A} costs 5$ or $5 $$".into()));
        assert_eq!(fill("${C}"), Err("missing C".into()));
    }

    #[test]
    fn wrong_references_say_where() {
        let check = |text: &str, part: &str, at: &str| {
            let errors = Template::parse(text).unwrap_err();
            assert!(errors[0].message.contains(part), "{:?}", errors[0]);
            assert_eq!(&text[errors[0].range.clone()], at);
        };
        check("a ${HOME", "not closed", "${HOME");
        check("a ${}", "no name", "${}");
        check("${A-B}", "'-' cannot stand", "-");
        check("ş${ğ}", "cannot stand", "ğ");
        check("${1A}", "start with a digit", "1A");
        assert_eq!(Template::parse("${} ${-} ${").unwrap_err().len(), 3);
    }

    #[test]
    fn places_are_found_behind_escapes() {
        let check = |written: &str, value: &str, part: &str| {
            let at = value.find(part).unwrap();
            assert_eq!(&written[written_range(written, &(at..at + part.len()))], part, "{written}");
        };
        check(r#""a\u0131\t\\${X}""#, "aı\t\\${X}", "${X}");
        check(r"'a\u0131${X}'", r"a\u0131${X}", "${X}");
        check("\"\"\"\nab \\\n   c${X}\"\"\"", "ab c${X}", "${X}");
        check("'''\r\nab${X}'''", "ab${X}", "${X}");
        check("ab${X}", "ab${X}", "${X}");
    }

    proptest! {
        #[test]
        fn an_escaped_text_comes_back(text in "(\\$|\\{|\\}|[a-zğ:-]){0,20}") {
            let template = Template::parse(&Template::escape(&text));
            prop_assert_eq!(template.unwrap().fill(|_, _| None).unwrap(), text);
        }

        #[test]
        fn ranges_are_within_the_text(text in "\\PC{0,40}") {
            match Template::parse(&text) {
                Ok(template) => for reference in template.references() {
                    let part = text.get(reference.range.clone());
                    prop_assert_eq!(part.map(|part| part.starts_with("${")), Some(true));
                },
                Err(errors) => for error in errors {
                    prop_assert!(text.get(error.range).is_some());
                },
            }
        }
    }
}
