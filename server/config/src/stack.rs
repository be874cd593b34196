//! The layers of one workspace, and what they give together.

use std::path::PathBuf;
use std::sync::Arc;

use indexmap::IndexMap;
use kontext_syntax::toml::{Item, NodeKind, Unit};
use rustc_hash::FxBuildHasher;

use crate::eval::Vars;
use crate::facts::Trust;
use crate::layer::LayerKind;
use crate::merge::{Merged, merge};
use crate::model::Adapter;
use crate::schema::{self, Kind};
use crate::source::Source;

/// One layer: its file, and the text of it where it could be read.
#[derive(Clone, Debug)]
pub struct LayerSource {
    /// Which layer it is.
    pub kind: LayerKind,
    /// Its file.
    pub path: PathBuf,
    /// Its text. `None`: the file is not there or cannot be read.
    pub source: Option<Arc<Source>>,
    /// Why it cannot be read; `None` where it is not there.
    pub fault: Option<String>,
}

/// All layers, and whether the shared one counts.
#[derive(Clone, Debug, Default)]
pub struct Stack {
    /// The layers, lowest precedence first.
    pub layers: Vec<LayerSource>,
    /// Whether the shared layer is trusted.
    pub trust: Trust,
}

/// Which layers are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// All: what an editor shows, and what the question of trust is about.
    Shown,
    /// Without a shared layer that is not trusted: what runs.
    InForce,
}

/// Where each adapter is written: by name, in configuration order; the items of an adapter with
/// their layer's index, lowest first.
pub(crate) type Places<'a> = IndexMap<&'a str, Vec<(usize, &'a Item)>, FxBuildHasher>;

const ADAPTERS: &str = "adapters";

impl Stack {
    /// The names of all adapters in configuration order: the order of first appearance, lowest
    /// layer first. A name that nothing is written under yet is left out.
    pub fn adapter_names(&self) -> Vec<&str> {
        self.places().into_keys().collect()
    }

    /// The layers (by index, lowest first) that write about an adapter. The unit is that of the
    /// adapter's name; where a layer writes `adapters = { … }` in one piece, it is the unit of
    /// that whole table.
    pub fn adapter_layers(&self, name: &str) -> Vec<(usize, &Arc<Unit>)> {
        self.sources()
            .filter_map(|(at, source)| {
                let whole = || {
                    let unit = source.units.top(ADAPTERS)?;
                    unit.item.node.get(name).map(|_| unit)
                };
                let unit = source.units.named(ADAPTERS, name).or_else(whole)?;
                Some((at, unit))
            })
            .collect()
    }

    /// An adapter as the layers of the view give it together, with the origin of each value.
    /// `None` where none of them writes about it.
    pub fn merged(&self, name: &str, view: View) -> Option<Merged<'_>> {
        let items = self.sources().filter(|(at, _)| self.counts(*at, view));
        let items = items.filter_map(|(at, source)| {
            let named = source.units.named(ADAPTERS, name).map(|unit| &unit.item);
            let whole = || source.units.top(ADAPTERS)?.item.node.get(name);
            Some((at, named.or_else(whole)?))
        });
        merge(items, adapter_kind())
    }

    /// The typed model of an adapter, the global variables and the project's name known to its
    /// conditions.
    pub fn adapter(&self, name: &str, view: View) -> Option<Adapter> {
        let merged = self.merged(name, view)?;
        let mut adapter = Adapter::from_merged(name, &merged);
        if adapter.when.has_templates() {
            let globals = Arc::new(self.global_vars(view));
            adapter.when.set_globals(globals, self.project_name());
        }
        Some(adapter)
    }

    /// The top-level `[vars]` of the view; values that are no strings are left out.
    pub fn global_vars(&self, view: View) -> Vars {
        let merged = self.merged_top_in("vars", view);
        let members = merged.as_ref().and_then(Merged::members);
        members
            .into_iter()
            .flatten()
            .filter_map(|(name, value)| Some(((*name).to_owned(), value.as_str()?.to_owned())))
            .collect()
    }

    /// `project.name`, where a layer in force sets it to something that is not blank.
    pub fn project_name(&self) -> Option<&str> {
        self.in_force_text("project", "name")
    }

    /// `store.dir` as it stands in the layers in force; `None` where none sets it to something
    /// that is not blank. Where the shared layer lies depends on it: who looks for that layer
    /// asks a stack without one.
    pub fn store_dir(&self) -> Option<&str> {
        self.in_force_text("store", "dir")
    }

    /// What a top-level key has for its effective value: `companion` of personal layers only, any
    /// other of the layers in force. Not for `adapters`, which are taken one by one.
    pub fn merged_top(&self, key: &str) -> Option<Merged<'_>> {
        self.merged_top_in(key, View::InForce)
    }

    /// A top-level key as the layers of the view give it together; see [`Self::merged_top`].
    pub fn merged_top_in(&self, key: &str, view: View) -> Option<Merged<'_>> {
        let kind = schema::root().child(key).map(|found| found.kind());
        let personal = key == "companion";
        let items = self
            .sources()
            .filter(|(at, _)| self.counts(*at, view) && !(personal && self.is_shared(*at)))
            .filter_map(|(at, source)| Some((at, &source.units.top(key)?.item)));
        merge(items, kind)
    }

    /// Whether a layer, by index, takes part in the view.
    pub fn counts(&self, layer: usize, view: View) -> bool {
        match view {
            View::Shown => layer < self.layers.len(),
            View::InForce => self.trust.is_trusted() || !self.is_shared(layer),
        }
    }

    /// Which layer an index stands for.
    pub fn layer_kind(&self, layer: usize) -> Option<LayerKind> {
        self.layers.get(layer).map(|layer| layer.kind)
    }

    /// Where each adapter is written, over all layers.
    pub(crate) fn places(&self) -> Places<'_> {
        let mut places = Places::default();
        for (at, source) in self.sources() {
            for unit in source
                .units
                .iter()
                .filter(|unit| &*unit.key.top == ADAPTERS)
            {
                let (named, whole) = match (&unit.key.name, unit.item.node.as_table()) {
                    (Some(name), _) => (Some((&**name, &unit.item)), None),
                    (None, table) => (None, table),
                };
                let members = whole.into_iter().flat_map(|table| &table.items);
                let members = members.map(|(name, item)| (&**name, item));
                for (name, item) in named.into_iter().chain(members) {
                    let written = !matches!(item.node.kind, NodeKind::Invalid);
                    let items: &mut Vec<_> = match places.get_mut(name) {
                        Some(items) => items,
                        None if written => places.entry(name).or_default(),
                        None => continue,
                    };
                    // A name in both forms is a clash; the first one counts.
                    if written && items.last().is_none_or(|(last, _)| *last != at) {
                        items.push((at, item));
                    }
                }
            }
        }
        places
    }

    fn sources(&self) -> impl Iterator<Item = (usize, &Source)> {
        let layers = self.layers.iter().enumerate();
        layers.filter_map(|(at, layer)| Some((at, &**layer.source.as_ref()?)))
    }

    fn is_shared(&self, layer: usize) -> bool {
        self.layer_kind(layer)
            .is_some_and(|kind| !kind.is_personal())
    }

    fn in_force_text(&self, table: &str, key: &str) -> Option<&str> {
        // The text lives in the documents, not in the merge of this moment.
        let text: Option<&str> = self.merged_top(table)?.get(key)?.as_str();
        text.map(str::trim).filter(|text| !text.is_empty())
    }
}

/// What the table of fields says about an adapter.
pub(crate) fn adapter_kind() -> Option<&'static Kind> {
    schema::lookup(&[ADAPTERS, ""]).map(|found| found.kind())
}
