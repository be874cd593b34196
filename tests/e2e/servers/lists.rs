//! Lists of tools: in pages, changing, malformed, huge.

use serde_json::{Value, json};

use super::{
    adapter, agent, fake, list_changes, mentions, offered, place, search, searching, seen_of,
    text_of, titles, tools_until,
};

const PAGES: &str = r#"
MODE = os.environ.get("MODE", "")

class Own(Server):
    def list(self, id, params):
        def page(*names):
            return {"tools": [tool(name) for name in names]}
        cursor = params.get("cursor")
        if MODE == "stuck":
            self.reply(id, {**page("a1", "a2"), "nextCursor": "same"})
        elif cursor is None:
            self.reply(id, {**page("a1", "a2"), "nextCursor": "bzI="})
        elif cursor == "bzI=":
            self.reply(id, {**page("b1", "b2"), "nextCursor": "č3 ✓/+="})
        elif cursor == "č3 ✓/+=":
            last = {"empty": {"nextCursor": ""}, "null": {"nextCursor": None}}.get(MODE, {})
            self.reply(id, {**page("find"), **last})
        else:
            self.fail(id, -32602, "no such cursor: " + cursor)
"#;

#[tokio::test]
async fn every_page_is_read_and_a_tool_that_is_not_there_is_told_of() {
    let expose = "expose = [\"find\", \"b1\", \"zz_missing\"]";
    for mode in ["", "empty", "null"] {
        let place = fake(PAGES, expose).env("MODE", mode);
        let mut agent = agent(&place).await;
        let tools = tools_until(&mut agent, |tools| !tools.is_empty()).await;
        let mut tools = offered(&tools);
        tools.sort_unstable();
        assert_eq!(tools, ["fake_b1", "fake_find"], "{mode}");
        assert_eq!(titles(&search(&mut agent).await), ["Alpha", "Beta"]);
        let status = agent.structured("kontext_status", json!({})).await;
        mentions(&status["adapters"][0].to_string(), &["zz_missing"]);
        assert_eq!(seen_of(&place, "fake", "tools/list").len(), 3, "{mode}");
    }
}

#[tokio::test]
async fn a_cursor_that_goes_nowhere_ends_the_list() {
    let place = fake(PAGES, "expose = \"all\"").env("MODE", "stuck");
    let mut agent = agent(&place).await;
    let tools = tools_until(&mut agent, |tools| !tools.is_empty()).await;
    assert_eq!(offered(&tools), ["fake_a1", "fake_a2"]);
    assert!(seen_of(&place, "fake", "tools/list").len() <= 3);
    let spawned = json!({"adapter": "fake"});
    let spawned = agent.structured("kontext_spawn", spawned).await;
    mentions(&spawned["notes"].to_string(), &["nextCursor"]);
    assert_eq!(spawned["tools"].as_array().unwrap().len(), 2);
}

const CHANGING: &str = r#"
class Own(Server):
    def list(self, id, params):
        self.reply(id, {"tools": [tool("late" if self.calls else "find")]})

    def call(self, id, params):
        if params["name"] == "find" and self.calls == 1:
            self.reply(id, hits(HITS))
            for _ in range(5):
                self.tell("notifications/tools/list_changed")
        elif params["name"] == "late":
            self.reply(id, text("late is here"))
        else:
            self.fail(id, -32602, "unknown tool: " + params["name"])
"#;

#[tokio::test]
async fn a_list_that_changes_is_followed() {
    let place = fake(CHANGING, "expose = \"all\"");
    let mut agent = agent(&place).await;
    let tools = tools_until(&mut agent, |tools| !tools.is_empty()).await;
    assert_eq!(offered(&tools), ["fake_find"]);
    assert_eq!(titles(&search(&mut agent).await), ["Alpha", "Beta"]);
    // Whoever asks when told sees the new list.
    tools_until(&mut agent, |tools| tools == ["fake_late"]).await;
    let called = agent.call("fake_late", json!({"query": "q"})).await;
    assert_eq!(text_of(&called), "late is here");
    let call = json!({"name": "fake_find", "arguments": {"query": "q"}});
    let refused = agent.ask("tools/call", call).await;
    mentions(&refused.to_string(), &["fake_find"]);
    assert!(refused["error"].is_object(), "{refused}");
    // One of them may be about the start.
    assert!((1..=6).contains(&list_changes(&agent)));
    assert!(seen_of(&place, "fake", "tools/list").len() <= 6);
    assert_eq!(agent.tools().await.len(), tools.len());
}

const MALFORMED: &str = r#"
class Own(Server):
    tools = [
        17,
        None,
        {"description": "it has no name"},
        {"name": 5, "inputSchema": QUERY},
        {"name": "list", "inputSchema": []},
        {"name": "word", "inputSchema": "object"},
        tool("find", title=7, annotations="none", outputSchema=[], own={"kept": 12345678901234567890}),
        tool("find"),
        tool("other"),
    ]
"#;

#[tokio::test]
async fn a_malformed_tool_hides_no_other_and_is_told_of() {
    let place = fake(MALFORMED, "expose = \"all\"");
    let mut agent = agent(&place).await;
    let tools = tools_until(&mut agent, |tools| !tools.is_empty()).await;
    let tools = offered(&tools);
    for name in ["fake_find", "fake_other"] {
        assert_eq!(
            tools.iter().filter(|one| **one == name).count(),
            1,
            "{tools:?}"
        );
    }
    let listed = agent.request("tools/list", json!({})).await;
    let all = listed["tools"].as_array().unwrap();
    let find = all.iter().find(|one| one["name"] == "fake_find").unwrap();
    assert_eq!(find["own"]["kept"].to_string(), "12345678901234567890");
    assert_eq!(titles(&search(&mut agent).await), ["Alpha", "Beta"]);
    let status = agent.structured("kontext_status", json!({})).await;
    let said = status["adapters"][0].to_string();
    let spawned = json!({"adapter": "fake"});
    let spawned = agent.structured("kontext_spawn", spawned).await;
    let notes = spawned["notes"].to_string();
    for words in [&said, &notes] {
        mentions(words, &["17", "`list`", "`word`", "more than once"]);
    }
}

#[tokio::test]
async fn ten_thousand_tools_are_many_but_fine() {
    let many = "class Own(Server):\n    tools = [tool(\"t%d\" % n) for n in range(10000)] + [tool(\"find\")]\n";
    let config = searching("many", "expose = \"all\"") + &searching("small", "expose = \"all\"");
    let place = place(&[("many", many), ("small", super::PLAIN)], &config);
    let mut agent = agent(&place).await;
    let tools = tools_until(&mut agent, |tools| tools.len() == 10_002).await;
    let tools = offered(&tools);
    assert_eq!(tools[0], "many_t0");
    assert_eq!(tools[10_001], "small_find");
    let result = agent.call("many_t9999", json!({"query": "q"})).await;
    assert_eq!(result["structuredContent"]["results"][0]["title"], "Alpha");
    // What does not fit into an answer is cut and said.
    let spawned = json!({"adapter": "many"});
    let spawned = agent.structured("kontext_spawn", spawned).await;
    assert!(spawned["omitted"].is_string());
    assert_eq!(titles(&search(&mut agent).await).len(), 2);
}

#[tokio::test]
async fn only_what_is_exposed_is_offered() {
    let class = "class Own(Server):\n    tools = [tool(\"find\"), tool(\"fake_own\")]\n";
    for (more, wanted) in [
        ("", Vec::new()),
        ("expose = false", Vec::new()),
        ("expose = true", vec!["fake_find", "fake_own"]),
        ("expose = [\"find\"]\nprefix = \"x-\"", vec!["x-find"]),
    ] {
        let place = place(&[("fake", class)], &adapter("fake", more));
        let mut agent = agent(&place).await;
        let spawned = json!({"adapter": "fake"});
        agent.structured("kontext_spawn", spawned).await;
        let tools = tools_until(&mut agent, |tools| tools.len() == wanted.len()).await;
        assert_eq!(offered(&tools), wanted);
        let refused = agent
            .ask(
                "tools/call",
                json!({"name": "fake_none", "arguments": Value::Null}),
            )
            .await;
        mentions(&refused.to_string(), &["fake_none"]);
    }
}
