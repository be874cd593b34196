//! From what a driver got to one value.

use std::borrow::Cow;

use kontext_config::model::Format;
use serde_json::Value;

use super::scan::{amid_noise, joined};
use super::{clean, mend};
use crate::{Fault, FaultKind};

/// How many times JSON that is the text of a JSON string is unwrapped.
const MAX_WRAPPED: usize = 3;

/// The most characters of an answer that an error shows.
const SHOWN: usize = 120;

/// What a driver got.
#[derive(Clone, Copy, Debug)]
pub enum Raw<'a> {
    /// The result of an MCP tool (`CallToolResult`). Whether it `isError` is the driver's affair.
    Tool(&'a Value),
    /// A body or an output, decoded; a byte order mark may still lead it.
    Text(&'a str),
}

/// What an answer says.
#[derive(Clone, Debug, PartialEq)]
pub struct Payload<'a> {
    /// JSON as it came; text and lines as strings.
    pub value: Cow<'a, Value>,
    /// Whether it is text, not JSON: `value` is one string then.
    pub is_text: bool,
    /// What was left out on the way, each a sentence without a full stop.
    pub notes: Vec<String>,
}

impl<'a> Payload<'a> {
    fn json(value: Value) -> Self {
        Self {
            value: Cow::Owned(value),
            is_text: false,
            notes: Vec::new(),
        }
    }

    fn plain(text: impl Into<String>) -> Self {
        Self {
            is_text: true,
            ..Self::json(Value::String(text.into()))
        }
    }

    /// The text, where it is one.
    pub fn as_text(&self) -> Option<&str> {
        self.value.as_str().filter(|_| self.is_text)
    }
}

/// What an answer says, read in a format.
///
/// # Errors
///
/// [`FaultKind::Malformed`] where the format is JSON and the text is not; it shows the first line.
pub fn payload(raw: Raw<'_>, format: Format) -> Result<Payload<'_>, Fault> {
    match raw {
        Raw::Text(text) => of_text(text, format),
        Raw::Tool(result) => of_tool(result, format),
    }
}

fn of_tool(result: &Value, format: Format) -> Result<Payload<'_>, Fault> {
    let content = result.get("content").and_then(Value::as_array);
    let content = content.map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<&str> = content.iter().filter_map(text_of_block).collect();
    // Whoever asks for lines or text means the text, which servers send beside the structure.
    let as_text = matches!(format, Format::Lines | Format::Jsonl | Format::Text);
    if let Some(structured) = result
        .get("structuredContent")
        .filter(|it| says_anything(it))
    {
        match wrapped_text(structured) {
            Some(text) if format == Format::Auto => {
                return Ok(block(text)
                    .map(Payload::json)
                    .unwrap_or_else(|| Payload::plain(without_mark(text))));
            }
            Some(text) => return of_text(text, format),
            None if as_text && !texts.is_empty() => {}
            None => {
                return Ok(Payload {
                    value: Cow::Borrowed(structured),
                    is_text: false,
                    notes: Vec::new(),
                });
            }
        }
    }
    if texts.is_empty() {
        // Links are all there is: each names a resource, with its title and description.
        let links = content
            .iter()
            .filter(|block| kind(block) == "resource_link");
        let links: Vec<Value> = links.cloned().collect();
        return Ok(if links.is_empty() {
            Payload::plain("")
        } else {
            Payload::json(Value::Array(links))
        });
    }
    if format == Format::Auto {
        let mut parsed: Vec<Value> = texts.iter().filter_map(|text| block(text)).collect();
        if parsed.len() > 1 {
            return Ok(Payload::json(joined(parsed)));
        }
        return Ok(match parsed.pop() {
            Some(value) => Payload::json(value),
            None => Payload::plain(all(&texts)),
        });
    }
    if format == Format::Json && texts.len() > 1 {
        let parsed: Option<Vec<Value>> =
            texts.iter().map(|text| parse(without_mark(text))).collect();
        if let Some(parsed) = parsed {
            return Ok(Payload::json(joined(parsed)));
        }
    }
    match texts.as_slice() {
        [text] => of_text(text, format),
        texts => of_text(&all(texts), format).map(owned),
    }
}

fn owned(payload: Payload<'_>) -> Payload<'static> {
    Payload {
        value: Cow::Owned(payload.value.into_owned()),
        ..payload
    }
}

fn all(texts: &[&str]) -> String {
    let texts: Vec<&str> = texts.iter().map(|text| without_mark(text)).collect();
    texts.join("\n")
}

/// Null and {} are what a server writes that puts its answer into the text blocks.
fn says_anything(structured: &Value) -> bool {
    match structured {
        Value::Null => false,
        Value::Object(object) => !object.is_empty(),
        _ => true,
    }
}

/// The string in `{"result": "…"}`: how frameworks send a text as structured content.
fn wrapped_text(structured: &Value) -> Option<&str> {
    let object = structured.as_object().filter(|object| object.len() == 1)?;
    object.get("result")?.as_str()
}

fn kind(block: &Value) -> &str {
    block
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn text_of_block(block: &Value) -> Option<&str> {
    match kind(block) {
        "text" => block.get("text")?.as_str(),
        "resource" => block.get("resource")?.get("text")?.as_str(),
        _ => None,
    }
}

/// A text as JSON: an object or a list, also in a string or between Markdown fences.
fn block(text: &str) -> Option<Value> {
    let text = without_mark(text).trim();
    let text = fenced(text).unwrap_or(text);
    parse(text).and_then(structure)
}

/// What stands between two fences, where they are the first and the last line and the only ones.
fn fenced(text: &str) -> Option<&str> {
    let (info, rest) = text.strip_prefix("```")?.split_once('\n')?;
    let inner = rest.strip_suffix("```")?;
    let whole = !info.contains('`') && !inner.contains("\n```");
    whole.then(|| inner.trim())
}

/// An object or a list; out of a string where that is its text.
fn structure(mut value: Value) -> Option<Value> {
    for _ in 0..MAX_WRAPPED {
        match &value {
            Value::Object(_) | Value::Array(_) => return Some(value),
            Value::String(text) => value = parse(text)?,
            _ => return None,
        }
    }
    (value.is_object() || value.is_array()).then_some(value)
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn parse(text: &str) -> Option<Value> {
    mend::parse(text).ok()
}

fn of_text(text: &str, format: Format) -> Result<Payload<'_>, Fault> {
    let text = without_mark(text);
    Ok(match format {
        Format::Text => Payload::plain(text),
        Format::Lines => Payload::json(Value::Array(
            text.lines()
                .filter(|line| !line.trim().is_empty())
                .map(|line| Value::String(line.trim_end().to_owned()))
                .collect(),
        )),
        Format::Jsonl => lines_of_json(text),
        Format::Json => match mend::parse(text) {
            Ok(value) => Payload::json(value),
            Err(_) if text.trim().is_empty() => {
                return Err(Fault::new(
                    FaultKind::Malformed,
                    "the answer is empty where JSON was expected; check the request, or set \
                     `format` to what the answer is",
                ));
            }
            Err(error) => return Err(not_json(text, &error)),
        },
        Format::Auto => auto(text),
    })
}

fn not_json(text: &str, error: &serde_json::Error) -> Fault {
    let first = text.lines().find(|line| !line.trim().is_empty());
    let first = clean::shown(first.unwrap_or_default().trim(), SHOWN);
    // The message of the library is left out: it repeats what the answer holds.
    let (line, column) = (error.line(), error.column());
    Fault::new(
        FaultKind::Malformed,
        format!(
            "the answer is not JSON (line {line}, column {column}), it begins with `{first}`; \
             check the request, or set `format` to what the answer is"
        ),
    )
}

fn auto(text: &str) -> Payload<'_> {
    let might_be = text.trim_start().starts_with(['{', '[', '"', '`']);
    let value = might_be.then(|| block(text)).flatten();
    match value.or_else(|| amid_noise(text)) {
        Some(value) => Payload::json(value),
        None => Payload::plain(text),
    }
}

fn lines_of_json(text: &str) -> Payload<'_> {
    let mut list = Vec::new();
    let mut lines = 0usize;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        lines += 1;
        list.extend(parse(line));
    }
    let bad = lines - list.len();
    let mut payload = Payload::json(Value::Array(list));
    if bad > 0 {
        let verb = if bad == 1 { "is" } else { "are" };
        payload.notes.push(format!(
            "{bad} of {lines} lines {verb} no JSON and left out"
        ));
    }
    payload
}
