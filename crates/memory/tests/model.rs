//! The store against a model of it that is too simple to be wrong: a list of events, read from the beginning each time.

use hatir_memory::{Fact, FactId, FactQuery, Moment, NewFact, Store, Veracity};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Record(Statement),
    /// Supersedes one of the facts that exist then, if there is any.
    Supersede(usize, Statement),
}

#[derive(Debug, Clone)]
struct Statement {
    topic: &'static str,
    content: &'static str,
    veracity: Veracity,
    valid_from: Option<i64>,
    valid_for: Option<i64>,
}

impl Statement {
    fn new_fact(&self, now: i64) -> NewFact {
        NewFact {
            veracity: self.veracity,
            valid_from: self.valid_from.map(Moment::from_micros),
            valid_until: self.valid_for.map(|time| Moment::from_micros(self.valid_from.unwrap_or(now) + time)),
            ..NewFact::new("d", self.topic, self.content)
        }
    }
}

fn statements() -> impl Strategy<Value = Statement> {
    (
        prop::sample::select(vec!["x", "y"]),
        prop::sample::select(vec!["red", "green", "blue"]),
        prop::sample::select(Veracity::ALL.to_vec()),
        prop::option::weighted(0.4, 0_i64..60),
        prop::option::weighted(0.3, 1_i64..30),
    )
        .prop_map(|(topic, content, veracity, valid_from, valid_for)| Statement {
            topic,
            content,
            veracity,
            valid_from,
            valid_for,
        })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => statements().prop_map(Step::Record),
        3 => (any::<usize>(), statements()).prop_map(|(which, statement)| Step::Supersede(which, statement)),
    ];
    prop::collection::vec(step, 1..25)
}

/// What the model keeps of each fact: all its states, by the moment from which it was in them.
struct Known {
    states: Vec<(i64, Fact)>,
}

impl Known {
    fn at(&self, moment: i64) -> Option<&Fact> {
        self.states.iter().rev().find(|(from, _)| *from <= moment).map(|(_, fact)| fact)
    }

    fn begins(fact: &Fact) -> i64 {
        let recorded = fact.recorded_at.as_micros();
        let ended = fact.valid_until.is_some_and(|until| until.as_micros() <= recorded);
        fact.valid_from.map_or(if ended { i64::MIN } else { recorded }, Moment::as_micros)
    }
}

/// What should be found: nothing but the definitions.
fn expected(model: &[Known], as_of: i64, known_at: i64, include_superseded: bool) -> Vec<Fact> {
    let state = |id: &FactId| model.iter().filter_map(|known| known.at(known_at)).find(|fact| fact.id == *id);
    let replaced = |fact: &Fact| {
        let mut successor = fact.superseded_by.as_ref().and_then(state);
        while let Some(next) = successor {
            if Known::begins(next) <= as_of {
                return true;
            }
            successor = next.superseded_by.as_ref().and_then(state);
        }
        false
    };
    let mut facts: Vec<Fact> = model
        .iter()
        .filter_map(|known| known.at(known_at))
        .filter(|fact| Known::begins(fact) <= as_of)
        .filter(|fact| fact.valid_until.is_none_or(|until| until.as_micros() > as_of))
        .filter(|fact| include_superseded || !replaced(fact))
        .cloned()
        .collect();
    facts.sort_by_key(|fact| std::cmp::Reverse(fact.seq));
    facts
}

fn remember(model: &mut Vec<Known>, now: i64, fact: Fact) {
    match model.iter_mut().find(|known| known.states[0].1.id == fact.id) {
        Some(known) => known.states.push((now, fact)),
        None => model.push(Known { states: vec![(now, fact)] }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_moment_of_both_time_lines_is_read_back(steps in steps()) {
        let store = Store::open_in_memory().unwrap();
        let mut model: Vec<Known> = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            let now = 2 * number as i64;
            let before = store.position().unwrap();
            match step {
                Step::Record(statement) => {
                    let fact = store.record(statement.new_fact(now), Moment::from_micros(now)).unwrap().fact;
                    remember(&mut model, now, fact);
                }
                Step::Supersede(which, statement) => {
                    if model.is_empty() {
                        continue;
                    }
                    let old = model[which % model.len()].states[0].1.id.clone();
                    let done = store.supersede(&old, statement.new_fact(now), Moment::from_micros(now));
                    if let Ok(new) = done {
                        remember(&mut model, now, store.get(&old).unwrap().unwrap());
                        remember(&mut model, now, new);
                    } else {
                        prop_assert_eq!(store.position().unwrap(), before, "what is refused leaves no trace");
                    }
                }
            }
        }
        store.check_integrity().unwrap();
        let end = 2 * steps.len() as i64;
        for known_at in (-1..=end).step_by(3) {
            for as_of in (-1..100).step_by(7) {
                for include_superseded in [false, true] {
                    let query = FactQuery {
                        as_of: Some(Moment::from_micros(as_of)),
                        known_at: Some(Moment::from_micros(known_at)),
                        include_superseded,
                        ..FactQuery::default()
                    };
                    let found = store.facts(&query, Moment::from_micros(0)).unwrap();
                    prop_assert_eq!(found, expected(&model, as_of, known_at, include_superseded));
                }
            }
        }
        // Without a moment of knowledge the answer is that of the last.
        for as_of in -1..100 {
            let query = FactQuery { as_of: Some(Moment::from_micros(as_of)), ..FactQuery::default() };
            prop_assert_eq!(store.facts(&query, Moment::from_micros(0)).unwrap(), expected(&model, as_of, end, false));
        }
    }
}
