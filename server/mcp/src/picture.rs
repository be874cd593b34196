//! The answers of one snapshot, in the shapes agents and the shell get.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kontext_config::facts::Trust;
use kontext_config::schema;
use kontext_config::settings::Companion;
use kontext_config::source::Source;
use kontext_config::stack::{Stack, View};
use kontext_engine::Engine;
use kontext_engine::driver::mcp::Source as LogSource;
use kontext_ide::diagnostics::{Checked, Subject, is_ours};
use kontext_ide::{File, Snapshot, Workspace, effective, explain, format, masked_text};
use kontext_syntax::TextRange;
use kontext_syntax::text::{Encoding, LineIndex};
use serde_json::{Map, Value};

use crate::answers;
use crate::gates::Gates;
use crate::preview;
use crate::source::{AnswerError, Answers, CheckTarget};
use crate::words::counted;

/// A snapshot as an agent sees it.
#[derive(Clone, Debug)]
pub struct Picture {
    snapshot: Arc<Snapshot>,
    read: ReadFile,
    /// Where the servers run that status tells of.
    engine: Option<Engine>,
}

/// How a file that is in no snapshot is read: the one look at the disk that answers may need.
/// `Ok(None)`: it is not there.
pub type ReadFile = fn(&Path) -> Result<Option<String>, String>;

impl Picture {
    /// The answers of `snapshot`.
    pub fn new(snapshot: Arc<Snapshot>, read: ReadFile) -> Self {
        Self {
            snapshot,
            read,
            engine: None,
        }
    }

    /// The same, which knows how the servers of adapters fare.
    #[must_use]
    pub fn with_engine(self, engine: Option<Engine>) -> Self {
        Self { engine, ..self }
    }

    /// The server of an adapter; and what else is to be said of an adapter at work.
    fn at_work(&self, status: &mut answers::AdapterStatus) {
        let Some(engine) = &self.engine else { return };
        if let Some(server) = engine.server_status(&status.name) {
            let reason = server.reason.map(|reason| format!("its server: {reason}"));
            status.reasons.extend(reason);
            status.server = Some(answers::ServerStatus {
                state: server.state.to_owned(),
                tools: u32::try_from(server.tools).unwrap_or(u32::MAX),
            });
        }
        let resting = engine.resting(&status.name);
        let resting = resting.iter().map(|(op, fault)| format!("`{op}`: {fault}"));
        status.reasons.extend(resting);
        let catalogue = engine.catalogue();
        let reports = catalogue.reports.iter();
        let reports = reports.filter(|report| *report.adapter == *status.name);
        status
            .reasons
            .extend(reports.map(|report| report.message.clone()));
    }

    /// The workspace answers are about: the first one the editor names.
    fn workspace(&self) -> Option<&Arc<Workspace>> {
        self.snapshot.workspaces.first()
    }

    /// A path the agent wrote, from the root where it is relative.
    fn absolute(&self, path: &str) -> PathBuf {
        let path = Path::new(path);
        match self.workspace() {
            Some(workspace) if path.is_relative() => workspace.root.join(path),
            _ => path.to_path_buf(),
        }
    }

    /// How a file is named in answers: from the root where it lies in it, with `/`.
    pub fn name_of(&self, path: &Path) -> String {
        let inside = self
            .snapshot
            .workspaces
            .iter()
            .find_map(|workspace| path.strip_prefix(&workspace.root).ok());
        let name = inside.unwrap_or(path).to_string_lossy();
        if cfg!(windows) {
            name.replace('\\', "/")
        } else {
            name.into_owned()
        }
    }

    fn file_name(&self, file: &File) -> String {
        file.path
            .as_deref()
            .map_or_else(|| file.uri.to_string(), |path| self.name_of(path))
    }

    /// The diagnostics of one file of the snapshot.
    pub fn diagnostics(&self, file: &File) -> Vec<answers::Diagnostic> {
        let text = file.source.document.text();
        in_shape(
            &self.file_name(file),
            text,
            &file.lines,
            &self.snapshot.diagnostics(file),
        )
    }

    fn find(&self, path: &Path) -> Option<&Arc<File>> {
        self.snapshot.file_at(path).or_else(|| {
            let canonical = path.canonicalize().ok()?;
            let same = |file: &&Arc<File>| {
                file.path
                    .as_deref()
                    .and_then(|path| path.canonicalize().ok())
                    .as_ref()
                    == Some(&canonical)
            };
            self.snapshot.files.iter().find(same)
        })
    }

    /// Checks a text in the place of a file, or alone.
    fn check_text(&self, path: Option<&str>, text: &str) -> Vec<answers::Diagnostic> {
        let source = Arc::new(Source::parse(text));
        let file = path.and_then(|path| self.find(&self.absolute(path)));
        let role = file.and_then(|file| file.roles.first().zip(file.judged.first()));
        // The text stands in its layer's place among the others.
        let stack = role.map(|(role, workspace)| {
            let mut stack = Stack::clone(&workspace.stack);
            for layer in stack
                .layers
                .iter_mut()
                .filter(|layer| layer.kind == role.layer)
            {
                layer.source = Some(Arc::clone(&source));
            }
            (role.layer, stack)
        });
        let severities = role.map_or(&self.snapshot.severities, |(_, workspace)| {
            &workspace.severities
        });
        let subject = Subject {
            source: &source,
            layer: stack.as_ref().map(|(layer, stack)| (*layer, stack)),
            severities,
            fault: None,
        };
        let checked = Checked::of(&subject, None);
        let name = file.map_or_else(
            || path.unwrap_or("<text>").to_owned(),
            |file| self.file_name(file),
        );
        in_shape(&name, text, &LineIndex::new(text), checked.diagnostics())
    }

    fn effective_value(&self, value: effective::EffectiveValue) -> answers::EffectiveValue {
        let file = self.snapshot.file_at(&value.path);
        let range =
            file.map(|file| range_of(file.source.document.text(), &file.lines, value.range));
        answers::EffectiveValue {
            field: value.field,
            value: value.value,
            layer: value.layer.to_owned(),
            path: Some(self.name_of(&value.path)),
            range,
        }
    }

    fn layer_names(&self) -> Vec<(String, usize, usize)> {
        let mut names = Vec::new();
        for (at, workspace) in self.snapshot.workspaces.iter().enumerate() {
            let earlier = self.snapshot.workspaces.iter().take(at);
            let shared: Vec<&Path> = earlier
                .flat_map(|workspace| &workspace.stack.layers)
                .map(|layer| layer.path.as_path())
                .collect();
            for (layer, source) in workspace.stack.layers.iter().enumerate() {
                // Every folder has the user's file; it is one layer.
                if shared.contains(&source.path.as_path()) {
                    continue;
                }
                let name = if at == 0 {
                    source.kind.name().to_owned()
                } else {
                    format!("{}-{}", source.kind, at + 1)
                };
                names.push((name, at, layer));
            }
        }
        names
    }
}

/// Diagnostics in the shape of companion.md: zero-based lines, UTF-16 characters.
pub fn in_shape(
    path: &str,
    text: &str,
    lines: &LineIndex,
    diagnostics: &[kontext_ide::Diagnostic],
) -> Vec<answers::Diagnostic> {
    let range = |range: TextRange| range_of(text, lines, range);
    let shape = |one: &kontext_ide::Diagnostic| answers::Diagnostic {
        path: path.to_owned(),
        range: range(one.range),
        severity: one.severity,
        code: one.code.id().to_owned(),
        message: one.message.clone(),
        fix: one.fix.as_ref().map(|fix| answers::Fix {
            title: fix.title.clone(),
            edits: fix
                .edits
                .iter()
                .map(|(at, text)| answers::Edit {
                    range: range(*at),
                    new_text: text.clone(),
                })
                .collect(),
        }),
    };
    diagnostics.iter().map(shape).collect()
}

fn range_of(text: &str, lines: &LineIndex, range: TextRange) -> answers::Range {
    let position = |offset| {
        let position = lines.position(text, offset, Encoding::Utf16);
        answers::Position {
            line: position.line,
            character: position.character,
        }
    };
    answers::Range {
        start: position(range.start),
        end: position(range.end),
    }
}

/// The earlier folder that configures another adapter of this name: of one name only the first
/// adapter is called.
fn shadow<'a>(
    earlier: &'a [Arc<Workspace>],
    workspace: &Workspace,
    name: &str,
) -> Option<&'a Arc<Workspace>> {
    let of = |workspace: &Workspace| workspace.saved.adapter(name, View::InForce);
    let first = earlier
        .iter()
        .find(|earlier| earlier.saved.adapter(name, View::Shown).is_some())?;
    (of(first) != of(workspace)).then_some(first)
}

/// The stretches of whole lines that differ between two texts.
fn changes(saved: &str, buffer: &str) -> Vec<answers::Change> {
    // Lines the edits so far have added, less those they have removed.
    let mut moved = 0i64;
    let lines = |text: &str| i64::try_from(text.matches('\n').count()).unwrap_or(i64::MAX);
    let edits = format::changed_lines(saved, buffer).into_iter();
    edits
        .map(|edit| {
            let before = saved.get(..edit.range.start as usize).unwrap_or_default();
            let gone = edit.range.of(saved);
            let line = u32::try_from(lines(before).saturating_add(moved)).unwrap_or(u32::MAX);
            moved += lines(&edit.text) - lines(gone);
            let shown = |text: &str| text.trim_end_matches(['\n', '\r']).to_owned();
            answers::Change {
                line,
                saved: shown(gone),
                buffer: shown(&edit.text),
            }
        })
        .collect()
}

impl Answers for Picture {
    fn version(&self) -> u64 {
        self.snapshot.revision
    }

    fn gates(&self) -> Gates {
        // What every workspace opens: an agent's session is not bound to one of them.
        let mut settings = self
            .snapshot
            .workspaces
            .iter()
            .map(|workspace| Companion::of(&workspace.saved))
            .peekable();
        if settings.peek().is_none() {
            return Gates::default();
        }
        settings.fold(
            Gates {
                write: true,
                external: true,
            },
            |gates, one| Gates {
                write: gates.write && one.allow_write,
                external: gates.external && one.allow_external_call,
            },
        )
    }

    fn status(&self) -> answers::Status {
        let mut adapters: Vec<answers::AdapterStatus> = Vec::new();
        for (at, workspace) in self.snapshot.workspaces.iter().enumerate() {
            // What several folders share, as the user's own adapters, is told once.
            let before = adapters.len();
            let earlier = self.snapshot.workspaces.get(..at).unwrap_or_default();
            for one in workspace.statuses().iter() {
                let mut status = answers::AdapterStatus {
                    name: one.name.clone(),
                    driver: one
                        .driver
                        .map_or(String::new(), |driver| driver.name().to_owned()),
                    status: one.status.name().to_owned(),
                    reasons: one.reasons.clone(),
                    layer: one.layer.name().to_owned(),
                    server: None,
                };
                match shadow(earlier, workspace, &one.name) {
                    Some(first) => status.reasons.push(format!(
                        "it is not called: the folder `{}` comes first and configures another adapter of this name",
                        first.root.display()
                    )),
                    None => self.at_work(&mut status),
                }
                if !adapters.iter().take(before).any(|told| *told == status) {
                    adapters.push(status);
                }
            }
        }
        answers::Status {
            adapters,
            gates: self.gates(),
            outbox: answers::Outbox::default(),
            layers: self.layers(),
            editor: self.snapshot.editor,
        }
    }

    fn snapshot(&self) -> answers::Snapshot {
        let ours =
            |file: &&Arc<File>| file.open && (!file.roles.is_empty() || is_ours(&file.source));
        let document = |file: &Arc<File>| {
            let changes = match &file.saved {
                Some(saved) if file.unsaved => {
                    changes(&masked_text(saved), &masked_text(&file.source))
                }
                _ => Vec::new(),
            };
            answers::Document {
                path: self.file_name(file),
                layer: file.roles.first().map(|role| role.layer.name().to_owned()),
                version: file.version.unwrap_or_default(),
                unsaved: file.unsaved,
                changes,
                diagnostics: self.diagnostics(file),
            }
        };
        let mut documents: Vec<_> = self
            .snapshot
            .files
            .iter()
            .filter(ours)
            .map(document)
            .collect();
        documents.sort_by(|a, b| a.path.cmp(&b.path));
        answers::Snapshot {
            editor: self.snapshot.editor,
            documents,
        }
    }

    fn check(&self, target: CheckTarget<'_>) -> Result<answers::Checked, AnswerError> {
        let diagnostics = match target {
            CheckTarget::Workspace => {
                let ours = |file: &&Arc<File>| !file.roles.is_empty() || is_ours(&file.source);
                let mut all: Vec<_> = self
                    .snapshot
                    .files
                    .iter()
                    .filter(ours)
                    .flat_map(|file| self.diagnostics(file))
                    .collect();
                all.sort_by(|a, b| a.path.cmp(&b.path));
                all
            }
            CheckTarget::Path(path) => {
                let full = self.absolute(path);
                match self.find(&full) {
                    Some(file) => self.diagnostics(file),
                    None => match (self.read)(&full) {
                        Ok(Some(text)) => self.check_text(Some(path), &text),
                        Ok(None) => return Err(AnswerError(format!("there is no file `{path}`"))),
                        Err(why) => {
                            return Err(AnswerError(format!("`{path}` cannot be read: {why}")));
                        }
                    },
                }
            }
            CheckTarget::Text(text) => self.check_text(None, text),
            CheckTarget::TextAt { path, text } => self.check_text(Some(path), text),
        };
        Ok(answers::Checked { diagnostics })
    }

    fn explain(&self, of: &str) -> Result<answers::Explanation, AnswerError> {
        let found = explain::explain(&self.snapshot, of);
        if found.kind == explain::Subject::Unknown {
            return Err(AnswerError(found.text));
        }
        let kind = serde_json::to_value(found.kind)
            .ok()
            .and_then(|kind| kind.as_str().map(str::to_owned));
        Ok(answers::Explanation {
            of: found.of,
            kind: kind.unwrap_or_default(),
            text: found.text,
            values: found
                .values
                .into_iter()
                .map(|value| self.effective_value(value))
                .collect(),
            related: found.related,
        })
    }

    fn preview(
        &self,
        adapter: &str,
        op: &str,
        inputs: &Map<String, Value>,
        payload: Option<&Value>,
    ) -> Result<answers::Preview, AnswerError> {
        let has = |workspace: &&Arc<Workspace>| workspace.stack.adapter_names().contains(&adapter);
        let workspaces = &self.snapshot.workspaces;
        let workspace = workspaces.iter().find(has).or(workspaces.first());
        let Some(workspace) = workspace else {
            return Err(AnswerError("no folder is open".to_owned()));
        };
        let subject = preview::Subject {
            stack: &workspace.stack,
            facts: &workspace.facts,
            adapter,
            op,
        };
        preview::preview(&subject, inputs, payload)
    }

    fn effective(&self) -> Value {
        effective::effective(&self.snapshot)
    }

    fn layers(&self) -> Vec<answers::Layer> {
        let layer = |(name, workspace, layer): (String, usize, usize)| {
            let workspace = self.snapshot.workspaces.get(workspace)?;
            let source = workspace.stack.layers.get(layer)?;
            let faults = source
                .source
                .as_ref()
                .map_or(0, |source| source.document.faults().count());
            let problem = source.fault.clone().or_else(|| {
                (faults > 0).then(|| {
                    let faults = counted(faults, "fault");
                    format!("{faults} of TOML; what is at fault is not read")
                })
            });
            Some(answers::Layer {
                layer: name,
                path: source.path.to_string_lossy().into_owned(),
                exists: source.source.is_some() || source.fault.is_some(),
                trusted: source.kind.is_personal() || workspace.stack.trust.is_trusted(),
                trusted_by: match workspace.stack.trust {
                    _ if source.kind.is_personal() => None,
                    Trust::Untrusted => None,
                    Trust::Pinned => Some("pin".to_owned()),
                    Trust::ByEnvironment => Some("environment".to_owned()),
                },
                problem,
            })
        };
        self.layer_names().into_iter().filter_map(layer).collect()
    }

    fn layer(&self, layer: &str) -> Option<answers::LayerText> {
        let (_, workspace, index) = self
            .layer_names()
            .into_iter()
            .find(|(name, _, _)| name == layer)?;
        let source = self
            .snapshot
            .workspaces
            .get(workspace)?
            .stack
            .layers
            .get(index)?
            .source
            .as_ref()?;
        Some(answers::LayerText {
            text: masked_text(source),
        })
    }

    fn schema(&self) -> Value {
        schema::json_schema()
    }

    fn logs(&self) -> Vec<String> {
        self.engine.as_ref().map_or_else(Vec::new, Engine::started)
    }

    fn log(&self, adapter: &str) -> Option<String> {
        let server = self.engine.as_ref()?.running(adapter)?;
        let log = server.log();
        let mut text = String::new();
        if log.dropped() > 0 {
            let gone = usize::try_from(log.dropped()).unwrap_or(usize::MAX);
            let _ = writeln!(text, "({} not kept)", counted(gone, "older line"));
        }
        for line in log.lines() {
            let lead = match line.source {
                LogSource::Stderr => "",
                LogSource::Stray => "stdout: ",
                LogSource::Note => "kontext-ls: ",
            };
            let _ = writeln!(text, "{lead}{}", line.text);
        }
        Some(text)
    }

    fn pages(&self) -> Vec<answers::Page> {
        let page = |(file, text): (String, String)| {
            let title = text
                .lines()
                .find_map(|line| line.strip_prefix("# "))
                .unwrap_or(&file)
                .to_owned();
            answers::Page {
                page: file.trim_end_matches(".md").to_owned(),
                title,
            }
        };
        reference().into_iter().map(page).collect()
    }

    fn page(&self, page: &str) -> Option<String> {
        reference()
            .into_iter()
            .find(|(file, _)| file.trim_end_matches(".md") == page)
            .map(|(_, text)| text)
    }
}

fn reference() -> Vec<(String, String)> {
    schema::reference::reference_markdown()
}
