//! Vectors by ONNX Runtime: those of the real model against a reference, and what happens when something is broken.
//!
//! The runtime and the model are looked for where `hatir` looks for them (`HATIR_MODELS`, else the user's data folder);
//! `tools/models/setup` puts them there. Without them these tests say so and do nothing, unless `HATIR_REQUIRE_MODEL=1`.

#![cfg(feature = "onnx")]
#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]

mod onnx_graph;

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hatir_rank::{Embedder, Error, OnnxEmbedder, OnnxOptions, RuntimeSearch, Vector};
use onnx_graph as tiny;
use serde_json::Value;

const NAME: &str = "multilingual-e5-small";

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The folder of models, when it holds what a test needs.
fn models(needed: &str) -> Option<PathBuf> {
    let data = || {
        let home = PathBuf::from(variable("HOME")?);
        Some(if cfg!(target_vendor = "apple") {
            home.join("Library/Application Support")
        } else {
            variable("XDG_DATA_HOME").map_or_else(|| home.join(".local/share"), PathBuf::from)
        })
    };
    let models = variable("HATIR_MODELS").map(PathBuf::from).or_else(|| Some(data()?.join("hatir/models")));
    let found = models.filter(|models| models.join(needed).is_dir());
    if found.is_none() {
        assert!(variable("HATIR_REQUIRE_MODEL").is_none(), "there is no {needed}: run tools/models/setup");
        println!("skipped: there is no {needed}; tools/models/setup brings it");
    }
    found
}

/// The real model's folder.
fn model() -> Option<PathBuf> {
    models("onnxruntime")?;
    Some(models(NAME)?.join(NAME))
}

/// Options for the real model, with a cache that later runs of the tests find again: opening takes seconds without.
fn cached() -> OnnxOptions {
    OnnxOptions { cache: Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("onnx-cache")), ..OnnxOptions::default() }
}

/// Options that find the runtime for models in temporary folders.
fn options() -> Option<OnnxOptions> {
    Some(OnnxOptions { runtime: Some(models("onnxruntime")?.join("onnxruntime")), ..OnnxOptions::default() })
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parity").join(name)
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn texts() -> Vec<String> {
    let texts = lines(&fs::read_to_string(data("texts.jsonl")).unwrap());
    texts.iter().map(|line| line["text"].as_str().unwrap().to_owned()).collect()
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    assert_eq!(a.len(), b.len());
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

fn same(found: &[f32], expected: &[f32], what: &str) {
    let cosine = cosine(found, expected);
    assert!(cosine >= 0.9999, "{what}: cosine {cosine}");
}

fn vector(value: &Value) -> Vector {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap() as f32).collect()
}

/// Compares a reference (a line for each text: `query`, a vector, and `document`, one for each window) with ours.
fn compare(embedder: &OnnxEmbedder, texts: &[&str], reference: &[Value]) {
    assert_eq!(texts.len(), reference.len());
    let documents = embedder.embed_documents(texts).unwrap();
    for ((text, expected), windows) in texts.iter().zip(reference).zip(documents) {
        let shown: String = text.chars().take(60).collect();
        same(&embedder.embed_query(text).unwrap(), &vector(&expected["query"]), &format!("the query {shown:?}"));
        let expected = expected["document"].as_array().unwrap();
        assert_eq!(windows.len(), expected.len(), "windows of {shown:?}");
        for (window, expected) in windows.iter().zip(expected) {
            same(window, &vector(expected), &format!("the document {shown:?}"));
        }
    }
}

#[test]
fn vectors_are_those_of_the_reference() {
    let Some(model) = model() else { return };
    // Without a cache: the tokeniser is that of the library, and the graph is read as it is.
    let embedder = OnnxEmbedder::open(&model, &OnnxOptions::default()).unwrap();
    let reference = lines(&fs::read_to_string(data("reference.jsonl")).unwrap());
    let texts: Vec<&str> = reference.iter().map(|line| line["text"].as_str().unwrap()).collect();
    compare(&embedder, &texts, &reference);
}

/// The reference is made by Python's `onnxruntime` and `tokenizers`, which share no code of ours.
#[test]
fn vectors_are_those_of_python() {
    let Some(model) = model() else { return };
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/models");
    let python = Command::new(tools.join("setup")).arg("--python").output().unwrap();
    if !python.status.success() {
        assert!(variable("HATIR_REQUIRE_MODEL").is_none(), "there is no Python to compare with");
        println!("skipped: there is no Python to compare with; tools/models/setup brings it");
        return;
    }
    let python = String::from_utf8(python.stdout).unwrap();
    let made = Command::new(python.trim())
        .arg(tools.join("parity.py"))
        .args([model.as_os_str(), data("texts.jsonl").as_os_str()])
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(made.status.success());
    let texts = texts();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let embedder = OnnxEmbedder::open(&model, &cached()).unwrap();
    compare(&embedder, &texts, &lines(&String::from_utf8(made.stdout).unwrap()));
}

#[test]
fn a_text_has_one_vector_whatever_is_encoded_beside_it() {
    let Some(model) = model() else { return };
    let texts = texts();
    let some: Vec<&str> = texts.iter().step_by(4).map(String::as_str).collect();
    let open = |threads, batch| {
        let options = OnnxOptions { threads, batch, ..cached() };
        OnnxEmbedder::open(&model, &options).unwrap()
    };
    let alone = open(1, 1);
    let expected: Vec<Vec<Vector>> = some.iter().flat_map(|text| alone.embed_documents(&[text]).unwrap()).collect();
    for (threads, batch) in [(1, 7), (1, 64), (2, 16)] {
        let found = open(threads, batch).embed_documents(&some).unwrap();
        assert_eq!(found.len(), expected.len());
        for ((found, expected), text) in found.iter().zip(&expected).zip(&some) {
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(expected) {
                same(found, expected, &format!("{threads} threads, batches of {batch}: {text:?}"));
            }
        }
    }
}

#[test]
fn questions_are_near_their_answers_in_both_languages() {
    let Some(model) = model() else { return };
    let embedder = OnnxEmbedder::open(&model, &cached()).unwrap();
    let answers = [
        "Refunds are paid within 14 days after the goods came back.",
        "Garantimiz iki yıldır ve üretim kusurlarını kapsar.",
        "The museum is closed on Mondays.",
        "Kargo hafta içi saat 17'ye kadar yola çıkar.",
    ];
    let answers = embedder.embed_documents(&answers).unwrap();
    for (question, answer) in [
        ("how long until I get my money back?", 0),
        ("ürünü geri gönderdim, param kaç günde ödenir?", 0),
        ("how long is the warranty?", 1),
        ("garanti süresi ne kadar?", 1),
        ("müze hangi gün kapalı?", 2),
        ("when are parcels shipped?", 3),
    ] {
        let question_vector = embedder.embed_query(question).unwrap();
        let cosines: Vec<f64> = answers.iter().map(|windows| cosine(&question_vector, &windows[0])).collect();
        let best = (0..answers.len()).max_by(|a, b| cosines[*a].total_cmp(&cosines[*b]));
        assert_eq!(best, Some(answer), "{question}: {cosines:?}");
    }
    assert_eq!(embedder.model().name, NAME);
    assert!(embedder.model().speaks("tr") && embedder.model().dimension == 384);
}

#[test]
fn windows_cover_a_long_text_and_a_query_is_cut() {
    let Some(model) = model() else { return };
    let embedder = OnnxEmbedder::open(&model, &cached()).unwrap();
    let body = "The council met on a rainy evening and spoke about the bridge. ".repeat(80);
    let with_end = |end: &str| format!("{body}{end}");
    let (one, other) = (with_end("In the end they chose stone."), with_end("A dog barked far away."));

    let documents = embedder.embed_documents(&[&one, &other]).unwrap();
    let (one_windows, other_windows) = (&documents[0], &documents[1]);
    assert!(one_windows.len() >= 2);
    assert!(cosine(&one_windows[0], &other_windows[0]) > 0.9999, "the first windows are the same text");
    assert!(cosine(one_windows.last().unwrap(), other_windows.last().unwrap()) < 0.999, "the last ones differ");

    assert_eq!(embedder.embed_query(&one).unwrap(), embedder.embed_query(&other).unwrap());
    let early = format!("A dog barked far away. {body}");
    assert!(cosine(&embedder.embed_query(&one).unwrap(), &embedder.embed_query(&early).unwrap()) < 0.9999);
}

#[test]
fn empty_texts_have_a_vector() {
    let Some(model) = model() else { return };
    let embedder = OnnxEmbedder::open(&model, &cached()).unwrap();
    let documents = embedder.embed_documents(&["", " \n", "\u{200b}"]).unwrap();
    for windows in documents.iter().chain([&vec![embedder.embed_query("").unwrap()]]) {
        assert_eq!(windows.len(), 1);
        let length: f32 = windows[0].iter().map(|number| number * number).sum();
        assert!((length - 1.0).abs() < 1e-5);
    }
    assert!(embedder.embed_documents(&[]).unwrap().is_empty());
}

fn flip_a_bit(path: &Path, at: usize, of: usize) {
    let mut content = fs::read(path).unwrap();
    let last = content.len() - 1;
    content[last * at / of] ^= 0x10;
    fs::write(path, content).unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.collect();
    names.sort();
    names
}

#[test]
fn a_damaged_cache_is_made_anew() {
    let Some(model) = model() else { return };
    let place = tempfile::tempdir().unwrap();
    let cached = OnnxOptions { cache: Some(place.path().join("new/cache")), ..OnnxOptions::default() };
    let vector = |options: &OnnxOptions| {
        OnnxEmbedder::open(&model, options).unwrap().embed_query("when is my refund paid?").unwrap()
    };
    let expected = vector(&OnnxOptions::default());
    let cold = vector(&cached);
    same(&cold, &expected, "a cold cache");
    let cache = place.path().join("new/cache");
    let kept = names(&cache);
    // The list of files, the graph, and the tokeniser: nothing unfinished is left.
    let kinds: Vec<&str> = kept.iter().map(|name| name.split('-').next().unwrap()).collect();
    assert_eq!(kinds, ["files", "graph", "tokens"]);
    let whole: Vec<Vec<u8>> = kept.iter().map(|name| fs::read(cache.join(name)).unwrap()).collect();
    assert_eq!(vector(&cached), cold, "a warm cache");

    for (name, whole) in kept.iter().zip(&whole) {
        for at in [0, 1, 2] {
            flip_a_bit(&cache.join(name), at, 2);
            assert_eq!(vector(&cached), cold, "{name}, damaged at {at}/2");
            let damaged = cache.join("damaged");
            fs::write(&damaged, whole).unwrap();
            flip_a_bit(&damaged, at, 2);
            assert!(fs::read(cache.join(name)).unwrap() != fs::read(&damaged).unwrap(), "{name} was not made anew");
            fs::remove_file(damaged).unwrap();
        }
        fs::write(cache.join(name), &whole[..whole.len() / 3]).unwrap();
        assert_eq!(vector(&cached), cold, "{name}, cut off");
        fs::write(cache.join(name), "").unwrap();
        assert_eq!(vector(&cached), cold, "{name}, emptied");
    }

    // A cache that cannot be written is none.
    fs::write(place.path().join("file"), "").unwrap();
    let blocked = OnnxOptions { cache: Some(place.path().join("file/cache")), ..OnnxOptions::default() };
    assert_eq!(vector(&blocked), expected);
}

fn tiny_model(place: &Path, graph: &tiny::Graph) -> PathBuf {
    let folder = place.join("tiny");
    tiny::write_folder(&folder, &graph.to_bytes(), &tiny::tokenizer(), &[]);
    folder
}

fn unit(vector: [f32; 2]) -> Vector {
    let length = vector[0].hypot(vector[1]);
    vec![vector[0] / length, vector[1] / length]
}

#[test]
fn models_of_other_shapes_work() {
    let Some(options) = options() else { return };
    let place = tempfile::tempdir().unwrap();
    for cache in [None, Some(place.path().join("cache"))] {
        let options = OnnxOptions { cache, ..options.clone() };
        let vectors = |graph: tiny::Graph, text: &str| {
            let embedder = OnnxEmbedder::open(&tiny_model(place.path(), &graph), &options).unwrap();
            embedder.embed_documents(&[text]).unwrap().concat()
        };
        // [CLS] passage : red [SEP] are 2, 8, 9, 4 and 3.
        let mean = unit([26.0 / 5.0, 1.0]);
        same(&vectors(tiny::plain("last_hidden_state"), "red")[0], &mean, "the mean of the tokens");
        same(&vectors(tiny::plain("token_embeddings"), "RED")[0], &mean, "tokens by another name, in capitals");
        same(&vectors(tiny::pooled(), "red")[0], &mean, "a graph that pools");
        same(&vectors(tiny::with_types(), "red")[0], &unit([26.0 / 5.0, 3.0]), "types, which are zeros");
        // "[SEP]" in a text is a text: three unknown words.
        let text = vectors(tiny::plain("last_hidden_state"), "[SEP]");
        same(&text[0], &unit([(2 + 8 + 9 + 1 + 1 + 1 + 3) as f32 / 7.0, 1.0]), "a special token in a text");
        // 16 tokens, four of them around the text: 12 words fit, and the windows of 15 words start at 0 and 3.
        let colours = [
            "red", "red", "red", "sea", "sea", "sea", "sea", "sea", "sea", "sea", "sea", "sea", "green", "green",
            "green",
        ];
        let windows = vectors(tiny::plain("last_hidden_state"), &colours.join(" "));
        let around = 2.0 + 8.0 + 9.0 + 3.0;
        same(&windows[0], &unit([(around + 3.0 * 4.0 + 9.0 * 11.0) / 16.0, 1.0]), "the first window");
        same(&windows[1], &unit([(around + 3.0 * 5.0 + 9.0 * 11.0) / 16.0, 1.0]), "the last window");
        assert_eq!(windows.len(), 2);
    }
}

#[test]
fn the_first_token_is_the_vector_where_the_manifest_says_so() {
    let Some(options) = options() else { return };
    let place = tempfile::tempdir().unwrap();
    let changes = [("\"mean\"", "\"cls\""), ("query-prefix = \"query: \"\n", "")];
    tiny::write_folder(place.path(), &tiny::plain("last_hidden_state").to_bytes(), &tiny::tokenizer(), &changes);
    let embedder = OnnxEmbedder::open(place.path(), &options).unwrap();
    same(&embedder.embed_query("red green").unwrap(), &unit([2.0, 1.0]), "the vector of [CLS]");
    assert_eq!(embedder.model().name, "tiny");
    assert_eq!(embedder.model().fingerprint.len(), 64);
}

#[test]
fn a_graph_that_mixes_batches_gets_one_text_at_a_time() {
    let Some(options) = options() else { return };
    let place = tempfile::tempdir().unwrap();
    for cache in [None, Some(place.path().join("cache"))] {
        // Twice, for the cache to be made and to be used.
        for _ in 0..2 {
            let options = OnnxOptions { cache: cache.clone(), batch: 8, ..options.clone() };
            let embedder = OnnxEmbedder::open(&tiny_model(place.path(), &tiny::mixing()), &options).unwrap();
            let texts = ["red", "sea sea sea sea", "green", "[PAD]"];
            let together = embedder.embed_documents(&texts).unwrap();
            for (text, windows) in texts.iter().zip(together) {
                assert_eq!(windows, embedder.embed_documents(&[text]).unwrap()[0], "{text}");
            }
        }
    }
}

fn problem(folder: &Path, options: &OnnxOptions) -> String {
    match OnnxEmbedder::open(folder, options) {
        Err(error @ Error::Model { .. }) => error.to_string(),
        other => panic!("expected a problem of the model: {other:?}"),
    }
}

#[test]
fn broken_models_are_named() {
    let Some(options) = options() else { return };
    let place = tempfile::tempdir().unwrap();
    let whole = tiny::plain("last_hidden_state").to_bytes();
    let tokenizer = tiny::tokenizer();
    let write = |graph: &[u8], tokenizer: &str, changes: &[(&str, &str)]| {
        tiny::write_folder(place.path(), graph, tokenizer, changes);
        problem(place.path(), &options)
    };
    let check = |message: &str, parts: &[&str]| {
        for part in parts {
            assert!(message.contains(part), "{part:?} is not in: {message}");
        }
    };

    // Files that are not those of the manifest.
    for (file, name) in
        [("model.onnx", "model.onnx has the SHA-256"), ("tokenizer.json", "tokenizer.json has the SHA-256")]
    {
        tiny::write_folder(place.path(), &whole, &tokenizer, &[]);
        flip_a_bit(&place.path().join(file), 1, 2);
        check(&problem(place.path(), &options), &[name, "the manifest states", "install it again"]);
    }
    // Files that are, and are broken all the same.
    check(&write(&whole[..whole.len() / 2], &tokenizer, &[]), &["ONNX Runtime cannot read model.onnx"]);
    check(&write(b"no graph", &tokenizer, &[]), &["ONNX Runtime cannot read model.onnx"]);
    check(&write(&whole, &tokenizer[..300], &[]), &["tokenizer.json cannot be read"]);
    check(&write(&whole, "{}", &[]), &["tokenizer.json cannot be read"]);
    // Graphs of another kind.
    check(
        &write(&whole, &tokenizer, &[("dimension = 2", "dimension = 3")]),
        &["have 2 numbers, the manifest states 3"],
    );
    check(
        &write(&tiny::plain("logits").to_bytes(), &tokenizer, &[]),
        &["lacks an output \"last_hidden_state\", \"token_embeddings\", \"sentence_embedding\"", "has \"logits\""],
    );
    let pixels = tiny::plain("last_hidden_state").input("pixel_values");
    check(&write(&pixels.to_bytes(), &tokenizer, &[]), &["asks for \"pixel_values\""]);
    let floats = tiny::plain("last_hidden_state").float_input("token_type_ids");
    check(&write(&floats.to_bytes(), &tokenizer, &[]), &["\"token_type_ids\" is", "expected 64-bit integers"]);
    // A prefix that leaves no room.
    let long = ["query: ", &"red ".repeat(13)].concat();
    check(&write(&whole, &tokenizer, &[("\"query: \"", &format!("{long:?}"))]), &["takes 17 of 16 tokens"]);
}

#[test]
fn vectors_that_are_none_are_refused() {
    let Some(options) = options() else { return };
    let place = tempfile::tempdir().unwrap();
    let embedder = OnnxEmbedder::open(&tiny_model(place.path(), &tiny::not_a_number()), &options).unwrap();
    let message = embedder.embed_query("red").unwrap_err().to_string();
    assert!(message.contains("zero or not finite"), "{message}");

    // A graph that claims to have one vector for a text, and has one for each token.
    let folder = tiny_model(&place.path().join("other"), &tiny::plain("sentence_embedding"));
    let embedder = OnnxEmbedder::open(&folder, &options).unwrap();
    let message = embedder.embed_documents(&["red"]).unwrap_err().to_string();
    assert!(message.contains("came out as [1, 5, 2], the manifest asks for [1, 2]"), "{message}");
}

/// A process of its own, in which no runtime is loaded yet: opens the model and the runtime of two variables, and
/// prints what comes of it.
#[test]
fn child() {
    let Some(runtime) = variable("HATIR_TEST_RUNTIME") else { return };
    let folder = PathBuf::from(variable("HATIR_TEST_MODEL").unwrap());
    let options = OnnxOptions { runtime: Some(runtime.into()), ..OnnxOptions::default() };
    match OnnxEmbedder::open(&folder, &options) {
        Ok(embedder) => println!("opened: {:?}", embedder.embed_query("red").map(|vector| vector.len())),
        Err(Error::Runtime { problem, remedy }) => println!("runtime: {problem}; {remedy}"),
        Err(error) => println!("other: {error}"),
    }
}

fn in_a_child(model: &Path, runtime: &Path, home: &Path) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env("HATIR_TEST_MODEL", model)
        .env("HATIR_TEST_RUNTIME", runtime)
        .env("HOME", home)
        .env_remove("XDG_CACHE_HOME")
        .env_remove("ORT_DISABLE_TELEMETRY")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    said
}

#[cfg(target_os = "linux")]
#[test]
fn a_runtime_that_cannot_be_used_is_named() {
    let Some(options) = options() else { return };
    let place = tempfile::tempdir().unwrap();
    let model = tiny_model(place.path(), &tiny::plain("last_hidden_state"));
    let said = |runtime: &Path| in_a_child(&model, runtime, place.path());
    let check = |runtime: &Path, part: &str| {
        let said = said(runtime);
        assert!(said.contains("runtime: ") && said.contains(part), "{part:?} is not in: {said}");
        assert!(said.contains("hatir model install onnxruntime"), "{said}");
    };

    let library = RuntimeSearch::default().exactly(options.runtime.unwrap()).find().unwrap();
    assert!(said(&library).contains("opened: Ok(2)"));

    check(&place.path().join("nowhere.so"), "nowhere.so does not exist");
    check(place.path(), "holds no library of it");
    let broken = place.path().join("libonnxruntime.so");
    fs::write(&broken, "not a library").unwrap();
    check(&broken, "it is no library for this system");
    let whole = fs::read(&library).unwrap();
    fs::write(&broken, &whole[..whole.len() / 2]).unwrap();
    check(&broken, "it is cut off at");

    // Libraries of our own making: one that is something else, and one that is too old.
    let compile = |source: &str| {
        let mut compiler = Command::new("cc")
            .args(["-shared", "-fPIC", "-x", "c", "-o"])
            .arg(&broken)
            .arg("-")
            .stdin(Stdio::piped())
            .spawn()
            .ok()?;
        compiler.stdin.take()?.write_all(source.as_bytes()).ok()?;
        compiler.wait().ok()?.success().then_some(())
    };
    fs::remove_file(&broken).unwrap();
    if compile("int something_else(void) { return 1; }").is_none() {
        println!("skipped: there is no C compiler");
        return;
    }
    check(&broken, "it is another library");
    fs::remove_file(&broken).unwrap();
    compile(
        "static const void *api(unsigned version) { return 0; }
         static const char *version(void) { return \"1.10.0\"; }
         static const struct { const void *(*api)(unsigned); const char *(*version)(void); } base = { api, version };
         const void *OrtGetApiBase(void) { return &base; }",
    )
    .unwrap();
    check(&broken, "is ONNX Runtime 1.10.0, 1.");
}

/// Builds of the runtime by its publisher send reports home and leave an identity in the user's cache, unless they are
/// told not to before they start.
#[test]
fn the_runtime_leaves_nothing_behind() {
    let Some(options) = options() else { return };
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("home");
    fs::create_dir(&home).unwrap();
    let model = tiny_model(place.path(), &tiny::plain("last_hidden_state"));
    assert!(in_a_child(&model, &options.runtime.unwrap(), &home).contains("opened: Ok(2)"));
    assert!(names(&home).is_empty(), "{:?}", names(&home));
}

#[test]
fn embedders_share_threads() {
    fn check<T: Send + Sync>() {}
    check::<OnnxEmbedder>();
    let Some(options) = options() else { return };
    let place = tempfile::tempdir().unwrap();
    let embedder = OnnxEmbedder::open(&tiny_model(place.path(), &tiny::plain("last_hidden_state")), &options).unwrap();
    let expected = embedder.embed_query("red sea").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    assert_eq!(embedder.embed_query("red sea").unwrap(), expected);
                }
            });
        }
    });
}
