use std::borrow::Cow;

use kontext_syntax::template::{Segment, SegmentKind};
use serde_json::Value;

/// A value as text: null is empty, a list its elements joined by `,`, an object compact JSON.
/// Numbers keep every digit.
pub fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) => Cow::Borrowed(text),
        Value::Array(list) => Cow::Owned(join(list, ",")),
        Value::Number(number) => {
            // The parser adds the sign: `1e3` is kept as `1e+3`.
            let text = number.to_string();
            Cow::Owned(if text.contains('+') {
                text.replace('+', "")
            } else {
                text
            })
        }
        Value::Bool(_) | Value::Object(_) => Cow::Owned(value.to_string()),
    }
}

pub(super) fn join(list: &[Value], separator: &str) -> String {
    list.iter().map(text_of).collect::<Vec<_>>().join(separator)
}

/// What a path leads to inside a value.
pub(super) fn walk<'a>(root: &'a Value, segments: &[Segment]) -> Option<&'a Value> {
    segments
        .iter()
        .try_fold(root, |value, segment| match (&segment.kind, value) {
            (SegmentKind::Key(key), Value::Object(object)) => object.get(key),
            (SegmentKind::Index(index), Value::Object(object)) => object.get(&index.to_string()),
            (SegmentKind::Index(index), _) => crate::select::element(value, *index),
            (SegmentKind::Key(_), _) => None,
        })
}

/// A segment as the name of a variable.
pub(super) fn name_of(segment: &Segment) -> Cow<'_, str> {
    match &segment.kind {
        SegmentKind::Key(key) => Cow::Borrowed(key),
        SegmentKind::Index(index) => Cow::Owned(index.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_they_came() {
        for text in [
            "7.0",
            "-0",
            "1e3",
            "2.50e-7",
            "12345678901234567890123",
            "1e999",
        ] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(text_of(&value), text);
        }
    }
}
