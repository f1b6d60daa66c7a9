//! The answer: hits that explain themselves, and the silences.

use serde::{Deserialize, Serialize};

use crate::document::Document;
use crate::fusion::VoiceShare;
use crate::intent::Intent;

/// What a search found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ranking {
    /// The documents, best first, ties by id; at most the `k` asked for. Empty at [`Grade::None`], unless the query
    /// was asked [never to be silent](crate::Query::never_silent).
    pub hits: Vec<Hit>,
    /// Where `hits` is empty because nothing is evidence of an answer: the nearest misses, best first, at most `k`.
    pub near: Vec<Hit>,
    /// Whether the hits are an answer at all.
    pub grade: Grade,
    /// The number that the grade was read from: comparable between queries of one index, not between indexes with a
    /// model and without.
    pub evidence: f64,
    /// The voices that had nothing to say, and why. When `hits` is empty, every voice is here.
    pub silent_because: Vec<Silence>,
    /// Every voice that was asked, in the order asked, the lexical one first.
    pub voices: Vec<VoiceReport>,
    /// What kind of answer the query wants.
    pub intent: Intent,
}

impl Ranking {
    /// Adds why a voice's proposals are no answer, unless it was silent anyway.
    pub(crate) fn silence(&mut self, voice: &str, reason: String) {
        if self.silent_because.iter().all(|silence| silence.voice != voice) {
            self.silent_because.push(Silence { voice: voice.to_owned(), reason });
        }
    }
}

/// Whether what was found is an answer at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// Nothing is evidence of an answer.
    #[default]
    None,
    /// There may be an answer.
    Weak,
    /// There is an answer, most likely.
    Good,
}

impl Grade {
    /// `none`, `weak` or `good`.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Weak => "weak",
            Self::Good => "good",
        }
    }
}

/// A document found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The document's id.
    pub id: String,
    /// The final score: what [`Explanation::total`] gives; comparable within one ranking only.
    pub score: f64,
    /// The document as it was indexed.
    pub document: Document,
    /// Where the score comes from.
    pub explanation: Explanation,
    /// Documents that say the same, or the same in another language, and scored lower: they take no place of their own.
    pub duplicates: Vec<String>,
}

/// Where a hit's score comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// What each voice gave, in the order asked.
    pub voices: Vec<VoiceShare>,
    /// What the rules for conversations gave.
    pub rules: Vec<RuleShare>,
    /// The factor of the document's age, 0.02 to 1, on evidence above 0.
    pub decay: f64,
    /// The factor of its importance, 0.8 to 1, on evidence above 0.
    pub importance: f64,
    /// What was taken off for being like a better hit.
    pub diversity: f64,
}

impl Default for Explanation {
    fn default() -> Self {
        Self { voices: Vec::new(), rules: Vec::new(), decay: 1.0, importance: 1.0, diversity: 0.0 }
    }
}

impl Explanation {
    /// The sum of the contributions, before decay, importance and diversity.
    pub fn evidence(&self) -> f64 {
        let voices: f64 = self.voices.iter().map(|share| share.contribution).sum();
        voices + self.rules.iter().map(|share| share.contribution).sum::<f64>()
    }

    /// The final score.
    pub fn total(&self) -> f64 {
        self.faded() - self.diversity
    }

    /// The evidence after decay and importance, which leave what is below 0 as it is.
    pub(crate) fn faded(&self) -> f64 {
        let evidence = self.evidence();
        if evidence > 0.0 { evidence * self.decay * self.importance } else { evidence }
    }
}

/// What a rule gave a hit.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleShare {
    /// The rule's name: `neighbours`, `speaker`, `when`, `date`, `shared_stems`.
    pub rule: &'static str,
    /// What was added to the score.
    pub contribution: f64,
}

/// A voice that had nothing to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Silence {
    /// The voice's name.
    pub voice: String,
    /// Why, in words for a person.
    pub reason: String,
}

/// How one voice took part in a search.
#[derive(Debug, Clone, PartialEq)]
pub struct VoiceReport {
    /// The voice's name.
    pub voice: String,
    /// What its raw scores were multiplied with, or the weight of its ranks.
    pub weight: f64,
    /// How many documents it proposed and the index holds; at most the depth asked for.
    pub candidates: usize,
    /// How many of its proposals the index does not hold (deleted, or never there), or the filter keeps out.
    pub unknown: usize,
    /// Whether it was silent; the reason stands in [`Ranking::silent_because`].
    pub silent: bool,
    /// What else there is to say, such as that only a part of the documents have vectors; empty when nothing is.
    pub note: String,
}
