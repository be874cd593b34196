//! How bytes become a text and edits of it.
//!
//! `text NUL edit NUL edit …`; an edit is four bytes (where it starts, how much it removes, both
//! big-endian and taken modulo what there is) and what it inserts. A seed without a NUL is a plain
//! text file, with one edit that takes out its middle.

/// A replacement of bytes on character borders.
pub(crate) struct Replacement {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) with: String,
}

/// Edits yet to be placed.
pub(crate) struct Edits<'a>(Vec<&'a [u8]>);

/// A text longer than this is cut: the speed of the fuzzer is worth more.
const LONGEST: usize = 16 * 1024;

pub(crate) fn text_and_edits(data: &[u8]) -> (String, Edits<'_>) {
    let mut parts = data.split(|&byte| byte == 0);
    let text = parts.next().unwrap_or_default();
    let text = text.get(..LONGEST).unwrap_or(text);
    let mut edits: Vec<&[u8]> = parts.take(8).collect();
    if edits.is_empty() {
        edits.push(&[0x7f, 0xff, 0, 16]);
    }
    (String::from_utf8_lossy(text).into_owned(), Edits(edits))
}

impl<'a> Edits<'a> {
    pub(crate) fn each(&self) -> impl Iterator<Item = Edit<'a>> {
        self.0.iter().map(|bytes| Edit(bytes))
    }
}

/// One edit, to be placed in the text it meets.
pub(crate) struct Edit<'a>(&'a [u8]);

impl Edit<'_> {
    pub(crate) fn number(&self, at: usize) -> usize {
        let byte = |at: usize| usize::from(self.0.get(at).copied().unwrap_or(0));
        byte(at) << 8 | byte(at + 1)
    }

    pub(crate) fn inserted(&self) -> String {
        String::from_utf8_lossy(self.0.get(4..).unwrap_or_default()).into_owned()
    }

    pub(crate) fn placed(&self, text: &str) -> Replacement {
        let start = text.floor_char_boundary(self.number(0) % (text.len() + 1));
        let end = text.ceil_char_boundary(start + self.number(2) % (text.len() - start + 1));
        Replacement {
            start,
            end,
            with: self.inserted(),
        }
    }
}

impl Replacement {
    pub(crate) fn applied(&self, text: &str) -> String {
        let mut after = text.to_owned();
        after.replace_range(self.start..self.end, &self.with);
        after
    }
}
