//! Whether a pipeline may start the programs that it names.
//!
//! A pipeline file that came with a download could otherwise run anything. A folder is trusted for one run by
//! `--trust` or by an answer at the terminal, and for good when the answer is `always`.

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use hatir_pipeline::Plan;

use crate::exit::Failure;

/// Decides, asking at the terminal where that is needed and possible.
///
/// Returns false when nothing in the plan starts a program, or when nobody can be asked: the stage then refuses to be
/// built, and says how to trust the folder.
pub(crate) fn decide(plan: &Plan, trusted_by_flag: bool) -> anyhow::Result<bool> {
    let programs: Vec<&str> =
        plan.stages().iter().filter(|stage| stage.kind() == "exec").map(hatir_pipeline::PlannedStage::name).collect();
    if trusted_by_flag || programs.is_empty() {
        return Ok(trusted_by_flag);
    }
    let folder = plan.path().parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    if is_trusted(&folder) {
        return Ok(true);
    }
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Ok(false);
    }
    // A name with a line break in it could pass for two folders, on the screen and in the list.
    let printable = !folder.display().to_string().contains(char::is_control);
    if !printable {
        return Err(Failure::wrong(format!(
            "the folder {} has control characters in its name",
            folder.display().to_string().escape_debug()
        ))
        .hint("rename it, or use --trust")
        .into());
    }
    let mut stderr = std::io::stderr().lock();
    writeln!(stderr, "{} starts programs in the stages {}.", plan.path().display(), programs.join(", "))?;
    write!(stderr, "Let pipelines in {} do so? [y]es, [a]lways, [N]o: ", folder.display())?;
    stderr.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(true),
        "a" | "always" => {
            remember(&folder)?;
            Ok(true)
        }
        _ => Err(Failure::wrong("the pipeline was not trusted, so nothing was run").into()),
    }
}

/// The list of trusted folders, one absolute path a line, in the user's state folder.
fn list() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    Some(state.or_else(home)?.join("hatir/trusted-folders"))
}

fn is_trusted(folder: &Path) -> bool {
    let Some(text) = list().and_then(|list| std::fs::read_to_string(list).ok()) else { return false };
    text.lines().any(|line| Path::new(line) == folder)
}

fn remember(folder: &Path) -> anyhow::Result<()> {
    let list =
        list().ok_or_else(|| Failure::failed("there is no HOME to remember the folder in").hint("use --trust"))?;
    if let Some(parent) = list.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(&list)?;
    writeln!(file, "{}", folder.display())?;
    Ok(())
}
