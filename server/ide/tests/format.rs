//! Formatting: what it changes, and what it never changes.
#![allow(clippy::unwrap_used, clippy::string_slice)]

use kontext_ide::format::{FormatOptions, apply, changed_lines, format};
use kontext_syntax::TextRange;
use proptest::prelude::*;

fn formatted(text: &str) -> String {
    match format(text, &FormatOptions::default(), None) {
        Ok(edits) => apply(text, &edits),
        Err(refusal) => refusal.to_string(),
    }
}

#[test]
fn blanks_are_put_right_and_comments_stay() {
    insta::assert_snapshot!(formatted("\n\n# top\n  a=1 # x\nbb  =  \"y\" # long\n\n\n\n\n# about t\n  [ t ]   # c\nx=[1,2,\n3]\n\n\n# tail\n[u]\n#only\n\n\n"), @r#"
# top
a = 1    # x
bb = "y" # long


# about t
[t] # c
x = [
  1,
  2,
  3,
]


# tail
[u]
#only
"#);
}

#[test]
fn line_breaks_and_the_byte_order_mark_stay() {
    assert_eq!(
        formatted("\u{feff}a=1\r\nb =  2\r\n"),
        "\u{feff}a = 1\r\nb = 2\r\n"
    );
    assert_eq!(formatted(""), "");
    assert_eq!(formatted("a = 1"), "a = 1\n");
}

#[test]
fn edits_are_small() {
    let text = "[a]\nx = 1\ny=2\nz = 3\n";
    let edits = format(text, &FormatOptions::default(), None).unwrap();
    assert!(edits.iter().all(|edit| edit.range.len() <= 1), "{edits:?}");
}

#[test]
fn what_differs_is_told_in_whole_lines() {
    let (old, new) = (
        "a = 1\nb = \"é\"\nc = 3\nd = 4\n",
        "a = 1\nb = \"è\"\nc = 33\nnew\nd = 4",
    );
    let edits = changed_lines(old, new);
    let told: Vec<(&str, &str)> = edits
        .iter()
        .map(|edit| (edit.range.of(old), edit.text.as_str()))
        .collect();
    assert_eq!(
        told,
        [("b = \"é\"\nc = 3\nd = 4\n", "b = \"è\"\nc = 33\nnew\nd = 4")]
    );
    assert_eq!(apply(old, &edits), new);
    let edits = changed_lines("a\nb\nc\n", "x\na\nc\n");
    assert_eq!(edits.len(), 2);
    assert_eq!(apply("a\nb\nc\n", &edits), "x\na\nc\n");
    assert!(changed_lines("a\r\n", "a\r\n").is_empty());
}

#[test]
fn only_the_range_is_touched() {
    let text = "[a]\nx=1\n[b]\ny=2\n[c\n";
    let at = u32::try_from(text.find("y=").unwrap()).unwrap();
    let edits = format(
        text,
        &FormatOptions::default(),
        Some(TextRange::new(at, at + 1)),
    )
    .unwrap();
    assert_eq!(apply(text, &edits), "[a]\nx=1\n[b]\ny = 2\n[c\n");
}

#[test]
fn what_cannot_be_read_is_refused() {
    insta::assert_snapshot!(formatted("a = 1\nb = \n"), @r#"Not formatted: line 2 is no valid TOML (the value is missing; write it behind `=`)"#);
    insta::assert_snapshot!(formatted("a = 1\nb = {\n  c = 1,\n}\n"), @r#"Not formatted: line 2 is TOML 1.1, which the formatter cannot read yet"#);
}

const EVERYTHING: &str = include_str!("world/everything.toml");

fn values(text: &str) -> String {
    fn plain(node: &kontext_syntax::toml::Node, out: &mut String) {
        out.push_str(&kontext_config::merge::node_to_json(node).to_string());
    }
    let source = kontext_config::source::Source::parse(text);
    let mut out = String::new();
    for unit in source.units.iter() {
        out.push_str(&format!("{:?} ", unit.key));
        plain(&unit.item.node, &mut out);
        out.push('\n');
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn values_stay_and_formatting_settles(
        cut in 0usize..EVERYTHING.len(),
        len in 0usize..4,
        insert in "( |\n|\t|# c\n|,|\"|=|\\[|é){0,3}",
        crlf: bool,
    ) {
        let end = (cut + len).min(EVERYTHING.len());
        let mut text = format!("{}{insert}{}", &EVERYTHING[..cut], &EVERYTHING[end..]);
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        if let Ok(edits) = format(&text, &FormatOptions::default(), None) {
            let fresh = apply(&text, &edits);
            prop_assert_eq!(values(&fresh), values(&text));
            let again = format(&fresh, &FormatOptions::default(), None);
            prop_assert_eq!(again, Ok(Vec::new()), "{}", fresh);
        }
    }
}
