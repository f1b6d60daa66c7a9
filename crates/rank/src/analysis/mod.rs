//! From text to the terms of each field.
//!
//! Any change here that gives other terms for the same document must raise [`ANALYSIS_VERSION`], so that an index
//! made before is refused and not searched with terms it does not hold. A test pins the terms of a table of texts.

mod fold;
mod grams;
mod identifiers;
mod language;
mod stem;
mod stopwords;
mod words;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

pub(crate) use language::language_of;
use language::start_of;

use crate::document::{Document, Language};
use crate::query::Query;
pub(crate) use fold::fold;
use fold::turkish_lower;
use grams::grams;
use identifiers::{humps, names};
use stem::stems;
use stopwords::is_stop_word;
use words::{Word, normalise, words};

/// Part of the format that an index states.
pub(crate) const ANALYSIS_VERSION: u32 = 2;

/// A query is read up to its first 256 different content words; the rest is ignored.
pub(crate) const MAX_QUERY_WORDS: usize = 256;

/// A query is read up to this many bytes, cut between characters.
pub(crate) const MAX_QUERY_BYTES: usize = 64 * 1024;

/// A query has at most this many different grams; the rest is ignored.
const MAX_QUERY_GRAMS: usize = 2_048;

/// The searched fields, in the order in which scores are added up.
///
/// A document has the stems of its own language in one of the first three, and its character grams in the fourth. A
/// record of a conversation has them a second time, together with its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FieldKind {
    Other,
    English,
    Turkish,
    Grams,
    ContextOther,
    ContextEnglish,
    ContextTurkish,
    ContextGrams,
}

/// How many searched fields there are.
pub(crate) const FIELDS: usize = 8;

impl FieldKind {
    pub(crate) const ALL: [Self; FIELDS] = [
        Self::Other,
        Self::English,
        Self::Turkish,
        Self::Grams,
        Self::ContextOther,
        Self::ContextEnglish,
        Self::ContextTurkish,
        Self::ContextGrams,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Other => "other",
            Self::English => "english",
            Self::Turkish => "turkish",
            Self::Grams => "grams",
            Self::ContextOther => "context_other",
            Self::ContextEnglish => "context_english",
            Self::ContextTurkish => "context_turkish",
            Self::ContextGrams => "context_grams",
        }
    }

    /// Which of a query's four groups of terms the field is asked for.
    pub(crate) fn group(self) -> usize {
        self as usize % 4
    }

    pub(crate) fn is_grams(self) -> bool {
        self.group() == Self::Grams as usize
    }

    pub(crate) fn is_context(self) -> bool {
        self as usize >= 4
    }
}

/// The group of a language's stems.
pub(crate) fn stem_group(language: Option<Language>) -> usize {
    match language {
        None => FieldKind::Other as usize,
        Some(Language::English) => FieldKind::English as usize,
        Some(Language::Turkish) => FieldKind::Turkish as usize,
    }
}

/// Between the terms of a field: no term holds it.
pub(crate) const SEPARATOR: char = '\u{1}';

/// A document's terms, and what else its text tells.
pub(crate) struct DocumentTerms {
    /// By field in the order of [`FieldKind::ALL`], each term closed by [`SEPARATOR`].
    pub(crate) fields: [String; FIELDS],
    pub(crate) language: Option<Language>,
    /// How many words the text has, title and context left out.
    pub(crate) words: usize,
}

/// The terms of a document: the stems of its own language without function words (the folded words where it has no
/// language of ours), its names from code whole and in parts, and the 4-grams of all its words.
pub(crate) fn document_terms(document: &Document) -> DocumentTerms {
    let whole = match &document.title {
        Some(title) => Cow::Owned(format!("{title}\n{}", document.text)),
        None => Cow::Borrowed(document.text.as_str()),
    };
    let language = document.language.or_else(|| language_of(&whole));
    let mut fields: [String; FIELDS] = Default::default();
    let words = terms_of(&whole, language, &mut fields, 0);
    if let Some(context) = document.context.as_deref().filter(|_| document.turn.is_some()) {
        terms_of(&format!("{context}\n{whole}"), language, &mut fields, 4);
    }
    DocumentTerms { fields, language, words }
}

/// Puts the terms of a text into its two fields behind `first`; gives the number of words.
fn terms_of(text: &str, language: Option<Language>, fields: &mut [String; FIELDS], first: usize) -> usize {
    let normalised = normalise(text);
    let words = words(&normalised);
    let folded: Vec<String> = words.iter().map(|word| fold(word.text)).collect();
    let gram_field = &mut fields[first + FieldKind::Grams as usize];
    for word in &folded {
        grams(word, |gram| push(gram_field, gram));
    }
    let stem_field = &mut fields[first + stem_group(language)];
    match language {
        Some(language) => {
            let content: Vec<Word<'_>> = words
                .iter()
                .zip(&folded)
                .filter(|(word, folded)| !is_function_word(word, folded, Some(language)))
                .flat_map(|(word, _)| with_humps(*word))
                .collect();
            for stem in stems(&content, language) {
                push(stem_field, &stem);
            }
        }
        None => folded.iter().for_each(|word| push(stem_field, word)),
    }
    for name in names(&normalised) {
        push(stem_field, &name);
    }
    words.len()
}

fn push(field: &mut String, term: &str) {
    field.push_str(term);
    field.push(SEPARATOR);
}

/// What a query asks the fields for.
#[derive(Debug, Default)]
pub(crate) struct QueryTerms {
    /// The distinct terms with their weight in the query, by group: folded words, English stems, Turkish stems, grams.
    pub(crate) groups: [BTreeMap<String, f64>; 4],
    /// The query's language, stated or found.
    pub(crate) language: Option<Language>,
}

/// The terms of a query, or why there are none, in words for a person.
pub(crate) fn query_terms(query: &Query) -> Result<QueryTerms, &'static str> {
    let mut terms =
        QueryTerms { language: query.language.or_else(|| language_of(&query.text)), ..QueryTerms::default() };
    let mut seen: HashSet<String> = HashSet::new();
    let mut any_word = false;
    if query.terms.is_empty() {
        if query.text.trim().is_empty() {
            return Err("the query is empty");
        }
        any_word = add_text(&query.text, 1.0, &mut terms, &mut seen);
    } else {
        for term in &query.terms {
            any_word |= add_text(&term.text, term.weight, &mut terms, &mut seen);
        }
    }
    if terms.groups[..3].iter().all(BTreeMap::is_empty) {
        return Err(if any_word {
            "the query has only function words, which say nothing about a subject"
        } else {
            "the query has no letter or digit"
        });
    }
    Ok(terms)
}

/// Adds the terms of a piece of a query; whether it has a word at all.
fn add_text(text: &str, weight: f64, terms: &mut QueryTerms, seen: &mut HashSet<String>) -> bool {
    let normalised = normalise(start_of(text, MAX_QUERY_BYTES));
    let words = words(&normalised);
    let language = terms.language;
    let mut content: Vec<Word<'_>> = Vec::new();
    for word in &words {
        let folded = fold(word.text);
        grams(&folded, |gram| {
            let grams = &mut terms.groups[FieldKind::Grams as usize];
            if let Some(count) = grams.get_mut(gram) {
                *count += weight;
            } else if grams.len() < MAX_QUERY_GRAMS {
                grams.insert(gram.to_owned(), weight);
            }
        });
        if seen.len() >= MAX_QUERY_WORDS || is_function_word(word, &folded, language) {
            continue;
        }
        content.push(*word);
        *terms.groups[FieldKind::Other as usize].entry(folded.clone()).or_insert(0.0) += weight;
        seen.insert(folded);
    }
    let parted: Vec<Word<'_>> = content.iter().flat_map(|word| with_humps(*word)).collect();
    for language in [Language::English, Language::Turkish] {
        let group = &mut terms.groups[stem_group(Some(language))];
        for stem in stems(&parted, language) {
            *group.entry(stem).or_insert(0.0) += weight;
        }
    }
    if !content.is_empty() {
        for name in names(&normalised).into_iter().take(MAX_QUERY_WORDS) {
            for group in &mut terms.groups[..3] {
                *group.entry(name.clone()).or_insert(0.0) += weight;
            }
        }
    }
    !words.is_empty()
}

/// The folded words of a text, in order.
pub(crate) fn query_words(text: &str) -> Vec<String> {
    let normalised = normalise(start_of(text, MAX_QUERY_BYTES));
    words(&normalised).iter().map(|word| fold(word.text)).collect()
}

fn is_function_word(word: &Word<'_>, folded: &str, language: Option<Language>) -> bool {
    word.negated || is_stop_word(language, folded, &turkish_lower(word.text))
}

/// The word, and behind it the parts of a name in camel case.
fn with_humps(word: Word<'_>) -> Vec<Word<'_>> {
    let parts = humps(word.text);
    if parts.len() < 2 {
        return vec![word];
    }
    let parts = parts.into_iter().filter(|part| part.chars().nth(1).is_some());
    std::iter::once(word).chain(parts.map(|text| Word { text, negated: false })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields that hold something, their terms in the order of the text.
    fn fields_of(document: &Document) -> Vec<(&'static str, String)> {
        let terms = document_terms(document);
        let spaced = |kind: FieldKind| terms.fields[kind as usize].replace(SEPARATOR, " ").trim_end().to_owned();
        FieldKind::ALL.iter().map(|kind| (kind.name(), spaced(*kind))).filter(|(_, terms)| !terms.is_empty()).collect()
    }

    fn query_groups(query: &Query) -> [String; 4] {
        let terms = query_terms(query).unwrap();
        terms.groups.map(|group| group.keys().cloned().collect::<Vec<_>>().join(" "))
    }

    /// These are the terms of analysis version 2. When a change moves them, raise `ANALYSIS_VERSION` with it.
    #[test]
    fn the_terms_of_a_version_do_not_move() {
        assert_eq!(ANALYSIS_VERSION, 2);
        let english = Document::new("a", "Refunds aren't paid by parse_config().").with_title("Company's");
        assert_eq!(
            fields_of(&english),
            [
                ("english", "compani refund paid pars config parse_config".to_owned()),
                (
                    "grams",
                    "_com comp ompa mpan pany any_ _ref refu efun fund unds nds_ _are aren ren_ _pai paid aid_ _by_ \
                     _par pars arse rse_ _con conf onfi nfig fig_"
                        .to_owned()
                ),
            ]
        );
        let turkish = Document::new("b", "İadeler 1.000 gün içinde Ankara’ya IŞIK hızıyla ödenir.");
        assert_eq!(fields_of(&turkish)[0], ("turkish", "iade 1000 gun icin ankar isik hizi odenir".to_owned()),);
        let other = Document::new("c", "返金は v2.0");
        assert_eq!(
            fields_of(&other),
            [("other", "返金 金は v2 0 v2.0".to_owned()), ("grams", "_返金_ _金は_ _v2_ _0_".to_owned())]
        );
    }

    #[test]
    fn only_a_record_of_a_conversation_has_its_context_beside_it() {
        let context = Some("Who is Deniz?".to_owned());
        let page = Document { context, ..Document::new("a", "We met him on Friday.") };
        assert!(
            fields_of(&page).iter().all(|(field, terms)| !field.starts_with("context") && !terms.contains("deniz"))
        );
        let fields = fields_of(&page.with_turn("session", 3, None));
        assert_eq!(fields[0], ("english", "met friday".to_owned()));
        assert_eq!(fields[2], ("context_english", "deniz met friday".to_owned()));
    }

    #[test]
    fn a_query_asks_every_group_without_function_words() {
        let [other, english, turkish, grams] = query_groups(&Query::new("Where is the parse_config of Ankara'ya?"));
        assert_eq!(other, "ankara config parse parse_config");
        assert_eq!(english, "ankara config pars parse_config");
        assert_eq!(turkish, "ankar configi pars parse_config");
        assert!(grams.contains("_whe") && grams.contains("kara") && !grams.contains("ya_"), "{grams}");
    }

    #[test]
    fn weighted_terms_stand_in_for_the_text() {
        let query =
            Query::new("what about that?").with_terms([("refund".to_owned(), 2.0), ("damaged refund".to_owned(), 0.5)]);
        let terms = query_terms(&query).unwrap();
        let english = &terms.groups[FieldKind::English as usize];
        assert_eq!(
            english.iter().map(|(term, weight)| (term.as_str(), *weight)).collect::<Vec<_>>(),
            [("damag", 0.5), ("refund", 2.5)]
        );
    }

    #[test]
    fn a_query_without_content_says_why() {
        let reason = |text: &str| query_terms(&Query::new(text)).unwrap_err();
        assert_eq!(reason(""), "the query is empty");
        assert_eq!(reason(" \t\n"), "the query is empty");
        assert_eq!(reason("?! 📦 \u{200b}"), "the query has no letter or digit");
        assert!(reason("what is it").contains("function words"));
        assert!(reason("bu ne için").contains("function words"));
    }

    #[test]
    fn an_enormous_query_is_read_up_to_the_cap() {
        let many = (0..200_000).map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ");
        let terms = query_terms(&Query::new(many)).unwrap();
        assert_eq!(terms.groups[FieldKind::Other as usize].len(), MAX_QUERY_WORDS);
        assert!(terms.groups[..3].iter().all(|group| group.len() <= 3 * MAX_QUERY_WORDS));
        assert!(terms.groups[FieldKind::Grams as usize].len() <= MAX_QUERY_GRAMS);
    }
}
