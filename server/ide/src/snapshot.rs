//! The picture everything reads: open buffers over files, layer by layer, workspace by workspace.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use kontext_config::facts::Facts;
use kontext_config::layer::LayerKind;
use kontext_config::source::Source;
use kontext_config::stack::Stack;
use kontext_config::status::{self, AdapterStatus};
use kontext_syntax::text::LineIndex;

use crate::diagnostics::{Checked, Severities, Subject};
use crate::finding::Diagnostic;

/// Names a file of a snapshot; the same file has the same id in every later snapshot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(pub u32);

/// A file as a layer of a workspace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Role {
    /// Index into [`Snapshot::workspaces`].
    pub workspace: usize,
    /// Which layer it is there.
    pub layer: LayerKind,
}

/// One text: an open buffer, or a layer's file on disk.
#[derive(Debug)]
pub struct File {
    /// Its name across snapshots.
    pub id: FileId,
    /// Where it lies; `None` for a document that is no file.
    pub path: Option<PathBuf>,
    /// How the client calls it (byte for byte what it sent), or the `file:` URI made from the path.
    pub uri: Arc<str>,
    /// The text and what it says.
    pub source: Arc<Source>,
    /// Where its lines begin.
    pub lines: Arc<LineIndex>,
    /// The client's version of an open buffer.
    pub version: Option<i32>,
    /// Whether the client has it open.
    pub open: bool,
    /// Whether the buffer differs from the file.
    pub unsaved: bool,
    /// The text of the file on disk, for a layer that was read.
    pub saved: Option<Arc<Source>>,
    /// Why the file on disk cannot be read; the text is empty then unless it is open.
    pub fault: Option<Arc<str>>,
    /// The layers it is. Empty for a document that is checked alone.
    pub roles: Vec<Role>,
    /// The workspace of each role, as it was when this version of the file was made.
    pub judged: Vec<Arc<Workspace>>,
    /// Outcomes of an earlier version, to check from; one for each role, or one for none.
    pub before: Vec<Arc<Checked>>,
    /// Outcomes of this version, once somebody asked.
    pub checked: OnceLock<Vec<Arc<Checked>>>,
    /// The diagnostics of all roles together, once somebody asked.
    pub merged: OnceLock<Arc<[Diagnostic]>>,
}

/// A work tree with its layers.
#[derive(Debug)]
pub struct Workspace {
    /// The root of the work tree, or the folder that was opened.
    pub root: PathBuf,
    /// The layers as the editor shows them: buffers over files.
    pub stack: Arc<Stack>,
    /// The layers as they are saved: what runs, and what opens a gate, is read from here alone.
    pub saved: Arc<Stack>,
    /// The world as it was found.
    pub facts: Arc<Facts>,
    /// The file of each layer, where it is there or open; in the order of the stack.
    pub files: Vec<(LayerKind, FileId)>,
    /// Severities of `[companion]`, over which those of the client go.
    pub severities: Arc<Severities>,
    /// The status of every adapter, once somebody asked.
    pub statuses: OnceLock<Arc<[AdapterStatus]>>,
}

impl Workspace {
    /// The status of every adapter, in configuration order.
    pub fn statuses(&self) -> &Arc<[AdapterStatus]> {
        self.statuses
            .get_or_init(|| status::all(&self.stack, &self.facts).into())
    }
}

/// Everything that is known at one moment. Immutable; made by one writer, read without locks.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// Counts up with every change.
    pub revision: u64,
    /// The workspaces, in the order the client names them.
    pub workspaces: Vec<Arc<Workspace>>,
    /// Every file, by id.
    pub files: Vec<Arc<File>>,
    /// Whether an editor is behind it (else: files on disk only).
    pub editor: bool,
    /// Severities where a file has no workspace.
    pub severities: Arc<Severities>,
}

impl Snapshot {
    /// The file of that id.
    pub fn file(&self, id: FileId) -> Option<&Arc<File>> {
        self.files
            .binary_search_by_key(&id, |file| file.id)
            .ok()
            .and_then(|at| self.files.get(at))
    }

    /// The file at that path (as it was given, no links resolved).
    pub fn file_at(&self, path: &Path) -> Option<&Arc<File>> {
        self.files
            .iter()
            .find(|file| file.path.as_deref() == Some(path))
    }

    /// The workspace a file is a layer of, or else the one whose root contains it, or else the
    /// first one.
    pub fn workspace_of(&self, file: &File) -> Option<&Arc<Workspace>> {
        if let Some(role) = file.roles.first() {
            return self.workspaces.get(role.workspace);
        }
        let path = file.path.as_deref();
        let inside = |workspace: &&Arc<Workspace>| {
            path.is_some_and(|path| path.starts_with(&workspace.root))
        };
        self.workspaces
            .iter()
            .filter(inside)
            .max_by_key(|workspace| workspace.root.as_os_str().len())
            .or(self.workspaces.first())
    }

    /// The diagnostics of a file, computed the first time somebody asks.
    ///
    /// A file that is a layer of several workspaces shows what is wrong in all of them: what is
    /// missing beside one repository's layers may be there beside another's.
    pub fn diagnostics(&self, file: &File) -> Arc<[Diagnostic]> {
        let merged = file.merged.get_or_init(|| {
            let outcomes = self.checked(file);
            match outcomes.as_slice() {
                [] => Arc::default(),
                [one] => Arc::clone(one.diagnostics()),
                [first, others @ ..] => {
                    let everywhere = |one: &&Diagnostic| {
                        others.iter().all(|other| {
                            other
                                .diagnostics()
                                .iter()
                                .any(|there| there.code == one.code && there.range == one.range)
                        })
                    };
                    first
                        .diagnostics()
                        .iter()
                        .filter(everywhere)
                        .cloned()
                        .collect()
                }
            }
        });
        Arc::clone(merged)
    }

    /// The outcomes to check the next version of a file from.
    pub fn outcomes(file: &File) -> Vec<Arc<Checked>> {
        file.checked.get().unwrap_or(&file.before).clone()
    }

    fn checked<'a>(&self, file: &'a File) -> &'a Vec<Arc<Checked>> {
        file.checked.get_or_init(|| {
            let check = |layer, severities, before: Option<&Arc<Checked>>| {
                let subject = Subject {
                    source: &file.source,
                    layer,
                    severities,
                    fault: file.fault.as_deref(),
                };
                Arc::new(Checked::of(&subject, before.map(|before| &**before)))
            };
            if file.roles.is_empty() {
                return vec![check(None, &*self.severities, file.before.first())];
            }
            let roles = file.roles.iter().zip(&file.judged).enumerate();
            roles
                .map(|(i, (role, workspace))| {
                    check(
                        Some((role.layer, &*workspace.stack)),
                        &workspace.severities,
                        file.before.get(i),
                    )
                })
                .collect()
        })
    }
}
