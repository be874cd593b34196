//! What strings hold: templates, paths, patterns, URLs, names.

mod command;
mod control;
mod cycles;
mod expr;
mod names;
mod path;
pub(crate) mod placeholder;
pub(crate) mod secret;
mod template;
mod url;
mod written;

use kontext_config::codes::Code;
use kontext_config::schema::{KeyKind, Place, Shape, StringKind};
use kontext_syntax::template::{Head, Template};
use kontext_syntax::toml::{Item, Span, Text};

use super::check::Check;
use written::Use;
use written::Written;

/// Checks a string value against what it holds. `span` is the whole value, quotes included.
pub(super) fn value<'a>(check: &mut Check<'a>, kind: StringKind, text: &'a Text, span: Span) {
    if is_foreign(check) {
        return;
    }
    let written = Written::of_value(text, span);
    control::check(check, kind, &written);
    match kind {
        StringKind::Template { place, shape } => {
            let template = Template::parse(written.value);
            let used = Use {
                place,
                shape,
                is_key: false,
            };
            template::check(check, used, &written, &template);
        }
        StringKind::MapValue => path::map_value(check, &written),
        StringKind::ResultPath => path::result_path(check, &written),
        StringKind::Regex => {
            path::regex(check, &written, written.whole_range());
            plain(check, &written);
        }
        StringKind::EnvName => names::env(check, written.value, span, written.form),
        StringKind::AdapterName => names::adapter_reference(check, &written),
        StringKind::ToolName => names::tool(check, &written),
        StringKind::ToolPrefix => names::prefix(check, &written),
        StringKind::Locale => names::locale(check, &written),
        StringKind::UriPrefix => names::uri_prefix(check, &written),
        StringKind::Program | StringKind::FilePath => {
            placeholder::in_plain(check, &written);
            plain(check, &written);
        }
        StringKind::Plain
        | StringKind::OpName
        | StringKind::ServerTool
        | StringKind::ParamType
        | StringKind::EntryKind => plain(check, &written),
    }
}

/// Checks a key that the person chose.
pub(super) fn key<'a>(check: &mut Check<'a>, kind: KeyKind, name: &'a str, item: &'a Item) {
    match kind {
        KeyKind::AdapterName => names::default_prefix(check, name, item),
        KeyKind::OpName => names::op(check, name, item),
        KeyKind::EnvName => names::env(check, name, item.key(), None),
        KeyKind::HeaderName => names::header(check, name, item),
        KeyKind::Code => names::code(check, name, item),
        KeyKind::VarName => cycles::check(check, name),
        KeyKind::ResultPath => {
            let written = Written::of_key(name, item.key(), check.source(item.key()));
            path::result_path(check, &written);
        }
        KeyKind::ToolArgument if &*check.context.unit.key.top == "adapters" => {
            let written = Written::of_key(name, item.key(), check.source(item.key()));
            let template = Template::parse(name);
            let used = Use {
                place: Place::Op,
                shape: Shape::Json,
                is_key: true,
            };
            template::check(check, used, &written, &template);
        }
        KeyKind::ToolArgument
        | KeyKind::QueryParameter
        | KeyKind::ToolParameter
        | KeyKind::Free => {}
    }
}

/// Whether the string belongs to a table that is only carried along: another program reads it.
fn is_foreign(check: &Check<'_>) -> bool {
    let described = |name: &str| matches!(check.path.as_slice(), [only] if *only == name);
    match &*check.context.unit.key.top {
        "adapters" | "vars" | "companion" => false,
        "project" => !described("name"),
        "store" => !described("dir"),
        _ => true,
    }
}

/// A string in which nothing is rendered.
fn plain(check: &mut Check<'_>, written: &Written<'_>) {
    secret::in_plain(check, written);
    not_a_template(check, written, None);
}

/// Reports the first expression of a string that is no template; gives whether there is one.
/// `fix` is put in place of a range of the string to make it a template.
fn not_a_template(
    check: &mut Check<'_>,
    written: &Written<'_>,
    fix: Option<(Span, String)>,
) -> bool {
    if !written.value.contains("{{") {
        return false;
    }
    let template = Template::parse(written.value);
    let named = |head: &Head| match head {
        Head::Path(path) => path
            .key(0)
            .is_some_and(|key| key.starts_with(|c: char| c.is_alphabetic() || c == '_')),
        Head::Literal { .. } => true,
        Head::Missing(_) => false,
    };
    let Some(expr) = template.exprs().find(|expr| named(&expr.head)) else {
        return false;
    };
    let span = written.span(expr.range);
    let message = match &fix {
        Some(_) => "this is not a template, the braces stay as they are; put `tpl:` before it",
        None => "this field is not a template, the braces stay as they are; write the text itself",
    };
    let finding = check.report(Code::NotATemplate, span, message);
    if let Some(edit) = fix {
        finding.fix("Make it a template with `tpl:`", vec![edit]);
    }
    true
}
