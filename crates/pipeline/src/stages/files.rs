//! What the stages that read and write files share: bounded reading and messages that name the file.

use std::fmt::Display;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::cancel::Cancel;
use crate::stage::StageError;

/// The default of `max-bytes`: room for any corpus that is read in one piece, and no more than a laptop can spare.
pub(super) const DEFAULT_MAX_BYTES: u64 = 256 * 1024 * 1024;

pub(super) fn default_max_bytes() -> u64 {
    DEFAULT_MAX_BYTES
}

/// How much is read between two looks at the cancel signal.
const STEP: u64 = 1024 * 1024;

/// The error of work that was asked to stop.
pub(super) fn stopped() -> StageError {
    StageError::new("it was asked to stop before it was done")
}

/// An error of the system about a file.
pub(super) fn io_error(action: &str, path: &Path, error: &io::Error) -> StageError {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => Some("paths in a pipeline file start at the folder of that file"),
        io::ErrorKind::PermissionDenied => Some("see who may read and write the file and its folder"),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Some("free some space, or write elsewhere"),
        io::ErrorKind::ReadOnlyFilesystem => Some("write to another folder"),
        _ => None,
    };
    let found = StageError::permanent(format!("cannot {action} {}: {}", path.display(), reason(error)));
    match hint {
        Some(hint) => found.hint(hint),
        None => found,
    }
}

/// The system's sentence without the number that the standard library appends.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}

/// What is known of a path that must lead to something.
pub(super) fn metadata(path: &Path) -> Result<Metadata, StageError> {
    path.metadata().map_err(|error| io_error("read", path, &error))
}

/// Opens a regular file. Folders are refused, and so are pipes and devices, which may never end.
pub(super) fn open_regular(path: &Path) -> Result<File, StageError> {
    check_regular(path)?;
    File::open(path).map_err(|error| io_error("read", path, &error))
}

/// Checks that a path leads to a regular file.
pub(super) fn check_regular(path: &Path) -> Result<(), StageError> {
    let found = metadata(path)?;
    if found.is_dir() {
        return Err(StageError::permanent(format!("{} is a folder, expected a file", path.display())));
    }
    if !found.is_file() {
        let message = format!("{} is a pipe or a device, expected a regular file", path.display());
        return Err(StageError::permanent(message).hint("write what it gives into a file first"));
    }
    Ok(())
}

/// Reads a whole file of UTF-8 text, without its byte order mark and with `\n` for every line break.
///
/// `left` is the number of bytes that may still be read; what was read is taken off.
pub(super) fn read_text(path: &Path, left: &mut u64, cancel: &Cancel) -> Result<String, StageError> {
    let mut file = open_regular(path)?;
    let mut bytes = Vec::new();
    loop {
        if cancel.is_cancelled() {
            return Err(stopped());
        }
        let room = left.saturating_sub(bytes.len() as u64);
        // One byte more than there is room for tells a file that just fits from one that does not.
        let read = file
            .by_ref()
            .take(STEP.min(room + 1))
            .read_to_end(&mut bytes)
            .map_err(|error| io_error("read", path, &error))?;
        if read == 0 {
            break;
        }
        if bytes.len() as u64 > *left {
            return Err(too_large(path));
        }
    }
    *left -= bytes.len() as u64;
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let lines = bytes[..valid].split(|byte| *byte == b'\n');
        let (line, column) = lines.fold((0, 0), |(line, _), bytes| (line + 1, bytes.len() + 1));
        not_utf8(path, line, column, bytes[valid])
    })?;
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    };
    Ok(if text.contains('\r') { text.replace("\r\n", "\n") } else { text })
}

pub(super) fn too_large(path: &Path) -> StageError {
    StageError::permanent(format!("{} goes past what this stage may read", path.display()))
        .hint("raise `with.max-bytes`, or read fewer files")
}

/// The complaint about a byte that is no UTF-8; line and byte are counted from 1.
pub(super) fn not_utf8(path: &Path, line: usize, byte: usize, found: u8) -> StageError {
    let place = format!("{}, line {line}, byte {byte}", path.display());
    StageError::permanent(format!("{place}: found the byte 0x{found:02X}, expected text in UTF-8"))
        .hint("save the file as UTF-8, or leave it out")
}

/// A relative path whose last extension is taken off: `en/refunds.md` gives `en/refunds`.
pub(super) fn without_extension(path: &str) -> &str {
    let name_at = path.rfind('/').map_or(0, |at| at + 1);
    match path[name_at..].rfind('.') {
        Some(dot) if dot > 0 => &path[..name_at + dot],
        _ => path,
    }
}

/// The folder that a file stands in; `.` where the path is a bare name.
pub(super) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// A sentence about one port of a stage that was fed what it cannot use.
pub(super) fn unusable(port: &str, problem: impl Display) -> StageError {
    StageError::permanent(format!("what came in on the port \"{port}\" cannot be used: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_is_the_end_of_a_name() {
        assert_eq!(without_extension("en/refunds.md"), "en/refunds");
        assert_eq!(without_extension("v1.2/notes"), "v1.2/notes");
        assert_eq!(without_extension("en/.hidden"), "en/.hidden");
    }

    #[test]
    fn a_file_that_just_fits_is_read_and_one_byte_more_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "12345\r\n").unwrap();
        assert_eq!(read_text(&path, &mut 7, &Cancel::new()).unwrap(), "12345\n");
        let error = read_text(&path, &mut 6, &Cancel::new()).unwrap_err();
        assert!(error.hint.unwrap().contains("max-bytes"));
        let mut none_left = 0;
        assert!(read_text(&path, &mut none_left, &Cancel::new()).is_err());
    }

    #[test]
    fn a_cancelled_read_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "text").unwrap();
        let cancel = Cancel::new();
        cancel.cancel();
        assert!(read_text(&path, &mut 100, &cancel).unwrap_err().message.contains("asked to stop"));
    }

    #[test]
    fn the_first_byte_that_is_no_text_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::fs::write(&path, b"good\nba\xffd").unwrap();
        let error = read_text(&path, &mut 100, &Cancel::new()).unwrap_err();
        assert!(error.message.contains("a.txt, line 2, byte 3: found the byte 0xFF"), "{error}");
        assert!(!error.retryable);
    }
}
