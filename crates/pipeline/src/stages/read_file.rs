//! `read.file`: texts from a file, a folder, or a pattern.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::files;
use super::split::{self, Piece};
use crate::stage::{BuildContext, Complaint, Inputs, Kind, Ports, Stage, StageContext, StageError};
use crate::value::{Type, Value};
use crate::wire::{Document, Place};

/// Reads texts from a file or a folder.
///
/// Files are read in the order of their paths, byte by byte. In a folder, hidden files and folders are left out, and
/// links to folders are not followed. Every text must be UTF-8; a byte order mark is dropped, and `\r\n` becomes `\n`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ReadFile {
    /// A file, a folder that is read with all folders below it, or a folder followed by a pattern for the names of its
    /// own files, as in `pages/*.md` (`*` stands for any characters, `?` for one).
    #[schemars(extend("format" = "path"))]
    pub(crate) path: PathBuf,
    /// The files that are read when `path` is a folder, as patterns with `*` and `?`. One without a `/` is about names,
    /// one with it about the path below the folder (`en/*.md`), in which `**` stands for any folders.
    #[serde(default = "default_include")]
    pub(crate) include: Vec<String>,
    /// What becomes one document.
    #[serde(default)]
    pub(crate) split: Split,
    /// What comes out. With `"text"` the files are joined by blank lines.
    #[serde(default, rename = "as")]
    pub(crate) form: Form,
    /// The language of the texts; found from each text where it is missing.
    #[serde(default)]
    pub(crate) language: Option<LanguageSource>,
    /// How many bytes are read at most, all files together. The default is 256 MiB.
    #[serde(default = "files::default_max_bytes")]
    #[schemars(range(min = 1))]
    pub(crate) max_bytes: u64,
}

fn default_include() -> Vec<String> {
    ["*.md", "*.markdown", "*.txt"].map(String::from).to_vec()
}

/// What becomes one document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Split {
    /// A whole file: id is its path without the extension.
    #[default]
    Whole,
    /// A line that is not blank: id is the path and the line.
    Lines,
    /// Lines up to the next blank one: id is the path and the first line.
    Paragraphs,
    /// The text below a Markdown heading `##`, deeper headings included: id is the path and the line of the heading.
    /// The heading becomes the title, and the `#` title above it the field `page`.
    Sections,
}

/// What comes out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Form {
    /// Documents.
    #[default]
    Documents,
    /// One text.
    Text,
}

/// Where the language of a text is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LanguageSource {
    /// English.
    En,
    /// Turkish.
    Tr,
    /// The first folder of the path below `path`: `en/…` or `tr/…`. Found from the text for other folders.
    FromPath,
}

impl Kind for ReadFile {
    const NAME: &'static str = "read.file";
    const ABOUT: &'static str =
        "Reads texts from a file or a folder, whole or split into lines, paragraphs or sections.";

    fn ports(config: Option<&Self>) -> Ports {
        let text = config.is_some_and(|config| config.form == Form::Text);
        Ports::new(Vec::new(), if text { Type::Text } else { Type::Documents })
    }

    fn check(&self) -> Vec<Complaint> {
        let mut complaints = Vec::new();
        if self.form == Form::Text && self.split != Split::Whole {
            complaints.push(
                Complaint::about("split", "a text comes out in one piece, so there is nothing to split")
                    .help("leave `split` out, or set `as = \"documents\"`"),
            );
        }
        if self.form == Form::Text && self.language.is_some() {
            let message = "a text has no language of its own, only documents have";
            complaints.push(Complaint::about("language", message).help("leave `language` out"));
        }
        if self.include.is_empty() {
            complaints.push(Complaint::about("include", "found no pattern, expected at least one, such as \"*.md\""));
        }
        complaints
    }

    fn build(&self, context: &BuildContext) -> Result<Box<dyn Stage>, StageError> {
        let files = find(&context.path(&self.path), &self.include)?;
        Ok(Box::new(Reader { config: self.clone(), files }))
    }
}

/// A file to be read.
#[derive(Debug)]
struct Found {
    path: PathBuf,
    /// Relative to the folder that was named, with `/` between folders.
    shown: String,
}

fn find(path: &Path, include: &[String]) -> Result<Vec<Found>, StageError> {
    let found = match path.metadata() {
        Ok(metadata) if metadata.is_dir() => {
            let mut found = Vec::new();
            walk(path, "", &|shown| include.iter().any(|pattern| wants(pattern, shown)), true, &mut found)?;
            found
        }
        Ok(_) => {
            files::check_regular(path)?;
            let shown = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            vec![Found { path: path.to_owned(), shown }]
        }
        Err(error) => match path.file_name().and_then(|name| name.to_str()) {
            Some(pattern) if pattern.contains(['*', '?']) => {
                let mut found = Vec::new();
                walk(&files::folder_of(path), "", &|shown| matches(pattern, shown), false, &mut found)?;
                found
            }
            _ => return Err(files::io_error("read", path, &error)),
        },
    };
    if found.is_empty() {
        let message = format!("there is nothing to read in {}", path.display());
        let hint = format!("`include` takes files named {}; hidden files are left out", include.join(", "));
        return Err(StageError::permanent(message).hint(hint));
    }
    Ok(found)
}

/// Collects files in the order of their paths.
fn walk(
    folder: &Path,
    below: &str,
    wanted: &dyn Fn(&str) -> bool,
    deep: bool,
    found: &mut Vec<Found>,
) -> Result<(), StageError> {
    let unreadable = |error: std::io::Error| files::io_error("read the folder", folder, &error);
    let mut entries =
        std::fs::read_dir(folder).map_err(unreadable)?.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            let message = format!("the name of {} is not UTF-8", entry.path().display());
            return Err(StageError::permanent(message).hint("rename the file, or move it elsewhere"));
        };
        if name.starts_with('.') {
            continue;
        }
        let path = entry.path();
        let kind = entry.file_type().map_err(unreadable)?;
        let shown = if below.is_empty() { name.to_owned() } else { format!("{below}/{name}") };
        if kind.is_dir() {
            // Links to folders are not followed, so that a loop of them cannot catch the walk.
            if deep {
                walk(&path, &shown, wanted, deep, found)?;
            }
        } else if wanted(&shown) && (kind.is_file() || path.is_file()) {
            found.push(Found { path, shown });
        }
    }
    Ok(())
}

/// Whether a file is meant by a pattern of [`ReadFile::include`].
fn wants(pattern: &str, shown: &str) -> bool {
    fn along(pattern: &[&str], shown: &[&str]) -> bool {
        match (pattern, shown) {
            ([], []) => true,
            (["**", rest @ ..], _) => (0..=shown.len()).any(|skipped| along(rest, &shown[skipped..])),
            ([first, rest @ ..], [name, below @ ..]) => matches(first, name) && along(rest, below),
            _ => false,
        }
    }
    let parts: Vec<&str> = shown.split('/').collect();
    if pattern.contains('/') {
        let pattern: Vec<&str> = pattern.trim_start_matches("./").split('/').collect();
        along(&pattern, &parts)
    } else {
        parts.last().is_some_and(|name| matches(pattern, name))
    }
}

/// Whether a name fits a pattern of `*` and `?`.
fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut upto) = (0, 0);
    // The last star, and how much of the name it has taken so far: on a mismatch it takes one character more.
    let mut star: Option<(usize, usize)> = None;
    while upto < name.len() {
        if at < pattern.len() && pattern[at] == '*' {
            star = Some((at, upto));
            at += 1;
        } else if at < pattern.len() && (pattern[at] == '?' || pattern[at] == name[upto]) {
            at += 1;
            upto += 1;
        } else if let Some((star_at, taken)) = star {
            star = Some((star_at, taken + 1));
            at = star_at + 1;
            upto = taken + 1;
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

struct Reader {
    config: ReadFile,
    files: Vec<Found>,
}

impl Reader {
    fn documents(&self, file: &Found, text: String, documents: &mut Vec<Document>) {
        let name = files::without_extension(&file.shown);
        let pieces = match self.config.split {
            Split::Whole => {
                let (title, line) = (split::title(&file.shown, &text), 1);
                vec![Piece { line, anchor: None, title, page: None, text: text.into() }]
            }
            Split::Lines => split::lines(&text),
            Split::Paragraphs => split::paragraphs(&text),
            Split::Sections => split::sections(&text),
        };
        let language = match self.config.language {
            Some(LanguageSource::En) => Some("en"),
            Some(LanguageSource::Tr) => Some("tr"),
            Some(LanguageSource::FromPath) => {
                file.shown.split_once('/').map(|(first, _)| first).filter(|first| ["en", "tr"].contains(first))
            }
            None => None,
        };
        documents.extend(pieces.into_iter().map(|piece| Document {
            id: piece.anchor.map_or_else(|| name.to_owned(), |line| format!("{name}#{line}")),
            text: piece.text.into_owned(),
            title: piece.title,
            language: language.map(str::to_owned),
            place: Some(Place { path: file.shown.clone(), line: piece.line }),
            fields: piece.page.map(|page| ("page".to_owned(), page)).into_iter().collect(),
        }));
    }
}

impl Stage for Reader {
    fn run(&self, _: &Inputs, context: &StageContext) -> Result<Value, StageError> {
        let mut left = self.config.max_bytes;
        let mut documents = Vec::new();
        let mut whole = String::new();
        for file in &self.files {
            let text = files::read_text(&file.path, &mut left, &context.cancel)?;
            match self.config.form {
                Form::Documents => self.documents(file, text, &mut documents),
                Form::Text if whole.is_empty() => whole = text,
                Form::Text => {
                    whole.truncate(whole.trim_end().len());
                    whole.push_str("\n\n");
                    whole.push_str(&text);
                }
            }
        }
        Ok(match self.config.form {
            Form::Documents => Value::Documents(Arc::new(documents)),
            Form::Text => Value::text(whole),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name, fits) in [
            ("*.md", "refunds.md", true),
            ("*.md", "refunds.md.bak", false),
            ("r?f*.md", "refunds.md", true),
            ("*a*a*b", "aaaaaaaaab", true),
            ("*a*a*c", "aaaaaaaaab", false),
            ("ödeme?", "ödemeş", true),
            ("*", "", true),
            ("?", "", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
        for (pattern, path, fits) in [
            ("*.md", "en/refunds.md", true),
            ("en/*.md", "en/refunds.md", true),
            ("en/*.md", "en/old/refunds.md", false),
            ("en/*.md", "README.md", false),
            ("./en/**/*.md", "en/old/refunds.md", true),
            ("en/**/*.md", "en/refunds.md", true),
            ("**/old/*", "en/old/refunds.md", true),
        ] {
            assert_eq!(wants(pattern, path), fits, "{pattern} {path}");
        }
    }
}
