//! Folders: several, none, linked ones, and those that come and go.

use serde_json::{Value, json};

use crate::harness::{Client, Fixture, McpClient, codes, uri_of};

const PLAIN: &str = "[adapters.u]\ndriver = \"command\"\ncommand = [\"true\"]\n";

/// What a client says that shows inlay hints and asks again when told to.
fn params(root: &Value) -> Value {
    json!({
        "rootUri": root,
        "capabilities": {"workspace": {"inlayHint": {"refreshSupport": true}}},
    })
}

async fn agent_in(place: &Fixture, dir: &str) -> McpClient {
    let mut agent = McpClient::spawn(place, &["--dir", dir]);
    agent.initialize("2025-06-18").await;
    agent.watch().await;
    agent
}

fn joined(status: &Value) -> bool {
    status["editor"] == true
}

fn folder(place: &Fixture, name: &str) -> Value {
    json!({"uri": place.uri(name), "name": name})
}

fn change_folders(client: &Client, added: Value, removed: Value) {
    let params = json!({"event": {"added": added, "removed": removed}});
    client.notify("workspace/didChangeWorkspaceFolders", params);
}

#[cfg(unix)]
#[tokio::test]
async fn a_workspace_behind_a_link_is_named_as_the_client_names_it() {
    let place = Fixture::new(&[("real/shop/.kontext.toml", "[adapters.u]\nwhight = 1\n")]);
    std::os::unix::fs::symlink(place.path("real"), place.path("link")).unwrap();
    place.write_config("config.toml", PLAIN);
    let mut client = Client::spawn(&place);
    client
        .initialize(params(&json!(place.uri("link/shop"))))
        .await;
    // Nobody has it open, and it is shown under the client's name.
    let uri = place.uri("link/shop/.kontext.toml");
    let unknown = |found: &[Value]| codes(found).contains(&"unknown-key");
    client.diagnostics_where(&uri, unknown).await;
    client.open(&uri, "[adapters.u]\nweight = 1\n");
    client
        .diagnostics_where(&uri, |found| !unknown(found))
        .await;
    assert!(
        client
            .published(&place.uri("real/shop/.kontext.toml"))
            .is_empty()
    );
    // Agents find it by either name.
    for dir in ["link/shop", "real/shop"] {
        let mut agent = agent_in(&place, dir).await;
        let status = agent.until("kontext_status", json!({}), joined).await;
        assert_eq!(status["adapters"].as_array().unwrap().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn agents_follow_the_folders_of_the_editor() {
    let place = Fixture::new(&[("one/x", ""), ("two/x", "")]);
    place.write_config("config.toml", PLAIN);
    let mut client = Client::spawn(&place);
    let mut params = params(&Value::Null);
    params["workspaceFolders"] = json!([folder(&place, "two")]);
    client.initialize(params).await;
    let mut one = agent_in(&place, "one").await;
    let mut two = agent_in(&place, "two").await;
    two.until("kontext_status", json!({}), joined).await;
    assert!(!joined(&one.structured("kontext_status", json!({})).await));
    change_folders(&client, json!([folder(&place, "one")]), json!([]));
    let status = one.until("kontext_status", json!({}), joined).await;
    // The user's adapter is one, however many folders share it.
    assert_eq!(status["adapters"].as_array().unwrap().len(), 1, "{status}");
    change_folders(&client, json!([]), json!([folder(&place, "one")]));
    one.until("kontext_status", json!({}), |status| !joined(status))
        .await;
    assert!(joined(&two.structured("kontext_status", json!({})).await));
}

#[tokio::test]
async fn a_document_brings_its_folder_to_the_agents_too() {
    let place = Fixture::new(&[
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".kontext.toml", ""),
    ]);
    let mut client = Client::spawn(&place);
    client.initialize(params(&Value::Null)).await;
    client.open(
        &place.uri(".kontext.toml"),
        "[adapters.a]\ndriver = \"nope\"\n",
    );
    let mut agent = agent_in(&place, ".").await;
    agent.until("kontext_status", json!({}), joined).await;
    let snapshot = agent.structured("kontext_snapshot", json!({})).await;
    assert_eq!(snapshot["documents"][0]["layer"], "shared", "{snapshot}");
}

#[tokio::test]
async fn trust_by_the_environment_opens_no_gate() {
    let text = "[companion]\nallow_write = true\n\n[adapters.s]\ndriver = \"command\"\ncommand = [\"true\"]\n";
    let place = Fixture::new(&[(".kontext.toml", text)]).env("KONTEXT_TRUST_REPO_ADAPTERS", "1");
    let mut client = Client::spawn(&place);
    client
        .initialize(params(&json!(uri_of(&place.path("")))))
        .await;
    let uri = place.uri(".kontext.toml");
    client.open(&uri, text);
    client.hints_where(&uri, |hints| hints == ["active"]).await;
    let mut agent = agent_in(&place, ".").await;
    let status = agent.until("kontext_status", json!({}), joined).await;
    assert_eq!(status["adapters"][0]["status"], "active", "{status}");
    assert_eq!(status["gates"], json!({"write": false, "external": false}));
    assert!(codes(&client.diagnostics(&uri, 1).await).contains(&"gate-in-shared"));
}
