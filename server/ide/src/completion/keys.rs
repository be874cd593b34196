//! Keys: the fields of a table, and names in tables whose keys the person chooses.

use kontext_config::schema::{self, Driver, FieldSpec, KeyKind, OpenKeys, Required};
use kontext_syntax::toml::write;

use super::headers::{self, fits_driver};
use super::snippet::{Draft, assignment, empty_value};
use super::surroundings::Surroundings;
use super::{ItemKind, Offer, key_doc, names, table_at};
use crate::locate::KeyAt;

/// What fits where a key stands or may stand.
pub(super) fn complete(offer: &mut Offer<'_>, around: &Surroundings<'_>, at: &KeyAt<'_>) {
    offer.range = at.part;
    let quotes = offer
        .text
        .get(at.part.start as usize..)
        .is_some_and(|rest| !at.part.is_empty() && rest.starts_with(['"', '\'']));
    // Only the name is put in where the rest of the entry is there already.
    let name_only = !at.last || at.entry.is_some_and(|entry| entry.equals.is_some());
    let shape = Shape { quotes, name_only };
    if at.table.is_empty() && !at.inline {
        headers::lines(offer, around, at);
        return;
    }
    if let Some(table) = table_at(&at.table) {
        for field in table.fields {
            if !at.given.contains(&field.name) && fits_driver(field, around) {
                offer_field(offer, around, at, field, shape);
            }
        }
    }
    let found = schema::lookup(&at.table);
    if let Some(open) = found.and_then(|found| found.kind().open_keys()) {
        offer_open(offer, around, at, open, shape);
    }
    if at.key.is_none() && at.dotted == 0 && !at.inline {
        headers::lines(offer, around, at);
    }
}

#[derive(Clone, Copy)]
struct Shape {
    quotes: bool,
    name_only: bool,
}

fn offer_field(
    offer: &mut Offer<'_>,
    around: &Surroundings<'_>,
    at: &KeyAt<'_>,
    field: &'static FieldSpec,
    shape: Shape,
) {
    let group = match field.required {
        Required::Here => 0,
        // Other layers may have given it already.
        Required::Merged if at.table.len() > 2 || !around.has(field.name) => 0,
        _ if at.table.len() == 2 && is_target(around, field.name) => 1,
        _ => 2,
    };
    let draft = if shape.name_only {
        Draft::new(field.name)
    } else {
        assignment(field.name, field)
    };
    let item = offer.add(group, ItemKind::Field, field.name, &draft);
    let mut detail = field.kind.to_string().replace('`', "");
    if group == 0 {
        detail.push_str(", required");
    } else if let Some(default) = field.default {
        detail.push_str(&format!(", default {default}"));
    }
    item.detail(detail).doc(key_doc(&at.table, field.name));
    item.preselect = group == 0 && field.name == "driver";
    if shape.quotes {
        item.filter(format!("\"{}\"", field.name));
    }
}

/// Whether the field says what is started or called, and nothing does so yet.
fn is_target(around: &Surroundings<'_>, name: &str) -> bool {
    let targets: &[&str] = match around.driver {
        Some(Driver::Mcp) => &["command", "url"],
        Some(Driver::Http) => &["base_url", "url"],
        Some(Driver::Command) => &["command"],
        None => &[],
    };
    targets.contains(&name) && !targets.iter().any(|target| around.has(target))
}

fn offer_open(
    offer: &mut Offer<'_>,
    around: &Surroundings<'_>,
    at: &KeyAt<'_>,
    open: &'static OpenKeys,
    shape: Shape,
) {
    let adapters = open.key == KeyKind::AdapterName;
    let found = {
        let wanted =
            |name: &str| offer.fits(name) && (adapters && !at.inline || !at.given.contains(&name));
        names::keys(around, open, &at.table, wanted)
    };
    for name in found {
        let kind = match open.key {
            KeyKind::AdapterName => ItemKind::Adapter,
            KeyKind::OpName => ItemKind::Op,
            KeyKind::EnvName => ItemKind::EnvVar,
            KeyKind::Code => ItemKind::Code,
            _ => ItemKind::Key,
        };
        let written = write::key(name);
        let draft = if shape.name_only {
            Draft::new(written)
        } else if adapters && !at.inline {
            Draft::new(format!("{written}."))
        } else if name == "*" {
            Draft::new(format!("{written} = true"))
        } else {
            Draft::new(format!("{written} = ")).then(empty_value(&open.kind, None))
        };
        let known = open.known(name);
        let item = offer.add(if known.is_some() { 3 } else { 4 }, kind, name, &draft);
        if let Some(known) = known {
            item.detail(super::first_sentence(known.doc));
        }
        item.doc(match open.key {
            KeyKind::Code => super::DocRef::Code(name.to_owned()),
            _ => key_doc(&at.table, name),
        });
        if shape.quotes {
            item.filter(format!("\"{name}\""));
        }
    }
    offer_inputs(offer, around, at, open, shape);
}

/// Arguments and parameters under the names of the op's inputs, each handed on as it is.
fn offer_inputs(
    offer: &mut Offer<'_>,
    around: &Surroundings<'_>,
    at: &KeyAt<'_>,
    open: &'static OpenKeys,
    shape: Shape,
) {
    let ["adapters", _, "ops", op, ..] = at.table.as_slice() else {
        return;
    };
    if !matches!(open.key, KeyKind::ToolArgument | KeyKind::QueryParameter) || shape.name_only {
        return;
    }
    for input in around.inputs_of(op) {
        let name = input.name();
        if name.contains('.') || at.given.contains(&name) {
            continue;
        }
        let draft = Draft::new(format!("{} = \"{{{{{name}}}}}\"", write::key(name)));
        let item = offer.add(5, ItemKind::Key, name, &draft);
        item.detail(format!("the input {name}, handed on"));
        item.doc(super::DocRef::Input((*op).to_owned(), name.to_owned()));
        if shape.quotes {
            item.filter(format!("\"{name}\""));
        }
    }
}
