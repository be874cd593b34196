//! Logical tables: what headers, dotted keys and inline tables add up to, by the rules of TOML.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use smol_str::SmolStr;

use super::Span;
use super::fault::{Fault, FaultKind};
use super::tree::{Entry, Key, Text, Value, ValueKind};

/// A table: its items in the order they first appear.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The items by name.
    pub items: IndexMap<SmolStr, Item, FxBuildHasher>,
    /// How it came about.
    pub form: TableForm,
}

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableForm {
    /// Only as a part of longer headers.
    Implicit,
    /// By a header of its own.
    Header,
    /// By dotted keys.
    Dotted,
    /// As an inline table.
    Inline,
}

/// A key of a table with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Every place the key is written, in document order. Never empty.
    pub keys: Vec<Span>,
    /// Its value.
    pub node: Node,
}

impl Item {
    /// The first place the key is written.
    pub fn key(&self) -> Span {
        self.keys.first().copied().unwrap_or(self.node.span)
    }
}

/// A value with the place it is written at.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// A value as written; for a table of headers its first header, for dotted keys the key.
    pub span: Span,
    /// What it is.
    pub kind: NodeKind,
}

/// An array.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Its elements.
    pub nodes: Vec<Node>,
    /// Whether it is written with `[[ ]]` headers.
    pub of_tables: bool,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// A table of any form.
    Table(Table),
    /// An array of any form.
    Array(Array),
    /// A string.
    String(Text),
    /// An integer.
    Integer(i64),
    /// A float.
    Float(f64),
    /// A boolean.
    Boolean(bool),
    /// A date or time, as written.
    DateTime(SmolStr),
    /// A value that is not written yet, or has a fault of its own.
    Invalid,
}

impl NodeKind {
    /// The word for it in messages, with its article.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Table(_) => "a table",
            Self::Array(_) => "an array",
            Self::String(_) => "a string",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Boolean(_) => "a boolean",
            Self::DateTime(_) => "a date",
            Self::Invalid => "no value",
        }
    }
}

impl Node {
    /// The table, where it is one.
    pub fn as_table(&self) -> Option<&Table> {
        if let NodeKind::Table(table) = &self.kind {
            Some(table)
        } else {
            None
        }
    }

    /// The elements, where it is an array.
    pub fn as_array(&self) -> Option<&[Node]> {
        if let NodeKind::Array(array) = &self.kind {
            Some(&array.nodes)
        } else {
            None
        }
    }

    /// The decoded text, where it is a string.
    pub fn as_str(&self) -> Option<&str> {
        if let NodeKind::String(text) = &self.kind {
            Some(&text.value)
        } else {
            None
        }
    }

    /// The item of that name, where it is a table that has it.
    pub fn get(&self, name: &str) -> Option<&Item> {
        self.as_table()?.items.get(name)
    }

    /// Gives back what growing has reserved: a unit is never added to once it is built.
    pub(super) fn shrink(&mut self) {
        match &mut self.kind {
            NodeKind::Table(table) => {
                table.items.shrink_to_fit();
                for item in table.items.values_mut() {
                    item.keys.shrink_to_fit();
                    item.node.shrink();
                }
            }
            NodeKind::Array(array) => {
                array.nodes.shrink_to_fit();
                array.nodes.iter_mut().for_each(Self::shrink);
            }
            _ => {}
        }
    }

    pub(super) fn table(span: Span, form: TableForm) -> Self {
        let items = IndexMap::with_hasher(FxBuildHasher);
        Self {
            span,
            kind: NodeKind::Table(Table { items, form }),
        }
    }

    fn from_value(value: &Value, faults: &mut Vec<Fault>) -> Self {
        let kind = match &value.kind {
            ValueKind::String(text) => NodeKind::String(text.clone()),
            ValueKind::Integer(number) => NodeKind::Integer(*number),
            ValueKind::Float(number) => NodeKind::Float(*number),
            ValueKind::Boolean(value) => NodeKind::Boolean(*value),
            ValueKind::DateTime(text) => NodeKind::DateTime(text.clone()),
            ValueKind::Invalid => NodeKind::Invalid,
            ValueKind::Array(values) => {
                let nodes = values
                    .iter()
                    .map(|value| Self::from_value(value, faults))
                    .collect();
                NodeKind::Array(Array {
                    nodes,
                    of_tables: false,
                })
            }
            ValueKind::Table(entries) => {
                let mut node = Self::table(value.span, TableForm::Inline);
                for entry in entries {
                    node.insert(&entry.keys, entry, faults, true);
                }
                return node;
            }
        };
        Self {
            span: value.span,
            kind,
        }
    }

    /// Puts an entry into this table; `keys` are the parts of its key that lie below it. Not
    /// `loud`: clashes are not reported (the header above it was a second definition already).
    pub(super) fn insert(
        &mut self,
        keys: &[Key],
        entry: &Entry,
        faults: &mut Vec<Fault>,
        loud: bool,
    ) {
        let NodeKind::Table(table) = &mut self.kind else {
            return;
        };
        let Some((key, rest)) = keys.split_first() else {
            return;
        };
        if key.text.is_empty() && !key.quoted {
            return; // a missing part: the grammar has said so
        }
        let Some(item) = table.items.get_mut(&key.text) else {
            let mut node = match (&entry.value, rest) {
                (Some(value), []) => Self::from_value(value, faults),
                (None, []) => Self {
                    span: key.span,
                    kind: NodeKind::Invalid,
                },
                _ => Self::table(key.span, TableForm::Dotted),
            };
            if !rest.is_empty() {
                node.insert(rest, entry, faults, loud);
            }
            table.items.insert(
                key.text.clone(),
                Item {
                    keys: vec![key.span],
                    node,
                },
            );
            return;
        };
        if rest.is_empty() {
            // A key that is still being typed is no second definition.
            if loud && entry.equals.is_some() {
                faults.push(duplicate(key, item.key()));
            }
            return;
        }
        item.keys.push(key.span);
        match &item.node.kind {
            NodeKind::Table(below) if below.form == TableForm::Dotted => {
                item.node.insert(rest, entry, faults, loud);
            }
            NodeKind::Invalid => {}
            _ => {
                if loud {
                    let message = format!(
                        "`{}` is already written elsewhere; dotted keys cannot add to it, put this key there",
                        key.text
                    );
                    faults.push(conflict(key.span, message, item.key()));
                }
            }
        }
    }

    /// The table that a header stands for, made where it is not there yet. `keys` are the parts
    /// of the name that lie below this table. `None` where the name clashes with a value.
    pub(super) fn open(
        &mut self,
        keys: &[Key],
        array: bool,
        header: Span,
        faults: &mut Vec<Fault>,
    ) -> Option<(&mut Self, bool)> {
        let Some((key, rest)) = keys.split_first() else {
            let (node, loud) = self.reopen(array, header, faults);
            return Some((node.last_mut(), loud));
        };
        if key.text.is_empty() && !key.quoted {
            return None;
        }
        let target = match &mut self.kind {
            NodeKind::Table(table) => table,
            NodeKind::Invalid => return None,
            _ => {
                let message = format!(
                    "`{}` cannot be a table below a value that is none",
                    key.text
                );
                faults.push(conflict(key.span, message, self.span));
                return None;
            }
        };
        let fresh = !target.items.contains_key(&key.text);
        let item = target.items.entry(key.text.clone()).or_insert_with(|| {
            let node = match (rest, array) {
                ([], true) => Self {
                    span: header,
                    kind: NodeKind::Array(Array {
                        nodes: Vec::new(),
                        of_tables: true,
                    }),
                },
                ([], false) => Self::table(header, TableForm::Header),
                _ => Self::table(header, TableForm::Implicit),
            };
            Item {
                keys: Vec::new(),
                node,
            }
        });
        item.keys.push(key.span);
        if rest.is_empty() && fresh && !array {
            return Some((&mut item.node, true));
        }
        if !rest.is_empty() {
            let inline = matches!(&item.node.kind, NodeKind::Table(table) if table.form == TableForm::Inline);
            let closed = matches!(&item.node.kind, NodeKind::Array(list) if !list.of_tables);
            if inline || closed {
                let message = format!(
                    "`{}` is complete where it is written; a header cannot add to it",
                    key.text
                );
                faults.push(conflict(key.span, message, item.node.span));
                return None;
            }
            return item.node.last_mut().open(rest, array, header, faults);
        }
        let (node, loud) = item.node.reopen(array, header, faults);
        Some((node.last_mut(), loud))
    }

    /// This node once more, by a header of its own. False where that is a second definition.
    fn reopen(&mut self, array: bool, header: Span, faults: &mut Vec<Fault>) -> (&mut Self, bool) {
        let earlier = self.span;
        let ok = match &mut self.kind {
            NodeKind::Array(list) if list.of_tables && array => {
                list.nodes.push(Self::table(header, TableForm::Header));
                true
            }
            NodeKind::Table(table) if !array && table.form == TableForm::Implicit => {
                table.form = TableForm::Header;
                true
            }
            NodeKind::Invalid => false,
            _ => {
                let message = match (&self.kind, array) {
                    (NodeKind::Table(_), false) => "this table is already defined; join the two",
                    (NodeKind::Table(_), true) => {
                        "this is already a table; it cannot be an array of tables too"
                    }
                    (NodeKind::Array(list), false) if list.of_tables => {
                        "this is an array of tables: write [[…]]"
                    }
                    _ => "this name already has a value; it cannot be a table too",
                };
                faults.push(conflict(header, message.to_owned(), earlier));
                false
            }
        };
        if ok && !array {
            self.span = header;
        }
        (self, ok)
    }

    /// The table that entries below a header go into: the last one of an array of tables.
    fn last_mut(&mut self) -> &mut Self {
        let filled =
            matches!(&self.kind, NodeKind::Array(list) if list.of_tables && !list.nodes.is_empty());
        if !filled {
            return self;
        }
        match &mut self.kind {
            NodeKind::Array(list) => match list.nodes.last_mut() {
                Some(last) => last,
                None => unreachable!("the list was seen to be filled"),
            },
            _ => unreachable!("it was seen to be an array"),
        }
    }
}

fn duplicate(key: &Key, first: Span) -> Fault {
    Fault {
        kind: FaultKind::DuplicateKey,
        span: key.span,
        message: format!(
            "`{}` is already set in this table; remove one of the two",
            key.text
        ),
        related: Some((first, "first set here")),
    }
}

fn conflict(span: Span, message: String, first: Span) -> Fault {
    Fault {
        kind: FaultKind::TableConflict,
        span,
        message,
        related: Some((first, "first written here")),
    }
}
