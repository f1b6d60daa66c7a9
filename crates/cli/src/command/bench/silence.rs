//! `hatir bench silence`: how well a store tells that it holds no answer.
//!
//! Each search has one number by which it is graded. A threshold on it loses some of the questions that have an answer,
//! and lets some pass that have none; the figures say how many pass at a loss of 1 % and of 2 %, and with the grades as
//! they are.

use std::io::Write;
use std::path::Path;

use hatir_rank::Grade;
use serde_json::{Map, Value as Json, json};

use super::args::{FiguresFormat, QueryArgs, QueryFrom, SetArgs, SilenceArgs};
use super::engine::{Engine, Found, Stores};
use super::question::{self, Question};
use super::retrieve::{check, choose, create};
use super::{judgements, record};
use crate::args::Format;
use crate::exit::{Exit, Failure};
use crate::load;

/// The losses that thresholds are looked for at.
const LOSSES: [f64; 2] = [0.01, 0.02];

/// How many documents a search looks for: those that a lead is measured against.
const DEPTH: usize = 20;

/// What happens at one threshold.
#[derive(Debug, PartialEq)]
struct Cut {
    /// Below it there is no answer.
    threshold: f64,
    /// The share of the questions with an answer that fall below.
    loss: f64,
    /// The share of the questions without an answer that do not, as the mean over their files.
    false_hits: f64,
    /// The same for each file.
    each: Vec<f64>,
}

pub(crate) fn run(args: &SilenceArgs) -> anyhow::Result<Exit> {
    let engine = Engine::new(&args.engine)?;
    let records = record::read(&args.set.corpus, args.set.group.as_deref(), args.set.no_context)?;
    let questions = question::read(&args.set, &args.query)?;
    let judgements = judgements::read(&args.set.qrels)?;
    check(&judgements, &records, &questions)?;
    let mut relevant = judgements::by_query(judgements)?;
    let (questions, _) = choose(&args.exclude_category, args.limit, questions, &mut relevant)?;
    let mut foreign = Vec::new();
    for path in &args.foreign {
        let mut asked = question::read(&alone(&args.set, path), &plain())?;
        asked.truncate(args.limit.unwrap_or(usize::MAX));
        foreign.push(asked);
    }
    let out = args.out.as_deref().map(create).transpose()?;

    let stores = engine.build(&records)?;
    let own = engine.ask(&stores, &questions, |_| DEPTH)?;
    let mut others = Vec::new();
    for asked in &mut foreign {
        place(asked, &stores);
        others.push(engine.ask(&stores, asked, |_| DEPTH)?);
    }

    let evidence = |found: &[Found]| -> Vec<f64> { found.iter().map(|found| found.evidence).collect() };
    let (true_ones, false_ones): (Vec<f64>, Vec<Vec<f64>>) =
        (evidence(&own), others.iter().map(|found| evidence(found)).collect());
    let cuts: Vec<(f64, Cut)> = LOSSES.iter().map(|loss| (*loss, cut(&true_ones, &false_ones, *loss))).collect();
    let graded = graded(&own, &others);

    if let Some((mut file, path)) = out {
        let sets = std::iter::once((true, questions.as_slice(), own.as_slice()))
            .chain(foreign.iter().zip(&others).map(|(asked, found)| (false, asked.as_slice(), found.as_slice())));
        for (answerable, asked, found) in sets {
            write_lines(&mut file, answerable, asked, found)
                .map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?;
        }
        file.flush().map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?;
    }
    match args.format {
        FiguresFormat::Text => {
            let text = text(args, &questions, &foreign, &engine, &cuts, &graded);
            std::io::stdout().lock().write_all(text.as_bytes())?;
        }
        FiguresFormat::Json => {
            load::print_json(Format::Json, &json(args, &questions, &foreign, &engine, &cuts, &graded))?;
        }
    }
    Ok(Exit::Fine)
}

/// The set with other queries, which are asked as they stand.
fn alone(set: &SetArgs, queries: &Path) -> SetArgs {
    SetArgs {
        corpus: set.corpus.clone(),
        queries: queries.to_path_buf(),
        qrels: set.qrels.clone(),
        group: None,
        no_context: set.no_context,
    }
}

fn plain() -> QueryArgs {
    QueryArgs { conversations: Vec::new(), query_from: QueryFrom::Text }
}

/// Spreads questions over the stores, which they belong to none of.
fn place(questions: &mut [Question], stores: &Stores) {
    let names: Vec<Option<&str>> = stores.names().collect();
    for (question, name) in questions.iter_mut().zip(names.iter().cycle()) {
        question.group = name.map(str::to_owned);
    }
}

/// The highest threshold that loses no more than `most` of the true ones, and what it lets pass of the others.
fn cut(true_ones: &[f64], false_ones: &[Vec<f64>], most: f64) -> Cut {
    let mut sorted = true_ones.to_vec();
    sorted.sort_by(f64::total_cmp);
    // As a whole number of questions: a threshold at the value of the first that may not be lost.
    let lost = (most * sorted.len() as f64).floor() as usize;
    let threshold = sorted.get(lost).copied().unwrap_or(f64::INFINITY);
    let below = |values: &[f64]| values.iter().filter(|value| **value < threshold).count() as f64;
    let share = |count: f64, of: usize| if of == 0 { 0.0 } else { count / of as f64 };
    let each: Vec<f64> = false_ones.iter().map(|values| 1.0 - share(below(values), values.len())).collect();
    Cut { threshold, loss: share(below(true_ones), true_ones.len()), false_hits: mean(&each), each }
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// For each grade its share of the questions with an answer, and of those without (mean over their files).
fn graded(own: &[Found], others: &[Vec<Found>]) -> Vec<(Grade, f64, f64)> {
    let share = |found: &[Found], grade: Grade| {
        found.iter().filter(|found| found.grade == grade).count() as f64 / found.len().max(1) as f64
    };
    let rest = |grade| mean(&others.iter().map(|found| share(found, grade)).collect::<Vec<_>>());
    [Grade::None, Grade::Weak, Grade::Good].into_iter().map(|grade| (grade, share(own, grade), rest(grade))).collect()
}

fn write_lines(
    file: &mut impl Write,
    answerable: bool,
    questions: &[Question],
    found: &[Found],
) -> std::io::Result<()> {
    for (question, found) in questions.iter().zip(found) {
        let line = json!({
            "id": question.id,
            "query": question.text,
            "group": question.group,
            "answerable": answerable,
            "evidence": found.evidence,
            "grade": found.grade.name(),
            "best": found.ranked.first().map(|(id, _)| id),
        });
        serde_json::to_writer(&mut *file, &line)?;
        writeln!(file)?;
    }
    Ok(())
}

fn json(
    args: &SilenceArgs,
    questions: &[Question],
    foreign: &[Vec<Question>],
    engine: &Engine,
    cuts: &[(f64, Cut)],
    graded: &[(Grade, f64, f64)],
) -> Json {
    let mut losses = Map::new();
    for (loss, cut) in cuts {
        let files = args.foreign.iter().zip(&cut.each).map(|(path, share)| (path.display().to_string(), json!(share)));
        losses.insert(
            format!("loss@{}%", loss * 100.0),
            json!({
                "threshold": cut.threshold,
                "loss": cut.loss,
                "false_hits": cut.false_hits,
                "files": files.collect::<Map<_, _>>(),
            }),
        );
    }
    let grades = graded
        .iter()
        .map(|(grade, own, others)| (grade.name().to_owned(), json!({ "answerable": own, "foreign": others })));
    json!({
        "queries": questions.len(),
        "foreign": foreign.iter().map(Vec::len).sum::<usize>(),
        "voices": engine.voices.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "model": engine.model(),
        "losses": losses,
        "grades": grades.collect::<Map<_, _>>(),
    })
}

fn text(
    args: &SilenceArgs,
    questions: &[Question],
    foreign: &[Vec<Question>],
    engine: &Engine,
    cuts: &[(f64, Cut)],
    graded: &[(Grade, f64, f64)],
) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    let _ = writeln!(text, "loss of true answers  threshold  false answers");
    for (_, cut) in cuts {
        let (loss, shares) = (cut.loss * 100.0, cut.false_hits * 100.0);
        let _ = writeln!(text, "{loss:>18.1} %  {:>9.3}  {shares:>11.1} %", cut.threshold);
        if cut.each.len() > 1 {
            for (path, share) in args.foreign.iter().zip(&cut.each) {
                let _ = writeln!(text, "{:33}{:>11.1} %  {}", "", share * 100.0, path.display());
            }
        }
    }
    let _ = writeln!(text, "\ngrade  with an answer  without");
    for (grade, own, others) in graded {
        let _ = writeln!(text, "{:5}  {:>12.1} %  {:>5.1} %", grade.name(), own * 100.0, others * 100.0);
    }
    let _ = writeln!(
        text,
        "\n{} queries with an answer, {} without; voices: {}; model: {}",
        questions.len(),
        foreign.iter().map(Vec::len).sum::<usize>(),
        engine.voices.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        engine.model().unwrap_or("none"),
    );
    text
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "these numbers are exact")]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_loses_no_more_than_it_may() {
        let true_ones: Vec<f64> = (0..100).map(f64::from).collect();
        let false_ones = vec![vec![0.5, 1.5, 2.5, 50.0], vec![0.0]];
        let one = cut(&true_ones, &false_ones, 0.01);
        assert_eq!(one, Cut { threshold: 1.0, loss: 0.01, false_hits: 0.375, each: vec![0.75, 0.0] });
        assert_eq!(cut(&true_ones, &false_ones, 0.02).threshold, 2.0);
        assert_eq!(cut(&true_ones[..50], &false_ones, 0.01).loss, 0.0, "half a question cannot be lost");
    }

    #[test]
    fn equals_are_lost_together_or_not_at_all() {
        let one = cut(&[1.0, 1.0, 1.0, 2.0], &[vec![1.0, 0.9]], 0.5);
        assert_eq!((one.threshold, one.loss, one.false_hits), (1.0, 0.0, 0.5));
    }
}
