//! Diagnostics as SARIF 2.1.0. Lines and columns count from 1, columns in UTF-16 code units.

use std::collections::BTreeMap;

use kontext_config::codes::Code;
use kontext_config::codes::Severity as CodeSeverity;
use kontext_mcp::answers::{Diagnostic, Range, Severity};
use serde_json::{Value, json};

use super::Report;

/// The log: one run, the codes that occur as its rules.
pub(super) fn log(reports: &[Report<'_>]) -> Value {
    let codes: BTreeMap<&str, Code> = reports
        .iter()
        .flat_map(|report| report.diagnostics.iter())
        .map(|one| (one.code.id(), one.code))
        .collect();
    let rules: Vec<Value> = codes.values().map(|code| rule(*code)).collect();
    let index = |code: &str| codes.keys().position(|known| *known == code);
    let results: Vec<Value> = reports
        .iter()
        .flat_map(Report::in_shape)
        .map(|one| result(&one, index(&one.code)))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "kontext-ls",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "utf16CodeUnits",
            "results": results,
        }],
    })
}

fn rule(code: Code) -> Value {
    let spec = code.spec();
    let (title, help) = (spec.title.as_str(), spec.explanation.as_str());
    let level = level(match code.severity() {
        CodeSeverity::Error => Severity::Error,
        CodeSeverity::Warning => Severity::Warning,
        CodeSeverity::Information => Severity::Information,
        CodeSeverity::Hint => Severity::Hint,
    });
    json!({
        "id": code.id(),
        "shortDescription": {"text": title},
        "help": {"text": help, "markdown": help},
        "defaultConfiguration": {"level": level},
    })
}

fn result(one: &Diagnostic, rule: Option<usize>) -> Value {
    let place = json!({"uri": uri(&one.path)});
    let mut result = json!({
        "ruleId": one.code,
        "level": level(one.severity),
        "message": {"text": one.message},
        "locations": [{"physicalLocation": {"artifactLocation": place, "region": region(one.range)}}],
    });
    let Some(object) = result.as_object_mut() else {
        return result;
    };
    if let Some(rule) = rule {
        object.insert("ruleIndex".to_owned(), json!(rule));
    }
    if let Some(fix) = &one.fix {
        let replacements: Vec<Value> = fix
            .edits
            .iter()
            .map(|edit| json!({"deletedRegion": region(edit.range), "insertedContent": {"text": edit.new_text}}))
            .collect();
        // A fix without a replacement is none to SARIF.
        if !replacements.is_empty() {
            let change = json!({"artifactLocation": place, "replacements": replacements});
            let fix = json!({"description": {"text": fix.title}, "artifactChanges": [change]});
            object.insert("fixes".to_owned(), json!([fix]));
        }
    }
    result
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information | Severity::Hint => "note",
    }
}

/// The end column is the one behind the last, as SARIF counts too.
fn region(range: Range) -> Value {
    json!({
        "startLine": range.start.line + 1,
        "startColumn": range.start.character + 1,
        "endLine": range.end.line + 1,
        "endColumn": range.end.character + 1,
    })
}

/// A path as a URI reference: relative as it is, absolute with its scheme.
fn uri(path: &str) -> String {
    use crate::world::{Platform, identity};
    let absolute = std::path::Path::new(path);
    if absolute.is_absolute()
        && let Some(uri) = identity::path_to_uri(absolute, Platform::current())
    {
        return uri;
    }
    // The rules of a path segment are those of a `file:` URI.
    let rooted = format!("/{path}");
    let uri = identity::path_to_uri(std::path::Path::new(&rooted), Platform::Unix);
    uri.and_then(|uri| Some(uri.strip_prefix("file:///")?.to_owned()))
        .unwrap_or_else(|| path.to_owned())
}
