//! URLs, and the wildcards of `when.exists`.

use kontext_config::codes::Code;
use kontext_syntax::template::{Part, Template};

use super::super::check::Check;
use super::written::{Written, range, texts};

/// Checks that a URL is absolute and names a host, as far as that shows before it is rendered.
/// The message never repeats the URL: it may hold a secret.
pub(super) fn check(check: &mut Check<'_>, written: &Written<'_>, template: &Template) {
    let expr = |part: &Part| matches!(part, Part::Expr(expr) if expr.terminated);
    if template.parts.first().is_some_and(expr) {
        return;
    }
    let lead = match template.parts.first() {
        Some(Part::Text(range)) => range.of(written.value),
        _ => "",
    };
    let goes_on = template.parts.get(1).is_some_and(expr);
    let Some(fault) = fault(lead, goes_on) else {
        return;
    };
    let whole = written.whole;
    let scheme = scheme_for(lead);
    let finding = check.report(Code::InvalidUrl, whole, fault);
    if let Some(scheme) = scheme {
        let start = written.span(range(0, 0));
        finding.fix(
            format!("Put `{scheme}` before it"),
            vec![(start, scheme.to_owned())],
        );
    }
}

/// What is wrong with a URL that begins like this; `goes_on`: an expression follows.
fn fault(lead: &str, goes_on: bool) -> Option<String> {
    if lead.is_empty() {
        return Some("a URL is missing; write one that begins with `https://`".to_owned());
    }
    if lead.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Some("a URL holds no blanks; remove them or write `%20`".to_owned());
    }
    let lower = lead.to_ascii_lowercase();
    let begins = |scheme: &str| {
        if lower.starts_with(scheme) {
            lower.get(scheme.len()..)
        } else {
            None
        }
    };
    let Some(rest) = begins("http://").or_else(|| begins("https://")) else {
        let unfinished = ["http://", "https://"]
            .iter()
            .any(|scheme| scheme.starts_with(&lower));
        return (!(goes_on && unfinished)).then(|| {
            "a URL begins with `http://` or `https://` and a host; write both".to_owned()
        });
    };
    let authority_end = rest.find(['/', '?', '#', '\\']);
    let authority = authority_end
        .and_then(|end| rest.get(..end))
        .unwrap_or(rest);
    let open = goes_on && authority_end.is_none();
    let host_port = authority.rsplit('@').next().unwrap_or("");
    let (host, port) = if host_port.starts_with('[') {
        match host_port.split_once(']') {
            Some((host, rest)) => (host, rest.strip_prefix(':')),
            None if open => return None,
            None => ("", None),
        }
    } else {
        match host_port.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (host_port, None),
        }
    };
    if host.is_empty() && !open {
        return Some("this URL names no host; write one behind `//`".to_owned());
    }
    let bad_port = |port: &str| !port.is_empty() && port.parse::<u16>().is_err();
    if port.is_some_and(bad_port) && !open {
        return Some("the port of this URL is not a number up to 65535; correct it".to_owned());
    }
    None
}

/// The scheme that is missing, where the rest looks like host and path.
fn scheme_for(lead: &str) -> Option<&'static str> {
    let host = lead.split(['/', '?', '#', ':']).next().unwrap_or("");
    let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    if host.is_empty() || !host.chars().all(name) || lead.contains("://") {
        return None;
    }
    if host == "localhost" || host.starts_with("127.") {
        Some("http://")
    } else {
        host.contains('.').then_some("https://")
    }
}

/// Reports `*` and `?` before the last segment of a path.
pub(super) fn wildcards(check: &mut Check<'_>, written: &Written<'_>, template: &Template) {
    let separator = |c: char| matches!(c, '/' | '\\');
    let last = texts(written, template)
        .filter_map(|(at, text)| Some(at.start as usize + text.rfind(separator)?))
        .last();
    let Some(last) = last else { return };
    for (at, text) in texts(written, template) {
        let start = at.start as usize;
        let Some(first) = text.find(['*', '?']).filter(|first| start + first < last) else {
            continue;
        };
        let rest = text.get(first..).unwrap_or("");
        let len = rest.find(|c| !matches!(c, '*' | '?')).unwrap_or(rest.len());
        let span = written.span(range(start + first, start + first + len));
        let message = "`*` and `?` match in the last segment of the path only; name this folder";
        check.report(Code::MisplacedWildcard, span, message);
        return;
    }
}
