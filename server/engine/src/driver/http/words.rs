//! What went wrong, in words. Neither a query nor user and password of a URL is in them.

use std::error::Error;
use std::io;
use std::time::Duration;

use reqwest::{StatusCode, Url};

use crate::fault::{Fault, FaultKind};
use crate::secrets::shown_url;

/// Host and port, as a sentence names a service: `127.0.0.1:8080`, `notes.example`.
pub(super) fn origin(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// An answer that says that it failed.
pub(super) fn status(
    status: StatusCode,
    url: &Url,
    excerpt: &str,
    wait: Option<Duration>,
) -> Fault {
    let kind = match status {
        StatusCode::NOT_FOUND | StatusCode::GONE => FaultKind::NotFound,
        _ => FaultKind::Failed,
    };
    let reason = status
        .canonical_reason()
        .map_or(String::new(), |reason| format!(" {reason}"));
    let mut words = format!(
        "{} answered with HTTP {}{reason}",
        shown_url(url.as_str()),
        status.as_u16()
    );
    if status.is_redirection() {
        words.push_str(", which leads nowhere");
    }
    words.push_str(match status.as_u16() {
        401 | 403 => " (check the credentials in `headers`)",
        405 => " (check `method`)",
        407 => " (check the proxy's credentials)",
        _ => "",
    });
    if let Some(wait) = wait {
        words.push_str(&format!(" and asks to wait {} s", wait.as_secs()));
    }
    if !excerpt.is_empty() {
        words.push_str(&format!(": {excerpt}"));
    }
    Fault::new(kind, words)
}

/// No answer came.
pub(super) fn not_reached(error: &reqwest::Error, url: &Url) -> Fault {
    let place = origin(url);
    let chain = chain(error);
    let io = chain
        .iter()
        .rev()
        .find_map(|cause| cause.downcast_ref::<io::Error>())
        .map(io::Error::kind);
    let text = causes(error);
    let all: String = chain
        .iter()
        .map(|cause| cause.to_string().to_ascii_lowercase() + "\n")
        .collect();
    let words = if all.contains("dns error") || all.contains("lookup address") {
        let host = url.host_str().unwrap_or_default();
        format!("cannot connect to {place}: the host name `{host}` is not known")
    } else if io == Some(io::ErrorKind::ConnectionRefused) {
        format!(
            "cannot connect to {place}: the connection was refused; is the service running there?"
        )
    } else if all.contains("certificate") || all.contains("tls") || all.contains("corrupt message")
    {
        format!("no encrypted connection to {place}: {text}")
    } else if error.is_connect() {
        format!("cannot connect to {place}: {text}")
    } else if error.is_builder() {
        return Fault::refused(format!("the request to {place} cannot be sent: {text}"));
    } else {
        format!("{place} gave no answer: {text}")
    };
    Fault::new(FaultKind::Unreachable, words)
}

/// The innermost cause of an error; the outer ones repeat the URL or say little.
pub(super) fn causes(error: &reqwest::Error) -> String {
    match chain(error).last() {
        Some(cause) => cause.to_string(),
        None => "unknown cause".to_owned(),
    }
}

/// The causes behind an error, the outermost first, without the error itself.
fn chain(error: &reqwest::Error) -> Vec<&(dyn Error + 'static)> {
    let mut chain = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        chain.push(cause);
        next = cause.source();
    }
    chain
}
