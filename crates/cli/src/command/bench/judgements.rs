//! Which documents answer which query.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::files::{Place, read_lines};
use crate::exit::Failure;

/// The documents that answer a query, with how well each does, above 0.
pub(crate) type Relevant = BTreeMap<String, f64>;

/// One line of the file.
#[derive(Debug)]
pub(crate) struct Judgement {
    pub(crate) place: Place,
    pub(crate) query: String,
    pub(crate) document: String,
    /// How well it answers.
    pub(crate) score: f64,
}

/// Reads a header line, then a query's id, a document's id and a number between tabs.
pub(crate) fn read(path: &Path) -> Result<Vec<Judgement>, Failure> {
    let mut judgements = Vec::new();
    let mut header = true;
    read_lines(path, |place, line| {
        let parts: Vec<&str> = line.split('\t').map(str::trim).collect();
        let [query, document, score] = parts[..] else {
            return Err(place
                .wrong(format!("{} columns found, expected 3 between tabs: query-id, corpus-id, score", parts.len())));
        };
        let number = score.parse::<f64>().ok().filter(|score| score.is_finite());
        if std::mem::take(&mut header) {
            // A first line that judges would be lost without a word.
            return match number {
                None => Ok(()),
                Some(_) => Err(place.wrong("a header line is expected: query-id, corpus-id, score")),
            };
        }
        let Some(score) = number else {
            return Err(place.wrong(format!("the score is {score:?}, expected a number")));
        };
        let (query, document) = (query.to_owned(), document.to_owned());
        judgements.push(Judgement { place: place.clone(), query, document, score });
        Ok(())
    })?;
    if judgements.is_empty() {
        return Err(Failure::wrong(format!("{}: there are no answers in it", path.display())));
    }
    Ok(judgements)
}

/// The answers of each query. A score of 0 or less says that a document is no answer.
pub(crate) fn by_query(judgements: Vec<Judgement>) -> Result<HashMap<String, Relevant>, Failure> {
    let mut seen: HashMap<(String, String), Place> = HashMap::new();
    let mut relevant: HashMap<String, Relevant> = HashMap::new();
    for Judgement { place, query, document, score } in judgements {
        if let Some(first) = seen.get(&(query.clone(), document.clone())) {
            return Err(place.wrong(format!("{document:?} was judged for {query:?} already, in {first}")));
        }
        seen.insert((query.clone(), document.clone()), place);
        if score > 0.0 {
            relevant.entry(query).or_default().insert(document, score);
        }
    }
    Ok(relevant)
}
