//! What the client at the other end can take.

use kontext_syntax::text::Encoding;
use tower_lsp::lsp_types::{ClientCapabilities, MarkupKind, PositionEncodingKind};

/// The client's capabilities, read once.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one capability of the protocol"
)]
pub(super) struct Profile {
    /// How characters of positions are counted.
    pub(super) encoding: Encoding,
    /// Hover may be Markdown.
    pub(super) hover_markdown: bool,
    /// Documentation of completions may be Markdown.
    pub(super) completion_markdown: bool,
    /// Completions may be snippets.
    pub(super) snippets: bool,
    /// Symbols may be nested.
    pub(super) nested_symbols: bool,
    /// The client asks for diagnostics, and can be told to ask again when another layer or the
    /// world has changed. Where it cannot, they are pushed: pulled ones would go stale unseen.
    pub(super) pulls_diagnostics: bool,
    /// Diagnostics may name other places.
    pub(super) related: bool,
    /// Diagnostics may have tags.
    pub(super) tags: bool,
    /// Diagnostics keep data for quick fixes.
    pub(super) data: bool,
    /// The client can be told to ask for inlay hints again.
    pub(super) refreshes_hints: bool,
    /// The client answers `workspace/configuration`.
    pub(super) configuration: bool,
}

impl Profile {
    pub(super) fn of(capabilities: &ClientCapabilities) -> Self {
        let document = capabilities.text_document.as_ref();
        let workspace = capabilities.workspace.as_ref();
        let markdown = |formats: &Option<Vec<MarkupKind>>| {
            formats
                .as_ref()
                .is_some_and(|all| all.contains(&MarkupKind::Markdown))
        };
        let item =
            document.and_then(|document| document.completion.as_ref()?.completion_item.as_ref());
        let publish = document.and_then(|document| document.publish_diagnostics.as_ref());
        Self {
            encoding: encoding(capabilities),
            hover_markdown: document
                .and_then(|document| document.hover.as_ref())
                .is_some_and(|hover| markdown(&hover.content_format)),
            completion_markdown: item.is_some_and(|item| markdown(&item.documentation_format)),
            snippets: item.is_some_and(|item| item.snippet_support == Some(true)),
            nested_symbols: document
                .and_then(|document| document.document_symbol.as_ref())
                .is_some_and(|symbols| symbols.hierarchical_document_symbol_support == Some(true)),
            pulls_diagnostics: document.is_some_and(|document| document.diagnostic.is_some())
                && workspace
                    .and_then(|workspace| workspace.diagnostic.as_ref())
                    .is_some_and(|diagnostic| diagnostic.refresh_support == Some(true)),
            related: publish.is_some_and(|publish| publish.related_information == Some(true)),
            tags: publish.is_some_and(|publish| publish.tag_support.is_some()),
            data: publish.is_some_and(|publish| publish.data_support == Some(true)),
            refreshes_hints: workspace
                .and_then(|workspace| workspace.inlay_hint.as_ref())
                .is_some_and(|hints| hints.refresh_support == Some(true)),
            configuration: workspace.is_some_and(|workspace| workspace.configuration == Some(true)),
        }
    }

    /// The encoding as the protocol names it.
    pub(super) fn encoding_kind(&self) -> PositionEncodingKind {
        match self.encoding {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
            Encoding::Utf32 => PositionEncodingKind::UTF32,
        }
    }
}

/// UTF-8 where it is offered, as it costs nothing; UTF-16 where nothing is said or it is among
/// the offers; UTF-32 where it is the only one.
fn encoding(capabilities: &ClientCapabilities) -> Encoding {
    let offered = capabilities
        .general
        .as_ref()
        .and_then(|general| general.position_encodings.as_deref())
        .unwrap_or_default();
    if offered.contains(&PositionEncodingKind::UTF8) {
        Encoding::Utf8
    } else if offered.contains(&PositionEncodingKind::UTF16)
        || !offered.contains(&PositionEncodingKind::UTF32)
    {
        Encoding::Utf16
    } else {
        Encoding::Utf32
    }
}
