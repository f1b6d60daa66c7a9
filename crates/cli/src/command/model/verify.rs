//! `hatir model verify`.

use std::io::Write;

use hatir_rank::Error;
use hatir_rank::model::{FileCheck, FileState, ModelStore};
use serde_json::{Value, json};

use super::args::VerifyArgs;
use super::progress::Bar;
use super::{RUNTIME, failure};
use crate::args::Format;
use crate::exit::{Exit, tell};

/// What a check found of one model.
struct Verified {
    name: String,
    files: Result<Vec<FileCheck>, Error>,
}

pub(crate) fn run(args: &VerifyArgs) -> anyhow::Result<Exit> {
    let store = ModelStore::new(args.models.folder());
    let names = match args.names.as_slice() {
        [] => all(&store)?,
        names => names.to_vec(),
    };
    if names.is_empty() {
        tell(format_args!("no model is installed in {}\n", store.root().display()));
    }
    let mut verified = Vec::new();
    for name in names {
        let files = check(&store, &name);
        // A model that is not there is a wrong argument, one that is broken is a result.
        if let Err(error @ (Error::NoModel { .. } | Error::InvalidConfig { .. })) = &files
            && !args.names.is_empty()
        {
            return Err(failure(error).into());
        }
        verified.push(Verified { name, files });
    }
    print(&verified, args.format)?;
    Ok(if verified.iter().all(Verified::is_fine) { Exit::Fine } else { Exit::Failed })
}

fn all(store: &ModelStore) -> anyhow::Result<Vec<String>> {
    let listed = store.list().map_err(|error| failure(&error))?;
    let mut names: Vec<String> = listed.into_iter().map(|listed| listed.name).collect();
    if !matches!(store.runtime(), Ok(None)) {
        names.push(RUNTIME.to_owned());
    }
    Ok(names)
}

fn check(store: &ModelStore, name: &str) -> Result<Vec<FileCheck>, Error> {
    let bar = Bar::new();
    if name == RUNTIME {
        bar.begin("checking", name, 0, store.runtime().ok().flatten().map(|runtime| runtime.bytes));
        let check = store.verify_runtime(|bytes| bar.advance(bytes));
        bar.clear();
        return match check? {
            Some(check) => Ok(vec![check]),
            None => Err(Error::NoModel {
                name: name.to_owned(),
                root: store.root().to_path_buf(),
                installed: "the runtime library is not installed".to_owned(),
            }),
        };
    }
    bar.begin("checking", name, 0, store.open(name).ok().map(|folder| folder.bytes));
    let files = store.verify(name, |bytes| bar.advance(bytes));
    bar.clear();
    files
}

impl Verified {
    fn is_fine(&self) -> bool {
        self.files.as_ref().is_ok_and(|files| files.iter().all(|file| file.state == FileState::Same))
    }

    fn text(&self) -> String {
        let files = match &self.files {
            Ok(files) => files,
            Err(error) => return format!("{}: cannot be checked: {error}\n", self.name),
        };
        let wrong: Vec<&FileCheck> = files.iter().filter(|file| file.state != FileState::Same).collect();
        if wrong.is_empty() {
            let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
            return format!("{}: as installed ({})\n", self.name, names.join(", "));
        }
        let mut text = format!("{}: not as installed; `hatir model install` with --replace mends it\n", self.name);
        for FileCheck { name, expected, state, .. } in wrong {
            text += &match state {
                FileState::Missing => format!("  {name} is missing\n"),
                FileState::Differs(found) => {
                    format!("  {name} differs\n    expected {expected}\n    found    {found}\n")
                }
                FileState::Unreadable(problem) => format!("  {name} cannot be read: {problem}\n"),
                other => format!("  {name}: {other:?}\n"),
            };
        }
        text
    }

    fn json(&self) -> Value {
        match &self.files {
            Err(error) => json!({ "name": self.name, "fine": false, "problem": error.to_string() }),
            Ok(files) => json!({
                "name": self.name,
                "fine": self.is_fine(),
                "files": files.iter().map(file_json).collect::<Vec<_>>(),
            }),
        }
    }
}

fn file_json(file: &FileCheck) -> Value {
    let (state, found) = match &file.state {
        FileState::Same => ("same", Some(&file.expected)),
        FileState::Missing => ("missing", None),
        FileState::Differs(found) => ("differs", Some(found)),
        _ => ("unreadable", None),
    };
    json!({ "name": file.name, "state": state, "expected": file.expected, "found": found })
}

fn print(verified: &[Verified], format: Format) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match format {
        Format::Text => verified.iter().try_for_each(|model| write!(stdout, "{}", model.text()))?,
        Format::Json => {
            let all: Vec<Value> = verified.iter().map(Verified::json).collect();
            writeln!(stdout, "{}", serde_json::to_string_pretty(&all)?)?;
        }
        Format::Jsonl => verified.iter().try_for_each(|model| writeln!(stdout, "{}", model.json()))?,
    }
    Ok(())
}
