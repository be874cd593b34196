//! An adapter as a whole: its driver, its target, its ops and who calls them.

use super::check::Check;

/// Checks what no single field shows.
pub(super) fn check(check: &mut Check<'_>) {
    let _ = check;
}

/// A top-level table that is not part of the format.
pub(super) fn unknown_table(check: &mut Check<'_>) {
    let _ = check;
}
