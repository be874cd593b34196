//! A server behind a URL: streamable HTTP. Each message is a request of its own; its answer is
//! JSON or a stream of events.

mod headers;
mod stream;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::header::{
    ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, WWW_AUTHENTICATE,
};
use reqwest::{Client, Method, Response, StatusCode, Url};
use tokio::task::AbortHandle;

use super::handshake::{DISCOVER, MODERN};
use super::pending::Failure;
use super::session::{Common, MOST_OF_MESSAGE, Over, Protocol, Session, Wire, message_too_large};
use crate::driver::{excerpt, http};
use crate::fault::{Fault, FaultKind};
use crate::secrets::shown_url;

pub(super) use headers::for_arguments;
pub(super) use stream::listen;

const EVENT_STREAM: &str = "text/event-stream";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// How many redirects within the origin are followed.
const MOST_REDIRECTS: usize = 5;

/// How long what nobody waits for may take.
const ASIDE: Duration = Duration::from_secs(5);

/// How many bytes of an error's body are looked at.
const MOST_OF_ERROR: usize = 64 * 1024;

/// Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct HttpWire(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: Client,
    url: Url,
    /// Those of the configuration.
    headers: HeaderMap,
    /// `Mcp-Session-Id`, where the server gave one.
    session: Mutex<Option<HeaderValue>>,
    common: Arc<Common>,
}

impl HttpWire {
    pub(super) fn new(
        url: &str,
        headers: &[(String, String)],
        common: Arc<Common>,
    ) -> Result<Self, Fault> {
        if let Some(fault) = crate::request::url_fault(url) {
            return Err(Fault::refused(fault));
        }
        let url = Url::parse(url)
            .map_err(|error| Fault::refused(format!("the URL is not one: {error}")))?;
        Ok(Self(Arc::new(Inner {
            client: http::client_for(&url)?,
            headers: headers::configured(headers)?,
            url,
            session: Mutex::default(),
            common,
        })))
    }

    fn session(&self) -> Option<HeaderValue> {
        let session = self.0.session.lock();
        session.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_session(&self, id: Option<HeaderValue>) {
        let session = self.0.session.lock();
        *session.unwrap_or_else(PoisonError::into_inner) = id;
    }

    fn shown(&self) -> String {
        shown_url(self.0.url.as_str())
    }

    /// The headers of every request.
    fn headers(&self, accept: &'static str, protocol: Option<&str>) -> HeaderMap {
        let mut all = self.0.headers.clone();
        all.insert(ACCEPT, HeaderValue::from_static(accept));
        if let Some(version) = protocol.and_then(|version| HeaderValue::from_str(version).ok()) {
            all.insert(PROTOCOL, version);
        }
        if let Some(session) = self.session() {
            all.insert(SESSION, session);
        }
        all
    }

    /// Sends a request, redirects within the origin followed.
    async fn send(
        &self,
        method: Method,
        headers: &HeaderMap,
        body: Option<String>,
    ) -> Result<Response, Fault> {
        let mut url = self.0.url.clone();
        for _ in 0..=MOST_REDIRECTS {
            let mut request = self
                .0
                .client
                .request(method.clone(), url.clone())
                .headers(headers.clone());
            if let Some(body) = &body {
                request = request
                    .header(CONTENT_TYPE, "application/json")
                    .body(body.trim_end().to_owned());
            }
            let response = request
                .send()
                .await
                .map_err(|error| http::not_reached(&error, &url))?;
            let status = response.status();
            let location = response.headers().get(LOCATION);
            let Some(location) = location.filter(|_| status.is_redirection()) else {
                return Ok(response);
            };
            let target = location
                .to_str()
                .ok()
                .and_then(|location| url.join(location).ok());
            let Some(target) = target else {
                return Err(failed(format!(
                    "{} redirects to something that is not a URL",
                    self.shown()
                )));
            };
            // What carries credentials goes nowhere else, and a POST stays one.
            let stays = target.origin() == url.origin() && matches!(status.as_u16(), 307 | 308);
            if !stays {
                return Err(failed(format!(
                    "{} redirects to {}, which is not followed; set `url` to it if it is the right one",
                    self.shown(),
                    shown_url(target.as_str())
                )));
            }
            url = target;
        }
        Err(failed(format!(
            "{} redirects more than {MOST_REDIRECTS} times",
            self.shown()
        )))
    }

    /// Sends what has no answer.
    pub(super) async fn tell(
        &self,
        line: String,
        protocol: Option<&Protocol>,
        method: Option<&str>,
    ) {
        let version = protocol.map(|protocol| protocol.version.as_str());
        let mut headers = self.headers(BOTH, version);
        if let Some(method) = method
            && protocol.is_some_and(|protocol| protocol.modern)
        {
            headers::standard(&mut headers, method, "{}");
        }
        let sent = tokio::time::timeout(ASIDE, self.send(Method::POST, &headers, Some(line))).await;
        let words = match sent {
            Ok(Ok(response)) if response.status().is_client_error() => {
                format!("was answered with HTTP {}", response.status().as_u16())
            }
            Ok(Ok(_)) => return,
            Ok(Err(fault)) => format!("was not sent: {fault}"),
            Err(_) => "was not taken in time".to_owned(),
        };
        let what = method.unwrap_or("an answer");
        self.0.common.log.note(&format!("{what} {words}"));
    }

    /// Ends the session at the server, where there is one.
    pub(super) async fn close(&self, protocol: Option<&Protocol>) {
        if self.session().is_none() {
            return;
        }
        let headers = self.headers("*/*", protocol.map(|protocol| protocol.version.as_str()));
        let deleted = self.send(Method::DELETE, &headers, None);
        let _ = tokio::time::timeout(Duration::from_secs(2), deleted).await;
        self.set_session(None);
    }
}

const BOTH: &str = "application/json, text/event-stream";

fn failed(words: String) -> Fault {
    Fault::new(FaultKind::Failed, words)
}

/// Makes a call in a task of its own, which hands the answer to the session.
pub(super) fn request(
    session: &Arc<Session>,
    id: u64,
    method: &str,
    params: &str,
    line: String,
    extra: Vec<(String, String)>,
) -> AbortHandle {
    let modern = session.is_modern() || method == DISCOVER;
    let version = if modern {
        Some(MODERN.to_owned())
    } else {
        session.protocol().map(|protocol| protocol.version.clone())
    };
    let session = Arc::clone(session);
    let mut more = HeaderMap::new();
    if modern {
        headers::standard(&mut more, method, params);
        headers::add(&mut more, &extra);
    }
    let opens = method == "initialize";
    let task = async move {
        let Wire::Http(wire) = &session.wire else {
            return;
        };
        let mut headers = wire.headers(BOTH, version.as_deref());
        headers.extend(more);
        if let Err(failure) = exchange(&session, wire, id, headers, line, opens).await {
            if matches!(failure, Failure::Expired) {
                session.end(Over::Expired);
            }
            session.fail(id, failure);
        }
    };
    tokio::spawn(task).abort_handle()
}

/// One call: sends it and reads the answer. What comes back goes to the session.
async fn exchange(
    session: &Arc<Session>,
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
        return refused(session, wire, id, known, response).await;
    }
    if opens {
        wire.set_session(response.headers().get(SESSION).cloned());
    }
    let kind = kind(&response);
    if kind.as_deref() == Some(EVENT_STREAM) {
        return stream::answer(session, wire, id, &headers, response)
            .await
            .map_err(Failure::Fault);
    }
    let (text, cut) = body(response, MOST_OF_MESSAGE).await?;
    if cut {
        return Err(Failure::Fault(message_too_large()));
    }
    session.receive(&text, Some(id));
    if session.is_waiting(id) {
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
    session: &Arc<Session>,
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
        session.receive(&text, Some(id));
        if !session.is_waiting(id) {
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
            let set = wire.0.headers.contains_key(reqwest::header::AUTHORIZATION);
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
    let shown = excerpt(&wire.0.common.log.redactor().redact(&text), 300);
    if !shown.is_empty() {
        words.push_str(&format!(": {shown}"));
    }
    Err(Failure::Fault(failed(words)))
}

/// The media type, in lower case and without parameters.
fn kind(response: &Response) -> Option<String> {
    let value = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    let kind = value.split(';').next().unwrap_or_default();
    Some(kind.trim().to_ascii_lowercase())
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
