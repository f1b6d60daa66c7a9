//! What holds for every kind.

#![expect(clippy::needless_pass_by_value, reason = "a `json!` table reads best where it is used")]

#[cfg(unix)]
mod exec;
mod files;
mod small;
mod stores;

use serde_json::Value as Json;

use crate::stage::Registry;

#[test]
fn every_key_is_described_and_has_a_default_or_must_be_given() {
    for kind in Registry::standard().iter() {
        let schema = kind.schema().to_value();
        assert_eq!(schema["additionalProperties"], false, "{} takes keys that it does not know", kind.name);
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        for (key, about) in schema["properties"].as_object().into_iter().flatten() {
            let name = format!("{}: {key}", kind.name);
            let described = about["description"].as_str().unwrap_or_default();
            assert!(described.len() > 10, "{name} is not described");
            let default = about.as_object().unwrap().contains_key("default");
            assert!(default != required.contains(&key.as_str()), "{name} has no default and may be left out: {about}");
            assert!(!key.contains('_') && *key == key.to_lowercase(), "{name} is not in kebab-case");
        }
    }
}

#[test]
fn every_kind_and_port_is_described() {
    for kind in Registry::standard().iter() {
        assert!(kind.about.ends_with('.'), "{}", kind.name);
        for port in kind.ports().inputs {
            assert!(port.about.ends_with('.'), "{}: {}", kind.name, port.name);
        }
    }
}
