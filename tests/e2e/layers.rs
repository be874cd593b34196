//! Layers over each other and over the disk, as the editor sees them.

use serde_json::{Value, json};

use crate::harness::pair::{PLAIN, adapter, agent, editor, joined, why, with_hints};
use crate::harness::{Answer, Client, Fixture, codes, faults, messages, spans, uri_of};

#[cfg(unix)]
#[tokio::test]
async fn a_layer_behind_a_link_is_one_document_by_either_path() {
    let text = "[adapters.find]\ndriver = \"command\"\ncommnd = [\"rg\"]\n";
    for through_the_link in [true, false] {
        let place = Fixture::new(&[]);
        let real = place.outside("dot/kontext.toml");
        let link = place.config_path("config.toml");
        std::fs::create_dir_all(real.parent().unwrap()).unwrap();
        std::fs::write(&real, text).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let (opened, other) = if through_the_link {
            (uri_of(&link), uri_of(&real))
        } else {
            (uri_of(&real), uri_of(&link))
        };
        let mut client = editor(&place).await;
        client.open(&opened, text);
        let found = client.diagnostics(&opened, 1).await;
        assert_eq!(
            codes(&found),
            ["unknown-key", "missing-field"][..codes(&found).len()]
        );
        assert_eq!(spans(&found)[0], [2, 0, 2, 6]);
        let mut agent = agent(&place).await;
        let status = agent.until("kontext_status", json!({}), joined).await;
        assert_eq!(status["adapters"].as_array().unwrap().len(), 1, "{status}");

        // The fix is not saved, and the layer found through the link is what the editor shows.
        let version = client.replace(&opened, "commnd", "command");
        let found = client.diagnostics(&opened, version).await;
        assert!(found.is_empty(), "{found:?}");
        let fixed = |status: &Value| adapter(status, "find")["status"] != "invalid";
        agent.until("kontext_status", json!({}), fixed).await;
        let checked = agent.structured("kontext_check", json!({})).await;
        assert_eq!(checked["diagnostics"], json!([]));
        let left: Vec<_> = client.published(&other);
        assert!(
            left.last().is_none_or(|(_, found)| found.is_empty()),
            "{left:?}"
        );

        // Opened by its other name as well, then closed again: still one document.
        let before = client.text(&opened).to_owned();
        client.open(&other, &before);
        client.diagnostics(&other, 1).await;
        client.close(&other);
        let version = client.replace(&opened, "command =", "comand =");
        let found = client
            .diagnostics_where(&opened, |found| !found.is_empty())
            .await;
        assert!(
            codes(&found).contains(&"unknown-key"),
            "{version}: {found:?}"
        );
        let other = client.published(&other).pop();
        assert!(other.is_none_or(|(_, found)| found.is_empty()));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_that_leads_elsewhere_is_followed() {
    let place = Fixture::new(&[]);
    let link = place.config_path("config.toml");
    std::fs::create_dir_all(link.parent().unwrap()).unwrap();
    let lead_to = |name: &str| {
        let real = place.outside(name);
        let text = format!("[adapters.{name}]\ndriver = \"command\"\ncommand = [\"true\"]\n");
        std::fs::write(&real, text).unwrap();
        let beside = link.with_extension("new");
        std::os::unix::fs::symlink(&real, &beside).unwrap();
        std::fs::rename(&beside, &link).unwrap();
    };
    lead_to("one");
    let mut agent = agent(&place).await;
    for name in ["one", "two", "three"] {
        lead_to(name);
        let follows = |status: &Value| status["adapters"][0]["name"] == name;
        agent.until("kontext_status", json!({}), follows).await;
    }
}

#[tokio::test]
async fn an_edited_buffer_counts_until_it_is_closed_and_then_the_disk() {
    let place = Fixture::new(&[]).git("https://example.org/acme/shop.git");
    place.write_config("config.toml", PLAIN);
    let own = place.config_path("repos/example.org-acme-shop.toml");
    std::fs::create_dir_all(own.parent().unwrap()).unwrap();
    std::fs::write(&own, "[adapters.u]\nweight = 0.5\n").unwrap();
    let (user, own) = (place.config_uri("config.toml"), uri_of(&own));
    let mut client = editor(&place).await;
    client.open(&user, PLAIN);
    client.open(&own, "[adapters.u]\nweight = 0.5\n");
    let active = |hints: &[String]| hints == ["active"];
    client.hints_where(&user, active).await;
    client.hints_where(&own, active).await;
    let mut agent = agent(&place).await;
    let is_active = |status: &Value| joined(status) && adapter(status, "u")["status"] == "active";
    agent.until("kontext_status", json!({}), is_active).await;

    let names = |hints: &[String], file: &str| hints.len() == 1 && hints[0].contains(file);
    client.replace(&user, "\n", "\nwhen = { file = \"nope.txt\" }\n");
    client
        .hints_where(&user, |hints| names(hints, "nope.txt"))
        .await;
    client
        .hints_where(&own, |hints| names(hints, "nope.txt"))
        .await;
    for (uri, needle) in [
        (&user, "whe"),
        (&user, "[adapters.u"),
        (&own, "[adapters.u"),
    ] {
        let hover = client.hover(uri, needle).await;
        assert!(hover.contains("nope.txt"), "{needle} in {uri}: {hover}");
    }
    let inactive = |status: &Value| why(status, "u").contains("nope.txt");
    let status = agent.until("kontext_status", json!({}), inactive).await;
    assert_eq!(adapter(&status, "u")["status"], "inactive");

    // What was typed is thrown away.
    client.close(&user);
    client.diagnostics_where(&user, <[Value]>::is_empty).await;
    client.hints_where(&own, active).await;
    let hover = client.hover(&own, "[adapters.u").await;
    assert!(!hover.contains("nope.txt"), "{hover}");
    agent.until("kontext_status", json!({}), is_active).await;

    // And the disk is followed.
    place.write_config(
        "config.toml",
        &PLAIN.replacen('\n', "\nwhen = { file = \"other.txt\" }\n", 1),
    );
    client
        .hints_where(&own, |hints| names(hints, "other.txt"))
        .await;
    let other = |status: &Value| why(status, "u").contains("other.txt");
    agent.until("kontext_status", json!({}), other).await;
    place.write("other.txt", "");
    client.hints_where(&own, active).await;
    agent.until("kontext_status", json!({}), is_active).await;
}

const USER: &str = "[adapters.docs]
driver = \"http\"
base_url = \"https://docs.example\"
headers = { Authorization = \"Bearer {{env.DOCS_TOKEN}}\" }
timeout_ms = 4000

[adapters.own]
driver = \"command\"
command = [\"true\"]
";

const SHARED: &str = "[adapters.docs]
driver = \"mcp\"
command = [\"./tools/docs\"]

[adapters.more]
driver = \"command\"
command = [\"true\"]
timeout = 5
";

#[tokio::test]
async fn each_file_is_told_of_its_own_faults_alone() {
    let place = Fixture::new(&[(".kontext.toml", SHARED)]);
    place.write_config("config.toml", USER);
    let (user, shared) = (place.config_uri("config.toml"), place.uri(".kontext.toml"));
    let mut client = editor(&place).await;
    client.open(&user, USER);
    let found = client.diagnostics(&user, 1).await;
    assert!(found.is_empty(), "{found:?}");
    // The other one is not even open.
    let found = client
        .diagnostics_where(&shared, |found| !found.is_empty())
        .await;
    let bad = faults(&found);
    assert_eq!(codes(&bad), ["unknown-key"], "{found:?}");
    assert_eq!(spans(&bad), [[7, 0, 7, 7]]);
    assert!(!messages(&found).contains("headers"), "{found:?}");
    for one in &found {
        assert!(spans(std::slice::from_ref(one))[0][2] < 8, "{one}");
    }

    let (code, out, _) = place.run(&["adapters", "list", "--json"]);
    assert_eq!(code, 0);
    let shell: Value = serde_json::from_str(&out).unwrap();
    let mut agent = agent(&place).await;
    let status = agent.until("kontext_status", json!({}), joined).await;
    assert_eq!(status["adapters"], shell["adapters"]);
    assert_eq!(adapter(&status, "own")["status"], "active");
    // The personal half works on; the shared half waits, and says so.
    assert_eq!(adapter(&status, "docs")["status"], "active");
    assert!(
        why(&status, "docs").contains("the shared layer would change"),
        "{status}"
    );
    assert_eq!(adapter(&status, "more")["status"], "untrusted");
    let explained = agent
        .structured("kontext_explain", json!({"of": "docs"}))
        .await;
    let from = |field: &str| {
        let values = explained["values"].as_array().unwrap();
        let value = values
            .iter()
            .find(|one| one["field"] == format!("adapters.docs.{field}"));
        value.map(|value| value["layer"].as_str().unwrap().to_owned())
    };
    assert_eq!(from("timeout_ms").as_deref(), Some("user"), "{explained}");
    // What waits for trust is not among what holds.
    assert_eq!(from("command"), None, "{explained}");
    assert_eq!(from("driver").as_deref(), Some("user"), "{explained}");
    client.quit().await;
}

#[tokio::test]
async fn a_layer_with_a_fault_leaves_the_others_in_force_and_says_so() {
    let broken = "[adapters.text]
driver = \"mcp\"
command = [\"powershell\", \"-File\", \"C:\\Users\\jo\\run.ps1\"]
";
    let place = Fixture::new(&[(".kontext.toml", broken)]);
    place.write_config("config.toml", PLAIN);
    let _client = editor(&place).await;
    let mut agent = agent(&place).await;
    let status = agent.until("kontext_status", json!({}), joined).await;
    assert_eq!(adapter(&status, "u")["status"], "active");
    assert!(!adapter(&status, "text").is_null(), "{status}");
    let layers = status["layers"].as_array().unwrap();
    let shared = layers
        .iter()
        .find(|layer| layer["layer"] == "shared")
        .unwrap();
    assert!(shared["problem"].is_string(), "{shared}");
}

#[tokio::test]
async fn severities_come_from_the_options_the_settings_and_the_companion_table() {
    let text = "[adapters.a]\ndriver = \"command\"\ncommand = [\"true\"]\nodd = 1\n";
    let level = |found: &[Value]| found.first().map(|one| one["severity"].as_u64().unwrap());

    // initializationOptions, and settings that are sent.
    let place = Fixture::new(&[]);
    place.write_config("config.toml", text);
    let uri = place.config_uri("config.toml");
    let mut client = Client::spawn(&place);
    let mut params = with_hints(&place);
    params["initializationOptions"] = json!({"severity": {"unknown-key": "hint"}});
    client.initialize(params.clone()).await;
    client
        .diagnostics_where(&uri, |found| level(found) == Some(4))
        .await;
    let send = |client: &Client, settings: Value| {
        client.notify(
            "workspace/didChangeConfiguration",
            json!({"settings": settings}),
        );
    };
    send(
        &client,
        json!({"kontext": {"severity": {"unknown-key": "off", "no-such": "error"}}}),
    );
    client.diagnostics_where(&uri, <[Value]>::is_empty).await;
    send(
        &client,
        json!({"kontext": {"severity": {"unknown-key": 7}}}),
    );
    client
        .diagnostics_where(&uri, |found| level(found) == Some(4))
        .await;
    send(&client, Value::Null);
    // A document that is no layer is judged by the same settings.
    client.open(&place.uri("x.toml"), text);
    let found = client.diagnostics(&place.uri("x.toml"), 1).await;
    assert_eq!(level(&found), Some(4));

    // workspace/configuration.
    let mut client = Client::spawn(&place);
    client.answer(
        "workspace/configuration",
        Answer::Result(json!([{"severity": {"unknown-key": "information"}}])),
    );
    params["capabilities"]["workspace"]["configuration"] = json!(true);
    client.initialize(params).await;
    client
        .diagnostics_where(&uri, |found| level(found) == Some(3))
        .await;
    client.answer("workspace/configuration", Answer::Result(json!([null])));
    send(&client, Value::Null);
    client
        .diagnostics_where(&uri, |found| level(found) == Some(4))
        .await;

    // [companion], of a personal layer; it does not go over the settings.
    place.write_config(
        "config.toml",
        &format!("[companion.severity]\nunknown-key = \"off\"\n\n{text}"),
    );
    let mut client = editor(&place).await;
    client.open(
        &uri,
        &format!("[companion.severity]\nunknown-key = \"warning\"\n\n{text}"),
    );
    let found = client.diagnostics(&uri, 1).await;
    assert_eq!(level(&found), Some(2));
    client.replace(&uri, "\"warning\"", "\"off\"");
    client.diagnostics_where(&uri, <[Value]>::is_empty).await;
    // A repository sets none.
    let shared = Fixture::new(&[(
        ".kontext.toml",
        &format!("[companion.severity]\nunknown-key = \"off\"\n\n{text}"),
    )]);
    let client = editor(&shared).await;
    client
        .diagnostics_where(&shared.uri(".kontext.toml"), |found| {
            codes(found).contains(&"unknown-key")
        })
        .await;
}

#[tokio::test]
async fn a_file_shows_two_hundred_diagnostics_and_the_errors_among_them() {
    let place = Fixture::new(&[]);
    let mut text = "[adapters.a]\ndriver = \"command\"\ncommand = [\"true\"]\n".to_owned();
    for at in 0..300 {
        text += &format!("[adapters.a.ops.o{at}]\nmethod = \"GET\"\n");
    }
    text += "[adapters.last]\ndriver = \"nope\"\n";
    let uri = place.uri("x.toml");
    let mut client = editor(&place).await;
    client.open(&uri, &text);
    let found = client.diagnostics(&uri, 1).await;
    assert_eq!(found.len(), 200);
    assert!(codes(&found).contains(&"invalid-value"));
}

#[tokio::test]
async fn several_roots_share_the_user_layer_and_come_and_go() {
    let place = Fixture::new(&[
        ("one/.kontext.toml", "[adapters.u]\nweight = \"heavy\"\n"),
        ("two/.kontext.toml", "[adapters.u]\nwhight = 1\n"),
        ("one/here.txt", ""),
        ("three/.kontext.toml", "[adapters.u]\nenabled = 0\n"),
    ]);
    let text = PLAIN.replacen('\n', "\nwhen = { file = \"here.txt\" }\n", 1);
    place.write_config("config.toml", &text);
    let folder = |name: &str| json!({"uri": place.uri(name), "name": name});
    let mut client = Client::spawn(&place);
    let mut params = with_hints(&place);
    params["workspaceFolders"] = json!([folder("one"), folder("two")]);
    params["capabilities"]["workspace"]["workspaceFolders"] = json!(true);
    client.initialize(params).await;
    let file = |name: &str| place.uri(&format!("{name}/.kontext.toml"));
    let has = |code: &'static str| move |found: &[Value]| codes(found).contains(&code);
    client
        .diagnostics_where(&file("one"), has("wrong-type"))
        .await;
    client
        .diagnostics_where(&file("two"), has("unknown-key"))
        .await;
    assert!(client.published(&file("three")).is_empty());

    // A fault of the shared user layer is shown once, not once a root.
    let user = place.config_uri("config.toml");
    client.open(&user, &format!("{text}commnd = 1\n"));
    let found = client.diagnostics(&user, 1).await;
    assert_eq!(codes(&found), ["unknown-key"]);

    let change = |client: &Client, added: Value, removed: Value| {
        let params = json!({"event": {"added": added, "removed": removed}});
        client.notify("workspace/didChangeWorkspaceFolders", params);
    };
    change(&client, json!([folder("three")]), json!([folder("one")]));
    client
        .diagnostics_where(&file("three"), has("wrong-type"))
        .await;
    client
        .diagnostics_where(&file("one"), <[Value]>::is_empty)
        .await;
    client
        .diagnostics_where(&file("two"), has("unknown-key"))
        .await;
    change(&client, json!([]), json!([folder("two"), folder("three")]));
    client
        .diagnostics_where(&file("two"), <[Value]>::is_empty)
        .await;
    client
        .diagnostics_where(&file("three"), <[Value]>::is_empty)
        .await;
    // The user layer is still open, and checked.
    let version = client.replace(&user, "commnd = 1\n", "weight = -1\n");
    let found = client.diagnostics(&user, version).await;
    assert_eq!(codes(&found), ["out-of-range"]);
    assert_eq!(client.quit().await, Some(0));
}

#[tokio::test]
async fn a_shared_layer_counts_before_it_is_first_saved() {
    for (file, first) in [(".kontext.toml", true), (".ai/kontext.toml", false)] {
        let place = Fixture::new(&[]).git("https://example.org/acme/shop.git");
        place.write_config("config.toml", PLAIN);
        let mut client = editor(&place).await;
        let (uri, text) = (place.uri(file), "[adapters.u]\nweight = 0.5\n");
        client.open(&uri, text);
        let found = client.diagnostics(&uri, 1).await;
        assert_eq!(codes(&found), ["untrusted-layer"], "{file}: {found:?}");
        client.hints_where(&uri, |hints| hints.len() == 1).await;
        let mut agent = agent(&place).await;
        let status = agent.until("kontext_status", json!({}), joined).await;
        assert_eq!(adapter(&status, "u")["status"], "active", "{status}");
        // Once it is saved it is the same document, and where another takes its place it is none.
        place.write(file, text);
        client.save(&uri);
        let version = client.replace(&uri, "weight", "wight");
        assert_eq!(
            codes(&client.diagnostics(&uri, version).await),
            ["untrusted-layer", "unknown-key"]
        );
        if first {
            client.close(&uri);
        }
        assert_eq!(client.quit().await, Some(0));
    }
}

#[tokio::test]
async fn without_a_root_a_document_brings_its_own_layers() {
    let place = Fixture::new(&[
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".kontext.toml", "[adapters.u]\nwhight = 1\n"),
    ]);
    place.write_config("config.toml", PLAIN);
    let mut client = Client::spawn(&place);
    let mut params = with_hints(&place);
    params["rootUri"] = Value::Null;
    client.initialize(params).await;
    let uri = place.uri(".kontext.toml");
    client.open(&uri, &place.read(".kontext.toml"));
    let found = client.diagnostics(&uri, 1).await;
    assert!(codes(&found).contains(&"unknown-key"), "{found:?}");
    // The driver comes from the user layer.
    assert!(!codes(&found).contains(&"missing-driver"), "{found:?}");
    let (_, hints) = (client.diagnostics(&uri, 1).await, client.hints(&uri).await);
    assert_eq!(hints.len(), 1);
    client.close(&uri);

    // And with none at all, the user layer alone.
    let user = place.config_uri("config.toml");
    client.open(&user, PLAIN);
    client.hints_where(&user, |hints| hints == ["active"]).await;
    assert_eq!(client.quit().await, Some(0));
}
