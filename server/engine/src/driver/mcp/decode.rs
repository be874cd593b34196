//! JSON of servers as values.

use kontext_syntax::json::without_lone_surrogates;
use serde_json::Value;

/// Decodes JSON. Halves of surrogate pairs, which JavaScript leaves where it cuts a text, become
/// replacement characters.
pub(super) fn value(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text).or_else(|error| match without_lone_surrogates(text.as_bytes()) {
        Some(text) => serde_json::from_slice(&text),
        None => Err(error),
    })
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
