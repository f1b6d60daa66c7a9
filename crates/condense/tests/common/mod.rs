//! Helpers of the table tests.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

use hatir_condense::{Condensed, Condenser, Connector, Conversation, Options, Turn};

/// A history of turns: user and assistant by turns, beginning with the user.
pub fn history(turns: &[&str]) -> Conversation {
    turns
        .iter()
        .enumerate()
        .map(|(index, text)| if index % 2 == 0 { Turn::user(*text) } else { Turn::assistant(*text) })
        .collect()
}

pub fn condense(turns: &[&str], follow_up: &str) -> Condensed {
    Condenser::new().condense(&history(turns), follow_up, &Options::default())
}

pub fn condense_policy(turns: &[&str], follow_up: &str) -> Condensed {
    let options = Options { connector: Connector::Policy, ..Options::default() };
    Condenser::new().condense(&history(turns), follow_up, &options)
}
