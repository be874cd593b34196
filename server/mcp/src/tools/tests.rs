//! Tools and gates, as an agent meets them.

#![allow(clippy::expect_used, clippy::indexing_slicing)]

use serde_json::{Value, json};

use super::*;
use crate::testing::{Client, Studio, call, modern, request};

const WRITE: Tool = Tool {
    name: "test_write",
    title: "Test",
    description: "Writes.",
    class: Class::Write,
    input: || schema::object(json!({}), &[]),
    output: || schema::object(json!({"done": schema::flag()}), &["done"]),
    run: Run::Snapshot(|_, _| {
        Ok(Reply {
            text: "done".to_owned(),
            structured: Map::from_iter([("done".to_owned(), json!(true))]),
        })
    }),
};
const WITH_WRITE: &[Tool] = &[status::TOOL, WRITE];

fn words(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
}

fn names(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array();
    tools
        .into_iter()
        .flatten()
        .filter_map(|tool| tool["name"].as_str())
        .collect()
}

async fn initialized(tools: &'static [Tool]) -> Client {
    let mut client = Client::new(Studio::new(), tools);
    client.initialize("2025-11-25").await;
    client
}

#[tokio::test]
async fn tools_are_listed_in_a_fixed_order_with_schemas_and_hints() {
    let mut client = initialized(TOOLS).await;
    let answer = client.ask(request(1, "tools/list", json!({}))).await;
    assert_eq!(
        names(&answer),
        [
            "kontext_status",
            "kontext_snapshot",
            "kontext_check",
            "kontext_explain",
            "kontext_preview"
        ],
        "what reaches adapters is behind a gate"
    );
    let tools = answer["result"]["tools"].as_array().expect("a list");
    for tool in tools {
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
        assert_eq!(tool["outputSchema"]["type"], "object");
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        assert_eq!(tool["annotations"]["openWorldHint"], false);
        assert!(tool["title"].is_string());
    }
}

#[tokio::test]
async fn the_texts_read_well() {
    let mut client = initialized(TOOLS).await;
    let answer = client.ask(call(1, "kontext_snapshot", json!({}))).await;
    insta::assert_snapshot!(words(&answer), @r"
    config.toml (layer user, version 7, unsaved changes)
      @ line 3
      - url = 1
      + urll = 1
      config.toml:3:1 error unknown-field: there is no field `urll` (fix: write `url`)
    ");
    let answer = client
        .ask(call(2, "kontext_check", json!({"text": "a = 1"})))
        .await;
    insta::assert_snapshot!(words(&answer), @r"
    1 error, 0 warnings, 0 others
    draft:3:1 error unknown-field: a = 1 (fix: write `url`)
    ");
    assert_eq!(
        answer["result"]["structuredContent"]["diagnostics"][0]["range"],
        json!({"start": {"line": 2, "character": 0}, "end": {"line": 2, "character": 4}})
    );
    let answer = client
        .ask(call(3, "kontext_explain", json!({"of": "url"})))
        .await;
    insta::assert_snapshot!(words(&answer), @r#"
    url (field)

    Where the server is.

    In effect:
    - adapters.notes.url = "https://notes.example" (layer user)

    See also: base_url
    "#);
    let answer = client.ask(call(4, "kontext_status", json!({}))).await;
    let (first, rest) = words(&answer).split_once('\n').unwrap_or_default();
    assert!(first.contains("an editor is connected"));
    insta::assert_snapshot!(rest, @r"

    Adapters:
    - notes (http), layer user: inactive
      - `NOTES_TOKEN` is not set

    Layers:
    - user: config.toml (read)

    Gate `allow_write` is closed; to open it, the user has to set `allow_write = true` under `[companion]` in a personal layer (the user's `config.toml`, its `repos/<slug>.toml`, or the clone's `kontext/config.toml`) or in the editor's settings; the shared file of the repository cannot open it, and no tool can.

    Gate `allow_external_call` is closed; to open it, the user has to set `allow_external_call = true` under `[companion]` in a personal layer (the user's `config.toml`, its `repos/<slug>.toml`, or the clone's `kontext/config.toml`) or in the editor's settings; the shared file of the repository cannot open it, and no tool can.
    ");
    assert_eq!(
        answer["result"]["structuredContent"]["gates"],
        json!({"write": false, "external": false})
    );
}

#[tokio::test]
async fn unknown_arguments_and_tools_are_refused_by_name() {
    let mut client = initialized(TOOLS).await;
    let answer = client
        .ask(call(1, "kontext_check", json!({"pth": "a"})))
        .await;
    assert_eq!(answer["result"]["isError"], true);
    insta::assert_snapshot!(words(&answer), @"`kontext_check` has no argument `pth`; did you mean `path`? (known: `path`, `text`)");
    let answer = client
        .ask(call(2, "kontext_status", json!({"all": true})))
        .await;
    insta::assert_snapshot!(words(&answer), @"`kontext_status` takes no arguments, but got `all`");
    let answer = client.ask(call(3, "kontext_chek", json!({}))).await;
    assert_eq!(answer["error"]["code"], -32602);
    insta::assert_snapshot!(answer["error"]["message"].as_str().unwrap_or_default(), @"there is no tool `kontext_chek`; did you mean `kontext_check`?");
}

#[tokio::test]
async fn a_closed_gate_hides_its_tool_and_opening_it_shows_it_at_once() {
    let studio = Studio::new();
    let mut client = Client::new(studio.clone(), WITH_WRITE);
    client.initialize("2025-11-25").await;
    let answer = client.ask(request(1, "tools/list", json!({}))).await;
    assert_eq!(names(&answer), ["kontext_status"]);
    let answer = client.ask(call(2, "test_write", json!({}))).await;
    assert_eq!(answer["result"]["isError"], true);
    assert!(words(&answer).contains("allow_write = true"));

    studio.change(
        |picture| picture.gates.write = true,
        |revision| revision.tools += 1,
    );
    let told = client.receive().await;
    assert_eq!(told["method"], "notifications/tools/list_changed");
    let answer = client.ask(request(3, "tools/list", json!({}))).await;
    assert_eq!(names(&answer), ["kontext_status", "test_write"]);
    let answer = client.ask(call(4, "test_write", json!({}))).await;
    assert_eq!(words(&answer), "done");
}

#[tokio::test]
async fn a_large_result_is_cut_and_says_so() {
    let mut client = initialized(TOOLS).await;
    let answer = client
        .ask(call(1, "kontext_check", json!({"path": "huge"})))
        .await;
    let structured = &answer["result"]["structuredContent"];
    assert!(structured.to_string().len() < RESULT_BUDGET + 500);
    let kept = structured["diagnostics"].as_array().map_or(0, Vec::len);
    let note = structured["omitted"].as_str().unwrap_or_default();
    assert!(note.contains(&format!("{} of `diagnostics`", 5000 - kept)));
    assert!(words(&answer).ends_with(note));
}

#[tokio::test]
async fn resources_are_listed_read_and_watched() {
    let studio = Studio::new();
    let mut client = Client::new(studio.clone(), TOOLS);
    client.initialize("2025-06-18").await;
    let answer = client.ask(request(1, "resources/list", json!({}))).await;
    let uris: Vec<&str> = answer["result"]["resources"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|resource| resource["uri"].as_str())
        .collect();
    assert_eq!(
        uris,
        [
            "kontext://config/effective",
            "kontext://schema",
            "kontext://layers/user",
            "kontext://reference/adapter"
        ]
    );
    let answer = client
        .ask(request(2, "resources/templates/list", json!({})))
        .await;
    assert_eq!(
        answer["result"]["resourceTemplates"]
            .as_array()
            .map(Vec::len),
        Some(3)
    );
    let unknown = request(3, "resources/read", json!({"uri": "kontext://layers/none"}));
    assert_eq!(client.ask(unknown).await["error"]["code"], -32002);

    let layer = json!({"uri": "kontext://layers/user"});
    let answer = client
        .ask(request(4, "resources/subscribe", layer.clone()))
        .await;
    assert_eq!(answer["result"], json!({}));
    // A change that leaves the text as it was is none.
    studio.change(|_| {}, |revision| revision.contents += 1);
    studio.change(
        |picture| picture.user = "a = 1".to_owned(),
        |revision| revision.contents += 1,
    );
    let told = client.receive().await;
    assert_eq!(told["method"], "notifications/resources/updated");
    assert_eq!(told["params"], layer);
    let answer = client
        .ask(request(5, "resources/read", layer.clone()))
        .await;
    assert_eq!(answer["result"]["contents"][0]["text"], "a = 1");
    assert_eq!(
        answer["result"]["contents"][0]["mimeType"],
        "application/toml"
    );

    client.ask(request(6, "resources/unsubscribe", layer)).await;
    studio.change(
        |picture| picture.user = "a = 2".to_owned(),
        |revision| {
            revision.contents += 1;
            revision.resources += 1;
        },
    );
    let told = client.receive().await;
    assert_eq!(told["method"], "notifications/resources/list_changed");
    client.close().await;
}

#[tokio::test]
async fn a_listener_of_the_new_era_hears_what_it_asked_for_until_it_cancels() {
    let studio = Studio::new();
    let mut client = Client::new(studio.clone(), WITH_WRITE);
    let listen = modern(
        7,
        "subscriptions/listen",
        json!({"notifications": {
            "toolsListChanged": true,
            "resourceSubscriptions": ["kontext://config/effective", "file:///etc/passwd"],
        }}),
    );
    let told = client.ask(listen).await;
    assert_eq!(told["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(
        told["params"]["notifications"]["resourceSubscriptions"],
        json!(["kontext://config/effective"])
    );
    studio.change(
        |picture| {
            picture.gates.write = true;
            picture.user = "a = 1".to_owned();
        },
        |revision| {
            revision.tools += 1;
            revision.resources += 1;
            revision.contents += 1;
        },
    );
    let told = client.receive().await;
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(
        told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        7
    );
    let told = client.receive().await;
    assert_eq!(told["method"], "notifications/resources/updated");
    assert_eq!(told["params"]["uri"], "kontext://config/effective");

    client
        .send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#)
        .await;
    let answer = client.ask(modern(8, "tools/list", json!({}))).await;
    assert_eq!(answer["id"], 8);
    client.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_open_listener_does_not_keep_a_closed_connection() {
    let mut client = Client::new(Studio::new(), TOOLS);
    let listen = modern(
        7,
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
    );
    client.ask(listen).await;
    let before = tokio::time::Instant::now();
    client.close().await;
    assert!(before.elapsed() < std::time::Duration::from_secs(1));
}
