//! Turkish suffixes: taken off by form, put on by vowel harmony.

/// The case of a noun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Nominative,
    Accusative,
    Dative,
    Locative,
    Ablative,
    Genitive,
    Instrumental,
}

pub(super) fn is_vowel(c: char) -> bool {
    matches!(c, 'a' | 'e' | 'ı' | 'i' | 'o' | 'ö' | 'u' | 'ü' | 'â' | 'î' | 'û')
}

pub(super) fn ends_in_vowel(word: &str) -> bool {
    word.chars().next_back().is_some_and(is_vowel)
}

pub(super) fn vowels(word: &str) -> usize {
    word.chars().filter(|c| is_vowel(*c)).count()
}

fn last_vowel(word: &str) -> char {
    word.chars().rev().find(|c| is_vowel(*c)).unwrap_or_else(|| {
        // A code is read out: what its last character is called decides ("E42'nin": iki; "5'in": beş).
        match word.chars().next_back() {
            Some('0' | '6' | '9') => 'ı',
            Some('3' | '4') => 'ü',
            _ => 'e',
        }
    })
}

/// The vowel of a four-way suffix (ı, i, u, ü).
pub(super) fn high_vowel(word: &str) -> char {
    match last_vowel(word) {
        'a' | 'ı' | 'â' => 'ı',
        'o' | 'u' | 'û' => 'u',
        'ö' | 'ü' => 'ü',
        _ => 'i',
    }
}

/// The vowel of a two-way suffix (a, e).
pub(super) fn low_vowel(word: &str) -> char {
    if matches!(last_vowel(word), 'a' | 'ı' | 'o' | 'u' | 'â' | 'û') { 'a' } else { 'e' }
}

/// Whether the last sound asks for `t` instead of `d`.
fn hard(word: &str) -> bool {
    word.chars()
        .next_back()
        .is_some_and(|c| matches!(c, 'f' | 's' | 't' | 'k' | 'ç' | 'ş' | 'h' | 'p' | '3' | '4' | '5'))
}

/// How the sound of a word ends: a number is read out.
fn vowel_final(word: &str) -> bool {
    match word.chars().next_back() {
        Some('2' | '6' | '7') => true,
        Some(c) if c.is_ascii_digit() => false,
        _ => ends_in_vowel(word),
    }
}

/// The end of a stem before a vowel: `köpek` -> `köpeğ`, `kitap` -> `kitab`, `ağaç` -> `ağac`. Words of one syllable and
/// names keep their consonant; `t` changes only in few words, which are not worth a list.
fn softened(word: &str) -> String {
    let mut stem = word.to_owned();
    if vowels(word) < 2 && !matches!(word, "renk" | "çok" | "gök" | "kap" | "dip" | "uç") {
        return stem;
    }
    let soft = match (word.chars().next_back(), word.chars().rev().nth(1)) {
        (Some('k'), Some('n')) => "g",
        (Some('k'), Some(before)) if is_vowel(before) => "ğ",
        (Some('p'), _) => "b",
        (Some('ç'), _) => "c",
        _ => return stem,
    };
    stem.pop();
    stem.push_str(soft);
    stem
}

/// A noun phrase in a case. `word` is the phrase in the nominative; `name` puts an apostrophe and keeps the stem;
/// `compound` is a phrase whose last word ends in the possessive (`kahve makinesi`), which takes an `n` before cases.
pub(super) fn inflect(phrase: &str, case: Case, name: bool, compound: bool) -> String {
    let lowered = crate::token::lower(phrase, crate::Language::Turkish);
    let last = lowered.split_whitespace().next_back().unwrap_or("");
    if last.is_empty() || case == Case::Nominative {
        return phrase.to_owned();
    }
    let vowel = vowel_final(last);
    let (high, low) = (high_vowel(last), low_vowel(last));
    let mark = if name { "'" } else { "" };
    let suffix = match case {
        Case::Nominative => String::new(),
        Case::Genitive if vowel => format!("n{high}n"),
        Case::Genitive => format!("{high}n"),
        Case::Accusative if compound => format!("n{high}"),
        Case::Accusative if vowel => format!("y{high}"),
        Case::Accusative => high.to_string(),
        Case::Dative if compound => format!("n{low}"),
        Case::Dative if vowel => format!("y{low}"),
        Case::Dative => low.to_string(),
        Case::Locative if compound => format!("nd{low}"),
        Case::Locative => format!("{}{low}", if hard(last) { 't' } else { 'd' }),
        Case::Ablative if compound => format!("nd{low}n"),
        Case::Ablative => format!("{}{low}n", if hard(last) { 't' } else { 'd' }),
        Case::Instrumental if vowel => format!("yl{low}"),
        Case::Instrumental => format!("l{low}"),
    };
    let vowel_suffix = suffix.chars().next().is_some_and(is_vowel);
    if name || !vowel_suffix || vowel {
        return format!("{phrase}{mark}{suffix}");
    }
    // The softening is written into the phrase itself, whatever its capitals.
    let soft = softened(last);
    let kept = phrase.strip_suffix(last).unwrap_or(phrase);
    if kept.len() == phrase.len() { format!("{phrase}{suffix}") } else { format!("{kept}{soft}{suffix}") }
}

/// The third-person possessive: `politika` -> `politikası`, `ücret` -> `ücreti`, `köpek` -> `köpeği`.
pub(super) fn possessed(word: &str) -> String {
    let high = high_vowel(word);
    if ends_in_vowel(word) { format!("{word}s{high}") } else { format!("{}{high}", softened(word)) }
}

/// Nouns whose end looks like a case.
const NOT_LOCATIVE: &str = " oda moda vade pasta hasta madde sade nokta posta harita yumurta usta gıda cadde perde hata \
fayda kaide mide irade rota kota çanta orta tahta hafta iade müjde banda marmelade randa rende sevda veda ordu panda \
soda kanada hastada gösterge yanda önde içinde üzerinde altında sırasında arasında hakkında ";
const NOT_DATIVE: &str = " dünya rüya kimya medya dosya hikaye boya kaya mobilya maya gaye üye soya papaya asya aya ";
const NOT_ACCUSATIVE: &str = " sayı dayı kıyı iyi kuyu büyü duyu köyü uyku sırayı ayı yayı çayı payı oyu soyu boyu ";
const NOT_ABLATIVE: &str = " neden beden maden birden sudan yeniden önceden hemen yaratan mademden ";

fn listed(list: &str, word: &str) -> bool {
    // The lists are written with a space around every word.
    list.match_indices(word).any(|(at, _)| list[..at].ends_with(' ') && list[at + word.len()..].starts_with(' '))
}

/// Whether an `n` belongs to the stem: `insanın` is `insan` + `ın`, `faturanın` is `fatura` + `nın`.
fn stem_in_n(stem_with_n: &str) -> bool {
    ["man", "yon", "fon", "san", "dın", "rün", "zan", "ron", "men", "gen", "ekran", "plan", "kran"]
        .iter()
        .any(|end| stem_with_n.ends_with(end))
}

/// A word in lower case without its case ending, and the case. What cannot be told by form alone (a dative in `a` or an
/// accusative in `ı` after a consonant) is left on.
pub(super) fn split_case(word: &str) -> (String, Case) {
    if let Some(at) = word.find(['\'', '’']) {
        let suffix = word[at..].trim_start_matches(['\'', '’']);
        return (word[..at].to_owned(), case_of_suffix(suffix));
    }
    let count = word.chars().count();
    let strip = |ending: &str, least: usize| {
        word.strip_suffix(ending).filter(|stem| stem.chars().count() >= least && vowels(stem) >= 1).map(str::to_owned)
    };
    for ending in ["ndan", "nden"] {
        if let Some(stem) = strip(ending, 4).filter(|s| ends_in_vowel(s)) {
            return (stem, Case::Ablative);
        }
    }
    for ending in ["nda", "nde"] {
        if let Some(stem) = strip(ending, 4).filter(|s| ends_in_vowel(s) && !listed(NOT_LOCATIVE, word)) {
            return (stem, Case::Locative);
        }
    }
    for ending in ["dan", "den", "tan", "ten"] {
        if let Some(stem) = strip(ending, 3).filter(|_| !listed(NOT_ABLATIVE, word) && !word.ends_with("istan")) {
            return (stem, Case::Ablative);
        }
    }
    for ending in ["da", "de", "ta", "te"] {
        if let Some(stem) = strip(ending, 3).filter(|_| !listed(NOT_LOCATIVE, word) && count > 4) {
            return (stem, Case::Locative);
        }
    }
    for ending in ["nın", "nin", "nun", "nün"] {
        if let Some(stem) = strip(ending, 3).filter(|s| ends_in_vowel(s)) {
            let with_n = format!("{stem}n");
            return (if stem_in_n(&with_n) { with_n } else { stem }, Case::Genitive);
        }
    }
    for ending in ["ın", "in", "un", "ün"] {
        if let Some(stem) = strip(ending, 4).filter(|s| !ends_in_vowel(s) && vowels(s) >= 2) {
            return (hardened(&stem), Case::Genitive);
        }
    }
    for ending in ["nı", "ni", "nu", "nü"] {
        if let Some(stem) = strip(ending, 4).filter(|s| compound_end(s)) {
            return (stem, Case::Accusative);
        }
    }
    for ending in ["na", "ne"] {
        if let Some(stem) = strip(ending, 4).filter(|s| compound_end(s)) {
            return (stem, Case::Dative);
        }
    }
    // "kedimi", "hesabıma", and as well "sistemi": an m between high vowels and a case.
    for (ending, case) in [
        ("mı", Case::Accusative),
        ("mi", Case::Accusative),
        ("mu", Case::Accusative),
        ("mü", Case::Accusative),
        ("ma", Case::Dative),
        ("me", Case::Dative),
    ] {
        let stem = strip(ending, 3).filter(|s| {
            s.chars().next_back().is_some_and(|c| matches!(c, 'ı' | 'i' | 'u' | 'ü'))
                || (case == Case::Accusative && ends_in_vowel(s))
        });
        if let Some(stem) = stem {
            return (format!("{stem}m"), case);
        }
    }
    for ending in ["yı", "yi", "yu", "yü"] {
        if let Some(stem) = strip(ending, 3).filter(|s| ends_in_vowel(s) && !listed(NOT_ACCUSATIVE, word)) {
            return (stem, Case::Accusative);
        }
    }
    for ending in ["ya", "ye"] {
        if let Some(stem) =
            strip(ending, 3).filter(|s| ends_in_vowel(s) && !s.ends_with('i') && !listed(NOT_DATIVE, word))
        {
            return (stem, Case::Dative);
        }
    }
    for ending in ["yla", "yle"] {
        if let Some(stem) = strip(ending, 3).filter(|s| ends_in_vowel(s)) {
            return (stem, Case::Instrumental);
        }
    }
    for ending in ["ğı", "ği", "ğu", "ğü"] {
        if let Some(stem) = strip(ending, 3).filter(|s| vowels(s) >= 2) {
            return (format!("{stem}k"), Case::Accusative);
        }
    }
    for ending in ["ları", "leri"] {
        if strip(ending, 2).is_some() {
            return (word.to_owned(), Case::Nominative);
        }
    }
    (word.to_owned(), Case::Nominative)
}

/// `si` after a vowel, `ları`: the end of a compound before its `n`.
fn compound_end(stem: &str) -> bool {
    let plural = ["ları", "leri"].iter().any(|e| stem.ends_with(e));
    let mut back = stem.chars().rev();
    let vowel = back.next().is_some_and(|c| matches!(c, 'ı' | 'i' | 'u' | 'ü'));
    let s = back.next() == Some('s');
    plural || (vowel && s && back.next().is_some_and(is_vowel))
}

/// A softened end before the vowel suffix came off: `köpeğ` -> `köpek`.
fn hardened(stem: &str) -> String {
    match stem.strip_suffix('ğ') {
        Some(body) => format!("{body}k"),
        None => stem.to_owned(),
    }
}

fn case_of_suffix(suffix: &str) -> Case {
    match suffix {
        "ın" | "in" | "un" | "ün" | "nın" | "nin" | "nun" | "nün" => Case::Genitive,
        "ı" | "i" | "u" | "ü" | "yı" | "yi" | "yu" | "yü" | "nı" | "ni" | "nu" | "nü" => Case::Accusative,
        "a" | "e" | "ya" | "ye" | "na" | "ne" => Case::Dative,
        "da" | "de" | "ta" | "te" | "nda" | "nde" => Case::Locative,
        "dan" | "den" | "tan" | "ten" | "ndan" | "nden" => Case::Ablative,
        "la" | "le" | "yla" | "yle" => Case::Instrumental,
        _ => Case::Nominative,
    }
}

/// The word without the first or second person's possessive plural: `süremiz` -> `süre`, `siparişiniz` -> `sipariş`.
pub(super) fn without_our(word: &str) -> Option<String> {
    for ending in ["ımız", "imiz", "umuz", "ümüz", "ınız", "iniz", "unuz", "ünüz"] {
        if let Some(stem) = word.strip_suffix(ending).filter(|s| s.chars().count() >= 3 && !ends_in_vowel(s)) {
            return Some(hardened(stem));
        }
    }
    for ending in ["mız", "miz", "muz", "müz", "nız", "niz", "nuz", "nüz"] {
        if let Some(stem) = word.strip_suffix(ending).filter(|s| s.chars().count() >= 3 && ends_in_vowel(s)) {
            return Some(stem.to_owned());
        }
    }
    None
}

/// The word without a third person's possessive, for looking its stem up: `süresi` -> `süre`, `ücreti` -> `ücret`.
pub(super) fn without_possessive(word: &str) -> Option<String> {
    for ending in ["ları", "leri"] {
        if let Some(stem) = word.strip_suffix(ending).filter(|s| s.chars().count() >= 2) {
            return Some(stem.to_owned());
        }
    }
    for ending in ["sı", "si", "su", "sü"] {
        if let Some(stem) = word.strip_suffix(ending).filter(|s| s.chars().count() >= 2 && ends_in_vowel(s)) {
            return Some(stem.to_owned());
        }
    }
    for ending in ["ı", "i", "u", "ü"] {
        if let Some(stem) = word.strip_suffix(ending).filter(|s| s.chars().count() >= 2 && !ends_in_vowel(s)) {
            let body = hardened(stem);
            return Some(match body.chars().next_back() {
                Some('b') => format!("{}p", &body[..body.len() - 1]),
                Some('c') => format!("{}ç", &body[..body.len() - 1]),
                _ => body,
            });
        }
    }
    None
}

/// Every stem that a word could have under a third person's possessive: `adresi` -> `adre`, `adres`.
pub(super) fn possessive_stems(word: &str) -> impl Iterator<Item = String> {
    let plain =
        word.strip_suffix(['ı', 'i', 'u', 'ü']).filter(|s| s.chars().count() >= 2 && !ends_in_vowel(s)).map(hardened);
    without_possessive(word).into_iter().chain(plain)
}

/// The word without the plural: `belirtiler` -> `belirti`.
pub(super) fn without_plural(word: &str) -> &str {
    word.strip_suffix("lar").or_else(|| word.strip_suffix("ler")).filter(|s| s.chars().count() >= 2).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_by_harmony() {
        let table: [(&str, Case, bool, bool, &str); 22] = [
            ("kahve makinesi", Case::Accusative, false, true, "kahve makinesini"),
            ("E42 hatası", Case::Accusative, false, true, "E42 hatasını"),
            ("Boran", Case::Genitive, true, false, "Boran'ın"),
            ("Kemal Arslan", Case::Genitive, true, false, "Kemal Arslan'ın"),
            ("Kazbek Dağı", Case::Locative, true, true, "Kazbek Dağı'nda"),
            ("Oslo ofisi", Case::Locative, false, true, "Oslo ofisinde"),
            ("köpek", Case::Accusative, false, false, "köpeği"),
            ("kitap", Case::Genitive, false, false, "kitabın"),
            ("fatura", Case::Genitive, false, false, "faturanın"),
            ("fatura", Case::Accusative, false, false, "faturayı"),
            ("havuz", Case::Genitive, false, false, "havuzun"),
            ("ürün", Case::Dative, false, false, "ürüne"),
            ("ofis", Case::Locative, false, false, "ofiste"),
            ("sunucu", Case::Ablative, false, false, "sunucudan"),
            ("İzmir", Case::Ablative, true, false, "İzmir'den"),
            ("kart", Case::Accusative, false, false, "kartı"),
            ("renk", Case::Accusative, false, false, "rengi"),
            ("ağaç", Case::Accusative, false, false, "ağacı"),
            ("gözlük", Case::Genitive, false, false, "gözlüğün"),
            ("köy", Case::Dative, false, false, "köye"),
            ("kargo", Case::Instrumental, false, false, "kargoyla"),
            ("E42", Case::Genitive, true, false, "E42'nin"),
        ];
        for (phrase, case, name, compound, expected) in table {
            assert_eq!(inflect(phrase, case, name, compound), expected);
        }
    }

    #[test]
    fn possessives() {
        for (word, expected) in [
            ("politika", "politikası"),
            ("ücret", "ücreti"),
            ("köpek", "köpeği"),
            ("süre", "süresi"),
            ("kural", "kuralı"),
        ] {
            assert_eq!(possessed(word), expected);
        }
    }

    #[test]
    fn cases_come_off() {
        for (word, stem, case) in [
            ("norveç'e", "norveç", Case::Dative),
            ("deposunu", "deposu", Case::Accusative),
            ("etanolün", "etanol", Case::Genitive),
            ("faturanın", "fatura", Case::Genitive),
            ("insanın", "insan", Case::Genitive),
            ("ofisinde", "ofisi", Case::Locative),
            ("ofiste", "ofis", Case::Locative),
            ("köpeği", "köpek", Case::Accusative),
            ("iade", "iade", Case::Nominative),
            ("ürün", "ürün", Case::Nominative),
            ("belirtileri", "belirtileri", Case::Nominative),
        ] {
            assert_eq!(split_case(word), (stem.to_owned(), case), "{word}");
        }
        assert_eq!(without_our("süremiz").as_deref(), Some("süre"));
        assert_eq!(without_our("siparişimiz").as_deref(), Some("sipariş"));
        assert_eq!(without_our("deniz"), None);
    }
}
