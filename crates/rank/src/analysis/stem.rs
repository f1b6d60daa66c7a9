//! Stemming of many words at a time.

use tantivy::tokenizer::{Stemmer, TextAnalyzer, TokenStream, WhitespaceTokenizer};

use super::fold::{fold, turkish_lower};
use super::words::Word;
use crate::document::Language;

/// The shortest Turkish stem, in letters. The Snowball stemmer cuts *iade* (refund) to *ia* and *süre* (period) to
/// *sür*; a word whose stem would fall below this keeps that many of its letters instead.
const TURKISH_MINIMUM: usize = 4;

/// Stems in the order of the words; one per word.
pub(crate) fn stems(words: &[Word<'_>], language: Language) -> Vec<String> {
    match language {
        Language::English => snowball(words, tantivy::tokenizer::Language::English, fold, |stem, _| stem.to_owned()),
        Language::Turkish => snowball(words, tantivy::tokenizer::Language::Turkish, turkish_lower, |stem, word| {
            fold(guarded(stem, word))
        }),
    }
}

/// The stemmer is reached through a token stream, which costs more to set up than to run: the words go through one
/// stream, joined by spaces (no word holds one).
fn snowball(
    words: &[Word<'_>],
    language: tantivy::tokenizer::Language,
    prepare: impl Fn(&str) -> String,
    finish: impl Fn(&str, &str) -> String,
) -> Vec<String> {
    let prepared: Vec<String> = words.iter().map(|word| prepare(word.text)).collect();
    let joined = prepared.join(" ");
    let mut analyzer = TextAnalyzer::builder(WhitespaceTokenizer::default()).filter(Stemmer::new(language)).build();
    let mut stream = analyzer.token_stream(&joined);
    let mut stems = Vec::with_capacity(words.len());
    while stream.advance() {
        let word = prepared.get(stems.len()).map_or("", String::as_str);
        stems.push(finish(&stream.token().text, word));
    }
    stems
}

fn guarded<'w>(stem: &'w str, word: &'w str) -> &'w str {
    if stem.chars().count() >= TURKISH_MINIMUM {
        return stem;
    }
    word.char_indices().nth(TURKISH_MINIMUM).map_or(word, |(end, _)| &word[..end])
}
