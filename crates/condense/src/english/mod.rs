//! The guard ladder for English.

#![expect(
    clippy::unnested_or_patterns,
    clippy::match_same_arms,
    reason = "patterns of words are tables: one phrase a line, in the order people say them"
)]

mod ellipsis;
mod reference;
mod signals;
mod tag;
mod topics;
mod words;

use self::signals::FollowUp;
use self::topics::{Need, Topics, older_topic};
use crate::condenser::Ladder;
use crate::draft::{Draft, Edits, apply};
use crate::token::contains_words;
use crate::window::Window;
use crate::{Language, Options, Role, Rule};

/// English, with the history read once.
pub(crate) struct English<'a> {
    window: &'a Window<'a>,
    options: &'a Options,
    topics: Topics<'a>,
}

impl<'a> English<'a> {
    pub(crate) fn new(window: &'a Window<'a>, options: &'a Options) -> Self {
        Self { window, options, topics: Topics::read(window, options) }
    }
}

impl Ladder for English<'_> {
    fn decide(&self, text: &str) -> Draft {
        let follow_up = FollowUp::read(text);
        if follow_up.end == 0 {
            return Draft::standalone(1.0);
        }
        if let Some(draft) = self.accept_offer(&follow_up) {
            return draft;
        }
        if follow_up.small_talk() {
            return Draft::unchanged(Rule::SmallTalk, "small talk -- left as-is", 0.95);
        }
        if follow_up.instruction() {
            return Draft::unchanged(Rule::Instruction, "instruction -- left as-is", 0.9);
        }
        let ellipsis = follow_up.ellipsis();
        let pointers = follow_up.pointers();
        if let Some(ellipsis) = ellipsis
            && let Some(draft) = self.fill_ellipsis(&follow_up, ellipsis, &pointers)
        {
            return draft;
        }
        if !pointers.is_empty() {
            return self.resolve(&follow_up, &pointers);
        }
        if follow_up.own_topics().next().is_some() {
            return self.leave_alone(&follow_up);
        }
        self.join_topic(&follow_up)
    }

    fn apply(&self, text: &str, draft: &Draft) -> String {
        apply(text, &draft.steps, Language::English, |word| self.topics.is_name(word) || word == "I")
    }
}

impl English<'_> {
    /// A follow-up with a topic of its own: a new one, or one the conversation speaks of.
    fn leave_alone(&self, follow_up: &FollowUp<'_>) -> Draft {
        let known = follow_up.own_topics().any(|phrase| {
            (phrase.start..phrase.end).any(|i| {
                let word = follow_up.tagged.word(i);
                let stem = word.strip_suffix('s').unwrap_or(word);
                self.topics
                    .turns
                    .iter()
                    .any(|(_, turn)| turn.tokens.iter().any(|t| t.lower.strip_suffix('s').unwrap_or(&t.lower) == stem))
            })
        });
        if known { Draft::standalone(0.9) } else { Draft::unchanged(Rule::TopicSwitch, "new topic -- no rewrite", 0.8) }
    }

    /// A question that names no topic: the topic goes where the question wants it, or in front.
    fn join_topic(&self, follow_up: &FollowUp<'_>) -> Draft {
        let asks = follow_up.asks()
            || (follow_up.core..follow_up.end).any(|i| follow_up.tagged.tags[i] == tag::Tag::Question)
            || follow_up
                .words()
                .first()
                .is_some_and(|w| matches!(*w, "tell" | "explain" | "describe" | "show" | "list" | "give"));
        if !asks {
            return Draft::standalone(0.6);
        }
        let own = follow_up.words().join(" ");
        let older;
        let (topic, score) = match self.topics.best(Need::Topic, |c| !c.relational && !c.time) {
            Some(found) => found,
            None => match older_topic(self.window) {
                Some(found) => {
                    older = found;
                    (&older, 0.5)
                }
                None => return Draft::no_topic(),
            },
        };
        if contains_words(&own, &topic.key) {
            return Draft::standalone(0.7);
        }
        let mut edits = Edits::default();
        follow_up.drop_lead(&mut edits);
        let why = format!("the question names no topic; '{}' is what the conversation is about", topic.text);
        if let Some(at) = follow_up.place_of_topic() {
            edits.replace(at..at, format!(" of {}", topic.in_place()), topic.turn, why);
        } else {
            let at = follow_up.at(follow_up.core);
            let first = &follow_up.tagged.tokens[follow_up.core];
            let kept =
                if first.marked() || first.lower == "i" { first.text.to_owned() } else { first.lower.to_string() };
            edits.replace(at..first.end, format!("{} {kept}", topic.text), topic.turn, why);
        }
        Draft {
            rule: Rule::PrependedTopic,
            note: format!("prepended topic '{}' from history", topic.text),
            topic: Some(topic.text.clone()),
            steps: edits.into_steps(),
            confidence: confidence(score) * 0.9,
        }
    }

    /// Whether a turn is itself an ellipsis or points back, so that its phrases are not what the conversation is about.
    fn self_contained(&self, index: usize) -> bool {
        let (seen, turn) = &self.topics.turns[index];
        seen.role == Role::User
            && turn.has_verb()
            && !turn.tags.iter().any(|t| matches!(t, tag::Tag::PossessiveAnaphor))
            && !matches!(
                (turn.word(0), turn.word(1), turn.word(2)),
                ("what" | "how", "about", _) | ("and", "what" | "how", "about")
            )
    }
}

/// A score as a confidence: 0 for none, towards 1 for a clear winner.
fn confidence(score: f32) -> f32 {
    (0.45 + 0.18 * score).clamp(0.3, 0.98)
}
