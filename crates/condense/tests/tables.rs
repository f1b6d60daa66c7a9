//! Conversations over many subjects: billing, clouds, travel, medicine, law, cooking, programming. One row a
//! conversation; a row whose query equals the follow-up is one that must be left alone, byte for byte.

mod common;

use common::condense;
use hatir_condense::Language;

fn check(table: &str, language: Language) {
    let mut rows = 0;
    let mut left_alone = 0;
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split("||").collect();
        let [turns, follow_up, query] = columns[..] else { panic!("three columns expected: {line}") };
        let turns: Vec<&str> = turns.split('|').collect();
        let condensed = condense(&turns, follow_up);
        assert_eq!(condensed.query, query, "{line}\n{} ({})", condensed.note, condensed.rule);
        assert_eq!(condensed.language, language, "{line}");
        assert_eq!(condensed.rule.rewrites(), query != follow_up, "{line}");
        rows += 1;
        left_alone += usize::from(query == follow_up);
    }
    assert!(rows >= 60 && left_alone >= 10, "{rows} rows, {left_alone} left alone");
}

#[test]
fn english_conversations() {
    check(include_str!("data/tables.en.tsv"), Language::English);
}

#[test]
fn turkish_conversations() {
    check(include_str!("data/tables.tr.tsv"), Language::Turkish);
}
