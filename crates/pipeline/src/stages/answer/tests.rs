use serde_json::json;

use crate::stages::testing::{Bench, inputs};
use crate::value::{Type, Value};

fn answer(with: serde_json::Value, question: &str, items: serde_json::Value) -> serde_json::Value {
    let ports = [("question", Type::Query, json!(question)), ("items", Type::Items, items)];
    Bench::new("answer.extract", with).run(&inputs(ports)).unwrap().to_json()
}

fn clause() -> serde_json::Value {
    json!({
        "id": "en/refunds#8", "title": "How long a refund takes", "score": 0.5,
        "text": "A refund can take up to five business days to process.\nYour bank may need two or three days more.\nAsk us.",
        "place": { "path": "en/refunds.md", "line": 10 }
    })
}

#[test]
fn the_sentence_that_shares_most_is_cited_by_its_line() {
    let found = answer(json!({}), "How many days may the bank need?", json!([clause()]));
    assert_eq!(found["text"], "Your bank may need two or three days more.");
    assert_eq!(
        found["citations"],
        json!([
            { "id": "en/refunds#8", "score": 0.5, "place": { "path": "en/refunds.md", "line": 11 } }
        ])
    );
}

#[test]
fn sentences_come_in_the_order_of_the_source_and_at_most_as_many_as_asked_for() {
    let source = json!([{ "id": "a", "text": "Cats sleep. Dogs bark. Cats and dogs play. Birds sing." }]);
    let two = answer(json!({}), "cats and dogs", source.clone());
    assert_eq!(two["text"], "Cats sleep. Cats and dogs play.");
    assert_eq!(two["citations"].as_array().unwrap().len(), 2);
    let one = answer(json!({ "sentences": 1 }), "cats and dogs", source);
    assert_eq!(one["text"], "Cats and dogs play.");
}

#[test]
fn a_title_alone_can_make_a_source() {
    let source =
        json!([{ "id": "a", "title": "Gift cards", "text": "They are valid for two years.\nKeep the receipt." }]);
    assert_eq!(answer(json!({}), "Gift cards?", source)["text"], "They are valid for two years.");
}

#[test]
fn no_answer_is_an_answer() {
    for (with, items) in [
        (json!({}), json!([])),
        (json!({}), json!([{ "id": "a", "text": "Nothing of the kind." }])),
        (json!({}), json!([{ "id": "a", "text": " ", "title": "refund" }])),
        (json!({ "minimum-overlap": 1.0 }), json!([clause()])),
    ] {
        let found = answer(with, "refund for aliens", items);
        assert_eq!(found, json!({ "text": "", "found": false, "citations": [] }));
    }
    // No word at all in the question: nothing can be shared.
    assert_eq!(answer(json!({ "minimum-overlap": 0.0 }), "?!", json!([clause()]))["found"], false);
}

#[test]
fn the_first_item_that_shares_enough_is_the_source() {
    let items = json!([{ "id": "no", "text": "Unrelated." }, { "id": "yes", "text": "İADE SÜRESİ 30 GÜNDÜR." }]);
    let found = answer(json!({}), "iade süresi ne kadar", items);
    assert_eq!(found["text"], "İADE SÜRESİ 30 GÜNDÜR.");
    assert_eq!(found["citations"][0]["id"], "yes");
}

#[test]
fn several_sources_and_a_text_for_a_question() {
    let mut ports = inputs([("items", Type::Items, json!([])), ("question", Type::Text, json!("bank"))]);
    ports.push("items", Value::from_json(Type::Items, json!([clause()])).unwrap());
    let found = Bench::new("answer.extract", json!({})).run(&ports).unwrap();
    assert!(found.to_json()["text"].as_str().unwrap().starts_with("Your bank"));
}
