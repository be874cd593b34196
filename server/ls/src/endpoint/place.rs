//! The private directory.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// The longest path a Unix socket can have here, in bytes. `sun_path` holds 108 on Linux and 104
/// on macOS and the BSDs, its final zero included.
const MAX_SOCKET_PATH: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// The longest file name used in the directory, in bytes: a dot, 16 hexadecimal digits, a dash, a
/// process id of 10 digits, a dash and a serial number of 2, an extension.
const MAX_NAME: usize = 1 + 16 + 1 + 10 + 3 + 5;

/// Why a directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// It is not there or cannot be made.
    #[error("{path}: {error}", path = .path.display())]
    Io {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Somebody else could reach or replace what lies in it.
    #[error("{path} is not private to this user: {reason}", path = .path.display())]
    NotPrivate {
        /// The directory.
        path: PathBuf,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A socket in it would have too long a path.
    #[error("{path} is too long for a socket's path", path = .path.display())]
    TooLong {
        /// The directory.
        path: PathBuf,
    },
}

/// A directory that has been found private.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    dir: PathBuf,
}

impl Place {
    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Checks that `dir` exists and is private.
    ///
    /// # Errors
    ///
    /// Where it is not there, is a symbolic link, belongs to somebody else, or is open to others.
    pub fn open(dir: &Path) -> Result<Self, PlaceError> {
        check(dir)?;
        Ok(Self {
            dir: dir.to_owned(),
        })
    }

    /// The same, after making `dir` with mode 0700 where it does not exist. Its parent must.
    ///
    /// # Errors
    ///
    /// Those of [`Place::open`], and where it cannot be made or is too deep for a socket.
    pub fn create(dir: &Path) -> Result<Self, PlaceError> {
        if dir.as_os_str().len() + 1 + MAX_NAME > MAX_SOCKET_PATH {
            return Err(PlaceError::TooLong {
                path: dir.to_owned(),
            });
        }
        // Made private in one step; whoever was faster is judged below.
        match make_private(dir) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                return Err(PlaceError::Io {
                    path: dir.to_owned(),
                    error,
                });
            }
        }
        Self::open(dir)
    }
}

/// The directories to look in, best first. Both sides compute the same list; where an editor and
/// an agent were started with different environments, they still meet in the last one.
#[derive(Debug, Clone, Default)]
pub struct Places {
    dirs: Vec<PathBuf>,
}

impl Places {
    /// Those that the environment names: `$XDG_RUNTIME_DIR/kontext-ls`, then a directory named by
    /// user id under the temporary directory, then one under `/tmp`.
    pub fn of_environment() -> Self {
        Self::of(std::env::var_os("XDG_RUNTIME_DIR"), std::env::temp_dir())
    }

    /// These, best first.
    pub fn new(dirs: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            dirs: dirs.into_iter().collect(),
        }
    }

    fn of(runtime: Option<OsString>, temporary: PathBuf) -> Self {
        let mut dirs = Vec::new();
        if let Some(runtime) = runtime.map(PathBuf::from).filter(|dir| dir.is_absolute()) {
            dirs.push(runtime.join("kontext-ls"));
        }
        let name = format!("kontext-ls-{}", own_uid());
        for base in [temporary, PathBuf::from("/tmp")] {
            let dir = base.join(&name);
            if base.is_absolute() && !dirs.contains(&dir) {
                dirs.push(dir);
            }
        }
        Self { dirs }
    }

    /// The first that exists or can be made, and is private.
    ///
    /// # Errors
    ///
    /// The fault of the last one, where none will do.
    pub fn create(&self) -> Result<Place, PlaceError> {
        let mut fault = PlaceError::Io {
            path: PathBuf::from("kontext-ls"),
            error: io::Error::new(io::ErrorKind::NotFound, "there is no directory for sockets"),
        };
        for dir in &self.dirs {
            match Place::create(dir) {
                Ok(place) => return Ok(place),
                Err(error) => {
                    tracing::debug!(%error, "not used for sockets");
                    fault = error;
                }
            }
        }
        Err(fault)
    }

    /// All that exist or can be made, and are private; the best first.
    pub fn create_all(&self) -> Vec<Place> {
        self.dirs
            .iter()
            .filter_map(|dir| Place::create(dir).ok())
            .collect()
    }

    /// All that exist and are private.
    pub fn existing(&self) -> Vec<Place> {
        self.dirs
            .iter()
            .filter_map(|dir| Place::open(dir).ok())
            .collect()
    }
}

#[cfg(unix)]
pub(super) fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
pub(super) fn own_uid() -> u32 {
    0
}

#[cfg(unix)]
fn make_private(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(0o700).create(dir)
}

#[cfg(not(unix))]
fn make_private(_dir: &Path) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "sockets for agents are not supported on this system yet",
    ))
}

#[cfg(unix)]
fn check(dir: &Path) -> Result<(), PlaceError> {
    use std::os::unix::fs::MetadataExt as _;

    let io = |error| PlaceError::Io {
        path: dir.to_owned(),
        error,
    };
    let not_private = |reason: String| PlaceError::NotPrivate {
        path: dir.to_owned(),
        reason,
    };
    // Not followed: a link could be bent elsewhere between this check and the use.
    let found = std::fs::symlink_metadata(dir).map_err(io)?;
    if !found.is_dir() {
        return Err(not_private("it is no directory".to_owned()));
    }
    if found.uid() != own_uid() {
        return Err(not_private(format!("it belongs to user {}", found.uid())));
    }
    if found.mode() & 0o077 != 0 {
        return Err(not_private(format!(
            "its mode is {:o}; `chmod 700` it",
            found.mode() & 0o777
        )));
    }
    // In a directory where others may rename and remove, the one checked could be exchanged.
    if let Some(parent) = dir.parent() {
        let parent = std::fs::metadata(parent).map_err(io)?;
        let foreign = parent.uid() != own_uid() && parent.uid() != 0;
        if parent.mode() & 0o1000 == 0 && (parent.mode() & 0o002 != 0 || foreign) {
            return Err(not_private(
                "others may exchange it: the directory it is in is open to them".to_owned(),
            ));
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn check(dir: &Path) -> Result<(), PlaceError> {
    Err(PlaceError::Io {
        path: dir.to_owned(),
        error: io::Error::new(
            io::ErrorKind::Unsupported,
            "sockets for agents are not supported on this system yet",
        ),
    })
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_directory_comes_first_and_a_relative_one_is_ignored() {
        let places = Places::of(Some("/run/user/7".into()), "/tmp".into());
        let own = format!("/tmp/kontext-ls-{}", own_uid());
        assert_eq!(
            places.dirs,
            [Path::new("/run/user/7/kontext-ls"), Path::new(&own)]
        );
        let places = Places::of(Some("run".into()), "/tmp".into());
        assert_eq!(places.dirs, [Path::new(&own)]);
    }

    #[test]
    fn what_is_not_private_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;

        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("k");
        Place::create(&dir).unwrap();
        Place::create(&dir).unwrap();

        let link = temp.path().join("link");
        std::os::unix::fs::symlink(&dir, &link).unwrap();
        assert!(matches!(
            Place::create(&link),
            Err(PlaceError::NotPrivate { .. })
        ));

        let file = temp.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(matches!(
            Place::create(&file),
            Err(PlaceError::NotPrivate { .. })
        ));

        std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o750)).unwrap();
        assert!(matches!(
            Place::open(&dir),
            Err(PlaceError::NotPrivate { .. })
        ));

        let deep = temp.path().join("x".repeat(90));
        assert!(matches!(
            Place::create(&deep),
            Err(PlaceError::TooLong { .. })
        ));
    }

    #[test]
    fn a_directory_of_somebody_else_is_refused() {
        // Every system has one: for the superuser any user's, for all others the superuser's.
        let temp = tempfile::tempdir().unwrap();
        let foreign = if own_uid() == 0 {
            let dir = temp.path().join("foreign");
            Place::create(&dir).unwrap();
            std::os::unix::fs::chown(&dir, Some(65534), None).unwrap();
            dir
        } else {
            PathBuf::from("/")
        };
        assert!(matches!(
            Place::open(&foreign),
            Err(PlaceError::NotPrivate { reason, .. }) if reason.contains("belongs to user")
        ));
    }
}
