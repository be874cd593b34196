//! Requests from a configuration and what an agent puts into it.

use std::path::PathBuf;
use std::sync::Arc;

use kontext_config::facts::{Env, Facts, Repo, Trust};
use kontext_config::layer::LayerKind;
use kontext_config::source::Source;
use kontext_config::stack::{LayerSource, Stack, View};
use kontext_engine::Context;
use kontext_engine::request::{Request, build, preview};
use kontext_engine::secrets::Redactor;
use serde_json::{Map, Value};

const SECRET: &str = "s3cr3t-VALUE";

/// The first line is the input of every op, the rest a configuration. What is built can be sent
/// as it is, and what is shown holds no value of the environment.
pub fn request(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (input, config) = text.split_once('\n').unwrap_or((&text, ""));
    if config.contains(SECRET) || input.contains(SECRET) {
        return;
    }
    let stack = Stack {
        layers: vec![LayerSource {
            kind: LayerKind::User,
            path: PathBuf::from("/user.toml"),
            source: Some(Arc::new(Source::parse(config))),
            fault: None,
        }],
        trust: Trust::Untrusted,
    };
    let env = [("KEY".to_owned(), SECRET.to_owned())];
    let facts = Facts {
        env: Env::new(env, false),
        repo: Repo {
            root: PathBuf::from("/repo"),
            ..Repo::default()
        },
        ..Facts::default()
    };
    let ctx = Context {
        facts: Arc::new(facts),
        globals: Arc::new(stack.global_vars(View::InForce)),
        project: None,
    };
    let mut inputs = Map::new();
    for name in ["query", "target", "uri", "prompt", "limit"] {
        inputs.insert(name.to_owned(), Value::from(input));
    }
    for name in stack.adapter_names() {
        let Some(adapter) = stack.adapter(name, View::InForce) else {
            continue;
        };
        let redactor = Redactor::new(&adapter, &ctx);
        for op in adapter.ops.values() {
            let built = build(&adapter, op, &ctx, &inputs);
            if let Ok(shown) = preview(&adapter, op, &ctx, &inputs) {
                assert!(!shown.to_string().contains(SECRET), "{shown}");
            }
            match built {
                Ok(Request::Http(request)) => {
                    assert!(
                        request
                            .url
                            .get(..4)
                            .is_some_and(|s| s.eq_ignore_ascii_case("http"))
                    );
                    assert!(!request.url.contains(['\r', '\n']));
                    for (name, value) in &request.headers {
                        assert!(!name.is_empty() && !value.contains(['\r', '\n']));
                    }
                    let debug = format!("{request:?}");
                    assert!(!redactor.redact(&debug).contains(SECRET));
                }
                Ok(Request::Command(line)) => assert!(!line.argv.is_empty()),
                Ok(Request::Tool(call)) => assert!(!call.tool.is_empty()),
                Err(fault) => assert!(!fault.message().contains(SECRET), "{fault}"),
            }
        }
    }
}
