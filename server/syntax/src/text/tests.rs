use proptest::prelude::*;

use super::{Change, Edit, Encoding, LineIndex, Position, apply};

const ENCODINGS: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

/// The definition in the protocol, written out as slowly and plainly as possible.
fn naive_offset(text: &str, position: Position, encoding: Encoding) -> usize {
    let (mut line, mut start) = (0, 0);
    let bytes = text.as_bytes();
    for at in 0..=text.len() {
        let after_break = at > 0
            && (bytes[at - 1] == b'\n'
                || (bytes[at - 1] == b'\r' && bytes.get(at) != Some(&b'\n')));
        if after_break {
            line += 1;
            start = at;
        }
        if line == position.line {
            break;
        }
    }
    if line < position.line {
        return text.len();
    }
    let mut units = 0;
    for (at, c) in text[start..].char_indices() {
        let width = match encoding {
            Encoding::Utf8 => c.len_utf8(),
            Encoding::Utf16 => c.len_utf16(),
            Encoding::Utf32 => 1,
        };
        if matches!(c, '\r' | '\n') || units + width > position.character as usize {
            return start + at;
        }
        units += width;
    }
    text.len()
}

fn naive_apply(text: &str, edit: &Edit, encoding: Encoding) -> String {
    let Some((from, to)) = edit.range else {
        return edit.text.clone();
    };
    let (a, b) = (
        naive_offset(text, from, encoding),
        naive_offset(text, to, encoding),
    );
    format!("{}{}{}", &text[..a.min(b)], edit.text, &text[a.max(b)..])
}

fn messy() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a", "key = ", "\n", "\r\n", "\r", "\u{feff}", "ä", "漢", "🐼", "e\u{301}", "\u{2028}",
        "\"", " ",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn place() -> impl Strategy<Value = Position> {
    (0u32..12, prop_oneof![0u32..14, Just(u32::MAX)]).prop_map(|(l, c)| Position::new(l, c))
}

fn edit() -> impl Strategy<Value = Edit> {
    (prop::option::weighted(0.95, (place(), place())), messy())
        .prop_map(|(range, text)| Edit { range, text })
}

proptest! {
    #[test]
    fn edits_equal_the_full_text(
        start in messy(),
        edits in prop::collection::vec(edit(), 1..10),
        which in 0usize..3,
    ) {
        let encoding = ENCODINGS[which];
        let (mut text, mut index) = (start.clone(), LineIndex::new(&start));
        let mut merged: Option<Change> = None;
        for edit in edits {
            let before = text.clone();
            let expected = naive_apply(&before, &edit, encoding);
            let change = apply(&mut text, &mut index, edit, encoding);
            prop_assert_eq!(&text, &expected);
            prop_assert_eq!(&index, &LineIndex::new(&text));
            prop_assert_eq!(&before[..change.start as usize], &text[..change.start as usize]);
            prop_assert_eq!(&before[change.old_end as usize..], &text[change.new_end as usize..]);
            merged = Some(merged.map_or(change, |all| all.merge(change)));
        }
        let all = merged.unwrap();
        prop_assert_eq!(&start[..all.start as usize], &text[..all.start as usize]);
        prop_assert_eq!(&start[all.old_end as usize..], &text[all.new_end as usize..]);
    }

    #[test]
    fn places_and_offsets_agree(text in messy(), place in place()) {
        let index = LineIndex::new(&text);
        for encoding in ENCODINGS {
            prop_assert_eq!(
                index.offset(&text, place, encoding) as usize,
                naive_offset(&text, place, encoding)
            );
            for offset in 0..=text.len() as u32 + 3 {
                let place = index.position(&text, offset, encoding);
                let back = index.offset(&text, place, encoding);
                let inside_break = offset > 0 && text.get(offset as usize - 1..offset as usize + 1)
                    == Some("\r\n");
                if offset as usize <= text.len() && text.is_char_boundary(offset as usize) {
                    prop_assert_eq!(back, offset - u32::from(inside_break));
                } else {
                    prop_assert!(back <= offset);
                }
            }
        }
    }

    #[test]
    fn another_text_never_panics(text in messy(), other in messy(), place in place(), edit in edit()) {
        let mut index = LineIndex::new(&text);
        for encoding in ENCODINGS {
            let offset = index.offset(&other, place, encoding);
            index.position(&other, offset, encoding);
        }
        apply(&mut other.clone(), &mut index, edit, Encoding::Utf16);
    }
}

#[test]
fn lines_end_with_lf_crlf_or_cr() {
    let text = "\u{feff}a\r\nb\rc\n\r\n";
    let index = LineIndex::new(text);
    let lines: Vec<_> = (0..index.line_count() + 1)
        .map(|line| {
            (
                index.line_range(line).of(text),
                index.content_range(text, line).of(text),
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            ("\u{feff}a\r\n", "\u{feff}a"),
            ("b\r", "b"),
            ("c\n", "c"),
            ("\r\n", ""),
            ("", ""),
            ("", "")
        ]
    );
    assert_eq!(
        index.position(text, 4, Encoding::Utf16),
        Position::new(0, 2)
    );
}

#[test]
fn a_place_inside_a_character_is_its_start() {
    let text = "x🐼y";
    let index = LineIndex::new(text);
    let at = |character, encoding| index.offset(text, Position::new(0, character), encoding);
    assert_eq!(
        (0..5).map(|c| at(c, Encoding::Utf16)).collect::<Vec<_>>(),
        [0, 1, 1, 5, 6]
    );
    assert_eq!(
        (0..5).map(|c| at(c, Encoding::Utf8)).collect::<Vec<_>>(),
        [0, 1, 1, 1, 1]
    );
    assert_eq!(
        (0..5).map(|c| at(c, Encoding::Utf32)).collect::<Vec<_>>(),
        [0, 1, 5, 6, 6]
    );
}

#[test]
fn a_break_can_be_joined_and_split() {
    let (mut text, mut index) = ("a\rb".to_owned(), LineIndex::new("a\rb"));
    let at = |line, character| {
        Some((
            Position::new(line, character),
            Position::new(line, character),
        ))
    };
    apply(
        &mut text,
        &mut index,
        Edit {
            range: at(1, 0),
            text: "\n".into(),
        },
        Encoding::Utf16,
    );
    assert_eq!((text.as_str(), index.line_count()), ("a\r\nb", 2));
    let whole = Some((Position::new(1, 0), Position::new(0, 1)));
    let change = apply(
        &mut text,
        &mut index,
        Edit {
            range: whole,
            text: String::new(),
        },
        Encoding::Utf16,
    );
    assert_eq!(
        change,
        Change {
            start: 1,
            old_end: 3,
            new_end: 1
        }
    );
    assert_eq!((text.as_str(), index.line_count()), ("ab", 1));
}
