//! The canonical form.

use std::collections::BTreeMap;
use std::sync::Arc;

use kontext_syntax::toml::{Document, Node, NodeKind, Unit};
use serde_json::{Map, Number, Value};

use super::{ScriptFact, Scripts};
use crate::source::Source;

/// The tables that wait for trust.
const TABLES: [&str; 3] = ["adapters", "project", "vars"];

/// Begins a text that stands for what JSON has no type for. A string of the file that begins with
/// it gets one more, so that no string can pass for something else.
pub(super) const MARK: char = '\u{1}';

/// The form of a layer; `None` where nothing in it waits for trust.
pub(super) fn form(source: &Source, scripts: &Scripts) -> Option<Value> {
    let mut out = Map::new();
    for table in TABLES {
        let units = units(source, table);
        if !units.is_empty() {
            out.insert(table.to_owned(), of_table(source, &units));
        }
    }
    if out.is_empty() {
        return None;
    }
    let faulty = faulty(source);
    if !faulty.is_empty() {
        out.insert("faulty".to_owned(), faulty.into());
    }
    if !scripts.is_empty() {
        let fact = |fact: &ScriptFact| match fact {
            ScriptFact::Sha256(hash) => hash.clone(),
            ScriptFact::Unreadable => "unreadable".to_owned(),
        };
        let scripts = scripts
            .iter()
            .map(|(path, known)| (path.clone(), Value::String(fact(known))));
        out.insert("scripts".to_owned(), scripts.collect::<Map<_, _>>().into());
    }
    Some(Value::Object(out))
}

/// A table that may be taken apart by name, in one piece.
fn of_table(source: &Source, units: &Named<'_>) -> Value {
    let mut out: BTreeMap<String, Value> = units
        .iter()
        .filter_map(|(name, unit)| Some(((*name)?.to_owned(), of_unit(source, unit))))
        .collect();
    match units.get(&None).map(|unit| of_unit(source, unit)) {
        None => sorted(out),
        Some(whole) if out.is_empty() => whole,
        Some(Value::Object(members)) if members.keys().all(|name| !out.contains_key(name)) => {
            out.extend(members);
            sorted(out)
        }
        // A clash: which of the two counts is not this form's to say.
        Some(whole) => Value::Array(vec![whole, sorted(out)]),
    }
}

fn sorted(members: BTreeMap<String, Value>) -> Value {
    members.into_iter().collect::<Map<_, _>>().into()
}

type Named<'a> = BTreeMap<Option<&'a str>, &'a Arc<Unit>>;

fn units<'a>(source: &'a Source, table: &str) -> Named<'a> {
    let mut units = Named::new();
    for unit in source.units.iter().filter(|unit| &*unit.key.top == table) {
        let says_nothing = match &unit.item.node.kind {
            NodeKind::Table(table) => unit.key.name.is_none() && table.items.is_empty(),
            _ => false,
        };
        if !says_nothing {
            units.insert(unit.key.name.as_deref(), unit);
        }
    }
    units
}

fn of_unit(source: &Source, unit: &Unit) -> Value {
    value(&source.document, &unit.item.node)
}

/// A value, whatever its type; what is not well-formed as it is written.
fn value(document: &Document, node: &Node) -> Value {
    match &node.kind {
        NodeKind::Table(table) => sorted(
            table
                .items
                .iter()
                .map(|(name, item)| (name.to_string(), value(document, &item.node)))
                .collect(),
        ),
        NodeKind::Array(array) => array
            .nodes
            .iter()
            .map(|node| value(document, node))
            .collect(),
        NodeKind::String(text) if text.value.starts_with(MARK) => {
            Value::String(format!("{MARK}{}", text.value))
        }
        NodeKind::String(text) => Value::String(text.value.to_string()),
        NodeKind::Integer(number) => Value::from(*number),
        NodeKind::Float(number) => Number::from_f64(*number).map_or_else(
            || Value::String(format!("{MARK}float {number}")),
            Value::Number,
        ),
        NodeKind::Boolean(value) => Value::Bool(*value),
        NodeKind::DateTime(text) => Value::String(format!("{MARK}date {text}")),
        NodeKind::Invalid => Value::String(format!("{MARK}invalid {}", document.slice(node.span))),
    }
}

/// The blocks with a fault, as they are written: what the parser made of them is its guess.
fn faulty(source: &Source) -> Vec<String> {
    let document = &source.document;
    let of_units = source
        .units
        .iter()
        .flat_map(|unit| unit.faults.iter().map(|fault| fault.span));
    let mut spans = of_units
        .chain(document.faults().map(|fault| fault.span))
        .peekable();
    if spans.peek().is_none() {
        return Vec::new();
    }
    let mut starts: Vec<u32> = spans
        .map(|span| document.block_at(document.resolve(span).start).0)
        .collect();
    starts.sort_unstable();
    starts.dedup();
    let text = |start: u32| {
        let (start, block) = document.block_at(start);
        let (from, len) = (start as usize, block.len as usize);
        document.text().get(from..from + len).map(str::to_owned)
    };
    starts.into_iter().filter_map(text).collect()
}

/// Whether two texts of a layer say the same of what waits for trust; the scripts aside. Units that
/// the two share are not looked at, so it costs what differs.
pub fn same_meaning(a: &Source, b: &Source) -> bool {
    if Arc::ptr_eq(a.document.text(), b.document.text()) {
        return true;
    }
    let same_table = |table: &str| {
        let (here, there) = (units(a, table), units(b, table));
        here.len() == there.len()
            && here
                .iter()
                .zip(&there)
                .all(|((name, ours), (other, theirs))| {
                    name == other
                        && (Arc::ptr_eq(ours, theirs) || of_unit(a, ours) == of_unit(b, theirs))
                })
    };
    TABLES.iter().all(|table| same_table(table)) && faulty(a) == faulty(b)
}
