//! A string together with the places its bytes are written at.

use kontext_config::schema::{Place, Shape};
use kontext_syntax::TextRange;
use kontext_syntax::template::{Part, Template};
use kontext_syntax::toml::{Span, StringForm, Text};

/// A decoded string of the document, a value or a key.
#[derive(Clone, Copy)]
pub(super) struct Written<'a> {
    /// As it means.
    pub(super) value: &'a str,
    /// All of it, quotes included.
    pub(super) whole: Span,
    /// How it is written; `None` for keys.
    pub(super) form: Option<StringForm>,
    source: Source<'a>,
}

#[derive(Clone, Copy)]
enum Source<'a> {
    /// A value knows where each byte comes from.
    Value(&'a Text),
    /// A key without escapes: so many bytes before its text.
    Key(u32),
    /// A key with escapes: places inside are not known.
    Opaque,
}

impl<'a> Written<'a> {
    pub(super) fn of_value(text: &'a Text, whole: Span) -> Self {
        Self {
            value: &text.value,
            whole,
            form: Some(text.form),
            source: Source::Value(text),
        }
    }

    /// `source` is the key as it is written.
    pub(super) fn of_key(value: &'a str, whole: Span, source: &str) -> Self {
        let lead = source.len().saturating_sub(value.len()) / 2;
        let plain = source.get(lead..lead + value.len()) == Some(value) && lead <= 1;
        let source = match u32::try_from(lead) {
            Ok(lead) if plain => Source::Key(lead),
            _ => Source::Opaque,
        };
        Self {
            value,
            whole,
            form: None,
            source,
        }
    }

    /// Where a range of the decoded text (bytes) is written.
    pub(super) fn span(&self, range: TextRange) -> Span {
        match self.source {
            Source::Value(text) => text.source(self.whole, range),
            Source::Key(lead) => {
                let at = |offset: u32| {
                    (self.whole.start.saturating_add(lead).saturating_add(offset))
                        .min(self.whole.end)
                };
                Span {
                    start: at(range.start),
                    end: at(range.end),
                    ..self.whole
                }
            }
            Source::Opaque => self.whole,
        }
    }

    /// As [`Self::span`], but something to underline also where the range is empty: the character
    /// before it, else all of the string.
    pub(super) fn visible(&self, range: TextRange) -> Span {
        if !range.is_empty() {
            return self.span(range);
        }
        let before = self
            .value
            .get(..range.start as usize)
            .and_then(|before| before.chars().next_back());
        match before {
            Some(c) => {
                let width = u32::try_from(c.len_utf8()).unwrap_or(1);
                self.span(TextRange::new(range.start - width, range.end))
            }
            None => self.whole,
        }
    }

    /// The whole decoded text.
    pub(super) fn whole_range(&self) -> TextRange {
        TextRange::new(0, u32::try_from(self.value.len()).unwrap_or(u32::MAX))
    }

    /// Whether edits inside the string can be made: places inside are known.
    pub(super) fn is_editable(&self) -> bool {
        !matches!(self.source, Source::Opaque)
    }
}

/// A range of bytes in a text.
pub(super) fn range(start: usize, end: usize) -> TextRange {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    TextRange::new(offset(start), offset(end))
}

/// What a template is for.
#[derive(Clone, Copy)]
pub(super) struct Use {
    /// Where it stands: which names it sees.
    pub(super) place: Place,
    /// What it becomes.
    pub(super) shape: Shape,
    /// Whether it is a key.
    pub(super) is_key: bool,
}

/// The literal parts, each with its text.
pub(super) fn texts<'a>(
    written: &Written<'a>,
    template: &Template,
) -> impl Iterator<Item = (TextRange, &'a str)> {
    let value = written.value;
    template.parts.iter().filter_map(move |part| match part {
        Part::Text(range) => Some((*range, range.of(value))),
        Part::Expr(_) => None,
    })
}
