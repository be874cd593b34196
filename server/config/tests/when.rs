//! Conditions and their reasons: every sentence of adapters.md section 3.

#![allow(
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by a panic"
)]

mod support;

use kontext_config::facts::{Facts, PathFact, ProgramFact, Question};
use kontext_config::stack::View;
use kontext_config::status::{self, Status};
use kontext_config::when::{self, Verdict, When, WhenKey};
use support::{facts, user, with_paths, with_programs};

fn when_of(body: &str) -> When {
    let text = format!("[adapters.a]\ndriver = \"command\"\ncommand = [\"true\"]\n{body}\n");
    user(&text).adapter("a", View::InForce).unwrap().when
}

fn judge(body: &str, facts: &Facts) -> Vec<Verdict> {
    when::judge(&when_of(body), facts)
}

/// The one reason of the one condition; empty where it holds, `?` before it where it is unknown.
fn reason(body: &str, facts: &Facts) -> String {
    let verdicts = judge(body, facts);
    assert_eq!(verdicts.len(), 1, "{body}");
    let verdict = &verdicts[0];
    let text = verdict.reason.clone().unwrap_or_default();
    match verdict.holds {
        Some(true) => {
            assert_eq!(verdict.reason, None);
            String::new()
        }
        Some(false) => text,
        None => format!("?{text}"),
    }
}

fn asked(body: &str, facts: &Facts) -> Vec<Question> {
    when::questions(&when_of(body), facts)
}

#[test]
fn command_is_an_executable_on_path() {
    let base = facts(&[]);
    let body = "when = { command = \"codegraph\" }";
    assert_eq!(
        asked(body, &base),
        [Question::Program("codegraph".to_owned())]
    );
    assert_eq!(
        reason(body, &base),
        "?`codegraph` has not been looked up yet"
    );
    let there = with_programs(base.clone(), &["codegraph"], &[]);
    assert_eq!(reason(body, &there), "");
    let missing = with_programs(base.clone(), &[], &["codegraph"]);
    assert_eq!(reason(body, &missing), "`codegraph` is not on PATH");
    let own = format!("{body}\nenv = {{ PATH = \"/opt/bin\" }}");
    assert_eq!(
        reason(&own, &missing),
        "`codegraph` is not on PATH: a condition looks on that of kontext-ls, not on the adapter's `env.PATH`"
    );
    let mut odd = base.clone();
    let fact = ProgramFact::NotExecutable("/secret/bin/codegraph".into());
    odd.programs.insert("codegraph".to_owned(), fact);
    assert_eq!(
        reason(body, &odd),
        "`codegraph`, found on PATH, is not executable"
    );
    let fact = ProgramFact::Directory("/bin/codegraph".into());
    odd.programs.insert("codegraph".to_owned(), fact);
    assert_eq!(
        reason(body, &odd),
        "`codegraph`, found on PATH, is a folder, not a program"
    );
}

#[cfg(unix)]
#[test]
fn command_with_a_separator_is_a_path_relative_to_the_root() {
    let base = facts(&[]);
    let body = "when = { command = \"./tools/run\" }";
    assert_eq!(
        asked(body, &base),
        [Question::Program("/repo/tools/run".to_owned())]
    );
    let missing = with_programs(base.clone(), &[], &["/repo/tools/run"]);
    assert_eq!(
        reason(body, &missing),
        "`./tools/run` does not exist under the repository root"
    );
    let mut odd = base.clone();
    let fact = ProgramFact::NotExecutable("/repo/tools/run".into());
    odd.programs.insert("/repo/tools/run".to_owned(), fact);
    assert_eq!(
        reason(body, &odd),
        "`./tools/run`, found under the repository root, is not executable"
    );
    let absolute = "when = { command = \"/opt/run\" }";
    let missing = with_programs(base, &[], &["/opt/run"]);
    assert_eq!(reason(absolute, &missing), "`/opt/run` does not exist");
}

#[cfg(unix)]
#[test]
fn file_exists_under_the_root() {
    let base = facts(&[]);
    let body = "when = { file = \"docs\" }";
    assert_eq!(
        asked(body, &base),
        [Question::Path("/repo/docs".to_owned())]
    );
    assert_eq!(
        reason(body, &with_paths(base.clone(), &["/repo/docs"], &[])),
        ""
    );
    assert_eq!(
        reason(body, &with_paths(base.clone(), &[], &["/repo/docs"])),
        "`docs` does not exist under the repository root"
    );
    let mut unreadable = base;
    unreadable
        .paths
        .insert("/repo/docs".to_owned(), PathFact::Unreadable);
    assert_eq!(
        reason(body, &unreadable),
        "`docs` cannot be looked at under the repository root: permission is missing"
    );
    assert_eq!(
        reason(body, &Facts::default()),
        "there is no repository here that `docs` could lie in"
    );
}

#[test]
fn repo_is_a_regex_searched_in_the_id() {
    let base = facts(&[]);
    for holds in ["acme", "^github\\.com/acme/(shop|bill)$", "shop$", ""] {
        assert_eq!(
            reason(&format!("when = {{ repo = '{holds}' }}"), &base),
            "",
            "{holds}"
        );
    }
    assert_eq!(
        reason("when = { repo = '^acme' }", &base),
        "the repository is `github.com/acme/shop`, which `^acme` does not match"
    );
    assert_eq!(
        reason("when = { repo = '(' }", &base),
        "`(` is not a regular expression: unclosed group"
    );
    assert_eq!(
        reason("when = { repo = 'x' }", &Facts::default()),
        "there is no repository here whose id `x` could match"
    );
}

#[test]
fn env_is_set_and_empty_counts_as_not_set() {
    let facts = facts(&[("SET", "s3cret"), ("EMPTY", "")]);
    assert_eq!(reason("when = { env = \"SET\" }", &facts), "");
    assert_eq!(
        reason("when = { env = \"NOTES_TOKEN\" }", &facts),
        "`NOTES_TOKEN` is not set"
    );
    assert_eq!(
        reason("when = { env = \"EMPTY\" }", &facts),
        "`EMPTY` is set but empty, which counts as not set"
    );
    assert_eq!(
        reason("when = { env = \"\" }", &facts),
        "`env` names no variable: it is empty"
    );
}

#[cfg(unix)]
#[test]
fn exists_is_a_template_with_wildcards_in_the_last_segment() {
    let base = facts(&[("HOME", "/home/me"), ("DATA", "/s3cret/place")]);
    let asks = |value: &str| asked(&format!("when = {{ exists = '{value}' }}"), &base);
    let path = |path: &str| vec![Question::Path(path.to_owned())];
    assert_eq!(asks("docs/*.md"), path("/repo/docs/*.md"));
    assert_eq!(
        asks("~/.notes/{{repo.slug}}*.json"),
        path("/home/me/.notes/github.com-acme-shop*.json")
    );
    assert_eq!(asks("{{env.DATA}}/x/"), path("/s3cret/place/x/"));
    assert_eq!(
        asks("{{repo.root}}/{{adapter.name}}/{{project.name|lower}}"),
        path("/repo/a/shop")
    );
    assert_eq!(asks("~user/x"), path("/repo/~user/x"));
    assert_eq!(asks("do*s/x"), []);

    let missing = |value: &str| {
        let body = format!("when = {{ exists = '{value}' }}");
        let mut all = base.clone();
        for question in asked(&body, &base) {
            if let Question::Path(path) = question {
                all.paths.insert(path, PathFact::Missing);
            }
        }
        reason(&body, &all)
    };
    assert_eq!(
        missing("docs/*.md"),
        "nothing matches `docs/*.md` under the repository root"
    );
    assert_eq!(missing("~/x"), "`~/x` does not exist");
    // The value of a variable of the environment is never shown.
    insta::assert_snapshot!(missing("{{env.DATA}}/{{repo.slug}}"), @"`{{env.DATA}}/{{repo.slug}}` (`‹env.DATA›/github.com-acme-shop`) does not exist");
    insta::assert_snapshot!(missing("{{env.NOPE}}/x"), @"`{{env.NOPE}}/x` (`/x`) does not exist (`NOPE` is not set)");
    insta::assert_snapshot!(missing("{{env.NOPE}}"), @"`{{env.NOPE}}` (``) comes out empty (`NOPE` is not set)");
    insta::assert_snapshot!(missing("do*s/x"), @"`do*s/x` has `*` or `?` in a folder's name; they are allowed in the last segment only");
    insta::assert_snapshot!(missing("{{repo.slug"), @"`{{repo.slug` is not a complete template: close `{{` with `}}`");
    let homeless = facts(&[]);
    assert_eq!(
        reason("when = { exists = '~/x' }", &homeless),
        "`HOME` is not set, so `~/` leads nowhere"
    );
}

#[cfg(unix)]
#[test]
fn exists_sees_variables_of_the_adapter_and_global_ones() {
    let text = "[vars]\nbase = \"data\"\n[adapters.a]\nvars = { dir = \"{{vars.base}}/{{vars.team}}\", team = \"core\", x = \"{{vars.y}}\", y = \"{{vars.x}}\" }\nwhen = { exists = [\"{{vars.dir}}\", \"{{vars.x}}\"] }\n";
    let when = user(text).adapter("a", View::InForce).unwrap().when;
    let base = facts(&[]);
    assert_eq!(
        when::questions(&when, &base),
        [Question::Path("/repo/data/core".to_owned())]
    );
    let reasons: Vec<_> = when::judge(&when, &base)[1..]
        .iter()
        .map(|verdict| verdict.reason.clone().unwrap())
        .collect();
    assert_eq!(
        reasons,
        ["`{{vars.x}}` uses a variable that depends on itself: `vars.x` → `vars.y`"]
    );
}

#[cfg(unix)]
#[test]
fn arrays_mean_all_of_them_and_every_failure_is_named() {
    let body = "when = { command = [\"one\", \"two\"], file = [\"a\", \"b\"], env = [\"SET\", \"UNSET\"], exists = [\"c\"], repo = \"other\" }";
    let base = facts(&[("SET", "1")]);
    assert_eq!(asked(body, &base).len(), 5);
    let known = with_paths(base, &["/repo/a"], &["/repo/b", "/repo/c"]);
    let known = with_programs(known, &["one"], &["two"]);
    let verdicts = judge(body, &known);
    let failing: Vec<_> = verdicts
        .iter()
        .filter(|one| one.holds == Some(false))
        .collect();
    let values: Vec<_> = failing
        .iter()
        .map(|one| (one.key, one.value.as_str()))
        .collect();
    assert_eq!(
        values,
        [
            (WhenKey::Command, "two"),
            (WhenKey::File, "b"),
            (WhenKey::Env, "UNSET"),
            (WhenKey::Exists, "c"),
            (WhenKey::Repo, "other"),
        ]
    );
    let text = format!("[adapters.a]\ndriver = \"command\"\ncommand = [\"true\"]\n{body}\n");
    let stack = user(&text);
    let all = status::all(&stack, &known);
    assert_eq!(all[0].status, Status::Inactive);
    assert_eq!(all[0].reasons.len(), 5);
    // Each verdict points at its own element.
    let source = stack.layers[0].source.as_ref().unwrap();
    for verdict in verdicts {
        let written = source.document.slice(verdict.origin.value);
        assert_eq!(written, format!("\"{}\"", verdict.value));
        assert_eq!(
            source.document.slice(verdict.origin.key),
            verdict.key.name()
        );
    }
}

#[test]
fn values_that_are_no_conditions_are_none() {
    let facts = facts(&[]);
    for body in [
        "when = { env = 5 }",
        "when = { env = [1] }",
        "when = { env = }",
        "when = \"env\"",
        "when = { reop = \"x\" }",
        "when = {}",
        "when =",
    ] {
        assert_eq!(judge(body, &facts), [], "{body}");
    }
}

#[test]
fn a_long_or_broken_value_stays_one_line() {
    let body = format!("when = {{ env = \"\"\"A\nB{}\"\"\" }}", "x".repeat(400));
    let reason = reason(&body, &facts(&[]));
    assert!(
        !reason.contains('\n') && reason.chars().count() < 240,
        "{reason}"
    );
}
