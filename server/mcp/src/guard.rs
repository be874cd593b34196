//! The transport between a raw byte stream and rmcp's service loop.
//!
//! rmcp's own transport drops what it cannot parse, answers a misshapen request under id null and
//! ends the session over a notification that comes too early. Here every line is judged first:
//! what is no message, or comes at the wrong time, is answered at once and costs nothing else,
//! and rmcp sees only what it can serve. Because the guard alone decides about the order of the
//! lifecycle, rmcp runs without its own handshake phase (`serve_directly`); `initialize` and
//! `server/discover` reach the server like any other request.
//!
//! Invariants:
//!
//! - every request with a usable id is answered exactly once, unless it is cancelled;
//! - while `initialize` is being answered nothing behind it is read, so a client may send its
//!   next messages without waiting;
//! - calls of tools that adapters offer never reach rmcp (`lane`);
//! - one writer task owns the output: a line is written whole or, at the end, not at all.

use std::collections::{HashSet, VecDeque};
use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, ClientJsonRpcMessage, ClientNotification, ClientRequest,
    InitializeRequestParams, JsonRpcMessage, NumberOrString, ReadResourceRequestParams,
    ServerJsonRpcMessage, SubscribeRequestParams, SubscriptionsListenRequestParams,
};
use rmcp::service::{RoleServer, serve_directly};
use rmcp::transport::Transport;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;

use crate::jsonrpc::{self, Message};
use crate::lane::{Call, Lane};
use crate::lifecycle::{Admission, Lifecycle};
use crate::lines::{Line, Lines, MAX_LINE, write_lines};
use crate::server::KontextServer;
use crate::source::Source;

/// How many requests may be open before no more are read. Far above what an agent has open; a
/// flood waits in its own pipe and not in this process.
const MOST_IN_FLIGHT: usize = 1000;

/// How many answers may wait to be written.
const WAITING: usize = 64;

/// How long the last answers may take to leave once the session is over.
const LAST_WRITES: Duration = Duration::from_secs(2);

/// Serves one connection until the client closes it.
///
/// `reader` and `writer` carry one JSON-RPC message a line. Returns once the client's side has
/// ended and what was being answered has been written. Dropping the future ends the session.
pub async fn serve<R, W>(reader: R, writer: W, server: KontextServer)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let guard = Guard::new(reader, writer, server.source());
    let running = serve_directly::<RoleServer, _, _, _, _>(server, guard, None);
    if let Err(error) = running.waiting().await {
        tracing::error!(%error, "the service loop failed");
    }
}

/// What the reading and the writing half share.
struct Shared {
    state: Mutex<State>,
    /// True while `initialize` is being answered.
    initializing: watch::Sender<bool>,
    /// Told of each answer that leaves.
    left: Notify,
}

#[derive(Default)]
struct State {
    lifecycle: Lifecycle,
    initialize: Option<NumberOrString>,
    in_flight: HashSet<NumberOrString>,
    /// Those of `in_flight` that stay open until they are cancelled.
    listening: HashSet<NumberOrString>,
    /// Those of `in_flight` whose answer is a list of tools.
    listing: HashSet<NumberOrString>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing under the lock can panic half way, so a poisoned value is a whole one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the answer to `id` leaves now. Before it does, so that a client which uses the
    /// id again on receiving it is not refused.
    fn leaves(&self, id: &NumberOrString) {
        let mut state = self.state();
        state.in_flight.remove(id);
        state.listening.remove(id);
        state.listing.remove(id);
        drop(state);
        self.left.notify_one();
    }

    /// Waits until a further request may be taken on.
    async fn has_room(&self) {
        while self.state().in_flight.len() >= MOST_IN_FLIGHT {
            self.left.notified().await;
        }
    }

    /// Whether the answer to `id` is a list of tools.
    fn lists_tools(&self, id: &NumberOrString) -> bool {
        self.state().listing.contains(id)
    }

    /// Notes that the answer to `id` has left; `well` is false for an error.
    fn answered(&self, id: &NumberOrString, well: bool) {
        let mut state = self.state();
        if state.initialize.as_ref() == Some(id) {
            state.initialize = None;
            state.lifecycle.initialize_answered(well);
            drop(state);
            self.initializing.send_replace(false);
        }
    }
}

/// The transport. See the module's documentation.
struct Guard<R> {
    lines: Lines<R>,
    shared: Arc<Shared>,
    /// What does not go through rmcp.
    lane: Arc<Lane>,
    initializing: watch::Receiver<bool>,
    out: Option<mpsc::Sender<String>>,
    writer: Option<JoinHandle<()>>,
    /// An error answer that has not found room in `out` yet. Kept here because `receive` is
    /// dropped whenever rmcp has something else to do.
    owed: Option<String>,
    /// Made by the guard, to be handed on before anything else is read.
    made: VecDeque<ClientJsonRpcMessage>,
    ended: bool,
}

impl<R: AsyncRead + Send + Unpin + 'static> Guard<R> {
    fn new<W: AsyncWrite + Send + Unpin + 'static>(
        reader: R,
        writer: W,
        source: Arc<dyn Source>,
    ) -> Self {
        let (initializing, initializing_seen) = watch::channel(false);
        let (out, queue) = mpsc::channel(WAITING);
        Self {
            lines: Lines::new(reader, MAX_LINE),
            shared: Arc::new(Shared {
                state: Mutex::default(),
                initializing,
                left: Notify::new(),
            }),
            lane: Arc::new(Lane::new(source)),
            initializing: initializing_seen,
            out: Some(out),
            writer: Some(tokio::spawn(write_lines(writer, queue))),
            owed: None,
            made: VecDeque::new(),
            ended: false,
        }
    }

    /// What is to be handed on of one line; what is to be answered goes into `owed`.
    fn take(&mut self, line: &[u8]) -> Option<ClientJsonRpcMessage> {
        let message = match jsonrpc::parse(line) {
            Ok(message) => message,
            Err(fault) => {
                self.owed = fault.answer;
                return None;
            }
        };
        let mut state = self.shared.state();
        let id = match &message {
            Message::Request { id, .. } => serde_json::from_value(id.clone()).ok(),
            Message::Notification { .. } | Message::Response { .. } => None,
        };
        if let Some(id) = &id
            && state.in_flight.contains(id)
        {
            self.owed = refuse(
                &message,
                jsonrpc::INVALID_REQUEST,
                "a request with this id is still being answered",
            );
            return None;
        }
        let call = match &message {
            Message::Request { method, .. } => self.lane.takes(method, message.params()),
            Message::Notification { .. } | Message::Response { .. } => None,
        };
        if let (Some(id), Some(call)) = (&id, call) {
            match state.lifecycle.admit(&message) {
                Admission::Pass | Admission::PassAlone => {
                    state.in_flight.insert(id.clone());
                    drop(state);
                    self.beside(id.clone(), call, message);
                }
                Admission::Ignore => {}
                Admission::Refuse(words) => {
                    self.owed = refuse(&message, jsonrpc::INVALID_REQUEST, &words);
                }
            }
            return None;
        }
        let typed = match decode(&message) {
            Ok(typed) => typed,
            Err(refusal) => {
                self.owed = refusal;
                return None;
            }
        };
        match state.lifecycle.admit(&message) {
            Admission::Ignore => return None,
            Admission::Refuse(words) => {
                self.owed = refuse(&message, jsonrpc::INVALID_REQUEST, &words);
                return None;
            }
            Admission::Pass => {}
            Admission::PassAlone => {
                if let JsonRpcMessage::Request(request) = &typed {
                    state.initialize = Some(request.id.clone());
                    self.shared.initializing.send_replace(true);
                }
            }
        }
        match &message {
            Message::Request { method, .. } if method == "logging/setLevel" => {
                self.lane.set_level(message.params());
            }
            Message::Notification { method, .. } if method == "notifications/initialized" => {
                if let Some(out) = &self.out {
                    self.lane.tell(out.clone());
                }
            }
            _ => {}
        }
        match &typed {
            JsonRpcMessage::Request(request) => {
                if matches!(
                    request.request,
                    ClientRequest::SubscriptionsListenRequest(_)
                ) {
                    state.listening.insert(request.id.clone());
                }
                if matches!(request.request, ClientRequest::ListToolsRequest(_)) {
                    state.listing.insert(request.id.clone());
                }
                state.in_flight.insert(request.id.clone());
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // The handshake is not to be cancelled (2025-11-25, cancellation).
                    if state.initialize.as_ref() == Some(id) {
                        return None;
                    }
                    state.in_flight.remove(id);
                    state.listening.remove(id);
                    state.listing.remove(id);
                    self.shared.left.notify_one();
                    self.lane.cancel(id);
                }
            }
            _ => {}
        }
        Some(typed)
    }

    /// A call that does not go through rmcp.
    fn beside(&self, id: NumberOrString, call: Call, message: Message) {
        let Some(out) = self.out.clone() else { return };
        let params = match message.into_value() {
            Value::Object(mut body) => body.remove("params"),
            _ => None,
        };
        let params = match params {
            Some(Value::Object(params)) => params,
            _ => Map::new(),
        };
        let (shared, answers, answered) = (Arc::clone(&self.shared), out.clone(), id.clone());
        self.lane.run(id, call, params, out, async move |line| {
            shared.leaves(&answered);
            // A client that is gone needs no answer.
            let _ = answers.send(line).await;
        });
    }

    /// The client has gone: what waits for a cancellation gets it now, else rmcp would keep the
    /// connection for seconds.
    fn end(&mut self) {
        self.ended = true;
        let listening = std::mem::take(&mut self.shared.state().listening);
        for id in listening {
            let cancelled = json!({
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": {"requestId": id.into_json_value(), "reason": "the client closed the connection"},
            });
            if let Ok(message) = serde_json::from_value(cancelled) {
                self.made.push_back(message);
            }
        }
    }
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<RoleServer> for Guard<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let shared = self.shared.clone();
        let out = self.out.clone();
        let lane = self.lane.clone();
        async move {
            let line = match &item {
                JsonRpcMessage::Response(response) if shared.lists_tools(&response.id) => {
                    with_tools(&item, lane.listed())
                }
                _ => serde_json::to_string(&item),
            };
            let line = line.map_err(io::Error::other)?;
            let answer = match &item {
                JsonRpcMessage::Response(response) => Some((response.id.clone(), true)),
                JsonRpcMessage::Error(error) => error.id.clone().map(|id| (id, false)),
                _ => None,
            };
            if let Some((id, _)) = &answer {
                shared.leaves(id);
            }
            let sent = match out {
                Some(out) => out.send(line).await.map_err(|_| closed()),
                None => Err(closed()),
            };
            // Only now may what follows an `initialize` be read: its answer stands first.
            if let Some((id, well)) = &answer {
                shared.answered(id, *well);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.owed.is_some() {
                let permit = self.out.as_ref()?.reserve().await.ok()?;
                if let Some(line) = self.owed.take() {
                    permit.send(line);
                }
            }
            if let Some(message) = self.made.pop_front() {
                return Some(message);
            }
            if self.ended {
                return None;
            }
            self.shared.has_room().await;
            // The sender lives in `shared`, so this cannot fail.
            let _ = self.initializing.wait_for(|running| !running).await;
            match self.lines.next().await {
                Line::Bytes(line) => {
                    if let Some(message) = self.take(&line) {
                        return Some(message);
                    }
                }
                Line::TooLong(outline) => {
                    self.owed = Some(jsonrpc::too_long_line(MAX_LINE, &outline));
                }
                Line::End => self.end(),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.out = None;
        self.lane.fall_silent();
        if let Some(writer) = self.writer.take() {
            let stop = writer.abort_handle();
            // A client that does not read must not keep its connection for ever.
            if tokio::time::timeout(LAST_WRITES, writer).await.is_err() {
                stop.abort();
            }
        }
        Ok(())
    }
}

impl<R> Drop for Guard<R> {
    fn drop(&mut self) {
        if let Some(writer) = &self.writer {
            writer.abort();
        }
    }
}

/// A list of tools and what adapters offer besides, as they say it.
fn with_tools(item: &ServerJsonRpcMessage, more: Vec<Value>) -> serde_json::Result<String> {
    let mut message = serde_json::to_value(item)?;
    let tools = message.pointer_mut("/result/tools");
    if let Some(tools) = tools.and_then(Value::as_array_mut) {
        tools.extend(more);
    }
    serde_json::to_string(&message)
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the connection is closed")
}

fn refuse(message: &Message, code: i64, words: &str) -> Option<String> {
    match message {
        Message::Request { id, .. } => Some(jsonrpc::error_line(id, code, words)),
        Message::Notification { .. } | Message::Response { .. } => None,
    }
}

/// The message as rmcp types it.
///
/// It goes through a JSON value because rmcp's types buffer untagged, which reads numbers wrongly
/// straight from text when serde_json keeps their digits (`arbitrary_precision`).
///
/// # Errors
///
/// The line to answer, `None` where nothing may be answered.
fn decode(message: &Message) -> Result<ClientJsonRpcMessage, Option<String>> {
    let typed = serde_json::from_value::<ClientJsonRpcMessage>(message.clone().into_value());
    let typed = match typed {
        Ok(typed) => typed,
        Err(error) => {
            return Err(refuse(
                message,
                jsonrpc::INVALID_PARAMS,
                &format!("the parameters do not fit the method: {error}"),
            ));
        }
    };
    // rmcp takes a known method with parameters of the wrong shape for an unknown method.
    if let (JsonRpcMessage::Request(request), Message::Request { method, .. }) = (&typed, message)
        && matches!(request.request, ClientRequest::CustomRequest(_))
        && let Some(reason) = misfit(method, message)
    {
        return Err(refuse(
            message,
            jsonrpc::INVALID_PARAMS,
            &format!("the parameters of `{method}` do not fit: {reason}"),
        ));
    }
    Ok(typed)
}

/// Why the parameters of a method that is known do not fit it.
fn misfit(method: &str, message: &Message) -> Option<String> {
    fn reason<T: DeserializeOwned>(params: Value) -> String {
        match serde_json::from_value::<T>(params) {
            Ok(_) => "unexpected shape".to_owned(),
            Err(error) => error.to_string(),
        }
    }
    let params = Value::Object(message.params().cloned().unwrap_or_default());
    Some(match method {
        "initialize" => reason::<InitializeRequestParams>(params),
        "tools/call" => reason::<CallToolRequestParams>(params),
        "resources/read" => reason::<ReadResourceRequestParams>(params),
        "resources/subscribe" | "resources/unsubscribe" => reason::<SubscribeRequestParams>(params),
        "subscriptions/listen" => reason::<SubscriptionsListenRequestParams>(params),
        "ping"
        | "tools/list"
        | "resources/list"
        | "resources/templates/list"
        | "server/discover" => "unexpected shape".to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
