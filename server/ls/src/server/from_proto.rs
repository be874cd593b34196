//! From the types of LSP to ours.

use kontext_ide::File;
use kontext_syntax::text::{Edit, Position};
use tower_lsp::lsp_types as lsp;

use super::profile::Profile;

/// One content change. The deprecated length is not looked at: the range says it all.
pub(super) fn change(change: lsp::TextDocumentContentChangeEvent) -> Edit {
    Edit {
        range: change
            .range
            .map(|range| (position(range.start), position(range.end))),
        text: change.text,
    }
}

pub(super) fn position(position: lsp::Position) -> Position {
    Position {
        line: position.line,
        character: position.character,
    }
}

/// The byte of a position, clamped into the text.
pub(super) fn offset(file: &File, at: lsp::Position, profile: &Profile) -> u32 {
    file.lines
        .offset(file.source.document.text(), position(at), profile.encoding)
}
