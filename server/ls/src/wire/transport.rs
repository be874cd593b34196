//! Where the bytes of a language client come from and go to.

use std::io;
use std::path::PathBuf;

use tokio::io::{AsyncRead, AsyncWrite};

/// How the client is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// Standard input and output.
    Stdio,
    /// The client listens on this TCP port of 127.0.0.1 (`--port`).
    Port(u16),
    /// The client listens on this Unix domain socket (`--pipe`).
    Pipe(PathBuf),
}

/// An open connection to a language client.
pub struct Transport {
    /// What the client sends.
    pub input: Box<dyn AsyncRead + Send + Unpin>,
    /// What the client is sent.
    pub output: Box<dyn AsyncWrite + Send + Unpin>,
}

impl std::fmt::Debug for Transport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Transport")
    }
}

impl Address {
    /// Opens the connection. Must run inside a tokio runtime.
    ///
    /// # Errors
    /// When the client cannot be reached; the message names the address.
    pub async fn open(&self) -> io::Result<Transport> {
        match self {
            Address::Stdio => Ok(stdio()),
            Address::Port(port) => {
                let stream = tokio::net::TcpStream::connect(("127.0.0.1", *port)).await;
                let stream = stream.map_err(|error| {
                    io::Error::new(error.kind(), format!("port {port} on 127.0.0.1: {error}"))
                })?;
                stream.set_nodelay(true)?;
                let (input, output) = stream.into_split();
                Ok(Transport {
                    input: Box::new(input),
                    output: Box::new(output),
                })
            }
            Address::Pipe(path) => pipe(path).await.map_err(|error| {
                io::Error::new(error.kind(), format!("pipe {}: {error}", path.display()))
            }),
        }
    }
}

#[cfg(unix)]
async fn pipe(path: &std::path::Path) -> io::Result<Transport> {
    let (input, output) = tokio::net::UnixStream::connect(path).await?.into_split();
    Ok(Transport {
        input: Box::new(input),
        output: Box::new(output),
    })
}

#[cfg(windows)]
async fn pipe(path: &std::path::Path) -> io::Result<Transport> {
    let client = tokio::net::windows::named_pipe::ClientOptions::new().open(path)?;
    let (input, output) = tokio::io::split(client);
    Ok(Transport {
        input: Box::new(input),
        output: Box::new(output),
    })
}

/// Standard input and output without a thread between them and the runtime where the system
/// allows it (pipes and sockets), which saves two hand-overs a message; else tokio's own.
fn stdio() -> Transport {
    #[cfg(unix)]
    let (input, output) = (fast::input(), fast::output());
    #[cfg(not(unix))]
    let (input, output) = (None, None);
    Transport {
        input: input.unwrap_or_else(|| Box::new(tokio::io::stdin())),
        output: output.unwrap_or_else(|| Box::new(tokio::io::stdout())),
    }
}

#[cfg(unix)]
mod fast {
    use std::fs::File;
    use std::os::fd::{AsFd, BorrowedFd};
    use std::os::unix::fs::FileTypeExt;
    use std::os::unix::net::UnixStream as Socket;

    use tokio::io::{AsyncRead, AsyncWrite};
    use tokio::net::UnixStream;
    use tokio::net::unix::pipe;

    pub(super) fn input() -> Option<Box<dyn AsyncRead + Send + Unpin>> {
        // Opened anew, the pipe has flags of its own: who shares ours (children, the shell) must
        // not find it non-blocking all of a sudden.
        if let Ok(pipe) = pipe::OpenOptions::new().open_receiver("/proc/self/fd/0") {
            return Some(Box::new(pipe));
        }
        Some(Box::new(socket(std::io::stdin().as_fd())?))
    }

    pub(super) fn output() -> Option<Box<dyn AsyncWrite + Send + Unpin>> {
        if let Ok(pipe) = pipe::OpenOptions::new().open_sender("/proc/self/fd/1") {
            return Some(Box::new(pipe));
        }
        Some(Box::new(socket(std::io::stdout().as_fd())?))
    }

    /// Node.js, and so VS Code, gives its children sockets, whose flags nobody else shares.
    fn socket(fd: BorrowedFd<'_>) -> Option<UnixStream> {
        let file = File::from(fd.try_clone_to_owned().ok()?);
        if !file.metadata().ok()?.file_type().is_socket() {
            return None;
        }
        let socket = Socket::from(std::os::fd::OwnedFd::from(file));
        socket.set_nonblocking(true).ok()?;
        UnixStream::from_std(socket).ok()
    }
}
