//! The protocol: its versions, and what each side says of itself.

use serde_json::{Map, Value, json};

/// The protocol without a handshake.
pub(super) const MODERN: &str = "2026-07-28";

/// Those with one, the newest first.
pub(super) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The request that takes the place of a handshake.
pub(super) const DISCOVER: &str = "server/discover";

/// The protocol that was agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Protocol {
    pub(super) version: String,
    /// From 2026-07-28 on: no session, and each request says what it needs.
    pub(super) modern: bool,
}

/// What a server said about itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Greeting {
    pub(super) version: String,
    pub(super) server_info: Value,
    pub(super) capabilities: Value,
    pub(super) instructions: Option<String>,
    pub(super) note: Option<String>,
}

impl Greeting {
    /// Whether the server says when its tools change.
    pub(super) fn tells_of_tools(&self) -> bool {
        self.capabilities
            .get("tools")
            .and_then(|tools| tools.get("listChanged"))
            .and_then(Value::as_bool)
            .unwrap_or_default()
    }
}

/// What we are, to a server.
pub(super) fn client_info() -> Value {
    json!({"name": "kontext-ls", "title": "Kontext", "version": env!("CARGO_PKG_VERSION")})
}

/// What every request of the newest protocol carries.
pub(super) fn client_meta() -> Map<String, Value> {
    let mut meta = Map::new();
    let mut set = |name: &str, value| meta.insert(format!("io.modelcontextprotocol/{name}"), value);
    set("protocolVersion", Value::from(MODERN));
    set("clientInfo", client_info());
    set("clientCapabilities", json!({"roots": {}}));
    meta
}
