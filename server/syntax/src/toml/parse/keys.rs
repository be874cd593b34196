//! Keys, bare, quoted and dotted.

use smol_str::SmolStr;
use toml_parser::decoder::Encoding;
use toml_parser::lexer::TokenKind;

use super::super::decode::{self, shorten};
use super::super::fault::FaultKind;
use super::super::tree::{Entry, Key};
use super::cursor::Tok;
use super::{BOM, BOM_MESSAGE, MAX_KEY_PARTS, Parser};

impl Parser<'_> {
    pub(super) fn nonempty(&self, mut keys: Vec<Key>, at: usize) -> Vec<Key> {
        if keys.is_empty() {
            keys.push(Key {
                text: "".into(),
                span: self.span(at, at),
                quoted: false,
            });
        }
        keys
    }

    /// Dotted keys; stops before what is no part of a key.
    pub(super) fn keys(&mut self, keys: &mut Vec<Key>) {
        loop {
            self.cursor.blanks();
            let token = self.cursor.peek();
            match token.kind {
                TokenKind::Atom => {
                    self.cursor.take();
                    keys.push(self.bare_key(token));
                }
                TokenKind::BasicString | TokenKind::LiteralString => {
                    self.cursor.take();
                    keys.push(self.quoted_key(token));
                }
                TokenKind::Dot | TokenKind::Equals | TokenKind::RightSquareBracket => {
                    let at = token.start;
                    keys.push(Key {
                        text: "".into(),
                        span: self.span(at, at),
                        quoted: false,
                    });
                }
                _ => {
                    if !keys.is_empty() {
                        let at = self.cursor.end;
                        keys.push(Key {
                            text: "".into(),
                            span: self.span(at, at),
                            quoted: false,
                        });
                    }
                    return;
                }
            }
            self.cursor.blanks();
            if self.cursor.take_if(TokenKind::Dot).is_none() {
                return;
            }
            if keys.len() >= MAX_KEY_PARTS {
                self.skip_key_parts(keys);
                return;
            }
        }
    }

    /// Takes the parts of a key that has too many: each of them would be a table in a table.
    fn skip_key_parts(&mut self, keys: &[Key]) {
        let start = keys
            .first()
            .map_or(self.cursor.end, |key| self.start + key.span.start as usize);
        while matches!(
            self.cursor.peek().kind,
            TokenKind::Atom
                | TokenKind::Dot
                | TokenKind::Whitespace
                | TokenKind::BasicString
                | TokenKind::LiteralString
        ) {
            self.cursor.take();
        }
        let message = format!("a key has at most {MAX_KEY_PARTS} parts; the rest is not read");
        let end = keys
            .last()
            .map_or(start, |key| self.start + key.span.end as usize);
        self.fault(FaultKind::TooDeep, start, end, message);
    }

    /// Reports a key before `=` that lacks a part.
    pub(super) fn whole_key(&mut self, keys: &[Key], start: usize, end: usize) {
        if keys.iter().any(|key| key.text.is_empty() && !key.quoted) {
            let message = "a part of the key is missing before `=`".to_owned();
            self.fault(FaultKind::Syntax, start, end, message);
        }
    }

    /// An entry that has no `=` yet.
    pub(super) fn key_alone(&self, keys: Vec<Key>, start: usize, end: usize) -> Entry {
        Entry {
            keys: self.nonempty(keys, start),
            equals: None,
            value: None,
            span: self.span(start, end),
        }
    }

    pub(super) fn bare_key(&mut self, token: Tok) -> Key {
        let text = self.slice(token);
        let key = |text: SmolStr, span| Key {
            text,
            span,
            quoted: false,
        };
        let span = self.span(token.start, token.end);
        if decode::is_bare_key(text) {
            return key(text.into(), span);
        }
        if text.contains(BOM) {
            self.fault(
                FaultKind::BomInside,
                token.start,
                token.end,
                BOM_MESSAGE.to_owned(),
            );
        } else {
            let shown = shorten(text);
            let message = format!(
                "`{shown}` is no bare key (A-Z a-z 0-9 _ -); write it in quotes: \"{shown}\""
            );
            self.fault(FaultKind::Syntax, token.start, token.end, message);
        }
        key(text.replace(BOM, "").into(), span)
    }

    pub(super) fn quoted_key(&mut self, token: Tok) -> Key {
        let raw = self.slice(token);
        let span = self.span(token.start, token.end);
        let encoding = token.kind.encoding().unwrap_or(Encoding::BasicString);
        let text = match decode::string(raw, encoding) {
            Ok(text) => text.value,
            Err(fault) => {
                self.scalar_fault(token.start, fault);
                raw.trim_matches(['"', '\'']).into()
            }
        };
        Key {
            text,
            span,
            quoted: true,
        }
    }
}
