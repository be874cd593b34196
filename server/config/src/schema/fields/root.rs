//! The top of a file (adapters.md section 1).

use super::{adapter::ADAPTER, companion::COMPANION, plain, template};
use crate::schema::kind::{
    FieldSpec, KeyKind, Kind, OpenKeys, Place, Shape, StringKind, TableSpec, Text,
};

static ADAPTERS: OpenKeys = OpenKeys {
    key: KeyKind::AdapterName,
    placeholder: "name",
    kind: Kind::Table(&ADAPTER),
    doc: Text::en(
        "An adapter under a name of your choice. A name with a dot or a blank needs quotes: `[adapters.\"team.wiki\"]`.",
    ),
    known: &[],
};

static VARS: OpenKeys = OpenKeys {
    key: KeyKind::VarName,
    placeholder: "name",
    kind: template(Place::GlobalVars, Shape::Text),
    doc: Text::en(
        "A variable for templates of every adapter: `{{vars.NAME}}`. Its value is a template itself.",
    ),
    known: &[],
};

static FREE: OpenKeys = OpenKeys {
    key: KeyKind::Free,
    placeholder: "key",
    kind: Kind::Any(StringKind::Plain),
    doc: Text::en(
        "A setting of kontext itself. It is accepted here and has no effect on adapters.",
    ),
    known: &[],
};

static PROJECT: TableSpec = TableSpec {
    name: "project",
    doc: Text::en("The project the repository belongs to."),
    section: "adapters.md section 1",
    fields: &[FieldSpec {
        name: "name",
        doc: Text::en(
            "The project's name, `{{project.name}}` in templates. In the shared layer it takes effect once that layer is trusted.",
        ),
        kind: plain(),
        example: "name = \"Shop\"",
        ..FieldSpec::BASE
    }],
    open: Some(&FREE),
};

static STORE: TableSpec = TableSpec {
    name: "store",
    doc: Text::en("Where the repository keeps its knowledge."),
    section: "adapters.md section 1",
    fields: &[FieldSpec {
        name: "dir",
        doc: Text::en(
            "The folder of the store, relative to the repository root. `<dir>/kontext.toml` is one of the places of the shared layer.",
        ),
        kind: plain(),
        default: Some("\".ai\""),
        example: "dir = \".ai\"",
        ..FieldSpec::BASE
    }],
    open: Some(&FREE),
};

/// A table that is only carried along.
const fn foreign(name: &'static str, doc: &'static str, example: &'static str) -> FieldSpec {
    FieldSpec {
        name,
        doc: Text::en(doc),
        kind: Kind::Map(&FREE),
        example,
        ..FieldSpec::BASE
    }
}

/// The whole file.
pub static ROOT: TableSpec = TableSpec {
    name: "file",
    doc: Text::en(
        "A layer of the configuration: TOML 1.1, UTF-8. Later layers win; tables merge key by key, other values and arrays are replaced whole.",
    ),
    section: "adapters.md section 1",
    fields: &[
        FieldSpec {
            name: "adapters",
            doc: Text::en("The adapters: systems whose knowledge is searched, read or written to."),
            kind: Kind::Map(&ADAPTERS),
            example: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]",
            also: &["mcpServers", "mcp_servers", "servers", "context_servers"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "vars",
            doc: Text::en(
                "Variables for the templates of every adapter. In the shared layer they take effect once that layer is trusted.",
            ),
            kind: Kind::Map(&VARS),
            example: "[vars]\nteam = \"core\"",
            also: &["variables"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "project",
            doc: Text::en("The project the repository belongs to; its `name` is read here."),
            kind: Kind::Table(&PROJECT),
            example: "[project]\nname = \"Shop\"",
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "store",
            doc: Text::en("Where the repository keeps its knowledge; its `dir` is read here."),
            kind: Kind::Table(&STORE),
            example: "[store]\ndir = \".ai\"",
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "companion",
            doc: Text::en("Settings of kontext-ls; read from personal layers only."),
            kind: Kind::Table(&COMPANION),
            example: "[companion]\nallow_external_call = true",
            ..FieldSpec::BASE
        },
        foreign(
            "sources",
            "Sources of kontext's own index. Accepted, not read here.",
            "[sources]",
        ),
        foreign(
            "index",
            "Settings of kontext's own index. Accepted, not read here.",
            "[index]",
        ),
        foreign(
            "brief",
            "Settings of kontext's briefs. Accepted, not read here.",
            "[brief]",
        ),
        foreign(
            "capture",
            "Settings of kontext's captures. Accepted, not read here.",
            "[capture]",
        ),
        foreign(
            "hooks",
            "Hooks of kontext. Accepted, not read and not run here.",
            "[hooks]",
        ),
        foreign(
            "secrets",
            "How kontext looks for secrets. Accepted, not read here.",
            "[secrets]",
        ),
        foreign(
            "init",
            "Settings of kontext's set-up. Accepted, not read here.",
            "[init]",
        ),
        foreign(
            "freshness",
            "When kontext calls an entry stale. Accepted, not read here.",
            "[freshness]",
        ),
    ],
    open: None,
};
