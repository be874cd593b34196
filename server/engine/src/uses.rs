//! Which inputs an op uses: those its templates name, and those that fill parameters of a tool.

use std::collections::BTreeSet;

use kontext_config::eval::Vars;
use kontext_config::model::{EnvValue, Op, TemplateText};
use kontext_config::schema::{Driver, nearest, root_of_template};
use kontext_syntax::template::Template;
use serde_json::{Map, Value};

use crate::bind::roles_of;
use crate::plan::Planned;

/// What there is to say of inputs that the op does not use, a sentence each. One that is null says
/// nothing, so it is not missed.
pub fn unused(planned: &Planned, name: &str, inputs: &Map<String, Value>) -> Vec<String> {
    let Some(op) = planned.adapter.ops.get(name) else {
        return Vec::new();
    };
    let used = names(planned, name, op);
    let idle = inputs
        .iter()
        .filter(|(input, value)| !value.is_null() && !used.contains(input.as_str()));
    let sentence = |(input, _): (&String, &Value)| {
        let free = used.iter().filter(|used| !inputs.contains_key(*used));
        let hint = match nearest(input, free.map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if used.is_empty() => "it uses none".to_owned(),
            None => format!("it uses {}", crate::plan::listed(&used)),
        };
        format!("the op `{name}` does not use the input `{input}`; {hint}")
    };
    idle.map(sentence).collect()
}

/// The names of inputs that a value of `args` uses and the caller did not give, in order.
pub(crate) fn left_out(
    args: Option<&Map<String, Value>>,
    given: &Map<String, Value>,
) -> Vec<String> {
    let mut used = BTreeSet::new();
    for (key, value) in args.into_iter().flatten() {
        text(key, &mut used);
        within(value, &mut used);
    }
    used.retain(|name| given.get(name).is_none_or(Value::is_null));
    used.into_iter().collect()
}

/// The names of the inputs an op uses.
fn names(planned: &Planned, name: &str, op: &Op) -> BTreeSet<String> {
    let adapter = &planned.adapter;
    let mut used = BTreeSet::new();
    let texts = [&adapter.cwd, &adapter.url, &adapter.base_url]
        .into_iter()
        .chain([&op.path, &op.url, &op.stdin, &op.cwd])
        .flatten()
        .chain(adapter.command.iter().chain(&op.command))
        .chain(adapter.headers.values().chain(op.headers.values()))
        .chain(adapter.env.values().chain(op.env.values()).filter_map(set));
    for one in texts {
        text(one.source(), &mut used);
    }
    for (key, value) in op.args.iter().flatten().chain(&op.query) {
        text(key, &mut used);
        within(value, &mut used);
    }
    if let Some(body) = &op.body {
        within(body, &mut used);
    }
    let map = &op.map;
    for place in [
        &map.title,
        &map.snippet,
        &map.uri,
        &map.score,
        &map.kind,
        &map.date,
    ] {
        text(place.as_deref().unwrap_or_default(), &mut used);
    }
    for filter in op.filter.values() {
        text(filter, &mut used);
    }
    for vars in [&adapter.vars, &*planned.context.globals] {
        variables(vars, &mut used);
    }
    let by_name = op
        .args
        .as_ref()
        .is_none_or(|args| args.get("*") == Some(&Value::Bool(true)));
    if adapter.driver == Some(Driver::Mcp) && by_name {
        let delivers_event = adapter.on.iter().any(|on| on.op == name);
        let roles = roles_of(name, delivers_event).iter();
        used.extend(
            roles.flat_map(|role| role.spec().inputs.iter().map(|input| (*input).to_owned())),
        );
    }
    used
}

fn set(value: &EnvValue) -> Option<&TemplateText> {
    match value {
        EnvValue::Set(text) => Some(text),
        EnvValue::Removed => None,
    }
}

fn variables(vars: &Vars, used: &mut BTreeSet<String>) {
    for (source, _) in vars.names().filter_map(|name| vars.get(name)) {
        text(source, used);
    }
}

fn within(value: &Value, used: &mut BTreeSet<String>) {
    match value {
        Value::String(source) => text(source, used),
        Value::Array(list) => list.iter().for_each(|value| within(value, used)),
        Value::Object(members) => {
            for (key, value) in members {
                text(key, used);
                within(value, used);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Names that are roots stand for something else; an input never shadows them.
fn text(source: &str, used: &mut BTreeSet<String>) {
    let template = Template::parse(source);
    let heads = template.exprs().filter_map(|expr| expr.path()?.key(0));
    used.extend(
        heads
            .filter(|name| root_of_template(name).is_none())
            .map(str::to_owned),
    );
}
