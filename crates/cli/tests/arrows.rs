//! The arrows between our crates, as `cargo metadata` sees them, against the map of ARCHITECTURE.md.
//!
//! A new arrow is the most expensive kind of change here, so that it fails a test until somebody draws it on the map
//! (and in `MAP` below) on purpose.

use cargo_metadata::{DependencyKind, MetadataCommand};

/// One crate of the map: its package, and the packages of ours that it may know.
struct Place {
    package: &'static str,
    may_know: &'static [&'static str],
    /// Leaves are synchronous libraries: the crates that would make them something else are out of bounds too.
    leaf: bool,
}

const MAP: &[Place] = &[
    Place { package: "hatir-budget", may_know: &[], leaf: true },
    Place { package: "hatir-condense", may_know: &[], leaf: true },
    Place { package: "hatir-memory", may_know: &[], leaf: true },
    Place { package: "hatir-rank", may_know: &[], leaf: true },
    Place {
        package: "hatir-pipeline",
        may_know: &["hatir-budget", "hatir-condense", "hatir-memory", "hatir-rank"],
        leaf: false,
    },
    Place {
        package: "hatir",
        may_know: &["hatir-budget", "hatir-condense", "hatir-memory", "hatir-pipeline", "hatir-rank"],
        leaf: false,
    },
];

/// What a leaf must not depend on directly: a runtime, a configuration language, a command line, a terminal.
const NOT_IN_A_LEAF: &[&str] = &["anstream", "anyhow", "clap", "indicatif", "tokio", "toml", "toml_edit"];

/// What a leaf may read a manifest of its own with, behind a feature.
const MANIFESTS: &str = "toml";

/// What only the binary may depend on: in a library it would decide for its callers how errors look or who prints.
const ONLY_IN_THE_BINARY: &[&str] = &["anstream", "anyhow", "clap", "clap_complete", "indicatif"];

/// A crate of the workspace with what its manifest names, cut down to what the rules look at.
struct Crate {
    name: String,
    needs: Vec<Need>,
}

struct Need {
    package: String,
    /// For its own tests, examples and benchmarks only.
    development: bool,
    /// Only with a feature.
    optional: bool,
}

/// Every breach of the map, one sentence each, in the order of `crates`.
fn forbidden_arrows(crates: &[Crate]) -> Vec<String> {
    let mut breaches = Vec::new();
    for one in crates {
        let Some(place) = MAP.iter().find(|place| place.package == one.name) else {
            breaches.push(format!(
                "{} is not on the map: draw it in ARCHITECTURE.md and list it in MAP (crates/cli/tests/arrows.rs)",
                one.name
            ));
            continue;
        };
        for need in &one.needs {
            let package = need.package.as_str();
            let ours = package == "hatir" || package.starts_with("hatir-");
            // A test of one leaf against another would be an arrow like any other: neither could be taken alone.
            if ours && !place.may_know.contains(&package) {
                breaches.push(format!("{} -> {package}: this arrow is not on the map", one.name));
            } else if place.leaf && need.optional && package == MANIFESTS {
                // It may read a manifest of its own, for who asks for that feature.
            } else if place.leaf && !need.development && NOT_IN_A_LEAF.contains(&package) {
                breaches.push(format!("{} -> {package}: a leaf is a synchronous library", one.name));
            } else if one.name != "hatir" && !need.development && ONLY_IN_THE_BINARY.contains(&package) {
                breaches.push(format!("{} -> {package}: this belongs in the binary", one.name));
            }
        }
    }
    breaches
}

fn workspace() -> Vec<Crate> {
    let metadata = MetadataCommand::new()
        .manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"))
        .no_deps()
        .exec()
        .expect("cargo runs this test, so that cargo metadata works");
    let to_need = |dependency: &cargo_metadata::Dependency| Need {
        package: dependency.name.clone(),
        development: dependency.kind == DependencyKind::Development,
        optional: dependency.optional,
    };
    metadata
        .packages
        .iter()
        .map(|package| Crate {
            name: package.name.to_string(),
            needs: package.dependencies.iter().map(to_need).collect(),
        })
        .collect()
}

#[test]
fn the_workspace_keeps_to_the_map() {
    let crates = workspace();
    assert_eq!(forbidden_arrows(&crates), Vec::<String>::new());

    // Both ways: a place that no crate fills would make its rules idle.
    let mut found: Vec<&str> = crates.iter().map(|one| one.name.as_str()).collect();
    let mut mapped: Vec<&str> = MAP.iter().map(|place| place.package).collect();
    found.sort_unstable();
    mapped.sort_unstable();
    assert_eq!(found, mapped);

    // And the arrows that make the product are really seen: a reader that dropped dependencies would pass the above.
    let pipeline = crates.iter().find(|one| one.name == "hatir-pipeline").unwrap();
    for leaf in ["hatir-budget", "hatir-condense", "hatir-memory", "hatir-rank"] {
        assert!(pipeline.needs.iter().any(|need| need.package == leaf), "pipeline does not know {leaf}");
    }
}

/// A crate of a made-up workspace; `needs` holds package names, those of its tests with a leading `dev:`, those of a
/// feature with a leading `opt:`.
fn made_up(name: &str, needs: &[&str]) -> Crate {
    let to_need = |text: &&str| match text.strip_prefix("dev:") {
        Some(package) => Need { package: package.to_owned(), development: true, optional: false },
        None => match text.strip_prefix("opt:") {
            Some(package) => Need { package: package.to_owned(), development: false, optional: true },
            None => Need { package: (*text).to_owned(), development: false, optional: false },
        },
    };
    Crate { name: name.to_owned(), needs: needs.iter().map(to_need).collect() }
}

#[track_caller]
fn check(name: &str, needs: &[&str], expected: &[&str]) {
    assert_eq!(forbidden_arrows(&[made_up(name, needs)]), expected);
}

#[test]
fn allowed_arrows_pass() {
    check("hatir-rank", &["tantivy", "serde", "dev:toml", "opt:toml", "dev:tempfile"], &[]);
    check("hatir-pipeline", &["hatir-rank", "hatir-budget", "tokio", "toml", "dev:hatir-memory"], &[]);
    check("hatir", &["hatir-pipeline", "hatir-rank", "clap", "anyhow", "tokio"], &[]);
}

#[test]
fn an_arrow_between_leaves_is_found() {
    check("hatir-rank", &["hatir-budget"], &["hatir-rank -> hatir-budget: this arrow is not on the map"]);
    check("hatir-budget", &["dev:hatir-condense"], &["hatir-budget -> hatir-condense: this arrow is not on the map"]);
}

#[test]
fn an_arrow_against_the_stream_is_found() {
    check("hatir-memory", &["hatir-pipeline"], &["hatir-memory -> hatir-pipeline: this arrow is not on the map"]);
    check("hatir-pipeline", &["hatir"], &["hatir-pipeline -> hatir: this arrow is not on the map"]);
    check("hatir-pipeline", &["hatir-types"], &["hatir-pipeline -> hatir-types: this arrow is not on the map"]);
}

#[test]
fn a_leaf_with_a_runtime_or_a_command_line_is_found() {
    check(
        "hatir-condense",
        &["tokio", "toml", "clap"],
        &[
            "hatir-condense -> tokio: a leaf is a synchronous library",
            "hatir-condense -> toml: a leaf is a synchronous library",
            "hatir-condense -> clap: a leaf is a synchronous library",
        ],
    );
    check("hatir-rank", &["opt:tokio"], &["hatir-rank -> tokio: a leaf is a synchronous library"]);
    check("hatir-pipeline", &["anyhow"], &["hatir-pipeline -> anyhow: this belongs in the binary"]);
}

#[test]
fn a_new_crate_fails_until_it_is_on_the_map() {
    let breaches = forbidden_arrows(&[made_up("hatir-types", &[]), made_up("hatir-rank", &[])]);
    assert_eq!(breaches.len(), 1);
    assert!(breaches[0].starts_with("hatir-types is not on the map"), "{breaches:?}");
}
