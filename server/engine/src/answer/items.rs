//! From a payload to the values that stand for one find each.

use std::borrow::Cow;

use kontext_config::eval::text_of;
use kontext_config::select::select;
use serde_json::{Map, Value};

use super::lists::list_in;
use super::{Payload, Reading};

impl Reading {
    /// The items of a payload, before `where`.
    pub fn items<'p>(&self, payload: &'p Payload<'_>) -> Vec<Cow<'p, Value>> {
        let root: &Value = &payload.value;
        if let Some(path) = &self.items {
            let found = select(path, root);
            return match (found.as_slice(), &self.split) {
                ([Value::Array(list)], _) => list.iter().map(Cow::Borrowed).collect(),
                ([Value::String(text)], Some(prefix)) => cut(text, prefix),
                _ => found.into_iter().map(Cow::Borrowed).collect(),
            };
        }
        match (root, &self.split) {
            (Value::String(text), Some(prefix)) => cut(text, prefix),
            (Value::String(text), None) if text.trim().is_empty() => Vec::new(),
            (Value::Null, _) => Vec::new(),
            (Value::Array(list), _) => list.iter().map(Cow::Borrowed).collect(),
            _ => match list_in(root) {
                Some(list) => list.iter().map(Cow::Borrowed).collect(),
                None => vec![Cow::Borrowed(root)],
            },
        }
    }

    /// Whether `where` keeps an item: at each path stands the given text. What is not there is
    /// the empty text.
    pub(super) fn keeps(&self, item: &Value) -> bool {
        self.filter.iter().all(|(path, expected)| {
            let found = select(path, item);
            let found = found.first().copied().unwrap_or(&Value::Null);
            text_of(found) == expected.as_str()
        })
    }
}

/// The pieces of a text, each from a line that begins with `prefix` up to the next.
fn cut<'p>(text: &str, prefix: &str) -> Vec<Cow<'p, Value>> {
    let mut pieces: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        if line.starts_with(prefix) {
            pieces.push((at, end));
        } else if let Some((_, until)) = pieces.last_mut() {
            *until = end;
        }
        at = end;
    }
    let piece = |(start, end): (usize, usize)| {
        let raw = text.get(start..end).unwrap_or_default().trim_end();
        let (head, body) = raw.split_once('\n').unwrap_or((raw, ""));
        let title = head.strip_prefix(prefix).unwrap_or(head).trim();
        let fields = [("title", title), ("text", body.trim()), ("raw", raw)];
        let fields = fields.map(|(name, text)| (name.to_owned(), Value::String(text.to_owned())));
        Cow::Owned(Value::Object(Map::from_iter(fields)))
    };
    pieces.into_iter().map(piece).collect()
}
