//! Servers of adapters, well-behaved and not, behind `kontext-ls mcp` and the language server.
//!
//! A test's server is a Python class over `fixtures/child.py`, written into the workspace; see
//! there for what it can change.

mod binding;
mod ending;
mod lists;
mod starting;
mod telling;
mod traffic;
mod web;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::harness::{Fixture, McpClient, PATIENCE, Received};

const GATES: &str = "[companion]\nallow_write = true\nallow_external_call = true\n";

/// A workspace with these servers (name, text of the Python class `Own`) and this configuration in
/// the user's layer, gates open.
fn place(servers: &[(&str, &str)], config: &str) -> Fixture {
    let place = Fixture::new(&[("child.py", include_str!("../fixtures/child.py"))]);
    for (name, class) in servers {
        let text = format!("from child import *\n\n{class}\n\nrun(Own)\n");
        place.write(&format!("{name}.py"), &text);
    }
    place.write_config("config.toml", &format!("{GATES}\n{config}"));
    place
}

/// An adapter whose server is the Python file of its name, with further lines of its table.
fn adapter(name: &str, more: &str) -> String {
    format!(
        "[adapters.{name}]\ndriver = \"mcp\"\ncommand = [\"python3\", \"{{{{repo.root}}}}/{name}.py\"]\n{more}\n"
    )
}

/// The same with a `search` op that calls `find`.
fn searching(name: &str, more: &str) -> String {
    adapter(name, more) + &format!("[adapters.{name}.ops.search]\ntool = \"find\"\n")
}

/// The adapter `fake` alone, searching.
fn fake(class: &str, more: &str) -> Fixture {
    place(&[("fake", class)], &searching("fake", more))
}

const PLAIN: &str = "Own = Server";

/// What a server has read so far.
fn seen(place: &Fixture, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(place.path(&format!("{name}.py.log"))).unwrap_or_default();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// What it has read of one method.
fn seen_of(place: &Fixture, name: &str, method: &str) -> Vec<Value> {
    let mut seen = seen(place, name);
    seen.retain(|message| message["method"] == method);
    seen
}

/// An agent after its handshake.
async fn agent(place: &Fixture) -> McpClient {
    let mut agent = McpClient::spawn(place, &[]);
    agent.initialize("2025-06-18").await;
    agent
}

async fn search(agent: &mut McpClient) -> Value {
    let wanted = json!({"query": "auth flow", "limit": 5});
    agent.structured("kontext_search", wanted).await
}

/// The titles of hits.
fn titles(found: &Value) -> Vec<&str> {
    let hits = found["hits"].as_array().unwrap();
    hits.iter()
        .map(|hit| hit["title"].as_str().unwrap())
        .collect()
}

/// The only note of an answer without hits: which source, and why.
fn only_note(found: &Value) -> (&str, &str) {
    assert_eq!(found["hits"], json!([]), "{found}");
    let notes = found["notes"].as_array().unwrap();
    let [note] = notes.as_slice() else {
        panic!("not one note: {found}")
    };
    let text = |name: &str| note[name].as_str().unwrap();
    (text("source"), text("message"))
}

/// That a text speaks of all these.
#[track_caller]
fn mentions(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "no {word:?} in: {text}");
    }
}

/// The text of a tool's result.
fn text_of(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// Whether an entry of the list of tools is one that an adapter offers.
fn offered(tools: &[String]) -> Vec<&str> {
    let own = |name: &&str| !name.starts_with("kontext_");
    tools.iter().map(String::as_str).filter(own).collect()
}

/// Asks for the tools, and again after each `list_changed`, until those of adapters `fit`.
async fn tools_until(agent: &mut McpClient, fit: impl Fn(&[&str]) -> bool) -> Vec<String> {
    loop {
        let heard = list_changes(agent);
        let tools = agent.tools().await;
        if fit(&offered(&tools)) {
            return tools;
        }
        agent
            .wait("list_changed", |received| {
                (count_list_changes(received) > heard).then_some(())
            })
            .await;
    }
}

/// How often the agent was told that the list of tools has changed.
fn list_changes(agent: &McpClient) -> usize {
    agent.received(count_list_changes)
}

fn count_list_changes(received: &Received) -> usize {
    let all = received.notifications.iter();
    all.filter(|one| one["method"] == "notifications/tools/list_changed")
        .count()
}

/// Tells which processes live: each holds a connection, which the system closes however the
/// process ends.
struct Lives {
    listener: TcpListener,
    lines: Vec<BufReader<TcpStream>>,
}

impl Lives {
    async fn new() -> Lives {
        Lives {
            listener: TcpListener::bind("127.0.0.1:0").await.unwrap(),
            lines: Vec::new(),
        }
    }

    /// What children find it by.
    fn in_env_of(&self, place: Fixture) -> Fixture {
        let port = self.listener.local_addr().unwrap().port();
        place.env("LIFELINE", port.to_string())
    }

    /// Waits until one more process lives; the name of its script.
    async fn born(&mut self) -> String {
        let accepted = tokio::time::timeout(PATIENCE, self.listener.accept()).await;
        let mut line = BufReader::new(accepted.expect("no process was started").unwrap().0);
        let mut name = String::new();
        line.read_line(&mut name).await.unwrap();
        self.lines.push(line);
        name.trim_end().to_owned()
    }

    /// Waits until one of the processes does not live any more.
    async fn gone_one(&mut self) {
        let ends = self.lines.iter_mut().map(|line| {
            Box::pin(async move {
                let mut rest = Vec::new();
                let _ = line.read_to_end(&mut rest).await;
            })
        });
        let one = futures_util::future::select_all(ends);
        let (_, at, _) = tokio::time::timeout(PATIENCE, one)
            .await
            .expect("all processes are left");
        self.lines.remove(at);
    }

    /// Waits until no process lives.
    async fn gone(&mut self) {
        for line in &mut self.lines {
            let mut rest = Vec::new();
            let ended = tokio::time::timeout(PATIENCE, line.read_to_end(&mut rest)).await;
            // A process that was killed may leave with a reset.
            let _ = ended.expect("a process is left");
        }
        self.lines.clear();
    }
}
