//! From findings to diagnostics: settings, places, order and the limit.

use std::path::Path;

use kontext_config::codes::{Code, Severity};
use kontext_syntax::TextRange;
use kontext_syntax::toml::Span;

use super::Subject;
use crate::finding::{Diagnostic, Finding, Fix, Place, Related};

/// No file shows more diagnostics than this; the worst ones stay.
pub const MAX_DIAGNOSTICS: usize = 200;

/// The findings as they are shown: in the order of the text, none twice at one place.
pub(super) fn diagnostics(subject: &Subject<'_>, findings: Vec<Finding>) -> Vec<Diagnostic> {
    let mut diagnostics: Vec<Diagnostic> = findings
        .into_iter()
        .filter_map(|finding| placed(subject, finding))
        .collect();
    diagnostics.extend(subject.fault.and_then(|fault| unreadable(subject, fault)));
    let place = |one: &Diagnostic| (one.range, one.code);
    diagnostics.sort_by(|a, b| {
        place(a)
            .cmp(&place(b))
            .then_with(|| a.message.cmp(&b.message))
    });
    diagnostics.dedup_by(|a, b| place(a) == place(b));
    without_echoes(subject, &mut diagnostics);
    if diagnostics.len() > MAX_DIAGNOSTICS {
        // The worst stay, the first of equally bad ones; then the order of the text again.
        diagnostics.sort_by_key(|one| one.severity);
        diagnostics.truncate(MAX_DIAGNOSTICS);
        diagnostics.sort_by_key(place);
    }
    diagnostics
}

/// A line that does not follow the grammar is most likely half typed: it costs that line its other
/// checks. The diagnostics are in the order of the text.
fn without_echoes(subject: &Subject<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let text = subject.source.document.text();
    let line = |one: &Diagnostic| {
        let at = one.range.start as usize;
        let start = text.get(..at)?.rfind('\n').map_or(0, |at| at + 1);
        let end = text
            .get(at..)?
            .find('\n')
            .map_or(text.len(), |len| at + len);
        Some((start, end))
    };
    let lines: Vec<(usize, usize)> = diagnostics
        .iter()
        .filter(|one| one.code == Code::TomlSyntax)
        .filter_map(line)
        .collect();
    diagnostics.retain(|one| {
        let at = one.range.start as usize;
        let next = lines.partition_point(|&(start, _)| start <= at);
        let inside = next
            .checked_sub(1)
            .and_then(|i| lines.get(i))
            .is_some_and(|&(_, end)| at <= end);
        !inside || is_grammar(one.code)
    });
}

/// Codes of the text itself, whatever it means.
fn is_grammar(code: Code) -> bool {
    code <= Code::JsonPasted || matches!(code, Code::InvalidUtf8 | Code::UnreadableLayer)
}

/// The severity in force; `None` where the code is switched off.
fn severity(subject: &Subject<'_>, code: Code) -> Option<Severity> {
    subject
        .severities
        .get(&code)
        .copied()
        .unwrap_or(Some(code.severity()))
}

fn placed(subject: &Subject<'_>, finding: Finding) -> Option<Diagnostic> {
    let severity = severity(subject, finding.code)?;
    let here = |span: Span| subject.source.document.resolve(span);
    let related = finding.related.into_iter().filter_map(|related| {
        let place = match related.place {
            Place::Here(span) => Place::Here(here(span)),
            Place::There(path, span) => {
                let range = there(subject, &path, span)?;
                Place::There(path, range)
            }
        };
        Some(Related {
            place,
            message: related.message,
        })
    });
    let fix = finding.fix.map(|fix| Fix {
        title: fix.title,
        edits: fix
            .edits
            .into_iter()
            .map(|(span, text)| (here(span), text))
            .collect(),
    });
    Some(Diagnostic {
        range: here(finding.span),
        severity,
        code: finding.code,
        message: finding.message,
        related: related.collect(),
        fix,
    })
}

/// A place in the file of another layer, as its text is now.
fn there(subject: &Subject<'_>, path: &Path, span: Span) -> Option<TextRange> {
    let (_, stack) = subject.layer?;
    let layer = stack.layers.iter().find(|layer| layer.path == path)?;
    Some(layer.source.as_ref()?.document.resolve(span))
}

/// The file as a whole cannot be read. Where its text is there with replacements, the first of
/// them is the place.
fn unreadable(subject: &Subject<'_>, fault: &str) -> Option<Diagnostic> {
    let code = if fault.contains("not UTF-8") {
        Code::InvalidUtf8
    } else {
        Code::UnreadableLayer
    };
    let text = subject.source.document.text();
    let replaced = text
        .find(char::REPLACEMENT_CHARACTER)
        .and_then(|at| u32::try_from(at).ok());
    Some(Diagnostic {
        range: TextRange::empty(replaced.filter(|_| code == Code::InvalidUtf8).unwrap_or(0)),
        severity: severity(subject, code)?,
        code,
        message: fault.to_owned(),
        related: Vec::new(),
        fix: None,
    })
}
