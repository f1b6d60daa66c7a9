//! Problems with places.

/// A range of bytes in one of the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// 0 is the pipeline file; the others are `--set` arguments.
    pub source: usize,
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}
