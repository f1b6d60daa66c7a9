//! Runs a plan: stages without an edge between them side by side, each with its own patience.
//!
//! One asynchronous loop conducts a run. It starts whatever is ready, on the blocking pool unless the stage is
//! [`Weight::Light`], and looks at one result at a time. It never waits for work that does not listen: a stage whose
//! time is up, or that is still busy [`GRACE`] after the run was interrupted, is abandoned on its thread.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use indexmap::IndexMap;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;
use tokio::sync::OnceCell;

use crate::cancel::Cancel;
use crate::plan::{Condition, ConditionTest, Feed, OnError, Output, Plan, PlannedStage, Retries};
use crate::stage::{BuildContext, Inputs, Stage, StageContext, StageError, Weight};
use crate::value::Value;

/// How long an interrupted run waits for stages that are clearing up (an `exec` stage needs it to end its child).
pub const GRACE: Duration = Duration::from_millis(150);

/// How a plan is built.
#[derive(Clone, Debug, Default)]
pub struct BuildOptions {
    /// Whether programs named in the file may be started.
    pub trusted: bool,
    /// Whether stages with effects are only named and not run.
    pub dry_run: bool,
    /// Run this stage and what it needs, and return its value instead of the pipeline's output.
    pub until: Option<String>,
    /// Values of stages that are not to be run.
    pub stubs: IndexMap<String, Value>,
}

/// A stage could not be built.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the stage \"{stage}\" ({kind}) could not be built: {error}")]
pub struct BuildFailure {
    /// The stage.
    pub stage: String,
    /// Its kind.
    pub kind: String,
    /// What happened.
    pub error: StageError,
}

/// Why a plan could not be built.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// There is no stage of the name given to [`BuildOptions::until`] or [`BuildOptions::stubs`].
    #[error("there is no stage \"{name}\"; the stages are {}", .known.join(", "))]
    NoSuchStage {
        /// The name that was given.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// Stages could not be built: all that failed, in the order of the plan.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Stages(Vec<BuildFailure>),
}

/// How a stage ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// It has a value.
    Done,
    /// It was not run: its condition did not hold, something that it needs was skipped, or it failed and may.
    Skipped,
    /// It returned an error.
    Failed,
    /// Its time was up.
    TimedOut,
    /// It panicked.
    Panicked,
    /// The run ended before it did.
    Interrupted,
    /// A test gave its value.
    Stubbed,
    /// It has effects and the run was a dry one.
    Pretended,
    /// Nothing asked for it.
    NotNeeded,
}

impl Status {
    /// The word for reports and traces.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Done => "done",
            Status::Skipped => "skipped",
            Status::Failed => "failed",
            Status::TimedOut => "timed out",
            Status::Panicked => "panicked",
            Status::Interrupted => "interrupted",
            Status::Stubbed => "stubbed",
            Status::Pretended => "would run",
            Status::NotNeeded => "not needed",
        }
    }
}

/// What became of one stage.
#[derive(Clone, Debug)]
pub struct StageReport {
    /// The stage's name.
    pub stage: Arc<str>,
    /// Its kind.
    pub kind: Arc<str>,
    /// How it ended.
    pub status: Status,
    /// Why it was skipped.
    pub reason: Option<String>,
    /// Its value, when it has one.
    pub value: Option<Value>,
    /// What went wrong, also when the run went on without it.
    pub error: Option<StageError>,
    /// How often it was tried.
    pub attempts: u32,
    /// When it started, counted from the start of the run.
    pub started: Duration,
    /// How long it took, retries and pauses included.
    pub elapsed: Duration,
    /// Whether the value was made once and is shared by all records of a batch.
    pub shared: bool,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All that was needed ran, or was skipped as the file allows.
    Completed,
    /// The stage at this place in the report failed.
    Failed(usize),
    /// Somebody asked to stop.
    Interrupted,
}

/// The value of a run.
#[derive(Clone, Debug)]
pub enum OutputValue {
    /// One value; none when its stage was skipped.
    One(Option<Value>),
    /// Several, by name.
    Many(IndexMap<String, Option<Value>>),
}

impl Serialize for OutputValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            OutputValue::One(value) => value.serialize(serializer),
            OutputValue::Many(values) => values.serialize(serializer),
        }
    }
}

impl OutputValue {
    /// The JSON form: a skipped stage is null.
    pub fn to_json(&self) -> Json {
        let form = |value: &Option<Value>| value.as_ref().map_or(Json::Null, Value::to_json);
        match self {
            OutputValue::One(value) => form(value),
            OutputValue::Many(values) => {
                Json::Object(values.iter().map(|(name, value)| (name.clone(), form(value))).collect())
            }
        }
    }
}

/// What became of a run.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// How it ended.
    pub ending: Ending,
    /// The output; nothing unless the run completed.
    pub output: Option<OutputValue>,
    /// The stages, in the order of the file.
    pub stages: Vec<StageReport>,
    /// How long the run took.
    pub elapsed: Duration,
}

impl RunReport {
    /// The stage that made the run fail.
    pub fn failure(&self) -> Option<&StageReport> {
        match self.ending {
            Ending::Failed(at) => self.stages.get(at),
            Ending::Completed | Ending::Interrupted => None,
        }
    }
}

/// Is told about every stage as it ends.
pub trait Observer: Send + Sync {
    /// A stage ended. `inputs` is what it was given; nothing when it was not run.
    fn stage_ended(&self, record: Option<usize>, report: &StageReport, inputs: Option<&Inputs>);
}

/// What a run is told.
#[derive(Clone, Default)]
pub struct RunOptions {
    /// The moment of the run in microseconds since the Unix epoch, UTC.
    pub now_micros: i64,
    /// Ends the run when it is set.
    pub cancel: Cancel,
    /// The number of the record in a batch, counted from 0.
    pub record: Option<usize>,
    /// Who is told about the stages.
    pub observer: Option<Arc<dyn Observer>>,
    /// Whether a stage without a timeout may run on the thread that polls the run, when nothing else of the run could be
    /// done meanwhile. It saves two changes of thread for each stage of a chain, and is for callers who give each run a
    /// thread of its own: while such a stage works, the run cannot be interrupted from within.
    pub own_thread: bool,
}

enum Slot {
    NotNeeded,
    Stubbed(Value),
    Pretended,
    Ready(Arc<dyn Stage>),
}

/// A plan whose files are open, ready to run any number of times, also at the same time.
pub struct Runner {
    plan: Arc<Plan>,
    slots: Vec<Slot>,
    names: Vec<(Arc<str>, Arc<str>)>,
    followers: Vec<Vec<usize>>,
    waiting_for: Vec<usize>,
    shared: Vec<OnceCell<Ended>>,
    target: Output,
}

/// How a stage ended, before it becomes a report.
#[derive(Clone, Debug)]
struct Ended {
    status: Status,
    reason: Option<String>,
    value: Option<Value>,
    error: Option<StageError>,
    attempts: u32,
}

impl Ended {
    fn with_value(status: Status, value: Value) -> Self {
        Ended { status, reason: None, value: Some(value), error: None, attempts: 1 }
    }

    fn without_value(status: Status, reason: impl Into<String>) -> Self {
        Ended { status, reason: Some(reason.into()), value: None, error: None, attempts: 0 }
    }

    fn wrong(status: Status, error: StageError, attempts: u32) -> Self {
        Ended { status, reason: None, value: None, error: Some(error), attempts }
    }
}

impl Runner {
    /// Builds the stages that the output, or [`BuildOptions::until`], needs.
    ///
    /// # Errors
    /// All stages that could not be built, not only the first.
    pub fn build(plan: Arc<Plan>, options: &BuildOptions) -> Result<Self, BuildError> {
        let no_such_stage = |name: &str| BuildError::NoSuchStage {
            name: name.to_owned(),
            known: plan.stages.iter().map(|stage| stage.name.clone()).collect(),
        };
        let place = |name: &str| plan.stages.iter().position(|stage| stage.name == name);
        let target = match &options.until {
            Some(name) => Output::One(Feed::Stage(place(name).ok_or_else(|| no_such_stage(name))?)),
            None => plan.output.clone(),
        };
        if let Some(name) = options.stubs.keys().find(|name| place(name).is_none()) {
            return Err(no_such_stage(name));
        }
        let wanted = wanted(&plan, &target, options);

        let mut failures = Vec::new();
        let mut slots = Vec::with_capacity(plan.stages.len());
        for (stage, wanted) in plan.stages.iter().zip(&wanted) {
            let slot = if let Some(value) = options.stubs.get(&stage.name) {
                Slot::Stubbed(value.clone())
            } else if !wanted {
                Slot::NotNeeded
            } else if options.dry_run && stage.config.has_effects() {
                Slot::Pretended
            } else {
                let context = BuildContext {
                    base: plan.path.parent().map(Into::into).unwrap_or_default(),
                    stage: stage.name.clone(),
                    trusted: options.trusted,
                    dry_run: options.dry_run,
                };
                // A kind from outside may panic here as well as in `run`.
                match catch_unwind(AssertUnwindSafe(|| stage.config.build(&context))) {
                    Ok(Ok(stage)) => Slot::Ready(Arc::from(stage)),
                    Ok(Err(error)) => {
                        failures.push(BuildFailure { stage: stage.name.clone(), kind: stage.kind.clone(), error });
                        Slot::NotNeeded
                    }
                    Err(panic) => {
                        let error = StageError::permanent(format!("it panicked: {}", panic_message(&*panic)));
                        failures.push(BuildFailure { stage: stage.name.clone(), kind: stage.kind.clone(), error });
                        Slot::NotNeeded
                    }
                }
            };
            slots.push(slot);
        }
        if !failures.is_empty() {
            return Err(BuildError::Stages(failures));
        }

        let mut followers = vec![Vec::new(); plan.stages.len()];
        let mut waiting_for = vec![0; plan.stages.len()];
        for (at, stage) in plan.stages.iter().enumerate() {
            if matches!(slots[at], Slot::NotNeeded | Slot::Stubbed(_)) {
                continue;
            }
            let mut before: Vec<usize> = stage_feeds(stage).filter_map(feeding_stage).collect();
            before.sort_unstable();
            before.dedup();
            waiting_for[at] = before.len();
            for other in before {
                followers[other].push(at);
            }
        }
        let names = plan.stages.iter().map(|stage| (stage.name.as_str().into(), stage.kind.as_str().into())).collect();
        let shared = plan.stages.iter().map(|_| OnceCell::new()).collect();
        Ok(Runner { plan, slots, names, followers, waiting_for, shared, target })
    }

    /// The plan that this runs.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Types the values given for a run.
    ///
    /// # Errors
    /// Every input that is unknown, missing or of the wrong form, one sentence each. Unknown names are let through
    /// when `lenient` is set (the records of a batch carry more than a pipeline needs).
    pub fn read_inputs(
        &self,
        given: IndexMap<String, Json>,
        lenient: bool,
    ) -> Result<IndexMap<String, Value>, Vec<String>> {
        read_inputs(&self.plan, given, lenient, |name| self.is_read(name))
    }

    /// Whether any stage of this run, or its output, reads the input: others may be left out.
    fn is_read(&self, input: &str) -> bool {
        let reads = |feed: &Feed| matches!(feed, Feed::Input(name) if name == input);
        let by_stage = self
            .plan
            .stages
            .iter()
            .zip(&self.slots)
            .any(|(stage, slot)| matches!(slot, Slot::Ready(_) | Slot::Pretended) && stage_feeds(stage).any(reads));
        by_stage || output_feeds(&self.target).any(reads)
    }

    /// Runs the plan once. Must be called within a tokio runtime with timers.
    ///
    /// Dropping the future abandons the run; stages on the blocking pool then run to their end, unseen.
    pub async fn run(&self, inputs: &IndexMap<String, Value>, options: &RunOptions) -> RunReport {
        Conductor::new(self, inputs, options).conduct().await
    }

    /// Writes out what stages hold back. To be called once after the last run, also after an interrupted one.
    ///
    /// # Errors
    /// The stages that could not write.
    pub fn flush(&self) -> Result<(), Vec<BuildFailure>> {
        let mut failures = Vec::new();
        for (stage, slot) in self.plan.stages.iter().zip(&self.slots) {
            if let Slot::Ready(ready) = slot
                && let Err(error) = ready.flush()
            {
                failures.push(BuildFailure { stage: stage.name.clone(), kind: stage.kind.clone(), error });
            }
        }
        if failures.is_empty() { Ok(()) } else { Err(failures) }
    }
}

/// Types the values given for a run of `plan`; `needed` says which inputs the run reads at all.
fn read_inputs(
    plan: &Plan,
    given: IndexMap<String, Json>,
    lenient: bool,
    needed: impl Fn(&str) -> bool,
) -> Result<IndexMap<String, Value>, Vec<String>> {
    let mut problems = Vec::new();
    let mut wrong = Vec::new();
    let mut values = IndexMap::with_capacity(plan.inputs.len());
    for (name, json) in given {
        match plan.inputs.get(&name) {
            // A null stands for nothing given, as it does in the JSON of most languages.
            Some(spec) if json.is_null() && spec.optional => {}
            Some(spec) => match Value::from_json(spec.kind, json) {
                Ok(value) => {
                    values.insert(name, value);
                }
                Err(error) => {
                    problems.push(format!("the input \"{name}\" is {error}"));
                    wrong.push(name);
                }
            },
            None if lenient => {}
            None => problems.push(unknown_input(plan, &name)),
        }
    }
    for (name, spec) in &plan.inputs {
        if !spec.optional && !values.contains_key(name) && needed(name) && !wrong.contains(name) {
            problems.push(format!("the input \"{name}\" ({}) is missing", spec.kind));
        }
    }
    if problems.is_empty() { Ok(values) } else { Err(problems) }
}

fn unknown_input(plan: &Plan, name: &str) -> String {
    let known: Vec<&str> = plan.inputs.keys().map(String::as_str).collect();
    let nearest = known.iter().max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
    match nearest {
        Some(nearest) if strsim::jaro_winkler(nearest, name) > 0.8 => {
            format!("there is no input \"{name}\", did you mean \"{nearest}\"?")
        }
        Some(_) => format!("there is no input \"{name}\"; the inputs are {}", known.join(", ")),
        None => format!("there is no input \"{name}\"; this pipeline takes none"),
    }
}

fn stage_feeds(stage: &PlannedStage) -> impl Iterator<Item = &Feed> {
    let conditions = stage.when.iter().map(|condition| &condition.feed);
    stage.bindings.iter().flat_map(|binding| &binding.feeds).chain(conditions)
}

fn output_feeds(output: &Output) -> impl Iterator<Item = &Feed> {
    let (one, many) = match output {
        Output::One(feed) => (Some(feed), None),
        Output::Many(feeds) => (None, Some(feeds.values())),
    };
    one.into_iter().chain(many.into_iter().flatten())
}

fn feeding_stage(feed: &Feed) -> Option<usize> {
    match feed {
        Feed::Stage(at) => Some(*at),
        Feed::Input(_) => None,
    }
}

/// Which stages must run: what the target needs, what has effects, and what those need; nothing above a stub.
fn wanted(plan: &Plan, target: &Output, options: &BuildOptions) -> Vec<bool> {
    let mut wanted = vec![false; plan.stages.len()];
    let mut open: Vec<usize> = output_feeds(target).filter_map(feeding_stage).collect();
    if options.until.is_none() {
        open.extend((0..plan.stages.len()).filter(|at| plan.stages[*at].config.has_effects()));
    }
    while let Some(at) = open.pop() {
        if wanted[at] {
            continue;
        }
        wanted[at] = true;
        if !options.stubs.contains_key(&plan.stages[at].name) {
            open.extend(stage_feeds(&plan.stages[at]).filter_map(feeding_stage));
        }
    }
    wanted
}

/// What a finished piece of work hands back to the conductor: the stage, its end, when it started, what it was given.
type Finished = (usize, Ended, Instant, Arc<Inputs>);

/// The state of one run.
struct Conductor<'run> {
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
    fn new(runner: &'run Runner, inputs: &'run IndexMap<String, Value>, options: &'run RunOptions) -> Self {
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

    async fn conduct(mut self) -> RunReport {
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

    fn report(self, interrupted: bool) -> RunReport {
        let ending = match self.failed {
            Some(at) => Ending::Failed(at),
            None if interrupted => Ending::Interrupted,
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

/// One stage with its patience.
struct Attempts {
    stage: Arc<dyn Stage>,
    inputs: Arc<Inputs>,
    context: StageContext,
    cancel: Cancel,
    timeout: Option<Duration>,
    retries: Retries,
    promises: crate::value::Type,
}

impl Attempts {
    /// Tries until it works, the tries are used up, or the run ends. The timeout holds for each try.
    async fn make(self) -> Ended {
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
fn in_place(stage: &dyn Stage, inputs: &Inputs, context: &StageContext, planned: &PlannedStage) -> Ended {
    let result = match catch_unwind(AssertUnwindSafe(|| stage.run(inputs, context))) {
        Ok(Ok(value)) => keeps_promise(value, planned.ports.output),
        Ok(Err(error)) => Err((Status::Failed, error)),
        Err(panic) => Err((Status::Panicked, panicked(&*panic))),
    };
    match result {
        Ok(value) => Ended::with_value(Status::Done, value),
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

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("(no message)")
}

fn holds(condition: &Condition, value: Option<&Value>) -> bool {
    match &condition.test {
        ConditionTest::Present => value.is_some(),
        ConditionTest::Empty => value.is_none_or(Value::is_empty),
        ConditionTest::NotEmpty => value.is_some_and(|value| !value.is_empty()),
        ConditionTest::Equals(json) => value.is_some_and(|value| same_json(&value.to_json(), json)),
        ConditionTest::Greater(bound) => value.and_then(Value::size).is_some_and(|size| size > *bound),
    }
}

/// Equality of JSON in which 1 and 1.0 are the same number.
pub(crate) fn same_json(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::Number(left), Json::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Json::Array(left), Json::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same_json(left, right))
        }
        (Json::Object(left), Json::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| right.get(key).is_some_and(|other| same_json(value, other)))
        }
        _ => left == right,
    }
}

fn describe_test(test: &ConditionTest) -> String {
    match test {
        ConditionTest::Present => "is not there".into(),
        ConditionTest::Empty => "is not empty".into(),
        ConditionTest::NotEmpty => "is empty".into(),
        ConditionTest::Equals(json) => format!("does not equal {json}"),
        ConditionTest::Greater(bound) => format!("is not greater than {bound}"),
    }
}
