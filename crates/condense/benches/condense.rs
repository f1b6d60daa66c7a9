//! How long does a rewrite take over a 10-turn window, and does a long history behind the window change that?
//!
//! Data: an invented support conversation of five questions and answers of one or two sentences each, repeated for the
//! long history. Follow-ups of four kinds: a pronoun, an ellipsis, a stand-alone question, and Turkish.

use divan::Bencher;
use hatir_condense::{Condenser, Conversation, Options, Turn};

const ENGLISH: [(&str, &str); 5] = [
    ("What's our refund window?", "Refunds are accepted within 30 days of delivery. Keep the receipt and the box."),
    ("What about damaged items?", "Damaged items are refunded in full once the warehouse team has seen a photo."),
    (
        "Who pays for the return label?",
        "We do. The label is printed at home, or by the courier who collects the parcel.",
    ),
    (
        "How long does the warranty on the coffee grinder last?",
        "It lasts two years from delivery, and covers the motor.",
    ),
    ("Which couriers do you use in Norway?", "Posten and Bring deliver in Norway, both within five working days."),
];

const TURKISH: [(&str, &str); 5] = [
    ("İade süremiz ne kadar?", "İadeler teslimattan sonra 30 gün içinde kabul edilir. Faturayı ve kutuyu saklayın."),
    ("Peki hasarlı ürünler?", "Depo ekibi fotoğrafı gördükten sonra hasarlı ürünlerin bedeli geri ödenir."),
    ("Kargo etiketini kim ödüyor?", "Biz ödüyoruz. Etiket evde basılır ya da kurye paketi alırken getirir."),
    ("Kahve değirmeninin garantisi ne kadar sürüyor?", "Teslimattan başlayarak iki yıl sürer ve motoru kapsar."),
    ("Norveç'te hangi kargo şirketleriyle çalışıyorsunuz?", "Posten ve Bring beş iş günü içinde teslim eder."),
];

fn conversation(pairs: &[(&str, &str)], turns: usize) -> Conversation {
    pairs.iter().cycle().flat_map(|(q, a)| [Turn::user(*q), Turn::assistant(*a)]).take(turns).collect()
}

fn main() {
    divan::main();
}

const TURNS: [usize; 3] = [10, 200, 2_000];

#[divan::bench(args = TURNS)]
fn pronoun(bencher: Bencher<'_, '_>, turns: usize) {
    let history = conversation(&ENGLISH, turns);
    bencher.bench(|| Condenser::new().condense(&history, "Are they insured?", &Options::default()));
}

#[divan::bench(args = TURNS)]
fn ellipsis(bencher: Bencher<'_, '_>, turns: usize) {
    let history = conversation(&ENGLISH, turns);
    bencher.bench(|| Condenser::new().condense(&history, "What about Sweden?", &Options::default()));
}

#[divan::bench(args = TURNS)]
fn stand_alone(bencher: Bencher<'_, '_>, turns: usize) {
    let history = conversation(&ENGLISH, turns);
    bencher.bench(|| Condenser::new().condense(&history, "and is there a mobile app?", &Options::default()));
}

#[divan::bench(args = TURNS)]
fn turkish(bencher: Bencher<'_, '_>, turns: usize) {
    let history = conversation(&TURKISH, turns);
    bencher.bench(|| Condenser::new().condense(&history, "Peki onlar ne kadar sürer?", &Options::default()));
}
