use std::sync::Arc;

use indexmap::{Equivalent, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};
use smol_str::SmolStr;

use super::fault::Fault;
use super::table::{Item, Node, NodeKind, TableForm};
use super::tree::{Block, Key};
use super::{Document, Span};

/// What a unit is about: one top-level table, or one table below a top-level one that is split.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct UnitKey {
    /// The top-level key.
    pub top: SmolStr,
    /// The key below it, where the top-level table is split by names.
    pub name: Option<SmolStr>,
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
    units: Vec<Arc<Unit>>,
    /// The keys, each at the index of its unit.
    keys: Arc<IndexSet<UnitKey, FxBuildHasher>>,
    /// Which units each block belongs to; what the next version starts from.
    owners: Owners,
}

/// For every block of a document the units it writes about, in a form that an edit copies without
/// looking at the blocks themselves.
#[derive(Clone, Debug, Default)]
struct Owners {
    /// `None`: of nothing yet.
    document: Option<Document>,
    /// By block: where its parts begin in `parts`. One more than there are blocks.
    starts: Vec<u32>,
    parts: Vec<Owner>,
}

#[derive(Clone, Copy, Debug)]
struct Owner {
    /// Index of the unit.
    unit: u32,
    /// Index of the entry, or [`WHOLE`].
    entry: u32,
}

/// The whole block is the part.
const WHOLE: u32 = u32::MAX;
/// Not numbered yet.
const UNSET: u32 = u32::MAX;

impl Owners {
    fn blocks(&self) -> &[(u32, Arc<Block>)] {
        self.document.as_ref().map_or(&[], Document::blocks)
    }

    fn of_block(&self, block: usize) -> &[Owner] {
        let bounds = self.starts.get(block).zip(self.starts.get(block + 1));
        let parts = bounds.and_then(|(&from, &to)| self.parts.get(from as usize..to as usize));
        parts.unwrap_or_default()
    }
}

/// The key of a unit, borrowed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct KeyRef<'a> {
    // In the order of `UnitKey`, so that both hash alike.
    top: &'a str,
    name: Option<&'a str>,
}

impl Equivalent<UnitKey> for KeyRef<'_> {
    fn equivalent(&self, key: &UnitKey) -> bool {
        self.top == &*key.top && self.name == key.name.as_deref()
    }
}

/// Units under way: numbered in the order they first appear.
struct Numbering<'a> {
    before: &'a Units,
    /// By index in `before`: whether a block of it has changed.
    changed: Vec<bool>,
    /// By index in `before`: the new index.
    again: Vec<u32>,
    /// The new indices of keys that `before` does not have.
    fresh: FxHashMap<KeyRef<'a>, u32>,
    units: Vec<Pending<'a>>,
    starts: Vec<u32>,
    parts: Vec<Owner>,
}

/// A unit that is as it was, or has to be put together from its parts.
enum Pending<'a> {
    Kept(u32),
    Changed {
        key: KeyRef<'a>,
        old: Option<u32>,
        parts: Vec<Part>,
    },
}

impl<'a> Numbering<'a> {
    fn old(&self, key: KeyRef<'_>) -> Option<u32> {
        self.before
            .keys
            .get_index_of(&key)
            .and_then(|at| u32::try_from(at).ok())
    }

    fn number(&self) -> u32 {
        u32::try_from(self.units.len()).unwrap_or(UNSET)
    }

    /// A block that is the same as in the version before.
    fn same_block(&mut self, old_block: usize, block: &Arc<Block>) {
        self.starts
            .push(u32::try_from(self.parts.len()).unwrap_or(u32::MAX));
        let before = self.before;
        for owner in before.owners.of_block(old_block) {
            self.old_part(owner.unit, owner.entry, block);
        }
    }

    /// A block that is new.
    fn new_block(&mut self, split: &[&str], block: &'a Arc<Block>) {
        self.starts
            .push(u32::try_from(self.parts.len()).unwrap_or(u32::MAX));
        each_part(split, block, |key, entry| match self.old(key) {
            Some(old) => self.old_part(old, entry, block),
            None => {
                let number = self.number();
                let number = *self.fresh.entry(key).or_insert(number);
                if number == self.number() {
                    self.units.push(Pending::Changed {
                        key,
                        old: None,
                        parts: Vec::new(),
                    });
                }
                self.part(number, entry, block);
            }
        });
    }

    fn old_part(&mut self, old: u32, entry: u32, block: &Arc<Block>) {
        let number = match self.again.get(old as usize) {
            Some(&UNSET) | None => {
                let number = self.number();
                if let Some(again) = self.again.get_mut(old as usize) {
                    *again = number;
                }
                let changed = self.changed.get(old as usize).copied().unwrap_or(true);
                let key = self
                    .before
                    .units
                    .get(old as usize)
                    .map(|unit| unit.key.borrowed());
                self.units.push(match key {
                    Some(key) if changed => Pending::Changed {
                        key,
                        old: Some(old),
                        parts: Vec::new(),
                    },
                    _ => Pending::Kept(old),
                });
                number
            }
            Some(&number) => number,
        };
        self.part(number, entry, block);
    }

    fn part(&mut self, unit: u32, entry: u32, block: &Arc<Block>) {
        self.parts.push(Owner { unit, entry });
        if let Some(Pending::Changed { parts, .. }) = self.units.get_mut(unit as usize) {
            let entry = (entry != WHOLE).then_some(entry as usize);
            parts.push(Part {
                block: Arc::clone(block),
                entry,
            });
        }
    }
}

impl UnitKey {
    fn borrowed(&self) -> KeyRef<'_> {
        KeyRef {
            top: &self.top,
            name: self.name.as_deref(),
        }
    }
}

/// Calls `visit` with what a block writes about, and the index of the entry or [`WHOLE`].
fn each_part<'a>(split: &[&str], block: &'a Block, mut visit: impl FnMut(KeyRef<'a>, u32)) {
    let header: &[Key] = block.header.as_ref().map_or(&[], |header| &header.keys);
    let entries = || (0u32..).zip(&block.entries);
    match header {
        [top, ..] if is_split(split, top) && header.len() == 1 => {
            // The line of the header itself belongs to the table as a whole.
            visit(
                KeyRef {
                    top: &top.text,
                    name: None,
                },
                WHOLE,
            );
            for (i, entry) in entries() {
                if let Some(name) = entry.keys.first() {
                    visit(
                        KeyRef {
                            top: &top.text,
                            name: Some(&name.text),
                        },
                        i,
                    );
                }
            }
        }
        [top, rest @ ..] => {
            let name = rest
                .first()
                .filter(|_| is_split(split, top))
                .map(|key| &*key.text);
            visit(
                KeyRef {
                    top: &top.text,
                    name,
                },
                WHOLE,
            );
        }
        [] => {
            for (i, entry) in entries() {
                let Some(top) = entry.keys.first() else {
                    continue;
                };
                let name = entry.keys.get(1).filter(|_| is_split(split, top));
                visit(
                    KeyRef {
                        top: &top.text,
                        name: name.map(|key| &*key.text),
                    },
                    i,
                );
            }
        }
    }
}

impl Units {
    /// The units of `document`. Top-level tables named in `split` are taken apart by name. Units
    /// of `before` (of the same `split`) are kept where their text is unchanged.
    ///
    /// Blocks before and behind a change are not looked at, only counted: that is what makes this
    /// cheap for one edit in a long document.
    pub fn of(document: &Document, split: &[&str], before: Option<&Self>) -> Self {
        let nothing = Self::default();
        let before = before.unwrap_or(&nothing);
        let (old, new) = (before.owners.blocks(), document.blocks());
        type Placed = (u32, Arc<Block>);
        let same = |(a, b): &(&Placed, &Placed)| Arc::ptr_eq(&a.1, &b.1);
        let head = old.iter().zip(new).take_while(same).count();
        let most = old.len().min(new.len()) - head;
        let tail = old
            .iter()
            .rev()
            .zip(new.iter().rev())
            .take(most)
            .take_while(same)
            .count();

        let mut numbering = Numbering {
            before,
            changed: vec![false; before.units.len()],
            again: vec![UNSET; before.units.len()],
            fresh: FxHashMap::default(),
            units: Vec::with_capacity(before.units.len()),
            starts: Vec::with_capacity(new.len() + 1),
            parts: Vec::with_capacity(before.owners.parts.len()),
        };
        let mut change = |unit: u32| {
            if let Some(changed) = numbering.changed.get_mut(unit as usize) {
                *changed = true;
            }
        };
        for gone in head..old.len() - tail {
            before
                .owners
                .of_block(gone)
                .iter()
                .for_each(|owner| change(owner.unit));
        }
        let come = new.get(head..new.len() - tail).unwrap_or_default();
        for (_, block) in come {
            each_part(split, block, |key, _| {
                let old = before
                    .keys
                    .get_index_of(&key)
                    .and_then(|at| u32::try_from(at).ok());
                old.into_iter().for_each(&mut change);
            });
        }
        for (at, (_, block)) in new.iter().enumerate() {
            if at < head {
                numbering.same_block(at, block);
            } else if at < new.len() - tail {
                numbering.new_block(split, block);
            } else {
                numbering.same_block(at + old.len() - new.len(), block);
            }
        }
        numbering.finish(document, split)
    }

    /// All units, in document order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Unit>> {
        self.units.iter()
    }

    /// The unit of that key.
    pub fn get(&self, key: &UnitKey) -> Option<&Arc<Unit>> {
        self.find(key.borrowed())
    }

    /// The unit of a top-level table that is not split, or of the table as a whole.
    pub fn top(&self, top: &str) -> Option<&Arc<Unit>> {
        self.find(KeyRef { top, name: None })
    }

    /// The unit of a name below a top-level table that is split.
    pub fn named(&self, top: &str, name: &str) -> Option<&Arc<Unit>> {
        self.find(KeyRef {
            top,
            name: Some(name),
        })
    }

    /// The units below a top-level table that is split, in document order.
    pub fn names<'a>(&'a self, top: &'a str) -> impl Iterator<Item = (&'a str, &'a Arc<Unit>)> {
        self.units
            .iter()
            .filter_map(move |unit| match &unit.key.name {
                Some(name) if &*unit.key.top == top => Some((&**name, unit)),
                _ => None,
            })
    }

    fn find(&self, key: KeyRef<'_>) -> Option<&Arc<Unit>> {
        self.keys
            .get_index_of(&key)
            .and_then(|at| self.units.get(at))
    }
}

impl Numbering<'_> {
    fn finish(mut self, document: &Document, split: &[&str]) -> Units {
        self.starts
            .push(u32::try_from(self.parts.len()).unwrap_or(u32::MAX));
        let before = self.before;
        let as_before = |(number, again): (u32, &u32)| number == *again;
        let same_keys =
            self.units.len() == before.units.len() && (0..).zip(&self.again).all(as_before);
        let kept = |old: u32| before.units.get(old as usize);
        let mut units = Vec::with_capacity(self.units.len());
        for pending in self.units {
            units.push(match pending {
                Pending::Kept(old) => match kept(old) {
                    Some(unit) => Arc::clone(unit),
                    None => continue,
                },
                Pending::Changed { key, old, parts } => {
                    match old.and_then(kept).filter(|unit| unit.parts == parts) {
                        Some(unit) => Arc::clone(unit),
                        None => {
                            let is_split = split.contains(&key.top);
                            let key = UnitKey {
                                top: key.top.into(),
                                name: key.name.map(Into::into),
                            };
                            Arc::new(Unit::build(key, is_split, parts))
                        }
                    }
                }
            });
        }
        let keys = if same_keys {
            Arc::clone(&before.keys)
        } else {
            Arc::new(units.iter().map(|unit| unit.key.clone()).collect())
        };
        let owners = Owners {
            document: Some(document.clone()),
            starts: self.starts,
            parts: self.parts,
        };
        Units {
            units,
            keys,
            owners,
        }
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
        let mut item = item.unwrap_or_else(|| {
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
        item.keys.shrink_to_fit();
        item.node.shrink();
        Self {
            key,
            item,
            faults,
            parts,
        }
    }
}
