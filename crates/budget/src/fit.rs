use serde::{Deserialize, Serialize};

use crate::CountTokens;

/// A cut piece may lose this many bytes at its end so as to end with a whole word.
const LONGEST_HALF_WORD: usize = 40;

/// One thing that wants a place in the text: a passage, a fact, a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// The caller's name for it. Not part of the text, and need not be unique.
    pub id: String,
    /// What is put in, as it stands.
    pub text: String,
}

impl Item {
    /// An item of a name and a text.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Item { id: id.into(), text: text.into() }
    }
}

/// How [`fit`] joins and cuts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FitOptions {
    /// Stands between two items; a blank line by default. Its tokens count.
    pub separator: String,
    /// The smallest cut piece that is still of use, in tokens; 16 by default. Items that fit whole are never too small.
    pub minimum_tokens: usize,
    /// Whether the first item that does not fit may be cut; `true` by default.
    pub cut: bool,
}

impl Default for FitOptions {
    fn default() -> Self {
        FitOptions { separator: "\n\n".to_owned(), minimum_tokens: 16, cut: true }
    }
}

/// What [`fit`] made of the items.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Fitted {
    /// The items in the text, in the order given.
    pub kept: Vec<Kept>,
    /// Indices of the items that are not, ascending.
    pub dropped: Vec<usize>,
    /// The kept texts that are not empty, joined by the separator.
    pub text: String,
    /// The exact count of `text`, separators included; never more than the limit.
    pub tokens: usize,
    /// The exact count of all items joined, uncut: what it would have cost without a limit.
    pub raw_tokens: usize,
}

/// An item that found its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// Index into the items given.
    pub index: usize,
    /// The item's text, or the part of it that was kept.
    pub text: String,
    /// The count of `text` on its own. The sum over all items may differ a little from [`Fitted::tokens`]: separators
    /// cost tokens, and a full stop and the blank line after it are one.
    pub tokens: usize,
    /// Whether `text` is only the beginning of the item's.
    pub cut: bool,
}

/// Joins `items`, the most important first, into one text of at most `limit` tokens.
///
/// - Items are taken in order while they fit.
/// - The first that does not fit is cut to the room that is left, at the end of a word where there is one near, if the
///   cut piece has [`FitOptions::minimum_tokens`]; that ends the text, and all later items are dropped.
/// - When it cannot be cut (the room is too small, or [`FitOptions::cut`] is off) it is dropped, and later, smaller
///   items still get their chance, because room that nobody uses helps nobody. The order never changes.
/// - An empty item costs nothing and is always kept; it gets no separator.
/// - Equal texts are different items, each with its own cost: whoever merges results drops repetitions.
///
/// Cost: each item is counted once for `raw_tokens`; the rest is bounded by the limit, so that one item of a hundred
/// megabytes costs no more than its count.
///
/// ```
/// use hatir_budget::{FitOptions, Item, TokenCounter, fit};
///
/// let items = [Item::new("a", "one two three"), Item::new("b", "word ".repeat(500)), Item::new("c", "four")];
/// let fitted = fit(&items, 40, &TokenCounter::default(), &FitOptions::default());
/// assert!(fitted.tokens <= 40);
/// assert!(fitted.kept[1].cut && fitted.kept[1].text.ends_with("word"));
/// assert_eq!(fitted.dropped, [2]);
/// ```
pub fn fit(items: &[Item], limit: usize, counter: &dyn CountTokens, options: &FitOptions) -> Fitted {
    let mut joined = Joined::new(counter, &options.separator);
    let mut raw = Joined::new(counter, &options.separator);
    let mut kept: Vec<Kept> = Vec::new();
    let mut dropped = Vec::new();
    let mut may_cut = options.cut;
    let mut full = false;
    for (index, item) in items.iter().enumerate() {
        raw.push(&item.text);
        raw.forget_settled();
        let whole = item.text.is_empty() || (!full && joined.has_room(&item.text, limit));
        let piece = if whole {
            Some(item.text.as_str())
        } else if may_cut && !full {
            // Only the first item that does not fit is cut; a second piece would be of a less important item.
            may_cut = false;
            let piece = joined.cut(&item.text, limit, options.minimum_tokens);
            full = piece.is_some();
            piece
        } else {
            None
        };
        let Some(piece) = piece else {
            dropped.push(index);
            continue;
        };
        joined.push(piece);
        kept.push(Kept { index, text: piece.to_owned(), tokens: counter.count(piece), cut: !whole });
    }
    let raw_tokens = raw.tokens();
    finish(kept, dropped, joined.text, raw_tokens, limit, counter, &options.separator)
}

/// Counts the text as it will be sent. A counter of somebody else's may cut less well than it counts; the limit holds
/// all the same, because items are taken off the end until it does.
fn finish(
    mut kept: Vec<Kept>,
    mut dropped: Vec<usize>,
    mut text: String,
    raw_tokens: usize,
    limit: usize,
    counter: &dyn CountTokens,
    separator: &str,
) -> Fitted {
    let mut tokens = counter.count(&text);
    while tokens > limit
        && let Some(last) = kept.pop()
    {
        dropped.push(last.index);
        dropped.sort_unstable();
        let texts: Vec<&str> = kept.iter().map(|kept| kept.text.as_str()).filter(|text| !text.is_empty()).collect();
        text = texts.join(separator);
        tokens = counter.count(&text);
    }
    Fitted { kept, dropped, text, tokens, raw_tokens }
}

/// A text that grows item by item and knows its count without counting all of it again.
struct Joined<'a> {
    counter: &'a dyn CountTokens,
    separator: &'a str,
    text: String,
    /// Up to here the count is settled, whatever is appended.
    seam: usize,
    settled_tokens: usize,
    /// Whether anything was pushed; the text may have been forgotten since.
    begun: bool,
}

impl<'a> Joined<'a> {
    fn new(counter: &'a dyn CountTokens, separator: &'a str) -> Self {
        Joined { counter, separator, text: String::new(), seam: 0, settled_tokens: 0, begun: false }
    }

    fn separator(&self) -> &'a str {
        if self.begun { self.separator } else { "" }
    }

    /// What is not settled yet, and the item behind it.
    fn tail_with(&self, item: &str) -> (String, usize) {
        let mut tail = [&self.text[self.seam..], self.separator()].concat();
        let start = tail.len();
        tail.push_str(item);
        (tail, start)
    }

    fn has_room(&self, item: &str, limit: usize) -> bool {
        let (tail, _) = self.tail_with(item);
        let room = limit.saturating_sub(self.settled_tokens);
        self.counter.cut_at(&tail, room).len() == tail.len()
    }

    /// The beginning of `item` that still fits, when it has at least `minimum_tokens`.
    fn cut<'t>(&self, item: &'t str, limit: usize, minimum_tokens: usize) -> Option<&'t str> {
        let (tail, start) = self.tail_with(item);
        let room = limit.saturating_sub(self.settled_tokens);
        let end = self.counter.cut_at(&tail, room).len();
        let cut = &item[..end.checked_sub(start)?];
        let whole_words = at_word_end(cut, &item[cut.len()..]);
        // A shorter text can have more tokens; then the longer one stays.
        let piece = if self.has_room(whole_words, limit) { whole_words } else { cut };
        (!piece.is_empty() && self.counter.count(piece) >= minimum_tokens).then_some(piece)
    }

    fn push(&mut self, item: &str) {
        if item.is_empty() {
            return;
        }
        self.text.push_str(self.separator());
        self.text.push_str(item);
        self.begun = true;
        let seam = self.seam + self.counter.seam(&self.text[self.seam..]);
        self.settled_tokens += self.counter.count(&self.text[self.seam..seam]);
        self.seam = seam;
    }

    /// Lets go of the text whose count is settled, for whoever wants the count alone.
    fn forget_settled(&mut self) {
        self.text.drain(..self.seam);
        self.seam = 0;
    }

    fn tokens(&self) -> usize {
        self.settled_tokens + self.counter.count(&self.text[self.seam..])
    }
}

/// `piece` without the half word at its end, if it ends inside one, and without white space there.
fn at_word_end<'t>(piece: &'t str, rest: &str) -> &'t str {
    if rest.starts_with(char::is_whitespace) {
        return piece.trim_end();
    }
    let near = piece.ceil_char_boundary(piece.len().saturating_sub(LONGEST_HALF_WORD));
    match piece[near..].rfind(char::is_whitespace) {
        Some(at) => piece[..near + at].trim_end(),
        None => piece,
    }
}
