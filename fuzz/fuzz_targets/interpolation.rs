//! Any string as a value with environment variables in it, by itself and inside a pipeline file.
#![no_main]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

use hatir_pipeline::{Environment, Options, Registry, Source, Template, compile};
use libfuzzer_sys::fuzz_target;

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::standard);

/// A basic string of TOML that reads as `text`.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            _ if letter.is_control() => write!(quoted, "\\u{:04X}", u32::from(letter)).expect("a String takes all"),
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

fuzz_target!(|text: &str| {
    let template = Template::parse(text);
    match &template {
        Ok(template) => {
            for reference in template.references() {
                let written = text.get(reference.range.clone()).expect("a range of the text");
                assert!(written.starts_with("${") && written.ends_with('}'), "{written:?}");
                assert!(written.contains(&reference.name));
            }
            let filled = template.fill(|_, default| default.map(str::to_owned));
            let without_default = template.references().find(|reference| reference.default.is_none());
            assert_eq!(filled.err(), without_default);
            // What is filled in is taken as it is: a value that looks like a reference is none.
            let filled = template.fill(|_, _| Some("${A}".to_owned())).expect("every reference has a value");
            assert!(filled.matches("${A}").count() >= template.references().count());
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in errors {
                assert!(text.get(error.range.clone()).is_some_and(|wrong| !wrong.is_empty()), "{error:?}");
            }
        }
    }
    let escaped = Template::parse(&Template::escape(text)).expect("an escaped text has no references");
    assert_eq!(escaped.fill(|_, _| None).as_deref(), Ok(text));

    let file = format!(
        "version = 1\n[pipeline]\nenv = [\"A\"]\noutput = \"page\"\n\
         [stage.page]\nuse = \"read.file\"\nwith.path = {}\n",
        quoted(text)
    );
    let known = Environment::Known(BTreeMap::from([("A".to_owned(), "${A}".to_owned())]));
    for environment in [Environment::Unknown, known] {
        let options = Options { environment, ..Options::default() };
        let compiled = compile(Source::new("fuzz.toml", file.as_str()), &REGISTRY, &options);
        assert_eq!(compiled.plan.is_some(), !compiled.report.has_errors());
        assert!(template.is_ok() || compiled.report.has_errors(), "a broken reference is reported: {text:?}");
        compiled.report.render(false);
    }
});
