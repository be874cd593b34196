//! The names that the checks of a unit may look at beyond the unit.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use kontext_config::source::Source;
use kontext_syntax::toml::Unit;
use rustc_hash::FxHasher;

use super::{Other, Subject};

/// Names of all layers together, and hashes that tell whether they are still the same.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Names in the top-level `[vars]`.
    pub(super) vars: BTreeSet<String>,
    /// Names of adapters; empty where no unit of the file may name one.
    pub(super) adapters: BTreeSet<String>,
    vars_hash: u64,
    adapters_hash: u64,
}

/// Whether a unit may name adapters: only `[companion]` does.
pub(super) fn may_name_adapters(unit: &Unit) -> bool {
    unit.key.name.is_none() && &*unit.key.top == "companion"
}

impl Names {
    /// Gathers them; `before` where they are the same as then.
    pub(super) fn of(
        subject: &Subject<'_>,
        others: &[Other<'_>],
        before: Option<&Arc<Self>>,
    ) -> Arc<Self> {
        let sources = || {
            let others = others.iter().map(|(_, source)| &***source);
            std::iter::once(&**subject.source).chain(others)
        };
        let named = |source: &Source| -> bool { source.units.top("companion").is_some() };
        let adapters = || {
            let wanted = named(subject.source);
            sources()
                .filter(move |_| wanted)
                .flat_map(|source| source.units.names("adapters"))
        };
        let adapters_hash = adapters()
            .map(|(name, _)| hash(name))
            .fold(0, u64::wrapping_add);
        let vars_hash = sources()
            .flat_map(vars)
            .map(hash)
            .fold(0, u64::wrapping_add);
        let same = |before: &&Arc<Self>| {
            before.adapters_hash == adapters_hash && before.vars_hash == vars_hash
        };
        if let Some(before) = before.filter(same) {
            return Arc::clone(before);
        }
        Arc::new(Self {
            vars: sources().flat_map(vars).map(str::to_owned).collect(),
            adapters: adapters().map(|(name, _)| name.to_owned()).collect(),
            vars_hash,
            adapters_hash,
        })
    }

    /// A hash of the names that the checks of a unit look at.
    pub(super) fn seen_by(&self, unit: &Unit) -> (u64, u64) {
        (
            self.vars_hash,
            if may_name_adapters(unit) {
                self.adapters_hash
            } else {
                0
            },
        )
    }
}

fn vars(source: &Source) -> impl Iterator<Item = &str> {
    let table = source
        .units
        .top("vars")
        .and_then(|unit| unit.item.node.as_table());
    table
        .into_iter()
        .flat_map(|table| table.items.keys().map(|name| &**name))
}

fn hash(name: &str) -> u64 {
    let mut hasher = FxHasher::default();
    name.hash(&mut hasher);
    // The hashes are added up, so each must be spread over all bits.
    let hash = hasher.finish();
    (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
