//! Turkish pointing words, replaced by what they refer to, in the same case.

use super::signals::{FollowUp, Pointer};
use super::suffix::{Case, split_case};
use super::tag::{Tag, phrases};
use super::topics::{Candidate, Need, named_again, older_topic, same_noun};
use super::words::{EMPTY_NOUN, TIME};
use super::{Turkish, confidence};
use crate::draft::{Draft, Edits};
use crate::token::contains_words;
use crate::{Role, Rule};

enum Outcome {
    Found { pointer: String, topic: String, confidence: f32 },
    NamedAlready,
    Nothing,
}

impl Turkish<'_> {
    /// Replaces the first pointing word of each kind whose antecedent is likely enough.
    pub(super) fn resolve(&self, follow_up: &FollowUp<'_>, pointers: &[Pointer]) -> Draft {
        let mut edits = Edits::default();
        let mut notes: Vec<String> = Vec::new();
        let mut topic = None;
        let mut lowest: f32 = 1.0;
        let mut needs: Vec<Need> = Vec::new();
        let mut named_already = false;
        for pointer in pointers {
            if needs.contains(&pointer.need) {
                continue;
            }
            let outcome = match pointer.noun {
                Some(_) => self.resolve_noun(follow_up, pointer, &mut edits),
                None => self.resolve_pronoun(follow_up, pointer, &mut edits),
            };
            match outcome {
                Outcome::Found { pointer: word, topic: found, confidence } => {
                    needs.push(pointer.need);
                    notes.push(format!("resolved '{word}' -> {found}"));
                    topic.get_or_insert(found);
                    lowest = lowest.min(confidence);
                }
                Outcome::NamedAlready => named_already = true,
                Outcome::Nothing => {}
            }
        }
        if notes.is_empty() {
            return if named_already { Draft::standalone(0.7) } else { Draft::no_topic() };
        }
        follow_up.drop_lead(&mut edits);
        Draft { rule: Rule::Coreference, note: notes.join("; "), topic, steps: edits.into_steps(), confidence: lowest }
    }

    fn resolve_pronoun(&self, follow_up: &FollowUp<'_>, pointer: &Pointer, edits: &mut Edits) -> Outcome {
        let token = &follow_up.tagged.tokens[pointer.token];
        let word = token.lower.to_string();
        if pointer.case == Case::Genitive
            && word == "bunun"
            && let Some((named, whole, turn)) = self.proposition()
        {
            let why = format!("'{word}' takes up what was asked before");
            edits.replace(token.start..token.end, whole, turn, why);
            return Outcome::Found { pointer: word, topic: named, confidence: 0.65 };
        }
        let older;
        let (found, score) = match self.topics.best(pointer.need, |_| true) {
            Some(best) => best,
            None => match older_topic(self.window).filter(|_| pointer.need != Need::Place) {
                Some(topic) => {
                    older = topic;
                    (&older, 0.3)
                }
                None => return Outcome::Nothing,
            },
        };
        if contains_words(&follow_up.words().join(" "), &found.key) {
            return Outcome::NamedAlready;
        }
        edits.replace(token.start..token.end, found.inflected(pointer.case), found.turn, reason(found, &word));
        Outcome::Found { pointer: word, topic: found.text.clone(), confidence: confidence(score) }
    }

    /// "o iade": the word says itself what it is; the history may know its full name.
    fn resolve_noun(&self, follow_up: &FollowUp<'_>, pointer: &Pointer, edits: &mut Edits) -> Outcome {
        let Some(phrase) = pointer.noun else { return Outcome::Nothing };
        let tagged = &follow_up.tagged;
        let token = &tagged.tokens[pointer.token];
        let word = token.lower.to_string();
        let (stem, case) = split_case(tagged.word(phrase.end - 1));
        let named = &follow_up.text[tagged.tokens[phrase.start].start..tagged.tokens[phrase.end - 1].end];
        let range = token.start..tagged.tokens[phrase.end - 1].end;
        let single = phrase.end - phrase.start == 1;
        let fuller = |c: &&Candidate| {
            c.key.contains(' ')
                && (c.role == Role::User || c.entity)
                && same_noun(&c.head, &stem)
                && c.key.len() > stem.len() + 3
        };
        if single && let Some(candidate) = self.topics.candidates.iter().find(fuller) {
            edits.replace(range, candidate.inflected(case), candidate.turn, reason(candidate, &word));
            return Outcome::Found {
                pointer: format!("{word} {stem}"),
                topic: candidate.text.clone(),
                confidence: 0.85,
            };
        }
        let mention = self
            .topics
            .turns
            .iter()
            .find(|(_, turn)| turn.tokens.iter().any(|t| t.word && same_noun(&split_case(&t.lower).0, &stem)));
        if let Some((seen, _)) = mention {
            let why = format!("'{named}' was spoken of before");
            let after = follow_up.at(phrase.start);
            edits.replace(token.start..after, "", seen.turn, why);
            return Outcome::Found { pointer: word, topic: named.to_owned(), confidence: 0.9 };
        }
        if single && let Some(candidate) = named_again(self.window, &stem) {
            edits.replace(range, candidate.inflected(case), candidate.turn, reason(&candidate, &word));
            return Outcome::Found {
                pointer: format!("{word} {stem}"),
                topic: candidate.text.clone(),
                confidence: 0.8,
            };
        }
        if tagged.classes[phrase.end - 1] & (TIME | EMPTY_NOUN) != 0 {
            return Outcome::Nothing;
        }
        // Another word for the topic ("bu ilaç" for aspirin): both are kept.
        let Some((candidate, score)) = self.topics.best(Need::One, |c| !c.relational && !c.time) else {
            return Outcome::Nothing;
        };
        if contains_words(&follow_up.words().join(" "), &candidate.key) {
            return Outcome::NamedAlready;
        }
        edits.replace(token.start..token.end, candidate.text.clone(), candidate.turn, reason(candidate, &word));
        Outcome::Found { pointer: word, topic: candidate.text.clone(), confidence: confidence(score) * 0.9 }
    }

    /// What "bunun" takes up after "Havuz kışın ısıtılıyor mu?": `havuzun ısıtılmasının`.
    fn proposition(&self) -> Option<(String, String, usize)> {
        let (seen, turn) = self.topics.turns.iter().find(|(seen, _)| seen.role == Role::User)?;
        let verb = turn.tags.iter().rposition(|t| *t == Tag::Verb)?;
        let asked = turn.tag(verb + 1) == Some(Tag::Particle);
        let stem = ["ıyor", "iyor", "uyor", "üyor"].iter().find_map(|e| turn.word(verb).strip_suffix(e))?;
        let passive = ["ıl", "il", "ul", "ül", "ın", "in"].iter().any(|e| stem.ends_with(e));
        let phrase = *phrases(turn).first()?;
        let candidate = self.topics.candidates.iter().find(|c| c.turn == seen.turn)?;
        if !asked || !passive || phrase.end > verb {
            return None;
        }
        let low = super::suffix::low_vowel(stem);
        let noun = super::suffix::possessed(&format!("{stem}m{low}"));
        let named = format!("{} {noun}", candidate.inflected(Case::Genitive));
        let whole = super::suffix::inflect(&named, Case::Genitive, false, true);
        Some((named, whole, seen.turn))
    }
}

fn reason(candidate: &Candidate, word: &str) -> String {
    let who = match candidate.role {
        Role::User => "the user",
        Role::Assistant => "an answer",
        Role::Context => "the title",
    };
    format!("'{word}' refers to '{}', named by {who}", candidate.text)
}
