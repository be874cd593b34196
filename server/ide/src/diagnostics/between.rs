//! What only shows between adapters: tools with one name, overlapping URIs.

use std::sync::Arc;

use indexmap::IndexMap;
use kontext_config::codes::Code;
use kontext_config::layer::LayerKind;
use kontext_config::source::Source;
use kontext_syntax::toml::{Node, NodeKind, Span, Unit};
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::Subject;
use super::context::field;
use crate::finding::{Finding, Place, Related};

/// A text and where it is written.
type Written = (Box<str>, Span);

/// What one adapter of one layer shows to the others. Kept with the unit.
#[derive(Debug, Default)]
pub(super) struct Exports {
    /// Names of declared tools; `None` where the layer does not say (arrays are replaced whole).
    tools: Option<Vec<Written>>,
    /// By op: the beginnings of URIs it reads.
    owns: Vec<(Box<str>, Vec<Written>)>,
    /// What the layer says about `enabled`.
    enabled: Option<bool>,
}

impl Exports {
    /// What an adapter's unit shows; `None` where that is nothing.
    pub(super) fn of(unit: &Unit) -> Option<Self> {
        unit.key.name.as_ref()?;
        let node = &unit.item.node;
        let named = |tool: &Node| {
            let name = field(tool, "name")?;
            Some((name.as_str()?.into(), name.span))
        };
        let prefix = |node: &Node| Some((node.as_str()?.into(), node.span));
        let tools = field(node, "tools").and_then(Node::as_array);
        let ops = field(node, "ops").and_then(Node::as_table);
        let exports = Self {
            tools: tools.map(|tools| tools.iter().filter_map(named).collect()),
            owns: ops
                .into_iter()
                .flat_map(|ops| &ops.items)
                .filter_map(|(op, item)| {
                    let owns = field(&item.node, "owns")?.as_array()?;
                    Some((op.as_str().into(), owns.iter().filter_map(prefix).collect()))
                })
                .collect(),
            enabled: match field(node, "enabled").map(|node| &node.kind) {
                Some(NodeKind::Boolean(enabled)) => Some(*enabled),
                _ => None,
            },
        };
        let is_empty =
            exports.tools.is_none() && exports.owns.is_empty() && exports.enabled != Some(false);
        (!is_empty).then_some(exports)
    }

    fn owns(&self, op: &str) -> bool {
        self.owns.iter().any(|(name, _)| &**name == op)
    }
}

/// What all adapters of another layer show.
#[derive(Debug)]
pub(super) struct LayerExports {
    /// Whose they are; the same source has the same ones.
    pub(super) source: Arc<Source>,
    adapters: IndexMap<Box<str>, Exports, FxBuildHasher>,
}

impl LayerExports {
    pub(super) fn of(source: &Arc<Source>) -> Self {
        let adapters = source
            .units
            .names("adapters")
            .filter_map(|(name, unit)| Some((name.into(), Exports::of(unit)?)))
            .collect();
        Self {
            source: Arc::clone(source),
            adapters,
        }
    }
}

/// Another layer that takes part, with what it shows.
struct Other<'a> {
    layer: LayerKind,
    path: &'a std::path::Path,
    exports: &'a LayerExports,
}

/// Who has a name or a prefix already.
struct Holder<'a> {
    adapter: &'a str,
    place: Place<Span>,
}

/// Checks the adapters of a file against each other and against those of the layers below it.
/// `own`: what they show, in the order of the file. `others`: the other layers, ascending.
pub(super) fn findings<'a>(
    subject: &Subject<'a>,
    own: &[(&'a str, &'a Exports)],
    others: &'a [(LayerKind, Arc<LayerExports>)],
) -> Vec<Finding> {
    let position = subject.layer.map_or(LayerKind::User, |(layer, _)| layer);
    let others: Vec<Other<'a>> = others
        .iter()
        .filter_map(|(layer, exports)| {
            let (_, stack) = subject.layer?;
            // What is not in force changes nothing for a personal file.
            if *layer == LayerKind::Shared && !stack.trust.is_trusted() {
                return None;
            }
            let path = &stack.layers.iter().find(|one| one.kind == *layer)?.path;
            Some(Other {
                layer: *layer,
                path,
                exports,
            })
        })
        .collect();
    let mine: FxHashMap<&str, &Exports> = match others.as_slice() {
        [] => FxHashMap::default(),
        _ => own.iter().copied().collect(),
    };
    let in_layer = |other: &Other<'a>, name: &str| other.exports.adapters.get(name);
    // Whether a layer above `from` says something in its place.
    let replaced = |name: &str, from: LayerKind, says: &dyn Fn(&Exports) -> bool| {
        (from < position && mine.get(name).is_some_and(|exports| says(exports)))
            || others
                .iter()
                .filter(|other| other.layer > from)
                .any(|other| in_layer(other, name).is_some_and(says))
    };
    let is_on = |name: &str, exports: &Exports, from: LayerKind| {
        let says = |enabled: bool| move |above: &Exports| above.enabled == Some(enabled);
        match exports.enabled {
            Some(false) => replaced(name, from, &says(true)),
            _ => !replaced(name, from, &says(false)),
        }
    };

    let mut findings = Vec::new();
    let mut tools: FxHashMap<&str, Holder<'_>> = FxHashMap::default();
    let mut owns: FxHashMap<&str, Holder<'_>> = FxHashMap::default();
    let below = others
        .iter()
        .filter(|other| other.layer < position)
        .flat_map(|other| {
            other
                .exports
                .adapters
                .iter()
                .map(move |(name, exports)| (other.layer, Some(other.path), &**name, exports))
        });
    let here = own
        .iter()
        .map(|(name, exports)| (position, None, *name, *exports));
    for (layer, path, name, exports) in below.chain(here) {
        if !is_on(name, exports, layer) {
            continue;
        }
        let place = |span: Span| match path {
            Some(path) => Place::There(path.to_owned(), span),
            None => Place::Here(span),
        };
        let says_tools = |above: &Exports| above.tools.is_some();
        let declared = exports.tools.as_deref().unwrap_or_default();
        if !declared.is_empty() && !replaced(name, layer, &says_tools) {
            for (tool, span) in declared {
                match tools.get(&**tool) {
                    Some(holder) if path.is_none() => {
                        findings.push(duplicate_tool(tool, *span, holder));
                    }
                    Some(_) => {}
                    None => {
                        tools.insert(
                            tool,
                            Holder {
                                adapter: name,
                                place: place(*span),
                            },
                        );
                    }
                }
            }
        }
        for (op, prefixes) in &exports.owns {
            if replaced(name, layer, &|above| above.owns(op)) {
                continue;
            }
            for (prefix, span) in prefixes {
                match owns.get(&**prefix) {
                    Some(holder) if path.is_none() && holder.adapter != name => {
                        findings.push(overlap(prefix, *span, holder));
                    }
                    Some(_) => {}
                    None => {
                        owns.insert(
                            prefix,
                            Holder {
                                adapter: name,
                                place: place(*span),
                            },
                        );
                    }
                }
            }
        }
    }
    findings
}

fn duplicate_tool(tool: &str, span: Span, holder: &Holder<'_>) -> Finding {
    let message = format!(
        "a tool `{}` is declared already by the adapter `{}`, which keeps the name: rename this one",
        tool.escape_debug(),
        holder.adapter.escape_debug()
    );
    beside(Code::DuplicateTool, span, message, holder)
}

fn overlap(prefix: &str, span: Span, holder: &Holder<'_>) -> Finding {
    let message = format!(
        "URIs that begin with `{}` are read by the adapter `{}`, which comes first: make one of the two longer, or delete this one",
        prefix.escape_debug(),
        holder.adapter.escape_debug()
    );
    beside(Code::OwnsOverlap, span, message, holder)
}

fn beside(code: Code, span: Span, message: String, holder: &Holder<'_>) -> Finding {
    let related = Related {
        place: holder.place.clone(),
        message: "first here".to_owned(),
    };
    Finding {
        code,
        span,
        message,
        related: vec![related],
        fix: None,
    }
}
