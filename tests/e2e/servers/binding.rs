//! Which arguments a tool gets: what its schema says decides, however odd it is.

use serde_json::{Value, json};

use super::{adapter, agent, mentions, offered, place};
use crate::harness::{Fixture, McpClient};

/// A server that echoes its arguments, with these tools; each op calls the tool named beside it.
fn echo(tools: &Value, ops: &[(&str, &str)], more: &str) -> Fixture {
    let mut config = adapter("fake", more);
    for (op, tool) in ops {
        config += &format!("[adapters.fake.ops.{op}]\ntool = \"{tool}\"\n");
    }
    let place = place(&[("fake", "Own = Echo")], &config);
    place.write("tools.json", &tools.to_string());
    place
}

/// What an op sent, else why it sent nothing; and what was said besides.
async fn sent(agent: &mut McpClient, op: &str) -> (Result<Value, String>, String) {
    let inputs = json!({"query": "auth flow", "limit": 5});
    let call = json!({"adapter": "fake", "op": op, "inputs": inputs});
    let result = agent.call("kontext_call", call).await;
    let structured = &result["structuredContent"];
    if result["isError"] == true {
        let words = super::text_of(&result);
        mentions(words, &["fake", op]);
        return (Err(words.to_owned()), String::new());
    }
    let payload: Value =
        serde_json::from_str(structured["texts"][0]["text"].as_str().unwrap()).unwrap();
    let got = payload["results"][0]["summary"].as_str().unwrap();
    let got = serde_json::from_str(got).unwrap();
    (Ok(got), structured["notes"].to_string())
}

#[tokio::test]
async fn a_type_may_be_one_of_several_and_null_is_not_sent() {
    let tools = json!([{"name": "find", "inputSchema": {
        "type": "object",
        "properties": {
            "query": {"type": ["string", "null"]},
            "limit": {"type": ["null", "integer"], "default": null},
            "project_path": {"type": ["string", "null"]},
            "verbose": {"type": ["boolean", "null"], "default": null},
        },
        "required": ["query"],
    }}]);
    let place = echo(&tools, &[("search", "find")], "");
    let mut agent = agent(&place).await;
    let root = place.path("").canonicalize().unwrap();
    let wanted = json!({"query": "auth flow", "limit": 5, "project_path": root});
    assert_eq!(sent(&mut agent, "search").await.0, Ok(wanted));
}

#[tokio::test]
async fn references_are_followed_as_far_as_they_lead() {
    let tools = json!([
        {"name": "wrapped", "inputSchema": {
            "$defs": {"Q": {
                "type": "object",
                "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
                "required": ["query"],
            }},
            "type": "object",
            "properties": {"query_model": {"$ref": "#/$defs/Q"}},
            "required": ["query_model"],
        }},
        {"name": "scalar", "inputSchema": {
            "definitions": {"S": {"type": "string"}, "N": {"type": "integer"}},
            "type": "object",
            "properties": {
                "q": {"$ref": "#/definitions/S"},
                "limit": {"$ref": "#/definitions/N"},
            },
            "required": ["q"],
        }},
        {"name": "loop", "inputSchema": {
            "$defs": {"L": {"$ref": "#/$defs/L"}},
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "x": {"$ref": "#/$defs/L"},
                "y": {"$ref": "#/nowhere"},
                // Nobody listens there: whoever fetches it fails.
                "z": {"$ref": "http://127.0.0.1:9/remote.json"},
            },
            "required": ["query"],
        }},
    ]);
    let ops = [("search", "wrapped"), ("code", "scalar"), ("llm", "loop")];
    let place = echo(&tools, &ops, "");
    let mut agent = agent(&place).await;
    match sent(&mut agent, "search").await.0 {
        Ok(sent) => assert_eq!(sent["query_model"]["query"], "auth flow", "{sent}"),
        Err(words) => mentions(&words, &["query_model", "object", "args"]),
    }
    let wanted = json!({"q": "auth flow", "limit": 5});
    assert_eq!(sent(&mut agent, "code").await.0, Ok(wanted));
    let call = json!({"adapter": "fake", "op": "llm", "inputs": {"prompt": "auth flow"}});
    let said = agent.structured("kontext_call", call).await.to_string();
    assert!(
        said.contains(r#"{\\\"query\\\": \\\"auth flow\\\"}"#),
        "{said}"
    );
}

#[tokio::test]
async fn true_and_false_are_schemas_too() {
    let tools = json!([
        {"name": "find", "inputSchema": {
            "type": "object",
            "properties": {"query": {"type": "string"}, "raw": true, "legacy": false, "limit": {}},
            "required": ["query"],
            "additionalProperties": false,
        }},
        {"name": "plain", "inputSchema": {
            "type": "object", "properties": {"text": {"type": "string"}},
        }},
    ]);
    let ops = [("search", "find"), ("code", "plain")];
    let place = echo(&tools, &ops, "expose = \"all\"");
    let mut agent = agent(&place).await;
    let found = sent(&mut agent, "search").await.0.unwrap();
    let possible = [
        json!({"query": "auth flow"}),
        json!({"query": "auth flow", "limit": 5}),
    ];
    assert!(possible.contains(&found), "{found}");
    let wanted = json!({"text": "auth flow"});
    assert_eq!(sent(&mut agent, "code").await.0, Ok(wanted));
    let listed = agent.request("tools/list", json!({})).await;
    for tool in tools.as_array().unwrap() {
        let name = format!("fake_{}", tool["name"].as_str().unwrap());
        let all = listed["tools"].as_array().unwrap();
        let published = all.iter().find(|one| one["name"] == name).unwrap();
        assert_eq!(published["inputSchema"], tool["inputSchema"]);
    }
}

#[tokio::test]
async fn tools_without_parameters_are_tools() {
    let tools = json!([
        {"name": "none"},
        {"name": "marker", "inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#"}},
        {"name": "bare", "inputSchema": {"type": "object"}},
        {"name": "nul", "inputSchema": null},
        {"name": "find", "inputSchema": {
            "type": "object", "properties": {"query": {"type": "string"}},
        }},
    ]);
    let ops = [
        ("search", "none"),
        ("code", "bare"),
        ("history", "nul"),
        ("brief", "find"),
    ];
    let place = echo(&tools, &ops, "expose = \"all\"");
    let mut agent = agent(&place).await;
    for (op, tool) in &ops[..3] {
        match sent(&mut agent, op).await {
            (Ok(got), notes) => {
                assert!(got.is_null() || got == json!({}), "{got}");
                mentions(&notes, &[tool, "cannot be passed"]);
            }
            (Err(words), _) => mentions(&words, &[tool]),
        }
    }
    let wanted = json!({"query": "auth flow"});
    assert_eq!(sent(&mut agent, "brief").await.0, Ok(wanted));
    let listed = agent.tools().await;
    let all = [
        "fake_none",
        "fake_marker",
        "fake_bare",
        "fake_nul",
        "fake_find",
    ];
    assert_eq!(offered(&listed), all);
    let listed = agent.request("tools/list", json!({})).await;
    for tool in listed["tools"].as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
    }
    let called = agent.call("fake_bare", json!({})).await;
    assert_eq!(called["structuredContent"]["results"][0]["summary"], "{}");
}

#[tokio::test]
async fn a_query_is_put_into_no_parameter_that_takes_only_certain_values() {
    let tools = json!([
        {"name": "find", "inputSchema": {
            "type": "object",
            "properties": {
                "q": {"description": "any"},
                "scope": {"type": "string", "enum": ["code", "issues"]},
            },
            "required": ["q", "scope"],
        }},
        {"name": "filled", "inputSchema": {
            "type": "object",
            "properties": {
                "q": {"type": "string"},
                "scope": {"type": "string", "enum": ["code", "issues"], "default": "code"},
                "mode": {"const": "fast"},
                "tenant": {"type": "string", "pattern": "^[a-z]{2}-[0-9]+$"},
            },
            "required": ["q", "scope", "mode"],
        }},
        {"name": "untyped", "inputSchema": {
            "type": "object", "properties": {"q": {}}, "required": ["q"],
        }},
    ]);
    let ops = [("search", "find"), ("code", "filled"), ("brief", "untyped")];
    let place = echo(&tools, &ops, "");
    let mut agent = agent(&place).await;
    let refused = sent(&mut agent, "search").await.0.unwrap_err();
    mentions(&refused, &["scope", "code", "issues", "args"]);
    let called = super::seen_of(&place, "fake", "tools/call");
    assert_eq!(called, Vec::<Value>::new(), "it is refused before the call");
    let wanted = json!({"q": "auth flow", "scope": "code", "mode": "fast"});
    assert_eq!(sent(&mut agent, "code").await.0, Ok(wanted));
    let wanted = json!({"q": "auth flow"});
    assert_eq!(sent(&mut agent, "brief").await.0, Ok(wanted));
}
