use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use kontext_config::facts::Facts;
use kontext_config::layer::LayerKind;
use kontext_config::settings::Companion;
use kontext_config::stack::{LayerSource, Stack};
use kontext_ide::diagnostics::Severities;
use kontext_ide::{File, FileId, Role, Snapshot, Workspace};

use super::root::{Root, keyed, same_texts};
use super::state::State;
use crate::world::{DocKey, Places, Platform, identity};

impl State {
    /// The picture as it is now. What did not change is shared with the one before.
    pub(super) fn snapshot(&mut self) -> Snapshot {
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
            let layers = keyed(&places);
            if let Some(root) = self.roots.get_mut(at) {
                root.store_dir = store_dir;
                moved |= root.replace(places, layers);
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

fn judges(roles: &[Role], workspaces: &[Arc<Workspace>]) -> Vec<Arc<Workspace>> {
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
