//! Where the layers of a configuration lie, and their text (adapters.md section 1).

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use kontext_config::facts::Repo;
use kontext_config::layer::LayerKind;

/// The folder of the shared layer where no trusted layer sets `store.dir`.
pub const DEFAULT_STORE_DIR: &str = ".ai";

/// Largest layer that is read, in bytes.
pub const MAX_LAYER: u64 = 8 * 1024 * 1024;

/// Where each layer of one workspace lies. A layer's file need not exist, except `shared`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// Root of the work tree.
    pub root: PathBuf,
    /// Folder of the personal layers.
    pub config_home: PathBuf,
    /// Layer 2, `<config_home>/config.toml`.
    pub user: PathBuf,
    /// Layer 3, `<config_home>/repos/<slug>.toml`.
    pub repository: PathBuf,
    /// Layer 4: the first of `shared_candidates` that exists.
    pub shared: Option<PathBuf>,
    /// Where layer 4 may lie, best first, each place once.
    pub shared_candidates: Vec<PathBuf>,
    /// Layer 5, `<git-common-dir>/kontext/config.toml`; `None` outside a repository.
    pub clone: Option<PathBuf>,
}

impl Places {
    /// The places of a work tree. `store_dir` is the value of `store.dir` in the trusted layers,
    /// relative to the root; empty or missing it is `.ai`. Looks at the disk for `shared`.
    pub fn new(repo: &Repo, config_home: &Path, store_dir: Option<&str>) -> Self {
        let root = &repo.root;
        let store = store_dir.map(str::trim).filter(|dir| !dir.is_empty());
        let mut shared_candidates = vec![root.join(".kontext.toml")];
        for dir in [store.unwrap_or(DEFAULT_STORE_DIR), DEFAULT_STORE_DIR] {
            // Through the components `.ai/` and `./.ai` are the same place as `.ai`.
            let place: PathBuf = root.join(dir).join("kontext.toml").components().collect();
            if !shared_candidates.contains(&place) {
                shared_candidates.push(place);
            }
        }
        Self {
            root: root.clone(),
            config_home: config_home.to_path_buf(),
            user: config_home.join("config.toml"),
            repository: config_home
                .join("repos")
                .join(format!("{}.toml", repo.slug)),
            shared: first_existing(&shared_candidates),
            shared_candidates,
            clone: repo
                .common_dir
                .as_ref()
                .filter(|dir| is_own(dir, root))
                .map(|dir| dir.join("kontext").join("config.toml")),
        }
    }

    /// The file of one layer, where it has a place.
    pub fn file(&self, layer: LayerKind) -> Option<&Path> {
        match layer {
            LayerKind::User => Some(&self.user),
            LayerKind::Repository => Some(&self.repository),
            LayerKind::Shared => self.shared.as_deref(),
            LayerKind::Clone => self.clone.as_deref(),
        }
    }

    /// The layers that have a place with their files, lowest precedence first.
    pub fn files(&self) -> impl Iterator<Item = (LayerKind, &Path)> {
        LayerKind::ALL
            .into_iter()
            .filter_map(|layer| Some((layer, self.file(layer)?)))
    }
}

/// Whether the git directory is this user's own, so that the layer in it is: not one that another
/// user has laid where this one works, nor one that came as a part of the work tree itself.
fn is_own(common_dir: &Path, root: &Path) -> bool {
    let comes_along = common_dir.starts_with(root) && !common_dir.starts_with(root.join(".git"));
    !comes_along && is_owned(common_dir) && is_owned(&common_dir.join("kontext/config.toml"))
}

/// Whether a file or folder belongs to this user; one that is not there does no harm.
#[cfg(unix)]
fn is_owned(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match fs::symlink_metadata(path) {
        Ok(meta) => meta.uid() == rustix::process::geteuid().as_raw(),
        Err(error) => is_missing(&error),
    }
}

#[cfg(not(unix))]
fn is_owned(_path: &Path) -> bool {
    true
}

/// The first candidate that is there. One that cannot be looked at counts: its fault is to be
/// seen, not skipped in favour of another file.
fn first_existing(candidates: &[PathBuf]) -> Option<PathBuf> {
    let there = |path: &&PathBuf| match fs::metadata(path) {
        Ok(_) => true,
        Err(error) => !is_missing(&error),
    };
    candidates.iter().find(there).cloned()
}

/// Why a layer that is there cannot be used. The sentence is for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadFault {
    /// The path is a folder.
    #[error("{} is a folder, not a file", .0.display())]
    Folder(PathBuf),
    /// A pipe, socket or device.
    #[error("{} is not an ordinary file", .0.display())]
    Special(PathBuf),
    /// Larger than [`MAX_LAYER`].
    #[error("{} is larger than 64 MiB", .0.display())]
    TooLarge(PathBuf),
    /// Not UTF-8.
    #[error("{} is not UTF-8: line {line} holds a byte that belongs to no character", .path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// Line of the first bad byte, from 1.
        line: usize,
    },
    /// No permission.
    #[error("{} may not be read: permission denied", .0.display())]
    Denied(PathBuf),
    /// Anything else the system said.
    #[error("{} cannot be read: {reason}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
}

/// The text of a layer, a byte order mark included; `None` where there is no such file.
///
/// # Errors
/// A [`ReadFault`] where something is there that cannot be read as a layer.
pub fn read_layer(path: &Path) -> Result<Option<String>, ReadFault> {
    // Looked at before it is opened: to open a pipe would wait for its writer.
    let meta = match fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(io_fault(path, &error)),
    };
    if meta.is_dir() {
        return Err(ReadFault::Folder(path.to_path_buf()));
    }
    if !meta.is_file() {
        return Err(ReadFault::Special(path.to_path_buf()));
    }
    if meta.len() > MAX_LAYER {
        return Err(ReadFault::TooLarge(path.to_path_buf()));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0));
    let read = File::open(path).and_then(|file| file.take(MAX_LAYER + 1).read_to_end(&mut bytes));
    match read {
        Ok(_) => {}
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(io_fault(path, &error)),
    }
    // It may have grown since it was looked at.
    if bytes.len() as u64 > MAX_LAYER {
        return Err(ReadFault::TooLarge(path.to_path_buf()));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let good = error.utf8_error().valid_up_to();
            let breaks = error
                .as_bytes()
                .iter()
                .take(good)
                .filter(|byte| **byte == b'\n')
                .count();
            Err(ReadFault::NotUtf8 {
                path: path.to_path_buf(),
                line: breaks + 1,
            })
        }
    }
}

/// Whether an error says that nothing is there (a folder on the way may be a file).
pub(super) fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidFilename
    )
}

fn io_fault(path: &Path, error: &io::Error) -> ReadFault {
    let path = path.to_path_buf();
    match error.kind() {
        ErrorKind::PermissionDenied => ReadFault::Denied(path),
        _ => ReadFault::Io {
            path,
            reason: error.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repo(root: &Path, common: Option<&str>) -> Repo {
        Repo {
            slug: "github.com-acme-shop".into(),
            root: root.to_path_buf(),
            common_dir: common.map(|dir| root.join(dir)),
            ..Repo::default()
        }
    }

    fn names(places: &Places) -> Vec<String> {
        let relative = |path: &PathBuf| {
            path.strip_prefix(&places.root)
                .unwrap()
                .display()
                .to_string()
        };
        places.shared_candidates.iter().map(relative).collect()
    }

    #[test]
    fn places_of_all_layers() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let home = Path::new("/conf");
        let places = Places::new(&repo(root, Some(".git")), home, None);
        assert_eq!(places.user, home.join("config.toml"));
        assert_eq!(
            places.repository,
            home.join("repos/github.com-acme-shop.toml")
        );
        assert_eq!(places.clone, Some(root.join(".git/kontext/config.toml")));
        assert_eq!(names(&places), [".kontext.toml", ".ai/kontext.toml"]);
        assert_eq!(places.shared, None);
        let layers: Vec<_> = places.files().map(|(layer, _)| layer).collect();
        assert_eq!(
            layers,
            [LayerKind::User, LayerKind::Repository, LayerKind::Clone]
        );
        assert_eq!(Places::new(&repo(root, None), home, None).clone, None);
    }

    #[test]
    fn the_first_shared_candidate_that_exists() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let places = |store| Places::new(&repo(root, None), Path::new("/c"), store);
        fs::create_dir_all(root.join(".ai")).unwrap();
        fs::create_dir_all(root.join("mem/deep")).unwrap();
        fs::write(root.join(".ai/kontext.toml"), "").unwrap();
        assert_eq!(
            places(Some("mem/deep")).shared,
            Some(root.join(".ai/kontext.toml"))
        );
        fs::write(root.join("mem/deep/kontext.toml"), "").unwrap();
        assert_eq!(
            places(Some("mem/deep")).shared,
            Some(root.join("mem/deep/kontext.toml"))
        );
        assert_eq!(places(None).shared, Some(root.join(".ai/kontext.toml")));
        fs::write(root.join(".kontext.toml"), "").unwrap();
        assert_eq!(
            places(Some("mem/deep")).shared,
            Some(root.join(".kontext.toml"))
        );
        for store in ["", " ", ".ai", ".ai/", "./.ai"] {
            assert_eq!(names(&places(Some(store))).len(), 2, "{store:?}");
        }
    }

    #[test]
    fn a_layer_s_text_comes_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x.toml");
        assert_eq!(read_layer(&file), Ok(None));
        fs::write(&file, "\u{feff}a = 1\r\n").unwrap();
        assert_eq!(read_layer(&file), Ok(Some("\u{feff}a = 1\r\n".into())));
        // A file where a folder is expected: nothing is there.
        assert_eq!(read_layer(&file.join("y.toml")), Ok(None));
        assert_eq!(read_layer(Path::new("/a\u{0}b")), Ok(None));
    }

    fn fault(path: &Path) -> String {
        let sentence = read_layer(path).unwrap_err().to_string();
        sentence.replace(&path.display().to_string(), "F")
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(fault(dir.path()), "F is a folder, not a file");
        let file = dir.path().join("x");
        fs::write(&file, b"a = 1\nb = \"\xff\"\n").unwrap();
        assert_eq!(
            fault(&file),
            "F is not UTF-8: line 2 holds a byte that belongs to no character"
        );
        File::create(&file).unwrap().set_len(MAX_LAYER + 1).unwrap();
        assert_eq!(fault(&file), "F is larger than 64 MiB");
    }

    #[cfg(unix)]
    #[test]
    fn pipes_devices_and_loops_do_not_hang() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(fault(Path::new("/dev/zero")), "F is not an ordinary file");
        // A socket stands for everything that would block when opened.
        let socket = dir.path().join("s");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert_eq!(fault(&socket), "F is not an ordinary file");
        let link = dir.path().join("loop");
        std::os::unix::fs::symlink("loop", &link).unwrap();
        assert!(
            fault(&link).starts_with("F cannot be read: "),
            "{}",
            fault(&link)
        );
        // Such a link is seen as the shared layer, so that its fault is.
        std::os::unix::fs::symlink(".kontext.toml", dir.path().join(".kontext.toml")).unwrap();
        let places = Places::new(&repo(dir.path(), None), Path::new("/c"), None);
        assert!(places.shared.is_some());
    }
}
