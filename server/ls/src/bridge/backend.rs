//! One server behind the bridge.

use std::io;
use std::path::PathBuf;

use kontext_mcp::KontextServer;
use kontext_mcp::lines::{Line, Lines, write_lines};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::Disk;
use crate::endpoint::Found;

/// The longest line taken from a server, in bytes. It is this program's own, so the limit is only
/// there to have one.
const MAX_ANSWER: usize = 256 * 1024 * 1024;

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Origin {
    /// In this process.
    Disk,
    /// A language server, told apart by its socket and its start.
    Joined(PathBuf, u64),
}

impl Origin {
    pub(super) fn of(found: &Found) -> Self {
        Self::Joined(found.socket.clone(), found.record.started)
    }
}

/// A connection to a server. Dropping it closes the connection.
pub(super) struct Backend {
    pub(super) origin: Origin,
    /// Whether anything has come from it.
    pub(super) spoke: bool,
    lines: Lines<Box<dyn AsyncRead + Send + Unpin>>,
    sender: Option<mpsc::Sender<Vec<u8>>>,
    tasks: Vec<JoinHandle<()>>,
}

impl Backend {
    /// Joins a language server.
    pub(super) async fn join(found: &Found) -> io::Result<Self> {
        let (reader, writer) = found.connect().await?;
        let (sender, writing) = spawn_writer(writer);
        Ok(Self {
            origin: Origin::of(found),
            spoke: false,
            lines: Lines::new(reader, MAX_ANSWER),
            sender: Some(sender),
            tasks: vec![writing],
        })
    }

    /// Serves from disk in this process, by the same guard and server.
    pub(super) fn from_disk(disk: Disk) -> Self {
        let (near, far) = tokio::io::duplex(256 * 1024);
        let serving = tokio::spawn(async move {
            // Reading the layers takes its time; the wires do not wait for it.
            match tokio::task::spawn_blocking(move || disk()).await {
                Ok(source) => {
                    let (reader, writer) = tokio::io::split(far);
                    kontext_mcp::serve(reader, writer, KontextServer::new(source)).await;
                }
                Err(error) => tracing::error!(%error, "the files on disk cannot be served"),
            }
        });
        let (reader, writer) = tokio::io::split(near);
        let (sender, writing) = spawn_writer(writer);
        Self {
            origin: Origin::Disk,
            spoke: false,
            lines: Lines::new(Box::new(reader), MAX_ANSWER),
            sender: Some(sender),
            tasks: vec![serving, writing],
        }
    }

    /// Room for one line; `None` where none can be sent any more.
    ///
    /// The future does not borrow from the backend, so that it can be read meanwhile.
    pub(super) fn room(&self) -> impl Future<Output = Option<mpsc::OwnedPermit<Vec<u8>>>> + use<> {
        let sender = self.sender.clone();
        async move { sender?.reserve_owned().await.ok() }
    }

    /// The next line from it. Cancel safe.
    pub(super) async fn next(&mut self) -> Line {
        self.lines.next().await
    }

    /// Says that nothing more will be sent.
    pub(super) fn finish(&mut self) {
        self.sender = None;
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// A task that owns `writer` and writes the lines that are sent. Dropping the sender ends it after
/// what is queued.
pub(super) fn spawn_writer<W>(writer: W) -> (mpsc::Sender<Vec<u8>>, JoinHandle<()>)
where
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (sender, queue) = mpsc::channel(super::WAITING);
    (sender, tokio::spawn(write_lines(writer, queue)))
}
