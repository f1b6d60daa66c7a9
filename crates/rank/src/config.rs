//! How an index ranks.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::fusion::Weights;

/// How an index ranks and how it names itself to other writers; nothing here changes what is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How much each voice counts in the fusion.
    pub weights: Weights,
    /// The lexical voice.
    pub lexical: Lexical,
    /// How many documents each voice proposes when several take part, 1 to 10,000; a larger `k` raises it.
    pub depth: usize,
    /// What a second writer is told about this one, such as `hatir index`; the process id is added.
    pub writer: String,
}

impl Default for Config {
    fn default() -> Self {
        Self { weights: Weights::default(), lexical: Lexical::default(), depth: 100, writer: String::new() }
    }
}

/// The lexical voice: BM25 per field, added up with a boost for each.
///
/// The boosts were chosen on the development halves of `XQuAD` and `CoSQA`. Of the boosts 0, 0.3, 0.6 and 1 for folded
/// words, 0.3 is best or within noise everywhere (recall@1 94.0 in English, 90.7 in Turkish; stems alone 93.0 and
/// 91.0; words and stems alike 94.0 and 89.0). Identifiers at 0.2 find one question for code in a hundred more than
/// without; above 0.5 they begin to harm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lexical {
    /// How fast repetitions of a word stop counting, 0 to 10 (Robertson and Zaragoza, "The Probabilistic Relevance
    /// Framework: BM25 and Beyond", 2009).
    pub k1: f64,
    /// How much long documents are held back, 0 to 1.
    pub b: f64,
    /// The boost of folded words in any language, 0 to 100.
    pub neutral: f64,
    /// The boost of English stems, 0 to 100.
    pub english: f64,
    /// The boost of Turkish stems, 0 to 100.
    pub turkish: f64,
    /// The boost of identifiers, paths, flags and version numbers, whole and in parts, 0 to 100.
    pub identifiers: f64,
}

impl Default for Lexical {
    fn default() -> Self {
        Self { k1: 1.2, b: 0.75, neutral: 0.3, english: 1.0, turkish: 1.0, identifiers: 0.2 }
    }
}

impl Config {
    pub(crate) fn check(&self) -> Result<()> {
        let lexical = &self.lexical;
        let ranged = [
            ("lexical.k1", lexical.k1, 10.0, "a number from 0 to 10"),
            ("lexical.b", lexical.b, 1.0, "a number from 0 to 1"),
            ("lexical.neutral", lexical.neutral, 100.0, "a number from 0 to 100"),
            ("lexical.english", lexical.english, 100.0, "a number from 0 to 100"),
            ("lexical.turkish", lexical.turkish, 100.0, "a number from 0 to 100"),
            ("lexical.identifiers", lexical.identifiers, 100.0, "a number from 0 to 100"),
        ];
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
