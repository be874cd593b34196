use super::{
    Arg, Expr, Fault, FaultKind, Filter, Head, Part, Path, Segment, SegmentKind, Template,
};
use crate::TextRange;
use crate::text::to_u32;

const OPEN: &str = "{{";
const CLOSE: &str = "}}";

/// Parse `source` from the character border `start` on.
pub(super) fn parse(source: &str, start: usize) -> Template {
    let mut template = Template::default();
    let mut text_start = start;
    let mut at = start;
    while let Some(open) = find(source, at, OPEN) {
        // Of three braces and more the last two open: `{{{x}}}` is `{`, `{{x}}`, `}`.
        let braces = rest(source, open)
            .bytes()
            .take_while(|&b| b == b'{')
            .count();
        let open = open + braces - OPEN.len();
        let mut parser = Parser {
            source,
            at: open + OPEN.len(),
            faults: Vec::new(),
        };
        let (head, filters) = parser.chain();
        if parser.looking_at(CLOSE) {
            let end = parser.at + CLOSE.len();
            push_text(&mut template, text_start, open);
            let range = span(open, end);
            template.parts.push(Part::Expr(Expr {
                range,
                terminated: true,
                head,
                filters,
            }));
            template.faults.append(&mut parser.faults);
            (at, text_start) = (end, end);
        } else {
            // What stands inside an unterminated expression is anybody's guess: one fault, and
            // the guess reaches to the end of its line or to the next opening at most.
            let inside = rest(source, open + OPEN.len());
            let inside = inside
                .find(OPEN)
                .and_then(|at| inside.get(..at))
                .unwrap_or(inside);
            let limit = inside.find(['\n', '\r']).unwrap_or(inside.len());
            let end = open + OPEN.len() + limit;
            let within = source.get(..end).unwrap_or_default();
            let mut guess = Parser {
                source: within,
                at: open + OPEN.len(),
                faults: Vec::new(),
            };
            let (head, filters) = guess.chain();
            push_text(&mut template, text_start, open);
            let range = span(open, end);
            template.parts.push(Part::Expr(Expr {
                range,
                terminated: false,
                head,
                filters,
            }));
            template.faults.push(Fault {
                kind: FaultKind::Unterminated,
                range: span(open, open + OPEN.len()),
            });
            (at, text_start) = (end, end);
        }
    }
    push_text(&mut template, text_start, source.len());
    template
}

fn push_text(template: &mut Template, start: usize, end: usize) {
    if start < end {
        template.parts.push(Part::Text(span(start, end)));
    }
}

fn span(start: usize, end: usize) -> TextRange {
    TextRange::new(to_u32(start), to_u32(end))
}

fn rest(source: &str, at: usize) -> &str {
    source.get(at..).unwrap_or_default()
}

fn find(source: &str, from: usize, what: &str) -> Option<usize> {
    rest(source, from).find(what).map(|at| from + at)
}

/// Reads one expression. `at` is always a character border.
struct Parser<'a> {
    source: &'a str,
    at: usize,
    faults: Vec<Fault>,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        rest(self.source, self.at)
    }

    fn looking_at(&self, what: &str) -> bool {
        self.rest().starts_with(what)
    }

    fn fault(&mut self, kind: FaultKind, range: TextRange) {
        self.faults.push(Fault { kind, range });
    }

    /// Whether `at` stands before `|`, `}}`, `{{` or at the end: what ends every piece.
    fn at_border(&self) -> bool {
        let rest = self.rest();
        rest.is_empty()
            || rest.starts_with('|')
            || rest.starts_with(CLOSE)
            || rest.starts_with(OPEN)
    }

    /// Everything up to the next border.
    fn piece(&mut self) -> &'a str {
        let start = self.at;
        while !self.at_border() {
            self.step();
        }
        self.source.get(start..self.at).unwrap_or_default()
    }

    fn step(&mut self) {
        self.at += self.rest().chars().next().map_or(0, char::len_utf8);
    }

    fn skip_blanks(&mut self) {
        self.at = self.source.len() - self.rest().trim_start().len();
    }

    /// A quoted text at `at`: its end and what it holds. Only where its closing quote is followed
    /// by a border it protects what is inside; otherwise the quote is a letter like any other, so
    /// a stray apostrophe does not swallow the rest of the string.
    fn quoted(&self) -> Option<(usize, &'a str)> {
        let text = self.rest();
        let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let inside = text.get(1..)?;
        let close = inside.find(quote)?;
        let after = inside.get(close + 1..)?.trim_start();
        let closed = after.is_empty() || after.starts_with('|') || after.starts_with(CLOSE);
        closed.then_some((self.at + close + 2, inside.get(..close)?))
    }

    fn at_quote(&self) -> bool {
        self.rest().starts_with(['\'', '"'])
    }

    /// `head | filter | …` up to `}}`, `{{` or the end.
    fn chain(&mut self) -> (Head, Vec<Filter>) {
        let head = self.head();
        let mut filters = Vec::new();
        while self.looking_at("|") {
            self.at += 1;
            filters.push(self.filter());
        }
        (head, filters)
    }

    fn head(&mut self) -> Head {
        let before = self.at;
        self.skip_blanks();
        if self.at_quote() {
            return self.literal();
        }
        if self.at_border() {
            let range = span(before, self.at);
            self.fault(FaultKind::EmptyExpression, range);
            return Head::Missing(range);
        }
        Head::Path(self.path())
    }

    fn literal(&mut self) -> Head {
        let start = self.at;
        if let Some((end, value)) = self.quoted() {
            self.at = end;
            self.skip_blanks();
            return Head::Literal {
                value: value.to_owned(),
                range: span(start, end),
            };
        }
        let text = self.piece().trim_end();
        let range = span(start, start + text.len());
        self.fault(FaultKind::UnclosedQuote, range);
        let value = text.get(1..).unwrap_or_default().to_owned();
        Head::Literal { value, range }
    }

    fn path(&mut self) -> Path {
        let start = self.at;
        let mut segments = vec![self.key()];
        loop {
            if self.looking_at(".") {
                self.at += 1;
                segments.push(self.key());
            } else if self.looking_at("[") {
                segments.push(self.bracket());
            } else if self.at_border() {
                break;
            } else {
                // Only behind a bracket: `a[0]b`, or blanks before the border.
                let from = self.at;
                let stray = self.until_step();
                let text = stray.trim();
                if !text.is_empty() {
                    let lead = stray.len() - stray.trim_start().len();
                    let range = span(from + lead, from + lead + text.len());
                    self.fault(FaultKind::BadIndex, range);
                    segments.push(Segment {
                        kind: SegmentKind::Key(String::new()),
                        range,
                    });
                }
            }
        }
        let end = segments
            .last()
            .map_or(to_u32(start), |segment| segment.range.end);
        Path {
            segments,
            range: TextRange::new(to_u32(start), end),
        }
    }

    /// Everything up to a `.`, a `[` or a border.
    fn until_step(&mut self) -> &'a str {
        let start = self.at;
        while !self.at_border() && !self.rest().starts_with(['.', '[']) {
            self.step();
        }
        self.source.get(start..self.at).unwrap_or_default()
    }

    /// A bare key. It may hold blanks inside (`{{Full Name}}`), not around.
    fn key(&mut self) -> Segment {
        let start = self.at;
        let text = self.until_step();
        let lead = text.len() - text.trim_start().len();
        let key = text.trim();
        let range = span(start + lead, start + lead + key.len());
        if key.is_empty() {
            // Where a key should begin: right behind the dot.
            let range = TextRange::empty(to_u32(start));
            self.fault(FaultKind::EmptySegment, range);
            return Segment {
                kind: SegmentKind::Key(String::new()),
                range,
            };
        }
        // `007` is a key: as a number it would lose its zeros.
        let kind = match key.parse::<i64>() {
            Ok(index) if index >= 0 && index.to_string() == key => SegmentKind::Index(index),
            _ => SegmentKind::Key(key.to_owned()),
        };
        Segment { kind, range }
    }

    /// `[0]`, `[-1]`, `['key']`; `at` stands on the `[`.
    fn bracket(&mut self) -> Segment {
        let start = self.at;
        if let Some((end, key)) = quoted_bracket(self.rest()) {
            self.at = start + end;
            let kind = SegmentKind::Key(key.to_owned());
            return Segment {
                kind,
                range: span(start, self.at),
            };
        }
        self.at += 1;
        let from = self.at;
        while !self.at_border() && !self.rest().starts_with([']', '.', '[']) {
            self.step();
        }
        let inside = self.source.get(from..self.at).unwrap_or_default();
        let closed = self.looking_at("]");
        let end = if closed {
            self.at + 1
        } else {
            from + inside.trim_end().len()
        };
        self.at = self.at.max(end);
        let range = span(start, end);
        match inside.trim().parse::<i64>() {
            Ok(index) if closed => Segment {
                kind: SegmentKind::Index(index),
                range,
            },
            _ => {
                self.fault(FaultKind::BadIndex, range);
                Segment {
                    kind: SegmentKind::Key(String::new()),
                    range,
                }
            }
        }
    }

    fn filter(&mut self) -> Filter {
        let before = self.at;
        self.skip_blanks();
        let start = self.at;
        while !self.at_border() && !self.looking_at(":") {
            self.step();
        }
        let name = self
            .source
            .get(start..self.at)
            .unwrap_or_default()
            .trim_end();
        let name_range = span(start, start + name.len());
        if name.is_empty() {
            // The gap with the bar in front: there is always something to underline.
            self.fault(FaultKind::EmptyFilter, span(before - 1, start));
        }
        let arg = self.looking_at(":").then(|| {
            self.at += 1;
            self.arg()
        });
        let range = arg
            .as_ref()
            .map_or(name_range, |arg| name_range.cover(arg.range));
        Filter {
            name: name.to_owned(),
            name_range,
            arg,
            range,
        }
    }

    fn arg(&mut self) -> Arg {
        let start = self.at;
        self.skip_blanks();
        let opening = self.at;
        if let Some((end, text)) = self.quoted() {
            self.at = end;
            self.skip_blanks();
            return Arg {
                text: text.to_owned(),
                range: span(opening, end),
                quoted: true,
            };
        }
        let stray = self.at_quote();
        self.at = start;
        let piece = self.piece();
        let text = if piece.trim().is_empty() {
            piece
        } else {
            piece.trim_end()
        };
        let range = span(start, start + text.len());
        if stray {
            self.fault(FaultKind::UnclosedQuote, span(opening, start + text.len()));
        }
        Arg {
            text: text.to_owned(),
            range,
            quoted: false,
        }
    }
}

/// `['key']` or `["key"]` at the start of `text`: the length of it all and the key. Shared with
/// the path grammar.
pub(crate) fn quoted_bracket(text: &str) -> Option<(usize, &str)> {
    let inside = text.strip_prefix('[')?.trim_start();
    let quote = inside.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let inside = inside.get(1..)?;
    let (key, after) = inside.split_once(quote)?;
    let after = after.trim_start().strip_prefix(']')?;
    Some((text.len() - after.len(), key))
}
