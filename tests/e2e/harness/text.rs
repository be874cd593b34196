//! Positions and edits as a client sees them. Written apart from the server's own, on purpose:
//! the tests must not share its mistakes.

use serde_json::{Value, json};

/// What `character` of a position counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units: the default of LSP.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    /// From `capabilities.positionEncoding` of the `initialize` result.
    pub fn of(initialize_result: &Value) -> Encoding {
        match initialize_result["capabilities"]["positionEncoding"].as_str() {
            Some("utf-8") => Encoding::Utf8,
            Some("utf-32") => Encoding::Utf32,
            _ => Encoding::Utf16,
        }
    }

    fn len(self, text: &str) -> usize {
        match self {
            Encoding::Utf8 => text.len(),
            Encoding::Utf16 => text.encode_utf16().count(),
            Encoding::Utf32 => text.chars().count(),
        }
    }
}

/// The byte offsets at which lines start (LF, CRLF and lone CR end a line).
fn line_starts(text: &str) -> Vec<usize> {
    let mut starts = vec![0];
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        if *byte == b'\n' || (*byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
            starts.push(at + 1);
        }
    }
    starts
}

/// The position of byte `offset` (on a character boundary) of `text`.
pub fn position_at(text: &str, offset: usize, encoding: Encoding) -> Value {
    let starts = line_starts(text);
    let line = starts.partition_point(|start| *start <= offset) - 1;
    json!({"line": line, "character": encoding.len(&text[starts[line]..offset])})
}

/// The byte offset of a position; beyond the end of its line it is the end of the line.
pub fn offset_at(text: &str, position: &Value, encoding: Encoding) -> usize {
    let starts = line_starts(text);
    let line = usize::try_from(position["line"].as_u64().unwrap()).unwrap();
    let character = usize::try_from(position["character"].as_u64().unwrap()).unwrap();
    let Some(start) = starts.get(line).copied() else {
        return text.len();
    };
    let end = starts.get(line + 1).copied().unwrap_or(text.len());
    let content = text[start..end].trim_end_matches(['\r', '\n']);
    let mut units = 0;
    for (at, c) in content.char_indices() {
        if units >= character {
            return start + at;
        }
        units += encoding.len(c.encode_utf8(&mut [0; 4]));
    }
    start + content.len()
}

/// Applies LSP `TextEdit`s, all of which speak about `text` as it is.
pub fn apply_edits(text: &str, edits: &[Value], encoding: Encoding) -> String {
    let mut edits: Vec<(usize, usize, &str)> = edits
        .iter()
        .map(|edit| {
            let start = offset_at(text, &edit["range"]["start"], encoding);
            let end = offset_at(text, &edit["range"]["end"], encoding);
            (start, end, edit["newText"].as_str().unwrap())
        })
        .collect();
    edits.sort_by_key(|edit| (edit.0, edit.1));
    for pair in edits.windows(2) {
        assert!(pair[0].1 <= pair[1].0, "edits overlap: {edits:?}");
    }
    let mut out = String::new();
    let mut done = 0;
    for (start, end, new) in edits {
        out.push_str(&text[done..start]);
        out.push_str(new);
        done = end;
    }
    out.push_str(&text[done..]);
    out
}

#[test]
fn edits_in_three_encodings() {
    let text = "a = \"\u{1F600}é\"\r\nb\rc\n";
    let at = text.find('é').unwrap();
    for (encoding, character) in [
        (Encoding::Utf8, 9),
        (Encoding::Utf16, 7),
        (Encoding::Utf32, 6),
    ] {
        let position = position_at(text, at, encoding);
        assert_eq!(position, json!({"line": 0, "character": character}));
        assert_eq!(offset_at(text, &position, encoding), at);
        let second = json!({"line": 1, "character": 99});
        let end = json!({"line": 0, "character": 99});
        let edits = [
            json!({"range": {"start": second, "end": second}, "newText": "!"}),
            json!({"range": {"start": position, "end": end}, "newText": "x"}),
        ];
        assert_eq!(
            apply_edits(text, &edits, encoding),
            "a = \"\u{1F600}x\r\nb!\rc\n"
        );
    }
}
