#![allow(clippy::string_slice, reason = "a test may fail by a panic")]

use kontext_config::source::Source;
use proptest::prelude::*;

use super::*;

/// What stands at the mark, in words.
fn at(marked: &str) -> String {
    let offset = marked.find("<|>").unwrap();
    let text = marked.replacen("<|>", "", 1);
    let source = Source::parse(text.as_str());
    show(&locate(&source, u32::try_from(offset).unwrap()), &text)
}

fn show(located: &Located<'_>, text: &str) -> String {
    match located {
        Located::Header(at) => format!(
            "header {:?} `{}`{}",
            at.before,
            at.part.of(text),
            if at.array { " array" } else { "" }
        ),
        Located::Key(at) => format!(
            "key {:?} `{}` given {:?}{}",
            at.table,
            at.part.of(text),
            at.given,
            if at.inline { " inline" } else { "" }
        ),
        Located::Value(at) => {
            let kind = at.kind.map_or("?".to_owned(), ToString::to_string);
            let string = at.string.as_ref().map_or(String::new(), |string| {
                let (before, after) = string.text.split_at(string.cursor as usize);
                format!(" in {before}|{after}")
            });
            let element = at.element.map_or(String::new(), |at| format!("[{at}]"));
            format!(
                "value {:?}{element} {kind} `{}`{string}",
                at.path,
                at.range.of(text)
            )
        }
        Located::Comment => "comment".to_owned(),
        Located::Nowhere => "nowhere".to_owned(),
    }
}

fn table(cases: &[&str]) -> String {
    cases
        .iter()
        .map(|case| format!("{}\n    {}\n", case.replace('\n', "⏎"), at(case)))
        .collect()
}

#[test]
fn headers() {
    insta::assert_snapshot!(table(&[
        "[<|>",
        "[<|>]",
        "<|>[a]",
        "[ad<|>]",
        "[adapters.<|>",
        "[adapters. <|>]\n",
        "[adapters.x.op<|>s.search]",
        "[adapters.x]<|>",
        "[[adapters.x.<|>]]",
        "[[adapters.x.on<|>",
        "[[adapters.x.on]<|>]",
        "[adapters.\"a.<|>b\"]",
    ]), @r#"
[<|>
    header [] ``
[<|>]
    header [] ``
<|>[a]
    nowhere
[ad<|>]
    header [] `ad`
[adapters.<|>
    header ["adapters"] ``
[adapters. <|>]⏎
    header ["adapters"] ``
[adapters.x.op<|>s.search]
    header ["adapters", "x"] `ops`
[adapters.x]<|>
    nowhere
[[adapters.x.<|>]]
    header ["adapters", "x"] `` array
[[adapters.x.on<|>
    header ["adapters", "x"] `on` array
[[adapters.x.on]<|>]
    nowhere
[adapters."a.<|>b"]
    header ["adapters"] `"a.b"`
"#);
}

#[test]
fn keys() {
    insta::assert_snapshot!(table(&[
        "<|>",
        "dr<|>",
        "# note <|>",
        "[vars]\na = \"1\"\n\n<|>",
        "[adapters.x]\n<|>\ndriver = \"mcp\"\n",
        "[adapters.x]\ndriver = \"mcp\"\ndri<|>",
        "[adapters.x]\nwhen.fi<|>\nwhen.env = \"A\"\n",
        "[adapters.x]\nwhen.<|>\nwhen.env = \"A\"\n",
        "[adapters.x]\nwhen = { <|> }\n",
        "[adapters.x]\nwhen = { fi<|> }\n",
        "[adapters.x]\nwhen = { env = \"A\", <|>\n",
        "[adapters.x]\nwhen = { env = \"A\"\n<|>\n",
        "[adapters.x]\nwhen = { env = \"A\" <|> }\n",
        "[adapters.x]\nwhen = {\n  env = \"A\", # why <|>\n}\n",
        "[adapters.x]\non = [{ event = \"sync\", <|> }]\n",
        "[[adapters.x.on]]\nevent = \"sync\"\n[[adapters.x.on]]\nop = \"store\"\n<|>",
        "[[adapters.x.tools]]\nname = \"a\"\n[adapters.x.tools.op]\n<|>\n[[adapters.x.tools]]\n[adapters.x.tools.op]\npath = \"/\"",
        "adapters.x.<|>",
        "[adapters]\nx.driver = \"mcp\"\nx.<|>",
        "[adapters.x.ops.search]\ntool = \"find\"\n[adapters.x]\ndriver = \"mcp\"\nwhen.env = \"A\"\n<|>",
        "[a]\n{ \"mcpServers\": {\n <|> } }\n",
        "[adapters.x]\ndriver <|>\n",
        "[adapters.x]\n  <|>  driver = \"mcp\"\n",
    ]), @r#"
<|>
    key [] `` given []
dr<|>
    key [] `dr` given []
# note <|>
    comment
[vars]⏎a = "1"⏎⏎<|>
    key ["vars"] `` given ["a"]
[adapters.x]⏎<|>⏎driver = "mcp"⏎
    key ["adapters", "x"] `` given ["driver"]
[adapters.x]⏎driver = "mcp"⏎dri<|>
    key ["adapters", "x"] `dri` given ["driver"]
[adapters.x]⏎when.fi<|>⏎when.env = "A"⏎
    key ["adapters", "x", "when"] `fi` given ["env"]
[adapters.x]⏎when.<|>⏎when.env = "A"⏎
    key ["adapters", "x", "when"] `` given ["env"]
[adapters.x]⏎when = { <|> }⏎
    key ["adapters", "x", "when"] `` given [] inline
[adapters.x]⏎when = { fi<|> }⏎
    key ["adapters", "x", "when"] `fi` given [] inline
[adapters.x]⏎when = { env = "A", <|>⏎
    key ["adapters", "x", "when"] `` given ["env"] inline
[adapters.x]⏎when = { env = "A"⏎<|>⏎
    key ["adapters", "x"] `` given ["when"]
[adapters.x]⏎when = { env = "A" <|> }⏎
    nowhere
[adapters.x]⏎when = {⏎  env = "A", # why <|>⏎}⏎
    comment
[adapters.x]⏎on = [{ event = "sync", <|> }]⏎
    key ["adapters", "x", "on"] `` given ["event"] inline
[[adapters.x.on]]⏎event = "sync"⏎[[adapters.x.on]]⏎op = "store"⏎<|>
    key ["adapters", "x", "on"] `` given ["op"]
[[adapters.x.tools]]⏎name = "a"⏎[adapters.x.tools.op]⏎<|>⏎[[adapters.x.tools]]⏎[adapters.x.tools.op]⏎path = "/"
    key ["adapters", "x", "tools", "op"] `` given []
adapters.x.<|>
    key ["adapters", "x"] `` given []
[adapters]⏎x.driver = "mcp"⏎x.<|>
    key ["adapters", "x"] `` given ["driver"]
[adapters.x.ops.search]⏎tool = "find"⏎[adapters.x]⏎driver = "mcp"⏎when.env = "A"⏎<|>
    key ["adapters", "x"] `` given ["ops", "driver", "when"]
[a]⏎{ "mcpServers": {⏎ <|> } }⏎
    nowhere
[adapters.x]⏎driver <|>⏎
    nowhere
[adapters.x]⏎  <|>  driver = "mcp"⏎
    nowhere
"#);
}

#[test]
fn values() {
    insta::assert_snapshot!(table(&[
        "[adapters.x]\ndriver = <|>",
        "[adapters.x]\ndriver =<|>\n",
        "[adapters.x]\ndriver = m<|>\n",
        "[adapters.x]\ndriver = \"m<|>\"\n",
        "[adapters.x]\ndriver = \"m<|>\ncommand = [\"x\"]\n",
        "[adapters.x]\ndriver = <|>\"mcp\"\n",
        "[adapters.x]\ndriver = \"mcp\"<|>\n",
        "[adapters.x]\ndriver = \"mcp\" <|>\n",
        "[adapters.x]\ndriver = \"mcp\" # <|>\n",
        "[adapters.x]\ncommand = [<|>]\n",
        "[adapters.x]\ncommand = [<|>\n",
        "[adapters.x]\ncommand = [\"a\", <|>\nurl = \"\"\n",
        "[adapters.x]\ncommand = [\"a\", \"b<|>\n",
        "[adapters.x]\ncommand = [\"a\" <|>]\n",
        "[adapters.x]\ncommand = [\n  \"a\",\n  <|>\n]\n",
        "[adapters.x]\nexpose = [\"<|>\"]\n",
        "[adapters.x]\nwhen = { env = <|> }\n",
        "[adapters.x]\nwhen = { env = \"A<|> }\n",
        "[adapters.x]\nwhen = { env = [\"A<|>\"] }\n",
        "[adapters.x.ops.search]\nbody = { q = [{ a = \"x\\t{{<|>}}\" }] }\n",
        "[adapters.x.ops.search]\nstdin = '''\na {{qu<|>\n'''\n",
        "[adapters.x]\nnope = \"<|>\"\n",
        "[adapters.x]\ncwd = \"C:\\q<|>\"\n",
    ]), @r#"
[adapters.x]⏎driver = <|>
    value ["adapters", "x", "driver"] `"mcp"`, `"http"` or `"command"` ``
[adapters.x]⏎driver =<|>⏎
    value ["adapters", "x", "driver"] `"mcp"`, `"http"` or `"command"` ``
[adapters.x]⏎driver = m<|>⏎
    value ["adapters", "x", "driver"] `"mcp"`, `"http"` or `"command"` `m`
[adapters.x]⏎driver = "m<|>"⏎
    value ["adapters", "x", "driver"] `"mcp"`, `"http"` or `"command"` `"m"` in m|
[adapters.x]⏎driver = "m<|>⏎command = ["x"]⏎
    value ["adapters", "x", "driver"] `"mcp"`, `"http"` or `"command"` `"m` in m|
[adapters.x]⏎driver = <|>"mcp"⏎
    value ["adapters", "x", "driver"] `"mcp"`, `"http"` or `"command"` `"mcp"`
[adapters.x]⏎driver = "mcp"<|>⏎
    value ["adapters", "x", "driver"] `"mcp"`, `"http"` or `"command"` `"mcp"`
[adapters.x]⏎driver = "mcp" <|>⏎
    nowhere
[adapters.x]⏎driver = "mcp" # <|>⏎
    comment
[adapters.x]⏎command = [<|>]⏎
    value ["adapters", "x", "command"][0] a string ``
[adapters.x]⏎command = [<|>⏎
    value ["adapters", "x", "command"][0] a string ``
[adapters.x]⏎command = ["a", <|>⏎url = ""⏎
    value ["adapters", "x", "command"][1] a string ``
[adapters.x]⏎command = ["a", "b<|>⏎
    value ["adapters", "x", "command"][1] a string `"b` in b|
[adapters.x]⏎command = ["a" <|>]⏎
    nowhere
[adapters.x]⏎command = [⏎  "a",⏎  <|>⏎]⏎
    value ["adapters", "x", "command"][1] a string ``
[adapters.x]⏎expose = ["<|>"]⏎
    value ["adapters", "x", "expose"][0] a string `""` in |
[adapters.x]⏎when = { env = <|> }⏎
    value ["adapters", "x", "when", "env"] a string, or an array of strings ``
[adapters.x]⏎when = { env = "A<|> }⏎
    value ["adapters", "x", "when", "env"] a string, or an array of strings `"A }` in A| }
[adapters.x]⏎when = { env = ["A<|>"] }⏎
    value ["adapters", "x", "when", "env"][0] a string `"A"` in A|
[adapters.x.ops.search]⏎body = { q = [{ a = "x\t{{<|>}}" }] }⏎
    value ["adapters", "x", "ops", "search", "body", "q", "a"] any value `"x\t{{}}"` in x	{{|}}
[adapters.x.ops.search]⏎stdin = '''⏎a {{qu<|>⏎'''⏎
    value ["adapters", "x", "ops", "search", "stdin"] a string `'''
a {{qu
'''` in a {{qu|

[adapters.x]⏎nope = "<|>"⏎
    value ["adapters", "x", "nope"] ? `""` in |
[adapters.x]⏎cwd = "C:\q<|>"⏎
    value ["adapters", "x", "cwd"] a string `"C:\q"` in C:\q|
"#);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_place_of_any_text_has_an_answer_on_character_borders(
        text in r#"((\[{1,2}[a-z.]{0,9}\]{0,2}|[a-z.]{1,6} ?=? ?|["'\[\]{},#=\\]|"[a-zé{}|\\]{0,5}"?|\n|🗒| |\r\n|""")){0,25}"#,
        offset in 0u32..200,
    ) {
        let source = Source::parse(text.as_str());
        let located = locate(&source, offset);
        let range = match &located {
            Located::Header(at) => at.part,
            Located::Key(at) => at.part,
            Located::Value(at) => at.range,
            _ => return Ok(()),
        };
        let offset = u32::try_from(text.floor_char_boundary((offset as usize).min(text.len()))).unwrap();
        prop_assert!(text.get(range.start as usize..range.end as usize).is_some());
        prop_assert!(range.touches(offset));
        if let Located::Value(at) = &located && let Some(string) = &at.string {
            prop_assert!(string.text.get(..string.cursor as usize).is_some());
            prop_assert!(string.inner.touches(offset));
            prop_assert!(at.range.contains(string.inner));
        }
    }
}
