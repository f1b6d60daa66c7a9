//! The index through its public door: what is found, what is not, and what never comes back.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::collections::{BTreeMap, BTreeSet};

use hatir_rank::{Candidate, Config, Document, Error, Heard, Index, Language, Query, Ranking, Result, Voice, Weights};
use proptest::prelude::*;

/// Documents with the same words are not taken for one.
fn apart() -> Config {
    let mut config = Config::default();
    config.diversity.duplicate = 2.0;
    config
}

fn index_of(documents: &[(&str, &str)]) -> Index {
    let index = Index::in_memory(&apart()).unwrap();
    index.replace_all(documents.iter().map(|(id, text)| Document::new(*id, *text))).unwrap();
    index
}

fn ids(ranking: &Ranking) -> Vec<&str> {
    ranking.hits.iter().map(|hit| hit.id.as_str()).collect()
}

fn check(index: &Index, query: &str, expected: &[&str]) {
    assert_eq!(ids(&index.search(&Query::new(query), 10).unwrap()), expected, "{query:?}");
}

#[test]
fn turkish_words_are_found_in_any_spelling() {
    let index = index_of(&[
        ("iade", "İadeler, ürünün Ankara'ya ulaşmasından sonra 14 gün içinde ödenir."),
        ("ışık", "IŞIK ISPARTA'da hızlıdır."),
        ("su", "Su faturası her ayın başında gelir."),
    ]);
    for query in ["iade", "İADE", "IADE", "iadelerin", "ankara", "ANKARA’dan", "ürünler", "urun"] {
        check(&index, query, &["iade"]);
    }
    for query in ["ışık", "Işık", "isik", "ISIK", "ısparta", "Isparta'nın"] {
        check(&index, query, &["ışık"]);
    }
    check(&index, "su faturaları", &["su"]);
}

#[test]
fn english_forms_and_titles_are_found() {
    let index = Index::in_memory(&Config::default()).unwrap();
    index
        .replace_all([
            Document::new("a", "It is paid within 14 days.").with_title("Refund policy"),
            Document::new("b", "The company's warranties cover manufacturing."),
        ])
        .unwrap();
    check(&index, "refunded policies", &["a"]);
    check(&index, "warranty", &["b"]);
    check(&index, "companies", &["b"]);
}

#[test]
fn names_from_code_are_found_whole_and_in_parts() {
    let index = index_of(&[
        ("camel", "The function parseConfig reads the file."),
        ("snake", "Call load_user_settings before."),
        ("path", "It stands in crates/rank/src/lib.rs as always."),
        ("number", "Closed by #140, error E0012, since 2.0.1."),
        ("flag", "Run it with --dry-run first."),
    ]);
    check(&index, "parseConfig", &["camel"]);
    check(&index, "parse the config", &["camel"]);
    check(&index, "load_user_settings()", &["snake"]);
    check(&index, "user settings", &["snake"]);
    check(&index, "lib.rs", &["path"]);
    check(&index, "crates/rank/src/lib.rs", &["path"]);
    check(&index, "#140", &["number"]);
    check(&index, "e0012", &["number"]);
    check(&index, "2.0.1", &["number"]);
    check(&index, "--dry-run", &["flag"]);
}

#[test]
fn other_languages_have_the_neutral_field() {
    let index = index_of(&[
        ("ja", "返金は14日以内に支払われます。"),
        ("ru", "Возврат денег занимает четырнадцать дней."),
        ("fr", "Le remboursement est versé dans les quatorze jours suivant la réception des marchandises."),
    ]);
    check(&index, "返金", &["ja"]);
    check(&index, "ВОЗВРАТ", &["ru"]);
    check(&index, "réception", &["fr"]);
    check(&index, "reception", &["fr"]);
}

#[test]
fn a_stated_language_wins_over_the_found_one() {
    let index = Index::in_memory(&Config::default()).unwrap();
    let fields = |index: &Index| -> Vec<&'static str> {
        let ranking = index.search(&Query::new("kitap"), 10).unwrap();
        assert_eq!(ids(&ranking), ["a"]);
        ranking.hits[0].explanation.voices[0].fields.iter().map(|field| field.field).collect()
    };
    index.replace_all([Document::new("a", "kitaplar").with_language(Language::Turkish)]).unwrap();
    assert_eq!(fields(&index), ["grams", "turkish", "coverage"]);
    // English knows no such ending: only pieces of the word are shared.
    index.replace_all([Document::new("a", "kitaplar").with_language(Language::English)]).unwrap();
    assert_eq!(fields(&index), ["grams"]);
}

#[test]
fn query_syntax_is_text() {
    let index = index_of(&[("a", "The title of the page says AND NOT more."), ("b", "Something else stands here.")]);
    for query in
        ["AND NOT title:\"", "title:page", "(page", "page^5 ~", "+page -title", "[a TO page]", "page\\", "\"page"]
    {
        assert!(ids(&index.search(&Query::new(query), 10).unwrap()).contains(&"a"), "{query}");
    }
}

#[test]
fn silence_says_why() {
    let reason = |index: &Index, query: &str| {
        let ranking = index.search(&Query::new(query), 5).unwrap();
        assert!(ranking.hits.is_empty(), "{query}");
        assert!(ranking.voices[0].silent);
        ranking.silent_because[0].reason.clone()
    };
    let empty = Index::in_memory(&Config::default()).unwrap();
    assert_eq!(reason(&empty, "refund"), "the index holds no document");
    let index = index_of(&[("a", "What is it that the refund is for?")]);
    assert_eq!(reason(&index, ""), "the query is empty");
    assert_eq!(reason(&index, "📦 !?"), "the query has no letter or digit");
    assert_eq!(reason(&index, "what is it"), "the query has only function words, which say nothing about a subject");
    assert_eq!(reason(&index, "weather"), "no document holds any of the query's words");
}

#[test]
fn a_hit_explains_its_score() {
    let index = index_of(&[
        ("a", "Refunds for parse_config are paid."),
        ("b", "The refund of a refund."),
        ("c", "Nothing here."),
    ]);
    let ranking = index.search(&Query::new("refunds of parse_config"), 10).unwrap();
    assert_eq!(ids(&ranking), ["a", "b"]);
    for (place, hit) in ranking.hits.iter().enumerate() {
        let [lexical] = hit.explanation.voices.as_slice() else { panic!("one voice found something") };
        assert_eq!(lexical.rank, place + 1);
        assert!((lexical.contribution - 0.3 * (lexical.raw_score / 0.3).tanh()).abs() < 1e-12);
        assert!((hit.score - lexical.contribution).abs() < 1e-12);
        let parts: f64 = lexical.fields.iter().map(|field| field.score).sum();
        assert!((parts - lexical.raw_score).abs() < 1e-6);
    }
    let fields = &ranking.hits[0].explanation.voices[0].fields;
    assert_eq!(fields.iter().map(|field| field.field).collect::<Vec<_>>(), ["english", "grams", "coverage"]);
    assert_eq!(fields[0].terms, ["config", "pars", "parse_config", "refund"]);
    assert!(fields[1].terms.contains(&"efun".to_owned()), "{:?}", fields[1].terms);
}

#[test]
fn ties_go_by_id() {
    let index = index_of(&[("c", "same refund"), ("a", "same refund"), ("b", "same refund"), ("d", "same refund")]);
    check(&index, "refund", &["a", "b", "c", "d"]);
    assert_eq!(ids(&index.search(&Query::new("refund"), 2).unwrap()), ["a", "b"]);
    assert!(index.search(&Query::new("refund"), 0).unwrap().hits.is_empty());
}

#[test]
fn changes_show_after_the_commit_and_not_before() {
    let index = index_of(&[("a", "old refund")]);
    index.add(&Document::new("a", "new warranty")).unwrap();
    index.add(&Document::new("b", "second refund").with_field("line", "7")).unwrap();
    check(&index, "refund", &["a"]);
    index.commit().unwrap();
    check(&index, "refund", &["b"]);
    check(&index, "warranty", &["a"]);
    assert_eq!(index.get("b").unwrap().unwrap().fields["line"], "7");
    assert_eq!(index.ids().unwrap(), ["a", "b"]);

    index.delete("b").unwrap();
    index.rollback();
    index.commit().unwrap();
    check(&index, "refund", &["b"]);

    index.delete("b").unwrap();
    index.delete("never there").unwrap();
    index.commit().unwrap();
    check(&index, "refund", &[]);
    assert_eq!(index.get("b").unwrap(), None);
    assert_eq!(index.len(), 1);
}

#[test]
fn replacing_is_all_or_nothing() {
    let index = index_of(&[("a", "old refund")]);
    let broken = [Document::new("b", "new refund"), Document::new("", "no id")];
    assert!(matches!(index.replace_all(broken), Err(Error::InvalidDocument { .. })));
    check(&index, "refund", &["a"]);
    let twice = [Document::new("b", "first refund"), Document::new("b", "second warranty")];
    assert_eq!(index.replace_all(twice).unwrap(), 1);
    check(&index, "refund", &[]);
    check(&index, "warranty", &["b"]);
    assert_eq!(index.replace_all([]).unwrap(), 0);
    assert!(index.is_empty());
}

#[test]
fn bad_documents_and_settings_are_refused() {
    let index = Index::in_memory(&Config::default()).unwrap();
    assert!(matches!(index.add(&Document::new("x".repeat(9_000), "")), Err(Error::InvalidDocument { .. })));
    let mut config = Config::default();
    config.lexical.b = f64::NAN;
    let error = Index::in_memory(&config).unwrap_err();
    assert_eq!(error.to_string(), "the setting `lexical.b` is NaN, expected a number from 0 to 1");
    let config = Config { weights: Weights::default().with("lexical", -1.0), ..Config::default() };
    assert!(Index::in_memory(&config).unwrap_err().to_string().contains("weights.lexical"));
}

/// Proposes what it is told to.
struct Fixed(&'static str, Heard);

impl Voice for Fixed {
    fn name(&self) -> &str {
        self.0
    }

    fn hear(&self, _query: &Query, _depth: usize) -> Result<Heard> {
        Ok(self.1.clone())
    }
}

#[test]
fn further_voices_take_part() {
    let index = index_of(&[("a", "refund"), ("b", "refund and warranty"), ("c", "warranty")]);
    let nan = Candidate::new("a", f64::NAN);
    let proposals = vec![Candidate::new("gone", 3.0), Candidate::new("b", 1.0), Candidate::new("c", 2.0), nan];
    let own = Fixed("own", Heard::ranked(proposals));
    let mute = Fixed("mute", Heard::silent("no model is installed"));
    let ranking = index.search_with(&Query::new("refund"), 10, &[&own, &mute]).unwrap();
    assert_eq!(ids(&ranking), ["b", "a", "c"], "b is named by both voices");
    let reports: Vec<_> = ranking.voices.iter().map(|one| (one.voice.as_str(), one.candidates, one.unknown)).collect();
    let of_ours = [("lexical", 2, 0), ("semantic", 0, 0), ("temporal", 0, 0), ("graph", 0, 0)];
    assert_eq!(reports[..4], of_ours);
    assert_eq!(reports[4..], [("own", 2, 1), ("mute", 0, 0)]);
    let silence = ranking.silent_because.iter().find(|silence| silence.voice == "mute").unwrap();
    assert_eq!(silence.reason, "no model is installed");
    let other_way = index.search_with(&Query::new("refund"), 10, &[&mute, &own]).unwrap();
    assert_eq!(ranking.hits, other_way.hits);
}

#[test]
fn extremes_of_unicode_neither_fail_nor_panic() {
    let index = index_of(&[
        ("zalgo", &format!("refund{}", "\u{301}".repeat(5_000))),
        ("long", &"ı".repeat(100_000)),
        ("mixed", "\u{0}\u{202e}\u{feff}ﷺ \u{1F468}\u{200D}\u{1F469} İ̇ ẞ ŉ ǆ \u{10ffff}"),
        ("empty", ""),
    ]);
    assert_eq!(index.len(), 4);
    for query in [
        "İ̇".to_owned(),
        "\u{0}".to_owned(),
        "ﷺ".to_owned(),
        "ß".repeat(1 << 19),
        "refund ".repeat(150_000),
        "📦".repeat(1 << 18),
        "a_".repeat(1 << 19),
        "aB".repeat(1 << 19),
        "\u{301}".repeat(1 << 19),
        "1,".repeat(1 << 19),
        "'a".repeat(1 << 19),
        "a'b".repeat(1 << 18),
    ] {
        index.search(&Query::new(query), 5).unwrap();
    }
}

/// What a store may be asked to do.
#[derive(Debug, Clone)]
enum Step {
    Add(u8, Vec<u8>),
    Delete(u8),
    Commit,
}

const WORDS: [&str; 6] = ["refund", "warranty", "kargo", "ürün", "parse_config", "Ankara"];

fn text_of(words: &[u8]) -> String {
    words.iter().map(|word| WORDS[usize::from(*word)]).collect::<Vec<_>>().join(" ")
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let words = proptest::collection::vec(0..6_u8, 1..5);
    let step = prop_oneof![
        5 => (0..8_u8, words).prop_map(|(id, words)| Step::Add(id, words)),
        3 => (0..8_u8).prop_map(Step::Delete),
        2 => Just(Step::Commit),
    ];
    proptest::collection::vec(step, 1..25)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every word finds exactly the live documents that hold it, whatever happened before; and the answer, scores
    /// included, is that of an index which was given only the live documents, in another order.
    #[test]
    fn an_index_answers_by_its_live_documents_alone(steps in steps()) {
        let index = Index::in_memory(&apart()).unwrap();
        let mut live: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for step in steps.into_iter().chain([Step::Commit]) {
            match step {
                Step::Add(id, words) => {
                    index.add(&Document::new(format!("d{id}"), text_of(&words))).unwrap();
                    live.insert(format!("d{id}"), words);
                }
                Step::Delete(id) => {
                    index.delete(&format!("d{id}")).unwrap();
                    live.remove(&format!("d{id}"));
                }
                Step::Commit => index.commit().unwrap(),
            }
        }
        let fresh = Index::in_memory(&apart()).unwrap();
        fresh.replace_all(live.iter().rev().map(|(id, words)| Document::new(id, text_of(words)))).unwrap();
        prop_assert_eq!(index.len(), live.len());
        for (at, word) in WORDS.iter().enumerate() {
            let ranking = index.search(&Query::new(*word), 20).unwrap();
            let found: BTreeSet<&str> = ids(&ranking).into_iter().collect();
            let expected: BTreeSet<&str> =
                live.iter().filter(|(_, words)| words.contains(&(at as u8))).map(|(id, _)| id.as_str()).collect();
            prop_assert_eq!(found, expected);
            prop_assert_eq!(ranking, fresh.search(&Query::new(*word), 20).unwrap());
        }
    }

    /// A document that matches nothing moves the scores a little (there are more documents, and another mean length),
    /// but not who is found; and once it is deleted everything is as before.
    #[test]
    fn a_foreign_document_changes_no_ones_presence(texts in proptest::collection::vec(proptest::collection::vec(0..6_u8, 1..6), 1..8)) {
        let documents = || texts.iter().enumerate().map(|(at, words)| Document::new(format!("d{at}"), text_of(words)));
        let index = Index::in_memory(&apart()).unwrap();
        index.replace_all(documents()).unwrap();
        let query = Query::new("refund kargo parse_config").never_silent();
        let before = index.search(&query, 20).unwrap();
        index.add(&Document::new("foreign", "A quite different sentence about weather in Oslo.")).unwrap();
        index.commit().unwrap();
        let with = index.search(&query, 20).unwrap();
        let sorted = |ranking: &Ranking| ids(ranking).into_iter().map(str::to_owned).collect::<BTreeSet<_>>();
        prop_assert_eq!(sorted(&before), sorted(&with));
        index.delete("foreign").unwrap();
        index.commit().unwrap();
        prop_assert_eq!(before, index.search(&query, 20).unwrap());
    }

    #[test]
    fn any_text_is_a_document_and_a_query(text in any::<String>(), query in any::<String>()) {
        let index = Index::in_memory(&Config::default()).unwrap();
        index.replace_all([Document::new("a", text.clone()), Document::new("b", "refund")]).unwrap();
        prop_assert_eq!(index.get("a").unwrap().unwrap().text, text);
        let ranking = index.search(&Query::new(query), 5).unwrap();
        prop_assert_eq!(ranking.hits.is_empty(), !ranking.silent_because.is_empty());
    }

    #[test]
    fn fusion_does_not_depend_on_the_order_of_voices(
        lists in proptest::collection::vec((0.01..1.0_f64, proptest::collection::vec(0..9_u8, 0..9)), 1..5),
        turn in 0..5_usize,
    ) {
        let mut lists: Vec<hatir_rank::RankedList> = lists
            .into_iter()
            .enumerate()
            .map(|(at, (weight, ids))| hatir_rank::RankedList {
                voice: format!("voice {at}"),
                weight,
                candidates: ids.into_iter().map(|id| Candidate::new(format!("d{id}"), 1.0)).collect(),
            })
            .collect();
        let fused = hatir_rank::fuse(lists.clone());
        let turn = turn % lists.len();
        lists.rotate_left(turn);
        prop_assert_eq!(fused, hatir_rank::fuse(lists));
    }
}
