//! Sentence encoders in ONNX form.

mod compact;
mod graph;
mod runtime;
mod scratch;
mod tokens;
mod trie;
mod unigram;
mod verify;
mod windows;

use std::path::{Path, PathBuf};

use self::graph::{Batch, Graph};
pub use self::runtime::RuntimeSearch;
use self::scratch::Scratch;
use self::tokens::Tokens;
use super::{Embedder, ModelInfo, Vector};
use crate::error::{Error, Result};
use crate::model::{MODEL_FILE, ModelFolder, Pooling, TOKENIZER_FILE};

/// How an [`OnnxEmbedder`] is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnnxOptions {
    /// How many threads one batch may use, at least 1. One is best for single queries, as many as there are cores for
    /// filling an index.
    pub threads: usize,
    /// The library of ONNX Runtime, or a folder that holds it; when it is not there, opening fails. `None` looks into
    /// the model's folder and `onnxruntime` beside it, then into [`OnnxOptions::runtime_folders`].
    pub runtime: Option<PathBuf>,
    /// Folders that may hold the library, such as a `site-packages` of Python; see [`RuntimeSearch::folder`].
    pub runtime_folders: Vec<PathBuf>,
    /// A folder for what makes the next opening fast: about the size of the model. It is created when it does not exist,
    /// and anything in it may be removed at any time. `None` keeps nothing, and opening takes up to two seconds.
    pub cache: Option<PathBuf>,
    /// How many texts are encoded at once at most, at least 1.
    pub batch: usize,
}

impl Default for OnnxOptions {
    /// One thread, batches of 16 texts, no cache, and the library beside the model.
    fn default() -> Self {
        Self { threads: 1, runtime: None, runtime_folders: Vec::new(), cache: None, batch: 16 }
    }
}

/// How many tokens, padding included, are encoded at once. On processors, larger batches cost memory and gain nothing.
const BATCH_TOKENS: usize = 1_024;

/// A sentence encoder that runs in ONNX Runtime.
///
/// The model's folder says by its manifest how vectors are made: what stands in front of a text, how many tokens fit,
/// and how the vectors of tokens become one. A text's vector does not depend on the texts beside it, the number of
/// threads or the size of batches.
///
/// ```no_run
/// use hatir_rank::{Embedder, OnnxEmbedder, OnnxOptions};
///
/// let options = OnnxOptions { cache: Some("/var/cache/hatir".into()), ..OnnxOptions::default() };
/// let embedder = OnnxEmbedder::open("/var/lib/hatir/models/multilingual-e5-small".as_ref(), &options)?;
/// let question = embedder.embed_query("when is my refund paid?")?;
/// let answers = embedder.embed_documents(&["İadeler 14 gün içinde ödenir.", "The garden is open all day."])?;
/// let cosine = |text: &Vec<Vec<f32>>| question.iter().zip(&text[0]).map(|(a, b)| a * b).sum::<f32>();
/// assert!(cosine(&answers[0]) > cosine(&answers[1]));
/// # Ok::<(), hatir_rank::Error>(())
/// ```
#[derive(Debug)]
pub struct OnnxEmbedder {
    folder: PathBuf,
    model: ModelInfo,
    pooling: Pooling,
    query: Prefix,
    document: Prefix,
    /// How many tokens a window takes, prefix and special tokens included.
    window: usize,
    batch: usize,
    tokens: Tokens,
    graph: Graph,
}

/// What stands in front of a text, and its tokens.
#[derive(Debug)]
struct Prefix {
    text: String,
    numbers: Vec<u32>,
}

/// The tokens of a text, the prefix's included.
struct Cut {
    numbers: Vec<u32>,
    /// How many of them are the prefix's.
    prefix: usize,
}

impl OnnxEmbedder {
    /// Opens a model: checks its files by their hashes, loads ONNX Runtime, and makes the model ready, or takes all of
    /// that from the cache.
    ///
    /// ONNX Runtime is loaded once in a process; a second embedder uses what the first one loaded.
    ///
    /// # Errors
    /// [`Error::Runtime`] when ONNX Runtime is missing, damaged or too old; [`Error::Manifest`]; [`Error::Model`] when
    /// a file of the model is missing or damaged, or the model is of a kind that cannot be run;
    /// [`Error::InvalidConfig`] for options out of their range.
    pub fn open(folder: &Path, options: &OnnxOptions) -> Result<Self> {
        for (setting, value) in [("threads", options.threads), ("batch", options.batch)] {
            if value == 0 {
                let (setting, found) = (setting.to_owned(), value.to_string());
                return Err(Error::InvalidConfig { setting, found, expected: "at least 1" });
            }
        }
        let ModelFolder { manifest, .. } = ModelFolder::open(folder)?;
        let scratch = options.cache.as_deref().map(Scratch::new);
        let scratch = scratch.as_ref();
        let broken = |problem: String, remedy: &str| Error::Model {
            folder: folder.to_path_buf(),
            problem,
            remedy: remedy.replace("NAME", &manifest.name),
        };
        let reinstall = |problem| broken(problem, "install it again (`hatir model install NAME --replace`)");
        let misfit = |problem| broken(problem, "correct the manifest, or install another model");

        verify::verify(folder, &manifest, scratch).map_err(reinstall)?;
        let key = |file: &str| {
            // The manifest has both files, and their hashes are 64 digits: it was checked when it was read.
            manifest
                .files
                .get(file)
                .map_or_else(String::new, |hash| hash.to_ascii_lowercase().chars().take(16).collect())
        };
        let tokens = Tokens::open(&folder.join(TOKENIZER_FILE), &key(TOKENIZER_FILE), scratch).map_err(reinstall)?;
        let runtime = runtime::load(&search(folder, options))?;
        let graph = Graph::open(&folder.join(MODEL_FILE), &key(MODEL_FILE), options.threads, &runtime, scratch)
            .map_err(misfit)?;
        if let Some(found) = graph.dimension().filter(|found| *found != manifest.dimension) {
            let expected = manifest.dimension;
            return Err(misfit(format!("its vectors have {found} numbers, the manifest states {expected}")));
        }

        let prefix = |text: &str| -> Result<Prefix> {
            // The space at its end belongs to the word that follows.
            let numbers = tokens.numbers(text.trim_end()).map_err(misfit)?;
            let frame = tokens.frame().before.len() + tokens.frame().after.len();
            if numbers.len() + frame >= manifest.max_tokens {
                let (found, expected) = (numbers.len() + frame, manifest.max_tokens);
                return Err(misfit(format!("the prefix {text:?} takes {found} of {expected} tokens")));
            }
            Ok(Prefix { text: text.to_owned(), numbers })
        };
        Ok(Self {
            query: prefix(&manifest.query_prefix)?,
            document: prefix(&manifest.document_prefix)?,
            folder: folder.to_path_buf(),
            model: manifest.info(),
            pooling: manifest.pooling,
            window: manifest.max_tokens,
            batch: if graph.mixes() { 1 } else { options.batch },
            tokens,
            graph,
        })
    }

    fn failed(&self, problem: String) -> Error {
        let remedy = format!("install it again (`hatir model install {} --replace`), or another one", self.model.name);
        Error::Model { folder: self.folder.clone(), problem, remedy }
    }

    /// The tokens of a text behind its prefix.
    fn cut(&self, prefix: &Prefix, text: &str) -> Result<Cut> {
        let whole = format!("{}{text}", prefix.text);
        let numbers = self.tokens.numbers(&whole).map_err(|problem| self.failed(problem))?;
        if numbers.starts_with(&prefix.numbers) {
            return Ok(Cut { numbers, prefix: prefix.numbers.len() });
        }
        // A tokeniser that makes one token of the prefix's end and the text's start: they are read apart.
        let body = self.tokens.numbers(text).map_err(|problem| self.failed(problem))?;
        let numbers = [prefix.numbers.as_slice(), &body].concat();
        Ok(Cut { numbers, prefix: prefix.numbers.len() })
    }

    /// How many tokens of a text fit beside its prefix and the special tokens.
    fn capacity(&self, cut: &Cut) -> usize {
        let frame = self.tokens.frame();
        // At least one, or the model would not have been opened.
        (self.window - frame.before.len() - frame.after.len() - cut.prefix).max(1)
    }

    /// A window's tokens with all that belongs around them.
    fn framed(&self, cut: &Cut, window: std::ops::Range<usize>) -> Vec<u32> {
        let frame = self.tokens.frame();
        let (prefix, body) = cut.numbers.split_at(cut.prefix);
        [&frame.before, prefix, &body[window], &frame.after].concat()
    }

    /// The vectors of windows, in their order. Windows of about the same length are encoded together, so that little of
    /// a batch is padding.
    fn encode(&self, windows: &[Vec<u32>]) -> Result<Vec<Vector>> {
        let mut order: Vec<usize> = (0..windows.len()).collect();
        order.sort_by_key(|&window| windows[window].len());
        let mut vectors = vec![Vector::new(); windows.len()];
        let mut rest = order.as_slice();
        while !rest.is_empty() {
            // The longest of a batch is its last one.
            let fits = |texts: &usize| texts * windows[rest[texts - 1]].len() <= BATCH_TOKENS;
            let count = (2..=self.batch.min(rest.len())).take_while(fits).last().unwrap_or(1);
            let (batch, later) = rest.split_at(count);
            let made =
                self.encode_batch(&batch.iter().map(|&window| windows[window].as_slice()).collect::<Vec<_>>())?;
            for (&window, vector) in batch.iter().zip(made) {
                vectors[window] = vector;
            }
            rest = later;
        }
        Ok(vectors)
    }

    fn encode_batch(&self, windows: &[&[u32]]) -> Result<Vec<Vector>> {
        let length = windows.iter().map(|window| window.len()).max().unwrap_or(0).max(1);
        let padding = i64::from(self.tokens.frame().padding);
        let mut batch = Batch {
            texts: windows.len(),
            length,
            numbers: vec![padding; windows.len() * length],
            mask: vec![0; windows.len() * length],
        };
        for (row, window) in windows.iter().enumerate() {
            for (column, &number) in window.iter().enumerate() {
                batch.numbers[row * length + column] = i64::from(number);
                batch.mask[row * length + column] = 1;
            }
        }
        let vectors = self.graph.run(batch, self.model.dimension, self.pooling);
        let mut vectors = vectors.map_err(|problem| self.failed(problem))?;
        for vector in &mut vectors {
            if !make_unit(vector) {
                return Err(self.failed("it made a vector that is zero or not finite".to_owned()));
            }
        }
        Ok(vectors)
    }
}

impl Embedder for OnnxEmbedder {
    fn model(&self) -> &ModelInfo {
        &self.model
    }

    fn embed_query(&self, text: &str) -> Result<Vector> {
        let cut = self.cut(&self.query, text)?;
        let length = (cut.numbers.len() - cut.prefix).min(self.capacity(&cut));
        let mut vectors = self.encode(&[self.framed(&cut, 0..length)])?;
        // One window gives one vector.
        Ok(vectors.pop().unwrap_or_default())
    }

    fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<Vector>>> {
        let mut windows = Vec::new();
        let mut counts = Vec::with_capacity(texts.len());
        for text in texts {
            let cut = self.cut(&self.document, text)?;
            let ranges = windows::windows(cut.numbers.len() - cut.prefix, self.capacity(&cut));
            counts.push(ranges.len());
            windows.extend(ranges.into_iter().map(|range| self.framed(&cut, range)));
        }
        let mut vectors = self.encode(&windows)?.into_iter();
        Ok(counts.into_iter().map(|count| vectors.by_ref().take(count).collect()).collect())
    }
}

/// Where a model's runtime may be.
fn search(folder: &Path, options: &OnnxOptions) -> RuntimeSearch {
    if let Some(runtime) = &options.runtime {
        return RuntimeSearch::default().exactly(runtime);
    }
    let beside = folder.parent().map(|models| models.join("onnxruntime"));
    let folders = std::iter::once(folder.to_path_buf()).chain(beside).chain(options.runtime_folders.iter().cloned());
    folders.fold(RuntimeSearch::default(), RuntimeSearch::folder)
}

/// Gives a vector the length 1; false when it has none.
fn make_unit(vector: &mut [f32]) -> bool {
    let squares: f64 = vector.iter().map(|number| f64::from(*number).powi(2)).sum();
    let length = squares.sqrt();
    if !length.is_finite() || length == 0.0 {
        return false;
    }
    vector.iter_mut().for_each(|number| *number = (f64::from(*number) / length) as f32);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_vectors_with_a_direction_become_units() {
        let mut vector = [3.0, 4.0];
        assert!(make_unit(&mut vector));
        assert!((vector[0] - 0.6).abs() < 1e-6 && (vector[1] - 0.8).abs() < 1e-6, "{vector:?}");
        for mut vector in [[0.0, 0.0], [f32::NAN, 1.0], [f32::INFINITY, 1.0]] {
            assert!(!make_unit(&mut vector));
        }
    }

    #[test]
    fn options_out_of_range_are_named() {
        for options in
            [OnnxOptions { threads: 0, ..OnnxOptions::default() }, OnnxOptions { batch: 0, ..OnnxOptions::default() }]
        {
            let error = OnnxEmbedder::open("nowhere".as_ref(), &options).unwrap_err();
            assert!(matches!(error, Error::InvalidConfig { .. }), "{error}");
        }
    }
}
