//! Paths into answers, values of `map`, and regular expressions.

use kontext_config::codes::Code;
use kontext_config::schema::{Place, Shape};
use kontext_syntax::TextRange;
use kontext_syntax::path::{Fault, FaultKind, MapAlternative, MapValue, ResultPath};
use regex::Regex;

use super::super::check::Check;
use super::template;
use super::written::{Use, Written, range};
use super::{not_a_template, placeholder, plain, secret};

/// Checks a path with its alternatives.
pub(super) fn result_path(check: &mut Check<'_>, written: &Written<'_>) {
    if not_a_template(check, written, None) {
        return;
    }
    let path = ResultPath::parse(written.value);
    faults(check, written, &path.faults);
}

/// Checks a value of `map`.
pub(super) fn map_value(check: &mut Check<'_>, written: &Written<'_>) {
    match MapValue::parse(written.value) {
        MapValue::Regex(at) => {
            regex(check, written, at);
            plain(check, written);
        }
        MapValue::Choice {
            alternatives,
            faults: found,
        } => {
            let is_template =
                |one: &&MapAlternative| matches!(one, MapAlternative::Template { .. });
            let rendered = alternatives.iter().find(is_template);
            if rendered.is_none() {
                let literal = written.value.starts_with('=');
                let lead = written.span(range(0, usize::from(literal)));
                let edit = Some((lead, "tpl:".to_owned()));
                let edit = edit.filter(|_| literal || !written.value.contains('|'));
                if not_a_template(check, written, edit) {
                    return;
                }
            }
            faults(check, written, &found);
            for alternative in &alternatives {
                match alternative {
                    MapAlternative::Template { template, .. } => {
                        let used = Use {
                            place: Place::Item,
                            shape: Shape::Text,
                            is_key: false,
                        };
                        template::check(check, used, written, template);
                    }
                    MapAlternative::Literal(_) => secret::in_plain(check, written),
                    MapAlternative::Path(_) => {}
                }
            }
            if rendered.is_none() {
                placeholder::in_plain(check, written);
            }
        }
    }
}

fn faults(check: &mut Check<'_>, written: &Written<'_>, faults: &[Fault]) {
    for fault in faults {
        let message = match fault.kind {
            FaultKind::EmptyAlternative => {
                "a path is missing beside `|`; write one, or remove the bar"
            }
            FaultKind::EmptyStep => {
                "a name is missing beside the dot; write one, or remove the dot"
            }
            FaultKind::UnclosedBracket => "this bracket is not closed; close it with `]`",
            FaultKind::BadIndex => {
                "brackets hold a number, `*` or a name in quotes: `[0]`, `[-1]`, `[*]`, `[\"k.x\"]`"
            }
            FaultKind::MissingDot => "behind `]` a dot or a bracket follows; put a dot before this",
            FaultKind::OddName => {
                "this is taken as a name, signs included; paths have `a.b`, `a[0]`, `a[*]` and `*` only, an odd name is written `[\"…\"]`"
            }
            FaultKind::RegexNotAlone => {
                "`re:` stands alone, without alternatives; remove what is before it"
            }
        };
        let span = written.visible(fault.range);
        check.report(Code::PathSyntax, span, message);
    }
}

/// Checks a regular expression that takes a range of the string.
pub(super) fn regex(check: &mut Check<'_>, written: &Written<'_>, at: TextRange) {
    let pattern = at.of(written.value);
    let Err(error) = Regex::new(pattern) else {
        return;
    };
    let text = error.to_string();
    let reason = match &error {
        regex::Error::CompiledTooBig(_) => "it becomes too large; use smaller repetitions",
        _ => text
            .lines()
            .next_back()
            .map(|line| line.trim_start_matches("error: ").trim())
            .filter(|line| !line.is_empty())
            .unwrap_or("it cannot be read"),
    };
    let span = match marked(pattern, &text) {
        Some(inner) => written.visible(inner.shifted(at.start)),
        None => written.whole,
    };
    let message = format!("this regular expression does not compile: {reason}");
    check.report(Code::InvalidRegex, span, message);
}

/// The place the error of a one-line pattern points at, read off the line of carets below it.
fn marked(pattern: &str, error: &str) -> Option<TextRange> {
    if pattern.contains(['\n', '\r']) {
        return None;
    }
    let mut lines = error
        .lines()
        .skip_while(|line| line.trim() != pattern.trim());
    let shown = lines.next()?;
    let carets = lines.next()?;
    let margin = shown.chars().count().checked_sub(pattern.chars().count())?;
    let first = carets.chars().position(|c| c == '^')?.checked_sub(margin)?;
    let count = carets.chars().filter(|c| *c == '^').count();
    let byte = |chars: usize| {
        pattern
            .char_indices()
            .nth(chars)
            .map_or(pattern.len(), |(at, _)| at)
    };
    Some(range(byte(first), byte(first + count)))
}
