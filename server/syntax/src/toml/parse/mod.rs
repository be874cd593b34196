//! The parser: one block at a time, statement by statement, with recovery.
//!
//! Recovery has two rules. A fault within a line ends with that line. And where an array, an
//! inline table or a multi-line string is left open, it is taken to end before the first later
//! line that looks like a statement (`[name` or `key =`): the statement is parsed a second time
//! with that line as its end.

mod cursor;
mod keys;
mod value;

use toml_parser::lexer::TokenKind;

use self::cursor::{Cursor, Tok};
use super::build::line_starts_statement;
use super::decode::{ScalarFault, shorten};
use super::fault::{Fault, FaultKind};
use super::tree::{Block, Entry, Header, Key, Value, ValueKind};
use super::{BlockId, Span};

/// Keys with more parts than this are cut and reported.
const MAX_KEY_PARTS: usize = 32;
const BOM: &str = "\u{feff}";

/// Parses the block that starts at `start`, a line start: a header line (unless it is the `root`
/// block, which has none) and the entries up to the next header.
pub(super) fn block(text: &str, start: usize, root: bool, id: BlockId) -> Block {
    let mut parser = Parser {
        text,
        start,
        root,
        bounded: false,
        id,
        cursor: Cursor::new(text, start, text.len()),
        header: None,
        entries: Vec::new(),
        faults: Vec::new(),
        reach: start,
    };
    let end = parser.block();
    // Whether the next line is a header was read off that line.
    parser.look_to_line_end(end);
    let reach = parser.reach - start;
    // Blocks are kept for as long as the document: without room to grow.
    parser.entries.shrink_to_fit();
    Block {
        id,
        len: offset(end - start),
        header: parser.header,
        entries: parser.entries,
        faults: parser.faults,
        reach: offset(reach),
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// How many tables the parts of a key stand for.
fn depth_of(keys: &[Key]) -> u32 {
    u32::try_from(keys.len()).unwrap_or(u32::MAX)
}

/// Something was left open: parse again with an end in sight.
struct LeftOpen;

struct Parser<'t> {
    text: &'t str,
    start: usize,
    root: bool,
    /// The end of the statement is in sight: nothing is left open any more.
    bounded: bool,
    id: BlockId,
    cursor: Cursor<'t>,
    header: Option<Header>,
    entries: Vec<Entry>,
    faults: Vec<Fault>,
    reach: usize,
}

impl<'t> Parser<'t> {
    /// Parses statements up to the next header; gives the end of the block.
    fn block(&mut self) -> usize {
        loop {
            let line = self.cursor.end;
            let rest = self.text.get(line..).unwrap_or("");
            let marked = line > 0 && rest.starts_with(BOM);
            if marked {
                // A fresh cursor skips the mark, as it does at the start of a file.
                self.cursor = Cursor::new(self.text, line, self.text.len());
            }
            self.cursor.blanks();
            let token = self.cursor.peek();
            let header =
                token.kind == TokenKind::LeftSquareBracket && !self.json_starts(token.start);
            if header && (self.root || self.header.is_some()) {
                // The next block, its mark included.
                return line;
            }
            if marked {
                let end = line + BOM.len();
                self.fault(FaultKind::BomInside, line, end, BOM_MESSAGE.to_owned());
            }
            match token.kind {
                TokenKind::Eof => return self.text.len(),
                TokenKind::Newline => {
                    let token = self.cursor.take();
                    self.lone_carriage_return(token);
                }
                TokenKind::Comment => {
                    let token = self.cursor.take();
                    self.comment(token);
                }
                TokenKind::LeftSquareBracket if header => {
                    if self.header() {
                        self.line_end("the header");
                    } else {
                        self.skip_line();
                    }
                }
                TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => {
                    self.json(token.start);
                }
                TokenKind::BasicString if self.json_member(token) => self.json(token.start),
                _ => self.statement(),
            }
        }
    }

    /// The header line without its end. False where it is not closed.
    fn header(&mut self) -> bool {
        let open = self.cursor.take();
        let array = self.cursor.take_if(TokenKind::LeftSquareBracket).is_some();
        let mut keys = Vec::new();
        self.keys(&mut keys);
        self.cursor.blanks();
        let mut end = keys
            .last()
            .map_or(open.end, |key: &Key| self.start + key.span.end as usize);
        let mut closed = false;
        if let Some(close) = self.cursor.take_if(TokenKind::RightSquareBracket) {
            end = close.end;
            closed = true;
            if array {
                match self.cursor.take_if(TokenKind::RightSquareBracket) {
                    Some(close) => end = close.end,
                    None => closed = false,
                }
            }
        }
        let missing = keys
            .iter()
            .find(|key| key.text.is_empty() && !key.quoted)
            .map(|key| key.span);
        if !closed {
            let close = if array { "]]" } else { "]" };
            self.fault(
                FaultKind::Syntax,
                open.start,
                end,
                format!("this header is not closed; end it with `{close}`"),
            );
        } else if missing.is_some() {
            let message = "a part of this table's name is missing; write it, or remove the dot";
            self.fault(FaultKind::Syntax, open.start, end, message.to_owned());
        }
        let span = self.span(open.start, end);
        self.header = Some(Header { keys, array, span });
        closed
    }

    /// One `key = value`, parsed again with an end where its value was left open.
    fn statement(&mut self) {
        let start = self.cursor.peek().start;
        let faults = self.faults.len();
        if let Ok(entry) = self.entry() {
            self.entries.push(entry);
            return;
        }
        let seen = self.cursor.peek().end;
        self.look_to_line_end(seen);
        let end = self.statement_end(start);
        self.look_to_line_end(end);
        self.faults.truncate(faults);
        self.cursor = Cursor::new(self.text, start, end);
        self.bounded = true;
        if let Ok(entry) = self.entry() {
            self.entries.push(entry);
        }
        self.bounded = false;
        self.cursor = Cursor::new(self.text, end, self.text.len());
    }

    /// Notes that the line `at` lies in had a say in this block.
    fn look_to_line_end(&mut self, at: usize) {
        let rest = self.text.get(at..).unwrap_or("");
        let end =
            memchr::memchr(b'\n', rest.as_bytes()).map_or(self.text.len(), |found| at + found);
        self.reach = self.reach.max(end + 1);
    }

    /// Where a statement left open ends: before the first later line that looks like one.
    fn statement_end(&self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = start;
        while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr(b'\n', rest)) {
            at += found + 1;
            if self.text.get(at..).is_some_and(line_starts_statement) {
                return at;
            }
        }
        self.text.len()
    }

    /// `key = value` up to the line break (which is taken).
    fn entry(&mut self) -> Result<Entry, LeftOpen> {
        let first = self.cursor.peek();
        // Most keys have one part; a vector of its own accord makes room for four.
        let mut keys = Vec::with_capacity(1);
        self.keys(&mut keys);
        self.cursor.blanks();
        let key_end = keys
            .last()
            .map_or(first.start, |key: &Key| self.start + key.span.end as usize);
        let Some(equals) = self.cursor.take_if(TokenKind::Equals) else {
            let next = self.cursor.peek();
            let (start, end) = match next.kind {
                TokenKind::Newline | TokenKind::Eof | TokenKind::Comment => {
                    (first.start, key_end.max(first.start))
                }
                _ => (next.start, self.line_end_of(next.start)),
            };
            let message = if next.kind == TokenKind::Atom && self.slice(next).starts_with(':') {
                "TOML writes `key = value`, with `=` for the `:`".to_owned()
            } else if keys.iter().all(|key| key.text.is_empty()) {
                format!(
                    "`{}` starts no statement; expected `key = value` or `[table]`",
                    shorten(self.slice(next))
                )
            } else {
                "a key needs a value: `key = value`".to_owned()
            };
            self.fault(FaultKind::Syntax, start, end.max(start), message);
            self.skip_line();
            return Ok(self.key_alone(keys, first.start, key_end));
        };
        self.whole_key(&keys, first.start, equals.end);
        let equals_span = self.span(equals.start, equals.end);
        let value = self.value_after(equals, depth_of(&keys))?;
        let end = value
            .as_ref()
            .map_or(equals.end, |value| self.start + value.span.end as usize);
        if !self.line_end("the value")
            && !self.bounded
            && self.swallowed_a_statement(value.as_ref())
        {
            return Err(LeftOpen);
        }
        let span = self.span(first.start, end);
        Ok(Entry {
            keys: self.nonempty(keys, first.start),
            equals: Some(equals_span),
            value,
            span,
        })
    }

    /// Whether a multi-line string with rubbish behind it holds a line that looks like a
    /// statement: its closing quotes are most likely the opening ones of another string.
    fn swallowed_a_statement(&self, value: Option<&Value>) -> bool {
        let Some(Value {
            span,
            kind: ValueKind::String(text),
        }) = value
        else {
            return false;
        };
        let start = self.start + span.start as usize;
        text.form.quote_len() == 3 && self.statement_end(start) < self.start + span.end as usize
    }

    /// Whether a `[` at the start of a line opens JSON rather than a header.
    fn json_starts(&self, at: usize) -> bool {
        let rest = self
            .text
            .get(at + 1..)
            .unwrap_or("")
            .trim_start_matches([' ', '\t', '[']);
        rest.starts_with('{')
    }

    /// Whether a string at the start of a line is a JSON member (`"key":`).
    fn json_member(&self, token: Tok) -> bool {
        self.text
            .get(token.end..)
            .unwrap_or("")
            .trim_start_matches([' ', '\t'])
            .starts_with(':')
    }

    /// JSON at the start of a line: one fault over all of it, then on with the line behind it.
    fn json(&mut self, start: usize) {
        let end = super::build::json_end(self.text, start);
        // Where JSON ends is sought through the whole text.
        self.look_to_line_end(self.text.len());
        let message = "this is JSON, not TOML; write tables and `key = value`".to_owned();
        self.fault(FaultKind::Json, start, end, message);
        self.cursor = Cursor::new(self.text, end, self.text.len());
        self.skip_line();
    }

    /// Blanks and a comment up to the line break, which is taken. False (and a fault) where
    /// something else stands there.
    fn line_end(&mut self, what: &str) -> bool {
        self.cursor.blanks();
        if self.cursor.peek().kind == TokenKind::Comment {
            let token = self.cursor.take();
            self.comment(token);
        }
        let token = self.cursor.peek();
        match token.kind {
            TokenKind::Eof => true,
            TokenKind::Newline => {
                self.cursor.take();
                self.lone_carriage_return(token);
                true
            }
            _ => {
                let end = self.line_end_of(token.start);
                let message = format!(
                    "nothing may follow {what} on its line; remove this or start a new line"
                );
                self.fault(FaultKind::Syntax, token.start, end, message);
                self.skip_line();
                false
            }
        }
    }

    /// Goes on behind the line break of the line the cursor is in.
    fn skip_line(&mut self) {
        let from = self.cursor.end;
        let rest = self.text.get(from..).unwrap_or("");
        let end = rest
            .find('\n')
            .map_or(self.text.len(), |found| from + found + 1);
        self.cursor = Cursor::new(self.text, end, self.text.len());
    }

    /// End of the text of the line that `at` lies in, trailing blanks left off.
    fn line_end_of(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or("");
        let line = rest.split('\n').next().unwrap_or("");
        at + line.trim_end().len()
    }

    fn lone_carriage_return(&mut self, token: Tok) {
        if self.slice(token) == "\r" {
            let message = "a carriage return ends no line by itself; use LF or CRLF".to_owned();
            self.fault(FaultKind::Syntax, token.start, token.end, message);
        }
    }

    fn comment(&mut self, token: Tok) {
        let bad = |b: u8| b < 0x20 && b != b'\t' && b != b'\r' || b == 0x7f;
        let text = self.slice(token);
        if let Some(at) = text.bytes().position(bad) {
            let at = token.start + at;
            self.fault(
                FaultKind::Syntax,
                at,
                at + 1,
                "a control character may not stand in a comment".to_owned(),
            );
        }
    }

    fn scalar_fault(&mut self, start: usize, fault: ScalarFault) {
        let (from, to) = (
            start + fault.range.start as usize,
            start + fault.range.end as usize,
        );
        // What runs over several lines shows on its first one.
        let text = self.slice_of(from, to);
        let text = text.split(['\r', '\n']).next().unwrap_or(text);
        let to = from + text.len();
        let kind = if text.contains(BOM) && fault.kind == FaultKind::Syntax {
            FaultKind::BomInside
        } else {
            fault.kind
        };
        let message = if kind == FaultKind::BomInside {
            BOM_MESSAGE.to_owned()
        } else {
            fault.message
        };
        self.fault(kind, from, to, message);
    }

    fn fault(&mut self, kind: FaultKind, start: usize, end: usize, message: String) {
        let span = self.span(start, end);
        self.faults.push(Fault {
            kind,
            span,
            message,
            related: None,
        });
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(
            self.id,
            start.saturating_sub(self.start),
            end.saturating_sub(self.start),
        )
    }

    fn slice(&self, token: Tok) -> &'t str {
        self.slice_of(token.start, token.end)
    }

    fn slice_of(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or("")
    }
}

const BOM_MESSAGE: &str =
    "a byte order mark (BOM, U+FEFF) may stand only at the very start of a file; remove this one";
