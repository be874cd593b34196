//! How servers start: slowly, in an odd protocol version, or not at all.

use serde_json::{Value, json};

use super::{
    Lives, PLAIN, adapter, agent, fake, mentions, offered, only_note, place, search, searching,
    text_of, titles, tools_until,
};
use crate::harness::pair::{adapter as status_of, editor, joined};
use crate::harness::{Fixture, McpClient};

const SLOW: &str = r#"
class Own(Server):
    def initialize(self, id, params):
        while not os.path.exists(PATH + ".go"):
            time.sleep(0.01)
        super().initialize(id, params)
"#;

fn slow_and_fast() -> Fixture {
    let config = searching("slow", "timeout_ms = 1000\nexpose = \"all\"")
        + &adapter("fast", "expose = \"all\"");
    place(&[("slow", SLOW), ("fast", PLAIN)], &config)
}

async fn a_slow_start_goes_on(agent: &mut McpClient, place: &Fixture) {
    let tools = tools_until(agent, |tools| tools.contains(&"fast_find")).await;
    assert_eq!(offered(&tools), ["fast_find"]);
    let found = search(agent).await;
    let (source, why) = only_note(&found);
    assert_eq!(source, "slow");
    mentions(why, &["still starting"]);
    // Whoever waits for one of its tools is not kept for ever.
    let id = agent.start(
        "tools/call",
        json!({"name": "slow_find", "arguments": {"query": "q"}}),
    );
    let early = agent.response(id).await;
    mentions(
        text_of(&early["result"]),
        &["`slow_find`", "`slow`", "still starting"],
    );
    place.write("slow.py.go", "");
    let tools = tools_until(agent, |tools| tools.len() == 2).await;
    assert_eq!(offered(&tools), ["slow_find", "fast_find"]);
    assert_eq!(titles(&search(agent).await), ["Alpha", "Beta"]);
    assert_eq!(super::seen_of(place, "slow", "initialize").len(), 1);
}

#[tokio::test]
async fn a_slow_start_delays_nobody_and_goes_on() {
    let place = slow_and_fast();
    let mut agent = agent(&place).await;
    a_slow_start_goes_on(&mut agent, &place).await;
}

#[tokio::test]
async fn a_slow_start_does_not_delay_the_editor() {
    let place = slow_and_fast();
    // The slow one starts once it is told to: whoever waits for it waits for ever.
    let mut client = editor(&place).await;
    let mut agent = crate::harness::pair::agent(&place).await;
    agent.until("kontext_status", json!({}), joined).await;
    a_slow_start_goes_on(&mut agent, &place).await;
    assert_eq!(client.quit().await, Some(0));
}

const VERSIONS: &str = r#"
MODE = os.environ["MODE"]

class Own(Server):
    def hello(self, params):
        hello = super().hello(params)
        if MODE == "missing":
            del hello["protocolVersion"], hello["capabilities"]
        else:
            hello["protocolVersion"] = MODE
        return hello

    def initialize(self, id, params):
        if MODE == "modern":
            data = {"supported": ["2026-07-28"], "requested": params["protocolVersion"]}
            self.fail(id, -32022, "Unsupported protocol version", data=data)
        else:
            super().initialize(id, params)
"#;

#[tokio::test]
async fn versions_are_agreed_upon_or_refused_at_once() {
    for (mode, words) in [
        ("2024-11-05", None),
        ("2099-01-01", Some("2099-01-01")),
        ("modern", Some("2026-07-28")),
        ("missing", Some("protocolVersion")),
    ] {
        let mut lives = Lives::new().await;
        // The limit is far beyond that of a search, which names none of the words below.
        let place = fake(VERSIONS, "timeout_ms = 600000").env("MODE", mode);
        let place = lives.in_env_of(place);
        let mut agent = agent(&place).await;
        let found = search(&mut agent).await;
        match words {
            None => assert_eq!(titles(&found), ["Alpha", "Beta"], "{mode}"),
            Some(_) if !titles(&found).is_empty() => {
                assert_ne!(mode, "2099-01-01", "an unknown version is not spoken");
            }
            Some(words) => {
                let (source, why) = only_note(&found);
                assert_eq!(source, "fake");
                mentions(why, &[words]);
            }
        }
        if mode == "2099-01-01" {
            lives.born().await;
            lives.gone().await;
        }
    }
}

fn script(place: &Fixture, path: &str, text: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    place.write(path, text);
    let mode = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(place.path(path), mode).unwrap();
}

#[tokio::test]
async fn a_program_that_cannot_be_started_says_why() {
    let mut config = String::new();
    for (name, command) in [
        ("missing", "ctx-none"),
        ("viaenv", "ctx-mcp"),
        ("noexec", "ctx-plain"),
        ("folder", "ctx-folder"),
        ("shebang", "ctx-odd"),
        ("home", "~/bin/ctx-mcp"),
        ("relative", "./tools/ctx"),
    ] {
        config += &format!(
            "[adapters.{name}]\ndriver = \"mcp\"\ncommand = [\"{command}\"]\nwhen = {{ command = \"{command}\" }}\nops.search.tool = \"find\"\n"
        );
        if name == "viaenv" {
            config += "env = { PATH = \"{{repo.root}}/own:{{env.PATH}}\" }\n";
        }
    }
    let place = place(&[("fake", PLAIN)], &config).git("git@example.com:a/b.git");
    let run = "#!/bin/sh\nexec python3 \"$FAKE\"\n";
    script(&place, "own/ctx-mcp", run, 0o755);
    script(&place, "noexec/ctx-plain", run, 0o644);
    script(&place, "dirs/ctx-folder/x", "", 0o644);
    script(&place, "odd/ctx-odd", "#!/no/such/interpreter\n", 0o755);
    script(&place, "tools/ctx", run, 0o755);
    script(&place, "deeper/x", "", 0o644);
    let mut path: Vec<_> = ["noexec", "dirs", "odd"]
        .map(|folder| place.path(folder))
        .into();
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    let fake = place.path("fake.py");
    let place = place
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("FAKE", fake);
    // Not from the root: what is relative is so to the root all the same.
    let mut agent = McpClient::spawn_in(&place, &[], "deeper");
    agent.initialize("2025-06-18").await;
    let status = agent.structured("kontext_status", json!({})).await;
    for (name, words) in [
        ("missing", ["ctx-none", "PATH"]),
        ("noexec", ["ctx-plain", "PATH"]),
        ("folder", ["ctx-folder", "PATH"]),
        ("home", ["ctx-mcp", "~"]),
    ] {
        let one = status_of(&status, name);
        assert_eq!(one["status"], "inactive", "{one}");
        mentions(&one["reasons"].to_string(), &words);
    }
    for name in ["relative", "viaenv", "shebang"] {
        let one = status_of(&status, name);
        let wanted = json!({"query": "q", "sources": [name]});
        let found = agent.structured("kontext_search", wanted).await;
        match name {
            "relative" => assert_eq!(titles(&found), ["Alpha", "Beta"], "{one} {found}"),
            "shebang" => mentions(only_note(&found).1, &["ctx-odd", "/no/such/interpreter"]),
            // Both look on one PATH: it is found by both, or the condition says where it looked.
            _ if one["status"] == "active" => assert_eq!(titles(&found), ["Alpha", "Beta"]),
            _ => mentions(&one["reasons"].to_string(), &["ctx-mcp", "`env.PATH`"]),
        }
    }
}

#[tokio::test]
async fn a_server_is_started_anew_on_request() {
    let mut lives = Lives::new().await;
    let place = lives.in_env_of(fake(PLAIN, ""));
    let mut agent = agent(&place).await;
    let start = json!({"adapter": "fake"});
    for _ in 0..2 {
        let spawned = agent.structured("kontext_spawn", start.clone()).await;
        assert_eq!(spawned["state"], "ready");
        assert_eq!(spawned["tools"][0]["name"], "find");
        assert_eq!(lives.born().await, "fake.py");
    }
    lives.gone_one().await;
    let refused = agent.call("kontext_spawn", json!({"adapter": "fke"})).await;
    assert_eq!(refused["isError"], true);
    mentions(text_of(&refused), &["fke", "fake"]);
    let calls: Vec<Value> = super::seen_of(&place, "fake", "initialize");
    assert_eq!(calls.len(), 2);
}
