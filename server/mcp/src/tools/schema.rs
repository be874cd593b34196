//! Pieces of schemas that several tools share.

use serde_json::{Map, Value, json};

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

pub(super) fn hit() -> Value {
    object(
        json!({
            "title": text(),
            "snippet": text(),
            "uri": text(),
            "score": {"type": "number"},
            "kind": text(),
            "date": text(),
            "source": text(),
        }),
        &["source"],
    )
}

pub(super) fn note() -> Value {
    object(
        json!({"source": text(), "message": text()}),
        &["source", "message"],
    )
}

/// Of an argument: a number of hits.
pub(super) fn limit() -> Value {
    json!({
        "type": "integer",
        "minimum": 1,
        "maximum": kontext_engine::search::MAX_LIMIT,
        "description": "How many hits at most.",
    })
}

/// Of an argument: a text, with what it is for.
pub(super) fn described(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

/// Of arguments: one op of one adapter, with what it is given.
pub(super) fn op_members() -> Map<String, Value> {
    let inputs = json!({
        "type": "object",
        "description": "The op's inputs, such as {\"query\": \"…\", \"limit\": 5}.",
    });
    Map::from_iter([
        ("adapter".to_owned(), described("The adapter's name.")),
        ("op".to_owned(), described("The op's name.")),
        ("inputs".to_owned(), inputs),
    ])
}
