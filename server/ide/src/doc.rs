//! A small model of text for people, from which Markdown and plain text are made alike.

use kontext_syntax::text::visible;

/// A text: blocks in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Doc {
    blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Block {
    Heading(Line),
    Paragraph(Line),
    List(Vec<Line>),
    /// TOML as it is.
    Code(String),
}

/// One line of spans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    spans: Vec<Span>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Span {
    /// Markdown inline markup of our own texts.
    Marked(String),
    /// Something a person wrote, or a name: never read as markup.
    Code(String),
}

impl Doc {
    /// Adds a heading.
    pub(crate) fn heading(&mut self, line: Line) {
        self.blocks.push(Block::Heading(line));
    }

    /// Adds a paragraph.
    pub(crate) fn paragraph(&mut self, line: Line) {
        self.blocks.push(Block::Paragraph(line));
    }

    /// Adds a text of ours that may have several paragraphs.
    pub(crate) fn text(&mut self, text: &str) {
        for part in text.split("\n\n").filter(|part| !part.trim().is_empty()) {
            self.paragraph(Line::of(part));
        }
    }

    /// Adds a list; nothing where it is empty.
    pub(crate) fn list(&mut self, lines: impl IntoIterator<Item = Line>) {
        let lines: Vec<_> = lines.into_iter().collect();
        if !lines.is_empty() {
            self.blocks.push(Block::List(lines));
        }
    }

    /// Adds an example.
    pub(crate) fn code(&mut self, toml: &str) {
        self.blocks.push(Block::Code(toml.trim_end().to_owned()));
    }

    /// As Markdown; no line break at the end.
    pub(crate) fn markdown(&self) -> String {
        let block = |block: &Block| match block {
            Block::Heading(line) => format!("### {}", line.markdown()),
            Block::Paragraph(line) => line.markdown(),
            Block::List(lines) => {
                let lines: Vec<_> = lines
                    .iter()
                    .map(|line| format!("- {}", line.markdown()))
                    .collect();
                lines.join("\n")
            }
            Block::Code(text) => {
                let fence = "`".repeat(longest_run(text).max(2) + 1);
                format!("{fence}toml\n{text}\n{fence}")
            }
        };
        let blocks: Vec<_> = self.blocks.iter().map(block).collect();
        blocks.join("\n\n")
    }

    /// As plain text; no line break at the end.
    pub(crate) fn plain(&self) -> String {
        let block = |block: &Block| match block {
            Block::Heading(line) | Block::Paragraph(line) => line.plain(),
            Block::List(lines) => {
                let lines: Vec<_> = lines
                    .iter()
                    .map(|line| format!("- {}", line.plain()))
                    .collect();
                lines.join("\n")
            }
            Block::Code(text) => {
                let lines: Vec<_> = text.lines().map(|line| format!("    {line}")).collect();
                lines.join("\n")
            }
        };
        let blocks: Vec<_> = self.blocks.iter().map(block).collect();
        blocks.join("\n\n")
    }
}

impl Line {
    /// A line of our own text, inline markup allowed.
    pub(crate) fn of(text: impl Into<String>) -> Self {
        Self {
            spans: vec![Span::Marked(text.into())],
        }
    }

    /// A line that begins with a name or a value.
    pub(crate) fn name(text: impl Into<String>) -> Self {
        Self::default().code(text)
    }

    /// Adds our own text.
    #[must_use]
    pub(crate) fn then(mut self, text: impl Into<String>) -> Self {
        self.spans.push(Span::Marked(text.into()));
        self
    }

    /// Adds a name or a value.
    #[must_use]
    pub(crate) fn code(mut self, text: impl Into<String>) -> Self {
        self.spans.push(Span::Code(text.into()));
        self
    }

    fn markdown(&self) -> String {
        self.spans
            .iter()
            .map(|span| match span {
                Span::Marked(text) => one_line(text),
                Span::Code(text) => {
                    let text = visible(text);
                    let run = longest_run(&text);
                    let fence = "`".repeat(run + 1);
                    let pad = if run > 0 || text.is_empty() { " " } else { "" };
                    format!("{fence}{pad}{text}{pad}{fence}")
                }
            })
            .collect()
    }

    fn plain(&self) -> String {
        self.spans
            .iter()
            .map(|span| match span {
                Span::Marked(text) => one_line(&unmarked(text)),
                Span::Code(text) => visible(text).into_owned(),
            })
            .collect()
    }
}

fn one_line(text: &str) -> String {
    text.replace("\r\n", " ").replace(['\n', '\r'], " ")
}

/// The text without its marks: of code spans only the backticks go, a `*` in them is a character.
fn unmarked(text: &str) -> String {
    let mut in_code = false;
    let kept = text.chars().filter(|c| {
        in_code ^= *c == '`';
        *c != '`' && (in_code || *c != '*')
    });
    kept.collect()
}

fn longest_run(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_model_gives_markdown_and_plain_text() {
        let mut doc = Doc::default();
        doc.heading(Line::name("a`b").then(" of **all**"));
        doc.list([Line::of("see `x`"), Line::name("")]);
        doc.code("x = \"```\"");
        assert_eq!(
            doc.markdown(),
            "### `` a`b `` of **all**\n\n- see `x`\n- `  `\n\n````toml\nx = \"```\"\n````"
        );
        assert_eq!(doc.plain(), "a`b of all\n\n- see x\n- \n\n    x = \"```\"");
    }

    #[test]
    fn characters_are_shown_and_not_sent() {
        let mut doc = Doc::default();
        let line = Line::name("C:\notes\u{c}lags.json").then(" of *all*, `docs/*_x*.json`");
        doc.list([line]);
        assert_eq!(doc.plain(), r"- C:\notes\flags.json of all, docs/*_x*.json");
        assert_eq!(
            doc.markdown(),
            r"- `C:\notes\flags.json` of *all*, `docs/*_x*.json`"
        );
    }
}
