//! Text as an editor sees it: positions in the client's encoding, lines, and incremental edits.
//!
//! Inside, everything is a UTF-8 byte offset (`u32`). Only the wires speak lines and characters;
//! [`LineIndex`] translates.

use std::borrow::Cow;

mod edit;
mod line_index;
mod position;

pub use edit::{Change, Edit, apply};
pub use line_index::LineIndex;
pub use position::{Encoding, Position};

/// A text in a sentence or a title: on one line, with its control characters as TOML escapes them,
/// so that a path which was written `"C:\temp"` shows what became of it.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\u{8}' => shown.push_str("\\b"),
            '\t' => shown.push_str("\\t"),
            '\n' => shown.push_str("\\n"),
            '\u{c}' => shown.push_str("\\f"),
            '\r' => shown.push_str("\\r"),
            c if c.is_control() => shown.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// A name or value that comes from outside in a sentence: in backticks, on one line, cut where it is
/// very long.
pub fn quoted(text: &str) -> String {
    const MOST: usize = 200;
    let shown = visible(text);
    match shown.char_indices().nth(MOST) {
        Some((end, _)) => format!("`{}…`", shown.get(..end).unwrap_or_default()),
        None => format!("`{shown}`"),
    }
}

/// The longest text, in bytes, that offsets can address. Who takes text in from outside refuses
/// a longer one, and an edit that would make one.
pub const MAX_LEN: usize = u32::MAX as usize;

/// A length or byte offset as `u32`; beyond [`MAX_LEN`] it stays at the limit.
pub(crate) fn to_u32(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
