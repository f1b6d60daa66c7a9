//! What comes out: the query, and why it reads as it does.

use std::fmt;
use std::ops::Range;

use crate::Language;

/// Which rung of the ladder decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// There is no history, so nothing can be missing.
    FirstTurn,
    /// The follow-up carries its own topic, and the conversation already speaks of it.
    Standalone,
    /// The follow-up carries its own topic, and it is a new one.
    TopicSwitch,
    /// A part was left out ("What about Gold?", "Why?") and was put back.
    Ellipsis,
    /// A pronoun or a pointing word ("it", "that refund") was replaced by what it refers to.
    Coreference,
    /// A question named no topic of its own, and the topic of the conversation was joined to it.
    PrependedTopic,
    /// The follow-up depends on the conversation, but nothing in it is a likely enough antecedent. Left as it is.
    NoTopic,
    /// Thanks, greetings, closings. Left as they are.
    SmallTalk,
    /// A request about the form of the answer, or an order. Left as it is.
    Instruction,
}

impl Rule {
    /// The name in words, such as `prepended topic`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FirstTurn => "first turn",
            Self::Standalone => "standalone",
            Self::TopicSwitch => "topic switch",
            Self::Ellipsis => "ellipsis",
            Self::Coreference => "coreference",
            Self::PrependedTopic => "prepended topic",
            Self::NoTopic => "no topic",
            Self::SmallTalk => "small talk",
            Self::Instruction => "instruction",
        }
    }

    /// Whether this rule changes the text.
    pub fn rewrites(self) -> bool {
        matches!(self, Self::Ellipsis | Self::Coreference | Self::PrependedTopic)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One replacement in the follow-up.
///
/// Applying all steps to the follow-up gives the query, but for outer punctuation, spacing and the case of first
/// letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The bytes of the follow-up that were replaced, always on character boundaries. An empty range is an insertion.
    pub range: Range<usize>,
    /// What stands there now; empty when the words were dropped.
    pub replacement: String,
    /// The turn that the replacement came from, as an index into
    /// [`Conversation::turns`](crate::Conversation::turns); `None` when words were only dropped or tidied.
    pub turn: Option<usize>,
    /// Why, in a few words.
    pub why: String,
}

/// A stand-alone query, and how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Condensed {
    /// The query. When [`Rule::rewrites`] is false it is the follow-up, byte for byte.
    pub query: String,
    /// The rung of the ladder that decided.
    pub rule: Rule,
    /// One line for a person, without brackets, such as `resolved 'that' -> refund`.
    pub note: String,
    /// The topic that was put in, as it is named in the history.
    pub topic: Option<String>,
    /// What was replaced, in the order of the follow-up. Empty when nothing was.
    pub steps: Vec<Step>,
    /// How sure the rules are of their decision, from 0 to 1, higher is surer. It orders decisions; it is not a
    /// probability.
    pub confidence: f32,
    /// The language whose rules were used.
    pub language: Language,
}
