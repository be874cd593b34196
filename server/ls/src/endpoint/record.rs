//! The record beside a socket, and how the bridge finds the one it wants.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};

use super::place::{Place, Places};

/// Whose a socket is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The process of the language server.
    pub pid: u32,
    /// When the endpoint was started, in nanoseconds since 1970. The newest wins.
    pub started: u64,
    /// The version of the program.
    pub version: String,
    /// The socket: its file name where it lies in the same directory, else its whole path. An
    /// editor and its agent may be started with different environments; the record stands in
    /// every directory that either may look in.
    pub socket: String,
    /// The workspace's roots, absolute and without symbolic links. Roots whose path is not UTF-8
    /// are left out.
    pub roots: Vec<String>,
}

impl Record {
    /// Whether `dir`, absolute and without symbolic links, lies in one of the roots.
    pub fn covers(&self, dir: &Path) -> bool {
        self.roots.iter().any(|root| dir.starts_with(root))
    }
}

/// A language server that may be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it says about itself.
    pub record: Record,
    /// Its socket.
    pub socket: PathBuf,
    record_path: PathBuf,
}

impl Places {
    /// The language servers whose roots contain `dir`, the newest first.
    pub fn find(&self, dir: &Path) -> Vec<Found> {
        let dir = real(dir);
        let mut found: Vec<Found> = self
            .existing()
            .iter()
            .flat_map(Place::records)
            .filter(|found| found.record.covers(&dir))
            .collect();
        found.sort_by(|one, other| {
            let key = |found: &Found| (found.record.started, found.record.pid);
            key(other).cmp(&key(one))
        });
        let mut seen = std::collections::HashSet::new();
        found.retain(|found| seen.insert(found.socket.clone()));
        found
    }
}

impl Place {
    /// Every record in the directory that can be read.
    pub fn records(&self) -> Vec<Found> {
        let Ok(entries) = std::fs::read_dir(self.dir()) else {
            return Vec::new();
        };
        entries
            .filter_map(|entry| {
                let record_path = entry.ok()?.path();
                if record_path.extension()? != "json" {
                    return None;
                }
                let text = std::fs::read(&record_path).ok()?;
                let record: Record = serde_json::from_slice(&text).ok()?;
                // The directory is private, so is what it says.
                let socket = self.dir().join(&record.socket);
                Some(Found {
                    record,
                    socket,
                    record_path,
                })
            })
            .collect()
    }

    /// Removes what dead language servers have left.
    pub async fn sweep(&self) {
        for found in self.records() {
            // A refused connection removes the files; a good one is closed again.
            let _ = found.connect().await;
        }
    }
}

/// The path as the system sees it, where it can be told.
pub(super) fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The reading and the writing half of a connection.
pub type Halves = (
    Box<dyn AsyncRead + Send + Unpin>,
    Box<dyn AsyncWrite + Send + Unpin>,
);

impl Found {
    /// Connects, and checks that the other end runs as this user. A socket that nobody listens
    /// on any more is removed together with its record.
    ///
    /// # Errors
    ///
    /// Where nobody listens, or somebody else does.
    #[cfg(unix)]
    pub async fn connect(&self) -> io::Result<Halves> {
        let connected = tokio::time::timeout(
            std::time::Duration::from_secs(2),
            tokio::net::UnixStream::connect(&self.socket),
        )
        .await
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        let stream = match connected {
            Ok(stream) => stream,
            Err(error) => {
                // The name appears only once somebody listens (see `serve`), so a refusal means
                // that the listener is gone, not that it is not there yet.
                if matches!(
                    error.kind(),
                    io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound
                ) {
                    let _ = std::fs::remove_file(&self.record_path);
                    let _ = std::fs::remove_file(&self.socket);
                }
                return Err(error);
            }
        };
        if stream.peer_cred()?.uid() != super::place::own_uid() {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "the socket belongs to another user",
            ));
        }
        let (reader, writer) = stream.into_split();
        Ok((Box::new(reader), Box::new(writer)))
    }

    /// Not on this system yet.
    ///
    /// # Errors
    ///
    /// Always.
    #[cfg(not(unix))]
    pub async fn connect(&self) -> io::Result<Halves> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
