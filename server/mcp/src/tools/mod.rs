//! The tools, one file each; adding one is one file and one line in [`TOOLS`].

mod call;
mod check;
mod explain;
mod preview;
mod read;
mod schema;
mod search;
mod snapshot;
mod status;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};

use kontext_engine::Engine;
use rmcp::model::{CallToolResult, ContentBlock, Tool as Listed, ToolAnnotations};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::arguments;
use crate::budget::{self, RESULT_BUDGET};
use crate::gates::{self, Class, Gates};
use crate::source::{AnswerError, Answers};

/// Every tool, in the order in which they are listed. The order is part of the interface.
pub const TOOLS: &[Tool] = &[
    status::TOOL,
    snapshot::TOOL,
    check::TOOL,
    explain::TOOL,
    preview::TOOL,
    search::SEARCH,
    read::READ,
    search::HISTORY,
    search::CODE,
    read::BRIEF,
    call::CALL,
    call::SPAWN,
];

/// Their names, which no tool of an adapter may take.
pub fn names() -> &'static [&'static str] {
    static NAMES: LazyLock<Vec<&str>> =
        LazyLock::new(|| TOOLS.iter().map(|tool| tool.name).collect());
    &NAMES
}

/// One tool as a constant.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// The name in the protocol.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// What the agent reads to choose it.
    pub description: &'static str,
    /// Which gate it stands behind.
    pub class: Class,
    /// The schema of its arguments, a JSON object.
    pub input: fn() -> Value,
    /// The schema of its structured result, a JSON object.
    pub output: fn() -> Value,
    /// Answers a call whose arguments fit the input schema.
    pub run: Run,
}

/// Whether a call of this tool only looks at the configuration, so that it may be repeated.
pub fn only_looks(name: &str) -> bool {
    let tool = TOOLS.iter().find(|tool| tool.name == name);
    tool.is_some_and(|tool| tool.class == Class::Read)
}

/// How a call is answered, its arguments checked.
#[derive(Debug, Clone, Copy)]
pub enum Run {
    /// From a snapshot alone.
    Snapshot(FromSnapshot),
    /// By adapters.
    Adapters(FromAdapters),
}

/// An answer from a snapshot and the arguments.
pub type FromSnapshot = fn(&dyn Answers, &Map<String, Value>) -> Result<Reply, AnswerError>;

/// An answer by adapters, the arguments checked and the tool's own gates open.
pub type FromAdapters = fn(Engine, Gates, Map<String, Value>) -> Pending;

/// An answer to come. Dropping it ends what it has begun.
pub type Pending = Pin<Box<dyn Future<Output = Result<Reply, AnswerError>> + Send>>;

/// What a tool answers: the same twice.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// For reading.
    pub text: String,
    /// For the program; fits the output schema.
    pub structured: Map<String, Value>,
}

impl Tool {
    /// The tool as `tools/list` shows it.
    pub fn listed(&self) -> Listed {
        let read = self.class == Class::Read;
        let external = matches!(self.class, Class::External | Class::WriteExternal);
        Listed::new(self.name, self.description, object((self.input)()))
            .with_title(self.title)
            .with_raw_output_schema(object((self.output)()))
            .with_annotations(
                ToolAnnotations::with_title(self.title)
                    .read_only(read)
                    .destructive(false)
                    .idempotent(read)
                    .open_world(external),
            )
    }

    /// Says why a call must not be answered: a gate, or an argument.
    ///
    /// # Errors
    ///
    /// The words for the agent.
    pub fn admit(&self, gates: Gates, arguments: &Map<String, Value>) -> Result<(), AnswerError> {
        let closed = gates.closed_for(self.class);
        if !closed.is_empty() {
            return Err(AnswerError(gates::refusal(self.name, &closed)));
        }
        arguments::check(self.name, &(self.input)(), arguments).map_err(AnswerError)
    }
}

/// What a call gave, as the protocol has it. Whatever went wrong is an answer too, so that the
/// agent reads why.
pub fn result(reply: Result<Reply, AnswerError>) -> CallToolResult {
    match reply {
        Ok(reply) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(reply.text)]);
            result.structured_content = Some(Value::Object(reply.structured));
            result
        }
        Err(AnswerError(words)) => refused(words),
    }
}

fn refused(words: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(words)])
}

fn object(schema: Value) -> Arc<Map<String, Value>> {
    Arc::new(match schema {
        Value::Object(members) => members,
        _ => Map::new(),
    })
}

/// A reply cut to the size budget: `text` renders what is left, `advice` says how to see more.
fn reply<T>(answer: &T, text: impl Fn(&T) -> String, advice: &str) -> Result<Reply, AnswerError>
where
    T: Serialize + DeserializeOwned,
{
    let fitted = budget::fit(answer, RESULT_BUDGET)
        .map_err(|error| AnswerError(format!("the answer cannot be written as JSON: {error}")))?;
    let mut words = text(&fitted.answer);
    let mut structured = fitted.value;
    if !fitted.omitted.is_empty() {
        let note = budget::note(&fitted.omitted, advice);
        words = format!("{}\n\n{note}", words.trim_end());
        structured.insert("omitted".to_owned(), Value::String(note));
    }
    Ok(Reply {
        text: words,
        structured,
    })
}

/// One diagnostic as a line: `path:line:column severity code: message`, counted from one as
/// people do.
fn diagnostic_line(diagnostic: &crate::answers::Diagnostic) -> String {
    let start = diagnostic.range.start;
    let fix = match &diagnostic.fix {
        Some(fix) => format!(" (fix: {})", fix.title),
        None => String::new(),
    };
    format!(
        "{}:{}:{} {} {}: {}{fix}",
        diagnostic.path,
        start.line.saturating_add(1),
        start.character.saturating_add(1),
        diagnostic.severity.name(),
        diagnostic.code,
        diagnostic.message,
    )
}

#[cfg(all(test, unix))]
mod at_work;
#[cfg(test)]
mod tests;
