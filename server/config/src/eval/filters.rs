use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Number, Value};

use super::value::{join, text_of};

/// A filter a template can use.
#[derive(Clone, Copy, Debug)]
pub struct FilterSpec {
    /// The name, as written behind `|`.
    pub name: &'static str,
    /// What may follow the `:`.
    pub arg: ArgKind,
    /// One sentence.
    pub doc: &'static str,
    /// An expression and what becomes of it.
    pub example: &'static str,
    run: fn(&Value, Option<Argument<'_>>) -> Value,
}

/// What a filter takes behind its `:`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgKind {
    /// Nothing.
    None,
    /// A text; the default where it may be left out.
    Separator(Option<&'static str>),
    /// A number of characters; the default where it is left out or is no number.
    Count(usize),
    /// A literal: integer, decimal, `true`, `false`, else text. Quoted it is text.
    Literal,
}

type Argument<'a> = (&'a str, bool);

const TRUNCATE: usize = 200;
const SLUG: usize = 80;
/// All but the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// All filters: the one table for evaluation, diagnostics, completion and the reference.
pub const FILTERS: &[FilterSpec] = &[
    FilterSpec {
        name: "urlencode",
        arg: ArgKind::None,
        doc: "Percent-encodes everything but letters, digits and `-._~`.",
        example: "{{query|urlencode}}: `red panda` → `red%20panda`",
        run: |value, _| text(utf8_percent_encode(&text_of(value), RESERVED).to_string()),
    },
    FilterSpec {
        name: "json",
        arg: ArgKind::None,
        doc: "Writes the value as compact JSON; a missing one is `null`.",
        example: "{{query|json}}: `red` → `\"red\"`",
        run: |value, _| text(value.to_string()),
    },
    FilterSpec {
        name: "lower",
        arg: ArgKind::None,
        doc: "Makes all letters small.",
        example: "{{query|lower}}: `Red` → `red`",
        run: |value, _| text(text_of(value).to_lowercase()),
    },
    FilterSpec {
        name: "upper",
        arg: ArgKind::None,
        doc: "Makes all letters capital.",
        example: "{{query|upper}}: `Red` → `RED`",
        run: |value, _| text(text_of(value).to_uppercase()),
    },
    FilterSpec {
        name: "trim",
        arg: ArgKind::None,
        doc: "Drops blanks and line breaks at both ends.",
        example: "{{query|trim}}: ` red ` → `red`",
        run: |value, _| text(text_of(value).trim().to_owned()),
    },
    FilterSpec {
        name: "slug",
        arg: ArgKind::None,
        doc: "Small letters and digits with `-` between the words, at most 80 characters.",
        example: "{{query|slug}}: `Red Panda & Co` → `red-panda-co`",
        run: |value, _| text(slug(&text_of(value))),
    },
    FilterSpec {
        name: "first_line",
        arg: ArgKind::None,
        doc: "Keeps the first line.",
        example: "{{body|first_line}}",
        run: |value, _| text(text_of(value).lines().next().unwrap_or_default().to_owned()),
    },
    FilterSpec {
        name: "join",
        arg: ArgKind::Separator(Some(",")),
        doc: "Joins the elements of a list; anything else stays as it is.",
        example: "{{tags|join:', '}}: zoo, bamboo",
        run: |value, arg| match value {
            Value::Array(list) => text(join(list, arg.map_or(",", |(text, _)| text))),
            other => other.clone(),
        },
    },
    FilterSpec {
        name: "truncate",
        arg: ArgKind::Count(TRUNCATE),
        doc: "Cuts to that many characters, the ellipsis included.",
        example: "{{query|truncate:5}}: `red panda` → `red …`",
        run: |value, arg| {
            let most = arg
                .and_then(|(text, _)| text.trim().parse().ok())
                .unwrap_or(TRUNCATE);
            text(truncate(&text_of(value), most))
        },
    },
    FilterSpec {
        name: "after",
        arg: ArgKind::Separator(None),
        doc: "Keeps what follows the first separator; everything where there is none.",
        example: "{{uri|after:://}}: `zoo://pens/9` → `pens/9`",
        run: |value, arg| cut(value, arg, |(_, after)| after),
    },
    FilterSpec {
        name: "before",
        arg: ArgKind::Separator(None),
        doc: "Keeps what stands before the first separator; everything where there is none.",
        example: "{{uri|before:#}}: `pens/9#diet` → `pens/9`",
        run: |value, arg| cut(value, arg, |(before, _)| before),
    },
    FilterSpec {
        name: "default",
        arg: ArgKind::Literal,
        doc: "Stands in for a missing value, an empty text and an empty list.",
        example: "{{limit|default:10}}",
        run: |value, arg| {
            if is_blank(value) {
                literal(arg.unwrap_or_default())
            } else {
                value.clone()
            }
        },
    },
    FilterSpec {
        name: "int",
        arg: ArgKind::None,
        doc: "Makes an integer of a number or a text; what is none becomes missing.",
        example: "{{args.line|int}}: `\"12\"` → `12`",
        run: |value, _| int(value),
    },
];

/// The filter of this name.
pub fn filter(name: &str) -> Option<&'static FilterSpec> {
    FILTERS.iter().find(|filter| filter.name == name)
}

/// Apply a filter by name; `arg` is its text and whether it was quoted. An unknown filter leaves
/// the value as it is, and null stays null except for `default` and `json`.
pub fn apply(name: &str, arg: Option<(&str, bool)>, value: Value) -> Value {
    match filter(name) {
        Some(spec) if !value.is_null() || matches!(name, "default" | "json") => {
            (spec.run)(&value, arg)
        }
        _ => value,
    }
}

/// What `default` stands in for.
pub(super) fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}

fn text(text: String) -> Value {
    Value::String(text)
}

fn cut(
    value: &Value,
    arg: Option<Argument<'_>>,
    side: for<'a> fn((&'a str, &'a str)) -> &'a str,
) -> Value {
    let whole = text_of(value);
    let separator = arg.map_or("", |(text, _)| text);
    // An empty separator stands nowhere.
    let parts = if separator.is_empty() {
        None
    } else {
        whole.split_once(separator)
    };
    text(parts.map_or(whole.as_ref(), side).to_owned())
}

fn slug(source: &str) -> String {
    let mut slug = String::new();
    let mut length = 0;
    for c in source.chars().flat_map(char::to_lowercase) {
        if length == SLUG {
            break;
        }
        if c.is_alphanumeric() {
            slug.push(c);
        } else if slug.is_empty() || slug.ends_with('-') {
            continue;
        } else {
            slug.push('-');
        }
        length += 1;
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

fn truncate(source: &str, most: usize) -> String {
    if most == 0 {
        return String::new();
    }
    if source.chars().nth(most).is_none() {
        return source.to_owned();
    }
    source
        .chars()
        .take(most - 1)
        .chain(std::iter::once('…'))
        .collect()
}

/// The typed literal of `default`. A number with leading zeros is a text: as a number it would
/// lose them.
fn literal((source, quoted): Argument<'_>) -> Value {
    if quoted {
        return text(source.to_owned());
    }
    match source.trim() {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        trimmed => number(trimmed).map_or_else(|| text(source.to_owned()), Value::Number),
    }
}

/// An integer or a decimal without exponent, with all its digits.
fn number(source: &str) -> Option<Number> {
    let plain = source
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'.'));
    if plain {
        serde_json::from_str(source).ok()
    } else {
        None
    }
}

/// Digits are kept; a decimal loses what follows its point.
fn int(value: &Value) -> Value {
    let source = text_of(value);
    let source = source.trim();
    let unsigned = source.strip_prefix('+').unwrap_or(source);
    let whole = unsigned
        .split_once('.')
        .map_or(unsigned, |(whole, fraction)| {
            if fraction.bytes().all(|b| b.is_ascii_digit()) {
                whole
            } else {
                unsigned
            }
        });
    let (sign, digits) = whole
        .strip_prefix('-')
        .map_or(("", whole), |digits| ("-", digits));
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return exponent(source);
    }
    let digits = digits.trim_start_matches('0');
    let written = if digits.is_empty() {
        "0".to_owned()
    } else {
        format!("{sign}{digits}")
    };
    number(&written).map_or(Value::Null, Value::Number)
}

/// `1e3`, where it is an integer that a double holds exactly.
fn exponent(source: &str) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match source.parse::<f64>() {
        Ok(number) if number.abs() < EXACT => {
            #[expect(clippy::cast_possible_truncation, reason = "below 2^53 it is exact")]
            let whole = number.trunc() as i64;
            Value::from(whole)
        }
        _ => Value::Null,
    }
}
