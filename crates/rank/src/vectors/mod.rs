//! Vectors on disk, and the nearest of them.
//!
//! A [`VectorFile`] is written once, by a [`VectorWriter`] or by [`merge`], and never changed: it is mapped, so its
//! rows cost page cache and no memory of the process. A [`VectorSet`] is what one commit of an index can see: some
//! files and, above a certain size, an approximate index over them (the feature `ann`). Which files make a commit is
//! not known here; whoever holds the [`FileRecord`]s decides.
//!
//! Vectors are made unit length on the way in, so a dot product is a cosine. They are kept as half-precision floats:
//! an eleven-bit significand moves a cosine by about 0.0002, less than any threshold of a model tells apart.

mod compact;
mod file;
mod half_float;
pub(crate) mod map;
mod record;
mod set;
mod top;
mod write;

pub use compact::{FileState, merge, merge_in_memory, plan};
pub use file::VectorFile;
pub use half_float::Probe;
pub use record::{FileRecord, is_temporary};
pub use set::{Similarity, VectorSet};
pub use write::VectorWriter;

/// The longest vector that is taken.
pub const MAX_DIMENSION: usize = 8_192;

/// The part of a row that holds a window of a document's text.
pub const TEXT: u8 = 0;
/// The part of a row that holds what stands around a document: the turn before it and its date.
pub const CONTEXT: u8 = 1;

/// Whose vector a row is.
///
/// Rows are ordered by stamp, then by part. A document may have several of one part: the windows of a long text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// The number of the document's version: no two versions share one, and later ones have higher ones.
    pub stamp: u64,
    /// What of the document the vector stands for: [`TEXT`] or [`CONTEXT`].
    pub part: u8,
}
