//! Configuration in the format of other programs: what it is, and what it would be here.

use kontext_syntax::toml::{Document, Span};

use crate::finding::Finding;

/// Says of pasted JSON what it most likely is, and what to write instead.
pub(crate) fn describe(document: &Document, span: Span, finding: &mut Finding) {
    let _ = (document, span, finding);
}
