//! Records a fact, supersedes it, and asks for it on both time lines.
//!
//! ```sh
//! cargo run -p hatir-memory --example record_and_ask            # in memory
//! cargo run -p hatir-memory --example record_and_ask -- shop.db # in a file; run it twice
//! ```

#![expect(clippy::print_stdout, reason = "an example is a program")]

use hatir_memory::{Error, FactQuery, Moment, NewFact, Outcome, Store, Veracity};

/// So many days into 2026, at midnight UTC.
fn day(number: i64) -> Moment {
    const NEW_YEAR: i64 = 1_767_225_600;
    Moment::from_micros((NEW_YEAR + number * 86_400) * 1_000_000)
}

fn refunds(content: &str) -> NewFact {
    NewFact {
        veracity: Veracity::Stated,
        author: Some("derya".to_owned()),
        source: Some("pages/refunds.md:12".to_owned()),
        ..NewFact::new("shop", "refund window", content)
    }
}

fn main() -> Result<(), Error> {
    let store = match std::env::args().nth(1) {
        Some(path) => Store::open(path)?,
        None => Store::open_in_memory()?,
    };

    let first = store.record(refunds("Refunds are possible for 14 days."), day(10))?;
    if first.outcome == Outcome::Added {
        // Said again, in other spelling: the same fact, a little surer.
        let again = store.record(refunds("refunds are possible for 14 days"), day(20))?;
        println!("said {} times, confidence {:.3}", again.fact.mentions, again.fact.confidence);
        // Learned on day 40: the window is longer, and was from day 30 on.
        let longer = NewFact { valid_from: Some(day(30)), ..refunds("Refunds are possible for 30 days.") };
        store.supersede(&first.fact.id, longer, day(40))?;
    }

    let ask = |what: &str, as_of, known_at| -> Result<(), Error> {
        let query = FactQuery { domain: Some("shop".to_owned()), as_of, known_at, ..FactQuery::default() };
        for fact in store.facts(&query, day(50))? {
            println!("{what}: {}", fact.content);
        }
        Ok(())
    };
    ask("what holds now", None, None)?;
    ask("what held on day 25", Some(day(25)), None)?;
    ask("what held on day 35", Some(day(35)), None)?;
    ask("what we believed on day 35", Some(day(35)), Some(day(35)))?;

    println!("the whole story:");
    for fact in store.history("shop", "refund window")? {
        let fate = fact.superseded_by.map_or("stands".to_owned(), |by| format!("superseded by {by}"));
        println!("  {} {:?} {fate}", fact.id, fact.content);
    }
    Ok(())
}
