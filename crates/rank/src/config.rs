//! How an index ranks.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::fusion::Weights;

/// How an index ranks and how it names itself to other writers; nothing here changes what is stored.
///
/// The defaults were found on the development halves of public sets; `docs/ranking.md` has the figures, and what each
/// rule adds to them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How the voices become one list.
    pub fusion: Fusion,
    /// How much the ranks of each voice count in the fusion `rrf`.
    pub weights: Weights,
    /// The lexical voice.
    pub lexical: Lexical,
    /// The fusion `evidence`.
    pub evidence: EvidenceFusion,
    /// The rules for records of conversations.
    pub conversation: Conversation,
    /// What keeps a list from saying the same thing twice.
    pub diversity: Diversity,
    /// What is no answer.
    pub grading: Grading,
    /// Whether old documents fade by their kind ([`Kind`](crate::Kind)) and sure ones count more.
    pub decay: bool,
    /// Whether the question's intent ([`Intent`](crate::Intent)) weighs the voices.
    pub intents: bool,
    /// How many documents each voice proposes when several take part, 1 to 10,000; a larger `k` raises it.
    pub depth: usize,
    /// Whether a commit makes the vectors of its documents, or leaves them to
    /// [`Index::backfill`](crate::Index::backfill).
    pub embed_at_commit: bool,
    /// What a second writer is told about this one, such as `hatir index`; the process id is added.
    pub writer: String,
}

/// How the voices become one list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fusion {
    /// The voices' evidence, each measured against the best that the query could score, is added up.
    #[default]
    Evidence,
    /// Weighted reciprocal rank ([`fuse`](crate::fuse)): the way to mix scores of unknown scale.
    Rrf,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            fusion: Fusion::default(),
            weights: Weights::default(),
            lexical: Lexical::default(),
            evidence: EvidenceFusion::default(),
            conversation: Conversation::default(),
            diversity: Diversity::default(),
            grading: Grading::default(),
            decay: true,
            intents: true,
            depth: 50,
            embed_at_commit: true,
            writer: String::new(),
        }
    }
}

/// The lexical voice: BM25 over stems and over character grams, each divided by the best that the query could score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lexical {
    /// How fast repetitions of a word stop counting, 0 to 10 (Robertson and Zaragoza, "The Probabilistic Relevance
    /// Framework: BM25 and Beyond", 2009).
    pub k1: f64,
    /// How much long documents are held back, 0 to 1.
    pub b: f64,
    /// The share of stems, 0 to 10.
    pub stems: f64,
    /// The share of character 4-grams, 0 to 10: they find mistyped words, and Turkish without its letters.
    pub grams: f64,
    /// What a document gets for holding all of the query's stems, 0 to 10.
    pub coverage: f64,
    /// The share of a conversation record's context in its score, 0 to 1; less for long records.
    pub context: f64,
    /// The share of the query's grams, 0 to 1, that a document must hold which holds none of its stems.
    pub floor: f64,
}

impl Default for Lexical {
    fn default() -> Self {
        Self { k1: 1.2, b: 0.75, stems: 0.5, grams: 0.5, coverage: 0.1, context: 0.5, floor: 0.25 }
    }
}

/// The fusion `evidence`: `saturation · tanh(lexical / saturation) + weight of the model · (cosine − floor) + temporal
/// · T + graph · G`, with T and G from 0 to 1. The model's weight and floor are its own ([`Evidence`](crate::Evidence)).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvidenceFusion {
    /// Where lexical evidence saturates beside the semantic voice, above 0 up to 100; a large number does not bend it.
    pub saturation: f64,
    /// How much of the lexical evidence counts, 0 to 100.
    pub lexical: f64,
    /// What is multiplied with the model's own weight, 0 to 100.
    pub semantic: f64,
    /// What a document from exactly the time asked for gets, 0 to 100.
    pub temporal: f64,
    /// What a document gets to which the strongest links lead, 0 to 100.
    pub graph: f64,
    /// What the first of a list of the caller's own voice gets, 0 to 100.
    pub own: f64,
}

impl Default for EvidenceFusion {
    fn default() -> Self {
        Self { saturation: 0.3, lexical: 1.0, semantic: 1.0, temporal: 0.15, graph: 0.06, own: 0.1 }
    }
}

/// The rules for records of conversations ([`Turn`](crate::Turn)); no other document is touched by them.
///
/// They were found on `LoCoMo`. Each counts less for a long record: `g = min(1, 40 / words)`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Conversation {
    /// How much of the evidence of the records just before and just after a record counts for it, 0 to 1, times g.
    pub neighbours: f64,
    /// The same for the records next to those, 0 to 1, times g.
    pub second_neighbours: f64,
    /// What a record gets when the question names one speaker who said it, 0 to 10.
    pub speaker: f64,
    /// What a record that speaks of a time gets when it is asked when, 0 to 10.
    pub when: f64,
    /// What a record of the month asked for gets, 0 to 10.
    pub month: f64,
    /// The same when the day is right too, 0 to 10.
    pub day: f64,
    /// The same when the day asked for is another, 0 to 10.
    pub wrong_day: f64,
    /// How much of the best records' lead spreads to records that share a rare stem with them, 0 to 10, times g.
    pub shared_stems: f64,
}

impl Default for Conversation {
    fn default() -> Self {
        Self {
            neighbours: 0.1,
            second_neighbours: 0.08,
            speaker: 0.1,
            when: 0.1,
            month: 0.1,
            day: 0.15,
            wrong_day: 0.05,
            shared_stems: 0.5,
        }
    }
}

/// What keeps a list from saying the same thing twice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Diversity {
    /// λ of maximal marginal relevance, above 0 up to 1; 1 looks at relevance alone (Carbonell and Goldstein, "The Use
    /// of MMR, Diversity-Based Reranking for Reordering Documents and Producing Summaries", SIGIR 1998).
    pub lambda: f64,
    /// Documents that share this much of their words are one, 0 to 1 (Jaccard); above 1, none are.
    pub duplicate: f64,
    /// A document of another language whose cosine with a better one, measured from the means of both languages,
    /// reaches this is its translation, and they are one; above 2, none are.
    pub translation: f64,
}

impl Default for Diversity {
    fn default() -> Self {
        Self { lambda: 0.85, duplicate: 0.9, translation: 0.1 }
    }
}

/// What is no answer, where no model's vectors take part (with one, the model's own thresholds hold): a weighted sum of
/// what the best document covers, how far it stands out, and how much of the query the index knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Grading {
    /// The weight of the best coverage (0 to 1).
    pub coverage: f64,
    /// The weight of the best score's lead over the mean of the next 19.
    pub lead: f64,
    /// The weight of the share of the query's stems that the index knows (0 to 1).
    pub known: f64,
    /// The weight of the number of the query's stems.
    pub stems: f64,
    /// Below this sum there is no answer.
    pub weak: f64,
    /// From this sum on the answer is good.
    pub good: f64,
    /// In a store of so many documents both thresholds are half as high, in larger ones nearer to the whole: where there
    /// is little, an answer lacks most words of a question, and nothing can stand out. 0 to 1,000,000.
    pub small: f64,
}

impl Default for Grading {
    fn default() -> Self {
        Self { coverage: 7.44, lead: 7.35, known: 3.06, stems: 0.31, weak: 6.66, good: 9.0, small: 30.0 }
    }
}

impl Config {
    pub(crate) fn check(&self) -> Result<()> {
        let (lexical, evidence, turns) = (&self.lexical, &self.evidence, &self.conversation);
        let ranged = [
            ("lexical.k1", lexical.k1, 10.0, "a number from 0 to 10"),
            ("lexical.b", lexical.b, 1.0, "a number from 0 to 1"),
            ("lexical.stems", lexical.stems, 10.0, "a number from 0 to 10"),
            ("lexical.grams", lexical.grams, 10.0, "a number from 0 to 10"),
            ("lexical.coverage", lexical.coverage, 10.0, "a number from 0 to 10"),
            ("lexical.context", lexical.context, 1.0, "a number from 0 to 1"),
            ("lexical.floor", lexical.floor, 1.0, "a number from 0 to 1"),
            ("grading.small", self.grading.small, 1e6, "a number from 0 to 1,000,000"),
            ("evidence.lexical", evidence.lexical, 100.0, "a number from 0 to 100"),
            ("evidence.semantic", evidence.semantic, 100.0, "a number from 0 to 100"),
            ("evidence.temporal", evidence.temporal, 100.0, "a number from 0 to 100"),
            ("evidence.graph", evidence.graph, 100.0, "a number from 0 to 100"),
            ("evidence.own", evidence.own, 100.0, "a number from 0 to 100"),
            ("conversation.neighbours", turns.neighbours, 1.0, "a number from 0 to 1"),
            ("conversation.second_neighbours", turns.second_neighbours, 1.0, "a number from 0 to 1"),
            ("conversation.speaker", turns.speaker, 10.0, "a number from 0 to 10"),
            ("conversation.when", turns.when, 10.0, "a number from 0 to 10"),
            ("conversation.month", turns.month, 10.0, "a number from 0 to 10"),
            ("conversation.day", turns.day, 10.0, "a number from 0 to 10"),
            ("conversation.wrong_day", turns.wrong_day, 10.0, "a number from 0 to 10"),
            ("conversation.shared_stems", turns.shared_stems, 10.0, "a number from 0 to 10"),
            ("diversity.duplicate", self.diversity.duplicate, 2.0, "a number from 0 to 2"),
            ("diversity.translation", self.diversity.translation, 10.0, "a number from 0 to 10"),
        ];
        for (setting, value, most) in
            [("evidence.saturation", evidence.saturation, 100.0), ("diversity.lambda", self.diversity.lambda, 1.0)]
        {
            if !(value > 0.0 && value <= most) {
                let expected =
                    if most > 1.0 { "a number above 0 and up to 100" } else { "a number above 0 and up to 1" };
                return Err(Error::InvalidConfig { setting: setting.to_owned(), found: value.to_string(), expected });
            }
        }
        for (setting, value, most, expected) in ranged {
            if !(0.0..=most).contains(&value) {
                return Err(Error::InvalidConfig { setting: setting.to_owned(), found: value.to_string(), expected });
            }
        }
        for (voice, weight) in self.weights.iter() {
            if !(0.0..=1e6).contains(&weight) {
                return Err(Error::InvalidConfig {
                    setting: format!("weights.{voice}"),
                    found: weight.to_string(),
                    expected: "a number from 0 to 1,000,000",
                });
            }
        }
        if !(1..=10_000).contains(&self.depth) {
            return Err(Error::InvalidConfig {
                setting: "depth".to_owned(),
                found: self.depth.to_string(),
                expected: "a whole number from 1 to 10,000",
            });
        }
        Ok(())
    }
}
