//! Servers over streamable HTTP, well-behaved and not.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod service;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kontext_engine::driver::mcp::{CallOptions, Server, ServerSpec, State, TransportSpec};
use kontext_engine::secrets::Redactor;
use kontext_engine::{Fault, FaultKind};
use serde_json::{Map, Value, json};
use service::{Reply, Seen, Service, answer, head};
use tokio::sync::mpsc;

const LONG: Duration = Duration::from_secs(30);
const JSON: (&str, &str) = ("Content-Type", "application/json");

fn server(service: &Service, headers: &[(&str, &str)]) -> Server {
    let headers = headers
        .iter()
        .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
    Server::new(ServerSpec {
        name: "a".to_owned(),
        transport: TransportSpec::Http {
            url: format!("http://127.0.0.1:{}/mcp?key=hidden", service.port),
            headers: headers.collect(),
        },
        timeout: Duration::from_secs(10),
        root: PathBuf::from("/repo"),
        redactor: Redactor::default(),
    })
}

async fn find(server: &Server) -> Result<Value, Fault> {
    let arguments = Map::from_iter([("query".to_owned(), json!("q"))]);
    let call = server.call_tool("find", arguments, CallOptions::default());
    tokio::time::timeout(LONG, call).await.unwrap()
}

fn message(seen: &Seen) -> Value {
    serde_json::from_str(&seen.body).unwrap_or_default()
}

fn method(seen: &Seen) -> String {
    message(seen)["method"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// The result of the usual methods.
fn result(message: &Value) -> Value {
    match message["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "0"},
        }),
        "tools/list" => json!({"tools": [{"name": "find", "inputSchema": {
            "type": "object",
            "properties": {"query": {"type": "string", "x-mcp-header": "Query"}},
        }}]}),
        "server/discover" => json!({"supportedVersions": ["2026-07-28"], "capabilities": {}}),
        _ => {
            json!({"content": [], "structuredContent": {"results": [{"title": "žltý kôň 🐴", "summary": "a\u{2028}b"}]}})
        }
    }
}

fn reply(message: &Value, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string()
}

fn accepted() -> Reply {
    answer("202 Accepted", &[], "")
}

/// A plain server, which answers with JSON.
fn plain(seen: &Seen) -> Reply {
    let message = message(seen);
    match (seen.method.as_str(), message.get("id")) {
        ("GET", _) => answer("405 Method Not Allowed", &[], ""),
        ("POST", Some(_)) => answer("200 OK", &[JSON], reply(&message, &result(&message))),
        _ => accepted(),
    }
}

fn chunked(body: &[u8], size: usize, headers: &[(&str, &str)]) -> Reply {
    let mut all = vec![
        ("Content-Type", "text/event-stream; charset=utf-8"),
        ("Transfer-Encoding", "chunked"),
    ];
    all.extend(headers);
    let mut bytes = head("200 OK", &all);
    for chunk in body.chunks(size) {
        bytes.extend(format!("{:x}\r\n", chunk.len()).bytes());
        bytes.extend(chunk);
        bytes.extend(b"\r\n");
    }
    bytes.extend(b"0\r\n\r\n");
    Reply::Bytes(bytes)
}

#[tokio::test]
async fn json_answers_and_the_headers_of_each_request() {
    let service = Service::start(|seen, _| match method(seen).as_str() {
        "initialize" => {
            let message = message(seen);
            answer(
                "200 OK",
                &[JSON, ("Mcp-Session-Id", "s-1")],
                reply(&message, &result(&message)),
            )
        }
        _ => plain(seen),
    })
    .await;
    let server = server(&service, &[("Authorization", "Bearer t0ken")]);
    let result = find(&server).await.unwrap();
    assert_eq!(
        result["structuredContent"]["results"][0]["title"],
        "žltý kôň 🐴"
    );
    assert_eq!(server.tools().protocol, "2025-11-25");
    server.stop().await;
    let seen = service.seen();
    let methods: Vec<String> = seen.iter().map(method).collect();
    assert_eq!(
        methods,
        [
            "initialize",
            "notifications/initialized",
            "tools/list",
            "tools/call",
            ""
        ]
    );
    assert_eq!(seen[4].method, "DELETE");
    for (n, seen) in seen.iter().enumerate() {
        assert_eq!(seen.target, "/mcp?key=hidden");
        assert_eq!(seen.headers["authorization"], "Bearer t0ken");
        assert_eq!(
            seen.headers.get("mcp-session-id").map(String::as_str),
            (n > 0).then_some("s-1")
        );
        assert_eq!(
            seen.headers.get("mcp-protocol-version").map(String::as_str),
            (n > 0).then_some("2025-11-25")
        );
        if seen.method == "POST" {
            assert_eq!(
                seen.headers["accept"],
                "application/json, text/event-stream"
            );
            assert_eq!(seen.headers["content-type"], "application/json");
        }
    }
}

#[tokio::test]
async fn awkward_event_streams_are_read() {
    let service = Service::start(|seen, _| {
        let message = message(seen);
        if seen.method != "POST" || message.get("id").is_none() {
            return plain(seen);
        }
        let body = serde_json::to_string_pretty(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result(&message)})).unwrap();
        let token = &message["params"]["_meta"]["progressToken"];
        let note = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 1}});
        let lines: String = body.split('\n').map(|line| format!("data: {line}\r\n")).collect();
        let events = format!(": keep-alive\r\n\r\nevent: message\r\nid: 1\r\nretry: 10\r\ndata:{note}\r\n\r\nid: 2\r\n{lines}\r\n: bye\r\n\r\n");
        chunked(events.as_bytes(), 7, &[])
    })
    .await;
    let server = server(&service, &[]);
    let (progress, mut events) = mpsc::unbounded_channel();
    let options = CallOptions {
        progress: Some(progress),
        ..CallOptions::default()
    };
    let result = server.call_tool("find", Map::new(), options).await.unwrap();
    let hit = &result["structuredContent"]["results"][0];
    assert_eq!(
        (&hit["title"], &hit["summary"]),
        (&json!("žltý kôň 🐴"), &json!("a\u{2028}b"))
    );
    assert_eq!(events.recv().await.unwrap()["progress"], 1);
}

#[tokio::test]
async fn a_stream_that_ends_early_is_resumed_where_the_server_says_how() {
    let service = Service::start(|seen, _| {
        let message = message(seen);
        match (seen.method.as_str(), method(seen).as_str()) {
            ("POST", "tools/call") => chunked(b"id: e-1\nretry: 1\ndata:\n\n", 100, &[]),
            ("GET", _)
                if seen
                    .headers
                    .get("last-event-id")
                    .is_some_and(|id| id == "e-1") =>
            {
                // The handshake has three calls with an answer; this is the third.
                let body =
                    json!({"jsonrpc": "2.0", "id": 3, "result": {"content": [], "resumed": true}});
                chunked(format!("data: {body}\n\n").as_bytes(), 100, &[])
            }
            _ if message.get("id").is_some() => plain(seen),
            _ => accepted(),
        }
    })
    .await;
    let result = find(&server(&service, &[])).await.unwrap();
    assert_eq!(result["resumed"], true);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_an_error() {
    let service = Service::start(|seen, _| match method(seen).as_str() {
        "tools/call" => chunked(b": nothing\n\n", 100, &[]),
        _ => plain(seen),
    })
    .await;
    let error = find(&server(&service, &[])).await.unwrap_err();
    assert_eq!(error.kind, FaultKind::Unreachable);
    assert!(
        error
            .message()
            .contains("ended its answer before it was complete"),
        "{error}"
    );
    assert!(!error.message().contains("hidden"));
}

#[tokio::test]
async fn an_expired_session_is_opened_anew_once() {
    let service = Service::start(|seen, _| {
        let message = message(seen);
        let session = seen
            .headers
            .get("mcp-session-id")
            .map_or("", String::as_str);
        match method(seen).as_str() {
            "initialize" => {
                // The first session's number is 0.
                static COUNT: AtomicUsize = AtomicUsize::new(0);
                let id = format!("s-{}", COUNT.fetch_add(1, Ordering::SeqCst));
                answer(
                    "200 OK",
                    &[JSON, ("Mcp-Session-Id", &id)],
                    reply(&message, &result(&message)),
                )
            }
            "tools/call" if session == "s-0" => answer("404 Not Found", &[], "gone"),
            _ => plain(seen),
        }
    })
    .await;
    let server = server(&service, &[]);
    find(&server).await.unwrap();
    find(&server).await.unwrap();
    let methods: Vec<String> = service.seen().iter().map(method).collect();
    assert_eq!(
        methods
            .iter()
            .filter(|method| *method == "initialize")
            .count(),
        2
    );
    assert_eq!(
        methods
            .iter()
            .filter(|method| *method == "tools/call")
            .count(),
        3
    );
    assert_eq!(*server.state().borrow(), State::Ready);
}

#[tokio::test]
async fn a_session_that_never_lasts_is_an_error() {
    let service = Service::start(|seen, _| {
        let message = message(seen);
        match method(seen).as_str() {
            "initialize" => answer(
                "200 OK",
                &[JSON, ("Mcp-Session-Id", "s")],
                reply(&message, &result(&message)),
            ),
            "tools/call" => answer("404 Not Found", &[], ""),
            _ => plain(seen),
        }
    })
    .await;
    let error = find(&server(&service, &[])).await.unwrap_err();
    assert!(
        error
            .message()
            .contains("does not know the session it has just opened"),
        "{error}"
    );
    assert_eq!(
        service
            .seen()
            .iter()
            .filter(|seen| method(seen) == "tools/call")
            .count(),
        2
    );
}

#[tokio::test]
async fn a_denied_server_is_told_what_to_set() {
    let service =
        Service::start(|_, _| answer("401 Unauthorized", &[("WWW-Authenticate", "Bearer")], "no"))
            .await;
    let error = find(&server(&service, &[])).await.unwrap_err();
    let port = service.port.to_string();
    insta::assert_snapshot!(error.message().replace(&port, "PORT"), @r#"http://127.0.0.1:PORT/mcp answered with HTTP 401 Unauthorized; set a credential in the adapter's `headers`, such as `Authorization = "Bearer {{env.NAME}}"`: no"#);
    let error = find(&server(&service, &[("authorization", "Bearer wrong")]))
        .await
        .unwrap_err();
    assert!(error.message().contains("check the credential"), "{error}");
}

#[tokio::test]
async fn what_is_no_mcp_server_is_said() {
    let service =
        Service::start(|_, _| answer("200 OK", &[("Content-Type", "text/html")], "<h1>hi</h1>"))
            .await;
    let error = find(&server(&service, &[])).await.unwrap_err();
    assert!(
        error
            .message()
            .contains("text/html that holds no answer; is `url` that of an MCP server?"),
        "{error}"
    );
    let service = Service::start(|_, _| answer("404 Not Found", &[], "")).await;
    let error = find(&server(&service, &[])).await.unwrap_err();
    assert!(
        error
            .message()
            .contains("HTTP 404 Not Found; `url` must be"),
        "{error}"
    );
}

#[tokio::test]
async fn a_redirect_is_followed_within_the_origin_only() {
    let other = Service::start(|seen, _| plain(seen)).await;
    let target = format!("http://127.0.0.1:{}/x", other.port);
    let service =
        Service::start(move |_, _| answer("307 Temporary Redirect", &[("Location", &target)], ""))
            .await;
    let error = find(&server(&service, &[("Authorization", "Bearer t0ken")]))
        .await
        .unwrap_err();
    assert!(
        error
            .message()
            .contains("which is not followed; set `url` to it"),
        "{error}"
    );
    assert!(other.seen().is_empty());
    let service = Service::start(|seen, _| match seen.target.as_str() {
        "/real" => plain(seen),
        _ => answer("308 Permanent Redirect", &[("Location", "/real")], ""),
    })
    .await;
    find(&server(&service, &[])).await.unwrap();
}

#[tokio::test]
async fn an_answer_without_end_is_given_up() {
    for kind in ["application/json", "text/event-stream"] {
        let service = Service::start(move |seen, _| match method(seen).as_str() {
            "tools/call" => Reply::Endless(
                head("200 OK", &[("Content-Type", kind)]),
                vec![b'x'; 1 << 16],
            ),
            _ => plain(seen),
        })
        .await;
        let error = find(&server(&service, &[])).await.unwrap_err();
        assert_eq!(error.kind, FaultKind::TooLarge, "{error}");
    }
}

#[tokio::test]
async fn an_answer_to_another_call_is_said_at_once() {
    let service = Service::start(|seen, _| match method(seen).as_str() {
        "tools/call" => answer("200 OK", &[JSON], r#"{"jsonrpc":"2.0","id":0,"result":{}}"#),
        _ => plain(seen),
    })
    .await;
    let error = find(&server(&service, &[])).await.unwrap_err();
    assert!(
        error
            .message()
            .contains("answer with id 0, which matches no call"),
        "{error}"
    );
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_cancelled() {
    let service = Service::start(|seen, _| match method(seen).as_str() {
        "tools/call" => Reply::Stall(head("200 OK", &[("Content-Type", "text/event-stream")])),
        _ => plain(seen),
    })
    .await;
    let server = server(&service, &[]);
    server.ready(LONG).await.unwrap();
    let options = CallOptions {
        timeout: Some(Duration::from_millis(200)),
        ..CallOptions::default()
    };
    let error = server
        .call_tool("find", Map::new(), options)
        .await
        .unwrap_err();
    assert_eq!(error.kind, FaultKind::TimedOut);
    tokio::time::timeout(LONG, service.left.notified())
        .await
        .unwrap();
    let cancelled = || {
        service
            .seen()
            .into_iter()
            .find(|seen| method(seen) == "notifications/cancelled")
    };
    let found = tokio::time::timeout(LONG, async {
        loop {
            match cancelled() {
                Some(seen) => return seen,
                None => tokio::task::yield_now().await,
            }
        }
    });
    assert_eq!(message(&found.await.unwrap())["params"]["requestId"], 3);
}

#[tokio::test]
async fn changes_are_heard_where_the_server_offers_them() {
    let changed = std::sync::Arc::new(AtomicUsize::new(0));
    let service = Service::start({
        let changed = std::sync::Arc::clone(&changed);
        move |seen, _| {
            let message = message(seen);
            match (seen.method.as_str(), method(seen).as_str()) {
                ("GET", _) => {
                    changed.store(1, Ordering::SeqCst);
                    let mut bytes = head("200 OK", &[("Content-Type", "text/event-stream")]);
                    bytes.extend(b"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n");
                    Reply::Stall(bytes)
                }
                (_, "initialize") => {
                    let mut result = result(&message);
                    result["capabilities"]["tools"]["listChanged"] = json!(true);
                    answer("200 OK", &[JSON], reply(&message, &result))
                }
                (_, "tools/list") if changed.load(Ordering::SeqCst) > 0 => {
                    let tools = json!({"tools": [{"name": "late", "inputSchema": {}}]});
                    answer("200 OK", &[JSON], reply(&message, &tools))
                }
                _ => plain(seen),
            }
        }
    })
    .await;
    let server = server(&service, &[]);
    let mut tools = server.subscribe_tools();
    server.start();
    let late = tools.wait_for(|tools| tools.get("late").is_some());
    tokio::time::timeout(LONG, late).await.unwrap().unwrap();
}

#[tokio::test]
async fn the_newest_protocol_names_method_tool_and_arguments_in_headers() {
    let service = Service::start(|seen, _| {
        let message = message(seen);
        match method(seen).as_str() {
            "initialize" => {
                let error = json!({"jsonrpc": "2.0", "id": message["id"], "error": {
                    "code": -32022, "message": "Unsupported", "data": {"supported": ["2026-07-28"]}}});
                answer("400 Bad Request", &[JSON], error.to_string())
            }
            _ => plain(seen),
        }
    })
    .await;
    let server = server(&service, &[]);
    find(&server).await.unwrap();
    let seen = service.seen();
    let methods: Vec<String> = seen.iter().map(method).collect();
    assert_eq!(
        methods,
        ["initialize", "server/discover", "tools/list", "tools/call"]
    );
    for seen in &seen[1..] {
        assert_eq!(seen.headers["mcp-protocol-version"], "2026-07-28");
        assert_eq!(seen.headers["mcp-method"], method(seen));
        let meta = &message(seen)["params"]["_meta"];
        assert_eq!(
            meta["io.modelcontextprotocol/protocolVersion"],
            "2026-07-28"
        );
    }
    assert_eq!(seen[3].headers["mcp-name"], "find");
    assert_eq!(seen[3].headers["mcp-param-query"], "q");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_without_its_query() {
    let service = Service::start(|seen, _| plain(seen)).await;
    let server = server(&service, &[]);
    drop(service);
    let error = find(&server).await.unwrap_err();
    assert!(
        error.message().contains("cannot connect to 127.0.0.1"),
        "{error}"
    );
    assert!(!error.message().contains("hidden"));
}
