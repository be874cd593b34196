//! Calls of tools that adapters offer. They pass beside rmcp, as raw JSON: its typed results
//! would lose what they do not know, and one odd block would sink a whole answer.
//!
//! Each call is a task of its own. It ends with its answer, with a cancellation (the task is
//! dropped, which tells the server behind it) or with the connection.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kontext_engine::{Engine, Published, RawFault};
use rmcp::model::NumberOrString;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use crate::arguments::nearest;
use crate::gates::{self, Class, Gates};
use crate::jsonrpc;
use crate::lifecycle::META_PROTOCOL_VERSION;
use crate::source::Source;
use crate::tools;

/// The lane of one connection. Dropping it ends what is running.
pub(crate) struct Lane {
    source: Arc<dyn Source>,
    /// From which level on the client hears what servers tell of themselves.
    level: Mutex<Level>,
    /// The task that passes it on; dropped with the lane.
    teller: Mutex<JoinSet<()>>,
    running: Mutex<HashMap<NumberOrString, AbortHandle>>,
}

/// A call that the lane takes.
pub(crate) struct Call {
    engine: Engine,
    gates: Gates,
    name: String,
    /// `None`: it may be one of a server that is still starting.
    tool: Option<Published>,
}

impl Lane {
    pub(crate) fn new(source: Arc<dyn Source>) -> Self {
        Self {
            source,
            level: Mutex::new(Level::Info),
            teller: Mutex::default(),
            running: Mutex::default(),
        }
    }

    /// The call, where it is one of a tool that an adapter offers.
    pub(crate) fn takes(&self, method: &str, params: Option<&Map<String, Value>>) -> Option<Call> {
        if method != "tools/call" {
            return None;
        }
        let name = params?.get("name")?.as_str()?;
        if tools::names().contains(&name) {
            return None;
        }
        let engine = self.source.engine()?;
        let gates = self.source.gates();
        let tool = engine.catalogue().get(name).cloned();
        let may_come = || gates.open_for(Class::WriteExternal) && engine.is_waiting_for_tools();
        if tool.is_none() && !may_come() {
            return None;
        }
        Some(Call {
            name: name.to_owned(),
            engine,
            gates,
            tool,
        })
    }

    /// Runs a call and hands the line that answers it to `answer`, once. Progress goes to `out`.
    pub(crate) fn run<F>(
        self: &Arc<Self>,
        id: NumberOrString,
        call: Call,
        params: Map<String, Value>,
        out: mpsc::Sender<String>,
        answer: impl FnOnce(String) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send,
    {
        let (lane, key, noted) = (Arc::downgrade(self), id.clone(), id.clone());
        // Held until the task is noted, so that its end is not noted before.
        let mut running = self.lock();
        let task = tokio::spawn(async move {
            let line = answer_line(id, call, params, out).await;
            if let Some(lane) = lane.upgrade() {
                lane.lock().remove(&key);
            }
            answer(line).await;
        });
        running.insert(noted, task.abort_handle());
    }

    /// The client has opened its session: from now on it hears what servers tell of themselves.
    pub(crate) fn tell(self: &Arc<Self>, out: mpsc::Sender<String>) {
        let Some(mut told) = self.source.engine().map(|engine| engine.messages()) else {
            return;
        };
        let lane = Arc::downgrade(self);
        let mut teller = self.teller.lock().unwrap_or_else(PoisonError::into_inner);
        if !teller.is_empty() {
            return;
        }
        teller.spawn(async move {
            loop {
                let (adapter, params) = match told.recv().await {
                    Ok(told) => told,
                    Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => return,
                };
                let Some(lane) = lane.upgrade() else { return };
                if Level::of(&params) < lane.level()
                    || !lane.source.gates().open_for(Class::External)
                {
                    continue;
                }
                if out.send(message_line(&adapter, &params)).await.is_err() {
                    return;
                }
            }
        });
    }

    /// The client has gone: what servers tell of themselves does not keep its connection open.
    pub(crate) fn fall_silent(&self) {
        let mut teller = self.teller.lock().unwrap_or_else(PoisonError::into_inner);
        teller.abort_all();
    }

    /// `logging/setLevel`, as the client sent it.
    pub(crate) fn set_level(&self, params: Option<&Map<String, Value>>) {
        if let Some(level) = params.and_then(|params| params.get("level")) {
            let level = level.as_str().map_or(Level::Info, Level::named);
            *self.level.lock().unwrap_or_else(PoisonError::into_inner) = level;
        }
    }

    fn level(&self) -> Level {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends a call that its client does not want any more.
    pub(crate) fn cancel(&self, id: &NumberOrString) {
        if let Some(task) = self.lock().remove(id) {
            task.abort();
        }
    }

    /// The entries that the tools of adapters add to `tools/list`.
    pub(crate) fn listed(&self) -> Vec<Value> {
        let (Some(engine), gates) = (self.source.engine(), self.source.gates()) else {
            return Vec::new();
        };
        if !gates.open_for(Class::External) {
            return Vec::new();
        }
        let catalogue = engine.catalogue();
        let open = catalogue
            .iter()
            .filter(|(_, tool)| gates.open_for(class(tool)));
        open.map(|(_, tool)| Value::clone(&tool.listed)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<NumberOrString, AbortHandle>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        for task in self.lock().values() {
            task.abort();
        }
    }
}

/// The levels of the protocol (those of syslog), least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl Level {
    fn named(name: &str) -> Self {
        match name {
            "debug" => Self::Debug,
            "notice" => Self::Notice,
            "warning" => Self::Warning,
            "error" => Self::Error,
            "critical" => Self::Critical,
            "alert" => Self::Alert,
            "emergency" => Self::Emergency,
            _ => Self::Info,
        }
    }

    fn of(params: &Value) -> Self {
        let level = params.get("level").and_then(Value::as_str);
        level.map_or(Self::Info, Self::named)
    }
}

/// What a server told, its logger under the adapter's name.
fn message_line(adapter: &str, params: &Value) -> String {
    let mut params = params.clone();
    if let Some(members) = params.as_object_mut() {
        let logger = match members.get("logger").and_then(Value::as_str) {
            Some(logger) => format!("{adapter}/{logger}"),
            None => adapter.to_owned(),
        };
        members.insert("logger".to_owned(), logger.into());
    }
    json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params}).to_string()
}

/// The gates a tool of an adapter stands behind.
fn class(tool: &Published) -> Class {
    if tool.writes {
        Class::WriteExternal
    } else {
        Class::External
    }
}

async fn answer_line(
    id: NumberOrString,
    call: Call,
    mut params: Map<String, Value>,
    out: mpsc::Sender<String>,
) -> String {
    let id = id.into_json_value();
    let tool = match call.tool {
        Some(tool) => Some(tool),
        None => call.engine.awaited_tool(&call.name).await,
    };
    let Some(tool) = tool else {
        let starting = call.engine.starting();
        if !starting.is_empty() {
            return result_line(&id, &tool_error(&not_yet(&call.name, &starting)));
        }
        let words = unknown(Some(&call.engine), &call.name);
        return jsonrpc::error_line(&id, jsonrpc::INVALID_PARAMS, &words);
    };
    let closed = call.gates.closed_for(class(&tool));
    if !closed.is_empty() {
        return result_line(&id, &tool_error(&gates::refusal(&call.name, &closed)));
    }
    let meta = params.remove("_meta");
    let modern = meta
        .as_ref()
        .is_some_and(|meta| meta.get(META_PROTOCOL_VERSION).is_some());
    let token = meta.as_ref().and_then(|meta| meta.get("progressToken"));
    let progress = token.cloned().map(|token| forward_progress(token, out));
    let arguments = params.remove("arguments");
    match call
        .engine
        .call_published(&tool, arguments, meta, progress)
        .await
    {
        Ok(result) if modern => result_line(&id, &completed(&result)),
        Ok(result) => result_line(&id, &result),
        Err(RawFault::Protocol(error)) => line(&id, "error", &error.raw),
        Err(RawFault::Call(fault)) => result_line(&id, &tool_error(&fault.to_string())),
    }
}

/// Why no tool of this name is called.
pub(crate) fn unknown(engine: Option<&Engine>, name: &str) -> String {
    let catalogue = engine.map(Engine::catalogue);
    let offered = catalogue.iter().flat_map(|catalogue| catalogue.names());
    let known = tools::names().iter().copied().chain(offered);
    match nearest(name, known) {
        Some(near) => format!("there is no tool `{name}`; did you mean `{near}`?"),
        None => format!("there is no tool `{name}`; `tools/list` names those there are"),
    }
}

/// Why a tool is not called that a server may yet offer.
fn not_yet(name: &str, starting: &[String]) -> String {
    let (servers, are) = match starting {
        [_] => ("the server of", "is"),
        _ => ("the servers of", "are"),
    };
    let names: Vec<String> = starting.iter().map(|name| format!("`{name}`")).collect();
    format!(
        "there is no tool `{name}` yet: {servers} {} {are} still starting, call again in a moment",
        names.join(", ")
    )
}

/// Passes a server's progress on under the client's own token.
fn forward_progress(token: Value, out: mpsc::Sender<String>) -> mpsc::UnboundedSender<Value> {
    let (sender, mut receiver) = mpsc::unbounded_channel::<Value>();
    tokio::spawn(async move {
        while let Some(mut params) = receiver.recv().await {
            if let Some(members) = params.as_object_mut() {
                members.insert("progressToken".to_owned(), token.clone());
            }
            let message = json!({
                "jsonrpc": "2.0", "method": "notifications/progress", "params": params,
            });
            if out.send(message.to_string()).await.is_err() {
                return;
            }
        }
    });
    sender
}

fn tool_error(words: &str) -> Box<RawValue> {
    raw(&json!({"content": [{"type": "text", "text": words}], "isError": true}))
}

fn raw(value: &Value) -> Box<RawValue> {
    // What came from JSON can be written as JSON.
    serde_json::value::to_raw_value(value).unwrap_or_default()
}

/// The result of a server of an earlier era as one of 2026-07-28: it says that it is complete.
fn completed(result: &RawValue) -> Box<RawValue> {
    match serde_json::from_str::<Map<String, Value>>(result.get()) {
        Ok(mut members) => {
            members
                .entry("resultType")
                .or_insert_with(|| "complete".into());
            raw(&Value::Object(members))
        }
        Err(_) => result.to_owned(),
    }
}

fn result_line(id: &Value, result: &RawValue) -> String {
    line(id, "result", result)
}

/// What a server said goes out as it came in; a line break in it would end the message early.
fn line(id: &Value, member: &str, result: &RawValue) -> String {
    let result = result.get();
    let mut line = format!(r#"{{"jsonrpc":"2.0","id":{id},"{member}":"#);
    line.reserve(result.len() + 1);
    // Between the tokens of JSON a line break is a blank, and in a string there is none.
    line.extend(
        result
            .chars()
            .map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }),
    );
    line.push('}');
    line
}
