//! `kontext_read` and `kontext_brief`: texts.

use std::fmt::Write as _;

use kontext_engine::Engine;
use serde_json::{Map, Value, json};

use super::search::note_lines;
use super::{Pending, Run, Tool, schema};
use crate::answers::{Note, SourceText, Texts};
use crate::arguments;
use crate::gates::{Class, Gates};
use crate::source::AnswerError;

pub(super) const READ: Tool = Tool {
    name: "kontext_read",
    title: "Read a document",
    description: "Reads the document of a URI, as a hit of kontext_search names it, from the \
        adapter that owns such URIs.",
    class: Class::External,
    input: || {
        schema::object(
            json!({
                "uri": schema::described("The URI of a hit."),
                "level": schema::described("How much of it, where the adapter offers several."),
            }),
            &["uri"],
        )
    },
    output,
    run: Run::Adapters(read),
};

pub(super) const BRIEF: Tool = Tool {
    name: "kontext_brief",
    title: "Brief on the project",
    description: "Asks every active adapter that has a `brief` op for what one should know now, \
        on the whole or with a focus.",
    class: Class::External,
    input: || {
        schema::object(
            json!({"focus": schema::described("What it is to be about.")}),
            &[],
        )
    },
    output,
    run: Run::Adapters(brief),
};

fn read(engine: Engine, _gates: Gates, arguments: Map<String, Value>) -> Pending {
    Box::pin(async move {
        let uri = arguments::text(&arguments, "uri")
            .unwrap_or_default()
            .trim();
        if uri.is_empty() {
            return Err(AnswerError(
                "`uri` is empty: name the document to read".to_owned(),
            ));
        }
        let read = engine
            .read(uri, arguments::text(&arguments, "level"))
            .await
            .map_err(|error| AnswerError(error.to_string()))?;
        let note = |message| Note {
            source: read.source.clone(),
            message,
        };
        let answer = Texts {
            notes: read.notes.into_iter().map(note).collect(),
            texts: vec![SourceText {
                source: read.source.clone(),
                text: read.text,
            }],
        };
        reply(answer)
    })
}

fn brief(engine: Engine, _gates: Gates, arguments: Map<String, Value>) -> Pending {
    Box::pin(async move {
        let mut inputs = Map::new();
        if let Some(focus) = arguments::text(&arguments, "focus") {
            inputs.insert("focus".to_owned(), focus.into());
            inputs.insert("query".to_owned(), focus.into());
        }
        let briefs = engine.brief(inputs).await;
        let texts = briefs.texts.into_iter();
        reply(Texts {
            texts: texts
                .map(|(source, text)| SourceText { source, text })
                .collect(),
            notes: briefs.notes.into_iter().map(Note::from).collect(),
        })
    })
}

pub(super) fn reply(answer: Texts) -> Result<super::Reply, AnswerError> {
    super::reply(&bounded(answer), text, "Ask for less of it.")
}

/// Cuts texts that alone would go over the budget: lists are cut at their items, and a text is
/// one item.
fn bounded(mut answer: Texts) -> Texts {
    let share = crate::budget::RESULT_BUDGET * 3 / 4 / answer.texts.len().max(1);
    for one in &mut answer.texts {
        if let Some(end) = end_within(&one.text, share) {
            let whole = one.text.len();
            one.text.truncate(end);
            let _ = write!(one.text, "\n\n[cut after {end} of {whole} bytes]");
        }
    }
    answer
}

/// Where a text has to end so that it takes no more than `most` bytes as JSON, in which a line
/// break takes two; `None` where all of it fits.
fn end_within(text: &str, most: usize) -> Option<usize> {
    let mut taken = 0usize;
    text.char_indices().find_map(|(at, c)| {
        taken += match c {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            c if c.is_ascii_control() => 6,
            c => c.len_utf8(),
        };
        (taken > most).then_some(at)
    })
}

fn text(answer: &Texts) -> String {
    let mut out = String::new();
    if answer.texts.is_empty() {
        out.push_str("No adapter gave a text.\n");
    }
    let several = answer.texts.len() > 1;
    for one in &answer.texts {
        if several {
            let _ = writeln!(out, "# {}\n", one.source);
        }
        out.push_str(one.text.trim_end());
        out.push_str("\n\n");
    }
    note_lines(&mut out, &answer.notes);
    out
}

pub(super) fn output() -> Value {
    let one = schema::object(
        json!({"source": schema::text(), "text": schema::text()}),
        &["source", "text"],
    );
    schema::object(
        json!({
            "texts": schema::list(one),
            "notes": schema::list(schema::note()),
            "omitted": schema::omitted(),
        }),
        &["texts", "notes"],
    )
}
