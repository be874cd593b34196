//! The keys a table has already, wherever in the file they are written.

use kontext_config::schema;
use kontext_config::source::Source;
use kontext_syntax::toml::{Entry, Node, NodeKind, Span};

/// The table at a path from the top of the file, in this file. Of an array of tables it is the
/// element that `header` opens, else the last one that begins at or before `offset`.
pub(super) fn node_at<'a>(
    source: &'a Source,
    path: &[&str],
    header: Option<Span>,
    offset: u32,
) -> Option<&'a Node> {
    let (top, below) = path.split_first()?;
    let named = below
        .split_first()
        .and_then(|(name, rest)| Some((source.units.named(top, name)?, rest)));
    let (unit, rest) = match named {
        Some(found) => found,
        None => (source.units.top(top)?, below),
    };
    let element = |node: &'a Node| match &node.kind {
        NodeKind::Array(array) => {
            let opened = array.nodes.iter().find(|node| Some(node.span) == header);
            opened.or_else(|| {
                let starts = |node: &&Node| source.document.resolve(node.span).start <= offset;
                array.nodes.iter().rev().find(starts)
            })
        }
        _ => Some(node),
    };
    let mut node = element(&unit.item.node)?;
    for key in rest {
        node = element(&node.get(key)?.node)?;
    }
    Some(node)
}

/// The keys of the table at `path` other than the one written at `but`.
pub(super) fn given<'a>(
    source: &'a Source,
    path: &[&str],
    header: Option<Span>,
    offset: u32,
    but: Option<Span>,
) -> Vec<&'a str> {
    if path.is_empty() {
        let fields = schema::root().fields.iter().map(|field| field.name);
        return fields
            .filter(|name| {
                source
                    .units
                    .top(name)
                    .is_some_and(|unit| unit.item.keys.iter().any(|&key| Some(key) != but))
            })
            .collect();
    }
    let table = node_at(source, path, header, offset).and_then(Node::as_table);
    table
        .into_iter()
        .flat_map(|table| &table.items)
        .filter(|(_, item)| item.keys.iter().any(|&key| Some(key) != but))
        .map(|(name, _)| &**name)
        .collect()
}

/// The same for an inline table, which is complete where it is written; `dotted` are the parts of
/// a dotted key in it.
pub(super) fn given_inline<'a>(
    entries: &'a [Entry],
    dotted: &[&str],
    but: Option<Span>,
) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for entry in entries {
        let mut keys = entry.keys.iter();
        if dotted
            .iter()
            .all(|part| keys.next().is_some_and(|key| &*key.text == *part))
            && let Some(key) = keys.next()
            && Some(key.span) != but
            && !found.contains(&&*key.text)
        {
            found.push(&key.text);
        }
    }
    found
}
