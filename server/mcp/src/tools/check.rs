//! `kontext_check`: the diagnostics of a text, a file or the whole workspace.

use serde_json::{Map, Value, json};

use super::{Reply, Run, Tool, diagnostic_line, schema};
use crate::answers::{Checked, Severity};
use crate::arguments;
use crate::gates::Class;
use crate::source::{AnswerError, Answers, CheckTarget};
use crate::words::counted;

pub(super) const TOOL: Tool = Tool {
    name: "kontext_check",
    title: "Check a configuration",
    description: "Checks adapter configuration and returns diagnostics with exact ranges, stable \
        codes and fixes. With `path`: that file, as it stands in the editor where it is open. \
        With `text`: a draft, before it is written anywhere; with both, the draft as if it stood \
        in that file. With neither: every layer of the workspace. Nothing is run and nothing is \
        changed.",
    class: Class::Read,
    input,
    output: || {
        schema::object(
            json!({
                "diagnostics": schema::list(schema::diagnostic()),
                "omitted": schema::omitted(),
            }),
            &["diagnostics"],
        )
    },
    run: Run::Snapshot(run),
};

fn input() -> Value {
    schema::object(
        json!({
            "path": {
                "type": "string",
                "description": "A configuration file, absolute or relative to the workspace.",
            },
            "text": {
                "type": "string",
                "description": "The whole text to check, in TOML.",
            },
        }),
        &[],
    )
}

fn run(answers: &dyn Answers, arguments: &Map<String, Value>) -> Result<Reply, AnswerError> {
    let path = arguments::text(arguments, "path");
    let text = arguments::text(arguments, "text");
    let target = match (path, text) {
        (None, None) => CheckTarget::Workspace,
        (Some(path), None) => CheckTarget::Path(path),
        (None, Some(text)) => CheckTarget::Text(text),
        (Some(path), Some(text)) => CheckTarget::TextAt { path, text },
    };
    super::reply(
        &answers.check(target)?,
        words,
        "Cure the first ones and check again, or check one file by `path`.",
    )
}

fn words(checked: &Checked) -> String {
    if checked.diagnostics.is_empty() {
        return "No diagnostics.".to_owned();
    }
    let count = |severity| {
        checked
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity == severity)
            .count()
    };
    let mut lines = vec![format!(
        "{}, {}, {}",
        counted(count(Severity::Error), "error"),
        counted(count(Severity::Warning), "warning"),
        counted(
            count(Severity::Information) + count(Severity::Hint),
            "other"
        ),
    )];
    lines.extend(checked.diagnostics.iter().map(diagnostic_line));
    lines.join("\n")
}
