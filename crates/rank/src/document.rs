//! What is indexed and what a search gives back.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Stored and returned, never searched: a path, a line, a date.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
}

impl Document {
    /// A document without title, language or fields.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: id.into(), text: text.into(), title: None, language: None, fields: BTreeMap::new() }
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

    pub(crate) fn check(&self) -> Result<()> {
        check_id(&self.id)
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
