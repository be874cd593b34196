//! Control characters in what looks like a path: backslashes that were meant literally.

use kontext_config::codes::Code;
use kontext_config::schema::{Shape, StringKind};
use kontext_syntax::toml::StringForm;

use super::super::check::Check;
use super::command;
use super::written::Written;

/// Reports a path with control characters, once.
pub(super) fn check(check: &mut Check<'_>, kind: StringKind, written: &Written<'_>) {
    let value = written.value;
    if !value.chars().any(char::is_control) || !looks_like_path(check, kind, written) {
        return;
    }
    let whole = written.whole;
    let source = check.source(whole);
    let literal = literal_form(source, written.form);
    let mut shown: Vec<String> = Vec::new();
    for c in value.chars().filter(|c| c.is_control()) {
        let escape = escaped(c);
        if !shown.contains(&escape) && shown.len() < 4 {
            shown.push(escape);
        }
    }
    let shown = shown.join("`, `");
    let message = match &literal {
        Some(literal) => format!(
            "`{shown}` in this path is a control character, so it names no file; write it in single quotes: {}",
            literal
                .escape_debug()
                .to_string()
                .replace("\\\\", "\\")
                .replace("\\'", "'")
        ),
        None => format!(
            "`{shown}` in this path is a control character, so it names no file; take it out, or write the path in single quotes '…'"
        ),
    };
    let finding = check.report(Code::ControlCharacter, whole, message);
    if let Some(literal) = literal {
        finding.fix("Write the path in single quotes", vec![(whole, literal)]);
    }
}

fn looks_like_path(check: &Check<'_>, kind: StringKind, written: &Written<'_>) -> bool {
    let value = written.value;
    match kind {
        StringKind::Program
        | StringKind::FilePath
        | StringKind::Template {
            shape: Shape::Path, ..
        } => true,
        StringKind::Template {
            shape: Shape::Argument,
            ..
        } => is_windows_path(value) || command::is_program(check, written.whole),
        StringKind::Template { .. } | StringKind::Plain => is_windows_path(value),
        _ => false,
    }
}

/// Whether a text begins like `C:\` once control characters are read as escapes again.
fn is_windows_path(value: &str) -> bool {
    let mut chars = value.chars();
    let drive = chars.next().is_some_and(|c| c.is_ascii_alphabetic());
    let colon = chars.next() == Some(':');
    let next = chars.next();
    let rest = value.get(2..).unwrap_or("");
    drive
        && colon
        && next.is_some_and(|c| c == '\\' || c.is_control())
        && !rest.trim_matches(char::is_control).is_empty()
}

fn escaped(c: char) -> String {
    match c {
        '\t' => "\\t".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\u{8}' => "\\b".to_owned(),
        '\u{c}' => "\\f".to_owned(),
        '\u{1b}' => "\\e".to_owned(),
        c => format!("\\x{:02X}", u32::from(c)),
    }
}

/// The string as it was written, in single quotes; `None` where that cannot be.
fn literal_form(source: &str, form: Option<StringForm>) -> Option<String> {
    if form != Some(StringForm::Basic) {
        return None;
    }
    let inner = source.strip_prefix('"')?.strip_suffix('"')?;
    let plain = inner.replace("\\\\", "\\").replace("\\\"", "\"");
    let fits = !plain.contains('\'') && !plain.chars().any(char::is_control);
    fits.then(|| format!("'{plain}'"))
}
