//! An agent: MCP in JSON lines over the stdio of the real binary.

use std::ops::{Deref, DerefMut};

use serde_json::{Value, json};

use super::Fixture;
use super::peer::{Framing, Peer};

/// An MCP client. Requests, notifications and waiting: see [`Peer`].
pub struct McpClient {
    peer: Peer,
}

impl Deref for McpClient {
    type Target = Peer;

    fn deref(&self) -> &Peer {
        &self.peer
    }
}

impl DerefMut for McpClient {
    fn deref_mut(&mut self) -> &mut Peer {
        &mut self.peer
    }
}

impl McpClient {
    /// Starts `kontext-ls mcp` with these further arguments in the fixture's workspace.
    pub fn spawn(place: &Fixture, args: &[&str]) -> McpClient {
        let args: Vec<&str> = ["mcp"].iter().chain(args).copied().collect();
        McpClient {
            peer: Peer::spawn(place.command(&args), Framing::Lines),
        }
    }

    /// The same in another folder of the workspace.
    pub fn spawn_in(place: &Fixture, args: &[&str], folder: &str) -> McpClient {
        let args: Vec<&str> = ["mcp"].iter().chain(args).copied().collect();
        let mut command = place.command(&args);
        command.current_dir(place.path(folder));
        McpClient {
            peer: Peer::spawn(command, Framing::Lines),
        }
    }

    /// Over any pair of streams.
    pub fn over<T>(stream: T) -> McpClient
    where
        T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + 'static,
    {
        let (input, output) = tokio::io::split(stream);
        McpClient {
            peer: Peer::over(input, output, Framing::Lines),
        }
    }

    /// The handshake of the protocol versions that have one; the result of `initialize`.
    pub async fn initialize(&mut self, protocol: &str) -> Value {
        let info = json!({"name": "test", "version": "0"});
        let params = json!({"protocolVersion": protocol, "capabilities": {}, "clientInfo": info});
        let result = self.peer.request("initialize", params).await;
        self.peer.notify("notifications/initialized", Value::Null);
        result
    }

    /// The names of the tools.
    pub async fn tools(&mut self) -> Vec<String> {
        let result = self.peer.request("tools/list", json!({})).await;
        let tools = result["tools"].as_array().unwrap();
        tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Calls a tool; the whole result, which must not be a protocol error.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.peer
            .request("tools/call", json!({"name": tool, "arguments": arguments}))
            .await
    }

    /// Calls a tool that must succeed; its `structuredContent`.
    pub async fn structured(&mut self, tool: &str, arguments: Value) -> Value {
        let mut result = self.call(tool, arguments).await;
        assert_ne!(result["isError"], true, "{tool}: {result}");
        result["structuredContent"].take()
    }
    /// Subscribes to the effective configuration: whatever changes what the tools say is told from
    /// then on ([`McpClient::until`]).
    pub async fn watch(&mut self) {
        let uri = json!({"uri": "kontext://config/effective"});
        self.peer.request("resources/subscribe", uri).await;
    }

    /// Asks a tool for its `structuredContent`, and again after each notification of a change, until
    /// the answer `fits`. The notifications stay where they are.
    pub async fn until(
        &mut self,
        tool: &str,
        arguments: Value,
        fits: impl Fn(&Value) -> bool,
    ) -> Value {
        loop {
            let heard = self.peer.received(|received| received.notifications.len());
            let answer = self.structured(tool, arguments.clone()).await;
            if fits(&answer) {
                return answer;
            }
            eprintln!("{tool} does not fit yet: {answer}");
            self.peer
                .wait("a change", |received| {
                    (received.notifications.len() != heard).then_some(())
                })
                .await;
        }
    }
}
