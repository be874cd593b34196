use smol_str::SmolStr;

use super::{BlockId, Fault, Span};
use crate::TextRange;

/// A header with the entries below it, up to the next header. The first block of a document has
/// no header.
#[derive(Debug, PartialEq)]
pub struct Block {
    /// Its name within the document's lineage.
    pub id: BlockId,
    /// Its length in bytes, line break of the last line included.
    pub len: u32,
    /// The `[table]` or `[[array of tables]]` line.
    pub header: Option<Header>,
    /// The entries, in document order.
    pub entries: Vec<Entry>,
    /// The faults of its text, in document order.
    pub faults: Vec<Fault>,
    /// How many bytes from its start the parser looked at. More than `len` where something was
    /// left open and the end of it was sought: an edit within reach re-parses the block.
    pub(super) reach: u32,
}

/// `[a.b]` or `[[a.b]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The parts of the name; a missing one is an empty key of empty span.
    pub keys: Vec<Key>,
    /// Whether it has double brackets.
    pub array: bool,
    /// From the first bracket to the last one (or to where the line was left off).
    pub span: Span,
}

/// One part of a dotted key.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Decoded text; empty where a part is missing (`a..b`).
    pub text: SmolStr,
    /// The part as written, quotes included.
    pub span: Span,
    /// Whether it is written in quotes.
    pub quoted: bool,
}

/// `key = value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The parts of the key; never empty.
    pub keys: Vec<Key>,
    /// The `=`, where there is one.
    pub equals: Option<Span>,
    /// The value; `None` where it is not written yet.
    pub value: Option<Value>,
    /// From the key to the end of the value.
    pub span: Span,
}

impl Entry {
    /// The key, from its first to its last part.
    pub fn key_span(&self) -> Span {
        match (self.keys.first(), self.keys.last()) {
            (Some(first), Some(last)) => first.span.cover(last.span),
            _ => self.span,
        }
    }
}

/// A value as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The whole value, quotes and brackets included.
    pub span: Span,
    /// What it is.
    pub kind: ValueKind,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueKind {
    /// A string in any of its four forms.
    String(Text),
    /// An integer that fits 64 bits.
    Integer(i64),
    /// A float, `inf` and `nan` included.
    Float(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// A date, a time or both, as written.
    DateTime(SmolStr),
    /// An array.
    Array(Vec<Value>),
    /// An inline table.
    Table(Vec<Entry>),
    /// Something with a fault of its own; nothing is known of it.
    Invalid,
}

/// How a string is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StringForm {
    /// `"…"`
    Basic,
    /// `'…'`
    Literal,
    /// `"""…"""`
    MultilineBasic,
    /// `'''…'''`
    MultilineLiteral,
}

impl StringForm {
    /// Whether backslash escapes count.
    pub const fn has_escapes(self) -> bool {
        matches!(self, Self::Basic | Self::MultilineBasic)
    }

    /// Length of the delimiter on each side, in bytes.
    pub const fn quote_len(self) -> u32 {
        match self {
            Self::Basic | Self::Literal => 1,
            Self::MultilineBasic | Self::MultilineLiteral => 3,
        }
    }
}

/// A decoded string that knows where each of its bytes was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// The decoded text.
    pub value: SmolStr,
    /// How it is written.
    pub form: StringForm,
    /// Byte offsets (decoded, source from the start of the value) where a straight run begins.
    /// `None` is the one run of a string without escapes.
    pub(super) runs: Option<Box<[(u32, u32)]>>,
}

impl Text {
    /// Where a range of the decoded text (bytes) was written; `whole` is the span of the value.
    /// Both ends are clamped into the value.
    pub fn source(&self, whole: Span, decoded: TextRange) -> Span {
        let (start, end) = (self.to_source(decoded.start), self.to_source(decoded.end));
        let inside = |offset: u32| (whole.start + offset).min(whole.end);
        Span {
            block: whole.block,
            start: inside(start),
            end: inside(end.max(start)),
        }
    }

    /// The offset in the decoded text (bytes) of a place in the source, given from the start of
    /// the value (its quotes included). Clamped to the text.
    pub fn decoded_offset(&self, source: u32) -> u32 {
        let len = u32::try_from(self.value.len()).unwrap_or(u32::MAX);
        let offset = match &self.runs {
            None => source.saturating_sub(self.form.quote_len()),
            Some(runs) => {
                let next = runs.partition_point(|&(_, at)| at <= source);
                let limit = runs.get(next).map_or(len, |&(decoded, _)| decoded);
                match next.checked_sub(1).and_then(|i| runs.get(i)) {
                    Some(&(decoded, at)) => (decoded + (source - at)).min(limit),
                    None => 0,
                }
            }
        };
        let mut offset = offset.min(len);
        while !self.value.is_char_boundary(offset as usize) {
            offset -= 1;
        }
        offset
    }

    fn to_source(&self, decoded: u32) -> u32 {
        match &self.runs {
            None => decoded + self.form.quote_len(),
            Some(runs) => {
                let next = runs.partition_point(|&(at, _)| at <= decoded);
                match next.checked_sub(1).and_then(|i| runs.get(i)) {
                    Some(&(at, source)) => source + (decoded - at),
                    None => self.form.quote_len(),
                }
            }
        }
    }
}
