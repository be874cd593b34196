//! The work tree and its repository, found without running git (adapters.md section 1).

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use kontext_config::facts::Repo;

use super::git_config::{self, Entry, Remote};
use super::identity::{canonical, path_bytes, unix_path};
use super::repo_id;

/// Files of git that are read here are small; a larger one is not what it claims to be.
const MAX_GIT_FILE: u64 = 4 * 1024 * 1024;

/// The work tree that `path` (a file or folder, existing or not) lies in.
///
/// Walks up to a `.git` folder, or a `.git` file as linked work trees and submodules have one.
/// Without a repository the root is the folder given (the folder of a file), and `common_dir` is
/// `None`. All paths of the answer have their links resolved.
pub fn find_repo(path: &Path) -> Repo {
    let start = canonical(path);
    let start = if start.is_file() {
        start.parent().unwrap_or(&start)
    } else {
        &start
    };
    let place = locate(start).unwrap_or_else(|| Place {
        root: start.to_path_buf(),
        git: None,
    });
    describe(place)
}

/// The `HEAD` file of this work tree: of the linked work tree where it is one.
pub fn head_file(repo: &Repo) -> Option<PathBuf> {
    let common = repo.common_dir.as_ref()?;
    Some(match &repo.worktree {
        Some(name) => common.join("worktrees").join(name).join("HEAD"),
        None => common.join("HEAD"),
    })
}

struct Place {
    root: PathBuf,
    git: Option<GitDirs>,
}

struct GitDirs {
    /// Where this work tree's `HEAD` lies.
    own: PathBuf,
    /// What all work trees share: configuration, refs, objects.
    common: PathBuf,
}

impl GitDirs {
    /// `dir` as a git directory, where it looks like one to git: `HEAD`, and objects of its own or
    /// of another.
    fn at(dir: &Path) -> Option<Self> {
        // HEAD may be a link to a branch that has no commit yet: it need not lead anywhere.
        dir.join("HEAD").symlink_metadata().ok()?;
        let own = canonical(dir);
        let common = match read_path(&own.join("commondir")) {
            Some(common) => canonical(&own.join(common)),
            None => own.clone(),
        };
        common
            .join("objects")
            .is_dir()
            .then_some(Self { own, common })
    }

    fn worktree_name(&self) -> Option<String> {
        let name = self.own.file_name()?;
        let listed = self.own.parent() == Some(self.common.join("worktrees").as_path());
        (self.own != self.common && listed).then(|| name.to_string_lossy().into_owned())
    }
}

fn locate(start: &Path) -> Option<Place> {
    // A folder that is a git directory itself: a bare repository, or a place inside `.git`.
    let mut inside: Option<&Path> = None;
    for dir in start.ancestors() {
        let dot_git = dir.join(".git");
        let found = match fs::metadata(&dot_git) {
            Ok(meta) if meta.is_dir() => GitDirs::at(&dot_git).map(Some),
            // A `.git` file that leads nowhere (a work tree that was moved or pruned) still marks
            // the root: what lies above is another project.
            Ok(meta) if meta.is_file() => linked(&dot_git).map(|git| GitDirs::at(&git)),
            _ => None,
        };
        if let Some(git) = found {
            let place = Place {
                root: dir.to_path_buf(),
                git,
            };
            // What looks like a bare repository within a work tree may have been committed there
            // by anybody, and its layer would be trusted: it counts only inside `.git`.
            return match (inside, &place.git) {
                (Some(inner), Some(git)) if inner != git.own && inner.starts_with(&git.common) => {
                    Some(from_inside(inner).unwrap_or(place))
                }
                _ => Some(place),
            };
        }
        if inside.is_none() && GitDirs::at(dir).is_some() {
            inside = Some(dir);
        }
    }
    from_inside(inside?)
}

/// The work tree that belongs to a git directory; for a bare repository the directory itself.
fn from_inside(dir: &Path) -> Option<Place> {
    let git = GitDirs::at(dir)?;
    let root = if git.own == git.common {
        let entries = read_config(&git.common);
        git_config::setting(&entries, "core", "worktree").map(|tree| git.own.join(tree))
    } else {
        // A linked work tree's directory says where the `.git` file lies.
        read_path(&git.own.join("gitdir"))
            .and_then(|file| git.own.join(file).parent().map(Path::to_path_buf))
    };
    let root = root
        .map(|root| canonical(&root))
        .filter(|root| root.is_dir());
    Some(Place {
        root: root.unwrap_or_else(|| git.own.clone()),
        git: Some(git),
    })
}

/// The git directory that a `.git` file names; `None` where the file is something else.
fn linked(dot_git: &Path) -> Option<PathBuf> {
    let bytes = read_small(dot_git)?;
    let target = bytes.strip_prefix(b"gitdir:")?;
    let target = unix_path(trim(target).to_vec()).filter(|path| !path.as_os_str().is_empty())?;
    Some(dot_git.parent()?.join(target))
}

fn describe(place: Place) -> Repo {
    let Place { root, git } = place;
    let dir = root
        .file_name()
        .unwrap_or(root.as_os_str())
        .to_string_lossy()
        .into_owned();
    let remote = git
        .as_ref()
        .and_then(|git| identifying(&read_config(&git.common)));
    let remote = remote.and_then(|remote| Some((repo_id::remote_id(&remote.url)?, remote.url)));
    let (id, name, remote) = match remote {
        Some((id, url)) => {
            let name = repo_id::id_name(&id).to_owned();
            (id, name, Some(repo_id::without_user(&url)))
        }
        None => (
            repo_id::local_id(&dir, &path_bytes(&root)),
            dir.clone(),
            None,
        ),
    };
    Repo {
        slug: repo_id::slug(&id),
        id,
        name,
        dir,
        root,
        remote,
        branch: git.as_ref().and_then(|git| branch(&git.own)),
        worktree: git.as_ref().and_then(GitDirs::worktree_name),
        common_dir: git.map(|git| git.common),
    }
}

/// `origin`, else the only remote.
fn identifying(entries: &[Entry]) -> Option<Remote> {
    let mut remotes = git_config::remotes(entries);
    match remotes.iter().position(|remote| remote.name == "origin") {
        Some(origin) => Some(remotes.swap_remove(origin)),
        None if remotes.len() == 1 => remotes.pop(),
        None => None,
    }
}

fn branch(git_dir: &Path) -> Option<String> {
    let head = git_dir.join("HEAD");
    let target = match fs::read_link(&head) {
        Ok(link) => path_bytes(&link),
        Err(_) => {
            let bytes = read_small(&head)?;
            trim(bytes.strip_prefix(b"ref:")?).to_vec()
        }
    };
    let name = target.strip_prefix(b"refs/heads/")?;
    // The reftable format keeps the branch elsewhere and leaves this name behind.
    (!name.is_empty() && name != b".invalid").then(|| String::from_utf8_lossy(name).into_owned())
}

fn read_config(common: &Path) -> Vec<Entry> {
    let bytes = read_small(&common.join("config")).unwrap_or_default();
    git_config::parse(&String::from_utf8_lossy(&bytes))
}

/// The path that is a file's whole content, as `commondir` and `gitdir` have it.
fn read_path(file: &Path) -> Option<PathBuf> {
    let bytes = read_small(file)?;
    unix_path(trim(&bytes).to_vec()).filter(|path| !path.as_os_str().is_empty())
}

fn trim(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii()
}

fn read_small(path: &Path) -> Option<Vec<u8>> {
    let meta = fs::metadata(path).ok()?;
    if !meta.is_file() || meta.len() > MAX_GIT_FILE {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path)
        .ok()?
        .take(MAX_GIT_FILE)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Disk {
        _guard: tempfile::TempDir,
        at: PathBuf,
    }

    impl Disk {
        fn new() -> Self {
            let guard = tempfile::tempdir().unwrap();
            let at = fs::canonicalize(guard.path()).unwrap();
            Self { _guard: guard, at }
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.at.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        /// A git directory with this configuration.
        fn git(&self, dir: &str, head: &str, config: &str) {
            fs::create_dir_all(self.at.join(dir).join("objects")).unwrap();
            fs::create_dir_all(self.at.join(dir).join("refs")).unwrap();
            self.write(&format!("{dir}/HEAD"), head);
            self.write(&format!("{dir}/config"), config);
        }

        fn find(&self, path: &str) -> Repo {
            find_repo(&self.at.join(path))
        }
    }

    const ORIGIN: &str = "[remote \"origin\"]\n\turl = https://me:pw@github.com/Acme/Shop.git\n";

    #[test]
    fn an_ordinary_clone_from_any_depth() {
        let d = Disk::new();
        d.git("Work/.git", "ref: refs/heads/feature/x\n", ORIGIN);
        d.write("Work/a/b/file.rs", "");
        for from in [
            "Work",
            "Work/a/b",
            "Work/a/b/file.rs",
            "Work/a/gone/x",
            "Work/.git/kontext",
        ] {
            let repo = d.find(from);
            assert_eq!(repo.root, d.at.join("Work"), "{from}");
            assert_eq!(repo.id, "github.com/acme/shop");
            assert_eq!(repo.slug, "github.com-acme-shop");
            assert_eq!((repo.name.as_str(), repo.dir.as_str()), ("shop", "Work"));
            assert_eq!(
                repo.remote.as_deref(),
                Some("https://github.com/Acme/Shop.git")
            );
            assert_eq!(repo.branch.as_deref(), Some("feature/x"));
            assert_eq!(repo.worktree, None);
            assert_eq!(repo.common_dir, Some(d.at.join("Work/.git")));
            assert_eq!(head_file(&repo), Some(d.at.join("Work/.git/HEAD")));
        }
    }

    #[test]
    fn a_linked_work_tree_shares_the_common_dir() {
        let d = Disk::new();
        d.git("main/.git", "ref: refs/heads/main\n", ORIGIN);
        d.write("main/.git/worktrees/fix/HEAD", "ref: refs/heads/fix\n");
        d.write("main/.git/worktrees/fix/commondir", "../..\n");
        let dot_git = d.at.join("linked tree/.git");
        d.write(
            "main/.git/worktrees/fix/gitdir",
            &format!("{}\n", dot_git.display()),
        );
        let own = d.at.join("main/.git/worktrees/fix");
        for target in [
            own.display().to_string(),
            "../main/.git/worktrees/fix".to_owned(),
        ] {
            d.write("linked tree/.git", &format!("gitdir: {target}\n"));
            let repo = d.find("linked tree");
            assert_eq!(repo.root, d.at.join("linked tree"));
            assert_eq!(repo.worktree.as_deref(), Some("fix"));
            assert_eq!(repo.branch.as_deref(), Some("fix"));
            assert_eq!(repo.id, "github.com/acme/shop");
            assert_eq!(repo.common_dir, Some(d.at.join("main/.git")));
            assert_eq!(head_file(&repo), Some(own.join("HEAD")));
        }
        assert_eq!(
            d.find("main/.git/worktrees/fix").root,
            d.at.join("linked tree")
        );
    }

    #[test]
    fn a_submodule_is_its_own_repository() {
        let d = Disk::new();
        d.git("top/.git", "ref: refs/heads/main\n", ORIGIN);
        let config = "[core]\n\tworktree = ../../../libs/sub\n[remote \"origin\"]\n\turl = git@gitlab.com:acme/sub.git\n";
        d.git(
            "top/.git/modules/sub",
            "0123456789012345678901234567890123456789\n",
            config,
        );
        d.write("top/libs/sub/.git", "gitdir: ../../.git/modules/sub\n");
        let repo = d.find("top/libs/sub/src");
        assert_eq!(repo.root, d.at.join("top/libs/sub"));
        assert_eq!(repo.id, "gitlab.com/acme/sub");
        assert_eq!((repo.branch, repo.worktree), (None, None));
        assert_eq!(repo.common_dir, Some(d.at.join("top/.git/modules/sub")));
        // Its layer 5, opened in an editor, belongs to it and not to the one above.
        let layer = d.find("top/.git/modules/sub/kontext/config.toml");
        assert_eq!(layer.root, d.at.join("top/libs/sub"));
    }

    #[test]
    fn without_a_repository_the_folder_is_the_root() {
        let d = Disk::new();
        d.write("plain/x.toml", "");
        let repo = d.find("plain/x.toml");
        assert_eq!(repo.root, d.at.join("plain"));
        assert!(repo.id.starts_with("local/plain-"), "{}", repo.id);
        assert_eq!(repo.id.len(), "local/plain-".len() + 8);
        assert_eq!((repo.name.as_str(), &repo.common_dir), ("plain", &None));
        assert_eq!((repo.remote, repo.branch), (None, None));
        assert_eq!(d.find("gone").root, d.at.join("gone"));
    }

    #[test]
    fn origin_else_the_only_remote() {
        let d = Disk::new();
        let two = "[remote \"b\"]\nurl = host:b\n[remote \"origin\"]\nurl = host:o\n";
        for (config, id) in [
            (two, "host/o"),
            ("[remote \"up\"]\nurl = host:up\n", "host/up"),
            (
                "[remote \"a\"]\nurl = host:a\n[remote \"b\"]\nurl = host:b\n",
                "local/",
            ),
            ("[remote \"origin\"]\nurl = .git\n", "local/"),
            ("[[[", "local/"),
        ] {
            d.git("r/.git", "ref: refs/heads/main", config);
            assert!(
                d.find("r").id.starts_with(id),
                "{config} gives {}",
                d.find("r").id
            );
        }
    }

    #[test]
    fn odd_git_folders() {
        let d = Disk::new();
        d.git("top/.git", "ref: refs/heads/main\n", "");
        // An empty `.git` folder is none, nor is a file of that name with other content.
        fs::create_dir_all(d.at.join("top/sub/.git")).unwrap();
        d.write("top/sub2/.git", "hello");
        assert_eq!(d.find("top/sub").root, d.at.join("top"));
        assert_eq!(d.find("top/sub2").root, d.at.join("top"));
        // A pruned work tree is a root, but no repository.
        d.write("top/pruned/.git", "gitdir: ../gone\n");
        let pruned = d.find("top/pruned/src");
        assert_eq!(
            (pruned.root, pruned.common_dir),
            (d.at.join("top/pruned"), None)
        );
        // Heads that name no branch.
        for head in [
            "",
            "ref: refs/heads/",
            "ref: refs/heads/.invalid",
            "ref: refs/tags/x",
            "\u{0}",
        ] {
            d.write("top/.git/HEAD", head);
            assert_eq!(d.find("top").branch, None, "{head:?}");
        }
    }

    #[test]
    fn a_bare_repository_counts_unless_it_lies_in_a_work_tree() {
        let d = Disk::new();
        d.git("bare.git", "ref: refs/heads/main\n", ORIGIN);
        let bare = d.find("bare.git/refs");
        assert_eq!(
            (&bare.root, &bare.common_dir),
            (&d.at.join("bare.git"), &Some(d.at.join("bare.git")))
        );
        d.git("work/.git", "ref: refs/heads/main\n", "");
        d.git("work/trap", "ref: refs/heads/main\n", ORIGIN);
        let work = d.find("work/trap");
        assert_eq!(
            (work.root, work.common_dir),
            (d.at.join("work"), Some(d.at.join("work/.git")))
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_to_the_root_give_one_root_and_a_linked_head_is_read() {
        use std::os::unix::fs::symlink;
        let d = Disk::new();
        d.git("real/.git", "ref: refs/heads/main\n", "");
        symlink(d.at.join("real"), d.at.join("link")).unwrap();
        assert_eq!(d.find("link"), d.find("real"));
        fs::remove_file(d.at.join("real/.git/HEAD")).unwrap();
        symlink("refs/heads/unborn", d.at.join("real/.git/HEAD")).unwrap();
        assert_eq!(d.find("link").branch.as_deref(), Some("unborn"));
    }
}
