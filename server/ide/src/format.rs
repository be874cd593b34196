//! Formatting, by taplo, one block at a time.
//!
//! taplo is quadratic in the length of a text and knows TOML 1.0 only. A block (a header and the
//! entries below it) is short and means the same wherever it stands, so each is formatted for
//! itself, which is linear; blank lines between blocks are counted here. Nothing taplo gives is
//! taken on trust: a block must keep its keys, values and comments, and formatting the result once
//! more must change nothing.

mod lines;

use std::fmt;

use kontext_syntax::TextRange;
use kontext_syntax::toml::{Block, Document, Entry, Key, Value, ValueKind};
use taplo::formatter::{self, Options};
use taplo::syntax::SyntaxKind;

/// The longest block, in bytes, that is formatted: taplo takes about a tenth of a second for it.
pub const MAX_BLOCK: usize = 256 * 1024;

/// At most this many blank lines stay together.
const BLANK_LINES: usize = 2;

/// How often a block may change before it must have settled.
const PASSES: usize = 4;

/// How to format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatOptions {
    /// What one level of indentation in arrays of several lines is: blanks, or a tab.
    pub indent: String,
    /// Width in characters at which an array is put on several lines.
    pub width: usize,
}

impl Default for FormatOptions {
    fn default() -> Self {
        Self {
            indent: "  ".to_owned(),
            width: 100,
        }
    }
}

/// A replacement: the bytes of `range` in the text before become `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// What is replaced; empty for an insertion.
    pub range: TextRange,
    /// By what.
    pub text: String,
}

/// The whole lines that differ between two texts, as edits of `old`: in order, not overlapping.
pub fn changed_lines(old: &str, new: &str) -> Vec<TextEdit> {
    lines::whole(old, new)
}

/// Why a text is left as it is. `Display` is the sentence for the person; lines count from 1
/// there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormatRefusal {
    /// The text does not follow TOML.
    Syntax {
        /// Line of the first fault, 0-based.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// Valid TOML 1.1 that the formatter cannot read.
    NewSyntax {
        /// Line, 0-based.
        line: usize,
    },
    /// One table is longer than [`MAX_BLOCK`].
    TooLong {
        /// Line it starts at, 0-based.
        line: usize,
    },
    /// The formatter would change what the text says, or never settles.
    Unsafe {
        /// Line of the table in question, 0-based.
        line: usize,
    },
}

impl fmt::Display for FormatRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { line, message } => write!(
                f,
                "Not formatted: line {} is no valid TOML ({message})",
                line + 1
            ),
            Self::NewSyntax { line } => write!(
                f,
                "Not formatted: line {} is TOML 1.1, which the formatter cannot read yet",
                line + 1
            ),
            Self::TooLong { line } => write!(
                f,
                "Not formatted: the table at line {} is longer than {} KiB",
                line + 1,
                MAX_BLOCK / 1024
            ),
            Self::Unsafe { line } => write!(
                f,
                "Not formatted: the formatter would change what the table at line {} says",
                line + 1
            ),
        }
    }
}

impl std::error::Error for FormatRefusal {}

/// The edits that format a text, or the part of it that `range` (bytes) touches: in order, not
/// overlapping, as small as lines allow. None where it is formatted already.
///
/// Comments, line breaks (LF or CRLF, by the first one) and a byte order mark are kept.
///
/// # Errors
///
/// Where the text, or a table that the range touches, cannot be formatted safely. Nothing is
/// changed then.
pub fn format(
    text: &str,
    options: &FormatOptions,
    range: Option<TextRange>,
) -> Result<Vec<TextEdit>, FormatRefusal> {
    format_document(&Document::parse(text), options, range)
}

/// As [`format()`], for a text that is parsed already.
///
/// # Errors
///
/// As [`format()`].
pub fn format_document(
    document: &Document,
    options: &FormatOptions,
    range: Option<TextRange>,
) -> Result<Vec<TextEdit>, FormatRefusal> {
    let text: &str = document.text();
    let line_of = |offset: u32| {
        let before = text.get(..offset as usize).unwrap_or_default();
        before.bytes().filter(|&byte| byte == b'\n').count()
    };
    let crlf = text
        .find('\n')
        .is_some_and(|at| text.get(..at).is_some_and(|line| line.ends_with('\r')));
    let taplo = Options {
        array_auto_collapse: false,
        inline_table_expand: false,
        allowed_blank_lines: BLANK_LINES,
        indent_string: options.indent.clone(),
        column_width: options.width,
        crlf,
        ..Options::default()
    };
    let end_of_line = if crlf { "\r\n" } else { "\n" };
    let blocks = document.blocks();
    let mut edits = Vec::new();
    let mut above_is_blank = true; // nothing stands above yet
    for (at, (start, block)) in blocks.iter().enumerate() {
        let is_last = at + 1 == blocks.len();
        let place = TextRange::new(*start, start + block.len);
        let source = Source::of(place, text);
        let above = above_is_blank;
        above_is_blank &= source.body.is_empty();
        if range.is_some_and(|range| !touch(range, place)) {
            continue;
        }
        if let Some(fault) = block.faults.first() {
            return Err(FormatRefusal::Syntax {
                line: line_of(start + fault.span.start),
                message: fault.message.clone(),
            });
        }
        if source.body.len() > MAX_BLOCK {
            return Err(FormatRefusal::TooLong {
                line: line_of(*start),
            });
        }
        let body = settle(source.body, &taplo).map_err(|refusal| match refusal {
            BlockRefusal::NewSyntax(offset) => FormatRefusal::NewSyntax {
                line: line_of(source.start + offset),
            },
            BlockRefusal::Unsafe => FormatRefusal::Unsafe {
                line: line_of(*start),
            },
        })?;
        let mut fresh = String::with_capacity(place.len() as usize + 16);
        if !above {
            fresh.extend(std::iter::repeat_n(end_of_line, source.blank_above));
        }
        fresh.push_str(&body);
        if !body.is_empty() {
            fresh.push_str(end_of_line);
            if !is_last {
                fresh.extend(std::iter::repeat_n(end_of_line, source.blank_below));
            }
        } else if !above && !is_last && source.blank_above == 0 {
            fresh.extend(std::iter::repeat_n(end_of_line, source.blank_below));
        }
        let old = TextRange::new(source.start, place.end);
        if old.of(text) == fresh {
            continue;
        }
        if !same_block(block, &fresh) {
            return Err(FormatRefusal::Unsafe {
                line: line_of(*start),
            });
        }
        lines::diff(old, old.of(text), &fresh, &mut edits);
    }
    if let Some(range) = range {
        let inside: Vec<TextEdit> = edits
            .iter()
            .filter(|edit| touch(range, edit.range))
            .cloned()
            .collect();
        // A part of the edits need not make sense by itself; then the tables are done whole.
        if same_document(document, &apply(text, &inside)) {
            edits = inside;
        }
    }
    Ok(edits)
}

/// A text with edits (in order, not overlapping) applied.
pub fn apply(text: &str, edits: &[TextEdit]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        out.push_str(TextRange::new(at, edit.range.start).of(text));
        out.push_str(&edit.text);
        at = edit.range.end;
    }
    out.push_str(text.get(at as usize..).unwrap_or_default());
    out
}

/// Whether the two have a byte or a border in common.
fn touch(a: TextRange, b: TextRange) -> bool {
    a.start <= b.end && b.start <= a.end
}

/// The text of a block, taken apart.
struct Source<'a> {
    /// Where `blank_above` begins in the document: the start of the block, behind a byte order
    /// mark.
    start: u32,
    /// Without blank lines around it, and without the last line break.
    body: &'a str,
    /// Blank lines above and below that stay.
    blank_above: usize,
    blank_below: usize,
}

impl<'a> Source<'a> {
    fn of(place: TextRange, text: &'a str) -> Self {
        let whole = place.of(text);
        let plain = whole.strip_prefix('\u{feff}').unwrap_or(whole);
        let start = place.end - u32::try_from(plain.len()).unwrap_or(0);
        let body = plain.trim_matches([' ', '\t', '\r', '\n']);
        let (above, below) = match plain.find(body) {
            Some(at) if !body.is_empty() => (
                plain.get(..at).unwrap_or_default(),
                plain.get(at + body.len()..).unwrap_or_default(),
            ),
            _ => ("", plain),
        };
        let breaks = |part: &str| part.bytes().filter(|&byte| byte == b'\n').count();
        Self {
            start,
            body,
            blank_above: breaks(above).min(BLANK_LINES),
            blank_below: breaks(below)
                .saturating_sub(usize::from(!body.is_empty()))
                .min(BLANK_LINES),
        }
    }
}

enum BlockRefusal {
    /// At this byte of the block's body.
    NewSyntax(u32),
    Unsafe,
}

/// The body formatted until that changes nothing more; without its last line break.
fn settle(body: &str, options: &Options) -> Result<String, BlockRefusal> {
    let mut text = body.to_owned();
    for _ in 0..PASSES {
        let parsed = taplo::parser::parse(&text);
        if let Some(error) = parsed.errors.first() {
            return Err(BlockRefusal::NewSyntax(error.range.start().into()));
        }
        let tree = parsed.into_syntax();
        let fresh = formatter::format_syntax(tree.clone(), options.clone());
        let fresh = fresh.trim_end_matches([' ', '\t', '\r', '\n']);
        if fresh == text {
            return Ok(text);
        }
        if comments(&taplo::parser::parse(fresh).into_syntax()) != comments(&tree) {
            return Err(BlockRefusal::Unsafe);
        }
        fresh.clone_into(&mut text);
    }
    Err(BlockRefusal::Unsafe)
}

fn comments(tree: &taplo::syntax::SyntaxNode) -> Vec<String> {
    tree.descendants_with_tokens()
        .filter_map(taplo::rowan::NodeOrToken::into_token)
        .filter(|token| token.kind() == SyntaxKind::COMMENT)
        .map(|token| token.text().trim_end().to_owned())
        .collect()
}

/// Whether `fresh` is one block that says what `block` says.
fn same_block(block: &Block, fresh: &str) -> bool {
    let document = Document::parse(fresh);
    let mut blocks = document.blocks().iter().map(|(_, block)| block);
    let (Some(first), second, None) = (blocks.next(), blocks.next(), blocks.next()) else {
        return false;
    };
    match second {
        // The header stands behind an empty first block.
        Some(second) if block.header.is_some() => {
            first.header.is_none() && first.entries.is_empty() && says_the_same(block, second)
        }
        Some(_) => false,
        None => says_the_same(block, first),
    }
}

/// Whether `fresh` says what the document says, block by block.
fn same_document(document: &Document, fresh: &str) -> bool {
    let fresh = Document::parse(fresh);
    let (old, new) = (document.blocks(), fresh.blocks());
    old.len() == new.len()
        && old
            .iter()
            .zip(new)
            .all(|((_, old), (_, new))| says_the_same(old, new))
}

fn says_the_same(a: &Block, b: &Block) -> bool {
    let headers = match (&a.header, &b.header) {
        (None, None) => true,
        (Some(a), Some(b)) => a.array == b.array && same_keys(&a.keys, &b.keys),
        _ => false,
    };
    headers && a.faults.len() == b.faults.len() && same_entries(&a.entries, &b.entries)
}

fn same_entries(a: &[Entry], b: &[Entry]) -> bool {
    let same = |(a, b): (&Entry, &Entry)| {
        same_keys(&a.keys, &b.keys)
            && match (&a.value, &b.value) {
                (Some(a), Some(b)) => same_value(a, b),
                (None, None) => true,
                _ => false,
            }
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}

fn same_keys(a: &[Key], b: &[Key]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.text == b.text)
}

fn same_value(a: &Value, b: &Value) -> bool {
    match (&a.kind, &b.kind) {
        (ValueKind::String(a), ValueKind::String(b)) => a.value == b.value,
        (ValueKind::Float(a), ValueKind::Float(b)) => a.to_bits() == b.to_bits(),
        (ValueKind::Array(a), ValueKind::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b))
        }
        (ValueKind::Table(a), ValueKind::Table(b)) => same_entries(a, b),
        (a, b) => a == b,
    }
}
