//! JSON with log lines around it.

use serde::de::IgnoredAny;
use serde_json::{StreamDeserializer, Value, de::StrRead};

use super::lists::holds_list;
use super::mend;

/// How many times the length of the text may be read in attempts that fail. Hostile text could
/// otherwise make each line one that is read to the end.
const WASTE: usize = 4;

/// A value and the lines it takes.
struct Found<'a> {
    text: &'a str,
    /// The text before it since the value before, or since the start.
    before: &'a str,
}

/// The payload of a text that is not JSON as a whole.
///
/// A value counts where it begins a line, is an object or a list and ends a line: in
/// `[WARN] cache miss {"k": 1}` nothing does. JSON between Markdown fences belongs to the text
/// around it. Where nothing but values is there, they are joined, unless one alone is or holds a
/// list. Amid noise, values that are or hold a list go first, then the longest, then the last: what
/// a program logs as JSON is short.
pub(super) fn amid_noise(text: &str) -> Option<Value> {
    let (found, rest) = values(text);
    let noisy = !rest.trim().is_empty() || found.iter().any(|it| !it.before.trim().is_empty());
    let mut parsed: Vec<(bool, usize, Value)> = found
        .iter()
        .filter(|it| !it.is_fenced())
        .filter_map(|it| {
            let value = mend::parse(it.text).ok()?;
            Some((holds_list(&value), it.text.len(), value))
        })
        .collect();
    let holding = parsed.iter().filter(|(holds, ..)| *holds).count();
    if !noisy && parsed.len() == found.len() && parsed.len() > 1 && holding != 1 {
        return Some(joined(parsed.into_iter().map(|(.., value)| value)));
    }
    let best = (0..parsed.len()).max_by_key(|at| {
        let (holds, length, _) = parsed.get(*at)?;
        Some((*holds, *length))
    })?;
    Some(parsed.swap_remove(best).2)
}

/// Objects are elements of the list; lists lend theirs.
pub(super) fn joined(values: impl IntoIterator<Item = Value>) -> Value {
    let mut list = Vec::new();
    for value in values {
        match value {
            Value::Array(elements) => list.extend(elements),
            other => list.push(other),
        }
    }
    Value::Array(list)
}

impl Found<'_> {
    fn is_fenced(&self) -> bool {
        let line = self.before.lines().next_back();
        line.is_some_and(|line| line.trim_start().starts_with("```"))
    }
}

/// All values, and what stands behind the last.
fn values(text: &str) -> (Vec<Found<'_>>, &str) {
    let mut found = Vec::new();
    let mut budget = text.len().saturating_mul(WASTE);
    let mut free = 0;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let line_end = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |end| end + 1);
        if !rest.starts_with(['{', '[']) {
            at += line_end;
            continue;
        }
        match value_length(rest) {
            Ok(length) if ends_line(rest, length) => {
                found.push(Found {
                    text: rest.get(..length).unwrap_or_default(),
                    before: text.get(free..at).unwrap_or_default(),
                });
                let behind = rest.get(length..).unwrap_or_default();
                at += length;
                at += memchr::memchr(b'\n', behind.as_bytes()).map_or(behind.len(), |end| end + 1);
                free = at;
            }
            Ok(length) | Err(length) => {
                let Some(left) = budget.checked_sub(length) else {
                    break;
                };
                budget = left;
                at += line_end;
            }
        }
    }
    (found, text.get(free..).unwrap_or_default())
}

/// The bytes of the value a text begins with, or the bytes that were read until it was none.
fn value_length(text: &str) -> Result<usize, usize> {
    let mut stream: StreamDeserializer<'_, StrRead<'_>, IgnoredAny> =
        serde_json::Deserializer::from_str(text).into_iter();
    match stream.next() {
        Some(Ok(_)) => Ok(stream.byte_offset()),
        Some(Err(error)) => Err(offset_of(text, error.line(), error.column())),
        None => Err(text.len()),
    }
}

/// The byte offset of a line and column, both 1-based.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let before = match line.checked_sub(2) {
        None => 0,
        Some(ends) => memchr::memchr_iter(b'\n', text.as_bytes())
            .nth(ends)
            .map_or(text.len(), |end| end + 1),
    };
    before.saturating_add(column).max(1)
}

fn ends_line(text: &str, length: usize) -> bool {
    let behind = text.get(length..).unwrap_or_default();
    let line = behind.split('\n').next().unwrap_or_default();
    line.trim().is_empty()
}
