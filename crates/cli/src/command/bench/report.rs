//! The figures as a table and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Map, Value as Json, json};

use super::metrics::{CUTOFFS, Figures, Mean};

/// What `hatir bench retrieve` measured.
pub(crate) struct Report {
    /// How many documents a ranking holds.
    pub(crate) depth: usize,
    pub(crate) documents: usize,
    pub(crate) asked: usize,
    /// Queries that have no answer, are of an excluded category, or lie behind the limit.
    pub(crate) left_out: usize,
    pub(crate) voices: Vec<String>,
    pub(crate) model: Option<String>,
    /// How many rankings got each grade.
    pub(crate) grades: BTreeMap<&'static str, usize>,
    pub(crate) overall: Mean,
    pub(crate) categories: BTreeMap<String, Mean>,
    pub(crate) languages: BTreeMap<String, Mean>,
    pub(crate) p50_ms: f64,
    pub(crate) p95_ms: f64,
    pub(crate) rss_mb: Option<f64>,
    pub(crate) disk_mb: Option<f64>,
}

/// The names of the figures that a ranking of this depth can give, in the order of [`values`].
fn names(depth: usize) -> Vec<String> {
    let mut names: Vec<String> =
        CUTOFFS.iter().filter(|cutoff| depth >= **cutoff).map(|cutoff| format!("recall@{cutoff}")).collect();
    if depth >= 10 {
        names.extend(["mrr@10".to_owned(), "ndcg@10".to_owned()]);
    }
    names
}

fn values(figures: &Figures, depth: usize) -> Vec<f64> {
    let mut values: Vec<f64> =
        CUTOFFS.iter().zip(figures.recall).filter(|(cutoff, _)| depth >= **cutoff).map(|(_, recall)| recall).collect();
    if depth >= 10 {
        values.extend([figures.mrr, figures.ndcg]);
    }
    values
}

/// The figures as fractions under their names.
pub(crate) fn figures_json(figures: &Figures, depth: usize) -> Map<String, Json> {
    names(depth).into_iter().zip(values(figures, depth).into_iter().map(Json::from)).collect()
}

fn mean_json(mean: &Mean, depth: usize) -> Map<String, Json> {
    let mut json = Map::new();
    json.insert("queries".to_owned(), mean.count.into());
    json.insert("silent".to_owned(), mean.silent.into());
    json.extend(figures_json(&mean.figures(), depth));
    json
}

impl Report {
    pub(crate) fn json(&self) -> Json {
        let mut json = mean_json(&self.overall, self.depth);
        json.insert("left_out".to_owned(), self.left_out.into());
        json.insert("documents".to_owned(), self.documents.into());
        json.insert("voices".to_owned(), json!(self.voices));
        json.insert("model".to_owned(), json!(self.model));
        json.insert("grades".to_owned(), json!(self.grades));
        json.insert("p50_ms".to_owned(), self.p50_ms.into());
        json.insert("p95_ms".to_owned(), self.p95_ms.into());
        json.insert("rss_mb".to_owned(), json!(self.rss_mb));
        json.insert("disk_mb".to_owned(), json!(self.disk_mb));
        for (name, table) in [("categories", &self.categories), ("languages", &self.languages)] {
            if !table.is_empty() {
                let rows = table.iter().map(|(row, mean)| (row.clone(), mean_json(mean, self.depth).into()));
                json.insert(name.to_owned(), Json::Object(rows.collect()));
            }
        }
        json.into()
    }

    pub(crate) fn text(&self) -> String {
        let mut rows: Vec<(String, &Mean)> = vec![("all".to_owned(), &self.overall)];
        rows.extend(self.categories.iter().map(|(name, mean)| (name.clone(), mean)));
        // One language tells nothing that the first row does not.
        if self.languages.len() > 1 {
            rows.extend(self.languages.iter().map(|(name, mean)| (format!("lang {name}"), mean)));
        }
        let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        let heads: Vec<String> = names(self.depth)
            .into_iter()
            .map(|name| name.replace("recall", "R").replace("mrr", "MRR").replace("ndcg", "nDCG"))
            .collect();
        let _ = write!(text, "{:width$}  queries  silent", "");
        for head in &heads {
            let _ = write!(text, "  {head:>7}");
        }
        text.push('\n');
        for (name, mean) in rows {
            let _ = write!(text, "{name:width$}  {:>7}  {:>6}", mean.count, mean.silent);
            for value in values(&mean.figures(), self.depth) {
                let _ = write!(text, "  {:>7.1}", value * 100.0);
            }
            text.push('\n');
        }
        let _ = writeln!(
            text,
            "\n{} documents, {} queries asked, {} left out; voices: {}; model: {}",
            self.documents,
            self.asked,
            self.left_out,
            self.voices.join(", "),
            self.model.as_deref().unwrap_or("none")
        );
        let grades: Vec<String> = self.grades.iter().map(|(grade, count)| format!("{count} {grade}")).collect();
        let _ = writeln!(text, "grades: {}", grades.join(", "));
        let _ = write!(text, "a search: {:.2} ms p50, {:.2} ms p95", self.p50_ms, self.p95_ms);
        if let Some(rss) = self.rss_mb {
            let _ = write!(text, "; {rss:.0} MB of memory");
        }
        if let Some(disk) = self.disk_mb {
            let _ = write!(text, "; {disk:.1} MB on disk");
        }
        text.push('\n');
        text
    }
}
