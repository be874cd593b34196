//! `kontext_search`, `kontext_history`, `kontext_code`: one op of all adapters, merged.

use std::fmt::Write as _;

use kontext_engine::Engine;
use kontext_engine::search::{Ask, DEFAULT_LIMIT, Found, MAX_LIMIT};
use serde_json::{Map, Value, json};

use super::{Pending, Run, Tool, schema};
use crate::answers::{Hit, Hits, Note};
use crate::arguments;
use crate::gates::{Class, Gates};
use crate::source::AnswerError;

pub(super) const SEARCH: Tool = Tool {
    name: "kontext_search",
    title: "Search all adapters",
    description: "Searches every active adapter that has a `search` op, all at once, and merges \
        what they find. Sources that fail are named in `notes`; the others' hits are there. Read a \
        hit's whole document with kontext_read {uri}.",
    class: Class::External,
    input: || {
        schema::object(
            json!({
                "query": schema::described("What to look for."),
                "limit": schema::limit(),
                "sources": {
                    "type": "array",
                    "items": schema::text(),
                    "description": "Only these adapters, by name.",
                },
            }),
            &["query"],
        )
    },
    output,
    run: Run::Adapters(|engine, gates, arguments| run(Ask::Search, engine, gates, arguments)),
};

pub(super) const HISTORY: Tool = Tool {
    name: "kontext_history",
    title: "History of a file or commit",
    description: "Asks every active adapter that has a `history` op what is known of the past of a \
        file, a folder or a commit.",
    class: Class::External,
    input: || {
        schema::object(
            json!({
                "target": schema::described("A path, or a commit."),
                "limit": schema::limit(),
            }),
            &["target"],
        )
    },
    output,
    run: Run::Adapters(|engine, gates, arguments| run(Ask::History, engine, gates, arguments)),
};

pub(super) const CODE: Tool = Tool {
    name: "kontext_code",
    title: "Search code",
    description: "Searches every active adapter that has a `code` op: symbols, callers, text in \
        code, whatever they are made for.",
    class: Class::External,
    input: || {
        schema::object(
            json!({
                "query": schema::described("A symbol, or what to look for."),
                "limit": schema::limit(),
            }),
            &["query"],
        )
    },
    output,
    run: Run::Adapters(|engine, gates, arguments| run(Ask::Code, engine, gates, arguments)),
};

fn run(ask: Ask, engine: Engine, _gates: Gates, arguments: Map<String, Value>) -> Pending {
    Box::pin(async move {
        let name = if ask == Ask::History {
            "target"
        } else {
            "query"
        };
        let query = arguments::text(&arguments, name).unwrap_or_default().trim();
        if query.is_empty() {
            return Err(AnswerError(format!(
                "`{name}` is empty: say what to look for"
            )));
        }
        let limit = limit(&arguments)?;
        let sources = sources(&arguments)?;
        let mut inputs = Map::new();
        inputs.insert("query".to_owned(), query.into());
        if ask == Ask::History {
            inputs.insert("target".to_owned(), query.into());
        }
        inputs.insert("limit".to_owned(), limit.into());
        let found = engine.search(ask, inputs, sources.as_deref(), limit).await;
        let answer = Hits::of(found);
        super::reply(
            &answer,
            |answer| text(answer, ask),
            "Ask for fewer hits with `limit`.",
        )
    })
}

fn limit(arguments: &Map<String, Value>) -> Result<usize, AnswerError> {
    let Some(limit) = arguments.get("limit") else {
        return Ok(DEFAULT_LIMIT);
    };
    let limit = limit.as_u64().and_then(|limit| usize::try_from(limit).ok());
    limit
        .filter(|limit| (1..=MAX_LIMIT).contains(limit))
        .ok_or_else(|| {
            AnswerError(format!(
                "`limit` must be a whole number from 1 to {MAX_LIMIT}"
            ))
        })
}

fn sources(arguments: &Map<String, Value>) -> Result<Option<Vec<String>>, AnswerError> {
    let Some(list) = arguments.get("sources").and_then(Value::as_array) else {
        return Ok(None);
    };
    let names = list.iter().map(|name| name.as_str().map(str::to_owned));
    names
        .collect::<Option<Vec<String>>>()
        .map(Some)
        .ok_or_else(|| AnswerError("`sources` must be a list of adapter names".to_owned()))
}

impl Hits {
    /// What the engine found, in the shape of the protocol.
    pub fn of(found: Found) -> Self {
        Self {
            hits: found.hits.into_iter().map(Hit::from).collect(),
            notes: found.notes.into_iter().map(Note::from).collect(),
        }
    }
}

impl From<kontext_engine::answer::MergedHit> for Hit {
    fn from(merged: kontext_engine::answer::MergedHit) -> Self {
        Self {
            source: merged.source,
            score: Some(merged.score),
            ..merged.hit.into()
        }
    }
}

impl From<kontext_engine::answer::Hit> for Hit {
    fn from(hit: kontext_engine::answer::Hit) -> Self {
        Self {
            title: Some(hit.title),
            snippet: hit.snippet,
            uri: hit.uri,
            score: hit.score,
            kind: hit.kind,
            date: hit.date,
            source: String::new(),
        }
    }
}

impl From<kontext_engine::search::Note> for Note {
    fn from(note: kontext_engine::search::Note) -> Self {
        Self {
            source: note.source,
            message: note.message,
        }
    }
}

pub(super) fn hit_lines(out: &mut String, hits: &[Hit]) {
    for (at, hit) in hits.iter().enumerate() {
        let _ = write!(out, "{}. {}", at + 1, hit.title.as_deref().unwrap_or("-"));
        let more = [&hit.kind, &hit.date];
        for part in more.into_iter().flatten() {
            let _ = write!(out, " · {part}");
        }
        if !hit.source.is_empty() {
            let _ = write!(out, " · {}", hit.source);
        }
        out.push('\n');
        let snippet = hit
            .snippet
            .as_ref()
            .filter(|snippet| Some(*snippet) != hit.title.as_ref());
        for line in [&hit.uri].into_iter().flatten().chain(snippet) {
            let _ = writeln!(out, "   {line}");
        }
    }
}

pub(super) fn note_lines(out: &mut String, notes: &[Note]) {
    if !notes.is_empty() {
        out.push_str("\nNotes:\n");
    }
    for note in notes {
        let _ = writeln!(out, "- {}: {}", note.source, note.message);
    }
}

fn text(answer: &Hits, ask: Ask) -> String {
    let mut out = String::new();
    if answer.hits.is_empty() && answer.notes.is_empty() {
        let _ = writeln!(
            out,
            "No hits. (kontext_status says which adapters are active; only those with a `{}` op are asked.)",
            ask.op()
        );
    } else if answer.hits.is_empty() {
        out.push_str("No hits.\n");
    }
    hit_lines(&mut out, &answer.hits);
    note_lines(&mut out, &answer.notes);
    out
}

fn output() -> Value {
    schema::object(
        json!({
            "hits": schema::list(schema::hit()),
            "notes": schema::list(schema::note()),
            "omitted": schema::omitted(),
        }),
        &["hits", "notes"],
    )
}
