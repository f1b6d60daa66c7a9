//! Vectors on their way into a file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crc32fast::Hasher;

use super::file::{FOOTER, HEADER, VectorFile, footer_end, header};
use super::half_float::{store, stride};
use super::record::{FileRecord, Unfinished, path_of};
use super::{MAX_DIMENSION, Row};
use crate::error::{Error, Result};

/// Writes one [`VectorFile`], row by row.
///
/// Memory is bounded: nine bytes a row are kept until the end. The file gets its name when it is complete, synced and
/// read back; until then it is a temporary one, which dropping the writer removes.
#[derive(Debug)]
pub struct VectorWriter {
    dimension: usize,
    fingerprint: String,
    target: Target,
    stamps: Vec<u64>,
    parts: Vec<u8>,
    last: Option<Row>,
    row: Vec<u16>,
}

#[derive(Debug)]
enum Target {
    File { file: BufWriter<File>, checksum: Hasher, unfinished: Unfinished },
    Memory(Vec<u16>),
}

impl VectorWriter {
    /// Begins the file `name` in a folder that exists.
    ///
    /// # Errors
    /// [`Error::Io`] when the folder cannot be written; [`Error::InvalidConfig`] when the dimension is not within 1 to
    /// [`MAX_DIMENSION`].
    pub fn create(folder: &Path, name: &str, dimension: usize, fingerprint: &str) -> Result<Self> {
        path_of(folder, name)?;
        let unfinished = Unfinished::new(folder, name)?;
        let file = File::create(&unfinished.path).map_err(|error| Error::io("create", &unfinished.path, error))?;
        let file = BufWriter::with_capacity(1 << 18, file);
        let mut writer = Self::new(dimension, fingerprint, Target::File { file, checksum: Hasher::new(), unfinished })?;
        writer.put(&header(dimension, fingerprint))?;
        Ok(writer)
    }

    /// Begins rows that stay in memory.
    ///
    /// # Errors
    /// [`Error::InvalidConfig`] when the dimension is not within 1 to [`MAX_DIMENSION`].
    pub fn in_memory(dimension: usize, fingerprint: &str) -> Result<Self> {
        Self::new(dimension, fingerprint, Target::Memory(Vec::new()))
    }

    fn new(dimension: usize, fingerprint: &str, target: Target) -> Result<Self> {
        if !(1..=MAX_DIMENSION).contains(&dimension) {
            return Err(Error::InvalidConfig {
                setting: "dimension".to_owned(),
                found: dimension.to_string(),
                expected: "1 to 8192",
            });
        }
        let fingerprint = fingerprint.to_owned();
        let (stamps, parts) = (Vec::new(), Vec::new());
        Ok(Self { dimension, fingerprint, target, stamps, parts, last: None, row: Vec::new() })
    }

    /// The rows so far.
    pub fn rows(&self) -> usize {
        self.stamps.len()
    }

    /// Adds a vector, made unit length. `id` names the document in errors.
    ///
    /// # Errors
    /// [`Error::InvalidDocument`] when the vector is of another size, zero, or not finite in all its numbers, or the
    /// row does not follow the last one; the writer remains usable. [`Error::Io`] when the disk is full.
    pub fn push(&mut self, row: Row, id: &str, vector: &[f32]) -> Result<()> {
        let mut numbers = std::mem::take(&mut self.row);
        let stored = store(vector, self.dimension, &mut numbers);
        let added = match stored.and_then(|()| self.check_order(row)) {
            Ok(()) => self.append(row, &numbers),
            Err(problem) => Err(Error::InvalidDocument { id: id.chars().take(80).collect(), problem }),
        };
        self.row = numbers;
        added
    }

    fn check_order(&self, row: Row) -> std::result::Result<(), String> {
        match self.last {
            Some(last) if row < last => Err(format!(
                "its version {} (part {}) comes after version {} (part {}), expected ascending versions",
                row.stamp, row.part, last.stamp, last.part
            )),
            _ => Ok(()),
        }
    }

    /// Adds a row that is stored already; it does not come before the last one.
    pub(super) fn append(&mut self, row: Row, numbers: &[u16]) -> Result<()> {
        debug_assert!(numbers.len() == stride(self.dimension) && self.last.is_none_or(|last| last <= row));
        match &mut self.target {
            Target::Memory(halves) => halves.extend_from_slice(numbers),
            Target::File { .. } => self.put(bytemuck::cast_slice(numbers))?,
        }
        self.last = Some(row);
        self.stamps.push(row.stamp.to_le());
        self.parts.push(row.part);
        Ok(())
    }

    /// Appends to the file; memory has no bytes besides its rows.
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        if let Target::File { file, checksum, unfinished } = &mut self.target {
            checksum.update(bytes);
            file.write_all(bytes).map_err(|error| Error::io("write", &unfinished.path, error))?;
        }
        Ok(())
    }

    /// Completes the file: syncs it, reads it back, and gives it its name.
    ///
    /// # Errors
    /// [`Error::Io`] when the disk is full or fails; [`Error::Corrupt`] when what was read back is not what was
    /// written. No file of the final name is left or replaced then.
    pub fn finish(mut self) -> Result<VectorFile> {
        let (stamps, parts) = (std::mem::take(&mut self.stamps), std::mem::take(&mut self.parts));
        let rows = stamps.len() as u64;
        self.put(bytemuck::cast_slice(&stamps))?;
        self.put(&parts)?;
        self.put(&rows.to_le_bytes())?;
        let (mut file, crc32, unfinished) = match self.target {
            Target::Memory(halves) => return Ok(VectorFile::in_memory(self.dimension, halves, (stamps, parts))),
            Target::File { file, checksum, unfinished } => (file, checksum.finalize(), unfinished),
        };
        let written = file
            .write_all(&footer_end(crc32))
            .and_then(|()| file.into_inner().map_err(std::io::IntoInnerError::into_error))
            .and_then(|file| file.sync_all());
        written.map_err(|error| Error::io("write", &unfinished.path, error))?;

        let bytes = (HEADER + FOOTER + stamps.len() * (stride(self.dimension) * 2 + 9)) as u64;
        let mut record =
            FileRecord { name: unfinished.temporary_name(), bytes, rows, crc32, dimension: self.dimension };
        VectorFile::open(unfinished.folder(), &record, &self.fingerprint)?.verify_full()?;
        unfinished.name().clone_into(&mut record.name);
        let folder = unfinished.folder().to_path_buf();
        unfinished.publish()?;
        VectorFile::open(&folder, &record, &self.fingerprint)
    }
}
