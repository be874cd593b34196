//! Hover at marked places.
#![allow(
    clippy::unwrap_used,
    clippy::string_slice,
    clippy::expect_used,
    clippy::indexing_slicing
)]

mod world;

use kontext_config::facts::Trust;
use kontext_config::layer::LayerKind;
use kontext_ide::hover::hover;
use proptest::prelude::*;

fn at(text: &str) -> String {
    let (snapshot, offset) = world::marked(text);
    let hover = hover(&snapshot, &snapshot.files[0], offset).expect("a hover");
    let text = snapshot.files[0].source.document.text();
    format!("`{}`\n{}", hover.range.of(text), hover.plaintext)
}

#[test]
fn a_field_says_what_it_means_and_what_holds() {
    insta::assert_snapshot!(at("[adapters.x]\ndriver = \"http\"\ntimeout<|>_ms = 500\n"), @r#"
`timeout_ms`
timeout_ms: an integer of at least 1

How long one call may take, in milliseconds; an op's own limit wins. Starting an MCP server has a limit of its own: this one, but at least 45 seconds.

- Default: 10000

    timeout_ms = 20000

In effect: 500, from the user layer (this file)
"#);
}

#[test]
fn a_value_that_is_replaced_says_by_which_layer() {
    let user = "[adapters.x]\ndriver = \"http\"\nbase_url = \"http://a\"\n";
    let clone = "[adapters.x]\nbase_url = \"http://b\"\n";
    let snapshot = world::layers(
        &[(LayerKind::User, user), (LayerKind::Clone, clone)],
        Trust::Untrusted,
    );
    let offset = u32::try_from(user.find("base_url").unwrap()).unwrap();
    let hover = hover(&snapshot, &snapshot.files[0], offset).unwrap();
    assert!(
        hover
            .plaintext
            .contains("In effect: \"http://b\", from the clone layer"),
        "{}",
        hover.plaintext
    );
    assert!(
        hover
            .plaintext
            .contains("Replaces \"http://a\", from the user layer (this file)"),
        "{}",
        hover.plaintext
    );
}

const ADAPTER: &str = "[adapters.notes]\ndriver = \"command\"\ncommand = [\"rg\", \"{{query}}\"]\nwhen = { command = [\"git\", \"codegraph\"], env = [\"NOTES_TOKEN\", \"EMPTY\"], file = \"README.md\" }\n";

#[test]
fn an_adapter_says_its_status_with_every_reason() {
    insta::assert_snapshot!(at(&ADAPTER.replace("notes]", "no<|>tes]")), @r#"
`notes`
notes: adapter, driver command

Status: inactive

- codegraph is not on PATH
- EMPTY is set but empty, which counts as not set

- Written in the user layer (this file): /w/user.toml
"#);
}

#[test]
fn conditions_come_with_their_verdicts() {
    insta::assert_snapshot!(at(&ADAPTER.replace("when =", "wh<|>en =")), @r#"
`when`
when: a table

Conditions under which the adapter is active; all that are given must hold. Without it, always.

    when = { command = "codegraph", file = ".codegraph" }

- ✓ command git: can be started
- ✗ command codegraph: codegraph is not on PATH
- ✓ env NOTES_TOKEN: set
- ✗ env EMPTY: EMPTY is set but empty, which counts as not set
- ✓ file README.md: is there
"#);
    insta::assert_snapshot!(at(&ADAPTER.replace("\"EMPTY", "\"<|>EMPTY")), @r#"
`"EMPTY"`
- ✗ env EMPTY: EMPTY is set but empty, which counts as not set
"#);
}

#[test]
fn a_template_is_taken_apart() {
    let op = "[adapters.w]\ndriver = \"http\"\nbase_url = \"http://h\"\nvars = { lang = \"en\" }\n[adapters.w.ops.search]\npath = \"/{{vars.lang}}/{{repo.name|upper}}?q={{query|truncate:5}}\"\nheaders = { A = \"Bearer {{env.WIKI_TOKEN}}\" }\n";
    insta::assert_snapshot!(at(&op.replace("{{query", "{{qu<|>ery")), @r#"
`query`
query: input

What is looked for, as the caller wrote it.

Example: rate limits

{{query|truncate:5}} becomes rate…

The whole: /en/SHOP?q=rate…
"#);
    insta::assert_snapshot!(at(&op.replace("|truncate", "|trun<|>cate")), @r#"
`truncate:5`
truncate:NUMBER: filter

Cuts to that many characters, the ellipsis included.

Default: 200

Example: {{query|truncate:5}}: red panda → red …

{{query|truncate:5}} becomes rate…

The whole: /en/SHOP?q=rate…
"#);
    insta::assert_snapshot!(at(&op.replace("vars.lang", "vars.la<|>ng")), @r#"
`lang`
vars.lang: variable

Written as en in the user layer (this file)

{{vars.lang}} becomes en

The whole: /en/SHOP?q=rate…
"#);
    insta::assert_snapshot!(at(&op.replace("env.WIKI", "env.WI<|>KI")), @r#"
`WIKI_TOKEN`
env.WIKI_TOKEN: environment variable

Set

{{env.WIKI_TOKEN}} becomes ‹env.WIKI_TOKEN›

The whole: Bearer ‹env.WIKI_TOKEN›
"#);
}

#[test]
fn ops_codes_and_values_are_explained() {
    insta::assert_snapshot!(at("[adapters.x.ops.sea<|>rch]\n"), @r#"
`search`
search: op

Looks through what the adapter holds. Its hits are merged with those of the other active adapters.

Answer: a list of hits.

Its templates see:

- query: What is looked for, as the caller wrote it.
- limit: How many hits are wanted at most; an integer.
"#);
    insta::assert_snapshot!(at("[companion.severity]\nunused<|>-op = \"off\"\n"), @r#"
`unused-op`
unused-op: An op that nothing calls by itself

Only the well-known ops (search, history, code, read, brief, store, llm, health) have a caller of their own. An op with another name runs where on or tools names it; this one is named nowhere. It can still be called by name.

Name it in on or tools, delete it, or correct its name where a well-known one was meant.

Level unless set otherwise: hint.

In effect: "off", from the user layer (this file)
"#);
    insta::assert_snapshot!(at("[adapters.x]\ndriver = \"ht<|>tp\"\n"), @r#"
`"http"`
"http": HTTP requests below base_url.

driver: one of the values below

What the adapter is reached through. Required in what the layers give together: a layer that only changes other fields may leave it out.

- Required in what all layers give together

- "mcp": An MCP server: command starts it as a child, url reaches it over streamable HTTP.
- "http": HTTP requests below base_url.
- "command": A program started once per call, without a shell.

    driver = "mcp"

In effect: "http", from the user layer (this file)
"#);
}

const EVERYTHING: &str = include_str!("world/everything.toml");

fn assert_no_secret(snapshot: &kontext_ide::Snapshot) {
    let file = &snapshot.files[0];
    let len = u32::try_from(file.source.document.text().len()).unwrap();
    for offset in 0..=len {
        if let Some(hover) = hover(snapshot, file, offset) {
            for text in [&hover.markdown, &hover.plaintext] {
                assert!(!text.contains(world::SECRET), "at {offset}: {text}");
            }
        }
    }
    let everything = kontext_syntax::TextRange::new(0, len);
    for hint in kontext_ide::inlay::hints(snapshot, file, everything) {
        assert!(!format!("{hint:?}").contains(world::SECRET));
    }
    let effective = kontext_ide::effective::effective(snapshot).to_string();
    assert!(!effective.contains(world::SECRET), "{effective}");
    for of in ["wiki", "adapters.wiki.headers", "env", "when.env", "vars"] {
        let explanation = kontext_ide::explain::explain(snapshot, of);
        assert!(!format!("{explanation:?}").contains(world::SECRET));
    }
    assert!(!kontext_ide::masked_text(&file.source).contains(world::SECRET));
    for workspace in &snapshot.workspaces {
        assert!(!format!("{:?}", workspace.statuses()).contains(world::SECRET));
    }
}

/// Values of the environment, and literal secrets in places for secrets, show nowhere.
#[test]
fn secrets_show_nowhere() {
    assert_no_secret(&world::user(EVERYTHING));
}

#[test]
fn literal_headers_are_not_shown_as_effective_values() {
    let text = "[adapters.x]\ndriver = \"http\"\nheaders = { X-Key = \"plain-literal\" }\n";
    let snapshot = world::user(text);
    assert!(
        !kontext_ide::effective::effective(&snapshot)
            .to_string()
            .contains("plain-literal")
    );
    let explanation = kontext_ide::explain::explain(&snapshot, "x");
    assert!(!format!("{explanation:?}").contains("plain-literal"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn no_place_of_a_mutated_text_panics_or_leaks(
        cut in 0usize..EVERYTHING.len(),
        len in 0usize..12,
        insert in "[\\[\\]{}\"'|.=\n\\\\é a-z]{0,6}",
    ) {
        // What is in the file may be shown once it is a key; what is in the environment never.
        let everything = EVERYTHING.replace(world::SECRET, "plain");
        let cut = cut.min(everything.len());
        let start = everything.floor_char_boundary(cut);
        let end = everything.floor_char_boundary((start + len).min(everything.len()));
        let text = format!("{}{insert}{}", &everything[..start], &everything[end.max(start)..]);
        assert_no_secret(&world::user(&text));
    }
}
