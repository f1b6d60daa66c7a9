//! A decision in the making, and the text it gives.

use std::ops::Range;

use crate::token::lower;
use crate::{Language, Rule, Step};

pub(crate) const STANDALONE_NOTE: &str = "already standalone -- no rewrite";
pub(crate) const NO_TOPIC_NOTE: &str = "no topic in history -- left as-is (would need clarification)";

/// What the rules of a language decided about a follow-up.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Draft {
    pub(crate) rule: Rule,
    pub(crate) note: String,
    pub(crate) topic: Option<String>,
    pub(crate) steps: Vec<Step>,
    pub(crate) confidence: f32,
}

impl Draft {
    /// A decision that leaves the follow-up as it is.
    pub(crate) fn unchanged(rule: Rule, note: &str, confidence: f32) -> Self {
        Self { rule, note: note.to_owned(), topic: None, steps: Vec::new(), confidence }
    }

    pub(crate) fn standalone(confidence: f32) -> Self {
        Self::unchanged(Rule::Standalone, STANDALONE_NOTE, confidence)
    }

    pub(crate) fn no_topic() -> Self {
        Self::unchanged(Rule::NoTopic, NO_TOPIC_NOTE, 0.5)
    }
}

/// Replacements in a follow-up, collected in any order.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    steps: Vec<Step>,
}

impl Edits {
    pub(crate) fn replace(
        &mut self,
        range: Range<usize>,
        with: impl Into<String>,
        turn: usize,
        why: impl Into<String>,
    ) {
        let replacement = with.into();
        if !(range.is_empty() && replacement.is_empty()) {
            self.steps.push(Step { range, replacement, turn: Some(turn), why: why.into() });
        }
    }

    pub(crate) fn drop(&mut self, range: Range<usize>, why: &str) {
        if !range.is_empty() {
            self.steps.push(Step { range, replacement: String::new(), turn: None, why: why.to_owned() });
        }
    }

    /// Writes a word small that no longer begins a sentence.
    pub(crate) fn lower(&mut self, range: Range<usize>, lower: &str) {
        let why = "no longer the beginning of a sentence".to_owned();
        self.steps.push(Step { range, replacement: lower.to_owned(), turn: None, why });
    }

    /// The steps in the order of the text. Steps never overlap; should two rules ever want the same bytes, the first in
    /// the text wins.
    pub(crate) fn into_steps(mut self) -> Vec<Step> {
        self.steps.sort_by_key(|step| (step.range.start, step.range.end));
        let mut end = 0;
        self.steps.retain(|step| {
            let fits = step.range.start >= end;
            if fits {
                end = step.range.end;
            }
            fits
        });
        self.steps
    }
}

/// The follow-up with its steps applied, then tidied: single spaces, no closing punctuation, and a small first letter
/// unless the first word is a name.
pub(crate) fn apply(follow_up: &str, steps: &[Step], language: Language, is_name: impl Fn(&str) -> bool) -> String {
    let mut text = String::with_capacity(follow_up.len() + 64);
    let mut at = 0;
    for step in steps {
        text.push_str(&follow_up[at..step.range.start]);
        text.push_str(&step.replacement);
        at = step.range.end;
    }
    text.push_str(&follow_up[at..]);
    let mut tidy = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        let mark_alone = matches!(word, "," | "?" | "." | "!" | ";" | ":");
        if !tidy.is_empty() && !mark_alone {
            tidy.push(' ');
        }
        tidy.push_str(word);
    }
    let end = tidy.trim_end_matches(['?', '.', '!', '…', ',', ';', ':', ' ']).len();
    tidy.truncate(end);
    let start = tidy.len() - tidy.trim_start_matches([',', '.', ';', ':', '!', '?', '-', ' ']).len();
    let tidy = &tidy[start..];
    let first = tidy.split_whitespace().next().unwrap_or("");
    let stem = first.split(['\'', '’', ',', '.', '?', '!']).next().unwrap_or(first);
    // In Turkish an apostrophe stands only after names.
    let suffixed_name = language == Language::Turkish && first[stem.len()..].starts_with(['\'', '’']);
    if suffixed_name || stem.chars().skip(1).any(char::is_uppercase) || is_name(stem) {
        return tidy.to_owned();
    }
    let rest = &tidy[first.len()..];
    let mut chars = first.chars();
    let Some(letter) = chars.next() else { return tidy.to_owned() };
    format!("{}{}{rest}", lower(letter.encode_utf8(&mut [0; 4]), language), chars.as_str())
}
