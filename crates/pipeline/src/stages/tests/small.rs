//! The kinds that touch no file.

use serde_json::{Value as Json, json};

use crate::stages::testing::{Bench, inputs};
use crate::value::{Type, Value};

fn items(ids: &[(&str, Option<f64>)]) -> Json {
    ids.iter()
        .map(|(id, score)| match score {
            Some(score) => json!({ "id": id, "text": format!("text of {id}"), "score": score }),
            None => json!({ "id": id, "text": format!("text of {id}") }),
        })
        .collect()
}

fn merged(with: Json, sources: &[Json]) -> Vec<String> {
    let mut ports = inputs([]);
    for source in sources {
        ports.push("items", Value::from_json(Type::Items, source.clone()).unwrap());
    }
    let Value::Items(items) = Bench::new("merge", with).run(&ports).unwrap() else { panic!("no items") };
    items.iter().map(|item| item.id.clone()).collect()
}

#[test]
fn merge_orders_and_drops_what_came_before() {
    let left = items(&[("a", Some(0.5)), ("b", Some(0.2)), ("c", None)]);
    let right = items(&[("d", Some(0.9)), ("b", Some(0.8)), ("e", Some(0.5))]);
    let sources = [left, right];
    assert_eq!(merged(json!({}), &sources), ["a", "b", "c", "d", "e"]);
    assert_eq!(merged(json!({ "dedupe": false }), &sources), ["a", "b", "c", "d", "b", "e"]);
    assert_eq!(merged(json!({ "order": "score" }), &sources), ["d", "b", "a", "e", "c"]);
    assert_eq!(merged(json!({ "order": "round-robin" }), &sources), ["a", "d", "b", "c", "e"]);
    assert_eq!(merged(json!({ "order": "round-robin", "limit": 3 }), &sources), ["a", "d", "b"]);
    assert!(merged(json!({}), &[]).is_empty());
}

#[test]
fn merge_takes_hits_facts_and_documents() {
    let mut ports = inputs([("items", Type::Hits, json!([{ "id": "h", "score": 1.0, "text": "x" }]))]);
    ports.push("items", Value::from_json(Type::Documents, json!([{ "id": "d", "text": "y" }])).unwrap());
    let found = Bench::new("merge", json!({})).run(&ports).unwrap().to_json();
    assert_eq!(found, json!([{ "id": "h", "score": 1.0, "text": "x" }, { "id": "d", "text": "y" }]));
}

#[test]
fn recall() {
    let hits: Json = ["a", "b", "c", "d"].iter().map(|id| json!({ "id": id, "score": 1.0, "text": "" })).collect();
    let measure = |with: Json, relevant: Json| {
        let ports = [("hits", Type::Hits, hits.clone()), ("relevant", Type::Json, relevant)];
        Bench::new("score.recall", with).run(&inputs(ports)).map(|value| value.to_json())
    };
    assert_eq!(measure(json!({}), json!(["a", "z"])).unwrap(), json!(0.5));
    assert_eq!(measure(json!({ "k": 1 }), json!(["a", "b"])).unwrap(), json!(0.5));
    assert_eq!(measure(json!({}), json!(["a", "a"])).unwrap(), json!(1));
    assert_eq!(measure(json!({}), json!(["z"])).unwrap(), json!(0));
    for (relevant, expected) in [
        (json!([]), "the list is empty"),
        (json!("a"), "found a string, expected a list of ids"),
        (json!(["a", 3]), "found a number in the list, expected an id in quotes"),
    ] {
        let error = measure(json!({}), relevant).unwrap_err();
        assert!(error.message.contains(expected), "{error}");
        assert!(!error.retryable);
    }
}

#[test]
fn condense_makes_a_follow_up_whole_and_can_be_switched_off() {
    let ports = || {
        inputs([
            ("conversation", Type::Conversation, json!([{ "role": "user", "text": "What's our refund window?" }])),
            ("question", Type::Text, json!("What about damaged items?")),
        ])
    };
    let whole = Bench::new("condense", json!({ "connector": "policy" })).run(&ports()).unwrap().to_json();
    assert_eq!(whole["text"], "refund policy for damaged items");
    assert_eq!(whole["raw"], "What about damaged items?");
    assert_eq!(whole["rule"], "ellipsis");
    assert_eq!(whole["language"], "en");
    assert_eq!(whole["steps"][0]["turn"], 0);

    let raw = Bench::new("condense", json!({ "enabled": false })).run(&ports()).unwrap().to_json();
    assert_eq!(raw["text"], "What about damaged items?");
    assert_eq!(raw["note"], "condensing is switched off");

    let alone = inputs([("question", Type::Text, json!("What about damaged items?"))]);
    let first = Bench::new("condense", json!({})).run(&alone).unwrap().to_json();
    assert_eq!(first["rule"], "first turn");
}

#[test]
fn condense_hands_its_options_on() {
    let ports = inputs([
        ("conversation", Type::Conversation, json!([{ "role": "user", "text": "What's our refund window?" }])),
        ("question", Type::Text, json!("What about damaged items?")),
    ]);
    let marked = json!({ "standalone-markers": ["damaged items"] });
    let marked = Bench::new("condense", marked).run(&ports).unwrap().to_json();
    assert_eq!(marked["text"], "What about damaged items?");
    let blind = json!({ "window-turns": 0, "window-tokens": 0, "language": "en" });
    let blind = Bench::new("condense", blind).run(&ports).unwrap().to_json();
    assert_ne!(blind["text"], "refund damaged items");
}

#[test]
fn budget_keeps_the_limit_and_tells_what_it_dropped() {
    let long = "word ".repeat(200);
    let mut ports = inputs([("items", Type::Items, json!([{ "id": "a", "text": "one two three", "score": 0.5 }]))]);
    let more = json!([{ "id": "b", "text": long }, { "id": "c", "text": "four" }]);
    ports.push("items", Value::from_json(Type::Items, more).unwrap());

    let pack = Bench::new("budget.fit", json!({ "limit": 40 })).run(&ports).unwrap().to_json();
    assert!(pack["tokens"].as_u64().unwrap() <= 40);
    assert_eq!((&pack["limit"], &pack["cut"], &pack["dropped"]), (&json!(40), &json!(["b"]), &json!(["c"])));
    assert_eq!(pack["kept"][0], json!({ "id": "a", "text": "one two three", "score": 0.5 }));
    assert!(pack["raw_tokens"].as_u64().unwrap() > 200);

    let whole = json!({ "limit": 40, "cut": false, "separator": " | ", "encoding": "o200k_base" });
    let pack = Bench::new("budget.fit", whole).run(&ports).unwrap().to_json();
    assert_eq!((&pack["text"], &pack["dropped"]), (&json!("one two three | four"), &json!(["b"])));

    let nothing = Bench::new("budget.fit", json!({ "limit": 1 })).run(&inputs([])).unwrap();
    assert!(nothing.is_empty());
}

#[test]
fn budget_counts_by_encoding() {
    let text = "İade tutarının hesap özetinize yansıması, bankanıza göre iki üç gün daha sürer.";
    let count = |encoding: &str| {
        let ports = inputs([("text", Type::Text, json!(text))]);
        Bench::new("budget.count", json!({ "encoding": encoding })).run(&ports).unwrap().to_json()
    };
    let (earlier, later) = (count("cl100k_base").as_u64().unwrap(), count("o200k_base").as_u64().unwrap());
    assert!(later < earlier, "the later encoding knows more Turkish: {later} and {earlier}");
    let query = inputs([("text", Type::Query, json!("one two"))]);
    assert_eq!(Bench::new("budget.count", json!({})).run(&query).unwrap().to_json(), json!(2));
}
