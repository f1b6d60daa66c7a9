//! One file of vectors, mapped or in memory.
//!
//! ```text
//! header   64 bytes   magic (8), version (4), dimension (4), hash of the fingerprint (8), zeros
//! rows     2 × stride bytes each: half-precision floats, padded with zeros to a multiple of 64 bytes
//! stamps   8 bytes each
//! parts    1 byte each
//! footer   20 bytes   number of rows (8), CRC-32 of all before it (4), magic (8)
//! ```
//! Numbers are little-endian. Opening checks the header, the footer and the sizes against each other and against the
//! record; the rows themselves are read when they are needed, or by [`VectorFile::verify_full`].

use std::ops::Range;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::half_float::stride;
use super::map::{map, read_ahead};
use super::record::{FileRecord, corrupt, open_listed};
use super::{MAX_DIMENSION, Row};
use crate::error::Result;

pub(super) const HEADER: usize = 64;
pub(super) const FOOTER: usize = 20;
const MAGIC: &[u8; 8] = b"HATIRVEC";
const END_MAGIC: &[u8; 8] = b"CEVRITAH";
const VERSION: u32 = 1;

/// Rows of vectors, ordered by stamp and part, that never change.
#[derive(Debug)]
pub struct VectorFile {
    pub(super) folder: PathBuf,
    record: FileRecord,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Mapped(Mmap),
    Memory { halves: Vec<u16>, stamps: Vec<u64>, parts: Vec<u8> },
}

impl VectorFile {
    /// Maps the file of a record. Costs some system calls whatever its size.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) names the file when it is missing, is another or has another size
    /// than recorded, or holds vectors of another model than `fingerprint` names; [`Error::Io`](crate::Error::Io).
    pub fn open(folder: &Path, record: &FileRecord, fingerprint: &str) -> Result<Self> {
        let name = &record.name;
        let file = open_listed(folder, name, record.bytes)?;
        let mapped = map(&file).map_err(|error| crate::Error::io("map", &folder.join(name), error))?;
        check(&mapped, record, fingerprint).map_err(|problem| corrupt(folder, format!("the file {name} {problem}")))?;
        Ok(Self { folder: folder.to_path_buf(), record: record.clone(), content: Content::Mapped(mapped) })
    }

    /// Rows that were never written.
    pub(super) fn in_memory(dimension: usize, halves: Vec<u16>, rows: (Vec<u64>, Vec<u8>)) -> Self {
        let (stamps, parts) = rows;
        let record = FileRecord {
            name: "(memory)".to_owned(),
            bytes: (halves.len() * 2 + stamps.len() * 8 + parts.len()) as u64,
            rows: stamps.len() as u64,
            crc32: 0,
            dimension,
        };
        let content = Content::Memory { halves, stamps, parts };
        Self { folder: PathBuf::from("(memory)"), record, content }
    }

    /// What a commit keeps of it.
    pub fn record(&self) -> &FileRecord {
        &self.record
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.record.rows as usize
    }

    /// The length of the vectors.
    pub fn dimension(&self) -> usize {
        self.record.dimension
    }

    /// Reads the whole file and compares its checksum. Costs as much as reading it does.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) names the file when a bit is not as it was written.
    pub fn verify_full(&self) -> Result<()> {
        let Content::Mapped(mapped) = &self.content else { return Ok(()) };
        read_ahead(mapped);
        let found = crc32fast::hash(&mapped[..mapped.len() - FOOTER + 8]);
        if found != self.record.crc32 {
            let FileRecord { name, crc32, .. } = &self.record;
            let problem = format!("the file {name} has the checksum {found:08x}, expected {crc32:08x}");
            return Err(corrupt(&self.folder, problem));
        }
        Ok(())
    }

    /// All rows' numbers, one row after the other, each as long as [`stride`] says.
    pub(super) fn halves(&self) -> &[u16] {
        match &self.content {
            Content::Mapped(mapped) => bytemuck::cast_slice(&mapped[Layout::of(&self.record).halves]),
            Content::Memory { halves, .. } => halves,
        }
    }

    /// The numbers of one row.
    pub(super) fn row(&self, at: usize) -> &[u16] {
        let stride = stride(self.record.dimension);
        &self.halves()[at * stride..(at + 1) * stride]
    }

    /// Little-endian, as the file has them; see [`VectorFile::stamp`].
    pub(super) fn raw_stamps(&self) -> &[u64] {
        match &self.content {
            Content::Mapped(mapped) => bytemuck::cast_slice(&mapped[Layout::of(&self.record).stamps]),
            Content::Memory { stamps, .. } => stamps,
        }
    }

    pub(super) fn parts(&self) -> &[u8] {
        match &self.content {
            Content::Mapped(mapped) => &mapped[Layout::of(&self.record).parts],
            Content::Memory { parts, .. } => parts,
        }
    }

    /// Whose vectors there are, in order.
    pub fn keys(&self) -> impl Iterator<Item = Row> {
        let parts = self.parts().iter();
        self.raw_stamps().iter().zip(parts).map(|(stamp, part)| Row { stamp: u64::from_le(*stamp), part: *part })
    }

    /// The first and the last stamp; `None` without rows.
    pub fn span(&self) -> Option<(u64, u64)> {
        let stamps = self.raw_stamps();
        Some((u64::from_le(*stamps.first()?), u64::from_le(*stamps.last()?)))
    }

    /// Where the rows of a document stand.
    pub(super) fn find(&self, stamp: u64) -> Range<usize> {
        if self.span().is_none_or(|(first, last)| stamp < first || last < stamp) {
            return 0..0;
        }
        let stamps = self.raw_stamps();
        let start = stamps.partition_point(|found| u64::from_le(*found) < stamp);
        let length = stamps[start..].iter().take_while(|found| u64::from_le(**found) == stamp).count();
        start..start + length
    }
}

/// Where the regions of a file lie.
struct Layout {
    halves: Range<usize>,
    stamps: Range<usize>,
    parts: Range<usize>,
    end: usize,
}

impl Layout {
    /// Of a record that [`check`] has passed.
    fn of(record: &FileRecord) -> Self {
        let rows = record.rows as usize;
        let stamps = HEADER + rows * stride(record.dimension) * 2;
        let parts = stamps + rows * 8;
        let footer = parts + rows;
        Self { halves: HEADER..stamps, stamps: stamps..parts, parts: parts..footer, end: footer + FOOTER }
    }
}

/// The header of a file that is being written.
pub(super) fn header(dimension: usize, fingerprint: &str) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header[12..16].copy_from_slice(&(dimension as u32).to_le_bytes());
    header[16..24].copy_from_slice(&hash(fingerprint).to_le_bytes());
    header
}

/// The end of a footer; its beginning, the number of rows, is part of what the checksum covers.
pub(super) fn footer_end(crc32: u32) -> [u8; FOOTER - 8] {
    let mut end = [0; FOOTER - 8];
    end[..4].copy_from_slice(&crc32.to_le_bytes());
    end[4..].copy_from_slice(END_MAGIC);
    end
}

/// What is wrong with a file, as the end of a sentence.
fn check(bytes: &[u8], record: &FileRecord, fingerprint: &str) -> std::result::Result<(), String> {
    let FileRecord { rows, crc32, dimension, .. } = *record;
    if bytes.len() < HEADER + FOOTER {
        return Err(format!("has {} bytes, too few for a file of vectors", bytes.len()));
    }
    let expected = header(dimension, fingerprint);
    let version = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
    if bytes[..8] != expected[..8] {
        return Err("does not begin as a file of vectors does".to_owned());
    }
    if version != VERSION {
        return Err(format!("has the format {version}, this version reads {VERSION}"));
    }
    if bytes[12..16] != expected[12..16] || !(1..=MAX_DIMENSION).contains(&dimension) {
        let found = u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]);
        return Err(format!("holds vectors of {found} numbers, expected {dimension}"));
    }
    if bytes[16..24] != expected[16..24] {
        return Err(format!("holds vectors of another model than {fingerprint:?}"));
    }
    let (found, end) = bytes[bytes.len() - FOOTER..].split_at(8);
    if end[4..] != *END_MAGIC {
        return Err("does not end as a file of vectors does".to_owned());
    }
    // A file that says it holds more rows than any could is caught here, before sizes are multiplied.
    if found != rows.to_le_bytes() || rows > (bytes.len() as u64) || Layout::of(record).end != bytes.len() {
        return Err(format!("does not hold {rows} vectors"));
    }
    if end != footer_end(crc32) {
        return Err("is not the one that was committed: its checksum is another".to_owned());
    }
    Ok(())
}

/// FNV-1a with 64 bits (Fowler, Noll, Vo; <http://www.isthe.com/chongo/tech/comp/fnv/>), which no library changes.
pub(super) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
