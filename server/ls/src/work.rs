//! The adapters at work: the engine of this process, kept at what is saved and trusted.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use kontext_config::facts::Trust;
use kontext_engine::engine::{self, Options};
use kontext_engine::{Engine, Fault, MayStart, Plan};
use kontext_ide::Snapshot;
use kontext_mcp::tools;
use tokio::sync::watch;

use crate::workspace::Store;
use crate::world;

/// The engines of a process, so that all of them are ended before it ends. Cheap to clone.
#[derive(Clone, Default)]
pub struct Work {
    engines: Arc<Mutex<Vec<engine::Weak>>>,
}

impl Work {
    /// An engine that follows the saved side of a store for as long as both are there. It starts
    /// nothing by itself. Must be called on a tokio runtime.
    pub fn engine_of(&self, store: &Arc<Store>) -> Engine {
        let engine = engine_of(store);
        let mut engines = self.lock();
        engines.retain(|engine| engine.upgrade().is_some());
        engines.push(engine.downgrade());
        engine
    }

    /// Ends every server, and whatever it has started. Bounded: what does not end is killed.
    pub async fn stop(&self) {
        let engines: Vec<Engine> = self
            .lock()
            .drain(..)
            .filter_map(|engine| engine.upgrade())
            .collect();
        for engine in engines {
            engine.stop().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<engine::Weak>> {
        self.engines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn engine_of(store: &Arc<Store>) -> Engine {
    let engine = Engine::new(Options {
        now: world::now,
        reserved: tools::names(),
    });
    let mut snapshots = store.subscribe();
    let first = Arc::clone(&snapshots.borrow_and_update());
    engine.apply(plan(&first, store));
    let store = Arc::downgrade(store);
    tokio::spawn(follow(engine.downgrade(), store, snapshots, first));
    engine
}

async fn follow(
    engine: engine::Weak,
    store: Weak<Store>,
    mut snapshots: watch::Receiver<Arc<Snapshot>>,
    mut last: Arc<Snapshot>,
) {
    while snapshots.changed().await.is_ok() {
        let now = Arc::clone(&snapshots.borrow_and_update());
        let changed = differs(&last, &now);
        last = now;
        if !changed {
            continue;
        }
        let (Some(engine), Some(store)) = (engine.upgrade(), store.upgrade()) else {
            return;
        };
        let snapshot = Arc::clone(&last);
        let plan = tokio::task::spawn_blocking(move || plan(&snapshot, &store)).await;
        match plan {
            Ok(plan) => engine.apply(plan),
            Err(error) => tracing::error!(%error, "the new configuration is not in force"),
        }
    }
}

/// Whether what runs may differ: typing changes nothing that is looked at here.
fn differs(a: &Snapshot, b: &Snapshot) -> bool {
    a.workspaces.len() != b.workspaces.len()
        || a.workspaces
            .iter()
            .zip(&b.workspaces)
            .any(|(a, b)| !Arc::ptr_eq(&a.saved, &b.saved) || !Arc::ptr_eq(&a.facts, &b.facts))
}

fn plan(snapshot: &Snapshot, store: &Arc<Store>) -> Plan {
    let roots = snapshot.workspaces.iter();
    Plan::of(roots.map(|workspace| {
        let may_start = match workspace.facts.trust {
            Trust::Pinned => may_start(&workspace.root, store),
            Trust::Untrusted | Trust::ByEnvironment => MayStart::default(),
        };
        (&*workspace.saved, &workspace.facts, may_start)
    }))
}

/// What was planned with a yes is not started once that does not count any more. A new plan comes
/// of that too, but later.
fn may_start(root: &Path, store: &Arc<Store>) -> MayStart {
    let (root, store) = (root.to_path_buf(), Arc::downgrade(store));
    MayStart::asking(move || match store.upgrade() {
        Some(store) if !store.is_pinned(&root) => Err(Fault::refused(
            "a file that the repository's adapters name has just changed, so that nothing of it is started; `kontext-ls trust` shows what to accept",
        )),
        _ => Ok(()),
    })
}
