//! What has changed since a yes was given.

use serde_json::Value;

use super::Canonical;
use super::form::MARK;

/// One value that differs. Secrets are not masked here.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Its keys: from the top of the file, or `scripts` and a path, or `faulty`.
    pub path: Vec<String>,
    /// What was accepted; `None` where there was nothing.
    pub before: Option<Value>,
    /// What is there now; `None` where it is gone.
    pub after: Option<Value>,
}

/// The changes from an accepted form to the present one, at most `most`, in the order of the keys.
/// `None` where `before` is not a form that can be compared.
pub fn difference(before: &str, after: &Canonical, most: usize) -> Option<Vec<Change>> {
    let before: Value = serde_json::from_str(before).ok()?;
    let after: Value = serde_json::from_str(&after.text()).ok()?;
    let mut changes = Vec::new();
    compare(
        &mut Vec::new(),
        Some(&before),
        Some(&after),
        most,
        &mut changes,
    );
    Some(changes)
}

fn compare(
    path: &mut Vec<String>,
    before: Option<&Value>,
    after: Option<&Value>,
    most: usize,
    changes: &mut Vec<Change>,
) {
    if before == after || changes.len() >= most {
        return;
    }
    let members = |value: Option<&Value>| match value {
        Some(Value::Object(members)) => Some(members.clone()),
        None => Some(serde_json::Map::new()),
        Some(_) => None,
    };
    match (members(before), members(after)) {
        (Some(old), Some(new)) if !(old.is_empty() && new.is_empty()) => {
            let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
            names.sort_unstable();
            names.dedup();
            for name in names {
                path.push(name.clone());
                compare(path, old.get(name), new.get(name), most, changes);
                path.pop();
            }
        }
        _ => changes.push(Change {
            path: path.clone(),
            before: before.map(readable),
            after: after.map(readable),
        }),
    }
}

/// A value of the form as a person would write it.
fn readable(value: &Value) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix(MARK) {
            Some(rest) if rest.starts_with(MARK) => Value::String(rest.to_owned()),
            Some(rest) => Value::String(
                ["date ", "float ", "invalid "]
                    .iter()
                    .find_map(|lead| rest.strip_prefix(lead))
                    .unwrap_or(rest)
                    .to_owned(),
            ),
            None => value.clone(),
        },
        Value::Array(values) => values.iter().map(readable).collect(),
        other => other.clone(),
    }
}
