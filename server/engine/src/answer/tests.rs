#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::fmt::Write;

use insta::assert_snapshot;
use kontext_config::eval::Scope;
use kontext_config::facts::{Env, Facts};
use kontext_config::model::{Format, HitMap, Op};
use serde_json::{Map, Value, json};

use super::*;
use crate::FaultKind;

fn op(format: Format) -> Op {
    Op {
        format,
        ..Op::default()
    }
}

fn map(fields: &[(&str, &str)]) -> HitMap {
    let get = |name| {
        let found = fields.iter().find(|(field, _)| *field == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    HitMap {
        title: get("title"),
        snippet: get("snippet"),
        uri: get("uri"),
        score: get("score"),
        kind: get("kind"),
        date: get("date"),
    }
}

/// What a preview would show: the hits, one a line, and what is said about them.
fn shown(raw: Raw<'_>, op: &Op) -> String {
    let reading = Reading::new(op);
    let payload = match reading.payload(raw) {
        Ok(payload) => payload,
        Err(fault) => return format!("{:?}: {fault}", fault.kind),
    };
    let secret = ("TOKEN".to_owned(), "s3cr3t".to_owned());
    let facts = Facts {
        env: Env::new([secret], false),
        ..Facts::default()
    };
    let inputs = Map::from_iter([("query".to_owned(), json!("otter"))]);
    let scope = Scope::new(&facts).inputs(&inputs);
    let mapped = reading.hits(&payload, &scope);
    let mut out = String::new();
    for hit in &mapped.hits {
        let _ = writeln!(out, "{}", serde_json::to_string(hit).unwrap());
    }
    if mapped.dropped + mapped.filtered > 0 {
        let _ = writeln!(
            out,
            "dropped {}, filtered {}",
            mapped.dropped, mapped.filtered
        );
    }
    for note in &mapped.notes {
        let _ = writeln!(out, "note: {note}");
    }
    out
}

fn text(source: &str, op: &Op) -> String {
    shown(Raw::Text(source), op)
}

fn tool(result: &Value) -> String {
    shown(Raw::Tool(result), &Op::default())
}

fn block(text: impl Into<String>) -> Value {
    json!({"type": "text", "text": text.into()})
}

const TWO: &str =
    r#"{"results": [{"name": "Otter", "url": "z://1"}, {"name": "Panda", "url": "z://2"}]}"#;

const TWO_HITS: &str =
    "{\"title\":\"Otter\",\"uri\":\"z://1\"}\n{\"title\":\"Panda\",\"uri\":\"z://2\"}\n";

#[test]
fn tool_results_give_the_same_hits_in_every_wrapping() {
    let list = serde_json::from_str::<Value>(TWO).unwrap()["results"].clone();
    let each: Vec<Value> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|it| block(it.to_string()))
        .collect();
    let resource = json!({"type": "resource", "resource": {"uri": "z://all", "text": TWO}});
    let cases = [
        json!({"content": [], "structuredContent": {"results": list}}),
        json!({"content": [block("old")], "structuredContent": {"result": TWO}}),
        json!({"content": [block("old")], "structuredContent": {"result": list}}),
        json!({"content": [block(TWO)], "structuredContent": {}}),
        json!({"content": [block(TWO)], "structuredContent": null}),
        json!({"content": each}),
        json!({"content": [block(list.to_string())]}),
        json!({"content": [block("Found 2:"), block(TWO), block("(end)")]}),
        json!({"content": [block(json!(TWO).to_string())]}),
        json!({"content": [block(format!("```json\n{TWO}\n```"))]}),
        json!({"content": [block(format!("\u{feff}{TWO}\n"))]}),
        json!({"content": [{"type": "image", "data": "AA=="}, resource]}),
        json!({"content": [block(json!([list[0]]).to_string()), block(list[1].to_string())]}),
    ];
    for case in cases {
        assert_eq!(tool(&case), TWO_HITS, "{case}");
    }
}

#[test]
fn tool_results_without_json_are_text() {
    let cases = [
        (json!({"content": [block("42")]}), "{\"title\":\"42\"}\n"),
        (
            json!({"content": [block("one"), block("two")]}),
            "{\"title\":\"one\",\"snippet\":\"one two\"}\n",
        ),
        (
            json!({"content": [block("see\n```json\n{\"name\": \"x\"}\n```\nthere")]}),
            "{\"title\":\"see\",\"snippet\":\"see ```json {\\\"name\\\": \\\"x\\\"} ``` there\"}\n",
        ),
        (json!({"content": []}), ""),
        (json!({}), ""),
        (json!([1]), ""),
        (
            json!({"content": [{"type": "resource_link", "uri": "z://1", "name": "Otter"}]}),
            "{\"title\":\"Otter\",\"uri\":\"z://1\",\"kind\":\"resource_link\"}\n",
        ),
    ];
    for (case, expected) in cases {
        assert_eq!(tool(&case), expected, "{case}");
    }
}

#[test]
fn a_format_of_text_reads_the_text_beside_the_structure() {
    let op = |format| Op {
        format,
        ..Op::default()
    };
    let both = json!({
        "content": [block("Otter\nPanda")],
        "structuredContent": {"content": "Otter\nPanda"},
    });
    let lines = shown(Raw::Tool(&both), &op(Format::Lines));
    assert_eq!(lines, "{\"title\":\"Otter\"}\n{\"title\":\"Panda\"}\n");
    let whole = "{\"title\":\"Otter Panda\",\"snippet\":\"Otter Panda\"}\n";
    for format in [Format::Auto, Format::Json] {
        assert_eq!(shown(Raw::Tool(&both), &op(format)), whole, "{format:?}");
    }
    // Without a text there is only the structure.
    let alone = json!({"content": [], "structuredContent": {"content": "Otter\nPanda"}});
    assert_eq!(shown(Raw::Tool(&alone), &op(Format::Lines)), whole);
}

#[test]
fn a_text_is_cut_where_lines_begin_with_the_prefix() {
    let op = Op {
        split: Some("### ".to_owned()),
        map: map(&[("uri", "re:z://(\\d)"), ("kind", "=note")]),
        ..Op::default()
    };
    let source = "two notes\n### Otter\nfed z://1\n\n#### twice\n### Panda\r\nz://2\r\n";
    let result = json!({"content": [block("old")], "structuredContent": {"result": source}});
    let hits = shown(Raw::Tool(&result), &op);
    assert_snapshot!(hits, @r##"
    {"title":"Otter","snippet":"fed z://1 #### twice","uri":"1","kind":"note"}
    {"title":"Panda","snippet":"z://2","uri":"2","kind":"note"}
    "##);
    assert_eq!(text(source, &op), hits);
}

#[test]
fn json_amid_log_lines_is_found() {
    let pretty = "[\n  {\"name\": \"Otter [x]\"},\n  {\"name\": \"{y}\"}\n]";
    let found = "{\"title\":\"Otter [x]\"}\n{\"title\":\"{y}\"}\n";
    let cases = [
        format!("[WARN] cache {{\"k\": 1}}\n[ok]\n{{\"level\": \"warn\"}}\n{pretty}\nDone in 0.3s\n"),
        format!("⚠ soon\r\n{pretty}"),
        format!("{pretty}\n[1] done\n"),
        format!("\u{feff}{pretty}"),
        "{\"level\":\"info\",\"msg\":\"ready\"}\n{\"hits\":[{\"name\":\"Otter [x]\"},{\"name\":\"{y}\"}]}\n".to_owned(),
        "{\"name\":\"Otter [x]\"}\n\n{\"name\":\"{y}\"}".to_owned(),
        "[{\"name\":\"Otter [x]\"}]\n[{\"name\":\"{y}\"}]".to_owned(),
        "{\"name\":\n\"Otter [x]\"}\n{\"name\":\n\"{y}\"}".to_owned(),
        format!("start\n{{\"level\": \"debug\", \"long\": \"{}\"}}\n{pretty}", "x".repeat(99)),
        format!("```json\n{pretty}\n```\n"),
    ];
    for case in cases {
        assert_eq!(text(&case, &Op::default()), found, "{case}");
    }
    let document = format!("# How to\n\n```json\n{pretty}\n```\n\nthat is all\n");
    for document in [
        document.as_str(),
        "[WARN] {\"k\": 1}\nnothing",
        "[1] x\n{ y",
        "{",
        "[",
        "",
    ] {
        let reading = Reading::new(&Op::default());
        let payload = reading.payload(Raw::Text(document)).unwrap();
        assert_eq!(payload.as_text(), Some(document));
        assert_eq!(reading.text(&payload), document);
    }
}

#[test]
fn hostile_text_is_read_once_or_so() {
    let bytes = 256 << 10;
    let cases = [
        "[".repeat(bytes),
        "[\n".repeat(bytes / 2),
        "{\"a\":\n".repeat(bytes / 6),
        "[1,\"x\",\n".repeat(bytes / 8),
        format!("{}x", "{}\n".repeat(bytes / 3)),
        "<svg>".repeat(bytes / 5),
        "<b>x<!--y".repeat(bytes / 9),
        "<a \"".repeat(bytes / 4),
        "&amp;<br>\n".repeat(bytes / 10),
        "\u{1b}[0m\u{200b} ".repeat(bytes / 8),
    ];
    for case in cases {
        for format in [Format::Auto, Format::Json, Format::Text] {
            let shown = text(&case, &op(format));
            assert!(shown.len() < 32 << 20);
        }
    }
}

#[test]
fn json_that_is_none_is_an_error_that_shows_its_beginning() {
    assert_snapshot!(text("\n\u{1b}[31mOops\u{202e}: gone\nmore", &op(Format::Json)), @r"Malformed: the answer is not JSON (line 2, column 1), it begins with `\u{1b}[31mOops\u{202e}: gone`; check the request, or set `format` to what the answer is");
    assert_snapshot!(text(" \n", &op(Format::Json)), @"Malformed: the answer is empty where JSON was expected; check the request, or set `format` to what the answer is");
    let long = Reading::new(&op(Format::Json))
        .payload(Raw::Text(&"é".repeat(9000)))
        .unwrap_err();
    assert_eq!(long.kind, FaultKind::Malformed);
    assert!(long.message().len() < 500);
}

#[test]
fn lines_of_json_that_are_none_are_counted() {
    let source =
        "\u{feff}starting…\r\n{\"name\":\"Otter\"}\r\n\r\n{\"name\":\"Thr\r\n{\"name\":\"Panda\"}";
    assert_snapshot!(text(source, &op(Format::Jsonl)), @r#"
    {"title":"Otter"}
    {"title":"Panda"}
    note: 2 of 4 lines are no JSON and left out
    "#);
    assert_eq!(text("", &op(Format::Jsonl)), "");
    assert_snapshot!(text("a.rs:1: x\r\n \n-b.rs:2: <b>", &op(Format::Lines)), @r#"
    {"title":"a.rs:1: x"}
    {"title":"-b.rs:2: <b>"}
    "#);
}

const GREP: &str = r#"{"type":"begin","data":{"path":{"text":"pens/a.md"}}}
{"type":"match","data":{"path":{"text":"pens/a.md"},"lines":{"text":"the žaba rule\n"},"line_number":4}}
{"type":"match","data":{"path":{"bytes":"b2xk6Q=="},"lines":{"bytes":"enrp"},"line_number":9}}
{"type":"match","data":{"path":{"text":"-dash.md"},"lines":{"text":"žaba"},"line_number":null}}
{"type":"summary","data":{"stats":{"matches":3}}}
"#;

#[test]
fn messages_of_ripgrep_become_hits() {
    let mut grep = op(Format::Jsonl);
    grep.filter.insert("type".to_owned(), "match".to_owned());
    grep.map = map(&[
        ("title", "data.path.text"),
        ("snippet", "data.lines.text"),
        ("uri", "tpl:{{data.path.text}}:{{data.line_number}}"),
        ("kind", "=match"),
    ]);
    assert_snapshot!(text(GREP, &grep), @r#"
    {"title":"pens/a.md","snippet":"the žaba rule","uri":"pens/a.md:4","kind":"match"}
    {"title":"-dash.md","snippet":"žaba","uri":"-dash.md:","kind":"match"}
    dropped 1, filtered 2
    "#);
    grep.map = map(&[("title", "data.path"), ("snippet", "data.lines")]);
    assert_snapshot!(text(GREP, &grep), @r#"
    {"title":"{\"text\":\"the žaba rule\\n\"}","snippet":"{\"text\":\"the žaba rule\\n\"}","kind":"match"}
    {"title":"{\"text\":\"žaba\"}","snippet":"{\"text\":\"žaba\"}","kind":"match"}
    dropped 1, filtered 2
    "#);
    let mut by_line = Op::default();
    by_line
        .filter
        .insert("data.line_number".to_owned(), "4".to_owned());
    by_line.map = map(&[("title", "data.path.text")]);
    assert_snapshot!(text(GREP, &by_line), @r#"
    {"title":"pens/a.md","kind":"match"}
    dropped 0, filtered 4
    "#);
}

#[test]
fn an_index_of_documents_is_read_by_paths() {
    let source = r#"{"took": 3, "hits": {"total": {"value": 10000}, "max_score": null, "hits": [
        {"_index": "zoo", "_id": "7", "_score": null, "_source": {"title": "Pens", "body": {"text": "<em>b</em> &amp; c"}, "@timestamp": 1512189030000, "url": null}, "highlight": {"body.text": ["Use <em>straw</em>"]}},
        {"_index": "zoo", "_id": "8", "_score": 1.5, "fields": {"title": ["From fields"], "url": ["https://z.example/8"]}},
        {"_index": "zoo", "_id": "9", "_score": 0.0, "_source": {}}]}}"#;
    let mut index = op(Format::Json);
    let usual = text(source, &index);
    index.items = Some("hits.hits[*]".to_owned());
    index.map = map(&[
        ("title", "_source.title|fields.title[0]|_id"),
        ("snippet", "highlight['body.text'][0]|_source.body.text"),
        (
            "uri",
            "_source.url|fields.url[0]|tpl:es://{{_index}}/{{_id}}",
        ),
        ("score", "_score"),
        ("date", "_source.@timestamp"),
    ]);
    assert_snapshot!(text(source, &index), @r#"
    {"title":"Pens","snippet":"Use straw","uri":"es://zoo/7","date":"2017-12-02T04:30:30Z"}
    {"title":"From fields","uri":"https://z.example/8","score":1.5}
    {"title":"9","uri":"es://zoo/9","score":0.0}
    "#);
    index.items = Some("hits.hits".to_owned());
    assert!(text(source, &index).starts_with(r#"{"title":"Pens""#));
    assert_eq!(
        usual, "dropped 1, filtered 0\n",
        "the payload is the only item"
    );
}

#[test]
fn numbers_keep_every_digit() {
    let source = r#"{"items":[{"id":9007199254740993,"name":"big"},{"id":1234567890123456789012,"name":"huge"},
        {"id":7.0,"name":"float"},{"id":-0,"name":"zero"},{"id":"007","name":"text"},{"id":null,"name":"null"},
        {"id":true,"name":"bool"},{"id":1e3,"name":"exp"},{"id":{"k":1},"name":"object"},{"id":[1,2],"name":"list"},
        {"name":"absent"},{"id":12,"name":404,"score":"0.87"},{"id":13,"name":"  ","score":"NaN"},
        {"id":14,"name":"a","name":"b","score":1e999},{"id":15,"name":{},"score":" -1e-2 "}]}"#;
    let mut ids = op(Format::Json);
    ids.map = map(&[
        ("title", "name"),
        ("uri", "tpl:z://{{id}}"),
        ("score", "score"),
    ]);
    assert_snapshot!(text(source, &ids), @r#"
    {"title":"big","uri":"z://9007199254740993"}
    {"title":"huge","uri":"z://1234567890123456789012"}
    {"title":"float","uri":"z://7.0"}
    {"title":"zero","uri":"z://-0"}
    {"title":"text","uri":"z://007"}
    {"title":"null","uri":"z://"}
    {"title":"bool","uri":"z://true"}
    {"title":"exp","uri":"z://1e3"}
    {"title":"object","uri":"z://{\"k\":1}"}
    {"title":"list","uri":"z://1,2"}
    {"title":"absent","uri":"z://"}
    {"title":"404","uri":"z://12","score":0.87}
    {"title":"z://13","uri":"z://13"}
    {"title":"b","uri":"z://14"}
    dropped 1, filtered 0
    "#);
    for format in [Format::Auto, Format::Json] {
        let hits = text(r#"[{"name": "NaN", "score": NaN}]"#, &op(format));
        assert_eq!(hits, "{\"title\":\"NaN\"}\n");
    }
}

#[test]
fn templates_in_an_answer_stay_text() {
    let source =
        r#"[{"id": "{{env.TOKEN}}", "name": "{{query}}", "summary": "{{env.TOKEN|urlencode}}"}]"#;
    let notes = Op {
        map: map(&[
            ("uri", "tpl:z://{{id}}"),
            ("kind", "tpl:{{query}}"),
            ("date", "tpl:{{env.GONE}}"),
        ]),
        ..Op::default()
    };
    assert_snapshot!(text(source, &notes), @r#"
    {"title":"{{query}}","snippet":"{{env.TOKEN|urlencode}}","uri":"z://{{env.TOKEN}}","kind":"otter"}
    note: `GONE` is not set, `map` takes it for empty
    "#);
}

#[test]
fn fields_are_fit_to_be_shown() {
    let item = json!([{
        "title": "\u{1b}[1mO\u{ad}t\u{200b}ter\u{1b}[0m\n\u{202e}and\tmore\u{e0041}",
        "snippet": "a < b\r\n c > d\u{0}",
        "uri": " z://my pen\u{2028}/\u{200d}1\n",
        "type": "a\nb",
    }]);
    assert_snapshot!(text(&item.to_string(), &Op::default()), @r#"{"title":"Otter and more","snippet":"a < b c > d","uri":"z://my%20pen%E2%80%A8/1","kind":"a b"}"#);
    let long = json!([{"body": "é word ".repeat(5000)}]).to_string();
    let shown: Value = serde_json::from_str(&text(&long, &Op::default())).unwrap();
    let (title, snippet) = (
        shown["title"].as_str().unwrap(),
        shown["snippet"].as_str().unwrap(),
    );
    assert_eq!(
        (title.chars().count(), title.ends_with('…')),
        (80, false),
        "{title}"
    );
    assert_eq!(
        (snippet.chars().count() <= 400, snippet.ends_with('…')),
        (true, true),
        "{snippet}"
    );
    let exact = json!([{"title": "t", "body": "x".repeat(400)}]).to_string();
    assert!(!text(&exact, &Op::default()).contains('…'));
}

#[test]
fn text_answers() {
    let op = |path: Option<&str>| Op {
        text: path.map(str::to_owned),
        ..Op::default()
    };
    let cases = [
        (None, "as\nit is", "as\nit is"),
        (
            None,
            r#"{"id": 1, "message": 2, "content": "c", "answer": "a"}"#,
            "c",
        ),
        (None, r#"{"id": 1}"#, "{\n  \"id\": 1\n}"),
        (None, r#"["a", "b"]"#, "a\nb"),
        (
            Some("parts[*].t"),
            r#"{"parts": [{"t": "a"}, {"t": 2}, {}]}"#,
            "a\n2",
        ),
        (
            Some("parts"),
            r#"{"parts": ["a", {"k": 1}]}"#,
            "a\n{\n  \"k\": 1\n}",
        ),
        (Some("gone"), r#"{"parts": 1}"#, ""),
        (Some("gone|parts"), r#"{"gone": "", "parts": 1.0}"#, "1.0"),
        (Some("gone"), "no JSON", "no JSON"),
    ];
    for (path, source, expected) in cases {
        let reading = Reading::new(&op(path));
        let payload = reading.payload(Raw::Text(source)).unwrap();
        assert_eq!(reading.text(&payload), expected, "{path:?} of {source}");
    }
}

#[test]
fn a_broken_expression_is_said() {
    let broken = Op {
        map: map(&[
            ("uri", "re:("),
            ("kind", "re:\"([A-Z])\\w+\""),
            ("date", "re:19\\d\\d"),
        ]),
        ..Op::default()
    };
    assert_snapshot!(text(r#"[{"title": "Otter", "n": "of 1987"}]"#, &broken), @r#"
    {"title":"Otter","kind":"O","date":"1987"}
    note: `map.uri` is no regular expression, so it finds nothing
    "#);
}
