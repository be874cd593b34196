//! The canonical form.

use std::collections::BTreeMap;
use std::sync::Arc;

use kontext_syntax::toml::{Document, Node, NodeKind, Unit};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use super::{ScriptFact, Scripts};
use crate::source::Source;

/// The tables that wait for trust.
const TABLES: [&str; 3] = ["adapters", "project", "vars"];

/// Begins a text that stands for what JSON has no type for. A string of the file that begins with
/// it gets one more, so that no string can pass for something else.
pub(super) const MARK: char = '\u{1}';

/// A piece of the form. It borrows from the layer and is written out piece by piece: of a long
/// layer the whole form is many times the text.
pub(super) enum Piece<'a> {
    Table(BTreeMap<&'a str, Piece<'a>>),
    List(Vec<Piece<'a>>),
    Node(&'a Document, &'a Node),
    Text(&'a str),
}

/// The form of a layer; `None` where nothing in it waits for trust.
pub(super) fn form<'a>(source: &'a Source, scripts: &'a Scripts) -> Option<Piece<'a>> {
    let mut out = BTreeMap::new();
    for table in TABLES {
        let units = units(source, table);
        if !units.is_empty() {
            out.insert(table, of_table(source, &units));
        }
    }
    if out.is_empty() {
        return None;
    }
    let faulty = faulty(source);
    if !faulty.is_empty() {
        let faulty = faulty.into_iter().map(Piece::Text);
        out.insert("faulty", Piece::List(faulty.collect()));
    }
    if !scripts.is_empty() {
        let fact = |fact: &'a ScriptFact| match fact {
            ScriptFact::Sha256(hash) => hash.as_str(),
            ScriptFact::Unreadable => "unreadable",
        };
        let scripts = scripts
            .iter()
            .map(|(path, known)| (path.as_str(), Piece::Text(fact(known))));
        out.insert("scripts", Piece::Table(scripts.collect()));
    }
    Some(Piece::Table(out))
}

/// A table that may be taken apart by name, in one piece.
fn of_table<'a>(source: &'a Source, units: &Named<'a>) -> Piece<'a> {
    let document = &source.document;
    let mut out: BTreeMap<&str, Piece<'_>> = units
        .iter()
        .filter_map(|(name, unit)| Some(((*name)?, Piece::Node(document, &unit.item.node))))
        .collect();
    let Some(whole) = units.get(&None).map(|unit| &unit.item.node) else {
        return Piece::Table(out);
    };
    match whole.as_table() {
        _ if out.is_empty() => Piece::Node(document, whole),
        Some(table) if table.items.keys().all(|name| !out.contains_key(&**name)) => {
            let members = table.items.iter();
            out.extend(members.map(|(name, item)| (&**name, Piece::Node(document, &item.node))));
            Piece::Table(out)
        }
        // A clash: which of the two counts is not this form's to say.
        _ => Piece::List(vec![Piece::Node(document, whole), Piece::Table(out)]),
    }
}

impl Serialize for Piece<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Table(members) => to.collect_map(members),
            Self::List(pieces) => to.collect_seq(pieces),
            Self::Text(text) => to.serialize_str(text),
            Self::Node(document, node) => serialize_node(document, node, to),
        }
    }
}

/// A value, whatever its type; what is not well-formed as it is written.
fn serialize_node<S: Serializer>(
    document: &Document,
    node: &Node,
    to: S,
) -> Result<S::Ok, S::Error> {
    match &node.kind {
        NodeKind::Table(table) => {
            let mut items: Vec<_> = table.items.iter().collect();
            items.sort_unstable_by_key(|(name, _)| *name);
            let mut map = to.serialize_map(Some(items.len()))?;
            for (name, item) in items {
                map.serialize_entry(&**name, &Piece::Node(document, &item.node))?;
            }
            map.end()
        }
        NodeKind::Array(array) => {
            let mut list = to.serialize_seq(Some(array.nodes.len()))?;
            for node in &array.nodes {
                list.serialize_element(&Piece::Node(document, node))?;
            }
            list.end()
        }
        NodeKind::String(text) if text.value.starts_with(MARK) => {
            to.collect_str(&format_args!("{MARK}{}", text.value))
        }
        NodeKind::String(text) => to.serialize_str(&text.value),
        NodeKind::Integer(number) => to.serialize_i64(*number),
        NodeKind::Float(number) if number.is_finite() => to.serialize_f64(*number),
        NodeKind::Float(number) => to.collect_str(&format_args!("{MARK}float {number}")),
        NodeKind::Boolean(value) => to.serialize_bool(*value),
        NodeKind::DateTime(text) => to.collect_str(&format_args!("{MARK}date {text}")),
        NodeKind::Invalid => {
            let written = document.slice(node.span);
            to.collect_str(&format_args!("{MARK}invalid {written}"))
        }
    }
}

/// Whether two nodes have one form.
fn same_node(a: (&Document, &Node), b: (&Document, &Node)) -> bool {
    match (&a.1.kind, &b.1.kind) {
        (NodeKind::Table(ours), NodeKind::Table(theirs)) => {
            ours.items.len() == theirs.items.len()
                && ours.items.iter().all(|(name, item)| {
                    let other = theirs.items.get(name);
                    other.is_some_and(|other| same_node((a.0, &item.node), (b.0, &other.node)))
                })
        }
        (NodeKind::Array(ours), NodeKind::Array(theirs)) => {
            ours.nodes.len() == theirs.nodes.len()
                && ours
                    .nodes
                    .iter()
                    .zip(&theirs.nodes)
                    .all(|(ours, theirs)| same_node((a.0, ours), (b.0, theirs)))
        }
        (NodeKind::String(ours), NodeKind::String(theirs)) => ours.value == theirs.value,
        (NodeKind::Integer(ours), NodeKind::Integer(theirs)) => ours == theirs,
        (NodeKind::Float(ours), NodeKind::Float(theirs)) => ours.to_bits() == theirs.to_bits(),
        (NodeKind::Boolean(ours), NodeKind::Boolean(theirs)) => ours == theirs,
        (NodeKind::DateTime(ours), NodeKind::DateTime(theirs)) => ours == theirs,
        (NodeKind::Invalid, NodeKind::Invalid) => a.0.slice(a.1.span) == b.0.slice(b.1.span),
        _ => false,
    }
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

/// The blocks with a fault, as they are written: what the parser made of them is its guess.
fn faulty(source: &Source) -> Vec<&str> {
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
        document.text().get(from..from + len)
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
                        && (Arc::ptr_eq(ours, theirs)
                            || same_node(
                                (&a.document, &ours.item.node),
                                (&b.document, &theirs.item.node),
                            ))
                })
    };
    TABLES.iter().all(|table| same_table(table)) && faulty(a) == faulty(b)
}
