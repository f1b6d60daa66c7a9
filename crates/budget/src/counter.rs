use crate::cut::cut_at;
use crate::encoding::{Encoding, Tables};
use crate::seam::last_seam;

/// Something that counts tokens and cuts by them; [`fit`](crate::fit) takes any.
///
/// [`TokenCounter`] is the exact one. Implement the trait for another tokeniser, or for an estimate.
///
/// ```
/// use hatir_budget::{CountTokens, FitOptions, Item, fit};
///
/// /// One token per byte, as in a byte-level model.
/// struct Bytes;
///
/// impl CountTokens for Bytes {
///     fn count(&self, text: &str) -> usize {
///         text.len()
///     }
///
///     fn cut_at<'t>(&self, text: &'t str, max_tokens: usize) -> &'t str {
///         &text[..text.floor_char_boundary(max_tokens)]
///     }
/// }
///
/// let options = FitOptions { minimum_tokens: 1, ..FitOptions::default() };
/// assert_eq!(fit(&[Item::new("a", "çay ve simit")], 8, &Bytes, &options).text, "çay ve");
/// ```
pub trait CountTokens {
    /// How many tokens `text` has. The empty text has none.
    fn count(&self, text: &str) -> usize;

    /// The longest prefix of `text` that has at most `max_tokens` tokens and ends between two characters.
    ///
    /// Returns the whole text when it fits; callers rely on that to ask *does it fit* at the cost of the limit.
    fn cut_at<'t>(&self, text: &'t str, max_tokens: usize) -> &'t str;

    /// A byte offset at which `text` may be taken apart without changing its count, whatever is appended to it later:
    /// `count(text + more) == count(text[..seam]) + count(text[seam..] + more)`.
    ///
    /// The later the seam, the less [`fit`](crate::fit) counts twice. `0`, the default, is always right.
    fn seam(&self, text: &str) -> usize {
        let _ = text;
        0
    }
}

/// Exact counts in one [`Encoding`].
///
/// Text is ordinary text: `<|endoftext|>` and its like are counted as the characters that they are written in, as
/// `encode_ordinary` of `tiktoken` does, since what is being counted is data and must not turn into control tokens.
///
/// ```
/// use hatir_budget::{CountTokens, Encoding, TokenCounter};
///
/// let counter = TokenCounter::new(Encoding::O200kBase);
/// assert_eq!(counter.count("fn main() {}"), 4);
/// assert_eq!(counter.count("<|endoftext|>"), 7);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenCounter {
    encoding: Encoding,
}

impl TokenCounter {
    /// A counter for `encoding`. Costs nothing: the tables are built by the first call that counts or cuts (see the
    /// crate's benchmark `load`), once per encoding and process, and shared by all counters and threads.
    pub const fn new(encoding: Encoding) -> Self {
        TokenCounter { encoding }
    }

    /// The encoding that it counts in.
    pub const fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// How many tokens `text` has, exactly.
    ///
    /// Cost: linear in the text, also for a megabyte of letters without a break (the figures stand in
    /// `benches/count.rs`); memory is that of the longest unbroken run of letters, signs or spaces.
    pub fn count(&self, text: &str) -> usize {
        self.tables().count(text)
    }

    /// The longest prefix of `text` that has at most `max_tokens` tokens and ends between two characters.
    ///
    /// *Longest* is meant literally. Counts do not grow evenly: a text can have fewer tokens with one more character
    /// (`"individua"` has three, `"individual"` one), so prefixes that fit and prefixes that do not may alternate. The one
    /// returned is the longest of those that fit; every longer prefix has more than `max_tokens`.
    ///
    /// Cost: linear in `max_tokens`, whatever the length of the text.
    ///
    /// ```
    /// use hatir_budget::TokenCounter;
    ///
    /// let counter = TokenCounter::default();
    /// assert_eq!(counter.cut_at("one two three four", 3), "one two three");
    /// assert_eq!(counter.cut_at("one two", 100), "one two");
    /// assert_eq!(counter.cut_at("one two", 0), "");
    ///
    /// assert_eq!(counter.count("individua"), 3);
    /// assert_eq!(counter.cut_at("individualist", 1), "individual");
    /// ```
    pub fn cut_at<'t>(&self, text: &'t str, max_tokens: usize) -> &'t str {
        if max_tokens == 0 || text.is_empty() { "" } else { cut_at(self.tables(), text, max_tokens) }
    }

    fn tables(self) -> &'static Tables {
        self.encoding.tables()
    }
}

impl CountTokens for TokenCounter {
    fn count(&self, text: &str) -> usize {
        TokenCounter::count(self, text)
    }

    fn cut_at<'t>(&self, text: &'t str, max_tokens: usize) -> &'t str {
        TokenCounter::cut_at(self, text, max_tokens)
    }

    fn seam(&self, text: &str) -> usize {
        last_seam(text)
    }
}
