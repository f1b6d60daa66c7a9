//! `hatir-model.toml`: what a model folder holds and how its vectors are made.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::embed::Evidence;

/// The manifest's name in a model folder.
pub const MANIFEST_FILE: &str = "hatir-model.toml";

/// What a model folder holds, and how its vectors are made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Manifest {
    /// The version of this form: 1.
    pub version: u32,
    /// The model's name, such as `multilingual-e5-small`: lower-case letters, digits and hyphens.
    pub name: String,
    /// The length of its vectors.
    pub dimension: usize,
    /// How the vectors of a text's tokens become one.
    pub pooling: Pooling,
    /// Put in front of a query.
    #[serde(default)]
    pub query_prefix: String,
    /// Put in front of a document.
    #[serde(default)]
    pub document_prefix: String,
    /// The longest text in tokens, prefix and special tokens included.
    pub max_tokens: usize,
    /// The languages it was trained on, as two-letter codes; empty when it takes any.
    #[serde(default)]
    pub languages: Vec<String>,
    /// The licence of its weights, as an SPDX expression.
    pub licence: String,
    /// Where it comes from, for people.
    #[serde(default)]
    pub source: String,
    /// What its cosines mean.
    pub evidence: EvidenceManifest,
    /// The SHA-256 of each file, in hexadecimal, by file name: `model.onnx`, `tokenizer.json`.
    pub files: BTreeMap<String, String>,
}

/// How the vectors of a text's tokens become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pooling {
    /// Their mean, padding left out.
    Mean,
    /// The first one.
    Cls,
}

/// [`Evidence`] as a manifest writes it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct EvidenceManifest {
    /// [`Evidence::weight`].
    pub weight: f64,
    /// [`Evidence::floor`].
    pub floor: f64,
    /// [`Evidence::across_languages`].
    #[serde(default = "one")]
    pub across_languages: f64,
    /// [`Evidence::coverage`].
    #[serde(default)]
    pub coverage: f64,
    /// [`Evidence::weak`].
    pub weak: f64,
    /// [`Evidence::good`].
    pub good: f64,
}

fn one() -> f64 {
    1.0
}

impl From<EvidenceManifest> for Evidence {
    fn from(manifest: EvidenceManifest) -> Self {
        let EvidenceManifest { weight, floor, across_languages, coverage, weak, good } = manifest;
        Self { weight, floor, across_languages, coverage, weak, good }
    }
}
