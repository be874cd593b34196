//! What is open between the agent and whichever server stands behind it. Knows no streams.

use std::collections::HashSet;

use kontext_mcp::jsonrpc::{self, Message};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// What to do with a line from the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Forward,
    /// It answers the bridge, or repeats what the agent has heard.
    Swallow,
}

/// A request of the agent that has not been answered.
#[derive(Debug)]
struct Open {
    id: Value,
    line: Vec<u8>,
    kind: Kind,
    /// How often it was sent.
    sent: u32,
}

/// The outer form of a message, the rest passed over: answers may be large.
#[derive(Deserialize)]
struct Head {
    id: Option<Value>,
    method: Option<String>,
    result: Option<IgnoredAny>,
}

#[derive(Debug)]
enum Kind {
    Initialize,
    /// `subscriptions/listen`: stays open until it is cancelled.
    Listen {
        filter: Map<String, Value>,
        acknowledged: bool,
    },
    Subscribe(String),
    Unsubscribe(String),
    /// A call that reaches an adapter or changes something: never sent twice.
    Call,
    /// Sent again to a new server: reading twice does no harm.
    Other,
}

/// How often a request is sent to servers at most: one that brings a server down must not bring
/// down the next ones.
const MOST_SENT: u32 = 3;

/// The books of one session.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// In the order in which they were sent.
    open: Vec<Open>,
    /// The agent's own `initialize`, once it has been answered well.
    initialize: Option<Value>,
    /// Its `notifications/initialized`.
    initialized: Option<Vec<u8>>,
    /// URIs of `resources/subscribe`.
    subscribed: Vec<String>,
    /// Ids of the bridge's own requests whose answers are not the agent's.
    own: HashSet<String>,
    last_own: u64,
}

impl Session {
    /// Notes a line of the agent. Garbage is passed on for the server to answer.
    pub(super) fn note_agent(&mut self, line: &[u8]) {
        match jsonrpc::parse(line) {
            Ok(message @ Message::Request { .. }) => self.note_request(message, line),
            Ok(message @ Message::Notification { .. }) => self.note_notification(&message, line),
            Ok(Message::Response { .. }) | Err(_) => {}
        }
    }

    fn note_request(&mut self, message: Message, line: &[u8]) {
        let uri = || {
            let uri = message.params()?.get("uri")?.as_str()?;
            Some(uri.to_owned())
        };
        let Message::Request { id, method, .. } = &message else {
            return;
        };
        let kind = match method.as_str() {
            "initialize" => Kind::Initialize,
            "subscriptions/listen" => {
                let filter = message
                    .params()
                    .and_then(|params| params.get("notifications"))
                    .and_then(Value::as_object);
                Kind::Listen {
                    filter: filter.cloned().unwrap_or_default(),
                    acknowledged: false,
                }
            }
            "resources/subscribe" => uri().map_or(Kind::Other, Kind::Subscribe),
            "resources/unsubscribe" => uri().map_or(Kind::Other, Kind::Unsubscribe),
            "tools/call" => {
                let name = message.params().and_then(|params| params.get("name"));
                match name.and_then(Value::as_str) {
                    Some(name) if !kontext_mcp::tools::only_looks(name) => Kind::Call,
                    _ => Kind::Other,
                }
            }
            _ => Kind::Other,
        };
        // A second request under an open id is refused by the server; the first stays.
        if !self.open.iter().any(|open| open.id == *id) {
            self.open.push(Open {
                id: id.clone(),
                line: line.to_vec(),
                kind,
                sent: 1,
            });
        }
    }

    fn note_notification(&mut self, message: &Message, line: &[u8]) {
        let Message::Notification { method, .. } = message else {
            return;
        };
        match method.as_str() {
            "notifications/initialized" if self.initialize.is_some() => {
                self.initialized = Some(line.to_vec());
            }
            "notifications/cancelled" => {
                let id = message.params().and_then(|params| params.get("requestId"));
                if let Some(id) = id {
                    self.open
                        .retain(|open| open.id != *id || matches!(open.kind, Kind::Initialize));
                }
            }
            _ => {}
        }
    }

    /// Whether the agent waits for an answer that a server gives at once.
    pub(super) fn is_waiting(&self) -> bool {
        self.open.iter().any(|open| match open.kind {
            Kind::Listen { acknowledged, .. } => !acknowledged,
            Kind::Call => false,
            _ => true,
        })
    }

    /// Whether a call is under way that a change of servers would cut off.
    pub(super) fn is_calling(&self) -> bool {
        self.open.iter().any(|open| matches!(open.kind, Kind::Call))
    }

    /// The answers to what a server took with it and must not be sent to another one.
    pub(super) fn lost(&mut self) -> Vec<Vec<u8>> {
        let lost = |open: &mut Open| matches!(open.kind, Kind::Call) || open.sent >= MOST_SENT;
        self.open
            .extract_if(.., lost)
            .map(|open| {
                let words = match open.kind {
                    Kind::Call => {
                        "the server went away during the call; whether it was carried out is not \
                         known: look before calling again"
                    }
                    _ => "the server went away each time it was asked this; the session goes on",
                };
                jsonrpc::error_line(&open.id, jsonrpc::INTERNAL_ERROR, words).into_bytes()
            })
            .collect()
    }

    /// Judges a line of the server.
    pub(super) fn judge_answer(&mut self, line: &[u8]) -> Verdict {
        let Ok(head) = serde_json::from_slice::<Head>(line) else {
            return Verdict::Forward;
        };
        match (head.method.as_deref(), &head.id) {
            (None, Some(id)) => self.answered(id, head.result.is_some()),
            (Some("notifications/subscriptions/acknowledged"), _) => {
                match serde_json::from_slice::<Map<String, Value>>(line) {
                    Ok(body) => self.acknowledged(&body),
                    Err(_) => Verdict::Forward,
                }
            }
            _ => Verdict::Forward,
        }
    }

    fn answered(&mut self, id: &Value, well: bool) -> Verdict {
        if let Some(id) = id.as_str()
            && self.own.remove(id)
        {
            if !well {
                tracing::warn!(id, "a server did not take over the session whole");
            }
            return Verdict::Swallow;
        }
        let Some(at) = self.open.iter().position(|open| open.id == *id) else {
            return Verdict::Forward;
        };
        // A server ends a subscription well only when it goes away itself. The agent is not to
        // notice that: the subscription stays open and goes on at the next server.
        if well
            && let Some(open) = self.open.get(at)
            && matches!(open.kind, Kind::Listen { .. })
        {
            return Verdict::Swallow;
        }
        let open = self.open.remove(at);
        if well {
            match open.kind {
                Kind::Initialize => self.initialize = serde_json::from_slice(&open.line).ok(),
                Kind::Subscribe(uri) => {
                    if !self.subscribed.contains(&uri) {
                        self.subscribed.push(uri);
                    }
                }
                Kind::Unsubscribe(uri) => self.subscribed.retain(|known| *known != uri),
                Kind::Listen { .. } | Kind::Call | Kind::Other => {}
            }
        }
        Verdict::Forward
    }

    fn acknowledged(&mut self, body: &Map<String, Value>) -> Verdict {
        let id = body
            .get("params")
            .and_then(|params| params.get("_meta"))
            .and_then(|meta| meta.get(SUBSCRIPTION_ID));
        for open in &mut self.open {
            if let Kind::Listen { acknowledged, .. } = &mut open.kind
                && Some(&open.id) == id
            {
                let before = std::mem::replace(acknowledged, true);
                return if before {
                    Verdict::Swallow
                } else {
                    Verdict::Forward
                };
            }
        }
        Verdict::Forward
    }

    /// The lines that bring a new server to where the session is. They may be sent at once: the
    /// server itself waits with what follows `initialize` until it has answered it.
    pub(super) fn replay(&mut self) -> Vec<Vec<u8>> {
        // Nothing of the old server can arrive any more.
        self.own.clear();
        let mut lines = Vec::new();
        if let Some(mut initialize) = self.initialize.clone() {
            if let Some(body) = initialize.as_object_mut() {
                body.insert("id".to_owned(), self.own_id());
            }
            lines.push(initialize.to_string().into_bytes());
            lines.extend(self.initialized.clone());
            for uri in self.subscribed.clone() {
                let subscribe = json!({
                    "jsonrpc": "2.0",
                    "id": self.own_id(),
                    "method": "resources/subscribe",
                    "params": {"uri": uri},
                });
                lines.push(subscribe.to_string().into_bytes());
            }
        }
        for open in &mut self.open {
            if !matches!(open.kind, Kind::Listen { .. }) {
                open.sent += 1;
            }
            lines.push(open.line.clone());
        }
        lines
    }

    fn own_id(&mut self) -> Value {
        self.last_own += 1;
        let id = format!("kontext-ls/bridge/{}", self.last_own);
        self.own.insert(id.clone());
        Value::String(id)
    }

    /// What the agent hears when another server stands behind it: that everything it has seen or
    /// subscribed to may be different. Each era hears it in its own way; one that has not opened
    /// its session, or does not listen, hears nothing.
    pub(super) fn news(&self) -> Vec<Vec<u8>> {
        let mut news = Vec::new();
        if self.initialized.is_some() {
            news.push(notification("notifications/tools/list_changed", Map::new()));
            news.push(notification(
                "notifications/resources/list_changed",
                Map::new(),
            ));
            for uri in &self.subscribed {
                let params = Map::from_iter([("uri".to_owned(), json!(uri))]);
                news.push(notification("notifications/resources/updated", params));
            }
        }
        for open in &self.open {
            let Kind::Listen {
                filter,
                acknowledged: true,
            } = &open.kind
            else {
                continue;
            };
            let meta = Map::from_iter([("_meta".to_owned(), json!({SUBSCRIPTION_ID: open.id}))]);
            for (wanted, method) in [
                ("toolsListChanged", "notifications/tools/list_changed"),
                (
                    "resourcesListChanged",
                    "notifications/resources/list_changed",
                ),
            ] {
                if filter.get(wanted) == Some(&Value::Bool(true)) {
                    news.push(notification(method, meta.clone()));
                }
            }
            let uris = filter
                .get("resourceSubscriptions")
                .and_then(Value::as_array);
            for uri in uris.into_iter().flatten().filter_map(Value::as_str) {
                // Others were never accepted.
                if kontext_mcp::resources::parse(uri).is_some() {
                    let mut params = meta.clone();
                    params.insert("uri".to_owned(), json!(uri));
                    news.push(notification("notifications/resources/updated", params));
                }
            }
        }
        news
    }
}

fn notification(method: &str, params: Map<String, Value>) -> Vec<u8> {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if let (false, Some(body)) = (params.is_empty(), message.as_object_mut()) {
        body.insert("params".to_owned(), Value::Object(params));
    }
    message.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: Vec<Vec<u8>>) -> String {
        let lines: Vec<_> = lines
            .iter()
            .map(|line| String::from_utf8_lossy(line))
            .collect();
        lines.join("\n")
    }

    fn agent(session: &mut Session, lines: &[&str]) {
        for line in lines {
            session.note_agent(line.as_bytes());
        }
    }

    #[test]
    fn a_new_server_gets_the_handshake_the_subscriptions_and_what_is_open() {
        let mut session = Session::default();
        agent(
            &mut session,
            &[r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"odd":1.50}}"#],
        );
        assert_eq!(
            session.judge_answer(br#"{"jsonrpc":"2.0","id":0,"result":{}}"#),
            Verdict::Forward
        );
        agent(
            &mut session,
            &[
                r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"kontext://schema"}}"#,
                r#"{"jsonrpc":"2.0","id":"1","method":"tools/call"}"#,
                r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#,
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#,
                "garbage",
            ],
        );
        session.judge_answer(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        insta::assert_snapshot!(text(session.replay()), @r#"
        {"jsonrpc":"2.0","id":"kontext-ls/bridge/1","method":"initialize","params":{"odd":1.50}}
        {"jsonrpc":"2.0","method":"notifications/initialized"}
        {"jsonrpc":"2.0","id":"kontext-ls/bridge/2","method":"resources/subscribe","params":{"uri":"kontext://schema"}}
        {"jsonrpc":"2.0","id":"1","method":"tools/call"}
        "#);
        insta::assert_snapshot!(text(session.news()), @r#"
        {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}
        {"jsonrpc":"2.0","method":"notifications/resources/list_changed"}
        {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"kontext://schema"}}
        "#);
        assert_eq!(
            session.judge_answer(br#"{"jsonrpc":"2.0","id":"kontext-ls/bridge/1","result":{}}"#),
            Verdict::Swallow
        );
    }

    #[test]
    fn an_initialize_without_answer_is_sent_again_as_it_is() {
        let mut session = Session::default();
        let line = r#"{"jsonrpc":"2.0","id":0,"method":"initialize"}"#;
        agent(&mut session, &[line]);
        assert_eq!(text(session.replay()), line);
        assert!(session.news().is_empty());
    }

    #[test]
    fn a_listener_goes_on_listening_and_is_acknowledged_once() {
        let mut session = Session::default();
        let line = r#"{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["kontext://schema","x:y"]}}}"#;
        let acknowledged = br#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7}}}"#;
        agent(&mut session, &[line]);
        assert!(session.news().is_empty());
        assert_eq!(session.judge_answer(acknowledged), Verdict::Forward);
        // The old server takes its leave; the subscription does not end with it.
        let leave = br#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete"}}"#;
        assert_eq!(session.judge_answer(leave), Verdict::Swallow);
        assert_eq!(text(session.replay()), line);
        assert_eq!(session.judge_answer(acknowledged), Verdict::Swallow);
        insta::assert_snapshot!(text(session.news()), @r#"
        {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7}}}
        {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7},"uri":"kontext://schema"}}
        "#);
    }
}
