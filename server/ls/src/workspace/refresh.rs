use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use kontext_config::facts::{Facts, Question};
use kontext_config::stack::Stack;
use kontext_config::status;
use kontext_ide::Workspace;
use tokio::sync::mpsc;

use super::store::Store;
use crate::world::{self, Watcher};

/// By root: the stack as it is shown, and as it is saved; to know them again.
type Answered = BTreeMap<PathBuf, (Weak<Stack>, Weak<Stack>)>;

/// Keeps a store true to the disk: reads the layers again when they change, answers what the
/// conditions ask, and watches what the answers depend on.
pub struct Refresher {
    store: Weak<Store>,
    watcher: Arc<Watcher>,
    changes: mpsc::Receiver<world::Changed>,
    /// The stacks each root's questions were last answered for.
    answered: Answered,
}

impl Refresher {
    /// Starts to watch. Must be called in a tokio runtime; [`Self::run`] does the work.
    pub fn new(store: &Arc<Store>) -> Self {
        let (sender, changes) = mpsc::channel(64);
        Self {
            store: Arc::downgrade(store),
            watcher: Arc::new(Watcher::new(sender)),
            changes,
            answered: BTreeMap::new(),
        }
    }

    /// Works until the store is gone.
    pub async fn run(mut self) {
        let Some(mut snapshots) = self.store.upgrade().map(|store| store.subscribe()) else {
            return;
        };
        let mut reload = false;
        loop {
            let Some(store) = self.store.upgrade() else {
                return;
            };
            self.bring_up_to_date(store, reload).await;
            reload = false;
            tokio::select! {
                changed = snapshots.changed() => if changed.is_err() { return },
                changed = self.changes.recv() => match changed {
                    Some(_) => reload = true,
                    None => return,
                },
            }
            // Of several changes in a row one answer is enough.
            while self.changes.try_recv().is_ok() {
                reload = true;
            }
        }
    }

    async fn bring_up_to_date(&mut self, store: Arc<Store>, reload: bool) {
        snapshot_is_answered(&store, &mut self.answered, reload, &self.watcher).await;
    }
}

/// Looks at the disk, off the threads that serve.
async fn snapshot_is_answered(
    store: &Arc<Store>,
    answered: &mut Answered,
    reload: bool,
    watcher: &Arc<Watcher>,
) {
    let known = |workspace: &Arc<Workspace>| {
        answered.get(&workspace.root).is_some_and(|(shown, saved)| {
            std::ptr::eq(shown.as_ptr(), &*workspace.stack)
                && std::ptr::eq(saved.as_ptr(), &*workspace.saved)
        })
    };
    let snapshot = store.snapshot();
    if !reload
        && snapshot.workspaces.iter().all(known)
        && snapshot.workspaces.len() == answered.len()
    {
        return;
    }
    let (store, watcher) = (Arc::clone(store), Arc::clone(watcher));
    let work = tokio::task::spawn_blocking(move || {
        if reload {
            store.reload();
        }
        answer(&store, reload, Some(&watcher))
    });
    match work.await {
        Ok(stacks) => *answered = stacks,
        Err(error) => tracing::error!(%error, "conditions could not be looked at"),
    }
}

/// Answers every question of every root once; for programs without an editor.
pub fn refresh_once(store: &Arc<Store>) {
    answer(store, true, None);
}

/// Answers what is asked and gives the stacks the answers are for. Not `afresh`: what is answered
/// already is not looked at again.
fn answer(store: &Arc<Store>, afresh: bool, watcher: Option<&Watcher>) -> Answered {
    let snapshot = store.snapshot();
    let places = store.places();
    let (mut watched, mut layers) = (BTreeSet::new(), BTreeSet::new());
    let mut asked: Vec<(&Arc<Workspace>, BTreeSet<Question>)> = Vec::new();
    for workspace in &snapshot.workspaces {
        let questions = status::questions(&workspace.stack, &workspace.facts);
        if let Some((places, repo)) = places
            .iter()
            .find(|(places, _)| places.root == workspace.root)
        {
            let env = &workspace.facts.env;
            layers.extend(world::watch_set(places, repo, [], env));
            watched.extend(world::watch_set(places, repo, &questions, env));
        }
        asked.push((workspace, questions));
    }
    // What a yes was given to, and the yes itself.
    let mut shared: Vec<_> = store.shared_layers();
    for layer in &shared {
        watched.insert(layer.trust_file.clone());
        watched.extend(store.scripts_of(layer));
    }
    // Watching first: what changes after the look is reported. What was not watched until now may
    // have changed since it was looked at last.
    let new = watcher
        .map(|watcher| watcher.set(watched))
        .unwrap_or_default();
    if !new.is_disjoint(&layers) {
        store.reload();
        shared = store.shared_layers();
    }
    let afresh = afresh || !new.is_empty();
    for (workspace, questions) in &asked {
        let facts = &workspace.facts;
        let missing = |question: &Question| match question {
            Question::Program(name) => !facts.programs.contains_key(name),
            Question::Path(path) => !facts.paths.contains_key(path),
        };
        if afresh || questions.iter().any(missing) {
            let base = Facts {
                env: facts.env.clone(),
                repo: facts.repo.clone(),
                now: world::now(),
                ..Facts::default()
            };
            store.set_facts(&workspace.root, world::gather(questions, base));
        }
    }
    for layer in shared.iter().filter(|layer| afresh || !layer.judged) {
        store.judge(layer);
    }
    // Hints and agents ask for the status next; it is ready when they do.
    for workspace in &store.snapshot().workspaces {
        workspace.statuses();
    }
    asked
        .into_iter()
        .map(|(workspace, _)| {
            let stacks = (
                Arc::downgrade(&workspace.stack),
                Arc::downgrade(&workspace.saved),
            );
            (workspace.root.clone(), stacks)
        })
        .collect()
}
