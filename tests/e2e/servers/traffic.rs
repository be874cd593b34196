//! What goes over the wires: sizes, encodings, ids, limits, crashes, progress, cancellation.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    Lives, agent, fake, mentions, only_note, place, search, searching, seen, seen_of, text_of,
    titles, tools_until,
};
use crate::harness::{Fixture, McpClient, pair};

const BIG: &str = r#"
class Own(Server):
    def call(self, id, params):
        found = [{"title": "T%05d" % n, "summary": "é" * 120, "url": "fake://%d" % n} for n in range(19000)]
        text = json.dumps({"results": found}, ensure_ascii=False)
        result = {"content": [{"type": "text", "text": text}]}
        line = json.dumps({"jsonrpc": "2.0", "id": id, "result": result}, ensure_ascii=False).encode() + b"\n"
        assert len(line) > 5 << 20
        size = int(os.environ["SIZE"])
        for at in range(0, len(line), size):
            self.raw(line[at:at + size])
"#;

#[tokio::test]
async fn a_long_line_is_read_whole_however_it_is_cut() {
    for size in ["1009", "65537", "4194305", "99999999"] {
        let place = fake(BIG, "timeout_ms = 30000").env("SIZE", size);
        let mut agent = agent(&place).await;
        let wanted = json!({"query": "q", "limit": 50});
        let found = agent.structured("kontext_search", wanted).await;
        let titles = titles(&found);
        assert_eq!(titles.len(), 50, "{size}");
        assert_eq!((titles[0], titles[49]), ("T00000", "T00049"), "{size}");
        let call = json!({"adapter": "fake", "op": "search", "inputs": {"query": "q"}});
        let whole = agent.call("kontext_call", call).await.to_string();
        assert!(whole.contains("T00000") && !whole.contains("isError\":true"));
    }
}

const ENDLESS: &str = r#"
class Own(Server):
    def call(self, id, params):
        self.raw(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"' % id)
        while True:
            self.raw(b"x" * 65536)
"#;

#[tokio::test]
async fn a_line_without_end_costs_its_server_and_nobody_else() {
    let mut lives = Lives::new().await;
    let config = searching("fake", "timeout_ms = 60000") + &searching("other", "");
    let place = place(&[("fake", ENDLESS), ("other", super::PLAIN)], &config);
    let place = lives.in_env_of(place);
    let mut agent = agent(&place).await;
    let found = search(&mut agent).await;
    assert_eq!(titles(&found), ["Alpha", "Beta"]);
    let note = &found["notes"][0];
    assert_eq!(note["source"], "fake");
    mentions(note["message"].as_str().unwrap(), &["MiB"]);
    let mut born = [lives.born().await, lives.born().await];
    born.sort_unstable();
    assert_eq!(born, ["fake.py", "other.py"]);
    lives.gone_one().await;
    #[cfg(target_os = "linux")]
    {
        let status = std::fs::read_to_string(format!("/proc/{}/status", agent.pid())).unwrap();
        let peak = status.lines().find(|line| line.starts_with("VmHWM:"));
        let peak = peak.unwrap().split_whitespace().nth(1).unwrap();
        assert!(peak.parse::<u64>().unwrap() < 300 * 1024, "{peak} kB");
    }
    assert_eq!(titles(&search(&mut agent).await), ["Alpha", "Beta"]);
}

const WINDOWS: &str = r#"
class Own(Server):
    first = True

    def raw(self, data):
        mark, self.first = b"\xef\xbb\xbf" if self.first else b"", False
        super().raw(mark + data.rstrip(b"\n").replace(b"@e", b"\xe9").replace(b"@-", b"\x97") + b"\r\n")

    def hello(self, params):
        return {**super().hello(params), "instructions": "notes @- private"}

    def call(self, id, params):
        self.reply(id, hits([{"title": "caf@e @- 1", "summary": "ok", "url": "fake://1"}]))
"#;

#[tokio::test]
async fn marks_carriage_returns_and_foreign_bytes_do_no_harm() {
    let place = fake(WINDOWS, "");
    let mut agent = agent(&place).await;
    let found = search(&mut agent).await;
    assert_eq!(titles(&found), ["caf\u{fffd} \u{fffd} 1"]);
    assert_eq!(found["hits"][0]["snippet"], "ok");
    assert_eq!(found["hits"][0]["uri"], "fake://1");
    let sent = std::fs::read(place.path("fake.py.log")).unwrap();
    assert!(!sent.contains(&b'\r') && !sent.starts_with(b"\xef\xbb\xbf"));
    assert_eq!(seen(&place, "fake").len(), 4);
}

const IDS: &str = r#"
MODE = os.environ["MODE"]

class Own(Server):
    def reply(self, id, result):
        super().reply({"text": str(id), "zero": 0, "null": id}[MODE], result)

    def call(self, id, params):
        if MODE == "null":
            self.fail(None, -32603, "boom in tool")
        else:
            super().call(id, params)
"#;

#[tokio::test]
async fn an_answer_under_another_id_reaches_nobody_else() {
    let ids = |mode: &str| fake(IDS, "timeout_ms = 60000").env("MODE", mode);
    let place = ids("text");
    let mut one = agent(&place).await;
    assert_eq!(titles(&search(&mut one).await), ["Alpha", "Beta"]);

    let place = ids("zero");
    let mut one = agent(&place).await;
    let found = search(&mut one).await;
    let (source, why) = only_note(&found);
    assert_eq!(source, "fake");
    mentions(why, &["id 0", "matches no call"]);

    let place = ids("null");
    let mut one = agent(&place).await;
    let found = search(&mut one).await;
    mentions(only_note(&found).1, &["boom in tool"]);
}

const LATE: &str = r#"
class Own(Server):
    def call(self, id, params):
        number = self.calls
        def answer():
            self.reply(id, hits([{"title": "answer %d" % number, "url": "x://%d" % number}]))
        if number > 1:
            return answer()
        def late():
            while not os.path.exists(PATH + ".go"):
                time.sleep(0.01)
            answer()
            # Read before the call that follows is answered.
            open(PATH + ".sent", "w").close()
        threading.Thread(target=late).start()
"#;

#[tokio::test]
async fn a_late_answer_is_nobodys_and_nothing_is_sent_twice() {
    let place = fake(LATE, "timeout_ms = 300");
    let mut agent = agent(&place).await;
    let start = json!({"adapter": "fake"});
    agent.structured("kontext_spawn", start).await;
    let found = search(&mut agent).await;
    let (source, why) = only_note(&found);
    assert_eq!(source, "fake");
    mentions(why, &["300 ms"]);
    assert_eq!(titles(&search(&mut agent).await), ["answer 2"]);
    place.write("fake.py.go", "");
    file(&place, "fake.py.sent").await;
    assert_eq!(titles(&search(&mut agent).await), ["answer 3"]);
    let calls = seen_of(&place, "fake", "tools/call");
    assert_eq!(calls.len(), 3);
    let cancelled = seen_of(&place, "fake", "notifications/cancelled");
    let [cancelled] = cancelled.as_slice() else {
        panic!("{cancelled:?}")
    };
    assert_eq!(cancelled["params"]["requestId"], calls[0]["id"]);
}

/// Waits for a file of the workspace. What children write has no event that a test could await.
async fn file(place: &Fixture, name: &str) {
    let there = async {
        while !place.path(name).exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(crate::harness::PATIENCE, there)
        .await
        .unwrap_or_else(|_| panic!("no {name}"));
}

const CRASHING: &str = r#"
class Own(Server):
    def call(self, id, params):
        if os.path.exists(PATH + ".crashed"):
            return super().call(id, params)
        open(PATH + ".crashed", "w").close()
        print("out of cheese", file=sys.stderr, flush=True)
        os._exit(3)
"#;

#[tokio::test]
async fn a_crash_during_a_call_is_an_answer_and_the_next_call_works() {
    for by_tool in [false, true] {
        let place = fake(CRASHING, "expose = \"all\"");
        let mut agent = agent(&place).await;
        tools_until(&mut agent, |tools| tools == ["fake_find"]).await;
        if by_tool {
            let failed = agent.call("fake_find", json!({"query": "q"})).await;
            assert_eq!(failed["isError"], true, "{failed}");
            mentions(text_of(&failed), &["fake", "exit code 3", "out of cheese"]);
        } else {
            let found = search(&mut agent).await;
            mentions(only_note(&found).1, &["exit code 3", "out of cheese"]);
        }
        assert_eq!(titles(&search(&mut agent).await), ["Alpha", "Beta"]);
        assert_eq!(seen_of(&place, "fake", "tools/call").len(), 2);
    }
}

const FLOOD: &str = r#"
def flood():
    for n in range(10000):
        print("noise %d " % n + "y" * 500, file=sys.stderr)
    sys.stderr.buffer.write(b"\xff\x00" * (1 << 20))

class Own(Server):
    def initialize(self, id, params):
        flood()
        super().initialize(id, params)

    def call(self, id, params):
        flood()
        super().call(id, params)
"#;

#[tokio::test]
async fn a_flood_on_standard_error_holds_nothing_up() {
    let place = fake(FLOOD, "timeout_ms = 60000");
    let mut agent = agent(&place).await;
    let start = json!({"adapter": "fake"});
    agent.structured("kontext_spawn", start).await;
    let found = search(&mut agent).await;
    assert_eq!(titles(&found), ["Alpha", "Beta"], "{found}");
    // What a server says is not what the program says.
    let own = agent.received(|received| received.stderr.len());
    assert!(own < 64 * 1024, "{own} bytes on standard error");
}

const PROGRESS: &str = r#"
class Own(Server):
    def call(self, id, params):
        token = params["_meta"]["progressToken"]
        self.tell("notifications/progress", progressToken=token, progress=1, total=2, own="kept")
        if params["arguments"]["query"] != "wait":
            self.reply(id, text("done"))

"#;

const CANCELLED: &str = r#"
    def other(self, method, id, params):
        if method == "notifications/cancelled":
            open(PATH + ".cancelled", "w").close()
        super().other(method, id, params)
"#;

async fn progress_and_cancellation(agent: &mut McpClient, place: &Fixture) {
    tools_until(agent, |tools| tools == ["fake_find"]).await;
    let call = |query: &str, token: Value| {
        json!({
            "name": "fake_find",
            "arguments": {"query": query},
            "_meta": {"progressToken": token},
        })
    };
    let done = agent.request("tools/call", call("go", json!("mine"))).await;
    assert_eq!(text_of(&done), "done");
    let mine = |params: &Value| params["progressToken"] == "mine";
    let told = agent.notification("notifications/progress", mine).await;
    assert_eq!(told["params"]["progress"], 1);
    assert_eq!(told["params"]["own"], "kept");

    let id = agent.start("tools/call", call("wait", json!(7)));
    let his = |params: &Value| params["progressToken"] == 7;
    agent.notification("notifications/progress", his).await;
    agent.notify("notifications/cancelled", json!({"requestId": id}));
    file(place, "fake.py.cancelled").await;
    let done = agent.request("tools/call", call("go", json!(8))).await;
    assert_eq!(text_of(&done), "done");
    agent.received(|received| {
        let answers = received.responses.get(&id.to_string());
        assert!(
            answers.is_none_or(Vec::is_empty),
            "a cancelled call is not answered"
        );
    });
}

#[tokio::test]
async fn progress_and_cancellation_reach_the_other_end() {
    let place = fake(&(PROGRESS.to_owned() + CANCELLED), "expose = \"all\"");
    let mut agent = agent(&place).await;
    progress_and_cancellation(&mut agent, &place).await;
}

#[tokio::test]
async fn progress_and_cancellation_pass_the_language_server_too() {
    let place = fake(&(PROGRESS.to_owned() + CANCELLED), "expose = \"all\"");
    let mut client = pair::editor(&place).await;
    let mut agent = pair::agent(&place).await;
    agent.until("kontext_status", json!({}), pair::joined).await;
    progress_and_cancellation(&mut agent, &place).await;
    assert_eq!(client.quit().await, Some(0));
}

const HANGING: &str = r#"
class Own(Server):
    def call(self, id, params):
        self.tell("notifications/progress", progressToken=params["_meta"]["progressToken"], progress=1)
"#;

#[tokio::test]
async fn a_call_that_was_under_way_in_a_language_server_that_ends_is_not_repeated() {
    for killed in [true, false] {
        let mut lives = Lives::new().await;
        let place = lives.in_env_of(fake(HANGING, "expose = \"all\"\ntimeout_ms = 60000"));
        let mut client = pair::editor(&place).await;
        let mut agent = pair::agent(&place).await;
        agent.until("kontext_status", json!({}), pair::joined).await;
        tools_until(&mut agent, |tools| tools == ["fake_find"]).await;
        let id = agent.start("tools/call", hanging());
        agent.notification("notifications/progress", |_| true).await;
        assert_eq!(lives.born().await, "fake.py");
        if killed {
            client.kill().await;
        } else {
            assert_eq!(client.quit().await, Some(0));
        }
        let answer = agent.response(id).await;
        if killed {
            let words = answer["error"]["message"].to_string();
            mentions(&words, &["whether", "not known"]);
        } else {
            let failed = answer["error"].is_object() || answer["result"]["isError"] == true;
            assert!(failed, "{answer}");
        }
        // What it had started ends, and the session goes on by itself.
        lives.gone().await;
        let alone = |status: &Value| status["editor"] == false;
        agent.until("kontext_status", json!({}), alone).await;
        tools_until(&mut agent, |tools| tools == ["fake_find"]).await;
        assert_eq!(seen_of(&place, "fake", "tools/call").len(), 1);
    }
}

fn hanging() -> Value {
    json!({
        "name": "fake_find",
        "arguments": {"query": "q"},
        "_meta": {"progressToken": 1},
    })
}

#[tokio::test]
async fn agents_share_a_server_and_one_that_goes_cancels_its_calls() {
    let class = HANGING.to_owned() + CANCELLED;
    let mut lives = Lives::new().await;
    let place = fake(&class, "expose = \"all\"\ntimeout_ms = 60000");
    let place = lives.in_env_of(place);
    let mut client = pair::editor(&place).await;
    let mut one = pair::agent(&place).await;
    let mut two = pair::agent(&place).await;
    for agent in [&mut one, &mut two] {
        agent.until("kontext_status", json!({}), pair::joined).await;
        tools_until(agent, |tools| tools == ["fake_find"]).await;
        agent.start("tools/call", hanging());
        agent.notification("notifications/progress", |_| true).await;
    }
    one.kill().await;
    file(&place, "fake.py.cancelled").await;
    assert_eq!(two.tools().await.len(), 13);
    assert_eq!(seen_of(&place, "fake", "initialize").len(), 1);
    assert_eq!(seen_of(&place, "fake", "notifications/cancelled").len(), 1);
    lives.born().await;
    assert_eq!(client.quit().await, Some(0));
    lives.gone().await;
}

const VERBATIM: &str = r#"
class Own(Server):
    def call(self, id, params):
        self.reply(id, {
            "content": [
                {"type": "text", "text": json.dumps(params.get("arguments"), sort_keys=True)},
                {"type": "hologram", "own": [1.50, 12345678901234567890]},
            ],
            "_meta": {"own/x": None},
            "own": "kept",
        })
"#;

#[tokio::test]
async fn what_a_tool_says_passes_verbatim_in_both_eras_of_the_protocol() {
    let place = fake(VERBATIM, "expose = \"all\"");
    let arguments = json!({"query": "q", "own": {"n": 9_007_199_254_740_993_u64}});
    let fits = |result: &Value| {
        assert_eq!(
            text_of(result),
            r#"{"own": {"n": 9007199254740993}, "query": "q"}"#
        );
        assert_eq!(result["content"][1]["type"], "hologram");
        let numbers = result["content"][1]["own"].to_string();
        assert_eq!(numbers, "[1.5,12345678901234567890]");
        assert_eq!(result["own"], "kept");
    };
    let mut old = agent(&place).await;
    tools_until(&mut old, |tools| tools == ["fake_find"]).await;
    let call = json!({"name": "fake_find", "arguments": arguments});
    let result = old.request("tools/call", call.clone()).await;
    fits(&result);
    assert!(result.get("resultType").is_none(), "{result}");

    let mut new = McpClient::spawn(&place, &[]);
    let mut call = call;
    call["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    // The first thing it ever says: the server has not even been started.
    let result = new.request("tools/call", call).await;
    fits(&result);
    assert_eq!(result["resultType"], "complete", "{result}");
    // What is about this connection is not for the server behind it.
    let sent = seen_of(&place, "fake", "tools/call").pop().unwrap();
    assert!(!sent.to_string().contains("clientCapabilities"), "{sent}");
}

const READING: &str = r#"
class Own(Server):
    tools = [tool("open", {"type": "object", "properties": {"uri": {"type": "string"}}, "required": ["uri"]})]

    def call(self, id, params):
        uri = params["arguments"]["uri"]
        if uri.endswith("none"):
            self.reply(id, {**text("no such page"), "isError": True})
        else:
            self.reply(id, text("the text of " + uri))
"#;

#[tokio::test]
async fn the_owner_of_a_uri_reads_it() {
    let config = ["wide", "deep"]
        .map(|name| {
            super::adapter(name, "")
                + &format!(
                    "[adapters.{name}.ops.read]\ntool = \"open\"\nowns = [\"zoo://{}\"]\n",
                    if name == "deep" { "pens/" } else { "" }
                )
        })
        .concat();
    let place = place(&[("wide", READING), ("deep", READING)], &config);
    let mut agent = agent(&place).await;
    for (uri, source) in [("zoo://pens/9", "deep"), ("zoo://keeper", "wide")] {
        let read = json!({"uri": uri});
        let read = agent.structured("kontext_read", read).await.to_string();
        mentions(&read, &[source, &format!("the text of {uri}")]);
    }
    for (uri, words) in [
        ("zoo://none", ["wide", "no such page"]),
        ("far://away", ["far://away", "zoo://pens/"]),
    ] {
        let failed = agent.call("kontext_read", json!({"uri": uri})).await;
        assert_eq!(failed["isError"], true, "{failed}");
        mentions(text_of(&failed), &words);
    }
}
