//! The edit that removes an entry.

use kontext_syntax::TextRange;
use kontext_syntax::toml::{Document, Item, NodeKind, Span, TableForm};

/// The edit that removes the only place an item is written at, where that is plain: an entry that
/// has its lines for itself goes with them; a member of an inline table goes with its comma.
/// `None` for tables of headers and for items written in several places.
pub(super) fn item(document: &Document, item: &Item) -> Option<(Span, String)> {
    let [key] = item.keys.as_slice() else {
        return None;
    };
    match &item.node.kind {
        NodeKind::Table(table) if table.form != TableForm::Inline => return None,
        NodeKind::Array(array) if array.of_tables => return None,
        NodeKind::Invalid => return None,
        _ => {}
    }
    if key.block != item.node.span.block {
        return None;
    }
    let text = document.text();
    let key_range = document.resolve(*key);
    let range = key_range.cover(document.resolve(item.node.span));
    let before = text.get(..range.start as usize)?;
    let after = text.get(range.end as usize..)?;
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let lead = before.get(line_start..)?.trim_start();
    let to_line_end = after.find('\n').map_or(after.len(), |at| at + 1);
    let tail = after.get(..to_line_end)?.trim();
    let range = if lead.is_empty() && (tail.is_empty() || tail.starts_with('#')) {
        TextRange::new(
            u32::try_from(line_start).ok()?,
            range.end + u32::try_from(to_line_end).ok()?,
        )
    } else if let Some(rest) = after.trim_start().strip_prefix(',') {
        let rest = rest.trim_start_matches([' ', '\t']);
        TextRange::new(range.start, u32::try_from(text.len() - rest.len()).ok()?)
    } else if let Some(kept) = before.trim_end().strip_suffix(',') {
        TextRange::new(u32::try_from(kept.len()).ok()?, range.end)
    } else if before.trim_end().ends_with('{') && after.trim_start().starts_with('}') {
        range
    } else {
        return None;
    };
    Some((document.span_of(range), String::new()))
}
