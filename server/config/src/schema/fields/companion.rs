//! `[companion]`: settings of this program itself (companion.md sections 2 to 4).

use super::{plain, value};
use crate::schema::kind::{FieldSpec, KeyKind, Kind, OpenKeys, StringKind, TableSpec, Text};

static SEVERITY: OpenKeys = OpenKeys {
    key: KeyKind::Code,
    placeholder: "code",
    kind: Kind::OneOf {
        values: &[
            value("error", "Shown as an error; `check` exits with 1."),
            value("warning", "Shown as a warning."),
            value("information", "Shown as information."),
            value("hint", "Shown as a hint."),
            value("off", "Not shown at all."),
        ],
        ignore_case: false,
    },
    doc: Text::en("The level of one diagnostic, by its code."),
    known: &[],
};

static EXTRA_ARGS: OpenKeys = OpenKeys {
    key: KeyKind::ToolArgument,
    placeholder: "argument",
    kind: Kind::Any(StringKind::Plain),
    doc: Text::en("An argument of every call and its value, sent as it is."),
    known: &[],
};

/// `[companion]`.
pub static COMPANION: TableSpec = TableSpec {
    name: "companion",
    doc: Text::en(
        "Settings of kontext-ls. Read from personal layers only: a shared file can neither open a gate nor change how diagnostics are shown.",
    ),
    section: "companion.md section 3",
    fields: &[
        FieldSpec {
            name: "allow_write",
            doc: Text::en(
                "Lists and accepts the tools that change something: starting servers, handing in events, storing. While it is false they are not listed, and a call is refused with the words that open the gate.",
            ),
            kind: Kind::Bool,
            default: Some("false"),
            example: "allow_write = true",
            also: &["write"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "allow_external_call",
            doc: Text::en(
                "Lists and accepts the tools that reach an adapter: search, read, history, code, brief, re-published and declared tools.",
            ),
            kind: Kind::Bool,
            default: Some("false"),
            example: "allow_external_call = true",
            also: &["external", "allow_external", "allow_external_calls"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "locale",
            doc: Text::en(
                "Language of field documentation and diagnostics, as a tag such as `en` or `sk`. Without it, the editor's; a language that does not exist falls back to English.\n\nNot used yet: this version speaks English only.",
            ),
            kind: Kind::Str(StringKind::Locale),
            example: "locale = \"en\"",
            also: &["language", "lang"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "live",
            doc: Text::en(
                "Asks trusted, active servers for their tools while a file is edited, for completion and checks. Nothing but the list of tools is asked for.\n\nNot used yet: this version asks no server while a file is edited.",
            ),
            kind: Kind::Bool,
            default: Some("true"),
            example: "live = false",
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "severity",
            doc: Text::en("Levels of diagnostics that differ from the default, by code."),
            kind: Kind::Map(&SEVERITY),
            example: "severity = { unused-op = \"off\", unknown-key = \"warning\" }",
            also: &["severities", "levels", "rules", "diagnostics"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "notices",
            doc: Text::en(
                "Pointers to documents that look relevant to what is written.\n\nNot delivered yet: this version checks the table and gives no notices.",
            ),
            kind: Kind::Table(&NOTICES),
            example: "notices = { adapters = [\"notes\"], max_hits = 2 }",
            also: &["notice", "notifications"],
            ..FieldSpec::BASE
        },
    ],
    open: None,
};

/// `[companion.notices]`.
pub static NOTICES: TableSpec = TableSpec {
    name: "companion.notices",
    doc: Text::en(
        "Pointers to documents that look relevant to what is written: title and one line, never the body. They come from the `search` op of adapters, or from one retrieval tool.\n\nNot delivered yet: this version checks the table and gives no notices.",
    ),
    section: "companion.md section 4",
    fields: &[
        FieldSpec {
            name: "adapters",
            doc: Text::en("The adapters whose `search` op is asked."),
            kind: Kind::Array {
                item: &Kind::Str(StringKind::AdapterName),
                non_empty: false,
            },
            default: Some("[]"),
            example: "adapters = [\"notes\"]",
            also: &["adapter", "sources"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "server",
            doc: Text::en(
                "Instead of `adapters`: the mcp adapter whose server has the retrieval tool.",
            ),
            kind: Kind::Str(StringKind::AdapterName),
            example: "server = \"docs\"",
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "tool",
            doc: Text::en("The retrieval tool of `server`."),
            kind: Kind::Str(StringKind::ServerTool),
            example: "tool = \"find_documents\"",
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "query_arg",
            doc: Text::en("The argument of `tool` that receives the text."),
            kind: plain(),
            default: Some("\"query\""),
            example: "query_arg = \"q\"",
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "extra_args",
            doc: Text::en(
                "Further arguments of every call of `tool`. They win over the text's own argument.",
            ),
            kind: Kind::Map(&EXTRA_ARGS),
            default: Some("{}"),
            example: "extra_args = { top_k = 8 }",
            also: &["args"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "editor",
            doc: Text::en(
                "Also looks for the paragraph around the cursor of the document being edited, and shows what it finds above it.",
            ),
            kind: Kind::Bool,
            default: Some("false"),
            example: "editor = true",
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "min_score",
            doc: Text::en("The least score of a notice. A hit without a score passes only at 0."),
            kind: Kind::Number { min: 0.0 },
            default: Some("0"),
            example: "min_score = 0.4",
            also: &["threshold"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "max_hits",
            doc: Text::en("How many notices one text may bring at most."),
            kind: Kind::Integer { min: 0 },
            default: Some("3"),
            example: "max_hits = 2",
            also: &["limit", "top_k"],
            ..FieldSpec::BASE
        },
    ],
    open: None,
};
