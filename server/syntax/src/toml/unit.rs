use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::fault::Fault;
use super::table::{Item, Node, NodeKind, TableForm};
use super::tree::{Block, Key};
use super::{Document, Span};

/// What a unit is about: one top-level table, or one table below a top-level one that is split.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct UnitKey {
    /// The top-level key.
    pub top: Box<str>,
    /// The key below it, where the top-level table is split by names.
    pub name: Option<Box<str>>,
}

/// One independent part of a document: everything written about one [`UnitKey`], wherever in the
/// document it stands.
#[derive(Debug)]
pub struct Unit {
    /// What it is about.
    pub key: UnitKey,
    /// Where its name is written, and its value.
    pub item: Item,
    /// Keys and tables that clash within it.
    pub faults: Vec<Fault>,
    parts: Vec<Part>,
}

/// Where a part of a unit is written. Two parts are the same part where the block is the same.
#[derive(Clone, Debug)]
struct Part {
    block: Arc<Block>,
    /// An entry whose own key names the unit; else the whole block, whose header does.
    entry: Option<usize>,
}

impl PartialEq for Part {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.block, &other.block) && self.entry == other.entry
    }
}

/// The units of a document, in the order they first appear.
///
/// A unit whose blocks did not change is the same `Arc` as in the version before, so what was
/// computed from it can be kept.
#[derive(Clone, Debug, Default)]
pub struct Units {
    units: IndexMap<UnitKey, Arc<Unit>, FxBuildHasher>,
}

impl Units {
    /// The units of `document`. Top-level tables named in `split` are taken apart by name. Units
    /// of `before` are kept where their text is unchanged.
    pub fn of(document: &Document, split: &[&str], before: Option<&Self>) -> Self {
        let mut parts: IndexMap<(&str, Option<&str>), Vec<Part>, FxBuildHasher> =
            IndexMap::default();
        for (_, block) in document.blocks() {
            let header: &[Key] = block.header.as_ref().map_or(&[], |header| &header.keys);
            match header {
                [top, ..] if is_split(split, top) && header.len() == 1 => {
                    // The line of the header itself belongs to the table as a whole.
                    parts.entry((&top.text, None)).or_default().push(Part {
                        block: Arc::clone(block),
                        entry: None,
                    });
                    for (i, entry) in block.entries.iter().enumerate() {
                        if let Some(name) = entry.keys.first() {
                            let part = Part {
                                block: Arc::clone(block),
                                entry: Some(i),
                            };
                            parts
                                .entry((&top.text, Some(&name.text)))
                                .or_default()
                                .push(part);
                        }
                    }
                }
                [top, rest @ ..] => {
                    let name = if is_split(split, top) {
                        rest.first().map(|key| &*key.text)
                    } else {
                        None
                    };
                    let part = Part {
                        block: Arc::clone(block),
                        entry: None,
                    };
                    parts.entry((&top.text, name)).or_default().push(part);
                }
                [] => {
                    for (i, entry) in block.entries.iter().enumerate() {
                        let Some(top) = entry.keys.first() else {
                            continue;
                        };
                        let name = if is_split(split, top) {
                            entry.keys.get(1).map(|key| &*key.text)
                        } else {
                            None
                        };
                        let part = Part {
                            block: Arc::clone(block),
                            entry: Some(i),
                        };
                        parts.entry((&top.text, name)).or_default().push(part);
                    }
                }
            }
        }
        let mut units = IndexMap::with_capacity_and_hasher(parts.len(), FxBuildHasher);
        for ((top, name), parts) in parts {
            let key = UnitKey {
                top: top.into(),
                name: name.map(Into::into),
            };
            let kept = before
                .and_then(|before| before.units.get(&key))
                .filter(|unit| unit.parts == parts);
            let unit = kept
                .cloned()
                .unwrap_or_else(|| Arc::new(Unit::build(key.clone(), split.contains(&top), parts)));
            units.insert(key, unit);
        }
        Self { units }
    }

    /// All units, in document order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Unit>> {
        self.units.values()
    }

    /// The unit of a top-level table that is not split, or of the table as a whole.
    pub fn top(&self, top: &str) -> Option<&Arc<Unit>> {
        self.units.get(&UnitKey {
            top: top.into(),
            name: None,
        })
    }

    /// The unit of a name below a top-level table that is split.
    pub fn named(&self, top: &str, name: &str) -> Option<&Arc<Unit>> {
        self.units.get(&UnitKey {
            top: top.into(),
            name: Some(name.into()),
        })
    }

    /// The units below a top-level table that is split, in document order.
    pub fn names<'a>(&'a self, top: &'a str) -> impl Iterator<Item = (&'a str, &'a Arc<Unit>)> {
        self.units
            .iter()
            .filter_map(move |(key, unit)| match &key.name {
                Some(name) if &*key.top == top => Some((&**name, unit)),
                _ => None,
            })
    }
}

fn is_split(split: &[&str], top: &Key) -> bool {
    split.contains(&&*top.text)
}

impl Unit {
    fn build(key: UnitKey, split: bool, parts: Vec<Part>) -> Self {
        let depth = if key.name.is_some() { 2 } else { 1 };
        // A table that holds everything, so that the unit's own name follows the rules as well.
        let mut root = Node::table(Span::default(), TableForm::Implicit);
        let mut faults = Vec::new();
        for part in &parts {
            let header = part.block.header.as_ref();
            let above: &[Key] = header.map_or(&[], |header| &header.keys);
            match part.entry {
                None => {
                    let Some(header) = header else { continue };
                    let below = above.get(depth - 1..).unwrap_or_default();
                    let Some((table, loud)) =
                        root.open(below, header.array, header.span, &mut faults)
                    else {
                        continue;
                    };
                    // `[adapters]` opens the table as a whole; its entries are units of their own.
                    if split && key.name.is_none() {
                        continue;
                    }
                    for entry in &part.block.entries {
                        table.insert(&entry.keys, entry, &mut faults, loud);
                    }
                }
                Some(i) => {
                    let Some(entry) = part.block.entries.get(i) else {
                        continue;
                    };
                    let below = entry
                        .keys
                        .get((depth - 1).saturating_sub(above.len())..)
                        .unwrap_or_default();
                    root.insert(below, entry, &mut faults, true);
                }
            }
        }
        let name = key.name.as_ref().unwrap_or(&key.top);
        let item = match &mut root.kind {
            NodeKind::Table(table) => table.items.swap_remove(&**name),
            _ => None,
        };
        let item = item.unwrap_or_else(|| {
            let at = parts
                .first()
                .map_or(Span::default(), |part| Span::new(part.block.id, 0, 0));
            Item {
                keys: vec![at],
                node: Node {
                    span: at,
                    kind: NodeKind::Invalid,
                },
            }
        });
        Self {
            key,
            item,
            faults,
            parts,
        }
    }
}
