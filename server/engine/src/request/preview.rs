//! What an op would do, for people and agents to look at.

use kontext_config::model::{Adapter, Op};
use kontext_config::schema::Driver;
use serde_json::{Map, Value, json};

use super::http::Body;
use super::render::Renderer;
use super::{build, command, http, tool};
use crate::context::Context;
use crate::fault::Fault;
use crate::secrets::HIDDEN;

/// The request that an op would make, as JSON, with `‹env.NAME›` in the place of each variable of
/// the environment: `{"method", "url", "headers", "body"}`, `{"command", "cwd", "env", "stdin"}`
/// or `{"tool", "arguments"}`. Members without a value are left out.
///
/// # Errors
///
/// Those of the call itself: what would be refused is refused here.
pub fn preview(
    adapter: &Adapter,
    op: &Op,
    ctx: &Context,
    inputs: &Map<String, Value>,
) -> Result<Value, Fault> {
    build(adapter, op, ctx, inputs)?;
    let renderer = Renderer::new(adapter, ctx, inputs, true);
    let mut shown = Map::new();
    let mut set = |name: &str, value: Value| {
        if !value.is_null() {
            shown.insert(name.to_owned(), value);
        }
    };
    match adapter.driver {
        Some(Driver::Http) => {
            let request = http::build(&renderer, op)?;
            set("method", Value::String(request.method));
            set("url", Value::String(without_secrets(&request.url)));
            let headers = request.headers.into_iter().map(|(name, value)| {
                let value = hidden_if_secret(&name, value);
                (name, Value::String(value))
            });
            set("headers", Value::Object(headers.collect()));
            match request.body {
                Some(Body::Text(text)) => set("body", Value::String(text)),
                Some(Body::Json(value)) => set("body", value),
                None => {}
            }
        }
        Some(Driver::Command) => {
            let line = command::build(&renderer, op)?;
            set("command", json!(line.argv));
            set("cwd", json!(line.cwd.to_string_lossy()));
            let env = line.env.into_iter().map(|(name, value)| {
                let value = value.map(|value| hidden_if_secret(&name, value));
                (name, value.map_or(Value::Bool(false), Value::String))
            });
            let env: Map<String, Value> = env.collect();
            if !env.is_empty() {
                set("env", Value::Object(env));
            }
            set("stdin", json!(line.stdin));
        }
        Some(Driver::Mcp) | None => {
            let call = tool::build(&renderer, op)?;
            set("tool", Value::String(call.tool));
            set("arguments", json!(call.args));
        }
    }
    Ok(Value::Object(shown))
}

/// Whether what has this name is likely to be a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace(['-', '_'], "");
    let telling = [
        "authorization",
        "token",
        "secret",
        "passw",
        "apikey",
        "accesskey",
        "privatekey",
        "cookie",
        "credential",
        "signature",
    ];
    matches!(name.as_str(), "key" | "auth" | "sig" | "pat")
        || telling.iter().any(|part| name.contains(part))
}

fn hidden_if_secret(name: &str, value: String) -> String {
    if is_secret_name(name) && !value.is_empty() && !value.contains("‹env.") {
        HIDDEN.to_owned()
    } else {
        value
    }
}

/// A URL without user, password and the values of parameters that look like secrets.
fn without_secrets(url: &str) -> String {
    let (url, fragment) = match url.split_once('#') {
        Some((url, fragment)) => (url, format!("#{fragment}")),
        None => (url, String::new()),
    };
    let (head, query) = match url.split_once('?') {
        Some((head, query)) => (head, Some(query)),
        None => (url, None),
    };
    let mut shown = match head.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = match rest.find('/').and_then(|at| rest.split_at_checked(at)) {
                Some(parts) => parts,
                None => (rest, ""),
            };
            match authority.rsplit_once('@') {
                Some((_, host)) => format!("{scheme}://{HIDDEN}@{host}{path}"),
                None => head.to_owned(),
            }
        }
        None => head.to_owned(),
    };
    if let Some(query) = query {
        let parameters = query
            .split('&')
            .map(|parameter| match parameter.split_once('=') {
                Some((name, value)) => {
                    format!("{name}={}", hidden_if_secret(name, value.to_owned()))
                }
                None => parameter.to_owned(),
            });
        shown.push('?');
        shown.push_str(&parameters.collect::<Vec<String>>().join("&"));
    }
    shown + &fragment
}
