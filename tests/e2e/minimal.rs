//! A client that can do next to nothing, and refuses whatever it is asked.

use serde_json::{Value, json};

use crate::harness::{Answer, Client, Fixture, codes, labels, uri_of};

/// What such a client says: no dynamic registration, no snippets, no Markdown, no refresh.
fn params(place: &Fixture) -> Value {
    json!({
        "processId": null,
        "rootUri": uri_of(&place.path("")),
        "capabilities": {
            "workspace": {
                "didChangeWatchedFiles": {"dynamicRegistration": false},
                "configuration": false,
                "workspaceFolders": false,
            },
            "textDocument": {
                "synchronization": {"dynamicRegistration": false, "didSave": false},
                "completion": {
                    "dynamicRegistration": false,
                    "completionItem": {
                        "snippetSupport": false,
                        "documentationFormat": ["plaintext"],
                    },
                },
                "hover": {"contentFormat": ["plaintext"]},
                "publishDiagnostics": {},
            },
        },
    })
}

async fn minimal(place: &Fixture) -> Client {
    let mut client = Client::spawn(place);
    for method in [
        "client/registerCapability",
        "workspace/configuration",
        "workspace/inlayHint/refresh",
        "workspace/diagnostic/refresh",
        "window/workDoneProgress/create",
    ] {
        client.answer(method, Answer::NotFound);
    }
    let result = client.initialize(params(place)).await;
    let capabilities = &result["capabilities"];
    assert_eq!(capabilities.get("diagnosticProvider"), None, "{result}");
    client
}

fn no_snippet(items: &Value) {
    let items = items["items"].as_array().unwrap();
    assert!(!items.is_empty());
    for item in items {
        let format = item.get("insertTextFormat").and_then(Value::as_u64);
        assert!(format.is_none_or(|format| format == 1), "{item}");
        let text = item.to_string();
        for mark in ["$0", "$1", "${"] {
            assert!(!text.contains(mark), "{item}");
        }
    }
}

#[tokio::test]
async fn it_is_asked_nothing_and_gets_nothing_it_cannot_take() {
    let place = Fixture::new(&[(".kontext.toml", "[adapters.c]\ndriver = \"command\"\n")]);
    place.write_config(
        "config.toml",
        "[adapters.c]\ndriver = \"command\"\ncommand = [\"true\"]\n",
    );
    let mut client = minimal(&place).await;
    let uri = place.config_uri("config.toml");
    let text = "[adapters.x]\n\n[adapters.c]\ndriver = \"command\"\ncommand = [\"true\"]\nurl = \"https://example.org\"\nwhen = { file = \"no\" }\nwhen.fil = 1\n\n[]\n";
    client.open(&uri, text);
    let found = client.diagnostics(&uri, 1).await;
    assert!(!found.is_empty());
    for one in &found {
        for field in ["relatedInformation", "tags", "codeDescription", "data"] {
            assert_eq!(one.get(field), None, "{one}");
        }
    }

    let places = [(1, 0), (0, 10), (9, 1), (4, 11), (6, 17)];
    for (line, character) in places {
        let at = json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": character}});
        let list = client.request("textDocument/completion", at).await;
        if labels(&list).is_empty() {
            continue;
        }
        no_snippet(&list);
        for item in list["items"].as_array().unwrap().iter().take(8) {
            let full = client.request("completionItem/resolve", item.clone()).await;
            let documentation = &full["documentation"];
            assert!(
                documentation.is_null()
                    || documentation.is_string()
                    || documentation["kind"] == "plaintext",
                "{full}"
            );
            let text = documentation.as_str().or(documentation["value"].as_str());
            for mark in ["**", "```", "# "] {
                assert!(!text.unwrap_or_default().contains(mark), "{full}");
            }
        }
    }
    for needle in ["when", "[adapters.c", "url"] {
        let at = client.behind(&uri, needle);
        let hover = client.request("textDocument/hover", at).await;
        assert_eq!(hover["contents"]["kind"], "plaintext", "{needle}: {hover}");
        let text = hover["contents"]["value"].as_str().unwrap();
        assert!(!text.contains("**") && !text.contains('`'), "{text}");
    }
    let symbols = json!({"textDocument": {"uri": uri}});
    let symbols = client.request("textDocument/documentSymbol", symbols).await;
    assert!(symbols[0].get("location").is_some(), "{symbols}");
    let hints = client.request(
        "textDocument/inlayHint",
        json!({"textDocument": {"uri": uri}, "range": {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}}),
    ).await;
    for hint in hints.as_array().unwrap() {
        let tooltip = &hint["tooltip"];
        assert!(
            tooltip.is_null() || tooltip.is_string() || tooltip["kind"] == "plaintext",
            "{hint}"
        );
    }

    // What changes around the document asks for nothing either.
    place.write_config("repos/x.toml", "");
    place.write("no", "");
    place.write(".kontext.toml", "[adapters.c]\nenabled = tru\n");
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": []}));
    client
        .diagnostics_where(&place.uri(".kontext.toml"), |found| {
            codes(found).contains(&"toml-syntax") || codes(found).contains(&"invalid-value")
        })
        .await;
    client.request("shutdown", Value::Null).await;
    client.received(|received| assert_eq!(received.requests, Vec::<Value>::new()));
}

#[tokio::test]
async fn a_client_that_says_what_it_can_and_then_refuses_it_is_served() {
    let place = Fixture::new(&[]);
    let mut client = Client::spawn(&place);
    for method in [
        "client/registerCapability",
        "workspace/configuration",
        "workspace/inlayHint/refresh",
        "workspace/diagnostic/refresh",
    ] {
        client.answer(method, Answer::NotFound);
    }
    let mut params = params(&place);
    params["capabilities"]["workspace"]["configuration"] = json!(true);
    params["capabilities"]["workspace"]["inlayHint"] = json!({"refreshSupport": true});
    client.initialize(params).await;
    client.server_request("workspace/configuration").await;
    let uri = place.config_uri("config.toml");
    client.open(&uri, "[adapters.x]\ndriver = \"nope\"\n");
    client.server_request("workspace/inlayHint/refresh").await;
    assert_eq!(codes(&client.diagnostics(&uri, 1).await), ["invalid-value"]);
    assert_eq!(client.quit().await, Some(0));
}
