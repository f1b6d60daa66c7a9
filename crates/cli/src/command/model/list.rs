//! `hatir model list`.

use std::io::Write;
use std::path::Path;

use hatir_rank::model::{KnownModel, Listed, ModelFolder, ModelStore, RuntimeFolder, catalogue};
use serde_json::{Value, json};

use super::args::ListArgs;
use super::{RUNTIME, failure, size};
use crate::args::Format;
use crate::exit::Exit;

/// What there is, and what there could be.
struct Found {
    models: Vec<Listed>,
    runtime: hatir_rank::Result<Option<RuntimeFolder>>,
}

pub(crate) fn run(args: &ListArgs) -> anyhow::Result<Exit> {
    let store = ModelStore::new(args.models.folder());
    let found = Found { models: store.list().map_err(|error| failure(&error))?, runtime: store.runtime() };
    let mut stdout = std::io::stdout().lock();
    match args.format {
        Format::Text => write!(stdout, "{}", found.text(store.root()))?,
        Format::Json => {
            let [models, runtime, known] = found.json();
            let whole = json!({
                "root": store.root(),
                "models": models,
                "runtime": runtime.first(),
                "known": known,
            });
            writeln!(stdout, "{}", serde_json::to_string_pretty(&whole)?)?;
        }
        Format::Jsonl => {
            for (kind, values) in ["model", "runtime", "known"].into_iter().zip(found.json()) {
                for mut value in values {
                    value["kind"] = json!(kind);
                    writeln!(stdout, "{value}")?;
                }
            }
        }
    }
    Ok(Exit::Fine)
}

impl Found {
    fn is_installed(&self, known: &KnownModel) -> bool {
        self.models.iter().any(|listed| listed.name == known.name)
    }

    fn text(&self, root: &Path) -> String {
        let mut rows: Vec<(&str, String)> = self
            .models
            .iter()
            .map(|listed| {
                let about = match &listed.model {
                    Ok(folder) => about(folder),
                    Err(error) => format!("cannot be used: {error}"),
                };
                (listed.name.as_str(), about)
            })
            .collect();
        match &self.runtime {
            Ok(Some(runtime)) => rows.push((RUNTIME, format!("{}, {}", size(runtime.bytes), file_name(runtime)))),
            Ok(None) => {}
            Err(error) => rows.push((RUNTIME, format!("cannot be used: {error}"))),
        }
        let missing: Vec<(&str, String)> = catalogue()
            .iter()
            .filter(|known| !self.is_installed(known))
            .map(|known| (known.name, format!("{}; {}", known.about, known.manifest().licence)))
            .collect();
        let mut text = format!("models in {}\n", root.display());
        let wide = rows.iter().chain(&missing).map(|(name, _)| name.len()).max().unwrap_or_default();
        let mut table = |title: &str, rows: &[(&str, String)]| {
            if rows.is_empty() {
                return;
            }
            text += &format!("\n{title}:\n");
            for (name, about) in rows {
                // A list of problems goes on below itself.
                let about = about.replace('\n', &format!("\n  {:wide$}  ", ""));
                text += &format!("  {name:wide$}  {about}\n");
            }
        };
        table("installed", &rows);
        table("to be had by `hatir model install NAME`", &missing);
        text
    }

    fn json(&self) -> [Vec<Value>; 3] {
        let models = self.models.iter().map(|listed| match &listed.model {
            Ok(folder) => model_json(folder),
            Err(error) => json!({ "name": listed.name, "usable": false, "problem": error.to_string() }),
        });
        let runtime = match &self.runtime {
            Ok(runtime) => runtime.as_ref().map(|runtime| {
                let RuntimeFolder { library, sha256, bytes, .. } = runtime;
                json!({ "name": RUNTIME, "usable": true, "library": library, "sha256": sha256, "bytes": bytes })
            }),
            Err(error) => Some(json!({ "name": RUNTIME, "usable": false, "problem": error.to_string() })),
        };
        let known = catalogue().iter().map(|known| {
            json!({
                "name": known.name,
                "about": known.about,
                "bytes": known.bytes(),
                "licence": known.manifest().licence,
                "source": known.manifest().source,
                "installed": self.is_installed(known),
            })
        });
        [models.collect(), runtime.into_iter().collect(), known.collect()]
    }
}

fn file_name(runtime: &RuntimeFolder) -> String {
    runtime.library.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn about(folder: &ModelFolder) -> String {
    let manifest = &folder.manifest;
    let languages = match manifest.languages.as_slice() {
        [] => "any language".to_owned(),
        few if few.len() <= 4 => few.join(", "),
        many => format!("{} languages", many.len()),
    };
    let (bytes, dimension, tokens) = (size(folder.bytes), manifest.dimension, manifest.max_tokens);
    format!("{bytes}, {dimension} dimensions, {tokens} tokens, {languages}; {}", manifest.licence)
}

/// An installed model, for programs.
pub(super) fn model_json(folder: &ModelFolder) -> Value {
    let manifest = &folder.manifest;
    json!({
        "name": manifest.name,
        "usable": true,
        "path": folder.path,
        "bytes": folder.bytes,
        "dimension": manifest.dimension,
        "max_tokens": manifest.max_tokens,
        "languages": manifest.languages,
        "licence": manifest.licence,
        "source": manifest.source,
        "fingerprint": manifest.fingerprint(),
    })
}
