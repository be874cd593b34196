//! HTTP requests.

use std::fmt;

use kontext_config::eval::text_of;
use kontext_config::model::{Adapter, Op, TemplateText};
use serde_json::{Map, Value};

use super::render::{Renderer, Unset};
use super::url::{self, Url};
use crate::context::Context;
use crate::fault::Fault;
use crate::secrets::shown_url;

/// Headers that belong to the connection or to the body as it is sent.
const NOT_SETTABLE: &[&str] = &[
    "connection",
    "content-length",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A request to send. `Debug` shows neither values nor the URL's query.
#[derive(Clone, PartialEq)]
pub struct HttpRequest {
    /// The method, upper case.
    pub method: String,
    /// The absolute URL.
    pub url: String,
    /// All headers that are set on purpose, each name once, in the order of the configuration.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Option<Body>,
}

/// The body of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Text, sent as it is. No `Content-Type` but a configured one.
    Text(String),
    /// JSON.
    Json(Value),
}

impl Body {
    /// The bytes that are sent.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Json(value) => value.to_string().into_bytes(),
        }
    }
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("url", &shown_url(&self.url))
            .field("headers", &names)
            .finish_non_exhaustive()
    }
}

/// The request that an op of an adapter sends.
///
/// # Errors
///
/// The URL is none, or there is none; a variable of the environment that it or a header needs is
/// not set; a header would hold a line break; a value would lead to another path.
pub fn http(
    adapter: &Adapter,
    op: &Op,
    ctx: &Context,
    inputs: &Map<String, Value>,
) -> Result<HttpRequest, Fault> {
    let request = build(&Renderer::new(adapter, ctx, inputs, false), op)?;
    match url::fault(&request.url) {
        Some(fault) => Err(Fault::refused(fault)),
        None => Ok(request),
    }
}

/// Where the server of an adapter with the driver `mcp` and a `url` is reached: the URL and the
/// headers of every request to it. Method and body are those of a `GET`.
///
/// # Errors
///
/// As [`http`].
pub fn endpoint(adapter: &Adapter, ctx: &Context) -> Result<HttpRequest, Fault> {
    let op = Op {
        url: adapter.url.clone(),
        ..Op::default()
    };
    http(adapter, &op, ctx, &Map::new())
}

pub(super) fn build(renderer: &Renderer<'_>, op: &Op) -> Result<HttpRequest, Fault> {
    let body = match &op.body {
        None => None,
        Some(body) => match renderer.typed(body, "`body`")? {
            Value::Null => None,
            Value::String(text) => Some(Body::Text(text)),
            value => Some(Body::Json(value)),
        },
    };
    let default = if op.body.is_some() { "POST" } else { "GET" };
    let mut headers = headers(renderer, op)?;
    let is_typed = |(name, _): &(String, String)| name.eq_ignore_ascii_case("content-type");
    if matches!(body, Some(Body::Json(_))) && !headers.iter().any(is_typed) {
        headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
    }
    Ok(HttpRequest {
        method: op.method.clone().unwrap_or_else(|| default.to_owned()),
        url: address(renderer, op)?,
        headers,
        body,
    })
}

fn address(renderer: &Renderer<'_>, op: &Op) -> Result<String, Fault> {
    let adapter = renderer.adapter;
    let text = |text: &TemplateText, name: &str| {
        let text = renderer.text(text, &format!("`{name}`"), Unset::Refused)?;
        Ok(Url::split(text.trim()))
    };
    let mut url = match (&op.url, &adapter.base_url, &adapter.url) {
        (Some(url), _, _) => text(url, "url")?,
        (None, Some(base), _) => text(base, "base_url")?,
        (None, None, Some(base)) => text(base, "url")?,
        (None, None, None) => {
            return Err(Fault::refused(
                "there is no URL; set `base_url` on the adapter, or an absolute `url` on the op",
            ));
        }
    };
    if let Some(path) = op.path.as_ref().filter(|_| op.url.is_none()) {
        url.join(&url::path(renderer, path)?);
    }
    for (name, value) in &op.query {
        let text = match value {
            Value::String(source) => {
                let what = format!("the query parameter `{name}`");
                renderer.source(source, &what, Unset::Refused)?
            }
            other => text_of(other).into_owned(),
        };
        if !text.is_empty() {
            url.add_parameter(name, &text, renderer.masked);
        }
    }
    Ok(url.into_text())
}

/// The headers of the adapter, those of the op in the place of the same names.
fn headers(renderer: &Renderer<'_>, op: &Op) -> Result<Vec<(String, String)>, Fault> {
    let mut kept: Vec<(&str, &TemplateText)> = Vec::new();
    for (name, value) in renderer.adapter.headers.iter().chain(&op.headers) {
        match kept
            .iter_mut()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
        {
            Some(known) => *known = (name, value),
            None => kept.push((name, value)),
        }
    }
    let mut headers = Vec::with_capacity(kept.len());
    for (name, value) in kept {
        let shown: String = name.escape_debug().take(80).collect();
        if reqwest::header::HeaderName::from_bytes(name.as_bytes()).is_err() {
            return Err(Fault::refused(format!(
                "`{shown}` is no name of a header: it holds a blank, a line break or another character that names have not"
            )));
        }
        if NOT_SETTABLE.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(Fault::refused(format!(
                "the header `{shown}` cannot be set: it belongs to the connection; remove it"
            )));
        }
        let value = renderer.text(value, &format!("the header `{shown}`"), Unset::Refused)?;
        // A variable that was read from a file often ends with a line break.
        let value = value
            .strip_suffix("\r\n")
            .or_else(|| value.strip_suffix('\n'))
            .unwrap_or(&value);
        if value.contains(['\r', '\n']) {
            return Err(Fault::refused(format!(
                "the header `{shown}` would hold a line break; its value must be one line"
            )));
        }
        if value.chars().any(|c| c.is_control() && c != '\t') {
            return Err(Fault::refused(format!(
                "the header `{shown}` would hold a control character; remove it from its value"
            )));
        }
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    Ok(headers)
}
