//! Adds a voice of one's own to the lexical one: pages that were read often speak a little louder.
//!
//! ```sh
//! cargo run -p hatir-rank --example own_voice
//! ```

use std::collections::BTreeMap;
use std::io::Write as _;

use hatir_rank::{Candidate, Config, Document, Heard, Index, Query, Result, Voice, Weights};

/// Ranks pages by how often they were opened, whatever is asked.
struct Popularity {
    openings: BTreeMap<String, u32>,
}

impl Voice for Popularity {
    fn name(&self) -> &'static str {
        "popularity"
    }

    fn hear(&self, _query: &Query, depth: usize) -> Result<Heard> {
        if self.openings.is_empty() {
            return Ok(Heard::silent("no page was opened yet"));
        }
        let mut candidates: Vec<Candidate> =
            self.openings.iter().map(|(page, count)| Candidate::new(page, f64::from(*count))).collect();
        candidates.sort_by(|left, right| right.score.total_cmp(&left.score));
        candidates.truncate(depth);
        Ok(Heard::ranked(candidates))
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let config = Config { weights: Weights::default().with("popularity", 0.1), ..Config::default() };
    let index = Index::in_memory(&config)?;
    index.replace_all([
        Document::new("refund.md", "A refund is paid within 14 days after the goods arrive."),
        Document::new("damage.md", "A refund for damaged items needs a photograph."),
        Document::new("hours.md", "The shop is open from nine to five."),
    ])?;
    let popularity =
        Popularity { openings: BTreeMap::from([("damage.md".to_owned(), 90), ("hours.md".to_owned(), 12)]) };

    let mut out = std::io::stdout().lock();
    for question in ["how long does a refund take", "refund"] {
        writeln!(out, "{question}")?;
        let ranking = index.search_with(&Query::new(question), 3, &[&popularity])?;
        for hit in &ranking.hits {
            writeln!(out, "  {:.5}  {}", hit.score, hit.id)?;
            for share in &hit.explanation.voices {
                let (voice, rank, given) = (&share.voice, share.rank, share.contribution);
                writeln!(out, "           {voice}: rank {rank}, raw {:.3}, gives {given:.5}", share.raw_score)?;
            }
        }
    }
    Ok(())
}
