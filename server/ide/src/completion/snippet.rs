//! Texts to insert, with and without placeholders, and how keys and strings are written in TOML.

use std::fmt::Write;

use kontext_config::schema::{FieldSpec, Kind, StringKind};

/// A text with places to fill in.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    Text(String),
    /// A place to fill in, and what stands there until then.
    Stop(String),
    /// As a stop; without snippets nothing at all stands there.
    Gap {
        before: &'static str,
        after: &'static str,
    },
}

impl Draft {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self::default().text(text)
    }

    #[must_use]
    pub(super) fn text(mut self, text: impl Into<String>) -> Self {
        self.parts.push(Part::Text(text.into()));
        self
    }

    /// A place to fill in; clients without snippets get the text.
    #[must_use]
    pub(super) fn stop(mut self, text: impl Into<String>) -> Self {
        self.parts.push(Part::Stop(text.into()));
        self
    }

    /// A place to fill in with blanks around it, which clients without snippets do not get.
    #[must_use]
    pub(super) fn gap(mut self) -> Self {
        self.parts.push(Part::Gap {
            before: " ",
            after: " ",
        });
        self
    }

    #[must_use]
    pub(super) fn then(mut self, other: Self) -> Self {
        self.parts.extend(other.parts);
        self
    }

    /// The text, and whether it is a snippet.
    pub(super) fn render(&self, snippets: bool) -> (String, bool) {
        let has_stops = self.parts.iter().any(|part| !matches!(part, Part::Text(_)));
        let snippet = snippets && has_stops;
        let mut out = String::new();
        let mut stops = 0;
        for part in &self.parts {
            match part {
                Part::Text(text) if snippet => escape_snippet(&mut out, text, false),
                Part::Text(text) => out.push_str(text),
                Part::Stop(text) if snippet => {
                    stops += 1;
                    if text.is_empty() {
                        let _ = write!(out, "${stops}");
                    } else {
                        let _ = write!(out, "${{{stops}:");
                        escape_snippet(&mut out, text, true);
                        out.push('}');
                    }
                }
                Part::Stop(text) => out.push_str(text),
                Part::Gap { before, after } if snippet => {
                    stops += 1;
                    let _ = write!(out, "{before}${stops}{after}");
                }
                Part::Gap { .. } => {}
            }
        }
        (out, snippet)
    }
}

/// `}` means something only within a placeholder; not every client takes `\}` outside of one.
fn escape_snippet(out: &mut String, text: &str, in_placeholder: bool) {
    for c in text.chars() {
        if matches!(c, '$' | '\\') || c == '}' && in_placeholder {
            out.push('\\');
        }
        out.push(c);
    }
}

/// An empty value of a kind, with the cursor where its content belongs.
pub(super) fn empty_value(kind: &Kind, default: Option<&str>) -> Draft {
    match kind {
        Kind::Bool => Draft::default().stop(match default {
            Some("true") => "false",
            _ => "true",
        }),
        Kind::False => Draft::new("false"),
        Kind::Integer { min } => {
            Draft::default().stop(default.map_or_else(|| min.to_string(), str::to_owned))
        }
        Kind::Number { min } => {
            let least = if min.is_finite() { *min } else { 0.0 };
            Draft::default().stop(default.map_or_else(|| least.to_string(), str::to_owned))
        }
        Kind::Str(StringKind::Regex) => Draft::new("'").stop("").text("'"),
        Kind::Str(_) | Kind::OneOf { .. } | Kind::Scalar(_) => Draft::new("\"").stop("").text("\""),
        Kind::Array { item, .. } => Draft::new("[").then(empty_value(item, None)).text("]"),
        Kind::ArrayOfTables(_) => Draft::new("[{").gap().text("}]"),
        Kind::Table(_) | Kind::Map(_) | Kind::JsonSchema | Kind::Any(_) => {
            Draft::new("{").gap().text("}")
        }
        Kind::Either(kinds) => kinds
            .first()
            .map_or_else(Draft::default, |kind| empty_value(kind, default)),
    }
}

/// `name = value` of a field.
pub(super) fn assignment(name: &str, field: &FieldSpec) -> Draft {
    // A table of tables is best written by its members: `ops.search = { … }`.
    if let Kind::Map(open) = &field.kind
        && open.kind.table().is_some()
    {
        return Draft::new(format!("{name}."));
    }
    Draft::new(format!("{name} = ")).then(empty_value(&field.kind, field.default))
}
