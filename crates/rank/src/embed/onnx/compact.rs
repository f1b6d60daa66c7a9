//! A `tokenizer.json` of the Unigram kind in a form that is ready when it is mapped.
//!
//! The `tokenizer.json` of a multilingual model has 250,000 pieces, 9 to 17 MB, and takes two thirds of a second to
//! parse. The compact form has the pieces in a trie, their scores, and the table of the normaliser:
//!
//! ```text
//! 8 bytes     mark
//! 12 numbers  Header
//! numbers     the trie of the normaliser's table, then the trie of the pieces
//! numbers     the special tokens in front of a text, then those behind it
//! doubles     the scores of the pieces, behind padding to eight bytes
//! bytes       the texts of the normaliser's table
//! ```
//!
//! Numbers have 32 bits in the byte order of the machine, which the mark tells.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::scratch::Sealed;
use super::trie::{self, Trie};

/// Says what the file is, in which version, and in which byte order it was written.
const MARK: u64 = 0x6861_7469_7254_4b31;

/// Words are split at white space before they get their mark.
const SPLIT_AT_SPACE: u32 = 1;
/// Several spaces become one mark or space, as [`SPACES_TO_MARK`] says.
const COLLAPSE_SPACES: u32 = 2;
const SPACES_TO_MARK: u32 = 4;
/// There is a normaliser's table.
const MAPS_CHARACTERS: u32 = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Header {
    flags: u32,
    unknown: u32,
    padding: u32,
    table: u32,
    pieces: u32,
    before: u32,
    after: u32,
    scores: u32,
    texts: u32,
    spare: [u32; 3],
}

/// What a `tokenizer.json` says, as far as it matters here.
#[derive(Debug, Deserialize)]
struct Source {
    normalizer: Option<Value>,
    pre_tokenizer: Option<Value>,
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    model: ModelSource,
}

#[derive(Debug, Deserialize)]
struct AddedToken {
    special: bool,
}

#[derive(Debug, Deserialize)]
struct ModelSource {
    #[serde(rename = "type")]
    kind: Option<String>,
    unk_id: Option<u32>,
    #[serde(default)]
    byte_fallback: bool,
    vocab: Vocabulary,
}

/// The pieces with their scores; `None` for the form of other models.
#[derive(Debug)]
struct Vocabulary(Option<Vec<(String, f64)>>);

impl<'de> Deserialize<'de> for Vocabulary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl<'de> Visitor<'de> for Read {
            type Value = Vocabulary;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a vocabulary")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Vocabulary, A::Error> {
                let mut pieces = Vec::new();
                while let Some(piece) = sequence.next_element()? {
                    pieces.push(piece);
                }
                Ok(Vocabulary(Some(pieces)))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vocabulary, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Vocabulary(None))
            }
        }

        deserializer.deserialize_any(Read)
    }
}

/// How texts get their special tokens, found out by whoever can read any `tokenizer.json`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Frame {
    /// In front of a text.
    pub(super) before: Vec<u32>,
    /// Behind it.
    pub(super) after: Vec<u32>,
    /// What shorter texts of a batch are filled up with.
    pub(super) padding: u32,
}

/// Makes the compact form, unless this is a tokeniser of another kind.
pub(super) fn compact(json: &[u8], frame: &Frame) -> Option<Vec<u8>> {
    let source: Source = serde_json::from_slice(json).ok()?;
    let model = source.model;
    let unigram = model.kind.as_deref().is_none_or(|kind| kind == "Unigram") && !model.byte_fallback;
    // Special tokens in a text are read as text; tokens that are added and not special are not.
    if !unigram || !source.added_tokens.iter().all(|token| token.special) {
        return None;
    }
    let (pieces, unknown) = (model.vocab.0?, model.unk_id?);
    let mut flags = split_flags(source.pre_tokenizer.as_ref()?)?;
    let mut table = Table::default();
    if let Some(normalizer) = &source.normalizer {
        flags |= normalizer_flags(normalizer, &mut table)?;
    }

    let mut keys = Vec::with_capacity(pieces.len());
    for (number, (piece, score)) in pieces.iter().enumerate() {
        if !score.is_finite() {
            return None;
        }
        keys.push((piece.as_bytes(), u32::try_from(number).ok()?));
    }
    keys.get(unknown as usize)?;
    keys.sort_unstable();
    let trie = trie::build(&keys).ok()?;

    let count = |length: usize| u32::try_from(length).ok();
    let header = Header {
        flags,
        unknown,
        padding: frame.padding,
        table: count(table.units.len())?,
        pieces: count(trie.len())?,
        before: count(frame.before.len())?,
        after: count(frame.after.len())?,
        scores: count(pieces.len())?,
        texts: count(table.texts.len())?,
        spare: [0; 3],
    };
    let mut made = Vec::new();
    made.extend_from_slice(&MARK.to_ne_bytes());
    made.extend_from_slice(bytemuck::bytes_of(&header));
    for numbers in [&table.units, &trie, &frame.before, &frame.after] {
        made.extend_from_slice(bytemuck::cast_slice(numbers));
    }
    made.resize(made.len().next_multiple_of(8), 0);
    for (_, score) in &pieces {
        made.extend_from_slice(&score.to_ne_bytes());
    }
    made.extend_from_slice(&table.texts);
    Some(made)
}

/// `SentencePiece`'s table of characters and what they become.
#[derive(Debug, Default)]
struct Table {
    units: Vec<u32>,
    texts: Vec<u8>,
}

fn kind(value: &Value) -> Option<&str> {
    value.get("type")?.as_str()
}

/// `Precompiled`, and a `Sequence` of it and a replacement of several spaces by one.
fn normalizer_flags(value: &Value, table: &mut Table) -> Option<u32> {
    match kind(value)? {
        "Precompiled" => {
            *table = read_table(&base64(value.get("precompiled_charsmap")?.as_str()?)?)?;
            Some(MAPS_CHARACTERS)
        }
        "Sequence" => match value.get("normalizers")?.as_array()?.as_slice() {
            [only] => normalizer_flags(only, table),
            [first, second] if kind(first)? == "Precompiled" && kind(second)? == "Replace" => {
                let several = second.get("pattern")?.get("Regex")?.as_str()? == " {2,}";
                let to_mark = match second.get("content")?.as_str()? {
                    " " => 0,
                    "\u{2581}" => SPACES_TO_MARK,
                    _ => return None,
                };
                several.then_some(normalizer_flags(first, table)? | COLLAPSE_SPACES | to_mark)
            }
            _ => None,
        },
        _ => None,
    }
}

/// `Metaspace`, or a `Sequence` of `WhitespaceSplit` and it.
fn split_flags(value: &Value) -> Option<u32> {
    match kind(value)? {
        "Metaspace" => {
            let mark = value.get("replacement")?.as_str()? == "\u{2581}";
            let split = value.get("split").is_none_or(|split| split == &Value::Bool(true));
            let scheme = value.get("prepend_scheme").is_none_or(|scheme| scheme == "always");
            let prefix = value.get("add_prefix_space").is_none_or(|prefix| prefix == &Value::Bool(true));
            (mark && split && scheme && prefix).then_some(0)
        }
        "Sequence" => match value.get("pretokenizers")?.as_array()?.as_slice() {
            [only] => split_flags(only),
            [first, second] if kind(first)? == "WhitespaceSplit" && kind(second)? == "Metaspace" => {
                Some(split_flags(second)? | SPLIT_AT_SPACE)
            }
            _ => None,
        },
        _ => None,
    }
}

/// The bytes of a text in base 64 (RFC 4648), with its padding.
fn base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    let (mut held, mut bits) = (0_u32, 0);
    for digit in digits.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        held = held << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    (bits < 6 && held == 0 && text.len() - digits.len() < 3).then_some(bytes)
}

/// The number of bytes of the trie, the trie, and texts that each end with a zero.
fn read_table(bytes: &[u8]) -> Option<Table> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    let (units, texts) = rest.split_at_checked(length)?;
    std::str::from_utf8(texts).ok()?;
    let units = units.chunks_exact(4).map(|unit| u32::from_le_bytes([unit[0], unit[1], unit[2], unit[3]])).collect();
    Some(Table { units, texts: texts.to_vec() })
}

/// Where the parts of a compact form stand.
#[derive(Debug)]
pub(super) struct Compact {
    bytes: Sealed,
    header: Header,
    numbers: usize,
    scores: usize,
    texts: usize,
    /// What an unknown character costs: ten more than the least likely piece, as `SentencePiece` has it.
    unknown_score: f64,
}

impl Compact {
    /// Reads the compact form; `None` when it is of another version or machine.
    pub(super) fn new(bytes: Sealed) -> Option<Self> {
        let numbers = 8 + size_of::<Header>();
        if bytes.get(..8)? != MARK.to_ne_bytes() {
            return None;
        }
        let header: Header = bytemuck::pod_read_unaligned(bytes.get(8..numbers)?);
        let counts = [header.table, header.pieces, header.before, header.after];
        let scores = (numbers + counts.iter().map(|count| *count as usize * 4).sum::<usize>()).next_multiple_of(8);
        let texts = scores + header.scores as usize * 8;
        if bytes.len() != texts + header.texts as usize {
            return None;
        }
        std::str::from_utf8(&bytes[texts..]).ok()?;
        bytemuck::try_cast_slice::<u8, u32>(&bytes[numbers..scores]).ok()?;
        let all_scores = bytemuck::try_cast_slice::<u8, f64>(&bytes[scores..texts]).ok()?;
        let unknown_score = all_scores.iter().copied().fold(f64::INFINITY, f64::min) - 10.0;
        Some(Self { bytes, header, numbers, scores, texts, unknown_score })
    }

    /// Numbers, from the `from`-th.
    fn numbers(&self, from: u32, count: u32) -> &[u32] {
        let start = self.numbers + from as usize * 4;
        // The slice as a whole was cast once already, when this was opened.
        bytemuck::cast_slice(&self.bytes[start..start + count as usize * 4])
    }

    pub(super) fn frame(&self) -> Frame {
        let Header { table, pieces, before, after, padding, .. } = self.header;
        Frame {
            before: self.numbers(table + pieces, before).to_vec(),
            after: self.numbers(table + pieces + before, after).to_vec(),
            padding,
        }
    }

    /// What of a text becomes something else, by its trie, and what it becomes.
    pub(super) fn table(&self) -> Option<(Trie<'_>, &str)> {
        let texts = std::str::from_utf8(&self.bytes[self.texts..]).ok()?;
        (self.header.flags & MAPS_CHARACTERS != 0).then_some((Trie::new(self.numbers(0, self.header.table)), texts))
    }

    pub(super) fn pieces(&self) -> Trie<'_> {
        Trie::new(self.numbers(self.header.table, self.header.pieces))
    }

    pub(super) fn scores(&self) -> &[f64] {
        bytemuck::cast_slice(&self.bytes[self.scores..self.texts])
    }

    pub(super) fn unknown(&self) -> (u32, f64) {
        (self.header.unknown, self.unknown_score)
    }

    pub(super) fn splits_at_space(&self) -> bool {
        self.header.flags & SPLIT_AT_SPACE != 0
    }

    /// What several spaces become.
    pub(super) fn collapsed_spaces(&self) -> Option<char> {
        let mark = if self.header.flags & SPACES_TO_MARK != 0 { '\u{2581}' } else { ' ' };
        (self.header.flags & COLLAPSE_SPACES != 0).then_some(mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_64_is_read() {
        for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg", "foob")] {
            assert_eq!(base64(text).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        assert_eq!(base64("+/8="), Some(vec![0xfb, 0xff]));
        for text in ["Z", "Zh==", "Zg===", "Z-==", "Zg==Zg==", "Zm9vY"] {
            assert_eq!(base64(text), None, "{text}");
        }
    }

    #[test]
    fn tokenisers_of_other_kinds_are_left_alone() {
        let unigram = |normalizer: &str, split: &str, model: &str, added: &str| {
            let json = format!(
                r#"{{"normalizer":{normalizer},"pre_tokenizer":{split},"added_tokens":[{added}],"model":{model}}}"#
            );
            compact(json.as_bytes(), &Frame::default()).is_some()
        };
        let metaspace = r#"{"type":"Metaspace","replacement":"▁","prepend_scheme":"always"}"#;
        let model = r#"{"type":"Unigram","unk_id":0,"vocab":[["?",0.0],["▁a",-1.5]]}"#;
        assert!(unigram("null", metaspace, model, ""));
        assert!(unigram("null", metaspace, model, r#"{"special":true}"#));
        assert!(!unigram("null", metaspace, model, r#"{"special":false}"#));
        assert!(!unigram(r#"{"type":"NFKC"}"#, metaspace, model, ""));
        assert!(!unigram(r#"{"type":"Precompiled","precompiled_charsmap":"AAA"}"#, metaspace, model, ""));
        assert!(!unigram("null", "null", model, ""));
        assert!(!unigram("null", &metaspace.replace("always", "first"), model, ""));
        assert!(!unigram("null", &metaspace.replace('▁', "_"), model, ""));
        for changed in [
            model.replace("Unigram", "BPE"),
            model.replace("[\"▁a\",-1.5]", "[\"?\",-1.5]"),
            model.replace("-1.5", "-1e999"),
            model.replace("\"unk_id\":0", "\"unk_id\":2"),
            model.replace("\"unk_id\":0", "\"unk_id\":null"),
            model.replace("\"unk_id\":0", "\"unk_id\":0,\"byte_fallback\":true"),
            r#"{"type":"WordPiece","vocab":{"a":1}}"#.to_owned(),
        ] {
            assert!(!unigram("null", metaspace, &changed, ""), "{changed}");
        }
        assert!(compact(b"{}", &Frame::default()).is_none());
    }
}
