//! What templates can name: the roots that are always there, and the inputs of each op
//! (adapters.md sections 4 and 9).

use super::kind::Text;

/// A name under which a template finds a value.
#[derive(Clone, Copy, Debug)]
pub struct InputSpec {
    /// The name, dotted where it lies in a table (`source.repo`).
    pub name: &'static str,
    /// What it holds.
    pub doc: Text,
    /// A value it may have, as text.
    pub example: &'static str,
}

const fn input(name: &'static str, doc: &'static str, example: &'static str) -> InputSpec {
    InputSpec {
        name,
        doc: Text::en(doc),
        example,
    }
}

/// A root of template paths.
#[derive(Clone, Copy, Debug)]
pub struct RootSpec {
    /// The first segment.
    pub name: &'static str,
    /// What lies below it.
    pub doc: Text,
    /// Its members.
    pub members: Members,
}

/// What may follow a root.
#[derive(Clone, Copy, Debug)]
pub enum Members {
    /// Exactly these; the names are without the root.
    Fixed(&'static [InputSpec]),
    /// The keys of the `vars` in force.
    Vars,
    /// The variables of the environment.
    Env,
}

/// The roots every template sees. Inputs never shadow them.
pub static ROOTS: &[RootSpec] = &[
    RootSpec {
        name: "repo",
        doc: Text::en("The work tree the call is made for."),
        members: Members::Fixed(&[
            input(
                "id",
                "Normalised remote: lower case, no scheme, user, port or `.git`. Without a remote `local/<dir>-<8 hex of the root path>`.",
                "github.com/acme/shop",
            ),
            input(
                "slug",
                "The id with `/` replaced by `-`: fit for a file name.",
                "github.com-acme-shop",
            ),
            input(
                "name",
                "Last segment of the id for a remote, else the name of the root folder.",
                "shop",
            ),
            input("dir", "Name of the root folder.", "shop"),
            input(
                "root",
                "Absolute path of the work tree's root.",
                "/home/ana/shop",
            ),
            input(
                "remote",
                "URL of the remote the id comes from, without user and password; null without one.",
                "https://github.com/acme/shop.git",
            ),
            input(
                "branch",
                "Current branch; null on a detached head or outside a repository.",
                "main",
            ),
            input(
                "worktree",
                "Name of the linked work tree; null in the main one.",
                "shop-hotfix",
            ),
        ]),
    },
    RootSpec {
        name: "project",
        doc: Text::en("What `[project]` says."),
        members: Members::Fixed(&[input(
            "name",
            "The name `[project]` gives; null without one.",
            "Shop",
        )]),
    },
    RootSpec {
        name: "vars",
        doc: Text::en(
            "Variables of the top-level `[vars]` and of the adapter's own `vars`; the adapter's win.",
        ),
        members: Members::Vars,
    },
    RootSpec {
        name: "env",
        doc: Text::en("Variables of the environment the program runs in. An unset one is null."),
        members: Members::Env,
    },
    RootSpec {
        name: "now",
        doc: Text::en("The moment of the call."),
        members: Members::Fixed(&[
            input("date", "Local date.", "2026-11-30"),
            input(
                "iso",
                "Date and time in UTC, RFC 3339 with seconds.",
                "2026-11-30T23:03:32Z",
            ),
        ]),
    },
    RootSpec {
        name: "adapter",
        doc: Text::en("The adapter the template belongs to."),
        members: Members::Fixed(&[input("name", "Its key under `[adapters]`.", "notes")]),
    },
];

/// The root of that name, compared exactly.
pub fn root_of_template(name: &str) -> Option<&'static RootSpec> {
    ROOTS.iter().find(|root| root.name == name)
}

/// What the answer of an op becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A list of hits: `items`, `split`, `where` and `map` apply.
    Hits,
    /// One text: `text` applies.
    Text,
}

/// A well-known op.
#[derive(Clone, Copy, Debug)]
pub struct OpSpec {
    /// Its key under `ops`.
    pub name: &'static str,
    /// What it does and when it is called.
    pub doc: Text,
    /// The inputs its templates see.
    pub inputs: &'static [InputSpec],
    /// The input an unmatched required parameter of an MCP tool receives; `None` where there is
    /// none (adapters.md section 6).
    pub primary: Option<&'static str>,
    /// What its answer becomes.
    pub answer: Answer,
}

const QUERY: InputSpec = input(
    "query",
    "What is looked for, as the caller wrote it.",
    "rate limits",
);
const LIMIT: InputSpec = input(
    "limit",
    "How many hits are wanted at most; an integer.",
    "10",
);

/// The inputs of ops with any other name.
pub static OTHER_OP_INPUTS: &[InputSpec] = &[QUERY, LIMIT];

/// `{{output_file}}`, which command ops with `output_file = true` have besides their inputs.
pub static OUTPUT_FILE: InputSpec = input(
    "output_file",
    "Path of a private temporary file the program writes its answer to.",
    "kontext-7f3a.out",
);

/// What an event carries, for the templates of the op it is delivered to.
pub static EVENT_INPUTS: &[InputSpec] = &[
    input("id", "Identifier of the entry.", "2026-11-30-rate-limits"),
    input("kind", "Kind of the entry.", "decision"),
    input("title", "Its title.", "Rate limits per tenant"),
    input("status", "Its status.", "accepted"),
    input("date", "Its date.", "2026-11-30"),
    input(
        "summary",
        "Its summary, at most 300 characters.",
        "Limits move to the gateway.",
    ),
    input("tags", "Its tags; a list.", "api,limits"),
    input("paths", "The files it is about; a list.", "src/limits.rs"),
    input("body", "Its text without the front matter.", "We decided …"),
    input("markdown", "The whole file.", "---\ntitle: …"),
    input(
        "path",
        "Where the file lies, relative to the root.",
        ".ai/decisions/limits.md",
    ),
    input("visibility", "`team` or `private`.", "team"),
    input(
        "source.repo",
        "Id of the repository the entry comes from.",
        "github.com/acme/shop",
    ),
    input("source.branch", "Branch it was written on.", "main"),
    input(
        "event.key",
        "Idempotency key: the same for every attempt to deliver one event.",
        "9d1c…",
    ),
];

/// The well-known ops, in the order they are offered.
pub static OPS: &[OpSpec] = &[
    OpSpec {
        name: "search",
        doc: Text::en(
            "Looks through what the adapter holds. Its hits are merged with those of the other active adapters.",
        ),
        inputs: &[QUERY, LIMIT],
        primary: Some("query"),
        answer: Answer::Hits,
    },
    OpSpec {
        name: "history",
        doc: Text::en(
            "Finds out how something came about: a path, `path:line`, a commit or a topic.",
        ),
        inputs: &[
            input(
                "target",
                "The path, `path:line`, commit or topic asked about.",
                "src/limits.rs:42",
            ),
            input("query", "The same as `target`.", "src/limits.rs:42"),
            LIMIT,
        ],
        primary: Some("target"),
        answer: Answer::Hits,
    },
    OpSpec {
        name: "code",
        doc: Text::en("Looks through source code: symbols, definitions, uses."),
        inputs: &[QUERY, LIMIT],
        primary: Some("query"),
        answer: Answer::Hits,
    },
    OpSpec {
        name: "read",
        doc: Text::en(
            "Reads one document by its URI. The adapter whose `owns` prefix is the longest match is asked.",
        ),
        inputs: &[
            input("uri", "The URI of the document.", "notes://rate-limits"),
            input(
                "level",
                "How much of it is wanted, where the adapter knows levels.",
                "overview",
            ),
        ],
        primary: Some("uri"),
        answer: Answer::Text,
    },
    OpSpec {
        name: "brief",
        doc: Text::en("Gives what is worth knowing before work starts, as text."),
        inputs: &[
            QUERY,
            input("focus", "What the work is about; may be null.", "billing"),
        ],
        primary: Some("query"),
        answer: Answer::Text,
    },
    OpSpec {
        name: "store",
        doc: Text::en(
            "Keeps an entry. Called for the events that `on` subscribes to; the answer is a receipt.",
        ),
        inputs: EVENT_INPUTS,
        primary: Some("content"),
        answer: Answer::Text,
    },
    OpSpec {
        name: "llm",
        doc: Text::en("Answers a prompt with a language model."),
        inputs: &[input("prompt", "The whole prompt.", "Summarise: …")],
        primary: Some("prompt"),
        answer: Answer::Text,
    },
    OpSpec {
        name: "health",
        doc: Text::en("Tells whether the system behind the adapter answers."),
        inputs: &[],
        primary: None,
        answer: Answer::Text,
    },
];

/// The well-known op of that name, compared exactly.
pub fn op(name: &str) -> Option<&'static OpSpec> {
    OPS.iter().find(|op| op.name == name)
}

/// The inputs an op of that name has by itself: without what an event, a declared tool or
/// `output_file` adds.
pub fn inputs_of(name: &str) -> &'static [InputSpec] {
    op(name).map_or(OTHER_OP_INPUTS, |op| op.inputs)
}
