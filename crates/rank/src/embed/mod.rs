//! Texts become vectors.

#[cfg(feature = "onnx")]
mod onnx;

#[cfg(feature = "onnx")]
pub use onnx::{OnnxEmbedder, OnnxOptions, RuntimeSearch};

use crate::error::Result;

/// A unit vector; its length is [`ModelInfo::dimension`].
pub type Vector = Vec<f32>;

/// Turns texts into unit vectors whose dot product says how near they are in meaning.
///
/// One kind ships: a sentence encoder in ONNX form. Implement the trait for another. The vectors that an index keeps
/// carry the fingerprint of the model that made them; a query's vector is compared only with vectors of the same one.
pub trait Embedder: Send + Sync {
    /// What the model is, and what its similarities are worth.
    fn model(&self) -> &ModelInfo;

    /// One unit vector for a query; a query longer than the model takes is cut at its end.
    ///
    /// # Errors
    /// [`Error::Model`](crate::Error::Model) when the model fails.
    fn embed_query(&self, text: &str) -> Result<Vector>;

    /// For each text, in the order given, one unit vector for each of its windows: one where the text fits into the
    /// model's window, else several that overlap. Never empty for a text, not even for an empty one.
    ///
    /// # Errors
    /// [`Error::Model`](crate::Error::Model) when the model fails.
    fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<Vector>>>;
}

/// What a model is, and what its similarities are worth.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInfo {
    /// Its name, such as `multilingual-e5-small`.
    pub name: String,
    /// The length of its vectors, 1 to 8,192.
    pub dimension: usize,
    /// Tells its vectors from those of any other model, or of the same model with other settings: a hash over the
    /// files and over what changes a vector (pooling, prefixes, window).
    pub fingerprint: String,
    /// The languages it was trained on, as two-letter codes of ISO 639-1; empty when it takes any.
    pub languages: Vec<String>,
    /// What its cosines mean.
    pub evidence: Evidence,
}

impl ModelInfo {
    /// Whether the model was trained on a language, given by its two-letter code.
    pub fn speaks(&self, language: &str) -> bool {
        self.languages.is_empty() || self.languages.iter().any(|known| known == language)
    }
}

/// What the cosines of a model mean: measured for each model, and kept in its manifest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// How much a cosine counts beside the lexical evidence, 0 to 100.
    pub weight: f64,
    /// The cosine of a question and a text that have nothing to do with each other, -1 to 1.
    pub floor: f64,
    /// By how much the cosine of a question and a text in another language is stretched, once the mean cosine of that
    /// language has been taken off, 0 to 10.
    pub across_languages: f64,
    /// How much the best share of a query's words found (0 to 1) adds to the best cosine of a store when the answer as
    /// a whole is graded, 0 to 1.
    pub coverage: f64,
    /// Below this sum a store holds no answer.
    pub weak: f64,
    /// From this sum on the answer is good.
    pub good: f64,
}

impl Default for Evidence {
    /// For a model of which nothing is known: cosines as they are, and never a verdict.
    fn default() -> Self {
        Self { weight: 1.0, floor: 0.0, across_languages: 1.0, coverage: 0.0, weak: f64::NEG_INFINITY, good: 0.5 }
    }
}
