//! `merge`: several lists become one.

use std::collections::HashSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::yes;
use crate::stage::{BuildContext, Inputs, Kind, Port, Ports, Stage, StageContext, StageError, Weight};
use crate::value::{Type, Value};
use crate::wire::Item;

/// Puts several lists of hits, facts or documents into one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Merge {
    /// The order of the result.
    #[serde(default)]
    pub(crate) order: MergeOrder,
    /// Whether only the first of several items with the same id is kept.
    #[serde(default = "yes")]
    pub(crate) dedupe: bool,
    /// How many items come out at most; all where it is missing.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(crate) limit: Option<usize>,
}

/// The order of a merged list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MergeOrder {
    /// All of the first source, then all of the second, and so on.
    #[default]
    Feeds,
    /// Highest score first, equal scores in the order of the sources, items without a score last. Scores of different
    /// rankings are rarely comparable; this is for sources that share a scale.
    Score,
    /// The first of each source, then the second of each, and so on.
    RoundRobin,
}

impl Kind for Merge {
    const NAME: &'static str = "merge";
    const ABOUT: &'static str = "Puts several lists of hits, facts or documents into one.";

    fn ports(_: Option<&Self>) -> Ports {
        Ports::new(vec![Port::required("items", Type::Items, "The lists.").many()], Type::Items)
    }

    fn build(&self, _: &BuildContext) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(self.clone()))
    }
}

impl Stage for Merge {
    fn run(&self, inputs: &Inputs, _: &StageContext) -> Result<Value, StageError> {
        let sources = super::item_lists(inputs, "items")?;
        let mut order: Vec<&Item> = match self.order {
            MergeOrder::Feeds | MergeOrder::Score => sources.iter().flat_map(|source| source.iter()).collect(),
            MergeOrder::RoundRobin => {
                let longest = sources.iter().map(|source| source.len()).max().unwrap_or(0);
                (0..longest).flat_map(|at| sources.iter().filter_map(move |source| source.get(at))).collect()
            }
        };
        if self.order == MergeOrder::Score {
            let score = |item: &Item| item.score.filter(|score| !score.is_nan()).unwrap_or(f64::NEG_INFINITY);
            order.sort_by(|left, right| score(right).total_cmp(&score(left)));
        }
        let mut seen = HashSet::new();
        let kept = order.into_iter().filter(|item| !self.dedupe || seen.insert(item.id.as_str()));
        Ok(Value::Items(Arc::new(kept.take(self.limit.unwrap_or(usize::MAX)).cloned().collect())))
    }

    fn weight(&self) -> Weight {
        Weight::Light
    }
}
