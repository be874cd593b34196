//! The sample workspace, and the settings that open it in an editor.

use std::path::{Path, PathBuf};
use std::process::Command;

use fs_err as fs;
use serde_json::json;

use super::super::Failure;

/// The personal layer the tour edits, from the root of the work tree.
pub(super) const EDITED: &str = ".git/kontext/config.toml";

/// What lies in the work tree. The repository is made without git, so that the tour needs none.
const FILES: &[(&str, &str)] = &[
    (EDITED, include_str!("sample/clone.toml")),
    (".kontext.toml", include_str!("sample/shared.toml")),
    ("docs/guide.md", include_str!("sample/guide.md")),
    (".git/HEAD", "ref: refs/heads/main\n"),
    (
        ".git/config",
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\
         [remote \"origin\"]\n\turl = https://github.com/acme/shop.git\n\
         \tfetch = +refs/heads/*:refs/remotes/origin/*\n",
    ),
];

/// Folders without files that make it a repository for git too, and what the children of the
/// tour have instead of the user's home.
const FOLDERS: &[&str] = &[
    "shop/.git/objects",
    "shop/.git/refs/heads",
    "home/config",
    "run",
];

/// The sample on disk.
#[derive(Debug)]
pub(super) struct Sample {
    /// The folder everything lies in.
    pub(super) folder: PathBuf,
    /// This program.
    pub(super) program: PathBuf,
}

impl Sample {
    /// Unpacks the sample into `folder`, which is empty or does not exist; else into a new
    /// temporary folder that stays.
    pub(super) fn unpack(folder: Option<&Path>) -> Result<Self, Failure> {
        let io = |error| Failure::io("the sample workspace", error);
        let program =
            std::env::current_exe().map_err(|error| Failure::io("this program", error))?;
        let folder = match folder {
            Some(folder) => {
                fs::create_dir_all(folder).map_err(io)?;
                if fs::read_dir(folder).map_err(io)?.next().is_some() {
                    let words = format!("{} is not empty: name a new folder", folder.display());
                    return Err(Failure::Other(words));
                }
                folder.canonicalize().map_err(io)?
            }
            None => {
                let folder = tempfile::Builder::new()
                    .prefix("kontext-tour-")
                    .tempdir()
                    .map_err(io)?;
                folder.keep().canonicalize().map_err(io)?
            }
        };
        let sample = Self { folder, program };
        for name in FOLDERS {
            fs::create_dir_all(sample.folder.join(name)).map_err(io)?;
        }
        let settings = sample.settings();
        let settings = settings.iter().map(|(name, text)| (*name, text.as_str()));
        for (name, text) in FILES.iter().copied().chain(settings) {
            let path = sample.root().join(name);
            fs::create_dir_all(path.parent().unwrap_or(&path)).map_err(io)?;
            fs::write(path, text).map_err(io)?;
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let private = std::fs::Permissions::from_mode(0o700);
            fs::set_permissions(sample.folder.join("run"), private).map_err(io)?;
        }
        Ok(sample)
    }

    /// The root of the work tree.
    pub(super) fn root(&self) -> PathBuf {
        self.folder.join("shop")
    }

    /// The file the tour edits.
    pub(super) fn edited(&self) -> PathBuf {
        self.root().join(EDITED)
    }

    /// This program with `args` in the work tree; what it sees of the user is the program search
    /// path and nothing else.
    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(self.root()).env_clear();
        for name in ["PATH", "SystemRoot", "TMPDIR"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
            .env("HOME", self.folder.join("home"))
            .env("KONTEXT_CONFIG_DIR", self.folder.join("home/config"))
            .env("XDG_RUNTIME_DIR", self.folder.join("run"));
        command
    }

    /// What makes editors use this program in the sample: path in the work tree, text.
    fn settings(&self) -> [(&'static str, String); 3] {
        let program = self.program.to_string_lossy();
        let helix = format!(
            "[language-server.kontext]\ncommand = {}\n\n[[language]]\nname = \"toml\"\nlanguage-servers = [\"kontext\"]\n",
            json!(program)
        );
        // Zed starts language servers through extensions; an extension's program can be replaced.
        let zed = json!({
            "lsp": {"taplo": {"binary": {"path": program, "arguments": ["lsp"]}}},
            "context_servers": {"kontext": {"command": program, "args": ["mcp"]}},
        });
        let vscode = json!({"servers": {"kontext": {
            "type": "stdio", "command": program, "args": ["mcp", "--dir", "${workspaceFolder}"],
        }}});
        [
            (".helix/languages.toml", helix),
            (".zed/settings.json", format!("{zed:#}\n")),
            (".vscode/mcp.json", format!("{vscode:#}\n")),
        ]
    }

    /// How the sample is opened, for the person.
    pub(super) fn how_to_open(&self) -> String {
        let (root, program) = (self.root(), self.program.to_string_lossy().into_owned());
        let root = root.to_string_lossy();
        let lua = program.replace('\\', "\\\\").replace('\'', "\\'");
        let neovim = format!(
            "nvim --cmd \"lua vim.lsp.config('kontext', {{cmd = {{'{lua}', 'lsp'}}, filetypes = {{'toml'}}, \
             root_markers = {{'.git'}}}}) vim.lsp.enable('kontext')\" {EDITED}"
        );
        format!(
            "The sample stays in {root}

Neovim 0.11
  cd '{root}'
  {neovim}
Helix (settings are in .helix/languages.toml of the sample)
  cd '{root}' && hx {EDITED}
Zed (settings are in .zed/settings.json of the sample; they replace the program of the Taplo
extension, which has to be installed)
  zed '{root}' '{root}/{EDITED}'
VS Code (its agent finds the program by .vscode/mcp.json of the sample; for diagnostics an
extension has to start `{program} lsp` on stdio for TOML files)
  code '{root}' '{root}/{EDITED}'
Any other agent
  {program} mcp --dir '{root}'
"
        )
    }
}
