//! Declared tools: their parameters.

use kontext_syntax::toml::Node;

use super::check::Check;

/// Checks `params`, in either of its forms.
pub(super) fn params<'a>(check: &mut Check<'a>, node: &'a Node) {
    let _ = (check, node);
}
