//! One search: the voices are asked, their evidence is added up, and what is left says where it comes from.

mod grade;
mod pool;

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::analysis::{QueryTerms, query_terms};
use crate::config::{Config, Fusion};
use crate::conversation::{TurnRules, Turns};
use crate::decay::{decay_factor, importance_factor};
use crate::embed::{Embedder, ModelInfo};
use crate::error::{Error, Result};
use crate::filter::Selection;
use crate::fusion::{RANK_CONSTANT, RankedList, VoiceShare, fuse};
use crate::index::{Doc, Snapshot};
use crate::intent::{Intent, intent_of};
use crate::lexical::{NOTHING_SHARED, Scoring, above_floor, brevity};
use crate::query::Query;
use crate::ranking::{Explanation, Grade, Ranking, Silence, VoiceReport};
use crate::semantic::Semantic;
use crate::temporal::{self, Mention};
use crate::voice::{Candidate, Heard, Scale, Voice};
use pool::{Pool, Pooled};

pub(crate) const LEXICAL: &str = "lexical";
pub(crate) const SEMANTIC: &str = "semantic";
pub(crate) const TEMPORAL: &str = "temporal";
pub(crate) const GRAPH: &str = "graph";

/// How many of the best hits of each voice the graph voice starts from.
const SEEDS: usize = 3;

/// Up to so many turns of conversations are all scored, so that neighbours and the mean are exact.
const MAX_TURNS: u64 = 200_000;

/// Everything that a search goes by.
pub(crate) struct Search<'s> {
    pub(crate) snapshot: &'s Snapshot,
    pub(crate) config: &'s Config,
    pub(crate) embedder: Option<&'s dyn Embedder>,
    pub(crate) model: Option<&'s ModelInfo>,
    pub(crate) folder: &'s Path,
}

/// What the voices have to go by for one query.
struct Evidences<'s> {
    scoring: Option<Scoring<'s>>,
    semantic: Option<Semantic<'s>>,
    mentions: Vec<Mention>,
    selection: Option<Selection>,
    intent: Intent,
}

/// The voices of the crate that a query asks, in their order.
fn asked(query: &Query) -> Vec<&'static str> {
    [LEXICAL, SEMANTIC, TEMPORAL, GRAPH].into_iter().filter(|voice| query.asks(voice)).collect()
}

impl<'s> Search<'s> {
    pub(crate) fn run(&self, query: &Query, k: usize, own: &[&dyn Voice]) -> Result<Ranking> {
        let mut ranking = Ranking::default();
        let terms = query_terms(query);
        let language = query.language.or_else(|| crate::analysis::language_of(&query.text));
        ranking.intent = intent_of(&query.text, language);
        let selection = query.filter.select(self.snapshot).map_err(|error| self.failed(error))?;
        let nothing = match &selection {
            _ if self.snapshot.documents == 0 => Some("the index holds no document"),
            Some(selection) if selection.len() == 0 => Some("no document passes the filter"),
            _ if k == 0 => Some("no document was asked for"),
            _ => None,
        };
        let asked = asked(query);
        if let Some(reason) = nothing {
            for voice in asked.iter().copied().chain(own.iter().map(|voice| voice.name())) {
                self.report(&mut ranking, voice, 0, 0, Some(reason.to_owned()));
            }
            return Ok(ranking);
        }
        let depth = k.max(self.config.depth);
        let mut voices =
            Evidences { scoring: None, semantic: None, mentions: Vec::new(), selection, intent: ranking.intent };
        let mut pool = Pool::default();
        for voice in asked {
            let silent = match voice {
                LEXICAL => self.lexical(&terms, depth, &mut voices, &mut pool)?,
                SEMANTIC => self.semantic(query, language, depth, &mut voices, &mut pool)?,
                TEMPORAL => self.temporal(query, language, depth, &mut voices, &mut pool),
                _ => self.graph(&voices, depth, &mut pool),
            };
            let candidates = pool.count(voice);
            self.report(&mut ranking, voice, candidates, 0, silent);
        }
        if let (Some(semantic), Some(report)) =
            (&voices.semantic, ranking.voices.iter_mut().find(|report| report.voice == SEMANTIC))
        {
            report.note = semantic.note();
        }
        for voice in own {
            self.own(*voice, query, depth, &voices, &mut pool, &mut ranking)?;
        }
        let rules = self.turns(query, &voices, &mut pool, depth)?;
        self.complete(&voices, &mut pool)?;
        grade::grade(self, &voices, &pool, &mut ranking)?;
        let mut scored = match self.config.fusion {
            Fusion::Evidence => self.evidence(&voices, &pool, rules),
            Fusion::Rrf => self.by_rank(&pool),
        };
        self.fade(query, &mut scored);
        let hits = pool::hits(self, &voices, scored, k)?;
        if ranking.grade == Grade::None && query.may_be_silent {
            ranking.near = hits;
        } else {
            ranking.hits = hits;
        }
        Ok(ranking)
    }

    fn failed(&self, error: tantivy::TantivyError) -> Error {
        Error::engine(self.folder, error)
    }

    /// What a voice's raw scores count.
    fn weight(&self, voice: &str, voices: Option<&Evidences<'_>>) -> f64 {
        let evidence = &self.config.evidence;
        match (self.config.fusion, voice) {
            (Fusion::Rrf, _) => self.config.weights.of(voice),
            (Fusion::Evidence, LEXICAL) => evidence.lexical,
            (Fusion::Evidence, SEMANTIC) => {
                let model =
                    voices.and_then(|voices| voices.semantic.as_ref()).map(|semantic| &semantic.model).or(self.model);
                evidence.semantic * model.map_or(1.0, |model| model.evidence.weight)
            }
            (Fusion::Evidence, TEMPORAL) => evidence.temporal,
            (Fusion::Evidence, GRAPH) => evidence.graph,
            (Fusion::Evidence, _) => evidence.own,
        }
    }

    fn report(&self, ranking: &mut Ranking, voice: &str, candidates: usize, unknown: usize, silent: Option<String>) {
        ranking.voices.push(VoiceReport {
            voice: voice.to_owned(),
            weight: self.weight(voice, None),
            candidates,
            unknown,
            silent: silent.is_some(),
            note: String::new(),
        });
        if let Some(reason) = silent {
            ranking.silent_because.push(Silence { voice: voice.to_owned(), reason });
        }
    }

    fn lexical(
        &self,
        terms: &std::result::Result<QueryTerms, &'static str>,
        depth: usize,
        voices: &mut Evidences<'s>,
        pool: &mut Pool,
    ) -> Result<Option<String>> {
        let terms = match terms {
            Ok(terms) => terms,
            Err(reason) => return Ok(Some((*reason).to_owned())),
        };
        let scoring = Scoring::new(self.snapshot, &self.config.lexical, terms).map_err(|error| self.failed(error))?;
        let found = scoring.best(depth, voices.selection.as_ref()).map_err(|error| self.failed(error))?;
        let touched = found.len();
        let found = above_floor(&scoring, found, &self.config.lexical).map_err(|error| self.failed(error))?;
        let silent = found.is_empty().then(|| match touched {
            0 => NOTHING_SHARED.to_owned(),
            _ => format!("{NOTHING_SHARED}; {touched} hold pieces of them, below the floor"),
        });
        pool.propose(LEXICAL, found.iter().map(|found| (found.doc, f64::from(found.score))));
        voices.scoring = Some(scoring);
        Ok(silent)
    }

    fn semantic(
        &self,
        query: &Query,
        language: Option<crate::Language>,
        depth: usize,
        voices: &mut Evidences<'s>,
        pool: &mut Pool,
    ) -> Result<Option<String>> {
        let semantic = match Semantic::new(self.snapshot, query, language, self.embedder, self.model)? {
            Ok(semantic) => semantic,
            Err(reason) => return Ok(Some(reason)),
        };
        let found = semantic.best(depth, voices.selection.as_ref());
        let silent = found.is_empty().then(|| "no document that may be found has a vector".to_owned());
        pool.propose(SEMANTIC, found);
        voices.semantic = Some(semantic);
        Ok(silent)
    }

    fn temporal(
        &self,
        query: &Query,
        language: Option<crate::Language>,
        depth: usize,
        voices: &mut Evidences<'s>,
        pool: &mut Pool,
    ) -> Option<String> {
        let Some(now) = query.now else {
            return Some("the moment of asking is not known".to_owned());
        };
        if !self.snapshot.has_times() {
            return Some("no document has a time".to_owned());
        }
        let zone = query.zone.clone().unwrap_or(TimeZone::UTC);
        let mentions = temporal::mentions(&query.text, now, &zone, language);
        if mentions.is_empty() {
            return Some("the query names no time".to_owned());
        }
        let mut found: Vec<(Doc, f64)> = Vec::new();
        for view in &self.snapshot.segments {
            let Some(column) = view.created_column() else { continue };
            for document in view.reader.doc_ids_alive() {
                let doc = view.first + document;
                if voices.selection.as_ref().is_some_and(|selection| !selection.has(doc)) {
                    continue;
                }
                let Some(made) = column.first(document).and_then(|made| Timestamp::from_millisecond(made).ok()) else {
                    continue;
                };
                let closeness = temporal::closeness(&mentions, made);
                if closeness > 0.0 {
                    found.push((doc, closeness));
                }
            }
        }
        let order =
            |left: &(Doc, f64), right: &(Doc, f64)| right.1.total_cmp(&left.1).then_with(|| left.0.cmp(&right.0));
        if found.len() > depth {
            found.select_nth_unstable_by(depth, order);
            found.truncate(depth);
        }
        found.sort_by(order);
        let silent = found.is_empty().then(|| "no document is from about that time".to_owned());
        pool.propose(TEMPORAL, found);
        voices.mentions = mentions;
        silent
    }

    fn graph(&self, voices: &Evidences<'_>, depth: usize, pool: &mut Pool) -> Option<String> {
        let graph = self.snapshot.graph();
        if graph.edges() == 0 {
            return Some("no document leads to another".to_owned());
        }
        let mut seeds: BTreeMap<Doc, f64> = BTreeMap::new();
        for voice in [LEXICAL, SEMANTIC] {
            let best = pool.best(voice, SEEDS);
            let floor = match voice {
                SEMANTIC => voices.semantic.as_ref().map_or(0.0, |semantic| semantic.model.evidence.floor),
                _ => 0.0,
            };
            // Each voice's best is a full start; the others as far as they have evidence beside it.
            let most = best.first().map_or(0.0, |(_, raw)| raw - floor);
            for (doc, raw) in best {
                let strength = if most > 0.0 { ((raw - floor) / most).clamp(0.0, 1.0) } else { 0.0 };
                let seed = seeds.entry(doc).or_insert(0.0);
                *seed = seed.max(strength);
            }
        }
        let seeds: Vec<(Doc, f64)> = seeds.into_iter().filter(|(_, strength)| *strength > 0.0).collect();
        if seeds.is_empty() {
            return Some("no other voice found a document to start from".to_owned());
        }
        let allowed = |doc: Doc| voices.selection.as_ref().is_none_or(|selection| selection.has(doc));
        let reached = graph.walk(&seeds, &allowed, depth);
        let silent = reached.is_empty().then(|| "no link leads on from what the other voices found".to_owned());
        pool.propose(GRAPH, reached);
        silent
    }

    fn own(
        &self,
        voice: &dyn Voice,
        query: &Query,
        depth: usize,
        voices: &Evidences<'_>,
        pool: &mut Pool,
        ranking: &mut Ranking,
    ) -> Result<()> {
        let name = voice.name();
        let heard =
            if self.weight(name, None) > 0.0 { voice.hear(query, depth)? } else { Heard::silent("its weight is 0") };
        let (mut known, mut unknown, mut silent) = (Vec::new(), 0, None);
        match heard {
            Heard::Silent(reason) => silent = Some(reason),
            Heard::Candidates(proposed) => {
                for (at, candidate) in proposed.into_iter().take(depth).enumerate() {
                    let doc = self.snapshot.find(&candidate.id).map_err(|error| self.failed(error))?;
                    let selection = voices.selection.as_ref();
                    let Some(doc) = doc.filter(|doc| selection.is_none_or(|selection| selection.has(*doc))) else {
                        unknown += 1;
                        continue;
                    };
                    let worth = match voice.scale() {
                        Scale::Unit => candidate.score.clamp(0.0, 1.0),
                        Scale::Unknown => (RANK_CONSTANT + 1.0) / (RANK_CONSTANT + 1.0 + at as f64),
                    };
                    known.push((doc, candidate.score, worth));
                }
                if known.is_empty() {
                    silent = Some("found nothing that the index holds".to_owned());
                }
            }
        }
        let count = known.len();
        pool.propose_own(name, known);
        self.report(ranking, name, count, unknown, silent);
        Ok(())
    }

    /// The rules for conversations: all turns are scored, and the best after the rules join the pool.
    fn turns(&self, query: &Query, voices: &Evidences<'s>, pool: &mut Pool, depth: usize) -> Result<TurnRules> {
        let evidence_only = self.config.fusion == Fusion::Evidence;
        let voiced = voices.scoring.is_some() || voices.semantic.is_some();
        if !evidence_only || !voiced || !self.snapshot.has_turns() || self.snapshot.documents > MAX_TURNS {
            return Ok(TurnRules::new());
        }
        let allowed = voices.selection.as_ref();
        let lexical = match &voices.scoring {
            Some(scoring) => Some(scoring.all(allowed).map_err(|error| self.failed(error))?.scores),
            None => None,
        };
        let cosines = voices.semantic.as_ref().map(Semantic::all);
        let mut evidence = BTreeMap::new();
        for doc in self.snapshot.live() {
            if allowed.is_some_and(|selection| !selection.has(doc)) || self.snapshot.turn(doc).is_none() {
                continue;
            }
            let lexical = lexical.as_ref().map_or(0.0, |scores| f64::from(scores[doc as usize]));
            let cosine = cosines.as_ref().and_then(|(texts, contexts)| {
                let text = f64::from(texts[doc as usize]?);
                Some(self.in_context(doc, text, contexts[doc as usize].map(f64::from)))
            });
            evidence.insert(doc, self.lexical_evidence(lexical, voices) + self.semantic_evidence(cosine, voices));
        }
        let turns =
            Turns { snapshot: self.snapshot, settings: &self.config.conversation, query, selection: allowed, evidence };
        let rules = turns.rules(voices.scoring.as_ref()).map_err(|error| self.failed(error))?;
        let mut best: Vec<(f64, Doc)> = turns
            .evidence
            .iter()
            .map(|(doc, evidence)| {
                let added: f64 = rules.get(doc).into_iter().flatten().map(|share| share.contribution).sum();
                (evidence + added, *doc)
            })
            .collect();
        best.sort_by(|left, right| right.0.total_cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
        // A turn that no voice proposed comes in on what surrounds it, if that is evidence at all.
        best.into_iter().take(depth).filter(|(total, _)| *total > 0.0).for_each(|(_, doc)| pool.add(doc));
        Ok(rules)
    }

    /// A turn's cosine, mixed with that of the turn in its context.
    fn in_context(&self, doc: Doc, text: f64, context: Option<f64>) -> f64 {
        let Some(context) = context else { return text };
        let share = self.config.lexical.context * brevity(self.snapshot.words(doc));
        text * (1.0 - share) + context * share
    }

    fn lexical_evidence(&self, raw: f64, voices: &Evidences<'_>) -> f64 {
        let saturation = self.config.evidence.saturation;
        let share = self.config.evidence.lexical * self.multiplier(voices, LEXICAL);
        share * saturation * (raw / saturation).tanh()
    }

    fn semantic_evidence(&self, cosine: Option<f64>, voices: &Evidences<'_>) -> f64 {
        let (Some(cosine), Some(semantic)) = (cosine, &voices.semantic) else { return 0.0 };
        let share = self.weight(SEMANTIC, Some(voices)) * self.multiplier(voices, SEMANTIC);
        share * (cosine - semantic.model.evidence.floor)
    }

    fn multiplier(&self, voices: &Evidences<'_>, voice: &str) -> f64 {
        if !self.config.intents {
            return 1.0;
        }
        let multipliers = voices.intent.multipliers();
        match voice {
            TEMPORAL => multipliers.temporal_and_importance,
            // Lexical and semantic evidence are on one scale already, and bending it for an intent cost recall on
            // every set: see docs/ranking.md.
            _ => 1.0,
        }
    }

    /// Asks each voice for what it makes of the documents that the others proposed.
    fn complete(&self, voices: &Evidences<'_>, pool: &mut Pool) -> Result<()> {
        if self.config.fusion == Fusion::Rrf {
            return Ok(());
        }
        if let Some(scoring) = &voices.scoring {
            let missing = pool.missing(LEXICAL);
            let scores = scoring.of(&missing).map_err(|error| self.failed(error))?;
            pool.complete(LEXICAL, missing.into_iter().zip(scores).map(|(doc, score)| (doc, f64::from(score))));
        }
        if let Some(semantic) = &voices.semantic {
            let turns: Vec<Doc> = pool.docs().filter(|doc| self.snapshot.turn(*doc).is_some()).collect();
            let mixed: Vec<(Doc, f64)> = turns
                .into_iter()
                .filter_map(|doc| Some((doc, self.in_context(doc, semantic.text(doc)?, semantic.in_context(doc)))))
                .collect();
            pool.complete(SEMANTIC, mixed);
            let missing = pool.missing(SEMANTIC);
            let cosines: Vec<(Doc, f64)> =
                missing.into_iter().filter_map(|doc| Some((doc, semantic.text(doc)?))).collect();
            pool.complete(SEMANTIC, cosines);
        }
        if !voices.mentions.is_empty() {
            let missing = pool.missing(TEMPORAL);
            let close: Vec<(Doc, f64)> = missing
                .into_iter()
                .filter_map(|doc| {
                    let made = Timestamp::from_millisecond(self.snapshot.created(doc)?).ok()?;
                    Some((doc, temporal::closeness(&voices.mentions, made)))
                })
                .collect();
            pool.complete(TEMPORAL, close);
        }
        Ok(())
    }

    /// Adds the evidence up.
    fn evidence(&self, voices: &Evidences<'_>, pool: &Pool, mut rules: TurnRules) -> Vec<Pooled> {
        let ranks = pool.ranks();
        let mut scored = Vec::new();
        for (doc, raws) in pool.iter() {
            let mut explanation =
                Explanation { rules: rules.remove(&doc).unwrap_or_default(), ..Explanation::default() };
            for (voice, raw) in raws {
                let raw_score = raw.score;
                let weight = self.weight(voice, Some(voices)) * self.multiplier(voices, voice);
                let contribution = match voice {
                    LEXICAL => self.lexical_evidence(raw_score, voices),
                    SEMANTIC => self.semantic_evidence(Some(raw_score), voices),
                    _ => weight * raw.worth,
                };
                explanation.voices.push(VoiceShare {
                    voice: voice.to_owned(),
                    rank: ranks.get(&(voice, doc)).copied().unwrap_or_default(),
                    raw_score,
                    weight,
                    contribution,
                    fields: Vec::new(),
                });
            }
            scored.push(Pooled { doc, explanation });
        }
        scored
    }

    /// Weighted reciprocal rank over what each voice proposed.
    fn by_rank(&self, pool: &Pool) -> Vec<Pooled> {
        let lists = pool.lists().into_iter().map(|(voice, docs)| RankedList {
            voice: voice.to_owned(),
            weight: self.config.weights.of(voice),
            candidates: docs.into_iter().map(|(doc, raw)| Candidate::new(format!("{doc:010}"), raw)).collect(),
        });
        fuse(lists.collect())
            .into_iter()
            .filter_map(|fused| {
                let doc = fused.id.parse().ok()?;
                Some(Pooled { doc, explanation: Explanation { voices: fused.shares, ..Explanation::default() } })
            })
            .collect()
    }

    fn fade(&self, query: &Query, scored: &mut [Pooled]) {
        if !self.config.decay {
            return;
        }
        for Pooled { doc, explanation } in scored {
            if let Some(importance) = self.snapshot.importance(*doc) {
                explanation.importance = importance_factor(importance);
            }
            let age = || {
                let weibull = self.snapshot.kind(*doc)?.weibull()?;
                let hours = (query.now?.as_millisecond() - self.snapshot.created(*doc)?) as f64 / 3_600_000.0;
                Some(decay_factor(weibull.left(hours)))
            };
            explanation.decay = age().unwrap_or(1.0);
        }
    }
}
