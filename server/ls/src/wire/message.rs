//! From the body of a frame to a message, and the tolerances towards real clients.
//!
//! The body is parsed once into a JSON value and taken apart by hand: tower-lsp's own untagged
//! decoding buffers the whole message a second time, and says no more than "no variant matched"
//! about what is wrong with it.

use kontext_syntax::json::{Outline, without_lone_surrogates};
use serde_json::{Map, Value};
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};

/// One message from the client.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A request or, without id, a notification.
    Call(Request),
    /// The answer to one of our requests.
    Answer(Response),
}

/// Why a body is no message: parse error (-32700) for what is no JSON, invalid request (-32600)
/// for other JSON. The id is that of the request where one can be seen, else null.
#[derive(Debug)]
pub(super) struct Refusal {
    id: Id,
    code: ErrorCode,
    /// What is wrong, for the client and the log.
    pub(super) message: String,
}

impl Refusal {
    fn invalid(id: Id, why: &str) -> Self {
        let message = format!("Invalid request: {why}");
        Refusal {
            id,
            code: ErrorCode::InvalidRequest,
            message,
        }
    }

    /// The reply to send.
    pub(super) fn into_reply(self) -> Response {
        failure(self.id, self.code, self.message)
    }
}

/// Reads one body.
///
/// # Errors
/// Says what to reply to a body that is no message.
pub(super) fn parse(body: &[u8]) -> Result<Incoming, Refusal> {
    let value: Value = serde_json::from_slice(body)
        .or_else(|error| match without_lone_surrogates(body) {
            Some(mended) => serde_json::from_slice(&mended),
            None => Err(error),
        })
        .map_err(|error| Refusal {
            id: Outline::of(body)
                .request_id()
                .and_then(known_id)
                .unwrap_or(Id::Null),
            code: ErrorCode::ParseError,
            message: format!("Parse error: {error}"),
        })?;
    let Value::Object(mut object) = value else {
        let why = if value.is_array() {
            "batches are not part of LSP"
        } else {
            "not an object"
        };
        return Err(Refusal::invalid(Id::Null, why));
    };
    let id =
        match object.remove("id") {
            None => None,
            Some(value) => Some(id(value).ok_or_else(|| {
                Refusal::invalid(Id::Null, "the id must be an integer or a string")
            })?),
        };
    match object.remove("method") {
        Some(Value::String(method)) => Ok(Incoming::Call(call(method, id, object))),
        None if object.contains_key("result") || object.contains_key("error") => {
            Ok(Incoming::Answer(answer(id.unwrap_or(Id::Null), object)))
        }
        _ => {
            let why = "neither method nor result nor error";
            Err(Refusal::invalid(id.unwrap_or(Id::Null), why))
        }
    }
}

/// An error reply.
pub(super) fn failure(id: Id, code: ErrorCode, message: String) -> Response {
    Response::from_error(
        id,
        Error {
            code,
            message: message.into(),
            data: None,
        },
    )
}

/// An id as it is written.
fn known_id(text: &[u8]) -> Option<Id> {
    id(serde_json::from_slice(text).ok()?)
}

fn id(value: Value) -> Option<Id> {
    match value {
        Value::Null => Some(Id::Null),
        Value::String(text) => Some(Id::String(text)),
        // 1.0 is the integer 1 in JSON-RPC's own words; some clients write it so.
        Value::Number(number) => number.as_i64().map(Id::Number).or_else(|| {
            let float = number.as_f64()?;
            (float.fract() == 0.0 && float.abs() < 9e15).then_some(Id::Number(float as i64))
        }),
        _ => None,
    }
}

fn call(method: String, id: Option<Id>, mut object: Map<String, Value>) -> Request {
    let params = match (method.as_str(), object.remove("params")) {
        // These take none, and tower-lsp refuses them with any, `null` included.
        ("shutdown" | "exit", _) => None,
        // This one takes an object that carries nothing; some clients leave it out.
        ("initialized", None | Some(Value::Null)) => Some(Value::Object(Map::new())),
        (_, Some(Value::Null)) => None,
        ("initialize", Some(params)) => Some(known_names(params)),
        (_, params) => params,
    };
    let mut request = Request::build(method);
    if let Some(id) = id {
        request = request.id(id);
    }
    if let Some(params) = params {
        request = request.params(params);
    }
    request.finish()
}

/// The protocol calls the capability `workspace.diagnostics`; the types that tower-lsp decodes into
/// know it as `diagnostic` only, and would lose it.
fn known_names(mut params: Value) -> Value {
    let workspace = params.pointer_mut("/capabilities/workspace");
    if let Some(Value::Object(workspace)) = workspace
        && !workspace.contains_key("diagnostic")
        && let Some(found) = workspace.get("diagnostics").cloned()
    {
        workspace.insert("diagnostic".to_owned(), found);
    }
    params
}

fn answer(id: Id, mut object: Map<String, Value>) -> Response {
    match object.remove("error") {
        None | Some(Value::Null) => {
            Response::from_ok(id, object.remove("result").unwrap_or(Value::Null))
        }
        Some(error) => {
            let code = error.get("code").and_then(Value::as_i64);
            let message = error.get("message").and_then(Value::as_str);
            Response::from_error(
                id,
                Error {
                    code: code.map_or(ErrorCode::InternalError, ErrorCode::from),
                    message: message
                        .unwrap_or("the client gave no message")
                        .to_owned()
                        .into(),
                    data: error.get("data").cloned(),
                },
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> String {
        match parse(body.as_bytes()) {
            Ok(Incoming::Call(request)) => format!("call {request}"),
            Ok(Incoming::Answer(response)) => {
                format!("answer {}", serde_json::to_string(&response).unwrap())
            }
            Err(refusal) => {
                format!(
                    "refused {}",
                    serde_json::to_string(&refusal.into_reply()).unwrap()
                )
            }
        }
    }

    #[test]
    fn half_a_surrogate_pair_costs_a_character_not_the_message() {
        let read = |text: &str| {
            let body = format!(r#"{{"method":"m","params":{{"t":"{text}"}}}}"#);
            match parse(body.as_bytes()) {
                Ok(Incoming::Call(request)) => {
                    let text = request.params().and_then(|params| params.get("t"));
                    text.and_then(Value::as_str).unwrap().to_owned()
                }
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(read(r"a\ud83db"), "a\u{fffd}b");
        assert_eq!(read(r"\udc00\ud83d\ude00\ud83d"), "\u{fffd}😀\u{fffd}");
        assert_eq!(
            read(r"\\ud83d \ud83d"),
            r"\ud83d \u{fffd}".replace(r"\u{fffd}", "\u{fffd}")
        );
    }

    #[test]
    fn messages() {
        let bodies = [
            r#"{"jsonrpc":"2.0","id":1,"method":"shutdown","params":null}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"shutdown","params":{}}"#,
            r#"{"jsonrpc":"2.0","method":"initialized"}"#,
            r#"{"id":1.0,"method":"x","params":[1.50]}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":null}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no","more":1}}"#,
            r#"{"jsonrpc":"2.0","id":7}"#,
            r#"{"jsonrpc":"2.0","id":[7],"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":4}"#,
            r#"[{"jsonrpc":"2.0","id":7,"method":"x"}]"#,
            "4",
            "{",
            r#"{"jsonrpc":"2.0","id":7,"method":"x","params":{"#,
        ];
        let read: Vec<String> = bodies.iter().map(|body| read(body)).collect();
        insta::assert_snapshot!(read.join("\n"), @r#"
        call {"jsonrpc":"2.0","method":"shutdown","id":1}
        call {"jsonrpc":"2.0","method":"shutdown","id":"a"}
        call {"jsonrpc":"2.0","method":"initialized","params":{}}
        call {"jsonrpc":"2.0","method":"x","params":[1.50],"id":1}
        answer {"jsonrpc":"2.0","result":null,"id":7}
        answer {"jsonrpc":"2.0","error":{"code":-32601,"message":"no"},"id":7}
        refused {"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request: neither method nor result nor error"},"id":7}
        refused {"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request: the id must be an integer or a string"},"id":null}
        refused {"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request: neither method nor result nor error"},"id":7}
        refused {"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request: batches are not part of LSP"},"id":null}
        refused {"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request: not an object"},"id":null}
        refused {"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error: EOF while parsing an object at line 1 column 1"},"id":null}
        refused {"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error: EOF while parsing an object at line 1 column 47"},"id":7}
        "#);
    }

    #[test]
    fn bytes_that_are_no_text() {
        assert!(parse(b"{\"method\":\"\xff\"}").is_err());
        assert!(parse("[".repeat(100_000).as_bytes()).is_err());
    }
}
