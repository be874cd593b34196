//! Every code shows itself on its own example, and nothing else does.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used
)]

mod support;

use std::sync::Arc;

use kontext_config::codes::{Code, Setting};
use kontext_config::facts::Trust;
use kontext_config::layer::LayerKind;
use kontext_config::source::Source;
use kontext_ide::Diagnostic;
use kontext_ide::diagnostics::{Checked, Severities, Subject};
use support::{check_layers, shown};

/// The diagnostics of an example. What a shared layer always has while it waits for trust is left
/// out, except where that is the code in question.
fn in_setting(code: Code, text: &str) -> Vec<Diagnostic> {
    match code.spec().setting {
        Setting::User => check_layers(LayerKind::User, text, Trust::Untrusted, &[]),
        Setting::Shared => check_layers(LayerKind::Shared, text, Trust::Untrusted, &[]),
        Setting::SharedOver(user) => {
            let over = [(LayerKind::User, user)];
            check_layers(LayerKind::Shared, text, Trust::Pinned, &over)
        }
        Setting::Unreadable => Vec::new(),
    }
}

#[test]
fn bad_examples_show_exactly_their_code() {
    let mut wrong = Vec::new();
    for &code in Code::ALL {
        let spec = code.spec();
        if spec.setting == Setting::Unreadable {
            continue;
        }
        let found = in_setting(code, spec.bad);
        if found.iter().map(|one| one.code).collect::<Vec<_>>() != [code] {
            wrong.push(format!("{code}:\n{}", shown(spec.bad, &found)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn good_examples_show_nothing() {
    let mut wrong = Vec::new();
    for &code in Code::ALL {
        let spec = code.spec();
        let found = in_setting(code, spec.good);
        if !found.is_empty() {
            wrong.push(format!("{code}:\n{}", shown(spec.good, &found)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_file_that_cannot_be_read_says_why() {
    let stack = support::stack(Trust::Untrusted, &[]);
    let source = Arc::new(Source::parse(""));
    for (fault, code) in [
        (
            "config.toml is not UTF-8: line 3 holds a byte that belongs to no character",
            Code::InvalidUtf8,
        ),
        ("config.toml is a folder, not a file", Code::UnreadableLayer),
    ] {
        let subject = Subject {
            source: &source,
            layer: Some((LayerKind::User, &stack)),
            severities: &Severities::new(),
            fault: Some(fault),
        };
        let checked = Checked::of(&subject, None);
        let found: Vec<_> = checked
            .diagnostics()
            .iter()
            .map(|one| (one.code, &*one.message))
            .collect();
        assert_eq!(found, [(code, fault)]);
        let off = Severities::from([(code, None)]);
        let checked = Checked::of(
            &Subject {
                severities: &off,
                ..subject
            },
            None,
        );
        assert!(checked.diagnostics().is_empty());
    }
}
