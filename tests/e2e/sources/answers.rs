//! What is made of answers, through a whole call: the kinds of payloads that sources really send.

use serde_json::{Value, json};

use super::{OPEN, SERVER, agent, each, refused, tested, trial};
use crate::harness::Fixture;

fn place(user: &str, files: &[(&str, &str)]) -> Fixture {
    super::place(&format!("{OPEN}{user}"), files)
}

/// Whether an agent gets of each source what the shell shows of it.
async fn agrees(place: &Fixture, report: &Value) {
    let mut agent = agent(place).await;
    for tried in report["adapters"].as_array().unwrap() {
        let name = &tried["adapter"];
        let shell = trial(report, name.as_str().unwrap(), "search");
        let arguments = json!({"query": "query", "sources": [name], "limit": 100});
        let found = agent.structured("kontext_search", arguments).await;
        // Of one document one hit is enough in a search.
        let mut uris: Vec<&Value> = Vec::new();
        let hits = shell["hits"].as_array().into_iter().flatten();
        let titles: Vec<&Value> = hits
            .filter(|hit| {
                let seen = uris.contains(&&hit["uri"]);
                uris.push(&hit["uri"]);
                !seen || hit["uri"].is_null()
            })
            .map(|hit| &hit["title"])
            .collect();
        assert_eq!(each(&found, "title"), titles, "{name}");
        let notes = found["notes"].to_string();
        assert_eq!(
            found["notes"] == json!([]),
            { shell["error"].is_null() && shell["notes"].is_null() },
            "{name}: {notes}"
        );
        if let Some(error) = shell["error"].as_str() {
            let error = error.split('`').next_back().unwrap();
            assert!(notes.contains(error), "{error} in {notes}");
        }
    }
}

/// An adapter that prints a file.
fn printing(name: &str, file: &str, op: &str) -> String {
    format!(
        "[adapters.{name}]\ndriver = \"command\"\ncommand = [\"cat\", \"{{{{repo.root}}}}/{file}\"]\n[adapters.{name}.ops.search]\n{op}\n"
    )
}

/// R01: what ripgrep prints with `--json`.
#[tokio::test]
async fn lines_of_a_search_program() {
    let matched = r#"{"type":"match","data":{"path":{"text":"notes/rail.md"},"lines":{"text":"the gauge is úzky\n"},"line_number":12}}"#;
    let lines = [
        r#"{"type":"begin","data":{"path":{"text":"notes/rail.md"}}}"#,
        r#"{"type":"context","data":{"path":{"text":"notes/rail.md"},"lines":{"text":"above\n"},"line_number":11}}"#,
        matched,
        r#"{"type":"end","data":{"path":{"text":"notes/rail.md"},"stats":{"matches":1}}}"#,
        r#"{"type":"match","data":{"path":{"bytes":"bGF0aW4x6S50eHQ="},"lines":{"bytes":"Z2F1Z2XpCg=="},"line_number":2}}"#,
        r#"{"type":"match","data":{"path":{"text":"-odd.md"},"lines":{"text":"gauge"},"line_number":null}}"#,
        r#"{"type":"summary","data":{"stats":{"matches":3}}}"#,
    ];
    let map = r#"map = { title = "data.path.text", snippet = "data.lines.text", uri = "tpl:{{data.path.text}}:{{data.line_number}}", kind = "=line" }"#;
    let mut user = printing(
        "grep",
        "lines",
        &format!("format = \"jsonl\"\nwhere = {{ type = \"match\" }}\n{map}"),
    );
    user += &printing(
        "deep",
        "lines",
        &format!("where = {{ \"data.line_number\" = 12 }}\n{map}"),
    );
    user += r#"
[adapters.none]
driver = "command"
[adapters.none.ops.search]
command = ["sh", "-c", "exit 1"]
format = "jsonl"

[adapters.part]
driver = "command"
[adapters.part.ops.search]
command = ["sh", "-c", "head -3 lines; echo 'search: ./locked: Permission denied' >&2; exit 2"]
format = "jsonl"
where = { type = "match" }
map = { title = "data.path.text" }
"#;
    let place = place(&user, &[("lines", &lines.join("\n"))]);
    let (code, report) = tested(&place, &[]);
    assert_eq!(code, 1, "one of them failed");

    let grep = trial(&report, "grep", "search");
    assert_eq!(
        grep["hits"],
        json!([
            {"title": "notes/rail.md", "snippet": "the gauge is úzky", "uri": "notes/rail.md:12", "kind": "line"},
            {"title": "-odd.md", "snippet": "gauge", "uri": "-odd.md:", "kind": "line"},
        ])
    );
    // The one whose path and text are bytes has nothing to show, and is counted.
    assert_eq!(
        [&grep["items"], &grep["filtered"], &grep["dropped"]],
        [7, 4, 1]
    );
    let deep = trial(&report, "deep", "search");
    assert_eq!(each(deep, "uri"), ["notes/rail.md:12"]);
    let none = trial(&report, "none", "search");
    assert_eq!(none["hits"], json!([]));
    assert_eq!(none["error"], Value::Null);
    let part = trial(&report, "part", "search");
    assert_eq!(each(part, "title"), ["notes/rail.md"]);
    let error = part["error"].as_str().unwrap();
    assert!(
        error.contains("exit code 2") && error.contains("Permission denied"),
        "{error}"
    );
    agrees(&place, &report).await;
}

/// R02: a log around the payload.
#[tokio::test]
async fn noise_around_the_payload() {
    let noisy = "[WARN] cold cache {\"n\": 7}\n⚠  old flag\nUsing profile [dev]\n[\n  {\"name\": \"Ash\", \"summary\": \"a\", \"url\": \"t://ash\"},\n  {\"name\": \"Elm [1] {2}\", \"summary\": \"b\", \"url\": \"t://elm\"}\n]\n2 results [done]\n";
    let lines = "reading…\r\n{\"name\":\"Ash\"}\r\n\r\n{\"name\":\"Elm\"}\r\n40%\r\n{\"name\":\"Fi\r\n{\"name\":\"Oak\"}";
    let mut user = printing("auto", "noisy", "format = \"auto\"");
    user += &printing("strict", "noisy", "format = \"json\"");
    user += &printing("lines", "noisy.jsonl", "format = \"jsonl\"");
    let place = place(&user, &[("noisy", noisy), ("noisy.jsonl", lines)]);
    let (code, report) = tested(&place, &[]);
    assert_eq!(code, 1);
    assert_eq!(
        trial(&report, "auto", "search")["hits"],
        json!([
            {"title": "Ash", "snippet": "a", "uri": "t://ash"},
            {"title": "Elm [1] {2}", "snippet": "b", "uri": "t://elm"},
        ])
    );
    let strict = trial(&report, "strict", "search");
    let error = strict["error"].as_str().unwrap();
    assert!(error.contains("[WARN] cold cache"), "{error}");
    assert_eq!(strict["hits"], Value::Null);
    let lines = trial(&report, "lines", "search");
    assert_eq!(each(lines, "title"), ["Ash", "Elm", "Oak"]);
    assert_eq!(
        lines["notes"],
        json!(["3 of 6 lines are no JSON and left out"])
    );
    agrees(&place, &report).await;
}

/// R04: a search engine that nests its hits and leaves out what it does not know.
#[tokio::test]
async fn hits_deep_in_an_answer() {
    let answer = json!({
        "took": 2,
        "hits": {
            "total": {"value": 9000, "relation": "gte"},
            "max_score": null,
            "hits": [
                {"_index": "trees", "_id": "a1", "_score": null, "_source": {
                    "title": "Grafting", "url": null, "@timestamp": 1_512_189_030_000_i64,
                    "body": {"text": "unused"},
                 }, "highlight": {"body.text": ["Cut <em>twigs</em> &amp; tie", "x"]}},
                {"_index": "trees", "_id": "a2", "_score": 2.25, "fields": {
                    "title": ["From fields"], "url": ["https://trees.example/2"]}},
                {"_index": "trees", "_id": "a3", "_score": 0.0, "_source": {}},
            ],
        },
    });
    let mut user = printing(
        "deep",
        "answer.json",
        r#"format = "json"
items = "hits.hits[*]"
map = { title = "_source.title|fields.title[0]|_id", snippet = "highlight['body.text'][0]|_source.body.text", uri = "_source.url|fields.url[0]|tpl:es://{{_index}}/{{_id}}", score = "_score", date = "_source.@timestamp" }"#,
    );
    user += &printing("plain", "answer.json", "format = \"json\"");
    let place = place(&user, &[("answer.json", &answer.to_string())]);
    let (code, report) = tested(&place, &[]);
    assert_eq!(code, 0, "{report}");
    assert_eq!(
        trial(&report, "deep", "search")["hits"],
        json!([
            {"title": "Grafting", "snippet": "Cut twigs & tie", "uri": "es://trees/a1", "date": "2017-12-02T04:30:30Z"},
            {"title": "From fields", "uri": "https://trees.example/2", "score": 2.25},
            {"title": "a3", "uri": "es://trees/a3", "score": 0.0},
        ])
    );
    // `hits` is an object, so there is no list to be found: the whole is one item.
    assert_eq!(trial(&report, "plain", "search")["items"], 1);
    agrees(&place, &report).await;
}

/// R05: one text in several blocks, and JSON in strings.
#[tokio::test]
async fn shapes_of_tool_results() {
    let mut user = String::new();
    let shapes = [
        "blocks", "amid", "wrapped", "twice", "scalar", "fenced", "sections",
    ];
    for shape in shapes {
        let split = if shape == "sections" {
            "split = \"## \"\n"
        } else {
            ""
        };
        user += &format!(
            "[adapters.{shape}]\ndriver = \"mcp\"\ncommand = [\"python3\", \"server.py\"]\nenv = {{ SHAPE = \"{shape}\" }}\n[adapters.{shape}.ops.search]\ntool = \"find\"\n{split}"
        );
    }
    let place = place(&user, &[("server.py", SERVER)]);
    let (code, report) = tested(&place, &[]);
    assert_eq!(code, 0, "{report}");
    for shape in ["blocks", "amid", "wrapped", "twice", "fenced"] {
        let trial = trial(&report, shape, "search");
        assert_eq!(
            trial["hits"],
            json!([
                {"title": "Ada", "snippet": "first", "uri": "lib://ada"},
                {"title": "Bob", "snippet": "second", "uri": "lib://bob"},
            ]),
            "{shape}"
        );
        assert_eq!(trial["parameters"], json!({"query": "query"}), "{shape}");
    }
    let sections = trial(&report, "sections", "search");
    assert_eq!(each(sections, "title"), ["Ada", "Bob"]);
    assert_eq!(each(sections, "snippet"), ["first", "second"]);
    let scalar = trial(&report, "scalar", "search");
    assert_eq!(each(scalar, "title"), ["42"]);
    agrees(&place, &report).await;
}

/// R07: ids keep every digit, scores are numbers or none.
#[tokio::test]
async fn ids_and_scores() {
    let ids = r#"{"items":[{"id":9007199254740993,"name":"a"},{"id":340282366920938463463374607431768211456,"name":"b"},
        {"id":7.0,"name":"c"},{"id":"0042","name":"d"},{"id":null,"name":"e"},{"id":false,"name":"f"},{"id":{"k":1},"name":"g"},
        {"id":[1,2],"name":"h"},{"name":"i"},{"id":12,"name":404,"score":"0.87"},{"id":13,"name":"j","score":"NaN"},
        {"id":14,"name":"k","name":"twice","score":1e999},{"id":15,"name":"l","score":"inf"}]}"#;
    let user = printing(
        "ids",
        "ids.json",
        "format = \"json\"\nmap = { title = \"name\", uri = \"tpl:n://{{id}}\", score = \"score\" }",
    );
    let place = place(&user, &[("ids.json", ids)]);
    let (code, report) = tested(&place, &[]);
    assert_eq!(code, 0, "{report}");
    let ids = trial(&report, "ids", "search");
    assert_eq!(
        each(ids, "uri"),
        [
            "n://9007199254740993",
            "n://340282366920938463463374607431768211456",
            "n://7.0",
            "n://0042",
            "n://",
            "n://false",
            "n://{\"k\":1}",
            "n://1,2",
            "n://",
            "n://12",
            "n://13",
            "n://14",
            "n://15",
        ]
    );
    assert_eq!(ids["hits"][9]["title"], "404");
    assert_eq!(ids["hits"][11]["title"], "twice");
    let mut scores = vec![Value::Null; 13];
    scores[9] = json!(0.87);
    assert_eq!(each(ids, "score"), scores.iter().collect::<Vec<_>>());
    agrees(&place, &report).await;
}

/// R08: the many ways to write one moment.
#[tokio::test]
async fn dates_in_many_spellings() {
    let same = [
        json!(1_512_189_030),
        json!(1_512_189_030_000_i64),
        json!(1_512_189_030_000_000_i64),
        json!("1512189030"),
        json!("2017-12-02T04:30:30Z"),
        json!("Sat, 02 Dec 2017 04:30:30 GMT"),
        json!(1_512_189_030.5),
    ];
    let none = [
        json!(null),
        json!(""),
        json!(-1),
        json!(i64::MAX),
        json!("yesterday"),
        json!([]),
        json!(true),
    ];
    let other = [json!("2017-12-02"), json!("2017-12-02T05:30:30+01:00")];
    let all = same.iter().chain(&none).chain(&other).enumerate();
    let items: Vec<Value> = all
        .map(|(at, made)| json!({"name": format!("n{at}"), "made": made}))
        .collect();
    let user = printing(
        "dates",
        "dates.json",
        "map = { title = \"name\", date = \"made\" }",
    );
    let place = place(&user, &[("dates.json", &json!(items).to_string())]);
    let (code, report) = tested(&place, &[]);
    assert_eq!(code, 0, "{report}");
    let dates = each(trial(&report, "dates", "search"), "date");
    for (at, date) in dates.iter().take(same.len()).enumerate() {
        assert_eq!(**date, "2017-12-02T04:30:30Z", "{}", same[at]);
    }
    for (at, date) in dates.iter().skip(same.len()).take(none.len()).enumerate() {
        assert!(date.is_null(), "{} became {date}", none[at]);
    }
    assert_eq!(dates[same.len() + none.len()], "2017-12-02");
    let moment: jiff::Timestamp = dates.last().unwrap().as_str().unwrap().parse().unwrap();
    assert_eq!(moment.to_string(), "2017-12-02T04:30:30Z");
    agrees(&place, &report).await;
}

#[tokio::test]
async fn an_input_that_is_not_used_is_named() {
    let user = r#"
[adapters.notes]
driver = "command"
[adapters.notes.ops.search]
command = ["printf", "found %s", "{{query}}"]

[adapters.child]
driver = "mcp"
command = ["python3", "server.py"]
env = { SHAPE = "scalar" }
[adapters.child.ops.search]
tool = "find"
[adapters.child.ops.named]
tool = "find"
args = { query = "{{topic}}", limit = 3 }
"#;
    let place = place(user, &[("server.py", SERVER)]);
    let mut agent = agent(&place).await;
    let call = |adapter: &str, inputs: Value| json!({"adapter": adapter, "op": "search", "inputs": inputs});
    let answer = agent
        .structured("kontext_call", call("notes", json!({"qurey": "x"})))
        .await;
    assert_eq!(
        answer["notes"][0]["message"],
        "the op `search` does not use the input `qurey`; did you mean `query`?",
        "{answer}"
    );
    let answer = agent
        .structured(
            "kontext_call",
            call("notes", json!({"query": "x", "colour": "red"})),
        )
        .await;
    assert_eq!(
        answer["notes"][0]["message"],
        "the op `search` does not use the input `colour`; it uses `query`",
        "{answer}"
    );
    let answer = agent
        .structured("kontext_call", call("notes", json!({"query": "x"})))
        .await;
    assert_eq!(answer["notes"], json!([]));
    // Where the call fails for it, the caller reads both.
    let words = refused(
        &mut agent,
        "kontext_call",
        call("child", json!({"qurey": "x"})),
    )
    .await;
    assert!(
        words.contains("the caller left out the input `query`")
            && words.contains("did you mean `query`?")
            && !words.contains("`args`"),
        "{words}"
    );
    // The same where the op's own templates use it.
    let call = json!({"adapter": "child", "op": "named", "inputs": {}});
    let words = refused(&mut agent, "kontext_call", call).await;
    assert!(
        words.contains("the caller left out the input `topic`") && !words.contains("`args`"),
        "{words}"
    );
}

#[test]
fn an_op_that_stores_is_tried_with_inputs_of_its_own() {
    let user = r#"
[adapters.notes]
driver = "command"
[adapters.notes.ops.read]
command = ["printf", "%s", "{{uri}}"]
owns = ["notes://"]
[adapters.notes.ops.store]
command = ["sh", "-c", 'printf "%s %s %s" "$1" "$2" "$3"', "--", "{{title}}", "{{count}}", "{{query}}"]
[[adapters.notes.tools]]
name = "notes.keep"
description = "Keeps a note."
params = { title = "string!" }
op = "store"
"#;
    let place = place(user, &[]);
    let args = [
        "notes",
        "--op",
        "store",
        "--input",
        "title=a=b",
        "--input",
        "count=2",
        "--input",
        "titel=x",
    ];
    let (code, report) = tested(&place, &args);
    assert_eq!(code, 0, "{report}");
    let store = trial(&report, "notes", "store");
    assert_eq!(store["text"], "a=b 2 ", "no sample beside them: {report}");
    assert!(store["notes"].to_string().contains("`titel`"), "{store}");
    for args in [
        &["--input", "title=x"][..],
        &["--op", "store", "--input", "title"],
    ] {
        let all: Vec<&str> = ["adapters", "test", "notes"]
            .iter()
            .chain(args)
            .copied()
            .collect();
        assert_eq!(place.run(&all).0, 2, "{args:?}");
    }

    // What is declared is shown under the name agents see; `read` is tried with a URI it owns.
    let (code, out, err) = place.run(&["adapters", "inspect", "notes"]);
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains("notes_keep → store\n      Keeps a note."),
        "{out}"
    );
    assert!(out.contains("notes://sample"), "{out}");
    let (_, out, _) = place.run(&["adapters", "inspect", "notes", "--json"]);
    let shown: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(shown["declared"][0]["name"], "notes_keep");
    assert_eq!(shown["declared"][0]["offered"], true);
}
