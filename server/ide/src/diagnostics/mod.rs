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
mod fields;
mod layers;
mod remove;
mod shape;
pub(crate) mod strings;
mod syntax;
mod tools;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use kontext_config::codes::{Code, Severity};
use kontext_config::layer::LayerKind;
use kontext_config::schema;
use kontext_config::source::Source;
use kontext_config::stack::Stack;
use kontext_syntax::TextRange;
use kontext_syntax::toml::{Span, Unit};
use rustc_hash::{FxHashMap, FxHasher};

use crate::finding::{Diagnostic, Finding, Fix, Place, Related};
use check::{Check, Context, Peer};
use shape::{AdapterShape, Inputs};

/// No file shows more diagnostics than this; the worst ones stay.
pub const MAX_DIAGNOSTICS: usize = 200;

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
    /// Why the file's bytes could not be taken as text, where they could not.
    pub fault: Option<&'a str>,
}

/// The outcome of checking one file once, fit to check its next version from.
#[derive(Debug, Default)]
pub struct Checked {
    units: FxHashMap<usize, CheckedUnit>,
    diagnostics: Arc<[Diagnostic]>,
}

#[derive(Debug)]
struct CheckedUnit {
    /// Keeps the address that is the key of the map from being given to another unit.
    unit: Arc<Unit>,
    peers: Vec<Arc<Unit>>,
    names: u64,
    findings: Arc<[Finding]>,
}

impl Checked {
    /// The diagnostics, in the order of the text.
    pub fn diagnostics(&self) -> &Arc<[Diagnostic]> {
        &self.diagnostics
    }

    /// Checks a file. `before` is an earlier outcome for the same file, from which the findings of
    /// unchanged units are taken.
    pub fn of(subject: &Subject<'_>, before: Option<&Self>) -> Self {
        let Source { document, units } = &**subject.source;
        let layer = subject.layer.map(|(layer, _)| layer);
        if subject.layer.is_none() && !is_ours(subject.source) {
            return Self::default();
        }
        let names = Names::of(subject);
        let mut checked =
            FxHashMap::with_capacity_and_hasher(units.iter().count(), Default::default());
        let mut all: Vec<Finding> = syntax::faults(document);
        for unit in units.iter() {
            let peers = subject
                .layer
                .map_or_else(Vec::new, |(_, stack)| peers(stack, subject.source, unit));
            let peer_units: Vec<Arc<Unit>> = peers
                .iter()
                .map(|(_, _, _, unit)| Arc::clone(unit))
                .collect();
            let key = Arc::as_ptr(unit) as usize;
            let hash = names.hash_for(unit, layer);
            let kept = before
                .and_then(|before| before.units.get(&key))
                .filter(|kept| {
                    kept.names == hash
                        && kept.peers.len() == peer_units.len()
                        && kept
                            .peers
                            .iter()
                            .zip(&peer_units)
                            .all(|(a, b)| Arc::ptr_eq(a, b))
                });
            let findings = match kept {
                Some(kept) => Arc::clone(&kept.findings),
                None => {
                    let context = Context {
                        document,
                        unit,
                        layer,
                        peers: peers
                            .iter()
                            .map(|(layer, path, source, unit)| Peer {
                                layer: *layer,
                                path,
                                document: &source.document,
                                unit,
                            })
                            .collect(),
                        vars: &names.vars,
                        adapters: &names.adapters,
                    };
                    check_unit(&context).into()
                }
            };
            all.extend(findings.iter().cloned());
            checked.insert(
                key,
                CheckedUnit {
                    unit: Arc::clone(unit),
                    peers: peer_units,
                    names: hash,
                    findings,
                },
            );
        }
        all.extend(between::findings(subject));
        all.extend(layers::of_file(subject));
        let diagnostics = finish(subject, all);
        Self {
            units: checked,
            diagnostics: diagnostics.into(),
        }
    }

    /// How many units were taken over from `before` unchanged; for tests and benchmarks.
    pub fn shared_with(&self, before: &Self) -> usize {
        let same = |(key, unit): (&usize, &CheckedUnit)| {
            before.units.get(key).is_some_and(|old| {
                Arc::ptr_eq(&old.unit, &unit.unit) && Arc::ptr_eq(&old.findings, &unit.findings)
            })
        };
        self.units.iter().filter(|unit| same(*unit)).count()
    }
}

/// Whether a document that is no layer is a configuration all the same: it has a top-level
/// `adapters` table. Others are left in peace.
pub fn is_ours(source: &Source) -> bool {
    source.units.top("adapters").is_some() || source.units.names("adapters").next().is_some()
}

/// The names that checks of every unit may look at.
struct Names {
    vars: BTreeSet<String>,
    adapters: BTreeSet<String>,
    vars_hash: u64,
    all_hash: u64,
}

impl Names {
    fn of(subject: &Subject<'_>) -> Self {
        let mut names = Self {
            vars: BTreeSet::new(),
            adapters: BTreeSet::new(),
            vars_hash: 0,
            all_hash: 0,
        };
        names.add(subject.source);
        if let Some((_, stack)) = subject.layer {
            stack
                .layers
                .iter()
                .filter_map(|layer| layer.source.as_ref())
                .for_each(|source| names.add(source));
        }
        let mut hasher = FxHasher::default();
        names.vars.hash(&mut hasher);
        names.vars_hash = hasher.finish();
        names.adapters.hash(&mut hasher);
        names.all_hash = hasher.finish();
        names
    }

    fn add(&mut self, source: &Source) {
        if let Some(table) = source
            .units
            .top("vars")
            .and_then(|unit| unit.item.node.as_table())
        {
            self.vars
                .extend(table.items.keys().map(|name| name.to_string()));
        }
        self.adapters.extend(
            source
                .units
                .names("adapters")
                .map(|(name, _)| name.to_owned()),
        );
    }

    /// Adapters see variables; other tables may name adapters.
    fn hash_for(&self, unit: &Unit, layer: Option<LayerKind>) -> u64 {
        let names = if unit.key.name.is_some() {
            self.vars_hash
        } else {
            self.all_hash
        };
        let mut hasher = FxHasher::default();
        (names, layer).hash(&mut hasher);
        hasher.finish()
    }
}

/// The same unit in the other layers, ascending.
fn peers<'a>(
    stack: &'a Stack,
    own: &Arc<Source>,
    unit: &Unit,
) -> Vec<(LayerKind, &'a Path, &'a Arc<Source>, &'a Arc<Unit>)> {
    let others = stack
        .layers
        .iter()
        .filter_map(|layer| Some((layer, layer.source.as_ref()?)));
    let others = others.filter(|(_, source)| !Arc::ptr_eq(source, own));
    others
        .filter_map(|(layer, source)| {
            let found = match &unit.key.name {
                Some(name) => source.units.named(&unit.key.top, name),
                None => source.units.top(&unit.key.top),
            };
            Some((layer.kind, layer.path.as_path(), source, found?))
        })
        .collect()
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

/// Settings, places, order and the limit.
fn finish(subject: &Subject<'_>, findings: Vec<Finding>) -> Vec<Diagnostic> {
    let document = &subject.source.document;
    let mut diagnostics: Vec<Diagnostic> = Vec::with_capacity(findings.len());
    for finding in findings {
        let severity = match subject.severities.get(&finding.code) {
            Some(None) => continue,
            Some(Some(severity)) => *severity,
            None => finding.code.severity(),
        };
        let here = |span: Span| document.resolve(span);
        let related = finding.related.into_iter().map(|related| Related {
            place: match related.place {
                Place::Here(span) => Place::Here(here(span)),
                Place::There(path, range) => Place::There(path, range),
            },
            message: related.message,
        });
        diagnostics.push(Diagnostic {
            range: here(finding.span),
            severity,
            code: finding.code,
            message: finding.message,
            related: related.collect(),
            fix: finding.fix.map(|fix| Fix {
                title: fix.title,
                edits: fix
                    .edits
                    .into_iter()
                    .map(|(span, text)| (here(span), text))
                    .collect(),
            }),
        });
    }
    if let Some(fault) = subject.fault {
        let severity = Severity::Error;
        let range = TextRange::empty(0);
        diagnostics.push(Diagnostic {
            range,
            severity,
            code: Code::UnreadableLayer,
            message: fault.to_owned(),
            related: Vec::new(),
            fix: None,
        });
    }
    let place = |one: &Diagnostic| (one.range, one.code);
    diagnostics.sort_by(|a, b| {
        place(a)
            .cmp(&place(b))
            .then_with(|| a.message.cmp(&b.message))
    });
    diagnostics.dedup_by(|a, b| place(a) == place(b));
    if diagnostics.len() > MAX_DIAGNOSTICS {
        // The worst stay, the first of equally bad ones; then the order of the text again.
        diagnostics.sort_by_key(|one| one.severity);
        diagnostics.truncate(MAX_DIAGNOSTICS);
        diagnostics.sort_by_key(|one| (one.range, one.code));
    }
    diagnostics
}
