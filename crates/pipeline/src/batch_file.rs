//! The result file of a batch: made under another name, finished by a rename, continued after a kill.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::batch::Tally;

/// What an unfinished result was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    version: u32,
    pipeline: String,
    input: String,
}

/// Why a result file cannot be written, or continued.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchFileError {
    /// The system refused.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// An earlier run left its work unfinished, and nobody said whether to go on with it.
    #[error("{} is the unfinished result of an earlier run", part.display())]
    Unfinished {
        /// The unfinished file.
        part: PathBuf,
    },
    /// The unfinished result was made by another pipeline, with other settings, or of another input.
    #[error("{} was made {of}, so that going on would mix two results", part.display())]
    Other {
        /// The unfinished file.
        part: PathBuf,
        /// What differs, in words.
        of: &'static str,
    },
    /// Another process is writing the same result.
    #[error("{} is being written by another process", part.display())]
    Busy {
        /// The unfinished file.
        part: PathBuf,
    },
    /// The unfinished result is not what a batch writes.
    #[error("line {line} of {} is not what a batch writes: {reason}", part.display())]
    Damaged {
        /// The unfinished file.
        part: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
}

/// The result of a batch on its way to `path`: lines go to `path.part`, and the file gets its name when all are there.
#[derive(Debug)]
pub struct BatchFile {
    path: PathBuf,
    part: Option<PathBuf>,
    writer: BufWriter<File>,
    tally: Tally,
}

/// What to do with the unfinished result of an earlier run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Earlier {
    /// There must be none.
    Refuse,
    /// Go on where it stopped. Without one, start.
    Continue,
    /// Throw it away.
    Discard,
}

impl BatchFile {
    /// Opens the result file `path`. `pipeline` and `input` say what it is made of: going on with an earlier result is
    /// refused when either differs.
    ///
    /// A path that is no regular file (`/dev/stdout`, a named pipe) is written directly and cannot be continued.
    ///
    /// # Errors
    /// See [`BatchFileError`].
    pub fn open(path: &Path, pipeline: &str, input: &str, earlier: Earlier) -> Result<Self, BatchFileError> {
        let io_error = |path: &Path| {
            let path = path.to_owned();
            move |error| BatchFileError::Io { path, error }
        };
        // A link stays, and what it leads to is replaced.
        let resolved = path.canonicalize();
        // `/dev/stdout` may lead to a regular file that somebody else holds open; it is still a device to us.
        let is_device = path.starts_with("/dev") || path.starts_with("/proc");
        let path = if is_device { path } else { resolved.as_deref().unwrap_or(path) };
        if path.metadata().is_ok_and(|found| !found.is_dir() && (is_device || !found.is_file())) {
            let file = OpenOptions::new().write(true).open(path).map_err(io_error(path))?;
            return Ok(BatchFile {
                path: path.to_owned(),
                part: None,
                writer: BufWriter::new(file),
                tally: Tally::default(),
            });
        }
        if path.is_dir() {
            return Err(io_error(path)(io::Error::from(io::ErrorKind::IsADirectory)));
        }

        let part = beside(path, ".part");
        let state_path = beside(path, ".part.json");
        let state = State { version: 1, pipeline: pipeline.to_owned(), input: input.to_owned() };
        let exists = part.exists();
        if exists && earlier == Earlier::Refuse {
            return Err(BatchFileError::Unfinished { part });
        }
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&part)
            .map_err(io_error(&part))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(BatchFileError::Busy { part }),
            Err(TryLockError::Error(error)) => return Err(io_error(&part)(error)),
        }

        let mut tally = Tally::default();
        if exists && earlier == Earlier::Continue {
            check_state(&part, &state_path, &state)?;
            let end = take_stock(&part, &file, &mut tally)?;
            file.set_len(end).map_err(io_error(&part))?;
            file.seek(SeekFrom::Start(end)).map_err(io_error(&part))?;
        } else {
            file.set_len(0).map_err(io_error(&part))?;
            let json = serde_json::to_vec(&state).unwrap_or_default();
            std::fs::write(&state_path, json).map_err(io_error(&state_path))?;
        }
        Ok(BatchFile {
            path: path.to_owned(),
            part: Some(part),
            writer: BufWriter::with_capacity(1 << 16, file),
            tally,
        })
    }

    /// What the lines of an earlier run hold: its `records` are those to skip.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Where the lines go until the result is complete.
    pub fn part(&self) -> Option<&Path> {
        self.part.as_deref()
    }

    /// Gives the complete result its name.
    ///
    /// # Errors
    /// When the data cannot be made durable or the file cannot be renamed. The unfinished file is then still there.
    pub fn finish(mut self) -> Result<(), BatchFileError> {
        let place = self.part.as_deref().unwrap_or(&self.path).to_owned();
        let io_error = |error| BatchFileError::Io { path: place.clone(), error };
        self.writer.flush().map_err(io_error)?;
        if let Some(part) = &self.part {
            self.writer.get_ref().sync_data().map_err(io_error)?;
            std::fs::rename(part, &self.path).map_err(io_error)?;
            // Without its file it says nothing, and the next run writes it anew.
            let _ = std::fs::remove_file(beside(&self.path, ".part.json"));
        }
        Ok(())
    }
}

impl Write for BatchFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// A short name for the content of a file: its length and a hash of all of it. For telling files apart by accident, not
/// against somebody who means to deceive. Reads the whole file; must not be used on a pipe, which can be read only once.
///
/// # Errors
/// When the file cannot be read.
pub fn fingerprint_file(path: &Path) -> io::Result<String> {
    let mut reader = BufReader::with_capacity(1 << 16, File::open(path)?);
    let (mut hash, mut length) = (Fnv::default(), 0);
    loop {
        let block = reader.fill_buf()?;
        if block.is_empty() {
            return Ok(format!("{length}-{:016x}", hash.0));
        }
        hash.add(block);
        length += block.len();
        let read = block.len();
        reader.consume(read);
    }
}

/// A short name for a text.
pub fn fingerprint_text(text: &str) -> String {
    let mut hash = Fnv::default();
    hash.add(text.as_bytes());
    format!("{}-{:016x}", text.len(), hash.0)
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo; <http://www.isthe.com/chongo/tech/comp/fnv/>): stable across versions and
/// machines, unlike the standard library's hasher.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn check_state(part: &Path, state_path: &Path, now: &State) -> Result<(), BatchFileError> {
    let other = |of| Err(BatchFileError::Other { part: part.to_owned(), of });
    let Ok(text) = std::fs::read(state_path) else { return other("by a run that ended before it could say of what") };
    match serde_json::from_slice::<State>(&text) {
        Ok(then) if then.pipeline != now.pipeline => other("by another pipeline or with other settings"),
        Ok(then) if then.input != now.input => other("of another input"),
        Ok(then) if then == *now => Ok(()),
        Ok(_) | Err(_) => other("by another version"),
    }
}

/// Counts the whole lines of an unfinished result and returns where they end.
fn take_stock(part: &Path, file: &File, tally: &mut Tally) -> Result<u64, BatchFileError> {
    let mut reader = BufReader::new(file);
    let mut end = 0;
    loop {
        let mut line = Vec::new();
        let read =
            reader.read_until(b'\n', &mut line).map_err(|error| BatchFileError::Io { path: part.to_owned(), error })?;
        // The kill may have come in the middle of a line; that record is worked on again.
        if read == 0 || line.last() != Some(&b'\n') {
            return Ok(end);
        }
        let damaged =
            |reason: String| BatchFileError::Damaged { part: part.to_owned(), line: tally.records + 1, reason };
        let json: Json = serde_json::from_slice(&line).map_err(|error| damaged(error.to_string()))?;
        if json.get("record").and_then(Json::as_u64) != Some(tally.records as u64) {
            return Err(damaged(format!("its \"record\" should be {}", tally.records)));
        }
        tally.count(&json);
        end += read as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &Path, earlier: Earlier) -> Result<BatchFile, BatchFileError> {
        BatchFile::open(path, "p", "i", earlier)
    }

    #[test]
    fn a_finished_result_has_its_name_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.jsonl");
        let mut file = open(&path, Earlier::Refuse).unwrap();
        file.write_all(b"{\"record\":0,\"output\":1}\n").unwrap();
        assert!(!path.exists(), "not before all is there");
        file.finish().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"record\":0,\"output\":1}\n");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_unfinished_result_is_continued_after_its_last_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.jsonl");
        let mut file = open(&path, Earlier::Refuse).unwrap();
        file.write_all(b"{\"record\":0,\"output\":1}\n{\"record\":1,\"out").unwrap();
        file.flush().unwrap();
        drop(file);
        assert!(matches!(open(&path, Earlier::Refuse), Err(BatchFileError::Unfinished { .. })));
        assert!(matches!(
            BatchFile::open(&path, "other", "i", Earlier::Continue),
            Err(BatchFileError::Other { of: "by another pipeline or with other settings", .. })
        ));
        assert!(matches!(
            BatchFile::open(&path, "p", "other", Earlier::Continue),
            Err(BatchFileError::Other { of: "of another input", .. })
        ));
        let mut file = open(&path, Earlier::Continue).unwrap();
        assert_eq!(file.tally().records, 1);
        assert!(matches!(open(&path, Earlier::Continue), Err(BatchFileError::Busy { .. })));
        file.write_all(b"{\"record\":1,\"output\":2}\n").unwrap();
        file.finish().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "{\"record\":0,\"output\":1}\n{\"record\":1,\"output\":2}\n");
    }

    #[test]
    fn a_result_that_no_batch_wrote_is_refused_and_can_be_discarded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.jsonl");
        let mut file = open(&path, Earlier::Refuse).unwrap();
        file.write_all(b"{\"record\":7}\n").unwrap();
        file.flush().unwrap();
        drop(file);
        assert!(matches!(open(&path, Earlier::Continue), Err(BatchFileError::Damaged { line: 1, .. })));
        let file = open(&path, Earlier::Discard).unwrap();
        assert_eq!(file.tally().records, 0);
        file.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"");
    }

    #[test]
    fn fingerprints_tell_files_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "x".repeat(200_000)).unwrap();
        let first = fingerprint_file(&path).unwrap();
        assert_eq!(first, fingerprint_file(&path).unwrap());
        std::fs::write(&path, "x".repeat(199_999) + "y").unwrap();
        assert_ne!(first, fingerprint_file(&path).unwrap());
        assert_eq!(fingerprint_text("a"), "1-af63dc4c8601ec8c");
    }
}
