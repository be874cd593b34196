//! `kontext_explain`: a field, a diagnostic code or an adapter.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{Reply, Run, Tool, schema};
use crate::answers::Explanation;
use crate::arguments;
use crate::gates::Class;
use crate::source::{AnswerError, Answers};

pub(super) const TOOL: Tool = Tool {
    name: "kontext_explain",
    title: "Explain a field, code or adapter",
    description: "Explains one thing of the adapter configuration: a field (`url`, \
        `when.env`, `adapters.docs.ops.search.map`), a diagnostic code, or an adapter by its \
        name. Says what it means, its type, default and drivers, the value that holds now and \
        the layer and place it comes from.",
    class: Class::Read,
    input,
    output,
    run: Run::Snapshot(run),
};

fn input() -> Value {
    schema::object(
        json!({
            "of": {
                "type": "string",
                "description": "The field, the diagnostic code or the adapter's name.",
            },
        }),
        &["of"],
    )
}

fn run(answers: &dyn Answers, arguments: &Map<String, Value>) -> Result<Reply, AnswerError> {
    let of = arguments::text(arguments, "of").unwrap_or_default().trim();
    if of.is_empty() {
        return Err(AnswerError(
            "`of` is empty: name a field, a diagnostic code or an adapter".to_owned(),
        ));
    }
    super::reply(
        &answers.explain(of)?,
        text,
        "Ask for one field instead of the whole.",
    )
}

fn text(explanation: &Explanation) -> String {
    let mut out = format!("{} ({})\n\n", explanation.of, explanation.kind);
    out.push_str(explanation.text.trim_end());
    out.push('\n');
    if !explanation.values.is_empty() {
        out.push_str("\nIn effect:\n");
    }
    for value in &explanation.values {
        let _ = write!(
            out,
            "- {} = {} (layer {}",
            value.field, value.value, value.layer
        );
        if let Some(path) = &value.path {
            let _ = write!(out, ", {path}");
            if let Some(range) = &value.range {
                let _ = write!(out, ":{}", range.start.line.saturating_add(1));
            }
        }
        out.push_str(")\n");
    }
    if !explanation.related.is_empty() {
        let _ = writeln!(out, "\nSee also: {}", explanation.related.join(", "));
    }
    out
}

fn output() -> Value {
    let value = schema::object(
        json!({
            "field": schema::text(),
            "value": {},
            "layer": schema::text(),
            "path": schema::text(),
            "range": schema::range(),
        }),
        &["field", "value", "layer"],
    );
    schema::object(
        json!({
            "of": schema::text(),
            "kind": {"type": "string", "enum": ["field", "code", "adapter", "filter", "root", "op"]},
            "text": schema::text(),
            "values": schema::list(value),
            "related": schema::list(schema::text()),
            "omitted": schema::omitted(),
        }),
        &["of", "kind", "text", "values", "related"],
    )
}
