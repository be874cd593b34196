//! The adapters at work: one value for all sessions of a process.
//!
//! State changes in one place, [`Engine::apply`]: a new plan ends the servers of adapters that
//! are gone, not active any more or configured otherwise, and leaves the others alone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kontext_config::eval::Vars;
use kontext_config::facts::Now;
use kontext_config::model::{Adapter, Expose};
use kontext_config::when::When;
use rustc_hash::FxBuildHasher;
use serde_json::Value;
use tokio::sync::{broadcast, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::bind::ToolSchema;
use crate::catalogue::{Catalogue, Published};
use crate::driver::http::HttpDriver;
use crate::driver::mcp::{Server, State};
use crate::fault::Fault;
use crate::health::Health;
use crate::launch;
use crate::plan::{Plan, Planned};

/// How long an agent's first list of tools waits for servers that were started for it.
const MOMENT: Duration = Duration::from_millis(400);

/// What an engine is made with.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The clock, for templates.
    pub now: fn() -> Now,
    /// The names of tools that adapters may not take.
    pub reserved: &'static [&'static str],
}

/// All adapters of a process. Cheap to clone; the servers end with [`Engine::stop`], at the
/// latest when the last clone is dropped.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

/// A handle that does not keep the engine.
#[derive(Clone)]
pub struct Weak {
    inner: std::sync::Weak<Inner>,
}

impl Weak {
    /// The engine, where it is still there.
    pub fn upgrade(&self) -> Option<Engine> {
        let inner = self.inner.upgrade()?;
        Some(Engine { inner })
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

pub(crate) struct Inner {
    options: Options,
    pub(crate) http: HttpDriver,
    pub(crate) health: Health,
    state: Mutex<Working>,
    /// Raised with every change of the plan, of a server's state or of its tools.
    changes: watch::Sender<u64>,
    messages: broadcast::Sender<Told>,
}

/// A message of a server: the adapter and the parameters of `notifications/message`.
pub type Told = (Arc<str>, Arc<Value>);

/// How many messages wait for an agent that reads slowly; older ones are lost to it.
const MOST_TOLD: usize = 64;

/// What a lock guards; nothing is awaited under it.
#[derive(Default)]
struct Working {
    plan: Plan,
    servers: HashMap<Arc<str>, Running, FxBuildHasher>,
    catalogue: Option<Arc<Catalogue>>,
    stopped: bool,
}

/// A server, and what it was started with.
struct Running {
    launch: Launch,
    server: Server,
    /// When it was made.
    begun: Instant,
    schemas: Schemas,
    /// Follows its state and tools; dropped with it.
    _follower: JoinSet<()>,
}

/// What the start of a server depends on.
#[derive(Clone, PartialEq)]
struct Launch {
    adapter: Adapter,
    globals: Arc<Vars>,
    root: Arc<std::path::PathBuf>,
}

/// The prepared schemas of the tools that were bound, of one listing.
#[derive(Default)]
struct Schemas {
    listing: u64,
    tools: HashMap<Arc<str>, Arc<ToolSchema>, FxBuildHasher>,
}

/// A server as status shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerStatus {
    /// Its state in a word.
    pub state: &'static str,
    /// Why it is not ready, where there is more to say.
    pub reason: Option<String>,
    /// How many tools it offers.
    pub tools: usize,
}

impl Engine {
    /// An engine without adapters. Must be made on a tokio runtime.
    pub fn new(options: Options) -> Self {
        let inner = Inner {
            options,
            http: HttpDriver::new(),
            health: Health::default(),
            state: Mutex::default(),
            changes: watch::Sender::new(0),
            messages: broadcast::channel(MOST_TOLD).0,
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// A handle that does not keep it.
    pub fn downgrade(&self) -> Weak {
        Weak {
            inner: Arc::downgrade(&self.inner),
        }
    }

    /// Takes over a new plan. Servers that the change does not touch go on.
    pub fn apply(&self, plan: Plan) {
        let mut ended = Vec::new();
        {
            let mut state = self.inner.lock();
            state.servers.retain(|name, running| {
                let kept = plan.get(name).is_some_and(|planned| {
                    planned.is_active() && Launch::of(planned) == running.launch
                });
                match plan.get(name).filter(|_| kept) {
                    Some(planned) => running.server.set_timeout(planned.timeout()),
                    None => ended.push(running.server.clone()),
                }
                kept
            });
            for planned in plan.adapters() {
                let before = state.plan.get(planned.name());
                if before.is_some_and(|before| before.adapter != planned.adapter) {
                    self.inner.health.forget(planned.name());
                }
            }
            state.plan = plan;
            state.catalogue = None;
        }
        for server in ended {
            tokio::spawn(async move { server.stop().await });
        }
        self.inner.changed();
    }

    /// The plan in force.
    pub fn plan(&self) -> Plan {
        self.inner.lock().plan.clone()
    }

    /// Tells of every change of the plan, of a server's state or tools; of several in a row the
    /// last one.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.inner.changes.subscribe()
    }

    /// Starts the servers whose tools are to be offered, in the background: the caller does not
    /// wait.
    pub fn start_exposed(&self) {
        self.start(|_| true);
    }

    fn start(&self, which: impl Fn(&Planned) -> bool) {
        for planned in self.plan().active() {
            if planned.exposes_server() && which(planned) {
                match self.server(planned) {
                    Ok(server) => server.start(),
                    Err(fault) => {
                        tracing::warn!(adapter = planned.name(), %fault, "its server cannot be started");
                    }
                }
            }
        }
    }

    /// The tools that adapters offer now. Those of servers that are still starting are not among
    /// them; a change tells when they are.
    pub fn catalogue(&self) -> Arc<Catalogue> {
        let mut state = self.inner.lock();
        if let Some(catalogue) = &state.catalogue {
            return Arc::clone(catalogue);
        }
        let servers = &state.servers;
        let listed = |name: &str| {
            let tools = servers.get(name)?.server.tools();
            (tools.revision > 0).then_some(tools)
        };
        let reserved = self.inner.options.reserved.iter().copied();
        let catalogue = Arc::new(Catalogue::of(&state.plan, listed, reserved));
        state.catalogue = Some(Arc::clone(&catalogue));
        catalogue
    }

    /// Gives servers that have only just been started a moment to list their tools, so that the
    /// quick ones are in an agent's first list. Does not wait for any that takes longer.
    pub async fn settled(&self) {
        let mut changes = self.subscribe();
        loop {
            let plan = self.plan();
            let starting = plan.active().filter(|planned| self.is_starting(planned));
            let starting: Vec<&Planned> = starting.collect();
            let last = {
                let state = self.inner.lock();
                let begun = starting.iter();
                let begun = begun.filter_map(|one| Some(state.servers.get(one.name())?.begun));
                begun.map(|begun| begun + MOMENT).max()
            };
            let Some(last) = last else { return };
            let changed = tokio::time::timeout_at(last, changes.changed()).await;
            if !matches!(changed, Ok(Ok(()))) {
                return;
            }
        }
    }

    /// Waits for a tool of a server that is still starting; `None` once every server whose tools
    /// are offered has listed them, cannot be started, or has had its time.
    pub async fn awaited_tool(&self, name: &str) -> Option<Published> {
        self.start_exposed();
        let mut changes = self.subscribe();
        let mut deadline = Instant::now();
        let began = deadline;
        loop {
            // A change of the configuration may have ended a server that is to be started anew.
            self.start(|planned| self.running(planned.name()).is_none());
            if let Some(tool) = self.catalogue().get(name) {
                return Some(tool.clone());
            }
            let plan = self.plan();
            let starting = plan.active().filter(|planned| self.is_starting(planned));
            let longest = starting.map(Planned::timeout).max()?;
            deadline = deadline.max(began + longest);
            let changed = tokio::time::timeout_at(deadline, changes.changed()).await;
            if !matches!(changed, Ok(Ok(()))) {
                return None;
            }
        }
    }

    /// Whether a server whose tools are offered has not listed them yet but may.
    fn is_starting(&self, planned: &Planned) -> bool {
        let server = self.running(planned.name());
        server
            .filter(|_| planned.exposes_server())
            .is_some_and(|server| {
                let starting = matches!(
                    *server.state().borrow(),
                    State::NotStarted | State::Starting
                );
                server.tools().revision == 0 && starting
            })
    }

    /// The adapters whose tools are to be offered but whose servers are still starting, in
    /// configuration order.
    pub fn starting(&self) -> Vec<String> {
        let plan = self.plan();
        let starting = plan.active().filter(|planned| self.is_starting(planned));
        starting.map(|planned| planned.name().to_owned()).collect()
    }

    /// Whether tools may join that are not offered yet.
    pub fn is_waiting_for_tools(&self) -> bool {
        self.plan().active().any(|planned| {
            planned.exposes_server()
                && (self.running(planned.name()).is_none() || self.is_starting(planned))
        })
    }

    /// The server of an adapter, where one was made.
    pub fn running(&self, adapter: &str) -> Option<Server> {
        let state = self.inner.lock();
        state
            .servers
            .get(adapter)
            .map(|running| running.server.clone())
    }

    /// The adapters whose servers were made, in configuration order.
    pub fn started(&self) -> Vec<String> {
        let state = self.inner.lock();
        let names = state.plan.adapters().map(Planned::name);
        let started = names.filter(|name| state.servers.contains_key(*name));
        started.map(str::to_owned).collect()
    }

    /// What servers tell of themselves while they work: the parameters of each of their
    /// `notifications/message`, with the adapter's name.
    pub fn messages(&self) -> broadcast::Receiver<Told> {
        self.inner.messages.subscribe()
    }

    /// The server of an adapter, for status; `None` where none was started.
    pub fn server_status(&self, adapter: &str) -> Option<ServerStatus> {
        let server = self.running(adapter)?;
        let state = server.state().borrow().clone();
        Some(ServerStatus {
            state: state_name(&state),
            reason: match state {
                State::Failing { reason } | State::Resting { reason, .. } => Some(reason),
                State::NotStarted | State::Starting | State::Ready | State::Stopped => None,
            },
            tools: server.tools().tools.len(),
        })
    }

    /// The ops of an adapter that rest, with the words of why.
    pub fn resting(&self, adapter: &str) -> Vec<(Arc<str>, Fault)> {
        self.inner.health.resting(adapter)
    }

    /// Ends all servers and whatever they started. Afterwards nothing is started any more.
    pub async fn stop(&self) {
        let servers: Vec<Server> = {
            let mut state = self.inner.lock();
            state.stopped = true;
            state
                .servers
                .drain()
                .map(|(_, running)| running.server)
                .collect()
        };
        let mut ending = JoinSet::new();
        for server in servers {
            ending.spawn(async move { server.stop().await });
        }
        while ending.join_next().await.is_some() {}
    }

    /// Ends the server of an adapter, so that the next call starts it anew.
    pub async fn restart(&self, planned: &Planned) -> Result<Server, Fault> {
        let old = self.inner.lock().servers.remove(planned.name());
        if let Some(old) = old {
            old.server.stop().await;
        }
        self.inner.health.forget(planned.name());
        self.server(planned)
    }

    /// The server of an adapter, made (not started) where there is none yet.
    pub(crate) fn server(&self, planned: &Planned) -> Result<Server, Fault> {
        let mut state = self.inner.lock();
        if let Some(running) = state.servers.get(planned.name()) {
            return Ok(running.server.clone());
        }
        if state.stopped {
            return Err(Fault::refused("kontext-ls is ending"));
        }
        let server = Server::new(launch::spec(&planned.at((self.inner.options.now)()))?);
        let running = Running {
            launch: Launch::of(planned),
            server: server.clone(),
            begun: Instant::now(),
            schemas: Schemas::default(),
            _follower: self.follow(planned.name().into(), &server),
        };
        state.servers.insert(planned.name().into(), running);
        Ok(server)
    }

    /// The prepared schema of a tool; `None` where the server does not list it. Preparing one may
    /// take a while where a server is hostile, so it is done without the lock, once a listing.
    pub(crate) fn tool_schema(&self, adapter: &str, tool: &str) -> Option<Arc<ToolSchema>> {
        let tools = {
            let state = self.inner.lock();
            let running = state.servers.get(adapter)?;
            let tools = running.server.tools();
            if running.schemas.listing == tools.revision
                && let Some(schema) = running.schemas.tools.get(tool)
            {
                return Some(Arc::clone(schema));
            }
            tools
        };
        let listed = tools.get(tool)?;
        let schema = Arc::new(ToolSchema::new(listed.get("inputSchema")));
        let mut state = self.inner.lock();
        if let Some(running) = state.servers.get_mut(adapter) {
            if running.schemas.listing != tools.revision {
                running.schemas = Schemas {
                    listing: tools.revision,
                    ..Schemas::default()
                };
            }
            let known = &mut running.schemas.tools;
            known.insert(tool.into(), Arc::clone(&schema));
        }
        Some(schema)
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }

    pub(crate) fn now(&self) -> Now {
        (self.inner.options.now)()
    }

    /// Makes changes of a server known.
    fn follow(&self, name: Arc<str>, server: &Server) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        let (mut told, agents) = (server.messages(), self.inner.messages.clone());
        tasks.spawn(async move {
            loop {
                match told.recv().await {
                    // Nobody may be listening.
                    Ok(params) => drop(agents.send((Arc::clone(&name), params))),
                    Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return,
                }
            }
        });
        let (mut state, mut tools) = (server.state(), server.subscribe_tools());
        let inner = Arc::downgrade(&self.inner);
        tasks.spawn(async move {
            loop {
                let listed = tokio::select! {
                    changed = state.changed() => changed.map(|()| false),
                    changed = tools.changed() => changed.map(|()| true),
                };
                let (Ok(listed), Some(inner)) = (listed, inner.upgrade()) else {
                    return;
                };
                if listed {
                    inner.lock().catalogue = None;
                }
                inner.changed();
            }
        });
        tasks
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, Working> {
        // Nothing under the lock is left half done by a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.changes
            .send_modify(|count| *count = count.wrapping_add(1));
    }
}

impl Launch {
    fn of(planned: &Planned) -> Self {
        // What a server is not started with does not end it.
        let mut adapter = Adapter::clone(&planned.adapter);
        adapter.ops.clear();
        adapter.on.clear();
        adapter.tools.clear();
        adapter.problems.clear();
        adapter.description = None;
        adapter.when = When::default();
        adapter.expose = Expose::None;
        adapter.prefix = None;
        adapter.weight = 0.0;
        // A server that runs takes over a new limit.
        adapter.timeout_ms = 0;
        Self {
            adapter,
            globals: Arc::clone(&planned.context.globals),
            root: Arc::clone(&planned.root),
        }
    }
}

/// The state of a server in a word.
pub fn state_name(state: &State) -> &'static str {
    match state {
        State::NotStarted => "not started",
        State::Starting => "starting",
        State::Ready => "ready",
        State::Failing { .. } => "failing",
        State::Resting { .. } => "resting",
        State::Stopped => "stopped",
    }
}

#[cfg(test)]
mod tests;
