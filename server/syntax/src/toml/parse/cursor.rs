//! Tokens with absolute offsets and one token of lookahead.

use toml_parser::Source;
use toml_parser::lexer::{Lexer, Token, TokenKind};

/// Tokens from some offset on, with absolute offsets and one token of lookahead.
pub(super) struct Cursor<'t> {
    lexer: Lexer<'t>,
    base: usize,
    peeked: Option<Tok>,
    /// End of the last token taken.
    pub(super) end: usize,
}

#[derive(Clone, Copy)]
pub(super) struct Tok {
    pub(super) kind: TokenKind,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str, from: usize, to: usize) -> Self {
        let lexer = Source::new(text.get(from..to).unwrap_or("")).lex();
        Self {
            lexer,
            base: from,
            peeked: None,
            end: from,
        }
    }

    pub(super) fn peek(&mut self) -> Tok {
        if let Some(token) = self.peeked {
            return token;
        }
        let token = self.lexer.next().map_or(
            Tok {
                kind: TokenKind::Eof,
                start: self.end,
                end: self.end,
            },
            |token: Token| Tok {
                kind: token.kind(),
                start: self.base + token.span().start(),
                end: self.base + token.span().end(),
            },
        );
        self.peeked = Some(token);
        token
    }

    pub(super) fn take(&mut self) -> Tok {
        let token = self.peek();
        self.peeked = None;
        self.end = token.end;
        token
    }

    pub(super) fn take_if(&mut self, kind: TokenKind) -> Option<Tok> {
        (self.peek().kind == kind).then(|| self.take())
    }

    pub(super) fn blanks(&mut self) {
        while self.take_if(TokenKind::Whitespace).is_some() {}
    }
}
