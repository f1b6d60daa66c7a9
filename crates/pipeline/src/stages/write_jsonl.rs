//! `write.jsonl`: values become lines of a file.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::files;
use crate::stage::{BuildContext, Inputs, Kind, Port, Ports, Stage, StageContext, StageError};
use crate::value::{Type, Value};

/// Writes values into a file, one JSON value per line, and returns the number of lines.
///
/// A list becomes one line per element, anything else one line. Lines of one record stay together; the records of a
/// batch that run side by side are written in the order in which they get here. A stage that never runs leaves the file
/// as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct WriteJsonl {
    /// The file. Its folder must exist.
    #[schemars(extend("format" = "path"))]
    pub(crate) path: PathBuf,
    /// What happens to a file that exists.
    #[serde(default)]
    pub(crate) mode: WriteMode,
}

/// What happens to a file that exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WriteMode {
    /// It is replaced at the end of the run (or of the batch) in one step; until then the old file is there, whole.
    #[default]
    Replace,
    /// Lines are added at its end.
    Append,
}

impl Kind for WriteJsonl {
    const NAME: &'static str = "write.jsonl";
    const ABOUT: &'static str = "Writes values into a file, one JSON value per line, and returns the number of lines.";

    fn ports(_: Option<&Self>) -> Ports {
        let items = Port::required("items", Type::Json, "What is written: one line per element of a list.").many();
        Ports::new(vec![items], Type::Number)
    }

    fn has_effects(&self) -> bool {
        true
    }

    fn build(&self, context: &BuildContext) -> Result<Box<dyn Stage>, StageError> {
        let path = context.path(&self.path);
        if path.is_dir() {
            let message = format!("{} is a folder, expected the name of a file", path.display());
            return Err(StageError::permanent(message));
        }
        let folder = files::folder_of(&path);
        match folder.metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(_) => {
                let message = format!("{} is not a folder, so nothing can be written into it", folder.display());
                return Err(StageError::permanent(message));
            }
            Err(error) => {
                return Err(files::io_error("write into the folder", &folder, &error).hint("make the folder first"));
            }
        }
        check_writable(&path, &folder, self.mode)?;
        let state = if context.dry_run { State::Pretending } else { State::Closed };
        Ok(Box::new(Writer { path, mode: self.mode, state: Mutex::new(state) }))
    }
}

/// Whether the system would let us write, found out without touching anything.
#[cfg(unix)]
fn check_writable(path: &Path, folder: &Path, mode: WriteMode) -> Result<(), StageError> {
    use rustix::fs::{Access, access};
    let exists = path.exists();
    let special = exists && !path.is_file();
    let refused =
        |action: &str, path: &Path, error: rustix::io::Errno| Err(files::io_error(action, path, &error.into()));
    if (special || mode == WriteMode::Append) && exists {
        access(path, Access::WRITE_OK).or_else(|error| refused("write", path, error))
    } else {
        access(folder, Access::WRITE_OK | Access::EXEC_OK)
            .or_else(|error| refused("write into the folder", folder, error))
    }
}

#[cfg(not(unix))]
fn check_writable(_: &Path, _: &Path, _: WriteMode) -> Result<(), StageError> {
    Ok(())
}

struct Writer {
    path: PathBuf,
    mode: WriteMode,
    state: Mutex<State>,
}

enum State {
    /// A dry run: lines are counted and not written.
    Pretending,
    /// Nothing has been written yet.
    Closed,
    Open(Output),
    /// Writing failed; what came later would leave a hole, so that it is refused too.
    Broken(StageError),
}

struct Output {
    file: File,
    /// Whole lines that are not yet in the file.
    buffer: Vec<u8>,
    /// The size of the file up to the last whole line, for a file that can be cut back to it.
    whole: Option<u64>,
    /// Where the lines are until they get the name of the file.
    temporary: Option<Temporary>,
}

/// A file that is gone when this is, unless it was given its final name.
struct Temporary {
    path: PathBuf,
    target: PathBuf,
    finished: bool,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.finished {
            // Nobody is left to tell if this fails, and the file harms nobody.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// How much is kept back before it is written.
const BUFFER: usize = 64 * 1024;

impl Output {
    fn open(path: &Path, mode: WriteMode) -> io::Result<Self> {
        // A device or a pipe is written as it is: it cannot be replaced, nor cut back.
        if path.metadata().is_ok_and(|found| !found.is_file()) {
            let file = OpenOptions::new().write(true).open(path)?;
            return Ok(Output { file, buffer: Vec::new(), whole: None, temporary: None });
        }
        if mode == WriteMode::Append {
            let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
            let size = file.metadata()?.len();
            let mut buffer = Vec::new();
            if size > 0 && last_byte(&mut file)? != b'\n' {
                // The last line was left open, by an editor or a killed program; ours must not be glued to it.
                buffer.push(b'\n');
            }
            return Ok(Output { file, buffer, whole: Some(size), temporary: None });
        }
        // Through a link, so that the link stays and what it leads to is replaced.
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let temporary = Temporary { path: beside(&target), target, finished: false };
        let file = OpenOptions::new().write(true).create_new(true).open(&temporary.path)?;
        if let Ok(old) = temporary.target.metadata() {
            file.set_permissions(old.permissions())?;
        }
        Ok(Output { file, buffer: Vec::new(), whole: Some(0), temporary: Some(temporary) })
    }

    fn write_out(&mut self) -> io::Result<()> {
        let result = self.file.write_all(&self.buffer);
        match (&result, &mut self.whole) {
            (Ok(()), Some(whole)) => *whole += self.buffer.len() as u64,
            // The part of a line that still found room is worth less than a file of whole lines.
            (Err(_), Some(whole)) => drop(self.file.set_len(*whole)),
            (_, None) => {}
        }
        self.buffer.clear();
        result
    }

    fn finish(mut self) -> io::Result<()> {
        self.write_out()?;
        if let Some(temporary) = &mut self.temporary {
            // Without this, a loss of power just after the rename could leave an empty file under the final name.
            self.file.sync_all()?;
            std::fs::rename(&temporary.path, &temporary.target)?;
            temporary.finished = true;
        }
        Ok(())
    }
}

fn last_byte(file: &mut File) -> io::Result<u8> {
    use std::io::{Read, Seek, SeekFrom};
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last[0])
}

/// A name in the same folder that nobody else uses: a rename works only within one file system.
fn beside(path: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}-{number}.part", std::process::id()))
}

impl Writer {
    fn add(&self, state: &mut State, lines: &[u8]) -> Result<(), StageError> {
        if matches!(state, State::Closed) {
            *state = Output::open(&self.path, self.mode).map_or_else(|error| self.broken(&error), State::Open);
        }
        if let State::Open(output) = state {
            output.buffer.extend_from_slice(lines);
            if output.buffer.len() >= BUFFER
                && let Err(error) = output.write_out()
            {
                *state = self.broken(&error);
            }
        }
        match state {
            State::Broken(error) => Err(error.clone()),
            _ => Ok(()),
        }
    }

    fn broken(&self, error: &io::Error) -> State {
        State::Broken(files::io_error("write", &self.path, error))
    }
}

impl Stage for Writer {
    fn run(&self, inputs: &Inputs, context: &StageContext) -> Result<Value, StageError> {
        let mut lines = Vec::new();
        let mut count = 0_u32;
        for value in inputs.all("items") {
            let json = match value {
                Value::Json(json) => json.as_ref().clone(),
                other => other.to_json(),
            };
            let elements = match json {
                Json::Array(elements) => elements,
                other => vec![other],
            };
            for element in elements {
                if context.cancel.is_cancelled() {
                    return Err(files::stopped());
                }
                // Writing JSON into memory fails for no value that JSON can hold.
                serde_json::to_writer(&mut lines, &element).map_err(|error| files::unusable("items", error))?;
                lines.push(b'\n');
                count += 1;
            }
        }
        // Everything is put down under one lock, so that the lines of a record stay together.
        self.add(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner), &lines)?;
        Ok(Value::Number(f64::from(count)))
    }

    fn give_up(&self) -> Result<(), StageError> {
        if self.mode == WriteMode::Replace {
            // What is there goes away with its temporary file, and the file itself stays as it was.
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if matches!(&*state, State::Open(output) if output.temporary.is_some()) {
                *state = State::Closed;
                return Ok(());
            }
        }
        self.flush()
    }

    fn flush(&self) -> Result<(), StageError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *state, State::Closed) {
            State::Open(output) => output.finish().map_err(|error| files::io_error("write", &self.path, &error)),
            State::Broken(error) => Err(error),
            rest @ (State::Pretending | State::Closed) => {
                *state = rest;
                Ok(())
            }
        }
    }
}
