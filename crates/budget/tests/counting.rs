//! Counts agree with tiktoken, and cuts are the longest that fit.

use hatir_budget::{CountTokens, Encoding, TokenCounter};
use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

fn reference(encoding: Encoding) -> &'static CoreBPE {
    match encoding {
        Encoding::Cl100kBase => tiktoken_rs::cl100k_base_singleton(),
        Encoding::O200kBase => tiktoken_rs::o200k_base_singleton(),
    }
}

fn check_count(text: &str) {
    for encoding in Encoding::ALL {
        let expected = reference(encoding).encode_ordinary(text).len();
        assert_eq!(TokenCounter::new(encoding).count(text), expected, "{encoding}: {text:?}");
    }
}

/// Compares with the slowest way there is: the count of each prefix.
fn check_cuts(text: &str) {
    for encoding in Encoding::ALL {
        let counter = TokenCounter::new(encoding);
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let counts: Vec<usize> = ends.iter().map(|&end| counter.count(&text[..end])).collect();
        let most = counts.iter().max().copied().unwrap_or(0);
        for max_tokens in 0..=most + 1 {
            let longest = counts.iter().rposition(|&count| count <= max_tokens).unwrap_or(0);
            let cut = counter.cut_at(text, max_tokens);
            assert_eq!(cut, &text[..ends[longest]], "{encoding}, {max_tokens} tokens of {text:?}");
        }
    }
}

fn check_seam(text: &str, more: &str) {
    for encoding in Encoding::ALL {
        let counter = TokenCounter::new(encoding);
        let (before, after) = text.split_at(counter.seam(text));
        let whole = counter.count(&[text, more].concat());
        let parts = counter.count(before) + counter.count(&[after, more].concat());
        assert_eq!(whole, parts, "{encoding}: {text:?} + {more:?}");
    }
}

/// Pieces from which texts are made that are hard to take apart: case, scripts, marks, signs, blanks, contractions.
const PIECES: &[&str] = &[
    "a",
    "b",
    "word",
    "ing",
    " the",
    "A",
    "B",
    "ABC",
    "ǅ",
    "ı",
    "İ",
    "ğ",
    "çöğ",
    "あ",
    "漢字",
    "ʰ",
    "\u{301}",
    "\u{20DD}",
    "'",
    "'s",
    "'ll",
    "'LL",
    "'ſ",
    "’",
    "\"",
    "!",
    "!!",
    ".",
    "/",
    "//",
    "->",
    "0",
    "12",
    "1234",
    "٣",
    "Ⅷ",
    "²",
    " ",
    "  ",
    "    ",
    "\t",
    "\u{a0}",
    "\u{3000}",
    "\u{2028}",
    "\n",
    "\r\n",
    "\n\n",
    "\r",
    "🙂",
    "👩‍👩‍👧",
    "🇹🇷",
    "_",
    "x_y",
    "{}",
    "<|endoftext|>",
    "\0",
    "\u{ad}",
    "indivi",
    "dual",
];

fn pieced(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..most).prop_map(|pieces| pieces.concat())
}

/// One piece many times over, then others.
fn runs() -> impl Strategy<Value = String> {
    (pieced(4), prop::sample::select(PIECES), 1_usize..200, pieced(4))
        .prop_map(|(before, piece, times, after)| before + &piece.repeat(times) + &after)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn counts_of_hard_texts_agree(text in pieced(40)) {
        check_count(&text);
    }

    #[test]
    fn counts_of_any_text_agree(text in any::<String>()) {
        check_count(&text);
    }

    #[test]
    fn counts_of_runs_agree(text in runs()) {
        check_count(&text);
    }

    #[test]
    fn cuts_of_hard_texts_are_the_longest(text in pieced(16)) {
        check_cuts(&text);
    }

    #[test]
    fn cuts_of_any_text_are_the_longest(text in any::<String>()) {
        check_cuts(&text);
    }

    #[test]
    fn a_seam_takes_cased_letters_apart(text in cased(), more in cased()) {
        check_seam(&text, &more);
    }

    #[test]
    fn a_seam_takes_a_text_apart(text in pieced(12), more in pieced(12)) {
        check_seam(&text, &more);
    }
}

/// Letters alone, of every case and none, and what `o200k_base` takes for the end of a word.
fn cased() -> impl Strategy<Value = String> {
    const LETTERS: &[&str] = &[
        "あ", "字", "ʰ", "\u{301}", "A", "B", "E", "RE", "ING", "a", "n", "on", "do", "'", "'l", "'ll", "'VE", "ǅ", " ",
    ];
    prop::collection::vec(prop::sample::select(LETTERS), 0..14).prop_map(|letters| letters.concat())
}

proptest! {
    // These texts are short, and what they look for is rare.
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn cuts_of_cased_letters_are_the_longest(text in cased()) {
        check_cuts(&text);
    }
}

/// `o200k_base` has tokens that no text of their own is ever split into.
#[test]
fn cuts_before_a_token_that_is_split_are_the_longest() {
    assert_eq!(TokenCounter::new(Encoding::O200kBase).count("亚洲AV"), 2);
    check_cuts("亚洲AVx");
    check_cuts("亚洲AVAVA");
}

#[test]
fn cuts_of_blanks_before_a_word_are_the_longest() {
    for blank in [" ", "\t", "\n", "\r\n", "\u{a0}"] {
        for times in (1..20).chain(60..100).chain(120..132) {
            check_cuts(&format!("{}word", blank.repeat(times)));
        }
    }
}

proptest! {
    // Each case compares hundreds of cuts with hundreds of counts.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn cuts_of_runs_are_the_longest(text in runs()) {
        check_cuts(&text);
    }
}

const TURKISH: &str = "Hasarlı ürünler için iade süresi, ürünün size ulaştığı günden başlayarak otuz gündür. \
    Kutusu açılmış, kullanılmış ya da ezilmiş ürünlerde önce bir fotoğraf isteriz; İstanbul dışındaki şubelerde \
    ÇİĞ KÖFTE gibi bozulabilen ürünler iade edilemez. Peki ya ışıklı ağaç? O, oğlunuzun şımarık kedisi değilse, olur.";

#[test]
fn ordinary_texts_agree() {
    check_count("");
    check_count(TURKISH);
    check_count(include_str!("counting.rs"));
    check_count(include_str!("../src/cut.rs"));
    check_count(&"🙂👩‍👩‍👧🇹🇷".repeat(50));
    check_count("src/main.rs:140:    let x = a::b(\"…\");\nsrc/main.rs:141:\t}\r\n\r\n");
}

#[test]
fn long_pieces_agree() {
    check_count(&letters(20_000));
    check_count(&"A".repeat(5_000));
    check_count(&" ".repeat(5_000));
    check_count(&"\n ".repeat(2_000));
    check_count(&"=".repeat(5_000));
    check_count(&"0123456789".repeat(500));
    check_count(&"漢字かな".repeat(500));
}

#[test]
fn cuts_of_prose_and_code_are_the_longest() {
    check_cuts(TURKISH);
    check_cuts(&include_str!("../src/cut.rs")[..1_500]);
    check_cuts(&letters(600));
}

#[test]
fn special_tokens_are_ordinary_text() {
    for special in ["<|endoftext|>", "<|fim_prefix|>", "<|endofprompt|>"] {
        check_count(special);
        assert!(TokenCounter::default().count(special) > 1);
    }
}

#[test]
fn a_cut_of_a_megabyte_is_exact() {
    let megabytes = [letters(1 << 20), " ".repeat(1 << 20), "A".repeat(1 << 20), TURKISH.repeat(3_000)];
    for text in &megabytes {
        for encoding in Encoding::ALL {
            let counter = TokenCounter::new(encoding);
            let cut = counter.cut_at(text, 100);
            assert!(text.starts_with(cut));
            assert_eq!(counter.count(cut), 100);
            let next = cut.len() + text[cut.len()..].chars().next().map_or(0, char::len_utf8);
            assert!(counter.count(&text[..next]) > 100);
        }
    }
}

#[test]
fn the_whole_text_is_returned_when_it_fits() {
    let counter = TokenCounter::default();
    let tokens = counter.count(TURKISH);
    assert_eq!(counter.cut_at(TURKISH, tokens), TURKISH);
    assert_eq!(counter.cut_at(TURKISH, usize::MAX), TURKISH);
    assert_ne!(counter.cut_at(TURKISH, tokens - 1), TURKISH);
    assert_eq!(counter.cut_at("", 5), "");
}

#[test]
fn many_threads_share_the_tables() {
    let expected = TokenCounter::default().count(TURKISH);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(TokenCounter::default().count(TURKISH), expected));
        }
    });
}

/// Letters without a break that follow no pattern.
fn letters(length: usize) -> String {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'a' + (state % 26) as u8)
    };
    (0..length).map(|_| next()).collect()
}
