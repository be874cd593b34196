//! URLs put together as text: with the environment masked they are not valid ones.

use std::borrow::Cow;

use kontext_config::command::ends_in;
use kontext_config::model::TemplateText;
use kontext_syntax::template::Part;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::render::{Renderer, Unset};
use crate::fault::Fault;

/// All but the unreserved characters of RFC 3986.
pub(crate) const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
pub(crate) const RESERVED_IN_PATH: &AsciiSet = &RESERVED.remove(b'/');

/// A URL in three pieces, without the characters that part them.
#[derive(Clone, Debug, Default)]
pub(super) struct Url {
    head: String,
    query: String,
    fragment: Option<String>,
}

impl Url {
    pub(super) fn split(text: &str) -> Self {
        let (rest, fragment) = match text.split_once('#') {
            Some((rest, fragment)) => (rest, Some(fragment.to_owned())),
            None => (text, None),
        };
        let (head, query) = rest.split_once('?').unwrap_or((rest, ""));
        Self {
            head: head.to_owned(),
            query: query.to_owned(),
            fragment,
        }
    }

    /// Puts a path, which may have a query of its own, behind this one's.
    pub(super) fn join(&mut self, path: &str) {
        let Self {
            head,
            query,
            fragment,
        } = Self::split(path);
        if !head.is_empty() {
            let base = self.head.trim_end_matches('/').len();
            self.head.truncate(base);
            self.head.push('/');
            self.head.push_str(head.trim_start_matches('/'));
        }
        self.add_query(&query);
        if fragment.is_some() {
            self.fragment = fragment;
        }
    }

    fn add_query(&mut self, query: &str) {
        if query.is_empty() {
            return;
        }
        if !self.query.is_empty() && !self.query.ends_with('&') {
            self.query.push('&');
        }
        self.query.push_str(query);
    }

    pub(super) fn add_parameter(&mut self, name: &str, value: &str, masked: bool) {
        let name = encoded(name, RESERVED, false);
        let value = encoded(value, RESERVED, masked);
        self.add_query(&format!("{name}={value}"));
    }

    pub(super) fn into_text(self) -> String {
        let mut text = self.head;
        if !self.query.is_empty() {
            text.push('?');
            text.push_str(&self.query);
        }
        if let Some(fragment) = self.fragment {
            text.push('#');
            text.push_str(&fragment);
        }
        text
    }
}

/// The text of a `path`: what expressions insert is percent-encoded, `/` excepted.
pub(super) fn path(renderer: &Renderer<'_>, path: &TemplateText) -> Result<String, Fault> {
    let template = path.template();
    let pieces = renderer.pieces(&template, path.source(), "`path`", Unset::Refused)?;
    let mut text = String::new();
    // Of each segment so far: whether a value had a part in it.
    let mut segments: Vec<(String, bool)> = vec![(String::new(), false)];
    let mut in_path = true;
    for (piece, part) in pieces.iter().zip(&template.parts) {
        let encoded = match part {
            Part::Expr(expr) if piece.inserted && !ends_in(expr, "urlencode") => {
                encoded(&piece.text, RESERVED_IN_PATH, renderer.masked)
            }
            _ => Cow::Borrowed(piece.text.as_str()),
        };
        text.push_str(&encoded);
        for c in encoded.chars().take_while(|_| in_path) {
            match c {
                '?' | '#' => {
                    in_path = false;
                    break;
                }
                '/' => segments.push((String::new(), piece.inserted)),
                _ => {
                    if let Some((segment, from_value)) = segments.last_mut() {
                        segment.push(c);
                        *from_value |= piece.inserted;
                    }
                }
            }
        }
    }
    let climbs = |(segment, from_value): &(String, bool)| {
        let plain = segment.to_ascii_lowercase().replace("%2e", ".");
        *from_value && matches!(plain.as_str(), "." | "..")
    };
    if segments.iter().any(climbs) {
        return Err(Fault::refused(
            "a value puts `.` or `..` as a segment into `path`, which would lead to another path",
        ));
    }
    Ok(text)
}

/// Percent-encoded text; with `masked`, the names that stand for variables of the environment are
/// left as they are.
fn encoded<'t>(text: &'t str, set: &'static AsciiSet, masked: bool) -> Cow<'t, str> {
    if !masked || !text.contains('‹') {
        return utf8_percent_encode(text, set).into();
    }
    let mut result = String::new();
    for part in text.split_inclusive('›') {
        let (plain, mask) = match part.find("‹env.").and_then(|at| part.split_at_checked(at)) {
            Some((plain, mask)) if mask.ends_with('›') => (plain, mask),
            _ => (part, ""),
        };
        result.extend(utf8_percent_encode(plain, set));
        result.push_str(mask);
    }
    Cow::Owned(result)
}

/// Why a finished URL cannot be asked, if it cannot. The words never repeat it: it may hold a
/// secret.
pub(crate) fn fault(url: &str) -> Option<String> {
    if url.chars().any(char::is_control) {
        return Some(
            "the URL holds a line break or another control character; encode it with `urlencode`"
                .to_owned(),
        );
    }
    // The parser is lenient: in `http:///x` and `http:/x` it takes `x` for the host.
    if let Some((scheme, rest)) = url.split_once(':')
        && (scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https"))
        && rest
            .strip_prefix("//")
            .is_none_or(|rest| rest.is_empty() || rest.starts_with(['/', '\\', '?', '#']))
    {
        return Some("the URL names no host; write one behind `//`".to_owned());
    }
    match reqwest::Url::parse(url) {
        Ok(url) if !matches!(url.scheme(), "http" | "https") => Some(
            "the URL begins with neither `http://` nor `https://`; write one of them".to_owned(),
        ),
        Ok(url) if url.host_str().is_none_or(str::is_empty) => {
            Some("the URL names no host; write one behind `//`".to_owned())
        }
        Ok(_) => None,
        Err(error) => Some(format!(
            "the URL is not one: {error}; it begins with `http://` or `https://` and a host"
        )),
    }
}
