//! Serving agents at the socket of this process.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kontext_mcp::Source;

use super::place::Places;

/// A language server's endpoint. Dropping it closes its connections and removes its files.
#[derive(Debug)]
pub struct Endpoint {
    #[cfg(unix)]
    inner: unix::Inner,
    #[cfg(not(unix))]
    never: std::convert::Infallible,
}

impl Endpoint {
    /// Opens the endpoint of this process for a workspace with these roots and serves every agent
    /// that connects, each in a task of its own. What dead language servers left is removed.
    ///
    /// Needs a tokio runtime with I/O and time.
    ///
    /// # Errors
    ///
    /// Where no private directory is to be had or the socket cannot be made. A language server
    /// works without an endpoint: log it and go on.
    #[cfg(unix)]
    pub async fn start(
        places: &Places,
        roots: &[PathBuf],
        source: Arc<dyn Source>,
    ) -> io::Result<Self> {
        let inner = unix::Inner::start(places, roots, source).await?;
        Ok(Self { inner })
    }

    /// Not on this system yet.
    ///
    /// # Errors
    ///
    /// Always.
    #[cfg(not(unix))]
    pub async fn start(
        _places: &Places,
        _roots: &[PathBuf],
        _source: Arc<dyn Source>,
    ) -> io::Result<Self> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "an endpoint for agents is not supported on this system yet; \
             `kontext-ls mcp` serves from disk",
        ))
    }

    /// The workspace's roots have changed.
    ///
    /// # Errors
    ///
    /// Where the record cannot be written; the old one stays.
    pub fn set_roots(&mut self, roots: &[PathBuf]) -> io::Result<()> {
        #[cfg(unix)]
        return self.inner.set_roots(roots);
        #[cfg(not(unix))]
        {
            let _ = roots;
            match self.never {}
        }
    }

    /// The socket.
    pub fn socket(&self) -> &Path {
        #[cfg(unix)]
        return self.inner.socket();
        #[cfg(not(unix))]
        match self.never {}
    }
}

#[cfg(unix)]
mod unix {
    use std::io::Write as _;
    use std::os::unix::ffi::OsStrExt as _;
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use kontext_mcp::KontextServer;
    use sha2::{Digest as _, Sha256};
    use tokio::net::{UnixListener, UnixStream};
    use tokio::task::{JoinHandle, JoinSet};

    use super::*;
    use crate::endpoint::Record;
    use crate::endpoint::place::{Place, own_uid};
    use crate::endpoint::record::real;

    /// How many agents may be connected at once. Each holds one descriptor.
    const MAX_CONNECTIONS: usize = 64;

    /// How long to leave the listener alone after it failed, as when descriptors are short.
    const AFTER_FAILURE: Duration = Duration::from_millis(200);

    #[derive(Debug)]
    pub(super) struct Inner {
        place: Place,
        record: Record,
        socket: PathBuf,
        record_path: PathBuf,
        /// Records in other directories, for agents with another environment.
        elsewhere: Vec<(Place, PathBuf)>,
        accepting: JoinHandle<()>,
    }

    impl Inner {
        pub(super) async fn start(
            places: &Places,
            roots: &[PathBuf],
            source: Arc<dyn Source>,
        ) -> io::Result<Self> {
            let place = places.create().map_err(io::Error::other)?;
            place.sweep().await;
            let roots = real_roots(roots);
            let stem = free_stem(&place, &hash(&roots)).await?;
            let socket = place.dir().join(format!("{stem}.sock"));
            let record_path = place.dir().join(format!("{stem}.json"));

            // Bound under a passing name and then renamed: the name that others look for never
            // refuses a connection while its process lives, and a stale one is replaced.
            let passing = place.dir().join(format!(".{stem}.new"));
            let _ = std::fs::remove_file(&passing);
            let listener = UnixListener::bind(&passing)?;
            std::fs::rename(&passing, &socket)?;

            let started = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_nanos());
            let record = Record {
                pid: std::process::id(),
                started: u64::try_from(started).unwrap_or(u64::MAX),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                socket: format!("{stem}.sock"),
                roots: utf8(&roots),
            };
            let elsewhere = places
                .create_all()
                .into_iter()
                .filter(|other| *other != place)
                .map(|other| {
                    let path = other.dir().join(format!("{stem}.json"));
                    (other, path)
                })
                .collect();
            let inner = Self {
                place,
                record,
                socket,
                record_path,
                elsewhere,
                accepting: tokio::spawn(accept(listener, source)),
            };
            inner.write_record()?;
            // Records in the other places are nobody's to meet while they are not looked for.
            let others = places.existing();
            let own = inner.place.clone();
            tokio::spawn(async move {
                for other in others.iter().filter(|other| **other != own) {
                    other.sweep().await;
                }
            });
            Ok(inner)
        }

        pub(super) fn set_roots(&mut self, roots: &[PathBuf]) -> io::Result<()> {
            let before = std::mem::replace(&mut self.record.roots, utf8(&real_roots(roots)));
            let written = self.write_record();
            if written.is_err() {
                self.record.roots = before;
            }
            written
        }

        pub(super) fn socket(&self) -> &Path {
            &self.socket
        }

        /// The record beside the socket must be written; those elsewhere are a help.
        fn write_record(&self) -> io::Result<()> {
            write(&self.place, &self.record_path, &self.record)?;
            let record = Record {
                socket: self.socket.to_string_lossy().into_owned(),
                ..self.record.clone()
            };
            for (place, path) in &self.elsewhere {
                if let Err(error) = write(place, path, &record) {
                    tracing::debug!(%error, path = %path.display(), "no record here");
                }
            }
            Ok(())
        }
    }

    /// Whole or not at all: the bridge may read at any time.
    fn write(place: &Place, path: &Path, record: &Record) -> io::Result<()> {
        let text = serde_json::to_vec(record).map_err(io::Error::other)?;
        let mut file = tempfile::Builder::new()
            .prefix(".record")
            .tempfile_in(place.dir())?;
        file.write_all(&text)?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    }

    impl Drop for Inner {
        fn drop(&mut self) {
            // The connections end with the task, which owns them.
            self.accepting.abort();
            for (_, record) in &self.elsewhere {
                let _ = std::fs::remove_file(record);
            }
            let _ = std::fs::remove_file(&self.record_path);
            let _ = std::fs::remove_file(&self.socket);
        }
    }

    async fn accept(listener: UnixListener, source: Arc<dyn Source>) {
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                Some(_) = connections.join_next() => continue,
            };
            match accepted {
                Ok((stream, _)) => {
                    if connections.len() >= MAX_CONNECTIONS {
                        tracing::warn!("too many agents are connected; one more is turned away");
                    } else if is_own(&stream) {
                        let server = KontextServer::new(source.clone());
                        let (reader, writer) = stream.into_split();
                        connections.spawn(kontext_mcp::serve(reader, writer, server));
                    } else {
                        tracing::warn!("a connection by another user is refused");
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "an agent cannot be accepted");
                    tokio::time::sleep(AFTER_FAILURE).await;
                }
            }
        }
    }

    fn is_own(stream: &UnixStream) -> bool {
        stream.peer_cred().is_ok_and(|peer| peer.uid() == own_uid())
    }

    fn real_roots(roots: &[PathBuf]) -> Vec<PathBuf> {
        let mut roots: Vec<PathBuf> = roots.iter().map(|root| real(root)).collect();
        roots.sort();
        roots.dedup();
        roots
    }

    fn utf8(roots: &[PathBuf]) -> Vec<String> {
        roots
            .iter()
            .filter_map(|root| root.to_str().map(str::to_owned))
            .collect()
    }

    /// 16 hexadecimal digits that stand for the workspace.
    fn hash(roots: &[PathBuf]) -> String {
        let mut hasher = Sha256::new();
        for root in roots {
            hasher.update(root.as_os_str().as_bytes());
            hasher.update([0]);
        }
        let digest = hasher.finalize();
        digest
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// A name nobody listens under. Process ids return, so a socket of that name may be left from
    /// a dead process; and one process may hold several endpoints.
    async fn free_stem(place: &Place, hash: &str) -> io::Result<String> {
        let pid = std::process::id();
        for serial in 1..100 {
            let stem = match serial {
                1 => format!("{hash}-{pid}"),
                _ => format!("{hash}-{pid}-{serial}"),
            };
            let socket = place.dir().join(format!("{stem}.sock"));
            if UnixStream::connect(&socket).await.is_err() {
                return Ok(stem);
            }
        }
        Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "this process has too many endpoints",
        ))
    }
}
