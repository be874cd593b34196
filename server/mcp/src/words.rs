//! Numbers in sentences.

/// So many of something that takes an `s` where it is not one: `1 error`, `2 errors`.
pub fn counted(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_is_no_plural() {
        let words = [0, 1, 2].map(|count| counted(count, "error"));
        assert_eq!(words, ["0 errors", "1 error", "2 errors"]);
    }
}
