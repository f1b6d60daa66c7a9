//! Files in memory without reading them.

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// Maps a file that nobody changes.
#[expect(unsafe_code, reason = "the one place where a file is mapped")]
pub(crate) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: memory that is shared with a file must not change while it is borrowed. The files of this module are
    // written under another name, renamed when complete and synced, and from then on only ever read or removed; a
    // removed file's content lives on until its last mapping goes. Whoever writes into the folder by other means
    // breaks this as he could break the process itself.
    unsafe { Mmap::map(file) }
}

/// Says that the mapping is read from front to end next, so that the system reads ahead; merely advice.
pub(super) fn read_ahead(map: &Mmap) {
    #[cfg(unix)]
    let _ = map.advise(memmap2::Advice::Sequential);
    #[cfg(not(unix))]
    let _ = map;
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_mapping_outlives_its_file() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        fs::write(&path, "content").unwrap();
        let mapped = map(&File::open(&path).unwrap()).unwrap();
        read_ahead(&mapped);
        fs::write(place.path().join("new"), "other").unwrap();
        fs::rename(place.path().join("new"), &path).unwrap();
        assert_eq!(&mapped[..], b"content", "a file that is replaced stays what it was for those who have it");
        if cfg!(unix) {
            fs::remove_file(&path).unwrap();
            assert_eq!(&mapped[..], b"content");
        }
        fs::write(&path, "").unwrap();
        assert!(map(&File::open(&path).unwrap()).unwrap().is_empty());
    }
}
