//! Answers and notices that come as a stream of events.

use std::sync::Weak;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response, StatusCode};

use super::wire::{EVENT_STREAM, HttpWire, WeakWire, kind};
use crate::driver::http;
use crate::driver::mcp::inbox::{Inbox, MOST_OF_MESSAGE, message_too_large};
use crate::driver::mcp::sse::Parser;
use crate::fault::{Fault, FaultKind};

const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// How often a stream that ended before the answer is asked for again.
const MOST_RESUMED: usize = 10;

/// How long a stream is read on after the answer, so that its connection can be used again.
const AFTER: Duration = Duration::from_secs(1);

/// The bounds of the wait before a stream is asked for again.
const LEAST_WAIT: Duration = Duration::from_millis(100);
const MOST_WAIT: Duration = Duration::from_secs(60);

/// How a stream came to its end.
enum End {
    /// With the answer, or nobody waits for it any more.
    Answered,
    /// Without it.
    Early(Option<Fault>),
}

/// Reads the stream that answers a call, and asks for the rest of it where it ends early and the
/// server has said how.
pub(super) async fn answer(
    inbox: &dyn Inbox,
    wire: &HttpWire,
    id: u64,
    headers: &HeaderMap,
    mut response: Response,
) -> Result<(), Fault> {
    let mut headers = headers.clone();
    let mut resumed = 0;
    loop {
        let mut parser = Parser::new(MOST_OF_MESSAGE);
        let end = read(inbox, id, response, &mut parser).await?;
        let End::Early(cause) = end else {
            return Ok(());
        };
        let last = parser
            .last_id()
            .and_then(|id| HeaderValue::from_str(id).ok());
        let wait = wait(&parser, Duration::from_secs(1));
        if let Some(event) = parser.finish() {
            inbox.receive(&event.data, Some(id));
        }
        if !inbox.is_waiting(id) {
            return Ok(());
        }
        let early = cause.unwrap_or_else(|| {
            Fault::new(
                FaultKind::Unreachable,
                format!("{} ended its answer before it was complete", wire.shown()),
            )
        });
        let Some(last) = last.filter(|_| resumed < MOST_RESUMED) else {
            return Err(early);
        };
        resumed += 1;
        tokio::time::sleep(wait).await;
        headers.insert(
            reqwest::header::ACCEPT,
            HeaderValue::from_static(EVENT_STREAM),
        );
        headers.insert(LAST_EVENT, last);
        response = wire.send(Method::GET, &headers, None).await?;
        if response.status() != StatusCode::OK || kind(&response).as_deref() != Some(EVENT_STREAM) {
            return Err(early);
        }
    }
}

async fn read(
    inbox: &dyn Inbox,
    id: u64,
    mut response: Response,
    parser: &mut Parser,
) -> Result<End, Fault> {
    let url = response.url().clone();
    loop {
        let chunk = match response.chunk().await {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return Ok(End::Early(None)),
            Err(error) => return Ok(End::Early(Some(http::not_reached(&error, &url)))),
        };
        for event in parser.feed(&chunk).map_err(|_| message_too_large())? {
            if !event.data.is_empty() {
                inbox.receive(&event.data, Some(id));
            }
        }
        if !inbox.is_waiting(id) {
            let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
            let _ = tokio::time::timeout(AFTER, rest).await;
            return Ok(End::Answered);
        }
    }
}

fn wait(parser: &Parser, otherwise: Duration) -> Duration {
    let wait = parser.retry().map_or(otherwise, Duration::from_millis);
    wait.clamp(LEAST_WAIT, MOST_WAIT)
}

/// Listens for what the server says by itself, as long as the session lives. A server need not
/// offer that.
pub(in crate::driver::mcp) fn listen(
    wire: &HttpWire,
    inbox: Weak<dyn Inbox>,
) -> impl Future<Output = ()> + Send + use<> {
    hear(wire.downgrade(), inbox)
}

async fn hear(known: WeakWire, inbox: Weak<dyn Inbox>) {
    let mut last: Option<HeaderValue> = None;
    let mut pause = Duration::from_secs(1);
    loop {
        let Some((wire, version)) = inbox.upgrade().and_then(|inbox| {
            let version = inbox.protocol().map(|protocol| protocol.version.clone());
            let wire = known.upgrade().filter(|_| !inbox.is_over())?;
            Some((wire, version))
        }) else {
            return;
        };
        let mut headers = wire.headers(EVENT_STREAM, version.as_deref());
        if let Some(last) = &last {
            headers.insert(LAST_EVENT, last.clone());
        }
        let Ok(mut response) = wire.send(Method::GET, &headers, None).await else {
            return;
        };
        drop(wire);
        if response.status() != StatusCode::OK || kind(&response).as_deref() != Some(EVENT_STREAM) {
            return;
        }
        let mut parser = Parser::new(MOST_OF_MESSAGE);
        let mut any = false;
        while let Ok(Some(chunk)) = response.chunk().await {
            let Ok(events) = parser.feed(&chunk) else {
                return;
            };
            let Some(inbox) = inbox.upgrade() else {
                return;
            };
            for event in events.iter().filter(|event| !event.data.is_empty()) {
                any = true;
                inbox.receive(&event.data, None);
            }
        }
        if let Some(id) = parser
            .last_id()
            .and_then(|id| HeaderValue::from_str(id).ok())
        {
            last = Some(id);
        }
        pause = if any {
            Duration::from_secs(1)
        } else {
            (pause * 2).min(MOST_WAIT)
        };
        tokio::time::sleep(wait(&parser, pause).max(pause)).await;
    }
}
