//! A source whose picture a test can change, and a client that speaks lines.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use kontext_config::facts::{Env, Facts, Now, Repo};
use kontext_config::layer::LayerKind;
use kontext_config::source as config;
use kontext_config::stack::{LayerSource, Stack};
use kontext_engine::engine::Options;
use kontext_engine::{Engine, MayStart, Plan};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::watch;

use crate::answers::*;
use crate::gates::Gates;
use crate::source::{AnswerError, Answers, CheckTarget, Revision, Source};
use crate::tools::Tool;
use crate::{KontextServer, serve};

/// Far more than any answer takes; a test that waits so long has failed.
const LONG: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Default)]
pub(crate) struct Picture {
    pub(crate) gates: Gates,
    pub(crate) user: String,
}

pub(crate) struct Studio {
    picture: Mutex<Picture>,
    engine: Mutex<Option<Engine>>,
    revision: watch::Sender<Revision>,
}

impl Studio {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            picture: Mutex::default(),
            engine: Mutex::default(),
            revision: watch::Sender::new(Revision::default()),
        })
    }

    /// With the adapters of a user's layer at work, and these gates. Must be called on a runtime.
    pub(crate) fn at_work(text: &str, gates: Gates) -> Arc<Self> {
        let studio = Self::new();
        let engine = Engine::new(Options {
            now: Now::default,
            reserved: crate::tools::names(),
        });
        let stack = Stack {
            layers: vec![LayerSource {
                kind: LayerKind::User,
                path: "/config.toml".into(),
                source: Some(Arc::new(config::Source::parse(text))),
                fault: None,
            }],
            ..Stack::default()
        };
        let path = std::env::var("PATH").unwrap_or_default();
        let facts = Facts {
            env: Env::new([("PATH".to_owned(), path)], false),
            repo: Repo {
                root: "/".into(),
                ..Repo::default()
            },
            ..Facts::default()
        };
        engine.apply(Plan::of([(&stack, &Arc::new(facts), MayStart::default())]));
        *studio.engine.lock().unwrap() = Some(engine);
        studio.picture.lock().unwrap().gates = gates;
        studio
    }

    pub(crate) fn change(
        &self,
        picture: impl FnOnce(&mut Picture),
        revision: impl FnOnce(&mut Revision),
    ) {
        picture(&mut self.picture.lock().unwrap());
        self.revision.send_modify(revision);
    }
}

impl Source for Studio {
    fn snapshot(&self) -> Arc<dyn Answers> {
        Arc::new(self.picture.lock().unwrap().clone())
    }

    fn engine(&self) -> Option<Engine> {
        self.engine.lock().unwrap().clone()
    }

    fn subscribe(&self) -> watch::Receiver<Revision> {
        self.revision.subscribe()
    }
}

pub(crate) fn diagnostic(path: &str, message: &str) -> Diagnostic {
    let at = |character| Position { line: 2, character };
    Diagnostic {
        path: path.to_owned(),
        range: Range {
            start: at(0),
            end: at(4),
        },
        severity: Severity::Error,
        code: "unknown-field".to_owned(),
        message: message.to_owned(),
        fix: Some(Fix {
            title: "write `url`".to_owned(),
            edits: vec![Edit {
                range: Range {
                    start: at(0),
                    end: at(4),
                },
                new_text: "url".to_owned(),
            }],
        }),
    }
}

impl Answers for Picture {
    fn gates(&self) -> Gates {
        self.gates
    }

    fn status(&self) -> Status {
        Status {
            adapters: vec![AdapterStatus {
                name: "notes".to_owned(),
                driver: "http".to_owned(),
                status: "inactive".to_owned(),
                reasons: vec!["`NOTES_TOKEN` is not set".to_owned()],
                layer: "user".to_owned(),
                server: None,
            }],
            gates: self.gates,
            layers: self.layers(),
            editor: true,
            ..Status::default()
        }
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            editor: true,
            documents: vec![Document {
                path: "config.toml".to_owned(),
                layer: Some("user".to_owned()),
                version: 7,
                unsaved: true,
                changes: vec![Change {
                    line: 2,
                    saved: "url = 1".to_owned(),
                    buffer: "urll = 1".to_owned(),
                }],
                diagnostics: vec![diagnostic("config.toml", "there is no field `urll`")],
            }],
        }
    }

    fn check(&self, target: CheckTarget<'_>) -> Result<Checked, AnswerError> {
        match target {
            CheckTarget::Workspace => Ok(Checked::default()),
            CheckTarget::Path("panic") => panic!("asked to"),
            CheckTarget::Path("huge") => Ok(Checked {
                diagnostics: (0..5000)
                    .map(|n| diagnostic("huge", &format!("number {n}")))
                    .collect(),
            }),
            CheckTarget::Path(path) => Err(AnswerError(format!("`{path}` cannot be read"))),
            CheckTarget::Text(text) | CheckTarget::TextAt { text, .. } => Ok(Checked {
                diagnostics: vec![diagnostic("draft", text)],
            }),
        }
    }

    fn explain(&self, of: &str) -> Result<Explanation, AnswerError> {
        Ok(Explanation {
            of: of.to_owned(),
            kind: "field".to_owned(),
            text: "Where the server is.".to_owned(),
            values: vec![EffectiveValue {
                field: "adapters.notes.url".to_owned(),
                value: json!("https://notes.example"),
                layer: "user".to_owned(),
                path: None,
                range: None,
            }],
            related: vec!["base_url".to_owned()],
        })
    }

    fn preview(
        &self,
        adapter: &str,
        op: &str,
        inputs: &Map<String, Value>,
        _payload: Option<&Value>,
    ) -> Result<Preview, AnswerError> {
        Ok(Preview {
            request: Some(json!({"adapter": adapter, "op": op, "inputs": inputs})),
            ..Preview::default()
        })
    }

    fn effective(&self) -> Value {
        json!({"text": self.user})
    }

    fn layers(&self) -> Vec<Layer> {
        vec![Layer {
            layer: "user".to_owned(),
            path: "config.toml".to_owned(),
            exists: true,
            trusted: true,
            trusted_by: None,
            problem: None,
        }]
    }

    fn layer(&self, layer: &str) -> Option<LayerText> {
        (layer == "user").then(|| LayerText {
            text: self.user.clone(),
        })
    }

    fn schema(&self) -> Value {
        json!({"type": "object"})
    }

    fn logs(&self) -> Vec<String> {
        Vec::new()
    }

    fn log(&self, _adapter: &str) -> Option<String> {
        None
    }

    fn pages(&self) -> Vec<Page> {
        vec![Page {
            page: "adapter".to_owned(),
            title: "Fields of an adapter".to_owned(),
        }]
    }

    fn page(&self, page: &str) -> Option<String> {
        (page == "adapter").then(|| "# Fields".to_owned())
    }
}

/// The client's end of a served connection.
pub(crate) struct Client {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    pub(crate) served: tokio::task::JoinHandle<()>,
}

impl Client {
    pub(crate) fn new(source: Arc<dyn Source>, tools: &'static [Tool]) -> Self {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(far);
        let server = KontextServer::with_tools(source, tools);
        let served = tokio::spawn(serve(reader, writer, server));
        let (reader, writer) = tokio::io::split(near);
        Self {
            reader: BufReader::new(reader),
            writer,
            served,
        }
    }

    pub(crate) async fn send(&mut self, line: impl AsRef<[u8]>) {
        self.writer.write_all(line.as_ref()).await.unwrap();
        self.writer.write_all(b"\n").await.unwrap();
    }

    pub(crate) async fn receive(&mut self) -> Value {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line);
        let read = tokio::time::timeout(LONG, read).await;
        read.expect("the server says nothing").unwrap();
        assert!(!line.is_empty(), "the server closed the connection");
        serde_json::from_str(&line).unwrap()
    }

    pub(crate) async fn ask(&mut self, message: Value) -> Value {
        self.send(message.to_string()).await;
        self.receive().await
    }

    pub(crate) async fn initialize(&mut self, version: &str) -> Value {
        let answer = self
            .ask(json!({
                "jsonrpc": "2.0", "id": "init", "method": "initialize",
                "params": {
                    "protocolVersion": version,
                    "capabilities": {},
                    "clientInfo": {"name": "test", "version": "1"},
                },
            }))
            .await;
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
        answer
    }

    /// Sends a last text without line break and ends the client's side of the stream.
    pub(crate) async fn finish(&mut self, text: String) {
        self.writer.write_all(text.as_bytes()).await.unwrap();
        self.writer.shutdown().await.unwrap();
    }

    /// Ends the client's side and waits for the server to notice.
    pub(crate) async fn close(mut self) {
        self.writer.shutdown().await.unwrap();
        let ended = tokio::time::timeout(LONG, self.served).await;
        ended.expect("the server does not end").unwrap();
    }
}

/// A request of the era without a handshake.
pub(crate) fn modern(id: i64, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// A request of the era with one.
pub(crate) fn request(id: i64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub(crate) fn call(id: i64, tool: &str, arguments: Value) -> Value {
    request(
        id,
        "tools/call",
        json!({"name": tool, "arguments": arguments}),
    )
}
