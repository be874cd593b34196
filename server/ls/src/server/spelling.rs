//! URIs as the client spells them.
//!
//! The types of LSP hold a URI in its normal form, and what is published under that reaches no
//! document of a client that compares bytes. So the spelling of each open document is kept, where
//! it is another one.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tower_lsp::jsonrpc::Request;
use tower_lsp::lsp_types::{self as lsp, notification::Notification};

/// The spellings that are not normal, by the normal one.
#[derive(Debug, Default)]
pub(super) struct Spellings(Mutex<HashMap<String, String>>);

impl Spellings {
    /// Takes in how a document that is being opened is spelled.
    pub(super) fn hear(&self, request: &Request) {
        if request.method() != "textDocument/didOpen" {
            return;
        }
        let uri = request
            .params()
            .and_then(|params| params.pointer("/textDocument/uri")?.as_str());
        if let Some(uri) = uri
            && let Ok(normal) = lsp::Url::parse(uri)
        {
            if normal.as_str() == uri {
                self.lock().remove(uri);
            } else {
                self.lock().insert(normal.into(), uri.to_owned());
            }
        }
    }

    /// The URI as the client last spelled it.
    pub(super) fn of(&self, normal: &str) -> String {
        let spelled = self.lock().get(normal).cloned();
        spelled.unwrap_or_else(|| normal.to_owned())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `textDocument/publishDiagnostics` with a URI as it is spelled.
pub(super) enum Publish {}

impl Notification for Publish {
    type Params = PublishParams;
    const METHOD: &'static str = lsp::notification::PublishDiagnostics::METHOD;
}

/// What is published.
#[derive(Serialize, Deserialize)]
pub(super) struct PublishParams {
    pub(super) uri: String,
    pub(super) diagnostics: Vec<lsp::Diagnostic>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<i32>,
}
