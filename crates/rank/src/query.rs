//! What is asked.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::document::Language;
use crate::embed::Vector;
use crate::filter::Filter;

/// A question as text, and what else narrows the search.
///
/// The text is never parsed as a query language: quotes, operators, colons and brackets are punctuation.
///
/// ```
/// use hatir_rank::{Language, Query};
///
/// let plain = Query::new("how long does a refund take");
/// let known = Query::from("iade süresi").in_language(Language::Turkish);
/// assert_eq!(plain.language, None);
/// assert_eq!(known.language, Some(Language::Turkish));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Query {
    /// What the person typed, or what a condenser made of it.
    pub text: String,
    /// What the lexical voice asks for in place of the text, when there is any: words with weights, such as a
    /// condenser draws from a conversation.
    pub terms: Vec<QueryTerm>,
    /// The language of the text; found from the text when `None`. It decides which words are function words, which
    /// are not searched as stems; the stems of both languages are always asked.
    pub language: Option<Language>,
    /// The text's vector, for a caller who makes vectors himself; else the index's embedder makes one.
    pub vector: Option<Vector>,
    /// Which documents may be found.
    pub filter: Filter,
    /// The moment of asking: "last week" and the fading of memories go by it. Without it, neither the temporal voice
    /// nor any decay takes part.
    pub now: Option<Timestamp>,
    /// Where the person is, for "yesterday" and "in March"; UTC when `None`.
    pub zone: Option<TimeZone>,
    /// Which voices are asked.
    pub mode: Mode,
    /// Only these of the mode's voices, by name; all of them when `None`.
    pub voices: Option<Vec<String>>,
    /// Whether a search that finds no evidence of an answer gives no hit ([`Grade::None`](crate::Grade)); else it
    /// gives the nearest and leaves the verdict to the reader.
    pub may_be_silent: bool,
}

/// A word or a phrase with a weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueryTerm {
    /// One word or several.
    pub text: String,
    /// How much it counts, above 0; other weights are left out.
    pub weight: f64,
}

/// Which voices a search asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// The lexical voice alone.
    Keyword,
    /// The lexical and the semantic voice.
    Semantic,
    /// All four: lexical, semantic, temporal, graph.
    #[default]
    Hybrid,
}

impl Query {
    /// A query whose language is found from its text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), may_be_silent: true, ..Self::default() }
    }

    /// The same in a stated language.
    #[must_use]
    pub fn in_language(mut self, language: Language) -> Self {
        self.language = Some(language);
        self
    }

    /// The same over the documents that pass a filter.
    #[must_use]
    pub fn within(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// The same asked at a moment, by somebody whose clock shows a zone's time.
    #[must_use]
    pub fn asked_at(mut self, now: Timestamp, zone: TimeZone) -> Self {
        self.now = Some(now);
        self.zone = Some(zone);
        self
    }

    /// The same with weighted terms for the lexical voice.
    #[must_use]
    pub fn with_terms(mut self, terms: impl IntoIterator<Item = (String, f64)>) -> Self {
        self.terms = terms.into_iter().map(|(text, weight)| QueryTerm { text, weight }).collect();
        self
    }

    /// The same with the vector of its text, of unit length or not.
    #[must_use]
    pub fn with_vector(mut self, vector: Vector) -> Self {
        self.vector = Some(vector);
        self
    }

    /// The same asked of the voices of a mode.
    #[must_use]
    pub fn by(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// The same asked of some voices only: `lexical`, `semantic`, `temporal`, `graph`.
    #[must_use]
    pub fn by_voices(mut self, voices: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.voices = Some(voices.into_iter().map(Into::into).collect());
        self
    }

    /// The same, which gives the nearest documents even where nothing is evidence of an answer.
    #[must_use]
    pub fn never_silent(mut self) -> Self {
        self.may_be_silent = false;
        self
    }

    /// Whether a voice of the crate is asked.
    pub(crate) fn asks(&self, voice: &str) -> bool {
        let by_mode = match self.mode {
            Mode::Keyword => voice == "lexical",
            Mode::Semantic => matches!(voice, "lexical" | "semantic"),
            Mode::Hybrid => true,
        };
        by_mode && self.voices.as_ref().is_none_or(|voices| voices.iter().any(|named| named == voice))
    }
}

impl From<&str> for Query {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Query {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}
