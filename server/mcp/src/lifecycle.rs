//! Which message may pass at which point of a session.
//!
//! Two eras share one connection. Up to protocol 2025-11-25 a session is opened by `initialize`;
//! from 2026-07-28 on there is no handshake and every request names its protocol in
//! `params._meta`. A client may try the one and fall back to the other.

use serde_json::{Map, Value};

use crate::jsonrpc::Message;

/// The member of `params._meta` that makes a request a modern one.
pub const META_PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Handshake {
    #[default]
    None,
    /// `initialize` is being answered.
    Running,
    Done,
}

/// How far a session is.
#[derive(Debug, Default)]
pub struct Lifecycle {
    handshake: Handshake,
    /// A modern request has passed.
    modern: bool,
}

/// What is to be done with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admission {
    /// Hand it on.
    Pass,
    /// Hand it on, and nothing after it until it is answered: the answers to what follows depend
    /// on the protocol version it settles.
    PassAlone,
    /// Drop it without an answer.
    Ignore,
    /// Answer `-32600` with these words.
    Refuse(String),
}

impl Lifecycle {
    /// Decides about `message` and notes what it changes.
    pub fn admit(&mut self, message: &Message) -> Admission {
        match message {
            Message::Request { method, .. } => self.admit_request(method, message.params()),
            Message::Notification { .. } | Message::Response { .. } => {
                if self.handshake == Handshake::Done || self.modern {
                    Admission::Pass
                } else {
                    Admission::Ignore
                }
            }
        }
    }

    fn admit_request(&mut self, method: &str, params: Option<&Map<String, Value>>) -> Admission {
        match method {
            "initialize" if self.handshake == Handshake::None => {
                self.handshake = Handshake::Running;
                Admission::PassAlone
            }
            "initialize" => Admission::Refuse(
                "the session is initialized already; a new one needs a new connection".to_owned(),
            ),
            // Allowed at any time in the eras that have it, and harmless in the other.
            "ping" => Admission::Pass,
            // A probe: it opens nothing, and its own metadata is judged by the server.
            "server/discover" => Admission::Pass,
            _ if names_protocol(params) => {
                self.modern = true;
                Admission::Pass
            }
            _ if self.handshake == Handshake::Done => Admission::Pass,
            _ => Admission::Refuse(not_open(method)),
        }
    }

    /// `initialize` has been answered, with a result or with an error.
    pub fn initialize_answered(&mut self, well: bool) {
        if self.handshake == Handshake::Running {
            self.handshake = if well {
                Handshake::Done
            } else {
                Handshake::None
            };
        }
    }
}

/// Whether a request carries the metadata of protocol 2026-07-28 or later.
pub fn names_protocol(params: Option<&Map<String, Value>>) -> bool {
    params
        .and_then(|params| params.get("_meta"))
        .and_then(|meta| meta.get(META_PROTOCOL_VERSION))
        .is_some()
}

fn not_open(method: &str) -> String {
    format!(
        "`{method}` came before the session was opened. Either send `initialize` first and wait \
         for its result (protocol 2024-11-05 to 2025-11-25), or name the protocol in the request \
         itself: `params._meta` with `{META_PROTOCOL_VERSION}` \"2026-07-28\" and \
         `io.modelcontextprotocol/clientCapabilities` (`server/discover` tells what is supported)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Message {
        crate::jsonrpc::parse(text.as_bytes()).expect("a message")
    }

    fn request(method: &str) -> Message {
        message(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#
        ))
    }

    #[test]
    fn before_the_session_is_open_only_openers_pass() {
        let mut lifecycle = Lifecycle::default();
        assert_eq!(lifecycle.admit(&request("ping")), Admission::Pass);
        assert_eq!(
            lifecycle.admit(&request("server/discover")),
            Admission::Pass
        );
        let early = message(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert_eq!(lifecycle.admit(&early), Admission::Ignore);
        insta::assert_snapshot!(
            match lifecycle.admit(&request("tools/list")) {
                Admission::Refuse(words) => words,
                other => format!("{other:?}"),
            },
            @r#"`tools/list` came before the session was opened. Either send `initialize` first and wait for its result (protocol 2024-11-05 to 2025-11-25), or name the protocol in the request itself: `params._meta` with `io.modelcontextprotocol/protocolVersion` "2026-07-28" and `io.modelcontextprotocol/clientCapabilities` (`server/discover` tells what is supported)"#
        );
    }

    #[test]
    fn one_handshake_a_session_and_a_failed_one_may_be_repeated() {
        let mut lifecycle = Lifecycle::default();
        assert_eq!(
            lifecycle.admit(&request("initialize")),
            Admission::PassAlone
        );
        lifecycle.initialize_answered(false);
        assert_eq!(
            lifecycle.admit(&request("initialize")),
            Admission::PassAlone
        );
        lifecycle.initialize_answered(true);
        assert!(matches!(
            lifecycle.admit(&request("initialize")),
            Admission::Refuse(_)
        ));
        assert_eq!(lifecycle.admit(&request("tools/list")), Admission::Pass);
    }

    #[test]
    fn a_modern_request_passes_and_opens_nothing_for_the_others() {
        let mut lifecycle = Lifecycle::default();
        let modern = message(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
        );
        assert_eq!(lifecycle.admit(&modern), Admission::Pass);
        assert!(matches!(
            lifecycle.admit(&request("tools/list")),
            Admission::Refuse(_)
        ));
        let cancelled = message(r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#);
        assert_eq!(lifecycle.admit(&cancelled), Admission::Pass);
        // A client that tried the new way first may still fall back.
        assert_eq!(
            lifecycle.admit(&request("initialize")),
            Admission::PassAlone
        );
    }
}
