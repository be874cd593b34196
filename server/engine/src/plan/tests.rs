//! What may run, and the words for what may not.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::path::Path;

use kontext_config::facts::Trust;
use kontext_config::layer::LayerKind::{Shared, User};

use super::*;
use crate::testing::{plan, plan_of, root};

fn names<'a>(planned: impl Iterator<Item = &'a Planned>) -> Vec<&'a str> {
    planned.map(Planned::name).collect()
}

fn command<'a>(plan: &'a Plan, name: &str) -> Vec<&'a str> {
    let command = &plan.get(name).unwrap().adapter.command;
    command.iter().map(|word| word.source()).collect()
}

fn refusal(plan: &Plan, name: &str) -> String {
    let fault = plan.callable(name).unwrap_err();
    assert_eq!(fault.kind, crate::FaultKind::Refused);
    fault.to_string()
}

const ALL: &str = r#"
[adapters.b]
driver = "command"
command = ["true"]
[adapters.a]
driver = "command"
command = ["true"]
[adapters.off]
driver = "command"
command = ["true"]
enabled = false
[adapters.away]
driver = "command"
command = ["true"]
when = { env = ["NOT_SET", "NEITHER"] }
[adapters.odd]
driver = "http"
[adapters.odd.ops.search]
path = "/s"
"#;

#[test]
fn each_adapter_is_there_with_its_status_and_active_ones_are_callable() {
    let plan = plan(ALL);
    assert_eq!(names(plan.adapters()), ["b", "a", "off", "away", "odd"]);
    assert_eq!(names(plan.active()), ["b", "a"]);
    assert!(plan.callable("a").is_ok());
    insta::assert_snapshot!(refusal(&plan, "off"), @"it is disabled: `enabled` is false in the user layer");
    insta::assert_snapshot!(refusal(&plan, "away"), @"it is inactive: `NOT_SET` is not set; `NEITHER` is not set");
    insta::assert_snapshot!(refusal(&plan, "odd"), @"it is invalid: driver http needs `base_url`, or an absolute `url` in each op");
    insta::assert_snapshot!(refusal(&plan, "ofd"), @"there is no adapter `ofd`; did you mean `off`?");
    insta::assert_snapshot!(refusal(&plan, "quite another"), @"there is no adapter `quite another`; there are `b`, `a`, `off`, `away`, `odd`");
    insta::assert_snapshot!(refusal(&Plan::default(), "a"), @"there is no adapter `a`; none is configured");
}

#[test]
fn ops_are_named_where_one_is_not_there() {
    let plan = plan(
        "[adapters.a]\ndriver = \"command\"\ncommand = [\"true\"]\n[adapters.a.ops.search]\n[adapters.a.ops.read]\n[adapters.none]\ndriver = \"command\"\ncommand = [\"true\"]\n",
    );
    let words = |name: &str, op: &str| plan.get(name).unwrap().op(op).unwrap_err().to_string();
    insta::assert_snapshot!(words("a", "code"), @"it has no op `code`; it has `search`, `read`");
    insta::assert_snapshot!(words("none", "code"), @"it has no ops: add `[adapters.none.ops.code]`");
    assert!(plan.get("a").unwrap().op("read").is_ok());
    assert_eq!(
        listed((0..15).map(|at| at.to_string()))
            .matches('`')
            .count(),
        24
    );
    assert!(listed((0..15).map(|at| at.to_string())).ends_with("and 3 more"));
}

const SHARED: &str = r#"
[vars]
host = "evil.example"
[adapters.mine]
command = ["evil"]
[adapters.theirs]
driver = "command"
command = ["evil"]
[adapters.theirs.ops.search]
[[adapters.theirs.tools]]
name = "t"
op = "search"
[[adapters.theirs.on]]
event = "capture"
op = "search"
"#;

#[test]
fn an_untrusted_layer_changes_nothing_and_leaves_nothing_to_be_called() {
    let mine = "[adapters.mine]\ndriver = \"command\"\ncommand = [\"true\"]\nvars = { h = \"{{vars.host}}\" }\n";
    let layers = [(User, mine), (Shared, SHARED)];
    let plan = plan_of(&[root("/r", &layers, Trust::Untrusted)]);
    let of = plan.get("mine").unwrap();
    assert_eq!(command(&plan, "mine"), ["true"]);
    assert!(of.is_active() && of.context.globals.names().next().is_none());
    let theirs = plan.get("theirs").unwrap();
    assert_eq!(theirs.status.status, Status::Untrusted);
    let adapter = &theirs.adapter;
    assert!(adapter.command.is_empty() && adapter.ops.is_empty());
    assert!(adapter.tools.is_empty() && adapter.on.is_empty());
    assert!(refusal(&plan, "theirs").starts_with("it is untrusted: "));
    assert_eq!(names(plan.active()), ["mine"]);

    let plan = plan_of(&[root("/r", &layers, Trust::Pinned)]);
    assert_eq!(command(&plan, "mine"), ["evil"]);
    assert_eq!(names(plan.active()), ["mine", "theirs"]);
    let globals = &plan.get("mine").unwrap().context.globals;
    assert_eq!(globals.names().collect::<Vec<_>>(), ["host"]);
}

#[test]
fn of_several_roots_the_first_has_a_name() {
    let layer = |command: &str| {
        format!(
            "[adapters.s]\ndriver = \"command\"\ncommand = [\"{command}\"]\n[adapters.{command}]\ndriver = \"command\"\ncommand = [\"true\"]\n"
        )
    };
    let (one, two) = (layer("one"), layer("two"));
    let roots = [
        root("/one", &[(User, &one)], Trust::Untrusted),
        root("/two", &[(User, &two)], Trust::Untrusted),
    ];
    let plan = plan_of(&roots);
    assert_eq!(names(plan.adapters()), ["s", "one", "two"]);
    assert_eq!(command(&plan, "s"), ["one"]);
    assert_eq!(&**plan.get("two").unwrap().root, Path::new("/two"));
    assert_eq!(
        plan.shadowed.iter().map(|name| &**name).collect::<Vec<_>>(),
        ["s"]
    );
}

#[test]
fn a_moment_belongs_to_the_copy() {
    let plan = plan(ALL);
    let planned = plan.get("a").unwrap();
    let now = Now {
        date: "2026-12-01".to_owned(),
        ..Now::default()
    };
    let at = planned.at(now.clone());
    assert_eq!(at.context.now.as_deref(), Some(&now));
    assert_eq!(planned.context.now, None);
    assert_eq!(at.redactor().redact("plain"), "plain");
}
