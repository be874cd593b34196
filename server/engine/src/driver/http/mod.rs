//! HTTP services (adapters.md section 7).

mod body;
mod redirect;
mod words;

use std::sync::OnceLock;
use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Client, Method, Response, StatusCode, Url};
use tokio::time::Instant;

use crate::fault::{Fault, FaultKind};
use crate::request::HttpRequest;
use crate::secrets::{Redactor, shown_url};

pub use crate::driver::MOST_READ;
pub use body::Answer;

const USER_AGENT: &str = concat!("kontext-ls/", env!("CARGO_PKG_VERSION"));

/// Sends requests. One for the whole process: it keeps connections open for the next call.
#[derive(Debug, Default)]
pub struct HttpDriver {
    /// For hosts on this machine: never through a proxy.
    direct: OnceLock<Result<Client, String>>,
    /// For all others: through the proxy that the environment names, where it names one.
    outward: OnceLock<Result<Client, String>>,
}

/// What is sent next; changes with redirects.
#[derive(Clone, Debug)]
struct Hop {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
}

impl HttpDriver {
    /// A driver without connections.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends a request and reads its answer, redirects and one wait for `Retry-After` included,
    /// within `timeout`. Dropping the future ends the call.
    ///
    /// # Errors
    ///
    /// The service cannot be reached, does not answer in time, or answers with a status of 400 or
    /// more or with more than [`MOST_READ`] bytes. The words hold neither the URL's query nor
    /// anything `redactor` knows.
    pub async fn call(
        &self,
        request: &HttpRequest,
        timeout: Duration,
        redactor: &Redactor,
    ) -> Result<Answer, Fault> {
        let redactor = redactor.clone().with_request(request);
        let deadline = Instant::now() + timeout;
        let answer = async {
            let hop = Hop::new(request)?;
            self.answer(hop, deadline, &redactor).await
        };
        let answer = match tokio::time::timeout_at(deadline, answer).await {
            Ok(answer) => answer,
            Err(_) => Err(Fault::timed_out(format!(
                "no answer from {} within {} ms",
                shown_url(&request.url),
                timeout.as_millis()
            ))),
        };
        answer.map_err(|fault| redactor.fault(fault))
    }

    async fn answer(
        &self,
        mut hop: Hop,
        deadline: Instant,
        redactor: &Redactor,
    ) -> Result<Answer, Fault> {
        let mut redirects = 0;
        let mut retried = false;
        loop {
            let response = self.send(&hop).await?;
            let status = response.status();
            if redirect::is_redirect(status) && response.headers().contains_key(LOCATION) {
                redirects += 1;
                hop = redirect::follow(hop, &response, redirects)?;
                continue;
            }
            let wait = retry_after(&response);
            if let Some(wait) = wait.filter(|_| !retried)
                && Instant::now()
                    .checked_add(wait)
                    .is_some_and(|then| then < deadline)
            {
                retried = true;
                drop(response);
                tokio::time::sleep(wait).await;
                continue;
            }
            if status.is_success() {
                return body::read(response, &hop.url).await;
            }
            let now = Instant::now();
            let until = now + deadline.saturating_duration_since(now) / 2;
            let excerpt = body::excerpt(response, until, redactor).await;
            return Err(words::status(status, &hop.url, &excerpt, wait));
        }
    }

    async fn send(&self, hop: &Hop) -> Result<Response, Fault> {
        let client = self.client(&hop.url)?;
        let mut request = client
            .request(hop.method.clone(), hop.url.clone())
            .headers(hop.headers.clone());
        if let Some(body) = &hop.body {
            request = request.body(body.clone());
        }
        request
            .send()
            .await
            .map_err(|error| words::not_reached(&error, &hop.url))
    }

    fn client(&self, url: &Url) -> Result<&Client, Fault> {
        let local = is_loopback(url);
        let client = if local { &self.direct } else { &self.outward };
        match client.get_or_init(|| new_client(local)) {
            Ok(client) => Ok(client),
            Err(error) => Err(Fault::new(
                FaultKind::Unreachable,
                format!("no HTTP client could be made: {error}"),
            )),
        }
    }
}

impl Hop {
    fn new(request: &HttpRequest) -> Result<Self, Fault> {
        if let Some(fault) = crate::request::url_fault(&request.url) {
            return Err(Fault::refused(fault));
        }
        let url = Url::parse(&request.url)
            .map_err(|error| Fault::refused(format!("the URL is not one: {error}")))?;
        let method = Method::from_bytes(request.method.as_bytes())
            .map_err(|_| Fault::refused("`method` is no HTTP method; set GET, POST or another"))?;
        let mut headers = HeaderMap::new();
        for (name, value) in &request.headers {
            let (Ok(name), Ok(mut value)) = (
                HeaderName::from_bytes(name.as_bytes()),
                HeaderValue::from_bytes(value.as_bytes()),
            ) else {
                let shown = name.escape_debug();
                return Err(Fault::refused(format!(
                    "the header `{shown}` cannot be sent: its name or value holds a line break or another control character"
                )));
            };
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(Self {
            method,
            url,
            headers,
            body: request.body.as_ref().map(crate::request::Body::bytes),
        })
    }
}

fn new_client(local: bool) -> Result<Client, String> {
    let builder = || {
        let builder = Client::builder()
            .user_agent(USER_AGENT)
            .referer(false)
            .redirect(reqwest::redirect::Policy::none())
            .http1_ignore_invalid_headers_in_responses(true);
        if local { builder.no_proxy() } else { builder }
    };
    builder()
        .build()
        // A system without certificates: what is not encrypted can still be reached.
        .or_else(|_| builder().tls_certs_only([]).build())
        .map_err(|error| words::causes(&error))
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let named =
        host.eq_ignore_ascii_case("localhost") || host.to_ascii_lowercase().ends_with(".localhost");
    named
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// How long a service that took nothing on asks to wait.
fn retry_after(response: &Response) -> Option<Duration> {
    if !matches!(
        response.status(),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
    ) {
        return None;
    }
    let value = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let until = rfc2822::parse(value).ok()?.timestamp();
    let wait = until.duration_since(Timestamp::now());
    // A moment that has passed asks for no wait.
    Some(Duration::try_from(wait).unwrap_or_default())
}

/// A client for a URL, as calls are made with: no redirects, a proxy only to other machines.
pub(crate) fn client_for(url: &Url) -> Result<Client, Fault> {
    new_client(is_loopback(url)).map_err(|error| {
        Fault::new(
            FaultKind::Unreachable,
            format!("no HTTP client could be made: {error}"),
        )
    })
}

/// Why a request was not answered, without the URL's query.
pub(crate) fn not_reached(error: &reqwest::Error, url: &Url) -> Fault {
    words::not_reached(error, url)
}
