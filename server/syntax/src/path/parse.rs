use super::{Alternative, Fault, FaultKind, MapAlternative, MapValue, ResultPath, Step, StepKind};
use crate::TextRange;
use crate::template::{Template, quoted_bracket};
use crate::text::to_u32;

pub(super) fn result_path(source: &str) -> ResultPath {
    let mut parser = Parser {
        source,
        at: 0,
        faults: Vec::new(),
    };
    let mut alternatives = Vec::new();
    if source.trim().is_empty() {
        alternatives.push(Alternative {
            steps: Vec::new(),
            range: TextRange::empty(0),
        });
    } else {
        loop {
            alternatives.push(parser.alternative());
            if !parser.eat('|') {
                break;
            }
        }
    }
    ResultPath {
        alternatives,
        faults: parser.faults,
    }
}

pub(super) fn map_value(source: &str) -> MapValue {
    let whole = to_u32(source.len());
    let lead = source.len() - source.trim_start().len();
    if source.trim_start().starts_with("re:") {
        return MapValue::Regex(TextRange::new(to_u32(lead + 3), whole));
    }
    let mut parser = Parser {
        source,
        at: 0,
        faults: Vec::new(),
    };
    let mut alternatives = Vec::new();
    if source.trim().is_empty() {
        alternatives.push(MapAlternative::Path(Alternative::default()));
        return MapValue::Choice {
            alternatives,
            faults: Vec::new(),
        };
    }
    loop {
        parser.skip_blanks();
        let start = parser.at;
        if parser.rest().starts_with("tpl:") {
            let template = Template::parse_from(source, start + 4);
            let range = TextRange::new(to_u32(start), whole);
            alternatives.push(MapAlternative::Template { template, range });
            break;
        }
        if parser.rest().starts_with('=') {
            alternatives.push(MapAlternative::Literal(TextRange::new(
                to_u32(start + 1),
                whole,
            )));
            break;
        }
        if parser.rest().starts_with("re:") {
            let range = TextRange::new(to_u32(start), whole);
            parser.fault(FaultKind::RegexNotAlone, range);
            let steps = vec![Step {
                kind: StepKind::Bad,
                range,
            }];
            alternatives.push(MapAlternative::Path(Alternative { steps, range }));
            break;
        }
        alternatives.push(MapAlternative::Path(parser.alternative()));
        if !parser.eat('|') {
            break;
        }
    }
    MapValue::Choice {
        alternatives,
        faults: parser.faults,
    }
}

/// Reads one path. `at` is always a character border.
struct Parser<'a> {
    source: &'a str,
    at: usize,
    faults: Vec<Fault>,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.rest().starts_with(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    fn skip_blanks(&mut self) {
        self.at = self.source.len() - self.rest().trim_start().len();
    }

    fn fault(&mut self, kind: FaultKind, range: TextRange) {
        self.faults.push(Fault { kind, range });
    }

    /// Everything up to one of `ends` or the end: the trimmed text and its range.
    fn until(&mut self, ends: &[char]) -> (&'a str, TextRange) {
        let raw = self.rest();
        let raw = raw.find(ends).and_then(|end| raw.get(..end)).unwrap_or(raw);
        let text = raw.trim();
        let start = self.at + (raw.len() - raw.trim_start().len());
        self.at += raw.len();
        let start = if text.is_empty() { self.at } else { start };
        (
            text,
            TextRange::new(to_u32(start), to_u32(start + text.len())),
        )
    }

    fn alternative(&mut self) -> Alternative {
        self.skip_blanks();
        let start = self.at;
        let mut steps = Vec::new();
        // `$` alone is the root; `$oid` is a name.
        let after_root = self.rest().strip_prefix('$').map(str::trim_start);
        let rooted =
            after_root.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[', '|']));
        if rooted {
            self.at += 1;
            self.skip_blanks();
        } else if self.rest().is_empty() || self.rest().starts_with('|') {
            let range = TextRange::empty(to_u32(start));
            self.fault(FaultKind::EmptyAlternative, range);
            return Alternative {
                steps: vec![Step {
                    kind: StepKind::Bad,
                    range,
                }],
                range,
            };
        } else if !self.rest().starts_with('[') {
            steps.push(self.name());
        }
        while !self.rest().is_empty() && !self.rest().starts_with('|') {
            if self.eat('.') {
                // `a.[0]` and `a.["k"]` mean what they look like.
                if !self.rest().starts_with('[') {
                    steps.push(self.name());
                }
            } else if self.rest().starts_with('[') {
                steps.push(self.bracket());
            } else {
                let (text, range) = self.until(&['.', '[', '|']);
                if !text.is_empty() {
                    self.fault(FaultKind::MissingDot, range);
                    steps.push(Step {
                        kind: StepKind::Bad,
                        range,
                    });
                }
            }
        }
        let end = steps
            .last()
            .map_or(to_u32(start + usize::from(rooted)), |step| step.range.end);
        Alternative {
            steps,
            range: TextRange::new(to_u32(start), end),
        }
    }

    fn name(&mut self) -> Step {
        let (text, range) = self.until(&['.', '[', '|']);
        let kind = match text {
            "" => {
                self.fault(FaultKind::EmptyStep, range);
                StepKind::Bad
            }
            "*" => StepKind::All,
            _ => {
                if text.contains(['(', ')', '{', '}', '?', ']', '"', '\'']) {
                    self.fault(FaultKind::OddName, range);
                }
                StepKind::Name(text.to_owned())
            }
        };
        Step { kind, range }
    }

    /// `[0]`, `[*]`, `["name"]`; `at` stands on the `[`.
    fn bracket(&mut self) -> Step {
        let start = to_u32(self.at);
        if let Some((len, name)) = quoted_bracket(self.rest()) {
            self.at += len;
            let range = TextRange::new(start, to_u32(self.at));
            return Step {
                kind: StepKind::Name(name.to_owned()),
                range,
            };
        }
        self.at += 1;
        let (text, inside) = self.until(&[']', '[', '|']);
        if !self.eat(']') {
            let range = TextRange::new(start, inside.end);
            self.fault(FaultKind::UnclosedBracket, range);
            return Step {
                kind: StepKind::Bad,
                range,
            };
        }
        let range = TextRange::new(start, to_u32(self.at));
        let kind = match text.parse::<i64>() {
            Ok(index) => StepKind::Index(index),
            Err(_) if text == "*" => StepKind::All,
            Err(_) => {
                self.fault(FaultKind::BadIndex, range);
                StepKind::Bad
            }
        };
        Step { kind, range }
    }
}
