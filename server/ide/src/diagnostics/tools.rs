//! Declared tools: their parameters.

use kontext_config::codes::Code;
use kontext_config::schema::{PARAM_TYPES, nearest};
use kontext_syntax::toml::{Node, NodeKind, Table};

use super::check::Check;
use super::context::field;
use super::shape::is_json_schema;

/// Types of JSON Schema.
const JSON_TYPES: &[&str] = &[
    "string", "integer", "number", "boolean", "array", "object", "null",
];

/// What other programs call the types.
const ALSO: &[(&str, &str)] = &[
    ("text", "string"),
    ("str", "string"),
    ("int", "integer"),
    ("long", "integer"),
    ("float", "number"),
    ("double", "number"),
    ("bool", "boolean"),
    ("list", "array"),
    ("map", "object"),
    ("dict", "object"),
    ("table", "object"),
];

/// Checks `params`, in either of its forms.
pub(super) fn params<'a>(check: &mut Check<'a>, node: &'a Node) {
    let Some(table) = node.as_table() else { return };
    if is_json_schema(node) {
        schema(check, node);
    } else {
        types(check, table);
    }
}

/// The short form: a table of name and type.
fn types(check: &mut Check<'_>, table: &Table) {
    for (name, item) in &table.items {
        match &item.node.kind {
            NodeKind::Invalid => {}
            NodeKind::String(text) => {
                let (base, mark) = match text.value.strip_suffix('!') {
                    Some(base) => (base, "!"),
                    None => (&*text.value, ""),
                };
                if PARAM_TYPES.iter().any(|one| one.value == base) {
                    continue;
                }
                let meant = meant(
                    base.trim().trim_matches(['?', '!']),
                    PARAM_TYPES.iter().map(|one| one.value),
                );
                let hint = match meant {
                    Some(meant) => format!("did you mean `\"{meant}{mark}\"`?"),
                    None => format!(
                        "write {}, with `!` behind it where it is required",
                        listed()
                    ),
                };
                let span = item.node.span;
                let message = format!("this is no type of a parameter; {hint}");
                let finding = check.report(Code::InvalidParams, span, message);
                if let Some(meant) = meant {
                    finding.fix(
                        format!("Change to `\"{meant}{mark}\"`"),
                        vec![(span, format!("\"{meant}{mark}\""))],
                    );
                }
            }
            NodeKind::Table(_) => {
                let message = format!(
                    "a parameter is a name and a type, such as `{name} = \"string\"`; a JSON Schema has its parameters in `properties`"
                );
                check.report(Code::InvalidParams, item.key(), message);
            }
            other => {
                let message = format!(
                    "the type of a parameter is a string, not {}; write {}",
                    other.name(),
                    listed()
                );
                check.report(Code::InvalidParams, item.node.span, message);
            }
        }
    }
}

/// The long form: what shows without reading the whole of JSON Schema.
fn schema(check: &mut Check<'_>, node: &Node) {
    if let Some(kind) = field(node, "type")
        && kind.as_str() != Some("object")
        && !matches!(kind.kind, NodeKind::Invalid)
    {
        let message = "the arguments of a tool are an object; write `type = \"object\"`";
        check.report(Code::InvalidParams, kind.span, message).fix(
            "Change to `\"object\"`",
            vec![(kind.span, "\"object\"".to_owned())],
        );
    }
    if let Some(required) = field(node, "required") {
        let names = required.as_array().is_some_and(|list| {
            list.iter()
                .all(|one| one.as_str().is_some() || matches!(one.kind, NodeKind::Invalid))
        });
        if !names && !matches!(required.kind, NodeKind::Invalid) {
            let message = "`required` of a JSON Schema is an array of names";
            check.report(Code::InvalidParams, required.span, message);
        }
    }
    let Some(properties) = field(node, "properties") else {
        return;
    };
    let Some(table) = properties.as_table() else {
        if !matches!(properties.kind, NodeKind::Invalid) {
            let message = "`properties` is a table, each member a parameter with its schema";
            check.report(Code::InvalidParams, properties.span, message);
        }
        return;
    };
    for (_, item) in &table.items {
        match &item.node.kind {
            NodeKind::Table(_) => property(check, &item.node),
            NodeKind::Boolean(_) | NodeKind::Invalid => {}
            other => {
                let message = format!(
                    "a parameter of a JSON Schema is a table such as `{{ type = \"string\" }}`, not {}",
                    other.name()
                );
                check.report(Code::InvalidParams, item.node.span, message);
            }
        }
    }
}

fn property(check: &mut Check<'_>, node: &Node) {
    let Some(kind) = field(node, "type") else {
        return;
    };
    let one = std::slice::from_ref(kind);
    for kind in kind.as_array().unwrap_or(one) {
        let known = kind.as_str().is_some_and(|name| JSON_TYPES.contains(&name));
        if known || matches!(kind.kind, NodeKind::Invalid) {
            continue;
        }
        let meant = kind
            .as_str()
            .and_then(|name| meant(name.trim_end_matches('!'), JSON_TYPES.iter().copied()));
        let hint = match meant {
            Some(meant) => format!("did you mean `\"{meant}\"`?"),
            None => format!("write {} or `\"null\"`", listed()),
        };
        let message = format!("JSON Schema has no such type; {hint}");
        let finding = check.report(Code::InvalidParams, kind.span, message);
        if let Some(meant) = meant {
            finding.fix(
                format!("Change to `\"{meant}\"`"),
                vec![(kind.span, format!("\"{meant}\""))],
            );
        }
    }
}

fn meant<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    ALSO.iter()
        .find(|(also, _)| also.eq_ignore_ascii_case(name))
        .map(|(_, meant)| *meant)
        .or_else(|| nearest(name, known))
}

fn listed() -> String {
    PARAM_TYPES
        .iter()
        .map(|one| format!("`\"{}\"`", one.value))
        .collect::<Vec<_>>()
        .join(", ")
}
