//! What a result path selects in an answer (adapters.md section 5).

use kontext_syntax::path::{Alternative, ResultPath, StepKind};
use serde_json::Value;

/// The values a path selects: those of the first alternative that gives one that is neither null
/// nor empty. Where none does, those of the first alternative that selects anything, so that an
/// empty list stays an empty list.
pub fn select<'a>(path: &ResultPath, root: &'a Value) -> Vec<&'a Value> {
    let mut fallback = Vec::new();
    for alternative in &path.alternatives {
        let found = select_one(alternative, root);
        if found.iter().any(|value| !is_empty(value)) {
            return found;
        }
        if fallback.is_empty() {
            fallback = found;
        }
    }
    fallback
}

/// The values one alternative selects, in document order. A step that meets another type than it
/// needs selects nothing.
pub fn select_one<'a>(alternative: &Alternative, root: &'a Value) -> Vec<&'a Value> {
    let mut current = vec![root];
    for step in &alternative.steps {
        current = match &step.kind {
            StepKind::Name(name) => current
                .into_iter()
                .filter_map(|value| value.as_object()?.get(name))
                .collect(),
            StepKind::Index(index) => current
                .into_iter()
                .filter_map(|value| element(value, *index))
                .collect(),
            StepKind::All => current.into_iter().flat_map(children).collect(),
            StepKind::Bad => return Vec::new(),
        };
    }
    current
}

/// Null, "", [] and {}.
pub fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The element of a list, 0-based, negative from the end.
pub(crate) fn element(value: &Value, index: i64) -> Option<&Value> {
    let list = value.as_array()?;
    let distance = usize::try_from(index.unsigned_abs()).ok()?;
    let at = if index < 0 {
        list.len().checked_sub(distance)?
    } else {
        distance
    };
    list.get(at)
}

fn children(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(list) => Box::new(list.iter()),
        Value::Object(object) => Box::new(object.values()),
        _ => Box::new(std::iter::empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(path: &str) -> String {
        let root = serde_json::from_str(
            r#"{"z":1,"a":{"k.x":"dotted","list":[{"n":"one"},{"n":null},{"m":2},{"n":"three"}]},
                "empty":[],"blank":"","none":null,"id":12345678901234567890123,"@t":"now"}"#,
        )
        .unwrap();
        let found = select(&ResultPath::parse(path), &root);
        let found: Vec<_> = found.into_iter().map(Value::to_string).collect();
        found.join(" ")
    }

    #[test]
    fn paths_select() {
        let cases = [
            (r#"a["k.x"]"#, r#""dotted""#),
            ("a.list[0].n", r#""one""#),
            ("a.list[-1].n", r#""three""#),
            ("a.list[-5]", ""),
            ("a.list[9]", ""),
            ("a.list[*].n", r#""one" null "three""#),
            ("a.list.*.m", "2"),
            ("a.*[2]", r#"{"m":2}"#),
            ("z.b", ""),
            ("z[0]", ""),
            ("z[*]", ""),
            ("a[0]", ""),
            ("id", "12345678901234567890123"),
            ("@t", r#""now""#),
            ("none|blank|empty|z", "1"),
            ("missing|a.list[1].n|z", "1"),
            ("empty", "[]"),
            ("missing|empty", "[]"),
            ("a..list|z", "1"),
        ];
        for (path, expected) in cases {
            assert_eq!(show(path), expected, "{path}");
        }
        assert_eq!(show("$"), show(""));
        assert!(show("*").starts_with("1 {"), "document order");
    }
}
