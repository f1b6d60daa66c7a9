//! What flows along the edges of a plan: a closed set of types, each with one JSON form.
//!
//! The shapes here are the public, versioned JSON of Hatır. They are not the leaf crates' own types: a leaf may change
//! its internals without changing what scripts read, and the conversion is a few lines in each stage.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value as Json;

/// The type of a port, of a pipeline's input, or of a stage's output.
///
/// ```
/// use hatir_pipeline::Type;
///
/// assert_eq!("hits".parse::<Type>().unwrap(), Type::Hits);
/// assert!(Type::Items.accepts(Type::Hits), "a budget takes hits, facts and documents alike");
/// assert!(!Type::Hits.accepts(Type::Items));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Type {
    /// A piece of text.
    Text,
    /// A number (64-bit float; counts are whole).
    Number,
    /// True or false.
    Flag,
    /// Any JSON value.
    Json,
    /// Turns, oldest first: `[{"role": "user", "text": "…"}]`.
    Conversation,
    /// A query with the story of how it came to be.
    Query,
    /// Texts with an identity: what an index is made of.
    Documents,
    /// JSON objects, as read from a JSONL file.
    Records,
    /// An open index. It has no JSON form that can be read back.
    Index,
    /// Ranked search results, best first.
    Hits,
    /// Facts from the memory.
    Facts,
    /// Anything with a text that can be put into a budget: what hits, facts and documents have in common.
    Items,
    /// Text that fits a token budget.
    Pack,
    /// An answer with its citations.
    Answer,
}

impl Type {
    /// All types, in the order in which documentation lists them.
    pub const ALL: [Type; 14] = [
        Type::Text,
        Type::Number,
        Type::Flag,
        Type::Json,
        Type::Conversation,
        Type::Query,
        Type::Documents,
        Type::Records,
        Type::Index,
        Type::Hits,
        Type::Facts,
        Type::Items,
        Type::Pack,
        Type::Answer,
    ];

    /// The name as written in a pipeline file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Type::Text => "text",
            Type::Number => "number",
            Type::Flag => "flag",
            Type::Json => "json",
            Type::Conversation => "conversation",
            Type::Query => "query",
            Type::Documents => "documents",
            Type::Records => "records",
            Type::Index => "index",
            Type::Hits => "hits",
            Type::Facts => "facts",
            Type::Items => "items",
            Type::Pack => "pack",
            Type::Answer => "answer",
        }
    }

    /// Whether a port of this type takes a value of type `offered`, converting it where that loses nothing the port
    /// needs (see [`Value::convert`]).
    pub fn accepts(self, offered: Type) -> bool {
        if self == offered {
            return true;
        }
        match self {
            Type::Text => matches!(offered, Type::Query | Type::Pack | Type::Answer),
            Type::Query => offered == Type::Text,
            Type::Documents => offered == Type::Records,
            Type::Items => matches!(offered, Type::Hits | Type::Facts | Type::Documents),
            Type::Json => offered != Type::Index,
            _ => false,
        }
    }

    /// Whether values of this type can be given from outside, as JSON.
    pub fn from_outside(self) -> bool {
        self != Type::Index
    }
}

impl fmt::Display for Type {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for Type {
    type Err = UnknownType;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Type::ALL.into_iter().find(|kind| kind.as_str() == name).ok_or_else(|| UnknownType(name.to_owned()))
    }
}

/// The name given is not the name of a [`Type`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no type \"{0}\"")]
pub struct UnknownType(pub String);

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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<String>,
    /// The ids of what found no room.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Citation>,
}

/// An open index, passed between stages of one process.
#[derive(Clone)]
pub struct IndexHandle {
    /// The index.
    pub index: Arc<hatir_rank::Index>,
    /// How many documents it holds.
    pub documents: usize,
}

impl fmt::Debug for IndexHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "IndexHandle({} documents)", self.documents)
    }
}

/// A value on an edge. Cloning one is cheap: everything large is shared.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Value {
    /// See [`Type::Text`].
    Text(Arc<str>),
    /// See [`Type::Number`].
    Number(f64),
    /// See [`Type::Flag`].
    Flag(bool),
    /// See [`Type::Json`].
    Json(Arc<Json>),
    /// See [`Type::Conversation`].
    Conversation(Arc<Vec<Turn>>),
    /// See [`Type::Query`].
    Query(Arc<Query>),
    /// See [`Type::Documents`].
    Documents(Arc<Vec<Document>>),
    /// See [`Type::Records`].
    Records(Arc<Vec<Json>>),
    /// See [`Type::Index`].
    Index(IndexHandle),
    /// See [`Type::Hits`].
    Hits(Arc<Hits>),
    /// See [`Type::Facts`].
    Facts(Arc<Vec<Fact>>),
    /// See [`Type::Items`].
    Items(Arc<Vec<Item>>),
    /// See [`Type::Pack`].
    Pack(Arc<Pack>),
    /// See [`Type::Answer`].
    Answer(Arc<Answer>),
}

/// The JSON form, without a tree in between.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Text(text) => serializer.serialize_str(text),
            Value::Number(number) => number_to_json(*number).serialize(serializer),
            Value::Flag(flag) => serializer.serialize_bool(*flag),
            Value::Json(json) => json.serialize(serializer),
            Value::Conversation(turns) => turns.serialize(serializer),
            Value::Query(query) => query.serialize(serializer),
            Value::Documents(documents) => documents.serialize(serializer),
            Value::Records(records) => records.serialize(serializer),
            Value::Index(handle) => serde_json::json!({ "documents": handle.documents }).serialize(serializer),
            Value::Hits(hits) => hits.serialize(serializer),
            Value::Facts(facts) => facts.serialize(serializer),
            Value::Items(items) => items.serialize(serializer),
            Value::Pack(pack) => pack.serialize(serializer),
            Value::Answer(answer) => answer.serialize(serializer),
        }
    }
}

/// A value does not have the form that its type asks for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a value of type {expected}: {reason}")]
pub struct ValueError {
    /// What was asked for.
    pub expected: Type,
    /// What is wrong, and where.
    pub reason: String,
}

impl ValueError {
    fn new(expected: Type, reason: impl fmt::Display) -> Self {
        ValueError { expected, reason: reason.to_string() }
    }
}

impl Value {
    /// A text value.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Value::Text(text.into())
    }

    /// A JSON value.
    pub fn json(json: Json) -> Self {
        Value::Json(Arc::new(json))
    }

    /// The type of this value.
    pub fn kind(&self) -> Type {
        match self {
            Value::Text(_) => Type::Text,
            Value::Number(_) => Type::Number,
            Value::Flag(_) => Type::Flag,
            Value::Json(_) => Type::Json,
            Value::Conversation(_) => Type::Conversation,
            Value::Query(_) => Type::Query,
            Value::Documents(_) => Type::Documents,
            Value::Records(_) => Type::Records,
            Value::Index(_) => Type::Index,
            Value::Hits(_) => Type::Hits,
            Value::Facts(_) => Type::Facts,
            Value::Items(_) => Type::Items,
            Value::Pack(_) => Type::Pack,
            Value::Answer(_) => Type::Answer,
        }
    }

    /// The JSON form, as `hatir run --format json` prints it.
    pub fn to_json(&self) -> Json {
        // Serialising these types cannot fail: no map has a key that is not a string, and no number type is refused
        // (a float that is not finite becomes null).
        serde_json::to_value(self).unwrap_or(Json::Null)
    }

    /// Reads a value of type `expected` from JSON.
    ///
    /// Short forms that people write are taken too: a string where a query is meant, and a bare list of hits where the
    /// full form has `query` and `hits`.
    ///
    /// # Errors
    /// When the JSON does not have the form of that type; the reason says where.
    ///
    /// ```
    /// use hatir_pipeline::{Type, Value};
    /// use serde_json::json;
    ///
    /// let turns = Value::from_json(Type::Conversation, json!([{ "role": "user", "text": "Hi" }])).unwrap();
    /// assert_eq!(turns.kind(), Type::Conversation);
    /// let error = Value::from_json(Type::Conversation, json!([{ "role": "robot", "text": "Hi" }])).unwrap_err();
    /// assert!(error.to_string().contains("robot"));
    /// ```
    pub fn from_json(expected: Type, json: Json) -> Result<Self, ValueError> {
        fn read<T: serde::de::DeserializeOwned>(expected: Type, json: Json) -> Result<Arc<T>, ValueError> {
            serde_json::from_value(json).map(Arc::new).map_err(|error| ValueError::new(expected, error))
        }
        let found = describe(&json);
        match (expected, json) {
            (Type::Text, Json::String(text)) => Ok(Value::text(text)),
            (Type::Number, Json::Number(number)) => number
                .as_f64()
                .map(Value::Number)
                .ok_or_else(|| ValueError::new(expected, format!("{number} is out of range"))),
            (Type::Flag, Json::Bool(flag)) => Ok(Value::Flag(flag)),
            (Type::Json, json) => Ok(Value::json(json)),
            (Type::Conversation, json @ Json::Array(_)) => read(expected, json).map(Value::Conversation),
            (Type::Query, Json::String(text)) => Ok(Value::Query(Arc::new(Query::raw(text)))),
            (Type::Query, json @ Json::Object(_)) => read(expected, json).map(Value::Query),
            (Type::Documents, json @ Json::Array(_)) => read(expected, json).map(Value::Documents),
            (Type::Records, Json::Array(records)) => match records.iter().position(|record| !record.is_object()) {
                Some(at) => {
                    Err(ValueError::new(expected, format!("[{at}] is {}, not an object", describe(&records[at]))))
                }
                None => Ok(Value::Records(Arc::new(records))),
            },
            (Type::Hits, json @ Json::Object(_)) => read(expected, json).map(Value::Hits),
            (Type::Hits, json @ Json::Array(_)) => {
                let hits = read::<Vec<Hit>>(expected, json)?;
                Ok(Value::Hits(Arc::new(Hits { hits: hits.to_vec(), ..Hits::default() })))
            }
            (Type::Facts, json @ Json::Array(_)) => read(expected, json).map(Value::Facts),
            (Type::Items, json @ Json::Array(_)) => read(expected, json).map(Value::Items),
            (Type::Pack, json @ Json::Object(_)) => read(expected, json).map(Value::Pack),
            (Type::Answer, json @ Json::Object(_)) => read(expected, json).map(Value::Answer),
            (Type::Index, _) => Err(ValueError::new(expected, "an index cannot be given from outside")),
            (Type::Conversation | Type::Documents | Type::Records | Type::Facts | Type::Items, _) => {
                Err(ValueError::new(expected, format!("found {found}, expected an array")))
            }
            (Type::Query | Type::Hits | Type::Pack | Type::Answer, _) => {
                Err(ValueError::new(expected, format!("found {found}, expected an object")))
            }
            (Type::Text, _) => Err(ValueError::new(expected, format!("found {found}, expected a string"))),
            (Type::Number, _) => Err(ValueError::new(expected, format!("found {found}, expected a number"))),
            (Type::Flag, _) => Err(ValueError::new(expected, format!("found {found}, expected true or false"))),
        }
    }

    /// This value as one of type `to`, where [`Type::accepts`] allows it.
    ///
    /// # Errors
    /// When the types do not go together, or records are no documents (the reason names the record).
    pub fn convert(&self, to: Type) -> Result<Value, ValueError> {
        match (self, to) {
            (value, to) if value.kind() == to => Ok(value.clone()),
            (Value::Query(query), Type::Text) => Ok(Value::text(query.text.as_str())),
            (Value::Pack(pack), Type::Text) => Ok(Value::text(pack.text.as_str())),
            (Value::Answer(answer), Type::Text) => Ok(Value::text(answer.text.as_str())),
            (Value::Text(text), Type::Query) => Ok(Value::Query(Arc::new(Query::raw(text.as_ref())))),
            (Value::Records(records), Type::Documents) => {
                let read = |(at, record): (usize, &Json)| {
                    serde_json::from_value::<Document>(record.clone())
                        .map_err(|error| ValueError::new(to, format!("record {}: {error}", at + 1)))
                };
                records
                    .iter()
                    .enumerate()
                    .map(read)
                    .collect::<Result<Vec<_>, _>>()
                    .map(|all| Value::Documents(Arc::new(all)))
            }
            (Value::Hits(hits), Type::Items) => Ok(Value::Items(Arc::new(hits.hits.iter().map(Item::from).collect()))),
            (Value::Facts(facts), Type::Items) => Ok(Value::Items(Arc::new(facts.iter().map(Item::from).collect()))),
            (Value::Documents(documents), Type::Items) => {
                Ok(Value::Items(Arc::new(documents.iter().map(Item::from).collect())))
            }
            (value, Type::Json) if value.kind() != Type::Index => Ok(Value::json(value.to_json())),
            (value, to) => Err(ValueError::new(to, format!("found a value of type {}", value.kind()))),
        }
    }

    /// Whether there is nothing in it: no text, no elements, no answer, JSON null. Numbers and flags are never empty.
    pub fn is_empty(&self) -> bool {
        match self {
            Value::Text(text) => text.trim().is_empty(),
            Value::Number(_) | Value::Flag(_) => false,
            Value::Json(json) => match json.as_ref() {
                Json::Null => true,
                Json::String(text) => text.trim().is_empty(),
                Json::Array(array) => array.is_empty(),
                Json::Object(object) => object.is_empty(),
                Json::Bool(_) | Json::Number(_) => false,
            },
            Value::Conversation(turns) => turns.is_empty(),
            Value::Query(query) => query.text.trim().is_empty(),
            Value::Documents(documents) => documents.is_empty(),
            Value::Records(records) => records.is_empty(),
            Value::Index(handle) => handle.documents == 0,
            Value::Hits(hits) => hits.hits.is_empty(),
            Value::Facts(facts) => facts.is_empty(),
            Value::Items(items) => items.is_empty(),
            Value::Pack(pack) => pack.text.is_empty(),
            Value::Answer(answer) => !answer.found,
        }
    }

    /// How large it is: the number itself, the elements of a list, the characters of a text. This is what the
    /// condition `greater` compares. A flag, a JSON object and null have no size.
    pub fn size(&self) -> Option<f64> {
        let count = match self {
            Value::Number(number) => return Some(*number),
            Value::Flag(_) => return None,
            Value::Json(json) => match json.as_ref() {
                Json::Number(number) => return number.as_f64(),
                Json::String(text) => text.chars().count(),
                Json::Array(array) => array.len(),
                Json::Null | Json::Bool(_) | Json::Object(_) => return None,
            },
            Value::Text(text) => text.chars().count(),
            Value::Conversation(turns) => turns.len(),
            Value::Query(query) => query.text.chars().count(),
            Value::Documents(documents) => documents.len(),
            Value::Records(records) => records.len(),
            Value::Index(handle) => handle.documents,
            Value::Hits(hits) => hits.hits.len(),
            Value::Facts(facts) => facts.len(),
            Value::Items(items) => items.len(),
            Value::Pack(pack) => pack.tokens,
            Value::Answer(answer) => answer.text.chars().count(),
        };
        Some(count as f64)
    }
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

/// Whole numbers are written without a fraction, as people write counts.
fn number_to_json(number: f64) -> Json {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        Json::from(number as i64)
    } else {
        serde_json::Number::from_f64(number).map_or(Json::Null, Json::Number)
    }
}

/// What a JSON value is, in words, for messages.
pub(crate) fn describe(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "true or false",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_type_has_a_name_that_reads_back() {
        for kind in Type::ALL {
            assert_eq!(kind.as_str().parse::<Type>(), Ok(kind));
        }
        assert!("hit".parse::<Type>().is_err());
    }

    /// Whatever the checker lets through an edge, the runner can convert.
    #[test]
    fn what_a_port_accepts_can_be_converted() {
        let samples = [
            (Type::Text, json!("a")),
            (Type::Number, json!(1.5)),
            (Type::Flag, json!(true)),
            (Type::Json, json!({ "a": 1 })),
            (Type::Conversation, json!([{ "role": "user", "text": "a" }])),
            (Type::Query, json!({ "text": "a" })),
            (Type::Documents, json!([{ "id": "1", "text": "a" }])),
            (Type::Records, json!([{ "id": "1", "text": "a" }])),
            (Type::Hits, json!({ "query": "a", "hits": [{ "id": "1", "score": 0.5, "text": "a" }] })),
            (Type::Facts, json!([])),
            (Type::Items, json!([{ "id": "1", "text": "a" }])),
            (Type::Pack, json!({ "text": "a", "tokens": 1, "limit": 2, "raw_tokens": 1, "kept": [] })),
            (Type::Answer, json!({ "text": "a", "found": true })),
        ];
        for (offered, sample) in samples {
            let value = Value::from_json(offered, sample).unwrap();
            assert_eq!(value.kind(), offered);
            for port in Type::ALL {
                let converted = value.convert(port);
                assert_eq!(converted.is_ok(), port.accepts(offered), "{offered} into {port}: {converted:?}");
                if let Ok(converted) = converted {
                    assert_eq!(converted.kind(), port);
                }
            }
        }
    }

    #[test]
    fn json_goes_out_and_comes_back() {
        let hits = json!({ "query": "a", "hits": [{ "id": "1", "score": 0.5, "text": "a",
            "place": { "path": "p.md", "line": 3 } }] });
        let value = Value::from_json(Type::Hits, hits.clone()).unwrap();
        assert_eq!(value.to_json(), hits);
        assert_eq!(Value::Number(3.0).to_json(), json!(3));
        assert_eq!(Value::Number(0.25).to_json(), json!(0.25));
        assert_eq!(Value::Number(f64::NAN).to_json(), Json::Null);
    }

    #[test]
    fn a_wrong_form_is_described() {
        let error = Value::from_json(Type::Text, json!(3)).unwrap_err();
        assert_eq!(error.to_string(), "not a value of type text: found a number, expected a string");
        let error = Value::from_json(Type::Records, json!([{}, 3])).unwrap_err();
        assert!(error.to_string().contains("[1] is a number"), "{error}");
        let records = Value::from_json(Type::Records, json!([{ "id": "1", "text": "a" }, { "id": "2" }])).unwrap();
        let error = records.convert(Type::Documents).unwrap_err();
        assert!(error.to_string().contains("record 2: missing field `text`"), "{error}");
    }

    #[test]
    fn empty_and_size() {
        assert!(Value::text("  ").is_empty());
        assert!(Value::json(Json::Null).is_empty());
        assert!(!Value::Number(0.0).is_empty());
        assert_eq!(Value::text("çay").size(), Some(3.0));
        assert_eq!(Value::Flag(true).size(), None);
    }
}
