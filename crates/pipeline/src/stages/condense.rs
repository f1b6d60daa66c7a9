//! `condense`: a follow-up becomes a query that stands alone.

use std::sync::Arc;

use hatir_condense as leaf;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::yes;
use crate::stage::{BuildContext, Inputs, Kind, Port, Ports, Stage, StageContext, StageError, Weight};
use crate::value::{Type, Value};
use crate::wire::{Query, Role, Step, Turn};

/// Makes a follow-up a query that stands alone, from the conversation before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Condense {
    /// Whether anything is done at all. With `false` the question goes on as it was typed, and its note says so.
    #[serde(default = "yes")]
    pub(crate) enabled: bool,
    /// How a topic and what was asked about it are joined.
    #[serde(default)]
    pub(crate) connector: Connector,
    /// How many of the newest turns are searched for what is missing.
    #[serde(default = "default_window_turns")]
    pub(crate) window_turns: usize,
    /// How much of the newest turns is searched, in tokens, estimated at four bytes each.
    #[serde(default = "default_window_tokens")]
    pub(crate) window_tokens: usize,
    /// Words that are topics here, such as the names of products. They win against other candidates of the same turn.
    #[serde(default)]
    pub(crate) topic_words: Vec<String>,
    /// Words or phrases that make a question stand alone wherever they occur in it.
    #[serde(default)]
    pub(crate) standalone_markers: Vec<String>,
    /// The language of the questions; told from each question and the conversation where it is missing.
    #[serde(default)]
    pub(crate) language: Option<Language>,
}

/// How a topic and what was asked about it are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Connector {
    /// Side by side: `refund damaged items`.
    #[default]
    Plain,
    /// As a question about a rule, for collections of rules: `refund policy for damaged items`.
    Policy,
}

/// A language that has rules of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Language {
    /// English.
    En,
    /// Turkish.
    Tr,
}

fn default_window_turns() -> usize {
    leaf::Options::default().window_turns
}

fn default_window_tokens() -> usize {
    leaf::Options::default().window_tokens
}

impl Kind for Condense {
    const NAME: &'static str = "condense";
    const ABOUT: &'static str = "Makes a follow-up a query that stands alone, from the conversation before it.";

    fn ports(_: Option<&Self>) -> Ports {
        let inputs = vec![
            Port::optional("conversation", Type::Conversation, "The turns before the question, oldest first."),
            Port::required("question", Type::Text, "The question as it was typed."),
        ];
        Ports::new(inputs, Type::Query)
    }

    fn build(&self, _: &BuildContext) -> Result<Box<dyn Stage>, StageError> {
        let options = leaf::Options {
            connector: match self.connector {
                Connector::Plain => leaf::Connector::Plain,
                Connector::Policy => leaf::Connector::Policy,
            },
            window_turns: self.window_turns,
            window_tokens: self.window_tokens,
            topic_words: self.topic_words.clone(),
            standalone_markers: self.standalone_markers.clone(),
            language: self.language.map(|language| match language {
                Language::En => leaf::Language::English,
                Language::Tr => leaf::Language::Turkish,
            }),
        };
        Ok(Box::new(Rewriter { enabled: self.enabled, options }))
    }
}

struct Rewriter {
    enabled: bool,
    options: leaf::Options,
}

impl Stage for Rewriter {
    fn run(&self, inputs: &Inputs, _: &StageContext) -> Result<Value, StageError> {
        let question = super::text(inputs, "question")?;
        if !self.enabled {
            let note = Some("condensing is switched off".to_owned());
            return Ok(Value::Query(Arc::new(Query { note, ..Query::raw(&*question) })));
        }
        let history = match inputs.get("conversation") {
            Some(Value::Conversation(turns)) => turns.iter().map(turn).collect(),
            _ => leaf::Conversation::default(),
        };
        let condensed = leaf::Condenser::new().condense(&history, &question, &self.options);
        Ok(Value::Query(Arc::new(Query {
            text: condensed.query,
            raw: question.to_string(),
            rule: Some(condensed.rule.as_str().to_owned()),
            note: Some(condensed.note),
            topic: condensed.topic,
            confidence: Some(condensed.confidence),
            language: Some(condensed.language.code().to_owned()),
            steps: condensed.steps.into_iter().map(step).collect(),
        })))
    }

    fn weight(&self) -> Weight {
        Weight::Light
    }
}

fn turn(turn: &Turn) -> leaf::Turn {
    match turn.role {
        Role::User => leaf::Turn::user(turn.text.as_str()),
        Role::Assistant => leaf::Turn::assistant(turn.text.as_str()),
        Role::Context => leaf::Turn::context(turn.text.as_str()),
    }
}

fn step(step: leaf::Step) -> Step {
    Step { start: step.range.start, end: step.range.end, replacement: step.replacement, turn: step.turn, why: step.why }
}
