//! Servers on stdio, well-behaved and not.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod child;
mod setup;

use std::path::Path;
use std::time::{Duration, Instant};

use child::{Fixture, LONG, text};
use kontext_engine::FaultKind;
use kontext_engine::driver::mcp::{CallFault, CallOptions, Server, State};
use kontext_engine::secrets::Redactor;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::mpsc;

#[tokio::test]
async fn a_call_starts_the_server_and_brings_back_all_there_is() {
    let fixture = Fixture::new("");
    assert_eq!(*fixture.server.state().borrow(), State::NotStarted);
    let result = fixture.find().await.unwrap();
    assert_eq!(text(&result), r#"{"query": "q"}"#);
    assert_eq!(result["x-own"].to_string(), "12345678901234567890");
    assert_eq!(
        fixture.find().await.unwrap()["n"],
        2,
        "one server for all calls"
    );
    let tools = fixture.server.tools();
    assert_eq!(tools.protocol, "2025-11-25");
    assert_eq!(tools.instructions.as_deref(), Some("be kind"));
    assert_eq!(tools.server_info["name"], "fixture");
    assert_eq!(fixture.names(), ["find"]);
    let seen = fixture.seen();
    let methods: Vec<&str> = seen.iter().map(|m| m["method"].as_str().unwrap()).collect();
    assert_eq!(
        methods,
        [
            "initialize",
            "notifications/initialized",
            "tools/list",
            "tools/call",
            "tools/call"
        ]
    );
    assert!(!fixture.seen_text().contains('\r') && !fixture.seen_text().contains('\u{feff}'));
}

#[tokio::test]
async fn raw_calls_travel_verbatim() {
    let fixture = Fixture::new("");
    let params = r#"{"name":"find","arguments":{"n":1.0,
        "big":123456789012345678901234567890}}"#;
    let params = RawValue::from_string(params.to_owned()).unwrap();
    let result = fixture
        .server
        .call_raw("tools/call", &params, CallOptions::default())
        .await
        .unwrap();
    assert!(result.get().contains(r#""x-own": 12345678901234567890"#));
    assert!(
        fixture
            .seen_text()
            .contains(r#"{"n":1.0,         "big":123456789012345678901234567890}"#)
    );
    let error = fixture
        .server
        .request("no/such", &json!({}), CallOptions::default())
        .await;
    let Err(CallFault::Rpc(error)) = error else {
        panic!("{error:?}")
    };
    assert_eq!(error.code, -32601);
}

#[tokio::test]
async fn an_error_comes_with_its_data_and_in_words() {
    let fixture = Fixture::new("error");
    let error = fixture.find().await.unwrap_err();
    insta::assert_snapshot!(error, @"the server answered with error -32000: no luck");
    let params = RawValue::from_string(r#"{"name":"find"}"#.to_owned()).unwrap();
    let raw = fixture
        .server
        .call_raw("tools/call", &params, CallOptions::default())
        .await;
    let Err(CallFault::Rpc(error)) = raw else {
        panic!("{raw:?}")
    };
    assert_eq!(
        error.raw.get(),
        r#"{"code": -32000, "message": "no luck", "data": {"why": ["x"]}}"#
    );
}

#[tokio::test]
async fn big_answers_arrive_whole_however_they_are_cut() {
    for chunk in ["1009", "65537", "4194305"] {
        let fixture = Fixture::with("big", LONG, &[("CHUNK", chunk)]);
        let result = fixture.find().await.unwrap();
        let items = result["structuredContent"]["results"].as_array().unwrap();
        assert_eq!(
            (items.len(), &items[0]["title"]),
            (19000, &json!("T00000")),
            "{chunk}"
        );
        assert_eq!(items[18999]["title"], "T18999");
    }
}

#[tokio::test]
async fn a_line_without_end_is_given_up_at_the_limit() {
    let fixture = Fixture::new("endless");
    fixture.ready().await;
    let error = fixture.find().await.unwrap_err();
    assert_eq!(error.kind, FaultKind::TooLarge);
    insta::assert_snapshot!(error, @"the server sent a message of more than 32 MiB, which is the most that is read");
    child::wait_gone(&fixture.pids());
}

#[tokio::test]
async fn an_answer_above_the_limit_of_an_output_says_so() {
    let fixture = Fixture::new("over_8");
    let error = fixture.find().await.unwrap_err();
    assert_eq!(error.kind, FaultKind::TooLarge);
    assert!(error.message().contains("8 MiB"), "{error}");
}

#[tokio::test]
async fn half_a_surrogate_pair_costs_one_character() {
    let fixture = Fixture::new("cut_text");
    assert_eq!(text(&fixture.find().await.unwrap()), "cut \u{fffd}");
}

#[tokio::test]
async fn marks_carriage_returns_and_foreign_bytes_do_no_harm() {
    let fixture = Fixture::new("windows");
    fixture.ready().await;
    let instructions = fixture.server.tools().instructions.clone();
    assert_eq!(instructions.as_deref(), Some("caf\u{fffd} \u{fffd}"));
}

#[tokio::test]
async fn what_is_no_message_is_logged_and_skipped() {
    let fixture = Fixture::new("chatty");
    fixture.find().await.unwrap();
    assert!(
        fixture
            .log()
            .contains("Listening on stdio\n{\"level\":\"info\",\"id\":1}\n17\n")
    );
}

#[tokio::test]
async fn a_flood_on_stderr_holds_nothing_up_and_stays_bounded() {
    let fixture = Fixture::new("flood");
    fixture.find().await.unwrap();
    while !fixture.log().contains("noise 19999 ") {
        tokio::task::yield_now().await;
    }
    let log = fixture.server.log();
    assert!(log.dropped() > 10_000);
    let bytes: usize = log.lines().iter().map(|line| line.text.len()).sum();
    assert!(bytes <= kontext_engine::driver::mcp::MOST_KEPT);
}

#[tokio::test]
async fn a_slow_start_goes_on_and_delays_nobody_else() {
    let slow = Fixture::with("slow", Duration::from_millis(100), &[]);
    let error = slow.find().await.unwrap_err();
    assert_eq!(error.kind, FaultKind::Starting);
    assert!(error.message().contains("still starting"), "{error}");
    Fixture::new("").find().await.unwrap();
    assert_eq!(*slow.server.state().borrow(), State::Starting);
    let mut tools = slow.server.subscribe_tools();
    slow.go();
    tokio::time::timeout(LONG, tools.changed())
        .await
        .unwrap()
        .unwrap();
    slow.ready().await;
    slow.call("find", json!({})).await.unwrap();
    assert_eq!(slow.pids().len(), 1, "one start");
}

#[tokio::test]
async fn all_pages_are_read_and_cursors_come_back_as_they_were() {
    let fixture = Fixture::new("pages");
    fixture.ready().await;
    assert_eq!(fixture.names(), ["a1", "a2", "b1", "find"]);
    assert_eq!(fixture.server.tools().notes, [""; 0]);
}

#[tokio::test]
async fn a_list_that_does_not_end_is_ended() {
    let stuck = Fixture::new("stuck");
    stuck.ready().await;
    assert_eq!(stuck.names(), ["a1", "a2"]);
    assert_eq!(stuck.seen_of("tools/list").len(), 2);
    let notes = stuck.server.tools().notes.join("\n");
    assert!(
        notes.starts_with(
            "the list of tools does not end: page 2 gives a `nextCursor` that came before"
        ),
        "{notes}"
    );
    let endless = Fixture::new("endless_pages");
    endless.ready().await;
    assert!(
        endless
            .server
            .tools()
            .notes
            .join("\n")
            .contains("does not end")
    );
}

#[tokio::test]
async fn ten_thousand_tools_are_many_but_fine() {
    let fixture = Fixture::new("many");
    fixture.ready().await;
    assert_eq!(fixture.server.tools().tools.len(), 10_000);
}

#[tokio::test]
async fn a_malformed_tool_hides_no_other() {
    let fixture = Fixture::new("malformed");
    fixture.ready().await;
    assert_eq!(fixture.names(), ["bare", "find"]);
    let tools = fixture.server.tools();
    assert_eq!(tools.get("find").unwrap()["x-own"], json!({"n": 1}));
    assert_eq!(
        tools.get("bare").unwrap()["inputSchema"],
        json!({"type": "object"})
    );
    let notes: Vec<String> = tools
        .notes
        .iter()
        .map(|note| note.chars().take(60).collect())
        .collect();
    insta::assert_snapshot!(notes.join("\n"), @r#"
    a tool was left out, it has no name: 17
    a tool was left out, it has no name: {"description": "no nam
    the tool `bad` was left out, its `inputSchema` is not an obj
    a tool was left out, it cannot be read: {"name": "deep", "x"
    the tool `bare` has no `inputSchema`; any arguments are assu
    the tool `find` is listed more than once; the first one coun
    "#);
}

#[tokio::test]
async fn a_list_that_fails_leaves_the_server_usable() {
    let fixture = Fixture::new("no_list");
    fixture.find().await.unwrap();
    insta::assert_snapshot!(fixture.server.tools().notes.join("\n"), @"the tools could not be listed: the server answered with error -32603: list is broken");
}

#[tokio::test]
async fn a_burst_of_changes_is_one_refresh() {
    let fixture = Fixture::new("changing");
    fixture.ready().await;
    assert_eq!(fixture.names(), ["find"]);
    let mut tools = fixture.server.subscribe_tools();
    fixture.find().await.unwrap();
    tokio::time::timeout(LONG, tools.changed())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(fixture.names(), ["late"]);
    assert_eq!(
        fixture.server.tools().instructions.as_deref(),
        Some("be kind")
    );
    // A call goes there and back: a second refresh would have been asked for before it.
    fixture
        .server
        .request("no/such", &json!({}), CallOptions::default())
        .await
        .unwrap_err();
    assert_eq!(fixture.seen_of("tools/list").len(), 2);
}

#[tokio::test]
async fn ids_as_texts_are_ours_too() {
    Fixture::new("string_id").find().await.unwrap();
}

#[tokio::test]
async fn a_server_that_cannot_tell_calls_apart_is_told_so_at_once() {
    let fixture = Fixture::new("zero_id");
    let error = fixture.find().await.unwrap_err();
    assert!(
        error
            .message()
            .contains("answer with id 0, which matches no call"),
        "{error}"
    );
    child::wait_gone(&fixture.pids());
}

#[tokio::test]
async fn an_answer_under_a_foreign_id_reaches_no_call() {
    let fixture = Fixture::with("zero_later", Duration::from_millis(300), &[]);
    fixture.server.ready(LONG).await.unwrap();
    let (one, two) = tokio::join!(fixture.find(), fixture.find());
    for error in [one.unwrap_err(), two.unwrap_err()] {
        assert_eq!(error.kind, FaultKind::TimedOut);
        assert_eq!(
            error.message(),
            "no answer within 300 ms; the server sent an answer with id 0, which matches no call"
        );
    }
}

#[tokio::test]
async fn an_error_without_an_id_belongs_to_the_only_call() {
    let error = Fixture::new("null_id").find().await.unwrap_err();
    assert!(error.message().contains("boom in tool"), "{error}");
}

#[tokio::test]
async fn a_late_answer_is_ignored_and_nothing_is_sent_twice() {
    let fixture = Fixture::new("late");
    fixture.ready().await;
    let mut messages = fixture.server.messages();
    let start = Instant::now();
    let options = CallOptions {
        timeout: Some(Duration::from_millis(300)),
        ..CallOptions::default()
    };
    let call = fixture
        .server
        .call_tool("find", serde_json::Map::new(), options);
    let error = call.await.unwrap_err();
    assert!(start.elapsed() >= Duration::from_millis(280));
    assert_eq!(
        error.message(),
        "no answer within 300 ms; raise `timeout_ms` if it needs longer"
    );
    assert_eq!(text(&fixture.find().await.unwrap()), "answer 2");
    fixture.go();
    tokio::time::timeout(LONG, messages.recv())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(text(&fixture.find().await.unwrap()), "answer 3");
    let calls = fixture.seen_of("tools/call");
    assert_eq!(calls.len(), 3);
    let cancelled = fixture.seen_of("notifications/cancelled");
    assert_eq!(cancelled.len(), 1);
    assert_eq!(cancelled[0]["params"]["requestId"], calls[0]["id"]);
    assert_eq!(cancelled[0]["params"]["reason"], "no answer in time");
    assert!(
        fixture
            .log()
            .contains("came after its call had been given up")
    );
}

#[tokio::test]
async fn a_dropped_call_is_cancelled() {
    let fixture = Fixture::new("silent");
    fixture.ready().await;
    let (progress, mut events) = mpsc::unbounded_channel();
    let options = CallOptions {
        progress: Some(progress),
        ..CallOptions::default()
    };
    let mut call = Box::pin(
        fixture
            .server
            .call_tool("find", serde_json::Map::new(), options),
    );
    // Polled once, the request is out.
    assert!(
        futures_util::future::poll_immediate(&mut call)
            .await
            .is_none()
    );
    drop(call);
    assert!(
        events.recv().await.is_none(),
        "nobody waits for progress any more"
    );
    // What comes after it is answered, so it has been read.
    fixture
        .server
        .request("no/such", &json!({}), CallOptions::default())
        .await
        .unwrap_err();
    let cancelled = fixture.seen_of("notifications/cancelled");
    assert_eq!(
        cancelled[0]["params"]["requestId"],
        fixture.seen_of("tools/call")[0]["id"]
    );
}

#[tokio::test]
async fn progress_and_messages_reach_who_asked() {
    let fixture = Fixture::new("progress");
    let mut messages = fixture.server.messages();
    let (progress, mut events) = mpsc::unbounded_channel();
    let options = CallOptions {
        progress: Some(progress),
        meta: serde_json::from_value(json!({"own": 1})).unwrap(),
        ..CallOptions::default()
    };
    fixture
        .server
        .call_tool("find", serde_json::Map::new(), options)
        .await
        .unwrap();
    let first = events.recv().await.unwrap();
    assert_eq!(
        (&first["progress"], &first["x"]),
        (&json!(1), &json!("own"))
    );
    assert!(events.recv().await.is_none(), "progress of another call");
    assert_eq!(messages.recv().await.unwrap()["data"], "hello");
    assert_eq!(
        fixture.seen_of("tools/call")[0]["params"]["_meta"]["own"],
        1
    );
}

#[tokio::test]
async fn the_servers_own_requests_are_answered_or_declined() {
    let fixture = Fixture::new("asks");
    fixture.find().await.unwrap();
    let seen = fixture.seen();
    let answer = |id: &str| seen.iter().find(|m| m["id"] == id).unwrap().clone();
    assert_eq!(answer("s-ping")["result"], json!({}));
    let root = &answer("s-roots/list")["result"]["roots"][0];
    let path = fixture.folder.path().to_string_lossy().into_owned();
    assert_eq!(root["uri"], format!("file://{path}/my%20repo"));
    assert_eq!(root["name"], "my repo");
    assert_eq!(answer("s-sampling/createMessage")["error"]["code"], -32601);
    assert_eq!(answer("s-elicitation/create")["error"]["code"], -32601);
}

#[tokio::test]
async fn a_batch_is_read_message_by_message() {
    let fixture = Fixture::new("batch");
    let mut messages = fixture.server.messages();
    assert_eq!(text(&fixture.find().await.unwrap()), "batched");
    assert_eq!(messages.recv().await.unwrap()["data"], "in batch");
}

#[tokio::test]
async fn older_versions_are_spoken_and_unknown_ones_named() {
    for (mode, version) in [
        ("old", "2024-11-05"),
        ("no_version", "2024-11-05"),
        ("older_list", "2025-03-26"),
        ("modern", "2026-07-28"),
        ("modern_quiet", "2026-07-28"),
        ("modern_bare", "2026-07-28"),
    ] {
        let fixture = Fixture::new(mode);
        fixture.find().await.unwrap();
        assert_eq!(fixture.server.tools().protocol, version, "{mode}");
    }
    // Nobody waits for the limit of a start, which is longer than this test may take.
    for (mode, name) in [
        ("future", "2099-01-01"),
        ("odd_version", "protocol 7"),
        ("foreign_list", "2031-01-01"),
    ] {
        let fixture = Fixture::with(mode, 10 * LONG, &[]);
        let found = tokio::time::timeout(LONG, fixture.find()).await;
        let error = found.unwrap().unwrap_err();
        assert!(error.message().contains(name), "{error}");
        child::wait_gone(&fixture.pids());
    }
}

#[tokio::test]
async fn in_the_newest_protocol_every_request_says_what_it_needs() {
    let fixture = Fixture::new("modern");
    fixture.find().await.unwrap();
    let tools = fixture.server.tools();
    assert_eq!(tools.server_info["version"], "2");
    let call = &fixture.seen_of("tools/call")[0]["params"];
    assert_eq!(call["arguments"], json!({"query": "q"}));
    let meta = &call["_meta"];
    assert_eq!(
        meta["io.modelcontextprotocol/protocolVersion"],
        "2026-07-28"
    );
    assert_eq!(
        meta["io.modelcontextprotocol/clientInfo"]["name"],
        "kontext-ls"
    );
    assert_eq!(
        meta["io.modelcontextprotocol/clientCapabilities"],
        json!({"roots": {}})
    );
    assert_eq!(
        fixture.seen_of("notifications/initialized"),
        [json!(null); 0]
    );
    let listen = fixture.seen_of("subscriptions/listen");
    assert_eq!(
        listen[0]["params"]["notifications"],
        json!({"toolsListChanged": true})
    );
}

#[tokio::test]
async fn a_modern_tool_may_ask_for_roots_and_for_nothing_else() {
    let fixture = Fixture::new("modern_input");
    let result = fixture.find().await.unwrap();
    let got: Value = serde_json::from_str(text(&result)).unwrap();
    assert_eq!(got[0]["r"]["roots"][0]["name"], "my repo");
    assert_eq!(got[1], "s1");
    let error = fixture
        .call("find", json!({"ask": "elicitation/create"}))
        .await
        .unwrap_err();
    insta::assert_snapshot!(error, @"the tool asks for input (`elicitation/create`), which is not supported");
}

#[tokio::test]
async fn after_a_crash_the_next_call_works() {
    let fixture = Fixture::new("crash");
    let error = fixture.find().await.unwrap_err();
    assert_eq!(error.kind, FaultKind::Unreachable);
    insta::assert_snapshot!(error, @"the server ended (exit code 3); the last line of its stderr: out of cheese");
    fixture.find().await.unwrap();
    assert_eq!(fixture.pids().len(), 2);
}

#[tokio::test]
async fn an_answer_no_parser_would_read_is_not_handed_on() {
    for mode in ["deep", "deep_error"] {
        let fixture = Fixture::new(mode);
        let params = serde_json::value::to_raw_value(&json!({"name": "find"})).unwrap();
        let call = fixture
            .server
            .call_raw("tools/call", &params, CallOptions::default());
        let CallFault::Fault(error) = call.await.unwrap_err() else {
            panic!("{mode}: handed on");
        };
        assert_eq!(error.kind, FaultKind::Malformed, "{mode}");
        assert!(error.message().contains("nested more than 126"), "{error}");
    }
}

#[tokio::test]
async fn one_that_reads_no_more_is_started_again() {
    let fixture = Fixture::new("deaf");
    assert_eq!(text(&fixture.find().await.unwrap()), "the last");
    let error = fixture.find().await.unwrap_err();
    assert_eq!(error.kind, FaultKind::Unreachable);
    insta::assert_snapshot!(error, @"the server closed its standard input");
    fixture.find().await.unwrap();
    assert_eq!(fixture.pids().len(), 2);
    child::wait_gone(&fixture.pids()[..1]);
}

#[tokio::test]
async fn one_that_crashes_again_and_again_rests() {
    let fixture = Fixture::new("crash_always");
    let mut tries = 0;
    // The rests double, so that one of them is noticed on a machine however slow.
    let error = loop {
        let error = fixture.find().await.unwrap_err();
        assert!(error.message().contains("killed by signal 9"), "{error}");
        if error.kind == FaultKind::Resting {
            break error;
        }
        tries += 1;
        assert!(tries < 8, "{error}");
    };
    assert!(tries >= 2, "the first failure costs nothing");
    assert!(error.message().contains("is started again in"), "{error}");
    assert!(matches!(
        *fixture.server.state().borrow(),
        State::Resting { .. }
    ));
    fixture.server.restart().await;
    fixture.ready().await;
}

#[tokio::test]
async fn one_that_cannot_start_says_why() {
    let text = "[adapters.a]\ndriver = \"mcp\"\ncommand = [\"x\", \"{{env.TOKEN}}\"]\n[adapters.a.ops.search]\ntool = \"find\"\n";
    let (adapter, ctx) = setup::adapter_in(text, &[("TOKEN", "s3cret-value")], Path::new("/repo"));
    let mut dies = Fixture::new("dies");
    let mut spec = dies.server.spec().clone();
    spec.redactor = Redactor::new(&adapter, &ctx);
    dies.server = Server::new(spec);
    let error = dies.find().await.unwrap_err();
    insta::assert_snapshot!(error, @"the server ended (exit code 4); the last line of its stderr: token ‹env.TOKEN› refused");
    assert!(!dies.log().contains("s3cret"));
    assert!(
        matches!(dies.server.state().borrow().clone(), State::Failing { reason } if reason.contains("exit code 4"))
    );
    let argv = vec!["no-such-program-here".to_owned()];
    let missing = Fixture::running(argv, "", LONG, &[]);
    let error = missing.find().await.unwrap_err();
    assert!(
        error
            .message()
            .contains("`no-such-program-here` was not found"),
        "{error}"
    );
}

#[tokio::test]
async fn stopping_ends_the_server_and_what_it_started() {
    let fixture = Fixture::new("launcher");
    fixture.find().await.unwrap();
    assert_eq!(fixture.pids().len(), 1, "the launcher names none");
    let stop = fixture.server.stop();
    tokio::time::timeout(LONG, stop).await.unwrap();
    child::wait_gone(&fixture.pids());
    assert_eq!(*fixture.server.state().borrow(), State::Stopped);
    let error = fixture.find().await.unwrap_err();
    assert!(error.message().contains("was stopped"), "{error}");
    fixture.server.start();
    fixture.find().await.unwrap();
}

#[tokio::test]
async fn a_call_in_flight_ends_when_the_server_is_stopped() {
    let fixture = Fixture::new("silent");
    fixture.ready().await;
    let (call, ()) = tokio::join!(fixture.find(), fixture.server.stop());
    assert_eq!(call.unwrap_err().message(), "the server was stopped");
}

#[tokio::test]
async fn dropping_the_last_handle_ends_the_server() {
    let fixture = Fixture::new("stubborn");
    fixture.find().await.unwrap();
    let (pids, other) = (fixture.pids(), fixture.server.clone());
    let mut state = other.state();
    drop((fixture, other));
    tokio::time::timeout(LONG, state.wait_for(|state| *state == State::Stopped))
        .await
        .unwrap()
        .ok();
    tokio::task::spawn_blocking(move || child::wait_gone(&pids))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_at_once_each_get_their_own_answer() {
    let fixture = Fixture::new("");
    fixture.ready().await;
    let calls = (0..500).map(|n| {
        let fixture = &fixture;
        async move {
            let result = fixture
                .call("find", json!({"n": n, "pad": "x".repeat(2000)}))
                .await
                .unwrap();
            let got: Value = serde_json::from_str(text(&result)).unwrap();
            assert_eq!(got["n"], n);
        }
    });
    futures_util::future::join_all(calls).await;
}
