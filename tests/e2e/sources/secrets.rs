//! What must not get out, and what must not be obeyed.

use serde_json::{Value, json};

use super::service::Service;
use super::{OPEN, agent, each, place, refused, tested, text_of, trial};
use crate::harness::{Client, Fixture, McpClient, codes};

/// S01: template text in a query, an environment value and an item stays text.
#[tokio::test]
async fn what_is_inserted_is_never_rendered_again() {
    let user = format!(
        "{OPEN}{}",
        r#"
[adapters.echo]
driver = "command"
vars = { inner = "{{env.TYPED}}", round = "{{vars.about}}", about = "{{vars.round}}" }
[adapters.echo.ops.search]
command = ["printf", "%s|%s", "{{query}}", "{{vars.inner}}"]
format = "text"
[adapters.echo.ops.code]
command = ["cat", "items.json"]
format = "json"
map = { title = "name", snippet = "summary", uri = "tpl:n://{{id}}" }
[adapters.echo.ops.llm]
command = ["printf", "%s", "{{vars.round}}"]
"#
    );
    let items = json!([{"id": "{{env.KEPT}}", "name": "{{vars.inner}}", "summary": "{{env.KEPT|urlencode}}"}]);
    let place = place(&user, &[("items.json", &items.to_string())])
        .env("KEPT", "kept-for-myself")
        .env("TYPED", "{{env.KEPT}}");
    let query = "{{env.KEPT}} {{vars.inner}} }}{{";
    let (code, report) = tested(&place, &["echo", "--query", query]);
    assert_eq!(code, 1, "{report}");
    assert_eq!(
        trial(&report, "echo", "search")["hits"][0]["title"],
        format!("{query}|{{{{env.KEPT}}}}")
    );
    assert_eq!(
        trial(&report, "echo", "code")["hits"],
        json!([{"title": "{{vars.inner}}", "snippet": "{{env.KEPT|urlencode}}", "uri": "n://{{env.KEPT}}"}])
    );
    // The circle is named, and nothing is called.
    let error = trial(&report, "echo", "llm")["error"].as_str().unwrap();
    assert!(
        error.contains("round") && error.contains("about"),
        "{error}"
    );
    assert!(!report.to_string().contains("kept-for-myself"), "{report}");

    let mut agent = agent(&place).await;
    let call = json!({"adapter": "echo", "op": "search", "inputs": {"query": query}});
    let answer = agent.structured("kontext_call", call).await;
    assert_eq!(text_of(&answer), format!("{query}|{{{{env.KEPT}}}}"));
    heard_nothing_of(&agent, &["kept-for-myself"]);
}

/// S02: a query that a program would take for an option, or a shell for a command.
#[tokio::test]
async fn a_query_is_data() {
    let user = format!(
        "{OPEN}{}",
        r#"
[adapters.bare]
driver = "command"
[adapters.bare.ops.search]
command = ["sh", "find.sh", "--json", "{{query}}"]
[adapters.dashed]
driver = "command"
[adapters.dashed.ops.search]
command = ["sh", "find.sh", "--json", "--", "{{query}}"]
[adapters.script]
driver = "command"
[adapters.script.ops.search]
command = ["sh", "-c", "echo {{query}}"]
[adapters.placed]
driver = "command"
[adapters.placed.ops.search]
command = ["sh", "-c", 'echo "[\"$1\"]"', "--", "{{query}}"]
"#
    );
    // Obeys `--pre=PROGRAM` as long as no `--` stands before it.
    let find = "for word; do\n  case \"$word\" in\n    --) break ;;\n    --pre=*) sh \"${word#--pre=}\" ;;\n  esac\ndone\nfor last; do :; done\nprintf '%s\\n' \"$# $last\"\n";
    let place = place(
        &user,
        &[("find.sh", find), ("evil.sh", "echo done > obeyed\n")],
    );
    let query = format!("--pre={}", place.path("evil.sh").display());
    // (The shell's own parser would take it for an option as well.)
    let (code, report) = tested(&place, &[&format!("--query={query}")]);
    assert_eq!(code, 1);
    let error = trial(&report, "bare", "search")["error"].as_str().unwrap();
    assert!(error.contains("--"), "{error}");
    let dashed = trial(&report, "dashed", "search");
    assert_eq!(dashed["hits"][0]["title"], format!("3 {query}"));

    let two = "one; echo done > obeyed\n'two' \"$(echo done > obeyed)\"";
    let (_, report) = tested(&place, &["--query", two]);
    let error = trial(&report, "script", "search")["error"]
        .as_str()
        .unwrap();
    assert!(
        error.contains("`sh -c`") || error.contains("script"),
        "{error}"
    );
    // One element of the template is one argument, whatever is in it.
    for name in ["bare", "dashed"] {
        let arguments = trial(&report, name, "search")["request"]["command"].clone();
        assert_eq!(arguments.as_array().unwrap().last().unwrap(), two);
    }
    let placed = trial(&report, "placed", "search");
    assert!(placed["error"].is_null(), "{placed}");

    let mut agent = agent(&place).await;
    let found = agent
        .structured("kontext_search", json!({"query": query}))
        .await;
    for source in ["bare", "script"] {
        let notes = found["notes"].as_array().unwrap();
        assert!(notes.iter().any(|note| note["source"] == source), "{found}");
    }
    assert!(!place.path("obeyed").exists(), "the query was obeyed");

    // The editor has said so before.
    let uri = place.config_uri("config.toml");
    let mut client = Client::spawn(&place);
    client.initialize(json!({"rootUri": place.uri("")})).await;
    client.open(&uri, &user);
    let found = client.diagnostics(&uri, 1).await;
    let warned: Vec<u64> = found
        .iter()
        .filter(|one| one["severity"].as_u64().unwrap() <= 2)
        .map(|one| one["range"]["start"]["line"].as_u64().unwrap())
        .collect();
    let line = |text: &str| user.lines().position(|line| line.contains(text)).unwrap() as u64;
    assert_eq!(
        warned,
        [
            line("\"--json\", \"{{query}}\""),
            line("\"echo {{query}}\"")
        ],
        "{:?}",
        codes(&found)
    );
}

/// S04: headers with secrets, and a service that sends its visitors elsewhere.
#[test]
fn secrets_stay_with_the_host_they_are_for() {
    let secret = "redirected-7f3a";
    let other = Service::start(|_| (200, String::new(), r#"[{"title":"other"}]"#.to_owned()));
    let target = format!("http://127.0.0.1:{}/landed", other.port);
    let one = Service::start(move |asked| {
        let (_, path) = asked.what.split_once(' ').unwrap();
        let to = |code, to: &str| (code, format!("Location: {to}\r\n"), String::new());
        match path.get(..4) {
            Some("/own") => to(302, "/landed"),
            Some("/lan") => (200, String::new(), r#"[{"title":"own"}]"#.to_owned()),
            _ => to(path.trim_matches('/').parse().unwrap(), &target),
        }
    });
    let mut user = String::new();
    for (name, path, method) in [
        ("a", "/302", "GET"),
        ("b", "/307", "POST"),
        ("c", "/308", "POST"),
        ("d", "/own", "GET"),
    ] {
        let body = if method == "POST" {
            "body = { q = \"{{query}}\", key = \"{{env.MINE}}\" }\n"
        } else {
            ""
        };
        user += &format!(
            r#"
[adapters.{name}]
driver = "http"
base_url = "http://127.0.0.1:{}"
headers = {{ PRIVATE-TOKEN = "{{{{env.MINE}}}}", Authorization = "Bearer {{{{env.MINE}}}}", X-Trace = "t" }}
[adapters.{name}.ops.search]
method = "{method}"
path = "{path}"
{body}"#,
            one.port
        );
    }
    let place = place(&user, &[]).env("MINE", secret);
    let (_, report) = tested(&place, &[]);
    // Followed at home, with everything; what it answered is used.
    assert_eq!(each(trial(&report, "d", "search"), "title"), ["own"]);
    let landed = one.asked();
    let landed = landed
        .iter()
        .find(|asked| asked.what == "GET /landed")
        .unwrap();
    assert_eq!(landed.header("private-token"), Some(secret));
    for asked in other.asked() {
        assert!(!format!("{asked:?}").contains(secret), "{asked:?}");
    }
    // Abroad it is either refused, and the words name the place, or went without.
    for name in ["a", "b", "c"] {
        let trial = trial(&report, name, "search");
        match trial["error"].as_str() {
            Some(error) => assert!(
                error.contains(&format!("127.0.0.1:{}", other.port)),
                "{error}"
            ),
            None => assert_eq!(each(trial, "title"), ["other"]),
        }
    }
    assert!(!report.to_string().contains(secret), "{report}");
}

const KEY: &str = "key-91c04e";
const TOKEN: &str = "token-b27d5f";

/// S05: a service that is down, a variable that is not set, one with a line break; a program and
/// a server that tell what they were given.
fn s05() -> Fixture {
    let child = r#"
[adapters.child]
driver = "mcp"
command = ["python3", "server.py", "--key={{env.SOME_KEY}}"]
env = { TOKEN = "{{env.SOME_TOKEN}}" }
[adapters.child.ops.search]
tool = "find"
"#;
    let user = format!(
        "{OPEN}{}{}",
        r#"
[adapters.wiki]
driver = "http"
base_url = "http://127.0.0.1:9/api?key={{env.SOME_KEY}}"
headers = { Authorization = "Bearer {{env.SOME_TOKEN}}" }
when = { env = "SOME_TOKEN" }
[adapters.wiki.ops.search]
path = "/s"
query = { q = "{{query}}", api_key = "{{env.SOME_KEY}}" }

[adapters.ghost]
driver = "http"
base_url = "http://127.0.0.1:9"
headers = { Authorization = "Bearer {{env.NOT_SET}}" }
[adapters.ghost.ops.search]
path = "/s"

[adapters.lines]
driver = "http"
base_url = "http://127.0.0.1:9"
headers = { X-Line = "{{env.MANY_LINES}}" }
[adapters.lines.ops.search]
path = "/s"

[adapters.loud]
driver = "command"
command = ["sh", "-c", "echo \"no luck with $1\" >&2; exit 3", "sh", "{{env.SOME_KEY}}"]
env = { TOKEN = "{{env.SOME_TOKEN}}" }
[adapters.loud.ops.search]
"#,
        child
    );
    // It starts by telling everything it knows to its log, and then ends.
    let telling = "import os, sys\nprint(sys.argv, os.environ, file=sys.stderr)\nprint('no protocol', sys.argv)\nraise SystemExit(' '.join(sys.argv))\n";
    place(&user, &[("server.py", telling)])
        .env("SOME_KEY", KEY)
        .env("SOME_TOKEN", TOKEN)
        .env("MANY_LINES", "a\r\nX-Injected: 1")
        .env("KONTEXT_LOG", "trace")
}

/// All that a process has said so far holds none of these.
fn heard_nothing_of(agent: &McpClient, secrets: &[&str]) {
    agent.received(|received| {
        let all = format!("{received:?}");
        for secret in secrets {
            assert!(!all.contains(secret), "{secret} in {all}");
        }
    });
}

/// No file that was written holds one of these either.
fn wrote_nothing_of(place: &Fixture, secrets: &[&str]) {
    let mut open = vec![place.outside("")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let (path, kind) = entry
                .map(|entry| (entry.path(), entry.file_type().unwrap()))
                .unwrap();
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file() {
                let bytes = std::fs::read(&path).unwrap();
                let text = String::from_utf8_lossy(&bytes);
                for secret in secrets {
                    assert!(!text.contains(secret), "{secret} in {}", path.display());
                }
            }
        }
    }
}

#[test]
fn the_shell_shows_no_secret() {
    let place = s05();
    for args in [
        &["adapters", "test"][..],
        &["adapters", "test", "--json"],
        &["adapters", "inspect", "wiki"],
        &["adapters", "inspect", "wiki", "--json"],
        &["adapters", "inspect", "child"],
        &["adapters", "inspect", "child", "--json"],
        &["adapters", "inspect", "loud", "--json"],
        &["adapters", "list", "--json"],
        &["check"],
    ] {
        let (_, out, err) = place.run(args);
        for secret in [KEY, TOKEN] {
            assert!(!out.contains(secret), "{args:?}: {secret} in {out}");
            assert!(!err.contains(secret), "{args:?}: {secret} in {err}");
        }
    }
    wrote_nothing_of(&place, &[KEY, TOKEN]);
    let (code, report) = tested(&place, &[]);
    assert_eq!(code, 1);
    let error = |name| {
        let error = trial(&report, name, "search")["error"].as_str();
        error.unwrap_or_else(|| panic!("{report}"))
    };
    assert!(error("wiki").contains("127.0.0.1:9"), "{}", error("wiki"));
    assert!(error("ghost").contains("NOT_SET"), "{}", error("ghost"));
    assert!(error("lines").contains("X-Line"), "{}", error("lines"));
    assert!(error("loud").contains("no luck with"), "{}", error("loud"));
}

#[tokio::test]
async fn an_agent_hears_no_secret() {
    let place = s05();
    let uri = place.config_uri("config.toml");
    let text = std::fs::read_to_string(place.config_path("config.toml")).unwrap();
    let mut client = Client::spawn(&place);
    client.initialize(json!({"rootUri": place.uri("")})).await;
    client.open(&uri, &text);
    let mut agent = agent(&place).await;
    let found = agent
        .structured("kontext_search", json!({"query": "x"}))
        .await;
    let notes = found["notes"].as_array().unwrap();
    let sources: Vec<&Value> = notes.iter().map(|note| &note["source"]).collect();
    assert_eq!(
        sources,
        ["wiki", "ghost", "lines", "loud", "child"],
        "{found}"
    );
    let mut answers = vec![found];
    for adapter in ["wiki", "ghost", "lines", "loud", "child"] {
        let arguments = json!({"adapter": adapter, "op": "search", "inputs": {"query": "x"}});
        answers.push(agent.call("kontext_preview", arguments.clone()).await);
        let words = refused(&mut agent, "kontext_call", arguments).await;
        assert!(words.contains(adapter), "{words}");
        answers.push(words.into());
        let of = json!({"of": format!("adapters.{adapter}")});
        answers.push(agent.call("kontext_explain", of).await);
    }
    let child = json!({"adapter": "child"});
    answers.push(agent.call("kontext_spawn", child).await);
    for tool in ["kontext_status", "kontext_snapshot", "kontext_check"] {
        answers.push(agent.structured(tool, json!({})).await);
    }
    for needle in ["env.SOME_TOKEN", "when = { env", "env.SOME_KEY"] {
        answers.push(client.hover(&uri, needle).await.into());
    }
    for answer in answers.iter().map(Value::to_string) {
        for secret in [KEY, TOKEN] {
            assert!(!answer.contains(secret), "{secret} in {answer}");
        }
    }
    heard_nothing_of(&agent, &[KEY, TOKEN]);
    client.received(|received| {
        // The server's own words are in the log, without what it was given.
        let said = "--key=‹env.SOME_KEY›";
        assert!(received.stderr.contains(said), "{}", received.stderr);
        let all = format!("{received:?}");
        for secret in [KEY, TOKEN] {
            assert!(!all.contains(secret), "{secret} in {all}");
        }
    });
    wrote_nothing_of(&place, &[KEY, TOKEN]);
}

#[test]
fn a_repository_sends_nobodys_header_to_its_own_host_before_it_is_trusted() {
    let answers = || Service::start(|_| (200, String::new(), r#"[{"title":"t"}]"#.to_owned()));
    let (mine, theirs) = (answers(), answers());
    let place = Fixture::new(&[(
        ".kontext.toml",
        &format!(
            "[adapters.wiki]\nbase_url = \"http://127.0.0.1:{}\"\n",
            theirs.port
        ),
    )])
    .git("https://github.com/acme/wiki.git")
    .env("SOME_TOKEN", TOKEN);
    place.write_config(
        "config.toml",
        &format!(
            "[adapters.wiki]\ndriver = \"http\"\nbase_url = \"http://127.0.0.1:{}\"\nheaders = {{ X-Key = \"{{{{env.SOME_TOKEN}}}}\" }}\n[adapters.wiki.ops.search]\npath = \"/s\"\n",
            mine.port
        ),
    );
    let (code, report) = tested(&place, &["wiki"]);
    assert_eq!(code, 0, "{report}");
    assert_eq!(mine.asked()[0].header("x-key"), Some(TOKEN));
    assert!(theirs.asked().is_empty());
    let (_, out, _) = place.run(&["trust", "--json"]);
    let question: Value = serde_json::from_str(&out).unwrap();
    assert!(out.contains("X-Key"), "{out}");
    let (code, _, _) = place.run(&["trust", "--yes", question["pin"].as_str().unwrap()]);
    assert_eq!(code, 0);
    tested(&place, &["wiki"]);
    assert_eq!((mine.asked().len(), theirs.asked().len()), (1, 1));
}
