//! The folder an index lives in: what may stand there, and how it is opened.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    DirectoryLock, FileHandle, INDEX_WRITER_LOCK, Lock, META_LOCK, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};

use super::schema::{Fields, engine_settings, format_name};
use crate::error::{Error, Result};

/// States the format; written before anything else.
const FORMAT_FILE: &str = "hatir-rank.format";
/// Names the process that writes, while it writes.
const HOLDER_FILE: &str = "hatir-rank.writer";
/// The engine's list of segments; replaced atomically by each commit.
pub(crate) const META_FILE: &str = "meta.json";
/// How the names of files begin that are about to be renamed.
const TEMPORARY: &str = "hatir-rank.tmp";

/// What stands at a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Missing,
    Empty,
    Index,
    /// Files of an index that was begun and never finished: the format file without the engine's.
    Unfinished,
}

/// Looks, and changes nothing.
pub(crate) fn look(folder: &Path) -> Result<Found> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Missing),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(Error::NotAnIndex { folder: folder.to_path_buf(), found: "it is a file".to_owned() });
        }
        Err(error) => return Err(Error::io("read", folder, error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| Error::io("read", folder, error))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    let has = |name: &str| names.iter().any(|found| found == name);
    if has(FORMAT_FILE) {
        return Ok(if has(META_FILE) { Found::Index } else { Found::Unfinished });
    }
    // Another process may be creating it right now.
    names.retain(|name| !is_lock(name) && !name.starts_with(TEMPORARY));
    if names.is_empty() {
        return Ok(Found::Empty);
    }
    names.sort();
    let found = format!("it holds {} and no {FORMAT_FILE}", some_of(&names));
    Err(Error::NotAnIndex { folder: folder.to_path_buf(), found })
}

fn is_lock(name: &str) -> bool {
    name == INDEX_WRITER_LOCK.filepath.to_string_lossy() || name == META_LOCK.filepath.to_string_lossy()
}

fn some_of(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(3).map(|name| format!("{name:?}")).collect();
    let rest = names.len().saturating_sub(3);
    if rest == 0 { shown.join(", ") } else { format!("{} and {rest} more entries", shown.join(", ")) }
}

/// Creates the index in a missing, empty or unfinished folder, or opens what another process created meanwhile.
pub(crate) fn create(folder: &Path, fields: &Fields) -> Result<tantivy::Index> {
    fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
    let directory = open_directory(folder)?;
    let _lock = lock_for_creation(folder, &directory)?;
    if look(folder)? == Found::Index {
        return open(folder, fields);
    }
    write_file(&folder.join(FORMAT_FILE), format_name().as_bytes())?;
    let created = tantivy::Index::create(directory, fields.schema.clone(), engine_settings());
    let created = created.map_err(|error| Error::engine(folder, error))?;
    super::schema::prepare(&created);
    Ok(created)
}

/// Two processes that create the same index at once must not write over each other: the second waits, up to two
/// seconds, and then finds a finished index.
fn lock_for_creation(folder: &Path, directory: &SharedDirectory) -> Result<DirectoryLock> {
    for _ in 0..200 {
        match directory.acquire_lock(&INDEX_WRITER_LOCK) {
            Ok(lock) => return Ok(lock),
            Err(LockError::LockBusy) => thread::sleep(Duration::from_millis(10)),
            Err(error) => return Err(Error::engine(folder, error.into())),
        }
    }
    Err(Error::Locked { folder: folder.to_path_buf(), holder: holder(folder) })
}

/// Opens an index that is there.
pub(crate) fn open(folder: &Path, fields: &Fields) -> Result<tantivy::Index> {
    match look(folder)? {
        Found::Missing => return Err(Error::NotFound { folder: folder.to_path_buf(), found: "missing" }),
        Found::Empty => return Err(Error::NotFound { folder: folder.to_path_buf(), found: "empty" }),
        Found::Unfinished => {
            let problem = format!("it has a {FORMAT_FILE} and no {META_FILE}");
            return Err(Error::Corrupt { folder: folder.to_path_buf(), problem });
        }
        Found::Index => {}
    }
    check_format(folder)?;
    let index = tantivy::Index::open(open_directory(folder)?).map_err(|error| Error::engine(folder, error))?;
    super::schema::prepare(&index);
    if index.schema() != fields.schema {
        let problem = "its fields are not those of the format it states".to_owned();
        return Err(Error::Corrupt { folder: folder.to_path_buf(), problem });
    }
    Ok(index)
}

fn check_format(folder: &Path) -> Result<()> {
    let path = folder.join(FORMAT_FILE);
    let bytes = fs::read(&path).map_err(|error| Error::io("read", &path, error))?;
    let expected = format_name();
    if bytes == expected.as_bytes() {
        return Ok(());
    }
    let found: String = String::from_utf8_lossy(&bytes).chars().take(120).collect();
    Err(Error::Incompatible { folder: folder.to_path_buf(), found, expected })
}

/// Removes an index, whatever its state; a folder that is no index is refused and left alone.
pub(crate) fn remove(folder: &Path) -> Result<()> {
    match look(folder)? {
        Found::Missing | Found::Empty => return Ok(()),
        Found::Index | Found::Unfinished => {}
    }
    let directory = open_directory(folder)?;
    let _lock = directory.acquire_lock(&INDEX_WRITER_LOCK).map_err(|error| locked(folder, error))?;
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| Error::io("read", folder, error))? {
        files.push(entry.map_err(|error| Error::io("read", folder, error))?.path());
    }
    // The lock files go with their locks. The format file goes last: until then the folder is known as ours.
    files.retain(|path| path.file_name().is_none_or(|name| !is_lock(&name.to_string_lossy())));
    files.sort_by_key(|path| path.ends_with(FORMAT_FILE));
    for file in files {
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::io("remove", &file, error)),
            _ => {}
        }
    }
    Ok(())
}

fn locked(folder: &Path, error: LockError) -> Error {
    match Error::engine(folder, error.into()) {
        Error::Locked { folder, .. } => {
            let holder = holder(&folder);
            Error::Locked { folder, holder }
        }
        other => other,
    }
}

/// Says who writes: for a second writer's error, and so that a writer that never came to its end leaves a trace
/// ([`was_left`]), even when the power went; hence it is synced.
pub(crate) fn name_holder(folder: &Path, writer: &str) -> Result<()> {
    let process = std::process::id();
    let text = if writer.is_empty() { format!("process {process}") } else { format!("{writer} (process {process})") };
    let path = folder.join(HOLDER_FILE);
    let written = fs::File::create(&path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.map_err(|error| Error::io("write", &path, error))
}

pub(crate) fn forget_holder(folder: &Path) {
    // A name left behind costs one full check when the index is opened next.
    let _ = fs::remove_file(folder.join(HOLDER_FILE));
}

/// Whether a writer was ended before its end: it left its name, and nobody holds the lock.
pub(crate) fn was_left(folder: &Path, engine: &tantivy::Index) -> bool {
    folder.join(HOLDER_FILE).exists() && engine.directory().acquire_lock(&INDEX_WRITER_LOCK).is_ok()
}

/// Removes the trace of a writer that never came to its end, once all has been checked.
pub(crate) fn forget_left(folder: &Path, engine: &tantivy::Index) {
    if let Ok(_lock) = engine.directory().acquire_lock(&INDEX_WRITER_LOCK) {
        forget_holder(folder);
    }
}

/// Who holds the writer's lock, as far as it said so.
pub(crate) fn holder(folder: &Path) -> String {
    match fs::read_to_string(folder.join(HOLDER_FILE)) {
        Ok(text) if !text.trim().is_empty() => text.trim().chars().take(200).collect(),
        _ => "a process that did not give its name".to_owned(),
    }
}

/// Writes through a temporary file, so that a reader sees the old or the new whole.
fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = path.with_file_name(format!("{TEMPORARY}{}", std::process::id()));
    let written = fs::File::create(&temporary)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, path));
    written.map_err(|error| {
        let _ = fs::remove_file(&temporary);
        Error::io("write", path, error)
    })
}

fn open_directory(folder: &Path) -> Result<SharedDirectory> {
    let inner = MmapDirectory::open(folder).map_err(|error| Error::engine(folder, error.into()))?;
    Ok(SharedDirectory { inner })
}

/// The engine's directory, which can also be read where nothing may be written.
///
/// Readers take a lock file against a writer's clean-up; on read-only media there is no writer, and no lock file can
/// be made either.
#[derive(Debug, Clone)]
struct SharedDirectory {
    inner: MmapDirectory,
}

impl Directory for SharedDirectory {
    fn get_file_handle(&self, path: &Path) -> std::result::Result<Arc<dyn FileHandle>, OpenReadError> {
        self.inner.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> std::result::Result<(), DeleteError> {
        self.inner.delete(path)
    }

    fn exists(&self, path: &Path) -> std::result::Result<bool, OpenReadError> {
        self.inner.exists(path)
    }

    fn open_write(&self, path: &Path) -> std::result::Result<WritePtr, OpenWriteError> {
        self.inner.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> std::result::Result<Vec<u8>, OpenReadError> {
        self.inner.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.inner.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.inner.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> std::result::Result<DirectoryLock, LockError> {
        match self.inner.acquire_lock(lock) {
            Err(LockError::IoError(error)) if lock.filepath == META_LOCK.filepath && refuses_writing(&error) => {
                Ok(DirectoryLock::from(Box::new(())))
            }
            other => other,
        }
    }

    fn watch(&self, watch_callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.inner.watch(watch_callback)
    }
}

fn refuses_writing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// What tells one commit of a folder from another, for one `stat` call: each commit is a new file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommitMark {
    modified: Option<std::time::SystemTime>,
    length: u64,
    inode: u64,
}

/// The mark of the folder's last commit; `None` when the folder is gone.
pub(crate) fn commit_mark(folder: &Path) -> Option<CommitMark> {
    let path: PathBuf = folder.join(META_FILE);
    let metadata = fs::metadata(path).ok()?;
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(&metadata);
    #[cfg(not(unix))]
    let inode = 0;
    Some(CommitMark { modified: metadata.modified().ok(), length: metadata.len(), inode })
}
