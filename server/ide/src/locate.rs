//! What stands at a place of a text: in a header, a key, a value, a comment, or nowhere that
//! matters.
//!
//! The question is answered from the block the place lies in, so it costs what that block holds,
//! not what the file holds. Half-typed lines are the normal case: an open bracket or string reaches
//! as far as the parser let it reach.

mod string;
mod table;
#[cfg(test)]
mod tests;
mod walk;

use kontext_config::schema::{self, Kind};
use kontext_config::source::Source;
use kontext_syntax::TextRange;
use kontext_syntax::toml::{Entry, Key, Value};

use kontext_syntax::toml::Node;
pub use string::StringAt;

/// What stands at a place. All ranges are absolute bytes of the text, on character borders.
#[derive(Clone, Debug)]
pub enum Located<'a> {
    /// Between the brackets of `[a.b]` or `[[a.b]]`.
    Header(HeaderAt<'a>),
    /// In a key, or where a key may be written.
    Key(KeyAt<'a>),
    /// In a value, or where a value may be written.
    Value(ValueAt<'a>),
    /// In a comment.
    Comment,
    /// Anywhere else: between a key and its `=`, behind a value, in pasted JSON.
    Nowhere,
}

/// A place in a header.
#[derive(Clone, Debug)]
pub struct HeaderAt<'a> {
    /// All parts of the name as written.
    pub keys: &'a [Key],
    /// Which part the place is in, 0-based; it may be one behind the last where none is written.
    pub index: usize,
    /// The parts before it.
    pub before: Vec<&'a str>,
    /// The part; empty, at the place, where nothing is written.
    pub part: TextRange,
    /// Whether the header has double brackets.
    pub array: bool,
    /// The header with its brackets.
    pub range: TextRange,
    /// How many closing brackets it has.
    pub closing: u32,
    /// The other names that this file has below the parts before the place.
    pub given: Vec<&'a str>,
}

/// A place in a key.
#[derive(Clone, Debug)]
pub struct KeyAt<'a> {
    /// The table the part belongs to, from the top of the file; the parts of a dotted key before
    /// the place are included. Elements of arrays have no segment.
    pub table: Vec<&'a str>,
    /// How many of the last segments of `table` are parts of the dotted key itself.
    pub dotted: usize,
    /// The part of the key under the place, as written; `None` where none is.
    pub key: Option<&'a Key>,
    /// Its range; empty, at the place, where nothing is written.
    pub part: TextRange,
    /// Whether it is the last part of its key.
    pub last: bool,
    /// The entry it belongs to, where one is begun.
    pub entry: Option<&'a Entry>,
    /// The other keys of that table in this file, wherever they are written. At the top of the
    /// file: the names of described tables that are there.
    pub given: Vec<&'a str>,
    /// Whether the table is an inline one.
    pub inline: bool,
}

/// A place in a value.
#[derive(Clone, Debug)]
pub struct ValueAt<'a> {
    /// The key of the value, from the top of the file. Elements of arrays have no segment.
    pub path: Vec<&'a str>,
    /// The index of the element, 0-based, where the place is in an array; of the innermost one.
    pub element: Option<usize>,
    /// What may stand here, elements of arrays stepped into; `None` for keys nobody knows.
    pub kind: Option<&'static Kind>,
    /// The value, where one is written.
    pub value: Option<&'a Value>,
    /// Its range; empty, at the place, where none is written.
    pub range: TextRange,
    /// The entry whose value it is, or whose value holds it.
    pub entry: &'a Entry,
    /// The string, where the place is between quotes.
    pub string: Option<StringAt<'a>>,
}

/// What stands at `offset` (bytes; clamped to the text and moved back to a character border).
pub fn locate(source: &Source, offset: u32) -> Located<'_> {
    walk::Walk::new(source, offset).locate()
}

/// The table (or other value) at a path from the top of the file, in this file alone. Of an array
/// of tables it is the last element that begins at or before `offset`.
pub(crate) fn node_at<'a>(source: &'a Source, path: &[&str], offset: u32) -> Option<&'a Node> {
    table::node_at(source, path, None, offset)
}

/// What may stand as an element of an array of that kind. The elements of an array of tables have
/// its own kind.
pub fn element_kind(kind: &'static Kind) -> Option<&'static Kind> {
    match kind {
        Kind::Array { item, .. } => Some(item),
        Kind::ArrayOfTables(_) | Kind::Any(_) => Some(kind),
        Kind::Either(kinds) => kinds.iter().find_map(element_kind),
        _ => None,
    }
}

/// What may stand as the value of a key, by its path from the top of the file.
fn kind_of(path: &[&str]) -> Option<&'static Kind> {
    schema::lookup(path).map(|found| found.kind())
}
