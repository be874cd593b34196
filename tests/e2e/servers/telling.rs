//! What servers tell of themselves: messages to agents, and the log.

use serde_json::json;

use super::{agent, fake, mentions, searching, tools_until};
use crate::harness::McpClient;

const TALKATIVE: &str = r#"
class Own(Server):
    def call(self, id, params):
        for level in ("debug", "info", "error"):
            self.tell("notifications/message", level=level, logger="work", data={"level is": level}, own="kept")
        print("token is " + os.environ["SECRET_TOKEN"], file=sys.stderr, flush=True)
        self.raw(b"no message at all\n")
        self.reply(id, text("done"))
"#;

fn place() -> crate::harness::Fixture {
    fake(
        TALKATIVE,
        "expose = \"all\"\nvars = { t = \"{{env.SECRET_TOKEN}}\" }",
    )
    .env("SECRET_TOKEN", "s3cr3t-VALUE")
}

async fn call(agent: &mut McpClient) {
    tools_until(agent, |tools| tools == ["fake_find"]).await;
    agent.call("fake_find", json!({"query": "x"})).await;
}

#[tokio::test]
async fn what_a_server_tells_reaches_the_agent_from_the_level_it_wants() {
    let place = place();
    let mut agent = agent(&place).await;
    call(&mut agent).await;
    let error = |params: &serde_json::Value| params["level"] == "error";
    let told = agent.notification("notifications/message", error).await;
    assert_eq!(
        told["params"],
        json!({
            "level": "error", "logger": "fake/work", "data": {"level is": "error"}, "own": "kept",
        })
    );
    let levels = |agent: &McpClient| {
        agent.received(|received| {
            let told = received.notifications.iter();
            let told = told.filter(|one| one["method"] == "notifications/message");
            told.map(|one| one["params"]["level"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(levels(&agent), ["info"], "debug only where it is asked for");
    agent
        .request("logging/setLevel", json!({"level": "debug"}))
        .await;
    call(&mut agent).await;
    let debug = |params: &serde_json::Value| params["level"] == "debug";
    agent.notification("notifications/message", debug).await;
}

#[tokio::test]
async fn the_log_of_a_server_is_a_resource_without_secrets() {
    let place = place();
    let mut agent = agent(&place).await;
    call(&mut agent).await;
    let list = agent.request("resources/list", json!({})).await;
    assert!(list.to_string().contains("kontext://logs/fake"), "{list}");
    // What it wrote to standard error comes by another pipe than its answer.
    let log = loop {
        let uri = json!({"uri": "kontext://logs/fake"});
        let read = agent.request("resources/read", uri).await;
        let text = read["contents"][0]["text"].as_str().unwrap().to_owned();
        if text.contains("token is") {
            break text;
        }
    };
    mentions(
        &log,
        &["token is ‹env.SECRET_TOKEN›", "stdout: no message at all"],
    );
    assert!(!log.contains("s3cr3t-VALUE"));
}

#[tokio::test]
async fn an_adapter_without_a_server_has_no_log() {
    let place = super::place(&[("fake", super::PLAIN)], &searching("fake", ""));
    let mut agent = agent(&place).await;
    let list = agent.request("resources/list", json!({})).await;
    assert!(
        !list.to_string().contains("kontext://logs/"),
        "it was not started"
    );
}
