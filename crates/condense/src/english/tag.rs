//! What each word of an English text does, and the noun phrases it holds. Surface rules, no tagger model.

use super::words::{
    self, ADJECTIVE, ADVERB, ARTICLE, AUXILIARY, BE, CONJUNCTION, NOUN_OR_VERB, POSSESSIVE, PREPOSITION, PRONOUN,
    QUANTIFIER, QUESTION, RELATIONAL, SPEECH_VERB, TIME, VERB, VERB_FORM,
};
use crate::lexicon::Classes;
use crate::token::Token;

/// What a word does where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Noun,
    Adjective,
    Article,
    /// my, our, your.
    Possessive,
    /// this, that, these, those before a noun.
    Demonstrative,
    /// A pronoun that points back, whatever its form.
    Anaphor,
    /// its, his, her, their before a noun.
    PossessiveAnaphor,
    Pronoun,
    Preposition,
    Conjunction,
    Auxiliary,
    Be,
    Question,
    Adverb,
    Quantifier,
    Verb,
    /// The possessive ending.
    Genitive,
    To,
    Mark,
}

/// A tagged text.
pub(super) struct Tagged<'t> {
    pub(super) tokens: Vec<Token<'t>>,
    pub(super) classes: Vec<Classes>,
    pub(super) tags: Vec<Tag>,
}

/// A noun phrase: token indices, the determiner left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Phrase {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The article, possessive, demonstrative or quantifier before it.
    pub(super) determiner: Option<usize>,
}

impl Tagged<'_> {
    /// The word at an index in lower case, or nothing.
    pub(super) fn word(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |t| t.lower.as_ref())
    }

    /// The word before an index in lower case, or nothing.
    pub(super) fn before(&self, index: usize) -> &str {
        if index == 0 { "" } else { self.word(index - 1) }
    }

    pub(super) fn tag(&self, index: usize) -> Option<Tag> {
        self.tags.get(index).copied()
    }

    /// The tag before an index within the same sentence.
    fn tag_before(&self, index: usize) -> Option<Tag> {
        (index > 0 && self.tokens[index - 1].sentence == self.tokens[index].sentence).then(|| self.tags[index - 1])
    }

    /// Whether the text has words that do something: a verb or auxiliary.
    pub(super) fn has_verb(&self) -> bool {
        self.tags.iter().any(|t| matches!(t, Tag::Verb | Tag::Auxiliary | Tag::Be))
    }
}

fn nominal(classes: Classes) -> bool {
    classes & (words::FUNCTION | VERB | VERB_FORM) == 0 || classes & NOUN_OR_VERB != 0
}

/// Whether a name or code stands at this token: a capital inside a sentence, or a form like `E42`.
pub(super) fn entity_token(tokens: &[Token<'_>], index: usize) -> bool {
    let token = &tokens[index];
    if !token.word {
        return false;
    }
    if token.marked() {
        return true;
    }
    let first_of_sentence = index == 0
        || tokens[index - 1].sentence != token.sentence
        || (!tokens[index - 1].word && matches!(tokens[index - 1].text, "\"" | ":" | "“" | "-" | "*" | "("));
    token.capitalised() && !first_of_sentence && token.lower != "i"
}

/// Tags a tokenised text. Cost is linear.
pub(super) fn tag(tokens: Vec<Token<'_>>) -> Tagged<'_> {
    let classes: Vec<Classes> = tokens.iter().map(|t| if t.word { words::classes(&t.lower) } else { 0 }).collect();
    let mut tagged = Tagged { tags: Vec::with_capacity(tokens.len()), tokens, classes };
    let mut clause = Clause::default();
    for index in 0..tagged.tokens.len() {
        let tag = decide(&tagged, index, clause);
        clause.note(&tagged, index, tag);
        tagged.tags.push(tag);
    }
    tagged
}

/// What the current clause has had so far.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent marks of one clause, all read together")]
struct Clause {
    sentence: u16,
    auxiliary: bool,
    be: bool,
    verb: bool,
    noun: bool,
    question: bool,
}

impl Clause {
    fn note(&mut self, tagged: &Tagged<'_>, index: usize, tag: Tag) {
        let sentence = tagged.tokens[index].sentence;
        if sentence != self.sentence || matches!(tag, Tag::Conjunction | Tag::Mark) {
            let question = self.question && sentence == self.sentence;
            let auxiliary = self.auxiliary && sentence == self.sentence && tagged.word(index) != "and";
            *self = Self { sentence, question, auxiliary: auxiliary && !self.verb, ..Self::default() };
        }
        match tag {
            Tag::Auxiliary => {
                self.auxiliary = true;
                self.verb = false;
                // In a question the subject is still to come: "Which vaccines do kittens need?".
                self.noun &= !self.question;
            }
            Tag::Be => self.be = true,
            Tag::Verb => self.verb = true,
            Tag::Noun | Tag::Anaphor | Tag::Pronoun => self.noun = true,
            Tag::Question => {
                self.question = true;
                self.verb = false;
            }
            _ => {}
        }
    }
}

fn decide(tagged: &Tagged<'_>, index: usize, clause: Clause) -> Tag {
    let token = &tagged.tokens[index];
    if !token.word {
        return Tag::Mark;
    }
    let word = token.lower.as_ref();
    let classes = tagged.classes[index];
    let previous = tagged.tag_before(index);
    let next_classes = tagged.classes.get(index + 1).copied().unwrap_or(0);
    let next_word = tagged.tokens.get(index + 1).is_some_and(|t| t.word && t.sentence == token.sentence);
    let noun_follows = next_word
        && nominal(next_classes)
        && (next_classes & ADJECTIVE == 0
            || next_classes & NOUN_OR_VERB != 0
            || noun_after_adjectives(tagged, index + 1))
        && !is_pointer(tagged.word(index + 1))
        && !matches!(tagged.word(index + 1), "to" | "'s" | "’s" | "there");
    match word {
        "'s" | "’s" => {
            let pronoun_before = matches!(
                previous,
                Some(Tag::Question | Tag::Anaphor | Tag::Pronoun | Tag::Adverb | Tag::Demonstrative) | None
            );
            return if pronoun_before { Tag::Be } else { Tag::Genitive };
        }
        "'re" | "’re" | "'m" | "’m" => return Tag::Be,
        "'ll" | "’ll" | "'d" | "’d" | "'ve" | "’ve" => return Tag::Auxiliary,
        "to" => return Tag::To,
        "it" | "they" | "them" | "he" | "she" | "him" | "theirs" | "hers" => return Tag::Anaphor,
        "its" | "their" | "his" => return if next_word { Tag::PossessiveAnaphor } else { Tag::Anaphor },
        "her" => return if noun_follows { Tag::PossessiveAnaphor } else { Tag::Anaphor },
        "this" | "these" | "those" => {
            return if noun_follows && !verb_use(tagged, index + 1, clause) {
                Tag::Demonstrative
            } else {
                Tag::Anaphor
            };
        }
        "that" => return decide_that(tagged, index, clause, noun_follows),
        "there" => {
            let be_near = tagged.classes.get(index + 1).is_some_and(|c| c & BE != 0)
                || matches!(tagged.word(index + 1), "'s" | "’s" | "be" | "exist" | "have" | "has" | "any" | "will")
                || (index > 0 && tagged.classes[index - 1] & BE != 0)
                || (index > 0 && tagged.classes[index - 1] & AUXILIARY != 0);
            return if be_near || previous == Some(Tag::Adverb) { Tag::Pronoun } else { Tag::Anaphor };
        }
        "one" | "ones" => {
            let pointer = match previous {
                Some(Tag::Question | Tag::Article | Tag::Adjective | Tag::Demonstrative) => true,
                Some(Tag::Quantifier) => word == "one",
                _ => word == "ones",
            };
            return if pointer && !noun_follows { Tag::Anaphor } else { Tag::Quantifier };
        }
        "like" if matches!(previous, Some(Tag::Auxiliary | Tag::Pronoun | Tag::To)) => return Tag::Verb,
        "can" | "will" | "may" | "might" | "must" if matches!(previous, Some(Tag::Article | Tag::Possessive)) => {
            return Tag::Noun;
        }
        "may" if token.capitalised() && matches!(previous, Some(Tag::Preposition)) => return Tag::Noun,
        _ => {}
    }
    // A capital inside a sentence is a name, whatever the word could otherwise be.
    if entity_token(&tagged.tokens, index) && classes & (ARTICLE | PREPOSITION | CONJUNCTION | BE | QUESTION) == 0 {
        return if classes & (PRONOUN | POSSESSIVE) != 0 { Tag::Pronoun } else { Tag::Noun };
    }
    if classes & BE != 0 {
        return Tag::Be;
    }
    if classes & AUXILIARY != 0 {
        // "Do you have a mobile app?": an auxiliary that has an object is the verb.
        let object_follows = next_word
            && (next_classes & (ARTICLE | POSSESSIVE | QUANTIFIER | ADJECTIVE) != 0
                || (noun_follows && next_classes & (VERB | VERB_FORM) == 0));
        if matches!(word, "have" | "has" | "had") && clause.noun && object_follows && previous.is_some() {
            return Tag::Verb;
        }
        return Tag::Auxiliary;
    }
    if classes & ARTICLE != 0 {
        return Tag::Article;
    }
    if classes & POSSESSIVE != 0 {
        return Tag::Possessive;
    }
    if classes & QUESTION != 0 {
        return Tag::Question;
    }
    if classes & PRONOUN != 0 {
        return Tag::Pronoun;
    }
    if classes & CONJUNCTION != 0 {
        return Tag::Conjunction;
    }
    let after_determiner = matches!(
        previous,
        Some(
            Tag::Article
                | Tag::Possessive
                | Tag::PossessiveAnaphor
                | Tag::Demonstrative
                | Tag::Genitive
                | Tag::Quantifier
                | Tag::Adjective
        )
    );
    if classes & (NOUN_OR_VERB | VERB | VERB_FORM | SPEECH_VERB) != 0 {
        if after_determiner
            && (classes & (NOUN_OR_VERB | RELATIONAL) != 0 || (word.ends_with("ing") || word.ends_with("ed")))
        {
            return if word.ends_with("ed") { Tag::Adjective } else { Tag::Noun };
        }
        if verb_use(tagged, index, clause) {
            return Tag::Verb;
        }
        if classes & NOUN_OR_VERB != 0 {
            return Tag::Noun;
        }
        // "damaged items", "broken pipes": a participle before a noun describes it.
        if participle(word) && noun_follows && !(clause.be && clause.noun) {
            return Tag::Adjective;
        }
        if word.ends_with("ing") && !clause.be {
            return Tag::Noun;
        }
        return Tag::Verb;
    }
    if classes & PREPOSITION != 0 {
        return Tag::Preposition;
    }
    if classes & QUANTIFIER != 0 {
        return Tag::Quantifier;
    }
    if classes & ADJECTIVE != 0 {
        return Tag::Adjective;
    }
    if classes & ADVERB != 0 || (word.len() > 4 && word.ends_with("ly") && !after_determiner) {
        return Tag::Adverb;
    }
    // Words that no table knows: nouns, but for what their ending and place say.
    if matches!(previous, Some(Tag::To | Tag::Auxiliary)) && classes & TIME == 0 && !after_determiner {
        let names_follow_auxiliaries = matches!(previous, Some(Tag::Auxiliary)) && !clause.noun;
        if !names_follow_auxiliaries && !token.number() && word.len() > 2 {
            return Tag::Verb;
        }
    }
    // "Does that drug thin the blood?", "How do I resize a disk?": an unknown word between a subject and an object is
    // the verb.
    let object_next = next_word
        && (next_classes & (ARTICLE | POSSESSIVE) != 0
            || is_pointer(tagged.word(index + 1))
            || matches!(tagged.word(index + 1), "its" | "their" | "his" | "her"));
    if clause.auxiliary && !clause.verb && clause.noun && !after_determiner {
        let after_subject = matches!(previous, Some(Tag::Pronoun | Tag::Anaphor));
        if after_subject || (previous == Some(Tag::Noun) && object_next) {
            return Tag::Verb;
        }
    }
    if clause.be && clause.noun && !next_word && previous == Some(Tag::Noun) && adjectival(word) {
        return Tag::Adjective;
    }
    // A question with an auxiliary has a verb, and it is the last word at the latest: "Where do sea turtles nest?".
    if clause.auxiliary && clause.noun && !clause.verb && previous == Some(Tag::Noun) && !next_word && !token.number() {
        return Tag::Verb;
    }
    if word.len() > 4 && word.ends_with("ed") && !after_determiner {
        if noun_follows && !(clause.be && clause.noun) {
            return Tag::Adjective;
        }
        return Tag::Verb;
    }
    if word.len() > 5 && word.ends_with("ing") && clause.be && clause.noun && matches!(previous, Some(Tag::Noun)) {
        return Tag::Verb;
    }
    Tag::Noun
}

/// Whether adjectives from this token on lead to a noun: "that new plan", but not "is that safe during".
fn noun_after_adjectives(tagged: &Tagged<'_>, from: usize) -> bool {
    let sentence = tagged.tokens[from].sentence;
    (from..tagged.tokens.len())
        .take_while(|&i| tagged.tokens[i].word && tagged.tokens[i].sentence == sentence)
        .find(|&i| tagged.classes[i] & ADJECTIVE == 0)
        .is_some_and(|i| nominal(tagged.classes[i]) && !matches!(tagged.word(i), "to" | "'s" | "’s"))
}

/// Endings of adjectives.
fn adjectival(word: &str) -> bool {
    word.len() > 5 && ["able", "ible", "ous", "ful", "less", "ary", "ive", "ish"].iter().any(|e| word.ends_with(e))
}

fn participle(word: &str) -> bool {
    word.ends_with("ed") || word.ends_with("en") || word.ends_with("ing") || word.ends_with("wn")
}

fn is_pointer(word: &str) -> bool {
    matches!(word, "it" | "they" | "them" | "he" | "she" | "him" | "this" | "that" | "these" | "those" | "one" | "ones")
}

/// `that`: before a noun it points, after a noun or a verb of saying it joins clauses, otherwise it is a pronoun.
fn decide_that(tagged: &Tagged<'_>, index: usize, clause: Clause, noun_follows: bool) -> Tag {
    let previous = tagged.tag_before(index);
    let next = tagged.classes.get(index + 1).copied().unwrap_or(0);
    let clause_follows = next & (ARTICLE | POSSESSIVE | PRONOUN) != 0 || is_pointer(tagged.word(index + 1));
    if clause_follows {
        return Tag::Conjunction;
    }
    match previous {
        Some(Tag::Noun) if !clause.auxiliary || clause.verb => return Tag::Conjunction,
        Some(Tag::Noun | Tag::Verb) if next & (VERB_FORM | AUXILIARY | BE) != 0 => return Tag::Conjunction,
        Some(Tag::Conjunction | Tag::Adverb | Tag::Adjective) if noun_follows && tagged.before(index) != "and" => {
            return Tag::Conjunction;
        }
        Some(Tag::Anaphor) if tagged.before(index) == "those" => return Tag::Conjunction,
        Some(Tag::Verb) if noun_follows && has_later_verb(tagged, index + 1) => return Tag::Conjunction,
        _ => {}
    }
    // "that sounds good": a singular pointer does not stand before a plural, so this is a verb.
    let word = tagged.word(index + 1);
    let disagrees = next & NOUN_OR_VERB != 0 && word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us");
    if noun_follows && !disagrees && !verb_use(tagged, index + 1, clause) { Tag::Demonstrative } else { Tag::Anaphor }
}

fn has_later_verb(tagged: &Tagged<'_>, from: usize) -> bool {
    let sentence = tagged.tokens[from].sentence;
    (from + 1..tagged.tokens.len().min(from + 8))
        .take_while(|&i| tagged.tokens[i].sentence == sentence)
        .any(|i| tagged.classes[i] & (BE | AUXILIARY | VERB_FORM) != 0)
}

/// Whether a word that can be a verb is one here.
fn verb_use(tagged: &Tagged<'_>, index: usize, clause: Clause) -> bool {
    let Some(token) = tagged.tokens.get(index) else { return false };
    let classes = tagged.classes[index];
    let word = token.lower.as_ref();
    if classes & (NOUN_OR_VERB | VERB | VERB_FORM | SPEECH_VERB) == 0 {
        return false;
    }
    let next_classes = tagged.classes.get(index + 1).copied().unwrap_or(0);
    let next = tagged.tokens.get(index + 1).filter(|t| t.word && t.sentence == token.sentence);
    let clear = classes & NOUN_OR_VERB == 0;
    let base = classes & VERB_FORM == 0 && (!word.ends_with('s') || word.ends_with("ss") || word.ends_with("us"));
    let previous = if index < tagged.tags.len() + 1 { tagged.tag_before(index) } else { Some(Tag::Noun) };
    match previous {
        Some(Tag::To) => base || clear,
        Some(
            Tag::Article
            | Tag::Possessive
            | Tag::PossessiveAnaphor
            | Tag::Demonstrative
            | Tag::Genitive
            | Tag::Adjective
            | Tag::Quantifier,
        ) if !clear => false,
        Some(Tag::Preposition) => clear && word.ends_with("ing"),
        Some(Tag::Pronoun | Tag::Anaphor) => !clause.be || clear || word.ends_with("ing") || word.ends_with("ed"),
        Some(Tag::Auxiliary) => base && clause.noun || (clear && classes & VERB != 0),
        Some(Tag::Be) => word.ends_with("ing") || word.ends_with("ed") || (clear && classes & VERB_FORM != 0),
        Some(Tag::Adverb) if clause.auxiliary && clause.noun && !clause.verb => base,
        Some(Tag::Noun) => {
            let determiner_follows = next.is_some()
                && (next_classes & (ARTICLE | POSSESSIVE | PRONOUN | PREPOSITION | ADVERB | QUANTIFIER) != 0
                    || is_pointer(tagged.word(index + 1))
                    || matches!(tagged.word(index + 1), "to" | "its" | "their" | "his" | "her"));
            if clause.auxiliary && !clause.verb {
                // "How long does the warranty on the grinder last": the last word that can be the verb is it.
                let later_verb = next.is_some() && next_classes & (VERB | NOUN_OR_VERB) != 0 && !clear;
                return base && !later_verb;
            }
            if clause.be && clause.noun && !clause.verb && clear {
                return word.ends_with("ing") || word.ends_with("ed") || classes & VERB_FORM != 0;
            }
            if !clause.verb && !clause.be && !clause.auxiliary {
                let finite = !base && !word.ends_with("ing");
                // "Which regions support GPU instances?"
                let plural_before = tagged.before(index).ends_with('s') && !tagged.before(index).ends_with("ss");
                if clause.question && base && plural_before && next.is_some() {
                    return true;
                }
                return (clear && (finite || determiner_follows))
                    || (!clear && finite && (determiner_follows || (next.is_none() && clause.question)))
                    || (!clear && base && determiner_follows && next_classes & PREPOSITION == 0 && clause.question);
            }
            false
        }
        None | Some(Tag::Conjunction | Tag::Mark) => {
            let object_follows = next.is_some()
                && (next_classes & (ARTICLE | POSSESSIVE | PRONOUN | QUANTIFIER | QUESTION) != 0
                    || is_pointer(tagged.word(index + 1))
                    || matches!(tagged.word(index + 1), "its" | "their" | "his" | "her"));
            (classes & (VERB | SPEECH_VERB) != 0 && clear) || (base && object_follows)
        }
        Some(Tag::Question) => clear && !word.ends_with("ing") && (!base || tagged.before(index) == "who"),
        _ => clear && !word.ends_with("ing") && !participle(word),
    }
}

/// The noun phrases, in the order of the text. Nouns joined by "of" are kept apart; see [`joined_by_of`].
pub(super) fn phrases(tagged: &Tagged<'_>) -> Vec<Phrase> {
    let mut found = Vec::new();
    let mut index = 0;
    while index < tagged.tokens.len() {
        let inside = |i: usize| {
            matches!(tagged.tags.get(i), Some(Tag::Noun | Tag::Adjective))
                && tagged.tokens[i].sentence == tagged.tokens[index].sentence
        };
        if !inside(index) {
            index += 1;
            continue;
        }
        let start = index;
        let mut end = index;
        while end < tagged.tokens.len()
            && (inside(end) || (tagged.tags[end] == Tag::Genitive && end + 1 < tagged.tokens.len() && inside(end + 1)))
        {
            end += 1;
        }
        index = end.max(index + 1);
        // An adjective after its noun ("how tall", "is it safe") belongs to the verb.
        let mut last = end;
        while last > start && tagged.tags[last - 1] == Tag::Adjective {
            last -= 1;
        }
        if last == start {
            continue;
        }
        let determiner = (start > 0
            && tagged.tokens[start - 1].sentence == tagged.tokens[start].sentence
            && matches!(
                tagged.tags[start - 1],
                Tag::Article
                    | Tag::Possessive
                    | Tag::Demonstrative
                    | Tag::PossessiveAnaphor
                    | Tag::Quantifier
                    | Tag::Question
            ))
        .then(|| start - 1);
        found.push(Phrase { start, end: last, determiner });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Language;
    use crate::token::tokenize;

    fn found(text: &str) -> String {
        let tagged = tag(tokenize(text, Language::English));
        phrases(&tagged)
            .iter()
            .map(|p| &text[tagged.tokens[p.start].start..tagged.tokens[p.end - 1].end])
            .collect::<Vec<_>>()
            .join("|")
    }

    #[test]
    fn noun_phrases_by_surface_rules() {
        for (text, expected) in [
            ("What's our refund window?", "refund window"),
            ("How long does the warranty on the coffee grinder last?", "warranty|coffee grinder"),
            ("What does plan Silver cost?", "plan Silver"),
            ("Explain how our backup rotation works.", "backup rotation"),
            ("Which vaccines do kittens need?", "vaccines|kittens"),
            ("What is the Atlas API rate limit?", "Atlas API rate limit"),
            ("Compare basalt and granite.", "basalt|granite"),
            ("Did Priya approve the Q3 budget?", "Priya|Q3 budget"),
            ("Is the pool heated in winter?", "pool|winter"),
            ("Can I bring my dog to the office?", "dog|office"),
            ("And how long does that refund take to process?", "refund"),
            ("What about damaged items?", "damaged items"),
            ("How tall is Mount Kazbek?", "Mount Kazbek"),
            ("Where do sea turtles nest?", "sea turtles"),
            ("What was Pinhead's weaknesses?", "Pinhead's weaknesses"),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }
}
