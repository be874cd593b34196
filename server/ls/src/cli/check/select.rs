//! Which files the paths of a command line mean, and what each of them is.
//!
//! A file is read as the layer it is in its work tree; else as the layer its name and place say
//! (`config.toml` beside `repos/`, `repos/<slug>.toml`, `.kontext.toml`), together with the files
//! it belongs to; else alone, where it has a top-level `adapters` table.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fs_err as fs;
use kontext_config::facts::Trust;
use kontext_config::layer::LayerKind;
use kontext_config::source::Source;
use kontext_config::stack::{LayerSource, Stack};
use kontext_ide::diagnostics::is_ours;
use kontext_ide::{File, Snapshot};

use super::super::Failure;
use crate::workspace::{Options, Store};
use crate::world::{self, DocKey, Places, read_layer};

/// What the paths mean.
#[derive(Debug, Default)]
pub(in crate::cli) struct Selection {
    /// The files, each once, by name.
    pub(in crate::cli) files: Vec<Selected>,
    /// The picture the layers are part of.
    pub(in crate::cli) snapshot: Arc<Snapshot>,
    /// Named files that are not looked at, each with the reason, for the person.
    pub(in crate::cli) notes: Vec<String>,
    /// Paths that could not be read or are no configuration by their name, each with the reason.
    pub(in crate::cli) unreadable: Vec<String>,
    /// Where the layers of the work trees of named folders lie or would lie.
    pub(in crate::cli) places: Vec<Places>,
}

/// One file.
#[derive(Debug)]
pub(in crate::cli) struct Selected {
    /// Its path; `None` for standard input.
    pub(in crate::cli) path: Option<PathBuf>,
    /// As the person would write it: relative to the current folder where it lies in it, with
    /// `/` between folders.
    pub(in crate::cli) name: String,
    /// What it is.
    pub(in crate::cli) part: Part,
}

/// What a file is.
#[derive(Debug)]
pub(in crate::cli) enum Part {
    /// A layer of a work tree.
    Layer(Arc<File>),
    /// A layer by name and place, with the layers around it.
    Placed(Arc<Source>, LayerKind, Stack),
    /// A file that is no layer.
    Alone(Arc<Source>),
}

impl Selected {
    /// The text.
    pub(in crate::cli) fn text(&self) -> &str {
        match &self.part {
            Part::Layer(file) => file.source.document.text(),
            Part::Placed(source, ..) | Part::Alone(source) => source.document.text(),
        }
    }
}

/// Reads what `paths` name (nothing: the current folder). `stdin` is read for the path `-`.
///
/// # Errors
/// When there is no current folder, or standard input cannot be read.
pub(in crate::cli) fn select(
    paths: &[PathBuf],
    stdin: impl FnOnce() -> Result<String, Failure>,
) -> Result<Selection, Failure> {
    let current =
        std::env::current_dir().map_err(|error| Failure::io("the current folder", error))?;
    let here = [PathBuf::from(".")];
    let mut named = if paths.is_empty() { &here[..] } else { paths };
    let mut selector = Selector {
        store: Store::new(Options::of_process(false)),
        current,
        taken: BTreeSet::new(),
        selection: Selection::default(),
    };
    if let Some(at) = named.iter().position(|path| path.as_os_str() == "-") {
        if named.len() > 1 {
            return Err(Failure::Other(
                "`-` stands for standard input and goes alone".to_owned(),
            ));
        }
        named = named.get(at + 1..).unwrap_or_default();
        selector.stdin(stdin()?);
    }
    selector.paths(named);
    let mut selection = selector.selection;
    selection.files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(selection)
}

struct Selector {
    store: Arc<Store>,
    current: PathBuf,
    /// What is selected or was said already.
    taken: BTreeSet<DocKey>,
    selection: Selection,
}

impl Selector {
    fn stdin(&mut self, text: String) {
        let source = Arc::new(Source::parse(text));
        if is_ours(&source) {
            let name = "<stdin>".to_owned();
            self.selection.files.push(Selected {
                path: None,
                name,
                part: Part::Alone(source),
            });
        } else {
            self.selection
                .notes
                .push("standard input has no top-level `adapters` table: not checked".to_owned());
        }
    }

    fn paths(&mut self, paths: &[PathBuf]) {
        let (mut folders, mut files) = (Vec::new(), Vec::new());
        for path in paths {
            // `join` keeps an absolute path as it is; `.` and doubled separators go.
            let full: PathBuf = self.current.join(path).components().collect();
            match fs::metadata(&full) {
                Ok(meta) if meta.is_dir() => folders.push(full),
                Ok(_) => files.push(full),
                Err(error) => self.selection.unreadable.push(sentence(path, &error)),
            }
        }
        let roots = files
            .iter()
            .filter_map(|file| file.parent())
            .map(Path::to_path_buf);
        let roots: Vec<PathBuf> = folders.iter().cloned().chain(roots).collect();
        self.store.set_folders(&roots);
        let snapshot = self.store.snapshot();
        for folder in &folders {
            self.folder(&snapshot, folder);
        }
        for file in files {
            self.file(&snapshot, file, true);
        }
        self.selection.snapshot = snapshot;
    }

    /// The layers of the work tree a folder lies in, and the layer files directly in it.
    fn folder(&mut self, snapshot: &Arc<Snapshot>, folder: &Path) {
        let root = world::find_repo(folder).root;
        let places = self.store.places().into_iter().map(|(places, _)| places);
        self.selection
            .places
            .extend(places.filter(|places| places.root == root));
        let workspace = snapshot
            .workspaces
            .iter()
            .find(|workspace| workspace.root == root);
        for (_, id) in workspace.iter().flat_map(|workspace| &workspace.files) {
            if let Some(file) = snapshot.file(*id)
                && let Some(path) = &file.path
            {
                self.layer(path.clone(), Arc::clone(file));
            }
        }
        for file in toml_files(folder)
            .into_iter()
            .chain(toml_files(&folder.join("repos")))
        {
            self.file(snapshot, file, false);
        }
    }

    fn layer(&mut self, path: PathBuf, file: Arc<File>) {
        if self.taken.insert(DocKey::from_path(&path)) {
            self.push(path, Part::Layer(file));
        }
    }

    fn push(&mut self, path: PathBuf, part: Part) {
        let name = shown(&path, &self.current);
        self.selection.files.push(Selected {
            path: Some(path),
            name,
            part,
        });
    }

    /// One file; of a `named` one it is said why it is not looked at.
    fn file(&mut self, snapshot: &Arc<Snapshot>, path: PathBuf, named: bool) {
        let key = DocKey::from_path(&path);
        let layer = snapshot.files.iter().find(|file| {
            !file.roles.is_empty()
                && file
                    .path
                    .as_deref()
                    .is_some_and(|path| DocKey::from_path(path) == key)
        });
        if let Some(file) = layer {
            return self.layer(path, Arc::clone(file));
        }
        if !self.taken.insert(key) {
            return;
        }
        let source = match read_layer(&path) {
            Ok(Some(text)) => Arc::new(Source::parse(text)),
            // Gone since it was listed.
            Ok(None) => return,
            Err(fault) => {
                self.selection.unreadable.push(fault.to_string());
                return;
            }
        };
        match placed(&path, &source) {
            Some((kind, stack)) => self.push(path, Part::Placed(source, kind, stack)),
            None if is_ours(&source) => self.push(path, Part::Alone(source)),
            // A slip of the command line, not a file that happens to be of another program.
            None if named && path.extension().is_none_or(|extension| extension != "toml") => {
                let name = shown(&path, &self.current);
                self.selection.unreadable.push(format!(
                    "{name} is no layer of configuration and is not checked: name TOML files or folders"
                ));
            }
            None if named => {
                let name = shown(&path, &self.current);
                self.selection.notes.push(format!(
                    "{name} is no layer of its work tree and has no top-level `adapters` table: not looked at"
                ));
            }
            None => {}
        }
    }
}

/// The layer that name and place of a file say, with the layers it belongs to.
fn placed(path: &Path, source: &Arc<Source>) -> Option<(LayerKind, Stack)> {
    let (folder, name) = (path.parent()?, path.file_name()?.to_str()?);
    let layer = |kind, path: &Path, source| LayerSource {
        kind,
        path: path.to_path_buf(),
        source: Some(source),
        fault: None,
    };
    let below = |path: PathBuf| {
        let text = read_layer(&path).ok().flatten()?;
        Some(layer(LayerKind::User, &path, Arc::new(Source::parse(text))))
    };
    let (kind, user) = match name {
        ".kontext.toml" => (LayerKind::Shared, below(folder.join("config.toml"))),
        "kontext.toml" => (LayerKind::Shared, None),
        "config.toml" if folder.join("repos").is_dir() => (LayerKind::User, None),
        _ if folder.file_name().is_some_and(|name| name == "repos") => {
            let user = folder.parent()?.join("config.toml");
            (LayerKind::Repository, Some(below(user)?))
        }
        _ => return None,
    };
    let layers = user
        .into_iter()
        .chain([layer(kind, path, Arc::clone(source))])
        .collect();
    Some((
        kind,
        Stack {
            layers,
            trust: Trust::default(),
        },
    ))
}

/// The files directly in a folder whose name ends in `.toml`, by name; none where there is no
/// such folder.
fn toml_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> = paths
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
                && path.is_file()
        })
        .collect();
    files.sort();
    files
}

/// A path as the person would write it.
pub(in crate::cli) fn shown(path: &Path, current: &Path) -> String {
    let resolved = current.canonicalize().ok();
    let inside = path
        .strip_prefix(current)
        .ok()
        .or_else(|| path.strip_prefix(resolved?).ok());
    let name = inside.unwrap_or(path).to_string_lossy();
    if cfg!(windows) {
        name.replace('\\', "/")
    } else {
        name.into_owned()
    }
}

fn sentence(path: &Path, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => format!("{} does not exist", path.display()),
        // `fs_err` names the path.
        _ => error.to_string(),
    }
}
