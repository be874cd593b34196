//! Answers of bounded size: cut at the borders of items, and saying so.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// How large the JSON of a tool's result may be, in bytes. About 12,000 tokens: what an agent's
/// context bears without harm.
pub const RESULT_BUDGET: usize = 48 * 1024;

/// An answer that fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted<T> {
    /// The answer, with the items that did not fit left out.
    pub answer: T,
    /// The same as JSON.
    pub value: Map<String, Value>,
    /// Which lists were cut, by their path (`documents/0/diagnostics`), and how many items of
    /// each are missing.
    pub omitted: Vec<(String, usize)>,
}

/// Cuts the lists of objects in `answer` until its JSON takes at most about `budget` bytes.
///
/// Lists are kept from their front; of an item that does not fit whole, its own lists are cut
/// before it is dropped. Everything that is no item of such a list stays, so the result may
/// exceed the budget by that much.
///
/// # Errors
///
/// Where the answer is no JSON object or does not read back; both are faults of its type.
pub fn fit<T>(answer: &T, budget: usize) -> Result<Fitted<T>, serde_json::Error>
where
    T: Serialize + DeserializeOwned,
{
    let mut value = serde_json::to_value(answer)?;
    let mut omitted = Vec::new();
    let mut left = budget;
    cut(&mut value, &mut left, "", &mut omitted);
    let answer = serde_json::from_value(value.clone())?;
    let value = serde_json::from_value(value)?;
    Ok(Fitted {
        answer,
        value,
        omitted,
    })
}

fn cut(value: &mut Value, left: &mut usize, path: &str, omitted: &mut Vec<(String, usize)>) {
    match value {
        Value::Object(members) => {
            // What always stays is paid first, else the first list would take it all.
            for (name, member) in members.iter() {
                *left = left.saturating_sub(name.len() + 4);
                if !member.is_object() && !is_item_list(member) {
                    *left = left.saturating_sub(size(member));
                }
            }
            for (name, member) in members.iter_mut() {
                if member.is_object() || is_item_list(member) {
                    cut(member, left, &join(path, name), omitted);
                }
            }
        }
        Value::Array(items) => {
            let mut kept = 0;
            for (at, item) in items.iter_mut().enumerate() {
                let whole = size(item) + 1;
                if whole <= *left {
                    *left -= whole;
                    kept += 1;
                    continue;
                }
                if has_item_list(item) && *left > 0 {
                    cut(item, left, &join(path, &at.to_string()), omitted);
                    kept += 1;
                }
                *left = 0;
                break;
            }
            if kept < items.len() {
                omitted.push((path.to_owned(), items.len() - kept));
                items.truncate(kept);
            }
        }
        _ => {}
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}/{name}")
    }
}

fn size(value: &Value) -> usize {
    value.to_string().len()
}

fn is_item_list(value: &Value) -> bool {
    matches!(value, Value::Array(items) if items.first().is_some_and(Value::is_object))
}

fn has_item_list(value: &Value) -> bool {
    matches!(value, Value::Object(members) if members.values().any(is_item_list))
}

/// One sentence about what is missing; empty where nothing is.
pub fn note(omitted: &[(String, usize)], advice: &str) -> String {
    if omitted.is_empty() {
        return String::new();
    }
    let parts: Vec<String> = omitted
        .iter()
        .map(|(path, count)| format!("{count} of `{path}`"))
        .collect();
    format!(
        "Cut to fit the size budget; not shown: {}. {advice}",
        parts.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_are_cut_at_items_from_the_back_and_what_is_missing_is_counted() {
        let item = |n: usize| json!({"n": n, "text": "x".repeat(80)});
        let answer = json!({
            "items": (0..20).map(item).collect::<Vec<_>>(),
            "always": "here",
        });
        let fitted = fit(&answer, 500).expect("fits");
        assert_eq!(fitted.value["always"], "here");
        assert_eq!(fitted.value["items"].as_array().map(Vec::len), Some(4));
        assert_eq!(fitted.omitted, [("items".to_owned(), 16)]);
        insta::assert_snapshot!(note(&fitted.omitted, "Ask for less."), @"Cut to fit the size budget; not shown: 16 of `items`. Ask for less.");
    }

    #[test]
    fn the_lists_of_an_item_are_cut_before_the_item() {
        let inner: Vec<Value> = (0..20).map(|n| json!({"n": n})).collect();
        let answer = json!({"documents": [{"path": "a", "diagnostics": inner}, {"path": "b"}]});
        let fitted = fit(&answer, 100).expect("fits");
        let diagnostics = &fitted.value["documents"][0]["diagnostics"];
        assert!(diagnostics.as_array().is_some_and(|list| !list.is_empty()));
        assert_eq!(fitted.omitted.len(), 2);
    }

    #[test]
    fn what_fits_is_left_alone() {
        let answer = json!({"items": [{"n": 1}]});
        let fitted = fit(&answer, 500).expect("fits");
        assert_eq!(fitted.answer, answer);
        assert!(fitted.omitted.is_empty());
    }
}
