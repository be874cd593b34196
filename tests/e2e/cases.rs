//! What an editor may do to one document: encodings, byte order marks, bursts, spellings of a URI.

use serde_json::{Value, json};

use crate::harness::{
    Answer, Client, Encoding, Fixture, apply_edits, codes, faults, labels, messages, spans, uri_of,
};

/// An unknown key behind characters that each encoding counts in another way.
const ASTRAL: &str = "[adapters.diary]
driver = \"mcp\"
description = \"zápis 🗒️ čo bolo\"
command = [\"diary\"]
when = { env = \"📓_KEY\", fil = \".diary\" }
";

async fn opened(place: &Fixture, params: Value, file: &str, text: &str) -> (Client, String) {
    let mut client = Client::spawn(place);
    client.answer("workspace/configuration", Answer::NotFound);
    client.initialize(params).await;
    let uri = place.uri(file);
    client.open(&uri, text);
    (client, uri)
}

#[tokio::test]
async fn positions_are_in_the_encoding_that_was_settled_both_ways() {
    for (offer, encoding, span) in [
        (Value::Null, Encoding::Utf16, [4, 25, 4, 28]),
        (json!(["utf-16"]), Encoding::Utf16, [4, 25, 4, 28]),
        (json!(["utf-8", "utf-16"]), Encoding::Utf8, [4, 27, 4, 30]),
        (json!(["utf-32"]), Encoding::Utf32, [4, 24, 4, 27]),
        (json!(["ebcdic"]), Encoding::Utf16, [4, 25, 4, 28]),
    ] {
        let place = Fixture::new(&[]);
        let general = if offer.is_null() {
            json!({})
        } else {
            json!({"general": {"positionEncodings": offer}})
        };
        let params = json!({"capabilities": general});
        let (mut client, uri) = opened(&place, params, "some.toml", ASTRAL).await;
        assert_eq!(client.encoding(), encoding);
        let found = client.diagnostics(&uri, 1).await;
        assert_eq!(codes(&found), ["unknown-key"]);
        assert_eq!(spans(&found), [span]);

        let at = client.behind(&uri, "fil");
        let list = client.request("textDocument/completion", at).await;
        let items = list["items"].as_array().unwrap();
        let file = items.iter().find(|item| item["label"] == "file").unwrap();
        let edit = file["textEdit"].clone();
        assert_eq!(spans(std::slice::from_ref(&edit)), [span]);
        let after = apply_edits(ASTRAL, &[edit], encoding);
        assert!(after.contains(", file = \".diary\" }"), "{after}");

        let version = client.replace(&uri, "fil =", "file =");
        let left = client.diagnostics(&uri, version).await;
        assert!(left.is_empty(), "{left:?}");
    }
}

const SHORT: &str = "adapters.diary.drvier = \"mcp\"\nadapters.diary.comand = [\"x\"]\n";

#[tokio::test]
async fn a_byte_order_mark_in_the_buffer_shifts_the_first_line_alone() {
    for (text, first) in [
        (SHORT.to_owned(), [0, 15, 0, 21]),
        (format!("\u{FEFF}{SHORT}"), [0, 16, 0, 22]),
    ] {
        let place = Fixture::new(&[]);
        let (client, uri) = opened(&place, json!({}), "some.toml", &text).await;
        let mut found = client.diagnostics(&uri, 1).await;
        found.retain(|one| one["code"] == "unknown-key");
        assert_eq!(spans(&found), [first, [1, 15, 1, 21]]);
    }
}

#[tokio::test]
async fn a_byte_order_mark_on_disk_changes_nothing() {
    let text = "[adapters.diary]\ndriver = \"command\"\ncommand = [\"true\"]\n";
    let mut seen = Vec::new();
    for mark in ["", "\u{FEFF}"] {
        let place = Fixture::new(&[]);
        place.write_config("config.toml", &format!("{mark}{text}"));
        place.write_config("repos/other.toml", "");
        let (code, out, err) = place.run(&["adapters", "list", "--json"]);
        assert_eq!((code, err.as_str()), (0, ""));
        let status: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(status["layers"][0].get("problem"), None, "{status}");
        seen.push(status["adapters"].clone());
    }
    assert_eq!(seen[0][0]["status"], "active");
    assert_eq!(seen[0], seen[1]);
}

#[tokio::test]
async fn a_byte_order_mark_inside_is_one_fault_that_names_it() {
    let place = Fixture::new(&[]);
    let text = "[adapters.a]\n\u{FEFF}driver = \"command\"\ncomand = [\"rg\"]\n";
    let (client, uri) = opened(&place, json!({}), "some.toml", text).await;
    let found = client.diagnostics(&uri, 1).await;
    let marks: Vec<&Value> = found
        .iter()
        .filter(|one| one["code"] == "bom-inside")
        .collect();
    assert_eq!(marks.len(), 1, "{found:?}");
    assert_eq!(marks[0]["severity"], 1);
    assert_eq!(marks[0]["range"]["start"]["line"], 1);
    let message = marks[0]["message"].as_str().unwrap();
    assert!(
        message.contains("byte order mark") || message.contains("U+FEFF"),
        "{message}"
    );
    // The rest is looked at all the same.
    assert!(codes(&found).contains(&"unknown-key"), "{found:?}");
}

#[tokio::test]
async fn changes_of_one_notification_build_on_each_other() {
    let place = Fixture::new(&[]);
    let text = "[adapters.k]\ndriver = \"mcp\"\ncommand = [\"x\"]\n";
    let (client, uri) = opened(&place, json!({}), "some.toml", text).await;
    let range = |line, from, to| json!({"start": {"line": line, "character": from}, "end": {"line": line, "character": to}});
    let change = |version: i64, changes: Value| {
        let id = json!({"uri": uri, "version": version});
        let params = json!({"textDocument": id, "contentChanges": changes});
        client.notify("textDocument/didChange", params);
    };
    change(
        2,
        json!([
            {"range": range(1, 0, 0), "text": "enabled = true\nweight = 0.5\n"},
            {"range": range(3, 10, 13), "text": "command"},
        ]),
    );
    let found = client.diagnostics(&uri, 2).await;
    assert!(found.is_empty(), "{found:?}");
    change(
        3,
        json!([
            {"text": ""},
            {"range": range(0, 0, 0), "text": "[adapters.z]\ndriver = \"nope\"\n"},
        ]),
    );
    let found = client.diagnostics(&uri, 3).await;
    assert_eq!(spans(&found), [[1, 9, 1, 15]]);
    assert_eq!(found[0]["severity"], 1);
}

#[tokio::test]
async fn typing_without_a_pause_ends_in_the_text_that_was_typed() {
    let place = Fixture::new(&[]);
    let before = "[adapters.q]\ncommand = [\"x\"]\n";
    let (mut client, uri) = opened(&place, json!({}), "some.toml", before).await;
    let mut ids = Vec::new();
    let mut version = 1;
    let mut place_of = (1, 0);
    for typed in "driver = \"mcp\"\n".chars() {
        let at = json!({"line": place_of.0, "character": place_of.1});
        let edit = json!({"range": {"start": at, "end": at}, "newText": typed.to_string()});
        version = client.change(&uri, &[edit]);
        place_of = match typed {
            '\n' => (place_of.0 + 1, 0),
            _ => (place_of.0, place_of.1 + 1),
        };
        let at = json!({"line": place_of.0, "character": place_of.1});
        let params = json!({"textDocument": {"uri": uri}, "position": at});
        ids.push(client.start("textDocument/completion", params));
    }
    assert_eq!(version, 16);
    let found = client.diagnostics(&uri, version).await;
    assert!(found.is_empty(), "{found:?}");
    for id in &ids {
        let answer = client.response(*id).await;
        let code = answer["error"]["code"].as_i64();
        assert!(
            code.is_none_or(|code| [-32800, -32801].contains(&code)),
            "{answer}"
        );
    }
    let versions: Vec<i64> = client
        .published(&uri)
        .iter()
        .map(|(version, _)| version.unwrap())
        .collect();
    assert!(versions.is_sorted(), "{versions:?}");
    assert_eq!(versions.last(), Some(&16));
    // No burst is published letter by letter, and none answered twice.
    client.request("shutdown", Value::Null).await;
    client.received(|received| {
        for id in &ids {
            assert_eq!(received.responses[&id.to_string()], Vec::<Value>::new());
        }
    });
}

#[tokio::test]
async fn spellings_of_one_uri_are_one_document() {
    let place = Fixture::new(&[("my repo/á#b+c/config.toml", "")]);
    let base = uri_of(&place.path(""));
    let text = "[adapters.a]\ndriver = \"nope\"\n";
    let spellings = [
        "my%20repo/%C3%A1%23b+c/config.toml",
        "my%20repo/%c3%a1%23b%2Bc/config.toml",
        "my%20repo/%C3%A1%23b%2bc/config.toml",
        "my%20repo/./%C3%A1%23b%2bc/../%C3%A1%23b+c/config.toml",
    ]
    .map(|path| format!("{base}/{path}"));
    for opened_by in &spellings[..3] {
        let mut client = Client::spawn(&place);
        client.initialize(json!({"rootUri": base})).await;
        client.open(opened_by, text);
        assert_eq!(client.diagnostics(opened_by, 1).await.len(), 1);
        let mut version = 1;
        for other in &spellings {
            version += 1;
            let fixed = format!("# {version}\n{text}");
            let id = json!({"uri": other, "version": version});
            let params = json!({"textDocument": id, "contentChanges": [{"text": fixed}]});
            client.notify("textDocument/didChange", params);
            let found = client.diagnostics(opened_by, version).await;
            assert_eq!(spans(&found), [[2, 9, 2, 15]], "{other}");
        }
        // Others are other files, open or not.
        for other in ["my%20repo/%C3%A1", "my%2520repo/%C3%A1%23b+c/config.toml"] {
            let other = format!("{base}/{other}");
            let at =
                json!({"textDocument": {"uri": other}, "position": {"line": 0, "character": 0}});
            let answer = client.request("textDocument/hover", at).await;
            assert_eq!(answer, Value::Null);
            client.open(
                &other,
                "[adapters.b]\ndriver = \"mcp\"\ncommand = [\"x\"]\n",
            );
            assert!(client.diagnostics(&other, 1).await.is_empty());
        }
        assert_eq!(
            codes(&client.published(opened_by).pop().unwrap().1),
            ["invalid-value"]
        );
        client.received(|received| {
            for one in &received.notifications {
                let uri = one["params"]["uri"].as_str().unwrap_or(opened_by);
                let known = uri == opened_by || uri.ends_with("/%C3%A1") || uri.contains("%2520");
                assert!(known, "{uri}");
            }
        });
        // Closed by any of them it is closed, and told of as it was opened.
        client.notify(
            "textDocument/didClose",
            json!({"textDocument": {"uri": spellings[2]}}),
        );
        client
            .diagnostics_where(opened_by, |found| found.is_empty())
            .await;
    }
}

#[tokio::test]
async fn a_uri_comes_back_byte_for_byte() {
    let place = Fixture::new(&[]);
    let mut client = Client::spawn(&place);
    client.initialize(json!({})).await;
    for uri in [
        "file:///c%3A/w/a.toml",
        "file:///C:/w/b.toml",
        "file:///d:/w/c.toml",
        "file:///w/%7Euser/d%5B1%5D.toml",
        "file:///w/[e] (1).toml",
        "file:///w/á/f.toml",
        "file:///w/x/../g.toml",
        "file://localhost/w/h.toml",
        "file:/w/i.toml",
        "FILE:///w/j.toml",
        "untitled:Untitled-1",
        "untitled:Čo je nové",
        "vscode-notebook-cell:/w/k.ipynb#W0sZmlsZQ%3D%3D",
    ] {
        client.open(uri, "[adapters.a]\ndriver = \"nope\"\n");
        let found = client.diagnostics(uri, 1).await;
        assert_eq!(codes(&found), ["invalid-value"], "{uri}");
        let version = client.replace(uri, "nope", "command");
        let found = client.diagnostics(uri, version).await;
        assert_eq!(codes(&found), ["missing-target"][..found.len()], "{uri}");
        assert!(client.hover(uri, "driv").await.contains("driver"), "{uri}");
        client.close(uri);
        client.diagnostics_where(uri, <[Value]>::is_empty).await;
    }
    assert_eq!(client.quit().await, Some(0));
}

#[tokio::test]
async fn a_wrong_escape_costs_its_string_and_the_other_tables_stay() {
    let text = "[adapters.text]
driver = \"mcp\"
command = [\"powershell\", \"-File\", \"C:\\Users\\jo\\text-mcp\\run1.ps1\"]

[adapters.find]
driver = \"command\"
command = [\"rg\", \"--json\", \"--\", \"{{query}}\"]
comand = 1
";
    let place = Fixture::new(&[]);
    place.write_config("config.toml", text);
    let uri = place.config_uri("config.toml");
    let mut client = Client::spawn(&place);
    client.initialize(json!({"rootUri": place.uri("")})).await;
    client.open(&uri, text);
    let found = client.diagnostics(&uri, 1).await;
    let found = faults(&found);
    let syntax: Vec<Value> = found
        .iter()
        .filter(|one| one["code"] == "invalid-escape")
        .cloned()
        .collect();
    let [line, from, end, to] = spans(&syntax)[0];
    assert_eq!((syntax.len(), line, end), (1, 2, 2), "{found:?}");
    assert!(from >= 34 && to <= 66, "{from}..{to}");
    assert!(messages(&syntax).contains('\\'), "{}", messages(&syntax));
    assert!(messages(&syntax).contains('\''), "{}", messages(&syntax));
    assert!(codes(&found).contains(&"unknown-key"), "{found:?}");

    // The value that cannot be read is missing, and the adapter beside it works.
    let fixed = text
        .replace("\"C:\\", "'C:\\")
        .replace("ps1\"", "ps1'")
        .replace("comand = 1\n", "");
    let version = client.change_all(&uri, &fixed);
    let left = client.diagnostics(&uri, version).await;
    assert!(left.is_empty(), "{left:?}");
    let hints = client.request(
        "textDocument/inlayHint",
        json!({"textDocument": {"uri": uri}, "range": {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}}),
    );
    assert_eq!(labels(&hints.await).len(), 2);
}
