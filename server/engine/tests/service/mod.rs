//! An HTTP service on the loopback that answers with exactly the bytes a test gives it.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(unreachable_pub, reason = "a module of several test binaries")]

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// A request as it came in.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub method: String,
    /// Path and query.
    pub target: String,
    /// By lower-case name.
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

/// What is answered.
pub enum Reply {
    /// These bytes; the connection stays open for the next request.
    Bytes(Vec<u8>),
    /// These bytes, then the end.
    Last(Vec<u8>),
    /// These bytes, then the second ones over and over.
    Endless(Vec<u8>, Vec<u8>),
    /// These bytes, then nothing.
    Stall(Vec<u8>),
}

pub struct Service {
    pub port: u16,
    pub seen: Arc<Mutex<Vec<Seen>>>,
    /// How many connections were made.
    pub connections: Arc<AtomicUsize>,
    /// Bytes written by [`Reply::Endless`].
    pub written: Arc<AtomicUsize>,
    /// Told when a client has gone away from a stalled answer.
    pub left: Arc<Notify>,
    accepting: AbortHandle,
}

impl Drop for Service {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

type Handler = Arc<dyn Fn(&Seen, usize) -> Reply + Send + Sync>;

impl Service {
    /// A service; the handler is given each request and how many came before it.
    pub async fn start(handler: impl Fn(&Seen, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let connections = Arc::new(AtomicUsize::new(0));
        let written = Arc::new(AtomicUsize::new(0));
        let left = Arc::new(Notify::new());
        let handler: Handler = Arc::new(handler);
        let accepting = tokio::spawn({
            let (seen, connections) = (Arc::clone(&seen), Arc::clone(&connections));
            let (written, left) = (Arc::clone(&written), Arc::clone(&left));
            async move {
                while let Ok((stream, _)) = listener.accept().await {
                    connections.fetch_add(1, Ordering::SeqCst);
                    let (handler, seen) = (Arc::clone(&handler), Arc::clone(&seen));
                    let (written, left) = (Arc::clone(&written), Arc::clone(&left));
                    tokio::spawn(async move {
                        let _ = serve(stream, &handler, &seen, &written, &left).await;
                    });
                }
            }
        });
        Self {
            port,
            seen,
            connections,
            written,
            left,
            accepting: accepting.abort_handle(),
        }
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(
    stream: TcpStream,
    handler: &Handler,
    seen: &Mutex<Vec<Seen>>,
    written: &AtomicUsize,
    left: &Notify,
) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read(&mut stream).await? {
        let count = {
            let mut seen = seen.lock().unwrap();
            seen.push(request.clone());
            seen.len() - 1
        };
        match handler(&request, count) {
            Reply::Bytes(bytes) => stream.write_all(&bytes).await?,
            Reply::Last(bytes) => return stream.write_all(&bytes).await,
            Reply::Stall(bytes) => {
                stream.write_all(&bytes).await?;
                let _ = stream.read(&mut [0; 64]).await;
                left.notify_one();
                return Ok(());
            }
            Reply::Endless(head, more) => {
                stream.write_all(&head).await?;
                loop {
                    stream.write_all(&more).await?;
                    written.fetch_add(more.len(), Ordering::SeqCst);
                }
            }
        }
    }
    Ok(())
}

async fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Seen>> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let mut seen = Seen {
        method: words.next().unwrap_or_default().to_owned(),
        target: words.next().unwrap_or_default().to_owned(),
        ..Seen::default()
    };
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        let name = name.to_ascii_lowercase();
        seen.headers.insert(name, value.trim().to_owned());
    }
    let length = seen.headers.get("content-length");
    let length = length.map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    seen.body = String::from_utf8(body).unwrap();
    Ok(Some(seen))
}

/// An answer with its length.
pub fn answer(status: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Reply {
    let body = body.as_ref();
    let mut bytes = head(status, headers);
    bytes.truncate(bytes.len() - 2);
    bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
    bytes.extend_from_slice(body);
    Reply::Bytes(bytes)
}

/// The head of an answer.
pub fn head(status: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status}\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    head.into_bytes()
}
