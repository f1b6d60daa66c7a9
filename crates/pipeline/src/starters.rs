//! Pipeline files to start from.

/// A pipeline file to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Starter {
    /// What `hatir new` calls it.
    pub name: &'static str,
    /// One sentence: what it shows.
    pub about: &'static str,
    /// The file.
    pub text: &'static str,
}

/// The starters, simplest first. Each is free of problems and has a test that passes.
///
/// ```
/// use hatir_pipeline::{Options, Registry, Source, compile, starters};
///
/// for starter in starters() {
///     let source = Source::new(format!("{}.toml", starter.name), starter.text);
///     assert!(compile(source, &Registry::standard(), &Options::default()).report.is_empty());
/// }
/// ```
pub fn starters() -> &'static [Starter] {
    &[
        Starter {
            name: "minimal",
            about: "One stage, one input, one test: the shape of a file.",
            text: include_str!("starters/minimal.toml"),
        },
        Starter {
            name: "follow-up",
            about: "Answers follow-up questions from a folder of Markdown pages.",
            text: include_str!("starters/follow-up.toml"),
        },
        Starter {
            name: "batch",
            about: "Makes every follow-up of a JSONL file stand alone, one record after another.",
            text: include_str!("starters/batch.toml"),
        },
        Starter {
            name: "exec",
            about: "A program of your own as a stage: JSON in, JSON out.",
            text: include_str!("starters/exec.toml"),
        },
    ]
}
