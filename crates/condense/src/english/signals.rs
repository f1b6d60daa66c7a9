//! The signs by which an English follow-up shows that it depends on what was said before.

use super::tag::{Phrase, Tag, Tagged, entity_token, phrases, tag};
use super::topics::{Need, relational};
use super::words::{
    ADJECTIVE, ANIMATE, AUXILIARY, BE, EMPTY_NOUN, FORM_VERB, ORDER_VERB, QUANTIFIER, RELATIONAL, SMALL_TALK, TIME,
};
use crate::Language;
use crate::draft::Edits;
use crate::token::tokenize;

/// A follow-up, read.
pub(super) struct FollowUp<'t> {
    pub(super) text: &'t str,
    pub(super) tagged: Tagged<'t>,
    /// The first token that is not a connector, an interjection or a sentence of thanks.
    pub(super) core: usize,
    /// One past the last word.
    pub(super) end: usize,
    pub(super) phrases: Vec<Phrase>,
}

/// A word that points back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pointer {
    pub(super) token: usize,
    pub(super) need: Need,
    pub(super) kind: PointerKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PointerKind {
    Pronoun,
    /// its, their, his, her before a noun.
    Possessive,
    /// that, this, these, those before a noun: the phrase that follows.
    Noun(Phrase),
    /// "the second one", "the latter": the tokens, and which of the things named.
    Ordinal {
        start: usize,
        end: usize,
        place: Place,
    },
    /// "which one", "which of them".
    WhichOne {
        end: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    At(usize),
    Last,
}

/// What was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ellipsis {
    /// "What about X?": the token where X begins.
    About { rest: usize },
    /// "Why?", "And how old?": a question word without a clause; the token after the question phrase.
    BareQuestion { end: usize },
    /// "Who else?", "Who else did?"
    WhoElse,
    /// "Any others?"
    Others,
    /// "Tell me more."
    More,
    /// "Which is best for back pain?": a choice without the things to choose from.
    Which,
}

const CONNECTORS: [&str; 23] = [
    "and", "but", "so", "or", "then", "also", "well", "ok", "okay", "great", "now", "hmm", "oh", "yes", "no", "thanks",
    "right", "alright", "cool", "sure", "hi", "hello", "hey",
];

const TALK_ANCHORS: [&str; 44] = [
    "thanks",
    "thank",
    "hi",
    "hello",
    "hey",
    "bye",
    "goodbye",
    "ok",
    "okay",
    "great",
    "cool",
    "nice",
    "perfect",
    "awesome",
    "lol",
    "haha",
    "cheers",
    "wonderful",
    "excellent",
    "brilliant",
    "lovely",
    "alright",
    "welcome",
    "wow",
    "ciao",
    "yes",
    "no",
    "yeah",
    "yep",
    "nope",
    "sure",
    "interesting",
    "good",
    "understood",
    "right",
    "got",
    "sense",
    "see",
    "all",
    "fine",
    "helpful",
    "well",
    "done",
    "appreciate",
];

impl<'t> FollowUp<'t> {
    pub(super) fn read(text: &'t str) -> Self {
        let tagged = tag(tokenize(text, Language::English));
        let phrases = phrases(&tagged);
        let end = tagged.tokens.iter().rposition(|t| t.word).map_or(0, |i| i + 1);
        let core = core(&tagged, end);
        Self { text, tagged, core, end, phrases }
    }

    /// The words of the core, in lower case.
    pub(super) fn words(&self) -> Vec<&str> {
        (self.core..self.end).filter(|&i| self.tagged.tokens[i].word).map(|i| self.tagged.word(i)).collect()
    }

    pub(super) fn asks(&self) -> bool {
        self.text.trim_end().ends_with('?')
    }

    /// The byte where a token begins; the end of the text for the token after the last.
    pub(super) fn at(&self, token: usize) -> usize {
        self.tagged.tokens.get(token).map_or(self.text.len(), |t| t.start)
    }

    /// The byte after the last word.
    pub(super) fn end_byte(&self) -> usize {
        if self.end == 0 { self.text.len() } else { self.tagged.tokens[self.end - 1].end }
    }

    /// Phrases of the core that name something by themselves.
    pub(super) fn own_topics(&self) -> impl Iterator<Item = &Phrase> {
        self.phrases.iter().filter(|p| p.start >= self.core && self.names_something(p))
    }

    fn names_something(&self, phrase: &Phrase) -> bool {
        (phrase.start..phrase.end).any(|i| {
            let classes = self.tagged.classes[i];
            if entity_token(&self.tagged.tokens, i) {
                return true;
            }
            self.tagged.tags[i] == Tag::Noun && classes & (RELATIONAL | EMPTY_NOUN | TIME | QUANTIFIER) == 0
        })
    }

    /// Thanks, greetings, closings.
    pub(super) fn small_talk(&self) -> bool {
        let words: Vec<&str> = self.tagged.tokens.iter().filter(|t| t.word).map(|t| t.lower.as_ref()).collect();
        if words.is_empty() {
            return false;
        }
        let greeting = matches!(words.as_slice(), [.., "how", "are", "you"] | [.., "how", "are", "you", _]);
        let talk = words.iter().filter(|w| super::words::classes(w) & SMALL_TALK != 0 || w.len() == 1);
        let all = talk.count() == words.len();
        let anchored = words.iter().any(|w| TALK_ANCHORS.contains(w));
        if all && anchored && (!self.asks() || greeting) {
            return true;
        }
        // "Thanks, I will call the branch tomorrow.": thanks, and nothing asked.
        matches!(words[0], "thanks" | "thank" | "bye" | "goodbye" | "cheers")
            && !self.asks()
            && !self.tagged.tags.contains(&Tag::Question)
            && !self.tagged.tokens.iter().any(|t| matches!(t.lower.as_ref(), "tell" | "can" | "could" | "please"))
            && self.tagged.tokens.last().is_some_and(|t| t.sentence <= 1)
    }

    /// An order, or a wish about the form of the answer.
    pub(super) fn instruction(&self) -> bool {
        let words = self.words();
        let mut words = words.as_slice();
        loop {
            words = match words {
                ["please" | "kindly" | "now" | "just", rest @ ..] => rest,
                ["can" | "could" | "would" | "will", "you", rest @ ..] => rest,
                ["i", "want" | "need", "you", "to", rest @ ..] => rest,
                _ => break,
            };
        }
        let Some(first) = words.first() else { return false };
        let classes = super::words::classes(first);
        match words {
            ["use", "bullet" | "simple" | "simpler" | "plain" | "fewer", ..]
            | ["be", "brief" | "concise" | "short" | "precise", ..]
            | [
                "keep" | "make",
                "it" | "that" | "this",
                "short" | "shorter" | "longer" | "brief" | "simple" | "simpler" | "concise",
                ..,
            ]
            | ["say" | "repeat" | "explain", "that" | "it" | "this", "again" | "simply" | "differently", ..]
            | [
                "answer" | "reply" | "respond" | "speak" | "talk" | "write",
                "in" | "briefly" | "with" | "only" | "to",
                ..,
            ]
            | [
                "in",
                "one" | "a" | "two" | "three",
                "sentence" | "sentences" | "word" | "words" | "paragraph" | "line",
                ..,
            ]
            | ["as", "a", "list" | "table", ..]
            | ["shorter" | "longer" | "simpler" | "briefly", ..] => return !self.asks() || self.words()[0] != words[0],
            _ => {}
        }
        if classes & FORM_VERB != 0 {
            return !self.asks() || words.len() < self.words().len();
        }
        classes & ORDER_VERB != 0
            && !self.asks()
            && words.len() > 1
            && self.pointers().is_empty()
            && self.own_topics().next().is_some()
            && self.tagged.tag(self.core + (self.words().len() - words.len())) == Some(Tag::Verb)
    }

    /// After the relational noun that wants a topic: "what are the benefits | of yoga".
    pub(super) fn place_of_topic(&self) -> Option<usize> {
        let tagged = &self.tagged;
        let phrase = self.phrases.iter().find(|p| {
            p.start >= self.core
                && relational(tagged.word(p.end - 1))
                && !tagged.tokens.get(p.end).is_some_and(|t| matches!(t.lower.as_ref(), "of" | "for" | "to"))
        })?;
        let mut end = phrase.end;
        // "pros and cons of X": both are X's.
        for other in &self.phrases {
            if other.start == end + 1
                && matches!(tagged.word(end), "and" | "or")
                && relational(tagged.word(other.end - 1))
            {
                end = other.end;
            }
        }
        Some(tagged.tokens[end - 1].end)
    }

    /// Drops connectors, interjections and thanks before the real follow-up.
    pub(super) fn drop_lead(&self, edits: &mut Edits) {
        let start = self.text.len() - self.text.trim_start().len();
        edits.drop(start..self.at(self.core).max(start), "a leading connector says nothing by itself");
    }

    /// The kind of thing left out, if the follow-up has the form of an ellipsis.
    pub(super) fn ellipsis(&self) -> Option<Ellipsis> {
        let words = self.words();
        let connector = self.core > 0;
        match words.as_slice() {
            [] => return None,
            ["what" | "how", "about", _, ..] if !self.clause_from(self.core + 2) => {
                return Some(Ellipsis::About { rest: self.core + 2 });
            }
            ["what" | "how", "about"] => return None,
            ["who" | "what" | "where" | "when", "else"]
            | ["who", "else", "did" | "does" | "has" | "is" | "was" | "can" | "do"] => {
                return Some(if words[0] == "who" {
                    Ellipsis::WhoElse
                } else {
                    Ellipsis::BareQuestion { end: self.end }
                });
            }
            ["any" | "are", "others"]
            | ["others"]
            | ["any", "other", "ones"]
            | ["are", "there", "others"]
            | ["are", "there", "any", "others"]
            | ["anything", "else"]
            | ["any", "more"] => return Some(Ellipsis::Others),
            ["tell" | "show" | "teach", "me", "more"]
            | ["tell", "me", "a", "bit" | "little", "more"]
            | ["can" | "could" | "would", "you", "tell", "me", "more"]
            | ["say", "more"]
            | ["more"]
            | ["more", "details" | "detail" | "please" | "information" | "info"]
            | ["go", "on"]
            | ["continue"]
            | ["elaborate"]
            | ["can" | "could", "you", "elaborate" | "explain"]
            | ["can" | "could", "you", "explain", "more" | "further"]
            | ["please", "elaborate" | "continue"]
            | ["explain", "more" | "further"]
            | ["tell", "me", "more", "please"]
            | ["in", "more", "detail"] => return Some(Ellipsis::More),
            [
                "which",
                "is" | "are" | "was" | "were" | "do" | "does" | "would" | "should" | "has" | "have" | "can" | "will",
                ..,
            ] if self.own_subject().is_none() => {
                return Some(Ellipsis::Which);
            }
            _ => {}
        }
        if let Some(end) = self.bare_question() {
            return Some(Ellipsis::BareQuestion { end });
        }
        // A fragment: no verb, asked, and either led by a connector or a preposition, or very short.
        let first = self.tagged.tag(self.core);
        let fragment = !(self.core..self.end).any(|i| {
            matches!(self.tagged.tags[i], Tag::Verb | Tag::Auxiliary | Tag::Be | Tag::Question | Tag::Anaphor)
        });
        let and_before = connector && matches!(self.tagged.before(self.core), "and" | "or" | "but" | "also");
        if fragment && self.asks() {
            let preposition = matches!(first, Some(Tag::Preposition | Tag::To));
            let rest = self.core;
            if (and_before && words.len() <= 8) || (preposition && words.len() <= 6) || words.len() <= 3 {
                return Some(Ellipsis::About { rest });
            }
        }
        None
    }

    /// Whether a full clause (a subject and its verb) stands from a token on.
    fn clause_from(&self, token: usize) -> bool {
        let mut noun = false;
        for index in token..self.end {
            match self.tagged.tags[index] {
                Tag::Noun | Tag::Pronoun | Tag::Anaphor => noun = true,
                Tag::Auxiliary | Tag::Be if noun => return true,
                Tag::Question | Tag::Conjunction if matches!(self.tagged.word(index), "if" | "when" | "because") => {
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    /// A noun phrase before the end of the first verb group in a "which is …" question.
    fn own_subject(&self) -> Option<&Phrase> {
        let after_verb = self.core + 2;
        self.phrases.iter().find(|p| {
            p.start >= after_verb
                && !(after_verb..p.start)
                    .any(|i| matches!(self.tagged.tags[i], Tag::Preposition | Tag::To | Tag::Adjective | Tag::Verb))
        })
    }

    /// "Why?", "How so?", "And how old?", "Since when?", "How come?"
    fn bare_question(&self) -> Option<usize> {
        let start = if self.tagged.tag(self.core) == Some(Tag::Preposition) { self.core + 1 } else { self.core };
        if self.tagged.tag(start) != Some(Tag::Question) || self.end - self.core > 4 {
            return None;
        }
        (start + 1..self.end)
            .all(|i| {
                let word = self.tagged.word(i);
                matches!(self.tagged.tags[i], Tag::Adjective | Tag::Adverb | Tag::Quantifier | Tag::Mark)
                    || matches!(word, "not" | "so" | "come" | "then" | "else" | "long" | "like")
                    || (i + 1 == self.end && matches!(self.tagged.tags[i], Tag::Preposition) && start + 1 == i)
                    || (word == "exactly" || word == "not")
            })
            .then_some(self.end)
    }

    /// The words that point back, in the order of the text; those whose antecedent stands in the follow-up itself, that
    /// point at nothing, or that belong to a closing are left out.
    pub(super) fn pointers(&self) -> Vec<Pointer> {
        let mut found = Vec::new();
        for index in self.core..self.end {
            let word = self.tagged.word(index);
            let tag = self.tagged.tags[index];
            let pointer = match tag {
                Tag::Anaphor => self.pronoun(index, word),
                Tag::PossessiveAnaphor => {
                    Some(Pointer { token: index, need: need_of(word), kind: PointerKind::Possessive })
                }
                Tag::Demonstrative => self.pointing_noun(index),
                Tag::Article => self.ordinal(index),
                _ => None,
            };
            if let Some(pointer) = pointer
                && !self.antecedent_inside(&pointer)
            {
                found.push(pointer);
            }
        }
        found
    }

    fn pronoun(&self, index: usize, word: &str) -> Option<Pointer> {
        let kind = PointerKind::Pronoun;
        match word {
            "it" if self.pleonastic(index) => None,
            "one" | "ones" => {
                if self.tagged.before(index) == "which" {
                    let choice_named = self.choice_named(index);
                    return (!choice_named).then_some(Pointer {
                        token: index - 1,
                        need: Need::Many,
                        kind: PointerKind::WhichOne { end: index + 1 },
                    });
                }
                None
            }
            "that" | "this" | "it" if self.reaction(index) => None,
            "them" | "these" | "those"
                if self.tagged.before(index) == "of" && index >= 2 && self.tagged.word(index - 2) == "which" =>
            {
                (!self.choice_named(index)).then_some(Pointer {
                    token: index - 2,
                    need: Need::Many,
                    kind: PointerKind::WhichOne { end: index + 1 },
                })
            }
            "those" if matches!(self.tagged.word(index + 1), "who" | "that" | "with" | "of" | "in") => None,
            _ => Some(Pointer { token: index, need: need_of(word), kind }),
        }
    }

    /// "Which one is harder, basalt or granite": the choice is already named.
    fn choice_named(&self, index: usize) -> bool {
        (index..self.end).any(|i| self.tagged.word(i) == "or")
            || (index..self.end).any(|i| self.tagged.word(i) == "of" && self.phrases.iter().any(|p| p.start > i))
    }

    /// "it" that points at nothing: "is it possible to …", "how long does it take to …", "it seems that …", weather.
    fn pleonastic(&self, index: usize) -> bool {
        let next = self.tagged.word(index + 1);
        let be_near = self.tagged.tag(index + 1) == Some(Tag::Be)
            || (index > 0 && matches!(self.tagged.tags[index - 1], Tag::Be))
            || matches!(self.tagged.before(index), "make" | "makes" | "making" | "find");
        // "it is easy to cancel", but not "it is related to tea" or "it is used to cut".
        let complement = |from: usize, within: usize| {
            (from..self.end.min(from + within)).any(|i| {
                let joins = match self.tagged.word(i) {
                    "to" => self.tagged.tag(i + 1) == Some(Tag::Verb),
                    "that" | "if" | "for" | "when" => true,
                    _ => false,
                };
                joins
                    && (from..i).any(|j| {
                        let word = self.tagged.word(j);
                        (self.tagged.classes[j] & ADJECTIVE != 0
                            && !word.ends_with("ed")
                            && !matches!(word, "made" | "known" | "born" | "meant"))
                            || matches!(word, "time" | "ok" | "okay" | "like" | "required" | "allowed" | "recommended")
                    })
            })
        };
        if matches!(self.tagged.before(index), "make" | "makes" | "making" | "find" | "found")
            && (index + 1..self.end.min(index + 6)).any(|i| self.tagged.word(i) == "to")
        {
            return true;
        }
        if be_near && complement(index + 1, 6) {
            // "Is it good for back pain?" does point; "is it good to stretch" does not.
            let only_for = (index + 1..self.end.min(index + 7)).any(|i| self.tagged.word(i) == "for")
                && !(index + 1..self.end.min(index + 10))
                    .any(|i| matches!(self.tagged.word(i), "to" | "that" | "if" | "when"));
            return !only_for;
        }
        if matches!(next, "take" | "takes" | "took") {
            let own_object = self.own_topics().any(|p| p.start > index);
            return (index + 1..self.end).any(|i| self.tagged.word(i) == "to") && own_object;
        }
        if matches!(next, "seems" | "appears" | "turns" | "rain" | "rains" | "raining" | "snow" | "snows") {
            return true;
        }
        matches!(self.tagged.before(index), "got" | "makes" | "worth") && index + 1 == self.end
    }

    /// "That's all.", "That sounds great! And …", "It's a bit much. How …": a remark about what was said, not a question
    /// about it.
    fn reaction(&self, index: usize) -> bool {
        let sentence = self.tagged.tokens[index].sentence;
        let opens = index == 0
            || (0..index)
                .rev()
                .take_while(|&i| self.tagged.tokens[i].sentence == sentence)
                .all(|i| !self.tagged.tokens[i].word || CONNECTORS.contains(&self.tagged.word(i)));
        let asked = |s: u16| self.tagged.tokens.iter().any(|t| t.sentence == s && t.text == "?");
        let question_later = self.tagged.tokens.iter().any(|t| t.sentence > sentence && t.text == "?");
        let verb_next = matches!(self.tagged.tag(index + 1), Some(Tag::Be | Tag::Verb))
            || matches!(self.tagged.word(index + 1), "sounds" | "makes" | "looks" | "seems" | "helps" | "works");
        if opens && verb_next && !asked(sentence) && (question_later || self.tagged.word(index) != "it") {
            return true;
        }
        self.closing_that(index)
    }

    /// "that's all", "that is it" in a closing.
    fn closing_that(&self, index: usize) -> bool {
        if self.tagged.word(index) == "it" {
            return false;
        }
        let after: Vec<&str> = (index + 1..self.end).map(|i| self.tagged.word(i)).collect();
        matches!(
            after.as_slice(),
            [
                "'s" | "’s" | "is" | "was" | "will",
                "all" | "it" | "enough" | "great" | "good" | "helpful" | "fine" | "interesting" | "be",
                ..
            ]
        ) && !self.asks()
    }

    fn pointing_noun(&self, index: usize) -> Option<Pointer> {
        let phrase = *self.phrases.iter().find(|p| p.determiner == Some(index))?;
        let head = phrase.end - 1;
        let classes = self.tagged.classes[head];
        let word = self.tagged.word(index);
        // "this week", "this time", "this morning" point at the calendar.
        if classes & TIME != 0 && matches!(word, "this" | "these") {
            return None;
        }
        let animate = classes & ANIMATE != 0;
        let need = if matches!(word, "these" | "those") {
            Need::Many
        } else if animate {
            Need::Topic
        } else {
            Need::Thing
        };
        Some(Pointer { token: index, need, kind: PointerKind::Noun(phrase) })
    }

    /// "the second one", "the latter", "the first".
    fn ordinal(&self, index: usize) -> Option<Pointer> {
        if self.tagged.word(index) != "the" {
            return None;
        }
        let place = match self.tagged.word(index + 1) {
            "first" | "former" => Place::At(0),
            "second" => Place::At(1),
            "third" => Place::At(2),
            "fourth" => Place::At(3),
            "last" | "latter" => Place::Last,
            _ => return None,
        };
        let bare = matches!(self.tagged.word(index + 1), "former" | "latter");
        let one = self.tagged.word(index + 2) == "one";
        let ends_here = index + 2 >= self.end || !self.tagged.tokens[index + 2].word;
        let auxiliary_follows =
            self.tagged.classes.get(index + 2).is_some_and(|c| c & (BE | AUXILIARY) != 0) && index + 2 < self.end;
        let end = if one { index + 3 } else { index + 2 };
        (one || bare || ends_here || auxiliary_follows).then_some(Pointer {
            token: index,
            need: Need::Thing,
            kind: PointerKind::Ordinal { start: index, end, place },
        })
    }

    /// Whether what a pointer refers to stands before it in the follow-up itself. A pronoun does not refer to a phrase of
    /// its own clause ("How does the weather affect it?"), a possessive may ("Does Kestrel keep its logs?").
    fn antecedent_inside(&self, pointer: &Pointer) -> bool {
        let possessive = pointer.kind == PointerKind::Possessive;
        if matches!(pointer.kind, PointerKind::Ordinal { .. } | PointerKind::WhichOne { .. }) {
            return false;
        }
        self.phrases.iter().filter(|p| p.start >= self.core && p.end <= pointer.token).any(|p| {
            if !self.names_something(p) || p.determiner.is_some_and(|d| self.tagged.tags[d] == Tag::PossessiveAnaphor) {
                return false;
            }
            let boundary = (p.end..pointer.token).any(|i| {
                matches!(self.tagged.tags[i], Tag::Conjunction | Tag::Mark)
                    || self.tagged.tokens[i].sentence != self.tagged.tokens[pointer.token].sentence
            });
            let head = self.tagged.word(p.end - 1);
            let head_classes = self.tagged.classes[p.end - 1];
            let plural = head.ends_with('s') && !head.ends_with("ss");
            let entity = entity_token(&self.tagged.tokens, p.end - 1);
            let agrees = match pointer.need {
                Need::Many => plural || entity,
                Need::Man | Need::Woman => entity || head_classes & ANIMATE != 0,
                _ => !plural,
            };
            match pointer.kind {
                PointerKind::Noun(noun) => {
                    boundary
                        && (noun.start..noun.end)
                            .any(|i| (p.start..p.end).any(|j| self.tagged.word(i) == self.tagged.word(j)))
                }
                _ if possessive => agrees && (boundary || entity || p.start <= self.core + 4),
                _ => agrees && boundary,
            }
        })
    }
}

fn need_of(word: &str) -> Need {
    match word {
        "they" | "them" | "their" | "theirs" | "these" | "those" => Need::Many,
        "he" | "him" | "his" => Need::Man,
        "she" | "her" | "hers" => Need::Woman,
        "there" => Need::Place,
        _ => Need::Thing,
    }
}

/// Skips what may stand before the real follow-up: whole sentences of thanks, connectors, interjections.
fn core(tagged: &Tagged<'_>, end: usize) -> usize {
    let mut core = 0;
    // Sentences that are nothing but small talk, when something follows.
    loop {
        let Some(first) = tagged.tokens.get(core) else { return core };
        let next = (core..end).find(|&i| tagged.tokens[i].sentence != first.sentence);
        let Some(next) = next else { break };
        let talk = (core..next).filter(|&i| tagged.tokens[i].word).all(|i| tagged.classes[i] & SMALL_TALK != 0);
        let anchored = (core..next).any(|i| TALK_ANCHORS.contains(&tagged.word(i)) || !tagged.tokens[i].word);
        let question = (core..next).any(|i| tagged.tokens[i].text == "?");
        if !(talk && anchored) || question {
            break;
        }
        core = next;
    }
    while core < end {
        let word = tagged.word(core);
        let mark = !tagged.tokens[core].word;
        let comma_after = tagged.tokens.get(core + 1).is_some_and(|t| matches!(t.text, "," | "!" | "."));
        let polite = matches!(word, "please") && comma_after;
        let clear = matches!(word, "and" | "but" | "so" | "or" | "then" | "also");
        if mark || polite || (CONNECTORS.contains(&word) && (clear || comma_after) && core + 1 < end) {
            core += 1;
        } else {
            break;
        }
    }
    if core >= end { 0 } else { core }
}
