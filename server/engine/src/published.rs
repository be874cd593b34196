//! Calls of the tools that adapters offer to agents (adapters.md section 8).

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use crate::call::CallError;
use crate::catalogue::{Origin, Published};
use crate::driver::mcp::{CallFault, CallOptions, RpcError, Tools};
use crate::engine::{Engine, state_name};
use crate::fault::Fault;

/// How long a server may take to start at least, when it is started for itself.
const START: Duration = Duration::from_secs(45);

/// Why a call of a tool gave no result.
#[derive(Debug)]
pub enum RawFault {
    /// The server answered with a protocol error, to be passed on.
    Protocol(RpcError),
    /// There was no answer.
    Call(CallError),
}

/// A server that was started, and what it offers.
#[derive(Debug)]
pub struct Spawned {
    /// Its state in a word.
    pub state: &'static str,
    /// Its tools, and what it says of itself.
    pub tools: Arc<Tools>,
}

impl Engine {
    /// Calls a tool. `arguments` and `meta` are those of the agent's `tools/call`; for a tool of a
    /// server they pass as they are, and its `result` comes back as it was sent. The server's
    /// progress notifications (their `params`) go to `progress`. Dropping the future cancels the
    /// call.
    ///
    /// # Errors
    /// See [`RawFault`].
    pub async fn call_published(
        &self,
        tool: &Published,
        arguments: Option<Value>,
        meta: Option<Value>,
        progress: Option<mpsc::UnboundedSender<Value>>,
    ) -> Result<Box<RawValue>, RawFault> {
        match &tool.origin {
            Origin::Server(own) => {
                let call = self.call_server(&tool.adapter, own, arguments, meta, progress);
                call.await
            }
            Origin::Declared(at) => {
                let text = self.call_declared_at(&tool.adapter, *at, arguments).await;
                let text = text.map_err(RawFault::Call)?;
                let result = json!({"content": [{"type": "text", "text": text}]});
                Ok(serde_json::value::to_raw_value(&result).unwrap_or_default())
            }
        }
    }

    async fn call_declared_at(
        &self,
        adapter: &str,
        at: usize,
        arguments: Option<Value>,
    ) -> Result<String, CallError> {
        let fails = CallError::at(adapter, None);
        let plan = self.plan();
        let planned = plan.callable(adapter).map_err(fails)?;
        let Some(tool) = planned.adapter.tools.get(at) else {
            return Err(fails(Fault::refused("the tool is not configured any more")));
        };
        let arguments = match arguments {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments,
            Some(_) => {
                return Err(fails(Fault::refused("`arguments` must be an object")));
            }
        };
        self.call_declared(adapter, tool, arguments).await
    }

    async fn call_server(
        &self,
        adapter: &str,
        tool: &str,
        arguments: Option<Value>,
        meta: Option<Value>,
        progress: Option<mpsc::UnboundedSender<Value>>,
    ) -> Result<Box<RawValue>, RawFault> {
        let at = CallError::at(adapter, Some(tool));
        let fails = |fault| RawFault::Call(at(fault));
        let plan = self.plan();
        let planned = plan.callable(adapter).map_err(fails)?;
        let redacted = |fault| fails(planned.redactor().fault(fault));
        let server = self.server(planned).map_err(redacted)?;
        let options = CallOptions {
            timeout: Some(planned.timeout()),
            progress,
            meta: match meta {
                Some(Value::Object(meta)) => Some(passed_on(meta)),
                _ => None,
            },
        };
        let mut params = Map::new();
        params.insert("name".to_owned(), tool.into());
        if let Some(arguments) = arguments {
            params.insert("arguments".to_owned(), arguments);
        }
        let params = serde_json::value::to_raw_value(&params).unwrap_or_default();
        let called = server.call_raw("tools/call", &params, options).await;
        called.map_err(|fault| match fault {
            CallFault::Rpc(error) => RawFault::Protocol(error),
            CallFault::Fault(fault) => fails(fault),
        })
    }

    /// Starts the server of an adapter, anew where it runs, and lists its tools.
    ///
    /// # Errors
    /// The adapter is not active or has no server, or the server does not start in time.
    pub async fn spawn(&self, adapter: &str) -> Result<Spawned, CallError> {
        let fails = CallError::at(adapter, None);
        let plan = self.plan();
        let planned = plan.callable(adapter).map_err(fails)?;
        if planned.adapter.driver != Some(kontext_config::schema::Driver::Mcp) {
            return Err(fails(Fault::refused(
                "it has no server: only the driver mcp starts one",
            )));
        }
        let server = self.restart(planned).await.map_err(fails)?;
        let limit = planned.timeout().max(START);
        let ready = server.ready(limit).await;
        ready.map_err(|fault| fails(planned.redactor().fault(fault)))?;
        let tools = server.tools();
        let state = server.state().borrow().clone();
        Ok(Spawned {
            state: state_name(&state),
            tools,
        })
    }
}

/// What of an agent's `_meta` is passed on: its own remarks, not what belongs to its connection.
fn passed_on(mut meta: Map<String, Value>) -> Map<String, Value> {
    meta.retain(|name, _| name != "progressToken" && !name.starts_with("io.modelcontextprotocol/"));
    meta
}

#[cfg(test)]
mod tests;
