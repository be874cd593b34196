//! The effective configuration: what all layers give together, each value with where it stands.

use std::path::PathBuf;

use kontext_config::merge::{Merged, Origin};
use kontext_config::stack::{Stack, View};
use kontext_syntax::TextRange;
use kontext_syntax::text::LineIndex;
use serde::Serialize;
use serde_json::{Value, json};

use crate::mask;
use crate::snapshot::{Snapshot, Workspace};

/// One value that holds, and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EffectiveValue {
    /// Its keys from the top of the file, joined by dots; keys with a dot are in quotes.
    pub field: String,
    /// The value; secrets masked.
    pub value: Value,
    /// The layer it comes from.
    pub layer: &'static str,
    /// The file of that layer.
    pub path: PathBuf,
    /// Where the value stands there, in bytes of its text.
    #[serde(skip)]
    pub range: TextRange,
    /// The line it stands on, counted from 1.
    pub line: usize,
    /// Layers that set it as well and are replaced, lowest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shadows: Vec<&'static str>,
}

/// The effective configuration of all workspaces as JSON, secrets masked.
///
/// One member a workspace: `root`, and `config`, in which a table is an object and each value is
/// `{"value", "layer", "path", "line"}` (`line` counts from 1), with `shadows` where it replaces
/// others. What an untrusted shared layer says is not part of it.
pub fn effective(snapshot: &Snapshot) -> Value {
    let workspaces = snapshot.workspaces.iter().map(|workspace| {
        json!({
            "root": workspace.root.to_string_lossy(),
            "trusted": workspace.stack.trust.is_trusted(),
            "config": config(workspace),
        })
    });
    json!({ "workspaces": workspaces.collect::<Vec<_>>() })
}

/// The layers, with where the lines of each begin.
struct Layers<'a> {
    stack: &'a Stack,
    lines: Vec<Option<LineIndex>>,
}

impl<'a> Layers<'a> {
    fn of(stack: &'a Stack) -> Self {
        let lines = stack.layers.iter().map(|layer| {
            let source = layer.source.as_ref()?;
            Some(LineIndex::new(source.document.text()))
        });
        Self {
            stack,
            lines: lines.collect(),
        }
    }
}

fn config(workspace: &Workspace) -> Value {
    let stack = &workspace.stack;
    let layers = Layers::of(stack);
    let mut out = serde_json::Map::new();
    for field in kontext_config::schema::root().fields {
        if field.name == "adapters" {
            continue;
        }
        if let Some(merged) = stack.merged_top(field.name) {
            out.insert(
                field.name.to_owned(),
                tree(&layers, &mut vec![field.name], &merged),
            );
        }
    }
    let mut adapters = serde_json::Map::new();
    for name in stack.adapter_names() {
        if let Some(merged) = stack.merged(name, View::InForce) {
            adapters.insert(
                name.to_owned(),
                tree(&layers, &mut vec!["adapters", name], &merged),
            );
        }
    }
    out.insert("adapters".to_owned(), Value::Object(adapters));
    Value::Object(out)
}

fn tree<'a>(layers: &Layers<'_>, path: &mut Vec<&'a str>, merged: &Merged<'a>) -> Value {
    if let Some(members) = merged.members() {
        let mut out = serde_json::Map::new();
        for (name, member) in members {
            if member.is_missing() {
                continue;
            }
            path.push(name);
            out.insert((*name).to_owned(), tree(layers, path, member));
            path.pop();
        }
        return Value::Object(out);
    }
    one(layers, path, merged).map_or(Value::Null, |found| {
        let mut value = json!({
            "value": found.value,
            "layer": found.layer,
            "path": found.path.to_string_lossy(),
            "line": found.line,
        });
        if let (Some(object), false) = (value.as_object_mut(), found.shadows.is_empty()) {
            object.insert("shadows".to_owned(), json!(found.shadows));
        }
        value
    })
}

/// The values below a merged item that count, in order. `path` are its keys from the top.
pub(crate) fn values<'a>(
    stack: &Stack,
    path: &[&'a str],
    merged: &Merged<'a>,
) -> Vec<EffectiveValue> {
    let layers = Layers::of(stack);
    let mut found = Vec::new();
    merged.leaves(&mut |below, value| {
        if value.is_valid() {
            let path: Vec<&str> = path.iter().chain(below).copied().collect();
            found.extend(one(&layers, &path, value));
        }
    });
    found
}

fn one(layers: &Layers<'_>, path: &[&str], merged: &Merged<'_>) -> Option<EffectiveValue> {
    let origin = merged.origin;
    let stack = layers.stack;
    let layer = stack.layers.get(origin.layer)?;
    let document = &layer.source.as_ref()?.document;
    let range = document.resolve(origin.value);
    let lines = layers.lines.get(origin.layer)?.as_ref()?;
    let name = |origin: &Origin| stack.layer_kind(origin.layer).map(|kind| kind.name());
    Some(EffectiveValue {
        field: dotted(path),
        value: mask::value(path, &merged.to_json()),
        layer: layer.kind.name(),
        path: layer.path.clone(),
        range,
        line: lines.line_of(range.start) as usize + 1,
        shadows: merged.shadowed.iter().filter_map(name).collect(),
    })
}

/// Keys joined by dots, those that need quotes in quotes.
pub(crate) fn dotted(path: &[&str]) -> String {
    let key = |key: &&str| {
        let bare = !key.is_empty()
            && key
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if bare {
            (*key).to_owned()
        } else {
            Value::String((*key).to_owned()).to_string()
        }
    };
    let keys: Vec<_> = path.iter().map(key).collect();
    keys.join(".")
}
