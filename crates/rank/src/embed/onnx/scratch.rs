//! The cache: files that can be made anew at any time, each with a seal that tells damage.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crc32fast::Hasher;
use memmap2::Mmap;

use crate::vectors::map::map;

/// A folder for files that are derived from others. Nothing here is ever missed: what cannot be read is made anew, and
/// what cannot be written is not kept.
#[derive(Debug, Clone)]
pub(super) struct Scratch {
    folder: PathBuf,
}

/// What stands at the end of each file, after its content: this mark, the number of bytes before the seal, and their
/// CRC-32.
const MARK: &[u8; 8] = b"hatirC1\n";
const SEAL: usize = 8 + 8 + 4;

impl Scratch {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf() }
    }

    /// The content of a file, mapped; `None` when it is not there or damaged.
    ///
    /// The bytes are read once for the checksum, through a buffer and not through the mapping: pages that nobody needs
    /// again would count as memory of the process.
    pub(super) fn open(&self, name: &str) -> Option<Sealed> {
        let mut file = File::open(self.folder.join(name)).ok()?;
        let content = usize::try_from(file.metadata().ok()?.len()).ok()?.checked_sub(SEAL)?;
        let mut checksum = Hasher::new();
        let mut buffer = vec![0; 1 << 18];
        let mut left = content;
        while left > 0 {
            let piece = left.min(buffer.len());
            file.read_exact(&mut buffer[..piece]).ok()?;
            checksum.update(&buffer[..piece]);
            left -= piece;
        }
        let mut seal = [0; SEAL];
        file.read_exact(&mut seal).ok()?;
        if seal != seal_of(content, checksum) {
            return None;
        }
        let map = map(&file).ok()?;
        (map.len() == content + SEAL).then_some(Sealed { map, content })
    }

    /// A path in the folder that nobody else uses, for a file that is to be sealed; it is removed if that never
    /// happens.
    pub(super) fn unfinished(&self, name: &str) -> io::Result<Unfinished> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        fs::create_dir_all(&self.folder)?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(format!("{name}.{}-{number}.unfinished", std::process::id()));
        Ok(Unfinished { path, target: self.folder.join(name) })
    }

    /// Writes a whole file.
    pub(super) fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let unfinished = self.unfinished(name)?;
        fs::write(&unfinished.path, content)?;
        unfinished.seal()
    }

    /// Removes a file, if it is there.
    pub(super) fn remove(&self, name: &str) {
        let _ = fs::remove_file(self.folder.join(name));
    }

    /// Removes the files with this beginning, but for the one named: what other versions left.
    pub(super) fn remove_others(&self, beginning: &str, but: &str) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(beginning) && name != but && !name.ends_with(".unfinished") {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

fn seal_of(content: usize, checksum: Hasher) -> [u8; SEAL] {
    let mut seal = [0; SEAL];
    seal[..8].copy_from_slice(MARK);
    seal[8..16].copy_from_slice(&(content as u64).to_le_bytes());
    seal[16..].copy_from_slice(&checksum.finalize().to_le_bytes());
    seal
}

/// A file on its way into the cache.
#[derive(Debug)]
pub(super) struct Unfinished {
    pub(super) path: PathBuf,
    target: PathBuf,
}

impl Unfinished {
    /// Adds the seal and gives the file its name. It is not synced: after a crash the seal tells.
    pub(super) fn seal(self) -> io::Result<()> {
        let mut file = fs::OpenOptions::new().read(true).write(true).open(&self.path)?;
        let mut checksum = Hasher::new();
        let mut buffer = vec![0; 1 << 18];
        let mut content = 0;
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            checksum.update(&buffer[..read]);
            content += read;
        }
        file.write_all(&seal_of(content, checksum))?;
        drop(file);
        fs::rename(&self.path, &self.target)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // After a rename there is nothing under this name.
        let _ = fs::remove_file(&self.path);
    }
}

/// The content of a file that is as it was written.
#[derive(Debug)]
pub(super) struct Sealed {
    map: Mmap,
    content: usize,
}

impl std::ops::Deref for Sealed {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map[..self.content]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_there() {
        let place = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(&place.path().join("new/folder"));
        assert!(scratch.open("a").is_none());
        for content in [&b""[..], b"content", &vec![7; 300_000]] {
            scratch.write("a", content).unwrap();
            assert_eq!(&*scratch.open("a").unwrap(), content);
        }
    }

    #[test]
    fn every_changed_bit_is_noticed() {
        let place = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(place.path());
        scratch.write("a", b"some content").unwrap();
        let path = place.path().join("a");
        let whole = fs::read(&path).unwrap();
        for bit in 0..whole.len() * 8 {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, &damaged).unwrap();
            assert!(scratch.open("a").is_none(), "bit {bit}");
        }
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(scratch.open("a").is_none(), "cut at {length}");
        }
        fs::write(&path, [&whole[..], b"x"].concat()).unwrap();
        assert!(scratch.open("a").is_none());
        fs::write(&path, &whole).unwrap();
        assert!(scratch.open("a").is_some());
    }

    #[test]
    fn nothing_unfinished_stays() {
        let place = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(place.path());
        let unfinished = scratch.unfinished("a").unwrap();
        fs::write(&unfinished.path, "half").unwrap();
        drop(unfinished);
        scratch.write("graph-1-old", b"1").unwrap();
        scratch.write("graph-1-new", b"2").unwrap();
        scratch.write("graph-2-old", b"3").unwrap();
        scratch.remove_others("graph-1-", "graph-1-new");
        let mut names: Vec<_> = fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["graph-1-new", "graph-2-old"]);
    }
}
