//! Words that can be compared across case, accents and endings, in English and Turkish.

use std::collections::BTreeSet;

/// Words that say nothing about what is asked, folded (see [`fold`]).
const FUNCTION_WORDS: [&str; 133] = [
    "a", "about", "after", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can",
    "could", "did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "his", "how", "if", "in", "into",
    "is", "it", "its", "me", "my", "not", "of", "on", "or", "our", "please", "she", "should", "so", "some", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "us", "was", "we", "were",
    "what", "when", "where", "which", "who", "whom", "whose", "why", "will", "with", "would", "you", "your", "ama",
    "bana", "ben", "benim", "bir", "biz", "bizim", "bu", "bunu", "bunun", "da", "daha", "de", "diye", "en", "gibi",
    "hangi", "hem", "icin", "ile", "ise", "kac", "kadar", "ki", "kim", "mi", "mu", "nasil", "ne", "neden", "nedir",
    "nerede", "niye", "o", "olan", "olarak", "olur", "onlar", "onu", "onun", "peki", "sen", "senin", "siz", "sizin",
    "sonra", "su", "sunu", "ve", "veya", "ya", "yani", "yok", "var", "zaman", "cok", "bunlar",
];

/// The words of a question.
pub(super) struct Words(Vec<String>);

impl Words {
    /// The words that carry the question; all of them, when none does.
    pub(super) fn asked(question: &str) -> Self {
        let mut all: Vec<String> = Vec::new();
        for word in words(question) {
            if !all.contains(&word) {
                all.push(word);
            }
        }
        let carrying: Vec<String> =
            all.iter().filter(|word| !FUNCTION_WORDS.contains(&word.as_str())).cloned().collect();
        Words(if carrying.is_empty() { all } else { carrying })
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Which of the words, by their place in the question, stand in a text.
    pub(super) fn found_in(&self, text: &str) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for word in words(text) {
            found.extend((0..self.0.len()).filter(|at| same_word(&self.0[*at], &word)));
            if found.len() == self.0.len() {
                break;
            }
        }
        found
    }
}

/// The words of a text, folded. Single letters are left out, as the `s` of `what's`; single digits are not.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|character: char| !character.is_alphanumeric() && character != '\u{307}')
        .filter(|word| word.chars().nth(1).is_some() || word.starts_with(|first: char| first.is_numeric()))
        .map(fold)
}

/// Without case and accents. The four letters I, ı, İ and i become one: which of them are a pair depends on the
/// language, and a question is often written without its dots and tails.
fn fold(word: &str) -> String {
    word.chars()
        .flat_map(char::to_lowercase)
        .filter(|character| !('\u{300}'..='\u{36f}').contains(character))
        .map(|character| match character {
            'ı' | 'î' | 'í' => 'i',
            'ş' => 's',
            'ğ' => 'g',
            'ç' => 'c',
            'ö' => 'o',
            'ü' | 'û' => 'u',
            'â' | 'á' | 'à' => 'a',
            'é' | 'è' => 'e',
            other => other,
        })
        .collect()
}

/// Whether two folded words are forms of one: `refund` and `refunds`, `ürün` and `ürünlerin`, `warranty` and
/// `warranties`. No stemmer: where endings pile up, as in Turkish, a word is the beginning of its forms.
fn same_word(left: &str, right: &str) -> bool {
    let shared = left.chars().zip(right.chars()).take_while(|(left, right)| left == right).count();
    let (left, right) = (left.chars().count(), right.chars().count());
    let (shorter, longer) = (left.min(right), left.max(right));
    let whole = shared == shorter;
    match shorter {
        0..=2 => whole && longer == shorter,
        // Short words are the beginning of too many others ("app", "apply").
        3 => whole && longer <= 4,
        // The last letter may change before an ending ("kitap", "kitabı").
        _ => whole || (shared >= 4 && shared + 1 >= shorter),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_word() {
        for (left, right, same) in [
            ("Refund", "refunds", true),
            ("damaged", "DAMAGE", true),
            ("warranty", "warranties", true),
            ("İADE", "iadeleriniz", true),
            ("ısıtıcı", "ISITICININ", true),
            ("Iron", "iron", true),
            ("kitap", "kitabı", true),
            ("ürün", "ürünler", true),
            ("urun", "ürünler", true),
            ("app", "apps", true),
            ("app", "apply", false),
            ("refund", "refuse", false),
            ("account", "accord", false),
            ("30", "300", false),
            ("in", "into", false),
        ] {
            assert_eq!(same_word(&fold(left), &fold(right)), same, "{left} {right}");
        }
    }

    #[test]
    fn what_carries_a_question() {
        assert_eq!(Words::asked("What's our refund window?").0, ["refund", "window"]);
        assert_eq!(Words::asked("Peki o iade ne kadar sürer?").0, ["iade", "surer"]);
        assert_eq!(Words::asked("What is it?").0, ["what", "is", "it"]);
        assert_eq!(Words::asked("refund, refund!").0, ["refund"]);
        assert_eq!(Words::asked("?!").len(), 0);
    }

    #[test]
    fn a_dot_that_stands_apart_is_no_letter() {
        assert_eq!(fold("i\u{307}ade"), "iade");
        assert_eq!(fold("İade"), "iade");
    }

    #[test]
    fn the_function_words_are_folded() {
        for word in FUNCTION_WORDS {
            assert_eq!(fold(word), word);
        }
    }
}
