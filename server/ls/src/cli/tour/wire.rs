//! The two ends the tour plays: an editor and an agent, over the stdio of this very program.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long an answer is waited for. It comes in milliseconds; a loaded machine is no failure.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why a step did not show what it is there for.
pub(super) type Fault = String;

/// How messages are told apart on a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// LSP: a `Content-Length` header.
    Headers,
    /// MCP on stdio: one message a line.
    Lines,
}

/// One end of a JSON-RPC connection with a child. The child is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Peer {
    framing: Framing,
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Notifications that nobody has waited for yet, in order.
    unread: Vec<Value>,
    last_id: u64,
}

impl Peer {
    /// Starts the program; what it writes to standard error is added to `log`.
    pub(super) fn start(mut command: Command, framing: Framing, log: File) -> Result<Self, Fault> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log);
        let mut child = command
            .spawn()
            .map_err(|error| format!("the program cannot be started: {error}"))?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or("the program has no output")?;
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read(&mut output, framing) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            framing,
            child,
            input,
            messages,
            unread: Vec::new(),
            last_id: 0,
        })
    }

    /// Sends a notification; `params` of `null` are left out.
    pub(super) fn notify(&mut self, method: &str, params: Value) -> Result<(), Fault> {
        let mut message = json!({"jsonrpc": "2.0", "method": method});
        if let Some(object) = message.as_object_mut().filter(|_| !params.is_null()) {
            object.insert("params".to_owned(), params);
        }
        self.send(&message)
    }

    /// Sends a request and waits for its result.
    pub(super) fn request(&mut self, method: &str, params: Value) -> Result<Value, Fault> {
        self.last_id += 1;
        let id = json!(self.last_id);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let message = self.next(method)?;
            if message.get("method").is_some() || message.get("id") != Some(&id) {
                self.unread.push(message);
                continue;
            }
            if let Some(error) = message.get("error") {
                return Err(format!("{method} was refused: {error}"));
            }
            return Ok(message.get("result").cloned().unwrap_or_default());
        }
    }

    /// Waits for a notification that `fits`; earlier ones are gone then.
    pub(super) fn notification<T>(
        &mut self,
        what: &str,
        mut fits: impl FnMut(&str, &Value) -> Option<T>,
    ) -> Result<T, Fault> {
        let mut look = |message: &Value| {
            let method = message.get("method")?.as_str()?;
            fits(method, message.get("params").unwrap_or(&Value::Null))
        };
        for message in std::mem::take(&mut self.unread) {
            if let Some(found) = look(&message) {
                return Ok(found);
            }
        }
        loop {
            let message = self.next(what)?;
            if let Some(found) = look(&message) {
                return Ok(found);
            }
        }
    }

    /// Ends the process at once, as when an editor crashes.
    pub(super) fn kill(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn send(&mut self, message: &Value) -> Result<(), Fault> {
        let text = message.to_string();
        let framed = match self.framing {
            Framing::Headers => format!("Content-Length: {}\r\n\r\n{text}", text.len()),
            Framing::Lines => text + "\n",
        };
        let input = self.input.as_mut().ok_or("the program has no input")?;
        let written = input
            .write_all(framed.as_bytes())
            .and_then(|()| input.flush());
        written.map_err(|error| format!("the program does not read: {error}"))
    }

    /// The next message that is no request of the program; those are answered with `null`.
    fn next(&mut self, what: &str) -> Result<Value, Fault> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let message = self
                .messages
                .recv_timeout(left)
                .map_err(|error| match error {
                    RecvTimeoutError::Timeout => {
                        format!("{what}: no answer in {} s", PATIENCE.as_secs())
                    }
                    RecvTimeoutError::Disconnected => format!("{what}: the program has ended"),
                })?;
            match (message.get("method"), message.get("id")) {
                (Some(_), Some(id)) => {
                    self.send(&json!({"jsonrpc": "2.0", "id": id, "result": null}))?
                }
                _ => return Ok(message),
            }
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.end();
    }
}

/// The next message; `None` at the end, or where what comes is none.
fn read(output: &mut BufReader<ChildStdout>, framing: Framing) -> Option<Value> {
    let mut line = String::new();
    if framing == Framing::Lines {
        output.read_line(&mut line).ok().filter(|read| *read > 0)?;
        return serde_json::from_str(&line).ok();
    }
    let mut length = None;
    loop {
        line.clear();
        output.read_line(&mut line).ok().filter(|read| *read > 0)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().ok()
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length?];
    output.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
