//! `hatir run --dialog`: a pipeline carried through a conversation, and what condensing changed.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use anyhow::Context;
use hatir_pipeline::{Dialog, DialogTurn, Ending, Hit, Line};
use serde_json::{Value as Json, json};

use super::run::Session;
use crate::args::{Format, RunArgs};
use crate::exit::{Exit, Failure};
use crate::{load, show, signals};

pub(crate) fn run(args: &RunArgs, path: &Path, session: &Session) -> anyhow::Result<Exit> {
    let lines = read_lines(path)?;
    let mut dialog = Dialog::new(&session.runner).map_err(|lacks| {
        Failure::wrong(format!("{}: {lacks}", session.plan.path().display())).hint(
            "a dialog feeds the inputs `conversation` and `question`, and reads outputs of type query, hits and answer",
        )
    })?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    signals::cancel_on_signal(&session.options.cancel);
    let mut turns = Vec::with_capacity(lines.len());
    let ending = runtime.block_on(async {
        for (at, line) in lines.into_iter().enumerate() {
            let turn = dialog.ask(line, &session.options).await;
            let ending = turn.report.ending;
            if ending == Ending::Completed {
                print_turn(args.format, at, &turn)?;
            }
            turns.push(turn);
            if ending != Ending::Completed {
                return Ok(ending);
            }
        }
        anyhow::Ok(Ending::Completed)
    })?;
    runtime.shutdown_background();
    let flushed = session.end(ending == Ending::Completed)?;
    match ending {
        Ending::Completed => {
            if args.format == Format::Text {
                print!(std::io::stdout(), &contrast(&turns))?;
            } else if args.format == Format::Json {
                load::print_json(
                    args.format,
                    &Json::Array(turns.iter().enumerate().map(|(at, turn)| turn_json(at, turn)).collect()),
                )?;
            }
            Ok(flushed.err().unwrap_or(Exit::Fine))
        }
        Ending::Interrupted => Ok(Exit::Interrupted),
        Ending::Failed(_) => {
            if let Some(turn) = turns.last() {
                load::print_report(&session.plan.report_run_failure(&turn.report));
            }
            Ok(Exit::Failed)
        }
    }
}

fn read_lines(path: &Path) -> anyhow::Result<Vec<Line>> {
    let file = File::open(path)
        .map_err(|error| Failure::wrong(format!("{}: the dialog could not be read: {error}", path.display())))?;
    let mut lines = Vec::new();
    for (at, line) in BufReader::new(file).lines().enumerate() {
        let line = line.with_context(|| format!("{}:{}: the dialog could not be read", path.display(), at + 1));
        let line = line.map_err(|error| Failure::wrong(format!("{error:#}")))?;
        let line = line.trim_start_matches('\u{feff}');
        if line.trim().is_empty() {
            continue;
        }
        lines.push(serde_json::from_str::<Line>(line).map_err(|error| {
            Failure::wrong(format!("{}:{}:{}: {error}", path.display(), at + 1, error.column()))
                .hint("a line is {\"question\": \"…\", \"relevant\": [\"id\", …]}")
        })?);
    }
    if lines.is_empty() {
        return Err(Failure::wrong(format!("{}: there is no question in it", path.display())).into());
    }
    Ok(lines)
}

fn print_turn(format: Format, at: usize, turn: &DialogTurn) -> anyhow::Result<()> {
    match format {
        Format::Text => print!(std::io::stdout(), &turn_text(at, turn)),
        Format::Jsonl => load::print_json(format, &turn_json(at, turn)),
        Format::Json => Ok(()),
    }
}

fn turn_text(at: usize, turn: &DialogTurn) -> String {
    let mut text = format!("{}. {}\n", at + 1, turn.line.question);
    let mut put = |label: &str, value: &str| {
        for (line, label) in value.lines().zip(std::iter::once(label).chain(std::iter::repeat(""))) {
            text.push_str(&format!("   {label:<10} {line}\n"));
        }
    };
    if let Some(query) = &turn.query {
        put("query", &show::query(query));
    }
    for (name, hits) in &turn.hits {
        let verdict = verdict(turn.hit(name));
        match hits.hits.first() {
            Some(hit) => {
                let title = hit.title.as_deref().map(|title| format!("  \"{title}\"")).unwrap_or_default();
                put(name, &format!("{}{title}  score {:.5} ({}){verdict}", hit.id, hit.score, voices(hit)));
            }
            None => put(name, &format!("nothing matched ({}){verdict}", hits.silent_because.join("; "))),
        }
    }
    if let Some(answer) = &turn.answer {
        put("answer", &show::answer(answer));
    }
    text.push('\n');
    text
}

/// What each voice said about a hit: its rank there, and its score in the voice's own unit.
fn voices(hit: &Hit) -> String {
    let shares = hit.voices.iter().map(|share| format!("{} #{} {:.2}", share.voice, share.rank, share.raw_score));
    shares.collect::<Vec<_>>().join(", ")
}

fn verdict(hit: Option<bool>) -> &'static str {
    match hit {
        Some(true) => "  HIT",
        Some(false) => "  MISS",
        None => "",
    }
}

/// The turns on which the rankings of a pipeline disagree about the best hit.
fn contrast(turns: &[DialogTurn]) -> String {
    let mut text = String::new();
    for (at, turn) in turns.iter().enumerate() {
        let verdicts: Vec<bool> = turn.hits.keys().filter_map(|name| turn.hit(name)).collect();
        if verdicts.iter().all(|verdict| *verdict) || !verdicts.iter().any(|verdict| *verdict) {
            continue;
        }
        text.push_str(&format!("contrast: turn {}, \"{}\"\n", at + 1, turn.line.question));
        let width = turn.hits.keys().map(|name| name.chars().count()).max().unwrap_or(0);
        for (name, hits) in &turn.hits {
            let Some(hit) = turn.hit(name) else { continue };
            let best = hits.hits.first().map_or("nothing", |hit| hit.id.as_str());
            let title = hits.hits.first().and_then(|hit| hit.title.as_deref()).unwrap_or_default();
            let verdict = if hit { "HIT " } else { "MISS" };
            text.push_str(&format!("   {verdict}  {name:<width$}  \"{}\" -> {best} \"{title}\"\n", hits.query));
        }
    }
    text
}

fn turn_json(at: usize, turn: &DialogTurn) -> Json {
    let verdicts: serde_json::Map<_, _> =
        turn.hits.keys().filter_map(|name| Some((name.clone(), json!(turn.hit(name)?)))).collect();
    json!({
        "turn": at + 1,
        "question": turn.line.question,
        "output": turn.report.output.as_ref().map(hatir_pipeline::OutputValue::to_json),
        "hit": verdicts,
    })
}

/// Writes a text that is ready, so that a closed pipe is an error like any other.
macro_rules! print {
    ($writer:expr, $text:expr) => {
        $writer.lock().write_all($text.as_bytes()).map_err(anyhow::Error::from)
    };
}
use print;
