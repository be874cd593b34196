//! The agent's side of the tour: one MCP session.

use serde_json::{Value, json};

use super::sample::Sample;
use super::wire::{Fault, Framing, Peer};

/// The protocol version the agent of the tour speaks.
const PROTOCOL: &str = "2025-11-25";

/// An agent in the middle of its session.
#[derive(Debug)]
pub(super) struct Agent(Peer);

/// What a tool answers: text for the model, and the same as a value.
#[derive(Debug)]
pub(super) struct Answer {
    /// The text blocks.
    pub(super) text: String,
    /// `structuredContent`.
    pub(super) value: Value,
}

impl Agent {
    /// Starts `kontext-ls mcp` for the sample, as an agent's configuration does.
    pub(super) fn start(sample: &Sample, log: std::fs::File) -> Result<Self, Fault> {
        let root = sample.root();
        let dir = root.to_str().ok_or("the sample's path is not UTF-8")?;
        let mut peer = Peer::start(sample.command(&["mcp", "--dir", dir]), Framing::Lines, log)?;
        let info = json!({"name": "tour", "version": env!("CARGO_PKG_VERSION")});
        let params = json!({"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": info});
        peer.request("initialize", params)?;
        peer.notify("notifications/initialized", Value::Null)?;
        Ok(Self(peer))
    }

    /// The names of the tools.
    pub(super) fn tools(&mut self) -> Result<Vec<String>, Fault> {
        let result = self.0.request("tools/list", json!({}))?;
        let tools = result.get("tools").and_then(Value::as_array);
        let name = |tool: &Value| Some(tool.get("name")?.as_str()?.to_owned());
        Ok(tools.into_iter().flatten().filter_map(name).collect())
    }

    /// Calls a tool.
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> Result<Answer, Fault> {
        let result = self
            .0
            .request("tools/call", json!({"name": tool, "arguments": arguments}))?;
        let blocks = result.get("content").and_then(Value::as_array);
        let text = |block: &Value| Some(block.get("text")?.as_str()?.to_owned());
        let text: Vec<String> = blocks.into_iter().flatten().filter_map(text).collect();
        let text = text.join("\n");
        if result.get("isError").and_then(Value::as_bool) == Some(true) {
            return Err(format!("{tool}: {text}"));
        }
        Ok(Answer {
            text,
            value: result.get("structuredContent").cloned().unwrap_or_default(),
        })
    }

    /// Calls `kontext_status` until it says that an editor is there, or is not. Between two calls
    /// it waits to be told that something has changed.
    pub(super) fn status_when(&mut self, editor: bool) -> Result<Answer, Fault> {
        loop {
            let status = self.call("kontext_status", json!({}))?;
            if status.value.get("editor").and_then(Value::as_bool) == Some(editor) {
                return Ok(status);
            }
            self.0.notification("news of the editor", |method, _| {
                method.ends_with("/list_changed").then_some(())
            })?;
        }
    }
}
