//! Carries a pipeline through a conversation, turn by turn.

use indexmap::IndexMap;
use serde::Deserialize;

use crate::plan::Plan;
use crate::run::{Ending, OutputValue, RunOptions, RunReport, Runner};
use crate::value::{Type, Value};
use crate::wire::{Answer, Hits, Query, Role, Turn};

/// One line of a dialog file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// What the person says.
    pub question: String,
    /// The ids of the documents that answer it; with them a turn can be judged.
    #[serde(default)]
    pub relevant: Vec<String>,
}

/// One turn of a dialog, answered.
#[derive(Clone, Debug)]
pub struct DialogTurn {
    /// What was asked.
    pub line: Line,
    /// The query that was made of it, when the output has one.
    pub query: Option<Query>,
    /// What was found, by the name of the output.
    pub hits: IndexMap<String, Hits>,
    /// The answer, when the output has one.
    pub answer: Option<Answer>,
    /// The run behind it.
    pub report: RunReport,
}

impl DialogTurn {
    /// Whether the best hit under that output answers the question; nothing when the line does not say what would.
    pub fn hit(&self, output: &str) -> Option<bool> {
        if self.line.relevant.is_empty() {
            return None;
        }
        let best = self.hits.get(output).and_then(|hits| hits.hits.first());
        Some(best.is_some_and(|hit| self.line.relevant.contains(&hit.id)))
    }
}

/// A pipeline in conversation.
///
/// The pipeline takes a `conversation` and a `question`, and its output is a table. What the person asked and what the
/// output of type `answer` says become the history of the next turn.
pub struct Dialog<'run> {
    runner: &'run Runner,
    history: Vec<Turn>,
}

impl<'run> Dialog<'run> {
    /// A conversation that has not begun.
    ///
    /// # Errors
    /// What the pipeline lacks.
    pub fn new(runner: &'run Runner) -> Result<Self, String> {
        let plan: &Plan = runner.plan();
        for (name, kind) in [("conversation", Type::Conversation), ("question", Type::Text)] {
            match plan.inputs.get(name) {
                Some(spec) if spec.kind == kind => {}
                Some(spec) => {
                    return Err(format!(
                        "a dialog needs the input \"{name}\" to be a {kind}, and it is a {}",
                        spec.kind
                    ));
                }
                None => return Err(format!("a dialog needs an input \"{name}\" ({kind}), and the pipeline has none")),
            }
        }
        Ok(Dialog { runner, history: Vec::new() })
    }

    /// What was said so far.
    pub fn history(&self) -> &[Turn] {
        &self.history
    }

    /// Asks the next question.
    pub async fn ask(&mut self, line: Line, options: &RunOptions) -> DialogTurn {
        let mut inputs = IndexMap::with_capacity(2);
        inputs.insert("conversation".to_owned(), Value::Conversation(self.history.clone().into()));
        inputs.insert("question".to_owned(), Value::text(line.question.as_str()));
        let report = self.runner.run(&inputs, options).await;

        let mut turn = DialogTurn { line, query: None, hits: IndexMap::new(), answer: None, report };
        match &turn.report.output {
            Some(OutputValue::One(value)) => {
                sort_in("output", value.as_ref(), &mut turn.query, &mut turn.hits, &mut turn.answer);
            }
            Some(OutputValue::Many(values)) => {
                for (name, value) in values {
                    sort_in(name, value.as_ref(), &mut turn.query, &mut turn.hits, &mut turn.answer);
                }
            }
            None => {}
        }
        if turn.report.ending == Ending::Completed {
            self.history.push(Turn { role: Role::User, text: turn.line.question.clone() });
            if let Some(answer) = turn.answer.as_ref().filter(|answer| answer.found) {
                self.history.push(Turn { role: Role::Assistant, text: answer.text.clone() });
            }
        }
        turn
    }
}

fn sort_in(
    name: &str,
    value: Option<&Value>,
    query: &mut Option<Query>,
    hits: &mut IndexMap<String, Hits>,
    answer: &mut Option<Answer>,
) {
    match value {
        Some(Value::Query(found)) => *query = Some(found.as_ref().clone()),
        Some(Value::Hits(found)) => {
            hits.insert(name.to_owned(), found.as_ref().clone());
        }
        Some(Value::Answer(found)) => *answer = Some(found.as_ref().clone()),
        _ => {}
    }
}
