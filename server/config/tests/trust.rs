//! The pin: what changes it and what does not.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::sync::Arc;

use kontext_config::facts::Repo;
use kontext_config::source::Source;
use kontext_config::trust::{
    Canonical, Pin, ScriptFact, Scripts, TooManyScripts, difference, same_meaning, scripts,
};
use proptest::prelude::*;
use serde_json::json;

fn form(text: &str) -> Canonical {
    Canonical::of(&Arc::new(Source::parse(text)), &Scripts::new()).unwrap()
}

fn pin(text: &str) -> Pin {
    form(text).pin().clone()
}

const LAYER: &str = r#"
[vars]
team = "core"
[project]
name = "Shop"
[adapters.docs]
driver = "http"
base_url = "https://docs.example"
timeout_ms = 1000
weight = 0.5
when = { env = ["A", "B"], file = "x" }
[adapters.docs.headers]
Authorization = "Bearer {{env.T}}"
[adapters.run]
driver = "command"
command = ["sh", "-c", "true"]
[[adapters.run.on]]
event = "sync"
op = "store"
"#;

#[test]
fn how_a_layer_is_written_does_not_matter() {
    let other = r#"
# a comment
adapters.run.command = [ 'sh',
  "\u002dc", """true""", ] # another
adapters.run.driver = "command"
adapters.run.on = [ { op = "store", event = "sync" } ]
[adapters.docs]
weight = 5e-1
timeout_ms = 0x3E8
base_url = 'https://docs.example'
headers.Authorization = "Bearer {{env.T}}"
driver = "http"
[adapters.docs.when]
file = "x"
env = [ "A", "B" ]
[project]
name = "Shop"
[store]
dir = ".ai"
[companion]
allow_write = true
[vars]
team = "core"
"#;
    assert_eq!(pin(LAYER), pin(other));
    assert!(same_meaning(&Source::parse(LAYER), &Source::parse(other)));
    let whole = "adapters = { a = { driver = 'mcp', url = 'https://a.example' } }";
    let apart = "[adapters.a]\nurl = 'https://a.example'\ndriver = 'mcp'\n";
    assert_eq!(pin(whole), pin(apart));
}

#[test]
fn every_value_matters() {
    for (old, new) in [
        ("core", "cord"),
        ("Shop", "shop"),
        ("docs.example", "docs.example."),
        ("1000", "1001"),
        ("1000", "1000.0"),
        ("1000", "\"1000\""),
        ("0.5", "0.6"),
        ("0.5", "nan"),
        ("[\"A\", \"B\"]", "[\"B\", \"A\"]"),
        ("env = [\"A\", \"B\"]", "env = \"A\""),
        ("Bearer", "bearer"),
        ("Authorization", "authorization"),
        ("\"true\"", "\"true \""),
        ("[\"sh\", \"-c\", \"true\"]", "[\"sh\", \"-c\", true]"),
        ("event = \"sync\"", "event = \"capture\""),
        ("op = \"store\"", "op = \"store\"\nunknown = 1"),
        ("timeout_ms = 1000", "timeout_ms = 1000\nenabled = false"),
        ("timeout_ms = 1000", "timeout_ms = 2026-01-01"),
        (
            "timeout_ms = 1000",
            "timeout_ms = \"\\u0001date 2026-01-01\"",
        ),
        // What cannot be used, half written or written twice.
        ("timeout_ms = 1000", "timeout_ms = "),
        ("timeout_ms = 1000", "timeout_ms = 1000\ncwd = \"x"),
        ("timeout_ms = 1000", "timeout_ms = 1000\ntimeout_ms = 2000"),
        ("timeout_ms = 1000", "timeout_ms = 1000\n= 3"),
        ("[vars]\nteam = \"core\"", "vars = 3"),
    ] {
        let changed = LAYER.replace(old, new);
        assert_ne!(changed, LAYER, "{old}");
        assert_ne!(pin(LAYER), pin(&changed), "{new}");
        assert!(
            !same_meaning(&Source::parse(LAYER), &Source::parse(changed.as_str())),
            "{new}"
        );
    }
    // Two faults are not one fault.
    let twice = |value: &str| pin(&format!("{LAYER}\n[adapters.x]\na = 1\na = {value}\n"));
    assert_ne!(twice("2"), twice("3"));
    let date = "[vars]\na = 2026-01-01\n";
    let text = "[vars]\na = \"\\u0001date 2026-01-01\"\n";
    assert_ne!(pin(date), pin(text));
}

#[test]
fn what_needs_no_trust_has_no_pin() {
    for text in [
        "",
        "# nothing\n",
        "[store]\ndir = \"x\"\n",
        "[adapters]\n",
        "vars = {}\n",
    ] {
        let form = Canonical::of(&Arc::new(Source::parse(text)), &Scripts::new());
        assert!(form.is_none(), "{text}");
    }
    assert!(Pin::parse(&"A".repeat(64)).is_none());
    let pin = pin(LAYER);
    assert_eq!(Pin::parse(pin.as_str()), Some(pin.clone()));
    assert!(pin.is_named_by(pin.short()) && pin.is_named_by(&pin.short().to_uppercase()));
    assert!(!pin.is_named_by(pin.as_str().get(..11).unwrap()) && !pin.is_named_by(""));
    assert!(!pin.is_named_by(&format!("{pin}0")));
}

#[test]
fn scripts_that_commands_name() {
    let repo = Repo {
        root: "/r".into(),
        name: "shop".to_owned(),
        ..Repo::default()
    };
    let text = r#"
[vars]
dir = "tools"
[adapters.a]
driver = "command"
command = ["python3", "./run.py", "--config=conf/a.json", "-x"]
cwd = "sub"
env = { BASH_ENV = "setup.sh", GONE = false }
[adapters.a.ops.search]
command = ["{{repo.root}}/bin/{{repo.name}}", "{{vars.dir}}/{{adapter.name}}.sh", "../out", "/etc/x"]
[[adapters.a.tools]]
name = "t"
op = { command = ["sh", "-c", "cd x; ./inner.sh 'q.sh'"] }
"#;
    let found = scripts(&Source::parse(text), &repo).unwrap();
    for path in [
        "python3",
        "run.py",
        "sub/run.py",
        "conf/a.json",
        "sub/conf/a.json",
        "setup.sh",
        "bin/shop",
        "tools/a.sh",
        "sub/tools/a.sh",
        "sh",
        "inner.sh",
        "q.sh",
        // From `cwd` it is inside.
        "out",
    ] {
        assert!(found.contains(path), "{path} is not in {found:?}");
    }
    for path in found {
        assert!(
            !path.starts_with(['/', '-', '.']) && !path.contains("etc"),
            "{path}"
        );
    }
    let many: Vec<String> = (0..5000).map(|at| format!("\"s{at}\"")).collect();
    let many = format!("[adapters.a]\ncommand = [{}]\n", many.join(","));
    assert_eq!(scripts(&Source::parse(many), &repo), Err(TooManyScripts));
}

#[test]
fn the_difference_names_what_changed() {
    let source = Arc::new(Source::parse(LAYER));
    let script =
        |hash: &str| Scripts::from([("a.sh".to_owned(), ScriptFact::Sha256(hash.to_owned()))]);
    let before = Canonical::of(&source, &script("1")).unwrap();
    let changed = LAYER
        .replace("docs.example", "evil.example")
        .replace("name = \"Shop\"\n", "name = 1979-05-27\n")
        .replace("weight = 0.5\n", "");
    let after = Canonical::of(&Arc::new(Source::parse(changed)), &script("2")).unwrap();
    let changes = difference(&before.text(), &after, 100).unwrap();
    let shown: Vec<_> = changes
        .iter()
        .map(|one| (one.path.join("."), one.before.clone(), one.after.clone()))
        .collect();
    assert_eq!(
        shown,
        [
            (
                "adapters.docs.base_url".to_owned(),
                Some(json!("https://docs.example")),
                Some(json!("https://evil.example"))
            ),
            (
                "adapters.docs.weight".to_owned(),
                Some(serde_json::from_str("0.5").unwrap()),
                None
            ),
            (
                "project.name".to_owned(),
                Some(json!("Shop")),
                Some(json!("1979-05-27"))
            ),
            (
                "scripts.a.sh".to_owned(),
                Some(json!("1")),
                Some(json!("2"))
            ),
        ]
    );
    assert_eq!(difference(&before.text(), &after, 1).unwrap().len(), 1);
    assert_eq!(difference("no JSON", &after, 1), None);
    assert_eq!(difference(&after.text(), &after, 9), Some(Vec::new()));
}

proptest! {
    /// Entries in any order, with any blanks and comments, have one pin; another value another one.
    #[test]
    fn order_and_blanks_keep_the_pin_and_values_change_it(
        entries in proptest::collection::btree_map("[a-z]{1,4}", any::<i32>(), 1..8),
        blanks in proptest::collection::vec("[ \t]{0,3}(#[ -~]{0,6})?", 16),
        at in any::<proptest::sample::Index>(),
    ) {
        let write = |entries: Vec<(&String, i64)>, blanks: &[String]| {
            let mut text = "[adapters.a]\n".to_owned();
            for ((name, value), blank) in entries.iter().zip(blanks.iter().cycle()) {
                text.push_str(&format!("{name} = {value}{blank}\n"));
            }
            text
        };
        let ahead: Vec<_> = entries.iter().map(|(name, value)| (name, i64::from(*value))).collect();
        let back: Vec<_> = ahead.iter().rev().copied().collect();
        let plain = write(ahead.clone(), &[String::new()]);
        prop_assert_eq!(pin(&plain), pin(&write(back, &blanks)));
        let mut other = ahead;
        let at = at.index(other.len());
        other[at].1 += 1;
        prop_assert_ne!(pin(&plain), pin(&write(other, &blanks)));
    }

    /// Two texts have one pin exactly where they mean the same; no text is too odd for either.
    #[test]
    fn pins_agree_with_the_comparison(a in "(\\[adapters.a\\]|[a-c]|=|1|'x'|\n|,|\\{|\\}|#){0,24}", b in "(\\[adapters.a\\]|[a-c]|=|1|'x'|\n|,|\\{|\\}|#){0,24}") {
        let lead = "[vars]\nz = 1\n";
        let (a, b) = (format!("{lead}{a}"), format!("{lead}{b}"));
        let (here, there) = (Source::parse(a.as_str()), Source::parse(b.as_str()));
        prop_assert_eq!(same_meaning(&here, &there), pin(&a) == pin(&b));
        prop_assert!(same_meaning(&here, &here.becoming(a.as_str())));
    }
}
