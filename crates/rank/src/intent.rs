//! What kind of answer a question wants.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::analysis::query_words;
use crate::document::Language;
use crate::temporal;

/// What kind of answer a question wants, told by rules from its words, in English and in Turkish.
///
/// Which voice knows best depends on it: names are found by their words and the links between documents, instructions
/// by what they are about. [`Intent::multipliers`] says how much. Of several kinds that a question shows signs of, the
/// first of this list counts, except that a question for a preference is one whatever else it names.
///
/// ```
/// use hatir_rank::Intent;
///
/// assert_eq!(Intent::of("How do I rotate the keys?", None), Intent::Procedural);
/// assert_eq!(Intent::of("Toplantı ne zaman?", None), Intent::Temporal);
/// assert_eq!(Intent::of("refund window", None), Intent::General);
/// assert_eq!(Intent::Procedural.to_string(), "procedural");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Intent {
    /// How something is done: "How do I …?", "… nasıl yapılır?"
    Procedural,
    /// When something was, or what was at a time: "When did …?", "geçen hafta ne …?"
    Temporal,
    /// What somebody likes, wants or thinks of something: "Which tea does she prefer?", "en sevdiği …"
    Preference,
    /// Who, where, or what is called so: "Who owns …?", "… kimin?"
    Entity,
    /// A fact: "What is …?", "How many …?", "… kaç?", "… var mı?"
    Factual,
    /// Any other, such as words without a question.
    #[default]
    General,
}

/// What the evidence of the voices is multiplied with for an intent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Multipliers {
    /// For the semantic voice.
    pub semantic: f64,
    /// For the lexical voice.
    pub lexical: f64,
    /// For the temporal voice, and for importance.
    pub temporal_and_importance: f64,
}

impl Intent {
    /// All intents, in the order in which they are looked for.
    pub const ALL: [Self; 6] =
        [Self::Procedural, Self::Temporal, Self::Preference, Self::Entity, Self::Factual, Self::General];

    /// The intent of a question.
    ///
    /// `language` only settles words that both languages have, and may be wrong or missing. Any text is taken; it is
    /// read up to 64 KiB.
    pub fn of(text: &str, language: Option<Language>) -> Self {
        let words = query_words(text);
        let question = Question { words: &words, language };
        if question.asks_for_preference() {
            Self::Preference
        } else if question.asks_how_to() {
            Self::Procedural
        } else if question.asks_for_time() || names_a_time(text, language) {
            Self::Temporal
        } else if question.asks_how() {
            Self::Procedural
        } else if question.asks_for_entity() {
            Self::Entity
        } else if question.asks_for_fact() {
            Self::Factual
        } else {
            Self::General
        }
    }

    /// `procedural`, `temporal`, `preference`, `entity`, `factual` or `general`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Procedural => "procedural",
            Self::Temporal => "temporal",
            Self::Preference => "preference",
            Self::Entity => "entity",
            Self::Factual => "factual",
            Self::General => "general",
        }
    }

    /// How much the voices count for it; all 1 for [`Intent::General`]. The numbers are the design's.
    ///
    /// ```
    /// use hatir_rank::Intent;
    ///
    /// assert_eq!(Intent::Temporal.multipliers().lexical, 1.5);
    /// assert_eq!(Intent::General.multipliers().semantic, 1.0);
    /// ```
    pub fn multipliers(self) -> Multipliers {
        let (semantic, lexical, temporal_and_importance) = match self {
            Self::Temporal => (0.6, 1.5, 0.8),
            Self::Factual => (1.0, 1.2, 0.9),
            Self::Entity => (1.1, 1.0, 1.3),
            Self::Preference => (0.9, 0.8, 1.5),
            Self::Procedural => (1.3, 0.9, 0.7),
            Self::General => (1.0, 1.0, 1.0),
        };
        Multipliers { semantic, lexical, temporal_and_importance }
    }
}

impl fmt::Display for Intent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The intent of a question; see [`Intent::of`].
pub(crate) fn intent_of(text: &str, language: Option<Language>) -> Intent {
    Intent::of(text, language)
}

fn names_a_time(text: &str, language: Option<Language>) -> bool {
    temporal::asks_when(text, language) || temporal::names_time(text, language)
}

/// A question's words, folded: `ş` is `s`, and `ı` is `i`; what follows an apostrophe is gone.
struct Question<'q> {
    words: &'q [String],
    language: Option<Language>,
}

impl Question<'_> {
    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", String::as_str)
    }

    fn has(&self, fits: impl Fn(&str) -> bool) -> bool {
        self.words.iter().any(|word| fits(word))
    }

    /// Whether a place in the question fits; the place is a position of a word.
    fn somewhere(&self, fits: impl Fn(usize) -> bool) -> bool {
        (0..self.words.len()).any(fits)
    }

    /// Turkish words that are common in English, or names there, count only where the text is not known to be English.
    fn not_english(&self) -> bool {
        self.language != Some(Language::English)
    }

    fn asks_for_preference(&self) -> bool {
        let english = self.somewhere(|at| match self.word(at) {
            "prefer" | "prefers" | "preferred" | "preference" | "preferences" | "favorite" | "favourite"
            | "favorites" | "favourites" | "dislike" | "dislikes" | "hates" | "hate" | "enjoys" | "recommend"
            | "recommended" => true,
            // "What does she like", and not "What is it like", "how do I make it look like this".
            "like" | "likes" | "love" | "loves" | "enjoy" => self.is_verb_of_a_person(at),
            "think" | "opinion" | "feel" => {
                matches!(self.word(at + 1), "of" | "about") && self.has(|word| matches!(word, "what" | "how"))
            }
            "rather" => self.words[..at].iter().any(|word| word == "would"),
            _ => false,
        });
        english
            || self.has(|word| {
                const STEMS: [&str; 11] = [
                    "tercih", "favori", "sevdig", "sevdik", "seviyor", "sevmiyor", "sevmedig", "hoslan", "begeni",
                    "begendig", "oneriyor",
                ];
                matches!(word, "sever" | "sevmez" | "severdi" | "severim" | "seversin" | "sevmem" | "oneri" | "onerir")
                    || matches!(word, "onerirsin" | "onerirsiniz" | "tavsiye" | "nefret" | "begenir" | "begendi")
                    || STEMS.iter().any(|stem| word.starts_with(stem))
            })
    }

    /// Whether "like" or "love" stands where a verb of somebody does.
    fn is_verb_of_a_person(&self, at: usize) -> bool {
        let asked = self.words[..at]
            .iter()
            .rev()
            .take(4)
            .any(|word| matches!(word.as_str(), "do" | "does" | "did" | "would" | "doesn" | "don" | "didn"));
        let compared = at > 0
            && matches!(
                self.word(at - 1),
                "look"
                    | "looks"
                    | "looked"
                    | "sound"
                    | "sounds"
                    | "feel"
                    | "feels"
                    | "be"
                    | "behave"
                    | "work"
                    | "works"
                    | "something"
                    | "anything"
                    | "things"
                    | "act"
                    | "seem"
                    | "taste"
                    | "smell"
            );
        asked && !compared
    }

    /// Strict: what is asked for is a way of doing something, whatever else is named.
    fn asks_how_to(&self) -> bool {
        let english = self.somewhere(|at| match (self.word(at), self.word(at + 1), self.word(at + 2)) {
            ("how", "to", _)
            | ("steps", "to" | "for", _)
            | ("what" | "which", "steps", _)
            | ("how", "do" | "can" | "could" | "should" | "would" | "does", "i" | "we" | "you" | "one" | "people") => {
                true
            }
            ("way", "to", _) => self.has(|word| matches!(word, "what" | "best" | "right" | "easiest")),
            ("what", "should" | "must", "i" | "we") => self.has(|word| word == "do"),
            _ => false,
        });
        english
            || self.has(|word| {
                matches!(
                    word,
                    "howto" | "tutorial" | "walkthrough" | "instructions" | "talimat" | "talimatlari" | "adimlari"
                ) || matches!(word, "yapmaliyim" | "yapmaliyiz" | "etmeliyim" | "etmeliyiz" | "adimlar" | "kilavuzu")
            })
            || self.somewhere(|at| {
                self.word(at) == "nasil"
                    && (at + 1..self.words.len().min(at + 5)).any(|near| is_turkish_way(self.word(near)))
            })
    }

    /// A "how" that asks for a way, and not for a measure, a state or a course of things.
    fn asks_how(&self) -> bool {
        self.somewhere(|at| match self.word(at) {
            "how" => matches!(self.word(at + 1), "do" | "does" | "is" | "are") && !self.is_state(),
            "nasil" => {
                let next = self.word(at + 1);
                let course = next.is_empty() && at == 0
                    || [
                        "bir", "biri", "gecti", "gitti", "gidiyor", "oldu", "buldu", "misin", "miyim", "hissed",
                        "karsila",
                    ]
                    .iter()
                    .any(|stem| next.starts_with(stem));
                !course
            }
            _ => false,
        })
    }

    /// "How are you", "how is the weather": a state.
    fn is_state(&self) -> bool {
        self.somewhere(|at| {
            self.word(at) == "how"
                && matches!(self.word(at + 1), "is" | "are")
                && !self
                    .words
                    .iter()
                    .skip(at + 2)
                    .any(|word| word.ends_with("ed") || matches!(word.as_str(), "done" | "made" | "built" | "set"))
        })
    }

    /// Words for a time that is not named: "the deadline", "zaman çizelgesi".
    fn asks_for_time(&self) -> bool {
        self.somewhere(|at| {
            matches!(
                (self.word(at), self.word(at + 1)),
                ("deadline" | "deadlines" | "timeline" | "chronology", _)
                    | ("due" | "release" | "start" | "end", "date")
                    | ("son", "tarih" | "tarihi")
                    | ("zaman", "cizelgesi")
                    | ("teslim" | "cikis" | "bitis", "tarihi")
            )
        })
    }

    fn asks_for_entity(&self) -> bool {
        self.somewhere(|at| {
            let (word, next, third) = (self.word(at), self.word(at + 1), self.word(at + 2));
            match word {
                // "the person who left": a clause, unless it begins the question.
                "who" => {
                    at == 0
                        || !matches!(self.word(at - 1), "person" | "people" | "those" | "someone" | "anyone" | "users")
                }
                "where" => at == 0 || matches!(self.word(at - 1), "and" | "from" | "know" | "tell" | "me" | "so"),
                "which" | "what" => is_english_thing(next) || (next == "other" && is_english_thing(third)),
                "name" | "names" | "called" | "named" => self.has(|word| matches!(word, "what" | "which" | "is")),
                "about" => at > 0 && matches!(self.word(at - 1), "me" | "know"),
                "kim" | "kimi" | "kime" => self.not_english(),
                "whose" | "whom" | "kimin" | "kimler" | "kimlerin" | "kimden" | "kimle" | "kiminle" | "kimdir"
                | "kimdi" | "kimde" | "nerede" | "nereye" | "nereden" | "neresi" | "neresinde" | "nerde" | "nerden"
                | "nereli" | "neredeydi" => true,
                "adi" | "ismi" => next.is_empty() || next.starts_with("ne"),
                "hangi" => is_turkish_thing(next),
                "hakkinda" => next == "ne" || third == "ne",
                _ => false,
            }
        })
    }

    fn asks_for_fact(&self) -> bool {
        let first = self.word(0);
        let auxiliary = matches!(
            first,
            "is" | "are"
                | "was"
                | "were"
                | "do"
                | "does"
                | "did"
                | "can"
                | "could"
                | "will"
                | "has"
                | "have"
                | "had"
                | "should"
                | "isn"
                | "doesn"
                | "don"
                | "didn"
                | "aren"
        );
        auxiliary && self.words.len() > 1
            || self.somewhere(|at| {
                let next = self.word(at + 1);
                match self.word(at) {
                    "what" => at == 0 || !matches!(self.word(at - 1), "that" | "with"),
                    "which" => {
                        at == 0 || matches!(self.word(at - 1), "and" | "in" | "on" | "of" | "for" | "to" | "know")
                    }
                    "how" => matches!(
                        next,
                        "many" | "much" | "long" | "old" | "big" | "far" | "often" | "large" | "tall" | "high" | "fast"
                    ),
                    "define" | "definition" | "kac" | "kaca" | "kacta" | "kaci" | "kactir" | "nedir" | "neydi"
                    | "neler" | "hangi" | "hangisi" | "neye" | "nelerdir" => true,
                    "ne" => next.is_empty() || !matches!(next, "yazik" | "guzel"),
                    word => is_question_suffix(word) && (word != "mi" || self.not_english()),
                }
            })
    }
}

/// What "nasıl" stands before when it asks for a way: a passive ("yapılır"), a "can" ("yapabilirim"), a "do I" or "do we".
fn is_turkish_way(word: &str) -> bool {
    const ENDINGS: [&str; 22] = [
        "ilir", "ulur", "inir", "unur", "nir", "nur", "ebilirim", "abilirim", "ebiliriz", "abiliriz", "ebilir",
        "abilir", "ilmeli", "ilmali", "inmali", "inmeli", "arim", "erim", "ariz", "eriz", "irim", "iriz",
    ];
    word.len() >= 5 && ENDINGS.iter().any(|ending| word.ends_with(ending))
}

/// What has a name.
fn is_english_thing(word: &str) -> bool {
    matches!(
        word,
        "person"
            | "people"
            | "company"
            | "companies"
            | "team"
            | "teams"
            | "customer"
            | "customers"
            | "country"
            | "countries"
            | "city"
            | "cities"
            | "place"
            | "places"
            | "organisation"
            | "organization"
            | "author"
            | "actor"
            | "band"
            | "colleague"
            | "friend"
            | "vendor"
            | "supplier"
            | "client"
            | "clients"
            | "department"
            | "employee"
            | "repo"
            | "repository"
            | "service"
            | "project"
            | "projects"
    )
}

fn is_turkish_thing(word: &str) -> bool {
    const STEMS: [&str; 17] = [
        "kisi",
        "sirket",
        "firma",
        "ekip",
        "ekib",
        "takim",
        "musteri",
        "ulke",
        "sehir",
        "sehr",
        "kurum",
        "yer",
        "proje",
        "tedarikci",
        "calisan",
        "depo",
        "servis",
    ];
    STEMS.iter().any(|stem| word.starts_with(stem))
}

/// "mı", alone or with the person and the tense behind it, or written to a word against the rule.
fn is_question_suffix(word: &str) -> bool {
    let glued = ["varmi", "yokmu", "degilmi", "dogrumu"].contains(&word)
        || word.strip_suffix("mu").or_else(|| word.strip_suffix("mi")).is_some_and(|stem| stem.ends_with("yor"));
    let rest = word.strip_prefix("mi").or_else(|| word.strip_prefix("mu"));
    let ending = rest.is_some_and(|rest| {
        matches!(
            rest,
            "" | "yim"
                | "yum"
                | "yiz"
                | "yuz"
                | "sin"
                | "sun"
                | "siniz"
                | "sunuz"
                | "dir"
                | "dur"
                | "ydi"
                | "ydu"
                | "ydin"
                | "ymis"
                | "ymus"
                | "ydik"
                | "yduk"
        )
    });
    glued || ending
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(expected: Intent, questions: &[&str]) {
        let wrong: Vec<String> = questions
            .iter()
            .filter_map(|text| {
                let found = Intent::of(text, crate::analysis::language_of(text));
                (found != expected).then(|| format!("{text:?}: {found}"))
            })
            .collect();
        assert!(wrong.is_empty(), "expected {expected}:\n{}", wrong.join("\n"));
    }

    #[test]
    fn ways_of_doing_something() {
        check(
            Intent::Procedural,
            &[
                "How do I rotate the keys?",
                "how to install the model",
                "How can we roll back a deploy?",
                "How do I restore yesterday's backup?",
                "What are the steps to set up SSO?",
                "What is the best way to test this?",
                "How does one export the data?",
                "How does the cache work?",
                "How is the index built?",
                "Tutorial for the pipeline",
                "İade nasıl yapılır?",
                "iade nasil yapilir",
                "Parolamı nasıl değiştirebilirim?",
                "sifremi nasil degistiririm",
                "Modeli nasıl kurarım?",
                "Yedekten dönmek için ne yapmalıyım?",
                "Kurulum adımları",
                "Bu servis nasıl çalışıyor?",
            ],
        );
    }

    #[test]
    fn times() {
        check(
            Intent::Temporal,
            &[
                "When did Caroline move to Boston?",
                "when is the release",
                "What did we decide last week?",
                "What happened on 5 March 2026?",
                "which issues were closed since Monday",
                "What date did we pick?",
                "What is the deadline for the audit?",
                "Who joined in 2024?",
                "How did we fix it last month?",
                "Toplantı ne zaman?",
                "toplanti ne zaman",
                "Geçen hafta ne karar verdik?",
                "gecen hafta kim geldi",
                "3 Mayıs'ta ne oldu?",
                "Mart ayındaki kararlar neler?",
                "hangi tarihte taşındık",
                "En son ne konuştuk?",
                "Teslim tarihi nedir?",
            ],
        );
    }

    #[test]
    fn preferences() {
        check(
            Intent::Preference,
            &[
                "Which tea does she prefer?",
                "What is Melanie's favorite book?",
                "What kind of music does he like?",
                "Does Ali like spicy food?",
                "What do the users think of the new editor?",
                "What does she love to cook?",
                "What do you recommend for a beginner?",
                "Would she rather take the train?",
                "user preferences for dark mode",
                "Ayşe hangi çayı tercih eder?",
                "En sevdiği kitap ne?",
                "en sevdigi renk hangisi",
                "Ali acı yemek sever mi?",
                "Kullanıcılar koyu temayı beğeniyor mu?",
                "Hangi editörü önerirsin?",
            ],
        );
    }

    #[test]
    fn people_places_and_names() {
        check(
            Intent::Entity,
            &[
                "Who owns the billing service?",
                "Who is responsible for releases?",
                "whose laptop is this",
                "Where does Caroline live?",
                "Which company makes the chips?",
                "What is the name of her dog?",
                "What is the cluster called?",
                "Tell me about Acme",
                "What do we know about Globex?",
                "Faturalama servisi kimin?",
                "Yayından kim sorumlu?",
                "yayindan kim sorumlu",
                "Caroline nerede yaşıyor?",
                "Hangi şirket üretiyor?",
                "Köpeğinin adı ne?",
                "Acme hakkında ne biliyoruz?",
                "Bu karar kimlerle alındı, kimden geldi?",
            ],
        );
    }

    #[test]
    fn facts() {
        check(
            Intent::Factual,
            &[
                "What is the refund window?",
                "How many tokens fit in the window?",
                "How long does a refund take?",
                "How often is the index rebuilt?",
                "Is there a mobile app?",
                "Can damaged items be returned?",
                "Does the index keep vectors?",
                "Which port does it use?",
                "İade süresi ne kadar?",
                "iade suresi kac gun",
                "Mobil uygulama var mı?",
                "mobil uygulama varmi",
                "Kargo ücretsiz midir?",
                "RRF nedir?",
                "Hangi portu kullanıyor?",
                "Hasarlı ürünler iade edilebilir mi?",
                "Bunu destekliyor musunuz?",
            ],
        );
    }

    #[test]
    fn anything_else_is_general() {
        check(
            Intent::General,
            &[
                "",
                "refund window",
                "hasarlı ürünler",
                "kargo",
                "E0599",
                "Why did the deploy fail?",
                "How did Caroline feel?",
                "How are you?",
                "Neden başarısız oldu?",
                "Tatil nasıl geçti?",
                "It looks like rain",
                "notes like this one",
                "samimi bir mesaj",
                "return policy for damaged items",
                "返金はいつ",
            ],
        );
    }

    #[test]
    fn names_are_the_serialised_ones_and_the_language_settles_doubts() {
        assert_eq!(Intent::of("what did Kim say", Some(Language::English)), Intent::Factual);
        assert_eq!(Intent::of("kim", None), Intent::Entity);
        for intent in Intent::ALL {
            assert_eq!(serde_json::to_value(intent).unwrap(), intent.name());
            assert_eq!(serde_json::from_value::<Intent>(intent.name().into()).unwrap(), intent);
            assert_eq!(format!("{intent:>12}").trim_start(), intent.name());
        }
        assert_eq!(
            Intent::default().multipliers(),
            Multipliers { semantic: 1.0, lexical: 1.0, temporal_and_importance: 1.0 }
        );
    }

    proptest! {
        #[test]
        fn any_text_has_an_intent(text in prop_oneof![
            ".*",
            prop::collection::vec(
                prop::sample::select(vec!["how", "like", "who", "nasıl", "mı", "ne", "adı", "about", "do", "?", "what", "kim", "'"]),
                0..8,
            ).prop_map(|words| words.join(" ")),
        ]) {
            for language in [None, Some(Language::English), Some(Language::Turkish)] {
                prop_assert!(Intent::ALL.contains(&Intent::of(&text, language)));
            }
        }
    }
}
