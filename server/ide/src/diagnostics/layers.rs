//! What only shows between layers: conflicts, trust, gates.

use kontext_config::codes::Code;
use kontext_config::layer::LayerKind;
use kontext_syntax::toml::{Item, Node, NodeKind, Span};

use super::Subject;
use super::check::Check;
use super::context::Peer;
use crate::finding::Finding;

/// Fields that say what is run or called. A layer that gives one of them changes where the others
/// lead, so they conflict with each other.
const TARGETS: &[&str] = &["command", "url", "base_url"];

/// Tables of which each member is a value of its own.
const TABLES: &[&str] = &["headers", "env"];

/// What a shared layer changes of an adapter that a personal layer has.
pub(super) fn of_adapter(check: &mut Check<'_>) {
    let context = check.context;
    if context.layer != Some(LayerKind::Shared) {
        return;
    }
    let own = &context.unit.item.node;
    // The highest personal layer first: its value is the one that is replaced, or stays.
    let personal = || {
        context
            .peers
            .iter()
            .rev()
            .filter(|peer| peer.layer.is_personal())
    };
    for name in TARGETS {
        let Some(item) = written(own, name) else {
            continue;
        };
        let same = personal().find_map(|peer| Some((peer, written(&peer.unit.item.node, name)?)));
        let other = || {
            personal().find_map(|peer| {
                let node = &peer.unit.item.node;
                Some((peer, TARGETS.iter().find_map(|name| written(node, name))?))
            })
        };
        if let Some((peer, theirs)) = same.or_else(other) {
            conflict(check, &format!("`{name}`"), item.key(), peer, theirs);
        }
    }
    for name in TABLES {
        let members = written(own, name).and_then(|item| item.node.as_table());
        for (member, item) in members.into_iter().flat_map(|table| &table.items) {
            let is_same = |other: &str| match *name {
                "headers" => other.eq_ignore_ascii_case(member),
                _ => other == &**member,
            };
            let theirs = personal().find_map(|peer| {
                let table = written(&peer.unit.item.node, name)?.node.as_table()?;
                let (_, item) = table.items.iter().find(|(other, _)| is_same(other))?;
                Some((peer, item))
            });
            if let Some((peer, theirs)) = theirs {
                let what = format!("`{}` of `{name}`", member.escape_debug());
                conflict(check, &what, item.key(), peer, theirs);
            }
        }
    }
}

fn written<'a>(adapter: &'a Node, name: &str) -> Option<&'a Item> {
    adapter
        .get(name)
        .filter(|item| !matches!(item.node.kind, NodeKind::Invalid))
}

fn conflict(check: &mut Check<'_>, what: &str, span: Span, peer: &Peer<'_>, theirs: &Item) {
    let adapter = check
        .context
        .unit
        .key
        .name
        .as_deref()
        .unwrap_or_default()
        .escape_debug();
    let message = format!(
        "this changes {what} of your own adapter `{adapter}` (layer {}) once it is trusted: give one of the two another name, or review it",
        peer.layer
    );
    let message_there = "your own value";
    check
        .report(Code::LayerConflict, span, message)
        .related_in(peer, theirs.key(), message_there);
}

/// What is to say about the file as a layer.
pub(super) fn of_file(subject: &Subject<'_>) -> Vec<Finding> {
    let Some((LayerKind::Shared, stack)) = subject.layer else {
        return Vec::new();
    };
    let units = &subject.source.units;
    let mut findings = Vec::new();
    if let Some(unit) = units.top("companion") {
        findings.push(plain(
            Code::GateInShared,
            unit.item.key(),
            "`[companion]` has no effect in a file of the repository: move it to a layer of your own",
        ));
    }
    if !stack.trust.is_trusted() {
        let waits = units
            .names("adapters")
            .map(|(_, unit)| unit)
            .chain(
                ["vars", "project"]
                    .into_iter()
                    .filter_map(|top| units.top(top)),
            )
            .chain(units.top("adapters").filter(|unit| {
                unit.item
                    .node
                    .as_table()
                    .is_some_and(|table| !table.items.is_empty())
            }))
            .find(|unit| !matches!(unit.item.node.kind, NodeKind::Invalid));
        if let Some(unit) = waits {
            findings.push(plain(
                Code::UntrustedLayer,
                unit.item.key(),
                "what this file defines waits for trust: run `kontext-ls trust` in a shell, which shows what it would run and call, and asks",
            ));
        }
    }
    findings
}

fn plain(code: Code, span: Span, message: &str) -> Finding {
    Finding {
        code,
        span,
        message: message.to_owned(),
        related: Vec::new(),
        fix: None,
    }
}
