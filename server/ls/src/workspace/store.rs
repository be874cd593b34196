use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kontext_config::codes::{Code, Severity};
use kontext_config::facts::{Facts, Repo};
use kontext_ide::{File, Snapshot};
use kontext_syntax::text::Encoding;
use tokio::sync::watch;

use super::buffer::{Buffer, ContentChange, EditFault};
use super::root::{Root, keyed};
use super::state::{DiskFile, Options, State};
use super::trust::{Judgement, SharedLayer};
use crate::world::trust::ScriptCache;
use crate::world::{self, DocKey, Places};

/// The one place where state changes.
#[derive(Debug)]
pub struct Store {
    state: Mutex<State>,
    current: watch::Sender<Arc<Snapshot>>,
    scripts: Arc<ScriptCache>,
}

impl Store {
    /// A store without folders and documents.
    pub fn new(options: Options) -> Arc<Self> {
        let editor = options.editor;
        let scripts = Arc::new(ScriptCache::default());
        let state = State::new(options, Arc::clone(&scripts));
        let current = watch::Sender::new(Arc::new(Snapshot {
            editor,
            ..Snapshot::default()
        }));
        Arc::new(Self {
            state: Mutex::new(state),
            current,
            scripts,
        })
    }

    /// The newest snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.current.borrow())
    }

    /// Tells of every new snapshot; of several in a row the last one.
    pub fn subscribe(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.current.subscribe()
    }

    /// The folders the client has open, in its order. Looks at the disk for their layers.
    pub fn set_folders(&self, folders: &[PathBuf]) {
        let mut state = self.lock();
        state.set_folders(folders);
        state.judge();
        self.publish(state);
    }

    /// A document was opened; it counts over the file from now on.
    pub fn open(&self, uri: &str, version: i32, text: String) {
        let key = DocKey::from_uri(uri);
        let mut state = self.lock();
        if state.adopt(&key) {
            state.judge();
        }
        let file = state.disk.get(&key).map(|file| &file.source);
        let mut buffer = Buffer::new(uri, version, text, file);
        if let Some(open) = state.buffers.remove(&key) {
            let mut uris = open.uris;
            uris.retain(|open| **open != *uri);
            uris.append(&mut buffer.uris);
            buffer.uris = uris;
        }
        state.buffers.insert(key, buffer);
        self.publish(state);
    }

    /// An open document changed. A document that is not open is none of ours: nothing happens.
    ///
    /// # Errors
    /// Where the change cannot be applied; the text is as it was.
    pub fn change(
        &self,
        uri: &str,
        version: i32,
        changes: Vec<ContentChange>,
        encoding: Encoding,
    ) -> Result<(), EditFault> {
        let mut state = self.lock();
        let Some(buffer) = state.buffer_mut(uri) else {
            return Ok(());
        };
        buffer.apply(version, changes, encoding)?;
        self.publish(state);
        Ok(())
    }

    /// An open document was saved: the file is what the buffer is.
    pub fn save(&self, uri: &str) {
        let mut state = self.lock();
        let key = state.key_of(uri);
        let Some(buffer) = state.buffers.get_mut(&key) else {
            return;
        };
        buffer.touched = false;
        let saved = DiskFile {
            source: Arc::clone(&buffer.source),
            lines: Arc::clone(&buffer.lines),
            fault: None,
        };
        if state.is_layer(&key) {
            state.disk.insert(key, saved);
        }
        self.publish(state);
    }

    /// A document was closed: the file counts again. It is read anew.
    pub fn close(&self, uri: &str) {
        let mut state = self.lock();
        let key = state.key_of(uri);
        let Some(buffer) = state.buffers.get_mut(&key) else {
            return;
        };
        let exact = buffer.uris.iter().position(|open| **open == *uri);
        // Clients close a document under another spelling of the URI they have opened it with.
        let only = || (buffer.uris.len() == 1).then_some(0);
        if let Some(at) = exact.or_else(only) {
            buffer.uris.remove(at);
        }
        if buffer.uris.is_empty() || buffer.uris.iter().all(|open| DocKey::from_uri(open) != key) {
            state.buffers.remove(&key);
            if let Some(path) = key.path().map(Path::to_path_buf)
                && state.is_layer(&key)
            {
                state.take(&key, world::read_layer(&path));
            }
        }
        self.publish(state);
    }

    /// Reads the layers again where something on disk has changed, and looks anew where they lie.
    ///
    /// The disk is looked at without the lock; what it says is then taken in as one change.
    pub fn reload(&self) {
        let (config_home, roots) = {
            let state = self.lock();
            let roots = state
                .roots
                .iter()
                .map(|root| (root.folder.clone(), root.store_dir.clone()));
            (state.options.config_home(), roots.collect::<Vec<_>>())
        };
        let looks: Vec<_> = roots
            .into_iter()
            .map(|(folder, store_dir)| {
                let repo = world::find_repo(&folder);
                let places = Places::new(&repo, &config_home, store_dir.as_deref());
                let layers = keyed(&places);
                let texts: Vec<_> = layers
                    .iter()
                    .map(|(_, path, key)| (key.clone(), world::read_layer(path)))
                    .collect();
                (folder, repo, places, layers, texts)
            })
            .collect();
        let mut state = self.lock();
        for (folder, repo, places, layers, texts) in looks {
            let Some(root) = state.roots.iter_mut().find(|root| root.folder == folder) else {
                continue;
            };
            root.replace(places, layers);
            if repo != *root.repo() {
                let mut facts = Facts::clone(&root.facts);
                facts.repo = repo;
                root.facts = Arc::new(facts);
            }
            for (key, text) in texts {
                state.take(&key, text);
            }
        }
        state.forget_unused();
        self.publish(state);
    }

    /// What was found out about the world of a root.
    pub fn set_facts(&self, root: &Path, facts: Facts) {
        let mut state = self.lock();
        let Some(found) = state
            .roots
            .iter_mut()
            .find(|found| found.places.root == root)
        else {
            return;
        };
        // The repository is looked at elsewhere; the newer of the two stays.
        let facts = Facts {
            repo: found.facts.repo.clone(),
            trust: found.facts.trust,
            trust_fault: found.facts.trust_fault.clone(),
            ..facts
        };
        let changed = Facts {
            now: facts.now.clone(),
            ..Facts::clone(&found.facts)
        } != facts;
        if changed {
            found.facts = Arc::new(facts);
            self.publish(state);
        }
    }

    /// The shared layer of each root that has one, as it is saved.
    pub(crate) fn shared_layers(&self) -> Vec<SharedLayer> {
        let state = self.lock();
        let roots = state.roots.iter();
        roots.filter_map(|root| state.shared_layer(root)).collect()
    }

    /// Looks at the scripts a shared layer names; reads those that have changed.
    pub(crate) fn look_at(&self, layer: &SharedLayer) -> world::trust::Look {
        world::trust::look(&layer.source, &layer.repo, &self.scripts)
    }

    /// The files that the layer's commands may name, absolute.
    pub(super) fn scripts_of(&self, layer: &SharedLayer) -> Vec<PathBuf> {
        let root = &layer.repo.root;
        let paths = self.scripts.paths(&layer.source, &layer.repo);
        paths
            .iter()
            .flat_map(|paths| paths.iter())
            .map(|path| root.join(path))
            .collect()
    }

    /// Looks whether a shared layer is accepted as it is on disk, its scripts included, and takes
    /// that in. Looks without the lock.
    pub(super) fn judge(&self, layer: &SharedLayer) {
        let judgement = Judgement::of(layer, &self.look_at(layer));
        let mut state = self.lock();
        if state.take_judgement(layer, judgement) {
            self.publish(state);
        }
    }

    /// Whether the shared layer of a root is accepted by its pin, and the scripts are still those it
    /// was accepted with. Looks at the disk: a change is not told of at once.
    pub(crate) fn is_pinned(&self, root: &Path) -> bool {
        let stamps = {
            let state = self.lock();
            let mut roots = state.roots.iter();
            let found = roots.find(|found| found.places.root == root);
            found.and_then(Root::accepted_with)
        };
        stamps.is_some_and(|stamps| stamps.hold())
    }

    /// Severities the client's settings ask for; they go over those of `[companion]`.
    pub fn set_severities(&self, severities: BTreeMap<Code, Option<Severity>>) {
        let mut state = self.lock();
        state.client_severities = severities;
        // Files that are no layers are judged by these alone: none of them is kept.
        state.files.clear();
        self.publish(state);
    }

    /// Where the layers of each root lie, with its repository.
    pub fn places(&self) -> Vec<(Places, Repo)> {
        self.lock()
            .roots
            .iter()
            .map(|root| (root.places.clone(), root.repo().clone()))
            .collect()
    }

    /// The file of a snapshot that a URI stands for.
    pub fn file(&self, snapshot: &Snapshot, uri: &str) -> Option<Arc<File>> {
        let id = {
            let state = self.lock();
            let key = state.key_of(uri);
            state.ids.get(&key).copied()
        };
        snapshot.file(id?).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic under the lock leaves a state that is still whole: each change is small and the
        // snapshot is made last.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, mut state: MutexGuard<'_, State>) {
        let snapshot = Arc::new(state.snapshot());
        // Under the lock, so that snapshots never go back.
        self.current.send_replace(snapshot);
    }
}
