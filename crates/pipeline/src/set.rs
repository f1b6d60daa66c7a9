//! `--set KEY=VALUE`: changes the tree of a file before it is checked.

use crate::codes::Code;
use crate::diagnostic::{Problem, Source, Span};
use crate::names::{list, nearest, quote};
use crate::tree::{self, Entry, Node, Table, Tree};

/// One argument as a source that problems can point into.
pub(crate) fn source(argument: &str) -> Source {
    Source::new("--set", argument)
}

/// Changes `root`, whose text is source 0, as the argument that is source `number` says.
pub(crate) fn apply(root: &mut Node, number: usize, argument: &str) -> Vec<Problem> {
    let (keys, value) = match read(number, argument) {
        Ok(read) => read,
        Err(problem) => return vec![*problem],
    };
    match place(root, &keys, value) {
        Ok(()) => Vec::new(),
        Err(problem) => vec![*problem],
    }
}

type Key = (String, Span);

fn read(number: usize, argument: &str) -> Result<(Vec<Key>, Node), Box<Problem>> {
    let whole = Span::new(number, 0..argument.len());
    let malformed = |message: &str, span: Span| {
        let problem = Problem::new(Code::WRONG_SET, format!("{message}: {}", quote(argument))).at(span);
        Box::new(problem.found(quote(argument), "KEY=VALUE").help("as in `--set stage.found.with.top-k=5`"))
    };
    let equals = key_end(argument).ok_or_else(|| malformed("there is no \"=\" in the argument of --set", whole))?;
    let key = &argument[..equals];
    // The key is read on its own first, with a value that cannot be wrong.
    let (probe, problems) = tree::parse(number, &format!("{key}=0"));
    let keys = path(&probe).filter(|keys| problems.is_empty() && !keys.is_empty());
    let keys =
        keys.ok_or_else(|| malformed("the key in the argument of --set cannot be read", Span::new(number, 0..equals)))?;
    let written = &argument[equals + 1..];
    let (whole_tree, problems) = tree::parse(number, argument);
    let value = if problems.is_empty() && !written.contains(['\n', '\r']) { descend(whole_tree, &keys) } else { None };
    // What is no TOML value is a text: nobody wants to quote for the shell and for TOML.
    let start = equals + 1 + (written.len() - written.trim_start().len());
    let end = start + written.trim().len();
    let text = || Node::new(Tree::String(written.trim().to_owned()), Span::new(number, start..end));
    Ok((keys, value.unwrap_or_else(text)))
}

/// The first `=` outside quotes.
fn key_end(argument: &str) -> Option<usize> {
    let mut quote = None;
    for (at, letter) in argument.char_indices() {
        match (quote, letter) {
            (None, '=') => return Some(at),
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => {}
        }
    }
    None
}

/// The keys that lead to the only value.
fn path(mut node: &Node) -> Option<Vec<Key>> {
    let mut keys = Vec::new();
    while let Tree::Table(table) = &node.tree {
        let (key, entry) = table.first().filter(|_| table.len() == 1)?;
        keys.push((key.clone(), entry.key));
        node = &entry.node;
    }
    Some(keys)
}

fn descend(mut node: Node, keys: &[Key]) -> Option<Node> {
    for (key, _) in keys {
        let Tree::Table(mut table) = node.tree else { return None };
        if table.len() != 1 {
            return None;
        }
        node = table.swap_remove(key)?.node;
    }
    Some(node)
}

fn place(root: &mut Node, keys: &[Key], value: Node) -> Result<(), Box<Problem>> {
    let mut node = root;
    let mut walked: Vec<&str> = Vec::new();
    for (at, (key, span)) in keys.iter().enumerate() {
        let found = node.describe();
        let Tree::Table(table) = &mut node.tree else {
            let message = format!("`{}` is {found}, so there is no `{key}` in it", walked.join("."));
            let problem = Problem::new(Code::SET_NOWHERE, message).at(*span);
            return Err(Box::new(problem.help("--set reaches tables only; give the whole value instead")));
        };
        if walked.as_slice() == ["stage"] && !table.contains_key(key) {
            return Err(Box::new(unknown_stage(table, key, *span)));
        }
        walked.push(key);
        let entry = table
            .entry(key.clone())
            .or_insert_with(|| Entry { key: *span, node: Node::new(Tree::Table(Table::new()), *span) });
        if at + 1 == keys.len() {
            *entry = Entry { key: *span, node: value };
            return Ok(());
        }
        node = &mut entry.node;
    }
    Ok(())
}

fn unknown_stage(table: &Table, name: &str, span: Span) -> Problem {
    let names = || table.keys().map(String::as_str);
    Problem::new(Code::SET_NOWHERE, format!("there is no stage {}", quote(name)))
        .at(span)
        .found(quote(name), list(names()))
        .suggest(nearest(name, names()))
        .help(format!("the stages of the file are {}", list(names()).replace(" or ", " and ")))
}
