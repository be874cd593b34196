use std::sync::Arc;

use kontext_config::source::Source;
use kontext_syntax::text::{self, Change, Edit, Encoding, LineIndex, MAX_LEN};

/// One change of a notification: what the client says was replaced.
pub type ContentChange = Edit;

/// Why a change could not be applied; the buffer is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditFault {
    /// The text would be larger than is read.
    #[error("the text would be larger than {MAX_LEN} bytes")]
    TooLarge,
}

/// A document the client has open.
#[derive(Debug)]
pub(super) struct Buffer {
    /// The URIs it was opened by, byte for byte, the newest last. Several where the same file is
    /// open through a link as well.
    pub(super) uris: Vec<Arc<str>>,
    /// The client's version.
    pub(super) version: i32,
    /// Whether it was changed since it was opened or saved.
    pub(super) touched: bool,
    /// What the text says.
    pub(super) source: Arc<Source>,
    /// Where its lines begin.
    pub(super) lines: Arc<LineIndex>,
    text: String,
}

impl Buffer {
    /// The document as it was opened, over what is known to be in its file.
    pub(super) fn new(uri: &str, version: i32, text: String, file: Option<&Arc<Source>>) -> Self {
        let text = bounded(text);
        let lines = Arc::new(LineIndex::new(&text));
        let source = match file {
            Some(file) if **file.document.text() == *text => Arc::clone(file),
            Some(file) => Arc::new(file.becoming(text.as_str())),
            None => Arc::new(Source::parse(text.as_str())),
        };
        Self {
            uris: vec![uri.into()],
            version,
            touched: false,
            source,
            lines,
            text,
        }
    }

    /// The whole text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Applies the changes of one notification, each in the coordinates the one before left.
    pub(super) fn apply(
        &mut self,
        version: i32,
        changes: Vec<ContentChange>,
        encoding: Encoding,
    ) -> Result<(), EditFault> {
        let growth: usize = changes.iter().map(|change| change.text.len()).sum();
        if self.text.len() + growth > MAX_LEN {
            return Err(EditFault::TooLarge);
        }
        let lines = Arc::make_mut(&mut self.lines);
        let mut whole: Option<Change> = None;
        for change in changes {
            let change = text::apply(&mut self.text, lines, change, encoding);
            whole = Some(whole.map_or(change, |before| before.merge(change)));
        }
        if let Some(change) = whole {
            let source = self.source.edited(
                self.text.as_str(),
                change.start,
                change.old_end,
                change.new_end,
            );
            self.source = Arc::new(source);
            self.touched = true;
        }
        self.version = version;
        Ok(())
    }
}

/// A text that is not larger than is read; a larger one is cut at a character.
fn bounded(mut text: String) -> String {
    let limit = MAX_LEN;
    if text.len() > limit {
        let end = text.floor_char_boundary(limit);
        text.truncate(end);
    }
    text
}
