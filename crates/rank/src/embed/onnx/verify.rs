//! Whether the files of a model are those that its manifest states.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::scratch::Scratch;
use crate::model::Manifest;
use crate::model::hash::{hash_file, hexadecimal};

/// What was found out of a file the last time it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    bytes: u64,
    /// When it was last changed, in nanoseconds since 1970.
    changed: u128,
    sha256: String,
}

/// Compares the files with their hashes. Files that look as they did when they were last read (by size and time of
/// change) are not read again; `Err` says which one differs.
pub(super) fn verify(folder: &Path, manifest: &Manifest, scratch: Option<&Scratch>) -> Result<(), String> {
    // One list for each folder, wherever it is seen from.
    let canonical = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    let name = format!("files-{}", &hexadecimal(&Sha256::digest(canonical.as_os_str().as_encoded_bytes()))[..16]);
    let mut known: BTreeMap<String, Known> = scratch
        .and_then(|scratch| scratch.open(&name))
        .and_then(|list| serde_json::from_slice(&list).ok())
        .unwrap_or_default();
    let mut read = false;
    for (file, expected) in &manifest.files {
        let path = folder.join(file);
        let state = || {
            let metadata = fs::metadata(&path)?;
            Ok((metadata.len(), changed(&metadata)))
        };
        let unreadable = |error: std::io::Error| format!("{file} cannot be read: {error}");
        let (bytes, changed) = state().map_err(unreadable)?;
        let looks_the_same = |known: &&Known| known.bytes == bytes && known.changed == changed && changed != 0;
        let sha256 = match known.get(file).filter(looks_the_same) {
            Some(known) => known.sha256.clone(),
            None => {
                let sha256 = hash_file(&path, &mut |_| {}).map_err(unreadable)?;
                // A file that changes while it is read is looked at again the next time.
                if (bytes, changed) == state().map_err(unreadable)? {
                    known.insert(file.clone(), Known { bytes, changed, sha256: sha256.clone() });
                    read = true;
                }
                sha256
            }
        };
        if !sha256.eq_ignore_ascii_case(expected) {
            return Err(format!("{file} has the SHA-256 {sha256}, the manifest states {expected}"));
        }
    }
    if let (true, Some(scratch)) = (read, scratch)
        && let Ok(list) = serde_json::to_vec(&known)
    {
        // Without it, the files are read again the next time.
        let _ = scratch.write(&name, &list);
    }
    Ok(())
}

/// Zero where the system does not tell.
fn changed(metadata: &Metadata) -> u128 {
    let time = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    time.map_or(0, |time| time.as_nanos())
}

#[cfg(test)]
mod tests {
    use std::fs::FileTimes;
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn files_are_read_when_they_look_changed() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("model.onnx");
        let hash = hexadecimal(&Sha256::digest(b"graph"));
        let manifest = Manifest {
            files: BTreeMap::from([("model.onnx".to_owned(), hash)]),
            ..crate::model::known("multilingual-e5-small").unwrap().manifest()
        };
        let scratch = Scratch::new(&place.path().join("cache"));
        let written_at = |content: &str, seconds: u64| {
            fs::write(&path, content).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_times(FileTimes::new().set_modified(time)).unwrap();
        };
        let check = |scratch| verify(place.path(), &manifest, scratch);

        assert!(check(Some(&scratch)).unwrap_err().starts_with("model.onnx cannot be read"));
        written_at("graph", 1_000);
        assert_eq!(check(Some(&scratch)), Ok(()));
        // The same size and time: it is not read, unless nothing was remembered.
        written_at("GRAPH", 1_000);
        assert_eq!(check(Some(&scratch)), Ok(()));
        assert!(check(None).unwrap_err().starts_with("model.onnx has the SHA-256"));
        written_at("GRAPH", 1_001);
        assert!(check(Some(&scratch)).is_err());
        written_at("graph", 1_002);
        assert_eq!(check(Some(&scratch)), Ok(()));
        written_at("graphs", 1_002);
        assert!(check(Some(&scratch)).is_err());
    }
}
