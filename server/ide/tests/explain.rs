//! Explanations by name.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod world;

use kontext_ide::explain::{Subject, explain};

#[test]
fn names_of_all_kinds_are_known() {
    let snapshot = world::user("[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"x\"]\n");
    let kind = |of: &str| explain(&snapshot, of).kind;
    assert_eq!(kind("notes"), Subject::Adapter);
    assert_eq!(kind("driver"), Subject::Field);
    assert_eq!(kind("adapters.notes.driver"), Subject::Field);
    assert_eq!(kind("ops.search.items"), Subject::Field);
    assert_eq!(kind("when.env"), Subject::Field);
    assert_eq!(kind("unknown-key"), Subject::Code);
    assert_eq!(kind("truncate"), Subject::Filter);
    assert_eq!(kind("repo.branch"), Subject::Root);
    assert_eq!(kind("search"), Subject::Op);
    assert_eq!(kind("allow_write"), Subject::Field);
    assert_eq!(kind(""), Subject::Unknown);
}

#[test]
fn an_adapter_comes_with_values_and_their_origin() {
    let snapshot = world::user("[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"x\"]\n");
    let explanation = explain(&snapshot, "notes");
    insta::assert_snapshot!(explanation.text, @r#"
### `notes`: adapter, driver mcp

Status: **active**

- Written in the user layer: `/w/user.toml`

- `adapters.notes.driver = "mcp"` from the user layer, `/w/user.toml:2`
- `adapters.notes.command = ["x"]` from the user layer, `/w/user.toml:3`
"#);
    assert_eq!(explanation.values[0].field, "adapters.notes.driver");
    assert_eq!(explanation.values[0].line, 2);
}

#[test]
fn an_unknown_name_gets_the_nearest() {
    let snapshot = world::user("");
    let explanation = explain(&snapshot, "drvier");
    assert_eq!(explanation.kind, Subject::Unknown);
    assert_eq!(
        explanation.related.first().map(String::as_str),
        Some("driver")
    );
}
