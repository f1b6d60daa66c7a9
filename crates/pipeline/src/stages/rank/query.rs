//! `rank.query`.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use hatir_rank as leaf;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::build::config;
use super::{failed, from_leaf, language};
use crate::stage::{BuildContext, Inputs, Kind, Port, Ports, Stage, StageContext, StageError};
use crate::stages::files::unusable;
use crate::value::{IndexHandle, Type, Value};
use crate::wire::{Hits, Query, Turn};

/// Searches an index: one that comes in on the port `index`, or one in a folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct AskIndex {
    /// The folder of an index that was made before. Either this or the port `index` must be given, and not both.
    #[serde(default)]
    #[schemars(extend("format" = "path"))]
    pub(crate) dir: Option<PathBuf>,
    /// How many hits come out at most.
    #[serde(default = "default_top_k")]
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) top_k: usize,
    /// Hits with a lower fused score are left out; none are where it is missing. Fused scores are comparable within
    /// one ranking only, so set it after a look at real ones.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub(crate) minimum_score: Option<f64>,
}

fn default_top_k() -> usize {
    10
}

impl Kind for AskIndex {
    const NAME: &'static str = "rank.query";
    const ABOUT: &'static str = "Searches an index, best hits first; each hit tells how its score came about.";

    fn ports(_: Option<&Self>) -> Ports {
        let inputs = vec![
            Port::required("query", Type::Query, "What is searched for."),
            Port::optional("index", Type::Index, "The index, where it is not in a folder."),
            Port::optional(
                "conversation",
                Type::Conversation,
                "The turns before: they tell the language of a query that is too short to do so.",
            ),
        ];
        Ports::new(inputs, Type::Hits)
    }

    fn build(&self, context: &BuildContext) -> Result<Box<dyn Stage>, StageError> {
        let open = |dir: &PathBuf| leaf::Index::open(context.path(dir), &config()).map_err(failed);
        let opened = self.dir.as_ref().map(open).transpose()?;
        Ok(Box::new(Searcher { config: self.clone(), opened }))
    }
}

struct Searcher {
    config: AskIndex,
    opened: Option<leaf::Index>,
}

impl Searcher {
    fn index<'a>(&'a self, inputs: &'a Inputs) -> Result<&'a leaf::Index, StageError> {
        match (inputs.get("index"), &self.opened) {
            (Some(Value::Index(IndexHandle { index, .. })), None) => Ok(index),
            (Some(other), None) => Err(unusable("index", format!("found {}, expected an index", other.kind()))),
            (None, Some(opened)) => Ok(opened),
            (Some(_), Some(_)) => {
                Err(StageError::permanent("there are two indexes: one on the port \"index\", and one in `with.dir`")
                    .hint("keep one of them: the port when a stage of this pipeline makes the index, else the folder"))
            }
            (None, None) => Err(StageError::permanent(
                "there is no index: nothing came in on the port \"index\", and there is no `with.dir`",
            )
            .hint("feed `in.index` from a stage `rank.index`, or name the folder of an index in `with.dir`")),
        }
    }
}

impl Stage for Searcher {
    fn run(&self, inputs: &Inputs, _: &StageContext) -> Result<Value, StageError> {
        let query = match inputs.need("query")?.convert(Type::Query) {
            Ok(Value::Query(query)) => query,
            Ok(other) => return Err(unusable("query", format!("found {}, expected a query", other.kind()))),
            Err(error) => return Err(unusable("query", error)),
        };
        let turns = match inputs.get("conversation") {
            Some(Value::Conversation(turns)) => turns.as_slice(),
            _ => &[],
        };
        let sent = leaf::Query { language: language_of(&query, turns), ..leaf::Query::new(&query.text) };
        let ranking = self.index(inputs)?.search(&sent, self.config.top_k).map_err(failed)?;

        let mut silent: Vec<String> =
            ranking.silent_because.iter().map(|silence| format!("{}: {}", silence.voice, silence.reason)).collect();
        let found = ranking.hits.len();
        let least = self.config.minimum_score.unwrap_or(f64::NEG_INFINITY);
        let hits: Vec<_> = ranking.hits.into_iter().filter(|hit| hit.score >= least).map(from_leaf).collect();
        if hits.is_empty() && found > 0 {
            silent.push(format!("rank.query: none of {found} hits reached the score {least}"));
        }
        Ok(Value::Hits(Arc::new(Hits { query: sent.text, hits, silent_because: silent })))
    }
}

/// How many words a text must have to tell its own language.
const TELLING_WORDS: usize = 4;

/// The language that the query states, or, when its text is short and shows no sign of Turkish, that of the last turns.
/// Otherwise the index tells it from the text.
fn language_of(query: &Query, turns: &[Turn]) -> Option<leaf::Language> {
    if let Some(stated) = query.language.as_deref().and_then(language) {
        return Some(stated);
    }
    let short = query.text.split_whitespace().nth(TELLING_WORDS - 1).is_none();
    if turns.is_empty() || !short || leaf::Language::of(&query.text) == Some(leaf::Language::Turkish) {
        return None;
    }
    let last = turns.iter().rev().take(4).map(|turn| Cow::from(turn.text.as_str()));
    leaf::Language::of(&last.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Role;

    #[test]
    fn a_short_query_takes_the_language_of_the_conversation() {
        let turkish = [Turn { role: Role::User, text: "İade süremiz ne kadar?".to_owned() }];
        let english = [Turn { role: Role::User, text: "How long does a refund take?".to_owned() }];
        let of = |text: &str, turns: &[Turn]| language_of(&Query::raw(text), turns);
        assert_eq!(of("on line", &turkish), Some(leaf::Language::Turkish));
        assert_eq!(of("on line", &english), Some(leaf::Language::English));
        assert_eq!(of("on line", &[]), None);
        // Long enough, or Turkish by its letters: the index tells it from the text.
        assert_eq!(of("is there a mobile app", &turkish), None);
        assert_eq!(of("kargo ücreti", &english), None);
        let stated = Query { language: Some("en".to_owned()), ..Query::raw("kargo") };
        assert_eq!(language_of(&stated, &turkish), Some(leaf::Language::English));
    }
}
