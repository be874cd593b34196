//! What `kontext_ide` answers about a place of a document, in the words of LSP.

use std::path::Path;

use kontext_ide::completion::{self, Capabilities, DocRef, Extra, FileEntry, Item, ItemKind};
use kontext_ide::format::{FormatOptions, format_document};
use kontext_ide::symbols::{Symbol, SymbolKind as Kind, symbols};
use kontext_ide::{File, Snapshot, hover, inlay};
use kontext_syntax::TextRange;
use tower_lsp::lsp_types::*;

use super::from_proto;
use super::profile::Profile;
use super::to_proto::Places;

/// A folder with more entries is offered only this far.
const MAX_ENTRIES: usize = 2_000;

/// An outline of more entries leaves out the deepest ones: as JSON each takes some 4 KB.
const MAX_SYMBOLS: usize = 5_000;

/// What fits at a position. `programs` are the names on `PATH`, sorted.
pub(super) fn complete(
    snapshot: &Snapshot,
    file: &File,
    at: Position,
    profile: &Profile,
    programs: &[String],
) -> CompletionResponse {
    let offset = from_proto::offset(file, at, profile);
    let root = snapshot
        .workspace_of(file)
        .map(|workspace| workspace.root.as_path());
    let list = |folder: &str| root.map_or_else(Vec::new, |root| entries(&root.join(folder)));
    let extra = Extra {
        programs,
        files: Some(&list),
    };
    let items = completion::complete(
        snapshot,
        file,
        offset,
        &Capabilities {
            snippets: profile.snippets,
            extra,
        },
    );
    let places = Places::of(file, profile);
    CompletionResponse::List(CompletionList {
        // Every further character may change what fits: a value, a filter, a path.
        is_incomplete: false,
        items: items
            .into_iter()
            .map(|item| completion_item(item, &places, profile))
            .collect(),
    })
}

fn completion_item(item: Item, places: &Places<'_>, profile: &Profile) -> CompletionItem {
    let snippet = item.edit.snippet && profile.snippets;
    CompletionItem {
        label: item.label,
        kind: Some(completion_kind(item.kind)),
        detail: item.detail,
        sort_text: Some(item.sort),
        filter_text: Some(item.filter),
        preselect: item.preselect.then_some(true),
        insert_text_format: Some(if snippet {
            InsertTextFormat::SNIPPET
        } else {
            InsertTextFormat::PLAIN_TEXT
        }),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit {
            range: places.range(item.edit.range),
            new_text: item.edit.new_text,
        })),
        data: (item.doc != DocRef::None)
            .then(|| serde_json::to_value(&item.doc).unwrap_or_default()),
        ..CompletionItem::default()
    }
}

fn completion_kind(kind: ItemKind) -> CompletionItemKind {
    match kind {
        ItemKind::Header | ItemKind::Adapter => CompletionItemKind::MODULE,
        ItemKind::Field => CompletionItemKind::PROPERTY,
        ItemKind::Key => CompletionItemKind::FIELD,
        ItemKind::Value => CompletionItemKind::ENUM_MEMBER,
        ItemKind::Skeleton => CompletionItemKind::SNIPPET,
        ItemKind::Op => CompletionItemKind::METHOD,
        ItemKind::Root => CompletionItemKind::STRUCT,
        ItemKind::Variable => CompletionItemKind::VARIABLE,
        ItemKind::Filter => CompletionItemKind::FUNCTION,
        ItemKind::EnvVar | ItemKind::Code => CompletionItemKind::CONSTANT,
        ItemKind::Program | ItemKind::File => CompletionItemKind::FILE,
        ItemKind::Folder => CompletionItemKind::FOLDER,
    }
}

/// The documentation of an item, fetched when the client shows it.
pub(super) fn resolve(mut item: CompletionItem, profile: &Profile) -> CompletionItem {
    let doc = item
        .data
        .as_ref()
        .and_then(|data| serde_json::from_value::<DocRef>(data.clone()).ok());
    let text = doc.map(|doc| completion::resolve(&doc)).unwrap_or_default();
    if !text.is_empty() {
        item.documentation = Some(if profile.completion_markdown {
            Documentation::MarkupContent(MarkupContent {
                kind: MarkupKind::Markdown,
                value: text,
            })
        } else {
            Documentation::String(plain(&text))
        });
    }
    item
}

/// Our own Markdown without its marks: fences, headings, emphasis, code.
fn plain(markdown: &str) -> String {
    let lines = markdown.lines().filter(|line| !line.starts_with("```"));
    let lines = lines.map(|line| {
        line.trim_start_matches('#')
            .trim_start()
            .replace("**", "")
            .replace('`', "")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The entries of a folder, folders among them marked. What cannot be read has none.
fn entries(folder: &Path) -> Vec<FileEntry> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let entry = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.ok()?;
        let is_folder = std::fs::metadata(entry.path()).is_ok_and(|meta| meta.is_dir());
        Some(FileEntry {
            name: entry.file_name().into_string().ok()?,
            is_folder,
        })
    };
    let mut entries: Vec<FileEntry> = entries.take(MAX_ENTRIES).filter_map(entry).collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    entries
}

/// What there is to say about the place the pointer is at.
pub(super) fn hover_at(
    snapshot: &Snapshot,
    file: &File,
    at: Position,
    profile: &Profile,
) -> Option<Hover> {
    let found = hover::hover(snapshot, file, from_proto::offset(file, at, profile))?;
    let content = if profile.hover_markdown {
        MarkupContent {
            kind: MarkupKind::Markdown,
            value: found.markdown,
        }
    } else {
        MarkupContent {
            kind: MarkupKind::PlainText,
            value: found.plaintext,
        }
    };
    Some(Hover {
        contents: HoverContents::Markup(content),
        range: Some(Places::of(file, profile).range(found.range)),
    })
}

/// The status of the adapters in a range.
pub(super) fn hints(
    snapshot: &Snapshot,
    file: &File,
    range: Range,
    profile: &Profile,
) -> Vec<InlayHint> {
    let places = Places::of(file, profile);
    let range = TextRange::new(
        from_proto::offset(file, range.start, profile),
        from_proto::offset(file, range.end, profile),
    );
    let hint = |hint: inlay::InlayHint| InlayHint {
        position: places.position(hint.offset),
        label: InlayHintLabel::String(hint.label),
        kind: None,
        text_edits: None,
        tooltip: hint.tooltip.map(|text| tooltip(text, profile)),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    };
    inlay::hints(snapshot, file, range)
        .into_iter()
        .map(hint)
        .collect()
}

/// There is no capability for tooltips: who takes Markdown in a hover takes it here.
fn tooltip(markdown: String, profile: &Profile) -> InlayHintTooltip {
    if profile.hover_markdown {
        InlayHintTooltip::MarkupContent(MarkupContent {
            kind: MarkupKind::Markdown,
            value: markdown,
        })
    } else {
        InlayHintTooltip::String(plain(&markdown))
    }
}

/// The outline; flat for a client that takes no nested one.
pub(super) fn outline(file: &File, profile: &Profile) -> DocumentSymbolResponse {
    let places = Places::of(file, profile);
    let mut all = symbols(&file.source);
    for depth in (0..4).rev() {
        if count(&all) <= MAX_SYMBOLS {
            break;
        }
        prune(&mut all, depth);
    }
    if profile.nested_symbols {
        return DocumentSymbolResponse::Nested(
            all.into_iter()
                .map(|symbol| nested(symbol, &places))
                .collect(),
        );
    }
    let mut flat = Vec::new();
    if let Ok(uri) = Url::parse(&file.uri) {
        all.iter()
            .for_each(|symbol| flatten(symbol, None, &uri, &places, &mut flat));
    }
    DocumentSymbolResponse::Flat(flat)
}

fn count(symbols: &[Symbol]) -> usize {
    let below = |symbol: &Symbol| 1 + count(&symbol.children);
    symbols.iter().map(below).sum()
}

/// Takes away what lies more than `depth` levels below these.
fn prune(symbols: &mut [Symbol], depth: usize) {
    for symbol in symbols {
        match depth.checked_sub(1) {
            Some(depth) => prune(&mut symbol.children, depth),
            None => symbol.children.clear(),
        }
    }
}

#[expect(deprecated, reason = "the field must be given, and is none")]
fn nested(symbol: Symbol, places: &Places<'_>) -> DocumentSymbol {
    let children: Vec<_> = symbol
        .children
        .into_iter()
        .map(|child| nested(child, places))
        .collect();
    DocumentSymbol {
        name: symbol.name,
        detail: symbol.detail,
        kind: symbol_kind(symbol.kind),
        tags: None,
        deprecated: None,
        range: places.range(symbol.range),
        selection_range: places.range(symbol.selection),
        children: (!children.is_empty()).then_some(children),
    }
}

#[expect(deprecated, reason = "the field must be given, and is none")]
fn flatten(
    symbol: &Symbol,
    container: Option<&str>,
    uri: &Url,
    places: &Places<'_>,
    flat: &mut Vec<SymbolInformation>,
) {
    flat.push(SymbolInformation {
        name: symbol.name.clone(),
        kind: symbol_kind(symbol.kind),
        tags: None,
        deprecated: None,
        location: Location {
            uri: uri.clone(),
            range: places.range(symbol.range),
        },
        container_name: container.map(str::to_owned),
    });
    symbol
        .children
        .iter()
        .for_each(|child| flatten(child, Some(&symbol.name), uri, places, flat));
}

fn symbol_kind(kind: Kind) -> SymbolKind {
    match kind {
        Kind::Adapter => SymbolKind::MODULE,
        Kind::When => SymbolKind::BOOLEAN,
        Kind::Group | Kind::Table => SymbolKind::NAMESPACE,
        Kind::Variable => SymbolKind::VARIABLE,
        Kind::Op => SymbolKind::METHOD,
        Kind::Event => SymbolKind::EVENT,
        Kind::Tool => SymbolKind::FUNCTION,
    }
}

/// The edits that format a document or a part of it, or why it is left alone.
pub(super) fn format(
    file: &File,
    range: Option<Range>,
    options: &FormattingOptions,
    profile: &Profile,
) -> Result<Vec<TextEdit>, String> {
    let indent = if options.insert_spaces {
        " ".repeat(options.tab_size.min(16) as usize)
    } else {
        "\t".to_owned()
    };
    let range = range.map(|range| {
        TextRange::new(
            from_proto::offset(file, range.start, profile),
            from_proto::offset(file, range.end, profile),
        )
    });
    let edits = format_document(
        &file.source.document,
        &FormatOptions {
            indent,
            ..FormatOptions::default()
        },
        range,
    );
    let places = Places::of(file, profile);
    let edit = |edit: kontext_ide::format::TextEdit| TextEdit {
        range: places.range(edit.range),
        new_text: edit.text,
    };
    edits
        .map(|edits| edits.into_iter().map(edit).collect())
        .map_err(|refusal| refusal.to_string())
}
