//! Where answers come from: the seam between the MCP server and the rest of the program.

use std::sync::Arc;

use kontext_engine::Engine;
use serde_json::{Map, Value};
use tokio::sync::watch;

use crate::answers::{Checked, Explanation, Layer, LayerText, Page, Preview, Snapshot, Status};
use crate::gates::Gates;

/// What has changed since a client last looked. Each number only ever grows; a number that
/// differs from the one seen before means: look again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Revision {
    /// The list of tools: a gate, or later a child's tools.
    pub tools: u64,
    /// The list of resources: a layer came or went.
    pub resources: u64,
    /// The text of any resource. May be raised on every edit; updates are sent only for
    /// resources whose text really differs.
    pub contents: u64,
}

/// The one picture that editor and agent share.
///
/// A language server hands out its newest snapshot, buffers included; without one the files on
/// disk stand behind it.
pub trait Source: Send + Sync + 'static {
    /// The newest snapshot. Called from blocking threads, once for each request.
    fn snapshot(&self) -> Arc<dyn Answers>;

    /// The gates as the trusted layers and the editor set them now. Called on the threads that
    /// serve the wires: it must not take long.
    fn gates(&self) -> Gates {
        self.snapshot().gates()
    }

    /// The adapters at work; `None` where none can be called.
    fn engine(&self) -> Option<Engine>;

    /// Reports every change of the snapshot. Dropping the sender ends open subscriptions in good
    /// order.
    fn subscribe(&self) -> watch::Receiver<Revision>;
}

/// What `kontext_check` is asked about. Paths are as the agent wrote them: absolute, or relative
/// to the workspace's root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckTarget<'a> {
    /// Every layer, and every open configuration document.
    Workspace,
    /// One file: its open buffer where there is one, else the disk.
    Path(&'a str),
    /// A text that is no file, checked alone.
    Text(&'a str),
    /// A text as if it stood in that file.
    TextAt {
        /// The file it is to replace in thought.
        path: &'a str,
        /// The whole text.
        text: &'a str,
    },
}

/// One immutable snapshot, as the agent sees it.
///
/// Methods may take their time (they run on a blocking thread) and may panic without harm to the
/// session: the caller gets an error.
pub trait Answers: Send + Sync {
    /// Counts up with every change of the picture.
    fn version(&self) -> u64 {
        0
    }

    /// The gates as the trusted layers and the editor set them.
    fn gates(&self) -> Gates;

    /// For `kontext_status`.
    fn status(&self) -> Status;

    /// For `kontext_snapshot`.
    fn snapshot(&self) -> Snapshot;

    /// For `kontext_check`.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read or is none of the configuration's.
    fn check(&self, target: CheckTarget<'_>) -> Result<Checked, AnswerError>;

    /// For `kontext_explain`: a field (`adapters.docs.url`, `url`), a diagnostic code or the name
    /// of an adapter.
    ///
    /// # Errors
    ///
    /// Where nothing has that name; the words name the nearest that do.
    fn explain(&self, of: &str) -> Result<Explanation, AnswerError>;

    /// For `kontext_preview`: the request an op would make with these inputs, secrets masked; or,
    /// with a payload, the hits that the op makes of it.
    ///
    /// # Errors
    ///
    /// Where there is no such adapter or op, or the request would be refused: with the reason.
    fn preview(
        &self,
        adapter: &str,
        op: &str,
        inputs: &Map<String, Value>,
        payload: Option<&Value>,
    ) -> Result<Preview, AnswerError>;

    /// The effective configuration with the origin of each value, secrets masked.
    fn effective(&self) -> Value;

    /// The layers in their order, those that do not exist included.
    fn layers(&self) -> Vec<Layer>;

    /// The text of one layer by [`Layer::layer`]; `None` for an unknown name.
    fn layer(&self, layer: &str) -> Option<LayerText>;

    /// The JSON Schema of the configuration.
    fn schema(&self) -> Value;

    /// The adapters whose servers have a log: those that were started.
    fn logs(&self) -> Vec<String>;

    /// The log of an adapter's server, secrets masked; `None` where none was started.
    fn log(&self, adapter: &str) -> Option<String>;

    /// The pages of the field reference, in their order.
    fn pages(&self) -> Vec<Page>;

    /// The text of one page by [`Page::page`], in Markdown; `None` for an unknown name.
    fn page(&self, page: &str) -> Option<String>;
}

/// Why a question has no answer, in words for the agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AnswerError(pub String);
