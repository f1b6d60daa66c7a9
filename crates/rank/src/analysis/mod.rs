//! From text to the terms of each field.
//!
//! Any change here that gives other terms for the same document must raise [`ANALYSIS_VERSION`], so that an index
//! made before is refused and not searched with terms it does not hold. A test pins the terms of a table of texts.

mod fold;
mod identifiers;
mod language;
mod stem;
mod stopwords;
mod words;

use std::collections::{BTreeMap, HashSet};

pub(crate) use language::language_of;
use language::start_of;

use crate::document::{Document, Language};
use crate::query::Query;
use fold::{fold, turkish_lower};
use identifiers::{humps, identifiers};
use stem::stems;
use stopwords::is_stop_word;
use words::{Word, normalise, words};

/// Part of the format that an index states.
pub(crate) const ANALYSIS_VERSION: u32 = 1;

/// A query is read up to its first 256 different content words; the rest is ignored.
pub(crate) const MAX_QUERY_WORDS: usize = 256;

/// A query is read up to this many bytes, cut between characters.
pub(crate) const MAX_QUERY_BYTES: usize = 64 * 1024;

/// The searched fields, in the order in which scores are added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FieldKind {
    Neutral,
    English,
    Turkish,
    Identifiers,
}

impl FieldKind {
    pub(crate) const ALL: [Self; 4] = [Self::Neutral, Self::English, Self::Turkish, Self::Identifiers];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Neutral => "neutral",
            Self::English => "english",
            Self::Turkish => "turkish",
            Self::Identifiers => "identifiers",
        }
    }
}

/// The terms of a document, by field in the order of [`FieldKind::ALL`].
pub(crate) type DocumentTerms = [Vec<String>; 4];

/// The distinct terms of a query with their number of occurrences, by field in the order of [`FieldKind::ALL`].
pub(crate) type QueryTerms = [BTreeMap<String, u32>; 4];

/// The terms of a document: its folded words, the stems of its own language without function words, its names.
pub(crate) fn document_terms(document: &Document) -> DocumentTerms {
    let whole = match &document.title {
        Some(title) => format!("{title}\n{}", document.text),
        None => document.text.clone(),
    };
    let normalised = normalise(&whole);
    let words = words(&normalised);
    let mut terms = DocumentTerms::default();
    terms[FieldKind::Neutral as usize] = words.iter().map(|word| fold(word.text)).collect();
    if let Some(language) = document.language.or_else(|| language_of(&whole)) {
        let content: Vec<Word<'_>> = words
            .iter()
            .filter(|word| !is_function_word(word, Some(language)))
            .flat_map(|word| with_humps(*word))
            .collect();
        let field = match language {
            Language::English => FieldKind::English,
            Language::Turkish => FieldKind::Turkish,
        };
        terms[field as usize] = stems(&content, language);
    }
    terms[FieldKind::Identifiers as usize] = identifiers(&normalised);
    terms
}

/// The terms of a query, or why there are none, in words for a person.
pub(crate) fn query_terms(query: &Query) -> Result<QueryTerms, &'static str> {
    let normalised = normalise(start_of(&query.text, MAX_QUERY_BYTES));
    let words = words(&normalised);
    if query.text.trim().is_empty() {
        return Err("the query is empty");
    }
    let language = query.language.or_else(|| language_of(&query.text));
    let mut seen: HashSet<&str> = HashSet::new();
    let content: Vec<Word<'_>> = words
        .iter()
        .filter(|word| !is_function_word(word, language))
        .take_while(|word| {
            seen.insert(word.text);
            seen.len() <= MAX_QUERY_WORDS
        })
        .copied()
        .collect();
    let mut terms = QueryTerms::default();
    let names = identifiers(&normalised);
    let mut count = |field: FieldKind, term: String| *terms[field as usize].entry(term).or_insert(0) += 1;
    for word in &content {
        let folded = fold(word.text);
        count(FieldKind::Identifiers, folded.clone());
        count(FieldKind::Neutral, folded);
    }
    let parted: Vec<Word<'_>> = content.iter().flat_map(|word| with_humps(*word)).collect();
    for (field, language) in [(FieldKind::English, Language::English), (FieldKind::Turkish, Language::Turkish)] {
        for stem in stems(&parted, language) {
            count(field, stem);
        }
    }
    let names_terms = &mut terms[FieldKind::Identifiers as usize];
    for name in names {
        if names_terms.len() < 2 * MAX_QUERY_WORDS && !is_stop_word(language, &name, &turkish_lower(&name)) {
            names_terms.entry(name).or_insert(1);
        }
    }
    if terms.iter().all(BTreeMap::is_empty) {
        return Err(if words.is_empty() {
            "the query has no letter or digit"
        } else {
            "the query has only function words, which say nothing about a subject"
        });
    }
    Ok(terms)
}

fn is_function_word(word: &Word<'_>, language: Option<Language>) -> bool {
    word.negated || is_stop_word(language, &fold(word.text), &turkish_lower(word.text))
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

    fn fields_of(document: &Document) -> Vec<(&'static str, String)> {
        let terms = document_terms(document);
        FieldKind::ALL.iter().map(|kind| (kind.name(), terms[*kind as usize].join(" "))).collect()
    }

    fn query_fields(query: &Query) -> Vec<(&'static str, String)> {
        let terms = query_terms(query).unwrap();
        let join = |kind: FieldKind| terms[kind as usize].keys().cloned().collect::<Vec<_>>().join(" ");
        FieldKind::ALL.iter().map(|kind| (kind.name(), join(*kind))).collect()
    }

    /// These are the terms of analysis version 1. When a change moves them, raise `ANALYSIS_VERSION` with it.
    #[test]
    fn the_terms_of_a_version_do_not_move() {
        assert_eq!(ANALYSIS_VERSION, 1);
        let english = Document::new("a", "Refunds aren't paid by parseConfig().").with_title("Company's refunds");
        assert_eq!(
            fields_of(&english),
            [
                ("neutral", "company refunds refunds aren paid by parseconfig".to_owned()),
                ("english", "compani refund refund paid parseconfig pars config".to_owned()),
                ("turkish", String::new()),
                ("identifiers", "parseconfig parse config".to_owned()),
            ]
        );
        let turkish = Document::new("b", "İadeler 1.000 gün içinde Ankara’ya IŞIK hızıyla ödenir.");
        assert_eq!(
            fields_of(&turkish),
            [
                ("neutral", "iadeler 1000 gun icinde ankara isik hiziyla odenir".to_owned()),
                ("english", String::new()),
                ("turkish", "iade 1000 gun icin ankar isik hizi odenir".to_owned()),
                ("identifiers", "1000".to_owned()),
            ]
        );
        let other = Document::new("c", "返金は v2.0");
        assert_eq!(
            fields_of(&other),
            [
                ("neutral", "返金 金は v2 0".to_owned()),
                ("english", String::new()),
                ("turkish", String::new()),
                ("identifiers", "v2.0 v2".to_owned()),
            ]
        );
    }

    #[test]
    fn a_query_asks_every_field_without_function_words() {
        assert_eq!(
            query_fields(&Query::new("Where is the parse_config of Ankara'ya?")),
            [
                ("neutral", "ankara config parse".to_owned()),
                ("english", "ankara config pars".to_owned()),
                ("turkish", "ankar configi pars".to_owned()),
                ("identifiers", "ankara config parse parse_config".to_owned()),
            ]
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
        assert_eq!(terms[FieldKind::Neutral as usize].len(), MAX_QUERY_WORDS);
        assert!(terms.iter().all(|field| field.len() <= 3 * MAX_QUERY_WORDS));
    }
}
