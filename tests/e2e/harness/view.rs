//! Short views of answers, for assertions that read well.

use serde_json::Value;

/// The codes of diagnostics, in their order.
pub fn codes(diagnostics: &[Value]) -> Vec<&str> {
    diagnostics
        .iter()
        .map(|one| one["code"].as_str().unwrap())
        .collect()
}

/// The messages of diagnostics, a line each.
pub fn messages(diagnostics: &[Value]) -> String {
    let messages: Vec<&str> = diagnostics
        .iter()
        .map(|one| one["message"].as_str().unwrap())
        .collect();
    messages.join("\n")
}

/// The errors and warnings among diagnostics: what tells of a fault, not of a consequence.
pub fn faults(diagnostics: &[Value]) -> Vec<Value> {
    let faults = diagnostics
        .iter()
        .filter(|one| one["severity"].as_u64().unwrap() <= 2);
    faults.cloned().collect()
}

/// The ranges of diagnostics (or of anything else that has one): line and character of the start,
/// then of the end.
pub fn spans(all: &[Value]) -> Vec<[u64; 4]> {
    let place = |one: &Value, end: &str, part: &str| one["range"][end][part].as_u64().unwrap();
    all.iter()
        .map(|one| {
            [
                place(one, "start", "line"),
                place(one, "start", "character"),
                place(one, "end", "line"),
                place(one, "end", "character"),
            ]
        })
        .collect()
}

/// The labels of completions or inlay hints: of a list, or of an object with `items`.
pub fn labels(answer: &Value) -> Vec<&str> {
    let items = answer.get("items").unwrap_or(answer);
    items
        .as_array()
        .into_iter()
        .flatten()
        .map(|item| item["label"].as_str().unwrap())
        .collect()
}
