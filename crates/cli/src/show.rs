//! Values for people's eyes.

use std::fmt::Write;

use hatir_pipeline::{Answer, Hits, Item, OutputValue, Pack, Query, RunReport, Value};

/// How much of a hit's text is shown, in characters.
const EXCERPT: usize = 160;

/// The output of a run: the value itself, or each value under its name.
pub(crate) fn output(output: &OutputValue) -> String {
    match output {
        OutputValue::One(value) => optional(value.as_ref()),
        OutputValue::Many(values) => {
            let mut text = String::new();
            for (name, value) in values {
                let shown = optional(value.as_ref());
                let shown = shown.trim_end();
                if shown.contains('\n') {
                    let _ = writeln!(text, "{name}:\n{}", indent(shown));
                } else {
                    let _ = writeln!(text, "{name}: {shown}");
                }
            }
            text
        }
    }
}

fn optional(value: Option<&Value>) -> String {
    value.map_or_else(|| "(skipped)\n".to_owned(), self::value)
}

fn value(value: &Value) -> String {
    match value {
        Value::Text(text) => ended(text),
        Value::Query(query) => self::query(query),
        Value::Hits(hits) => self::hits(hits),
        Value::Answer(answer) => self::answer(answer),
        Value::Pack(pack) => self::pack(pack),
        Value::Items(items) => items.iter().map(item).collect(),
        other => {
            let json = other.to_json();
            ended(&serde_json::to_string_pretty(&json).unwrap_or_else(|_| json.to_string()))
        }
    }
}

/// The query with its note in brackets, as in the documentation.
pub(crate) fn query(query: &Query) -> String {
    match &query.note {
        Some(note) => format!("{}  [{note}]\n", query.text),
        None => format!("{}\n", query.text),
    }
}

fn hits(hits: &Hits) -> String {
    if hits.hits.is_empty() {
        return format!("nothing matched ({})\n", hits.silent_because.join("; "));
    }
    let mut text = String::new();
    for (at, hit) in hits.hits.iter().enumerate() {
        let _ = writeln!(
            text,
            "{:>3}. {:.5}  {}  {}",
            at + 1,
            hit.score,
            hit.id,
            excerpt(&titled(hit.title.as_deref(), &hit.text))
        );
    }
    text
}

pub(crate) fn answer(answer: &Answer) -> String {
    if !answer.found {
        return "no answer found\n".to_owned();
    }
    let mut text = ended(&answer.text);
    for citation in &answer.citations {
        let place = citation.place.as_ref().map_or_else(|| citation.id.clone(), ToString::to_string);
        let _ = writeln!(text, "  -- {place}");
    }
    text
}

fn pack(pack: &Pack) -> String {
    let mut text = ended(&pack.text);
    let _ = writeln!(
        text,
        "-- {} of {} tokens; {} kept, {} cut, {} dropped, {} tokens offered",
        pack.tokens,
        pack.limit,
        pack.kept.len(),
        pack.cut.len(),
        pack.dropped.len(),
        pack.raw_tokens
    );
    text
}

fn item(item: &Item) -> String {
    format!("{}  {}\n", item.id, excerpt(&titled(item.title.as_deref(), &item.text)))
}

fn titled(title: Option<&str>, text: &str) -> String {
    title.map_or_else(|| text.to_owned(), |title| format!("{title}: {text}"))
}

/// The beginning of a text on one line.
pub(crate) fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn ended(text: &str) -> String {
    if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

pub(crate) fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// How long each stage took, for `--timings`.
pub(crate) fn timings(report: &RunReport) -> String {
    let width = report.stages.iter().map(|stage| stage.stage.chars().count()).max().unwrap_or(0).max(5);
    let kinds = report.stages.iter().map(|stage| stage.kind.chars().count()).max().unwrap_or(0).max(4);
    let mut text = format!("{:width$}  {:kinds$}  {:>10}  {:>10}  tries  status\n", "stage", "kind", "start", "took");
    for stage in &report.stages {
        let _ = writeln!(
            text,
            "{:width$}  {:kinds$}  {:>10}  {:>10}  {:>5}  {}",
            stage.stage,
            stage.kind,
            duration(stage.started),
            duration(stage.elapsed),
            stage.attempts,
            stage.status.as_str()
        );
    }
    let _ = writeln!(text, "{:width$}  {:kinds$}  {:>10}  {:>10}", "all", "", "", duration(report.elapsed));
    text
}

/// A duration with a unit that suits it.
pub(crate) fn duration(duration: std::time::Duration) -> String {
    let micros = duration.as_micros();
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => format!("{:.2} ms", micros as f64 / 1e3),
        _ => format!("{:.2} s", duration.as_secs_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units_that_suit_them() {
        use std::time::Duration;
        assert_eq!(duration(Duration::from_micros(17)), "17 µs");
        assert_eq!(duration(Duration::from_micros(1_234)), "1.23 ms");
        assert_eq!(duration(Duration::from_millis(61_500)), "61.50 s");
    }

    #[test]
    fn an_excerpt_is_one_line_and_cut_between_characters() {
        assert_eq!(excerpt("a\n b\t c"), "a b c");
        let long = excerpt(&"ğ".repeat(500));
        assert_eq!(long.chars().count(), EXCERPT + 1);
    }
}
