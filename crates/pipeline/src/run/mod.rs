//! Runs a plan: stages without an edge between them side by side, each with its own patience.
//!
//! One asynchronous loop conducts a run. It starts whatever is ready, on the blocking pool unless the stage is
//! [`Weight::Light`], and looks at one result at a time. It never waits for work that does not listen: a stage whose
//! time is up, or that is still busy [`GRACE`] after the run was interrupted, is abandoned on its thread.

mod attempt;
mod condition;
mod conduct;
mod report;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use serde_json::Value as Json;
use tokio::sync::OnceCell;

use self::attempt::{Ended, panic_message};
pub(crate) use self::condition::same_json;
use self::conduct::Conductor;
pub use self::report::{Ending, Observer, OutputValue, RunReport, StageReport, Status};
use crate::cancel::Cancel;
use crate::plan::{Feed, Output, Plan, PlannedStage};
use crate::stage::{BuildContext, Stage, StageError};
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

    /// Writes out what stages hold back. To be called once after the last run, when all went well.
    ///
    /// # Errors
    /// The stages that could not write.
    pub fn flush(&self) -> Result<(), Vec<BuildFailure>> {
        self.end_stages(|stage| stage.flush())
    }

    /// Ends the stages of work that was interrupted or failed: files that are replaced as a whole stay as they were.
    ///
    /// # Errors
    /// The stages that could not write out what they keep in any case.
    pub fn give_up(&self) -> Result<(), Vec<BuildFailure>> {
        self.end_stages(|stage| stage.give_up())
    }

    fn end_stages(&self, end: impl Fn(&dyn Stage) -> Result<(), StageError>) -> Result<(), Vec<BuildFailure>> {
        let mut failures = Vec::new();
        for (stage, slot) in self.plan.stages.iter().zip(&self.slots) {
            if let Slot::Ready(ready) = slot
                && let Err(error) = end(ready.as_ref())
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
