//! What is indexed and what a search gives back.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::decay::Kind;
use crate::embed::Vector;
use crate::error::{Error, Result};

/// The longest id, in bytes: room for any path.
pub(crate) const MAX_ID_BYTES: usize = 8 * 1024;

/// A language with a stemmer and a stop list of its own.
///
/// Text in any other language has no `Language`: it is searched by its folded words alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Language {
    /// English.
    #[serde(rename = "en")]
    English,
    /// Turkish.
    #[serde(rename = "tr")]
    Turkish,
}

impl Language {
    /// The two-letter code of ISO 639-1: `en` or `tr`.
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Turkish => "tr",
        }
    }

    /// The language of `text`, or `None` when it is in another language, or in none.
    ///
    /// Short Latin text without a hint either way counts as English, so that a two-word title is still stemmed.
    ///
    /// ```
    /// use hatir_rank::Language;
    /// assert_eq!(Language::of("How long does a refund take?"), Some(Language::English));
    /// assert_eq!(Language::of("İade ne kadar sürer?"), Some(Language::Turkish));
    /// assert_eq!(Language::of("Сколько времени занимает возврат?"), None);
    /// ```
    pub fn of(text: &str) -> Option<Self> {
        crate::analysis::language_of(text)
    }
}

/// A text with an id, as it is indexed and as it comes back in a [`Hit`](crate::Hit).
///
/// ```
/// use hatir_rank::{Document, Language};
///
/// let page = Document::new("refunds.md", "Refunds are paid within 14 days.")
///     .with_title("Refunds")
///     .with_language(Language::English)
///     .with_field("line", "1");
/// assert_eq!(page.fields["line"], "1");
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Document {
    /// Unique in the index, 1 to 8,192 bytes; adding a second document with the same id replaces the first.
    pub id: String,
    /// The text that is searched and returned.
    pub text: String,
    /// Searched together with the text, and returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The language of title and text; found from the text when `None` ([`Language::of`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<Language>,
    /// Stored, returned, and filtered by ([`Filter`](crate::Filter)), never searched: a path, a domain, a line.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
    /// When it was said, written or decided. The temporal voice and the decay go by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// What it is, and so how fast it fades; without a kind, or without a time, it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// How much it matters or how sure it is, 0 to 1; without it, it counts in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<f64>,
    /// The documents that it leads to, which the graph voice follows. They need not be there (yet).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// Its place in a conversation; such records are ranked by rules of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
    /// What a record of a conversation is about, searched at half its weight: what was said before, and the date.
    /// When it is `None`, the index takes the record before it in the session; see [`Turn`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The text's vector, for a caller who makes vectors himself ([`Index::use_model`](crate::Index::use_model)).
    #[serde(default, skip)]
    pub vector: Option<Vector>,
}

/// A link from a document to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// The id of the other document.
    pub to: String,
    /// How strongly they belong together, above 0 and up to 1.
    pub weight: f64,
}

/// A record's place in a conversation.
///
/// Records of one session with neighbouring positions are neighbours: what was said just before and just after counts
/// for a record too. Add a session's records in their order, so that the index finds the record before each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The conversation, unique in the index.
    pub session: String,
    /// The place in it.
    pub position: u64,
    /// Who said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
}

impl Document {
    /// A document without title, language or fields.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: id.into(), text: text.into(), ..Self::default() }
    }

    /// The same with a title.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// The same in a stated language.
    #[must_use]
    pub fn with_language(mut self, language: Language) -> Self {
        self.language = Some(language);
        self
    }

    /// The same with one more stored field.
    #[must_use]
    pub fn with_field(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.fields.insert(name.into(), value.into());
        self
    }

    /// The same with the time of its making.
    #[must_use]
    pub fn created_at(mut self, time: Timestamp) -> Self {
        self.created_at = Some(time);
        self
    }

    /// The same with a kind.
    #[must_use]
    pub fn with_kind(mut self, kind: Kind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// The same with an importance from 0 to 1.
    #[must_use]
    pub fn with_importance(mut self, importance: f64) -> Self {
        self.importance = Some(importance);
        self
    }

    /// The same with one more link, of a weight above 0 and up to 1.
    #[must_use]
    pub fn with_link(mut self, to: impl Into<String>, weight: f64) -> Self {
        self.links.push(Link { to: to.into(), weight });
        self
    }

    /// The same as a record of a conversation.
    #[must_use]
    pub fn with_turn(mut self, session: impl Into<String>, position: u64, speaker: Option<&str>) -> Self {
        self.turn = Some(Turn { session: session.into(), position, speaker: speaker.map(str::to_owned) });
        self
    }

    /// The same with a vector made by the caller.
    #[must_use]
    pub fn with_vector(mut self, vector: Vector) -> Self {
        self.vector = Some(vector);
        self
    }

    pub(crate) fn check(&self) -> Result<()> {
        check_id(&self.id)?;
        let refuse = |problem: String| Err(Error::InvalidDocument { id: self.id.clone(), problem });
        if let Some(importance) = self.importance.filter(|importance| !(0.0..=1.0).contains(importance)) {
            return refuse(format!("its importance is {importance}, expected a number from 0 to 1"));
        }
        if let Some(link) = self.links.iter().find(|link| !(link.weight > 0.0 && link.weight <= 1.0)) {
            let Link { to, weight } = link;
            return refuse(format!(
                "its link to {to:?} has the weight {weight}, expected a number above 0 and up to 1"
            ));
        }
        Ok(())
    }
}

pub(crate) fn check_id(id: &str) -> Result<()> {
    let problem = if id.is_empty() {
        "its id is empty; give each document a unique id".to_owned()
    } else if id.len() > MAX_ID_BYTES {
        format!("its id has {} bytes, at most {MAX_ID_BYTES} are allowed", id.len())
    } else {
        return Ok(());
    };
    Err(Error::InvalidDocument { id: id.chars().take(80).collect(), problem })
}
