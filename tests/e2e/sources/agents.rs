//! What an agent gets from several sources at once, from the owner of a document, and from ops.

use serde_json::{Value, json};

use super::{OPEN, agent, each, place, refused, text_of};
use crate::harness::pair::{adapter, why};

/// An adapter whose ops are these programs.
fn program(name: &str, more: &str, ops: &[(&str, &str, &str)]) -> String {
    let mut text = format!("\n[adapters.{name}]\ndriver = \"command\"\n{more}\n");
    for (op, command, more) in ops {
        text += &format!("[adapters.{name}.ops.{op}]\ncommand = {command}\n{more}\n");
    }
    text
}

fn notes(answer: &Value) -> Vec<(&str, &str)> {
    let notes = answer["notes"].as_array().unwrap();
    notes
        .iter()
        .map(|note| {
            (
                note["source"].as_str().unwrap(),
                note["message"].as_str().unwrap(),
            )
        })
        .collect()
}

#[tokio::test]
async fn several_sources_are_merged_and_the_failing_ones_named() {
    let late = r#"["sh", "-c", "while ! [ -e quick-is-done ]; do :; done; cat a.json"]"#;
    let quick = r#"["sh", "-c", "cat b.json; : > quick-is-done"]"#;
    let user = [
        OPEN,
        // Answers only after the other one has: that must not matter.
        &program("late", "", &[("search", late, "")]),
        &program("quick", "", &[("search", quick, "")]),
        &program(
            "light",
            "weight = 0.1",
            &[("search", r#"["cat", "c.json"]"#, "")],
        ),
        &program(
            "never",
            "timeout_ms = 300",
            &[("search", r#"["sh", "-c", "exec sleep 600"]"#, "")],
        ),
        &program(
            "broken",
            "",
            &[(
                "search",
                r#"["sh", "-c", "echo out of ink >&2; exit 4"]"#,
                "",
            )],
        ),
        &program(
            "off",
            "enabled = false",
            &[("search", r#"["cat", "a.json"]"#, "")],
        ),
        &program("briefs", "", &[("brief", r#"["cat", "a.json"]"#, "")]),
    ]
    .concat();
    let hits = |all: &[(&str, &str)]| {
        let hits = all.iter();
        let hits = hits.map(|(title, uri)| json!({"title": title, "uri": uri}));
        json!(hits.collect::<Vec<_>>()).to_string()
    };
    let files = [
        (
            "a.json",
            hits(&[("A1", "u://1"), ("A2", "u://shared"), ("A3", "u://3")]),
        ),
        ("b.json", hits(&[("B1", "u://shared"), ("B2", "u://5")])),
        ("c.json", hits(&[("C1", "u://7")])),
    ];
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    let place = place(&user, &files);
    let mut agent = agent(&place).await;
    let found = agent
        .structured("kontext_search", json!({"query": "x"}))
        .await;
    // First of both with equal scores, in the order of the configuration; the document that both
    // have keeps its better rank.
    assert_eq!(each(&found, "title"), ["A1", "B1", "B2", "A3", "C1"]);
    assert_eq!(
        each(&found, "source"),
        ["late", "quick", "quick", "late", "light"]
    );
    let scores: Vec<f64> = each(&found, "score")
        .iter()
        .map(|score| score.as_f64().unwrap())
        .collect();
    assert!((scores[0] - 0.1).abs() < 1e-9, "0.9 / (8 + 1): {scores:?}");
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    let told = notes(&found);
    let sources: Vec<&str> = told.iter().map(|(source, _)| *source).collect();
    assert_eq!(sources, ["never", "broken"]);
    assert!(told[0].1.contains("300 ms"), "{told:?}");
    assert!(told[1].1.contains("exit code 4: out of ink"), "{told:?}");

    let arguments = json!({
        "query": "x", "limit": 2,
        "sources": ["lght", "light", "quick", "off", "briefs"],
    });
    let found = agent.structured("kontext_search", arguments).await;
    assert_eq!(each(&found, "title"), ["B1", "B2"]);
    let told = notes(&found);
    let sources: Vec<&str> = told.iter().map(|(source, _)| *source).collect();
    assert_eq!(sources, ["lght", "off", "briefs"]);
    assert!(told[0].1.contains("did you mean `light`"), "{told:?}");
    assert!(told[1].1.contains("disabled"), "{told:?}");
    assert!(told[2].1.contains("`search`"), "{told:?}");

    for (arguments, part) in [
        (json!({"query": " "}), "`query`"),
        (json!({"query": "x", "limit": 0}), "`limit`"),
        (json!({"query": "x", "limit": 101}), "`limit`"),
        (json!({"query": "x", "limit": 1.5}), "`limit`"),
        (json!({"query": "x", "sources": [1]}), "`sources`"),
        (json!({}), "`query`"),
    ] {
        let words = refused(&mut agent, "kontext_search", arguments).await;
        assert!(words.contains(part), "{words}");
    }
}

#[tokio::test]
async fn history_code_and_briefs_are_asked_for_as_well() {
    let echo = |format: &str| format!(r#"["printf", "{format}", "{{{{repo.dir}}}}"]"#);
    let user = [
        OPEN,
        &program(
            "one",
            "",
            &[
                (
                    "history",
                    r#"["printf", "--", '[{"title":"%s","snippet":"%s"}]', "{{target}}", "{{query}}"]"#,
                    "",
                ),
                (
                    "code",
                    r#"["printf", "--", '[{"title":"%s","snippet":"%s"}]', "{{query}}", "{{limit}}"]"#,
                    "",
                ),
                ("brief", r#"["printf", "--", "about <%s>", "{{focus}}"]"#, ""),
            ],
        ),
        &program("two", "", &[("brief", &echo("in %s"), "")]),
        &program("three", "", &[("brief", r#"["false"]"#, "")]),
    ]
    .concat();
    let place = place(&user, &[]);
    let mut agent = agent(&place).await;
    let found = agent
        .structured("kontext_history", json!({"target": "src/a b.rs"}))
        .await;
    assert_eq!(each(&found, "title"), ["src/a b.rs"]);
    assert_eq!(each(&found, "snippet"), ["src/a b.rs"]);
    let found = agent
        .structured("kontext_code", json!({"query": "parse", "limit": 3}))
        .await;
    assert_eq!(each(&found, "snippet"), ["3"]);
    let briefs = agent.structured("kontext_brief", json!({})).await;
    assert_eq!(
        briefs["texts"],
        json!([{"source": "one", "text": "about <>"}, {"source": "two", "text": "in work"}])
    );
    assert_eq!(notes(&briefs)[0].0, "three");
    let briefs = agent
        .structured("kontext_brief", json!({"focus": "rails"}))
        .await;
    assert_eq!(text_of(&briefs), "about <rails>");
}

#[tokio::test]
async fn the_longest_owner_reads() {
    let reads = |owns: &str| format!("owns = [{owns}]");
    let says = |word: &str| format!(r#"["printf", "--", "{word} %s", "{{{{uri|after:'://'}}}}"]"#);
    let user = [
        OPEN,
        &program("all", "", &[("read", &says("all"), &reads("\"lib://\""))]),
        &program(
            "shelf",
            "",
            &[(
                "read",
                &says("shelf"),
                &reads("\"other://\", \"lib://shelf/\""),
            )],
        ),
        &program(
            "again",
            "",
            &[("read", &says("again"), &reads("\"lib://\""))],
        ),
        &program(
            "off",
            "enabled = false",
            &[("read", &says("off"), &reads("\"lib://shelf/9\""))],
        ),
        &program(
            "broken",
            "",
            &[(
                "read",
                r#"["sh", "-c", "echo half; exit 9"]"#,
                &reads("\"bad://\""),
            )],
        ),
    ]
    .concat();
    let place = place(&user, &[]);
    let mut agent = agent(&place).await;
    for (uri, text) in [
        ("lib://x", "all x"),
        ("lib://shelf/1", "shelf shelf/1"),
        ("lib://shelf/99", "shelf shelf/99"),
        ("lib://shelf", "all shelf"),
        ("other://-y", "shelf -y"),
    ] {
        let answer = agent.structured("kontext_read", json!({"uri": uri})).await;
        assert_eq!(text_of(&answer), text);
        assert_eq!(
            answer["texts"][0]["source"],
            text.split(' ').next().unwrap()
        );
    }
    let words = refused(
        &mut agent,
        "kontext_read",
        json!({"uri": "nobody://\u{1b}[31m"}),
    )
    .await;
    assert!(
        words.contains("`lib://`") && words.contains("`bad://`") && !words.contains('\u{1b}'),
        "{words}"
    );
    let words = refused(&mut agent, "kontext_read", json!({"uri": "bad://1"})).await;
    assert!(
        words.contains("`broken`") && words.contains("exit code 9"),
        "{words}"
    );
}

#[tokio::test]
async fn an_op_that_keeps_failing_rests_and_status_says_so() {
    let counted = r#"["sh", "-c", "echo . >> asked; echo no paper >&2; exit 5"]"#;
    let user = [
        OPEN,
        &program(
            "press",
            "",
            &[
                ("search", counted, ""),
                ("code", r#"["printf", "fine"]"#, ""),
            ],
        ),
    ]
    .concat();
    let place = place(&user, &[]);
    let mut agent = agent(&place).await;
    for _ in 0..3 {
        let found = agent
            .structured("kontext_search", json!({"query": "x"}))
            .await;
        assert!(notes(&found)[0].1.contains("no paper"), "{found}");
    }
    let found = agent
        .structured("kontext_search", json!({"query": "x"}))
        .await;
    let told = notes(&found)[0].1;
    assert!(
        told.contains("rests") && told.contains("no paper"),
        "{told}"
    );
    assert_eq!(
        place.read("asked").lines().count(),
        3,
        "it was asked at rest"
    );
    let status = agent.structured("kontext_status", json!({})).await;
    assert_eq!(adapter(&status, "press")["status"], "active");
    let reasons = why(&status, "press");
    assert!(
        reasons.contains("`search`") && reasons.contains("rests"),
        "{reasons}"
    );
    // The rest of the adapter goes on.
    let found = agent
        .structured("kontext_code", json!({"query": "x"}))
        .await;
    assert_eq!(each(&found, "title"), ["fine"]);
    // Configured otherwise, it is tried again.
    agent.watch().await;
    let user = user.replace("exit 5", "exit 6");
    place.write_config("config.toml", &user);
    let awake = |status: &Value| !why(status, "press").contains("rests");
    agent.until("kontext_status", json!({}), awake).await;
    let found = agent
        .structured("kontext_search", json!({"query": "x"}))
        .await;
    assert!(notes(&found)[0].1.contains("exit code 6"), "{found}");
}

#[tokio::test]
async fn declared_tools_are_listed_checked_and_run() {
    let user = format!(
        "{OPEN}{}{}",
        program(
            "box",
            "",
            &[(
                "search",
                r#"["printf", "--", "%s/%s/%s", "{{query}}", "{{args.depth}}", "{{exact}}"]"#,
                "format = \"text\"",
            ),],
        ),
        r#"
[[adapters.box.tools]]
name = "box_find"
description = "Finds a box"
params = { query = "string!", depth = "integer", exact = "boolean" }
op = "search"

[[adapters.box.tools]]
name = "box put"
params = { type = "object", properties = { what = { type = "string", minLength = 3 } }, required = ["what"], additionalProperties = false }
op = { command = ["sh", "-c", 'printf "%s\n" "$1" >> put', "--", "{{what}}"] }
"#
    );
    let place = place(&user, &[]);
    let mut agent = agent(&place).await;
    let listed = agent.request("tools/list", json!({})).await;
    let tools = listed["tools"].as_array().unwrap();
    let tool = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name);
        tool.unwrap_or_else(|| panic!("no {name} in {listed}"))
    };
    let find = tool("box_find");
    assert_eq!(find["description"], "[box] Finds a box");
    assert_eq!(find["inputSchema"]["type"], "object");
    assert_eq!(
        find["inputSchema"]["properties"]["depth"],
        json!({"type": "integer"})
    );
    assert_eq!(find["inputSchema"]["required"], json!(["query"]));
    assert_eq!(
        tool("box_put")["inputSchema"]["properties"]["what"]["minLength"],
        3
    );

    let words = |result: &Value| result["content"][0]["text"].as_str().unwrap().to_owned();
    let result = agent
        .call(
            "box_find",
            json!({"query": "-x", "depth": 2, "exact": false}),
        )
        .await;
    assert_ne!(result["isError"], true, "{result}");
    assert_eq!(words(&result), "-x/2/false");
    let result = agent.call("box_find", json!({"query": "y"})).await;
    assert_eq!(words(&result), "y//");
    let result = agent.call("box_put", json!({"what": "stone"})).await;
    assert_ne!(result["isError"], true, "{result}");
    for (name, arguments, part) in [
        ("box_find", json!({}), "query"),
        ("box_find", json!({"depth": 2}), "query"),
        ("box_find", json!({"query": 7}), "query"),
        ("box_find", json!({"query": "x", "depth": "two"}), "depth"),
        ("box_put", json!({"what": "ab"}), "what"),
        ("box_put", json!({"what": "abc", "more": 1}), "more"),
    ] {
        let result = agent.call(name, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        let words = words(&result);
        assert!(words.contains(part) && words.contains("`box`"), "{words}");
    }
    let odd = json!({"name": "box_put", "arguments": ["what"]});
    let odd = agent.ask("tools/call", odd).await;
    assert!(odd.to_string().contains("arguments"), "{odd}");
    assert_eq!(place.read("put"), "stone\n", "a refused call was made");
}
