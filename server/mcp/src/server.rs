//! The MCP server: one value per connection, over a [`Source`] they share.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kontext_engine::Engine;
use rmcp::ServerHandler;
#[expect(deprecated, reason = "the protocol versions up to 2025-11-25 have it")]
use rmcp::model::SetLevelRequestParams;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Cursor, CustomRequest, CustomResult, ErrorCode,
    ErrorData, Implementation, InitializeRequestParams, InitializeResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ResourceUpdatedNotificationParam, ServerCapabilities, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{
    NotificationContext, Peer, RequestContext, RoleServer, ServiceError, SubscriptionContext,
    SubscriptionSendError,
};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::gates::Class;
use crate::lane;
use crate::resources;
use crate::source::{AnswerError, Answers, Revision, Source};
use crate::tools::{self, Run, TOOLS, Tool};

/// How long the picture must be left alone before a client hears of a change: a person who types
/// makes one notification, not one for each key.
const SETTLE: Duration = Duration::from_millis(100);

const INSTRUCTIONS: &str = "kontext-ls knows the adapter configuration of this workspace: which \
    layers there are, what is wrong with them, which adapters are active and why others are not. \
    While the user's editor is open you see the same text they see, unsaved edits included. \
    Before you write or change an adapter, look things up with kontext_explain, check your draft \
    with kontext_check {text}, and afterwards check the file. kontext_status names closed gates; \
    only the user can open one, in their own configuration.";

/// The server for one connection. Clone nothing out of it: its drop ends its notifications.
pub struct KontextServer {
    source: Arc<dyn Source>,
    tools: &'static [Tool],
    session: Arc<Session>,
    /// The task that notifies a session of the handshake era; dropped with the server.
    notifier: Mutex<JoinSet<()>>,
    /// Where the changes start that a listener is to hear of: taken before it is acknowledged,
    /// since the client counts on everything after that.
    starting: Mutex<Vec<(SubscriptionFilter, Changes)>>,
}

/// What one connection has asked to be told.
#[derive(Default)]
struct Session {
    /// Subscribed URIs (`resources/subscribe`) with a fingerprint of the text last told.
    subscribed: Mutex<Fingerprints>,
    /// The version of the picture that the client was last shown.
    shown: AtomicU64,
}

type Fingerprints = BTreeMap<String, Option<u64>>;

impl KontextServer {
    /// A server for one new connection.
    pub fn new(source: Arc<dyn Source>) -> Self {
        Self::with_tools(source, TOOLS)
    }

    /// The same with another set of tools, listed in the order given.
    pub fn with_tools(source: Arc<dyn Source>, tools: &'static [Tool]) -> Self {
        Self {
            source,
            tools,
            session: Arc::default(),
            notifier: Mutex::default(),
            starting: Mutex::default(),
        }
    }

    /// The engine, its exposed servers starting, where agents may call them.
    fn engine_for_tools(&self) -> Option<Engine> {
        let open = self.source.gates().open_for(Class::WriteExternal);
        let engine = self.source.engine().filter(|_| open)?;
        engine.start_exposed();
        Some(engine)
    }

    /// What it answers from.
    pub(crate) fn source(&self) -> Arc<dyn Source> {
        Arc::clone(&self.source)
    }

    /// An answer from the newest snapshot, for the client to see.
    async fn show<T: Send + 'static>(
        &self,
        question: impl FnOnce(&dyn Answers) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let shown = move |answers: &dyn Answers| (answers.version(), question(answers));
        let (version, answer) = ask(&self.source, shown).await?;
        self.session.shown.fetch_max(version, Ordering::Relaxed);
        Ok(answer)
    }

    fn starting(&self) -> MutexGuard<'_, Vec<(SubscriptionFilter, Changes)>> {
        self.starting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// Whether the client was shown a version between these two: what it knows is neither.
    fn has_seen_between(&self, told: u64, now: u64) -> bool {
        let shown = self.shown.load(Ordering::Relaxed);
        told < shown && shown < now
    }

    fn subscribed(&self) -> MutexGuard<'_, Fingerprints> {
        self.subscribed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks the newest snapshot, away from the threads that serve the wires. A panic in there is an
/// error for this caller and nothing else.
async fn ask<T: Send + 'static>(
    source: &Arc<dyn Source>,
    question: impl FnOnce(&dyn Answers) -> T + Send + 'static,
) -> Result<T, ErrorData> {
    let source = source.clone();
    tokio::task::spawn_blocking(move || question(source.snapshot().as_ref()))
        .await
        .map_err(|error| {
            tracing::error!(%error, "answering a request failed");
            ErrorData::internal_error(
                "the request failed inside kontext-ls; the session goes on, and the log says more",
                None,
            )
        })
}

/// The lists are short and sent whole, so no cursor was ever handed out.
fn no_cursor(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    let cursor: Option<Cursor> = request.and_then(|request| request.cursor);
    match cursor {
        None => Ok(()),
        Some(_) => Err(ErrorData::invalid_params(
            "`cursor` is none that this server gave out",
            None,
        )),
    }
}

fn fingerprint(answers: &dyn Answers, uri: &str) -> Option<u64> {
    let (text, _) = resources::text(answers, &resources::parse(uri)?)?;
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    Some(hasher.finish())
}

fn unknown_resource(uri: &str) -> ErrorData {
    ErrorData::resource_not_found(
        format!("there is no resource `{uri}`; `resources/list` names them"),
        None,
    )
}

impl ServerHandler for KontextServer {
    #[expect(
        deprecated,
        reason = "the protocol versions up to 2025-11-25 have logging"
    )]
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("kontext-ls", env!("CARGO_PKG_VERSION"))
                    .with_title("Kontext adapters"),
            )
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let result = self.negotiate_initialize(&request)?;
        // What was agreed upon, not what was asked for, decides how later answers look.
        request.protocol_version = result.protocol_version.clone();
        // Servers whose tools it will ask for in a moment can be starting meanwhile.
        drop(self.engine_for_tools());
        context.peer.set_peer_info(request);
        Ok(result)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut notifier = self.notifier.lock().unwrap_or_else(PoisonError::into_inner);
        if notifier.is_empty() {
            let changes = Changes::new(&self.source);
            notifier.spawn(notify_session(
                context.peer,
                self.session.clone(),
                self.source.clone(),
                changes,
            ));
        }
    }

    /// The level itself is kept by the guard, which writes the messages.
    #[expect(deprecated, reason = "the protocol versions up to 2025-11-25 have it")]
    async fn set_level(
        &self,
        _request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(ErrorData::new(
            ErrorCode::METHOD_NOT_FOUND,
            format!("there is no method `{}`", request.method),
            None,
        ))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        no_cursor(request)?;
        let gates = self.source.gates();
        if let Some(engine) = self.engine_for_tools() {
            engine.settled().await;
        }
        let open = self
            .tools
            .iter()
            .filter(|tool| gates.open_for(tool.class))
            .map(Tool::listed)
            .collect();
        Ok(ListToolsResult::with_all_items(open))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.as_ref();
        let Some(tool) = self.tools.iter().find(|tool| tool.name == name) else {
            let words = lane::unknown(self.source.engine().as_ref(), name);
            return Err(ErrorData::invalid_params(words, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let gates = self.source.gates();
        if let Err(words) = tool.admit(gates, &arguments) {
            return Ok(tools::result(Err(words)).into());
        }
        let reply = match tool.run {
            Run::Snapshot(run) => self.show(move |answers| run(answers, &arguments)).await?,
            Run::Adapters(run) => match self.source.engine() {
                Some(engine) => {
                    tokio::select! {
                        reply = run(engine, gates, arguments) => reply,
                        // Nobody waits for it any more: what it began ends with the drop.
                        () = context.ct.cancelled() => Err(AnswerError("cancelled".to_owned())),
                    }
                }
                None => Err(AnswerError(
                    "adapters cannot be called here: the log of kontext-ls says why".to_owned(),
                )),
            },
        };
        Ok(tools::result(reply).into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        no_cursor(request)?;
        let list = ask(&self.source, resources::list).await?;
        Ok(ListResourcesResult::with_all_items(list))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        no_cursor(request)?;
        Ok(ListResourceTemplatesResult::with_all_items(
            resources::templates(),
        ))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.clone();
        match self
            .show(move |answers| resources::read(answers, &uri))
            .await?
        {
            Some(contents) => Ok(ReadResourceResult::new(vec![contents]).into()),
            None => Err(unknown_resource(&request.uri)),
        }
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let uri = request.uri;
        // A layer or page that is not there yet may be waited for.
        if resources::parse(&uri).is_none() {
            return Err(unknown_resource(&uri));
        }
        let asked = uri.clone();
        let print = ask(&self.source, move |answers| fingerprint(answers, &asked)).await?;
        self.session.subscribed().insert(uri, print);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session.subscribed().remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| resources::parse(uri).is_some());
        }
        let changes = Changes::new(&self.source);
        self.starting().push((requested.clone(), changes));
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = {
            let mut starting = self.starting();
            // Of several alike the earliest is good for any: it only hears more.
            match starting
                .iter()
                .position(|(filter, _)| filter == context.requested())
            {
                Some(at) => starting.remove(at).1,
                None => Changes::new(&self.source),
            }
        };
        let sink = context.sink().clone();
        let uris = context.accepted().resource_subscriptions.clone();
        let mut known: Fingerprints = uris
            .unwrap_or_default()
            .into_iter()
            .map(|uri| (uri, None))
            .collect();
        let unknown = known.clone();
        let mut told = refresh(&self.source, &self.session, 0, &mut known)
            .await?
            .now;
        if changes.are_waiting() {
            // The texts seen may be the changed ones already: tell of all rather than of none.
            known = unknown;
        }
        loop {
            let news = tokio::select! {
                () = context.cancelled() => return Ok(()),
                news = changes.next() => news,
            };
            // The source is going away: end the subscription in good order.
            let Some(news) = news else { return Ok(()) };
            if news.tools {
                over(sink.notify_tool_list_changed().await)?;
            }
            if news.resources {
                over(sink.notify_resource_list_changed().await)?;
            }
            if news.contents {
                let found = refresh(&self.source, &self.session, told, &mut known).await?;
                told = found.now;
                for uri in found.changed {
                    over(sink.notify_resource_updated(uri).await)?;
                }
            }
        }
    }
}

/// A subscription that wants no such notification is no error; one that is over is.
fn over(sent: Result<(), SubscriptionSendError>) -> Result<(), ErrorData> {
    match sent {
        Ok(()) | Err(SubscriptionSendError::NotificationNotAccepted(_)) => Ok(()),
        Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
    }
}

/// What a look at subscribed resources has found.
struct Found {
    /// The version of the picture that was looked at.
    now: u64,
    /// The URIs that the client does not know as they are.
    changed: Vec<String>,
}

/// Brings `known` up to date and names the URIs whose text differs from that of the version `told`.
/// All of them where the client has looked in between: what it saw may have come and gone.
async fn refresh(
    source: &Arc<dyn Source>,
    session: &Session,
    told: u64,
    known: &mut Fingerprints,
) -> Result<Found, ErrorData> {
    let uris: Vec<String> = known.keys().cloned().collect();
    let (now, prints) = ask(source, move |answers| {
        let prints = uris.into_iter().map(|uri| {
            let print = fingerprint(answers, &uri);
            (uri, print)
        });
        let prints: Vec<_> = prints.collect();
        (answers.version(), prints)
    })
    .await?;
    let all = session.has_seen_between(told, now);
    let mut changed = Vec::new();
    for (uri, print) in prints {
        if let Some(last) = known.get_mut(&uri)
            && (all || *last != print)
        {
            *last = print;
            changed.push(uri);
        }
    }
    Ok(Found { now, changed })
}

/// What is new since the last time.
#[derive(Debug, Clone, Copy)]
struct News {
    tools: bool,
    resources: bool,
    contents: bool,
}

struct Changes {
    receiver: watch::Receiver<Revision>,
    last: Revision,
}

impl Changes {
    fn new(source: &Arc<dyn Source>) -> Self {
        let mut receiver = source.subscribe();
        let last = *receiver.borrow_and_update();
        Self { receiver, last }
    }

    /// Whether something has changed since the last time.
    fn are_waiting(&self) -> bool {
        self.receiver.has_changed().unwrap_or(false)
    }

    /// Waits for a change and for the picture to settle; `None` once there can be no more.
    async fn next(&mut self) -> Option<News> {
        self.receiver.changed().await.ok()?;
        tokio::time::sleep(SETTLE).await;
        let now = *self.receiver.borrow_and_update();
        let last = std::mem::replace(&mut self.last, now);
        Some(News {
            tools: now.tools != last.tools,
            resources: now.resources != last.resources,
            contents: now.contents != last.contents || now.resources != last.resources,
        })
    }
}

/// Tells a session of the handshake era what changes, until its connection or the source ends.
async fn notify_session(
    peer: Peer<RoleServer>,
    session: Arc<Session>,
    source: Arc<dyn Source>,
    mut changes: Changes,
) {
    let version = ask(&source, |answers| answers.version());
    let mut told = version.await.unwrap_or_default();
    while let Some(news) = changes.next().await {
        if let Err(error) = tell(&peer, &session, &source, news, &mut told).await {
            tracing::debug!(%error, "the client can no longer be notified");
            return;
        }
    }
}

async fn tell(
    peer: &Peer<RoleServer>,
    session: &Session,
    source: &Arc<dyn Source>,
    news: News,
    told: &mut u64,
) -> Result<(), ServiceError> {
    if news.tools {
        peer.notify_tool_list_changed().await?;
    }
    if news.resources {
        peer.notify_resource_list_changed().await?;
    }
    if news.contents {
        let mut known = session.subscribed().clone();
        let found = refresh(source, session, *told, &mut known)
            .await
            .map_err(ServiceError::McpError)?;
        *told = found.now;
        for uri in found.changed {
            {
                // Unsubscribed in the meantime: say nothing and do not bring it back.
                let mut subscribed = session.subscribed();
                let Some(last) = subscribed.get_mut(&uri) else {
                    continue;
                };
                *last = known.get(&uri).copied().flatten();
            }
            peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri))
                .await?;
        }
    }
    Ok(())
}
