//! Files of JSON lines, with errors that name the file and the line.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use crate::exit::Failure;

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    path: Arc<Path>,
    line: usize,
}

impl Place {
    /// What is wrong in this line.
    pub(crate) fn wrong(&self, problem: impl fmt::Display) -> Failure {
        Failure::wrong(format!("{self}: {problem}"))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.path.display(), self.line)
    }
}

/// The lines of a text file that are not blank, without byte order mark and line ends.
pub(crate) fn read_lines(
    path: &Path,
    mut take: impl FnMut(&Place, &str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let unreadable = |place: &dyn fmt::Display, error: &std::io::Error| Failure::wrong(format!("{place}: {error}"));
    let name = path.display();
    let file = File::open(path).map_err(|error| unreadable(&name, &error))?;
    if file.metadata().is_ok_and(|found| found.is_dir()) {
        return Err(Failure::wrong(format!("{name} is a folder; a file is expected")));
    }
    let shared: Arc<Path> = Arc::from(PathBuf::from(path));
    for (at, line) in BufReader::with_capacity(1 << 16, file).lines().enumerate() {
        let place = Place { path: shared.clone(), line: at + 1 };
        let line = line.map_err(|error| unreadable(&place, &error))?;
        let line = line.trim_start_matches('\u{feff}');
        if !line.trim().is_empty() {
            take(&place, line)?;
        }
    }
    Ok(())
}

/// One JSON object of a file, and where it stands.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) place: Place,
    object: Map<String, Json>,
}

/// The JSON objects of a file, one per line. A file without any is an error that calls them `what`.
pub(crate) fn read_objects(path: &Path, what: &str) -> Result<Vec<Entry>, Failure> {
    let mut entries = Vec::new();
    read_lines(path, |place, line| {
        let object = serde_json::from_str(line).map_err(|error| match error.column() {
            0 => place.wrong(&error),
            // The column counts from the beginning of the line; the line that serde counts is always the first.
            column => Failure::wrong(format!("{place}:{column}: {}", without_position(&error))),
        })?;
        entries.push(Entry { place: place.clone(), object });
        Ok(())
    })?;
    if entries.is_empty() {
        return Err(Failure::wrong(format!("{}: there are no {what} in it", path.display())));
    }
    Ok(entries)
}

fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

impl Entry {
    /// The value under a key, or under a path of keys with dots between them; JSON's null counts as none.
    pub(crate) fn get(&self, path: &str) -> Option<&Json> {
        let mut keys = path.split('.');
        let first = self.object.get(keys.next()?)?;
        keys.try_fold(first, |value, key| value.as_object()?.get(key)).filter(|value| !value.is_null())
    }

    /// What stood in the line.
    pub(crate) fn into_object(self) -> Map<String, Json> {
        self.object
    }

    /// The text under a key.
    pub(crate) fn text(&self, path: &str) -> Result<Option<String>, Failure> {
        match self.get(path) {
            None => Ok(None),
            Some(Json::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(self.place.wrong(format!("`{path}` is {}, expected a text", kind(other)))),
        }
    }

    /// The text under a key that every line must have.
    pub(crate) fn required_text(&self, path: &str) -> Result<String, Failure> {
        self.text(path)?.ok_or_else(|| self.place.wrong(format!("`{path}` is missing")))
    }

    /// The id, which is not empty.
    pub(crate) fn id(&self) -> Result<String, Failure> {
        let id = self.required_text("id")?;
        if id.is_empty() { Err(self.place.wrong("`id` is empty")) } else { Ok(id) }
    }

    /// A text, number or truth value as text.
    pub(crate) fn scalar(&self, path: &str) -> Option<String> {
        self.get(path).and_then(scalar)
    }

    /// The members of the object under a key.
    pub(crate) fn members(&self, path: &str) -> impl Iterator<Item = (&String, &Json)> {
        self.get(path).and_then(Json::as_object).into_iter().flatten()
    }
}

/// A text, number or truth value as text; nothing for lists, objects and null.
pub(crate) fn scalar(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        Json::Bool(truth) => Some(truth.to_string()),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

/// What a JSON value is, in words.
pub(crate) fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a truth value",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}
