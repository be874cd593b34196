//! Parameters in words. Names and values in a schema are a stranger's: they are clipped and kept
//! to one line.

use kontext_syntax::text::quoted;

use super::shape::{Kind, Shape};

/// How many values or names are listed.
const LISTED: usize = 8;

/// A text on one line, at most so many characters long.
pub(super) fn clip(text: &str, longest: usize) -> String {
    let mut clipped = String::new();
    for (at, letter) in text.chars().enumerate() {
        if at == longest {
            clipped.push('…');
            break;
        }
        clipped.push(if letter.is_control() { ' ' } else { letter });
    }
    clipped
}

/// What a parameter takes: `one of "code", "issues"`, `string or integer`, `object with `query``.
pub(super) fn takes(shape: &Shape) -> String {
    if let Some(options) = &shape.options {
        let one = options.len() == 1;
        let options = options.iter().filter(|option| !option.is_null());
        let options = options.map(|option| clip(&option.to_string(), 60));
        return match listed(options) {
            list if list.is_empty() => "nothing".to_owned(),
            list if one => format!("only {list}"),
            list => format!("one of {list}"),
        };
    }
    if shape.is_untyped() {
        return "any value".to_owned();
    }
    let kinds: Vec<_> = shape
        .kinds()
        .filter(|kind| *kind != Kind::Null)
        .map(|kind| of_kind(kind, shape))
        .collect();
    match kinds.as_slice() {
        [] if shape.allows(Kind::Null) => "null".to_owned(),
        [] => "nothing".to_owned(),
        _ => kinds.join(" or "),
    }
}

fn of_kind(kind: Kind, shape: &Shape) -> String {
    match kind {
        Kind::String => match (&shape.format, &shape.pattern) {
            (Some(format), _) => format!("string of the format {}", quoted(format)),
            (None, Some(pattern)) => format!("string that matches {}", quoted(pattern)),
            (None, None) => "string".to_owned(),
        },
        Kind::Array => match &shape.items {
            Some(items) if !items.is_untyped() => format!("array of {}", takes(items)),
            _ => "array".to_owned(),
        },
        Kind::Object if !shape.fields.params.is_empty() => {
            let names = shape.fields.params.iter().map(|param| quoted(&param.name));
            format!("object with {}", listed(names))
        }
        kind => kind.name().to_owned(),
    }
}

fn listed(mut words: impl Iterator<Item = String>) -> String {
    let mut list: Vec<_> = words.by_ref().take(LISTED).collect();
    if words.next().is_some() {
        list.push("…".to_owned());
    }
    list.join(", ")
}
