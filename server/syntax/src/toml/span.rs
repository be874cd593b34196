use std::fmt;

use crate::TextRange;

/// Names a block within the lineage of one document (the document and what edits made of it).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct BlockId(pub(super) u32);

/// A range of bytes relative to the start of a block: 0-based, `end` exclusive.
///
/// It stays true while the block is shared between versions of a document, wherever the block
/// moves to. [`super::Document::resolve`] gives the absolute range.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The block it lies in.
    pub block: BlockId,
    /// First byte, from the start of the block.
    pub start: u32,
    /// One past the last byte, from the start of the block.
    pub end: u32,
}

impl Span {
    pub(super) fn new(block: BlockId, start: usize, end: usize) -> Self {
        // A text is refused at 4 GiB, so offsets fit.
        let start = u32::try_from(start).unwrap_or(u32::MAX);
        let end = u32::try_from(end).unwrap_or(u32::MAX);
        Self {
            block,
            start,
            end: end.max(start),
        }
    }

    /// The range relative to the block.
    pub const fn range(self) -> TextRange {
        TextRange::new(self.start, self.end)
    }

    /// The same block, another range relative to it.
    pub const fn with_range(self, range: TextRange) -> Self {
        Self {
            block: self.block,
            start: range.start,
            end: range.end,
        }
    }

    /// The smallest span that covers both; `self` where they lie in different blocks.
    pub fn cover(self, other: Self) -> Self {
        if self.block == other.block {
            self.with_range(self.range().cover(other.range()))
        } else {
            self
        }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}..{}", self.block.0, self.start, self.end)
    }
}
