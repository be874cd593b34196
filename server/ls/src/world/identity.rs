//! Which document is meant: one key for all spellings of a URI and all links to a file.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

use super::env::Platform;

/// Longest path that is looked up, in bytes: that of Linux, the largest there is.
pub(super) const MAX_PATH: usize = 4096;

/// Links followed before a chain counts as a loop.
const MAX_LINKS: usize = 40;

/// What RFC 3986 calls unreserved stays, and the slash between segments.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// The identity of a document. Two URIs or paths with equal keys are one document.
///
/// A key is for comparing and for reading the disk; towards the client a document keeps the URI it
/// was opened with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DocKey {
    /// A file: absolute, links resolved as far as the path exists.
    File(PathBuf),
    /// A document that is no local file (`untitled:`, `git:`, a `file:` URI of another host): the
    /// URI as it was given.
    Other(String),
}

impl DocKey {
    /// The key of a URI. Looks at the disk to resolve links.
    pub fn from_uri(uri: &str) -> Self {
        match uri_to_path(uri, Platform::current()) {
            Some(path) => Self::from_path(&path),
            None => Self::Other(uri.to_owned()),
        }
    }

    /// The key of a path; a relative one is taken from the current folder.
    pub fn from_path(path: &Path) -> Self {
        Self::File(canonical(path))
    }

    /// The path, for a file.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Other(_) => None,
        }
    }
}

/// The path of a `file:` URI: percent-encoding decoded (invalid escapes stay as they are), on
/// Windows with `\` and an upper-case drive. `?` and `#` count as part of the path: a document's
/// URI has neither query nor fragment, but some clients forget to encode them.
///
/// `None` for another scheme, for a path that is not absolute, for a host on Unix, and where the
/// bytes cannot be a path.
pub fn uri_to_path(uri: &str, platform: Platform) -> Option<PathBuf> {
    let (scheme, rest) = uri.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let (host, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find('/')?),
        None => ("", rest),
    };
    let host = if host.eq_ignore_ascii_case("localhost") {
        ""
    } else {
        host
    };
    let bytes: Vec<u8> = percent_decode_str(path).collect();
    if !path.starts_with('/') || bytes.contains(&0) {
        return None;
    }
    match platform {
        Platform::Unix if host.is_empty() => unix_path(bytes),
        Platform::Unix => None,
        Platform::Windows => windows_path(host, &String::from_utf8(bytes).ok()?),
    }
}

/// The `file:` URI of an absolute path; `None` for a relative one.
pub fn path_to_uri(path: &Path, platform: Platform) -> Option<String> {
    match platform {
        Platform::Unix => path
            .has_root()
            .then(|| format!("file://{}", encode(&path_bytes(path)))),
        Platform::Windows => {
            let text = path.to_string_lossy();
            if !platform.is_absolute(&text) {
                return None;
            }
            let text = text.replace('\\', "/");
            if let Some(share) = text.strip_prefix("//") {
                return Some(format!("file://{}", encode(share.as_bytes())));
            }
            let (drive, rest) = text.split_once(':')?;
            let drive = drive.to_ascii_uppercase();
            Some(format!("file:///{drive}:{}", encode(rest.as_bytes())))
        }
    }
}

/// The path with its links resolved. Where it does not exist, the nearest existing ancestor is
/// resolved and the rest kept; a link whose target is missing stands for that target, so that a
/// document keeps its key when the file appears. Never fails: what cannot be resolved stays.
pub fn canonical(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    if absolute.as_os_str().len() > MAX_PATH {
        // No system opens it; looking for its ancestors one by one is work without an end.
        return absolute;
    }
    let found = resolve(&absolute, MAX_LINKS);
    fold_foreign_drive(plain(found))
}

/// The bytes of a path (UTF-8 outside Unix).
pub(super) fn path_bytes(path: &Path) -> Vec<u8> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        path.as_os_str().as_bytes().to_vec()
    }
    #[cfg(not(unix))]
    path.to_string_lossy().into_owned().into_bytes()
}

/// The path of these bytes; outside Unix they must be UTF-8.
pub(super) fn unix_path(bytes: Vec<u8>) -> Option<PathBuf> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt;
        Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
    }
    #[cfg(not(unix))]
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

fn encode(bytes: &[u8]) -> String {
    percent_encode(bytes, ENCODED).to_string()
}

fn windows_path(host: &str, path: &str) -> Option<PathBuf> {
    if !host.is_empty() {
        return Some(PathBuf::from(format!(
            r"\\{host}{}",
            path.replace('/', r"\")
        )));
    }
    let path = path.strip_prefix('/').unwrap_or(path);
    let (drive, rest) = path.split_once([':', '|'])?;
    let is_drive = drive.len() == 1 && drive.starts_with(|c: char| c.is_ascii_alphabetic());
    if !is_drive {
        return None;
    }
    let rest = if rest.is_empty() { "/" } else { rest };
    let drive = drive.to_ascii_uppercase();
    Some(PathBuf::from(format!(
        "{drive}:{}",
        rest.replace('/', r"\")
    )))
}

fn resolve(path: &Path, links: usize) -> PathBuf {
    let error = match fs::canonicalize(path) {
        Ok(found) => return found,
        Err(error) => error,
    };
    if links == 0 || error.kind() != io::ErrorKind::NotFound {
        return lexical(path);
    }
    let mut components = path.components();
    let Some(last) = components.next_back() else {
        return path.to_path_buf();
    };
    let parent = components.as_path();
    if parent.as_os_str().is_empty() {
        return path.to_path_buf();
    }
    let parent = resolve(parent, links);
    let whole = match last {
        Component::Normal(name) => parent.join(name),
        Component::ParentDir => return parent.parent().unwrap_or(&parent).to_path_buf(),
        _ => return parent,
    };
    match fs::read_link(&whole) {
        Ok(target) => resolve(&parent.join(target), links - 1),
        Err(_) => whole,
    }
}

/// `.` and `..` taken out without looking at the disk.
fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// Windows resolves to `\\?\C:\x`, which few programs take: back to `C:\x` where that is the same.
fn plain(path: PathBuf) -> PathBuf {
    let Some(text) = path.to_str() else {
        return path;
    };
    match text.strip_prefix(r"\\?\") {
        Some(rest) if rest.len() < 250 && Platform::Windows.is_absolute(rest) => {
            PathBuf::from(rest)
        }
        _ => path,
    }
}

/// A path of Windows in a client that talks to a server on Unix (`/c:/w`): such a file is not
/// here, but its spellings still are one document.
fn fold_foreign_drive(path: PathBuf) -> PathBuf {
    if cfg!(windows) {
        return path;
    }
    let folded = path.to_str().and_then(|text| {
        let (drive, rest) = text.strip_prefix('/')?.split_once(":/")?;
        let is_drive = drive.len() == 1 && drive.starts_with(|c: char| c.is_ascii_lowercase());
        if !is_drive || Path::new(&format!("/{drive}:")).exists() {
            return None;
        }
        Some(format!("/{}:/{rest}", drive.to_ascii_uppercase()))
    });
    folded.map_or(path, PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unix(uri: &str) -> Option<String> {
        uri_to_path(uri, Platform::Unix).map(|path| path.to_string_lossy().into_owned())
    }

    fn windows(uri: &str) -> Option<String> {
        uri_to_path(uri, Platform::Windows).map(|path| path.to_string_lossy().into_owned())
    }

    #[test]
    fn spellings_of_one_uri_are_one_path() {
        let same = [
            "file:///t/my%20repo/%C3%A1%23b+c/config.toml",
            "file:///t/my%20repo/%c3%a1%23b%2Bc/config.toml",
            "file:///t/my%20repo/%C3%A1%23b%2bc/config.toml",
            "FILE://localhost/t/my repo/á#b+c/config.toml",
            "file:/t/my%20repo/%C3%A1%23b+c/config.toml",
        ];
        for uri in same {
            assert_eq!(
                unix(uri).as_deref(),
                Some("/t/my repo/á#b+c/config.toml"),
                "{uri}"
            );
        }
        assert_eq!(
            unix("file:///t/my%2520repo/x").as_deref(),
            Some("/t/my%20repo/x")
        );
        assert_eq!(unix("file:///a%zz%").as_deref(), Some("/a%zz%"));
    }

    #[test]
    fn spellings_of_a_drive_are_one_path() {
        let same = [
            "file:///c%3A/w/config.toml",
            "file:///C:/w/config.toml",
            "file:///c:/w/config.toml",
        ];
        for uri in same {
            assert_eq!(windows(uri).as_deref(), Some(r"C:\w\config.toml"), "{uri}");
        }
        assert_eq!(
            windows("file://server/share/x").as_deref(),
            Some(r"\\server\share\x")
        );
        assert_eq!(windows("file:///c:").as_deref(), Some(r"C:\"));
        assert_eq!(windows("file:///no/drive"), None);
        let keys: Vec<_> = same.iter().map(|uri| DocKey::from_uri(uri)).collect();
        assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    }

    #[test]
    fn what_is_no_local_file_is_other() {
        for uri in [
            "untitled:Untitled-1",
            "file://host/x",
            "file:rel",
            "file:///a%00b",
            "",
            "file://",
            "git:/x",
        ] {
            assert_eq!(unix(uri), None, "{uri}");
        }
        assert_eq!(
            DocKey::from_uri("untitled:U"),
            DocKey::Other("untitled:U".into())
        );
        assert_eq!(DocKey::from_uri("untitled:U").path(), None);
    }

    #[test]
    fn uris_of_paths() {
        let unix = |path: &str| path_to_uri(Path::new(path), Platform::Unix);
        assert_eq!(
            unix("/my repo/á#%").as_deref(),
            Some("file:///my%20repo/%C3%A1%23%25")
        );
        assert_eq!(unix("rel"), None);
        let windows = |path: &str| path_to_uri(Path::new(path), Platform::Windows);
        assert_eq!(windows(r"c:\w\x y").as_deref(), Some("file:///C:/w/x%20y"));
        assert_eq!(windows(r"\\srv\s\x").as_deref(), Some("file://srv/s/x"));
        assert_eq!(windows(r"\x"), None);
    }

    #[cfg(unix)]
    mod links {
        use super::*;
        use std::os::unix::fs::symlink;

        fn dir() -> (tempfile::TempDir, PathBuf) {
            let dir = tempfile::tempdir().unwrap();
            let path = fs::canonicalize(dir.path()).unwrap();
            (dir, path)
        }

        #[test]
        fn a_linked_file_and_a_linked_home_are_one_document() {
            let (_guard, d) = dir();
            fs::create_dir_all(d.join("dot")).unwrap();
            fs::create_dir_all(d.join("home")).unwrap();
            fs::write(d.join("dot/k.toml"), "").unwrap();
            symlink(d.join("dot/k.toml"), d.join("home/config.toml")).unwrap();
            symlink(d.join("home"), d.join("homelink")).unwrap();
            let real = DocKey::from_path(&d.join("dot/k.toml"));
            assert_eq!(DocKey::from_path(&d.join("home/config.toml")), real);
            assert_eq!(DocKey::from_path(&d.join("homelink/config.toml")), real);
            assert_eq!(DocKey::from_path(&d.join("homelink/../dot/./k.toml")), real);
        }

        #[test]
        fn a_key_stays_when_the_file_appears() {
            let (_guard, d) = dir();
            symlink("real", d.join("link")).unwrap();
            let before = canonical(&d.join("link/sub/x.toml"));
            assert_eq!(before, d.join("real/sub/x.toml"));
            fs::create_dir_all(d.join("real/sub")).unwrap();
            assert_eq!(canonical(&d.join("link/sub/x.toml")), before);
            fs::write(d.join("real/sub/x.toml"), "").unwrap();
            assert_eq!(canonical(&d.join("link/sub/x.toml")), before);
            assert_eq!(canonical(&d.join("gone/../x")), d.join("x"));
        }

        #[test]
        fn loops_and_files_as_folders_end() {
            let (_guard, d) = dir();
            symlink("b", d.join("a")).unwrap();
            symlink("a", d.join("b")).unwrap();
            assert_eq!(canonical(&d.join("a/x")), d.join("a/x"));
            fs::write(d.join("f"), "").unwrap();
            assert_eq!(canonical(&d.join("f/x")), d.join("f/x"));
        }
    }

    proptest! {
        #[test]
        fn a_path_survives_the_way_there_and_back(path in "/[^\u{0}]{0,30}") {
            let uri = path_to_uri(Path::new(&path), Platform::Unix).unwrap();
            // `//host` at the start would be a host.
            prop_assume!(!path.starts_with("//"));
            prop_assert_eq!(unix(&uri), Some(path));
        }

        #[test]
        fn any_text_is_survived(uri in any::<String>()) {
            let _ = (unix(&uri), windows(&uri));
            let _ = (unix(&format!("file://{uri}")), windows(&format!("file:///{uri}")));
        }
    }
}
