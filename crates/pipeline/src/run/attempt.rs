//! One stage, tried until it works or its patience ends.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::{GRACE, Status};
use crate::cancel::Cancel;
use crate::plan::{PlannedStage, Retries};
use crate::stage::{Inputs, Stage, StageContext, StageError};
use crate::value::Value;

/// How a stage ended, before it becomes a report.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    pub(super) status: Status,
    pub(super) reason: Option<String>,
    pub(super) value: Option<Value>,
    pub(super) error: Option<StageError>,
    pub(super) attempts: u32,
}

impl Ended {
    pub(super) fn with_value(status: Status, value: Value) -> Self {
        Ended { status, reason: None, value: Some(value), error: None, attempts: 1 }
    }

    pub(super) fn without_value(status: Status, reason: impl Into<String>) -> Self {
        Ended { status, reason: Some(reason.into()), value: None, error: None, attempts: 0 }
    }

    pub(super) fn wrong(status: Status, error: StageError, attempts: u32) -> Self {
        Ended { status, reason: None, value: None, error: Some(error), attempts }
    }
}

/// One stage with its patience.
pub(super) struct Attempts {
    pub(super) stage: Arc<dyn Stage>,
    pub(super) inputs: Arc<Inputs>,
    pub(super) context: StageContext,
    pub(super) cancel: Cancel,
    pub(super) timeout: Option<Duration>,
    pub(super) retries: Retries,
    pub(super) promises: crate::value::Type,
}

impl Attempts {
    /// Tries until it works, the tries are used up, or the run ends. The timeout holds for each try.
    pub(super) async fn make(self) -> Ended {
        let mut attempts = 0;
        let mut pause = self.retries.pause;
        loop {
            attempts += 1;
            let (status, error) = match self.try_once().await {
                Ok(value) => return Ended { attempts, ..Ended::with_value(Status::Done, value) },
                Err(wrong) => wrong,
            };
            if self.cancel.is_cancelled() {
                return Ended::wrong(Status::Interrupted, error, attempts);
            }
            if !error.retryable || attempts > self.retries.count {
                return Ended::wrong(status, error, attempts);
            }
            // Full pauses in step would make all records of a batch knock at the same moment.
            let jittered = pause.mul_f64(0.5 + fastrand::f64() * 0.5);
            tokio::select! {
                () = tokio::time::sleep(jittered) => {}
                () = self.cancel.cancelled() => return Ended::wrong(Status::Interrupted, error, attempts),
            }
            pause = (pause * 2).min(self.retries.longest);
        }
    }

    async fn try_once(&self) -> Result<Value, (Status, StageError)> {
        let (stage, inputs) = (self.stage.clone(), self.inputs.clone());
        let context = StageContext { cancel: self.cancel.child(), ..self.context.clone() };
        let stop = context.cancel.clone();
        let needs_grace = stage.needs_grace();
        let mut work = tokio::task::spawn_blocking(move || stage.run(&inputs, &context));
        let joined = match self.timeout {
            None => work.await,
            Some(patience) => match tokio::time::timeout(patience, &mut work).await {
                Ok(joined) => joined,
                Err(_) => {
                    stop.cancel();
                    if needs_grace {
                        // Its result is late in any case; what matters is that it has cleared up.
                        let _ = tokio::time::timeout(GRACE, work).await;
                    }
                    let error = StageError::new(format!("it took longer than {patience:?}"))
                        .hint("raise `timeout`, or set `on-error = \"skip\"` to go on without this stage");
                    return Err((Status::TimedOut, error));
                }
            },
        };
        match joined {
            Ok(Ok(value)) => keeps_promise(value, self.promises),
            Ok(Err(error)) => Err((Status::Failed, error)),
            Err(error) if error.is_panic() => Err((Status::Panicked, panicked(&*error.into_panic()))),
            Err(_) => Err((Status::Interrupted, StageError::permanent("the runtime is shutting down"))),
        }
    }
}

/// Runs a light stage on the conductor's own thread.
pub(super) fn in_place(stage: &dyn Stage, inputs: &Inputs, context: &StageContext, planned: &PlannedStage) -> Ended {
    let result = match catch_unwind(AssertUnwindSafe(|| stage.run(inputs, context))) {
        Ok(Ok(value)) => keeps_promise(value, planned.ports.output),
        Ok(Err(error)) => Err((Status::Failed, error)),
        Err(panic) => Err((Status::Panicked, panicked(&*panic))),
    };
    match result {
        Ok(value) => Ended::with_value(Status::Done, value),
        // A stage that was asked to stop says so by an error, which is no failure of its own.
        Err((Status::Failed, error)) if context.cancel.is_cancelled() => Ended::wrong(Status::Interrupted, error, 1),
        Err((status, error)) => Ended::wrong(status, error, 1),
    }
}

/// A kind from outside may return another type than it declared; the ports below were checked against the declared one.
fn keeps_promise(value: Value, promised: crate::value::Type) -> Result<Value, (Status, StageError)> {
    let found = value.kind();
    if found == promised {
        return Ok(value);
    }
    let message = format!("it returned a value of type {found}, but its kind declares {promised}");
    Err((Status::Failed, StageError::permanent(message)))
}

fn panicked(panic: &(dyn Any + Send)) -> StageError {
    StageError::permanent(format!("it panicked: {}", panic_message(panic)))
        .hint("this is a fault of the stage kind, not of the file; please report it with the input that caused it")
}

pub(super) fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("(no message)")
}
