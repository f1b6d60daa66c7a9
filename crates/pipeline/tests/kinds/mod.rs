//! Stage kinds of the tests' own, and short ways to compile a text.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use hatir_pipeline::{
    BuildContext, Code, Compiled, Complaint, Environment, Inputs, Kind, Options, Plan, Port, Ports, Registry, Report,
    Source, Stage, StageContext, StageError, Type, Value, compile,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Declares a kind that runs as nothing in particular: only its declaration matters here.
macro_rules! kind {
    ($kind:ty, $name:literal, $about:literal, $ports:expr $(, $extra:item)*) => {
        impl Kind for $kind {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = $about;

            fn ports(_: Option<&Self>) -> Ports {
                $ports
            }

            fn build(&self, _: &BuildContext) -> Result<Box<dyn Stage>, StageError> {
                Ok(Box::new(Fixed))
            }

            $($extra)*
        }
    };
}

struct Fixed;

impl Stage for Fixed {
    fn run(&self, _: &Inputs, _: &StageContext) -> Result<Value, StageError> {
        Ok(Value::text("fixed"))
    }
}

/// The keys of the text kind.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Text {
    /// What it gives.
    text: String,
}
kind!(Text, "test.text", "Gives a text.", Ports::new(Vec::new(), Type::Text));

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Step {}
kind!(
    Step,
    "test.step",
    "Takes a text and gives one.",
    Ports::new(
        vec![
            Port::required("text", Type::Text, "The text."),
            Port::optional("extra", Type::Items, "Things beside it.").many(),
        ],
        Type::Text
    )
);

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Join {}
kind!(
    Join,
    "test.join",
    "Joins texts under any names.",
    Ports { open: Some(Type::Text), ..Ports::new(Vec::new(), Type::Text) }
);

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Found {}
kind!(
    Found,
    "test.find",
    "Finds things.",
    Ports::new(vec![Port::required("query", Type::Query, "What to look for.")], Type::Hits)
);

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Write {}
kind!(
    Write,
    "test.write",
    "Writes a text away.",
    Ports::new(vec![Port::required("text", Type::Text, "What is written.")], Type::Number),
    fn has_effects(&self) -> bool {
        true
    }
);

/// Every form of key there is.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Rich {
    /// How many.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
    /// How many more.
    #[serde(default)]
    more: Option<u8>,
    /// How much.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    share: f64,
    #[serde(default)]
    fast: bool,
    /// How it goes about it.
    #[serde(default)]
    mode: Mode,
    #[serde(default)]
    other_mode: Option<Mode>,
    #[serde(default)]
    #[schemars(extend("format" = "duration"))]
    patience: Option<String>,
    #[serde(default)]
    #[schemars(extend("format" = "path"))]
    path: Option<PathBuf>,
    #[serde(default)]
    #[schemars(length(min = 1))]
    names: Vec<String>,
    #[serde(default)]
    weights: BTreeMap<String, f64>,
    #[serde(default)]
    nested: Option<Nested>,
    #[serde(default)]
    one_or_many: Option<OneOrMany>,
    #[serde(default)]
    way: Option<Way>,
    /// A name that only the kind itself can judge.
    #[serde(default)]
    word: Option<String>,
}

fn ten() -> u32 {
    10
}

#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mode {
    /// Not at all fast.
    #[default]
    Slow,
    /// Fast.
    VeryFast,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Nested {
    depth: i8,
    #[serde(default)]
    inner: Option<Box<Nested>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Way {
    Left,
    Right,
    Round {
        #[schemars(range(min = 1))]
        times: u32,
    },
}

kind!(
    Rich,
    "test.rich",
    "Has keys of every form.",
    Ports::new(Vec::new(), Type::Text),
    fn check(&self) -> Vec<Complaint> {
        let wrong = self.word.as_ref().filter(|word| word.contains(' '));
        let complaint = |word| Complaint::about("word", format!("{word:?} are two words")).help("take one of them");
        wrong.map(complaint).into_iter().collect()
    }
);

pub(crate) fn registry() -> Registry {
    let mut registry = Registry::empty();
    registry.register::<Text>();
    registry.register::<Step>();
    registry.register::<Join>();
    registry.register::<Found>();
    registry.register::<Write>();
    registry.register::<Rich>();
    registry
}

pub(crate) fn compile_with(text: &str, options: &Options) -> Compiled {
    let compiled = compile(Source::new("test.toml", text), &registry(), options);
    assert_eq!(compiled.plan.is_some(), !compiled.report.has_errors(), "a plan and errors exclude each other");
    compiled
}

pub(crate) fn report(text: &str) -> Report {
    compile_with(text, &Options::default()).report
}

/// The plan of a text without errors.
pub(crate) fn plan(text: &str) -> Plan {
    let compiled = compile_with(text, &Options::default());
    let rendered = compiled.report.render(false);
    compiled.plan.unwrap_or_else(|| panic!("{rendered}"))
}

/// Every problem as its code and the text that it points at.
pub(crate) fn problems(report: &Report) -> Vec<(Code, &str)> {
    let place = |problem: &hatir_pipeline::Problem| problem.place.as_ref().map(|place| place.span);
    report
        .problems()
        .iter()
        .map(|problem| (problem.code, place(problem).and_then(|span| report.text(span)).unwrap_or("")))
        .collect()
}

/// A file with one stage `a` of the kind `test.rich`, and `lines` in its table.
pub(crate) fn rich(lines: &str) -> String {
    format!("version = 1\n[pipeline]\noutput = \"a\"\nenv = []\n[stage.a]\nuse = \"test.rich\"\n{lines}\n")
}

pub(crate) fn known(variables: &[(&str, &str)]) -> Environment {
    Environment::Known(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}
