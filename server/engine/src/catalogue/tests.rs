//! Names, order and words of the tools that agents are offered.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use proptest::prelude::*;

use super::*;
use crate::testing::plan;

fn tools(tools: &[Value]) -> Arc<Tools> {
    Arc::new(Tools {
        revision: 1,
        tools: tools.iter().cloned().map(Arc::new).collect(),
        ..Tools::default()
    })
}

fn named_tools(names: &[&str]) -> Arc<Tools> {
    let all: Vec<Value> = names
        .iter()
        .map(|name| json!({"name": name, "inputSchema": {"type": "object"}}))
        .collect();
    tools(&all)
}

/// The catalogue of a plan where every server lists the same.
fn catalogue(text: &str, listed: &Arc<Tools>) -> Catalogue {
    Catalogue::of(
        &plan(text),
        |_| Some(Arc::clone(listed)),
        ["kontext_status", "kontext_search"],
    )
}

fn server(name: &str, more: &str) -> String {
    format!("[adapters.{name}]\ndriver = \"mcp\"\ncommand = [\"true\"]\n{more}\n")
}

fn reports(catalogue: &Catalogue) -> Vec<String> {
    let reports = catalogue.reports.iter();
    reports
        .map(|report| format!("{}: {}", report.adapter, report.message))
        .collect()
}

#[test]
fn names_get_the_prefix_once_and_only_letters_that_are_allowed() {
    assert_eq!(published_name("docs_", "find"), "docs_find");
    assert_eq!(published_name("docs_", "docs_find"), "docs_find");
    assert_eq!(published_name("docs_", "docs"), "docs_docs");
    assert_eq!(published_name("", "a.b/c d-é"), "a_b_c_d-_");
    assert_eq!(published_name("a.b_", "x"), "a_b_x");
    let long = "x".repeat(MAX_NAME);
    assert_eq!(published_name("", &long), long, "64 are allowed");
    let (one, two) = (
        published_name("", &format!("{long}1")),
        published_name("", &format!("{long}2")),
    );
    assert_eq!(one.len(), MAX_NAME);
    assert_ne!(one, two, "what was cut still tells them apart");
    assert_eq!(one, published_name("", &format!("{long}1")), "and stays");
    assert!(one.starts_with(&"x".repeat(55)));
}

proptest! {
    #[test]
    fn every_name_is_one_that_agents_accept(prefix in ".{0,70}", own in ".{1,90}") {
        let name = published_name(&prefix, &own);
        prop_assert!((1..=MAX_NAME).contains(&name.len()), "{name}");
        prop_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'));
        prop_assert_eq!(&name, &published_name(&prefix, &own));
    }
}

#[test]
fn nothing_is_offered_that_is_not_exposed() {
    let listed = named_tools(&["find", "drop"]);
    for (more, expected) in [
        ("", &[][..]),
        ("expose = \"none\"", &[]),
        ("expose = false", &[]),
        ("expose = []", &[]),
        ("expose = \"all\"", &["a_find", "a_drop"]),
        ("expose = true", &["a_find", "a_drop"]),
        ("expose = [\"drop\"]", &["a_drop"]),
        ("expose = \"all\"\nenabled = false", &[]),
        ("expose = \"all\"\nprefix = \"\"", &["find", "drop"]),
        ("expose = \"all\"\nprefix = \"fi\"", &["find", "fidrop"]),
    ] {
        let catalogue = catalogue(&server("a", more), &listed);
        assert_eq!(catalogue.names().collect::<Vec<_>>(), expected, "{more}");
        assert!(catalogue.reports.is_empty(), "{more}");
        assert!(catalogue.iter().all(|(_, tool)| tool.writes));
    }
}

#[test]
fn a_name_in_expose_that_is_not_there_is_reported() {
    let text = server("a", "expose = [\"find\", \"fnid\", \"drp\"]");
    let catalogue = catalogue(&text, &named_tools(&["find", "drop"]));
    assert_eq!(catalogue.names().collect::<Vec<_>>(), ["a_find"]);
    assert_eq!(
        reports(&catalogue),
        ["a: `expose` names `fnid`, `drp`, which its server does not offer"]
    );
    // Nothing is said of a server that has not listed anything yet.
    let catalogue = Catalogue::of(&plan(&text), |_| None, []);
    assert!(catalogue.reports.is_empty() && catalogue.names().next().is_none());
}

#[test]
fn a_name_that_is_taken_stays_with_the_first() {
    let text = [
        server("a", "expose = \"all\"\nprefix = \"x_\""),
        server("b", "expose = \"all\"\nprefix = \"x_\""),
        server("kontext", "expose = \"all\""),
    ]
    .concat();
    let catalogue = catalogue(&text, &named_tools(&["s p", "s_p", "status"]));
    let owners: Vec<(&str, &str)> = catalogue
        .iter()
        .map(|(name, tool)| (&**name, &*tool.adapter))
        .collect();
    assert_eq!(
        owners,
        [
            ("x_s_p", "a"),
            ("x_status", "a"),
            ("kontext_s_p", "kontext")
        ]
    );
    let reports = reports(&catalogue);
    assert_eq!(reports.len(), 6, "{reports:#?}");
    assert_eq!(
        reports[0],
        "a: its tool `s_p` is left out: the name `x_s_p` is taken by adapter `a`; give one of them another name or `prefix`"
    );
    assert!(
        reports[1]
            .starts_with("b: its tool `s p` is left out: the name `x_s_p` is taken by adapter `a`")
    );
    assert!(reports.contains(
        &"kontext: its tool `status` is left out: `kontext_status` is a tool of kontext-ls; set `prefix`".to_owned()
    ));
}

#[test]
fn declared_tools_come_first_and_stand_behind_the_gate_of_their_op() {
    let text = format!(
        "{}{}",
        server("a", "expose = \"all\"\ndescription = \"The library\""),
        r#"
[adapters.a.ops.search]
tool = "find"
[adapters.a.ops.lend]
tool = "lend"
[[adapters.a.tools]]
name = "a_find"
description = " Finds books "
params = { q = "string!" }
op = "search"
[[adapters.a.tools]]
name = "lend book"
op = "lend"
[[adapters.a.tools]]
name = "inline"
op = { tool = "find" }
"#
    );
    let catalogue = catalogue(&text, &named_tools(&["find", "lend"]));
    assert_eq!(
        catalogue.names().collect::<Vec<_>>(),
        ["a_find", "lend_book", "inline", "a_lend"]
    );
    let tool = |name: &str| catalogue.get(name).unwrap();
    assert_eq!(tool("a_find").origin, Origin::Declared(0));
    assert_eq!(tool("a_find").listed["description"], "[a] Finds books");
    assert_eq!(
        tool("a_find").listed["inputSchema"]["required"],
        json!(["q"])
    );
    assert_eq!(tool("lend_book").listed["description"], "[a]");
    assert_eq!(tool("a_lend").origin, Origin::Server("lend".into()));
    assert_eq!(tool("a_lend").listed["description"], "[a] The library");
    let writes = ["a_find", "lend_book", "inline", "a_lend"].map(|name| tool(name).writes);
    assert_eq!(writes, [false, true, true, true]);
    assert_eq!(
        reports(&catalogue).len(),
        1,
        "the server's own find has no name left"
    );
}

#[test]
fn what_a_server_says_of_a_tool_passes_and_what_it_lacks_is_given() {
    let whole = json!({
        "name": "find", "title": "Find", "description": "Finds", "unknown": [1, {"a": null}],
        "inputSchema": {"type": "object", "properties": {"q": {"type": "string", "x-own": 1}}},
        "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true},
        "_meta": {"big": 9_007_199_254_740_993_i64},
    });
    let mut listed = (*tools(&[
        whole.clone(),
        json!({"name": "bare"}),
        json!({"title": "none"}),
        json!(7),
    ]))
    .clone();
    listed.notes = vec!["a tool without a name was left out".to_owned()];
    let catalogue = catalogue(&server("a", "expose = \"all\""), &Arc::new(listed));
    let mut expected = whole;
    expected["name"] = "a_find".into();
    expected["description"] = "[a] Finds".into();
    assert_eq!(*catalogue.get("a_find").unwrap().listed, expected);
    let bare = &catalogue.get("a_bare").unwrap().listed;
    assert_eq!(bare["description"], "[a]");
    assert_eq!(bare["inputSchema"]["type"], "object");
    assert_eq!(catalogue.names().count(), 2);
    assert_eq!(
        reports(&catalogue),
        ["a: a tool without a name was left out"]
    );

    let again = Catalogue::of(&plan(&server("a", "expose = \"all\"")), |_| None, []);
    assert!(!catalogue.offers_the_same(&again));
    assert!(catalogue.offers_the_same(&catalogue.clone()));
}
