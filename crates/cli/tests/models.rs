//! `hatir model`, with a server on this machine in the publisher's place.

#![allow(clippy::unwrap_used, reason = "a test may unwrap")]

#[allow(dead_code, reason = "the tests of hatir-rank use all of it")]
#[path = "../../rank/tests/model_server/mod.rs"]
mod server;
mod support;

use serde_json::{Value, json};
use server::{Answer, Server};
use support::{Folder, Ran, finish};

const GRAPH: &[u8] = b"\x08\x07 a graph, as far as anybody can tell";
const TOKENIZER: &[u8] = br#"{"version":"1.0","model":{"type":"WordPiece"}}"#;

/// The command in a world of its own: no variable of the person who runs the tests counts.
fn hatir(folder: &Folder, arguments: &[&str]) -> Ran {
    let mut command = folder.command(&[&["model"], arguments].concat());
    for name in ["HATIR_MODELS", "ORT_DYLIB_PATH", "http_proxy", "all_proxy", "ALL_PROXY"] {
        command.env_remove(name);
    }
    finish(command.env("XDG_DATA_HOME", folder.path("data")))
}

/// A text with the folder's path taken out.
fn shown(folder: &Folder, text: &str) -> String {
    text.replace(&folder.path("").display().to_string(), "[FOLDER]/")
}

/// A folder with a model that has no manifest.
fn with_model() -> Folder {
    let folder = Folder::new();
    folder.write("source/onnx/model.onnx", GRAPH).write("source/tokenizer.json", TOKENIZER);
    folder
}

fn installed() -> Folder {
    let folder = with_model();
    hatir(&folder, &["install", "all-minilm-l6-v2", "--from", "source"]).expect(0);
    folder
}

fn publisher() -> Server {
    Server::start(|request, _| match request.path.ends_with("tokenizer.json") {
        true => Answer::File { body: TOKENIZER.to_vec(), tag: None },
        false => Answer::File { body: GRAPH.to_vec(), tag: Some("\"one\"") },
    })
}

#[test]
fn an_empty_folder_shows_the_catalogue() {
    let folder = Folder::new();
    let ran = hatir(&folder, &["list"]).expect(0);
    insta::assert_snapshot!("model_list_empty", shown(&folder, &ran.stdout));
    assert_eq!(ran.stderr, "");
    let json = hatir(&folder, &["list", "--format", "json"]).expect(0).json();
    assert_eq!((&json["models"], &json["runtime"]), (&json!([]), &Value::Null));
    assert_eq!(json["known"][1]["bytes"], 90_871_461);
    assert!(!folder.path("data").exists(), "a look creates nothing");
}

#[test]
fn a_model_comes_from_a_folder_and_goes_again() {
    let folder = with_model();
    let ran = hatir(&folder, &["install", "all-minilm-l6-v2", "--from", "source"]).expect(0);
    insta::assert_snapshot!("model_install_folder", shown(&folder, &ran.stdout));
    ran.says("note: models run in ONNX Runtime").says("hatir model install onnxruntime --from");
    assert!(folder.path("data/hatir/models/all-minilm-l6-v2/hatir-model.toml").is_file());

    let again = hatir(&folder, &["install", "all-minilm-l6-v2", "--from", "source"]).expect(0).prints_nothing();
    again.says("all-minilm-l6-v2 is installed already").says("--replace");
    let ran = hatir(&folder, &["install", "all-minilm-l6-v2", "--from", "source", "--replace", "--format", "json"]);
    let json = ran.expect(0).json();
    assert_eq!((&json["replaced"], &json["files"][0]["trust"]), (&json!(true), &json!("first-use")));

    insta::assert_snapshot!("model_list_one", shown(&folder, &hatir(&folder, &["list"]).expect(0).stdout));
    hatir(&folder, &["remove", "all-minilm-l6-v2"]).expect(0).prints("removed all-minilm-l6-v2\n");
    hatir(&folder, &["remove", "all-minilm-l6-v2"]).expect(2).says("none is installed").says("hatir model list");
}

#[test]
fn a_model_comes_from_a_site() {
    let folder = Folder::new();
    let publisher = publisher();
    let install = ["install", "all-minilm-l6-v2", "--url", &publisher.url];
    // What the site has are not the publisher's files.
    let ran = hatir(&folder, &install).expect(1).prints_nothing();
    ran.says("model.onnx: the file has 38 bytes there, expected 90405214").says("--url takes the address of a mirror");
    let json = hatir(&folder, &["list", "--format", "json"]).expect(0).json();
    assert_eq!(json["models"], json!([]));

    let ran = hatir(&folder, &[&install[..], &["--any-hash", "--format", "jsonl"]].concat()).expect(0);
    assert_eq!(ran.stdout.lines().count(), 1);
    let json = ran.json();
    assert_eq!((&json["name"], &json["bytes"]), (&json!("all-minilm-l6-v2"), &json!(84)));
    assert!(ran.stderr.starts_with("note: models run in"), "no bar where nobody looks:\n{}", ran.stderr);
    let path = &publisher.requests_for("tokenizer.json")[0].path;
    assert!(path.starts_with("/sentence-transformers/all-MiniLM-L6-v2/resolve/"), "{path}");
}

#[test]
fn what_cannot_be_fetched_is_said_with_what_can_be_done() {
    let folder = Folder::new();
    let missing = Server::start(|_, _| Answer::Status(404, ""));
    let ran = hatir(&folder, &["install", "multilingual-e5-small", "--url", &missing.url]).expect(1);
    ran.says("there is no such file").says("name a mirror that has it").says("--from installs from a folder");
    hatir(&folder, &["install", "multilingual-e5"]).expect(2).says("did you mean \"multilingual-e5-small\"?");
    hatir(&folder, &["install", "bge-m3"]).expect(2).says("it has multilingual-e5-small and all-minilm-l6-v2");
    hatir(&folder, &["install"]).expect(2).says("<NAME>");
    hatir(&folder, &["install", "all-minilm-l6-v2", "--from", "nowhere"]).expect(2).says("no such file or folder");
    hatir(&folder, &["install", "--from", "."]).expect(2).says("no model of the catalogue was named");
    hatir(&folder, &["install", "x", "--from", ".", "--url", "y"]).expect(2).says("cannot be used with");
    hatir(&folder, &["install", "onnxruntime"]).expect(2).says("pip download --no-deps onnxruntime");
    hatir(&folder, &["install", "onnxruntime", "--from", "."]).expect(2).says("no library of ONNX Runtime");
}

#[test]
fn a_failed_attempt_is_told_and_made_good() {
    let folder = Folder::new();
    let publisher = Server::start(|request, number| match (request.path.ends_with("tokenizer.json"), number) {
        (true, _) => Answer::File { body: TOKENIZER.to_vec(), tag: None },
        (false, 0) => Answer::Status(503, "Retry-After: 0\r\n"),
        (false, _) => Answer::File { body: GRAPH.to_vec(), tag: None },
    });
    let ran = hatir(&folder, &["install", "all-minilm-l6-v2", "--url", &publisher.url, "--any-hash"]).expect(0);
    ran.says("model.onnx: the server answers 503 Service Unavailable; trying again\n");
}

#[test]
fn a_check_names_the_files_that_differ() {
    let folder = installed();
    let ran = hatir(&folder, &["verify"]).expect(0);
    assert_eq!(ran.stdout, "all-minilm-l6-v2: as installed (model.onnx, tokenizer.json)\n");
    folder.write("data/hatir/models/all-minilm-l6-v2/model.onnx", "another");
    std::fs::remove_file(folder.path("data/hatir/models/all-minilm-l6-v2/tokenizer.json")).unwrap();
    let ran = hatir(&folder, &["verify", "all-minilm-l6-v2"]).expect(1);
    insta::assert_snapshot!("model_verify_differs", ran.stdout);
    let json = hatir(&folder, &["verify", "--format", "json"]).expect(1).json();
    let states: Vec<&Value> = json[0]["files"].as_array().unwrap().iter().map(|file| &file["state"]).collect();
    assert_eq!(states, ["differs", "missing"]);
    hatir(&folder, &["verify", "minilm"]).expect(2).says("there is no model \"minilm\"");
    hatir(&folder, &["verify", "../minilm"]).expect(2).says("lower-case letters");
    hatir(&folder, &["verify", "onnxruntime"]).expect(2).says("the runtime library is not installed");
    hatir(&Folder::new(), &["verify"]).expect(0).says("no model is installed").prints_nothing();
}

#[test]
fn a_broken_model_is_shown_with_its_problem() {
    let folder = installed();
    let manifest = "data/hatir/models/all-minilm-l6-v2/hatir-model.toml";
    let text = folder.read(manifest).replace("max-tokens", "max-token").replace("dimension = 384", "dimension = 0");
    folder.write(manifest, text);
    let ran = hatir(&folder, &["list"]).expect(0);
    insta::assert_snapshot!("model_list_broken", shown(&folder, &ran.stdout));
    hatir(&folder, &["verify"]).expect(1).prints("cannot be checked: ");
    // It can be installed again without being asked for twice, and removed.
    hatir(&folder, &["install", "all-minilm-l6-v2", "--from", "source"]).expect(0);
    hatir(&folder, &["verify"]).expect(0);
    folder.write(manifest, "");
    hatir(&folder, &["remove", "all-minilm-l6-v2", "--format", "json"]).expect(0).prints("\"removed\"");
}

#[test]
fn a_folder_that_is_no_model_is_left_alone() {
    let folder = Folder::new();
    folder.write("here/letters/dear.txt", "dear");
    let ran = hatir(&folder, &["remove", "letters", "--models", "here"]).expect(1);
    ran.says("it may be anything; delete it by hand");
    assert_eq!(folder.read("here/letters/dear.txt"), "dear");
}

#[test]
fn the_folder_is_the_one_that_is_named() {
    let folder = with_model();
    hatir(&folder, &["install", "all-minilm-l6-v2", "--from", "source", "--models", "here"]).expect(0);
    assert!(folder.path("here/all-minilm-l6-v2/model.onnx").is_file() && !folder.path("data").exists());
    let mut command = folder.command(&["model", "list", "--format", "json"]);
    let json = finish(command.env("HATIR_MODELS", folder.path("here"))).expect(0).json();
    assert_eq!(json["models"][0]["name"], "all-minilm-l6-v2");
}

#[test]
fn lines_of_json_say_what_they_are() {
    let folder = installed();
    let ran = hatir(&folder, &["list", "--format", "jsonl"]).expect(0);
    let kinds: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].clone()).collect();
    assert_eq!(kinds, ["model", "known", "known"]);
}
