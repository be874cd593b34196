//! Agents beside the editor: one picture, unsaved edits included, through every change of the
//! language server behind them.

use serde_json::{Value, json};

use crate::harness::{Client, Fixture, McpClient, codes};

const PLAIN: &str = "[adapters.u]\ndriver = \"command\"\ncommand = [\"true\"]\n";

async fn editor(place: &Fixture) -> Client {
    let mut client = Client::spawn(place);
    client.initialize(json!({"rootUri": place.uri("")})).await;
    client
}

async fn agent(place: &Fixture) -> McpClient {
    let mut agent = McpClient::spawn(place, &[]);
    agent.initialize("2025-06-18").await;
    agent.watch().await;
    agent
}

fn has(snapshot: &Value, code: &str) -> bool {
    let documents = snapshot["documents"].as_array().unwrap();
    documents
        .iter()
        .any(|one| codes(one["diagnostics"].as_array().unwrap()).contains(&code))
}

async fn list_changed(agent: &McpClient) {
    agent
        .notification("notifications/tools/list_changed", |_| true)
        .await;
}

/// Names of files in the private directory of sockets.
fn endpoint_files(place: &Fixture) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(place.outside("run/kontext-ls"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn an_agent_sees_unsaved_text_and_outlives_the_editor() {
    let place = Fixture::new(&[]);
    place.write_config("config.toml", PLAIN);
    let uri = place.config_uri("config.toml");
    let mut client = editor(&place).await;
    client.open(&uri, PLAIN);
    client.replace(&uri, "driver = \"command\"", "driver = \"comand\"");
    client.diagnostics(&uri, 2).await;

    let mut agent = agent(&place).await;
    let wrong = |snapshot: &Value| has(snapshot, "invalid-value");
    let snapshot = agent.until("kontext_snapshot", json!({}), wrong).await;
    assert_eq!(snapshot["editor"], true);
    let document = &snapshot["documents"][0];
    assert_eq!(document["unsaved"], true);
    assert_eq!(document["layer"], "user");
    assert_eq!(document["version"], 2);
    assert_eq!(
        document["changes"],
        json!([{"line": 1, "saved": "driver = \"command\"", "buffer": "driver = \"comand\""}])
    );
    let checked = agent.structured("kontext_check", json!({})).await;
    let found = checked["diagnostics"].as_array().unwrap();
    assert_eq!(codes(found), ["invalid-value"]);
    assert_eq!(
        found[0]["range"]["start"],
        json!({"line": 1, "character": 9})
    );
    assert!(found[0]["fix"]["edits"].is_array(), "{checked}");

    // The editor dies without a word.
    client.kill().await;
    list_changed(&agent).await;
    let snapshot = agent.structured("kontext_snapshot", json!({})).await;
    assert_eq!(snapshot, json!({"editor": false, "documents": []}));
    let checked = agent.structured("kontext_check", json!({})).await;
    assert_eq!(checked["diagnostics"], json!([]));
    let status = agent.structured("kontext_status", json!({})).await;
    assert_eq!(status["editor"], false);
    assert_eq!(status["adapters"][0]["status"], "active");
    let left = endpoint_files(&place);

    // The next one replaces what was left.
    let mut client = editor(&place).await;
    client.open(&uri, &format!("odd = 1\n{PLAIN}"));
    let odd = |snapshot: &Value| has(snapshot, "unknown-table") || has(snapshot, "unknown-key");
    agent.until("kontext_snapshot", json!({}), odd).await;
    list_changed(&agent).await;
    let files = endpoint_files(&place);
    assert_eq!(files.len(), 2, "{files:?}");
    assert!(files.iter().all(|file| !left.contains(file)), "{files:?}");
    assert_eq!(client.quit().await, Some(0));
    let gone = |snapshot: &Value| snapshot["editor"] == false;
    agent.until("kontext_snapshot", json!({}), gone).await;
    assert_eq!(endpoint_files(&place), Vec::<String>::new());
}

#[tokio::test]
async fn of_two_editors_the_newer_one_speaks() {
    let place = Fixture::new(&[]);
    place.write_config("config.toml", PLAIN);
    let uri = place.config_uri("config.toml");
    let mut agent = agent(&place).await;
    let status = agent.structured("kontext_status", json!({})).await;
    assert_eq!(status["editor"], false);

    let mut one = editor(&place).await;
    one.open(&uri, &PLAIN.replace("\"true\"", ""));
    let empty = |snapshot: &Value| has(snapshot, "empty-array");
    agent.until("kontext_snapshot", json!({}), empty).await;
    let mut two = editor(&place).await;
    two.open(&uri, &PLAIN.replace("\"command\"", "\"comand\""));
    let wrong = |snapshot: &Value| has(snapshot, "invalid-value") && !has(snapshot, "empty-array");
    agent.until("kontext_snapshot", json!({}), wrong).await;
    // What the older one types is not what counts.
    one.replace(&uri, "driver", "drive");
    one.diagnostics(&uri, 2).await;
    assert!(wrong(
        &agent.structured("kontext_snapshot", json!({})).await
    ));
    two.kill().await;
    let older = |snapshot: &Value| has(snapshot, "empty-array") && has(snapshot, "unknown-key");
    agent.until("kontext_snapshot", json!({}), older).await;
    assert_eq!(one.quit().await, Some(0));
}

#[tokio::test]
async fn an_agent_below_a_root_joins_and_one_beside_it_does_not() {
    let place = Fixture::new(&[("deep/down/x", ""), ("../beside/x", "")]);
    place.write_config("config.toml", PLAIN);
    let _client = editor(&place).await;
    let mut watching = agent(&place).await;
    let joined = |status: &Value| status["editor"] == true;
    watching.until("kontext_status", json!({}), joined).await;
    for (dir, expected) in [("deep/down", true), ("../beside", false)] {
        let mut agent = McpClient::spawn(&place, &["--dir", dir]);
        agent.initialize("2025-11-25").await;
        let status = agent.structured("kontext_status", json!({})).await;
        assert_eq!(status["editor"], expected, "{dir}");
        agent.close_input();
        assert_eq!(agent.exited().await, Some(0));
    }
}

#[tokio::test]
async fn garbage_loses_only_itself_and_haste_is_told_what_to_do() {
    let place = Fixture::new(&[]);
    let mut agent = McpClient::spawn(&place, &[]);
    agent.send_raw(b"\n{nonsense\n\xff\xfe\n");
    for _ in 0..2 {
        assert_eq!(agent.response(Value::Null).await["error"]["code"], -32700);
    }
    agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/whatever"}));
    let refused = agent.ask("tools/list", json!({})).await;
    assert_eq!(refused["error"]["code"], -32600);
    let words = refused["error"]["message"].as_str().unwrap();
    assert!(words.contains("initialize"), "{words}");
    let result = agent.initialize("2025-03-26").await;
    assert_eq!(result["protocolVersion"], "2025-03-26");
    agent.send_raw(b"[]\n\"x\"\n");
    assert!(agent.tools().await.contains(&"kontext_status".to_owned()));
    let refused = agent.ask("no/such", json!({})).await;
    assert_eq!(refused["error"]["code"], -32601);
    let refused = agent
        .ask(
            "tools/call",
            json!({"name": "kontext_statu", "arguments": {}}),
        )
        .await;
    assert!(refused.to_string().contains("kontext_status"), "{refused}");
    let refused = agent
        .ask(
            "tools/call",
            json!({"name": "kontext_status", "arguments": {"verbose": 1}}),
        )
        .await;
    assert!(refused.to_string().contains("verbose"), "{refused}");
    agent.structured("kontext_status", json!({})).await;
    agent.close_input();
    assert_eq!(agent.exited().await, Some(0));
}

#[tokio::test]
async fn the_newest_protocol_needs_no_handshake_through_the_bridge_either() {
    let place = Fixture::new(&[]);
    place.write_config("config.toml", PLAIN);
    let uri = place.config_uri("config.toml");
    let mut client = editor(&place).await;
    client.open(&uri, &PLAIN.replace("\"true\"", ""));
    let mut old = agent(&place).await;
    let open = |snapshot: &Value| has(snapshot, "empty-array");
    old.until("kontext_snapshot", json!({}), open).await;

    let mut agent = McpClient::spawn(&place, &[]);
    let modern = |mut params: Value| {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        params
    };
    let about = agent.request("server/discover", modern(json!({}))).await;
    assert!(about.to_string().contains("2026-07-28"), "{about}");
    let filter = json!({"notifications": {
        "toolsListChanged": true,
        "resourceSubscriptions": ["kontext://config/effective"],
    }});
    let listening = agent.start("subscriptions/listen", modern(filter));
    agent
        .notification("notifications/subscriptions/acknowledged", |_| true)
        .await;
    let call = |tool: &str| modern(json!({"name": tool, "arguments": {}}));
    let result = agent.request("tools/call", call("kontext_snapshot")).await;
    assert!(open(&result["structuredContent"]), "{result}");
    let listed = agent.request("tools/list", modern(json!({}))).await;
    assert_eq!(listed["resultType"], "complete", "{listed}");

    // It hears of an edit, of the editor's death, and goes on.
    client.replace(&uri, "driver", "drive");
    agent
        .notification("notifications/resources/updated", |_| true)
        .await;
    client.kill().await;
    list_changed(&agent).await;
    let result = agent.request("tools/call", call("kontext_snapshot")).await;
    assert_eq!(result["structuredContent"]["editor"], false);
    agent.received(|received| {
        assert!(
            received
                .responses
                .get(&listening.to_string())
                .is_none_or(Vec::is_empty)
        );
    });
    // The way it speaks is its own: without the metadata nothing is open.
    let refused = agent.ask("tools/list", json!({})).await;
    assert_eq!(refused["error"]["code"], -32600);
}

#[tokio::test]
async fn a_gate_opens_when_it_is_saved_and_not_before() {
    let place = Fixture::new(&[(
        ".kontext.toml",
        "[companion]\nallow_write = true\nallow_external_call = true\n",
    )]);
    place.write_config("config.toml", PLAIN);
    let uri = place.config_uri("config.toml");
    let mut client = editor(&place).await;
    client.open(&uri, PLAIN);
    let mut agent = agent(&place).await;
    let joined = |status: &Value| status["editor"] == true;
    agent.until("kontext_status", json!({}), joined).await;

    client.replace(
        &uri,
        "[adapters.u]",
        "[companion]\nallow_write = true\n\n[adapters.u]\nenabled = false",
    );
    // The picture follows the text, the gate does not.
    let off = |status: &Value| status["adapters"][0]["status"] == "disabled";
    let status = agent.until("kontext_status", json!({}), off).await;
    assert_eq!(status["gates"], json!({"write": false, "external": false}));
    assert!(
        status["closed"][0]["open"]
            .as_str()
            .unwrap()
            .contains("allow_write"),
        "{status}"
    );
    let heard = |agent: &McpClient| {
        agent.received(|received| {
            let all = received.notifications.iter();
            all.filter(|one| one["method"] == "notifications/tools/list_changed")
                .count()
        })
    };
    let before = heard(&agent);

    place.write_config("config.toml", client.text(&uri));
    client.save(&uri);
    let open = |status: &Value| status["gates"]["write"] == true;
    let status = agent.until("kontext_status", json!({}), open).await;
    assert_eq!(status["gates"], json!({"write": true, "external": false}));
    agent
        .wait("tools/list_changed", |received| {
            let all = received.notifications.iter();
            let now = all
                .filter(|one| one["method"] == "notifications/tools/list_changed")
                .count();
            (now > before).then_some(())
        })
        .await;

    // Closing it in the text closes nothing yet, on disk at once.
    client.replace(&uri, "allow_write = true", "allow_write = false");
    client.diagnostics(&uri, 3).await;
    assert!(open(&agent.structured("kontext_status", json!({})).await));
    place.write_config("config.toml", client.text(&uri));
    agent
        .until("kontext_status", json!({}), |status| !open(status))
        .await;
}

#[tokio::test]
async fn resources_and_explanations() {
    let place = Fixture::new(&[(".kontext.toml", "[adapters.u]\nweight = 0.25\n")]);
    place.write_config("config.toml", PLAIN);
    let mut agent = agent(&place).await;
    let listed = agent.request("resources/list", json!({})).await;
    let uris: Vec<&str> = listed["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["uri"].as_str().unwrap())
        .collect();
    for uri in [
        "kontext://config/effective",
        "kontext://schema",
        "kontext://layers/user",
        "kontext://layers/shared",
    ] {
        assert!(uris.contains(&uri), "{uris:?}");
    }
    assert!(
        uris.iter()
            .any(|uri| uri.starts_with("kontext://reference/")),
        "{uris:?}"
    );
    for uri in &uris {
        let read = agent.request("resources/read", json!({"uri": uri})).await;
        let content = &read["contents"][0];
        assert_eq!(content["uri"], *uri);
        let text = content["text"].as_str().unwrap();
        assert!(!text.is_empty(), "{uri}");
        if content["mimeType"] == "application/json" {
            serde_json::from_str::<Value>(text).unwrap();
        }
    }
    let refused = agent
        .ask("resources/read", json!({"uri": "kontext://layers/../x"}))
        .await;
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("resources/list"),
        "{refused}"
    );

    for (of, kind) in [
        ("url", "field"),
        ("when.env", "field"),
        ("adapters.u.weight", "field"),
        ("unknown-key", "code"),
        ("u", "adapter"),
    ] {
        let explained = agent.structured("kontext_explain", json!({"of": of})).await;
        assert_eq!(explained["kind"], kind, "{explained}");
        assert!(!explained["text"].as_str().unwrap().is_empty());
    }
    // Each allowed value stands once.
    let explained = agent
        .structured("kontext_explain", json!({"of": "driver"}))
        .await;
    let text = explained["text"].as_str().unwrap();
    assert_eq!(text.matches("\"http\"").count(), 1, "{text}");
    for of in ["wen.env", "unknown-kye", "", "no such thing at all"] {
        let refused = agent.call("kontext_explain", json!({"of": of})).await;
        assert_eq!(refused["isError"], true, "{of}: {refused}");
        assert!(!refused["content"][0]["text"].as_str().unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_text_a_file_or_everything_is_checked() {
    let place = Fixture::new(&[
        (".kontext.toml", "[adapters.s]\ndriver = \"nope\"\n"),
        (
            "draft.toml",
            "[adapters.d]\ndriver = \"command\"\ncommand = []\n",
        ),
    ]);
    place.write_config("config.toml", PLAIN);
    let mut agent = agent(&place).await;
    let seen = |answer: &Value| {
        let all = answer["diagnostics"].as_array().unwrap();
        let mut seen: Vec<(String, String)> = all
            .iter()
            .filter(|one| one["severity"] == "error" || one["severity"] == "warning")
            .map(|one| {
                (
                    one["path"].as_str().unwrap().to_owned(),
                    one["code"].as_str().unwrap().to_owned(),
                )
            })
            .collect();
        seen.dedup();
        seen
    };
    let one = |path: &str, code: &str| vec![(path.to_owned(), code.to_owned())];
    let all = agent.structured("kontext_check", json!({})).await;
    assert_eq!(seen(&all), one(".kontext.toml", "invalid-value"));
    let file = agent
        .structured("kontext_check", json!({"path": "draft.toml"}))
        .await;
    assert_eq!(seen(&file), one("draft.toml", "empty-array"));
    let full = place.path(".kontext.toml");
    let file = agent
        .structured("kontext_check", json!({"path": full}))
        .await;
    assert_eq!(seen(&file), one(".kontext.toml", "invalid-value"));
    let text = "[adapters.\"ž\"]\ndriver = \"mcp\"\ncommand = [\"😀\", 1]\n";
    let answer = agent
        .structured("kontext_check", json!({"text": text}))
        .await;
    let found = answer["diagnostics"].as_array().unwrap();
    assert_eq!(
        found[0]["range"]["start"],
        json!({"line": 2, "character": 17}),
        "{answer}"
    );
    // A draft for a layer is seen among the others.
    let draft = json!({"path": ".kontext.toml", "text": "[adapters.u]\nweight = 0.5\n"});
    let answer = agent.structured("kontext_check", draft).await;
    assert_eq!(seen(&answer), []);
    for path in ["no/such.toml", "."] {
        let refused = agent.call("kontext_check", json!({"path": path})).await;
        assert_eq!(refused["isError"], true, "{refused}");
    }
}

#[tokio::test]
async fn no_answer_holds_a_secret() {
    let (value, literal, basic) = (
        "hunter2-value-of-env",
        "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e",
        "pa55-in-url",
    );
    let place = Fixture::new(&[]).env("DOCS_TOKEN", value);
    let text = format!(
        "[adapters.docs]
driver = \"http\"
base_url = \"https://joe:{basic}@docs.example/{{{{env.DOCS_TOKEN}}}}\"
headers = {{ Authorization = \"Bearer {literal}\", X-Api-Key = \"{{{{env.DOCS_TOKEN}}}}\" }}
when = {{ env = \"DOCS_TOKEN\" }}
vars = {{ t = \"{{{{env.DOCS_TOKEN}}}}\" }}

[adapters.docs.ops.search]
path = \"/s\"
query = {{ q = \"{{{{query}}}}\", token = \"{{{{vars.t}}}}\" }}
"
    );
    place.write_config("config.toml", &text);
    let uri = place.config_uri("config.toml");
    let mut client = Client::spawn(&place);
    client
        .initialize(json!({
            "rootUri": place.uri(""),
            "capabilities": {"textDocument": {"hover": {"contentFormat": ["markdown"]}}},
        }))
        .await;
    client.open(&uri, &text);
    client.replace(&uri, literal, &format!("{literal}ff"));
    let mut answers = vec![client.diagnostics(&uri, 2).await.into()];
    for needle in [
        "base_url",
        "env.DOCS_TOKEN",
        "Authoriz",
        "Bearer",
        "when",
        "vars.t",
        "vars = { t",
        "[adapters.docs",
        "X-Api-Key = \"{{env.DOCS",
    ] {
        let at = client.behind(&uri, needle);
        answers.push(client.request("textDocument/hover", at.clone()).await);
        let mut items = client.request("textDocument/completion", at).await;
        // A completion replaces text of the file; what it offers is what counts.
        answers.push(items["items"].take());
    }
    let document = json!({"textDocument": {"uri": uri}});
    answers.push(
        client
            .request("textDocument/documentSymbol", document)
            .await,
    );
    answers.push(json!(client.hints(&uri).await));

    let mut agent = agent(&place).await;
    let open = |snapshot: &Value| snapshot["documents"][0]["unsaved"] == true;
    agent.until("kontext_snapshot", json!({}), open).await;
    for (tool, arguments) in [
        ("kontext_snapshot", json!({})),
        ("kontext_status", json!({})),
        ("kontext_check", json!({})),
        ("kontext_check", json!({"text": text})),
        ("kontext_explain", json!({"of": "docs"})),
        ("kontext_explain", json!({"of": "adapters.docs.headers"})),
        ("kontext_explain", json!({"of": "adapters.docs.base_url"})),
        (
            "kontext_explain",
            json!({"of": "adapters.docs.headers.Authorization"}),
        ),
    ] {
        answers.push(agent.call(tool, arguments).await);
    }
    let listed = agent.request("resources/list", json!({})).await;
    for one in listed["resources"].as_array().unwrap() {
        let uri = json!({"uri": one["uri"]});
        answers.push(agent.request("resources/read", uri).await);
    }
    for answer in answers.iter().map(ToString::to_string) {
        for secret in [value, literal, basic] {
            assert!(!answer.contains(secret), "{secret} in {answer}");
        }
    }
    client.received(|received| {
        let heard = format!("{:?}{}", received.notifications, received.stderr);
        for secret in [value, literal, basic] {
            assert!(!heard.contains(secret), "{secret} in {heard}");
        }
    });
}
