//! A place to work in: a workspace, a home, and nothing of the machine's own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A temporary workspace with an isolated home. Removed when dropped.
pub struct Fixture {
    root: TempDir,
    env: BTreeMap<OsString, OsString>,
}

impl Fixture {
    /// A workspace with these files (path relative to it with `/`, text).
    pub fn new(files: &[(&str, &str)]) -> Fixture {
        let root = tempfile::Builder::new()
            .prefix("kontext-")
            .tempdir()
            .unwrap();
        let mut env = BTreeMap::new();
        for (name, folder) in [
            ("HOME", "home"),
            ("XDG_CONFIG_HOME", "home/.config"),
            ("XDG_CACHE_HOME", "home/.cache"),
            ("XDG_DATA_HOME", "home/.local/share"),
            ("XDG_STATE_HOME", "home/.local/state"),
            ("XDG_RUNTIME_DIR", "run"),
            ("TMPDIR", "tmp"),
            ("KONTEXT_CONFIG_DIR", "config"),
        ] {
            let folder = root.path().join(folder);
            std::fs::create_dir_all(&folder).unwrap();
            env.insert(name.into(), folder.into());
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let private = std::fs::Permissions::from_mode(0o700);
            std::fs::set_permissions(root.path().join("run"), private).unwrap();
        }
        for name in ["PATH", "SystemRoot"] {
            if let Some(value) = std::env::var_os(name) {
                env.insert(name.into(), value);
            }
        }
        std::fs::create_dir_all(root.path().join("work")).unwrap();
        let place = Fixture { root, env };
        for (path, text) in files {
            place.write(path, text);
        }
        place
    }

    /// Makes the workspace a Git repository on branch `main` with one origin, without git.
    pub fn git(self, origin: &str) -> Fixture {
        self.write(".git/HEAD", "ref: refs/heads/main\n");
        let config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
        self.write(
            ".git/config",
            &format!("{config}[remote \"origin\"]\n\turl = {origin}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"),
        );
        for folder in [".git/objects/info", ".git/objects/pack", ".git/refs/heads"] {
            std::fs::create_dir_all(self.path(folder)).unwrap();
        }
        self
    }

    /// Adds a variable to the environment of children.
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Fixture {
        self.env.insert(name.into(), value.into());
        self
    }

    /// The path of a file of the workspace (`""`: of the workspace).
    pub fn path(&self, relative: &str) -> PathBuf {
        let work = self.root.path().join("work");
        if relative.is_empty() {
            work
        } else {
            work.join(relative)
        }
    }

    /// The path of a file of `KONTEXT_CONFIG_DIR`, where the personal layers are.
    pub fn config_path(&self, relative: &str) -> PathBuf {
        self.root.path().join("config").join(relative)
    }

    /// The path of a file outside of the workspace, the home and the configuration.
    pub fn outside(&self, relative: &str) -> PathBuf {
        self.root.path().join(relative)
    }

    /// The `file:` URI of a file of the workspace.
    pub fn uri(&self, relative: &str) -> String {
        uri_of(&self.path(relative))
    }

    /// The `file:` URI of a file of `KONTEXT_CONFIG_DIR`.
    pub fn config_uri(&self, relative: &str) -> String {
        uri_of(&self.config_path(relative))
    }

    /// Writes a file of the workspace.
    pub fn write(&self, relative: &str, text: &str) {
        write(&self.path(relative), text);
    }

    /// Writes a file of `KONTEXT_CONFIG_DIR`.
    pub fn write_config(&self, relative: &str, text: &str) {
        write(&self.config_path(relative), text);
    }

    /// Reads a file of the workspace.
    pub fn read(&self, relative: &str) -> String {
        std::fs::read_to_string(self.path(relative)).unwrap()
    }

    /// The binary with these arguments, in the workspace, with the fixture's environment.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kontext-ls"));
        command
            .args(args)
            .current_dir(self.path(""))
            .env_clear()
            .envs(&self.env);
        command
    }

    /// Runs a command of the shell to its end: exit code, standard output, standard error.
    pub fn run(&self, args: &[&str]) -> (i32, String, String) {
        let output = self
            .command(args)
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        (
            output.status.code().unwrap(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    }
}

/// The `file:` URI of a path.
pub fn uri_of(path: &Path) -> String {
    tower_lsp::lsp_types::Url::from_file_path(path)
        .unwrap()
        .to_string()
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
