//! Keeps one server: starts it, watches it, lists its tools, ends it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::json;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::common::Common;
use super::handshake;
use super::http::HttpWire;
use super::inbox::{Inbox, Over};
use super::log::Log;
use super::pending::Failure;
use super::protocol::Greeting;
use super::session::{Exchange, Session, Wire};
use super::tools::{self, words};
use super::{ServerSpec, State, Tools, TransportSpec, http, stdio};
use crate::fault::{Fault, FaultKind};

/// The least limit of a start.
const START: Duration = Duration::from_secs(45);

/// A session that lasted this long is no failed start.
const PROVEN: Duration = Duration::from_secs(60);

/// The longest rest after failures.
const MOST_REST: Duration = Duration::from_secs(60);

/// Changes of the tools are looked at once none has come for this long…
const QUIET: Duration = Duration::from_millis(100);

/// … or the first of them is this old.
const MOST_QUIET: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) spec: ServerSpec,
    pub(super) common: Arc<Common>,
    /// The time limit of its requests, in milliseconds; the first is that of `spec`.
    timeout: AtomicU64,
    slot: Mutex<Slot>,
    /// Follows `slot`; sent while its lock is held.
    state: watch::Sender<State>,
    tools: watch::Sender<Arc<Tools>>,
}

#[derive(Debug, Default)]
struct Slot {
    phase: Phase,
    /// Failed starts and crashes in a row.
    failures: u32,
    /// The task that keeps the server, while there is one.
    run: Option<Run>,
    /// Turns true, or closes, when the last task that kept the server is done.
    done: Option<watch::Receiver<()>>,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    NotStarted,
    Starting(Option<Instant>),
    Ready(Arc<Session>),
    Down {
        fault: Fault,
        until: Instant,
    },
    Stopped,
}

/// Dropping it ends the server.
#[derive(Debug)]
struct Run {
    _stop: oneshot::Sender<()>,
}

/// What a call finds.
pub(super) enum Look {
    Ready(Arc<Session>),
    Starting,
    Ending,
    Refused(Fault),
}

impl Inner {
    pub(super) fn new(spec: ServerSpec) -> Self {
        let common = Common::new(Log::new(spec.redactor.clone()), &spec.root);
        Self {
            common: Arc::new(common),
            timeout: AtomicU64::new(millis(spec.timeout)),
            slot: Mutex::default(),
            state: watch::Sender::new(State::NotStarted),
            tools: watch::Sender::default(),
            spec,
        }
    }

    /// The time limit of requests that begin now.
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout.load(Ordering::Relaxed))
    }

    pub(super) fn set_timeout(&self, timeout: Duration) {
        self.timeout.store(millis(timeout), Ordering::Relaxed);
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn state(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    pub(super) fn tools(&self) -> Arc<Tools> {
        Arc::clone(&self.tools.borrow())
    }

    pub(super) fn subscribe_tools(&self) -> watch::Receiver<Arc<Tools>> {
        self.tools.subscribe()
    }

    pub(super) fn redacted(&self, fault: Fault) -> Fault {
        self.spec.redactor.fault(fault)
    }

    /// The session, where it can be used.
    pub(super) fn running(&self) -> Option<Arc<Session>> {
        match &self.slot().phase {
            Phase::Ready(session) if !session.is_over() => Some(Arc::clone(session)),
            _ => None,
        }
    }

    /// What a call finds; starts the server where that is needed, allowed and `may_start`.
    pub(super) fn look(self: &Arc<Self>, may_start: bool) -> Look {
        let mut slot = self.slot();
        match &slot.phase {
            Phase::Ready(session) if session.is_over() => Look::Ending,
            Phase::Ready(session) => Look::Ready(Arc::clone(session)),
            Phase::Starting(_) => Look::Starting,
            Phase::Stopped => Look::Refused(Fault::new(
                FaultKind::Unreachable,
                "the server was stopped; start it again",
            )),
            Phase::Down { fault, until } => {
                let now = Instant::now();
                if !may_start {
                    return Look::Refused(fault.clone());
                }
                if *until > now {
                    let left = (*until - now).as_secs_f64().ceil();
                    return Look::Refused(Fault::new(
                        FaultKind::Resting,
                        format!("{fault}; the server is started again in {left} s at the earliest"),
                    ));
                }
                self.begin(&mut slot);
                Look::Starting
            }
            Phase::NotStarted => {
                self.begin(&mut slot);
                Look::Starting
            }
        }
    }

    pub(super) fn still_starting(&self) -> Fault {
        let since = match self.slot().phase {
            Phase::Starting(Some(since)) => since.elapsed().as_secs(),
            _ => 0,
        };
        Fault::new(
            FaultKind::Starting,
            format!("the server is still starting ({since} s so far); try again in a moment"),
        )
    }

    pub(super) fn start(self: &Arc<Self>) {
        let mut slot = self.slot();
        match &slot.phase {
            Phase::Starting(_) => {}
            Phase::Ready(_) => {}
            Phase::Down { until, .. } if *until > Instant::now() => {}
            Phase::Down { .. } | Phase::NotStarted | Phase::Stopped => self.begin(&mut slot),
        }
    }

    pub(super) fn start_afresh(self: &Arc<Self>) {
        let mut slot = self.slot();
        slot.failures = 0;
        if !matches!(slot.phase, Phase::Starting(_) | Phase::Ready(_)) {
            self.begin(&mut slot);
        }
    }

    fn begin(self: &Arc<Self>, slot: &mut Slot) {
        let (stop, stopped) = oneshot::channel();
        let (ending, done) = watch::channel(());
        let before = slot.done.replace(done);
        slot.run = Some(Run { _stop: stop });
        slot.phase = Phase::Starting(Some(Instant::now()));
        self.state.send_replace(State::Starting);
        let inner = Arc::clone(self);
        tokio::spawn(async move {
            // The one before must be gone: servers lock files and ports.
            if let Some(mut before) = before {
                while before.changed().await.is_ok() {}
            }
            keep(&inner, stopped).await;
            drop(ending);
        });
    }

    pub(super) async fn stop(&self) {
        let done = {
            let mut slot = self.slot();
            slot.run = None;
            slot.phase = Phase::Stopped;
            self.state.send_replace(State::Stopped);
            slot.done.clone()
        };
        if let Some(mut done) = done {
            while done.changed().await.is_ok() {}
        }
    }

    /// Nobody has a handle any more.
    pub(super) fn let_go(&self) {
        let mut slot = self.slot();
        slot.run = None;
        slot.phase = Phase::Stopped;
        self.state.send_replace(State::Stopped);
    }

    /// Notes a failed start or a crash. `proven`: it did work before.
    fn failed(&self, fault: &Fault, proven: bool) {
        let fault = self.redacted(fault.clone());
        tracing::info!(server = %self.spec.name, "{fault}");
        self.common.log.note(fault.message());
        let mut slot = self.slot();
        if matches!(slot.phase, Phase::Stopped) {
            return;
        }
        slot.failures = if proven { 1 } else { slot.failures + 1 };
        let rest = rest(slot.failures);
        let reason = fault.message().to_owned();
        slot.run = None;
        slot.phase = Phase::Down {
            fault,
            until: Instant::now() + rest,
        };
        self.state.send_replace(if rest.is_zero() {
            State::Failing { reason }
        } else {
            State::Resting {
                reason,
                until: std::time::Instant::now() + rest,
            }
        });
    }

    fn publish(&self, change: impl FnOnce(&mut Tools)) {
        self.tools.send_modify(|tools| {
            let mut next = Tools::clone(tools);
            change(&mut next);
            next.revision += 1;
            for note in &next.notes {
                self.common.log.note(note);
            }
            *tools = Arc::new(next);
        });
    }

    fn enter(&self, phase: Phase, state: State) {
        let mut slot = self.slot();
        if !matches!(slot.phase, Phase::Stopped) {
            slot.phase = phase;
            self.state.send_replace(state);
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// How long a server is left alone after so many failures in a row: the first costs nothing.
fn rest(failures: u32) -> Duration {
    match failures.checked_sub(2) {
        None => Duration::ZERO,
        Some(doubled) => {
            Duration::from_secs(1_u64.checked_shl(doubled).unwrap_or(u64::MAX)).min(MOST_REST)
        }
    }
}

/// An open session.
struct Live {
    session: Arc<Session>,
    child: Option<stdio::Child>,
    greeting: Greeting,
}

/// Keeps a server until it ends or `stop` says so.
async fn keep(inner: &Arc<Inner>, mut stop: oneshot::Receiver<()>) {
    loop {
        let opened = tokio::select! {
            biased;
            // The child is killed with the future.
            _ = &mut stop => return,
            opened = open(inner) => opened,
        };
        let live = match opened {
            Ok(live) => live,
            Err(fault) => return inner.failed(&fault, false),
        };
        let session = live.session;
        let since = Instant::now();
        inner.enter(Phase::Ready(Arc::clone(&session)), State::Ready);
        let mut tasks = JoinSet::new();
        listen(inner, &session, &live.greeting, &mut tasks);
        let over = tokio::select! {
            over = session.ended() => over,
            _ = &mut stop => {
                let fault = Fault::new(FaultKind::Unreachable, "the server was stopped");
                session.close(&fault);
                session.end(Over::Ended);
                match live.child {
                    Some(child) => child.stop(session.input()).await,
                    None => leave(&session).await,
                }
                return;
            }
        };
        drop(tasks);
        if matches!(over, Over::Expired) {
            inner
                .common
                .log
                .note("the session has expired; a new one is opened");
            inner.enter(Phase::Starting(Some(Instant::now())), State::Starting);
            session.retire();
            continue;
        }
        let fault = match live.child {
            Some(child) => child.bury(over, session.input(), &session.common.log).await,
            None => match over {
                Over::Broken(fault) => fault,
                Over::Ended | Over::Deaf | Over::Expired => {
                    Fault::new(FaultKind::Unreachable, "the connection has ended")
                }
            },
        };
        let proven = session.has_served() || since.elapsed() > PROVEN;
        inner.failed(&fault, proven);
        session.close(&inner.redacted(fault));
        return;
    }
}

async fn leave(session: &Session) {
    if let Wire::Http(wire) = &session.wire {
        wire.close(session.protocol()).await;
    }
}

/// Starts the server, opens a session and lists the tools.
async fn open(inner: &Arc<Inner>) -> Result<Live, Fault> {
    let common = Arc::clone(&inner.common);
    let (child, session) = match &inner.spec.transport {
        TransportSpec::Stdio(spawn) => {
            let (child, wire, outbox) = stdio::start(spawn, Arc::clone(&common))?;
            let session = Session::new(common, Wire::Stdio(wire));
            let inbox = Arc::downgrade(&session);
            stdio::listen(outbox, inbox);
            (Some(child), session)
        }
        TransportSpec::Http { url, headers } => {
            let wire = HttpWire::new(url, headers, Arc::clone(&common))?;
            (None, Session::new(common, Wire::Http(wire)))
        }
    };
    let limit = inner.timeout().max(START);
    let greeted = tokio::select! {
        biased;
        greeted = tokio::time::timeout(limit, handshake::greet(&session)) => greeted,
        over = session.ended() => return Err(fallen(child, over, &session).await),
    };
    let refused = match greeted {
        Ok(Ok(greeting)) => {
            session.opened();
            return listed(inner, session, child, greeting).await;
        }
        Ok(Err(failure)) => match failure {
            Failure::Fault(fault) => fault,
            Failure::Rpc(_) | Failure::Expired => Fault::new(
                FaultKind::Failed,
                format!("the session could not be opened: {}", words(&failure)),
            ),
        },
        Err(_) => {
            let mut words = format!(
                "the server did not open a session within {} s",
                limit.as_secs()
            );
            if let Some(last) = session.common.log.last_words() {
                words.push_str(&format!("; the last line of its stderr: {last}"));
            }
            Fault::new(FaultKind::TimedOut, words)
        }
    };
    Err(fallen(child, Over::Broken(refused), &session).await)
}

/// A session that came to nothing: ends what was started, and says why.
async fn fallen(child: Option<stdio::Child>, over: Over, session: &Session) -> Fault {
    match (child, over) {
        (Some(child), over) => child.bury(over, session.input(), &session.common.log).await,
        (None, Over::Broken(fault)) => fault,
        (None, Over::Ended | Over::Deaf | Over::Expired) => Fault::new(
            FaultKind::Unreachable,
            "the server does not know the session it has just opened",
        ),
    }
}

async fn listed(
    inner: &Arc<Inner>,
    session: Arc<Session>,
    child: Option<stdio::Child>,
    greeting: Greeting,
) -> Result<Live, Fault> {
    let result = tokio::select! {
        biased;
        result = tools::list(&session, inner.timeout()) => result,
        over = session.ended() => return Err(fallen(child, over, &session).await),
    };
    inner.publish(|tools| {
        tools.greeted(&greeting);
        tools.notes = greeting.note.iter().cloned().collect();
        match result {
            Ok(listed) => {
                tools.tools = listed.tools;
                tools.notes.extend(listed.notes);
            }
            Err(failure) => {
                tools.tools = Vec::new();
                tools.notes.push(not_listed(&failure));
            }
        }
    });
    Ok(Live {
        session,
        child,
        greeting,
    })
}

fn not_listed(failure: &Failure) -> String {
    format!("the tools could not be listed: {}", words(failure))
}

/// Follows changes of the tools as long as the session lives.
fn listen(
    inner: &Arc<Inner>,
    session: &Arc<Session>,
    greeting: &Greeting,
    tasks: &mut JoinSet<()>,
) {
    tasks.spawn(refresh(Arc::clone(inner), Arc::clone(session)));
    if !greeting.tells_of_tools() {
        return;
    }
    if session.is_modern() {
        let session = Arc::clone(session);
        tasks.spawn(async move {
            let params = json!({"notifications": {"toolsListChanged": true}}).to_string();
            let method = "subscriptions/listen";
            if let Err(failure) = session.call(method, &params, Exchange::default()).await {
                let words = words(&failure);
                session
                    .common
                    .log
                    .note(&format!("changes of the tools are not told: {words}"));
            }
        });
    } else if let Wire::Http(wire) = &session.wire {
        let inbox = Arc::downgrade(session);
        tasks.spawn(http::listen(wire, inbox));
    }
}

async fn refresh(inner: Arc<Inner>, session: Arc<Session>) {
    let changed = &inner.common.changed;
    loop {
        changed.notified().await;
        let deadline = Instant::now() + MOST_QUIET;
        loop {
            let quiet = (Instant::now() + QUIET).min(deadline);
            if tokio::time::timeout_at(quiet, changed.notified())
                .await
                .is_err()
            {
                break;
            }
            if Instant::now() >= deadline {
                break;
            }
        }
        match tools::list(&session, inner.timeout()).await {
            Ok(listed) => inner.publish(|tools| {
                tools.tools = listed.tools;
                tools.notes = listed.notes;
            }),
            Err(failure) => inner.common.log.note(&not_listed(&failure)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_costs_no_rest_and_no_rest_is_longer_than_a_minute() {
        let rests: Vec<u64> = (1..9).map(|failures| rest(failures).as_secs()).collect();
        assert_eq!(rests, [0, 1, 2, 4, 8, 16, 32, 60]);
        assert_eq!(rest(u32::MAX), MOST_REST);
    }
}
