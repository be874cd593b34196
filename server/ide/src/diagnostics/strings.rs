//! What strings hold: templates, paths, patterns, URLs, names.

use kontext_config::schema::{KeyKind, StringKind};
use kontext_syntax::toml::{Item, Span, Text};

use super::check::Check;

/// Checks a string value against what it holds. `span` is the whole value, quotes included.
pub(super) fn value(check: &mut Check<'_>, kind: StringKind, text: &Text, span: Span) {
    let _ = (check, kind, text, span);
}

/// Checks a key that the person chose.
pub(super) fn key(check: &mut Check<'_>, kind: KeyKind, name: &str, item: &Item) {
    let _ = (check, kind, name, item);
}
