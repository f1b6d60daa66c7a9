//! `hatir-model.toml`: what a model folder holds and how its vectors are made.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::read_manifest;
use crate::embed::{Evidence, ModelInfo};
use crate::error::{Error, Result};

/// The manifest's name in a model folder.
pub const MANIFEST_FILE: &str = "hatir-model.toml";

/// The version of the form that this crate reads and writes.
pub const MANIFEST_VERSION: u32 = 1;

/// The ONNX graph's name in a model folder.
pub const MODEL_FILE: &str = "model.onnx";

/// The tokeniser's name in a model folder.
pub const TOKENIZER_FILE: &str = "tokenizer.json";

/// What a model folder holds, and how its vectors are made.
///
/// The form is public and versioned: a key is only ever added with a default, and any other change is a new
/// [`version`](Self::version). Keys are written in kebab-case (`query-prefix`); an unknown one is an error.
///
/// ```
/// use hatir_rank::model::Manifest;
///
/// let text = r#"
/// version = 1
/// name = "my-encoder"
/// dimension = 384
/// pooling = "mean"
/// query-prefix = "query: "
/// document-prefix = "passage: "
/// max-tokens = 512
/// languages = ["en", "tr"]
/// licence = "MIT"
///
/// [evidence]
/// weight = 2.5
/// floor = 0.78
/// weak = 0.85
/// good = 0.88
///
/// [files]
/// "model.onnx" = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
/// "tokenizer.json" = "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9"
/// "#;
/// let manifest = Manifest::parse(text, "hatir-model.toml".as_ref())?;
/// assert_eq!(manifest.max_tokens, 512);
///
/// let wrong = text.replace("max-tokens", "max-token");
/// let error = Manifest::parse(&wrong, "hatir-model.toml".as_ref()).unwrap_err().to_string();
/// assert!(error.contains("hatir-model.toml:8:1: `max-token` is no key of a manifest"), "{error}");
/// assert!(error.contains("did you mean `max-tokens`?"), "{error}");
/// # Ok::<(), hatir_rank::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Manifest {
    /// The version of this form: 1.
    pub version: u32,
    /// The model's name, such as `multilingual-e5-small`: lower-case letters, digits and hyphens between them, at most
    /// 64 characters. Its folder has the same name.
    pub name: String,
    /// The length of its vectors, 1 to 8,192.
    pub dimension: usize,
    /// How the vectors of a text's tokens become one.
    pub pooling: Pooling,
    /// Put in front of a query, at most 200 bytes; none when absent.
    #[serde(default)]
    pub query_prefix: String,
    /// Put in front of a document, at most 200 bytes; none when absent.
    #[serde(default)]
    pub document_prefix: String,
    /// The longest text in tokens, prefix and special tokens included, 8 to 8,192.
    pub max_tokens: usize,
    /// The languages it was trained on, as two-letter codes of ISO 639-1; empty or absent when it takes any.
    #[serde(default)]
    pub languages: Vec<String>,
    /// The licence of its weights, as an SPDX expression.
    pub licence: String,
    /// Where it comes from, for people.
    #[serde(default)]
    pub source: String,
    /// What its cosines mean.
    pub evidence: EvidenceManifest,
    /// The SHA-256 of each file, as 64 hexadecimal digits, by file name. `model.onnx` and `tokenizer.json` must be
    /// among them; a name has no folder in it.
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

impl Pooling {
    /// As a manifest writes it.
    ///
    /// ```
    /// assert_eq!(hatir_rank::model::Pooling::Mean.name(), "mean");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Cls => "cls",
        }
    }
}

/// [`Evidence`] as a manifest writes it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct EvidenceManifest {
    /// [`Evidence::weight`], 0 to 100.
    pub weight: f64,
    /// [`Evidence::floor`], -1 to 1.
    pub floor: f64,
    /// [`Evidence::across_languages`], 0 to 10; 1 when absent.
    #[serde(default = "one")]
    pub across_languages: f64,
    /// [`Evidence::coverage`], 0 to 1; 0 when absent.
    #[serde(default)]
    pub coverage: f64,
    /// [`Evidence::weak`], at most `good`; `-inf` for a model that never says that a store holds no answer.
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

/// One thing that is wrong in a manifest.
///
/// It prints as `8:1: "max-token" is no key of a manifest, expected …; did you mean "max-tokens"?`, with the file in
/// front when it is part of an [`Error::Manifest`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ManifestProblem {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The key, as `evidence.weight`; empty when the file is no TOML.
    pub key: String,
    /// What stands there.
    pub found: String,
    /// What should.
    pub expected: String,
    /// For an unknown key, the known one that was probably meant.
    pub nearest: Option<String>,
}

impl fmt::Display for ManifestProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, key, found, expected, nearest } = self;
        write!(formatter, "{line}:{column}: ")?;
        match key.as_str() {
            "" => write!(formatter, "{found}, expected {expected}")?,
            key => write!(formatter, "`{key}` is {found}, expected {expected}")?,
        }
        match nearest {
            Some(nearest) => write!(formatter, "; did you mean `{nearest}`?"),
            None => Ok(()),
        }
    }
}

/// One line per problem, each with the file in front, as compilers do.
pub(crate) fn list_problems(path: &Path, problems: &[ManifestProblem]) -> String {
    let lines: Vec<String> = problems.iter().map(|problem| format!("{}:{problem}", path.display())).collect();
    lines.join("\n")
}

impl Manifest {
    /// Reads and checks a manifest; `path` is for the messages.
    ///
    /// # Errors
    /// [`Error::Manifest`] lists everything that is wrong, each with line and column.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        read_manifest::parse(text).map_err(|problems| Error::Manifest { path: path.to_path_buf(), problems })
    }

    /// The text of a manifest that [`Manifest::parse`] reads back as the same.
    ///
    /// ```
    /// use hatir_rank::model::Manifest;
    /// # let text = hatir_rank::model::known("all-minilm-l6-v2").unwrap().manifest().to_toml();
    /// let manifest = Manifest::parse(&text, "hatir-model.toml".as_ref())?;
    /// assert_eq!(Manifest::parse(&manifest.to_toml(), "copy.toml".as_ref())?, manifest);
    /// # Ok::<(), hatir_rank::Error>(())
    /// ```
    #[expect(clippy::missing_panics_doc, reason = "it cannot: see within")]
    pub fn to_toml(&self) -> String {
        // A struct of strings, numbers and one level of tables, tables last, is what TOML can say.
        let body = toml::to_string(self).expect("a manifest has no value that TOML lacks");
        format!("# What this folder holds and how its vectors are made.\n{body}")
    }

    /// Tells the vectors that this model makes from those of any other, as 64 hexadecimal digits.
    ///
    /// It is the SHA-256 over the hashes of the files, in the order of the hashes, and over what else changes a vector:
    /// pooling, prefixes, window and dimension. A name, a licence or thresholds may change, and the vectors stay good.
    pub fn fingerprint(&self) -> String {
        let mut hashes: Vec<String> = self.files.values().map(|hash| hash.to_ascii_lowercase()).collect();
        hashes.sort();
        let mut hasher = Sha256::new();
        // Lengths stand before texts, so that no two manifests write the same bytes.
        let mut put = |name: &str, value: &str| {
            hasher.update(format!("{name} {} {value}\n", value.len()));
        };
        for hash in &hashes {
            put("file", hash);
        }
        put("pooling", self.pooling.name());
        put("query-prefix", &self.query_prefix);
        put("document-prefix", &self.document_prefix);
        put("max-tokens", &self.max_tokens.to_string());
        put("dimension", &self.dimension.to_string());
        super::hash::hexadecimal(&hasher.finalize())
    }

    /// What a search needs to know of the model.
    ///
    /// ```
    /// let info = hatir_rank::model::known("multilingual-e5-small").unwrap().manifest().info();
    /// assert!(info.speaks("tr"));
    /// assert_eq!(info.dimension, 384);
    /// ```
    pub fn info(&self) -> ModelInfo {
        ModelInfo {
            name: self.name.clone(),
            dimension: self.dimension,
            fingerprint: self.fingerprint(),
            languages: self.languages.clone(),
            evidence: self.evidence.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::known;

    #[test]
    fn a_fingerprint_changes_with_what_changes_a_vector_and_with_nothing_else() {
        let manifest = known("multilingual-e5-small").unwrap().manifest();
        let same = |change: fn(&mut Manifest)| {
            let mut changed = manifest.clone();
            change(&mut changed);
            assert_ne!(changed, manifest);
            changed.fingerprint() == manifest.fingerprint()
        };
        assert!(same(|manifest| manifest.name = "another".to_owned()));
        assert!(same(|manifest| manifest.licence = "MIT-0".to_owned()));
        assert!(same(|manifest| manifest.evidence.good = 0.9));
        assert!(same(|manifest| manifest.files.values_mut().for_each(|hash| *hash = hash.to_ascii_uppercase())));
        assert!(!same(|manifest| manifest.pooling = Pooling::Cls));
        assert!(!same(|manifest| manifest.max_tokens = 256));
        assert!(!same(|manifest| manifest.dimension = 256));
        assert!(!same(|manifest| std::mem::swap(&mut manifest.query_prefix, &mut manifest.document_prefix)));
        assert!(!same(|manifest| manifest.files.values_mut().for_each(|hash| *hash = hash.replace('0', "1"))));
    }

    /// The fingerprint is stored beside vectors: another one here throws everybody's vectors away.
    #[test]
    fn the_fingerprint_of_a_manifest_stays_what_it_is() {
        let text = "file 2 aa\nfile 2 bb\npooling 3 cls\nquery-prefix 2 q:\ndocument-prefix 0 \nmax-tokens 2 64\ndimension 1 3\n";
        let manifest = Manifest {
            pooling: Pooling::Cls,
            query_prefix: "q:".to_owned(),
            document_prefix: String::new(),
            max_tokens: 64,
            dimension: 3,
            files: [("a", "BB"), ("b", "aa")].map(|(name, hash)| (name.to_owned(), hash.to_owned())).into(),
            ..known("multilingual-e5-small").unwrap().manifest()
        };
        assert_eq!(manifest.fingerprint(), crate::model::hash::hexadecimal(&Sha256::digest(text)));
    }
}
