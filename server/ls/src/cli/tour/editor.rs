//! The editor's side of the tour: one document, edited.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::sample::Sample;
use super::wire::{Fault, Framing, Peer};
use crate::world::{Platform, identity};

/// An editor with one document open. The document is ASCII, so characters are bytes.
#[derive(Debug)]
pub(super) struct Editor {
    peer: Peer,
    uri: String,
    text: String,
    version: i64,
}

/// One line of a completion list.
#[derive(Debug)]
pub(super) struct Offer {
    /// What is inserted, more or less.
    pub(super) label: String,
    /// What it is.
    pub(super) detail: String,
}

impl Editor {
    /// Starts the language server and opens the sample's personal layer.
    pub(super) fn open(sample: &Sample, log: std::fs::File) -> Result<Self, Fault> {
        let uri = |path: &Path| {
            identity::path_to_uri(path, Platform::current()).ok_or("the sample has no URI")
        };
        let mut peer = Peer::start(sample.command(&["lsp"]), Framing::Headers, log)?;
        let root = uri(&sample.root())?;
        let result = peer.request(
            "initialize",
            json!({
                "processId": std::process::id(),
                "rootUri": root,
                "workspaceFolders": [{"uri": root, "name": "shop"}],
                "capabilities": {"textDocument": {"hover": {"contentFormat": ["plaintext"]}}},
            }),
        )?;
        if result.pointer("/serverInfo/name").and_then(Value::as_str) != Some("kontext-ls") {
            return Err(format!(
                "`initialize` was answered by something else: {result}"
            ));
        }
        peer.notify("initialized", json!({}))?;
        let text = std::fs::read_to_string(sample.edited())
            .map_err(|error| format!("the sample cannot be read: {error}"))?;
        let uri = uri(&sample.edited())?;
        let item = json!({"uri": uri, "languageId": "toml", "version": 1, "text": text});
        peer.notify("textDocument/didOpen", json!({"textDocument": item}))?;
        Ok(Self {
            peer,
            uri,
            text,
            version: 1,
        })
    }

    /// Replaces the first `old` of the document by `new`, unsaved.
    pub(super) fn replace(&mut self, old: &str, new: &str) -> Result<(), Fault> {
        let start = self
            .text
            .find(old)
            .ok_or_else(|| format!("the sample has no {old:?}"))?;
        let end = start + old.len();
        let range = json!({"start": self.position(start), "end": self.position(end)});
        self.text.replace_range(start..end, new);
        self.version += 1;
        let document = json!({"uri": self.uri, "version": self.version});
        let change = json!({"range": range, "text": new});
        let params = json!({"textDocument": document, "contentChanges": [change]});
        self.peer.notify("textDocument/didChange", params)
    }

    /// Waits for the diagnostics of the text as it is.
    pub(super) fn diagnostics(&mut self) -> Result<Vec<Value>, Fault> {
        let (uri, version) = (self.uri.clone(), self.version);
        self.peer.notification("diagnostics", |method, params| {
            let ours = method == "textDocument/publishDiagnostics"
                && params.get("uri").and_then(Value::as_str) == Some(&uri)
                && params.get("version").and_then(Value::as_i64) == Some(version);
            ours.then(|| params.get("diagnostics").and_then(Value::as_array).cloned())?
        })
    }

    /// What is offered right behind the first `typed`, in the order of the list.
    pub(super) fn completion(&mut self, typed: &str) -> Result<Vec<Offer>, Fault> {
        let params = self.at(typed, typed.len())?;
        let result = self.peer.request("textDocument/completion", params)?;
        let items = result.get("items").unwrap_or(&result).as_array();
        let mut items = items.cloned().unwrap_or_default();
        let text = |item: &Value, key: &str| {
            let text = item.get(key).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        items.sort_by_key(|item| text(item, "sortText"));
        let offer = |item: &Value| Offer {
            label: text(item, "label"),
            detail: text(item, "detail"),
        };
        Ok(items.iter().map(offer).collect())
    }

    /// The text of the hover over the last character of the first `word`.
    pub(super) fn hover(&mut self, word: &str) -> Result<String, Fault> {
        let params = self.at(word, word.len().saturating_sub(1))?;
        let result = self.peer.request("textDocument/hover", params)?;
        let contents = result.get("contents").unwrap_or(&Value::Null);
        let text = contents.get("value").unwrap_or(contents).as_str();
        text.map(str::to_owned)
            .ok_or_else(|| format!("there is no hover over `{word}`"))
    }

    /// The inlay hints, each behind the line it stands in.
    pub(super) fn hints(&mut self) -> Result<String, Fault> {
        let range = json!({"start": self.position(0), "end": self.position(self.text.len())});
        let params = json!({"textDocument": {"uri": self.uri}, "range": range});
        let result = self.peer.request("textDocument/inlayHint", params)?;
        let mut out = String::new();
        for hint in result.as_array().into_iter().flatten() {
            let line = hint
                .pointer("/position/line")
                .and_then(Value::as_u64)
                .unwrap_or_default();
            let _ = writeln!(out, "{}   {}", self.line(line), label(hint).trim());
        }
        Ok(out)
    }

    /// A diagnostic as an editor shows it: the line, the mark, the sentence.
    pub(super) fn shown(&self, diagnostic: &Value) -> String {
        let number = |pointer: &str| {
            diagnostic
                .pointer(pointer)
                .and_then(Value::as_u64)
                .unwrap_or_default()
        };
        let text = |pointer: &str| {
            diagnostic
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let (line, start) = (
            number("/range/start/line"),
            number("/range/start/character"),
        );
        let content = self.line(line);
        let end = if number("/range/end/line") == line {
            number("/range/end/character")
        } else {
            content.len() as u64
        };
        let count =
            |from: u64, to: u64| usize::try_from(to.saturating_sub(from)).unwrap_or_default();
        let severity = match number("/severity") {
            1 => "error",
            2 => "warning",
            3 => "information",
            _ => "hint",
        };
        format!(
            "{:>3} | {content}\n    | {}{}\n      {severity} [{}]: {}\n",
            line + 1,
            " ".repeat(count(0, start)),
            "~".repeat(count(start, end).max(1)),
            text("/code"),
            text("/message"),
        )
    }

    /// The editor goes down with its language server, without a word.
    pub(super) fn crash(self) {
        self.peer.kill();
    }

    fn line(&self, line: u64) -> &str {
        let line = usize::try_from(line).unwrap_or(usize::MAX);
        self.text.lines().nth(line).unwrap_or_default()
    }

    /// The place `within` bytes behind the start of the first `word`.
    fn at(&self, word: &str, within: usize) -> Result<Value, Fault> {
        let start = self
            .text
            .find(word)
            .ok_or_else(|| format!("the sample has no {word:?}"))?;
        let position = self.position(start + within);
        Ok(json!({"textDocument": {"uri": self.uri}, "position": position}))
    }

    fn position(&self, offset: usize) -> Value {
        let before = self.text.get(..offset).unwrap_or_default();
        let line = before.matches('\n').count();
        let character = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
        json!({"line": line, "character": character})
    }
}

/// The label of a hint: a string, or parts.
fn label(hint: &Value) -> String {
    match hint.get("label") {
        Some(Value::String(label)) => label.clone(),
        Some(Value::Array(parts)) => parts
            .iter()
            .filter_map(|part| part.get("value").and_then(Value::as_str))
            .collect(),
        _ => String::new(),
    }
}
