//! Agreeing on a protocol with a server.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::decode;
use super::message::{METHOD_NOT_FOUND, RpcError};
use super::pending::Failure;
use super::protocol::{DISCOVER, Greeting, LEGACY, MODERN, Protocol, client_info, client_meta};
use super::session::{Exchange, Session};
use super::tools::words;
use crate::driver::excerpt;
use crate::fault::{Fault, FaultKind};

/// How long a server that refused `initialize` may take to say whether it is a modern one.
const PROBE: Duration = Duration::from_secs(2);

/// An error about the protocol version (2026-07-28).
const UNSUPPORTED_VERSION: i64 = -32022;

/// Opens a session: the newest protocol with a handshake first, since almost all servers speak it;
/// one that only speaks the newer one says so.
pub(super) async fn greet(session: &Arc<Session>) -> Result<Greeting, Failure> {
    let newest = LEGACY.first().copied().unwrap_or(MODERN);
    let error = match initialize(session, newest).await {
        Err(Failure::Rpc(error)) => error,
        other => return other,
    };
    let supported = error.supported();
    if error.code == UNSUPPORTED_VERSION || supported.is_some() {
        let supported = supported.unwrap_or_default();
        if supported.iter().any(|version| version == MODERN) {
            return match discover(session).await {
                // Requests need no discovery before them; one that leaves it out can still serve.
                Err(Failure::Rpc(error)) if error.code == METHOD_NOT_FOUND => {
                    Ok(undiscovered(session))
                }
                Err(failure @ Failure::Rpc(_)) => Err(Failure::Fault(Fault::new(
                    FaultKind::Failed,
                    format!(
                        "the server speaks {MODERN}, but does not describe itself: {}",
                        words(&failure)
                    ),
                ))),
                other => other,
            };
        }
        let common = LEGACY
            .iter()
            .find(|known| supported.iter().any(|version| version == *known));
        return match common {
            Some(version) => initialize(session, version).await,
            None => Err(Failure::Fault(no_version(&supported, &error))),
        };
    }
    // One that knows no `initialize` at all may say so in many ways; one that is just broken must
    // not hold up the start by silence.
    match tokio::time::timeout(PROBE, discover(session)).await {
        Ok(Ok(greeting)) => Ok(greeting),
        _ => Err(Failure::Rpc(error)),
    }
}

async fn initialize(session: &Arc<Session>, version: &str) -> Result<Greeting, Failure> {
    let params = json!({
        "protocolVersion": version,
        "capabilities": {"roots": {"listChanged": false}},
        "clientInfo": client_info(),
    });
    let result = call(session, "initialize", &params).await?;
    let answered = result.get("protocolVersion");
    let mut note = None;
    let agreed = match answered {
        Some(Value::String(answered)) if answered == MODERN => MODERN,
        Some(Value::String(answered)) => match LEGACY.iter().find(|known| *known == answered) {
            Some(known) => known,
            None => return Err(Failure::Fault(unknown_version(answered))),
        },
        None | Some(Value::Null) => {
            note = Some("the server names no `protocolVersion`; 2024-11-05 is assumed".to_owned());
            "2024-11-05"
        }
        Some(other) => return Err(Failure::Fault(unknown_version(&other.to_string()))),
    };
    let modern = agreed == MODERN;
    session.agree(Protocol {
        version: agreed.to_owned(),
        modern,
    });
    if !modern {
        session.notify("notifications/initialized", None).await;
    }
    let member = |name: &str| result.get(name).cloned().unwrap_or_default();
    Ok(Greeting {
        version: agreed.to_owned(),
        server_info: member("serverInfo"),
        capabilities: member("capabilities"),
        instructions: member("instructions").as_str().map(str::to_owned),
        note,
    })
}

async fn discover(session: &Arc<Session>) -> Result<Greeting, Failure> {
    let params = json!({"_meta": client_meta()});
    let result = call(session, DISCOVER, &params).await?;
    let supported: Vec<String> = result
        .get("supportedVersions")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|version| version.as_str().map(str::to_owned))
        .collect();
    if !supported.iter().any(|version| version == MODERN) {
        return Err(Failure::Fault(no_common(&supported)));
    }
    session.agree(Protocol {
        version: MODERN.to_owned(),
        modern: true,
    });
    let in_meta = result
        .get("_meta")
        .and_then(|meta| meta.get("io.modelcontextprotocol/serverInfo"));
    let member = |name: &str| result.get(name).cloned().unwrap_or_default();
    Ok(Greeting {
        version: MODERN.to_owned(),
        server_info: in_meta.cloned().unwrap_or_else(|| member("serverInfo")),
        capabilities: member("capabilities"),
        instructions: member("instructions").as_str().map(str::to_owned),
        note: None,
    })
}

/// A server that speaks the newest protocol, but knows no discovery.
fn undiscovered(session: &Session) -> Greeting {
    session.agree(Protocol {
        version: MODERN.to_owned(),
        modern: true,
    });
    Greeting {
        version: MODERN.to_owned(),
        note: Some(format!(
            "the server speaks {MODERN}, but knows no `{DISCOVER}`"
        )),
        ..Greeting::default()
    }
}

async fn call(
    session: &Arc<Session>,
    method: &str,
    params: &Value,
) -> Result<Map<String, Value>, Failure> {
    let exchange = Exchange {
        quiet: true,
        ..Exchange::default()
    };
    let result = session.call(method, &params.to_string(), exchange).await?;
    object(&result).ok_or_else(|| {
        let words = format!("the server's answer to `{method}` is not an object");
        Failure::Fault(Fault::new(FaultKind::Malformed, words))
    })
}

fn object(raw: &RawValue) -> Option<Map<String, Value>> {
    match decode::value(raw.get()).ok()? {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

fn known() -> String {
    let mut versions = vec![MODERN];
    versions.extend(LEGACY);
    versions.join(", ")
}

fn unknown_version(version: &str) -> Fault {
    Fault::new(
        FaultKind::Failed,
        format!(
            "the server wants protocol {}, which is not known here; known are {}",
            excerpt(version, 40),
            known()
        ),
    )
}

fn no_version(supported: &[String], error: &RpcError) -> Fault {
    if supported.is_empty() {
        let words = format!(
            "the server refused the protocol version without naming one it speaks: {}",
            excerpt(&error.message, 200)
        );
        return Fault::new(FaultKind::Failed, words);
    }
    no_common(supported)
}

fn no_common(supported: &[String]) -> Fault {
    Fault::new(
        FaultKind::Failed,
        format!(
            "no common protocol version: the server speaks {}, known here are {}",
            excerpt(&supported.join(", "), 200),
            known()
        ),
    )
}
