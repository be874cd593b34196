//! The tools, one file each; adding one is one file and one line in [`TOOLS`].

mod check;
mod explain;
mod snapshot;
mod status;

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, Tool as Listed, ToolAnnotations};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::arguments;
use crate::budget::{self, RESULT_BUDGET};
use crate::gates::{self, Class, Gates};
use crate::source::{AnswerError, Answers};

/// Every tool, in the order in which they are listed. The order is part of the interface.
pub const TOOLS: &[Tool] = &[status::TOOL, snapshot::TOOL, check::TOOL, explain::TOOL];

/// One tool as a constant.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// The name in the protocol.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// What the agent reads to choose it.
    pub description: &'static str,
    /// Which gate it stands behind.
    pub class: Class,
    /// The schema of its arguments, a JSON object.
    pub input: fn() -> Value,
    /// The schema of its structured result, a JSON object.
    pub output: fn() -> Value,
    /// Answers a call whose arguments fit the input schema.
    pub run: Run,
}

/// Answers a call from a snapshot and the arguments.
pub type Run = fn(&dyn Answers, &Map<String, Value>) -> Result<Reply, AnswerError>;

/// What a tool answers: the same twice.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// For reading.
    pub text: String,
    /// For the program; fits the output schema.
    pub structured: Map<String, Value>,
}

impl Tool {
    /// The tool as `tools/list` shows it.
    pub fn listed(&self) -> Listed {
        let read = self.class == Class::Read;
        let external = matches!(self.class, Class::External | Class::WriteExternal);
        Listed::new(self.name, self.description, object((self.input)()))
            .with_title(self.title)
            .with_raw_output_schema(object((self.output)()))
            .with_annotations(
                ToolAnnotations::with_title(self.title)
                    .read_only(read)
                    .destructive(false)
                    .idempotent(read)
                    .open_world(external),
            )
    }

    /// Answers a call. Whatever goes wrong is an answer too, so that the agent reads why.
    pub fn call(
        &self,
        answers: &dyn Answers,
        gates: Gates,
        arguments: &Map<String, Value>,
    ) -> CallToolResult {
        let closed = gates.closed_for(self.class);
        if !closed.is_empty() {
            return refused(gates::refusal(self.name, &closed));
        }
        if let Err(words) = arguments::check(self.name, &(self.input)(), arguments) {
            return refused(words);
        }
        match (self.run)(answers, arguments) {
            Ok(reply) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(reply.text)]);
                result.structured_content = Some(Value::Object(reply.structured));
                result
            }
            Err(AnswerError(words)) => refused(words),
        }
    }
}

fn refused(words: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(words)])
}

fn object(schema: Value) -> Arc<Map<String, Value>> {
    Arc::new(match schema {
        Value::Object(members) => members,
        _ => Map::new(),
    })
}

/// A reply cut to the size budget: `text` renders what is left, `advice` says how to see more.
fn reply<T>(answer: &T, text: impl Fn(&T) -> String, advice: &str) -> Result<Reply, AnswerError>
where
    T: Serialize + DeserializeOwned,
{
    let fitted = budget::fit(answer, RESULT_BUDGET)
        .map_err(|error| AnswerError(format!("the answer cannot be written as JSON: {error}")))?;
    let mut words = text(&fitted.answer);
    let mut structured = fitted.value;
    if !fitted.omitted.is_empty() {
        let note = budget::note(&fitted.omitted, advice);
        words = format!("{}\n\n{note}", words.trim_end());
        structured.insert("omitted".to_owned(), Value::String(note));
    }
    Ok(Reply {
        text: words,
        structured,
    })
}

/// Pieces of schemas that several tools share.
mod schema {
    use serde_json::{Value, json};

    /// An object with these members, no others, of which `required` must be there.
    pub(super) fn object(properties: Value, required: &[&str]) -> Value {
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }

    pub(super) fn list(items: Value) -> Value {
        json!({"type": "array", "items": items})
    }

    pub(super) fn text() -> Value {
        json!({"type": "string"})
    }

    pub(super) fn flag() -> Value {
        json!({"type": "boolean"})
    }

    pub(super) fn count() -> Value {
        json!({"type": "integer", "minimum": 0})
    }

    pub(super) fn omitted() -> Value {
        json!({"type": "string", "description": "What was left out to fit the size budget."})
    }

    fn position() -> Value {
        object(
            json!({"line": count(), "character": count()}),
            &["line", "character"],
        )
    }

    pub(super) fn range() -> Value {
        let mut schema = object(
            json!({"start": position(), "end": position()}),
            &["start", "end"],
        );
        if let Some(members) = schema.as_object_mut() {
            members.insert(
                "description".to_owned(),
                json!("Zero-based; characters in UTF-16 code units; the end is excluded."),
            );
        }
        schema
    }

    pub(super) fn diagnostic() -> Value {
        let edit = object(
            json!({"range": range(), "newText": text()}),
            &["range", "newText"],
        );
        let fix = object(
            json!({"title": text(), "edits": list(edit)}),
            &["title", "edits"],
        );
        object(
            json!({
                "path": text(),
                "range": range(),
                "severity": {"type": "string", "enum": ["error", "warning", "information", "hint"]},
                "code": text(),
                "message": text(),
                "fix": fix,
            }),
            &["path", "range", "severity", "code", "message"],
        )
    }

    pub(super) fn layer() -> Value {
        object(
            json!({
                "layer": text(),
                "path": text(),
                "exists": flag(),
                "trusted": flag(),
                "trusted_by": text(),
                "problem": text(),
            }),
            &["layer", "path", "exists", "trusted"],
        )
    }

    pub(super) fn gates() -> Value {
        object(
            json!({"write": flag(), "external": flag()}),
            &["write", "external"],
        )
    }
}

/// One diagnostic as a line: `path:line:column severity code: message`, counted from one as
/// people do.
fn diagnostic_line(diagnostic: &crate::answers::Diagnostic) -> String {
    let start = diagnostic.range.start;
    let fix = match &diagnostic.fix {
        Some(fix) => format!(" (fix: {})", fix.title),
        None => String::new(),
    };
    format!(
        "{}:{}:{} {} {}: {}{fix}",
        diagnostic.path,
        start.line.saturating_add(1),
        start.character.saturating_add(1),
        diagnostic.severity.name(),
        diagnostic.code,
        diagnostic.message,
    )
}

#[cfg(test)]
mod tests;
