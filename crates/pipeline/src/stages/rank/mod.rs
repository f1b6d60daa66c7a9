//! `rank.index` and `rank.query`: documents become an index, and an index answers.

mod build;
mod query;

pub(crate) use build::BuildIndex;
pub(crate) use query::AskIndex;

use hatir_rank as leaf;

use crate::stage::StageError;
use crate::wire::{Document, Hit, Place, Share};

/// The stored fields that carry the place of a document. An index keeps texts and fields, and no places.
const PATH_FIELD: &str = "hatir:path";
const LINE_FIELD: &str = "hatir:line";

/// An error of the index, with what to do where it can tell.
#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` calls")]
fn failed(error: leaf::Error) -> StageError {
    let transient = matches!(error, leaf::Error::Locked { .. } | leaf::Error::Io { .. });
    let found = if transient { StageError::new(error.to_string()) } else { StageError::permanent(error.to_string()) };
    match error {
        leaf::Error::NotFound { .. } => {
            found.hint("make the index first: with a stage `rank.index` that has the same `dir`, fed into `in.index`")
        }
        _ => found,
    }
}

fn language(code: &str) -> Option<leaf::Language> {
    [leaf::Language::English, leaf::Language::Turkish].into_iter().find(|language| language.code() == code)
}

fn to_leaf(document: &Document) -> leaf::Document {
    let mut fields = document.fields.clone();
    if let Some(place) = &document.place {
        fields.insert(PATH_FIELD.to_owned(), place.path.clone());
        fields.insert(LINE_FIELD.to_owned(), place.line.to_string());
    }
    leaf::Document {
        id: document.id.clone(),
        text: document.text.clone(),
        title: document.title.clone(),
        language: document.language.as_deref().and_then(language),
        fields,
        ..leaf::Document::default()
    }
}

fn from_leaf(hit: leaf::Hit) -> Hit {
    let mut fields = hit.document.fields;
    let path = fields.remove(PATH_FIELD);
    let line = fields.remove(LINE_FIELD).and_then(|line| line.parse().ok());
    Hit {
        id: hit.id,
        score: hit.score,
        text: hit.document.text,
        title: hit.document.title,
        place: path.zip(line).map(|(path, line)| Place { path, line }),
        fields,
        voices: hit.explanation.voices.into_iter().map(share).collect(),
    }
}

fn share(share: leaf::VoiceShare) -> Share {
    Share {
        voice: share.voice,
        rank: share.rank,
        raw_score: share.raw_score,
        weight: share.weight,
        contribution: share.contribution,
    }
}
