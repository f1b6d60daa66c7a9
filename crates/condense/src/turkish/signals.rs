//! The signs by which a Turkish follow-up shows that it depends on what was said before.

use super::suffix::{Case, split_case};
use super::tag::{Phrase, Points, Tag, Tagged, entity_token, final_verb, phrases, pointer, tag};
use super::topics::{Need, head_classes_of, only_time};
use super::words::{EMPTY_NOUN, FORM_VERB, ORDER_VERB, RELATIONAL, SMALL_TALK, TIME};
use crate::Language;
use crate::draft::Edits;
use crate::token::tokenize;

pub(super) struct FollowUp<'t> {
    pub(super) text: &'t str,
    pub(super) tagged: Tagged<'t>,
    /// The first token that is not peki, ya, ve, or thanks.
    pub(super) core: usize,
    /// One past the last word.
    pub(super) end: usize,
    pub(super) phrases: Vec<Phrase>,
    /// Whether "peki", "ya" or "ve" led it.
    pub(super) led: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pointer {
    pub(super) token: usize,
    pub(super) need: Need,
    pub(super) case: Case,
    /// The noun that a demonstrative stands before.
    pub(super) noun: Option<Phrase>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ellipsis {
    /// "Peki X?", "X de mi?", "Ya X?": X from this token to that.
    About { rest: usize, end: usize },
    /// "Neden?", "Ne zaman?", "Neden sadece cuma?": the tokens of the question word.
    BareQuestion { end: usize },
    /// "Biraz daha anlat."
    More,
    /// "Başka var mı?"
    Others,
    /// "Hangisi daha sert?"
    Which,
}

impl<'t> FollowUp<'t> {
    pub(super) fn read(text: &'t str) -> Self {
        let tagged = tag(tokenize(text, Language::Turkish));
        let phrases = phrases(&tagged);
        let end = tagged.tokens.iter().rposition(|t| t.word).map_or(0, |i| i + 1);
        let (core, led) = core(&tagged, end);
        Self { text, tagged, core, end, phrases, led }
    }

    pub(super) fn words(&self) -> Vec<&str> {
        (self.core..self.end).filter(|&i| self.tagged.tokens[i].word).map(|i| self.tagged.word(i)).collect()
    }

    pub(super) fn at(&self, token: usize) -> usize {
        self.tagged.tokens.get(token).map_or(self.text.len(), |t| t.start)
    }

    /// Phrases of the core that name something by themselves.
    pub(super) fn own_topics(&self) -> impl Iterator<Item = &Phrase> {
        self.phrases.iter().filter(|p| p.start >= self.core && self.names_something(p))
    }

    fn names_something(&self, phrase: &Phrase) -> bool {
        if phrase.start > 0 && self.tagged.tags[phrase.start - 1] == Tag::Demonstrative {
            return true;
        }
        !only_time(&self.tagged, phrase)
            && (phrase.start..phrase.end).any(|i| {
                let classes = self.tagged.classes[i] | head_classes_of(&split_case(self.tagged.word(i)).0);
                entity_token(&self.tagged.tokens, i)
                    || classes & (RELATIONAL | EMPTY_NOUN | TIME | super::words::ADJECTIVE) == 0
            })
    }

    /// Whether a noun is somebody's or something's by its ending ("telefonu") and says little without whose.
    pub(super) fn relational_possessed(&self, token: usize) -> bool {
        let word = self.tagged.word(token);
        super::suffix::possessive_stems(word).any(|stem| {
            super::words::classes(&stem) & (RELATIONAL | super::words::ANIMATE) != 0
                || super::words::classes(super::suffix::without_plural(&stem)) & RELATIONAL != 0
        }) && !entity_token(&self.tagged.tokens, token)
    }

    /// Drops peki, ya, ve and thanks before the real follow-up.
    pub(super) fn drop_lead(&self, edits: &mut Edits) {
        let start = self.text.len() - self.text.trim_start().len();
        edits.drop(start..self.at(self.core).max(start), "a leading connector says nothing by itself");
    }

    /// "Telefonu ne?": the only noun is somebody's or something's, and whose is not said.
    pub(super) fn only_possessed(&self) -> bool {
        let mut own = self.own_topics();
        let (Some(phrase), None) = (own.next(), own.next()) else { return false };
        phrase.end - phrase.start == 1 && phrase.case == Case::Nominative && self.relational_possessed(phrase.end - 1)
    }

    pub(super) fn small_talk(&self) -> bool {
        let words: Vec<&str> = self.tagged.tokens.iter().filter(|t| t.word).map(|t| t.lower.as_ref()).collect();
        if words.is_empty() || (self.tagged.asks && !words.iter().any(|w| w.starts_with("nasılsın"))) {
            return false;
        }
        let only = words.iter().all(|w| super::words::classes(w) & SMALL_TALK != 0);
        let thanks =
            words[0].starts_with("teşekkür") || words[0].starts_with("sağ") || matches!(words[0], "merhaba" | "selam");
        (only && !matches!(words.as_slice(), ["peki"] | ["peki", "ya"] | ["bu"] | ["o"]))
            || (thanks && !self.tagged.has(Tag::Question) && self.phrases.is_empty())
    }

    pub(super) fn instruction(&self) -> bool {
        if self.tagged.asks {
            return false;
        }
        let words = self.words();
        let form = words.iter().any(|w| super::words::classes(w) & FORM_VERB != 0)
            || words.windows(2).any(|w| {
                matches!(
                    w,
                    ["tek" | "bir" | "iki", "cümleyle" | "cümlede" | "paragrafta"]
                        | ["madde", "madde"]
                        | ["daha", "kısa"]
                )
            })
            || words.windows(2).any(|w| matches!(w, ["türkçe" | "ingilizce", "yaz" | "yanıtla" | "cevapla" | "cevap"]))
            || matches!(words.as_slice(), ["kısa", "kes" | "tut" | "yaz"]);
        if form {
            return true;
        }
        words.last().is_some_and(|w| super::words::classes(w) & ORDER_VERB != 0)
            && words.len() > 1
            && self.pointers().is_empty()
            && self.own_topics().next().is_some()
    }

    pub(super) fn ellipsis(&self) -> Option<Ellipsis> {
        let words = self.words();
        match words.as_slice() {
            [] => return None,
            [
                "biraz",
                "daha",
                "anlat" | "anlatır" | "açıkla" | "açar" | "bilgi" | "anlatın" | "detay" | "ayrıntı",
                ..,
            ]
            | ["daha", "fazla", "bilgi" | "ayrıntı" | "detay" | "anlat", ..]
            | ["daha", "fazlası"]
            | ["devam", "et" | "edin" | "eder" | "ederek", ..]
            | ["detay" | "ayrıntı" | "detaylı" | "ayrıntılı", "ver" | "anlat" | "bilgi" | "açıkla" | "verir", ..]
            | ["açar" | "açıklar" | "anlatır", "mısın" | "mısınız"]
                if self.own_topics().next().is_none() =>
            {
                return Some(Ellipsis::More);
            }
            ["başka"]
            | ["başka", "var", "mı"]
            | ["başkaları"]
            | ["başka", "neler", "var"]
            | ["başka", "ne", "var"]
            | ["diğerleri"]
            | ["diğerleri", "neler" | "nelerdir" | "ne"] => return Some(Ellipsis::Others),
            _ => {}
        }
        if self.tagged.word(self.core) == "hangisi" || self.tagged.word(self.core) == "hangileri" {
            let named = self
                .own_topics()
                .any(|p| matches!(p.case, Case::Nominative) && p.end < self.end && p.start > self.core + 1);
            return (!named).then_some(Ellipsis::Which);
        }
        let has_verb = (self.core..self.end).any(|i| self.tagged.tags[i] == Tag::Verb);
        let has_pointer =
            (self.core..self.end).any(|i| matches!(self.tagged.tags[i], Tag::Pointer | Tag::Demonstrative));
        if let Some(end) = self.question_words()
            && !has_pointer
        {
            let rest = self.end - end;
            let why = matches!(self.tagged.word(self.core), "neden" | "niye" | "niçin" | "nasıl");
            if rest == 0 || (why && !has_verb && rest <= 3) {
                return Some(Ellipsis::BareQuestion { end });
            }
            return None;
        }
        if has_verb || has_pointer {
            return None;
        }
        let asked = (self.core..self.end).any(|i| self.tagged.tags[i] == Tag::Question);
        if asked || !self.tagged.asks {
            return None;
        }
        // "X de mi?", "X mi?", "X ya?": the particles are not part of X.
        let mut end = self.end;
        while end > self.core + 1
            && (self.tagged.tags[end - 1] == Tag::Particle || matches!(self.tagged.word(end - 1), "ya" | "peki"))
        {
            end -= 1;
        }
        let particles = end < self.end;
        let short = end - self.core <= 3;
        ((self.led || particles || short) && end - self.core <= 6).then_some(Ellipsis::About { rest: self.core, end })
    }

    /// The end of the question words that open the core: "neden", "ne zaman", "ne kadar", "kaç gün".
    fn question_words(&self) -> Option<usize> {
        if self.tagged.tag(self.core) != Some(Tag::Question) {
            return None;
        }
        let second = self.tagged.word(self.core + 1);
        let double = matches!(self.tagged.word(self.core), "ne")
            && matches!(second, "zaman" | "kadar" | "sıklıkla" | "için" | "ile" | "şekilde" | "kadara");
        let counted = self.tagged.word(self.core) == "kaç" && self.core + 1 < self.end && self.core + 2 >= self.end;
        Some(if double || counted { self.core + 2 } else { self.core + 1 })
    }

    pub(super) fn pointers(&self) -> Vec<Pointer> {
        (self.core..self.end).filter_map(|i| self.pointer_at(i)).filter(|p| !self.antecedent_inside(p)).collect()
    }

    fn pointer_at(&self, index: usize) -> Option<Pointer> {
        let word = self.tagged.word(index);
        let next = self.tagged.word(index + 1);
        match self.tagged.tags[index] {
            Tag::Pointer => {
                // Fixed phrases: "o zaman", "bu kadar", "bunun için", "bu yüzden", "o halde".
                let fixed = matches!(
                    next,
                    "zaman"
                        | "yüzden"
                        | "nedenle"
                        | "halde"
                        | "arada"
                        | "durumda"
                        | "sebeple"
                        | "kadar"
                        | "kadarı"
                        | "kez"
                        | "defa"
                ) || (next == "için" && matches!(word, "bunun" | "onun"))
                    || matches!(next, "göre" | "rağmen" | "karşın");
                if fixed {
                    return None;
                }
                if matches!(word, "o" | "bu" | "şu") {
                    return Some(Pointer { token: index, need: Need::One, case: Case::Nominative, noun: None });
                }
                let (points, case) = pointer(word)?;
                let need = match points {
                    Points::One => Need::One,
                    Points::Many => Need::Many,
                    Points::Place => Need::Place,
                };
                Some(Pointer { token: index, need, case, noun: None })
            }
            Tag::Demonstrative => {
                if matches!(
                    next,
                    "yüzden" | "nedenle" | "sebeple" | "arada" | "durumda" | "sefer" | "zamana" | "halde" | "kez"
                ) {
                    return None;
                }
                let mut phrase = *self.phrases.iter().find(|p| p.start == index + 1)?;
                // "bu pompanın ömrü": the pump is pointed at.
                if split_case(self.tagged.word(phrase.start)).1 == Case::Genitive && phrase.end > phrase.start + 1 {
                    phrase = Phrase { end: phrase.start + 1, case: Case::Genitive, ..phrase };
                }
                let first = self.tagged.classes[phrase.start];
                // "bu yıl", "bu akşam" point at the calendar.
                if first & TIME != 0 && word == "bu" {
                    return None;
                }
                Some(Pointer { token: index, need: Need::One, case: phrase.case, noun: Some(phrase) })
            }
            _ => None,
        }
    }

    /// Whether the antecedent stands in an earlier clause of the follow-up itself.
    fn antecedent_inside(&self, pointer: &Pointer) -> bool {
        self.phrases.iter().filter(|p| p.start >= self.core && p.end <= pointer.token).any(|p| {
            self.names_something(p)
                && (p.end..pointer.token).any(|i| {
                    self.tagged.tags[i] == Tag::Mark
                        || matches!(self.tagged.word(i), "ve" | "ama" | "sonra" | "ise")
                        || self.tagged.word(i).ends_with("sa")
                        || self.tagged.word(i).ends_with("se")
                        || self.tagged.word(i).ends_with("ınca")
                        || self.tagged.word(i).ends_with("ince")
                })
        })
    }

    /// The last verb, when there is one.
    pub(super) fn verb(&self) -> Option<&str> {
        (self.core..self.end)
            .rev()
            .find(|&i| self.tagged.tags[i] == Tag::Verb || final_verb(self.tagged.word(i)))
            .map(|i| self.tagged.word(i))
    }
}

/// Skips peki, ya, ve, thanks and interjections, when something follows them.
fn core(tagged: &Tagged<'_>, end: usize) -> (usize, bool) {
    let mut core = 0;
    let mut led = false;
    loop {
        let Some(first) = tagged.tokens.get(core) else { return (0, false) };
        let Some(next) = (core..end).find(|&i| tagged.tokens[i].sentence != first.sentence) else { break };
        let talk = (core..next).filter(|&i| tagged.tokens[i].word).all(|i| tagged.classes[i] & SMALL_TALK != 0);
        let question = (core..next).any(|i| tagged.tokens[i].text == "?");
        if !talk || question {
            break;
        }
        core = next;
    }
    while core < end {
        let word = tagged.word(core);
        let comma_after = tagged.tokens.get(core + 1).is_some_and(|t| matches!(t.text, "," | "!" | "."));
        let leads = matches!(word, "peki" | "ya" | "ve" | "ama" | "yani" | "ee" | "e") && core + 1 < end;
        let interjection = matches!(
            word,
            "tamam" | "evet" | "hayır" | "teşekkürler" | "anladım" | "merhaba" | "selam" | "güzel" | "harika" | "süper"
        ) && comma_after;
        if leads {
            led = true;
            core += 1;
        } else if !tagged.tokens[core].word || interjection {
            core += 1;
        } else {
            break;
        }
    }
    if core >= end { (0, false) } else { (core, led) }
}
