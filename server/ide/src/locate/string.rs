use std::borrow::Cow;

use kontext_syntax::TextRange;
use kontext_syntax::toml::{Span, Text, Value, ValueKind};

/// A string with a place in it.
#[derive(Clone, Debug)]
pub struct StringAt<'a> {
    /// What the string says, escapes decoded. Of a string with a fault: what is written.
    pub text: Cow<'a, str>,
    /// The place, in bytes of `text`, on a character border.
    pub cursor: u32,
    /// The whole value with its quotes.
    pub range: TextRange,
    /// What lies between the quotes; to the end of the line where the closing one is missing.
    pub inner: TextRange,
    /// The quotes it is written with: `"`, `'`, `"""` or `'''`.
    pub quotes: &'static str,
    /// Whether the closing quotes are there.
    pub closed: bool,
    /// The decoded string and where its block starts; `None` where nothing is decoded.
    decoded: Option<(&'a Text, Span, u32)>,
}

impl<'a> StringAt<'a> {
    /// The string that `value` is, where `offset` lies between its quotes. `base` is the start of
    /// the block the value lies in.
    pub(super) fn of(value: &'a Value, base: u32, text: &'a str, offset: u32) -> Option<Self> {
        let range = value.span.range().shifted(base);
        let written = range.of(text);
        let quotes = ["\"\"\"", "'''", "\"", "'"]
            .into_iter()
            .find(|quotes| written.starts_with(quotes))?;
        let width = if quotes.len() == 3 { 3 } else { 1 };
        let (decoded, closed) = match &value.kind {
            ValueKind::String(decoded) => (Some((decoded, value.span, base)), true),
            ValueKind::Invalid => {
                let behind = written.get(quotes.len()..).unwrap_or("");
                (None, behind.ends_with(quotes))
            }
            _ => return None,
        };
        let end = if closed { range.end - width } else { range.end };
        let inner = TextRange::new(range.start + width, end);
        if !inner.touches(offset) {
            return None;
        }
        let (text, cursor) = match decoded {
            Some((decoded, ..)) => (
                Cow::Borrowed(&*decoded.value),
                decoded.decoded_offset(offset - range.start),
            ),
            None => (Cow::Borrowed(inner.of(text)), offset - inner.start),
        };
        Some(Self {
            text,
            cursor,
            range,
            inner,
            quotes,
            closed,
            decoded,
        })
    }

    /// Where a range of `text` is written, clamped to what lies between the quotes.
    pub fn source(&self, range: TextRange) -> TextRange {
        let written = match self.decoded {
            Some((text, whole, base)) => text.source(whole, range).range().shifted(base),
            None => range.shifted(self.inner.start),
        };
        TextRange::new(
            written.start.clamp(self.inner.start, self.inner.end),
            written.end.clamp(self.inner.start, self.inner.end),
        )
    }

    /// Whether backslash escapes count in it.
    pub fn has_escapes(&self) -> bool {
        self.quotes.starts_with('"')
    }
}
