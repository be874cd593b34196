//! Status with every reason, trust, and the cases T05, T07, L13 and S05.

#![allow(
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by a panic"
)]

mod support;

use std::fmt::Write as _;

use kontext_config::codes::{Code, Severity};
use kontext_config::facts::{Facts, Trust};
use kontext_config::layer::LayerKind::{Clone, Repository, Shared, User};
use kontext_config::model::{Adapter, EnvValue, Expose, Format, ToolOp};
use kontext_config::schema::Driver;
use kontext_config::settings::Companion;
use kontext_config::stack::{Stack, View};
use kontext_config::status::{self, AdapterStatus, Status};
use serde_json::json;
use support::{facts, stack, user, with_paths};

/// One line an adapter: name, driver, status, layer; then its reasons.
fn shown(stack: &Stack, facts: &Facts) -> String {
    let mut out = String::new();
    for one in status::all(stack, facts) {
        let AdapterStatus {
            name,
            driver,
            status,
            reasons,
            layer,
            pending,
        } = one;
        let driver = driver.map_or("-", Driver::name);
        let pending = if pending { " pending" } else { "" };
        let _ = writeln!(out, "{name} {driver} {status} {layer}{pending}");
        for reason in reasons {
            let _ = writeln!(out, "  {reason}");
        }
    }
    out
}

#[test]
fn each_status_and_its_reasons() {
    let stack = user(
        "[adapters.ok]\ndriver = \"command\"\ncommand = [\"true\"]\n\
         [adapters.off]\ndriver = \"mcp\"\ncommand = [\"x\"]\nenabled = false\nwhen = { env = \"NOPE\" }\n\
         [adapters.wait]\ndriver = \"mcp\"\nurl = \"http://x\"\nwhen = { file = \"docs\", env = \"NOPE\" }\n\
         [adapters.no_driver]\ncommand = [\"x\"]\n\
         [adapters.odd]\ndriver = \"stdio\"\n\
         [adapters.odder]\ndriver = \"zzzz\"\n\
         [adapters.number]\ndriver = 5\n\
         [adapters.half]\ndriver =\n\
         [adapters.no_target]\ndriver = \"mcp\"\n\
         [adapters.no_url]\ndriver = \"http\"\nops.search.path = \"/s\"\n\
         [adapters.no_command]\ndriver = \"command\"\ncommand = []\n\
         [adapters.by_op]\ndriver = \"http\"\nops.search.url = \"https://x/s\"\n\
         [adapters.by_tool]\ndriver = \"command\"\ntools = [{ name = \"t\", op = { command = [\"x\"] } }]\n\
         [adapters]\nnone = 5\n",
    );
    insta::assert_snapshot!(shown(&stack, &facts(&[])), @r#"
    ok command active user
    off mcp disabled user
      `enabled` is false in the user layer
    wait mcp inactive user pending
      `docs` has not been looked up yet
      `NOPE` is not set
    no_driver - invalid user
      no `driver` is given: write `driver = "mcp"`, `"http"` or `"command"`
    odd - invalid user
      `stdio` is no driver; did you mean `mcp`?
    odder - invalid user
      `zzzz` is no driver: use `mcp`, `http` or `command`
    number - invalid user
      `driver` has to be `"mcp"`, `"http"` or `"command"`
    half - invalid user
      `driver` has no value yet
    no_target mcp invalid user
      driver mcp needs `command` (a server to start) or `url` (its endpoint)
    no_url http invalid user
      driver http needs `base_url`, or an absolute `url` in each op
    no_command command invalid user
      driver command needs `command`, on the adapter or in each op
    by_op http active user
    by_tool command active user
    none - invalid user
      an adapter has to be a table
    "#);
}

#[test]
fn t05_sub_tables_first_and_dotted_keys() {
    let text = "[adapters.hub.ops.search]\ntool = \"find\"\nmap.title = \"name\"\nmap.uri = \"tpl:hub://{{id}}\"\n\n[adapters.hub.ops.read]\ntool = \"get\"\nowns = [\"hub://\"]\n\n[adapters.hub]\ndriver = \"mcp\"\ncommand = [\"hub\", \"mcp\"]\nvars.team = \"core\"\nvars.extra = \"x-{{vars.team}}\"\nwhen.env = \"HUB_TOKEN\"\nwhen.file = \".hub\"\n";
    let stack = user(text);
    let hub = stack.adapter("hub", View::InForce).unwrap();
    assert_eq!(hub.problems, []);
    assert_eq!(hub.ops.keys().collect::<Vec<_>>(), ["search", "read"]);
    assert_eq!(
        hub.ops["search"].map.uri.as_deref(),
        Some("tpl:hub://{{id}}")
    );
    assert_eq!(hub.ops["read"].owns, ["hub://"]);
    assert_eq!(hub.vars.names().collect::<Vec<_>>(), ["team", "extra"]);
    let keys: Vec<_> = hub
        .when
        .conditions
        .iter()
        .map(|one| one.key.name())
        .collect();
    assert_eq!(keys, ["env", "file"]);
    let known = with_paths(facts(&[("HUB_TOKEN", "x")]), &[], &["/repo/.hub"]);
    insta::assert_snapshot!(shown(&stack, &known), @r"
    hub mcp inactive user
      `.hub` does not exist under the repository root
    ");
    let known = with_paths(facts(&[]), &["/repo/.hub"], &[]);
    insta::assert_snapshot!(shown(&stack, &known), @r"
    hub mcp inactive user
      `HUB_TOKEN` is not set
    ");
}

#[test]
fn t07_two_layers_define_the_same_adapter() {
    let layers = [
        (
            User,
            "[adapters.wiki]\ndriver = \"http\"\nbase_url = \"https://wiki.example\"\nheaders = { Authorization = \"Bearer {{env.WIKI_TOKEN}}\" }\ntimeout_ms = 4000\n\n[adapters.local]\ndriver = \"command\"\ncommand = [\"true\"]\n",
        ),
        (
            Shared,
            "[adapters.wiki]\ndriver = \"mcp\"\ncommand = [\"./tools/wiki-mcp\"]\n\n[adapters.extra]\ndriver = \"command\"\ncommand = [\"true\"]\ntimeout = 5\n",
        ),
    ];
    let untrusted = stack(&layers, Trust::Untrusted);
    insta::assert_snapshot!(shown(&untrusted, &facts(&[])), @r"
    wiki http active user
      the shared layer would change `driver`, `command`, but is not trusted: `kontext-ls trust` shows it and asks
    local command active user
    extra command untrusted shared
      only the shared layer defines it, and that is not trusted: `kontext-ls trust` shows it and asks
    ");
    let wiki = untrusted.adapter("wiki", View::InForce).unwrap();
    assert_eq!((wiki.driver, wiki.command.len()), (Some(Driver::Http), 0));
    assert!(untrusted.adapter("extra", View::InForce).is_none());

    let trusted = stack(&layers, Trust::Pinned);
    insta::assert_snapshot!(shown(&trusted, &facts(&[])), @r"
    wiki mcp active shared
    local command active user
    extra command active shared
    ");
    let wiki = trusted.merged("wiki", View::InForce).unwrap();
    let layer_of = |name: &str| {
        trusted
            .layer_kind(wiki.get(name).unwrap().origin.layer)
            .unwrap()
    };
    assert_eq!(layer_of("driver"), Shared);
    assert_eq!(layer_of("command"), Shared);
    assert_eq!(layer_of("timeout_ms"), User);
}

#[test]
fn l13_the_text_that_counts_decides() {
    let saved = "[adapters.u]\ndriver = \"command\"\ncommand = [\"true\"]\n";
    let with = |file: &str| format!("{saved}when = {{ file = \"{file}\" }}\n");
    let known = with_paths(facts(&[]), &[], &["/repo/nope.txt", "/repo/other.txt"]);
    insta::assert_snapshot!(shown(&user(&with("nope.txt")), &known), @r"
    u command inactive user
      `nope.txt` does not exist under the repository root
    ");
    assert_eq!(status::all(&user(saved), &known)[0].status, Status::Active);
    insta::assert_snapshot!(shown(&user(&with("other.txt")), &known), @r"
    u command inactive user
      `other.txt` does not exist under the repository root
    ");
}

#[test]
fn s05_an_untrusted_override_has_no_effect() {
    let mine = "[adapters.wiki]\ndriver = \"http\"\nbase_url = \"http://127.0.0.1:9/api?key={{env.WIKI_KEY}}\"\nheaders = { Authorization = \"Bearer {{env.WIKI_TOKEN}}\" }\nwhen = { env = \"WIKI_TOKEN\" }\n\n[adapters.wiki.ops.search]\npath = \"/s\"\n";
    let theirs = "[adapters.wiki]\nbase_url = \"http://127.0.0.1:{{env.EVIL_PORT}}\"\n";
    let both = stack(&[(User, mine), (Shared, theirs)], Trust::Untrusted);
    let in_force = both.adapter("wiki", View::InForce).unwrap();
    let alone = user(mine).adapter("wiki", View::InForce).unwrap();
    assert_eq!(in_force, alone);
    let facts = facts(&[("WIKI_KEY", "key-ABCDEF"), ("WIKI_TOKEN", "tok-GHIJKL")]);
    let text = shown(&both, &facts);
    insta::assert_snapshot!(text, @r"
    wiki http active user
      the shared layer would change `base_url`, but is not trusted: `kontext-ls trust` shows it and asks
    ");
    assert!(!text.contains("key-ABCDEF") && !text.contains("tok-GHIJKL"));
    let trusted = stack(&[(User, mine), (Shared, theirs)], Trust::Pinned);
    let url = trusted
        .adapter("wiki", View::InForce)
        .unwrap()
        .base_url
        .unwrap();
    assert_eq!(url.source(), "http://127.0.0.1:{{env.EVIL_PORT}}");
}

#[test]
fn personal_layers_over_a_shared_adapter() {
    let theirs = "[adapters.s]\ndriver = \"command\"\ncommand = [\"s\"]\n";
    // A change of a detail does not make it ours; switching it off works without trust.
    let tuned = [(Shared, theirs), (Clone, "[adapters.s]\ntimeout_ms = 5\n")];
    insta::assert_snapshot!(shown(&stack(&tuned, Trust::Untrusted), &facts(&[])), @r"
    s command untrusted clone
      it needs what the shared layer says, and that is not trusted: `kontext-ls trust` shows it and asks
    ");
    let off = [(Shared, theirs), (Clone, "[adapters.s]\nenabled = false\n")];
    insta::assert_snapshot!(shown(&stack(&off, Trust::Untrusted), &facts(&[])), @r"
    s command disabled clone
      `enabled` is false in the clone layer
    ");
    // A shared layer that says the same changes nothing.
    let same = [(Repository, theirs), (Shared, theirs)];
    insta::assert_snapshot!(shown(&stack(&same, Trust::Untrusted), &facts(&[])), @"s command active repository");
}

#[test]
fn questions_of_a_whole_stack() {
    let stack = stack(
        &[
            (
                User,
                "[adapters.a]\ndriver = \"mcp\"\ncommand = [\"x\"]\nwhen = { command = \"x\", file = \"f\" }\n[adapters.b]\nwhen = { command = \"x\" }\n",
            ),
            (
                Shared,
                "[adapters.a]\nwhen.file = \"g\"\n[adapters.c]\nwhen = { exists = \"h*\" }\n",
            ),
        ],
        Trust::Untrusted,
    );
    let asked: Vec<String> = status::questions(&stack, &facts(&[]))
        .into_iter()
        .map(|question| format!("{question:?}"))
        .collect();
    insta::assert_debug_snapshot!(asked, @r#"
    [
        "Program(\"x\")",
        "Path(\"/repo/f\")",
        "Path(\"/repo/g\")",
        "Path(\"/repo/h*\")",
    ]
    "#);
}

#[test]
fn the_model_survives_wrong_parts() {
    let text = r#"
[adapters.a]
driver = "http"
enabled = "yes"
description = 5
base_url = "https://x"
timeout_ms = 0
weight = -1
env = { A = "", B = false, C = true }
headers = { X = 1, Y = "y" }
expose = "some"
when = { env = 5, file = "x" }
vars = { a = 1, b = "b" }
ops.search = { path = "/s", query = { q = "{{query}}", n = 5, l = [] }, format = "xml", method = "fetch" }
ops.broken = 5
ops.ok = { method = "post", path = "/n", body = { id = "{{id}}", n = [1, { deep = 2.0 }] }, where = { t = 1 }, timeout_ms = 7, map = { title = 5, uri = "u" } }
on = [{ event = "sync", op = "ok" }, { event = "boom", op = "ok" }, { op = "ok" }, 5, { event = "capture", op = "ok", kinds = "x" }]

[[adapters.a.tools]]
name = "t1"
op = "ok"
params = { q = "string!", n = "integer", z = "text" }

[[adapters.a.tools]]
op = "ok"

[[adapters.a.tools]]
name = "t3"
op = { path = "/r" }
params = { type = "object", properties = { a = { type = "string" } } }
"#;
    let a = user(text).adapter("a", View::InForce).unwrap();
    assert!(a.fatal().is_none() && a.enabled && a.description.is_none());
    assert_eq!((a.timeout_ms, a.weight), (10_000, 0.9));
    assert_eq!(a.env["B"], EnvValue::Removed);
    assert!(matches!(&a.env["A"], EnvValue::Set(text) if text.source().is_empty()));
    assert_eq!(a.expose, Expose::None);
    assert_eq!(a.headers.keys().collect::<Vec<_>>(), ["Y"]);
    assert_eq!(a.ops.keys().collect::<Vec<_>>(), ["search", "ok"]);
    let search = &a.ops["search"];
    assert_eq!(
        (search.format, search.method.as_deref()),
        (Format::Auto, None)
    );
    assert_eq!(search.query.len(), 2);
    let ok = &a.ops["ok"];
    assert_eq!(ok.method.as_deref(), Some("POST"));
    assert_eq!(
        ok.body,
        Some(json!({ "id": "{{id}}", "n": [1, { "deep": 2.0 }] }))
    );
    assert_eq!((ok.filter["t"].as_str(), ok.timeout_ms), ("1", Some(7)));
    assert_eq!(
        (ok.map.title.as_deref(), ok.map.uri.as_deref()),
        (None, Some("u"))
    );
    assert_eq!(a.on.len(), 1);
    let names: Vec<_> = a.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["t1", "t3"]);
    assert_eq!(
        serde_json::Value::from(a.tools[0].schema.clone()),
        json!({
            "type": "object",
            "properties": { "q": { "type": "string" }, "n": { "type": "integer" }, "z": {} },
            "required": ["q"],
        })
    );
    assert!(matches!(&a.tools[1].op, ToolOp::Inline(op) if op.path.is_some()));
    assert_eq!(a.tool_prefix(), "a_");
    let problems: Vec<String> = a
        .problems
        .iter()
        .map(|one| format!("{}: {}", one.path, one.message))
        .collect();
    insta::assert_snapshot!(problems.join("\n"), @r#"
    vars.a: `a` has to be a string, not an integer
    when.env: `env` has to be a string, or an array of strings, not an integer
    enabled: `enabled` has to be `true` or `false`, not a string
    description: `description` has to be a string, not an integer
    timeout_ms: `timeout_ms` has to be at least 1, not 0
    weight: `weight` has to be a number of at least 0, not -1
    env.C: `C` has to be a string, or `false`, not a boolean
    headers.X: `X` has to be a string, not an integer
    expose: `expose` has to be `"none"` or `"all"`, or `true` or `false`, or an array of strings, not `some`
    ops.search.method: `method` has to be `"GET"`, `"POST"`, `"PUT"`, `"PATCH"`, `"DELETE"`, `"HEAD"` or `"OPTIONS"`, not `fetch`
    ops.search.query.l: `l` has to be a string, a number or a boolean, not an array
    ops.search.format: `format` has to be `"auto"`, `"json"`, `"jsonl"`, `"lines"` or `"text"`, not `xml`
    ops.broken: `ops.broken` has to be a table
    ops.ok.map.title: `title` has to be a string, not an integer
    on[1].event: `event` has to be `"capture"`, `"promote"` or `"sync"`, not `boom`
    on[2].event: `event` is missing
    on[3]: `on[3]` has to be a table
    on[4].kinds: `kinds` has to be an array of strings, not a string
    tools[0].params.z: `z` has to be one of string, integer, number, boolean, array, object
    tools[1].name: `name` is missing
    "#);
}

#[test]
fn settings_come_from_personal_layers_only() {
    let layers = [
        (
            User,
            "[companion]\nallow_write = true\nlocale = \"sk\"\nlive = \"no\"\nseverity = { unused-op = \"off\", unknown-key = \"warning\", nonsense = \"off\", bad-url = \"loud\" }\nnotices = { adapters = [\"n\"], extra_args = { k = 8 }, min_score = 0.4, max_hits = -1 }\n",
        ),
        (
            Shared,
            "[companion]\nallow_external_call = true\nseverity.secret = \"off\"\n",
        ),
        (
            Clone,
            "[companion]\nallow_write = false\nnotices.editor = true\n",
        ),
    ];
    for trust in [Trust::Untrusted, Trust::Pinned, Trust::ByEnvironment] {
        let own = Companion::of(&stack(&layers, trust));
        assert!(!own.allow_write && !own.allow_external_call && own.live);
        assert_eq!(own.locale.as_deref(), Some("sk"));
        let unknown = Code::parse("unknown-key").unwrap();
        let unused = Code::parse("unused-op").unwrap();
        assert_eq!(own.severity.len(), 2);
        assert_eq!(own.severity_of(unused), None);
        assert_eq!(own.severity_of(unknown), Some(Severity::Warning));
        assert_eq!(own.notices.adapters, ["n"]);
        assert_eq!(own.notices.extra_args["k"], 8);
        assert!(own.notices.editor);
        assert_eq!((own.notices.min_score, own.notices.max_hits), (0.4, 3));
    }
    assert_eq!(Companion::of(&user("")), Companion::default());
}

/// Everything that is computed from a stack.
fn use_all(stack: &Stack, facts: &Facts) {
    let _ = Companion::of(stack);
    let _ = (stack.project_name(), stack.store_dir());
    let _ = status::questions(stack, facts);
    let all = status::all(stack, facts);
    let names = stack.adapter_names();
    assert_eq!(all.len(), names.len());
    for (one, name) in all.iter().zip(names) {
        assert_eq!(one.name, name);
        for view in [View::Shown, View::InForce] {
            if let Some(merged) = stack.merged(name, view) {
                let _ = merged.to_json();
                let adapter = Adapter::from_merged(name, &merged);
                if view == View::InForce && one.status == Status::Active {
                    assert_eq!(adapter.fatal(), None);
                }
                if view == View::InForce && one.status == Status::Invalid {
                    assert!(adapter.fatal().is_some(), "{name}");
                }
            }
        }
        assert_eq!(
            one.status == Status::Active,
            one.reasons.is_empty() || one.reasons[0].starts_with("the shared layer")
        );
    }
}

#[test]
fn no_prefix_of_a_file_is_too_much() {
    let text = r#"[vars]
team = "core"
[companion]
severity = { unused-op = "off" }
[adapters.docs]
driver = "mcp"
command = ["docs", "--mcp"]
when = { env = "D", exists = "{{env.HOME}}/d/{{repo.slug}}*.json", file = ["a", "b"] }
vars = { a = "x|y", b = '''t
u''', c = "{{vars.team}}" }

[adapters.docs.ops.search]
tool = "find"
args = { q = "{{query}}", "*" = true }
map = { title = "a|b", uri = "tpl:docs://{{id|urlencode}}", kind = "=doc", date = "re:(\\d{4})" }
[[adapters.docs.on]]
event = "sync"
op = "search"
[[adapters.docs.tools]]
name = "docs_new"
params = { tag = "string!" }
op = { tool = "list", args = {} }
[adapters]
web = { driver = "http", ops.search = { url = "https://x/{{query}}" } }
"#;
    let facts = facts(&[("HOME", "/h"), ("D", "1")]);
    for (end, _) in text.char_indices().chain([(text.len(), ' ')]) {
        let prefix = &text[..end];
        use_all(&user(prefix), &facts);
        // The rest is the same code on more layers: a part of the prefixes is enough.
        if !end.is_multiple_of(7) {
            continue;
        }
        use_all(
            &stack(&[(User, text), (Shared, prefix)], Trust::Untrusted),
            &facts,
        );
        use_all(
            &stack(
                &[(User, prefix), (Shared, text), (Clone, prefix)],
                Trust::Pinned,
            ),
            &facts,
        );
    }
}
