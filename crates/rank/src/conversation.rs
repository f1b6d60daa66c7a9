//! The rules for records of conversations.
//!
//! A turn says little by itself: what surrounds it, who said it and when count as well. Each rule adds to the evidence
//! of the turns; no other document is touched.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::analysis::{document_terms, fold, query_words, stem_group};
use crate::config::Conversation;
use crate::filter::Selection;
use crate::index::{Doc, Snapshot};
use crate::lexical::{Scoring, brevity};
use crate::query::Query;
use crate::ranking::RuleShare;
use crate::temporal;

/// A stem is rare when so many turns hold it: fewer tie nothing together, more are no tie.
const RARE: std::ops::RangeInclusive<usize> = 2..=12;

/// How many of the best turns spread their lead over those that share a rare stem.
const SPREADING: usize = 10;

/// What the rules gave, by document.
pub(crate) type TurnRules = BTreeMap<Doc, Vec<RuleShare>>;

/// The evidence of all turns that may be found, and the rules over it.
pub(crate) struct Turns<'s> {
    pub(crate) snapshot: &'s Snapshot,
    pub(crate) settings: &'s Conversation,
    pub(crate) query: &'s Query,
    pub(crate) selection: Option<&'s Selection>,
    /// The evidence of each turn before the rules.
    pub(crate) evidence: BTreeMap<Doc, f64>,
}

impl Turns<'_> {
    /// What the rules add.
    pub(crate) fn rules(&self, scoring: Option<&Scoring<'_>>) -> tantivy::Result<TurnRules> {
        let mut rules = TurnRules::new();
        if self.evidence.is_empty() {
            return Ok(rules);
        }
        self.neighbours(&mut rules);
        self.speaker(&mut rules)?;
        self.when(&mut rules);
        self.date(&mut rules);
        if let Some(scoring) = scoring {
            self.shared_stems(scoring, &mut rules)?;
        }
        Ok(rules)
    }

    /// Evidence is measured from the mean over all turns: a turn beside two that have nothing to do with the question
    /// must not rise for having neighbours.
    fn neighbours(&self, rules: &mut TurnRules) {
        let Conversation { neighbours, second_neighbours, .. } = *self.settings;
        if neighbours + second_neighbours <= 0.0 {
            return;
        }
        let mean = self.evidence.values().sum::<f64>() / self.evidence.len() as f64;
        for doc in self.evidence.keys() {
            let Some((session, position)) = self.snapshot.turn(*doc) else { continue };
            let at = |offset: i64| -> f64 {
                let position = position.checked_add_signed(offset);
                let beside = position.and_then(|position| self.snapshot.turn_at(session, position));
                beside.and_then(|beside| self.evidence.get(&beside)).map_or(0.0, |evidence| evidence - mean)
            };
            let lent = neighbours * (at(-1) + at(1)) + second_neighbours * (at(-2) + at(2));
            let contribution = lent * brevity(self.snapshot.words(*doc));
            add(rules, *doc, "neighbours", contribution);
        }
    }

    fn speaker(&self, rules: &mut TurnRules) -> tantivy::Result<()> {
        if self.settings.speaker <= 0.0 {
            return Ok(());
        }
        let words = query_words(&self.query.text);
        let named: Vec<u64> = self
            .snapshot
            .speakers()?
            .iter()
            .filter(|(_, names)| names.iter().any(|name| words.contains(name)))
            .map(|(speaker, _)| *speaker)
            .collect();
        // Of two people named, one is spoken to or spoken about, and nothing here tells which.
        let [speaker] = named.as_slice() else { return Ok(()) };
        for doc in self.evidence.keys() {
            if self.snapshot.speaker(*doc) == Some(*speaker) {
                add(rules, *doc, "speaker", self.settings.speaker);
            }
        }
        Ok(())
    }

    fn when(&self, rules: &mut TurnRules) {
        if self.settings.when <= 0.0 || !temporal::asks_when(&self.query.text, self.query.language) {
            return;
        }
        for doc in self.evidence.keys().filter(|doc| self.snapshot.timed(**doc)) {
            add(rules, *doc, "when", self.settings.when);
        }
    }

    fn date(&self, rules: &mut TurnRules) {
        let asked = temporal::calendar_mentions(&self.query.text);
        let Some(asked) = asked.into_iter().find(|date| date.month.is_some()) else { return };
        let zone = self.query.zone.clone().unwrap_or(TimeZone::UTC);
        let Conversation { month, day, wrong_day, .. } = *self.settings;
        for doc in self.evidence.keys() {
            let Some(made) = self.snapshot.created(*doc).and_then(|made| Timestamp::from_millisecond(made).ok()) else {
                continue;
            };
            let made = made.to_zoned_datetime(zone.clone());
            if asked.month != u8::try_from(made.month()).ok()
                || asked.year.is_some_and(|year| year != i32::from(made.year()))
            {
                continue;
            }
            let contribution = match asked.day {
                None => month,
                Some(asked) if u8::try_from(made.day()) == Ok(asked) => day,
                Some(_) => wrong_day,
            };
            add(rules, *doc, "date", contribution);
        }
    }

    /// The best turns lend their lead to turns that share a rare stem with them: the name of a dog, a place, a film.
    fn shared_stems(&self, scoring: &Scoring<'_>, rules: &mut TurnRules) -> tantivy::Result<()> {
        if self.settings.shared_stems <= 0.0 || self.evidence.len() < SPREADING {
            return Ok(());
        }
        let mut totals: Vec<(f64, Doc)> = self
            .evidence
            .iter()
            .map(|(doc, evidence)| {
                let added: f64 = rules.get(doc).into_iter().flatten().map(|share| share.contribution).sum();
                (evidence + added, *doc)
            })
            .collect();
        totals.sort_by(|left, right| right.0.total_cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
        let usual = totals[totals.len() / 10].0;
        let mut lent: BTreeMap<Doc, f64> = BTreeMap::new();
        for (total, doc) in totals.iter().take(SPREADING) {
            let lead = total - usual;
            if lead <= 0.0 {
                break;
            }
            let document = self.snapshot.document(*doc)?;
            let terms = document_terms(&document);
            let mut seen = std::collections::HashSet::new();
            let field = stem_group(terms.language);
            for stem in terms.fields[field].split(crate::analysis::SEPARATOR).filter(|stem| !stem.is_empty()) {
                if !seen.insert(stem) {
                    continue;
                }
                let Some(holders) = scoring.holders(field, stem, &RARE)? else { continue };
                for holder in holders.into_iter().filter(|holder| holder != doc && self.evidence.contains_key(holder)) {
                    let best = lent.entry(holder).or_insert(0.0);
                    *best = best.max(lead);
                }
            }
        }
        for (doc, lead) in lent {
            if self.selection.is_none_or(|selection| selection.has(doc)) {
                let contribution = self.settings.shared_stems * lead * brevity(self.snapshot.words(doc));
                add(rules, doc, "shared_stems", contribution);
            }
        }
        Ok(())
    }
}

fn add(rules: &mut TurnRules, doc: Doc, rule: &'static str, contribution: f64) {
    if contribution != 0.0 {
        rules.entry(doc).or_default().push(RuleShare { rule, contribution });
    }
}

/// The names by which a speaker may be called: each word of two letters or more, folded.
pub(crate) fn names_of(speaker: &str) -> Vec<String> {
    let words = speaker.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().nth(1).is_some());
    words.map(fold).collect()
}
