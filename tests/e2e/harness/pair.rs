//! An editor and an agent over one place.

use serde_json::{Value, json};

use super::{Client, Fixture, McpClient, uri_of};

/// What a client says that shows inlay hints and asks again when told to.
pub fn with_hints(place: &Fixture) -> Value {
    json!({
        "rootUri": uri_of(&place.path("")),
        "capabilities": {"workspace": {"inlayHint": {"refreshSupport": true}}},
    })
}

/// An editor in the fixture's workspace.
pub async fn editor(place: &Fixture) -> Client {
    let mut client = Client::spawn(place);
    client.initialize(with_hints(place)).await;
    client
}

/// An agent that is told of every change.
pub async fn agent(place: &Fixture) -> McpClient {
    let mut agent = McpClient::spawn(place, &[]);
    agent.initialize("2025-06-18").await;
    agent.watch().await;
    agent
}

/// One adapter of a status; null where there is none of that name.
pub fn adapter<'a>(status: &'a Value, name: &str) -> &'a Value {
    let adapters = status["adapters"].as_array().unwrap();
    adapters
        .iter()
        .find(|one| one["name"] == name)
        .unwrap_or(&Value::Null)
}

/// The reasons of an adapter.
pub fn why(status: &Value, name: &str) -> String {
    adapter(status, name)["reasons"].to_string()
}

/// Whether a language server answered.
pub fn joined(status: &Value) -> bool {
    status["editor"] == true
}

/// A configuration with one adapter that is active.
pub const PLAIN: &str = "[adapters.u]\ndriver = \"command\"\ncommand = [\"true\"]\n";
