//! The entries of the table of fields, one file a table.

pub mod adapter;
pub mod companion;
pub mod events;
pub mod op;
pub mod root;
pub mod tools;
pub mod when;

use super::kind::{EnumValue, Kind, Place, Shape, StringKind, Text};

/// The types of a declared tool's parameters, without the `!` of required ones.
pub static PARAM_TYPES: &[EnumValue] = &[
    value("string", "Text."),
    value("integer", "A whole number."),
    value("number", "A number."),
    value("boolean", "`true` or `false`."),
    value("array", "A list."),
    value("object", "A JSON object."),
];

/// Kinds of entries that are offered for `kinds`; others are allowed.
pub static ENTRY_KINDS: &[EnumValue] = &[
    value("decision", "A decision and its reasons."),
    value(
        "incident",
        "Something that went wrong, and what was learnt.",
    ),
];

const fn value(value: &'static str, doc: &'static str) -> EnumValue {
    EnumValue {
        value,
        doc: Text::en(doc),
        also: &[],
    }
}

const fn template(place: Place, shape: Shape) -> Kind {
    Kind::Str(StringKind::Template { place, shape })
}

const fn plain() -> Kind {
    Kind::Str(StringKind::Plain)
}
