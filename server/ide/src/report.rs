//! Status and diagnostics in the shapes of companion.md section 3, as `kontext_status`,
//! `kontext_check` and the shell give them. Positions are zero-based, in UTF-16 code units, ranges
//! exclude their end.

use kontext_config::codes::{Code, Severity};
use kontext_config::facts::Trust;
use kontext_config::layer::LayerKind;
use kontext_config::settings::Companion;
use kontext_config::status::Status;
use kontext_syntax::TextRange;
use kontext_syntax::text::{self, Encoding, LineIndex};
use serde::Serialize;

use crate::finding::Diagnostic;
use crate::mask;
use crate::snapshot::{File, Snapshot, Workspace};

/// The answer of `kontext_status` and of `adapters list --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StatusReport {
    /// In configuration order; those of several workspaces one after the other.
    pub adapters: Vec<AdapterReport>,
    /// Which classes of tools are open.
    pub gates: Gates,
    /// What waits to be delivered.
    pub outbox: Outbox,
    /// The layers, lowest first.
    pub layers: Vec<LayerReport>,
    /// Whether an editor's buffers are seen.
    pub editor: bool,
}

/// One adapter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdapterReport {
    /// Its name.
    pub name: String,
    /// Its driver; empty where none is given.
    pub driver: &'static str,
    /// Whether it is called.
    pub status: Status,
    /// Every reason.
    pub reasons: Vec<String>,
    /// The highest layer that writes about it.
    pub layer: LayerKind,
}

/// `[companion] allow_write` and `allow_external_call`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Gates {
    /// Tools that change something.
    pub write: bool,
    /// Tools that reach an adapter.
    pub external: bool,
}

/// Deliveries; nothing is delivered yet, so these are zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outbox {
    /// Not delivered yet.
    pub waiting: u64,
    /// Given up.
    pub failed: u64,
}

/// One layer of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LayerReport {
    /// Its name; with several workspaces those after the first have a number behind it
    /// (`shared-2`).
    pub layer: String,
    /// Its file.
    pub path: String,
    /// Whether the file, or an open buffer for it, exists.
    pub exists: bool,
    /// Whether an open buffer differs from the file.
    pub unsaved: bool,
    /// Whether its adapters run without a further yes.
    pub trusted: bool,
    /// Why it cannot be read, where that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A diagnostic as answers give it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiagnosticReport {
    /// The file, or the URI of what is no file.
    pub path: String,
    /// What it is about.
    pub range: Range,
    /// How bad it is.
    pub severity: Severity,
    /// Its code.
    pub code: Code,
    /// What is wrong and what to do.
    pub message: String,
    /// Edits that put it right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<FixReport>,
}

/// Edits of one file; they do not overlap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FixReport {
    /// What applying them does.
    pub title: String,
    /// The edits.
    pub edits: Vec<EditReport>,
}

/// A replacement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EditReport {
    /// What is replaced.
    pub range: Range,
    /// By what.
    pub new_text: String,
}

/// A place: zero-based, `character` in UTF-16 code units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The place in it.
    pub character: u32,
}

/// A stretch of text without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Range {
    /// Its first place.
    pub start: Position,
    /// The place behind it.
    pub end: Position,
}

/// The status of everything.
pub fn status(snapshot: &Snapshot) -> StatusReport {
    let mut report = StatusReport {
        adapters: Vec::new(),
        gates: gates(snapshot),
        outbox: Outbox::default(),
        layers: Vec::new(),
        editor: snapshot.editor,
    };
    for (number, workspace) in snapshot.workspaces.iter().enumerate() {
        let adapters = workspace.statuses().iter().map(|status| AdapterReport {
            name: status.name.clone(),
            driver: status.driver.map_or("", |driver| driver.name()),
            status: status.status,
            reasons: status.reasons.clone(),
            layer: status.layer,
        });
        report.adapters.extend(adapters);
        report.layers.extend(layers(snapshot, number, workspace));
    }
    report
}

/// The gates, by what is saved: text that is still being typed opens none. Open only where every
/// workspace opens them, as the list of tools is one for all.
pub fn gates(snapshot: &Snapshot) -> Gates {
    let all = |open: fn(&Companion) -> bool| {
        !snapshot.workspaces.is_empty()
            && snapshot
                .workspaces
                .iter()
                .all(|workspace| open(&Companion::of(&workspace.saved)))
    };
    Gates {
        write: all(|settings| settings.allow_write),
        external: all(|settings| settings.allow_external_call),
    }
}

fn layers<'a>(
    snapshot: &'a Snapshot,
    number: usize,
    workspace: &'a Workspace,
) -> impl Iterator<Item = LayerReport> + 'a {
    workspace.stack.layers.iter().map(move |layer| {
        let file = workspace
            .files
            .iter()
            .find(|(kind, _)| *kind == layer.kind)
            .and_then(|(_, id)| snapshot.file(*id));
        let trust = workspace.stack.trust;
        LayerReport {
            layer: match number {
                0 => layer.kind.name().to_owned(),
                more => format!("{}-{}", layer.kind, more + 1),
            },
            path: layer.path.to_string_lossy().into_owned(),
            exists: layer.source.is_some() || layer.fault.is_some(),
            unsaved: file.is_some_and(|file| file.unsaved),
            trusted: layer.kind.is_personal() || trust != Trust::Untrusted,
            problem: layer.fault.clone(),
        }
    })
}

/// The diagnostics of a file.
pub fn diagnostics(snapshot: &Snapshot, file: &File) -> Vec<DiagnosticReport> {
    let path = file.path.as_ref().map_or_else(
        || file.uri.to_string(),
        |path| path.to_string_lossy().into_owned(),
    );
    let text: &str = file.source.document.text();
    snapshot
        .diagnostics(file)
        .iter()
        .map(|one| diagnostic(&path, text, &file.lines, one))
        .collect()
}

/// One diagnostic of the text at `path`, whose index is `lines`.
pub fn diagnostic(path: &str, text: &str, lines: &LineIndex, one: &Diagnostic) -> DiagnosticReport {
    DiagnosticReport {
        path: path.to_owned(),
        range: range(text, lines, one.range),
        severity: one.severity,
        code: one.code,
        message: one.message.clone(),
        fix: one.fix.as_ref().map(|fix| FixReport {
            title: fix.title.clone(),
            edits: fix
                .edits
                .iter()
                .map(|(at, new)| EditReport {
                    range: range(text, lines, *at),
                    new_text: new.clone(),
                })
                .collect(),
        }),
    }
}

/// The text of a file for an agent: what is, or looks like, a secret is left out.
pub fn masked_text(file: &File) -> String {
    mask::file(&file.source)
}

/// A range of bytes as lines and UTF-16 code units.
pub fn range(text: &str, lines: &LineIndex, range: TextRange) -> Range {
    let place = |offset| {
        let text::Position { line, character } = lines.position(text, offset, Encoding::Utf16);
        Position { line, character }
    };
    Range {
        start: place(range.start),
        end: place(range.end),
    }
}
