//! Table headers: `[adapters.x]`, `[adapters.x.ops.search]`, `[[adapters.x.on]]`.

use kontext_config::schema::{FieldSpec, Kind};
use kontext_syntax::toml::write;

use super::snippet::Draft;
use super::surroundings::Surroundings;
use super::{ItemKind, Offer, first_sentence, key_doc, names, table_at};
use crate::locate::{HeaderAt, KeyAt};

/// What fits between the brackets of a header.
pub(super) fn complete(offer: &mut Offer<'_>, around: &Surroundings<'_>, at: &HeaderAt<'_>) {
    offer.range = at.part;
    let last = at.index + 1 >= at.keys.len();
    // What is missing at the end of a name that is complete.
    let missing = match (last, at.array) {
        (false, _) => "",
        (true, false) if at.closing == 0 => "]",
        (true, true) if at.closing == 0 => "]]",
        (true, true) if at.closing == 1 => "]",
        _ => "",
    };
    let onward = if last { "." } else { "" };
    let given = |name: &str| at.given.contains(&name);
    if let Some(table) = table_at(&at.before) {
        for field in table
            .fields
            .iter()
            .filter(|field| fits_driver(field, around))
        {
            let list = matches!(field.kind, Kind::ArrayOfTables(_));
            let (fits, behind) = match form(&field.kind) {
                Form::None => (false, ""),
                Form::Names => (!at.array || has_lists(&field.kind), onward),
                Form::Table => (!at.array && !given(field.name), missing),
                Form::List => (at.array, missing),
            };
            // Tables below an element of a list keep single brackets.
            let below = list && !at.array && given(field.name);
            if !fits && !below {
                continue;
            }
            let behind = if below { onward } else { behind };
            let draft = Draft::new(format!("{}{behind}", field.name));
            offer
                .add(0, ItemKind::Header, field.name, &draft)
                .detail(first_sentence(field.doc))
                .doc(key_doc(&at.before, field.name));
        }
    }
    let open = kontext_config::schema::lookup(&at.before)
        .filter(|_| !at.before.is_empty())
        .and_then(|found| found.kind().open_keys());
    if let Some(open) = open
        && open.kind.table().is_some()
    {
        let adapters = at.before.len() == 1;
        let found = {
            let wanted = |name: &str| offer.fits(name) && (adapters || !given(name));
            names::keys(around, open, &at.before, wanted)
        };
        let quotes = offer.typed().starts_with(['"', '\'']);
        for name in found {
            let kind = if adapters {
                ItemKind::Adapter
            } else {
                ItemKind::Op
            };
            // An adapter that has its header already can only go on to a table below it.
            let behind = if at.array || adapters && given(name) {
                onward
            } else {
                missing
            };
            let draft = Draft::new(format!("{}{behind}", write::key(name)));
            let known = open.known(name);
            let item = offer.add(u8::from(known.is_none()), kind, name, &draft);
            if quotes {
                item.filter(format!("\"{name}\""));
            }
            if let Some(known) = known {
                item.detail(first_sentence(known.doc));
            }
            item.doc(key_doc(&at.before, name));
        }
    }
}

/// Whole header lines, where a statement may begin: at the top of the file each described table,
/// below a header the tables of the same adapter.
pub(super) fn lines(offer: &mut Offer<'_>, around: &Surroundings<'_>, at: &KeyAt<'_>) {
    let (before, given): (Vec<&str>, Vec<&str>) = match at.table.as_slice() {
        [] => (Vec::new(), at.given.clone()),
        ["adapters", name, ..] => {
            let own = crate::locate::node_at(around.source, &["adapters", name], offer.offset);
            let table = own.and_then(|node| node.as_table());
            let names = table.into_iter().flat_map(|table| table.items.keys());
            (vec!["adapters", name], names.map(|name| &**name).collect())
        }
        _ => return,
    };
    let Some(table) = table_at(&before) else {
        return;
    };
    let lead: String = before
        .iter()
        .map(|part| format!("{}.", write::key(part)))
        .collect();
    let typed = !offer.typed().is_empty();
    for field in table
        .fields
        .iter()
        .filter(|field| fits_driver(field, around))
    {
        let (open, close) = match form(&field.kind) {
            Form::None => continue,
            Form::Table if given.contains(&field.name) => continue,
            Form::Table | Form::Names => ("[", "]"),
            Form::List => ("[[", "]]"),
        };
        let mut draft = Draft::new(format!("{open}{lead}{}", field.name));
        let mut label = format!("{open}{lead}{}", field.name);
        if let (Form::Names, Some(keys)) = (form(&field.kind), field.kind.open_keys()) {
            let taken = around.members(field.name);
            let mut known = keys.known.iter().map(|known| known.name);
            let first = known.find(|name| !taken.contains(name));
            let first = first.unwrap_or(keys.placeholder);
            draft = draft.text(".").stop(first);
            label.push_str(".…");
        }
        let label = format!("{label}{close}");
        let item = offer.add(8, ItemKind::Header, label, &draft.text(close));
        item.detail(first_sentence(field.doc))
            .doc(key_doc(&before, field.name));
        if typed {
            item.filter(field.name);
        }
    }
}

/// How a field is written as a header.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// It is none.
    None,
    /// `[…field]`
    Table,
    /// `[…field.NAME]`: each member is a table.
    Names,
    /// `[[…field]]`
    List,
}

fn form(kind: &Kind) -> Form {
    match kind {
        Kind::Map(open) if open.kind.table().is_some() => Form::Names,
        Kind::Table(_) | Kind::Map(_) | Kind::JsonSchema | Kind::Any(_) => Form::Table,
        Kind::ArrayOfTables(_) => Form::List,
        Kind::Either(kinds) => {
            let tables = kinds.iter().map(form).find(|form| *form != Form::None);
            tables.unwrap_or(Form::None)
        }
        _ => Form::None,
    }
}

/// Whether the tables of a table of tables have arrays of tables in them.
fn has_lists(kind: &Kind) -> bool {
    let members = kind.open_keys().and_then(|open| open.kind.table());
    members.is_some_and(|table| {
        let mut fields = table.fields.iter();
        fields.any(|field| form(&field.kind) == Form::List)
    })
}

/// Whether the adapter's driver uses a field, or may.
pub(super) fn fits_driver(field: &FieldSpec, around: &Surroundings<'_>) -> bool {
    around
        .driver
        .is_none_or(|driver| field.drivers.contains(driver))
}
