//! One connection to a server: calls out, answers back, and what the server says by itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::{oneshot, watch};

use super::common::Common;
use super::decode;
use super::http::HttpWire;
use super::inbox::{Inbox, Over};
use super::log::Source;
use super::message::{self, Incoming, METHOD_NOT_FOUND};
use super::pending::{Failure, Outcome, Pending, Progress, Taken, strange_words};
use super::protocol::{Protocol, client_meta};
use super::stdio::StdioWire;
use crate::fault::{Fault, FaultKind};

/// How messages travel.
#[derive(Debug)]
pub(super) enum Wire {
    Stdio(StdioWire),
    Http(HttpWire),
}

/// How one call is made.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    /// How long to wait; for ever without.
    pub(super) timeout: Option<Duration>,
    pub(super) progress: Option<Progress>,
    /// Not to be cancelled: the handshake.
    pub(super) quiet: bool,
    /// Headers besides those that every call has (HTTP).
    pub(super) headers: Vec<(String, String)>,
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) common: Arc<Common>,
    pub(super) wire: Wire,
    pending: Mutex<Pending>,
    protocol: OnceLock<Protocol>,
    /// A call has been answered: the server does work.
    served: AtomicBool,
    /// Why it is over, once it is. Calls that wait are told a little later.
    over: watch::Sender<Option<Over>>,
}

impl Session {
    pub(super) fn new(common: Arc<Common>, wire: Wire) -> Arc<Self> {
        Arc::new(Self {
            common,
            wire,
            pending: Mutex::default(),
            protocol: OnceLock::new(),
            served: AtomicBool::new(false),
            over: watch::Sender::new(None),
        })
    }

    pub(super) fn is_modern(&self) -> bool {
        self.protocol().is_some_and(|protocol| protocol.modern)
    }

    /// Every later call follows this protocol.
    pub(super) fn agree(&self, protocol: Protocol) {
        let _ = self.protocol.set(protocol);
    }

    /// The handshake is over.
    pub(super) fn opened(&self) {
        self.pending(Pending::relax);
    }

    /// A call has been answered.
    pub(super) fn serves(&self) {
        self.served.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_served(&self) -> bool {
        self.served.load(Ordering::Relaxed)
    }

    /// Waits until the connection is over.
    pub(super) async fn ended(&self) -> Over {
        let mut over = self.over.subscribe();
        match over.wait_for(Option::is_some).await {
            Ok(over) => over.clone().unwrap_or(Over::Ended),
            Err(_) => Over::Ended,
        }
    }

    /// Ends all calls with a reason.
    pub(super) fn close(&self, fault: &Fault) {
        self.pending(|pending| pending.close(fault));
    }

    /// Takes no more calls, but lets those that wait come to their end.
    pub(super) fn retire(&self) {
        let fault = Fault::new(FaultKind::Unreachable, "the session has expired");
        self.pending(|pending| pending.refuse(fault));
    }

    /// The server's standard input, where it is a child.
    pub(super) fn input(&self) -> Option<&StdioWire> {
        match &self.wire {
            Wire::Stdio(wire) => Some(wire),
            Wire::Http(_) => None,
        }
    }

    fn pending<T>(&self, look: impl FnOnce(&mut Pending) -> T) -> T {
        look(&mut self.pending.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls a method and waits for its answer. Dropping the future cancels the call.
    pub(super) async fn call(
        self: &Arc<Self>,
        method: &str,
        params: &str,
        exchange: Exchange,
    ) -> Outcome {
        let wants_progress = exchange.progress.is_some();
        let (id, outcome) = self
            .pending(|pending| pending.register(exchange.progress))
            .map_err(Failure::Fault)?;
        let mut guard = Guard {
            session: self,
            id,
            quiet: exchange.quiet,
            reason: "the caller does not wait any more",
            task: None,
            done: false,
        };
        let mut meta = if self.is_modern() {
            client_meta()
        } else {
            Map::new()
        };
        if wants_progress {
            meta.insert("progressToken".to_owned(), Value::from(id));
        }
        let line = if meta.is_empty() {
            message::request(id, method, params)
        } else {
            message::request(id, method, &message::with_meta(params, meta))
        };
        match &self.wire {
            Wire::Stdio(wire) => wire.send(line.into_bytes()).map_err(Failure::Fault)?,
            Wire::Http(wire) => {
                let inbox = Arc::clone(self) as Arc<dyn Inbox>;
                let task = wire.request(inbox, id, method, params, line, exchange.headers);
                guard.task = Some(task);
            }
        }
        let outcome = match exchange.timeout {
            None => outcome.await,
            Some(limit) => match tokio::time::timeout(limit, outcome).await {
                Ok(outcome) => outcome,
                Err(_) => {
                    guard.reason = "no answer in time";
                    let strange = self
                        .pending(|pending| pending.forget(id))
                        .and_then(|waiter| waiter.strange);
                    return Err(Failure::Fault(timed_out(limit, strange.as_deref())));
                }
            },
        };
        guard.done = true;
        outcome.unwrap_or_else(|oneshot::error::RecvError { .. }| {
            let words = "the connection to the server was given up";
            Err(Failure::Fault(Fault::new(FaultKind::Unreachable, words)))
        })
    }

    /// Sends a notification. Over HTTP it has been taken once this returns.
    pub(super) async fn notify(&self, method: &str, params: Option<&Value>) {
        let line = message::notification(method, params);
        match &self.wire {
            Wire::Stdio(wire) => {
                let _ = wire.send(line.into_bytes());
            }
            Wire::Http(wire) => {
                wire.tell(line, self.protocol(), Some(method)).await;
            }
        }
    }

    /// Sends something nobody waits for.
    fn send(&self, line: String, method: Option<&str>) {
        match &self.wire {
            Wire::Stdio(wire) => {
                let _ = wire.send(line.into_bytes());
            }
            Wire::Http(wire) => {
                let (wire, protocol) = (wire.clone(), self.protocol().cloned());
                let method = method.map(str::to_owned);
                if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                    runtime.spawn(async move {
                        wire.tell(line, protocol.as_ref(), method.as_deref()).await;
                    });
                }
            }
        }
    }

    fn answered(
        &self,
        id: message::Id<'_>,
        of: Option<u64>,
        outcome: Result<&RawValue, message::RpcError>,
    ) {
        // Copied out of the line before the lock is taken.
        let outcome = outcome.map(RawValue::to_owned);
        match self.pending(|pending| pending.take(id, of, outcome)) {
            Taken::Yes => {}
            Taken::Late => self.common.log.note(&format!(
                "an answer with id {id} came after its call had been given up; it was ignored"
            )),
            Taken::Strange => self.common.log.note(&strange_words(&id.to_string())),
        }
    }

    fn respond(&self, method: &str) -> Result<Value, (i64, String)> {
        match method {
            "ping" => Ok(json!({})),
            "roots/list" => Ok(self.common.roots().clone()),
            _ => {
                let shown = crate::driver::excerpt(method, 80);
                self.common.log.note(&format!(
                    "the server asked for `{shown}`, which was declined"
                ));
                Err((METHOD_NOT_FOUND, format!("`{shown}` is not supported")))
            }
        }
    }

    fn told(&self, method: &str, params: Option<&RawValue>) {
        match method {
            "notifications/tools/list_changed" => self.common.changed.notify_one(),
            "notifications/progress" => {
                let Some(params) = decoded(params) else {
                    return;
                };
                let token = match params.get("progressToken") {
                    Some(Value::String(token)) => token.parse().ok(),
                    Some(token) => token.as_u64(),
                    None => None,
                };
                if let Some(token) = token {
                    self.pending(|pending| pending.progress(token, params));
                }
            }
            "notifications/message" => {
                if let Some(params) = decoded(params) {
                    let _ = self.common.messages.send(Arc::new(params));
                }
            }
            _ => {}
        }
    }
}

fn decoded(params: Option<&RawValue>) -> Option<Value> {
    decode::value(params?.get()).ok()
}

impl Inbox for Session {
    fn protocol(&self) -> Option<&Protocol> {
        self.protocol.get()
    }

    fn receive(&self, text: &str, of: Option<u64>) {
        let stray = |stray: &str| self.common.log.add(Source::Stray, stray);
        for message in message::read(text, stray) {
            match message {
                Incoming::Answer { id, outcome } => self.answered(id, of, outcome),
                Incoming::Request { id, method } => {
                    let line = message::answer(id, self.respond(&method));
                    self.send(line, None);
                }
                Incoming::Notification { method, params } => self.told(&method, params),
            }
        }
    }

    fn is_waiting(&self, id: u64) -> bool {
        self.pending(|pending| pending.is_waiting(id))
    }

    fn fail(&self, id: u64, failure: Failure) {
        self.pending(|pending| pending.fail(id, failure));
    }

    fn end(&self, over: Over) {
        self.over.send_if_modified(|known| {
            let new = known.is_none();
            if new {
                *known = Some(over);
            }
            new
        });
    }

    fn is_over(&self) -> bool {
        self.over.borrow().is_some()
    }
}

/// A call that is being waited for. Ends it where the waiting ends before the answer.
struct Guard<'a> {
    session: &'a Arc<Session>,
    id: u64,
    quiet: bool,
    reason: &'static str,
    task: Option<tokio::task::AbortHandle>,
    done: bool,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        self.session.pending(|pending| pending.forget(self.id));
        if let Some(task) = &self.task {
            task.abort();
        }
        // In the newest protocol over HTTP, closing the answer's stream says it.
        let said = self.task.is_some() && self.session.is_modern();
        if !self.quiet && !said && !self.session.is_over() {
            let params = json!({"requestId": self.id, "reason": self.reason});
            let method = "notifications/cancelled";
            let line = message::notification(method, Some(&params));
            self.session.send(line, Some(method));
        }
    }
}

fn timed_out(limit: Duration, strange: Option<&str>) -> Fault {
    let words = format!("no answer within {} ms", limit.as_millis());
    match strange {
        Some(id) => {
            let words = format!("{words}; {}", strange_words(id));
            Fault::new(FaultKind::TimedOut, words)
        }
        None => Fault::timed_out(words),
    }
}
