//! What was left out, put back: from the frame of the last question where it has one.

use super::signals::{Ellipsis, FollowUp, Pointer};
use super::tag::{Phrase, Tag, Tagged, entity_token, phrases};
use super::topics::{Candidate, Need};
use super::words::{ANIMATE, EMPTY_NOUN, RELATIONAL};
use super::{English, confidence};
use crate::draft::{Draft, Edits};
use crate::token::contains_words;
use crate::window::Seen;
use crate::{Connector, Role, Rule};

/// A longer sentence, in words, is a story and not a frame.
const LONGEST_FRAME: usize = 20;

/// The last question that stands by itself: one sentence of a user turn.
struct Frame<'f> {
    seen: Seen<'f>,
    turn: &'f Tagged<'f>,
    /// Token indices of the sentence, its closing mark left out.
    start: usize,
    end: usize,
}

impl<'f> Frame<'f> {
    fn byte(&self, token: usize) -> usize {
        self.turn.tokens[token].start
    }

    fn end_byte(&self) -> usize {
        self.turn.tokens[self.end - 1].end
    }

    fn phrases(&self) -> impl Iterator<Item = Phrase> {
        phrases(self.turn).into_iter().filter(|p| p.start >= self.start && p.end <= self.end)
    }

    fn slice(&self, from: usize, to: usize) -> &'f str {
        &self.seen.text[from..to]
    }

    fn imperative(&self) -> bool {
        self.turn.tag(self.start) == Some(Tag::Verb)
    }
}

impl English<'_> {
    /// The rewrite of an ellipsis, or nothing when another rung fits better.
    pub(super) fn fill_ellipsis(
        &self,
        follow_up: &FollowUp<'_>,
        ellipsis: Ellipsis,
        pointers: &[Pointer],
    ) -> Option<Draft> {
        match ellipsis {
            Ellipsis::About { rest } => {
                if pointers.is_empty() {
                    Some(self.about(follow_up, rest))
                } else {
                    None
                }
            }
            Ellipsis::BareQuestion { .. } => Some(self.bare_question(follow_up)),
            Ellipsis::WhoElse => Some(self.who_else(follow_up)),
            Ellipsis::Others => Some(self.others(follow_up)),
            Ellipsis::More => Some(self.about_topic(follow_up)),
            Ellipsis::Which => self.which(follow_up),
        }
    }

    /// The frame that an ellipsis continues: the newest user turn that is a clause by itself and points at nothing.
    fn frame(&self) -> Option<Frame<'_>> {
        self.topics.turns.iter().enumerate().find_map(|(index, (seen, turn))| {
            if !self.self_contained(index) || turn.tags.contains(&Tag::Anaphor) {
                return None;
            }
            let end = turn.tokens.iter().rposition(|t| t.word)? + 1;
            let sentence = turn.tokens[end - 1].sentence;
            let mut start = turn.tokens.iter().position(|t| t.sentence == sentence)?;
            while start < end
                && (!turn.tokens[start].word
                    || matches!(turn.word(start), "and" | "but" | "so" | "ok" | "okay" | "well"))
            {
                start += 1;
            }
            let asks = turn.tokens.last().is_some_and(|t| t.text == "?")
                || matches!(turn.tag(start), Some(Tag::Question | Tag::Verb | Tag::Auxiliary | Tag::Be));
            (start < end && asks && end - start <= LONGEST_FRAME).then_some(Frame { seen: *seen, turn, start, end })
        })
    }

    /// What the conversation is about, for an ellipsis: a topic of a turn that stands by itself before any other.
    fn standing_topic(&self) -> Option<(&Candidate, f32)> {
        let standing: Vec<usize> = (0..self.topics.turns.len())
            .filter(|&i| self.self_contained(i) || self.topics.turns[i].0.role == Role::Context)
            .map(|i| self.topics.turns[i].0.turn)
            .collect();
        self.topics
            .best(Need::Topic, |c| standing.contains(&c.turn) && !c.time && !c.relational)
            .or_else(|| self.topics.best(Need::Topic, |c| standing.contains(&c.turn) && !c.time))
            .or_else(|| self.topics.best(Need::Topic, |c| !c.time && !c.relational))
    }

    /// "What about X?"
    fn about(&self, follow_up: &FollowUp<'_>, rest: usize) -> Draft {
        let tagged = &follow_up.tagged;
        let rest_phrases: Vec<Phrase> = follow_up.phrases.iter().copied().filter(|p| p.start >= rest).collect();
        let relational = !rest_phrases.is_empty()
            && rest_phrases.iter().all(|p| {
                (p.start..p.end)
                    .all(|i| tagged.classes[i] & (RELATIONAL | EMPTY_NOUN) != 0 || tagged.tags[i] == Tag::Adjective)
                    && tagged.classes[p.end - 1] & RELATIONAL != 0
            });
        let preposition = matches!(tagged.tag(rest), Some(Tag::Preposition | Tag::To));
        let frame = self.frame();
        if let Some(frame) = &frame {
            if preposition {
                return self.with_preposition(follow_up, rest, frame);
            }
            if let Some(slot) = rest_phrases.first().and_then(|p| self.parallel(follow_up, *p, frame)) {
                return self.in_frame(follow_up, rest, frame, slot);
            }
        }
        let Some((topic, score)) = self.standing_topic() else { return Draft::no_topic() };
        let words = follow_up.words().join(" ");
        if contains_words(&words, &topic.key) {
            return Draft::standalone(0.7);
        }
        let mut edits = Edits::default();
        let start = follow_up.text.len() - follow_up.text.trim_start().len();
        let rest_byte = follow_up.at(rest);
        let named;
        if relational {
            named = topic.text.clone();
            edits.drop(start..rest_byte, "the marker of an ellipsis");
            let at = follow_up.end_byte();
            let why = format!("'{}' is what the conversation is about", topic.text);
            edits.replace(at..at, format!(" of {}", topic.in_place()), topic.turn, why);
        } else {
            named = match self.options.connector {
                Connector::Policy => without_relational_head(&topic.text),
                Connector::Plain => topic.text.clone(),
            };
            let joined = match self.options.connector {
                Connector::Policy => format!("{named} policy for "),
                Connector::Plain => format!("{named} "),
            };
            let why = format!("'{named}' is what the conversation is about");
            edits.replace(start..rest_byte, joined, topic.turn, why);
            decapitalise_rest(self, follow_up, rest, &mut edits);
        }
        Draft {
            rule: Rule::Ellipsis,
            note: format!("spliced topic '{named}' from history"),
            topic: Some(named),
            steps: edits.into_steps(),
            confidence: confidence(score),
        }
    }

    /// The phrase of the last question that X stands beside: both names, the same head, both with an indefinite article,
    /// both people, or both without any article.
    fn parallel(&self, follow_up: &FollowUp<'_>, rest: Phrase, frame: &Frame<'_>) -> Option<Phrase> {
        let tagged = &follow_up.tagged;
        let head = tagged.word(rest.end - 1);
        let is_name = |i: usize| {
            entity_token(&tagged.tokens, i)
                || (tagged.tokens[i].capitalised() && self.topics.is_name(tagged.tokens[i].text))
        };
        let name = is_name(rest.start) || is_name(rest.end - 1);
        let indefinite = |t: &Tagged<'_>, p: &Phrase| p.determiner.is_some_and(|d| matches!(t.word(d), "a" | "an"));
        let turn = frame.turn;
        let rest_relational = tagged.classes[rest.end - 1] & RELATIONAL != 0;
        frame
            .phrases()
            .map(|p| {
                let frame_name = (p.start..p.end).any(|i| entity_token(&turn.tokens, i));
                let same_head = turn.word(p.end - 1) == head && p.end - p.start + rest.end - rest.start > 2;
                let both_people = tagged.classes[rest.end - 1] & ANIMATE != 0 && turn.classes[p.end - 1] & ANIMATE != 0;
                let bare = p.determiner.is_none() && rest.determiner.is_none() && !frame_name && !name;
                let relational = turn.classes[p.end - 1] & RELATIONAL != 0;
                let after_question = p.determiner.is_some_and(|d| turn.tags[d] == Tag::Question);
                let score = if same_head {
                    5
                } else if name && frame_name {
                    4
                } else if both_people {
                    3
                } else if indefinite(turn, &p) && indefinite(tagged, &rest) {
                    2
                } else {
                    i32::from(
                        bare && self.options.connector == Connector::Plain
                            && !after_question
                            && relational == rest_relational
                            && p.end - p.start == rest.end - rest.start,
                    )
                };
                (score, p)
            })
            .filter(|(score, _)| *score > 0)
            .max_by_key(|(score, _)| *score)
            .map(|(_, p)| p)
    }

    /// The last question with X in the place of its parallel.
    fn in_frame(&self, follow_up: &FollowUp<'_>, rest: usize, frame: &Frame<'_>, slot: Phrase) -> Draft {
        let tagged = &follow_up.tagged;
        let turn = frame.turn;
        let rest_phrase = follow_up.phrases.iter().find(|p| p.start >= rest);
        let rest_is_name = rest_phrase.is_some_and(|p| (p.start..p.end).all(|i| tagged.tokens[i].capitalised()));
        // In "plan Silver" only the name changes.
        let mut slot_start = slot.start;
        while rest_is_name && slot_start + 1 < slot.end && !entity_token(&turn.tokens, slot_start) {
            slot_start += 1;
        }
        let mut slot_end = slot.end;
        while rest_is_name && slot_end > slot_start + 1 && !entity_token(&turn.tokens, slot_end - 1) {
            slot_end -= 1;
        }
        let rest_has_determiner = matches!(tagged.tag(rest), Some(Tag::Article | Tag::Possessive | Tag::Quantifier));
        let from = if rest_has_determiner {
            slot.determiner.filter(|d| turn.tags[*d] != Tag::Question).unwrap_or(slot_start)
        } else {
            slot_start
        };
        let before = frame.slice(frame.byte(frame.start), frame.byte(from));
        let after = frame.slice(turn.tokens[slot_end - 1].end, frame.end_byte());
        let mut edits = Edits::default();
        let start = follow_up.text.len() - follow_up.text.trim_start().len();
        let why = "the frame of the last question".to_owned();
        edits.replace(start..follow_up.at(rest), before.to_owned(), frame.seen.turn, why.clone());
        if from != frame.start {
            decapitalise_rest(self, follow_up, rest, &mut edits);
        }
        let end = follow_up.end_byte();
        edits.replace(end..follow_up.text.len(), after.to_owned(), frame.seen.turn, why);
        let named = follow_up.text[follow_up.at(rest)..end].to_owned();
        self.framed(frame, &named, edits, 0.85)
    }

    /// "And in summer?": the phrase takes the place of the one with the same preposition, or is added.
    fn with_preposition(&self, follow_up: &FollowUp<'_>, rest: usize, frame: &Frame<'_>) -> Draft {
        let turn = frame.turn;
        let preposition = follow_up.tagged.word(rest);
        let replaced = (frame.start..frame.end).rev().find_map(|i| {
            (turn.word(i) == preposition)
                .then(|| frame.phrases().find(|p| p.determiner.unwrap_or(p.start) == i + 1))
                .flatten()
                .map(|p| (i, p))
        });
        let (before_end, after_start) = match replaced {
            Some((at, phrase)) => (frame.byte(at), turn.tokens[phrase.end - 1].end),
            None => (frame.end_byte(), frame.end_byte()),
        };
        let mut edits = Edits::default();
        let start = follow_up.text.len() - follow_up.text.trim_start().len();
        let why = "the frame of the last question".to_owned();
        let mut before = frame.slice(frame.byte(frame.start), before_end).trim_end().to_owned();
        before.push(' ');
        edits.replace(start..follow_up.at(rest), before, frame.seen.turn, why.clone());
        decapitalise_rest(self, follow_up, rest, &mut edits);
        let end = follow_up.end_byte();
        edits.replace(end..follow_up.text.len(), frame.slice(after_start, frame.end_byte()), frame.seen.turn, why);
        let named = follow_up.text[follow_up.at(rest)..end].to_owned();
        self.framed(frame, &named, edits, 0.8)
    }

    fn framed(&self, frame: &Frame<'_>, named: &str, edits: Edits, confidence: f32) -> Draft {
        let topic = self.topics.candidates.iter().find(|c| c.turn == frame.seen.turn).map(|c| c.text.clone());
        Draft {
            rule: Rule::Ellipsis,
            note: format!("put '{named}' into the last question"),
            topic,
            steps: edits.into_steps(),
            confidence,
        }
    }

    /// "Why?", "When?", "And how old?": the last question, asked with the new question word.
    fn bare_question(&self, follow_up: &FollowUp<'_>) -> Draft {
        let mut edits = Edits::default();
        follow_up.drop_lead(&mut edits);
        let end = follow_up.end_byte();
        let words = &follow_up.text[follow_up.at(follow_up.core)..end];
        if let Some(frame) = self.frame().filter(|f| !f.imperative()) {
            let clause = clause_start(&frame);
            if let Some(clause) = clause {
                let measure = follow_up.tagged.word(follow_up.core) == "how" && follow_up.end - follow_up.core == 2;
                let kept = frame.slice(frame.byte(clause), frame.end_byte());
                // "how old" takes the place of "how tall"; of a question without a measure it only keeps the topic.
                if !measure || frame.turn.tag(clause) == Some(Tag::Be) {
                    let kept = crate::token::decapitalise(kept, crate::Language::English);
                    let kept = asked_phrase(&frame, clause).map_or(kept.clone(), |asked| {
                        let subject_follows = matches!(
                            frame.turn.tag(clause + 1),
                            Some(Tag::Noun | Tag::Article | Tag::Possessive | Tag::Pronoun | Tag::Quantifier)
                        );
                        let after = frame.turn.tokens[clause].end;
                        if subject_follows {
                            format!("{kept} {asked}")
                        } else {
                            let verb = frame.turn.word(clause);
                            format!("{verb} {asked}{}", frame.slice(after, frame.end_byte()))
                        }
                    });
                    edits.replace(
                        end..follow_up.text.len(),
                        format!(" {kept}"),
                        frame.seen.turn,
                        "the clause of the last question",
                    );
                    return self.framed(&frame, words, edits, 0.75);
                }
            }
        }
        let Some((topic, score)) = self.standing_topic() else { return Draft::no_topic() };
        edits.replace(
            end..follow_up.text.len(),
            format!(" {}", topic.in_place()),
            topic.turn,
            "what the conversation is about",
        );
        spliced(topic, edits, confidence(score))
    }

    /// "Who else?", "Who else did?": who the question named is not meant, what it asked stays.
    fn who_else(&self, follow_up: &FollowUp<'_>) -> Draft {
        let Some(frame) = self.frame() else { return self.about_topic(follow_up) };
        let turn = frame.turn;
        let mut edits = Edits::default();
        follow_up.drop_lead(&mut edits);
        let end = follow_up.end_byte();
        let why = "the clause of the last question";
        let clause = match turn.tag(frame.start) {
            Some(Tag::Auxiliary | Tag::Be) => frame.phrases().next().map(|p| (Some(p), p.end)),
            Some(Tag::Question) => Some((None, frame.start + 1)),
            _ => None,
        };
        let Some((subject, from)) = clause.filter(|(_, from)| *from < frame.end) else {
            return self.about_topic(follow_up);
        };
        let mut rest = frame.slice(frame.byte(from), frame.end_byte()).to_owned();
        if let Some(subject) = subject {
            let subject = frame.slice(frame.byte(subject.start), turn.tokens[subject.end - 1].end);
            rest = format!("{rest} besides {subject}");
        }
        edits.replace(end..follow_up.text.len(), format!(" {rest}"), frame.seen.turn, why);
        self.framed(&frame, "who else", edits, 0.7)
    }

    /// "Any others?": more of what the last question asked for.
    fn others(&self, follow_up: &FollowUp<'_>) -> Draft {
        let Some(frame) = self.frame() else { return self.about_topic(follow_up) };
        let turn = frame.turn;
        let counted = frame.phrases().find(|p| {
            p.start > frame.start
                && (frame.start..p.start).all(|i| {
                    matches!(turn.tags[i], Tag::Question | Tag::Quantifier | Tag::Adjective | Tag::Preposition)
                })
                && matches!(turn.word(frame.start), "which" | "what" | "how")
        });
        let mut edits = Edits::default();
        let start = follow_up.text.len() - follow_up.text.trim_start().len();
        if let Some(counted) = counted {
            let what = frame.slice(frame.byte(counted.start), frame.end_byte());
            edits.replace(
                start..follow_up.text.len(),
                format!("which other {what}"),
                frame.seen.turn,
                "the frame of the last question",
            );
            return self.framed(&frame, "others", edits, 0.8);
        }
        let Some(first) = frame.phrases().next() else { return self.about_topic(follow_up) };
        let what = frame.slice(frame.byte(first.start), frame.end_byte());
        edits.replace(
            start..follow_up.text.len(),
            format!("other {what}"),
            frame.seen.turn,
            "the frame of the last question",
        );
        self.framed(&frame, "others", edits, 0.65)
    }

    /// "Tell me more.": about the topic.
    fn about_topic(&self, follow_up: &FollowUp<'_>) -> Draft {
        let Some((topic, score)) = self.standing_topic() else { return Draft::no_topic() };
        let mut edits = Edits::default();
        follow_up.drop_lead(&mut edits);
        let end = follow_up.end_byte();
        edits.replace(
            end..follow_up.text.len(),
            format!(" about {}", topic.in_place()),
            topic.turn,
            "what the conversation is about",
        );
        spliced(topic, edits, confidence(score))
    }

    /// "Which is best for back pain?": of the things that were asked for.
    fn which(&self, follow_up: &FollowUp<'_>) -> Option<Draft> {
        let frame = self.frame()?;
        let first = frame.phrases().find(|p| !is_empty_phrase(frame.turn, p))?;
        let mut end = first.end;
        // "main types of yoga" is taken whole.
        while frame.turn.word(end) == "of" && end < frame.end {
            let next = frame.phrases().find(|p| p.start > end)?;
            end = next.end;
        }
        let from = first.determiner.filter(|d| frame.turn.tags[*d] == Tag::Article).unwrap_or(first.start);
        let what = frame.slice(frame.byte(from), frame.turn.tokens[end - 1].end);
        let words = follow_up.words().join(" ");
        if contains_words(&words, &what.to_lowercase()) {
            return None;
        }
        let mut edits = Edits::default();
        follow_up.drop_lead(&mut edits);
        let at = follow_up.tagged.tokens[follow_up.core].end;
        edits.replace(at..at, format!(" of {what}"), frame.seen.turn, "what there is to choose from");
        let named = what.trim_start_matches("the ").to_owned();
        Some(Draft {
            rule: Rule::Ellipsis,
            note: format!("spliced topic '{named}' from history"),
            topic: Some(named),
            steps: edits.into_steps(),
            confidence: 0.75,
        })
    }

    /// "Yes please." after "Shall I list storage tips for basil?": the offer itself.
    pub(super) fn accept_offer(&self, follow_up: &FollowUp<'_>) -> Option<Draft> {
        let words = follow_up.words();
        let yes = matches!(
            words.as_slice(),
            ["yes" | "yeah" | "sure" | "please" | "ok" | "okay" | "yep"]
                | ["yes" | "yeah" | "sure" | "ok" | "okay" | "yep", "please" | "do" | "thanks"]
                | ["please", "do"]
                | ["yes", "please", "do"]
                | ["go", "ahead"]
        ) || matches!(words.as_slice(), ["please"] if follow_up.core > 0);
        if !yes {
            return None;
        }
        let (seen, turn) = self.topics.turns.first().filter(|(seen, _)| seen.role == Role::Assistant)?;
        let end = turn.tokens.iter().rposition(|t| t.word)? + 1;
        let sentence = turn.tokens[end - 1].sentence;
        let start = turn.tokens.iter().position(|t| t.sentence == sentence)?;
        let offer =
            (start..end).find_map(|i| match (turn.word(i), turn.word(i + 1), turn.word(i + 2), turn.word(i + 3)) {
                ("shall" | "should" | "can" | "may" | "could", "i", _, _) => Some(i + 2),
                ("want" | "like", "me", "to", _) => Some(i + 3),
                ("want" | "like", "to", _, _) => Some(i + 2),
                _ => None,
            })?;
        if offer >= end {
            return None;
        }
        let clause = &seen.text[turn.tokens[offer].start..turn.tokens[end - 1].end];
        let mut edits = Edits::default();
        edits.replace(0..follow_up.text.len(), clause, seen.turn, "the offer that was accepted");
        Some(Draft {
            rule: Rule::Ellipsis,
            note: format!("accepted the offer '{clause}'"),
            topic: self.topics.candidates.iter().find(|c| c.turn == seen.turn).map(|c| c.text.clone()),
            steps: edits.into_steps(),
            confidence: 0.8,
        })
    }
}

fn spliced(topic: &Candidate, edits: Edits, confidence: f32) -> Draft {
    Draft {
        rule: Rule::Ellipsis,
        note: format!("spliced topic '{}' from history", topic.text),
        topic: Some(topic.text.clone()),
        steps: edits.into_steps(),
        confidence,
    }
}

fn is_empty_phrase(turn: &Tagged<'_>, phrase: &Phrase) -> bool {
    (phrase.start..phrase.end).all(|i| turn.classes[i] & EMPTY_NOUN != 0 && turn.classes[i] & RELATIONAL == 0)
}

/// Where the clause of a question begins: after its question phrase ("how tall | is Mount Kazbek"), or at once.
fn clause_start(frame: &Frame<'_>) -> Option<usize> {
    match frame.turn.tag(frame.start) {
        Some(Tag::Auxiliary | Tag::Be) => Some(frame.start),
        Some(Tag::Question) => (frame.start + 1..frame.end)
            .find(|&i| matches!(frame.turn.tags[i], Tag::Auxiliary | Tag::Be))
            .filter(|&i| i + 1 < frame.end),
        _ => None,
    }
}

/// The phrase that the question word asked about, when it did: "Which flour | is best for pizza?".
fn asked_phrase<'f>(frame: &Frame<'f>, clause: usize) -> Option<&'f str> {
    let determines = matches!(frame.turn.word(frame.start), "which" | "what");
    (determines && clause > frame.start + 1)
        .then(|| frame.slice(frame.byte(frame.start + 1), frame.turn.tokens[clause - 1].end))
}

/// A capital at the beginning of what is moved into a sentence goes, unless it belongs to a name.
fn decapitalise_rest(english: &English<'_>, follow_up: &FollowUp<'_>, rest: usize, edits: &mut Edits) {
    let token = &follow_up.tagged.tokens[rest];
    let first = rest == 0 || !follow_up.tagged.tokens[rest - 1].word;
    let known = super::words::classes(&token.lower) != 0;
    if first && known && token.capitalised() && !token.marked() && !english.topics.is_name(token.text) {
        edits.lower(token.start..token.end, &token.lower);
    }
}

/// "refund window" -> "refund": in a question about a rule, the rule takes the place of the head.
fn without_relational_head(topic: &str) -> String {
    match topic.rsplit_once(' ') {
        Some((modifier, head)) if super::topics::relational(&head.to_lowercase()) => modifier.to_owned(),
        _ => topic.to_owned(),
    }
}
