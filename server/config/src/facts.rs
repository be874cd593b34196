//! Facts about the world, as values.
//!
//! Analysis never looks at the disk, the environment or the clock. It states [`Question`]s; the
//! edge answers them into [`Facts`]; everything that depends on the world is a pure function of
//! those. A question without an answer is *unknown*, never *no*.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// All that is known of the world of one workspace at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The environment the process runs in.
    pub env: Env,
    /// The work tree and its repository.
    pub repo: Repo,
    /// The moment the facts were gathered.
    pub now: Now,
    /// Answers to [`Question::Program`], by the name asked for.
    pub programs: BTreeMap<String, ProgramFact>,
    /// Answers to [`Question::Path`], by the absolute pattern asked for.
    pub paths: BTreeMap<String, PathFact>,
    /// Whether the shared layer's adapters may run.
    pub trust: Trust,
    /// Why the pins of trust cannot be read, where that is so; nothing is trusted by them then.
    pub trust_fault: Option<String>,
}

/// Something that must be looked up before a `when` table can be judged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Question {
    /// Is there an executable of this name? A bare name is looked up on `PATH`; a name with a
    /// separator is an absolute path already (joined to the root by who asks).
    Program(String),
    /// Does this absolute path exist? `*` and `?` may stand in its last segment.
    Path(String),
}

/// The answer to [`Question::Program`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramFact {
    /// It can be started; where it was found.
    Found(PathBuf),
    /// Nothing of that name; how many folders of `PATH` were searched (0 for a path).
    Missing {
        /// Number of folders on `PATH` that were looked into.
        searched: usize,
    },
    /// A file of that name is there, but it may not be executed.
    NotExecutable(PathBuf),
    /// The name is a folder.
    Directory(PathBuf),
}

/// The answer to [`Question::Path`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathFact {
    /// At least one file or folder matches.
    Exists,
    /// Nothing matches.
    Missing,
    /// It could not be looked at (permission, a loop of links).
    Unreadable,
}

/// The environment. Values are secrets: they never appear in `Debug` output.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Env {
    vars: BTreeMap<String, String>,
    /// Names are compared without case (Windows).
    ignore_case: bool,
}

impl Env {
    /// An environment of these variables; `ignore_case` as on Windows.
    pub fn new(vars: impl IntoIterator<Item = (String, String)>, ignore_case: bool) -> Self {
        let fold = |name: String| {
            if ignore_case {
                name.to_uppercase()
            } else {
                name
            }
        };
        Self {
            vars: vars.into_iter().map(|(k, v)| (fold(k), v)).collect(),
            ignore_case,
        }
    }

    /// The value of a variable, where it is set (it may be empty).
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = if self.ignore_case {
            self.vars.get(&name.to_uppercase())
        } else {
            self.vars.get(name)
        };
        found.map(String::as_str)
    }

    /// Whether the variable is set and not empty (adapters.md section 3).
    pub fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !value.is_empty())
    }

    /// The environment with these changes made in order: a value sets a variable, `None` removes it.
    #[must_use]
    pub fn changed(&self, changes: impl IntoIterator<Item = (String, Option<String>)>) -> Self {
        let mut changed = self.clone();
        for (name, value) in changes {
            let name = if self.ignore_case {
                name.to_uppercase()
            } else {
                name
            };
            match value {
                Some(value) => changed.vars.insert(name, value),
                None => changed.vars.remove(&name),
            };
        }
        changed
    }

    /// The names of all variables, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.vars.keys().map(String::as_str)
    }
}

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.vars.keys()).finish()
    }
}

/// The work tree a workspace lies in, as `{{repo.*}}` shows it (adapters.md sections 1 and 4).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repo {
    /// Normalised remote (`github.com/acme/shop`) or `local/<dir>-<8 hex>`.
    pub id: String,
    /// The id with `/` → `-`.
    pub slug: String,
    /// Last segment of the id's path for a remote, else the folder's name.
    pub name: String,
    /// Name of the root folder.
    pub dir: String,
    /// Absolute root of the work tree.
    pub root: PathBuf,
    /// URL of the remote the id comes from, without user and password.
    pub remote: Option<String>,
    /// Current branch; `None` on a detached head or outside a repository.
    pub branch: Option<String>,
    /// Name of the linked work tree; `None` in the main one.
    pub worktree: Option<String>,
    /// Absolute common git directory (layer 5 lies in it); `None` outside a repository.
    pub common_dir: Option<PathBuf>,
}

/// The moment of the facts, already written out: no clock in here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Local date, `2026-11-30`.
    pub date: String,
    /// RFC 3339 in UTC with seconds, `2026-11-30T23:03:32Z`.
    pub iso: String,
}

/// Whether the shared layer may run (adapters.md section 10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Nobody has accepted the shared layer as it stands.
    #[default]
    Untrusted,
    /// Accepted by `KONTEXT_TRUST_REPO_ADAPTERS=1`.
    ByEnvironment,
    /// Accepted by a pin.
    Pinned,
}

impl Trust {
    /// Whether the shared layer's adapters, `vars` and `project` take effect.
    pub const fn is_trusted(self) -> bool {
        !matches!(self, Self::Untrusted)
    }
}
