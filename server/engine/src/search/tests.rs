//! Who is asked, who owns, and what is made of their answers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use serde_json::json;

use super::*;
use crate::testing::{engine, plan};

fn names(planned: &[&Planned]) -> Vec<String> {
    planned.iter().map(|one| one.name().to_owned()).collect()
}

const SOME: &str = r#"
[adapters.b]
driver = "command"
command = ["true"]
[adapters.b.ops.search]
[adapters.b.ops.read]
owns = ["lib://", "lib://shelf/"]
[adapters.a]
driver = "command"
command = ["true"]
[adapters.a.ops.search]
[adapters.a.ops.read]
owns = ["lib://shelf/", "lib://shelf/one/", ""]
[adapters.off]
driver = "command"
command = ["true"]
enabled = false
[adapters.off.ops.search]
[adapters.off.ops.read]
owns = ["lib://shelf/one/two"]
[adapters.reader]
driver = "command"
command = ["true"]
[adapters.reader.ops.read]
"#;

#[test]
fn those_with_the_op_are_asked_in_the_order_of_the_configuration() {
    let plan = plan(SOME);
    let (asked, notes) = chosen(&plan, Ask::Search, None);
    assert_eq!(names(&asked), ["b", "a"]);
    assert!(notes.is_empty(), "who is not asked by name is not named");
    let sources = ["a", "off", "b", "reader", "a", "bb"].map(str::to_owned);
    let (asked, notes) = chosen(&plan, Ask::Search, Some(&sources));
    assert_eq!(names(&asked), ["b", "a"], "each once, in its own order");
    let told: Vec<&str> = notes.iter().map(|note| &*note.source).collect();
    assert_eq!(told, ["off", "reader", "bb"]);
    let (asked, _) = chosen(&plan, Ask::Search, Some(&[]));
    assert!(asked.is_empty());
    assert!(chosen(&plan, Ask::Brief, None).0.is_empty());
}

#[test]
fn the_longest_beginning_owns_and_of_equals_the_first() {
    let plan = plan(SOME);
    let owner = |uri| owner(&plan, uri).map(Planned::name);
    assert_eq!(owner("lib://x"), Some("b"));
    assert_eq!(owner("lib://shelf/x"), Some("b"), "of equals the first");
    assert_eq!(
        owner("lib://shelf/one/two"),
        Some("a"),
        "what is off owns nothing"
    );
    assert_eq!(
        owner("LIB://x"),
        Some("a"),
        "an empty beginning owns the rest"
    );
}

#[tokio::test]
async fn nobody_owns_it() {
    let engine = engine("[adapters.a]\ndriver = \"command\"\ncommand = [\"true\"]\n");
    let error = engine.read("lib://x", None).await.unwrap_err();
    insta::assert_snapshot!(error, @"no active adapter reads `lib://x`: none has a `read` op with `owns`");
    engine.apply(plan(&SOME.replace(", \"\"]", "]")));
    let odd = format!("x\u{202e}\n{}", "y".repeat(300));
    let error = engine.read(&odd, None).await.unwrap_err();
    insta::assert_snapshot!(error, @r"no active adapter owns `x\u{202e}\nyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy`; URIs that are owned begin with `lib://`, `lib://shelf/`, `lib://shelf/one/`");
}

#[cfg(unix)]
#[tokio::test]
async fn answers_are_merged_and_failures_named() {
    let engine = engine(
        r#"
[adapters.one]
driver = "command"
command = ["printf", '[{"title":"1a","uri":"u:1"},{"title":"1b","uri":"u:2"}]']
[adapters.one.ops.search]
[adapters.bad]
driver = "command"
command = ["sh", "-c", "echo no >&2; exit 2"]
[adapters.bad.ops.search]
[adapters.bad.ops.brief]
[adapters.two]
driver = "command"
weight = 0.9
[adapters.two.ops.search]
command = ["printf", '[{"title":"2a","uri":"u:2"}]']
[adapters.two.ops.brief]
command = ["printf", "on {{focus}}"]
[adapters.part]
driver = "command"
weight = 0
[adapters.part.ops.search]
command = ["sh", "-c", "echo '[{\"title\":\"half\"}]'; echo torn >&2; exit 3"]
"#,
    );
    let inputs = || Map::from_iter([("query".to_owned(), json!("x"))]);
    let found = engine.search(Ask::Search, inputs(), None, 10).await;
    let titles: Vec<&str> = found.hits.iter().map(|hit| &*hit.hit.title).collect();
    assert_eq!(
        titles,
        ["1a", "2a", "half"],
        "of one document the better one"
    );
    let told: Vec<(&str, &str)> = found
        .notes
        .iter()
        .map(|note| (&*note.source, &*note.message))
        .collect();
    assert_eq!(
        told,
        [
            ("bad", "`sh` ended with exit code 2: no"),
            ("part", "`sh` ended with exit code 3: torn")
        ]
    );
    let found = engine.search(Ask::Search, inputs(), None, 1).await;
    assert_eq!(found.hits.len(), 1);
    let inputs = Map::from_iter([("focus".to_owned(), json!("rails"))]);
    let briefs = engine.brief(inputs).await;
    assert_eq!(briefs.texts, [("two".to_owned(), "on rails".to_owned())]);
    assert_eq!(briefs.notes.len(), 1);
}

#[test]
fn limits_and_words() {
    assert_eq!(Ask::Code.deadline(), Duration::from_secs(12));
    assert_eq!(Ask::Brief.deadline(), Duration::from_secs(8));
    assert!(late(Ask::Brief).contains("8 s"));
    let ops = [Ask::Search, Ask::History, Ask::Code, Ask::Brief].map(Ask::op);
    assert_eq!(ops, ["search", "history", "code", "brief"]);
}
