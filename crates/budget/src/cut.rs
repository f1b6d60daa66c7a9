//! The longest prefix of so many tokens, at a cost that depends on the number and not on the text.
//!
//! Three facts make it possible:
//!
//! 1. No token is longer than `longest_token` bytes, so only the first `max_tokens * longest_token` bytes can matter.
//! 2. An encoding splits a text into pieces before it encodes each one alone. What it makes of a piece does not change
//!    when the text goes on after it, but for white space: the last blank of a run moves to the word that follows. So
//!    the pieces before the one that goes over the limit are settled, a run of white space in front of it apart.
//! 3. Inside a piece, [`AppendableEncoder`] tells the count of every prefix. Those counts go up and down, but each
//!    prefix is made of a shorter one and a last token; when all of the last `longest_token` prefixes are over the
//!    limit, every longer one is too.

use bpe_openai::appendable_encoder::AppendableEncoder;

use crate::encoding::Tables;

/// Pieces up to this many bytes are counted whole before the count of each of their prefixes is asked for: it is the
/// faster way, and only one piece of a text goes over the limit.
const SHORT_PIECE: usize = 256;

/// Bytes per token in the window that is tried first. Prose has four and code three; the worst case has
/// `longest_token`, and to find the end of a piece in a window made for that costs more than to try again.
const FIRST_WINDOW: usize = 8;

/// See [`TokenCounter::cut_at`](crate::TokenCounter::cut_at). `max_tokens` is at least 1.
pub(crate) fn cut_at<'t>(tables: &Tables, text: &'t str, max_tokens: usize) -> &'t str {
    let mut bytes_per_token = FIRST_WINDOW.min(tables.longest_token);
    loop {
        let last = bytes_per_token == tables.longest_token;
        let window = &text[..text.floor_char_boundary(max_tokens.saturating_mul(bytes_per_token))];
        if let Some(cut) = cut_window(tables, window, max_tokens, last || window.len() == text.len()) {
            return cut;
        }
        bytes_per_token = (bytes_per_token * 4).min(tables.longest_token);
    }
}

/// Cuts a window of the text, or returns nothing when what comes after the window could matter and `all` is false.
fn cut_window<'t>(tables: &Tables, window: &'t str, max_tokens: usize, all: bool) -> Option<&'t str> {
    let mut settled = Mark { at: 0, tokens: 0 };
    let mut here = settled;
    let mut after_white_space = false;
    for piece in tables.tokenizer.split(window) {
        if !(after_white_space && piece.starts_with(char::is_whitespace)) {
            settled = here;
        }
        let room = max_tokens - here.tokens;
        if let Some(tokens) = count_short(tables, piece, room) {
            here = Mark { at: here.at + piece.len(), tokens: here.tokens + tokens };
        } else {
            let counts = PrefixCounts::new(tables, piece, room);
            if let Some(tokens) = counts.of_all() {
                here = Mark { at: here.at + piece.len(), tokens: here.tokens + tokens };
            } else {
                // A piece that was not followed to its end ends beyond everything that fits.
                let inside = !counts.complete || window.len() - here.at - piece.len() >= LOOK_AHEAD;
                let over = Over { tables, window, max_tokens, settled, start: here, piece, counts };
                return (all || inside).then(|| &window[..over.longest()]);
            }
        }
        after_white_space = piece.chars().all(char::is_whitespace);
    }
    all.then_some(window)
}

/// A piece is final when so many bytes follow it: one character of any kind.
const LOOK_AHEAD: usize = 4;

/// The count of a short piece, when it is within the room.
fn count_short(tables: &Tables, piece: &str, room: usize) -> Option<usize> {
    if piece.len() > SHORT_PIECE {
        return None;
    }
    let tokens = tables.tokenizer.bpe.count(piece.as_bytes());
    (tokens <= room).then_some(tokens)
}

/// A place between two pieces and the number of tokens before it.
#[derive(Clone, Copy)]
struct Mark {
    at: usize,
    tokens: usize,
}

/// The piece that does not fit whole, and what is known about the text before it.
struct Over<'a> {
    tables: &'a Tables,
    window: &'a str,
    max_tokens: usize,
    /// The start of the white space that leads up to the piece, or of the piece itself. It fits, and whatever follows
    /// does not change the count before it.
    settled: Mark,
    start: Mark,
    piece: &'a str,
    counts: PrefixCounts,
}

impl Over<'_> {
    /// The end of the longest prefix of the window that fits.
    fn longest(&self) -> usize {
        let counts = &self.counts;
        let mut end = self.window.floor_char_boundary(self.start.at + counts.tokens.len());
        if counts.complete
            && let Some(next) = self.window[end..].chars().next()
            && next.is_whitespace()
        {
            // The blank after a run of white space belongs to the next word, unless the text ends with it.
            end += next.len_utf8();
        }
        let alone = self.where_prefixes_are_pieces();
        while end > self.settled.at {
            let tokens = if alone.holds(self, end) {
                self.start.tokens + counts.tokens[end - self.start.at - 1] as usize
            } else {
                self.settled.tokens + self.tables.count(&self.window[self.settled.at..end])
            };
            if tokens <= self.max_tokens {
                return end;
            }
            end = self.window.floor_char_boundary(end - 1);
        }
        self.settled.at
    }

    fn where_prefixes_are_pieces(&self) -> Alone {
        let start = self.start.at;
        let line_end = self.piece.find(['\n', '\r']).unwrap_or(self.piece.len());
        let mut characters = self.piece.char_indices();
        let plain_start = characters
            .next()
            .is_some_and(|(_, first)| is_capital(first) || (first.is_ascii() && !first.is_ascii_lowercase()));
        let capitals = match characters.find(|&(_, character)| !is_capital(character)) {
            _ if !plain_start => 0,
            Some((at, _)) => at,
            None => self.piece.len(),
        };
        Alone { line_end: start + line_end, capitals: start + capitals }
    }
}

/// Which prefixes of the piece are one piece when the text ends with them, so that their count can be looked up.
///
/// The others are few, and are split and counted again:
///
/// - white space that goes on after a line end is split after that line end;
/// - `o200k_base` lets no piece end in capitals after letters without case: `亚洲AVx` is one piece, `亚洲AV` is two, and
///   only as part of the longer one can it be the single token that its vocabulary has for it.
///
/// It splits `don'` as well, which is the beginning of the one piece `don't`; but no token reaches across that place,
/// so the count is the same.
struct Alone {
    /// Up to here the piece has no line end.
    line_end: usize,
    /// Up to here the piece is capitals, after one sign or blank.
    capitals: usize,
}

impl Alone {
    fn holds(&self, over: &Over<'_>, end: usize) -> bool {
        let piece_end = over.start.at + over.piece.len();
        if end <= over.start.at || end > piece_end {
            return false;
        }
        let Some(last) = over.window[..end].chars().next_back() else { return false };
        if last.is_whitespace() {
            return over.settled.at == over.start.at && (end <= self.line_end || matches!(last, '\n' | '\r'));
        }
        !is_capital(last) || end <= self.capitals
    }
}

/// Whether the character may be of Unicode's category Lu or Lt; a few that are not are no harm.
fn is_capital(character: char) -> bool {
    character.is_uppercase() || !character.to_lowercase().eq([character])
}

/// The token count of each prefix of a piece, byte by byte, as far as a prefix can fit.
struct PrefixCounts {
    /// `tokens[i]` is the count of the first `i + 1` bytes.
    tokens: Vec<u32>,
    /// Whether all of the piece was counted.
    complete: bool,
    room: usize,
}

impl PrefixCounts {
    fn new(tables: &Tables, piece: &str, room: usize) -> Self {
        let mut encoder = AppendableEncoder::new(&tables.tokenizer.bpe);
        let mut tokens = Vec::new();
        let mut over_in_a_row = 0;
        for byte in piece.bytes() {
            encoder.push(byte);
            let count = encoder.token_count();
            tokens.push(count as u32);
            over_in_a_row = if count > room { over_in_a_row + 1 } else { 0 };
            if over_in_a_row >= tables.longest_token {
                break;
            }
        }
        PrefixCounts { complete: tokens.len() == piece.len(), tokens, room }
    }

    /// The count of the whole piece, when it is within the room.
    fn of_all(&self) -> Option<usize> {
        let count = self.tokens.last().copied().unwrap_or(0) as usize;
        (self.complete && count <= self.room).then_some(count)
    }
}
