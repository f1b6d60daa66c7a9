//! The worked conversation of the design, word for word, with and without answers in between.

mod common;

use common::{condense, condense_policy};
use hatir_condense::Rule;

#[test]
fn english_without_answers() {
    let first = condense_policy(&[], "What's our refund window?");
    assert_eq!(first.query, "What's our refund window?");
    assert_eq!(first.rule, Rule::FirstTurn);
    assert_eq!(first.note, "already standalone -- no rewrite");
}

/// Answers that a support corpus could give, short and long, on the point and beside it.
const ENGLISH_ANSWERS: [(&str, &str); 6] = [
    ("30 days.", "They are inspected."),
    ("Refunds are accepted within 30 days of delivery. Keep the receipt.", "Damaged items are refunded in full."),
    (
        "You can return most products within 30 days; the label is printed at home.",
        "Send a photo to the warehouse team.",
    ),
    (
        "Our store gives a full refund for 30 days.",
        "A replacement or a full refund is offered; the courier collects the box.",
    ),
    (
        "The refund window is thirty days from the delivery date shown on the invoice.",
        "Report the damage within 48 hours.",
    ),
    ("", ""),
];

#[test]
fn english_with_any_answers() {
    for (one, two) in ENGLISH_ANSWERS {
        let second = condense_policy(&["What's our refund window?", one], "What about damaged items?");
        assert_eq!(second.query, "refund policy for damaged items", "{one}");
        assert_eq!(second.rule, Rule::Ellipsis);
        assert_eq!(second.note, "spliced topic 'refund' from history");
        assert_eq!(second.topic.as_deref(), Some("refund"));
        let third = condense_policy(
            &["What's our refund window?", one, "What about damaged items?", two],
            "And how long does that refund take to process?",
        );
        assert_eq!(third.query, "how long does the refund take to process", "{two}");
        assert_eq!(third.rule, Rule::Coreference);
        assert_eq!(third.note, "resolved 'that' -> refund");
        let fourth = condense_policy(
            &[
                "What's our refund window?",
                one,
                "What about damaged items?",
                two,
                "And how long does that refund take to process?",
                "5 days.",
            ],
            "and is there a mobile app?",
        );
        assert_eq!(fourth.query, "and is there a mobile app?");
        assert!(!fourth.rule.rewrites());
    }
}

const TURKISH_ANSWERS: [(&str, &str); 5] = [
    ("30 gün.", "Onlarda inceleme yapılır."),
    (
        "İadeler teslimattan sonra 30 gün içinde kabul edilir. Faturayı saklayın.",
        "Hasarlı ürünlerin bedeli tam olarak iade edilir.",
    ),
    ("Ürünleri 30 gün içinde geri gönderebilirsiniz; etiket evde basılır.", "Depo ekibine bir fotoğraf gönderin."),
    ("İade süresi, teslim tarihinden başlayarak otuz gündür.", "Hasar 48 saat içinde bildirilir."),
    ("", ""),
];

#[test]
fn turkish_with_any_answers() {
    let first = condense_policy(&[], "İade süremiz ne kadar?");
    assert_eq!(first.query, "İade süremiz ne kadar?");
    for (one, two) in TURKISH_ANSWERS {
        let second = condense_policy(&["İade süremiz ne kadar?", one], "Peki hasarlı ürünler?");
        assert_eq!(second.query, "hasarlı ürünler için iade politikası", "{one}");
        assert_eq!(second.note, "spliced topic 'iade' from history");
        let third = condense_policy(
            &["İade süremiz ne kadar?", one, "Peki hasarlı ürünler?", two],
            "Peki o iade ne kadar sürer?",
        );
        assert_eq!(third.query, "iade ne kadar sürer", "{two}");
        assert_eq!(third.note, "resolved 'o' -> iade");
        let fourth = condense_policy(
            &["İade süremiz ne kadar?", one, "Peki hasarlı ürünler?", two, "Peki o iade ne kadar sürer?", "5 gün."],
            "Peki mobil uygulamanız var mı?",
        );
        assert_eq!(fourth.query, "Peki mobil uygulamanız var mı?");
    }
}

/// No word of that conversation is special: the same sentences over other matters.
#[test]
fn the_same_pattern_elsewhere() {
    let second = condense_policy(&["What's our parental leave period?", "16 weeks."], "What about adoptive parents?");
    assert_eq!(second.query, "parental leave policy for adoptive parents");
    let third = condense_policy(
        &["What's our overtime rate?", "1.5.", "How about part-time staff?", "The same."],
        "And how is that overtime recorded?",
    );
    assert_eq!(third.query, "how is the overtime recorded");
    let second = condense_policy(&["Kargo ücretimiz ne kadar?", "40 lira."], "Peki ağır paketler?");
    assert_eq!(second.query, "ağır paketler için kargo politikası");
    let plain = condense(&["What's our refund window?", "30 days."], "What about damaged items?");
    assert_eq!(plain.query, "refund window damaged items");
}
