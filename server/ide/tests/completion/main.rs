//! Completion: a text with a mark, and what is offered there.
#![expect(
    clippy::unwrap_used,
    clippy::string_slice,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod fixture;

use kontext_ide::completion::{Capabilities, Extra, FileEntry, ItemKind, complete, resolve};
use proptest::prelude::*;

use fixture::{applied, apply, items, items_over, labels, snapshot, table};

#[test]
fn l01_completion_behind_an_emoji_replaces_the_word() {
    let text = "[adapters.notes]\ndriver = \"mcp\"\ndescription = \"poznámky 🗒️ tímu\"\ncommand = [\"notes-srv\"]\nwhen = { env = \"📒_TOK\", fil<|> = \".notes\" }\n";
    let (plain, items) = items(text);
    let item = items.iter().find(|item| item.label == "file").unwrap();
    let range = item.edit.range;
    assert_eq!(&plain[range.start as usize..range.end as usize], "fil");
    assert!(apply(&plain, item).ends_with("when = { env = \"📒_TOK\", file = \".notes\" }\n"));
    assert!(
        items.iter().all(|item| item.label != "env"),
        "given already"
    );
}

#[test]
fn l07_the_value_of_driver_at_every_keystroke() {
    for typed in ["\"", "\"m", "\"mc", "\"mcp"] {
        let text = format!("[adapters.q]\ndriver = {typed}<|>\ncommand = [\"x\"]\n");
        assert_eq!(
            applied(&text, "mcp", true),
            "[adapters.q]\ndriver = \"mcp\"\ncommand = [\"x\"]\n"
        );
    }
    assert_eq!(
        applied("[adapters.q]\ndri<|>\ncommand = [\"x\"]\n", "driver", false),
        "[adapters.q]\ndriver = \"\"\ncommand = [\"x\"]\n"
    );
}

#[test]
fn l14_without_snippets_no_text_has_a_placeholder() {
    for text in [
        "[adapters.x]\n<|>",
        "<|>",
        "[adapters.x]\ndriver = \"mcp\"\n<|>",
        "[adapters.x.ops.search]\n<|>",
        "[adapters.x]\nwhen = { <|> }",
        "[adapters.x.ops.search]\npath = \"{{query|<|>\"",
        "[adapters.x]\non = [<|>]",
        "[adapters.x]\ncommand = <|>",
    ] {
        let (_, items) = items_over(text, "", false);
        assert!(!items.is_empty(), "{text}");
        for item in items {
            assert!(
                !item.edit.snippet && !item.edit.new_text.contains('$'),
                "{item:?}"
            );
        }
    }
}

#[test]
fn t05_no_field_twice_however_it_is_written() {
    let text = "[adapters.hub.ops.search]\ntool = \"find\"\nmap.title = \"name\"\n\n[adapters.hub.ops.read]\ntool = \"get\"\nowns = [\"hub://\"]\n\n[adapters.hub]\ndriver = \"mcp\"\ncommand = [\"hub\", \"mcp\"]\nvars.team = \"core\"\nwhen.env = \"HUB_TOKEN\"\n<|>";
    insta::assert_snapshot!(labels(text), @"url headers env cwd description enabled timeout_ms weight expose prefix on tools [adapters.hub.headers] [adapters.hub.env] [adapters.hub.ops.…] [[adapters.hub.on]] [[adapters.hub.tools]]");
}

#[test]
fn fields_by_driver_the_needed_ones_on_top() {
    let shown = |driver: &str| labels(&format!("[adapters.x]\n{driver}<|>\n"));
    let all = [
        "",
        "driver = \"mcp\"\n",
        "driver = \"http\"\n",
        "driver = \"command\"\n",
    ];
    insta::assert_snapshot!(all.map(shown).join("\n"), @r"
driver command url base_url headers env cwd description enabled when vars timeout_ms weight expose prefix ops on tools [adapters.x.headers] [adapters.x.env] [adapters.x.when] [adapters.x.vars] [adapters.x.ops.…] [[adapters.x.on]] [[adapters.x.tools]]
command url headers env cwd description enabled when vars timeout_ms weight expose prefix ops on tools [adapters.x.headers] [adapters.x.env] [adapters.x.when] [adapters.x.vars] [adapters.x.ops.…] [[adapters.x.on]] [[adapters.x.tools]]
url base_url headers description enabled when vars timeout_ms weight ops on tools [adapters.x.headers] [adapters.x.when] [adapters.x.vars] [adapters.x.ops.…] [[adapters.x.on]] [[adapters.x.tools]]
command env cwd description enabled when vars timeout_ms weight ops on tools [adapters.x.env] [adapters.x.when] [adapters.x.vars] [adapters.x.ops.…] [[adapters.x.on]] [[adapters.x.tools]]
");
    insta::assert_snapshot!(labels("[adapters.x]\ndriver = \"http\"\n[adapters.x.ops.search]\n<|>"), @"method path url query headers body format timeout_ms items split where map text owns [adapters.x.headers] [adapters.x.when] [adapters.x.vars] [adapters.x.ops.…] [[adapters.x.on]] [[adapters.x.tools]]");
    insta::assert_snapshot!(labels("[[adapters.x.on]]\n<|>"), @"event op visibility kinds [adapters.x.headers] [adapters.x.env] [adapters.x.when] [adapters.x.vars] [adapters.x.ops.…] [[adapters.x.on]] [[adapters.x.tools]]");
}

#[test]
fn fields_know_what_other_layers_say() {
    let (_, items) = items_over(
        "[adapters.x]\n<|>",
        "[adapters.x]\ndriver = \"http\"\nbase_url = \"https://x.example\"\n",
        true,
    );
    let first: Vec<_> = items
        .iter()
        .take(4)
        .map(|item| item.label.as_str())
        .collect();
    assert_eq!(first, ["driver", "url", "base_url", "headers"]);
}

#[test]
fn details_and_documentation() {
    let (_, items) = items("[adapters.x]\ndriver = \"command\"\n<|>");
    let shown = items.iter().take(5).map(|item| {
        format!(
            "{}: {}\n",
            item.label,
            item.detail.as_deref().unwrap_or("-")
        )
    });
    insta::assert_snapshot!(shown.collect::<String>(), @r"
command: an array of strings
env: a table
cwd: a string
description: a string
enabled: true or false, default true
");
    insta::assert_snapshot!(resolve(&items[0].doc), @r#"
The program and its arguments, each an element and each a template; no shell takes part. Driver mcp: the server to start, rendered when it starts. Driver command: the default of its ops, rendered per call with the op's inputs.

Type: an array of strings; driver: mcp, command

```toml
command = ["notes-mcp", "--stdio"]
```
"#);
}

#[test]
fn what_is_put_in() {
    insta::assert_snapshot!(table(&[
        ("[adapters.x]\ndriver = \"command\"\n<|>", "command"),
        ("[adapters.x]\nen<|>", "enabled"),
        ("[adapters.x]\ntime<|>", "timeout_ms"),
        ("[adapters.x]\n<|>", "when"),
        ("[adapters.x]\n<|>", "ops"),
        ("[adapters.x]\nops.<|>", "search"),
        ("[adapters.x]\nwhen.<|>", "env"),
        ("[adapters.x]\nwhen = { env = \"A\", <|>", "repo"),
        ("[adapters.x]\nenv.<|>", "HUB_TOKEN"),
        ("[adapters.x]\non = [<|>]", "{ … }"),
        ("[adapters.x]\non = [{ <|> }]", "event"),
        ("[adapters.x]\non = [{ event = \"<|>\" }]", "sync"),
        ("[adapters.x]\ndriver =<|>", "mcp"),
        ("[adapters.x]\ndriver = <|>", "mcp"),
        ("[adapters.x]\ndriver = m<|>", "mcp"),
        ("[adapters.x]\ndriver = \"m<|>\"", "mcp"),
        ("[adapters.x]\ndriver = 'm<|>", "mcp"),
        ("[adapters.x]\nenabled = <|>", "false"),
        ("[adapters.x]\nwhen = { env = <|> }", "HUB_TOKEN"),
        ("[adapters.x]\nwhen = { env = \"HU<|> }", "HUB_URL"),
        ("[adapters.x]\nwhen.env = [\"<|>\"]", "HUB_TOKEN"),
        ("[adapters.x]\nwhen.command = \"g<|>\"", "git"),
        ("[adapters.x]\nwhen.file = \"docs/<|>\"", "docs/index.md"),
        ("[adapters.x]\ncwd = \"<|>\"", "docs"),
        ("[adapters.x]\ncommand = [<|>]", "rg"),
        ("[adapters.x]\nexpose = <|>", "all"),
        ("[adapters.x.ops.search]\nformat = \"<|>\"", "jsonl"),
        ("[adapters.x]\ndriver = \"http\"\n[adapters.x.ops.search]\nmethod = <|>", "POST"),
        ("[adapters.x.ops.search]\nquery = { <|> }", "limit"),
        ("[adapters.x.ops.search]\nmap = { <|> }", "title"),
        ("[adapters.x.ops.search]\nmap.uri = \"<|>\"", "tpl:"),
        ("[[adapters.x.tools]]\nparams = { a = \"<|>\" }", "integer!"),
        ("[adapters.x.ops.find]\n[[adapters.x.on]]\nop = \"<|>\"", "find"),
        ("[companion]\nseverity.un<|>", "unused-op"),
        ("[companion]\nseverity.unused-op = \"<|>\"", "off"),
        ("[adapters.x]\n[companion.notices]\nadapters = [<|>]", "x"),
    ]), @r#"
driver = "command"
<|>
  → driver = "command"
command = [""]
  $ driver = "command"
command = ["$1"]
en<|>
  → enabled = false
  $ enabled = ${1:false}
time<|>
  → timeout_ms = 10000
  $ timeout_ms = ${1:10000}
<|>
  → when = {}
  $ when = { $1 }
<|>
  → ops.
ops.<|>
  → ops.search = {}
  $ ops.search = { $1 }
when.<|>
  → when.env = ""
  $ when.env = "$1"
when = { env = "A", <|>
  → when = { env = "A", repo = ''
  $ when = { env = "A", repo = '$1'
env.<|>
  → env.HUB_TOKEN = ""
  $ env.HUB_TOKEN = "$1"
on = [<|>]
  → on = [{ event = "", op = "" }]
  $ on = [{ event = "$1", op = "$2" }]
on = [{ <|> }]
  → on = [{ event = "" }]
  $ on = [{ event = "$1" }]
on = [{ event = "<|>" }]
  → on = [{ event = "sync" }]
driver =<|>
  → driver = "mcp"
driver = <|>
  → driver = "mcp"
driver = m<|>
  → driver = "mcp"
driver = "m<|>"
  → driver = "mcp"
driver = 'm<|>
  → driver = 'mcp'
enabled = <|>
  → enabled = false
when = { env = <|> }
  → when = { env = "HUB_TOKEN" }
when = { env = "HU<|> }
  → when = { env = "HUB_URL" }
when.env = ["<|>"]
  → when.env = ["HUB_TOKEN"]
when.command = "g<|>"
  → when.command = "git"
when.file = "docs/<|>"
  → when.file = "docs/index.md"
cwd = "<|>"
  → cwd = "docs"
command = [<|>]
  → command = ["rg"]
expose = <|>
  → expose = "all"
[adapters.x.ops.search]
format = "<|>"
  → [adapters.x.ops.search]
format = "jsonl"
driver = "http"
[adapters.x.ops.search]
method = <|>
  → driver = "http"
[adapters.x.ops.search]
method = "POST"
[adapters.x.ops.search]
query = { <|> }
  → [adapters.x.ops.search]
query = { limit = "{{limit}}" }
[adapters.x.ops.search]
map = { <|> }
  → [adapters.x.ops.search]
map = { title = "" }
  $ [adapters.x.ops.search]
map = { title = "$1" }
[adapters.x.ops.search]
map.uri = "<|>"
  → [adapters.x.ops.search]
map.uri = "tpl:"
[[adapters.x.tools]]
params = { a = "<|>" }
  → [[adapters.x.tools]]
params = { a = "integer!" }
[adapters.x.ops.find]
[[adapters.x.on]]
op = "<|>"
  → [adapters.x.ops.find]
[[adapters.x.on]]
op = "find"
[companion]
severity.un<|>
  → [companion]
severity.unused-op = ""
  $ [companion]
severity.unused-op = "$1"
[companion]
severity.unused-op = "<|>"
  → [companion]
severity.unused-op = "off"
[companion.notices]
adapters = [<|>]
  → [companion.notices]
adapters = ["x"]
"#);
}

#[test]
fn headers() {
    insta::assert_snapshot!(table(&[
        ("[<|>", "adapters"),
        ("[<|>]", "vars"),
        ("[va<|>", "vars"),
        ("[adapters.x]\n[adapters.<|>", "x"),
        ("[adapters.x]\n[adapters.x.<|>]", "ops"),
        ("[adapters.x]\n[adapters.x.wh<|>", "when"),
        ("[adapters.x]\n[adapters.x.ops.<|>]", "search"),
        ("[adapters.x]\n[[adapters.x.<|>", "on"),
        ("[adapters.x]\n[[adapters.x.to<|>]]", "tools"),
        ("[adapters.x.ops.search]\n[adapters.x.ops.search.<|>]", "map"),
        ("<|>", "[adapters.…]"),
        ("[adapters.x]\ndriver = \"mcp\"\n\n<|>", "[adapters.x.ops.…]"),
        ("[adapters.x]\ndriver = \"mcp\"\n\n<|>", "[[adapters.x.on]]"),
        ("[adapters.\"a b\"]\n[adapters.<|>]", "a b"),
    ]), @r#"
[<|>
  → [adapters.
[<|>]
  → [vars]
[va<|>
  → [vars]
[adapters.<|>
  → [adapters.x.<|>]
  → [adapters.x.ops.]
[adapters.x.wh<|>
  → [adapters.x.when]
[adapters.x.ops.<|>]
  → [adapters.x.ops.search]
[[adapters.x.<|>
  → [[adapters.x.on]]
[[adapters.x.to<|>]]
  → [[adapters.x.tools]]
[adapters.x.ops.search]
[adapters.x.ops.search.<|>]
  → [adapters.x.ops.search]
[adapters.x.ops.search.map]
<|>
  → [adapters.name]
  $ [adapters.${1:name}]
driver = "mcp"

<|>
  → driver = "mcp"

[adapters.x.ops.search]
  $ driver = "mcp"

[adapters.x.ops.${1:search}]
driver = "mcp"

<|>
  → driver = "mcp"

[[adapters.x.on]]
[adapters."a b"]
[adapters.<|>]
  → [adapters."a b"]
[adapters."a b"]
"#);
    assert_eq!(
        labels("[adapters.x]\nwhen.env = \"A\"\n[[adapters.x.<|>]]"),
        "on tools"
    );
    insta::assert_snapshot!(labels("[adapters.x]\nwhen.env = \"A\"\n[adapters.x.<|>]"), @"headers env vars ops");
    let (_, items) = items_over("[adapters.<|>]", "[adapters.wiki]\n", true);
    assert_eq!(items[0].label, "wiki");
}

#[test]
fn template_names() {
    let op = |fields: &str| {
        labels(&format!(
            "[adapters.x]\ndriver = \"http\"\nvars.team = \"a\"\n[adapters.x.ops.read]\n{fields}"
        ))
    };
    insta::assert_snapshot!([
        op("path = \"/{{<|>\""),
        op("path = \"/{{repo.<|>}}\""),
        op("path = \"/{{vars.<|>}}\""),
        op("path = \"/{{env.<|>}}\""),
        op("path = \"/{{uri | <|>}}\""),
        labels("[vars]\na = \"{{<|>}}\""),
        labels("[adapters.x]\ndriver = \"mcp\"\ncommand = [\"{{<|>\"]\n[adapters.x.ops.read]"),
        labels("[adapters.x.ops.keep]\npath = \"{{<|>}}\"\n[[adapters.x.on]]\nevent = \"sync\"\nop = \"keep\""),
        labels("[adapters.x.ops.keep]\npath = \"{{source.<|>}}\"\n[[adapters.x.on]]\nop = \"keep\""),
        labels("[[adapters.x.tools]]\nparams = { tag = \"string\" }\nop = { path = \"{{<|>}}\" }"),
        labels("[adapters.x]\ndriver = \"command\"\n[adapters.x.ops.llm]\noutput_file = true\ncommand = [\"a\", \"{{<|>}}\"]"),
        labels("[adapters.x.ops.search]\nmap.uri = \"id|tpl:a://{{<|>}}\""),
    ].join("\n"), @r"
uri level repo project vars env now adapter
id slug name dir root remote branch worktree
team
HOME HUB_TOKEN HUB_URL
urlencode json lower upper trim slug first_line join truncate after before default int
repo project vars env now
repo project vars env now adapter
query limit id kind title status date summary tags paths body markdown path visibility source event repo project vars env now adapter
repo branch
tag args repo project vars env now adapter
prompt output_file repo project vars env now adapter
query limit repo project vars env now adapter
");
}

#[test]
fn template_edits() {
    let op = "[adapters.x.ops.search]\n";
    let cases = [
        ("path = \"/{{<|>\"", "query"),
        ("path = \"/{{ <|>\"", "query"),
        ("path = \"/{{<|>}}\"", "query"),
        ("path = \"/{{ qu<|> }}\"", "query"),
        ("path = \"/{{qu<|>}\"", "query"),
        ("path = \"/{{qu<|>", "query"),
        ("path = \"/{{qu<|> and {{limit}}\"", "query"),
        ("path = \"/{{re<|>\"", "repo"),
        ("path = \"/{{re<|>.id}}\"", "repo"),
        ("path = \"/{{repo.<|>\"", "id"),
        ("path = \"/{{env.HU<|>}}\"", "HUB_TOKEN"),
        ("path = \"/{{query|<|>\"", "urlencode"),
        ("path = \"/{{query|tr<|>}}\"", "truncate"),
        ("path = \"/{{query|def<|>}}\"", "default"),
        ("path = '/{{query|def<|>}}'", "default"),
        ("path = \"\\t🗒{{qu<|>}}\"", "query"),
    ];
    let cases: Vec<_> = cases
        .iter()
        .map(|(text, label)| (format!("{op}{text}"), *label))
        .collect();
    let cases: Vec<_> = cases
        .iter()
        .map(|(text, label)| (text.as_str(), *label))
        .collect();
    insta::assert_snapshot!(table(&cases).replace(op, ""), @r#"
path = "/{{<|>"
  → path = "/{{query}}"
path = "/{{ <|>"
  → path = "/{{ query }}"
path = "/{{<|>}}"
  → path = "/{{query}}"
path = "/{{ qu<|> }}"
  → path = "/{{ query }}"
path = "/{{qu<|>}"
  → path = "/{{query}}"
path = "/{{qu<|>
  → path = "/{{query}}
path = "/{{qu<|> and {{limit}}"
  → path = "/{{query}} and {{limit}}"
path = "/{{re<|>"
  → path = "/{{repo."
path = "/{{re<|>.id}}"
  → path = "/{{repo.id}}"
path = "/{{repo.<|>"
  → path = "/{{repo.id}}"
path = "/{{env.HU<|>}}"
  → path = "/{{env.HUB_TOKEN}}"
path = "/{{query|<|>"
  → path = "/{{query|urlencode}}"
path = "/{{query|tr<|>}}"
  → path = "/{{query|truncate:200}}"
  $ path = "/{{query|truncate:${1:200}}}"
path = "/{{query|def<|>}}"
  → path = "/{{query|default:''}}"
  $ path = "/{{query|default:'$1'}}"
path = '/{{query|def<|>}}'
  → path = '/{{query|default:""}}'
  $ path = '/{{query|default:"$1"}}'
path = "\t🗒{{qu<|>}}"
  → path = "\t🗒{{query}}"
"#);
}

#[test]
fn environment_values_are_never_shown() {
    for text in [
        "[adapters.x]\nwhen.env = \"<|>\"",
        "[adapters.x]\nurl = \"{{env.<|>}}\"",
    ] {
        let (_, items) = items(text);
        assert!(items.iter().any(|item| item.kind == ItemKind::EnvVar));
        assert!(
            items
                .iter()
                .all(|item| { !format!("{item:?}{}", resolve(&item.doc)).contains("s3cr3t") })
        );
    }
}

const SEED: &str = "[vars]\nteam = \"a\"\n[adapters.\"x y\"]\ndriver = \"command\"\ncommand = [\"rg\", \"--\", \"{{query|default:'é'}}\"]\nwhen = { env = \"📒\", file = \".notes\" }\non = [{ event = \"sync\", op = \"store\" }]\n[adapters.x.ops.search]\nbody = { a = [\"{{vars.team}}\"] }\nmap.uri = \"tpl:a://{{id}}\"\nstdin = \"\"\"\n{{ query }}\"\"\"\r\n[[adapters.x.tools]]\nname = \"t\"\nparams = { a = \"string!\" }\n[companion]\nseverity.unused-op = \"off\"\n";

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_place_of_any_mutated_text(
        cuts in prop::collection::vec((0usize..600, 0usize..12, r#"[\[\]{}"'.=|,\né🗒a ]{0,4}"#), 0..4),
        offset in 0u32..620,
        snippets: bool,
    ) {
        let mut text = SEED.to_owned();
        for (at, len, put) in cuts {
            let start = text.floor_char_boundary(at.min(text.len()));
            let end = text.floor_char_boundary((start + len).min(text.len())).max(start);
            text.replace_range(start..end, &put);
        }
        let snapshot = snapshot(&text, "[adapters.wiki]\n");
        let programs = ["rg".to_owned()];
        let files = |_: &str| vec![FileEntry { name: "é".to_owned(), is_folder: false }];
        let capabilities = Capabilities {
            snippets,
            extra: Extra { programs: &programs, files: Some(&files) },
        };
        let items = complete(&snapshot, &snapshot.files[0], offset, &capabilities);
        let offset = u32::try_from(text.floor_char_boundary((offset as usize).min(text.len()))).unwrap();
        for item in &items {
            let range = item.edit.range;
            prop_assert!(text.get(range.start as usize..range.end as usize).is_some());
            prop_assert!(range.touches(offset), "{:?} at {offset} in {text:?}", item);
            prop_assert!(snippets || !item.edit.snippet);
        }
        let mut sorts: Vec<_> = items.iter().map(|item| &item.sort).collect();
        sorts.sort();
        sorts.dedup();
        prop_assert_eq!(sorts.len(), items.len());
    }
}
