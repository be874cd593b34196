//! A server of another program as the fields of an adapter.

use std::collections::BTreeSet;

use kontext_config::schema::Shape;
use kontext_syntax::toml::write;
use serde_json::{Map, Value};

use super::servers::Server;
use crate::diagnostics::strings::{placeholder, secret};

/// The fields as TOML, one a line without a line break at the end; those in `given` are left out.
pub(super) fn fields(server: &Server<'_>, name: &str, given: &BTreeSet<String>) -> String {
    let mut lines: Vec<(&str, String)> = vec![("driver", write::string("mcp"))];
    if let Some(url) = server.url() {
        lines.push(("url", write::string(&value(url, "", Shape::Url, name))));
    } else {
        let words = server.command();
        let words: Vec<String> = words
            .iter()
            .map(|word| write::string(&value(word, "", Shape::Argument, name)))
            .collect();
        lines.push(("command", format!("[{}]", words.join(", "))));
    }
    let object = |keys: &[&str]| -> Option<&Map<String, Value>> {
        let found = keys
            .iter()
            .find_map(|key| server.entry.get(*key)?.as_object());
        found.filter(|object| !object.is_empty())
    };
    let request = server.entry.get("requestInit");
    let headers = object(&["headers", "http_headers", "requestHeaders"])
        .or_else(|| request?.get("headers")?.as_object());
    if let Some(headers) = headers.filter(|_| server.is_remote()) {
        lines.push(("headers", table(headers, Shape::Header, name)));
    }
    let nested = server
        .entry
        .get("command")
        .and_then(|command| command.get("env")?.as_object());
    if let Some(env) = object(&["env", "environment"]).or(nested)
        && !server.is_remote()
    {
        lines.push(("env", table(env, Shape::EnvValue, name)));
    }
    let text = |key: &str| server.entry.get(key)?.as_str();
    if let Some(cwd) = text("cwd").filter(|_| !server.is_remote()) {
        lines.push(("cwd", write::string(&value(cwd, "", Shape::Path, name))));
    }
    if let Some(description) = text("description") {
        lines.push(("description", write::string(description)));
    }
    let flag = |key: &str| server.entry.get(key).and_then(Value::as_bool);
    if flag("disabled") == Some(true) || flag("enabled") == Some(false) {
        lines.push(("enabled", "false".to_owned()));
    }
    let lines = lines
        .into_iter()
        .filter(|(key, _)| !given.contains(*key))
        .map(|(key, value)| format!("{key} = {value}"));
    lines.collect::<Vec<_>>().join("\n")
}

fn table(object: &Map<String, Value>, shape: Shape, adapter: &str) -> String {
    let members: Vec<String> = object
        .iter()
        .filter_map(|(key, member)| {
            let text = match member {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                Value::Bool(value) => value.to_string(),
                _ => return None,
            };
            let text = write::string(&value(&text, key, shape, adapter));
            Some(format!("{} = {text}", write::key(key)))
        })
        .collect();
    format!("{{ {} }}", members.join(", "))
}

/// A value with placeholders as templates and without secrets.
fn value(text: &str, key: &str, shape: Shape, adapter: &str) -> String {
    let converted = placeholder::converted(text);
    if converted != text {
        return converted;
    }
    let Some(found) = secret::find(text, key, shape) else {
        return converted;
    };
    let name = secret::variable(adapter, key, shape == Shape::EnvValue);
    let before = text.get(..found.start).unwrap_or("");
    let after = text.get(found.end..).unwrap_or("");
    format!("{before}{{{{env.{name}}}}}{after}")
}
