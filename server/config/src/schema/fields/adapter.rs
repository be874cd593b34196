//! `[adapters.<name>]` (adapters.md section 2).

use super::{events::ON, op::OP, plain, template, tools::TOOL, value, when::WHEN};
use crate::schema::kind::{
    Drivers, EnumValue, FieldSpec, KeyKind, Kind, KnownKey, OpenKeys, Place, Required, Shape,
    StringKind, TableSpec, Text,
};

/// The drivers, as values of `driver`.
pub static DRIVERS: &[EnumValue] = &[
    EnumValue {
        also: &[
            "stdio",
            "sse",
            "streamable-http",
            "streamable_http",
            "streamableHttp",
            "remote",
            "local",
        ],
        ..value(
            "mcp",
            "An MCP server: `command` starts it as a child, `url` reaches it over streamable HTTP.",
        )
    },
    EnumValue {
        also: &["https", "rest", "api", "web"],
        ..value("http", "HTTP requests below `base_url`.")
    },
    EnumValue {
        also: &["shell", "exec", "process", "program", "cli", "cmd"],
        ..value(
            "command",
            "A program started once per call, without a shell.",
        )
    },
];

static VARS: OpenKeys = OpenKeys {
    key: KeyKind::VarName,
    placeholder: "name",
    kind: template(Place::AdapterVars, Shape::Text),
    doc: Text::en(
        "A variable of this adapter's templates: `{{vars.NAME}}`. Its value is a template that sees the global `[vars]` and the adapter's other variables; a cycle is an error.",
    ),
    known: &[],
};

static HEADERS: OpenKeys = OpenKeys {
    key: KeyKind::HeaderName,
    placeholder: "header",
    kind: template(Place::Adapter, Shape::Header),
    doc: Text::en(
        "A request header and its value, a template. An unset `{{env.X}}` without a default, or a line break in the value, is an error: no request is sent.",
    ),
    known: &[],
};

static ENV: OpenKeys = OpenKeys {
    key: KeyKind::EnvName,
    placeholder: "variable",
    kind: Kind::Either(&[template(Place::Adapter, Shape::EnvValue), Kind::False]),
    doc: Text::en(
        "An environment variable of the child and its value, a template. `\"\"` sets it empty, `false` removes it from what the child inherits.",
    ),
    known: &[],
};

static OPS: OpenKeys = OpenKeys {
    key: KeyKind::OpName,
    placeholder: "op",
    kind: Kind::Table(&OP),
    doc: Text::en(
        "An op under a name of your choice. It runs where `on` or `tools` names it, or when it is called by name.",
    ),
    known: &[
        known(
            "search",
            "Looks through what the adapter holds; its hits are merged with those of the other active adapters. Inputs: `query`, `limit`.",
        ),
        known(
            "history",
            "Finds out how a path, a `path:line`, a commit or a topic came about. Inputs: `target`, `query` (the same), `limit`.",
        ),
        known(
            "code",
            "Looks through source code. Inputs: `query`, `limit`.",
        ),
        known(
            "read",
            "Reads one document by its URI; `owns` says which URIs are this adapter's. Inputs: `uri`, `level`.",
        ),
        known(
            "brief",
            "Gives what is worth knowing before work starts, as text. Inputs: `query`, `focus`.",
        ),
        known(
            "store",
            "Keeps an entry that an event delivers; the answer is a receipt. Inputs: the event's payload.",
        ),
        known(
            "llm",
            "Answers a prompt with a language model. Input: `prompt`.",
        ),
        known(
            "health",
            "Tells whether the system behind the adapter answers. No inputs.",
        ),
    ],
};

const fn known(name: &'static str, doc: &'static str) -> KnownKey {
    KnownKey {
        name,
        doc: Text::en(doc),
    }
}

const CHILD: Drivers = Drivers::MCP.and(Drivers::COMMAND);
const REMOTE: Drivers = Drivers::MCP.and(Drivers::HTTP);

/// `[adapters.<name>]`.
pub static ADAPTER: TableSpec = TableSpec {
    name: "adapter",
    doc: Text::en("One adapter: how a system is reached, when it is active, and what it is asked."),
    section: "adapters.md section 2",
    fields: &[
        FieldSpec {
            name: "driver",
            doc: Text::en(
                "What the adapter is reached through. Required in what the layers give together: a layer that only changes other fields may leave it out.",
            ),
            kind: Kind::OneOf {
                values: DRIVERS,
                ignore_case: false,
            },
            required: Required::Merged,
            example: "driver = \"mcp\"",
            also: &["type", "transport", "kind"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "command",
            doc: Text::en(
                "The program and its arguments, each an element and each a template; no shell takes part. Driver mcp: the server to start, rendered when it starts. Driver command: the default of its ops, rendered per call with the op's inputs.",
            ),
            drivers: CHILD,
            kind: Kind::Array {
                item: &template(Place::Adapter, Shape::Argument),
                non_empty: true,
            },
            example: "command = [\"notes-mcp\", \"--stdio\"]",
            also: &["cmd", "args", "argv", "program", "exec"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "url",
            doc: Text::en(
                "Driver mcp: the endpoint of a server that speaks streamable HTTP; it wins over `command`. Driver http: the base of op paths where `base_url` is not given.",
            ),
            drivers: REMOTE,
            kind: template(Place::Adapter, Shape::Url),
            example: "url = \"https://notes.example/mcp\"",
            also: &["httpUrl", "serverUrl", "server_url", "endpoint", "uri"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "base_url",
            doc: Text::en(
                "The URL that each op's `path` is appended to, joined by exactly one `/`. It wins over `url`.",
            ),
            drivers: Drivers::HTTP,
            kind: template(Place::Adapter, Shape::Url),
            example: "base_url = \"https://notes.example/api\"",
            also: &["base", "host", "api_url"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "headers",
            doc: Text::en(
                "Headers of every request. Driver mcp uses them with `url` only. They are not sent along a redirect to another origin.",
            ),
            drivers: REMOTE,
            kind: Kind::Map(&HEADERS),
            example: "headers = { Authorization = \"Bearer {{env.NOTES_TOKEN}}\" }",
            also: &["http_headers", "requestHeaders"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "env",
            doc: Text::en(
                "Environment variables of the child, on top of those it inherits. `\"\"` sets an empty variable, `false` removes one.",
            ),
            drivers: CHILD,
            kind: Kind::Map(&ENV),
            example: "env = { NO_COLOR = \"1\", DEBUG = false }",
            also: &["environment", "envs", "env_vars"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "cwd",
            doc: Text::en(
                "The folder the child runs in; a relative one counts from the repository root. Without it, the repository root.",
            ),
            drivers: CHILD,
            kind: template(Place::Adapter, Shape::Path),
            example: "cwd = \"{{repo.root}}/tools\"",
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
            name: "description",
            doc: Text::en(
                "What the adapter holds, for people in listings and for agents in tool descriptions.",
            ),
            kind: plain(),
            example: "description = \"Notes of the team\"",
            also: &["title", "summary"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "enabled",
            doc: Text::en(
                "`false` switches the adapter off: it is listed as disabled, never called and gets no events.",
            ),
            kind: Kind::Bool,
            default: Some("true"),
            example: "enabled = false",
            also: &["disabled", "active", "enable"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "when",
            doc: Text::en(
                "Conditions under which the adapter is active; all that are given must hold. Without it, always.",
            ),
            kind: Kind::Table(&WHEN),
            example: "when = { command = \"codegraph\", file = \".codegraph\" }",
            also: &["if", "condition", "conditions"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "vars",
            doc: Text::en(
                "Variables for this adapter's templates. They win over those of the top-level `[vars]`.",
            ),
            kind: Kind::Map(&VARS),
            example: "vars = { team = \"core\" }",
            also: &["variables"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "timeout_ms",
            doc: Text::en(
                "How long one call may take, in milliseconds; an op's own limit wins. Starting an MCP server has a limit of its own: this one, but at least 45 seconds.",
            ),
            kind: Kind::Integer { min: 1 },
            default: Some("10000"),
            example: "timeout_ms = 20000",
            also: &[
                "timeout",
                "startup_timeout_sec",
                "startup_timeout_ms",
                "tool_timeout_sec",
                "timeout_sec",
                "timeout_seconds",
                "request_timeout",
            ],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "weight",
            doc: Text::en(
                "How much the adapter's hits count in a merged search; hits from local files count 1.0.",
            ),
            kind: Kind::Number { min: 0.0 },
            default: Some("0.9"),
            example: "weight = 0.5",
            also: &["priority", "boost"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "expose",
            doc: Text::en(
                "Which of the server's own tools agents see as well: none, all, or those named. `true` is `\"all\"`, `false` is `\"none\"`.",
            ),
            drivers: Drivers::MCP,
            kind: Kind::Either(&[
                Kind::OneOf {
                    values: &[
                        value("none", "No tool is re-published."),
                        value(
                            "all",
                            "Every tool is re-published, also those that appear later.",
                        ),
                    ],
                    ignore_case: false,
                },
                Kind::Bool,
                Kind::Array {
                    item: &Kind::Str(StringKind::ServerTool),
                    non_empty: false,
                },
            ]),
            default: Some("\"none\""),
            example: "expose = [\"explore\", \"node\"]",
            also: &[
                "tools_allow",
                "allow",
                "include",
                "alwaysAllow",
                "autoApprove",
            ],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "prefix",
            doc: Text::en(
                "What the names of re-published tools begin with. Without it, the adapter's name and `_`. A name that begins with it already stays as it is; `\"\"` adds nothing.",
            ),
            drivers: Drivers::MCP,
            kind: Kind::Str(StringKind::ToolPrefix),
            example: "prefix = \"graph_\"",
            also: &["tool_prefix"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "ops",
            doc: Text::en(
                "What the adapter is asked, by name: each op is one call and how its answer is read.",
            ),
            kind: Kind::Map(&OPS),
            example: "ops.search = { tool = \"find\" }",
            also: &["op", "operations"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "on",
            doc: Text::en(
                "Events that are delivered to ops of this adapter. A later layer replaces the whole list.\n\nNot delivered yet: this version checks subscriptions and delivers no event.",
            ),
            kind: Kind::ArrayOfTables(&ON),
            example: "on = [{ event = \"sync\", op = \"store\" }]",
            also: &["events", "hooks", "subscriptions"],
            ..FieldSpec::BASE
        },
        FieldSpec {
            name: "tools",
            doc: Text::en(
                "New MCP tools made from this adapter's calls. A later layer replaces the whole list.",
            ),
            kind: Kind::ArrayOfTables(&TOOL),
            example: "tools = [{ name = \"notes_recent\", op = \"search\" }]",
            also: &["tool", "functions"],
            ..FieldSpec::BASE
        },
    ],
    open: None,
};
