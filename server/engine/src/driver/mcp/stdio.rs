//! A server as a child: messages over its standard input and output, one a line.

use std::sync::{Arc, Weak};
#[cfg(unix)]
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::oneshot;
#[cfg(unix)]
use tokio::{net::unix::pipe, sync::Notify};

use super::common::Common;
use super::inbox::{Inbox, MOST_OF_MESSAGE, Over, message_too_large};
use super::lines::{Line, Lines};
use super::log::{Log, Source};
use crate::driver::process::{self, Group, Spawn};
use crate::fault::{Fault, FaultKind};

/// How long a server may take to end once its input is closed, and again once it is asked to.
const GRACE: Duration = Duration::from_millis(500);

/// The longest line of standard error that is looked at.
const MOST_OF_LINE: usize = 64 * 1024;

/// How much may wait to be read by the server.
const MOST_UNREAD: usize = 64 * 1024 * 1024;

/// A child and the connection to it.
#[derive(Debug)]
pub(super) struct Child {
    group: Group,
    stderr: tokio::task::JoinHandle<()>,
}

/// What a server says, and whether it still listens.
#[derive(Debug)]
pub(super) struct Outbox {
    stdout: ChildStdout,
    /// Told where the server has closed its standard input; closes with the wire.
    deaf: oneshot::Receiver<()>,
}

/// Starts a server. What it says is for [`listen`].
pub(super) fn start(
    spawn: &Spawn,
    common: Arc<Common>,
) -> Result<(Child, StdioWire, Outbox), Fault> {
    let mut spawn = spawn.clone();
    spawn.stdin = true;
    let mut group = process::spawn(&spawn)?;
    let (Some(stdin), Some(stdout), Some(stderr)) = (group.stdin(), group.stdout(), group.stderr())
    else {
        let words = "the program was started without pipes";
        return Err(Fault::new(FaultKind::Unreachable, words));
    };
    let (tell, deaf) = oneshot::channel();
    let wire = StdioWire::new(stdin, tell).map_err(|error| {
        Fault::new(
            FaultKind::Unreachable,
            format!("the program's standard input cannot be used: {error}"),
        )
    })?;
    // Always read to its end, so that a flood of lines never holds the server up.
    let stderr = tokio::spawn(async move {
        let mut lines = Lines::new(stderr, MOST_OF_LINE);
        while let Line::Text(text) | Line::TooLong(text) = lines.next().await {
            common.log.add(Source::Stderr, &text);
        }
    });
    Ok((Child { group, stderr }, wire, Outbox { stdout, deaf }))
}

/// Hands a server's messages to the session, and tells it when the server listens no more.
pub(super) fn listen(outbox: Outbox, inbox: Weak<dyn Inbox>) {
    let Outbox { stdout, deaf } = outbox;
    tokio::spawn(read(stdout, inbox.clone()));
    tokio::spawn(async move {
        if deaf.await.is_ok()
            && let Some(inbox) = inbox.upgrade()
        {
            inbox.end(Over::Deaf);
        }
    });
}

/// Reads a server's messages to the end of its output, or of the session.
async fn read(stdout: ChildStdout, inbox: Weak<dyn Inbox>) {
    let mut lines = Lines::new(stdout, MOST_OF_MESSAGE);
    loop {
        let line = lines.next().await;
        let Some(inbox) = inbox.upgrade() else {
            return;
        };
        match line {
            Line::Text(text) => inbox.receive(&text, None),
            Line::TooLong(_) => return inbox.end(Over::Broken(message_too_large())),
            Line::End => return inbox.end(Over::Ended),
        }
    }
}

impl Child {
    /// Ends the server and all it has started: closes its input, waits, asks, waits, kills.
    pub(super) async fn stop(mut self, input: Option<&StdioWire>) {
        self.group.look();
        if let Some(wire) = input {
            wire.close();
        }
        let _ = tokio::time::timeout(GRACE, self.group.wait()).await;
        self.group.end(GRACE).await;
        self.drain().await;
    }

    /// Ends a server that cannot be talked to any more; says how it ended. What it still answers
    /// while it is given time to go reaches the calls that wait.
    pub(super) async fn bury(mut self, over: Over, input: Option<&StdioWire>, log: &Log) -> Fault {
        let status = match &over {
            Over::Broken(_) => {
                self.group.kill().await;
                None
            }
            Over::Ended | Over::Deaf | Over::Expired => {
                self.group.look();
                if let Some(wire) = input {
                    wire.close();
                }
                let status = tokio::time::timeout(GRACE, self.group.wait()).await;
                self.group.end(GRACE).await;
                status.ok().and_then(Result::ok)
            }
        };
        self.drain().await;
        let mut words = match (over, status) {
            (Over::Broken(fault), _) => return fault,
            (_, Some(status)) => format!("the server ended ({})", ending(status)),
            (Over::Deaf, None) => "the server closed its standard input".to_owned(),
            (_, None) => "the server closed its standard output".to_owned(),
        };
        if let Some(last) = log.last_words() {
            words.push_str(&format!("; the last line of its stderr: {last}"));
        }
        Fault::new(FaultKind::Unreachable, words)
    }

    /// Waits for the last lines of standard error.
    async fn drain(&mut self) {
        if tokio::time::timeout(GRACE, &mut self.stderr).await.is_err() {
            self.stderr.abort();
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.stderr.abort();
    }
}

#[cfg(unix)]
fn ending(status: std::process::ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "for an unknown reason".to_owned(),
    }
}

#[cfg(not(unix))]
fn ending(status: std::process::ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => "for an unknown reason".to_owned(),
    }
}

fn not_read() -> Fault {
    Fault::new(
        FaultKind::Unreachable,
        "the server does not read its standard input",
    )
}

fn closed() -> Fault {
    Fault::new(
        FaultKind::Unreachable,
        "the connection to the server is closed",
    )
}

/// Writes to a server's standard input: at once where there is room, which saves a call the way
/// over another task; what does not fit is written by a task, in the same order.
#[cfg(unix)]
#[derive(Debug)]
pub(super) struct StdioWire {
    shared: Arc<Shared>,
}

#[cfg(unix)]
#[derive(Debug)]
struct Shared {
    state: Mutex<Outlet>,
    /// Something waits to be written, or the pipe is closed.
    wake: Notify,
}

#[cfg(unix)]
#[derive(Debug)]
enum Pipe {
    /// With whom to tell that the server reads no more.
    Open(Arc<pipe::Sender>, oneshot::Sender<()>),
    /// The server has closed its end. What is sent goes nowhere; the session's end tells its callers.
    Deaf,
    /// Closed by us.
    Closed,
}

#[cfg(unix)]
#[derive(Debug)]
struct Outlet {
    pipe: Pipe,
    waiting: Vec<u8>,
    /// How much of `waiting` has been written.
    written: usize,
}

#[cfg(unix)]
impl Outlet {
    /// The pipe, while it is open.
    fn pipe(&self) -> Option<Arc<pipe::Sender>> {
        match &self.pipe {
            Pipe::Open(pipe, _) => Some(Arc::clone(pipe)),
            Pipe::Deaf | Pipe::Closed => None,
        }
    }

    /// Writes what can be written without waiting. `true` where nothing is left.
    fn flush(&mut self) -> bool {
        while let Pipe::Open(pipe, _) = &self.pipe {
            let rest = self.waiting.get(self.written..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            match pipe.try_write(rest) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return false,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => {
                    if let Pipe::Open(_, deaf) = std::mem::replace(&mut self.pipe, Pipe::Deaf) {
                        let _ = deaf.send(());
                    }
                }
            }
        }
        self.waiting.clear();
        self.waiting.shrink_to(64 * 1024);
        self.written = 0;
        true
    }
}

#[cfg(unix)]
impl StdioWire {
    /// `deaf` is told once the server reads no more.
    fn new(stdin: ChildStdin, deaf: oneshot::Sender<()>) -> std::io::Result<Self> {
        let pipe = pipe::Sender::from_owned_fd(stdin.into_owned_fd()?)?;
        let shared = Arc::new(Shared {
            state: Mutex::new(Outlet {
                pipe: Pipe::Open(Arc::new(pipe), deaf),
                waiting: Vec::new(),
                written: 0,
            }),
            wake: Notify::new(),
        });
        tokio::spawn(Arc::clone(&shared).write());
        Ok(Self { shared })
    }

    /// Sends whole lines.
    pub(super) fn send(&self, line: Vec<u8>) -> Result<(), Fault> {
        self.shared.look(|outlet| {
            match outlet.pipe {
                Pipe::Open(..) => {}
                Pipe::Deaf => return Ok(()),
                Pipe::Closed => return Err(closed()),
            }
            let unread = outlet.waiting.len() - outlet.written;
            if unread > MOST_UNREAD {
                return Err(not_read());
            }
            if unread > 0 {
                outlet.waiting.extend(line);
                return Ok(());
            }
            outlet.waiting = line;
            outlet.written = 0;
            if !outlet.flush() {
                self.shared.wake.notify_one();
            }
            Ok(())
        })
    }

    /// Closes the pipe; what waits is dropped.
    pub(super) fn close(&self) {
        self.shared.look(|outlet| outlet.pipe = Pipe::Closed);
        self.shared.wake.notify_one();
    }
}

#[cfg(unix)]
impl Drop for StdioWire {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(unix)]
impl Shared {
    fn look<T>(&self, look: impl FnOnce(&mut Outlet) -> T) -> T {
        look(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn write(self: Arc<Self>) {
        loop {
            self.wake.notified().await;
            loop {
                if self.look(Outlet::flush) {
                    break;
                }
                let Some(pipe) = self.look(|outlet| outlet.pipe()) else {
                    break;
                };
                tokio::select! {
                    ready = pipe.writable() => if ready.is_err() { break },
                    () = self.wake.notified() => {}
                }
            }
            if self.look(|outlet| outlet.pipe().is_none()) {
                return;
            }
        }
    }
}

/// Writes to a server's standard input.
#[cfg(not(unix))]
#[derive(Debug)]
pub(super) struct StdioWire {
    lines: tokio::sync::mpsc::UnboundedSender<Option<Vec<u8>>>,
    unread: Arc<std::sync::atomic::AtomicUsize>,
}

#[cfg(not(unix))]
impl StdioWire {
    /// `deaf` is told once the server reads no more.
    fn new(mut stdin: ChildStdin, deaf: oneshot::Sender<()>) -> std::io::Result<Self> {
        use std::sync::atomic::Ordering;
        use tokio::io::AsyncWriteExt;
        let (lines, mut queue) = tokio::sync::mpsc::unbounded_channel::<Option<Vec<u8>>>();
        let unread = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let left = Arc::clone(&unread);
        tokio::spawn(async move {
            while let Some(Some(mut batch)) = queue.recv().await {
                while let Ok(Some(line)) = queue.try_recv() {
                    batch.extend(line);
                }
                let length = batch.len();
                if stdin.write_all(&batch).await.is_err() || stdin.flush().await.is_err() {
                    let _ = deaf.send(());
                    return;
                }
                left.fetch_sub(length, Ordering::Relaxed);
            }
        });
        Ok(Self { lines, unread })
    }

    /// Sends whole lines.
    pub(super) fn send(&self, line: Vec<u8>) -> Result<(), Fault> {
        use std::sync::atomic::Ordering;
        if self.unread.fetch_add(line.len(), Ordering::Relaxed) > MOST_UNREAD {
            self.unread.fetch_sub(line.len(), Ordering::Relaxed);
            return Err(not_read());
        }
        self.lines.send(Some(line)).map_err(|_| closed())
    }

    /// Closes the pipe.
    pub(super) fn close(&self) {
        let _ = self.lines.send(None);
    }
}
