//! The tools of a server, as it lists them.

use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashSet;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::decode;
use super::inbox::MOST_OF_MESSAGE;
use super::message::RpcError;
use super::pending::Failure;
use super::protocol::Greeting;
use super::session::{Exchange, Session};
use crate::driver::excerpt;

const MOST_PAGES: usize = 1000;

/// The most bytes of all pages together.
const MOST_BYTES: usize = 2 * MOST_OF_MESSAGE;

/// How many notes are kept of one list.
const MOST_NOTES: usize = 50;

/// The tools of a server and what it said about itself, as of one refresh.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    /// Rises by one with each refresh; 0 before the first.
    pub revision: u64,
    /// The tools in the server's order, each object as it was sent. A name comes once, and is a
    /// text that is not empty; `inputSchema` is an object.
    pub tools: Vec<Arc<Value>>,
    /// What is to be reported: tools that were left out, a list that could not be read to its
    /// end.
    pub notes: Vec<String>,
    /// The protocol version agreed on; empty before the first session.
    pub protocol: String,
    /// `serverInfo` as it was sent; null where there was none.
    pub server_info: Value,
    /// `capabilities` as they were sent; null where there were none.
    pub capabilities: Value,
    /// How the server says it wants to be used.
    pub instructions: Option<String>,
}

impl Tools {
    /// The tool of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<Value>> {
        self.tools.iter().find(|tool| name_of(tool) == Some(name))
    }

    pub(super) fn greeted(&mut self, greeting: &Greeting) {
        self.protocol.clone_from(&greeting.version);
        self.server_info.clone_from(&greeting.server_info);
        self.capabilities.clone_from(&greeting.capabilities);
        self.instructions.clone_from(&greeting.instructions);
    }
}

fn name_of(tool: &Value) -> Option<&str> {
    tool.get("name")?.as_str()
}

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
    #[serde(default, rename = "nextCursor")]
    cursor: Value,
}

/// What was listed.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) tools: Vec<Arc<Value>>,
    pub(super) notes: Vec<String>,
    names: FxHashSet<String>,
}

/// Lists all tools, page by page; `limit` is for each page.
pub(super) async fn list(session: &Arc<Session>, limit: Duration) -> Result<Listed, Failure> {
    let mut listed = Listed::default();
    let mut seen = FxHashSet::default();
    let mut cursor: Option<String> = None;
    let mut bytes = 0;
    for page in 1.. {
        let params = match &cursor {
            Some(cursor) => json!({"cursor": cursor}),
            None => json!({}),
        };
        let exchange = Exchange {
            timeout: Some(limit),
            ..Exchange::default()
        };
        let raw = match session
            .call("tools/list", &params.to_string(), exchange)
            .await
        {
            Ok(raw) => raw,
            // What came before is better than nothing.
            Err(failure) if page > 1 && !matches!(failure, Failure::Expired) => {
                listed.note(format!(
                    "page {page} of the tools failed: {}",
                    words(&failure)
                ));
                break;
            }
            Err(failure) => return Err(failure),
        };
        bytes += raw.get().len();
        let Ok(answer) = serde_json::from_str::<Page<'_>>(raw.get()) else {
            listed.note(format!("page {page} of the tools is not a list of tools"));
            break;
        };
        let before = listed.tools.len();
        let again = answer
            .cursor
            .as_str()
            .is_some_and(|next| seen.contains(next));
        for tool in &answer.tools {
            listed.add(tool, again);
        }
        let next = match answer.cursor {
            Value::String(next) if !next.is_empty() => next,
            Value::Null | Value::String(_) => break,
            _ => {
                listed.note(format!(
                    "`nextCursor` on page {page} of the tools is not a text"
                ));
                break;
            }
        };
        if !seen.insert(next.clone()) {
            listed.note(format!(
                "the list of tools does not end: page {page} gives a `nextCursor` that came before; {} tools were read",
                listed.tools.len()
            ));
            break;
        }
        if page == MOST_PAGES || bytes > MOST_BYTES || (page > 10 && before == listed.tools.len()) {
            listed.note(format!(
                "the list of tools does not end: it was read up to page {page}, {} tools",
                listed.tools.len()
            ));
            break;
        }
        cursor = Some(next);
    }
    Ok(listed)
}

impl Listed {
    /// `again`: the page may be one that was read before.
    fn add(&mut self, raw: &RawValue, again: bool) {
        let Ok(mut tool) = decode::value(raw.get()) else {
            return self.note(format!(
                "a tool was left out, it cannot be read: {}",
                excerpt(raw.get(), 80)
            ));
        };
        let Some(name) = name_of(&tool).filter(|name| !name.is_empty()) else {
            return self.note(format!(
                "a tool was left out, it has no name: {}",
                excerpt(raw.get(), 80)
            ));
        };
        let (name, shown) = (name.to_owned(), excerpt(name, 80));
        match tool.get("inputSchema") {
            Some(Value::Object(_)) => {}
            None | Some(Value::Null) => {
                self.note(format!(
                    "the tool `{shown}` has no `inputSchema`; any arguments are assumed to do"
                ));
                if let Value::Object(members) = &mut tool {
                    members.insert("inputSchema".to_owned(), json!({"type": "object"}));
                }
            }
            Some(_) => {
                return self.note(format!(
                    "the tool `{shown}` was left out, its `inputSchema` is not an object"
                ));
            }
        }
        if !self.names.insert(name) {
            if again {
                return;
            }
            return self.note(format!(
                "the tool `{shown}` is listed more than once; the first one counts"
            ));
        }
        self.tools.push(Arc::new(tool));
    }

    fn note(&mut self, note: String) {
        if self.notes.len() < MOST_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// A failure in words.
pub(super) fn words(failure: &Failure) -> String {
    match failure {
        Failure::Fault(fault) => fault.message().to_owned(),
        Failure::Rpc(error) => rpc_words(error),
        Failure::Expired => "the session has expired".to_owned(),
    }
}

/// An error of the server in words.
pub(super) fn rpc_words(error: &RpcError) -> String {
    let message = excerpt(&error.message, 400);
    if message.is_empty() {
        format!("the server answered with error {}", error.code)
    } else {
        format!("the server answered with error {}: {message}", error.code)
    }
}
