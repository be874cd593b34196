//! Variables that need each other.

use std::collections::BTreeMap;

use kontext_config::codes::Code;
use kontext_config::eval::{self, Vars};
use kontext_config::layer::LayerKind;
use kontext_syntax::toml::{Item, Node, Table};

use super::super::check::Check;
use super::super::context::field;
use super::expr::shown;

/// Checks all variables of the unit; called for each of them, it acts for the first.
pub(super) fn check<'a>(check: &mut Check<'a>, name: &'a str) {
    let context = check.context;
    let is_global = context.unit.key.name.is_none();
    let table_of = |node: &'a Node| -> Option<&'a Table> {
        if is_global {
            node.as_table()
        } else {
            field(node, "vars").and_then(Node::as_table)
        }
    };
    let Some(own) = table_of(&context.unit.item.node) else {
        return;
    };
    if own.items.keys().next().map(|first| &**first) != Some(name) {
        return;
    }
    // What is in force, with the own item where this file's definition wins.
    let mut all: BTreeMap<&'a str, (LayerKind, &'a Item, bool)> = BTreeMap::new();
    let mut order: Vec<&'a str> = Vec::new();
    let layer = context.layer.unwrap_or(LayerKind::User);
    let peers = context
        .peers
        .iter()
        .filter_map(|peer| Some((peer.layer, table_of(&peer.unit.item.node)?, false)));
    for (layer, table, is_own) in std::iter::once((layer, own, true)).chain(peers) {
        for (name, item) in &table.items {
            if item.node.as_str().is_none() {
                continue;
            }
            let known = all.get(&**name).map(|(layer, _, _)| *layer);
            if known.is_none() {
                order.push(name);
            }
            if known.is_none_or(|known| known < layer) {
                all.insert(name, (layer, item, is_own));
            }
        }
    }
    let text = |name: &&'a str| {
        let (_, item, _) = all.get(name)?;
        Some(((*name).to_owned(), item.node.as_str()?.to_owned()))
    };
    let vars: Vars = order.iter().filter_map(text).collect();
    let outer: Vars = context
        .vars
        .iter()
        .map(|name| (name.clone(), String::new()))
        .collect();
    for cycle in eval::cycles(&vars, (!is_global).then_some(&outer)) {
        // Where a cycle leads through several files, each shows it at its own first variable.
        let own = |name: &String| {
            let (_, item, is_own) = all.get(name.as_str())?;
            is_own.then_some(*item)
        };
        let Some(at) = cycle.iter().position(|name| own(name).is_some()) else {
            continue;
        };
        let (before, after) = cycle.split_at(at);
        let turned: Vec<&String> = after.iter().chain(before).collect();
        let Some((first, item)) = turned.first().and_then(|name| Some((*name, own(name)?))) else {
            continue;
        };
        let message = if turned.len() == 1 {
            format!(
                "the variable `{}` contains itself, so it has no value; write its value without it",
                shown(first)
            )
        } else {
            let names: Vec<String> = turned
                .iter()
                .chain(turned.first())
                .take(12)
                .map(|name| format!("`{}`", shown(name)))
                .collect();
            format!(
                "these variables need each other, so they have no value: {}; write one of them without the others",
                names.join(" → ")
            )
        };
        let others: Vec<_> = turned
            .iter()
            .skip(1)
            .take(8)
            .filter_map(|name| Some((own(name)?.key(), shown(name))))
            .collect();
        let finding = check.report(Code::VarsCycle, item.key(), message);
        for (span, name) in others {
            finding.related(span, format!("`{name}` is part of the circle"));
        }
    }
}
