//! The vectors that one commit can see.

use std::ops::Range;
use std::sync::Arc;

use super::file::VectorFile;
use super::half_float::{Probe, numbers, stride};
use super::record::corrupt;
use super::top::{Scored, Top, best_of};
use super::{CONTEXT, TEXT};
use crate::error::Result;

/// How near a document is to a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Similarity {
    /// The cosine of its text, -1 to 1; the best of its windows.
    pub text: f32,
    /// The cosine of its context, where it has one.
    pub context: Option<f32>,
}

/// Vectors of one dimension in some files.
///
/// All rows of one document version and part stand in one file; which file does not matter, and neither does the order
/// of the files. Rows of versions that are gone stay until files are merged; that is what `allowed` is for.
#[derive(Debug, Default, Clone)]
pub struct VectorSet {
    files: Vec<Arc<VectorFile>>,
}

impl VectorSet {
    /// Some files, each of the same dimension.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) when their dimensions differ.
    pub fn new(files: Vec<Arc<VectorFile>>) -> Result<Self> {
        if let Some([left, right]) = files.array_windows().find(|[left, right]| left.dimension() != right.dimension()) {
            let [left, right] = [left.record(), right.record()];
            let problem = format!(
                "the file {} holds vectors of {} numbers, {} of {}",
                left.name, left.dimension, right.name, right.dimension
            );
            return Err(corrupt(&files[0].folder, problem));
        }
        Ok(Self { files })
    }

    /// The files.
    pub fn files(&self) -> &[Arc<VectorFile>] {
        &self.files
    }

    /// The length of the vectors; `None` without a file.
    pub fn dimension(&self) -> Option<usize> {
        self.files.first().map(|file| file.dimension())
    }

    /// The number of rows, those of versions that are gone included.
    pub fn rows(&self) -> usize {
        self.files.iter().map(|file| file.rows()).sum()
    }

    /// Where the rows of a document stand.
    fn find(&self, stamp: u64) -> impl Iterator<Item = (&VectorFile, Range<usize>)> {
        self.files.iter().map(move |file| (file.as_ref(), file.find(stamp))).filter(|(_, rows)| !rows.is_empty())
    }

    /// The best cosine of a document's rows of one part.
    pub(super) fn best(&self, probe: &Probe, stamp: u64, part: u8) -> Option<f32> {
        let rows = self.find(stamp).flat_map(|(file, rows)| rows.map(move |at| (file, at)));
        rows.filter(|(file, at)| file.parts()[*at] == part)
            .map(|(file, at)| probe.cosine(file.row(at)))
            .max_by(f32::total_cmp)
    }

    /// Whether a document has a vector of its text.
    pub fn has(&self, stamp: u64) -> bool {
        self.find(stamp).any(|(file, mut rows)| rows.any(|at| file.parts()[at] == TEXT))
    }

    /// How near one document is; `None` when its text has no vector. Costs a binary search in each file.
    pub fn similarity(&self, probe: &Probe, stamp: u64) -> Option<Similarity> {
        self.fits(probe).then_some(())?;
        let text = self.best(probe, stamp, TEXT)?;
        Some(Similarity { text, context: self.best(probe, stamp, CONTEXT) })
    }

    /// The vector of a document's first window.
    pub fn vector(&self, stamp: u64) -> Option<Vec<f32>> {
        let (file, at) = self
            .find(stamp)
            .find_map(|(file, mut rows)| rows.find(|at| file.parts()[*at] == TEXT).map(|at| (file, at)))?;
        Some(numbers(file.row(at), file.dimension()).collect())
    }

    fn fits(&self, probe: &Probe) -> bool {
        self.dimension() == Some(probe.dimension())
    }

    /// The `count` documents whose rows of `part` are nearest, best first, each once with the best of its windows; of
    /// equal ones the older. `allowed` says which documents may be returned, `allowed_count` about how many they are.
    ///
    /// Empty when the probe is of another dimension than the set.
    pub fn nearest(
        &self,
        probe: &Probe,
        count: usize,
        part: u8,
        allowed: &dyn Fn(u64) -> bool,
        allowed_count: usize,
    ) -> Vec<(u64, f32)> {
        if count == 0 || allowed_count == 0 || !self.fits(probe) {
            return Vec::new();
        }
        self.nearest_exact(probe, count, part, allowed, allowed_count)
    }

    /// The same, by comparing all rows one by one: what [`VectorSet::nearest`] is measured against.
    pub fn nearest_exact(
        &self,
        probe: &Probe,
        count: usize,
        part: u8,
        allowed: &dyn Fn(u64) -> bool,
        allowed_count: usize,
    ) -> Vec<(u64, f32)> {
        if count == 0 || !self.fits(probe) {
            return Vec::new();
        }
        let scan = Scan { probe, count, part, allowed, few: allowed_count < self.rows() / 4 };
        best_of(self.files.iter().flat_map(|file| scan.rows(file, 0..file.rows())), count)
    }

    /// Calls `each` with the stamp, the part and the cosine of every row, those of versions that are gone included.
    pub fn all(&self, probe: &Probe, each: &mut dyn FnMut(u64, u8, f32)) {
        if !self.fits(probe) {
            return;
        }
        for file in &self.files {
            let rows = file.halves().chunks_exact(stride(file.dimension()));
            for (key, row) in file.keys().zip(rows) {
                each(key.stamp, key.part, probe.cosine(row));
            }
        }
    }

    /// The mean of the text vectors of each group, and how many they are. `group` tells a document's group, counted
    /// from 0, or that it is gone. A mean is no unit vector: how short it is tells how far its vectors are spread.
    pub fn mean(&self, group: &dyn Fn(u64) -> Option<usize>) -> Vec<(Vec<f32>, usize)> {
        let dimension = self.dimension().unwrap_or_default();
        let mut sums: Vec<(Vec<f64>, usize)> = Vec::new();
        for file in &self.files {
            let rows = file.halves().chunks_exact(stride(dimension));
            for (key, row) in file.keys().zip(rows).filter(|(key, _)| key.part == TEXT) {
                let Some(group) = group(key.stamp) else { continue };
                if sums.len() <= group {
                    sums.resize_with(group + 1, || (vec![0.0; dimension], 0));
                }
                let (sum, count) = &mut sums[group];
                *count += 1;
                sum.iter_mut().zip(numbers(row, dimension)).for_each(|(sum, number)| *sum += f64::from(number));
            }
        }
        let mean = |(sum, count): (Vec<f64>, usize)| {
            let divisor = count.max(1) as f64;
            (sum.into_iter().map(|sum| (sum / divisor) as f32).collect(), count)
        };
        sums.into_iter().map(mean).collect()
    }
}

/// A search that compares row by row.
pub(super) struct Scan<'a> {
    pub(super) probe: &'a Probe,
    pub(super) count: usize,
    pub(super) part: u8,
    pub(super) allowed: &'a dyn Fn(u64) -> bool,
    /// Few documents are allowed, so asking first saves most comparisons; otherwise comparing first saves most
    /// questions.
    pub(super) few: bool,
}

impl Scan<'_> {
    /// The best documents among some rows of a file. A document's windows stand side by side.
    pub(super) fn rows(&self, file: &VectorFile, range: Range<usize>) -> impl Iterator<Item = Scored> {
        let stride = stride(file.dimension());
        let stamps = &file.raw_stamps()[range.clone()];
        let parts = &file.parts()[range.clone()];
        let rows = file.halves()[range.start * stride..range.end * stride].chunks_exact(stride);
        let mut top = Top::new(self.count);
        let mut offer = |best: Option<Scored>| {
            if let Some(best) = best
                && top.takes(best)
                && (self.few || (self.allowed)(best.stamp))
            {
                top.offer(best);
            }
        };
        let mut best: Option<Scored> = None;
        let mut last = None;
        for ((stamp, part), row) in stamps.iter().zip(parts).zip(rows) {
            if *part != self.part {
                continue;
            }
            let stamp = u64::from_le(*stamp);
            if self.few {
                let (known, allowed) = last.unwrap_or((stamp, None));
                let allowed = if known == stamp { allowed } else { None };
                let allowed = allowed.unwrap_or_else(|| (self.allowed)(stamp));
                last = Some((stamp, Some(allowed)));
                if !allowed {
                    continue;
                }
            }
            let cosine = self.probe.cosine(row);
            match &mut best {
                Some(best) if best.stamp == stamp => best.cosine = best.cosine.max(cosine),
                _ => offer(best.replace(Scored { cosine, stamp })),
            }
        }
        offer(best);
        top.into_unsorted()
    }
}
