//! Tells English from Turkish from neither.

use whatlang::{Detector, Lang};

use super::fold::{fold, turkish_lower};
use super::stopwords::{is_english_stop_word, is_turkish_stop_word};
use super::words::{Word, normalise, words};
use crate::document::Language;

/// How much of a text is looked at, in bytes; more does not change the answer.
const SAMPLE_BYTES: usize = 1_500;

/// How much of it goes through the trigrams, in bytes.
const TRIGRAM_BYTES: usize = 400;

/// Below this many words the trigrams are not trusted with a third language.
const TRIGRAM_WORDS: f64 = 8.0;

/// The languages that the trigrams choose from: the widespread ones in Latin letters. All that the detector knows
/// would take three times as long, which is most of the cost of indexing a text without function words.
const CANDIDATES: [Lang; 14] = [
    Lang::Eng,
    Lang::Tur,
    Lang::Deu,
    Lang::Fra,
    Lang::Spa,
    Lang::Por,
    Lang::Ita,
    Lang::Nld,
    Lang::Pol,
    Lang::Swe,
    Lang::Ron,
    Lang::Ces,
    Lang::Ind,
    Lang::Vie,
];

/// The language of a text; see [`Language::of`].
pub(crate) fn language_of(text: &str) -> Option<Language> {
    let normalised = normalise(start_of(text, SAMPLE_BYTES));
    language_of_words(&normalised, &words(&normalised))
}

/// The start of the text, at most so many bytes, cut between characters.
pub(crate) fn start_of(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let mut end = bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Function words decide where they are plenty, since they are quick to count and the trigrams of a short text are
/// often wrong; then a letter that only Turkish has; then trigrams.
fn language_of_words(text: &str, words: &[Word<'_>]) -> Option<Language> {
    let total = words.len() as f64;
    let (mut english, mut turkish, mut latin, mut dotted) = (0.0, 0.0, 0.0, 0.0);
    for word in words {
        let folded = fold(word.text);
        latin += f64::from(folded.starts_with(|c: char| c.is_ascii_alphabetic()));
        english += f64::from(is_english_stop_word(&folded));
        turkish += f64::from(is_turkish_stop_word(&turkish_lower(word.text)));
        dotted += f64::from(word.text.contains(['ğ', 'ı', 'ş', 'İ', 'Ğ', 'Ş']) && !word.text.contains(['ə', 'Ə']));
    }
    if latin * 2.0 < total || latin == 0.0 {
        return None;
    }
    // English prose is two fifths function words, Turkish a tenth, the rest being suffixes; a Turkish letter weighs
    // as much as a function word. German and Dutch share a tenth of their words with the English list.
    let turkish_signs = turkish + dotted;
    if english >= 0.25 * latin && english > 2.0 * turkish_signs {
        return Some(Language::English);
    }
    if dotted > 0.0 && turkish_signs >= 0.1 * latin && turkish_signs > english {
        return Some(Language::Turkish);
    }
    if dotted > 0.0 && latin < TRIGRAM_WORDS {
        return Some(Language::Turkish);
    }
    let trigrams = Detector::with_allowlist(CANDIDATES.to_vec()).detect(start_of(text, TRIGRAM_BYTES))?;
    // A table or a list of names may look foreign; a seventh of English function words says that it is not.
    let sure = trigrams.is_reliable() && latin >= TRIGRAM_WORDS && english < 0.15 * latin;
    match trigrams.lang() {
        Lang::Eng => Some(Language::English),
        Lang::Tur => Some(Language::Turkish),
        _ if sure => None,
        _ if turkish_signs > english => Some(Language::Turkish),
        _ => Some(Language::English),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: Option<Language>, texts: &[&str]) {
        for text in texts {
            assert_eq!(language_of(text), expected, "{text:?}");
        }
    }

    #[test]
    fn english_is_known() {
        check(
            Some(Language::English),
            &[
                "What about damaged items?",
                "refund window",
                "Refunds are paid within 14 days of the day on which we receive the goods.",
                "Deploys go through Jenkins",
                "def parse_config(path): return toml.load(path)",
                "İstanbul is the largest city in Turkey and it is not the capital.",
            ],
        );
    }

    #[test]
    fn turkish_is_known_with_and_without_its_letters() {
        check(
            Some(Language::Turkish),
            &[
                "Peki hasarlı ürünler?",
                "iade süresi ne kadar",
                "İadeler, malı teslim aldığımız günden sonra 14 gün içinde ödenir.",
                "Siparisim ne zaman gelecek ve nasil takip edebilirim",
                "kargo ücreti",
            ],
        );
    }

    #[test]
    fn other_languages_are_neither() {
        check(
            None,
            &[
                "",
                "12345 67,8",
                "📦🚚",
                "返金はいつ支払われますか",
                "Сколько времени занимает возврат денег?",
                "Die Rückerstattung wird innerhalb von vierzehn Tagen nach dem Eingang der Ware auf das Konto überwiesen.",
                "Le remboursement est versé dans les quatorze jours suivant la réception des marchandises par le vendeur.",
            ],
        );
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let text = format!("a{}", "ş".repeat(5_000));
        assert_eq!(start_of(&text, SAMPLE_BYTES).len(), SAMPLE_BYTES - 1);
        assert_eq!(language_of(&"refund ".repeat(100_000)), language_of(&"refund ".repeat(300)));
    }
}
