//! The list in an answer that is taken for the items.

use serde_json::Value;

/// Under what names services put the list of what they found, in the order they are tried.
const LISTS: &[&str] = &[
    "results",
    "items",
    "hits",
    "data",
    "matches",
    "entries",
    "memories",
    "documents",
];

/// Whether a value is or holds a list that would be taken for the items.
pub(super) fn holds_list(value: &Value) -> bool {
    value.is_array() || list_in(value).is_some()
}

/// The list an object holds under one of the names for it.
pub(super) fn list_in(value: &Value) -> Option<&Vec<Value>> {
    let object = value.as_object()?;
    let mut lists = LISTS
        .iter()
        .filter_map(|name| object.get(*name)?.as_array());
    lists.next().or_else(|| {
        // How frameworks send a list as structured content, which must be an object.
        let only = object.get("result").filter(|_| object.len() == 1);
        only.and_then(Value::as_array)
    })
}
