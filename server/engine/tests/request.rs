//! The request an op would make (adapters.md sections 4 and 7).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod setup;

use std::path::Path;

use kontext_engine::request::{self, Body, Request};
use kontext_engine::secrets::Redactor;
use kontext_engine::{Fault, FaultKind};
use proptest::prelude::*;
use serde_json::{Value, json};
use setup::{adapter, adapter_in, inputs, op};

fn http(text: &str, env: &[(&str, &str)], given: Value) -> Result<request::HttpRequest, Fault> {
    let (adapter, ctx) = adapter_in(text, env, Path::new("/repo"));
    request::http(&adapter, op(&adapter, "search"), &ctx, &inputs(given))
}

fn url_of(adapter_fields: &str, op_fields: &str, given: Value) -> String {
    let text = format!(
        "[adapters.a]\ndriver = \"http\"\n{adapter_fields}\n[adapters.a.ops.search]\n{op_fields}\n"
    );
    match http(&text, &[("KEY", "k&1"), ("SHORT", "x")], given) {
        Ok(request) => request.url,
        Err(fault) => format!("{:?}: {fault}", fault.kind),
    }
}

fn command(text: &str, given: Value) -> Result<request::CommandLine, Fault> {
    let (adapter, ctx) = adapter_in(text, &[("HOME", "/home/ana")], Path::new("/repo"));
    request::command(&adapter, op(&adapter, "search"), &ctx, &inputs(given))
}

fn argv(command_field: &str, given: Value) -> Result<Vec<String>, String> {
    let text = format!(
        "[adapters.a]\ndriver = \"command\"\nvars = {{ q = \"{{{{query}}}}\", none = \"\", sh = \"sh\", flag = \"-c\" }}\n[adapters.a.ops.search]\ncommand = {command_field}\n"
    );
    match command(&text, given) {
        Ok(line) => Ok(line.argv),
        Err(fault) => {
            assert_eq!(fault.kind, FaultKind::Refused);
            Err(fault.message().to_owned())
        }
    }
}

#[test]
fn base_and_path_are_joined_by_one_slash() {
    for (base, path, expected) in [
        ("http://h/api", "/s", "http://h/api/s"),
        ("http://h/api/", "/s", "http://h/api/s"),
        ("http://h/api/", "s", "http://h/api/s"),
        ("http://h/api", "s", "http://h/api/s"),
        ("http://h", "", "http://h"),
        ("http://h/", "?x=1", "http://h/?x=1"),
        ("http://h/api?key=1", "/s", "http://h/api/s?key=1"),
        (
            "http://h/api?key=1#top",
            "/s?x=2",
            "http://h/api/s?key=1&x=2#top",
        ),
    ] {
        let fields = format!("base_url = \"{base}\"");
        let url = url_of(&fields, &format!("path = \"{path}\""), json!({}));
        assert_eq!(url, expected, "{base} + {path}");
    }
    let url = url_of(
        "url = \"http://low\"\nbase_url = \"http://high\"",
        "path = \"/s\"",
        json!({}),
    );
    assert_eq!(url, "http://high/s", "base_url wins over url");
    let url = url_of(
        "base_url = \"http://h\"",
        "url = \"https://other/x\"\npath = \"/s\"",
        json!({}),
    );
    assert_eq!(url, "https://other/x", "an op's url stands alone");
}

#[test]
fn values_in_a_path_are_encoded_once() {
    for (path, expected) in [
        ("/n/{{query}}", "http://h/n/a%20b/c%3Fd%23e%26%25"),
        (
            "/n/{{query|urlencode}}",
            "http://h/n/a%20b%2Fc%3Fd%23e%26%25",
        ),
        ("/n/{{query|upper}}/x", "http://h/n/A%20B/C%3FD%23E%26%25/x"),
        ("/n?q={{query}}", "http://h/n?q=a%20b/c%3Fd%23e%26%25"),
    ] {
        let url = url_of(
            "base_url = \"http://h\"",
            &format!("path = \"{path}\""),
            json!({ "query": "a b/c?d#e&%" }),
        );
        assert_eq!(url, expected, "{path}");
    }
}

#[test]
fn a_value_does_not_climb() {
    for (path, value) in [
        ("/n/{{query}}", ".."),
        ("/n/{{query}}", "../x"),
        ("/n/{{query}}", "x/./y"),
        ("/n/.{{query}}", "."),
        ("/n/{{query|urlencode}}/x", ".."),
        ("{{query}}", "a/.."),
        ("/n/%2e{{query}}", "."),
    ] {
        let url = url_of(
            "base_url = \"http://h\"",
            &format!("path = \"{path}\""),
            json!({ "query": value }),
        );
        assert!(
            url.starts_with("Refused: a value puts `.` or `..`"),
            "{path} with {value}: {url}"
        );
    }
    for (path, value, expected) in [
        ("/n/../{{query}}", "x", "http://h/n/../x"),
        ("/n/{{query}}", "..x", "http://h/n/..x"),
        ("/n/{{query}}", "%2e%2e", "http://h/n/%252e%252e"),
        ("/n?q={{query}}", "..", "http://h/n?q=.."),
    ] {
        let url = url_of(
            "base_url = \"http://h\"",
            &format!("path = \"{path}\""),
            json!({ "query": value }),
        );
        assert_eq!(url, expected);
    }
}

#[test]
fn query_parameters() {
    let url = url_of(
        "base_url = \"http://h/api?v=1#f\"",
        "query = { q = \"{{query}}\", n = 7, half = 1.5, all = true, gone = \"{{focus}}\", empty = \"\", \"a b\" = \"x\", key = \"{{env.KEY}}\" }",
        json!({ "query": "red panda & co/~" }),
    );
    assert_eq!(
        url,
        "http://h/api?v=1&q=red%20panda%20%26%20co%2F~&n=7&half=1.5&all=true&a%20b=x&key=k%261#f"
    );
}

#[test]
fn urls_that_cannot_be_asked() {
    for (base, expected) in [
        ("ftp://h/x", "neither `http://` nor `https://`"),
        ("file:///etc/passwd", "neither `http://` nor `https://`"),
        ("h/x", "is not one"),
        ("http://", "names no host"),
        ("http:///h", "names no host"),
        ("https:h", "names no host"),
        ("http://?x", "names no host"),
        ("http://@:80", "is not one: empty host"),
        ("http://h:99999", "is not one: invalid port number"),
        ("http://h/{{env.NONE}}", "variable `NONE`, which is not set"),
        ("http://{{query}}/x", "control character"),
    ] {
        let url = url_of(
            &format!("base_url = \"{base}\""),
            "path = \"/s\"",
            json!({ "query": "h\nx" }),
        );
        assert!(url.starts_with("Refused: "), "{base}: {url}");
        assert!(url.contains(expected), "{base}: {url}");
    }
    let url = url_of(
        "base_url = \"http://h/{{env.NONE|default:x}}\"",
        "",
        json!({}),
    );
    assert_eq!(url, "http://h/x", "a default stands in");
}

#[test]
fn half_a_credential_is_not_sent() {
    let text = r#"
[vars]
token = "{{env.UNSET_TOKEN}}"
[adapters.a]
driver = "http"
base_url = "http://h"
headers = { Authorization = "Bearer {{vars.token}}" }
[adapters.a.ops.search]
"#;
    let fault = http(text, &[], json!({})).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Refused);
    assert_eq!(
        fault.message(),
        "the header `Authorization` uses the environment variable `UNSET_TOKEN`, which is not set; set it, or give a `default`"
    );
}

#[test]
fn headers() {
    let text = r#"
[adapters.a]
driver = "http"
base_url = "http://h"
headers = { X-One = "1", x-two = "2", X-Key = "{{env.KEY}}" }
[adapters.a.ops.search]
headers = { X-Two = "over", Accept = "text/plain" }
"#;
    let request = http(text, &[("KEY", "with newline\n")], json!({})).unwrap();
    let expected = [
        ("X-One", "1"),
        ("X-Two", "over"),
        ("X-Key", "with newline"),
        ("Accept", "text/plain"),
    ];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(request.headers, expected);

    let fault = http(text, &[("KEY", "a\r\nX-Injected: 1")], json!({})).unwrap_err();
    assert_eq!(
        fault.message(),
        "the header `X-Key` would hold a line break; its value must be one line"
    );
    for name in ["\"a b\"", "\"a\\nb\"", "Content-Length"] {
        let text = format!(
            "[adapters.a]\ndriver = \"http\"\nbase_url = \"http://h\"\nheaders = {{ {name} = \"1\" }}\n[adapters.a.ops.search]\n"
        );
        let fault = http(&text, &[], json!({})).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Refused, "{name}");
    }
}

#[test]
fn methods_and_bodies() {
    let of = |op_fields: &str| {
        let text = format!(
            "[adapters.a]\ndriver = \"http\"\nbase_url = \"http://h\"\n[adapters.a.ops.search]\n{op_fields}\n"
        );
        http(&text, &[], json!({ "limit": 7, "query": "a \"b\"" })).unwrap()
    };
    assert_eq!((of("").method.as_str(), of("").body), ("GET", None));
    let json = of("body = { n = \"{{limit}}\", q = \"{{query}}\", gone = \"{{focus}}\" }");
    assert_eq!(json.method, "POST");
    assert_eq!(
        json.body,
        Some(Body::Json(json!({ "n": 7, "q": "a \"b\"" })))
    );
    assert_eq!(
        json.headers,
        [("Content-Type".to_owned(), "application/json".to_owned())]
    );
    let text = of("body = \"q={{query}}\"");
    assert_eq!(text.body, Some(Body::Text("q=a \"b\"".to_owned())));
    assert_eq!(text.headers, []);
    let own = of("method = \"put\"\nbody = {}\nheaders = { content-type = \"application/x\" }");
    assert_eq!(own.method, "PUT");
    assert_eq!(own.headers.len(), 1);
}

#[test]
fn an_argument_stays_one_argument() {
    let given = json!({ "query": "a b\n'c' \"d\" $(e) {{env.HOME}}" });
    assert_eq!(
        argv("[\"rg\", \"--json\", \"{{query}}\", \"\"]", given).unwrap(),
        ["rg", "--json", "a b\n'c' \"d\" $(e) {{env.HOME}}", ""]
    );
}

#[test]
fn an_input_is_not_taken_for_an_option() {
    let given = || json!({ "query": "--pre=/x", "limit": -5 });
    for refused in [
        "[\"rg\", \"{{query}}\"]",
        "[\"rg\", \"{{query}}.md\"]",
        "[\"rg\", \"{{vars.q}}\"]",
        "[\"rg\", \"{{vars.none}}{{query}}\"]",
        "[\"rg\", \"{{query}}\", \"--\"]",
        "[\"rg\", \"{{query|trim}}\"]",
    ] {
        assert_eq!(
            argv(refused, given()).unwrap_err(),
            "the input `query` begins with `-` and would be read as an option; put the element \"--\" before it in `command`, or join it to an option: \"--name={{query}}\"",
            "{refused}"
        );
    }
    for (passed, last) in [
        ("[\"rg\", \"--\", \"{{query}}\"]", "--pre=/x"),
        ("[\"rg\", \"--regexp={{query}}\"]", "--regexp=--pre=/x"),
        ("[\"rg\", \"{{query|slug}}\"]", "pre-x"),
        ("[\"rg\", \"{{limit}}\"]", "-5"),
        ("[\"rg\", \"{{'-n'}}\"]", "-n"),
    ] {
        assert_eq!(argv(passed, given()).unwrap().last().unwrap(), last);
    }
    assert_eq!(
        argv("[\"rg\", \"{{query}}\"]", json!({ "query": "a -b" })).unwrap(),
        ["rg", "a -b"]
    );
}

#[test]
fn a_harmless_name_with_any_text_is_an_input() {
    for name in ["limit", "output_file"] {
        let argument = format!("[\"rg\", \"{{{{{name}}}}}\"]");
        let fault = argv(&argument, json!({ name: "--pre=x" })).unwrap_err();
        assert!(fault.starts_with("the input `"), "{fault}");
    }
}

#[test]
fn a_shell_runs_no_input() {
    for refused in [
        "[\"sh\", \"-c\", \"echo {{query}}\"]",
        "[\"/bin/bash\", \"-lc\", \"echo '{{query|json}}'\"]",
        "[\"env\", \"-i\", \"A=1\", \"sh\", \"-c\", \"{{vars.q}}\"]",
        "[\"cmd.exe\", \"/c\", \"dir\", \"{{query}}\"]",
        "[\"{{vars.sh}}\", \"-c\", \"echo {{query}}\"]",
        "[\"sh\", \"{{vars.flag}}\", \"echo {{query}}\"]",
        "[\"xargs\", \"sh\", \"-c\", \"echo {{query}}\"]",
        "[\"find\", \".\", \"-exec\", \"sh\", \"-c\", \"echo {{query}}\", \";\"]",
        "[\"flock\", \"f\", \"-c\", \"echo {{query}}\"]",
        "[\"sh\"]\nstdin = \"echo {{query}}\"",
        "[\"env\", \"bash\", \"-es\", \"x\"]\nstdin = \"echo {{vars.q}}\"",
    ] {
        assert!(
            argv(refused, json!({ "query": "x" }))
                .unwrap_err()
                .starts_with("the shell runs what the input `query` holds"),
            "{refused}"
        );
    }
    assert_eq!(
        argv(
            "[\"sh\", \"-c\", \"grep -- \\\"$1\\\" .\", \"sh\", \"{{query}}\"]",
            json!({ "query": "x; touch /tmp/y" })
        )
        .unwrap()
        .last()
        .unwrap(),
        "x; touch /tmp/y"
    );
    for passed in [
        "[\"sh\", \"script.sh\"]\nstdin = \"{{query}}\"",
        "[\"cat\"]\nstdin = \"{{query}}\"",
        "[\"find\", \".\", \"-name\", \"sh{{query}}\"]",
    ] {
        argv(passed, json!({ "query": "x" })).unwrap();
    }
}

#[test]
fn folder_environment_and_input_of_a_program() {
    let text = r#"
[adapters.a]
driver = "command"
command = ["x"]
cwd = "tools"
env = { A = "1", B = "{{env.HOME}}/b", GONE = false }
[adapters.a.ops.search]
stdin = "{{query}}"
env = { A = "2", EMPTY = "" }
"#;
    let line = command(text, json!({ "query": "in" })).unwrap();
    assert_eq!(line.cwd, Path::new("/repo/tools"));
    assert_eq!(line.stdin.as_deref(), Some("in"));
    let parent = kontext_config::facts::Env::new(
        [("GONE", "x"), ("KEPT", "y"), ("A", "0")]
            .map(|(name, value)| (name.to_owned(), value.to_owned())),
        false,
    );
    let env = line.environment(&parent);
    let pairs: Vec<(&str, &str)> = env.names().map(|n| (n, env.get(n).unwrap())).collect();
    assert_eq!(
        pairs,
        [
            ("A", "2"),
            ("B", "/home/ana/b"),
            ("EMPTY", ""),
            ("KEPT", "y")
        ]
    );
    let fault = command(&text.replace("env.HOME", "env.NONE"), json!({})).unwrap_err();
    assert!(fault.message().contains("`env.B`") && fault.message().contains("`NONE`"));
}

#[test]
fn cycles_are_refused_by_name() {
    let text = "[adapters.a]\ndriver = \"command\"\nvars = { x = \"{{vars.y}}\", y = \"{{vars.x}}\" }\n[adapters.a.ops.search]\ncommand = [\"echo\", \"{{vars.x}}\"]\n";
    assert_eq!(
        command(text, json!({})).unwrap_err().message(),
        "`command` uses variables that refer to each other: `x` → `y` → `x`; break the cycle"
    );
}

#[test]
fn arguments_of_a_tool() {
    let text = r#"
[adapters.a]
driver = "mcp"
command = ["x"]
[adapters.a.ops.search]
tool = "find"
args = { q = "{{query}}", n = "{{limit}}", gone = "{{nope}}", list = ["{{nope}}", "x"] }
[adapters.a.ops.code]
tool = "find"
[adapters.a.ops.brief]
tool = "find"
args = {}
"#;
    let (adapter, ctx) = adapter(text);
    let given = inputs(json!({ "query": "q", "limit": 9_007_199_254_740_993_u64 }));
    let call = |name: &str| request::tool(&adapter, op(&adapter, name), &ctx, &given).unwrap();
    assert_eq!(
        Value::Object(call("search").args.unwrap()),
        json!({ "q": "q", "n": 9_007_199_254_740_993_u64, "list": ["x"] })
    );
    assert_eq!(call("code").args, None);
    assert_eq!(call("brief").args, Some(serde_json::Map::new()));
}

#[test]
fn a_preview_shows_no_secret() {
    let text = r#"
[adapters.a]
driver = "http"
base_url = "https://ana:{{env.PASS}}@h/{{env.AREA}}/api?key={{env.KEY}}"
headers = { Authorization = "Bearer {{env.TOKEN}}", X-Api-Key = "literal-secret", Accept = "a/b" }
[adapters.a.ops.search]
path = "/n/{{env.AREA}}"
query = { q = "{{query}}", api_key = "written-here", t = "{{env.TOKEN}}" }
body = { token = "{{env.TOKEN}}", q = "{{query}}" }
"#;
    let env = [
        ("PASS", "p4ssw0rd"),
        ("KEY", "key-ABCDEF"),
        ("TOKEN", "tok-GHIJKL"),
        ("AREA", "north"),
    ];
    let (adapter, ctx) = adapter_in(text, &env, Path::new("/repo"));
    let given = inputs(json!({ "query": "a b" }));
    let shown = request::preview(&adapter, op(&adapter, "search"), &ctx, &given).unwrap();
    assert_eq!(
        shown,
        json!({
            "method": "POST",
            "url": "https://‹hidden›@h/‹env.AREA›/api/n/‹env.AREA›?key=‹env.KEY›&q=a%20b&api_key=‹hidden›&t=‹env.TOKEN›",
            "headers": {
                "Authorization": "Bearer ‹env.TOKEN›",
                "X-Api-Key": "‹hidden›",
                "Accept": "a/b",
                "Content-Type": "application/json",
            },
            "body": { "token": "‹env.TOKEN›", "q": "a b" },
        })
    );
    let Request::Http(request) =
        request::build(&adapter, op(&adapter, "search"), &ctx, &given).unwrap()
    else {
        panic!("an HTTP request");
    };
    let debug = format!("{request:?}");
    for (_, value) in env.iter().take(3) {
        assert!(!debug.contains(value), "{debug}");
    }
    let redactor = Redactor::new(&adapter, &ctx);
    assert_eq!(
        redactor.redact("p4ssw0rd in north? key-ABCDEF, tok-GHIJKL/tok-GHIJKL"),
        "‹env.PASS› in ‹env.AREA›? ‹env.KEY›, ‹env.TOKEN›/‹env.TOKEN›"
    );
    assert_eq!(
        redactor
            .with_request(&request)
            .redact("sent literal-secret"),
        "sent ‹header X-Api-Key›"
    );
}

#[test]
fn a_preview_refuses_what_a_call_refuses() {
    let text = "[adapters.a]\ndriver = \"http\"\nbase_url = \"http://h\"\nheaders = { X-Line = \"{{env.M}}\" }\n[adapters.a.ops.search]\n";
    let (adapter, ctx) = adapter_in(text, &[("M", "a\r\nB: c")], Path::new("/repo"));
    let fault =
        request::preview(&adapter, op(&adapter, "search"), &ctx, &inputs(json!({}))).unwrap_err();
    assert!(fault.message().contains("`X-Line`"), "{fault}");
}

#[test]
fn secrets_are_found_as_they_are_sent() {
    let text = "[adapters.a]\ndriver = \"http\"\nbase_url = \"http://h\"\n[adapters.a.ops.search]\nquery = { k = \"{{env.KEY}}\", s = \"{{env.SHORT}}\" }\n";
    let env = [("KEY", "a b/\"c"), ("SHORT", "abc")];
    let (adapter, ctx) = adapter_in(text, &env, Path::new("/repo"));
    let redactor = Redactor::new(&adapter, &ctx);
    assert_eq!(
        redactor.redact(r#"k=a%20b%2f%22C k=a+b%2F%22c {"k":"a b/\"c"} abc"#),
        r#"k=‹env.KEY› k=‹env.KEY› {"k":"‹env.KEY›"} abc"#
    );
}

#[test]
fn preview_of_a_program() {
    let text = r#"
[adapters.a]
driver = "command"
command = ["rg", "--", "{{query}}", "{{env.KEY}}"]
env = { API_TOKEN = "abcdef", KEY = "{{env.KEY}}", OFF = false }
[adapters.a.ops.search]
"#;
    let (adapter, ctx) = adapter_in(text, &[("KEY", "-secret-")], Path::new("/repo"));
    let given = inputs(json!({ "query": "-x" }));
    assert_eq!(
        request::preview(&adapter, op(&adapter, "search"), &ctx, &given).unwrap(),
        json!({
            "command": ["rg", "--", "-x", "‹env.KEY›"],
            "cwd": "/repo",
            "env": { "API_TOKEN": "‹hidden›", "KEY": "‹env.KEY›", "OFF": false },
        })
    );
}

/// Text in which what could break out is likely.
fn hostile() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "[-./%?#&=\\\\:@ \r\n\0a-c{}|']{0,6}",
        Just("..".to_owned()),
        Just("/../".to_owned()),
        Just("{{env.KEY}}".to_owned()),
        Just("%2e%2e".to_owned()),
        any::<String>(),
    ];
    proptest::collection::vec(part, 0..4).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Whatever a value holds, it stays below the path it was put into.
    #[test]
    fn values_stay_in_their_place(value in hostile(), filter in 0..4_usize) {
        let filter = ["", "|urlencode", "|trim", "|after:/"][filter];
        let text = format!(
            "[adapters.a]\ndriver = \"http\"\nbase_url = \"https://h/base/\"\n[adapters.a.ops.search]\npath = \"/n/{{{{query{filter}}}}}/end\"\nquery = {{ q = \"{{{{query}}}}\" }}\n"
        );
        let env = [("KEY", "s3cr3t-VALUE")];
        if let Ok(request) = http(&text, &env, json!({ "query": value })) {
            let url = reqwest::Url::parse(&request.url).unwrap();
            prop_assert_eq!(url.host_str(), Some("h"));
            prop_assert!(url.path().starts_with("/base/n/"), "{}", url);
            prop_assert!(url.path().ends_with("/end"), "{}", url);
            prop_assert_eq!(url.fragment(), None);
            let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
            let expected = (!value.is_empty()).then(|| ("q".to_owned(), value.clone()));
            prop_assert_eq!(pairs, expected.into_iter().collect::<Vec<_>>());
            prop_assert!(!request.url.contains("s3cr3t"));
        }
    }

    /// Whatever a value holds, it is one argument and no option.
    #[test]
    fn values_are_operands(value in hostile()) {
        let line = argv("[\"rg\", \"{{query}}\", \"--\", \"{{query}}\"]", json!({ "query": value }));
        match line {
            Ok(argv) => {
                prop_assert_eq!(argv.len(), 4);
                prop_assert!(!argv[1].starts_with('-'));
                prop_assert_eq!(&argv[1], &value);
                prop_assert_eq!(&argv[3], &value);
            }
            Err(_) => prop_assert!(value.starts_with('-')),
        }
    }

    /// No template makes building or showing a request panic, and no secret is shown.
    #[test]
    fn any_template_is_rendered_or_refused(parts in proptest::collection::vec(
        prop_oneof![
            Just("{{env.KEY}}".to_owned()),
            Just("{{env.KEY|upper}}".to_owned()),
            Just("{{query}}".to_owned()),
            Just("http://h/".to_owned()),
            Just("{{".to_owned()),
            "[-a-z:/@?#{}|.' ]{0,8}",
            any::<String>(),
        ],
        0..5,
    )) {
        let source = Value::from(parts.concat()).to_string();
        for (driver, fields) in [
            ("http", format!("url = {source}\npath = {source}\nquery = {{ a = {source} }}\nheaders = {{ X-A = {source} }}\nbody = [{source}]")),
            ("http", format!("path = {source}")),
            ("command", format!("command = [\"x\", {source}]\nstdin = {source}\ncwd = {source}\nenv = {{ A = {source} }}")),
            ("mcp", format!("tool = \"t\"\nargs = {{ a = {source} }}")),
        ] {
            let target = if driver == "mcp" { "command = [\"x\"]" } else { "base_url = \"http://h\"" };
            let target = if driver == "command" { "" } else { target };
            let text = format!("[adapters.a]\ndriver = \"{driver}\"\n{target}\n[adapters.a.ops.search]\n{fields}\n");
            let Some((adapter, ctx)) = setup::try_adapter_in(&text, &[("KEY", "s3cr3t-value")], Path::new("/r")) else {
                continue;
            };
            let given = inputs(json!({ "query": "-x y" }));
            let shown = request::preview(&adapter, op(&adapter, "search"), &ctx, &given);
            let shown = format!("{shown:?}").to_lowercase();
            prop_assert!(!shown.contains("s3cr3t"), "{}", shown);
        }
    }
}
