//! A file with what surrounds it: the layers it is read with and the world they are judged in.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use kontext_config::facts::Facts;
use kontext_config::layer::LayerKind;
use kontext_config::merge::node_to_json;
use kontext_config::source::Source;
use kontext_config::stack::{LayerSource, Stack, View};
use kontext_config::status::{AdapterStatus, Status};
use kontext_config::when::{Verdict, judge};
use kontext_syntax::toml::Node;
use serde_json::Value;

use crate::mask;
use crate::snapshot::{File, Snapshot, Workspace};

/// What a question about a file is answered from. A file that is no layer is a stack by itself.
pub(crate) struct Scene<'a> {
    pub(crate) workspace: Option<&'a Arc<Workspace>>,
    pub(crate) stack: Cow<'a, Stack>,
    /// Whether there are layers; else the file is judged alone.
    pub(crate) layered: bool,
    /// The layer the file is, where there is a file.
    layer: Option<LayerKind>,
    pub(crate) facts: Option<&'a Facts>,
}

/// Where a value stands in one layer.
pub(crate) struct Given {
    pub(crate) layer: usize,
    /// Masked.
    pub(crate) value: Value,
}

impl<'a> Scene<'a> {
    pub(crate) fn of(snapshot: &'a Snapshot, file: &'a File) -> Self {
        let workspace = snapshot.workspace_of(file);
        let layer = file.roles.first().map(|role| role.layer);
        let stack = match (workspace, layer) {
            (Some(workspace), Some(_)) => Cow::Borrowed(&*workspace.stack),
            _ => Cow::Owned(alone(file)),
        };
        Self {
            workspace,
            stack,
            layered: layer.is_some(),
            layer,
            facts: workspace.map(|workspace| &*workspace.facts),
        }
    }

    pub(crate) fn of_workspace(workspace: &'a Arc<Workspace>) -> Self {
        Self {
            workspace: Some(workspace),
            stack: Cow::Borrowed(&workspace.stack),
            layered: true,
            layer: None,
            facts: Some(&workspace.facts),
        }
    }

    /// The words for a layer, `this file` for the one that is asked about.
    pub(crate) fn layer_words(&self, at: usize) -> String {
        match (self.stack.layer_kind(at), self.layer) {
            (Some(kind), Some(own)) if kind == own => format!("the {kind} layer (this file)"),
            (Some(kind), _) if self.layered => format!("the {kind} layer"),
            _ => "this file".to_owned(),
        }
    }

    /// The verdict on every condition of an adapter, in order; `None` without facts.
    pub(crate) fn verdicts(&self, adapter: &str) -> Option<Vec<Verdict>> {
        let facts = self.facts?;
        let adapter = self.stack.adapter(adapter, View::Shown)?;
        Some(judge(&adapter.when, facts))
    }

    /// The status of an adapter and why; `None` where it is not known.
    pub(crate) fn status(&self, name: &str) -> Option<AdapterStatus> {
        if let (Some(workspace), true) = (self.workspace, self.layered) {
            let statuses = workspace.statuses();
            return statuses.iter().find(|one| one.name == name).cloned();
        }
        let facts = self.facts?;
        let adapter = self.stack.adapter(name, View::Shown)?;
        let mut status = AdapterStatus {
            name: name.to_owned(),
            driver: adapter.driver,
            status: Status::Active,
            reasons: Vec::new(),
            layer: LayerKind::User,
            pending: false,
        };
        if let Some(problem) = adapter.fatal() {
            status.status = Status::Invalid;
            status.reasons.push(problem.message.clone());
        } else if !adapter.enabled {
            status.status = Status::Disabled;
            status.reasons.push("`enabled` is false".to_owned());
        } else {
            for verdict in judge(&adapter.when, facts) {
                status.pending |= verdict.holds.is_none();
                status.reasons.extend(verdict.reason);
            }
            if !status.reasons.is_empty() {
                status.status = Status::Inactive;
            }
        }
        Some(status)
    }

    /// The value at a path in every layer that has it, lowest first, masked.
    pub(crate) fn given(&self, path: &[&str]) -> Vec<Given> {
        let layers = self.stack.layers.iter().enumerate();
        layers
            .filter_map(|(layer, source)| {
                let node = node_in(source.source.as_deref()?, path)?;
                Some(Given {
                    layer,
                    value: mask::value(path, &node_to_json(node)),
                })
            })
            .collect()
    }
}

fn alone(file: &File) -> Stack {
    Stack {
        layers: vec![LayerSource {
            kind: LayerKind::User,
            path: file
                .path
                .clone()
                .unwrap_or_else(|| PathBuf::from(&*file.uri)),
            source: Some(Arc::clone(&file.source)),
            fault: None,
        }],
        ..Stack::default()
    }
}

/// What a file says at a path of keys; arrays are not stepped into.
pub(crate) fn node_in<'a>(source: &'a Source, path: &[&str]) -> Option<&'a Node> {
    let (top, below) = path.split_first()?;
    let named = below
        .split_first()
        .and_then(|(name, rest)| Some((source.units.named(top, name)?, rest)));
    let (unit, rest) = match named {
        Some(found) => found,
        None => (source.units.top(top)?, below),
    };
    rest.iter()
        .try_fold(&unit.item.node, |node, key| Some(&node.get(key)?.node))
}

/// A value as it is shown in a line: TOML-like, cut to a width that fits a tooltip.
pub(crate) fn shown(value: &Value) -> String {
    const MOST: usize = 120;
    let text = inline(value);
    if text.chars().count() <= MOST {
        return text;
    }
    let mut cut: String = text.chars().take(MOST - 1).collect();
    cut.push('…');
    cut
}

fn inline(value: &Value) -> String {
    match value {
        Value::Array(values) => {
            let values: Vec<_> = values.iter().map(inline).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Object(members) if members.is_empty() => "{}".to_owned(),
        Value::Object(members) => {
            let members: Vec<_> = members
                .iter()
                .map(|(key, value)| format!("{key} = {}", inline(value)))
                .collect();
            format!("{{ {} }}", members.join(", "))
        }
        other => other.to_string(),
    }
}
