//! The guard ladder for Turkish.

#![expect(
    clippy::unnested_or_patterns,
    reason = "patterns of words are tables: one phrase a line, in the order people say them"
)]

mod ellipsis;
mod reference;
mod signals;
mod suffix;
mod tag;
mod topics;
mod words;

use self::signals::FollowUp;
use self::suffix::{Case, split_case};
use self::tag::Tag;
use self::topics::{Candidate, Need, Topics, first_person_verb, older_topic, same_noun};
use self::words::RELATIONAL;
use crate::condenser::Ladder;
use crate::draft::{Draft, Edits, apply};
use crate::token::{contains_words, decapitalise};
use crate::window::Window;
use crate::{Language, Options, Role, Rule};

/// Turkish, with the history read once.
pub(crate) struct Turkish<'a> {
    window: &'a Window<'a>,
    options: &'a Options,
    topics: Topics<'a>,
}

impl<'a> Turkish<'a> {
    pub(crate) fn new(window: &'a Window<'a>, options: &'a Options) -> Self {
        Self { window, options, topics: Topics::read(window, options) }
    }
}

impl Ladder for Turkish<'_> {
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
        let ellipsis = follow_up.ellipsis();
        if ellipsis.is_none() && follow_up.instruction() {
            return Draft::unchanged(Rule::Instruction, "instruction -- left as-is", 0.9);
        }
        let pointers = follow_up.pointers();
        if let Some(ellipsis) = ellipsis
            && let Some(draft) = self.fill_ellipsis(&follow_up, ellipsis)
        {
            return draft;
        }
        if !pointers.is_empty() {
            return self.resolve(&follow_up, &pointers);
        }
        if let Some(draft) = self.full_name(&follow_up) {
            return draft;
        }
        if follow_up.own_topics().next().is_some() && !follow_up.only_possessed() {
            return self.leave_alone(&follow_up);
        }
        self.join_topic(&follow_up)
    }

    fn apply(&self, text: &str, draft: &Draft) -> String {
        apply(text, &draft.steps, Language::Turkish, |word| self.topics.is_name(word))
    }
}

impl Turkish<'_> {
    /// A follow-up with a topic of its own: a new one, or one the conversation speaks of.
    fn leave_alone(&self, follow_up: &FollowUp<'_>) -> Draft {
        let known = follow_up.own_topics().any(|phrase| {
            (phrase.start..phrase.end).any(|i| {
                let word = split_case(follow_up.tagged.word(i)).0;
                self.topics
                    .turns
                    .iter()
                    .any(|(_, turn)| turn.tokens.iter().any(|t| t.word && same_noun(&split_case(&t.lower).0, &word)))
            })
        });
        if known { Draft::standalone(0.9) } else { Draft::unchanged(Rule::TopicSwitch, "new topic -- no rewrite", 0.8) }
    }

    /// "Proje zamanında bitti mi?" after "Orion projesi": a bare noun stands for the name it heads.
    fn full_name(&self, follow_up: &FollowUp<'_>) -> Option<Draft> {
        let phrase = *follow_up.phrases.iter().find(|p| p.start >= follow_up.core)?;
        if phrase.start != follow_up.core || phrase.end - phrase.start != 1 || phrase.case != Case::Nominative {
            return None;
        }
        let token = &follow_up.tagged.tokens[phrase.start];
        let word = token.lower.as_ref();
        if token.marked() || self.topics.is_name(word) || words::classes(word) & (RELATIONAL | words::TIME) != 0 {
            return None;
        }
        let named = self.topics.candidates.iter().find(|c| {
            c.role == Role::User
                && c.compound
                && c.head != word
                && suffix::possessive_stems(&c.head).any(|stem| stem == word)
        })?;
        let mut edits = Edits::default();
        follow_up.drop_lead(&mut edits);
        let why = format!("'{word}' is short for '{}'", named.text);
        edits.replace(token.start..token.end, named.text.clone(), named.turn, why);
        Some(Draft {
            rule: Rule::Coreference,
            note: format!("resolved '{word}' -> {}", named.text),
            topic: Some(named.text.clone()),
            steps: edits.into_steps(),
            confidence: 0.8,
        })
    }

    /// A question that names no topic: the topic goes in front, in the case that the question asks for.
    fn join_topic(&self, follow_up: &FollowUp<'_>) -> Draft {
        let tagged = &follow_up.tagged;
        let asks = tagged.asks || tagged.has(Tag::Question);
        if !asks {
            return Draft::standalone(0.6);
        }
        let many =
            follow_up.verb().is_some_and(|v| (v.ends_with("lar") || v.ends_with("ler")) && v.chars().count() > 5);
        let need = if many { Need::Many } else { Need::Topic };
        let older;
        let (topic, score) = match self
            .topics
            .best(need, |c| !c.relational && !c.time)
            .or_else(|| self.topics.best(Need::Topic, |c| !c.time))
        {
            Some(found) => found,
            None => match older_topic(self.window) {
                Some(found) => {
                    older = found;
                    (&older, 0.5)
                }
                None => return Draft::no_topic(),
            },
        };
        if contains_words(&follow_up.words().join(" "), &topic.key) {
            return Draft::standalone(0.7);
        }
        let possessed = follow_up.phrases.iter().any(|p| {
            p.start >= follow_up.core && p.case == Case::Nominative && follow_up.relational_possessed(p.end - 1)
        });
        let object = first_person_verb(tagged)
            && follow_up.phrases.iter().all(|p| p.start < follow_up.core || p.case != Case::Accusative);
        let case = if possessed {
            Case::Genitive
        } else if object {
            Case::Accusative
        } else {
            Case::Nominative
        };
        let possessor = topic.possessor().filter(|_| possessed);
        let mut named = possessor.map_or_else(|| topic.inflected(case), str::to_owned);
        if let Some(place) = self.place_beside(topic) {
            named = format!("{place} {named}");
        }
        let mut edits = Edits::default();
        follow_up.drop_lead(&mut edits);
        self.put_in_front(follow_up, &named, topic, &mut edits);
        Draft {
            rule: Rule::PrependedTopic,
            note: format!("prepended topic '{}' from history", topic.text),
            topic: Some(topic.text.clone()),
            steps: edits.into_steps(),
            confidence: confidence(score) * 0.9,
        }
    }

    /// A name in another case in the same question narrows the topic: "Gent'e hangi trenler gidiyor?".
    fn place_beside(&self, topic: &Candidate) -> Option<String> {
        let (seen, turn) =
            self.topics.turns.iter().find(|(seen, _)| seen.turn == topic.turn && seen.role == Role::User)?;
        let first = tag::phrases(turn).into_iter().next()?;
        let last = &turn.tokens[first.end - 1];
        let cased = matches!(first.case, Case::Dative | Case::Locative | Case::Ablative);
        let named = last.text.contains(['\'', '’']);
        let text = &seen.text[turn.tokens[first.start].start..last.end];
        (cased && named && !topic.entity).then(|| text.to_owned())
    }

    fn put_in_front(&self, follow_up: &FollowUp<'_>, named: &str, topic: &Candidate, edits: &mut Edits) {
        let first = &follow_up.tagged.tokens[follow_up.core];
        let kept = if first.marked() || self.topics.is_name(first.text) || first.text.contains(['\'', '’']) {
            first.text.to_owned()
        } else {
            decapitalise(first.text, Language::Turkish)
        };
        let why = format!("the question names no topic; '{}' is what the conversation is about", topic.text);
        edits.replace(first.start..first.end, format!("{named} {kept}"), topic.turn, why);
    }

    /// Whether a turn is a clause by itself that points at nothing.
    fn self_contained(&self, index: usize) -> bool {
        let (seen, turn) = &self.topics.turns[index];
        seen.role == Role::User
            && (turn.has(Tag::Question) || turn.has(Tag::Verb))
            && !turn.has(Tag::Pointer)
            && !turn.has(Tag::Demonstrative)
            && turn.has(Tag::Noun)
    }
}

fn confidence(score: f32) -> f32 {
    (0.45 + 0.18 * score).clamp(0.3, 0.98)
}
