//! Which of the two languages a text is written in.

use crate::Language;
use crate::token::tokenize;
use crate::window::Window;

/// How much of a text is looked at.
const LOOKED_AT: usize = 240;

const TURKISH_WORDS: [&str; 76] = [
    "ve",
    "bir",
    "bu",
    "ne",
    "mi",
    "mu",
    "peki",
    "ya",
    "de",
    "da",
    "ile",
    "var",
    "yok",
    "kadar",
    "neden",
    "niye",
    "kim",
    "hangi",
    "hangisi",
    "daha",
    "en",
    "ama",
    "evet",
    "bunu",
    "onu",
    "onun",
    "bunun",
    "onlar",
    "bunlar",
    "orada",
    "nerede",
    "nereye",
    "zaman",
    "anlat",
    "biraz",
    "tamam",
    "merhaba",
    "selam",
    "veya",
    "ki",
    "gibi",
    "sonra",
    "olur",
    "olarak",
    "bana",
    "benim",
    "bizim",
    "sizin",
    "nereden",
    "kimin",
    "kime",
    "sadece",
    "yine",
    "hem",
    "diye",
    "fark",
    "neler",
    "nelerdir",
    "nedir",
    "hakkında",
    "kaç",
    "için",
    "nasıl",
    "şu",
    "çok",
    "mı",
    "mü",
    "değil",
    "teşekkürler",
    "teşekkür",
    "lütfen",
    "başka",
    "nasil",
    "icin",
    "baska",
    "ederim",
];

const ENGLISH_WORDS: [&str; 66] = [
    "the", "a", "an", "is", "are", "was", "were", "do", "does", "did", "what", "how", "why", "who", "when", "where",
    "which", "of", "in", "on", "for", "to", "and", "or", "it", "that", "this", "these", "those", "they", "he", "she",
    "his", "her", "its", "their", "about", "with", "from", "by", "can", "could", "will", "would", "should", "i", "you",
    "we", "my", "your", "our", "tell", "me", "more", "any", "there", "thanks", "hello", "be", "have", "has", "if",
    "at", "yes", "no", "please",
];

/// Positive for Turkish, negative for English, 0 for no sign of either.
fn lean(text: &str) -> i32 {
    let mut end = text.len().min(LOOKED_AT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = &text[..end];
    let letters = text.chars().filter(|c| matches!(c, 'ğ' | 'ş' | 'ı' | 'Ğ' | 'Ş' | 'İ')).count() as i32;
    let shared = text.chars().filter(|c| matches!(c, 'ç' | 'ö' | 'ü' | 'Ç' | 'Ö' | 'Ü')).count() as i32;
    let mut lean = letters * 2 + shared;
    for token in tokenize(text, Language::Turkish).iter().filter(|t| t.word) {
        let word = token.lower.as_ref();
        let plain = if token.text.starts_with('I') { token.text.to_lowercase() } else { word.to_owned() };
        if ENGLISH_WORDS.contains(&plain.as_str()) {
            lean -= 2;
        } else if TURKISH_WORDS.contains(&word) {
            lean += 2;
        }
    }
    lean
}

/// The language of a follow-up: its own signs, else those of the newest turns, else English.
pub(crate) fn of(follow_up: &str, window: &Window<'_>) -> Language {
    let own = lean(follow_up);
    if own != 0 {
        return if own > 0 { Language::Turkish } else { Language::English };
    }
    let before: i32 = window.seen.iter().take(4).map(|seen| lean(seen.text)).sum();
    if before > 0 { Language::Turkish } else { Language::English }
}
