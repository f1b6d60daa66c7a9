//! The folders that models live in.

mod manifest;

pub use manifest::{EvidenceManifest, MANIFEST_FILE, Manifest, Pooling};
