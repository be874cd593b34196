//! Text as an editor sees it: positions in the client's encoding, lines, and incremental edits.
//!
//! Inside, everything is a UTF-8 byte offset (`u32`). Only the wires speak lines and characters;
//! [`LineIndex`] translates.

mod edit;
mod line_index;
mod position;

pub use edit::{Change, Edit, apply};
pub use line_index::LineIndex;
pub use position::{Encoding, Position};

/// The longest text, in bytes, that offsets can address. Who takes text in from outside refuses
/// a longer one, and an edit that would make one.
pub const MAX_LEN: usize = u32::MAX as usize;

/// A length or byte offset as `u32`; beyond [`MAX_LEN`] it stays at the limit.
pub(crate) fn to_u32(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
