//! `hatir graph`, `explain`, `schema` and `stages`: what there is, without running anything.

use std::fmt::Write as _;
use std::io::Write;

use hatir_pipeline::{Code, Environment, KindEntry, Registry, file_schema};
use serde_json::{Value as Json, json};

use crate::args::{ExplainArgs, Format, GraphArgs, GraphFormat, SchemaArgs, StagesArgs};
use crate::exit::{Exit, Failure};
use crate::load;

pub(crate) fn graph(args: &GraphArgs) -> anyhow::Result<Exit> {
    let plan = match load::load(&args.file.file, &args.file.set, Environment::Unknown) {
        Ok(plan) => plan,
        Err(exit) => return Ok(exit),
    };
    let text = match args.format {
        GraphFormat::Text => plan.graph_text(),
        GraphFormat::Mermaid => plan.graph_mermaid(),
        GraphFormat::Dot => plan.graph_dot(),
        GraphFormat::Json => {
            load::print_json(Format::Json, &plan.graph_json())?;
            return Ok(Exit::Fine);
        }
    };
    print(&text)?;
    Ok(Exit::Fine)
}

pub(crate) fn explain(args: &ExplainArgs) -> anyhow::Result<Exit> {
    if let Some(code) = &args.code {
        return explain_code(code, args.format);
    }
    let Some(file) = &args.file else { return Ok(Exit::Wrong) };
    let plan = match load::load(file, &args.set, Environment::Unknown) {
        Ok(plan) => plan,
        Err(exit) => return Ok(exit),
    };
    match args.format {
        Format::Text => print(&plan.explain_text())?,
        format => load::print_json(format, &plan.explain_json())?,
    }
    Ok(Exit::Fine)
}

fn explain_code(name: &str, format: Format) -> anyhow::Result<Exit> {
    if name.eq_ignore_ascii_case("all") {
        let list: String = Code::all().fold(String::new(), |mut list, code| {
            let _ = writeln!(list, "{code}  {}", code.title());
            list
        });
        print(&list)?;
        return Ok(Exit::Fine);
    }
    let Some(code) = Code::parse(&name.to_ascii_uppercase()) else {
        return Err(Failure::wrong(format!("there is no code {name}"))
            .hint("`hatir explain --code all` lists them")
            .into());
    };
    match format {
        Format::Text => print(code.page())?,
        format => {
            load::print_json(format, &json!({ "code": code.to_string(), "title": code.title(), "page": code.page() }))?;
        }
    }
    Ok(Exit::Fine)
}

pub(crate) fn schema(args: &SchemaArgs) -> anyhow::Result<Exit> {
    let registry = Registry::standard();
    let schema = match &args.kind {
        None => file_schema(&registry),
        Some(name) => find_kind(&registry, name)?.schema().to_value(),
    };
    load::print_json(Format::Json, &schema)?;
    Ok(Exit::Fine)
}

pub(crate) fn stages(args: &StagesArgs) -> anyhow::Result<Exit> {
    let registry = Registry::standard();
    if let Some(name) = &args.kind {
        let kind = find_kind(&registry, name)?;
        match args.format {
            Format::Text => print(&describe(kind))?,
            format => load::print_json(format, &kind_json(kind))?,
        }
        return Ok(Exit::Fine);
    }
    match args.format {
        Format::Text => {
            let width = registry.iter().map(|kind| kind.name.len()).max().unwrap_or(0);
            let list: String = registry.iter().fold(String::new(), |mut list, kind| {
                let _ = writeln!(list, "{:width$}  {}", kind.name, kind.about);
                list
            });
            print(&list)?;
        }
        Format::Json => load::print_json(Format::Json, &registry.iter().map(kind_json).collect())?,
        Format::Jsonl => registry.iter().try_for_each(|kind| load::print_json(Format::Jsonl, &kind_json(kind)))?,
    }
    Ok(Exit::Fine)
}

fn find_kind<'registry>(registry: &'registry Registry, name: &str) -> anyhow::Result<&'registry KindEntry> {
    registry.get(name).ok_or_else(|| {
        let known: Vec<&str> = registry.iter().map(|kind| kind.name).collect();
        Failure::wrong(format!("there is no stage kind \"{name}\"; the kinds are {}", known.join(", "))).into()
    })
}

fn describe(kind: &KindEntry) -> String {
    let ports = kind.ports();
    let mut text = format!("{}\n  {}\n\n", kind.name, kind.about);
    for port in &ports.inputs {
        let need = if port.required { "" } else { ", optional" };
        let many = if port.many { ", one or more" } else { "" };
        let _ = writeln!(text, "  in.{}: {}{many}{need}\n      {}", port.name, port.accepts, port.about);
    }
    if let Some(kind) = ports.open {
        let _ = writeln!(text, "  in.ANY: {kind}, any number of further inputs");
    }
    let _ = writeln!(text, "  output: {}", ports.output);
    let schema = kind.schema().to_value();
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let default = match &property["default"] {
            _ if required.contains(&name.as_str()) => "required".to_owned(),
            Json::Null => "optional".to_owned(),
            default => format!("default {default}"),
        };
        let about =
            property["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = writeln!(text, "  with.{name} ({default})\n      {about}");
    }
    text
}

fn kind_json(kind: &KindEntry) -> Json {
    let ports = kind.ports();
    let inputs: Vec<Json> = ports
        .inputs
        .iter()
        .map(|port| {
            json!({
                "name": port.name,
                "type": port.accepts.as_str(),
                "required": port.required,
                "many": port.many,
                "about": port.about,
            })
        })
        .collect();
    json!({
        "kind": kind.name,
        "about": kind.about,
        "inputs": inputs,
        "further_inputs": ports.open.map(hatir_pipeline::Type::as_str),
        "output": ports.output.as_str(),
        "with": kind.schema().to_value(),
    })
}

fn print(text: &str) -> anyhow::Result<()> {
    Ok(std::io::stdout().lock().write_all(text.as_bytes())?)
}
