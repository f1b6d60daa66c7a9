//! Fits files into a token budget, the most important first.
//!
//! ```sh
//! cargo run -p hatir-budget --example fit_files -- 2000 README.md src/lib.rs > prompt.txt
//! ```
//!
//! The joined text goes to stdout, what became of each file to stderr. Without arguments it fits its own source into
//! 120 tokens.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example is a program")]

use std::error::Error;

use hatir_budget::{FitOptions, Item, TokenCounter, fit};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let limit = match arguments.next() {
        Some(limit) => limit.parse().map_err(|_| format!("the limit is {limit:?}; expected a number of tokens"))?,
        None => 120,
    };
    let mut items = Vec::new();
    for path in arguments {
        let text = std::fs::read_to_string(&path).map_err(|error| format!("cannot read {path}: {error}"))?;
        items.push(Item::new(path, text));
    }
    if items.is_empty() {
        items.push(Item::new("fit_files.rs", include_str!("fit_files.rs")));
    }

    let fitted = fit(&items, limit, &TokenCounter::default(), &FitOptions::default());

    println!("{}", fitted.text);
    for kept in &fitted.kept {
        let how = if kept.cut { "cut" } else { "whole" };
        eprintln!("{:>8} tokens  {how:<7}  {}", kept.tokens, items[kept.index].id);
    }
    for &index in &fitted.dropped {
        eprintln!("       - tokens  dropped  {}", items[index].id);
    }
    eprintln!("{:>8} tokens of {limit}, from {}", fitted.tokens, fitted.raw_tokens);
    Ok(())
}
