//! JSON as some programs write it, with numbers that JSON does not know.

use memchr::memmem;
use serde_json::Value;

/// What stands where a value should, the longer before what it ends with.
const NO_NUMBERS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];

/// JSON, and nothing else beside it. `NaN` and `Infinity`, which Python writes unless it is told
/// not to, are read as null: a score that is missing costs less than an answer.
pub(super) fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| match mended(text) {
        Some(mended) => serde_json::from_str(&mended).map_err(|_| error),
        None => Err(error),
    })
}

/// The text with null for what is no number outside of strings; `None` where there is none.
fn mended(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    if memmem::find(bytes, b"NaN").is_none() && memmem::find(bytes, b"Infinity").is_none() {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['"', 'N', 'I', '-']) {
        let (before, from) = rest.split_at_checked(at)?;
        out.push_str(before);
        let word = NO_NUMBERS.iter().find_map(|word| from.strip_prefix(word));
        if let Some(behind) = word {
            out.push_str("null");
            rest = behind;
            continue;
        }
        let length = if from.starts_with('"') {
            string_length(from)?
        } else {
            1
        };
        let (kept, behind) = from.split_at_checked(length)?;
        out.push_str(kept);
        rest = behind;
    }
    out.push_str(rest);
    Some(out)
}

/// The bytes of the string a text begins with, quotes included.
fn string_length(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_null() {
        let cases = [
            (
                r#"{"a": NaN, "NaN": [-Infinity,Infinity,-1]}"#,
                r#"{"a":null,"NaN":[null,null,-1]}"#,
            ),
            (
                r#"["say \"NaN\"", "Infinity\\", NaN]"#,
                r#"["say \"NaN\"","Infinity\\",null]"#,
            ),
            ("NaN", "null"),
        ];
        for (text, expected) in cases {
            assert_eq!(
                parse(text).map(|it| it.to_string()).ok().as_deref(),
                Some(expected)
            );
        }
        for text in ["[NaN", "NaNa", "\"NaN", "[nan]", "[Infinity NaN]", ""] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
