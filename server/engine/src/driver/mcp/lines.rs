//! What a program writes, cut into lines of bounded length.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// One read of [`Lines`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line that is not blank, without line break and byte order mark, what is no UTF-8
    /// replaced. The last one may lack its line break.
    Text(String),
    /// The start of a line that is longer than the limit; the rest of it is skipped.
    TooLong(String),
    /// Nothing more comes.
    End,
}

/// Reads lines. How the text was cut on its way does not matter.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    limit: usize,
    skipping: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Lines of at most `limit` bytes, line break not counted.
    pub(super) fn new(reader: R, limit: usize) -> Self {
        Self {
            reader: BufReader::with_capacity(64 * 1024, reader),
            line: Vec::new(),
            limit,
            skipping: false,
        }
    }

    /// The next line that is not blank. Cancel safe.
    pub(super) async fn next(&mut self) -> Line {
        loop {
            let available = match self.reader.fill_buf().await {
                Ok(available) => available,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => &[],
            };
            if available.is_empty() {
                let rest = std::mem::take(&mut self.line);
                return tidy(rest).map_or(Line::End, Line::Text);
            }
            let newline = memchr::memchr(b'\n', available);
            let part = available
                .split_at_checked(newline.unwrap_or(available.len()))
                .map_or(available, |(part, _)| part);
            let consumed = newline.map_or(available.len(), |at| at + 1);
            // From here to `consume` nothing awaits: a cancelled read loses no byte.
            let mut too_long = false;
            if !self.skipping {
                let room = self.limit.saturating_sub(self.line.len());
                too_long = part.len() > room;
                self.line.extend(part.iter().take(room));
            }
            self.reader.consume(consumed);
            if too_long {
                self.skipping = newline.is_none();
                let start = std::mem::take(&mut self.line);
                return Line::TooLong(tidy(start).unwrap_or_default());
            }
            if newline.is_some() && !std::mem::take(&mut self.skipping) {
                let line = std::mem::take(&mut self.line);
                if let Some(line) = tidy(line) {
                    return Line::Text(line);
                }
            }
        }
    }
}

/// The line as text; `None` for a blank one.
fn tidy(mut line: Vec<u8>) -> Option<String> {
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    if line.starts_with(BOM) {
        line.drain(..BOM.len());
    }
    if line.trim_ascii().is_empty() {
        return None;
    }
    Some(match String::from_utf8(line) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(input: &[u8], limit: usize) -> Vec<Line> {
        let mut lines = Lines::new(input, limit);
        let mut found = Vec::new();
        loop {
            match lines.next().await {
                Line::End => return found,
                line => found.push(line),
            }
        }
    }

    fn text(text: &str) -> Line {
        Line::Text(text.to_owned())
    }

    #[tokio::test]
    async fn breaks_marks_blank_lines_and_foreign_bytes() {
        let found = all(b"\xEF\xBB\xBFone\r\n\r\n \ncaf\xe9 \x97\nlast", 100).await;
        assert_eq!(
            found,
            [text("one"), text("caf\u{fffd} \u{fffd}"), text("last")]
        );
    }

    #[tokio::test]
    async fn a_long_line_costs_only_its_end() {
        let mut input = b"12345\n123456789\nok\n".to_vec();
        input.extend(vec![b'x'; 300_000]);
        input.extend(b"\nend");
        let found = all(&input, 5).await;
        let long = |text: &str| Line::TooLong(text.to_owned());
        assert_eq!(
            found,
            [
                text("12345"),
                long("12345"),
                text("ok"),
                long("xxxxx"),
                text("end")
            ]
        );
    }
}
