//! The table of fields: the one description of the configuration format that drives validation,
//! completion, hover, the JSON Schema, `kontext_explain` and the reference pages.
//!
//! A new field is one entry in [`mod@fields`]; a new template name is one entry in [`mod@context`].

pub mod context;
pub mod fields;
pub mod json_schema;
pub mod kind;
mod near;
pub mod reference;

pub use context::{
    Answer, EVENT_INPUTS, InputSpec, Members, OPS, OTHER_OP_INPUTS, OUTPUT_FILE, OpSpec, ROOTS,
    RootSpec, inputs_of, op, root_of_template,
};
pub use fields::{ENTRY_KINDS, PARAM_TYPES};
pub use json_schema::json_schema;
pub use kind::{
    Driver, Drivers, EnumValue, FieldSpec, KeyKind, Kind, KnownKey, OpenKeys, Place, Required,
    Shape, StringKind, TableSpec, Text,
};
pub use near::nearest;

/// The whole file.
pub fn root() -> &'static TableSpec {
    &fields::root::ROOT
}

/// What a key path stands for.
#[derive(Clone, Copy, Debug)]
pub enum Found {
    /// A described field.
    Field(&'static FieldSpec),
    /// A key the person chose; `known` where it has a meaning of its own.
    Open {
        /// The keys it is one of.
        open: &'static OpenKeys,
        /// The well-known key, where it is one.
        known: Option<&'static KnownKey>,
    },
    /// Something inside a value of any shape; strings in it are of that kind.
    Free(&'static Kind),
}

impl Found {
    /// What the value at the path may be.
    pub fn kind(&self) -> &'static Kind {
        match self {
            Self::Field(field) => &field.kind,
            Self::Open { open, .. } => &open.kind,
            Self::Free(kind) => kind,
        }
    }

    /// The described field, where the path names one.
    pub fn field(&self) -> Option<&'static FieldSpec> {
        match self {
            Self::Field(field) => Some(field),
            _ => None,
        }
    }

    /// The documentation of the key the path ends in.
    pub fn doc(&self) -> Option<Text> {
        match self {
            Self::Field(field) => Some(field.doc),
            Self::Open { open, known } => Some(known.map_or(open.doc, |known| known.doc)),
            Self::Free(_) => None,
        }
    }
}

/// What the keys of `path`, from the top of the file, stand for. Arrays have no segment of their
/// own: `["adapters", "x", "on", "event"]` is the `event` of any element. `None` for an empty path
/// and for a path with an unknown key.
pub fn lookup(path: &[&str]) -> Option<Found> {
    let (first, rest) = path.split_first()?;
    let mut found = root().child(first)?;
    for key in rest {
        found = found.kind().child(key)?;
    }
    Some(found)
}

impl TableSpec {
    /// What a key of the table stands for.
    pub fn child(&self, key: &str) -> Option<Found> {
        self.field(key).map(Found::Field).or_else(|| {
            self.open.map(|open| Found::Open {
                open,
                known: open.known(key),
            })
        })
    }
}

impl Kind {
    /// What a key below a value of this kind stands for; elements of arrays are stepped through.
    pub fn child(&'static self, key: &str) -> Option<Found> {
        match self {
            Self::Table(table) | Self::ArrayOfTables(table) => table.child(key),
            Self::Map(open) => Some(Found::Open {
                open,
                known: open.known(key),
            }),
            Self::Array { item, .. } => item.child(key),
            Self::Any(_) | Self::JsonSchema => Some(Found::Free(self)),
            Self::Either(kinds) => kinds.iter().find_map(|kind| kind.child(key)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_find_fields_open_keys_and_free_values() {
        let doc = |path: &[&str]| lookup(path).and_then(|found| found.doc());
        assert!(
            matches!(lookup(&["adapters", "x", "driver"]), Some(Found::Field(f)) if f.name == "driver")
        );
        assert!(
            matches!(lookup(&["adapters", "x", "on", "event"]), Some(Found::Field(f)) if f.name == "event")
        );
        assert!(matches!(
            lookup(&["adapters", "x", "ops", "search"]),
            Some(Found::Open { known: Some(known), .. }) if known.name == "search"
        ));
        assert!(matches!(
            lookup(&["adapters", "x", "ops", "remember"]),
            Some(Found::Open { known: None, .. })
        ));
        assert!(matches!(
            lookup(&["adapters", "x", "ops", "search", "body", "a", "b"]),
            Some(Found::Free(Kind::Any(StringKind::Template { .. })))
        ));
        assert!(
            matches!(lookup(&["adapters", "x", "tools", "op", "path"]), Some(Found::Field(f)) if f.name == "path")
        );
        assert!(lookup(&["adapters", "x", "dirver"]).is_none());
        assert!(lookup(&[]).is_none());
        assert!(doc(&["companion", "severity", "unknown-key"]).is_some());
    }
}
