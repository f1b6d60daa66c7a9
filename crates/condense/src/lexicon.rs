//! A table from a word to what the language lets it be.
//!
//! Only closed classes (pronouns, prepositions, question words) and general vocabulary stand in such a table: no subject
//! matter. What a conversation is about is found in the conversation.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A set of word classes, one bit each; every language names its own.
pub(crate) type Classes = u32;

/// Fowler–Noll–Vo, 1a: short keys, no attacker (the table is fixed).
#[derive(Default)]
pub(crate) struct Fnv(u64);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        let mut hash = if self.0 == 0 { 0xcbf2_9ce4_8422_2325 } else { self.0 };
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Words and their classes.
#[derive(Default)]
pub(crate) struct Lexicon {
    words: HashMap<String, Classes, BuildHasherDefault<Fnv>>,
}

impl Lexicon {
    /// Adds a class to each word of a list separated by white space.
    pub(crate) fn add(&mut self, classes: Classes, words: &str) {
        for word in words.split_whitespace() {
            self.add_word(classes, word);
        }
    }

    /// Adds a class to one word.
    pub(crate) fn add_word(&mut self, classes: Classes, word: &str) {
        if let Some(entry) = self.words.get_mut(word) {
            *entry |= classes;
        } else {
            self.words.insert(word.to_owned(), classes);
        }
    }

    /// The classes of a word in lower case; 0 when it is not in the table.
    pub(crate) fn get(&self, word: &str) -> Classes {
        self.words.get(word).copied().unwrap_or(0)
    }
}
