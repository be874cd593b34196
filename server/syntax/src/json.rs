//! JSON of other programs that no parser takes: what can be mended, and what can be told of it.

/// The JSON text with every `\\uD800`…`\\uDFFF` that is half a pair replaced by U+FFFD, which has the same
/// length in UTF-16; `None` where there is none. Clients in JavaScript send such halves when a
/// pair is typed or deleted in two steps, and a lost change would leave the text wrong for good.
pub fn without_lone_surrogates(json: &[u8]) -> Option<Vec<u8>> {
    let unit = |at: usize| -> Option<u16> {
        let escape = json.get(at..at + 6)?;
        let digits = escape.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut out = Vec::with_capacity(json.len());
    let (mut at, mut mended) = (0, false);
    while let Some(&byte) = json.get(at) {
        let len = match unit(at) {
            Some(0xD800..=0xDBFF) if matches!(unit(at + 6), Some(0xDC00..=0xDFFF)) => 12,
            Some(0xD800..=0xDFFF) => {
                out.extend_from_slice(b"\\uFFFD");
                mended = true;
                at += 6;
                continue;
            }
            // Another escape is taken whole, so that `\\\\u` is not read as one.
            _ if byte == b'\\' => 2,
            _ => 1,
        };
        out.extend_from_slice(json.get(at..at + len).unwrap_or(json.get(at..)?));
        at += len;
    }
    mended.then_some(out)
}

/// Whether arrays and objects stand more than `most` levels deep in each other.
pub fn is_nested_deeper(json: &[u8], most: usize) -> bool {
    // Each level has two bytes: an honest short text is not looked through.
    if json.len() / 2 <= most {
        return false;
    }
    let (mut depth, mut rest) = (0_usize, json.iter());
    while let Some(&byte) = rest.next() {
        match byte {
            b'[' | b'{' => {
                depth += 1;
                if depth > most {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => {
                while let Some(&byte) = rest.next() {
                    match byte {
                        b'"' => break,
                        b'\\' => drop(rest.next()),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    false
}

/// The longest `id` that is kept, in bytes as it is written.
const MOST_OF_ID: usize = 1024;

/// What can be told of a JSON-RPC message without reading it whole: whether it is a request, and
/// under which id, so that one which is too long, nested too deeply or cut short is answered to
/// whoever waits.
///
/// Bytes are taken as they come. Only the members of the outermost object are looked at; memory
/// and time do not depend on how deep the rest is nested.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// How many objects and arrays are open.
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Whether the outermost value is an object.
    object: bool,
    part: Part,
    /// The key or the value that is being read at depth 1, as it is written.
    token: Vec<u8>,
    id: Option<Vec<u8>>,
    has_method: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Key,
    Id,
    Other,
}

impl Outline {
    /// Of a whole message.
    pub fn of(message: &[u8]) -> Self {
        let mut outline = Self::default();
        outline.read(message);
        outline
    }

    /// Takes the next bytes.
    pub fn read(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.byte(byte);
        }
    }

    /// The id of the request as it is written: JSON, but of any kind. `None` for a message that is
    /// no request, and for one whose id has not been seen to its end.
    pub fn request_id(&self) -> Option<&[u8]> {
        self.id.as_deref().filter(|_| self.has_method)
    }

    fn byte(&mut self, byte: u8) {
        let outer = self.depth == 1 && self.object;
        if self.in_string {
            if outer {
                self.keep(byte);
            }
            if self.escaped {
                self.escaped = false;
            } else if byte == b'\\' {
                self.escaped = true;
            } else if byte == b'"' {
                self.in_string = false;
            }
            return;
        }
        match byte {
            b'{' | b'[' => {
                if self.depth == 0 {
                    self.object = byte == b'{';
                }
                self.depth = self.depth.saturating_add(1);
            }
            b'}' | b']' => {
                if outer {
                    self.end_of_member();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b'"' => {
                self.in_string = true;
                if outer {
                    self.keep(byte);
                }
            }
            b':' if outer => {
                self.part = match self.token.as_slice() {
                    b"\"id\"" => Part::Id,
                    b"\"method\"" => {
                        self.has_method = true;
                        Part::Other
                    }
                    _ => Part::Other,
                };
                self.token.clear();
            }
            b',' if outer => self.end_of_member(),
            _ if outer && !byte.is_ascii_whitespace() => self.keep(byte),
            _ => {}
        }
    }

    /// Notes a byte of a key or of an id.
    fn keep(&mut self, byte: u8) {
        // One more than is kept, so that a longer one is not taken for its start.
        if self.part != Part::Other && self.token.len() <= MOST_OF_ID {
            self.token.push(byte);
        }
    }

    fn end_of_member(&mut self) {
        let token = std::mem::take(&mut self.token);
        if self.part == Part::Id {
            self.id = Some(token).filter(|id| id.len() <= MOST_OF_ID);
        }
        self.part = Part::Key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(message: &str) -> Option<String> {
        let whole = Outline::of(message.as_bytes());
        let mut cut = Outline::default();
        message.as_bytes().chunks(1).for_each(|part| cut.read(part));
        assert_eq!(whole, cut);
        let id = whole.request_id()?;
        Some(String::from_utf8(id.to_vec()).unwrap())
    }

    #[test]
    fn the_id_is_found_wherever_it_stands() {
        let deep = "[".repeat(100_000);
        let messages = [
            (r#"{"id":3,"method":"m"}"#.to_owned(), Some("3")),
            (
                r#" { "method" : "m" , "id" : "a\"}b" }"#.to_owned(),
                Some(r#""a\"}b""#),
            ),
            (
                format!(r#"{{"method":"m","id":3,"params":{deep}"#),
                Some("3"),
            ),
            (
                format!(
                    r#"{{"method":"m","params":{deep}{},"id":3}}"#,
                    "]".repeat(100_000)
                ),
                Some("3"),
            ),
            (
                r#"{"params":{"id":4,"x":"\"id\":5,"},"method":"m","id":-3,"#.to_owned(),
                Some("-3"),
            ),
            (r#"{"method":"m","id":3"#.to_owned(), None),
            (r#"{"method":"m","params":{"id":4}}"#.to_owned(), None),
            (r#"{"id":3,"result":{"method":"m"}}"#.to_owned(), None),
            (r#"[{"id":3,"method":"m"}]"#.to_owned(), None),
            (
                format!(r#"{{"method":"m","id":"{}"}}"#, "x".repeat(2000)),
                None,
            ),
        ];
        for (message, expected) in messages {
            assert_eq!(id(&message).as_deref(), expected, "{message:.60}");
        }
    }

    #[test]
    fn half_a_pair_becomes_a_replacement_character_and_all_else_stays() {
        let mend = |text: &str| {
            without_lone_surrogates(text.as_bytes()).map(|text| String::from_utf8(text).unwrap())
        };
        assert_eq!(
            mend(r#"["a\ud83d", "\udc34b", "\ud83d\udc34", "\ud83d\ud83d\udc34", "\\ud83d", "\ud83d\n", "\u00e1\"ž"]"#)
                .as_deref(),
            Some(
                r#"["a\uFFFD", "\uFFFDb", "\ud83d\udc34", "\uFFFD\ud83d\udc34", "\\ud83d", "\uFFFD\n", "\u00e1\"ž"]"#
            )
        );
        for whole in [r#""\"#, r#""\uz""#, r#""\ud83d\udc34""#, r#""\u+d83""#] {
            assert_eq!(mend(whole), None, "{whole}");
        }
    }

    #[test]
    fn nesting_is_counted_outside_of_strings() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(!is_nested_deeper(nested(126).as_bytes(), 126));
        assert!(is_nested_deeper(nested(127).as_bytes(), 126));
        let quoted = format!("[\"\\\"{}\", [], {}]", "[".repeat(200), nested(125));
        assert!(!is_nested_deeper(quoted.as_bytes(), 126), "{quoted}");
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_have_an_outline(bytes: Vec<u8>) {
            let _ = Outline::of(&bytes).request_id();
            let _ = without_lone_surrogates(&bytes);
        }
    }
}
