//! Keys and strings as TOML writes them.

use toml_writer::{ToTomlKey as _, ToTomlValue as _, TomlKeyBuilder, TomlStringBuilder};

/// A key: bare where that is allowed, else in double quotes.
pub fn key(name: &str) -> String {
    let builder = TomlKeyBuilder::new(name);
    match builder.as_unquoted() {
        Some(bare) => bare.to_toml_key(),
        None => builder.as_basic().to_toml_key(),
    }
}

/// A text in double quotes, on one line.
pub fn string(text: &str) -> String {
    TomlStringBuilder::new(text).as_basic().to_toml_value()
}

/// What stands between the quotes of [`string`].
pub fn escaped(text: &str) -> String {
    let quoted = string(text);
    let inner = quoted
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or(&quoted).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_where_that_is_allowed() {
        assert_eq!(key("a-B_9"), "a-B_9");
        assert_eq!(key(""), "\"\"");
        assert_eq!(key("a.b"), "\"a.b\"");
        assert_eq!(key("ž"), "\"ž\"");
    }

    #[test]
    fn what_would_end_or_change_the_string_is_escaped() {
        assert_eq!(
            string("C:\\a \"b\"\t\r\n\u{1b}\u{7f}"),
            r#""C:\\a \"b\"\t\r\n\u001B\u007F""#
        );
        assert_eq!(escaped("a\"b"), "a\\\"b");
    }
}
