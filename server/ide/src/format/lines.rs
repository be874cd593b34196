//! The difference between two texts, line by line, as small edits: a cursor in a line that does
//! not change stays where it is.

use kontext_syntax::TextRange;

use super::TextEdit;

/// Above this many pairs of lines the middle is replaced as a whole.
const MAX_PAIRS: usize = 1_000_000;

/// Adds the edits that make `new` of `old`, which stands at `place` in the text. In order, not
/// overlapping.
pub(super) fn diff(place: TextRange, old: &str, new: &str, edits: &mut Vec<TextEdit>) {
    stretches(old, new, |start, gone, come| {
        hunk(place.start + start, gone, come, edits);
    });
}

/// The stretches of whole lines that differ, as edits of `old`. In order, not overlapping.
pub(super) fn whole(old: &str, new: &str) -> Vec<TextEdit> {
    let mut edits = Vec::new();
    stretches(old, new, |start, gone, come| {
        if !(gone.is_empty() && come.is_empty()) {
            edits.push(TextEdit {
                range: TextRange::new(start, start + length(gone)),
                text: come.concat(),
            });
        }
    });
    edits
}

/// Calls `found` with the byte in `old` at which each stretch of differing lines starts, the lines
/// that go and those that come. Both may be empty.
fn stretches(old: &str, new: &str, mut found: impl FnMut(u32, &[&str], &[&str])) {
    if old == new {
        return;
    }
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(&new).take_while(same).count();
    let (old_rest, new_rest) = (tail(&old, head), tail(&new, head));
    let foot = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(same)
        .count();
    let old_middle = old_rest.get(..old_rest.len() - foot).unwrap_or_default();
    let new_middle = new_rest.get(..new_rest.len() - foot).unwrap_or_default();
    let mut start = length(old.get(..head).unwrap_or_default());
    let (mut a, mut b) = (0, 0);
    for (i, j) in common(old_middle, new_middle)
        .into_iter()
        .chain([(old_middle.len(), new_middle.len())])
    {
        let gone = old_middle.get(a..i).unwrap_or_default();
        let come = new_middle.get(b..j).unwrap_or_default();
        found(start, gone, come);
        start += length(gone) + length(old_middle.get(i..i + 1).unwrap_or_default());
        (a, b) = (i + 1, j + 1);
    }
}

fn tail<'a, 'b>(lines: &'b [&'a str], from: usize) -> &'b [&'a str] {
    lines.get(from..).unwrap_or_default()
}

fn length(lines: &[&str]) -> u32 {
    let bytes: usize = lines.iter().map(|line| line.len()).sum();
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// A longest common subsequence, as pairs of indices.
fn common(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let (rows, columns) = (old.len(), new.len());
    if rows.saturating_mul(columns) > MAX_PAIRS {
        return Vec::new();
    }
    // `longest[i * width + j]` is the length for the lines from i and from j on.
    let width = columns + 1;
    let mut longest = vec![0u32; (rows + 1) * width];
    let at = |longest: &[u32], i: usize, j: usize| longest.get(i * width + j).copied().unwrap_or(0);
    for (i, a) in old.iter().enumerate().rev() {
        for (j, b) in new.iter().enumerate().rev() {
            let best = if a == b {
                at(&longest, i + 1, j + 1) + 1
            } else {
                at(&longest, i + 1, j).max(at(&longest, i, j + 1))
            };
            if let Some(cell) = longest.get_mut(i * width + j) {
                *cell = best;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while let (Some(a), Some(b)) = (old.get(i), new.get(j)) {
        if a == b {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if at(&longest, i + 1, j) >= at(&longest, i, j + 1) {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// The edits for lines that are replaced: line by line where there are as many, else one.
fn hunk(start: u32, gone: &[&str], come: &[&str], edits: &mut Vec<TextEdit>) {
    if gone.len() == come.len() {
        let mut at = start;
        for (old, new) in gone.iter().zip(come) {
            replace(at, old, new, edits);
            at += u32::try_from(old.len()).unwrap_or(0);
        }
    } else {
        replace(start, &gone.concat(), &come.concat(), edits);
    }
}

/// One edit, without what the two have in common at both ends. Never parts a CR from its LF.
fn replace(at: u32, old: &str, new: &str, edits: &mut Vec<TextEdit>) {
    if old == new {
        return;
    }
    let same = |(a, b): &(char, char)| a == b;
    let head: usize = old
        .chars()
        .zip(new.chars())
        .take_while(same)
        .map(|(a, _)| a.len_utf8())
        .sum();
    let (mut gone, mut come) = (
        old.get(head..).unwrap_or_default(),
        new.get(head..).unwrap_or_default(),
    );
    let foot: usize = gone
        .chars()
        .rev()
        .zip(come.chars().rev())
        .take_while(same)
        .map(|(a, _)| a.len_utf8())
        .sum();
    let cut = |part: &str| {
        let end = part.len() - foot;
        let kept = part.get(end..).unwrap_or_default();
        let before = part.get(..end).unwrap_or_default();
        kept.starts_with('\n') && before.ends_with('\r')
    };
    let foot = if cut(gone) || cut(come) {
        foot - 1
    } else {
        foot
    };
    gone = gone.get(..gone.len() - foot).unwrap_or_default();
    come = come.get(..come.len() - foot).unwrap_or_default();
    let (head, gone, come) = match old.get(..head) {
        Some(before)
            if before.ends_with('\r') && (gone.starts_with('\n') || come.starts_with('\n')) =>
        {
            (
                head - 1,
                old.get(head - 1..head + gone.len()).unwrap_or_default(),
                new.get(head - 1..head + come.len()).unwrap_or_default(),
            )
        }
        _ => (head, gone, come),
    };
    let start = at + u32::try_from(head).unwrap_or(0);
    edits.push(TextEdit {
        range: TextRange::new(start, start + u32::try_from(gone.len()).unwrap_or(0)),
        text: come.to_owned(),
    });
}
