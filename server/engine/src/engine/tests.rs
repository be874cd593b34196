//! What a change of the plan does to a server that runs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use crate::testing::{engine, plan};

/// An adapter whose server says its process in each answer's log; `more` are further fields.
fn text(pids: &std::path::Path, more: &str) -> String {
    let child = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/child.py");
    format!(
        "[adapters.s]\ndriver = \"mcp\"\nexpose = \"all\"\ncommand = [\"python3\", {child:?}]\nenv = {{ PIDS = {pids:?} }}\n{more}\n"
    )
}

#[cfg(unix)]
#[tokio::test]
async fn what_a_start_takes_is_no_part_of_the_limit_of_a_call() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = text(&folder.path().join("pids"), "timeout_ms = 3000");
    config = config.replace("env = { ", "env = { MODE = \"silent\", ");
    config.push_str("[adapters.s.ops.search]\ntool = \"find\"\n");
    let engine = engine(&config);
    let inputs = crate::inputs::Inputs::default();
    let called = engine.call("s", "search", &inputs).await;
    let error = called.unwrap_err().to_string();
    assert!(error.contains("no answer within 3000 ms"), "{error}");
    engine.stop().await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_limit_leaves_the_server_alone_and_a_new_command_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let starts = || {
        std::fs::read_to_string(&pids)
            .unwrap_or_default()
            .lines()
            .count()
    };
    let engine = engine(&text(&pids, "timeout_ms = 20000"));
    let name = "s_find";
    assert!(
        engine.awaited_tool(name).await.is_some(),
        "{:?}",
        engine.catalogue()
    );
    engine.apply(plan(&text(&pids, "timeout_ms = 30000")));
    assert!(
        engine.catalogue().get(name).is_some(),
        "it vanished for a limit"
    );
    assert_eq!(starts(), 1);
    // While an agent waits for a tool, the server is replaced: the new one is started for it.
    engine.apply(plan(&text(&pids, "args = [\"one\"]\ntimeout_ms = 30000")));
    let (found, ()) = tokio::join!(engine.awaited_tool(name), async {
        engine.apply(plan(&text(&pids, "args = [\"two\"]\ntimeout_ms = 30000")));
    });
    assert!(found.is_some());
    engine.stop().await;
}
