//! `kontext_snapshot`: what the editor shows now.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{Reply, Run, Tool, diagnostic_line, schema};
use crate::answers::Snapshot;
use crate::gates::Class;
use crate::source::{AnswerError, Answers};

pub(super) const TOOL: Tool = Tool {
    name: "kontext_snapshot",
    title: "What the editor shows",
    description: "Shows the adapter configuration documents that are open in the user's editor \
        as they stand there, unsaved edits included: which they are, where they differ from the \
        files on disk, and the diagnostics the user sees. Without a connected editor there are \
        none; then use kontext_check.",
    class: Class::Read,
    input: || schema::object(json!({}), &[]),
    output,
    run: Run::Snapshot(run),
};

fn run(answers: &dyn Answers, _arguments: &Map<String, Value>) -> Result<Reply, AnswerError> {
    super::reply(
        &answers.snapshot(),
        text,
        "`kontext_check` with `path` shows one file.",
    )
}

fn text(snapshot: &Snapshot) -> String {
    if !snapshot.editor {
        return "No editor is connected: nothing is open, and the files on disk are what counts. \
                `kontext_check` shows their diagnostics."
            .to_owned();
    }
    if snapshot.documents.is_empty() {
        return "An editor is connected; no configuration document is open in it.".to_owned();
    }
    let mut out = String::new();
    for document in &snapshot.documents {
        let layer = match &document.layer {
            Some(layer) => format!("layer {layer}, "),
            None => String::new(),
        };
        let state = if document.unsaved {
            "unsaved changes"
        } else {
            "as on disk"
        };
        let _ = writeln!(
            out,
            "{} ({layer}version {}, {state})",
            document.path, document.version
        );
        for change in &document.changes {
            let _ = writeln!(out, "  @ line {}", change.line.saturating_add(1));
            for line in change.saved.lines() {
                let _ = writeln!(out, "  - {line}");
            }
            for line in change.buffer.lines() {
                let _ = writeln!(out, "  + {line}");
            }
        }
        if document.diagnostics.is_empty() {
            out.push_str("  no diagnostics\n");
        }
        for diagnostic in &document.diagnostics {
            let _ = writeln!(out, "  {}", diagnostic_line(diagnostic));
        }
    }
    out
}

fn output() -> Value {
    let change = schema::object(
        json!({"line": schema::count(), "saved": schema::text(), "buffer": schema::text()}),
        &["line", "saved", "buffer"],
    );
    let document = schema::object(
        json!({
            "path": schema::text(),
            "layer": schema::text(),
            "version": {"type": "integer"},
            "unsaved": schema::flag(),
            "changes": schema::list(change),
            "diagnostics": schema::list(schema::diagnostic()),
        }),
        &["path", "version", "unsaved", "changes", "diagnostics"],
    );
    schema::object(
        json!({
            "editor": schema::flag(),
            "documents": schema::list(document),
            "omitted": schema::omitted(),
        }),
        &["editor", "documents"],
    )
}
