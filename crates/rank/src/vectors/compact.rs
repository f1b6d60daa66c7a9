//! Few files instead of many, and no rows of documents that are gone.

use std::path::Path;
use std::sync::Arc;

use super::file::VectorFile;
use super::write::VectorWriter;
use crate::error::Result;

/// A merge of this many files of about the same size makes one: the number of files, and how often a row is written
/// again, then grow with the logarithm of the number of rows.
const FAN: usize = 4;

/// How full a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileState {
    /// The rows it holds.
    pub rows: usize,
    /// Those of them whose documents are there.
    pub live: usize,
}

impl FileState {
    /// Counts the rows of a file. Costs a pass over its stamps.
    pub fn of(file: &VectorFile, live: &dyn Fn(u64) -> bool) -> Self {
        let mut last = None;
        let mut count = 0;
        for key in file.keys() {
            let alive = match last {
                Some((stamp, alive)) if stamp == key.stamp => alive,
                _ => live(key.stamp),
            };
            last = Some((key.stamp, alive));
            count += usize::from(alive);
        }
        Self { rows: file.rows(), live: count }
    }

    fn size_class(self) -> u32 {
        self.live.max(1).ilog(FAN)
    }
}

/// Which files to merge, by their positions, ascending; `None` when they are well as they are.
///
/// A file of which more than 30 % is gone is written again, alone if need be; four files of about the same size
/// become one.
pub fn plan(files: &[FileState]) -> Option<Vec<usize>> {
    let wasteful = |file: &FileState| (file.rows - file.live.min(file.rows)) * 10 > file.rows * 3;
    let classes = files.iter().map(|file| file.size_class());
    let crowded = |class: u32| files.iter().filter(|file| file.size_class() == class).count() >= FAN;
    // The result of merging a class is of the next one, which it may crowd in turn: the next plan sees to that.
    let class = classes.filter(|class| crowded(*class)).min();
    let chosen: Vec<usize> = files
        .iter()
        .enumerate()
        .filter(|(_, file)| wasteful(file) || Some(file.size_class()) == class)
        .map(|(at, _)| at)
        .collect();
    (!chosen.is_empty()).then_some(chosen)
}

/// Writes the rows of live documents of some files into a new one, bit for bit; `None`, and no file, when none lives.
///
/// # Errors
/// As for [`VectorWriter`], which should be new and of the files' dimension.
pub fn merge(
    files: &[Arc<VectorFile>],
    live: &dyn Fn(u64) -> bool,
    folder: &Path,
    name: &str,
    fingerprint: &str,
) -> Result<Option<VectorFile>> {
    let Some(first) = files.first() else { return Ok(None) };
    let mut writer = VectorWriter::create(folder, name, first.dimension(), fingerprint)?;
    merge_into(files, live, &mut writer)?;
    if writer.rows() == 0 { Ok(None) } else { writer.finish().map(Some) }
}

/// The same in memory.
///
/// # Errors
/// None but those of rows of different dimensions.
pub fn merge_in_memory(
    files: &[Arc<VectorFile>],
    live: &dyn Fn(u64) -> bool,
    fingerprint: &str,
) -> Result<Option<VectorFile>> {
    let Some(first) = files.first() else { return Ok(None) };
    let mut writer = VectorWriter::in_memory(first.dimension(), fingerprint)?;
    merge_into(files, live, &mut writer)?;
    if writer.rows() == 0 { Ok(None) } else { writer.finish().map(Some) }
}

fn merge_into(files: &[Arc<VectorFile>], live: &dyn Fn(u64) -> bool, writer: &mut VectorWriter) -> Result<()> {
    let mut sources: Vec<_> = files.iter().map(|file| (file, file.keys().enumerate().peekable())).collect();
    let mut last = None;
    loop {
        // Files are few: looking at the front of each is cheaper than keeping them in order.
        let next =
            sources.iter_mut().filter_map(|(file, keys)| keys.peek().map(|(_, key)| *key).map(|key| (key, file, keys)));
        let Some((key, file, keys)) = next.min_by_key(|(key, ..)| *key) else { return Ok(()) };
        let at = keys.next().map_or(0, |(at, _)| at);
        let alive = match last {
            Some((stamp, alive)) if stamp == key.stamp => alive,
            _ => live(key.stamp),
        };
        last = Some((key.stamp, alive));
        if alive {
            writer.append(key, file.row(at))?;
        }
    }
}
