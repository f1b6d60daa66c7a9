//! Whether what was found is an answer at all.

use super::{Evidences, LEXICAL, Pool, SEMANTIC, Search};
use crate::error::{Error, Result};
use crate::ranking::{Grade, Ranking};

/// How many of the next best the lead of the best lexical score is measured against.
const NEXT: usize = 19;

/// Reads the grade from what the store as a whole has: with vectors from the best cosine and the best coverage, without
/// them from coverage, the lead of the best, and how much of the query is known.
pub(super) fn grade(search: &Search<'_>, voices: &Evidences<'_>, pool: &Pool, ranking: &mut Ranking) -> Result<()> {
    let lexical = pool.best(LEXICAL, NEXT + 1);
    let mut coverage = 0.0_f64;
    if let Some(scoring) = &voices.scoring {
        let docs: Vec<_> = lexical.iter().map(|(doc, _)| *doc).collect();
        for share in scoring.coverage(&docs).map_err(|error| Error::engine(search.folder, error))? {
            coverage = coverage.max(share.stems);
        }
    }
    let cosine = pool.best(SEMANTIC, 1).first().map(|(_, cosine)| *cosine);
    let (weak, good);
    match (&voices.semantic, cosine) {
        (Some(semantic), Some(cosine)) => {
            let evidence = &semantic.model.evidence;
            ranking.evidence = cosine + evidence.coverage * coverage;
            (weak, good) = (evidence.weak, evidence.good);
            if ranking.evidence < weak {
                ranking.silence(
                    SEMANTIC,
                    format!("the nearest document has the cosine {cosine:.3}, which says nothing (with what the words add {:.3}, below {weak:.3})", ranking.evidence),
                );
            }
        }
        _ => {
            let grading = &search.config.grading;
            let strength = voices.scoring.as_ref().map(|scoring| scoring.query).unwrap_or_default();
            let next: Vec<f64> = lexical.iter().skip(1).map(|(_, score)| *score).collect();
            // Places that no document takes are places without a match.
            let mean = next.iter().sum::<f64>() / NEXT as f64;
            let lead = lexical.first().map_or(0.0, |(_, best)| best - mean);
            ranking.evidence = if lexical.is_empty() {
                0.0
            } else {
                grading.coverage * coverage
                    + grading.lead * lead
                    + grading.known * strength.known
                    + grading.stems * strength.stems as f64
            };
            let documents = search.snapshot.documents as f64;
            let size = documents / (documents + grading.small);
            (weak, good) = (grading.weak * size, grading.good * size);
        }
    }
    ranking.grade = if pool.docs().next().is_none() || ranking.evidence < weak {
        Grade::None
    } else if ranking.evidence < good {
        Grade::Weak
    } else {
        Grade::Good
    };
    if ranking.grade == Grade::None && !lexical.is_empty() {
        let reason = format!(
            "{} below the threshold: the best holds {:.0} % of the query's words, by weight",
            pool.count(LEXICAL),
            coverage * 100.0
        );
        ranking.silence(LEXICAL, reason);
    }
    Ok(())
}
