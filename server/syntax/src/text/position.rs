/// The unit in which a client counts characters of a line (LSP 3.17, `positionEncoding`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Bytes of UTF-8.
    Utf8,
    /// Code units of UTF-16: what a client means that has negotiated nothing.
    #[default]
    Utf16,
    /// Unicode scalar values.
    Utf32,
}

impl Encoding {
    /// How many units `text` takes.
    pub fn len(self, text: &str) -> u32 {
        let units = match self {
            Self::Utf8 => text.len(),
            _ if text.is_ascii() => text.len(),
            Self::Utf16 => text.chars().map(char::len_utf16).sum(),
            Self::Utf32 => text.chars().count(),
        };
        super::to_u32(units)
    }

    /// The byte offset in `text` that `units` lead to: the end where there are fewer, the start
    /// of the character where they end inside one.
    pub(super) fn byte_offset(self, text: &str, units: u32) -> usize {
        let units = units as usize;
        if units >= text.len() {
            // A byte is at most one unit, so no unit count reaches further than the byte count.
            return text.len();
        }
        if self == Self::Utf8 {
            return text.floor_char_boundary(units);
        }
        if text.is_ascii() {
            return units;
        }
        let mut seen = 0;
        for (at, c) in text.char_indices() {
            let width = if self == Self::Utf16 {
                c.len_utf16()
            } else {
                1
            };
            if seen + width > units {
                return at;
            }
            seen += width;
        }
        text.len()
    }
}

/// A place in a text as the Language Server Protocol writes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line, 0-based. Lines end with LF, CRLF or a lone CR.
    pub line: u32,
    /// Offset in the line, 0-based, in units of an [`Encoding`].
    pub character: u32,
}

impl Position {
    /// The place at this line and character, both 0-based.
    pub const fn new(line: u32, character: u32) -> Self {
        Self { line, character }
    }
}
