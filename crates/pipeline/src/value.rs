//! What flows along the edges of a plan: a closed set of types, each with one JSON form.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use crate::wire::{Answer, Document, Fact, Hit, Hits, Item, Pack, Query, Turn};

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
            "place": { "path": "p.md", "line": 3 }, "voices": [] }], "silent_because": [] });
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
