//! What may run: the saved side of the workspaces, judged.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use indexmap::IndexMap;
use kontext_config::facts::{Facts, Now};
use kontext_config::model::{Adapter, Expose, Op};
use kontext_config::schema::{Driver, nearest};
use kontext_config::stack::{Stack, View};
use kontext_config::status::{self, AdapterStatus, Status};
use rustc_hash::FxBuildHasher;

use crate::context::Context;
use crate::fault::Fault;
use crate::may_start::MayStart;
use crate::secrets::Redactor;

/// All adapters of all roots, in configuration order. Cheap to clone.
///
/// Only what is saved and trusted goes in; every adapter is there with its status, so that a call
/// of one that is not active can say why.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    adapters: Arc<IndexMap<Arc<str>, Planned, FxBuildHasher>>,
    /// Names that a second root configures as well; the first root has them.
    pub shadowed: Arc<[Arc<str>]>,
}

/// One adapter with what a call of it needs. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Planned {
    /// What is configured.
    pub adapter: Arc<Adapter>,
    /// Whether it may be called, and why not.
    pub status: Arc<AdapterStatus>,
    /// The world it is called in.
    pub context: Context,
    /// The root of its work tree, absolute.
    pub root: Arc<PathBuf>,
    redactor: Arc<OnceLock<Redactor>>,
}

impl Plan {
    /// The plan of several roots: the saved layers of each with its facts, and what is asked before
    /// one of its programs is started. `Stack` leaves an untrusted shared layer out by itself
    /// ([`View::InForce`]).
    pub fn of<'a>(roots: impl IntoIterator<Item = (&'a Stack, &'a Arc<Facts>, MayStart)>) -> Self {
        let mut adapters: IndexMap<Arc<str>, Planned, FxBuildHasher> = IndexMap::default();
        let mut shadowed = Vec::new();
        for (saved, facts, may_start) in roots {
            let context = Context {
                facts: Arc::clone(facts),
                globals: Arc::new(saved.global_vars(View::InForce)),
                project: saved.project_name().map(Into::into),
                now: None,
                may_start,
            };
            let root = Arc::new(facts.repo.root.clone());
            for status in status::all(saved, facts) {
                let name: Arc<str> = status.name.as_str().into();
                if adapters.contains_key(&name) {
                    shadowed.push(name);
                    continue;
                }
                // What only an untrusted layer defines has no model: it is listed, never called.
                let Some(adapter) = saved
                    .adapter(&name, View::InForce)
                    .or_else(|| saved.adapter(&name, View::Shown).map(bare))
                else {
                    continue;
                };
                let planned = Planned {
                    adapter: Arc::new(adapter),
                    status: Arc::new(status),
                    context: context.clone(),
                    root: Arc::clone(&root),
                    redactor: Arc::default(),
                };
                adapters.insert(name, planned);
            }
        }
        Self {
            adapters: Arc::new(adapters),
            shadowed: shadowed.into(),
        }
    }

    /// All of them, in configuration order.
    pub fn adapters(&self) -> impl Iterator<Item = &Planned> {
        self.adapters.values()
    }

    /// Those that may be called, in configuration order.
    pub fn active(&self) -> impl Iterator<Item = &Planned> {
        self.adapters().filter(|planned| planned.is_active())
    }

    /// One of them, whatever its status.
    pub fn get(&self, name: &str) -> Option<&Planned> {
        self.adapters.get(name)
    }

    /// One that may be called.
    ///
    /// # Errors
    /// There is none of that name, or it is not active: with every reason.
    pub fn callable(&self, name: &str) -> Result<&Planned, Fault> {
        let Some(planned) = self.get(name) else {
            let near = nearest(name, self.adapters.keys().map(|known| &**known));
            return Err(Fault::refused(match near {
                Some(near) => format!("there is no adapter `{name}`; did you mean `{near}`?"),
                None if self.adapters.is_empty() => {
                    format!("there is no adapter `{name}`; none is configured")
                }
                None => format!(
                    "there is no adapter `{name}`; there are {}",
                    listed(self.adapters.keys())
                ),
            }));
        };
        planned.callable()?;
        Ok(planned)
    }
}

impl Planned {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.adapter.name
    }

    /// How long its requests may take.
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.adapter.timeout_ms)
    }

    /// Whether it may be called.
    pub fn is_active(&self) -> bool {
        self.status.status == Status::Active
    }

    /// Says why it may not be called.
    ///
    /// # Errors
    /// It is not active: with every reason.
    pub fn callable(&self) -> Result<(), Fault> {
        if self.is_active() {
            return Ok(());
        }
        let status = self.status.status;
        Err(Fault::refused(match self.status.reasons.as_slice() {
            [] => format!("it is {status}"),
            reasons => format!("it is {status}: {}", reasons.join("; ")),
        }))
    }

    /// Whether tools of its server are to be offered to agents.
    pub fn exposes_server(&self) -> bool {
        self.adapter.driver == Some(Driver::Mcp) && self.adapter.expose != Expose::None
    }

    /// One of its ops.
    ///
    /// # Errors
    /// It has none of that name; the words name those it has.
    pub fn op(&self, name: &str) -> Result<&Op, Fault> {
        self.adapter.ops.get(name).ok_or_else(|| {
            Fault::refused(if self.adapter.ops.is_empty() {
                format!(
                    "it has no ops: add `[adapters.{}.ops.{name}]`",
                    self.adapter.name
                )
            } else {
                format!(
                    "it has no op `{name}`; it has {}",
                    listed(self.adapter.ops.keys())
                )
            })
        })
    }

    /// Takes the secrets of its templates out of texts.
    pub fn redactor(&self) -> &Redactor {
        self.redactor
            .get_or_init(|| Redactor::new(&self.adapter, &self.context))
    }

    /// The same at another moment.
    #[must_use]
    pub fn at(&self, now: Now) -> Self {
        let mut planned = self.clone();
        planned.context.now = Some(Arc::new(now));
        planned
    }
}

/// Names for a sentence, bounded.
pub(crate) fn listed(names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    const MOST: usize = 12;
    let mut names = names.into_iter();
    let shown: Vec<_> = names
        .by_ref()
        .take(MOST)
        .map(|name| format!("`{}`", name.as_ref()))
        .collect();
    match names.count() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Without anything that could be called.
fn bare(adapter: Adapter) -> Adapter {
    Adapter {
        command: Vec::new(),
        url: None,
        base_url: None,
        ops: IndexMap::new(),
        tools: Vec::new(),
        on: Vec::new(),
        ..adapter
    }
}

#[cfg(test)]
mod tests;
