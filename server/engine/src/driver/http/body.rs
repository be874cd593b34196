//! Bodies of answers.

use std::sync::LazyLock;

use encoding_rs::{Encoding, UTF_8};
use regex::Regex;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use reqwest::{Response, Url};
use tokio::time::{Instant, timeout_at};

use super::words;
use crate::driver::{MOST_READ, excerpt as cut, too_large};
use crate::fault::{Fault, FaultKind};
use crate::secrets::Redactor;

/// How many bytes of an error's body are looked at.
const MOST_OF_ERROR: usize = 64 * 1024;

/// How many characters of an error's body are shown.
const MOST_SHOWN: usize = 300;

/// What a service answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status, 200 to 299.
    pub status: u16,
    /// `Content-Type` as it was sent, parameters included.
    pub content_type: Option<String>,
    /// The body, decompressed and decoded; what is invalid in its encoding is replaced. Empty
    /// where there was none.
    pub text: String,
}

/// Reads an answer.
pub(super) async fn read(mut response: Response, url: &Url) -> Result<Answer, Fault> {
    let status = response.status().as_u16();
    let content_type = content_type(response.headers());
    let packed = response.headers().contains_key(CONTENT_ENCODING);
    let announced = response.content_length().filter(|_| !packed);
    if announced.is_some_and(|length| length > MOST_READ as u64) {
        return Err(too_large(&words::origin(url)));
    }
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if bytes.len() + chunk.len() > MOST_READ => {
                return Err(too_large(&words::origin(url)));
            }
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => break,
            Err(error) => {
                let words = format!(
                    "the answer of {} broke off after {} bytes: {}",
                    words::origin(url),
                    bytes.len(),
                    words::causes(&error)
                );
                return Err(Fault::new(FaultKind::Unreachable, words));
            }
        }
    }
    Ok(Answer {
        status,
        text: decoded(&bytes, content_type.as_deref()),
        content_type,
    })
}

/// The start of the body of an error, on one line, without secrets; empty where there is none.
/// What has not come by `until` is done without: the status says more than it.
pub(super) async fn excerpt(mut response: Response, until: Instant, redactor: &Redactor) -> String {
    let content_type = content_type(response.headers());
    let mut bytes = Vec::new();
    while let Ok(Ok(Some(chunk))) = timeout_at(until, response.chunk()).await {
        bytes.extend_from_slice(&chunk);
        if bytes.len() >= MOST_OF_ERROR {
            bytes.truncate(MOST_OF_ERROR);
            break;
        }
    }
    let mut text = decoded(&bytes, content_type.as_deref());
    let is_html = content_type.is_some_and(|kind| kind.to_ascii_lowercase().contains("html"));
    if is_html {
        text = without_tags(&text);
    }
    // Cut last: half a secret would not be found.
    cut(&redactor.redact(&text), MOST_SHOWN)
}

fn content_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_TYPE)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// The text in the encoding that its byte order mark, else `charset`, names; else UTF-8.
fn decoded(bytes: &[u8], content_type: Option<&str>) -> String {
    let charset = content_type.and_then(|kind| {
        kind.split(';').skip(1).find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            let is_charset = name.trim().eq_ignore_ascii_case("charset");
            is_charset.then(|| value.trim().trim_matches('"'))
        })
    });
    let encoding = charset
        .and_then(|label| Encoding::for_label(label.as_bytes()))
        .unwrap_or(UTF_8);
    encoding.decode(bytes).0.into_owned()
}

/// HTML reduced to its text, as far as a message needs it.
fn without_tags(html: &str) -> String {
    static UNSHOWN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?is)<script\b.*?</script\s*>|<style\b.*?</style\s*>|<!--.*?-->|<[^>]*>").ok()
    });
    match &*UNSHOWN {
        Some(unshown) => unshown.replace_all(html, " ").into_owned(),
        None => html.to_owned(),
    }
}
