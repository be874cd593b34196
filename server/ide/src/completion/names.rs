//! Names that people chose, and those they may choose.

use kontext_config::schema::{KeyKind, OpenKeys};

use super::MAX_NAMES;
use super::surroundings::Surroundings;

/// Headers that requests often carry.
const HEADERS: &[&str] = &["Accept", "Authorization", "Content-Type", "User-Agent"];

/// Names worth offering as keys of a table whose keys the person chooses: the well-known ones
/// first. `wanted` says which are worth it; at most [`MAX_NAMES`].
pub(super) fn keys<'a>(
    around: &Surroundings<'a>,
    open: &'static OpenKeys,
    path: &[&str],
    wanted: impl Fn(&str) -> bool,
) -> Vec<&'a str> {
    let mut names: Vec<&'a str> = Vec::new();
    let known = open.known.iter().map(|known| known.name);
    names.extend(known.filter(|name| wanted(name)));
    let mut more = |all: &mut dyn Iterator<Item = &'a str>| {
        for name in all {
            if names.len() >= MAX_NAMES {
                break;
            }
            if wanted(name) && !names.contains(&name) {
                names.push(name);
            }
        }
    };
    match open.key {
        KeyKind::AdapterName => return adapters(around, wanted),
        KeyKind::OpName => {
            more(&mut around.named_ops().into_iter());
            more(&mut around.members("ops").into_iter());
        }
        KeyKind::VarName => {
            if path.first() == Some(&"adapters") {
                more(&mut around.members("vars").into_iter());
            } else {
                more(&mut around.vars().into_iter());
            }
        }
        KeyKind::EnvName => more(&mut around.env_names()),
        KeyKind::HeaderName => more(&mut HEADERS.iter().copied()),
        KeyKind::Code => {
            let codes = kontext_config::codes::Code::ALL.iter();
            more(&mut codes.map(|code| code.id()));
        }
        KeyKind::QueryParameter
        | KeyKind::ToolArgument
        | KeyKind::ToolParameter
        | KeyKind::ResultPath
        | KeyKind::Free => {}
    }
    names
}

/// The adapters of all layers that are worth offering, this file's first; at most [`MAX_NAMES`].
pub(super) fn adapters<'a>(
    around: &Surroundings<'a>,
    wanted: impl Fn(&str) -> bool,
) -> Vec<&'a str> {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut names = Vec::new();
    for source in around.sources() {
        let units = &source.units;
        let whole = units
            .top("adapters")
            .and_then(|unit| unit.item.node.as_table());
        let inside = whole
            .into_iter()
            .flat_map(|table| table.items.keys().map(|name| &**name));
        for name in units.names("adapters").map(|(name, _)| name).chain(inside) {
            if names.len() >= MAX_NAMES {
                return names;
            }
            if !name.is_empty() && wanted(name) && seen.insert(name) {
                names.push(name);
            }
        }
    }
    names
}
