//! Looks at raw text: does a line start a statement, where does pasted JSON end.

use super::decode::is_bare_key;

/// Whether `rest` begins with a line that reads as a header (`[name`, `[[name`) or as `key =`.
///
/// A header counts only where its name begins with a letter or `_` and is not a value such as
/// `true`: a line `[1, 2],` belongs to an array.
pub(super) fn line_starts_statement(rest: &str) -> bool {
    let line = rest
        .split('\n')
        .next()
        .unwrap_or("")
        .trim_start_matches([' ', '\t']);
    if let Some(name) = line.strip_prefix('[') {
        let name = name.strip_prefix('[').unwrap_or(name).trim_start();
        let first: &str = name
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))
            .next()
            .unwrap_or("");
        let begins = first.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        return begins && !matches!(first, "true" | "false" | "inf" | "nan");
    }
    let mut rest = line;
    loop {
        rest = rest.trim_start_matches([' ', '\t']);
        rest = match rest.bytes().next() {
            Some(quote @ (b'"' | b'\'')) => {
                let inner = rest.get(1..).unwrap_or("");
                match inner.find(quote as char) {
                    Some(end) => inner.get(end + 1..).unwrap_or(""),
                    None => return false,
                }
            }
            _ => {
                let end = rest
                    .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))
                    .unwrap_or(rest.len());
                let (key, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
                if !is_bare_key(key) {
                    return false;
                }
                after
            }
        };
        rest = rest.trim_start_matches([' ', '\t']);
        match rest.strip_prefix('.') {
            Some(after) => rest = after,
            None => return rest.starts_with('=') && !rest.starts_with("=="),
        }
    }
}

/// Where JSON that starts at `start` ends: behind the bracket that closes it, with members that
/// follow a comma; else before the first line that looks like a TOML statement, else at the end.
pub(super) fn json_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth, mut in_string) = (start, 0i64, false);
    let mut end = start;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            // JSON strings end with their line.
            b'\n' => {
                in_string = false;
                if line_starts_statement(text.get(at + 1..).unwrap_or("")) {
                    return end.max(start + 1);
                }
                let closed = depth <= 0
                    && !text
                        .get(start..at)
                        .unwrap_or("")
                        .trim_end()
                        .ends_with([',', ':']);
                if closed {
                    let next = text.get(at + 1..).unwrap_or("").trim_start();
                    if !next.starts_with(['}', ']', '"', ',']) {
                        return end;
                    }
                }
            }
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            end = at + 1;
        }
        at += 1;
    }
    let mut end = end.min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    end
}
