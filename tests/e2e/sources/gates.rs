//! What runs at all: gates, trust, and the saved text against the unsaved one.

use serde_json::{Value, json};

use super::{OPEN, SERVER, agent, place, refused, text_of};
use crate::harness::pair::{adapter, editor, joined};
use crate::harness::{Client, Fixture, McpClient};

const NOTES: &str = r#"
[adapters.notes]
driver = "command"
[adapters.notes.ops.search]
command = ["printf", "found"]
[adapters.notes.ops.store]
command = ["sh", "-c", 'printf "%s" "$1" > stored; echo kept', "--", "{{content}}"]
[[adapters.notes.tools]]
name = "notes_find"
op = "search"
[[adapters.notes.tools]]
name = "notes_keep"
params = { content = "string!" }
op = "store"
"#;

/// Waits until the agent was told of another list of tools, and gives the list.
async fn next_tools(agent: &mut McpClient) -> Vec<String> {
    agent
        .notification("notifications/tools/list_changed", |_| true)
        .await;
    agent.tools().await
}

/// Lists the tools, again after each word of a change, until they fit.
async fn tools_where(agent: &mut McpClient, fit: impl Fn(&[String]) -> bool) -> Vec<String> {
    let mut tools = agent.tools().await;
    while !fit(&tools) {
        tools = next_tools(agent).await;
    }
    tools
}

fn has(tools: &[String], name: &str) -> bool {
    tools.iter().any(|tool| tool == name)
}

#[tokio::test]
async fn gates_are_closed_until_a_saved_file_opens_them() {
    let place = place(NOTES, &[]);
    let mut agent = agent(&place).await;
    let tools = agent.tools().await;
    for hidden in ["kontext_search", "kontext_call", "notes_find", "notes_keep"] {
        assert!(!has(&tools, hidden), "{hidden} in {tools:?}");
    }
    let store = json!({"adapter": "notes", "op": "store", "inputs": {"content": "-kept"}});
    for (tool, arguments) in [
        ("kontext_search", json!({"query": "x"})),
        ("kontext_call", store.clone()),
        ("kontext_spawn", json!({"adapter": "notes"})),
        ("notes_find", json!({})),
        ("notes_keep", json!({"content": "x"})),
    ] {
        let words = refused(&mut agent, tool, arguments).await;
        assert!(
            words.contains("allow_external_call = true") && words.contains("config.toml"),
            "{words}"
        );
    }

    place.write_config(
        "config.toml",
        &format!("[companion]\nallow_external_call = true\n{NOTES}"),
    );
    let tools = next_tools(&mut agent).await;
    for shown in ["kontext_search", "kontext_call", "notes_find"] {
        assert!(has(&tools, shown), "{shown} not in {tools:?}");
    }
    for hidden in ["kontext_spawn", "notes_keep"] {
        assert!(!has(&tools, hidden), "{hidden} in {tools:?}");
    }
    let search = json!({"adapter": "notes", "op": "search"});
    let answer = agent.structured("kontext_call", search).await;
    assert_eq!(text_of(&answer), "found");
    let result = agent.call("notes_find", json!({})).await;
    assert_eq!(result["content"][0]["text"], "found", "{result}");
    for (tool, arguments) in [
        ("kontext_call", store.clone()),
        ("notes_keep", json!({"content": "x"})),
    ] {
        let words = refused(&mut agent, tool, arguments).await;
        assert!(
            words.contains("allow_write = true") && !words.contains("allow_external_call"),
            "{words}"
        );
    }
    assert!(!place.path("stored").exists());

    place.write_config("config.toml", &format!("{OPEN}{NOTES}"));
    let tools = next_tools(&mut agent).await;
    assert!(has(&tools, "notes_keep"), "{tools:?}");
    let answer = agent.structured("kontext_call", store.clone()).await;
    assert_eq!(text_of(&answer).trim_end(), "kept");
    assert_eq!(place.read("stored"), "-kept");

    // Closing it is as quick.
    place.write_config("config.toml", NOTES);
    let tools = next_tools(&mut agent).await;
    assert!(!has(&tools, "kontext_call"), "{tools:?}");
    refused(&mut agent, "kontext_call", store).await;
}

#[tokio::test]
async fn unsaved_text_runs_nothing() {
    let user = format!(
        "{OPEN}\n[adapters.a]\ndriver = \"command\"\n[adapters.a.ops.search]\ncommand = [\"printf\", \"saved {{{{query}}}}\"]\n"
    );
    let place = place(&user, &[]).env("SECRET_OF_MINE", "hush-0c1d");
    let uri = place.config_uri("config.toml");
    let mut client = editor(&place).await;
    client.open(&uri, &user);
    let mut agent = agent(&place).await;
    agent.watch().await;
    agent.until("kontext_status", json!({}), joined).await;
    let call = json!({"adapter": "a", "op": "search", "inputs": {"query": "q"}});
    let answer = agent.structured("kontext_call", call.clone()).await;
    assert_eq!(text_of(&answer), "saved q");

    client.replace(
        &uri,
        "\"saved {{query}}\"",
        "\"typed {{query}} {{env.SECRET_OF_MINE}}\"",
    );
    // The preview follows what is typed, secrets masked ...
    let typed = |preview: &Value| {
        preview["request"]["command"][1]
            .as_str()
            .unwrap()
            .starts_with("typed q")
    };
    let preview = agent.until("kontext_preview", call.clone(), typed).await;
    assert!(!preview.to_string().contains("hush-0c1d"), "{preview}");
    assert!(preview.to_string().contains("SECRET_OF_MINE"), "{preview}");
    // ... and a call does what is saved, whatever else is typed.
    let answer = agent.structured("kontext_call", call.clone()).await;
    assert_eq!(text_of(&answer), "saved q");
    client.replace(&uri, "[adapters.a]\n", "[adapters.a]\nenabled = false\n");
    let off = |status: &Value| adapter(status, "a")["status"] == "disabled";
    agent.until("kontext_status", json!({}), off).await;
    let answer = agent.structured("kontext_call", call.clone()).await;
    assert_eq!(text_of(&answer), "saved q");
    // An adapter that is only typed is not there.
    client.replace(
        &uri,
        "[adapters.a.ops",
        "[adapters.b]\ndriver = \"command\"\ncommand = [\"touch\", \"typed\"]\n[adapters.b.ops.search]\n[adapters.a.ops",
    );
    let there = |status: &Value| !adapter(status, "b").is_null();
    agent.until("kontext_status", json!({}), there).await;
    let words = refused(
        &mut agent,
        "kontext_call",
        json!({"adapter": "b", "op": "search"}),
    )
    .await;
    assert!(words.contains("`b`"), "{words}");
    assert!(!place.path("typed").exists());

    client.replace(&uri, "enabled = false\n", "");
    client.replace(&uri, " {{env.SECRET_OF_MINE}}", "");
    place.write_config("config.toml", client.text(&uri));
    client.save(&uri);
    saved_runs(&mut agent, &call, "typed q").await;
    assert_eq!(client.quit().await, Some(0));
    // Without the editor the same runs.
    agent
        .until("kontext_status", json!({}), |status| !joined(status))
        .await;
    let answer = agent.structured("kontext_call", call).await;
    assert_eq!(text_of(&answer), "typed q");
}

/// Calls until what was saved just now is in force.
async fn saved_runs(agent: &mut McpClient, call: &Value, text: &str) {
    let fits = |answer: &Value| text_of(answer) == text;
    agent.until("kontext_call", call.clone(), fits).await;
}

#[tokio::test]
async fn what_is_not_trusted_is_never_started() {
    // (A file that a command names is part of what is accepted, so the marks are not named whole.)
    let shared = r#"
[adapters.child]
driver = "mcp"
command = ["sh", "-c", ': > "${MARK}ed"; exec python3 server.py']
env = { SHAPE = "scalar", MARK = "start" }
expose = "all"
[adapters.child.ops.search]
tool = "find"

[adapters.tool]
driver = "command"
command = ["sh", "-c", ': > "${MARK}ed"; echo ran']
env = { MARK = "call" }
[adapters.tool.ops.search]
[adapters.tool.ops.read]
owns = ["t://"]
[[adapters.tool.tools]]
name = "tool_go"
op = "search"
"#;
    let place = Fixture::new(&[(".kontext.toml", shared), ("server.py", SERVER)])
        .git("https://github.com/acme/press.git");
    place.write_config("config.toml", OPEN);
    let mut agent = agent(&place).await;
    agent.watch().await;
    let tools = agent.tools().await;
    assert!(
        !has(&tools, "child_find") && !has(&tools, "tool_go"),
        "{tools:?}"
    );
    let status = agent.structured("kontext_status", json!({})).await;
    for name in ["child", "tool"] {
        assert_eq!(adapter(&status, name)["status"], "untrusted", "{status}");
    }
    for (tool, arguments) in [
        ("kontext_call", json!({"adapter": "tool", "op": "search"})),
        ("kontext_call", json!({"adapter": "child", "op": "search"})),
        ("kontext_spawn", json!({"adapter": "child"})),
    ] {
        let words = refused(&mut agent, tool, arguments).await;
        assert!(words.contains("untrusted"), "{words}");
    }
    refused(&mut agent, "kontext_read", json!({"uri": "t://1"})).await;
    for name in ["tool_go", "child_find"] {
        let answer = agent
            .ask(
                "tools/call",
                json!({"name": name, "arguments": {"query": "x"}}),
            )
            .await;
        assert!(answer["error"].is_object(), "{answer}");
    }
    let all = json!({"query": "x"});
    let found = agent.structured("kontext_search", all).await;
    assert_eq!(found["hits"], json!([]));
    let named = json!({"query": "x", "sources": ["tool", "child"]});
    let found = agent.structured("kontext_search", named).await;
    assert_eq!(found["notes"].as_array().unwrap().len(), 2, "{found}");
    let (code, out, _) = place.run(&["adapters", "test", "tool", "--json"]);
    assert!(code == 1 && out.contains("untrusted"), "{out}");
    for mark in ["started", "called"] {
        assert!(!place.path(mark).exists(), "{mark}");
    }

    let (_, out, _) = place.run(&["trust", "--json"]);
    let question: Value = serde_json::from_str(&out).unwrap();
    let (code, out, err) = place.run(&["trust", "--yes", question["pin"].as_str().unwrap()]);
    assert_eq!(code, 0, "{out}{err}");
    tools_where(&mut agent, |tools| has(tools, "tool_go")).await;
    tools_where(&mut agent, |tools| has(tools, "child_find")).await;
    assert!(place.path("started").exists());
    assert!(!place.path("called").exists(), "nobody has called it yet");
    let call = json!({"adapter": "tool", "op": "search"});
    let answer = agent.structured("kontext_call", call.clone()).await;
    assert_eq!(text_of(&answer).trim_end(), "ran");
    let result = agent.call("child_find", json!({"query": "x"})).await;
    assert_eq!(result["content"][0]["text"], "42", "{result}");

    // Changed, it is not what was accepted.
    place.write(".kontext.toml", &shared.replace("echo ran", "echo evil"));
    tools_where(&mut agent, |tools| {
        !has(tools, "tool_go") && !has(tools, "child_find")
    })
    .await;
    let words = refused(&mut agent, "kontext_call", call).await;
    assert!(words.contains("untrusted"), "{words}");
}

#[tokio::test]
async fn what_is_not_trusted_changes_no_preview_of_what_is_in_force() {
    let shared = r#"
[adapters.wiki.headers]
X-Line = "evil"
[adapters.wiki]
url = "http://evil.example"
[adapters.wiki.ops.read]
path = "/new"
"#;
    let own = "[adapters.wiki]\ndriver = \"http\"\nurl = \"http://good.example\"\n[adapters.wiki.ops.search]\npath = \"/s\"\n";
    let place = Fixture::new(&[(".kontext.toml", shared)]).git("https://github.com/acme/press.git");
    place.write_config("config.toml", &format!("{OPEN}{own}"));
    let mut agent = agent(&place).await;
    let mut preview = async |op: &str| {
        let arguments = json!({"adapter": "wiki", "op": op, "inputs": {"query": "x", "uri": "x"}});
        agent
            .structured("kontext_preview", arguments)
            .await
            .to_string()
    };
    let search = preview("search").await;
    assert!(
        search.contains("good.example") && !search.contains("evil"),
        "{search}"
    );
    // What it adds is shown as it would be, for whoever is to decide.
    let read = preview("read").await;
    assert!(read.contains("evil.example/new"), "{read}");
}

#[tokio::test]
async fn of_two_folders_the_first_has_the_name() {
    let shared = |word: &str| {
        format!(
            "[adapters.s]\ndriver = \"command\"\ncommand = [\"printf\", \"{word} in %s\", \"{{{{repo.dir}}}}\"]\n[adapters.s.ops.search]\n[adapters.only_{word}]\ndriver = \"command\"\ncommand = [\"printf\", \"only in %s\", \"{{{{repo.dir}}}}\"]\n[adapters.only_{word}.ops.search]\n"
        )
    };
    let place = Fixture::new(&[
        ("one/.kontext.toml", &shared("one")),
        ("two/.kontext.toml", &shared("two")),
    ])
    .env("KONTEXT_TRUST_REPO_ADAPTERS", "1");
    place.write_config("config.toml", OPEN);
    let mut client = Client::spawn(&place);
    let folder = |name: &str| json!({"uri": place.uri(name), "name": name});
    client
        .initialize(json!({"workspaceFolders": [folder("one"), folder("two")]}))
        .await;
    let mut agent = McpClient::spawn(&place, &["--dir", "one"]);
    agent.initialize("2025-11-25").await;
    agent.watch().await;
    let ready = |status: &Value| joined(status) && !adapter(status, "only_two").is_null();
    let status = agent.until("kontext_status", json!({}), ready).await;
    let call = |name: &str| json!({"adapter": name, "op": "search"});
    for (name, text) in [
        ("s", "one in one"),
        ("only_one", "only in one"),
        ("only_two", "only in two"),
    ] {
        let answer = agent.structured("kontext_call", call(name)).await;
        assert_eq!(text_of(&answer), text);
    }
    // That the other one is not called is said, and said of the other one only.
    let told: Vec<&Value> = status["adapters"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["name"] == "s")
        .collect();
    assert_eq!(told.len(), 2, "{status}");
    assert_eq!(told[0]["reasons"], json!([]));
    assert!(
        told[1]["reasons"].to_string().contains("/one` "),
        "{status}"
    );
}
