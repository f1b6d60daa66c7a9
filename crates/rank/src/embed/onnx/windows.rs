//! Long texts are cut into windows that overlap.

use std::ops::Range;

/// By how many tokens neighbouring windows overlap at least, where the window is large enough: a sentence that one
/// window cuts stands whole in the next.
const OVERLAP: usize = 64;

/// The windows of a text of so many tokens, where a window takes `capacity`, at least 1.
///
/// Each but a single one is full, and they are spread evenly: the last one starts further back instead of being short,
/// because a vector of a few words at the end of a text is near to anything.
pub(super) fn windows(tokens: usize, capacity: usize) -> Vec<Range<usize>> {
    if tokens <= capacity {
        return std::iter::once(0..tokens).collect();
    }
    let overlap = OVERLAP.min(capacity / 4);
    let steps = (tokens - capacity).div_ceil(capacity - overlap);
    let starts = (0..=steps).map(|step| (tokens - capacity) * step / steps);
    starts.map(|start| start..start + capacity).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_that_fits_is_one_window() {
        let one = |window| std::iter::once(window).collect::<Vec<_>>();
        assert_eq!(windows(0, 10), one(0..0));
        assert_eq!(windows(10, 10), one(0..10));
        assert_eq!(windows(11, 10), [0..10, 1..11]);
        assert_eq!(windows(1_200, 500), [0..500, 350..850, 700..1_200]);
        assert_eq!(windows(3, 1), [0..1, 1..2, 2..3]);
    }

    proptest! {
        #[test]
        fn windows_cover_every_token_and_overlap(tokens in 0..5_000_usize, capacity in 1..600_usize) {
            let cut = windows(tokens, capacity);
            prop_assert_eq!(cut[0].start, 0);
            prop_assert_eq!(cut.last().map(|window| window.end), Some(tokens));
            let overlap = OVERLAP.min(capacity / 4);
            for pair in cut.windows(2) {
                prop_assert!(pair[1].start + overlap <= pair[0].end && pair[0].start < pair[1].start);
            }
            prop_assert!(cut.iter().all(|window| window.len() == capacity.min(tokens)));
            prop_assert!(cut.len() <= tokens / (capacity - overlap) + 1);
        }
    }
}
