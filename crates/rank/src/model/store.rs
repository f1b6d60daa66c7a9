//! A folder of model folders.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::hash::{hash_file, is_sha256};
use super::manifest::{MANIFEST_FILE, MODEL_FILE, Manifest, TOKENIZER_FILE};
use super::names::{RUNTIME_NAME, check_name, nearest};
use super::place::Place;
use super::read_manifest::is_file_name;
use crate::error::{Error, Result};

/// What the folder of the runtime library says of it: its file's name and SHA-256.
pub const RUNTIME_FILE: &str = "hatir-runtime.toml";

/// A manifest is a page of text; more is no manifest.
const LARGEST_MANIFEST: u64 = 1 << 20;

/// A folder of model folders.
///
/// ```text
/// <root>/<name>/model.onnx            the graph
/// <root>/<name>/tokenizer.json        the tokeniser
/// <root>/<name>/hatir-model.toml      the manifest
/// <root>/onnxruntime/                 the runtime library and hatir-runtime.toml
/// <root>/.work/                       unfinished work, which `list` does not show
/// ```
///
/// Reading changes nothing and needs no lock. Each change of a model takes a lock of its own and is one rename, so
/// that a reader finds the old folder or the new one; what an interrupted change leaves is cleared by the next one.
#[derive(Debug, Clone)]
pub struct ModelStore {
    root: PathBuf,
}

/// A model that is there, with its files.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelFolder {
    /// Its folder.
    pub path: PathBuf,
    /// What its manifest says.
    pub manifest: Manifest,
    /// The bytes of the files that the manifest lists.
    pub bytes: u64,
}

impl ModelFolder {
    /// Opens a model folder wherever it stands; a folder in a store is opened with [`ModelStore::open`].
    ///
    /// # Errors
    /// [`Error::Manifest`]; [`Error::Model`] when the manifest or a file is missing or empty; [`Error::Io`].
    pub fn open(path: &Path) -> Result<Self> {
        let manifest = read_manifest(path)?;
        let mut bytes = 0;
        for name in manifest.files.keys() {
            bytes += size_of(path, name)?;
        }
        Ok(Self { path: path.to_path_buf(), manifest, bytes })
    }

    /// The path of the graph.
    pub fn model(&self) -> PathBuf {
        self.path.join(MODEL_FILE)
    }

    /// The path of the tokeniser.
    pub fn tokenizer(&self) -> PathBuf {
        self.path.join(TOKENIZER_FILE)
    }
}

/// The runtime library that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuntimeFolder {
    /// Its folder.
    pub path: PathBuf,
    /// The library in it.
    pub library: PathBuf,
    /// The library's SHA-256 as it was installed.
    pub sha256: String,
    /// The library's bytes.
    pub bytes: u64,
}

/// What `hatir-runtime.toml` holds.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuntimeManifest {
    pub(super) version: u32,
    pub(super) file: String,
    pub(super) sha256: String,
}

/// A folder of a store: a model, or what keeps it from being one.
#[derive(Debug)]
#[non_exhaustive]
pub struct Listed {
    /// The folder's name.
    pub name: String,
    /// The model, or why it cannot be opened.
    pub model: Result<ModelFolder>,
}

/// What a check found of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileCheck {
    /// The file's name.
    pub name: String,
    /// The SHA-256 that it should have.
    pub expected: String,
    /// How it stands.
    pub state: FileState,
}

/// How a file stands against its manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileState {
    /// As the manifest says.
    Same,
    /// Not there.
    Missing,
    /// Other bytes; its SHA-256 is given.
    Differs(String),
    /// The system does not let it be read; its answer is given.
    Unreadable(String),
}

impl ModelStore {
    /// The store in a folder, which need not exist yet.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Its folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where a model of this name stands or would stand.
    ///
    /// # Errors
    /// [`Error::InvalidConfig`] for a name that no model can have.
    pub fn path_of(&self, name: &str) -> Result<PathBuf> {
        check_name(name).map_err(|expected| Error::InvalidConfig {
            setting: "model name".to_owned(),
            found: format!("{name:?}"),
            expected,
        })?;
        Ok(self.root.join(name))
    }

    /// All folders by name, broken ones included; the runtime library and hidden folders are left out.
    ///
    /// # Errors
    /// [`Error::Io`] when the folder itself cannot be read; one that does not exist is empty.
    pub fn list(&self) -> Result<Vec<Listed>> {
        let entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io("read", &self.root, error)),
        };
        let mut listed = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| Error::io("read", &self.root, error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') || name == RUNTIME_NAME || !entry.path().is_dir() {
                continue;
            }
            let model = self.open(&name);
            listed.push(Listed { name, model });
        }
        listed.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(listed)
    }

    /// Opens a model: reads its manifest, and looks that its files are there and not empty. Their bytes are not read;
    /// [`ModelStore::verify`] does that.
    ///
    /// # Errors
    /// [`Error::NoModel`]; [`Error::Manifest`]; [`Error::Model`] when the folder is broken; [`Error::InvalidConfig`]
    /// for a name that no model can have; [`Error::Io`].
    pub fn open(&self, name: &str) -> Result<ModelFolder> {
        let path = self.path_of(name)?;
        if !path.is_dir() {
            return Err(self.no_model(name));
        }
        let folder = ModelFolder::open(&path)?;
        if folder.manifest.name != name {
            let problem = format!("its manifest names the model {:?}", folder.manifest.name);
            return Err(broken(&path, problem, format!("rename the folder to {:?}", folder.manifest.name)));
        }
        Ok(folder)
    }

    /// Reads every file of a model and compares its SHA-256 with the manifest's, in the order of the names. `each`
    /// hears the bytes that were read. Costs as much as reading the files does.
    ///
    /// # Errors
    /// As [`ModelStore::open`], except that missing and empty files are part of the answer.
    pub fn verify(&self, name: &str, mut each: impl FnMut(u64)) -> Result<Vec<FileCheck>> {
        let path = self.path_of(name)?;
        if !path.is_dir() {
            return Err(self.no_model(name));
        }
        let files = read_manifest(&path)?.files;
        Ok(files.into_iter().map(|(file, expected)| check_file(&path, file, expected, &mut each)).collect())
    }

    /// The same for the runtime library; `None` when there is none.
    ///
    /// # Errors
    /// [`Error::Model`] when what the folder says of the library cannot be read; [`Error::Io`].
    pub fn verify_runtime(&self, mut each: impl FnMut(u64)) -> Result<Option<FileCheck>> {
        let path = self.runtime_path();
        let manifest = read_runtime_manifest(&path)?;
        Ok(manifest.map(|RuntimeManifest { file, sha256, .. }| check_file(&path, file, sha256, &mut each)))
    }

    /// The runtime library that was installed into this store, if one was.
    ///
    /// # Errors
    /// [`Error::Model`] when the folder is broken; [`Error::Io`].
    pub fn runtime(&self) -> Result<Option<RuntimeFolder>> {
        let path = self.runtime_path();
        let Some(RuntimeManifest { file, sha256, .. }) = read_runtime_manifest(&path)? else { return Ok(None) };
        let bytes = size_of(&path, &file)?;
        Ok(Some(RuntimeFolder { library: path.join(file), path, sha256, bytes }))
    }

    /// The folder of the runtime library, there or not.
    pub fn runtime_path(&self) -> PathBuf {
        self.root.join(RUNTIME_NAME)
    }

    /// Removes a model, broken or not, or the runtime library (`onnxruntime`), and what was fetched for it. A folder
    /// that has no manifest is left alone: it may be anybody's.
    ///
    /// # Errors
    /// [`Error::NoModel`]; [`Error::Model`] for a folder without a manifest; [`Error::ModelBusy`];
    /// [`Error::InvalidConfig`] for a name that no model can have; [`Error::Io`].
    pub fn remove(&self, name: &str) -> Result<()> {
        let (path, manifest) = match name {
            RUNTIME_NAME => (self.runtime_path(), RUNTIME_FILE),
            _ => (self.path_of(name)?, MANIFEST_FILE),
        };
        if !path.is_dir() {
            return Err(self.no_model(name));
        }
        if !path.join(manifest).is_file() {
            let problem = format!("it has no {manifest}, so that it may be anything");
            return Err(broken(&path, problem, "delete it by hand if it is of no use".to_owned()));
        }
        Place::take(&self.root, name)?.remove()
    }

    fn no_model(&self, name: &str) -> Error {
        let names: Vec<String> = self.list().unwrap_or_default().into_iter().map(|listed| listed.name).collect();
        let near = nearest(name, names.iter().map(String::as_str));
        let installed = match (near, names.as_slice()) {
            (Some(near), _) => format!("did you mean {near:?}?"),
            (None, []) => "none is installed".to_owned(),
            (None, names) => format!("installed: {}", names.join(", ")),
        };
        Error::NoModel { name: name.to_owned(), root: self.root.clone(), installed }
    }
}

const INSTALL_AGAIN: &str = "install the model again";

pub(super) fn broken(folder: &Path, problem: String, remedy: String) -> Error {
    Error::Model { folder: folder.to_path_buf(), problem, remedy }
}

fn read_manifest(folder: &Path) -> Result<Manifest> {
    let path = folder.join(MANIFEST_FILE);
    let Some(text) = read_small(&path)? else {
        return Err(broken(folder, format!("it has no {MANIFEST_FILE}"), INSTALL_AGAIN.to_owned()));
    };
    Manifest::parse(&text, &path)
}

fn read_runtime_manifest(folder: &Path) -> Result<Option<RuntimeManifest>> {
    let path = folder.join(RUNTIME_FILE);
    let Some(text) = read_small(&path)? else { return Ok(None) };
    let wrong = |problem: &str| {
        broken(folder, format!("{RUNTIME_FILE} {problem}"), "install the runtime library again".to_owned())
    };
    let manifest: RuntimeManifest = toml::from_str(&text).map_err(|error| wrong(error.message()))?;
    if manifest.version != 1 || !is_file_name(&manifest.file) || !is_sha256(&manifest.sha256) {
        return Err(wrong("has a version, a file name or a SHA-256 that this version does not read"));
    }
    Ok(Some(manifest))
}

/// The text of a small file; `None` when it is not there.
fn read_small(path: &Path) -> Result<Option<String>> {
    let failed = |error| Error::io("read", path, error);
    match fs::metadata(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(failed(error)),
        Ok(metadata) if metadata.len() > LARGEST_MANIFEST => {
            return Err(failed(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 1 MiB")));
        }
        Ok(_) => {}
    }
    fs::read_to_string(path).map(Some).map_err(failed)
}

fn size_of(folder: &Path, name: &str) -> Result<u64> {
    let path = folder.join(name);
    match fs::metadata(&path) {
        Ok(metadata) if !metadata.is_file() => {
            Err(broken(folder, format!("{name} is no file"), INSTALL_AGAIN.to_owned()))
        }
        Ok(metadata) if metadata.len() == 0 => {
            Err(broken(folder, format!("{name} is empty"), INSTALL_AGAIN.to_owned()))
        }
        Ok(metadata) => Ok(metadata.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(broken(folder, format!("{name} is missing"), INSTALL_AGAIN.to_owned()))
        }
        Err(error) => Err(Error::io("read", &path, error)),
    }
}

fn check_file(folder: &Path, name: String, expected: String, each: &mut dyn FnMut(u64)) -> FileCheck {
    let state = match hash_file(&folder.join(&name), each) {
        Ok(found) if found.eq_ignore_ascii_case(&expected) => FileState::Same,
        Ok(found) => FileState::Differs(found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => FileState::Missing,
        Err(error) => FileState::Unreadable(error.to_string()),
    };
    FileCheck { name, expected, state }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::known;

    const GRAPH: (&str, &str) = (MODEL_FILE, "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae");
    const TOKENIZER: (&str, &str) =
        (TOKENIZER_FILE, "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9");

    /// A store with one model whose files hold `foo` and `bar`.
    fn store() -> (tempfile::TempDir, ModelStore) {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("good");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(MODEL_FILE), "foo").unwrap();
        fs::write(folder.join(TOKENIZER_FILE), "bar").unwrap();
        let mut manifest = known("all-minilm-l6-v2").unwrap().manifest();
        manifest.name = "good".to_owned();
        manifest.files = [GRAPH, TOKENIZER].map(|(name, hash)| (name.to_owned(), hash.to_owned())).into();
        fs::write(folder.join(MANIFEST_FILE), manifest.to_toml()).unwrap();
        let store = ModelStore::new(root.path());
        (root, store)
    }

    #[test]
    fn broken_folders_are_listed_with_what_is_wrong() {
        let (root, store) = store();
        let good = fs::read_to_string(root.path().join("good").join(MANIFEST_FILE)).unwrap();
        for name in ["bare", "misspelt", "other-name", "Odd Name", ".hidden", "onnxruntime"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        fs::write(root.path().join("misspelt").join(MANIFEST_FILE), good.replace("max-tokens", "max-token")).unwrap();
        fs::write(root.path().join("other-name").join(MANIFEST_FILE), &good).unwrap();
        fs::write(root.path().join("a-file"), "").unwrap();
        let listed = store.list().unwrap();
        let found: Vec<(String, String)> = listed
            .into_iter()
            .map(|Listed { name, model }| (name, model.map_or_else(|error| error.to_string(), |_| "fine".to_owned())))
            .collect();
        let expect = [
            ("Odd Name", "the setting `model name` is \"Odd Name\""),
            ("bare", "it has no hatir-model.toml; install the model again"),
            ("good", "fine"),
            ("misspelt", "`max-token` is no key of a manifest"),
            ("other-name", "model.onnx is missing"),
        ];
        assert_eq!(found.len(), expect.len(), "{found:?}");
        for ((name, message), (expected, part)) in found.iter().zip(expect) {
            assert!(name == expected && message.contains(part), "{name}: {message}");
        }
    }

    #[test]
    fn an_opened_model_has_its_files() {
        let (root, store) = store();
        let folder = store.open("good").unwrap();
        assert_eq!((folder.bytes, folder.model()), (6, root.path().join("good/model.onnx")));
        fs::write(folder.tokenizer(), "").unwrap();
        let error = store.open("good").unwrap_err().to_string();
        assert!(error.contains("tokenizer.json is empty; install the model again"), "{error}");
        fs::remove_file(folder.tokenizer()).unwrap();
        assert!(store.open("good").unwrap_err().to_string().contains("tokenizer.json is missing"));
        for name in ["../good", "", ".", "/etc", "onnxruntime"] {
            assert!(matches!(store.open(name), Err(Error::InvalidConfig { .. })), "{name}");
            assert!(name == "onnxruntime" || matches!(store.remove(name), Err(Error::InvalidConfig { .. })), "{name}");
        }
        let error = store.open("god").unwrap_err().to_string();
        assert!(error.contains("did you mean \"good\"?"), "{error}");
    }

    #[test]
    fn a_check_names_each_file_that_differs() {
        let (root, store) = store();
        let states = |store: &ModelStore| -> Vec<FileState> {
            store.verify("good", |_| {}).unwrap().into_iter().map(|check| check.state).collect()
        };
        let mut bytes = 0;
        store.verify("good", |read| bytes += read).unwrap();
        assert_eq!(bytes, 6);
        assert_eq!(states(&store), [FileState::Same, FileState::Same]);
        fs::write(root.path().join("good/model.onnx"), "bar").unwrap();
        fs::remove_file(root.path().join("good/tokenizer.json")).unwrap();
        assert_eq!(states(&store), [FileState::Differs(TOKENIZER.1.to_owned()), FileState::Missing]);
    }

    #[test]
    fn only_models_are_removed() {
        let (root, store) = store();
        fs::create_dir(root.path().join("letters")).unwrap();
        let error = store.remove("letters").unwrap_err().to_string();
        assert!(error.contains("it may be anything; delete it by hand"), "{error}");
        store.remove("good").unwrap();
        assert!(matches!(store.remove("good"), Err(Error::NoModel { .. })));
        assert!(root.path().join("letters").exists() && !root.path().join("good").exists());
    }

    #[test]
    fn a_runtime_is_found_checked_and_removed() {
        let (root, store) = store();
        assert_eq!(store.runtime().unwrap(), None);
        assert_eq!(store.verify_runtime(|_| {}).unwrap(), None);
        let folder = root.path().join("onnxruntime");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("libonnxruntime.so.1"), "foo").unwrap();
        let text = format!("version = 1\nfile = \"libonnxruntime.so.1\"\nsha256 = \"{}\"\n", GRAPH.1);
        fs::write(folder.join(RUNTIME_FILE), &text).unwrap();
        assert_eq!(store.runtime().unwrap().unwrap().library, folder.join("libonnxruntime.so.1"));
        assert_eq!(store.verify_runtime(|_| {}).unwrap().unwrap().state, FileState::Same);
        fs::write(folder.join(RUNTIME_FILE), text.replace("libonnx", "../libonnx")).unwrap();
        assert!(matches!(store.runtime(), Err(Error::Model { .. })));
        store.remove("onnxruntime").unwrap();
        assert!(!folder.exists());
    }
}
