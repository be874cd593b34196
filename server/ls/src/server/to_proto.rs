//! From our types to those of LSP.

use std::path::Path;

use kontext_config::codes::{Code, Severity, Tag};
use kontext_ide::{Diagnostic, File, Fix, Place, Snapshot};
use kontext_syntax::TextRange;
use kontext_syntax::text::LineIndex;
use serde_json::{Value, json};
use tower_lsp::lsp_types as lsp;

use super::profile::Profile;
use crate::world::{Platform, identity};

/// Writes places of one text in the client's encoding.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    text: &'a str,
    lines: &'a LineIndex,
    profile: &'a Profile,
}

impl<'a> Places<'a> {
    pub(super) fn of(file: &'a File, profile: &'a Profile) -> Self {
        Self {
            text: file.source.document.text(),
            lines: &file.lines,
            profile,
        }
    }

    pub(super) fn position(&self, offset: u32) -> lsp::Position {
        let position = self
            .lines
            .position(self.text, offset, self.profile.encoding);
        lsp::Position {
            line: position.line,
            character: position.character,
        }
    }

    pub(super) fn range(&self, range: TextRange) -> lsp::Range {
        lsp::Range {
            start: self.position(range.start),
            end: self.position(range.end),
        }
    }

    /// The diagnostics of the file, with what the client can take and nothing else.
    pub(super) fn diagnostics(
        &self,
        snapshot: &Snapshot,
        file: &File,
        diagnostics: &[Diagnostic],
    ) -> Vec<lsp::Diagnostic> {
        diagnostics
            .iter()
            .map(|one| self.diagnostic(snapshot, file, one))
            .collect()
    }

    fn diagnostic(&self, snapshot: &Snapshot, file: &File, one: &Diagnostic) -> lsp::Diagnostic {
        let related = || {
            one.related.iter().filter_map(|related| {
                let location = match &related.place {
                    Place::Here(range) => lsp::Location {
                        uri: lsp::Url::parse(&file.uri).ok()?,
                        range: self.range(*range),
                    },
                    Place::There(path, range) => elsewhere(snapshot, path, *range, self.profile)?,
                };
                Some(lsp::DiagnosticRelatedInformation {
                    location,
                    message: related.message.clone(),
                })
            })
        };
        lsp::Diagnostic {
            range: self.range(one.range),
            severity: Some(severity(one.severity)),
            code: Some(lsp::NumberOrString::String(one.code.id().to_owned())),
            code_description: None,
            source: Some("kontext".to_owned()),
            message: one.message.clone(),
            related_information: (self.profile.related && !one.related.is_empty())
                .then(|| related().collect()),
            tags: if self.profile.tags {
                tags(one.code)
            } else {
                None
            },
            data: one
                .fix
                .as_ref()
                .filter(|_| self.profile.data)
                .map(|fix| self.fix(fix)),
        }
    }

    /// What a quick fix is made from: its title and the edits of this file.
    fn fix(&self, fix: &Fix<TextRange>) -> Value {
        let edits = fix
            .edits
            .iter()
            .map(|(range, text)| json!({ "range": self.range(*range), "newText": text }));
        json!({ "title": fix.title, "edits": edits.collect::<Vec<_>>() })
    }
}

/// A place in the file of another layer; the range is that of the text in the snapshot.
fn elsewhere(
    snapshot: &Snapshot,
    path: &Path,
    range: TextRange,
    profile: &Profile,
) -> Option<lsp::Location> {
    let uri = |uri: &str| lsp::Url::parse(uri).ok();
    match snapshot.file_at(path) {
        Some(file) => Some(lsp::Location {
            uri: uri(&file.uri)?,
            range: Places::of(file, profile).range(range),
        }),
        None => {
            let path = identity::path_to_uri(path, Platform::current())?;
            Some(lsp::Location {
                uri: uri(&path)?,
                range: lsp::Range::default(),
            })
        }
    }
}

fn severity(severity: Severity) -> lsp::DiagnosticSeverity {
    match severity {
        Severity::Error => lsp::DiagnosticSeverity::ERROR,
        Severity::Warning => lsp::DiagnosticSeverity::WARNING,
        Severity::Information => lsp::DiagnosticSeverity::INFORMATION,
        Severity::Hint => lsp::DiagnosticSeverity::HINT,
    }
}

fn tags(code: Code) -> Option<Vec<lsp::DiagnosticTag>> {
    code.tag()
        .map(|Tag::Unnecessary| vec![lsp::DiagnosticTag::UNNECESSARY])
}
