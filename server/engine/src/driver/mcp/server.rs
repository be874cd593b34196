//! The handle to a server.

use std::sync::Arc;
use std::time::Duration;

use kontext_syntax::json::is_nested_deeper;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::{broadcast, watch};
use tokio::time::Instant;

use super::log::Log;
use super::pending::Failure;
use super::session::{Exchange, Session, Wire};
use super::supervisor::{Inner, Look};
use super::{CallFault, CallOptions, ServerSpec, State, Tools, decode, http, message};
use crate::driver::{MOST_READ, excerpt, too_large};
use crate::fault::{Fault, FaultKind};

/// How deep a result may be nested: common parsers read 127 levels, and the message around the
/// result is one.
const MOST_NESTED: usize = 126;

/// How often a tool may ask for more within one call (2026-07-28).
const MOST_ROUNDS: usize = 10;

/// A server: started when it is needed, used by many at a time, started again after a crash.
///
/// Cheap to clone; the last clone that is dropped ends the child. Needs a tokio runtime.
#[derive(Clone, Debug)]
pub struct Server(Arc<Handle>);

#[derive(Debug)]
struct Handle(Arc<Inner>);

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.let_go();
    }
}

impl Server {
    /// A server that has not been started.
    pub fn new(spec: ServerSpec) -> Self {
        Self(Arc::new(Handle(Arc::new(Inner::new(spec)))))
    }

    fn inner(&self) -> &Arc<Inner> {
        &self.0.0
    }

    /// What it was made from.
    pub fn spec(&self) -> &ServerSpec {
        &self.inner().spec
    }

    /// Begins to start it in the background, unless it runs, is starting or rests after failures.
    pub fn start(&self) {
        self.inner().start();
    }

    /// Changes the time limit of requests without one of their own, and of the next start. What
    /// has begun keeps its limit.
    pub fn set_timeout(&self, timeout: Duration) {
        self.inner().set_timeout(timeout);
    }

    /// Stops it, forgets its failures and begins to start it again.
    pub async fn restart(&self) {
        self.stop().await;
        self.inner().start_afresh();
    }

    /// Ends it: closes its input, waits, asks, kills, what it has started included. Returns once
    /// it is gone and the rest has been killed. Calls that wait are ended with an error.
    pub async fn stop(&self) {
        self.inner().stop().await;
    }

    /// How it does, and each change.
    pub fn state(&self) -> watch::Receiver<State> {
        self.inner().state()
    }

    /// The tools as last listed; those of the last session where it does not run.
    pub fn tools(&self) -> Arc<Tools> {
        self.inner().tools()
    }

    /// The tools, and each refreshed list; a burst of changes is one refresh.
    pub fn subscribe_tools(&self) -> watch::Receiver<Arc<Tools>> {
        self.inner().subscribe_tools()
    }

    /// What it has written besides the protocol.
    pub fn log(&self) -> &Log {
        &self.inner().common.log
    }

    /// The parameters of its `notifications/message` from now on. A subscriber that is too slow
    /// misses the oldest.
    pub fn messages(&self) -> broadcast::Receiver<Arc<Value>> {
        self.inner().common.messages.subscribe()
    }

    /// Waits until it answers; starts it where that is needed and allowed.
    ///
    /// # Errors
    ///
    /// It is still starting after `within` (it goes on starting), it could not be started, rests
    /// after failures or was stopped.
    pub async fn ready(&self, within: Duration) -> Result<(), Fault> {
        self.session(within).await.map(drop)
    }

    async fn session(&self, within: Duration) -> Result<Arc<Session>, Fault> {
        let inner = self.inner();
        if let Some(session) = inner.running() {
            return Ok(session);
        }
        let deadline = Instant::now() + within;
        let mut state = inner.state();
        let mut may_start = true;
        loop {
            state.mark_unchanged();
            match inner.look(may_start) {
                Look::Ready(session) => return Ok(session),
                Look::Refused(fault) => return Err(inner.redacted(fault)),
                Look::Starting => may_start = false,
                // It has just ended; what is made of that shows in a moment.
                Look::Ending => {}
            }
            if tokio::time::timeout_at(deadline, state.changed())
                .await
                .is_err()
            {
                return Err(inner.still_starting());
            }
        }
    }

    /// Calls a tool; the whole result object, an `isError` result too. Dropping the future
    /// cancels the call.
    ///
    /// # Errors
    ///
    /// See [`Server::call_raw`]; besides, the result is not an object, or nested too deeply.
    pub async fn call_tool(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        options: CallOptions,
    ) -> Result<Value, Fault> {
        let params = json!({"name": tool, "arguments": arguments}).to_string();
        let result = match self.call("tools/call", &params, options).await {
            Ok(result) => result,
            Err(fault) => return Err(self.inner().redacted(fault.into_fault())),
        };
        match decode::value(result.get()) {
            Ok(value @ Value::Object(_)) => Ok(value),
            Ok(_) => Err(Fault::new(
                FaultKind::Malformed,
                "the server's result is not an object",
            )),
            Err(error) => Err(Fault::new(
                FaultKind::Malformed,
                format!("the server's result cannot be read: {error}"),
            )),
        }
    }

    /// Calls any method with parameters as JSON text, and gives the result as it was written.
    /// Dropping the future cancels the call. Nothing is sent twice, but where the server has
    /// refused a call unseen because its HTTP session had expired.
    ///
    /// # Errors
    ///
    /// The server cannot be used (see [`Server::ready`]), gives no answer in time, ends meanwhile,
    /// answers with more than [`MOST_READ`] bytes, with JSON nested too deeply for most parsers, or
    /// with an error, which comes verbatim.
    pub async fn call_raw(
        &self,
        method: &str,
        params: &RawValue,
        options: CallOptions,
    ) -> Result<Box<RawValue>, CallFault> {
        self.call(method, params.get(), options).await
    }

    /// The same with values.
    ///
    /// # Errors
    ///
    /// See [`Server::call_raw`].
    pub async fn request(
        &self,
        method: &str,
        params: &Value,
        options: CallOptions,
    ) -> Result<Value, CallFault> {
        let result = self.call(method, &params.to_string(), options).await?;
        decode::value(result.get()).map_err(|error| {
            CallFault::Fault(Fault::new(
                FaultKind::Malformed,
                format!("the server's result cannot be read: {error}"),
            ))
        })
    }

    async fn call(
        &self,
        method: &str,
        params: &str,
        options: CallOptions,
    ) -> Result<Box<RawValue>, CallFault> {
        let limit = options.timeout.unwrap_or(self.inner().timeout());
        let with_meta;
        let params = match options.meta {
            Some(meta) => {
                with_meta = message::with_meta(params, meta);
                &with_meta
            }
            None => params,
        };
        let mut renewed = false;
        loop {
            let session = self.session(limit).await.map_err(CallFault::Fault)?;
            let progress = options.progress.clone();
            let outcome = self.rounds(&session, method, params, limit, progress).await;
            match outcome {
                Ok(result) if result.get().len() > MOST_READ => {
                    session.serves();
                    return Err(CallFault::Fault(too_large("the server")));
                }
                Ok(result) if is_nested_deeper(result.get().as_bytes(), MOST_NESTED) => {
                    session.serves();
                    return Err(CallFault::Fault(too_deep()));
                }
                Ok(result) => {
                    session.serves();
                    return Ok(result);
                }
                Err(Failure::Rpc(error))
                    if is_nested_deeper(error.raw.get().as_bytes(), MOST_NESTED) =>
                {
                    session.serves();
                    return Err(CallFault::Fault(too_deep()));
                }
                Err(Failure::Rpc(error)) => {
                    session.serves();
                    return Err(CallFault::Rpc(error));
                }
                Err(Failure::Expired) if !renewed => renewed = true,
                Err(Failure::Expired) => {
                    return Err(CallFault::Fault(Fault::new(
                        FaultKind::Unreachable,
                        "the server does not know the session it has just opened",
                    )));
                }
                Err(Failure::Fault(fault)) => {
                    return Err(CallFault::Fault(self.inner().redacted(fault)));
                }
            }
        }
    }

    /// One call; in the newest protocol a tool may ask for our roots on the way.
    async fn rounds(
        &self,
        session: &Arc<Session>,
        method: &str,
        params: &str,
        limit: Duration,
        progress: Option<super::pending::Progress>,
    ) -> Result<Box<RawValue>, Failure> {
        let headers = self.headers(session, method, params);
        let mut params = std::borrow::Cow::Borrowed(params);
        for _ in 0..MOST_ROUNDS {
            let exchange = Exchange {
                timeout: Some(limit),
                progress: progress.clone(),
                quiet: false,
                headers: headers.clone(),
            };
            let result = session.call(method, &params, exchange).await?;
            if !session.is_modern() {
                return Ok(result);
            }
            let Some(asked) = Asked::read(&result) else {
                return Ok(result);
            };
            params = asked
                .answered(&params, session.common.roots())
                .map_err(Failure::Fault)?
                .into();
        }
        Err(Failure::Fault(Fault::new(
            FaultKind::Failed,
            format!("the server asked for more {MOST_ROUNDS} times and gave no result"),
        )))
    }

    fn headers(&self, session: &Session, method: &str, params: &str) -> Vec<(String, String)> {
        let marked =
            session.is_modern() && matches!(session.wire, Wire::Http(_)) && method == "tools/call";
        if !marked {
            return Vec::new();
        }
        let Ok(params) = serde_json::from_str::<Value>(params) else {
            return Vec::new();
        };
        let name = params.get("name").and_then(Value::as_str);
        let tools = self.tools();
        let schema = name.and_then(|name| tools.get(name)?.get("inputSchema"));
        match (schema, params.get("arguments")) {
            (Some(schema), Some(arguments)) => http::for_arguments(schema, arguments),
            _ => Vec::new(),
        }
    }
}

/// A result that asks for input (`resultType` `input_required`, 2026-07-28).
#[derive(Deserialize)]
struct Asked {
    #[serde(rename = "resultType")]
    kind: String,
    #[serde(default, rename = "inputRequests")]
    requests: Map<String, Value>,
    #[serde(default, rename = "requestState")]
    state: Option<Value>,
}

impl Asked {
    fn read(result: &RawValue) -> Option<Self> {
        const KIND: &str = "input_required";
        memchr::memmem::find(result.get().as_bytes(), KIND.as_bytes())?;
        let asked: Self = serde_json::from_str(result.get()).ok()?;
        (asked.kind == KIND).then_some(asked)
    }

    /// The parameters of the next round.
    fn answered(self, params: &str, roots: &Value) -> Result<String, Fault> {
        let mut answers = Map::new();
        for (key, request) in self.requests {
            let method = request.get("method").and_then(Value::as_str);
            if method != Some("roots/list") {
                return Err(Fault::new(
                    FaultKind::Failed,
                    format!(
                        "the tool asks for input (`{}`), which is not supported",
                        excerpt(method.unwrap_or_default(), 80)
                    ),
                ));
            }
            answers.insert(key, roots.clone());
        }
        let mut params: Map<String, Value> = serde_json::from_str(params).unwrap_or_default();
        if answers.is_empty() {
            params.shift_remove("inputResponses");
        } else {
            params.insert("inputResponses".to_owned(), Value::Object(answers));
        }
        match self.state {
            Some(state) => params.insert("requestState".to_owned(), state),
            None => params.shift_remove("requestState"),
        };
        Ok(Value::Object(params).to_string())
    }
}

fn too_deep() -> Fault {
    let words = format!("the server's answer is nested more than {MOST_NESTED} levels deep");
    Fault::new(FaultKind::Malformed, words)
}
