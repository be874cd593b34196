//! The language of result paths (`hits[*].a["k.x"]|b`) and of `map` values (`tpl:…`, `=…`, `re:…`).
//!
//! All ranges are byte offsets into the string as it means (escapes of the file decoded).
//! Parsing never fails: a step that cannot be understood is [`StepKind::Bad`] and selects nothing.

mod parse;
#[cfg(test)]
mod tests;

use crate::TextRange;
use crate::template::Template;

/// `a.b|c`: alternatives, of which the first that selects something counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultPath {
    /// In order; at least one.
    pub alternatives: Vec<Alternative>,
    /// What is not right, in the order of the text.
    pub faults: Vec<Fault>,
}

/// One path from the root of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alternative {
    /// In order. None: the root itself.
    pub steps: Vec<Step>,
    /// Without blanks around it.
    pub range: TextRange,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it selects.
    pub kind: StepKind,
    /// Without the dot before it, with brackets where it has them. Empty where a dot is followed
    /// by nothing.
    pub range: TextRange,
}

/// What a step selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// The member of an object: `name`, `["name"]`, `['name']`.
    Name(String),
    /// The element of a list, 0-based, negative from the end: `[0]`, `[-1]`.
    Index(i64),
    /// All elements of a list, all values of an object in document order: `*`, `[*]`.
    All,
    /// Not understood (a fault says why): selects nothing.
    Bad,
}

/// The value of a key of `map`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapValue {
    /// `re:…`: a regular expression on the item's text; where the expression stands.
    Regex(TextRange),
    /// Alternatives, of which the first that gives something counts.
    Choice {
        /// In order; at least one. Only the last can be a template or a literal.
        alternatives: Vec<MapAlternative>,
        /// Faults of the paths; those of the template are in the template.
        faults: Vec<Fault>,
    },
}

/// One alternative of a `map` value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapAlternative {
    /// A path into the item.
    Path(Alternative),
    /// `tpl:…`: all the rest, bars included. The template's ranges count in the whole string.
    Template {
        /// The parsed rest.
        template: Template,
        /// From `tpl:` to the end.
        range: TextRange,
    },
    /// `=…`: all the rest, bars included. The range is that of the text behind the `=`.
    Literal(TextRange),
}

/// Something that is not right in a path.
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
    /// `a||b`, `a|`: nothing between the bars. It selects nothing.
    EmptyAlternative,
    /// `a..b`, `a.`, `.a`: no name between the dots.
    EmptyStep,
    /// `a[0`: no `]`.
    UnclosedBracket,
    /// `a[x]`, `a[]`, `a[0:2]`, `a[?x]`: not an index, `*` or a quoted name.
    BadIndex,
    /// `a[0]b`: a dot or a bracket should follow `]`.
    MissingDot,
    /// A bare name with a sign that other path languages use (`( ) { } ? ] "` and `'`). It is
    /// taken as the name of a member; `["…"]` says so without doubt.
    OddName,
    /// `re:` behind a `|`: a regular expression stands alone.
    RegexNotAlone,
}

impl ResultPath {
    /// Parse a whole string. The empty string and `$` are the root.
    pub fn parse(source: &str) -> Self {
        parse::result_path(source)
    }

    /// The step at a cursor (byte offset): index of the alternative and of the step in it,
    /// 0-based. A cursor at the end of a step belongs to it.
    pub fn step_at(&self, offset: u32) -> Option<(usize, usize)> {
        self.alternatives
            .iter()
            .enumerate()
            .find_map(|(i, alternative)| alternative.step_at(offset).map(|step| (i, step)))
    }

    /// Whether the path is right as a whole.
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }
}

impl Alternative {
    /// The index (0-based) of the step at a cursor.
    pub fn step_at(&self, offset: u32) -> Option<usize> {
        self.steps
            .iter()
            .position(|step| step.range.touches(offset))
    }
}

impl MapValue {
    /// Parse a whole string.
    pub fn parse(source: &str) -> Self {
        parse::map_value(source)
    }
}
