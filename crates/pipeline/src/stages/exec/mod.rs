//! `exec`: any program, with JSON on its standard input and output.

#[cfg(unix)]
mod child;
#[cfg(unix)]
mod program;

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(unix)]
use serde_json::Value as Json;

use super::yes;
use crate::stage::{BuildContext, Complaint, Kind, Ports, Stage, StageError};
use crate::value::Type;

/// Runs a program: the inputs as one line of JSON on its standard input, its result as JSON on its standard output.
///
/// The program gets an environment of its own: `PATH`, `HOME`, `LANG` and what `env` names. It runs in a process group
/// of its own, and what is left of the group when the program ends, or the time is up, is ended with it: by SIGTERM,
/// and 100 ms later by SIGKILL. Files that say `exec` are run only from folders that are trusted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Exec {
    /// The program: a name that is looked up in the folders of `PATH`, or, with a `/` in it, a path that starts at the
    /// folder of the pipeline file.
    #[schemars(length(min = 1))]
    pub(crate) program: String,
    /// Its arguments. No shell reads them.
    #[serde(default)]
    pub(crate) args: Vec<String>,
    /// Environment variables that it gets beside `PATH`, `HOME` and `LANG`.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// The folder that it runs in; the folder of the pipeline file where it is missing.
    #[serde(default)]
    #[schemars(extend("format" = "path"))]
    pub(crate) working_dir: Option<PathBuf>,
    /// What it gets on its standard input.
    #[serde(default)]
    pub(crate) input: ExecInput,
    /// The type of what it prints. Any type but `index`.
    #[serde(default = "default_output")]
    #[schemars(extend("enum" = [
        "text", "number", "flag", "json", "conversation", "query", "documents", "records", "hits", "facts", "items",
        "pack", "answer"
    ]))]
    pub(crate) output: String,
    /// Whether its output is taken as it stands, without the last line break, and not as JSON. Only for `output =
    /// "text"`.
    #[serde(default)]
    pub(crate) raw: bool,
    /// How many bytes it may print. A program that prints more is ended, and the stage fails. The default is 16 MiB.
    #[serde(default = "default_max_output")]
    #[schemars(range(min = 1, max = 1_073_741_824))]
    pub(crate) max_output: u64,
    /// The exit codes that mean success.
    #[serde(default = "default_ok_codes")]
    #[schemars(length(min = 1))]
    pub(crate) ok_codes: Vec<i32>,
    /// Whether it changes anything outside the run. If so it runs also when nothing needs its output, once for each
    /// record of a batch, and not in a dry run.
    #[serde(default = "yes")]
    pub(crate) effects: bool,
}

/// What a program gets on its standard input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ExecInput {
    /// One line of JSON: an object with the value of each port under its name, a list where several sources feed a
    /// port.
    #[default]
    Json,
    /// Nothing: its standard input is empty.
    None,
}

fn default_output() -> String {
    Type::Json.as_str().to_owned()
}

fn default_max_output() -> u64 {
    16 * 1024 * 1024
}

fn default_ok_codes() -> Vec<i32> {
    vec![0]
}

impl Exec {
    fn output_type(&self) -> Option<Type> {
        self.output.parse().ok().filter(|kind: &Type| kind.from_outside())
    }
}

impl Kind for Exec {
    const NAME: &'static str = "exec";
    const ABOUT: &'static str = "Runs a program: JSON in on its standard input, JSON out on its standard output.";

    fn ports(config: Option<&Self>) -> Ports {
        let output = config.and_then(Exec::output_type).unwrap_or(Type::Json);
        Ports { inputs: Vec::new(), open: Some(Type::Json), output }
    }

    fn check(&self) -> Vec<Complaint> {
        let mut complaints = Vec::new();
        if self.program.trim().is_empty() {
            complaints.push(Complaint::about("program", "found an empty name, expected a program"));
        }
        if self.output_type().is_none() {
            let known: Vec<&str> = Type::ALL.into_iter().filter(|kind| kind.from_outside()).map(Type::as_str).collect();
            let message = format!("found \"{}\", expected one of {}", self.output, known.join(", "));
            complaints.push(Complaint::about("output", message));
        }
        if self.raw && self.output != Type::Text.as_str() {
            let message = format!("raw output is text, but `output` is \"{}\"", self.output);
            complaints.push(Complaint::about("raw", message).help("set `output = \"text\"`, or leave `raw` out"));
        }
        if self.ok_codes.is_empty() {
            complaints.push(Complaint::about("ok-codes", "found no code, so that the program could never succeed"));
        }
        let nul = |text: &str| text.contains('\0');
        if nul(&self.program) {
            complaints.push(Complaint::about("program", "a name cannot hold the character U+0000"));
        }
        if self.args.iter().any(|argument| nul(argument)) {
            complaints.push(Complaint::about("args", "an argument cannot hold the character U+0000"));
        }
        for (name, value) in &self.env {
            let problem = if name.is_empty() || name.contains('=') || nul(name) {
                "is no name for a variable: it must not be empty, nor hold `=` or U+0000"
            } else if nul(value) {
                "has a value with the character U+0000, which no variable can hold"
            } else {
                continue;
            };
            complaints.push(Complaint {
                key: vec!["env".to_owned(), name.clone()],
                message: format!("\"{name}\" {problem}"),
                help: None,
            });
        }
        complaints
    }

    fn has_effects(&self) -> bool {
        self.effects
    }

    fn build(&self, context: &BuildContext) -> Result<Box<dyn Stage>, StageError> {
        let folder = super::files::folder_of(&context.base.join("file"));
        if !context.trusted {
            let folder = std::path::absolute(&folder).unwrap_or(folder);
            let message = format!(
                "the program \"{}\" is not started: the folder {} is not trusted",
                self.program,
                folder.display()
            );
            return Err(StageError::untrusted(message).hint("read the file, then run it with `--trust`"));
        }
        self.build_trusted(context)
    }
}

#[cfg(not(unix))]
impl Exec {
    fn build_trusted(&self, _: &BuildContext) -> Result<Box<dyn Stage>, StageError> {
        let message = format!("the program \"{}\" cannot be started: `exec` needs a Unix system", self.program);
        Err(StageError::permanent(message).hint("run the pipeline on Linux or macOS"))
    }
}

#[cfg(unix)]
impl Exec {
    fn build_trusted(&self, context: &BuildContext) -> Result<Box<dyn Stage>, StageError> {
        let folder = match &self.working_dir {
            Some(folder) => context.path(folder),
            None => super::files::folder_of(&context.base.join("file")),
        };
        let folder = folder.canonicalize().map_err(|error| super::files::io_error("run in", &folder, &error))?;
        if !folder.is_dir() {
            return Err(StageError::permanent(format!("{} is not a folder to run in", folder.display())));
        }
        let program = program::find(&self.program, context)?;
        let output = self.output_type().unwrap_or(Type::Json);
        Ok(Box::new(Runner { config: self.clone(), program, folder, output }))
    }
}

#[cfg(unix)]
struct Runner {
    config: Exec,
    program: PathBuf,
    folder: PathBuf,
    output: Type,
}

#[cfg(unix)]
impl Stage for Runner {
    fn needs_grace(&self) -> bool {
        true
    }

    fn run(
        &self,
        inputs: &crate::stage::Inputs,
        context: &crate::stage::StageContext,
    ) -> Result<crate::value::Value, StageError> {
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.config.args).current_dir(&self.folder).env_clear();
        command.envs(program::inherited()).envs(&self.config.env);
        let input = match self.config.input {
            ExecInput::Json => input_line(inputs)?,
            ExecInput::None => Vec::new(),
        };
        let ended =
            child::run(command, input, self.config.max_output, &context.cancel).map_err(|error| match error {
                child::Trouble::Start(error) => super::files::io_error("start", &self.program, &error),
                child::Trouble::Wait(error) => self.error(format_args!("could not be waited for: {error}"), &[]),
                child::Trouble::Stopped(stderr) => self.error("was stopped before it was done", &stderr),
                child::Trouble::TooMuch(stderr) => self
                    .error(format_args!("printed more than {} bytes and was ended", self.config.max_output), &stderr)
                    .hint("make it print less, or raise `with.max-output`"),
            })?;
        if let Some(problem) = self.failed(ended.status) {
            return Err(self.error(problem, &ended.stderr));
        }
        self.read(&ended)
    }
}

#[cfg(unix)]
impl Runner {
    /// A sentence about the program, with the end of its error output.
    fn error(&self, problem: impl std::fmt::Display, stderr: &[u8]) -> StageError {
        let error = StageError::new(format!("the program \"{}\" {problem}", self.config.program));
        let printed = String::from_utf8_lossy(stderr);
        match printed.trim_end() {
            "" => error,
            printed => error.detail(printed),
        }
    }

    fn failed(&self, status: std::process::ExitStatus) -> Option<String> {
        use std::os::unix::process::ExitStatusExt;
        match (status.code(), status.signal()) {
            (Some(code), _) if self.config.ok_codes.contains(&code) => None,
            (Some(code), _) => {
                let expected: Vec<String> = self.config.ok_codes.iter().map(ToString::to_string).collect();
                Some(format!("ended with the code {code}, expected {}", expected.join(" or ")))
            }
            (None, Some(signal)) => Some(format!("was ended by the signal {signal}")),
            (None, None) => Some("ended in a way that the system does not tell".to_owned()),
        }
    }

    fn read(&self, ended: &child::Ended) -> Result<crate::value::Value, StageError> {
        use crate::value::Value;
        let text = std::str::from_utf8(&ended.stdout).map_err(|error| {
            self.error(format_args!("printed no UTF-8: byte {} is wrong", error.valid_up_to() + 1), &ended.stderr)
        })?;
        if self.config.raw {
            let text = text.strip_suffix('\n').unwrap_or(text);
            return Ok(Value::text(text.strip_suffix('\r').unwrap_or(text)));
        }
        let hint = format!("it must print one JSON value of the type {} and nothing else", self.output);
        let json: Json = serde_json::from_str(text).map_err(|error| {
            let problem = match text.trim() {
                "" => "printed nothing, expected JSON".to_owned(),
                found => format!("printed no JSON: {error}; it begins with {:?}", beginning(found)),
            };
            self.error(problem, &ended.stderr).hint(&hint)
        })?;
        Value::from_json(self.output, json)
            .map_err(|error| self.error(format_args!("printed {error}"), &ended.stderr).hint(&hint))
    }
}

/// The first characters, enough to recognise a message that was printed in the wrong place.
#[cfg(unix)]
fn beginning(text: &str) -> &str {
    text.char_indices().nth(60).map_or(text, |(end, _)| &text[..end])
}

#[cfg(unix)]
fn input_line(inputs: &crate::stage::Inputs) -> Result<Vec<u8>, StageError> {
    let object: serde_json::Map<String, Json> = inputs
        .iter()
        .map(|(port, values)| {
            let json = match values {
                [one] => one.to_json(),
                several => Json::Array(several.iter().map(crate::value::Value::to_json).collect()),
            };
            (port.to_owned(), json)
        })
        .collect();
    let mut line = serde_json::to_vec(&object)
        .map_err(|error| StageError::permanent(format!("the inputs cannot be written as JSON: {error}")))?;
    line.push(b'\n');
    Ok(line)
}
