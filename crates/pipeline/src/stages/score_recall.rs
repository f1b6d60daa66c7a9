//! `score.recall`: how much of what should be found was found.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::files::unusable;
use crate::stage::{BuildContext, Inputs, Kind, Port, Ports, Stage, StageContext, StageError, Weight};
use crate::value::{Type, Value, describe};

/// Measures recall at `k`: the share of the relevant documents that are among the best `k` hits, from 0 to 1.
///
/// It is |relevant ∩ best `k`| / |relevant|, so that with more than `k` relevant documents it cannot reach 1. An id that
/// is listed twice counts once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Recall {
    /// How many of the best hits are looked at.
    #[serde(default = "default_k")]
    #[schemars(range(min = 1))]
    pub(crate) k: usize,
}

fn default_k() -> usize {
    5
}

impl Kind for Recall {
    const NAME: &'static str = "score.recall";
    const ABOUT: &'static str =
        "Measures the share of the relevant documents that are among the best hits, from 0 to 1.";

    fn ports(_: Option<&Self>) -> Ports {
        let inputs = vec![
            Port::required("hits", Type::Hits, "What was found."),
            Port::required("relevant", Type::Json, "What should be found: a list of ids."),
        ];
        Ports::new(inputs, Type::Number)
    }

    fn build(&self, _: &BuildContext) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(self.clone()))
    }
}

impl Stage for Recall {
    fn run(&self, inputs: &Inputs, _: &StageContext) -> Result<Value, StageError> {
        let Value::Hits(hits) = inputs.need("hits")?.convert(Type::Hits).map_err(|error| unusable("hits", error))?
        else {
            return Err(unusable("hits", "expected hits"));
        };
        let relevant = inputs.need("relevant")?.to_json();
        let Json::Array(relevant) = &relevant else {
            return Err(unusable("relevant", format!("found {}, expected a list of ids", describe(&relevant))));
        };
        let relevant = relevant
            .iter()
            .map(|id| {
                id.as_str().ok_or_else(|| {
                    unusable("relevant", format!("found {} in the list, expected an id in quotes", describe(id)))
                })
            })
            .collect::<Result<BTreeSet<&str>, _>>()?;
        if relevant.is_empty() {
            let hint = "give at least one id, or leave such records out";
            return Err(unusable("relevant", "the list is empty, so that there is nothing to find").hint(hint));
        }
        let best: BTreeSet<&str> = hits.hits.iter().take(self.k).map(|hit| hit.id.as_str()).collect();
        Ok(Value::Number(relevant.intersection(&best).count() as f64 / relevant.len() as f64))
    }

    fn weight(&self) -> Weight {
        Weight::Light
    }
}
