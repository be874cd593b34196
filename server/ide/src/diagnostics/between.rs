//! What only shows between adapters: tools with one name, overlapping URIs.

use super::Subject;
use crate::finding::Finding;

/// Checks adapters against each other.
pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let _ = subject;
    Vec::new()
}
