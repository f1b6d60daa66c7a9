//! `read.jsonl`: records from a file with one JSON object per line.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::files;
use crate::cancel::Cancel;
use crate::stage::{BuildContext, Inputs, Kind, Ports, Stage, StageContext, StageError};
use crate::value::{Type, Value, describe};

/// Reads records from a file with one JSON object per line. Blank lines are left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ReadJsonl {
    /// The file that is read.
    #[schemars(extend("format" = "path"))]
    pub(crate) path: PathBuf,
    /// How many records are read at most; all where it is missing. The rest of the file is not looked at.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(crate) limit: Option<usize>,
    /// What happens at a line that is not a JSON object.
    #[serde(default)]
    pub(crate) on_bad_line: OnBadLine,
    /// How many bytes are read at most. The default is 256 MiB.
    #[serde(default = "files::default_max_bytes")]
    #[schemars(range(min = 1))]
    pub(crate) max_bytes: u64,
}

/// What happens at a line that is not a JSON object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OnBadLine {
    /// The stage fails; the message names the line and the column.
    #[default]
    Fail,
    /// The line is left out, silently.
    Skip,
}

impl Kind for ReadJsonl {
    const NAME: &'static str = "read.jsonl";
    const ABOUT: &'static str = "Reads records from a file with one JSON object per line.";

    fn ports(_: Option<&Self>) -> Ports {
        Ports::new(Vec::new(), Type::Records)
    }

    fn build(&self, context: &BuildContext) -> Result<Box<dyn Stage>, StageError> {
        let path = context.path(&self.path);
        files::check_regular(&path)?;
        Ok(Box::new(Reader { config: self.clone(), path }))
    }
}

struct Reader {
    config: ReadJsonl,
    path: PathBuf,
}

impl Stage for Reader {
    fn run(&self, _: &Inputs, context: &StageContext) -> Result<Value, StageError> {
        let limit = self.config.limit.unwrap_or(usize::MAX);
        let mut records = Vec::new();
        let mut lines =
            Lines { reader: BufReader::new(files::open_regular(&self.path)?), left: self.config.max_bytes, number: 0 };
        while records.len() < limit {
            let Some(line) = lines.next(&self.path, &context.cancel)? else { break };
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match self.record(&line, lines.number) {
                Ok(record) => records.push(record),
                Err(_) if self.config.on_bad_line == OnBadLine::Skip => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Value::Records(Arc::new(records)))
    }
}

impl Reader {
    fn record(&self, line: &[u8], number: usize) -> Result<Json, StageError> {
        let text = std::str::from_utf8(line).map_err(|error| {
            let at = error.valid_up_to();
            files::not_utf8(&self.path, number, at + 1, line[at])
        })?;
        let bad = |column: usize, problem: String| {
            let message = format!("{}, line {number}, column {column}: {problem}", self.path.display());
            StageError::permanent(message)
                .hint("mend the line, or set `on-bad-line = \"skip\"` to leave such lines out")
        };
        match serde_json::from_str(text) {
            Ok(record @ Json::Object(_)) => Ok(record),
            Ok(other) => {
                let column = text.chars().take_while(|character| character.is_whitespace()).count() + 1;
                Err(bad(column, format!("found {}, expected a JSON object", describe(&other))))
            }
            Err(error) => {
                // The parser counts bytes; people and editors count characters.
                let before = text.as_bytes()[..error.column().saturating_sub(1).min(text.len())].iter();
                let column = before.filter(|byte| **byte & 0xC0 != 0x80).count() + 1;
                let message = error.to_string();
                let problem = message.rfind(" at line ").map_or(message.as_str(), |end| &message[..end]);
                Err(bad(column, format!("not a JSON object: {problem}")))
            }
        }
    }
}

struct Lines {
    reader: BufReader<File>,
    left: u64,
    number: usize,
}

impl Lines {
    /// The next line without its line break. The byte order mark of the first line is dropped.
    fn next(&mut self, path: &std::path::Path, cancel: &Cancel) -> Result<Option<Vec<u8>>, StageError> {
        const STEP: u64 = 1024 * 1024;
        let mut line = Vec::new();
        loop {
            if cancel.is_cancelled() {
                return Err(files::stopped());
            }
            let step = STEP.min(self.left + 1);
            let read = self
                .reader
                .by_ref()
                .take(step)
                .read_until(b'\n', &mut line)
                .map_err(|error| files::io_error("read", path, &error))? as u64;
            if read > self.left {
                return Err(files::too_large(path));
            }
            self.left -= read;
            if read == 0 || line.last() == Some(&b'\n') {
                break;
            }
        }
        if line.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if self.number == 1 && line.starts_with("\u{feff}".as_bytes()) {
            line.drain(..3);
        }
        Ok(Some(line))
    }
}
