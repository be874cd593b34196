//! The template grammar: `{{ head | filter | filter:arg }}` inside a string.
//!
//! All ranges are byte offsets into the string as it means (escapes of the file decoded).
//! Parsing never fails. What is not right is in [`Template::faults`], and the tree keeps what
//! could be understood, so completion works in `{{que`.

mod cursor;
mod parse;
#[cfg(test)]
mod tests;

pub use cursor::{ExprAt, Place};
pub(crate) use parse::quoted_bracket;

use crate::TextRange;

/// A parsed string.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// The parts in order. Their ranges cover the string without a gap.
    pub parts: Vec<Part>,
    /// What is not right, in the order of the text.
    pub faults: Vec<Fault>,
}

/// Literal text, or an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text that stands for itself; never empty.
    Text(TextRange),
    /// An expression.
    Expr(Expr),
}

impl Part {
    /// Where it stands; an expression with its braces.
    pub const fn range(&self) -> TextRange {
        match self {
            Self::Text(range) => *range,
            Self::Expr(expr) => expr.range,
        }
    }
}

/// `{{ head | filter … }}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// With the braces.
    pub range: TextRange,
    /// Whether `}}` was found. Without it the range is literal text when rendered, and the rest
    /// of this value is a guess for the editor's sake.
    pub terminated: bool,
    /// Where the value comes from.
    pub head: Head,
    /// What is done to it, in order.
    pub filters: Vec<Filter>,
}

/// Where the value of an expression comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// `a.b[0].c`.
    Path(Path),
    /// `'text'` or `"text"`.
    Literal {
        /// Without the quotes. There are no escapes.
        value: String,
        /// With the quotes.
        range: TextRange,
    },
    /// Nothing: `{{}}`, `{{|lower}}`. The range is the blank space.
    Missing(TextRange),
}

/// A dotted path. It has at least one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The segments in order.
    pub segments: Vec<Segment>,
    /// From the first segment to the last.
    pub range: TextRange,
}

impl Path {
    /// The text of a segment (0-based) that is a key.
    pub fn key(&self, index: usize) -> Option<&str> {
        match &self.segments.get(index)?.kind {
            SegmentKind::Key(key) => Some(key),
            SegmentKind::Index(_) => None,
        }
    }
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// What it selects.
    pub kind: SegmentKind,
    /// Its text without the dot before it, with brackets where it has them. Empty where a dot is
    /// followed by nothing.
    pub range: TextRange,
}

/// What a segment selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SegmentKind {
    /// The member of an object. Empty or odd where a [`FaultKind`] says so; it selects nothing
    /// then.
    Key(String),
    /// `[0]` or `.0`: the element of a list, 0-based, negative from the end; also the member of
    /// an object that has this name.
    Index(i64),
}

/// `| name` or `| name:arg`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Without blanks. Whether such a filter exists is not a question of grammar.
    pub name: String,
    /// Where the name stands; for an empty name, where it should.
    pub name_range: TextRange,
    /// What follows the first `:`.
    pub arg: Option<Arg>,
    /// From the name to the end of the argument.
    pub range: TextRange,
}

/// The argument of a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    /// Without quotes; without them, leading blanks count and trailing ones do not, unless it is
    /// all blanks.
    pub text: String,
    /// With the quotes.
    pub range: TextRange,
    /// Whether it was quoted.
    pub quoted: bool,
}

/// Something that is not right in a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What.
    pub kind: FaultKind,
    /// Where; may be empty.
    pub range: TextRange,
}

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// `{{` without `}}`: it is literal text.
    Unterminated,
    /// `{{}}`: no head.
    EmptyExpression,
    /// `a||b`, `a|`: no filter between the bars.
    EmptyFilter,
    /// A quote that opens and does not close before `|` or `}}`. It is taken as plain text.
    UnclosedQuote,
    /// `a..b`, `a.`: no key between the dots.
    EmptySegment,
    /// `a[`, `a[x]`, `a[0]b`: not an index or a quoted key in brackets.
    BadIndex,
}

impl Template {
    /// Parse a whole string.
    pub fn parse(source: &str) -> Self {
        Self::parse_from(source, 0)
    }

    /// Parse the rest of a string from a byte offset on. Ranges count from the start of `source`;
    /// an offset that is not a character border is moved back to one.
    pub fn parse_from(source: &str, start: usize) -> Self {
        parse::parse(source, source.floor_char_boundary(start))
    }

    /// Whether rendering can change anything.
    pub fn has_expr(&self) -> bool {
        self.exprs().next().is_some()
    }

    /// The terminated expressions in order.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.parts.iter().filter_map(|part| match part {
            Part::Expr(expr) if expr.terminated => Some(expr),
            _ => None,
        })
    }

    /// The expression, where the string is exactly one and nothing else, not even blanks: only
    /// then a value keeps its type.
    pub fn as_single_expr(&self) -> Option<&Expr> {
        match self.parts.as_slice() {
            [Part::Expr(expr)] if expr.terminated => Some(expr),
            _ => None,
        }
    }

    /// The expression a cursor (byte offset) stands in, strictly between its braces, and on which
    /// part of it.
    pub fn expr_at(&self, source: &str, offset: u32) -> Option<ExprAt<'_>> {
        cursor::expr_at(self, source, offset)
    }
}

impl Expr {
    /// The path, where the head is one.
    pub const fn path(&self) -> Option<&Path> {
        match &self.head {
            Head::Path(path) => Some(path),
            _ => None,
        }
    }

    /// Whether the chain has a filter of this name.
    pub fn has_filter(&self, name: &str) -> bool {
        self.filters.iter().any(|filter| filter.name == name)
    }
}
