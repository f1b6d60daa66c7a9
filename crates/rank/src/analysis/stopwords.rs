//! Function words: they hold a sentence together and say nothing about its subject.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::document::Language;

/// Compared with folded words.
const ENGLISH: &str = "
a an the this that these those
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
it its itself they them their theirs themselves one ones someone something anyone anything everyone everything nothing
and or but nor so yet if then else than though although because while as until unless whether
of in on at by for with about against between among into through during before after above below to from up down out
off over under again onto upon within without toward towards via per
is am are was were be been being isn aren wasn weren ain
do does did doing done don doesn didn have has had having haven hasn hadn
can could will would shall should may might must cannot couldn wouldn shouldn mustn
not no yes only just also too very such same own both each few more most other some any all every either neither
who whom whose which what when where why how here there
now ever never always already still
let lets please
s t re ve ll d m
";

/// Compared with words in Turkish lower case. The spellings without Turkish letters stand beside them, except where
/// they would be another word (su, water; on, ten; is from iş, work).
const TURKISH: &str = "
bir bu şu o bunlar şunlar onlar bunun şunun onun bunu şunu onu buna şuna ona bundan ondan bunda onda bununla onunla
onların onları onlara sunlar bunlari onlari onlarin
ben sen biz siz beni seni bizi sizi bana sana bize size benim senim senin bizim sizin kendi kendisi kendini kendine
ve veya ya yada ile ama fakat ancak ki de da mi mı mu mü ise hem çünkü eğer yani oysa
cunku eger
için gibi kadar göre karşı doğru rağmen beri dolayı üzere sonra önce dair ait
icin gore ragmen dolayi uzere once
ne neden niçin niye nasıl nerede nereden nereye nere kim kimin kime kimi kaç hangi hangisi hani
nasil nicin kac
mıdır midir mudur müdür mıyım miyim mısın misin mısınız misiniz mıyız miyiz mıydı miydi muydu müydü
misiniz
var yok değil degil evet hayır hayir
dır dir dur dür tır tir tur tür idi imiş olan olarak olur oldu olduğu oldugu olup olmak olması olması olmasi olduğunu
oldugunu olmuş olmuştur olmus olmustur
etti eder eden ederek etmek edildi edilen edilmiştir
çok daha en az her hiç bazı tüm bütün diğer başka aynı böyle şöyle öyle şey bile sadece yalnızca artık hep henüz
cok hic bazi tum butun diger baska ayni boyle soyle oyle sey yalnizca artik henuz
peki lütfen lutfen
";

static ENGLISH_SET: LazyLock<HashSet<&'static str>> = LazyLock::new(|| ENGLISH.split_whitespace().collect());
static TURKISH_SET: LazyLock<HashSet<&'static str>> = LazyLock::new(|| TURKISH.split_whitespace().collect());

/// Whether a word is a function word of English, given folded.
pub(crate) fn is_english_stop_word(folded: &str) -> bool {
    ENGLISH_SET.contains(folded)
}

/// Whether a word is a function word of Turkish, given in Turkish lower case.
pub(crate) fn is_turkish_stop_word(lower: &str) -> bool {
    TURKISH_SET.contains(lower)
}

/// Whether a word of a text in `language` says nothing about its subject; in an unknown language, whether it does so
/// in either.
pub(crate) fn is_stop_word(language: Option<Language>, folded: &str, turkish_lower: &str) -> bool {
    match language {
        Some(Language::English) => is_english_stop_word(folded),
        Some(Language::Turkish) => is_turkish_stop_word(turkish_lower),
        None => is_english_stop_word(folded) || is_turkish_stop_word(turkish_lower),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_words_stop_and_content_words_do_not() {
        for word in ["the", "of", "what", "don", "how"] {
            assert!(is_english_stop_word(word), "{word}");
        }
        for word in ["refund", "long", "use", "work", "out-of-date", "year"] {
            assert!(!is_english_stop_word(word), "{word}");
        }
        for word in ["bir", "için", "icin", "mı", "nasıl", "peki", "değil"] {
            assert!(is_turkish_stop_word(word), "{word}");
        }
        for word in ["iade", "su", "on", "iş", "süre", "yer", "kargo"] {
            assert!(!is_turkish_stop_word(word), "{word}");
        }
    }

    #[test]
    fn each_language_keeps_the_other_ones_words() {
        assert!(!is_stop_word(Some(Language::English), "var", "var"), "a keyword of many programming languages");
        assert!(!is_stop_word(Some(Language::Turkish), "on", "on"), "ten");
        assert!(is_stop_word(None, "var", "var"));
    }
}
