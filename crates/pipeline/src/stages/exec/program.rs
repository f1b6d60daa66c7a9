//! Finds programs, and what they inherit.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::stage::{BuildContext, StageError};

/// What a program inherits of our own environment, besides what the file gives it.
///
/// This is the one place where the crate touches the environment: it is handed on, and no result depends on it.
pub(super) fn inherited() -> impl Iterator<Item = (&'static str, OsString)> {
    ["PATH", "HOME", "LANG"].into_iter().filter_map(|name| std::env::var_os(name).map(|value| (name, value)))
}

/// The file of a program: a path when the name has a `/`, else looked up in the folders of `PATH`.
pub(super) fn find(name: &str, context: &BuildContext) -> Result<PathBuf, StageError> {
    if name.contains('/') {
        let path = context.path(name);
        // Absolute, since the program starts in a folder of its own.
        let path = path.canonicalize().map_err(|error| super::super::files::io_error("start", &path, &error))?;
        return match runnable(&path) {
            true => Ok(path),
            false if path.is_dir() => {
                Err(StageError::permanent(format!("{} is a folder, not a program", path.display())))
            }
            false => Err(StageError::permanent(format!("{} is not executable", path.display()))
                .hint("make it so with `chmod +x`, or name its interpreter as `program` and the file in `args`")),
        };
    }
    let path = inherited().find(|(name, _)| *name == "PATH").map(|(_, path)| path).unwrap_or_default();
    look_up(name, &path).ok_or_else(|| {
        StageError::permanent(format!("there is no program \"{name}\" in the folders of PATH"))
            .hint("install it, or name it by a path that starts at the folder of the pipeline file, such as \"./tool\"")
    })
}

fn look_up(name: &str, path: &OsStr) -> Option<PathBuf> {
    // An empty entry means the current folder to a shell; here it would make the result depend on where we run.
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|file| runnable(file))
}

fn runnable(file: &Path) -> bool {
    file.is_file() && access(file, Access::EXEC_OK).is_ok()
}
