//! Where a redirect leads, and what goes along.

use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Method, Response, StatusCode, Url};

use super::{Hop, words};
use crate::fault::{Fault, FaultKind};

/// How many redirects are followed in one call.
const MOST: usize = 5;

/// Whether an answer of this status sends the request elsewhere.
pub(super) fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// What is sent after a redirect, the `count`-th of the call. Headers that were set on purpose,
/// user and password never leave the origin they were meant for, and do not come back on the way
/// back.
pub(super) fn follow(hop: Hop, response: &Response, count: usize) -> Result<Hop, Fault> {
    let failed = |words: String| Err(Fault::new(FaultKind::Failed, words));
    let from = words::origin(&hop.url);
    let location = response
        .headers()
        .get(LOCATION)
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        .unwrap_or_default();
    let Ok(mut url) = hop.url.join(location.trim()) else {
        return failed(format!("{from} redirects to something that is not a URL"));
    };
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return failed(format!(
            "{from} redirects to a URL that is neither `http` nor `https`, which is not followed"
        ));
    }
    let to = words::origin(&url);
    if count > MOST {
        return failed(format!(
            "more than {MOST} redirects, the last from {from} to {to}"
        ));
    }
    let stays = url.origin() == hop.url.origin();
    // Whatever the service puts there is not the user's.
    let (user, password) = if stays {
        (hop.url.username(), hop.url.password())
    } else {
        ("", None)
    };
    let _ = url.set_username(user);
    let _ = url.set_password(password);
    let status = response.status();
    let becomes_get = match status {
        StatusCode::SEE_OTHER => hop.method != Method::HEAD,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => hop.method == Method::POST,
        _ => false,
    };
    let (method, body) = if becomes_get {
        (Method::GET, None)
    } else {
        (hop.method, hop.body)
    };
    let is_safe = matches!(method, Method::GET | Method::HEAD | Method::OPTIONS);
    if !stays && (body.is_some() || !is_safe) {
        return failed(format!(
            "{from} redirects the {method} request to {to} (HTTP {}); it is not sent to another origin, set the URL to the new place if that is meant",
            status.as_u16()
        ));
    }
    let mut headers = if stays { hop.headers } else { HeaderMap::new() };
    if body.is_none() {
        headers.remove(CONTENT_TYPE);
        headers.remove(CONTENT_ENCODING);
    }
    Ok(Hop {
        method,
        url: without_fragment(url),
        headers,
        body,
    })
}

fn without_fragment(mut url: Url) -> Url {
    url.set_fragment(None);
    url
}
