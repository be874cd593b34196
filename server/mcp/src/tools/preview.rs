//! `kontext_preview`: what an op would send, or what it makes of an answer.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::search::hit_lines;
use super::{Reply, Run, Tool, schema};
use crate::answers::Preview;
use crate::arguments;
use crate::gates::Class;
use crate::source::{AnswerError, Answers};
use crate::words::counted;

pub(super) const TOOL: Tool = Tool {
    name: "kontext_preview",
    title: "Preview an op",
    description: "Shows the exact request an op would make with given inputs, secrets masked, \
        without making it; or, with `payload`, which hits its `items`, `where` and `map` make of \
        that answer. Follows unsaved text.",
    class: Class::Read,
    input: || {
        let mut members = schema::op_members();
        let payload = json!({
            "description": "An answer: a text as the source would send it, or JSON.",
        });
        members.insert("payload".to_owned(), payload);
        schema::object(Value::Object(members), &["adapter", "op"])
    },
    output,
    run: Run::Snapshot(run),
};

fn run(answers: &dyn Answers, arguments: &Map<String, Value>) -> Result<Reply, AnswerError> {
    let named = |name| arguments::text(arguments, name).unwrap_or_default();
    let none = Map::new();
    let inputs = arguments.get("inputs").and_then(Value::as_object);
    let preview = answers.preview(
        named("adapter"),
        named("op"),
        inputs.unwrap_or(&none),
        arguments.get("payload"),
    )?;
    super::reply(&preview, text, "Give a shorter payload.")
}

fn text(preview: &Preview) -> String {
    let mut out = String::new();
    if let Some(request) = &preview.request {
        let shown = serde_json::to_string_pretty(request).unwrap_or_default();
        let _ = writeln!(out, "It would send:\n{shown}");
    }
    if let Some(hits) = &preview.hits {
        let _ = writeln!(out, "{}", counted(hits.len(), "hit"));
        hit_lines(&mut out, hits);
    }
    if let Some(dropped) = preview.dropped.filter(|dropped| *dropped > 0) {
        let items = counted(usize::try_from(dropped).unwrap_or(usize::MAX), "item");
        let _ = writeln!(out, "{items} without title and snippet left out");
    }
    for note in &preview.notes {
        let _ = writeln!(out, "- {note}");
    }
    out
}

fn output() -> Value {
    schema::object(
        json!({
            "request": {},
            "hits": schema::list(schema::object(
                json!({
                    "title": schema::text(), "snippet": schema::text(), "uri": schema::text(),
                    "score": {"type": "number"}, "kind": schema::text(), "date": schema::text(),
                    "source": schema::text(),
                }),
                &[],
            )),
            "dropped": schema::count(),
            "notes": schema::list(schema::text()),
            "omitted": schema::omitted(),
        }),
        &[],
    )
}
