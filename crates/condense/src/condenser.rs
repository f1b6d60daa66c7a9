//! The door of the crate: language and history first, then the ladder of that language.

use crate::draft::{Draft, STANDALONE_NOTE};
use crate::english::English;
use crate::token::lower;
use crate::turkish::Turkish;
use crate::window::Window;
use crate::{Condensed, Conversation, Language, Options, Rule, language};

/// Words that a rewrite may hold though neither the follow-up nor the history does. Turkish suffixes and the English
/// possessive ending may be added to words beside these.
pub const CONNECTING_WORDS: &[&str] = &[
    "a",
    "about",
    "and",
    "besides",
    "for",
    "in",
    "of",
    "or",
    "other",
    "policy",
    "the",
    "to",
    "which",
    "arasında",
    "başka",
    "hakkında",
    "için",
    "politikası",
    "ve",
];

/// Turns follow-ups into stand-alone queries. Holds nothing, so one may be made wherever it is needed.
///
/// ```
/// use hatir_condense::{Condenser, Connector, Conversation, Options, Turn};
///
/// let options = Options { connector: Connector::Policy, ..Options::default() };
/// let history = Conversation::from(vec![Turn::user("What's our refund window?")]);
/// let condensed = Condenser::new().condense(&history, "What about damaged items?", &options);
/// assert_eq!(condensed.query, "refund policy for damaged items");
/// assert_eq!(condensed.note, "spliced topic 'refund' from history");
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Condenser(());

impl Condenser {
    /// A condenser.
    pub fn new() -> Self {
        Self::default()
    }

    /// The stand-alone query for a follow-up, and how it came about.
    ///
    /// When nothing is missing, or what is missing is not in the history, [`Condensed::query`] is the follow-up byte for
    /// byte. Condensing a rewrite again over the same history leaves it as it is. Any text is accepted.
    ///
    /// Cost: linear in the follow-up and in the part of the history that the window of `options` covers; turns behind
    /// the window are looked through only when the follow-up points at something that the window does not hold.
    pub fn condense(&self, history: &Conversation, follow_up: &str, options: &Options) -> Condensed {
        let window = Window::of(history, options);
        let language = options.language.unwrap_or_else(|| language::of(follow_up, &window));
        let unchanged = |draft: Draft| Condensed {
            query: follow_up.to_owned(),
            rule: draft.rule,
            note: draft.note,
            topic: None,
            steps: Vec::new(),
            confidence: draft.confidence,
            language,
        };
        if window.is_empty() {
            return unchanged(Draft::unchanged(Rule::FirstTurn, STANDALONE_NOTE, 1.0));
        }
        if follow_up.len() > LONGEST_FOLLOW_UP || marked_standalone(follow_up, options, language) {
            return unchanged(Draft::standalone(1.0));
        }
        let ladder: Box<dyn Ladder> = match language {
            Language::English => Box::new(English::new(&window, options)),
            Language::Turkish => Box::new(Turkish::new(&window, options)),
        };
        let draft = ladder.decide(follow_up);
        if !draft.rule.rewrites() {
            return unchanged(draft);
        }
        let query = ladder.apply(follow_up, &draft);
        // A rewrite has to stand alone. One that would itself be rewritten has only moved the gap, and is not shown.
        let again = ladder.decide(&query);
        if query.trim().is_empty() || (again.rule.rewrites() && ladder.apply(&query, &again) != query) {
            return unchanged(Draft::unchanged(Rule::NoTopic, "not sure what is meant -- left as-is", 0.3));
        }
        let Draft { rule, note, topic, steps, confidence } = draft;
        Condensed { query, rule, note, topic, steps, confidence, language }
    }
}

/// A text longer than this, in bytes, says what it is about.
const LONGEST_FOLLOW_UP: usize = 4_000;

/// The rules of one language over one history.
pub(crate) trait Ladder {
    /// One pass over the ladder.
    fn decide(&self, text: &str) -> Draft;
    /// The text that a draft gives.
    fn apply(&self, text: &str, draft: &Draft) -> String;
}

fn marked_standalone(follow_up: &str, options: &Options, language: Language) -> bool {
    if options.standalone_markers.is_empty() {
        return false;
    }
    let text = lower(follow_up, language);
    options.standalone_markers.iter().any(|marker| crate::token::contains_words(&text, &lower(marker.trim(), language)))
}
