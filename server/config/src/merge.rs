//! The merge of layers, with the origin of each value (adapters.md section 1).
//!
//! Tables merge key by key; scalars, arrays and arrays of tables are replaced whole. What a layer
//! cannot express (no value yet, a value of a type the field does not take) never stands in the
//! way of what a lower layer says.
//!
//! The merge is associative, and merging a layer with itself changes nothing but what is listed
//! as replaced. A table that has replaced another kind of value remembers it
//! ([`Merged::overlaid`]): without that, grouping the layers differently would give other results.

use indexmap::IndexMap;
use indexmap::map::Entry;
use kontext_syntax::toml::{Item, Node, NodeKind, Span};
use rustc_hash::FxBuildHasher;
use serde_json::{Map, Number, Value};

use crate::schema::{Found, Kind};

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Index of the layer, in the order of the stack.
    pub layer: usize,
    /// The key, in that layer's document.
    pub key: Span,
    /// The value, in that layer's document.
    pub value: Span,
}

/// A value as the layers give it together. It borrows from their documents.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged<'a> {
    /// Where the key is written first, lowest layer first; the value there may be replaced.
    pub key_origin: Origin,
    /// Where the value stands. For a table: in the highest layer that has a part of it.
    pub origin: Origin,
    /// The value.
    pub kind: MergedKind<'a>,
    /// The values of lower layers that it replaces, lowest first. Values that never counted are
    /// not among them.
    pub shadowed: Vec<Origin>,
    standing: Standing,
    /// The lower parts of a table, lowest first.
    parts: Vec<Origin>,
    /// A table that has replaced what lies below it.
    whole: bool,
}

/// The members of a table, in the order in which their keys first appear.
pub type Members<'a> = IndexMap<&'a str, Merged<'a>, FxBuildHasher>;

/// What a merged value is.
#[derive(Clone, Debug, PartialEq)]
pub enum MergedKind<'a> {
    /// A table, merged key by key.
    Table(Members<'a>),
    /// Anything else, and a table where the field takes none.
    Leaf(&'a Node),
}

/// How much a value counts; a value never gives way to one that counts less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    /// Not written yet, or with a fault of syntax.
    Missing,
    /// Of a type the field does not take.
    WrongType,
    /// As it should be, as far as its type goes.
    Valid,
}

/// The merge of one item over all layers that have it, lowest first. `kind` is what the table of
/// fields says about it; `None` for keys it does not know.
pub fn merge<'a>(
    layers: impl IntoIterator<Item = (usize, &'a Item)>,
    kind: Option<&'static Kind>,
) -> Option<Merged<'a>> {
    layers
        .into_iter()
        .map(|(layer, item)| Merged::of(layer, item, kind))
        .reduce(Merged::overlaid)
}

impl<'a> Merged<'a> {
    /// The item of one layer alone.
    pub fn of(layer: usize, item: &'a Item, kind: Option<&'static Kind>) -> Self {
        let origin = Origin {
            layer,
            key: item.key(),
            value: item.node.span,
        };
        Self::build(origin, &item.node, kind, |_| true)
    }

    /// The item of one layer, of its members only those with these names.
    pub(crate) fn of_members(
        layer: usize,
        item: &'a Item,
        kind: Option<&'static Kind>,
        names: &[&str],
    ) -> Self {
        let origin = Origin {
            layer,
            key: item.key(),
            value: item.node.span,
        };
        Self::build(origin, &item.node, kind, |name| names.contains(&name))
    }

    /// An element of an array, as if it were a value by itself; `origin` is that of the array.
    pub fn of_element(origin: Origin, node: &'a Node, kind: Option<&'static Kind>) -> Self {
        let origin = Origin {
            value: node.span,
            ..origin
        };
        Self::build(origin, node, kind, |_| true)
    }

    fn build(
        origin: Origin,
        node: &'a Node,
        kind: Option<&'static Kind>,
        wanted: impl Fn(&str) -> bool,
    ) -> Self {
        let standing = match &node.kind {
            NodeKind::Invalid => Standing::Missing,
            node if kind.is_none_or(|kind| accepts(kind, node)) => Standing::Valid,
            _ => Standing::WrongType,
        };
        let value = match &node.kind {
            NodeKind::Table(table) if standing == Standing::Valid => {
                let members =
                    table
                        .items
                        .iter()
                        .filter(|(name, _)| wanted(name))
                        .map(|(name, item)| {
                            let below = kind
                                .and_then(|kind| kind.child(name))
                                .map(|found: Found| found.kind());
                            (&**name, Self::of(origin.layer, item, below))
                        });
                MergedKind::Table(members.collect())
            }
            _ => MergedKind::Leaf(node),
        };
        Self {
            key_origin: origin,
            origin,
            kind: value,
            shadowed: Vec::new(),
            standing,
            parts: Vec::new(),
            whole: false,
        }
    }

    /// This value with the one of a later layer over it.
    #[must_use]
    pub fn overlaid(mut self, upper: Self) -> Self {
        self.overlay(upper);
        self
    }

    fn overlay(&mut self, mut upper: Self) {
        if upper.standing < self.standing {
            return;
        }
        if let (MergedKind::Table(below), MergedKind::Table(above)) =
            (&mut self.kind, &mut upper.kind)
            && !upper.whole
        {
            for (name, member) in above.drain(..) {
                match below.entry(name) {
                    Entry::Vacant(entry) => {
                        entry.insert(member);
                    }
                    Entry::Occupied(mut entry) => entry.get_mut().overlay(member),
                }
            }
            self.parts.push(self.origin);
            self.parts.append(&mut upper.parts);
            self.origin = upper.origin;
            return;
        }
        let replaces = self.standing == Standing::Valid;
        if replaces {
            self.shadowed.append(&mut self.parts);
            self.shadowed.push(self.origin);
        }
        self.shadowed.append(&mut upper.shadowed);
        upper.shadowed = std::mem::take(&mut self.shadowed);
        upper.key_origin = self.key_origin;
        upper.whole |= replaces && matches!(upper.kind, MergedKind::Table(_));
        *self = upper;
    }

    /// Whether its type is one that the field takes, and it is written at all.
    pub fn is_valid(&self) -> bool {
        self.standing == Standing::Valid
    }

    /// Whether nothing is written where the value should be, or only a part of one.
    pub fn is_missing(&self) -> bool {
        self.standing == Standing::Missing
    }

    /// Every place with a part of it that counts, lowest layer first: for a table one a layer,
    /// else the one of its value.
    pub fn places(&self) -> impl Iterator<Item = Origin> {
        self.parts.iter().copied().chain([self.origin])
    }

    /// The members, where it is a table.
    pub fn members(&self) -> Option<&Members<'a>> {
        match &self.kind {
            MergedKind::Table(members) => Some(members),
            MergedKind::Leaf(_) => None,
        }
    }

    /// The member of that name, where it is a table that has it.
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.members()?.get(name)
    }

    /// What stands at a path of keys below it.
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// The node, where it is no merged table.
    pub fn node(&self) -> Option<&'a Node> {
        match &self.kind {
            MergedKind::Table(_) => None,
            MergedKind::Leaf(node) => Some(node),
        }
    }

    /// The text, where it is a string that counts.
    pub fn as_str(&self) -> Option<&'a str> {
        self.node()
            .filter(|_| self.is_valid())
            .and_then(Node::as_str)
    }

    /// The boolean, where it is one that counts.
    pub fn as_bool(&self) -> Option<bool> {
        match self.node()?.kind {
            NodeKind::Boolean(value) if self.is_valid() => Some(value),
            _ => None,
        }
    }

    /// Calls `visit` with the path and the value of everything that is no table, and of empty
    /// tables, in order.
    pub fn leaves<'m>(&'m self, visit: &mut impl FnMut(&[&'a str], &'m Self)) {
        fn walk<'a, 'm>(
            value: &'m Merged<'a>,
            path: &mut Vec<&'a str>,
            visit: &mut impl FnMut(&[&'a str], &'m Merged<'a>),
        ) {
            match &value.kind {
                MergedKind::Table(members) if !members.is_empty() => {
                    for (name, member) in members {
                        path.push(name);
                        walk(member, path, visit);
                        path.pop();
                    }
                }
                _ => visit(path, value),
            }
        }
        walk(self, &mut Vec::new(), visit);
    }

    /// The value as JSON: dates as they are written, `inf` and `nan` as text. What does not count
    /// is left out; where that is the whole, the answer is `null`.
    pub fn to_json(&self) -> Value {
        match &self.kind {
            MergedKind::Table(members) => Value::Object(
                members
                    .iter()
                    .filter(|(_, member)| member.is_valid())
                    .map(|(name, member)| ((*name).to_owned(), member.to_json()))
                    .collect(),
            ),
            MergedKind::Leaf(node) if self.is_valid() => node_to_json(node),
            MergedKind::Leaf(_) => Value::Null,
        }
    }
}

impl Merged<'_> {
    /// The value as JSON whatever types its members have: for tables whose shape is decided by
    /// what is in them.
    pub(crate) fn raw_json(&self) -> Value {
        match &self.kind {
            MergedKind::Table(members) => members
                .iter()
                .filter(|(_, member)| !member.is_missing())
                .map(|(name, member)| ((*name).to_owned(), member.raw_json()))
                .collect::<Map<_, _>>()
                .into(),
            MergedKind::Leaf(node) => node_to_json(node),
        }
    }
}

/// A value of one document as JSON, by the rules of [`Merged::to_json`].
pub fn node_to_json(node: &Node) -> Value {
    match &node.kind {
        NodeKind::Table(table) => table
            .items
            .iter()
            .filter(|(_, item)| !matches!(item.node.kind, NodeKind::Invalid))
            .map(|(name, item)| (name.to_string(), node_to_json(&item.node)))
            .collect::<Map<_, _>>()
            .into(),
        NodeKind::Array(array) => array
            .nodes
            .iter()
            .filter(|node| !matches!(node.kind, NodeKind::Invalid))
            .map(node_to_json)
            .collect(),
        NodeKind::String(text) => Value::String(text.value.to_string()),
        NodeKind::Integer(number) => Value::from(*number),
        NodeKind::Float(number) => {
            Number::from_f64(*number).map_or_else(|| number.to_string().into(), Value::Number)
        }
        NodeKind::Boolean(value) => Value::Bool(*value),
        NodeKind::DateTime(text) => Value::String(text.to_string()),
        NodeKind::Invalid => Value::Null,
    }
}

/// Whether a value of this TOML type can stand where `kind` is asked for. Elements of arrays of
/// scalars are looked at; the members of tables, the elements of arrays of tables, and what a
/// string or number must be like are not.
pub fn accepts(kind: &Kind, node: &NodeKind) -> bool {
    match kind {
        Kind::Bool => matches!(node, NodeKind::Boolean(_)),
        Kind::False => matches!(node, NodeKind::Boolean(false)),
        Kind::Integer { .. } => matches!(node, NodeKind::Integer(_)),
        Kind::Number { .. } => matches!(node, NodeKind::Integer(_) | NodeKind::Float(_)),
        Kind::Str(_) | Kind::OneOf { .. } => matches!(node, NodeKind::String(_)),
        Kind::Array { item, .. } => match node {
            NodeKind::Array(array) => array.nodes.iter().all(|node| accepts(item, &node.kind)),
            _ => false,
        },
        Kind::ArrayOfTables(_) => matches!(node, NodeKind::Array(_)),
        Kind::Table(_) | Kind::Map(_) | Kind::JsonSchema => matches!(node, NodeKind::Table(_)),
        Kind::Scalar(_) => matches!(
            node,
            NodeKind::String(_) | NodeKind::Integer(_) | NodeKind::Float(_) | NodeKind::Boolean(_)
        ),
        Kind::Any(_) => !matches!(node, NodeKind::Invalid),
        Kind::Either(kinds) => kinds.iter().any(|kind| accepts(kind, node)),
    }
}
