//! Making text from elsewhere fit to be shown: on one line, bounded, without what cannot be seen.

use std::borrow::Cow;

use anstream::adapter::strip_str;

/// What stands for the rest of a text.
const ELLIPSIS: char = '…';

/// A text on one line of at most `most` characters, an ellipsis included: blanks collapsed,
/// terminal sequences, control and invisible formatting characters removed. Reads no further than
/// it needs.
pub(super) fn one_line(text: &str, most: usize) -> String {
    if is_plain(text, most) {
        return text.to_owned();
    }
    collapse(&without_sequences(text), most)
}

/// Whether a text is what [`one_line`] would make of it, as most are: copying it is cheaper.
fn is_plain(text: &str, most: usize) -> bool {
    let mut before = ' ';
    let single = text.len() <= most
        && text.chars().all(|c| {
            let fits = c.is_ascii_graphic()
                || (c == ' ' && before != ' ')
                || (!c.is_ascii() && !c.is_whitespace() && !is_invisible(c));
            before = c;
            fits
        });
    single && before != ' '
}

fn collapse(text: &str, most: usize) -> String {
    let mut out = String::with_capacity(text.len().min(most.saturating_mul(2)));
    let mut count = 0;
    let mut gap = false;
    for c in text.chars() {
        if !c.is_ascii_graphic() {
            if c.is_whitespace() {
                gap = count > 0;
                continue;
            }
            if is_invisible(c) {
                continue;
            }
        }
        let needed = 1 + usize::from(gap);
        if count + needed > most {
            return cut(out, count, most);
        }
        if gap {
            out.push(' ');
        }
        out.push(c);
        count += needed;
        gap = false;
    }
    out
}

/// Ends a text of `count` characters with an ellipsis within `most`.
fn cut(mut text: String, count: usize, most: usize) -> String {
    if count >= most {
        text.pop();
    }
    text.truncate(text.trim_end().len());
    text.push(ELLIPSIS);
    text
}

/// The first `most` characters of a text for an error, what is not printable escaped.
pub(super) fn shown(text: &str, most: usize) -> String {
    let mut out = String::new();
    for (at, c) in text.chars().enumerate() {
        if at == most {
            out.push(ELLIPSIS);
            break;
        }
        if is_invisible(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// The most bytes of a URI; a longer one is none.
const LONGEST_URI: usize = 8 * 1024;

/// A URI without control and invisible characters; blanks in it are percent-encoded.
pub(super) fn uri(text: &str) -> Option<String> {
    if text.len() > LONGEST_URI {
        return None;
    }
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Some(text.to_owned());
    }
    let text = without_sequences(text);
    let mut out = String::with_capacity(text.len());
    for c in text.trim().chars() {
        if is_invisible(c) {
            continue;
        }
        if c.is_whitespace() {
            let mut bytes = [0; 4];
            let c = c.encode_utf8(&mut bytes).as_bytes();
            out.push_str(
                &percent_encoding::percent_encode(c, percent_encoding::NON_ALPHANUMERIC)
                    .to_string(),
            );
        } else {
            out.push(c);
        }
    }
    (!out.is_empty()).then_some(out)
}

/// The text without the escape sequences of terminals.
pub(super) fn without_sequences(text: &str) -> Cow<'_, str> {
    if memchr::memchr(0x1b, text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    // It drops control characters too, but not these.
    Cow::Owned(strip_str(text).to_string())
}

/// Control characters, and those that change how others look or that hide: zero width and
/// direction marks, soft hyphens, tags, variation selectors, fillers. All of Unicode's
/// `Default_Ignorable_Code_Point` and of the categories Cc and Cf, but for marks that are seen.
pub(super) fn is_invisible(c: char) -> bool {
    c.is_control()
        || (!c.is_ascii()
            && matches!(c,
                '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
                | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}'
                | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'))
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        reason = "a test fails by panicking"
    )]

    use super::*;

    #[test]
    fn what_is_invisible_is_what_unicode_says() {
        let all = regex::Regex::new(
            r"^[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}--\p{Prepended_Concatenation_Mark}]$",
        )
        .unwrap();
        let mut bytes = [0; 4];
        for c in '\0'..=char::MAX {
            let expected = all.is_match(c.encode_utf8(&mut bytes));
            assert_eq!(is_invisible(c), expected, "{c:?}");
        }
    }
}
