//! The tools that reach adapters, with adapters that are programs: what is said reads well, and
//! what is structured fits the schema that was announced.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use serde_json::{Value, json};

use super::*;
use crate::testing::{Client, Studio, call, request};

const OPEN: Gates = Gates {
    write: true,
    external: true,
};

const LIBRARY: &str = r#"
[adapters.library]
driver = "command"
description = "The library"
[adapters.library.ops.search]
command = ["printf", '[{"title":"Rails","snippet":"On gauges","uri":"lib://1","kind":"book","date":"2026-01-02"},{"title":"Same","snippet":"Same"}]']
[adapters.library.ops.read]
command = ["printf", "--", "the text of %s\n", "{{uri}}"]
owns = ["lib://"]
[adapters.library.ops.store]
command = ["cat"]
stdin = "kept {{content}}"
[adapters.library.ops.brief]
command = ["printf", "open today"]
[adapters.library.ops.long]
command = ["sh", "-c", "yes ž | head -c 900000"]

[adapters.library.ops.lines]
command = ["sh", "-c", "yes '' | head -c 100000; printf '%s' end; yes '\"' | head -c 100000"]

[adapters.annex]
driver = "command"
[adapters.annex.ops.search]
command = ["sh", "-c", "echo closed >&2; exit 1"]
[adapters.annex.ops.brief]
command = ["printf", "dark"]

[adapters.child]
driver = "mcp"
command = ["no-such-server-here"]
timeout_ms = 2000
[adapters.child.ops.code]
tool = "find"
"#;

struct Session {
    client: Client,
    schemas: Value,
    id: i64,
}

impl Session {
    async fn new(gates: Gates) -> Self {
        let mut client = Client::new(Studio::at_work(LIBRARY, gates), TOOLS);
        client.initialize("2025-11-25").await;
        let listed = client.ask(request(1, "tools/list", json!({}))).await;
        Self {
            client,
            schemas: listed["result"]["tools"].clone(),
            id: 1,
        }
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.id += 1;
        let mut answer = self.client.ask(call(self.id, tool, arguments)).await;
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].take()
    }

    /// A call that succeeds: its text, and what is structured, which fits the announced schema.
    async fn answer(&mut self, tool: &str, arguments: Value) -> (String, Value) {
        let mut result = self.call(tool, arguments).await;
        assert_ne!(result["isError"], true, "{result}");
        let structured = result["structuredContent"].take();
        let tools = self.schemas.as_array().unwrap();
        let listed = tools.iter().find(|listed| listed["name"] == tool).unwrap();
        let schema = jsonschema::validator_for(&listed["outputSchema"]).unwrap();
        if let Err(error) = schema.validate(&structured) {
            panic!("{tool}: {error}: {structured}");
        }
        let text = result["content"][0]["text"].as_str().unwrap();
        (text.to_owned(), structured)
    }

    async fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        assert!(result.get("structuredContent").is_none(), "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }
}

#[tokio::test]
async fn every_schema_is_one() {
    let session = Session::new(OPEN).await;
    for tool in session.schemas.as_array().unwrap() {
        for side in ["inputSchema", "outputSchema"] {
            assert!(jsonschema::meta::is_valid(&tool[side]), "{tool}");
            assert_eq!(tool[side]["type"], "object");
        }
    }
}

#[tokio::test]
async fn a_search_names_hits_and_what_went_wrong() {
    let mut session = Session::new(OPEN).await;
    let (text, structured) = session
        .answer("kontext_search", json!({"query": "gauge"}))
        .await;
    insta::assert_snapshot!(text, @r"
    1. Rails · book · 2026-01-02 · library
       lib://1
       On gauges
    2. Same · library

    Notes:
    - annex: `sh` ended with exit code 1: closed
    ");
    assert_eq!(
        structured["hits"][0],
        json!({
            "title": "Rails", "snippet": "On gauges", "uri": "lib://1", "kind": "book",
            "date": "2026-01-02", "source": "library", "score": 0.1,
        })
    );
    let (text, _) = session
        .answer(
            "kontext_search",
            json!({"query": "gauge", "sources": ["annex"]}),
        )
        .await;
    insta::assert_snapshot!(text, @r"
    No hits.

    Notes:
    - annex: `sh` ended with exit code 1: closed
    ");
    let (text, structured) = session
        .answer("kontext_history", json!({"target": "src"}))
        .await;
    insta::assert_snapshot!(text, @"No hits. (kontext_status says which adapters are active; only those with a `history` op are asked.)");
    assert_eq!(structured, json!({"hits": [], "notes": []}));
    let (text, structured) = session.answer("kontext_code", json!({"query": "fn"})).await;
    assert!(text.contains("no-such-server-here"), "{text}");
    assert_eq!(structured["notes"][0]["source"], "child");
}

#[tokio::test]
async fn texts_name_their_sources_where_there_are_several() {
    let mut session = Session::new(OPEN).await;
    let (text, structured) = session.answer("kontext_brief", json!({})).await;
    insta::assert_snapshot!(text, @r"
    # library

    open today

    # annex

    dark
    ");
    assert_eq!(structured["texts"].as_array().unwrap().len(), 2);
    let (text, structured) = session
        .answer("kontext_read", json!({"uri": " lib://1 "}))
        .await;
    insta::assert_snapshot!(text, @"the text of lib://1");
    assert_eq!(structured["texts"][0]["source"], "library");
    insta::assert_snapshot!(session.refused("kontext_read", json!({"uri": "x://1"})).await, @"no active adapter owns `x://1`; URIs that are owned begin with `lib://`");
    insta::assert_snapshot!(session.refused("kontext_read", json!({"uri": " "})).await, @"`uri` is empty: name the document to read");
}

#[tokio::test]
async fn an_op_is_called_by_name() {
    let mut session = Session::new(OPEN).await;
    let store = json!({"adapter": "library", "op": "store", "inputs": {"content": "-x"}});
    let (text, structured) = session.answer("kontext_call", store).await;
    assert_eq!(text.trim_end(), "kept -x");
    assert_eq!(
        structured,
        json!({"texts": [{"source": "library", "text": "kept -x"}], "notes": []})
    );
    // Much of it is shown however it looks as JSON, and it says that it is cut.
    for op in ["long", "lines"] {
        let long = json!({"adapter": "library", "op": op});
        let (text, structured) = session.answer("kontext_call", long).await;
        assert!(text.contains("\n[cut after "), "{text}");
        let written = structured.to_string().len();
        assert!(written <= budget::RESULT_BUDGET, "{op}: {written}");
        assert!(written >= budget::RESULT_BUDGET / 2, "{op}: {written}");
    }
    let mut refused = async |adapter, op| {
        let arguments = json!({"adapter": adapter, "op": op});
        session.refused("kontext_call", arguments).await
    };
    insta::assert_snapshot!(refused("library", "serach").await, @"adapter `library`, `serach`: it has no op `serach`; it has `search`, `read`, `store`, `brief`, `long`, `lines`");
    insta::assert_snapshot!(refused("libary", "search").await, @"adapter `libary`, `search`: there is no adapter `libary`; did you mean `library`?");
    insta::assert_snapshot!(refused("annex", "search").await, @"adapter `annex`, `search`: `sh` ended with exit code 1: closed");
}

#[tokio::test]
async fn a_storing_op_needs_the_other_gate_as_well() {
    let mut session = Session::new(Gates {
        write: false,
        external: true,
    })
    .await;
    let store = json!({"adapter": "library", "op": "store", "inputs": {"content": "x"}});
    let words = session.refused("kontext_call", store).await;
    assert!(words.contains("allow_write = true"), "{words}");
    assert!(!words.contains("allow_external_call"), "{words}");
    let read = json!({"adapter": "library", "op": "read", "inputs": {"uri": "lib://9"}});
    let (text, _) = session.answer("kontext_call", read).await;
    assert_eq!(text.trim_end(), "the text of lib://9");
    let words = session
        .refused("kontext_spawn", json!({"adapter": "child"}))
        .await;
    assert!(words.contains("allow_write = true"), "{words}");
}

#[tokio::test]
async fn without_an_engine_it_is_said_that_nothing_can_be_called() {
    let studio = Studio::new();
    studio.change(|picture| picture.gates = OPEN, |_| {});
    let mut client = Client::new(studio, TOOLS);
    client.initialize("2025-11-25").await;
    let answer = client
        .ask(call(1, "kontext_search", json!({"query": "x"})))
        .await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
}

#[tokio::test]
async fn a_server_that_is_not_there_cannot_be_started() {
    let mut session = Session::new(OPEN).await;
    let words = session
        .refused("kontext_spawn", json!({"adapter": "child"}))
        .await;
    assert!(
        words.contains("`child`") && words.contains("no-such-server-here"),
        "{words}"
    );
    let words = session
        .refused("kontext_spawn", json!({"adapter": "library"}))
        .await;
    assert!(words.contains("driver mcp"), "{words}");
}

#[tokio::test]
async fn a_preview_fits_its_schema() {
    let mut session = Session::new(Gates::default()).await;
    let arguments = json!({"adapter": "a", "op": "b", "inputs": {"query": "x"}});
    let (text, structured) = session.answer("kontext_preview", arguments).await;
    assert!(text.starts_with("It would send:\n"), "{text}");
    assert_eq!(structured["request"]["inputs"], json!({"query": "x"}));
    for arguments in [
        json!({"adapter": "a"}),
        json!({"adapter": "a", "op": 7}),
        json!({"adapter": "a", "op": "b", "inputs": "x"}),
    ] {
        session.refused("kontext_preview", arguments).await;
    }
}
