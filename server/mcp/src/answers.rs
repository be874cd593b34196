//! The shapes of answers (companion.md section 3, "Shapes"). The shell prints the same ones.
//!
//! Positions are zero-based; `character` counts UTF-16 code units; ranges exclude their end.
//! Absent fields are left out.

pub use kontext_config::codes::Severity;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::gates::Gates;

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Zero-based.
    pub line: u32,
    /// Zero-based, in UTF-16 code units.
    pub character: u32,
}

/// A stretch of text without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// The first place in it.
    pub start: Position,
    /// The first place behind it.
    pub end: Position,
}

/// One thing found in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The file, as the person would write it.
    pub path: String,
    /// What it is about.
    pub range: Range,
    /// How bad it is.
    pub severity: Severity,
    /// The stable code.
    pub code: String,
    /// What is wrong and what to do.
    pub message: String,
    /// A change that cures it, where one is certain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

/// A change to the diagnostic's own file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// What it does.
    pub title: String,
    /// The replacements; they do not overlap.
    pub edits: Vec<Edit>,
}

/// One replacement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Edit {
    /// What is replaced; empty for an insertion.
    pub range: Range,
    /// By what.
    pub new_text: String,
}

/// The answer of `kontext_check`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Checked {
    /// By path, then by place.
    #[serde(default)]
    pub diagnostics: Vec<Diagnostic>,
}

/// The answer of `kontext_status` and of `adapters list --json`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Status {
    /// In the order of the configuration.
    #[serde(default)]
    pub adapters: Vec<AdapterStatus>,
    /// Which classes of tools are open.
    pub gates: Gates,
    /// What waits to be delivered.
    pub outbox: Outbox,
    /// The layers in their order.
    #[serde(default)]
    pub layers: Vec<Layer>,
    /// Whether a language server answers, and so unsaved text is seen.
    pub editor: bool,
}

/// One adapter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdapterStatus {
    /// Its name.
    pub name: String,
    /// `mcp`, `http` or `command`; empty where the configuration names none.
    pub driver: String,
    /// `active`, `inactive`, `disabled`, `untrusted` or `invalid`.
    pub status: String,
    /// Every reason why it is not active.
    #[serde(default)]
    pub reasons: Vec<String>,
    /// The last layer that says something about it.
    pub layer: String,
    /// Its server, where it has one that was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerStatus>,
}

/// A child server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerStatus {
    /// Its health in a word.
    pub state: String,
    /// How many tools it offers.
    pub tools: u32,
}

/// What waits to be delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Outbox {
    /// Not delivered yet.
    pub waiting: u64,
    /// Given up.
    pub failed: u64,
}

/// One layer of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// Its name in answers and in `kontext://layers/<layer>`: `user`, `repository`, `shared`,
    /// `clone`; with several roots a stable suffix. ASCII letters, digits, `-`, `_`, `.` only.
    pub layer: String,
    /// Where it is or would be.
    pub path: String,
    /// Whether the file, or an open buffer for it, exists.
    pub exists: bool,
    /// Whether its adapters run without a further yes.
    pub trusted: bool,
    /// What trusts the shared layer: `pin` or `environment`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted_by: Option<String>,
    /// Why it could not be read or parsed, where that is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The text of a layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerText {
    /// The buffer where one is open, else the file; secrets masked.
    pub text: String,
}

/// A page of the field reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// Its name in `kontext://reference/<page>`: ASCII letters, digits, `-`, `_`, `.` only.
    pub page: String,
    /// Its title.
    pub title: String,
}

/// The answer of `kontext_snapshot`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Snapshot {
    /// Whether a language server answers; without one there are no open documents.
    pub editor: bool,
    /// The open configuration documents, by path.
    #[serde(default)]
    pub documents: Vec<Document>,
}

/// One open document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Its path, or its URI where it is no file.
    pub path: String,
    /// Which layer it is, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
    /// The editor's number for its text.
    pub version: i32,
    /// Whether it differs from the disk.
    pub unsaved: bool,
    /// Where it differs, in order.
    #[serde(default)]
    pub changes: Vec<Change>,
    /// What is wrong with it as it stands in the editor.
    #[serde(default)]
    pub diagnostics: Vec<Diagnostic>,
}

/// A stretch of whole lines that differs from the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The first line of it in the buffer, zero-based.
    pub line: u32,
    /// The lines on disk, without line breaks, joined by `\n`.
    pub saved: String,
    /// The lines in the buffer, likewise.
    pub buffer: String,
}

/// The answer of `kontext_explain`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Explanation {
    /// What was explained, by its full name.
    pub of: String,
    /// `field`, `code`, `adapter`, `filter`, `root` or `op`.
    pub kind: String,
    /// The meaning, in Markdown.
    pub text: String,
    /// What holds now, with the layer each value comes from.
    #[serde(default)]
    pub values: Vec<EffectiveValue>,
    /// Other names worth asking for.
    #[serde(default)]
    pub related: Vec<String>,
}

/// One value that holds, and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EffectiveValue {
    /// The full name of the field, as in `adapters.docs.url`.
    pub field: String,
    /// The value; secrets masked.
    pub value: Value,
    /// The layer it comes from; `default` where none sets it.
    pub layer: String,
    /// The file, where a layer sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its place in that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
}

/// The answer of the tools that search.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Hits {
    /// The best first.
    #[serde(default)]
    pub hits: Vec<Hit>,
    /// Sources that gave nothing, and what else there is to say.
    #[serde(default)]
    pub notes: Vec<Note>,
}

/// One hit.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Hit {
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it says, in short: one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snippet: Option<String>,
    /// Where it is to be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// How well it fits, over all sources; only the order means something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// What sort of thing it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Of when it is, RFC 3339 or as its source has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The adapter.
    #[serde(default)]
    pub source: String,
}

/// A word about a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The adapter.
    pub source: String,
    /// One sentence.
    pub message: String,
}

/// The answer of the tools that read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Texts {
    /// One for each source.
    #[serde(default)]
    pub texts: Vec<SourceText>,
    /// Sources that gave nothing, and what else there is to say.
    #[serde(default)]
    pub notes: Vec<Note>,
}

/// What a source says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceText {
    /// The adapter.
    pub source: String,
    /// Its text.
    pub text: String,
}

/// The answer of `kontext_preview`: a request, or hits.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Preview {
    /// What would be sent, secrets masked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Value>,
    /// What the op makes of the payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hits: Option<Vec<Hit>>,
    /// Items with neither title nor snippet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<u64>,
    /// What there is to say besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The answer of `kontext_spawn`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Spawned {
    /// The adapter.
    pub adapter: String,
    /// Its server's state in a word.
    pub state: String,
    /// Its tools, as the server lists them.
    #[serde(default)]
    pub tools: Vec<Value>,
    /// What there is to say besides.
    #[serde(default)]
    pub notes: Vec<String>,
}
