//! An adapter as a whole: its driver, its target, its ops and who calls them.

use std::collections::BTreeSet;

use kontext_config::codes::Code;
use kontext_config::layer::LayerKind;
use kontext_config::schema::{self, Driver, Required, TableSpec, nearest};
use kontext_syntax::toml::{Node, NodeKind, write};

use super::check::Check;
use super::context::field;
use super::remove;
use crate::foreign;

/// Checks what no single field shows.
pub(super) fn check(check: &mut Check<'_>) {
    if check.context.unit.item.node.as_table().is_none() {
        return;
    }
    let (Some(adapter), Some(op)) = (
        table_at(&["adapters", ""]),
        table_at(&["adapters", "", "ops", ""]),
    ) else {
        return;
    };
    driver(check, adapter);
    target(check, adapter, op);
    url_wins(check);
    callers(check);
    unused_ops(check);
    required_of_ops(check, op);
}

/// A top-level table that is not part of the format.
pub(super) fn unknown_table(check: &mut Check<'_>) {
    let context = check.context;
    let unit = context.unit;
    let name = &*unit.key.top;
    if matches!(unit.item.node.kind, NodeKind::Invalid) {
        return; // a key that is still being typed: the grammar has said so
    }
    if let Some(finding) = foreign::known_table(name, unit, context.document) {
        check.findings.push(finding);
        return;
    }
    let shown = name.escape_debug();
    match schema::root().suggest(name) {
        Some(near) => {
            let message = format!(
                "`{shown}` is no table of this format; did you mean `{}`?",
                near.name
            );
            let edits = unit
                .item
                .keys
                .iter()
                .map(|&span| (span, near.name.to_owned()))
                .collect();
            check
                .report(Code::UnknownTable, unit.item.key(), message)
                .fix(format!("Change to `{}`", near.name), edits);
        }
        None => {
            let message =
                format!("`{shown}` is not part of this format and has no effect on adapters");
            check.report(Code::UnknownTable, unit.item.key(), message);
        }
    }
}

/// The adapter needs a driver in some layer. Said once, in the lowest layer that has the adapter.
fn driver(check: &mut Check<'_>, adapter: &TableSpec) {
    let context = check.context;
    if check.shape.has_driver
        || context
            .nodes()
            .any(|(_, node)| may_give(adapter, node, "driver"))
    {
        return;
    }
    if context
        .peers
        .first()
        .is_some_and(|lowest| Some(lowest.layer) < context.layer)
    {
        return;
    }
    let message =
        "no layer gives this adapter a driver: add `driver = \"mcp\"`, `\"http\"` or `\"command\"`";
    check.report(Code::MissingDriver, context.unit.item.key(), message);
}

/// The adapter needs something to start or to call in some layer. Said once, at the driver that
/// counts.
fn target(check: &mut Check<'_>, adapter: &TableSpec, op: &TableSpec) {
    let context = check.context;
    let value = |node| {
        field(node, "driver")
            .and_then(Node::as_str)
            .and_then(Driver::parse)
    };
    let givers: Vec<_> = context
        .nodes()
        .filter(|(_, node)| value(node).is_some())
        .collect();
    let in_force = |layer: &Option<LayerKind>| context.trusted || *layer != Some(LayerKind::Shared);
    let giver = givers
        .iter()
        .rev()
        .find(|(layer, _)| in_force(layer))
        .or(givers.last());
    let Some(&(layer, node)) = giver else { return };
    let (Some(driver), Some(place)) = (value(node), field(node, "driver")) else {
        return;
    };
    let given = |name: &str| {
        context
            .nodes()
            .any(|(_, node)| may_give(adapter, node, name))
    };
    let (lead, in_op) = match driver {
        Driver::Mcp if given("command") || given("url") => return,
        Driver::Mcp => ("driver mcp needs `command` or `url`: add one of them", None),
        Driver::Http if given("base_url") || given("url") => return,
        Driver::Http => (
            "driver http needs `base_url`, or an absolute `url` in each op",
            Some("url"),
        ),
        Driver::Command if given("command") => return,
        Driver::Command => (
            "driver command needs `command` on the adapter, or in each op",
            Some("command"),
        ),
    };
    if layer != context.layer {
        return;
    }
    let mut message = lead.to_owned();
    if let Some(name) = in_op {
        let without: Vec<String> = check
            .shape
            .ops
            .iter()
            .filter(|(_, nodes)| !nodes.iter().any(|node| may_give(op, node, name)))
            .map(|(op, _)| format!("`{}`", op.escape_debug()))
            .collect();
        let inline = || context.nodes().flat_map(|(_, node)| inline_ops(node));
        let inline_without = inline().any(|node| !may_give(op, node, name));
        let has_ops = !check.shape.ops.is_empty() || inline().next().is_some();
        if has_ops && without.is_empty() && !inline_without {
            return;
        }
        if !without.is_empty() {
            message = format!("{message}; {} has none", without.join(", "));
        }
    }
    check.report(Code::MissingTarget, place.span, message);
}

/// `command` where a `url` of this layer or one below it wins.
fn url_wins(check: &mut Check<'_>) {
    let context = check.context;
    if check.driver != Some(Driver::Mcp) {
        return;
    }
    let Some(command) = context.unit.item.node.get("command") else {
        return;
    };
    if command.node.as_array().is_none() {
        return;
    }
    let here = context
        .unit
        .item
        .node
        .get("url")
        .filter(|url| url.node.as_str().is_some());
    let below = context
        .peers
        .iter()
        .filter(|peer| Some(peer.layer) < context.layer)
        .filter(|peer| context.trusted || peer.layer != LayerKind::Shared)
        .find_map(|peer| {
            let url = peer.unit.item.node.get("url")?;
            url.node.as_str().map(|_| (peer, url))
        });
    if here.is_none() && below.is_none() {
        return;
    }
    let edit = remove::item(context.document, command);
    let message = "`command` has no effect beside `url`, which wins: delete one of the two";
    let finding = check.report(Code::UrlWins, command.key(), message);
    match (here, below) {
        (Some(url), _) => finding.related(url.key(), "this is used"),
        (None, Some((peer, url))) => finding.related_in(peer, url.key(), "this is used"),
        (None, None) => finding,
    };
    if let Some(edit) = edit {
        finding.fix("Remove `command`", vec![edit]);
    }
}

/// `on` and `tools` name ops that some layer defines.
fn callers(check: &mut Check<'_>) {
    let (context, shape) = (check.context, check.shape);
    if shape.unclear_ops {
        return;
    }
    let own = &context.unit.item.node;
    for node in ["on", "tools"]
        .into_iter()
        .flat_map(|list| elements(own, list))
    {
        let Some(op) = field(node, "op") else {
            continue;
        };
        let Some(name) = op.as_str().filter(|name| !shape.ops.contains_key(name)) else {
            continue;
        };
        let shown = name.escape_debug();
        match nearest(name, shape.ops.keys().copied()) {
            Some(near) => {
                let message = format!("this adapter has no op `{shown}`; did you mean `{near}`?");
                check.report(Code::UnknownOp, op.span, message).fix(
                    format!("Change to `{near}`"),
                    vec![(op.span, write::string(near))],
                );
            }
            None => {
                let adapter = write::key(context.unit.key.name.as_deref().unwrap_or_default());
                let message = format!(
                    "this adapter has no op `{shown}`: correct the name, or add [adapters.{adapter}.ops.{}]",
                    write::key(name)
                );
                check.report(Code::UnknownOp, op.span, message);
            }
        }
    }
}

/// Ops that nothing calls by itself. Said in the lowest layer that has the op.
fn unused_ops(check: &mut Check<'_>) {
    let (context, shape) = (check.context, check.shape);
    let Some(ops) = field(&context.unit.item.node, "ops").and_then(Node::as_table) else {
        return;
    };
    if shape.unclear_callers {
        return;
    }
    // A misspelt caller means one of these ops; which one is said where it is misspelt.
    let called = || shape.delivered.iter().chain(shape.called.keys()).copied();
    let meant: BTreeSet<&str> = called()
        .filter(|name| !shape.ops.contains_key(name))
        .filter_map(|name| nearest(name, shape.ops.keys().copied()))
        .collect();
    for (name, item) in &ops.items {
        let written = !matches!(item.node.kind, NodeKind::Invalid);
        let named = shape.delivered.contains(&**name) || shape.called.contains_key(&**name);
        if !written || named || schema::op(name).is_some() || meant.contains(&**name) {
            continue;
        }
        if is_below(check, name) {
            continue;
        }
        let shown = name.escape_debug();
        let near = nearest(name, schema::OPS.iter().map(|op| op.name))
            .filter(|near| !shape.ops.contains_key(near));
        match near {
            Some(near) => {
                let message = format!("nothing calls the op `{shown}`; did you mean `{near}`?");
                let edits = item
                    .keys
                    .iter()
                    .map(|&span| (span, near.to_owned()))
                    .collect();
                check
                    .report(Code::UnusedOp, item.key(), message)
                    .fix(format!("Change to `{near}`"), edits);
            }
            None => {
                let message = format!(
                    "nothing calls the op `{shown}` by itself: name it in `on` or `tools`, or delete it"
                );
                check.report(Code::UnusedOp, item.key(), message);
            }
        }
    }
}

/// Fields that an op needs for this driver once the layers are merged.
fn required_of_ops(check: &mut Check<'_>, op: &'static TableSpec) {
    let (context, shape) = (check.context, check.shape);
    let Some(driver) = check.driver else { return };
    let own = &context.unit.item.node;
    let required = op
        .fields
        .iter()
        .filter(|field| field.required == Required::Merged && field.drivers.contains(driver));
    for required in required {
        let ops = field(own, "ops").and_then(Node::as_table);
        for (name, item) in ops.into_iter().flat_map(|ops| &ops.items) {
            let nodes = shape
                .ops
                .get(&**name)
                .map(Vec::as_slice)
                .unwrap_or_default();
            if nodes.iter().any(|node| may_give(op, node, required.name)) || is_below(check, name) {
                continue;
            }
            let message = format!(
                "with driver {driver} this op needs `{}`: add `{}`",
                required.name, required.example
            );
            check.report(Code::MissingField, item.key(), message);
        }
        for inline in inline_ops(own) {
            if !may_give(op, inline, required.name) {
                let message = format!(
                    "with driver {driver} an op needs `{}`: add `{}`",
                    required.name, required.example
                );
                let span = check.header_of(inline);
                check.report(Code::MissingField, span, message);
            }
        }
    }
}

/// Whether a layer below this one has the op too.
fn is_below(check: &Check<'_>, op: &str) -> bool {
    let below = check
        .context
        .peers
        .iter()
        .filter(|peer| Some(peer.layer) < check.context.layer);
    below
        .into_iter()
        .any(|peer| field(&peer.unit.item.node, "ops").is_some_and(|ops| ops.get(op).is_some()))
}

/// Whether a table gives a field, or holds what may become it: a key that is misspelt or still
/// being typed. Of a value that is no table nothing is known, so it may.
pub(super) fn may_give(spec: &TableSpec, node: &Node, name: &str) -> bool {
    let Some(table) = node.as_table() else {
        return true;
    };
    table.items.contains_key(name)
        || table.items.iter().any(|(key, item)| {
            spec.field(key).is_none()
                && (matches!(item.node.kind, NodeKind::Invalid)
                    || spec.suggest(key).is_some_and(|near| near.name == name))
        })
}

/// The ops that declared tools hold inline.
fn inline_ops(adapter: &Node) -> impl Iterator<Item = &Node> {
    elements(adapter, "tools")
        .iter()
        .filter_map(|tool| field(tool, "op"))
        .filter(|op| op.as_table().is_some())
}

fn elements<'a>(adapter: &'a Node, list: &str) -> &'a [Node] {
    field(adapter, list)
        .and_then(Node::as_array)
        .unwrap_or_default()
}

fn table_at(path: &[&str]) -> Option<&'static TableSpec> {
    schema::lookup(path)?.kind().table()
}
