//! The loop that conducts one run.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use indexmap::IndexMap;

use super::attempt::{Attempts, Ended, in_place};
use super::condition::{describe_test, holds};
use super::{Ending, GRACE, OutputValue, RunOptions, RunReport, Runner, Slot, StageReport, Status};
use crate::cancel::Cancel;
use crate::plan::{Feed, OnError, Output, PlannedStage};
use crate::stage::{Inputs, StageContext, StageError, Weight};
use crate::value::Value;

/// What a finished piece of work hands back to the conductor: the stage, its end, when it started, what it was given.
type Finished = (usize, Ended, Instant, Arc<Inputs>);

/// The state of one run.
pub(super) struct Conductor<'run> {
    runner: &'run Runner,
    inputs: &'run IndexMap<String, Value>,
    options: &'run RunOptions,
    /// Set when the run ends early; a child of the caller's signal.
    cancel: Cancel,
    begun: Instant,
    waiting_for: Vec<usize>,
    ready: VecDeque<usize>,
    busy: FuturesUnordered<BoxFuture<'run, Finished>>,
    reports: Vec<Option<StageReport>>,
    failed: Option<usize>,
}

impl<'run> Conductor<'run> {
    pub(super) fn new(runner: &'run Runner, inputs: &'run IndexMap<String, Value>, options: &'run RunOptions) -> Self {
        let mut conductor = Conductor {
            runner,
            inputs,
            options,
            cancel: options.cancel.child(),
            begun: Instant::now(),
            waiting_for: runner.waiting_for.clone(),
            ready: VecDeque::new(),
            busy: FuturesUnordered::new(),
            reports: vec![None; runner.slots.len()],
            failed: None,
        };
        for at in &runner.plan.order {
            let at = *at;
            if matches!(runner.slots[at], Slot::NotNeeded) {
                let (stage, kind) = runner.names[at].clone();
                conductor.reports[at] = Some(StageReport {
                    stage,
                    kind,
                    status: Status::NotNeeded,
                    reason: None,
                    value: None,
                    error: None,
                    attempts: 0,
                    started: Duration::ZERO,
                    elapsed: Duration::ZERO,
                    shared: false,
                });
            } else if conductor.waiting_for[at] == 0 {
                conductor.ready.push_back(at);
            }
        }
        conductor
    }

    pub(super) async fn conduct(mut self) -> RunReport {
        let limit = match self.runner.plan.max_parallel {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            limit => limit,
        };
        loop {
            while self.failed.is_none() && !self.cancel.is_cancelled() && self.busy.len() < limit {
                match self.ready.pop_front() {
                    Some(at) => self.start(at),
                    None => break,
                }
            }
            if self.failed.is_some() || self.cancel.is_cancelled() || self.busy.is_empty() {
                break;
            }
            tokio::select! {
                biased;
                Some((at, ended, started, inputs)) = self.busy.next() => self.end(at, ended, started, Some(&inputs)),
                () = self.options.cancel.cancelled() => {}
            }
        }
        let interrupted = self.options.cancel.is_cancelled();
        self.clear_up().await;
        self.report(interrupted)
    }

    /// Starts a stage, or settles it at once when there is nothing to start.
    fn start(&mut self, at: usize) {
        let started = Instant::now();
        let runner = self.runner;
        let stage = &runner.plan.stages[at];
        let ready = match &runner.slots[at] {
            Slot::Stubbed(value) => {
                return self.end(at, Ended::with_value(Status::Stubbed, value.clone()), started, None);
            }
            Slot::NotNeeded => return,
            Slot::Pretended => None,
            Slot::Ready(ready) => Some(ready),
        };
        if let Some(cached) = runner.shared[at].get().filter(|_| stage.constant) {
            return self.end(at, cached.clone(), started, None);
        }
        let inputs = match self.gather(stage) {
            Ok(inputs) => Arc::new(inputs),
            Err(ended) => return self.end(at, *ended, started, None),
        };
        let Some(ready) = ready else {
            let ended = Ended::without_value(Status::Pretended, "it has effects, and this is a dry run");
            return self.end(at, ended, started, Some(&inputs));
        };
        let context = StageContext {
            stage: runner.names[at].0.clone(),
            cancel: self.cancel.child(),
            now_micros: self.options.now_micros,
            record: self.options.record,
        };
        let nothing_beside =
            self.options.own_thread && !stage.constant && self.ready.is_empty() && self.busy.is_empty();
        let may_stay = ready.weight() == Weight::Light || nothing_beside;
        if may_stay && stage.timeout.is_none() && stage.retries.count == 0 {
            let ended = in_place(ready.as_ref(), &inputs, &context, stage);
            if stage.constant {
                // Another record may have been quicker: both computed the same value.
                let _ = runner.shared[at].set(ended.clone());
            }
            return self.end(at, ended, started, Some(&inputs));
        }
        let attempts = Attempts {
            stage: ready.clone(),
            inputs: inputs.clone(),
            context,
            cancel: self.cancel.clone(),
            timeout: stage.timeout,
            retries: stage.retries,
            promises: stage.ports.output,
        };
        self.busy.push(if stage.constant {
            Box::pin(async move {
                // The first record to arrive makes the value, and the others wait for it. An interrupted try is not
                // kept: the next record makes its own.
                let shared = runner.shared[at].get_or_try_init(|| async {
                    let ended = attempts.make().await;
                    if ended.status == Status::Interrupted { Err(ended) } else { Ok(ended) }
                });
                let ended = shared.await.cloned().unwrap_or_else(|interrupted| interrupted);
                (at, ended, started, inputs)
            })
        } else {
            Box::pin(async move { (at, attempts.make().await, started, inputs) })
        });
    }

    /// The values on the ports of a stage, or why it is skipped.
    fn gather(&self, stage: &PlannedStage) -> Result<Inputs, Box<Ended>> {
        if let Some(condition) = &stage.when
            && !holds(condition, self.value_of(&condition.feed))
        {
            let subject = self.feed_name(&condition.feed);
            let reason = format!("its condition does not hold: {subject} {}", describe_test(&condition.test));
            return Err(Box::new(Ended::without_value(Status::Skipped, reason)));
        }
        let mut inputs = Inputs::new();
        for binding in &stage.bindings {
            let mut fed = false;
            for feed in &binding.feeds {
                let Some(value) = self.value_of(feed) else { continue };
                let value = value.convert(binding.accepts).map_err(|error| {
                    let message = format!("{} on the port \"{}\" is {error}", self.feed_name(feed), binding.port);
                    Box::new(Ended::wrong(Status::Failed, StageError::permanent(message), 0))
                })?;
                inputs.push(binding.port.as_str(), value);
                fed = true;
            }
            if binding.required && !fed {
                let missing = binding.feeds.iter().map(|feed| self.feed_name(feed)).collect::<Vec<_>>().join(", ");
                let reason = format!("it needs {missing} on its port \"{}\", and there is nothing", binding.port);
                return Err(Box::new(Ended::without_value(Status::Skipped, reason)));
            }
        }
        Ok(inputs)
    }

    fn value_of(&self, feed: &Feed) -> Option<&Value> {
        match feed {
            Feed::Input(name) => self.inputs.get(name),
            Feed::Stage(at) => self.reports[*at].as_ref().and_then(|report| report.value.as_ref()),
        }
    }

    fn feed_name(&self, feed: &Feed) -> String {
        match feed {
            Feed::Input(name) => format!("$input.{name}"),
            Feed::Stage(at) => format!("\"{}\"", self.runner.names[*at].0),
        }
    }

    /// Notes how a stage ended and frees those that waited for it.
    fn end(&mut self, at: usize, ended: Ended, started: Instant, inputs: Option<&Inputs>) {
        let stage = &self.runner.plan.stages[at];
        let (name, kind) = self.runner.names[at].clone();
        let went_wrong = matches!(ended.status, Status::Failed | Status::TimedOut | Status::Panicked);
        let forgiven = went_wrong && stage.on_error == OnError::Skip;
        if went_wrong && !forgiven && self.failed.is_none() {
            self.failed = Some(at);
        }
        let report = StageReport {
            stage: name,
            kind,
            status: if forgiven { Status::Skipped } else { ended.status },
            reason: if forgiven {
                Some(format!("it {}, and on-error is \"skip\"", ended.status.as_str()))
            } else {
                ended.reason
            },
            value: ended.value,
            error: ended.error,
            attempts: ended.attempts,
            started: started.duration_since(self.begun),
            elapsed: started.elapsed(),
            shared: stage.constant,
        };
        if let Some(observer) = &self.options.observer {
            observer.stage_ended(self.options.record, &report, inputs);
        }
        self.reports[at] = Some(report);
        for next in &self.runner.followers[at] {
            self.waiting_for[*next] -= 1;
            if self.waiting_for[*next] == 0 {
                self.ready.push_back(*next);
            }
        }
    }

    /// Tells whatever is still busy to stop, and gives it [`GRACE`] to do so.
    async fn clear_up(&mut self) {
        self.cancel.cancel();
        if self.busy.is_empty() {
            return;
        }
        let grace = tokio::time::sleep(GRACE);
        tokio::pin!(grace);
        loop {
            tokio::select! {
                next = self.busy.next() => match next {
                    Some((at, ended, started, inputs)) => {
                        // What came in after the end of the run is kept for the report, but starts nothing.
                        let failed = self.failed;
                        let ended = if ended.value.is_some() { ended } else {
                            Ended { status: Status::Interrupted, reason: Some("the run ended first".into()), ..ended }
                        };
                        self.end(at, ended, started, Some(&inputs));
                        self.failed = failed;
                    }
                    None => return,
                },
                () = &mut grace => return,
            }
        }
    }

    /// Whether a stage was stopped, so that the run has no result even if nobody asks any more.
    fn is_broken_off(&self) -> bool {
        self.reports.iter().flatten().any(|report| report.status == Status::Interrupted)
    }

    fn report(self, interrupted: bool) -> RunReport {
        let ending = match self.failed {
            Some(at) => Ending::Failed(at),
            None if interrupted || self.is_broken_off() => Ending::Interrupted,
            None => Ending::Completed,
        };
        let value_of = |feed: &Feed| self.value_of(feed).cloned();
        let output = (ending == Ending::Completed).then(|| match &self.runner.target {
            Output::One(feed) => OutputValue::One(value_of(feed)),
            Output::Many(feeds) => {
                OutputValue::Many(feeds.iter().map(|(name, feed)| (name.clone(), value_of(feed))).collect())
            }
        });
        let elapsed = self.begun.elapsed();
        let stages = self.reports.into_iter().zip(&self.runner.names).map(|(report, (stage, kind))| {
            report.unwrap_or_else(|| StageReport {
                stage: stage.clone(),
                kind: kind.clone(),
                status: Status::Interrupted,
                reason: Some("the run ended first".into()),
                value: None,
                error: None,
                attempts: 0,
                started: elapsed,
                elapsed: Duration::ZERO,
                shared: false,
            })
        });
        RunReport { ending, output, stages: stages.collect(), elapsed }
    }
}
