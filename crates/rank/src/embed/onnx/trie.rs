//! A trie in one array, in the form of Darts-clone that `SentencePiece` uses for its character maps.
//!
//! Every node is a unit of 32 bits: its label (bits 0 to 7), whether a value hangs below it (bit 8), and the distance
//! to its children (bits 10 to 30, times 256 where bit 9 is set). A node at `position` has the base
//! `position ^ distance`, its child with the label `c` stands at `base ^ c`, and its value at `base` itself, in a unit
//! with bit 31 set. Two nodes never share a base, so that a label alone tells a child from a stranger.

/// Reads a trie; units from anywhere, even damaged ones, lead to wrong answers at worst.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trie<'a> {
    units: &'a [u32],
}

impl<'a> Trie<'a> {
    pub(super) fn new(units: &'a [u32]) -> Self {
        Self { units }
    }

    /// Tells of every key that the text starts with, shortest first: its length in bytes, and its value.
    pub(super) fn prefixes(self, text: &[u8], mut found: impl FnMut(usize, u32)) {
        let Some(&root) = self.units.first() else { return };
        let mut base = distance(root);
        for (at, &byte) in text.iter().enumerate() {
            // Zero is where values hang.
            if byte == 0 {
                return;
            }
            let position = base ^ usize::from(byte);
            let Some(&unit) = self.units.get(position) else { return };
            if unit & LABEL != u32::from(byte) {
                return;
            }
            base = position ^ distance(unit);
            if unit & HAS_VALUE != 0 {
                let Some(&value) = self.units.get(base) else { return };
                found(at + 1, value & !IS_VALUE);
            }
        }
    }
}

const IS_VALUE: u32 = 1 << 31;
const HAS_VALUE: u32 = 1 << 8;
/// The bits that must agree with a byte: those of the label, and the one that values have.
const LABEL: u32 = IS_VALUE | 0xff;

fn distance(unit: u32) -> usize {
    ((unit >> 10) << ((unit & (1 << 9)) >> 6)) as usize
}

/// Why keys do not fit into a trie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unfit {
    /// A key is empty, has a zero byte, or comes twice.
    Key,
    /// There are too many of them, or a value is too large.
    Size,
}

/// Makes the units of a trie from keys in ascending order of their bytes.
pub(super) fn build(keys: &[(&[u8], u32)]) -> Result<Vec<u32>, Unfit> {
    let sound = |key: &[u8]| !key.is_empty() && !key.contains(&0);
    if !keys.iter().all(|(key, _)| sound(key)) || keys.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
        return Err(Unfit::Key);
    }
    if keys.iter().any(|(_, value)| value & IS_VALUE != 0) {
        return Err(Unfit::Size);
    }
    let mut builder = Builder::default();
    builder.grow();
    builder.take(0);
    // Nodes that wait for their children: position, depth, and the range of keys below.
    let mut waiting = vec![(0, 0, 0, keys.len())];
    let mut children = Vec::new();
    while let Some((position, depth, from, to)) = waiting.pop() {
        if from == to {
            continue;
        }
        children.clear();
        let mut start = from;
        let value = (keys[start].0.len() == depth).then(|| keys[start].1);
        start += usize::from(value.is_some());
        while start < to {
            let label = keys[start].0[depth];
            let end = start + keys[start..to].partition_point(|(key, _)| key[depth] == label);
            children.push((label, start, end));
            start = end;
        }
        let base = builder.place(position, value, &children)?;
        waiting.extend(children.iter().map(|&(label, from, to)| (base ^ usize::from(label), depth + 1, from, to)));
    }
    Ok(builder.units)
}

/// How many units at the end are searched for room. Older ones are full, or nearly so: the time that a search of them
/// would take is worth more than their gaps.
const SEARCHED: usize = 16 * 256;

#[derive(Default)]
struct Builder {
    units: Vec<u32>,
    taken: Vec<bool>,
    /// Which positions are the base of a node.
    bases: Vec<bool>,
    /// Free positions, in ascending order, within the part that is searched.
    free: std::collections::BTreeSet<usize>,
}

impl Builder {
    fn grow(&mut self) {
        let length = self.units.len();
        self.units.resize(length + 256, 0);
        self.taken.resize(length + 256, false);
        self.bases.resize(length + 256, false);
        self.free.extend(length..length + 256);
        let oldest = self.units.len().saturating_sub(SEARCHED);
        self.free = self.free.split_off(&oldest);
    }

    fn take(&mut self, position: usize) {
        self.taken[position] = true;
        self.free.remove(&position);
    }

    /// Finds room for a node's children and its value, and connects them. Returns the node's base.
    fn place(&mut self, position: usize, value: Option<u32>, children: &[(u8, usize, usize)]) -> Result<usize, Unfit> {
        // A value stands where a child with the label zero would.
        let first = if value.is_some() { 0 } else { children[0].0 };
        let fits = |builder: &Self, free: usize| {
            let base = free ^ usize::from(first);
            let reachable = position ^ base < 1 << 21 || (position ^ base).is_multiple_of(256);
            let free = |label: u8| !builder.taken[base ^ usize::from(label)];
            (reachable && !builder.bases[base] && children.iter().all(|child| free(child.0))).then_some(base)
        };
        // All positions of a block of 256 exist, and a base and its children share a block.
        let mut found = self.free.iter().find_map(|&free| fits(self, free));
        while found.is_none() {
            let fresh = self.units.len();
            if fresh > 1 << 28 {
                return Err(Unfit::Size);
            }
            self.grow();
            found = (fresh..fresh + 256).find_map(|free| fits(self, free));
        }
        let base = found.unwrap_or_default();
        self.bases[base] = true;
        let distance = (position ^ base) as u32;
        self.units[position] |= if distance < 1 << 21 { distance << 10 } else { distance >> 8 << 10 | 1 << 9 };
        if let Some(value) = value {
            self.units[position] |= HAS_VALUE;
            self.units[base] = IS_VALUE | value;
            self.take(base);
        }
        for &(label, ..) in children {
            self.units[base ^ usize::from(label)] = u32::from(label);
            self.take(base ^ usize::from(label));
        }
        Ok(base)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn trie_of(map: &BTreeMap<Vec<u8>, u32>) -> Vec<u32> {
        let keys: Vec<(&[u8], u32)> = map.iter().map(|(key, value)| (key.as_slice(), *value)).collect();
        build(&keys).unwrap()
    }

    fn prefixes(units: &[u32], text: &[u8]) -> Vec<(usize, u32)> {
        let mut found = Vec::new();
        Trie::new(units).prefixes(text, |length, value| found.push((length, value)));
        found
    }

    #[test]
    fn prefixes_come_shortest_first() {
        let map = [("a", 1), ("ab", 0), ("abcd", 7), ("b", 9)].map(|(key, value)| (key.as_bytes().to_vec(), value));
        let units = trie_of(&map.into());
        assert_eq!(prefixes(&units, b"abcde"), [(1, 1), (2, 0), (4, 7)]);
        assert_eq!(prefixes(&units, b"abc"), [(1, 1), (2, 0)]);
        assert_eq!(prefixes(&units, b"c"), []);
        assert_eq!(prefixes(&units, b"a\0b"), [(1, 1)]);
        assert_eq!(prefixes(&[], b"a"), []);
        assert_eq!(prefixes(&build(&[]).unwrap(), b"a"), []);
    }

    #[test]
    fn keys_that_no_trie_holds_are_refused() {
        for keys in [&[(&b""[..], 1)][..], &[(b"a\0", 1)], &[(b"b", 1), (b"a", 1)], &[(b"a", 1), (b"a", 2)]] {
            assert_eq!(build(keys), Err(Unfit::Key));
        }
        assert_eq!(build(&[(b"a", 1 << 31)]), Err(Unfit::Size));
    }

    proptest! {
        #[test]
        fn exactly_the_keys_are_found(
            map in proptest::collection::btree_map(
                proptest::collection::vec(1..=255_u8, 1..6), 0..1_u32 << 31, 0..300),
            texts in proptest::collection::vec(proptest::collection::vec(0..=255_u8, 0..8), 20),
        ) {
            let units = trie_of(&map);
            for text in texts.iter().chain(map.keys()) {
                let expected: Vec<(usize, u32)> = (1..=text.len())
                    .filter_map(|length| map.get(&text[..length]).map(|value| (length, *value)))
                    .collect();
                prop_assert_eq!(prefixes(&units, text), expected);
            }
        }

        #[test]
        fn damaged_units_do_no_harm(units in proptest::collection::vec(any::<u32>(), 0..600), text in ".{0,20}") {
            prefixes(&units, text.as_bytes());
        }
    }
}
