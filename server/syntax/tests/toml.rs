//! The TOML tree: recovery, ranges, tables, and edits.

#![allow(
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by a panic"
)]

use kontext_syntax::TextRange;
use kontext_syntax::toml::{Document, FaultKind, Node, NodeKind, Units, write};
use proptest::prelude::*;

/// What a document says: its values with their ranges, its faults.
fn dump(text: &str) -> String {
    let document = Document::parse(text);
    let units = Units::of(&document, &["adapters"], None);
    let mut out = String::new();
    let mut faults: Vec<_> = document.faults().collect();
    for unit in units.iter() {
        let name = unit
            .key
            .name
            .as_deref()
            .map_or(String::new(), |name| format!(".{name}"));
        out += &format!("{}{name}: ", unit.key.top);
        node(&document, &unit.item.node, &mut out);
        out.push('\n');
        faults.extend(&unit.faults);
    }
    for fault in faults {
        let range = document.resolve(fault.span);
        out += &format!("{:?} {:?}: {}\n", fault.kind, range.of(text), fault.message);
    }
    out
}

fn node(document: &Document, at: &Node, out: &mut String) {
    match &at.kind {
        NodeKind::Table(table) => {
            out.push('{');
            for (i, (key, item)) in table.items.iter().enumerate() {
                *out += if i > 0 { ", " } else { "" };
                *out += &format!("{key}: ");
                node(document, &item.node, out);
            }
            out.push('}');
        }
        NodeKind::Array(array) => {
            out.push('[');
            for (i, item) in array.nodes.iter().enumerate() {
                *out += if i > 0 { ", " } else { "" };
                node(document, item, out);
            }
            out.push(']');
        }
        NodeKind::String(text) => *out += &format!("{:?}", text.value),
        NodeKind::Invalid => out.push('?'),
        _ => *out += document.slice(at.span),
    }
}

fn faults(text: &str) -> usize {
    let document = Document::parse(text);
    document.faults().count()
        + Units::of(&document, &["adapters"], None)
            .iter()
            .map(|unit| unit.faults.len())
            .sum::<usize>()
}

#[test]
fn valid_forms_have_no_fault() {
    for text in [
        "",
        "\u{feff}",
        "\u{feff}a = 1\r\n",
        "# only\n",
        "a.b.c = 1\n[d]\n[[e]]\n[[e]]\n[e.f]\n",
        "a = {\n  b = 1, # c\n  c = [1,\n 2,],\n}\n",
        "a = [\n [1],\n [true]\n]\n",
        "a = \"\\e\\x41\\u00e1\"\n",
        "a = '''\nb = 1\n[c]\n'''\nd = 1\n",
        "a = 1979-05-27T07:32:00Z\nb = 1979-05-27 07:32:00\nc = 07:32\n",
        "a = +1_000\nb = 0xff\nc = 1e3\nd = -inf\ne = nan\n",
        "\"a b\" = 1\n'c.d' = 2\n\"\" = 3\n",
        "a = [ { b = 1 }, { b = 2 } ]\n",
        "[a.b]\n[a]\nc.d = 1\nc.e = 2\n",
        "a = [[[[1]]]]",
        "x = \"\"\"\\\n   y \\\n  z\"\"\"\n",
    ] {
        assert_eq!(
            dump(text)
                .lines()
                .find(|line| line.starts_with(char::is_uppercase)),
            None,
            "{text:?}"
        );
    }
}

#[test]
fn half_typed_lines_cost_only_themselves() {
    insta::assert_snapshot!(dump("[adapters.a]\ndri\ndriver = \ncommand = [\"x\"]\nwhen = { env = , file = \"f\" }\nurl = \"http\ncwd = 'x'\n"), @r#"
    adapters.a: {dri: ?, driver: ?, command: ["x"], when: {env: ?, file: "f"}, url: ?, cwd: "x"}
    Syntax "dri": a key needs a value: `key = value`
    Syntax "=": the value is missing; write it behind `=`
    Syntax "=": the value is missing; write it behind `=`
    Syntax "\"http": this string is not closed; end it with "
    "#);
    insta::assert_snapshot!(dump("[adapters.a]\ncommand = [\"x\",\ndriver = \"mcp\"\n\n[adapters.b]\ndriver = \"http\"\n"), @r#"
    adapters.a: {command: ["x"], driver: "mcp"}
    adapters.b: {driver: "http"}
    Syntax "[": this array is not closed; end it with `]`
    "#);
    insta::assert_snapshot!(dump("[adapters.a]\nwhen = {\ndriver = \"mcp\"\n[adapters.b]\nx = '''\ny = 1\n[c]\nz = \"\"\"a\"\"\"\n"), @r#"
    adapters.a: {when: {}, driver: "mcp"}
    adapters.b: {x: ?, y: 1}
    c: {z: "a"}
    Syntax "{": this inline table is not closed; end it with `}`
    Syntax "'''": this string is not closed; end it with '''
    "#);
    insta::assert_snapshot!(dump("[adapters.\n[adapters.a]\nx = 1\n[\n[[adapters.a.on]\ny = 1\n"), @r#"
    adapters.: ?
    adapters.a: {x: 1, on: [{y: 1}]}
    Syntax "[adapters.": this header is not closed; end it with `]`
    Syntax "[": this header is not closed; end it with `]`
    Syntax "[[adapters.a.on]": this header is not closed; end it with `]]`
    "#);
}

#[test]
fn a_closing_quote_taken_for_an_opening_one_costs_little() {
    insta::assert_snapshot!(dump("a = \"\"\"x\nb = 1\nc = \"\"\"text\"\"\"\nd = 2\n"), @r#"
    a: ?
    b: 1
    c: "text"
    d: 2
    Syntax "\"\"\"x": this string is not closed; end it with """
    "#);
}

#[test]
fn escapes_and_marks() {
    insta::assert_snapshot!(dump("a = \"C:\\Users\\me\"\n\u{feff}b = 1\nc\u{feff} = 2\nd = \"x\u{1}\"\n"), @r#"
    a: ?
    b: 1
    c: 2
    d: ?
    InvalidEscape "\\U": `\U` is not an escape that TOML knows; for a backslash write '…' (a literal string) or double it: \\
    BomInside "\u{feff}": a byte order mark (BOM, U+FEFF) may stand only at the very start of a file; remove this one
    BomInside "c\u{feff}": a byte order mark (BOM, U+FEFF) may stand only at the very start of a file; remove this one
    Syntax "\u{1}": the character `\u{1}` may not stand in this string; write it as an escape
    "#);
}

#[test]
fn clashes_are_reported_once() {
    insta::assert_snapshot!(dump("[adapters.a]\nx = 1\nx = 2\ny.z = 1\n[adapters.a]\nx = 3\n[adapters.a.y]\n[adapters.a.x.z]\n[b]\n[[b]]\n"), @r#"
    adapters.a: {x: 1, y: {z: 1}}
    b: {}
    DuplicateKey "x": `x` is already set in this table; remove one of the two
    TableConflict "[adapters.a]": this table is already defined; join the two
    TableConflict "[adapters.a.y]": this table is already defined; join the two
    TableConflict "z": `z` cannot be a table below a value that is none
    TableConflict "[[b]]": this is already a table; it cannot be an array of tables too
    "#);
}

#[test]
fn json_is_one_fault() {
    insta::assert_snapshot!(dump("a = 1\n\n{\n  \"s\": [ { \"n\": \"x\" } ],\n  \"t\": true\n}\nb = 2\n\"mcpServers\": {\n \"x\": {}\n}\n[c]\n"), @r#"
    a: 1
    b: 2
    c: {}
    Json "{\n  \"s\": [ { \"n\": \"x\" } ],\n  \"t\": true\n}": this is JSON, not TOML; write tables and `key = value`
    Json "\"mcpServers\": {\n \"x\": {}\n}": this is JSON, not TOML; write tables and `key = value`
    "#);
}

#[test]
fn deep_nesting_is_a_fault() {
    let text = format!(
        "[adapters.a]\nvars = {{ x = {}1{} }}\n[adapters.b]\ny = 1\n",
        "[".repeat(5000),
        "]".repeat(5000)
    );
    let document = Document::parse(text.as_str());
    assert_eq!(
        document
            .faults()
            .map(|fault| fault.kind)
            .collect::<Vec<_>>(),
        [FaultKind::TooDeep]
    );
    assert!(
        Units::of(&document, &["adapters"], None)
            .named("adapters", "b")
            .is_some()
    );
    // Left open, the same.
    for open in ["[", "{a=", "[{a="] {
        assert!(faults(&format!("a = {}", open.repeat(20_000))) > 0);
    }
}

#[test]
fn keys_of_many_parts_are_cut() {
    let parts = vec!["a"; 50_000].join(".");
    for text in [
        format!("{parts} = 1\n"),
        format!("[{parts}]\nb = 1\n"),
        format!("[[adapters.x.{parts}]]\n"),
        format!("x = {{ {parts} = 1 }}\n"),
        // Parts and brackets count together.
        format!(
            "x = {}",
            format!("{{ {} = ", vec!["a"; 30].join(".")).repeat(500)
        ),
    ] {
        let document = Document::parse(text.as_str());
        let deep = document
            .faults()
            .filter(|fault| fault.kind == FaultKind::TooDeep);
        assert_eq!(deep.count(), 1, "{}", &text[..40]);
        let units = Units::of(&document, &["adapters"], None);
        drop((units, document));
    }
}

#[test]
fn a_mark_that_comes_to_the_start_is_allowed() {
    let text = "# c\n\u{feff}[a]\n";
    let document = Document::parse(text);
    assert_eq!(document.faults().count(), 1);
    let document = document.edited("\u{feff}[a]\n", 0, 4, 0);
    assert_eq!(document.faults().count(), 0);
    let document = document.edited(text, 0, 0, 4);
    assert_eq!(document.faults().count(), 1);
}

#[test]
fn decoded_text_knows_its_source() {
    let text = "a = \"x\\tž\\u00e1{{q}}\"\nb = '''\n{{r}}'''\n";
    let document = Document::parse(text);
    let units = Units::of(&document, &[], None);
    for (key, part) in [("a", "{{q}}"), ("a", "ž"), ("b", "{{r}}")] {
        let item = &units.top(key).unwrap().item.node;
        let NodeKind::String(decoded) = &item.kind else {
            panic!()
        };
        let at = u32::try_from(decoded.value.find(part).unwrap()).unwrap();
        let range = TextRange::new(at, at + part.len() as u32);
        let source = document.resolve(decoded.source(item.span, range));
        assert_eq!(source.of(text), part);
        assert_eq!(
            decoded.decoded_offset(source.start - document.resolve(item.span).start),
            at
        );
    }
}

fn fragment() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "[adapters.a]\n",
        "[adapters.b.ops.search]\n",
        "[[adapters.a.on]]\n",
        "[adapters]\n",
        "[x",
        "]",
        "{",
        "}",
        "[",
        "\n",
        "a = 1\n",
        "driver = \"mcp\"\n",
        "command = [\"a\", \"b\"]\n",
        "when = { env = \"X\",\n file = 'y' }\n",
        "s = '''\nx = 1\n",
        "'''",
        "\"\"\"",
        "\"",
        "'",
        "\\",
        "# c\n",
        "\r\n",
        "\r",
        "\u{feff}",
        "é🗒️",
        ",",
        "=",
        ".",
        " ",
        "\"k\": {\n \"v\": 1 }\n",
        "{\n",
        "m = [\n [1],\n [x]\n]\n",
        "1979-05-27",
        "true",
        "\u{0}",
    ])
    .prop_map(str::to_owned)
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop_oneof![9 => fragment(), 1 => any::<String>()], 0..24)
        .prop_map(|parts| parts.concat())
}

/// Everything a document holds, without the names of the blocks.
fn plain(document: &Document) -> String {
    let mut out = format!(
        "{:?}",
        document
            .blocks()
            .iter()
            .map(|(at, block)| (at, &block.header, &block.entries, &block.faults))
            .collect::<Vec<_>>()
    );
    for (_, block) in document.blocks() {
        out = out.replace(&format!("{:?}", block.id), "id");
    }
    let digits = |c: char| c.is_ascii_digit();
    let mut clean = String::new();
    for part in out.split_inclusive('@') {
        clean += part.trim_end_matches('@').trim_end_matches(digits);
        clean.push('@');
    }
    clean
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn blocks_cover_any_text(text in text()) {
        let document = Document::parse(text.as_str());
        let mut at = 0;
        for (start, block) in document.blocks() {
            prop_assert_eq!(*start, at);
            at += block.len;
        }
        prop_assert_eq!(at as usize, text.len());
        let units = Units::of(&document, &["adapters"], None);
        for fault in document.faults().chain(units.iter().flat_map(|unit| &unit.faults)) {
            let range = document.resolve(fault.span);
            prop_assert!(text.get(range.start as usize..range.end as usize).is_some(), "{:?}", fault);
        }
    }

    #[test]
    fn an_edit_gives_what_parsing_the_new_text_gives(text in text(), edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..12, prop_oneof![fragment(), Just(String::new())]), 1..6)) {
        let mut text = text;
        let mut document = Document::parse(text.as_str());
        let mut units = Units::of(&document, &["adapters"], None);
        for (at, len, insert) in edits {
            let mut start = at.index(text.len() + 1);
            while !text.is_char_boundary(start) { start -= 1; }
            let mut end = (start + len).min(text.len());
            while !text.is_char_boundary(end) { end += 1; }
            text.replace_range(start..end, &insert);
            document = document.edited(text.as_str(), start as u32, end as u32, (start + insert.len()) as u32);
            units = Units::of(&document, &["adapters"], Some(&units));
            let whole = Document::parse(text.as_str());
            prop_assert_eq!(plain(&document), plain(&whole), "{:?}", text);
            let fresh = Units::of(&whole, &["adapters"], None);
            let shape = |document: &Document, units: &Units| units.iter().map(|unit| {
                let mut out = format!("{:?} ", unit.key);
                node(document, &unit.item.node, &mut out);
                for fault in &unit.faults { out += &format!("{:?}{}", document.resolve(fault.span), fault.message); }
                out
            }).collect::<Vec<_>>();
            prop_assert_eq!(shape(&document, &units), shape(&whole, &fresh));
        }
    }

    #[test]
    fn what_is_written_is_read(name in any::<String>(), value in any::<String>()) {
        let document = Document::parse(format!("{} = {}", write::key(&name), write::string(&value)));
        let units = Units::of(&document, &[], None);
        let [unit] = units.iter().collect::<Vec<_>>()[..] else { panic!("{units:?}") };
        prop_assert_eq!(&*unit.key.top, &*name);
        prop_assert_eq!(unit.item.node.as_str(), Some(&*value));
    }

    #[test]
    fn valid_toml_has_no_fault(number in any::<i64>(), word in "[a-z]{1,8}", any in any::<String>()) {
        let quoted: String = any.chars().map(|c| format!("\\U{:08x}", c as u32)).collect();
        let text = format!("x_{word} = {number}\n[t.{word}]\ns = \"{quoted}\"\n");
        prop_assert_eq!(faults(&text), 0);
        let document = Document::parse(text.as_str());
        let units = Units::of(&document, &[], None);
        let value = units.top("t").and_then(|unit| unit.item.node.get(&word)?.node.get("s")?.node.as_str().map(str::to_owned));
        prop_assert_eq!(value, Some(any));
    }
}
