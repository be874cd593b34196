//! `when`: the conditions under which an adapter is active (adapters.md section 3).

use super::template;
use crate::schema::kind::{FieldSpec, Kind, Place, Shape, StringKind, TableSpec, Text};

/// A string, or an array of strings of which all must hold.
macro_rules! one_or_all {
    ($item:expr) => {
        Kind::Either(&[
            $item,
            Kind::Array {
                item: &$item,
                non_empty: true,
            },
        ])
    };
}

/// `[adapters.<name>.when]`.
pub static WHEN: TableSpec = TableSpec {
    name: "when",
    doc: Text::en(
        "Conditions under which the adapter is active. All that are given must hold; an adapter that is not active is listed with every condition that fails, and never called.",
    ),
    section: "adapters.md section 3",
    fields: &[
        FieldSpec {
            name: "command",
            doc: Text::en(
                "Holds where an executable of this name is on `PATH` (on Windows with the endings of `PATHEXT`). A value with a separator is a path relative to the repository root. With an array, all must be there.",
            ),
            kind: one_or_all!(Kind::Str(StringKind::Program)),
            example: "command = \"codegraph\"",
            also: &["program", "executable", "bin", "binary"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "file",
            doc: Text::en(
                "Holds where this file or folder exists, relative to the repository root. With an array, all must exist.",
            ),
            kind: one_or_all!(Kind::Str(StringKind::FilePath)),
            example: "file = \".codegraph\"",
            also: &["files", "path", "folder", "directory"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "repo",
            doc: Text::en(
                "A regular expression that must be found anywhere in the repository id, such as `github.com/acme/shop`. Anchor it with `^` and `$` where the whole id is meant.",
            ),
            kind: Kind::Str(StringKind::Regex),
            example: "repo = '^github\\.com/acme/(shop|billing)$'",
            also: &["repository", "remote"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "env",
            doc: Text::en(
                "Holds where this environment variable is set and not empty. Its value is never shown. With an array, all must be set.",
            ),
            kind: one_or_all!(Kind::Str(StringKind::EnvName)),
            example: "env = \"NOTES_TOKEN\"",
            also: &["environment", "variable"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "exists",
            doc: Text::en(
                "A template for a path that must exist, relative to the repository root; `~/` is the home folder. `*` and `?` match within the last segment only. With an array, all must exist.",
            ),
            kind: one_or_all!(template(Place::When, Shape::Path)),
            example: "exists = \"~/.config/notes/{{repo.slug}}*.json\"",
            also: &["glob"],
            ..FieldSpec::BASE
        },
    ],
    open: None,
};
