//! A conversation on standard input, one turn a line; each user turn is condensed over what was said before.
//!
//! ```text
//! printf "What's our refund window?\nA: 30 days.\nWhat about damaged items?\n" | cargo run --example condense_chat
//! ```
//!
//! A line that begins with `A: ` is an answer, one with `T: ` a title; any other line is a turn of the user. With the
//! argument `policy` an ellipsis is joined as a question about a rule.

use std::io::{self, BufRead, Write};

use hatir_condense::{Condenser, Connector, Conversation, Options, Turn};

fn main() -> io::Result<()> {
    let policy = std::env::args().nth(1).is_some_and(|argument| argument == "policy");
    let connector = if policy { Connector::Policy } else { Connector::Plain };
    let options = Options { connector, ..Options::default() };
    let condenser = Condenser::new();
    let mut history = Conversation::default();
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        if let Some(answer) = line.strip_prefix("A: ") {
            history.turns.push(Turn::assistant(answer));
        } else if let Some(title) = line.strip_prefix("T: ") {
            history.turns.push(Turn::context(title));
        } else {
            let condensed = condenser.condense(&history, &line, &options);
            writeln!(
                out,
                "{line}\n  {}\n  [{}] {}, {:.2}",
                condensed.query, condensed.note, condensed.rule, condensed.confidence
            )?;
            for step in &condensed.steps {
                let replaced = &line[step.range.clone()];
                let from = step.turn.map_or(String::new(), |turn| format!(" (turn {turn})"));
                writeln!(out, "    {:?} -> {:?}: {}{from}", replaced, step.replacement, step.why)?;
            }
            history.turns.push(Turn::user(line));
        }
    }
    Ok(())
}
