//! What `docs/models.md` says is so.

#![cfg(feature = "model")]
#![allow(clippy::unwrap_used, reason = "a test may unwrap")]

use std::path::Path;

use hatir_rank::model::{Manifest, catalogue};

fn page() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/models.md")).unwrap()
}

#[test]
fn the_manifest_on_the_page_is_read() {
    let page = page();
    let text = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let manifest = Manifest::parse(text, "models.md".as_ref()).unwrap();
    assert_eq!((manifest.name.as_str(), manifest.max_tokens), ("my-encoder", 512));
    // It has every key, none left to its default.
    let keys = |text: &str| text.lines().filter(|line| line.contains(" = ")).count();
    assert_eq!(keys(text), keys(&manifest.to_toml()));
}

#[test]
fn every_key_has_its_row() {
    let page = page();
    let mut table = "";
    for line in catalogue()[0].manifest().to_toml().lines() {
        if let Some(name) = line.strip_prefix('[') {
            table = name.trim_end_matches(']');
        }
        let Some((key, _)) = line.split_once(" = ") else { continue };
        let key = match table {
            "" => key.to_owned(),
            "files" => "files".to_owned(),
            table => format!("{table}.{key}"),
        };
        assert!(page.contains(&format!("\n| `{key}` |")), "no row for {key}");
    }
}

#[test]
fn the_catalogue_on_the_page_is_the_one_in_the_code() {
    let page = page();
    for model in catalogue() {
        let (name, megabytes) = (model.name, (model.bytes() as f64 / 1e6).round());
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}` |"))).unwrap();
        assert!(row.ends_with(&format!("| {megabytes} MB | {} |", model.manifest().licence)), "{row}");
    }
}
