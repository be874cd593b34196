//! Diagnostics: what is wrong with a file, where, and what to do.
//!
//! A file is checked unit by unit (one adapter, or one other top-level table). The findings of a
//! unit depend on the unit, on the same adapter in the other layers and on a few names, and they
//! are kept while those stay the same: a keystroke checks one adapter, however long the file.
//! Their order: each unit alone ([`fields`] drives [`strings`] and [`tools`], then [`adapter`] and
//! [`layers`]), then what only shows between units ([`between`]).

mod adapter;
mod between;
mod check;
mod context;
mod fields;
mod finish;
mod layers;
mod names;
mod remove;
mod shape;
pub(crate) mod strings;
mod syntax;
mod tools;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use kontext_config::codes::{Code, Severity};
use kontext_config::layer::LayerKind;
use kontext_config::schema;
use kontext_config::source::Source;
use kontext_config::stack::{LayerSource, Stack};
use kontext_syntax::toml::Unit;
use rustc_hash::{FxHashMap, FxHasher};

use crate::finding::{Diagnostic, Finding};
use between::{Exports, LayerExports};
use check::Check;
use context::{Context, Peer};
use names::Names;
use shape::{AdapterShape, Inputs};

pub use finish::MAX_DIAGNOSTICS;

/// Severities that differ from those of the list; `None` switches a code off.
pub type Severities = BTreeMap<Code, Option<Severity>>;

/// A file, and the layers it is read together with.
pub struct Subject<'a> {
    /// The file's text.
    pub source: &'a Arc<Source>,
    /// The layer it is, and the layers around it; `None` for a file that is checked alone.
    pub layer: Option<(LayerKind, &'a Stack)>,
    /// The severities in force.
    pub severities: &'a Severities,
    /// Why the file cannot be read, where it cannot. Words that hold `not UTF-8` make it
    /// `invalid-utf8`, all others `unreadable-layer`.
    pub fault: Option<&'a str>,
}

/// The outcome of checking one file once, fit to check its next version from.
///
/// Invariant: checking from an earlier outcome gives the diagnostics that checking from nothing
/// gives.
#[derive(Debug, Default)]
pub struct Checked {
    /// By the address of the unit, which `CheckedUnit` keeps from being given to another one.
    units: FxHashMap<usize, Arc<CheckedUnit>>,
    names: Arc<Names>,
    others: Vec<(LayerKind, Arc<LayerExports>)>,
    diagnostics: Arc<[Diagnostic]>,
}

#[derive(Debug)]
struct CheckedUnit {
    unit: Arc<Unit>,
    /// What it was looked at with: the same adapter in other layers, and a hash of the rest.
    peers: Vec<(LayerKind, Arc<Unit>)>,
    seen: u64,
    findings: Vec<Finding>,
    exports: Option<Exports>,
}

impl Checked {
    /// The diagnostics, in the order of the text.
    pub fn diagnostics(&self) -> &Arc<[Diagnostic]> {
        &self.diagnostics
    }

    /// Checks a file. `before` is an earlier outcome for the same file, from which the findings of
    /// unchanged units are taken.
    pub fn of(subject: &Subject<'_>, before: Option<&Self>) -> Self {
        if subject.layer.is_none() && !is_ours(subject.source) {
            return Self::default();
        }
        let others = others(subject);
        let names = Names::of(subject, &others, before.map(|before| &before.names));
        let units = units(subject, &others, &names, before);
        let exports: Vec<(&str, &Exports)> = units
            .iter()
            .filter_map(|one| Some((one.unit.key.name.as_deref()?, one.exports.as_ref()?)))
            .collect();
        let elsewhere = exports_of(&others, before);

        let mut all: Vec<Finding> = syntax::faults(&subject.source.document);
        all.extend(units.iter().flat_map(|unit| &unit.findings).cloned());
        all.extend(between::findings(subject, &exports, &elsewhere));
        all.extend(layers::of_file(subject));
        let diagnostics = finish::diagnostics(subject, all).into();
        let units = units
            .into_iter()
            .map(|unit| (address(&unit.unit), unit))
            .collect();
        Self {
            units,
            names,
            others: elsewhere,
            diagnostics,
        }
    }

    /// How many units were taken over from `before` unchanged; for tests and benchmarks.
    pub fn shared_with(&self, before: &Self) -> usize {
        let same = |(key, unit): (&usize, &Arc<CheckedUnit>)| {
            before
                .units
                .get(key)
                .is_some_and(|old| Arc::ptr_eq(old, unit))
        };
        self.units.iter().filter(|unit| same(*unit)).count()
    }
}

/// Whether a document that is no layer is a configuration all the same: it has a top-level
/// `adapters` table. Others are left in peace.
pub fn is_ours(source: &Source) -> bool {
    source.units.top("adapters").is_some() || source.units.names("adapters").next().is_some()
}

/// A layer around the file that has a text.
type Other<'a> = (&'a LayerSource, &'a Arc<Source>);

/// The layers around the file, ascending.
fn others<'a>(subject: &Subject<'a>) -> Vec<Other<'a>> {
    let Some((own, stack)) = subject.layer else {
        return Vec::new();
    };
    let layers = stack.layers.iter().filter(|layer| layer.kind != own);
    layers
        .filter_map(|layer| Some((layer, layer.source.as_ref()?)))
        .collect()
}

fn address(unit: &Arc<Unit>) -> usize {
    Arc::as_ptr(unit) as usize
}

/// The units of the file, each checked alone, in the order of the file.
fn units(
    subject: &Subject<'_>,
    others: &[Other<'_>],
    names: &Names,
    before: Option<&Checked>,
) -> Vec<Arc<CheckedUnit>> {
    let layer = subject.layer.map(|(layer, _)| layer);
    let trusted = subject
        .layer
        .is_none_or(|(_, stack)| stack.trust.is_trusted());
    let no_names = BTreeSet::new();
    let check = |unit: &Arc<Unit>| {
        let mut hasher = FxHasher::default();
        (names.seen_by(unit), layer, trusted).hash(&mut hasher);
        let seen = hasher.finish();
        let found = others
            .iter()
            .filter_map(|(layer, source)| Some((*layer, source.units.get(&unit.key)?)));
        let kept = before
            .and_then(|before| before.units.get(&address(unit)))
            .filter(|kept| {
                let same = |a: &(LayerKind, Arc<Unit>), b: (&LayerSource, &Arc<Unit>)| {
                    a.0 == b.0.kind && Arc::ptr_eq(&a.1, b.1)
                };
                let mut now = found.clone();
                kept.seen == seen
                    && kept
                        .peers
                        .iter()
                        .all(|peer| now.next().is_some_and(|other| same(peer, other)))
                    && now.next().is_none()
            });
        if let Some(kept) = kept {
            return Arc::clone(kept);
        }
        let peer = |(layer, unit): (&'_ LayerSource, &'_ Arc<Unit>)| (layer.kind, Arc::clone(unit));
        let peers: Vec<_> = found.clone().map(peer).collect();
        let context = Context {
            document: &subject.source.document,
            unit,
            layer,
            peers: found
                .map(|(layer, unit)| Peer {
                    layer: layer.kind,
                    path: &layer.path,
                    unit,
                })
                .collect(),
            trusted,
            vars: &names.vars,
            adapters: if names::may_name_adapters(unit) {
                &names.adapters
            } else {
                &no_names
            },
        };
        let findings = check_unit(&context);
        let exports = Exports::of(unit);
        Arc::new(CheckedUnit {
            unit: Arc::clone(unit),
            peers,
            seen,
            findings,
            exports,
        })
    };
    subject.source.units.iter().map(check).collect()
}

/// What the other layers show to this one, taken over where their text is the same.
fn exports_of(
    others: &[Other<'_>],
    before: Option<&Checked>,
) -> Vec<(LayerKind, Arc<LayerExports>)> {
    let known = |source: &Arc<Source>| {
        let known = before?
            .others
            .iter()
            .find(|(_, known)| Arc::ptr_eq(&known.source, source));
        known.map(|(_, known)| Arc::clone(known))
    };
    let exports = |(layer, source): &Other<'_>| {
        let exports = known(source).unwrap_or_else(|| Arc::new(LayerExports::of(source)));
        (layer.kind, exports)
    };
    others.iter().map(exports).collect()
}

/// Everything that is wrong with one unit.
fn check_unit(context: &Context<'_>) -> Vec<Finding> {
    let shape = match &context.unit.key.name {
        Some(_) => AdapterShape::of(context),
        None => AdapterShape::default(),
    };
    let mut check = Check {
        context,
        shape: &shape,
        inputs: Inputs::default(),
        driver: shape.driver,
        path: Vec::new(),
        findings: syntax::clashes(context.unit),
    };
    check.inputs = shape.inputs_of_adapter();
    check.unit();
    check.findings
}

impl Check<'_> {
    fn unit(&mut self) {
        let unit = self.context.unit;
        let Some(found) = schema::root().child(&unit.key.top) else {
            adapter::unknown_table(self);
            return;
        };
        match &unit.key.name {
            None => self.value(found.kind(), &unit.item.node, found.field()),
            Some(name) => {
                let Some(open) = found.kind().open_keys() else {
                    return;
                };
                strings::key(self, open.key, name, &unit.item);
                self.value(&open.kind, &unit.item.node, None);
                adapter::check(self);
                layers::of_adapter(self);
            }
        }
    }
}
