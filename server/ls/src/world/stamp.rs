//! What tells one state of a file or folder from another.

use std::fs::{self, Metadata};
use std::path::Path;
use std::time::SystemTime;

/// The state of a path, links followed. Two equal stamps mean: most likely nothing happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp(Option<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    folder: bool,
    len: u64,
    modified: Option<SystemTime>,
    mode: u32,
    id: FileId,
}

/// Device and inode, which tell a replaced file or folder from the one before; zero where the
/// system has none.
pub(super) type FileId = (u64, u64);

impl Stamp {
    pub(super) fn of(path: &Path) -> Self {
        Self(fs::metadata(path).ok().map(|meta| Inner {
            folder: meta.is_dir(),
            len: meta.len(),
            modified: meta.modified().ok(),
            mode: mode(&meta),
            id: file_id(&meta),
        }))
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
fn mode(meta: &Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    meta.permissions().mode()
}

#[cfg(not(unix))]
fn mode(meta: &Metadata) -> u32 {
    u32::from(meta.permissions().readonly())
}
