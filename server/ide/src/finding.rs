//! Diagnostics, before and after their places are known.

use std::path::PathBuf;

use kontext_config::codes::{Code, Severity};
use kontext_syntax::TextRange;
use kontext_syntax::toml::Span;

/// A fault found in one unit of a document. Its places move with the blocks they lie in, so it
/// stays true as long as the unit and what was looked at with it do.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Which fault.
    pub code: Code,
    /// Where it shows.
    pub span: Span,
    /// What is wrong and what to do, one sentence without a full stop.
    pub message: String,
    /// Other places that belong to it.
    pub related: Vec<Related<Span>>,
    /// Edits that put it right.
    pub fix: Option<Fix<Span>>,
}

/// Another place that belongs to a diagnostic. `P` is how places in the same file are given.
#[derive(Clone, Debug, PartialEq)]
pub struct Related<P> {
    /// The place.
    pub place: Place<P>,
    /// What is there.
    pub message: String,
}

/// A place in the same file, or in the file of another layer.
#[derive(Clone, Debug, PartialEq)]
pub enum Place<P> {
    /// In the file the diagnostic stands in.
    Here(P),
    /// In another file, by path; of a diagnostic in bytes of the text it had when that was made.
    There(PathBuf, P),
}

/// Edits that put a fault right, all in the file it stands in. They do not overlap.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix<P> {
    /// What applying it does, as an instruction: `Change to `driver``.
    pub title: String,
    /// What is replaced, and by what.
    pub edits: Vec<(P, String)>,
}

/// A diagnostic of a file, ready to be shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Bytes of the file's text.
    pub range: TextRange,
    /// How bad it is, settings applied.
    pub severity: Severity,
    /// Which fault.
    pub code: Code,
    /// What is wrong and what to do.
    pub message: String,
    /// Other places that belong to it.
    pub related: Vec<Related<TextRange>>,
    /// Edits that put it right.
    pub fix: Option<Fix<TextRange>>,
}
