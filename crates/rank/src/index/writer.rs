//! The one writer.

use std::collections::HashSet;
use std::path::Path;

use tantivy::directory::error::LockError;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy, MergePolicy, NoMergePolicy};
use tantivy::{IndexWriter, TantivyError, Term};

use super::folder;
use super::schema::{Fields, Payload};
use crate::document::Document;
use crate::error::{Error, Result};

/// The smallest budget that the engine takes: it is held only as far as it is filled, and a full buffer becomes a
/// segment.
const MEMORY_BYTES: usize = 15_000_000;

/// Holds the lock from the first change to the commit.
pub(crate) struct Writer {
    engine: IndexWriter,
    folder: Option<std::path::PathBuf>,
}

impl Writer {
    /// Takes the lock, or says who holds it.
    pub(crate) fn open(index: &tantivy::Index, folder: Option<&Path>, name: &str) -> Result<Self> {
        let shown = folder.unwrap_or(Path::new(super::IN_MEMORY));
        let options = IndexWriterOptions::builder()
            .memory_budget_per_thread(MEMORY_BYTES)
            .num_worker_threads(1)
            .num_merge_threads(1)
            .build();
        let engine = index.writer_with_options(options).map_err(|error| match (error, folder) {
            (TantivyError::LockFailure(LockError::LockBusy, _), Some(folder)) => {
                Error::Locked { folder: folder.to_path_buf(), holder: folder::holder(folder) }
            }
            (error, _) => Error::engine(shown, error),
        })?;
        // Merging happens in `commit`, where it is waited for: a merge in the background would be lost whenever a
        // short process ends, and small segments would pile up.
        engine.set_merge_policy(Box::new(NoMergePolicy));
        if let Some(folder) = folder {
            folder::name_holder(folder, name)?;
        }
        Ok(Self { engine, folder: folder.map(Path::to_path_buf) })
    }

    fn error(&self, error: TantivyError) -> Error {
        Error::engine(self.folder.as_deref().unwrap_or(Path::new(super::IN_MEMORY)), error)
    }

    /// Adds a document in place of any with its id.
    pub(crate) fn put(&self, fields: &Fields, document: &Document) -> Result<()> {
        document.check()?;
        self.delete(fields, &document.id);
        self.append(fields, document)
    }

    /// Removes the document with this id, if there is one.
    pub(crate) fn delete(&self, fields: &Fields, id: &str) {
        self.engine.delete_term(Term::from_field_text(fields.id, id));
    }

    /// Removes everything, for documents that come in its place.
    pub(crate) fn replace_all(self) -> Result<Replacing> {
        self.engine.delete_all_documents().map_err(|error| self.error(error))?;
        Ok(Replacing { writer: self, seen: HashSet::new() })
    }

    fn append(&self, fields: &Fields, document: &Document) -> Result<()> {
        let engine = fields.engine_document(document).map_err(|error| Error::InvalidDocument {
            id: document.id.chars().take(80).collect(),
            problem: error.to_string(),
        })?;
        self.engine.add_document(engine).map_err(|error| self.error(error))?;
        Ok(())
    }

    /// What the last commit carries beside the documents.
    pub(crate) fn payload(&self) -> Result<Payload> {
        read_payload(self.engine.index(), self.folder.as_deref())
    }

    /// Makes the changes visible and durable.
    pub(crate) fn commit(&mut self, payload: &Payload) -> Result<()> {
        let mut prepared = self.engine.prepare_commit().map_err(|error| engine_error(self.folder.as_deref(), error))?;
        prepared.set_payload(&payload.to_text());
        prepared.commit().map_err(|error| engine_error(self.folder.as_deref(), error))?;
        Ok(())
    }

    /// Joins small segments; readers see no difference.
    pub(crate) fn join_small_segments(&mut self) -> Result<()> {
        let mut policy = LogMergePolicy::default();
        policy.set_min_num_segments(8);
        policy.set_min_layer_size(256);
        policy.set_del_docs_ratio_before_merge(0.3);
        let metas = self.engine.index().searchable_segment_metas().map_err(|error| self.error(error))?;
        for candidate in policy.compute_merge_candidates(&metas) {
            let merged = self.engine.merge(&candidate.0).wait();
            merged.map_err(|error| self.error(error))?;
        }
        Ok(())
    }
}

/// A writer that puts documents in place of all that were there.
pub(crate) struct Replacing {
    writer: Writer,
    seen: HashSet<String>,
}

impl Replacing {
    /// Adds a document; of several with one id the last stays.
    pub(crate) fn put(&mut self, fields: &Fields, document: &Document) -> Result<()> {
        if self.seen.contains(&document.id) {
            self.writer.delete(fields, &document.id);
        }
        self.writer.append(fields, document)?;
        self.seen.insert(document.id.clone());
        Ok(())
    }

    /// The writer, with everything in it, and the number of documents.
    pub(crate) fn done(self) -> (Writer, usize) {
        (self.writer, self.seen.len())
    }
}

/// What the last commit of an index carries beside the documents.
pub(crate) fn read_payload(index: &tantivy::Index, folder: Option<&Path>) -> Result<Payload> {
    let metas = index.load_metas().map_err(|error| engine_error(folder, error))?;
    Payload::parse(metas.payload.as_deref()).map_err(|error| Error::Corrupt {
        folder: folder.unwrap_or(Path::new(super::IN_MEMORY)).to_path_buf(),
        problem: format!("what its last commit carries does not parse: {error}"),
    })
}

fn engine_error(folder: Option<&Path>, error: TantivyError) -> Error {
    Error::engine(folder.unwrap_or(Path::new(super::IN_MEMORY)), error)
}

impl Drop for Writer {
    fn drop(&mut self) {
        // While the lock is still held: afterwards the name might be the next writer's.
        if let Some(folder) = &self.folder {
            folder::forget_holder(folder);
        }
    }
}
