//! `on`: subscriptions to events (adapters.md section 9).

use super::value;
use crate::schema::kind::{FieldSpec, Kind, Required, StringKind, TableSpec, Text};

/// `[[adapters.<name>.on]]`.
pub static ON: TableSpec = TableSpec {
    name: "on",
    doc: Text::en(
        "A subscription: an event is delivered to an op of this adapter, in order and at least once. Events wait in an outbox while the adapter is not active, at most 7 days.\n\nNot delivered yet: this version checks subscriptions and delivers no event.",
    ),
    section: "adapters.md section 9",
    fields: &[
        FieldSpec {
            name: "event",
            doc: Text::en("The event that is delivered."),
            kind: Kind::OneOf {
                values: &[
                    value("capture", "An entry was written down."),
                    value(
                        "promote",
                        "An entry was taken over from private to shared knowledge.",
                    ),
                    value(
                        "sync",
                        "The stored entries are brought in line with the adapter.",
                    ),
                ],
                ignore_case: false,
            },
            required: Required::Here,
            example: "event = \"sync\"",
            also: &["events", "type", "when"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "op",
            doc: Text::en(
                "The op of this adapter that receives the event; its templates see the event's payload.",
            ),
            kind: Kind::Str(StringKind::OpName),
            required: Required::Here,
            example: "op = \"store\"",
            also: &["operation", "call", "run"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "visibility",
            doc: Text::en(
                "Delivers only entries of this visibility. A private entry goes only to a subscription that says `\"private\"`; without the field, private entries are not delivered.",
            ),
            kind: Kind::OneOf {
                values: &[
                    value("team", "Entries that the team shares."),
                    value(
                        "private",
                        "Entries of one person. They leave the machine only with this value.",
                    ),
                ],
                ignore_case: false,
            },
            example: "visibility = \"team\"",
            also: &["scope"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "kinds",
            doc: Text::en(
                "Delivers only entries of these kinds. Without it, entries of every kind.",
            ),
            kind: Kind::Array {
                item: &Kind::Str(StringKind::EntryKind),
                non_empty: false,
            },
            example: "kinds = [\"decision\", \"incident\"]",
            also: &["types"],
            ..FieldSpec::BASE
        },
    ],
    open: None,
};
