//! The searching itself: one store for each group, behind the few calls that measuring needs.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hatir_rank::{Config, Index, Query, Silence, VoiceReport};

use super::args::{EngineArgs, VoiceName};
use super::question::Question;
use super::record::{Record, to_document};
use super::settings;
use crate::exit::Failure;

/// The voices that an index has.
const AVAILABLE: [VoiceName; 1] = [VoiceName::Lexical];

/// How the stores are made and asked.
pub(crate) struct Engine {
    config: Config,
    /// The voices that take part, in their order.
    pub(crate) voices: Vec<VoiceName>,
    threads: usize,
}

/// What a store answered.
pub(crate) struct Found {
    /// Ids with their scores, best first.
    pub(crate) ranked: Vec<(String, f64)>,
    pub(crate) voices: Vec<VoiceReport>,
    pub(crate) silences: Vec<Silence>,
    /// How long the search took, the embedding of the query left out.
    pub(crate) took: Duration,
}

/// The stores, by group; one without a name when there are no groups.
pub(crate) struct Stores(BTreeMap<Option<String>, Index>);

impl Engine {
    pub(crate) fn new(args: &EngineArgs) -> Result<Self, Failure> {
        let of_mode = args.mode.voices();
        for voice in &args.voices {
            if !of_mode.contains(voice) {
                let failure = Failure::wrong(format!("--voices: the mode has no {voice} voice"));
                return Err(failure.hint("--mode hybrid has all of them"));
            }
            if !AVAILABLE.contains(voice) {
                return Err(Failure::wrong(format!("--voices: the index has no {voice} voice yet")));
            }
        }
        let wanted = |voice: &VoiceName| args.voices.is_empty() || args.voices.contains(voice);
        let voices = of_mode.iter().copied().filter(|voice| AVAILABLE.contains(voice) && wanted(voice)).collect();
        let config = settings::apply(&Config::default(), &args.set)?;
        Ok(Self { config, voices, threads: usize::from(args.threads) })
    }

    /// Indexes the records, in memory.
    pub(crate) fn build(&self, records: &[Record]) -> Result<Stores, Failure> {
        let mut groups: BTreeMap<Option<String>, Vec<&Record>> = BTreeMap::new();
        for record in records {
            groups.entry(record.group.clone()).or_default().push(record);
        }
        let build = |(group, records): (Option<String>, Vec<&Record>)| {
            let index = Index::in_memory(&self.config)?;
            index.replace_all(records.into_iter().map(to_document))?;
            Ok((group, index))
        };
        groups.into_iter().map(build).collect::<hatir_rank::Result<_>>().map(Stores).map_err(|error| refused(&error))
    }

    /// Asks every question; the answers are in the questions' order. `depth` says how many documents each wants.
    pub(crate) fn ask(
        &self,
        stores: &Stores,
        questions: &[Question],
        depth: impl Fn(&Question) -> usize + Sync,
    ) -> Result<Vec<Found>, Failure> {
        let next = AtomicUsize::new(0);
        let answers: Mutex<Vec<(usize, Result<Found, Failure>)>> = Mutex::new(Vec::with_capacity(questions.len()));
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(question) = questions.get(at) else { return };
                let found = match stores.0.get(&question.group) {
                    Some(index) => search(index, &question.text, depth(question)).map_err(|error| refused(&error)),
                    None => Err(question.place.wrong("there is no document in the store of this query")),
                };
                answers.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((at, found));
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.threads {
                scope.spawn(work);
            }
            work();
        });
        let mut answers = answers.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        answers.sort_by_key(|(at, _)| *at);
        answers.into_iter().map(|(_, found)| found).collect()
    }
}

fn search(index: &Index, text: &str, depth: usize) -> hatir_rank::Result<Found> {
    let query = Query::new(text);
    let begun = Instant::now();
    let ranking = index.search(&query, depth)?;
    let took = begun.elapsed();
    Ok(Found {
        ranked: ranking.hits.into_iter().map(|hit| (hit.id, hit.score)).collect(),
        voices: ranking.voices,
        silences: ranking.silent_because,
        took,
    })
}

/// A setting or a document that the index does not take is the caller's, anything else ours.
fn refused(error: &hatir_rank::Error) -> Failure {
    match error {
        hatir_rank::Error::InvalidConfig { .. } | hatir_rank::Error::InvalidDocument { .. } => {
            Failure::wrong(error.to_string())
        }
        _ => Failure::failed(error.to_string()),
    }
}
