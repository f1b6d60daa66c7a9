//! The fields as the engine stores them, and the format that a folder states.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tantivy::schema::{FAST, Field, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use tantivy::{IndexSettings, TantivyDocument};

use crate::analysis::{ANALYSIS_VERSION, DocumentTerms, FIELDS, FieldKind, SEPARATOR, document_terms};
use crate::document::{Document, Language};
use crate::temporal;
use crate::vectors::FileRecord;

/// Raised when the stored fields change.
const SCHEMA_VERSION: u32 = 2;

/// What an index folder states and this version reads: schema, analysis and engine.
///
/// The engine's own version is part of it, since it says which files it reads only after opening them.
pub(crate) fn format_name() -> String {
    format!("hatir-rank schema {SCHEMA_VERSION}, analysis {ANALYSIS_VERSION}, {}", tantivy::version_string())
}

/// The columns: one value for each document, or several, read by document number.
pub(crate) mod column {
    /// The id itself.
    pub(crate) const ID: &str = "id";
    /// A hash of the id, which links name.
    pub(crate) const NODE: &str = "node";
    /// The key of the text's vectors: a hash of what is embedded.
    pub(crate) const CONTENT: &str = "content";
    /// The same for the vector of a record with its context.
    pub(crate) const IN_CONTEXT: &str = "in_context";
    /// 0 none of ours, 1 English, 2 Turkish.
    pub(crate) const LANGUAGE: &str = "language";
    /// Milliseconds since 1970.
    pub(crate) const CREATED: &str = "created";
    /// The place in `Kind::ALL`.
    pub(crate) const KIND: &str = "kind";
    pub(crate) const IMPORTANCE: &str = "importance";
    /// A hash of the session's name.
    pub(crate) const SESSION: &str = "session";
    pub(crate) const POSITION: &str = "position";
    /// A hash of the speaker's name.
    pub(crate) const SPEAKER: &str = "speaker";
    /// Whether a record speaks of a time: 0 or 1.
    pub(crate) const TIMED: &str = "timed";
    /// How many words the text has.
    pub(crate) const WORDS: &str = "words";
    pub(crate) const LINK_TO: &str = "link_to";
    pub(crate) const LINK_WEIGHT: &str = "link_weight";
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
    pub(crate) searched: [Field; FIELDS],
    /// `name NUL value` for each stored field: what filters look up.
    pub(crate) filter: Field,
    columns: Columns,
}

#[derive(Debug, Clone)]
struct Columns {
    node: Field,
    content: Field,
    in_context: Field,
    language: Field,
    created: Field,
    kind: Field,
    importance: Field,
    session: Field,
    position: Field,
    speaker: Field,
    timed: Field,
    words: Field,
    link_to: Field,
    link_weight: Field,
}

/// How the engine stores documents: without a thread of its own per segment, which costs more than it saves for the
/// small batches that are the rule here.
pub(crate) fn engine_settings() -> IndexSettings {
    IndexSettings { docstore_compress_dedicated_thread: false, ..IndexSettings::default() }
}

/// The tokeniser of the searched fields: their terms come analysed, each closed by a separator.
const SEPARATED: &str = "separated";

/// Registers the tokeniser; every engine needs it before it takes documents.
pub(crate) fn prepare(engine: &tantivy::Index) {
    engine.tokenizers().register(SEPARATED, Separated { token: Token::default() });
}

impl Fields {
    pub(crate) fn new() -> Self {
        let mut builder = Schema::builder();
        let id = builder.add_text_field(column::ID, STRING.set_fast("raw"));
        let stored = builder.add_bytes_field("stored", tantivy::schema::STORED);
        let indexing =
            TextFieldIndexing::default().set_tokenizer(SEPARATED).set_index_option(IndexRecordOption::WithFreqs);
        let searched = FieldKind::ALL.map(|kind| {
            builder.add_text_field(kind.name(), TextOptions::default().set_indexing_options(indexing.clone()))
        });
        let filter = builder.add_text_field("filter", STRING);
        let columns = Columns {
            node: builder.add_u64_field(column::NODE, FAST),
            content: builder.add_u64_field(column::CONTENT, FAST),
            in_context: builder.add_u64_field(column::IN_CONTEXT, FAST),
            language: builder.add_u64_field(column::LANGUAGE, FAST),
            created: builder.add_i64_field(column::CREATED, FAST),
            kind: builder.add_u64_field(column::KIND, FAST),
            importance: builder.add_f64_field(column::IMPORTANCE, FAST),
            session: builder.add_u64_field(column::SESSION, FAST),
            position: builder.add_u64_field(column::POSITION, FAST),
            speaker: builder.add_u64_field(column::SPEAKER, FAST),
            timed: builder.add_u64_field(column::TIMED, FAST),
            words: builder.add_u64_field(column::WORDS, FAST),
            link_to: builder.add_u64_field(column::LINK_TO, FAST),
            link_weight: builder.add_f64_field(column::LINK_WEIGHT, FAST),
        };
        Self { schema: builder.build(), id, stored, searched, filter, columns }
    }

    pub(crate) fn engine_document(&self, document: &Document) -> serde_json::Result<TantivyDocument> {
        let mut engine = TantivyDocument::default();
        engine.add_text(self.id, &document.id);
        engine.add_bytes(self.stored, &serde_json::to_vec(document)?);
        let DocumentTerms { fields, language, words } = document_terms(document);
        for (field, terms) in self.searched.into_iter().zip(fields) {
            if !terms.is_empty() {
                engine.add_text(field, terms);
            }
        }
        for (name, value) in &document.fields {
            engine.add_text(self.filter, filter_term(name, value));
        }
        let columns = &self.columns;
        engine.add_u64(columns.node, hash(&[&document.id]));
        engine.add_u64(columns.content, content_key(document));
        engine.add_u64(columns.language, language_code(language));
        engine.add_u64(columns.words, words as u64);
        if let Some(created) = document.created_at {
            engine.add_i64(columns.created, created.as_millisecond());
        }
        if let Some(kind) = document.kind {
            engine.add_u64(columns.kind, kind as u64);
        }
        if let Some(importance) = document.importance {
            engine.add_f64(columns.importance, importance);
        }
        if let Some(turn) = &document.turn {
            engine.add_u64(columns.session, hash(&[&turn.session]));
            engine.add_u64(columns.position, turn.position);
            if let Some(speaker) = &turn.speaker {
                engine.add_u64(columns.speaker, hash(&[speaker]));
                engine.add_text(self.filter, filter_term(SPEAKER_FIELD, speaker));
            }
            engine.add_u64(columns.in_context, context_key(document));
            engine.add_u64(columns.timed, u64::from(temporal::has_time_expression(&document.text, language)));
        }
        for link in &document.links {
            engine.add_u64(columns.link_to, hash(&[&link.to]));
            engine.add_f64(columns.link_weight, link.weight);
        }
        Ok(engine)
    }
}

pub(crate) fn language_code(language: Option<Language>) -> u64 {
    language.map_or(0, |language| language as u64 + 1)
}

pub(crate) fn language_of_code(code: u64) -> Option<Language> {
    [Language::English, Language::Turkish].into_iter().find(|language| language_code(Some(*language)) == code)
}

/// The name under which filters find what somebody said; a document's own field of this name is found too.
pub(crate) const SPEAKER_FIELD: &str = "speaker";

/// The longest value that a filter looks up as it is, in bytes; a longer one is looked up by its hash, and not by its
/// beginning.
const MAX_FILTER_BYTES: usize = 1_024;

/// The term by which a filter finds the documents with a field of this value.
pub(crate) fn filter_term(name: &str, value: &str) -> String {
    if name.len() + value.len() <= MAX_FILTER_BYTES {
        format!("{name}\u{0}{value}")
    } else {
        format!("{:016x}\u{0}{:016x}", hash(&[name]), hash(&[value]))
    }
}

/// A hash over texts, each closed so that none runs into the next: the first eight bytes of SHA-256. Two of a million
/// different texts share one with a probability below one in ten million.
pub(crate) fn hash(texts: &[&str]) -> u64 {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update(text.as_bytes());
        hasher.update([0xff]);
    }
    let digest = hasher.finalize();
    u64::from_le_bytes(std::array::from_fn(|at| digest[at]))
}

/// What of a document is embedded.
pub(crate) fn embedded_text(document: &Document) -> String {
    match &document.title {
        Some(title) => format!("{title}\n{}", document.text),
        None => document.text.clone(),
    }
}

/// What of a conversation's record is embedded a second time.
pub(crate) fn embedded_context(document: &Document) -> Option<String> {
    document.turn.as_ref()?;
    let context = document.context.as_deref().unwrap_or_default();
    Some(format!("{context}\n{}", embedded_text(document)))
}

/// The key of a document's vectors. A vector made by the caller counts as part of the text.
pub(crate) fn content_key(document: &Document) -> u64 {
    match &document.vector {
        None => hash(&["text", &embedded_text(document)]),
        Some(vector) => {
            let mut bytes = String::with_capacity(8 * vector.len());
            for value in vector {
                // Writing into a string cannot fail.
                let _ = write!(bytes, "{:08x}", value.to_bits());
            }
            hash(&["vector", &bytes, &embedded_text(document)])
        }
    }
}

pub(crate) fn context_key(document: &Document) -> u64 {
    hash(&["context", &embedded_context(document).unwrap_or_default()])
}

#[derive(Clone)]
struct Separated {
    token: Token,
}

struct SeparatedStream<'a> {
    rest: &'a str,
    token: &'a mut Token,
}

impl Tokenizer for Separated {
    type TokenStream<'a> = SeparatedStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> SeparatedStream<'a> {
        self.token.reset();
        SeparatedStream { rest: text, token: &mut self.token }
    }
}

impl TokenStream for SeparatedStream<'_> {
    fn advance(&mut self) -> bool {
        let Some((term, rest)) = self.rest.split_once(SEPARATOR) else { return false };
        self.rest = rest;
        self.token.text.clear();
        self.token.text.push_str(term);
        self.token.position = self.token.position.wrapping_add(1);
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

/// What each commit carries beside the documents.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Payload {
    /// The caller's name for the documents, if one was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fingerprint: Option<String>,
    /// The number of the last vector file that was named.
    #[serde(default)]
    pub(crate) last_file: u64,
    /// The files of the vectors, by the fingerprint of the model that made them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) vectors: BTreeMap<String, VectorFiles>,
}

/// The vectors of one model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct VectorFiles {
    /// The model's name, for people.
    pub(crate) model: String,
    pub(crate) dimension: usize,
    pub(crate) files: Vec<FileRecord>,
    /// The approximate index over the first of them, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ann: Option<FileRecord>,
}

impl VectorFiles {
    /// The name of the approximate index's file, if there is one.
    pub(crate) fn ann_name(&self) -> Option<String> {
        self.ann.as_ref().map(|record| record.name.clone())
    }
}

impl Payload {
    pub(crate) fn to_text(&self) -> String {
        // Strings, numbers and maps with text keys always serialise.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// An empty payload, as the engine's own first commit has it, is an empty one here.
    pub(crate) fn parse(text: Option<&str>) -> serde_json::Result<Self> {
        match text {
            None | Some("") => Ok(Self::default()),
            Some(text) => serde_json::from_str(text),
        }
    }
}
