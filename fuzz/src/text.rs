//! Texts that are edited: what an edit gives is what the whole text gives.

use std::path::PathBuf;
use std::sync::Arc;

use kontext_config::facts::Trust;
use kontext_config::layer::LayerKind;
use kontext_config::source::Source;
use kontext_config::stack::{LayerSource, Stack};
use kontext_ide::Diagnostic;
use kontext_ide::diagnostics::{Checked, MAX_DIAGNOSTICS, Severities, Subject};
use kontext_syntax::text::{self, Encoding, LineIndex, Position};
use kontext_syntax::toml::{Document, Units};

use crate::input::text_and_edits;

/// What a document says, the names of its blocks left out.
fn said(document: &Document) -> Vec<String> {
    let mut said = Vec::new();
    for (start, block) in document.blocks() {
        let header = block.header.as_ref().map(|header| header.keys.len());
        said.push(format!("{start}+{} {header:?}", block.len));
        for entry in &block.entries {
            let keys: Vec<&str> = entry.keys.iter().map(|key| &*key.text).collect();
            let value = entry
                .value
                .as_ref()
                .map(|value| document.resolve(value.span));
            said.push(format!(
                "{:?} {keys:?} {value:?}",
                document.resolve(entry.span)
            ));
        }
        for fault in &block.faults {
            said.push(format!(
                "{:?} {:?} {}",
                fault.kind,
                document.resolve(fault.span),
                fault.message
            ));
        }
    }
    said
}

/// The tree: an edit gives the document that a parse of the new text gives.
pub fn toml_document(data: &[u8]) {
    let (mut text, edits) = text_and_edits(data);
    let mut document = Document::parse(&*text);
    let mut units = Units::of(&document, &["adapters"], None);
    for edit in edits.each() {
        let edit = edit.placed(&text);
        text = edit.applied(&text);
        let (start, end) = (edit.start as u32, edit.end as u32);
        document = document.edited(&*text, start, end, start + edit.with.len() as u32);
        units = Units::of(&document, &["adapters"], Some(&units));
        let whole = Document::parse(&*text);
        assert_eq!(said(&document), said(&whole), "{text:?}");
        let covered: u32 = whole.blocks().iter().map(|(_, block)| block.len).sum();
        assert_eq!(covered as usize, text.len(), "{text:?}");
        let fresh = Units::of(&whole, &["adapters"], None);
        let keys = |units: &Units| -> Vec<_> {
            units
                .iter()
                .map(|unit| (unit.key.clone(), unit.faults.len(), unit.item.keys.len()))
                .collect()
        };
        assert_eq!(keys(&units), keys(&fresh), "{text:?}");
    }
}

/// Line indexes: any range in any encoding, as a client may send it.
pub fn text_edits(data: &[u8]) {
    for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
        let (mut text, edits) = text_and_edits(data);
        let mut index = LineIndex::new(&text);
        for edit in edits.each() {
            let lines = index.line_count() as usize + 1;
            let place =
                |number: usize| Position::new((number / 64 % lines) as u32, (number % 64) as u32);
            let range = (place(edit.number(0)), place(edit.number(2)));
            let before = text.clone();
            let with = edit.inserted();
            let change = text::apply(
                &mut text,
                &mut index,
                text::Edit {
                    range: Some(range),
                    text: with.clone(),
                },
                encoding,
            );
            let (start, old_end) = (change.start as usize, change.old_end as usize);
            assert_eq!(
                text,
                format!("{}{with}{}", &before[..start], &before[old_end..])
            );
            assert_eq!(change.new_end as usize, start + with.len());
            assert_eq!(index, LineIndex::new(&text), "{text:?}");
        }
        for (offset, _) in text.char_indices().take(256) {
            let position = index.position(&text, offset as u32, encoding);
            let back = index.offset(&text, position, encoding) as usize;
            // A line break of two characters is one place.
            assert!(
                back == offset
                    || text
                        .get(back..)
                        .is_some_and(|rest| rest.starts_with("\r\n")),
                "{offset} {position:?} {back} {text:?}"
            );
        }
    }
}

fn checked(source: &Arc<Source>, shared: &Arc<Source>, before: Option<&Checked>) -> Checked {
    let layer = |kind: LayerKind, source: &Arc<Source>| LayerSource {
        kind,
        path: PathBuf::from(format!("{kind}.toml")),
        source: Some(Arc::clone(source)),
        fault: None,
    };
    let mut layers = vec![
        layer(LayerKind::User, source),
        layer(LayerKind::Shared, shared),
    ];
    layers.sort_by_key(|layer| layer.kind);
    let stack = Stack {
        layers,
        trust: Trust::Untrusted,
    };
    let severities = Severities::new();
    let subject = Subject {
        source,
        layer: Some((LayerKind::User, &stack)),
        severities: &severities,
        fault: None,
    };
    Checked::of(&subject, before)
}

/// Checks: from an earlier outcome they say what they say from nothing.
pub fn units_check(data: &[u8]) {
    let (mut text, edits) = text_and_edits(data);
    let shared = Arc::new(Source::parse(SHARED));
    let mut source = Arc::new(Source::parse(&*text));
    let mut outcome = checked(&source, &shared, None);
    for edit in edits.each().take(2) {
        let edit = edit.placed(&text);
        text = edit.applied(&text);
        let (start, end) = (edit.start as u32, edit.end as u32);
        source = Arc::new(source.edited(&*text, start, end, start + edit.with.len() as u32));
        outcome = checked(&source, &shared, Some(&outcome));
        let fresh = checked(&Arc::new(Source::parse(&*text)), &shared, None);
        assert_eq!(outcome.diagnostics(), fresh.diagnostics(), "{text:?}");
        well_formed(outcome.diagnostics(), &text);
    }
}

fn well_formed(diagnostics: &[Diagnostic], text: &str) {
    assert!(diagnostics.len() <= MAX_DIAGNOSTICS);
    let mut last = None;
    for one in diagnostics {
        let range = one.range.start as usize..one.range.end as usize;
        assert!(text.get(range).is_some(), "{one:?} in {text:?}");
        let place = (one.range, one.code);
        assert!(
            last < Some(place),
            "twice or out of order: {one:?} in {text:?}"
        );
        last = Some(place);
        for (range, _) in one.fix.iter().flat_map(|fix| &fix.edits) {
            let range = range.start as usize..range.end as usize;
            assert!(text.get(range).is_some(), "{one:?} in {text:?}");
        }
    }
}

/// A layer beside the one that is checked.
const SHARED: &str = r#"
[vars]
team = "core"

[adapters.notes]
driver = "mcp"
command = ["notes-mcp"]
expose = ["find"]

[adapters.wiki]
driver = "http"
base_url = "https://wiki.example"

[adapters.wiki.ops.search]
path = "/find"
query = { q = "{{query}}" }
"#;
