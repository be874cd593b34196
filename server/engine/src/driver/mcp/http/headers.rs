//! Headers that tell machines on the way what a message is about (2026-07-28).

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use crate::fault::Fault;

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The headers of the configuration.
pub(super) fn configured(headers: &[(String, String)]) -> Result<HeaderMap, Fault> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let (Ok(name), Ok(mut value)) = (
            HeaderName::from_bytes(name.as_bytes()),
            HeaderValue::from_bytes(value.as_bytes()),
        ) else {
            return Err(Fault::refused(format!(
                "the header `{}` cannot be sent: its name or value holds a line break or another control character",
                name.escape_debug()
            )));
        };
        value.set_sensitive(true);
        map.insert(name, value);
    }
    Ok(map)
}

/// `Mcp-Method`, and `Mcp-Name` where the method has one.
pub(super) fn standard(headers: &mut HeaderMap, method: &str, params: &str) {
    if let Ok(value) = HeaderValue::from_str(method) {
        headers.insert(METHOD, value);
    }
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return,
    };
    let params: Option<Map<String, Value>> = serde_json::from_str(params).ok();
    let name = params
        .as_ref()
        .and_then(|params| params.get(member)?.as_str());
    if let Some(value) = name.and_then(|name| HeaderValue::from_str(&encoded(name)).ok()) {
        headers.insert(NAME, value);
    }
}

/// Headers that can be sent; others are left out.
pub(super) fn add(headers: &mut HeaderMap, extra: &[(String, String)]) {
    for (name, value) in extra {
        if let (Ok(name), Ok(value)) = (
            HeaderName::from_bytes(name.as_bytes()),
            HeaderValue::from_str(value),
        ) {
            headers.insert(name, value);
        }
    }
}

/// `Mcp-Param-…` for the arguments that the tool's schema marks with `x-mcp-header`.
pub(in crate::driver::mcp) fn for_arguments(
    schema: &Value,
    arguments: &Value,
) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(schema, arguments, &mut found, 0);
    found
}

fn collect(schema: &Value, arguments: &Value, found: &mut Vec<(String, String)>, depth: usize) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        let Some(argument) = arguments.get(name) else {
            continue;
        };
        let text = match argument {
            Value::String(text) => Some(text.clone()),
            Value::Bool(_) | Value::Number(_) => Some(argument.to_string()),
            _ => None,
        };
        if let Some(header) = schema.get("x-mcp-header").and_then(Value::as_str)
            && !header.is_empty()
            && let Some(text) = text
        {
            found.push((format!("Mcp-Param-{header}"), encoded(&text)));
        }
        if depth < 32 {
            collect(schema, argument, found, depth + 1);
        }
    }
}

/// The value as it can stand in a header.
fn encoded(value: &str) -> String {
    let edge = |c: char| matches!(c, ' ' | '\t');
    let wrapped = value.starts_with("=?base64?") && value.ends_with("?=");
    let printable = value.chars().all(|c| matches!(c, ' '..='~'));
    let plain = printable && !wrapped && !value.starts_with(edge) && !value.ends_with(edge);
    if plain {
        value.to_owned()
    } else {
        format!("=?base64?{}?=", BASE64_STANDARD.encode(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_and_marked_arguments_go_into_headers() {
        let mut headers = HeaderMap::new();
        standard(
            &mut headers,
            "tools/call",
            r#"{"name":"hľadaj","arguments":{}}"#,
        );
        assert_eq!(headers[METHOD], "tools/call");
        assert_eq!(headers[NAME], "=?base64?aMS+YWRhag==?=");
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "n": {"type": "integer", "x-mcp-header": "Count"},
            "deep": {"properties": {"x": {"x-mcp-header": "X"}}},
            "list": {"x-mcp-header": "List"},
            "plain": {"type": "string"}
        }});
        let arguments =
            json!({"region": "eu", "n": 3, "deep": {"x": " y"}, "list": [1], "plain": "p"});
        let found = for_arguments(&schema, &arguments);
        let pairs: Vec<(&str, &str)> = found
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(
            pairs,
            [
                ("Mcp-Param-Region", "eu"),
                ("Mcp-Param-Count", "3"),
                ("Mcp-Param-X", "=?base64?IHk=?=")
            ]
        );
    }
}
