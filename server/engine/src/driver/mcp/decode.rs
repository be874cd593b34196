//! JSON of servers as values.

use serde_json::Value;

/// Decodes JSON. Halves of surrogate pairs, which JavaScript leaves where it cuts a text, become
/// replacement characters.
pub(super) fn value(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text).or_else(|error| match mended(text) {
        Some(text) => serde_json::from_str(&text),
        None => Err(error),
    })
}

/// The text with every escape of half a surrogate pair replaced; `None` where there is none.
fn mended(text: &str) -> Option<String> {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    let mut any = false;
    while let Some((before, after)) = rest.split_once('\\') {
        mended.push_str(before);
        let (escape, next) = match (unit(after), after.get(5..)) {
            (Some(0xd800..0xdc00), Some(next)) => {
                let low = next.strip_prefix('\\').and_then(unit);
                match (low, after.split_at_checked(11)) {
                    (Some(0xdc00..0xe000), Some(pair)) => pair,
                    _ => ("", next),
                }
            }
            (Some(0xdc00..0xe000), Some(next)) => ("", next),
            // Whatever is escaped, a backslash too, goes with its backslash.
            _ => {
                let length = after.chars().next().map_or(0, char::len_utf8);
                after.split_at_checked(length).unwrap_or((after, ""))
            }
        };
        if escape.is_empty() && !after.is_empty() {
            any = true;
            mended.push('\u{fffd}');
        } else {
            mended.push('\\');
            mended.push_str(escape);
        }
        rest = next;
    }
    mended.push_str(rest);
    any.then_some(mended)
}

/// The number in `uXXXX` at the start.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix('u')?.get(..4)?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn half_a_pair_becomes_a_replacement_character_and_all_else_stays() {
        let text = r#"["a\ud83d", "\udc34b", "\ud83d\udc34", "\ud83d\ud83d\udc34", "\\ud83d", "\ud83d\n", "\u00e1\"ž", 1.50]"#;
        let decoded = value(text).unwrap();
        assert_eq!(
            decoded,
            json!([
                "a\u{fffd}",
                "\u{fffd}b",
                "🐴",
                "\u{fffd}🐴",
                "\\ud83d",
                "\u{fffd}\n",
                "á\"ž",
                serde_json::from_str::<Value>("1.50").unwrap()
            ])
        );
    }

    #[test]
    fn what_is_no_json_stays_an_error() {
        for text in ["{", r#""\"#, r#""\ud83d"#, r#""\uz""#, r#"["\ud800" 1]"#] {
            assert!(value(text).is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_decoded_or_refused(text in "[\\\\udD83cCž\"\\[,]{0,24}") {
            let _ = value(&text);
        }
    }
}
