//! The fields as the engine stores them, and the format that a folder states.

use std::collections::BTreeMap;

use tantivy::schema::{Field, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{PreTokenizedString, Token};
use tantivy::{IndexSettings, TantivyDocument};

use crate::analysis::{ANALYSIS_VERSION, DocumentTerms, FieldKind, document_terms};
use crate::document::Document;

/// Raised when the stored fields change.
const SCHEMA_VERSION: u32 = 1;

/// What an index folder states and this version reads: schema, analysis and engine.
///
/// The engine's own version is part of it, since it says which files it reads only after opening them.
pub(crate) fn format_name() -> String {
    format!("hatir-rank schema {SCHEMA_VERSION}, analysis {ANALYSIS_VERSION}, {}", tantivy::version_string())
}

/// Where everything stands in the engine's schema.
#[derive(Debug, Clone)]
pub(crate) struct Fields {
    pub(crate) schema: Schema,
    /// The id: one term, and a column to read it back by document.
    pub(crate) id: Field,
    /// The whole document as JSON, given back as it came.
    pub(crate) stored: Field,
    /// The searched fields, in the order of [`FieldKind::ALL`].
    pub(crate) searched: [Field; 4],
}

/// How the engine stores documents: without a thread of its own per segment, which costs more than it saves for the
/// small batches that are the rule here.
pub(crate) fn engine_settings() -> IndexSettings {
    IndexSettings { docstore_compress_dedicated_thread: false, ..IndexSettings::default() }
}

/// The name of the id field, which its column is found by.
pub(crate) const ID: &str = "id";

impl Fields {
    pub(crate) fn new() -> Self {
        let mut builder = Schema::builder();
        let id = builder.add_text_field(ID, STRING.set_fast("raw"));
        let stored = builder.add_bytes_field("stored", tantivy::schema::STORED);
        // The terms come analysed, so the tokeniser named here never runs.
        let indexing = TextFieldIndexing::default().set_tokenizer("raw").set_index_option(IndexRecordOption::WithFreqs);
        let searched = FieldKind::ALL.map(|kind| {
            builder.add_text_field(kind.name(), TextOptions::default().set_indexing_options(indexing.clone()))
        });
        Self { schema: builder.build(), id, stored, searched }
    }

    pub(crate) fn engine_document(&self, document: &Document) -> serde_json::Result<TantivyDocument> {
        let mut engine = TantivyDocument::default();
        engine.add_text(self.id, &document.id);
        engine.add_bytes(self.stored, &serde_json::to_vec(document)?);
        let terms: DocumentTerms = document_terms(document);
        for (field, terms) in self.searched.into_iter().zip(terms) {
            if !terms.is_empty() {
                engine.add_pre_tokenized_text(field, pre_tokenized(terms));
            }
        }
        Ok(engine)
    }
}

fn pre_tokenized(terms: Vec<String>) -> PreTokenizedString {
    let tokens =
        terms.into_iter().enumerate().map(|(position, text)| Token { position, text, ..Token::default() }).collect();
    PreTokenizedString { text: String::new(), tokens }
}

/// What each commit carries: the caller's fingerprint of the documents, if one was set.
pub(crate) fn payload(fingerprint: Option<&str>) -> String {
    let entries: BTreeMap<&str, &str> = fingerprint.map(|value| ("fingerprint", value)).into_iter().collect();
    serde_json::json!(entries).to_string()
}

/// The fingerprint in a commit's payload.
pub(crate) fn fingerprint_of(payload: &str) -> Option<String> {
    let mut entries: BTreeMap<String, String> = serde_json::from_str(payload).ok()?;
    entries.remove("fingerprint")
}
