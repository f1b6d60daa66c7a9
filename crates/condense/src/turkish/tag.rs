//! What each word of a Turkish text does, and the noun phrases it holds.

use super::suffix::{Case, split_case, vowels};
use super::words::{self, ADJECTIVE, FUNCTION, PARTICLE, PREDICATE, PRONOUN, QUESTION, TIME, WITH_AUXILIARY};
use crate::lexicon::Classes;
use crate::token::Token;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Noun,
    Question,
    /// A pronoun that points back, in any case.
    Pointer,
    /// bu, şu, o before a noun.
    Demonstrative,
    Pronoun,
    Function,
    /// mi, de.
    Particle,
    Verb,
    Mark,
}

pub(super) struct Tagged<'t> {
    pub(super) tokens: Vec<Token<'t>>,
    pub(super) classes: Vec<Classes>,
    pub(super) tags: Vec<Tag>,
    /// Whether a question mark closes the text.
    pub(super) asks: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Phrase {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) case: Case,
}

impl Tagged<'_> {
    pub(super) fn word(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |t| t.lower.as_ref())
    }

    pub(super) fn tag(&self, index: usize) -> Option<Tag> {
        self.tags.get(index).copied()
    }

    pub(super) fn has(&self, tag: Tag) -> bool {
        self.tags.contains(&tag)
    }
}

/// What a pointing pronoun stands for, and in which case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Points {
    One,
    Many,
    Place,
}

/// The forms of o, bu, şu, their plurals and their places.
pub(super) fn pointer(word: &str) -> Option<(Points, Case)> {
    let (stem, points) = [
        ("onlar", Points::Many),
        ("bunlar", Points::Many),
        ("şunlar", Points::Many),
        ("ora", Points::Place),
        ("bura", Points::Place),
        ("şura", Points::Place),
        ("on", Points::One),
        ("bun", Points::One),
        ("şun", Points::One),
    ]
    .into_iter()
    .find(|(stem, _)| word.starts_with(stem))?;
    let case = match (points, &word[stem.len()..]) {
        (Points::Many, "") | (Points::Place, "sı") => Case::Nominative,
        (Points::Many, "ı") | (Points::One, "u") | (Points::Place, "sını" | "yı") => Case::Accusative,
        (Points::Many, "a") | (Points::One, "a") | (Points::Place, "ya" | "sına") => Case::Dative,
        (Points::Many, "da") | (Points::One, "da") | (Points::Place, "da" | "sında") => Case::Locative,
        (Points::Many, "dan") | (Points::One, "dan") | (Points::Place, "dan" | "sından") => Case::Ablative,
        (Points::Many, "ın") | (Points::One, "un") | (Points::Place, "nın" | "sının") => Case::Genitive,
        (Points::Many, "la") | (Points::One, "unla") => Case::Instrumental,
        _ => return None,
    };
    Some((points, case))
}

/// Whether a name or code stands here: a capital inside a sentence, an apostrophe, or a form like `E42`.
pub(super) fn entity_token(tokens: &[Token<'_>], index: usize) -> bool {
    let token = &tokens[index];
    if !token.word {
        return false;
    }
    if token.marked() || (token.capitalised() && token.text.contains(['\'', '’'])) {
        return true;
    }
    let first = index == 0
        || tokens[index - 1].sentence != token.sentence
        || (!tokens[index - 1].word && matches!(tokens[index - 1].text, "\"" | ":" | "“" | "-" | "*" | "("));
    token.capitalised() && !first
}

pub(super) fn tag(tokens: Vec<Token<'_>>) -> Tagged<'_> {
    let classes: Vec<Classes> = tokens.iter().map(|t| if t.word { words::classes(&t.lower) } else { 0 }).collect();
    let asks = tokens.last().is_some_and(|t| t.text == "?");
    let mut tagged = Tagged { tags: Vec::with_capacity(tokens.len()), tokens, classes, asks };
    for index in 0..tagged.tokens.len() {
        let tag = decide(&tagged, index);
        tagged.tags.push(tag);
    }
    tagged
}

fn last_of_clause(tagged: &Tagged<'_>, index: usize) -> bool {
    let sentence = tagged.tokens[index].sentence;
    match tagged.tokens.get(index + 1) {
        None => true,
        Some(next) if next.sentence != sentence || !next.word => true,
        Some(next) => {
            // A question particle follows the verb; "de" follows anything.
            words::classes(&next.lower) & PARTICLE != 0
                && !matches!(next.lower.as_ref(), "de" | "da")
                && last_of_clause(tagged, index + 1)
        }
    }
}

fn decide(tagged: &Tagged<'_>, index: usize) -> Tag {
    let token = &tagged.tokens[index];
    if !token.word {
        return Tag::Mark;
    }
    let word = token.lower.as_ref();
    let classes = tagged.classes[index];
    if matches!(word, "o" | "bu" | "şu") {
        return if points_at_noun(tagged, index) { Tag::Demonstrative } else { Tag::Pointer };
    }
    if pointer(word).is_some() && !token.marked() {
        return Tag::Pointer;
    }
    let entity = entity_token(&tagged.tokens, index);
    if classes & QUESTION != 0 && word != "nedeni" {
        return Tag::Question;
    }
    if classes & PARTICLE != 0 {
        return Tag::Particle;
    }
    if classes & PRONOUN != 0 {
        return Tag::Pronoun;
    }
    if !entity {
        if classes & FUNCTION != 0 {
            return Tag::Function;
        }
        if classes & PREDICATE != 0 {
            return Tag::Verb;
        }
        if classes & ADJECTIVE != 0 && last_of_clause(tagged, index) {
            return Tag::Verb;
        }
        let aux_follows = tagged.tokens.get(index + 1).is_some_and(|t| {
            ["et", "ed", "ol", "al", "ver", "yap"].iter().any(|s| t.lower.starts_with(s))
                && t.sentence == token.sentence
        });
        if classes & WITH_AUXILIARY != 0 && aux_follows {
            return Tag::Verb;
        }
        if classes & (words::RELATIONAL | words::ANIMATE | words::PLACE | TIME) == 0
            && (clear_verb(word) || (last_of_clause(tagged, index) && final_verb(word)))
        {
            return Tag::Verb;
        }
    }
    Tag::Noun
}

/// "o iade", "bu ürün": a noun that is not the question word or the verb follows.
fn points_at_noun(tagged: &Tagged<'_>, index: usize) -> bool {
    let Some(next) = tagged.tokens.get(index + 1).filter(|t| t.word && t.sentence == tagged.tokens[index].sentence)
    else {
        return false;
    };
    let word = next.lower.as_ref();
    let classes = tagged.classes[index + 1];
    if classes & (QUESTION | PARTICLE | PRONOUN | FUNCTION | PREDICATE) != 0 || pointer(word).is_some() {
        return false;
    }
    if matches!(word, "o" | "bu" | "şu") {
        return false;
    }
    if classes & ADJECTIVE != 0 {
        return !last_of_clause(tagged, index + 1);
    }
    !(clear_verb(word) || (last_of_clause(tagged, index + 1) && final_verb(word)))
}

/// Endings that only verbs have, wherever they stand.
fn clear_verb(word: &str) -> bool {
    const ENDINGS: [&str; 40] = [
        "yor",
        "yorum",
        "yorsun",
        "yoruz",
        "yorsunuz",
        "yorlar",
        "yordu",
        "acak",
        "ecek",
        "acağım",
        "eceğim",
        "acağız",
        "eceğiz",
        "malı",
        "meli",
        "malıyım",
        "meliyim",
        "malıyız",
        "meliyiz",
        "ebilir",
        "abilir",
        "ebilirim",
        "abilirim",
        "ebiliriz",
        "abiliriz",
        "ılır",
        "ilir",
        "ulur",
        "ülür",
        "ılmış",
        "ilmiş",
        "ıyoruz",
        "arak",
        "erek",
        "ınca",
        "ince",
        "ıldı",
        "ildi",
        "uldu",
        "üldü",
    ];
    // The endings close on few letters, which spares most words the list.
    word.ends_with(['r', 'm', 'n', 'z', 'k', 'ı', 'i', 'u', 'ü', 'ş', 'a', 'e'])
        && vowels(word) >= 2
        && word.chars().count() >= 5
        && ENDINGS.iter().any(|e| word.len() > e.len() + 1 && word.ends_with(e))
}

/// Endings that a verb has at the end of a clause.
pub(super) fn final_verb(word: &str) -> bool {
    const PAST: [&str; 8] = ["dı", "di", "du", "dü", "tı", "ti", "tu", "tü"];
    const AORIST: [&str; 6] = ["ar", "er", "ır", "ir", "ur", "ür"];
    const PERSONS: [&str; 26] = [
        "ım", "im", "um", "üm", "ız", "iz", "uz", "üz", "sın", "sin", "sun", "sün", "sınız", "siniz", "sunuz", "sünüz",
        "lar", "ler", "k", "m", "dır", "dir", "dur", "dür", "tır", "tir",
    ];
    let count = word.chars().count();
    if clear_verb(word) {
        return true;
    }
    let bare = |w: &str| {
        let n = w.chars().count();
        (n >= 4 && AORIST.iter().any(|e| w.ends_with(e)) && !w.ends_with("lar") && !w.ends_with("ler"))
            || (n >= 4 && PAST.iter().any(|e| w.ends_with(e)))
            || (n >= 5 && ["mış", "miş", "muş", "müş", "maz", "mez"].iter().any(|e| w.ends_with(e)))
    };
    if count >= 4 && bare(word) {
        return true;
    }
    PERSONS.iter().any(|p| word.strip_suffix(p).is_some_and(|w| w.chars().count() >= 4 && bare(w)))
}

/// The case of a word of a phrase. A genitive belongs to a noun after it, and the first part of a name
/// ("Galata Kulesi'ni") has no case.
fn case_in_phrase(tagged: &Tagged<'_>, index: usize, next_is_noun: bool) -> Case {
    let token = &tagged.tokens[index];
    if next_is_noun
        && token.capitalised()
        && tagged.tokens[index + 1].capitalised()
        && !token.text.contains(['\'', '’'])
    {
        return Case::Nominative;
    }
    match split_case(&token.lower).1 {
        Case::Genitive if !next_is_noun && !token.text.contains(['\'', '’']) => Case::Nominative,
        case => case,
    }
}

/// A plural, or a compound of two words and more, is the end of its phrase: "bölgeler | GPU sunuyor", "kahve makinesi |
/// suyu kaçırıyor".
fn closes_phrase(word: &str, words: usize) -> bool {
    let plural = word.chars().count() > 4 && (word.ends_with("lar") || word.ends_with("ler"));
    let mut back = word.chars().rev();
    let compound = words >= 2
        && back.next().is_some_and(|c| matches!(c, 'ı' | 'i' | 'u' | 'ü'))
        && back.next() == Some('s')
        && back.next().is_some_and(super::suffix::is_vowel);
    plural || compound
}

/// The noun phrases in the order of the text. A word with a case other than the genitive ends its phrase.
pub(super) fn phrases(tagged: &Tagged<'_>) -> Vec<Phrase> {
    let mut found = Vec::new();
    let mut index = 0;
    while index < tagged.tokens.len() {
        if tagged.tags[index] != Tag::Noun {
            index += 1;
            continue;
        }
        let start = index;
        let sentence = tagged.tokens[index].sentence;
        let mut case = Case::Nominative;
        while index < tagged.tokens.len()
            && tagged.tags[index] == Tag::Noun
            && tagged.tokens[index].sentence == sentence
        {
            let next_is_noun =
                tagged.tags.get(index + 1) == Some(&Tag::Noun) && tagged.tokens[index + 1].sentence == sentence;
            case = case_in_phrase(tagged, index, next_is_noun);
            let adverb_of_time = tagged.classes[index] & TIME != 0 && index > start;
            if adverb_of_time && matches!(tagged.word(index), "kışın" | "yazın") {
                break;
            }
            index += 1;
            if !matches!(case, Case::Nominative | Case::Genitive)
                || closes_phrase(tagged.word(index - 1), index - start)
            {
                break;
            }
        }
        if index == start {
            index += 1;
            continue;
        }
        found.push(Phrase { start, end: index, case });
        if index < tagged.tokens.len() && matches!(tagged.word(index), "kışın" | "yazın") {
            index += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Language;
    use crate::token::tokenize;

    #[test]
    fn noun_phrases_by_form() {
        let found = |text: &str| {
            let tagged = tag(tokenize(text, Language::Turkish));
            phrases(&tagged)
                .iter()
                .map(|p| &text[tagged.tokens[p.start].start..tagged.tokens[p.end - 1].end])
                .collect::<Vec<_>>()
                .join("|")
        };
        for (text, expected) in [
            ("İade süremiz ne kadar?", "İade süremiz"),
            ("Peki hasarlı ürünler?", "hasarlı ürünler"),
            ("Mersin deposunu kim yönetiyor?", "Mersin deposunu"),
            ("Kahve makinesi suyu neden kaçırıyor?", "Kahve makinesi|suyu"),
            ("Norveç'e gönderim var mı?", "Norveç'e|gönderim"),
            ("Yedekleme nasıl çalışıyor?", "Yedekleme"),
            ("Onlarda inceleme yapılır.", "inceleme"),
            ("Bazalt ile granit arasındaki fark ne?", "Bazalt|granit|fark"),
            ("Peki o iade ne kadar sürer?", "iade"),
            ("Havuz kışın ısıtılıyor mu?", "Havuz"),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }
}
