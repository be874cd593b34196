use super::{Encoding, LineIndex, Position, to_u32};

/// One content change as the Language Server Protocol sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced, end-exclusive; `None` replaces the whole text. A reversed range is
    /// taken the other way round, one outside the text is clamped.
    pub range: Option<(Position, Position)>,
    /// What stands there afterwards.
    pub text: String,
}

/// Which bytes an edit touched: `start..old_end` of the text before became `start..new_end` of
/// the text after. Everything in front is the same, everything behind is only moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// First byte touched, the same in both texts.
    pub start: u32,
    /// End of what was replaced, in the text before.
    pub old_end: u32,
    /// End of what replaced it, in the text after.
    pub new_end: u32,
}

impl Change {
    /// The smallest change that leads from one text to another, at character borders; `None`
    /// where they are the same.
    pub fn between(before: &str, after: &str) -> Option<Self> {
        if before == after {
            return None;
        }
        let (old, new) = (before.as_bytes(), after.as_bytes());
        let alike = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        // The bytes up to there are the same, so a border of one text is one of the other.
        let start = before.floor_char_boundary(alike);
        let rest = old.len().min(new.len()) - start;
        let tails = old.iter().rev().zip(new.iter().rev()).take(rest);
        let tail = tails.take_while(|(a, b)| a == b).count();
        let old_end = before.ceil_char_boundary(old.len() - tail);
        let new_end = new.len() - (old.len() - old_end);
        Some(Self {
            start: to_u32(start),
            old_end: to_u32(old_end),
            new_end: to_u32(new_end),
        })
    }

    /// The change that covers `self` and then `next`, where `next` starts from the text `self`
    /// led to: `old_end` counts in the text before both, `new_end` in the text after both.
    #[must_use]
    pub fn merge(self, next: Self) -> Self {
        // End of what either touched, in the text between; it is at or behind both ends there,
        // so none of the differences is negative.
        let end = self.new_end.max(next.old_end);
        Self {
            start: self.start.min(next.start),
            old_end: (end - self.new_end).saturating_add(self.old_end),
            new_end: (end - next.old_end).saturating_add(next.new_end),
        }
    }
}

/// Apply an edit to a text and its line index, and say what changed.
///
/// `index` must be the index of `text`; afterwards it is the index of the new text. The caller
/// sees to it that the result is not longer than [`super::MAX_LEN`].
pub fn apply(text: &mut String, index: &mut LineIndex, edit: Edit, encoding: Encoding) -> Change {
    let Some((from, to)) = edit.range else {
        // Clients that always send the whole text change little of it all the same.
        let Some(change) = Change::between(text, &edit.text) else {
            let end = to_u32(text.len());
            return Change {
                start: end,
                old_end: end,
                new_end: end,
            };
        };
        *text = edit.text;
        index.splice(text, change.start, change.old_end, change.new_end);
        return change;
    };
    let (a, b) = (
        index.offset(text, from, encoding),
        index.offset(text, to, encoding),
    );
    let (start, old_end) = (a.min(b), a.max(b));
    // `offset` gives character borders inside the text, so this cannot panic.
    text.replace_range(start as usize..old_end as usize, &edit.text);
    let new_end = start.saturating_add(to_u32(edit.text.len()));
    index.splice(text, start, old_end, new_end);
    Change {
        start,
        old_end,
        new_end,
    }
}
