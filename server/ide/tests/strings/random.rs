//! No string, wherever it stands, brings the checks down, and every range lies in the text.

use proptest::prelude::*;

use super::diagnostics;

/// Pieces that mean something to one of the checks.
const PIECES: &[&str] = &[
    "{{",
    "}}",
    "|",
    ":",
    ".",
    "[",
    "]",
    "'",
    "\"",
    "\\",
    "$",
    "${",
    "}",
    "query",
    "vars.",
    "env.",
    "repo",
    "args",
    "tpl:",
    "re:",
    "=",
    "(",
    "*",
    "?",
    "/",
    "C:",
    "\t",
    "\n",
    "\r\n",
    "http://",
    "https://",
    "@",
    "Bearer ",
    "sk-",
    "ghp_0123456789abcdefghij",
    "--",
    "-c",
    "sh",
    "é",
    "📒",
    " ",
    "lower",
    "truncate:5",
    "default:",
    "0",
    "\u{0}",
    "\u{1b}",
    "%",
    "{",
    "a",
    "\u{feff}",
];

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => proptest::sample::select(PIECES).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// The string as TOML: in double quotes, all of it escaped that must be.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

const SLOTS: &str = r#"
[vars]
v = @
[adapters.@]
driver = "command"
description = @
command = [@, "-c", @, @]
cwd = @
url = @
base_url = @
prefix = @
expose = [@]
headers = { @ = @, Authorization = @ }
env = { @ = @ }
vars = { @ = @, v = @ }
when = { command = @, file = [@], repo = @, env = @, exists = @ }
[adapters.@.ops.@]
tool = @
path = @
query = { @ = @ }
args = { @ = [@, { x = @ }] }
body = @
stdin = @
items = @
split = @
text = @
owns = [@]
where = { @ = @ }
map = { title = @, uri = @, date = @ }
command = [@, @]
[[adapters.@.on]]
event = @
op = @
kinds = [@]
[[adapters.@.tools]]
name = @
params = { @ = @ }
op = { command = [@], path = @ }
[companion]
locale = @
severity = { @ = "off" }
[companion.notices]
adapters = [@]
"#;

fn check(text: &str) {
    for one in diagnostics(text) {
        let range = one.range.start as usize..one.range.end as usize;
        assert!(text.get(range.clone()).is_some(), "{range:?} of {text:?}");
        assert!(
            !one.message.contains(['\n', '\r', '\t']),
            "{:?}",
            one.message
        );
        for (range, _) in one.fix.iter().flat_map(|fix| &fix.edits) {
            assert!(text.get(range.start as usize..range.end as usize).is_some());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_string_in_any_place(text in pieces()) {
        check(&SLOTS.replace('@', &quoted(&text)));
    }

    #[test]
    fn any_text_as_a_file(text in pieces(), at in 0..400usize) {
        let at = SLOTS.floor_char_boundary(at);
        let (before, after) = SLOTS.split_at(at);
        check(&format!("{before}{text}{after}"));
    }

    #[test]
    fn any_json(text in pieces(), key in proptest::sample::select(&["command", "url", "env", "name"][..])) {
        let text = serde_json::Value::String(text).to_string();
        check(&format!("{{\"mcpServers\": {{{text}: {{\"command\": \"a\", \"{key}\": {text}, \"args\": [{text}]}}}}}}\n"));
        check(&format!("{{\"{key}\": {text}, \"headers\": {{{text}: {text}}}, \"url\": \"https://x\"}}\n"));
    }
}

#[test]
fn a_parameter_with_a_tab_in_its_name_is_told_of_on_one_line() {
    check(&SLOTS.replace('@', &quoted("{{\ttpl:}}")));
}
