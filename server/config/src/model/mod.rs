//! The typed model of an adapter (adapters.md sections 2 to 9).
//!
//! It survives wrong parts: a field with a value that cannot be used is left at its default and
//! named in [`Adapter::problems`]. Only what leaves nothing to call (no driver, no target) is
//! fatal. Where each value comes from stays in the merge it was built from.

mod read;
mod target;
#[cfg(test)]
mod tests;

use indexmap::IndexMap;
use kontext_syntax::template::Template;
use serde_json::{Map, Value};

use crate::eval::Vars;
use crate::schema::Driver;
use crate::when::When;

pub(crate) use target::{LEAST_FIELDS, TARGET_FIELDS, least, no_target};

/// One adapter.
#[derive(Clone, Debug, PartialEq)]
pub struct Adapter {
    /// Its name.
    pub name: String,
    /// What it is reached through; `None` where that is not said or not known.
    pub driver: Option<Driver>,
    /// Whether it is switched on; default true.
    pub enabled: bool,
    /// What it holds, for people.
    pub description: Option<String>,
    /// Its conditions.
    pub when: When,
    /// Its variables.
    pub vars: Vars,
    /// Limit of one call in milliseconds, at least 1; default 10000.
    pub timeout_ms: u64,
    /// Weight of its hits, finite and at least 0; default 0.9.
    pub weight: f64,
    /// The server to start, or the default command; empty where there is none.
    pub command: Vec<TemplateText>,
    /// What is set in or removed from the child's environment.
    pub env: IndexMap<String, EnvValue>,
    /// Working folder of the child.
    pub cwd: Option<TemplateText>,
    /// The MCP endpoint, or the base of op paths.
    pub url: Option<TemplateText>,
    /// The base of op paths; wins over `url`.
    pub base_url: Option<TemplateText>,
    /// Request headers.
    pub headers: IndexMap<String, TemplateText>,
    /// The server's tools that are re-published.
    pub expose: Expose,
    /// What names of re-published tools begin with; `None` is the adapter's name and `_`.
    pub prefix: Option<String>,
    /// What it is asked, by name.
    pub ops: IndexMap<String, Op>,
    /// The events it receives.
    pub on: Vec<Subscription>,
    /// The tools declared on it.
    pub tools: Vec<DeclaredTool>,
    /// What could not be used, in the order of the fields.
    pub problems: Vec<Problem>,
}

/// A string that is a template, as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TemplateText(String);

impl TemplateText {
    /// A template of this source.
    pub fn new(source: impl Into<String>) -> Self {
        Self(source.into())
    }

    /// The text, escapes of the file decoded.
    pub fn source(&self) -> &str {
        &self.0
    }

    /// The text, parsed.
    pub fn template(&self) -> Template {
        Template::parse(&self.0)
    }
}

/// What happens to a variable of the child's environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvValue {
    /// It is set; the empty text sets it empty.
    Set(TemplateText),
    /// It is removed from what the child inherits.
    Removed,
}

/// Which of a server's tools are re-published.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Expose {
    /// None.
    #[default]
    None,
    /// All, also those that appear later.
    All,
    /// Those with these names.
    Only(Vec<String>),
}

/// How an answer is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// JSON where it parses, else text.
    #[default]
    Auto,
    /// JSON.
    Json,
    /// One JSON value a line.
    Jsonl,
    /// Lines that are not blank.
    Lines,
    /// Text.
    Text,
}

/// One call, and how its answer is read. Fields that the driver does not use are kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Op {
    /// The tool of the server.
    pub tool: Option<String>,
    /// The tool's arguments; `None` binds by name, an empty map sends none.
    pub args: Option<Map<String, Value>>,
    /// The HTTP method, upper case.
    pub method: Option<String>,
    /// What is appended to the base URL.
    pub path: Option<TemplateText>,
    /// A URL in place of base and path.
    pub url: Option<TemplateText>,
    /// Parameters of the URL's query: strings (templates), numbers and booleans.
    pub query: IndexMap<String, Value>,
    /// Request headers, over the adapter's.
    pub headers: IndexMap<String, TemplateText>,
    /// The body; strings in it are templates.
    pub body: Option<Value>,
    /// The command in place of the adapter's; empty where there is none.
    pub command: Vec<TemplateText>,
    /// What the program reads from its standard input.
    pub stdin: Option<TemplateText>,
    /// Whether the answer is read from a temporary file.
    pub output_file: bool,
    /// Working folder in place of the adapter's.
    pub cwd: Option<TemplateText>,
    /// Environment, over the adapter's.
    pub env: IndexMap<String, EnvValue>,
    /// How the answer is read.
    pub format: Format,
    /// Limit in milliseconds in place of the adapter's, at least 1.
    pub timeout_ms: Option<u64>,
    /// A path to the items.
    pub items: Option<String>,
    /// What lines begin with at which a text is cut.
    pub split: Option<String>,
    /// Paths and the values items must have there, as text.
    pub filter: IndexMap<String, String>,
    /// Where the fields of a hit are found, as written.
    pub map: HitMap,
    /// A path to the text of the answer.
    pub text: Option<String>,
    /// Beginnings of the URIs that `read` takes.
    pub owns: Vec<String>,
}

/// Where the fields of a hit are found: a path, `a|b`, `re:…`, `tpl:…` or `=…`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HitMap {
    /// Of the title.
    pub title: Option<String>,
    /// Of the snippet.
    pub snippet: Option<String>,
    /// Of the URI.
    pub uri: Option<String>,
    /// Of the score.
    pub score: Option<String>,
    /// Of the kind.
    pub kind: Option<String>,
    /// Of the date.
    pub date: Option<String>,
}

/// The events there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// An entry was written down.
    Capture,
    /// An entry was taken over into shared knowledge.
    Promote,
    /// Entries are brought in line.
    Sync,
}

/// Who an entry is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// The team.
    Team,
    /// One person.
    Private,
}

/// An event that an op receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// The event.
    pub event: Event,
    /// The op's name.
    pub op: String,
    /// Only entries of this visibility; `None` delivers what is not private.
    pub visibility: Option<Visibility>,
    /// Only entries of these kinds; `None` delivers all.
    pub kinds: Option<Vec<String>>,
}

/// A tool declared in the configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredTool {
    /// Its name, as written.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// The JSON Schema of its arguments: an object. Shorthand types are written out.
    pub schema: Map<String, Value>,
    /// The call behind it.
    pub op: ToolOp,
}

/// The call behind a declared tool.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolOp {
    /// An op of the adapter, by name.
    Named(String),
    /// An op of its own.
    Inline(Box<Op>),
}

/// A value that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The keys below the adapter, joined by dots; elements of arrays as `[0]`, 0-based.
    pub path: String,
    /// What is wrong and what to do, one sentence without a full stop.
    pub message: String,
    /// Whether nothing of the adapter can be called because of it.
    pub fatal: bool,
}

impl Adapter {
    /// The first problem that leaves nothing to call, if there is one.
    pub fn fatal(&self) -> Option<&Problem> {
        self.problems.iter().find(|problem| problem.fatal)
    }

    /// What the names of re-published tools begin with.
    pub fn tool_prefix(&self) -> String {
        self.prefix
            .clone()
            .unwrap_or_else(|| format!("{}_", self.name))
    }
}
