//! The notes as people read them, in brackets behind the query.

#![expect(clippy::unwrap_used, reason = "writing to a string cannot fail")]

mod common;

use std::fmt::Write;

use common::{condense, condense_policy};

fn shown(rows: &[(&[&str], &str)]) -> String {
    let mut out = String::new();
    for (turns, follow_up) in rows {
        let condensed = condense(turns, follow_up);
        writeln!(out, "{follow_up}\n  {} [{}] ({})", condensed.query, condensed.note, condensed.rule).unwrap();
        for step in &condensed.steps {
            writeln!(out, "    {:?} -> {:?}: {}", &follow_up[step.range.clone()], step.replacement, step.why).unwrap();
        }
    }
    out
}

#[test]
fn english_notes() {
    let warranty: &[&str] = &["How long does the warranty on the grinder last?", "Two years."];
    insta::assert_snapshot!(shown(&[
        (&[], "What's our refund window?"),
        (warranty, "Does it cover water damage?"),
        (warranty, "And is there a mobile app?"),
        (warranty, "Why?"),
        (warranty, "Tell me more."),
        (warranty, "What are the conditions?"),
        (warranty, "Thanks, that's all for now."),
        (warranty, "Summarise that in one sentence."),
        (&["Hello"], "How does it work?"),
        (&["What does Silver cost?", "9 euros."], "What about Gold?"),
    ]));
}

#[test]
fn turkish_notes() {
    let warranty: &[&str] = &["Kahve değirmeninin garantisi kaç yıl?", "İki yıl."];
    insta::assert_snapshot!(shown(&[
        (&[], "İade süremiz ne kadar?"),
        (warranty, "O su hasarını kapsar mı?"),
        (warranty, "Peki mobil uygulamanız var mı?"),
        (warranty, "Biraz daha anlat."),
        (warranty, "Teşekkürler, şimdilik bu kadar."),
        (warranty, "Bunu tek cümleyle özetle."),
        (&["Merhaba"], "Neden?"),
        (&["Norveç'e gönderim var mı?", "Evet."], "İsveç'e de mi?"),
    ]));
}

#[test]
fn policy_notes() {
    let condensed = condense_policy(&["What's our refund window?", "30 days."], "What about damaged items?");
    insta::assert_snapshot!(format!("{} [{}]", condensed.query, condensed.note), @"refund policy for damaged items [spliced topic 'refund' from history]");
    let condensed = condense_policy(&["İade süremiz ne kadar?", "30 gün."], "Peki hasarlı ürünler?");
    insta::assert_snapshot!(format!("{} [{}]", condensed.query, condensed.note), @"hasarlı ürünler için iade politikası [spliced topic 'iade' from history]");
}
