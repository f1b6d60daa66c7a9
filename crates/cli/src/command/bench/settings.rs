//! `--set rank.key=value`: constants of the ranking from the command line.

use hatir_rank::Config;
use serde_json::{Map, Value as Json};

use crate::exit::Failure;

/// The configuration with each setting laid over it, in their order.
pub(crate) fn apply(config: &Config, settings: &[String]) -> Result<Config, Failure> {
    settings.iter().try_fold(config.clone(), |config, setting| {
        let wrong = |problem: String| Failure::wrong(format!("--set {setting}: {problem}"));
        let Some((path, value)) = setting.split_once('=') else {
            return Err(wrong("expected rank.KEY=VALUE".to_owned()));
        };
        let mut json = serde_json::to_value(&config)
            .map_err(|error| wrong(format!("the configuration cannot be written as JSON: {error}")))?;
        let known = paths(&json);
        let unknown = || {
            let failure = wrong(format!("there is no constant {path:?}"));
            match nearest(path, &known) {
                Some(near) => failure.hint(format!("did you mean {near}?")),
                None => failure.hint(format!("the constants are {}", known.join(", "))),
            }
        };
        let keys = path.strip_prefix("rank.").ok_or_else(unknown)?;
        let slot = slot(&mut json, keys).ok_or_else(unknown)?;
        *slot = serde_json::from_str(value).unwrap_or_else(|_| Json::String(value.to_owned()));
        let set: Config = serde_json::from_value(json).map_err(|error| {
            if error.to_string().starts_with("unknown field") { unknown() } else { wrong(error.to_string()) }
        })?;
        // A key that the configuration passes over without a word would leave an experiment without effect.
        let kept = serde_json::to_value(&set).is_ok_and(|json| json.pointer(&pointer(keys)).is_some());
        if kept { Ok(set) } else { Err(unknown()) }
    })
}

/// The place of a value. Only the last key may be new: a table of weights holds what it was given.
fn slot<'json>(json: &'json mut Json, keys: &str) -> Option<&'json mut Json> {
    match keys.rsplit_once('.') {
        None => Some(json.as_object_mut()?.entry(keys).or_insert(Json::Null)),
        Some((table, key)) => {
            let table: &mut Map<String, Json> = json.pointer_mut(&pointer(table))?.as_object_mut()?;
            Some(table.entry(key).or_insert(Json::Null))
        }
    }
}

fn pointer(keys: &str) -> String {
    format!("/{}", keys.replace('.', "/"))
}

/// The paths of all values that are no objects, or empty ones.
fn paths(json: &Json) -> Vec<String> {
    fn walk(json: &Json, path: &str, paths: &mut Vec<String>) {
        match json.as_object() {
            Some(members) if !members.is_empty() => {
                for (key, value) in members {
                    walk(value, &format!("{path}.{key}"), paths);
                }
            }
            _ => paths.push(path.to_owned()),
        }
    }
    let mut found = Vec::new();
    walk(json, "rank", &mut found);
    found
}

/// The known path that was probably meant: up to a third of it may differ.
fn nearest<'path>(path: &str, known: &'path [String]) -> Option<&'path str> {
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    let best = known.iter().map(|near| (strsim::damerau_levenshtein(path, near), near)).min();
    match best {
        Some((slips, near)) if slips <= near.len() / 4 => Some(near),
        // The right name in the wrong table.
        _ => known.iter().find(|near| last(near) == last(path)).map(String::as_str),
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "these numbers are exact")]
mod tests {
    use super::*;

    fn set(settings: &[&str]) -> Result<Config, Failure> {
        apply(&Config::default(), &settings.iter().map(|setting| (*setting).to_owned()).collect::<Vec<_>>())
    }

    fn problem(setting: &str) -> (String, String) {
        let failure = set(&[setting]).unwrap_err();
        (failure.message, failure.hint.unwrap_or_default())
    }

    #[test]
    fn constants_are_set_in_their_order() {
        let config = set(&["rank.lexical.k1=1.5", "rank.depth=7", "rank.lexical.k1=2"]).unwrap();
        assert_eq!((config.lexical.k1, config.depth), (2.0, 7));
        assert_eq!(config.lexical.b, Config::default().lexical.b);
    }

    #[test]
    fn a_table_that_holds_what_it_is_given_takes_new_keys() {
        assert_eq!(set(&["rank.weights.lexical=0.5"]).unwrap().weights.of("lexical"), 0.5);
    }

    #[test]
    fn what_is_not_there_cannot_be_set() {
        let (message, hint) = problem("rank.lexcal.k1=1");
        assert_eq!(message, "--set rank.lexcal.k1=1: there is no constant \"rank.lexcal.k1\"");
        assert_eq!(hint, "did you mean rank.lexical.k1?");
        assert_eq!(problem("rank.k1=1").1, "did you mean rank.lexical.k1?");
        assert_eq!(problem("lexical.k1=1").1, "did you mean rank.lexical.k1?");
        assert!(problem("rank.something.else.entirely=1").1.contains("rank.depth"));
        assert!(problem("rank.lexical.k1").0.contains("rank.KEY=VALUE"));
        assert!(problem("rank.lexical.k1=high").0.contains("invalid type"));
        assert!(problem("rank.lexical.k1.more=1").0.contains("there is no constant"));
    }
}
