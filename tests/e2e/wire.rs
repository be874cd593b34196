//! What `wire::serve` promises, on a server that misbehaves in every way.

use std::future::pending;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kontext_ls::wire::{Ended, Options, StillFresh, aside};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tower_lsp::jsonrpc::{Request, Result};
use tower_lsp::lsp_types::*;
use tower_lsp::{Client as Editor, LanguageServer, LspService};

use crate::harness::{Answer, Client};

/// No version has taken effect.
const NONE: [i32; 0] = [];

/// What the tests and the server below share.
#[derive(Default)]
struct Probe {
    /// Versions of `didChange`, as they took effect.
    seen: Mutex<Vec<i32>>,
    version: AtomicU64,
    /// Lets `definition` go on.
    gate: Notify,
}

struct Server {
    editor: Editor,
    probe: Arc<Probe>,
}

#[tower_lsp::async_trait]
impl LanguageServer for Server {
    async fn initialize(&self, _: InitializeParams) -> Result<InitializeResult> {
        Ok(InitializeResult::default())
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        let version = params.text_document.version;
        self.probe.seen.lock().unwrap().push(version);
        self.probe.version.fetch_add(1, Ordering::SeqCst);
        if version % 2 == 1 {
            pending::<()>().await; // never gets further: order must not depend on it
        }
    }

    /// Answers with the versions that have taken effect.
    async fn document_symbol(
        &self,
        _: DocumentSymbolParams,
    ) -> Result<Option<DocumentSymbolResponse>> {
        let seen = self.probe.seen.lock().unwrap().clone();
        #[expect(deprecated, reason = "a field without a default")]
        let symbol = |version: &i32| DocumentSymbol {
            name: version.to_string(),
            detail: None,
            kind: SymbolKind::FILE,
            tags: None,
            deprecated: None,
            range: Range::default(),
            selection_range: Range::default(),
            children: None,
        };
        Ok(Some(DocumentSymbolResponse::Nested(
            seen.iter().map(symbol).collect(),
        )))
    }

    /// Waits for the client inside of the handler, as no handler should.
    async fn hover(&self, _: HoverParams) -> Result<Option<Hover>> {
        let _ = self.editor.configuration(vec![]).await;
        Ok(None)
    }

    /// Waits until the test lets it go on.
    async fn goto_definition(
        &self,
        _: GotoDefinitionParams,
    ) -> Result<Option<GotoDefinitionResponse>> {
        self.probe.gate.notified().await;
        Ok(None)
    }

    /// Blocks its thread until the test lets it go on.
    async fn goto_declaration(
        &self,
        _: request::GotoDeclarationParams,
    ) -> Result<Option<request::GotoDeclarationResponse>> {
        aside().await;
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(self.probe.gate.notified());
        });
        Ok(None)
    }

    async fn references(&self, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
        if !params.context.include_declaration {
            aside().await;
        }
        panic!("boom")
    }

    async fn did_save(&self, params: DidSaveTextDocumentParams) {
        assert!(params.text.is_none(), "boom in a notification");
        self.editor.log_message(MessageType::INFO, "saved").await;
    }
}

fn start(options: Options) -> (Client, Arc<Probe>) {
    let probe = Arc::new(Probe::default());
    let shared = probe.clone();
    let (service, socket) = LspService::new(|editor| Server {
        editor,
        probe: shared,
    });
    (Client::in_memory(service, socket, options), probe)
}

async fn ready() -> (Client, Arc<Probe>) {
    let (mut client, probe) = start(Options::default());
    client.initialize(json!({})).await;
    (client, probe)
}

fn place() -> Value {
    json!({"textDocument": {"uri": "file:///a"}, "position": {"line": 0, "character": 0}})
}

fn references(at_once: bool) -> Value {
    let mut params = place();
    params["context"] = json!({"includeDeclaration": at_once});
    params
}

async fn seen(client: &mut Client) -> Vec<i32> {
    let symbols = json!({"textDocument": {"uri": "file:///a"}});
    let symbols = client.request("textDocument/documentSymbol", symbols).await;
    let names = symbols.as_array().unwrap().iter();
    names
        .map(|symbol| symbol["name"].as_str().unwrap().parse().unwrap())
        .collect()
}

fn change(client: &Client, version: i32) {
    let id = json!({"uri": "file:///a", "version": version});
    let params = json!({"textDocument": id, "contentChanges": []});
    client.notify("textDocument/didChange", params);
}

#[tokio::test]
async fn exit_and_end_of_input() {
    let (mut client, _) = ready().await;
    client.request("shutdown", Value::Null).await;
    client.notify("exit", Value::Null);
    assert_eq!(
        client.ended().await,
        Ended::Exit {
            after_shutdown: true
        }
    );

    let (mut client, _) = ready().await;
    client.notify("exit", Value::Null);
    assert_eq!(
        client.ended().await,
        Ended::Exit {
            after_shutdown: false
        }
    );

    let (mut client, _) = ready().await;
    client.answer("workspace/configuration", Answer::Never);
    client.start("textDocument/hover", place());
    client.server_request("workspace/configuration").await;
    client.close_input();
    assert_eq!(
        client.ended().await,
        Ended::Input {
            after_shutdown: false
        }
    );
}

#[tokio::test]
async fn bad_params_are_answered_and_survived() {
    let (mut client, _) = ready().await;
    let refusal = client.ask("textDocument/hover", json!({"nope": 1})).await;
    assert_eq!(refusal["error"]["code"], -32602);
    let refusal = client.ask("textDocument/nope", json!({})).await;
    assert_eq!(refusal["error"]["code"], -32601);
    client.notify("textDocument/didChange", json!({"nope": 1}));
    client.notify("textDocument/nope", Value::Null);
    assert_eq!(seen(&mut client).await, NONE);
}

#[tokio::test]
async fn changes_take_effect_in_order_before_later_requests() {
    let (mut client, _) = ready().await;
    let all: Vec<i32> = (1..=200).collect();
    for version in &all {
        change(&client, *version);
    }
    assert_eq!(seen(&mut client).await, all);
}

#[tokio::test]
async fn handlers_that_wait_do_not_hold_up_others() {
    let (mut client, _) = ready().await;
    client.answer("workspace/configuration", Answer::Never);
    let waiting: Vec<i64> = (0..100)
        .map(|_| client.start("textDocument/hover", place()))
        .collect();
    assert_eq!(seen(&mut client).await, NONE);
    client.cancel(waiting[50]);
    assert_eq!(client.response(waiting[50]).await["error"]["code"], -32800);
}

#[tokio::test]
async fn too_many_waiting_requests_are_refused_and_can_be_cancelled() {
    let (mut client, probe) = start(Options {
        in_flight: 2,
        ..Options::default()
    });
    client.initialize(json!({})).await;
    let first = client.start("textDocument/definition", place());
    client.start("textDocument/definition", place());
    let refusal = client.ask("textDocument/definition", place()).await;
    assert_eq!(refusal["error"]["code"], -32803);
    client.cancel(first);
    assert_eq!(client.response(first).await["error"]["code"], -32800);
    let next = client.start("textDocument/definition", place());
    change(&client, 2);
    assert_eq!(seen(&mut client).await, [2]);
    probe.gate.notify_one();
    probe.gate.notify_one();
    assert_eq!(client.response(next).await["result"], Value::Null);
}

#[tokio::test]
async fn an_answer_nobody_waits_for_is_survived() {
    let (mut client, _) = ready().await;
    client.answer("workspace/configuration", Answer::Never);
    let id = client.start("textDocument/hover", place());
    let asked = client.server_request("workspace/configuration").await;
    client.cancel(id);
    assert_eq!(client.response(id).await["error"]["code"], -32800);
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": []}));
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": []}));
    client.send(&json!({"jsonrpc": "2.0", "id": "unknown", "result": []}));
    client.send(&json!({"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": ""}}));
    assert_eq!(seen(&mut client).await, NONE);
}

#[tokio::test]
async fn a_client_that_knows_no_configuration_gets_its_answer() {
    let (mut client, _) = ready().await;
    client.answer("workspace/configuration", Answer::NotFound);
    assert_eq!(
        client.request("textDocument/hover", place()).await,
        Value::Null
    );
}

#[tokio::test]
async fn a_panic_is_an_error_reply_that_names_the_method() {
    let (mut client, _) = ready().await;
    for at_once in [true, false] {
        let reply = client
            .ask("textDocument/references", references(at_once))
            .await;
        assert_eq!(reply["error"]["code"], -32603);
        let message = reply["error"]["message"].as_str().unwrap();
        assert!(message.contains("textDocument/references"), "{message}");
    }
    let save = |text: Option<&str>| json!({"textDocument": {"uri": "file:///a"}, "text": text});
    client.notify("textDocument/didSave", save(Some("boom")));
    client.notify("textDocument/didSave", save(None));
    client
        .notification("window/logMessage", |params| params["message"] == "saved")
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_handler_that_blocks_its_thread_does_not_hold_up_others() {
    let (mut client, probe) = ready().await;
    let blocked = client.start("textDocument/declaration", place());
    change(&client, 2);
    assert_eq!(seen(&mut client).await, [2]);
    probe.gate.notify_one();
    assert_eq!(client.response(blocked).await["result"], Value::Null);
}

#[tokio::test]
async fn notifications_are_not_held_up_by_unanswered_requests() {
    for waiting in 0..3 {
        let (mut client, _) = ready().await;
        client.answer("workspace/configuration", Answer::Never);
        for _ in 0..waiting {
            client.start("textDocument/hover", place());
        }
        client.notify(
            "textDocument/didSave",
            json!({"textDocument": {"uri": "file:///a"}}),
        );
        client
            .notification("window/logMessage", |params| params["message"] == "saved")
            .await;
    }
}

#[tokio::test]
async fn an_answer_for_an_old_text_becomes_content_modified() {
    let probe = Arc::new(Probe::default());
    let (shared, asked) = (probe.clone(), probe.clone());
    let freshness = move |request: &Request| -> Option<StillFresh> {
        if request.method() != "textDocument/definition" {
            return None;
        }
        let (asked, then) = (asked.clone(), asked.version.load(Ordering::SeqCst));
        Some(Box::new(move || {
            asked.version.load(Ordering::SeqCst) == then
        }))
    };
    let options = Options {
        freshness: Some(Arc::new(freshness)),
        ..Options::default()
    };
    let (service, socket) = LspService::new(|editor| Server {
        editor,
        probe: shared,
    });
    let mut client = Client::in_memory(service, socket, options);
    client.initialize(json!({})).await;

    let stands = client.start("textDocument/definition", place());
    assert_eq!(seen(&mut client).await, NONE);
    probe.gate.notify_one();
    assert_eq!(client.response(stands).await["result"], Value::Null);

    let stale = client.start("textDocument/definition", place());
    change(&client, 2);
    assert_eq!(seen(&mut client).await, [2]);
    probe.gate.notify_one();
    assert_eq!(client.response(stale).await["error"]["code"], -32801);
}

#[cfg(unix)]
#[tokio::test]
async fn the_death_of_the_clients_process_ends_it() {
    let mut parent = tokio::process::Command::new("cat");
    parent
        .stdin(std::process::Stdio::piped())
        .kill_on_drop(true);
    let mut parent = parent.spawn().unwrap();
    let often = Duration::from_millis(5);
    let (mut client, _) = start(Options {
        parent_interval: often,
        ..Options::default()
    });
    client.initialize(json!({"processId": parent.id()})).await;
    assert_eq!(seen(&mut client).await, NONE);
    parent.kill().await.unwrap();
    assert_eq!(client.ended().await, Ended::Parent);
}

#[tokio::test]
async fn a_parent_that_cannot_be_seen_is_not_watched() {
    let often = Duration::from_millis(1);
    let (mut client, _) = start(Options {
        parent_interval: often,
        ..Options::default()
    });
    client.initialize(json!({"processId": i32::MAX})).await;
    for _ in 0..100 {
        assert_eq!(seen(&mut client).await, NONE);
    }
}

#[tokio::test]
async fn initialize_twice_is_refused() {
    let (mut client, _) = ready().await;
    let refusal = client.ask("initialize", json!({"capabilities": {}})).await;
    assert_eq!(refusal["error"]["code"], -32600);
    assert_eq!(seen(&mut client).await, NONE);
}
