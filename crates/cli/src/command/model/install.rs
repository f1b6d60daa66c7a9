//! `hatir model install`.

use std::io::Write;
use std::path::Path;

use hatir_rank::Error;
use hatir_rank::model::{
    Installed, InstalledRuntime, Local, ModelStore, Options, Recipe, Source, Trust, install, install_runtime, known,
};
use serde_json::{Value, json};

use super::args::InstallArgs;
use super::list::model_json;
use super::progress::Bar;
use super::{RUNTIME, failure, network, size};
use crate::args::Format;
use crate::exit::{Exit, Failure, tell};

pub(crate) fn run(args: &InstallArgs) -> anyhow::Result<Exit> {
    let store = ModelStore::new(args.models.folder());
    if args.name.as_deref() == Some(RUNTIME) {
        return runtime(&store, args);
    }
    let source = source(args)?;
    let options = options(args, &source);
    let bar = Bar::new();
    let installed = install(&store, &source, &options, &bar);
    bar.clear();
    match installed {
        Ok(installed) => {
            report(args.format, &text(&installed), &json(&installed))?;
            if store.runtime().is_ok_and(|runtime| runtime.is_none()) && std::env::var_os("ORT_DYLIB_PATH").is_none() {
                tell(format_args!("note: models run in ONNX Runtime, which is not installed here; {}\n", wheel_hint()));
            }
            Ok(Exit::Fine)
        }
        Err(Error::ModelExists { name, folder }) => Ok(exists(&name, &folder)),
        Err(error) => Err(failure(&error).into()),
    }
}

/// What is there already is no failure: the command can be run again and again.
fn exists(name: &str, folder: &Path) -> Exit {
    tell(format_args!("{name} is installed already, in {}; --replace installs it again\n", folder.display()));
    Exit::Fine
}

fn source(args: &InstallArgs) -> anyhow::Result<Source> {
    if let Some(path) = &args.from {
        let local = Local { path: path.clone(), tokenizer: args.tokenizer.clone(), name: args.name.clone() };
        return Ok(Source::Local(local));
    }
    let Some(name) = &args.name else { return Err(Failure::wrong("no model was named").into()) };
    let mut recipe = Recipe::from(known(name).map_err(|error| failure(&error))?);
    if let Some(url) = &args.url {
        recipe.site.clone_from(url);
    }
    if args.any_hash {
        recipe = recipe.without_hashes();
    }
    Ok(Source::Remote(Box::new(recipe)))
}

fn options(args: &InstallArgs, source: &Source) -> Options {
    let site = match source {
        Source::Remote(recipe) => recipe.site.as_str(),
        _ => "",
    };
    Options::default().replacing(args.replace).with_network(network::settings(site))
}

fn report(format: Format, text: &str, json: &Value) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match format {
        Format::Text => write!(stdout, "{text}")?,
        Format::Json => writeln!(stdout, "{}", serde_json::to_string_pretty(json)?)?,
        Format::Jsonl => writeln!(stdout, "{json}")?,
    }
    Ok(())
}

fn text(installed: &Installed) -> String {
    let folder = &installed.folder;
    let mut text = format!("installed {} in {}\n", folder.manifest.name, folder.path.display());
    let wide = installed.files.iter().map(|file| file.name.len()).max().unwrap_or_default();
    for file in &installed.files {
        text += &format!("  {:wide$}  {:>8}  {}\n", file.name, size(file.bytes), file.sha256);
        text += &format!("  {:wide$}  {:>8}  {}\n", "", "", trust(&file.trust));
    }
    text
}

fn trust(trust: &Trust) -> String {
    match trust {
        Trust::Known(origin) => format!("its hash is the one that is known: {origin}"),
        Trust::Manifest => "its hash is the one in the manifest that came with it".to_owned(),
        _ => "taken on trust: its hash is none that is known, and is recorded".to_owned(),
    }
}

fn trust_name(trust: &Trust) -> &'static str {
    match trust {
        Trust::Known(_) => "known",
        Trust::Manifest => "manifest",
        _ => "first-use",
    }
}

fn json(installed: &Installed) -> Value {
    let mut json = model_json(&installed.folder);
    json["replaced"] = json!(installed.replaced);
    let files = installed.files.iter().map(|file| {
        let trust = trust_name(&file.trust);
        json!({ "name": file.name, "bytes": file.bytes, "sha256": file.sha256, "trust": trust })
    });
    json["files"] = files.collect();
    json
}

/// The runtime library comes from a wheel or a release: native code is not taken on trust from the network.
fn runtime(store: &ModelStore, args: &InstallArgs) -> anyhow::Result<Exit> {
    let Some(path) = &args.from else {
        return Err(Failure::wrong("the runtime library is installed with --from").hint(wheel_hint()).into());
    };
    if args.tokenizer.is_some() {
        return Err(Failure::wrong("--tokenizer goes with a model, not with the runtime library").into());
    }
    let bar = Bar::new();
    let installed = install_runtime(store, path, &Options::default().replacing(args.replace), &bar);
    bar.clear();
    match installed {
        Ok(InstalledRuntime { folder, trust: trusted, replaced, .. }) => {
            let (bytes, sha256) = (folder.bytes, &folder.sha256);
            let text =
                format!("installed {}\n  {}  {sha256}\n  {}\n", folder.library.display(), size(bytes), trust(&trusted));
            let json = json!({
                "name": RUNTIME,
                "library": folder.library,
                "bytes": bytes,
                "sha256": sha256,
                "trust": trust_name(&trusted),
                "replaced": replaced,
            });
            report(args.format, &text, &json)?;
            Ok(Exit::Fine)
        }
        Err(Error::ModelExists { name, folder }) => Ok(exists(&name, &folder)),
        Err(error) => Err(failure(&error).into()),
    }
}

fn wheel_hint() -> &'static str {
    "`pip download --no-deps onnxruntime` fetches a wheel, and `hatir model install onnxruntime --from \
     onnxruntime-….whl` takes the library out of it"
}
