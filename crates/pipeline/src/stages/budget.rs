//! `budget.fit` and `budget.count`: texts under a token budget.

use std::sync::Arc;

use hatir_budget as leaf;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::yes;
use crate::stage::{BuildContext, Inputs, Kind, Port, Ports, Stage, StageContext, StageError};
use crate::value::{Type, Value};
use crate::wire::{Item, Pack};

/// How text becomes tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum Encoding {
    /// The encoding of GPT-3.5 and GPT-4.
    #[default]
    #[serde(rename = "cl100k_base")]
    Cl100kBase,
    /// The encoding of GPT-4o and later.
    #[serde(rename = "o200k_base")]
    O200kBase,
}

impl Encoding {
    fn counter(self) -> leaf::TokenCounter {
        leaf::TokenCounter::new(match self {
            Encoding::Cl100kBase => leaf::Encoding::Cl100kBase,
            Encoding::O200kBase => leaf::Encoding::O200kBase,
        })
    }
}

/// Joins hits, facts and documents into one text that keeps within a token budget.
///
/// Items are taken in the order in which they come. The first that does not fit is cut; the rest is dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Fit {
    /// The budget in tokens. The text never has more.
    #[schemars(range(min = 1))]
    pub(crate) limit: usize,
    /// How text becomes tokens.
    #[serde(default)]
    pub(crate) encoding: Encoding,
    /// What stands between two items; a blank line unless it is set. Its tokens count.
    #[serde(default = "default_separator")]
    pub(crate) separator: String,
    /// Whether the first item that does not fit is cut short. With `false` it is dropped, and smaller ones behind it
    /// still get their chance.
    #[serde(default = "yes")]
    pub(crate) cut: bool,
    /// The smallest piece of a cut item that is still of use, in tokens.
    #[serde(default = "default_minimum_tokens")]
    pub(crate) minimum_tokens: usize,
}

fn default_separator() -> String {
    leaf::FitOptions::default().separator
}

fn default_minimum_tokens() -> usize {
    leaf::FitOptions::default().minimum_tokens
}

impl Kind for Fit {
    const NAME: &'static str = "budget.fit";
    const ABOUT: &'static str = "Joins hits, facts and documents into one text that keeps within a token budget.";

    fn ports(_: Option<&Self>) -> Ports {
        let items = Port::required("items", Type::Items, "What should be in the text, the most important first.");
        Ports::new(vec![items.many()], Type::Pack)
    }

    fn build(&self, _: &BuildContext) -> Result<Box<dyn Stage>, StageError> {
        let options =
            leaf::FitOptions { separator: self.separator.clone(), minimum_tokens: self.minimum_tokens, cut: self.cut };
        Ok(Box::new(Packer { limit: self.limit, counter: self.encoding.counter(), options }))
    }
}

struct Packer {
    limit: usize,
    counter: leaf::TokenCounter,
    options: leaf::FitOptions,
}

impl Stage for Packer {
    fn run(&self, inputs: &Inputs, _: &StageContext) -> Result<Value, StageError> {
        let sources = super::item_lists(inputs, "items")?;
        let items: Vec<&Item> = sources.iter().flat_map(|source| source.iter()).collect();
        let offered: Vec<leaf::Item> =
            items.iter().map(|item| leaf::Item::new(item.id.as_str(), item.text.as_str())).collect();
        let fitted = leaf::fit(&offered, self.limit, &self.counter, &self.options);
        let id = |index: usize| items[index].id.clone();
        Ok(Value::Pack(Arc::new(Pack {
            tokens: fitted.tokens,
            limit: self.limit,
            raw_tokens: fitted.raw_tokens,
            cut: fitted.kept.iter().filter(|kept| kept.cut).map(|kept| id(kept.index)).collect(),
            dropped: fitted.dropped.iter().map(|index| id(*index)).collect(),
            kept: fitted.kept.into_iter().map(|kept| Item { text: kept.text, ..items[kept.index].clone() }).collect(),
            text: fitted.text,
        })))
    }
}

/// Counts the tokens of a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Count {
    /// How text becomes tokens.
    #[serde(default)]
    pub(crate) encoding: Encoding,
}

impl Kind for Count {
    const NAME: &'static str = "budget.count";
    const ABOUT: &'static str = "Counts the tokens of a text.";

    fn ports(_: Option<&Self>) -> Ports {
        Ports::new(vec![Port::required("text", Type::Text, "The text.")], Type::Number)
    }

    fn build(&self, _: &BuildContext) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(Counter(self.encoding.counter())))
    }
}

struct Counter(leaf::TokenCounter);

impl Stage for Counter {
    fn run(&self, inputs: &Inputs, _: &StageContext) -> Result<Value, StageError> {
        Ok(Value::Number(self.0.count(&super::text(inputs, "text")?) as f64))
    }
}
