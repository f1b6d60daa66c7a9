//! Where changes to the folder of models are prepared, one at a time for each model.
//!
//! ```text
//! <root>/.work/<name>.lock        held by the process that changes the model
//! <root>/.work/<name>/…part       what has been fetched so far, kept for the next attempt
//! <root>/.work/<name>/stage/      the new folder until it is complete
//! <root>/.work/<name>/old/        the folder that is being replaced or removed
//! ```
//! All of it lies on the same file system as the models, so that a folder comes and goes by one rename.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The folder of unfinished work in a folder of models.
pub(super) const WORK_FOLDER: &str = ".work";

/// The right to change one model, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    root: PathBuf,
    name: String,
    work: PathBuf,
    // The system frees the lock with the file, also when the process is killed.
    _lock: File,
}

impl Place {
    /// Takes the model's lock and clears away what an interrupted change left.
    ///
    /// # Errors
    /// [`Error::ModelBusy`] when another process holds the lock; [`Error::Io`].
    pub(super) fn take(root: &Path, name: &str) -> Result<Self> {
        let works = root.join(WORK_FOLDER);
        fs::create_dir_all(&works).map_err(|error| Error::io("create", &works, error))?;
        let lock = lock(&works.join(format!("{name}.lock")), name)?;
        let place = Self { root: root.to_path_buf(), name: name.to_owned(), work: works.join(name), _lock: lock };
        place.recover()?;
        Ok(place)
    }

    /// The model's folder, there or not.
    pub(super) fn target(&self) -> PathBuf {
        self.root.join(&self.name)
    }

    /// Where parts are kept; it exists.
    #[cfg(feature = "install")]
    pub(super) fn work(&self) -> Result<&Path> {
        fs::create_dir_all(&self.work).map_err(|error| Error::io("create", &self.work, error))?;
        Ok(&self.work)
    }

    fn stage(&self) -> PathBuf {
        self.work.join("stage")
    }

    fn old(&self) -> PathBuf {
        self.work.join("old")
    }

    fn recover(&self) -> Result<()> {
        let (old, target) = (self.old(), self.target());
        // The old folder was moved away, and the new one did not come: the old one is what was last complete. After
        // a removal it is gone for good, which `remove` says by a mark in it.
        if exists(&old)? && !exists(&target)? && !exists(&old.join(REMOVED))? {
            rename(&old, &target)?;
        }
        remove_tree(&old)?;
        remove_tree(&self.stage())
    }

    /// An empty folder to fill.
    #[cfg(feature = "install")]
    pub(super) fn begin(&self) -> Result<Stage<'_>> {
        let folder = self.stage();
        remove_tree(&folder)?;
        fs::create_dir_all(&folder).map_err(|error| Error::io("create", &folder, error))?;
        Ok(Stage { place: self, folder })
    }

    /// Takes the model's folder away for good, and what was fetched for it.
    pub(super) fn remove(self) -> Result<()> {
        fs::create_dir_all(&self.work).map_err(|error| Error::io("create", &self.work, error))?;
        let (old, target) = (self.old(), self.target());
        rename(&target, &old)?;
        sync_folder(&self.root)?;
        // From here on the model is gone. The mark keeps a later change from bringing back what could not be deleted;
        // nothing is lost when it cannot be written, for then the folder is there as it was.
        let _ = File::create(old.join(REMOVED));
        remove_tree(&self.work)
    }

    /// Forgets what was fetched: it has come into its place.
    #[cfg(feature = "install")]
    pub(super) fn finish(self) -> Result<()> {
        remove_tree(&self.work)
    }
}

/// Says in a folder under `old` that it was meant to go.
const REMOVED: &str = ".removed";

/// A folder that is being filled; it disappears unless it is published.
#[cfg(feature = "install")]
#[derive(Debug)]
pub(super) struct Stage<'a> {
    place: &'a Place,
    folder: PathBuf,
}

#[cfg(feature = "install")]
impl Stage<'_> {
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Puts the folder, whose files are synced, in the model's place; says whether another stood there.
    pub(super) fn publish(self) -> Result<bool> {
        sync_folder(&self.folder)?;
        let (old, target) = (self.place.old(), self.place.target());
        let replaces = exists(&target)?;
        if replaces {
            rename(&target, &old)?;
        }
        if let Err(error) = rename(&self.folder, &target) {
            if replaces {
                // `recover` does it at the next change when it fails now.
                let _ = fs::rename(&old, &target);
            }
            return Err(error);
        }
        sync_folder(&self.place.root)?;
        remove_tree(&old)?;
        Ok(replaces)
    }
}

#[cfg(feature = "install")]
impl Drop for Stage<'_> {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next change.
        let _ = remove_tree(&self.folder);
    }
}

fn lock(path: &Path, name: &str) -> Result<File> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    let mut file = file.map_err(|error| Error::io("open", path, error))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // Where a lock bars reading, too, the holder stays unnamed.
            let _ = (&mut file).take(200).read_to_string(&mut holder);
            let holder = if holder.trim().is_empty() { "another process" } else { holder.trim() };
            return Err(Error::ModelBusy { name: name.to_owned(), holder: holder.to_owned() });
        }
        Err(TryLockError::Error(error)) => return Err(Error::io("lock", path, error)),
    }
    let named = file.set_len(0).and_then(|()| file.write_all(format!("process {}", std::process::id()).as_bytes()));
    named.map_err(|error| Error::io("write", path, error))?;
    Ok(file)
}

fn exists(path: &Path) -> Result<bool> {
    path.try_exists().map_err(|error| Error::io("read", path, error))
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|error| Error::io("move a folder to", to, error))
}

fn remove_tree(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", path, error)),
        _ => Ok(()),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn put(folder: &Path, text: &str) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("file"), text).unwrap();
    }

    fn read(folder: &Path) -> Option<String> {
        fs::read_to_string(folder.join("file")).ok()
    }

    #[test]
    fn one_process_at_a_time_changes_a_model() {
        let root = tempfile::tempdir().unwrap();
        let place = Place::take(root.path(), "a").unwrap();
        let error = Place::take(root.path(), "a").unwrap_err();
        assert!(
            matches!(&error, Error::ModelBusy { name, holder } if name == "a" && holder.contains(&std::process::id().to_string())),
            "{error}"
        );
        Place::take(root.path(), "b").unwrap();
        drop(place);
        Place::take(root.path(), "a").unwrap();
    }

    /// Between the two renames of a replacement the old folder is all there is.
    #[test]
    fn a_change_that_was_cut_short_is_undone() {
        let root = tempfile::tempdir().unwrap();
        let (target, work) = (root.path().join("a"), root.path().join(".work/a"));
        put(&work.join("old"), "old");
        put(&work.join("stage"), "new");
        Place::take(root.path(), "a").unwrap();
        assert_eq!(read(&target).as_deref(), Some("old"));
        assert!(!work.join("stage").exists() && !work.join("old").exists());

        put(&work.join("old"), "older");
        Place::take(root.path(), "a").unwrap();
        assert_eq!(read(&target).as_deref(), Some("old"), "a folder that is in its place is the newest");
        assert!(!work.join("old").exists());
    }

    #[test]
    fn what_was_removed_does_not_come_back() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("a");
        put(&target, "old");
        Place::take(root.path(), "a").unwrap().remove().unwrap();
        assert!(!target.exists() && !root.path().join(".work/a").exists());

        // The removal was killed between the rename and the end.
        put(&root.path().join(".work/a/old"), "old");
        fs::write(root.path().join(".work/a/old").join(REMOVED), "").unwrap();
        Place::take(root.path(), "a").unwrap();
        assert!(!target.exists());
    }

    #[cfg(feature = "install")]
    #[test]
    fn a_stage_comes_whole_or_not_at_all() {
        let root = tempfile::tempdir().unwrap();
        let place = Place::take(root.path(), "a").unwrap();
        let stage = place.begin().unwrap();
        put(stage.folder(), "dropped");
        drop(stage);
        assert!(!place.target().exists());

        let stage = place.begin().unwrap();
        put(stage.folder(), "one");
        assert!(!stage.publish().unwrap());
        let stage = place.begin().unwrap();
        put(stage.folder(), "two");
        assert!(stage.publish().unwrap());
        assert_eq!(read(&place.target()).as_deref(), Some("two"));
        place.finish().unwrap();
        assert!(!root.path().join(".work/a").exists());
    }
}
