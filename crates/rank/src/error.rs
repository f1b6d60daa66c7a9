//! What can go wrong, each with what was found and what to do.

use std::io;
use std::path::{Path, PathBuf};

use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an index could not be opened, written or asked.
///
/// Messages name the folder or the document, what was found, and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder does not exist, or exists and is empty.
    #[error("there is no index in {}: the folder is {found}; create one with `Index::create` or `Index::open_or_create`", folder.display())]
    NotFound {
        /// The folder that was named.
        folder: PathBuf,
        /// `"missing"` or `"empty"`.
        found: &'static str,
    },
    /// The path holds something, but nothing that this crate wrote.
    #[error("{} is not an index of this crate: {found}; name an empty or a new folder", folder.display())]
    NotAnIndex {
        /// The path that was named.
        folder: PathBuf,
        /// What stands there instead.
        found: String,
    },
    /// `Index::create` was asked for a folder that holds an index already.
    #[error("{} holds an index already; open it with `Index::open`, or replace it with `Index::rebuild`", folder.display())]
    AlreadyExists {
        /// The folder that was named.
        folder: PathBuf,
    },
    /// The index was written by a version whose files this one does not read.
    #[error("the index in {} has the format {found:?}, this version reads {expected:?}; rebuild it (`Index::rebuild`) from its documents", folder.display())]
    Incompatible {
        /// The index's folder.
        folder: PathBuf,
        /// The format that the folder states.
        found: String,
        /// The format that this version reads and writes.
        expected: String,
    },
    /// Files of the index are damaged or missing.
    #[error("the index in {} is damaged: {problem}; rebuild it (`Index::rebuild`) from its documents", folder.display())]
    Corrupt {
        /// The index's folder; `"(memory)"` for an index without one.
        folder: PathBuf,
        /// What was found.
        problem: String,
    },
    /// Another writer is at work on the same index.
    #[error("the index in {} is being written by {holder}; wait until it commits, or end it", folder.display())]
    Locked {
        /// The index's folder.
        folder: PathBuf,
        /// Who holds the lock, as far as it said so.
        holder: String,
    },
    /// A document that cannot be stored.
    #[error("document {id:?} cannot be indexed: {problem}")]
    InvalidDocument {
        /// The document's id, cut at 80 characters.
        id: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A configuration value out of its range.
    #[error("the setting `{setting}` is {found}, expected {expected}")]
    InvalidConfig {
        /// The setting's path, such as `lexical.k1`.
        setting: String,
        /// Its value.
        found: String,
        /// The range that is allowed.
        expected: &'static str,
    },
    /// A voice failed (a voice that merely has nothing to say is silent instead).
    #[error("the voice `{voice}` failed: {source}")]
    Voice {
        /// The voice's name.
        voice: String,
        /// Its own error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A model that cannot be opened or that fails.
    #[error("the model in {} cannot be used: {problem}; {remedy}", folder.display())]
    Model {
        /// The model's folder.
        folder: PathBuf,
        /// What was found.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// ONNX Runtime, which models run in, is missing, damaged or too old.
    #[error("{problem}; {remedy}")]
    Runtime {
        /// What was found, and where.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// A manifest with mistakes, all of them.
    #[cfg(feature = "model")]
    #[error("{}", crate::model::list_problems(path, problems))]
    Manifest {
        /// The manifest's path.
        path: PathBuf,
        /// What is wrong, in the order of the checks; never empty.
        problems: Vec<crate::model::ManifestProblem>,
    },
    /// No model of this name stands in the folder of models.
    #[error("there is no model {name:?} in {}; {installed}", root.display())]
    NoModel {
        /// The name that was asked for.
        name: String,
        /// The folder of models.
        root: PathBuf,
        /// Which models there are, as a sentence.
        installed: String,
    },
    /// The catalogue has no model of this name.
    #[error("the catalogue has no model {name:?}; {known}")]
    UnknownModel {
        /// The name that was asked for.
        name: String,
        /// The nearest name and all names, as a sentence.
        known: String,
    },
    /// A model of this name is installed already, and it was not asked to replace it.
    #[error("the model {name:?} is installed already, in {}", folder.display())]
    ModelExists {
        /// Its name.
        name: String,
        /// Its folder.
        folder: PathBuf,
    },
    /// Another process is installing or removing the same model.
    #[error("the model {name:?} is being changed by {holder}; wait until it is done, or end it")]
    ModelBusy {
        /// Its name.
        name: String,
        /// Who holds the lock, as far as it said so.
        holder: String,
    },
    /// A folder, an archive or a file that no model can be installed from.
    #[error("nothing can be installed from {}: {problem}; {remedy}", path.display())]
    InvalidSource {
        /// The path that was named.
        path: PathBuf,
        /// What was found.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// A file that could not be fetched.
    #[error("cannot fetch {url}: {problem}; {remedy}")]
    Fetch {
        /// Where it should have come from.
        url: String,
        /// What happened.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// A file whose bytes are not those that were expected. It has been thrown away.
    #[error(
        "{from} has the SHA-256 {found}, expected {expected}: the file is damaged or another one, and was thrown away"
    )]
    Checksum {
        /// The URL or the path that the file came from.
        from: String,
        /// The SHA-256 that is known for it.
        expected: String,
        /// The SHA-256 of what came.
        found: String,
    },
    /// The operating system refused a file operation.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, such as `"write"`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The search engine underneath failed in a way that is no fault of the input.
    #[error("the search engine failed on the index in {}: {problem}; please report this", folder.display())]
    Engine {
        /// The index's folder.
        folder: PathBuf,
        /// The engine's message.
        problem: String,
    },
}

impl Error {
    /// An error for a [`Voice`](crate::Voice) implemented outside this crate.
    ///
    /// ```
    /// let error = hatir_rank::Error::voice("weather", "the station does not answer");
    /// assert_eq!(error.to_string(), "the voice `weather` failed: the station does not answer");
    /// ```
    pub fn voice(voice: impl Into<String>, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Voice { voice: voice.into(), source: source.into() }
    }

    /// Whether building the index again from its documents is the remedy
    /// ([`Error::Incompatible`], [`Error::Corrupt`]).
    pub fn rebuild_helps(&self) -> bool {
        matches!(self, Self::Incompatible { .. } | Self::Corrupt { .. })
    }

    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_path_buf(), source }
    }

    /// Sorts an engine error into the kinds above.
    pub(crate) fn engine(folder: &Path, error: TantivyError) -> Self {
        let folder = folder.to_path_buf();
        match error {
            TantivyError::LockFailure(LockError::LockBusy, _) => {
                Self::Locked { folder, holder: "another writer".to_owned() }
            }
            TantivyError::LockFailure(LockError::IoError(error), _) => {
                Self::Io { action: "lock the index in", path: folder, source: copy_of(&error) }
            }
            TantivyError::IncompatibleIndex(found)
            | TantivyError::OpenReadError(OpenReadError::IncompatibleIndex(found)) => {
                Self::Incompatible { folder, found: format!("{found:?}"), expected: crate::index::format_name() }
            }
            TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(file)) => {
                Self::Corrupt { folder, problem: format!("the file {} is missing", file.display()) }
            }
            TantivyError::DataCorruption(found) => Self::Corrupt { folder, problem: format!("{found:?}") },
            TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error, directory_path }) => {
                Self::Io { action: "open", path: directory_path, source: copy_of(&io_error) }
            }
            TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, filepath }) => {
                Self::Io { action: "write", path: folder.join(filepath), source: copy_of(&io_error) }
            }
            TantivyError::IoError(error) => match error.kind() {
                // The engine reports a footer or a block that does not parse in these words.
                io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                    Self::Corrupt { folder, problem: error.to_string() }
                }
                _ => Self::Io { action: "use the index in", path: folder, source: copy_of(&error) },
            },
            TantivyError::OpenReadError(OpenReadError::IoError { io_error, filepath }) => match io_error.kind() {
                io::ErrorKind::PermissionDenied => {
                    Self::Io { action: "read", path: folder.join(filepath), source: copy_of(&io_error) }
                }
                _ => Self::Corrupt { folder, problem: format!("{}: {io_error}", filepath.display()) },
            },
            TantivyError::DeserializeError(error) => Self::Corrupt { folder, problem: error.to_string() },
            other => Self::Engine { folder, problem: other.to_string() },
        }
    }
}

/// Engine errors share one `io::Error`; ours own theirs, so that `source()` works.
fn copy_of(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}
