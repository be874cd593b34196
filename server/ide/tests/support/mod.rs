//! Checking texts as layers, shared by the tests of diagnostics.
#![allow(dead_code, reason = "each test file uses a part")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::string_slice,
    clippy::unwrap_used
)]

use std::path::PathBuf;
use std::sync::Arc;

use kontext_config::codes::{Code, Severity};
use kontext_config::facts::Trust;
use kontext_config::layer::LayerKind;
use kontext_config::source::Source;
use kontext_config::stack::{LayerSource, Stack};
use kontext_ide::Diagnostic;
use kontext_ide::diagnostics::{Checked, Severities, Subject};
use kontext_syntax::TextRange;

/// A stack of parsed layers.
pub(crate) fn stack(trust: Trust, layers: &[(LayerKind, &Arc<Source>)]) -> Stack {
    let layer = |(kind, source): &(LayerKind, &Arc<Source>)| LayerSource {
        kind: *kind,
        path: PathBuf::from(format!("{kind}.toml")),
        source: Some(Arc::clone(source)),
        fault: None,
    };
    Stack {
        layers: layers.iter().map(layer).collect(),
        trust,
    }
}

/// Checks one layer of a stack.
pub(crate) fn check_in(stack: &Stack, kind: LayerKind, before: Option<&Checked>) -> Checked {
    let layer = stack
        .layers
        .iter()
        .find(|layer| layer.kind == kind)
        .unwrap();
    let subject = Subject {
        source: layer.source.as_ref().unwrap(),
        layer: Some((kind, stack)),
        severities: &Severities::new(),
        fault: None,
    };
    Checked::of(&subject, before)
}

/// The diagnostics of a text that is the layer of that kind, with others around it.
pub(crate) fn check_layers(
    kind: LayerKind,
    text: &str,
    trust: Trust,
    others: &[(LayerKind, &str)],
) -> Vec<Diagnostic> {
    let sources: Vec<(LayerKind, Arc<Source>)> = LayerKind::ALL
        .into_iter()
        .filter_map(|one| {
            let text = if one == kind {
                text
            } else {
                others.iter().find(|(other, _)| *other == one)?.1
            };
            Some((one, Arc::new(Source::parse(text))))
        })
        .collect();
    let borrowed: Vec<_> = sources
        .iter()
        .map(|(kind, source)| (*kind, source))
        .collect();
    let stack = stack(trust, &borrowed);
    check_in(&stack, kind, None).diagnostics().to_vec()
}

/// The diagnostics of a text that is the user layer, without other layers.
pub(crate) fn check(text: &str) -> Vec<Diagnostic> {
    check_layers(LayerKind::User, text, Trust::Untrusted, &[])
}

/// A byte range as (line, column) pairs, 0-based, columns in UTF-16 code units.
pub(crate) fn utf16(text: &str, range: TextRange) -> (u32, u32, u32, u32) {
    let place = |offset: u32| {
        let before = &text[..offset as usize];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.matches('\n').count() as u32;
        (line, before[line_start..].encode_utf16().count() as u32)
    };
    let (start, end) = (place(range.start), place(range.end));
    (start.0, start.1, end.0, end.1)
}

/// One line a diagnostic: place, severity, code, message and what the fix would write.
pub(crate) fn shown(text: &str, diagnostics: &[Diagnostic]) -> String {
    let line = |one: &Diagnostic| {
        let (l, c, el, ec) = utf16(text, one.range);
        let end = if l == el {
            format!("{ec}")
        } else {
            format!("{el}:{ec}")
        };
        let fix = one
            .fix
            .as_ref()
            .map_or(String::new(), |fix| format!(" [{}]", fix.title));
        format!(
            "{l}:{c}-{end} {} {}: {}{fix}",
            one.severity, one.code, one.message
        )
    };
    diagnostics.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Places and codes of those at least as bad as a warning.
pub(crate) fn faults(text: &str, diagnostics: &[Diagnostic]) -> Vec<((u32, u32, u32, u32), Code)> {
    diagnostics
        .iter()
        .filter(|one| one.severity <= Severity::Warning)
        .map(|one| (utf16(text, one.range), one.code))
        .collect()
}
