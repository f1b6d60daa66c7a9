//! The graph of a model: made ready once, kept in that form, and run.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use ort::session::Session;
use ort::session::SessionInputValue;
use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};
use ort::value::{Outlet, Tensor, TensorElementType, ValueType};

use super::runtime::Runtime;
use super::scratch::{Scratch, Sealed};
use crate::model::Pooling;

/// A graph that is ready to run.
#[derive(Debug)]
pub(super) struct Graph {
    session: Mutex<Session>,
    inputs: Vec<Input>,
    output: Output,
    /// Whether texts of one batch change each other's vectors.
    mixes: bool,
    /// The session reads its weights from here for as long as it lives. Fields are dropped in the order they stand in,
    /// so this comes last.
    _bytes: Option<Sealed>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    Numbers,
    Mask,
    Types,
}

/// What a graph gives: a vector for each token, or one for each text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Output {
    name: String,
    pooled: bool,
}

/// The outputs that are known, best first, and whether they are pooled.
const OUTPUTS: &[(&str, bool)] =
    &[("last_hidden_state", false), ("token_embeddings", false), ("sentence_embedding", true)];

/// An operator that takes one scale for all the numbers of a batch, padding included.
const MIXING_OPERATOR: &[u8] = b"DynamicQuantizeLinear";

/// Some texts of about the same length, as numbers of tokens.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) texts: usize,
    pub(super) length: usize,
    /// `texts × length` numbers of tokens, and for each whether it is one (1) or padding (0).
    pub(super) numbers: Vec<i64>,
    pub(super) mask: Vec<i64>,
}

impl Graph {
    /// Opens `model.onnx`, or what was made of it; `key` tells its content from any other's.
    pub(super) fn open(
        path: &Path,
        key: &str,
        threads: usize,
        runtime: &Runtime,
        scratch: Option<&Scratch>,
    ) -> Result<Self, String> {
        if let Some(scratch) = scratch {
            // What is made ready is so for this build of the runtime, and for a kind of processor.
            let build = crc32fast::hash(runtime.build.as_bytes());
            let name = format!("graph-{key}-{build:08x}-{}.ort", std::env::consts::ARCH);
            if let Some(graph) = scratch.open(&name).and_then(|bytes| Self::ready(bytes, threads, runtime).ok()) {
                return Ok(graph);
            }
            let made = make_ready(path, &name, runtime, scratch);
            if let Some(Ok(graph)) = made.map(|bytes| Self::ready(bytes, threads, runtime)) {
                scratch.remove_others(&format!("graph-{key}-"), &name);
                return Ok(graph);
            }
            // Some graphs cannot be kept: the runtime's own format lacks four-bit numbers, for one.
            scratch.remove(&name);
        }
        let session = builder(runtime, threads)
            .and_then(|builder| builder.with_optimization_level(GraphOptimizationLevel::All)?.commit_from_file(path))
            .map_err(|error| format!("ONNX Runtime cannot read model.onnx: {error}"))?;
        let mixes = std::fs::read(path).is_ok_and(|bytes| contains(&bytes, MIXING_OPERATOR));
        Self::new(session, mixes, None)
    }

    /// Opens what [`make_ready`] made.
    fn ready(bytes: Sealed, threads: usize, runtime: &Runtime) -> Result<Self, String> {
        let (&mixes, graph) = bytes.split_last().ok_or("it is empty")?;
        let session = builder(runtime, threads)
            .and_then(|builder| {
                // The weights stay where they are, in the mapped file: this is what makes opening fast and memory small.
                let session = builder
                    .with_optimization_level(GraphOptimizationLevel::Disable)?
                    .with_config_entry("session.load_model_format", "ORT")?
                    .with_config_entry("session.use_ort_model_bytes_directly", "1")?
                    .with_config_entry("session.use_ort_model_bytes_for_initializers", "1")?
                    .commit_from_memory(graph)?;
                Ok(session)
            })
            .map_err(|error| error.to_string())?;
        Self::new(session, mixes == 1, Some(bytes))
    }

    fn new(session: Session, mixes: bool, bytes: Option<Sealed>) -> Result<Self, String> {
        let inputs = session.inputs().iter().map(input).collect::<Result<Vec<_>, _>>()?;
        for (needed, name) in [(Input::Numbers, "input_ids"), (Input::Mask, "attention_mask")] {
            if !inputs.contains(&needed) {
                return Err(format!("the graph lacks the input {name:?}, it has {}", names(session.inputs())));
            }
        }
        let output = OUTPUTS.iter().find(|(name, _)| session.outputs().iter().any(|output| output.name() == *name));
        let &(name, pooled) = output.ok_or_else(|| {
            let known: Vec<String> = OUTPUTS.iter().map(|(name, _)| format!("{name:?}")).collect();
            format!("the graph lacks an output {}, it has {}", known.join(", "), names(session.outputs()))
        })?;
        let output = Output { name: name.to_owned(), pooled };
        Ok(Self { session: Mutex::new(session), inputs, output, mixes, _bytes: bytes })
    }

    /// Whether texts of one batch change each other's vectors.
    pub(super) fn mixes(&self) -> bool {
        self.mixes
    }

    /// The length of its vectors, where the graph states it.
    pub(super) fn dimension(&self) -> Option<usize> {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let output = session.outputs().iter().find(|output| output.name() == self.output.name)?;
        let ValueType::Tensor { shape, .. } = output.dtype() else { return None };
        usize::try_from(*shape.last()?).ok()
    }

    /// One vector for each text, not yet of unit length.
    pub(super) fn run(&self, batch: Batch, dimension: usize, pooling: Pooling) -> Result<Vec<Vec<f32>>, String> {
        let failed = |error: ort::Error| format!("ONNX Runtime fails: {error}");
        let Batch { texts, length, numbers, mask } = batch;
        let mut inputs: Vec<SessionInputValue<'_>> = Vec::with_capacity(self.inputs.len());
        for input in &self.inputs {
            let values = match input {
                Input::Numbers => numbers.clone(),
                Input::Mask => mask.clone(),
                Input::Types => vec![0; texts * length],
            };
            inputs.push(Tensor::from_array(([texts, length], values)).map_err(failed)?.into());
        }
        // A run that panicked left the session as it was.
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let outputs = session.run(inputs.as_slice()).map_err(failed)?;
        let output = outputs.get(&self.output.name).ok_or("the graph gave nothing")?;
        let (shape, values) = output.try_extract_tensor::<f32>().map_err(failed)?;
        let expected: &[usize] = if self.output.pooled { &[texts, dimension] } else { &[texts, length, dimension] };
        if !shape.iter().map(|&side| usize::try_from(side).unwrap_or(0)).eq(expected.iter().copied()) {
            let shape: &[i64] = shape;
            return Err(format!("{:?} came out as {shape:?}, the manifest asks for {expected:?}", self.output.name));
        }
        if self.output.pooled {
            return Ok(values.chunks_exact(dimension).map(<[f32]>::to_vec).collect());
        }
        let tokens = values.chunks_exact(length * dimension).zip(mask.chunks_exact(length));
        Ok(tokens.map(|(tokens, mask)| pool(tokens, mask, dimension, pooling)).collect())
    }
}

/// One vector of those of a text's tokens.
fn pool(tokens: &[f32], mask: &[i64], dimension: usize, pooling: Pooling) -> Vec<f32> {
    match pooling {
        Pooling::Cls => tokens[..dimension].to_vec(),
        Pooling::Mean => {
            let mut sum = vec![0.0; dimension];
            for (token, _) in tokens.chunks_exact(dimension).zip(mask).filter(|(_, seen)| **seen == 1) {
                sum.iter_mut().zip(token).for_each(|(sum, number)| *sum += number);
            }
            // Their number does not matter, since the vector is made unit length.
            sum
        }
    }
}

fn builder(runtime: &Runtime, threads: usize) -> ort::Result<SessionBuilder> {
    let builder = Session::builder(&runtime.environment)?
        .with_intra_threads(threads)?
        .with_inter_threads(1)?
        // Threads that wait do not burn time that others need; texts have all lengths, so that no plan of memory is
        // used twice.
        .with_intra_op_spinning(false)?
        .with_memory_pattern(false)?;
    Ok(builder)
}

/// Optimises a graph and keeps the result, in the form that needs no parsing; one byte behind it says whether it mixes
/// batches. `None` where that does not work: the graph is then read as it is, which gives the better error.
fn make_ready(path: &Path, name: &str, runtime: &Runtime, scratch: &Scratch) -> Option<Sealed> {
    let unfinished = scratch.unfinished(name).ok()?;
    let session = builder(runtime, 1).and_then(|builder| {
        let session = builder
            .with_optimization_level(GraphOptimizationLevel::All)?
            .with_config_entry("session.save_model_format", "ORT")?
            .with_optimized_model_path(&unfinished.path)?
            .commit_from_file(path)?;
        Ok(session)
    });
    drop(session.ok()?);
    let mixes = contains(&std::fs::read(path).ok()?, MIXING_OPERATOR);
    let mut made = std::fs::OpenOptions::new().append(true).open(&unfinished.path).ok()?;
    std::io::Write::write_all(&mut made, &[u8::from(mixes)]).ok()?;
    drop(made);
    unfinished.seal().ok()?;
    scratch.open(name)
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn input(outlet: &Outlet) -> Result<Input, String> {
    let name = outlet.name();
    let input = match name {
        "input_ids" => Input::Numbers,
        "attention_mask" => Input::Mask,
        "token_type_ids" => Input::Types,
        _ => return Err(format!("the graph asks for {name:?}, which no text has")),
    };
    match outlet.dtype() {
        ValueType::Tensor { ty: TensorElementType::Int64, .. } => Ok(input),
        other => Err(format!("the graph's input {name:?} is {other}, expected 64-bit integers")),
    }
}

fn names(outlets: &[Outlet]) -> String {
    let names: Vec<String> = outlets.iter().map(|outlet| format!("{:?}", outlet.name())).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_leaves_padding_out() {
        let tokens = [1.0, 2.0, 3.0, 4.0, 100.0, 100.0];
        assert_eq!(pool(&tokens, &[1, 1, 0], 2, Pooling::Mean), [4.0, 6.0]);
        assert_eq!(pool(&tokens, &[1, 1, 0], 2, Pooling::Cls), [1.0, 2.0]);
    }
}
