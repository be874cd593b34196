//! One end of a JSON-RPC connection: what the language client and the agent have in common.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kontext_ls::wire::frame::{Frame, FrameReader, write_frame};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, watch};

/// How long an event is waited for. Long, as a loaded machine is no failure.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// How messages are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// LSP: `Content-Length`.
    Headers,
    /// MCP on stdio: a line each.
    Lines,
}

/// What the test's end does with a request of the server.
#[derive(Debug, Clone)]
pub enum Answer {
    /// This result.
    Result(Value),
    /// Error -32601, as a client that does not know the method.
    NotFound,
    /// None at all, ever.
    Never,
}

/// All that was received, in order.
#[derive(Debug, Default)]
pub struct Received {
    /// Notifications of the server.
    pub notifications: Vec<Value>,
    /// Requests of the server, answered or not.
    pub requests: Vec<Value>,
    /// Responses by the text of their id (`null`: errors about what was no message).
    pub responses: HashMap<String, Vec<Value>>,
    /// The server closed its output.
    pub closed: bool,
    /// Standard error, where there is a process.
    pub stderr: String,
}

struct Shared {
    received: Mutex<Received>,
    answers: Mutex<HashMap<String, Answer>>,
    changed: watch::Sender<()>,
}

impl Shared {
    fn update(&self, change: impl FnOnce(&mut Received)) {
        change(&mut self.received.lock().unwrap());
        self.changed.send_replace(());
    }
}

/// One end of a connection.
pub struct Peer {
    framing: Framing,
    shared: Arc<Shared>,
    /// `None` once the input of the server was closed.
    out: Option<mpsc::UnboundedSender<Vec<u8>>>,
    child: Option<Child>,
    next_id: i64,
}

impl Peer {
    /// Over the stdio of a new process. It is killed when the peer is dropped.
    pub fn spawn(command: std::process::Command, framing: Framing) -> Peer {
        let mut command = Command::from(command);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn().unwrap();
        let (input, output) = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let stderr = child.stderr.take().unwrap();
        let mut peer = Peer::over(input, output, framing);
        peer.child = Some(child);
        let shared = peer.shared.clone();
        tokio::spawn(async move {
            let mut lines = BufReader::new(stderr).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                shared.update(|received| received.stderr += &format!("{line}\n"));
            }
        });
        peer
    }

    /// Over any pair of streams.
    pub fn over<I, O>(input: I, mut output: O, framing: Framing) -> Peer
    where
        I: AsyncRead + Send + Unpin + 'static,
        O: AsyncWrite + Send + Unpin + 'static,
    {
        let (out, mut queue) = mpsc::unbounded_channel::<Vec<u8>>();
        let shared = Arc::new(Shared {
            received: Mutex::default(),
            answers: Mutex::default(),
            changed: watch::Sender::new(()),
        });
        tokio::spawn(async move {
            while let Some(bytes) = queue.recv().await {
                if output.write_all(&bytes).await.is_err() || output.flush().await.is_err() {
                    return;
                }
            }
            let _ = output.shutdown().await;
        });
        // Answers must not keep the server's input open.
        tokio::spawn(read(input, framing, shared.clone(), out.downgrade()));
        Peer {
            framing,
            shared,
            out: Some(out),
            child: None,
            next_id: 1,
        }
    }

    /// What to do with requests of this method from now on. Default: the result `null`.
    pub fn answer(&self, method: &str, answer: Answer) {
        self.shared
            .answers
            .lock()
            .unwrap()
            .insert(method.to_owned(), answer);
    }

    /// Sends bytes as they are.
    pub fn send_raw(&self, bytes: &[u8]) {
        // A server that is gone is noticed by whoever waits for something.
        let _ = self.out.as_ref().unwrap().send(bytes.to_vec());
    }

    /// Sends these bytes as one message.
    pub fn send_body(&self, body: &[u8]) {
        self.send_raw(&framed(self.framing, body));
    }

    /// Sends a message.
    pub fn send(&self, message: &Value) {
        self.send_body(message.to_string().as_bytes());
    }

    /// Sends a notification; `params` of `null` are left out.
    pub fn notify(&self, method: &str, params: Value) {
        self.send(&message(method, params));
    }

    /// Starts a request; gives its id.
    pub fn start(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        let mut message = message(method, params);
        message["id"] = id.into();
        self.send(&message);
        id
    }

    /// The whole response to the request with this id (`Value::Null`: the next error reply to what
    /// was no message).
    pub async fn response(&self, id: impl Into<Value>) -> Value {
        let id = id.into().to_string();
        self.wait(&format!("a response to {id}"), |received| {
            let queue = received.responses.get_mut(&id)?;
            (!queue.is_empty()).then(|| queue.remove(0))
        })
        .await
    }

    /// Sends a request and gives its whole response.
    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.start(method, params);
        self.response(id).await
    }

    /// Sends a request and gives its result; an error fails the test.
    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        let mut response = self.ask(method, params).await;
        assert!(response.get("error").is_none(), "{method}: {response}");
        response["result"].take()
    }

    /// Waits until `look` finds something in what was received. `look` may take things out.
    pub async fn wait<T>(&self, what: &str, mut look: impl FnMut(&mut Received) -> Option<T>) -> T {
        let mut changed = self.shared.changed.subscribe();
        let search = async {
            loop {
                changed.mark_unchanged();
                if let Some(found) = look(&mut self.shared.received.lock().unwrap()) {
                    return Some(found);
                }
                if self.shared.received.lock().unwrap().closed {
                    // Nothing more will come, but the last message may just have.
                    return look(&mut self.shared.received.lock().unwrap());
                }
                if changed.changed().await.is_err() {
                    return None;
                }
            }
        };
        match tokio::time::timeout(PATIENCE, search).await {
            Ok(Some(found)) => found,
            gone => panic!(
                "{what}: {}; received: {:#?}",
                if gone.is_err() {
                    "not in time"
                } else {
                    "the server closed"
                },
                self.shared.received.lock().unwrap()
            ),
        }
    }

    /// Looks at what was received so far.
    pub fn received<T>(&self, look: impl FnOnce(&Received) -> T) -> T {
        look(&self.shared.received.lock().unwrap())
    }

    /// The first notification of `method`, from the start of the session, that `fits`; it is taken
    /// out of what was received.
    pub async fn notification(&self, method: &str, fits: impl Fn(&Value) -> bool) -> Value {
        self.wait(&format!("a notification {method}"), |received| {
            let fit = |n: &Value| n["method"] == method && fits(&n["params"]);
            let at = received.notifications.iter().position(fit)?;
            Some(received.notifications.remove(at))
        })
        .await
    }

    /// The next request of the server of `method`; it is taken out of what was received.
    pub async fn server_request(&self, method: &str) -> Value {
        self.wait(&format!("a request {method}"), |received| {
            let at = received
                .requests
                .iter()
                .position(|r| r["method"] == method)?;
            Some(received.requests.remove(at))
        })
        .await
    }

    /// Waits for a line of standard error that contains `text`.
    pub async fn stderr(&self, text: &str) -> String {
        self.wait(&format!("{text:?} on standard error"), |received| {
            received
                .stderr
                .lines()
                .find(|line| line.contains(text))
                .map(ToOwned::to_owned)
        })
        .await
    }

    /// Closes the server's input.
    pub fn close_input(&mut self) {
        self.out = None;
    }

    /// Waits until the server closes its output.
    pub async fn closed(&self) {
        self.wait("the end of output", |received| {
            received.closed.then_some(())
        })
        .await;
    }

    /// The process id of the child.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id().unwrap()
    }

    /// Waits for the child to exit; its code (`None`: killed by a signal).
    pub async fn exited(&mut self) -> Option<i32> {
        let child = self.child.as_mut().unwrap();
        let status = tokio::time::timeout(PATIENCE, child.wait()).await;
        let status = status.unwrap_or_else(|_| {
            panic!(
                "the server still runs: {:#?}",
                self.shared.received.lock().unwrap()
            )
        });
        status.unwrap().code()
    }

    /// Kills the child and waits until it is gone.
    pub async fn kill(&mut self) {
        self.child.as_mut().unwrap().kill().await.unwrap();
    }
}

fn message(method: &str, params: Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if !params.is_null() {
        message["params"] = params;
    }
    message
}

fn framed(framing: Framing, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    match framing {
        Framing::Headers => write_frame(&mut bytes, body),
        Framing::Lines => {
            bytes.extend_from_slice(body);
            bytes.push(b'\n');
        }
    }
    bytes
}

async fn read<I: AsyncRead + Unpin>(
    input: I,
    framing: Framing,
    shared: Arc<Shared>,
    out: mpsc::WeakUnboundedSender<Vec<u8>>,
) {
    let mut frames = None;
    let mut lines = None;
    match framing {
        Framing::Headers => frames = Some(FrameReader::new(input)),
        Framing::Lines => lines = Some(BufReader::new(input).lines()),
    }
    loop {
        let body = match (&mut frames, &mut lines) {
            (Some(frames), _) => match frames.next().await {
                Ok(Some(Frame::Body(body))) => body,
                Ok(Some(Frame::Malformed(why))) => {
                    // Standard output carries frames only: anything else fails the test.
                    shared.update(|received| received.closed = true);
                    panic!("the server's output: {why}");
                }
                _ => break,
            },
            (_, Some(lines)) => match lines.next_line().await {
                Ok(Some(line)) => line.into_bytes(),
                _ => break,
            },
            _ => unreachable!(),
        };
        let message: Value = serde_json::from_slice(&body).unwrap_or_else(|error| {
            shared.update(|received| received.closed = true);
            panic!(
                "the server's output: {error}: {}",
                String::from_utf8_lossy(&body)
            )
        });
        let id = message.get("id").cloned();
        let method = message["method"].as_str().map(ToOwned::to_owned);
        match (method, id) {
            (Some(_), None) => shared.update(|received| received.notifications.push(message)),
            (Some(method), Some(id)) => {
                let answer = shared.answers.lock().unwrap().get(&method).cloned();
                shared.update(|received| received.requests.push(message));
                let reply = match answer.unwrap_or(Answer::Result(Value::Null)) {
                    Answer::Never => continue,
                    Answer::Result(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
                    Answer::NotFound => {
                        let error = json!({"code": -32601, "message": "Method not found"});
                        json!({"jsonrpc": "2.0", "id": id, "error": error})
                    }
                };
                if let Some(out) = out.upgrade() {
                    let _ = out.send(framed(framing, reply.to_string().as_bytes()));
                }
            }
            (None, id) => shared.update(|received| {
                let id = id.unwrap_or(Value::Null).to_string();
                received.responses.entry(id).or_default().push(message);
            }),
        }
    }
    shared.update(|received| received.closed = true);
}
