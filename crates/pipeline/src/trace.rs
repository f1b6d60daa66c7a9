//! The trace of a run: one JSON line for each stage that ended.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value as Json, json};

use crate::run::{Observer, StageReport};
use crate::stage::Inputs;

/// How many elements of a list a trace shows.
const ELEMENTS: usize = 20;

/// How many characters of a string a trace shows.
const CHARACTERS: usize = 2_000;

/// Writes one JSON object per stage and line: `record` (in a batch), `stage`, `kind`, `status`, `started_us`,
/// `elapsed_us`, `attempts`, `inputs` by port, `output`, and `reason` or `error` where there is one.
///
/// Long lists and texts are cut, and say so: a trace is for reading, and an index of 10,000 documents would drown it.
///
/// ```
/// let trace = hatir_pipeline::Trace::new(Vec::new());
/// let bytes = trace.finish().unwrap();
/// assert!(bytes.is_empty(), "nothing has run");
/// ```
#[derive(Debug)]
pub struct Trace<W> {
    inner: Mutex<Inner<W>>,
}

#[derive(Debug)]
struct Inner<W> {
    writer: W,
    failed: Option<io::Error>,
}

impl<W: Write> Trace<W> {
    /// A trace that goes to `writer`, which should be buffered.
    pub fn new(writer: W) -> Self {
        Trace { inner: Mutex::new(Inner { writer, failed: None }) }
    }

    /// Writes out what is buffered and gives the writer back.
    ///
    /// # Errors
    /// The first error of any write: a trace never makes a run fail, so it is kept until here.
    pub fn finish(self) -> io::Result<W> {
        let Inner { mut writer, failed } = self.inner.into_inner().unwrap_or_else(PoisonError::into_inner);
        match failed {
            Some(error) => Err(error),
            None => writer.flush().map(|()| writer),
        }
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// The first error of any write so far.
    pub fn flush(&self) -> io::Result<()> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        match inner.failed.take() {
            Some(error) => Err(error),
            None => inner.writer.flush(),
        }
    }
}

impl<W: Write + Send> Observer for Trace<W> {
    fn stage_ended(&self, record: Option<usize>, report: &StageReport, inputs: Option<&Inputs>) {
        let mut line = serde_json::to_vec(&event(record, report, inputs)).unwrap_or_default();
        line.push(b'\n');
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.failed.is_none() {
            inner.failed = inner.writer.write_all(&line).err();
        }
    }
}

fn event(record: Option<usize>, report: &StageReport, inputs: Option<&Inputs>) -> Json {
    let mut event = Map::new();
    let mut put = |key: &str, value: Json| {
        event.insert(key.to_owned(), value);
    };
    if let Some(record) = record {
        put("record", json!(record));
    }
    put("stage", json!(&*report.stage));
    put("kind", json!(&*report.kind));
    put("status", json!(report.status.as_str()));
    put("started_us", json!(report.started.as_micros() as u64));
    put("elapsed_us", json!(report.elapsed.as_micros() as u64));
    put("attempts", json!(report.attempts));
    if report.shared {
        put("shared", json!(true));
    }
    if let Some(inputs) = inputs {
        let ports = inputs.iter().map(|(port, values)| {
            let values: Vec<Json> = values.iter().map(|value| shorten(&value.to_json())).collect();
            (port.to_owned(), if values.len() == 1 { values[0].clone() } else { Json::Array(values) })
        });
        put("inputs", Json::Object(ports.collect()));
    }
    if let Some(value) = &report.value {
        put("output", shorten(&value.to_json()));
    }
    if let Some(reason) = &report.reason {
        put("reason", json!(reason));
    }
    if let Some(error) = &report.error {
        put("error", error_json(error));
    }
    Json::Object(event)
}

/// An error as scripts read it.
pub(crate) fn error_json(error: &crate::stage::StageError) -> Json {
    let mut object = Map::new();
    object.insert("message".into(), json!(error.message));
    if let Some(hint) = &error.hint {
        object.insert("hint".into(), json!(hint));
    }
    if let Some(detail) = &error.detail {
        object.insert("detail".into(), json!(detail));
    }
    Json::Object(object)
}

fn shorten(value: &Json) -> Json {
    match value {
        Json::String(text) => match text.char_indices().nth(CHARACTERS) {
            Some((end, _)) => Json::String(format!("{}… ({} bytes in all)", &text[..end], text.len())),
            None => value.clone(),
        },
        Json::Array(elements) => {
            let mut short: Vec<Json> = elements.iter().take(ELEMENTS).map(shorten).collect();
            if elements.len() > ELEMENTS {
                short.push(Json::String(format!("… ({} elements in all)", elements.len())));
            }
            Json::Array(short)
        }
        Json::Object(object) => Json::Object(object.iter().map(|(key, value)| (key.clone(), shorten(value))).collect()),
        Json::Null | Json::Bool(_) | Json::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut_and_say_so() {
        let long = json!({ "list": (0..30).collect::<Vec<_>>(), "text": "ş".repeat(3_000), "short": [1] });
        let short = shorten(&long);
        assert_eq!(short["list"].as_array().unwrap().len(), ELEMENTS + 1);
        assert_eq!(short["list"][ELEMENTS], "… (30 elements in all)");
        assert!(short["text"].as_str().unwrap().ends_with("… (6000 bytes in all)"));
        assert_eq!(short["short"], json!([1]));
    }

    #[test]
    fn a_full_disk_is_told_at_the_end() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let trace = Trace::new(Full);
        let report = StageReport {
            stage: "a".into(),
            kind: "b".into(),
            status: crate::run::Status::Done,
            reason: None,
            value: None,
            error: None,
            attempts: 1,
            started: std::time::Duration::ZERO,
            elapsed: std::time::Duration::ZERO,
            shared: false,
        };
        trace.stage_ended(None, &report, None);
        assert_eq!(trace.finish().err().map(|error| error.kind()), Some(io::ErrorKind::StorageFull));
    }
}
