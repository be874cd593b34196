//! What agents get: the store's newest snapshot as a [`kontext_mcp::Source`].

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kontext_engine::{Engine, engine};
use kontext_ide::Snapshot;
use kontext_mcp::picture::Picture;
use kontext_mcp::{Answers, Gates, Revision, Source};
use tokio::sync::watch;

use crate::endpoint::{Endpoint, Places};
use crate::work::Work;
use crate::workspace::{Options, Refresher, Store, refresh_once};
use crate::world;

/// The endpoint of a language server, opened once its folders are known.
#[derive(Clone, Default)]
pub struct AgentsEndpoint {
    state: Arc<Mutex<State>>,
    work: Work,
}

#[derive(Default)]
enum State {
    #[default]
    Waiting,
    Open(Endpoint),
    Closed,
}

impl AgentsEndpoint {
    /// Opens it for the roots of `store`, in a task of its own: the editor does not wait for it.
    /// Follows the roots from then on.
    pub fn open(&self, store: &Arc<Store>) {
        let (this, mut snapshots) = (self.clone(), store.subscribe());
        let source = Arc::new(StoreSource::new(Arc::clone(store), &self.work));
        tokio::spawn(async move {
            let mut roots = roots_of(&snapshots.borrow_and_update());
            match Endpoint::start(&Places::of_environment(), &roots, source).await {
                Ok(endpoint) => {
                    if !this.set(endpoint) {
                        return;
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "agents cannot join this language server; they read the disk");
                    return;
                }
            }
            while snapshots.changed().await.is_ok() {
                let now = roots_of(&snapshots.borrow_and_update());
                if now != roots {
                    roots = now;
                    this.set_roots(&roots);
                }
            }
        });
    }

    /// Closes it, removes its files and ends what adapters have started. It stays closed.
    pub async fn close(&self) {
        *self.lock() = State::Closed;
        self.work.stop().await;
    }

    fn set(&self, endpoint: Endpoint) -> bool {
        let mut state = self.lock();
        let waiting = matches!(*state, State::Waiting);
        if waiting {
            *state = State::Open(endpoint);
        }
        waiting
    }

    fn set_roots(&self, roots: &[PathBuf]) {
        if let State::Open(endpoint) = &mut *self.lock()
            && let Err(error) = endpoint.set_roots(roots)
        {
            tracing::warn!(%error, "the new folders could not be made known to agents");
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn roots_of(snapshot: &Snapshot) -> Vec<PathBuf> {
    snapshot
        .workspaces
        .iter()
        .map(|workspace| workspace.root.clone())
        .collect()
}

/// The answers of a store.
pub struct StoreSource {
    store: Arc<Store>,
    engine: Engine,
    revision: watch::Receiver<Revision>,
    /// Ends with the source.
    _task: AbortOnDrop,
}

struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl StoreSource {
    /// Answers from `store`. Must be called in a tokio runtime.
    pub fn new(store: Arc<Store>, work: &Work) -> Self {
        let engine = work.engine_of(&store);
        let (sender, revision) = watch::channel(Revision::default());
        let task = tokio::spawn(follow(store.subscribe(), engine.downgrade(), sender));
        Self {
            store,
            engine,
            revision,
            _task: AbortOnDrop(task),
        }
    }
}

impl Source for StoreSource {
    fn snapshot(&self) -> Arc<dyn Answers> {
        let engine = Some(self.engine.clone());
        Arc::new(picture(self.store.snapshot()).with_engine(engine))
    }

    fn engine(&self) -> Option<Engine> {
        Some(self.engine.clone())
    }

    fn subscribe(&self) -> watch::Receiver<Revision> {
        self.revision.clone()
    }
}

/// A snapshot as agents and the shell see it.
pub fn picture(snapshot: Arc<Snapshot>) -> Picture {
    Picture::new(snapshot, read)
}

fn read(path: &Path) -> Result<Option<String>, String> {
    world::read_layer(path).map_err(|fault| fault.to_string())
}

/// Turns snapshots, and what happens to servers, into what a client may have to look at again.
async fn follow(
    mut snapshots: watch::Receiver<Arc<Snapshot>>,
    engine: engine::Weak,
    sender: watch::Sender<Revision>,
) {
    let mut last = seen(&snapshots.borrow_and_update());
    let Some(mut work) = engine.upgrade().map(|engine| engine.subscribe()) else {
        return;
    };
    let mut offered = engine.upgrade().map(|engine| engine.catalogue());
    let mut started = Vec::new();
    loop {
        tokio::select! {
            changed = snapshots.changed() => {
                if changed.is_err() {
                    return;
                }
                let now = seen(&snapshots.borrow_and_update());
                sender.send_modify(|revision| {
                    revision.contents += 1;
                    revision.tools += u64::from(now.0 != last.0);
                    revision.resources += u64::from(now.1 != last.1);
                });
                last = now;
            }
            changed = work.changed() => {
                let Some(engine) = engine.upgrade().filter(|_| changed.is_ok()) else {
                    return;
                };
                let now = engine.catalogue();
                let same = offered.as_ref().is_some_and(|offered| offered.offers_the_same(&now));
                let logs = engine.started();
                sender.send_modify(|revision| {
                    revision.contents += 1;
                    revision.tools += u64::from(!same);
                    revision.resources += u64::from(logs != started);
                });
                (offered, started) = (Some(now), logs);
            }
        }
    }
}

/// What the lists of tools and of resources depend on.
fn seen(snapshot: &Arc<Snapshot>) -> (Gates, Vec<(String, bool)>) {
    let picture = picture(Arc::clone(snapshot));
    let layers = picture
        .layers()
        .into_iter()
        .map(|layer| (layer.layer, layer.exists));
    (picture.gates(), layers.collect())
}

/// A source that reads the disk, for an agent without a language server: looks at everything once
/// and then follows what changes.
pub fn from_disk(dir: &Path, work: &Work) -> Arc<dyn Source> {
    let store = disk_store(dir);
    tokio::spawn(Refresher::new(&store).run());
    Arc::new(StoreSource::new(store, work))
}

/// A store over the files of the work tree that `dir` lies in, conditions judged.
pub fn disk_store(dir: &Path) -> Arc<Store> {
    let store = Store::new(Options::of_process(false));
    store.set_folders(&[PathBuf::from(dir)]);
    refresh_once(&store);
    store
}
