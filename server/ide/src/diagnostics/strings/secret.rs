//! What looks like a secret. Neither messages nor titles of fixes ever repeat one.

use std::collections::BTreeSet;
use std::ops::Range;

use kontext_config::codes::Code;
use kontext_config::schema::Shape;
use kontext_syntax::template::{Head, Template};
use kontext_syntax::toml::Span;

use super::super::check::Check;
use super::written::{Written, range, texts};

/// Beginnings of tokens that say whose they are, and how many characters follow at least.
const PREFIXES: &[(&str, usize)] = &[
    ("sk-", 20),
    ("sk_live_", 16),
    ("rk_live_", 16),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("xoxa-", 16),
    ("xapp-", 16),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("npm_", 30),
    ("pypi-", 30),
    ("hf_", 24),
    ("SG.", 30),
    ("eyJ", 40),
    ("shpat_", 24),
    ("dop_v1_", 30),
    ("lin_api_", 24),
    ("ntn_", 24),
];

/// Parts of keys under which secrets are kept, without `_`, `-` and case.
const TELLING: &[&str] = &[
    "token",
    "secret",
    "password",
    "passwd",
    "apikey",
    "accesskey",
    "privatekey",
    "authorization",
    "credential",
    "bearer",
];

/// Ends of keys that hold something about a secret, not the secret.
const ABOUT: &[&str] = &[
    "file",
    "path",
    "dir",
    "url",
    "uri",
    "name",
    "id",
    "type",
    "limit",
    "ttl",
    "length",
    "count",
    "tokens",
    "parallelism",
    "header",
    "endpoint",
    "env",
    "var",
];

/// The first secret in the text of a value under a key: where it is, in bytes.
pub(crate) fn find(text: &str, key: &str, shape: Shape) -> Option<Range<usize>> {
    known_token(text)
        .or_else(|| scheme_token(text, shape))
        .or_else(|| in_url(text))
        .or_else(|| (is_telling(key) && is_random(text, false)).then_some(0..text.len()))
}

/// The name of the variable a secret moves to: a key that is one already, else one made from the
/// adapter and the key.
pub(crate) fn variable(adapter: &str, key: &str, is_env: bool) -> String {
    let upper = |text: &str| -> String {
        let mapped = text.chars().map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_uppercase()
            } else {
                '_'
            }
        });
        mapped.collect::<String>().trim_matches('_').to_owned()
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if is_env && !key.is_empty() && key.chars().all(is_name) && known_token(key).is_none() {
        return key.to_owned();
    }
    let last = if is_telling(key) && !key.eq_ignore_ascii_case("authorization") {
        upper(key)
    } else {
        "TOKEN".to_owned()
    };
    let first = upper(adapter);
    let name = if first.is_empty() || last.starts_with(&first) {
        last
    } else {
        format!("{first}_{last}")
    };
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("_{name}")
    } else {
        name
    }
}

/// Reports secrets in the literal parts of a template.
pub(super) fn in_template(
    check: &mut Check<'_>,
    shape: Shape,
    written: &Written<'_>,
    template: &Template,
) {
    let key = check.path.last().copied().unwrap_or("");
    let whole = template.parts.len() == 1;
    for (at, text) in texts(written, template) {
        // A text beside an expression is only part of the value: its key says nothing about it.
        let key = if whole { key } else { "" };
        if let Some(found) = find(text, key, shape) {
            let span = written.span(range(found.start, found.end).shifted(at.start));
            report(
                check,
                span,
                key,
                shape == Shape::EnvValue,
                written.form.is_some(),
            );
            return;
        }
    }
    for expr in template.exprs() {
        let literal = match &expr.head {
            Head::Literal { value, range } => Some((value.as_str(), *range)),
            _ => None,
        };
        let arguments = expr.filters.iter().filter_map(|filter| {
            let arg = filter.arg.as_ref()?;
            Some((arg.text.as_str(), arg.range))
        });
        if let Some((_, at)) = literal
            .into_iter()
            .chain(arguments)
            .find(|(text, _)| known_token(text).is_some())
        {
            report(check, written.span(at), key, false, false);
            return;
        }
    }
}

/// Reports tokens in a string that is no template.
pub(super) fn in_plain(check: &mut Check<'_>, written: &Written<'_>) {
    if let Some(found) = known_token(written.value) {
        let span = written.span(range(found.start, found.end));
        report(check, span, "", false, false);
    }
}

fn report(check: &mut Check<'_>, span: Span, key: &str, is_env: bool, fixable: bool) {
    let adapter = check.context.unit.key.name.as_deref().unwrap_or("");
    let name = variable(adapter, key, is_env);
    let (message, edit) = if fixable {
        (
            format!(
                "this looks like a secret; keep it in an environment variable and write `{{{{env.{name}}}}}`"
            ),
            Some(format!("{{{{env.{name}}}}}")),
        )
    } else {
        (
            "this looks like a secret; keep it in an environment variable, not in this file"
                .to_owned(),
            None,
        )
    };
    let finding = check.report(Code::SecretInFile, span, message);
    if let Some(edit) = edit {
        finding.fix(format!("Read it from `{name}`"), vec![(span, edit)]);
    }
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+')
}

/// A token whose beginning says whose it is.
fn known_token(text: &str) -> Option<Range<usize>> {
    let mut at = 0;
    while let Some(start) = text.get(at..)?.find(is_token_char).map(|found| at + found) {
        let rest = text.get(start..)?;
        let len = rest.find(|c| !is_token_char(c)).unwrap_or(rest.len());
        let word = rest.get(..len)?;
        let known = PREFIXES.iter().any(|(prefix, least)| {
            word.strip_prefix(prefix).is_some_and(|rest| {
                rest.len() >= *least
                    && rest.contains(|c: char| c.is_ascii_digit())
                    && varied(rest)
                    && !is_placeholder(rest)
            })
        });
        if known {
            let word = word.trim_end_matches('.');
            return Some(start..start + word.len());
        }
        at = start + len;
    }
    None
}

/// `Bearer <token>` as the value of a header, and the same for other schemes.
fn scheme_token(text: &str, shape: Shape) -> Option<Range<usize>> {
    if shape != Shape::Header {
        return None;
    }
    let (scheme, token) = text.split_once(' ')?;
    let scheme_known = ["bearer", "basic", "token", "apikey", "bot"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known));
    let start = text.len() - token.trim_start().len();
    let token = token.trim();
    (scheme_known && is_random(token, true)).then(|| start..start + token.len())
}

/// A password or a key inside a URL.
fn in_url(text: &str) -> Option<Range<usize>> {
    let scheme = text.find("://")? + 3;
    let rest = text.get(scheme..)?;
    let authority = rest.get(..rest.find(['/', '?', '#']).unwrap_or(rest.len()))?;
    if let Some((user, _)) = authority.rsplit_once('@')
        && let Some((name, password)) = user.split_once(':')
        && !password.is_empty()
        && !is_placeholder(password)
    {
        let start = scheme + name.len() + 1;
        return Some(start..start + password.len());
    }
    let query = text.find('?')? + 1;
    let mut at = query;
    for pair in text.get(query..)?.split(['&', '#']) {
        if let Some((key, value)) = pair.split_once('=')
            && (is_telling(key) || key.eq_ignore_ascii_case("key"))
            && is_random(value, true)
        {
            let start = at + key.len() + 1;
            return Some(start..start + value.len());
        }
        at += pair.len() + 1;
    }
    None
}

/// Whether values under a key are most likely secrets.
pub(crate) fn is_telling(key: &str) -> bool {
    let folded: String = key
        .chars()
        .filter(|c| !matches!(c, '_' | '-' | ' '))
        .flat_map(char::to_lowercase)
        .collect();
    TELLING.iter().any(|telling| folded.contains(telling))
        && !ABOUT.iter().any(|end| folded.ends_with(end))
}

/// Whether a text looks as if it had been drawn: one long word of letters and digits that says
/// nothing. `sure`: its place says already that it is a credential.
fn is_random(text: &str, sure: bool) -> bool {
    let least = if sure { 8 } else { 12 };
    let word = |c: char| c.is_ascii_graphic() && !matches!(c, '$' | '<' | '>' | '{' | '}' | '%');
    let is_path = !sure
        && (text.starts_with(['/', '~', '.'])
            || text.contains("://")
            || text.contains(['\\', ',']));
    text.len() >= least
        && text.chars().all(word)
        && text.contains(|c: char| c.is_ascii_digit())
        && text.contains(|c: char| c.is_ascii_alphabetic())
        && varied(text)
        && !is_path
        && !is_placeholder(text)
}

fn varied(text: &str) -> bool {
    let different: BTreeSet<char> = text.chars().collect();
    different.len() >= 6
}

/// Whether a text stands for a secret that is still to be put in.
fn is_placeholder(text: &str) -> bool {
    let folded = text.to_ascii_lowercase();
    let says_so = [
        "your",
        "example",
        "changeme",
        "replace",
        "placeholder",
        "xxxx",
        "todo",
        "dummy",
        "redacted",
        "****",
        "insert",
    ];
    says_so.iter().any(|word| folded.contains(word)) || text.starts_with(['<', '$', '{'])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Built from parts, so that no scanner takes this file for one that holds secrets.
    fn token(prefix: &str) -> String {
        format!("{prefix}{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0")
    }

    #[test]
    fn tokens_are_found_exactly() {
        for prefix in ["sk-", "ghp_", "github_pat_", "glpat-", "xoxb-"] {
            let token = token(prefix);
            let text = format!("--token={token}");
            assert_eq!(
                find(&text, "", Shape::Argument),
                Some(8..text.len()),
                "{prefix}"
            );
        }
        assert_eq!(
            find("https://u:hunter2@h.example/x", "", Shape::Url),
            Some(10..17)
        );
        assert_eq!(
            find(
                "https://h.example/x?a=1&api_key=a1b2c3d4e5f6",
                "",
                Shape::Url
            ),
            Some(32..44)
        );
        assert_eq!(
            find("a1b2c3d4e5f6", "NOTES_TOKEN", Shape::EnvValue),
            Some(0..12)
        );
    }

    #[test]
    fn ordinary_values_are_none() {
        for (text, key) in [
            ("sk-your-key-here-please-put-it-in", ""),
            ("ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", ""),
            ("/run/secrets/notes1", "NOTES_TOKEN"),
            ("a1b2c3d4e5f6", "NOTES_TOKEN_FILE"),
            ("4096", "MAX_TOKENS"),
            ("notes-2026-archive", "X-Client"),
            ("https://h.example/x?page=a1b2c3d4e5f6", ""),
            ("disk-based-cache", "token_store"),
            ("Bearer <token>", "Authorization"),
            ("Bearer ", "Authorization"),
            ("", "token"),
        ] {
            assert_eq!(find(text, key, Shape::Header), None, "{text}");
        }
    }

    #[test]
    fn variables_are_named_after_what_they_hold() {
        assert_eq!(variable("notes", "Authorization", false), "NOTES_TOKEN");
        assert_eq!(
            variable("team.wiki", "X-Api-Key", false),
            "TEAM_WIKI_X_API_KEY"
        );
        assert_eq!(variable("notes", "TOKEN", true), "TOKEN");
        assert_eq!(variable("", "", false), "TOKEN");
        assert_eq!(variable("9x", "q", false), "_9X_TOKEN");
    }
}
