//! Answers that are text: read, brief, llm, receipts, declared tools.

use std::borrow::Cow;

use kontext_config::eval::text_of;
use kontext_config::select::select;
use serde_json::Value;

use super::{Payload, Reading};

/// Under what names services put the text of an answer, in the order they are tried.
const TEXTS: &[&str] = &[
    "text", "content", "result", "response", "output", "markdown", "message", "answer",
];

impl Reading {
    /// The text of a payload: what `text` selects, all of it, a line each; without it the text as
    /// it is, the first string under a usual name, or the JSON, indented.
    ///
    /// Empty where the path selects nothing in JSON. A text that is no JSON has nothing to
    /// select, and stays as it is.
    pub fn text(&self, payload: &Payload<'_>) -> String {
        let root: &Value = &payload.value;
        if let Some(text) = payload.as_text() {
            return text.to_owned();
        }
        if let Some(path) = &self.text {
            let mut texts = Vec::new();
            for found in select(path, root) {
                match found {
                    Value::Array(list) => texts.extend(list.iter().map(readable)),
                    other => texts.push(readable(other)),
                }
            }
            return texts.join("\n");
        }
        match root {
            Value::Object(object) => TEXTS
                .iter()
                .find_map(|name| object.get(*name)?.as_str())
                .map_or_else(|| indented(root), str::to_owned),
            Value::Array(list) if !list.is_empty() && list.iter().all(Value::is_string) => {
                list.iter().map(text_of).collect::<Vec<_>>().join("\n")
            }
            Value::Array(_) => indented(root),
            scalar => text_of(scalar).into_owned(),
        }
    }
}

fn readable(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Object(_) | Value::Array(_) => Cow::Owned(indented(value)),
        scalar => text_of(scalar),
    }
}

fn indented(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}
