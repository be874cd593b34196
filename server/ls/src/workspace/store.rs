use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use kontext_config::codes::{Code, Severity};
use kontext_config::facts::{Env, Facts, Repo};
use kontext_config::layer::LayerKind;
use kontext_config::settings::Companion;
use kontext_config::source::Source;
use kontext_config::stack::{LayerSource, Stack};
use kontext_ide::diagnostics::Severities;
use kontext_ide::{File, FileId, Snapshot, Workspace};
use kontext_syntax::text::{Encoding, LineIndex};
use rustc_hash::FxHashMap;
use tokio::sync::watch;

use super::buffer::{Buffer, ContentChange, EditFault};
use super::root::{Root, same_texts};
use crate::world::trust::{Pins, ScriptCache};
use crate::world::{self, DocKey, Places, Platform, ReadFault, identity};

/// What a store is made with.
#[derive(Clone, Debug)]
pub struct Options {
    /// The environment that conditions and templates see.
    pub env: Env,
    /// The folder of the personal layers; `None` where there is no home.
    pub config_home: Option<PathBuf>,
    /// Whether an editor stands behind it.
    pub editor: bool,
}

impl Options {
    /// Those of this process.
    pub fn of_process(editor: bool) -> Self {
        let env = world::process_env();
        let config_home = world::config_home(&env, Platform::current());
        Self {
            env,
            config_home,
            editor,
        }
    }
}

/// The one place where state changes.
#[derive(Debug)]
pub struct Store {
    state: Mutex<State>,
    current: watch::Sender<Arc<Snapshot>>,
    scripts: Arc<ScriptCache>,
}

#[derive(Debug)]
struct State {
    options: Options,
    scripts: Arc<ScriptCache>,
    roots: Vec<Root>,
    buffers: FxHashMap<DocKey, Buffer>,
    disk: FxHashMap<DocKey, DiskFile>,
    ids: FxHashMap<DocKey, FileId>,
    files: BTreeMap<FileId, Arc<File>>,
    client_severities: BTreeMap<Code, Option<Severity>>,
    revision: u64,
}

/// The shared layer of a root, as it is saved: what a yes is given to.
#[derive(Clone, Debug)]
pub(crate) struct SharedLayer {
    /// Root of the work tree.
    pub(crate) root: PathBuf,
    /// Its file.
    pub(crate) path: PathBuf,
    /// The repository.
    pub(crate) repo: Repo,
    /// Its text.
    pub(crate) source: Arc<Source>,
    /// The file of pins.
    pub(crate) trust_file: PathBuf,
    /// Whether this text was looked at before.
    pub(super) judged: bool,
}

/// What a look at a shared layer has shown.
#[derive(Clone, Debug)]
struct Judgement {
    accepted: bool,
    fault: Option<String>,
}

impl Judgement {
    fn of(layer: &SharedLayer, look: &world::trust::Look) -> Self {
        match Pins::read(&layer.trust_file) {
            Ok(pins) => Self {
                accepted: look
                    .canonical
                    .as_ref()
                    .is_some_and(|form| pins.accepts(&layer.repo.id, form.pin())),
                fault: None,
            },
            Err(fault) => {
                tracing::warn!(%fault, "no pin counts");
                Self {
                    accepted: false,
                    fault: Some(fault.to_string()),
                }
            }
        }
    }
}

/// A layer's file as it was last read.
#[derive(Debug)]
struct DiskFile {
    source: Arc<Source>,
    lines: Arc<LineIndex>,
    fault: Option<Arc<str>>,
}

impl Store {
    /// A store without folders and documents.
    pub fn new(options: Options) -> Arc<Self> {
        let editor = options.editor;
        let scripts = Arc::new(ScriptCache::default());
        let state = State {
            options,
            scripts: Arc::clone(&scripts),
            roots: Vec::new(),
            buffers: FxHashMap::default(),
            disk: FxHashMap::default(),
            ids: FxHashMap::default(),
            files: BTreeMap::new(),
            client_severities: BTreeMap::new(),
            revision: 0,
        };
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
        buffer.uris.retain(|open| **open != *uri);
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
                let texts: Vec<_> = places
                    .files()
                    .map(|(_, path)| (DocKey::from_path(path), world::read_layer(path)))
                    .collect();
                (folder, repo, places, texts)
            })
            .collect();
        let mut state = self.lock();
        for (folder, repo, places, texts) in looks {
            let Some(root) = state.roots.iter_mut().find(|root| root.folder == folder) else {
                continue;
            };
            root.replace(places);
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

impl Options {
    /// A folder that does not exist stands for a home that is not known.
    fn config_home(&self) -> PathBuf {
        self.config_home
            .clone()
            .unwrap_or_else(|| PathBuf::from("/nonexistent/kontext"))
    }
}

impl State {
    fn set_folders(&mut self, folders: &[PathBuf]) {
        let mut before = std::mem::take(&mut self.roots);
        for folder in folders {
            let kept = before.iter().position(|root| root.folder == *folder);
            let mut root = match kept {
                Some(at) => before.swap_remove(at),
                None => self.discover(folder, true),
            };
            root.named = true;
            self.add_root(root);
        }
        // Roots that documents brought stay while such a document is open.
        for root in before {
            let used = root
                .layers
                .iter()
                .any(|(_, _, key)| self.buffers.contains_key(key));
            if !root.named && used {
                self.add_root(root);
            }
        }
        self.read_layers();
    }

    fn add_root(&mut self, root: Root) {
        if self
            .roots
            .iter()
            .all(|other| other.places.root != root.places.root)
        {
            self.roots.push(root);
        }
    }

    fn discover(&self, folder: &Path, named: bool) -> Root {
        Root::discover(
            folder,
            named,
            &self.options.env,
            &self.options.config_home(),
            world::now(),
        )
    }

    /// A document that is opened may be a layer of a work tree the client did not name: of a
    /// submodule, or because the client named no folder at all. True where it brought one.
    fn adopt(&mut self, key: &DocKey) -> bool {
        let Some(path) = key.path() else { return false };
        if self.is_layer(key) {
            return false;
        }
        let Some(folder) = path.parent() else {
            return false;
        };
        let root = self.discover(folder, false);
        if root.role(0, key).is_some() || self.roots.is_empty() {
            self.add_root(root);
            self.read_layers();
            return true;
        }
        false
    }

    /// The shared layer of a root, as it is saved.
    fn shared_layer(&self, root: &Root) -> Option<SharedLayer> {
        let mut layers = root.layers.iter();
        let (_, path, key) = layers.find(|(kind, _, _)| *kind == LayerKind::Shared)?;
        let file = self.disk.get(key).filter(|file| file.fault.is_none())?;
        Some(SharedLayer {
            root: root.places.root.clone(),
            path: path.clone(),
            repo: root.repo().clone(),
            source: Arc::clone(&file.source),
            trust_file: world::trust::trust_file(&self.options.config_home()),
            judged: root.is_judged(&file.source),
        })
    }

    /// Looks whether the shared layers that were not looked at are accepted. Roots are new then, and
    /// the disk is looked at for them anyway.
    fn judge(&mut self) {
        let scripts = Arc::clone(&self.scripts);
        let roots = self.roots.iter();
        let layers: Vec<_> = roots
            .filter_map(|root| self.shared_layer(root))
            .filter(|layer| !layer.judged)
            .collect();
        for layer in layers {
            let look = world::trust::look(&layer.source, &layer.repo, &scripts);
            let judgement = Judgement::of(&layer, &look);
            self.take_judgement(&layer, judgement);
        }
    }

    fn take_judgement(&mut self, layer: &SharedLayer, judgement: Judgement) -> bool {
        let mut roots = self.roots.iter_mut();
        let Some(root) = roots.find(|root| root.places.root == layer.root) else {
            return false;
        };
        let mut news = root.judge(&layer.source, judgement.accepted);
        if root.facts.trust_fault != judgement.fault {
            let mut facts = Facts::clone(&root.facts);
            facts.trust_fault = judgement.fault;
            root.facts = Arc::new(facts);
            news = true;
        }
        news
    }

    fn is_layer(&self, key: &DocKey) -> bool {
        self.roots.iter().any(|root| root.role(0, key).is_some())
    }

    /// The key of a document, without a look at the disk where the URI is one that is open.
    fn key_of(&self, uri: &str) -> DocKey {
        let open = self
            .buffers
            .iter()
            .find(|(_, buffer)| buffer.uris.iter().any(|open| **open == *uri));
        open.map_or_else(|| DocKey::from_uri(uri), |(key, _)| key.clone())
    }

    fn buffer_mut(&mut self, uri: &str) -> Option<&mut Buffer> {
        let key = self.key_of(uri);
        self.buffers.get_mut(&key)
    }

    /// Reads every layer's file; a text that is as it was stays the same value.
    fn read_layers(&mut self) {
        self.forget_unused();
        let layers = self.roots.iter().flat_map(|root| &root.layers);
        let wanted: Vec<_> = layers
            .map(|(_, path, key)| (key.clone(), path.clone()))
            .collect();
        for (key, path) in wanted {
            self.take(&key, world::read_layer(&path));
        }
    }

    /// Drops the files that are no layer of any root any more.
    fn forget_unused(&mut self) {
        let roots = &self.roots;
        self.disk
            .retain(|key, _| roots.iter().any(|root| root.role(0, key).is_some()));
    }

    /// Takes in what a layer's file holds now.
    fn take(&mut self, key: &DocKey, text: Result<Option<String>, ReadFault>) {
        let (text, fault) = match text {
            Ok(Some(text)) => (text, None),
            Ok(None) => {
                self.disk.remove(key);
                return;
            }
            Err(fault) => (String::new(), Some(fault.to_string().into())),
        };
        let same = |old: &&DiskFile| **old.source.document.text() == *text && old.fault == fault;
        if self.disk.get(key).as_ref().is_some_and(same) {
            return;
        }
        // What a buffer says already is not parsed twice.
        let open = self
            .buffers
            .get(key)
            .filter(|buffer| fault.is_none() && buffer.text() == text);
        let file = match open {
            Some(buffer) => DiskFile {
                source: Arc::clone(&buffer.source),
                lines: Arc::clone(&buffer.lines),
                fault,
            },
            None => DiskFile {
                lines: Arc::new(LineIndex::new(&text)),
                source: Arc::new(match self.disk.get(key) {
                    Some(before) => before.source.becoming(text),
                    None => Source::parse(text),
                }),
                fault,
            },
        };
        self.disk.insert(key.clone(), file);
    }

    /// The picture as it is now. What did not change is shared with the one before.
    fn snapshot(&mut self) -> Snapshot {
        self.revision += 1;
        self.find_moved_layers();
        let keys = self.known_keys();
        for key in &keys {
            let next = FileId(u32::try_from(self.ids.len()).unwrap_or(u32::MAX));
            self.ids.entry(key.clone()).or_insert(next);
        }
        let stacks: Vec<(Arc<Stack>, Arc<Stack>)> =
            self.roots.iter().map(|root| self.stacks(root)).collect();
        let ids = &self.ids;
        let (buffers, disk) = (&self.buffers, &self.disk);
        let client = &self.client_severities;
        let workspaces: Vec<Arc<Workspace>> = self
            .roots
            .iter_mut()
            .zip(stacks)
            .map(|(root, (stack, saved))| {
                if root.facts.trust != saved.trust {
                    let mut facts = Facts::clone(&root.facts);
                    facts.trust = saved.trust;
                    root.facts = Arc::new(facts);
                }
                let there = |key: &DocKey| buffers.contains_key(key) || disk.contains_key(key);
                let files: Vec<_> = root
                    .layers
                    .iter()
                    .filter(|(_, _, key)| there(key))
                    .filter_map(|(kind, _, key)| Some((*kind, *ids.get(key)?)))
                    .collect();
                let severities = severities(&stack, client);
                let kept = root.workspace.as_ref().filter(|old| {
                    Arc::ptr_eq(&old.stack, &stack)
                        && Arc::ptr_eq(&old.saved, &saved)
                        && Arc::ptr_eq(&old.facts, &root.facts)
                        && old.files == files
                        && *old.severities == severities
                });
                let workspace = kept.cloned().unwrap_or_else(|| {
                    Arc::new(Workspace {
                        root: root.places.root.clone(),
                        stack,
                        saved,
                        facts: Arc::clone(&root.facts),
                        files,
                        severities: Arc::new(severities),
                        statuses: OnceLock::new(),
                    })
                });
                root.workspace = Some(Arc::clone(&workspace));
                workspace
            })
            .collect();
        let mut files = BTreeMap::new();
        for key in keys {
            let Some(&id) = self.ids.get(&key) else {
                continue;
            };
            if let Some(file) = self.file(id, &key, &workspaces) {
                files.insert(id, file);
            }
        }
        self.files = files;
        Snapshot {
            revision: self.revision,
            workspaces,
            files: self.files.values().cloned().collect(),
            editor: self.options.editor,
            severities: Arc::new(self.client_severities.clone()),
        }
    }

    /// Documents that may be in the snapshot: open ones and layers.
    fn known_keys(&self) -> Vec<DocKey> {
        let mut keys: Vec<DocKey> = self.buffers.keys().cloned().collect();
        keys.extend(
            self.disk
                .keys()
                .filter(|key| !self.buffers.contains_key(key))
                .cloned(),
        );
        keys.sort();
        keys
    }

    /// Where `store.dir` has changed, the shared layer lies elsewhere.
    fn find_moved_layers(&mut self) {
        let config_home = self.options.config_home();
        let mut moved = false;
        for at in 0..self.roots.len() {
            let Some(root) = self.roots.get(at) else {
                continue;
            };
            let personal = self.stack_of(root, false, false);
            let store_dir = personal.store_dir().map(str::to_owned);
            if store_dir == root.store_dir {
                continue;
            }
            let places = Places::new(root.repo(), &config_home, store_dir.as_deref());
            if let Some(root) = self.roots.get_mut(at) {
                root.store_dir = store_dir;
                moved |= root.replace(places);
            }
        }
        if moved {
            self.read_layers();
            self.judge();
        }
    }

    /// The layers of a root, buffers over files, and the files alone; the stacks of before where
    /// all texts are the same.
    fn stacks(&self, root: &Root) -> (Arc<Stack>, Arc<Stack>) {
        let old = root.workspace.as_ref();
        let keep = |stack: Stack, old: Option<&Arc<Stack>>| match old
            .filter(|old| same_texts(old, &stack))
        {
            Some(old) => Arc::clone(old),
            None => Arc::new(stack),
        };
        let shown = keep(self.stack_of(root, true, true), old.map(|old| &old.stack));
        let saved = keep(self.stack_of(root, true, false), old.map(|old| &old.saved));
        (shown, saved)
    }

    fn stack_of(&self, root: &Root, shared: bool, buffers: bool) -> Stack {
        let layers = root
            .layers
            .iter()
            .filter(|(kind, _, _)| shared || kind.is_personal());
        let layers = layers.map(|(kind, path, key)| {
            let disk = self.disk.get(key);
            let source = match self.buffers.get(key).filter(|_| buffers) {
                Some(buffer) => Some(Arc::clone(&buffer.source)),
                None => disk
                    .filter(|file| file.fault.is_none())
                    .map(|file| Arc::clone(&file.source)),
            };
            let fault = match source {
                Some(_) => None,
                None => disk.and_then(|file| file.fault.as_deref().map(str::to_owned)),
            };
            LayerSource {
                kind: *kind,
                path: path.clone(),
                source,
                fault,
            }
        });
        let layers: Vec<LayerSource> = layers.collect();
        let mut sources = layers.iter();
        let shared = sources.find(|layer| layer.kind == LayerKind::Shared);
        let trust = root.trust(shared.and_then(|layer| layer.source.as_ref()));
        Stack { layers, trust }
    }

    /// One file of the snapshot; the value of before where nothing it depends on changed.
    fn file(&self, id: FileId, key: &DocKey, workspaces: &[Arc<Workspace>]) -> Option<Arc<File>> {
        let buffer = self.buffers.get(key);
        let disk = self.disk.get(key);
        let roots = self.roots.iter().enumerate();
        let roles: Vec<_> = roots.filter_map(|(at, root)| root.role(at, key)).collect();
        let (source, lines) = match (buffer, disk) {
            (Some(buffer), _) => (&buffer.source, &buffer.lines),
            (None, Some(file)) => (&file.source, &file.lines),
            (None, None) => return None,
        };
        let unsaved = buffer.is_some_and(|buffer| match disk {
            Some(file) if file.fault.is_none() => **file.source.document.text() != *buffer.text(),
            _ => buffer.touched,
        });
        let saved = disk
            .filter(|file| file.fault.is_none())
            .map(|file| &file.source);
        let version = buffer.map(|buffer| buffer.version);
        let fault = disk
            .and_then(|file| file.fault.clone())
            .filter(|_| buffer.is_none());
        // A layer goes by the path the layers are found by, whatever links lead to its text.
        let layer = roles.first().and_then(|role| {
            let path = self.path_of(role.workspace, key)?;
            Some((self.roots.get(role.workspace)?.shown(&path), path))
        });
        let uri = match buffer.and_then(|buffer| buffer.uris.last()) {
            Some(uri) => Arc::clone(uri),
            None => {
                let shown = layer.as_ref().map(|(shown, _)| shown.as_path());
                identity::path_to_uri(shown.or_else(|| key.path())?, Platform::current())?.into()
            }
        };
        let before = self.files.get(&id);
        if let Some(file) = before
            && Arc::ptr_eq(&file.source, source)
            && file.version == version
            && file.unsaved == unsaved
            && file.saved.as_ref().map(Arc::as_ptr) == saved.map(Arc::as_ptr)
            && file.fault == fault
            && file.uri == uri
            && file.roles == roles
            && self.judged_alike(file, workspaces)
        {
            return Some(Arc::clone(file));
        }
        let opened = || identity::uri_to_path(buffer?.uris.last()?, Platform::current());
        let path = layer
            .map(|(_, path)| path)
            .or_else(opened)
            .or_else(|| key.path().map(Path::to_path_buf));
        Some(Arc::new(File {
            id,
            path,
            uri,
            source: Arc::clone(source),
            lines: Arc::clone(lines),
            version,
            open: buffer.is_some(),
            unsaved,
            saved: saved.cloned(),
            fault,
            before: before
                .map(|file| Snapshot::outcomes(file))
                .unwrap_or_default(),
            judged: judges(&roles, workspaces),
            roles,
            checked: OnceLock::new(),
            merged: OnceLock::new(),
        }))
    }

    /// Whether the layers and severities a file was judged by are still the same.
    fn judged_alike(&self, file: &File, workspaces: &[Arc<Workspace>]) -> bool {
        let now = judges(&file.roles, workspaces);
        now.len() == file.judged.len()
            && now.iter().zip(&file.judged).all(|(now, then)| {
                Arc::ptr_eq(&now.stack, &then.stack) && now.severities == then.severities
            })
    }

    fn path_of(&self, root: usize, key: &DocKey) -> Option<PathBuf> {
        let layers = &self.roots.get(root)?.layers;
        layers
            .iter()
            .find(|(_, _, layer)| layer == key)
            .map(|(_, path, _)| path.clone())
    }
}

fn judges(roles: &[kontext_ide::Role], workspaces: &[Arc<Workspace>]) -> Vec<Arc<Workspace>> {
    roles
        .iter()
        .filter_map(|role| workspaces.get(role.workspace).cloned())
        .collect()
}

fn severities(stack: &Stack, client: &Severities) -> Severities {
    let mut severities = Companion::of(stack).severity;
    severities.extend(client.iter().map(|(code, level)| (*code, *level)));
    severities
}
