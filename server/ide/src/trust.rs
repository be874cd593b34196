//! What a person is asked to trust: the merged result of what the shared layer writes about, in
//! terms of what will run, be called and be sent where (adapters.md section 10). Secrets masked.

use kontext_config::facts::Trust;
use kontext_config::layer::LayerKind;
use kontext_config::merge::Merged;
use kontext_config::model::{Adapter, EnvValue, Op, TemplateText, ToolOp};
use kontext_config::schema::Driver;
use kontext_config::stack::{Stack, View};
use kontext_config::trust::Change;
use kontext_syntax::template::Template;
use serde::Serialize;
use serde_json::Value;

use crate::effective::dotted;
use crate::mask;

/// Everything the shared layer brings about.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Review {
    /// The adapters it writes about, in configuration order.
    pub adapters: Vec<Reviewed>,
    /// Its other values that wait for trust, and what of the person's own they replace.
    pub values: Vec<Override>,
}

/// One adapter as it will be.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Reviewed {
    /// Its name.
    pub name: String,
    /// `mcp`, `http` or `command`; nothing where none is named.
    pub driver: Option<&'static str>,
    /// Whether it is switched on.
    pub enabled: bool,
    /// Whether a personal layer writes about it too.
    pub own: bool,
    /// What should be looked at twice: one sentence each.
    pub warnings: Vec<String>,
    /// What is started.
    pub runs: Vec<Runs>,
    /// What is reached.
    pub calls: Vec<Calls>,
    /// What is sent along with every call: headers.
    pub headers: Vec<Sent>,
    /// What the child gets in its environment.
    pub env: Vec<Sent>,
    /// Environment variables whose values go into what is run or sent.
    pub reads_env: Vec<String>,
    /// Its ops: name, and what is asked.
    pub ops: Vec<Asked>,
    /// Its declared tools, by name, and what is asked.
    pub tools: Vec<Asked>,
    /// Events that are delivered to it.
    pub events: Vec<Asked>,
    /// Its conditions; null where it has none.
    pub when: Value,
    /// Values of the person's own that are replaced.
    pub overrides: Vec<Override>,
}

/// A program that is started.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Runs {
    /// The field that says so, below the adapter.
    pub field: String,
    /// The arguments as written.
    pub command: Vec<String>,
    /// The working folder as written; nothing is the root of the repository.
    pub cwd: Option<String>,
    /// The layer that names the program.
    pub layer: &'static str,
}

/// A URL that is called.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calls {
    /// The field that says so, below the adapter.
    pub field: String,
    /// The URL as written.
    pub url: String,
    /// Its scheme and host as written.
    pub host: String,
    /// The layer that sets it.
    pub layer: &'static str,
}

/// A header or a variable of the child.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sent {
    /// The field, below the adapter.
    pub field: String,
    /// Its name.
    pub name: String,
    /// The layer that sets it.
    pub layer: &'static str,
}

/// An op, a tool or an event.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Asked {
    /// Its name.
    pub name: String,
    /// What is asked, in the words of the format.
    pub what: String,
}

/// A value that the shared layer sets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Override {
    /// Its keys joined by dots.
    pub field: String,
    /// What holds without the shared layer; null where nothing does.
    pub before: Value,
    /// What will hold.
    pub after: Value,
}

/// What a yes to the shared layer of this stack would bring about.
pub fn review(stack: &Stack) -> Review {
    let mut all = stack.clone();
    all.trust = Trust::Pinned;
    let mut own = stack.clone();
    own.trust = Trust::Untrusted;
    let mut review = Review::default();
    for top in ["project", "vars"] {
        if let Some(merged) = all.merged_top(top) {
            let before = own.merged_top(top);
            changes(
                &all,
                &[top],
                &merged,
                before.as_ref(),
                true,
                &mut review.values,
            );
        }
    }
    for name in all.adapter_names() {
        let layers = all.adapter_layers(name);
        let kinds = || layers.iter().filter_map(|(at, _)| all.layer_kind(*at));
        if !kinds().any(|kind| kind == LayerKind::Shared) {
            continue;
        }
        let (Some(merged), Some(adapter)) = (
            all.merged(name, View::Shown),
            all.adapter(name, View::Shown),
        ) else {
            continue;
        };
        let before = own.merged(name, View::InForce);
        let mut one = reviewed(&all, name, &merged, &adapter);
        one.own = kinds().any(|kind| kind.is_personal());
        changes(
            &all,
            &["adapters", name],
            &merged,
            before.as_ref(),
            false,
            &mut one.overrides,
        );
        review.adapters.push(one);
    }
    review
}

/// A change of what was accepted, as it may be shown.
pub fn shown(change: &Change) -> Override {
    let path: Vec<&str> = change.path.iter().map(String::as_str).collect();
    let value = |value: &Option<Value>| {
        value
            .as_ref()
            .map_or(Value::Null, |value| mask::value(&path, value))
    };
    Override {
        field: dotted(&path),
        before: value(&change.before),
        after: value(&change.after),
    }
}

fn changes<'a>(
    stack: &Stack,
    above: &[&'a str],
    merged: &Merged<'a>,
    before: Option<&Merged<'_>>,
    new: bool,
    out: &mut Vec<Override>,
) {
    merged.leaves(&mut |below, value| {
        if layer_of(stack, value) != Some(LayerKind::Shared) || !value.is_valid() {
            return;
        }
        let path: Vec<&str> = above.iter().chain(below).copied().collect();
        let now = value.to_json();
        let then = before
            .and_then(|before| before.at(below))
            .map(Merged::to_json);
        if then.as_ref() == Some(&now) || (then.is_none() && !new) {
            return;
        }
        out.push(Override {
            field: dotted(&path),
            before: then.map_or(Value::Null, |then| mask::value(&path, &then)),
            after: mask::value(&path, &now),
        });
    });
}

fn layer_of(stack: &Stack, value: &Merged<'_>) -> Option<LayerKind> {
    stack.layer_kind(value.origin.layer)
}

fn reviewed(stack: &Stack, name: &str, merged: &Merged<'_>, adapter: &Adapter) -> Reviewed {
    let look = Look {
        stack,
        name,
        merged,
    };
    let driver = adapter.driver;
    let mut one = Reviewed {
        name: name.to_owned(),
        driver: driver.map(Driver::name),
        enabled: adapter.enabled,
        ..Reviewed::default()
    };
    let over_http =
        driver == Some(Driver::Http) || (driver == Some(Driver::Mcp) && adapter.url.is_some());
    if !over_http {
        look.runs(&[], &adapter.command, adapter.cwd.as_ref(), &mut one);
        look.env(&[], &adapter.env, &mut one);
    }
    if over_http {
        let base = adapter
            .base_url
            .as_ref()
            .filter(|_| driver == Some(Driver::Http));
        match (base, &adapter.url) {
            (Some(base), _) => look.calls(&["base_url"], base, &mut one),
            (None, Some(url)) => look.calls(&["url"], url, &mut one),
            (None, None) => {}
        }
        look.headers(&[], adapter.headers.keys(), &mut one);
    }
    for (op_name, op) in &adapter.ops {
        one.ops.push(Asked {
            name: op_name.clone(),
            what: look.asked(&["ops", op_name], op, driver),
        });
        look.op(&["ops", op_name], op, adapter, driver, &mut one);
    }
    for tool in &adapter.tools {
        let what = match &tool.op {
            ToolOp::Named(op) => format!("op {op}"),
            ToolOp::Inline(op) => {
                look.op(&["tools", "op"], op, adapter, driver, &mut one);
                look.asked(&["tools", "op"], op, driver)
            }
        };
        one.tools.push(Asked {
            name: tool.name.clone(),
            what,
        });
    }
    let subscriptions = merged.get("on").map(Merged::to_json);
    let subscriptions = subscriptions.as_ref().and_then(Value::as_array);
    for subscription in subscriptions.into_iter().flatten() {
        let text = |key: &str| subscription.get(key).and_then(Value::as_str);
        let private = text("visibility") == Some("private");
        one.events.push(Asked {
            name: text("event").unwrap_or("?").to_owned(),
            what: format!(
                "op {}{}",
                text("op").unwrap_or("?"),
                if private { ", private entries" } else { "" }
            ),
        });
    }
    one.when = merged.get("when").map_or(Value::Null, |when| {
        mask::value(&["adapters", name, "when"], &when.to_json())
    });
    look.reads(&mut one);
    one.warnings = look.warnings(&one);
    one
}

struct Look<'a> {
    stack: &'a Stack,
    name: &'a str,
    merged: &'a Merged<'a>,
}

impl Look<'_> {
    /// The layer of a field below the adapter; of what stands in an array, that of the array.
    fn layer(&self, path: &[&str]) -> &'static str {
        let mut value = self.merged;
        for key in path {
            match value.get(key) {
                Some(below) => value = below,
                None => break,
            }
        }
        layer_of(self.stack, value).map_or("", LayerKind::name)
    }

    fn mask(&self, path: &[&str], text: &str) -> String {
        let path: Vec<&str> = ["adapters", self.name]
            .iter()
            .chain(path)
            .copied()
            .collect();
        mask::text(&path, text)
    }

    fn runs(
        &self,
        at: &[&str],
        command: &[TemplateText],
        cwd: Option<&TemplateText>,
        one: &mut Reviewed,
    ) {
        if command.is_empty() {
            return;
        }
        let path: Vec<&str> = at.iter().chain(&["command"]).copied().collect();
        let full: Vec<&str> = ["adapters", self.name]
            .iter()
            .chain(&path)
            .copied()
            .collect();
        let written: Value = command.iter().map(TemplateText::source).collect();
        let masked = mask::value(&full, &written);
        let words = masked.as_array().into_iter().flatten();
        one.runs.push(Runs {
            command: words.filter_map(Value::as_str).map(str::to_owned).collect(),
            cwd: cwd.map(|cwd| self.mask(&["cwd"], cwd.source())),
            layer: self.layer(&path),
            field: dotted(&path),
        });
    }

    fn env(&self, at: &[&str], env: &indexmap::IndexMap<String, EnvValue>, one: &mut Reviewed) {
        for name in env.keys() {
            let path: Vec<&str> = at.iter().chain(&["env", name]).copied().collect();
            one.env.push(Sent {
                field: dotted(&path),
                name: name.clone(),
                layer: self.layer(&path),
            });
        }
    }

    fn headers<'n>(
        &self,
        at: &[&str],
        names: impl Iterator<Item = &'n String>,
        one: &mut Reviewed,
    ) {
        for name in names {
            let path: Vec<&str> = at.iter().chain(&["headers", name]).copied().collect();
            one.headers.push(Sent {
                field: dotted(&path),
                name: name.clone(),
                layer: self.layer(&path),
            });
        }
    }

    fn calls(&self, path: &[&str], url: &TemplateText, one: &mut Reviewed) {
        let url = self.mask(path, url.source());
        one.calls.push(Calls {
            field: dotted(path),
            host: host(&url).to_owned(),
            url,
            layer: self.layer(path),
        });
    }

    fn op(
        &self,
        at: &[&str],
        op: &Op,
        adapter: &Adapter,
        driver: Option<Driver>,
        one: &mut Reviewed,
    ) {
        match driver {
            Some(Driver::Http) => {
                if let Some(url) = &op.url {
                    let path: Vec<&str> = at.iter().chain(&["url"]).copied().collect();
                    self.calls(&path, url, one);
                }
                self.headers(at, op.headers.keys(), one);
            }
            Some(Driver::Command) => {
                let cwd = op.cwd.as_ref().or(adapter.cwd.as_ref());
                self.runs(at, &op.command, cwd, one);
                self.env(at, &op.env, one);
            }
            Some(Driver::Mcp) | None => {}
        }
    }

    fn asked(&self, at: &[&str], op: &Op, driver: Option<Driver>) -> String {
        match driver {
            Some(Driver::Http) => {
                let default = if op.body.is_some() { "POST" } else { "GET" };
                let method = op.method.as_deref().unwrap_or(default);
                let target = op.url.as_ref().or(op.path.as_ref());
                let target = target.map_or("", TemplateText::source);
                let path: Vec<&str> = at.iter().chain(&["path"]).copied().collect();
                format!("{method} {}", self.mask(&path, target))
                    .trim_end()
                    .to_owned()
            }
            Some(Driver::Mcp) => match &op.tool {
                Some(tool) => format!("tool {tool}"),
                None => "a tool found by name".to_owned(),
            },
            Some(Driver::Command) if op.command.is_empty() => "the adapter's command".to_owned(),
            Some(Driver::Command) => "a command of its own".to_owned(),
            None => String::new(),
        }
    }

    /// The variables of the environment that its templates name.
    fn reads(&self, one: &mut Reviewed) {
        fn walk(value: &Value, found: &mut Vec<String>) {
            match value {
                Value::String(text) if text.contains("{{") => {
                    for expr in Template::parse(text).exprs() {
                        let path = expr.path();
                        let name = path.filter(|path| path.key(0) == Some("env"));
                        found.extend(name.and_then(|path| path.key(1)).map(str::to_owned));
                    }
                }
                Value::Array(values) => values.iter().for_each(|value| walk(value, found)),
                Value::Object(members) => members.values().for_each(|value| walk(value, found)),
                _ => {}
            }
        }
        walk(&self.merged.to_json(), &mut one.reads_env);
        if let Some(vars) = self.stack.merged_top_in("vars", View::Shown) {
            walk(&vars.to_json(), &mut one.reads_env);
        }
        one.reads_env.sort_unstable();
        one.reads_env.dedup();
    }

    /// Where something of the person's own goes to a place that the repository names.
    fn warnings(&self, one: &Reviewed) -> Vec<String> {
        let shared = LayerKind::Shared.name();
        let mut out = Vec::new();
        for call in one.calls.iter().filter(|call| call.layer == shared) {
            for header in one.headers.iter().filter(|header| header.layer != shared) {
                out.push(format!(
                    "the header `{}` of your {} layer will be sent to {}, which the shared layer sets",
                    header.name, header.layer, call.host
                ));
            }
        }
        for run in one.runs.iter().filter(|run| run.layer == shared) {
            for variable in one.env.iter().filter(|variable| variable.layer != shared) {
                out.push(format!(
                    "the variable `{}` of your {} layer will be given to `{}`, which the shared layer starts",
                    variable.name,
                    variable.layer,
                    run.command.first().map_or("", String::as_str)
                ));
            }
        }
        out
    }
}

/// Scheme and host of a URL as it is written.
fn host(url: &str) -> &str {
    let from = url.find("://").map_or(0, |at| at + 3);
    let end = url
        .get(from..)
        .and_then(|rest| rest.find(['/', '?', '#']))
        .map_or(url.len(), |at| from + at);
    url.get(..end).unwrap_or(url)
}
