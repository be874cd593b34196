use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use kontext_config::facts::{Env, Facts, Now, Repo, Trust};
use kontext_config::layer::LayerKind;
use kontext_config::source::Source;
use kontext_config::stack::Stack;
use kontext_config::trust::same_meaning;
use kontext_ide::{Role, Workspace};

use crate::world::identity::canonical;
use crate::world::trust::Stamps;
use crate::world::{DocKey, Places, find_repo};

/// Set to `1` it trusts the shared layer: for CI and sandboxes (adapters.md section 10).
const TRUST_VARIABLE: &str = "KONTEXT_TRUST_REPO_ADAPTERS";

/// Places of layers with the keys of their documents.
pub(super) type Layers = Vec<(LayerKind, PathBuf, DocKey)>;

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
    pub(super) layers: Layers,
    /// `store.dir` the places were found by.
    pub(super) store_dir: Option<String>,
    /// Whether `KONTEXT_TRUST_REPO_ADAPTERS=1` trusts the shared layer.
    by_environment: bool,
    /// The text of the shared layer that was last looked at, and whether it is accepted.
    judged: Option<(Arc<Source>, bool)>,
    /// The files that this text names, as they were then.
    stamps: Arc<Stamps>,
    /// The last text that was compared with it, and whether it says the same.
    compared: Mutex<Option<(Weak<Source>, bool)>>,
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
        let by_environment = env.get(TRUST_VARIABLE) == Some("1");
        let places = Places::new(&repo, config_home, None);
        let layers = keyed(&places);
        let facts = Facts {
            env: env.clone(),
            repo,
            now,
            ..Facts::default()
        };
        Self {
            folder: folder.to_path_buf(),
            named,
            layers,
            shown: shown(folder, &places.root),
            places,
            store_dir: None,
            by_environment,
            judged: None,
            stamps: Arc::default(),
            compared: Mutex::default(),
            facts: Arc::new(facts),
            workspace: None,
        }
    }

    /// The places again, where a layer may have moved or appeared, or be a link that leads
    /// elsewhere now. `layers` are those of the places. True where they differ.
    pub(super) fn replace(&mut self, places: Places, mut layers: Layers) -> bool {
        if places.shared.is_none() {
            // Open but not saved yet; see `expects`.
            let mut known = self.layers.iter();
            let expected = known.find(|(kind, path, _)| {
                *kind == LayerKind::Shared && places.shared_candidates.contains(path)
            });
            layers.extend(expected.cloned());
            layers.sort_by_key(|(kind, _, _)| *kind);
        }
        if places == self.places && layers == self.layers {
            return false;
        }
        self.layers = layers;
        self.places = places;
        true
    }

    /// Whether a document is the shared layer that is not on disk yet: it counts from then on, as
    /// an open document of a layer with a fixed place does.
    pub(super) fn expects(&mut self, key: &DocKey) -> bool {
        if self.places.shared.is_some() {
            return false;
        }
        let candidates = &self.places.shared_candidates;
        let Some(path) = candidates
            .iter()
            .find(|path| DocKey::from_path(path) == *key)
        else {
            return false;
        };
        let layer = (LayerKind::Shared, path.clone(), key.clone());
        self.layers
            .retain(|(kind, _, _)| *kind != LayerKind::Shared);
        self.layers.push(layer);
        self.layers.sort_by_key(|(kind, _, _)| *kind);
        true
    }

    /// Whether a text of the shared layer is trusted. It is one that was looked at on disk and
    /// accepted, or says the same: an edit that changes nothing waits for nothing, and any other is
    /// not trusted before it is saved and accepted.
    pub(super) fn trust(&self, shared: Option<&Arc<Source>>) -> Trust {
        if self.by_environment {
            return Trust::ByEnvironment;
        }
        let (Some(text), Some((judged, true))) = (shared, &self.judged) else {
            return Trust::Untrusted;
        };
        let same = Arc::ptr_eq(text, judged) || {
            let mut compared = self.compared.lock().unwrap_or_else(PoisonError::into_inner);
            match &*compared {
                Some((last, same)) if std::ptr::eq(last.as_ptr(), &**text) => *same,
                _ => {
                    let same = same_meaning(judged, text);
                    *compared = Some((Arc::downgrade(text), same));
                    same
                }
            }
        };
        if same {
            Trust::Pinned
        } else {
            Trust::Untrusted
        }
    }

    /// Whether the shared layer with this text has been looked at, as far as that is needed.
    pub(super) fn is_judged(&self, shared: &Arc<Source>) -> bool {
        let judged = self.judged.as_ref();
        self.by_environment || judged.is_some_and(|(judged, _)| Arc::ptr_eq(judged, shared))
    }

    /// What a look at the disk has shown of the shared layer. True where it is news.
    pub(super) fn judge(
        &mut self,
        shared: &Arc<Source>,
        accepted: bool,
        stamps: Arc<Stamps>,
    ) -> bool {
        self.stamps = stamps;
        let known = |(judged, known): &(Arc<Source>, bool)| {
            Arc::ptr_eq(judged, shared) && *known == accepted
        };
        if self.judged.as_ref().is_some_and(known) {
            return false;
        }
        self.judged = Some((Arc::clone(shared), accepted));
        self.compared = Mutex::default();
        true
    }

    /// What has to be as it was for a yes to count; `None` where there is none.
    pub(super) fn accepted_with(&self) -> Option<Arc<Stamps>> {
        matches!(self.judged, Some((_, true))).then(|| Arc::clone(&self.stamps))
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

/// The layers that have a place. Where two are one file (a link), the lower one counts. Looks at the
/// disk for links.
pub(super) fn keyed(places: &Places) -> Layers {
    let mut layers = Layers::new();
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
