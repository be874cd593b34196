//! A server behind a URL: streamable HTTP. Each message is a request of its own; its answer is
//! JSON or a stream of events.

mod headers;
mod stream;
mod wire;

use std::sync::Arc;

use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};
use reqwest::{Method, Response, StatusCode};
use tokio::task::AbortHandle;

use super::inbox::{Inbox, MOST_OF_MESSAGE, Over, message_too_large};
use super::pending::Failure;
use super::protocol::{DISCOVER, MODERN};
use crate::driver::{excerpt, http};
use crate::fault::{Fault, FaultKind};
use wire::{BOTH, EVENT_STREAM, SESSION, failed, kind};

pub(super) use headers::for_arguments;
pub(super) use stream::listen;
pub(super) use wire::HttpWire;

/// How many bytes of an error's body are looked at.
const MOST_OF_ERROR: usize = 64 * 1024;

impl HttpWire {
    /// Makes a call in a task of its own, which hands the answer to the session.
    pub(super) fn request(
        &self,
        inbox: Arc<dyn Inbox>,
        id: u64,
        method: &str,
        params: &str,
        line: String,
        extra: Vec<(String, String)>,
    ) -> AbortHandle {
        let protocol = inbox.protocol();
        let modern = method == DISCOVER || protocol.is_some_and(|protocol| protocol.modern);
        let version = if modern {
            Some(MODERN.to_owned())
        } else {
            protocol.map(|protocol| protocol.version.clone())
        };
        let mut more = HeaderMap::new();
        if modern {
            headers::standard(&mut more, method, params);
            headers::add(&mut more, &extra);
        }
        let opens = method == "initialize";
        let wire = self.clone();
        let task = async move {
            let mut headers = wire.headers(BOTH, version.as_deref());
            headers.extend(more);
            if let Err(failure) = exchange(&*inbox, &wire, id, headers, line, opens).await {
                if matches!(failure, Failure::Expired) {
                    inbox.end(Over::Expired);
                }
                inbox.fail(id, failure);
            }
        };
        tokio::spawn(task).abort_handle()
    }
}

/// One call: sends it and reads the answer. What comes back goes to the session.
async fn exchange(
    inbox: &dyn Inbox,
    wire: &HttpWire,
    id: u64,
    headers: HeaderMap,
    line: String,
    opens: bool,
) -> Result<(), Failure> {
    if opens {
        wire.set_session(None);
    }
    let known = headers.contains_key(SESSION) && !opens;
    let response = wire
        .send(Method::POST, &headers, Some(line))
        .await
        .map_err(Failure::Fault)?;
    let status = response.status();
    if known && status == StatusCode::NOT_FOUND {
        return Err(Failure::Expired);
    }
    if !status.is_success() {
        return refused(inbox, wire, id, known, response).await;
    }
    if opens {
        wire.set_session(response.headers().get(SESSION).cloned());
    }
    let kind = kind(&response);
    if kind.as_deref() == Some(EVENT_STREAM) {
        return stream::answer(inbox, wire, id, &headers, response)
            .await
            .map_err(Failure::Fault);
    }
    let (text, cut) = body(response, MOST_OF_MESSAGE).await?;
    if cut {
        return Err(Failure::Fault(message_too_large()));
    }
    inbox.receive(&text, Some(id));
    if inbox.is_waiting(id) {
        let what = match kind {
            _ if text.trim().is_empty() => "nothing".to_owned(),
            Some(kind) => format!("{} that holds no answer", excerpt(&kind, 60)),
            None => "something that holds no answer".to_owned(),
        };
        return Err(Failure::Fault(Fault::new(
            FaultKind::Malformed,
            format!(
                "{} answered with {what}; is `url` that of an MCP server?",
                wire.shown()
            ),
        )));
    }
    Ok(())
}

/// An answer with a status that is no success.
async fn refused(
    inbox: &dyn Inbox,
    wire: &HttpWire,
    id: u64,
    known: bool,
    response: Response,
) -> Result<(), Failure> {
    let status = response.status();
    let challenge = response.headers().contains_key(WWW_AUTHENTICATE);
    let is_denied = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let text = body(response, MOST_OF_ERROR)
        .await
        .map_or_else(|_| String::new(), |(text, _)| text);
    let lower = text.to_ascii_lowercase();
    // Widely used in the place of 404.
    if known && status == StatusCode::BAD_REQUEST && lower.contains("session") {
        return Err(Failure::Expired);
    }
    if !is_denied && lower.contains("jsonrpc") {
        inbox.receive(&text, Some(id));
        if !inbox.is_waiting(id) {
            return Ok(());
        }
    }
    let reason = status
        .canonical_reason()
        .map_or(String::new(), |reason| format!(" {reason}"));
    let mut words = format!(
        "{} answered with HTTP {}{reason}",
        wire.shown(),
        status.as_u16()
    );
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            let set = wire.has_credential();
            words.push_str(match (set, challenge) {
                (true, _) => "; check the credential in the adapter's `headers`",
                (false, _) => {
                    "; set a credential in the adapter's `headers`, such as `Authorization = \"Bearer {{env.NAME}}\"`"
                }
            });
        }
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => {
            words.push_str("; `url` must be that of a streamable HTTP endpoint of an MCP server");
        }
        _ => {}
    }
    let shown = excerpt(&wire.redactor().redact(&text), 300);
    if !shown.is_empty() {
        words.push_str(&format!(": {shown}"));
    }
    Err(Failure::Fault(failed(words)))
}

/// At most `limit` bytes of a body as text, and whether there was more.
async fn body(mut response: Response, limit: usize) -> Result<(String, bool), Failure> {
    let url = response.url().clone();
    let mut bytes: Vec<u8> = Vec::new();
    let mut cut = false;
    loop {
        let chunk = response
            .chunk()
            .await
            .map_err(|error| Failure::Fault(http::not_reached(&error, &url)))?;
        let Some(chunk) = chunk else { break };
        let room = limit.saturating_sub(bytes.len());
        bytes.extend(chunk.iter().take(room));
        if chunk.len() > room {
            cut = true;
            break;
        }
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    Ok((String::from_utf8_lossy(bytes).into_owned(), cut))
}
