//! What the tests of the stage kinds share.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::cancel::Cancel;
use crate::stage::{BuildContext, Complaint, Inputs, Registry, Stage, StageContext, StageError};
use crate::value::{Type, Value};

/// A stage kind with its `with` table, in a folder.
pub(super) struct Bench {
    kind: &'static str,
    with: Json,
    context: BuildContext,
    pub(super) cancel: Cancel,
}

impl Bench {
    pub(super) fn new(kind: &'static str, with: Json) -> Self {
        let context = BuildContext { base: PathBuf::new(), stage: "tested".to_owned(), trusted: true, dry_run: false };
        Bench { kind, with, context, cancel: Cancel::new() }
    }

    pub(super) fn within(mut self, folder: &Path) -> Self {
        folder.clone_into(&mut self.context.base);
        self
    }

    pub(super) fn untrusted(mut self) -> Self {
        self.context.trusted = false;
        self
    }

    pub(super) fn dry(mut self) -> Self {
        self.context.dry_run = true;
        self
    }

    pub(super) fn check(&self) -> Vec<Complaint> {
        self.config().check()
    }

    fn config(&self) -> Box<dyn crate::stage::Configured> {
        Registry::standard().get(self.kind).unwrap().parse(self.with.clone()).unwrap()
    }

    pub(super) fn build(&self) -> Result<Box<dyn Stage>, StageError> {
        self.config().build(&self.context)
    }

    pub(super) fn context(&self) -> StageContext {
        // The moment is 2026-01-02T03:04:05Z.
        StageContext {
            stage: "tested".into(),
            cancel: self.cancel.clone(),
            now_micros: 1_767_323_045_000_000,
            record: None,
        }
    }

    /// Builds the stage, runs it once and flushes it.
    pub(super) fn run(&self, inputs: &Inputs) -> Result<Value, StageError> {
        let stage = self.build()?;
        let value = stage.run(inputs, &self.context())?;
        stage.flush()?;
        assert_eq!(value.kind(), self.config().ports().output, "a kind keeps the promise of its ports");
        Ok(value)
    }
}

pub(super) fn inputs<const N: usize>(ports: [(&str, Type, Json); N]) -> Inputs {
    let mut inputs = Inputs::new();
    for (port, kind, json) in ports {
        inputs.push(port, Value::from_json(kind, json).unwrap());
    }
    inputs
}
