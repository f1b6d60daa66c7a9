//! Puts environment variables into the strings of a `with` table.

use std::collections::BTreeMap;
use std::collections::HashSet;

use indexmap::IndexMap;

use crate::codes::Code;
use crate::diagnostic::{Problem, Report, Span};
use crate::interpolate::{Template, VariableReference, written_range};
use crate::names::nearest;
use crate::tree::{Node, Outcome, Tree, Variable};

/// How many wrong references of one string are told one by one. Finding the place of each means reading the string up to
/// it, and a string with more of them was not written by a person.
const TOLD_PER_STRING: usize = 50;

/// What is known of the environment.
#[derive(Clone, Debug, Default)]
pub enum Environment {
    /// Nothing: references without a default stay as they are, so that a file can be checked anywhere.
    #[default]
    Unknown,
    /// The variables that are set. A reference to another one, without a default, is an error.
    Known(BTreeMap<String, String>),
}

pub(crate) struct Variables<'run> {
    pub(crate) declared: &'run IndexMap<String, Span>,
    pub(crate) environment: &'run Environment,
    /// The texts that spans point into.
    pub(crate) texts: &'run Report,
    pub(crate) used: HashSet<String>,
    pub(crate) problems: Vec<Problem>,
}

impl Variables<'_> {
    /// Fills all strings of a value in place.
    pub(crate) fn fill(&mut self, node: &mut Node) {
        match &mut node.tree {
            Tree::Array(elements) => elements.iter_mut().for_each(|element| self.fill(element)),
            Tree::Table(table) => table.values_mut().for_each(|entry| self.fill(&mut entry.node)),
            Tree::String(text) if text.contains("${") => {
                let text = std::mem::take(text);
                let (filled, variables) = self.fill_text(&text, node.span);
                node.variables = variables;
                node.tree = filled.map_or(Tree::Broken, Tree::String);
            }
            _ => {}
        }
    }

    fn fill_text(&mut self, text: &str, span: Span) -> (Option<String>, Vec<Variable>) {
        let (template, errors) = Template::take_apart(text);
        let mut sound = errors.is_empty();
        let mut wrong = errors.len();
        for error in errors.into_iter().take(TOLD_PER_STRING) {
            let problem = Problem::new(Code::WRONG_VARIABLE, error.message).at(self.inside(span, &error.range));
            self.problems
                .push(problem.help("a reference reads `${NAME}` or `${NAME:-default}`; write `$${` for `${` itself"));
        }
        let mut variables = Vec::new();
        for reference in template.references() {
            let declared = reference.default.is_some() || self.declared.contains_key(&reference.name);
            if !declared {
                wrong += 1;
                sound = false;
                if wrong <= TOLD_PER_STRING {
                    self.tell_undeclared(reference, span);
                }
            }
            self.used.insert(reference.name.clone());
        }
        if wrong > TOLD_PER_STRING {
            let message = format!("{} more references in this string are wrong", wrong - TOLD_PER_STRING);
            self.problems.push(Problem::new(Code::WRONG_VARIABLE, message).at(span));
        }
        if !sound {
            return (None, Vec::new());
        }
        let environment = self.environment;
        let filled = template.fill(|name, default| {
            let set = match environment {
                Environment::Known(known) => known.get(name).filter(|value| default.is_none() || !value.is_empty()),
                Environment::Unknown => None,
            };
            let (value, outcome) = match (set, default, environment) {
                (Some(value), _, _) => (value.clone(), Outcome::Set),
                (None, Some(default), _) => (default.to_owned(), Outcome::Default),
                (None, None, Environment::Unknown) => (format!("${{{name}}}"), Outcome::Open),
                (None, None, Environment::Known(_)) => return None,
            };
            variables.push(Variable { name: name.to_owned(), outcome });
            Some(value)
        });
        match filled {
            Ok(filled) => (Some(filled), variables),
            Err(reference) => {
                let name = &reference.name;
                let message = format!("the environment variable \"{name}\" is not set");
                let problem = Problem::new(Code::UNSET_VARIABLE, message).at(self.inside(span, &reference.range));
                self.problems
                    .push(problem.help(format!(
                        "set it (`export {name}=…`), or give the reference a default: `${{{name}:-…}}`"
                    )));
                (None, variables)
            }
        }
    }

    fn tell_undeclared(&mut self, reference: &VariableReference, span: Span) {
        let name = &reference.name;
        let message = format!("the environment variable \"{name}\" is not declared");
        let near = nearest(name, self.declared.keys().map(String::as_str)).map(str::to_owned);
        let problem = Problem::new(Code::UNDECLARED_VARIABLE, message).at(self.inside(span, &reference.range));
        self.problems.push(problem.suggest(near).help(format!(
            "declare it, `env = [\"{name}\"]` in `[pipeline]`, or give the reference a default: `${{{name}:-…}}`"
        )));
    }

    /// The place of a part of a string's value in the file.
    fn inside(&self, span: Span, range: &std::ops::Range<usize>) -> Span {
        let written = self.texts.text(span).unwrap_or_default();
        let range = written_range(written, range);
        Span { source: span.source, start: span.start + range.start, end: span.start + range.end }
    }
}
