//! JSON-RPC messages of a server, read without decoding what is only handed on; and ours as lines.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The method is not known (JSON-RPC 2.0, section 5.1).
pub(super) const METHOD_NOT_FOUND: i64 = -32601;

/// An error object of JSON-RPC, as the server sent it.
#[derive(Clone, Debug)]
pub struct RpcError {
    /// Its code; 0 where the server sent none.
    pub code: i64,
    /// Its message; empty where the server sent none.
    pub message: String,
    /// The whole object, verbatim: what is handed on to whoever asked for a re-published tool.
    pub raw: Box<RawValue>,
}

impl RpcError {
    /// `data.supported`, which an error about the protocol version carries.
    pub(super) fn supported(&self) -> Option<Vec<String>> {
        let error: Value = serde_json::from_str(self.raw.get()).ok()?;
        let list = error.get("data")?.get("supported")?.as_array()?;
        Some(
            list.iter()
                .filter_map(|version| version.as_str().map(str::to_owned))
                .collect(),
        )
    }

    fn read(raw: &RawValue) -> Self {
        #[derive(Deserialize, Default)]
        struct Parts {
            #[serde(default)]
            code: Value,
            #[serde(default)]
            message: Value,
        }
        let parts: Parts = serde_json::from_str(raw.get()).unwrap_or_default();
        let code = parts.code.as_i64();
        let message = match parts.message {
            Value::String(message) => message,
            Value::Null => String::new(),
            other => other.to_string(),
        };
        Self {
            code: code.unwrap_or_default(),
            message,
            raw: raw.to_owned(),
        }
    }
}

/// A message that came in.
#[derive(Debug)]
pub(super) enum Incoming<'a> {
    /// The server asks; `id` is to be sent back as it is.
    Request {
        id: &'a RawValue,
        method: Cow<'a, str>,
    },
    /// The server tells.
    Notification {
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    /// The server answers.
    Answer {
        id: Id<'a>,
        outcome: Result<&'a RawValue, RpcError>,
    },
}

/// The id of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Id<'a> {
    /// A number as we give them, also where it was sent as a text or with a fraction of zero.
    Number(u64),
    /// Null, or none at all.
    Null,
    /// Nothing we ever send; as it was written.
    Other(&'a str),
}

impl<'a> Id<'a> {
    fn read(raw: Option<&'a RawValue>) -> Self {
        let Some(raw) = raw else {
            return Self::Null;
        };
        let text = raw.get();
        if text == "null" {
            return Self::Null;
        }
        let inner = text
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'))
            .unwrap_or(text);
        let inner = inner.strip_suffix(".0").unwrap_or(inner);
        match inner.parse() {
            Ok(number) if !inner.starts_with('+') => Self::Number(number),
            _ => Self::Other(text),
        }
    }
}

impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Null => f.write_str("null"),
            Self::Other(text) => f.write_str(&crate::driver::excerpt(text, 60)),
        }
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// A member that is there, null included.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// The messages in a text: one, or those of a batch (2025-03-26 has them). What is no message is
/// handed to `stray`.
pub(super) fn read<'a>(text: &'a str, mut stray: impl FnMut(&'a str)) -> Vec<Incoming<'a>> {
    if text.trim_start().starts_with('[')
        && let Ok(batch) = serde_json::from_str::<Vec<&RawValue>>(text)
        && !batch.is_empty()
    {
        return batch
            .into_iter()
            .filter_map(|item| {
                let message = one(item.get());
                if message.is_none() {
                    stray(item.get());
                }
                message
            })
            .collect();
    }
    match one(text) {
        Some(message) => vec![message],
        None => {
            stray(text);
            Vec::new()
        }
    }
}

fn one(text: &str) -> Option<Incoming<'_>> {
    let envelope: Envelope<'_> = serde_json::from_str(text).ok()?;
    // Programs log JSON too: only what says that it is a message is one.
    if envelope.jsonrpc.as_deref() != Some("2.0") {
        return None;
    }
    if let Some(method) = envelope.method {
        return Some(match envelope.id.filter(|id| id.get() != "null") {
            Some(id) => Incoming::Request { id, method },
            None => Incoming::Notification {
                method,
                params: envelope.params,
            },
        });
    }
    let outcome = match (envelope.error, envelope.result) {
        (Some(error), _) => Err(RpcError::read(error)),
        (None, Some(result)) => Ok(result),
        (None, None) => return None,
    };
    Some(Incoming::Answer {
        id: Id::read(envelope.id),
        outcome,
    })
}

/// A request as one line, line break included.
pub(super) fn request(id: u64, method: &str, params: &str) -> String {
    line(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":{},"params":{params}}}"#,
        Value::from(method)
    ))
}

/// A notification as one line, line break included.
pub(super) fn notification(method: &str, params: Option<&Value>) -> String {
    let method = Value::from(method);
    match params {
        Some(params) => line(&format!(
            r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#
        )),
        None => line(&format!(r#"{{"jsonrpc":"2.0","method":{method}}}"#)),
    }
}

/// The answer to a request of the server as one line, line break included.
pub(super) fn answer(id: &RawValue, outcome: Result<Value, (i64, String)>) -> String {
    let id = id.get();
    match outcome {
        Ok(result) => line(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#
        )),
        Err((code, message)) => {
            let message = Value::from(message);
            line(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}}}}}"#
            ))
        }
    }
}

/// The text on one line. JSON allows line breaks only between tokens, where a blank does as well.
fn line(text: &str) -> String {
    let mut line = if memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_some() {
        text.replace(['\n', '\r'], " ")
    } else {
        let mut line = String::with_capacity(text.len() + 1);
        line.push_str(text);
        line
    };
    line.push('\n');
    line
}

/// Parameters with members added to their `_meta`; all others stay as they were written. What is
/// no object is left as it is.
pub(super) fn with_meta(params: &str, meta: Map<String, Value>) -> String {
    if meta.is_empty() {
        return params.to_owned();
    }
    let Ok(Members(members)) = serde_json::from_str::<Members<'_>>(params) else {
        return params.to_owned();
    };
    let mut all = Map::new();
    let mut text = String::with_capacity(params.len() + 256);
    text.push('{');
    for (name, value) in members {
        if name == "_meta" {
            if let Ok(Value::Object(own)) = serde_json::from_str(value.get()) {
                all = own;
            }
            continue;
        }
        text.push_str(&Value::from(name.as_ref()).to_string());
        text.push(':');
        text.push_str(value.get());
        text.push(',');
    }
    all.extend(meta);
    text.push_str("\"_meta\":");
    text.push_str(&Value::Object(all).to_string());
    text.push('}');
    text
}

/// The members of an object in their order, undecoded.
struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<String, &'de RawValue>()? {
                    members.push((Cow::Owned(member.0), member.1));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(All)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(text: &str) -> String {
        let mut strays = Vec::new();
        let found = read(text, |stray| strays.push(stray.to_owned()));
        let mut shown: Vec<String> = found
            .iter()
            .map(|message| match message {
                Incoming::Request { id, method } => format!("request {id} {method}"),
                Incoming::Notification { method, params } => {
                    format!("tells {method} {}", params.map_or("-", RawValue::get))
                }
                Incoming::Answer { id, outcome } => match outcome {
                    Ok(result) => format!("answer {id:?} {result}"),
                    Err(error) => format!("error {id:?} {} {}", error.code, error.message),
                },
            })
            .collect();
        shown.extend(strays.iter().map(|stray| format!("stray {stray}")));
        shown.join("\n")
    }

    #[test]
    fn messages_are_told_apart_and_what_is_none_is_left() {
        insta::assert_snapshot!(shown(r#"{"jsonrpc":"2.0","id":"7","result":{"a":1.50}}"#), @r#"answer Number(7) {"a":1.50}"#);
        insta::assert_snapshot!(shown(r#"{"jsonrpc":"2.0","id":7.0,"result":null}"#), @"answer Number(7) null");
        insta::assert_snapshot!(shown(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"boom"}}"#), @"error Null -32603 boom");
        insta::assert_snapshot!(shown(r#"{"jsonrpc":"2.0","error":"odd","id":-1}"#), @r#"error Other("-1") 0 "#);
        insta::assert_snapshot!(shown(r#"{"jsonrpc":"2.0","id":"a-1","method":"roots/list"}"#), @r#"request "a-1" roots/list"#);
        insta::assert_snapshot!(shown(r#"{"jsonrpc":"2.0","id":null,"method":"x","params":{}}"#), @"tells x {}");
        insta::assert_snapshot!(shown(r#"{"id":1,"result":{}}"#), @r#"stray {"id":1,"result":{}}"#);
        insta::assert_snapshot!(shown("Listening…"), @"stray Listening…");
        insta::assert_snapshot!(shown(r#"[{"jsonrpc":"2.0","id":1,"result":{}},17,{"jsonrpc":"2.0","method":"n"}]"#), @r"
        answer Number(1) {}
        tells n -
        stray 17
        ");
    }

    #[test]
    fn what_is_sent_is_one_line() {
        let text = request(3, "tools/call", "{\n \"a\": \"x\\n\"\r\n}");
        assert_eq!(text.matches('\n').count(), 1);
        assert!(text.ends_with("}\n") && !text.contains('\r'));
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["params"], json!({"a": "x\n"}));
    }

    #[test]
    fn members_of_meta_are_added_and_the_rest_stays_as_written() {
        let mut meta = Map::new();
        meta.insert("progressToken".to_owned(), json!(4));
        let text = with_meta(
            r#"{"name":"f","arguments":{"n":1.000, "n2":1e2},"_meta":{"own":true,"progressToken":"x"}}"#,
            meta,
        );
        insta::assert_snapshot!(text, @r#"{"name":"f","arguments":{"n":1.000, "n2":1e2},"_meta":{"own":true,"progressToken":4}}"#);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text: String) {
            let _ = shown(&text);
        }
    }
}
