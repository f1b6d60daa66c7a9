//! What was left out of a Turkish follow-up, put back.

use super::signals::{Ellipsis, FollowUp};
use super::suffix::split_case;
use super::tag::{Phrase, Tag, Tagged, entity_token, phrases};
use super::topics::{Candidate, Need};
use super::words::{ANIMATE, RELATIONAL};
use super::{Turkish, confidence};
use crate::draft::{Draft, Edits};
use crate::token::{contains_words, decapitalise};
use crate::window::Seen;
use crate::{Connector, Language, Role, Rule};

/// The last question that stands by itself.
struct Frame<'f> {
    seen: Seen<'f>,
    turn: &'f Tagged<'f>,
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

    fn slice(&self, from: usize, to: usize) -> &'f str {
        &self.seen.text[from..to]
    }

    fn phrases(&self) -> impl Iterator<Item = Phrase> {
        phrases(self.turn).into_iter().filter(|p| p.start >= self.start && p.end <= self.end)
    }
}

impl Turkish<'_> {
    pub(super) fn fill_ellipsis(&self, follow_up: &FollowUp<'_>, ellipsis: Ellipsis) -> Option<Draft> {
        match ellipsis {
            Ellipsis::About { rest, end } => Some(self.about(follow_up, rest, end)),
            Ellipsis::BareQuestion { end } => Some(self.bare_question(follow_up, end)),
            Ellipsis::More => Some(self.about_topic(follow_up)),
            Ellipsis::Others => Some(self.others(follow_up)),
            Ellipsis::Which => self.which(follow_up),
        }
    }

    fn frame(&self) -> Option<Frame<'_>> {
        self.topics.turns.iter().enumerate().find_map(|(index, (seen, turn))| {
            if !self.self_contained(index) {
                return None;
            }
            let end = turn.tokens.iter().rposition(|t| t.word)? + 1;
            let sentence = turn.tokens[end - 1].sentence;
            let mut start = turn.tokens.iter().position(|t| t.sentence == sentence)?;
            while start + 1 < end && (!turn.tokens[start].word || matches!(turn.word(start), "peki" | "ya" | "ve")) {
                start += 1;
            }
            Some(Frame { seen: *seen, turn, start, end })
        })
    }

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

    /// "Peki X?", "X de mi?"
    fn about(&self, follow_up: &FollowUp<'_>, rest: usize, end: usize) -> Draft {
        let tagged = &follow_up.tagged;
        let start = follow_up.text.len() - follow_up.text.trim_start().len();
        let rest_end = tagged.tokens[end - 1].end;
        if let Some(frame) = self.frame()
            && let Some(slot) = self.parallel(follow_up, rest, end, &frame)
        {
            let before = frame.slice(frame.byte(frame.start), frame.byte(slot.start));
            let after = frame.slice(frame.turn.tokens[slot.end - 1].end, frame.end_byte());
            let why = "the frame of the last question".to_owned();
            let mut edits = Edits::default();
            edits.replace(start..follow_up.at(rest), before, frame.seen.turn, why.clone());
            self.lower_rest(follow_up, rest, &mut edits);
            edits.replace(rest_end..follow_up.text.len(), after, frame.seen.turn, why);
            return self.framed(&frame, &follow_up.text[follow_up.at(rest)..rest_end], edits, 0.85);
        }
        let Some((topic, score)) = self.standing_topic() else { return Draft::no_topic() };
        if contains_words(&follow_up.words().join(" "), &topic.key) {
            return Draft::standalone(0.7);
        }
        let mut edits = Edits::default();
        let why = format!("'{}' is what the conversation is about", topic.text);
        let last = end - 1;
        let relational = end - rest == 1 && follow_up.relational_possessed(last);
        let named;
        if relational {
            named = topic.text.clone();
            let put = format!("{} ", topic.inflected(super::suffix::Case::Genitive));
            edits.replace(start..follow_up.at(rest), put, topic.turn, why);
            self.lower_rest(follow_up, rest, &mut edits);
            edits.drop(rest_end..follow_up.text.len(), "particles of the ellipsis");
        } else {
            let cased = split_case(tagged.word(last)).1 != super::suffix::Case::Nominative
                || matches!(tagged.word(last), "için" | "ile" | "hakkında");
            match self.options.connector {
                Connector::Policy if !cased || tagged.word(last) == "için" => {
                    named = topic.without_relational_head();
                    edits.drop(start..follow_up.at(rest), "the marker of an ellipsis");
                    self.lower_rest(follow_up, rest, &mut edits);
                    let with = if tagged.word(last) == "için" { "" } else { " için" };
                    edits.replace(
                        rest_end..follow_up.text.len(),
                        format!("{with} {named} politikası"),
                        topic.turn,
                        why,
                    );
                }
                _ => {
                    named = topic.text.clone();
                    edits.replace(start..follow_up.at(rest), format!("{named} "), topic.turn, why);
                    self.lower_rest(follow_up, rest, &mut edits);
                    edits.drop(rest_end..follow_up.text.len(), "particles of the ellipsis");
                }
            }
        }
        Draft {
            rule: Rule::Ellipsis,
            note: format!("spliced topic '{named}' from history"),
            topic: Some(named),
            steps: edits.into_steps(),
            confidence: confidence(score),
        }
    }

    fn lower_rest(&self, follow_up: &FollowUp<'_>, rest: usize, edits: &mut Edits) {
        let token = &follow_up.tagged.tokens[rest];
        let name = token.marked() || token.text.contains(['\'', '’']) || self.topics.is_name(token.text);
        let first = rest == 0 || !follow_up.tagged.tokens[rest - 1].word;
        let next_is_name = follow_up.tagged.tokens.get(rest + 1).is_some_and(crate::token::Token::capitalised);
        if first && token.capitalised() && !name && !next_is_name && super::words::classes(&token.lower) != 0 {
            edits.lower(token.start..token.end, &decapitalise(token.text, Language::Turkish));
        }
    }

    /// The phrase of the last question beside which X stands: names in the same case, the same head, or people.
    fn parallel(&self, follow_up: &FollowUp<'_>, rest: usize, end: usize, frame: &Frame<'_>) -> Option<Phrase> {
        let tagged = &follow_up.tagged;
        // "Ermenistan için" stands beside "Gürcistan için".
        if matches!(tagged.word(end - 1), "için" | "hakkında" | "ile" | "kadar") {
            let at = (frame.start + 1..frame.end).find(|&i| frame.turn.word(i) == tagged.word(end - 1))?;
            return frame.phrases().find(|p| p.end == at).map(|p| Phrase { end: at + 1, ..p });
        }
        let plural = |word: &str| word.ends_with("lar") || word.ends_with("ler");
        let (head, case) = split_case(tagged.word(end - 1));
        let name = entity_token(&tagged.tokens, end - 1)
            || (tagged.tokens[rest].capitalised() && (follow_up.led && rest > 0))
            || (tagged.tokens[rest].capitalised() && end - rest == 1 && super::words::classes(tagged.word(rest)) == 0);
        frame
            .phrases()
            .filter(|p| p.start == 0 || !matches!(frame.turn.word(p.start - 1), "kaç" | "hangi"))
            .map(|p| {
                let turn = frame.turn;
                let (frame_head, frame_case) = split_case(turn.word(p.end - 1));
                let frame_name = (p.start..p.end).any(|i| entity_token(&turn.tokens, i));
                let frame_name_first = frame_name
                    || (turn.tokens[p.start].capitalised()
                        && p.end - p.start == 1
                        && super::words::classes(turn.word(p.start)) == 0);
                let same_head = frame_head == head && (p.end - p.start) + (end - rest) > 2;
                let people = tagged.classes[end - 1] & ANIMATE != 0 && turn.classes[p.end - 1] & ANIMATE != 0;
                let same_case = case == frame_case;
                let score = if same_head && same_case {
                    6
                } else if name && frame_name && same_case {
                    5
                } else if case != super::suffix::Case::Nominative && same_case {
                    4
                } else if people && same_case {
                    3
                } else if name && frame_name_first && same_case {
                    2
                } else {
                    i32::from(
                        self.options.connector == Connector::Plain
                            && same_case
                            && ((p.end - p.start == 1 && end - rest == 1 && plural(&head) == plural(&frame_head))
                                || (plural(&head) && plural(&frame_head)))
                            && super::topics::head_classes_of(&frame_head) & RELATIONAL == 0,
                    )
                };
                (score, p)
            })
            .filter(|(score, _)| *score > 0)
            .max_by_key(|(score, _)| *score)
            .map(|(_, p)| p)
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

    /// "Neden?", "Nerede?", "Neden sadece cuma?"
    fn bare_question(&self, follow_up: &FollowUp<'_>, end: usize) -> Draft {
        let core = follow_up.core;
        let text = follow_up.text;
        let start = text.len() - text.trim_start().len();
        let words = &text[follow_up.at(core)..follow_up.tagged.tokens[end - 1].end];
        let lowered = decapitalise(words, Language::Turkish);
        let rest = end < follow_up.end;
        let frame = self.frame().filter(|f| (f.start..f.end).any(|i| f.turn.tags[i] == Tag::Verb));
        let Some(frame) = frame else {
            let Some((topic, score)) = self.standing_topic() else { return Draft::no_topic() };
            let mut edits = Edits::default();
            let why = "what the conversation is about";
            edits.replace(
                start..follow_up.tagged.tokens[end - 1].end,
                format!("{} {lowered}", topic.text),
                topic.turn,
                why,
            );
            return Draft {
                rule: Rule::Ellipsis,
                note: format!("spliced topic '{}' from history", topic.text),
                topic: Some(topic.text.clone()),
                steps: edits.into_steps(),
                confidence: confidence(score),
            };
        };
        let turn = frame.turn;
        let why = "the clause of the last question";
        let mut edits = Edits::default();
        let question = (frame.start..frame.end).find(|&i| turn.tags[i] == Tag::Question);
        if let (Some(question), false) = (question, rest) {
            let double = turn.word(question) == "ne"
                && matches!(turn.word(question + 1), "zaman" | "kadar" | "sıklıkla" | "için");
            let determines = matches!(turn.word(question), "hangi" | "kaç");
            if !determines {
                let after = frame.byte((question + 1 + usize::from(double)).min(frame.end - 1));
                let before = self.lowered_frame(&frame, frame.byte(frame.start), frame.byte(question));
                edits.replace(start..follow_up.at(core), before, frame.seen.turn, why);
                if follow_up.at(core) < follow_up.tagged.tokens[core].end {
                    let token = &follow_up.tagged.tokens[core];
                    edits.lower(token.start..token.end, &decapitalise(token.text, Language::Turkish));
                }
                let kept = frame.slice(after, frame.end_byte());
                edits.replace(
                    follow_up.tagged.tokens[end - 1].end..text.len(),
                    format!(" {kept}"),
                    frame.seen.turn,
                    why,
                );
                return self.framed(&frame, words, edits, 0.75);
            }
        }
        // A yes-no question: its particle goes, and the question word stands before the verb.
        let verb = frame.end.checked_sub(2).filter(|&v| v > frame.start && turn.tags[v] == Tag::Verb);
        if let Some(verb) = verb
            && !rest
            && question.is_none()
            && matches!(turn.word(frame.end - 1), "mi" | "mı" | "mu" | "mü")
        {
            let before = self.lowered_frame(&frame, frame.byte(frame.start), frame.byte(verb));
            edits.replace(start..follow_up.at(core), before, frame.seen.turn, why);
            let token = &follow_up.tagged.tokens[core];
            edits.lower(token.start..token.end, &decapitalise(token.text, Language::Turkish));
            let kept = frame.slice(frame.byte(verb), turn.tokens[verb].end);
            edits.replace(follow_up.tagged.tokens[end - 1].end..text.len(), format!(" {kept}"), frame.seen.turn, why);
            return self.framed(&frame, words, edits, 0.7);
        }
        let whole = self.lowered_frame(&frame, frame.byte(frame.start), frame.end_byte());
        edits.replace(start..follow_up.at(core), format!("{whole} "), frame.seen.turn, why);
        let token = &follow_up.tagged.tokens[core];
        edits.lower(token.start..token.end, &decapitalise(token.text, Language::Turkish));
        self.framed(&frame, words, edits, 0.65)
    }

    fn lowered_frame(&self, frame: &Frame<'_>, from: usize, to: usize) -> String {
        let text = frame.slice(from, to.max(from));
        let first = text.split_whitespace().next().unwrap_or("");
        let name = first.contains(['\'', '’'])
            || first.chars().skip(1).any(char::is_uppercase)
            || self.topics.is_name(first)
            || self.topics.candidates.iter().any(|c| c.turn == frame.seen.turn && text.starts_with(&c.text));
        if name { text.to_owned() } else { decapitalise(text, Language::Turkish) }
    }

    /// "Biraz daha anlat.": about the topic.
    fn about_topic(&self, follow_up: &FollowUp<'_>) -> Draft {
        let Some((topic, score)) = self.standing_topic() else { return Draft::no_topic() };
        let mut edits = Edits::default();
        follow_up.drop_lead(&mut edits);
        self.put_in_front(follow_up, &format!("{} hakkında", topic.text), topic, &mut edits);
        Draft {
            rule: Rule::Ellipsis,
            note: format!("spliced topic '{}' from history", topic.text),
            topic: Some(topic.text.clone()),
            steps: edits.into_steps(),
            confidence: confidence(score),
        }
    }

    /// "Başka var mı?": more of what the last question asked for.
    fn others(&self, follow_up: &FollowUp<'_>) -> Draft {
        let Some(frame) = self.frame() else { return self.about_topic(follow_up) };
        let start = follow_up.text.len() - follow_up.text.trim_start().len();
        let whole = self.lowered_frame(&frame, frame.byte(frame.start), frame.end_byte());
        let mut edits = Edits::default();
        edits.replace(
            start..follow_up.text.len(),
            format!("başka {whole}"),
            frame.seen.turn,
            "the frame of the last question",
        );
        self.framed(&frame, "başka", edits, 0.7)
    }

    /// "Hangisi daha sert?": of the two that were named.
    fn which(&self, follow_up: &FollowUp<'_>) -> Option<Draft> {
        let mut edits = Edits::default();
        follow_up.drop_lead(&mut edits);
        if let Some((turn, items)) = self.things_listed() {
            let (last, rest) = items.split_last()?;
            let named = format!("{} ve {last}", rest.join(", "));
            if contains_words(&follow_up.words().join(" "), &crate::token::lower(last, Language::Turkish)) {
                return None;
            }
            let token = &follow_up.tagged.tokens[follow_up.core];
            let put = format!("{named} arasında {}", token.lower);
            edits.replace(token.start..token.end, put, turn, "what there is to choose from");
            return Some(Draft {
                rule: Rule::Ellipsis,
                note: format!("spliced topic '{named}' from history"),
                topic: Some(named),
                steps: edits.into_steps(),
                confidence: 0.8,
            });
        }
        let (topic, score) = self.standing_topic()?;
        self.put_in_front(follow_up, &topic.text, topic, &mut edits);
        Some(Draft {
            rule: Rule::Ellipsis,
            note: format!("spliced topic '{}' from history", topic.text),
            topic: Some(topic.text.clone()),
            steps: edits.into_steps(),
            confidence: confidence(score) * 0.9,
        })
    }

    /// The newest things that were named side by side.
    fn things_listed(&self) -> Option<(usize, Vec<String>)> {
        self.topics.turns.iter().filter(|(seen, _)| seen.role != Role::Context).take(4).find_map(|(seen, turn)| {
            let mut best: Vec<Phrase> = Vec::new();
            let mut run: Vec<Phrase> = Vec::new();
            for phrase in phrases(turn) {
                let joined = run.last().is_some_and(|last| {
                    phrase.start > last.end
                        && (last.end..phrase.start).all(|i| {
                            matches!(
                                turn.word(i),
                                "ve" | "ile" | "veya" | "," | "mi" | "mı" | "mu" | "mü" | "ya" | "da"
                            )
                        })
                });
                if !joined {
                    run.clear();
                }
                run.push(phrase);
                if run.len() > best.len() {
                    best.clone_from(&run);
                }
            }
            (best.len() >= 2).then(|| (seen.turn, best.iter().map(|p| self.item(*seen, turn, *p)).collect()))
        })
    }

    fn item(&self, seen: Seen<'_>, turn: &Tagged<'_>, phrase: Phrase) -> String {
        super::topics::describe(seen, turn, phrase, &self.topics.names).map_or_else(
            || seen.text[turn.tokens[phrase.start].start..turn.tokens[phrase.end - 1].end].to_owned(),
            |c| c.text,
        )
    }

    /// "Evet, lütfen." after "… listeleyeyim mi?": the offer itself.
    pub(super) fn accept_offer(&self, follow_up: &FollowUp<'_>) -> Option<Draft> {
        let words: Vec<&str> = follow_up.tagged.tokens.iter().filter(|t| t.word).map(|t| t.lower.as_ref()).collect();
        let yes = matches!(
            words.as_slice(),
            ["evet" | "olur" | "lütfen" | "tamam"]
                | ["evet" | "olur" | "tamam", "lütfen" | "olur"]
                | ["lütfen", "evet"]
        );
        if !yes {
            return None;
        }
        let (seen, turn) = self.topics.turns.first().filter(|(seen, _)| seen.role == Role::Assistant)?;
        let end = turn.tokens.iter().rposition(|t| t.word)? + 1;
        let sentence = turn.tokens[end - 1].sentence;
        let start = turn.tokens.iter().position(|t| t.sentence == sentence)?;
        let offers = matches!(turn.word(end - 1), "mi" | "mı")
            && end >= start + 3
            && ["yim", "yım", "elim", "alım"].iter().any(|e| turn.word(end - 2).ends_with(e));
        let wishes = turn.word(end - 2) == "ister" && matches!(turn.word(end - 1), "misin" | "misiniz");
        if !(offers || wishes) {
            return None;
        }
        let last = if offers { end - 2 } else { end.checked_sub(3).filter(|l| *l >= start)? };
        let clause = decapitalise(&seen.text[turn.tokens[start].start..turn.tokens[last].end], Language::Turkish);
        let mut edits = Edits::default();
        edits.replace(0..follow_up.text.len(), clause.clone(), seen.turn, "the offer that was accepted");
        Some(Draft {
            rule: Rule::Ellipsis,
            note: format!("accepted the offer '{clause}'"),
            topic: self.topics.candidates.iter().find(|c| c.turn == seen.turn).map(|c| c.text.clone()),
            steps: edits.into_steps(),
            confidence: 0.8,
        })
    }
}
