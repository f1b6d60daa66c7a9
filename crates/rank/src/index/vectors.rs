//! The vectors of an index: which files a commit has, how new ones come in, and how old ones go.
//!
//! The engine's list of segments is replaced atomically by each commit, and carries the names of the vector files that
//! belong to it. They are written and synced before, and removed only after a commit without them: whatever happens in
//! between, text and vectors are of one commit.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::schema::{Payload, VectorFiles};
use super::snapshot::Snapshot;
use crate::embed::{Embedder, ModelInfo, Vector};
use crate::error::{Error, Result};
use crate::vectors::{
    FileRecord, FileState, Row, TEXT, VectorFile, VectorSet, VectorWriter, is_temporary, merge, plan,
};

/// How the names of vector files begin.
const PREFIX: &str = "hatir-rank.vectors-";

/// How many texts are embedded at a time.
const BATCH: usize = 64;

/// A text that needs a vector, or brings one along.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) key: u64,
    /// The document's id, for errors.
    pub(crate) id: String,
    pub(crate) content: Content,
}

#[derive(Debug, Clone)]
pub(crate) enum Content {
    Text(String),
    Made(Vector),
}

/// The open files, by name. A name is never used twice, so what is open stays right.
#[derive(Default)]
pub(crate) struct Files {
    open: Mutex<HashMap<String, Arc<VectorFile>>>,
    #[cfg(any())]
    near: Mutex<HashMap<String, Arc<crate::vectors::Ann>>>,
}

impl Files {
    /// The sets of vectors that a commit lists, by model.
    pub(crate) fn open(&self, folder: Option<&Path>, payload: &Payload) -> Result<HashMap<String, VectorSet>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sets = HashMap::new();
        for (fingerprint, listed) in &payload.vectors {
            let mut files = Vec::with_capacity(listed.files.len());
            for record in &listed.files {
                let file = match (open.get(&record.name), folder) {
                    (Some(file), _) => Arc::clone(file),
                    (None, Some(folder)) => Arc::new(VectorFile::open(folder, record, fingerprint)?),
                    // In memory a file is never closed while a commit lists it.
                    (None, None) => continue,
                };
                open.insert(record.name.clone(), Arc::clone(&file));
                files.push(file);
            }
            let set = VectorSet::new(files)?;
            #[cfg(any())]
            let set = self.with_ann(set, folder, fingerprint, listed)?;
            sets.insert(fingerprint.clone(), set);
        }
        if folder.is_some() {
            let listed: HashSet<&str> =
                payload.vectors.values().flat_map(|files| files.files.iter()).map(|file| file.name.as_str()).collect();
            open.retain(|name, _| listed.contains(name.as_str()));
        }
        Ok(sets)
    }

    #[cfg(any())]
    fn with_ann(
        &self,
        set: VectorSet,
        folder: Option<&Path>,
        fingerprint: &str,
        listed: &VectorFiles,
    ) -> Result<VectorSet> {
        let (Some(record), Some(folder)) = (&listed.ann, folder) else { return Ok(set) };
        let mut near = self.near.lock().unwrap_or_else(PoisonError::into_inner);
        let ann = match near.get(&record.name) {
            Some(ann) => Arc::clone(ann),
            None => Arc::new(crate::vectors::Ann::open(folder, record, fingerprint)?),
        };
        near.clear();
        near.insert(record.name.clone(), Arc::clone(&ann));
        Ok(set.with_ann(ann))
    }

    /// Writes one file of new vectors and lists it; the texts are embedded in batches. Gives how many came in.
    ///
    /// `go_on` is asked between batches; once it says no, what is done by then is written.
    pub(crate) fn add(
        &self,
        folder: Option<&Path>,
        payload: &mut Payload,
        model: &ModelInfo,
        embedder: Option<&dyn Embedder>,
        mut wanted: Vec<Wanted>,
        go_on: &dyn Fn() -> bool,
    ) -> Result<usize> {
        wanted.sort_by_key(|one| one.key);
        wanted.dedup_by_key(|one| one.key);
        if embedder.is_none() {
            wanted.retain(|one| matches!(one.content, Content::Made(_)));
        }
        if wanted.is_empty() {
            return Ok(0);
        }
        let name = next_name(folder, payload, "f16")?;
        let mut writer = match folder {
            Some(folder) => VectorWriter::create(folder, &name, model.dimension, &model.fingerprint)?,
            None => VectorWriter::in_memory(model.dimension, &model.fingerprint)?,
        };
        let mut done = 0;
        // Texts of one length make a batch without waste; the keys are hashes, so batches are of mixed lengths, and the
        // embedder sorts within each.
        for batch in wanted.chunks(BATCH) {
            if !go_on() {
                break;
            }
            let texts: Vec<&str> = batch
                .iter()
                .filter_map(|one| match &one.content {
                    Content::Text(text) => Some(text.as_str()),
                    Content::Made(_) => None,
                })
                .collect();
            let mut embedded = match embedder {
                Some(embedder) if !texts.is_empty() => embedder.embed_documents(&texts)?.into_iter(),
                _ => Vec::new().into_iter(),
            };
            for one in batch {
                let row = Row { stamp: one.key, part: TEXT };
                match &one.content {
                    Content::Made(vector) => writer.push(row, &one.id, vector)?,
                    Content::Text(_) => {
                        for window in embedded.next().unwrap_or_default() {
                            writer.push(row, &one.id, &window)?;
                        }
                    }
                }
            }
            done += batch.len();
        }
        if done == 0 {
            return Ok(0);
        }
        self.list(payload, model, &name, writer.finish()?);
        Ok(done)
    }

    fn list(&self, payload: &mut Payload, model: &ModelInfo, name: &str, file: VectorFile) {
        let listed = payload.vectors.entry(model.fingerprint.clone()).or_insert_with(|| VectorFiles {
            model: model.name.clone(),
            dimension: model.dimension,
            ..VectorFiles::default()
        });
        listed.files.push(FileRecord { name: name.to_owned(), ..file.record().clone() });
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), Arc::new(file));
    }

    /// Joins small files, drops the rows of documents that are gone, and builds an approximate index where it pays.
    /// Whether the payload has changed.
    pub(crate) fn tidy(&self, folder: Option<&Path>, payload: &mut Payload, snapshot: &Snapshot) -> Result<bool> {
        let mut changed = false;
        let live = |key: u64| snapshot.keys().contains_key(&key);
        for (fingerprint, set) in &snapshot.vectors {
            let mut files: Vec<Arc<VectorFile>> = set.files().to_vec();
            while let Some(chosen) = plan(&files.iter().map(|file| FileState::of(file, &live)).collect::<Vec<_>>()) {
                let name = next_name(folder, payload, "f16")?;
                let some: Vec<Arc<VectorFile>> = chosen.iter().map(|at| Arc::clone(&files[*at])).collect();
                let merged = match folder {
                    Some(folder) => merge(&some, &live, folder, &name, fingerprint)?,
                    None => crate::vectors::merge_in_memory(&some, &live, fingerprint)?,
                };
                let Some(listed) = payload.vectors.get_mut(fingerprint) else { break };
                let mut kept = Vec::new();
                let mut records = Vec::new();
                for (at, (file, record)) in files.iter().zip(&listed.files).enumerate() {
                    if !chosen.contains(&at) {
                        kept.push(Arc::clone(file));
                        records.push(record.clone());
                    }
                }
                if let Some(file) = merged {
                    records.push(FileRecord { name: name.clone(), ..file.record().clone() });
                    let file = Arc::new(file);
                    self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(name, Arc::clone(&file));
                    kept.push(file);
                }
                listed.files = records;
                files = kept;
                changed = true;
            }
            #[cfg(any())]
            if let Some(folder) = folder {
                changed |= self.tidy_ann(folder, payload, fingerprint, files)?;
            }
        }
        Ok(changed)
    }

    #[cfg(any())]
    fn tidy_ann(
        &self,
        folder: &Path,
        payload: &mut Payload,
        fingerprint: &str,
        files: Vec<Arc<VectorFile>>,
    ) -> Result<bool> {
        let name = next_name(Some(folder), payload, "usearch")?;
        let Some(listed) = payload.vectors.get_mut(fingerprint) else { return Ok(false) };
        let set = self.with_ann(VectorSet::new(files)?, Some(folder), fingerprint, listed)?;
        if !set.wants_ann() {
            return Ok(false);
        }
        listed.ann = Some(crate::vectors::Ann::build(folder, &name, fingerprint, &set)?);
        Ok(true)
    }

    /// Reads all vector files of a commit and compares checksums.
    pub(crate) fn verify(folder: &Path, payload: &Payload) -> Result<()> {
        for (fingerprint, listed) in &payload.vectors {
            for record in &listed.files {
                VectorFile::open(folder, record, fingerprint)?.verify_full()?;
            }
            #[cfg(any())]
            if let Some(record) = &listed.ann {
                crate::vectors::Ann::open(folder, record, fingerprint)?.verify_full()?;
            }
        }
        Ok(())
    }
}

/// Removes the vector files of a folder that a commit does not list. Only the holder of the writer's lock may.
pub(crate) fn remove_others(folder: &Path, payload: &Payload) {
    let listed = names(payload);
    for name in names_in(folder).unwrap_or_default() {
        if is_temporary(&name) || (name.starts_with(PREFIX) && !listed.contains(&name)) {
            // What cannot be removed now (a reader on Windows has it open) is removed after a later commit.
            let _ = std::fs::remove_file(folder.join(name));
        }
    }
}

fn names(payload: &Payload) -> BTreeSet<String> {
    let files = payload.vectors.values();
    files
        .flat_map(|listed| {
            let ann = listed.ann_name();
            listed.files.iter().map(|file| file.name.clone()).chain(ann)
        })
        .collect()
}

fn names_in(folder: &Path) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(folder).map_err(|error| Error::io("read", folder, error))?;
    Ok(entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned())).collect())
}

/// A name that no file has and that no commit lists.
fn next_name(folder: Option<&Path>, payload: &mut Payload, ending: &str) -> Result<String> {
    let there = match folder {
        Some(folder) => names_in(folder)?,
        None => Vec::new(),
    };
    let number = |name: &str| name.strip_prefix(PREFIX)?.split('.').next()?.parse::<u64>().ok();
    let used =
        there.iter().map(String::as_str).chain(names(payload).iter().map(String::as_str)).filter_map(number).max();
    payload.last_file = used.unwrap_or(0).max(payload.last_file) + 1;
    Ok(format!("{PREFIX}{:06}.{ending}", payload.last_file))
}
