//! JSON as it is pasted: with comments, with commas too many, or only a part of an object.

use serde_json::Value;

/// The value of a pasted text, and whether the text was only members of an object.
pub(super) fn parse(text: &str) -> Option<(Value, bool)> {
    let clean = cleaned(text);
    let clean = clean.trim().trim_end_matches(',').trim_end();
    if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(clean) {
        return Some((value, false));
    }
    // Members without the braces around them; a closing one too many is no harm.
    let mut members = clean;
    loop {
        if let Ok(value) = serde_json::from_str::<Value>(&format!("{{{members}}}")) {
            return Some((value, true));
        }
        members = members
            .strip_suffix('}')?
            .trim_end()
            .trim_end_matches(',')
            .trim_end();
    }
}

/// The text without comments, and without commas that nothing follows.
fn cleaned(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut in_string = false;
    while let Some(c) = chars.next() {
        if in_string {
            clean.push(c);
            match c {
                '\\' => clean.extend(chars.next()),
                '"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match c {
            '"' => {
                in_string = true;
                clean.push(c);
            }
            '/' if chars.peek() == Some(&'/') => {
                while chars.peek().is_some_and(|c| *c != '\n') {
                    chars.next();
                }
            }
            '/' if chars.peek() == Some(&'*') => {
                chars.next();
                let mut last = ' ';
                for c in chars.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
                clean.push(' ');
            }
            '}' | ']' => {
                let kept = clean.trim_end().trim_end_matches(',').len();
                clean.truncate(kept);
                clean.push(c);
            }
            c => clean.push(c),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasted_pieces_are_read() {
        for (text, expected, fragment) in [
            (r#"{"a": 1}"#, r#"{"a":1}"#, false),
            (r#"{"a": [1, 2,],}"#, r#"{"a":[1,2]}"#, false),
            (r#""a": {"b": 1},"#, r#"{"a":{"b":1}}"#, true),
            (
                "{ // note\n \"a\": \"//x\" /* y */ }",
                r#"{"a":"//x"}"#,
                false,
            ),
            (r#""a": {"b": 1}}}"#, r#"{"a":{"b":1}}"#, true),
            (r#"[{"a": 1}]"#, r#"[{"a":1}]"#, false),
        ] {
            let (value, is_fragment) = parse(text).unwrap_or_default();
            assert_eq!(
                (value.to_string().as_str(), is_fragment),
                (expected, fragment),
                "{text}"
            );
        }
        for text in ["", "{", "}", "\"a\"", "nothing", "{\"a\": }", "/*", "\"\\"] {
            let read = parse(text).map(|(value, _)| value);
            assert!(
                read.is_none_or(|value| value.as_object().is_some_and(|o| o.is_empty())),
                "{text}"
            );
        }
    }
}
