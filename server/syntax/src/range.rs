use std::fmt;

/// A range of UTF-8 byte offsets in some text: 0-based, `end` exclusive, `start <= end`.
///
/// Offsets are `u32`: a text of 4 GiB or more is refused where it comes in (see `text::MAX_LEN`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct TextRange {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl TextRange {
    /// A range from `start` to `end`; an `end` before `start` gives an empty range at `start`.
    pub const fn new(start: u32, end: u32) -> Self {
        Self {
            start,
            end: if end < start { start } else { end },
        }
    }

    /// The empty range at `offset`.
    pub const fn empty(offset: u32) -> Self {
        Self {
            start: offset,
            end: offset,
        }
    }

    /// Length in bytes.
    pub const fn len(self) -> u32 {
        self.end - self.start
    }

    /// Whether the range holds no byte.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether `offset` lies inside, or right behind the last byte (where a cursor may stand).
    pub const fn touches(self, offset: u32) -> bool {
        self.start <= offset && offset <= self.end
    }

    /// Whether `other` lies inside.
    pub const fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The smallest range that covers both.
    pub fn cover(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// The range moved right by `by` bytes.
    pub const fn shifted(self, by: u32) -> Self {
        Self {
            start: self.start + by,
            end: self.end + by,
        }
    }

    /// The text it covers, or `""` where it does not lie on character borders of `text`.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize)
            .unwrap_or("")
    }
}

impl fmt::Debug for TextRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}
