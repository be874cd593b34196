//! Sources at work: ops of adapters called over the real binary, from the shell and for agents.

mod agents;
mod answers;
mod gates;
mod secrets;
mod service;
mod shell;

use serde_json::Value;

use crate::harness::{Fixture, McpClient};

/// Both gates open.
const OPEN: &str = "[companion]\nallow_write = true\nallow_external_call = true\n";

/// The server that the tests of MCP sources start.
const SERVER: &str = include_str!("fixtures/sources/server.py");

/// A workspace with these files, and this as the user's layer.
fn place(user: &str, files: &[(&str, &str)]) -> Fixture {
    let place = Fixture::new(files);
    place.write_config("config.toml", user);
    place
}

/// `adapters test … --json`: the exit code and the report.
fn tested(place: &Fixture, args: &[&str]) -> (i32, Value) {
    let all: Vec<&str> = ["adapters", "test", "--json"]
        .iter()
        .chain(args)
        .copied()
        .collect();
    let (code, out, err) = place.run(&all);
    let report = serde_json::from_str(&out);
    (
        code,
        report.unwrap_or_else(|error| panic!("{error}: {out}{err}")),
    )
}

/// One op of a report.
fn trial<'a>(report: &'a Value, adapter: &str, op: &str) -> &'a Value {
    let adapters = report["adapters"].as_array().unwrap();
    let adapter = adapters.iter().find(|one| one["adapter"] == adapter);
    let ops = adapter.and_then(|adapter| adapter["ops"].as_array());
    ops.into_iter()
        .flatten()
        .find(|trial| trial["op"] == op)
        .unwrap_or_else(|| panic!("no {op} in {report}"))
}

/// A member of each hit; null where a hit lacks it.
fn each<'a>(answer: &'a Value, member: &str) -> Vec<&'a Value> {
    let hits = answer["hits"].as_array();
    let hits = hits.unwrap_or_else(|| panic!("no hits in {answer}"));
    hits.iter().map(|hit| &hit[member]).collect()
}

/// An agent that has said hello.
async fn agent(place: &Fixture) -> McpClient {
    let mut agent = McpClient::spawn(place, &[]);
    agent.initialize("2025-11-25").await;
    agent
}

/// Calls a tool that must refuse; its words.
async fn refused(agent: &mut McpClient, tool: &str, arguments: Value) -> String {
    let result = agent.call(tool, arguments).await;
    assert_eq!(result["isError"], true, "{tool}: {result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

/// The text of one source in an answer of texts.
fn text_of(answer: &Value) -> &str {
    answer["texts"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("no text in {answer}"))
}
