//! Which folders have to be listened to so that a set of paths is watched, and what an event in
//! one of them means. The first half looks at the disk, the second is pure.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};

/// Links followed from one watched path.
const MAX_HOPS: usize = 8;

/// Folders to listen to (never below them) and the meaning of what happens there. Folders and
/// names are resolved, as events name the folder the way it was given to the system, and the
/// system knows one watch a folder, whatever path leads there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// Existing folders to listen to.
    pub(super) anchors: BTreeSet<PathBuf>,
    /// A path in an anchor → the watched paths that it is, or that lead through it as a link.
    names: HashMap<PathBuf, BTreeSet<PathBuf>>,
    /// A watched path that is a folder, resolved → as it was asked for.
    folders: HashMap<PathBuf, BTreeSet<PathBuf>>,
    /// What has to appear in an anchor before something watched below it can.
    steps: HashSet<PathBuf>,
}

/// What an event means.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Meaning {
    /// Watched paths that changed.
    pub(super) touched: BTreeSet<PathBuf>,
    /// Anchors that are gone or moved: the system no longer watches what stands at that path.
    pub(super) lost: BTreeSet<PathBuf>,
    /// A look at everything is due.
    pub(super) rescan: bool,
}

impl Meaning {
    pub(super) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl Plan {
    pub(super) fn of<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        let mut plan = Self::default();
        for path in paths {
            plan.add(path);
        }
        plan
    }

    fn add(&mut self, path: &Path) {
        let mut hop = path.to_path_buf();
        for _ in 0..MAX_HOPS {
            let (Some(parent), Some(name)) = (hop.parent(), hop.file_name()) else {
                break;
            };
            let Some(folder) = existing_folder(parent) else {
                self.add_step(parent);
                break;
            };
            let place = folder.join(name);
            self.anchors.insert(folder.clone());
            self.names
                .entry(place.clone())
                .or_default()
                .insert(path.to_path_buf());
            match fs::read_link(&place) {
                Ok(target) => hop = folder.join(target),
                Err(_) => break,
            }
        }
        if let Some(folder) = existing_folder(path) {
            self.anchors.insert(folder.clone());
            self.folders
                .entry(folder)
                .or_default()
                .insert(path.to_path_buf());
        }
    }

    /// Listens where the first missing folder on the way to `missing` will appear.
    fn add_step(&mut self, missing: &Path) {
        let mut below = missing;
        for ancestor in missing.ancestors().skip(1) {
            if let (Some(folder), Some(name)) = (existing_folder(ancestor), below.file_name()) {
                self.steps.insert(folder.join(name));
                self.anchors.insert(folder);
                return;
            }
            below = ancestor;
        }
    }

    pub(super) fn meaning(&self, event: &notify::Event) -> Meaning {
        let mut meaning = Meaning {
            rescan: event.need_rescan(),
            ..Meaning::default()
        };
        // To read a file is an event too, and we read what changed: only writers count.
        let by_writer = match event.kind {
            EventKind::Access(kind) => kind == AccessKind::Close(AccessMode::Write),
            _ => true,
        };
        if !by_writer {
            return meaning;
        }
        let may_be_gone = matches!(
            event.kind,
            EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)) | EventKind::Any
        );
        let in_listing = may_be_gone
            || matches!(
                event.kind,
                EventKind::Create(_)
                    | EventKind::Modify(ModifyKind::Metadata(_) | ModifyKind::Any)
                    | EventKind::Other
            );
        for path in &event.paths {
            if let Some(watched) = self.names.get(path) {
                meaning.touched.extend(watched.iter().cloned());
            }
            if in_listing && let Some(watched) = path.parent().and_then(|p| self.folders.get(p)) {
                meaning.touched.extend(watched.iter().cloned());
            }
            if self.steps.contains(path) {
                meaning.rescan = true;
            }
            if may_be_gone && self.anchors.contains(path) {
                meaning.lost.insert(path.clone());
            }
        }
        meaning
    }
}

fn existing_folder(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok().filter(|folder| folder.is_dir())
}
