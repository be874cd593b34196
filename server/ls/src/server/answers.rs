//! Answers in the words of LSP.

use std::sync::Arc;

use kontext_ide::{File, Snapshot};
use tower_lsp::lsp_types::*;

use super::profile::Profile;
use super::publish::{result_id, workspace_files};
use super::to_proto::Places;

/// What the server offers to this client.
pub(super) fn capabilities(profile: &Profile) -> ServerCapabilities {
    let pull = profile.pulls_diagnostics.then(|| {
        DiagnosticServerCapabilities::Options(DiagnosticOptions {
            identifier: Some("kontext".to_owned()),
            inter_file_dependencies: true,
            workspace_diagnostics: true,
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })
    });
    ServerCapabilities {
        position_encoding: Some(profile.encoding_kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(
            TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::INCREMENTAL),
                save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions {
                    include_text: Some(false),
                })),
                ..TextDocumentSyncOptions::default()
            },
        )),
        diagnostic_provider: pull,
        completion_provider: Some(CompletionOptions {
            resolve_provider: Some(true),
            trigger_characters: Some(
                [".", "\"", "'", "[", "{", "|", "=", "/", ",", ":"]
                    .map(str::to_owned)
                    .to_vec(),
            ),
            ..CompletionOptions::default()
        }),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        inlay_hint_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        document_range_formatting_provider: Some(OneOf::Left(true)),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            file_operations: None,
        }),
        ..ServerCapabilities::default()
    }
}

pub(super) fn document_diagnostics(
    snapshot: &Snapshot,
    file: &File,
    profile: &Profile,
    known: Option<String>,
) -> DocumentDiagnosticReport {
    let diagnostics = snapshot.diagnostics(file);
    let items = Places::of(file, profile).diagnostics(snapshot, file, &diagnostics);
    let id = result_id(file, &items);
    if known.as_ref() == Some(&id) {
        let unchanged = UnchangedDocumentDiagnosticReport { result_id: id };
        return DocumentDiagnosticReport::Unchanged(RelatedUnchangedDocumentDiagnosticReport {
            unchanged_document_diagnostic_report: unchanged,
            related_documents: None,
        });
    }
    DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport {
        full_document_diagnostic_report: FullDocumentDiagnosticReport {
            result_id: Some(id),
            items,
        },
        ..RelatedFullDocumentDiagnosticReport::default()
    })
}

/// One report for each layer and each open document; what the client knows is left unchanged.
pub(super) fn workspace_diagnostics(
    snapshot: &Snapshot,
    profile: &Profile,
    known: &[PreviousResultId],
) -> Vec<WorkspaceDocumentDiagnosticReport> {
    let mut reports = Vec::new();
    let mut seen = Vec::new();
    for file in workspace_files(snapshot) {
        let Ok(uri) = Url::parse(&file.uri) else {
            continue;
        };
        seen.push(uri.clone());
        let before = known
            .iter()
            .find(|known| known.uri == uri)
            .map(|known| known.value.clone());
        reports.push(report(snapshot, file, profile, uri, before));
    }
    // What is gone has nothing wrong with it any more.
    for gone in known.iter().filter(|known| !seen.contains(&known.uri)) {
        reports.push(WorkspaceDocumentDiagnosticReport::Full(
            WorkspaceFullDocumentDiagnosticReport {
                uri: gone.uri.clone(),
                version: None,
                full_document_diagnostic_report: FullDocumentDiagnosticReport::default(),
            },
        ));
    }
    reports
}

fn report(
    snapshot: &Snapshot,
    file: &Arc<File>,
    profile: &Profile,
    uri: Url,
    known: Option<String>,
) -> WorkspaceDocumentDiagnosticReport {
    let version = file.version.map(i64::from);
    match document_diagnostics(snapshot, file, profile, known) {
        DocumentDiagnosticReport::Full(full) => {
            WorkspaceDocumentDiagnosticReport::Full(WorkspaceFullDocumentDiagnosticReport {
                uri,
                version,
                full_document_diagnostic_report: full.full_document_diagnostic_report,
            })
        }
        DocumentDiagnosticReport::Unchanged(same) => WorkspaceDocumentDiagnosticReport::Unchanged(
            WorkspaceUnchangedDocumentDiagnosticReport {
                uri,
                version,
                unchanged_document_diagnostic_report: same.unchanged_document_diagnostic_report,
            },
        ),
    }
}
