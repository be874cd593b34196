//! One line judged as a JSON-RPC 2.0 message, and the error answers to those that are none.

use kontext_syntax::json::{Outline, without_lone_surrogates};
use serde_json::{Map, Value, json};

/// The text is not JSON (JSON-RPC 2.0, section 5.1).
pub const PARSE_ERROR: i64 = -32700;
/// The JSON is not a request that can be served at this point.
pub const INVALID_REQUEST: i64 = -32600;
/// The parameters do not fit the method.
pub const INVALID_PARAMS: i64 = -32602;
/// Something failed inside the server.
pub const INTERNAL_ERROR: i64 = -32603;

/// A message that has the outer form JSON-RPC and MCP ask for.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Expects an answer under `id`, a string or an integer.
    Request {
        /// As it was sent.
        id: Value,
        /// The method's name.
        method: String,
        /// The whole message; `params` is an object where present.
        body: Map<String, Value>,
    },
    /// Expects no answer.
    Notification {
        /// The method's name.
        method: String,
        /// The whole message; `params` is an object where present.
        body: Map<String, Value>,
    },
    /// Answers a request of the other side, with a result or an error.
    Response {
        /// As it was sent; null where the sender could not know it.
        id: Value,
        /// The whole message.
        body: Map<String, Value>,
    },
}

impl Message {
    /// The `params` object.
    pub fn params(&self) -> Option<&Map<String, Value>> {
        match self {
            Self::Request { body, .. } | Self::Notification { body, .. } => {
                body.get("params").and_then(Value::as_object)
            }
            Self::Response { .. } => None,
        }
    }

    /// The whole message as JSON.
    pub fn into_value(self) -> Value {
        match self {
            Self::Request { body, .. }
            | Self::Notification { body, .. }
            | Self::Response { body, .. } => Value::Object(body),
        }
    }
}

/// Why a line is no message, and what to answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line to send back, without line break; `None` where nothing may be answered.
    pub answer: Option<String>,
}

/// Judges one line.
///
/// # Errors
///
/// A [`Fault`] with the answer to send: an error under the message's own id where it has one that
/// can be told, even of what is no JSON as a whole, else under null. A batch (2025-03-26 allowed them, 2025-06-18 removed them) is not served; it
/// is answered by an array with one error for each request in it, so that no caller waits.
pub fn parse(line: &[u8]) -> Result<Message, Fault> {
    // Halves of surrogate pairs, which JavaScript leaves where it cuts a text, cost a character
    // and not the message.
    let value = serde_json::from_slice::<Value>(line).or_else(|error| {
        let mended = without_lone_surrogates(line).ok_or(error)?;
        serde_json::from_slice(&mended)
    });
    let value = match value {
        Ok(value) => value,
        Err(error) => {
            let message = if std::str::from_utf8(line).is_err() {
                "the message is not valid UTF-8".to_owned()
            } else {
                format!("the message is not valid JSON: {error}")
            };
            return fault(&told_id(&Outline::of(line)), PARSE_ERROR, &message);
        }
    };
    match value {
        Value::Object(body) => judge(body),
        Value::Array(items) => Err(Fault {
            answer: Some(batch_answer(&items)),
        }),
        _ => fault(
            &Value::Null,
            INVALID_REQUEST,
            "a message is a JSON object with `jsonrpc`, `method` and, for a request, `id`",
        ),
    }
}

fn judge(mut body: Map<String, Value>) -> Result<Message, Fault> {
    // Null stands for an id that was not known; whoever sends it with a method means none.
    let id = match body.get("id") {
        None | Some(Value::Null) => None,
        Some(id) => Some(id.clone()),
    };
    let echo = id
        .clone()
        .filter(|id| id.is_string() || id.is_number())
        .unwrap_or(Value::Null);
    if body.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return fault(&echo, INVALID_REQUEST, "`jsonrpc` must be \"2.0\"");
    }
    let Some(method) = body.get("method") else {
        if body.contains_key("result") || body.contains_key("error") {
            return Ok(Message::Response { id: echo, body });
        }
        return fault(
            &echo,
            INVALID_REQUEST,
            "the message has neither `method` nor `result` nor `error`",
        );
    };
    let Some(method) = method.as_str().map(str::to_owned) else {
        return fault(&echo, INVALID_REQUEST, "`method` must be a string");
    };
    match body.get("params") {
        None | Some(Value::Object(_)) => {}
        // Several clients write null for "none"; nothing is lost by reading it so.
        Some(Value::Null) => {
            body.shift_remove("params");
        }
        Some(_) => {
            return if id.is_some() {
                fault(&echo, INVALID_PARAMS, "`params` must be an object")
            } else {
                Err(Fault { answer: None })
            };
        }
    }
    match id {
        None => {
            body.shift_remove("id");
            Ok(Message::Notification { method, body })
        }
        Some(id) if is_id(&id) => Ok(Message::Request { id, method, body }),
        Some(_) => fault(
            &echo,
            INVALID_REQUEST,
            "`id` must be a string or an integer of at most 63 bits",
        ),
    }
}

/// Whether `id` is one that MCP allows and every part of this program can carry.
fn is_id(id: &Value) -> bool {
    id.is_string() || id.as_i64().is_some()
}

fn batch_answer(items: &[Value]) -> String {
    const WORDS: &str = "JSON-RPC batches are not served (protocol 2025-06-18 removed them): \
                         send each message on a line of its own";
    let answers: Vec<Value> = items
        .iter()
        .filter(|item| item.get("method").is_some())
        .filter_map(|item| item.get("id"))
        .filter(|id| id.is_string() || id.is_number())
        .map(|id| error_value(id, INVALID_REQUEST, WORDS))
        .collect();
    if answers.is_empty() {
        error_line(&Value::Null, INVALID_REQUEST, WORDS)
    } else {
        Value::Array(answers).to_string()
    }
}

fn fault<T>(id: &Value, code: i64, message: &str) -> Result<T, Fault> {
    Err(Fault {
        answer: Some(error_line(id, code, message)),
    })
}

fn error_value(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

/// An error answer as one line, without line break.
pub fn error_line(id: &Value, code: i64, message: &str) -> String {
    error_value(id, code, message).to_string()
}

/// The id of a request of which only this is known; null where it cannot be answered to.
fn told_id(outline: &Outline) -> Value {
    outline
        .request_id()
        .and_then(|id| serde_json::from_slice::<Value>(id).ok())
        .filter(is_id)
        .unwrap_or(Value::Null)
}

/// The answer to a line longer than `limit` bytes.
pub fn too_long_line(limit: usize, outline: &Outline) -> String {
    error_line(
        &told_id(outline),
        INVALID_REQUEST,
        &format!("the message is longer than {limit} bytes and was skipped"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(line: &str) -> String {
        match parse(line.as_bytes()) {
            Ok(message) => format!("passes: {message:?}"),
            Err(fault) => fault.answer.unwrap_or_else(|| "nothing".to_owned()),
        }
    }

    #[test]
    fn what_is_no_message_is_answered_under_its_own_id_where_it_has_one() {
        insta::assert_snapshot!(answer("{\"a\":"), @r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the message is not valid JSON: EOF while parsing a value at line 1 column 5"}}"#);
        insta::assert_snapshot!(answer("17"), @r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message is a JSON object with `jsonrpc`, `method` and, for a request, `id`"}}"#);
        insta::assert_snapshot!(answer(r#"{"id":3,"method":"ping"}"#), @r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"`jsonrpc` must be \"2.0\""}}"#);
        insta::assert_snapshot!(answer(r#"{"jsonrpc":"2.0","id":"a","method":7}"#), @r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32600,"message":"`method` must be a string"}}"#);
        insta::assert_snapshot!(answer(r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":[1]}"#), @r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"`params` must be an object"}}"#);
        insta::assert_snapshot!(answer(r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#), @r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"`id` must be a string or an integer of at most 63 bits"}}"#);
        insta::assert_snapshot!(answer(r#"{"jsonrpc":"2.0","id":18446744073709551616,"method":"ping"}"#), @r#"{"jsonrpc":"2.0","id":18446744073709551616,"error":{"code":-32600,"message":"`id` must be a string or an integer of at most 63 bits"}}"#);
    }

    #[test]
    fn what_is_no_json_is_answered_under_the_id_that_can_be_told() {
        insta::assert_snapshot!(answer(r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":{"#), @r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32700,"message":"the message is not valid JSON: EOF while parsing an object at line 1 column 50"}}"#);
        let deep = format!(
            r#"{{"method":"ping","params":{{"a":{}{}}},"jsonrpc":"2.0","id":"a"}}"#,
            "[".repeat(10_000),
            "]".repeat(10_000)
        );
        insta::assert_snapshot!(answer(&deep), @r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32700,"message":"the message is not valid JSON: recursion limit exceeded at line 1 column 157"}}"#);
        // What answers one of our requests is answered under no id of ours.
        assert!(answer(r#"{"jsonrpc":"2.0","id":3,"result":"#).contains("\"id\":null"));
    }

    #[test]
    fn half_a_surrogate_pair_costs_a_character() {
        let line = r#"{"jsonrpc":"2.0","id":3,"method":"m","params":{"t":"a\ud83d"}}"#;
        let message = parse(line.as_bytes()).expect("must pass");
        assert_eq!(
            message.params().and_then(|params| params.get("t")),
            Some(&json!("a\u{fffd}"))
        );
    }

    #[test]
    fn bad_utf8_says_so() {
        let fault = parse(b"{\"jsonrpc\":\"\xff\"}").expect_err("must not pass");
        assert!(fault.answer.is_some_and(|line| line.contains("UTF-8")));
    }

    #[test]
    fn every_request_of_a_batch_gets_its_error() {
        insta::assert_snapshot!(
            answer(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":"b","method":"ping"}]"#),
            @r#"[{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"JSON-RPC batches are not served (protocol 2025-06-18 removed them): send each message on a line of its own"}},{"jsonrpc":"2.0","id":"b","error":{"code":-32600,"message":"JSON-RPC batches are not served (protocol 2025-06-18 removed them): send each message on a line of its own"}}]"#
        );
        assert!(answer("[]").contains("\"id\":null"));
    }

    #[test]
    fn null_params_are_none() {
        let message = parse(br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#);
        assert!(matches!(message, Ok(message) if message.params().is_none()));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_judged(line: Vec<u8>) {
            let _ = parse(&line);
        }
    }
}
