//! `rank.index`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hatir_rank as leaf;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{failed, to_leaf};
use crate::batch_file::fingerprint_text;
use crate::stage::{BuildContext, Inputs, Kind, Port, Ports, Stage, StageContext, StageError};
use crate::stages::files;
use crate::value::{IndexHandle, Type, Value};
use crate::wire::Document;

/// Makes an index of documents, in memory or in a folder.
///
/// An index in a folder is made again only when a document has changed, and whoever reads it meanwhile sees the old one
/// or the new one whole. It is derived from its documents: when it is damaged, or of another version, it is made anew.
/// In a dry run it is made in memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct BuildIndex {
    /// The folder of the index, for other pipelines and the next run; in memory where it is missing.
    #[serde(default)]
    #[schemars(extend("format" = "path"))]
    pub(crate) dir: Option<PathBuf>,
}

impl Kind for BuildIndex {
    const NAME: &'static str = "rank.index";
    const ABOUT: &'static str = "Makes an index of documents, in memory or in a folder.";

    fn ports(_: Option<&Self>) -> Ports {
        let documents = Port::required("documents", Type::Documents, "What is searched. Ids must be unique.").many();
        Ports::new(vec![documents], Type::Index)
    }

    fn build(&self, context: &BuildContext) -> Result<Box<dyn Stage>, StageError> {
        let folder = self.dir.as_ref().map(|dir| context.path(dir));
        if let Some(folder) = folder.as_ref().filter(|folder| folder.is_file()) {
            let message = format!("{} is a file, expected a folder for the index", folder.display());
            return Err(StageError::permanent(message));
        }
        Ok(Box::new(Indexer { folder: folder.filter(|_| !context.dry_run) }))
    }
}

struct Indexer {
    folder: Option<PathBuf>,
}

impl Stage for Indexer {
    fn run(&self, inputs: &Inputs, context: &StageContext) -> Result<Value, StageError> {
        let sources = inputs
            .all("documents")
            .iter()
            .map(|value| match value.convert(Type::Documents) {
                Ok(Value::Documents(documents)) => Ok(documents),
                Ok(other) => Err(files::unusable("documents", format!("found {}, expected documents", other.kind()))),
                Err(error) => Err(files::unusable("documents", error)),
            })
            .collect::<Result<Vec<Arc<Vec<Document>>>, _>>()?;
        let documents: Vec<&Document> = sources.iter().flat_map(|source| source.iter()).collect();
        check_ids(&documents)?;
        let index = match &self.folder {
            None => {
                let index = leaf::Index::in_memory(&config()).map_err(failed)?;
                fill(&index, &documents, context)?;
                index
            }
            Some(folder) => in_folder(folder, &documents, context)?,
        };
        Ok(Value::Index(IndexHandle { documents: index.len(), index: Arc::new(index) }))
    }
}

pub(super) fn config() -> leaf::Config {
    leaf::Config { writer: "a stage rank.index".to_owned(), ..leaf::Config::default() }
}

fn check_ids(documents: &[&Document]) -> Result<(), StageError> {
    let mut seen: HashMap<&str, (usize, &Document)> = HashMap::with_capacity(documents.len());
    for (at, document) in documents.iter().enumerate() {
        if let Some((before, first)) = seen.insert(document.id.as_str(), (at, document)) {
            let message = format!(
                "two documents have the id \"{}\": {} and {}",
                document.id,
                where_it_is(before, first),
                where_it_is(at, document)
            );
            return Err(StageError::permanent(message).hint("give each document an id of its own"));
        }
    }
    Ok(())
}

fn where_it_is(at: usize, document: &Document) -> String {
    document.place.as_ref().map_or_else(|| format!("document {}", at + 1), ToString::to_string)
}

fn in_folder(folder: &Path, documents: &[&Document], context: &StageContext) -> Result<leaf::Index, StageError> {
    let index = match leaf::Index::open_or_create(folder, &config()) {
        Err(error) if error.rebuild_helps() => leaf::Index::rebuild(folder, &config()),
        other => other,
    }
    .map_err(failed)?;
    let fingerprint = fingerprint(documents)?;
    if index.fingerprint().map_err(failed)?.as_deref() != Some(fingerprint.as_str()) {
        index.set_fingerprint(&fingerprint);
        fill(&index, documents, context)?;
    }
    Ok(index)
}

/// Puts the documents in; one that was asked to stop leaves the index as it was.
fn fill(index: &leaf::Index, documents: &[&Document], context: &StageContext) -> Result<(), StageError> {
    let until_stopped = documents.iter().take_while(|_| !context.cancel.is_cancelled());
    if index.folder().is_none() {
        index.replace_all(until_stopped.map(|document| to_leaf(document))).map_err(failed)?;
    } else {
        // A folder must not be left with a part of the documents, so that they are all there before it is touched.
        let all: Vec<leaf::Document> = until_stopped.map(|document| to_leaf(document)).collect();
        if all.len() == documents.len() {
            index.replace_all(all).map_err(failed)?;
        }
    }
    if context.cancel.is_cancelled() { Err(files::stopped()) } else { Ok(()) }
}

/// A short name for the documents: their number, and a hash over the hash of each.
fn fingerprint(documents: &[&Document]) -> Result<String, StageError> {
    let mut all = String::new();
    for document in documents {
        let json = serde_json::to_string(document).map_err(|error| files::unusable("documents", error))?;
        all.push_str(&fingerprint_text(&json));
        all.push('\n');
    }
    Ok(fingerprint_text(&all))
}
