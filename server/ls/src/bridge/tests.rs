//! The bridge between an agent in memory and real endpoints.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::sync::{Condvar, Mutex};

use kontext_mcp::answers::{Checked, Explanation, Layer, LayerText, Page, Snapshot, Status};
use kontext_mcp::{AnswerError, Answers, CheckTarget, Gates, Revision};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use super::*;

/// A source that answers with its name, and can be made to take its time.
pub(crate) struct Fixed {
    answers: Arc<Named>,
    revision: watch::Sender<Revision>,
}

struct Named {
    name: &'static str,
    /// Told whenever somebody asks for `slow`.
    asked: Notify,
    released: Mutex<bool>,
    release: Condvar,
}

impl Fixed {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            answers: Arc::new(Named {
                name,
                asked: Notify::new(),
                released: Mutex::new(false),
                release: Condvar::new(),
            }),
            revision: watch::Sender::new(Revision::default()),
        }
    }

    fn release(&self) {
        *self.answers.released.lock().unwrap() = true;
        self.answers.release.notify_all();
    }
}

impl Source for Fixed {
    fn snapshot(&self) -> Arc<dyn Answers> {
        self.answers.clone()
    }

    fn engine(&self) -> Option<kontext_engine::Engine> {
        None
    }

    fn subscribe(&self) -> watch::Receiver<Revision> {
        self.revision.subscribe()
    }
}

impl Answers for Named {
    fn gates(&self) -> Gates {
        Gates::default()
    }

    fn status(&self) -> Status {
        Status::default()
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }

    fn preview(
        &self,
        _adapter: &str,
        _op: &str,
        _inputs: &serde_json::Map<String, serde_json::Value>,
        _payload: Option<&serde_json::Value>,
    ) -> Result<kontext_mcp::answers::Preview, AnswerError> {
        Err(AnswerError("there is nothing to preview".to_owned()))
    }

    fn check(&self, target: CheckTarget<'_>) -> Result<Checked, AnswerError> {
        if target == CheckTarget::Path("slow") {
            self.asked.notify_one();
            let mut released = self.released.lock().unwrap();
            while !*released {
                released = self.release.wait(released).unwrap();
            }
        }
        Err(AnswerError(self.name.to_owned()))
    }

    fn explain(&self, _of: &str) -> Result<Explanation, AnswerError> {
        Err(AnswerError(self.name.to_owned()))
    }

    fn effective(&self) -> Value {
        json!(self.name)
    }

    fn layers(&self) -> Vec<Layer> {
        Vec::new()
    }

    fn layer(&self, _layer: &str) -> Option<LayerText> {
        None
    }

    fn schema(&self) -> Value {
        json!({})
    }

    fn logs(&self) -> Vec<String> {
        Vec::new()
    }

    fn log(&self, _adapter: &str) -> Option<String> {
        None
    }

    fn pages(&self) -> Vec<Page> {
        Vec::new()
    }

    fn page(&self, _page: &str) -> Option<String> {
        None
    }
}

/// Far more than any answer takes; a test that waits so long has failed.
const LONG: Duration = Duration::from_secs(60);

struct Agent {
    reader: BufReader<tokio::io::ReadHalf<DuplexStream>>,
    writer: tokio::io::WriteHalf<DuplexStream>,
    bridge: JoinHandle<io::Result<()>>,
}

impl Agent {
    fn new(options: Options) -> Self {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(far);
        let disk: Disk = Arc::new(|| {
            let source = Fixed::new("disk");
            source.release();
            Arc::new(source)
        });
        let bridge = tokio::spawn(run(reader, writer, options, disk));
        let (reader, writer) = tokio::io::split(near);
        Self {
            reader: BufReader::new(reader),
            writer,
            bridge,
        }
    }

    async fn send(&mut self, message: impl ToString) {
        let line = message.to_string() + "\n";
        self.writer.write_all(line.as_bytes()).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line);
        let read = tokio::time::timeout(LONG, read).await;
        read.expect("the bridge says nothing").unwrap();
        assert!(!line.is_empty(), "the bridge has ended");
        serde_json::from_str(&line).unwrap()
    }

    async fn ask(&mut self, message: Value) -> Value {
        self.send(message).await;
        self.receive().await
    }

    async fn initialize(&mut self) {
        let answer = self
            .ask(json!({
                "jsonrpc": "2.0", "id": 0, "method": "initialize",
                "params": {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {},
                    "clientInfo": {"name": "test", "version": "1"},
                },
            }))
            .await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
    }

    /// Who stands behind the bridge.
    async fn who(&mut self, id: i64) -> String {
        let answer = self.ask(explain(id)).await;
        assert_eq!(answer["id"], id, "{answer}");
        text(&answer)
    }

    async fn methods(&mut self, count: usize) -> Vec<String> {
        let mut methods = Vec::new();
        for _ in 0..count {
            let message = self.receive().await;
            methods.push(message["method"].as_str().unwrap().to_owned());
        }
        methods
    }

    async fn close(mut self) {
        self.writer.shutdown().await.unwrap();
        let ended = tokio::time::timeout(LONG, self.bridge).await;
        ended.expect("the bridge does not end").unwrap().unwrap();
    }
}

fn call(id: i64, tool: &str, arguments: Value) -> Value {
    json!({
        "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    })
}

fn explain(id: i64) -> Value {
    call(id, "kontext_explain", json!({"of": "you"}))
}

fn modern(mut message: Value) -> Value {
    message["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    message
}

fn text(answer: &Value) -> String {
    let text = answer["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[tokio::test]
async fn without_a_language_server_the_disk_answers() {
    let temp = tempfile::tempdir().unwrap();
    let mut agent = Agent::new(options_in(&temp));
    let early = agent.ask(explain(1)).await;
    assert_eq!(early["error"]["code"], -32600);
    let garbage = agent.ask(json!("garbage")).await;
    assert_eq!(garbage["error"]["code"], -32600);
    agent.initialize().await;
    assert_eq!(agent.who(2).await, "disk");
    agent.close().await;
}

#[tokio::test]
async fn the_agents_last_requests_are_answered_after_its_end_of_input() {
    let temp = tempfile::tempdir().unwrap();
    let mut agent = Agent::new(options_in(&temp));
    agent.initialize().await;
    for id in 1..=20 {
        agent.send(explain(id)).await;
    }
    agent.writer.shutdown().await.unwrap();
    let mut ids: Vec<i64> = Vec::new();
    for _ in 0..20 {
        ids.push(agent.receive().await["id"].as_i64().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, (1..=20).collect::<Vec<_>>());
    agent.bridge.await.unwrap().unwrap();
}

fn options_in(temp: &tempfile::TempDir) -> Options {
    let dir = temp.path().join("workspace");
    std::fs::create_dir_all(&dir).unwrap();
    Options {
        dir,
        places: Places::new([temp.path().join("k")]),
        poll: Duration::from_millis(50),
    }
}

#[cfg(unix)]
mod joined {
    use super::*;
    use crate::endpoint::Endpoint;

    const LISTS: [&str; 2] = [
        "notifications/tools/list_changed",
        "notifications/resources/list_changed",
    ];

    async fn start(options: &Options, source: &Arc<Fixed>) -> Endpoint {
        let roots = [options.dir.clone()];
        Endpoint::start(&options.places, &roots, source.clone())
            .await
            .unwrap()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_session_survives_its_language_server_with_a_request_in_flight_and_joins_again() {
        let temp = tempfile::tempdir().unwrap();
        let options = options_in(&temp);
        let one = Arc::new(Fixed::new("one"));
        let endpoint = start(&options, &one).await;
        let mut agent = Agent::new(options.clone());
        agent.initialize().await;
        assert_eq!(agent.who(1).await, "one");
        let subscribe = json!({
            "jsonrpc": "2.0", "id": 2, "method": "resources/subscribe",
            "params": {"uri": "kontext://config/effective"},
        });
        assert_eq!(agent.ask(subscribe).await["result"], json!({}));

        agent
            .send(call(3, "kontext_check", json!({"path": "slow"})))
            .await;
        one.answers.asked.notified().await;
        drop(endpoint);
        let told = [&LISTS[..], &["notifications/resources/updated"]].concat();
        assert_eq!(agent.methods(3).await, told);
        let answer = agent.receive().await;
        assert_eq!(answer["id"], 3);
        assert_eq!(text(&answer), "disk");
        one.release();
        assert_eq!(agent.who(4).await, "disk");

        let two = Arc::new(Fixed::new("two"));
        let _endpoint = start(&options, &two).await;
        assert_eq!(agent.methods(3).await, told);
        assert_eq!(agent.who(5).await, "two");
        // The subscription came along.
        two.revision.send_modify(|revision| revision.tools += 1);
        assert_eq!(agent.methods(1).await, LISTS[..1]);
        agent.close().await;
    }

    #[tokio::test]
    async fn of_two_language_servers_the_newer_one_is_joined_and_the_older_one_is_left_as_fallback()
    {
        let temp = tempfile::tempdir().unwrap();
        let options = options_in(&temp);
        let _older = start(&options, &Arc::new(Fixed::new("older"))).await;
        let mut agent = Agent::new(options.clone());
        agent.initialize().await;
        assert_eq!(agent.who(1).await, "older");
        let newer = start(&options, &Arc::new(Fixed::new("newer"))).await;
        assert_eq!(agent.methods(2).await, LISTS);
        assert_eq!(agent.who(2).await, "newer");
        drop(newer);
        assert_eq!(agent.methods(2).await, LISTS);
        assert_eq!(agent.who(3).await, "older");
        agent.close().await;
    }

    #[tokio::test]
    async fn a_language_server_of_another_workspace_is_none_of_the_agents() {
        let temp = tempfile::tempdir().unwrap();
        let options = options_in(&temp);
        let elsewhere = Options {
            dir: temp.path().join("elsewhere"),
            ..options.clone()
        };
        std::fs::create_dir_all(&elsewhere.dir).unwrap();
        let _endpoint = start(&elsewhere, &Arc::new(Fixed::new("elsewhere"))).await;
        let mut agent = Agent::new(options);
        agent.initialize().await;
        assert_eq!(agent.who(1).await, "disk");
        agent.close().await;
    }

    #[tokio::test]
    async fn a_listener_of_the_new_era_is_carried_over() {
        let temp = tempfile::tempdir().unwrap();
        let options = options_in(&temp);
        let endpoint = start(&options, &Arc::new(Fixed::new("one"))).await;
        let mut agent = Agent::new(options.clone());
        let listen = modern(json!({
            "jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen",
            "params": {"notifications": {"toolsListChanged": true}},
        }));
        let told = agent.ask(listen).await;
        assert_eq!(told["method"], "notifications/subscriptions/acknowledged");
        drop(endpoint);
        let told = agent.receive().await;
        assert_eq!(told["method"], LISTS[0]);
        assert_eq!(
            told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
            7
        );
        let answer = agent.ask(modern(explain(8))).await;
        assert_eq!(text(&answer), "disk");
        // The new server listens too: its news arrive under the same subscription, and no second
        // acknowledgement has come in between.
        let two = Arc::new(Fixed::new("two"));
        let _endpoint = start(&options, &two).await;
        assert_eq!(agent.receive().await["method"], LISTS[0]);
        let answer = agent.ask(modern(explain(9))).await;
        assert_eq!(text(&answer), "two");
        two.revision.send_modify(|revision| revision.tools += 1);
        assert_eq!(
            agent.receive().await["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
            7
        );
        agent.close().await;
    }

    #[tokio::test]
    async fn many_changes_of_server_leak_no_descriptor() {
        let open = || std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        let temp = tempfile::tempdir().unwrap();
        let options = options_in(&temp);
        let mut agent = Agent::new(options.clone());
        agent.initialize().await;
        // Only once it has been answered is the session surely open, and told of what changes.
        assert_eq!(agent.who(1).await, "disk");
        let mut after_first = 0;
        for round in 1..=20 {
            let endpoint = start(&options, &Arc::new(Fixed::new("live"))).await;
            assert_eq!(agent.methods(2).await, LISTS);
            assert_eq!(agent.who(2 * round).await, "live");
            drop(endpoint);
            assert_eq!(agent.methods(2).await, LISTS);
            assert_eq!(agent.who(2 * round + 1).await, "disk");
            if round == 1 {
                after_first = open();
            }
        }
        // Other tests of this process open and close some at the same time.
        assert!(open() < after_first + 15);
        agent.close().await;
    }
}
