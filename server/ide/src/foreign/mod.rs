//! Configuration in the format of other programs: what it is, and what it would be here.

mod convert;
mod lenient;
mod servers;

use std::collections::BTreeSet;

use kontext_config::codes::Code;
use kontext_syntax::TextRange;
use kontext_syntax::toml::{Document, Node, NodeKind, Span, Unit, write};
use serde_json::{Map, Value};

use crate::finding::Finding;
use servers::Server;

/// Says of pasted JSON what it most likely is, and what to write instead. Where it holds MCP
/// servers, the fix puts TOML in its place.
pub(crate) fn describe(document: &Document, span: Span, finding: &mut Finding) {
    let range = document.resolve(span);
    let text = range.of(document.text());
    let Some((value, is_fragment)) = lenient::parse(text) else {
        return;
    };
    let found = servers::of_json(&value);
    let Some(first) = found.first() else { return };
    let below = if is_fragment && found.len() == 1 && first.name.is_none() {
        adapter_at(document, range.start)
    } else {
        None
    };
    let toml = match &below {
        Some((name, given)) => convert::fields(first, name, given),
        None => adapters(&found, &BTreeSet::new()),
    };
    finding.message = match &below {
        Some((name, _)) => format!(
            "this is JSON of an MCP server as other programs keep it; below [adapters.{}] write `driver = \"mcp\"` and the program with its arguments as `command = […]`",
            write::key(name)
        ),
        None => {
            let what = match found.len() {
                1 => "an MCP server".to_owned(),
                count => format!("{count} MCP servers"),
            };
            format!(
                "this is JSON of {what} as other programs keep it; write [adapters.{}] with `driver = \"mcp\"` and {}",
                write::key(first.name.as_deref().unwrap_or("name")),
                if first.is_remote() {
                    "`url = \"…\"`"
                } else {
                    "the program with its arguments as `command = […]`"
                }
            )
        }
    };
    let whole = document.span_of(with_comma(document, range));
    finding.fix("Convert to TOML", vec![(whole, toml)]);
}

/// Says of a top-level table that other programs keep their MCP servers in what it would be here;
/// `None` where the table is no such one. The fix adds the adapters that are not there yet.
pub(crate) fn known_table(name: &str, unit: &Unit, document: &Document) -> Option<Finding> {
    let telling = matches!(name, "mcp_servers" | "mcpServers" | "context_servers");
    if !telling && !matches!(name, "servers" | "mcp") {
        return None;
    }
    let mut outer = Map::new();
    outer.insert(name.to_owned(), json_of(&unit.item.node, 0));
    let outer = Value::Object(outer);
    let found = servers::of_json(&outer);
    if found.is_empty() && !telling {
        return None;
    }
    let known = adapters_of(document);
    let first = found
        .iter()
        .find_map(|server| server.name.as_deref())
        .unwrap_or("name");
    let mut finding = Finding {
        code: Code::ForeignFormat,
        span: unit.item.key(),
        message: format!(
            "`{name}` holds the MCP servers of another program and is not read here; write each as [adapters.{}] with `driver = \"mcp\"`, or leave the table to that program",
            write::key(first)
        ),
        related: Vec::new(),
        fix: None,
    };
    let toml = adapters(&found, &known);
    if !toml.is_empty() {
        let text = document.text();
        let end = u32::try_from(text.len()).ok()?;
        let gap = match text.as_ref() {
            text if text.ends_with("\n\n") => "",
            text if text.ends_with('\n') => "\n",
            _ => "\n\n",
        };
        let at = document.span_of(TextRange::empty(end));
        finding.fix(
            "Add the servers as adapters",
            vec![(at, format!("{gap}{toml}\n"))],
        );
    }
    Some(finding)
}

/// The servers as adapters, those with a name in `known` left out. No line break at the end.
fn adapters(found: &[Server], known: &BTreeSet<String>) -> String {
    let mut taken = known.clone();
    let mut tables = Vec::new();
    for server in found {
        let name = server.name.clone().unwrap_or_else(|| server.likely_name());
        if !taken.insert(name.clone()) {
            continue;
        }
        let fields = convert::fields(server, &name, &BTreeSet::new());
        tables.push(format!("[adapters.{}]\n{fields}", write::key(&name)));
    }
    tables.join("\n\n")
}

/// The adapter whose table a place lies in, with the keys it has already.
fn adapter_at(document: &Document, offset: u32) -> Option<(String, BTreeSet<String>)> {
    let (_, block) = document.block_at(offset);
    let header = block.header.as_ref()?;
    let [top, name] = header.keys.as_slice() else {
        return None;
    };
    if header.array || &*top.text != "adapters" || name.text.is_empty() {
        return None;
    }
    let keys = block.entries.iter();
    let given = keys.filter_map(|entry| Some(entry.keys.first()?.text.to_string()));
    Some((name.text.to_string(), given.collect()))
}

/// The names of the adapters that headers of the document open.
fn adapters_of(document: &Document) -> BTreeSet<String> {
    let headers = document
        .blocks()
        .iter()
        .filter_map(|(_, block)| block.header.as_ref());
    headers
        .filter_map(|header| match header.keys.as_slice() {
            [top, name, ..] if &*top.text == "adapters" => Some(name.text.to_string()),
            _ => None,
        })
        .collect()
}

/// The range with the comma that may follow it.
fn with_comma(document: &Document, range: TextRange) -> TextRange {
    let rest = document.text().get(range.end as usize..).unwrap_or("");
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    match u32::try_from(blanks) {
        Ok(blanks) if rest.trim_start_matches([' ', '\t']).starts_with(',') => {
            TextRange::new(range.start, range.end + blanks + 1)
        }
        _ => range,
    }
}

/// A TOML value as JSON, for looking at it with the same eyes. Bounded: what is deeper than any
/// server entry is left out.
fn json_of(node: &Node, depth: usize) -> Value {
    if depth > 8 {
        return Value::Null;
    }
    match &node.kind {
        NodeKind::Table(table) => Value::Object(
            table
                .items
                .iter()
                .map(|(name, item)| (name.to_string(), json_of(&item.node, depth + 1)))
                .collect(),
        ),
        NodeKind::Array(array) => array
            .nodes
            .iter()
            .map(|node| json_of(node, depth + 1))
            .collect(),
        NodeKind::String(text) => Value::String(text.value.to_string()),
        NodeKind::Integer(number) => (*number).into(),
        NodeKind::Float(number) => (*number).into(),
        NodeKind::Boolean(value) => (*value).into(),
        NodeKind::DateTime(text) => Value::String(text.to_string()),
        NodeKind::Invalid => Value::Null,
    }
}
