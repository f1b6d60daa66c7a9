//! What a caller may choose.

/// A language whose rules the condenser knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// English.
    English,
    /// Turkish.
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
}

/// How a topic and what is left of an ellipsis are joined when the last question offers no frame for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Connector {
    /// Side by side: `refund window damaged items`, `iade süremiz hasarlı ürünler`.
    #[default]
    Plain,
    /// As a question about a rule, for corpora of rules: `refund policy for damaged items`, `hasarlı ürünler için iade
    /// politikası`.
    Policy,
}

/// How a follow-up is condensed. The default suits a chat over any subject.
///
/// ```
/// use hatir_condense::{Connector, Options};
///
/// let options = Options { connector: Connector::Policy, ..Options::default() };
/// assert_eq!(options.window_turns, 10);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// How a topic and the rest of an ellipsis are joined.
    pub connector: Connector,
    /// How many of the newest turns are searched for an antecedent. With 0 only the context turns and the list of older
    /// topics are left. Default 10.
    pub window_turns: usize,
    /// How much of the newest turns is searched, in tokens by the estimate *one token is four bytes of text* (close for
    /// English, an over-estimate of the text covered by a fifth for Turkish). Default 2,000.
    pub window_tokens: usize,
    /// Words that are topics for this caller, such as the entries of its knowledge map. They win against other
    /// candidates of the same turn. Compared without case. Default empty.
    pub topic_words: Vec<String>,
    /// Words or phrases that make a follow-up stand alone wherever they occur in it. Compared without case, as whole
    /// words. Default empty.
    pub standalone_markers: Vec<String>,
    /// The language of the follow-up; by default it is told from the follow-up and the newest turns.
    pub language: Option<Language>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            connector: Connector::Plain,
            window_turns: 10,
            window_tokens: 2_000,
            topic_words: Vec::new(),
            standalone_markers: Vec::new(),
            language: None,
        }
    }
}
