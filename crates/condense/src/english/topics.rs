//! What an English conversation is about: noun phrases of the history, and how likely each is to be meant.

use std::collections::{HashMap, HashSet};

use super::tag::{Phrase, Tag, Tagged, entity_token, phrases, tag};
use super::words::{ADJECTIVE, ANIMATE, EMPTY_NOUN, PLACE, RELATIONAL, SMALL_TALK, TIME, classes};
use crate::token::{contains_words, lower, tokenize};
use crate::window::{Seen, Window};
use crate::{Language, Options, Role};

/// What an anaphor asks of its antecedent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// it, its, this, that.
    Thing,
    /// they, them, these, those.
    Many,
    /// he, him, his.
    Man,
    /// she, her, hers.
    Woman,
    /// there.
    Place,
    /// Whatever the conversation is about.
    Topic,
}

/// A noun phrase of the history.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent signals of one phrase, each with a weight of its own")]
pub(super) struct Candidate {
    pub(super) turn: usize,
    pub(super) role: Role,
    pub(super) age: usize,
    /// As it is named, small first letter unless it is a name, without its determiner.
    pub(super) text: String,
    /// What stands before it when it takes the place of a pronoun: `the `, `my ` or nothing.
    pub(super) determiner: &'static str,
    /// The phrase in lower case.
    pub(super) key: String,
    /// The last word of the phrase in lower case (before "of").
    pub(super) head: String,
    pub(super) plural: bool,
    pub(super) entity: bool,
    pub(super) person: bool,
    animate: bool,
    place: bool,
    pub(super) time: bool,
    pub(super) relational: bool,
    /// The first phrase of its turn.
    first: bool,
    /// The first sentence of the turn, or of an answer.
    first_sentence: bool,
    after_preposition: bool,
    /// Taken together with what follows it: "side effects of ibuprofen".
    complemented: bool,
    /// Stands behind "of", "to", "for", "on" of the phrase before it.
    inside: bool,
    introduced: bool,
    asked_who: bool,
    mentions: u32,
    wanted: bool,
}

/// The history, read.
pub(super) struct Topics<'h> {
    pub(super) candidates: Vec<Candidate>,
    /// The turns that were read, newest first, tagged.
    pub(super) turns: Vec<(Seen<'h>, Tagged<'h>)>,
    /// Words in lower case that were written with a capital inside a sentence.
    pub(super) names: HashSet<String>,
}

fn plural_word(word: &str, classes: u32) -> bool {
    if matches!(word, "people" | "men" | "women" | "children" | "mice" | "data" | "media" | "police") {
        return true;
    }
    let _ = classes;
    word.len() > 3
        && word.ends_with('s')
        && !word.ends_with("ss")
        && !word.ends_with("us")
        && !word.ends_with("is")
        && !word.ends_with("ics")
        && !matches!(word, "news" | "gas" | "lens" | "series" | "species" | "always" | "kubernetes" | "diabetes")
}

/// Words after which a name is not a person's.
const ORGANISATION: [&str; 22] = [
    "inc",
    "ltd",
    "corp",
    "gmbh",
    "university",
    "college",
    "company",
    "bank",
    "api",
    "mount",
    "lake",
    "river",
    "street",
    "party",
    "league",
    "war",
    "act",
    "city",
    "island",
    "airlines",
    "records",
    "museum",
];

const PERSON_TITLES: [&str; 10] = ["mr", "mrs", "ms", "dr", "prof", "sir", "lady", "king", "queen", "president"];

impl<'h> Topics<'h> {
    /// Reads the window. Cost is linear in what is read.
    pub(super) fn read(window: &Window<'h>, options: &Options) -> Self {
        let mut turns: Vec<(Seen<'h>, Tagged<'h>)> = Vec::with_capacity(window.seen.len());
        let mut names = HashSet::new();
        for seen in &window.seen {
            let tagged = tag(tokenize(seen.text, Language::English));
            note_names(&tagged, seen.role, &mut names);
            turns.push((*seen, tagged));
        }
        let wanted: Vec<String> =
            options.topic_words.iter().map(|w| lower(w, Language::English).into_owned()).collect();
        let mut topics = Self { candidates: Vec::new(), turns, names };
        for index in 0..topics.turns.len() {
            topics.collect(index, &wanted);
        }
        topics.count_mentions();
        topics
    }

    /// Whether a word is written as a name where a capital means something.
    pub(super) fn is_name(&self, word: &str) -> bool {
        self.names.contains(lower(word, Language::English).as_ref())
    }

    fn collect(&mut self, index: usize, wanted: &[String]) {
        let (seen, tagged) = &self.turns[index];
        let text = seen.text;
        let asked_who = self.turns.get(index + 1).is_some_and(|(_, t)| t.word(0) == "who");
        let introduced = introduces(tagged);
        let mut found = Vec::new();
        let all = phrases(tagged);
        let joins: Vec<bool> = all.windows(2).map(|pair| complement(tagged, &pair[0], &pair[1])).collect();
        for (order, phrase) in all.iter().enumerate() {
            if let Some(mut candidate) = describe(*seen, tagged, *phrase, text, &self.names) {
                if seen.role != Role::Assistant && joins.get(order) == Some(&true) {
                    let end = tagged.tokens[all[order + 1].end - 1].end;
                    let tail = &text[tagged.tokens[phrase.end - 1].end..end];
                    candidate.text.push_str(tail);
                    candidate.key.push_str(&lower(tail, Language::English));
                    candidate.complemented = true;
                    candidate.entity |=
                        (all[order + 1].start..all[order + 1].end).any(|i| entity_token(&tagged.tokens, i));
                }
                candidate.inside = order > 0 && joins[order - 1];
                candidate.first = order == 0;
                candidate.introduced = introduced && order == 0;
                candidate.asked_who = asked_who && seen.role == Role::Assistant && order == 0;
                candidate.wanted = wanted.iter().any(|w| contains_words(&candidate.key, w));
                found.push(candidate);
            }
        }
        self.candidates.append(&mut found);
    }

    fn count_mentions(&mut self) {
        let mut turns_by_key: HashMap<&str, HashSet<usize>> = HashMap::new();
        for candidate in &self.candidates {
            turns_by_key.entry(&candidate.key).or_default().insert(candidate.turn);
            if candidate.head != candidate.key {
                turns_by_key.entry(&candidate.head).or_default().insert(candidate.turn);
            }
        }
        let counts: Vec<u32> =
            self.candidates.iter().map(|c| turns_by_key.get(c.key.as_str()).map_or(1, |t| t.len() as u32)).collect();
        for (candidate, count) in self.candidates.iter_mut().zip(counts) {
            candidate.mentions = count;
        }
    }

    /// The likeliest antecedent, if one is likely enough.
    pub(super) fn best(&self, need: Need, accept: impl Fn(&Candidate) -> bool) -> Option<(&Candidate, f32)> {
        self.candidates
            .iter()
            .filter(|c| accept(c))
            .map(|c| (c, c.score(need)))
            .filter(|(_, score)| *score > THRESHOLD)
            // The first of equals is the newest.
            .fold(None, |best: Option<(&Candidate, f32)>, next| match best {
                Some(found) if found.1 >= next.1 => Some(found),
                _ => Some(next),
            })
    }
}

/// Below this a candidate is not likely enough to be put into somebody's mouth.
const THRESHOLD: f32 = 0.2;

impl Candidate {
    /// How likely it is meant. The signals and the order of their weights come from a regression on English
    /// conversations; agreement is a preference, not a filter, because surface rules misjudge number and animacy.
    fn score(&self, need: Need) -> f32 {
        let mut score = match self.role {
            Role::User => 1.3,
            Role::Context => 1.6,
            Role::Assistant if self.age == 0 => 0.55,
            Role::Assistant => 0.2,
        };
        score -= 0.45 * (self.age.min(6) as f32);
        score += 0.3 * (self.mentions.min(4) as f32 - 1.0);
        score += if self.first { 0.35 } else { 0.0 };
        score += if self.first_sentence { 0.2 } else { -0.15 };
        score += if self.entity { 0.6 } else { 0.0 };
        score += if self.introduced { 0.5 } else { 0.0 };
        score += if self.wanted { 2.0 } else { 0.0 };
        score -= if self.after_preposition { 0.35 } else { 0.0 };
        score -= match (self.relational, self.complemented, need) {
            (false, ..) => 0.0,
            // "the side effects of ibuprofen" can last, but they are not what the conversation is about.
            (true, true, Need::Thing | Need::Many) => 0.0,
            (true, ..) => 1.1,
        };
        score -= if self.inside && need != Need::Topic { 0.6 } else { 0.0 };
        score -= if self.time { 1.6 } else { 0.0 };
        score + self.agreement(need)
    }

    fn agreement(&self, need: Need) -> f32 {
        let person = self.person || (self.animate && !self.plural);
        match need {
            Need::Topic => 0.0,
            // The answer to "who …?" is a person.
            Need::Thing if self.asked_who => -1.5,
            Need::Thing if self.plural => -0.9,
            Need::Thing if person => -0.9,
            Need::Thing => 0.4,
            Need::Many if self.plural => 1.2,
            Need::Many if self.entity => 0.0,
            Need::Many => -0.4,
            Need::Man | Need::Woman if self.asked_who && self.entity => 2.0,
            Need::Man | Need::Woman if self.person => 1.4 + self.gender(need),
            Need::Man | Need::Woman if self.animate && !self.plural => 0.9 + self.gender(need),
            Need::Man | Need::Woman if self.entity && !self.place => 0.0,
            Need::Man | Need::Woman => -2.2,
            Need::Place if self.place => 1.5,
            Need::Place if self.entity && !self.person => 1.0,
            Need::Place => -1.6,
        }
    }

    fn gender(&self, need: Need) -> f32 {
        const WOMEN: [&str; 16] = [
            "woman",
            "girl",
            "daughter",
            "mother",
            "mum",
            "mom",
            "sister",
            "wife",
            "aunt",
            "grandmother",
            "granddaughter",
            "niece",
            "queen",
            "princess",
            "actress",
            "lady",
        ];
        const MEN: [&str; 15] = [
            "man",
            "boy",
            "son",
            "father",
            "dad",
            "brother",
            "husband",
            "uncle",
            "grandfather",
            "grandson",
            "nephew",
            "king",
            "prince",
            "guy",
            "gentleman",
        ];
        let (right, wrong) = if need == Need::Man { (&MEN[..], &WOMEN[..]) } else { (&WOMEN[..], &MEN[..]) };
        let head = self.head.as_str();
        if right.contains(&head) {
            0.6
        } else if wrong.contains(&head) {
            -2.5
        } else {
            0.0
        }
    }

    /// The phrase as it takes the place of a pronoun.
    pub(super) fn in_place(&self) -> String {
        format!("{}{}", self.determiner, self.text)
    }

    /// The possessive: "the pipeline's", "the kittens'".
    pub(super) fn possessive(&self) -> String {
        let ending = if self.plural && self.text.ends_with('s') { "'" } else { "'s" };
        format!("{}{ending}", self.in_place())
    }
}

/// Whether a phrase belongs to the one before it: any phrase behind "of", a name behind "to", "for", "on".
fn complement(tagged: &Tagged<'_>, phrase: &Phrase, next: &Phrase) -> bool {
    let start = next.determiner.unwrap_or(next.start);
    if start != phrase.end + 1 || tagged.tokens[phrase.start].sentence != tagged.tokens[next.start].sentence {
        return false;
    }
    let pointing =
        next.determiner.is_some_and(|d| matches!(tagged.tags[d], Tag::Demonstrative | Tag::PossessiveAnaphor));
    let name = (next.start..next.end).any(|i| entity_token(&tagged.tokens, i));
    let time = tagged.classes[next.end - 1] & TIME != 0;
    match tagged.word(phrase.end) {
        "of" => !pointing && !time,
        "to" | "for" | "on" => name && !time,
        _ => false,
    }
}

fn note_names(tagged: &Tagged<'_>, role: Role, names: &mut HashSet<String>) {
    for index in 0..tagged.tokens.len() {
        let title = role == Role::Context && tagged.tokens[index].capitalised();
        // The first word of a text is a name when a name goes on after it: "Marta Oliveira runs it".
        let begins_name = tagged.tokens[index].capitalised()
            && index + 1 < tagged.tokens.len()
            && entity_token(&tagged.tokens, index + 1)
            && tagged.tag(index + 1) == Some(Tag::Noun)
            && classes(&tagged.tokens[index].lower) == 0;
        if (begins_name || entity_token(&tagged.tokens, index) || title) && tagged.tag(index) == Some(Tag::Noun) {
            names.insert(tagged.tokens[index].lower.clone().into_owned());
        }
    }
}

/// Whether a turn brings its first phrase up as the thing to talk about: "What is a heat pump?", "Tell me about basalt."
fn introduces(tagged: &Tagged<'_>) -> bool {
    let words = [tagged.word(0), tagged.word(1), tagged.word(2)];
    matches!(words, ["what" | "who", "is" | "are" | "was" | "were" | "'s", _] | ["tell", "me", "about"])
}

fn describe(
    seen: Seen<'_>,
    tagged: &Tagged<'_>,
    phrase: Phrase,
    text: &str,
    names: &HashSet<String>,
) -> Option<Candidate> {
    let tokens = &tagged.tokens;
    let mut start = phrase.start;
    // "main types", "second laptop": an ordinal or a bare adjective of rank does not belong to the topic's name.
    while start + 1 < phrase.end
        && matches!(
            tokens[start].lower.as_ref(),
            "main" | "first" | "second" | "third" | "last" | "next" | "same" | "best"
        )
        && !entity_token(tokens, start)
    {
        start += 1;
    }
    let head_token = &tokens[phrase.end - 1];
    let head_classes = tagged.classes[phrase.end - 1];
    let content = phrase.end - start;
    if !head_token.lower.chars().any(char::is_alphabetic) && content == 1 {
        return None;
    }
    if head_classes & EMPTY_NOUN != 0 && head_classes & TIME == 0 && content == 1 {
        return None;
    }
    if head_token.lower.chars().count() < 2 && content == 1 {
        return None;
    }
    if (start..phrase.end).all(|i| tagged.classes[i] & SMALL_TALK != 0) {
        return None;
    }
    if content > 6 || phrase.determiner.is_some_and(|d| tagged.tags[d] == Tag::Demonstrative) {
        return None;
    }
    let entity = (start..phrase.end).any(|i| entity_token(tokens, i) || names.contains(tokens[i].lower.as_ref()));
    let all_names = (start..phrase.end).all(|i| {
        tokens[i].capitalised() || tagged.tags[i] == Tag::Genitive || names.contains(tokens[i].lower.as_ref())
    });
    let raw = &text[tokens[start].start..tokens[phrase.end - 1].end];
    let first = &tokens[start];
    let keeps_capital = first.marked()
        || entity_token(tokens, start)
        || names.contains(first.lower.as_ref())
        || (all_names && content > 1 && first.capitalised());
    let display = if keeps_capital { raw.to_owned() } else { crate::token::decapitalise(raw, Language::English) };
    let name_words = (start..phrase.end).filter(|&i| tokens[i].capitalised()).count();
    let organisation = (start..phrase.end).any(|i| ORGANISATION.contains(&tokens[i].lower.as_ref()));
    let place = head_classes & PLACE != 0
        || (start..phrase.end)
            .any(|i| matches!(tokens[i].lower.as_ref(), "mount" | "lake" | "river" | "street" | "city" | "island"));
    let titled = start > 0 && PERSON_TITLES.contains(&tokens[start].lower.as_ref());
    let digits = raw.chars().any(char::is_numeric);
    let letters_only = (start..phrase.end).all(|i| !tokens[i].marked() || tokens[i].text.contains('.'));
    let person = titled
        || (all_names
            && (2..=3).contains(&name_words)
            && content == name_words
            && !organisation
            && !place
            && !digits
            && letters_only);
    let determiner = match phrase.determiner.map(|d| (tagged.tags[d], tagged.word(d))) {
        Some((Tag::Possessive, "my")) => "my ",
        Some((Tag::Possessive, "our")) => "our ",
        Some((Tag::Possessive, "your")) => "your ",
        Some((Tag::Article | Tag::Possessive | Tag::PossessiveAnaphor, _)) => "the ",
        _ => "",
    };
    let plural = plural_word(&head_token.lower, head_classes) && !(entity && content > 1 && all_names);
    let relational_only = (start..phrase.end)
        .all(|i| tagged.classes[i] & (RELATIONAL | ADJECTIVE | EMPTY_NOUN) != 0 && !entity_token(tokens, i));
    let first_sentence = head_token.sentence == 0;
    let after = if phrase.determiner.is_some() { phrase.start.checked_sub(2) } else { phrase.start.checked_sub(1) };
    let after_preposition = after.is_some_and(|i| matches!(tagged.tags[i], Tag::Preposition))
        && !after.is_some_and(|i| tokens[i].lower == "about" || tokens[i].lower == "of");
    Some(Candidate {
        turn: seen.turn,
        role: seen.role,
        age: seen.age,
        key: lower(raw, Language::English).into_owned(),
        head: head_token.lower.clone().into_owned(),
        text: display,
        determiner,
        plural,
        entity,
        person,
        animate: head_classes & ANIMATE != 0,
        place,
        time: head_classes & TIME != 0,
        relational: relational_only,
        first: false,
        first_sentence,
        after_preposition,
        complemented: false,
        inside: false,
        introduced: false,
        asked_who: false,
        mentions: 1,
        wanted: false,
    })
}

/// The newest user turn behind the window that names a word, and the phrase that it heads: the running topic list.
pub(super) fn named_again(window: &Window<'_>, head: &str) -> Option<Candidate> {
    for seen in window.older() {
        // Looking for the bytes first keeps a long history cheap.
        if !lower(seen.text, Language::English).contains(head) {
            continue;
        }
        let tagged = tag(tokenize(seen.text, Language::English));
        let mut names = HashSet::new();
        note_names(&tagged, seen.role, &mut names);
        for phrase in phrases(&tagged) {
            if tagged.word(phrase.end - 1) == head
                && let Some(candidate) = describe(seen, &tagged, phrase, seen.text, &names)
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
        let tagged = tag(tokenize(seen.text, Language::English));
        let mut names = HashSet::new();
        note_names(&tagged, seen.role, &mut names);
        phrases(&tagged)
            .into_iter()
            .filter_map(|phrase| describe(seen, &tagged, phrase, seen.text, &names))
            .find(|candidate| !candidate.relational && !candidate.time)
    })
}

/// Whether a word is one of the vocabulary's relational nouns.
pub(super) fn relational(word: &str) -> bool {
    classes(word) & RELATIONAL != 0
}
