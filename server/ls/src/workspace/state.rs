use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kontext_config::codes::{Code, Severity};
use kontext_config::facts::Env;
use kontext_config::source::Source;
use kontext_ide::{File, FileId};
use kontext_syntax::text::LineIndex;
use rustc_hash::FxHashMap;

use super::buffer::Buffer;
use super::root::Root;
use crate::world::trust::ScriptCache;
use crate::world::{self, DocKey, Platform, ReadFault};

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

    /// A folder that does not exist stands for a home that is not known.
    pub(super) fn config_home(&self) -> PathBuf {
        self.config_home
            .clone()
            .unwrap_or_else(|| PathBuf::from("/nonexistent/kontext"))
    }
}

/// What a store holds under its lock: the roots, the open buffers and the files on disk.
#[derive(Debug)]
pub(super) struct State {
    pub(super) options: Options,
    pub(super) scripts: Arc<ScriptCache>,
    pub(super) roots: Vec<Root>,
    pub(super) buffers: FxHashMap<DocKey, Buffer>,
    pub(super) disk: FxHashMap<DocKey, DiskFile>,
    pub(super) ids: FxHashMap<DocKey, FileId>,
    pub(super) files: BTreeMap<FileId, Arc<File>>,
    pub(super) client_severities: BTreeMap<Code, Option<Severity>>,
    pub(super) revision: u64,
}

/// A layer's file as it was last read.
#[derive(Debug)]
pub(super) struct DiskFile {
    /// What the text says.
    pub(super) source: Arc<Source>,
    /// Where its lines begin.
    pub(super) lines: Arc<LineIndex>,
    /// Why it could not be read; the text is empty then.
    pub(super) fault: Option<Arc<str>>,
}

impl State {
    /// Nothing yet.
    pub(super) fn new(options: Options, scripts: Arc<ScriptCache>) -> Self {
        Self {
            options,
            scripts,
            roots: Vec::new(),
            buffers: FxHashMap::default(),
            disk: FxHashMap::default(),
            ids: FxHashMap::default(),
            files: BTreeMap::new(),
            client_severities: BTreeMap::new(),
            revision: 0,
        }
    }

    /// Makes these folders the roots, and reads their layers.
    pub(super) fn set_folders(&mut self, folders: &[PathBuf]) {
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
    pub(super) fn adopt(&mut self, key: &DocKey) -> bool {
        let Some(path) = key.path() else { return false };
        if self.is_layer(key) || self.roots.iter_mut().any(|root| root.expects(key)) {
            return false;
        }
        let Some(folder) = path.parent() else {
            return false;
        };
        let mut root = self.discover(folder, false);
        root.expects(key);
        if root.role(0, key).is_some() || self.roots.is_empty() {
            self.add_root(root);
            self.read_layers();
            return true;
        }
        false
    }

    /// Whether a document is a layer of any root.
    pub(super) fn is_layer(&self, key: &DocKey) -> bool {
        self.roots.iter().any(|root| root.role(0, key).is_some())
    }

    /// The key of a document, without a look at the disk where the URI is one that is open.
    pub(super) fn key_of(&self, uri: &str) -> DocKey {
        let open = self
            .buffers
            .iter()
            .find(|(_, buffer)| buffer.uris.iter().any(|open| **open == *uri));
        open.map_or_else(|| DocKey::from_uri(uri), |(key, _)| key.clone())
    }

    /// The open document of a URI.
    pub(super) fn buffer_mut(&mut self, uri: &str) -> Option<&mut Buffer> {
        let key = self.key_of(uri);
        self.buffers.get_mut(&key)
    }

    /// Reads every layer's file; a text that is as it was stays the same value.
    pub(super) fn read_layers(&mut self) {
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
    pub(super) fn forget_unused(&mut self) {
        let roots = &self.roots;
        self.disk
            .retain(|key, _| roots.iter().any(|root| root.role(0, key).is_some()));
    }

    /// Takes in what a layer's file holds now.
    pub(super) fn take(&mut self, key: &DocKey, text: Result<Option<String>, ReadFault>) {
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
}
