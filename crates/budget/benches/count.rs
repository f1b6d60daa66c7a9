//! How fast are counts and cuts, beside `tiktoken-rs` in the same run?
//!
//! ```sh
//! cargo bench -p hatir-budget
//! ```
//!
//! Data: this crate's own source (Rust code), a paragraph of Turkish over and over, and a megabyte of letters without a
//! break and without a pattern. Each is counted in `cl100k_base`; the lines of `load`, printed first, are the time of
//! the first count in a process. Two shared cores of a virtual machine, 2026-12, medians:
//!
//! | | Rust code | Turkish | letters |
//! |---|---|---|---|
//! | `count`, MB/s | 32 | 30 | 13 |
//! | `count_by_tiktoken`, MB/s | 7.2 | 7.3 | 1.3 |
//! | ratio | 4.4 | 4.1 | 10 |
//! | a megabyte cut at 100 tokens, µs | 9 | 10 | 18 |
//! | a megabyte cut at 6,000 tokens, ms | 0.7 | 0.5 | 1.2 |
//!
//! Load: `cl100k_base` 20–40 ms, `o200k_base` 73 ms.

use std::hint::black_box;
use std::time::Instant;

use divan::Bencher;
use divan::counter::BytesCount;
use hatir_budget::{Encoding, FitOptions, Item, TokenCounter, fit};

#[expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
fn main() {
    for encoding in Encoding::ALL {
        let start = Instant::now();
        black_box(TokenCounter::new(encoding).count(black_box("first")));
        println!("load {encoding}: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    }
    divan::main();
}

const TEXTS: [&str; 3] = ["rust", "turkish", "letters"];

fn text(name: &str) -> String {
    const SIZE: usize = 1 << 20;
    match name {
        "rust" => {
            let code = concat!(
                include_str!("../src/counter.rs"),
                include_str!("../src/cut.rs"),
                include_str!("../src/encoding.rs"),
                include_str!("../src/fit.rs"),
                include_str!("../src/seam.rs"),
            );
            code.repeat(SIZE / code.len() + 1)
        }
        "turkish" => {
            let prose = "Hasarlı ürünler için iade süresi, ürünün size ulaştığı günden başlayarak otuz gündür. Kutusu \
                açılmış ya da ezilmiş ürünlerde önce bir fotoğraf isteriz; İstanbul dışındaki şubelerde bozulabilen \
                ürünler iade edilemez. Ödeme, iadenin onaylanmasından sonra on iş günü içinde kartınıza yatırılır.\n";
            prose.repeat(SIZE / prose.len() + 1)
        }
        _ => {
            let mut state = 0x2545_f491_4f6c_dd1d_u64;
            let mut next = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                char::from(b'a' + (state % 26) as u8)
            };
            (0..SIZE).map(|_| next()).collect()
        }
    }
}

#[divan::bench(args = TEXTS, sample_count = 10)]
fn count(bencher: Bencher<'_, '_>, name: &str) {
    let text = text(name);
    bencher.counter(BytesCount::of_str(&text)).bench(|| TokenCounter::default().count(black_box(&text)));
}

#[divan::bench(args = TEXTS, sample_count = 5)]
fn count_by_tiktoken(bencher: Bencher<'_, '_>, name: &str) {
    let text = text(name);
    let tiktoken = tiktoken_rs::cl100k_base_singleton();
    bencher.counter(BytesCount::of_str(&text)).bench(|| tiktoken.encode_ordinary(black_box(&text)).len());
}

/// A megabyte cut at 100 tokens, and at 6,000, the cap of one search result.
#[divan::bench(args = TEXTS, consts = [100, 6_000], sample_count = 50)]
fn cut<const MAX_TOKENS: usize>(bencher: Bencher<'_, '_>, name: &str) {
    let text = text(name);
    bencher.bench(|| TokenCounter::default().cut_at(black_box(&text), MAX_TOKENS).len());
}

/// 200 passages of some 70 tokens into 4,000.
#[divan::bench(sample_count = 20)]
fn fit_passages(bencher: Bencher<'_, '_>) {
    let text = text("turkish");
    let passages: Vec<Item> =
        text.lines().take(200).enumerate().map(|(index, line)| Item::new(index.to_string(), line)).collect();
    bencher.bench(|| fit(black_box(&passages), 4_000, &TokenCounter::default(), &FitOptions::default()).tokens);
}
