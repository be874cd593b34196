use super::Span;

/// What kind of fault a piece of TOML has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FaultKind {
    /// It does not follow the grammar.
    Syntax,
    /// A backslash escape that TOML does not know.
    InvalidEscape,
    /// A byte order mark that does not stand at the start of the file.
    BomInside,
    /// A key that the same table holds already.
    DuplicateKey,
    /// A table that is defined twice, or a key used both as a table and as a value.
    TableConflict,
    /// Arrays or inline tables nested deeper than is read.
    TooDeep,
    /// JSON where TOML is expected. The span covers the whole JSON text.
    Json,
}

/// One fault of a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Its kind.
    pub kind: FaultKind,
    /// Where it shows. Never empty unless it lies at the end of a line or of the text.
    pub span: Span,
    /// What is wrong and what to do, one sentence.
    pub message: String,
    /// Another place that belongs to it, and what is there.
    pub related: Option<(Span, &'static str)>,
}
