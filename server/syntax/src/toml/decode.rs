//! Decoding of keys and scalars, with the place each decoded byte was written at.

use toml_parser::decoder::{Encoding, ScalarKind};
use toml_parser::{ParseError, Raw};

use super::FaultKind;
use super::tree::{StringForm, Text, ValueKind};
use crate::TextRange;

/// A fault of one scalar; the range is relative to the scalar.
pub(super) struct ScalarFault {
    pub(super) kind: FaultKind,
    pub(super) range: TextRange,
    pub(super) message: String,
}

/// The characters a bare key may have.
pub(super) fn is_bare_key(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

pub(super) fn string_form(encoding: Encoding) -> StringForm {
    match encoding {
        Encoding::BasicString => StringForm::Basic,
        Encoding::LiteralString => StringForm::Literal,
        Encoding::MlBasicString => StringForm::MultilineBasic,
        Encoding::MlLiteralString => StringForm::MultilineLiteral,
    }
}

/// Decodes a quoted string.
pub(super) fn string(raw: &str, encoding: Encoding) -> Result<Text, ScalarFault> {
    let form = string_form(encoding);
    let quote = form.quote_len() as usize;
    let closing = match form {
        StringForm::Basic => "\"",
        StringForm::Literal => "'",
        StringForm::MultilineBasic => "\"\"\"",
        StringForm::MultilineLiteral => "'''",
    };
    let inner = raw.get(quote..).and_then(|rest| rest.strip_suffix(closing));
    // `"\"` ends in a quote that is escaped: the decoder below is the judge of that.
    let Some(inner) = inner else {
        return Err(ScalarFault {
            kind: FaultKind::Syntax,
            range: range(0, raw.len()),
            message: format!("this string is not closed; end it with {closing}"),
        });
    };
    let straight = match form {
        StringForm::Basic => !inner
            .bytes()
            .any(|b| b == b'\\' || b < 0x20 && b != b'\t' || b == 0x7f),
        StringForm::Literal => !inner.bytes().any(|b| b < 0x20 && b != b'\t' || b == 0x7f),
        _ => false,
    };
    if straight {
        return Ok(Text {
            value: inner.into(),
            form,
            runs: None,
        });
    }
    let mut value = String::with_capacity(inner.len());
    let mut error: Option<ParseError> = None;
    let span = toml_parser::Span::new_unchecked(0, raw.len());
    let _ = Raw::new_unchecked(raw, Some(encoding), span).decode_scalar(&mut value, &mut error);
    if let Some(error) = error {
        return Err(string_fault(raw, form, &error));
    }
    let runs = runs(raw, form, value.len());
    Ok(Text {
        value: value.into(),
        form,
        runs,
    })
}

fn string_fault(raw: &str, form: StringForm, error: &ParseError) -> ScalarFault {
    let at = error
        .unexpected()
        .map_or(0, |span| span.start())
        .min(raw.len());
    let escape = form
        .has_escapes()
        .then(|| first_bad_escape(raw, form))
        .flatten();
    if let Some(found) = escape {
        let text = found.of(raw).escape_debug().to_string();
        return ScalarFault {
            kind: FaultKind::InvalidEscape,
            range: found,
            message: format!(
                "`{}` is not an escape that TOML knows; for a backslash write '…' (a literal string) or double it: \\\\",
                text.replace("\\\\", "\\")
            ),
        };
    }
    let end = raw
        .get(at..)
        .and_then(|rest| rest.chars().next())
        .map_or(raw.len(), |c| at + c.len_utf8());
    let shown = raw.get(at..end).unwrap_or("").escape_debug().to_string();
    ScalarFault {
        kind: FaultKind::Syntax,
        range: if at < end {
            range(at, end)
        } else {
            range(0, raw.len())
        },
        message: if shown.is_empty() {
            "this string is not closed; add its closing quote".to_owned()
        } else {
            format!("the character `{shown}` may not stand in this string; write it as an escape")
        },
    }
}

/// The first escape TOML 1.1 does not know.
fn first_bad_escape(raw: &str, form: StringForm) -> Option<TextRange> {
    let bytes = raw.as_bytes();
    let mut at = form.quote_len() as usize;
    while let Some(found) = memchr::memchr(b'\\', bytes.get(at..)?) {
        let start = at + found;
        let kind = *bytes.get(start + 1)?;
        let hex = |n: usize| {
            let digits = raw.get(start + 2..start + 2 + n)?;
            let value = u32::from_str_radix(digits, 16).ok()?;
            (digits.bytes().all(|b| b.is_ascii_hexdigit()) && char::from_u32(value).is_some())
                .then_some(n)
        };
        let len = match kind {
            b'b' | b't' | b'n' | b'f' | b'r' | b'e' | b'"' | b'\\' => Some(0),
            b'x' => hex(2),
            b'u' => hex(4),
            b'U' => hex(8),
            b' ' | b'\t' | b'\n' | b'\r' if form == StringForm::MultilineBasic => Some(0),
            _ => None,
        };
        match len {
            Some(extra) => at = start + 2 + extra,
            None => {
                let width = raw
                    .get(start + 1..)
                    .and_then(|r| r.chars().next())
                    .map_or(0, char::len_utf8);
                return Some(range(start, start + 1 + width));
            }
        }
    }
    None
}

/// Where straight runs of decoded text begin: the decoded text never says how it was written, so
/// the source is walked once more. `decoded_len` is the judge: where the walk does not add up, one
/// run stands for all.
fn runs(raw: &str, form: StringForm, decoded_len: usize) -> Option<Box<[(u32, u32)]>> {
    let bytes = raw.as_bytes();
    let end = raw.len().saturating_sub(form.quote_len() as usize);
    let mut at = form.quote_len() as usize;
    if form.quote_len() == 3 {
        // The line break right behind the opening quotes is not part of the text.
        at += match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b'\n'), _) => 1,
            (Some(b'\r'), Some(b'\n')) => 2,
            _ => 0,
        };
    }
    let mut decoded = 0usize;
    let mut runs = vec![(0u32, offset(at))];
    if form.has_escapes() {
        while let Some(found) = bytes
            .get(at..end)
            .and_then(|rest| memchr::memchr(b'\\', rest))
        {
            decoded += found;
            let start = at + found;
            let kind = bytes.get(start + 1).copied().unwrap_or(0);
            let (written, gives) = match kind {
                b'x' => hex_len(raw, start, 2),
                b'u' => hex_len(raw, start, 4),
                b'U' => hex_len(raw, start, 8),
                b' ' | b'\t' | b'\n' | b'\r' => {
                    let rest = bytes.get(start + 1..end).unwrap_or_default();
                    let blank = rest
                        .iter()
                        .take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r'))
                        .count();
                    (1 + blank, 0)
                }
                _ => (2, 1),
            };
            runs.push((offset(decoded), offset(start)));
            decoded += gives;
            at = start + written;
            runs.push((offset(decoded), offset(at)));
        }
    }
    decoded += end.saturating_sub(at);
    if decoded != decoded_len {
        return None;
    }
    // Of several runs that begin at one decoded offset the last is the one that goes on.
    runs.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 = next.1;
        }
        same
    });
    Some(runs.into())
}

fn hex_len(raw: &str, start: usize, digits: usize) -> (usize, usize) {
    let value = raw
        .get(start + 2..start + 2 + digits)
        .and_then(|d| u32::from_str_radix(d, 16).ok());
    (
        2 + digits,
        value.and_then(char::from_u32).map_or(0, char::len_utf8),
    )
}

/// Decodes a value without quotes: a number, a boolean, a date.
pub(super) fn bare(raw: &str) -> Result<ValueKind, ScalarFault> {
    match raw {
        "true" => return Ok(ValueKind::Boolean(true)),
        "false" => return Ok(ValueKind::Boolean(false)),
        _ => {}
    }
    if let Some(number) = plain_integer(raw) {
        return Ok(ValueKind::Integer(number));
    }
    let fault = |message: String| {
        Err(ScalarFault {
            kind: FaultKind::Syntax,
            range: range(0, raw.len()),
            message,
        })
    };
    let mut value = String::new();
    let mut error: Option<ParseError> = None;
    let span = toml_parser::Span::new_unchecked(0, raw.len());
    let kind = Raw::new_unchecked(raw, None, span).decode_scalar(&mut value, &mut error);
    let shown = || shorten(raw);
    if error.is_some() {
        let first = raw.bytes().next().unwrap_or(0);
        let number = first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.');
        let lower = raw.to_ascii_lowercase();
        return fault(if lower == "true" || lower == "false" {
            format!("a boolean is written in lower case: {lower}")
        } else if is_word(raw) {
            format!("`{raw}` is not a TOML value; put text in quotes: \"{raw}\"")
        } else if number {
            "this is neither a number nor a date; put text in quotes".to_owned()
        } else {
            "this is not a TOML value; put text in quotes".to_owned()
        });
    }
    match kind {
        ScalarKind::Boolean(value) => Ok(ValueKind::Boolean(value)),
        ScalarKind::Integer(radix) => match i64::from_str_radix(&value, radix.value()) {
            Ok(number) => Ok(ValueKind::Integer(number)),
            Err(_) => fault(format!(
                "`{}` does not fit a 64-bit integer; put it in quotes",
                shown()
            )),
        },
        ScalarKind::Float => match value.parse() {
            Ok(number) => Ok(ValueKind::Float(number)),
            Err(_) => fault(format!("`{}` is not a number", shown())),
        },
        ScalarKind::DateTime => match value.parse::<toml_datetime::Datetime>() {
            Ok(_) => Ok(ValueKind::DateTime(value.into())),
            Err(_) => fault(format!("`{}` is not a date or time that exists", shown())),
        },
        ScalarKind::String => fault("this is not a TOML value; put text in quotes".to_owned()),
    }
}

/// Whether a text may be repeated in a message: a plain word. Anything else may be a secret whose
/// quotes were forgotten.
fn is_word(raw: &str) -> bool {
    raw.len() <= 20
        && raw
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b == b'-' || b == b'_')
}

/// The common case: digits alone, not so many that they could be too large, no leading zero.
fn plain_integer(raw: &str) -> Option<i64> {
    let digits = raw.bytes().all(|b| b.is_ascii_digit());
    let plain = digits && raw.len() <= 18 && (raw.len() == 1 || !raw.starts_with('0'));
    plain.then(|| raw.parse().ok()).flatten()
}

/// At most 40 characters of the first line, control characters shown as escapes. Of the first line
/// only: what a block says may not depend on lines it does not own.
pub(super) fn shorten(text: &str) -> String {
    let text = text.split(['\r', '\n']).next().unwrap_or(text);
    let mut shown: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    shown = shown
        .replace("\\\"", "\"")
        .replace("\\'", "'")
        .replace("\\\\", "\\");
    if text.chars().nth(40).is_some() {
        shown.push('…');
    }
    shown
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

pub(super) fn range(start: usize, end: usize) -> TextRange {
    TextRange::new(offset(start), offset(end))
}
