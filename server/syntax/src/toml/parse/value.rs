//! Values: scalars, arrays, inline tables.

use toml_parser::decoder::Encoding;
use toml_parser::lexer::TokenKind;

use super::super::Span;
use super::super::build::line_starts_statement;
use super::super::decode;
use super::super::fault::FaultKind;
use super::super::tree::{Entry, Key, Value, ValueKind};
use super::cursor::Tok;
use super::{LeftOpen, Parser, depth_of};

/// Arrays and inline tables nested deeper than this are skipped and reported.
const MAX_DEPTH: u32 = 96;

impl Parser<'_> {
    /// The value behind `=`; `None` (and a fault) where the line ends before one.
    pub(super) fn value_after(
        &mut self,
        equals: Tok,
        depth: u32,
    ) -> Result<Option<Value>, LeftOpen> {
        loop {
            self.cursor.blanks();
            let token = self.cursor.peek();
            match token.kind {
                TokenKind::Equals => {
                    self.cursor.take();
                    self.fault(
                        FaultKind::Syntax,
                        token.start,
                        token.end,
                        "one `=` is enough; remove this one".to_owned(),
                    );
                }
                TokenKind::Newline
                | TokenKind::Comment
                | TokenKind::Eof
                | TokenKind::Comma
                | TokenKind::RightCurlyBracket
                | TokenKind::RightSquareBracket => {
                    let message = "the value is missing; write it behind `=`".to_owned();
                    self.fault(FaultKind::Syntax, equals.start, equals.end, message);
                    return Ok(None);
                }
                _ => return self.value(depth).map(Some),
            }
        }
    }

    pub(super) fn value(&mut self, depth: u32) -> Result<Value, LeftOpen> {
        let token = self.cursor.peek();
        match token.kind {
            TokenKind::LeftSquareBracket if depth >= MAX_DEPTH => Ok(self.too_deep()),
            TokenKind::LeftCurlyBracket if depth >= MAX_DEPTH => Ok(self.too_deep()),
            TokenKind::LeftSquareBracket => self.array(depth),
            TokenKind::LeftCurlyBracket => self.inline_table(depth),
            TokenKind::BasicString
            | TokenKind::LiteralString
            | TokenKind::MlBasicString
            | TokenKind::MlLiteralString => {
                self.cursor.take();
                let encoding = token.kind.encoding().unwrap_or(Encoding::BasicString);
                let span = self.span(token.start, token.end);
                match decode::string(self.slice(token), encoding) {
                    Ok(text) => Ok(Value {
                        span,
                        kind: ValueKind::String(text),
                    }),
                    Err(fault) => {
                        if token.end >= self.text.len() && self.slice(token).contains('\n') {
                            self.look_to_line_end(self.text.len());
                            if !self.bounded && self.statement_end(token.start) < self.text.len() {
                                return Err(LeftOpen);
                            }
                        }
                        let token = self.trim_line_end(token);
                        let span = self.span(token.start, token.end);
                        self.scalar_fault(token.start, fault);
                        Ok(Value {
                            span,
                            kind: ValueKind::Invalid,
                        })
                    }
                }
            }
            _ => Ok(self.bare_value()),
        }
    }

    /// A string left open at the end of a line takes the `\r` of the line break along: give it back.
    pub(super) fn trim_line_end(&self, token: Tok) -> Tok {
        let text = self.slice(token);
        Tok {
            end: token.start + text.trim_end_matches(['\r', '\n']).len(),
            ..token
        }
    }

    pub(super) fn bare_value(&mut self) -> Value {
        let first = self.cursor.take();
        let mut end = first.end;
        loop {
            let next = self.cursor.peek();
            match next.kind {
                TokenKind::Dot | TokenKind::Atom => end = self.cursor.take().end,
                // A date and its time may be parted by one blank; words in a row are one fault.
                TokenKind::Whitespace => {
                    let after = self
                        .text
                        .get(next.end..)
                        .and_then(|rest| rest.chars().next());
                    if after.is_none_or(|c| ",]}#=\r\n\"'[{".contains(c)) {
                        break;
                    }
                    self.cursor.take();
                }
                _ => break,
            }
        }
        let span = self.span(first.start, end);
        let kind = match decode::bare(self.slice_of(first.start, end)) {
            Ok(kind) => kind,
            Err(fault) => {
                self.scalar_fault(first.start, fault);
                ValueKind::Invalid
            }
        };
        Value { span, kind }
    }

    pub(super) fn array(&mut self, depth: u32) -> Result<Value, LeftOpen> {
        let open = self.cursor.take();
        let mut items: Vec<Value> = Vec::new();
        let mut comma = true;
        loop {
            let token = self.cursor.peek();
            match token.kind {
                TokenKind::Whitespace | TokenKind::Comment => self.trivia(token),
                TokenKind::Newline => {
                    self.trivia(token);
                    if !self.bounded && self.line_is_assignment() {
                        return Err(LeftOpen);
                    }
                }
                TokenKind::Comma => {
                    self.cursor.take();
                    if comma {
                        self.fault(
                            FaultKind::Syntax,
                            token.start,
                            token.end,
                            "a value is missing before this comma".to_owned(),
                        );
                    }
                    comma = true;
                }
                TokenKind::RightSquareBracket => {
                    self.cursor.take();
                    let span = self.span(open.start, token.end);
                    items.shrink_to_fit();
                    return Ok(Value {
                        span,
                        kind: ValueKind::Array(items),
                    });
                }
                TokenKind::Eof => {
                    return self
                        .left_open(open, items.last().map(|item| item.span), "array", "]")
                        .map(|span| Value {
                            span,
                            kind: ValueKind::Array(items),
                        });
                }
                TokenKind::Equals | TokenKind::RightCurlyBracket => {
                    self.cursor.take();
                    let message = format!(
                        "`{}` has no place in an array; close the array with `]`",
                        self.slice(token)
                    );
                    self.fault(FaultKind::Syntax, token.start, token.end, message);
                }
                _ => {
                    if !comma {
                        let at = items
                            .last()
                            .map_or(token.start, |item| self.start + item.span.end as usize);
                        self.missing_comma(at, token);
                    }
                    items.push(self.value(depth + 1)?);
                    comma = false;
                }
            }
        }
    }

    /// Takes a blank, a comment or a line break between values.
    fn trivia(&mut self, token: Tok) {
        self.cursor.take();
        match token.kind {
            TokenKind::Comment => self.comment(token),
            TokenKind::Newline => self.lone_carriage_return(token),
            _ => {}
        }
    }

    pub(super) fn inline_table(&mut self, depth: u32) -> Result<Value, LeftOpen> {
        let open = self.cursor.take();
        let mut entries: Vec<Entry> = Vec::new();
        let mut comma = true;
        loop {
            let token = self.cursor.peek();
            match token.kind {
                TokenKind::Whitespace | TokenKind::Comment => self.trivia(token),
                TokenKind::Newline => {
                    self.trivia(token);
                    // A `[` cannot begin a member: the table was left open lines ago.
                    self.cursor.blanks();
                    let next = self.cursor.peek().kind;
                    if !self.bounded && next == TokenKind::LeftSquareBracket {
                        return Err(LeftOpen);
                    }
                }
                TokenKind::Comma => {
                    self.cursor.take();
                    if comma {
                        self.fault(
                            FaultKind::Syntax,
                            token.start,
                            token.end,
                            "a member is missing before this comma".to_owned(),
                        );
                    }
                    comma = true;
                }
                TokenKind::RightCurlyBracket => {
                    self.cursor.take();
                    let span = self.span(open.start, token.end);
                    entries.shrink_to_fit();
                    return Ok(Value {
                        span,
                        kind: ValueKind::Table(entries),
                    });
                }
                TokenKind::Eof => {
                    return self
                        .left_open(
                            open,
                            entries.last().map(|entry| entry.span),
                            "inline table",
                            "}",
                        )
                        .map(|span| Value {
                            span,
                            kind: ValueKind::Table(entries),
                        });
                }
                TokenKind::Atom
                | TokenKind::BasicString
                | TokenKind::LiteralString
                | TokenKind::Dot
                | TokenKind::Equals => {
                    if !comma {
                        let at = entries
                            .last()
                            .map_or(token.start, |entry| self.start + entry.span.end as usize);
                        self.missing_comma(at, token);
                    }
                    entries.push(self.member(depth)?);
                    comma = false;
                }
                _ => {
                    // A value where a key belongs.
                    let value = self.value(depth + 1)?;
                    let (start, end) = (
                        self.start + value.span.start as usize,
                        self.start + value.span.end as usize,
                    );
                    self.fault(
                        FaultKind::Syntax,
                        start,
                        end,
                        "a member needs a key: `key = value`".to_owned(),
                    );
                    comma = false;
                }
            }
        }
    }

    /// One `key = value` of an inline table.
    pub(super) fn member(&mut self, depth: u32) -> Result<Entry, LeftOpen> {
        let first = self.cursor.peek();
        // Most keys have one part; a vector of its own accord makes room for four.
        let mut keys = Vec::with_capacity(1);
        self.keys(&mut keys);
        self.cursor.blanks();
        let key_end = keys
            .last()
            .map_or(first.end, |key: &Key| self.start + key.span.end as usize);
        let Some(equals) = self.cursor.take_if(TokenKind::Equals) else {
            let next = self.cursor.peek();
            if next.kind == TokenKind::Atom && self.slice(next).starts_with(':') {
                self.cursor.take();
            }
            let message = "a member needs a value: `key = value`".to_owned();
            self.fault(
                FaultKind::Syntax,
                first.start,
                key_end.max(first.start),
                message,
            );
            return Ok(self.key_alone(keys, first.start, key_end));
        };
        self.whole_key(&keys, first.start, equals.end);
        let value = self.value_after(equals, depth.saturating_add(depth_of(&keys)))?;
        let end = value
            .as_ref()
            .map_or(equals.end, |value| self.start + value.span.end as usize);
        let equals = Some(self.span(equals.start, equals.end));
        let span = self.span(first.start, end);
        Ok(Entry {
            keys: self.nonempty(keys, first.start),
            equals,
            value,
            span,
        })
    }

    /// The end of the text inside `open`: a reason to parse again, unless that has been done or
    /// there is no better end.
    pub(super) fn left_open(
        &mut self,
        open: Tok,
        last: Option<Span>,
        what: &str,
        close: &str,
    ) -> Result<Span, LeftOpen> {
        let end = last.map_or(open.end, |span| self.start + span.end as usize);
        let here = self.cursor.end;
        if !self.bounded && self.statement_end(open.start) < self.text.len() {
            return Err(LeftOpen);
        }
        self.look_to_line_end(here);
        let message = format!("this {what} is not closed; end it with `{close}`");
        self.fault(FaultKind::Syntax, open.start, open.end, message);
        Ok(self.span(open.start, end))
    }

    /// Takes what is nested too deep, up to its closing bracket.
    pub(super) fn too_deep(&mut self) -> Value {
        let open = self.cursor.take();
        let mut depth = 1u32;
        let mut end = open.end;
        while depth > 0 {
            let token = self.cursor.peek();
            match token.kind {
                TokenKind::Eof => break,
                TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => depth += 1,
                TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => depth -= 1,
                _ => {}
            }
            end = self.cursor.take().end;
        }
        let message = format!("nested deeper than {MAX_DEPTH} levels; this part is not read");
        self.fault(FaultKind::TooDeep, open.start, open.end, message);
        Value {
            span: self.span(open.start, end),
            kind: ValueKind::Invalid,
        }
    }

    /// Whether the line the cursor stands at the start of reads `key =`.
    pub(super) fn line_is_assignment(&mut self) -> bool {
        let at = self.cursor.end;
        self.text.get(at..).is_some_and(|line| {
            let line = line.trim_start_matches([' ', '\t']);
            !line.starts_with('[') && line_starts_statement(line)
        })
    }

    pub(super) fn missing_comma(&mut self, at: usize, next: Tok) {
        let gap = self.slice_of(at, next.start);
        let (start, end) = if gap.contains('\n') || gap.is_empty() {
            (at.saturating_sub(1), at)
        } else {
            (at, next.start)
        };
        let start = if self.text.is_char_boundary(start) {
            start
        } else {
            at
        };
        self.fault(
            FaultKind::Syntax,
            start,
            end,
            "a comma is missing here".to_owned(),
        );
    }
}
