//! What is asked.

use crate::document::Language;

/// A question as text.
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
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// What the person typed, or what a condenser made of it.
    pub text: String,
    /// The language of the text; found from the text when `None`. It decides which words are function words, which
    /// are not searched; the stemmed fields of both languages are always asked.
    pub language: Option<Language>,
}

impl Query {
    /// A query whose language is found from its text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), language: None }
    }

    /// The same in a stated language.
    #[must_use]
    pub fn in_language(mut self, language: Language) -> Self {
        self.language = Some(language);
        self
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
