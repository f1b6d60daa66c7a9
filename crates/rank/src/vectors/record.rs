//! What a commit knows of a file, and how files come into a folder.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// How the names of files begin that are about to be renamed. An index's folder may hold some after a kill.
const TEMPORARY: &str = "hatir-rank.tmp";

/// Whether a file's name says that its writer never finished. The holder of the writer's lock may remove it.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY)
}

/// What a commit keeps of a vector file: enough to tell it from any other, and from what is left of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRecord {
    /// Its name within the index's folder.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// How many vectors it holds.
    pub rows: u64,
    /// The CRC-32 (IEEE) of all its bytes before the one in its footer.
    pub crc32: u32,
    /// The length of its vectors.
    pub dimension: usize,
}

/// Where a file of a record stands; a name that leads out of the folder is refused.
pub(super) fn path_of(folder: &Path, name: &str) -> Result<PathBuf> {
    if Path::new(name).file_name().is_none_or(|own| own != name) {
        return Err(corrupt(folder, format!("it lists {name:?}, which is no name of a file")));
    }
    Ok(folder.join(name))
}

pub(super) fn corrupt(folder: &Path, problem: String) -> Error {
    Error::Corrupt { folder: folder.to_path_buf(), problem }
}

/// Opens a file that a commit lists, and checks its size.
pub(super) fn open_listed(folder: &Path, name: &str, bytes: u64) -> Result<File> {
    let path = path_of(folder, name)?;
    let file = File::open(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => corrupt(folder, format!("the file {name} is missing")),
        _ => Error::io("open", &path, error),
    })?;
    let found = file.metadata().map_err(|error| Error::io("read", &path, error))?.len();
    if found != bytes {
        return Err(corrupt(folder, format!("the file {name} has {found} bytes, expected {bytes}")));
    }
    Ok(file)
}

/// A file that is written under a temporary name; it disappears unless it is published.
#[derive(Debug)]
pub(super) struct Unfinished {
    pub(super) path: PathBuf,
    folder: PathBuf,
    name: String,
    published: bool,
}

impl Unfinished {
    pub(super) fn new(folder: &Path, name: &str) -> Result<Self> {
        path_of(folder, name)?;
        let path = folder.join(format!("{TEMPORARY}{}.{name}", std::process::id()));
        Ok(Self { path, folder: folder.to_path_buf(), name: name.to_owned(), published: false })
    }

    /// The name it will have.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its name within the folder until then.
    pub(super) fn temporary_name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Gives the synced file its name, for good.
    pub(super) fn publish(mut self) -> Result<()> {
        let path = self.folder.join(&self.name);
        fs::rename(&self.path, &path).map_err(|error| Error::io("rename a finished file to", &path, error))?;
        self.published = true;
        sync_folder(&self.folder)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.published {
            // What cannot be removed now is removed with other left-overs, see `is_temporary`.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Makes new names in a folder survive a loss of power.
fn sync_folder(folder: &Path) -> Result<()> {
    // Only Unix opens folders as files; elsewhere the rename is as durable as the system makes it.
    if cfg!(unix) {
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| Error::io("sync", folder, error))?;
    }
    Ok(())
}
