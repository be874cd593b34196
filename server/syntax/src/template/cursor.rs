use super::{Expr, Head, Part, Template};
use crate::TextRange;

/// The expression a cursor stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExprAt<'a> {
    /// The expression, perhaps not terminated.
    pub expr: &'a Expr,
    /// Which part of it.
    pub place: Place,
    /// The token under the cursor, which a completion replaces: it begins at or before the cursor
    /// and ends at or behind it. Empty where there is none.
    pub token: TextRange,
}

/// Which part of an expression a cursor stands in. Indices are 0-based.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Where a head belongs and none stands.
    Head,
    /// In or at the end of a segment of the path.
    Segment(usize),
    /// In a quoted head.
    Literal,
    /// In or at the end of the name of a filter, or where one belongs behind a `|`.
    FilterName(usize),
    /// In or at the end of the argument of a filter.
    FilterArg(usize),
    /// Between the parts, where a `|` or the closing braces may follow.
    Blank,
}

pub(super) fn expr_at<'a>(template: &'a Template, source: &str, offset: u32) -> Option<ExprAt<'a>> {
    let expr = template.parts.iter().find_map(|part| match part {
        Part::Expr(expr) if inside(expr).touches(offset) => Some(expr),
        _ => None,
    })?;
    let (place, token) = place_in(expr, source, offset);
    // An expression without an end has swallowed what follows it: only the word counts.
    let token = if expr.terminated {
        token
    } else {
        word_in(token, source, offset)
    };
    Some(ExprAt { expr, place, token })
}

/// The range between the braces.
fn inside(expr: &Expr) -> TextRange {
    let end = if expr.terminated {
        expr.range.end - 2
    } else {
        expr.range.end
    };
    TextRange::new(expr.range.start + 2, end)
}

fn place_in(expr: &Expr, source: &str, offset: u32) -> (Place, TextRange) {
    for (i, filter) in expr.filters.iter().enumerate() {
        if let Some(arg) = &filter.arg {
            // From right behind the colon, which ends the name.
            if filter.name_range.end < offset && offset <= arg.range.end {
                let token = if arg.range.touches(offset) {
                    arg.range
                } else {
                    TextRange::empty(offset)
                };
                return (Place::FilterArg(i), token);
            }
        }
        if filter.name_range.touches(offset) {
            return (Place::FilterName(i), filter.name_range);
        }
        // Blanks between the bar and the name.
        if offset < filter.name_range.start && behind_bar(source, offset) {
            return (Place::FilterName(i), TextRange::empty(offset));
        }
    }
    match &expr.head {
        Head::Missing(range) if range.touches(offset) => (Place::Head, TextRange::empty(offset)),
        Head::Literal { range, .. } if range.touches(offset) => (Place::Literal, *range),
        Head::Path(path) => {
            let hit = path
                .segments
                .iter()
                .position(|segment| segment.range.touches(offset));
            if let Some((i, segment)) = hit.and_then(|i| Some((i, path.segments.get(i)?))) {
                return (Place::Segment(i), segment.range);
            }
            let place = if offset < path.range.start {
                Place::Head
            } else {
                Place::Blank
            };
            (place, TextRange::empty(offset))
        }
        Head::Literal { range, .. } if offset < range.start => {
            (Place::Head, TextRange::empty(offset))
        }
        _ => (Place::Blank, TextRange::empty(offset)),
    }
}

/// Whether nothing but blanks stands between the cursor and a `|` to its left.
fn behind_bar(source: &str, offset: u32) -> bool {
    TextRange::new(0, offset)
        .of(source)
        .trim_end()
        .ends_with('|')
}

/// The letters, digits and signs of names around the cursor, inside `token`.
fn word_in(token: TextRange, source: &str, offset: u32) -> TextRange {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '@');
    let before = TextRange::new(token.start, offset).of(source);
    let after = TextRange::new(offset, token.end).of(source);
    let left = before.len() - before.trim_end_matches(is_word).len();
    let right = after.len() - after.trim_start_matches(is_word).len();
    TextRange::new(
        offset - crate::text::to_u32(left),
        offset + crate::text::to_u32(right),
    )
}
