//! The guard with the real server behind it, over an in-memory stream.

#![allow(clippy::expect_used, clippy::indexing_slicing)]

use serde_json::{Value, json};

use crate::Gates;
use crate::testing::{Client, Studio, call, modern, request};
use crate::tools::TOOLS;

fn client() -> Client {
    Client::new(Studio::new(), TOOLS)
}

fn code(answer: &Value) -> (i64, Value) {
    let code = answer["error"]["code"].as_i64().unwrap_or_default();
    (code, answer["id"].clone())
}

#[tokio::test]
async fn garbage_costs_only_itself() {
    let mut client = client();
    client.send(b"garbage").await;
    assert_eq!(code(&client.receive().await), (-32700, Value::Null));
    client.send(b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\"}").await;
    assert_eq!(code(&client.receive().await), (-32700, Value::Null));
    client.send(b"[]").await;
    assert_eq!(code(&client.receive().await), (-32600, Value::Null));
    client.send(vec![b'x'; crate::lines::MAX_LINE + 1]).await;
    assert_eq!(code(&client.receive().await), (-32600, Value::Null));

    let answer = client.initialize("2025-11-25").await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    client.send(b"{\"half").await;
    assert_eq!(code(&client.receive().await), (-32700, Value::Null));
    let answer = client.ask(request(1, "tools/list", json!({}))).await;
    assert_eq!(answer["result"]["tools"][0]["name"], "kontext_status");
    client.close().await;
}

#[tokio::test]
async fn before_initialize_notifications_are_ignored_and_requests_told_what_to_do() {
    let mut client = client();
    client
        .send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
        .await;
    client
        .send(r#"{"jsonrpc":"2.0","method":"nonsense"}"#)
        .await;
    client.send(r#"{"jsonrpc":"2.0","id":4,"result":{}}"#).await;
    let early = client.ask(request(1, "tools/list", json!({}))).await;
    assert_eq!(code(&early), (-32600, json!(1)));
    let words = early["error"]["message"].as_str().unwrap_or_default();
    assert!(words.contains("initialize") && words.contains("2026-07-28"));
    let ping = client.ask(request(2, "ping", json!({}))).await;
    assert_eq!(ping["result"], json!({}));

    client.initialize("2024-11-05").await;
    let answer = client.ask(request(3, "tools/list", json!({}))).await;
    assert_eq!(answer["id"], 3);
    assert!(answer["result"].get("resultType").is_none());
    client.close().await;
}

#[tokio::test]
async fn every_version_of_the_handshake_era_is_agreed_to_and_others_get_the_newest() {
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut client = client();
        let answer = client.initialize(asked).await;
        assert_eq!(answer["result"]["protocolVersion"], agreed, "{asked}");
        // What is agreed on holds for what follows.
        let answer = client.ask(request(1, "tools/list", json!({}))).await;
        assert!(answer["result"].get("resultType").is_none(), "{asked}");
        client.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_with_nothing_open_ends_at_once() {
    let mut client = Client::new(Studio::at_work("", Gates::default()), TOOLS);
    client.initialize("2025-11-25").await;
    client.ask(request(1, "ping", json!({}))).await;
    // The clock moves only where everything waits for it.
    let end = tokio::time::Instant::now();
    client.close().await;
    assert!(end.elapsed() < super::LAST_WRITES);
}

#[tokio::test]
async fn a_second_initialize_is_refused_and_the_session_goes_on() {
    let mut client = client();
    client.initialize("2025-11-25").await;
    let again = client.initialize("2025-11-25").await;
    assert_eq!(code(&again), (-32600, json!("init")));
    let answer = client.ask(request(1, "tools/list", json!({}))).await;
    assert!(answer["result"]["tools"].is_array());
    client.close().await;
}

#[tokio::test]
async fn an_initialize_that_does_not_fit_may_be_repeated() {
    let mut client = client();
    let bad = client.ask(request(1, "initialize", json!({}))).await;
    assert_eq!(code(&bad), (-32602, json!(1)));
    let answer = client.initialize("2025-06-18").await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
    client.close().await;
}

#[tokio::test]
async fn messages_sent_behind_initialize_without_waiting_are_answered_after_it() {
    let mut client = client();
    let initialize = request(
        1,
        "initialize",
        json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }),
    );
    client
        .send(format!(
            "{initialize}\n{}\n{}",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            request(2, "tools/list", json!({})),
        ))
        .await;
    assert_eq!(client.receive().await["id"], 1);
    let answer = client.receive().await;
    assert_eq!(answer["id"], 2);
    assert!(answer["result"]["tools"].is_array());
    client.close().await;
}

#[tokio::test]
async fn the_era_without_a_handshake_discovers_and_names_its_protocol_in_each_request() {
    let mut client = client();
    let bare = client.ask(request(1, "server/discover", json!({}))).await;
    assert_eq!(code(&bare), (-32602, json!(1)));
    let found = client.ask(modern(2, "server/discover", json!({}))).await;
    assert_eq!(
        found["result"]["supportedVersions"],
        json!([
            "2024-11-05",
            "2025-03-26",
            "2025-06-18",
            "2025-11-25",
            "2026-07-28"
        ])
    );
    assert_eq!(found["result"]["resultType"], "complete");
    let list = client.ask(modern(3, "tools/list", json!({}))).await;
    assert_eq!(list["result"]["resultType"], "complete");
    assert_eq!(list["result"]["cacheScope"], "private");
    assert_eq!(list["result"]["ttlMs"], 0);
    // Without its metadata a request is still none, and a client may fall back.
    let bare = client.ask(request(4, "tools/list", json!({}))).await;
    assert_eq!(code(&bare), (-32600, json!(4)));
    client.initialize("2025-11-25").await;
    let answer = client.ask(request(5, "tools/list", json!({}))).await;
    assert!(answer["result"]["tools"].is_array());
    client.close().await;
}

#[tokio::test]
async fn an_unsupported_version_in_a_request_is_refused_with_those_that_are() {
    let mut client = client();
    let mut message = modern(1, "tools/list", json!({}));
    message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    let answer = client.ask(message).await;
    assert!(answer["error"].is_object());
    assert!(answer.to_string().contains("2026-07-28"));
    client.close().await;
}

#[tokio::test]
async fn parameters_that_do_not_fit_are_named_under_the_requests_id() {
    let mut client = client();
    client.initialize("2025-11-25").await;
    let answer = client.ask(request(1, "tools/call", json!({}))).await;
    assert_eq!(code(&answer), (-32602, json!(1)));
    insta::assert_snapshot!(answer["error"]["message"].as_str().unwrap_or_default(), @"the parameters of `tools/call` do not fit: missing field `name`");
    let answer = client.ask(request(2, "no/such", json!({}))).await;
    assert_eq!(code(&answer), (-32601, json!(2)));
    client.close().await;
}

#[tokio::test]
async fn a_panic_in_a_tool_is_an_error_of_that_call() {
    let mut client = client();
    client.initialize("2025-11-25").await;
    let answer = client
        .ask(call(1, "kontext_check", json!({"path": "panic"})))
        .await;
    assert_eq!(code(&answer), (-32603, json!(1)));
    let answer = client.ask(call(2, "kontext_check", json!({}))).await;
    assert_eq!(answer["result"]["isError"], false);
    client.close().await;
}

#[tokio::test]
async fn numbers_in_a_message_survive() {
    let mut client = client();
    client.initialize("2025-11-25").await;
    let mut message = call(9_007_199_254_740_993, "kontext_check", json!({}));
    message["params"]["_meta"] = json!({"progressToken": 5});
    let answer = client.ask(message).await;
    assert_eq!(answer["id"], 9_007_199_254_740_993_i64);
    let progress = json!({
        "jsonrpc": "2.0", "method": "notifications/progress",
        "params": {"progressToken": 1, "progress": 0.25, "total": 1},
    });
    client.send(progress.to_string()).await;
    let answer = client.ask(call(2, "kontext_check", json!({}))).await;
    assert_eq!(answer["id"], 2);
    client.close().await;
}

#[tokio::test]
async fn a_last_request_without_line_break_is_answered_after_the_end_of_input() {
    let mut client = client();
    client.initialize("2025-11-25").await;
    client
        .finish(call(1, "kontext_status", json!({})).to_string())
        .await;
    assert_eq!(client.receive().await["id"], 1);
    client.served.await.expect("ends");
}
