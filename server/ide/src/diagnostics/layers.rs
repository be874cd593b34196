//! What only shows between layers: trust, conflicts, gates.

use super::Subject;
use super::check::Check;
use crate::finding::Finding;

/// What the shared layer changes of an adapter that a personal layer defines too.
pub(super) fn of_adapter(check: &mut Check<'_>) {
    let _ = check;
}

/// What concerns the file as a layer.
pub(super) fn of_file(subject: &Subject<'_>) -> Vec<Finding> {
    let _ = subject;
    Vec::new()
}
