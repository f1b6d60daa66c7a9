use crate::Encoding;

/// What this crate refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name is not one of an encoding that this crate has tables for.
    #[error("unknown encoding `{found}`; expected one of {}", Encoding::listed())]
    UnknownEncoding {
        /// The name as it was given.
        found: String,
    },
}
