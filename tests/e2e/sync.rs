//! What a client may send that is odd, huge or wrong, and still gets served.

use serde_json::{Value, json};

use crate::harness::{Client, Encoding, Fixture, codes, position_at};

const TEXT: &str = "[adapters.a]\ndriver = \"command\"\ncommand = [\"true\"]\n";

async fn editor(place: &Fixture) -> Client {
    let mut client = Client::spawn(place);
    client.initialize(json!({"rootUri": place.uri("")})).await;
    client
}

fn at(line: u64, character: u64) -> Value {
    json!({"line": line, "character": character})
}

#[tokio::test]
async fn a_document_that_is_not_open_may_be_changed_saved_closed_and_asked_about() {
    let place = Fixture::new(&[("x.toml", TEXT)]);
    let mut client = editor(&place).await;
    let uri = place.uri("x.toml");
    let id = json!({"uri": uri, "version": 7});
    let change = json!({"textDocument": id, "contentChanges": [{"text": "[adapters"}]});
    client.notify("textDocument/didChange", change);
    client.save(&uri);
    client.close(&uri);
    let document = json!({"textDocument": {"uri": uri}});
    let mut placed = document.clone();
    placed["position"] = at(1, 3);
    let mut ranged = document.clone();
    ranged["range"] = json!({"start": at(0, 0), "end": at(3, 0)});
    let mut formatting = document.clone();
    formatting["options"] = json!({"tabSize": 2, "insertSpaces": true});
    for (method, params) in [
        ("textDocument/hover", &placed),
        ("textDocument/completion", &placed),
        ("textDocument/inlayHint", &ranged),
        ("textDocument/documentSymbol", &document),
        ("textDocument/formatting", &formatting),
    ] {
        assert_eq!(
            client.request(method, params.clone()).await,
            Value::Null,
            "{method}"
        );
    }
    assert!(client.published(&uri).is_empty());
    // Opened afterwards it is what it says.
    client.open(&uri, TEXT);
    assert!(client.diagnostics(&uri, 1).await.is_empty());
    // Closing twice, and changing what was closed.
    client.close(&uri);
    client.notify("textDocument/didClose", document);
    let id = json!({"uri": uri, "version": 9});
    let change = json!({"textDocument": id, "contentChanges": [{"text": "[adapters"}]});
    client.notify("textDocument/didChange", change);
    assert_eq!(client.quit().await, Some(0));
    assert!(
        client
            .published(&uri)
            .iter()
            .all(|(_, found)| found.is_empty())
    );
}

#[tokio::test]
async fn positions_outside_of_the_text_mean_its_nearest_place() {
    let place = Fixture::new(&[]);
    let mut client = editor(&place).await;
    let uri = place.uri("x.toml");
    client.open(&uri, TEXT);
    for (line, character) in [
        (0, 10_000),
        (99, 0),
        (u64::from(u32::MAX), u64::from(u32::MAX)),
        (2, 4_000_000),
    ] {
        let placed = json!({"textDocument": {"uri": uri}, "position": at(line, character)});
        client.request("textDocument/hover", placed.clone()).await;
        client.request("textDocument/completion", placed).await;
    }
    for (start, end) in [
        (at(5, 5), at(900, 0)),
        (at(3, 0), at(0, 0)),
        (at(u64::from(u32::MAX), 1), at(1, 1)),
    ] {
        let range = json!({"start": start, "end": end});
        let params = json!({"textDocument": {"uri": uri}, "range": range});
        client
            .request("textDocument/inlayHint", params.clone())
            .await;
        let mut formatting = params;
        formatting["options"] = json!({"tabSize": 4, "insertSpaces": false});
        client
            .request("textDocument/rangeFormatting", formatting)
            .await;
    }
    // A change behind the end appends, and one whose ends are the wrong way round is turned.
    let change = |version: i64, start: Value, end: Value, text: &str| {
        let id = json!({"uri": uri, "version": version});
        let changes = json!([{"range": {"start": start, "end": end}, "text": text}]);
        client.notify(
            "textDocument/didChange",
            json!({"textDocument": id, "contentChanges": changes}),
        );
    };
    change(2, at(77, 3), at(u64::from(u32::MAX), 9), "odd = 1\n");
    let found = client.diagnostics(&uri, 2).await;
    assert_eq!(codes(&found), ["unknown-key"]);
    assert_eq!(found[0]["range"]["start"], at(3, 0));
    change(3, at(4, 0), at(3, 0), "");
    let found = client.diagnostics(&uri, 3).await;
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(client.quit().await, Some(0));
}

#[tokio::test]
async fn params_that_make_no_sense_cost_themselves_alone() {
    let place = Fixture::new(&[]);
    let mut client = editor(&place).await;
    let uri = place.uri("x.toml");
    client.open(&uri, TEXT);
    for params in [
        json!(null),
        json!([]),
        json!({"textDocument": {"uri": "no uri"}, "position": at(0, 0)}),
        json!({"textDocument": {"uri": uri}, "position": {"line": -1, "character": 0}}),
        json!({"textDocument": {"uri": uri}, "position": {"line": 4_294_967_296_u64, "character": 0}}),
        json!({"textDocument": uri}),
    ] {
        for method in ["textDocument/hover", "textDocument/completion"] {
            let answer = client.ask(method, params.clone()).await;
            assert_eq!(
                answer["error"]["code"], -32602,
                "{method} {params}: {answer}"
            );
        }
        for method in [
            "textDocument/didOpen",
            "textDocument/didChange",
            "workspace/didChangeWorkspaceFolders",
        ] {
            client.notify(method, params.clone());
        }
    }
    let answer = client.ask("textDocument/nope", json!({})).await;
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    client.notify("$/whatever", json!({}));
    let version = client.replace(&uri, "\"command\"", "\"comand\"");
    assert_eq!(
        codes(&client.diagnostics(&uri, version).await),
        ["invalid-value"]
    );
    assert_eq!(client.quit().await, Some(0));
}

#[tokio::test]
async fn documents_that_are_no_configuration_are_left_in_peace() {
    let place = Fixture::new(&[]);
    let mut client = editor(&place).await;
    for (file, text) in [
        (
            "Cargo.toml",
            "[package]\nname = 1\n\n[dependencies]\nserde = { version = }\n",
        ),
        ("notes.md", "# [adapters\n"),
        ("broken.toml", "[[[\n= =\n"),
        ("empty.toml", ""),
    ] {
        let uri = place.uri(file);
        client.open(&uri, text);
        let found = client.diagnostics(&uri, 1).await;
        assert!(found.is_empty(), "{file}: {found:?}");
        let placed = json!({"textDocument": {"uri": uri}, "position": at(1, 3)});
        let hover = client.request("textDocument/hover", placed.clone()).await;
        assert_eq!(hover, Value::Null, "{file}");
        let whole = json!({"start": at(0, 0), "end": at(9, 0)});
        let params = json!({"textDocument": {"uri": uri}, "range": whole});
        let hints = client.request("textDocument/inlayHint", params).await;
        assert!(
            hints.as_array().is_none_or(Vec::is_empty),
            "{file}: {hints}"
        );
    }
    // One becomes a configuration by what is typed, and stops being one.
    let uri = place.uri("Cargo.toml");
    let version = client.change_all(&uri, "[adapters.a]\ndriver = \"nope\"\n");
    assert_eq!(
        codes(&client.diagnostics(&uri, version).await),
        ["invalid-value"]
    );
    let version = client.change_all(&uri, "[package]\ndriver = \"nope\"\n");
    assert!(client.diagnostics(&uri, version).await.is_empty());
    assert_eq!(client.quit().await, Some(0));
}

#[tokio::test]
async fn a_document_without_a_file_is_checked_alone() {
    let place = Fixture::new(&[]);
    let mut client = editor(&place).await;
    for uri in [
        "untitled:Untitled-1",
        "untitled:/some/x.toml",
        "git:/x.toml?%7B%22ref%22%3A%22~%22%7D",
        "vscode-remote://ssh/x.toml",
    ] {
        client.open(
            uri,
            "[adapters.a]\ndriver = \"command\"\ncomand = [\"true\"]\n",
        );
        let found = client.diagnostics(uri, 1).await;
        assert!(codes(&found).contains(&"unknown-key"), "{uri}: {found:?}");
        assert!(client.hover(uri, "driv").await.contains("driver"));
        let version = client.replace(uri, "comand", "command");
        assert!(client.diagnostics(uri, version).await.is_empty());
        client.close(uri);
    }
    assert_eq!(client.quit().await, Some(0));
}

#[tokio::test]
async fn huge_edits_are_taken_and_undone() {
    let place = Fixture::new(&[]);
    let mut client = editor(&place).await;
    let uri = place.uri("x.toml");
    client.open(&uri, TEXT);
    let mut many = String::new();
    for at in 0..4_000 {
        many += &format!("[adapters.a{at}]\ndriver = \"command\"\ncommand = [\"true\"]\n\n");
    }
    let end = position_at(TEXT, TEXT.len(), Encoding::Utf16);
    let version = client.change(
        &uri,
        &[json!({"range": {"start": end, "end": end}, "newText": many})],
    );
    assert!(client.diagnostics(&uri, version).await.is_empty());
    client.replace(
        &uri,
        "[adapters.a3999]\ndriver = \"command\"",
        "[adapters.a3999]\ndriver = \"comand\"",
    );
    let found = client
        .diagnostics_where(&uri, |found| !found.is_empty())
        .await;
    assert_eq!(codes(&found), ["invalid-value"]);
    assert_eq!(found[0]["range"]["start"]["line"], 3 + 3_999 * 4 + 1);
    // One line of a million characters.
    let long = format!(
        "{TEXT}description = \"{}\"\nodd = 1\n",
        "ž".repeat(1_000_000)
    );
    let version = client.change_all(&uri, &long);
    let found = client.diagnostics(&uri, version).await;
    assert_eq!(codes(&found), ["unknown-key"]);
    let version = client.change_all(&uri, TEXT);
    assert!(client.diagnostics(&uri, version).await.is_empty());
    assert_eq!(client.quit().await, Some(0));
}
