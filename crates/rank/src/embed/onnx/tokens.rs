//! Text becomes the numbers of its tokens.

use std::fs;
use std::path::Path;

use tokenizers::Tokenizer;

use super::compact::{Compact, Frame, compact};
use super::scratch::Scratch;
use super::unigram;

/// A tokeniser: what `tokenizer.json` describes.
#[derive(Debug)]
pub(super) struct Tokens {
    kind: Kind,
    frame: Frame,
}

#[derive(Debug)]
enum Kind {
    /// Of the Unigram kind, mapped from the cache.
    Compact(Compact),
    /// Any other, or any while there is no cache.
    General(Box<Tokenizer>),
}

/// Texts that the compact form must cut as the library does before it is used: writing systems, marks, controls,
/// special tokens, and lengths.
const PROBES: &[&str] = &[
    "",
    " ",
    "  two  spaces ",
    "The refund is paid within 14 days of the return.",
    "İade, ürünün dönüşünden sonraki 14 gün içinde ödenir; IŞIK ılık ığdır.",
    "query: Ğ ğ İ ı Ş ş Ç ç Ö ö Ü ü â î û",
    "fn main() { println!(\"{}\", snake_case::camelCase(0x1F)); } // #140 --flag=a/b.rs",
    "tab\tline\nline\r\nform\u{c}feed\u{b}\u{85}\u{2028}end",
    "\u{a0}no\u{2007}break\u{3000}ideographic\u{200b}zero\u{feff}width\u{ad}soft",
    "e\u{301} u\u{308} i\u{307} s\u{327} n\u{303} a\u{302}\u{301} o\u{31b}\u{323}",
    "ﬁ ﬂ ½ ² ™ № ㎏ ① ﷺ ｶﾞ ＡＢＣ１２３ ～",
    "日本語のテキストと中文文本，以及标点。한국어 문장 ㄱㅏ 각",
    "Русский текст, ελληνικά, עברית, العربية مُشَكَّل, हिन्दी ज़्, ไทย, ქართული, አማርኛ",
    "🙂 👩‍👩‍👧‍👦 🇹🇷 👍🏽 ✈️ e🙂e",
    "<s> </s> <unk> <pad> <mask> [CLS] [SEP] [MASK]",
    "▁ ▁▁ a▁b ▁a",
    "\u{1}\u{7f}\u{9f}\0zero",
    "\u{10ffff}\u{e000}\u{1f1e6}\u{fffd}",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "https://example.org/a?b=c&d=%20#e user@example.org 2026-03-01T12:00:00Z 3,14 1.000.000",
];

impl Tokens {
    /// Opens `tokenizer.json`; `key` tells its content from any other's.
    pub(super) fn open(path: &Path, key: &str, scratch: Option<&Scratch>) -> Result<Self, String> {
        let name = format!("tokens-{key}");
        if let Some(scratch) = scratch
            && let Some(compact) = scratch.open(&name).and_then(Compact::new)
        {
            return Ok(Self { frame: compact.frame(), kind: Kind::Compact(compact) });
        }
        let json = fs::read(path).map_err(|error| format!("tokenizer.json cannot be read: {error}"))?;
        let general = Self::general(&json)?;
        let compact = scratch.and_then(|scratch| {
            scratch.write(&name, &compact(&json, &general.frame)?).ok()?;
            let compact =
                Self { frame: general.frame.clone(), kind: Kind::Compact(Compact::new(scratch.open(&name)?)?) };
            // A tokeniser whose compact form cuts otherwise is one that we do not understand.
            let agrees = PROBES.iter().all(|probe| compact.numbers(probe).ok() == general.numbers(probe).ok());
            if !agrees {
                scratch.remove(&name);
            }
            agrees.then_some(compact)
        });
        Ok(compact.unwrap_or(general))
    }

    /// Reads a tokeniser of any kind.
    fn general(json: &[u8]) -> Result<Self, String> {
        let unreadable = |error: tokenizers::Error| format!("tokenizer.json cannot be read: {error}");
        let mut tokenizer = Tokenizer::from_bytes(json).map_err(unreadable)?;
        // Windows are cut here, and batches filled up. What looks like a special token in a text is text.
        tokenizer.with_truncation(None).map_err(unreadable)?;
        tokenizer.with_padding(None);
        tokenizer.set_encode_special_tokens(true);
        let padding = ["<pad>", "[PAD]"].iter().find_map(|token| tokenizer.token_to_id(token)).unwrap_or(0);

        // Which special tokens a text gets is only seen on a text.
        let probe = "a";
        let framed = tokenizer.encode_fast(probe, true).map_err(unreadable)?;
        let bare = tokenizer.encode_fast(probe, false).map_err(unreadable)?;
        let (framed, bare) = (framed.get_ids(), bare.get_ids());
        let at = framed.windows(bare.len().max(1)).position(|part| part == bare).filter(|_| !bare.is_empty());
        let at = at.ok_or("tokenizer.json gives the letter `a` no token, or another one between special tokens")?;
        let frame = Frame { before: framed[..at].to_vec(), after: framed[at + bare.len()..].to_vec(), padding };
        Ok(Self { kind: Kind::General(Box::new(tokenizer)), frame })
    }

    /// The numbers of a text's tokens, without special tokens.
    pub(super) fn numbers(&self, text: &str) -> Result<Vec<u32>, String> {
        match &self.kind {
            Kind::Compact(compact) => {
                let mut numbers = Vec::new();
                unigram::encode(compact, text, &mut numbers);
                Ok(numbers)
            }
            Kind::General(tokenizer) => {
                let encoding = tokenizer.encode_fast(text, false);
                let encoding = encoding.map_err(|error| format!("the tokeniser fails: {error}"))?;
                Ok(encoding.get_ids().to_vec())
            }
        }
    }

    /// The special tokens around a text, and what a batch is filled up with.
    pub(super) fn frame(&self) -> &Frame {
        &self.frame
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// The folder of the real model; `tests/onnx.rs` says where it is looked for.
    fn model() -> Option<PathBuf> {
        let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|value| !value.as_os_str().is_empty());
        let data = || variable("XDG_DATA_HOME").or_else(|| Some(variable("HOME")?.join(".local/share")));
        let models = variable("HATIR_MODELS").or_else(|| Some(data()?.join("hatir/models")));
        let found = models.map(|models| models.join("multilingual-e5-small")).filter(|folder| folder.is_dir());
        if found.is_none() {
            assert!(variable("HATIR_REQUIRE_MODEL").is_none(), "there is no model: run tools/models/setup");
            println!("skipped: there is no model; tools/models/setup brings it");
        }
        found
    }

    /// Thousands of texts: all characters of the first planes, in words and alone; letters with marks, whole and apart;
    /// and words of several languages, code and spaces put together at random.
    fn texts() -> Vec<String> {
        let mut texts: Vec<String> = PROBES.iter().map(|probe| (*probe).to_owned()).collect();
        let characters: Vec<char> = (0..0x2_0000).chain(0xe_0000..0xe_0200).filter_map(char::from_u32).collect();
        for some in characters.chunks(48) {
            texts.push(some.iter().collect());
            texts.push(some.iter().flat_map(|&character| ['a', character, ' ']).collect());
        }
        let marks = [
            '\u{300}', '\u{301}', '\u{302}', '\u{303}', '\u{306}', '\u{307}', '\u{308}', '\u{30c}', '\u{323}',
            '\u{327}',
        ];
        for letter in ('a'..='z').chain('A'..='Z').chain("ıİâêğüöαεοиа".chars()) {
            texts.push(marks.iter().flat_map(|&mark| [letter, mark, ' ']).collect());
            texts.push(marks.iter().flat_map(|&mark| ['x', letter, mark, '\u{301}', 'y', ' ']).collect());
        }
        let words: Vec<&str> = PROBES.iter().flat_map(|probe| probe.split(' ')).collect();
        let spaces = [" ", "  ", "\n", "", "\u{a0}", "▁", "-", "\r\n", "\u{200b}", " \t "];
        let mut state = 88_172_645_463_325_252_u64;
        let mut below = |limit: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % limit as u64) as usize
        };
        for _ in 0..2_000 {
            let length = 1 + below(12);
            let text = (0..length).flat_map(|_| [words[below(words.len())], spaces[below(spaces.len())]]);
            texts.push(text.collect());
        }
        texts
    }

    #[test]
    fn the_compact_form_of_the_model_cuts_as_the_library_does() {
        let Some(model) = model() else { return };
        let place = tempfile::tempdir().unwrap();
        let path = model.join("tokenizer.json");
        let general = Tokens::open(&path, "key", None).unwrap();
        let scratch = Scratch::new(place.path());
        // Made, and read back.
        for _ in 0..2 {
            let compact = Tokens::open(&path, "key", Some(&scratch)).unwrap();
            assert!(matches!(compact.kind, Kind::Compact(_)));
            assert_eq!(compact.frame, general.frame);
            assert_eq!(compact.frame, Frame { before: vec![0], after: vec![2], padding: 1 });
        }
        let compact = Tokens::open(&path, "key", Some(&scratch)).unwrap();
        let texts = texts();
        assert!(texts.len() > 7_000);
        for text in &texts {
            assert_eq!(compact.numbers(text), general.numbers(text), "{text:?}");
        }
    }
}
