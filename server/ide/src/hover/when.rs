//! Conditions with their verdicts.

use kontext_config::when::{Verdict, WhenKey};

use crate::doc::{Doc, Line};
use crate::scene::Scene;

/// The conditions of an adapter: all, those of one key, or those of one value.
pub(super) fn verdicts(
    doc: &mut Doc,
    scene: &Scene<'_>,
    adapter: &str,
    key: Option<&str>,
    value: Option<&str>,
) {
    let Some(verdicts) = scene.verdicts(adapter) else {
        return;
    };
    let wanted = verdicts.iter().filter(|one| {
        key.is_none_or(|key| one.key.name() == key) && value.is_none_or(|value| one.value == value)
    });
    doc.list(wanted.map(|one| line(scene, one)));
}

fn line(scene: &Scene<'_>, verdict: &Verdict) -> Line {
    let mark = match verdict.holds {
        Some(true) => "✓ ",
        Some(false) => "✗ ",
        None => "? ",
    };
    let line = Line::of(mark)
        .code(verdict.key.name())
        .then(" ")
        .code(verdict.value.as_str())
        .then(": ");
    match (&verdict.reason, verdict.key) {
        (Some(reason), _) => line.then(reason.as_str()),
        (None, WhenKey::Env) => line.then("set"),
        (None, WhenKey::Command) => line.then("can be started"),
        (None, WhenKey::Repo) => {
            let id = scene.facts.map_or("", |facts| facts.repo.id.as_str());
            line.then("matches ").code(id)
        }
        (None, WhenKey::File | WhenKey::Exists) => line.then("is there"),
    }
}
