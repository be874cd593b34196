//! Calls of published tools, as far as they need no server.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use super::*;
use crate::testing::{engine, plan};

#[test]
fn what_belongs_to_a_connection_is_not_passed_on() {
    let meta = json!({
        "progressToken": 7, "io.modelcontextprotocol/clientInfo": {}, "acme/trace": "t", "x": 1,
    });
    let Value::Object(meta) = meta else {
        panic!("an object")
    };
    assert_eq!(
        Value::Object(passed_on(meta)),
        json!({"acme/trace": "t", "x": 1})
    );
}

#[cfg(unix)]
const ECHO: &str = r#"
[adapters.e]
driver = "command"
[adapters.e.ops.say]
command = ["printf", "--", "%s/%s", "{{word}}", "{{args.times}}"]
[[adapters.e.tools]]
name = "e_say"
params = { word = "string!", times = "integer" }
op = "say"
[[adapters.e.tools]]
name = "e_lost"
op = { command = ["sh", "-c", "echo {{env.KEY}}; echo gone {{env.KEY}} >&2; exit 7"] }
"#;

#[cfg(unix)]
#[tokio::test]
async fn a_declared_tool_is_checked_and_answers_with_a_text() {
    let engine = engine(ECHO);
    let catalogue = engine.catalogue();
    let say = catalogue.get("e_say").unwrap();
    let call = async |arguments| engine.call_published(say, arguments, None, None).await;
    let result = call(Some(json!({"word": "-a{{env.KEY}}", "times": 2})))
        .await
        .unwrap();
    assert_eq!(
        result.get(),
        r#"{"content":[{"type":"text","text":"-a{{env.KEY}}/2"}]}"#
    );
    for (arguments, part) in [
        (None, "word"),
        (Some(json!({})), "word"),
        (Some(json!({"*": true})), "word"),
        (Some(Value::Null), "word"),
        (Some(json!({"word": "x", "times": 1.5})), "times"),
        (Some(json!({"word": ["x"]})), "word"),
        (Some(json!("x")), "`arguments`"),
    ] {
        let Err(RawFault::Call(error)) = call(arguments).await else {
            panic!("{part} was taken");
        };
        assert_eq!(error.fault.kind, crate::FaultKind::Refused);
        assert!(error.to_string().contains(part), "{error}");
    }
    // It is not there any more, however long the agent remembers it.
    engine.apply(plan(
        &ECHO.replace("[adapters.e]\n", "[adapters.e]\nenabled = false\n"),
    ));
    let Err(RawFault::Call(error)) = call(Some(json!({"word": "x"}))).await else {
        panic!("it was called");
    };
    assert!(error.to_string().contains("disabled"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_declared_tool_that_keeps_failing_rests_as_an_op_does() {
    let engine = engine(ECHO);
    let catalogue = engine.catalogue();
    let lost = catalogue.get("e_lost").unwrap();
    for _ in 0..3 {
        let called = engine.call_published(lost, None, None, None).await;
        let Err(RawFault::Call(error)) = called else {
            panic!("it did not fail");
        };
        let words = error.to_string();
        assert!(
            words.contains("exit code 7: gone") && !words.contains("the-key"),
            "{words}"
        );
    }
    let called = engine.call_published(lost, None, None, None).await;
    let Err(RawFault::Call(error)) = called else {
        panic!("it was called");
    };
    assert_eq!(error.fault.kind, crate::FaultKind::Resting);
    assert_eq!(engine.resting("e").len(), 1);
}

#[tokio::test]
async fn only_a_server_can_be_started() {
    let engine = engine(
        "[adapters.c]\ndriver = \"command\"\ncommand = [\"true\"]\n[adapters.m]\ndriver = \"mcp\"\ncommand = [\"{{env.NOT_SET}}\"]\n",
    );
    insta::assert_snapshot!(engine.spawn("c").await.unwrap_err(), @"adapter `c`: it has no server: only the driver mcp starts one");
    insta::assert_snapshot!(engine.spawn("x").await.unwrap_err(), @"adapter `x`: there is no adapter `x`; there are `c`, `m`");
    insta::assert_snapshot!(engine.spawn("m").await.unwrap_err(), @"adapter `m`: the command's first element, the program, is empty");
    engine.stop().await;
    let error = engine.spawn("m").await.unwrap_err();
    assert!(!error.to_string().is_empty());
}
