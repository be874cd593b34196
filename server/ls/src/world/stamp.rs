//! What tells one state of a file or folder from another.

use std::fs::{self, Metadata};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Changes that lie closer together may bear the same time: systems count it in steps.
const STEP: Duration = Duration::from_millis(50);

/// The state of a path, links followed.
#[derive(Clone, Debug)]
pub(crate) struct Stamp {
    /// `None` where there is nothing.
    inner: Option<Inner>,
    /// Taken so soon after a change that another one might not show in it.
    recent: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    folder: bool,
    len: u64,
    modified: Option<SystemTime>,
    /// A time that no program can set, where the system has one.
    changed: (i64, i64),
    mode: u32,
    id: FileId,
}

impl Inner {
    fn is_recent(&self, now: SystemTime) -> bool {
        let (seconds, nanoseconds) = self.changed;
        let parts = u64::try_from(seconds)
            .ok()
            .zip(u32::try_from(nanoseconds).ok());
        let changed = parts.and_then(|(seconds, nanoseconds)| {
            SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
        });
        let near = |time: SystemTime| match now.duration_since(time) {
            Ok(past) => past < STEP,
            Err(ahead) => ahead.duration() < STEP,
        };
        changed.into_iter().chain(self.modified).any(near)
    }
}

/// Device and inode, which tell a replaced file or folder from the one before; zero where the
/// system has none.
pub(super) type FileId = (u64, u64);

impl Stamp {
    pub(super) fn of(path: &Path) -> Self {
        let now = SystemTime::now();
        let inner = fs::metadata(path).ok().map(|meta| Inner {
            folder: meta.is_dir(),
            len: meta.len(),
            modified: meta.modified().ok(),
            changed: changed(&meta),
            mode: mode(&meta),
            id: file_id(&meta),
        });
        let recent = inner.as_ref().is_some_and(|inner| inner.is_recent(now));
        Self { inner, recent }
    }

    /// Whether nothing has happened to the path since `before` was taken. Not where that was so
    /// soon after a change that nobody can tell.
    pub(super) fn is_still(&self, before: &Self) -> bool {
        !before.recent && self.looks_like(before)
    }

    /// Whether two states look alike; most likely nothing has happened between them.
    pub(super) fn looks_like(&self, other: &Self) -> bool {
        self.inner == other.inner
    }
}

pub(super) fn folder_id(path: &Path) -> Option<FileId> {
    fs::metadata(path).ok().map(|meta| file_id(&meta))
}

#[cfg(unix)]
fn file_id(meta: &Metadata) -> FileId {
    use std::os::unix::fs::MetadataExt;
    (meta.dev(), meta.ino())
}

#[cfg(not(unix))]
fn file_id(_: &Metadata) -> FileId {
    (0, 0)
}

#[cfg(unix)]
fn changed(meta: &Metadata) -> (i64, i64) {
    use std::os::unix::fs::MetadataExt;
    (meta.ctime(), meta.ctime_nsec())
}

#[cfg(not(unix))]
fn changed(_: &Metadata) -> (i64, i64) {
    (0, 0)
}

#[cfg(unix)]
fn mode(meta: &Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    meta.permissions().mode()
}

#[cfg(not(unix))]
fn mode(meta: &Metadata) -> u32 {
    u32::from(meta.permissions().readonly())
}
