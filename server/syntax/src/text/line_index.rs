use super::{Encoding, Position, to_u32};
use crate::TextRange;

/// Where the lines of a text start.
///
/// It holds offsets only; whoever converts hands the text in. The text must be the one the index
/// was made from: with another one, answers are wrong but nothing panics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineIndex {
    /// Byte offset of the first byte of each line, ascending. The first is 0.
    starts: Vec<u32>,
    /// Length of the text in bytes.
    len: u32,
}

impl Default for LineIndex {
    fn default() -> Self {
        Self {
            starts: vec![0],
            len: 0,
        }
    }
}

impl LineIndex {
    /// Index a text of at most [`super::MAX_LEN`] bytes.
    pub fn new(text: &str) -> Self {
        let mut starts = Vec::with_capacity(text.len() / 32 + 1);
        starts.push(0);
        let bytes = text.as_bytes();
        if memchr::memchr(b'\r', bytes).is_none() {
            starts.extend(memchr::memchr_iter(b'\n', bytes).map(|at| to_u32(at + 1)));
        } else {
            starts.extend(
                memchr::memchr2_iter(b'\n', b'\r', bytes)
                    .map(|at| at + 1)
                    .filter(|&at| starts_line(bytes, at))
                    .map(to_u32),
            );
        }
        Self {
            starts,
            len: to_u32(text.len()),
        }
    }

    /// Number of lines; an empty text has one, and so has what follows a final line break.
    pub fn line_count(&self) -> u32 {
        to_u32(self.starts.len())
    }

    /// Length of the text in bytes.
    pub const fn text_len(&self) -> u32 {
        self.len
    }

    /// The line (0-based) that holds the byte at `offset`; the last one for the end or beyond.
    pub fn line_of(&self, offset: u32) -> u32 {
        to_u32(
            self.starts
                .partition_point(|&start| start <= offset)
                .saturating_sub(1),
        )
    }

    /// The bytes of a line (0-based) with its line break; empty at the end of the text for a
    /// line beyond the last.
    pub fn line_range(&self, line: u32) -> TextRange {
        let line = line as usize;
        let start = self.starts.get(line).copied().unwrap_or(self.len);
        TextRange::new(
            start,
            self.starts.get(line + 1).copied().unwrap_or(self.len),
        )
    }

    /// The bytes of a line (0-based) without its line break.
    pub fn content_range(&self, text: &str, line: u32) -> TextRange {
        let range = self.line_range(line);
        let line = range.of(text);
        let content = line
            .strip_suffix("\r\n")
            .or_else(|| line.strip_suffix('\n'))
            .or_else(|| line.strip_suffix('\r'))
            .unwrap_or(line);
        TextRange::new(range.start, range.start + to_u32(content.len()))
    }

    /// The place of a byte offset. Beyond the end it is the end; inside a character, its start;
    /// between CR and LF, before the CR.
    pub fn position(&self, text: &str, offset: u32, encoding: Encoding) -> Position {
        let offset = to_u32(text.floor_char_boundary(offset as usize));
        let line = self.line_of(offset);
        let content = self.content_range(text, line);
        let before = TextRange::new(content.start, offset.min(content.end)).of(text);
        Position {
            line,
            character: encoding.len(before),
        }
    }

    /// The byte offset of a place, always on a character border. A line beyond the last is the
    /// end of the text; a character beyond the line is its end before the line break; inside a
    /// surrogate pair or a multi-byte character it is the character's start.
    pub fn offset(&self, text: &str, position: Position, encoding: Encoding) -> u32 {
        if position.line >= self.line_count() {
            return to_u32(text.len());
        }
        let content = self.content_range(text, position.line);
        let inside = encoding.byte_offset(content.of(text), position.character);
        to_u32(text.floor_char_boundary(content.start as usize + inside))
    }

    /// Follow an edit: the bytes `start..old_end` of the old text became `start..new_end` of
    /// `text`, the new one. Looks at the new bytes only; the starts behind are shifted.
    pub(super) fn splice(&mut self, text: &str, start: u32, old_end: u32, new_end: u32) {
        // Whether a line starts at `p` depends on the bytes `p - 1` and `p`, so exactly the
        // starts in `start..=old_end` may have come or gone. 0 always is one.
        let first = self.starts.partition_point(|&at| at < start).max(1);
        let last = self.starts.partition_point(|&at| at <= old_end).max(first);
        for at in self.starts.iter_mut().skip(last) {
            *at = (*at - old_end).saturating_add(new_end);
        }
        let bytes = text.as_bytes();
        let from = (start as usize).saturating_sub(1);
        let changed = bytes.get(from..new_end as usize).unwrap_or_default();
        let fresh = memchr::memchr2_iter(b'\n', b'\r', changed)
            .map(|at| from + at + 1)
            .filter(|&at| starts_line(bytes, at))
            .map(to_u32);
        self.starts.splice(first..last, fresh);
        self.len = to_u32(text.len());
    }
}

/// Whether a line starts at `at`, given that the byte before is LF or CR.
fn starts_line(bytes: &[u8], at: usize) -> bool {
    bytes.get(at.wrapping_sub(1)) == Some(&b'\n') || bytes.get(at) != Some(&b'\n')
}
