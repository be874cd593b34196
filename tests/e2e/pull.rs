//! Diagnostics for a client that asks for them.

use serde_json::{Value, json};

use crate::harness::{Client, Fixture, codes};

const TEXT: &str = "[adapters.a]\ndriver = \"command\"\ncommand = [\"true\"]\nodd = 1\n";

async fn puller(place: &Fixture) -> Client {
    let mut client = Client::spawn(place);
    let params = json!({
        "rootUri": place.uri(""),
        "capabilities": {
            "textDocument": {"diagnostic": {}},
            "workspace": {"diagnostics": {"refreshSupport": true}},
        },
    });
    let result = client.initialize(params).await;
    let provider = &result["capabilities"]["diagnosticProvider"];
    assert_eq!(provider["interFileDependencies"], true, "{result}");
    assert_eq!(provider["workspaceDiagnostics"], true, "{result}");
    client
}

async fn pull(client: &mut Client, uri: &str, known: Option<&Value>) -> Value {
    let mut params = json!({"textDocument": {"uri": uri}, "identifier": "kontext"});
    if let Some(known) = known {
        params["previousResultId"] = known.clone();
    }
    client.request("textDocument/diagnostic", params).await
}

async fn pull_all(client: &mut Client, known: Value) -> Value {
    let params = json!({"previousResultIds": known});
    let mut report = client.request("workspace/diagnostic", params).await;
    report["items"].take()
}

fn of<'a>(items: &'a Value, uri: &str) -> &'a Value {
    let mut fit = items
        .as_array()
        .unwrap()
        .iter()
        .filter(|item| item["uri"] == uri);
    let found = fit.next().unwrap_or(&Value::Null);
    assert!(fit.next().is_none(), "{uri} twice: {items}");
    found
}

/// Pulls until the answer fits, each time the server says that it is worth it.
async fn pull_until(client: &mut Client, uri: &str, fits: impl Fn(&[Value]) -> bool) -> Value {
    loop {
        let report = pull(client, uri, None).await;
        if report["items"].as_array().is_some_and(|items| fits(items)) {
            return report;
        }
        client.server_request("workspace/diagnostic/refresh").await;
    }
}

#[tokio::test]
async fn an_outcome_has_a_name_and_is_not_told_twice() {
    let place = Fixture::new(&[]);
    let mut client = puller(&place).await;
    let uri = place.uri("x.toml");
    client.open(&uri, TEXT);
    let first = pull(&mut client, &uri, None).await;
    assert_eq!(first["kind"], "full");
    assert_eq!(codes(first["items"].as_array().unwrap()), ["unknown-key"]);
    let id = &first["resultId"];
    assert!(id.is_string(), "{first}");
    let again = pull(&mut client, &uri, Some(id)).await;
    assert_eq!(again["kind"], "unchanged");
    assert_eq!(&again["resultId"], id);
    // An edit that moves what is found is a new outcome; a name from elsewhere is none.
    client.replace(&uri, "[adapters.a]", "\n[adapters.a]");
    let moved = pull(&mut client, &uri, Some(id)).await;
    assert_eq!(moved["kind"], "full");
    assert_ne!(&moved["resultId"], id);
    assert_eq!(moved["items"][0]["range"]["start"]["line"], 4);
    client.replace(&uri, "odd = 1\n", "");
    let clean = pull(&mut client, &uri, Some(&json!("nonsense"))).await;
    assert_eq!(clean["items"], json!([]));
    // Where only where a fault begins in its line changes, by what a client counts.
    let unknown = pull(&mut client, &place.uri("not-open.toml"), None).await;
    assert_eq!(unknown["kind"], "full");
    assert_eq!(unknown["items"], json!([]));
    assert_eq!(client.quit().await, Some(0));
    // Who pulls gets none pushed.
    assert!(client.published(&uri).is_empty());
}

/// The fault stays at its bytes; the lines before it do not.
#[tokio::test]
async fn an_outcome_whose_places_moved_is_another_one() {
    let place = Fixture::new(&[]);
    let mut client = puller(&place).await;
    let uri = place.uri("x.toml");
    client.open(&uri, &format!("#abc\n{TEXT}"));
    let first = pull(&mut client, &uri, None).await;
    client.change_all(&uri, &format!("\n\n\n\n\n{TEXT}"));
    let second = pull(&mut client, &uri, Some(&first["resultId"])).await;
    assert_eq!(second["kind"], "full", "{second}");
    assert_eq!(second["items"][0]["range"]["start"]["line"], 8);
    client.change_all(&uri, &format!("\n\n\n\n#{TEXT}"));
    assert_eq!(client.quit().await, Some(0));
}

#[tokio::test]
async fn the_whole_workspace_includes_layers_nobody_has_open() {
    let place = Fixture::new(&[(".kontext.toml", "[adapters.a]\nwhight = 1\n")]);
    place.write_config("config.toml", TEXT);
    let mut client = puller(&place).await;
    let (user, shared) = (place.config_uri("config.toml"), place.uri(".kontext.toml"));
    let all = pull_all(&mut client, json!([])).await;
    assert_eq!(of(&all, &user)["kind"], "full");
    assert_eq!(of(&all, &user)["version"], Value::Null);
    assert_eq!(
        codes(of(&all, &user)["items"].as_array().unwrap()),
        ["unknown-key"]
    );
    assert!(codes(of(&all, &shared)["items"].as_array().unwrap()).contains(&"unknown-key"));

    let other = place.uri("other.toml");
    client.open(&other, "[adapters.b]\ndriver = \"nope\"\n");
    let known: Vec<Value> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|item| json!({"uri": item["uri"], "value": item["resultId"]}))
        .collect();
    let next = pull_all(&mut client, json!(known)).await;
    assert_eq!(of(&next, &user)["kind"], "unchanged");
    assert_eq!(of(&next, &shared)["kind"], "unchanged");
    assert_eq!(of(&next, &other)["version"], 1);
    assert_eq!(
        codes(of(&next, &other)["items"].as_array().unwrap()),
        ["invalid-value"]
    );
    let id = of(&next, &other)["resultId"].clone();

    // What is closed or gone has nothing wrong with it any more.
    client.close(&other);
    let gone = json!([{"uri": other, "value": id}]);
    let last = pull_all(&mut client, gone).await;
    assert_eq!(of(&last, &other)["kind"], "full");
    assert_eq!(of(&last, &other)["items"], json!([]));
    assert_eq!(client.quit().await, Some(0));
}

#[tokio::test]
async fn the_client_is_told_to_ask_again_when_something_else_changed() {
    let place = Fixture::new(&[]);
    place.write_config("config.toml", "");
    let mut client = puller(&place).await;
    let (user, shared) = (place.config_uri("config.toml"), place.uri(".kontext.toml"));
    // The shared layer names no driver; whether that is a fault depends on the user's.
    place.write(".kontext.toml", "[adapters.a]\nweight = 1\n");
    client.open(&shared, "[adapters.a]\nweight = 1\n");
    let missing = |found: &[Value]| codes(found).contains(&"missing-driver");
    pull_until(&mut client, &shared, missing).await;
    // On disk.
    place.write_config("config.toml", &TEXT.replace("odd = 1\n", ""));
    pull_until(&mut client, &shared, |found| !missing(found)).await;
    // In another buffer, not saved.
    client.open(&user, "");
    pull_until(&mut client, &shared, missing).await;
    client.change_all(&user, &TEXT.replace("odd = 1\n", ""));
    pull_until(&mut client, &shared, |found| !missing(found)).await;
    client.close(&user);
    // By a setting.
    let settings = json!({"settings": {"kontext": {"severity": {"untrusted-layer": "error"}}}});
    client.notify("workspace/didChangeConfiguration", settings);
    let severe = |found: &[Value]| {
        let trust = found.iter().find(|one| one["code"] == "untrusted-layer");
        trust.is_some_and(|one| one["severity"] == 1)
    };
    pull_until(&mut client, &shared, severe).await;
    assert_eq!(client.quit().await, Some(0));
}

#[tokio::test]
async fn who_cannot_be_told_to_ask_again_gets_them_pushed() {
    for workspace in [
        json!({}),
        json!({"diagnostics": {}}),
        json!({"diagnostics": {"refreshSupport": false}}),
    ] {
        let place = Fixture::new(&[]);
        let mut client = Client::spawn(&place);
        let capabilities = json!({"textDocument": {"diagnostic": {}}, "workspace": workspace});
        let result = client
            .initialize(json!({"capabilities": capabilities}))
            .await;
        assert_eq!(result["capabilities"].get("diagnosticProvider"), None);
        let uri = place.uri("x.toml");
        client.open(&uri, TEXT);
        assert_eq!(codes(&client.diagnostics(&uri, 1).await), ["unknown-key"]);
        assert_eq!(client.quit().await, Some(0));
        client.received(|received| assert!(received.requests.is_empty()));
    }
}
