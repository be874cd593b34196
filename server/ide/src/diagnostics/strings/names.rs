//! Names with a syntax of their own: variables, headers, ops, tools, adapters, codes.

use kontext_config::codes::Code;
use kontext_config::schema::{Driver, nearest};
use kontext_syntax::template::Template;
use kontext_syntax::toml::{Item, Node, NodeKind, Span, StringForm, write};

use super::super::check::Check;
use super::super::context::field;
use super::expr::shown;
use super::written::{Written, range, texts};
use super::{not_a_template, plain};

/// The most characters a tool name has.
const MAX_TOOL_NAME: usize = 64;

/// Whether a character may stand in names of tools and ops.
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// The name of an environment variable. Only what cannot be one is reported: systems take almost
/// any character. `form` is `None` for keys.
pub(super) fn env(check: &mut Check<'_>, name: &str, span: Span, form: Option<StringForm>) {
    let inner = meant_env(name);
    let wrong = name.is_empty()
        || name.contains(['=', '\0'])
        || name.chars().any(char::is_whitespace)
        || inner.is_some();
    if !wrong {
        return;
    }
    let meant = inner.or_else(|| {
        let before = name.split('=').next().unwrap_or("").trim();
        let sound = !before.is_empty() && before.chars().all(|c| is_word(c) && c != '-');
        (sound && before != name).then(|| before.to_owned())
    });
    let message = match &meant {
        Some(meant) => {
            format!("an environment variable is named here by its bare name; write `{meant}`")
        }
        None if name.is_empty() => {
            "the name of an environment variable is missing; write one".to_owned()
        }
        None => "no environment variable can have this name; write letters, digits and `_` only"
            .to_owned(),
    };
    let finding = check.report(Code::InvalidEnvName, span, message);
    if let Some(meant) = meant {
        let text = if form.is_some() {
            format!("\"{meant}\"")
        } else {
            meant.clone()
        };
        finding.fix(format!("Change to `{meant}`"), vec![(span, text)]);
    }
}

/// The name inside `$NAME`, `${NAME}`, `{{env.NAME}}` and `%NAME%`.
fn meant_env(name: &str) -> Option<String> {
    let inner = name
        .strip_prefix("{{")
        .and_then(|rest| rest.strip_suffix("}}"))
        .or_else(|| {
            name.strip_prefix("${")
                .and_then(|rest| rest.strip_suffix('}'))
        })
        .or_else(|| name.strip_prefix('$'))
        .or_else(|| {
            name.strip_prefix('%')
                .and_then(|rest| rest.strip_suffix('%'))
        })?;
    let inner = inner.trim();
    let inner = inner
        .strip_prefix("env.")
        .or_else(|| inner.strip_prefix("env:"))
        .unwrap_or(inner);
    let sound = !inner.is_empty() && inner.chars().all(|c| is_word(c) && c != '-');
    sound.then(|| inner.to_owned())
}

/// The name of a header.
pub(super) fn header(check: &mut Check<'_>, name: &str, item: &Item) {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if !name.is_empty() && name.chars().all(token) {
        return;
    }
    let message = if name.is_empty() {
        "the name of this header is missing; write one".to_owned()
    } else {
        format!(
            "`{}` cannot be the name of a header; write letters, digits and `-` only",
            shown(name)
        )
    };
    let fixed = name.trim().trim_end_matches(':').replace([' ', '\t'], "-");
    let finding = check.report(Code::InvalidHeader, item.key(), message);
    if let [key] = item.keys.as_slice()
        && !fixed.is_empty()
        && fixed.chars().all(is_word)
    {
        finding.fix(format!("Change to `{fixed}`"), vec![(*key, fixed)]);
    }
}

/// The value of a header: what is written there may hold no line break.
pub(super) fn header_value(check: &mut Check<'_>, written: &Written<'_>, template: &Template) {
    for (at, text) in texts(written, template) {
        let forbidden = |c: char| c.is_control() && c != '\t';
        let Some(start) = text.find(forbidden) else {
            continue;
        };
        let rest = text.get(start..).unwrap_or("");
        let len = rest.find(|c: char| !forbidden(c)).unwrap_or(rest.len());
        let span = written.span(range(start, start + len).shifted(at.start));
        let message =
            "a header holds no line break or other control character; take it out".to_owned();
        check.report(Code::InvalidHeader, span, message);
        return;
    }
}

/// The name of an op, as a key.
pub(super) fn op(check: &mut Check<'_>, name: &str, item: &Item) {
    if !name.is_empty() && name.chars().all(is_word) {
        return;
    }
    let message = format!(
        "`{}` is awkward as the name of an op; use letters, digits, `_` and `-`, and rename it where `on` and `tools` name it too",
        shown(name)
    );
    check.report(Code::InvalidOpName, item.key(), message);
}

/// The name of a declared tool.
pub(super) fn tool(check: &mut Check<'_>, written: &Written<'_>) {
    let name = written.value;
    let length = name.chars().count();
    if (1..=MAX_TOOL_NAME).contains(&length) && name.chars().all(is_word) {
        return;
    }
    let message = if name.is_empty() {
        "a tool needs a name of 1 to 64 letters, digits, `_` and `-`".to_owned()
    } else if length > MAX_TOOL_NAME && name.chars().all(is_word) {
        format!(
            "a tool name has at most {MAX_TOOL_NAME} characters, this one has {length}; shorten it"
        )
    } else {
        "a tool name has letters, digits, `_` and `-` only; other characters are replaced when it is published"
            .to_owned()
    };
    let fixed: String = published(name).chars().take(MAX_TOOL_NAME).collect();
    let whole = written.whole;
    let finding = check.report(Code::InvalidToolName, whole, message);
    if !fixed.is_empty() {
        finding.fix(
            format!("Change to `{fixed}`"),
            vec![(whole, format!("\"{fixed}\""))],
        );
    }
}

/// A prefix that is given.
pub(super) fn prefix(check: &mut Check<'_>, written: &Written<'_>) {
    if written.value.chars().all(is_word) && written.value.len() < MAX_TOOL_NAME {
        return;
    }
    let message =
        "tool names have letters, digits, `_` and `-` only, at most 64; choose a prefix that fits";
    let fixed: String = published(written.value).chars().take(32).collect();
    let whole = written.whole;
    check.report(Code::PrefixNotToolName, whole, message).fix(
        format!("Change to `{fixed}`"),
        vec![(whole, format!("\"{fixed}\""))],
    );
}

/// What a name becomes when it is published.
fn published(name: &str) -> String {
    name.chars()
        .map(|c| if is_word(c) { c } else { '_' })
        .collect()
}

/// The name of an adapter where it becomes the prefix of re-published tools.
pub(super) fn default_prefix<'a>(check: &mut Check<'a>, name: &str, item: &'a Item) {
    if name.chars().all(is_word) || check.driver.is_some_and(|driver| driver != Driver::Mcp) {
        return;
    }
    let publishes = |node: &Node| match &node.kind {
        NodeKind::String(text) => &*text.value == "all",
        NodeKind::Boolean(all) => *all,
        NodeKind::Array(list) => !list.nodes.is_empty(),
        _ => false,
    };
    let own = &item.node;
    let peers = check.context.peers.iter().map(|peer| &peer.unit.item.node);
    let has_prefix = std::iter::once(own)
        .chain(peers)
        .any(|node| field(node, "prefix").is_some());
    if has_prefix || !field(own, "expose").is_some_and(publishes) {
        return;
    }
    let fitting = format!("{}_", published(name).trim_matches('_').to_lowercase());
    let message = format!(
        "re-published tools are named after the adapter, and tool names have letters, digits, `_` and `-` only; set `prefix = \"{fitting}\"`"
    );
    let at = field(own, "expose").map(|node| node.span);
    let is_own_line = at.is_some_and(|at| {
        let document = check.context.document;
        let end = document.resolve(at).end as usize;
        let rest = document.text().get(end..).unwrap_or("");
        rest.is_empty() || rest.starts_with(['\n', '\r'])
    });
    let own_table = own
        .as_table()
        .is_some_and(|table| table.form == kontext_syntax::toml::TableForm::Header);
    let finding = check.report(Code::PrefixNotToolName, item.key(), message);
    if let Some(at) = at
        && is_own_line
        && own_table
    {
        let behind = Span {
            start: at.end,
            ..at
        };
        finding.fix(
            format!("Add `prefix = \"{fitting}\"`"),
            vec![(behind, format!("\nprefix = \"{fitting}\""))],
        );
    }
}

/// The name of an adapter in a setting.
pub(super) fn adapter_reference(check: &mut Check<'_>, written: &Written<'_>) {
    let context = check.context;
    if context.adapters.contains(written.value) {
        return;
    }
    if not_a_template(check, written, None) {
        return;
    }
    let near = nearest(written.value, context.adapters.iter().map(String::as_str));
    let hint = near.map_or_else(
        || "correct it, or define the adapter".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    let message = format!(
        "no layer defines an adapter `{}`; {hint}",
        shown(written.value)
    );
    let whole = written.whole;
    let finding = check.report(Code::UnknownAdapter, whole, message);
    if let Some(near) = near {
        let quoted = write::string(near);
        finding.fix(format!("Change to `{near}`"), vec![(whole, quoted)]);
    }
}

/// What the URIs begin with that an adapter reads.
pub(super) fn uri_prefix(check: &mut Check<'_>, written: &Written<'_>) {
    if written.value.is_empty() {
        let message = "every URI begins with the empty text, so this adapter is asked for all that no other one owns; write what its own begin with";
        check.report(Code::OwnsEverything, written.whole, message);
    }
    plain(check, written);
}

/// A language tag.
pub(super) fn locale(check: &mut Check<'_>, written: &Written<'_>) {
    let mut parts = written.value.split(['-', '_']);
    let language = parts.next().unwrap_or("");
    let sound = (2..=8).contains(&language.len())
        && language.chars().all(|c| c.is_ascii_alphabetic())
        && parts.all(|part| {
            (1..=8).contains(&part.len()) && part.chars().all(|c| c.is_ascii_alphanumeric())
        });
    if !sound {
        let message = "`locale` must be a language tag such as `\"en\"` or `\"sk-SK\"`";
        check.report(Code::InvalidValue, written.whole, message);
    }
    plain(check, written);
}

/// The code of a diagnostic, as a key.
pub(super) fn code(check: &mut Check<'_>, name: &str, item: &Item) {
    if Code::parse(name).is_some() {
        return;
    }
    let near = nearest(name, Code::ALL.iter().map(|code| code.id()));
    let hint = near.map_or_else(
        || "correct it or remove it".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    let message = format!("there is no diagnostic `{}`; {hint}", shown(name));
    let finding = check.report(Code::UnknownKey, item.key(), message);
    if let Some(near) = near {
        let edits = item
            .keys
            .iter()
            .map(|span| (*span, near.to_owned()))
            .collect();
        finding.fix(format!("Change to `{near}`"), edits);
    }
}
