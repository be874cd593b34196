//! `[adapters.<name>.ops.<op>]` (adapters.md sections 2 and 5).

use super::{template, value};
use crate::schema::kind::{
    Drivers, EnumValue, FieldSpec, KeyKind, Kind, KnownKey, OpenKeys, Place, Required, Shape,
    StringKind, TableSpec, Text,
};

static ARGS: OpenKeys = OpenKeys {
    key: KeyKind::ToolArgument,
    placeholder: "argument",
    kind: Kind::Any(StringKind::Template {
        place: Place::Op,
        shape: Shape::Json,
    }),
    doc: Text::en(
        "An argument of the tool. Strings in it are templates; one that is exactly one expression keeps the JSON type of its value, and what renders to null is left out.",
    ),
    known: &[KnownKey {
        name: "*",
        doc: Text::en(
            "`\"*\" = true` fills the required parameters that are not named here by the rules of binding.",
        ),
    }],
};

static QUERY: OpenKeys = OpenKeys {
    key: KeyKind::QueryParameter,
    placeholder: "parameter",
    kind: Kind::Scalar(StringKind::Template {
        place: Place::Op,
        shape: Shape::QueryValue,
    }),
    doc: Text::en(
        "A parameter of the URL's query and its value, a template. It is URL-encoded for you; an empty one is left out.",
    ),
    known: &[],
};

static HEADERS: OpenKeys = OpenKeys {
    key: KeyKind::HeaderName,
    placeholder: "header",
    kind: template(Place::Op, Shape::Header),
    doc: Text::en("A request header of this op and its value, a template."),
    known: &[],
};

static ENV: OpenKeys = OpenKeys {
    key: KeyKind::EnvName,
    placeholder: "variable",
    kind: Kind::Either(&[template(Place::Op, Shape::EnvValue), Kind::False]),
    doc: Text::en(
        "An environment variable of the program and its value, a template. `\"\"` sets it empty, `false` removes it.",
    ),
    known: &[],
};

static WHERE: OpenKeys = OpenKeys {
    key: KeyKind::ResultPath,
    placeholder: "path",
    kind: Kind::Scalar(StringKind::Plain),
    doc: Text::en(
        "A path into the item, and the value it must have. Both are compared as text: `\"1\"` equals 1.",
    ),
    known: &[],
};

static FORMATS: &[EnumValue] = &[
    value(
        "auto",
        "JSON where the output parses, log lines before and after it skipped; else text.",
    ),
    value(
        "json",
        "JSON. Output that does not parse is an error that shows its first line.",
    ),
    value(
        "jsonl",
        "One JSON value a line. Lines that do not parse are skipped and counted in the log.",
    ),
    value("lines", "Every line that is not blank is an item."),
    value("text", "Text as it is."),
];

/// `map`.
pub static MAP: TableSpec = TableSpec {
    name: "map",
    doc: Text::en(
        "Where each field of a hit is found in an item. A value is a path, alternatives `a|b`, `re:<regex>` on the item's text, `tpl:<template>` or `=<literal>`; a field that is not mapped falls back to common names.",
    ),
    section: "adapters.md section 5",
    fields: &[
        hit_field(
            "title",
            "The title. Without it `title`, `name`, `subject`, `heading`, `uri`, `path` or `id`; else the first 80 characters of the snippet.",
            "title = \"name\"",
        ),
        hit_field(
            "snippet",
            "The text below the title, cut to one line of 400 characters. Without it `snippet`, `abstract`, `summary`, `content`, `text`, `description`, `body` or `overview`.",
            "snippet = \"fields.summary|fields.body\"",
        ),
        hit_field(
            "uri",
            "Where the document is found. Without it `uri`, `url`, `path`, `file` or `id`.",
            "uri = \"tpl:notes://{{id|urlencode}}\"",
        ),
        hit_field(
            "score",
            "The adapter's own score; a number or its text. Without it `score`, `relevance`, `similarity` or `rank`, else the position.",
            "score = \"_score\"",
        ),
        hit_field(
            "kind",
            "What sort of document it is. Without it `kind`, `type`, `context_type` or `category`.",
            "kind = \"=note\"",
        ),
        hit_field(
            "date",
            "Its date: text, or seconds or milliseconds since 1970. Without it `date`, `created_at`, `updated_at`, `time` or `timestamp`.",
            "date = \"re:(\\\\d{4}-\\\\d{2}-\\\\d{2})\"",
        ),
    ],
    open: None,
};

const fn hit_field(name: &'static str, doc: &'static str, example: &'static str) -> FieldSpec {
    FieldSpec {
        name,
        doc: Text::en(doc),
        kind: Kind::Str(StringKind::MapValue),
        example,
        ..FieldSpec::BASE
    }
}

/// `[adapters.<name>.ops.<op>]`, and the op of a declared tool.
pub static OP: TableSpec = TableSpec {
    name: "op",
    doc: Text::en(
        "One call of the adapter and how its answer is read. Which fields describe the call depends on the adapter's driver.",
    ),
    section: "adapters.md section 2",
    fields: &[
        FieldSpec {
            name: "tool",
            doc: Text::en("The tool of the MCP server that is called."),
            drivers: Drivers::MCP,
            kind: Kind::Str(StringKind::ServerTool),
            required: Required::Merged,
            example: "tool = \"search_notes\"",
            also: &["name", "tool_name", "function"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "args",
            doc: Text::en(
                "The tool's arguments, as they stand; `{}` sends none. Without it the tool's parameters are bound by name to the op's inputs.",
            ),
            drivers: Drivers::MCP,
            kind: Kind::Map(&ARGS),
            example: "args = { query = \"{{query}}\", limit = \"{{limit}}\" }",
            also: &["arguments", "params", "parameters", "input"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "method",
            doc: Text::en(
                "The HTTP method. Without it `POST` where there is a `body`, else `GET`.",
            ),
            drivers: Drivers::HTTP,
            kind: Kind::OneOf {
                values: &[
                    value("GET", "Reads; the default without a body."),
                    value("POST", "Sends a body; the default with one."),
                    value("PUT", "Replaces."),
                    value("PATCH", "Changes in part."),
                    value("DELETE", "Removes."),
                    value("HEAD", "Reads the headers only."),
                    value("OPTIONS", "Asks what is possible."),
                ],
                ignore_case: true,
            },
            example: "method = \"POST\"",
            also: &["verb", "http_method"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "path",
            doc: Text::en(
                "A template, appended to the adapter's `base_url` with exactly one `/` between. What an expression inserts is percent-encoded, `/` excepted; a `.` or `..` segment from a value is an error.",
            ),
            drivers: Drivers::HTTP,
            kind: template(Place::Op, Shape::UrlPath),
            example: "path = \"/notes/{{uri|after:://}}\"",
            also: &["endpoint", "route"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "url",
            doc: Text::en(
                "The absolute URL of this op, a template. It stands in place of `base_url` and `path`.",
            ),
            drivers: Drivers::HTTP,
            kind: template(Place::Op, Shape::Url),
            example: "url = \"https://search.example/api\"",
            also: &["uri", "href"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "query",
            doc: Text::en(
                "Parameters of the URL's query. Values are templates, URL-encoded for you; empty ones are left out.",
            ),
            drivers: Drivers::HTTP,
            kind: Kind::Map(&QUERY),
            example: "query = { q = \"{{query}}\", n = \"{{limit}}\" }",
            also: &["params", "parameters", "query_params", "querystring"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "headers",
            doc: Text::en("Headers of this op's request, on top of the adapter's; the op's win."),
            drivers: Drivers::HTTP,
            kind: Kind::Map(&HEADERS),
            example: "headers = { Accept = \"application/json\" }",
            also: &["http_headers"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "body",
            doc: Text::en(
                "The body of the request. A string is sent as it is, anything else as JSON. Strings in it are templates; one that is exactly one expression keeps the JSON type of its value, and members that render to null are left out.",
            ),
            drivers: Drivers::HTTP,
            kind: Kind::Any(StringKind::Template {
                place: Place::Op,
                shape: Shape::Json,
            }),
            example: "body = { query = \"{{query}}\", limit = \"{{limit}}\" }",
            also: &["data", "json", "payload"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "command",
            doc: Text::en(
                "The program and its arguments, each an element and each a template; it replaces the adapter's. An input that begins with `-` is refused as an element of its own unless `--` stands before it.",
            ),
            drivers: Drivers::COMMAND,
            kind: Kind::Array {
                item: &template(Place::Op, Shape::Argument),
                non_empty: true,
            },
            example: "command = [\"rg\", \"--json\", \"--\", \"{{query}}\"]",
            also: &["cmd", "argv", "program", "exec"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "stdin",
            doc: Text::en(
                "What the program reads from its standard input, a template. Without it, nothing.",
            ),
            drivers: Drivers::COMMAND,
            kind: template(Place::Op, Shape::Text),
            example: "stdin = \"{{prompt}}\"",
            also: &["input"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "output_file",
            doc: Text::en(
                "The program writes its answer to `{{output_file}}`, a private temporary file that is removed afterwards. Where it writes none, its standard output counts.",
            ),
            drivers: Drivers::COMMAND,
            kind: Kind::Bool,
            default: Some("false"),
            example: "output_file = true",
            also: &["outfile", "output"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "cwd",
            doc: Text::en(
                "The folder the program runs in, a template; a relative one counts from the repository root. Without it the adapter's, else the root.",
            ),
            drivers: Drivers::COMMAND,
            kind: template(Place::Op, Shape::Path),
            example: "cwd = \"{{repo.root}}\"",
            also: &[
                "dir",
                "directory",
                "working_directory",
                "working_dir",
                "workdir",
            ],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "env",
            doc: Text::en(
                "Environment variables of the program, on top of the adapter's; the op's win. `false` removes one.",
            ),
            drivers: Drivers::COMMAND,
            kind: Kind::Map(&ENV),
            example: "env = { NO_COLOR = \"1\" }",
            also: &["environment", "envs", "env_vars"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "format",
            doc: Text::en(
                "How the answer is read. For an MCP tool it applies to the text of its content.",
            ),
            kind: Kind::OneOf {
                values: FORMATS,
                ignore_case: false,
            },
            default: Some("\"auto\""),
            example: "format = \"jsonl\"",
            also: &["output_format", "parse"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "timeout_ms",
            doc: Text::en(
                "How long this op may take, in milliseconds. Without it the adapter's limit.",
            ),
            kind: Kind::Integer { min: 1 },
            example: "timeout_ms = 20000",
            also: &["timeout", "timeout_sec", "timeout_seconds"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "items",
            doc: Text::en(
                "A path to the items of the answer; one that selects a list means its elements. Without it a list is taken as it is, or the first list under `results`, `items`, `hits`, `data`, `matches`, `entries`, `memories` or `documents`; else the whole answer is one item.",
            ),
            kind: Kind::Str(StringKind::ResultPath),
            example: "items = \"result.*[*]\"",
            also: &["results", "list", "item_path"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "split",
            doc: Text::en(
                "Cuts a text answer at every line that begins with this, each piece with `title`, `text` and `raw`. What stands before the first is dropped.",
            ),
            kind: Kind::Str(StringKind::Plain),
            example: "split = \"### \"",
            also: &["separator", "delimiter"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "where",
            doc: Text::en("Keeps only the items that have all these values."),
            kind: Kind::Map(&WHERE),
            example: "where = { type = \"match\" }",
            also: &["filter", "only"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "map",
            doc: Text::en(
                "Where title, snippet, uri, score, kind and date of a hit are found in an item.",
            ),
            kind: Kind::Table(&MAP),
            example: "map = { title = \"name\", uri = \"tpl:notes://{{id}}\" }",
            also: &["mapping", "fields"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "text",
            doc: Text::en(
                "A path to the text of an answer that is one text (read, brief, llm, receipts, declared tools); several matches are joined by newline. Without it text as it is, or the first string under `text`, `content`, `result`, `response`, `output`, `markdown`, `message` or `answer`.",
            ),
            kind: Kind::Str(StringKind::ResultPath),
            example: "text = \"result\"",
            also: &["answer", "result"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "owns",
            doc: Text::en(
                "For `read`: the beginnings of the URIs this adapter reads. The longest match over all adapters is asked.",
            ),
            kind: Kind::Array {
                item: &Kind::Str(StringKind::UriPrefix),
                non_empty: false,
            },
            example: "owns = [\"notes://\"]",
            also: &["own", "schemes", "prefixes"],
            ..FieldSpec::BASE
        },
    ],
    open: None,
};
