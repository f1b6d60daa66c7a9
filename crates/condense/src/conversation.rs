//! What has been said so far.

/// Who said a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The person who asks.
    User,
    /// The one who answers.
    Assistant,
    /// A title or section the conversation is about, such as the heading of the page that is open. It was not said by
    /// anybody, and is looked at wherever in the history it stands among the first turns.
    Context,
}

/// One contribution to a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Turn {
    /// Who said it.
    pub role: Role,
    /// What was said: any text, also empty, also with several sentences.
    pub text: String,
}

impl Turn {
    /// A turn of the person who asks.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, text: text.into() }
    }

    /// A turn of the one who answers.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self { role: Role::Assistant, text: text.into() }
    }

    /// A title or section that the conversation is about.
    pub fn context(text: impl Into<String>) -> Self {
        Self { role: Role::Context, text: text.into() }
    }
}

/// The turns before the follow-up, oldest first.
///
/// ```
/// use hatir_condense::{Conversation, Turn};
///
/// let history = Conversation::from(vec![
///     Turn::user("What is a heat pump?"),
///     Turn::assistant("A device that moves heat."),
/// ]);
/// assert_eq!(history.turns.len(), 2);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conversation {
    /// The turns, oldest first. [`Step::turn`](crate::Step::turn) is an index into this list.
    pub turns: Vec<Turn>,
}

impl From<Vec<Turn>> for Conversation {
    fn from(turns: Vec<Turn>) -> Self {
        Self { turns }
    }
}

impl FromIterator<Turn> for Conversation {
    fn from_iter<I: IntoIterator<Item = Turn>>(turns: I) -> Self {
        Self { turns: turns.into_iter().collect() }
    }
}
