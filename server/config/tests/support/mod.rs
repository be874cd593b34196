//! Stacks and facts for tests, from texts.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(unreachable_pub, reason = "a module of several test binaries")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kontext_config::facts::{Env, Facts, Now, PathFact, ProgramFact, Repo, Trust};
use kontext_config::layer::LayerKind;
use kontext_config::source::Source;
use kontext_config::stack::{LayerSource, Stack};

/// A layer with this text.
pub fn layer(kind: LayerKind, text: &str) -> LayerSource {
    LayerSource {
        kind,
        path: PathBuf::from(format!("/layers/{kind}.toml")),
        source: Some(Arc::new(Source::parse(text))),
        fault: None,
    }
}

/// Layers with these texts, lowest first.
pub fn stack(layers: &[(LayerKind, &str)], trust: Trust) -> Stack {
    Stack {
        layers: layers
            .iter()
            .map(|(kind, text)| layer(*kind, text))
            .collect(),
        trust,
    }
}

/// The user layer alone.
pub fn user(text: &str) -> Stack {
    stack(&[(LayerKind::User, text)], Trust::Untrusted)
}

/// A repository at `/repo` whose id is `github.com/acme/shop`, and these variables.
pub fn facts(env: &[(&str, &str)]) -> Facts {
    let vars = env
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Facts {
        env: Env::new(vars, false),
        repo: Repo {
            id: "github.com/acme/shop".to_owned(),
            slug: "github.com-acme-shop".to_owned(),
            name: "shop".to_owned(),
            dir: "repo".to_owned(),
            root: PathBuf::from("/repo"),
            branch: Some("main".to_owned()),
            ..Repo::default()
        },
        now: Now {
            date: "2026-11-30".to_owned(),
            iso: "2026-11-30T10:00:00Z".to_owned(),
        },
        ..Facts::default()
    }
}

/// The facts with answers: what exists, what is missing.
pub fn with_paths(mut facts: Facts, there: &[&str], missing: &[&str]) -> Facts {
    for path in there {
        facts.paths.insert((*path).to_owned(), PathFact::Exists);
    }
    for path in missing {
        facts.paths.insert((*path).to_owned(), PathFact::Missing);
    }
    facts
}

/// The facts with programs: those that are there, those that are not.
pub fn with_programs(mut facts: Facts, there: &[&str], missing: &[&str]) -> Facts {
    for name in there {
        let found = ProgramFact::Found(Path::new("/bin").join(name));
        facts.programs.insert((*name).to_owned(), found);
    }
    for name in missing {
        let fact = ProgramFact::Missing { searched: 3 };
        facts.programs.insert((*name).to_owned(), fact);
    }
    facts
}
