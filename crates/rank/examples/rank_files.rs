//! Indexes the text files of a folder by paragraph, in memory, and asks one question.
//!
//! ```sh
//! cargo run -p hatir-rank --example rank_files -- crates/rank/src "how is the lock released"
//! ```

use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use hatir_rank::{Config, Document, Index, Query};

/// Files larger than this are skipped.
const MAX_BYTES: u64 = 1 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(question)) = (arguments.next(), arguments.next()) else {
        return Err("usage: rank_files FOLDER QUESTION".into());
    };
    let mut documents = Vec::new();
    read_folder(Path::new(&folder), &mut documents)?;

    let index = Index::in_memory(&Config::default())?;
    let count = index.replace_all(documents)?;
    let ranking = index.search(&Query::new(question), 5)?;

    let mut out = std::io::stdout().lock();
    writeln!(out, "{count} paragraphs")?;
    for silence in &ranking.silent_because {
        writeln!(out, "nothing from the {} voice: {}", silence.voice, silence.reason)?;
    }
    for hit in &ranking.hits {
        writeln!(out, "\n{}", hit.id)?;
        for share in &hit.explanation.voices {
            for field in &share.fields {
                writeln!(out, "  {} {:.2}: {}", field.field, field.score, field.terms.join(" "))?;
            }
        }
        let start: String = hit.document.text.chars().take(200).collect();
        writeln!(out, "  | {}", start.replace('\n', "\n  | "))?;
    }
    Ok(())
}

/// Adds each paragraph under an id of the form `path:line`; what is not UTF-8 text is passed over.
fn read_folder(folder: &Path, documents: &mut Vec<Document>) -> Result<(), Box<dyn Error>> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type()?;
        let path = entry.path();
        if kind.is_dir() && !entry.file_name().to_string_lossy().starts_with('.') {
            read_folder(&path, documents)?;
        } else if kind.is_file() && entry.metadata()?.len() <= MAX_BYTES {
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let mut line = 1;
            for paragraph in text.split("\n\n") {
                if !paragraph.trim().is_empty() {
                    documents.push(Document::new(format!("{}:{line}", path.display()), paragraph));
                }
                line += paragraph.matches('\n').count() + 2;
            }
        }
    }
    Ok(())
}
