use std::path::{Path, PathBuf};
use std::sync::Arc;

use kontext_config::facts::{Env, Facts, Now, Repo, Trust};
use kontext_config::layer::LayerKind;
use kontext_config::stack::Stack;
use kontext_ide::{Role, Workspace};

use crate::world::identity::canonical;
use crate::world::{DocKey, Places, find_repo};

/// Set to `1` it trusts the shared layer: for CI and sandboxes (adapters.md section 10).
const TRUST_VARIABLE: &str = "KONTEXT_TRUST_REPO_ADAPTERS";

/// A work tree under watch.
#[derive(Debug)]
pub(super) struct Root {
    /// What the client opened it by.
    pub(super) folder: PathBuf,
    /// Whether the client named it; else it is there because of a document in it.
    pub(super) named: bool,
    /// Where its layers lie, links resolved.
    pub(super) places: Places,
    /// The root as the client writes it, where that leads there through a link.
    shown: Option<PathBuf>,
    /// Each layer's place with the key of its document, lowest first.
    pub(super) layers: Vec<(LayerKind, PathBuf, DocKey)>,
    /// `store.dir` the places were found by.
    pub(super) store_dir: Option<String>,
    /// What is known of the world.
    pub(super) facts: Arc<Facts>,
    /// What the last snapshot showed; kept while nothing it is made of changes.
    pub(super) workspace: Option<Arc<Workspace>>,
}

impl Root {
    /// Looks at the disk for the repository and the places of the layers.
    pub(super) fn discover(
        folder: &Path,
        named: bool,
        env: &Env,
        config_home: &Path,
        now: Now,
    ) -> Self {
        let repo = find_repo(folder);
        let trust = match env.get(TRUST_VARIABLE) {
            Some("1") => Trust::ByEnvironment,
            _ => Trust::Untrusted,
        };
        let places = Places::new(&repo, config_home, None);
        let layers = keyed(&places);
        let facts = Facts {
            env: env.clone(),
            repo,
            now,
            trust,
            ..Facts::default()
        };
        Self {
            folder: folder.to_path_buf(),
            named,
            layers,
            shown: shown(folder, &places.root),
            places,
            store_dir: None,
            facts: Arc::new(facts),
            workspace: None,
        }
    }

    /// The places again, where the shared layer may have moved or appeared. True where they differ.
    pub(super) fn replace(&mut self, places: Places) -> bool {
        if places == self.places {
            return false;
        }
        self.layers = keyed(&places);
        self.places = places;
        true
    }

    /// The repository as it was found.
    pub(super) fn repo(&self) -> &Repo {
        &self.facts.repo
    }

    /// A path of this root as the client writes it.
    pub(super) fn shown(&self, path: &Path) -> PathBuf {
        let inside = path.strip_prefix(&self.places.root).ok();
        match self.shown.as_ref().zip(inside) {
            Some((shown, inside)) => shown.join(inside),
            None => path.to_path_buf(),
        }
    }

    /// The roles of a document in this root.
    pub(super) fn role(&self, workspace: usize, key: &DocKey) -> Option<Role> {
        let found = self.layers.iter().find(|(_, _, layer)| layer == key);
        found.map(|&(layer, _, _)| Role { workspace, layer })
    }
}

/// The folder above `folder`, or itself, that is `root` through a link; `None` where it is `root`
/// as it stands, or is not to be found.
fn shown(folder: &Path, root: &Path) -> Option<PathBuf> {
    if folder.starts_with(root) {
        return None;
    }
    let is_root = |above: &&Path| canonical(above) == root;
    folder.ancestors().find(is_root).map(Path::to_path_buf)
}

/// Where two layers are one file (a link), the lower one counts.
fn keyed(places: &Places) -> Vec<(LayerKind, PathBuf, DocKey)> {
    let mut layers: Vec<(LayerKind, PathBuf, DocKey)> = Vec::new();
    for (kind, path) in places.files() {
        let key = DocKey::from_path(path);
        if layers.iter().all(|(_, _, other)| *other != key) {
            layers.push((kind, path.to_path_buf(), key));
        }
    }
    layers
}

/// Whether two stacks are made of the same texts.
pub(super) fn same_texts(a: &Stack, b: &Stack) -> bool {
    a.trust == b.trust
        && a.layers.len() == b.layers.len()
        && a.layers.iter().zip(&b.layers).all(|(a, b)| {
            let same = match (&a.source, &b.source) {
                (Some(a), Some(b)) => Arc::ptr_eq(a, b),
                (None, None) => true,
                _ => false,
            };
            same && a.kind == b.kind && a.path == b.path && a.fault == b.fault
        })
}
