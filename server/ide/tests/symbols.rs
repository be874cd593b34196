//! The outline.
#![allow(clippy::unwrap_used, clippy::string_slice)]

use kontext_config::source::Source;
use kontext_ide::symbols::{Symbol, symbols};
use proptest::prelude::*;

fn outline(text: &str) -> String {
    fn walk(out: &mut String, text: &str, depth: usize, symbols: &[Symbol]) {
        for symbol in symbols {
            let detail = symbol.detail.as_deref().unwrap_or("-");
            let first = text[..symbol.range.start as usize].lines().count();
            let lines = symbol.range.of(text).lines().count();
            out.push_str(&format!(
                "{}{:?} {} ({detail}) `{}` {first}+{lines}\n",
                "  ".repeat(depth),
                symbol.kind,
                symbol.name,
                symbol.selection.of(text),
            ));
            walk(out, text, depth + 1, &symbol.children);
        }
    }
    let mut out = String::new();
    walk(&mut out, text, 0, &symbols(&Source::parse(text)));
    out
}

#[test]
fn adapters_nest_what_they_are_made_of() {
    insta::assert_snapshot!(outline("[vars]\na = \"1\"\n\n[adapters.x]\ndriver = \"mcp\"\nwhen = { env = \"A\" }\nops.read = { tool = \"r\" }\n\n[adapters.x.ops.search]\ntool = \"find\"\n[adapters.x.ops.search.map]\ntitle = \"t\"\n[[adapters.x.on]]\nevent = \"sync\"\nop = \"store\"\n[[adapters.x.on]]\nevent = \"capture\"\n[adapters.y]\ntools = [{ name = \"a\" }, { name = \"b\" }]\n[adapters.x.vars]\nlang = \"en\"\n[other.table]\n"), @r#"
Table vars (-) `vars` 0+2
  Variable a (-) `a` 1+1
Adapter x (mcp) `x` 3+14
  When when (-) `when` 5+1
  Group ops (-) `ops` 6+6
    Op read (-) `read` 6+1
    Op search (find) `search` 8+4
  Event sync (store) `on` 12+3
  Event capture (-) `on` 15+2
Adapter y (-) `y` 17+2
  Tool a (-) `{ name = "a" }` 19+1
  Tool b (-) `{ name = "b" }` 19+1
Adapter x (mcp) `x` 19+2
  Group vars (-) `vars` 19+2
    Variable lang (-) `lang` 20+1
Table other (-) `other` 21+1
"#);
}

fn nested(symbols: &[Symbol], within: kontext_syntax::TextRange) {
    let mut end = within.start;
    for symbol in symbols {
        assert!(within.contains(symbol.range), "{symbol:?} in {within:?}");
        assert!(symbol.range.contains(symbol.selection), "{symbol:?}");
        assert!(symbol.range.start >= end, "{symbol:?} behind {end}");
        assert!(!symbol.name.is_empty());
        end = symbol.range.end;
        nested(&symbol.children, symbol.range);
    }
}

const EVERYTHING: &str = include_str!("world/everything.toml");

proptest! {
    #[test]
    fn ranges_nest_whatever_the_text(cut in 0usize..EVERYTHING.len(), len in 0usize..40, insert in "[\\[\\]{}\"'.=\n a-z]{0,8}") {
        let end = (cut + len).min(EVERYTHING.len());
        let text = format!("{}{insert}{}", &EVERYTHING[..cut], &EVERYTHING[end..]);
        let all = kontext_syntax::TextRange::new(0, u32::try_from(text.len()).unwrap());
        nested(&symbols(&Source::parse(text.as_str())), all);
    }
}
