//! The loop that reads, and how it ends.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::Sink;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tower::Service;
use tower_lsp::jsonrpc::{ErrorCode, Id, Request, Response};
use tower_lsp::{ClientSocket, LspService};

use super::frame::{Frame, FrameReader};
use super::guard::{self, Freshness, Heard};
use super::message::{self, Incoming};
use super::{outgoing, parent};

/// How long handlers may still take to answer after the end of input, and how long the client may
/// take to accept the last bytes.
const GRACE: Duration = Duration::from_millis(250);

/// How many replies may wait for the client to read them before reading stops.
const REPLIES: usize = 1024;

/// What can be set about a connection.
#[derive(Clone)]
pub struct Options {
    /// See [`Freshness`]. Default: answers always stand.
    pub freshness: Option<Freshness>,
    /// See [`Heard`]. Default: nobody.
    pub heard: Option<Heard>,
    /// A process whose death ends the connection, besides the one that `initialize` names.
    pub parent: Option<u32>,
    /// How often the client's process is looked at. Default: 3 s.
    pub parent_interval: Duration,
    /// How many requests may wait at once; one more is refused (-32803, request failed), so that
    /// notifications and cancellations still get through. Default: 512.
    pub in_flight: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            freshness: None,
            heard: None,
            parent: None,
            parent_interval: Duration::from_secs(3),
            in_flight: 512,
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("in_flight", &self.in_flight)
            .finish_non_exhaustive()
    }
}

/// Why a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The client sent `exit`.
    Exit {
        /// It had sent `shutdown` before.
        after_shutdown: bool,
    },
    /// The input ended or could not be read.
    Input {
        /// The client had sent `shutdown` before.
        after_shutdown: bool,
    },
    /// The output is closed: nobody reads our answers.
    Output,
    /// The client's process is gone.
    Parent,
}

impl Ended {
    /// The exit code of the process (LSP 3.17, `exit`): 0 after `shutdown`, else 1.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Ended::Exit {
                after_shutdown: true,
            }
            | Ended::Input {
                after_shutdown: true,
            } => 0,
            _ => 1,
        }
    }
}

/// Serves one client until the connection ends; see the [module](super) for what holds.
///
/// `service` and `socket` are the two halves of [`LspService::build`]. Must run inside a tokio
/// runtime with time and I/O enabled; of several workers handlers make use. Dropping the future
/// ends the connection and all handlers at once. When it returns, nothing of the connection runs
/// any more, except tasks that handlers detached themselves.
pub async fn serve<S, I, O>(
    service: LspService<S>,
    socket: ClientSocket,
    input: I,
    output: O,
    options: Options,
) -> Ended
where
    S: tower_lsp::LanguageServer,
    I: AsyncRead + Unpin,
    O: AsyncWrite + Unpin + Send + 'static,
{
    let (requests, answers) = socket.split();
    let (replies, queue) = mpsc::channel(REPLIES);
    let mut writer = JoinSet::new();
    writer.spawn(outgoing::write(output, queue, requests));

    let interval = options.parent_interval;
    let (parent_seen, parent) = tokio::sync::oneshot::channel();
    let watched = options.parent;
    let mut connection = Connection {
        service,
        answers,
        replies,
        handlers: JoinSet::new(),
        options,
        shutdown: false,
        parent: Some(parent_seen),
    };
    let mut ended = tokio::select! {
        ended = connection.read(FrameReader::new(input)) => ended,
        _ = writer.join_next() => Ended::Output,
        () = watch(watched, interval) => Ended::Parent,
        () = async { watch(parent.await.ok(), interval).await } => Ended::Parent,
    };
    tracing::debug!(?ended, "the connection ends");

    // The last words: handlers that are about to answer, then the bytes on their way out.
    if matches!(ended, Ended::Input { .. }) {
        let _ = tokio::time::timeout(GRACE, connection.handlers_done()).await;
    }
    if let Ended::Exit { .. } | Ended::Input { .. } = &mut ended {
        connection.handlers.shutdown().await;
        drop(connection);
        let _ = tokio::time::timeout(GRACE, writer.join_next()).await;
    }
    ended
}

async fn watch(pid: Option<u32>, interval: Duration) {
    match pid {
        Some(pid) => parent::gone(pid, interval).await,
        None => std::future::pending().await,
    }
}

struct Connection<S, A> {
    service: S,
    answers: A,
    replies: mpsc::Sender<Response>,
    handlers: JoinSet<()>,
    options: Options,
    shutdown: bool,
    parent: Option<tokio::sync::oneshot::Sender<u32>>,
}

impl<S, A> Connection<S, A>
where
    S: Service<Request, Response = Option<Response>>,
    S::Error: std::fmt::Display,
    S::Future: Send + 'static,
    A: Sink<Response> + Unpin,
{
    async fn read<I: AsyncRead + Unpin>(&mut self, mut frames: FrameReader<I>) -> Ended {
        loop {
            let body = match frames.next().await {
                Ok(Some(Frame::Body(body))) => body,
                Ok(Some(Frame::Malformed(why))) => {
                    tracing::warn!("bad input: {why}");
                    let message = format!("Parse error: {why}");
                    let code = ErrorCode::ParseError;
                    self.reply(message::failure(Id::Null, code, message)).await;
                    continue;
                }
                Ok(None) => {
                    return Ended::Input {
                        after_shutdown: self.shutdown,
                    };
                }
                Err(error) => {
                    tracing::warn!(%error, "the input cannot be read");
                    return Ended::Input {
                        after_shutdown: self.shutdown,
                    };
                }
            };
            match message::parse(&body) {
                Ok(Incoming::Call(request)) if request.method() == "exit" => {
                    return Ended::Exit {
                        after_shutdown: self.shutdown,
                    };
                }
                Ok(Incoming::Call(request)) => self.call(request).await,
                Ok(Incoming::Answer(response)) => self.answer(response),
                Err(refusal) => {
                    tracing::warn!("bad input: {}", refusal.message);
                    self.reply(refusal.into_reply()).await;
                }
            }
        }
    }

    /// Runs one handler up to its first wait, and leaves the rest to a task.
    async fn call(&mut self, request: Request) {
        let initialize = request.method() == "initialize";
        let shutdown = request.method() == "shutdown";
        if initialize {
            self.note_parent(&request);
        }
        if let Some(heard) = &self.options.heard {
            heard(&request);
        }
        let id = request.id().cloned();
        // Kept for the question below, which is put only where the handler has to wait. There is
        // no answer to a notification, and some are large.
        let freshness = self.options.freshness.clone().filter(|_| id.is_some());
        let kept = freshness.map(|ask| (ask, request.clone()));
        let mut handler = guard::call(&mut self.service, request);

        // Until it has answered `initialize` tower-lsp takes no other message.
        let first = if initialize {
            Poll::Ready(handler.as_mut().await)
        } else {
            // A wake-up that is lost here is made good by the task, which polls once more.
            handler
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
        };
        match first {
            Poll::Ready(response) => {
                self.shutdown |= shutdown && response.as_ref().is_some_and(Response::is_ok);
                if let Some(response) = response {
                    self.reply(response).await;
                }
            }
            Poll::Pending => {
                self.shutdown |= shutdown;
                while self.handlers.try_join_next().is_some() {}
                if let Some(id) = id.filter(|_| self.handlers.len() >= self.options.in_flight) {
                    let message = "Request failed: too many requests wait already".to_owned();
                    self.reply(message::failure(
                        id,
                        ErrorCode::ServerError(-32803),
                        message,
                    ))
                    .await;
                    return;
                }
                let still = kept.and_then(|(ask, request)| ask(&request));
                let replies = self.replies.clone();
                self.handlers.spawn(async move {
                    if let Some(response) = handler.await {
                        let _ = replies.send(guard::fresh(response, still)).await;
                    }
                });
            }
        }
    }

    /// Hands the client's answer to whoever waits for it.
    fn answer(&mut self, response: Response) {
        let id = response.id().clone();
        // tower-lsp panics where the waiter is gone (its handler was cancelled, say).
        let handed = std::panic::catch_unwind(AssertUnwindSafe(|| {
            Pin::new(&mut self.answers).start_send(response).is_ok()
        }));
        if !matches!(handed, Ok(true)) {
            tracing::debug!(%id, "the client answered a request nobody waits for");
        }
    }

    async fn reply(&mut self, response: Response) {
        // Fails only when the writer has ended, which ends the connection by itself.
        let _ = self.replies.send(response).await;
    }

    fn note_parent(&mut self, initialize: &Request) {
        let pid = initialize
            .params()
            .and_then(|params| params.get("processId")?.as_u64());
        if let Some(pid) = pid.and_then(|pid| u32::try_from(pid).ok())
            && let Some(seen) = self.parent.take()
        {
            let _ = seen.send(pid);
        }
    }

    async fn handlers_done(&mut self) {
        while self.handlers.join_next().await.is_some() {}
    }
}
