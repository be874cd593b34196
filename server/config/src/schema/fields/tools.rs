//! `tools`: MCP tools declared in the configuration (adapters.md section 8).

use super::{op::OP, plain};
use crate::schema::kind::{
    FieldSpec, KeyKind, Kind, OpenKeys, Required, StringKind, TableSpec, Text,
};

static PARAMS: OpenKeys = OpenKeys {
    key: KeyKind::ToolParameter,
    placeholder: "parameter",
    kind: Kind::Str(StringKind::ParamType),
    doc: Text::en(
        "A parameter and its type: `string`, `integer`, `number`, `boolean`, `array` or `object`, with `!` behind it where the parameter is required.",
    ),
    known: &[],
};

/// `[[adapters.<name>.tools]]`.
pub static TOOL: TableSpec = TableSpec {
    name: "tools",
    doc: Text::en("A new MCP tool, made from one of the adapter's calls. Its result is text."),
    section: "adapters.md section 8",
    fields: &[
        FieldSpec {
            name: "name",
            doc: Text::en(
                "The name agents see. Letters, digits, `_` and `-`, at most 64 characters, unlike that of any other tool.",
            ),
            kind: Kind::Str(StringKind::ToolName),
            required: Required::Here,
            example: "name = \"notes_recent\"",
            also: &["id", "tool"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "description",
            doc: Text::en(
                "What the tool does and when it is worth calling: an agent chooses by it.",
            ),
            kind: plain(),
            example: "description = \"The ten newest notes of the team\"",
            also: &["summary", "help", "doc"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "params",
            doc: Text::en(
                "The parameters: a table of name and type (`{ tag = \"string\", limit = \"integer!\" }`, `!` = required), or a whole JSON Schema of an object. Arguments are checked against it before anything is called; the op finds them as `{{args.NAME}}` and `{{NAME}}`.",
            ),
            kind: Kind::Either(&[Kind::Map(&PARAMS), Kind::JsonSchema]),
            default: Some("{}"),
            example: "params = { tag = \"string!\", limit = \"integer\" }",
            also: &[
                "parameters",
                "inputSchema",
                "input_schema",
                "arguments",
                "args",
            ],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "op",
            doc: Text::en(
                "The call behind the tool: the name of an op of this adapter, or an op written inline.",
            ),
            kind: Kind::Either(&[Kind::Str(StringKind::OpName), Kind::Table(&OP)]),
            required: Required::Here,
            example: "op = { path = \"/recent\", query = { tag = \"{{tag}}\" }, text = \"items\" }",
            also: &["operation", "call", "run"],
            ..FieldSpec::BASE
        },
    ],
    open: None,
};
