//! The adapters at work: the engine of this process, kept at what is saved and trusted.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kontext_engine::engine::{self, Options};
use kontext_engine::{Engine, Plan};
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
    engine.apply(plan(&first));
    tokio::spawn(follow(engine.downgrade(), snapshots, first));
    engine
}

async fn follow(
    engine: engine::Weak,
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
        let Some(engine) = engine.upgrade() else {
            return;
        };
        let snapshot = Arc::clone(&last);
        let plan = tokio::task::spawn_blocking(move || plan(&snapshot)).await;
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

fn plan(snapshot: &Snapshot) -> Plan {
    let roots = snapshot.workspaces.iter();
    Plan::of(roots.map(|workspace| (&*workspace.saved, &workspace.facts)))
}
