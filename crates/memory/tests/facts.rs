//! Facts recorded, mentioned, superseded, and asked for on both time lines.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
#![expect(clippy::float_cmp, reason = "the store has to give back the very number")]

use hatir_memory::{
    ChangeKind, Error, Fact, FactId, FactQuery, MAX_CONTENT_BYTES, MAX_NAME_BYTES, Moment, NewFact, Outcome, Store,
    Veracity,
};

fn at(micros: i64) -> Moment {
    Moment::from_micros(micros)
}

fn office(content: &str) -> NewFact {
    NewFact { veracity: Veracity::Stated, ..NewFact::new("team", "office", content) }
}

fn contents(facts: &[Fact]) -> Vec<&str> {
    facts.iter().map(|fact| fact.content.as_str()).collect()
}

fn as_of(micros: i64) -> FactQuery {
    FactQuery { as_of: Some(at(micros)), ..FactQuery::default() }
}

fn known_at(micros: i64) -> FactQuery {
    FactQuery { known_at: Some(at(micros)), ..FactQuery::default() }
}

#[test]
fn a_fact_comes_back_as_it_was_recorded() {
    let store = Store::open_in_memory().unwrap();
    let new = NewFact {
        domain: " repo:hatir/api ".to_owned(),
        topic: "iade süresi".to_owned(),
        content: "  Iade süresi\t30 gündür — “ışık” 🙂\n".to_owned(),
        confidence: Some(0.25),
        veracity: Veracity::Imported,
        author: Some("Çiğdem".to_owned()),
        source: Some("pages/refunds.md:12".to_owned()),
        valid_from: Some(at(-5)),
        valid_until: Some(at(5_000)),
    };
    let recorded = store.record(new, at(1_000)).unwrap();
    assert_eq!(recorded.outcome, Outcome::Added);
    let fact = recorded.fact;
    assert_eq!(fact.domain, "repo:hatir/api", "names lose the white space around them");
    assert_eq!(fact.content, "  Iade süresi\t30 gündür — “ışık” 🙂\n", "content is stored as it stands");
    assert_eq!((fact.confidence, fact.veracity, fact.mentions), (0.25, Veracity::Imported, 1));
    assert_eq!((fact.author.as_deref(), fact.source.as_deref()), (Some("Çiğdem"), Some("pages/refunds.md:12")));
    assert_eq!((fact.valid_from, fact.valid_until, fact.recorded_at), (Some(at(-5)), Some(at(5_000)), at(1_000)));
    assert_eq!((&fact.superseded_by, fact.superseded_at), (&None, None));
    assert_eq!(store.get(&fact.id).unwrap(), Some(fact.clone()));
    assert_eq!(store.facts(&FactQuery::default(), at(1_000)).unwrap(), [fact]);
}

#[test]
fn a_new_fact_is_half_as_sure_as_its_veracity_weighs() {
    let store = Store::open_in_memory().unwrap();
    let expected = [0.5, 0.4, 0.35, 0.3, 0.25];
    for (veracity, expected) in Veracity::ALL.into_iter().zip(expected) {
        let fact = NewFact { veracity, ..NewFact::new("d", veracity.as_str(), "It is so.") };
        assert_eq!(store.record(fact, at(0)).unwrap().fact.confidence, expected, "{veracity}");
    }
}

#[test]
fn the_same_statement_is_a_mention() {
    let store = Store::open_in_memory().unwrap();
    let first = store.record(office("The office is in Ankara."), at(1)).unwrap().fact;
    let again = NewFact { veracity: Veracity::Tool, ..office("the OFFICE  is in Ankara") };
    let second = store.record(again, at(2)).unwrap();
    assert_eq!(second.outcome, Outcome::Mentioned);
    assert_eq!(second.fact.id, first.id);
    assert_eq!(second.fact.content, "The office is in Ankara.", "the first wording stays");
    assert_eq!(second.fact.mentions, 2);
    assert_eq!(second.fact.confidence, 0.5 + 0.5 * 0.5 * 0.3, "a tool's word weighs 0.5");
    assert_eq!(store.history("team", "office").unwrap().len(), 1);
}

#[test]
fn confidence_grows_towards_one_and_never_past_it() {
    let store = Store::open_in_memory().unwrap();
    let mut before = store.record(office("So."), at(0)).unwrap().fact.confidence;
    for now in 1..200 {
        let after = store.record(office("So."), at(now)).unwrap().fact.confidence;
        assert!(after >= before && after <= 1.0, "{before} -> {after}");
        before = after;
    }
    assert!(before > 0.999);
}

#[test]
fn another_topic_domain_or_wording_is_another_fact() {
    let store = Store::open_in_memory().unwrap();
    store.record(NewFact::new("a", "b", "It is open."), at(0)).unwrap();
    for other in [
        NewFact::new("a", "c", "It is open."),
        NewFact::new("c", "b", "It is open."),
        NewFact::new("a", "b", "It is open?"),
        NewFact::new("a", "b", "It is not open."),
    ] {
        assert_eq!(store.record(other, at(1)).unwrap().outcome, Outcome::Added);
    }
}

#[test]
fn a_statement_of_another_time_is_another_fact() {
    let store = Store::open_in_memory().unwrap();
    let holiday = |from, until| NewFact {
        valid_from: Some(at(from)),
        valid_until: Some(at(until)),
        ..office("The office is closed.")
    };
    let outcome = |fact, now| store.record(fact, at(now)).unwrap().outcome;
    assert_eq!(outcome(holiday(100, 200), 50), Outcome::Added);
    assert_eq!(outcome(holiday(100, 200), 60), Outcome::Mentioned);
    assert_eq!(outcome(holiday(300, 400), 70), Outcome::Added);
    assert_eq!(outcome(office("The office is closed."), 80), Outcome::Mentioned);
    assert_eq!(outcome(office("The office is closed."), 500), Outcome::Added, "both holidays are over");
}

#[test]
fn a_superseded_fact_stays_and_its_chain_reads_both_ways() {
    let store = Store::open_in_memory().unwrap();
    let ankara = store.record(office("It is in Ankara."), at(10)).unwrap().fact;
    let izmir = store.supersede(&ankara.id, office("It is in İzmir."), at(20)).unwrap();
    let bursa = store.supersede(&izmir.id, office("It is in Bursa."), at(30)).unwrap();

    assert_eq!(contents(&store.facts(&FactQuery::default(), at(40)).unwrap()), ["It is in Bursa."]);
    let history = store.history("team", " office ").unwrap();
    assert_eq!(contents(&history), ["It is in Ankara.", "It is in İzmir.", "It is in Bursa."]);
    assert_eq!(history[0].superseded_by.as_ref(), Some(&izmir.id));
    assert_eq!(history[0].superseded_at, Some(at(20)));
    assert_eq!(history[1].superseded_by.as_ref(), Some(&bursa.id));
    assert_eq!(history[2], bursa);
    assert_eq!(store.superseded_by(&bursa.id).unwrap(), [history[1].clone()]);
    assert_eq!(store.superseded_by(&izmir.id).unwrap(), [history[0].clone()]);
    assert_eq!(store.superseded_by(&ankara.id).unwrap(), []);

    let all = FactQuery { include_superseded: true, ..FactQuery::default() };
    assert_eq!(store.facts(&all, at(40)).unwrap().len(), 3);
}

#[test]
fn a_moment_before_the_change_has_the_old_answer() {
    let store = Store::open_in_memory().unwrap();
    let ankara = store.record(office("Ankara."), at(10)).unwrap().fact;
    store.supersede(&ankara.id, office("İzmir."), at(20)).unwrap();
    let ask = |micros| store.facts(&as_of(micros), at(100)).unwrap();
    assert_eq!(contents(&ask(9)), [""; 0], "nothing is claimed about the time before we heard of it");
    assert_eq!(contents(&ask(10)), ["Ankara."]);
    assert_eq!(contents(&ask(19)), ["Ankara."]);
    assert_eq!(contents(&ask(20)), ["İzmir."]);
}

#[test]
fn a_planned_change_takes_effect_on_its_day() {
    let store = Store::open_in_memory().unwrap();
    let ankara = store.record(office("Ankara."), at(10)).unwrap().fact;
    let planned = NewFact { valid_from: Some(at(50)), ..office("İzmir.") };
    store.supersede(&ankara.id, planned, at(20)).unwrap();
    let now = |micros| store.facts(&FactQuery::default(), at(micros)).unwrap();
    assert_eq!(contents(&now(49)), ["Ankara."]);
    assert_eq!(contents(&now(50)), ["İzmir."]);
}

#[test]
fn a_correction_reaches_back_as_far_as_it_says() {
    let store = Store::open_in_memory().unwrap();
    let wrong = store.record(NewFact { valid_from: Some(at(0)), ..office("Ankara.") }, at(10)).unwrap().fact;
    let moved = store.supersede(&wrong.id, office("İzmir."), at(20)).unwrap();
    // It was never in Ankara or İzmir.
    store.supersede(&moved.id, NewFact { valid_from: Some(at(0)), ..office("Bursa.") }, at(30)).unwrap();
    for micros in [0, 5, 10, 15, 20, 25, 30, 35] {
        assert_eq!(contents(&store.facts(&as_of(micros), at(100)).unwrap()), ["Bursa."], "as of {micros}");
    }
    let then = |micros, known| FactQuery { as_of: Some(at(micros)), known_at: Some(at(known)), ..FactQuery::default() };
    assert_eq!(contents(&store.facts(&then(5, 15), at(100)).unwrap()), ["Ankara."]);
    assert_eq!(contents(&store.facts(&then(5, 25), at(100)).unwrap()), ["Ankara."]);
    assert_eq!(contents(&store.facts(&then(25, 25), at(100)).unwrap()), ["İzmir."]);
    assert_eq!(contents(&store.facts(&then(25, 30), at(100)).unwrap()), ["Bursa."]);
}

#[test]
fn validity_ends_when_it_says() {
    let store = Store::open_in_memory().unwrap();
    let limited = NewFact { valid_from: Some(at(100)), valid_until: Some(at(200)), ..office("Closed.") };
    store.record(limited, at(10)).unwrap();
    // Of what was over when we heard of it, only the end is known.
    store.record(NewFact { valid_until: Some(at(5)), ..office("Under repair.") }, at(10)).unwrap();
    let ask = |micros| store.facts(&as_of(micros), at(10)).unwrap();
    assert_eq!(contents(&ask(4)), ["Under repair."]);
    assert_eq!(contents(&ask(5)), [""; 0]);
    assert_eq!(contents(&ask(99)), [""; 0]);
    assert_eq!(contents(&ask(100)), ["Closed."]);
    assert_eq!(contents(&ask(199)), ["Closed."]);
    assert_eq!(contents(&ask(200)), [""; 0]);
    assert_eq!(contents(&store.facts(&FactQuery::default(), at(150)).unwrap()), ["Closed."]);
    assert_eq!(contents(&store.facts(&FactQuery::default(), at(200)).unwrap()), [""; 0]);
}

#[test]
fn what_was_known_is_read_back_as_it_was_known() {
    let store = Store::open_in_memory().unwrap();
    let ankara = store.record(office("Ankara."), at(10)).unwrap().fact;
    store.record(office("Ankara."), at(20)).unwrap();
    store.supersede(&ankara.id, office("İzmir."), at(30)).unwrap();

    assert_eq!(store.facts(&known_at(9), at(100)).unwrap(), []);
    assert_eq!(store.facts(&known_at(10), at(100)).unwrap(), std::slice::from_ref(&ankara), "to the last field");
    let mentioned = &store.facts(&known_at(29), at(100)).unwrap()[0];
    assert_eq!((mentioned.mentions, mentioned.confidence), (2, 0.65));
    assert_eq!((&mentioned.superseded_by, mentioned.superseded_at), (&None, None));
    assert_eq!(contents(&store.facts(&known_at(30), at(100)).unwrap()), ["İzmir."]);
}

#[test]
fn queries_choose_by_domain_topic_and_number() {
    let store = Store::open_in_memory().unwrap();
    for (domain, topic, content) in [("a", "x", "1"), ("a", "y", "2"), ("b", "x", "3"), ("A", "x", "4")] {
        store.record(NewFact::new(domain, topic, content), at(1)).unwrap();
    }
    let ask = |domain: Option<&str>, topic: Option<&str>, limit| {
        let query =
            FactQuery { domain: domain.map(Into::into), topic: topic.map(Into::into), limit, ..FactQuery::default() };
        contents(&store.facts(&query, at(1)).unwrap()).join(" ")
    };
    assert_eq!(ask(None, None, None), "4 3 2 1", "the newest first");
    assert_eq!(ask(Some("a"), None, None), "2 1");
    assert_eq!(ask(None, Some("x"), None), "4 3 1");
    assert_eq!(ask(Some(" a "), Some("x"), None), "1");
    assert_eq!(ask(None, None, Some(2)), "4 3");
    assert_eq!(ask(None, None, Some(0)), "");
    assert_eq!(ask(Some("' OR 1 = 1 --"), None, None), "");
}

#[test]
fn superseding_refuses_what_makes_no_sense() {
    let store = Store::open_in_memory().unwrap();
    let ankara = store.record(office("Ankara."), at(10)).unwrap().fact;
    let izmir = store.supersede(&ankara.id, office("İzmir."), at(20)).unwrap();
    let position = store.position().unwrap();

    let unknown: FactId = "0197b4c2-7e00-7000-8000-000000000001".parse().unwrap();
    assert_eq!(store.supersede(&unknown, office("Bursa."), at(30)), Err(Error::UnknownFact { id: unknown }));
    assert_eq!(
        store.supersede(&ankara.id, office("Bursa."), at(30)),
        Err(Error::AlreadySuperseded { id: ankara.id.clone(), by: izmir.id.clone() }),
    );
    assert_eq!(
        store.supersede(&izmir.id, office("  İZMİR "), at(30)),
        Err(Error::SameStatement { id: izmir.id.clone() })
    );
    assert!(matches!(store.supersede(&izmir.id, office(""), at(30)), Err(Error::Invalid { field: "content", .. })));
    assert_eq!(store.position().unwrap(), position, "nothing was written");
    assert_eq!(
        Error::AlreadySuperseded { id: ankara.id.clone(), by: izmir.id.clone() }.to_string(),
        format!("fact {} is superseded already, by {}; supersede that one instead", ankara.id, izmir.id),
    );

    // The same words about another time are another statement.
    let earlier = NewFact { valid_from: Some(at(15)), ..office("İzmir.") };
    let corrected = store.supersede(&izmir.id, earlier, at(30)).unwrap();
    assert_ne!(corrected.id, izmir.id);
}

#[test]
fn a_standing_fact_can_take_the_place_of_another() {
    let store = Store::open_in_memory().unwrap();
    let ankara = store.record(office("Ankara."), at(10)).unwrap().fact;
    let izmir = store.record(office("İzmir."), at(20)).unwrap().fact;
    let winner = store.supersede(&ankara.id, office("İzmir."), at(30)).unwrap();
    assert_eq!((winner.id, winner.mentions), (izmir.id.clone(), 2));
    assert_eq!(store.get(&ankara.id).unwrap().unwrap().superseded_by, Some(izmir.id));
    assert_eq!(contents(&store.facts(&FactQuery::default(), at(40)).unwrap()), ["İzmir."]);
}

#[test]
fn a_statement_may_come_back_after_it_was_superseded() {
    let store = Store::open_in_memory().unwrap();
    let ankara = store.record(office("Ankara."), at(10)).unwrap().fact;
    let izmir = store.supersede(&ankara.id, office("İzmir."), at(20)).unwrap();
    let back = store.supersede(&izmir.id, office("Ankara."), at(30)).unwrap();
    assert_ne!(back.id, ankara.id);
    assert_eq!(back.mentions, 1);
    let ask = |micros| contents(&store.facts(&as_of(micros), at(100)).unwrap()).join(" ");
    assert_eq!([ask(15), ask(25), ask(35)], ["Ankara.", "İzmir.", "Ankara."]);
}

#[test]
fn clocks_that_disagree_do_no_harm() {
    let store = Store::open_in_memory().unwrap();
    let ankara = store.record(office("Ankara."), at(1_000)).unwrap().fact;
    // This process' clock is behind the one that recorded the fact; what is in the store holds all the same.
    assert_eq!(contents(&store.facts(&FactQuery::default(), at(900)).unwrap()), ["Ankara."]);
    let izmir = store.supersede(&ankara.id, office("İzmir."), at(950)).unwrap();
    assert_eq!(izmir.recorded_at, at(1_000));
    assert_eq!(contents(&store.facts(&FactQuery::default(), at(960)).unwrap()), ["İzmir."]);
    assert_eq!(store.get(&ankara.id).unwrap().unwrap().superseded_at, Some(at(1_000)));
    // Moments at the ends of time are moments.
    store.record(office("Long ago."), Moment::MIN).unwrap();
    store.record(office("One day."), Moment::MAX).unwrap();
    store.check_integrity().unwrap();
}

#[test]
fn the_log_has_a_line_for_each_change() {
    let store = Store::open_in_memory().unwrap();
    assert_eq!(store.position().unwrap(), 0);
    let ankara = store.record(office("Ankara."), at(10)).unwrap().fact;
    store.record(office("Ankara."), at(20)).unwrap();
    let izmir = store.supersede(&ankara.id, office("İzmir."), at(30)).unwrap();
    assert_eq!((ankara.seq, izmir.seq), (1, 3));

    let log = store.changes(0, 100).unwrap();
    let lines: Vec<_> = log.iter().map(|change| (change.seq, &change.fact, change.kind, change.at)).collect();
    assert_eq!(
        lines,
        [
            (1, &ankara.id, ChangeKind::Recorded, at(10)),
            (2, &ankara.id, ChangeKind::Mentioned, at(20)),
            (3, &izmir.id, ChangeKind::Recorded, at(30)),
            (4, &ankara.id, ChangeKind::Superseded, at(30)),
        ]
    );
    assert_eq!(store.position().unwrap(), 4);
    assert_eq!(store.changes(2, 1).unwrap(), log[2..3]);
    assert_eq!(store.changes(4, 100).unwrap(), []);
}

#[test]
fn the_same_calls_make_the_same_store() {
    let build = || {
        let store = Store::open_in_memory().unwrap();
        let ankara = store.record(office("Ankara."), at(10)).unwrap().fact;
        store.supersede(&ankara.id, office("İzmir."), at(20)).unwrap();
        store.history("team", "office").unwrap()
    };
    assert_eq!(build(), build());
}

#[track_caller]
fn refused(fact: NewFact, message: &str) {
    let store = Store::open_in_memory().unwrap();
    let error = store.record(fact, at(0)).unwrap_err();
    assert_eq!(error.to_string(), message);
    assert_eq!(store.position().unwrap(), 0);
}

#[test]
fn what_may_not_go_in_is_named() {
    let good = || office("So.");
    refused(NewFact { domain: " ".into(), ..good() }, r#"domain is " "; expected a name that is not empty"#);
    refused(NewFact { topic: String::new(), ..good() }, r#"topic is ""; expected a name that is not empty"#);
    refused(office(" \n "), r#"content is " \n "; expected a statement of at least one word"#);
    refused(office("..."), r#"content is "..."; expected a statement of at least one word"#);
    refused(office("a\0b"), r#"content is a NUL byte at offset 1 in "a\0b"; expected text without NUL bytes"#);
    refused(
        NewFact { topic: "two\nlines".into(), ..good() },
        r#"topic is '\n' in "two\nlines"; expected one line without control characters"#,
    );
    refused(
        NewFact { source: Some("\u{1b}[31mred".into()), ..good() },
        r#"source is '\u{1b}' in "\u{1b}[31mred"; expected one line without control characters"#,
    );
    refused(NewFact { author: Some(String::new()), ..good() }, r#"author is ""; expected a name that is not empty"#);
    refused(
        NewFact { domain: "d".repeat(MAX_NAME_BYTES + 1), ..good() },
        &format!("domain is 1025 bytes beginning \"{}…\"; expected at most 1024 bytes", "d".repeat(40)),
    );
    refused(
        office(&"ğ".repeat(MAX_CONTENT_BYTES / 2 + 1)),
        &format!("content is 65538 bytes beginning \"{}…\"; expected at most 65536 bytes", "ğ".repeat(20)),
    );
    for (confidence, shown) in [(1.01, "1.01"), (-0.1, "-0.1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        refused(
            NewFact { confidence: Some(confidence), ..good() },
            &format!("confidence is {shown}; expected a number from 0 to 1"),
        );
    }
    for until in [9, 10] {
        refused(
            NewFact { valid_from: Some(at(10)), valid_until: Some(at(until)), ..good() },
            &format!("valid_until is {until} µs, with valid_from at 10 µs; expected a moment after valid_from"),
        );
    }
    assert_eq!(
        "fact-7".parse::<FactId>().unwrap_err().to_string(),
        "fact id is `fact-7`; expected a UUID such as recording a fact returns"
    );
}

#[test]
fn the_longest_content_is_kept_whole() {
    let store = Store::open_in_memory().unwrap();
    let longest = "ğ".repeat(MAX_CONTENT_BYTES / 2);
    assert_eq!(store.record(office(&longest), at(0)).unwrap().fact.content, longest);
    let confident = |confidence, content| NewFact { confidence: Some(confidence), ..office(content) };
    assert_eq!(store.record(confident(0.0, "no"), at(0)).unwrap().fact.confidence, 0.0);
    assert_eq!(store.record(confident(1.0, "yes"), at(0)).unwrap().fact.confidence, 1.0);
}

#[test]
fn facts_travel_as_json() {
    let store = Store::open_in_memory().unwrap();
    let fact = store.record(office("Ankara."), at(10)).unwrap().fact;
    let json = serde_json::to_value(&fact).unwrap();
    assert_eq!(json["veracity"], "stated");
    assert_eq!(json["recorded_at"], 10);
    assert_eq!(serde_json::from_value::<Fact>(json).unwrap(), fact);
    let new = r#"{"domain": "team", "topic": "office", "content": "Bursa.", "confidense": 1}"#;
    assert!(serde_json::from_str::<NewFact>(new).unwrap_err().to_string().contains("confidense"));
    assert!(serde_json::from_str::<FactId>("\"x\"").is_err());
}
