//! The shapes of the values: the public, versioned JSON of Hatır.
//!
//! They are not the leaf crates' own types: a leaf may change its internals without changing what scripts read, and the
//! conversion is a few lines in each stage.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who said a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// The assistant.
    Assistant,
    /// A title or a section that the conversation is about.
    Context,
}

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub text: String,
}

/// Where a text stands: a file and a line in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// The file, relative to the folder that was read, or as it was given.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.path, self.line)
    }
}

/// One replacement that made a follow-up whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// First byte of the follow-up that was replaced.
    pub start: usize,
    /// One past the last byte that was replaced; equal to `start` for an insertion.
    pub end: usize,
    /// What stands there now.
    pub replacement: String,
    /// The turn that the replacement came from, counted from 0, where it came from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<usize>,
    /// Why.
    pub why: String,
}

/// A query, with the story of how it came to be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Query {
    /// The text to search for.
    pub text: String,
    /// The text as the person typed it.
    #[serde(default)]
    pub raw: String,
    /// The rule that made `text` of `raw`, where a rule did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// One line for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The topic that was found in the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// How sure the rewriting is, in `0.0..=1.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f32>,
    /// `en` or `tr`, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// What was replaced by what.
    #[serde(default)]
    pub steps: Vec<Step>,
}

impl Query {
    /// A query that is searched as it was typed.
    pub fn raw(text: impl Into<String>) -> Self {
        let text = text.into();
        Query { raw: text.clone(), text, ..Query::default() }
    }
}

/// A text with an identity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// Unique within an index.
    pub id: String,
    /// The text itself.
    pub text: String,
    /// Its title or heading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `en` or `tr`; found from the text where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Where the text was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Whatever else should come back with a hit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
}

/// What one voice contributed to a hit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    /// The voice.
    pub voice: String,
    /// The hit's rank in that voice, counted from 1.
    pub rank: usize,
    /// The voice's own score, in the voice's own unit.
    pub raw_score: f64,
    /// The weight of the voice in the fusion.
    pub weight: f64,
    /// What it added to the hit's score.
    pub contribution: f64,
}

/// A search result that explains itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    /// The document's id.
    pub id: String,
    /// The fused score; higher is better; comparable within one ranking only.
    pub score: f64,
    /// The document's text.
    pub text: String,
    /// The document's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where the text was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The document's further fields.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
    /// Voice by voice, how the score came about.
    #[serde(default)]
    pub voices: Vec<Share>,
}

/// Ranked search results, with the reason when there are none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hits {
    /// The query text that was really sent; empty when nobody says (a stub of a test).
    #[serde(default)]
    pub query: String,
    /// Best first; ties by id.
    pub hits: Vec<Hit>,
    /// Why a voice had nothing to say, as `voice: reason`.
    #[serde(default)]
    pub silent_because: Vec<String>,
}

/// A statement that the memory holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fact {
    /// The fact's id.
    pub id: String,
    /// The domain that it belongs to.
    pub domain: String,
    /// What it is about.
    pub topic: String,
    /// The statement.
    pub content: String,
    /// In `0.0..=1.0`.
    pub confidence: f64,
    /// `stated`, `unknown`, `inferred`, `imported` or `tool`.
    pub veracity: String,
    /// How often it was stated.
    pub mentions: u32,
    /// When it was learned (RFC 3339, UTC).
    pub recorded_at: String,
    /// From when it holds (RFC 3339, UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<String>,
    /// Until when it holds (RFC 3339, UTC), exclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<String>,
    /// The fact that took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
}

/// What a budget, an answer or a merge needs to know of a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Item {
    /// The id of the hit, fact or document.
    pub id: String,
    /// Its text.
    pub text: String,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its score, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Where it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

/// Text that fits a token budget.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pack {
    /// What was kept, joined.
    pub text: String,
    /// Tokens in `text`, counted exactly; at most `limit`.
    pub tokens: usize,
    /// The budget in tokens.
    pub limit: usize,
    /// Tokens in everything that was offered.
    pub raw_tokens: usize,
    /// What was kept, in order; a text that was cut stands here as it was cut.
    pub kept: Vec<Item>,
    /// The ids of what was cut short.
    #[serde(default)]
    pub cut: Vec<String>,
    /// The ids of what found no room.
    #[serde(default)]
    pub dropped: Vec<String>,
}

/// One source of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Citation {
    /// The id of the text that was cited.
    pub id: String,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Its score in the ranking that found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

/// An extractive answer: words of the sources, with their places.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The text; empty when nothing was found.
    pub text: String,
    /// Whether there is an answer.
    pub found: bool,
    /// Where each sentence comes from, in the order of the text.
    #[serde(default)]
    pub citations: Vec<Citation>,
}

impl From<&Hit> for Item {
    fn from(hit: &Hit) -> Self {
        Item {
            id: hit.id.clone(),
            text: hit.text.clone(),
            title: hit.title.clone(),
            score: Some(hit.score),
            place: hit.place.clone(),
        }
    }
}

impl From<&Fact> for Item {
    fn from(fact: &Fact) -> Self {
        Item {
            id: fact.id.clone(),
            text: fact.content.clone(),
            title: Some(fact.topic.clone()),
            score: Some(fact.confidence),
            place: None,
        }
    }
}

impl From<&Document> for Item {
    fn from(document: &Document) -> Self {
        Item {
            id: document.id.clone(),
            text: document.text.clone(),
            title: document.title.clone(),
            score: None,
            place: document.place.clone(),
        }
    }
}
