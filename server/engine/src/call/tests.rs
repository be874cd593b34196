//! Calls of ops, as far as they need no server.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use serde_json::json;

use super::*;
use crate::testing::{engine, plan};

fn inputs(value: Value) -> Inputs {
    match value {
        Value::Object(values) => values.into(),
        _ => panic!("an object"),
    }
}

#[test]
fn an_error_says_where() {
    let error = |op: Option<&str>| CallError {
        adapter: "wiki".to_owned(),
        op: op.map(str::to_owned),
        fault: Fault::refused("no"),
    };
    assert_eq!(
        error(Some("search")).to_string(),
        "adapter `wiki`, `search`: no"
    );
    assert_eq!(error(None).to_string(), "adapter `wiki`: no");
}

#[test]
fn a_tools_own_error_is_told_in_its_words() {
    assert_eq!(tool_error(&json!({"content": []})), None);
    assert_eq!(tool_error(&json!({"isError": false})), None);
    let said = |content: Value| {
        let fault = tool_error(&json!({"isError": true, "content": content})).unwrap();
        assert_eq!(fault.kind, FaultKind::ToolError);
        fault.to_string()
    };
    let words = said(
        json!([{"type": "text", "text": "no\n such "}, {"type": "image"}, {"type": "text", "text": "book"}]),
    );
    assert_eq!(words, "the tool reports: no such book");
    assert!(said(json!([])).contains("does not say"));
    assert!(said(json!(7)).contains("does not say"));
    let long = said(json!([{"text": "ž".repeat(900)}]));
    assert_eq!(long.chars().filter(|c| *c == 'ž').count(), 400);
}

#[cfg(unix)]
const SOME: &str = r#"
[adapters.c]
driver = "command"
timeout_ms = 20000
[adapters.c.ops.search]
command = ["cat"]
stdin = '[{"title":"{{query}}"},{"title":"two"}]'
[adapters.c.ops.store]
command = ["sh", "-c", "cat; printf ' %s' \"$0\"", "{{env.KEY}}"]
stdin = "{{content}}"
[adapters.c.ops.code]
command = ["sh", "-c", "printf '[{\"title\":\"kept\"}'; exit 3"]
[adapters.c.ops.history]
command = ["sh", "-c", "echo '[{\"title\":\"kept\"}]'; echo torn {{env.KEY}} >&2; exit 3"]
[adapters.c.ops.late]
command = ["sh", "-c", "sleep 60"]
timeout_ms = 50
[adapters.c.ops.much]
command = ["sh", "-c", "yes | head -c 9000000"]
[adapters.c.ops.gone]
command = ["no-such-program-here"]
[adapters.c.ops.unset]
command = ["true"]
env = { X = "{{env.NOT_SET}}" }
"#;

#[cfg(unix)]
#[tokio::test]
async fn a_program_is_asked() {
    let engine = engine(SOME);
    let asked = inputs(json!({"query": "a b", "limit": 3}));
    let (planned, outcome) = engine.call("c", "search", &asked).await.unwrap();
    let mapped = outcome.hits(&planned, &asked);
    let titles: Vec<&str> = mapped.hits.iter().map(|hit| &*hit.title).collect();
    assert_eq!(titles, ["a b", "two"]);
    assert_eq!(outcome.failure, None);
    let stored = inputs(json!({"content": "text, ž"}));
    let (_, outcome) = engine.call("c", "store", &stored).await.unwrap();
    assert_eq!(outcome.text(), "text, ž the-key-5d21");
    assert!(outcome.bindings.is_empty());
}

#[cfg(unix)]
#[tokio::test]
async fn what_goes_wrong_is_told_without_a_secret() {
    let engine = engine(SOME);
    let none = Inputs::default();
    let (planned, outcome) = engine.call("c", "history", &none).await.unwrap();
    assert_eq!(outcome.hits(&planned, &none).hits.len(), 1);
    let failure = outcome.failure.unwrap().to_string();
    assert!(
        failure.contains("torn") && !failure.contains("the-key"),
        "{failure}"
    );
    for (op, kind, part) in [
        ("late", FaultKind::TimedOut, "50 ms"),
        ("much", FaultKind::TooLarge, "8 MiB"),
        ("gone", FaultKind::Unreachable, "no-such-program-here"),
        ("unset", FaultKind::Refused, "NOT_SET"),
        ("nothing", FaultKind::Refused, "`search`"),
    ] {
        let error = engine.call("c", op, &none).await.unwrap_err();
        assert_eq!(error.fault.kind, kind, "{op}: {error}");
        assert!(error.to_string().contains(part), "{error}");
        assert!(
            error
                .to_string()
                .starts_with(&format!("adapter `c`, `{op}`: "))
        );
    }
    let error = engine.call("cc", "search", &none).await.unwrap_err();
    assert_eq!(error.fault.kind, FaultKind::Refused);
}

#[cfg(unix)]
#[tokio::test]
async fn failures_count_by_op_and_are_forgotten_with_the_configuration() {
    let engine = engine(SOME);
    let none = Inputs::default();
    for _ in 0..3 {
        // One that printed something before it failed counts as well.
        assert!(engine.call("c", "history", &none).await.is_ok());
    }
    let error = engine.call("c", "history", &none).await.unwrap_err();
    assert_eq!(error.fault.kind, FaultKind::Resting);
    assert!(!error.to_string().contains("the-key"), "{error}");
    assert!(
        engine
            .call("c", "search", &inputs(json!({"query": "x"})))
            .await
            .is_ok()
    );
    // The same once more changes nothing; another one does.
    engine.apply(plan(SOME));
    assert!(engine.call("c", "history", &none).await.is_err());
    engine.apply(plan(&SOME.replace("echo torn", "echo worn")));
    assert!(engine.call("c", "history", &none).await.is_ok());
}

#[test]
fn the_limit_of_a_call_is_that_of_its_op() {
    let plan = plan(
        "[adapters.c]\ndriver = \"command\"\ncommand = [\"true\"]\n[adapters.c.ops.a]\ntimeout_ms = 7\n[adapters.c.ops.b]\n",
    );
    let planned = plan.get("c").unwrap();
    assert_eq!(
        limit(planned, planned.op("a").unwrap()),
        Duration::from_millis(7)
    );
    assert_eq!(
        limit(planned, planned.op("b").unwrap()),
        Duration::from_secs(10)
    );
}
