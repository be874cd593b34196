//! Diagnostics of strings, through the public API. A line of carets below a line marks a
//! diagnostic of that line: where it stands and its code; lines below must match them exactly.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::string_slice
)]

use std::path::PathBuf;
use std::sync::Arc;

use kontext_config::codes::{Code, Setting};
use kontext_config::layer::LayerKind;
use kontext_config::source::Source;
use kontext_config::stack::{LayerSource, Stack};
use kontext_ide::Diagnostic;
use kontext_ide::diagnostics::{Checked, Severities, Subject};

#[path = "strings/cases.rs"]
mod cases;
#[path = "strings/foreign.rs"]
mod foreign;
#[path = "strings/names.rs"]
mod names;
#[path = "strings/random.rs"]
mod random;
#[path = "strings/safety.rs"]
mod safety;
#[path = "strings/templates.rs"]
mod templates;

/// The codes that are decided by looking at strings.
const OWN: &[Code] = &[
    Code::JsonPasted,
    Code::ForeignFormat,
    Code::InvalidRegex,
    Code::InvalidUrl,
    Code::InvalidEnvName,
    Code::InvalidHeader,
    Code::PathSyntax,
    Code::MisplacedWildcard,
    Code::UnterminatedTemplate,
    Code::TemplateSyntax,
    Code::UnknownFilter,
    Code::BadFilterArgument,
    Code::UnknownRoot,
    Code::UnknownVariable,
    Code::VarsCycle,
    Code::NotATemplate,
    Code::DollarPlaceholder,
    Code::InvalidOpName,
    Code::InvalidToolName,
    Code::PrefixNotToolName,
    Code::InvalidParams,
    Code::UnknownAdapter,
    Code::SecretInFile,
    Code::ControlCharacter,
    Code::OptionInjection,
    Code::ShellInjection,
];

/// The diagnostics of a text as the user layer, those of other checks left out.
fn diagnostics(text: &str) -> Vec<Diagnostic> {
    let source = Arc::new(Source::parse(text));
    let layers = vec![LayerSource {
        kind: LayerKind::User,
        path: PathBuf::from("config.toml"),
        source: Some(Arc::clone(&source)),
        fault: None,
    }];
    let stack = Stack {
        layers,
        ..Stack::default()
    };
    let subject = Subject {
        source: &source,
        layer: Some((LayerKind::User, &stack)),
        severities: &Severities::new(),
        fault: None,
    };
    let checked = Checked::of(&subject, None);
    let all = checked.diagnostics().iter();
    all.filter(|one| OWN.contains(&one.code)).cloned().collect()
}

/// The text with the edits of a fix made.
fn fixed(text: &str, diagnostic: &Diagnostic) -> String {
    let fix = diagnostic.fix.as_ref().expect("a fix");
    let mut edits: Vec<_> = fix.edits.iter().collect();
    edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    let mut text = text.to_owned();
    for (range, new) in edits {
        text.replace_range(range.start as usize..range.end as usize, new);
    }
    text
}

/// The only diagnostic of a text.
fn only(text: &str) -> Diagnostic {
    let found = diagnostics(text);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.into_iter().next().expect("one")
}

fn is_mark(line: &str) -> bool {
    line.trim_start().starts_with('^')
}

/// Checks a text whose diagnostics are marked below their lines.
#[track_caller]
fn marked(text: &str) {
    let lines = text.lines().filter(|line| !is_mark(line));
    let source: String = lines.flat_map(|line| [line, "\n"]).collect();
    let found = diagnostics(&source);
    let mut shown = String::new();
    let mut start = 0;
    for line in source.lines() {
        shown.push_str(line);
        shown.push('\n');
        let end = start + line.len();
        for one in &found {
            let range = one.range.start as usize..one.range.end as usize;
            if range.start < start || range.start > end {
                continue;
            }
            let column = source[start..range.start].chars().count();
            let inside = &source[range.start..range.end.min(end)];
            let width = inside.chars().count().max(1);
            shown.push_str(&format!(
                "{}{} {}\n",
                " ".repeat(column),
                "^".repeat(width),
                one.code
            ));
        }
        start = end + 1;
    }
    let expected: String = text.lines().flat_map(|line| [line, "\n"]).collect();
    if shown != expected {
        panic!("found\n{shown}\nexpected\n{expected}\n{found:#?}");
    }
}

#[test]
fn the_examples_of_each_code_show_it_and_nothing_else() {
    for code in OWN {
        let spec = code.spec();
        if spec.setting != Setting::User {
            continue;
        }
        let bad: Vec<_> = diagnostics(spec.bad).iter().map(|one| one.code).collect();
        assert_eq!(bad, [*code], "{code}: bad");
        assert_eq!(diagnostics(spec.good), [], "{code}: good");
    }
}

#[test]
fn a_fix_puts_right_what_it_belongs_to() {
    for code in OWN {
        let spec = code.spec();
        // The fix adds the adapters; the table stays for the other program.
        if *code == Code::ForeignFormat {
            continue;
        }
        for one in diagnostics(spec.bad).iter().filter(|one| one.fix.is_some()) {
            let after = fixed(spec.bad, one);
            let left: Vec<_> = diagnostics(&after).iter().map(|one| one.code).collect();
            assert_eq!(left, [], "{code}:\n{after}");
        }
    }
}
