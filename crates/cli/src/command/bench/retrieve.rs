//! `hatir bench retrieve`: how well, and how fast, a corpus is searched.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use hatir_rank::Grade;
use serde_json::{Value as Json, json};

use super::args::{FiguresFormat, RetrieveArgs};
use super::engine::{Engine, Found};
use super::judgements::{self, Judgement, Relevant};
use super::metrics::{Figures, Mean, percentile};
use super::question::{self, Question};
use super::record::{self, Record};
use super::report::{self, Report};
use super::usage;
use crate::args::Format;
use crate::exit::{Exit, Failure};
use crate::load;

pub(crate) fn run(args: &RetrieveArgs) -> anyhow::Result<Exit> {
    let engine = Engine::new(&args.engine)?;
    let records = record::read(&args.set.corpus, args.set.group.as_deref(), args.set.no_context)?;
    let questions = question::read(&args.set, &args.query)?;
    let judgements = judgements::read(&args.set.qrels)?;
    check(&judgements, &records, &questions)?;
    let mut relevant = judgements::by_query(judgements)?;
    let all = questions.len();
    let (questions, answers) = choose(&args.exclude_category, args.limit, questions, &mut relevant)?;
    let out = args.out.as_deref().map(create).transpose()?;

    let stores = engine.build(&records)?;
    let shown = if args.exclude_shown { Shown::new(&records) } else { Shown::default() };
    let depth = |question: &Question| args.k + shown.of(question).len();
    let mut found = engine.ask(&stores, &questions, depth)?;
    for (found, question) in found.iter_mut().zip(&questions) {
        let shown: HashSet<&str> = shown.of(question).into_iter().collect();
        found.ranked.retain(|(id, _)| !shown.contains(id.as_str()));
        found.ranked.truncate(args.k);
    }
    let figures: Vec<Figures> = found
        .iter()
        .zip(&answers)
        .map(|(found, relevant)| Figures::of(found.ranked.iter().map(|(id, _)| id.as_str()), relevant))
        .collect();
    let mut report = summarise(args, &engine, &records, all, &questions, &found, &figures);
    report.disk_mb = stores.disk_mb();
    if let Some((mut file, path)) = out {
        write_lines(&mut file, &questions, &answers, &found, &figures, args.k)
            .map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?;
    }
    match args.format {
        FiguresFormat::Text => std::io::stdout().lock().write_all(report.text().as_bytes())?,
        FiguresFormat::Json => load::print_json(Format::Json, &report.json())?,
    }
    Ok(Exit::Fine)
}

/// Answers must name what there is, else figures would be too low without a word.
pub(crate) fn check(judgements: &[Judgement], records: &[Record], questions: &[Question]) -> Result<(), Failure> {
    let documents: HashMap<&str, &Record> = records.iter().map(|record| (record.id.as_str(), record)).collect();
    let asked: HashMap<&str, &Question> = questions.iter().map(|question| (question.id.as_str(), question)).collect();
    for judgement in judgements {
        let Judgement { place, query, document, .. } = judgement;
        let Some(question) = asked.get(query.as_str()) else {
            return Err(place.wrong(format!("there is no query {query:?}")));
        };
        let Some(record) = documents.get(document.as_str()) else {
            return Err(place.wrong(format!("there is no document {document:?}")));
        };
        if record.group != question.group {
            let (theirs, own) = (name(record.group.as_deref()), name(question.group.as_deref()));
            return Err(place.wrong(format!("the document {document:?} is in the store {theirs}, its query in {own}")));
        }
    }
    Ok(())
}

fn name(group: Option<&str>) -> String {
    format!("{:?}", group.unwrap_or_default())
}

/// The questions that have an answer and are wanted, with their answers.
pub(crate) fn choose(
    exclude_category: &[String],
    limit: Option<usize>,
    questions: Vec<Question>,
    relevant: &mut HashMap<String, Relevant>,
) -> Result<(Vec<Question>, Vec<Relevant>), Failure> {
    for category in exclude_category {
        if !questions.iter().any(|question| question.category.as_ref() == Some(category)) {
            let known: std::collections::BTreeSet<&str> =
                questions.iter().filter_map(|question| question.category.as_deref()).collect();
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            let failure = Failure::wrong(format!("--exclude-category: no query is of the category {category:?}"));
            return Err(if known.is_empty() { failure } else { failure.hint(format!("there are {known}")) });
        }
    }
    let excluded =
        |question: &Question| question.category.as_ref().is_some_and(|category| exclude_category.contains(category));
    let (questions, answers): (Vec<_>, Vec<_>) = questions
        .into_iter()
        .filter(|question| !excluded(question))
        .filter_map(|question| relevant.remove(&question.id).map(|relevant| (question, relevant)))
        .take(limit.unwrap_or(usize::MAX))
        .unzip();
    if questions.is_empty() {
        return Err(Failure::wrong("no query is left that has an answer"));
    }
    Ok((questions, answers))
}

/// The documents by their text, to find those that a conversation has shown.
#[derive(Default)]
struct Shown<'records>(HashMap<String, Vec<&'records str>>);

impl<'records> Shown<'records> {
    fn new(records: &'records [Record]) -> Self {
        let mut by_text: HashMap<String, Vec<&str>> = HashMap::new();
        for record in records {
            by_text.entry(normal(&record.text)).or_default().push(&record.id);
        }
        Self(by_text)
    }

    /// The ids of the documents whose text was a turn of the conversation.
    fn of(&self, question: &Question) -> Vec<&'records str> {
        if self.0.is_empty() {
            return Vec::new();
        }
        question.turns.iter().filter_map(|turn| self.0.get(&normal(&turn.text))).flatten().copied().collect()
    }
}

/// A text without what line breaks and indents make of it.
fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn summarise(
    args: &RetrieveArgs,
    engine: &Engine,
    records: &[Record],
    all: usize,
    questions: &[Question],
    found: &[Found],
    figures: &[Figures],
) -> Report {
    let mut overall = Mean::default();
    let mut categories: BTreeMap<String, Mean> = BTreeMap::new();
    let mut languages: BTreeMap<String, Mean> = BTreeMap::new();
    let mut grades: BTreeMap<&'static str, usize> =
        [Grade::None, Grade::Weak, Grade::Good].map(|grade| (grade.name(), 0)).into();
    for ((question, found), figures) in questions.iter().zip(found).zip(figures) {
        *grades.entry(found.grade.name()).or_default() += 1;
        let silent = found.ranked.is_empty();
        overall.add(figures, silent);
        if let Some(category) = &question.category {
            categories.entry(category.clone()).or_default().add(figures, silent);
        }
        if let Some(language) = &question.language {
            languages.entry(language.clone()).or_default().add(figures, silent);
        }
    }
    let mut times: Vec<f64> = found.iter().map(|found| found.took.as_secs_f64() * 1e3).collect();
    Report {
        depth: args.k,
        documents: records.len(),
        asked: questions.len(),
        left_out: all - questions.len(),
        voices: engine.voices.iter().map(ToString::to_string).collect(),
        model: engine.model().map(str::to_owned),
        grades,
        overall,
        categories,
        languages,
        p50_ms: percentile(&mut times, 0.5),
        p95_ms: percentile(&mut times, 0.95),
        rss_mb: usage::resident_mb(),
        disk_mb: None,
    }
}

pub(crate) fn create(path: &Path) -> Result<(BufWriter<File>, &Path), Failure> {
    let file = File::create(path).map_err(|error| Failure::wrong(format!("--out {}: {error}", path.display())))?;
    Ok((BufWriter::new(file), path))
}

/// One line per query, from which every figure can be computed again.
fn write_lines(
    file: &mut impl Write,
    questions: &[Question],
    answers: &[Relevant],
    found: &[Found],
    figures: &[Figures],
    depth: usize,
) -> std::io::Result<()> {
    for (((question, relevant), found), figures) in questions.iter().zip(answers).zip(found).zip(figures) {
        let ranked: Vec<Json> = found.ranked.iter().map(|(id, score)| json!({ "id": id, "score": score })).collect();
        let voices: Vec<Json> = found
            .voices
            .iter()
            .map(|voice| json!({ "voice": voice.voice, "weight": voice.weight, "candidates": voice.candidates }))
            .collect();
        let silences: Vec<Json> =
            found.silences.iter().map(|silence| json!({ "voice": silence.voice, "reason": silence.reason })).collect();
        let mut line = json!({
            "id": question.id,
            "query": question.text,
            "lang": question.language,
            "category": question.category,
            "group": question.group,
            "relevant": relevant,
            "ranked": ranked,
            "grade": found.grade.name(),
            "evidence": found.evidence,
            "voices": voices,
            "silent_because": silences,
            "ms": found.took.as_secs_f64() * 1e3,
        });
        line["figures"] = report::figures_json(figures, depth).into();
        serde_json::to_writer(&mut *file, &line)?;
        writeln!(file)?;
    }
    file.flush()
}
