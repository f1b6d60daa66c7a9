//! Cuts text into the pieces of a Unigram model (T. Kudo, "Subword Regularization", 2018, section 3.1), as `SentencePiece`
//! and the library `tokenizers` do: the same text gives the same numbers.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

use super::compact::Compact;

/// Stands where a space was; every word starts with it.
const MARK: char = '\u{2581}';

/// Appends the numbers of a text's pieces, without special tokens.
pub(super) fn encode(compact: &Compact, text: &str, numbers: &mut Vec<u32>) {
    let text = normalise(compact, text);
    let mut best = Best::default();
    let mut word = String::new();
    if compact.splits_at_space() {
        for part in text.split(char::is_whitespace).filter(|part| !part.is_empty()) {
            encode_marked(compact, part, &mut word, &mut best, numbers);
        }
    } else if !text.is_empty() {
        let marked = text.replace(' ', "\u{2581}");
        encode_marked(compact, &marked, &mut word, &mut best, numbers);
    }
}

/// A part of a text, which gets its mark, and is cut in front of each mark.
fn encode_marked(compact: &Compact, part: &str, word: &mut String, best: &mut Best, numbers: &mut Vec<u32>) {
    word.clear();
    if !part.starts_with(MARK) {
        word.push(MARK);
    }
    word.push_str(part);
    let mut rest = word.as_str();
    while !rest.is_empty() {
        // A mark has three bytes; the next one ends this word.
        let end = rest[MARK.len_utf8()..].find(MARK).map_or(rest.len(), |at| at + MARK.len_utf8());
        best.encode(compact, &rest[..end], numbers);
        rest = &rest[end..];
    }
}

/// Replaces characters by the normaliser's table, and several spaces by one.
fn normalise<'t>(compact: &Compact, text: &'t str) -> Cow<'t, str> {
    let Some((table, texts)) = compact.table() else { return collapse(compact, Cow::Borrowed(text)) };
    // The shortest beginning that the table knows decides for the whole, as in `tokenizers`.
    let replacement = |part: &str| {
        let mut at = None;
        table.prefixes(part.as_bytes(), |_, value| at = at.or(Some(value as usize)));
        let found = texts.get(at?..)?;
        found.split('\0').next()
    };
    let mut made = String::with_capacity(text.len() + 16);
    let by_character = |part: &str, made: &mut String| {
        let mut buffer = [0; 4];
        for character in part.chars() {
            match replacement(character.encode_utf8(&mut buffer)) {
                Some(found) => made.push_str(found),
                None => made.push(character),
            }
        }
    };
    // In ASCII the only cluster of several characters is CR LF.
    if text.is_ascii() && !text.contains('\r') {
        by_character(text, &mut made);
    } else {
        for cluster in text.graphemes(true) {
            match (cluster.len() < 6).then(|| replacement(cluster)).flatten() {
                Some(found) => made.push_str(found),
                None => by_character(cluster, &mut made),
            }
        }
    }
    collapse(compact, Cow::Owned(made))
}

fn collapse<'t>(compact: &Compact, text: Cow<'t, str>) -> Cow<'t, str> {
    let Some(one) = compact.collapsed_spaces().filter(|_| text.contains("  ")) else { return text };
    let mut made = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some(at) = rest.find("  ") {
        made.push_str(&rest[..at]);
        made.push(one);
        rest = rest[at..].trim_start_matches(' ');
    }
    made.push_str(rest);
    Cow::Owned(made)
}

/// The best way to cut a word, found from its start to its end (Viterbi); kept from word to word for its memory.
#[derive(Debug, Default)]
struct Best {
    ends: Vec<Option<End>>,
    reversed: Vec<u32>,
}

/// The best way to cut a word up to a place: the last piece, where it starts, and the score of all of them.
#[derive(Debug, Clone, Copy)]
struct End {
    piece: u32,
    start: usize,
    score: f64,
}

impl Best {
    fn encode(&mut self, compact: &Compact, word: &str, numbers: &mut Vec<u32>) {
        let (pieces, scores) = (compact.pieces(), compact.scores());
        let (unknown, unknown_score) = compact.unknown();
        self.ends.clear();
        self.ends.resize(word.len() + 1, None);
        for (start, character) in word.char_indices() {
            let before = self.ends[start].map_or(0.0, |end| end.score);
            let ends = &mut self.ends;
            let mut offer = |length: usize, piece: u32, score: f64| {
                let score = score + before;
                // Of equal ones the first stays, which is the longer last piece.
                if let Some(end) = ends.get_mut(start + length)
                    && end.is_none_or(|end| score > end.score)
                {
                    *end = Some(End { piece, start, score });
                }
            };
            let mut known = false;
            pieces.prefixes(&word.as_bytes()[start..], |length, piece| {
                // A piece ends where a character ends, and a number without a score is no piece: both always hold for
                // what was compiled from a vocabulary.
                if let Some(&score) = scores.get(piece as usize)
                    && word.is_char_boundary(start + length)
                {
                    known |= length == character.len_utf8();
                    offer(length, piece, score);
                }
            });
            if !known {
                offer(character.len_utf8(), unknown, unknown_score);
            }
        }
        self.reversed.clear();
        let mut at = word.len();
        while let Some(End { piece, start, .. }) = self.ends[at].filter(|_| at > 0) {
            // Unknown characters in a row are one unknown piece.
            if piece != unknown || self.reversed.last() != Some(&unknown) {
                self.reversed.push(piece);
            }
            at = start;
        }
        numbers.extend(self.reversed.iter().rev());
    }
}

#[cfg(test)]
mod tests {
    use super::super::compact::{Frame, compact};
    use super::super::scratch::Scratch;
    use super::*;

    use proptest::prelude::*;
    use tokenizers::Tokenizer;

    /// Tokenisers of all shapes that have a compact form, over a small vocabulary: 0 to 9 and some pairs and triples of
    /// letters, with and without marks.
    fn tokenisers() -> Vec<(Tokenizer, Compact)> {
        let pieces = [
            ("<s>", 0.0),
            ("<unk>", 0.0),
            ("▁", -3.0),
            ("a", -4.0),
            ("b", -4.25),
            ("ç", -5.0),
            ("ab", -6.5),
            ("▁ab", -7.5),
            ("▁a", -6.0),
            ("abç", -9.5),
            ("bç", -9.25),
            (" ", -8.0),
            ("?", -7.0),
            ("▁▁", -4.0),
        ];
        let vocabulary: Vec<String> = pieces
            .iter()
            .map(|(piece, score)| format!("[{},{score:?}]", serde_json::to_string(piece).unwrap()))
            .collect();
        // 'A' becomes "ab", "é" in two characters becomes "?", U+200B goes, a tab becomes a space.
        let (keys, texts) = (
            [("\t", 0), ("A", 2), ("e\u{301}", 5), ("\u{200b}", 7)].map(|(key, at): (&str, u32)| (key.as_bytes(), at)),
            " \0ab\0?\0\0",
        );
        let units = super::super::trie::build(&keys).unwrap();
        let mut table = ((units.len() * 4) as u32).to_le_bytes().to_vec();
        table.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
        table.extend(texts.as_bytes());
        let precompiled = format!(r#"{{"type":"Precompiled","precompiled_charsmap":"{}"}}"#, encoded(&table));
        let collapsing = |content: &str| {
            format!(
                r#"{{"type":"Sequence","normalizers":[{precompiled},
                {{"type":"Replace","pattern":{{"Regex":" {{2,}}"}},"content":"{content}"}}]}}"#
            )
        };
        let metaspace = r#"{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true}"#;
        let splitting = format!(r#"{{"type":"Sequence","pretokenizers":[{{"type":"WhitespaceSplit"}},{metaspace}]}}"#);
        let place = tempfile::tempdir().unwrap();
        let mut made = Vec::new();
        for normalizer in ["null".to_owned(), precompiled.clone(), collapsing(" "), collapsing("▁")] {
            for split in [metaspace, &splitting] {
                let json = format!(
                    r#"{{"version":"1.0","added_tokens":[{{"id":0,"content":"<s>","single_word":false,"lstrip":false,
                    "rstrip":false,"normalized":false,"special":true}}],"normalizer":{normalizer},
                    "pre_tokenizer":{split},"post_processor":null,"decoder":null,"truncation":null,"padding":null,
                    "model":{{"type":"Unigram","unk_id":1,"vocab":[{}]}}}}"#,
                    vocabulary.join(",")
                );
                let mut tokenizer = Tokenizer::from_bytes(&json).unwrap();
                tokenizer.set_encode_special_tokens(true);
                let scratch = Scratch::new(place.path());
                scratch.write("t", &compact(json.as_bytes(), &Frame::default()).unwrap()).unwrap();
                made.push((tokenizer, Compact::new(scratch.open("t").unwrap()).unwrap()));
            }
        }
        made
    }

    /// The other way round: bytes in base 64.
    fn encoded(bytes: &[u8]) -> String {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let digit = |group: &[u8], at: usize| {
            let bits =
                group.iter().enumerate().fold(0_u32, |bits, (place, byte)| bits | u32::from(*byte) << (16 - 8 * place));
            DIGITS[(bits >> (18 - 6 * at) & 63) as usize] as char
        };
        bytes.chunks(3).flat_map(|group| (0..=group.len()).map(move |at| digit(group, at))).collect()
    }

    fn agree(tokenisers: &[(Tokenizer, Compact)], text: &str) {
        for (shape, (tokenizer, compact)) in tokenisers.iter().enumerate() {
            let expected = tokenizer.encode_fast(text, false).unwrap();
            let mut numbers = Vec::new();
            encode(compact, text, &mut numbers);
            assert_eq!(numbers, expected.get_ids(), "{text:?} in shape {shape}");
        }
    }

    #[test]
    fn the_pieces_are_those_of_the_library() {
        let tokenisers = tokenisers();
        let texts = [
            "",
            " ",
            "  ",
            "a",
            "ab",
            "abç",
            "ab ab",
            " ab",
            "ab ",
            "ab  b",
            "a\tb",
            "A",
            "xyz",
            "axyzb",
            "<s>",
            "<s>a",
            "▁",
            "▁▁ab",
            "a▁b",
            "e\u{301}",
            "ae\u{301}\u{301}",
            "a\u{200b}b",
            "\u{200b}",
            "a\r\nb",
            "🙂a🙂🙂",
            "\0",
            "a\0b",
            "\u{a0}a\u{3000}b",
            "?? ?",
        ];
        for text in texts {
            agree(&tokenisers, text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn the_pieces_are_those_of_the_library_for_any_text(
            texts in proptest::collection::vec("[abçA?▁x \t\r\ne\u{301}\u{200b}<s>]{0,24}|\\PC{0,12}", 8),
        ) {
            let tokenisers = tokenisers();
            for text in &texts {
                agree(&tokenisers, text);
            }
        }
    }
}
