//! Whether there is anything to call, and the few fields that a status depends on.

use kontext_syntax::toml::{Node, NodeKind};

use super::Problem;
use crate::merge::Merged;
use crate::schema::Driver;
use crate::schema::fields::adapter::ADAPTER;

/// The fields that decide on status in most cases; [`TARGET_FIELDS`] are needed where the adapter
/// itself has no target.
pub(crate) const LEAST_FIELDS: &[&str] = &[
    "driver", "enabled", "when", "vars", "command", "env", "url", "base_url",
];

/// The fields where a target may stand.
pub(crate) const TARGET_FIELDS: &[&str] = &["driver", "command", "url", "base_url", "ops", "tools"];

/// The driver, and whether the adapter itself has a target; `Err` with the reason where there is
/// no driver.
pub(crate) fn least(merged: &Merged<'_>) -> Result<(Driver, bool), Problem> {
    let driver = driver(merged)?;
    Ok((driver, has_target(driver, merged)))
}

/// Whether the adapter itself says what is called.
pub(super) fn has_target(driver: Driver, adapter: &Merged<'_>) -> bool {
    match driver {
        Driver::Mcp => has_command(adapter) || has_text(adapter, "url"),
        Driver::Http => has_text(adapter, "base_url") || has_text(adapter, "url"),
        Driver::Command => has_command(adapter),
    }
}

/// Whether an op says by itself what is called.
pub(super) fn op_has_target(driver: Driver, op: &Merged<'_>) -> bool {
    match driver {
        Driver::Mcp => false,
        Driver::Http => op
            .get("url")
            .and_then(Merged::as_str)
            .is_some_and(is_absolute),
        Driver::Command => has_command(op),
    }
}

/// What is wrong where nothing of the adapter can be called.
pub(crate) fn no_target(driver: Driver, adapter: &Merged<'_>) -> Option<Problem> {
    let ops = adapter.get("ops").and_then(Merged::members);
    let mut ops = ops.into_iter().flatten().map(|(_, op)| op);
    if has_target(driver, adapter)
        || ops.any(|op| op_has_target(driver, op))
        || (driver != Driver::Mcp && tool_has_target(driver, adapter))
    {
        return None;
    }
    let (path, message) = match driver {
        Driver::Mcp => (
            "command",
            "driver mcp needs `command` (a server to start) or `url` (its endpoint)",
        ),
        Driver::Http => (
            "base_url",
            "driver http needs `base_url`, or an absolute `url` in each op",
        ),
        Driver::Command => (
            "command",
            "driver command needs `command`, on the adapter or in each op",
        ),
    };
    Some(Problem {
        path: path.to_owned(),
        message: message.to_owned(),
        fatal: true,
    })
}

fn tool_has_target(driver: Driver, adapter: &Merged<'_>) -> bool {
    let tools = adapter.get("tools").and_then(Merged::node);
    let tools = tools.and_then(Node::as_array).unwrap_or_default();
    tools.iter().any(|tool| {
        let op = tool.get("op").map(|op| &op.node);
        match driver {
            Driver::Mcp => false,
            Driver::Http => op
                .and_then(|op| op.get("url")?.node.as_str())
                .is_some_and(is_absolute),
            Driver::Command => op
                .and_then(|op| op.get("command")?.node.as_array())
                .is_some_and(|command| !command.is_empty()),
        }
    })
}

fn has_command(table: &Merged<'_>) -> bool {
    let command = table.get("command").filter(|command| command.is_valid());
    match command.and_then(Merged::node).map(|node| &node.kind) {
        Some(NodeKind::Array(array)) => !array.nodes.is_empty(),
        _ => false,
    }
}

fn has_text(table: &Merged<'_>, name: &str) -> bool {
    let text = table.get(name).and_then(Merged::as_str);
    text.is_some_and(|text| !text.trim().is_empty())
}

/// Whether a URL stands for itself. One that begins with an expression may.
fn is_absolute(url: &str) -> bool {
    url.starts_with("{{")
        || url.split_once("://").is_some_and(|(scheme, rest)| {
            !rest.is_empty()
                && (scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https"))
        })
}

/// The driver of a merged adapter, or why there is none.
pub(super) fn driver(merged: &Merged<'_>) -> Result<Driver, Problem> {
    let message = match merged.get("driver") {
        None => {
            "no `driver` is given: write `driver = \"mcp\"`, `\"http\"` or `\"command\"`".into()
        }
        Some(value) if value.is_missing() => "`driver` has no value yet".to_owned(),
        Some(value) => match value.as_str() {
            None => "`driver` has to be `\"mcp\"`, `\"http\"` or `\"command\"`".to_owned(),
            Some(name) => match Driver::parse(name) {
                Some(driver) => return Ok(driver),
                None => {
                    let kind = ADAPTER.field("driver").map(|field| &field.kind);
                    let likely = kind.and_then(|kind| kind.suggest_value(name));
                    likely.map_or_else(
                        || format!("`{name}` is no driver: use `mcp`, `http` or `command`"),
                        |likely| format!("`{name}` is no driver; did you mean `{}`?", likely.value),
                    )
                }
            },
        },
    };
    Err(Problem {
        path: "driver".to_owned(),
        message,
        fatal: true,
    })
}
