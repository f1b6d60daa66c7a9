//! What is asked: queries, the conversations they stand in, and the text that is made of both.

use std::collections::HashMap;
use std::path::PathBuf;

use hatir_condense::{Condenser, Conversation, Options, Role, Turn};
use jiff::Timestamp;
use serde_json::Value as Json;

use super::args::{QueryArgs, QueryFrom, SetArgs};
use super::files::{Entry, Place, kind, read_objects};
use super::record::moment;
use crate::exit::Failure;

/// A query, ready to be asked.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) place: Place,
    pub(crate) id: String,
    /// What is asked.
    pub(crate) text: String,
    pub(crate) language: Option<String>,
    pub(crate) category: Option<String>,
    /// When it is asked: `now`.
    pub(crate) now: Option<Timestamp>,
    /// The store it searches, when there are several.
    pub(crate) group: Option<String>,
    /// What was said before.
    pub(crate) turns: Vec<Turn>,
}

/// A query with what its conversation adds.
struct Source {
    entry: Entry,
    id: String,
    text: Option<String>,
    raw: Option<String>,
    rewrite: Option<String>,
    turns: Vec<Turn>,
}

/// Reads the queries and makes of each what is asked.
pub(crate) fn read(set: &SetArgs, args: &QueryArgs) -> Result<Vec<Question>, Failure> {
    if args.query_from == QueryFrom::Terms {
        return Err(Failure::wrong("--query-from terms: the condenser makes no weighted terms yet")
            .hint("--query-from rewrite asks its stand-alone rewrite"));
    }
    let conversations = read_conversations(&args.conversations)?;
    let mut sources: Vec<Source> = Vec::new();
    let mut seen: HashMap<String, Place> = HashMap::new();
    for entry in read_objects(&set.queries, "queries")? {
        let source = source(entry, &conversations, set.no_context)?;
        if let Some(first) = seen.insert(source.id.clone(), source.entry.place.clone()) {
            return Err(source.entry.place.wrong(format!("the id {:?} was used already, in {first}", source.id)));
        }
        sources.push(source);
    }
    if matches!(args.query_from, QueryFrom::LastRaw | QueryFrom::Rewrite)
        && sources.iter().all(|source| source.turns.is_empty())
    {
        let path = set.queries.display();
        return Err(Failure::wrong(format!("{path}: no query has turns that were said before it"))
            .hint("give the conversations with --conversations, or ask the queries with --query-from text"));
    }
    sources.into_iter().map(|source| source.question(set, args.query_from)).collect()
}

fn read_conversations(paths: &[PathBuf]) -> Result<HashMap<String, Entry>, Failure> {
    let mut conversations: HashMap<String, Entry> = HashMap::new();
    for path in paths {
        for entry in read_objects(path, "conversations")? {
            let id = entry.id()?;
            if let Some(first) = conversations.get(&id) {
                return Err(entry.place.wrong(format!("the id {id:?} was used already, in {}", first.place)));
            }
            conversations.insert(id, entry);
        }
    }
    Ok(conversations)
}

fn source(entry: Entry, conversations: &HashMap<String, Entry>, no_context: bool) -> Result<Source, Failure> {
    let id = entry.id()?;
    let conversation = conversations.get(&id);
    let of_conversation = |key: &str| conversation.map_or(Ok(None), |conversation| conversation.text(key));
    let text = entry.text("text")?;
    let raw = entry.text("raw")?;
    let rewrite = match (entry.text("rewrite")?, of_conversation("rewrite")?) {
        (Some(rewrite), _) | (None, Some(rewrite)) => Some(rewrite),
        // A set that keeps what was typed apart has the resolved utterance as its text.
        (None, None) if raw.is_some() => text.clone(),
        (None, None) => None,
    };
    let raw = raw.or(of_conversation("follow_up")?);
    let holder = if entry.get("turns").is_some() { Some(&entry) } else { conversation };
    let mut turns = holder.map_or(Ok(Vec::new()), read_turns)?;
    if no_context {
        turns.retain(|turn| turn.role != Role::Context);
    }
    Ok(Source { entry, id, text, raw, rewrite, turns })
}

fn read_turns(entry: &Entry) -> Result<Vec<Turn>, Failure> {
    let turns = match entry.get("turns") {
        None => return Ok(Vec::new()),
        Some(Json::Array(turns)) => turns,
        Some(other) => return Err(entry.place.wrong(format!("`turns` is {}, expected a list", kind(other)))),
    };
    turns
        .iter()
        .map(|turn| {
            let text = turn["text"].as_str();
            let text = text.ok_or_else(|| entry.place.wrong("a turn has no `text`"))?.to_owned();
            let role = match turn["role"].as_str() {
                Some("user") => Role::User,
                Some("assistant") => Role::Assistant,
                Some("context") => Role::Context,
                _ => {
                    let problem = format!("a turn has the role {}", turn["role"]);
                    return Err(entry.place.wrong(format!("{problem}, expected user, assistant or context")));
                }
            };
            Ok(Turn { role, text })
        })
        .collect()
}

impl Source {
    fn question(self, set: &SetArgs, from: QueryFrom) -> Result<Question, Failure> {
        let text = self.asked(from)?;
        let entry = &self.entry;
        let group = match &set.group {
            None => None,
            Some(path) => {
                // Documents keep it in their `meta`, queries beside their text.
                let key = path.rsplit('.').next().unwrap_or(path);
                Some(entry.scalar(key).ok_or_else(|| {
                    entry.place.wrong(format!("`{key}` is missing, and --group {path} makes stores by it"))
                })?)
            }
        };
        let (language, category) = (entry.text("lang")?, entry.scalar("category"));
        let now = match entry.text("now")? {
            None => None,
            Some(text) => Some(moment(&text).ok_or_else(|| {
                let problem = format!("`now` is {text:?}, which is no date that is understood");
                entry
                    .place
                    .wrong(problem)
                    .hint("dates are as 2023-05-08T13:56:00Z, 2023-05-08 or 1:56 pm on 8 May, 2023")
            })?),
        };
        Ok(Question { place: self.entry.place, id: self.id, text, language, category, now, group, turns: self.turns })
    }

    fn asked(&self, from: QueryFrom) -> Result<String, Failure> {
        let missing = |what: &str| self.entry.place.wrong(format!("{:?} has {what}", self.id));
        let typed = || {
            let typed = self.raw.as_ref().or(self.text.as_ref());
            typed.ok_or_else(|| {
                missing("no `text` and no `raw`, nor a `follow_up` in a conversation")
                    .hint("give its conversation with --conversations")
            })
        };
        match from {
            QueryFrom::Text => Ok(self.text.as_ref().map_or_else(typed, Ok)?.clone()),
            QueryFrom::Raw => Ok(typed()?.clone()),
            QueryFrom::LastRaw => {
                let last = self.turns.iter().rev().find(|turn| turn.role == Role::User);
                let typed = typed()?;
                Ok(last.map_or_else(|| typed.clone(), |last| format!("{} {typed}", last.text)))
            }
            QueryFrom::Human => self.rewrite.clone().ok_or_else(|| {
                missing("no rewrite by a person").hint("`rewrite` of a conversation, or `text` beside `raw`, is one")
            }),
            QueryFrom::Rewrite | QueryFrom::Terms => {
                let history = Conversation::from(self.turns.clone());
                Ok(Condenser::new().condense(&history, typed()?, &Options::default()).query)
            }
        }
    }
}
