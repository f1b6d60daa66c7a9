//! The stage kinds that come with the crate, one file each.

mod answer;
mod budget;
mod condense;
mod exec;
mod files;
mod memory;
mod merge;
mod rank;
mod read_file;
mod read_jsonl;
mod score_recall;
mod split;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod write_jsonl;

use std::sync::Arc;

use crate::stage::{Inputs, Registry, StageError};
use crate::value::{Type, Value};
use crate::wire::Item;

/// Registers all of them.
pub(crate) fn register(registry: &mut Registry) {
    registry.register::<answer::Extract>();
    registry.register::<budget::Count>();
    registry.register::<budget::Fit>();
    registry.register::<condense::Condense>();
    registry.register::<exec::Exec>();
    registry.register::<memory::ReadFacts>();
    registry.register::<memory::RecordFact>();
    registry.register::<merge::Merge>();
    registry.register::<rank::AskIndex>();
    registry.register::<rank::BuildIndex>();
    registry.register::<read_file::ReadFile>();
    registry.register::<read_jsonl::ReadJsonl>();
    registry.register::<score_recall::Recall>();
    registry.register::<write_jsonl::WriteJsonl>();
}

/// The default of switches that are on.
fn yes() -> bool {
    true
}

/// The text on a port.
fn text(inputs: &Inputs, port: &str) -> Result<Arc<str>, StageError> {
    match inputs.need(port)?.convert(Type::Text) {
        Ok(Value::Text(text)) => Ok(text),
        Ok(other) => Err(files::unusable(port, format!("found {}, expected text", other.kind()))),
        Err(error) => Err(files::unusable(port, error)),
    }
}

/// The lists on a port that takes many lists of items.
fn item_lists(inputs: &Inputs, port: &str) -> Result<Vec<Arc<Vec<Item>>>, StageError> {
    let list = |value: &Value| match value.convert(Type::Items) {
        Ok(Value::Items(items)) => Ok(items),
        Ok(other) => Err(files::unusable(port, format!("found {}, expected items", other.kind()))),
        Err(error) => Err(files::unusable(port, error)),
    };
    inputs.all(port).iter().map(list).collect()
}
