//! Vectors on disk, and the nearest of them.
