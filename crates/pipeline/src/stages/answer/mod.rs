//! `answer.extract`: the sentences of the sources that answer a question, word for word.

mod sentence;
mod word;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::sentence::{Sentence, sentences};
use self::word::Words;
use super::files::unusable;
use crate::stage::{BuildContext, Inputs, Kind, Port, Ports, Stage, StageContext, StageError};
use crate::value::{Type, Value};
use crate::wire::{Answer, Citation, Item, Place};

/// Answers a question with sentences of the sources, word for word, and says where each stands.
///
/// The first item that shares enough words with the question is the source. Of its sentences those are taken that share
/// most with the question; they are given in the order of the source, with spaces for line breaks. Words are compared
/// without case, accents and endings; function words of English and Turkish do not count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Extract {
    /// How many sentences the answer has at most.
    #[serde(default = "default_sentences")]
    #[schemars(range(min = 1, max = 20))]
    pub(crate) sentences: usize,
    /// The share of the question's words, from 0 to 1, that must stand in an item (its title included) for it to be a
    /// source. One word is needed in any case.
    #[serde(default = "default_minimum_overlap")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(crate) minimum_overlap: f64,
}

fn default_sentences() -> usize {
    2
}

fn default_minimum_overlap() -> f64 {
    0.3
}

impl Kind for Extract {
    const NAME: &'static str = "answer.extract";
    const ABOUT: &'static str = "Answers a question with sentences of the sources, word for word, each with its place.";

    fn ports(_: Option<&Self>) -> Ports {
        let inputs = vec![
            Port::required("question", Type::Query, "The question."),
            Port::required("items", Type::Items, "Where the answer may stand, best first.").many(),
        ];
        Ports::new(inputs, Type::Answer)
    }

    fn build(&self, _: &BuildContext) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(self.clone()))
    }
}

// The weight stays that of blocking work: an item may be a whole book.
impl Stage for Extract {
    fn run(&self, inputs: &Inputs, context: &StageContext) -> Result<Value, StageError> {
        let question = match inputs.need("question")?.convert(Type::Query) {
            Ok(Value::Query(query)) => query,
            Ok(other) => return Err(unusable("question", format!("found {}, expected a query", other.kind()))),
            Err(error) => return Err(unusable("question", error)),
        };
        let asked = Words::asked(&question.text);
        for items in super::item_lists(inputs, "items")? {
            for item in items.iter() {
                if context.cancel.is_cancelled() {
                    return Err(super::files::stopped());
                }
                if self.is_source(&asked, item) {
                    return Ok(Value::Answer(Arc::new(self.answer(&asked, item))));
                }
            }
        }
        Ok(Value::Answer(Arc::default()))
    }
}

impl Extract {
    fn is_source(&self, asked: &Words, item: &Item) -> bool {
        let mut found = asked.found_in(&item.text);
        if let Some(title) = &item.title {
            found.extend(asked.found_in(title));
        }
        !found.is_empty()
            && !item.text.trim().is_empty()
            && found.len() as f64 >= self.minimum_overlap * asked.len() as f64
    }

    fn answer(&self, asked: &Words, item: &Item) -> Answer {
        let scored: Vec<(usize, Sentence<'_>)> =
            sentences(&item.text).into_iter().map(|sentence| (asked.found_in(sentence.text).len(), sentence)).collect();
        let best = scored.iter().map(|(score, _)| *score).max().unwrap_or(0);
        // Where only the title speaks of it, the text below the title begins with what matters. A sentence that shares
        // less than half of what the best one shares would water the answer down.
        let wanted = if best == 0 { 1 } else { self.sentences };
        let mut order: Vec<usize> = (0..scored.len()).filter(|at| scored[*at].0 * 2 >= best).collect();
        order.sort_by_key(|at| (std::cmp::Reverse(scored[*at].0), *at));
        order.truncate(wanted);
        order.sort_unstable();

        let chosen = order.iter().map(|at| &scored[*at].1);
        let citation = |sentence: &Sentence<'_>| Citation {
            id: item.id.clone(),
            place: item.place.as_ref().map(|place| Place { line: place.line + sentence.line, ..place.clone() }),
            score: item.score,
        };
        Answer {
            text: chosen.clone().map(|sentence| one_line(sentence.text)).collect::<Vec<_>>().join(" "),
            found: true,
            citations: chosen.map(citation).collect(),
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
