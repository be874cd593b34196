//! Requests to a server behind a URL, and the session it gave.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION,
};
use reqwest::{Client, Method, Response, Url};

use super::headers;
use crate::driver::http;
use crate::driver::mcp::common::Common;
use crate::driver::mcp::protocol::Protocol;
use crate::fault::{Fault, FaultKind};
use crate::secrets::{Redactor, shown_url};

pub(super) const EVENT_STREAM: &str = "text/event-stream";
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// How many redirects within the origin are followed.
const MOST_REDIRECTS: usize = 5;

/// How long what nobody waits for may take.
const ASIDE: Duration = Duration::from_secs(5);

/// Cheap to clone.
#[derive(Clone, Debug)]
pub(in crate::driver::mcp) struct HttpWire(Arc<Inner>);

/// An [`HttpWire`] as long as somebody else has it.
#[derive(Clone, Debug)]
pub(super) struct WeakWire(Weak<Inner>);

impl WeakWire {
    pub(super) fn upgrade(&self) -> Option<HttpWire> {
        self.0.upgrade().map(HttpWire)
    }
}

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
    pub(in crate::driver::mcp) fn new(
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

    /// Whether the configuration sends a credential.
    pub(super) fn has_credential(&self) -> bool {
        self.0.headers.contains_key(AUTHORIZATION)
    }

    pub(super) fn redactor(&self) -> &Redactor {
        self.0.common.log.redactor()
    }

    /// A handle that keeps no connection open.
    pub(super) fn downgrade(&self) -> WeakWire {
        WeakWire(Arc::downgrade(&self.0))
    }

    fn session(&self) -> Option<HeaderValue> {
        let session = self.0.session.lock();
        session.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_session(&self, id: Option<HeaderValue>) {
        let session = self.0.session.lock();
        *session.unwrap_or_else(PoisonError::into_inner) = id;
    }

    pub(super) fn shown(&self) -> String {
        shown_url(self.0.url.as_str())
    }

    /// The headers of every request.
    pub(super) fn headers(&self, accept: &'static str, protocol: Option<&str>) -> HeaderMap {
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
    pub(super) async fn send(
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
    pub(in crate::driver::mcp) async fn tell(
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
    pub(in crate::driver::mcp) async fn close(&self, protocol: Option<&Protocol>) {
        if self.session().is_none() {
            return;
        }
        let headers = self.headers("*/*", protocol.map(|protocol| protocol.version.as_str()));
        let deleted = self.send(Method::DELETE, &headers, None);
        let _ = tokio::time::timeout(Duration::from_secs(2), deleted).await;
        self.set_session(None);
    }
}

pub(super) const BOTH: &str = "application/json, text/event-stream";

pub(super) fn failed(words: String) -> Fault {
    Fault::new(FaultKind::Failed, words)
}

/// The media type, in lower case and without parameters.
pub(super) fn kind(response: &Response) -> Option<String> {
    let value = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    let kind = value.split(';').next().unwrap_or_default();
    Some(kind.trim().to_ascii_lowercase())
}
