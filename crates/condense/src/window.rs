//! The part of the history that is searched, newest first, and the older turns behind it.

use std::ops::Range;

use crate::{Conversation, Options, Role, Turn};

/// One token is taken to be four bytes of text.
const BYTES_PER_TOKEN: usize = 4;
/// Context turns are looked at when they stand among the first few turns, however long the conversation has become.
const CONTEXT_TURNS: usize = 4;
/// How many turns behind the window the running topic list may reach: bounds the work on endless histories.
const OLDER_TURNS: usize = 1_024;
/// How much of an answer is read: what it is about stands near its beginning.
const NEWEST_ANSWER_BYTES: usize = 480;
const OLDER_ANSWER_BYTES: usize = 160;
/// How much of a question is read.
const QUESTION_BYTES: usize = 640;

/// A turn in the window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'h> {
    /// Index into the history.
    pub(crate) turn: usize,
    pub(crate) role: Role,
    /// The part of the text that is read.
    pub(crate) text: &'h str,
    /// How many user turns stand between it and the follow-up: 0 for the last question and its answer.
    pub(crate) age: usize,
}

/// What is searched for an antecedent.
#[derive(Debug)]
pub(crate) struct Window<'h> {
    /// Newest first; context turns last.
    pub(crate) seen: Vec<Seen<'h>>,
    /// The turns behind the window.
    older: Range<usize>,
    turns: &'h [Turn],
}

impl<'h> Window<'h> {
    pub(crate) fn of(history: &'h Conversation, options: &Options) -> Self {
        let turns = history.turns.as_slice();
        let mut seen = Vec::with_capacity(options.window_turns.min(turns.len()) + 2);
        let mut budget = options.window_tokens.saturating_mul(BYTES_PER_TOKEN);
        let mut age = 0;
        let mut answers = 0;
        let mut oldest = turns.len();
        for (index, turn) in turns.iter().enumerate().rev().take(options.window_turns) {
            if budget == 0 {
                break;
            }
            oldest = index;
            let limit = match turn.role {
                Role::User => QUESTION_BYTES,
                Role::Assistant if answers == 0 => NEWEST_ANSWER_BYTES,
                Role::Assistant => OLDER_ANSWER_BYTES,
                Role::Context => continue,
            };
            answers += usize::from(turn.role == Role::Assistant);
            let text = head(&turn.text, limit.min(budget));
            // A long turn uses up its whole length: the caller's bound is on the history, not on what is read of it.
            budget = budget.saturating_sub(turn.text.len().max(BYTES_PER_TOKEN));
            seen.push(Seen { turn: index, role: turn.role, text, age });
            age += usize::from(turn.role == Role::User);
        }
        // An answer belongs to the question before it, so ages count the user turns that came after.
        for (index, turn) in turns.iter().enumerate().take(CONTEXT_TURNS) {
            if turn.role == Role::Context {
                seen.push(Seen { turn: index, role: turn.role, text: head(&turn.text, QUESTION_BYTES), age: 0 });
            }
        }
        let first = oldest.saturating_sub(OLDER_TURNS);
        Self { seen, older: first..oldest, turns }
    }

    /// The user turns behind the window, newest first: what the running topic list is made of.
    pub(crate) fn older(&self) -> impl Iterator<Item = Seen<'h>> + '_ {
        self.older.clone().rev().filter_map(|index| {
            let turn = &self.turns[index];
            (turn.role == Role::User).then(|| Seen {
                turn: index,
                role: Role::User,
                text: head(&turn.text, OLDER_ANSWER_BYTES),
                age: usize::MAX,
            })
        })
    }

    /// Whether there is anything to refer to.
    pub(crate) fn is_empty(&self) -> bool {
        self.turns
            .iter()
            .rev()
            .take(OLDER_TURNS)
            .all(|turn| turn.text.bytes().take(4_096).all(|b| b.is_ascii_whitespace()))
    }
}

/// The beginning of a text, at most `limit` bytes, cut between words where there are any.
fn head(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let cut = &text[..end];
    cut.rfind(char::is_whitespace).map_or(cut, |space| &cut[..space])
}
