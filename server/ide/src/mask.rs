//! Values for eyes other than the file's: what is, or may be, a secret is left out.
//!
//! Two rules. Where a value is a secret by its place (headers, the environment of a child, keys
//! named like one), only its `{{…}}` expressions are shown. Anywhere else the words that look like
//! a secret are left out.

use kontext_config::merge::node_to_json;
use kontext_config::source::Source;
use kontext_syntax::TextRange;
use kontext_syntax::template::{Part, Template};
use kontext_syntax::toml::{Node, NodeKind};
use serde_json::Value;

/// Stands for what is left out.
pub(crate) const MASK: &str = "‹hidden›";

/// A value as it may be shown. `path` are its keys from the top of the file.
pub(crate) fn value(path: &[&str], value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(self::text(path, text)),
        Value::Array(values) => {
            let mut after_secret_flag = false;
            values
                .iter()
                .map(|value| {
                    // `--token`, `abc`: the element behind a flag is its value.
                    let hide = std::mem::replace(&mut after_secret_flag, false);
                    if let Value::String(text) = value {
                        after_secret_flag = text.starts_with('-')
                            && !text.contains('=')
                            && is_secret_name(text.trim_start_matches('-'));
                        if hide && !text.starts_with('-') {
                            return Value::String(skeleton(text));
                        }
                    }
                    self::value(path, value)
                })
                .collect()
        }
        Value::Object(members) => members
            .iter()
            .map(|(key, member)| {
                let mut below = path.to_vec();
                below.push(key);
                (key.clone(), self::value(&below, member))
            })
            .collect(),
        Value::Number(_) if is_secret_place(path) => Value::String(MASK.to_owned()),
        other => other.clone(),
    }
}

/// A text as it may be shown. `path` are its keys from the top of the file.
pub(crate) fn text(path: &[&str], text: &str) -> String {
    if is_secret_place(path) && !text.is_empty() {
        skeleton(text)
    } else {
        words(text)
    }
}

/// Whether what stands there is a secret whatever it looks like.
fn is_secret_place(path: &[&str]) -> bool {
    match path {
        ["adapters", _, "headers" | "env", _, ..] => true,
        ["adapters", _, "ops", _, "headers" | "env", _, ..] => true,
        ["adapters", _, "tools", "op", "headers" | "env", _, ..] => true,
        // Names of things, whatever they are called.
        ["adapters", _, "when", ..] | ["adapters", _, "ops", _] | ["adapters", _] => false,
        [.., "map" | "items" | "where" | "params" | "severity", _] => false,
        [.., last] => is_secret_name(last),
        [] => false,
    }
}

/// Whether a key, a parameter or a flag is called like a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let name: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    const PARTS: [&str; 10] = [
        "token",
        "secret",
        "password",
        "passwd",
        "passphrase",
        "apikey",
        "credential",
        "privatekey",
        "accesskey",
        "authorization",
    ];
    if name.ends_with("tokens") {
        return false; // a number of them
    }
    PARTS.iter().any(|part| name.contains(part))
        || matches!(
            &*name,
            "key" | "auth" | "pwd" | "pass" | "bearer" | "sig" | "signature"
        )
}

/// The expressions of a template, the text between them left out. An expression with an argument
/// could carry the secret in it.
fn skeleton(text: &str) -> String {
    let template = Template::parse(text);
    let mut out = String::new();
    for part in &template.parts {
        match part {
            Part::Expr(expr)
                if expr.terminated
                    && expr.path().is_some()
                    && expr.filters.iter().all(|filter| filter.arg.is_none()) =>
            {
                out.push_str(part.range().of(text));
            }
            Part::Text(range) if range.of(text).trim().is_empty() => out.push_str(range.of(text)),
            _ => out.push_str(MASK),
        }
    }
    out
}

/// A text with the words that look like secrets left out.
pub(crate) fn words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // The name in front of `=` or `:`, which says what the next word is.
    let mut named = false;
    while !rest.is_empty() {
        let end = rest.find(is_border).unwrap_or(rest.len());
        if end == 0 {
            let width = rest.chars().next().map_or(1, char::len_utf8);
            let (border, after) = rest.split_at_checked(width).unwrap_or((rest, ""));
            if !matches!(border, "=" | ":" | " " | "\"" | "'") {
                named = false;
            }
            out.push_str(border);
            rest = after;
            continue;
        }
        let (word, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let in_braces = out.ends_with("{{");
        // A value of the environment that is masked already.
        let is_masked = word.starts_with('‹');
        let is_scheme = matches!(word, "Bearer" | "Basic" | "Token");
        if !in_braces
            && !is_masked
            && !is_scheme
            && (named || looks_secret(word) || is_userinfo(&out, word, after))
        {
            out.push_str(MASK);
            named = false;
        } else {
            out.push_str(word);
            let follows = after.trim_start();
            named = !in_braces
                && ((is_secret_name(word) && follows.starts_with(['=', ':'])) || is_scheme);
        }
        rest = after;
    }
    out
}

fn is_border(c: char) -> bool {
    c.is_whitespace() || "\"'`=:;,&?#/|{}()[]<>@\\".contains(c)
}

/// `user:password@` in a URL: the words between `//` and `@`.
fn is_userinfo(before: &str, word: &str, after: &str) -> bool {
    let in_authority = before.rfind("//").is_some_and(|at| {
        before
            .get(at + 2..)
            .is_some_and(|part| !part.contains(['/', '@', '?', ' ']))
    });
    let ends = after
        .find(['/', '?', '#', ' ', '"', '\''])
        .unwrap_or(after.len());
    let in_front = after.get(..ends).is_some_and(|part| part.contains('@'));
    in_authority && in_front && !word.is_empty()
}

/// Whether a word looks like a secret by itself.
fn looks_secret(word: &str) -> bool {
    const PREFIXES: [&str; 14] = [
        "sk-",
        "sk_",
        "pk_",
        "rk_",
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "github_pat_",
        "glpat-",
        "xox",
        "AKIA",
        "eyJ",
        "npm_",
    ];
    let prefixed = |prefix: &&str| word.starts_with(*prefix) && word.len() >= prefix.len() + 8;
    if PREFIXES.iter().any(prefixed) {
        return true;
    }
    // Long, and letters of both cases mixed with digits, or long hexadecimal.
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_+.~".contains(c);
    if word.len() < 20 || !word.chars().all(plain) {
        return false;
    }
    let has = |test: fn(&char) -> bool| word.chars().any(|c| test(&c));
    let mixed =
        has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase) && has(char::is_ascii_digit);
    let hex = word.len() >= 32 && word.chars().all(|c| c.is_ascii_hexdigit());
    mixed || hex
}

/// A whole file as it may be shown: secret values are replaced where they stand, and what looks
/// like a secret is left out of comments and of what does not parse as well.
pub fn file(source: &Source) -> String {
    let document = &source.document;
    let mut edits: Vec<(TextRange, String)> = Vec::new();
    for unit in source.units.iter() {
        let mut path = vec![&*unit.key.top];
        path.extend(unit.key.name.as_deref());
        collect(&unit.item.node, &mut path, &mut |node, shown| {
            edits.push((document.resolve(node.span), shown));
        });
    }
    edits.sort_by_key(|(range, _)| *range);
    let text = document.text();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (range, shown) in edits {
        if range.start < at {
            continue;
        }
        out.push_str(&words(TextRange::new(at, range.start).of(text)));
        out.push_str(&Value::String(shown).to_string());
        at = range.end;
    }
    out.push_str(&words(text.get(at as usize..).unwrap_or_default()));
    out
}

/// Calls `found` with every string that is not shown as it is, and what is shown.
fn collect<'a>(node: &'a Node, path: &mut Vec<&'a str>, found: &mut impl FnMut(&Node, String)) {
    match &node.kind {
        NodeKind::Table(table) => {
            for (name, item) in &table.items {
                path.push(name);
                collect(&item.node, path, found);
                path.pop();
            }
        }
        NodeKind::Array(array) => {
            let shown = value(path, &node_to_json(node));
            let shown = shown.as_array().map_or(&[][..], Vec::as_slice);
            for (at, element) in array.nodes.iter().enumerate() {
                // Elements without a value have no counterpart.
                let counterpart = shown.get(at).filter(|_| shown.len() == array.nodes.len());
                match (element.as_str(), counterpart) {
                    (Some(text), Some(Value::String(shown))) if shown != text => {
                        found(element, shown.clone());
                    }
                    _ => collect(element, path, found),
                }
            }
        }
        NodeKind::String(text) => {
            let shown = self::text(path, &text.value);
            if shown != *text.value {
                found(node, shown);
            }
        }
        _ => {}
    }
}

/// A stretch of a text as it may be shown.
pub(crate) fn slice(text: &str, range: TextRange) -> String {
    words(range.of(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_keeps_everything_but_its_secrets() {
        let text = "# token = \"abc\"\n[adapters.x]\nheaders = { A = \"b\" }\ncommand = [\"s\", \"--token\", \"abc\"]\nurl = \"http://h\" # fine\napi_key = \"abc\nmax_tokens = 5\n";
        assert_eq!(
            file(&Source::parse(text)),
            text.replace("abc", MASK).replace("\"b\"", "\"‹hidden›\"")
        );
    }

    #[test]
    fn places_and_looks_decide() {
        let shown = |path: &[&str], text: &str| self::text(path, text);
        let x = |rest: &[&'static str]| [&["adapters", "x"], rest].concat();
        assert_eq!(shown(&x(&["headers", "X-A"]), "Bearer abc"), MASK);
        assert_eq!(
            shown(&x(&["headers", "Authorization"]), "Bearer {{env.T}}"),
            "‹hidden›{{env.T}}"
        );
        assert_eq!(shown(&x(&["env", "A"]), "{{env.T|default:abc}}"), MASK);
        assert_eq!(shown(&x(&["when", "env"]), "MY_TOKEN"), "MY_TOKEN");
        assert_eq!(
            shown(
                &x(&["url"]),
                "https://me:pw@h.example/a?key=abc&q={{query}}"
            ),
            "https://‹hidden›:‹hidden›@h.example/a?key=‹hidden›&q={{query}}"
        );
        assert_eq!(
            shown(&x(&["url"]), "http://h/?key={{env.KEY}}"),
            "http://h/?key={{env.KEY}}"
        );
        assert_eq!(shown(&x(&["vars", "api_key"]), "abc"), MASK);
        assert_eq!(words("use sk-abcdefghijkl now"), "use ‹hidden› now");
        assert_eq!(
            value(&x(&["command"]), &json!(["srv", "--token", "abc", "-v"])),
            json!(["srv", "--token", "‹hidden›", "-v"])
        );
    }
}
