//! A language client.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};

use kontext_ls::wire;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tower_lsp::{ClientSocket, LanguageServer, LspService};

use super::peer::{Framing, Peer};
use super::text::{Encoding, apply_edits, position_at};
use super::{Fixture, PATIENCE};

struct Document {
    version: i64,
    text: String,
}

/// A language client over the real binary or over a service in memory. What is common to both
/// protocols ([`Peer`]: requests, notifications, answers, waiting) is reached through deref.
pub struct Client {
    peer: Peer,
    /// The service in memory, where there is one.
    server: Option<JoinHandle<wire::Ended>>,
    encoding: Encoding,
    open: HashMap<String, Document>,
}

impl Deref for Client {
    type Target = Peer;

    fn deref(&self) -> &Peer {
        &self.peer
    }
}

impl DerefMut for Client {
    fn deref_mut(&mut self) -> &mut Peer {
        &mut self.peer
    }
}

impl Client {
    /// Starts the binary (`lsp` on stdio) in the fixture's workspace.
    pub fn spawn(place: &Fixture) -> Client {
        Client::spawn_command(place.command(&["lsp"]))
    }

    /// Starts any command that speaks LSP on stdio.
    pub fn spawn_command(command: std::process::Command) -> Client {
        Client::on(Peer::spawn(command, Framing::Headers), None)
    }

    /// Serves `service` in this process.
    pub fn in_memory<S: LanguageServer>(
        service: LspService<S>,
        socket: ClientSocket,
        options: wire::Options,
    ) -> Client {
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        let (input, output) = tokio::io::split(theirs);
        let server = tokio::spawn(wire::serve(service, socket, input, output, options));
        let (input, output) = tokio::io::split(ours);
        Client::on(Peer::over(input, output, Framing::Headers), Some(server))
    }

    /// Over an open connection (a socket that the server was told to connect to).
    pub fn over<T>(stream: T) -> Client
    where
        T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + 'static,
    {
        let (input, output) = tokio::io::split(stream);
        Client::on(Peer::over(input, output, Framing::Headers), None)
    }

    fn on(peer: Peer, server: Option<JoinHandle<wire::Ended>>) -> Client {
        Client {
            peer,
            server,
            encoding: Encoding::default(),
            open: HashMap::new(),
        }
    }

    /// `initialize` with these params (what is missing is filled in: no capabilities, this
    /// process as parent, no root) and `initialized`; the result.
    pub async fn initialize(&mut self, params: Value) -> Value {
        let mut all = json!({"processId": std::process::id(), "rootUri": null, "capabilities": {}});
        for (name, value) in params.as_object().into_iter().flatten() {
            all[name] = value.clone();
        }
        let result = self.peer.request("initialize", all).await;
        self.encoding = Encoding::of(&result);
        self.peer.notify("initialized", json!({}));
        result
    }

    /// The encoding of positions, as negotiated.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Opens a document as version 1 (language `toml`).
    pub fn open(&mut self, uri: &str, text: &str) {
        self.open.insert(
            uri.to_owned(),
            Document {
                version: 1,
                text: text.to_owned(),
            },
        );
        let item = json!({"uri": uri, "languageId": "toml", "version": 1, "text": text});
        self.peer
            .notify("textDocument/didOpen", json!({"textDocument": item}));
    }

    /// Replaces the first occurrence of `old` in the open document; the new version.
    pub fn replace(&mut self, uri: &str, old: &str, new: &str) -> i64 {
        let text = self.text(uri);
        let at = text
            .find(old)
            .unwrap_or_else(|| panic!("no {old:?} in {text:?}"));
        let range = json!({
            "start": position_at(text, at, self.encoding),
            "end": position_at(text, at + old.len(), self.encoding),
        });
        self.change(uri, &[json!({"range": range, "newText": new})])
    }

    /// Changes the open document by `TextEdit`s about its text as it is; the new version.
    pub fn change(&mut self, uri: &str, edits: &[Value]) -> i64 {
        let encoding = self.encoding;
        let document = self.open.get_mut(uri).unwrap();
        document.text = apply_edits(&document.text, edits, encoding);
        document.version += 1;
        // Changes are applied one after the other, edits speak of one text: the last one first.
        let start = |edit: &Value| {
            let start = &edit["range"]["start"];
            (start["line"].as_u64(), start["character"].as_u64())
        };
        let mut edits = edits.to_vec();
        edits.sort_by_key(|edit| std::cmp::Reverse(start(edit)));
        let changes: Vec<Value> = edits
            .iter()
            .map(|edit| json!({"range": edit["range"], "text": edit["newText"]}))
            .collect();
        let version = document.version;
        self.did_change(uri, version, &changes);
        version
    }

    /// Replaces the whole text of the open document; the new version.
    pub fn change_all(&mut self, uri: &str, text: &str) -> i64 {
        let document = self.open.get_mut(uri).unwrap();
        document.text = text.to_owned();
        document.version += 1;
        let version = document.version;
        self.did_change(uri, version, &[json!({"text": text})]);
        version
    }

    fn did_change(&self, uri: &str, version: i64, changes: &[Value]) {
        let id = json!({"uri": uri, "version": version});
        let params = json!({"textDocument": id, "contentChanges": changes});
        self.peer.notify("textDocument/didChange", params);
    }

    /// Says that the open document was saved. Writing the file is the test's business.
    pub fn save(&self, uri: &str) {
        self.peer.notify(
            "textDocument/didSave",
            json!({"textDocument": {"uri": uri}}),
        );
    }

    /// Closes the document.
    pub fn close(&mut self, uri: &str) {
        self.open.remove(uri);
        self.peer.notify(
            "textDocument/didClose",
            json!({"textDocument": {"uri": uri}}),
        );
    }

    /// The text of an open document, as the client has it.
    pub fn text(&self, uri: &str) -> &str {
        &self.open[uri].text
    }

    /// `textDocument` and `position` of the place right behind the first `needle` in the open
    /// document.
    pub fn behind(&self, uri: &str, needle: &str) -> Value {
        let text = self.text(uri);
        let at = text
            .find(needle)
            .unwrap_or_else(|| panic!("no {needle:?} in {text:?}"));
        let position = position_at(text, at + needle.len(), self.encoding);
        json!({"textDocument": {"uri": uri}, "position": position})
    }

    /// Every publish for `uri` so far: version (where the server gave one) and diagnostics.
    pub fn published(&self, uri: &str) -> Vec<(Option<i64>, Vec<Value>)> {
        self.peer.received(|received| {
            received
                .notifications
                .iter()
                .filter(|n| n["method"] == "textDocument/publishDiagnostics")
                .filter(|n| n["params"]["uri"] == uri)
                .map(|n| publish(&n["params"]))
                .collect()
        })
    }

    /// Waits for diagnostics that were published for `uri` at `version` or later.
    pub async fn diagnostics(&self, uri: &str, version: i64) -> Vec<Value> {
        self.peer
            .wait(
                &format!("diagnostics of {uri} at version {version}"),
                |received| {
                    received
                        .notifications
                        .iter()
                        .rev()
                        .filter(|n| n["method"] == "textDocument/publishDiagnostics")
                        .filter(|n| n["params"]["uri"] == uri)
                        .map(|n| publish(&n["params"]))
                        .find(|(at, _)| at.is_some_and(|at| at >= version))
                        .map(|(_, diagnostics)| diagnostics)
                },
            )
            .await
    }

    /// Waits until the newest publish for `uri` satisfies `fits`; its diagnostics.
    pub async fn diagnostics_where(
        &self,
        uri: &str,
        fits: impl Fn(&[Value]) -> bool,
    ) -> Vec<Value> {
        self.peer
            .wait(&format!("diagnostics of {uri} that fit"), |received| {
                received
                    .notifications
                    .iter()
                    .rev()
                    .filter(|n| n["method"] == "textDocument/publishDiagnostics")
                    .find(|n| n["params"]["uri"] == uri)
                    .map(|n| publish(&n["params"]).1)
                    .filter(|diagnostics| fits(diagnostics))
            })
            .await
    }

    /// Hovers over the place right behind the first `needle`; the text shown.
    pub async fn hover(&mut self, uri: &str, needle: &str) -> String {
        let at = self.behind(uri, needle);
        let hover = self.peer.request("textDocument/hover", at).await;
        hover["contents"]["value"].as_str().unwrap_or("").to_owned()
    }

    /// The labels of all inlay hints of a document.
    pub async fn hints(&mut self, uri: &str) -> Vec<String> {
        let params = json!({
            "textDocument": {"uri": uri},
            "range": {
                "start": {"line": 0, "character": 0},
                "end": {"line": 1_000_000, "character": 0},
            },
        });
        let hints = self.peer.request("textDocument/inlayHint", params).await;
        super::labels(&hints)
            .into_iter()
            .map(ToOwned::to_owned)
            .collect()
    }

    /// Asks for the inlay hints, and again whenever the server asks for that, until they `fit`.
    /// The client must have said that it can refresh them.
    pub async fn hints_where(&mut self, uri: &str, fit: impl Fn(&[String]) -> bool) -> Vec<String> {
        loop {
            let hints = self.hints(uri).await;
            if fit(&hints) {
                return hints;
            }
            eprintln!("the hints do not fit yet: {hints:?}");
            self.peer
                .server_request("workspace/inlayHint/refresh")
                .await;
        }
    }

    /// Cancels a request that was [started](Peer::start).
    pub fn cancel(&self, id: i64) {
        self.peer.notify("$/cancelRequest", json!({"id": id}));
    }

    /// How the service in memory ended.
    pub async fn ended(&mut self) -> wire::Ended {
        let server = self.server.as_mut().unwrap();
        let ended = tokio::time::timeout(PATIENCE, server).await;
        ended
            .unwrap_or_else(|_| panic!("the server still runs"))
            .unwrap()
    }

    /// `shutdown` and `exit`; the exit code of the process.
    pub async fn quit(&mut self) -> Option<i32> {
        self.peer.request("shutdown", Value::Null).await;
        self.peer.notify("exit", Value::Null);
        self.peer.exited().await
    }
}

fn publish(params: &Value) -> (Option<i64>, Vec<Value>) {
    (
        params["version"].as_i64(),
        params["diagnostics"]
            .as_array()
            .cloned()
            .unwrap_or_default(),
    )
}
