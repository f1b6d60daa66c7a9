//! Pointing words, replaced by what they refer to.

use super::signals::{FollowUp, Place, Pointer, PointerKind};
use super::tag::{Phrase, Tag, phrases};
use super::topics::{Candidate, Need, named_again, older_topic, relational};
use super::words::{ADJECTIVE, EMPTY_NOUN, TIME};
use super::{English, confidence};
use crate::draft::{Draft, Edits};
use crate::token::contains_words;
use crate::{Role, Rule};

/// One antecedent that was found.
struct Resolved {
    /// How the note names the pointing word.
    pointer: String,
    topic: String,
    confidence: f32,
}

impl English<'_> {
    /// Replaces the first pointing word of each kind whose antecedent is likely enough.
    pub(super) fn resolve(&self, follow_up: &FollowUp<'_>, pointers: &[Pointer]) -> Draft {
        let mut edits = Edits::default();
        let mut resolved: Vec<Resolved> = Vec::new();
        let mut needs: Vec<Need> = Vec::new();
        let mut named_already = false;
        for pointer in pointers {
            if needs.contains(&pointer.need) {
                continue;
            }
            match self.resolve_one(follow_up, pointer, &mut edits) {
                Outcome::Found(one) => {
                    needs.push(pointer.need);
                    resolved.push(one);
                }
                Outcome::NamedAlready => named_already = true,
                Outcome::Nothing => {}
            }
        }
        if resolved.is_empty() {
            return if named_already { Draft::standalone(0.7) } else { Draft::no_topic() };
        }
        follow_up.drop_lead(&mut edits);
        let note =
            resolved.iter().map(|r| format!("resolved '{}' -> {}", r.pointer, r.topic)).collect::<Vec<_>>().join("; ");
        let lowest = resolved.iter().map(|r| r.confidence).fold(1.0, f32::min);
        Draft {
            rule: Rule::Coreference,
            note,
            topic: Some(resolved.swap_remove(0).topic),
            steps: edits.into_steps(),
            confidence: lowest,
        }
    }

    fn resolve_one(&self, follow_up: &FollowUp<'_>, pointer: &Pointer, edits: &mut Edits) -> Outcome {
        match pointer.kind {
            PointerKind::Noun(phrase) => self.resolve_noun(follow_up, pointer, phrase, edits),
            PointerKind::Ordinal { start, end, place } => self.resolve_ordinal(follow_up, start..end, place, edits),
            PointerKind::WhichOne { end } => self.resolve_choice(follow_up, pointer.token, end, edits),
            PointerKind::Pronoun | PointerKind::Possessive => self.resolve_pronoun(follow_up, pointer, edits),
        }
    }

    fn resolve_pronoun(&self, follow_up: &FollowUp<'_>, pointer: &Pointer, edits: &mut Edits) -> Outcome {
        let token = &follow_up.tagged.tokens[pointer.token];
        let word = token.lower.to_string();
        let possessive = pointer.kind == PointerKind::Possessive;
        let words = follow_up.words().join(" ");
        if pointer.need == Need::Many
            && compares(&words)
            && let Some((first, second)) = self.two_topics()
            && !contains_words(&words, &first.key)
        {
            let both = format!("{} and {}", first.in_place(), second.in_place());
            let why = format!("'{word}' compares the last two topics");
            edits.replace(token.start..token.end, both.clone(), second.turn, why);
            return Outcome::Found(Resolved { pointer: word, topic: both, confidence: 0.7 });
        }
        if matches!(word.as_str(), "that" | "this")
            && let Some((topic, turn)) = self.proposition()
            && !contains_words(&words, &topic)
        {
            let why = format!("'{word}' takes up what was asked before");
            edits.replace(token.start..token.end, format!("the {topic}"), turn, why);
            return Outcome::Found(Resolved { pointer: word, topic, confidence: 0.6 });
        }
        let older;
        let (found, score) = match self.topics.best(pointer.need, |_| true) {
            Some(best) => best,
            None => match older_topic(self.window).filter(|_| matches!(pointer.need, Need::Thing | Need::Many)) {
                Some(topic) => {
                    older = topic;
                    (&older, 0.3)
                }
                None => return Outcome::Nothing,
            },
        };
        // Also a person is named already when a part of the name is: "What does Chuck do when he is cold?".
        let part_named = found.person && found.key.split(' ').any(|w| w.len() > 2 && contains_words(&words, w));
        if part_named || contains_words(&words, &found.key) {
            return Outcome::NamedAlready;
        }
        let clitic = follow_up.tagged.tokens.get(pointer.token + 1).is_some_and(|t| t.start == token.end);
        let mut replacement = if possessive { found.possessive() } else { found.in_place() };
        if pointer.need == Need::Place && !possessive {
            let goes = matches!(
                follow_up.tagged.word(pointer.token.wrapping_sub(1)),
                "get"
                    | "go"
                    | "travel"
                    | "come"
                    | "move"
                    | "fly"
                    | "drive"
                    | "send"
                    | "ship"
                    | "deliver"
                    | "going"
                    | "getting"
            );
            replacement = format!("{} {replacement}", if goes { "to" } else { "in" });
        }
        if clitic && replacement.ends_with('s') {
            replacement.push(' ');
        }
        let why = reason(found, &word);
        edits.replace(token.start..token.end, replacement, found.turn, why);
        Outcome::Found(Resolved { pointer: word, topic: found.text.clone(), confidence: confidence(score) })
    }

    /// "that refund": the word says itself what it is; the history may know its full name.
    fn resolve_noun(&self, follow_up: &FollowUp<'_>, pointer: &Pointer, phrase: Phrase, edits: &mut Edits) -> Outcome {
        let tagged = &follow_up.tagged;
        let token = &tagged.tokens[pointer.token];
        let word = token.lower.to_string();
        let head = tagged.word(phrase.end - 1);
        let classes = tagged.classes[phrase.end - 1];
        let named = &follow_up.text[tagged.tokens[phrase.start].start..tagged.tokens[phrase.end - 1].end];
        let range = token.start..tagged.tokens[phrase.end - 1].end;
        let stem = head.strip_suffix('s').unwrap_or(head);
        let same = |w: &str| w == head || w.strip_suffix('s').unwrap_or(w) == stem;
        // A fuller name: the user's own, or one that has a name in it.
        let fuller = self
            .topics
            .candidates
            .iter()
            .find(|c| same(&c.head) && c.key.len() > head.len() + 1 && (c.role == Role::User || c.entity));
        if let Some(candidate) = fuller
            && phrase.end - phrase.start == 1
        {
            edits.replace(range, fuller_name(candidate), candidate.turn, reason(candidate, &word));
            return found(&format!("{word} {head}"), &candidate.text, 0.85);
        }
        let mention = self.topics.turns.iter().find(|(_, turn)| turn.tokens.iter().any(|t| same(&t.lower)));
        if let Some((seen, _)) = mention {
            let why = format!("'{named}' was spoken of before");
            edits.replace(token.start..token.end, "the", seen.turn, why);
            return found(&word, named, 0.9);
        }
        if let Some(candidate) = named_again(self.window, head) {
            edits.replace(range, fuller_name(&candidate), candidate.turn, reason(&candidate, &word));
            return found(&format!("{word} {head}"), &candidate.text, 0.8);
        }
        if classes & (TIME | EMPTY_NOUN) != 0 {
            return Outcome::Nothing;
        }
        // The noun is another word for the topic ("that drug" for aspirin): both are kept.
        let need = if pointer.need == Need::Topic { Need::Man } else { pointer.need };
        let Some((candidate, score)) = self.topics.best(need, |c| {
            let said_by_asker = c.role != Role::Assistant || c.entity;
            !c.relational && !c.time && said_by_asker && c.person == (pointer.need == Need::Topic)
        }) else {
            return Outcome::Nothing;
        };
        if contains_words(&follow_up.words().join(" "), &candidate.key) {
            return Outcome::NamedAlready;
        }
        let both = if relational(head) {
            format!("the {named} of {}", candidate.in_place())
        } else {
            format!("the {named} {}", candidate.text)
        };
        edits.replace(range, both, candidate.turn, reason(candidate, &word));
        found(&format!("{word} {head}"), &candidate.text, confidence(score) * 0.9)
    }

    fn resolve_ordinal(
        &self,
        follow_up: &FollowUp<'_>,
        tokens: std::ops::Range<usize>,
        place: Place,
        edits: &mut Edits,
    ) -> Outcome {
        let Some((turn, items)) = self.things_listed() else { return Outcome::Nothing };
        let item = match place {
            Place::At(index) => items.get(index),
            Place::Last => items.last(),
        };
        let Some(item) = item else { return Outcome::Nothing };
        let range = follow_up.at(tokens.start)..follow_up.tagged.tokens[tokens.end - 1].end;
        let pointer = follow_up.text[range.clone()].to_lowercase();
        edits.replace(range, item.clone(), turn, format!("'{pointer}' of the {} that were listed", items.len()));
        found(&pointer, item.trim_start_matches("the "), 0.8)
    }

    /// "Which one is harder?": the things to choose from are added at the end.
    fn resolve_choice(&self, follow_up: &FollowUp<'_>, start: usize, end: usize, edits: &mut Edits) -> Outcome {
        let Some((turn, items)) = self.things_listed().filter(|(_, items)| items.len() >= 2) else {
            return Outcome::Nothing;
        };
        let (last, rest) = items.split_last().map_or(("", &[][..]), |(l, r)| (l.as_str(), r));
        let choice = format!(", {} or {last}", rest.join(", "));
        let at = follow_up.end_byte();
        let pointer = follow_up.text[follow_up.at(start)..follow_up.tagged.tokens[end - 1].end].to_lowercase();
        edits.replace(at..follow_up.text.len(), choice.clone(), turn, format!("'{pointer}' chooses between them"));
        found(&pointer, choice.trim_start_matches(", "), 0.75)
    }

    /// The newest things that were listed side by side: by the last answer, else by a question.
    pub(super) fn things_listed(&self) -> Option<(usize, Vec<String>)> {
        self.topics.turns.iter().filter(|(seen, _)| seen.role != Role::Context).take(4).find_map(|(seen, turn)| {
            let mut best: Vec<Phrase> = Vec::new();
            let mut run: Vec<Phrase> = Vec::new();
            for phrase in phrases(turn) {
                let joined = run.last().is_some_and(|last| {
                    let start = phrase.determiner.unwrap_or(phrase.start);
                    start > last.end
                        && (last.end..start).all(|i| {
                            matches!(turn.word(i), "and" | "or" | "," | "vs" | "versus" | "than" | "with" | ";")
                        })
                });
                if !joined {
                    run.clear();
                }
                run.push(phrase);
                // Commas alone also join clauses; a list has its "and".
                let listed = run.windows(2).any(|pair| {
                    let until = pair[1].determiner.unwrap_or(pair[1].start);
                    (pair[0].end..until).any(|i| turn.word(i) != ",")
                });
                if listed && run.len() > best.len() {
                    best.clone_from(&run);
                }
            }
            let named = best.iter().any(|p| super::tag::entity_token(&turn.tokens, p.start));
            (best.len() >= 2)
                .then(|| (seen.turn, best.iter().map(|p| self.name_of(seen.text, turn, *p, named)).collect()))
        })
    }

    fn name_of(&self, text: &str, turn: &super::tag::Tagged<'_>, phrase: Phrase, among_names: bool) -> String {
        let first = &turn.tokens[phrase.start];
        let named = &text[first.start..turn.tokens[phrase.end - 1].end];
        let capital =
            among_names || super::tag::entity_token(&turn.tokens, phrase.start) || self.topics.is_name(first.text);
        let named =
            if capital { named.to_owned() } else { crate::token::decapitalise(named, crate::Language::English) };
        let article = phrase.determiner.is_some_and(|d| turn.tags[d] == Tag::Article && turn.word(d) == "the");
        if article { format!("the {named}") } else { named }
    }

    /// The last two topics that user turns brought up, the older first.
    fn two_topics(&self) -> Option<(&Candidate, &Candidate)> {
        let mut subjects =
            self.topics.turns.iter().filter(|(seen, _)| seen.role == Role::User).filter_map(|(seen, _)| {
                self.topics.candidates.iter().find(|c| c.turn == seen.turn && !c.relational && !c.time)
            });
        let newest = subjects.next()?;
        let older = subjects.find(|c| c.key != newest.key)?;
        // A pair named in the newest question itself is what is compared.
        let partner = self.topics.candidates.iter().find(|c| {
            c.turn == newest.turn && c.key != newest.key && !c.relational && !c.time && c.plural == newest.plural
        });
        Some(partner.filter(|_| newest.age == 0 && older.age > 1).map_or((older, newest), |p| (newest, p)))
    }

    /// What a bare "that" takes up after "Is the pool heated?": the "heated pool".
    fn proposition(&self) -> Option<(String, usize)> {
        let (seen, turn) = self.topics.turns.iter().find(|(seen, _)| seen.role == Role::User)?;
        if turn.tag(0) != Some(Tag::Be) {
            return None;
        }
        let phrase = *phrases(turn).first()?;
        let participle = turn.tokens.get(phrase.end)?;
        let word = participle.lower.as_ref();
        let describes = word.ends_with("ed") && turn.classes[phrase.end] & ADJECTIVE == 0;
        describes.then(|| {
            let named = &seen.text[turn.tokens[phrase.start].start..turn.tokens[phrase.end - 1].end];
            (format!("{word} {named}"), seen.turn)
        })
    }
}

enum Outcome {
    Found(Resolved),
    /// The likeliest antecedent already stands in the follow-up.
    NamedAlready,
    Nothing,
}

fn found(pointer: &str, topic: &str, confidence: f32) -> Outcome {
    Outcome::Found(Resolved { pointer: pointer.to_owned(), topic: topic.to_owned(), confidence })
}

fn fuller_name(candidate: &Candidate) -> String {
    let determiner = if candidate.determiner.is_empty() && !candidate.person { "the " } else { candidate.determiner };
    format!("{determiner}{}", candidate.text)
}

fn reason(candidate: &Candidate, word: &str) -> String {
    let who = match candidate.role {
        Role::User => "the user",
        Role::Assistant => "an answer",
        Role::Context => "the title",
    };
    format!("'{word}' refers to '{}', named by {who}", candidate.text)
}

fn compares(words: &str) -> bool {
    ["compare", "compared", "differ", "difference", "differences", "in common", "similar", "related", "better"]
        .iter()
        .any(|w| contains_words(words, w))
}
