//! `kontext-ls mcp`: one agent on a pair of streams, and behind it whichever server there is.
//!
//! Behind the agent stands the language server of its workspace where one runs, else a server in
//! this process that reads the disk. When the one behind goes away or a newer language server
//! comes, the bridge changes over: it repeats the agent's own handshake and subscriptions to the
//! new one, sends again what has not been answered, and tells the agent that the lists may have
//! changed. The agent's session goes on.
//!
//! Lines travel as they are; the bridge reads them only to know what is open ([`session`]).

mod backend;
mod session;
mod watch;

use std::collections::{HashSet, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use kontext_mcp::Source;
use kontext_mcp::jsonrpc;
use kontext_mcp::lines::{Line, Lines, MAX_LINE};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use self::backend::{Backend, Origin, spawn_writer};
use self::session::{Session, Verdict};
use self::watch::Watch;
use crate::endpoint::{Place, Places};

/// How long the answers still open may take once the agent has closed its side.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// How long to wait before a server from disk is made again that ended by itself, which it should
/// never do.
const AFTER_DISK_ENDED: Duration = Duration::from_millis(200);

/// How long a language server may leave every question unanswered and say nothing at all before it
/// counts as gone: it may be stopped, or no language server. All there is to ask takes far less.
const SILENCE: Duration = Duration::from_secs(5);

/// How many lines may wait in either direction before the bridge stops reading their source.
const WAITING: usize = 64;

/// What a bridge is for.
#[derive(Debug, Clone)]
pub struct Options {
    /// The agent's directory: `--dir`, `KONTEXT_DIR`, else the current one.
    pub dir: PathBuf,
    /// Where language servers are looked for.
    pub places: Places,
    /// How often to look where the file system reports nothing.
    pub poll: Duration,
}

impl Options {
    /// For `dir`, with the places of the environment.
    pub fn new(dir: PathBuf) -> Self {
        Self {
            dir,
            places: Places::of_environment(),
            poll: Duration::from_secs(2),
        }
    }
}

/// Makes the source that reads the disk. Called on a blocking thread whenever no language server
/// is there any more; each time it should look at the disk afresh.
pub type Disk = Arc<dyn Fn() -> Arc<dyn Source> + Send + Sync>;

/// Serves one agent until it closes `reader` or no longer reads `writer`.
///
/// Nothing but frames is written to `writer`. On real standard input, shut the runtime down in
/// the background afterwards: tokio's reading thread cannot be stopped.
///
/// # Errors
///
/// None at present: an agent that goes away in any manner is the normal end. The result is kept
/// for what the system may refuse.
pub async fn run<R, W>(reader: R, writer: W, options: Options, disk: Disk) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (to_agent, written) = spawn_writer(writer);
    let mut bridge = Bridge {
        watch: Watch::new(&options.places, options.poll),
        options,
        disk,
        session: Session::default(),
        useless: HashSet::new(),
        for_agent: VecDeque::new(),
        for_backend: VecDeque::new(),
    };
    bridge.carry(Lines::new(reader, MAX_LINE), &to_agent).await;
    let stop = written.abort_handle();
    let last = async {
        for line in bridge.for_agent {
            if to_agent.send(line).await.is_err() {
                break;
            }
        }
        drop(to_agent);
        let _ = written.await;
    };
    if tokio::time::timeout(LAST_ANSWERS, last).await.is_err() {
        stop.abort();
    }
    Ok(())
}

struct Bridge {
    options: Options,
    disk: Disk,
    watch: Watch,
    session: Session,
    /// Language servers that closed the connection without a word; not tried again.
    useless: HashSet<Origin>,
    for_agent: VecDeque<Vec<u8>>,
    for_backend: VecDeque<Vec<u8>>,
}

impl Bridge {
    async fn carry<R>(&mut self, mut agent: Lines<R>, to_agent: &tokio::sync::mpsc::Sender<Vec<u8>>)
    where
        R: AsyncRead + Send + Unpin,
    {
        let mut backend = self.next_backend(None).await;
        // Set once the agent has closed its side; from then on only answers travel.
        let mut end: Option<Instant> = None;
        // When the server was last heard, or nothing was asked of it.
        let mut heard = Instant::now();
        loop {
            if !self.session.is_waiting() {
                heard = Instant::now();
            }
            let joined = matches!(backend.origin, Origin::Joined(..));
            let silent = (joined && end.is_none()).then(|| heard + SILENCE);
            if end.is_some() && self.for_backend.is_empty() {
                // The server sees the end too, answers what is open and closes.
                backend.finish();
            }
            // No branch waits for another direction, so neither side can block the other.
            tokio::select! {
                room = to_agent.reserve(), if !self.for_agent.is_empty() => {
                    // An agent that cannot be written to has gone.
                    let Ok(room) = room else { return };
                    if let Some(line) = self.for_agent.pop_front() {
                        room.send(line);
                    }
                }
                room = backend.room(), if !self.for_backend.is_empty() => {
                    match (room, self.for_backend.pop_front()) {
                        (Some(room), Some(line)) => drop(room.send(line)),
                        // Its end is seen below, where it is read; what was to be sent is sent
                        // again from the session's books.
                        _ => self.for_backend.clear(),
                    }
                }
                line = backend.next(), if self.for_agent.len() < WAITING => {
                    match line {
                        Line::Bytes(line) => {
                            backend.spoke = true;
                            heard = Instant::now();
                            match self.session.judge_answer(&line) {
                                Verdict::Forward => self.for_agent.push_back(line),
                                Verdict::Swallow => {}
                            }
                        }
                        Line::TooLong(_) => tracing::warn!("an answer was too long and is lost"),
                        Line::End if end.is_some() => return,
                        Line::End => {
                            let gone = backend.origin.clone();
                            self.note_end(&gone, backend.spoke).await;
                            backend = self.next_backend(Some(&gone)).await;
                            self.changed_over();
                        }
                    }
                }
                line = agent.next(), if end.is_none() && self.for_backend.len() < WAITING => {
                    match line {
                        Line::Bytes(line) => {
                            self.session.note_agent(&line);
                            self.for_backend.push_back(line);
                        }
                        Line::TooLong(outline) => {
                            let answer = jsonrpc::too_long_line(MAX_LINE, &outline);
                            self.for_agent.push_back(answer.into_bytes());
                        }
                        Line::End => end = Some(Instant::now() + LAST_ANSWERS),
                    }
                }
                () = self.watch.changed(), if end.is_none() && !self.session.is_calling() => {
                    if let Some(better) = self.better_than(&backend.origin.clone()).await {
                        backend = better;
                        self.changed_over();
                    }
                }
                () = at(silent), if self.session.is_waiting() => {
                    tracing::warn!("the language server does not answer");
                    let gone = backend.origin.clone();
                    self.useless.insert(gone.clone());
                    backend = self.next_backend(Some(&gone)).await;
                    self.changed_over();
                    heard = Instant::now();
                }
                () = at(end) => return,
            }
        }
    }

    /// A backend has ended by itself.
    async fn note_end(&mut self, origin: &Origin, spoke: bool) {
        match origin {
            Origin::Disk => {
                tracing::warn!("the server from disk has ended");
                tokio::time::sleep(AFTER_DISK_ENDED).await;
            }
            Origin::Joined(..) => {
                tracing::info!("the language server has gone");
                if !spoke {
                    self.useless.insert(origin.clone());
                }
            }
        }
    }

    /// The newest language server there is, except `gone`; else one from disk.
    async fn next_backend(&mut self, gone: Option<&Origin>) -> Backend {
        for found in self.options.places.find(&self.options.dir) {
            let origin = Origin::of(&found);
            if Some(&origin) == gone || self.useless.contains(&origin) {
                continue;
            }
            match Backend::join(&found).await {
                Ok(backend) => {
                    tracing::info!(pid = found.record.pid, "joined a language server");
                    return backend;
                }
                Err(error) => tracing::debug!(%error, "a language server cannot be joined"),
            }
        }
        tracing::info!("no language server runs here; serving from disk");
        Backend::from_disk(self.disk.clone())
    }

    /// What is to stand behind the agent instead of `current`: a newer language server, or another
    /// backend where the one at `current` no longer has the agent's folder open.
    async fn better_than(&mut self, current: &Origin) -> Option<Backend> {
        for found in self.options.places.find(&self.options.dir) {
            let origin = Origin::of(&found);
            if origin == *current {
                // The list is in order: all that follow are older.
                return None;
            }
            if self.useless.contains(&origin) {
                continue;
            }
            if let Ok(joined) = Backend::join(&found).await {
                tracing::info!(pid = found.record.pid, "joined a newer language server");
                return Some(joined);
            }
        }
        // A record that is gone says nothing: something may have cleaned up. One that is there and
        // names other folders does.
        let records = self.options.places.existing();
        let mut records = records.iter().flat_map(Place::records);
        let left = records.any(|found| Origin::of(&found) == *current);
        if left {
            tracing::info!("the language server has closed this folder");
            return Some(self.next_backend(Some(current)).await);
        }
        None
    }

    /// Brings a new backend to where the session is, and tells the agent to look again.
    fn changed_over(&mut self) {
        // Requests among them are in the session's books; the rest had its old reader only.
        self.for_backend.clear();
        self.for_agent.extend(self.session.lost());
        self.for_backend.extend(self.session.replay());
        self.for_agent.extend(self.session.news());
    }
}

/// Waits for `end`, for ever where there is none.
async fn at(end: Option<Instant>) {
    match end {
        Some(end) => tokio::time::sleep_until(end).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
pub(crate) mod tests;
