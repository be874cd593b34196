//! Adapters from text, and a world for them.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(unreachable_pub, reason = "a module of several test binaries")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kontext_config::facts::{Env, Facts, Now, Repo, Trust};
use kontext_config::layer::LayerKind;

use kontext_config::model::{Adapter, Op};
use kontext_config::source::Source;
use kontext_config::stack::{LayerSource, Stack, View};
use kontext_engine::{Context, MayStart};
use serde_json::{Map, Value};

/// The adapter `a` of a configuration.
pub fn adapter(text: &str) -> (Adapter, Context) {
    adapter_in(text, &[], Path::new("/repo"))
}

/// The same with an environment and a root.
pub fn adapter_in(text: &str, env: &[(&str, &str)], root: &Path) -> (Adapter, Context) {
    let (adapter, ctx) = try_adapter_in(text, env, root).unwrap();
    assert_eq!(adapter.problems, [], "{text}");
    (adapter, ctx)
}

/// The same, problems included; `None` where the text gives no such adapter.
pub fn try_adapter_in(text: &str, env: &[(&str, &str)], root: &Path) -> Option<(Adapter, Context)> {
    let stack = Stack {
        layers: vec![LayerSource {
            kind: LayerKind::User,
            path: PathBuf::from("/layers/user.toml"),
            source: Some(Arc::new(Source::parse(text))),
            fault: None,
        }],
        trust: Trust::Untrusted,
    };
    let adapter = stack.adapter("a", View::InForce)?;
    adapter.ops.get("search")?;
    let vars = env
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let facts = Facts {
        env: Env::new(vars, false),
        repo: Repo {
            id: "github.com/acme/shop".to_owned(),
            name: "shop".to_owned(),
            root: root.to_owned(),
            ..Repo::default()
        },
        now: Now {
            date: "2026-11-30".to_owned(),
            iso: "2026-11-30T10:00:00Z".to_owned(),
        },
        ..Facts::default()
    };
    let ctx = Context {
        facts: Arc::new(facts),
        globals: Arc::new(stack.global_vars(View::InForce)),
        project: None,
        now: None,
        may_start: MayStart::default(),
    };
    Some((adapter, ctx))
}

/// The op of that name.
pub fn op<'a>(adapter: &'a Adapter, name: &str) -> &'a Op {
    adapter.ops.get(name).unwrap()
}

/// Inputs of an op.
pub fn inputs(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(inputs) => inputs,
        other => panic!("not an object: {other}"),
    }
}
