//! A stage kind of one's own: declared once, registered, and used from a pipeline file like those that come with Hatır.
//!
//! ```console
//! $ cargo run -p hatir-pipeline --example custom_stage
//! Write to [hidden] or call us.
//! ```
//!
//! Three things make a kind: a struct that holds its `with` table, an implementation of [`Kind`] that declares ports and
//! checks, and a [`Stage`] that does the work. The documentation of the struct's fields is what `hatir stages` and the
//! editor show, `#[serde(default)]` makes a key optional, and the checker tells a wrong key with file, line and column.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::error::Error;
use std::sync::Arc;

use hatir_pipeline::{
    BuildContext, BuildOptions, Complaint, Inputs, Kind, Options, Port, Ports, Registry, RunOptions, Runner, Source,
    Stage, StageContext, StageError, Type, Value, Weight, compile,
};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// What stands under `with`.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct HideAddresses {
    /// What is put in the place of an address.
    #[serde(default = "hidden")]
    mark: String,
    /// Domains whose addresses stay, such as `example.com`.
    #[serde(default)]
    keep: Vec<String>,
}

fn hidden() -> String {
    "[hidden]".to_owned()
}

impl Kind for HideAddresses {
    // A prefix of one's own keeps clear of kinds that come later.
    const NAME: &'static str = "acme.hide-addresses";
    const ABOUT: &'static str = "Hides e-mail addresses in a text.";

    fn ports(_: Option<&Self>) -> Ports {
        Ports::new(vec![Port::required("text", Type::Text, "The text.")], Type::Text)
    }

    // What the types of the fields cannot say. This runs when the file is checked: no disk, no network.
    fn check(&self) -> Vec<Complaint> {
        let wrong = self.keep.iter().filter(|domain| domain.contains('@'));
        wrong
            .map(|domain| {
                Complaint::about("keep", format!("found \"{domain}\", expected a domain without the `@`"))
                    .help("write \"example.com\", not \"somebody@example.com\"")
            })
            .collect()
    }

    // The first moment at which files may be opened. There are none here.
    fn build(&self, _: &BuildContext) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(self.clone()))
    }
}

impl HideAddresses {
    fn hides(&self, word: &str) -> bool {
        let word = word.trim_matches(|sign: char| !sign.is_alphanumeric());
        word.split_once('@').is_some_and(|(name, domain)| {
            !name.is_empty() && domain.contains('.') && !self.keep.iter().any(|kept| kept == domain)
        })
    }
}

impl Stage for HideAddresses {
    // One stage serves all records of a batch, from several threads at once: it keeps no state, or locks it.
    fn run(&self, inputs: &Inputs, _: &StageContext) -> Result<Value, StageError> {
        let Value::Text(text) = inputs.need("text")?.convert(Type::Text).map_err(|error| {
            // Trying again would not help, so that `retries` does not apply.
            StageError::permanent(format!("the text cannot be used: {error}"))
        })?
        else {
            return Err(StageError::permanent("the text is no text"));
        };
        let words = text.split(' ').map(|word| if self.hides(word) { self.mark.as_str() } else { word });
        Ok(Value::text(words.collect::<Vec<_>>().join(" ")))
    }

    // Microseconds of work: run in place, without a thread of its own. Leave this out for anything longer.
    fn weight(&self) -> Weight {
        Weight::Light
    }
}

/// Usually a file of its own, beside the program.
const PIPELINE: &str = r#"
version = 1

[pipeline]
about  = "Hide addresses before a text is kept."
input  = { letter = "text" }
output = "clean"

[stage.clean]
use = "acme.hide-addresses"
in.text = "$input.letter"
with.keep = ["example.com"]
"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut registry = Registry::standard();
    registry.register::<HideAddresses>();

    let compiled = compile(Source::new("letters.toml", PIPELINE), &registry, &Options::default());
    // Errors and warnings, all of them, each with its place in the file.
    let report = compiled.report.render(false);
    let plan = compiled.plan.ok_or(report)?;

    let runner = Runner::build(Arc::new(plan), &BuildOptions::default())?;
    let given = IndexMap::from([("letter".to_owned(), json!("Write to ayse@mail.example or call us."))]);
    let inputs = runner.read_inputs(given, false).map_err(|problems| problems.join("; "))?;
    let result = runner.run(&inputs, &RunOptions::default()).await;
    runner.flush().map_err(|failures| failures[0].to_string())?;

    match result.failure() {
        Some(failed) => Err(format!("the stage {} failed: {:?}", failed.stage, failed.error).into()),
        None => {
            let output = result.output.ok_or("the run was interrupted")?.to_json();
            println!("{}", output.as_str().unwrap_or_default());
            Ok(())
        }
    }
}
