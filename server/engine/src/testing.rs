//! Plans out of configuration text, for tests.

use std::path::PathBuf;
use std::sync::Arc;

use kontext_config::facts::{Env, Facts, Now, Repo, Trust};
use kontext_config::layer::LayerKind;
use kontext_config::source::Source;
use kontext_config::stack::{LayerSource, Stack};

use crate::engine::{Engine, Options};
use crate::may_start::MayStart;
use crate::plan::Plan;

/// One root: its layers, and its world.
pub(crate) struct Root {
    pub(crate) stack: Stack,
    pub(crate) facts: Arc<Facts>,
}

/// A root with these layers.
pub(crate) fn root(path: &str, layers: &[(LayerKind, &str)], trust: Trust) -> Root {
    let layers = layers.iter().map(|(kind, text)| LayerSource {
        kind: *kind,
        path: PathBuf::from(format!("{path}/{kind}.toml")),
        source: Some(Arc::new(Source::parse(*text))),
        fault: None,
    });
    let repo = Repo {
        root: PathBuf::from(path),
        dir: path.rsplit('/').next().unwrap_or_default().to_owned(),
        ..Repo::default()
    };
    let env = [
        ("KEY", "the-key-5d21"),
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ];
    let env = env.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Root {
        stack: Stack {
            layers: layers.collect(),
            trust,
        },
        facts: Arc::new(Facts {
            env: Env::new(env, false),
            repo,
            trust,
            ..Facts::default()
        }),
    }
}

/// The plan of a user's layer.
pub(crate) fn plan(text: &str) -> Plan {
    plan_of(&[root("/", &[(LayerKind::User, text)], Trust::Untrusted)])
}

/// The plan of several roots.
pub(crate) fn plan_of(roots: &[Root]) -> Plan {
    Plan::of(
        roots
            .iter()
            .map(|root| (&root.stack, &root.facts, MayStart::default())),
    )
}

/// An engine with the plan of a user's layer. Must be called on a runtime.
pub(crate) fn engine(text: &str) -> Engine {
    let engine = Engine::new(Options {
        now: Now::default,
        reserved: &["kontext_status"],
    });
    engine.apply(plan(text));
    engine
}
