//! The status of every adapter, with every reason (adapters.md section 3).

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use kontext_syntax::toml::Item;
use serde::Serialize;

use crate::eval::Vars;
use crate::facts::{Facts, Question};
use crate::layer::LayerKind;
use crate::merge::Merged;
use crate::model::{LEAST_FIELDS, TARGET_FIELDS, least, no_target};
use crate::schema::Driver;
use crate::stack::{Stack, View, adapter_kind};
use crate::when::{Regexes, When, judge_with, questions as questions_of};

/// Whether an adapter is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It is.
    Active,
    /// A condition does not hold, or is not known to hold.
    Inactive,
    /// `enabled = false`.
    Disabled,
    /// What defines it is not trusted.
    Untrusted,
    /// It has no driver or nothing to call.
    Invalid,
}

impl Status {
    /// The word for it in answers and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Inactive => "inactive",
            Self::Disabled => "disabled",
            Self::Untrusted => "untrusted",
            Self::Invalid => "invalid",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The status of one adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterStatus {
    /// Its name.
    pub name: String,
    /// Its driver: of what is in force, else of what is shown.
    pub driver: Option<Driver>,
    /// Whether it is called.
    pub status: Status,
    /// Why it is not, every reason; and what an untrusted shared layer would change. An active
    /// adapter has only the latter.
    pub reasons: Vec<String>,
    /// The highest layer in force that writes about it; of an untrusted one, the shared layer.
    pub layer: LayerKind,
    /// Whether a condition is not known yet: its question has no answer. Such an adapter is not
    /// active (what is not known to hold is not called), but that may change in a moment.
    pub pending: bool,
}

/// The status of every adapter, in configuration order.
pub fn all(stack: &Stack, facts: &Facts) -> Vec<AdapterStatus> {
    let context = Context::new(stack);
    let mut regexes = Regexes::default();
    stack
        .places()
        .into_iter()
        .map(|(name, items)| context.status(name, &items, facts, &mut regexes))
        .collect()
}

/// All that has to be looked up for [`all`].
pub fn questions(stack: &Stack, facts: &Facts) -> BTreeSet<Question> {
    let context = Context::new(stack);
    let mut asked = BTreeSet::new();
    for (name, items) in stack.places() {
        // What the shared layer would ask is looked up before it is trusted, too: the editor
        // shows it.
        for view in [View::InForce, View::Shown] {
            if view == View::Shown && !context.is_changed_by_trust(&items) {
                continue;
            }
            if let Some(merged) = context.merged(&items, view, &["when", "vars"]) {
                let when = context.when(name, &merged, view);
                asked.extend(questions_of(&when, facts));
            }
        }
    }
    asked
}

/// What is the same for all adapters of a stack.
struct Context<'a> {
    stack: &'a Stack,
    in_force: Arc<Vars>,
    shown: Arc<Vars>,
    project: Option<&'a str>,
}

impl<'a> Context<'a> {
    fn new(stack: &'a Stack) -> Self {
        Self {
            stack,
            in_force: Arc::new(stack.global_vars(View::InForce)),
            shown: Arc::new(stack.global_vars(View::Shown)),
            project: stack.project_name(),
        }
    }

    fn is_changed_by_trust(&self, items: &[(usize, &Item)]) -> bool {
        items
            .iter()
            .any(|(at, _)| !self.stack.counts(*at, View::InForce))
    }

    fn merged(
        &self,
        items: &[(usize, &'a Item)],
        view: View,
        names: &[&str],
    ) -> Option<Merged<'a>> {
        items
            .iter()
            .filter(|(at, _)| self.stack.counts(*at, view))
            .map(|&(at, item)| Merged::of_members(at, item, adapter_kind(), names))
            .reduce(Merged::overlaid)
    }

    fn when(&self, name: &str, merged: &Merged<'_>, view: View) -> When {
        let Some(conditions) = merged.get("when") else {
            return When::default();
        };
        let vars = merged.get("vars").and_then(Merged::members);
        let vars = vars
            .into_iter()
            .flatten()
            .filter_map(|(name, value)| Some(((*name).to_owned(), value.as_str()?.to_owned())))
            .collect();
        let mut when = When::from_merged(name, &vars, conditions);
        when.note_environment(merged);
        if when.has_templates() {
            let globals = match view {
                View::InForce => &self.in_force,
                View::Shown => &self.shown,
            };
            when.set_globals(Arc::clone(globals), self.project);
        }
        when
    }

    fn status(
        &self,
        name: &str,
        items: &[(usize, &'a Item)],
        facts: &Facts,
        regexes: &mut Regexes,
    ) -> AdapterStatus {
        let highest = items.last().and_then(|(at, _)| self.stack.layer_kind(*at));
        let mut status = AdapterStatus {
            name: name.to_owned(),
            driver: None,
            status: Status::Active,
            reasons: Vec::new(),
            // An adapter without a layer is not listed.
            layer: highest.unwrap_or(LayerKind::User),
            pending: false,
        };
        let in_force = items
            .iter()
            .rfind(|(at, _)| self.stack.counts(*at, View::InForce));
        if let Some(layer) = in_force.and_then(|(at, _)| self.stack.layer_kind(*at)) {
            status.layer = layer;
        }
        let changed = self.is_changed_by_trust(items);
        let Some(merged) = self.merged(items, View::InForce, LEAST_FIELDS) else {
            status.driver = self.shown_driver(items);
            status.status = Status::Untrusted;
            status.reasons.push(UNTRUSTED.to_owned());
            status.reasons.extend(facts.trust_fault.clone());
            return status;
        };
        match least(&merged) {
            Ok((driver, _)) => status.driver = Some(driver),
            Err(_) if changed => status.driver = self.shown_driver(items),
            Err(_) => {}
        }
        if merged.get("enabled").and_then(Merged::as_bool) == Some(false) {
            status.status = Status::Disabled;
            let at = merged.get("enabled").map(|enabled| enabled.origin.layer);
            let layer = at.and_then(|at| self.stack.layer_kind(at));
            status.reasons.push(layer.map_or_else(
                || "`enabled` is false".to_owned(),
                |layer| format!("`enabled` is false in the {layer} layer"),
            ));
            return status;
        }
        let invalid = self.invalid(items, &merged, View::InForce);
        match invalid {
            Some(_) if changed && self.shown_is_valid(items) => {
                status.status = Status::Untrusted;
                status.reasons.push(NEEDS_SHARED.to_owned());
                status.reasons.extend(facts.trust_fault.clone());
                return status;
            }
            Some(reason) => {
                status.status = Status::Invalid;
                status.reasons.push(reason);
            }
            None => {
                let when = self.when(name, &merged, View::InForce);
                for verdict in judge_with(&when, facts, regexes) {
                    status.pending |= verdict.holds.is_none();
                    status.reasons.extend(verdict.reason);
                }
                if !status.reasons.is_empty() {
                    status.status = Status::Inactive;
                }
            }
        }
        if changed {
            status.reasons.extend(self.would_change(items));
        }
        status
    }

    fn shown_driver(&self, items: &[(usize, &'a Item)]) -> Option<Driver> {
        let shown = self.merged(items, View::Shown, &["driver"])?;
        Driver::parse(shown.get("driver")?.as_str()?)
    }

    fn shown_is_valid(&self, items: &[(usize, &'a Item)]) -> bool {
        self.merged(items, View::Shown, LEAST_FIELDS)
            .is_some_and(|shown| self.invalid(items, &shown, View::Shown).is_none())
    }

    /// Why nothing of the adapter can be called.
    fn invalid(
        &self,
        items: &[(usize, &'a Item)],
        merged: &Merged<'_>,
        view: View,
    ) -> Option<String> {
        if !merged.is_valid() {
            return Some("an adapter has to be a table".to_owned());
        }
        match least(merged) {
            Err(problem) => Some(problem.message),
            Ok((_, true)) => None,
            Ok((driver, false)) => {
                let more = self.merged(items, view, TARGET_FIELDS)?;
                no_target(driver, &more).map(|problem| problem.message)
            }
        }
    }

    /// A note on the fields that the shared layer would change.
    fn would_change(&self, items: &[(usize, &'a Item)]) -> Option<String> {
        const MOST: usize = 8;
        let whole = |view| {
            items
                .iter()
                .filter(|(at, _)| self.stack.counts(*at, view))
                .map(|&(at, item)| Merged::of(at, item, adapter_kind()))
                .reduce(Merged::overlaid)
        };
        let (shown, in_force) = (whole(View::Shown)?, whole(View::InForce)?);
        let mut fields: Vec<String> = Vec::new();
        shown.leaves(&mut |path, value| {
            let counts = self.stack.counts(value.origin.layer, View::InForce);
            if counts || !value.is_valid() || path.is_empty() {
                return;
            }
            let before = in_force.at(path);
            let same = before.is_some_and(|before| before.to_json() == value.to_json());
            if !same {
                fields.push(format!("`{}`", path.join(".")));
            }
        });
        let more = fields.len().saturating_sub(MOST);
        fields.truncate(MOST);
        let listed = match more {
            0 => fields.join(", "),
            more => format!("{} and {more} more", fields.join(", ")),
        };
        (!fields.is_empty()).then(|| {
            format!(
                "the shared layer would change {listed}, but is not trusted: `kontext-ls trust` shows it and asks"
            )
        })
    }
}

const UNTRUSTED: &str = "only the shared layer defines it, and that is not trusted: `kontext-ls trust` shows it and asks";

const NEEDS_SHARED: &str = "it needs what the shared layer says, and that is not trusted: `kontext-ls trust` shows it and asks";
