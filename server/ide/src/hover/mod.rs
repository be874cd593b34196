//! Hover: what the thing under the cursor means, and what holds for it now.

pub(crate) mod field;
mod template;
mod when;

use kontext_config::codes::Code;
use kontext_config::schema::{self, StringKind};
use kontext_syntax::TextRange;

use crate::doc::{Doc, Line};
use crate::locate::{Located, ValueAt, locate};
use crate::scene::Scene;
use crate::snapshot::{File, Snapshot};

/// What is shown at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// What it is about, in bytes of the text.
    pub range: TextRange,
    /// For clients that render Markdown.
    pub markdown: String,
    /// The same without markup.
    pub plaintext: String,
}

/// What there is to say about the place `offset` (bytes) of a file. Values of the environment are
/// never in it, nor are what looks like a secret or the values of headers.
pub fn hover(snapshot: &Snapshot, file: &File, offset: u32) -> Option<Hover> {
    let mut doc = Doc::default();
    let scene = || Scene::of(snapshot, file);
    let range = match locate(&file.source, offset) {
        Located::Header(at) => {
            let key = at.keys.get(at.index)?;
            let mut path = at.before.clone();
            path.push(&key.text);
            key_doc(&mut doc, &scene(), &path);
            at.part
        }
        Located::Key(at) => {
            let key = at.key?;
            let mut path = at.table.clone();
            path.push(&key.text);
            key_doc(&mut doc, &scene(), &path);
            at.part
        }
        Located::Value(at) => value_doc(&mut doc, &scene(), &at)?,
        Located::Comment | Located::Nowhere => return None,
    };
    let (markdown, plaintext) = (doc.markdown(), doc.plain());
    (!markdown.is_empty()).then_some(Hover {
        range,
        markdown,
        plaintext,
    })
}

fn key_doc(doc: &mut Doc, scene: &Scene<'_>, path: &[&str]) {
    match path {
        ["adapters", name] => field::adapter(doc, scene, name),
        ["adapters", _, "ops", op] => field::op(doc, op),
        ["companion", "severity", code] if Code::parse(code).is_some() => {
            if let Some(code) = Code::parse(code) {
                field::code(doc, code);
            }
            field::effective(doc, scene, path);
        }
        _ => {
            let Some(found) = schema::lookup(path) else {
                return;
            };
            let Some(last) = path.last() else { return };
            field::described(doc, last, &found);
            match path {
                ["adapters", name, "when"] => when::verdicts(doc, scene, name, None, None),
                ["adapters", name, "when", key] => {
                    when::verdicts(doc, scene, name, Some(key), None);
                }
                _ => {}
            }
            field::effective(doc, scene, path);
        }
    }
}

fn value_doc(doc: &mut Doc, scene: &Scene<'_>, at: &ValueAt<'_>) -> Option<TextRange> {
    let path = at.path.as_slice();
    let string = at.string.as_ref();
    let kind = at.kind.and_then(schema::Kind::string_kind);
    if let (Some(string), Some(kind)) = (string, kind) {
        let part = template::part(doc, scene, path, &string.text, string.cursor, kind);
        if let Some(range) = part {
            return Some(string.source(range));
        }
    }
    if let (["adapters", name, "when", key], Some(string)) = (path, string) {
        when::verdicts(doc, scene, name, Some(key), Some(&string.text));
        return Some(at.range);
    }
    if let (Some(string), Some(StringKind::OpName)) = (string, kind) {
        field::op(doc, &string.text);
        return Some(at.range);
    }
    if let (Some(string), Some(StringKind::AdapterName)) = (string, kind) {
        field::adapter(doc, scene, &string.text);
        return Some(at.range);
    }
    if let (Some(string), Some(StringKind::EnvName), Some(facts)) = (string, kind, scene.facts) {
        let state = template::env(&facts.env, &string.text);
        doc.paragraph(Line::name(&*string.text).then(format!(": {state}")));
        return Some(at.range);
    }
    at.value?;
    let found = schema::lookup(path)?;
    if let (Some(string), Some(kind)) = (string, at.kind) {
        field::enum_value(doc, kind, &string.text);
    }
    field::described(doc, path.last()?, &found);
    field::effective(doc, scene, path);
    Some(at.range)
}
