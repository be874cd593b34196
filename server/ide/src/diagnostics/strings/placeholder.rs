//! Placeholders of other programs: `${X}`, `${env:X}`, `$X`.

use std::ops::Range;

use kontext_config::codes::Code;
use kontext_config::schema::{Place, Shape};
use kontext_syntax::template::Template;

use super::super::check::Check;
use super::written::{Use, Written, range, texts};

/// A placeholder in a text.
pub(crate) struct Placeholder {
    /// Where, in bytes.
    pub(crate) range: Range<usize>,
    /// What is written here instead.
    pub(crate) template: String,
}

/// The placeholders of a text, in order. Those without braces are found where they stand alone
/// (`bare`) or begin the text.
pub(crate) fn find(text: &str, bare: bool) -> Vec<Placeholder> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(dollar) = text.get(at..).and_then(|rest| rest.find('$')) {
        let start = at + dollar;
        let rest = text.get(start..).unwrap_or("");
        let before = text.get(..start).and_then(|text| text.chars().next_back());
        let one = braced(rest).or_else(|| {
            let alone =
                bare && before.is_none_or(|c| matches!(c, ' ' | '/' | ':' | '=' | '@' | '"'));
            let (len, template) = unbraced(rest)?;
            (alone || start == 0 && len == rest.len()).then_some((len, template))
        });
        match one {
            Some((len, template)) => {
                found.push(Placeholder {
                    range: start..start + len,
                    template,
                });
                at = start + len;
            }
            None => at = start + 1,
        }
    }
    found
}

/// The text with its placeholders as templates.
pub(crate) fn converted(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut at = 0;
    for one in find(text, true) {
        result.push_str(text.get(at..one.range.start).unwrap_or(""));
        result.push_str(&one.template);
        at = one.range.end;
    }
    result.push_str(text.get(at..).unwrap_or(""));
    result
}

/// `${X}`, `${env:X}`, `${X:-default}` at the start of a text: length and template.
fn braced(text: &str) -> Option<(usize, String)> {
    let inner = text.strip_prefix("${")?;
    let inner = inner.get(..inner.find('}')?)?;
    let len = inner.len() + 3;
    let (body, default) = match inner.split_once(":-") {
        Some((body, default)) => (body, Some(default)),
        None => (inner, None),
    };
    let name = ["env:", "env.", "input:"]
        .iter()
        .find_map(|lead| body.strip_prefix(lead));
    let template = match (name, body) {
        (None, "workspaceFolder" | "workspaceRoot") => "{{repo.root}}".to_owned(),
        (None, "userHome") => "{{env.HOME}}".to_owned(),
        (name, body) => {
            let mut name = name.unwrap_or(body).to_owned();
            if body.starts_with("input:") {
                name = name.to_uppercase().replace(['-', ' ', '.'], "_");
            }
            if !is_name(&name) {
                return None;
            }
            match default {
                Some(default)
                    if !default.is_empty() && !default.contains(['|', '}', '\'', '"']) =>
                {
                    format!("{{{{env.{name}|default:{default}}}}}")
                }
                _ => format!("{{{{env.{name}}}}}"),
            }
        }
    };
    Some((len, template))
}

/// `$NAME` or `$env:NAME`, a whole word, at the start of a text. Short names and small letters
/// are more often a script's own (`$1`, `$NF`, `$x`).
fn unbraced(text: &str) -> Option<(usize, String)> {
    let body = text.strip_prefix('$')?;
    let (lead, body) = match body.strip_prefix("env:") {
        Some(rest) => ("$env:".len(), rest),
        None => (1, body),
    };
    let end = body
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .unwrap_or(body.len());
    let (name, after) = body.split_at_checked(end)?;
    let upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let telling = name.len() >= 3 && name.chars().all(upper);
    let alone =
        after.is_empty() || after.starts_with(['/', '\\', ':', ' ', '@', '"', '.', ',', '&', '?']);
    (is_name(name) && (telling || lead > 1) && alone)
        .then(|| (lead + name.len(), format!("{{{{env.{name}}}}}")))
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Reports the placeholders in the literal parts of a template.
pub(super) fn in_template(
    check: &mut Check<'_>,
    used: Use,
    written: &Written<'_>,
    template: &Template,
) {
    if !written.value.contains('$') {
        return;
    }
    for (at, text) in texts(written, template) {
        // Scripts and queries have variables of their own.
        let script = match used.shape {
            Shape::Argument => text.contains([' ', '\n', '{', '(']),
            Shape::Json | Shape::Text => true,
            _ => false,
        };
        for one in find(text, !script) {
            let in_item = used.place == Place::Item;
            let template = match one.template.strip_prefix("{{env.") {
                Some(name) if in_item && name.starts_with(|c: char| c.is_ascii_lowercase()) => {
                    format!("{{{{{name}")
                }
                _ => one.template,
            };
            let span = written.span(range(one.range.start, one.range.end).shifted(at.start));
            let message = format!("this is not replaced here; write `{template}`");
            check
                .report(Code::DollarPlaceholder, span, message)
                .fix(format!("Change to `{template}`"), vec![(span, template)]);
        }
    }
}

/// Reports the placeholders of a string that is no template.
pub(super) fn in_plain(check: &mut Check<'_>, written: &Written<'_>) {
    for one in find(written.value, true) {
        let span = written.span(range(one.range.start, one.range.end));
        let message = "this is not replaced, and this field is no template; write the text itself";
        check.report(Code::DollarPlaceholder, span, message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_become_templates() {
        for (text, expected) in [
            ("${TOKEN}", "{{env.TOKEN}}"),
            ("Bearer ${env:TOKEN}", "Bearer {{env.TOKEN}}"),
            ("${PORT:-8080}", "{{env.PORT|default:8080}}"),
            ("$HOME/notes", "{{env.HOME}}/notes"),
            ("$env:TOKEN", "{{env.TOKEN}}"),
            ("${workspaceFolder}/x", "{{repo.root}}/x"),
            ("${input:api-key}", "{{env.API_KEY}}"),
            ("a${X}b${Y}", "a{{env.X}}b{{env.Y}}"),
        ] {
            assert_eq!(converted(text), expected, "{text}");
        }
    }

    #[test]
    fn other_dollars_stay() {
        for text in [
            "$1",
            "$",
            "$$",
            "${}",
            "${",
            "$NF",
            "$x",
            "a$B",
            "100$",
            "${1}",
            "${a b}",
            "$(date)",
            "US$TOKENS",
            "^a$",
            "$.items",
            "${#x}",
        ] {
            assert_eq!(converted(text), text);
        }
    }
}
