//! The text that [`fit`] makes is never over its limit, and as full as it can be.

use hatir_budget::{CountTokens, Encoding, FitOptions, Fitted, Item, TokenCounter, fit};
use proptest::prelude::*;

fn items(texts: &[&str]) -> Vec<Item> {
    texts.iter().enumerate().map(|(index, text)| Item::new(format!("item {index}"), *text)).collect()
}

fn whole_only() -> FitOptions {
    FitOptions { cut: false, ..FitOptions::default() }
}

fn kept(fitted: &Fitted) -> Vec<usize> {
    fitted.kept.iter().map(|kept| kept.index).collect()
}

#[test]
fn everything_is_kept_when_it_fits() {
    let counter = TokenCounter::default();
    let items = items(&["First.", "Second.", "Third."]);
    let fitted = fit(&items, 1_000, &counter, &FitOptions::default());
    assert_eq!(fitted.text, "First.\n\nSecond.\n\nThird.");
    assert_eq!(kept(&fitted), [0, 1, 2]);
    assert_eq!(fitted.dropped, [0; 0]);
    assert_eq!(fitted.tokens, counter.count(&fitted.text));
    assert_eq!(fitted.raw_tokens, fitted.tokens);
}

#[test]
fn the_limit_is_met_exactly() {
    let counter = TokenCounter::default();
    let items = items(&["First.", "Second.", "Third."]);
    let needed = counter.count("First.\n\nSecond.\n\nThird.");
    assert_eq!(kept(&fit(&items, needed, &counter, &whole_only())), [0, 1, 2]);
    assert_eq!(kept(&fit(&items, needed - 1, &counter, &whole_only())), [0, 1]);
}

#[test]
fn the_first_that_does_not_fit_is_cut_at_a_word() {
    let long = "The refund takes thirty days from the day on which the parcel arrived. ".repeat(20);
    let items = items(&["Short.", &long, "Never reached."]);
    let fitted = fit(&items, 50, &TokenCounter::default(), &FitOptions::default());
    assert_eq!(kept(&fitted), [0, 1]);
    assert!(!fitted.kept[0].cut && fitted.kept[1].cut);
    let piece = &fitted.kept[1].text;
    assert!(long.starts_with(piece.as_str()) && long[piece.len()..].starts_with(' '), "{piece:?}");
    assert_eq!(fitted.dropped, [2]);
    assert!((45..=50).contains(&fitted.tokens), "{}", fitted.tokens);
    assert!(fitted.raw_tokens > 280);
}

#[test]
fn a_piece_too_small_to_be_of_use_is_not_kept() {
    let items = items(&["one two three four five six seven eight nine ten", "small"]);
    let options = FitOptions { minimum_tokens: 8, ..FitOptions::default() };
    let fitted = fit(&items, 7, &TokenCounter::default(), &options);
    assert_eq!(fitted.text, "small", "the room goes to a later item that fits");
    assert_eq!(fitted.dropped, [0]);
    assert_eq!(fit(&items, 8, &TokenCounter::default(), &options).text, "one two three four five six seven eight");
}

#[test]
fn later_smaller_items_fill_the_room_in_their_order() {
    let long = "word ".repeat(200);
    let items = items(&["alpha", &long, "beta", &long, "gamma"]);
    let fitted = fit(&items, 20, &TokenCounter::default(), &whole_only());
    assert_eq!(fitted.text, "alpha\n\nbeta\n\ngamma");
    assert_eq!(fitted.dropped, [1, 3]);
}

#[test]
fn nothing_fits_into_nothing() {
    let fitted = fit(&items(&["a", "", "b"]), 0, &TokenCounter::default(), &FitOptions::default());
    assert_eq!((fitted.text.as_str(), fitted.tokens), ("", 0));
    assert_eq!(kept(&fitted), [1]);
    assert_eq!(fitted.dropped, [0, 2]);
    assert_eq!(fitted.raw_tokens, TokenCounter::default().count("a\n\nb"));
    assert_eq!(fit(&[], 10, &TokenCounter::default(), &FitOptions::default()), Fitted::default());
}

#[test]
fn an_empty_item_gets_no_separator() {
    let fitted = fit(&items(&["", "a", "", "b", ""]), 10, &TokenCounter::default(), &FitOptions::default());
    assert_eq!(fitted.text, "a\n\nb");
    assert_eq!(kept(&fitted), [0, 1, 2, 3, 4]);
}

#[test]
fn equal_texts_each_have_their_place() {
    let fitted = fit(&items(&["same", "same", "same"]), 3, &TokenCounter::default(), &whole_only());
    assert_eq!(fitted.text, "same\n\nsame");
    assert_eq!(fitted.dropped, [2]);
}

#[test]
fn the_separator_is_counted() {
    let options = FitOptions { separator: "\n\n=== next ===\n\n".to_owned(), cut: false, ..FitOptions::default() };
    let counter = TokenCounter::default();
    let fitted = fit(&items(&["a", "b", "c"]), 8, &counter, &options);
    assert_eq!(fitted.text, "a\n\n=== next ===\n\nb");
    assert_eq!(fitted.tokens, counter.count(&fitted.text));
}

#[test]
fn a_counter_that_cuts_too_late_does_not_break_the_limit() {
    /// Counts words, and says of everything that it fits.
    struct Careless;
    impl CountTokens for Careless {
        fn count(&self, text: &str) -> usize {
            text.split_whitespace().count()
        }
        fn cut_at<'t>(&self, text: &'t str, _: usize) -> &'t str {
            text
        }
    }
    let fitted = fit(&items(&["one two", "three", "four five"]), 3, &Careless, &FitOptions::default());
    assert_eq!(fitted.text, "one two\n\nthree");
    assert_eq!((fitted.tokens, fitted.dropped), (3, vec![2]));
}

#[test]
fn a_huge_item_among_small_ones() {
    let huge = "x".repeat(1 << 20);
    let fitted = fit(&items(&["small", &huge]), 100, &TokenCounter::default(), &FitOptions::default());
    assert!(fitted.kept[1].cut);
    assert_eq!(fitted.tokens, 100);
    assert!(fitted.raw_tokens > 60_000);
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    let word = prop::sample::select(vec![
        "word", " ", "\n", ".", "ğ", "İade", " the", "!!", "漢字", "🙂", "'s", "ABC", "123", "    ", "-", "\r\n",
        "\u{301}",
    ]);
    let text = prop::collection::vec(word, 0..30).prop_map(|words| words.concat());
    prop::collection::vec(text, 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_holds_for_all(
        texts in texts(),
        limit in 0_usize..80,
        minimum_tokens in 0_usize..6,
        cut in any::<bool>(),
        separator in prop::sample::select(vec!["", "\n\n", " ", "\n---\n", "a"]),
        encoding in prop::sample::select(Encoding::ALL.to_vec()),
    ) {
        let counter = TokenCounter::new(encoding);
        let items: Vec<Item> = texts.iter().map(|text| Item::new("", text.as_str())).collect();
        let options = FitOptions { separator: separator.to_owned(), minimum_tokens, cut };
        let fitted = fit(&items, limit, &counter, &options);

        // Within the limit, and counted exactly.
        prop_assert!(fitted.tokens <= limit);
        prop_assert_eq!(fitted.tokens, counter.count(&fitted.text));
        let join = |texts: Vec<&str>| texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(separator);
        prop_assert_eq!(fitted.raw_tokens, counter.count(&join(texts.iter().map(String::as_str).collect())));

        // The text is what was kept, and each item is in one of the two lists.
        prop_assert_eq!(&fitted.text, &join(fitted.kept.iter().map(|kept| kept.text.as_str()).collect()));
        let mut all: Vec<usize> = kept(&fitted);
        prop_assert!(all.is_sorted());
        prop_assert!(fitted.dropped.is_sorted());
        all.extend(&fitted.dropped);
        all.sort_unstable();
        prop_assert_eq!(all, (0..items.len()).collect::<Vec<_>>());

        // Whole items are whole, at most one is cut, and only when it was worth it.
        for kept in &fitted.kept {
            prop_assert_eq!(kept.tokens, counter.count(&kept.text));
            if kept.cut {
                prop_assert!(options.cut && kept.tokens >= minimum_tokens);
                prop_assert!(texts[kept.index].starts_with(&kept.text) && kept.text.len() < texts[kept.index].len());
            } else {
                prop_assert_eq!(&kept.text, &texts[kept.index]);
            }
        }
        prop_assert!(fitted.kept.iter().filter(|kept| kept.cut).count() <= 1);

        // What was dropped did not fit behind what came before it.
        if !fitted.kept.iter().any(|kept| kept.cut) {
            for &index in &fitted.dropped {
                let before = fitted.kept.iter().filter(|kept| kept.index < index).map(|kept| kept.text.as_str());
                prop_assert!(counter.count(&join(before.chain([texts[index].as_str()]).collect())) > limit);
            }
        }
    }
}
