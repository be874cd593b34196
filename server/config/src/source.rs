//! A text of the configuration, parsed.

use std::sync::Arc;

use kontext_syntax::text::Change;
use kontext_syntax::toml::{Document, Units};

/// The top-level tables that are taken apart by name: each adapter is a unit of its own, so an
/// edit of one leaves what was computed from the others.
const SPLIT: &[&str] = &["adapters"];

/// A document with its units. Parsing never fails; faults are in the two.
#[derive(Clone, Debug)]
pub struct Source {
    /// The text and its blocks.
    pub document: Document,
    /// What the blocks add up to, the table `adapters` taken apart by name.
    pub units: Units,
}

impl Source {
    /// Parses a text.
    pub fn parse(text: impl Into<Arc<str>>) -> Self {
        let document = Document::parse(text);
        let units = Units::of(&document, SPLIT, None);
        Self { document, units }
    }

    /// The source of another text that is much the same, such as the buffer over its file: what
    /// the two have in common is shared.
    #[must_use]
    pub fn becoming(&self, text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        match Change::between(self.document.text(), &text) {
            Some(change) => self.edited(text, change.start, change.old_end, change.new_end),
            None => self.clone(),
        }
    }

    /// The source after one change: the bytes `start..old_end` (0-based, end exclusive) of this
    /// text became `start..new_end` of `text`. Blocks and units out of reach of the change are
    /// the same `Arc`s.
    #[must_use]
    pub fn edited(
        &self,
        text: impl Into<Arc<str>>,
        start: u32,
        old_end: u32,
        new_end: u32,
    ) -> Self {
        let document = self.document.edited(text, start, old_end, new_end);
        let units = Units::of(&document, SPLIT, Some(&self.units));
        Self { document, units }
    }
}
