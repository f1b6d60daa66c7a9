//! What a Turkish conversation is about.

use std::collections::{HashMap, HashSet};

use super::suffix::{
    Case, ends_in_vowel, inflect, possessed, split_case, without_our, without_plural, without_possessive,
};
use super::tag::{Phrase, Tag, Tagged, entity_token, phrases, tag};
use super::words::{ADJECTIVE, ANIMATE, EMPTY_NOUN, PLACE, RELATIONAL, SMALL_TALK, TIME};
use crate::token::{contains_words, decapitalise, lower, tokenize};
use crate::window::{Seen, Window};
use crate::{Language, Options, Role};

/// What a pointing word, or a dropped subject, asks of its antecedent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// o, bu, şu: one thing or person.
    One,
    /// onlar, bunlar, a verb in -lar.
    Many,
    /// orada.
    Place,
    /// A dropped subject or object, or an ellipsis: whatever the conversation is about.
    Topic,
}

#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent signals of one phrase, each with a weight of its own")]
pub(super) struct Candidate {
    pub(super) turn: usize,
    pub(super) role: Role,
    pub(super) age: usize,
    /// In the nominative; small first letter unless it is a name.
    pub(super) text: String,
    /// The same in lower case.
    pub(super) key: String,
    /// The last word in lower case.
    pub(super) head: String,
    /// A name closes the phrase, so that suffixes take an apostrophe.
    pub(super) name: bool,
    pub(super) entity: bool,
    pub(super) compound: bool,
    pub(super) plural: bool,
    person: bool,
    place: bool,
    pub(super) time: bool,
    pub(super) relational: bool,
    first: bool,
    object: bool,
    /// In the locative, in a question: where it happens, not what happens.
    place_of_event: bool,
    relational_head: bool,
    answers_who: bool,
    mentions: u32,
    wanted: bool,
}

pub(super) struct Topics<'h> {
    pub(super) candidates: Vec<Candidate>,
    pub(super) turns: Vec<(Seen<'h>, Tagged<'h>)>,
    pub(super) names: HashSet<String>,
}

const THRESHOLD: f32 = 0.0;

impl<'h> Topics<'h> {
    pub(super) fn read(window: &Window<'h>, options: &Options) -> Self {
        let mut turns: Vec<(Seen<'h>, Tagged<'h>)> = Vec::with_capacity(window.seen.len());
        let mut names = HashSet::new();
        for seen in &window.seen {
            let tagged = tag(tokenize(seen.text, Language::Turkish));
            note_names(&tagged, &mut names);
            turns.push((*seen, tagged));
        }
        let wanted: Vec<String> =
            options.topic_words.iter().map(|w| lower(w, Language::Turkish).into_owned()).collect();
        let mut candidates: Vec<Candidate> = Vec::new();
        for (index, (seen, tagged)) in turns.iter().enumerate() {
            let asked_who = seen.role == Role::Assistant
                && turns.get(index + 1).is_some_and(|(_, t)| {
                    t.tokens.iter().any(|w| matches!(w.lower.as_ref(), "kim" | "kimdir" | "kimi" | "kime"))
                });
            for (order, phrase) in phrases(tagged).iter().enumerate() {
                if let Some(mut candidate) = describe(*seen, tagged, *phrase, &names) {
                    candidate.first = order == 0;
                    candidate.answers_who = asked_who && order == 0 && candidate.entity;
                    candidate.wanted = wanted.iter().any(|w| contains_words(&candidate.key, w));
                    candidates.push(candidate);
                }
            }
        }
        let mut mentions: HashMap<String, (u32, usize)> = HashMap::new();
        for candidate in &candidates {
            let (count, last) = mentions.entry(candidate.key.clone()).or_insert((0, usize::MAX));
            // Candidates come turn by turn, so a new turn is a new mention.
            *count += u32::from(*last != candidate.turn);
            *last = candidate.turn;
        }
        for candidate in &mut candidates {
            candidate.mentions = mentions.get(&candidate.key).map_or(1, |(count, _)| *count);
        }
        Self { candidates, turns, names }
    }

    pub(super) fn is_name(&self, word: &str) -> bool {
        self.names.contains(lower(word, Language::Turkish).as_ref())
    }

    pub(super) fn best(&self, need: Need, accept: impl Fn(&Candidate) -> bool) -> Option<(&Candidate, f32)> {
        self.candidates
            .iter()
            .filter(|c| accept(c))
            .map(|c| (c, c.score(need)))
            .filter(|(_, score)| *score > THRESHOLD)
            .fold(None, |best: Option<(&Candidate, f32)>, next| match best {
                Some(found) if found.1 >= next.1 => Some(found),
                _ => Some(next),
            })
    }
}

impl Candidate {
    fn score(&self, need: Need) -> f32 {
        let mut score = match self.role {
            Role::User => 1.3,
            Role::Context => 1.5,
            Role::Assistant if self.age == 0 => 0.6,
            Role::Assistant => 0.2,
        };
        score -= 0.45 * (self.age.min(6) as f32);
        score += 0.25 * (self.mentions.min(4) as f32 - 1.0);
        score += if self.first { 0.4 } else { 0.0 };
        score += if self.entity { 0.5 } else { 0.0 };
        score += if self.answers_who { 1.8 } else { 0.0 };
        score += if self.wanted { 2.0 } else { 0.0 };
        score -= if self.object { 0.2 } else { 0.0 };
        score -= if self.place_of_event { 0.95 } else { 0.0 };
        score -= if self.relational_head { 0.2 } else { 0.0 };
        score += if self.role == Role::Assistant && self.age == 0 && self.first && !self.relational_head {
            0.3
        } else {
            0.0
        };
        score -= if self.relational { 1.1 } else { 0.0 };
        score -= if self.time { 1.6 } else { 0.0 };
        score
            + match need {
                Need::Topic => 0.0,
                Need::One if self.plural => -1.3,
                // A name in the last answer is what was asked for, and the next question is about it.
                Need::One if self.role == Role::Assistant && self.age == 0 && self.name && self.first => 1.3,
                Need::One => 0.3,
                Need::Many if self.plural => 1.2,
                Need::Many => -0.3,
                Need::Place if self.place => 1.6,
                Need::Place if self.name && !self.person => 0.6,
                Need::Place => -1.6,
            }
    }

    /// The phrase in a case.
    pub(super) fn inflected(&self, case: Case) -> String {
        inflect(&self.text, case, self.name, self.compound)
    }

    /// "migrenin" of "migrenin belirtileri": whose symptoms, or causes, or anything else of its kind.
    pub(super) fn possessor(&self) -> Option<&str> {
        let (before, _) = self.text.rsplit_once(' ')?;
        (self.relational_head && split_case(before.rsplit(' ').next()?).1 == Case::Genitive).then_some(before)
    }

    /// The phrase as a compound with "politikası": without a relational head.
    pub(super) fn without_relational_head(&self) -> String {
        match self.text.rsplit_once(' ') {
            Some((modifier, head)) if super::words::classes(&lower(head, Language::Turkish)) & RELATIONAL != 0 => {
                modifier.to_owned()
            }
            _ => self.text.clone(),
        }
    }
}

fn note_names(tagged: &Tagged<'_>, names: &mut HashSet<String>) {
    for index in 0..tagged.tokens.len() {
        // The first word of a text is a name when a name goes on after it: "Tomas Lind hangi kitabı yazdı?".
        let begins_name = tagged.tokens[index].capitalised()
            && index + 1 < tagged.tokens.len()
            && entity_token(&tagged.tokens, index + 1)
            && tagged.tags[index + 1] == Tag::Noun
            && tagged.tokens[index + 1].capitalised()
            && super::words::classes(&tagged.tokens[index].lower) == 0;
        if (begins_name || entity_token(&tagged.tokens, index)) && tagged.tags[index] == Tag::Noun {
            names.insert(stem_of_name(&tagged.tokens[index].lower).to_owned());
        }
    }
}

fn stem_of_name(word: &str) -> &str {
    word.split(['\'', '’']).next().unwrap_or(word)
}

pub(super) fn describe(
    seen: Seen<'_>,
    tagged: &Tagged<'_>,
    phrase: Phrase,
    names: &HashSet<String>,
) -> Option<Candidate> {
    let tokens = &tagged.tokens;
    let last = phrase.end - 1;
    let content = phrase.end - phrase.start;
    if content > 6 || !tokens[last].lower.chars().any(char::is_alphabetic) {
        return None;
    }
    let head_classes = tagged.classes[last];
    if head_classes & (EMPTY_NOUN | SMALL_TALK) != 0 && content == 1 {
        return None;
    }
    if phrase.start > 0 && tagged.tags[phrase.start - 1] == Tag::Demonstrative {
        return None;
    }
    let (cased, case) = match split_case(&tokens[last].lower) {
        // A genitive without its noun is none: "insülin" is not "insül" + "in".
        (_, Case::Genitive) if !tokens[last].text.contains(['\'', '’']) => {
            (tokens[last].lower.to_string(), Case::Nominative)
        }
        split => split,
    };
    let ours = without_our(&cased);
    let mut head = ours.clone().unwrap_or(cased);
    if ours.is_some() && content > 1 && head_classes_of(&head) & RELATIONAL != 0 {
        head = possessed(&head);
    }
    // An accusative in a bare vowel, told from a possessive by the verb: "siparişi nasıl iptal ederim".
    if content == 1
        && case == Case::Nominative
        && first_person_verb(tagged)
        && let Some(stem) = bare_accusative(&head)
    {
        head = stem;
    }
    let name_token = |i: usize| entity_token(tokens, i) || names.contains(stem_of_name(&tokens[i].lower));
    let entity = (phrase.start..phrase.end).any(name_token);
    let name = name_token(last) && tokens[last].capitalised();
    let before_last = &seen.text[tokens[phrase.start].start..tokens[last].start];
    // The head keeps the letters of the text as far as they go.
    let written = tokens[last].text;
    let head_written = keep_capitals(written, &head);
    let raw = format!("{before_last}{head_written}");
    let all_names = content > 1 && (phrase.start..phrase.end).all(|i| tokens[i].capitalised());
    let keeps_capital = name_token(phrase.start) || all_names || tokens[phrase.start].marked();
    let text = if keeps_capital { raw } else { decapitalise(&raw, Language::Turkish) };
    let key = lower(&text, Language::Turkish).into_owned();
    let plural = ["lar", "ler", "ları", "leri"]
        .iter()
        .any(|e| head.ends_with(e) && head.chars().count() > e.chars().count() + 1);
    let base = without_possessive(&head);
    let compound = content > 1
        && ends_in_vowel(&head)
        && head.chars().next_back().is_some_and(|c| matches!(c, 'ı' | 'i' | 'u' | 'ü'))
        && base.is_some()
        && !matches!(
            head.as_str(),
            "kedi"
                | "gezi"
                | "vergi"
                | "sergi"
                | "bilgi"
                | "kapı"
                | "sayı"
                | "yazı"
                | "su"
                | "sunucu"
                | "kuru"
                | "banyo"
        );
    let relational = (phrase.start..phrase.end).all(|i| {
        (tagged.classes[i] & (RELATIONAL | ADJECTIVE | EMPTY_NOUN) != 0
            || i == last && head_classes_of(&head) & RELATIONAL != 0)
            && !name_token(i)
    });
    let words = phrase.end - phrase.start;
    let capitals = (phrase.start..phrase.end).filter(|&i| tokens[i].capitalised()).count();
    Some(Candidate {
        turn: seen.turn,
        role: seen.role,
        age: seen.age,
        key,
        text,
        name,
        entity,
        compound,
        plural,
        person: name && words == capitals && (2..=3).contains(&words) && !compound || head_classes & ANIMATE != 0,
        place: head_classes & PLACE != 0 || head_classes_of(&head) & PLACE != 0 || (name && case == Case::Locative),
        time: head_classes & TIME != 0 || head_classes_of(&head) & TIME != 0,
        relational,
        first: false,
        object: matches!(case, Case::Accusative | Case::Dative | Case::Ablative | Case::Instrumental),
        place_of_event: seen.role == Role::User && matches!(case, Case::Locative | Case::Ablative),
        relational_head: head_classes_of(&head) & RELATIONAL != 0,
        answers_who: false,
        mentions: 1,
        wanted: false,
        head,
    })
}

pub(super) fn head_classes_of(word: &str) -> u32 {
    super::words::classes(word) | super::words::classes(without_plural(word))
}

/// The stem in the writing of the text: `Deposunu` + `deposu` -> `Deposu`. Where the two part (`köpeği`, `köpek`) the
/// stem's own letters follow.
fn keep_capitals(written: &str, stem: &str) -> String {
    let mut out = String::with_capacity(stem.len());
    let mut letters = written.chars();
    let mut together = true;
    for c in stem.chars() {
        let other = letters.next();
        let same = other.is_some_and(|o| lower(o.encode_utf8(&mut [0; 4]), Language::Turkish).chars().eq([c]));
        together &= same;
        out.push(if together { other.unwrap_or(c) } else { c });
    }
    out
}

/// A verb in the first person ("ederim", "alabilir miyim"): its nouns in ı/i are objects.
pub(super) fn first_person_verb(tagged: &Tagged<'_>) -> bool {
    tagged.tokens.iter().zip(&tagged.tags).any(|(token, tag)| {
        let word = token.lower.as_ref();
        (*tag == Tag::Verb
            && ["ım", "im", "um", "üm", "ız", "iz", "uz", "üz"].iter().any(|e| word.ends_with(e))
            && !word.ends_with("maz")
            && !word.ends_with("mez"))
            || matches!(word, "miyim" | "mıyım" | "muyum" | "müyüm" | "miyiz" | "mıyız" | "muyuz" | "müyüz")
    })
}

fn bare_accusative(word: &str) -> Option<String> {
    let stem = word.strip_suffix(['ı', 'i', 'u', 'ü'])?;
    if ends_in_vowel(stem) || super::suffix::vowels(stem) < 2 {
        return None;
    }
    Some(if stem.ends_with("lar") || stem.ends_with("ler") { stem.to_owned() } else { without_possessive(word)? })
}

/// The newest user turn behind the window with a phrase that a word heads: the running topic list.
pub(super) fn named_again(window: &Window<'_>, stem: &str) -> Option<Candidate> {
    for seen in window.older() {
        if !lower(seen.text, Language::Turkish).contains(stem) {
            continue;
        }
        let tagged = tag(tokenize(seen.text, Language::Turkish));
        let mut names = HashSet::new();
        note_names(&tagged, &mut names);
        for phrase in phrases(&tagged) {
            if let Some(candidate) = describe(seen, &tagged, phrase, &names)
                && same_noun(&candidate.head, stem)
            {
                return Some(candidate);
            }
        }
    }
    None
}

/// The newest topic behind the window.
pub(super) fn older_topic(window: &Window<'_>) -> Option<Candidate> {
    window.older().take(64).find_map(|seen| {
        let tagged = tag(tokenize(seen.text, Language::Turkish));
        let mut names = HashSet::new();
        note_names(&tagged, &mut names);
        phrases(&tagged)
            .into_iter()
            .filter_map(|phrase| describe(seen, &tagged, phrase, &names))
            .find(|candidate| !candidate.relational && !candidate.time)
    })
}

/// Whether two words are forms of one noun, as far as plural and possessive go.
pub(super) fn same_noun(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let forms = |word: &str| {
        let mut forms = vec![word.to_owned(), without_plural(word).to_owned()];
        if let Some(stem) = without_possessive(word) {
            forms.push(without_plural(&stem).to_owned());
            forms.push(stem);
        }
        forms
    };
    let others = forms(other);
    forms(one).iter().any(|f| others.contains(f))
}

/// A phrase that only says where or when: TIME words.
pub(super) fn only_time(tagged: &Tagged<'_>, phrase: &Phrase) -> bool {
    (phrase.start..phrase.end).all(|i| tagged.classes[i] & (TIME | ADJECTIVE) != 0)
}
