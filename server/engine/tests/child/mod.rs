//! Servers made from `fixtures/child.py`, each in a folder of its own.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(unreachable_pub, reason = "a module of several test binaries")]

use std::path::PathBuf;
use std::time::Duration;

use kontext_config::facts::Env;
use kontext_engine::driver::mcp::{CallOptions, Server, ServerSpec, State, TransportSpec};
use kontext_engine::driver::process::Spawn;
use kontext_engine::secrets::Redactor;
use kontext_engine::{Fault, MayStart};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// Far more than anything here takes; a test that waits so long has failed.
pub const LONG: Duration = Duration::from_secs(30);

pub struct Fixture {
    pub folder: TempDir,
    pub server: Server,
}

impl Fixture {
    /// A server in a mode.
    pub fn new(mode: &str) -> Self {
        Self::with(mode, Duration::from_secs(20), &[])
    }

    pub fn with(mode: &str, timeout: Duration, env: &[(&str, &str)]) -> Self {
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/child.py");
        let argv = vec!["python3".to_owned(), script.to_string_lossy().into_owned()];
        Self::running(argv, mode, timeout, env)
    }

    pub fn running(argv: Vec<String>, mode: &str, timeout: Duration, env: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let mut vars = vec![
            ("PATH".to_owned(), std::env::var("PATH").unwrap()),
            ("MODE".to_owned(), mode.to_owned()),
            ("LOG".to_owned(), path("log")),
            ("GO".to_owned(), path("go")),
            ("PIDS".to_owned(), path("pids")),
        ];
        vars.extend(
            env.iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
        let server = Server::new(ServerSpec {
            name: "fixture".to_owned(),
            transport: TransportSpec::Stdio(Spawn {
                argv,
                cwd: folder.path().to_owned(),
                env: Env::new(vars, false),
                stdin: true,
                may_start: MayStart::default(),
            }),
            timeout,
            root: folder.path().join("my repo"),
            redactor: Redactor::default(),
        });
        Self { folder, server }
    }

    /// Lets what waits for it go on.
    pub fn go(&self) {
        std::fs::write(self.folder.path().join("go"), "").unwrap();
    }

    /// What the server has read so far.
    pub fn seen(&self) -> Vec<Value> {
        self.seen_text()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    pub fn seen_text(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// What it has read of one method.
    pub fn seen_of(&self, method: &str) -> Vec<Value> {
        let mut seen = self.seen();
        seen.retain(|message| message["method"] == method);
        seen
    }

    /// The processes that have been started.
    pub fn pids(&self) -> Vec<i32> {
        let text = std::fs::read_to_string(self.folder.path().join("pids")).unwrap_or_default();
        text.lines().map(|line| line.parse().unwrap()).collect()
    }

    /// Calls `find`.
    pub async fn find(&self) -> Result<Value, Fault> {
        self.call("find", json!({"query": "q"})).await
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Value, Fault> {
        let arguments: Map<String, Value> = serde_json::from_value(arguments).unwrap();
        let call = self
            .server
            .call_tool(tool, arguments, CallOptions::default());
        tokio::time::timeout(LONG, call).await.unwrap()
    }

    pub async fn ready(&self) {
        self.server.ready(LONG).await.unwrap();
    }

    pub fn names(&self) -> Vec<String> {
        let tools = self.server.tools();
        let names = tools
            .tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned());
        names.collect()
    }

    pub async fn state(&self, wanted: impl Fn(&State) -> bool) -> State {
        let mut state = self.server.state();
        let found = tokio::time::timeout(LONG, state.wait_for(|state| wanted(state))).await;
        found.unwrap().unwrap().clone()
    }

    /// The server's log as text.
    pub fn log(&self) -> String {
        let lines = self.server.log().lines();
        lines.into_iter().map(|line| line.text + "\n").collect()
    }
}

/// The text of a result.
pub fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// Whether a process runs; one that has ended but was not waited for does not.
pub fn runs(pid: i32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    !stat.rsplit(") ").next().unwrap().starts_with('Z')
}

/// Waits until none of the processes runs.
pub fn wait_gone(pids: &[i32]) {
    let start = std::time::Instant::now();
    while pids.iter().any(|&pid| runs(pid)) {
        assert!(start.elapsed() < LONG, "still running: {pids:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
